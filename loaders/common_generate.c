/* SPDX-License-Identifier: Apache-2.0
 *
 * From functions of edges to graphs; see common_generate.h.
 */
#include "common_generate.h"

typedef enum weights { WEIGHTS_NONE, WEIGHTS_UNIT, WEIGHTS_INT, WEIGHTS_REAL } weights;

lacis_status lacis_generate_integer(lacis_run *run, const lacis_options *given, const char *name, int64_t low,
                                    int64_t high, int64_t *out)
{
    const lacis_option_value *value = lacis_option(given, name);
    *out = value->integer;
    if (*out >= low && *out <= high) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, value->given ? value->offset : -1, NULL,
                             "%s = %lld is not between %lld and %lld", name, (long long)*out, (long long)low,
                             (long long)high);
}

/* The weight hangs on the ends alone, so that copies of an edge agree and dropping them is no choice. */
lacis_status lacis_generate_edge(const lacis_generate *g, lacis_sink *sink, int64_t src, int64_t dst)
{
    lacis_edge_value *value = &sink->value[sink->count];
    if (sink->want != LACIS_WANT_NONE) {
        uint64_t random = lacis_mix(lacis_mix(g->seed ^ UINT64_C(0x5745494748545321)) ^ lacis_mix((uint64_t)src) * 3 ^
                                    (uint64_t)dst);
        int64_t integer = g->weights == WEIGHTS_INT ? 1 + (int64_t)((random >> 32) * 100 >> 32) : 1;
        if (sink->want == LACIS_WANT_ANY) lacis_seen_integer(&sink->seen, integer);
        if (sink->want == LACIS_WANT_INTEGER)
            value->integer = integer;
        else
            value->real = g->weights == WEIGHTS_REAL ? lacis_unit(random) : (double)integer;
    }
    return lacis_sink_put(sink, src, dst);
}

static lacis_status read_block(void *context, int64_t chunk, lacis_sink *sink)
{
    const lacis_generate *g = context;
    int64_t end = g->units - chunk * g->block < g->block ? g->units : (chunk + 1) * g->block;
    for (int64_t unit = chunk * g->block; unit < end; unit++) {
        LACIS_TRY(g->emit(g, unit, sink));
    }
    return LACIS_OK;
}

static lacis_status check_size(lacis_run *run, const lacis_generate *g, const char *name,
                               const lacis_edges_spec *spec)
{
    double value = spec->want == LACIS_WANT_NONE ? 0 : spec->want == LACIS_WANT_REAL ? 8 : 4;
    double need = 8.0 * ((double)g->vertices + 1) + g->entries * (4 + value);
    double left = (double)lacis_run_memory_left(run);
    if (g->vertices > UINT32_MAX)
        return lacis_run_fail(run, LACIS_RANGE, "%s with %lld vertices: lacis holds at most 2^32 - 1", name,
                              (long long)g->vertices);
    if (need <= left) return LACIS_OK;
    return lacis_run_fail(
        run, LACIS_LIMIT,
        "%s would need %.4g MB for %.4g edges, and memory_limit leaves %.4g MB; make it smaller or raise "
        "memory_limit",
        name, need / 1e6, g->entries, left / 1e6);
}

lacis_status lacis_generate_make(lacis_run *run, lacis_generate *g, const char *name, const lacis_options *given,
                                 lacis_array **out)
{
    static const lacis_want wants[] = {LACIS_WANT_NONE, LACIS_WANT_ANY, LACIS_WANT_ANY, LACIS_WANT_REAL};
    g->weights = (int)lacis_option_integer(given, "weights", WEIGHTS_NONE);
    g->seed = lacis_mix((uint64_t)lacis_option_integer(given, "seed", 1));
    lacis_edges_spec spec = {.declared = true,
                             .rows = g->vertices,
                             .cols = g->vertices,
                             .want = wants[g->weights],
                             .type = lacis_option_type(given),
                             .duplicates = LACIS_DUPLICATES_MIN,
                             .path = name};
    LACIS_TRY(check_size(run, g, name, &spec));
    lacis_edge_reader reader = {
        .context = g, .chunks = (g->units + g->block - 1) / g->block, .read = read_block, .phase = "generating"};
    lacis_edges edges;
    lacis_status status = lacis_edges_begin(run, &edges, &spec, &reader);
    if (status == LACIS_OK) status = lacis_edges_count(&edges);
    if (status == LACIS_OK) status = lacis_edges_fill(&edges, out);
    lacis_edges_end(&edges);
    return status;
}
