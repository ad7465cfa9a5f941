/* SPDX-License-Identifier: Apache-2.0
 *
 * What npy.c (vectors), common_npy_head.c (types, heads), common_npy.c (batches), common_npy_matrix.c,
 * common_npy_bodies.c and common_npy_grid.c share of NumPy's format.
 */
#ifndef LACIS_LOADERS_NPY_H
#define LACIS_LOADERS_NPY_H

#include "common_save.h"

typedef struct lacis_npy_type {
    const char *code; /* "<f8" */
    lacis_dtype storage, dtype;
} lacis_npy_type;

enum { LACIS_NPY_HEAD = 1 << 16 };
typedef struct lacis_npy_head {
    char text[LACIS_NPY_HEAD + 1];
    size_t end; /* where the data begin */
} lacis_npy_head;

bool lacis_npy_is(const lacis_source *source);
/* LACIS_FORMAT where there is none. */
lacis_status lacis_npy_read_head(lacis_run *run, const lacis_source *source, lacis_npy_head *h);
/* The value behind 'key': in the head. */
const char *lacis_npy_value(const lacis_npy_head *h, const char *key);
/* The type whose code stands at p, before a quote, or NULL. */
const lacis_npy_type *lacis_npy_type_at(const char *p);
const lacis_npy_type *lacis_npy_type_of(lacis_dtype storage);
/* descr and shape as they stand in the dictionary, without the parentheses of shape; note: a comment ("# ...") behind
 * it, or NULL. The engine asks ferror. */
void lacis_npy_write_head(FILE *file, const char *descr, bool fortran, const char *shape, const char *note);

/* Two dimensions, or fields. */
bool lacis_npy_is_batch(const lacis_npy_head *h);
/* lanes x rows of numbers become field value; of records, a field each (parent the tree). */
lacis_status lacis_npy_load_batch(lacis_run *run, const lacis_source *source, const lacis_npy_head *h,
                                  lacis_array **out);
/* All lanes must have the same rows and tree. */
lacis_status lacis_npy_save_batch(lacis_run *run, const lacis_array *array, FILE *file);

/* common_npy_matrix.c: n x n or m x n x n as options matrix and uplo say. */
lacis_status lacis_npy_load_matrix(lacis_run *run, const lacis_source *source, const lacis_npy_head *h,
                                   const lacis_options *given, lacis_array **out);
lacis_status lacis_npy_save_matrix(lacis_run *run, const lacis_array *array, FILE *file);

/* common_npy_bodies.c: one dimension of records that have x, y and m among their fields; saved so that every column
 * comes back with the same bits. */
bool lacis_npy_is_bodies(const lacis_npy_head *h);
lacis_status lacis_npy_take_bodies(lacis_run *run, const lacis_source *source, const lacis_npy_head *h,
                                   const lacis_options *given, lacis_array **out);
/* The same, or n x k numbers whose k columns are those of option columns, or m x y z vx vy vz eps as far as they go
 * (k = 4, 7, 8). */
lacis_status lacis_npy_load_bodies(lacis_run *run, const lacis_source *source, const lacis_options *given,
                                   lacis_array **out);
lacis_status lacis_npy_save_bodies(lacis_run *run, const lacis_array *array, FILE *file);

/* common_npy_grid.c: one to three dimensions of numbers or records; a grid without being told where lacis has written
 * it, or where there are three dimensions. */
bool lacis_npy_is_grid(const lacis_npy_head *h);
lacis_status lacis_npy_take_grid(lacis_run *run, const lacis_source *source, const lacis_npy_head *h,
                                 const lacis_options *given, lacis_array **out);
lacis_status lacis_npy_load_grid(lacis_run *run, const lacis_source *source, const lacis_options *given,
                                 lacis_array **out);
const char *lacis_npy_name_fault(const char *name); /* of a field, which LOAD would not read again; NULL: none */
lacis_status lacis_npy_save_grid(lacis_run *run, const lacis_array *array, FILE *file);

#endif
