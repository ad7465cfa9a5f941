/* SPDX-License-Identifier: Apache-2.0
 *
 * Nearest names, and the registry that names come from.
 */
#include "core/registry.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static const char *nearest(const char *word, const char *const *candidates)
{
    static lacis_nearest search;
    lacis_nearest_begin(&search, word, strlen(word));
    for (int i = 0; candidates[i] != NULL; i++) {
        lacis_nearest_try(&search, candidates[i]);
    }
    return lacis_nearest_result(&search);
}

static void finds_what_was_meant(void **state)
{
    (void)state;
    static const char *const verbs[] = {"MULTIPLY", "POWER", "SOLVE", "SYMV", NULL};
    assert_string_equal(nearest("MULTIPYL", verbs), "MULTIPLY"); /* a swap */
    assert_string_equal(nearest("multply", verbs), "MULTIPLY");  /* a letter missing, other case */
    assert_string_equal(nearest("powwer", verbs), "POWER");
    assert_string_equal(nearest("SYNV", verbs), "SYMV");
    assert_string_equal(nearest("POWER", verbs), "POWER");
    assert_string_equal(nearest("SOLV", verbs), "SOLVE");
}

static void keeps_silent_when_nothing_is_near(void **state)
{
    (void)state;
    static const char *const verbs[] = {"MULTIPLY", "POWER", NULL};
    static const char *const letters[] = {"a", "b", "", NULL};
    static const char *const none[] = {NULL};
    assert_null(nearest("SELECT", verbs));
    assert_null(nearest("POW", verbs)); /* two letters off, one allowed */
    assert_null(nearest("x", letters)); /* nothing in common */
    assert_null(nearest("", letters));
    assert_null(nearest("POWER", none));
}

static void takes_the_first_of_equals(void **state)
{
    (void)state;
    static const char *const names[] = {"wiki1", "wiki2", NULL};
    assert_string_equal(nearest("wiki3", names), "wiki1");
}

static void survives_long_words(void **state)
{
    (void)state;
    char longest[64], longer[65];
    memset(longest, 'a', sizeof longest);
    longest[63] = '\0';
    memset(longer, 'a', sizeof longer);
    longer[64] = '\0';
    const char *const both[] = {longest, longer, NULL};
    assert_string_equal(nearest(longest, both), longest);
    assert_null(nearest(longer, both));
}

/* ---------------------------------------------------------------------------------------- registry */

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    (void)run;
    (void)call;
    return LACIS_OK;
}
static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)run;
    (void)call;
    (void)profile;
    (void)out;
    return LACIS_OK;
}
static lacis_status run_units(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)run;
    (void)call;
    (void)begin;
    (void)end;
    (void)out;
    return LACIS_OK;
}
static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *options, lacis_array **out)
{
    (void)run;
    (void)source;
    (void)options;
    (void)out;
    return LACIS_OK;
}

static const lacis_variant variant = {.name = "only", .cost = cost, .run = run_units};
static const lacis_variant *const variants[] = {&variant};
static const lacis_param params[] = {{NULL, "%a", NULL, true, false, ""}};

static lacis_op whole_op(void)
{
    return (lacis_op){.verb = "TESTOP",
                      .summary = "for tests",
                      .params = params,
                      .param_count = 1,
                      .bind = bind,
                      .variants = variants,
                      .variant_count = 1};
}

/* An engine's host, a run and a registry of what is built in. */
typedef struct bench {
    lacis_host host;
    lacis_run run;
    lacis_registry registry;
    int ops, loaders;
} bench;

static void open_bench(bench *b)
{
    assert_int_equal(lacis_host_init(&b->host), LACIS_OK);
    b->run = (lacis_run){0};
    lacis_run_init(&b->run, &b->host);
    assert_int_equal(lacis_registry_init(&b->run, &b->registry), LACIS_OK);
    b->ops = b->registry.ops;
    b->loaders = b->registry.loaders;
}

static void close_bench(bench *b)
{
    lacis_registry_clear(&b->host, &b->registry);
    lacis_run_clear(&b->run);
    assert_int_equal(lacis_memory_used(b->host.memory), 0);
    lacis_host_clear(&b->host);
}

static void adds_and_finds_in_any_case(void **state)
{
    (void)state;
    bench b;
    open_bench(&b);
    lacis_op op = whole_op();
    lacis_loader loader = {.name = "testfmt", .summary = "for tests", .load = load};
    assert_int_equal(lacis_registry_add_op(&b.run, &b.registry, &op), LACIS_OK);
    assert_int_equal(lacis_registry_add_loader(&b.run, &b.registry, &loader), LACIS_OK);
    assert_ptr_equal(lacis_registry_op(&b.registry, "testop and more", 6), &op);
    assert_null(lacis_registry_op(&b.registry, "testo", 5));
    assert_null(lacis_registry_op(&b.registry, "testopp", 7));
    assert_ptr_equal(lacis_registry_loader(&b.registry, "TestFmt"), &loader);
    assert_null(lacis_registry_loader(&b.registry, "testfm"));
    assert_null(lacis_registry_generator(&b.registry, "no such generator"));
    assert_int_equal(b.registry.ops, b.ops + 1);
    close_bench(&b);
}

static void refuses_a_name_twice(void **state)
{
    (void)state;
    bench b;
    open_bench(&b);
    lacis_op op = whole_op(), same = whole_op();
    same.verb = "testOP";
    lacis_loader loader = {.name = "testfmt", .summary = "for tests", .load = load};
    assert_int_equal(lacis_registry_add_op(&b.run, &b.registry, &op), LACIS_OK);
    assert_int_equal(lacis_registry_add_op(&b.run, &b.registry, &same), LACIS_NAME);
    assert_string_equal(b.host.error.message, "there is an operator testOP already");
    assert_int_equal(lacis_registry_add_loader(&b.run, &b.registry, &loader), LACIS_OK);
    assert_int_equal(lacis_registry_add_loader(&b.run, &b.registry, &loader), LACIS_NAME);
    assert_int_equal(b.registry.ops, b.ops + 1);
    assert_int_equal(b.registry.loaders, b.loaders + 1);
    close_bench(&b);
}

static void refuses_what_is_not_whole(void **state)
{
    (void)state;
    bench b;
    open_bench(&b);
    static const lacis_param no_form[] = {{"BY", NULL, NULL, false, false, ""}};
    static const lacis_variant no_run = {.name = "none", .cost = cost};
    static const lacis_variant *const bad_variants[] = {&no_run};
    lacis_op bad[9];
    for (int i = 0; i < LACIS_COUNT(bad); i++) {
        bad[i] = whole_op();
    }
    bad[0].verb = NULL;
    bad[1].verb = "TWO WORDS";
    bad[2].summary = NULL;
    bad[3].bind = NULL;
    bad[4].params = NULL;
    bad[5].params = no_form;
    bad[6].variant_count = 0;
    bad[7].variants = bad_variants;
    bad[8].verb = "1ST";
    for (int i = 0; i < LACIS_COUNT(bad); i++) {
        assert_int_equal(lacis_registry_add_op(&b.run, &b.registry, &bad[i]), LACIS_MISUSE);
    }
    assert_int_equal(lacis_registry_add_op(&b.run, &b.registry, NULL), LACIS_MISUSE);
    static const lacis_option_spec bad_option[] = {{"n", 'z', NULL, NULL, false, ""}};
    const lacis_loader bad_loaders[] = {
        {.name = "x", .load = load},
        {.name = "x", .summary = "neither loads nor saves"},
        {.summary = "no name", .load = load},
        {.name = "x", .summary = "", .load = load, .option_count = 1},
        {.name = "x", .summary = "", .load = load, .options = bad_option, .option_count = 1}};
    for (int i = 0; i < LACIS_COUNT(bad_loaders); i++) {
        assert_int_equal(lacis_registry_add_loader(&b.run, &b.registry, &bad_loaders[i]), LACIS_MISUSE);
    }
    assert_int_equal(b.registry.ops, b.ops);
    assert_int_equal(b.registry.loaders, b.loaders);
    close_bench(&b);
}

/* Lets `left` allocations through. */
static int refuse(void *arg, size_t bytes)
{
    int *left = arg;
    (void)bytes;
    return (*left)-- <= 0;
}

static void every_failing_allocation_leaves_it_whole(void **state)
{
    (void)state;
    lacis_op op = whole_op();
    lacis_status status = LACIS_NOMEM;
    for (int n = 0; status != LACIS_OK && n < 200; n++) {
        lacis_host host;
        lacis_run run = {0};
        lacis_registry registry;
        int left = n;
        assert_int_equal(lacis_host_init(&host), LACIS_OK);
        lacis_run_init(&run, &host);
        lacis_set_allocation_guard(refuse, &left);
        status = lacis_registry_init(&run, &registry);
        if (status == LACIS_OK) status = lacis_registry_add_op(&run, &registry, &op);
        lacis_set_allocation_guard(NULL, NULL);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
        lacis_registry_clear(&host, &registry);
        lacis_run_clear(&run);
        assert_int_equal(lacis_memory_used(host.memory), 0);
        lacis_host_clear(&host);
    }
    assert_int_equal(status, LACIS_OK);
}

static void operators_may_ask(void **state)
{
    (void)state;
    static const char *const names[] = {"left", "right", "bottom", "Right"};
    assert_ptr_equal(lacis_name_nearest("rihgt", names, 4), names[1]);
    assert_ptr_equal(lacis_name_nearest("BOTOM", names, 4), names[2]);
    assert_null(lacis_name_nearest("top", names, 4));
    assert_null(lacis_name_nearest("left", names, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_was_meant),       cmocka_unit_test(keeps_silent_when_nothing_is_near),
        cmocka_unit_test(takes_the_first_of_equals),  cmocka_unit_test(survives_long_words),
        cmocka_unit_test(adds_and_finds_in_any_case), cmocka_unit_test(refuses_a_name_twice),
        cmocka_unit_test(refuses_what_is_not_whole),  cmocka_unit_test(every_failing_allocation_leaves_it_whole),
        cmocka_unit_test(operators_may_ask),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
