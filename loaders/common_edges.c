/* SPDX-License-Identifier: Apache-2.0
 *
 * The two readings that make a graph; see common_edges.h. This file counts, numbers and drives the threads;
 * common_fill.c puts edges in their places.
 */
#include "common_edges.h"

#include "common_fill.h"

#include <string.h>

static lacis_status sinks_new(lacis_edges *edges)
{
    uint64_t bytes = sizeof(lacis_sink) * (uint64_t)edges->threads;
    LACIS_TRY(lacis_run_alloc(edges->run, bytes, &edges->sinks));
    memset(edges->sinks, 0, bytes);
    for (int i = 0; i < edges->threads; i++) {
        edges->sinks[i].edges = edges;
    }
    return LACIS_OK;
}

static lacis_status offsets_new(lacis_edges *edges, int64_t rows)
{
    uint64_t bytes = ((uint64_t)rows + 1) * sizeof(int64_t);
    LACIS_TRY(lacis_buffer_new(edges->run, bytes, &edges->offsets));
    edges->raw.offsets = lacis_buffer_data(edges->offsets);
    memset(edges->raw.offsets, 0, bytes);
    return LACIS_OK;
}

static lacis_status ids_begin(lacis_edges *edges, bool hashed)
{
    lacis_edges_spec *spec = &edges->spec;
    if (spec->declared) {
        lacis_ids_dense(&edges->row, edges->run, spec->base, spec->rows);
        lacis_ids_dense(&edges->col, edges->run, spec->base, spec->cols);
        return offsets_new(edges, spec->rows);
    }
    bool shared = edges->threads > 1;
    if (spec->separate) LACIS_TRY(lacis_ids_hashed(&edges->col, edges->run, shared));
    if (hashed || spec->separate || spec->direct == 0) return lacis_ids_hashed(&edges->row, edges->run, shared);
    return lacis_ids_direct(&edges->row, edges->run, shared, (int64_t)spec->direct);
}

lacis_status lacis_edges_begin(lacis_run *run, lacis_edges *edges, const lacis_edges_spec *spec,
                               const lacis_edge_reader *reader)
{
    memset(edges, 0, sizeof *edges);
    edges->run = run;
    edges->spec = *spec;
    edges->reader = *reader;
    edges->threads = lacis_run_threads(run);
    edges->shared = edges->threads > 1;
    edges->owner = pthread_self();
    edges->raw.run = run;
    LACIS_TRY(sinks_new(edges));
    return ids_begin(edges, false);
}

void lacis_edges_end(lacis_edges *edges)
{
    lacis_ids_clear(&edges->row);
    lacis_ids_clear(&edges->col);
    lacis_buffer_release(edges->offsets);
    lacis_buffer_release(edges->raw.columns);
    lacis_buffer_release(edges->raw.values);
    lacis_run_free(edges->run, edges->sinks);
}

/* ------------------------------------------------------------------------------------------ readings */

static void show_progress(lacis_edges *edges)
{
    int64_t done = ++edges->done;
    if (!pthread_equal(pthread_self(), edges->owner)) return; /* the others may not */
    double part = (double)done / (double)(edges->reader.chunks > 0 ? edges->reader.chunks : 1);
    lacis_run_progress(edges->run, edges->reader.phase, (edges->pass == LACIS_PASS_COUNT ? 0 : 0.5) + 0.45 * part);
}

static lacis_status read_chunk(void *context, int64_t chunk, int worker)
{
    lacis_edges *edges = context;
    lacis_sink *sink = &edges->sinks[worker];
    LACIS_TRY(edges->reader.read(edges->reader.context, chunk, sink));
    lacis_status status = lacis_sink_flush(sink);
    show_progress(edges);
    return status;
}

static void sinks_reset(lacis_edges *edges, lacis_want want)
{
    for (int i = 0; i < edges->threads; i++) {
        lacis_sink *sink = &edges->sinks[i];
        sink->want = want;
        sink->precise = edges->pass == LACIS_PASS_FIND;
        sink->limit = sink->precise ? 1 : LACIS_BATCH;
        sink->count = 0;
        sink->entries = 0;
        sink->seen = (lacis_seen){0};
        sink->fault = (lacis_fault){0};
    }
    edges->done = 0;
}

/* Tells the user what a reading ended with. The error nearest to the start of the file is the one to show: whatever
 * the threads did, all chunks before it were read. */
static lacis_status report(lacis_edges *edges, lacis_status status)
{
    lacis_run *run = edges->run;
    const lacis_fault *first = NULL;
    for (int i = 0; i < edges->threads; i++) {
        const lacis_fault *fault = &edges->sinks[i].fault;
        if (fault->code != 0 && (first == NULL || fault->at < first->at)) first = fault;
    }
    if (status == LACIS_INTERRUPT || lacis_run_cancelled(run)) return lacis_run_interrupted(run);
    if (first != NULL) return edges->reader.report(edges->reader.context, run, first);
    if (status == LACIS_NOMEM || status == LACIS_LIMIT)
        return lacis_run_fail(run, status, "%s: no memory left for its vertices; raise memory_limit",
                              edges->spec.path);
    return status;
}

/* In order on this thread, or dealt to all. */
static lacis_status read_all(lacis_edges *edges, bool in_order)
{
    if (!in_order) return lacis_run_parallel(edges->run, edges->reader.chunks, read_chunk, edges);
    lacis_status status = LACIS_OK;
    for (int64_t chunk = 0; chunk < edges->reader.chunks && status == LACIS_OK; chunk++) {
        status = lacis_run_cancelled(edges->run) ? LACIS_INTERRUPT : read_chunk(edges, chunk, 0);
    }
    return status;
}

/* ------------------------------------------------------------------------------------------ counting */

static void count_declared(lacis_edges *edges, const int64_t *id, int n)
{
    int64_t *degree = edges->raw.offsets + 1 - edges->spec.base;
    for (int i = 0; i < n; i++) {
        if (edges->shared)
            __atomic_fetch_add(&degree[id[i]], 1, __ATOMIC_RELAXED);
        else
            degree[id[i]]++;
    }
}

static lacis_status count_side(lacis_edges *edges, const int64_t *id, int n, bool row)
{
    if (edges->spec.declared) {
        if (row) count_declared(edges, id, n);
        return LACIS_OK;
    }
    lacis_status status = lacis_ids_count(!row && edges->spec.separate ? &edges->col : &edges->row, id, n, row);
    if (status == LACIS_RANGE) edges->wide = true;
    return status;
}

/* The ends of mirrored edges count as rows too, except where both are one. */
static lacis_status count_mirrored(lacis_edges *edges, const lacis_sink *sink)
{
    int64_t row[LACIS_BATCH];
    int n = 0;
    for (int i = 0; i < sink->count; i++) {
        row[n] = sink->dst[i];
        n += sink->src[i] != sink->dst[i];
    }
    return count_side(edges, row, n, true);
}

static lacis_status take_counted(lacis_edges *edges, const lacis_sink *sink)
{
    LACIS_TRY(count_side(edges, sink->src, sink->count, true));
    LACIS_TRY(count_side(edges, sink->dst, sink->count, false));
    return edges->spec.mirror != LACIS_MIRROR_NONE ? count_mirrored(edges, sink) : LACIS_OK;
}

lacis_status lacis_sink_vertex(lacis_sink *sink, int64_t id)
{
    lacis_edges *edges = sink->edges;
    if (edges->pass != LACIS_PASS_COUNT) return LACIS_OK;
    lacis_status status = lacis_ids_count(&edges->row, &id, 1, false);
    if (status == LACIS_RANGE) edges->wide = true;
    return status;
}

/* FIND: one edge at a time. LACIS_DONE stops the reading. */
static lacis_status take_sought(lacis_edges *edges, lacis_sink *sink)
{
    bool here;
    if (edges->nth >= 0) {
        here = sink->entries == edges->nth;
    } else {
        bool same = sink->src[0] == edges->find_src && sink->dst[0] == edges->find_dst;
        bool turned = edges->spec.mirror != LACIS_MIRROR_NONE && sink->src[0] == edges->find_dst &&
                      sink->dst[0] == edges->find_src;
        here = (same || turned) && edges->before != NULL;
        if (same || turned) edges->before = sink->line;
    }
    if (here) edges->found = sink->line;
    return here ? LACIS_DONE : LACIS_OK;
}

lacis_status lacis_sink_flush(lacis_sink *sink)
{
    lacis_edges *edges = sink->edges;
    if (sink->count == 0) return LACIS_OK;
    if (lacis_run_cancelled(edges->run)) return LACIS_INTERRUPT;
    lacis_status status = LACIS_OK;
    if (edges->pass == LACIS_PASS_COUNT)
        status = take_counted(edges, sink);
    else if (edges->pass == LACIS_PASS_FILL)
        lacis_fill_take(edges, sink);
    else
        status = take_sought(edges, sink);
    sink->entries += sink->count;
    sink->count = 0;
    return status;
}

static void merge_seen(lacis_seen *all, const lacis_seen *one)
{
    if (one->integer) {
        lacis_seen_integer(all, one->low);
        lacis_seen_integer(all, one->high);
    }
    if (one->real) {
        lacis_seen_real(all, one->real_low);
        lacis_seen_real(all, one->real_high);
    }
    all->big |= one->big;
}

static lacis_status count_once(lacis_edges *edges)
{
    edges->pass = LACIS_PASS_COUNT;
    sinks_reset(edges, edges->spec.want);
    return read_all(edges, false);
}

lacis_status lacis_edges_count(lacis_edges *edges)
{
    lacis_status status = count_once(edges);
    if (edges->wide) {
        lacis_ids_clear(&edges->row);
        LACIS_TRY(ids_begin(edges, true));
        status = count_once(edges);
    }
    if (status != LACIS_OK) return report(edges, status);
    for (int i = 0; i < edges->threads; i++) {
        edges->entries += edges->sinks[i].entries;
        merge_seen(&edges->seen, &edges->sinks[i].seen);
    }
    return LACIS_OK;
}

void lacis_edges_drop_values(lacis_edges *edges)
{
    edges->spec.want = LACIS_WANT_NONE;
}

/* ------------------------------------------------------------------------------------------ locating */

static lacis_status locate(lacis_edges *edges, const char **line)
{
    edges->pass = LACIS_PASS_FIND;
    edges->found = edges->before = NULL;
    sinks_reset(edges, LACIS_WANT_NONE);
    lacis_status status = read_all(edges, true);
    *line = edges->found;
    return status == LACIS_OK || status == LACIS_DONE ? LACIS_OK : report(edges, status);
}

lacis_status lacis_edges_locate(lacis_edges *edges, int64_t nth, const char **line)
{
    edges->nth = nth;
    return locate(edges, line);
}

lacis_status lacis_edges_locate_second(lacis_edges *edges, int64_t src, int64_t dst, const char **line)
{
    edges->nth = -1;
    edges->find_src = src;
    edges->find_dst = dst;
    return locate(edges, line);
}

/* ----------------------------------------------------------------------------------------- numbering */

static lacis_status too_many(lacis_edges *edges, const char *what, int64_t count)
{
    return lacis_run_fail(edges->run, LACIS_RANGE, "%s: %lld %s, more than the 2^32 - 1 that lacis can hold",
                          edges->spec.path, (long long)count, what);
}

static lacis_status number_ids(lacis_edges *edges)
{
    lacis_edges_spec *spec = &edges->spec;
    if (!spec->declared) {
        LACIS_TRY(lacis_ids_number(&edges->row, spec->first));
        if (spec->separate) LACIS_TRY(lacis_ids_number(&edges->col, NULL));
        spec->rows = edges->row.count;
        spec->cols = spec->separate ? edges->col.count : edges->row.count;
        if (spec->rows > UINT32_MAX) return too_many(edges, "vertices", spec->rows);
    }
    if (spec->cols > UINT32_MAX) return too_many(edges, "columns", spec->cols);
    return LACIS_OK;
}

/* Degrees become the places where rows begin: offsets[r + 1] is the beginning of row r, and moves to its end while
 * the row is filled. So no second array is needed. */
static lacis_status place_rows(lacis_edges *edges)
{
    int64_t rows = edges->spec.rows, total = 0;
    if (!edges->spec.declared) {
        LACIS_TRY(offsets_new(edges, rows));
        lacis_ids_degrees(&edges->row, edges->raw.offsets + 1);
        LACIS_TRY(lacis_ids_settle(&edges->row));
        if (edges->spec.separate) LACIS_TRY(lacis_ids_settle(&edges->col));
    }
    int64_t *next = edges->raw.offsets + 1;
    for (int64_t r = 0; r < rows; r++) {
        int64_t degree = next[r];
        next[r] = total;
        total += degree;
    }
    edges->raw.rows = rows;
    edges->raw.entries = total;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- filling */

static lacis_status fail_duplicate(lacis_edges *edges, int64_t row)
{
    const uint32_t *column = lacis_buffer_data(edges->raw.columns);
    int64_t i = edges->raw.offsets[row] + 1;
    while (column[i] != column[i - 1]) {
        i++;
    }
    const lacis_ids *col = edges->spec.separate ? &edges->col : &edges->row;
    const int64_t *row_label = edges->row.labels != NULL ? lacis_buffer_data(edges->row.labels) : NULL;
    const int64_t *col_label = col->labels != NULL ? lacis_buffer_data(col->labels) : NULL;
    int64_t src = lacis_label(row_label, edges->row.base, row), dst = lacis_label(col_label, col->base, column[i]);
    const char *line = NULL;
    LACIS_TRY(lacis_edges_locate_second(edges, src, dst, &line));
    lacis_fault fault = {.code = LACIS_FAULT_DUPLICATE, .at = line, .end = line, .figure = src};
    if (edges->reader.report != NULL && line != NULL)
        return edges->reader.report(edges->reader.context, edges->run, &fault);
    return lacis_run_fail(edges->run, LACIS_FORMAT, "%s: the entry from %lld to %lld comes twice", edges->spec.path,
                          (long long)src, (long long)dst);
}

static void note_duplicates(const lacis_edges *edges)
{
    static const char *const rules[] = {" (values: sum)",
                                        " (values: min)",
                                        " (values: max)",
                                        " (values: first)",
                                        " (values: last)",
                                        " (values: count)",
                                        ""};
    bool valued = edges->raw.values != NULL;
    lacis_run_note(edges->run, LACIS_NOTE, "%lld duplicate %s collapsed%s", (long long)edges->duplicates,
                   edges->spec.what, valued ? rules[edges->spec.duplicates] : "");
}

static lacis_status collapse(lacis_edges *edges)
{
    int64_t first;
    LACIS_TRY(lacis_rows_sort(&edges->raw, &edges->duplicates, &first));
    lacis_duplicates rule = edges->spec.duplicates;
    if (edges->duplicates > 0 && rule == LACIS_DUPLICATES_ERROR) return fail_duplicate(edges, first);
    if (edges->duplicates > 0 || rule == LACIS_DUPLICATES_COUNT) LACIS_TRY(lacis_rows_collapse(&edges->raw, rule));
    if (rule == LACIS_DUPLICATES_COUNT) edges->dtype = LACIS_I64;
    if (edges->duplicates > 0 && edges->spec.what != NULL) note_duplicates(edges);
    return LACIS_OK;
}

static lacis_status make_array(lacis_edges *edges, lacis_array **out)
{
    const lacis_ids *col = edges->spec.separate || edges->spec.declared ? &edges->col : &edges->row;
    lacis_csr_parts parts = {
        .rows = edges->spec.rows,
        .cols = edges->spec.cols,
        .entries = edges->raw.entries,
        .begin = edges->offsets,
        .columns = edges->raw.columns,
        .values = edges->raw.values,
        .row_labels = edges->row.labels,
        .col_labels = col->labels,
        .storage = edges->raw.values != NULL ? edges->raw.storage : LACIS_PATTERN,
        .dtype = edges->raw.values != NULL ? edges->dtype : LACIS_PATTERN,
        .row_base = edges->row.base,
        .col_base = col->base,
    };
    return lacis_csr_new(edges->run, &parts, out);
}

lacis_status lacis_edges_fill(lacis_edges *edges, lacis_array **out)
{
    lacis_duplicates rule = edges->spec.duplicates;
    LACIS_TRY(lacis_fill_type(edges));
    LACIS_TRY(number_ids(edges));
    LACIS_TRY(place_rows(edges));
    LACIS_TRY(lacis_fill_space(edges));
    bool in_order = edges->raw.values != NULL && (rule == LACIS_DUPLICATES_FIRST || rule == LACIS_DUPLICATES_LAST);
    if (in_order) edges->shared = false;
    edges->pass = LACIS_PASS_FILL;
    sinks_reset(edges, lacis_fill_want(edges));
    lacis_status status = read_all(edges, in_order);
    if (status != LACIS_OK) return report(edges, status);
    LACIS_TRY(collapse(edges));
    lacis_run_progress(edges->run, edges->reader.phase, 1);
    return make_array(edges, out);
}
