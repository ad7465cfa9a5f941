/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/sweep on the CPU: bits of random sweeps against the naive reference, in each instruction set: dimensions,
 * extents, shapes, edges, fields, coefficients, levels, threads; how passes are cut; memory; refusals.
 */
#include "unit/sweep_cases.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 1
#else
#define SLOW 0
#endif

static const char *const isas[] = {"baseline", "avx2", "avx512"};

static void use_isa(int isa)
{
    assert_int_equal(setenv("LACIS_ISA", isas[isa], 1), 0);
}

static void describe(const sweep_case *c, char *out, size_t size)
{
    const lacis_sweep_start *s = &c->start;
    int at = snprintf(out, size,
                      "type %d, %ld x %ld x %ld (%d), fields %d + %d, reach %ld %ld %ld, levels %d, threads %d, "
                      "cache %ld, isa %s, edges",
                      s->type, (long)s->extent[0], (long)s->extent[1], (long)s->extent[2], s->dims, s->fields,
                      s->coefficients, (long)c->reach[0], (long)c->reach[1], (long)c->reach[2], s->levels, s->threads,
                      (long)s->cache, lacis_sweep_isa());
    for (int f = 0; f < s->fields; f++)
        for (int face = 0; face < 2 * s->dims; face++)
            at += snprintf(out + at, size - (size_t)at, "%s%d", face == 0 ? " " : "", s->edge[f][face].kind);
    for (int f = 0; f < s->fields; f++)
        at +=
            snprintf(out + at, size - (size_t)at, s->rule[f].written ? " written %d" : " linear %d", s->rule[f].taps);
}

static void check_fields(const sweep_case *c, void *const *wanted, void *const *got, const char *what)
{
    const uint64_t size = lacis_sweep_size(c->start.type);
    char text[600];
    for (int f = 0; f < c->start.fields; f++)
        for (int64_t i = 0; i < c->cells; i++)
            if (memcmp((const char *)wanted[f] + i * (int64_t)size, (const char *)got[f] + i * (int64_t)size, size) !=
                0) {
                describe(c, text, sizeof text);
                fail_msg("%s: field %d cell %ld: %.17g, not %.17g; %s", what, f, (long)i,
                         number_at(c->start.type, got[f], i), number_at(c->start.type, wanted[f], i), text);
            }
}

static void check_change(const sweep_case *c, const lacis_sweep_change *wanted, const lacis_sweep_change *got)
{
    const double a = lacis_sweep_exact_round(&wanted->squares), b = lacis_sweep_exact_round(&got->squares);
    char text[600];
    if (memcmp(&a, &b, sizeof a) == 0 && memcmp(&wanted->max, &got->max, sizeof(double)) == 0) return;
    describe(c, text, sizeof text);
    fail_msg("change: squares %.17g, not %.17g; max %.17g, not %.17g; %s", b, a, got->max, wanted->max, text);
}

static void free_fields(const sweep_case *c, void **field)
{
    for (int f = 0; f < c->start.fields; f++)
        free(field[f]);
}

static void new_fields(const sweep_case *c, void **field)
{
    for (int f = 0; f < c->start.fields; f++) {
        field[f] = malloc(8 * (size_t)c->cells);
        assert_non_null(field[f]);
    }
}

static void run_and_check(sweep_case *c, int64_t steps, void *const *wanted, const lacis_sweep_change *wanted_change)
{
    sweep_memory memory = {0};
    c->start.host = (lacis_sweep_host){.alloc = memory_take, .free = memory_free, .context = &memory};
    char why[200] = "";
    if (lacis_sweep_refuses(&c->start, why, sizeof why)) fail_msg("refused: %s", why);
    lacis_sweep *system;
    assert_int_equal(lacis_sweep_new(&c->start, &system), LACIS_SWEEP_OK);
    lacis_sweep_change change = {0};
    assert_int_equal(lacis_sweep_steps(system, steps, &change), LACIS_SWEEP_OK);
    void *got[LACIS_SWEEP_FIELDS];
    new_fields(c, got);
    lacis_sweep_read(system, got);
    check_fields(c, wanted, got, "steps");
    check_change(c, wanted_change, &change);
    if (memory.bytes > lacis_sweep_bytes(&c->start))
        fail_msg("%lu bytes taken, %lu said", (unsigned long)memory.bytes,
                 (unsigned long)lacis_sweep_bytes(&c->start));
    free_fields(c, got);
    lacis_sweep_free(system);
    assert_int_equal(memory.blocks, 0);
}

/* The same sweep in each instruction set and with some levels, threads and cuts. */
static void check_wish(const sweep_wish *wish, int64_t steps, uint64_t *seed)
{
    static const int64_t caches[] = {0, 3000, 20000, 100000};
    static const int levels[] = {1, 2, 3, 4, 5, 8, 16};
    sweep_case c;
    make_case(&c, wish, seed);
    void *wanted[LACIS_SWEEP_FIELDS];
    lacis_sweep_change change;
    reference_steps(&c, steps, wanted, &change);
    for (int isa = 0; isa < 3; isa++)
        for (int way = 0; way < 3; way++) {
            use_isa(isa);
            c.start.levels = way == 0 ? 1 : way == 1 ? 0 : levels[below(seed, 7)];
            c.start.threads = 1 + (int)below(seed, 5);
            c.start.cache = way == 0 && isa == 2 ? 0 : caches[below(seed, 4)];
            run_and_check(&c, steps, wanted, &change);
        }
    unsetenv("LACIS_ISA");
    free_fields(&c, wanted);
    free_case(&c);
}

static void draw_extent(sweep_wish *wish, uint64_t *seed)
{
    static const int64_t one[] = {1, 2, 3, 7, 33, 64, 257, 1000, 4099}, two[] = {1, 2, 3, 5, 7, 16, 33, 65, 257},
                         three[] = {1, 2, 3, 4, 7, 9, 17, 33};
    for (int d = 0; d < 3; d++)
        wish->extent[d] = wish->dims == 1   ? one[below(seed, 9)]
                          : wish->dims == 2 ? two[below(seed, 9)]
                                            : three[below(seed, 8)];
}

static void sweeps_have_the_bits_of_the_reference(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < (SLOW ? 100 : 800); i++) {
        sweep_wish wish = {.type = (lacis_sweep_type)(i % 2),
                           .dims = 1 + i / 2 % 3,
                           .radius = 1 + (int)below(&seed, i % 5 == 0 ? 4 : 2),
                           .fields = 1 + (int)below(&seed, 3),
                           .coefficients = (int)below(&seed, 3),
                           .written = i % 3 == 0 ? 50 : 0};
        draw_extent(&wish, &seed);
        check_wish(&wish, 1 + below(&seed, 9), &seed);
    }
}

static void common_shapes_have_them_too(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < (SLOW ? 60 : 500); i++) {
        sweep_wish wish = {.type = (lacis_sweep_type)(i % 2),
                           .dims = 1 + i / 2 % 3,
                           .radius = i / 6 % 4 >= 2 ? 1 : 1 + (int)below(&seed, 4),
                           .fields = 1 + (i % 7 == 0),
                           .shape = 1 + i / 6 % 4};
        draw_extent(&wish, &seed);
        check_wish(&wish, 1 + below(&seed, 9), &seed);
    }
}

/* Rows long enough that two levels are joined of crosses, with their centre and without; with corners none are. Tiles
 * of whole rows, and of about 1,000 cells. */
static void wide_rows_have_them(void **state)
{
    (void)state;
    static const int shapes[] = {1, 2, 4};
    static const int64_t caches[] = {0, 200000};
    uint64_t seed = 4;
    for (int i = 0; i < (SLOW ? 12 : 72); i++) {
        sweep_wish wish = {.type = (lacis_sweep_type)(i % 2),
                           .dims = 2,
                           .radius = 1,
                           .fields = 1,
                           .shape = shapes[i / 2 % 3],
                           .same_edge = i % 4 == 3 ? 0 : 1 + i / 6 % LACIS_SWEEP_INNER,
                           .extent = {(i % 2 == 0 ? 1000 : 500) + below(&seed, 1500), 3 + below(&seed, 60), 1}};
        sweep_case c;
        void *wanted[LACIS_SWEEP_FIELDS];
        lacis_sweep_change change;
        make_case(&c, &wish, &seed);
        const int64_t steps = 1 + below(&seed, 12);
        reference_steps(&c, steps, wanted, &change);
        c.start.levels = 2 + (int)below(&seed, 8);
        c.start.threads = 1 + (int)below(&seed, 3);
        c.start.cache = caches[below(&seed, 2)];
        run_and_check(&c, steps, wanted, &change);
        free_fields(&c, wanted);
        free_case(&c);
    }
}

static void every_edge_has_them(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int kind = 0; kind < LACIS_SWEEP_INNER; kind++)
        for (int i = 0; i < (SLOW ? 12 : 36); i++) {
            sweep_wish wish = {.type = (lacis_sweep_type)(i % 2),
                               .dims = 1 + i / 2 % 3,
                               .radius = 1 + i / 12,
                               .fields = 1,
                               .coefficients = i % 2,
                               .written = i % 4 == 0 ? 100 : 0,
                               .same_edge = kind + 1,
                               .extent = {5 + below(&seed, 60), 5 + below(&seed, 30), 5 + below(&seed, 12)}};
            check_wish(&wish, 17, &seed);
        }
}

/* --- what may go wrong ------------------------------------------------------------------------------------ */

static void take_case(sweep_case *c, int dims, int written, uint64_t seed)
{
    const sweep_wish wish = {.type = LACIS_SWEEP_F64,
                             .dims = dims,
                             .radius = 1,
                             .fields = 2,
                             .coefficients = 1,
                             .written = written,
                             .extent = {40, 30, 20}};
    make_case(c, &wish, &seed);
    c->start.threads = 2;
    c->start.cache = 3000;
}

/* Whichever block is missing: an answer, nothing left behind, and the caller's arrays as they were. */
static void memory_may_be_missing(void **state)
{
    (void)state;
    sweep_case c;
    take_case(&c, 2, 0, 5);
    c.start.levels = 3;
    bool enough = false;
    for (int64_t nth = 1; !enough; nth++) {
        sweep_memory memory = {.fail_at = nth};
        c.start.host = (lacis_sweep_host){.alloc = memory_take, .free = memory_free, .context = &memory};
        lacis_sweep *system;
        const lacis_sweep_status status = lacis_sweep_new(&c.start, &system);
        enough = status == LACIS_SWEEP_OK;
        if (!enough) assert_int_equal(status, LACIS_SWEEP_NO_MEMORY);
        assert_true(enough == (system != NULL));
        lacis_sweep_free(system);
        assert_int_equal(memory.blocks, 0);
    }
    free_case(&c);
}

static bool after_a_while(void *context)
{
    sweep_memory *memory = context;
    return --memory->fail_at < 0;
}

/* A pass that was stopped leaves the step before it. */
static void a_pass_may_be_stopped(void **state)
{
    (void)state;
    sweep_case c;
    take_case(&c, 3, 0, 6);
    c.start.levels = 2;
    sweep_memory memory = {.fail_at = 0};
    c.start.host = (lacis_sweep_host){memory_take, memory_free, after_a_while, &memory};
    lacis_sweep *system;
    assert_int_equal(lacis_sweep_new(&c.start, &system), LACIS_SWEEP_OK);
    memory.fail_at = 1000000;
    lacis_sweep_change change = {0};
    assert_int_equal(lacis_sweep_steps(system, 2, &change), LACIS_SWEEP_OK);
    memory.fail_at = 20;
    assert_int_equal(lacis_sweep_steps(system, 2, &change), LACIS_SWEEP_CANCELLED);
    memory.fail_at = 1000000;
    change = (lacis_sweep_change){0};
    assert_int_equal(lacis_sweep_steps(system, 2, &change), LACIS_SWEEP_OK);
    void *wanted[LACIS_SWEEP_FIELDS], *got[LACIS_SWEEP_FIELDS];
    lacis_sweep_change expected;
    reference_steps(&c, 4, wanted, &expected);
    new_fields(&c, got);
    lacis_sweep_read(system, got);
    check_fields(&c, wanted, got, "after a stop");
    check_change(&c, &expected, &change);
    free_fields(&c, got);
    free_fields(&c, wanted);
    lacis_sweep_free(system);
    free_case(&c);
}

static bool failing_cells(void *context, int worker, int field, int n, const void *const *tap, int64_t x, int64_t y,
                          int64_t z, int64_t t, void *out)
{
    const sweep_case *c = context;
    return !(t == c->start.t + 1 && y == 7) && written_cells(context, worker, field, n, tap, x, y, z, t, out);
}

static void a_rule_may_fail(void **state)
{
    (void)state;
    sweep_case c;
    take_case(&c, 2, 100, 7);
    c.start.cells = failing_cells;
    for (int f = 0; f < 2; f++)
        for (int face = 0; face < 4; face++)
            c.start.edge[f][face].kind = LACIS_SWEEP_CLAMP;
    for (int levels = 1; levels <= 4; levels += 3) {
        sweep_memory memory = {0};
        c.start.levels = levels;
        c.start.host = (lacis_sweep_host){.alloc = memory_take, .free = memory_free, .context = &memory};
        lacis_sweep *system;
        assert_int_equal(lacis_sweep_new(&c.start, &system), LACIS_SWEEP_OK);
        assert_int_equal(lacis_sweep_steps(system, 1, NULL), LACIS_SWEEP_OK);
        assert_int_equal(lacis_sweep_steps(system, 3, NULL), LACIS_SWEEP_ARITHMETIC);
        lacis_sweep_free(system);
    }
    free_case(&c);
}

/* One infinite cell changes by infinity; of two side by side, which stay so, the change is NaN. */
static void changes_tell_of_nan(void **state)
{
    (void)state;
    sweep_case c;
    const sweep_wish wish = {.type = LACIS_SWEEP_F32,
                             .dims = 2,
                             .radius = 1,
                             .fields = 1,
                             .shape = 2,
                             .same_edge = 2,
                             .extent = {40, 20, 1}};
    uint64_t seed = 8;
    make_case(&c, &wish, &seed);
    c.weight[0][0] = 0.25;
    for (int64_t i = 0; i < c.cells; i++)
        put_number(c.start.type, c.array[0], i, i == 333 ? INFINITY : 0);
    for (int64_t steps = 1; steps <= 2; steps++) {
        sweep_memory memory = {0};
        c.start.host = (lacis_sweep_host){.alloc = memory_take, .free = memory_free, .context = &memory};
        lacis_sweep *system;
        assert_int_equal(lacis_sweep_new(&c.start, &system), LACIS_SWEEP_OK);
        lacis_sweep_change change = {0};
        c.start.rule[0].linear.constant = 0;
        assert_int_equal(lacis_sweep_steps(system, steps, &change), LACIS_SWEEP_OK);
        const double squares = lacis_sweep_exact_round(&change.squares);
        assert_true(steps == 1 ? isinf(squares) && isinf(change.max) : isnan(squares) && isnan(change.max));
        lacis_sweep_free(system);
        put_number(c.start.type, c.array[0], 334, INFINITY); /* two side by side: inf - inf */
    }
    free_case(&c);
}

static void refused(const lacis_sweep_start *start, const char *part)
{
    char why[200] = "";
    if (!lacis_sweep_refuses(start, why, sizeof why)) fail_msg("not refused: %s", part);
    if (strstr(why, part) == NULL) fail_msg("\"%s\" does not say \"%s\"", why, part);
}

static void refusals_say_why(void **state)
{
    (void)state;
    sweep_case c;
    take_case(&c, 2, 0, 9);
    char why[200];
    assert_false(lacis_sweep_refuses(&c.start, why, sizeof why));
    lacis_sweep_start start = c.start;
    for (int f = 0; f < 2; f++)
        start.edge[f][0].kind = start.edge[f][1].kind = LACIS_SWEEP_MIRROR;
    start.extent[0] = 1;
    refused(&start, "1 cell along x, fewer than the 2");
    start = c.start;
    start.edge[1][2].kind = LACIS_SWEEP_PERIODIC;
    start.edge[1][3].kind = LACIS_SWEEP_CLAMP;
    refused(&start, "periodic at one face");
    start.edge[1][2].kind = LACIS_SWEEP_INNER;
    start.edge[0][2].kind = LACIS_SWEEP_CLAMP;
    refused(&start, "for some fields only");
    start = c.start;
    start.edge[0][0].kind = LACIS_SWEEP_VALUES;
    start.edge[0][0].values = NULL;
    refused(&start, "no values");
    lacis_sweep_tap far[1] = {{.array = 0, .at = {5, 0, 0}}};
    start = c.start;
    start.rule[0] = (lacis_sweep_rule){.written = true, .taps = 1, .tap = far};
    refused(&start, "reaches 5 cells along x");
    far[0] = (lacis_sweep_tap){.array = 0, .at = {0, 0, 1}};
    refused(&start, "along z");
    far[0] = (lacis_sweep_tap){.array = 9};
    refused(&start, "array 9");
    start = c.start;
    for (int f = 0; f < 2; f++)
        start.edge[f][3].kind = LACIS_SWEEP_INNER;
    start.edge[0][2].kind = start.edge[1][2].kind = LACIS_SWEEP_CLAMP;
    start.halo[1] = 31;
    refused(&start, "30 cells along y, its halo 31");
    free_case(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sweeps_have_the_bits_of_the_reference),
        cmocka_unit_test(common_shapes_have_them_too),
        cmocka_unit_test(wide_rows_have_them),
        cmocka_unit_test(every_edge_has_them),
        cmocka_unit_test(memory_may_be_missing),
        cmocka_unit_test(a_pass_may_be_stopped),
        cmocka_unit_test(a_rule_may_fail),
        cmocka_unit_test(changes_tell_of_nan),
        cmocka_unit_test(refusals_say_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
