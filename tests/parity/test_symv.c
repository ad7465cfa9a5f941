/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV against sums in __float128: types, triangles, storage, layouts, right sides, batches, labels, and what must
 * not be read; on one to three threads and by each instruction set. The bound on errors is c n u sum |a| |x|
 * (symmetric.h). In canonical order every device and thread count gives the same bits.
 */
#include "parity/symmetric.h"

/* ------------------------------------------------------------------------------------------ results */

/* One lane behind the other. */
typedef struct lanes {
    int64_t count, all, rows[64];
} lanes;

static lanes lanes_of(const symmetric *s, int64_t count)
{
    lanes out = {.count = count};
    for (int64_t l = 0; l < count; l++)
        out.all += out.rows[l] = rows_of(s, s->matrices > 1 ? l : 0);
    return out;
}

static void take_result(parity *p, const lacis_array *array, const lanes *like, lacis_dtype dtype, char *to)
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

static void compare(const char *text, const char *how, const lanes *like, lacis_dtype dtype, const char *found,
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

static void release(lacis_array *a, lacis_array *x, lacis_array *y)
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
static int ways_for(const lanes *like, const char *text)
{
    const int64_t large = 500;
    if (parity_on_gpu() || (like->all > large && strstr(text, "free") != NULL)) return 1;
    return like->all > large ? 2 : LACIS_COUNT(ways);
}

static bool is_canonical(const char *text)
{
    return strstr(text, "canonical") != NULL;
}

static void run_once(parity *p, const lacis_call *call, const lacis_variant *variant, const char *text,
                     const lanes *like, lacis_dtype dtype, char *found)
{
    lacis_array *array = NULL;
    parity_ok(p, variant->run(&p->run, call, 0, call->units, &array), text);
    assert_int_equal(lacis_array_kind(array), call->kind);
    take_result(p, array, like, dtype, found);
    lacis_array_release(array);
}

/* Of the GPU's programs the CPU's variant is only asked for the bits of the canonical order. */
static bool left_out(const lacis_variant *variant, const char *text)
{
    return parity_on_gpu() && variant->device != LACIS_GPU && !is_canonical(text);
}

/* Every variant: within the bound, the same bits again, in canonical order the same bits everywhere. */
static void check(parity *p, const char *text, const named *arrays, const lanes *like, lacis_dtype dtype,
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

static lacis_dtype result_of(const kind *k)
{
    if (strstr(k->words, "PRECISION dd") != NULL) return LACIS_DD;
    return strstr(k->words, "PRECISION f64") != NULL ? LACIS_F64 : k->vector;
}

static const number ALPHA = {1.5, 0}, BETA = {-0.75, 0};
#define ADDS " ADD y ALPHA 1.5 BETA -0.75"

/* One matrix by a vector, in all orders: both triangles, storage by turns where it is large. */
static void one_size(parity *p, const kind *k, int64_t n, uint64_t seed)
{
    symmetric s = {.dtype = k->matrix, .hermitian = k->hermitian, .matrices = 1, .n = n, .seed = seed, .base = 1};
    const lanes like = lanes_of(&s, 1);
    answer *e = calloc((size_t)n + 1, sizeof *e);
    lacis_array *x = vector_array(p, seed, n, k->vector, 1), *y = vector_array(p, seed + 1, n, k->vector, 1);
    multiply_one(&s, 0, seed, k->vector, seed + 1, k->vector, 0, ALPHA, BETA, e);
    for (int turn = 0; turn < 2 * STORAGES; turn++) {
        char text[120];
        s.upper = turn % 2 == 1;
        s.storage = (storage)(turn / 2);
        s.beside = turn % 3;
        if (n > 200 && s.storage != (storage)((uint64_t)(n + s.upper) % STORAGES)) continue;
        lacis_array *a = symmetric_array(p, &s);
        const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
        for (int o = 0; o < LACIS_COUNT(orders); o++) {
            snprintf(text, sizeof text, "SYMV a BY x" ADDS "%s%s", k->words, orders[o]);
            check(p, text, arrays, &like, result_of(k), e);
        }
        lacis_array_release(a);
    }
    lacis_array_release(x);
    lacis_array_release(y);
    free(e);
}

static void sizes(parity *p, const int64_t *n, int count)
{
    for (int k = 0; k < LACIS_COUNT(kinds); k++)
        for (int i = 0; i < count; i++)
            one_size(p, &kinds[k], n[i], 1000 * (uint64_t)k + (uint64_t)n[i]);
}

static void small_sizes(void **state)
{
    static const int64_t n[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    sizes(*state, n, LACIS_COUNT(n));
}

/* Where every access is looked at, what is read past an end shows at one of these sizes as well as at all. */
#if defined(__SANITIZE_ADDRESS__)
#define MIDDLE 1025
#else
#define MIDDLE 1000, 1023, 1024, 1025
#endif

static void middle_sizes(void **state)
{
    static const int64_t n[] = {MIDDLE};
    sizes(*state, n, LACIS_COUNT(n));
}

static void large_sizes(void **state)
{
#if defined(__SANITIZE_ADDRESS__)
    static const int few[] = {1};
#else
    static const int few[] = {0, 1, 2, 6};
#endif
    for (int i = 0; i < LACIS_COUNT(few); i++)
        one_size(*state, &kinds[few[i]], 4097, 77);
}

/* -------------------------------------------------------------------------------------- right sides */

/* Lanes of one matrix in every layout; y in another one than x. */
static void some_sides(parity *p, const kind *k, int64_t n, int64_t count, uint64_t seed)
{
    static const int64_t layouts[] = {1, 0, 2, 4, 64};
    symmetric s = {.dtype = k->matrix, .hermitian = k->hermitian, .matrices = 1, .n = n, .seed = seed};
    const lanes like = lanes_of(&s, count);
    answer *e = calloc((size_t)like.all + 1, sizeof *e);
    for (int64_t v = 0; v < count; v++)
        multiply_one(&s, 0, seed, k->vector, seed + 1, k->vector, v, ALPHA, BETA, e + v * n);
    s.storage = (storage)(seed % STORAGES);
    s.upper = seed % 2 == 1;
    lacis_array *a = symmetric_array(p, &s);
    for (int i = 0; i < 2 * LACIS_COUNT(layouts); i++) {
        char text[120];
        const int64_t block = layouts[i / 2], other = i % 2 == 0 ? block : layouts[(i / 2 + 1) % 5];
        lacis_array *x = batch_array(p, seed, like.rows, count, block, k->vector);
        lacis_array *y = batch_array(p, seed + 1, like.rows, count, other, k->vector);
        const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
        snprintf(text, sizeof text, "SYMV a BY x" ADDS "%s%s", k->words, orders[i % 2]);
        check(p, text, arrays, &like, result_of(k), e);
        lacis_array_release(x);
        lacis_array_release(y);
    }
    lacis_array_release(a);
    free(e);
}

static void right_sides(void **state)
{
    static const int64_t n[] = {1, 7, 64, 65, 130}, count[] = {1, 2, 3, 4, 5, 8, 17};
    uint64_t seed = 1;
    for (int k = 0; k < LACIS_COUNT(kinds); k++)
        for (int i = 0; i < LACIS_COUNT(n); i++)
            some_sides(*state, &kinds[k], n[i], count[(size_t)(k + i) % 7], seed++);
    some_sides(*state, &kinds[0], 500, 4, seed++);
    some_sides(*state, &kinds[2], 300, 9, seed++);
}

/* ------------------------------------------------------------------------------------------ batches */

static void one_batch(parity *p, const kind *k, symmetric *s, uint64_t seed)
{
    static const int64_t layouts[] = {1, 0, 3};
    const lanes like = lanes_of(s, s->matrices);
    answer *e = calloc((size_t)like.all + 1, sizeof *e);
    for (int64_t m = 0, at = 0; m < s->matrices; at += rows_of(s, m++))
        multiply_one(s, m, seed, k->vector, seed + 1, k->vector, m, ALPHA, BETA, e + at);
    for (int turn = 0; turn < 2 * STORAGES; turn++) {
        char text[120];
        const int64_t block = layouts[(size_t)turn % 3];
        s->upper = turn % 2 == 1;
        s->storage = (storage)(turn / 2);
        lacis_array *a = symmetric_array(p, s);
        lacis_array *x = batch_array(p, seed, like.rows, like.count, block, k->vector);
        lacis_array *y = batch_array(p, seed + 1, like.rows, like.count, layouts[(size_t)(turn / 2) % 3], k->vector);
        const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
        for (int o = 0; o < 2; o++) {
            snprintf(text, sizeof text, "SYMV a BY x" ADDS "%s%s", k->words, orders[o]);
            check(p, text, arrays, &like, result_of(k), e);
        }
        release(a, x, y);
    }
    free(e);
}

static void batches(void **state)
{
    for (int k = 0; k < LACIS_COUNT(kinds); k++) {
        const uint64_t seed = 400 + (uint64_t)k;
        symmetric even = {.dtype = kinds[k].matrix,
                          .hermitian = kinds[k].hermitian,
                          .matrices = 7,
                          .n = 20 + 15 * k % 64,
                          .seed = seed};
        symmetric uneven = {.dtype = kinds[k].matrix,
                            .hermitian = kinds[k].hermitian,
                            .matrices = 8,
                            .several = true,
                            .order = {5, 5, 65, 1, 0, 33, 33, 128},
                            .seed = seed};
        one_batch(*state, &kinds[k], &even, seed);
        one_batch(*state, &kinds[k], &uneven, seed);
    }
}

/* ---------------------------------------------------------------------------------- types that meet */

typedef struct meeting {
    lacis_dtype matrix, x, y, result;
} meeting;

/* Operands of several types: the widest decides; a real matrix by complex vectors. */
static void mixed_types(void **state)
{
    static const meeting meetings[] = {
        {LACIS_F64, LACIS_F32, LACIS_F64, LACIS_F64},   {LACIS_F32, LACIS_F64, LACIS_F32, LACIS_F64},
        {LACIS_F32, LACIS_F32, LACIS_DD, LACIS_DD},     {LACIS_DD, LACIS_F64, LACIS_F32, LACIS_DD},
        {LACIS_F64, LACIS_C128, LACIS_F64, LACIS_C128}, {LACIS_F64, LACIS_C64, LACIS_C128, LACIS_C128},
        {LACIS_F32, LACIS_C64, LACIS_C64, LACIS_C64},   {LACIS_F32, LACIS_C128, LACIS_F32, LACIS_C128},
        {LACIS_C128, LACIS_F64, LACIS_C64, LACIS_C128}, {LACIS_CDD, LACIS_DD, LACIS_C128, LACIS_CDD},
        {LACIS_DD, LACIS_CDD, LACIS_F64, LACIS_CDD},    {LACIS_F64, LACIS_CDD, LACIS_DD, LACIS_CDD},
    };
    static const int64_t layouts[] = {1, 0, 2};
    parity *p = *state;
    for (int i = 0; i < LACIS_COUNT(meetings); i++) {
        const meeting *m = &meetings[i];
        const uint64_t seed = 900 + (uint64_t)i;
        const int64_t n = 37;
        symmetric s = {.dtype = m->matrix, .hermitian = is_complex(m->matrix), .matrices = 1, .n = n, .seed = seed};
        for (int64_t count = 1; count <= 5; count += 2) {
            const lanes like = lanes_of(&s, count);
            answer *e = calloc((size_t)like.all, sizeof *e);
            for (int64_t v = 0; v < count; v++)
                multiply_one(&s, 0, seed, m->x, seed + 1, m->y, v, ALPHA, BETA, e + v * n);
            for (int o = 0; o < 2; o++)
                for (int l = 0; l < LACIS_COUNT(layouts); l++) {
                    char text[100];
                    const bool plain = count == 1 && l == 0;
                    lacis_array *a = symmetric_array(p, &s);
                    lacis_array *x = plain ? vector_array(p, seed, n, m->x, 0)
                                           : batch_array(p, seed, like.rows, count, layouts[l], m->x);
                    lacis_array *y = plain ? vector_array(p, seed + 1, n, m->y, 0)
                                           : batch_array(p, seed + 1, like.rows, count, layouts[2 - l], m->y);
                    const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
                    snprintf(text, sizeof text, "SYMV a BY x" ADDS "%s", orders[o]);
                    check(p, text, arrays, &like, m->result, e);
                    release(a, x, y);
                }
            free(e);
        }
    }
}

/* A real matrix in a batch by complex vectors, and complex factors. */
static void complex_numbers(void **state)
{
    parity *p = *state;
    const number alpha = {0.5, -1.25}, beta = {2, 0.375};
    const kind real = {LACIS_F64, LACIS_C128, false, ""};
    symmetric s = {.dtype = LACIS_F64, .matrices = 6, .n = 19, .seed = 5};
    one_batch(p, &real, &s, 5);
    for (int turn = 0; turn < 4; turn++) {
        s = (symmetric){.dtype = turn < 2 ? LACIS_C128 : LACIS_CDD, .matrices = 1, .n = 70, .seed = 6};
        s.hermitian = turn % 2 == 1;
        const lanes like = lanes_of(&s, 1);
        answer e[70];
        multiply_one(&s, 0, 6, s.dtype, 7, s.dtype, 0, alpha, beta, e);
        lacis_array *a = symmetric_array(p, &s);
        lacis_array *x = vector_array(p, 6, s.n, s.dtype, 0), *y = vector_array(p, 7, s.n, s.dtype, 0);
        const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
        check(p, "SYMV a BY x ADD y ALPHA complex(0.5, -1.25) BETA complex(2, 0.375)", arrays, &like, s.dtype, e);
        check(p, "SYMV a BY x ADD y ALPHA complex(0.5, -1.25) BETA complex(2, 0.375) ORDER canonical", arrays, &like,
              s.dtype, e);
        release(a, x, y);
    }
}

/* UPPER on full storage whose other triangle holds another matrix; CONJ on one that does not say Hermitian. */
static void words(void **state)
{
    parity *p = *state;
    const int64_t n = 40;
    symmetric lower = {.dtype = LACIS_C128, .matrices = 1, .n = n, .seed = 8}, upper = lower, conj = lower;
    const lanes like = lanes_of(&lower, 1);
    const number one = {1, 0};
    answer e[3][40];
    upper.seed = 9;
    upper.upper = true;
    conj.hermitian = true;
    multiply_one(&lower, 0, 3, LACIS_C128, 0, LACIS_C128, 0, one, one, e[0]);
    multiply_one(&upper, 0, 3, LACIS_C128, 0, LACIS_C128, 0, one, one, e[1]);
    multiply_one(&conj, 0, 3, LACIS_C128, 0, LACIS_C128, 0, one, one, e[2]);
    lacis_array *a = symmetric_array(p, &lower), *x = vector_array(p, 3, n, LACIS_C128, 0);
    char *data = lacis_buffer_data(lacis_array_part_buffer(a, "values", &(uint64_t){0}));
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < j; i++)
            put_number(data, j * n + i, LACIS_C128, element(&upper, 0, i, j));
    const named arrays[] = {{"a", a}, {"x", x}, {NULL, NULL}};
    check(p, "SYMV a BY x", arrays, &like, LACIS_C128, e[0]);
    check(p, "SYMV a BY x LOWER ORDER canonical", arrays, &like, LACIS_C128, e[0]);
    check(p, "SYMV a BY x LOWER CONJ", arrays, &like, LACIS_C128, e[2]);
    for (int64_t i = 0; i < n; i++) /* the diagonal belongs to both */
        put_number(data, i * n + i, LACIS_C128, element(&upper, 0, i, i));
    lacis_buffer_change(lacis_array_part_buffer(a, "values", &(uint64_t){0})); /* a device may have a copy */
    check(p, "SYMV a BY x UPPER", arrays, &like, LACIS_C128, e[1]);
    release(a, x, NULL);
}

/* ------------------------------------------------------------------------------------------- labels */

static lacis_array *sparse_vector(parity *p, uint64_t seed, const int64_t *label, int64_t count, int64_t n)
{
    lacis_array *array = NULL;
    double values[16];
    for (int64_t i = 0; i < count; i++)
        put_number(values, i, LACIS_F64, vector_number(seed, 0, label[i] - 1, LACIS_F64));
    parity_ok(p, lacis_array_new(&p->run, LACIS_VECTOR, LACIS_F64, n, 0, &array), "a vector");
    add_bytes(p, array, "values", LACIS_F64, count, values, 0);
    add_bytes(p, array, "index", LACIS_I64, count, label, 0);
    return array;
}

/* Ids that x lacks are zeros. */
static void labels(void **state)
{
    static const int64_t some[] = {2, 3, 5, 8, 9};
    parity *p = *state;
    symmetric s = {.dtype = LACIS_F64, .matrices = 1, .n = 9, .seed = 11, .base = 1};
    lacis_array *a = symmetric_array(p, &s), *x = sparse_vector(p, 12, some, 5, 9);
    const lanes like = lanes_of(&s, 1);
    answer e[9] = {0};
    for (int64_t i = 0; i < 9; i++)
        for (int k = 0; k < 5; k++) {
            number ax = times(element(&s, 0, i, some[k] - 1), vector_number(12, 0, some[k] - 1, LACIS_F64));
            e[i].y.re += ax.re;
            e[i].size += size_of(ax);
        }
    const named arrays[] = {{"a", a}, {"x", x}, {NULL, NULL}};
    check(p, "SYMV a BY x", arrays, &like, LACIS_F64, e);
    release(a, x, NULL);
}

/* ---------------------------------------------------------------------------------------- contracts */

static void set_bits(lacis_array *array, const char *part, int64_t index, double value)
{
    uint64_t offset = 0;
    lacis_buffer *buffer = lacis_array_part_buffer(array, part, &offset);
    ((double *)((char *)lacis_buffer_data(buffer) + offset))[index] = value;
    lacis_buffer_change(buffer); /* a device may have a copy */
}

static const double *first_run(parity *p, const char *text, const named *arrays, lacis_array **out)
{
    char reason[256];
    lacis_call *call;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    const lacis_variant *variant = call->op->variants[0];
    for (int i = 0; parity_on_gpu() && i < call->op->variant_count; i++) {
        call->on = LACIS_ON_GPU;
        const lacis_variant *other = call->op->variants[i];
        if (other->device == LACIS_GPU && other->can(call, reason, sizeof reason)) variant = other;
    }
    parity_ok(p, variant->run(&p->run, call, 0, call->units, out), text);
    parity_unbind(p, call);
    return lacis_array_part_named(*out, "values")->data;
}

/* y is not read with BETA 0; NaN and infinity go on into what they touch, and into nothing else. */
static void what_is_not_a_number(void **state)
{
    parity *p = *state;
    for (int turn = 0; turn < 2; turn++) {
        const int64_t n = 200, bad = 70, row = 150;
        const char *order = turn == 0 ? "" : " ORDER canonical";
        char text[100];
        symmetric s = {.dtype = LACIS_F64, .matrices = 1, .n = n, .seed = 21};
        lacis_array *a = symmetric_array(p, &s), *x = vector_array(p, 22, n, LACIS_F64, 0);
        lacis_array *y = vector_array(p, 23, n, LACIS_F64, 0), *out;
        const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
        for (int64_t i = 0; i < n; i++)
            set_bits(y, "values", i, NAN);
        snprintf(text, sizeof text, "SYMV a BY x ADD y BETA 0%s", order);
        const double *found = first_run(p, text, arrays, &out);
        for (int64_t i = 0; i < n; i++)
            assert_true(isfinite(found[i]));
        lacis_array_release(out);
        snprintf(text, sizeof text, "SYMV a BY x ADD y%s", order);
        found = first_run(p, text, arrays, &out);
        for (int64_t i = 0; i < n; i++)
            assert_true(isnan(found[i]));
        lacis_array_release(out);
        snprintf(text, sizeof text, "SYMV a BY x%s", order);
        set_bits(a, "values", bad * n + row, NAN);
        found = first_run(p, text, arrays, &out);
        for (int64_t i = 0; i < n; i++)
            assert_int_equal(isnan(found[i]) != 0, i == bad || i == row);
        lacis_array_release(out);
        set_bits(a, "values", bad * n + row, 0.5);
        set_bits(x, "values", bad, INFINITY);
        found = first_run(p, text, arrays, &out);
        for (int64_t i = 0; i < n; i++)
            assert_true(isinf(found[i]));
        lacis_array_release(out);
        release(a, x, y);
    }
}

/* SET deterministic = on is the canonical order. */
static void deterministic(void **state)
{
    parity *p = *state;
    symmetric s = {.dtype = LACIS_F32, .matrices = 1, .n = 777, .seed = 31};
    lacis_array *a = symmetric_array(p, &s), *x = vector_array(p, 32, s.n, LACIS_F32, 0), *out[2];
    const named arrays[] = {{"a", a}, {"x", x}, {NULL, NULL}};
    p->host.deterministic = true;
    const void *plain = first_run(p, "SYMV a BY x", arrays, &out[0]);
    p->host.deterministic = false;
    const void *canonical = first_run(p, "SYMV a BY x ORDER canonical", arrays, &out[1]);
    assert_memory_equal(plain, canonical, sizeof(float) * (size_t)s.n);
    lacis_array_release(out[0]);
    lacis_array_release(out[1]);
    release(a, x, NULL);
}

/* ------------------------------------------------------------------------------------------ figures */

static double column(const lacis_array *table, const char *name, int64_t row)
{
    const lacis_part *part = lacis_array_part_named(table, name);
    if (part == NULL) fail_msg("no column %s", name);
    return lacis_value_double(part->data, part->dtype, row);
}

static void near(const char *what, double found, double value, double bound)
{
    if (!(fabs(found - value) <= bound)) fail_msg("%s is %.17g, expected %.17g", what, found, value);
}

/* x^H A x is before alpha and beta, norms are of y. */
static void check_figures(parity *p, const symmetric *s, const lanes *like, const named *arrays, const char *text,
                          lacis_dtype dtype)
{
    const int64_t n = s->n;
    answer *e = calloc((size_t)n + 1, sizeof *e), *plain = calloc((size_t)n + 1, sizeof *plain);
    char reason[256];
    lacis_call *call;
    const number one = {1, 0};
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    assert_int_equal(call->kind, LACIS_TABLE);
    if (parity_on_gpu()) call->on = LACIS_ON_GPU;
    for (int i = 0; i < call->op->variant_count; i++) {
        const lacis_variant *variant = call->op->variants[i];
        lacis_array *table;
        if (parity_on_gpu() && variant->device != LACIS_GPU) continue;
        if (!variant->can(call, reason, sizeof reason)) {
            parity_skipped(p, text, variant->name, reason);
            continue;
        }
        parity_ok(p, variant->run(&p->run, call, 0, 1, &table), text);
        for (int64_t v = 0; v < like->count; v++) {
            double norm1 = 0, norm2 = 0, most = 0, size = 0, y_size = 0;
            number dot = {0, 0};
            multiply_one(s, 0, 41, dtype, 42, dtype, v, ALPHA, BETA, e);
            multiply_one(s, 0, 41, dtype, 0, dtype, v, one, one, plain);
            for (int64_t r = 0; r < n; r++) {
                number x = vector_number(41, v, r, dtype);
                number part = times((number){x.re, -x.im}, plain[r].y);
                dot.re += part.re, dot.im += part.im;
                size += size_of(x) * plain[r].size;
                norm1 += size_of(e[r].y);
                norm2 += size_of(e[r].y) * size_of(e[r].y);
                most = fmax(most, size_of(e[r].y));
                y_size += e[r].size;
            }
            const double u = is_single(dtype) ? 0x1p-24 : 0x1p-53, c = 4 * u * (double)(n + 8);
            near("dot", column(table, "dot", v), (double)dot.re, c * size);
            near("dot_im", column(table, "dot_im", v), (double)dot.im, c * size);
            near("norm1", column(table, "norm1", v), norm1, c * y_size);
            near("norm2", column(table, "norm2", v), sqrt(norm2), c * y_size);
            near("norm_max", column(table, "norm_max", v), most, c * y_size);
            if (is_wide(dtype)) {
                double low = (double)(dot.re - (quad)column(table, "dot", v));
                near("dot_lo", column(table, "dot_lo", v), low, bound_of(dtype, 2 * n, size));
            }
        }
        lacis_array_release(table);
    }
    parity_unbind(p, call);
    free(e);
    free(plain);
}

static void figures(void **state)
{
    static const lacis_dtype types[] = {LACIS_F64, LACIS_F32, LACIS_C128, LACIS_C64, LACIS_DD, LACIS_CDD};
    parity *p = *state;
    for (int t = 0; t < LACIS_COUNT(types); t++)
        for (int64_t count = 1; count <= 3; count++) {
            symmetric s = {.dtype = types[t], .matrices = 1, .n = 90, .seed = 40};
            s.hermitian = is_complex(types[t]);
            const lanes like = lanes_of(&s, count);
            lacis_array *a = symmetric_array(p, &s);
            lacis_array *x = count == 1 ? vector_array(p, 41, s.n, types[t], 0)
                                        : batch_array(p, 41, like.rows, count, count - 2, types[t]);
            lacis_array *y = count == 1 ? vector_array(p, 42, s.n, types[t], 0)
                                        : batch_array(p, 42, like.rows, count, 1, types[t]);
            const named arrays[] = {{"a", a}, {"x", x}, {"y", y}, {NULL, NULL}};
            check_figures(p, &s, &like, arrays, "SYMV a BY x" ADDS " FIGURES", types[t]);
            check_figures(p, &s, &like, arrays, "SYMV a BY x" ADDS " FIGURES ORDER canonical", types[t]);
            release(a, x, y);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(small_sizes, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(middle_sizes, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(large_sizes, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(right_sides, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(batches, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(mixed_types, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(complex_numbers, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(words, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(labels, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(what_is_not_a_number, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(deterministic, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(figures, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
