/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear stencils in their canonical order, on which the bits of results depend (docs/sweep.md says it for users).
 * Nothing here knows the engine: bind's rules.c calls it with the weights that an affine expression has.
 *
 * Weights are rounded to the type of the run. Taps of one array with equal weights form a group; one of weight 0
 * stays, for its NaN. Within a group: taps with more components that are not 0 first; of these by |dz|, |dy|, |dx|,
 * lesser first; then by dz, dy, dx, lesser first. So mirror images along x (for taps off that axis along y, z) stand
 * side by side, and the pairwise sums of a group are the same for a mirrored grid where the group has the mirror
 * images of all of its taps: (L + R) + (D + U) of the four neighbours, (LD + RD) + (LU + RU) of the corners, whose
 * rows a kernel may add once for three rows of cells. Groups: those of the field itself first, then of other arrays
 * in their order; of one array by the distance of their nearest tap, then by their first tap in the order above. A
 * source comes last, with weight 1.
 */
#ifndef LACIS_OPERATORS_SWEEP_CANONICAL_H
#define LACIS_OPERATORS_SWEEP_CANONICAL_H

#include "sweep/sweep.h"

typedef struct lacis_sweep_term {
    lacis_sweep_tap tap;
    double weight;
    int rank, nearest, leader; /* lacis_sweep_canonical's own */
} lacis_sweep_term;

/* Room for what a rule of so many terms points to, a source included. */
typedef struct lacis_sweep_room {
    lacis_sweep_tap *tap; /* terms + 1 */
    double *weight;       /* terms + 1 */
    int *first;           /* terms + 2 */
} lacis_sweep_room;

/* Terms (each tap once) are reordered. source: array whose centre is added, or -1. */
void lacis_sweep_canonical(lacis_sweep_type type, int own, double constant, lacis_sweep_term *term, int terms,
                           int source, const lacis_sweep_room *room, lacis_sweep_rule *out);

/* "5-point", "9-point star" ..., by the taps of the field itself: at most `size` bytes. */
void lacis_sweep_shape(const lacis_sweep_rule *rule, int own, int dims, char *text, int size);

#endif
