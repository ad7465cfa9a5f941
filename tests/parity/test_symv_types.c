/* SPDX-License-Identifier: Apache-2.0
 *
 * Operands of SYMV that differ: types that meet, complex factors, the words UPPER, LOWER and CONJ, and vectors that
 * lack ids.
 */
#include "parity/symv_check.h"

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

static void complex_factors(void **state)
{
    parity *p = *state;
    const number alpha = {0.5, -1.25}, beta = {2, 0.375};
    for (int turn = 0; turn < 4; turn++) {
        symmetric s = {.dtype = turn < 2 ? LACIS_C128 : LACIS_CDD, .matrices = 1, .n = 70, .seed = 6};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(mixed_types, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(complex_factors, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(words, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(labels, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
