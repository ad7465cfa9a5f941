/* SPDX-License-Identifier: Apache-2.0
 *
 * Each of n vertices has `degree` different targets, all equally likely (itself among them). The targets of a vertex
 * are the first `degree` values of a permutation of 0 .. n-1 of its own; values of the next power of two that lie
 * beyond n are passed over. The engine calls it through its descriptor.
 */
#include "common_generate.h"

static const lacis_option_spec options[] = {
    {.name = "n", .form = 'i', .required = true, .help = "vertices"},
    {.name = "degree", .form = 'i', .otherwise = "8", .help = "different targets of each, at most n"},
    LACIS_OPTION_SEED,
    LACIS_OPTION_WEIGHTS,
};

typedef struct uniform {
    int64_t degree;
    int bits; /* n <= 2^bits */
} uniform;

static lacis_status emit(const lacis_generate *g, int64_t unit, lacis_sink *sink)
{
    const uniform *u = g->context;
    uint64_t key = lacis_mix(g->seed ^ lacis_mix((uint64_t)unit));
    for (int64_t k = 0; k < u->degree; k++) {
        uint64_t dst = (uint64_t)k;
        do { /* walks the cycle of k until it is back among the vertices: still a permutation of them */
            dst = lacis_permute(dst, u->bits, key);
        } while (dst >= (uint64_t)g->vertices);
        LACIS_TRY(lacis_generate_edge(g, sink, unit, (int64_t)dst));
    }
    return LACIS_OK;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    int64_t n;
    uniform u = {0};
    LACIS_TRY(lacis_generate_integer(run, given, "n", 0, UINT32_MAX, &n));
    LACIS_TRY(lacis_generate_integer(run, given, "degree", 0, n, &u.degree));
    while (((int64_t)1 << u.bits) < n) {
        u.bits++;
    }
    lacis_generate g = {.vertices = n, .units = n, .block = 1 << 12, .emit = emit, .context = &u};
    g.entries = (double)n * (double)u.degree;
    return lacis_generate_make(run, &g, "uniform", given, out);
}

const lacis_generator lacis_generator_uniform = {
    .name = "uniform",
    .summary = "n vertices with `degree` different random targets each",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
