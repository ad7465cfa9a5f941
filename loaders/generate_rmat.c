/* SPDX-License-Identifier: Apache-2.0
 *
 * R-MAT (Chakrabarti, Zhan, Faloutsos: R-MAT: A recursive model for graph mining, SDM 2004): edge_factor * 2^scale
 * edges, each by `scale` throws that pick a quadrant of the matrix. Vertices are renamed by a permutation, copies of
 * an edge dropped, self loops kept. The engine calls it through its descriptor.
 */
#include "common_generate.h"

static const lacis_option_spec options[] = {
    {.name = "scale", .form = 'i', .required = true, .help = "2^scale vertices, 1 .. 31"},
    {.name = "edge_factor", .form = 'i', .otherwise = "16", .help = "edges a vertex, before copies are dropped"},
    {.name = "a", .form = 'r', .otherwise = "0.57", .help = "chance of the first quadrant"},
    {.name = "b", .form = 'r', .otherwise = "0.19", .help = "of the second"},
    {.name = "c", .form = 'r', .otherwise = "0.19", .help = "of the third; the fourth has the rest"},
    LACIS_OPTION_SEED,
    LACIS_OPTION_WEIGHTS,
};

/* Chances as 32-bit thresholds: a, a + b, a + b + c. */
typedef struct rmat {
    int scale;
    uint64_t first, second, third;
} rmat;

static lacis_status emit(const lacis_generate *g, int64_t unit, lacis_sink *sink)
{
    const rmat *r = g->context;
    uint64_t src = 0, dst = 0, random = 0, state = lacis_mix(g->seed ^ (uint64_t)unit);
    for (int level = 0; level < r->scale; level++) {
        random = (level & 1) == 0 ? lacis_mix(state + (uint64_t)level) : random >> 32; /* two throws a number */
        uint64_t throw = random & UINT32_MAX;
        uint64_t down = throw >= r->second, right = (throw >= r->first && !down) || throw >= r->third;
        src = 2 * src + down;
        dst = 2 * dst + right;
    }
    return lacis_generate_edge(g, sink, (int64_t)lacis_permute(src, r->scale, g->seed),
                               (int64_t)lacis_permute(dst, r->scale, g->seed));
}

static lacis_status chances(lacis_run *run, const lacis_options *given, rmat *r)
{
    double a = lacis_option(given, "a")->real, b = lacis_option(given, "b")->real, c = lacis_option(given, "c")->real;
    if (!(a >= 0 && b >= 0 && c >= 0 && a + b + c <= 1 + 1e-9))
        return lacis_run_fail(run, LACIS_RANGE,
                              "a = %g, b = %g, c = %g are no chances: none may be negative nor their sum exceed 1", a,
                              b, c);
    r->first = (uint64_t)(a * 0x1p32);
    r->second = (uint64_t)((a + b) * 0x1p32);
    r->third = (uint64_t)((a + b + c) * 0x1p32);
    return LACIS_OK;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    int64_t scale, factor;
    rmat r;
    LACIS_TRY(lacis_generate_integer(run, given, "scale", 1, 31, &scale));
    LACIS_TRY(lacis_generate_integer(run, given, "edge_factor", 0, (int64_t)1 << 30, &factor));
    LACIS_TRY(chances(run, given, &r));
    r.scale = (int)scale;
    lacis_generate g = {.vertices = (int64_t)1 << scale, .emit = emit, .context = &r, .block = 1 << 14};
    g.units = factor << scale;
    g.entries = (double)g.units;
    return lacis_generate_make(run, &g, "rmat", given, out);
}

const lacis_generator lacis_generator_rmat = {
    .name = "rmat",
    .summary = "R-MAT graph: 2^scale vertices, edge_factor edges each, a few with very many",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
