/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens of the language, over the caller's text without copying. Used by the expression and statement parsers and by
 * completion. SQL text never passes through it beyond its first words.
 */
#ifndef LACIS_CORE_LEXER_H
#define LACIS_CORE_LEXER_H

#include "core/run.h"

typedef enum lacis_token_kind {
    LACIS_TOKEN_END,     /* end of text */
    LACIS_TOKEN_WORD,    /* letters, digits, _, and any byte above 127 */
    LACIS_TOKEN_QUOTED,  /* "identifier": never a keyword */
    LACIS_TOKEN_STRING,  /* 'text', '' inside for a quote */
    LACIS_TOKEN_INTEGER, /* fits int64 */
    LACIS_TOKEN_REAL,    /* also integers too large for int64 */
    LACIS_TOKEN_NAME,    /* :name */
    LACIS_TOKEN_SYMBOL,  /* one of ( ) [ ] , ; . = < > + - * / % | & ~ ! and <= >= <> != == || << >> -> */
    LACIS_TOKEN_BAD      /* an unfinished string or identifier, a stray byte */
} lacis_token_kind;

typedef struct lacis_token {
    lacis_token_kind kind;
    const char *text; /* in the source, quotes included */
    size_t length;
    int64_t offset; /* of the token from the lexer's start */
    int64_t integer;
    double real;
} lacis_token;

typedef struct lacis_lexer {
    const char *start;
    const char *end;
    const char *at;
    lacis_token token; /* the present one */
} lacis_lexer;

/* Stands on the first token afterwards. `-- ...` and C-style comments count as blanks. */
void lacis_lexer_begin(lacis_lexer *lexer, const char *text, size_t length);
void lacis_lexer_next(lacis_lexer *lexer);
/* Whether the present token is this keyword (any case; never a quoted identifier) or symbol. */
bool lacis_lexer_is(const lacis_lexer *lexer, const char *word);
/* The same, and moves on if so. */
bool lacis_lexer_accept(lacis_lexer *lexer, const char *word);
/* The word, identifier, string or parameter name without quotes, doubled quotes undone, in the run's scratch. */
lacis_status lacis_token_text(lacis_run *run, const lacis_token *token, char **out);
/* LACIS_SYNTAX at the present token: "expected X, found Y". */
lacis_status lacis_lexer_expected(lacis_run *run, const lacis_lexer *lexer, const char *what);

#endif
