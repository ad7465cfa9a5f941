/* SPDX-License-Identifier: Apache-2.0
 *
 * The insides of the statement parser, shared by the files of lang/ only.
 *
 * Completion is the same parser run over the text before the cursor: wherever it asks for a word or an item while it
 * stands at that text's end, the lacis_offer_ functions hand out what would be accepted there, and parsing then fails
 * as it would anyway. So completion cannot know a grammar other than the parser's.
 */
#ifndef LACIS_LANG_PARSER_H
#define LACIS_LANG_PARSER_H

#include "core/word.h"
#include "lang/lang.h"

enum {
    LACIS_CALL_DEPTH = 32, /* calls inside calls */
    LACIS_WORD_TEXT = 64   /* longest keyword and its closing zero */
};

typedef struct lacis_completer lacis_completer; /* offer.h */

typedef struct lacis_parser {
    lacis_run *run;
    const lacis_registry *registry;
    const lacis_bindings *bindings;
    lacis_lexer lexer;
    int depth;           /* of calls */
    const char *skipped; /* optional words that did not stand, "A|B", at the token that follows; see form.c */
    int64_t skipped_at;
    lacis_completer *completer; /* NULL when parsing in earnest */
} lacis_parser;

/* How much of a token an error repeats. */
static inline int lacis_token_shown(const lacis_token *token)
{
    return token->length < LACIS_WORD_TEXT ? (int)token->length : LACIS_WORD_TEXT;
}

/* value.c: one token, or a few, of a kind. `what` says in errors what was expected ("an array"). All leave the parser
 * behind the value; texts are in scratch. */
bool lacis_parser_accept(lacis_parser *parser, const char *word);
lacis_status lacis_parser_expect(lacis_parser *parser, const char *word);
bool lacis_parser_at_name(const lacis_parser *parser);
lacis_status lacis_parser_name(lacis_parser *parser, const char *what, const char **out);
lacis_status lacis_parser_string(lacis_parser *parser, const char *what, const char **out);
lacis_status lacis_parser_integer(lacis_parser *parser, int64_t *out);
/* %r and %z: the item's real, imag, wide and text. A :parameter's value may also be a text that is a number. */
lacis_status lacis_parser_real(lacis_parser *parser, lacis_item *item);
lacis_status lacis_parser_complex(lacis_parser *parser, lacis_item *item);
/* A string, a number, a word or a parameter, as text; *string: it was a string. */
lacis_status lacis_parser_literal(lacis_parser *parser, const char **out, bool *string);
/* A copy of `length` bytes in scratch. */
lacis_status lacis_text_copy(lacis_run *run, const char *text, size_t length, const char **out);
/* The hint "did you mean X?" in scratch, or NULL. */
const char *lacis_parser_hint(lacis_parser *parser, const lacis_nearest *nearest);

/* call.c */
const lacis_op *lacis_parser_verb(const lacis_parser *parser); /* at the present token; NULL: none */
/* A call and its source text, into the ast. */
lacis_status lacis_parser_call_text(lacis_parser *parser, lacis_ast *out);
lacis_status lacis_parser_call(lacis_parser *parser, lacis_call **out);
lacis_status lacis_parser_unknown_verb(lacis_parser *parser);

/* pattern.c: lacis_param.form, part by part. */
typedef enum lacis_form_kind {
    LACIS_FORM_ITEM,     /* %x: item = x */
    LACIS_FORM_WORD,     /* WORD or a symbol: text */
    LACIS_FORM_CHOICE,   /* A|B|C: text */
    LACIS_FORM_OPTIONAL, /* [...]: inner */
    LACIS_FORM_ARMS,     /* {...|...}: inner */
    LACIS_FORM_REPEAT,   /* ,... */
    LACIS_FORM_BAD       /* a bracket that is not closed, a list of words that is too long */
} lacis_form_kind;
typedef struct lacis_form { /* a pattern, or a piece of one */
    const char *at, *end;
} lacis_form;
typedef struct lacis_form_part {
    lacis_form_kind kind;
    char item;
    char text[2 * LACIS_WORD_TEXT];
    lacis_form inner;
} lacis_form_part;
lacis_form lacis_form_of(const char *text);
/* The part at *form, which moves behind it; false at the end. */
bool lacis_form_next(lacis_form *form, lacis_form_part *out);
/* The same of what stands between { and }, for the arms of it. */
bool lacis_form_arm(lacis_form *arms, lacis_form *out);
bool lacis_form_repeats(const char *form);                             /* it ends with ,... */
bool lacis_form_lone_choice(lacis_form form, lacis_form_part *choice); /* it is A|B|C and no more */
int lacis_form_items(lacis_form form);                                 /* how many items it takes */
/* The word at *list of "A|B|C", which moves behind it; false at the end. */
bool lacis_choice_next(const char **list, char *word, size_t size);

/* form.c. op: whose clauses end the optional parts of one; NULL: nobody's. */
lacis_status lacis_parser_form(lacis_parser *parser, const lacis_op *op, const lacis_param *param, lacis_arg *arg);
/* The optional words that might have stood at the present token, as "A|B"; NULL: none. */
const char *lacis_parser_skipped(const lacis_parser *parser);
/* The word of "A|B|C" that stands here, read, as its index; < 0: none does, and the error that says so. */
int lacis_parser_one_of(lacis_parser *parser, const char *words);
lacis_status lacis_parser_none_of(lacis_parser *parser, const char *words);

/* item.c */
lacis_status lacis_parser_item(lacis_parser *parser, const lacis_param *param, char kind, lacis_item *item);
bool lacis_parser_at_number(const lacis_parser *parser); /* its sign, or a parameter */
lacis_status lacis_parser_bad_form(lacis_parser *parser, const lacis_param *param);

/* option.c: ( name = value, ... ). specs are what completion offers; spec_count < 0: those of every
 * loader. */
lacis_status lacis_parser_options(lacis_parser *parser, const lacis_option_spec *specs, int spec_count,
                                  lacis_ast *out);

/* work.c and admin.c: statements, each from behind its first word. A parser that finds the statement to be SQL's sets
 * the kind to LACIS_AST_SQL and leaves the rest to statement.c. */
typedef struct lacis_statement_context {
    lacis_exists_fn exists;
    void *exists_arg;
} lacis_statement_context;
typedef lacis_status (*lacis_statement_fn)(lacis_parser *parser, const lacis_statement_context *context,
                                           lacis_ast *out);
lacis_status lacis_statement_let(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_create(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_load(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_generate(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_plot(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_save(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_drop(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_set(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_calibrate(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_tune(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);
lacis_status lacis_statement_show(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);

/* statement.c: the statement at the present token. */
lacis_status lacis_parser_statement(lacis_parser *parser, const lacis_statement_context *context, lacis_ast *out);

/* sqlwords.c; lists end with NULL */
bool lacis_sql_query_word(const lacis_token *token);     /* SELECT, WITH, VALUES */
bool lacis_sql_keyword(const char *text, size_t length); /* any keyword of SQLite */
extern const char *const lacis_sql_statements[];         /* first words of statements */
extern const char *const lacis_sql_words[];              /* words that completion offers inside SQL */

/* For those who ask for tables in the words of other programs. */
#define LACIS_HINT_ARRAYS "SHOW ARRAYS lists them; SELECT * FROM x LIMIT 3 shows one"

#endif
