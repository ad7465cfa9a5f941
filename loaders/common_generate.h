/* SPDX-License-Identifier: Apache-2.0
 *
 * What the graph generators share: random numbers that are a function of seed and counter (so that threads do not
 * change them), weights, the memory check, and the way from a function of edges to a graph.
 */
#ifndef LACIS_LOADERS_GENERATE_H
#define LACIS_LOADERS_GENERATE_H

#include "common_options.h"

#define LACIS_OPTION_SEED                                                                                            \
    {                                                                                                                \
        .name = "seed", .form = 'i', .otherwise = "1", .help = "another seed, another graph"                         \
    }
#define LACIS_OPTION_WEIGHTS                                                                                         \
    {.name = "weights",                                                                                              \
     .form = 'w',                                                                                                    \
     .words = "none|unit|int|real",                                                                                  \
     .otherwise = "none",                                                                                            \
     .help = "values: none, all 1, integers 1 .. 100, or reals between 0 and 1"},                                    \
    {                                                                                                                \
        .name = "type", .form = 'w', .words = LACIS_TYPE_WORDS, .help = "of the values: i64 or f64 by default"       \
    }

/* One step of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014). */
static inline uint64_t lacis_mix(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Between 0 and 1, neither included. */
static inline double lacis_unit(uint64_t random)
{
    return ((double)(random >> 11) + 0.5) * 0x1p-53;
}

/* A permutation of 0 .. 2^bits - 1 that `key` picks: odd multiplications and shifts, each of which can be undone. */
static inline uint64_t lacis_permute(uint64_t x, int bits, uint64_t key)
{
    uint64_t mask = bits >= 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    int shift = bits / 2 + 1;
    for (int round = 0; round < 4; round++) {
        key = lacis_mix(key);
        x = (x * (key | 1) + (key >> 32)) & mask;
        x ^= x >> shift;
    }
    return x;
}

/* A graph as a function: units (edges, vertices) are dealt in blocks; emit puts the edges of one unit. */
typedef struct lacis_generate {
    int64_t vertices;
    int64_t units, block; /* units altogether, and how many a task takes */
    double entries;       /* at most, for the memory check */
    uint64_t seed;
    lacis_status (*emit)(const struct lacis_generate *g, int64_t unit, lacis_sink *sink);
    const void *context;
    int weights; /* as in the option */
} lacis_generate;

/* Puts an edge, with its weight where there are some. */
lacis_status lacis_generate_edge(const lacis_generate *g, lacis_sink *sink, int64_t src, int64_t dst);
/* Reads seed, weights and type; LACIS_LIMIT or LACIS_RANGE before anything is allocated where the graph is too large.
 */
lacis_status lacis_generate_make(lacis_run *run, lacis_generate *g, const char *name, const lacis_options *given,
                                 lacis_array **out);
/* An integer option that must lie in low .. high. */
lacis_status lacis_generate_integer(lacis_run *run, const lacis_options *given, const char *name, int64_t low,
                                    int64_t high, int64_t *out);

#endif
