/* SPDX-License-Identifier: Apache-2.0
 *
 * One line that shows how an operator is written, made from its descriptor: "MULTIPLY a BY b [CON expr] ...". Arrays
 * are lettered in their order. Callers: error messages of call.c and form.c, SHOW OPERATORS and help.
 */
#include "lang/parser.h"

#include <stdarg.h>
#include <string.h>

/* Text that grows in scratch; text == NULL once memory ran out. */
typedef struct line {
    lacis_run *run;
    char *text;
    char next_array;
} line;

static void append(line *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(line *out, const char *format, ...)
{
    char piece[2 * LACIS_WORD_TEXT + 8];
    va_list list;
    va_start(list, format);
    vsnprintf(piece, sizeof piece, format, list);
    va_end(list);
    if (out->text == NULL) return;
    bool opened = strchr("[{|", out->text[strlen(out->text) - 1]) != NULL, closes = strchr("]}|.", piece[0]) != NULL;
    const char *gap = opened || closes ? "" : " "; /* none inside brackets, and around | of alternatives */
    out->text = lacis_run_text(out->run, "%s%s%s", out->text, gap, piece);
}

static void append_item(line *out, char item)
{
    static const struct {
        char item;
        const char *word;
    } words[] = {{'e', "expr"},
                 {'f', "expr"},
                 {'i', "n"},
                 {'r', "x"},
                 {'z', "x|complex(x, x)"},
                 {'n', "name"},
                 {'s', "'text'"},
                 {'g', "agg"},
                 {'l', "flat|full|block(n)"},
                 {'k', "flat|full|block(n)|packed"},
                 {'p', "place"}};
    bool array = item == 'a' || item == 'v';
    if (array) append(out, item == 'a' ? "%c" : "x|%c", out->next_array < 'z' ? out->next_array++ : 'z');
    for (int i = 0; i < LACIS_COUNT(words); i++) {
        if (words[i].item == item) append(out, "%s", words[i].word);
    }
}

static void append_form(line *out, lacis_form form);

static void append_arms(line *out, lacis_form arms)
{
    lacis_form arm;
    append(out, "{");
    for (bool first = true; lacis_form_arm(&arms, &arm); first = false) {
        if (!first) append(out, "|");
        append_form(out, arm);
    }
    append(out, "}");
}

static void append_form(line *out, lacis_form form)
{
    lacis_form_part part;
    while (lacis_form_next(&form, &part)) {
        if (part.kind == LACIS_FORM_ITEM) {
            append_item(out, part.item);
        } else if (part.kind == LACIS_FORM_OPTIONAL) {
            append(out, "[");
            append_form(out, part.inner);
            append(out, "]");
        } else if (part.kind == LACIS_FORM_ARMS) {
            append_arms(out, part.inner);
        } else {
            append(out, "%s", part.kind == LACIS_FORM_REPEAT ? "[, ...]" : part.text);
        }
    }
}

static void append_param(line *out, const lacis_param *param)
{
    if (!param->required) append(out, "[");
    if (param->keyword != NULL) append(out, "%s", param->keyword);
    append_form(out, lacis_form_of(param->form));
    if (!param->required) append(out, "]");
    if (param->repeated) append(out, "...");
}

char *lacis_lang_clause(lacis_run *run, const lacis_param *param)
{
    line out = {.run = run, .text = lacis_run_text(run, "%s", param->keyword), .next_array = 'a'};
    append_form(&out, lacis_form_of(param->form));
    if (out.text == NULL || param->help == NULL || param->help[0] == '\0') return out.text;
    return lacis_run_text(run, "%s: %s", out.text, param->help);
}

/* Appends the parameters, operands first; puts where that of `index` begins and ends into span. */
static void append_params(line *out, const lacis_op *op, int index, size_t span[2])
{
    for (int keyword = 0; keyword < 2; keyword++) {
        for (int i = 0; i < op->param_count; i++) {
            if ((op->params[i].keyword != NULL) != keyword) continue;
            if (i == index && out->text != NULL) span[0] = strlen(out->text);
            append_param(out, &op->params[i]);
            if (i == index && out->text != NULL) span[1] = strlen(out->text);
        }
    }
}

char *lacis_lang_usage(lacis_run *run, const lacis_op *op)
{
    size_t span[2];
    line out = {.run = run, .text = lacis_run_text(run, "%s", op->verb), .next_array = 'a'};
    append_params(&out, op, -1, span);
    append(&out, "[ON AUTO|CPU|GPU]");
    return out.text;
}

char *lacis_lang_param(lacis_run *run, const lacis_op *op, int index)
{
    size_t span[2] = {0, 0};
    line out = {.run = run, .text = lacis_run_text(run, "%s", op->verb), .next_array = 'a'};
    append_params(&out, op, index, span);
    if (out.text == NULL) return NULL;
    out.text[span[1]] = '\0';
    return out.text + span[0] + (out.text[span[0]] == ' ');
}
