/* SPDX-License-Identifier: Apache-2.0
 *
 * See offer.h. Words reach the caller only if they go on from what is typed.
 */
#include "lang/offer.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* The completer, where the parser stands at the end of a text being completed; else NULL. */
static lacis_completer *asked(const lacis_parser *parser)
{
    bool here = parser->completer != NULL && parser->lexer.token.kind == LACIS_TOKEN_END;
    if (here) parser->completer->asked = true;
    return here ? parser->completer : NULL;
}

static void send(lacis_completer *completer, const char *word, const char *kind)
{
    if (completer->quote != 0 || !lacis_word_starts(word, completer->prefix, completer->length)) return;
    completer->fn(completer->arg, word, kind);
}

/* In capitals unless small letters are being typed. */
static void send_keyword(lacis_completer *completer, const char *word)
{
    char text[LACIS_WORD_TEXT];
    char first = completer->length > 0 ? completer->prefix[0] : 'A';
    bool small = first >= 'a' && first <= 'z';
    size_t length = strlen(word);
    if (length >= sizeof text) return;
    for (size_t i = 0; i <= length; i++) {
        text[i] = small ? lacis_lower(word[i]) : lacis_upper(word[i]);
    }
    if (lacis_word_byte(word[0])) send(completer, text, "keyword");
}

/* A lacis_complete_fn: names may stand in quotes, and must where they are not plain words. */
static void send_name(void *arg, const char *name, const char *kind)
{
    lacis_completer *completer = arg;
    if (completer->quote == '\'' || !lacis_word_starts(name, completer->prefix, completer->length)) return;
    bool plain = name[0] < '0' || name[0] > '9';
    size_t length = strlen(name), out = 0;
    for (size_t i = 0; i < length; i++) {
        plain = plain && lacis_word_byte(name[i]);
    }
    if (plain && completer->quote == 0) {
        completer->fn(completer->arg, name, kind);
        return;
    }
    char *text;
    lacis_status status = lacis_run_scratch(completer->run, 2 * length + 3, &text);
    if (status != LACIS_OK) {
        completer->status = status;
        return;
    }
    text[out++] = '"';
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '"') text[out++] = '"';
        text[out++] = name[i];
    }
    memcpy(text + out, "\"", 2);
    completer->fn(completer->arg, text, kind);
}

/* Options of SET, whose kind the engine gives. */
static void send_setting(void *arg, const char *name, const char *kind)
{
    send(arg, name, kind);
}

void lacis_offer_word(const lacis_parser *parser, const char *word, const char *kind)
{
    lacis_completer *completer = asked(parser);
    if (completer != NULL) send(completer, word, kind);
}

void lacis_offer_keyword(const lacis_parser *parser, const char *word)
{
    lacis_completer *completer = asked(parser);
    if (completer != NULL) send_keyword(completer, word);
}

void lacis_offer_keywords(const lacis_parser *parser, const char *words)
{
    char word[LACIS_WORD_TEXT];
    while (lacis_choice_next(&words, word, sizeof word)) {
        lacis_offer_keyword(parser, word);
    }
}

void lacis_offer_verbs(const lacis_parser *parser)
{
    lacis_completer *completer = asked(parser);
    if (completer == NULL) return;
    bool small = completer->length > 0 && completer->prefix[0] >= 'a' && completer->prefix[0] <= 'z';
    for (int i = 0; i < parser->registry->ops; i++) {
        char text[LACIS_WORD_TEXT];
        snprintf(text, sizeof text, "%s", parser->registry->op[i]->verb);
        for (char *at = text; small && *at != '\0'; at++) {
            *at = lacis_lower(*at);
        }
        send(completer, text, "verb");
    }
}

void lacis_offer_names(const lacis_parser *parser)
{
    lacis_completer *completer = asked(parser);
    if (completer == NULL || completer->source->names == NULL) return;
    completer->source->names(completer->source->context, send_name, completer);
}

void lacis_offer_settings(const lacis_parser *parser)
{
    lacis_completer *completer = asked(parser);
    if (completer == NULL || completer->source->options == NULL) return;
    completer->source->options(completer->source->context, send_setting, completer);
}

/* One entry of a folder: `head` (length bytes) is the typed path up to its last slash. Names with a ' in them are
 * left out, since they would need doubling. */
static lacis_status send_file(lacis_completer *completer, const char *head, size_t length, const char *entry)
{
    if (strchr(entry, '\'') != NULL) return LACIS_OK;
    char *path = lacis_run_text(completer->run, "%.*s%s", (int)length, head, entry);
    if (path == NULL) return LACIS_NOMEM;
    struct stat info;
    bool folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
    if (folder) path = lacis_run_text(completer->run, "%s/", path);
    if (path == NULL) return LACIS_NOMEM;
    completer->fn(completer->arg, path, "file");
    return LACIS_OK;
}

void lacis_offer_files(const lacis_parser *parser)
{
    lacis_completer *completer = asked(parser);
    if (completer == NULL || completer->quote != '\'') return;
    const char *prefix = completer->prefix, *slash = memrchr(prefix, '/', completer->length);
    size_t head = slash == NULL ? 0 : (size_t)(slash - prefix) + 1, typed = completer->length - head;
    const char *folder = head == 0 ? "." : lacis_run_text(completer->run, "%.*s", (int)head, prefix);
    DIR *entries = folder == NULL ? NULL : opendir(folder);
    if (folder == NULL) completer->status = LACIS_NOMEM;
    if (entries == NULL) return;
    for (struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        const char *name = entry->d_name;
        bool hidden = name[0] == '.' && (typed == 0 || prefix[head] != '.');
        bool self = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
        if (hidden || self || strncmp(name, prefix + head, typed) != 0) continue;
        completer->status = send_file(completer, prefix, head, name);
        if (completer->status != LACIS_OK) break;
    }
    closedir(entries);
}

void lacis_offer_formats(const lacis_parser *parser, bool saving)
{
    const lacis_registry *registry = parser->registry;
    for (int i = 0; i < registry->loaders; i++) {
        const lacis_loader *loader = registry->loader[i];
        bool can = saving ? loader->save != NULL : loader->load != NULL;
        if (can) lacis_offer_word(parser, loader->name, "format");
    }
}

void lacis_offer_generators(const lacis_parser *parser)
{
    for (int i = 0; i < parser->registry->generators; i++) {
        lacis_offer_word(parser, parser->registry->generator[i]->name, "generator");
    }
}

/* Whether one of the first `loaders` loaders has an option of that name. */
static bool offered_before(const lacis_registry *registry, int loaders, const char *name)
{
    for (int i = 0; i < loaders; i++) {
        for (int k = 0; k < registry->loader[i]->option_count; k++) {
            if (strcmp(registry->loader[i]->options[k].name, name) == 0) return true;
        }
    }
    return false;
}

void lacis_offer_options(const lacis_parser *parser, const lacis_option_spec *specs, int count)
{
    for (int i = 0; i < count; i++) {
        lacis_offer_word(parser, specs[i].name, "option");
    }
    for (int i = 0; count < 0 && i < parser->registry->loaders; i++) {
        const lacis_loader *loader = parser->registry->loader[i];
        for (int k = 0; k < loader->option_count; k++) {
            const char *name = loader->options[k].name;
            if (!offered_before(parser->registry, i, name)) lacis_offer_word(parser, name, "option");
        }
    }
}

void lacis_offer_value(const lacis_parser *parser, const lacis_option_spec *spec)
{
    const char *words = spec->form == 'b' ? "true|false" : spec->form == 'w' ? spec->words : "";
    char word[LACIS_WORD_TEXT];
    while (lacis_choice_next(&words, word, sizeof word)) {
        lacis_offer_word(parser, word, "keyword");
    }
}

void lacis_offer_aggregates(const lacis_parser *parser)
{
    for (int i = 0; lacis_agg_names[i][0] != NULL; i++) {
        lacis_offer_word(parser, lacis_agg_names[i][0], "aggregate");
    }
}

void lacis_offer_expression(const lacis_parser *parser, const char *slots)
{
    char slot[LACIS_WORD_TEXT];
    while (*slots != '\0') {
        size_t length = strcspn(slots, ",");
        snprintf(slot, sizeof slot, "%.*s", (int)length, slots);
        slots += length + strspn(slots + length, ", ");
        lacis_offer_word(parser, slot, "slot");
    }
    for (int i = 0; lacis_expr_functions[i] != NULL; i++) {
        lacis_offer_word(parser, lacis_expr_functions[i], "function");
    }
}

void lacis_offer_sql(const lacis_parser *parser)
{
    lacis_completer *completer = parser->completer;
    if (completer == NULL || completer->asked) return;
    if (completer->source->names != NULL) {
        completer->source->names(completer->source->context, send_name, completer);
    }
    for (int i = 0; lacis_sql_words[i] != NULL; i++) {
        send_keyword(completer, lacis_sql_words[i]);
    }
}
