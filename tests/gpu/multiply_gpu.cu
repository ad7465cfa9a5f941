/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks the GPU kernels of MULTIPLY against a plain reference, and times them against cuSPARSE.
 *
 *     multiply_gpu check [SEED]            random shapes, all types and operators, every class forced
 *     multiply_gpu small                   a few small cases: for compute-sanitizer
 *     multiply_gpu bench GRAPH...          rmat:S (labels permuted), rmat-raw:S, uniform:S
 *     multiply_gpu cusparse GRAPH...       the same product by cuSPARSE
 *
 * Exit code 0: every comparison agreed.
 */
#include "multiply/gpu.h"

#include <cuda_runtime.h>
#ifdef WITH_CUSPARSE
#include <cusparse.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
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
typedef std::vector<uint32_t> columns;

static u64 next_random(u64 *state)
{
    *state += 0x9e3779b97f4a7c15u;
    u64 z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* --- matrices ---------------------------------------------------------------------------------------- */

struct matrix {
    int64_t rows = 0, cols = 0;
    std::vector<int64_t> begin, end;
    columns column;
    std::vector<char> value; /* of `type` */
    bool valued = false;
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

static matrix make_graph(const char *name)
{
    int scale = 0;
    u64 state = 1;
    const bool raw = sscanf(name, "rmat-raw:%d", &scale) == 1, rmat = raw || sscanf(name, "rmat:%d", &scale) == 1;
    if (!rmat && sscanf(name, "uniform:%d", &scale) != 1) {
        printf("%s: not a graph\n", name);
        exit(2);
    }
    const int64_t n = (int64_t)1 << scale, edges = n * (rmat ? 16 : 8);
    std::vector<u64> key(edges);
    for (int64_t i = 0; i < edges; i++) {
        if (!rmat) {
            key[i] = (u64)(i / 8) << 32 | (next_random(&state) & (n - 1));
            continue;
        }
        u64 row = 0, col = 0;
        for (int k = 0; k < scale; k++) {
            const double p = (double)(next_random(&state) >> 11) * 0x1p-53;
            row = row << 1 | (p >= 0.76);
            col = col << 1 | ((p >= 0.57 && p < 0.76) || p >= 0.95);
        }
        key[i] = row << 32 | col;
    }
    if (rmat && !raw) {
        columns place(n);
        for (int64_t i = 0; i < n; i++)
            place[i] = (uint32_t)i;
        for (int64_t i = n - 1; i > 0; i--)
            std::swap(place[i], place[next_random(&state) % (u64)(i + 1)]);
        for (u64 &k : key)
            k = (u64)place[k >> 32] << 32 | place[k & UINT32_MAX];
    }
    return from_keys(key, n, n);
}

/* Shapes for checks: 0 uniform, 1 power law, 2 one hub row and column, 3 all dense, 4 many empty rows. */
static matrix make_shape(u64 *state, int shape, int64_t rows, int64_t cols, int64_t entries)
{
    std::vector<u64> key;
    if (shape == 3) {
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++)
                key.push_back((u64)r << 32 | (u64)c);
        return from_keys(key, rows, cols);
    }
    for (int64_t i = 0; i < entries && rows && cols; i++) {
        double x = (double)(next_random(state) >> 11) * 0x1p-53, y = (double)(next_random(state) >> 11) * 0x1p-53;
        if (shape == 1) x = pow(x, 4), y = pow(y, 4);
        if (shape == 4) x = floor(x * 8) / 8;
        u64 r = std::min<u64>((u64)(x * rows), rows - 1), c = std::min<u64>((u64)(y * cols), cols - 1);
        if (shape == 2 && i % 3 == 0) r = rows / 2;
        if (shape == 2 && i % 3 == 1) c = cols / 3;
        key.push_back(r << 32 | c);
    }
    return from_keys(key, rows, cols);
}

static int type_bytes(lacis_mul_type t)
{
    return t == LACIS_MUL_I32 || t == LACIS_MUL_F32 ? 4 : 8;
}

/* Small integers, or any values (`wild`, with some NaN and zeros among floats). */
static void add_values(matrix &m, lacis_mul_type type, u64 *state, bool wild)
{
    const size_t n = m.column.size();
    m.valued = true;
    m.value.resize((n + 1) * type_bytes(type));
    for (size_t i = 0; i < n; i++) {
        const int64_t k = (int64_t)(next_random(state) % 2001) - 1000;
        const double d = wild ? (double)(int64_t)next_random(state) * 1e-15 : (double)k;
        const double x = wild && next_random(state) % 50 == 0 ? NAN : wild && next_random(state) % 50 == 0 ? -0.0 : d;
        if (type == LACIS_MUL_I32) ((int32_t *)m.value.data())[i] = (int32_t)(wild ? (int64_t)next_random(state) : k);
        if (type == LACIS_MUL_I64) ((int64_t *)m.value.data())[i] = wild ? (int64_t)next_random(state) : k << 20;
        if (type == LACIS_MUL_F32) ((float *)m.value.data())[i] = (float)x;
        if (type == LACIS_MUL_F64) ((double *)m.value.data())[i] = x;
    }
}

/* --- reference ---------------------------------------------------------------------------------------- */

struct result {
    columns column;
    std::vector<char> value;
};

static double plus(double x, double y)
{
    return x + y;
}
static float plus(float x, float y)
{
    return x + y;
}
static int32_t plus(int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)x + (uint32_t)y);
}
static int64_t plus(int64_t x, int64_t y)
{
    return (int64_t)((u64)x + (u64)y);
}
static double times(double x, double y)
{
    return x * y;
}
static float times(float x, float y)
{
    return x * y;
}
static int32_t times(int32_t x, int32_t y)
{
    return (int32_t)((uint32_t)x * (uint32_t)y);
}
static int64_t times(int64_t x, int64_t y)
{
    return (int64_t)((u64)x * (u64)y);
}

template <class T> static T con_of(lacis_mul_con con, T a, T b)
{
    return con == LACIS_MUL_CON_A     ? a
           : con == LACIS_MUL_CON_B   ? b
           : con == LACIS_MUL_CON_ADD ? plus(a, b)
           : con == LACIS_MUL_CON_MUL ? times(a, b)
                                      : (T)1;
}

template <class T> struct space {
    std::vector<T> x;
    std::vector<double> sum;
    std::vector<u64> count;
    explicit space(int64_t n) : x(n), sum(n), count(n)
    {
    }
};

template <class V> static void put_value(result &r, V v)
{
    const size_t at = r.value.size();
    r.value.resize(at + sizeof v);
    memcpy(r.value.data() + at, &v, sizeof v);
}

template <class T>
static void reference_row(const matrix &a, const matrix &b, const lacis_mul_gpu_job &job, int64_t row, space<T> &s,
                          result &out)
{
    const T *av = a.valued ? (const T *)a.value.data() : nullptr,
            *bv = b.valued ? (const T *)b.value.data() : nullptr;
    columns seen;
    for (int64_t i = a.begin[row]; i < a.end[row]; i++)
        for (int64_t j = b.begin[a.column[i]]; j < b.end[a.column[i]]; j++) {
            const uint32_t t = b.column[j];
            if (t < job.t_lo || t >= job.t_hi) continue;
            const T v = con_of<T>(job.con_kind, av ? av[i] : (T)1, bv ? bv[j] : (T)1);
            T &x = s.x[t];
            if (s.count[t]++ == 0) {
                seen.push_back(t);
                s.sum[t] = (double)v + 0.0;
                x = job.agg == LACIS_MUL_SUM ? plus(v, (T)0) : v;
                continue;
            }
            s.sum[t] += (double)v;
            if (job.agg == LACIS_MUL_SUM)
                x = plus(x, v);
            else if (job.agg == LACIS_MUL_LAST)
                x = v;
            else if (job.agg == LACIS_MUL_MIN)
                x = v != v ? x : x != x ? v : x < v ? x : v;
            else if (job.agg == LACIS_MUL_MAX)
                x = v != v ? x : x != x ? v : x > v ? x : v;
        }
    std::sort(seen.begin(), seen.end());
    for (uint32_t t : seen) {
        out.column.push_back(t);
        const u64 n = s.count[t];
        if (job.agg == LACIS_MUL_COUNT) {
            if (job.storage == LACIS_MUL_TO_U8)
                put_value(out, (uint8_t)n);
            else if (job.storage == LACIS_MUL_TO_U16)
                put_value(out, (uint16_t)n);
            else if (job.storage == LACIS_MUL_TO_U32)
                put_value(out, (uint32_t)n);
            else
                put_value(out, (int64_t)n);
        } else if (job.agg == LACIS_MUL_AVG)
            put_value(out, s.sum[t] / (double)n);
        else
            put_value(out, s.x[t]);
        s.count[t] = 0;
    }
}

static const matrix *mask_matrix;

/* MASK and TOP as they are defined, on one row of the reference. */
template <class V> static void filter_row(const lacis_mul_gpu_job &job, int64_t row, result &r)
{
    const size_t n = r.column.size();
    V *v = (V *)r.value.data();
    std::vector<size_t> keep;
    for (size_t i = 0; i < n; i++) {
        const bool hit =
            mask_matrix && std::binary_search(mask_matrix->column.begin() + mask_matrix->begin[row],
                                              mask_matrix->column.begin() + mask_matrix->end[row], r.column[i]);
        if (!mask_matrix || hit != job.mask_not) keep.push_back(i);
    }
    if (job.top > 0 && keep.size() > (size_t)job.top) {
        std::stable_sort(keep.begin(), keep.end(), [&](size_t x, size_t y) {
            const bool nx = v[x] != v[x], ny = v[y] != v[y];
            return nx || ny ? !nx && ny : v[x] > v[y];
        });
        keep.resize(job.top);
        std::sort(keep.begin(), keep.end());
    }
    for (size_t i = 0; i < keep.size(); i++) {
        r.column[i] = r.column[keep[i]];
        v[i] = v[keep[i]];
    }
    r.column.resize(keep.size());
    r.value.resize(keep.size() * sizeof(V));
}

static void filter(const lacis_mul_gpu_job &job, int64_t row, result &r)
{
    if (!job.mask && job.top <= 0) return;
    switch (job.storage) {
    case LACIS_MUL_TO_U8:
        return filter_row<uint8_t>(job, row, r);
    case LACIS_MUL_TO_U16:
        return filter_row<uint16_t>(job, row, r);
    case LACIS_MUL_TO_U32:
        return filter_row<uint32_t>(job, row, r);
    case LACIS_MUL_TO_I32:
        return filter_row<int32_t>(job, row, r);
    case LACIS_MUL_TO_I64:
        return filter_row<int64_t>(job, row, r);
    case LACIS_MUL_TO_F32:
        return filter_row<float>(job, row, r);
    case LACIS_MUL_TO_F64:
        return filter_row<double>(job, row, r);
    }
}

static void reference_rows(const matrix &a, const matrix &b, const lacis_mul_gpu_job &job,
                           const std::vector<int64_t> &rows, std::vector<result> &out)
{
    out.assign(rows.size(), result());
    std::atomic<size_t> next(0);
    auto work = [&](auto zero) {
        space<decltype(zero)> s(b.cols);
        for (size_t i; (i = next++) < rows.size();) {
            reference_row(a, b, job, rows[i], s, out[i]);
            filter(job, rows[i], out[i]);
        }
    };
    std::vector<std::thread> threads;
    const size_t most = rows.size() < 64 ? 1 : std::min(16u, std::thread::hardware_concurrency());
    for (size_t i = 0; i < most; i++)
        threads.emplace_back([&] {
            if (job.type == LACIS_MUL_I32) work((int32_t)0);
            if (job.type == LACIS_MUL_I64) work((int64_t)0);
            if (job.type == LACIS_MUL_F32) work(0.f);
            if (job.type == LACIS_MUL_F64) work(0.);
        });
    for (auto &t : threads)
        t.join();
}

/* --- device -------------------------------------------------------------------------------------------- */

static cudaStream_t stream, side[2];
static void *pinned;
static int64_t live; /* blocks that jobs hold */
static int64_t fail_at = -1, allocs;

static void *device_alloc(void *, uint64_t bytes)
{
    void *block = nullptr;
    if (allocs++ == fail_at) return nullptr;
    if (cudaMallocAsync(&block, bytes, stream) != cudaSuccess) {
        cudaGetLastError();
        return nullptr;
    }
    live++;
    return block;
}

static void device_free(void *, void *block)
{
    live--;
    CUDA(cudaFreeAsync(block, stream));
}

template <class T> static T *upload(const std::vector<T> &v)
{
    T *to;
    CUDA(cudaMalloc(&to, v.size() * sizeof(T) + 64));
    CUDA(cudaMemcpy(to, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

static lacis_mul_matrix to_device(const matrix &m, lacis_mul_type type)
{
    lacis_mul_matrix d = {m.rows, m.cols, upload(m.begin), upload(m.end), upload(m.column), nullptr, type};
    if (m.valued) d.value = upload(m.value);
    return d;
}

static void free_matrix(lacis_mul_matrix &d)
{
    cudaFree((void *)d.begin), cudaFree((void *)d.end), cudaFree((void *)d.column), cudaFree((void *)d.value);
}

static lacis_mul_gpu_job make_job(const lacis_mul_matrix &a, const lacis_mul_matrix &b)
{
    lacis_mul_gpu_job job = {};
    job.a = a;
    job.b = b;
    job.type = a.type;
    job.t_hi = b.cols;
    job.stream = stream;
    job.side[0] = side[0];
    job.side[1] = side[1];
    job.pinned = pinned;
    job.memory.alloc = device_alloc;
    job.memory.free = device_free;
    return job;
}

static int storage_bytes(lacis_mul_storage s)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[s];
}

static lacis_mul_storage storage_of(lacis_mul_type t)
{
    return (lacis_mul_storage)(LACIS_MUL_TO_I32 + (int)t);
}

/* Whether n values are the same; NaN equals NaN, -0 equals 0, floats may differ by `slack` relative. */
static bool same_values(const char *x, const char *y, size_t n, lacis_mul_storage storage)
{
    const int bytes = storage_bytes(storage);
    if (memcmp(x, y, n * bytes) == 0) return true;
    if (storage != LACIS_MUL_TO_F32 && storage != LACIS_MUL_TO_F64) return false;
    for (size_t i = 0; i < n; i++) {
        const double p = bytes == 4 ? ((const float *)x)[i] : ((const double *)x)[i];
        const double q = bytes == 4 ? ((const float *)y)[i] : ((const double *)y)[i];
        if (!(p == q || (p != p && q != q))) return false;
    }
    return true;
}

static void describe(const lacis_mul_gpu_job &job)
{
    static const char *const cons[] = {"one", "a", "b", "a+b", "a*b"};
    static const char *const aggs[] = {"count", "sum", "min", "max", "first", "last", "avg"};
    static const char *const types[] = {"i32", "i64", "f32", "f64"};
    printf("  top %lld mask %d%d", (long long)job.top, job.mask != nullptr, job.mask_not);
    printf("  %s %s %s storage %d force %s ordered %d compact %d t [%lld, %lld) %lldx%lldx%lld\n", types[job.type],
           cons[job.con_kind], aggs[job.agg], job.storage, lacis_mul_gpu_class_name[job.force], job.ordered,
           job.compact, (long long)job.t_lo, (long long)job.t_hi, (long long)job.a.rows, (long long)job.b.rows,
           (long long)job.b.cols);
}

/* Runs a job and compares the listed rows (all where the list is empty). */
static bool check_job(const matrix &a, const matrix &b, lacis_mul_gpu_job job, const std::vector<int64_t> &rows,
                      int64_t first, int64_t count, const std::vector<int64_t> *compare = nullptr)
{
    int64_t *begin, *end, *list = nullptr;
    CUDA(cudaMalloc(&begin, (a.rows + 1) * 8));
    CUDA(cudaMalloc(&end, (a.rows + 1) * 8));
    CUDA(cudaMemset(begin, 0xee, (a.rows + 1) * 8));
    CUDA(cudaMemset(end, 0xee, (a.rows + 1) * 8));
    if (!rows.empty()) {
        list = upload(rows);
        count = (int64_t)rows.size();
        first = 0;
    }
    lacis_mul_gpu_output out = {};
    out.begin = begin;
    out.end = end;
    const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, list, first, count, &out);
    bool good = status == LACIS_MUL_GPU_OK;
    if (!good) printf("status %d cuda %s\n", status, cudaGetErrorString((cudaError_t)out.cuda_error));
    std::vector<int64_t> hb(a.rows), he(a.rows), want;
    columns hc(out.room);
    const int bytes = storage_bytes(job.storage);
    std::vector<char> hv;
    if (good) {
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(hb.data(), begin, a.rows * 8, cudaMemcpyDeviceToHost));
        CUDA(cudaMemcpy(he.data(), end, a.rows * 8, cudaMemcpyDeviceToHost));
        if (!compare) {
            hv.resize(out.room * bytes);
            if (out.column) CUDA(cudaMemcpy(hc.data(), out.column, out.room * 4, cudaMemcpyDeviceToHost));
            if (out.value) CUDA(cudaMemcpy(hv.data(), out.value, out.room * bytes, cudaMemcpyDeviceToHost));
        }
        if (compare)
            want = *compare;
        else if (!rows.empty())
            want = rows;
        else
            for (int64_t r = first; r < first + count; r++)
                want.push_back(r);
        std::vector<result> ref;
        reference_rows(a, b, job, want, ref);
        u64 entries = 0;
        int64_t previous = 0;
        int complaints = 0;
        for (size_t i = 0; i < want.size() && complaints < 3; i++) {
            const int64_t r = want[i];
            const result &x = ref[i];
            const size_t n = x.column.size();
            entries += n;
            columns rc;
            std::vector<char> rv;
            const uint32_t *gc = hc.data() + hb[r];
            const char *gv = hv.data() + hb[r] * bytes;
            bool ok = he[r] - hb[r] == (int64_t)n && hb[r] >= 0 && he[r] <= (int64_t)out.room;
            if (ok && compare && n) {
                rc.resize(n);
                rv.resize(n * bytes);
                CUDA(cudaMemcpy(rc.data(), out.column + hb[r], n * 4, cudaMemcpyDeviceToHost));
                CUDA(cudaMemcpy(rv.data(), (char *)out.value + hb[r] * bytes, n * bytes, cudaMemcpyDeviceToHost));
                gc = rc.data();
                gv = rv.data();
            }
            if (ok && (job.compact || job.mask || job.top > 0) && !compare) ok = hb[r] == previous;
            previous = he[r];
            if (ok) ok = memcmp(gc, x.column.data(), n * 4) == 0 && same_values(gv, x.value.data(), n, job.storage);
            if (!ok) {
                complaints++;
                printf("row %lld: %lld entries at %lld, expected %zu\n", (long long)r, (long long)(he[r] - hb[r]),
                       (long long)hb[r], n);
                for (size_t k = 0, shown = 0; he[r] - hb[r] == (int64_t)n && k < n && shown < 3; k++)
                    if (gc[k] != x.column[k] ||
                        !same_values(gv + k * bytes, x.value.data() + k * bytes, 1, job.storage)) {
                        shown++;
                        u64 g = 0, w = 0;
                        memcpy(&g, gv + k * bytes, bytes), memcpy(&w, x.value.data() + k * bytes, bytes);
                        printf("    entry %zu: column %u value %llx, expected %u %llx\n", k, gc[k], (long long)g,
                               x.column[k], (long long)w);
                    }
                good = false;
            }
        }
        if (!compare && entries != out.entries) {
            printf("entries %llu, expected %llu\n", (long long)out.entries, (long long)entries);
            good = false;
        }
    }
    if (!good) describe(job);
    if (out.column) device_free(nullptr, out.column);
    if (out.value) device_free(nullptr, out.value);
    cudaFree(begin), cudaFree(end), cudaFree(list);
    if (live != 0) {
        printf("%lld blocks were not freed\n", (long long)live);
        live = 0;
        good = false;
    }
    return good;
}

/* --- checks -------------------------------------------------------------------------------------------- */

static int failures, cases;

static void expect(bool good)
{
    cases++;
    if (!good) failures++;
    if (failures > 20) {
        printf("too many failures\n");
        exit(1);
    }
}

/* All operators of one pair of shapes and one type. */
static void check_pair(matrix a, matrix b, lacis_mul_type type, u64 *state, bool brief)
{
    const bool real = type == LACIS_MUL_F32 || type == LACIS_MUL_F64;
    for (int wild = 0; wild < 2; wild++) {
        add_values(a, type, state, wild);
        add_values(b, type, state, wild);
        lacis_mul_matrix da = to_device(a, type), db = to_device(b, type);
        const matrix mask = make_shape(state, 1, a.rows, b.cols, 4 * a.rows);
        lacis_mul_matrix dm = to_device(mask, type);
        for (int agg = LACIS_MUL_COUNT; agg <= LACIS_MUL_AVG; agg++)
            for (int con = 0; con <= LACIS_MUL_CON_MUL; con++) {
                if (brief && next_random(state) % 4) continue;
                if (agg == LACIS_MUL_COUNT && con) continue;
                lacis_mul_gpu_job job = make_job(da, db);
                job.con_kind = (lacis_mul_con)con;
                job.agg = (lacis_mul_agg)agg;
                job.storage = storage_of(type);
                if (agg == LACIS_MUL_COUNT) {
                    static const lacis_mul_storage s[] = {LACIS_MUL_TO_U8, LACIS_MUL_TO_U16, LACIS_MUL_TO_U32,
                                                          LACIS_MUL_TO_I64};
                    job.storage = s[next_random(state) % 4];
                }
                if (agg == LACIS_MUL_AVG) job.storage = LACIS_MUL_TO_F64;
                job.ordered = wild || next_random(state) % 2;
                if (real && !job.ordered && agg == LACIS_MUL_SUM && con == LACIS_MUL_CON_MUL && type == LACIS_MUL_F32)
                    job.ordered = b.rows > 15; /* sums beyond 2^24 */
                static const lacis_mul_gpu_class force[] = {LACIS_MUL_GPU_EMPTY, LACIS_MUL_GPU_TINY,
                                                            LACIS_MUL_GPU_MIDDLE, LACIS_MUL_GPU_DENSE};
                job.force = force[next_random(state) % 4];
                job.compact = next_random(state) % 2;
                job.timed = next_random(state) % 4 == 0;
                if (next_random(state) % 4 == 0) job.side[0] = job.side[1] = nullptr;
                if (next_random(state) % 4 == 0 && b.cols > 3) {
                    job.t_lo = (int64_t)(next_random(state) % (u64)b.cols);
                    job.t_hi = job.t_lo + (int64_t)(next_random(state) % (u64)(b.cols - job.t_lo + 1));
                }
                mask_matrix = nullptr;
                if (next_random(state) % 4 == 0) {
                    job.mask = &dm;
                    job.mask_not = next_random(state) % 2;
                    mask_matrix = &mask;
                }
                if (next_random(state) % 4 == 0) job.top = 1 + (int64_t)(next_random(state) % 20);
                std::vector<int64_t> rows;
                int64_t first = 0, count = a.rows;
                const u64 pick = next_random(state) % 3;
                if (pick == 0)
                    for (int64_t r = 0; r < a.rows; r++)
                        if (next_random(state) % 3 == 0) rows.push_back(r);
                if (pick == 1 && a.rows > 2) first = a.rows / 3, count = a.rows / 2;
                expect(check_job(a, b, job, rows, first, count));
            }
        mask_matrix = nullptr;
        free_matrix(da), free_matrix(db), free_matrix(dm);
    }
}

static void check_random(u64 seed, int rounds, int64_t most)
{
    u64 state = seed;
    for (int round = 0; round < rounds; round++) {
        static const int64_t sizes[] = {1, 2, 7, 33, 64, 200, 1000, 3000, 20000};
        int64_t n[3];
        for (int i = 0; i < 3; i++)
            n[i] = std::min(most, sizes[next_random(&state) % 9]);
        if (next_random(&state) % 2) n[1] = n[2] = n[0];
        int shape[2];
        for (int i = 0; i < 2; i++) {
            shape[i] = (int)(next_random(&state) % 5);
            if (shape[i] == 3 && n[i] * n[i + 1] > 40000) shape[i] = 1;
        }
        const int64_t per = 1 + (int64_t)(next_random(&state) % 20);
        matrix a = make_shape(&state, shape[0], n[0], n[1], std::min<int64_t>(n[0] * per, 60000));
        matrix b = make_shape(&state, shape[1], n[1], n[2], std::min<int64_t>(n[1] * per, 60000));
        u64 products = 0;
        for (uint32_t c : a.column)
            products += b.end[c] - b.begin[c];
        if (products > 8000000) continue;
        check_pair(a, b, (lacis_mul_type)(round % 4), &state, true);
    }
}

/* A wide matrix: windows of bitmaps, wide keys, more entries than cells. */
static void check_wide(u64 seed)
{
    u64 state = seed;
    matrix a = make_shape(&state, 2, 300, 4000, 6000);
    matrix b = make_shape(&state, 0, 4000, 3000000, 60000);
    for (int type = 0; type < 4; type++)
        check_pair(a, b, (lacis_mul_type)type, &state, true);
    matrix wide = make_shape(&state, 0, 4000, (int64_t)1 << 28, 60000);
    matrix thin = make_shape(&state, 0, 2000, 4000, 6000);
    thin.valued = wide.valued = false;
    lacis_mul_matrix da = to_device(thin, LACIS_MUL_I32), db = to_device(wide, LACIS_MUL_I32);
    lacis_mul_gpu_job job = make_job(da, db);
    job.agg = LACIS_MUL_COUNT;
    job.storage = LACIS_MUL_TO_U32;
    expect(check_job(thin, wide, job, {}, 0, thin.rows));
    free_matrix(da), free_matrix(db);
}

static void check_faults()
{
    u64 state = 5;
    matrix a = make_shape(&state, 1, 3000, 3000, 60000);
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    for (int64_t at = 0; at < 16; at++) {
        lacis_mul_gpu_job job = make_job(da, da);
        job.con_kind = LACIS_MUL_CON_MUL;
        job.agg = LACIS_MUL_SUM;
        job.storage = LACIS_MUL_TO_F32;
        job.compact = true;
        lacis_mul_gpu_output out = {};
        CUDA(cudaMalloc(&out.begin, 3000 * 8));
        CUDA(cudaMalloc(&out.end, 3000 * 8));
        allocs = 0;
        fail_at = at;
        const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, 3000, &out);
        fail_at = -1;
        const bool reached = allocs > at;
        expect(status == LACIS_MUL_GPU_OK || (reached && status == LACIS_MUL_GPU_NO_MEMORY && live == 0));
        if (out.column) device_free(nullptr, out.column);
        if (out.value) device_free(nullptr, out.value);
        expect(live == 0);
        cudaFree(out.begin), cudaFree(out.end);
    }
    lacis_mul_gpu_job job = make_job(da, da);
    job.agg = LACIS_MUL_COUNT;
    job.storage = LACIS_MUL_TO_U32;
    job.room = 100;
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, 3000 * 8));
    CUDA(cudaMalloc(&out.end, 3000 * 8));
    expect(lacis_mul_gpu_run(&job, nullptr, 0, 3000, &out) == LACIS_MUL_GPU_ROOM && out.room > 100 && live == 0);
    cudaFree(out.begin), cudaFree(out.end);
    free_matrix(da);
}

static void check_overflow()
{
    u64 state = 9;
    matrix a = make_shape(&state, 3, 40, 40, 0);
    add_values(a, LACIS_MUL_I64, &state, true);
    lacis_mul_matrix da = to_device(a, LACIS_MUL_I64);
    lacis_mul_gpu_job job = make_job(da, da);
    job.con_kind = LACIS_MUL_CON_MUL;
    job.agg = LACIS_MUL_SUM;
    job.storage = LACIS_MUL_TO_I64;
    job.checked = true;
    lacis_mul_gpu_output out = {};
    CUDA(cudaMalloc(&out.begin, 3000 * 8));
    CUDA(cudaMalloc(&out.end, 3000 * 8));
    expect(lacis_mul_gpu_run(&job, nullptr, 0, 40, &out) == LACIS_MUL_GPU_OVERFLOW && live == 0);
    cudaFree(out.begin), cudaFree(out.end);
    free_matrix(da);
}

/* --- timing -------------------------------------------------------------------------------------------- */

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

struct semiring {
    const char *name;
    lacis_mul_con con;
    lacis_mul_agg agg;
    lacis_mul_storage storage;
    bool ordered;
};

static void bench(const char *name, int repeats)
{
    matrix a = make_graph(name);
    u64 state = 7;
    add_values(a, LACIS_MUL_F32, &state, false);
    for (size_t i = 0; i < a.column.size(); i++) /* sums stay exact below 2^24 */
        ((float *)a.value.data())[i] = (float)(1 + (int)(next_random(&state) % 3));
    lacis_mul_matrix da = to_device(a, LACIS_MUL_F32);
    int64_t *begin, *end;
    CUDA(cudaMalloc(&begin, a.rows * 8));
    CUDA(cudaMalloc(&end, a.rows * 8));
    static const semiring rings[] = {{"count", LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_TO_U32, false},
                                     {"count16", LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_TO_U16, false},
                                     {"f32", LACIS_MUL_CON_MUL, LACIS_MUL_SUM, LACIS_MUL_TO_F32, false},
                                     {"min", LACIS_MUL_CON_ADD, LACIS_MUL_MIN, LACIS_MUL_TO_F32, false},
                                     {"f32-ord", LACIS_MUL_CON_MUL, LACIS_MUL_SUM, LACIS_MUL_TO_F32, true},
                                     {"top10", LACIS_MUL_CON_ONE, LACIS_MUL_COUNT, LACIS_MUL_TO_U32, false}};
    for (const semiring &r : rings) {
        lacis_mul_gpu_job job = make_job(da, da);
        job.con_kind = r.con;
        job.agg = r.agg;
        job.storage = r.storage;
        job.ordered = r.ordered;
        job.top = strcmp(r.name, "top10") == 0 ? 10 : 0;
        std::vector<double> host, device;
        lacis_mul_gpu_output out = {};
        cudaEvent_t x, y;
        CUDA(cudaEventCreate(&x));
        CUDA(cudaEventCreate(&y));
        lacis_mul_gpu_output shown = {};
        for (int i = 0; i < repeats + 3; i++) {
            job.timed = i == repeats + 2;
            out.begin = begin;
            out.end = end;
            CUDA(cudaStreamSynchronize(stream));
            const auto t0 = std::chrono::steady_clock::now();
            CUDA(cudaEventRecord(x, stream));
            const lacis_mul_gpu_status status = lacis_mul_gpu_run(&job, nullptr, 0, a.rows, &out);
            CUDA(cudaEventRecord(y, stream));
            CUDA(cudaStreamSynchronize(stream));
            const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
            float ms = 0;
            CUDA(cudaEventElapsedTime(&ms, x, y));
            if (status != LACIS_MUL_GPU_OK) {
                printf("%s %s: status %d %s\n", name, r.name, status,
                       cudaGetErrorString((cudaError_t)out.cuda_error));
                exit(1);
            }
            if (i >= 2 && !job.timed) host.push_back(s * 1e3), device.push_back(ms);
            if (job.timed) shown = out;
            if (out.column) device_free(nullptr, out.column);
            if (out.value) device_free(nullptr, out.value);
        }
        std::vector<int64_t> some;
        u64 pick = 11;
        for (int i = 0; i < 1000; i++)
            some.push_back((int64_t)(next_random(&pick) % (u64)a.rows));
        std::sort(some.begin(), some.end());
        some.erase(std::unique(some.begin(), some.end()), some.end());
        job.timed = false;
        expect(check_job(a, a, job, {}, 0, a.rows, &some));
        const double ms = median(device);
        printf("%-12s %-8s %8.3f ms (host %8.3f) %6.1f Gprod/s  %llu products %llu entries room %llu |", name, r.name,
               ms, median(host), (double)shown.products / ms * 1e-6, (long long)shown.products,
               (long long)shown.entries, (long long)shown.room);
        for (int c = 1; c < LACIS_MUL_GPU_CLASSES; c++)
            if (shown.class_rows[c])
                printf(" %s %llu rows %.1f%% %.3f ms", lacis_mul_gpu_class_name[c], (long long)shown.class_rows[c],
                       100.0 * (double)shown.class_products[c] / (double)shown.products,
                       shown.class_seconds[c] * 1e3);
        printf("\n");
        fflush(stdout);
    }
    free_matrix(da);
    cudaFree(begin), cudaFree(end);
}

#ifdef WITH_CUSPARSE
#define SPARSE(call)                                                                                                 \
    do {                                                                                                             \
        const cusparseStatus_t s_ = (call);                                                                          \
        if (s_ != CUSPARSE_STATUS_SUCCESS) {                                                                         \
            printf("%s: %s\n", #call, cusparseGetErrorString(s_));                                                   \
            return -1;                                                                                               \
        }                                                                                                            \
    } while (0)

static double cusparse_once(cusparseHandle_t handle, cusparseSpMatDescr_t a, int64_t n, cusparseSpGEMMAlg_t alg,
                            int64_t *entries)
{
    cusparseSpMatDescr_t c;
    cusparseSpGEMMDescr_t descr;
    const float one = 1, zero = 0;
    const cusparseOperation_t op = CUSPARSE_OPERATION_NON_TRANSPOSE;
    int *offsets = nullptr, *column = nullptr;
    float *value = nullptr;
    void *buffer[3] = {};
    size_t bytes[3] = {};
    int64_t rows, cols;
    CUDA(cudaStreamSynchronize(stream));
    const auto t0 = std::chrono::steady_clock::now();
    CUDA(cudaMallocAsync((void **)&offsets, (n + 1) * 4, stream));
    SPARSE(cusparseCreateCsr(&c, n, n, 0, offsets, nullptr, nullptr, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                             CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
    SPARSE(cusparseSpGEMM_createDescr(&descr));
    SPARSE(cusparseSpGEMM_workEstimation(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, &bytes[0],
                                         nullptr));
    CUDA(cudaMallocAsync(&buffer[0], bytes[0] + 16, stream));
    SPARSE(cusparseSpGEMM_workEstimation(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, &bytes[0],
                                         buffer[0]));
    if (alg == CUSPARSE_SPGEMM_ALG2 || alg == CUSPARSE_SPGEMM_ALG3) {
        size_t extra = 0;
        SPARSE(cusparseSpGEMM_estimateMemory(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, 1.0f,
                                             &extra, nullptr, nullptr));
        CUDA(cudaMallocAsync(&buffer[2], extra + 16, stream));
        SPARSE(cusparseSpGEMM_estimateMemory(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, 1.0f,
                                             &extra, buffer[2], &bytes[1]));
        CUDA(cudaFreeAsync(buffer[2], stream));
    } else
        SPARSE(
            cusparseSpGEMM_compute(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, &bytes[1], nullptr));
    CUDA(cudaMallocAsync(&buffer[1], bytes[1] + 16, stream));
    SPARSE(
        cusparseSpGEMM_compute(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr, &bytes[1], buffer[1]));
    SPARSE(cusparseSpMatGetSize(c, &rows, &cols, entries));
    CUDA(cudaMallocAsync((void **)&column, *entries * 4, stream));
    CUDA(cudaMallocAsync((void **)&value, *entries * 4, stream));
    SPARSE(cusparseCsrSetPointers(c, offsets, column, value));
    SPARSE(cusparseSpGEMM_copy(handle, op, op, &one, a, a, &zero, c, CUDA_R_32F, alg, descr));
    CUDA(cudaStreamSynchronize(stream));
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    SPARSE(cusparseSpGEMM_destroyDescr(descr));
    SPARSE(cusparseDestroySpMat(c));
    for (void *block : {(void *)offsets, (void *)column, (void *)value, buffer[0], buffer[1]})
        CUDA(cudaFreeAsync(block, stream));
    return s;
}

static void bench_cusparse(const char *name)
{
    matrix a = make_graph(name);
    u64 state = 7;
    add_values(a, LACIS_MUL_F32, &state, false);
    std::vector<int> offset(a.rows + 1);
    for (int64_t r = 0; r < a.rows; r++)
        offset[r + 1] = (int)a.end[r];
    int *offsets = upload(offset), *column = (int *)upload(a.column);
    float *value = (float *)upload(a.value);
    cusparseHandle_t handle;
    cusparseSpMatDescr_t d;
    cusparseCreate(&handle);
    cusparseSetStream(handle, stream);
    cusparseCreateCsr(&d, a.rows, a.cols, (int64_t)a.column.size(), offsets, column, value, CUSPARSE_INDEX_32I,
                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F);
    for (const cusparseSpGEMMAlg_t alg : {CUSPARSE_SPGEMM_ALG1, CUSPARSE_SPGEMM_ALG2}) {
        std::vector<double> t;
        int64_t entries = 0;
        for (int i = 0; i < 6; i++) {
            const double s = cusparse_once(handle, d, a.rows, alg, &entries);
            if (s < 0) break;
            if (i > 0) t.push_back(s * 1e3);
        }
        if (!t.empty())
            printf("%-12s cusparse ALG%d %8.3f ms %lld entries\n", name, alg == CUSPARSE_SPGEMM_ALG1 ? 1 : 2,
                   median(t), (long long)entries);
        cudaGetLastError();
    }
    cusparseDestroySpMat(d);
    cusparseDestroy(handle);
    cudaFree(offsets), cudaFree(column), cudaFree(value);
}
#endif

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "check";
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&side[0], cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&side[1], cudaStreamNonBlocking));
    CUDA(cudaMallocHost(&pinned, LACIS_MUL_GPU_PINNED_BYTES));
    cudaMemPool_t pool;
    u64 keep = UINT64_MAX;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    const auto t0 = std::chrono::steady_clock::now();
    if (what == "check") {
        const u64 seed = argc > 2 ? strtoull(argv[2], nullptr, 0) : 1;
        check_random(seed, 60, 20000);
        check_wide(seed);
        check_faults();
        check_overflow();
    } else if (what == "small") {
        check_random(3, argc > 2 ? atoi(argv[2]) : 6, 200);
    } else {
        for (int i = 2; i < argc; i++) {
            if (what == "bench") bench(argv[i], 9);
#ifdef WITH_CUSPARSE
            if (what == "cusparse") bench_cusparse(argv[i]);
#endif
        }
    }
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count();
    printf("%s: %d cases, %d failures, %.1f s\n", what.c_str(), cases, failures, s);
    return failures != 0;
}
