/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV of graphs against plain sums in long double: types of graph and vector, triangles, graphs that hold one
 * triangle or both (what is not to be read being NaN), loose rows, vectors that are added, several right sides,
 * complex vectors by real graphs; on one to three threads, by each instruction set and every variant that can run
 * here. Each variant gives the same bits whenever it runs; the CPU's on any number of threads.
 */
#include "parity/symmetric.h"

/* ---------------------------------------------------------------------------------------- graphs */

typedef enum shape { SCATTERED, BAND, ARROW, DIAGONAL, EMPTY, SHAPES } shape;
typedef enum form { LOWER_ONLY, UPPER_ONLY, BOTH, LOOSE, FORMS } form;

typedef struct sparse {
    shape shape;
    form form;
    lacis_dtype dtype; /* LACIS_PATTERN, integers, or what kernels compute in */
    bool upper, hermitian;
    int64_t n;
    uint64_t seed;
} sparse;

static bool has(const sparse *s, int64_t r, int64_t c)
{
    const int64_t high = r > c ? r : c, low = r > c ? c : r;
    const uint64_t any = mixed(s->seed * 31 + (uint64_t)(high * 100003 + low));
    switch (s->shape) {
    case SCATTERED:
        return any % (uint64_t)s->n < 5;
    case BAND:
        return high - low < 20 && any % 3 != 0;
    case ARROW:
        return high == low || low == 0;
    case DIAGONAL:
        return high == low;
    default:
        return false;
    }
}

static bool wanted(const sparse *s, int64_t r, int64_t c)
{
    return s->upper ? c >= r : c <= r;
}

static number entry(const sparse *s, int64_t r, int64_t c)
{
    const int64_t high = r > c ? r : c, low = r > c ? c : r;
    if (s->dtype == LACIS_PATTERN) return (number){1, 0};
    if (!is_complex(s->dtype) && s->dtype != LACIS_F32 && s->dtype != LACIS_F64)
        return (number){(quad)((int64_t)(mixed(s->seed + (uint64_t)(high * 7919 + low)) % 41) - 20), 0};
    number a = number_at(s->seed, high, low, s->dtype);
    if (s->hermitian && r < c) a.im = -a.im;
    return a;
}

static void put_entry(const sparse *s, void *to, int64_t at, int64_t r, int64_t c)
{
    number a = entry(s, r, c);
    if (s->dtype == LACIS_I32) {
        ((int32_t *)to)[at] = (int32_t)a.re;
    } else if (s->dtype == LACIS_I64) {
        ((int64_t *)to)[at] = (int64_t)a.re;
    } else {
        if (!wanted(s, r, c)) a = (number){(quad)NAN, (quad)NAN};
        if (s->hermitian && r == c) a.im = (quad)NAN;
        put_number(to, at, s->dtype, a);
    }
}

/* Rows one behind the other, or from the last to the first with a place that no row has between them. */
static lacis_array *sparse_array(parity *p, const sparse *s)
{
    const size_t n = (size_t)s->n, places = n * n + n,
                 size = s->dtype == LACIS_PATTERN ? 0 : lacis_dtype_size(s->dtype);
    int64_t *begin = calloc(n + 1, sizeof *begin), *end = calloc(n + 1, sizeof *end), at = 0;
    uint32_t *column = calloc(places + 1, sizeof *column);
    char *value = calloc(places + 1, size + 1);
    lacis_array *array = NULL;
    lacis_csr_parts parts = {.rows = s->n, .cols = s->n, .storage = s->dtype, .dtype = s->dtype};
    for (int64_t k = 0; k < s->n; k++) {
        const int64_t r = s->form == LOOSE ? s->n - 1 - k : k;
        begin[r] = at;
        for (int64_t c = 0; c < s->n; c++) {
            if (!has(s, r, c) || (s->form < BOTH && !wanted(s, r, c))) continue;
            column[at] = (uint32_t)c;
            if (size > 0) put_entry(s, value, at, r, c);
            at++;
        }
        end[r] = at;
        parts.entries += at - begin[r];
        if (s->form == LOOSE) column[at++] = 0;
    }
    begin[n] = at;
    parts.begin = buffer_of(p, begin, sizeof *begin * (n + (s->form != LOOSE)));
    if (s->form == LOOSE) parts.end = buffer_of(p, end, sizeof *end * n);
    parts.columns = buffer_of(p, column, sizeof *column * (size_t)at);
    if (size > 0) parts.values = buffer_of(p, value, size * (size_t)at);
    parity_ok(p, lacis_csr_new(&p->run, &parts, &array), "a graph");
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.end);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    free(begin);
    free(end);
    free(column);
    free(value);
    return array;
}

/* ------------------------------------------------------------------------------------- a statement */

typedef struct way {
    int threads;
    const char *isa;
} way;
static const way ways[] = {{1, ""}, {2, "avx2"}, {3, "baseline"}, {3, ""}};

/* Of right side l: alpha A x + beta x. */
static number expected(const sparse *s, lacis_dtype dtype, int64_t l, int64_t r, bool adds, double *most)
{
    number sum = {0, 0};
    *most = 0;
    for (int64_t c = 0; c < s->n; c++) {
        if (!has(s, r, c)) continue;
        number a = entry(s, r, c), x = number_at(90 + (uint64_t)l, 0, c, dtype);
        if (s->hermitian && r == c) a.im = 0;
        const number ax = times(a, x);
        sum.re += ax.re;
        sum.im += ax.im;
        *most += size_of(a) * size_of(x);
    }
    if (!adds) return sum;
    const number x = number_at(90 + (uint64_t)l, 0, r, dtype);
    *most = 2 * *most + 0.5 * size_of(x);
    return (number){2 * sum.re - x.re / 2, 2 * sum.im - x.im / 2};
}

static void take(parity *p, const lacis_array *array, int64_t lanes, int64_t n, lacis_dtype dtype, char *to)
{
    const size_t size = lacis_dtype_size(dtype);
    assert_int_equal(lacis_array_dtype(array), dtype);
    if (lacis_array_kind(array) == LACIS_VECTOR) {
        memcpy(to, lacis_array_part_named(array, "values")->data, size * (size_t)n);
        return;
    }
    lacis_batch batch;
    parity_ok(p, lacis_batch_view(&p->run, array, &batch), "the result");
    const lacis_batch_part *value = lacis_batch_field(&batch, "value");
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t r = 0; r < n; r++, to += size)
            memcpy(to, (const char *)value->data + size * (size_t)lacis_batch_place(&batch.group[0], l, r), size);
}

static void compare(const sparse *s, const char *text, const char *how, int64_t lanes, lacis_dtype dtype,
                    const char *found)
{
    const bool adds = strstr(text, "ADD") != NULL;
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t r = 0; r < s->n; r++) {
            double most;
            const number y = get_number(found, l * s->n + r, dtype), e = expected(s, dtype, l, r, adds, &most);
            const double off = size_of((number){y.re - e.re, y.im - e.im});
            if (!(off <= most * (is_single(dtype) ? 4e-6 : 1e-14)))
                fail_msg("%s (%s), shape %d, form %d, n %lld: lane %lld, row %lld is %.17g, expected %.17g", text,
                         how, s->shape, s->form, (long long)s->n, (long long)l, (long long)r, (double)y.re,
                         (double)e.re);
        }
}

static void check(parity *p, const sparse *s, const char *text, const named *arrays, int64_t lanes, lacis_dtype dtype)
{
    const size_t bytes = lacis_dtype_size(dtype) * (size_t)(lanes * s->n);
    char *found = malloc(bytes + 1), *first = malloc(bytes + 1), reason[256], how[300];
    bool have = false;
    for (int w = 0; w < (parity_on_gpu() ? 1 : LACIS_COUNT(ways)); w++) {
        lacis_call *call;
        p->host.threads = ways[w].threads;
        setenv("LACIS_ISA", ways[w].isa, 1);
        parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
        if (parity_on_gpu()) call->on = LACIS_ON_GPU;
        for (int i = 0; i < call->op->variant_count; i++) {
            const lacis_variant *variant = call->op->variants[i];
            if (parity_on_gpu() && variant->device != LACIS_GPU) continue;
            if (!variant->can(call, reason, sizeof reason)) {
                if (variant->device == LACIS_GPU) parity_skipped(p, text, variant->name, reason);
                continue;
            }
            snprintf(how, sizeof how, "%s, %d threads, %s", variant->name, ways[w].threads, ways[w].isa);
            for (int again = 0; again < 2; again++) {
                lacis_array *array = NULL;
                parity_ok(p, variant->run(&p->run, call, 0, call->units, &array), text);
                take(p, array, lanes, s->n, dtype, found);
                lacis_array_release(array);
                compare(s, text, how, lanes, dtype, found);
                if (have && variant->device == LACIS_CPU && memcmp(first, found, bytes) != 0)
                    fail_msg("%s (%s), n %lld: other bits", text, how, (long long)s->n);
                if (variant->device == LACIS_GPU && again == 1 && memcmp(first, found, bytes) != 0)
                    fail_msg("%s (%s), n %lld: other bits the second time", text, how, (long long)s->n);
                memcpy(first, found, bytes);
                have = have || variant->device == LACIS_CPU;
            }
        }
        parity_unbind(p, call);
        lacis_run_clear(&p->run);
    }
    free(found);
    free(first);
}

/* -------------------------------------------------------------------------------------------- cases */

typedef struct kind {
    lacis_dtype graph, vector, result;
    bool hermitian;
} kind;
static const kind kinds[] = {
    {LACIS_PATTERN, LACIS_F64, LACIS_F64, false}, {LACIS_F32, LACIS_F32, LACIS_F32, false},
    {LACIS_F32, LACIS_F64, LACIS_F64, false},     {LACIS_F64, LACIS_F64, LACIS_F64, false},
    {LACIS_I32, LACIS_F64, LACIS_F64, false},     {LACIS_I64, LACIS_F64, LACIS_F64, false},
    {LACIS_C64, LACIS_C64, LACIS_C64, false},     {LACIS_C128, LACIS_C128, LACIS_C128, false},
    {LACIS_C128, LACIS_C128, LACIS_C128, true},   {LACIS_C64, LACIS_C64, LACIS_C64, true},
    {LACIS_F64, LACIS_C128, LACIS_C128, false},
};

static lacis_array *dense_vector(parity *p, int64_t n, lacis_dtype dtype)
{
    char *data = calloc((size_t)n + 1, lacis_dtype_size(dtype));
    lacis_array *array = NULL;
    for (int64_t i = 0; i < n; i++)
        put_number(data, i, dtype, number_at(90, 0, i, dtype));
    parity_ok(p, lacis_array_new(&p->run, LACIS_VECTOR, dtype, n, 0, &array), "a vector");
    add_bytes(p, array, "values", dtype, n, data, 0);
    free(data);
    return array;
}

static void check_kind(parity *p, const kind *k, sparse s)
{
    char text[160];
    s.dtype = k->graph;
    s.hermitian = k->hermitian;
    const named arrays[] = {{"g", sparse_array(p, &s)}, {"x", dense_vector(p, s.n, k->vector)}, {NULL, NULL}};
    static const char *const rests[] = {"", " ADD x ALPHA 2 BETA -0.5", " ORDER free"};
    for (int i = 0; i < LACIS_COUNT(rests); i++) {
        snprintf(text, sizeof text, "SYMV g BY x %s%s%s", s.upper ? "UPPER" : "LOWER", k->hermitian ? " CONJ" : "",
                 rests[i]);
        if (i == 2 && parity_on_gpu()) continue; /* has other bits each time */
        check(p, &s, text, arrays, 1, k->result);
    }
    lacis_array_release(arrays[0].array);
    lacis_array_release(arrays[1].array);
}

static void test_kinds(void **state)
{
    parity *p = *state;
    static const int64_t sizes[] = {1, 2, 31, 70};
    for (int k = 0; k < LACIS_COUNT(kinds); k++)
        for (shape what = 0; what < SHAPES; what++)
            for (int i = 0; i < LACIS_COUNT(sizes); i++) {
                const form how = (i + k + (int)what) % FORMS;
                const sparse s = {.shape = what,
                                  .form = how,
                                  .upper = how == UPPER_ONLY || (how != LOWER_ONLY && (k & 1)),
                                  .n = sizes[i],
                                  .seed = (uint64_t)(k + 1)};
                check_kind(p, &kinds[k], s);
            }
}

static void test_larger(void **state)
{
    for (int i = 0; i < FORMS; i++) {
        const sparse s = {
            .shape = i % 2 ? BAND : SCATTERED, .form = i, .upper = i == UPPER_ONLY, .n = 1500, .seed = 5};
        check_kind(*state, &kinds[3], s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_kinds, parity_setup, parity_teardown),
                                       cmocka_unit_test_setup_teardown(test_larger, parity_setup, parity_teardown)};
    return cmocka_run_group_tests_name("SYMV of graphs", tests, NULL, NULL);
}
