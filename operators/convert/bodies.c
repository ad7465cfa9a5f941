/* SPDX-License-Identifier: Apache-2.0
 *
 * CONVERT of bodies: between f32 and f64. Called through op.c's bind, and by its variant.
 */
#include "convert/convert.h"

#include <string.h>

enum { BLOCK = 1 << 16 }; /* elements of a task */

typedef struct work {
    lacis_convert_work common; /* first: op.c tells by it which of them it is */
    lacis_bodies from;
    lacis_dtype dtype;
} work;

/* --- bind ----------------------------------------------------------------------------------------- */

/* What the result has besides what all bodies have. */
static lacis_status bind_columns(lacis_run *run, lacis_call *call, const lacis_bodies *from)
{
    lacis_column *column;
    LACIS_TRY(lacis_run_scratch(run, 5 * sizeof *column, &column));
    call->column = column;
    call->columns = 0;
    if (from->eps != NULL) column[call->columns++] = (lacis_column){"eps", true};
    if (from->ax != NULL) {
        column[call->columns++] = (lacis_column){"ax", true};
        column[call->columns++] = (lacis_column){"ay", true};
        column[call->columns++] = (lacis_column){"az", true};
    }
    if (from->phi != NULL) column[call->columns++] = (lacis_column){"phi", true};
    return LACIS_OK;
}

lacis_status lacis_convert_bind_bodies(lacis_run *run, lacis_call *call, const lacis_array *array)
{
    enum { ALWAYS = 7 }; /* columns besides the id */
    work *w;
    LACIS_TRY(lacis_run_scratch(run, sizeof *w, &w));
    memset(w, 0, sizeof *w);
    w->common.array = array;
    w->common.whole = true;
    LACIS_TRY(
        lacis_convert_bind_reals(run, call, "bodies are", "bodies have one layout: a column a figure", &w->dtype));
    LACIS_TRY(lacis_bodies_view(run, array, &w->from));
    LACIS_TRY(bind_columns(run, call, &w->from));
    w->common.bytes = (double)w->from.count * ((double)lacis_dtype_size(w->dtype) * (ALWAYS + call->columns) +
                                               (w->from.id == NULL ? 0 : (double)sizeof *w->from.id));
    call->kind = LACIS_BODIES;
    call->dtype = w->dtype;
    call->extent[0] = w->from.count;
    call->units = 1;
    call->work = w;
    return LACIS_OK;
}

lacis_status lacis_convert_explain_bodies(const lacis_call *call, lacis_lines *lines)
{
    const work *w = call->work;
    return lacis_lines_add(lines, "%s -> %s", lacis_dtype_name(w->from.dtype), lacis_dtype_name(w->dtype));
}

/* --- run ------------------------------------------------------------------------------------------ */

typedef struct copying {
    const void *from[12];
    void *to[12];
    int columns;
    int64_t count;
    lacis_dtype from_type, to_type;
    _Atomic int infinite; /* a figure was too large for the new type */
} copying;

static void *writable(const void *data)
{
    void *to;
    memcpy(&to, &data, sizeof to); /* the new array's own */
    return to;
}

static void add_column(copying *c, const void *from, const void *to)
{
    if (from == NULL) return;
    c->from[c->columns] = from;
    c->to[c->columns++] = writable(to);
}

static bool too_large(const float *value, int64_t count)
{
    int good = 1;
    for (int64_t i = 0; i < count; i++)
        good &= value[i] - value[i] == 0;
    return !good;
}

static lacis_status copy_task(void *context, int64_t task, int worker)
{
    (void)worker;
    copying *c = context;
    int64_t first = task * BLOCK, count = c->count - first < BLOCK ? c->count - first : BLOCK;
    uint64_t size = lacis_dtype_size(c->to_type);
    for (int i = 0; i < c->columns; i++) {
        char *to = (char *)c->to[i] + (uint64_t)first * size;
        lacis_values_convert(c->from[i], c->from_type, first, count, to, c->to_type);
        if (c->to_type == LACIS_F32 && too_large((const float *)(const void *)to, count)) c->infinite = 1;
    }
    return LACIS_OK;
}

static lacis_status copy(lacis_run *run, const lacis_bodies *from, const lacis_bodies *to)
{
    copying c = {.count = from->count, .from_type = from->dtype, .to_type = to->dtype};
    add_column(&c, from->m, to->m);
    add_column(&c, from->x, to->x);
    add_column(&c, from->y, to->y);
    add_column(&c, from->z, to->z);
    add_column(&c, from->vx, to->vx);
    add_column(&c, from->vy, to->vy);
    add_column(&c, from->vz, to->vz);
    add_column(&c, from->eps, to->eps);
    add_column(&c, from->ax, to->ax);
    add_column(&c, from->ay, to->ay);
    add_column(&c, from->az, to->az);
    add_column(&c, from->phi, to->phi);
    LACIS_TRY(lacis_run_parallel(run, (c.count + BLOCK - 1) / BLOCK, copy_task, &c));
    return c.infinite ? lacis_bodies_check(run, to) : LACIS_OK;
}

lacis_status lacis_convert_run_bodies(lacis_run *run, const lacis_call *call, lacis_array **out)
{
    const work *w = call->work;
    lacis_bodies like = w->from, to;
    if (w->dtype == w->from.dtype) {
        *out = lacis_array_retain(w->common.array);
        return LACIS_OK;
    }
    like.dtype = w->dtype;
    LACIS_TRY(lacis_bodies_new(run, &like, out, &to));
    lacis_status status = copy(run, &w->from, &to);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(*out);
    *out = NULL;
    return status;
}
