/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrow's C data interface (https://arrow.apache.org/docs/format/CDataInterface.html), for the files arrow*.c of
 * api/: which formats stand for which types, and the notes (metadata) that a schema carries.
 */
#ifndef LACIS_API_ARROW_H
#define LACIS_API_ARROW_H

#include "core/run.h"

/* The key of the note that tells complex and double-double numbers apart: both are lists of numbers to Arrow. */
#define LACIS_ARROW_TYPE "lacis.type"

typedef struct lacis_arrow_note {
    const char *key, *value;
} lacis_arrow_note;

/* The format of one number of a value of this type; NULL: it has no numbers. */
const char *lacis_arrow_number(lacis_dtype dtype);
/* The format of values of several numbers ("+w:2"); NULL: one number is all. */
const char *lacis_arrow_list(lacis_dtype dtype);
/* The type that a column of this schema has here; LACIS_PATTERN: none. */
lacis_dtype lacis_arrow_dtype(const struct ArrowSchema *schema);

/* Arrow's encoding of notes: its bytes, and itself written to `out`. */
uint64_t lacis_arrow_notes_size(const lacis_arrow_note *note, int count);
void lacis_arrow_notes_write(const lacis_arrow_note *note, int count, char *out);
/* Whether the encoded notes (NULL: none) say `value` of `key`. */
bool lacis_arrow_notes_say(const char *notes, const char *key, const char *value);

/* arrow_export.c: a schema whose name, notes and children (yet to be filled) are in one block with it. */
lacis_status lacis_arrow_schema_new(lacis_run *run, const char *format, const char *name,
                                    const lacis_arrow_note *note, int notes, int children, struct ArrowSchema *out);

#endif
