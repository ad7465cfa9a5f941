/* SPDX-License-Identifier: Apache-2.0
 *
 * The other way to sort bodies along the curve: inserting one after another into a tree, top down, after Burtscher
 * and Pingali (An efficient CUDA implementation of the tree-based Barnes Hut n-body algorithm, 2011). A thread locks
 * the place that it changes and no more; bodies are counted from below, and each cell finds the place of its bodies
 * from above. What follows is that of sorted keys, so the tree has the same bits.
 *
 * Digits of keys are octants in the order of the curve. A cell knows at which level its bodies part, so that there
 * are no cells with one child: fewer than bodies, in however close pairs these come. Bodies with one key are one's
 * copies.
 *
 * Threads wait for a place's lock by asking again, and are free to run apart from the lanes beside them: who holds a
 * lock waits for nothing. What a lock guards is written before its release and read after it was acquired.
 */
#ifndef LACIS_KERNELS_NBODY_GPU_BUILD_INSERT_CUH
#define LACIS_KERNELS_NBODY_GPU_BUILD_INSERT_CUH

#include "gpu_build_job.cuh"
#include "gpu_build_keys.cuh"

namespace nbody
{

constexpr uint32_t NOTHING = 0xffffffffu, LOCKED = 0xfffffffeu, CELL = 1u << 31;

/* Cells are numbered from 1; places of the children of cell k: 8 k .. 8 k + 7; place 0 is the root's. A place holds
 * nothing, a body, CELL | a cell, or a lock. */
struct Inserted {
    uint32_t *place;
    uint32_t *level, *some, *above; /* of a cell: where its bodies part, one of them, its parent */
    uint32_t *count, *arrived;
    uint32_t *copies, *copy_of, *copy; /* of a body: how many it has; whose it is, and which one */
    uint32_t *at;                      /* of a body: where it comes */
    uint32_t *made;                    /* how many cells */
};

__device__ static inline uint32_t acquire(const uint32_t *from)
{
    uint32_t value;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
    return value;
}

__device__ static inline void release(uint32_t *to, uint32_t value)
{
    asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

__device__ static inline uint32_t digit_of(Key key, uint32_t level)
{
    return (uint32_t)(key >> 3 * (GRID - 1 - level)) & 7;
}

/* A new cell between `above` and what is at a locked place, which parts from the body at a level. */
__device__ static inline void part(const Inserted &t, const Key *key, uint32_t at, uint32_t above, uint32_t there,
                                   Key there_key, uint32_t body, uint32_t level)
{
    const uint32_t cell = atomicAdd(t.made, 1u) + 1;
    t.place[8 * (size_t)cell + digit_of(there_key, level)] = there;
    t.place[8 * (size_t)cell + digit_of(key[body], level)] = body;
    t.level[cell] = level;
    t.some[cell] = body;
    t.above[cell] = above;
    if (there & CELL) t.above[there & ~CELL] = cell;
    release(t.place + at, CELL | cell);
}

/* One attempt at the place where the body is; whether it is in the tree. */
__device__ static inline bool insert(const Inserted &t, const Key *key, uint32_t body, uint32_t *at, uint32_t *above)
{
    const uint32_t there = acquire(t.place + *at);
    if (there == LOCKED) return false;
    if (there == NOTHING) return atomicCAS(t.place + *at, NOTHING, body) == NOTHING;
    const uint32_t cell = there & ~CELL, other = there & CELL ? t.some[cell] : there;
    const uint32_t level = (uint32_t)common_levels(key[body], key[other], GRID);
    if (there & CELL) {
        if (level >= t.level[cell]) {
            *above = cell;
            *at = 8 * cell + digit_of(key[body], t.level[cell]);
            return false;
        }
    } else if (level == GRID) {
        t.copy_of[body] = there;
        t.copy[body] = atomicAdd(t.copies + there, 1u) + 1;
        return true;
    }
    if (atomicCAS(t.place + *at, there, LOCKED) != there) return false;
    part(t, key, *at, *above, there, key[other], body, level);
    return true;
}

static __global__ void __launch_bounds__(256) insert_kernel(uint32_t n, const Key *key, Inserted t)
{
    for (uint32_t body = blockIdx.x * 256 + threadIdx.x; body < n; body += gridDim.x * 256) {
        uint32_t at = 0, above = 0;
        while (!insert(t, key, body, &at, &above)) {
        }
    }
}

__device__ static inline bool is_cell(uint32_t child)
{
    return child != NOTHING && (child & CELL) != 0;
}

__device__ static inline uint32_t bodies_of(const Inserted &t, uint32_t child)
{
    if (child == NOTHING) return 0;
    return child & CELL ? __ldcg(t.count + (child & ~CELL)) : 1 + t.copies[child];
}

__device__ static inline uint32_t cells_below(const Inserted &t, uint32_t cell)
{
    uint32_t cells = 0;
    for (uint32_t k = 0; k < 8; k++)
        cells += is_cell(t.place[8 * (size_t)cell + k]);
    return cells;
}

/* Bodies below each cell: cells without cells below them first, then whoever arrives last at the one above. */
static __global__ void __launch_bounds__(256) count_below_kernel(Inserted t)
{
    const uint32_t made = *t.made;
    for (uint32_t start = blockIdx.x * 256 + threadIdx.x + 1; start <= made; start += gridDim.x * 256) {
        if (cells_below(t, start) > 0) continue;
        for (uint32_t cell = start; cell != 0;) {
            uint32_t sum = 0;
            for (uint32_t k = 0; k < 8; k++)
                sum += bodies_of(t, t.place[8 * (size_t)cell + k]);
            t.count[cell] = sum;
            cell = t.above[cell];
            if (cell == 0) break;
            __threadfence(); /* the count comes before the arrival, and others' after theirs */
            if (atomicAdd(t.arrived + cell, 1u) + 1 != cells_below(t, cell)) break;
            __threadfence();
        }
    }
}

/* How many bodies come before a cell's: those of its elder sisters, of its parent's, and so on. */
__device__ static inline uint32_t before_cell(const Inserted &t, const Key *key, uint32_t cell)
{
    uint32_t sum = 0;
    for (uint32_t above = t.above[cell]; above != 0; above = t.above[above]) {
        const uint32_t mine = digit_of(key[t.some[cell]], t.level[above]);
        for (uint32_t k = 0; k < mine; k++)
            sum += bodies_of(t, t.place[8 * (size_t)above + k]);
    }
    return sum;
}

static __global__ void __launch_bounds__(256) place_below_kernel(const Key *key, Inserted t)
{
    const uint32_t made = *t.made, first = blockIdx.x * 256 + threadIdx.x;
    if (first == 0 && made == 0) t.at[t.place[0]] = 0; /* there is one key alone */
    for (uint32_t cell = first + 1; cell <= made; cell += gridDim.x * 256) {
        uint32_t at = before_cell(t, key, cell);
        for (uint32_t k = 0; k < 8; k++) {
            const uint32_t child = t.place[8 * (size_t)cell + k];
            if (child != NOTHING && !(child & CELL)) t.at[child] = at;
            at += bodies_of(t, child);
        }
    }
}

static __global__ void __launch_bounds__(256)
    sorted_kernel(uint32_t n, const Key *key, Inserted t, Key *sorted, uint32_t *order)
{
    const uint32_t body = blockIdx.x * 256 + threadIdx.x;
    if (body >= n) return;
    const uint32_t of = t.copy_of[body], at = of == NOTHING ? t.at[body] : t.at[of] + t.copy[body];
    sorted[at] = key[body];
    order[at] = body;
}

static Inserted inserted_lay_out(uint64_t n, char *block, uint64_t *bytes)
{
    Carve c = {block, 0};
    Inserted t;
    t.place = c.take<uint32_t>(8 * (n + 1)); /* NOTHING, to copy_of */
    t.copy_of = c.take<uint32_t>(n);
    t.made = c.take<uint32_t>(1); /* 0, to copies */
    t.arrived = c.take<uint32_t>(n + 1);
    t.copies = c.take<uint32_t>(n);
    t.level = c.take<uint32_t>(n + 1);
    t.some = c.take<uint32_t>(n + 1);
    t.above = c.take<uint32_t>(n + 1);
    t.count = c.take<uint32_t>(n + 1);
    t.copy = c.take<uint32_t>(n);
    t.at = c.take<uint32_t>(n);
    *bytes = c.used;
    return t;
}

static bool insert_all(const Machine *m, uint32_t n, const Inserted &t, Key *const key[2], uint32_t *order)
{
    const size_t nothing = (size_t)((char *)t.made - (char *)t.place),
                 none = (size_t)((char *)t.level - (char *)t.made);
    const unsigned blocks = blocks_of(n, 256), some = fewer(blocks, (unsigned)m->processors * 8);
    if (!good(m, cudaMemsetAsync(t.place, 0xff, nothing, m->stream)) ||
        !good(m, cudaMemsetAsync(t.made, 0, none, m->stream)))
        return false;
    insert_kernel<<<some, 256, 0, m->stream>>>(n, key[0], t);
    count_below_kernel<<<some, 256, 0, m->stream>>>(t);
    place_below_kernel<<<some, 256, 0, m->stream>>>(key[0], t);
    sorted_kernel<<<blocks, 256, 0, m->stream>>>(n, key[0], t, key[1], order);
    return launched(m);
}

template <class P, class R> static lacis_nbody_status insert_bodies(const Job<P, R> &j, Round *r, Sorted *sorted)
{
    Builder<P, R> *b = j.b;
    const uint32_t n = (uint32_t)b->n;
    if (n >= 1u << 29) return LACIS_NBODY_UNSUPPORTED; /* eight places a cell, numbered in 32 bits */
    uint64_t bytes;
    inserted_lay_out(n, nullptr, &bytes);
    char *block = static_cast<char *>(j.m->host.alloc(j.m->host.context, bytes));
    if (block == nullptr) return LACIS_NBODY_NO_MEMORY;
    keys_kernel<P><<<blocks_of(n, 256 * KEYS_EACH), 256, 0, j.m->stream>>>(n, j.from.body, nullptr, nullptr, nullptr,
                                                                           b->box, GRID, 0, b->key[0], nullptr);
    const bool done = launched(j.m) && insert_all(j.m, n, inserted_lay_out(n, block, &bytes), b->key, b->order[1]);
    j.m->host.free(j.m->host.context, block);
    *sorted = Sorted{b->order[1], b->key[1], 0};
    *r = Round{n, GRID, 0, b->key[1], nullptr, nullptr, nullptr, b->box, b->mask, b->count, b->blocks};
    return done ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

} // namespace nbody

#endif
