/* SPDX-License-Identifier: Apache-2.0
 *
 * For row sources: cells of stored values, and the memory of a source. Used by rows.c and rows_batch.c.
 */
#ifndef LACIS_CORE_CELLS_H
#define LACIS_CORE_CELLS_H

#include "core/rows.h"

static inline void lacis_cell_integer(lacis_cell *out, int64_t value)
{
    out->type = LACIS_INTEGER;
    out->integer = value;
}

static inline void lacis_cell_real(lacis_cell *out, double value)
{
    out->type = LACIS_REAL;
    out->real = value;
}

/* Component 0, 1 (imaginary part, low word), 2 or 3 of one stored value. */
static inline void lacis_cell_value(const void *data, lacis_dtype storage, int64_t at, int component, lacis_cell *out)
{
    switch (storage) {
    case LACIS_PATTERN:
        lacis_cell_integer(out, 1);
        break;
    case LACIS_U8:
        lacis_cell_integer(out, ((const uint8_t *)data)[at]);
        break;
    case LACIS_U16:
        lacis_cell_integer(out, ((const uint16_t *)data)[at]);
        break;
    case LACIS_U32:
        lacis_cell_integer(out, ((const uint32_t *)data)[at]);
        break;
    case LACIS_I32:
        lacis_cell_integer(out, ((const int32_t *)data)[at]);
        break;
    case LACIS_I64:
        lacis_cell_integer(out, ((const int64_t *)data)[at]);
        break;
    case LACIS_F32:
        lacis_cell_real(out, (double)((const float *)data)[at]);
        break;
    case LACIS_F64:
        lacis_cell_real(out, ((const double *)data)[at]);
        break;
    case LACIS_C64:
        lacis_cell_real(out, (double)((const float *)data)[2 * at + component]);
        break;
    case LACIS_C128:
    case LACIS_DD:
        lacis_cell_real(out, ((const double *)data)[2 * at + component]);
        break;
    case LACIS_CDD:
        lacis_cell_real(out, ((const double *)data)[4 * at + component]);
        break;
    }
}

/* Numbers that a value shows as: 2 for complex and double-double ones, 4 for those that are both. */
static inline int lacis_cells_of(lacis_dtype dtype)
{
    if (dtype == LACIS_CDD) return 4;
    return dtype == LACIS_C64 || dtype == LACIS_C128 || dtype == LACIS_DD ? 2 : 1;
}

/* Whether the value of a graph, vector or symmetric matrix has one column more: itself as text, to all its digits. */
static inline bool lacis_cells_text(lacis_dtype dtype)
{
    return dtype == LACIS_DD || dtype == LACIS_CDD;
}
enum { LACIS_CELL_TEXT = LACIS_CDD_TEXT };

/* The same with the column of text behind the numbers, written to `text`, of LACIS_CELL_TEXT bytes. */
static inline void lacis_cell_of(const void *data, lacis_dtype storage, int64_t at, int component, char *text,
                                 lacis_cell *out)
{
    if (component < lacis_cells_of(storage)) {
        lacis_cell_value(data, storage, at, component, out);
        return;
    }
    const double *value = (const double *)data + lacis_cells_of(storage) * at;
    if (storage == LACIS_DD)
        lacis_format_dd(value[0], value[1], text);
    else
        lacis_format_cdd(value, text);
    out->type = LACIS_TEXT;
    out->text = text;
}

/* A source of `size` bytes, cleared, with a copy of the filter's list behind it. */
lacis_status lacis_rows_new(lacis_run *run, uint64_t size, const lacis_restriction *where, void *out,
                            const int64_t **list);
/* rows_batch.c */
lacis_status lacis_rows_of_batch(lacis_run *run, lacis_array *array, const lacis_restriction *where,
                                 lacis_rows **out);
/* rows_symmetric.c */
lacis_status lacis_rows_of_symmetric(lacis_run *run, lacis_array *array, const lacis_restriction *where,
                                     lacis_rows **out);
/* rows_bodies.c */
lacis_status lacis_rows_of_bodies(lacis_run *run, lacis_array *array, const lacis_restriction *where,
                                  lacis_rows **out);
/* rows_grid.c */
lacis_status lacis_rows_of_grid(lacis_run *run, lacis_array *array, const lacis_restriction *where, lacis_rows **out);

#endif
