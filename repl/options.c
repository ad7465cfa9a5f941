/* SPDX-License-Identifier: Apache-2.0
 *
 * Implements options.h.
 */
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

typedef struct option {
    const char *name;
    const char *value; /* what stands behind it; NULL: nothing */
    const char *summary;
    bool (*take)(shell_options *options, const char *value);
} option;

static bool refuse(const char *what, const char *word, const char *nearest)
{
    fprintf(stderr, "lacis: %s: %s\n", what, word);
    if (nearest)
        fprintf(stderr, "hint: did you mean %s?\n", nearest);
    else
        fputs("hint: lacis --help says what there is\n", stderr);
    return false;
}

static bool add_job(shell_options *options, shell_job job)
{
    options->job = shell_alloc(options->job, (size_t)(options->jobs + 1) * sizeof job);
    options->job[options->jobs++] = job;
    return true;
}

static bool take_text(shell_options *options, const char *value)
{
    return add_job(options, (shell_job){.text = value});
}

static bool take_file(shell_options *options, const char *value)
{
    return add_job(options, (shell_job){.file = value});
}

/* Digits with a sign, a point and an exponent where they may be; not what strtod takes beside that (hex, inf). */
static bool looks_numeric(const char *text)
{
    return text[0] && strspn(text, "0123456789+-.eE") == strlen(text) && strpbrk(text, "0123456789");
}

static void read_value(shell_parameter *parameter, const char *value)
{
    char *end;
    parameter->type = LACIS_TEXT;
    parameter->text = shell_copy(value, strlen(value));
    if (!looks_numeric(value)) return;
    errno = 0;
    parameter->integer = strtoll(value, &end, 10);
    if (!*end && !errno) {
        parameter->type = LACIS_INTEGER;
        return;
    }
    parameter->real = strtod(value, &end);
    if (!*end) parameter->type = LACIS_REAL;
}

static bool take_parameter(shell_options *options, const char *value)
{
    const char *equals = strchr(value, '=');
    size_t length = equals ? (size_t)(equals - value) : 0;
    if (length == 0) return refuse("-v takes name=value, not", value, NULL);
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)value[i]) && value[i] != '_')
            return refuse("a name of -v holds letters, digits and _ only, unlike", value, NULL);
    shell_parameter parameter = {.name = shell_copy(value, length)};
    read_value(&parameter, equals + 1);
    options->parameter =
        shell_alloc(options->parameter, (size_t)(options->parameters + 1) * sizeof *options->parameter);
    options->parameter[options->parameters++] = parameter;
    return true;
}

static bool take_mode(shell_options *options, const char *value)
{
    shell_nearest nearest = {.word = value};
    options->mode = shell_mode_find(value);
    if (options->mode || shell_same(value, "auto")) return true;
    for (int i = 0; shell_mode_at(i); i++)
        shell_nearest_try(&nearest, shell_mode_at(i)->name);
    return refuse("there is no mode", value, nearest.best);
}

static bool take_version(shell_options *options, const char *value)
{
    (void)value;
    options->version = true;
    return true;
}

static bool take_help(shell_options *options, const char *value)
{
    (void)value;
    options->help = true;
    return true;
}

static bool take_reference(shell_options *options, const char *value)
{
    (void)value;
    options->reference = true;
    return true;
}

static const option table[] = {
    {"-c", "TEXT", "run TEXT; -c and -f may be given several times and run in order", take_text},
    {"-f", "FILE", "run the statements and dot commands in FILE (-: standard input)", take_file},
    {"-v", "name=value", "bind a value to :name: a number if it reads as one, else text", take_parameter},
    {"--mode", "MODE", "how results are written:", take_mode},
    {"--reference", NULL, "print all operators, formats and options as Markdown", take_reference},
    {"--version", NULL, "print the version", take_version},
    {"--help", NULL, "print this", take_help},
};

enum { OPTIONS = sizeof table / sizeof table[0] };

/* The option that a word of the command line is, and its value if that stands in the same word. */
static const option *find_option(const char *word, const char **value)
{
    *value = NULL;
    for (int i = 0; i < OPTIONS; i++) {
        const char *name = table[i].name;
        size_t length = strlen(name);
        bool brief = name[1] != '-';
        if (strncmp(word, name, length) != 0) continue;
        if (!word[length]) return &table[i];
        if (!table[i].value || (!brief && word[length] != '=')) continue;
        *value = word + length + (brief ? 0 : 1);
        return &table[i];
    }
    return NULL;
}

static bool refuse_option(const char *word)
{
    shell_nearest nearest = {.word = word};
    for (int i = 0; i < OPTIONS; i++)
        if (strlen(word) > 2) shell_nearest_try(&nearest, table[i].name);
    return refuse("there is no option", word, nearest.best);
}

static bool take_database(shell_options *options, const char *word)
{
    if (options->database) return refuse("one DATABASE at most can be opened; one too many is", word, NULL);
    options->database = word;
    return true;
}

bool shell_options_parse(int argc, char **argv, shell_options *out)
{
    bool only_files = false;
    *out = (shell_options){0};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *value;
        if (only_files || word[0] != '-' || !word[1]) {
            if (!take_database(out, word)) return false;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            only_files = true;
            continue;
        }
        const option *found = find_option(word, &value);
        if (!found) return refuse_option(word);
        if (found->value && !value && ++i < argc) value = argv[i];
        if (found->value && !value) return refuse("a value is missing behind", word, NULL);
        if (!found->take(out, value)) return false;
    }
    return true;
}

void shell_options_free(shell_options *options)
{
    for (int i = 0; i < options->parameters; i++) {
        free(options->parameter[i].name);
        free(options->parameter[i].text);
    }
    free(options->parameter);
    free(options->job);
}

void shell_options_help(void)
{
    puts("usage: lacis [-c TEXT] [-f FILE] [-v name=value] [--mode MODE] [--reference] [--version] [--help] "
         "[DATABASE]\n\n"
         "A query engine for graph, sparse and array work. DATABASE is a file, made where there is none; without it\n"
         "all is kept in memory. Without -c and -f, statements come from standard input; at a terminal with a "
         "prompt.\n");
    for (int i = 0; i < OPTIONS; i++) {
        printf("  %-12s%-12s%s\n", table[i].name, table[i].value ? table[i].value : "", table[i].summary);
        if (table[i].take != take_mode) continue;
        printf("%-26sauto", "");
        for (int m = 0; shell_mode_at(m); m++)
            printf(", %s", shell_mode_at(m)->name);
        puts("");
    }
    puts("\nExit codes: 0 good, 1 a statement failed, 2 wrong usage, 3 cannot open, 130 interrupted.\n"
         "The prompt's .help explains the rest; so does the manual page, lacis(1).");
}
