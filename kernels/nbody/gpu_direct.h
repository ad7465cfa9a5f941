/* SPDX-License-Identifier: Apache-2.0
 *
 * All pairs on the device, as the system uses them (gpu_inside.h has `direct`, which takes memory for itself).
 *
 * Bodies among themselves (gpu_direct_pairs.cuh): every pair is evaluated once and gives to both of its bodies. The
 * square of pairs falls into supers of `super` bodies, and these into tiles of `warps` x 32 x ROWS rows and `columns`
 * columns, of which those on and above the diagonal are done, one by a block. In round d super I meets super I + d
 * (around the end), so that in one round every body is once among rows and once among columns: a tile leaves the sums
 * of its rows in slot (column tile), those of its columns in slot (column tiles + row tile), and a second kernel adds
 * up each body's slots in order. So the bits do not depend on who was first.
 */
#ifndef LACIS_NBODY_GPU_DIRECT_H
#define LACIS_NBODY_GPU_DIRECT_H

#include "nbody/gpu_inside.h"
#include "nbody/gpu_motion.cuh"

namespace nbody
{

template <class R> constexpr int ROWS = sizeof(R) == 4 ? 8 : 4; /* of a lane */

struct Pairs {
    uint32_t n;
    uint32_t warps, rows, columns;    /* of a tile; rows: warps x 32 x ROWS, a multiple of columns */
    uint32_t super, supers;           /* super: a multiple of rows */
    bool early;                       /* the device starts kernels before the ones that they wait for have ended */
    uint32_t row_tiles, column_tiles; /* of a super */
};

template <class P, class R> struct Sources {
    const Four<P> *body;
    const R *soft; /* eps^2 of each, or NULL: common */
    R common;
};

/* Bodies that come in their canonical order are put into that of the next step as they are moved
 * (gpu_direct_rank.cuh): they go to `body` and `moving`, and from there back to their places. Only rows without
 * softening of their own, and one super. */
enum { RANK_BUCKETS = 512, RANK_ROOM = 128 };
template <class P> struct Ranked {
    Four<P> *body; /* NULL: bodies stay in their order */
    Moving<P> *moving;
    uint64_t *key;
    uint32_t *bucket;       /* RANK_BUCKETS of RANK_ROOM bodies each */
    uint32_t *count, *next; /* of each bucket: 0, and what becomes 0 */
};

/* Where bodies go once their sums are known: out gets the sums; moving NULL: nothing else. */
template <class P, class R> struct Finish {
    Four<R> *out;
    Four<P> *body;
    Moving<P> *moving;
    Motion<P, R> how;
    Ranked<P> ranked;
};

/* warps, columns 0: as is best on so many processors. */
template <class R> Pairs pairs_of(int64_t n, int processors, int warps, int columns);
template <class R> uint64_t pairs_bytes(const Pairs &pairs);
/* slots: pairs_bytes. Launches alone. finish.body may be sources.body. */
template <class P, class R>
cudaError_t pairs_run(cudaStream_t stream, const Pairs &pairs, const Sources<P, R> &sources, bool potential,
                      void *slots, const Finish<P, R> &finish);

/* Targets that are none of the bodies, or a sample of them (gpu_direct_marks.cuh). soft: eps^2 of each, NULL: that of
 * free points. */
template <class P, class R> struct Marks {
    int64_t n;
    const P *x, *y, *z;
    const R *soft;
};

enum { MARKS = 128 }; /* targets of a block, and sources that are in its shared memory at a time */
/* Blocks that share a target's sources. */
inline uint32_t marks_parts(int64_t targets, int processors)
{
    const int64_t blocks = (targets + MARKS - 1) / MARKS, wanted = 12 * (int64_t)processors;
    const int64_t parts = blocks > 0 ? (wanted + blocks - 1) / blocks : 1;
    return (uint32_t)(parts < 1024 ? parts : 1024);
}
template <class R> uint64_t marks_bytes(int64_t targets, int processors)
{
    return (uint64_t)targets * marks_parts(targets, processors) * sizeof(Four<R>);
}
/* n sources upon the targets; w is the potential, or the sum of moduli. slots: marks_bytes. Launches alone. */
template <class P, class S, class R>
cudaError_t marks_run(cudaStream_t stream, int processors, int64_t n, const Sources<P, S> &sources,
                      const Marks<P, R> &marks, bool moduli, void *slots, Four<R> *out);

} // namespace nbody

#endif
