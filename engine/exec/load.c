/* SPDX-License-Identifier: Apache-2.0
 *
 * LOAD and GENERATE: finding the loader (by name or by content) or generator, reading options against its
 * specification, and having put.c enter the result. LOAD of several files: load_files.c.
 */
#include "exec/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ----------------------------------------------------------------------------------------- options */

/* The only format with an option of that name that can be loaded, or NULL. */
static const lacis_loader *only_owner(const lacis_registry *registry, const char *option)
{
    const lacis_loader *only = NULL;
    for (int i = 0; i < registry->loaders; i++) {
        const lacis_loader *loader = registry->loader[i];
        for (int k = 0; loader->load != NULL && k < loader->option_count; k++) {
            if (strcasecmp(loader->options[k].name, option) != 0) continue;
            if (only != NULL) return NULL;
            only = loader;
        }
    }
    return only;
}

/* "AS raw has the option shape", of the first option that tells a format; NULL: none does. */
static const char *format_hint(lacis_run *run, const lacis_registry *registry, const lacis_ast *ast)
{
    for (int i = 0; i < ast->options; i++) {
        if (ast->option[i].name == NULL) continue;
        const lacis_loader *loader = only_owner(registry, ast->option[i].name);
        if (loader != NULL) return lacis_run_text(run, "AS %s has the option %s", loader->name, ast->option[i].name);
    }
    return NULL;
}

static lacis_status unknown_option(lacis_run *run, const lacis_ast_option *option, const lacis_option_spec *spec,
                                   int count, const char *owner)
{
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, option->name, strlen(option->name));
    for (int i = 0; i < count; i++)
        lacis_nearest_try(&nearest, spec[i].name);
    const char *meant = lacis_nearest_result(&nearest);
    char hint[100];
    snprintf(hint, sizeof hint, "did you mean %s?", meant);
    return lacis_run_fail_at(run, LACIS_NAME, option->offset, meant == NULL ? NULL : hint, "%s has no option \"%s\"",
                             owner, option->name);
}

/* The index of a word in "a|b|c", or -1. */
static int word_index(const char *words, const char *word)
{
    size_t length = strlen(word);
    int index = 0;
    for (const char *at = words; at != NULL; index++) {
        size_t size = strcspn(at, "|");
        if (size == length && strncasecmp(at, word, size) == 0) return index;
        at = at[size] == '|' ? at + size + 1 : NULL;
    }
    return -1;
}

static bool whole_number(const char *text, int64_t *out)
{
    char *end;
    double real = strtod(text, &end);
    if (end == text || *end != '\0') return false;
    long long integer = strtoll(text, &end, 10);
    if (*end != '\0') {
        if (!(real >= -9.0e18 && real <= 9.0e18) || real != (double)(int64_t)real) return false;
        integer = (long long)real;
    }
    *out = integer;
    return true;
}

/* False: text is not what the option takes. */
static bool read_value(const lacis_option_spec *spec, const char *text, lacis_option_value *out)
{
    static const char *const truth = "false|true|off|on|no|yes|0|1";
    char *end;
    int index;
    out->text = text;
    switch (spec->form) {
    case 'b':
        index = word_index(truth, text);
        out->integer = index & 1;
        return index >= 0;
    case 'w':
        index = word_index(spec->words, text);
        out->integer = index;
        return index >= 0;
    case 'i':
        return whole_number(text, &out->integer);
    case 'r':
        out->real = strtod(text, &end);
        return end != text && *end == '\0';
    default:
        return true;
    }
}

static const char *takes(const lacis_option_spec *spec)
{
    switch (spec->form) {
    case 'b':
        return "true or false";
    case 'w':
        return spec->words;
    case 'i':
        return "a whole number";
    case 'r':
        return "a number";
    default:
        return "text";
    }
}

static int spec_of(const lacis_ast_option *option, const lacis_option_spec *spec, int count, int position)
{
    if (option->name == NULL) return position < count ? position : -1;
    for (int i = 0; i < count; i++)
        if (strcasecmp(spec[i].name, option->name) == 0) return i;
    return -1;
}

static lacis_status give(lacis_run *run, const lacis_ast_option *option, lacis_option_value *value)
{
    if (value->given)
        return lacis_run_fail_at(run, LACIS_SYNTAX, option->value_offset, NULL, "%s is given twice",
                                 value->spec->name);
    value->given = true;
    value->offset = option->value_offset;
    if (!read_value(value->spec, option->text, value))
        return lacis_run_fail_at(run, LACIS_RANGE, option->value_offset, NULL, "%s takes %s, not \"%s\"",
                                 value->spec->name, takes(value->spec), option->text);
    return LACIS_OK;
}

static lacis_status fill_default(lacis_run *run, const char *owner, lacis_option_value *value)
{
    const lacis_option_spec *spec = value->spec;
    if (value->given) return LACIS_OK;
    value->offset = -1;
    if (spec->required)
        return lacis_run_fail(run, LACIS_SYNTAX, "%s needs %s = ... (%s)", owner, spec->name, spec->help);
    if (spec->otherwise != NULL) read_value(spec, spec->otherwise, value);
    return LACIS_OK;
}

static lacis_status read_options(lacis_run *run, const lacis_ast *ast, const char *owner,
                                 const lacis_option_spec *spec, int count, lacis_options *out)
{
    lacis_option_value *value;
    LACIS_TRY(lacis_run_scratch(run, sizeof *value * (uint64_t)(count + 1), &value));
    memset(value, 0, sizeof *value * (size_t)(count + 1));
    for (int i = 0; i < count; i++)
        value[i].spec = &spec[i];
    for (int i = 0; i < ast->options; i++) {
        const lacis_ast_option *option = &ast->option[i];
        int at = spec_of(option, spec, count, i);
        if (at < 0 && option->name != NULL) return unknown_option(run, option, spec, count, owner);
        if (at < 0)
            return lacis_run_fail_at(run, LACIS_SYNTAX, option->value_offset, NULL, "%s takes at most %d values",
                                     owner, count);
        LACIS_TRY(give(run, option, &value[at]));
    }
    for (int i = 0; i < count; i++)
        LACIS_TRY(fill_default(run, owner, &value[i]));
    *out = (lacis_options){value, count};
    return LACIS_OK;
}

const lacis_option_value *lacis_option(const lacis_options *options, const char *name)
{
    for (int i = 0; i < options->count; i++)
        if (strcmp(options->value[i].spec->name, name) == 0) return &options->value[i];
    return NULL;
}

/* -------------------------------------------------------------------------------------------- LOAD */

const lacis_loader *lacis_load_best(const lacis_registry *registry, const lacis_source *source)
{
    const lacis_loader *best = NULL;
    int most = 0;
    for (int i = 0; i < registry->loaders; i++) {
        const lacis_loader *loader = registry->loader[i];
        if (loader->load == NULL || loader->sniff == NULL) continue;
        int sure = loader->sniff(source);
        if (sure > most) {
            most = sure;
            best = loader;
        }
    }
    return best;
}

lacis_status lacis_load_named(lacis_run *run, const lacis_registry *registry, const lacis_ast *ast,
                              const lacis_loader **out)
{
    *out = lacis_registry_loader(registry, ast->format);
    if (*out != NULL && (*out)->load != NULL) return LACIS_OK;
    lacis_nearest nearest;
    lacis_nearest_begin(&nearest, ast->format, strlen(ast->format));
    for (int i = 0; i < registry->loaders; i++)
        lacis_nearest_try(&nearest, registry->loader[i]->name);
    const char *meant = lacis_nearest_result(&nearest);
    char hint[100];
    snprintf(hint, sizeof hint, meant != NULL ? "did you mean AS %s?" : "SHOW LOADERS lists the formats", meant);
    return lacis_run_fail_at(run, LACIS_NAME, ast->format_offset, hint, "there is no format \"%s\" to load",
                             ast->format);
}

static lacis_status find_loader(lacis_run *run, const lacis_registry *registry, const lacis_ast *ast,
                                const lacis_source *source, const lacis_loader **out)
{
    if (ast->format != NULL) return lacis_load_named(run, registry, ast, out);
    *out = lacis_load_best(registry, source);
    if (*out != NULL) return LACIS_OK;
    const char *hint = format_hint(run, registry, ast);
    return lacis_run_fail_at(run, LACIS_FORMAT, ast->string_offset,
                             hint != NULL ? hint : "name the format: AS snap, AS mtx ...; SHOW LOADERS lists them",
                             "%s: its content is in no format that lacis knows", source->path);
}

lacis_status lacis_load_options(lacis_run *run, const lacis_ast *ast, const lacis_loader *loader, lacis_options *out)
{
    char *owner = lacis_run_text(run, "the %s loader", loader->name);
    if (owner == NULL) return LACIS_NOMEM;
    return read_options(run, ast, owner, loader->options, loader->option_count, out);
}

/* Of a format that was found by content, but not surely: an option that it lacks and one other format has means that
 * one. */
static lacis_status check_found(lacis_run *run, const lacis_registry *registry, const lacis_ast *ast,
                                const lacis_source *source, const lacis_loader *loader)
{
    const int sure = 100; /* as a banner or magic bytes are */
    if (ast->format == NULL && loader->sniff(source) >= sure) return LACIS_OK;
    for (int i = 0; ast->format == NULL && i < ast->options; i++) {
        const lacis_ast_option *option = &ast->option[i];
        if (option->name == NULL || spec_of(option, loader->options, loader->option_count, 0) >= 0) continue;
        const lacis_loader *meant = only_owner(registry, option->name);
        if (meant == NULL) continue;
        return lacis_run_fail_at(run, LACIS_NAME, option->offset,
                                 lacis_run_text(run, "AS %s has the option %s", meant->name, option->name),
                                 "the content is taken for %s, which has no option \"%s\"", loader->name,
                                 option->name);
    }
    return LACIS_OK;
}

static const char *direction(const lacis_array *array, const lacis_options *options)
{
    const lacis_option_value *directed = lacis_option(options, "directed");
    if (directed == NULL || lacis_array_kind(array) != LACIS_CSR) return "";
    return directed->integer != 0 ? ", directed" : ", undirected (both ways stored)";
}

static lacis_status load_source(lacis_world *world, lacis_run *run, const lacis_ast *ast, const lacis_source *source,
                                double started)
{
    const lacis_loader *loader;
    lacis_options options;
    lacis_array *array;
    LACIS_TRY(find_loader(run, world->registry, ast, source, &loader));
    LACIS_TRY(check_found(run, world->registry, ast, source, loader));
    LACIS_TRY(lacis_load_options(run, ast, loader, &options));
    if (loader->join != NULL) return lacis_load_file(world, run, ast, loader, &options, source, started);
    LACIS_TRY(loader->load(run, source, &options, &array));
    lacis_status status = lacis_load_put(world, run, ast->name, array, direction(array, &options), started);
    lacis_array_release(array);
    return status;
}

/* Endings of the files that a folder is searched for: of the format named, or of all that can be joined. */
static const char *folder_endings(lacis_run *run, const lacis_registry *registry, const lacis_ast *ast)
{
    const lacis_loader *named = ast->format != NULL ? lacis_registry_loader(registry, ast->format) : NULL;
    if (named != NULL) return named->extensions;
    const char *all = NULL;
    for (int i = 0; i < registry->loaders; i++) {
        const lacis_loader *loader = registry->loader[i];
        if (loader->join == NULL) continue;
        all = all == NULL ? loader->extensions : lacis_run_text(run, "%s %s", all, loader->extensions);
    }
    return all != NULL ? all : "";
}

lacis_status lacis_exec_load(lacis_world *world, lacis_run *run, const lacis_ast *ast)
{
    double started = lacis_now();
    lacis_source_handle *handle;
    lacis_source source;
    lacis_paths paths;
    LACIS_TRY(lacis_load_paths(run, ast, folder_endings(run, world->registry, ast), &paths));
    if (paths.several) return lacis_load_files(world, run, ast, &paths, started);
    LACIS_TRY(lacis_load_public(run, ast->string));
    LACIS_TRY(lacis_source_open(run, ast->string, &handle, &source));
    lacis_status status = load_source(world, run, ast, &source, started);
    lacis_source_close(handle);
    return status;
}

/* ---------------------------------------------------------------------------------------- GENERATE */

lacis_status lacis_exec_generate(lacis_world *world, lacis_run *run, const lacis_ast *ast)
{
    double started = lacis_now();
    const lacis_generator *generator = lacis_registry_generator(world->registry, ast->format);
    if (generator == NULL) {
        lacis_nearest nearest;
        lacis_nearest_begin(&nearest, ast->format, strlen(ast->format));
        for (int i = 0; i < world->registry->generators; i++)
            lacis_nearest_try(&nearest, world->registry->generator[i]->name);
        const char *meant = lacis_nearest_result(&nearest);
        char hint[100];
        snprintf(hint, sizeof hint, meant != NULL ? "did you mean %s?" : "SHOW GENERATORS lists them", meant);
        return lacis_run_fail_at(run, LACIS_NAME, ast->format_offset, hint, "there is no generator \"%s\"",
                                 ast->format);
    }
    lacis_options options;
    lacis_array *array;
    LACIS_TRY(read_options(run, ast, generator->name, generator->options, generator->option_count, &options));
    LACIS_TRY(generator->make(run, &options, &array));
    lacis_status status = lacis_load_put(world, run, ast->name, array, "", started);
    lacis_array_release(array);
    return status;
}
