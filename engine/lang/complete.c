/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways to go on at a cursor: finds the statement and the word that the cursor stands in, and lets the parser run into
 * the place before that word (see parser.h). Caller: api/.
 */
#include "lang/offer.h"
#include "lang/scan.h"

#include <string.h>

/* Where the cursor stands. */
typedef struct place {
    const char *statement; /* the start of it */
    const char *word;      /* what is typed begins here; the cursor where nothing is */
    char quote;            /* of the unfinished string or identifier whose text `word` is */
    bool nothing;          /* in a comment, a parameter, a kind of quotes that only SQL has */
} place;

static place find_place(const char *text, const char *cursor)
{
    place here = {.statement = text, .word = cursor};
    lacis_piece piece = {0};
    const char *at = text;
    while (lacis_scan_next(&at, cursor, &piece)) {
        bool ends = piece.kind == LACIS_PIECE_SYMBOL && piece.text[0] == ';';
        if (ends) here.statement = at;
    }
    if (piece.open) {
        here.word = piece.text + 1;
        here.quote = piece.quote;
        here.nothing = piece.quote != '\'' && piece.quote != '"';
    } else if (piece.kind == LACIS_PIECE_WORD && piece.length > 0) {
        here.word = piece.text;
        here.nothing = piece.text[0] == ':';
    }
    return here;
}

/* Lets the parser run up to the word. Its errors are of no interest: most texts under a cursor are unfinished. */
static lacis_status run_parser(lacis_run *run, const place *here, lacis_completer *completer)
{
    static const lacis_statement_context context = {NULL, NULL};
    lacis_parser parser = {.run = run, .registry = completer->source->registry, .completer = completer};
    lacis_ast ast;
    lacis_error before = run->host->error;
    const char *end = here->word - (here->quote != 0);
    lacis_lexer_begin(&parser.lexer, here->statement, (size_t)(end - here->statement));
    lacis_status status = lacis_parser_statement(&parser, &context, &ast);
    if (status == LACIS_NOMEM || status == LACIS_LIMIT) return status;
    if (completer->status == LACIS_OK) run->host->error = before;
    return completer->status;
}

lacis_status lacis_lang_complete(lacis_run *run, const lacis_completion_source *source, const char *text,
                                 size_t cursor, size_t *start, lacis_complete_fn fn, void *arg)
{
    const char *at = text + strnlen(text, cursor);
    place here = find_place(text, at);
    lacis_completer completer = {.run = run, .source = source, .quote = here.quote, .fn = fn, .arg = arg};
    completer.prefix = here.word;
    completer.length = (size_t)(at - here.word);
    /* A quoted name is replaced with its quotes, a path without. */
    *start = (size_t)(here.word - text) - (here.quote == '"');
    if (here.nothing) return LACIS_OK;
    return run_parser(run, &here, &completer);
}
