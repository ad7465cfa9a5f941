/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls: a verb, its operands, its clauses in any order, each as the operator's descriptor describes it. No operator
 * is known here by name. Callers: work.c, statement.c, form.c (a call in parentheses) and the planner (views).
 */
#include "lang/offer.h"

#include <string.h>

/* The arguments of a call as they are found; the list grows in scratch. */
typedef struct args {
    lacis_arg *arg;
    int count, room;
} args;

static lacis_status add_arg(lacis_parser *parser, args *list, int param, int64_t offset, lacis_arg **out)
{
    if (list->count == list->room) {
        int room = list->room < 4 ? 8 : 2 * list->room;
        lacis_arg *larger;
        LACIS_TRY(lacis_run_scratch(parser->run, (uint64_t)room * sizeof *larger, &larger));
        if (list->count > 0) memcpy(larger, list->arg, (size_t)list->count * sizeof *larger);
        list->arg = larger;
        list->room = room;
    }
    *out = &list->arg[list->count++];
    **out = (lacis_arg){.param = param, .offset = offset};
    return LACIS_OK;
}

static bool given(const args *list, int param)
{
    for (int i = 0; i < list->count; i++) {
        if (list->arg[i].param == param) return true;
    }
    return false;
}

const lacis_op *lacis_parser_verb(const lacis_parser *parser)
{
    const lacis_token *token = &parser->lexer.token;
    if (token->kind != LACIS_TOKEN_WORD) return NULL;
    return lacis_registry_op(parser->registry, token->text, token->length);
}

static int param_at(const lacis_parser *parser, const lacis_op *op)
{
    for (int i = 0; i < op->param_count; i++) {
        const char *keyword = op->params[i].keyword;
        if (keyword != NULL && lacis_lexer_is(&parser->lexer, keyword)) return i;
    }
    return -1;
}

/* The operator meant by an operand with one of its clauses where a verb should stand, or NULL. */
static const lacis_op *silent_verb(const lacis_parser *parser)
{
    lacis_parser ahead = *parser;
    if (!lacis_parser_at_name(parser)) return NULL;
    lacis_lexer_next(&ahead.lexer);
    for (int i = 0; i < parser->registry->ops; i++)
        if (parser->registry->op[i]->silent && param_at(&ahead, parser->registry->op[i]) >= 0)
            return parser->registry->op[i];
    return NULL;
}

lacis_status lacis_parser_unknown_verb(lacis_parser *parser)
{
    const lacis_token *token = &parser->lexer.token;
    if (token->kind != LACIS_TOKEN_WORD) return lacis_lexer_expected(parser->run, &parser->lexer, "an operator");
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, token->text, token->length);
    for (int i = 0; i < parser->registry->ops; i++) {
        lacis_nearest_try(&nearest, parser->registry->op[i]->verb);
    }
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, token->offset, lacis_parser_hint(parser, &nearest),
                             "unknown operator '%.*s'", lacis_token_shown(token), token->text);
}

/* "MULTIPLY needs BY: MULTIPLY a BY b ..." */
static lacis_status missing(lacis_parser *parser, const lacis_op *op, const lacis_param *param, int64_t offset)
{
    const char *usage = lacis_lang_usage(parser->run, op);
    const char *what = param->keyword != NULL ? param->keyword : "an operand";
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, NULL, "%s needs %s: %s", op->verb, what,
                             usage != NULL ? usage : "");
}

/* Whether the call ends at the present token: at ; or ) or the end of the text. */
static bool at_end(const lacis_parser *parser)
{
    return parser->lexer.token.kind == LACIS_TOKEN_END || lacis_lexer_is(&parser->lexer, ";") ||
           lacis_lexer_is(&parser->lexer, ")");
}

/* What stands behind a keyword, or for an operand: an argument, or where the form says so several with commas between
 * them. */
static lacis_status read_param(lacis_parser *parser, const lacis_op *op, int index, int64_t offset, args *list)
{
    const lacis_param *param = &op->params[index];
    bool more = lacis_form_repeats(param->form);
    lacis_arg *arg;
    LACIS_TRY(add_arg(parser, list, index, offset, &arg));
    LACIS_TRY(lacis_parser_form(parser, op, param, arg));
    while (more && lacis_lexer_accept(&parser->lexer, ",")) {
        LACIS_TRY(add_arg(parser, list, index, parser->lexer.token.offset, &arg));
        LACIS_TRY(lacis_parser_form(parser, op, param, arg));
    }
    return LACIS_OK;
}

/* Parameters without keyword, right behind the verb. A required one takes whatever word comes, so that an array may
 * be called BY; an optional one yields to clause keywords. */
static lacis_status operands(lacis_parser *parser, const lacis_op *op, int64_t verb, args *list)
{
    for (int i = 0; i < op->param_count; i++) {
        const lacis_param *param = &op->params[i];
        if (param->keyword != NULL) continue;
        bool clause = param_at(parser, op) >= 0 || lacis_lexer_is(&parser->lexer, "ON");
        if (!param->required && (clause || at_end(parser))) {
            lacis_arg none = {0};
            if (parser->completer != NULL && !clause) lacis_parser_form(parser, op, param, &none); /* its offers */
            continue;
        }
        if (at_end(parser) && parser->completer == NULL) return missing(parser, op, param, verb);
        LACIS_TRY(read_param(parser, op, i, parser->lexer.token.offset, list));
    }
    return LACIS_OK;
}

static lacis_status unknown_clause(lacis_parser *parser, const lacis_op *op)
{
    const lacis_token *token = &parser->lexer.token;
    if (token->kind != LACIS_TOKEN_WORD) {
        const char *what = lacis_run_text(parser->run, "a clause of %s or ';'", op->verb);
        return lacis_lexer_expected(parser->run, &parser->lexer, what != NULL ? what : "';'");
    }
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, token->text, token->length);
    for (int i = 0; i < op->param_count; i++) {
        if (op->params[i].keyword != NULL) lacis_nearest_try(&nearest, op->params[i].keyword);
    }
    lacis_nearest_try(&nearest, "ON");
    const char *skipped = lacis_parser_skipped(parser);
    char word[LACIS_WORD_TEXT];
    while (skipped != NULL && lacis_choice_next(&skipped, word, sizeof word))
        lacis_nearest_try(&nearest, word);
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, token->offset, lacis_parser_hint(parser, &nearest),
                             "%s has no clause '%.*s'", op->verb, lacis_token_shown(token), token->text);
}

static lacis_status twice(lacis_parser *parser, const lacis_op *op, const char *keyword, int64_t offset)
{
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, offset, NULL, "%s has %s twice", op->verb, keyword);
}

static void offer_clauses(lacis_parser *parser, const lacis_op *op, const args *list, bool placed)
{
    for (int i = 0; i < op->param_count; i++) {
        const lacis_param *param = &op->params[i];
        if (param->keyword != NULL && (param->repeated || !given(list, i))) {
            lacis_offer_keyword(parser, param->keyword);
        }
    }
    if (!placed) lacis_offer_keyword(parser, "ON");
}

/* ON AUTO | CPU | GPU; the engine's own clause of every operator. */
static lacis_status placement(lacis_parser *parser, lacis_call *call)
{
    static const lacis_param on = {.keyword = "ON", .form = "AUTO|CPU|GPU"};
    static const lacis_placement choices[] = {LACIS_ON_AUTO, LACIS_ON_CPU, LACIS_ON_GPU};
    lacis_arg arg = {0};
    LACIS_TRY(lacis_parser_form(parser, NULL, &on, &arg));
    call->on = choices[arg.item[0].integer];
    return LACIS_OK;
}

static lacis_status clauses(lacis_parser *parser, lacis_call *call, args *list)
{
    bool placed = false;
    for (;;) {
        offer_clauses(parser, call->op, list, placed);
        if (at_end(parser)) return LACIS_OK;
        int64_t offset = parser->lexer.token.offset;
        int index = param_at(parser, call->op);
        if (index >= 0) {
            const lacis_param *param = &call->op->params[index];
            if (!param->repeated && given(list, index)) return twice(parser, call->op, param->keyword, offset);
            lacis_lexer_next(&parser->lexer);
            LACIS_TRY(read_param(parser, call->op, index, offset, list));
        } else if (lacis_lexer_accept(&parser->lexer, "ON")) {
            if (placed) return twice(parser, call->op, "ON", offset);
            placed = true;
            LACIS_TRY(placement(parser, call));
        } else {
            return unknown_clause(parser, call->op);
        }
    }
}

static lacis_status body(lacis_parser *parser, lacis_call *call)
{
    args list = {0};
    LACIS_TRY(operands(parser, call->op, call->offset, &list));
    LACIS_TRY(clauses(parser, call, &list));
    for (int i = 0; i < call->op->param_count; i++) {
        const lacis_param *param = &call->op->params[i];
        if (param->required && !given(&list, i)) return missing(parser, call->op, param, call->offset);
    }
    call->args = list.arg;
    call->arg_count = list.count;
    return LACIS_OK;
}

static lacis_status copy_bindings(lacis_run *run, const lacis_bindings *from, lacis_bindings **out)
{
    lacis_binding *value;
    LACIS_TRY(lacis_run_scratch(run, sizeof **out, out));
    LACIS_TRY(lacis_run_scratch(run, sizeof *value * (uint64_t)from->count, &value));
    for (int i = 0; i < from->count; i++) {
        value[i] = from->value[i];
        LACIS_TRY(lacis_text_copy(run, value[i].name, strlen(value[i].name), &value[i].name));
        if (value[i].text != NULL)
            LACIS_TRY(lacis_text_copy(run, value[i].text, strlen(value[i].text), &value[i].text));
    }
    **out = (lacis_bindings){value, from->count};
    return LACIS_OK;
}

/* For other ranks, which parse the call again. */
static lacis_status keep_source(lacis_parser *parser, lacis_call *call)
{
    lacis_bindings *bindings = NULL;
    const lacis_lexer *lexer = &parser->lexer;
    size_t length = (size_t)(lexer->token.offset - call->offset);
    LACIS_TRY(lacis_text_copy(parser->run, lexer->start + call->offset, length, &call->text));
    if (parser->bindings != NULL) LACIS_TRY(copy_bindings(parser->run, parser->bindings, &bindings));
    call->bindings = bindings;
    return LACIS_OK;
}

lacis_status lacis_parser_call(lacis_parser *parser, lacis_call **out)
{
    lacis_offer_verbs(parser);
    const lacis_op *op = lacis_parser_verb(parser);
    bool silent = op == NULL;
    if (silent) op = silent_verb(parser);
    if (op == NULL) return lacis_parser_unknown_verb(parser);
    if (parser->depth == LACIS_CALL_DEPTH) {
        return lacis_run_fail_at(parser->run, LACIS_SYNTAX, parser->lexer.token.offset,
                                 "give an inner call a name with LET or CREATE VIEW",
                                 "calls stand inside each other more than %d deep", (int)LACIS_CALL_DEPTH);
    }
    lacis_call *call;
    LACIS_TRY(lacis_run_scratch(parser->run, sizeof *call, &call));
    *call = (lacis_call){.op = op, .on = LACIS_ON_AUTO, .offset = parser->lexer.token.offset};
    if (!silent) lacis_lexer_next(&parser->lexer);
    parser->depth++;
    LACIS_TRY(body(parser, call));
    parser->depth--;
    *out = call;
    return parser->run->host->ranks == NULL ? LACIS_OK : keep_source(parser, call);
}

lacis_status lacis_lang_call(lacis_run *run, const lacis_registry *registry, const char *text,
                             const lacis_bindings *bindings, lacis_call **out)
{
    lacis_parser parser = {.run = run, .registry = registry, .bindings = bindings};
    lacis_lexer_begin(&parser.lexer, text, strlen(text));
    LACIS_TRY(lacis_parser_call(&parser, out));
    lacis_lexer_accept(&parser.lexer, ";");
    if (parser.lexer.token.kind == LACIS_TOKEN_END) return LACIS_OK;
    return lacis_lexer_expected(run, &parser.lexer, "the end of the call");
}
