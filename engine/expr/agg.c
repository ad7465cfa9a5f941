/* SPDX-License-Identifier: Apache-2.0
 *
 * Aggregates: named ones, and written folds, of which those that are a named one in other words become it. Called by
 * the statement parser for the items %g of operators' parameters.
 */
#include "core/registry.h"
#include "core/word.h"
#include "expr/tree.h"

#include <math.h>
#include <string.h>

const char *const lacis_agg_names[][2] = {
    {"count", "how many products an entry has"},
    {"sum", "their sum; integers are checked for overflow"},
    {"min", "the least"},
    {"max", "the greatest"},
    {"any", "one of them, whichever comes first to hand"},
    {"avg", "their mean, a real"},
    {"first", "the one with the least c"},
    {"last", "the one with the greatest c"},
    {NULL, NULL},
};
/* Kinds in the order of the names. */
static const lacis_agg_kind kinds[] = {LACIS_AGG_COUNT, LACIS_AGG_SUM, LACIS_AGG_MIN,   LACIS_AGG_MAX,
                                       LACIS_AGG_ANY,   LACIS_AGG_AVG, LACIS_AGG_FIRST, LACIS_AGG_LAST};

static const char *kind_name(lacis_agg_kind kind)
{
    for (int i = 0; i < LACIS_COUNT(kinds); i++) {
        if (kinds[i] == kind) return lacis_agg_names[i][0];
    }
    return NULL;
}

static void become(lacis_agg *agg, lacis_agg_kind kind)
{
    agg->kind = kind;
    agg->text = kind_name(kind);
    agg->associative = kind != LACIS_AGG_AVG;
}

static lacis_status parse_named(lacis_run *run, lacis_lexer *lexer, lacis_agg *agg)
{
    lacis_token token = lexer->token;
    lacis_nearest nearest;
    char hint[LACIS_HINT_TEXT];
    lacis_nearest_begin(&nearest, token.text, token.length);
    for (int i = 0; lacis_agg_names[i][0] != NULL; i++) {
        if (lacis_lexer_accept(lexer, lacis_agg_names[i][0])) {
            become(agg, kinds[i]);
            return LACIS_OK;
        }
        lacis_nearest_try(&nearest, lacis_agg_names[i][0]);
    }
    const char *best = lacis_nearest_result(&nearest);
    if (best != NULL) snprintf(hint, sizeof hint, "did you mean %s?", best);
    return lacis_run_fail_at(run, LACIS_NAME, token.offset, best != NULL ? hint : NULL,
                             "there is no aggregate %.*s; there are count, sum, min, max, any, avg, first, last, and "
                             "folds written as (x, y) -> expression IDENTITY value",
                             (int)(token.length < 60 ? token.length : 60), token.text);
}

/* ------------------------------------------------------------------------------------ written folds */

/* A name that the fold's expression can use: no word that means something there. */
static lacis_status parse_name(lacis_run *run, lacis_lexer *lexer, char **out)
{
    static const char *const taken[] = {"and",  "or",   "not",   "in",       "is",         "between", "case",
                                        "when", "then", "else",  "end",      "nil",        "inf",     "nan",
                                        "null", "true", "false", "identity", "associative"};
    if (lexer->token.kind != LACIS_TOKEN_WORD) return lacis_lexer_expected(run, lexer, "a name, as in (x, y) -> ...");
    for (int i = 0; i < LACIS_COUNT(taken); i++) {
        if (lacis_lexer_is(lexer, taken[i]))
            return lacis_run_fail_at(run, LACIS_SYNTAX, lexer->token.offset, NULL,
                                     "%s has a meaning of its own; name the fold's values otherwise, as in (x, y)",
                                     taken[i]);
    }
    LACIS_TRY(lacis_token_text(run, &lexer->token, out));
    lacis_lexer_next(lexer);
    return LACIS_OK;
}

static lacis_status expect(lacis_run *run, lacis_lexer *lexer, const char *symbol, const char *what)
{
    return lacis_lexer_accept(lexer, symbol) ? LACIS_OK : lacis_lexer_expected(run, lexer, what);
}

/* Behind "(": x, y ) -> . *slots becomes "x,y". */
static lacis_status parse_names(lacis_run *run, lacis_lexer *lexer, char **slots)
{
    char *x, *y;
    LACIS_TRY(parse_name(run, lexer, &x));
    LACIS_TRY(expect(run, lexer, ",", "\",\" in (x, y)"));
    int64_t offset = lexer->token.offset;
    LACIS_TRY(parse_name(run, lexer, &y));
    if (lacis_word_is(x, strlen(x), y))
        return lacis_run_fail_at(run, LACIS_NAME, offset, NULL, "the fold's two values need two names, as in (x, y)");
    LACIS_TRY(expect(run, lexer, ")", "\")\" in (x, y)"));
    LACIS_TRY(expect(run, lexer, "->", "\"->\" and an expression"));
    *slots = lacis_run_text(run, "%s,%s", x, y);
    return *slots != NULL ? LACIS_OK : LACIS_NOMEM;
}

/* A number with its sign, INF or a parameter. */
static lacis_status parse_literal(lacis_run *run, lacis_lexer *lexer, const lacis_bindings *bindings,
                                  lacis_node **node)
{
    lacis_parser parser = {.run = run, .lexer = lexer, .bindings = bindings};
    int64_t offset = lexer->token.offset;
    bool minus = lacis_lexer_accept(lexer, "-");
    if (!minus) lacis_lexer_accept(lexer, "+");
    lacis_token_kind kind = lexer->token.kind;
    if (kind == LACIS_TOKEN_NAME && !minus) {
        return lacis_parse_parameter(&parser, node);
    } else if (kind == LACIS_TOKEN_INTEGER || kind == LACIS_TOKEN_REAL) {
        return lacis_parse_number(run, lexer, minus, offset, node);
    } else if (lacis_lexer_accept(lexer, "INF")) {
        return lacis_node_real(run, offset, LACIS_F64, minus ? -INFINITY : INFINITY, node);
    }
    return lacis_lexer_expected(run, lexer,
                                "the fold's identity: a number, INF, -INF, a :parameter or complex(re, im) of them");
}

static double literal_value(const lacis_node *node)
{
    return node->dtype == LACIS_I64 ? (double)node->integer : node->real;
}

/* Behind "complex". */
static lacis_status parse_complex(lacis_run *run, lacis_lexer *lexer, const lacis_bindings *bindings, int64_t offset,
                                  lacis_node **out)
{
    lacis_node *re, *im;
    LACIS_TRY(expect(run, lexer, "(", "\"(\" of complex(re, im)"));
    LACIS_TRY(parse_literal(run, lexer, bindings, &re));
    LACIS_TRY(expect(run, lexer, ",", "\",\" of complex(re, im)"));
    LACIS_TRY(parse_literal(run, lexer, bindings, &im));
    LACIS_TRY(expect(run, lexer, ")", "\")\" of complex(re, im)"));
    return lacis_node_complex(run, offset, literal_value(re), literal_value(im), out);
}

static lacis_status parse_identity(lacis_run *run, lacis_lexer *lexer, const lacis_bindings *bindings, lacis_agg *agg,
                                   const char **text)
{
    lacis_node *node;
    int64_t offset = lexer->token.offset;
    if (lacis_lexer_accept(lexer, "complex")) {
        LACIS_TRY(parse_complex(run, lexer, bindings, offset, &node));
    } else {
        LACIS_TRY(parse_literal(run, lexer, bindings, &node));
    }
    agg->identity_complex = node->dtype == LACIS_C128;
    agg->identity_real = node->dtype != LACIS_I64;
    agg->identity_int = node->integer;
    agg->identity = literal_value(node);
    agg->identity_imag = node->imag;
    return lacis_node_print(run, agg->fold, node, text);
}

/* The operation that joins the two values and does nothing else; NIL where the fold is more than that. */
static lacis_node_op joining_op(const lacis_node *node)
{
    bool joins = node->count == 2 && node->kid[0]->op == LACIS_NODE_SLOT && node->kid[1]->op == LACIS_NODE_SLOT &&
                 node->kid[0]->slot != node->kid[1]->slot;
    return joins ? node->op : LACIS_NODE_NIL;
}

static bool is_associative(lacis_node_op op)
{
    return op == LACIS_NODE_ADD || op == LACIS_NODE_MUL || op == LACIS_NODE_MIN || op == LACIS_NODE_MAX ||
           op == LACIS_NODE_AND || op == LACIS_NODE_OR || op == LACIS_NODE_BITAND || op == LACIS_NODE_BITOR;
}

/* The raw tree tells: what canonical form would find besides depends on types, which are not known yet. */
static void recognise(lacis_agg *agg)
{
    lacis_node_op op = joining_op(agg->fold->raw);
    bool most = agg->identity_real ? agg->identity == (double)INFINITY : agg->identity_int == INT64_MAX;
    bool least = agg->identity_real ? agg->identity == (double)-INFINITY : agg->identity_int == INT64_MIN;
    agg->associative = is_associative(op);
    if (agg->identity_complex) return; /* makes real values complex, which no named one does */
    if (op == LACIS_NODE_ADD && agg->identity == 0) become(agg, LACIS_AGG_SUM);
    if (op == LACIS_NODE_MIN && most) become(agg, LACIS_AGG_MIN);
    if (op == LACIS_NODE_MAX && least) become(agg, LACIS_AGG_MAX);
}

/* Behind "(". */
static lacis_status parse_fold(lacis_run *run, lacis_lexer *lexer, const lacis_bindings *bindings, lacis_agg *agg)
{
    char *slots = NULL;
    const char *identity;
    agg->kind = LACIS_AGG_FOLD;
    LACIS_TRY(parse_names(run, lexer, &slots));
    LACIS_TRY(lacis_expr_parse(run, lexer, slots, bindings, &agg->fold));
    const lacis_expr *fold = agg->fold;
    if (fold->raw->op == LACIS_NODE_NIL)
        return lacis_run_fail_at(run, LACIS_TYPE, fold->raw->offset, NULL,
                                 "nil has no value; a fold needs an expression, as in (x, y) -> x + y IDENTITY 0");
    LACIS_TRY(expect(run, lexer, "IDENTITY", "IDENTITY and the fold's neutral value"));
    LACIS_TRY(parse_identity(run, lexer, bindings, agg, &identity));
    agg->text = lacis_run_text(run, "(%s, %s) -> %s IDENTITY %s", fold->slot_name[0], fold->slot_name[1], fold->text,
                               identity);
    if (agg->text == NULL) return LACIS_NOMEM;
    recognise(agg);
    if (lacis_lexer_accept(lexer, "ASSOCIATIVE")) agg->associative = true;
    return LACIS_OK;
}

lacis_status lacis_agg_parse(lacis_run *run, lacis_lexer *lexer, const lacis_bindings *bindings, lacis_agg **out)
{
    lacis_agg *agg;
    LACIS_TRY(lacis_run_scratch(run, sizeof *agg, &agg));
    *agg = (lacis_agg){.offset = lexer->token.offset};
    *out = agg;
    if (lexer->token.kind == LACIS_TOKEN_WORD) return parse_named(run, lexer, agg);
    if (lacis_lexer_accept(lexer, "(")) return parse_fold(run, lexer, bindings, agg);
    return lacis_lexer_expected(run, lexer,
                                "an aggregate: count, sum, min ..., or (x, y) -> expression IDENTITY value");
}
