/* SPDX-License-Identifier: Apache-2.0
 *
 * What pull, push and closures share: items of very different length (rows of a graph) dealt to groups of lanes and,
 * where they are long, in pieces to warps. Included by gpu_vector_*.cu and gpu_closure.cu.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_VECTOR_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_VECTOR_CUH

#include "gpu.h"
#include "gpu_cell.cuh"

#include <cuda_runtime.h>

#include <string.h>

enum {
    MULG_PIECE = 512,     /* entries that a warp takes of a long item */
    MULG_LONG_FACTOR = 16 /* an item is long from so many entries a lane of its group on */
};

struct mulg_long {
    mul_u32 item, base, pieces, left; /* base: its first piece; left: pieces that are not done */
};

/* counts, task and longs lie in device memory; counts are zeroed before a launch. */
struct mulg_share {
    mul_u32 *counts; /* pieces; long items */
    mul_u32 *task;   /* the long item of each piece */
    mulg_long *longs;
    mul_u32 shift; /* log2 of the lanes of a group */
    mul_u64 most;  /* entries that a group takes itself */
};

/* Lanes of a group by the mean length: about two entries a lane. */
static inline mul_u32 mulg_share_shift(mul_u64 entries, mul_u64 items)
{
    mul_u32 shift = 0;
    while (shift < 5 && ((mul_u64)2 << shift) * items < entries)
        shift++;
    return shift;
}

static inline mul_u64 mulg_share_most(mul_u32 shift)
{
    return (mul_u64)MULG_LONG_FACTOR << (shift < 2 ? 2 : shift);
}

/* Bytes behind counts for long items among items of so many entries in all; mulg_share_place lays it out. */
static inline mul_u64 mulg_share_bytes(mul_u64 entries, mul_u32 shift)
{
    const mul_u64 longs = entries / mulg_share_most(shift) + 1, pieces = entries / MULG_PIECE + longs;
    return 256 + longs * sizeof(mulg_long) + pieces * sizeof(mul_u32);
}

static inline mulg_share mulg_share_place(void *block, mul_u64 entries, mul_u32 shift)
{
    mulg_share s;
    s.shift = shift;
    s.most = mulg_share_most(shift);
    s.counts = (mul_u32 *)block;
    s.longs = (mulg_long *)((char *)block + 256);
    s.task = (mul_u32 *)(s.longs + entries / s.most + 1);
    return s;
}

static inline unsigned mulg_share_blocks(mul_u64 items, mul_u32 shift, int processors)
{
    const mul_u64 blocks = ((items << shift) + MULG_THREADS - 1) / MULG_THREADS, most = (mul_u64)processors * 32;
    return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

MULG_DEVICE mul_u32 mulg_group_lanes(const mulg_share &s)
{
    return 1u << s.shift;
}

MULG_DEVICE mul_u32 mulg_group_mask(const mulg_share &s)
{
    const mul_u32 lanes = 1u << s.shift, lane = threadIdx.x & 31;
    return lanes == 32 ? MULG_ALL : ((1u << lanes) - 1) << (lane & ~(lanes - 1));
}

/* Whether an item is long: then it is left to the kernel of pieces. All lanes of the group call it. */
MULG_DEVICE bool mulg_defer(const mulg_share &s, mul_u32 item, mul_u64 length)
{
    if (length <= s.most) return false;
    const mul_u32 lanes = mulg_group_lanes(s), lane = threadIdx.x & (lanes - 1), mask = mulg_group_mask(s);
    const mul_u32 pieces = (mul_u32)((length + MULG_PIECE - 1) / MULG_PIECE);
    mul_u32 at = 0, base = 0;
    if (lane == 0) {
        at = atomicAdd(s.counts + 1, 1u);
        base = atomicAdd(s.counts, pieces);
        s.longs[at] = {item, base, pieces, pieces};
    }
    at = __shfl_sync(mask, at, 0, (int)lanes);
    base = __shfl_sync(mask, base, 0, (int)lanes);
    for (mul_u32 k = lane; k < pieces; k += lanes)
        s.task[base + k] = at;
    return true;
}

/* Calls f(long item, its number, piece) for the pieces that fall to this warp. */
template <class F> MULG_DEVICE void mulg_pieces(const mulg_share &s, F f)
{
    const mul_u32 tasks = s.counts[0], warps = gridDim.x * (blockDim.x / 32);
    for (mul_u32 k = (blockIdx.x * blockDim.x + threadIdx.x) / 32; k < tasks; k += warps) {
        const mul_u32 at = s.task[k];
        const mulg_long item = s.longs[at];
        f(item, at, k - item.base);
    }
}

/* --- what else is shared ----------------------------------------------------------------------- */

MULG_DEVICE mul_u64 mulg_warp_sum(mul_u64 x)
{
    for (int d = 16; d > 0; d /= 2)
        x += __shfl_xor_sync(MULG_ALL, x, d);
    return x;
}

MULG_DEVICE mul_u64 mulg_warp_most(mul_u64 x)
{
    for (int d = 16; d > 0; d /= 2) {
        const mul_u64 y = __shfl_xor_sync(MULG_ALL, x, d);
        x = y > x ? y : x;
    }
    return x;
}

template <class T> MULG_DEVICE mul_u64 mulg_absolute(T v)
{
    if constexpr (mulg_traits<T>::real) return 0;
    return v < 0 ? 0 - (mul_u64)(mul_i64)v : (mul_u64)v;
}

/* For rows that warps take piece by piece: enough blocks for the processors, more a row where rows are few. */
static inline dim3 mulg_piece_grid(mul_u64 rows, mul_u64 cols, int processors)
{
    const mul_u64 blocks = rows / MULG_WARPS + 1, most = (mul_u64)processors * 16;
    const mul_u64 x = blocks < most ? blocks : most, want = (cols + MULG_PIECE - 1) / MULG_PIECE;
    const mul_u64 fit = 2 * most / x + 1, y = want < fit ? want : fit;
    return dim3((unsigned)x, (unsigned)(y < 1 ? 1 : y > 65535 ? 65535 : y));
}

/* The first bytes of a device block, waited for. */
static inline cudaError_t mulg_read_back(void *pinned, const void *from, void *to, size_t bytes, cudaStream_t stream)
{
    void *at = pinned ? pinned : to;
    cudaError_t error = cudaMemcpyAsync(at, from, bytes, cudaMemcpyDeviceToHost, stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(stream);
    if (error == cudaSuccess && pinned) memcpy(to, pinned, bytes);
    return error;
}

#endif
