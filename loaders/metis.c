/* SPDX-License-Identifier: Apache-2.0
 *
 * METIS graphs: a head "n m [fmt [ncon]]", then line i lists the neighbours of vertex i, each with a weight where fmt
 * says so, behind a size and ncon weights of the vertex (which are left out). Vertices are 1 .. n. The engine calls
 * it through its descriptor.
 */
#include "common_layout.h"
#include "common_options.h"
#include "common_tokens.h"

static const lacis_option_spec options[] = {
    LACIS_OPTION_DUPLICATES,
    LACIS_OPTION_TYPE,
};

typedef struct graph {
    const lacis_text *text;
    int64_t nodes, edges;    /* n and m of the head */
    bool weighted;           /* edges */
    int64_t skip;            /* numbers before the neighbours: size and weights of the vertex */
    bool sized;              /* one of them is a size */
    const char *body, *head; /* behind the head line; the head line */
    size_t chunk;
    int64_t *first;         /* of each chunk: vertex lines before it */
    int64_t lines, numbers; /* of the body: vertex lines (blank ones count), numbers in them */
} graph;

typedef enum fault_code { FAULT_NONE, FAULT_NUMBER, FAULT_TARGET, FAULT_WEIGHT, FAULT_SHORT, FAULT_LINES } fault_code;

static bool is_comment(const char *p, const char *end)
{
    p = lacis_skip_blanks(p, end);
    return p < end && *p == '%';
}

/* ---------------------------------------------------------------------------------------------- head */

/* fmt is three digits, of which leading ones may be left out: sizes, vertex weights, edge weights. */
static bool read_fmt(const char *from, const char *to, bool *sizes, bool *vertices, bool *edges)
{
    bool *const digit[] = {edges, vertices, sizes};
    if (to - from > 3) return false;
    for (int i = 0; to > from; i++) {
        char c = *--to;
        if (c != '0' && c != '1') return false;
        *digit[i] = c == '1';
    }
    return true;
}

/* Whether the line is a head; fills what it says. */
static bool read_head(const char *p, const char *end, graph *g)
{
    const char *from, *to;
    bool sizes = false, vertices = false, edges = false;
    int64_t weights = 1;
    if (!lacis_token(&p, end, &from, &to) || !lacis_number_integer(from, to, &g->nodes) || g->nodes < 0) return false;
    if (!lacis_token(&p, end, &from, &to) || !lacis_number_integer(from, to, &g->edges) || g->edges < 0) return false;
    if (lacis_token(&p, end, &from, &to)) {
        if (!read_fmt(from, to, &sizes, &vertices, &edges)) return false;
        if (lacis_token(&p, end, &from, &to) &&
            (!lacis_number_integer(from, to, &weights) || weights < 0 || weights > 1000))
            return false;
        if (lacis_token(&p, end, &from, &to)) return false;
    }
    g->weighted = edges;
    g->sized = sizes;
    g->skip = (sizes ? 1 : 0) + (vertices ? weights : 0);
    return true;
}

static bool find_head(const lacis_text *text, graph *g)
{
    *g = (graph){.text = text};
    const char *p = text->begin;
    while (p < text->end && lacis_line_empty(p, lacis_line_end(p, text->end))) {
        p = lacis_line_next(p, text->end);
    }
    g->head = p;
    g->body = lacis_line_next(p, text->end);
    return p < text->end && read_head(p, lacis_line_end(p, text->end), g);
}

/* ---------------------------------------------------------------------------------------------- body */

/* Counts the vertex lines (blank ones at the very end do not count beyond n) and numbers of a stretch of lines. */
static int64_t count_lines(const char *p, const char *end, int64_t *numbers)
{
    int64_t lines = 0;
    for (const char *stop; p < end; p = stop + 1) {
        stop = lacis_line_end(p, end);
        if (is_comment(p, stop)) continue;
        lines++;
        bool inside = false;
        for (const char *q = p; q < stop; q++) {
            bool blank = lacis_blank(*q);
            *numbers += !blank && !inside;
            inside = !blank;
        }
    }
    return lines;
}

static const char *trimmed_end(const graph *g)
{
    const char *end = g->text->end;
    while (end > g->body && (lacis_blank(end[-1]) || end[-1] == '\n')) {
        end--;
    }
    return end;
}

static lacis_status count_body(lacis_run *run, graph *g, int64_t chunks)
{
    LACIS_TRY(lacis_run_alloc(run, sizeof(int64_t) * (uint64_t)(chunks + 1), &g->first));
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        const char *from, *to;
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        lacis_chunk_bounds(g->body, g->text->end, g->chunk, chunk, &from, &to);
        g->first[chunk] = g->lines;
        g->lines += count_lines(from, to, &g->numbers);
    }
    return LACIS_OK;
}

static lacis_status fault(lacis_sink *sink, fault_code code, const char *from, const char *to)
{
    sink->fault = (lacis_fault){.code = (int)code, .at = from, .end = to};
    return LACIS_FORMAT;
}

static lacis_status read_weight(const char **p, const char *end, lacis_sink *sink)
{
    const char *from, *to;
    int64_t integer = 0;
    double real;
    if (!lacis_token(p, end, &from, &to)) return fault(sink, FAULT_WEIGHT, from, to);
    lacis_number_kind kind = lacis_number_parse(from, to, &integer, &real);
    if (kind == LACIS_NUMBER_BAD) return fault(sink, FAULT_NUMBER, from, to);
    if (sink->want == LACIS_WANT_ANY && kind == LACIS_NUMBER_INTEGER)
        lacis_seen_integer(&sink->seen, integer);
    else if (sink->want == LACIS_WANT_ANY)
        lacis_seen_real(&sink->seen, real);
    if (sink->want == LACIS_WANT_INTEGER)
        sink->value[sink->count].integer = integer;
    else
        sink->value[sink->count].real = real;
    return LACIS_OK;
}

static lacis_status read_line(const graph *g, int64_t vertex, const char *p, const char *end, lacis_sink *sink)
{
    const char *from, *to;
    int64_t id;
    sink->line = p;
    for (int64_t i = 0; i < g->skip; i++) {
        if (!lacis_token(&p, end, &from, &to)) return fault(sink, FAULT_SHORT, from, to);
        if (!lacis_number_integer(from, to, &id)) return fault(sink, FAULT_NUMBER, from, to);
    }
    while (lacis_token(&p, end, &from, &to)) {
        if (!lacis_number_integer(from, to, &id)) return fault(sink, FAULT_NUMBER, from, to);
        if (id < 1 || id > g->nodes) return fault(sink, FAULT_TARGET, from, to);
        if (g->weighted) LACIS_TRY(read_weight(&p, end, sink));
        LACIS_TRY(lacis_sink_put(sink, vertex, id));
    }
    return LACIS_OK;
}

static lacis_status read_chunk(void *context, int64_t chunk, lacis_sink *sink)
{
    const graph *g = context;
    const char *p, *end, *stop;
    int64_t vertex = g->first[chunk];
    lacis_chunk_bounds(g->body, g->text->end, g->chunk, chunk, &p, &end);
    for (; p < end; p = stop + 1) {
        stop = lacis_line_end(p, end);
        if (is_comment(p, stop)) continue;
        bool blank = lacis_skip_blanks(p, stop) == stop;
        if (++vertex > g->nodes && blank) continue;
        if (vertex > g->nodes) return fault(sink, FAULT_LINES, p, stop);
        if (!blank || g->skip > 0) LACIS_TRY(read_line(g, vertex, p, stop, sink));
    }
    return LACIS_OK;
}

static lacis_status report(void *context, lacis_run *run, const lacis_fault *f)
{
    const graph *g = context;
    char quote[LACIS_QUOTE];
    lacis_text_quote(f->at, f->end, quote);
    switch (f->code) {
    case FAULT_NUMBER:
        return lacis_text_fail(run, g->text, f->at, "%s is not a number; mend the line", quote);
    case FAULT_TARGET:
        return lacis_text_fail(run, g->text, f->at,
                               "neighbour %s lies outside 1 .. %lld, the vertices that the head declares; "
                               "mend the line or fmt in the head",
                               quote, (long long)g->nodes);
    case FAULT_WEIGHT:
        return lacis_text_fail(run, g->text, f->at,
                               "the last neighbour has no weight, but fmt in the head says that edges "
                               "have; mend one of them");
    case FAULT_SHORT:
        return lacis_text_fail(run, g->text, f->at,
                               "%lld number(s) of the vertex should come first on each line, as fmt in "
                               "the head says; mend one of them",
                               (long long)g->skip);
    case FAULT_LINES:
        return lacis_text_fail(run, g->text, f->at,
                               "a line for vertex %lld, but the head declares %lld; mend one of them",
                               (long long)g->nodes + 1, (long long)g->nodes);
    default:
        return lacis_text_fail(run, g->text, f->at, "the line gives an edge twice; duplicates = 'sum' joins them");
    }
}

/* ------------------------------------------------------------------------------------------- loading */

/* fmt promises sizes of vertices, but the numbers add up without them alone. */
static void check_sizes(lacis_run *run, graph *g)
{
    int64_t each = g->weighted ? 2 : 1, entries = g->numbers / each;
    if (!g->sized || g->numbers == 2 * each * g->edges + g->nodes * g->skip) return;
    int64_t without = g->nodes * (g->skip - 1);
    if (g->numbers != 2 * each * g->edges + without && g->numbers != each * g->edges + without) return;
    g->skip--;
    lacis_run_note(
        run, LACIS_WARNING,
        "fmt in the head says that vertices have sizes, but %lld numbers are too few for that: read without",
        (long long)entries);
}

static void check_edges(lacis_run *run, const graph *g, int64_t entries)
{
    if (entries == 2 * g->edges) return;
    if (entries == g->edges)
        lacis_run_note(
            run, LACIS_WARNING,
            "m = %lld in the head counts each direction by itself (METIS counts an edge once): kept as it is",
            (long long)g->edges);
    else
        lacis_run_note(run, LACIS_WARNING,
                       "the head promises %lld edges, so %lld neighbours; %lld came: the file may be %s",
                       (long long)g->edges, 2 * (long long)g->edges, (long long)entries,
                       entries < 2 * g->edges ? "cut off" : "wrong");
}

/* Lines may be missing only where all of m came before: isolated vertices at the end. */
static lacis_status check_lines(lacis_run *run, const graph *g, int64_t entries)
{
    if (g->lines >= g->nodes) return LACIS_OK;
    const char *end = trimmed_end(g);
    if (entries != 2 * g->edges)
        return lacis_text_fail(run, g->text, end, "the file ends after %lld of its %lld vertices; fetch it again",
                               (long long)g->lines, (long long)g->nodes);
    lacis_run_note(run, LACIS_WARNING, "no lines for the last %lld of %lld vertices: they have no edges",
                   (long long)(g->nodes - g->lines), (long long)g->nodes);
    return LACIS_OK;
}

static lacis_status build(lacis_run *run, graph *g, const lacis_options *given, int64_t chunks, lacis_array **out)
{
    lacis_edge_reader reader = {
        .context = g, .chunks = chunks, .read = read_chunk, .report = report, .phase = "loading"};
    lacis_edges_spec spec = {.declared = true,
                             .rows = g->nodes,
                             .cols = g->nodes,
                             .base = 1,
                             .want = g->weighted ? LACIS_WANT_ANY : LACIS_WANT_NONE,
                             .type = lacis_option_type(given),
                             .duplicates = lacis_option_duplicates(given),
                             .what = "edges",
                             .path = g->text->path};
    lacis_edges edges;
    lacis_status status = lacis_edges_begin(run, &edges, &spec, &reader);
    if (status == LACIS_OK) status = lacis_edges_count(&edges);
    if (status == LACIS_OK) status = check_lines(run, g, edges.entries);
    if (status == LACIS_OK) {
        check_edges(run, g, edges.entries);
        status = lacis_edges_fill(&edges, out);
    }
    lacis_edges_end(&edges);
    return status;
}

static lacis_status load_text(lacis_run *run, const lacis_text *text, const lacis_options *given, lacis_array **out)
{
    graph g;
    if (!find_head(text, &g))
        return lacis_text_fail(run, text, g.head, "no METIS head; the first line must be 'n m [fmt [ncon]]'");
    if (g.nodes > UINT32_MAX || g.edges > INT64_MAX / 8)
        return lacis_text_fail(run, text, g.head, "%lld vertices and %lld edges are more than lacis can hold",
                               (long long)g.nodes, (long long)g.edges);
    g.chunk = lacis_chunk_size((size_t)(text->end - g.body), lacis_run_threads(run));
    int64_t chunks = lacis_chunk_count(g.body, text->end, g.chunk);
    lacis_status status = count_body(run, &g, chunks);
    if (status == LACIS_OK) {
        check_sizes(run, &g);
        if (g.skip > 0)
            lacis_run_note(run, LACIS_NOTE, "%lld number(s) of each vertex (size, weights) are left out",
                           (long long)g.skip);
        status = build(run, &g, given, chunks, out);
    }
    lacis_run_free(run, g.first);
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

/* Whether the first lines hold different numbers of fields. */
static bool is_varied(const graph *g)
{
    lacis_sample sample;
    lacis_sample_take(&sample, g->body, g->text->end);
    for (int i = 1; i < sample.count; i++) {
        if (lacis_count_fields(sample.from[i], sample.to[i], 0) !=
            lacis_count_fields(sample.from[0], sample.to[0], 0))
            return true;
    }
    return false;
}

/* With its usual ending, a head and about n lines are enough. Without, the numbers must add up exactly and lines be
 * of different lengths: most such files are edge lists. */
static int sniff(const lacis_source *source)
{
    lacis_text text;
    graph g;
    lacis_text_peek(source, &text);
    if (source->size == 0 || !find_head(&text, &g) || g.nodes > (int64_t)source->size) return 0;
    bool named = lacis_path_ends(source->path, ".graph .metis .mgraph .chaco");
    if (!named && (!is_varied(&g) || g.edges > INT64_MAX / 8)) return 0;
    int64_t numbers = 0, lines = count_lines(g.body, text.end, &numbers);
    if (named) return lines >= g.nodes / 2 ? 90 : 40;
    int64_t each = g.weighted ? 2 : 1;
    return lines == g.nodes && numbers == 2 * each * g.edges + g.nodes * g.skip ? 75 : 0;
}

const lacis_loader lacis_loader_metis = {
    .name = "metis",
    .summary = "METIS graphs: a head n m [fmt [ncon]] and a line of neighbours a vertex",
    .extensions = ".graph .metis .mgraph .chaco",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
};
