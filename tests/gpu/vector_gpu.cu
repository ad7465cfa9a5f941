/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the GPU kernels for vectors and closures against plain loops, and times them.
 *
 *     vector_gpu check [SEED]     random shapes: pull, push and closures in both ways, all types and operators
 *     vector_gpu once SCALE...    each kernel a few times, for a profiler
 *     vector_gpu bench SCALE...   rmat graphs with permuted labels: pull, push, searches; cuSPARSE's SpMV where there
 * is one
 *
 * Exit code 0: every comparison agreed. Build: nvcc -arch=sm_90 -std=c++17 -O3 --fmad=false with kernels/ as include
 * directory, and the objects of kernels/multiply; -DWITH_CUSPARSE for the peer.
 */
#include "multiply/gpu_closure.h"
#include "multiply/gpu_vector.h"

#include <cuda_runtime.h>
#ifdef WITH_CUSPARSE
#include <cusparse.h>
#include <dlfcn.h>
#endif

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CUDA(call)                                                                                                   \
    do {                                                                                                             \
        cudaError_t e_ = (call);                                                                                     \
        if (e_ != cudaSuccess) {                                                                                     \
            printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));                            \
            exit(2);                                                                                                 \
        }                                                                                                            \
    } while (0)

typedef uint64_t u64;
static int failures;

static u64 next_random(u64 *state)
{
    *state += 0x9e3779b97f4a7c15u;
    u64 z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* --- device memory --------------------------------------------------------------------------------- */

static cudaStream_t stream;
static u64 pool_limit; /* > 0: no allocation beyond */

static void *pool_alloc(void *, uint64_t bytes)
{
    void *p = NULL;
    if (pool_limit && bytes > pool_limit) return NULL;
    return cudaMallocAsync(&p, bytes + 1, stream) == cudaSuccess ? p : NULL;
}
static void pool_free(void *, void *p)
{
    cudaFreeAsync(p, stream);
}
static const lacis_mul_gpu_memory pool = {pool_alloc, pool_free, NULL, NULL};

template <class V> static V *upload(const std::vector<V> &v)
{
    V *p = (V *)pool_alloc(NULL, v.size() * sizeof(V));
    if (!v.empty()) CUDA(cudaMemcpyAsync(p, v.data(), v.size() * sizeof(V), cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamSynchronize(stream));
    return p;
}

template <class V> static std::vector<V> download(const void *p, size_t n)
{
    std::vector<V> v(n);
    if (n) CUDA(cudaMemcpyAsync(v.data(), p, n * sizeof(V), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    return v;
}

/* --- operands ------------------------------------------------------------------------------------------ */

struct matrix {
    int64_t rows = 0, cols = 0;
    std::vector<int64_t> begin, end;
    std::vector<uint32_t> column;
};

static matrix from_keys(std::vector<u64> &key, int64_t rows, int64_t cols)
{
    std::sort(key.begin(), key.end());
    key.erase(std::unique(key.begin(), key.end()), key.end());
    matrix m;
    m.rows = rows;
    m.cols = cols;
    std::vector<int64_t> offset(rows + 1);
    for (u64 k : key) {
        offset[(k >> 32) + 1]++;
        m.column.push_back((uint32_t)k);
    }
    for (int64_t r = 0; r < rows; r++)
        offset[r + 1] += offset[r];
    m.begin.assign(offset.begin(), offset.end() - 1);
    m.end.assign(offset.begin() + 1, offset.end());
    return m;
}

/* 0 uniform, 1 power law, 2 one hub row and column, 3 many empty rows */
static matrix make_shape(u64 *state, int shape, int64_t rows, int64_t cols, int64_t entries)
{
    std::vector<u64> key;
    for (int64_t i = 0; i < entries; i++) {
        double x = (double)(next_random(state) >> 11) * 0x1p-53, y = (double)(next_random(state) >> 11) * 0x1p-53;
        if (shape == 1) x = pow(x, 4), y = pow(y, 4);
        if (shape == 3) x = floor(x * 8) / 8;
        u64 r = std::min<u64>((u64)(x * rows), rows - 1), c = std::min<u64>((u64)(y * cols), cols - 1);
        if (shape == 2 && i % 3 == 0) r = rows / 2;
        if (shape == 2 && i % 3 == 1) c = cols / 3;
        key.push_back(r << 32 | c);
    }
    return from_keys(key, rows, cols);
}

static matrix make_rmat(int scale)
{
    u64 state = 1;
    const int64_t n = (int64_t)1 << scale, edges = n * 16;
    std::vector<u64> key(edges);
    std::vector<uint32_t> place(n);
    for (u64 &k : key) {
        u64 row = 0, col = 0;
        for (int b = 0; b < scale; b++) {
            const double p = (double)(next_random(&state) >> 11) * 0x1p-53;
            row = row << 1 | (p >= 0.76);
            col = col << 1 | ((p >= 0.57 && p < 0.76) || p >= 0.95);
        }
        k = row << 32 | col;
    }
    for (int64_t i = 0; i < n; i++)
        place[i] = (uint32_t)i;
    for (int64_t i = n - 1; i > 0; i--)
        std::swap(place[i], place[next_random(&state) % (u64)(i + 1)]);
    for (u64 &k : key)
        k = (u64)place[k >> 32] << 32 | place[k & UINT32_MAX];
    return from_keys(key, n, n);
}

template <class T> struct kind {
};
template <> struct kind<int32_t> {
    static const lacis_mul_type type = LACIS_MUL_I32;
    static const lacis_mul_storage storage = LACIS_MUL_TO_I32;
};
template <> struct kind<int64_t> {
    static const lacis_mul_type type = LACIS_MUL_I64;
    static const lacis_mul_storage storage = LACIS_MUL_TO_I64;
};
template <> struct kind<float> {
    static const lacis_mul_type type = LACIS_MUL_F32;
    static const lacis_mul_storage storage = LACIS_MUL_TO_F32;
};
template <> struct kind<double> {
    static const lacis_mul_type type = LACIS_MUL_F64;
    static const lacis_mul_storage storage = LACIS_MUL_TO_F64;
};

template <class T> static std::vector<T> make_values(u64 *state, size_t n, bool wild)
{
    std::vector<T> v(n + 1);
    for (T &x : v) {
        const int64_t k = (int64_t)(next_random(state) % 2001) - 1000;
        x = (T)k;
        if constexpr (std::is_floating_point<T>::value) {
            if (wild) x = (T)((double)(int64_t)next_random(state) * 1e-15);
            if (wild && next_random(state) % 50 == 0) x = (T)NAN;
        }
    }
    return v;
}

static lacis_mul_matrix on_device(const matrix &m, const void *value, lacis_mul_type type)
{
    return {m.rows, m.cols, upload(m.begin), upload(m.end), upload(m.column), value, type};
}

static void drop(const lacis_mul_matrix &m)
{
    pool_free(NULL, (void *)m.begin);
    pool_free(NULL, (void *)m.end);
    pool_free(NULL, (void *)m.column);
    if (m.value) pool_free(NULL, (void *)m.value);
}

/* --- reference ---------------------------------------------------------------------------------------- */

template <class T> static T con_of(lacis_mul_con con, T a, T b)
{
    return con == LACIS_MUL_CON_A     ? a
           : con == LACIS_MUL_CON_B   ? b
           : con == LACIS_MUL_CON_ADD ? (T)(a + b)
           : con == LACIS_MUL_CON_MUL ? (T)(a * b)
                                      : (T)1;
}

template <class T> struct cell {
    u64 n = 0;
    T x = 0;
    double sum = 0, size = 0; /* size: of what was added up, for rounding */
    void take(lacis_mul_agg agg, T v)
    {
        sum += (double)v;
        size += fabs((double)v);
        if (n++ == 0)
            x = v;
        else if (agg == LACIS_MUL_SUM)
            x = (T)(x + v);
        else if (agg == LACIS_MUL_LAST)
            x = v;
        else if (agg == LACIS_MUL_MIN)
            x = v != v ? x : x != x ? v : v < x ? v : x;
        else if (agg == LACIS_MUL_MAX)
            x = v != v ? x : x != x ? v : v > x ? v : x;
    }
    double result(lacis_mul_agg agg) const
    {
        return agg == LACIS_MUL_COUNT ? (double)n : agg == LACIS_MUL_AVG ? sum / (double)n : (double)x;
    }
};

static double stored(const void *value, lacis_mul_storage storage, size_t i)
{
    switch (storage) {
    case LACIS_MUL_TO_U8:
        return ((const uint8_t *)value)[i];
    case LACIS_MUL_TO_U16:
        return ((const uint16_t *)value)[i];
    case LACIS_MUL_TO_U32:
        return ((const uint32_t *)value)[i];
    case LACIS_MUL_TO_I32:
        return ((const int32_t *)value)[i];
    case LACIS_MUL_TO_I64:
        return (double)((const int64_t *)value)[i];
    case LACIS_MUL_TO_F32:
        return ((const float *)value)[i];
    default:
        return ((const double *)value)[i];
    }
}

static bool same(double x, double y, double slack)
{
    return (x != x && y != y) || x == y || fabs(x - y) <= slack;
}

static void fail(const char *what, int64_t at, double found, double expected)
{
    if (failures++ < 12) printf("FAIL %s at %lld: %.17g, expected %.17g\n", what, (long long)at, found, expected);
}

static const char *const con_name[] = {"1", "a", "b", "a+b", "a*b"};
static const char *const agg_name[] = {"count", "sum", "min", "max", "first", "last", "avg"};
static const lacis_mul_agg aggs[] = {LACIS_MUL_COUNT, LACIS_MUL_SUM,  LACIS_MUL_MIN, LACIS_MUL_MAX,
                                     LACIS_MUL_FIRST, LACIS_MUL_LAST, LACIS_MUL_AVG};

template <class T> static lacis_mul_gpu_job make_job(int con, lacis_mul_agg agg, int turn)
{
    static const lacis_mul_storage counts[] = {LACIS_MUL_TO_U16, LACIS_MUL_TO_U32, LACIS_MUL_TO_I64};
    lacis_mul_gpu_job job = {};
    job.con_kind = (lacis_mul_con)con;
    job.agg = agg;
    job.type = kind<T>::type;
    job.storage = agg == LACIS_MUL_COUNT ? counts[turn % 3]
                  : agg == LACIS_MUL_AVG ? LACIS_MUL_TO_F64
                                         : kind<T>::storage;
    job.ordered = turn % 2;
    job.stream = stream;
    job.memory = pool;
    return job;
}

static size_t storage_size(lacis_mul_storage storage)
{
    static const size_t size[] = {1, 2, 4, 4, 8, 4, 8};
    return size[storage];
}

/* A vector of n places, of which some are missing: begin, end as a column has them. */
struct vec {
    std::vector<int64_t> begin, end;
    int64_t stored = 0;
    bool every = false;
};

static vec make_vector(u64 *state, int64_t n, bool every)
{
    vec v;
    v.every = every;
    for (int64_t i = 0; i < n; i++) {
        v.begin.push_back(v.stored);
        v.stored += every || next_random(state) % 3 == 0;
        v.end.push_back(v.stored);
    }
    return v;
}

template <class T> static double slack_of(const lacis_mul_gpu_job &job, double size, bool exact)
{
    if (exact || job.agg != LACIS_MUL_SUM || !std::is_floating_point<T>::value) return 0;
    return size * (sizeof(T) == 4 ? 1e-5 : 1e-13);
}

template <class T> static void check_pull(u64 *state, const matrix &g, int turn)
{
    const bool wild = turn % 4 == 3, valued = turn % 5 != 4, masks = turn % 3 == 1;
    const vec x = make_vector(state, g.cols, turn % 2);
    const std::vector<T> gv = make_values<T>(state, g.column.size(), wild),
                         xv = make_values<T>(state, x.stored, wild);
    const vec m = make_vector(state, g.rows, false);
    lacis_mul_matrix a = on_device(g, valued ? upload(gv) : NULL, kind<T>::type);
    lacis_mul_matrix b = {g.cols, 1, upload(x.begin), upload(x.end), NULL, upload(xv), kind<T>::type};
    lacis_mul_matrix mask = {g.rows, 1, upload(m.begin), upload(m.end), NULL, NULL, LACIS_MUL_I64};
    const int64_t first = turn % 7 == 6 ? g.rows / 3 : 0, count = g.rows - first;
    uint8_t *present = (uint8_t *)pool_alloc(NULL, count);
    void *value = pool_alloc(NULL, count * 8);
    for (int con = 0; con <= 4; con++)
        for (lacis_mul_agg agg : aggs) {
            char what[100];
            lacis_mul_gpu_job job = make_job<T>(con, agg, turn);
            job.a = a;
            job.b = b;
            if (masks) job.mask = &mask;
            job.mask_not = turn % 2;
            snprintf(what, sizeof what, "pull %s %s type %d turn %d", con_name[con], agg_name[agg], (int)job.type,
                     turn);
            lacis_mul_gpu_pull pull = {&job, x.every, g.column.size(), first, count, present, value, 0};
            const lacis_mul_gpu_status status = lacis_mul_gpu_pull_run(&pull);
            if (status != LACIS_MUL_GPU_OK) {
                fail(what, -1, status, pull.cuda_error);
                continue;
            }
            const auto p = download<uint8_t>(present, count);
            const auto v = download<char>(value, count * storage_size(job.storage));
            for (int64_t r = first; r < g.rows; r++) {
                cell<T> c;
                const bool off = masks && (m.end[r] > m.begin[r]) == job.mask_not;
                for (int64_t i = g.begin[r]; i < g.end[r] && !off; i++) {
                    const uint32_t t = g.column[i];
                    if (x.end[t] > x.begin[t])
                        c.take(agg, con_of<T>((lacis_mul_con)con, valued ? gv[i] : (T)1, xv[x.begin[t]]));
                }
                if (p[r - first] != (c.n > 0)) fail(what, r, p[r - first], c.n > 0);
                if (c.n == 0 || !p[r - first]) continue;
                const double found = stored(v.data(), job.storage, r - first);
                if (!same(found, c.result(agg), slack_of<T>(job, c.size, job.ordered)))
                    fail(what, r, found, c.result(agg));
            }
        }
    drop(a);
    pool_free(NULL, (void *)b.begin), pool_free(NULL, (void *)b.end), pool_free(NULL, (void *)b.value);
    pool_free(NULL, (void *)mask.begin), pool_free(NULL, (void *)mask.end);
    pool_free(NULL, present), pool_free(NULL, value);
}

template <class T> static void check_push(u64 *state, const matrix &g, int turn)
{
    const bool wild = turn % 4 == 3, valued = turn % 5 != 4, masks = turn % 3 == 1;
    const int64_t skip = turn % 3; /* the row does not begin at 0 */
    std::vector<uint32_t> ac(skip), mc;
    for (int64_t c = 0; c < g.rows; c++)
        if (turn % 2 || next_random(state) % 4 == 0) ac.push_back((uint32_t)c);
    for (int64_t t = 0; t < g.cols; t++)
        if (next_random(state) % 2) mc.push_back((uint32_t)t);
    const int64_t n = (int64_t)ac.size() - skip;
    const std::vector<T> gv = make_values<T>(state, g.column.size(), wild),
                         av = make_values<T>(state, ac.size(), wild);
    u64 products = 0;
    for (int64_t e = skip; e < skip + n; e++)
        products += (u64)(g.end[ac[e]] - g.begin[ac[e]]);
    lacis_mul_matrix b = on_device(g, valued ? upload(gv) : NULL, kind<T>::type);
    uint32_t *columns = upload(ac), *mask_columns = upload(mc);
    T *values = upload(av);
    for (int con = 0; con <= 4; con++)
        for (lacis_mul_agg agg : aggs) {
            char what[100];
            lacis_mul_gpu_job job = make_job<T>(con, agg, turn);
            lacis_mul_matrix mask = {1, g.cols, NULL, NULL, mask_columns, NULL, LACIS_MUL_I64};
            job.ordered = false;
            job.a = {1, g.rows, NULL, NULL, columns, values, kind<T>::type};
            job.b = b;
            job.t_lo = turn % 4 == 2 ? g.cols / 5 : 0;
            job.t_hi = turn % 4 == 2 ? g.cols - g.cols / 7 : g.cols;
            if (masks) job.mask = &mask;
            job.mask_not = turn % 2;
            if (lacis_mul_gpu_push_refuses(&job)) continue;
            snprintf(what, sizeof what, "push %s %s type %d turn %d", con_name[con], agg_name[agg], (int)job.type,
                     turn);
            lacis_mul_gpu_push push = {&job, skip, skip + n, 0, (int64_t)mc.size(), products, NULL, NULL, 0, 0};
            const lacis_mul_gpu_status status = lacis_mul_gpu_push_run(&push);
            if (status != LACIS_MUL_GPU_OK) {
                fail(what, -1, status, push.cuda_error);
                continue;
            }
            std::vector<cell<T>> cells(g.cols);
            for (int64_t e = skip; e < skip + n; e++)
                for (int64_t i = g.begin[ac[e]]; i < g.end[ac[e]]; i++)
                    cells[g.column[i]].take(agg, con_of<T>((lacis_mul_con)con, av[e], valued ? gv[i] : (T)1));
            const auto fc = download<uint32_t>(push.column, push.entries);
            const auto fv = download<char>(push.value, push.entries * storage_size(job.storage));
            size_t at = 0;
            for (int64_t t = job.t_lo; t < job.t_hi; t++) {
                const bool in = std::binary_search(mc.begin(), mc.end(), (uint32_t)t);
                if (cells[t].n == 0 || (masks && in == job.mask_not)) continue;
                if (at >= fc.size() || fc[at] != t) {
                    fail(what, t, at < fc.size() ? (double)fc[at] : -1, (double)t);
                    break;
                }
                const double found = stored(fv.data(), job.storage, at++);
                if (!same(found, cells[t].result(agg), slack_of<T>(job, cells[t].size, false)))
                    fail(what, t, found, cells[t].result(agg));
            }
            if (at != fc.size()) fail(what, -2, (double)fc.size(), (double)at);
            if (push.column) pool_free(NULL, push.column);
            if (push.value) pool_free(NULL, push.value);
        }
    drop(b);
    pool_free(NULL, columns), pool_free(NULL, mask_columns), pool_free(NULL, values);
}

/* --- closures ------------------------------------------------------------------------------------------ */

struct rows_out {
    std::vector<int64_t> begin, end;
    std::vector<uint32_t> column;
    std::vector<char> value;
};

/* rounds 0: until nothing changes; push: one way, the other, 2: by turns, 3: in batches. *done: rounds. */
static bool run_closure(lacis_mul_gpu_closure *c, const lacis_mul_matrix &start, int64_t rounds, int push,
                        lacis_mul_con con, int64_t *done, rows_out *out)
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

static void check_rows_look(u64 *state, const matrix &g)
{
    std::vector<int64_t> v = make_values<int64_t>(state, g.column.size(), false);
    u64 most = 0, degree = 0;
    for (int64_t r = 0; r < g.rows; r++) {
        degree = std::max<u64>(degree, (u64)(g.end[r] - g.begin[r]));
        for (int64_t i = g.begin[r]; i < g.end[r]; i++)
            most = std::max<u64>(most, (u64)llabs(v[i]));
    }
    lacis_mul_matrix a = on_device(g, upload(v), LACIS_MUL_I64);
    lacis_mul_gpu_facts facts;
    if (lacis_mul_gpu_rows_look(&a, &pool, stream, &facts) != LACIS_MUL_GPU_OK) fail("look", -1, facts.cuda_error, 0);
    if (facts.entries != g.column.size()) fail("look entries", 0, (double)facts.entries, (double)g.column.size());
    if (facts.degree != degree || facts.most != most)
        fail("look most", (int64_t)degree, (double)facts.most, (double)most);
    float *f = (float *)pool_alloc(NULL, 4 * g.column.size());
    if (lacis_mul_gpu_convert(a.value, LACIS_MUL_TO_I64, g.column.size(), f, LACIS_MUL_TO_F32, stream))
        fail("convert", 0, 0, 0);
    const auto back = download<float>(f, g.column.size());
    for (size_t i = 0; i < back.size(); i++)
        if (back[i] != (float)v[i]) fail("convert", (int64_t)i, back[i], (double)v[i]);
    pool_free(NULL, f);
    drop(a);
}

template <class T> static void check_closures(u64 *state, const matrix &g, int turn)
{
    check_closure<T>(state, g, LACIS_MUL_CON_ADD, LACIS_MUL_MIN, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_B, LACIS_MUL_MAX, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_ONE, LACIS_MUL_MIN, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_ADD, LACIS_MUL_MAX, 4, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_A, LACIS_MUL_FIRST, 0, turn);
    check_closure<T>(state, g, LACIS_MUL_CON_ADD, LACIS_MUL_FIRST, 3, turn);
}

static int check(u64 seed)
{
    u64 state = seed;
    int turn = 0;
    for (int shape = 0; shape < 4; shape++)
        for (int size = 0; size < 3; size++) {
            static const int64_t rows[] = {37, 700, 9000}, cols[] = {61, 3000, 5000}, entries[] = {150, 9000, 120000};
            const matrix g = make_shape(&state, shape, rows[size], cols[size], entries[size]);
            for (int again = 0; again < (size == 2 ? 2 : 6); again++, turn++) {
                check_pull<int32_t>(&state, g, turn), check_pull<int64_t>(&state, g, turn + 1);
                check_pull<float>(&state, g, turn + 2), check_pull<double>(&state, g, turn + 3);
                check_push<int32_t>(&state, g, turn), check_push<int64_t>(&state, g, turn + 1);
                check_push<float>(&state, g, turn + 2), check_push<double>(&state, g, turn + 3);
            }
            check_rows_look(&state, g);
        }
    printf("vectors: %d failures\n", failures);
    for (int shape = 0; shape < 4; shape++)
        for (int size = 0; size < 3; size++, turn++) {
            static const int64_t rows[] = {40, 300, 2100}, entries[] = {100, 900, 9000};
            const matrix g = make_shape(&state, shape, rows[size], rows[size], entries[size]);
            check_closures<int64_t>(&state, g, turn);
            check_closures<float>(&state, g, turn + 3);
            if (size < 2) check_closures<double>(&state, g, turn), check_closures<int32_t>(&state, g, turn + 1);
        }
    printf("all: %d failures\n", failures);
    return failures != 0;
}

/* --- bench ---------------------------------------------------------------------------------------------- */

static int runs = 23; /* of which the first three do not count */

/* `each` calls one behind the other are timed together. */
template <class F> static double median_us(F f, int each = 1)
{
    std::vector<double> t;
    cudaEvent_t from, to;
    CUDA(cudaEventCreate(&from));
    CUDA(cudaEventCreate(&to));
    for (int i = 0; i < runs; i++) {
        float ms;
        CUDA(cudaEventRecord(from, stream));
        for (int k = 0; k < each; k++)
            f();
        CUDA(cudaEventRecord(to, stream));
        CUDA(cudaEventSynchronize(to));
        CUDA(cudaEventElapsedTime(&ms, from, to));
        if (i >= 3) t.push_back(ms * 1e3 / each);
    }
    CUDA(cudaEventDestroy(from));
    CUDA(cudaEventDestroy(to));
    std::sort(t.begin(), t.end());
    return t[t.size() / 2];
}

#ifdef WITH_CUSPARSE
#define PEER(name) decltype(&name) f_##name = (decltype(&name))dlsym(library, #name)
static double peer_us(const matrix &g, const lacis_mul_matrix &a, const float *x, float *y)
{
    void *library = dlopen("libcusparse.so.12", RTLD_NOW);
    if (!library) library = dlopen("libcusparse.so", RTLD_NOW);
    if (!library) return NAN;
    PEER(cusparseCreate);
    PEER(cusparseSetStream);
    PEER(cusparseCreateCsr);
    PEER(cusparseCreateDnVec);
    PEER(cusparseSpMV_bufferSize);
    PEER(cusparseSpMV);
    PEER(cusparseSpMV_preprocess);
    std::vector<int> offset(g.begin.begin(), g.begin.end());
    offset.push_back((int)g.column.size());
    int *offsets = upload(offset);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t matrix;
    cusparseDnVecDescr_t vx, vy;
    float one = 1, zero = 0;
    size_t bytes = 0;
    f_cusparseCreate(&handle);
    f_cusparseSetStream(handle, stream);
    f_cusparseCreateCsr(&matrix, g.rows, g.cols, (int64_t)g.column.size(), offsets, (void *)a.column, (void *)a.value,
                        CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    f_cusparseCreateDnVec(&vx, g.cols, (void *)x, CUDA_R_32F);
    f_cusparseCreateDnVec(&vy, g.rows, y, CUDA_R_32F);
    double best = INFINITY;
    for (cusparseSpMVAlg_t alg : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
        f_cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero, vy, CUDA_R_32F,
                                  alg, &bytes);
        void *buffer = pool_alloc(NULL, bytes);
        if (f_cusparseSpMV_preprocess)
            f_cusparseSpMV_preprocess(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero, vy,
                                      CUDA_R_32F, alg, buffer);
        const double t = median_us([&] {
            f_cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, vx, &zero, vy, CUDA_R_32F, alg,
                           buffer);
        });
        if (t < best) best = t;
    }
    return best;
}
#else
static double peer_us(const matrix &, const lacis_mul_matrix &, const float *, float *)
{
    return NAN;
}
#endif

static double now_us()
{
    return (double)std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
               .count() *
           1e-3;
}

template <class T>
static void bench_closure(const char *what, const matrix &g, const lacis_mul_matrix &a, lacis_mul_con con,
                          lacis_mul_agg agg, int64_t sources, int push)
{
    std::vector<int64_t> sb, se;
    for (int64_t r = 0; r < g.rows && (int64_t)sb.size() < sources; r++)
        if (g.end[r] - g.begin[r] > 8) sb.push_back(g.begin[r]), se.push_back(g.end[r]);
    const int64_t n = (int64_t)sb.size();
    const lacis_mul_matrix start = {n, g.cols, upload(sb), upload(se), a.column, a.value, kind<T>::type};
    double best = INFINITY;
    int64_t done = 0;
    void *pinned;
    CUDA(cudaMallocHost(&pinned, 4096));
    for (int i = 0; i < (runs > 5 ? 5 : 1); i++) {
        lacis_mul_gpu_closure c = {n, a, g.column.size(), con, agg, kind<T>::type, stream, pinned, pool, NULL, 0, 0,
                                   0, 0};
        const double since = now_us();
        if (!run_closure(&c, start, 0, push, con, &done, NULL)) printf("failed %d\n", c.cuda_error);
        CUDA(cudaStreamSynchronize(stream));
        best = std::min(best, now_us() - since);
    }
    CUDA(cudaFreeHost(pinned));
    printf("  %-34s %s %5lld sources %3lld rounds %10.1f us, %.1f a round\n", what, push ? "push   " : "product",
           (long long)n, (long long)done, best, best / (double)done);
}

static void bench(int scale)
{
    const matrix g = make_rmat(scale);
    u64 state = 7;
    const size_t nnz = g.column.size();
    std::vector<float> gv = make_values<float>(&state, nnz, false), xv = make_values<float>(&state, g.cols, false);
    for (float &v : gv)
        v = fabsf(v);
    lacis_mul_matrix a = on_device(g, upload(gv), LACIS_MUL_F32);
    float *x = upload(xv), *y = (float *)pool_alloc(NULL, g.rows * 4);
    uint8_t *present = (uint8_t *)pool_alloc(NULL, g.rows);
    const double bytes = (double)nnz * 8 + (double)g.rows * 16 + (double)g.rows * 9;
    printf("rmat %d: %lld rows, %zu entries; floor of pull %.2f us at 4.3 TB/s\n", scale, (long long)g.rows, nnz,
           bytes / 4.3e6);
    for (int ordered = 0; ordered < 2; ordered++) {
        lacis_mul_gpu_job job = make_job<float>(LACIS_MUL_CON_MUL, LACIS_MUL_SUM, ordered);
        job.a = a;
        job.b = {g.cols, 1, NULL, NULL, NULL, x, LACIS_MUL_F32};
        lacis_mul_gpu_pull pull = {&job, true, nnz, 0, g.rows, present, y, 0};
        const double alone = median_us([&] { lacis_mul_gpu_pull_run(&pull); });
        printf("  pull f32 sum%s %.1f us, %.1f in a row of 20\n", ordered ? " ordered" : "", alone,
               median_us([&] { lacis_mul_gpu_pull_run(&pull); }, runs > 5 ? 20 : 1));
    }
    printf("  cuSPARSE SpMV f32 (best of two) %.1f us\n", peer_us(g, a, x, y));
    for (int every = 1; every <= 64; every *= 8) {
        std::vector<uint32_t> ac;
        u64 products = 0;
        for (int64_t c = 0; c < g.rows; c += every)
            ac.push_back((uint32_t)c), products += (u64)(g.end[c] - g.begin[c]);
        uint32_t *columns = upload(ac);
        for (lacis_mul_agg agg : {LACIS_MUL_COUNT, LACIS_MUL_SUM, LACIS_MUL_MIN}) {
            lacis_mul_gpu_job job = make_job<float>(LACIS_MUL_CON_MUL, agg, 0);
            if (agg == LACIS_MUL_COUNT) job.storage = LACIS_MUL_TO_U32;
            job.a = {1, g.rows, NULL, NULL, columns, x, LACIS_MUL_F32};
            job.b = a;
            job.t_hi = g.cols;
            lacis_mul_gpu_push push = {&job, 0, (int64_t)ac.size(), 0, 0, products, NULL, NULL, 0, 0};
            const double t = median_us([&] {
                lacis_mul_gpu_push_run(&push);
                pool_free(NULL, push.column);
                pool_free(NULL, push.value);
            });
            printf("  push f32 %s 1 in %d: %llu products %.1f us, %.1f G/s\n", agg_name[agg], every,
                   (unsigned long long)products, t, (double)products * 1e-3 / t);
        }
        pool_free(NULL, columns);
    }
    lacis_mul_matrix plain = a;
    plain.value = NULL;
    for (int push : {3, 1, 0})
        for (int64_t sources = 1; sources <= (push == 3 ? 1 : 1024); sources *= 32) {
            plain.type = LACIS_MUL_I32;
            bench_closure<int32_t>("reachability", g, plain, LACIS_MUL_CON_ONE, LACIS_MUL_MIN, sources, push);
            bench_closure<float>("shortest paths f32 min-plus", g, a, LACIS_MUL_CON_ADD, LACIS_MUL_MIN, sources,
                                 push);
        }
    drop(a);
    pool_free(NULL, x), pool_free(NULL, y), pool_free(NULL, present);
    CUDA(cudaStreamSynchronize(stream));
}

int main(int argc, char **argv)
{
    if (argc < 2) return 2;
    cudaMemPool_t device_pool;
    u64 keep = ~0ull;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaDeviceGetDefaultMemPool(&device_pool, 0));
    CUDA(cudaMemPoolSetAttribute(device_pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (strcmp(argv[1], "check") == 0) return check(argc > 2 ? (u64)atoll(argv[2]) : 1);
    if (strcmp(argv[1], "once") == 0) runs = 4;
    for (int i = 2; i < argc; i++)
        bench(atoi(argv[i]));
    return 0;
}
