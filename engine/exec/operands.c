/* SPDX-License-Identifier: Apache-2.0
 *
 * From a parsed call to a bound one: operands by name are fetched from the catalog, views and nested calls computed.
 */
#include "exec/exec.h"

#include <strings.h>

enum { MOST_NESTED = 32 };

const lacis_arg *lacis_call_arg(const lacis_call *call, const char *keyword)
{
    for (int i = 0; i < call->arg_count; i++) {
        const char *own = call->op->params[call->args[i].param].keyword;
        bool same = keyword == NULL || own == NULL ? keyword == own : strcasecmp(keyword, own) == 0;
        if (same) return &call->args[i];
    }
    return NULL;
}

static lacis_status compute(lacis_world *world, lacis_run *run, lacis_call *call, lacis_array **out)
{
    lacis_status status = lacis_exec_bind(world, run, call, NULL);
    if (status == LACIS_OK) status = lacis_exec_store(world, run, call, false, NULL, out);
    lacis_exec_unbind(run, call);
    return status;
}

lacis_status lacis_exec_view_array(lacis_world *world, lacis_run *run, const char *text, lacis_array **out)
{
    const lacis_bindings none = {NULL, 0};
    lacis_call *call;
    LACIS_TRY(lacis_lang_call(run, world->registry, text, &none, &call));
    return compute(world, run, call, out);
}

static lacis_status resolve(lacis_world *world, lacis_run *run, lacis_item *item)
{
    if (item->array != NULL || (item->name == NULL && item->call == NULL)) return LACIS_OK;
    if (item->call != NULL) return compute(world, run, item->call, &item->array);
    const char *view = lacis_catalog_view(world->catalog, item->name);
    if (view != NULL) return lacis_exec_view_array(world, run, view, &item->array);
    return lacis_catalog_get(run, world->catalog, item->name, item->offset, &item->array);
}

static lacis_status resolve_all(lacis_world *world, lacis_run *run, lacis_call *call)
{
    for (int i = 0; i < call->arg_count; i++)
        for (int j = 0; j < LACIS_ITEMS; j++)
            LACIS_TRY(resolve(world, run, &call->args[i].item[j]));
    return LACIS_OK;
}

lacis_status lacis_exec_bind(lacis_world *world, lacis_run *run, lacis_call *call,
                             const lacis_restriction *restriction)
{
    if (world->depth >= MOST_NESTED)
        return lacis_run_fail_at(run, LACIS_RANGE, call->offset, NULL,
                                 "views and calls nest deeper than %d: does a view use itself?", MOST_NESTED);
    world->depth++;
    lacis_status status = resolve_all(world, run, call);
    world->depth--;
    LACIS_TRY(status);
    call->restriction = restriction;
    return call->op->bind(run, call);
}

void lacis_exec_unbind(lacis_run *run, lacis_call *call)
{
    if (call->op->unbind != NULL) call->op->unbind(run, call);
    call->work = NULL;
    for (int i = 0; i < call->arg_count; i++) {
        for (int j = 0; j < LACIS_ITEMS; j++) {
            lacis_item *item = &call->args[i].item[j];
            lacis_array_release(item->array);
            item->array = NULL;
        }
    }
}
