/* SPDX-License-Identifier: Apache-2.0
 *
 * SORT rows: few products (up to MUL_SORT_MAX), whatever the number of columns. Keys are column << 8 | slot, the slot
 * numbering products over rising c; counts need the columns alone. With AVX-512 they are sorted in registers, where
 * they fit 32 bits; else the B rows, sorted already, are merged in pairs. Then equal columns are combined in the
 * order of their slots. Called from run.c through mul_kernels.
 */
#include "multiply/loops.h"

#if defined(__AVX512F__)
#include "multiply/network.h"
#endif

/* --- gathering the products ----------------------------------------------------------------------- */

typedef struct runs {
    int products, runs;
    uint16_t end[MUL_SORT_MAX + 1]; /* run r is [end[r], end[r + 1]) */
} runs;

/* Eight at a time, and nothing beyond: even a masked load waits for the cache line of lanes that it leaves out. */
static void copy_columns(uint32_t *restrict to, const uint32_t *restrict from, int n)
{
#if defined(__AVX512VL__)
    int i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_si256((__m256i *)(to + i), _mm256_loadu_si256((const __m256i *)(from + i)));
    for (; i < n; i++)
        to[i] = from[i];
#else
    memcpy(to, from, (size_t)n * sizeof *to);
#endif
}

static bool gather(mul_worker *w, int64_t row, runs *r)
{
    const mul_plan *plan = w->plan;
    const lacis_mul_job *job = plan->job;
    const int bytes = 1 << mul_log2_bytes(plan->kind);
    int at = 0;
    r->runs = 0;
    r->end[0] = 0;
    for (int64_t i = job->a.begin[row]; i < job->a.end[row]; i++) {
        int64_t lo, hi;
        mul_clip(plan, job->a.column[i], &lo, &hi);
        const int n = (int)(hi - lo);
        if (n == 0) continue;
        copy_columns(w->sort_key + at, job->b.column + lo, n);
        if (plan->mode != MUL_MODE_COUNT &&
            !LACIS_ISA(lacis_mul_values)(w, row, i, lo, n, w->sort_value + at * bytes))
            return false;
        at += n;
        r->end[++r->runs] = (uint16_t)at;
    }
    r->products = at;
    return true;
}

/* --- sorting ---------------------------------------------------------------------------------------- */

static void merge(const uint64_t *restrict from, uint64_t *restrict to, int i, int middle, int end)
{
    int j = middle, at = i;
    while (i < middle && j < end) {
        const uint64_t x = from[i], y = from[j];
        const bool second = y < x;
        to[at++] = second ? y : x;
        i += !second;
        j += second;
    }
    while (i < middle)
        to[at++] = from[i++];
    while (j < end)
        to[at++] = from[j++];
}

/* Sorted columns into sort_key, their slots into sort_slot. */
static void sort_by_merging(mul_worker *w, runs *r)
{
    uint64_t *from = w->sort_wide, *to = w->sort_wide + MUL_SORT_MAX;
    for (int i = 0; i < r->products; i++)
        from[i] = (uint64_t)w->sort_key[i] << 32 | (uint32_t)i;
    while (r->runs > 1) {
        int merged = 0;
        for (int k = 0; k < r->runs; k += 2) {
            const int last = k + 2 < r->runs ? k + 2 : r->runs;
            merge(from, to, r->end[k], r->end[k + 1], r->end[last]);
            r->end[++merged] = r->end[last];
        }
        r->runs = merged;
        uint64_t *const swap = from;
        from = to;
        to = swap;
    }
    for (int i = 0; i < r->products; i++) {
        w->sort_key[i] = (uint32_t)(from[i] >> 32);
        w->sort_slot[i] = (uint32_t)from[i];
    }
}

#if defined(__AVX512F__)
static bool sort_in_registers(mul_worker *w, const runs *r)
{
    const mul_plan *plan = w->plan;
    const int n = r->products;
    if (plan->mode == MUL_MODE_COUNT) {
        network_sort_keys(w->sort_key, n);
        return true;
    }
    if (plan->width > 1 << 24) return false;
    const __m512i first = _mm512_set1_epi32((int32_t)plan->job->t_lo);
    __m512i slot = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    for (int i = 0; i < n; i += 16) {
        const __m512i t = _mm512_sub_epi32(_mm512_loadu_si512(w->sort_key + i), first);
        _mm512_storeu_si512(w->sort_key + i, _mm512_or_si512(_mm512_slli_epi32(t, 8), slot));
        slot = _mm512_add_epi32(slot, _mm512_set1_epi32(16));
    }
    network_sort_keys(w->sort_key, n);
    for (int i = 0; i < n; i += 16) {
        const __m512i key = _mm512_loadu_si512(w->sort_key + i);
        _mm512_storeu_si512(w->sort_slot + i, _mm512_and_si512(key, _mm512_set1_epi32(255)));
        _mm512_storeu_si512(w->sort_key + i, _mm512_add_epi32(_mm512_srli_epi32(key, 8), first));
    }
    return true;
}
#else
static bool sort_in_registers(mul_worker *w, const runs *r)
{
    (void)w;
    (void)r;
    return false;
}
#endif

/* --- combining -------------------------------------------------------------------------------------- */

/* Distinct columns into `column`, where each begins into sort_start (and the end of all). Answers how many. */
static int distinct(mul_worker *w, int n, uint32_t *column)
{
    const uint32_t *key = w->sort_key;
    uint32_t *start = w->sort_start;
    int entries = 0;
#if defined(__AVX512F__)
    __m512i at = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m512i last = _mm512_set1_epi32((int32_t)~key[0]);
    for (int i = 0; i < n; i += 16) {
        const __mmask16 valid = (__mmask16)(n - i >= 16 ? 0xffff : (1 << (n - i)) - 1);
        const __m512i now = _mm512_loadu_si512(key + i);
        const __mmask16 k = _mm512_mask_cmpneq_epi32_mask(valid, now, _mm512_alignr_epi32(now, last, 15));
        _mm512_storeu_si512(column + entries, _mm512_maskz_compress_epi32(k, now));
        _mm512_storeu_si512(start + entries, _mm512_maskz_compress_epi32(k, at));
        entries += __builtin_popcount(k);
        at = _mm512_add_epi32(at, _mm512_set1_epi32(16));
        last = now;
    }
#else
    for (int i = 0; i < n; i++) {
        if (i > 0 && key[i] == key[i - 1]) continue;
        column[entries] = key[i];
        start[entries++] = (uint32_t)i;
    }
#endif
    start[entries] = (uint32_t)n;
    return entries;
}

#define COMBINE(name, T, FIRST, UPDATE)                                                                              \
    static void name(T *restrict out, int n, const uint32_t *restrict start, const uint32_t *restrict slot,          \
                     const T *restrict value)                                                                        \
    {                                                                                                                \
        for (int i = 0; i < n; i++) {                                                                                \
            T v = value[slot[start[i]]];                                                                             \
            T x = FIRST;                                                                                             \
            for (uint32_t j = start[i] + 1; j < start[i + 1]; j++) {                                                 \
                v = value[slot[j]];                                                                                  \
                x = UPDATE;                                                                                          \
            }                                                                                                        \
            out[i] = x;                                                                                              \
        }                                                                                                            \
    }

#define FLOAT_FIRST(T)  (v == v ? v : (T)NAN)
#define FLOAT_BEST(CMP) (v == v ? (x CMP v ? x : v) : x)
COMBINE(sum_i32, int32_t, v, (int32_t)((uint32_t)x + (uint32_t)v))
COMBINE(sum_i64, int64_t, v, (int64_t)((uint64_t)x + (uint64_t)v))
COMBINE(sum_f32, float, v + 0.0f, x + (v + 0.0f))
COMBINE(sum_f64, double, v + 0.0, x + (v + 0.0))
COMBINE(sum_c128, mul_pair, ((mul_pair){v.re + 0.0, v.im + 0.0}), ((mul_pair){x.re + v.re, x.im + v.im}))
COMBINE(min_i32, int32_t, v, x < v ? x : v)
COMBINE(min_i64, int64_t, v, x < v ? x : v)
COMBINE(min_f32, float, FLOAT_FIRST(float), FLOAT_BEST(<))
COMBINE(min_f64, double, FLOAT_FIRST(double), FLOAT_BEST(<))
COMBINE(max_i32, int32_t, v, x > v ? x : v)
COMBINE(max_i64, int64_t, v, x > v ? x : v)
COMBINE(max_f32, float, FLOAT_FIRST(float), FLOAT_BEST(>))
COMBINE(max_f64, double, FLOAT_FIRST(double), FLOAT_BEST(>))

#define PICK(name, T, AT)                                                                                            \
    static void name(T *restrict out, int n, const uint32_t *restrict start, const uint32_t *restrict slot,          \
                     const T *restrict value)                                                                        \
    {                                                                                                                \
        for (int i = 0; i < n; i++)                                                                                  \
            out[i] = value[slot[AT]];                                                                                \
    }
PICK(first_4, uint32_t, start[i])
PICK(first_8, uint64_t, start[i])
PICK(first_16, mul_pair, start[i])
PICK(last_4, uint32_t, start[i + 1] - 1)
PICK(last_8, uint64_t, start[i + 1] - 1)
PICK(last_16, mul_pair, start[i + 1] - 1)

#define SUM_CHECKED(name, T)                                                                                         \
    static bool name(T *restrict out, int n, const uint32_t *restrict start, const uint32_t *restrict slot,          \
                     const T *restrict value)                                                                        \
    {                                                                                                                \
        bool over = false;                                                                                           \
        for (int i = 0; i < n; i++) {                                                                                \
            out[i] = 0;                                                                                              \
            for (uint32_t j = start[i]; j < start[i + 1]; j++)                                                       \
                over |= __builtin_add_overflow(out[i], value[slot[j]], &out[i]);                                     \
        }                                                                                                            \
        return !over;                                                                                                \
    }
SUM_CHECKED(sum_checked_i32, int32_t)
SUM_CHECKED(sum_checked_i64, int64_t)

#define BY_TYPE(op)                                                                                                  \
    switch (type) {                                                                                                  \
    case LACIS_MUL_I32:                                                                                              \
        op##_i32(out, n, start, slot, value);                                                                        \
        break;                                                                                                       \
    case LACIS_MUL_I64:                                                                                              \
        op##_i64(out, n, start, slot, value);                                                                        \
        break;                                                                                                       \
    case LACIS_MUL_F32:                                                                                              \
        op##_f32(out, n, start, slot, value);                                                                        \
        break;                                                                                                       \
    case LACIS_MUL_F64:                                                                                              \
        op##_f64(out, n, start, slot, value);                                                                        \
        break;                                                                                                       \
    case LACIS_MUL_C128: /* apart from these */                                                                      \
        break;                                                                                                       \
    }

static void pick(bool last, size_t bytes, void *out, int n, const uint32_t *start, const uint32_t *slot,
                 const void *value)
{
    if (bytes == 16)
        (last ? last_16 : first_16)(out, n, start, slot, value);
    else if (bytes == 8)
        (last ? last_8 : first_8)(out, n, start, slot, value);
    else
        (last ? last_4 : first_4)(out, n, start, slot, value);
}

/* The entries' values in the job's type. False: overflow. */
static bool combine(mul_worker *w, int n, int products, void *out)
{
    const lacis_mul_job *job = w->plan->job;
    const lacis_mul_type type = job->type;
    const uint32_t *start = w->sort_start, *slot = w->sort_slot;
    const void *value = w->sort_value;
    const bool wide = type == LACIS_MUL_I64 || type == LACIS_MUL_F64;
    const bool floating = type >= LACIS_MUL_F32;
    if (job->agg == LACIS_MUL_FIRST || job->agg == LACIS_MUL_LAST || (n == products && !floating)) {
        pick(job->agg == LACIS_MUL_LAST, mul_type_bytes(type), out, n, start, slot, value);
    } else if (type == LACIS_MUL_C128) {
        sum_c128(out, n, start, slot, value);
    } else if (job->agg == LACIS_MUL_SUM) {
        if (job->checked && !floating)
            return wide ? sum_checked_i64(out, n, start, slot, value) : sum_checked_i32(out, n, start, slot, value);
        BY_TYPE(sum)
    } else if (job->agg == LACIS_MUL_MIN) {
        BY_TYPE(min)
    } else {
        BY_TYPE(max)
    }
    return true;
}

#define COUNTS(name, T)                                                                                              \
    static void name(T *restrict out, int n, const uint32_t *restrict start)                                         \
    {                                                                                                                \
        for (int i = 0; i < n; i++)                                                                                  \
            out[i] = (T)(start[i + 1] - start[i]);                                                                   \
    }
COUNTS(counts_u8, uint8_t)
COUNTS(counts_u16, uint16_t)
COUNTS(counts_u32, uint32_t)

static void counts(int log2_bytes, void *out, int n, const uint32_t *start)
{
    if (log2_bytes == 0)
        counts_u8(out, n, start);
    else if (log2_bytes == 1)
        counts_u16(out, n, start);
    else
        counts_u32(out, n, start);
}

int64_t LACIS_ISA(lacis_mul_row_sort)(mul_worker *w, int64_t row, uint32_t *column, void *value)
{
    const mul_plan *plan = w->plan;
    const bool counting = plan->mode == MUL_MODE_COUNT;
    runs r;
    if (!gather(w, row, &r)) return -1;
    if (r.products > 0 && !sort_in_registers(w, &r)) sort_by_merging(w, &r);
    uint32_t *const to_column = plan->direct ? column : w->block_column;
    void *const to_value = plan->direct ? value : w->block_cell;
    const int n = r.products > 0 ? distinct(w, r.products, to_column) : 0;
    if (counting) {
        counts(plan->direct ? mul_log2_bytes(plan->job->storage) : 2, to_value, n, w->sort_start);
    } else if (!combine(w, n, r.products, to_value)) {
        w->status = LACIS_MUL_OVERFLOW;
        return -1;
    }
    if (plan->direct) return n;
    if (!lacis_mul_sink_begin(w, row, plan->job->t_lo, column, value) ||
        !lacis_mul_sink_block(w, n, counting ? LACIS_MUL_TO_U32 : plan->kind))
        return -1;
    return lacis_mul_sink_end(w);
}
