/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of vector_gpu share: device memory, operands, single cells of the reference, comparisons.
 */
#ifndef LACIS_TESTS_VECTOR_SUPPORT_H
#define LACIS_TESTS_VECTOR_SUPPORT_H

#include "multiply/gpu_closure.h"
#include "multiply/gpu_vector.h"
#include "support.h"

#include <algorithm>
#include <cmath>
#include <cstring>

/* --- device memory --------------------------------------------------------------------------------- */

static inline void *pool_alloc(void *, uint64_t bytes)
{
    void *p = NULL;
    return cudaMallocAsync(&p, bytes + 1, stream) == cudaSuccess ? p : NULL;
}
static inline void pool_free(void *, void *p)
{
    cudaFreeAsync(p, stream);
}
static const lacis_mul_gpu_memory pool = {pool_alloc, pool_free, NULL, NULL};

template <class V> static inline V *upload(const std::vector<V> &v)
{
    V *p = (V *)pool_alloc(NULL, v.size() * sizeof(V));
    if (!v.empty()) CUDA(cudaMemcpyAsync(p, v.data(), v.size() * sizeof(V), cudaMemcpyHostToDevice, stream));
    CUDA(cudaStreamSynchronize(stream));
    return p;
}

template <class V> static inline std::vector<V> download(const void *p, size_t n)
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

static inline matrix from_keys(std::vector<u64> &key, int64_t rows, int64_t cols)
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
static inline matrix make_shape(u64 *state, int shape, int64_t rows, int64_t cols, int64_t entries)
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

static inline matrix make_rmat(int scale)
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

template <class T> static inline std::vector<T> make_values(u64 *state, size_t n, bool wild)
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

static inline lacis_mul_matrix on_device(const matrix &m, const void *value, lacis_mul_type type)
{
    return {m.rows, m.cols, upload(m.begin), upload(m.end), upload(m.column), value, type};
}

static inline void drop(const lacis_mul_matrix &m)
{
    pool_free(NULL, (void *)m.begin);
    pool_free(NULL, (void *)m.end);
    pool_free(NULL, (void *)m.column);
    if (m.value) pool_free(NULL, (void *)m.value);
}

/* --- reference ---------------------------------------------------------------------------------------- */

template <class T> static inline T con_of(lacis_mul_con con, T a, T b)
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

static inline double stored(const void *value, lacis_mul_storage storage, size_t i)
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

static inline bool same(double x, double y, double slack)
{
    return (x != x && y != y) || x == y || fabs(x - y) <= slack;
}

static inline void fail(const char *what, int64_t at, double found, double expected)
{
    if (failures++ < 12) printf("FAIL %s at %lld: %.17g, expected %.17g\n", what, (long long)at, found, expected);
}

static const char *const con_name[] = {"1", "a", "b", "a+b", "a*b"};
static const char *const agg_name[] = {"count", "sum", "min", "max", "first", "last", "avg"};
static const lacis_mul_agg aggs[] = {LACIS_MUL_COUNT, LACIS_MUL_SUM,  LACIS_MUL_MIN, LACIS_MUL_MAX,
                                     LACIS_MUL_FIRST, LACIS_MUL_LAST, LACIS_MUL_AVG};

template <class T> static inline lacis_mul_gpu_job make_job(int con, lacis_mul_agg agg, int turn)
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

static inline size_t storage_size(lacis_mul_storage storage)
{
    static const size_t size[] = {1, 2, 4, 4, 8, 4, 8};
    return size[storage];
}

struct rows_out {
    std::vector<int64_t> begin, end;
    std::vector<uint32_t> column;
    std::vector<char> value;
};

/* vector_against.cu: vectors against the grain of a graph's rows. */
void check_against(u64 *state, const matrix &g, int turn);
/* vector_top.cu */
void check_top(u64 *state, bool few);

/* vector_closure.cu. rounds 0: until nothing changes; push: one way, the other, 2: by turns, 3: in batches. *done:
 * rounds. */
bool run_closure(lacis_mul_gpu_closure *c, const lacis_mul_matrix &start, int64_t rounds, int push, lacis_mul_con con,
                 int64_t *done, rows_out *out);
int check_closures(u64 *state);
void check_few_closures(u64 *state);
/* vector_bench.cu: a few runs or many; with searches */
void bench(int scale, bool closures, int runs_of_each);

#endif
