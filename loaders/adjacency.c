/* SPDX-License-Identifier: Apache-2.0
 *
 * Adjacency lists: each line is a vertex and all its targets. The engine calls it through its descriptor.
 */
#include "common_layout.h"
#include "common_options.h"
#include "common_tokens.h"

static const lacis_option_spec options[] = {
    LACIS_OPTION_DIRECTED,
    LACIS_OPTION_DUPLICATES,
};

typedef struct lists {
    const lacis_text *text;
    size_t chunk;
} lists;

/* A ':' behind the vertex is allowed. */
static lacis_status read_line(const char *p, const char *end, lacis_sink *sink)
{
    const char *from, *to;
    int64_t src = 0, id;
    for (int field = 0; lacis_token(&p, end, &from, &to); field++) {
        const char *stop = field == 0 && to > from + 1 && to[-1] == ':' ? to - 1 : to;
        if (!lacis_number_integer(from, stop, &id)) {
            sink->fault = (lacis_fault){.code = 1, .at = from, .end = to};
            return LACIS_FORMAT;
        }
        if (field == 0)
            LACIS_TRY(lacis_sink_vertex(sink, src = id));
        else
            LACIS_TRY(lacis_sink_put(sink, src, id));
    }
    return LACIS_OK;
}

static lacis_status read_chunk(void *context, int64_t chunk, lacis_sink *sink)
{
    const lists *l = context;
    const char *p, *end;
    lacis_chunk_bounds(l->text->begin, l->text->end, l->chunk, chunk, &p, &end);
    for (; p < end; p = lacis_line_next(p, end)) {
        const char *stop = lacis_line_end(p, end);
        sink->line = p;
        if (!lacis_line_empty(p, stop)) LACIS_TRY(read_line(p, stop, sink));
    }
    return LACIS_OK;
}

static lacis_status report(void *context, lacis_run *run, const lacis_fault *f)
{
    const lists *l = context;
    char quote[LACIS_QUOTE];
    if (f->code == 1)
        return lacis_text_fail(run, l->text, f->at,
                               "%s is not an integer id; a line of an adjacency list is a vertex and its targets (AS "
                               "snap reads an edge list)",
                               lacis_text_quote(f->at, f->end, quote));
    return lacis_text_fail(run, l->text, f->at,
                           "the line gives an edge for the second time; duplicates = 'sum' keeps one");
}

static lacis_status load_text(lacis_run *run, const lacis_text *text, const lacis_options *given, lacis_array **out)
{
    size_t size = (size_t)(text->end - text->begin);
    lists l = {.text = text, .chunk = lacis_chunk_size(size, lacis_run_threads(run))};
    lacis_edge_reader reader = {.context = &l,
                                .chunks = lacis_chunk_count(text->begin, text->end, l.chunk),
                                .read = read_chunk,
                                .report = report,
                                .phase = "loading"};
    lacis_edges_spec spec = {.direct = ((uint64_t)size / 8 + ((uint64_t)1 << 20)) / 64 * 64,
                             .mirror = lacis_option_mirror(given),
                             .type = LACIS_TYPE_FOUND,
                             .duplicates = lacis_option_duplicates(given),
                             .what = "edges",
                             .path = text->path};
    lacis_edges edges;
    lacis_status status = lacis_edges_begin(run, &edges, &spec, &reader);
    if (status == LACIS_OK) status = lacis_edges_count(&edges);
    if (status == LACIS_OK) status = lacis_edges_fill(&edges, out);
    lacis_edges_end(&edges);
    return status;
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    lacis_text text;
    LACIS_TRY(lacis_text_open(run, source, &text));
    lacis_status status = load_text(run, &text, given, out);
    lacis_text_close(run, &text);
    return status;
}

/* Integers only, and lines of different lengths, some of them longer than any edge with value and time. The first
 * line and the last tell nothing: other formats have counts and closing marks there. */
static int sniff(const lacis_source *source)
{
    lacis_text text;
    lacis_sample sample;
    int least = LACIS_FIELDS, most = 0;
    lacis_text_peek(source, &text);
    lacis_sample_take(&sample, text.begin, text.end);
    for (int i = 0; i < sample.count; i++) {
        const char *p = sample.from[i], *from, *to;
        int64_t id;
        int fields = 0;
        while (lacis_token(&p, sample.to[i], &from, &to)) {
            const char *stop = fields == 0 && to > from + 1 && to[-1] == ':' ? to - 1 : to;
            if (!lacis_number_integer(from, stop, &id)) return 0;
            fields++;
        }
        if (i == 0 || i + 1 == sample.count) continue;
        least = fields < least ? fields : least;
        most = fields > most ? fields : most;
    }
    return most > 4 && least < most ? 70 : 0;
}

const lacis_loader lacis_loader_adjacency = {
    .name = "adjacency",
    .summary = "adjacency lists: a vertex and all its targets a line",
    .extensions = ".adj .adjlist",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
};
