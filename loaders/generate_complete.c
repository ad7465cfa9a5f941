/* SPDX-License-Identifier: Apache-2.0
 *
 * The complete graph: every vertex to every other one, without self loops. The engine calls it through its
 * descriptor.
 */
#include "common_generate.h"

static const lacis_option_spec options[] = {
    {.name = "n", .form = 'i', .required = true, .help = "vertices"},
    LACIS_OPTION_SEED,
    LACIS_OPTION_WEIGHTS,
};

static lacis_status emit(const lacis_generate *g, int64_t unit, lacis_sink *sink)
{
    for (int64_t dst = 0; dst < g->vertices; dst++) {
        if (dst != unit) LACIS_TRY(lacis_generate_edge(g, sink, unit, dst));
    }
    return LACIS_OK;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    int64_t n;
    LACIS_TRY(lacis_generate_integer(run, given, "n", 0, UINT32_MAX, &n));
    lacis_generate g = {.vertices = n, .units = n, .block = 16, .emit = emit};
    g.entries = (double)n * ((double)n - 1);
    return lacis_generate_make(run, &g, "complete", given, out);
}

const lacis_generator lacis_generator_complete = {
    .name = "complete",
    .summary = "complete graph of n vertices, without self loops",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
