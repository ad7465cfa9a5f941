/* SPDX-License-Identifier: Apache-2.0
 *
 * Layouts of interleaved batches into one another: copies of some lanes of one field, from one layout to another. Raw
 * pointers; called by operators/convert for ranges of lanes from several threads.
 *
 *   rows of a lane ->   Flat (1)           Block (2)              Full (lanes)
 *   lane 0   a b c      a b c d e f g h i  a d b e c f | g . h .  a d g b e h c f i
 *   lane 1   d e f                          i .
 *   lane 2   g h i
 */
#ifndef LACIS_KERNELS_CONVERT_LANES_H
#define LACIS_KERNELS_CONVERT_LANES_H

#include <stddef.h>
#include <stdint.h>

/* Element (lane, row) of a group lies at lane / block * block * rows + row * block + lane % block. */
typedef struct lacis_convert_side {
    void *data;    /* of the group; read only on the side that is copied from */
    int64_t block; /* lanes side by side */
    int64_t lane;  /* the first to be copied */
} lacis_convert_side;

/* Copies `lanes` lanes of `rows` elements of `size` bytes. */
void lacis_convert_lanes(const lacis_convert_side *from, const lacis_convert_side *to, int64_t lanes, int64_t rows,
                         size_t size);
/* Clears the places behind lane `lanes`, the last one, of a flock that is not full. */
void lacis_convert_pad(const lacis_convert_side *to, int64_t lanes, int64_t rows, size_t size);

#endif
