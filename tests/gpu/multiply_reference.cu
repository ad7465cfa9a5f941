/* SPDX-License-Identifier: Apache-2.0
 *
 * The plain reference of multiply_gpu.cu: rows of a product as they are defined, with MASK, HAVING that compares, and
 * TOP.
 */
#include "multiply_support.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <thread>
#include <type_traits>

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

const matrix *mask_matrix;

/* HAVING that compares. */
template <class V> static bool within(const lacis_mul_gpu_job &job, V v)
{
    if (job.having != LACIS_MUL_GPU_WITHIN) return true;
    if constexpr (std::is_floating_point<V>::value)
        return job.low_real <= v && v <= job.high_real;
    else
        return job.low <= (int64_t)v && (int64_t)v <= job.high;
}

/* MASK, HAVING and TOP as they are defined, on one row of the reference. */
template <class V> static void filter_row(const lacis_mul_gpu_job &job, int64_t row, result &r)
{
    const size_t n = r.column.size();
    V *v = (V *)r.value.data();
    std::vector<size_t> keep;
    for (size_t i = 0; i < n; i++) {
        const bool hit =
            mask_matrix && std::binary_search(mask_matrix->column.begin() + mask_matrix->begin[row],
                                              mask_matrix->column.begin() + mask_matrix->end[row], r.column[i]);
        if ((!mask_matrix || hit != job.mask_not) && within(job, v[i])) keep.push_back(i);
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
    if (!job.mask && job.having != LACIS_MUL_GPU_WITHIN && job.top <= 0) return;
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
    case LACIS_MUL_TO_C128: /* multiply_rings.cu has a reference of its own */
        break;
    }
}

void reference_rows(const matrix &a, const matrix &b, const lacis_mul_gpu_job &job, const std::vector<int64_t> &rows,
                    std::vector<result> &out)
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
