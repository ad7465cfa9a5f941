/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_grid.h - the part of lacis_extend.h, which includes it, that is about grids.
 */
#ifndef LACIS_EXTEND_GRID_H
#define LACIS_EXTEND_GRID_H

/* An array of LACIS_GRID taken apart (its parts: lacis_array_create). Cells lie x fastest, z slowest: cell (x, y, z)
 * is element (z extent[1] + y) extent[0] + x of each field. All fields are of one type, F32 or F64. Everything that
 * can be wrong with shape and names has been checked: extents are at least 1, the cells' bytes can be counted, no
 * field is called shape, step, x, y, z or t, nor two alike (in any case). Values may be anything, NaN too. */
enum { LACIS_GRID_FIELDS = 8 };
typedef struct lacis_grid {
    int dims;          /* 1 .. 3 */
    int64_t extent[3]; /* along x, y, z; 1 beyond dims */
    int64_t cells;
    lacis_dtype dtype;
    int fields;
    const char *name[LACIS_GRID_FIELDS]; /* "value" where there is one and nobody named it; the array's own text */
    const void *field[LACIS_GRID_FIELDS];
    int64_t step; /* how many sweeps have led to it; 0 where nobody has said */
} lacis_grid;

/* LACIS_TYPE, LACIS_RANGE or LACIS_NAME where the array is none or its parts do not go together. */
LACIS_API lacis_status lacis_grid_view(lacis_run *run, const lacis_array *array, lacis_grid *out);

/* Builds one of like's shape, type, names (an only one may be NULL: "value") and step (nothing is read through its
 * field pointers, nor cells), not filled: out's pointers are the new array's own, to be written through (their const
 * cast away). Large fields are address space whose pages may be new: who writes first says where they lie.
 * LACIS_RANGE, LACIS_TYPE, LACIS_NAME where there can be no such grid. The caller releases *array. */
LACIS_API lacis_status lacis_grid_new(lacis_run *run, const lacis_grid *like, lacis_array **array, lacis_grid *out);

#endif
