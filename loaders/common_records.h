/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of named numbers, collected column by column, and the array that they make: a graph where columns are
 * called src and dst, a vector where they are i and value, a batch of systems where lane and row stand before others,
 * bodies where all are columns of those and m, x, y among them, otherwise a table. Used by csv.c and jsonl.c.
 */
#ifndef LACIS_LOADERS_RECORDS_H
#define LACIS_LOADERS_RECORDS_H

#include "common_edges.h"
#include "common_text.h"

enum { LACIS_RECORD_COLUMNS = 64, LACIS_RECORD_NAME = 64 };

typedef struct lacis_record_column {
    char name[LACIS_RECORD_NAME];
    bool real;
    lacis_edge_value *value; /* room of the records */
} lacis_record_column;

typedef struct lacis_records {
    lacis_run *run;
    const lacis_text *text;
    int columns;
    lacis_record_column column[LACIS_RECORD_COLUMNS];
    int64_t count, room;
} lacis_records;

void lacis_records_begin(lacis_records *records, lacis_run *run, const lacis_text *text);
void lacis_records_end(lacis_records *records);
/* Number of the column called so, or -1. */
int lacis_records_find(const lacis_records *records, const char *from, const char *to);
/* A further one; only before the first record. LACIS_FORMAT at `from` where it cannot be. */
lacis_status lacis_records_column(lacis_records *records, const char *from, const char *to);
/* Room for one more record; its numbers are then set by lacis_records_set and count raised. */
lacis_status lacis_records_room(lacis_records *records);
/* LACIS_FORMAT at `from` where it is no number. */
lacis_status lacis_records_set(lacis_records *records, int column, const char *from, const char *to);
lacis_status lacis_records_make(lacis_records *records, const lacis_options *given, lacis_array **out);

/* common_records_bodies.c */
bool lacis_records_are_bodies(const lacis_records *records);
lacis_status lacis_records_make_bodies(const lacis_records *records, lacis_array **out);

#endif
