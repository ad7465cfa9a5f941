/* SPDX-License-Identifier: Apache-2.0
 *
 * Closures on the GPU against plain rounds, in all the ways in which they can go on.
 */
#include "vector_support.h"

bool run_closure(lacis_mul_gpu_closure *c, const lacis_mul_matrix &start, int64_t rounds, int push, lacis_mul_con con,
                 int64_t *done, rows_out *out)
{
    lacis_mul_gpu_changes changes = {};
    int64_t *begin = (int64_t *)pool_alloc(NULL, 8 * c->rows), *end = (int64_t *)pool_alloc(NULL, 8 * c->rows);
    int64_t round = 1;
    bool ok = lacis_mul_gpu_closure_begin(c) == LACIS_MUL_GPU_OK &&
              lacis_mul_gpu_closure_offer(c, start.begin, start.end, start.column, start.value) == LACIS_MUL_GPU_OK &&
              lacis_mul_gpu_closure_look(c, &changes) == LACIS_MUL_GPU_OK;
    while (ok && push == 3 && changes.entries && (rounds == 0 || round < rounds)) {
        lacis_mul_gpu_changes before[LACIS_MUL_GPU_ROUNDS];
        const int64_t left = rounds ? std::min<int64_t>(LACIS_MUL_GPU_ROUNDS, rounds - round) : LACIS_MUL_GPU_ROUNDS;
        ok = lacis_mul_gpu_closure_pushes(c, (int)left, before) == LACIS_MUL_GPU_OK;
        for (int i = 0; ok && i < left && changes.entries; i++) {
            changes = before[i];
            if (changes.entries) round++;
        }
    }
    while (ok && push < 3 && changes.entries && (rounds == 0 || round < rounds)) {
        if (push == 2 ? round % 2 : push) {
            ok = lacis_mul_gpu_closure_push(c, &changes) == LACIS_MUL_GPU_OK;
        } else {
            lacis_mul_matrix delta = {};
            lacis_mul_gpu_job job = {};
            lacis_mul_gpu_output product = {};
            ok = lacis_mul_gpu_closure_rows(c, &changes, &delta) == LACIS_MUL_GPU_OK;
            job.a = delta;
            job.b = c->a;
            job.con_kind = con;
            job.agg = c->agg;
            job.type = c->type;
            job.storage = c->type == LACIS_MUL_I32   ? LACIS_MUL_TO_I32
                          : c->type == LACIS_MUL_I64 ? LACIS_MUL_TO_I64
                          : c->type == LACIS_MUL_F32 ? LACIS_MUL_TO_F32
                                                     : LACIS_MUL_TO_F64;
            job.t_hi = c->a.cols;
            job.stream = stream;
            job.memory = pool;
            product.begin = begin;
            product.end = end;
            ok = ok && lacis_mul_gpu_run(&job, NULL, 0, c->rows, &product) == LACIS_MUL_GPU_OK &&
                 lacis_mul_gpu_closure_offer(c, begin, end, product.column, product.value) == LACIS_MUL_GPU_OK;
            pool_free(NULL, (void *)delta.begin);
            if (product.column) pool_free(NULL, product.column);
            if (product.value) pool_free(NULL, product.value);
        }
        ok = ok && lacis_mul_gpu_closure_look(c, &changes) == LACIS_MUL_GPU_OK;
        round++;
    }
    uint32_t *column = NULL;
    void *value = NULL;
    u64 entries = 0;
    ok = ok && lacis_mul_gpu_closure_result(c, begin, end, &column, &value, &entries) == LACIS_MUL_GPU_OK;
    if (ok && out) {
        out->begin = download<int64_t>(begin, c->rows);
        out->end = download<int64_t>(end, c->rows);
        out->column = download<uint32_t>(column, entries);
        out->value = download<char>(value, entries * (c->type == LACIS_MUL_I32 || c->type == LACIS_MUL_F32 ? 4 : 8));
    }
    if (column) pool_free(NULL, column);
    if (value) pool_free(NULL, value);
    pool_free(NULL, begin), pool_free(NULL, end);
    lacis_mul_gpu_closure_end(c);
    *done = round;
    return ok;
}

template <class T>
static void check_closure(u64 *state, const matrix &g, lacis_mul_con con, lacis_mul_agg agg, int64_t rounds, int turn)
{
    const bool valued = con != LACIS_MUL_CON_ONE || turn % 2;
    std::vector<T> gv = make_values<T>(state, g.column.size(), false);
    for (T &x : gv)
        x = x < 0 ? -x : x;
    std::vector<int64_t> sb, se;
    for (int64_t r = turn % 3; r<g.rows; r += g.rows> 1000 ? 97 : 1 + turn % 4 * 20)
        sb.push_back(g.begin[r]), se.push_back(g.end[r]);
    const int64_t n = (int64_t)sb.size();
    /* by rounds, as POWER is defined */
    std::vector<std::vector<cell<T>>> d(n, std::vector<cell<T>>(g.cols));
    std::vector<std::vector<char>> fresh(n, std::vector<char>(g.cols));
    for (int64_t s = 0; s < n; s++)
        for (int64_t i = sb[s]; i < se[s]; i++)
            d[s][g.column[i]].take(agg, valued ? gv[i] : (T)1), fresh[s][g.column[i]] = 1;
    for (int64_t s = 0; s < n; s++)
        for (int64_t round = 1; rounds == 0 || round < rounds; round++) {
            std::vector<cell<T>> next(g.cols);
            std::vector<char> now(g.cols);
            bool any = false;
            for (int64_t c = 0; c < g.cols; c++)
                for (int64_t i = g.begin[c]; fresh[s][c] && i < g.end[c]; i++)
                    next[g.column[i]].take(agg, con_of<T>(con, d[s][c].x, valued ? gv[i] : (T)1));
            for (int64_t t = 0; t < g.cols; t++) {
                if (!next[t].n) continue;
                const bool better =
                    agg == LACIS_MUL_MIN ? next[t].x < d[s][t].x : agg == LACIS_MUL_MAX && next[t].x > d[s][t].x;
                if (d[s][t].n && !better) continue;
                d[s][t] = next[t];
                now[t] = 1;
                any = true;
            }
            fresh[s] = now;
            if (!any) break;
        }
    lacis_mul_matrix a = on_device(g, valued ? upload(gv) : NULL, kind<T>::type);
    const lacis_mul_matrix start = {n, g.cols, upload(sb), upload(se), a.column, a.value, kind<T>::type};
    const bool pushes = agg != LACIS_MUL_FIRST;
    for (int push = 0; push < (pushes ? 4 : 1); push++) {
        char what[100];
        int64_t done;
        rows_out out;
        lacis_mul_gpu_closure c = {n, a, g.column.size(), con, agg, kind<T>::type, stream, NULL, pool, NULL, 0, 0,
                                   0, 0};
        snprintf(what, sizeof what, "closure %s %s type %d way %d turn %d", con_name[con], agg_name[agg], (int)c.type,
                 push, turn);
        if (!run_closure(&c, start, rounds, push, con, &done, &out)) {
            fail(what, -1, c.cuda_error, 0);
            continue;
        }
        for (int64_t s = 0; s < n; s++) {
            int64_t at = out.begin[s];
            for (int64_t t = 0; t < g.cols; t++) {
                if (!d[s][t].n) continue;
                if (at >= out.end[s] || out.column[at] != t) {
                    fail(what, s, at < out.end[s] ? (double)out.column[at] : -1, (double)t);
                    break;
                }
                const double found = stored(out.value.data(), kind<T>::storage, at++);
                if (!same(found, (double)d[s][t].x, 0)) fail(what, t, found, (double)d[s][t].x);
            }
            if (at != out.end[s]) fail(what, s, (double)(out.end[s] - out.begin[s]), (double)(at - out.begin[s]));
        }
    }
    drop(a);
    pool_free(NULL, (void *)start.begin), pool_free(NULL, (void *)start.end);
}

template <class T> static void check_graph(u64 *state, const matrix &g, int turn)
{
    check_closure<T>(state, g, LACIS_MUL_CON_ADD, LACIS_MUL_MIN, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_B, LACIS_MUL_MAX, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_ONE, LACIS_MUL_MIN, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_ADD, LACIS_MUL_MAX, 4, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_A, LACIS_MUL_FIRST, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_ADD, LACIS_MUL_FIRST, 3, turn);
}

int check_closures(u64 *state)
{
    int turn = 0;
    for (int shape = 0; shape < 4; shape++)
        for (int size = 0; size < 3; size++, turn++) {
            static const int64_t rows[] = {40, 300, 2100}, entries[] = {100, 900, 9000};
            const matrix g = make_shape(state, shape, rows[size], rows[size], entries[size]);
            check_graph<int64_t>(state, g, turn);
            check_graph<float>(state, g, turn + 3);
            if (size < 2) check_graph<double>(state, g, turn), check_graph<int32_t>(state, g, turn + 1);
        }
    return failures;
}

template <class T> static void check_few(u64 *state, const matrix &g, int turn)
{
    check_closure<T>(state, g, LACIS_MUL_CON_ADD, LACIS_MUL_MIN, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_B, LACIS_MUL_MAX, 3, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_ADD, LACIS_MUL_FIRST, 3, turn);
}

/* Every type in every way, with a row that is cut up. */
void check_few_closures(u64 *state)
{
    const matrix g = make_shape(state, 2, 200, 200, 900);
    check_few<int32_t>(state, g, 0), check_few<int64_t>(state, g, 1);
    check_few<float>(state, g, 2), check_few<double>(state, g, 3);
}
