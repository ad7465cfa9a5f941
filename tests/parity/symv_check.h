/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of SYMV with dense matrices share: types that meet, orders, and the check of a statement by every
 * variant, on one to three threads and by each instruction set, against sums in __float128 (symmetric.h).
 */
#ifndef LACIS_TESTS_SYMV_CHECK_H
#define LACIS_TESTS_SYMV_CHECK_H

#include "parity/symmetric.h"

/* ------------------------------------------------------------------------------------------ results */

/* One lane behind the other. */
typedef struct lanes {
    int64_t count, all, rows[64];
} lanes;

static inline lanes lanes_of(const symmetric *s, int64_t count)
{
    lanes out = {.count = count};
    for (int64_t l = 0; l < count; l++)
        out.all += out.rows[l] = rows_of(s, s->matrices > 1 ? l : 0);
    return out;
}

static inline void take_result(parity *p, const lacis_array *array, const lanes *like, lacis_dtype dtype, char *to)
{
    const size_t size = lacis_dtype_size(dtype);
    lacis_batch batch;
    assert_int_equal(lacis_array_dtype(array), dtype);
    if (lacis_array_kind(array) == LACIS_VECTOR) {
        const lacis_part *values = lacis_array_part_named(array, "values");
        assert_int_equal(values->count, like->all);
        assert_int_equal(values->dtype, dtype);
        if (like->all > 0) memcpy(to, values->data, size * (size_t)like->all);
        return;
    }
    parity_ok(p, lacis_batch_view(&p->run, array, &batch), "the result");
    assert_int_equal(batch.lanes, like->count);
    const lacis_batch_part *value = lacis_batch_field(&batch, "value");
    assert_non_null(value);
    assert_int_equal(value->dtype, dtype);
    for (int64_t g = 0; g < batch.groups; g++)
        for (int64_t l = 0; l < batch.group[g].lanes; l++)
            for (int64_t r = 0; r < batch.group[g].rows; r++, to += size)
                memcpy(to, (const char *)value->data + size * (size_t)lacis_batch_place(&batch.group[g], l, r), size);
}

static inline void compare(const char *text, const char *how, const lanes *like, lacis_dtype dtype, const char *found,
                           const answer *e)
{
    for (int64_t l = 0, at = 0; l < like->count; l++)
        for (int64_t i = 0; i < like->rows[l]; i++, at++) {
            number y = get_number(found, at, dtype);
            number off = {y.re - e[at].y.re, y.im - e[at].y.im};
            double error = size_of(off), bound = bound_of(dtype, like->rows[l], e[at].size);
            if (!(error <= bound))
                fail_msg("%s (%s), n = %lld: lane %lld, row %lld is %.17g + %.17gi, expected %.17g + %.17gi: off by "
                         "%.3g, bound %.3g",
                         text, how, (long long)like->rows[l], (long long)l, (long long)i, (double)y.re, (double)y.im,
                         (double)e[at].y.re, (double)e[at].y.im, error, bound);
        }
}

static inline void release(lacis_array *a, lacis_array *x, lacis_array *y)
{
    lacis_array_release(a);
    lacis_array_release(x);
    lacis_array_release(y);
}

/* ---------------------------------------------------------------------------------------- every way */

typedef struct way {
    int threads;
    const char *isa;
} way;
static const way ways[] = {{1, ""}, {3, "avx2"}, {2, ""}, {3, "baseline"}};

/* All of them for small matrices, and fewer where each takes its time. */
static inline int ways_for(const lanes *like, const char *text)
{
    const int64_t large = 500;
    if (parity_on_gpu() || (like->all > large && strstr(text, "free") != NULL)) return 1;
    return like->all > large ? 2 : LACIS_COUNT(ways);
}

static inline bool is_canonical(const char *text)
{
    return strstr(text, "canonical") != NULL;
}

static inline void run_once(parity *p, const lacis_call *call, const lacis_variant *variant, const char *text,
                            const lanes *like, lacis_dtype dtype, char *found)
{
    lacis_array *array = NULL;
    parity_ok(p, variant->run(&p->run, call, 0, call->units, &array), text);
    assert_int_equal(lacis_array_kind(array), call->kind);
    take_result(p, array, like, dtype, found);
    lacis_array_release(array);
}

/* Of the GPU's programs the CPU's variant is only asked for the bits of the canonical order. */
static inline bool left_out(const lacis_variant *variant, const char *text)
{
    return parity_on_gpu() && variant->device != LACIS_GPU && !is_canonical(text);
}

/* Every variant: within the bound, the same bits again, in canonical order the same bits everywhere. */
static inline void check(parity *p, const char *text, const named *arrays, const lanes *like, lacis_dtype dtype,
                         const answer *e)
{
    char reason[256], how[300];
    const size_t bytes = lacis_dtype_size(dtype) * (size_t)like->all;
    char *found = malloc(bytes + 1), *again = malloc(bytes + 1), *first = malloc(bytes + 1);
    bool have = false;
    for (int w = 0; w < ways_for(like, text); w++) {
        lacis_call *call;
        p->host.threads = ways[w].threads;
        setenv("LACIS_ISA", ways[w].isa, 1);
        parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
        if (parity_on_gpu()) call->on = LACIS_ON_GPU;
        assert_int_equal(call->dtype, dtype);
        for (int i = 0; i < call->op->variant_count; i++) {
            const lacis_variant *variant = call->op->variants[i];
            if (left_out(variant, text)) continue;
            if (variant->can != NULL && !variant->can(call, reason, sizeof reason)) {
                parity_skipped(p, text, variant->name, reason);
                continue;
            }
            snprintf(how, sizeof how, "%s, %d threads, %s", variant->name, ways[w].threads, ways[w].isa);
            run_once(p, call, variant, text, like, dtype, found);
            compare(text, how, like, dtype, found, e);
            if (strstr(text, "free") == NULL) {
                run_once(p, call, variant, text, like, dtype, again);
                if (memcmp(found, again, bytes) != 0) fail_msg("%s (%s): other bits the second time", text, how);
            }
            if (is_canonical(text) && have && memcmp(first, found, bytes) != 0)
                fail_msg("%s (%s), n = %lld: other bits than by the first variant", text, how,
                         (long long)like->rows[0]);
            memcpy(first, found, bytes);
            have = true;
        }
        parity_unbind(p, call);
        lacis_run_clear(&p->run);
    }
    free(found);
    free(again);
    free(first);
}

/* -------------------------------------------------------------------------------- types and storage */

typedef struct kind {
    lacis_dtype matrix, vector;
    bool hermitian;
    const char *words;
} kind;
static const kind kinds[] = {
    {LACIS_F64, LACIS_F64, false, ""},
    {LACIS_F32, LACIS_F32, false, ""},
    {LACIS_C128, LACIS_C128, true, ""},
    {LACIS_C128, LACIS_C128, false, ""},
    {LACIS_C64, LACIS_C64, true, ""},
    {LACIS_C64, LACIS_C64, false, ""},
    {LACIS_DD, LACIS_DD, false, ""},
    {LACIS_DD, LACIS_DD, false, " ACCURATE"},
    {LACIS_CDD, LACIS_CDD, true, ""},
    {LACIS_CDD, LACIS_CDD, false, " ACCURATE"},
    {LACIS_F32, LACIS_F64, false, ""},
    {LACIS_F32, LACIS_DD, false, " ACCURATE"},
    {LACIS_F64, LACIS_DD, false, ""},
    {LACIS_F64, LACIS_F64, false, " PRECISION dd"},
    {LACIS_F32, LACIS_F32, false, " PRECISION f64"},
};
static const char *const orders[] = {"", " ORDER canonical", " ORDER free"};

static inline lacis_dtype result_of(const kind *k)
{
    if (strstr(k->words, "PRECISION dd") != NULL) return LACIS_DD;
    return strstr(k->words, "PRECISION f64") != NULL ? LACIS_F64 : k->vector;
}

static const number ALPHA = {1.5, 0}, BETA = {-0.75, 0};
#define ADDS " ADD y ALPHA 1.5 BETA -0.75"

/* One matrix by a vector, in all orders: both triangles, storage by turns where it is large. */

#endif
