/* SPDX-License-Identifier: Apache-2.0
 *
 * What SYMV promises of single numbers and bits: y is not read with BETA 0, NaN and infinity go on, and SET
 * deterministic = on is the canonical order.
 */
#include "parity/symv_check.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_not_a_number, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(deterministic, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
