/* SPDX-License-Identifier: Apache-2.0
 *
 * What stands behind a clause keyword: the statement matched against the pattern of lacis_param.form, whose parts
 * pattern.c tells. Caller: call.c.
 */
#include "lang/offer.h"

#include <string.h>

/* One clause on its way. */
struct matcher {
    lacis_parser *parser;
    const lacis_op *op; /* NULL: its keywords do not matter */
    const lacis_param *param;
    lacis_arg *arg;
    int items; /* used of arg */
};

static lacis_status match(struct matcher *matcher, lacis_form form);

/* ------------------------------------------------------------------------------------------- words */

int lacis_parser_one_of(lacis_parser *parser, const char *words)
{
    char word[LACIS_WORD_TEXT];
    lacis_offer_keywords(parser, words);
    for (int i = 0; lacis_choice_next(&words, word, sizeof word); i++)
        if (lacis_lexer_accept(&parser->lexer, word)) return i;
    return -1;
}

lacis_status lacis_parser_none_of(lacis_parser *parser, const char *words)
{
    lacis_nearest nearest;
    const lacis_token *token = &parser->lexer.token;
    if (token->kind != LACIS_TOKEN_WORD) return lacis_lexer_expected(parser->run, &parser->lexer, words);
    lacis_nearest_begin(&nearest, token->text, token->length);
    char word[LACIS_WORD_TEXT];
    const char *list = words;
    while (lacis_choice_next(&list, word, sizeof word))
        lacis_nearest_try(&nearest, word);
    return lacis_run_fail_at(parser->run, LACIS_SYNTAX, token->offset, lacis_parser_hint(parser, &nearest),
                             "expected %s, found \"%.*s\"", words, lacis_token_shown(token), token->text);
}

const char *lacis_parser_skipped(const lacis_parser *parser)
{
    return parser->skipped_at == parser->lexer.token.offset ? parser->skipped : NULL;
}

/* `words` after those that were skipped; no memory: `words` alone. */
static const char *with_skipped(lacis_parser *parser, const char *words)
{
    const char *skipped = lacis_parser_skipped(parser);
    const char *all = skipped == NULL ? words : lacis_run_text(parser->run, "%s|%s", skipped, words);
    return all == NULL ? words : all;
}

static void skip(lacis_parser *parser, const char *words)
{
    const char *skipped = lacis_parser_skipped(parser);
    bool more = skipped != NULL;
    parser->skipped = lacis_run_text(parser->run, "%s%s%s", more ? skipped : "", more ? "|" : "", words);
    parser->skipped_at = parser->lexer.token.offset;
}

/* A keyword in the middle of a clause. Whoever left it out is told the whole clause. */
static lacis_status expect_word(lacis_parser *parser, const lacis_param *param, const char *word)
{
    lacis_status status = lacis_parser_expect(parser, word);
    if (status == LACIS_OK || param->keyword == NULL) return status;
    const char *clause = lacis_lang_clause(parser->run, param);
    lacis_error *error = &parser->run->host->error;
    if (clause != NULL) snprintf(error->hint, sizeof error->hint, "%s", clause);
    return status;
}

/* NULL: the form has more items than there is room for. */
static lacis_item *next_item(struct matcher *matcher)
{
    if (matcher->items >= LACIS_ITEMS) return NULL;
    lacis_item *item = &matcher->arg->item[matcher->items++];
    item->offset = matcher->parser->lexer.token.offset;
    return item;
}

static lacis_status bad_form(const struct matcher *matcher)
{
    return lacis_parser_bad_form(matcher->parser, matcher->param);
}

static lacis_status choice(struct matcher *matcher, const char *words)
{
    lacis_item *item = next_item(matcher);
    if (item == NULL) return bad_form(matcher);
    int index = lacis_parser_one_of(matcher->parser, words);
    item->integer = index;
    return index < 0 ? lacis_parser_none_of(matcher->parser, with_skipped(matcher->parser, words)) : LACIS_OK;
}

/* --------------------------------------------------------------------------------- optional groups */

/* Whether a clause of the call begins at the present token. */
static bool at_clause(const struct matcher *matcher)
{
    const lacis_lexer *lexer = &matcher->parser->lexer;
    for (int i = 0; matcher->op != NULL && i < matcher->op->param_count; i++) {
        const char *keyword = matcher->op->params[i].keyword;
        if (keyword != NULL && lacis_lexer_is(lexer, keyword)) return true;
    }
    return matcher->op != NULL && lacis_lexer_is(lexer, "ON");
}

/* Whether a name stands here, and behind it the word that the pattern has next, if it has one. */
static bool name_begins(const lacis_parser *parser, lacis_form rest)
{
    lacis_lexer ahead = parser->lexer;
    lacis_form_part next;
    if (!lacis_parser_at_name(parser)) return false;
    if (!lacis_form_next(&rest, &next) || next.kind != LACIS_FORM_WORD) return true;
    lacis_lexer_next(&ahead);
    return lacis_lexer_is(&ahead, next.text);
}

/* Whether an item can begin at the present token, which is at no clause of the call. */
static bool item_begins(lacis_parser *parser, char item, lacis_form rest)
{
    const lacis_lexer *lexer = &parser->lexer;
    bool array = lacis_parser_at_name(parser) || lacis_lexer_is(lexer, "(");
    bool ends = lexer->token.kind == LACIS_TOKEN_END || lacis_lexer_is(lexer, ";") || lacis_lexer_is(lexer, ")");
    switch (item) {
    case 'n':
        return name_begins(parser, rest);
    case 'a':
        lacis_offer_names(parser);
        return array;
    case 'v':
        lacis_offer_names(parser);
        return array || lacis_parser_at_number(parser);
    case 'i':
    case 'r':
        return lacis_parser_at_number(parser);
    case 's':
        return lexer->token.kind == LACIS_TOKEN_STRING || lexer->token.kind == LACIS_TOKEN_NAME;
    default:
        return !ends;
    }
}

static bool group_begins(struct matcher *matcher, lacis_form form)
{
    lacis_form_part first;
    bool whole = lacis_form_next(&form, &first);
    if (whole && first.kind == LACIS_FORM_WORD) {
        lacis_offer_keyword(matcher->parser, first.text);
        bool here = lacis_lexer_is(&matcher->parser->lexer, first.text);
        if (!here) skip(matcher->parser, first.text);
        return here;
    }
    return whole && first.kind == LACIS_FORM_ITEM && !at_clause(matcher) &&
           item_begins(matcher->parser, first.item, form);
}

/* [...]: one item that tells whether the group stands, then its own. [A|B]: one that tells which. */
static lacis_status optional(struct matcher *matcher, lacis_form form)
{
    lacis_item *item = next_item(matcher);
    lacis_form_part part;
    if (item == NULL) return bad_form(matcher);
    if (lacis_form_lone_choice(form, &part)) {
        item->integer = lacis_parser_one_of(matcher->parser, part.text) + 1;
        if (item->integer == 0) skip(matcher->parser, part.text);
        return LACIS_OK;
    }
    item->integer = group_begins(matcher, form);
    if (item->integer != 0) return match(matcher, form);
    matcher->items += lacis_form_items(form);
    return matcher->items <= LACIS_ITEMS ? LACIS_OK : bad_form(matcher);
}

/* ------------------------------------------------------------------------------------ alternatives */

/* The word that an arm begins with; false: it begins with none. *rest: what stands behind it. */
static bool arm_word(lacis_form arm, lacis_form_part *word, lacis_form *rest)
{
    *rest = arm;
    return lacis_form_next(rest, word) && word->kind == LACIS_FORM_WORD;
}

/* The words that the arms begin with, as "A|B|C"; NULL: there is no memory. */
static const char *first_words(struct matcher *matcher, lacis_form arms)
{
    const char *words = NULL;
    lacis_form arm, rest;
    lacis_form_part word;
    for (bool first = true; (first || words != NULL) && lacis_form_arm(&arms, &arm); first = false) {
        if (!arm_word(arm, &word, &rest)) continue;
        words = lacis_run_text(matcher->parser->run, "%s%s%s", first ? "" : words, first ? "" : "|", word.text);
    }
    return words;
}

/* {A %r|B %i|C}: one item that tells which, then those of that arm; behind them, room for those of the longest. */
static lacis_status alternatives(struct matcher *matcher, lacis_form arms)
{
    const lacis_form whole = {arms.at - 1, arms.end + 1}, all = arms;
    lacis_form arm, rest;
    lacis_form_part word;
    int end = matcher->items + lacis_form_items(whole);
    lacis_item *item = next_item(matcher);
    if (item == NULL || end > LACIS_ITEMS) return bad_form(matcher);
    for (; lacis_form_arm(&arms, &arm); item->integer++) {
        if (!arm_word(arm, &word, &rest)) return bad_form(matcher);
        if (!lacis_parser_accept(matcher->parser, word.text)) continue;
        LACIS_TRY(match(matcher, rest));
        matcher->items = end;
        return LACIS_OK;
    }
    const char *words = first_words(matcher, all);
    return words == NULL ? LACIS_NOMEM : lacis_parser_none_of(matcher->parser, with_skipped(matcher->parser, words));
}

/* --------------------------------------------------------------------------------------- the whole */

static lacis_status match_part(struct matcher *matcher, const lacis_form_part *part)
{
    lacis_item *item;
    switch (part->kind) {
    case LACIS_FORM_WORD:
        return expect_word(matcher->parser, matcher->param, part->text);
    case LACIS_FORM_CHOICE:
        return choice(matcher, part->text);
    case LACIS_FORM_OPTIONAL:
        return optional(matcher, part->inner);
    case LACIS_FORM_ARMS:
        return alternatives(matcher, part->inner);
    case LACIS_FORM_ITEM:
        item = next_item(matcher);
        if (item == NULL) return bad_form(matcher);
        return lacis_parser_item(matcher->parser, matcher->param, part->item, item);
    case LACIS_FORM_REPEAT:
        return LACIS_OK;
    default:
        return bad_form(matcher);
    }
}

/* Patterns are the operators' own, so how deep their brackets nest is no user's choice. */
static lacis_status match(struct matcher *matcher, lacis_form form)
{
    lacis_form_part part;
    while (lacis_form_next(&form, &part))
        LACIS_TRY(match_part(matcher, &part));
    return LACIS_OK;
}

lacis_status lacis_parser_form(lacis_parser *parser, const lacis_op *op, const lacis_param *param, lacis_arg *arg)
{
    struct matcher matcher = {.parser = parser, .op = op, .param = param, .arg = arg};
    return match(&matcher, lacis_form_of(param->form));
}
