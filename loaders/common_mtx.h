/* SPDX-License-Identifier: Apache-2.0
 *
 * The head of a MatrixMarket file (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935, 1996)
 * and the body of dense ones. Used by mtx.c.
 */
#ifndef LACIS_LOADERS_MTX_H
#define LACIS_LOADERS_MTX_H

#include "common_edges.h"
#include "common_text.h"

typedef enum lacis_mtx_field {
    LACIS_MTX_REAL,
    LACIS_MTX_INTEGER,
    LACIS_MTX_COMPLEX,
    LACIS_MTX_PATTERN
} lacis_mtx_field;

typedef struct lacis_mtx {
    const lacis_text *text;
    bool dense; /* "array" */
    lacis_mtx_field field;
    lacis_mirror symmetry;
    int64_t rows, cols, entries; /* entries: lines, for a dense one values */
    const char *body;            /* behind the size line */
    char type[32];               /* of a "%%GraphBLAS type ..." comment, or "" */
    int64_t base[2];             /* of a "%lacis base r c" comment, which mtx.c writes */
} lacis_mtx;

/* LACIS_FORMAT with the place where the head is not as it should be. */
lacis_status lacis_mtx_head(lacis_run *run, const lacis_text *text, lacis_mtx *m);
/* Whether a text begins with a banner, one with a single '%' or with a misspelt first word too. */
bool lacis_mtx_banner(const lacis_text *text);
/* Reads the values of a dense matrix, column by column. */
lacis_edge_reader lacis_mtx_dense(lacis_mtx *m);

#endif
