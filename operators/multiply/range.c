/* SPDX-License-Identifier: Apache-2.0
 *
 * Smallest and largest value of an operand: what shows that sums fit narrow accumulators, or cannot overflow. Called
 * by types.c once the products are known.
 */
#include "multiply/product.h"

#include <math.h>

enum { TASKS = 64 };

/* Bounds of integers in integer[], of reals in real[]; nan where a real is not a number. */
struct extremes {
    int64_t lo, hi;
    double real_lo, real_hi;
    bool some, nan;
};

#define INTEGER_SCAN(name, type)                                                                                     \
    static void name(const type *v, int64_t n, struct extremes *e)                                                   \
    {                                                                                                                \
        type lo = v[0], hi = v[0];                                                                                   \
        for (int64_t i = 1; i < n; i++) {                                                                            \
            lo = v[i] < lo ? v[i] : lo;                                                                              \
            hi = v[i] > hi ? v[i] : hi;                                                                              \
        }                                                                                                            \
        if (!e->some || (int64_t)lo < e->lo) e->lo = (int64_t)lo;                                                    \
        if (!e->some || (int64_t)hi > e->hi) e->hi = (int64_t)hi;                                                    \
        e->some = true;                                                                                              \
    }
INTEGER_SCAN(scan_u8, uint8_t)
INTEGER_SCAN(scan_u16, uint16_t)
INTEGER_SCAN(scan_u32, uint32_t)
INTEGER_SCAN(scan_i32, int32_t)
INTEGER_SCAN(scan_i64, int64_t)

#define REAL_SCAN(name, type)                                                                                        \
    static void name(const type *v, int64_t n, struct extremes *e)                                                   \
    {                                                                                                                \
        type lo = v[0], hi = v[0];                                                                                   \
        int nan = 0;                                                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                            \
            lo = v[i] < lo ? v[i] : lo;                                                                              \
            hi = v[i] > hi ? v[i] : hi;                                                                              \
            nan |= v[i] != v[i];                                                                                     \
        }                                                                                                            \
        if (!e->some || lo < e->real_lo) e->real_lo = lo;                                                            \
        if (!e->some || hi > e->real_hi) e->real_hi = hi;                                                            \
        e->nan |= nan != 0;                                                                                          \
        e->some = true;                                                                                              \
    }
REAL_SCAN(scan_f32, float)
REAL_SCAN(scan_f64, double)

static void scan(const lacis_csr *csr, int64_t begin, int64_t end, struct extremes *e)
{
    if (end <= begin) return;
    int64_t n = end - begin;
    switch (csr->storage) {
    case LACIS_U8:
        scan_u8((const uint8_t *)csr->value + begin, n, e);
        break;
    case LACIS_U16:
        scan_u16((const uint16_t *)csr->value + begin, n, e);
        break;
    case LACIS_U32:
        scan_u32((const uint32_t *)csr->value + begin, n, e);
        break;
    case LACIS_I32:
        scan_i32((const int32_t *)csr->value + begin, n, e);
        break;
    case LACIS_I64:
        scan_i64((const int64_t *)csr->value + begin, n, e);
        break;
    case LACIS_F32:
        scan_f32((const float *)csr->value + begin, n, e);
        break;
    case LACIS_F64:
        scan_f64((const double *)csr->value + begin, n, e);
        break;
    default:
        e->nan = true;
        break;
    }
}

struct search {
    const lacis_csr *csr;
    int64_t rows_a_task;
    struct extremes found[TASKS];
};

static lacis_status scan_rows(void *context, int64_t task, int worker)
{
    (void)worker;
    struct search *search = context;
    const lacis_csr *csr = search->csr;
    int64_t first = task * search->rows_a_task, last = first + search->rows_a_task;
    if (last > csr->rows) last = csr->rows;
    if (last <= first) return LACIS_OK;
    struct extremes *e = &search->found[task];
    if (csr->end == csr->begin + 1) {
        scan(csr, csr->begin[first], csr->end[last - 1], e);
        return LACIS_OK;
    }
    for (int64_t r = first; r < last; r++)
        scan(csr, csr->begin[r], csr->end[r], e);
    return LACIS_OK;
}

static void scan_reached(const lacis_product *product, struct extremes *e)
{
    const lacis_csr *a = &product->a, *b = &product->b;
    for (int64_t r = 0; r < a->rows; r++)
        for (int64_t i = a->begin[r]; i < a->end[r]; i++)
            scan(b, b->begin[a->column[i]], b->end[a->column[i]], e);
}

static void merge(struct extremes *into, const struct extremes *e)
{
    into->nan |= e->nan;
    if (!e->some) return;
    if (!into->some || e->lo < into->lo) into->lo = e->lo;
    if (!into->some || e->hi > into->hi) into->hi = e->hi;
    if (!into->some || e->real_lo < into->real_lo) into->real_lo = e->real_lo;
    if (!into->some || e->real_hi > into->real_hi) into->real_hi = e->real_hi;
    into->some = true;
}

static void report(const struct extremes *e, lacis_dtype storage, lacis_range *out)
{
    const double exact = 9007199254740992.0; /* 2^53: beyond, doubles are rounded, so the bound is widened */
    *out = (lacis_range){!e->nan, 0, 0};
    if (!e->some) return;
    bool real = storage == LACIS_F32 || storage == LACIS_F64;
    out->lo = real ? e->real_lo : (double)e->lo;
    out->hi = real ? e->real_hi : (double)e->hi;
    if (real) return;
    if (fabs(out->lo) > exact) out->lo = nextafter(out->lo, -INFINITY);
    if (fabs(out->hi) > exact) out->hi = nextafter(out->hi, INFINITY);
}

lacis_status lacis_product_range(lacis_run *run, const lacis_product *product, bool of_b, lacis_range *out)
{
    struct search search = {.csr = of_b ? &product->b : &product->a};
    const lacis_csr *csr = search.csr;
    if (csr->value == NULL) {
        *out = (lacis_range){true, 1, 1};
        return LACIS_OK;
    }
    if (of_b && lacis_product_small(product)) {
        scan_reached(product, &search.found[0]);
    } else {
        bool large = csr->entries > 262144 && csr->rows > TASKS;
        search.rows_a_task = large ? (csr->rows + TASKS - 1) / TASKS : csr->rows + 1;
        LACIS_TRY(lacis_run_parallel(run, large ? TASKS : 1, scan_rows, &search));
        for (int i = 1; i < TASKS; i++)
            merge(&search.found[0], &search.found[i]);
    }
    report(&search.found[0], csr->storage, out);
    return LACIS_OK;
}
