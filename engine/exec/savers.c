/* SPDX-License-Identifier: Apache-2.0
 *
 * Which format saves what: the one of the path's ending or the one named, and whether it holds such arrays
 * (lacis_loader.holds). Asked by save.c before a file is opened, and by operators before their first step.
 */
#include "core/holds.h"
#include "exec/save.h"

#include <string.h>
#include <strings.h>

/* -------------------------------------------------------------------------------------- the format */

static bool has_ending(const char *path, const char *endings)
{
    size_t length = strlen(path);
    for (const char *at = endings; at != NULL && *at != '\0';) {
        size_t size = strcspn(at, " ");
        if (length > size && strncasecmp(path + length - size, at, size) == 0) return true;
        at += size + strspn(at + size, " ");
    }
    return false;
}

#define ENDINGS "use a known ending (.mtx .txt .csv .jsonl .npy .raw .pgm .png .swc .tipsy)"

lacis_status lacis_saver_find(const lacis_world *world, lacis_run *run, const lacis_saving *what,
                              const lacis_loader **out)
{
    const lacis_ast *ast = what->ast;
    const char *format = ast == NULL ? NULL : ast->format;
    for (int i = 0; i < world->registry->loaders; i++) {
        const lacis_loader *loader = world->registry->loader[i];
        if (loader->save == NULL) continue;
        bool meant =
            format != NULL ? strcasecmp(format, loader->name) == 0 : has_ending(what->path, loader->extensions);
        if (!meant) continue;
        *out = loader;
        return LACIS_OK;
    }
    if (format != NULL)
        return lacis_run_fail_at(run, LACIS_NAME, ast->format_offset, "SHOW LOADERS lists the formats",
                                 "cannot save as \"%s\"", format);
    return lacis_run_fail_at(run, LACIS_NAME, what->offset, ast == NULL ? ENDINGS : ENDINGS " or AS format",
                             "the ending of \"%s\" says no format that lacis writes", what->path);
}

/* --------------------------------------------------------------------------------- what it holds */

static bool holds_some(const lacis_loader *loader, lacis_kind kind)
{
    for (int i = 0; i < loader->holdings; i++)
        if (loader->holds[i].kind == kind) return loader->holds[i].some;
    return false;
}

/* "csv or npy", or NULL: the formats that do hold it. */
static const char *others(const lacis_world *world, lacis_run *run, const lacis_outline *form)
{
    char why[LACIS_HOLDS_TEXT];
    lacis_status code;
    const char *text = NULL, *last = NULL;
    for (int i = 0; i < world->registry->loaders; i++) {
        const lacis_loader *loader = world->registry->loader[i];
        if (loader->save == NULL || loader->holds == NULL || holds_some(loader, form->kind)) continue;
        if (!lacis_loader_holds(loader, form, &code, why, sizeof why)) continue;
        if (last != NULL) text = text == NULL ? last : lacis_run_text(run, "%s, %s", text, last);
        last = loader->name;
    }
    return text == NULL || last == NULL ? last : lacis_run_text(run, "%s or %s", text, last);
}

/* What can be saved of a grid all the same; png is known as pictures' format, which PLOT writes. */
typedef struct remedy {
    const char *what, *statement;
} remedy;

static remedy remedy_of(const lacis_loader *format, const lacis_outline *form)
{
    if (form->kind != LACIS_GRID && strcmp(format->name, "png") == 0)
        return (remedy){"", "; PLOT x TO 'x.png' makes a picture of it"};
    if (form->kind == LACIS_GRID && form->dims > 2)
        return (remedy){": take a plane", "; LET plane = SELECT x, y, value FROM g WHERE z = 0"};
    if (form->kind == LACIS_GRID && form->fields > 1)
        return (remedy){": take one", "; LET one = SELECT x, y, u FROM g"};
    return (remedy){"", ""};
}

/* statement: the user's own, who can take a part of what is saved; an operator's files are of all of it. */
static lacis_status check(const lacis_world *world, lacis_run *run, const lacis_loader *format,
                          const lacis_outline *form, int64_t offset, bool statement)
{
    char why[LACIS_HOLDS_TEXT];
    lacis_status code;
    if (lacis_loader_holds(format, form, &code, why, sizeof why)) return LACIS_OK;
    const remedy own = statement && code == LACIS_TYPE ? remedy_of(format, form) : (remedy){"", ""};
    const char *names = others(world, run, form), *hint = NULL;
    if (names != NULL) hint = lacis_run_text(run, "%s would do%s", names, own.statement);
    return lacis_run_fail_at(run, code, offset, hint, "%s%s", why, own.what);
}

/* A call of names that stand for arrays: binding it computes nothing. */
static bool is_simple(const lacis_world *world, const lacis_call *call)
{
    for (int i = 0; i < call->arg_count; i++)
        for (int j = 0; j < LACIS_ITEMS; j++) {
            const lacis_item *item = &call->args[i].item[j];
            if (item->call != NULL) return false;
            if (item->name != NULL && lacis_catalog_view(world->catalog, item->name) != NULL) return false;
        }
    return true;
}

/* A view that is too deep to be bound for nothing is known once it is there: save says then. */
static lacis_status check_view(lacis_world *world, lacis_run *run, const lacis_saving *what, const char *text,
                               const lacis_loader *format)
{
    static const lacis_restriction nothing = {.lo = 1, .hi = 0, .lo1 = INT64_MIN, .hi1 = INT64_MAX};
    const lacis_bindings none = {NULL, 0};
    lacis_outline_room room;
    lacis_outline form;
    lacis_call *call;
    LACIS_TRY(lacis_lang_call(run, world->registry, text, &none, &call));
    if (!is_simple(world, call)) return LACIS_OK;
    const lacis_log_fn log = run->host->log;
    run->host->log = NULL; /* what there is to say is said once, when it is computed */
    lacis_status status = lacis_exec_bind(world, run, call, &nothing);
    run->host->log = log;
    if (status == LACIS_OK) {
        lacis_outline_of_call(call, &room, &form);
        status = check(world, run, format, &form, what->offset, true);
    }
    lacis_exec_unbind(run, call);
    return status;
}

lacis_status lacis_saver_check(lacis_world *world, lacis_run *run, const lacis_saving *what,
                               const lacis_loader *format)
{
    lacis_outline_room room;
    lacis_outline form;
    lacis_array *array = NULL;
    if (format->holds == NULL) return LACIS_OK;
    const bool named = what->array == NULL;
    const char *view = named ? lacis_catalog_view(world->catalog, what->ast->name) : NULL;
    if (view != NULL) return check_view(world, run, what, view, format);
    if (named) LACIS_TRY(lacis_catalog_get(run, world->catalog, what->ast->name, what->ast->name_offset, &array));
    lacis_status status = lacis_outline_of(run, named ? array : what->array, &room, &form);
    if (status == LACIS_OK) status = check(world, run, format, &form, what->offset, named);
    lacis_array_release(array);
    return status;
}

lacis_status lacis_exec_can_save(void *world, lacis_run *run, const lacis_outline *form, const char *path,
                                 int64_t offset)
{
    const lacis_saving what = {.path = path, .offset = offset};
    const lacis_loader *format;
    LACIS_TRY(lacis_saver_find(world, run, &what, &format));
    return check(world, run, format, form, offset, false);
}
