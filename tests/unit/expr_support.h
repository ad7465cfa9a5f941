/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of engine/expr share: a run, and expressions from text.
 */
#ifndef LACIS_TESTS_EXPR_SUPPORT_H
#define LACIS_TESTS_EXPR_SUPPORT_H

#include "expr/expr.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static lacis_host host;
static lacis_run run;

static inline int open_run(void **state)
{
    (void)state;
    if (lacis_host_init(&host) != LACIS_OK) return -1;
    lacis_run_init(&run, &host);
    return 0;
}

static inline int close_run(void **state)
{
    (void)state;
    lacis_run_clear(&run);
    assert_int_equal(lacis_memory_used(host.memory), 0);
    lacis_host_clear(&host);
    return 0;
}

/* Parses all of text; NULL after an error. */
static inline lacis_expr *parse(const char *slots, const char *text)
{
    lacis_lexer lexer;
    lacis_expr *expr;
    lacis_lexer_begin(&lexer, text, strlen(text));
    if (lacis_expr_parse(&run, &lexer, slots, NULL, &expr) != LACIS_OK) return NULL;
    if (lexer.token.kind != LACIS_TOKEN_END) {
        lacis_lexer_expected(&run, &lexer, "the end");
        return NULL;
    }
    return expr;
}

/* Parses and types with one dtype for each slot; fails the test on an error. */
static inline lacis_expr *typed(const char *slots, const lacis_dtype *dtypes, const char *text)
{
    int count = 1;
    for (const char *c = slots; *c != '\0'; c++) {
        count += *c == ',';
    }
    lacis_expr *expr = parse(slots, text);
    if (expr == NULL) fail_msg("%s: %s", text, host.error.message);
    if (lacis_expr_type(&run, expr, dtypes, count) != LACIS_OK) fail_msg("%s: %s", text, host.error.message);
    return expr;
}

#endif
