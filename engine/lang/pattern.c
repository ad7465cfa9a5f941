/* SPDX-License-Identifier: Apache-2.0
 *
 * The pattern of lacis_param.form (see lacis_extend.h), read part by part. Callers: form.c, which matches statements
 * against it, call.c and usage.c.
 */
#include "lang/parser.h"

#include <string.h>

/* Copies length bytes, as many as fit. */
static void keep(char *out, size_t size, const char *text, size_t length)
{
    if (length >= size) length = size - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

lacis_form lacis_form_of(const char *text)
{
    return (lacis_form){text, text + strlen(text)};
}

/* The length of what begins with [ or { up to its closing bracket; 0: there is none. */
static size_t bracketed(lacis_form form)
{
    int depth = 0;
    for (const char *at = form.at; at < form.end; at++) {
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
        if (depth == 0) return (size_t)(at + 1 - form.at);
    }
    return 0;
}

static size_t to_blank(lacis_form form)
{
    size_t length = 0;
    while (form.at + length < form.end && form.at[length] != ' ')
        length++;
    return length;
}

/* [...] or {...} */
static void group(lacis_form *form, lacis_form_part *out)
{
    size_t length = bracketed(*form);
    bool whole = length > 2 && (form->at + length == form->end || form->at[length] == ' ');
    out->kind = !whole ? LACIS_FORM_BAD : form->at[0] == '[' ? LACIS_FORM_OPTIONAL : LACIS_FORM_ARMS;
    if (whole) out->inner = (lacis_form){form->at + 1, form->at + length - 1};
    form->at = whole ? form->at + length : form->end;
}

bool lacis_form_next(lacis_form *form, lacis_form_part *out)
{
    while (form->at < form->end && *form->at == ' ')
        form->at++;
    *out = (lacis_form_part){.kind = LACIS_FORM_WORD};
    size_t length = to_blank(*form);
    const char *at = form->at;
    if (length == 0) return false;
    if ((at[0] == '[' || at[0] == '{') && length > 1) {
        group(form, out);
        return true;
    }
    if (at[0] == '%' && length == 2) {
        out->kind = LACIS_FORM_ITEM;
        out->item = at[1];
    } else if (length == 4 && memcmp(at, ",...", length) == 0) {
        out->kind = LACIS_FORM_REPEAT;
    } else if (length > 1 && memchr(at, '|', length) != NULL) {
        out->kind = LACIS_FORM_CHOICE;
    }
    if (length >= sizeof out->text) out->kind = LACIS_FORM_BAD;
    keep(out->text, sizeof out->text, at, length);
    form->at += length;
    return true;
}

bool lacis_form_arm(lacis_form *arms, lacis_form *out)
{
    int depth = 0;
    const char *at = arms->at;
    if (at >= arms->end) return false;
    for (; at < arms->end && (depth > 0 || *at != '|'); at++) {
        depth += *at == '[' || *at == '{';
        depth -= *at == ']' || *at == '}';
    }
    *out = (lacis_form){arms->at, at};
    arms->at = at < arms->end ? at + 1 : at;
    return true;
}

bool lacis_form_repeats(const char *form)
{
    size_t length = strlen(form);
    return length >= 4 && strcmp(form + length - 4, ",...") == 0;
}

bool lacis_form_lone_choice(lacis_form form, lacis_form_part *out)
{
    lacis_form_part more;
    return lacis_form_next(&form, out) && out->kind == LACIS_FORM_CHOICE && !lacis_form_next(&form, &more);
}

int lacis_form_items(lacis_form form)
{
    lacis_form_part part, choice;
    int items = 0;
    while (lacis_form_next(&form, &part)) {
        int most = 0;
        lacis_form arm;
        items += part.kind != LACIS_FORM_WORD && part.kind != LACIS_FORM_REPEAT;
        if (part.kind == LACIS_FORM_OPTIONAL && !lacis_form_lone_choice(part.inner, &choice))
            items += lacis_form_items(part.inner);
        while (part.kind == LACIS_FORM_ARMS && lacis_form_arm(&part.inner, &arm)) {
            int here = lacis_form_items(arm);
            if (here > most) most = here;
        }
        items += most;
    }
    return items;
}

bool lacis_choice_next(const char **list, char *word, size_t size)
{
    const char *at = *list + strspn(*list, "|");
    size_t length = strcspn(at, "|");
    *list = at + length;
    keep(word, size, at, length);
    return length > 0;
}
