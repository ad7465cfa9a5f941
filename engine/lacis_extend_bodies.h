/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_bodies.h - the part of lacis_extend.h, which includes it, that is about point masses in space.
 */
#ifndef LACIS_EXTEND_BODIES_H
#define LACIS_EXTEND_BODIES_H

/* An array of LACIS_BODIES taken apart (its parts: lacis_array_create). All of one type, F32 or F64, `count` elements
 * each. Everything that can be wrong with their shapes has been checked; values have not. */
typedef struct lacis_bodies {
    int64_t count;
    lacis_dtype dtype;
    const void *m, *x, *y, *z, *vx, *vy, *vz;
    const void *eps;          /* softening length of each; NULL: the array has none */
    const void *ax, *ay, *az; /* accelerations at these positions, as a run left them; NULL: not known */
    const void *phi;          /* potentials, likewise */
    const int64_t *id;        /* labels, in any order; NULL: base, base + 1 ... */
    int64_t base;
    double time; /* of these positions; 0 where the array has none */
} lacis_bodies;

/* LACIS_TYPE where the array is none, or its parts do not go together. */
LACIS_API lacis_status lacis_bodies_view(lacis_run *run, const lacis_array *array, lacis_bodies *out);

/* Builds one with the columns that `like` has (a pointer that is not NULL), not filled: out's pointers are the new
 * array's own, to be written through (their const cast away). Velocities are always there, and zeroed where like has
 * none; ids are copied. */
LACIS_API lacis_status lacis_bodies_new(lacis_run *run, const lacis_bodies *like, lacis_array **array,
                                        lacis_bodies *out);

/* The first row with a value that is not finite, or a negative mass or softening: LACIS_RANGE, its message naming
 * column and id. */
LACIS_API lacis_status lacis_bodies_check(lacis_run *run, const lacis_bodies *bodies);

/* --- for any kind of result */

/* A table that goes with an array: where that is entered in the catalog as NAME (LET), the table is entered as
 * NAME_suffix, in place of whatever was called so. The array retains it. A later one of the same suffix replaces it.
 */
LACIS_API lacis_status lacis_array_attach(lacis_run *run, lacis_array *array, const char *suffix, lacis_array *table);

/* Writes an array to a file as SAVE does: the loader is chosen by the extension. From the statement's thread. */
LACIS_API lacis_status lacis_run_save(lacis_run *run, const lacis_array *array, const char *path);

#endif
