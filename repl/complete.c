/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements complete.h. Called by input_readline.c.
 */
#include "complete.h"

#include "dot.h"
#include "topics.h"

#include <ctype.h>
#include <dirent.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

static void add_word(shell_candidates *out, char *word)
{
    out->word = shell_alloc(out->word, (size_t)(out->words + 1) * sizeof *out->word);
    out->word[out->words++] = word;
}

static void try_word(shell_candidates *out, const char *typed, size_t length, const char *word)
{
    if (strncasecmp(word, typed, length) == 0) add_word(out, shell_copy(word, strlen(word)));
}

static bool is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Files that begin with the typed path, except for names that would need quotes. */
static void add_files(shell_candidates *out, const char *typed, size_t length)
{
    const char *home = getenv("HOME");
    char *path = shell_copy(typed, length), *slash = strrchr(path, '/');
    size_t folder = slash ? (size_t)(slash - path) + 1 : 0;
    shell_text real = {0};
    bool at_home = path[0] == '~' && path[1] == '/' && home;
    if (at_home) shell_text_puts(&real, home);
    shell_text_add(&real, path + at_home, folder > 0 ? folder - at_home : 0);
    size_t base = real.used;
    DIR *entries = opendir(base > 0 ? real.data : ".");
    out->files = true;
    for (const struct dirent *entry; entries && (entry = readdir(entries)) != NULL;) {
        const char *name = entry->d_name, *rest = path + folder;
        if (strncmp(name, rest, strlen(rest)) != 0 || (name[0] == '.' && rest[0] != '.')) continue;
        if (strpbrk(name, " \t'\"")) continue;
        shell_text word = {0};
        shell_text_add(&word, path, folder);
        shell_text_puts(&word, name);
        real.used = base;
        shell_text_puts(&real, name);
        if (is_folder(real.data)) shell_text_puts(&word, "/");
        add_word(out, word.data);
    }
    if (entries) closedir(entries);
    shell_text_free(&real);
    free(path);
}

typedef struct topic_gather {
    shell_candidates *out;
    const char *typed;
    size_t length;
} topic_gather;

static void on_verb(void *arg, const char *verb, const char *usage, const char *summary)
{
    const topic_gather *state = arg;
    (void)usage;
    (void)summary;
    try_word(state->out, state->typed, state->length, verb);
}

static void add_topics(shell_session *session, shell_candidates *out, const char *typed, size_t length)
{
    topic_gather state = {out, typed, length};
    shell_verbs(session, on_verb, &state);
    for (int i = 0; shell_topic_at(i); i++)
        try_word(out, typed, length, shell_topic_at(i)->name);
    for (int i = 0; shell_dot_at(i); i++)
        try_word(out, typed, length, shell_dot_at(i)->name + (typed[0] != '.'));
}

static void complete_dot(shell_session *session, const char *line, size_t cursor, shell_candidates *out)
{
    size_t name = strspn(line, " \t"), end = name + strcspn(line + name, " \t");
    out->start = cursor;
    while (out->start > 0 && !isspace((unsigned char)line[out->start - 1]))
        out->start--;
    const char *typed = line + out->start;
    size_t length = cursor - out->start;
    if (out->start <= name) {
        for (int i = 0; shell_dot_at(i); i++)
            try_word(out, typed, length, shell_dot_at(i)->name);
        return;
    }
    char *command_name = shell_copy(line + name, end - name);
    const shell_dot_command *command = shell_dot_find(command_name);
    free(command_name);
    switch (command ? command->argument : SHELL_ARG_NONE) {
    case SHELL_ARG_FILE:
        add_files(out, typed, length);
        break;
    case SHELL_ARG_MODE:
        for (int i = 0; shell_mode_at(i); i++)
            try_word(out, typed, length, shell_mode_at(i)->name);
        break;
    case SHELL_ARG_SWITCH:
        try_word(out, typed, length, "on");
        try_word(out, typed, length, "off");
        break;
    case SHELL_ARG_TOPIC:
        add_topics(session, out, typed, length);
        break;
    case SHELL_ARG_NONE:
    case SHELL_ARG_OTHER:
        break;
    }
}

static bool inside_quote(const char *text, size_t cursor)
{
    bool inside = false;
    for (size_t i = 0; i < cursor; i++)
        inside ^= text[i] == '\'';
    return inside;
}

typedef struct gather {
    shell_candidates *out;
    bool lower; /* the word was begun in small letters */
} gather;

static void on_word(void *arg, const char *word, const char *kind)
{
    gather *state = arg;
    char *copy = shell_copy(word, strlen(word));
    bool fixed = strcmp(kind, "keyword") == 0 || strcmp(kind, "operator") == 0 || strcmp(kind, "verb") == 0;
    for (char *c = copy; *c && fixed && state->lower; c++)
        *c = (char)tolower((unsigned char)*c);
    if (strcmp(kind, "file") == 0) state->out->files = true;
    add_word(state->out, copy);
}

static bool begun_lower(const char *text, size_t cursor)
{
    size_t word = cursor;
    while (word > 0 && isalpha((unsigned char)text[word - 1]))
        word--;
    return word < cursor && islower((unsigned char)text[word]);
}

static void complete_statement(shell_session *session, const char *line, size_t cursor, shell_candidates *out)
{
    shell_text text = {0};
    shell_text_add(&text, session->pending.data ? session->pending.data : "", session->pending.used);
    size_t before = text.used, start = 0;
    shell_text_add(&text, line, cursor);
    gather state = {.out = out, .lower = begun_lower(text.data, text.used)};
    lacis_complete(session->engine, text.data, text.used, &start, on_word, &state);
    out->in_quote = inside_quote(text.data, text.used);
    out->start = start > before ? start - before : 0;
    shell_text_free(&text);
}

void shell_complete(shell_session *session, const char *line, size_t cursor, shell_candidates *out)
{
    *out = (shell_candidates){.start = cursor};
    if (session->pending.used == 0 && line[strspn(line, " \t")] == '.')
        complete_dot(session, line, cursor, out);
    else
        complete_statement(session, line, cursor, out);
}

void shell_candidates_free(shell_candidates *candidates)
{
    for (int i = 0; i < candidates->words; i++)
        free(candidates->word[i]);
    free(candidates->word);
    *candidates = (shell_candidates){0};
}
