/* SPDX-License-Identifier: Apache-2.0
 *
 * What half_plan.cu, half_tiles.cu and half_run.cu share: a plan's parts and the kernels' view of a job.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_INSIDE_CUH
#define LACIS_KERNELS_SYMV_HALF_INSIDE_CUH

#include "half.h"
#include "half_number.cuh"

enum {
    HALF_STEPS = 6,            /* entries of a lane that are taken together */
    HALF_MOST_ROWS = 256,      /* of a tile */
    HALF_MOST_WINDOW = 1536,   /* slots of a tile */
    HALF_MOST_ENTRIES = 16384, /* of a tile; more than that only one row has */
    HALF_MOST_SLOTS = 0x7fff,  /* of a tile: 15 bits */
    HALF_LATE = 0x8000,        /* this slot is an earlier group's too in the same steps: it waits for its group's turn */
    HALF_NONE = 0xffff
};

/* Rows row0 .. row1-1 of the matrix, of which the entries p0 .. p1-1, counting the wanted ones of all rows through.
 * Its window: slots slot0 .. of the next tile's, by rising column; the tile's own rows are among them, one behind the
 * other, all of them: last where the triangle is the lower one, else first. */
typedef struct half_tile {
    half_i64 p0, p1;
    half_i64 slot0;
    half_u32 row0, row1;
} half_tile;

/* Places of a plan's parts in its block. */
enum half_part {
    HALF_POS,       /* i64, n + 1: where each row's wanted entries begin, counted through */
    HALF_SKIP,      /* i64, n: what to add to that for the place among columns and values; none where contiguous */
    HALF_TILES,     /* half_tile, tiles + 1 */
    HALF_LOCAL,     /* u16, wanted: slot of each entry's column in its tile's window, and HALF_LATE */
    HALF_LIST,      /* u32, slots: columns of windows */
    HALF_SLOT_FROM, /* u32, n + 1: where each row's part of HALF_SLOT begins */
    HALF_SLOT,      /* u32, slots: each row's slots, rising */
    HALF_PARTS
};

template <class P> static inline P *half_at(const lacis_symv_half_plan *plan, half_part part)
{
    return (P *)((char *)plan->block + plan->place[part]);
}

struct half_params {
    const half_i64 *pos, *skip;
    const half_tile *tiles;
    const half_u16 *local;
    const half_u32 *list, *slot_from, *slot;
    const void *value, *x, *y0;
    void *y, *part;
    half_i64 x_step, y_step, first; /* first: place of the first entry, where contiguous */
    half_i64 n;
    double alpha[2], beta[2];
    bool hermitian, upper, add, scale; /* add: beta is not 0; scale: alpha is not 1 */
    half_u32 window;
};

/* half_tiles.cu: the parts of y that tiles come to. Launches only. */
cudaError_t half_tiles_launch(lacis_symv_type type, int lanes, half_i64 tiles, const half_params &p,
                              cudaStream_t stream);
/* Bytes of shared memory of a tile with a window of so many columns. */
static inline half_u64 half_window_bytes(lacis_symv_type type, half_u32 window)
{
    return 2 * (half_u64)lacis_symv_vector_bytes(type) * window + sizeof(half_u16) * (HALF_MOST_ROWS + 4);
}

#endif
