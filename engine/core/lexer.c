/* SPDX-License-Identifier: Apache-2.0
 *
 * The lexer (see lexer.h). Numbers are read without regard to the process's locale: strtod sees digits and an
 * exponent alone, never a decimal point.
 */
#include "core/lexer.h"
#include "core/word.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char at(const lacis_lexer *lexer, size_t ahead)
{
    return (size_t)(lexer->end - lexer->at) > ahead ? lexer->at[ahead] : '\0';
}

/* Blanks, `-- ...` up to the line's end, and C-style comments; an unfinished one ends with the text, as in SQL. */
static void skip_blanks(lacis_lexer *lexer)
{
    for (;;) {
        char c = at(lexer, 0);
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            lexer->at++;
        } else if (c == '-' && at(lexer, 1) == '-') {
            while (lexer->at < lexer->end && *lexer->at != '\n') {
                lexer->at++;
            }
        } else if (c == '/' && at(lexer, 1) == '*') {
            lexer->at += 2;
            while (lexer->at < lexer->end && !(at(lexer, 0) == '*' && at(lexer, 1) == '/')) {
                lexer->at++;
            }
            if (lexer->at < lexer->end) lexer->at += 2;
        } else {
            return;
        }
    }
}

/* ------------------------------------------------------------------------------------------ numbers */

/* No double needs more than 767 digits to be told from its neighbours; what follows only matters as "more". */
enum { DIGITS = 780 };

struct number {
    char digits[DIGITS + 32];
    size_t count;
    int64_t exponent; /* of ten, to apply to the digits as an integer */
    bool more;
};

static void take_digit(struct number *number, char c, bool fraction)
{
    if (number->count == 0 && c == '0') {
        number->exponent -= fraction;
    } else if (number->count < DIGITS) {
        number->digits[number->count++] = c;
        number->exponent -= fraction;
    } else {
        number->more = number->more || c != '0';
        number->exponent += !fraction;
    }
}

static double real_of(struct number *number)
{
    if (number->count == 0) return 0.0;
    if (number->more) {
        number->digits[number->count++] = '1';
        number->exponent--;
    }
    int64_t exponent = number->exponent;
    if (exponent > 99999) exponent = 99999;
    if (exponent < -99999) exponent = -99999;
    snprintf(number->digits + number->count, 32, "e%d", (int)exponent);
    return strtod(number->digits, NULL);
}

static void take_exponent(lacis_lexer *lexer, struct number *number)
{
    size_t sign = at(lexer, 1) == '+' || at(lexer, 1) == '-';
    if ((at(lexer, 0) | 32) != 'e' || !is_digit(at(lexer, 1 + sign))) return;
    bool negative = at(lexer, 1) == '-';
    int64_t exponent = 0;
    lexer->at += 1 + sign;
    for (; is_digit(at(lexer, 0)); lexer->at++) {
        if (exponent < INT32_MAX) exponent = 10 * exponent + (*lexer->at - '0');
    }
    number->exponent += negative ? -exponent : exponent;
}

static bool integer_of(const char *text, size_t length, int64_t *out)
{
    int64_t value = 0;
    for (size_t i = 0; i < length; i++) {
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, text[i] - '0', &value))
            return false;
    }
    *out = value;
    return true;
}

static lacis_token_kind number(lacis_lexer *lexer)
{
    struct number number = {.count = 0};
    const char *begin = lexer->at;
    for (; is_digit(at(lexer, 0)); lexer->at++) {
        take_digit(&number, *lexer->at, false);
    }
    size_t whole = (size_t)(lexer->at - begin);
    if (at(lexer, 0) == '.') {
        for (lexer->at++; is_digit(at(lexer, 0)); lexer->at++) {
            take_digit(&number, *lexer->at, true);
        }
    }
    take_exponent(lexer, &number);
    bool real = (size_t)(lexer->at - begin) > whole;
    if (lacis_word_byte(at(lexer, 0))) { /* 12abc */
        while (lacis_word_byte(at(lexer, 0))) {
            lexer->at++;
        }
        return LACIS_TOKEN_BAD;
    }
    lexer->token.real = real_of(&number);
    if (real || !integer_of(begin, whole, &lexer->token.integer)) return LACIS_TOKEN_REAL;
    return LACIS_TOKEN_INTEGER;
}

/* ------------------------------------------------------------------------------------- other tokens */

static lacis_token_kind quoted(lacis_lexer *lexer, char quote)
{
    for (lexer->at++; lexer->at < lexer->end; lexer->at++) {
        if (*lexer->at == '\0') return LACIS_TOKEN_BAD;
        if (*lexer->at != quote) continue;
        lexer->at++;
        if (at(lexer, 0) != quote) return quote == '"' ? LACIS_TOKEN_QUOTED : LACIS_TOKEN_STRING;
    }
    return LACIS_TOKEN_BAD;
}

static lacis_token_kind word(lacis_lexer *lexer, lacis_token_kind kind)
{
    while (lacis_word_byte(at(lexer, 0))) {
        lexer->at++;
    }
    return kind;
}

static lacis_token_kind symbol(lacis_lexer *lexer)
{
    static const char pairs[][3] = {"<=", ">=", "<>", "!=", "==", "||", "<<", ">>", "->"};
    for (int i = 0; i < LACIS_COUNT(pairs); i++) {
        if (at(lexer, 0) == pairs[i][0] && at(lexer, 1) == pairs[i][1]) {
            lexer->at += 2;
            return LACIS_TOKEN_SYMBOL;
        }
    }
    char c = *lexer->at++;
    return c != '\0' && strchr("()[],;.=<>+-*/%|&~!", c) != NULL ? LACIS_TOKEN_SYMBOL : LACIS_TOKEN_BAD;
}

static lacis_token_kind scan(lacis_lexer *lexer)
{
    if (lexer->at == lexer->end) return LACIS_TOKEN_END;
    char c = *lexer->at;
    if (is_digit(c) || (c == '.' && is_digit(at(lexer, 1)))) return number(lexer);
    if (lacis_word_byte(c)) return word(lexer, LACIS_TOKEN_WORD);
    if (c == '\'' || c == '"') return quoted(lexer, c);
    if (c == ':' && lacis_word_byte(at(lexer, 1))) {
        lexer->at++;
        return word(lexer, LACIS_TOKEN_NAME);
    }
    return symbol(lexer);
}

void lacis_lexer_begin(lacis_lexer *lexer, const char *text, size_t length)
{
    *lexer = (lacis_lexer){.start = text, .end = text + length, .at = text};
    lacis_lexer_next(lexer);
}

void lacis_lexer_next(lacis_lexer *lexer)
{
    skip_blanks(lexer);
    lexer->token = (lacis_token){.text = lexer->at, .offset = lexer->at - lexer->start};
    lexer->token.kind = scan(lexer);
    lexer->token.length = (size_t)(lexer->at - lexer->token.text);
}

bool lacis_lexer_is(const lacis_lexer *lexer, const char *word_or_symbol)
{
    const lacis_token *token = &lexer->token;
    if (token->kind != LACIS_TOKEN_WORD && token->kind != LACIS_TOKEN_SYMBOL) return false;
    return lacis_word_is(token->text, token->length, word_or_symbol);
}

bool lacis_lexer_accept(lacis_lexer *lexer, const char *word_or_symbol)
{
    if (!lacis_lexer_is(lexer, word_or_symbol)) return false;
    lacis_lexer_next(lexer);
    return true;
}

lacis_status lacis_token_text(lacis_run *run, const lacis_token *token, char **out)
{
    const char *from = token->text, *end = token->text + token->length;
    char quote = '\0';
    if (token->kind == LACIS_TOKEN_QUOTED || token->kind == LACIS_TOKEN_STRING) {
        quote = *from++;
        end--;
    } else if (token->kind == LACIS_TOKEN_NAME) {
        from++;
    }
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)(end - from) + 1, out));
    char *to = *out;
    while (from < end) {
        *to++ = *from;
        from += *from == quote && quote != '\0' ? 2 : 1;
    }
    *to = '\0';
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- errors */

enum { SHOWN = 40 }; /* bytes of a token that an error repeats */

/* The token's text up to SHOWN bytes, not cutting a UTF-8 character. */
static int shown_length(const lacis_token *token)
{
    if (token->length <= SHOWN) return (int)token->length;
    int length = SHOWN;
    while (length > 0 && ((unsigned char)token->text[length] & 0xC0) == 0x80) {
        length--;
    }
    return length;
}

static lacis_status bad_token(lacis_run *run, const lacis_token *token, const char *what)
{
    unsigned char c = (unsigned char)token->text[0];
    if (c == '\'' || c == '"')
        return lacis_run_fail_at(run, LACIS_SYNTAX, token->offset, NULL,
                                 "expected %s, found a %s that has no closing %c", what,
                                 c == '"' ? "quoted name" : "string", c);
    if (c < ' ' || c == 127)
        return lacis_run_fail_at(run, LACIS_SYNTAX, token->offset, NULL, "expected %s, found the byte 0x%02x", what,
                                 c);
    return lacis_run_fail_at(run, LACIS_SYNTAX, token->offset, NULL, "expected %s, found \"%.*s\", which is no token",
                             what, shown_length(token), token->text);
}

lacis_status lacis_lexer_expected(lacis_run *run, const lacis_lexer *lexer, const char *what)
{
    const lacis_token *token = &lexer->token;
    if (token->kind == LACIS_TOKEN_BAD) return bad_token(run, token, what);
    if (token->kind == LACIS_TOKEN_END)
        return lacis_run_fail_at(run, LACIS_SYNTAX, token->offset, NULL, "expected %s, found the end of the text",
                                 what);
    int length = shown_length(token);
    const char *more = (size_t)length < token->length ? "..." : "";
    const char *quote = token->kind == LACIS_TOKEN_QUOTED || token->kind == LACIS_TOKEN_STRING ? "" : "\"";
    return lacis_run_fail_at(run, LACIS_SYNTAX, token->offset, NULL, "expected %s, found %s%.*s%s%s", what, quote,
                             length, token->text, more, quote);
}
