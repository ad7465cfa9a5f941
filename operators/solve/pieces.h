/* SPDX-License-Identifier: Apache-2.0
 *
 * Some lanes of a batch moved to a place of their own: where they lie there, and which stretches have to be copied.
 * Flat lanes and whole flocks are one stretch; some lanes of a Full group are one a row. Used by the GPU's panels and
 * by ranks.
 */
#ifndef LACIS_OPERATORS_SOLVE_PIECES_H
#define LACIS_OPERATORS_SOLVE_PIECES_H

#include "solve/systems.h"

/* `height` stretches of `width` elements each. */
typedef struct lacis_solve_piece {
    int64_t from, to; /* where the first begins, in elements of the batch and of the copy */
    int64_t width, height;
    int64_t from_pitch, to_pitch; /* from one to the next */
} lacis_solve_piece;

enum { LACIS_SOLVE_PIECES = 8 };
/* Zeroed to begin with; groups are added in their order. */
typedef struct lacis_solve_lie {
    bool exact;     /* pieces hold these lanes alone; else flocks are copied whole */
    int64_t places; /* elements of the copy */
    int pieces;
    lacis_solve_piece piece[LACIS_SOLVE_PIECES];
} lacis_solve_lie;

/* Lanes [begin, end) of a group, counted within it; of all groups but the first and the last that are added these are
 * all. The answer says where they lie in the copy. */
lacis_solve_side lacis_solve_lie_add(lacis_solve_lie *lie, const lacis_batch *batch, const lacis_batch_group *group,
                                     int64_t begin, int64_t end);

/* Copies on the host: pieces of `from`, a batch's field, to the copy; and back. `size`: bytes an element. */
void lacis_solve_lie_take(const lacis_solve_lie *lie, uint64_t size, const void *from, void *copy);
void lacis_solve_lie_put(const lacis_solve_lie *lie, uint64_t size, const void *copy, void *to);

#endif
