/* SPDX-License-Identifier: Apache-2.0
 *
 * From a parsed call to a bound one: operands by name are fetched from the catalog, views and nested calls computed,
 * of these only the rows that the result needs where the operator says so.
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

static lacis_status attempt(lacis_world *world, lacis_run *run, lacis_call *call, const lacis_restriction *wanted,
                            bool *graph, lacis_array **out)
{
    lacis_status status = lacis_exec_bind(world, run, call, wanted);
    *graph = call->kind == LACIS_CSR;
    bool all = wanted == NULL || *graph || wanted->lo > wanted->hi;
    if (status == LACIS_OK && all) status = lacis_exec_store(world, run, call, false, NULL, out);
    lacis_exec_unbind(run, call);
    return status;
}

/* Only the rows that are `wanted` (NULL: all) where the result is a graph: other kinds have no rows of their own. */
static lacis_status compute(lacis_world *world, lacis_run *run, lacis_call *call, const lacis_restriction *wanted,
                            lacis_array **out)
{
    bool graph;
    *out = NULL;
    LACIS_TRY(attempt(world, run, call, wanted, &graph, out));
    return *out != NULL ? LACIS_OK : attempt(world, run, call, NULL, &graph, out);
}

static lacis_status compute_view(lacis_world *world, lacis_run *run, const char *text,
                                 const lacis_restriction *wanted, lacis_array **out)
{
    const lacis_bindings none = {NULL, 0};
    lacis_call *call;
    LACIS_TRY(lacis_lang_call(run, world->registry, text, &none, &call));
    return compute(world, run, call, wanted, out);
}

lacis_status lacis_exec_view_array(lacis_world *world, lacis_run *run, const char *text, lacis_array **out)
{
    return compute_view(world, run, text, NULL, out);
}

static lacis_status resolve(lacis_world *world, lacis_run *run, lacis_item *item, const lacis_restriction *wanted)
{
    if (item->array != NULL || (item->name == NULL && item->call == NULL)) return LACIS_OK;
    const char *view = item->call != NULL ? NULL : lacis_catalog_view(world->catalog, item->name);
    item->partial = wanted != NULL && (item->call != NULL || view != NULL);
    if (item->call != NULL) return compute(world, run, item->call, wanted, &item->array);
    if (view != NULL) return compute_view(world, run, view, wanted, &item->array);
    return lacis_catalog_get(run, world->catalog, item->name, item->offset, &item->array);
}

/* What is wanted of an operand's rows, in *rows; NULL: all. Where nothing is wanted of the result (describe.c asks so
 * for its kind and type), nothing is of any operand. */
static const lacis_restriction *wanted_of(const lacis_call *call, const lacis_arg *arg,
                                          const lacis_restriction *restriction, lacis_restriction *rows)
{
    if (restriction == NULL) return NULL;
    bool nothing = restriction->lo > restriction->hi,
         some = restriction->lo > INT64_MIN || restriction->hi < INT64_MAX || restriction->list != NULL;
    if (!nothing && !(some && call->op->row_by_row && call->op->params[arg->param].keyword == NULL)) return NULL;
    *rows = (lacis_restriction){.lo = restriction->lo,
                                .hi = restriction->hi,
                                .list = restriction->list,
                                .count = restriction->count,
                                .lo1 = INT64_MIN,
                                .hi1 = INT64_MAX};
    return rows;
}

static lacis_status resolve_all(lacis_world *world, lacis_run *run, lacis_call *call,
                                const lacis_restriction *restriction)
{
    lacis_restriction rows;
    for (int i = 0; i < call->arg_count; i++) {
        const lacis_restriction *wanted = wanted_of(call, &call->args[i], restriction, &rows);
        for (int j = 0; j < LACIS_ITEMS; j++)
            LACIS_TRY(resolve(world, run, &call->args[i].item[j], wanted));
    }
    return LACIS_OK;
}

lacis_status lacis_exec_bind(lacis_world *world, lacis_run *run, lacis_call *call,
                             const lacis_restriction *restriction)
{
    if (world->depth >= MOST_NESTED)
        return lacis_run_fail_at(run, LACIS_RANGE, call->offset, NULL,
                                 "views and calls nest deeper than %d: does a view use itself?", MOST_NESTED);
    world->depth++;
    lacis_status status = resolve_all(world, run, call, restriction);
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
