/* SPDX-License-Identifier: Apache-2.0
 *
 * Comma-separated numbers under a header row: graphs (src,dst,value), vectors (i,value), batches of
 * systems (lane,row,fields), bodies (m,x,y,z ...) and grids (x,y,z,fields), which found by content are bodies.c's and
 * grid.c's, and tables. Graphs are loaded
 * as the edge lists that they are. The engine calls it through its descriptor.
 */
#include "common_columns.h"
#include "common_columns_out.h"
#include "common_options.h"
#include "common_records.h"
#include "snap.h"

#include <string.h>
#include <strings.h>

static const lacis_option_spec options[] = {
    LACIS_OPTION_DIRECTED,
    {.name = "columns", .form = 's', .help = "of a graph: 'src,dst,value'; other names are left out"},
    {.name = "delimiter", .form = 's', .help = "of a graph, between fields: one character, 'tab' or 'space'"},
    {.name = "header", .form = 'b', .help = "of a graph: whether the first line names the columns"},
    {.name = "base", .form = 'i', .help = "of a graph, 0 or 1: every id from there to the largest is a vertex"},
    LACIS_OPTION_DUPLICATES,
    LACIS_OPTION_TYPE,
};

/* ------------------------------------------------------------------------------------------ loading */

/* The first line that is not empty; comments do not count as such. */
static const char *first_line(const lacis_text *text)
{
    const char *p = text->begin;
    while (p < text->end && lacis_line_empty(p, lacis_line_end(p, text->end))) {
        p = lacis_line_next(p, text->end);
    }
    return p;
}

/* Of two quotation marks that stand for one within a quoted name one goes. */
static void unquote(char *name)
{
    char *to = name;
    for (const char *p = name; *p != '\0'; *to++ = *p++) {
        if (p[0] == '"' && p[1] == '"') p++;
    }
    *to = '\0';
}

static lacis_status read_head(lacis_records *records, const char *p, const char *end)
{
    const char *from, *to, *next = p;
    while (lacis_field(next, end, ',', &from, &to, &next)) {
        LACIS_TRY(lacis_records_column(records, from, to));
        if (from > p && from[-1] == '"') unquote(records->column[records->columns - 1].name);
    }
    return LACIS_OK;
}

static lacis_status read_row(lacis_records *records, const char *p, const char *end)
{
    const char *from = p, *to = p, *next = p;
    int column = 0;
    LACIS_TRY(lacis_records_room(records));
    for (; lacis_field(next, end, ',', &from, &to, &next); column++) {
        if (column == records->columns) break;
        LACIS_TRY(lacis_records_set(records, column, from, to));
    }
    if (column < records->columns || next != NULL)
        return lacis_text_fail(records->run, records->text, from,
                               "the header row names %d columns, this row has %s; mend it", records->columns,
                               column < records->columns ? "fewer" : "more");
    records->count++;
    return LACIS_OK;
}

static lacis_status read_rows(lacis_records *records, const lacis_text *text)
{
    const char *p = first_line(text);
    LACIS_TRY(read_head(records, p, lacis_line_end(p, text->end)));
    for (p = lacis_line_next(p, text->end); p < text->end; p = lacis_line_next(p, text->end)) {
        const char *end = lacis_line_end(p, text->end);
        if (lacis_skip_blanks(p, end) < end) LACIS_TRY(read_row(records, p, end));
    }
    return LACIS_OK;
}

static lacis_status load_records(lacis_run *run, const lacis_text *text, const lacis_options *given,
                                 lacis_array **out)
{
    lacis_records *records;
    LACIS_TRY(lacis_run_alloc(run, sizeof *records, &records));
    lacis_records_begin(records, run, text);
    lacis_status status = read_rows(records, text);
    if (status == LACIS_OK) status = lacis_records_make(records, given, out);
    lacis_records_end(records);
    lacis_run_free(run, records);
    return status;
}

/* "lane,row," */
static bool is_batch(const char *p, const char *end)
{
    static const char head[] = "lane,row,";
    size_t length = sizeof head - 1;
    return (size_t)(end - p) > length && strncasecmp(p, head, length) == 0;
}

/* A header row of names none of which is src or dst. */
static bool is_no_graph(const lacis_text *text)
{
    const char *p = first_line(text), *end = lacis_line_end(p, text->end);
    lacis_columns_found found;
    if (p >= text->end || lacis_skip_blanks(p, end) == end) return false;
    if ((*p >= '0' && *p <= '9') || *p == '-') return false;
    if (end - p >= 2 && *p == 'i' && p[1] == ',') return true; /* i is a name for src in other files */
    if (is_batch(p, end)) return true;                         /* as row and names of fields are */
    lacis_columns_named(p, end, ',', &found);
    return found.src < 0 || found.dst < 0;
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    lacis_text text;
    LACIS_TRY(lacis_text_open(run, source, &text));
    bool graph = !is_no_graph(&text) || lacis_option_text(given, "columns") != NULL;
    lacis_status status = graph ? LACIS_OK : load_records(run, &text, given, out);
    lacis_text_close(run, &text);
    return graph ? lacis_snap_load(run, source, given, out) : status;
}

/* Only what is surely a vector or a batch: other tables may be edge lists with strange names. */
static int sniff(const lacis_source *source)
{
    lacis_text text;
    lacis_text_peek(source, &text);
    const char *p = first_line(&text), *end = lacis_line_end(p, text.end);
    while (end > p && lacis_blank(end[-1])) {
        end--;
    }
    if (is_batch(p, end)) return 80;
    return end - p == 7 && memcmp(p, "i,value", 7) == 0 ? 80 : 0;
}

/* ------------------------------------------------------------------------------------------- saving */

/* A name that a reader would take apart, for another one or for a comment, in quotation marks (RFC 4180). */
static void put_name(lacis_writer *w, const char *name)
{
    size_t length = strlen(name);
    bool blank = length == 0 || lacis_blank(name[0]) || lacis_blank(name[length - 1]);
    bool edges = (name[0] >= '0' && name[0] <= '9') || name[0] == '-'; /* as a line without a header begins */
    if (!blank && !edges && strpbrk(name, ",;\"#%/") == NULL) {
        lacis_writer_text(w, name);
        return;
    }
    lacis_writer_text(w, "\"");
    for (const char *p = name; *p != '\0'; p++)
        lacis_writer_text(w, *p == '"' ? "\"\"" : (char[]){*p, '\0'});
    lacis_writer_text(w, "\"");
}

static void head(lacis_writer *w, const char *const *names, int columns)
{
    for (int i = 0; i < columns; i++) {
        if (i > 0) lacis_writer_text(w, ",");
        put_name(w, names[i]);
    }
    lacis_writer_text(w, "\n");
}

static void begin(lacis_writer *w)
{
    (void)w;
}

static void before(lacis_writer *w, int column, const char *name)
{
    (void)name;
    if (column > 0) lacis_writer_text(w, ",");
}

static void end_row(lacis_writer *w)
{
    lacis_writer_text(w, "\n");
}

static lacis_status save(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++)
        if (strpbrk(part.name, "\r\n") != NULL)
            return lacis_run_fail(run, LACIS_UNSUPPORTED,
                                  "the name of column %d has a line break, which csv does not read; rename it: "
                                  "LET part = SELECT ... AS name",
                                  i + 1);
    static const lacis_row_format format = {head, begin, before, lacis_writer_value, end_row};
    return lacis_save_rows(run, array, file, &format);
}

static const char *name_fault(const char *name)
{
    return strpbrk(name, "\r\n") != NULL ? "has a line break" : NULL;
}

static const lacis_holding holdings[] = {{.kind = LACIS_CSR},
                                         {.kind = LACIS_VECTOR},
                                         {.kind = LACIS_TABLE},
                                         {.kind = LACIS_INTERLEAVED},
                                         {.kind = LACIS_SYMMETRIC},
                                         {.kind = LACIS_BODIES},
                                         {.kind = LACIS_GRID, .fault = name_fault}};

const lacis_loader lacis_loader_csv = {
    .name = "csv",
    .summary =
        "comma-separated numbers under a header row: graphs, vectors, batches, bodies, tables; saves grids as well",
    .extensions = ".csv",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
    .save = save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
    .pieces = true,
};
