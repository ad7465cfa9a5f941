/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing arrays as text: a buffered writer and the entries of graphs. Used by every loader that can save.
 */
#ifndef LACIS_LOADERS_SAVE_H
#define LACIS_LOADERS_SAVE_H

#include "lacis_extend.h"

/* Collects text and hands it to the stream in large pieces. Once the stream has failed, it drops everything: the
 * engine looks at the stream's error afterwards. */
typedef struct lacis_writer {
    lacis_run *run;
    FILE *file;
    size_t used;
    char text[1 << 15];
} lacis_writer;

void lacis_writer_begin(lacis_writer *w, lacis_run *run, FILE *file);
void lacis_writer_text(lacis_writer *w, const char *text);
void lacis_writer_bytes(lacis_writer *w, const void *data, size_t size); /* at most a few hundred */
void lacis_writer_integer(lacis_writer *w, int64_t value);
/* Element `index` with digits that read back as the same number; PATTERN writes 1, complex the two parts with a blank
 * between. */
void lacis_writer_value(lacis_writer *w, const void *data, lacis_dtype storage, int64_t index);
void lacis_writer_flush(lacis_writer *w);
/* Flushes. LACIS_INTERRUPT where the run was cancelled, otherwise LACIS_OK. */
lacis_status lacis_writer_end(lacis_writer *w);

/* Views the array as a graph; LACIS_TYPE with a hint where it is none. */
lacis_status lacis_save_graph(lacis_run *run, const lacis_array *array, const char *format, lacis_csr *csr);
/* LACIS_TYPE where values are complex or double-double. */
lacis_status lacis_save_real(lacis_run *run, const lacis_csr *csr, const char *format);
/* Vertices with an edge to or from them, -1 where rows and columns are not the same ones. Warns of those without,
 * which a file of edges does not hold. */
lacis_status lacis_save_nodes(lacis_run *run, const lacis_csr *csr, int64_t *nodes);
/* One line an entry: "src<gap>dst<gap>value\n", labels as ids. */
lacis_status lacis_save_entries(lacis_writer *w, const lacis_csr *csr, const char *gap);
/* Called every few thousand lines: progress, and whether to stop. */
bool lacis_writer_stop(lacis_writer *w, int64_t done, int64_t all);

static inline bool lacis_is_complex(lacis_dtype dtype)
{
    return dtype == LACIS_C64 || dtype == LACIS_C128;
}

static inline bool lacis_is_real(lacis_dtype dtype)
{
    return dtype == LACIS_F32 || dtype == LACIS_F64 || dtype == LACIS_DD;
}

#endif
