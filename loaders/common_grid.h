/* SPDX-License-Identifier: Apache-2.0
 *
 * What loaders and generators of grids (lacis_extend_grid.h) share: shapes and names that are checked before memory
 * is taken, arrays that are filled through pointers, and numbers of files turned into a grid's. In every format row 0
 * of a file or image is y = 0, and its first column x = 0.
 */
#ifndef LACIS_LOADERS_GRID_H
#define LACIS_LOADERS_GRID_H

#include "common_options.h"
#include "common_save.h"

#define LACIS_GRID_TYPES "f32|f64"
/* Of option `type`, whose words are those above. */
static inline lacis_dtype lacis_grid_type(const lacis_options *given, lacis_dtype otherwise)
{
    static const lacis_dtype types[] = {LACIS_F32, LACIS_F64};
    const lacis_option_value *value = lacis_option_set(given, "type");
    return value != NULL ? types[value->integer] : otherwise;
}

/* The type that has every number of a file's type. */
static inline lacis_dtype lacis_grid_type_for(lacis_dtype storage)
{
    return storage == LACIS_F32 || storage == LACIS_U8 || storage == LACIS_U16 ? LACIS_F32 : LACIS_F64;
}

enum { LACIS_GRID_NAME = 64 };

/* A grid in the making. */
typedef struct lacis_grid_maker {
    lacis_run *run;
    lacis_array *array;
    lacis_grid grid; /* its field pointers may be written through: lacis_grid_maker_cells */
} lacis_grid_maker;

static inline void *lacis_grid_maker_cells(const lacis_grid_maker *maker, int field)
{
    return (void *)(uintptr_t)maker->grid.field[field];
}

/* Of shape's dims, extent, dtype, fields and names. LACIS_RANGE where it has no cells or more than can be counted,
 * LACIS_LIMIT, naming `what`, where they do not fit memory_limit. Not filled. */
lacis_status lacis_grid_begin(lacis_run *run, const char *what, const lacis_grid *shape, lacis_grid_maker *out);
/* *out becomes the array, which is freed where status is an error. */
lacis_status lacis_grid_end(lacis_grid_maker *maker, lacis_status status, lacis_array **out);

/* "u,v": names of fields, with commas or blanks between; LACIS_RANGE at `offset` where there are too many, or one
 * that no field can have. In the run's scratch. */
lacis_status lacis_grid_names(lacis_run *run, const char *text, int64_t offset, lacis_grid *shape);
/* What is wrong with a field's name, or NULL. */
const char *lacis_grid_name_fault(const char *from, const char *to);

/* Numbers of a file, of one field: cell (x, y, z) stands at data + x stride[0] + y stride[1] + z stride[2] bytes, at
 * any address. */
typedef struct lacis_grid_numbers {
    const char *data;
    lacis_dtype storage;
    int narrow; /* 1, 2: signed integers of so many bytes, storage is I32; else 0 */
    bool swap;  /* the other order of bytes than the machine's */
    int64_t stride[3];
    double most, low, high; /* most > 0: 0 .. most of the file are low .. high of the grid */
} lacis_grid_numbers;
/* Of a number of the file, the grid's. Halved: the range may be larger than a double. */
static inline double lacis_grid_scale(const lacis_grid_numbers *numbers, double value)
{
    double low = numbers->low / 2, high = numbers->high / 2;
    return 2 * (low + (high - low) * (value / numbers->most));
}
/* Into field `field`, side by side. */
lacis_status lacis_grid_take(const lacis_grid_maker *maker, int field, const lacis_grid_numbers *numbers);
/* The strides of cells of `each` bytes, x the fastest. */
void lacis_grid_strides(const lacis_grid *grid, size_t each, int64_t *stride);

/* Cells of all fields, one element of each behind the other (`interleave`) or field behind field, as they lie in
 * memory. Stops where the run is cancelled, or the file broken. */
void lacis_grid_write(lacis_writer *w, const lacis_grid *grid, bool interleave);

/* fn(context, first, end) for parts of 0 .. cells - 1, side by side. */
typedef void (*lacis_grid_part_fn)(void *context, int64_t first, int64_t end);
lacis_status lacis_grid_parts(lacis_run *run, int64_t cells, lacis_grid_part_fn fn, void *context);

#endif
