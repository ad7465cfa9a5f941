/* SPDX-License-Identifier: Apache-2.0
 *
 * Of a plan: tiles' units (half_inside.cuh) counted, then filled with entries' slots. Included by half_plan.cu.
 */
#ifndef LACIS_KERNELS_SYMV_HALF_FILL_CUH
#define LACIS_KERNELS_SYMV_HALF_FILL_CUH

#include "half_columns.cuh"

/* The units of the places j of the shares of a stretch's rows. */
static __device__ half_u32 units_at(const csr &a, const stretch &s, half_form form, half_i64 j)
{
    const half_i64 groups = 32 / form.lanes, share = (s.row1 - s.row0 + groups - 1) / groups;
    const half_i64 take = form.lanes * form.steps;
    half_i64 longest = 0;
    for (half_i64 g = 0; g < groups; g++) {
        const half_i64 r = s.row0 + g * share + j;
        if (r < s.row1) longest = max(longest, min(a.pos[r + 1], s.p1) - max(a.pos[r], s.p0));
    }
    return (half_u32)((longest + take - 1) / take);
}

/* Units of the stretch before each place, in m.unit; the answer: all. As many places as threads at most. */
static_assert((int)HALF_MOST_ROWS <= (int)THREADS, "a thread each place");
static __device__ half_u32 count_units(const csr &a, const stretch &s, half_form form, marks &m)
{
    const half_i64 groups = 32 / form.lanes, share = (s.row1 - s.row0 + groups - 1) / groups;
    const half_u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const half_u32 own = threadIdx.x < share ? units_at(a, s, form, threadIdx.x) : 0;
    half_u32 up = own;
    for (half_u32 d = 1; d < 32; d *= 2) {
        const half_u32 other = __shfl_up_sync(HALF_ALL, up, d);
        if (lane >= d) up += other;
    }
    __syncthreads();
    if (lane == 31) m.sums[warp] = up;
    __syncthreads();
    half_u32 before = up - own, all = 0;
    for (half_u32 v = 0; v < THREADS / 32; v++) {
        if (v < warp) before += m.sums[v];
        all += m.sums[v];
    }
    m.unit[threadIdx.x] = before;
    __syncthreads();
    return all;
}

static __global__ void __launch_bounds__(THREADS) count_kernel(csr a, half_i64 rows, half_u32 most, half_form form,
                                                               half_i64 *tiles, half_i64 *slots, half_i64 *units)
{
    __shared__ marks m;
    const half_i64 row0 = blockIdx.x * rows;
    half_i64 mine = 0, all = 0, taken = 0;
    for_tiles(a, row0, min(row0 + rows, a.n), most, m, [&](const stretch &s, half_u32 of) {
        mine++;
        all += of;
        taken += count_units(a, s, form, m);
    });
    if (threadIdx.x != 0) return;
    tiles[blockIdx.x] = mine;
    slots[blockIdx.x] = all;
    units[blockIdx.x] = taken;
}

/* Where a unit has the slot of step s of a lane. */
static __device__ __forceinline__ half_u16 *place_in(half_u16 *unit, half_u32 lane, half_u32 s)
{
    return unit + s / 2 * 64 + 2 * lane + s % 2;
}

/* Marks entries whose slot an earlier group takes in the same unit. Each warp keeps when each slot was last taken. */
static __device__ void mark_late(half_u16 *local, half_u32 units, half_form form, half_u32 slots, marks &m)
{
    const half_u32 lane = threadIdx.x % 32, groups = 32 / form.lanes, group = lane / form.lanes;
    half_u16 *stamp = m.stamp[threadIdx.x / 32], time = 0;
    if (groups == 1) return;
    for (half_u32 i = lane; i < slots; i += 32)
        stamp[i] = 0;
    for (half_u32 u = threadIdx.x / 32; u < units; u += THREADS / 32) {
        half_u16 *unit = local + 32 * (half_u64)form.steps * u;
        time++;
        for (half_u32 turn = 0; turn < groups; turn++) {
            __syncwarp();
            for (half_u32 s = 0; turn == group && s < (half_u32)form.steps; s++) {
                half_u16 *at = place_in(unit, lane, s);
                const half_u16 slot = *at;
                if (slot & HALF_KEPT) continue;
                if (stamp[slot] == time) *at = slot | HALF_LATE | HALF_KEPT;
                stamp[slot] = time;
            }
        }
    }
}

struct fill_params {
    const half_i64 *tile_of, *slot_of, *unit_of; /* of each stretch, the first */
    half_i64 rows;
    half_u32 most;
    half_form form;
    half_tile *tiles;
    half_u16 *local;
    half_u32 *list;
    const void *value; /* NULL: every entry is 1 */
    void *value_to;
    int value_bytes;
};

/* A value's bits from one place to another. */
static __device__ __forceinline__ void copy_value(const fill_params &f, half_i64 from, half_u64 to)
{
    if (f.value == NULL) return;
    if (f.value_bytes == 4)
        ((half_u32 *)f.value_to)[to] = ((const half_u32 *)f.value)[from];
    else if (f.value_bytes == 8)
        ((half_u64 *)f.value_to)[to] = ((const half_u64 *)f.value)[from];
    else
        ((ulonglong2 *)f.value_to)[to] = ((const ulonglong2 *)f.value)[from];
}

/* A tile's slots: its list, and each entry's with its value. */
static __device__ void fill_slots(const csr &a, const stretch &s, const fill_params &f, half_u64 unit0,
                                  half_u32 *list, marks &m)
{
    const half_form form = f.form;
    const half_u32 groups = 32 / form.lanes, share = (half_u32)((s.row1 - s.row0 + groups - 1) / groups);
    const half_u32 lanes = (half_u32)form.lanes, steps = (half_u32)form.steps, take = lanes * steps;
    half_u32 slots = 0;
    for (half_u32 lo = first_column(a, s, m); lo != ~0u;) {
        const half_u32 words = words_of(a, s, lo);
        mark(a, s, lo, words, m);
        const half_u32 next = m.next;
        slots = rank(words, slots, m);
        for_entries(a, s, [&](half_i64 r, half_i64 i, half_i64 p) {
            const half_u32 column = a.column[i], c = column - lo, w = c / 32;
            if (column < lo || c >= (half_u32)SPAN) return;
            const half_u32 slot = m.before[w] + __popc(m.word[w] & ((1u << c % 32) - 1));
            const half_u32 k = (half_u32)(p - max(a.pos[r], s.p0)), row = (half_u32)(r - s.row0);
            const half_u64 unit = 32 * (half_u64)steps * (unit0 + m.unit[row % share] + k / take);
            const half_u32 lane = row / share * lanes + k % lanes, step = k % take / lanes;
            *place_in(f.local + unit, lane, step) = (half_u16)(slot | (column == r ? HALF_KEPT : 0));
            copy_value(f, i, unit + 32 * step + lane);
        });
        for (half_u32 w = threadIdx.x; w < words; w += THREADS) {
            half_u32 at = m.before[w];
            for (half_u32 left = m.word[w]; left; left &= left - 1)
                list[at++] = lo + 32 * w + __ffs((int)left) - 1;
        }
        __syncthreads();
        lo = next;
    }
}

static __device__ void fill_tile(const csr &a, const stretch &s, const fill_params &f, const half_tile &tile,
                                 half_u32 slots, half_u32 units, marks &m)
{
    half_u16 *local = f.local + 32 * (half_u64)f.form.steps * (half_u64)tile.unit0;
    half_u32 *pairs = (half_u32 *)local;
    const half_u32 none = HALF_NONE | HALF_KEPT;
    for (half_u32 i = threadIdx.x; i < 16 * (half_u32)f.form.steps * units; i += THREADS)
        pairs[i] = none | none << 16;
    __syncthreads();
    fill_slots(a, s, f, (half_u64)tile.unit0, f.list + tile.slot0, m);
    mark_late(local, units, f.form, slots, m);
    __syncthreads();
}

static __global__ void __launch_bounds__(THREADS) fill_kernel(csr a, fill_params f)
{
    __shared__ marks m;
    const half_i64 row0 = blockIdx.x * f.rows;
    half_i64 at = f.tile_of[blockIdx.x], slot = f.slot_of[blockIdx.x], unit = f.unit_of[blockIdx.x];
    for_tiles(a, row0, min(row0 + f.rows, a.n), f.most, m, [&](const stretch &s, half_u32 slots) {
        const half_tile tile = {s.p0, s.p1, slot, unit, (half_u32)s.row0, (half_u32)s.row1};
        const half_u32 units = count_units(a, s, f.form, m);
        if (threadIdx.x == 0) f.tiles[at] = tile;
        fill_tile(a, s, f, tile, slots, units, m);
        at++;
        slot += slots;
        unit += units;
    });
    if (blockIdx.x == gridDim.x - 1 && threadIdx.x == 0)
        f.tiles[at] = {a.pos[a.n], a.pos[a.n], slot, unit, (half_u32)a.n, (half_u32)a.n};
}

#endif
