/* SPDX-License-Identifier: Apache-2.0
 *
 * CONVERT of dense symmetric matrices: between full and packed storage, and to another type. Called through op.c's
 * bind, and by its variant.
 */
#include "convert/convert.h"

#include <inttypes.h>
#include <string.h>

enum { BLOCK = 1 << 14 }; /* elements of a task, about */

typedef struct work {
    lacis_convert_work common; /* first: op.c tells by it which of them it is */
    lacis_symmetric from;
    lacis_symmetric_shape to;
} work;

/* --- bind ----------------------------------------------------------------------------------------- */

static bool is_complex(lacis_dtype dtype)
{
    return dtype == LACIS_C64 || dtype == LACIS_C128 || dtype == LACIS_CDD;
}

static lacis_status bind_layout(lacis_run *run, const lacis_call *call, work *w)
{
    const lacis_arg *layout = lacis_call_arg(call, "LAYOUT");
    if (layout == NULL) return LACIS_OK;
    int64_t word = layout->item[0].integer;
    if (word != 0 && word != LACIS_LAYOUT_PACKED)
        return lacis_run_fail_at(run, LACIS_TYPE, layout->item[0].offset, NULL,
                                 "a symmetric matrix is full or packed: flat and block(n) are layouts of batches of "
                                 "systems");
    w->to.packed = word == LACIS_LAYOUT_PACKED;
    return LACIS_OK;
}

static lacis_status bind_dtype(lacis_run *run, const lacis_call *call, work *w)
{
    const lacis_arg *as = lacis_call_arg(call, "AS");
    if (as == NULL) return LACIS_OK;
    w->to.dtype = lacis_convert_types[as->item[0].integer];
    if (!is_complex(w->from.dtype) || is_complex(w->to.dtype)) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_TYPE, as->item[0].offset, "AS c64, c128 and cdd keep both parts",
                             "the matrix is complex and cannot become %s", lacis_dtype_name(w->to.dtype));
}

lacis_status lacis_convert_bind_symmetric(lacis_run *run, lacis_call *call, const lacis_array *array)
{
    const lacis_arg *share = lacis_call_arg(call, "SHARE");
    work *w;
    if (share != NULL)
        return lacis_run_fail_at(run, LACIS_TYPE, share->offset, NULL, "SHARE is for batches of systems");
    LACIS_TRY(lacis_run_scratch(run, sizeof *w, &w));
    memset(w, 0, sizeof *w);
    w->common.array = array;
    w->common.whole = true;
    LACIS_TRY(lacis_symmetric_view(run, array, &w->from));
    w->to = (lacis_symmetric_shape){.n = w->from.n,
                                    .matrices = w->from.matrices,
                                    .order = w->from.order,
                                    .upper = w->from.upper,
                                    .hermitian = w->from.hermitian,
                                    .packed = w->from.packed,
                                    .dtype = w->from.dtype,
                                    .base = {lacis_array_base(array, 0), lacis_array_base(array, 1)}};
    LACIS_TRY(bind_layout(run, call, w));
    LACIS_TRY(bind_dtype(run, call, w));
    int64_t places = lacis_symmetric_places(&w->to);
    if (places < 0)
        return lacis_run_fail_at(run, LACIS_RANGE, call->offset, NULL,
                                 "the matrix would have more elements than can be counted");
    w->common.bytes = (double)places * (double)lacis_dtype_size(w->to.dtype);
    call->kind = LACIS_SYMMETRIC;
    call->dtype = w->to.dtype;
    call->extent[0] = w->to.n;
    call->extent[1] = w->to.matrices;
    call->units = 1;
    call->work = w;
    return LACIS_OK;
}

lacis_status lacis_convert_explain_symmetric(const lacis_call *call, lacis_lines *lines)
{
    const work *w = call->work;
    return lacis_lines_add(lines, "storage %s -> %s, %s -> %s", w->from.packed ? "packed" : "full",
                           w->to.packed ? "packed" : "full", lacis_dtype_name(w->from.dtype),
                           lacis_dtype_name(w->to.dtype));
}

/* --- run ------------------------------------------------------------------------------------------ */

typedef struct copying {
    const lacis_symmetric *from;
    lacis_symmetric to;
    char *values;
    int64_t each; /* columns or matrices of a task */
} copying;

static void copy_column(const copying *c, int64_t matrix, int64_t j)
{
    const lacis_symmetric *from = c->from;
    int64_t n = lacis_symmetric_order(from, matrix);
    int64_t first = from->upper ? 0 : j, count = from->upper ? j + 1 : n - j;
    char *to = c->values + (size_t)lacis_symmetric_place(&c->to, matrix, first, j) * lacis_dtype_size(c->to.dtype);
    int64_t at = lacis_symmetric_place(from, matrix, first, j);
    if (from->dtype == c->to.dtype) {
        size_t size = lacis_dtype_size(from->dtype);
        memcpy(to, (const char *)from->values + (size_t)at * size, (size_t)count * size);
    } else {
        lacis_values_convert(from->values, from->dtype, at, count, to, c->to.dtype);
    }
}

static lacis_status copy_task(void *context, int64_t task, int worker)
{
    (void)worker;
    const copying *c = context;
    int64_t first = task * c->each, end = first + c->each;
    if (c->to.matrices == 1) {
        for (int64_t j = first; j < end && j < c->to.n; j++)
            copy_column(c, 0, j);
        return LACIS_OK;
    }
    for (int64_t m = first; m < end && m < c->to.matrices; m++)
        for (int64_t j = 0; j < lacis_symmetric_order(&c->to, m); j++)
            copy_column(c, m, j);
    return LACIS_OK;
}

static lacis_status copy(lacis_run *run, const work *w, lacis_array *array)
{
    copying c = {.from = &w->from};
    LACIS_TRY(lacis_symmetric_view(run, array, &c.to));
    c.values = lacis_buffer_data(lacis_array_part_buffer(array, "values", NULL));
    bool batch = c.to.matrices != 1;
    c.each = 1 + BLOCK / (1 + (batch ? c.to.n * c.to.n : c.to.n));
    int64_t units = batch ? c.to.matrices : c.to.n;
    LACIS_TRY(lacis_run_parallel(run, (units + c.each - 1) / c.each, copy_task, &c));
    return lacis_symmetric_mirror(run, array);
}

lacis_status lacis_convert_run_symmetric(lacis_run *run, const lacis_call *call, lacis_array **out)
{
    const work *w = call->work;
    if (w->to.dtype == w->from.dtype && w->to.packed == w->from.packed) {
        *out = lacis_array_retain(w->common.array);
        return LACIS_OK;
    }
    LACIS_TRY(lacis_symmetric_new(run, &w->to, NULL, out));
    lacis_status status = copy(run, w, *out);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(*out);
    *out = NULL;
    return status;
}
