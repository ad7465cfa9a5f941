/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER's matrices (gpu_power.h): powers of a step, and blocks of steps with the rows of their samples. Callers:
 * gpu_tables.cu, gpu_run.cu.
 */
#include "gpu_power.h"

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int levels_within(int64_t steps)
{
    int levels = 1;
    while (levels < NEUG_POWER_LEVELS && (int64_t)1 << levels <= steps)
        levels++;
    return levels;
}

/* Steps of blocks are as many as share a product well, and go from sample to sample. */
neug_power_cut neug_power_cut_of(const neuron_plan *plan, int64_t most_steps)
{
    const int64_t most = most_steps > 0 ? least(most_steps, plan->steps) : plan->steps, every = plan->every;
    neug_power_cut cut = {0, 0, levels_within(least(most, every))};
    if (every > most || every > NEUG_POWER_EVERY) return {0, 0, levels_within(most)};
    int64_t samples = (NEUG_POWER_STEPS + every - 1) / every;
    samples = least(samples, most / every);
    if (plan->numbers > 0) samples = least(samples, NEUG_POWER_SAMPLES / plan->numbers + 1);
    cut.samples = samples;
    cut.steps = samples * every;
    return cut;
}

int64_t neug_power_wide(int64_t nodes, int64_t clamps)
{
    return (nodes + 1 + clamps + NEUG_POWER_SLICE - 1) / NEUG_POWER_SLICE * NEUG_POWER_SLICE;
}

static int64_t rows_within(const neug_power_cut *cut, int64_t probes)
{
    return cut->steps > 0 ? (cut->samples - 1) * probes : 0;
}

int64_t neug_power_rows(const neug_power_cut *cut, int64_t nodes, int64_t clamps, int64_t probes)
{
    return neug_power_wide(nodes, clamps) + rows_within(cut, probes);
}

static int blocks_of(const neug_power_cut *cut)
{
    int blocks = 0;
    while (blocks < NEUG_POWER_BLOCKS && cut->samples >> blocks > 0)
        blocks++;
    return blocks;
}

/* Levels; blocks with their rows, P^every, and room to take powers in. */
uint64_t neug_power_doubles(const neug_power_cut *cut, int64_t nodes, int64_t clamps, int64_t probes)
{
    const uint64_t wide = (uint64_t)neug_power_wide(nodes, clamps);
    const uint64_t blocks = (uint64_t)blocks_of(cut), squares = (uint64_t)cut->levels + (blocks > 0 ? 2 : 0);
    return (squares * wide + blocks * (wide + (uint64_t)rows_within(cut, probes))) * wide;
}

#define TRY(call)                                                                                                    \
    do {                                                                                                             \
        const cudaError_t error_ = (call);                                                                           \
        if (error_ != cudaSuccess) return error_;                                                                    \
    } while (0)

/* to := base^exponent, from the exponent's highest bit down; `room` is for every other product. */
static cudaError_t raise(const double *base, int64_t exponent, double *to, double *room, int64_t wide,
                         cudaStream_t stream)
{
    int bits = 0, products = 0;
    while (exponent >> (bits + 1) > 0)
        bits++;
    for (int b = 0; b < bits; b++)
        products += 1 + (int)(exponent >> b & 1);
    double *now = products % 2 == 0 ? to : room, *next = now == to ? room : to;
    TRY(cudaMemcpyAsync(now, base, (size_t)(wide * wide) * sizeof *now, cudaMemcpyDeviceToDevice, stream));
    for (int b = bits - 1; b >= 0; b--)
        for (int again = 0; again <= (int)(exponent >> b & 1); again++) {
            TRY(neug_power_product(again ? base : now, wide, now, next, wide, stream));
            double *swap = now;
            now = next;
            next = swap;
        }
    return cudaSuccess;
}

/* Each block's power from that of the next, which has half of its samples: squared, and once more times one sample.
 */
static cudaError_t make_blocks(const neug_power_cut *cut, const double *sample, double *const *block, double *room,
                               int64_t wide, cudaStream_t stream)
{
    static_assert(NEUG_POWER_STEPS >> NEUG_POWER_BLOCKS == 0, "the last block has one sample");
    const int last = blocks_of(cut) - 1;
    TRY(raise(sample, 1, block[last], room, wide, stream));
    for (int b = last - 1; b >= 0; b--) {
        const bool odd = (cut->samples >> b) % 2 != 0;
        TRY(neug_power_product(block[b + 1], wide, block[b + 1], odd ? room : block[b], wide, stream));
        if (odd) TRY(neug_power_product(sample, wide, room, block[b], wide, stream));
    }
    return cudaSuccess;
}

/* The rows of samples stand right behind the nodes' own: in the state's other rows a block has no interest. Those of
 * so many samples times a block's power are the next as many. */
static cudaError_t add_samples(const neug_common *common, const neug_shape *shape, int64_t number,
                               const neug_power_cut *cut, const double *sample, double *const *block, int64_t wide,
                               cudaStream_t stream)
{
    const int64_t all = cut->samples - 1, each = shape->probes * wide;
    double *rows = block[0] + shape->nodes * wide;
    if (all == 0 || shape->probes == 0) return cudaSuccess;
    TRY(neug_power_pick(common, shape, number, sample, wide, rows, stream));
    for (int64_t known = 1, some; known < all; known += some) {
        int b = 1;
        while (cut->samples >> b > known)
            b++;
        const int64_t step = cut->samples >> b;
        some = least(step, all - known);
        TRY(neug_power_product(rows + (known - step) * each, some * shape->probes, block[b], rows + known * each,
                               wide, stream));
    }
    return cudaSuccess;
}

cudaError_t neug_power_make(const neug_common *common, const neug_shape *shape, int64_t number, bool half,
                            const neug_power_cut *cut, int64_t every, double *memory, neug_power_shape *out,
                            cudaStream_t stream)
{
    const int64_t n = shape->nodes, wide = neug_power_wide(n, shape->clamps), square = wide * wide;
    double *at = memory;
    *out = {};
    out->nodes = (int32_t)n;
    out->wide = (int32_t)wide;
    for (int l = 0; l < cut->levels; l++, at += square) {
        out->level[l] = at;
        if (l == 0) {
            TRY(neug_power_unit(common, shape, number, half, wide, at, stream));
        } else {
            TRY(neug_power_product(out->level[l - 1], wide, out->level[l - 1], at, wide, stream));
        }
    }
    if (cut->steps == 0) return cudaSuccess;
    double *sample = at, *room = at + square;
    const int64_t all = rows_within(cut, shape->probes) * wide;
    TRY(raise(out->level[0], every, sample, room, wide, stream));
    double *block[NEUG_POWER_BLOCKS];
    at = room + square;
    for (int b = 0; b < blocks_of(cut); b++, at += square + all)
        block[b] = at;
    TRY(make_blocks(cut, sample, block, room, wide, stream));
    TRY(add_samples(common, shape, number, cut, sample, block, wide, stream));
    for (int b = 0; b < blocks_of(cut); b++) {
        const int64_t within = ((cut->samples >> b) - 1) * shape->probes;
        out->block[b] = block[b];
        out->rows[b] = (int32_t)(n + within);
        if (b > 0)
            TRY(cudaMemcpyAsync(block[b] + n * wide, block[0] + n * wide, (size_t)(within * wide) * sizeof *at,
                                cudaMemcpyDeviceToDevice, stream));
    }
    return cudaSuccess;
}
