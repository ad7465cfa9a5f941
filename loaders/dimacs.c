/* SPDX-License-Identifier: Apache-2.0
 *
 * DIMACS graphs: "p sp n m" and "a u v weight" (shortest paths, .gr), "p edge n m" or "p col n m" and "e u v"
 * (undirected). Vertices are 1 .. n as declared. The engine calls it through its descriptor.
 */
#include "common_lines.h"
#include "common_number.h"
#include "common_options.h"

static const lacis_option_spec options[] = {
    LACIS_OPTION_DIRECTED,
    LACIS_OPTION_DUPLICATES,
    LACIS_OPTION_TYPE,
};

typedef struct problem {
    const char *line; /* the "p" line; NULL: none */
    bool arcs;        /* 'a' lines; otherwise 'e' */
    int64_t nodes, edges;
} problem;

/* The first line that is no comment. */
static const char *problem_line(const char *p, const char *end)
{
    for (; p < end; p = lacis_line_next(p, end)) {
        const char *q = lacis_skip_blanks(p, lacis_line_end(p, end));
        if (q < end && *q != 'c' && *q != '\n') return q;
    }
    return NULL;
}

static bool kind_is(const char *from, const char *to, const char *word)
{
    return (size_t)(to - from) == strlen(word) && memcmp(from, word, (size_t)(to - from)) == 0;
}

static lacis_status read_problem(lacis_run *run, const lacis_text *text, problem *p)
{
    p->line = problem_line(text->begin, text->end);
    const char *at = p->line != NULL ? p->line : text->end, *end = lacis_line_end(at, text->end);
    const char *from = at, *to = at, *next = at;
    char quote[LACIS_QUOTE];
    if (!lacis_field(next, end, 0, &from, &to, &next) || !kind_is(from, to, "p"))
        return lacis_text_fail(run, text, at, "no problem line; 'p sp NODES ARCS' must stand before the arcs");
    if (!lacis_field(next, end, 0, &from, &to, &next) ||
        !(kind_is(from, to, "sp") || kind_is(from, to, "edge") || kind_is(from, to, "col")))
        return lacis_text_fail(run, text, from, "problem %s is not sp, edge or col; lacis reads these",
                               lacis_text_quote(from, to, quote));
    p->arcs = kind_is(from, to, "sp");
    int64_t *const sizes[] = {&p->nodes, &p->edges};
    for (int i = 0; i < 2; i++) {
        if (!lacis_field(next, end, 0, &from, &to, &next))
            return lacis_text_fail(run, text, to, "the problem line lacks a number; it is 'p sp NODES ARCS'");
        if (!lacis_number_integer(from, to, sizes[i]) || *sizes[i] < 0)
            return lacis_text_fail(run, text, from, "%s is not a count; mend the problem line",
                                   lacis_text_quote(from, to, quote));
    }
    return LACIS_OK;
}

static void check_count(lacis_run *run, const problem *p, const lacis_edges *edges)
{
    if (edges->entries < p->edges)
        lacis_run_note(run, LACIS_WARNING,
                       "the problem line promises %lld arcs, only %lld came: the file may be cut off: compare its "
                       "size with what its source says",
                       (long long)p->edges, (long long)edges->entries);
    else if (edges->entries > p->edges)
        lacis_run_note(run, LACIS_WARNING, "the problem line says %lld arcs, %lld came", (long long)p->edges,
                       (long long)edges->entries);
}

static lacis_status build(lacis_run *run, const problem *p, const lacis_edges_spec *spec, lacis_lines *lines,
                          lacis_array **out)
{
    lacis_edges edges;
    lacis_edge_reader reader = lacis_lines_reader(lines);
    lacis_status status = lacis_edges_begin(run, &edges, spec, &reader);
    if (status == LACIS_OK) status = lacis_edges_count(&edges);
    if (status == LACIS_OK) {
        check_count(run, p, &edges);
        status = lacis_edges_fill(&edges, out);
    }
    lacis_edges_end(&edges);
    return status;
}

static lacis_status load_text(lacis_run *run, const lacis_text *text, const lacis_options *given, lacis_array **out)
{
    problem p;
    lacis_lines lines;
    LACIS_TRY(read_problem(run, text, &p));
    if (p.nodes > UINT32_MAX)
        return lacis_text_fail(run, text, p.line, "%lld nodes, more than the 2^32 - 1 that lacis can hold",
                               (long long)p.nodes);
    lacis_lines_plain(&lines, text, lacis_line_next(p.line, text->end), lacis_run_threads(run));
    lines.letter = p.arcs ? 'a' : 'e';
    lines.value = p.arcs ? 2 : -1;
    lines.fields = p.arcs ? 3 : 2;
    lines.src_low = lines.dst_low = 1;
    lines.src_high = lines.dst_high = p.nodes;
    lines.range = "the problem line";
    lacis_edges_spec spec = {.declared = true,
                             .rows = p.nodes,
                             .cols = p.nodes,
                             .base = 1,
                             .mirror = p.arcs ? lacis_option_mirror(given) : LACIS_MIRROR_SAME,
                             .want = p.arcs ? LACIS_WANT_ANY : LACIS_WANT_NONE,
                             .type = lacis_option_type(given),
                             .duplicates = lacis_option_duplicates(given),
                             .what = "edges",
                             .path = text->path};
    return build(run, &p, &spec, &lines, out);
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
    lacis_text_peek(source, &text);
    const char *p = problem_line(text.begin, text.end);
    if (p == NULL || *p != 'p' || p + 1 >= text.end || !lacis_blank(p[1])) return 0;
    return 95;
}

const lacis_loader lacis_loader_dimacs = {
    .name = "dimacs",
    .summary = "DIMACS graphs: p sp and a lines (.gr), p edge and e lines",
    .extensions = ".gr .dimacs .col",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
};
