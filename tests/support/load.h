/* SPDX-License-Identifier: Apache-2.0
 *
 * Loaders without the engine above them, for tests: a host that keeps its notes, options written as "name=value,...",
 * files made of text, and what a graph is made of as one string.
 */
#ifndef LACIS_TESTS_LOAD_H
#define LACIS_TESTS_LOAD_H

#include "core/registry.h"
#include "core/source.h"
#include "support/check.h"

#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

enum { BENCH_NOTES = 8192, BENCH_OPTIONS = 16 };

typedef struct load_bench {
    lacis_host host;
    lacis_run run;
    char notes[BENCH_NOTES]; /* "warning: text\n" and "note: text\n" in the order they came */
    lacis_option_value value[BENCH_OPTIONS];
    lacis_options options;
    char option_text[256];
} load_bench;

static inline void load_log(void *arg, lacis_level level, const char *message)
{
    load_bench *b = arg;
    size_t used = strlen(b->notes);
    snprintf(b->notes + used, sizeof b->notes - used, "%s: %s\n", level == LACIS_WARNING ? "warning" : "note",
             message);
}

static inline void load_open(load_bench *b, int threads)
{
    memset(b, 0, sizeof *b);
    assert_int_equal(lacis_host_init(&b->host), LACIS_OK);
    b->host.threads = threads;
    b->host.log = load_log;
    b->host.log_arg = b;
    lacis_run_init(&b->run, &b->host);
}

static inline void load_close(load_bench *b)
{
    lacis_run_clear(&b->run);
    if (lacis_memory_used(b->host.memory) != 0)
        fail_msg("%llu bytes are still held", (unsigned long long)lacis_memory_used(b->host.memory));
    lacis_host_clear(&b->host);
}

/* The place of `word` among "a|b|c". */
static inline int64_t load_word(const char *words, const char *word)
{
    int64_t index = 0;
    size_t length = strlen(word);
    for (const char *p = words; *p != '\0'; index++) {
        size_t n = strcspn(p, "|");
        if (n == length && strncmp(p, word, n) == 0) return index;
        p += n + (p[n] == '|');
    }
    fail_msg("%s is none of %s", word, words);
    return -1;
}

static inline void load_set(lacis_option_value *value, const char *text)
{
    value->text = text;
    if (value->spec->form == 'b') value->integer = strcmp(text, "true") == 0;
    if (value->spec->form == 'i') value->integer = strtoll(text, NULL, 10);
    if (value->spec->form == 'r') value->real = strtod(text, NULL);
    if (value->spec->form == 'w') value->integer = load_word(value->spec->words, text);
}

/* Options as the engine would read them; `text` is "name=value;name=value". */
static inline const lacis_options *load_options(load_bench *b, const lacis_option_spec *spec, int count,
                                                const char *text)
{
    assert_true(count <= BENCH_OPTIONS);
    snprintf(b->option_text, sizeof b->option_text, "%s", text);
    memset(b->value, 0, sizeof b->value);
    for (int i = 0; i < count; i++) {
        b->value[i].spec = &spec[i];
        if (spec[i].otherwise != NULL) load_set(&b->value[i], spec[i].otherwise);
    }
    char *rest = NULL;
    for (char *pair = strtok_r(b->option_text, ";", &rest); pair != NULL; pair = strtok_r(NULL, ";", &rest)) {
        char *equals = strchr(pair, '=');
        *equals = '\0';
        int i = 0;
        while (i < count && strcmp(spec[i].name, pair) != 0) {
            i++;
        }
        if (i == count) fail_msg("no option %s", pair);
        b->value[i].given = true;
        load_set(&b->value[i], equals + 1);
    }
    b->options = (lacis_options){b->value, count};
    return &b->options;
}

static inline const lacis_loader *load_loader(const char *name)
{
    for (int i = 0; lacis_builtin_loaders[i] != NULL; i++) {
        if (strcmp(lacis_builtin_loaders[i]->name, name) == 0) return lacis_builtin_loaders[i];
    }
    fail_msg("no loader %s", name);
    return NULL;
}

/* The loader that is surest, as the engine picks it. */
static inline const lacis_loader *load_sniff(const lacis_source *source)
{
    const lacis_loader *best = NULL;
    int most = 0;
    for (int i = 0; lacis_builtin_loaders[i] != NULL; i++) {
        const lacis_loader *loader = lacis_builtin_loaders[i];
        int sure = loader->sniff != NULL ? loader->sniff(source) : 0;
        assert_true(sure >= 0 && sure <= 100);
        if (sure > most) {
            most = sure;
            best = loader;
        }
    }
    return best;
}

/* Loads a source by content (format NULL) or as `format`. */
static inline lacis_status load_source(load_bench *b, const lacis_source *source, const char *format,
                                       const char *options, lacis_array **out)
{
    const lacis_loader *loader = format != NULL ? load_loader(format) : load_sniff(source);
    b->notes[0] = '\0';
    *out = NULL;
    if (loader == NULL) return lacis_run_fail(&b->run, LACIS_FORMAT, "no loader is sure");
    return loader->load(&b->run, source, load_options(b, loader->options, loader->option_count, options), out);
}

/* A file of the given name, from memory. */
static inline lacis_status load_text(load_bench *b, const char *path, const char *text, const char *format,
                                     const char *options, lacis_array **out)
{
    lacis_source source = {path, text, strlen(text), false};
    return load_source(b, &source, format, options, out);
}

static inline lacis_status load_path(load_bench *b, const char *path, const char *options, lacis_array **out)
{
    lacis_source_handle *handle;
    lacis_source source;
    *out = NULL;
    b->notes[0] = '\0';
    LACIS_TRY(lacis_source_open(&b->run, path, &handle, &source));
    lacis_status status = load_source(b, &source, NULL, options, out);
    lacis_source_close(handle);
    return status;
}

/* "3x3: 1-2 1-3=4 ..." with labels and values; the array's types in front where it has values. */
static inline char *load_show(load_bench *b, const lacis_array *array)
{
    lacis_csr g;
    char number[LACIS_NUMBER_TEXT];
    lacis_csr_view(array, &g);
    char *text = lacis_run_text(&b->run, "%lldx%lld", (long long)g.rows, (long long)g.cols);
    if (g.value != NULL)
        text = lacis_run_text(&b->run, "%s %s/%s", text, lacis_dtype_name(g.dtype), lacis_dtype_name(g.storage));
    for (int64_t r = 0; r < g.rows; r++) {
        for (int64_t i = g.begin[r]; i < g.end[r]; i++) {
            text = lacis_run_text(&b->run, "%s %lld-%lld", text, (long long)lacis_label(g.row_label, g.row_base, r),
                                  (long long)lacis_label(g.col_label, g.col_base, g.column[i]));
            if (g.value == NULL) continue;
            if (g.dtype == LACIS_C128) {
                const double *z = (const double *)g.value + 2 * i;
                text = lacis_run_text(&b->run, "%s=%g%+gi", text, z[0], z[1]);
            } else if (g.dtype == LACIS_F64) {
                lacis_format_double(lacis_value_double(g.value, g.storage, i), number);
                text = lacis_run_text(&b->run, "%s=%s", text, number);
            } else if (g.dtype == LACIS_F32) {
                lacis_format_float((float)lacis_value_double(g.value, g.storage, i), number);
                text = lacis_run_text(&b->run, "%s=%s", text, number);
            } else {
                text = lacis_run_text(&b->run, "%s=%lld", text, (long long)lacis_value_int64(g.value, g.storage, i));
            }
        }
    }
    return text;
}

/* Loads text and compares what it is with `expected`. */
static inline void load_is(load_bench *b, const char *path, const char *text, const char *options,
                           const char *expected)
{
    lacis_array *array;
    if (load_text(b, path, text, NULL, options, &array) != LACIS_OK)
        fail_msg("%s: refused: %s", text, b->host.error.message);
    char *shown = load_show(b, array);
    if (strcmp(shown, expected) != 0) fail_msg("'%s' gave\n%s\nnot\n%s\n%s", text, shown, expected, b->notes);
    lacis_array_release(array);
}

static inline void load_fails(load_bench *b, const char *path, const char *text, const char *options,
                              lacis_status status, const char *message)
{
    lacis_array *array;
    lacis_status got = load_text(b, path, text, NULL, options, &array);
    if (got == LACIS_OK) {
        char *shown = load_show(b, array);
        lacis_array_release(array);
        fail_msg("'%s' was taken as %s", text, shown);
    }
    if (strstr(b->host.error.message, message) == NULL)
        fail_msg("'%s' failed with\n%s\nnot\n%s", text, b->host.error.message, message);
    assert_int_equal(got, status);
}

#endif
