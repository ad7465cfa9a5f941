/* SPDX-License-Identifier: Apache-2.0
 *
 * What half_plan.cu, half_tiles.cu and half_run.cu share: a plan's parts and the kernels' view of a job.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_INSIDE_CUH
#define LACIS_KERNELS_SYMV_HALF_INSIDE_CUH

#include "half.h"
#include "half_number.cuh"

enum {
    HALF_MOST_ROWS = 256,      /* of a tile */
    HALF_MOST_ENTRIES = 16384, /* of a tile; more than that only one row has */
    HALF_WINDOW_BYTES = 6400,  /* of x's window, and of y's behind it */
    HALF_MOST_WINDOW = 1536,   /* columns of a tile at most, whatever their type */
    /* An entry's slot in its tile's window, and: */
    HALF_SLOT_BITS = 0x1fff,
    HALF_NONE = 0x2000, /* there is no entry */
    HALF_LATE = 0x4000, /* the slot is an earlier group's too in the same unit: it waits for its group's turn */
    HALF_KEPT = 0x8000  /* not added to its column's sum with the others: late, on the diagonal, none */
};

/* Rows row0 .. row1-1 of the matrix, of which the entries p0 .. p1-1, counting the wanted ones of all rows through.
 * Its window: slots slot0 .. of the next tile's, by rising column; the tile's own rows are among them, one behind the
 * other, all of them: last where the triangle is the lower one, else first. */
typedef struct half_tile {
    half_i64 p0, p1;
    half_i64 slot0, unit0;
    half_u32 row0, row1;
} half_tile;

/* A unit is what a warp takes at a time: `lanes` lanes share a row, so there are 32 / lanes groups; group g has the
 * g-th share of the tile's rows, ceil(rows / groups) of them. Units run through the places j of the shares, and for
 * each through its longest row, lanes * steps entries a group at a time. */
struct half_form {
    int lanes, steps;
};
static inline half_u64 half_unit_bytes(half_form form)
{
    return 64 * (half_u64)form.steps;
}

/* Places of a plan's parts in its block. */
enum half_part {
    HALF_POS,       /* i64, n + 1: where each row's wanted entries begin, counted through */
    HALF_TILES,     /* half_tile, tiles + 1 */
    HALF_LOCAL,     /* of each unit steps / 2 times 32 lanes' pairs of u16: slots of two steps' entries */
    HALF_VALUE,     /* of each unit steps times 32 lanes' values; none where every entry is 1 */
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
    const half_i64 *pos;
    const half_tile *tiles;
    const half_u32 *local, *list, *slot_from, *slot;
    const void *value, *x, *y0;
    void *y, *part;
    half_i64 x_step, y_step;
    half_i64 n;
    double alpha[2], beta[2];
    bool hermitian, upper, add, scale; /* add: beta is not 0; scale: alpha is not 1 */
};

/* half_tiles.cu: the parts of y that tiles come to. Launches only. */
cudaError_t half_tiles_launch(lacis_symv_type type, half_form form, half_i64 tiles, const half_params &p,
                              cudaStream_t stream);
/* Bytes of shared memory of a tile; warps that a multiprocessor holds. */
static inline half_u64 half_tile_bytes()
{
    return 2 * HALF_WINDOW_BYTES + sizeof(half_u16) * (HALF_MOST_ROWS + 4);
}

#endif
