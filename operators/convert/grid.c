/* SPDX-License-Identifier: Apache-2.0
 *
 * CONVERT of grids: between f32 and f64. Called through op.c's bind, and by its variant.
 */
#include "convert/convert.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum { BLOCK = 1 << 16 }; /* cells of a task */

typedef struct work {
    lacis_convert_work common; /* first: op.c tells by it which of them it is */
    lacis_grid from;
    lacis_dtype dtype;
} work;

/* --- bind ----------------------------------------------------------------------------------------- */

static lacis_status bind_columns(lacis_run *run, lacis_call *call, const lacis_grid *from)
{
    lacis_column *column;
    LACIS_TRY(lacis_run_scratch(run, LACIS_GRID_FIELDS * sizeof *column, &column));
    for (int f = 0; f < from->fields; f++)
        column[f] = (lacis_column){from->name[f], true};
    call->column = column;
    call->columns = from->fields;
    return LACIS_OK;
}

lacis_status lacis_convert_bind_grid(lacis_run *run, lacis_call *call, const lacis_array *array)
{
    work *w;
    LACIS_TRY(lacis_run_scratch(run, sizeof *w, &w));
    memset(w, 0, sizeof *w);
    w->common.array = array;
    w->common.whole = true;
    LACIS_TRY(lacis_convert_bind_reals(run, call, "a grid is",
                                       "a grid has one layout: each field by itself, x fastest", &w->dtype));
    LACIS_TRY(lacis_grid_view(run, array, &w->from));
    LACIS_TRY(bind_columns(run, call, &w->from));
    w->common.bytes = (double)w->from.cells * (double)lacis_dtype_size(w->dtype) * w->from.fields;
    call->kind = LACIS_GRID;
    call->dtype = w->dtype;
    for (int d = 0; d < w->from.dims; d++)
        call->extent[d] = w->from.extent[d];
    call->units = 1;
    call->work = w;
    return LACIS_OK;
}

lacis_status lacis_convert_explain_grid(const lacis_call *call, lacis_lines *lines)
{
    const work *w = call->work;
    return lacis_lines_add(lines, "%s -> %s", lacis_dtype_name(w->from.dtype), lacis_dtype_name(w->dtype));
}

/* --- run ------------------------------------------------------------------------------------------ */

typedef struct copying {
    const lacis_grid *from, *to;
    _Atomic int64_t lost; /* the first cell with a value that is too large for the new type, or the number of cells */
} copying;

static bool too_large(const copying *c, int field, int64_t cell)
{
    return isfinite(lacis_value_double(c->from->field[field], c->from->dtype, cell)) &&
           !isfinite(lacis_value_double(c->to->field[field], c->to->dtype, cell));
}

/* The first such cell in [first, end), or end. Where nothing of the result is infinite, as nearly always, there is
 * none, and that loop vectorises. */
static int64_t first_lost(const copying *c, int field, int64_t first, int64_t end)
{
    const float *value = c->to->field[field];
    int good = 1;
    for (int64_t i = first; i < end; i++)
        good &= value[i] - value[i] == 0;
    if (good) return end;
    while (first < end && !too_large(c, field, first))
        first++;
    return first;
}

static lacis_status copy_task(void *context, int64_t task, int worker)
{
    (void)worker;
    copying *c = context;
    int64_t first = task * BLOCK, end = c->from->cells - first < BLOCK ? c->from->cells : first + BLOCK, lost = end;
    uint64_t size = lacis_dtype_size(c->to->dtype);
    for (int f = 0; f < c->from->fields; f++) {
        char *to;
        memcpy(&to, &c->to->field[f], sizeof to); /* the new array's own */
        lacis_values_convert(c->from->field[f], c->from->dtype, first, end - first, to + (uint64_t)first * size,
                             c->to->dtype);
        if (c->to->dtype == LACIS_F32) lost = first_lost(c, f, first, lost);
    }
    int64_t known = atomic_load(&c->lost);
    while (lost < end && lost < known)
        if (atomic_compare_exchange_weak(&c->lost, &known, lost)) break;
    return LACIS_OK;
}

static lacis_status say_lost(lacis_run *run, const copying *c, int64_t cell)
{
    const lacis_grid *grid = c->from;
    char number[LACIS_NUMBER_TEXT], place[100] = "";
    const int64_t line = cell / grid->extent[0];
    const int64_t at[] = {cell % grid->extent[0], line % grid->extent[1], line / grid->extent[1]};
    int field = 0;
    while (!too_large(c, field, cell))
        field++;
    lacis_format_double(lacis_value_double(grid->field[field], grid->dtype, cell), number);
    for (int d = 0, used = 0; d < grid->dims && d < 3; d++)
        used += snprintf(place + used, sizeof place - (size_t)used, "%s%c = %" PRId64, d == 0 ? "" : ", ", 'x' + d,
                         at[d]);
    return lacis_run_fail(run, LACIS_RANGE, "cell %s: %s is %s, which is too large for %s", place, grid->name[field],
                          number, lacis_dtype_name(c->to->dtype));
}

lacis_status lacis_convert_run_grid(lacis_run *run, const lacis_call *call, lacis_array **out)
{
    const work *w = call->work;
    lacis_grid like = w->from, to;
    if (w->dtype == w->from.dtype) {
        *out = lacis_array_retain(w->common.array);
        return LACIS_OK;
    }
    like.dtype = w->dtype;
    LACIS_TRY(lacis_grid_new(run, &like, out, &to));
    copying c = {.from = &w->from, .to = &to, .lost = to.cells};
    lacis_status status = lacis_run_parallel(run, (to.cells + BLOCK - 1) / BLOCK, copy_task, &c);
    int64_t lost = atomic_load(&c.lost);
    if (status == LACIS_OK && lost < to.cells) status = say_lost(run, &c, lost);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(*out);
    *out = NULL;
    return status;
}
