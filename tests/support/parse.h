/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parser's tests share: a run that is cleared between tests, and one call that parses and checks.
 */
#ifndef LACIS_TESTS_PARSE_H
#define LACIS_TESTS_PARSE_H

#include "support/fake_lang.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* One host and run for all tests of a group; scratch is freed between tests. */
static lacis_host host;
static lacis_run run;
static lacis_ast ast;
static const char *tail;

static inline int open_run(void **state)
{
    (void)state;
    run = (lacis_run){0};
    if (lacis_host_init(&host) != LACIS_OK) return 1;
    lacis_run_init(&run, &host);
    return 0;
}
static inline int close_run(void **state)
{
    (void)state;
    lacis_run_clear(&run);
    int left = lacis_memory_used(host.memory) != 0;
    lacis_host_clear(&host);
    return left;
}

static inline bool exists(void *arg, const char *name)
{
    (void)arg;
    return strcmp(name, "wiki") == 0 || strcmp(name, "my graph") == 0;
}

static inline lacis_status parse_with(const char *text, const lacis_bindings *bindings)
{
    lacis_host_ok(&host);
    return lacis_lang_parse(&run, &fake_registry, text, strlen(text), bindings, exists, NULL, &ast, &tail);
}

/* Parses text that must be good and of that kind. */
static inline void parse(const char *text, lacis_ast_kind kind)
{
    lacis_status status = parse_with(text, NULL);
    if (status != LACIS_OK) fail_msg("%s: %s", text, host.error.message);
    assert_int_equal(ast.kind, kind);
}

/* Parses text that must fail: `message` is a part of what is said, `at` a part of the text where it is said. */
static inline void refuse(const char *text, lacis_status code, const char *at, const char *message, const char *hint)
{
    assert_int_equal(parse_with(text, NULL), code);
    if (strstr(host.error.message, message) == NULL) fail_msg("%s: %s", text, host.error.message);
    if (at != NULL) assert_int_equal(host.error.offset, strstr(text, at) - text);
    if (hint != NULL) assert_string_equal(host.error.hint, hint);
}

#define PARSER_TEST(name) cmocka_unit_test_setup_teardown(name, open_run, close_run)

#endif
