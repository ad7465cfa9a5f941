/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_bodies.h - the part of lacis_extend.h, which includes it, that is about point masses in space.
 */
#ifndef LACIS_EXTEND_BODIES_H
#define LACIS_EXTEND_BODIES_H

/* An array of LACIS_BODIES taken apart (its parts: lacis_array_create). All of one type, F32 or F64, `count` elements
 * each; velocities and accelerations are all three there or none. Everything that can be wrong with their shapes has
 * been checked; values have not: where arrays come from (LOAD, GENERATE, SQL, lacis_array_create) the engine calls
 * lacis_bodies_check, of operators' results it does not. */
typedef struct lacis_bodies {
    int64_t count;
    lacis_dtype dtype;
    const void *m, *x, *y, *z, *vx, *vy, *vz;
    const void *eps;          /* softening length of each; NULL: the array has none */
    const void *ax, *ay, *az; /* accelerations at these positions, as a run left them; NULL: not known */
    const void *phi;          /* potentials, likewise */
    const int64_t *id;        /* labels, in any order, each once; NULL: base, base + 1 ... */
    int64_t base;
    double time; /* of these positions; 0 where the array has none */
} lacis_bodies;

/* LACIS_TYPE where the array is none, its parts do not go together, or it has parts that bodies do not have. */
LACIS_API lacis_status lacis_bodies_view(lacis_run *run, const lacis_array *array, lacis_bodies *out);

/* Builds one with the columns that `like` has (a pointer that is not NULL; nothing is read through it but ids), not
 * filled: out's pointers are the new array's own, to be written through (their const cast away). Velocities are
 * always there, and zeroed where like has none; ids, base and time are copied. The caller releases *array. */
LACIS_API lacis_status lacis_bodies_new(lacis_run *run, const lacis_bodies *like, lacis_array **array,
                                        lacis_bodies *out);

/* The first row (counted from 1) with a value that is not finite or a negative mass or softening, or else the first
 * with the id of a row before: LACIS_RANGE, its message naming column and id. Reads everything once; ids that do not
 * rise are sorted. */
LACIS_API lacis_status lacis_bodies_check(lacis_run *run, const lacis_bodies *bodies);

#endif
