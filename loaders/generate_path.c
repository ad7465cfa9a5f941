/* SPDX-License-Identifier: Apache-2.0
 *
 * A path 0 -> 1 -> ... -> n-1; with directed = false each step also goes back. The engine calls it through its
 * descriptor.
 */
#include "common_generate.h"

static const lacis_option_spec options[] = {
    {.name = "n", .form = 'i', .required = true, .help = "vertices"},
    {.name = "directed", .form = 'b', .otherwise = "true", .help = "false: each step also goes back"},
    LACIS_OPTION_SEED,
    LACIS_OPTION_WEIGHTS,
};

static lacis_status emit(const lacis_generate *g, int64_t unit, lacis_sink *sink)
{
    bool back = *(const bool *)g->context;
    if (back && unit > 0) LACIS_TRY(lacis_generate_edge(g, sink, unit, unit - 1));
    return unit + 1 < g->vertices ? lacis_generate_edge(g, sink, unit, unit + 1) : LACIS_OK;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    int64_t n;
    bool back = lacis_option(given, "directed")->integer == 0;
    LACIS_TRY(lacis_generate_integer(run, given, "n", 0, UINT32_MAX, &n));
    lacis_generate g = {.vertices = n, .units = n, .block = 1 << 14, .emit = emit, .context = &back};
    g.entries = (back ? 2.0 : 1.0) * (double)n;
    return lacis_generate_make(run, &g, "path", given, out);
}

const lacis_generator lacis_generator_path = {
    .name = "path",
    .summary = "path of n vertices",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
