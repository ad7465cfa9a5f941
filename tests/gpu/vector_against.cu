/* SPDX-License-Identifier: Apache-2.0
 *
 * Vectors against the grain of a graph's rows, on its entries by column: vector BY graph by pull, graph BY vector by
 * push. Rows of the graph lie loose, as results do.
 */
#include "vector_support.h"

/* The graph with its rows in another order in memory, and room between them. */
static matrix loosened(u64 *state, const matrix &g)
{
    matrix m;
    m.rows = g.rows, m.cols = g.cols;
    m.begin.resize(g.rows), m.end.resize(g.rows);
    for (int64_t k = 0; k < g.rows; k++) {
        const int64_t r = g.rows - 1 - k;
        m.begin[r] = (int64_t)m.column.size();
        m.column.insert(m.column.end(), g.column.begin() + g.begin[r], g.column.begin() + g.end[r]);
        m.end[r] = (int64_t)m.column.size();
        for (u64 gap = next_random(state) % 3; gap > 0; gap--)
            m.column.push_back(UINT32_MAX);
    }
    return m;
}

struct by_column {
    matrix g;
    lacis_mul_matrix on;
    lacis_mul_gpu_columns columns;
    bool made;
};

static by_column make_columns(u64 *state, const matrix &g)
{
    by_column out = {loosened(state, g), {}, {}, false};
    int error = 0;
    out.on = on_device(out.g, NULL, LACIS_MUL_I32);
    const lacis_mul_gpu_status status =
        lacis_mul_gpu_columns_make(&out.on, g.column.size(), &pool, stream, &out.columns, &error);
    out.made = status == LACIS_MUL_GPU_OK;
    if (!out.made) fail("columns", -1, status, error);
    return out;
}

static lacis_mul_matrix turned(const by_column &by, const void *value, lacis_mul_type type)
{
    return {by.g.cols, by.g.rows, by.columns.begin, by.columns.begin + 1, by.columns.row, value, type};
}

static std::vector<uint32_t> pick(u64 *state, int64_t n, bool all)
{
    std::vector<uint32_t> out;
    for (int64_t i = 0; i < n; i++)
        if (all || next_random(state) % 3 == 0) out.push_back((uint32_t)i);
    return out;
}

/* CON as the kernels see it, whose a is the graph. */
static lacis_mul_con swapped(int con)
{
    return con == LACIS_MUL_CON_A ? LACIS_MUL_CON_B : con == LACIS_MUL_CON_B ? LACIS_MUL_CON_A : (lacis_mul_con)con;
}

/* x BY g: each column collects. */
template <class T> static void pull_columns(u64 *state, const by_column &by, int turn, int con, lacis_mul_agg agg)
{
    const bool masks = turn % 3 == 1;
    const std::vector<uint32_t> x = pick(state, by.g.rows, turn % 2), mask = pick(state, by.g.cols, false);
    const std::vector<T> gv = make_values<T>(state, by.g.column.size(), false),
                         xv = make_values<T>(state, x.size(), false);
    T *graph_values = upload(gv), *values = upload(xv);
    uint32_t *listed = upload(x), *masked = upload(mask);
    uint8_t *present = (uint8_t *)pool_alloc(NULL, by.g.cols);
    void *out = pool_alloc(NULL, by.g.cols * 8);
    lacis_mul_gpu_job job = make_job<T>(con, agg, turn);
    job.con_kind = swapped(con);
    job.a = turned(by, graph_values, kind<T>::type);
    job.b = {by.g.rows, 1, NULL, NULL, NULL, values, kind<T>::type};
    job.mask_not = turn % 2;
    lacis_mul_gpu_pull pull = {&job,   false,      by.g.column.size(), 0,      by.g.cols, present,
                               out,    0,          by.columns.entry,   listed, x.size(),  masks,
                               masked, mask.size()};
    const lacis_mul_gpu_status status = lacis_mul_gpu_pull_run(&pull);
    char what[100];
    snprintf(what, sizeof what, "columns pull %s %s type %d turn %d", con_name[con], agg_name[agg], (int)job.type,
             turn);
    if (status != LACIS_MUL_GPU_OK) fail(what, -1, status, pull.cuda_error);
    std::vector<cell<T>> cells(by.g.cols);
    for (size_t e = 0; e < x.size(); e++)
        for (int64_t i = by.g.begin[x[e]]; i < by.g.end[x[e]]; i++)
            cells[by.g.column[i]].take(agg, con_of<T>((lacis_mul_con)con, xv[e], gv[i]));
    const auto p = download<uint8_t>(present, by.g.cols);
    const auto v = download<char>(out, by.g.cols * storage_size(job.storage));
    for (int64_t t = 0; t < by.g.cols; t++) {
        const bool in = std::binary_search(mask.begin(), mask.end(), (uint32_t)t);
        const bool there = cells[t].n > 0 && !(masks && in == job.mask_not);
        if (p[t] != there) fail(what, t, p[t], there);
        if (!there || !p[t]) continue;
        const double found = stored(v.data(), job.storage, t);
        if (!same(found, cells[t].result(agg), 0)) fail(what, t, found, cells[t].result(agg));
    }
    pool_free(NULL, graph_values), pool_free(NULL, values), pool_free(NULL, listed), pool_free(NULL, masked);
    pool_free(NULL, present), pool_free(NULL, out);
}

/* g BY x: each entry of the vector scatters along its column. */
template <class T> static void push_columns(u64 *state, const by_column &by, int turn, int con, lacis_mul_agg agg)
{
    const bool masks = turn % 3 == 1;
    const std::vector<uint32_t> x = pick(state, by.g.cols, turn % 2), mask = pick(state, by.g.rows, false);
    const std::vector<T> gv = make_values<T>(state, by.g.column.size(), false),
                         xv = make_values<T>(state, x.size(), false);
    lacis_mul_gpu_job job = make_job<T>(con, agg, turn);
    job.con_kind = swapped(con);
    job.ordered = false;
    T *graph_values = upload(gv), *values = upload(xv);
    uint32_t *listed = upload(x), *masked = upload(mask);
    lacis_mul_matrix mask_row = {1, by.g.rows, NULL, NULL, masked, NULL, LACIS_MUL_I64};
    job.a = {1, by.g.cols, NULL, NULL, listed, values, kind<T>::type};
    job.b = turned(by, graph_values, kind<T>::type);
    job.t_hi = by.g.rows;
    if (masks) job.mask = &mask_row;
    job.mask_not = turn % 2;
    std::vector<cell<T>> cells(by.g.rows);
    std::vector<T> at(by.g.cols);
    std::vector<bool> has(by.g.cols);
    for (size_t e = 0; e < x.size(); e++)
        at[x[e]] = xv[e], has[x[e]] = true;
    u64 products = 0;
    for (int64_t r = 0; r < by.g.rows; r++)
        for (int64_t i = by.g.begin[r]; i < by.g.end[r]; i++) {
            const uint32_t c = by.g.column[i];
            if (!has[c]) continue;
            products++;
            cells[r].take(agg, con_of<T>((lacis_mul_con)con, gv[i], at[c]));
        }
    lacis_mul_gpu_push push = {&job, 0, (int64_t)x.size(), 0, (int64_t)mask.size(), products, NULL, NULL,
                               0,    0, by.columns.entry};
    char what[100];
    snprintf(what, sizeof what, "columns push %s %s type %d turn %d", con_name[con], agg_name[agg], (int)job.type,
             turn);
    const bool refused = lacis_mul_gpu_push_refuses(&job) != NULL;
    const lacis_mul_gpu_status status = refused ? LACIS_MUL_GPU_UNSUPPORTED : lacis_mul_gpu_push_run(&push);
    if (!refused && status != LACIS_MUL_GPU_OK) fail(what, -1, status, push.cuda_error);
    const auto fc = download<uint32_t>(push.column, push.entries);
    const auto fv = download<char>(push.value, push.entries * storage_size(job.storage));
    size_t k = 0;
    for (int64_t r = 0; r < by.g.rows && !refused; r++) {
        const bool in = std::binary_search(mask.begin(), mask.end(), (uint32_t)r);
        if (cells[r].n == 0 || (masks && in == job.mask_not)) continue;
        if (k >= fc.size() || fc[k] != r) {
            fail(what, r, k < fc.size() ? (double)fc[k] : -1, (double)r);
            break;
        }
        const double found = stored(fv.data(), job.storage, k++);
        if (!same(found, cells[r].result(agg), 0)) fail(what, r, found, cells[r].result(agg));
    }
    if (!refused && k != fc.size()) fail(what, -2, (double)fc.size(), (double)k);
    if (push.column) pool_free(NULL, push.column);
    if (push.value) pool_free(NULL, push.value);
    pool_free(NULL, graph_values), pool_free(NULL, values), pool_free(NULL, listed), pool_free(NULL, masked);
}

template <class T> static void check_type(u64 *state, const by_column &by, int turn)
{
    int con = turn;
    for (lacis_mul_agg agg : aggs) {
        pull_columns<T>(state, by, turn, con++ % 5, agg);
        push_columns<T>(state, by, turn, con++ % 5, agg);
    }
}

/* Values are whole numbers, whose sums are the same in any order. */
void check_against(u64 *state, const matrix &g, int turn)
{
    const by_column by = make_columns(state, g);
    if (by.made && turn % 2) check_type<int32_t>(state, by, turn), check_type<double>(state, by, turn + 1);
    if (by.made && turn % 2 == 0) check_type<int64_t>(state, by, turn), check_type<double>(state, by, turn);
    if (by.made) pool_free(NULL, by.columns.begin);
    drop(by.on);
}
