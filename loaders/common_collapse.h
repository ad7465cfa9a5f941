/* SPDX-License-Identifier: Apache-2.0
 *
 * One sorted row with entries at equal columns becomes one without. Used by common_rows.c.
 */
#ifndef LACIS_LOADERS_COLLAPSE_H
#define LACIS_LOADERS_COLLAPSE_H

#include "common_rows.h"

typedef struct lacis_collapse {
    uint32_t *columns;
    void *values; /* NULL for a pattern */
    lacis_dtype storage;
    lacis_duplicates rule;
    int64_t out; /* where the next entry goes: never past the one that is read */
    void *space; /* lacis_collapse_space bytes */
} lacis_collapse;

/* Bytes that row [from, to) needs of work memory. */
uint64_t lacis_collapse_space(const lacis_collapse *c, int64_t from, int64_t to);
/* LACIS_OVERFLOW: a sum of integers left its type. Moves c->out on. */
lacis_status lacis_collapse_row(lacis_collapse *c, int64_t from, int64_t to);

#endif
