/* SPDX-License-Identifier: Apache-2.0
 *
 * SMALL rows (gpu_small.cuh) in any order: columns are found by linear probing in a table of shared memory at most
 * half full, values enter the cell beside the column, and the columns alone are sorted at the end, to be looked up
 * once more. For those AGGs that have cells for that (gpu_cell.cuh, gpu_fold.cuh); all others are sorted.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_SMALL_HASH_CUH
#define LACIS_KERNELS_MULTIPLY_GPU_SMALL_HASH_CUH

#include "gpu_small.cuh"

enum { MULG_HASH_SLOTS = 2 * MULG_SORTED, MULG_HASH_LEAST = 64 };

/* Dynamic shared memory of a block, cells of `cell` bytes: cells, columns of the slots, columns in a row. */
#define MULG_SMALL_HASH_BYTES(cell) (MULG_HASH_SLOTS * ((cell) + 4) + MULG_SORTED * 4)

template <class C> struct mulg_hash_table {
    typename C::bits *cell;
    mul_u32 *column, slots;

    static constexpr mul_u32 none = MULG_ALL; /* no matrix has such a column */

    __device__ __forceinline__ mul_u32 home(mul_u32 t) const
    {
        return (t * 0x9E3779B1u) >> __clz((int)(slots - 1)); /* Fibonacci hashing (Knuth, TAOCP 3, 6.4): upper bits */
    }
    /* The slot of t, which takes one where it has none. */
    __device__ __forceinline__ mul_u32 take(mul_u32 t) const
    {
        for (mul_u32 at = home(t);; at = (at + 1) & (slots - 1)) {
            mul_u32 seen = *(volatile mul_u32 *)(column + at);
            if (seen == none) seen = atomicCAS(column + at, none, t);
            if (seen == none || seen == t) return at;
        }
    }
    /* Of a column that is there, once all are. */
    __device__ __forceinline__ mul_u32 find(mul_u32 t) const
    {
        mul_u32 at = home(t);
        while (column[at] != t)
            at = (at + 1) & (slots - 1);
        return at;
    }
};

/* Slots for n products, so that half of them stay free. */
MULG_DEVICE mul_u32 mulg_hash_slots(mul_u32 n)
{
    mul_u32 slots = MULG_HASH_LEAST;
    while (slots < 2 * n)
        slots *= 2;
    return slots;
}

/* Every product of the row enters the table; ends with a barrier. */
template <class R>
MULG_DEVICE void mulg_hash_fill(const mulg_params &p, mulg_small_shared<R> &shared,
                                mulg_hash_table<typename R::cell> &table, mul_u32 row, int *bad)
{
    typedef typename R::A A;
    typedef typename R::B B;
    typedef typename R::cell C;
    const mul_i64 begin = p.a_begin[row];
    const mul_u32 degree = (mul_u32)(p.a_end[row] - begin);
#pragma unroll 1
    for (mul_u32 from = 0; from < degree; from += MULG_THREADS) {
        const mulg_extent all = mulg_small_lay<R>(p, shared, begin, degree, from);
        if (from == 0) { /* of a longer row only a part is known */
            table.slots = degree > MULG_THREADS ? (mul_u32)MULG_HASH_SLOTS : mulg_hash_slots(all.total);
#pragma unroll 1
            for (mul_u32 i = threadIdx.x; i < table.slots; i += MULG_THREADS) {
                table.column[i] = table.none;
                table.cell[i] = C::empty();
            }
            __syncthreads();
        }
        mulg_small_walk<R>(p, shared, all, [&](mul_u32, mul_u32 t, A a, B b, mul_u32 c) {
            const mul_u32 at = table.take(t);
            if constexpr (R::VALUES)
                C::put(table.cell + at, R::con(p, a, b, row, c, t, bad));
            else
                C::add(table.cell + at);
        });
    }
    __syncthreads();
}

/* The columns of the table, in any order; answers how many. Ends with a barrier. */
template <class R>
MULG_DEVICE mul_u32 mulg_hash_columns(mulg_small_shared<R> &shared, const mulg_hash_table<typename R::cell> &table,
                                      mul_u32 *list)
{
    if (threadIdx.x == 0) shared.entries = 0;
    __syncthreads();
#pragma unroll 1
    for (mul_u32 i = threadIdx.x; i - threadIdx.x < table.slots; i += MULG_THREADS) {
        const mul_u32 t = i < table.slots ? table.column[i] : table.none;
        const mul_u32 votes = __ballot_sync(MULG_ALL, t != table.none);
        mul_u32 at = 0;
        if ((threadIdx.x & 31) == 0 && votes) at = atomicAdd(&shared.entries, (mul_u32)__popc(votes));
        at = __shfl_sync(MULG_ALL, at, 0);
        if (t != table.none) list[at + __popc(votes & mulg_lanes_below())] = t;
    }
    __syncthreads();
    return shared.entries;
}

template <class R> MULG_DEVICE void mulg_small_hash(const mulg_params &p)
{
    typedef typename R::cell C;
    typedef typename C::bits bits;
    mulg_hash_table<C> table;
    table.cell = (bits *)mulg_dynamic;
    table.column = (mul_u32 *)(table.cell + MULG_HASH_SLOTS);
    table.slots = 0;
    mul_u32 *const list = table.column + MULG_HASH_SLOTS;
    int bad = 0;
    mulg_small_rows<R>(p, [&](mulg_small_shared<R> &shared, mul_u32 row, mul_u64 out) {
        mulg_hash_fill<R>(p, shared, table, row, &bad);
        const mul_u32 entries = mulg_hash_columns<R>(shared, table, list);
        mulg_block_sort(list, entries);
        const auto column = [&](mul_u32 j) { return list[j]; };
        const auto final = [&](mul_u32 j, auto f) {
            const bits cell = table.cell[table.find(list[j])];
            if constexpr (R::VALUES)
                f(C::get(cell));
            else
                f((mul_u32)cell);
        };
        return mulg_small_store<R>(p, shared, row, entries, column, final, out);
    });
    if (bad) *p.bad = 1;
}

#endif
