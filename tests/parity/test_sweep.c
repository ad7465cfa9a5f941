/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP against sweeps cell by cell (sweep_reference.h): every variant, one to three dimensions, odd and tiny sizes,
 * both types, all edges face by face, several fields, coefficients, sources, recognised and written rules, steps one
 * by one and several a pass, changes; all of it bit by bit. With LACIS_PARITY=gpu in the environment the GPU's
 * variants; LACIS_SWEEP_ROUNDS=n asks for more random calls, LACIS_SWEEP_SEED=n for others.
 */
#include "parity/sweeps.h"

#include <inttypes.h>

#if defined(__SANITIZE_ADDRESS__)
enum { ROUNDS = 60 };
#else
enum { ROUNDS = 250 };
#endif

static int64_t asked(const char *name, int64_t otherwise)
{
    const char *text = getenv(name);
    return text != NULL && *text != '\0' ? atoll(text) : otherwise;
}

/* --- edges -------------------------------------------------------------------------------------------- */

enum { FIXED, FIXED_VALUE, FIXED_ARRAY, CLAMP, NEUMANN, ROBIN, MIRROR, EDGES };

static void say_edge(sweeps *s, dice *d, int field, int face, int kind)
{
    static const char *const name[] = {"left", "right", "bottom", "top", "front", "back"};
    if (s->n.dims == 1 && kind == FIXED_ARRAY) kind = FIXED_VALUE;
    say(s, " EDGE OF %s %s ", s->n.fields == 1 ? "u" : field_name[field], name[face]);
    if (kind == FIXED) say(s, "fixed");
    if (kind == FIXED_VALUE) say(s, "fixed %.9g", any_value(d));
    if (kind == FIXED_ARRAY) say(s, "fixed %s", add_face(s, d, field, face));
    if (kind == CLAMP) say(s, "clamp");
    if (kind == NEUMANN) say(s, "neumann %.9g", any_value(d));
    if (kind == ROBIN) say(s, "robin %.9g %.9g %.9g", 1.5 + any_value(d), 1.5 + any_value(d), any_value(d));
    if (kind == MIRROR) say(s, "mirror");
}

/* Each face its own, or an axis periodic; now and then nothing at all. */
static void say_edges(sweeps *s, dice *d)
{
    static const char axis_name[] = "xyz";
    for (int field = 0; field < s->n.fields; field++)
        for (int axis = 0; axis < s->n.dims; axis++) {
            if (below(d, 4) == 0) {
                say(s, " EDGE OF %s %c periodic", s->n.fields == 1 ? "value" : field_name[field], axis_name[axis]);
                continue;
            }
            for (int face = 2 * axis; face < 2 * axis + 2; face++)
                if (below(d, 7) != 0) say_edge(s, d, field, face, below(d, EDGES));
        }
}

/* --- rules -------------------------------------------------------------------------------------------- */

static const char *of_field(const sweeps *s, int field)
{
    return s->n.fields == 1 ? "u" : field_name[field];
}

static void say_tap(sweeps *s, const char *name, const int at[3])
{
    say(s, "%s[%d", name, at[0]);
    if (s->n.dims > 1) say(s, ",%d", at[1]);
    if (s->n.dims > 2) say(s, ",%d", at[2]);
    say(s, "]");
}

/* A sum of weighted cells of a random shape: stars, boxes, anything. */
static void say_linear(sweeps *s, dice *d, int field)
{
    static const double weights[] = {0.25, 0.125, -0.5, 0.1, 1.0 / 3, 0.0625};
    const int shape = below(d, 4), radius = below(d, 3) == 0 ? 1 + below(d, LACIS_SWEEP_RADIUS) : 1;
    const double near = weights[below(d, 6)], far = weights[below(d, 6)], centre = weights[below(d, 6)];
    int at[3], taps = 0;
    const int ry = s->n.dims > 1 ? radius : 0, rz = s->n.dims > 2 ? radius : 0;
    for (at[2] = -rz; at[2] <= rz; at[2]++)
        for (at[1] = -ry; at[1] <= ry; at[1]++)
            for (at[0] = -radius; at[0] <= radius; at[0]++) {
                const int off = (at[0] != 0) + (at[1] != 0) + (at[2] != 0);
                if (shape <= 1 && off > 1) continue;
                if (shape == 2 && radius > 1 && off > 1 && below(d, 3) != 0) continue;
                if (shape == 3 && below(d, 2) != 0) continue;
                if (taps >= 60 || (shape == 0 && off == 0)) continue;
                say(s, "%s%.9g * ", taps++ > 0 ? " + " : "", off == 0 ? centre : off == 1 ? near : far);
                say_tap(s, of_field(s, below(d, 5) == 0 ? below(d, s->n.fields) : field), at);
            }
    if (taps == 0) say(s, "%s", of_field(s, field));
    if (s->named > 0 && below(d, 2) == 0) say(s, " - 0.25 * k0[1] + 0.5 * k0[-1]");
    if (below(d, 4) == 0) say(s, " + 0.375");
}

static double rounded(const naive *n, double value)
{
    return to_type(n, value);
}

#define U(dx, dy, dz) naive_tap(n, 0, at, dx, dy, dz)
#define K(dx, dy, dz) naive_tap(n, n->fields, at, dx, dy, dz)
#define R(value)      rounded(n, value)

static double by_products(const naive *n, const int64_t at[3])
{
    return R(R(K(0, 0, 0) * R(U(-1, 0, 0) + U(1, 0, 0))) - R(U(0, 0, 0) * U(0, 0, 0)));
}

static double by_places(const naive *n, const int64_t at[3])
{
    const double a = U(-2, 0, 0), b = U(1, 0, 0), x = R((double)at[0]), t = R((double)n->t);
    const double least = isnan(a) || b < a ? b : a;
    return R(R(least * 0.5) + R(R(x * 0.125) - R(t * 0.5)));
}

static double by_cases(const naive *n, const int64_t at[3])
{
    return U(0, 0, 0) > K(1, 0, 0) ? R(U(1, 0, 0) - 1) : R(U(-1, 0, 0) / 3);
}

static double by_far(const naive *n, const int64_t at[3])
{
    return R(R(sqrt(fabs(U(-4, 0, 0)))) * R(U(0, 3, 0) - U(0, 0, 0)));
}

static const struct {
    const char *text;
    naive_rule fn;
    int dims;
} written[] = {
    {"k0 * (u[-1] + u[1]) - u * u", by_products, 1},
    {"min(u[-2], u[1]) * 0.5 + (x * 0.125 - t * 0.5)", by_places, 1},
    {"CASE WHEN u > k0[1] THEN u[1] - 1 ELSE u[-1] / 3 END", by_cases, 1},
    {"sqrt(abs(u[-4])) * (u[0,3] - u)", by_far, 2},
};

/* One written rule at most, of the first field. */
static void say_rules(sweeps *s, dice *d)
{
    const int which = below(d, 2 * LACIS_COUNT(written));
    const bool write = which < LACIS_COUNT(written) && s->named > 0 && s->n.dims >= written[which].dims;
    say(s, "SWEEP g STEP ");
    for (int field = 0; field < s->n.fields; field++) {
        say(s, "%s", field > 0 ? ", " : "");
        if (s->n.fields > 1 || below(d, 3) == 0) say(s, "%s = ", of_field(s, field));
        if (write && field == 0) {
            say(s, "%s", written[which].text);
            s->n.written[0] = written[which].fn;
        } else {
            say_linear(s, d, field);
        }
    }
}

/* --- random calls ------------------------------------------------------------------------------------- */

static void random_extent(dice *d, int dims, int64_t *extent)
{
    static const int most[] = {0, 1500, 90, 28};
    for (int k = 0; k < dims; k++) /* every reach fits; now and then hardly */
        extent[k] = (below(d, 6) == 0 ? 5 : 9) + below(d, most[dims] + (k == 0 ? 40 : 0));
}

static void random_call(parity *p, dice *d)
{
    int64_t extent[3], every = 0;
    const int dims = 1 + below(d, 3), fields = below(d, 3) == 0 ? 1 + below(d, 3) : 1, coefficients = below(d, 3);
    const int64_t steps = 1 + below(d, 9);
    const bool floats = below(d, 2) == 0, source = below(d, 4) == 0;
    sweeps s;
    random_extent(d, dims, extent);
    sweeps_new(&s, p, d, dims, extent, fields, floats);
    add_coefficients(&s, d, coefficients);
    if (source) add_source(&s, d);
    say_rules(&s, d);
    say(&s, " STEPS %" PRId64 " TYPE %s", steps, floats ? "f32" : "f64");
    for (int i = 0; i < coefficients; i++)
        say(&s, " COEFF k%d = k%d", i, i);
    if (source) say(&s, " SOURCE src");
    if (below(d, 2) == 0) {
        every = 1 + below(d, 3);
        say(&s, " CHANGE EVERY %" PRId64, every);
    }
    if (below(d, 2) == 0) say(&s, " LEVELS %d", 1 + below(d, 5));
    say_edges(&s, d);
    check_sweep(&s, steps, every);
    sweeps_free(&s);
}

static void random_calls(void **state)
{
    const int64_t few = 60; /* of a GPU, for which nearly each is compiled */
    const int64_t rounds = asked("LACIS_SWEEP_ROUNDS", parity_on_gpu() ? few : ROUNDS),
                  seed = asked("LACIS_SWEEP_SEED", 1);
    for (int64_t i = 0; i < rounds; i++) {
        dice d = (uint64_t)(seed * 1000003 + i);
        random_call(*state, &d);
    }
}

/* --- the usual ones, larger ---------------------------------------------------------------------------- */

static void usual_call(parity *p, dice *d, int dims, const int64_t *extent, const char *step, const char *clauses,
                       int64_t steps)
{
    for (int floats = 0; floats < 2; floats++) {
        sweeps s;
        sweeps_new(&s, p, d, dims, extent, 1, floats == 1);
        say(&s, "SWEEP g STEP %s STEPS %" PRId64 " TYPE %s CHANGE EVERY 7 %s", step, steps,
            floats == 1 ? "f32" : "f64", clauses);
        check_sweep(&s, steps, 7);
        sweeps_free(&s);
    }
}

static void usual_calls(void **state)
{
    static const char *const edges[] = {"",
                                        "EDGE fixed 0.5",
                                        "EDGE clamp",
                                        "EDGE neumann 0.25",
                                        "EDGE periodic",
                                        "EDGE mirror",
                                        "EDGE robin 1 2 0.5",
                                        "EDGE x periodic EDGE bottom fixed 1",
                                        "EDGE left fixed 1 EDGE right neumann 1"};
    static const char *const step[] = {
        "0.2 * u[-1] + 0.3 * u + 0.2 * u[1]", "(u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4",
        "u + 0.1 * (u[-1,0,0] + u[1,0,0] + u[0,-1,0] + u[0,1,0] + u[0,0,-1] + u[0,0,1] - "
        "6 * u)"};
    static const int64_t extent[][3] = {{5003, 1, 1}, {301, 131, 1}, {67, 35, 29}};
    dice d = 7;
    for (int dims = 1; dims <= 3; dims++)
        for (int e = 0; e < LACIS_COUNT(edges); e++) {
            if (dims == 1 && strstr(edges[e], "bottom") != NULL) continue;
            usual_call(*state, &d, dims, extent[dims - 1], step[dims - 1], edges[e], 20);
        }
    usual_call(*state, &d, 2, extent[1],
               "(4 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) + u[-1,-1] + u[1,-1] + u[-1,1] + u[1,1]) / 20", "", 20);
}

/* NaN and infinity go on as they do cell by cell. */
static void not_numbers(void **state)
{
    dice d = 3;
    for (int floats = 0; floats < 2; floats++) {
        const int64_t extent[3] = {40, 21, 1};
        sweeps s;
        sweeps_new(&s, *state, &d, 2, extent, 1, floats == 1);
        lacis_grid grid;
        parity_ok(s.p, lacis_grid_view(&s.p->run, s.arrays[0].array, &grid), "a grid");
        const int64_t where[] = {400, 137, 700};
        const double what[] = {NAN, INFINITY, -INFINITY};
        for (int i = 0; i < 3; i++) {
            s.n.array[0][where[i]] = what[i];
            lacis_values_convert(&what[i], LACIS_F64, 0, 1,
                                 (char *)(uintptr_t)grid.field[0] + lacis_dtype_size(grid.dtype) * (uint64_t)where[i],
                                 grid.dtype);
        }
        say(&s,
            "SWEEP g STEP u + 0.25 * (u[-1,0] + u[1,0] + u[0,-1] + u[0,1] - 4 * u) STEPS 4 TYPE %s CHANGE EVERY 1",
            floats == 1 ? "f32" : "f64");
        check_sweep(&s, 4, 1);
        sweeps_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(usual_calls, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(random_calls, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(not_numbers, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
