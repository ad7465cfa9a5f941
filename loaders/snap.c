/* SPDX-License-Identifier: Apache-2.0
 *
 * Edge lists: SNAP's text files, CSV with one edge a line, GAP's .el and .wel, and what else has two ids a line. The
 * engine calls it through its descriptor; csv.c loads graphs through it too.
 */
#include "snap.h"

#include "common_layout.h"
#include "common_options.h"
#include "common_save.h"

#include <strings.h>

static const lacis_option_spec options[] = {
    LACIS_OPTION_DIRECTED,
    {.name = "columns",
     .form = 's',
     .help = "what the fields of a line are: 'src,dst,value'; other names are left out"},
    {.name = "delimiter", .form = 's', .help = "between fields: one character, 'tab' or 'space'"},
    {.name = "header", .form = 'b', .help = "whether the first line names the columns; found out by default"},
    {.name = "base", .form = 'i', .help = "0 or 1: every id from there to the largest is a vertex"},
    LACIS_OPTION_DUPLICATES,
    LACIS_OPTION_TYPE,
};

static lacis_status read_delimiter(lacis_run *run, const lacis_options *given, lacis_layout *layout)
{
    const char *text = lacis_option_text(given, "delimiter");
    if (text == NULL) return LACIS_OK;
    layout->delimiter_given = true;
    if (strcasecmp(text, "space") == 0 || strcmp(text, " ") == 0) return LACIS_OK;
    if (strcasecmp(text, "tab") == 0 || strcmp(text, "\\t") == 0)
        layout->delimiter = '\t';
    else if (strlen(text) == 1 && text[0] != '\n' && text[0] != '\r' && text[0] != '-' && text[0] != '.' &&
             (text[0] < '0' || text[0] > '9'))
        layout->delimiter = text[0];
    else
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "delimiter"), NULL,
                                 "delimiter = '%s' is not one character, 'tab' or 'space'", text);
    return LACIS_OK;
}

static lacis_status read_options(lacis_run *run, const lacis_options *given, lacis_layout *layout,
                                 lacis_edges_spec *spec, int64_t *base)
{
    *layout = (lacis_layout){.columns = lacis_option_text(given, "columns"),
                             .columns_offset = lacis_option_offset(given, "columns")};
    layout->header = (int)lacis_option_integer(given, "header", -1);
    layout->keep_values = lacis_option_set(given, "type") != NULL;
    LACIS_TRY(read_delimiter(run, given, layout));
    *base = lacis_option_integer(given, "base", -1);
    if (lacis_option_set(given, "base") != NULL && *base != 0 && *base != 1)
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "base"), NULL,
                                 "base = %lld is neither 0 nor 1", (long long)*base);
    spec->first = *base >= 0 ? base : NULL;
    spec->mirror = lacis_option_mirror(given);
    spec->type = lacis_option_type(given);
    spec->duplicates = lacis_option_duplicates(given);
    return LACIS_OK;
}

/* What the comment header promises against what came. */
static void check_promises(lacis_run *run, const lacis_layout *layout, const lacis_edges *edges, int64_t nodes)
{
    int64_t promised = layout->header_edges, found = edges->entries;
    if (promised >= 0 && found < promised)
        lacis_run_note(run, LACIS_WARNING,
                       "the header promises %lld edges, only %lld came: the file may be cut off: compare its size "
                       "with what its source says",
                       (long long)promised, (long long)found);
    else if (promised >= 0 && found > promised)
        lacis_run_note(run, LACIS_NOTE, "the header says %lld edges, %lld came", (long long)promised,
                       (long long)found);
    if (layout->header_nodes >= 0 && nodes != layout->header_nodes)
        lacis_run_note(run, nodes < layout->header_nodes && found >= promised ? LACIS_NOTE : LACIS_WARNING,
                       "the header says %lld nodes, %lld occur in edges", (long long)layout->header_nodes,
                       (long long)nodes);
}

/* A third column of nothing but times is no value. */
static void check_time(lacis_run *run, const lacis_layout *layout, lacis_edges *edges)
{
    const lacis_seen *seen = &edges->seen;
    if (layout->time_column == 0 || (!seen->integer && !seen->real)) return;
    if (seen->integer && !lacis_time_like((double)seen->low, (double)seen->high)) return;
    if (seen->real && !lacis_time_like(seen->real_low, seen->real_high)) return;
    lacis_edges_drop_values(edges);
    lacis_run_note(run, LACIS_NOTE,
                   "column %d looks like a time and is left out (columns = 'src,dst,value' takes it as the value)",
                   layout->time_column);
}

static lacis_status build(lacis_run *run, const lacis_layout *layout, lacis_edges_spec *spec, lacis_lines *lines,
                          lacis_array **out)
{
    lacis_edges edges;
    lacis_edge_reader reader = lacis_lines_reader(lines);
    lacis_status status = lacis_edges_begin(run, &edges, spec, &reader);
    if (status == LACIS_OK) status = lacis_edges_count(&edges);
    if (status == LACIS_OK) {
        lines->value_checked = true;
        check_time(run, layout, &edges);
        if (edges.entries == 0)
            lacis_run_note(
                run, LACIS_WARNING,
                "%s has no edges: are they in comments, or under a header that WITH (columns = ...) should name?",
                spec->path);
        if (edges.seen.big && edges.spec.want != LACIS_WANT_NONE)
            lacis_run_note(run, LACIS_WARNING, "values beyond 64 bits: all are kept as f64");
        status = lacis_edges_fill(&edges, out);
    }
    if (status == LACIS_OK) check_promises(run, layout, &edges, edges.spec.rows);
    lacis_edges_end(&edges);
    return status;
}

static lacis_status load_text(lacis_run *run, const lacis_text *text, const lacis_options *given, lacis_array **out)
{
    lacis_layout layout;
    lacis_lines lines;
    int64_t base;
    lacis_edges_spec spec = {.path = text->path, .what = "edges"};
    LACIS_TRY(read_options(run, given, &layout, &spec, &base));
    int threads = lacis_run_threads(run);
    lacis_lines_plain(&lines, text, text->begin, threads);
    LACIS_TRY(lacis_layout_find(run, &layout, text, &lines));
    lacis_lines_cut(&lines, threads);
    if (base >= 0) lines.src_low = lines.dst_low = base;
    lines.range = base == 0 ? "base = 0" : "base = 1";
    if (lacis_path_ends(text->path, ".mtx .mm"))
        lacis_run_note(run, LACIS_WARNING,
                       "no MatrixMarket banner: read as an edge list (%%%%MatrixMarket ... in the first line makes "
                       "it a matrix)");
    spec.want = lines.value >= 0 ? LACIS_WANT_ANY : LACIS_WANT_NONE;
    /* Ids that stand in an array cost 4 bytes each, an edge at least 4 in the file: so the array is no more than the
     * graph, but for small files. */
    spec.direct = ((uint64_t)(text->end - text->begin) / 8 + ((uint64_t)1 << 20)) / 64 * 64;
    return build(run, &layout, &spec, &lines, out);
}

lacis_status lacis_snap_load(lacis_run *run, const lacis_source *source, const lacis_options *given,
                             lacis_array **out)
{
    lacis_text text;
    LACIS_TRY(lacis_text_open(run, source, &text));
    lacis_status status = load_text(run, &text, given, out);
    lacis_text_close(run, &text);
    return status;
}

/* Any text will do where no other loader knows better; two integers a line make it likely. */
static int sniff(const lacis_source *source)
{
    lacis_text text;
    lacis_sample sample;
    lacis_lines lines = {0};
    lacis_text_peek(source, &text);
    size_t look = source->size < 4096 ? source->size : 4096;
    if (look > 0 && memchr(source->data, 0, look) != NULL) return 0;
    lacis_sample_take(&sample, text.begin, text.end);
    if (sample.count == 0) return 10;
    int last = sample.count - 1;
    lines.delimiter = lacis_sample_delimiter(&sample);
    return lacis_count_fields(sample.from[last], sample.to[last], lines.delimiter) >= 2 ? 60 : 10;
}

static lacis_status save(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_csr csr;
    LACIS_TRY(lacis_save_graph(run, array, "snap", &csr));
    LACIS_TRY(lacis_save_real(run, &csr, "snap"));
    int64_t nodes;
    LACIS_TRY(lacis_save_nodes(run, &csr, &nodes));
    lacis_writer w;
    lacis_writer_begin(&w, run, file);
    lacis_writer_text(&w, "# Saved by lacis\n");
    if (nodes >= 0) {
        lacis_writer_text(&w, "# Nodes: ");
        lacis_writer_integer(&w, nodes);
        lacis_writer_text(&w, " Edges: ");
        lacis_writer_integer(&w, csr.entries);
        lacis_writer_text(&w, "\n");
    }
    LACIS_TRY(lacis_save_entries(&w, &csr, "\t"));
    return lacis_writer_end(&w);
}

static const lacis_holding holdings[] = {
    {.kind = LACIS_CSR, .types = LACIS_TYPE_BIT(LACIS_PATTERN) | LACIS_TYPES_WHOLE | LACIS_TYPES_REAL}};

const lacis_loader lacis_loader_snap = {
    .name = "snap",
    .summary = "edge lists: two ids a line and perhaps a value (SNAP, CSV, GAP .el .wel)",
    .extensions = ".txt .el .wel .edges .edgelist .tsv .snap",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = lacis_snap_load,
    .save = save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
};
