/* SPDX-License-Identifier: Apache-2.0
 *
 * What SWEEP makes of its clauses, which the parity cases take for granted: edges as numbers, by face and field;
 * rules from expressions, with their taps; steps, changes and files. And that a recognised rule means what is
 * written.
 */
#include "parity/sweeps.h"

static const lacis_sweep_work *bound(sweeps *s, const char *text, lacis_call **call)
{
    s->length = 0;
    say(s, "%s", text);
    *call = bind_sweep(s, false);
    return (*call)->work;
}

static void done(sweeps *s, lacis_call *call)
{
    parity_unbind(s->p, call);
    lacis_run_clear(&s->p->run);
}

static void begin(sweeps *s, parity *p, int dims, int fields)
{
    static const int64_t extent[3] = {9, 8, 7};
    dice d = 4;
    sweeps_new(s, p, &d, dims, extent, fields, false);
    add_coefficients(s, &d, 1);
}

/* --- edges -------------------------------------------------------------------------------------------- */

static void expect_affine(const lacis_sweep_edge *edge, const double *a, const double *b)
{
    assert_int_equal(edge->kind, LACIS_SWEEP_AFFINE);
    for (int k = 0; k < LACIS_SWEEP_RADIUS; k++)
        if (edge->a[k] != a[k] || edge->b[k] != b[k])
            fail_msg("%d beyond: %.17g + %.17g u, expected %.17g + %.17g u", k + 1, edge->a[k], edge->b[k], a[k],
                     b[k]);
}

static void edges(void **state)
{
    static const double zero[4] = {0}, one[4] = {1, 1, 1, 1}, half[4] = {0.5, 0.5, 0.5, 0.5};
    static const double outwards[4] = {0.25, 0.75, 1.25, 1.75};
    /* a = 2, b = 3, g = 5: (5 - u (1 - 3 / (2k - 1))) / (1 + 3 / (2k - 1)) */
    static const double g[4] = {5.0 / 4, 5.0 / 2, 5.0 / 1.6, 5.0 / (1 + 3.0 / 7)};
    static const double u[4] = {2.0 / 4, -0.0 / 2, -(1 - 3.0 / 5) / (1 + 3.0 / 5), -(1 - 3.0 / 7) / (1 + 3.0 / 7)};
    sweeps s;
    lacis_call *call;
    begin(&s, *state, 3, 1);
    const lacis_sweep_work *w = bound(&s,
                                      "SWEEP g STEP u[1] TYPE f64 EDGE clamp EDGE left fixed 0.5 EDGE top neumann "
                                      "0.25 EDGE front robin 2 3 5 EDGE y mirror "
                                      "EDGE bottom neumann 0.25 EDGE back fixed",
                                      &call);
    expect_affine(&w->edge[0][0], half, zero);
    assert_int_equal(w->edge[0][1].kind, LACIS_SWEEP_CLAMP);
    expect_affine(&w->edge[0][2], outwards, one);
    assert_int_equal(w->edge[0][3].kind, LACIS_SWEEP_MIRROR); /* later clauses win */
    expect_affine(&w->edge[0][4], g, u);
    assert_int_equal(w->edge[0][5].kind, LACIS_SWEEP_HOLD);
    done(&s, call);
    w = bound(&s, "SWEEP g STEP u[2] EDGE left robin 2 1 3 EDGE right robin 0 2 3 EDGE top robin 1 -2 3", &call);
    assert_string_equal(lacis_sweep_edge_text(&s.p->run, w, 0, 0), "robin: 1.5 + 0 u"); /* of the first cell beyond */
    assert_string_equal(lacis_sweep_edge_text(&s.p->run, w, 0, 1), "neumann 1.5");
    assert_string_equal(lacis_sweep_edge_text(&s.p->run, w, 0, 3), "robin: -2 + 1.66667 u");
    done(&s, call);
    w = bound(&s, "SWEEP g STEP u[1] EDGE z periodic", &call);
    for (int face = 0; face < 6; face++)
        assert_int_equal(w->edge[0][face].kind, face < 4 ? LACIS_SWEEP_HOLD : LACIS_SWEEP_PERIODIC);
    done(&s, call);
    w = bound(&s, "SWEEP g STEP u[1] TYPE f32 EDGE fixed 0.1", &call);
    assert_true(w->edge[0][3].a[2] == (double)0.1f && w->edge[0][3].b[2] == 0);
    done(&s, call);
    sweeps_free(&s);
}

static void edges_of_fields(void **state)
{
    sweeps s;
    lacis_call *call;
    begin(&s, *state, 2, 3);
    const lacis_sweep_work *w =
        bound(&s, "SWEEP g STEP u = u, v = v, w = w EDGE x clamp EDGE OF v mirror EDGE OF W right fixed 3", &call);
    for (int face = 0; face < 4; face++) {
        assert_int_equal(w->edge[0][face].kind, face < 2 ? LACIS_SWEEP_CLAMP : LACIS_SWEEP_HOLD);
        assert_int_equal(w->edge[1][face].kind, LACIS_SWEEP_MIRROR);
    }
    assert_int_equal(w->edge[2][0].kind, LACIS_SWEEP_CLAMP);
    assert_int_equal(w->edge[2][1].kind, LACIS_SWEEP_AFFINE);
    done(&s, call);
    sweeps_free(&s);
}

/* --- rules -------------------------------------------------------------------------------------------- */

/* "0.25{0:-1,0,0 ...} + 0.5", or "written{...}". */
static const char *rule_text(const lacis_sweep_rule *rule)
{
    static char text[2048];
    size_t at = 0;
    const int groups = rule->written ? 1 : rule->linear.groups;
    text[0] = '\0';
    for (int g = 0; g < groups; g++) {
        const int first = rule->written ? 0 : rule->linear.first[g],
                  end = rule->written ? rule->taps : rule->linear.first[g + 1];
        at += (size_t)(rule->written ? snprintf(text, sizeof text, "written{")
                                     : snprintf(text + at, sizeof text - at, "%s%g{", g > 0 ? " " : "",
                                                rule->linear.weight[g]));
        for (int i = first; i < end; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%d:%d,%d", i > first ? " " : "",
                                   rule->tap[i].array, rule->tap[i].at[0], rule->tap[i].at[1]);
        at += (size_t)snprintf(text + at, sizeof text - at, "}");
    }
    if (!rule->written && rule->linear.constant != 0)
        snprintf(text + at, sizeof text - at, " + %g", rule->linear.constant);
    return text;
}

static void rules(void **state)
{
    static const struct {
        const char *step, *rule;
    } cases[] = {
        {"(u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4", "0.25{0:-1,0 0:1,0 0:0,-1 0:0,1}"},
        {"0.25 * u[0,1] + u[0,-1] / 4 - -0.25 * (U[1] + value[-1])", "0.25{0:-1,0 0:1,0 0:0,-1 0:0,1}"},
        {"u + 0.125 * (u[-1] - 2*u + u[1])", "0.75{0:0,0} 0.125{0:-1,0 0:1,0}"},
        {"u + 0.25 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4*u)", "0{0:0,0} 0.25{0:-1,0 0:1,0 0:0,-1 0:0,1}"},
        {"0.5 * u[1] + u + value[1] / 4", "1{0:0,0} 0.75{0:1,0}"},
        {"1e308 * u[1] + 1e308 * value[1]", "written{0:1,0 0:1,0}"},
        {"u * 1e20 * 1e20 + u[1] TYPE f32", "written{0:0,0 0:1,0}"},
        {"u * 1e20 * 1e20 + u[1] TYPE f64", "1e+40{0:0,0} 1{0:1,0}"},
        {"u[2] - k[0,1] * 3 + 1.5", "1{0:2,0} -3{1:0,1} + 1.5"},
        {"u * k + u[1]", "written{0:0,0 1:0,0 0:1,0}"},
        {"u + x / 4", "written{0:0,0}"},
        {"max(u[1], u[-1])", "written{0:1,0 0:-1,0}"},
    };
    sweeps s;
    begin(&s, *state, 2, 1);
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        char text[300];
        lacis_call *call;
        snprintf(text, sizeof text, "SWEEP g STEP %s COEFF k = k0", cases[i].step);
        const lacis_sweep_work *w = bound(&s, text, &call);
        assert_string_equal(rule_text(&w->formula[0].rule), cases[i].rule);
        done(&s, call);
    }
    sweeps_free(&s);
}

static void sources(void **state)
{
    sweeps s;
    lacis_call *call;
    dice d = 8;
    begin(&s, *state, 2, 2);
    add_source(&s, &d);
    const lacis_sweep_work *w = bound(&s, "SWEEP g STEP v = u[1] / 2 + 1, u = v * v SOURCE src COEFF k = k0", &call);
    assert_int_equal(w->coefficients, 3);
    assert_string_equal(rule_text(&w->formula[0].rule), "written{1:0,0 3:0,0}");
    assert_int_equal(w->formula[0].source, 1);
    assert_string_equal(rule_text(&w->formula[1].rule), "0.5{0:1,0} 1{4:0,0} + 1");
    done(&s, call);
    sweeps_free(&s);
}

/* --- a recognised rule means what is written ----------------------------------------------------------- */

static void meaning(void **state)
{
    sweeps s;
    lacis_call *call;
    lacis_array *array = NULL;
    lacis_grid grid;
    begin(&s, *state, 2, 1);
    const double *u = s.n.array[0], *k = s.n.array[1];
    const int64_t nx = s.n.extent[0], ny = s.n.extent[1];
    const char *text =
        "SWEEP g STEP (3 * u[-1,2] - (u[1,1] - k[2,-1] / 5)) * 0.7 - u / 3 + k + 2 COEFF k = k0 TYPE f64";
    bound(&s, text, &call);
    parity_ok(s.p, call->op->variants[0]->run(&s.p->run, call, 0, 1, &array), text);
    parity_ok(s.p, lacis_grid_view(&s.p->run, array, &grid), text);
    for (int64_t y = 2; y < ny - 2; y++)
        for (int64_t x = 2; x < nx - 2; x++) {
            const int64_t i = y * nx + x;
            const double wanted =
                (3 * u[i - 1 + 2 * nx] - (u[i + 1 + nx] - k[i + 2 - nx] / 5)) * 0.7 - u[i] / 3 + k[i] + 2;
            const double found = lacis_value_double(grid.field[0], grid.dtype, i);
            if (!(fabs(found - wanted) < 1e-14))
                fail_msg("%lld, %lld: %.17g, expected %.17g", (long long)x, (long long)y, found, wanted);
        }
    lacis_array_release(array);
    done(&s, call);
    sweeps_free(&s);
}

static void clauses(void **state)
{
    sweeps s;
    lacis_call *call;
    begin(&s, *state, 2, 1);
    const lacis_sweep_work *w = bound(&s, "SWEEP g STEP u", &call);
    assert_true(w->steps == 1 && w->check == 0 && w->rows == 0 && w->keep == 0 && w->levels == 0);
    assert_int_equal(w->type, s.dtype == LACIS_F32 ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64);
    done(&s, call);
    w = bound(&s, "SWEEP g STEP u STEPS 1e3 UNTIL l2 < 1e-3 TYPE f32 LEVELS 4", &call);
    assert_true(w->steps == 1000 && w->check == 1 && w->rows == 1 && w->l2 && w->tolerance == 1e-3 && w->levels == 4);
    assert_int_equal(w->type, LACIS_SWEEP_F32);
    done(&s, call);
    w = bound(&s, "SWEEP g STEP u STEPS 9 UNTIL max < 2 EVERY 7 CHANGE EVERY 3 KEEP EVERY 5", &call);
    assert_true(w->check == 7 && w->rows == 3 && !w->l2 && w->keep == 5);
    assert_string_equal(w->to, "g_*.npy");
    done(&s, call);
    w = bound(&s, "SWEEP g STEP u KEEP EVERY 5 TO 'a/b_*.npy'", &call);
    assert_string_equal(w->to, "a/b_*.npy");
    done(&s, call);
    sweeps_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(edges, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(edges_of_fields, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(rules, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(sources, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(meaning, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(clauses, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
