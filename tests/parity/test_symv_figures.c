/* SPDX-License-Identifier: Apache-2.0
 *
 * FIGURES of SYMV, quadratic form and norms, against sums in __float128.
 */
#include "parity/symv_check.h"

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
        cmocka_unit_test_setup_teardown(figures, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
