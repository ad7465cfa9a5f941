/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE by every variant that can run here: shapes, types, layouts and threads against dense elimination in long
 * doubles, and bit for bit against each other.
 */
#include "parity/systems.h"

enum { LAYOUTS = 6 };
static const int64_t layouts[LAYOUTS] = {1, 0, 3, 8, 16, 64};

/* Values of a result, element by element; `field` of one component or two. */
static void take_field(parity *p, const systems *s, const lacis_array *array, const char *field, int64_t first_lane,
                       double complex *out)
{
    lacis_batch batch;
    parity_ok(p, lacis_batch_view(&p->run, array, &batch), "a result");
    const lacis_batch_part *part = lacis_batch_field(&batch, field);
    assert_non_null(part);
    for (int64_t g = 0; g < batch.groups; g++)
        for (int64_t l = 0; l < batch.group[g].lanes; l++) {
            int64_t within, at, row;
            group_of_lane(s, first_lane + batch.group[g].lane + l, &within, &at, &row);
            for (int64_t r = 0; r < batch.group[g].rows; r++) {
                int64_t place = lacis_batch_place(&batch.group[g], l, r);
                bool pair = part->dtype == LACIS_C128;
                const double *two = part->data;
                out[at + r] = pair ? CMPLX(two[2 * place], two[2 * place + 1])
                                   : lacis_value_double(part->data, part->dtype, place);
            }
        }
}

static void take_units(parity *p, const systems *s, const lacis_call *call, const lacis_variant *variant,
                       int64_t begin, int64_t end, double complex *out)
{
    lacis_array *array = NULL;
    parity_ok(p, variant->run(&p->run, call, begin, end, &array), variant->name);
    assert_int_equal(lacis_array_kind(array), LACIS_INTERLEAVED);
    assert_int_equal(lacis_array_dtype(array), call->dtype);
    take_field(p, s, array, "value", lacis_array_base(array, 0), out);
    lacis_array_release(array);
}

static double allowed(const systems *s, const char *text)
{
    if (s->dtype != LACIS_F32) return 2e-14;
    return strstr(text, "F64") != NULL ? 2e-7 : 2e-5;
}

static void compare(const systems *s, const double complex *found, const double complex *expected, const char *text,
                    int64_t block)
{
    for (int64_t i = 0; i < s->elements; i++) {
        double error = cabs(found[i] - expected[i]), size = 1 + cabs(expected[i]);
        if (!(error <= allowed(s, text) * size))
            fail_msg("%s (block %lld): element %lld is %.17g, expected %.17g", text, (long long)block, (long long)i,
                     creal(found[i]), creal(expected[i]));
    }
}

static void same_as_first(const systems *s, const double complex *found, const double complex *first,
                          const char *text, int64_t block)
{
    for (int64_t i = 0; i < s->elements; i++)
        if (memcmp(&found[i], &first[i], sizeof *found) != 0)
            fail_msg("%s (block %lld): element %lld is %a, in another layout %a", text, (long long)block,
                     (long long)i, creal(found[i]), creal(first[i]));
}

/* Whole, and in blocks of lanes as streaming does, on one and two threads and by each instruction set. */
static void check_call(parity *p, const systems *s, const char *text, const named *arrays, int64_t block,
                       const double complex *expected, double complex *first, bool *have)
{
    char reason[256];
    double complex *found = malloc(sizeof *found * (size_t)(s->elements + 1));
    static const char *const isa[] = {"", "avx2", "baseline"};
    for (int turn = 0; turn < (parity_on_gpu() ? 2 : 3); turn++) { /* on a GPU: the way that has to be asked for */
        const uint64_t bytes = parity_on_gpu() ? 20000 : 6000; /* a run on the device takes as long for few lanes */
        lacis_call *call;
        p->host.threads = turn == 0 ? 2 : 1;
        setenv("LACIS_ISA", isa[turn], 1);
        setenv("LACIS_SOLVE_WAY", parity_on_gpu() && turn == 1 ? "cr-pcr" : "", 1);
        parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
        if (parity_on_gpu()) call->on = LACIS_ON_GPU;
        for (int i = 0; i < call->op->variant_count; i++) {
            const lacis_variant *variant = call->op->variants[i];
            if (variant->ranks) continue;
            if (parity_on_gpu() && variant->device != LACIS_GPU) continue;
            if (variant->can != NULL && !variant->can(call, reason, sizeof reason)) {
                parity_skipped(p, text, variant->name, reason);
                continue;
            }
            take_units(p, s, call, variant, 0, call->units, found);
            compare(s, found, expected, text, block);
            if (!have[i]) memcpy(first + i * s->elements, found, sizeof *found * (size_t)s->elements);
            have[i] = true;
            same_as_first(s, found, first + i * s->elements, text, block);
            for (int64_t at = 0; at < call->units;) {
                int64_t end = call->op->fit(call, at, bytes);
                if (end <= at) end = at + 1;
                take_units(p, s, call, variant, at, end, found);
                at = end;
            }
            same_as_first(s, found, first + i * s->elements, "in blocks of lanes", block);
        }
        parity_unbind(p, call);
    }
    free(found);
}

enum { MOST_VARIANTS = 16 };

static void check_systems(parity *p, systems *s, const char *text, uint64_t seed)
{
    bool have[MOST_VARIANTS] = {false};
    systems_draw(s, seed);
    double complex *expected = calloc((size_t)(s->elements + 1), sizeof *expected);
    double complex *first = calloc((size_t)(MOST_VARIANTS * s->elements + 1), sizeof *first);
    for (int64_t lane = 0; lane < s->all_lanes; lane++)
        solve_dense(s, lane, expected);
    for (int i = 0; i < LAYOUTS; i++) {
        lacis_array *array = systems_array(p, s, layouts[i], true, true);
        const named arrays[] = {{"s", array}, {NULL, NULL}};
        check_call(p, s, text, arrays, layouts[i], expected, first, have);
        lacis_array_release(array);
    }
    free(expected);
    free(first);
    systems_free(s);
}

static const lacis_dtype types[] = {LACIS_F64, LACIS_F32, LACIS_C128};

/* Sizes around vectors, tiles and chunks. */
static void one_shape(parity *p, bool tree, int sharing)
{
    static const int64_t rows[] = {0, 1, 2, 3, 15, 16, 17, 33, 50}, lanes[] = {1, 2, 7, 8, 9, 31, 33, 70};
    uint64_t seed = 1;
    for (int t = 0; t < (tree ? 2 : 3); t++)
        for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++)
            for (size_t l = 0; l < sizeof lanes / sizeof lanes[0]; l++) {
                systems s = {.tree = tree, .dtype = types[t], .groups = 1, .lanes = {lanes[l]}, .rows = {rows[r]}};
                s.off_shared = sharing == 1;
                s.matrix_shared = sharing == 2;
                check_systems(p, &s, "SOLVE s", seed++);
                if (types[t] != LACIS_F32 || l % 3 != 0) continue;
                check_systems(p, &s, "SOLVE s PRECISION F64", seed++);
            }
}

static void chains(void **state)
{
    one_shape(*state, false, 0);
}

static void chains_with_shared_matrices(void **state)
{
    one_shape(*state, false, 1);
    one_shape(*state, false, 2);
}

static void trees(void **state)
{
    one_shape(*state, true, 0);
}

static void trees_with_shared_matrices(void **state)
{
    one_shape(*state, true, 1);
    one_shape(*state, true, 2);
}

/* Groups of few and of many lanes, of none, and of no rows. */
static void any_mix_of_shapes(void **state)
{
    for (int kind = 0; kind < 12; kind++) {
        systems s = {.tree = kind % 2 == 1,
                     .dtype = types[kind % 4 / 2],
                     .groups = 14,
                     .lanes = {1, 1, 9, 2, 40, 1, 0, 1, 3, 1, 1, 65, 1, 1},
                     .rows = {4, 5, 17, 3, 12, 30, 6, 31, 0, 18, 1, 20, 16, 24}};
        if (kind >= 10) s.dtype = kind == 10 ? LACIS_C128 : LACIS_F64;
        s.off_shared = kind == 4 || kind == 5;
        s.matrix_shared = kind >= 6 && kind < 10;
        check_systems(*state, &s, "SOLVE s", 100 + (uint64_t)kind);
    }
}

/* The first lane of each group alone. */
static systems first_lanes(const systems *s)
{
    systems one = *s;
    one.all_lanes = one.groups;
    one.matrix_shared = false;
    for (int64_t g = 0; g < s->groups; g++)
        one.lanes[g] = 1;
    for (int role = 0; role < ROLES; role++) {
        one.value[role] = malloc(sizeof(double complex) * (size_t)(s->all_rows + 1));
        int64_t from = 0, to = 0;
        for (int64_t g = 0; g < s->groups; g++) {
            memcpy(one.value[role] + to, s->value[role] + from, sizeof(double complex) * (size_t)s->rows[g]);
            from += s->lanes[g] * s->rows[g];
            to += s->rows[g];
        }
    }
    return one;
}

/* One matrix a group, and one for everything, with right sides in other layouts. */
static void right_sides_of_their_own(void **state)
{
    parity *p = *state;
    for (int kind = 0; kind < 4; kind++) {
        bool have[MOST_VARIANTS] = {false};
        systems s = {.tree = kind % 2 == 1,
                     .dtype = LACIS_F64,
                     .groups = kind < 2 ? 1 : 2,
                     .lanes = {41, 9},
                     .rows = {21, 21}};
        s.matrix_shared = true;
        systems_draw(&s, 7);
        systems one = first_lanes(&s);
        double complex *expected = calloc((size_t)s.elements, sizeof *expected);
        double complex *first = calloc((size_t)(MOST_VARIANTS * s.elements), sizeof *first);
        for (int64_t lane = 0; lane < s.all_lanes; lane++)
            solve_dense(&s, lane, expected);
        for (int i = 0; i < LAYOUTS * LAYOUTS; i++) {
            lacis_array *a = systems_array(p, &one, layouts[i / LAYOUTS], true, false);
            lacis_array *m = systems_array(p, &s, layouts[i / LAYOUTS], true, false);
            lacis_array *r = systems_array(p, &s, layouts[i % LAYOUTS], false, true);
            const named arrays[] = {{"s", a}, {"r", r}, {NULL, NULL}}, every[] = {{"s", m}, {"r", r}, {NULL, NULL}};
            check_call(p, &s, "SOLVE s BY r", arrays, layouts[i % LAYOUTS], expected, first, have);
            check_call(p, &s, "SOLVE s BY r", every, layouts[i % LAYOUTS], expected, first, have);
            lacis_array_release(a);
            lacis_array_release(m);
            lacis_array_release(r);
        }
        for (int role = 0; role < ROLES; role++)
            free(one.value[role]);
        free(expected);
        free(first);
        systems_free(&s);
    }
}

static systems many_shapes(bool tree, lacis_dtype dtype)
{
    return (systems){.tree = tree,
                     .dtype = dtype,
                     .groups = 5,
                     .lanes = {3, 45, 0, 1, 70},
                     .rows = {7, 18, 3, 33, 20},
                     .off_shared = dtype == LACIS_F64};
}

/* LAYOUT: any layout of the operand into any of the result. */
static void results_in_other_layouts(void **state)
{
    static const char *const names[LAYOUTS] = {"flat", "full", "block(3)", "block(8)", "block(16)", "block(64)"};
    parity *p = *state;
    for (int kind = 0; kind < 5; kind++) {
        bool have[MOST_VARIANTS] = {false};
        systems s = many_shapes(kind % 2 == 1, types[kind / 2]);
        systems_draw(&s, 21);
        double complex *expected = calloc((size_t)s.elements, sizeof *expected);
        double complex *first = calloc((size_t)(MOST_VARIANTS * s.elements), sizeof *first);
        for (int64_t lane = 0; lane < s.all_lanes; lane++)
            solve_dense(&s, lane, expected);
        for (int i = 0; i < LAYOUTS * LAYOUTS; i++) {
            char text[60];
            lacis_array *array = systems_array(p, &s, layouts[i / LAYOUTS], true, true);
            const named arrays[] = {{"s", array}, {NULL, NULL}};
            snprintf(text, sizeof text, "SOLVE s LAYOUT %s", names[i % LAYOUTS]);
            check_call(p, &s, text, arrays, layouts[i % LAYOUTS], expected, first, have);
            lacis_array_release(array);
        }
        free(expected);
        free(first);
        systems_free(&s);
    }
}

/* The result's memory is the right sides', also where one matrix serves all of them, and all else is the same. */
static void right_sides_overwritten(void **state)
{
    parity *p = *state;
    const char *texts[] = {"SOLVE s IN PLACE STATUS RESIDUAL", "SOLVE s STATUS RESIDUAL"};
    for (int kind = 0; kind < 5 * LAYOUTS; kind++) {
        const int one = kind % 5; /* chains and trees of f64 and f32, chains of c128 */
        systems s = many_shapes(one % 2 == 1, types[one / 2]);
        systems_draw(&s, 31);
        double complex *found[2], *residual[2];
        for (int turn = 0; turn < 2; turn++) {
            lacis_array *array = systems_array(p, &s, layouts[kind / 5], true, true), *out;
            const char *right = s.tree ? "rhs" : "d";
            const named arrays[] = {{"s", array}, {NULL, NULL}};
            const void *memory = lacis_array_part_named(array, right)->data;
            lacis_call *call;
            found[turn] = calloc((size_t)s.elements, sizeof **found);
            residual[turn] = calloc((size_t)s.elements, sizeof **residual);
            parity_ok(p, parity_bind(p, texts[turn], arrays, NULL, &call), texts[turn]);
            parity_ok(p, call->op->variants[0]->run(&p->run, call, 0, call->units, &out), texts[turn]);
            assert_int_equal(lacis_array_part_named(out, "value")->data == memory, turn == 0);
            take_field(p, &s, out, "value", 0, found[turn]);
            take_field(p, &s, out, "residual", 0, residual[turn]);
            parity_unbind(p, call);
            lacis_array_release(out);
            lacis_array_release(array);
        }
        assert_memory_equal(found[0], found[1], sizeof **found * (size_t)s.elements);
        assert_memory_equal(residual[0], residual[1], sizeof **residual * (size_t)s.elements);
        for (int turn = 0; turn < 2; turn++) {
            free(found[turn]);
            free(residual[turn]);
        }
        systems_free(&s);
    }
}

/* So many Flat lanes that x goes past the caches, in lines that lanes of an odd length begin anywhere in: the same
 * bits as side by side, by each instruction set. */
static void flat_lanes_beyond_the_caches(void **state)
{
    parity *p = *state;
    static const char *const isa[] = {"", "avx2", "baseline"};
    static const int64_t layout[] = {0, 1, 64};
    if (parity_on_gpu()) return;
    for (int kind = 0; kind < 7; kind++) {
        const bool tree = kind >= 4, mixed = kind == 3 || kind == 6;
        const char *text = mixed ? "SOLVE s PRECISION F64" : "SOLVE s";
        systems s = {.tree = tree, .dtype = mixed ? LACIS_F32 : types[kind % 4], .groups = 2};
        s.lanes[0] = 2081, s.rows[0] = 259;
        s.lanes[1] = 65, s.rows[1] = 5;
        systems_draw(&s, 51 + (uint64_t)kind);
        double complex *found = calloc((size_t)s.elements, sizeof *found);
        double complex *first = calloc((size_t)s.elements, sizeof *first);
        for (int turn = 0; turn < 9; turn++) {
            lacis_array *array = systems_array(p, &s, layout[turn / 3], true, true);
            const named arrays[] = {{"s", array}, {NULL, NULL}};
            lacis_call *call;
            setenv("LACIS_ISA", isa[turn % 3], 1);
            parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
            take_units(p, &s, call, call->op->variants[0], 0, call->units, turn == 0 ? first : found);
            if (turn > 0) same_as_first(&s, found, first, text, layout[turn / 3]);
            parity_unbind(p, call);
            lacis_array_release(array);
        }
        setenv("LACIS_ISA", "", 1);
        free(found);
        free(first);
        systems_free(&s);
    }
}

/* A chain of a million rows, as a tree and as a tridiagonal system: x is 1 everywhere. */
static void a_million_deep(void **state)
{
    parity *p = *state;
    const int64_t rows = 1000000;
    for (int tree = 0; tree < 2; tree++) {
        systems s = {.tree = tree == 1,
                     .dtype = LACIS_F64,
                     .groups = 1,
                     .lanes = {1},
                     .rows = {rows},
                     .all_lanes = 1,
                     .all_rows = rows,
                     .elements = rows};
        s.parent = malloc(sizeof(int32_t) * (size_t)rows);
        for (int role = 0; role < ROLES; role++)
            s.value[role] = malloc(sizeof(double complex) * (size_t)rows);
        for (int64_t r = 0; r < rows; r++) {
            s.parent[r] = (int32_t)r - 1;
            s.value[LOWER][r] = s.value[UPPER][r] = -1;
            s.value[DIAGONAL][r] = 2.5;
            s.value[RIGHT][r] = r == 0 || r == rows - 1 ? 1.5 : 0.5;
        }
        lacis_array *array = systems_array(p, &s, 1, true, true);
        const named arrays[] = {{"s", array}, {NULL, NULL}};
        lacis_call *call;
        double complex *x = malloc(sizeof *x * (size_t)rows);
        parity_ok(p, parity_bind(p, "SOLVE s", arrays, NULL, &call), "SOLVE s");
        if (parity_on_gpu()) call->on = LACIS_ON_GPU;
        for (int i = 0; i < call->op->variant_count; i++) {
            char reason[256];
            const lacis_variant *variant = call->op->variants[i];
            if (variant->ranks || (parity_on_gpu() && variant->device != LACIS_GPU)) continue;
            if (variant->can != NULL && !variant->can(call, reason, sizeof reason)) continue;
            take_units(p, &s, call, variant, 0, 1, x);
            for (int64_t r = 0; r < rows; r++)
                assert_true(fabs(creal(x[r]) - 1) < 1e-12);
        }
        parity_unbind(p, call);
        free(x);
        lacis_array_release(array);
        systems_free(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(chains, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(chains_with_shared_matrices, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(trees, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(trees_with_shared_matrices, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(any_mix_of_shapes, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(right_sides_of_their_own, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(results_in_other_layouts, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(right_sides_overwritten, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(flat_lanes_beyond_the_caches, parity_setup, parity_teardown),
        cmocka_unit_test_setup_teardown(a_million_deep, parity_setup, parity_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
