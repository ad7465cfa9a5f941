/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a plan: which entries are wanted, how many columns rows have, how they fall into tiles. Included by
 * half_plan.cu.
 *
 * Tiles come from stretches of as many rows each. A stretch that does not fit a window is halved until it does; a
 * single row that does not is cut. A stretch's distinct columns are marked as bits: a column's slot is the number of
 * bits before its own.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_COLUMNS_CUH
#define LACIS_KERNELS_SYMV_HALF_COLUMNS_CUH

#include "half_inside.cuh"

enum {
    THREADS = 256,
    LANES = 8, /* that share a row here */
    GROUPS = THREADS / LANES,
    WORDS = 4096,          /* of the bits of a pass */
    SPAN = WORDS * 32,     /* columns of a pass */
    EACH = WORDS / THREADS /* words a thread */
};

struct csr {
    const half_i64 *begin, *end;
    const half_u32 *column;
    half_i64 n;
    bool upper;
    const half_i64 *pos, *skip; /* of the plan; skip NULL: contiguous from `first` on */
    half_i64 first;
};

/* --- wanted entries ------------------------------------------------------------------------------ */

/* The first of [from, to) whose column is at least c. */
static __device__ half_i64 lower_bound(const half_u32 *column, half_i64 from, half_i64 to, half_u64 c)
{
    while (from < to) {
        const half_i64 middle = from + (to - from) / 2;
        if (column[middle] < c)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

static __global__ void wanted_kernel(csr a, half_i64 *pos, half_i64 *skip)
{
    const half_i64 r = (half_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (r > a.n) return;
    if (r == a.n) {
        pos[r] = 0; /* the scan's last place */
        return;
    }
    half_i64 from = a.begin[r], to = a.end[r];
    if (a.upper && from < to && a.column[from] < r) from = lower_bound(a.column, from, to, (half_u64)r);
    if (!a.upper && from < to && a.column[to - 1] > r) to = lower_bound(a.column, from, to, (half_u64)r + 1);
    pos[r] = to - from;
    skip[r] = from;
}

static __global__ void skip_kernel(half_i64 n, const half_i64 *pos, half_i64 *skip)
{
    const half_i64 r = (half_i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (r < n) skip[r] -= pos[r];
}

static __device__ __forceinline__ half_i64 place_of(const csr &a, half_i64 row)
{
    return a.skip == NULL ? a.first : a.skip[row];
}

/* --- distinct columns ---------------------------------------------------------------------------- */

struct marks {
    union {
        struct {
            half_u32 word[WORDS];
            half_u16 before[WORDS]; /* bits before each word's, from the tile's first on */
        };
        half_u16 stamp[THREADS / 32][HALF_MOST_WINDOW];
    };
    half_u32 next, sums[THREADS / 32], unit[THREADS];
};

/* Entries [p0, p1) of rows [row0, row1). */
struct stretch {
    half_i64 row0, row1, p0, p1;
};

/* Calls each(row, place among columns, position) with every entry, by the whole block. */
template <class F> static __device__ void for_entries(const csr &a, const stretch &s, F each)
{
    for (half_i64 r = s.row0 + threadIdx.x / LANES; r < s.row1; r += GROUPS) {
        const half_i64 to = min(a.pos[r + 1], s.p1), skip = place_of(a, r);
        for (half_i64 p = max(a.pos[r], s.p0) + threadIdx.x % LANES; p < to; p += LANES)
            each(r, p + skip, p);
    }
}

/* The least of the stretch's columns, its own rows among them. */
static __device__ half_u32 first_column(const csr &a, const stretch &s, marks &m)
{
    if (a.upper) return (half_u32)s.row0;
    if (threadIdx.x == 0) m.next = (half_u32)s.row0;
    __syncthreads();
    for (half_i64 r = s.row0 + threadIdx.x; r < s.row1; r += THREADS) {
        const half_i64 p = max(a.pos[r], s.p0);
        if (p < min(a.pos[r + 1], s.p1)) atomicMin(&m.next, a.column[p + place_of(a, r)]);
    }
    __syncthreads();
    const half_u32 first = m.next;
    __syncthreads();
    return first;
}

/* Marks columns lo .. lo + SPAN - 1; m.next: the least column beyond, ~0 where there is none. */
static __device__ void mark(const csr &a, const stretch &s, half_u32 lo, half_u32 words, marks &m)
{
    for (half_u32 w = threadIdx.x; w < words; w += THREADS)
        m.word[w] = 0;
    if (threadIdx.x == 0) m.next = ~0u;
    __syncthreads();
    half_u32 next = ~0u;
    auto set = [&](half_u32 c) {
        if (c < lo) return;
        if (c - lo < (half_u32)SPAN)
            atomicOr(&m.word[(c - lo) / 32], 1u << (c - lo) % 32);
        else
            next = min(next, c);
    };
    for_entries(a, s, [&](half_i64, half_i64 i, half_i64) { set(a.column[i]); });
    for (half_i64 r = s.row0 + threadIdx.x; r < s.row1; r += THREADS)
        set((half_u32)r);
    if (next != ~0u) atomicMin(&m.next, next);
    __syncthreads();
}

/* m.before of the words, from `base` on; the number of all bits with base. */
static __device__ half_u32 rank(half_u32 words, half_u32 base, marks &m)
{
    const half_u32 first = threadIdx.x * EACH, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    half_u32 own = 0;
    for (half_u32 w = first; w < min(first + (half_u32)EACH, words); w++)
        own += __popc(m.word[w]);
    half_u32 up = own;
    for (half_u32 d = 1; d < 32; d *= 2) {
        const half_u32 other = __shfl_up_sync(HALF_ALL, up, d);
        if (lane >= d) up += other;
    }
    if (lane == 31) m.sums[warp] = up;
    __syncthreads();
    half_u32 at = base + up - own, all = base;
    for (half_u32 v = 0; v < THREADS / 32; v++) {
        if (v < warp) at += m.sums[v];
        all += m.sums[v];
    }
    for (half_u32 w = first; w < min(first + (half_u32)EACH, words); w++) {
        m.before[w] = (half_u16)at;
        at += __popc(m.word[w]);
    }
    __syncthreads();
    return all;
}

/* How many words hold [lo, the last column that may occur]. */
static __device__ half_u32 words_of(const csr &a, const stretch &s, half_u32 lo)
{
    const half_i64 end = a.upper ? a.n : s.row1;
    return (half_u32)min((half_i64)WORDS, (end - lo + 31) / 32);
}

/* The number of slots that the stretch's window needs; what is more than `most` may come out as less. */
static __device__ half_u32 count_slots(const csr &a, const stretch &s, half_u32 most, marks &m)
{
    half_u32 slots = 0;
    for (half_u32 lo = first_column(a, s, m); lo != ~0u && slots <= most;) {
        const half_u32 words = words_of(a, s, lo);
        mark(a, s, lo, words, m);
        lo = m.next;
        slots = rank(words, slots, m);
    }
    return slots;
}

/* --- stretches and tiles ------------------------------------------------------------------------- */

static __device__ bool fits(const csr &a, const stretch &s, half_u32 most, half_u32 *slots, marks &m)
{
    if (s.row1 - s.row0 > min((half_i64)HALF_MOST_ROWS, (half_i64)most) || s.p1 - s.p0 > HALF_MOST_ENTRIES)
        return false;
    *slots = count_slots(a, s, most, m);
    return *slots <= most;
}

/* Calls tile(stretch, slots) with each tile of the rows [row0, row1) in order, by the whole block. */
template <class F>
static __device__ void for_tiles(const csr &a, half_i64 row0, half_i64 row1, half_u32 most, marks &m, F tile)
{
    half_i64 at = row0, step = row1 - row0;
    half_u32 slots;
    while (at < row1) {
        const half_i64 end = min(at + step, row1);
        stretch s = {at, end, a.pos[at], a.pos[end]};
        if (fits(a, s, most, &slots, m)) {
            tile(s, slots);
            at = end;
        } else if (step > 1) {
            step = (min(step, row1 - at) + 1) / 2;
        } else { /* the row's own slot, and as many entries as fit besides */
            for (half_i64 p = a.pos[at]; p < a.pos[end]; p += most - 1) {
                s.p0 = p;
                s.p1 = min(p + (half_i64)most - 1, a.pos[end]);
                tile(s, count_slots(a, s, most, m));
            }
            at = end;
            step = row1 - row0;
        }
    }
}

#endif
