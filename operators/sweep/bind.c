/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP's bind: the grid, how many steps, what is watched on the way; the rest is in arrays.c, rules.c and edges.c.
 * Called by the engine before planning.
 */
#include "sweep/work.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

const lacis_arg *lacis_sweep_next(const lacis_call *call, const char *keyword, int *from)
{
    while (*from < call->arg_count) {
        const lacis_arg *arg = &call->args[(*from)++];
        const char *own = call->op->params[arg->param].keyword;
        if (own != NULL && strcmp(own, keyword) == 0) return arg;
    }
    return NULL;
}

bool lacis_sweep_same_word(const char *a, const char *b)
{
    while (*a != '\0' && tolower((unsigned char)*a) == tolower((unsigned char)*b))
        a++, b++;
    return *a == '\0' && *b == '\0';
}

/* ------------------------------------------------------------------------------------------ the grid */

static lacis_status bind_grid(lacis_run *run, lacis_call *call, lacis_sweep_work **out)
{
    lacis_sweep_work *work;
    const lacis_item *item = &lacis_call_arg(call, NULL)->item[0];
    const lacis_arg *type = lacis_call_arg(call, "TYPE");
    if (lacis_array_kind(item->array) != LACIS_GRID)
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, "LOAD one, GENERATE one, or SELECT x, y, value",
                                 "SWEEP takes a grid");
    LACIS_TRY(lacis_run_scratch(run, sizeof *work, &work));
    memset(work, 0, sizeof *work);
    work->run = run;
    work->operand = item->name;
    LACIS_TRY(lacis_grid_view(run, item->array, &work->grid));
    work->type = work->grid.dtype == LACIS_F32 ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64;
    if (type != NULL) work->type = type->item[0].integer == 0 ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64;
    work->dtype = work->type == LACIS_SWEEP_F32 ? LACIS_F32 : LACIS_F64;
    for (int i = 0; i < work->grid.fields; i++)
        work->array[i] = (lacis_sweep_source){item->array, work->grid.name[i], work->grid.field[i], work->grid.dtype,
                                              work->grid.cells};
    *out = work;
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------- the clauses */

/* A whole number of at least `low`. */
static lacis_status whole(lacis_run *run, const lacis_item *item, const char *what, int64_t low, int64_t *value)
{
    if (item->integer < low)
        return lacis_run_fail_at(run, LACIS_RANGE, item->offset, NULL, "%s must be %" PRId64 " or more", what, low);
    *value = item->integer;
    return LACIS_OK;
}

static lacis_status bind_steps(lacis_run *run, const lacis_call *call, lacis_sweep_work *work)
{
    const lacis_arg *steps = lacis_call_arg(call, "STEPS"), *levels = lacis_call_arg(call, "LEVELS");
    int64_t wanted = 0;
    const int64_t most = 64;
    work->steps = 1;
    if (steps != NULL) LACIS_TRY(whole(run, &steps->item[0], "STEPS", 0, &work->steps));
    if (work->steps > INT64_MAX - work->grid.step)
        return lacis_run_fail_at(run, LACIS_RANGE, steps != NULL ? steps->item[0].offset : call->offset, NULL,
                                 "so many steps cannot be counted: the grid is at step %" PRId64 " already",
                                 work->grid.step);
    if (levels == NULL) return LACIS_OK;
    LACIS_TRY(whole(run, &levels->item[0], "LEVELS", 1, &wanted));
    if (wanted > most)
        return lacis_run_fail_at(run, LACIS_RANGE, levels->item[0].offset, NULL, "LEVELS must be %" PRId64 " or less",
                                 most);
    work->levels = (int)wanted;
    return LACIS_OK;
}

static lacis_status bind_until(lacis_run *run, const lacis_call *call, lacis_sweep_work *work)
{
    const lacis_arg *until = lacis_call_arg(call, "UNTIL"), *change = lacis_call_arg(call, "CHANGE");
    if (until != NULL) {
        const lacis_item *item = until->item;
        if (lacis_call_arg(call, "STEPS") == NULL)
            return lacis_run_fail_at(run, LACIS_SYNTAX, until->offset, "STEPS 100000",
                                     "UNTIL needs STEPS, the most that may be done");
        work->l2 = item[0].integer == 1;
        work->tolerance = item[1].real;
        work->check = 1;
        if (!(work->tolerance > 0))
            return lacis_run_fail_at(run, LACIS_RANGE, item[1].offset, NULL, "UNTIL's bound must be above 0");
        if (item[2].integer != 0) LACIS_TRY(whole(run, &item[3], "EVERY", 1, &work->check));
    }
    work->rows = work->check;
    if (change != NULL) LACIS_TRY(whole(run, &change->item[0], "EVERY", 1, &work->rows));
    return LACIS_OK;
}

static const char *keep_name(lacis_run *run, const lacis_sweep_work *work)
{
    return lacis_run_text(run, "%s_*.npy", work->operand != NULL ? work->operand : "grid");
}

/* Whether a step that is to be done has a number that k divides. */
static bool keeps_any(const lacis_sweep_work *work)
{
    return (work->grid.step + work->steps) / work->keep > work->grid.step / work->keep;
}

static lacis_status bind_keep(lacis_run *run, const lacis_call *call, lacis_sweep_work *work)
{
    const lacis_arg *keep = lacis_call_arg(call, "KEEP");
    if (keep == NULL) return LACIS_OK;
    LACIS_TRY(whole(run, &keep->item[0], "EVERY", 1, &work->keep));
    work->to = keep->item[1].integer != 0 ? keep->item[2].text : keep_name(run, work);
    if (work->to == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    const char *star = strchr(work->to, '*');
    if (star == NULL || strchr(star + 1, '*') != NULL)
        return lacis_run_fail_at(run, LACIS_SYNTAX, keep->item[2].offset, "'h_*.npy'",
                                 "TO needs one *, where the step's number goes");
    if (!keeps_any(work)) return LACIS_OK; /* no file, whatever its format */
    const lacis_outline form = {.kind = LACIS_GRID,
                                .dtype = work->dtype,
                                .dims = work->grid.dims,
                                .fields = work->grid.fields,
                                .name = work->grid.name};
    return lacis_run_can_save(run, &form, work->to, keep->item[1].integer != 0 ? keep->item[2].offset : keep->offset);
}

/* EXCHANGE and PARTS, which hold where a grid is cut over ranks or GPUs. */
static lacis_status bind_exchange(lacis_run *run, const lacis_call *call, lacis_sweep_work *work)
{
    enum { OVERLAP, EVERY, STEPS, BY, WAY, TO, FILE_NAME }; /* items of the clause */
    const int64_t most = 64, parts_most = 1 << 20;
    const lacis_arg *parts = lacis_call_arg(call, "PARTS"), *exchange = lacis_call_arg(call, "EXCHANGE");
    lacis_sweep_exchange *out = &work->exchange;
    int64_t value = 0;
    if (parts != NULL) {
        LACIS_TRY(whole(run, &parts->item[0], "PARTS", 1, &value));
        out->parts = (int)(value < parts_most ? value : parts_most);
    }
    if (exchange == NULL) return LACIS_OK;
    const lacis_item *item = exchange->item;
    out->asked = true;
    out->overlap = (lacis_sweep_overlap)item[OVERLAP].integer;   /* which are in the order of the words */
    out->copy = item[BY].integer != 0 && item[WAY].integer == 1; /* in the order of the words */
    out->host = item[BY].integer != 0 && item[WAY].integer == 2;
    if (item[TO].integer != 0) {
        out->to = item[FILE_NAME].text;
        out->to_offset = item[FILE_NAME].offset;
        if (out->to[0] == '\0')
            return lacis_run_fail_at(run, LACIS_RANGE, out->to_offset, "'times.csv'", "TO names no file");
    }
    if (item[EVERY].integer == 0) return LACIS_OK;
    LACIS_TRY(whole(run, &item[STEPS], "EVERY", 1, &value));
    if (value > most)
        return lacis_run_fail_at(run, LACIS_RANGE, item[STEPS].offset, NULL, "EVERY must be %" PRId64 " or less",
                                 most);
    out->every = (int)value;
    out->every_offset = item[STEPS].offset;
    return LACIS_OK;
}

/* What only kernels know: grids that are too small for the step's reach. */
static lacis_status ask_kernels(lacis_run *run, const lacis_call *call, const lacis_sweep_work *work)
{
    char why[200];
    lacis_sweep_start start;
    lacis_sweep_start_of(work, NULL, &start);
    if (!lacis_sweep_refuses(&start, why, sizeof why)) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, call->offset, NULL, "SWEEP: %s", why);
}

static lacis_status say_fields(lacis_run *run, lacis_call *call, const lacis_sweep_work *work)
{
    lacis_column *column;
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)work->grid.fields * sizeof *column, &column));
    for (int i = 0; i < work->grid.fields; i++)
        column[i] = (lacis_column){work->grid.name[i], true};
    call->column = column;
    call->columns = work->grid.fields;
    return LACIS_OK;
}

lacis_status lacis_sweep_bind(lacis_run *run, lacis_call *call)
{
    lacis_sweep_work *work = NULL;
    call->work = NULL;
    LACIS_TRY(bind_grid(run, call, &work));
    call->work = work;
    LACIS_TRY(bind_steps(run, call, work));
    LACIS_TRY(bind_until(run, call, work));
    LACIS_TRY(bind_keep(run, call, work));
    LACIS_TRY(bind_exchange(run, call, work));
    LACIS_TRY(lacis_sweep_bind_arrays(run, call, work));
    LACIS_TRY(lacis_sweep_bind_rules(run, call, work));
    LACIS_TRY(lacis_sweep_bind_edges(run, call, work));
    LACIS_TRY(ask_kernels(run, call, work));
    call->kind = LACIS_GRID;
    call->dtype = work->dtype;
    for (int k = 0; k < 3; k++)
        call->extent[k] = k < work->grid.dims ? work->grid.extent[k] : 0;
    call->units = 1; /* a grid is not cut */
    return say_fields(run, call, work);
}
