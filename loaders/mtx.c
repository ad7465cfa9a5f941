/* SPDX-License-Identifier: Apache-2.0
 *
 * MatrixMarket files, coordinate and array: graphs, and dense symmetric matrices (common_mtx_dense.c). The format is
 * exact: what contradicts the size line is refused, with the line. Vertices are 1 .. n as declared. The engine calls
 * it through its descriptor.
 */
#include "common_lines.h"
#include "common_mtx_dense.h"
#include "common_options.h"
#include "common_save.h"

static const lacis_option_spec options[] = {
    {.name = "base",
     .form = 'i',
     .otherwise = "1",
     .help = "what the indices in the file count from: 1, or 0 outside the standard"},
    LACIS_OPTION_DUPLICATES,
    {.name = "type",
     .form = 'w',
     .words = LACIS_MTX_TYPES,
     .help = "of the values; by default i64, f64 or c128, as they are found"},
    {.name = "dense",
     .form = 'b',
     .otherwise = "false",
     .help = "true: a dense symmetric or Hermitian matrix, which SYMV takes, instead of a graph"},
    {.name = "packed", .form = 'b', .otherwise = "false", .help = "of a dense matrix one triangle alone is stored"},
    {.name = "half",
     .form = 'b',
     .otherwise = "false",
     .help = "of a symmetric or Hermitian file only the triangle that it has, for SYMV, not its mirror image"},
};

/* More rows than this with few entries, or more columns than 32 bits count, are kept as labels of those that occur.
 */
static const int64_t many_rows = (int64_t)1 << 26;

static bool is_sparse_beyond_reason(const lacis_mtx *m)
{
    bool rows = m->rows > many_rows && m->rows / 8 > m->entries;
    bool cols = m->cols > UINT32_MAX || (m->cols > many_rows && m->cols / 8 > m->entries && m->rows == m->cols);
    return rows || cols;
}

/* ------------------------------------------------------------------------------------------- checks */

static lacis_status check_count(lacis_run *run, const lacis_mtx *m, lacis_edges *edges)
{
    const char *line;
    if (m->dense || edges->entries == m->entries) return LACIS_OK;
    if (edges->entries < m->entries)
        return lacis_text_fail(
            run, m->text, m->text->end,
            "the file ends after %lld of the %lld entries that its size line declares; fetch it again",
            (long long)edges->entries, (long long)m->entries);
    LACIS_TRY(lacis_edges_locate(edges, m->entries, &line));
    return lacis_text_fail(run, m->text, line != NULL ? line : m->text->end,
                           "entry %lld, but the size line declares %lld; mend one of them", (long long)m->entries + 1,
                           (long long)m->entries);
}

/* GraphBLAS's comment on the type, against the values. */
static bool type_holds(const char *type, const lacis_mtx *m, const lacis_seen *seen)
{
    static const struct {
        const char *name;
        double low, high;
    } types[] = {{"bool", 0, 1},
                 {"int8_t", INT8_MIN, INT8_MAX},
                 {"int16_t", INT16_MIN, INT16_MAX},
                 {"int32_t", INT32_MIN, INT32_MAX},
                 {"uint8_t", 0, UINT8_MAX},
                 {"uint16_t", 0, UINT16_MAX},
                 {"uint32_t", 0, UINT32_MAX},
                 {"uint64_t", 0, 18446744073709551615.0},
                 {"int64_t", -9223372036854775808.0, 9223372036854775807.0}};
    for (int i = 0; i < LACIS_COUNT(types); i++) {
        if (strcmp(type, types[i].name) != 0) continue;
        if (types[i].low == 0 && m->symmetry == LACIS_MIRROR_NEGATED) return false;
        bool in = !seen->integer || ((double)seen->low >= types[i].low && (double)seen->high <= types[i].high);
        return in &&
               (!seen->real || (seen->big && seen->real_low >= types[i].low && seen->real_high <= types[i].high));
    }
    return true;
}

static void warn_values(lacis_run *run, const lacis_mtx *m, const lacis_seen *seen)
{
    if (m->field == LACIS_MTX_INTEGER && seen->big)
        lacis_run_note(run, LACIS_WARNING, "integers beyond 64 bits: all values are kept as f64");
    else if (m->field == LACIS_MTX_INTEGER && seen->real)
        lacis_run_note(run, LACIS_WARNING, "the banner says integer, but some values are not: all are kept as f64");
    if (m->type[0] != '\0' && m->field == LACIS_MTX_INTEGER && !type_holds(m->type, m, seen))
        lacis_run_note(
            run, LACIS_WARNING,
            "a comment gives the GraphBLAS type %s, which cannot hold the values: they are kept as they are",
            m->type);
}

/* -------------------------------------------------------------------------------------------- loading */

static bool is_half(const lacis_options *given)
{
    return lacis_option_integer(given, "half", 0) != 0;
}

static void set_spec(lacis_run *run, const lacis_mtx *m, const lacis_options *given, lacis_edges_spec *spec)
{
    static const lacis_want wants[] = {LACIS_WANT_REAL, LACIS_WANT_ANY, LACIS_WANT_COMPLEX, LACIS_WANT_NONE};
    *spec = (lacis_edges_spec){.declared = true,
                               .rows = m->rows,
                               .cols = m->cols,
                               .base = 1,
                               .mirror = is_half(given) ? LACIS_MIRROR_NONE : m->symmetry,
                               .want = wants[m->field],
                               .type = lacis_option_type(given),
                               .duplicates = lacis_option_duplicates(given),
                               .what = "entries",
                               .path = m->text->path};
    if (m->dense || !is_sparse_beyond_reason(m)) return;
    spec->declared = false;
    spec->separate = m->rows != m->cols;
    lacis_run_note(run, LACIS_NOTE,
                   "of %lld x %lld only the rows and columns with entries are kept, under their numbers",
                   (long long)m->rows, (long long)m->cols);
}

static lacis_status set_lines(lacis_run *run, const lacis_mtx *m, int64_t base, lacis_lines *lines)
{
    lacis_lines_plain(lines, m->text, m->body, lacis_run_threads(run));
    lines->value = m->field == LACIS_MTX_PATTERN ? -1 : 2;
    lines->imag = m->field == LACIS_MTX_COMPLEX ? 3 : -1;
    lines->fields = m->field == LACIS_MTX_PATTERN ? 2 : m->field == LACIS_MTX_COMPLEX ? 4 : 3;
    lines->src_low = lines->dst_low = base;
    lines->src_high = m->rows - 1 + base;
    lines->dst_high = m->cols - 1 + base;
    lines->one_based = base == 1;
    lines->forbid_loops = m->symmetry == LACIS_MIRROR_NEGATED;
    lines->range = lacis_run_text(run, "the size line, %lld x %lld,", (long long)m->rows, (long long)m->cols);
    return lines->range != NULL ? LACIS_OK : LACIS_NOMEM;
}

static lacis_status build(lacis_run *run, lacis_mtx *m, const lacis_edges_spec *spec, const lacis_edge_reader *reader,
                          lacis_array **out)
{
    lacis_edges edges;
    lacis_status status = lacis_edges_begin(run, &edges, spec, reader);
    if (status == LACIS_OK) status = lacis_edges_count(&edges);
    if (status == LACIS_OK) status = check_count(run, m, &edges);
    if (status == LACIS_OK) {
        warn_values(run, m, &edges.seen);
        status = lacis_edges_fill(&edges, out);
    }
    lacis_edges_end(&edges);
    return status;
}

static lacis_status load_dense(lacis_run *run, const lacis_mtx *m, int64_t base, const lacis_options *given,
                               lacis_array **out)
{
    lacis_mtx_store store;
    LACIS_TRY(lacis_mtx_store_read(run, m, given, &store));
    store.base = base;
    if (m->dense) return lacis_mtx_load_array(run, m, &store, out);
    if (lacis_option_duplicates(given) != LACIS_DUPLICATES_SUM)
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "duplicates"), NULL,
                                 "dense = true adds values of one place: duplicates = sum alone");
    return lacis_mtx_load_entries(run, m, &store, out);
}

/* Of graphs: types and options of dense matrices do not go with them. */
static lacis_status check_graph(lacis_run *run, const lacis_options *given)
{
    const lacis_option_value *type = lacis_option_set(given, "type");
    bool packed = lacis_option_integer(given, "packed", 0) != 0;
    if (type != NULL && type->integer > 4)
        return lacis_run_fail_at(run, LACIS_RANGE, type->offset, "dense = true",
                                 "type = '%s' is one of dense matrices, and this becomes a graph", type->text);
    if (!packed) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "packed"), "dense = true",
                             "packed = true is for dense matrices, and this becomes a graph");
}

static lacis_status check_half(lacis_run *run, const lacis_mtx *m, const lacis_options *given)
{
    const bool mirrored = m->symmetry != LACIS_MIRROR_NONE && m->symmetry != LACIS_MIRROR_NEGATED;
    if (mirrored || !is_half(given)) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "half"), NULL,
                             "half = true is for symmetric and Hermitian files, and this one is %s",
                             m->symmetry == LACIS_MIRROR_NONE ? "general" : "skew-symmetric");
}

/* The format has such files hold the lower triangle. */
static lacis_status check_lower(lacis_run *run, const lacis_options *given, lacis_array **array)
{
    lacis_csr csr;
    int64_t r = 0;
    if (!is_half(given)) return LACIS_OK;
    lacis_csr_view(*array, &csr);
    while (r < csr.rows && (csr.begin[r] == csr.end[r] || csr.column[csr.end[r] - 1] <= r))
        r++;
    if (r == csr.rows) return LACIS_OK;
    const int64_t row = csr.row_label != NULL ? csr.row_label[r] : csr.row_base + r;
    lacis_array_release(*array);
    *array = NULL;
    return lacis_run_fail_at(run, LACIS_FORMAT, lacis_option_offset(given, "half"), "leave half out",
                             "row %lld has an entry above the diagonal, where a symmetric file has none",
                             (long long)row);
}

static lacis_status load_text(lacis_run *run, const lacis_text *text, const lacis_options *given, lacis_array **out)
{
    lacis_mtx m;
    lacis_lines lines;
    lacis_edges_spec spec;
    int64_t base = lacis_option_integer(given, "base", 1);
    if (base != 0 && base != 1)
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "base"), NULL,
                                 "base = %lld is neither 0 nor 1", (long long)base);
    LACIS_TRY(lacis_mtx_head(run, text, &m));
    if (lacis_option_integer(given, "dense", 0) != 0) return load_dense(run, &m, base, given, out);
    LACIS_TRY(check_graph(run, given));
    LACIS_TRY(check_half(run, &m, given));
    set_spec(run, &m, given, &spec);
    if (m.dense) {
        lacis_edge_reader reader = lacis_mtx_dense(&m);
        LACIS_TRY(build(run, &m, &spec, &reader, out));
        return check_lower(run, given, out);
    }
    if (base == 0) spec.base = 0;
    LACIS_TRY(set_lines(run, &m, base, &lines));
    lacis_edge_reader reader = lacis_lines_reader(&lines);
    LACIS_TRY(build(run, &m, &spec, &reader, out));
    LACIS_TRY(check_lower(run, given, out));
    for (int i = 0; i < 2 && spec.declared && m.base[i] != 1; i++) {
        lacis_array_set_base(*out, i, m.base[i]);
    }
    return LACIS_OK;
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
    return lacis_mtx_banner(&text) ? 100 : 0;
}

/* -------------------------------------------------------------------------------------------- saving */

static const char *field_of(const lacis_csr *csr)
{
    if (csr->dtype == LACIS_PATTERN) return "pattern";
    if (lacis_is_complex(csr->dtype)) return "complex";
    return lacis_is_real(csr->dtype) ? "real" : "integer";
}

static void put_head(lacis_writer *w, const lacis_csr *csr)
{
    lacis_writer_text(w, "%%MatrixMarket matrix coordinate ");
    lacis_writer_text(w, field_of(csr));
    lacis_writer_text(w, " general\n");
    if (csr->row_label == NULL && csr->col_label == NULL && (csr->row_base != 1 || csr->col_base != 1)) {
        lacis_writer_text(w, "%lacis base ");
        lacis_writer_integer(w, csr->row_base);
        lacis_writer_text(w, " ");
        lacis_writer_integer(w, csr->col_base);
        lacis_writer_text(w, "\n");
    }
    lacis_writer_integer(w, csr->rows);
    lacis_writer_text(w, " ");
    lacis_writer_integer(w, csr->cols);
    lacis_writer_text(w, " ");
    lacis_writer_integer(w, csr->entries);
    lacis_writer_text(w, "\n");
}

static void put_entry(lacis_writer *w, const lacis_csr *csr, int64_t row, int64_t i)
{
    lacis_writer_integer(w, row + 1);
    lacis_writer_text(w, " ");
    lacis_writer_integer(w, (int64_t)csr->column[i] + 1);
    if (csr->value != NULL) {
        lacis_writer_text(w, " ");
        lacis_writer_value(w, csr->value, csr->storage, i);
    }
    lacis_writer_text(w, "\n");
}

static lacis_status save(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_csr csr;
    if (lacis_array_kind(array) == LACIS_SYMMETRIC) return lacis_mtx_save_dense(run, array, file);
    LACIS_TRY(lacis_save_graph(run, array, "mtx", &csr));
    if (csr.dtype == LACIS_DD || csr.dtype == LACIS_CDD) LACIS_TRY(lacis_save_real(run, &csr, "mtx"));
    if (csr.row_label != NULL || csr.col_label != NULL)
        lacis_run_note(run, LACIS_WARNING,
                       "mtx numbers vertices 1 .. n: their ids are not in the file; snap keeps them");
    lacis_writer w;
    lacis_writer_begin(&w, run, file);
    put_head(&w, &csr);
    int64_t done = 0;
    for (int64_t row = 0; row < csr.rows; row++) {
        for (int64_t i = csr.begin[row]; i < csr.end[row]; i++) {
            put_entry(&w, &csr, row, i);
            if ((++done & 8191) == 0 && lacis_writer_stop(&w, done, csr.entries)) return lacis_writer_end(&w);
        }
    }
    return lacis_writer_end(&w);
}

static const lacis_holding holdings[] = {
    {.kind = LACIS_CSR,
     .types = LACIS_TYPE_BIT(LACIS_PATTERN) | LACIS_TYPES_WHOLE | LACIS_TYPES_REAL | LACIS_TYPES_COMPLEX},
    {.kind = LACIS_SYMMETRIC}};

const lacis_loader lacis_loader_mtx = {
    .name = "mtx",
    .summary = "MatrixMarket: coordinate and array, all fields and symmetries",
    .extensions = ".mtx .mm",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
    .save = save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
};
