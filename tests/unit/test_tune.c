/* SPDX-License-Identifier: Apache-2.0
 *
 * TUNE's search over pretended timings with noise: what it chooses and how well, when it switches, how many ranges
 * there are, what it costs, how it is stopped.
 */
#include "plan/tune.h"

#include "support/check.h"

#include <math.h>
#include <stdlib.h>

enum { SIZES = 40, CANDIDATES = 24 };

static struct {
    lacis_host host;
    lacis_run run;
    int64_t size[SIZES];
    double (*truth)(int candidate, int64_t size); /* < 0: not done */
    double noise;                                 /* a run is up to so much slower, some twice as slow */
    double spent;                                 /* of pretended seconds */
    int64_t calls, cancel_at;
    int64_t visits[CANDIDATES];
    uint64_t state;
} t;

static double drawn(void)
{
    t.state = t.state * 6364136223846793005u + 1442695040888963407u;
    return (double)(t.state >> 11) / 9007199254740992.0;
}

static lacis_status measure(void *context, int candidate, int64_t size, int runs, double *seconds)
{
    (void)context;
    *seconds = t.truth(candidate, size);
    t.calls++;
    t.visits[candidate]++;
    if (t.calls == t.cancel_at) atomic_store(&t.host.cancel, 1);
    if (*seconds < 0) return LACIS_OK;
    t.spent += runs * *seconds;
    *seconds *= 1 + t.noise * drawn();
    if (t.noise > 0 && drawn() < 0.05) *seconds *= 2;
    return LACIS_OK;
}

static const char *name(void *context, int candidate, char *text)
{
    (void)context;
    snprintf(text, LACIS_TUNE_TEXT, "c%d", candidate);
    return text;
}

static double spent(void *context)
{
    (void)context;
    return t.spent;
}

static lacis_tune_search search(double (*truth)(int, int64_t), double noise)
{
    t.truth = truth;
    t.noise = noise;
    t.spent = 0;
    t.calls = t.cancel_at = 0;
    t.state = 7;
    memset(t.visits, 0, sizeof t.visits);
    return (lacis_tune_search){.candidates = CANDIDATES,
                               .sizes = SIZES,
                               .size = t.size,
                               .seconds = 1e9,
                               .measure = measure,
                               .name = name,
                               .clock = spent,
                               .phase = "tuning"};
}

static int chosen(const lacis_tune_table *table, int64_t size)
{
    return atoi(lacis_tune_choice(table, size) + 1);
}

/* Of the table against the best candidate, on average and at most, at sizes between those that were measured. */
static void regret(const lacis_tune_table *table, double *mean, double *most)
{
    *mean = *most = 0;
    for (int i = 0; i < 200; i++) {
        int64_t size = t.size[0] + (int64_t)(drawn() * (double)(t.size[SIZES - 1] - t.size[0]));
        double best = INFINITY, own = t.truth(chosen(table, size), size);
        for (int c = 0; c < CANDIDATES; c++)
            if (t.truth(c, size) >= 0) best = fmin(best, t.truth(c, size));
        double lost = own < 0 ? LACIS_TUNE_NEVER : own / best - 1;
        *mean += lost / 200;
        *most = fmax(*most, lost);
    }
}

static int setup(void **state)
{
    (void)state;
    assert_int_equal(lacis_host_init(&t.host), LACIS_OK);
    lacis_run_init(&t.run, &t.host);
    for (int i = 0; i < SIZES; i++)
        t.size[i] = (int64_t)(64 * pow(2, (double)i / 5));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    lacis_run_clear(&t.run);
    assert_int_equal(lacis_memory_used(t.host.memory), 0);
    lacis_host_clear(&t.host);
    return 0;
}

/* ------------------------------------------------------------------------------------------- what it finds */

/* Candidate c starts slower and streams faster the larger it is; only every fourth is any good. */
static double crossing(int c, int64_t size)
{
    double good = c % 4 == 0 ? 1 : 1.3, n = (double)size;
    return good * (3e-6 * (1 + c) + n * n * 4e-12 / (1 + c));
}

static void it_finds_those_that_cross(void **state)
{
    (void)state;
    double mean, most;
    lacis_tune_table table;
    lacis_tune_report report;
    lacis_tune_search wanted = search(crossing, 0.03);
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, &report), LACIS_OK);
    assert_in_range(table.ranges, 3, LACIS_TUNE_RANGES);
    assert_int_equal(report.curves.sizes, report.sizes);
    assert_int_equal(report.curves.hands, report.handful);
    assert_true(report.curves.size[0] < report.curves.size[report.curves.sizes - 1]);
    assert_true(report.curves.seconds[0] > 0);
    assert_string_equal(lacis_tune_choice(&table, report.curves.size[0]), table.range[0].choice);
    assert_int_equal(table.range[0].from, 1);
    for (int i = 0; i < table.ranges; i++)
        assert_int_equal(atoi(table.range[i].choice + 1) % 4, 0);
    regret(&table, &mean, &most);
    assert_true(mean < 0.01);
    assert_true(most < 0.1);
    assert_int_equal(report.rounds, LACIS_TUNE_ROUNDS);
    assert_int_equal(report.sizes, SIZES);
    assert_int_equal(report.measured, t.calls);
}

static void only_a_handful_is_measured_everywhere(void **state)
{
    (void)state;
    int everywhere = 0;
    lacis_tune_table table;
    lacis_tune_report report;
    lacis_tune_search wanted = search(crossing, 0.03);
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, &report), LACIS_OK);
    for (int c = 0; c < CANDIDATES; c++)
        everywhere += t.visits[c] > SIZES;
    assert_int_equal(everywhere, report.handful);
    assert_true(everywhere <= LACIS_TUNE_HANDFUL);
    assert_true(t.calls < (int64_t)CANDIDATES * SIZES * 4);
}

/* ------------------------------------------------------------------------------------------- when it switches */

static double gain_after; /* of candidate 1 from size 1000 on */

static double slightly(int c, int64_t size)
{
    double all = 1e-5 + 1e-12 * (double)size * (double)size;
    if (c == 0) return all;
    if (c == 1) return size < 1000 ? 1.05 * all : all / (1 + gain_after);
    return 2 * all;
}

static void it_switches_for_more_than_two_per_cent(void **state)
{
    (void)state;
    lacis_tune_table table;
    gain_after = 0.019;
    lacis_tune_search wanted = search(slightly, 0);
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_OK);
    assert_int_equal(table.ranges, 1);
    gain_after = 0.021;
    wanted = search(slightly, 0);
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_OK);
    assert_int_equal(table.ranges, 2);
    assert_string_equal(table.range[0].choice, "c0");
    assert_string_equal(table.range[1].choice, "c1");
    assert_in_range(table.range[1].from, 900, 1100);
}

/* Three of them by turns, each best for one size alone. */
static double by_turns(int c, int64_t size)
{
    int at = 0;
    while (at + 1 < SIZES && t.size[at] < size)
        at++;
    return c == at % 3 ? 1e-5 : 1.4e-5 + 1e-7 * c;
}

static void there_are_twelve_ranges_at_most(void **state)
{
    (void)state;
    lacis_tune_table table;
    lacis_tune_search wanted = search(by_turns, 0);
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_OK);
    assert_int_equal(table.ranges, LACIS_TUNE_RANGES);
    wanted = search(by_turns, 0);
    wanted.ranges = 5;
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_OK);
    assert_in_range(table.ranges, 2, 5);
    for (int i = 1; i < table.ranges; i++) {
        assert_true(table.range[i].from > table.range[i - 1].from);
        assert_string_not_equal(table.range[i].choice, table.range[i - 1].choice);
    }
}

/* A single lucky size is not worth two switches. */
static double lucky(int c, int64_t size)
{
    if (c == 0) return 1e-5;
    return c == 1 && size == t.size[20] ? 1e-5 / 1.03 : 1.2e-5;
}

static void one_lucky_size_is_no_range(void **state)
{
    (void)state;
    lacis_tune_table table;
    lacis_tune_search wanted = search(lucky, 0);
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_OK);
    assert_int_equal(table.ranges, 1);
}

/* ------------------------------------------------------------------------------------------- who cannot */

/* 0 only small ones, 1 only large ones, the others nothing. */
static double halves(int c, int64_t size)
{
    if (c > 1) return -1;
    return (c == 0) == (size <= 1500) ? 1e-5 : -1;
}

static double nothing(int c, int64_t size)
{
    (void)c, (void)size;
    return -1;
}

static void who_refuses_is_not_taken(void **state)
{
    (void)state;
    lacis_tune_table table;
    lacis_tune_search wanted = search(halves, 0.02);
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_OK);
    assert_int_equal(table.ranges, 2);
    assert_int_equal(chosen(&table, 100), 0);
    assert_int_equal(chosen(&table, 10000), 1);
    wanted = search(nothing, 0);
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_UNSUPPORTED);
}

/* ------------------------------------------------------------------------------------------- time */

static void it_keeps_its_time(void **state)
{
    (void)state;
    double mean, most, one_size = 0;
    lacis_tune_table table;
    lacis_tune_report report;
    lacis_tune_search wanted = search(crossing, 0.03);
    for (int c = 0; c < CANDIDATES; c++)
        one_size += 3 * crossing(c, t.size[SIZES - 1]);
    wanted.seconds = 0.2;
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, &report), LACIS_OK);
    assert_true(t.spent < wanted.seconds + one_size);
    assert_true(report.rounds < LACIS_TUNE_ROUNDS);
    regret(&table, &mean, &most);
    assert_true(mean < 0.05);
    wanted = search(crossing, 0.03); /* no time at all: one size is seen through */
    wanted.seconds = 0;
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, &report), LACIS_OK);
    assert_int_equal(t.calls, CANDIDATES);
    assert_int_equal(table.ranges, 1);
    assert_int_equal(report.sizes, 1);
}

static void it_can_be_stopped(void **state)
{
    (void)state;
    const int64_t at[] = {1, 50, CANDIDATES * 8 + 3, CANDIDATES * 8 + 500}; /* in either stage */
    for (int i = 0; i < LACIS_COUNT(at); i++) {
        lacis_tune_table table;
        lacis_tune_search wanted = search(crossing, 0.03);
        t.cancel_at = at[i];
        assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_INTERRUPT);
        assert_int_equal(t.calls, at[i]);
        atomic_store(&t.host.cancel, 0);
    }
}

static lacis_status failing(void *context, int candidate, int64_t size, int runs, double *seconds)
{
    (void)context, (void)candidate, (void)size, (void)runs, (void)seconds;
    return lacis_run_fail(&t.run, LACIS_UNSUPPORTED, "the GPU is lost");
}

static void a_failure_is_passed_on(void **state)
{
    (void)state;
    lacis_tune_table table;
    lacis_tune_search wanted = search(crossing, 0);
    wanted.measure = failing;
    assert_int_equal(lacis_tune_run(&t.run, &wanted, &table, NULL), LACIS_UNSUPPORTED);
    assert_string_equal(t.host.error.message, "the GPU is lost");
}

/* ------------------------------------------------------------------------------------------- text */

static void tables_as_text(void **state)
{
    (void)state;
    char text[LACIS_TUNED_TEXT];
    lacis_tune_table table;
    static const char whole[] = "1 tiles 32x32 w4 u4 b4 c1; 1400 ring 64x64 w8 u2 b2 c4";
    assert_true(lacis_tuned_read(whole, &table));
    assert_int_equal(table.ranges, 2);
    assert_string_equal(lacis_tune_choice(&table, 0), "tiles 32x32 w4 u4 b4 c1");
    assert_string_equal(lacis_tune_choice(&table, 1399), "tiles 32x32 w4 u4 b4 c1");
    assert_string_equal(lacis_tune_choice(&table, 1400), "ring 64x64 w8 u2 b2 c4");
    assert_string_equal(lacis_tune_choice(&table, INT64_MAX), "ring 64x64 w8 u2 b2 c4");
    assert_string_equal(lacis_tune_choice(NULL, 5), "");
    lacis_tuned_text(&table, text);
    assert_string_equal(text, whole);
    static const char *const bad[] = {
        "",
        "x",
        "1",
        "0 a",
        "5 a; 5 b",
        "5 a; 4 b",
        "1 ; 2 b",
        "1 a; 2 b; 3 c; 4 d; 5 e; 6 f; 7 g; 8 h; 9 i; 10 j; 11 k; 12 l; 13 m",
        "1 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"};
    for (int i = 0; i < LACIS_COUNT(bad); i++)
        if (lacis_tuned_read(bad[i], &table)) fail_msg("\"%s\" was read", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_finds_those_that_cross, setup, teardown),
        cmocka_unit_test_setup_teardown(only_a_handful_is_measured_everywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(it_switches_for_more_than_two_per_cent, setup, teardown),
        cmocka_unit_test_setup_teardown(there_are_twelve_ranges_at_most, setup, teardown),
        cmocka_unit_test_setup_teardown(one_lucky_size_is_no_range, setup, teardown),
        cmocka_unit_test_setup_teardown(who_refuses_is_not_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(it_keeps_its_time, setup, teardown),
        cmocka_unit_test_setup_teardown(it_can_be_stopped, setup, teardown),
        cmocka_unit_test_setup_teardown(a_failure_is_passed_on, setup, teardown),
        cmocka_unit_test_setup_teardown(tables_as_text, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
