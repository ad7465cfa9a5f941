/* SPDX-License-Identifier: Apache-2.0
 *
 * Ligra's and PBBS's AdjacencyGraph: the word, n, m, n offsets, m targets, and for WeightedAdjacencyGraph m weights,
 * all separated by blanks or line ends. Vertices count from 0. The engine calls it through its descriptor.
 */
#include "common_number.h"
#include "common_options.h"
#include "common_text.h"

static const lacis_option_spec options[] = {
    LACIS_OPTION_DIRECTED,
    LACIS_OPTION_DUPLICATES,
    LACIS_OPTION_TYPE,
};

typedef struct graph {
    const lacis_text *text;
    bool weighted;
    int64_t nodes, edges;
    const char *offsets, *targets, *weights; /* where each section begins */
} graph;

typedef enum fault_code { FAULT_NONE, FAULT_END, FAULT_NUMBER, FAULT_OFFSET, FAULT_TARGET, FAULT_REST } fault_code;

static lacis_status fail(lacis_fault *fault, fault_code code, const char *from, const char *to)
{
    *fault = (lacis_fault){.code = (int)code, .at = from, .end = to};
    return LACIS_FORMAT;
}

static bool next_word(const char **p, const char *end, const char **from, const char **to)
{
    const char *q = *p;
    while (q < end && (lacis_blank(*q) || *q == '\n')) {
        q++;
    }
    *from = q;
    while (q < end && !lacis_blank(*q) && *q != '\n') {
        q++;
    }
    *to = *p = q;
    return q > *from;
}

static lacis_status next_integer(const char **p, const char *end, lacis_fault *fault, int64_t *out)
{
    const char *from, *to;
    if (!next_word(p, end, &from, &to)) return fail(fault, FAULT_END, from, to);
    return lacis_number_integer(from, to, out) && *out >= 0 ? LACIS_OK : fail(fault, FAULT_NUMBER, from, to);
}

static lacis_status skip_words(const char **p, const char *end, int64_t count, lacis_fault *fault)
{
    const char *from, *to;
    for (int64_t i = 0; i < count; i++) {
        if (!next_word(p, end, &from, &to)) return fail(fault, FAULT_END, from, to);
    }
    return LACIS_OK;
}

static lacis_status report(void *context, lacis_run *run, const lacis_fault *f)
{
    const graph *g = context;
    char quote[LACIS_QUOTE];
    lacis_text_quote(f->at, f->end, quote);
    switch (f->code) {
    case FAULT_END:
        return lacis_text_fail(run, g->text, f->at,
                               "the file ends early; its head says n = %lld and m = %lld: fetch it again",
                               (long long)g->nodes, (long long)g->edges);
    case FAULT_NUMBER:
        return lacis_text_fail(run, g->text, f->at, "%s is not what should stand here, a number; mend it", quote);
    case FAULT_OFFSET:
        return lacis_text_fail(run, g->text, f->at,
                               "offset %s is less than the one before or more than m = %lld; mend it", quote,
                               (long long)g->edges);
    case FAULT_TARGET:
        return lacis_text_fail(run, g->text, f->at, "target %s is not below n = %lld; mend it", quote,
                               (long long)g->nodes);
    case FAULT_REST:
        return lacis_text_fail(run, g->text, f->at, "%s and what follows it are more than the head declares; mend it",
                               quote);
    default:
        return lacis_text_fail(run, g->text, f->at,
                               "an edge comes for the second time; duplicates = 'sum' joins them");
    }
}

/* The head, and where the sections begin. */
static lacis_status find_sections(graph *g, lacis_fault *fault)
{
    const char *p = g->text->begin, *end = g->text->end, *from, *to;
    if (!next_word(&p, end, &from, &to)) return fail(fault, FAULT_END, from, to);
    g->weighted = *from == 'W';
    LACIS_TRY(next_integer(&p, end, fault, &g->nodes));
    LACIS_TRY(next_integer(&p, end, fault, &g->edges));
    int64_t room = (end - p) / 2 + 1; /* numbers that the rest can hold */
    if (g->nodes > room || g->edges > room) return fail(fault, FAULT_END, end, end);
    g->offsets = p;
    LACIS_TRY(skip_words(&p, end, g->nodes, fault));
    g->targets = p;
    LACIS_TRY(skip_words(&p, end, g->edges, fault));
    g->weights = p;
    if (g->weighted) LACIS_TRY(skip_words(&p, end, g->edges, fault));
    return next_word(&p, end, &from, &to) ? fail(fault, FAULT_REST, from, to) : LACIS_OK;
}

static lacis_status read_weight(const graph *g, const char **p, lacis_sink *sink)
{
    const char *from, *to;
    int64_t integer = 0;
    double real;
    next_word(p, g->text->end, &from, &to);
    lacis_number_kind kind = lacis_number_parse(from, to, &integer, &real);
    if (kind == LACIS_NUMBER_BAD) return fail(&sink->fault, FAULT_NUMBER, from, to);
    if (kind == LACIS_NUMBER_INTEGER)
        lacis_seen_integer(&sink->seen, integer);
    else
        lacis_seen_real(&sink->seen, real);
    if (sink->want == LACIS_WANT_INTEGER)
        sink->value[sink->count].integer = integer;
    else
        sink->value[sink->count].real = real;
    return LACIS_OK;
}

/* Where row `row` ends: the offset of the next one, or m. */
static lacis_status row_end(const graph *g, int64_t row, const char **p, lacis_sink *sink, int64_t before,
                            int64_t *out)
{
    *out = g->edges;
    if (row + 1 >= g->nodes) return LACIS_OK;
    LACIS_TRY(next_integer(p, g->text->end, &sink->fault, out));
    return *out >= before && *out <= g->edges ? LACIS_OK : fail(&sink->fault, FAULT_OFFSET, *p - 1, *p);
}

static lacis_status read_all(void *context, int64_t chunk, lacis_sink *sink)
{
    const graph *g = context;
    const char *offset = g->offsets, *target = g->targets, *weight = g->weights, *end = g->text->end;
    int64_t at = 0, stop, dst;
    (void)chunk; /* the only one: sections cannot be found without reading what is before them */
    if (g->nodes > 0) LACIS_TRY(next_integer(&offset, end, &sink->fault, &at));
    if (at != 0) return fail(&sink->fault, FAULT_OFFSET, offset - 1, offset);
    for (int64_t row = 0; row < g->nodes; row++) {
        LACIS_TRY(row_end(g, row, &offset, sink, at, &stop));
        for (; at < stop; at++) {
            sink->line = target;
            LACIS_TRY(next_integer(&target, end, &sink->fault, &dst));
            if (dst >= g->nodes) return fail(&sink->fault, FAULT_TARGET, target - 1, target);
            if (g->weighted && sink->want != LACIS_WANT_NONE) LACIS_TRY(read_weight(g, &weight, sink));
            LACIS_TRY(lacis_sink_put(sink, row, dst));
        }
    }
    return LACIS_OK;
}

static lacis_status load_text(lacis_run *run, const lacis_text *text, const lacis_options *given, lacis_array **out)
{
    graph g = {.text = text};
    lacis_fault fault = {0};
    if (find_sections(&g, &fault) != LACIS_OK) return report(&g, run, &fault);
    lacis_edge_reader reader = {.context = &g, .chunks = 1, .read = read_all, .report = report, .phase = "loading"};
    lacis_edges_spec spec = {.declared = true,
                             .rows = g.nodes,
                             .cols = g.nodes,
                             .mirror = lacis_option_mirror(given),
                             .want = g.weighted ? LACIS_WANT_ANY : LACIS_WANT_NONE,
                             .type = lacis_option_type(given),
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

static int sniff(const lacis_source *source)
{
    lacis_text text;
    const char *from, *to;
    lacis_text_peek(source, &text);
    const char *p = text.begin;
    if (!next_word(&p, text.end, &from, &to)) return 0;
    size_t length = (size_t)(to - from);
    bool plain = length == 14 && memcmp(from, "AdjacencyGraph", 14) == 0;
    bool weighted = length == 22 && memcmp(from, "WeightedAdjacencyGraph", 22) == 0;
    return plain || weighted ? 100 : 0;
}

const lacis_loader lacis_loader_ligra = {
    .name = "ligra",
    .summary = "Ligra and PBBS AdjacencyGraph and WeightedAdjacencyGraph",
    .extensions = "",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
};
