/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's result: a vector or batch like x, or the table of figures. Called by bind, which says what will come, and by
 * run, which makes it.
 */
#include "symv/work.h"

#include <string.h>

/* --- what will come ----------------------------------------------------------------------------------- */

static void describe_table(lacis_call *call, lacis_symv_work *work)
{
    const bool wide = lacis_symv_is_wide(work->dtype);
    lacis_column *column = work->column;
    int count = 0;
    if (work->x.batch) column[count++] = (lacis_column){"lane", false};
    column[count++] = (lacis_column){"dot", true};
    if (wide) column[count++] = (lacis_column){"dot_lo", true};
    column[count++] = (lacis_column){"dot_im", true};
    if (wide) column[count++] = (lacis_column){"dot_im_lo", true};
    column[count++] = (lacis_column){"norm1", true};
    column[count++] = (lacis_column){"norm2", true};
    column[count++] = (lacis_column){"norm_max", true};
    call->kind = LACIS_TABLE;
    call->dtype = LACIS_F64;
    call->extent[0] = work->x.lanes;
    call->extent[1] = 0;
    call->columns = count;
}

/* Names of the numbers of a field "value", as batches show them. */
static int value_columns(lacis_dtype dtype, lacis_column *column)
{
    int count = 0;
    column[count++] = (lacis_column){"value", true};
    if (lacis_symv_is_wide(dtype)) column[count++] = (lacis_column){"value_lo", true};
    if (lacis_symv_is_complex(dtype)) column[count++] = (lacis_column){"value_im", true};
    if (dtype == LACIS_CDD) column[count++] = (lacis_column){"value_im_lo", true};
    return count;
}

static lacis_status describe_batch(lacis_run *run, lacis_call *call, lacis_symv_work *work)
{
    char text[LACIS_LAYOUT_TEXT];
    int count = 0;
    call->kind = LACIS_INTERLEAVED;
    call->dtype = work->dtype;
    call->extent[0] = work->x.lanes;
    call->extent[1] = lacis_array_extent(work->x.array, 1);
    call->layout = lacis_run_text(run, "%s", lacis_batch_layout_text(work->x.block, text));
    if (call->layout == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    if (lacis_array_part_named(work->x.array, "parent") != NULL)
        work->column[count++] = (lacis_column){"parent", false};
    call->columns = count + value_columns(work->dtype, work->column + count);
    return LACIS_OK;
}

lacis_status lacis_symv_describe(lacis_run *run, lacis_call *call, lacis_symv_work *work)
{
    call->column = work->column;
    if (work->figures) {
        describe_table(call, work);
        return LACIS_OK;
    }
    if (work->x.batch) return describe_batch(run, call, work);
    call->column = NULL;
    call->kind = LACIS_VECTOR;
    call->dtype = work->dtype;
    call->extent[0] = work->matrix.n;
    call->extent[1] = 0;
    return LACIS_OK;
}

/* --- arrays ------------------------------------------------------------------------------------------- */

/* One more part of so many elements, whose memory is *out. */
static lacis_status add_part(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                             void **out)
{
    const uint64_t small = (uint64_t)1 << 20, bytes = lacis_dtype_size(dtype) * (uint64_t)count;
    lacis_buffer *buffer;
    LACIS_TRY(bytes <= small ? lacis_buffer_new(run, bytes, &buffer) : lacis_buffer_reserve(run, bytes, &buffer));
    lacis_status status = bytes <= small ? LACIS_OK : lacis_buffer_charge(buffer, bytes);
    if (status == LACIS_OK) status = lacis_array_add(run, array, name, dtype, count, buffer, 0);
    *out = lacis_buffer_data(buffer);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status new_vector(lacis_run *run, const lacis_symv_work *work, lacis_array **out, void **data)
{
    const lacis_symv_matrix *matrix = &work->matrix;
    void *label;
    LACIS_TRY(lacis_array_new(run, LACIS_VECTOR, work->dtype, matrix->n, 0, out));
    lacis_array_set_base(*out, 0, matrix->base);
    LACIS_TRY(add_part(run, *out, "values", work->dtype, matrix->n, data));
    if (matrix->label == NULL) return LACIS_OK;
    LACIS_TRY(add_part(run, *out, "index", LACIS_I64, matrix->n, &label));
    memcpy(label, matrix->label, sizeof *matrix->label * (size_t)matrix->n);
    return LACIS_OK;
}

static lacis_status new_batch(lacis_run *run, const lacis_symv_work *work, lacis_array **out, void **data)
{
    int64_t places;
    LACIS_TRY(lacis_batch_like(run, work->x.array, work->x.block, work->dtype, out, &places));
    LACIS_TRY(add_part(run, *out, "value", work->dtype, places, data));
    if (work->x.block > 1) memset(*data, 0, lacis_dtype_size(work->dtype) * (size_t)places); /* what pads flocks */
    return LACIS_OK;
}

lacis_status lacis_symv_new_result(lacis_run *run, const lacis_symv_work *work, lacis_array **out, void **data)
{
    *out = NULL;
    lacis_status status = work->x.batch ? new_batch(run, work, out, data) : new_vector(run, work, out, data);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(*out);
    *out = NULL;
    return status;
}

/* Of a call that is only described: its kind and type, and nothing in it. */
lacis_status lacis_symv_new_nothing(lacis_run *run, const lacis_call *call, lacis_array **out)
{
    const lacis_batch_shape empty = {.block = 1, .dtype = call->dtype};
    void *data;
    if (call->kind == LACIS_INTERLEAVED) {
        LACIS_TRY(lacis_batch_new(run, &empty, out));
    } else {
        LACIS_TRY(lacis_array_new(run, call->kind, call->dtype, 0, 0, out));
    }
    lacis_status status = LACIS_OK;
    if (call->kind != LACIS_TABLE)
        status = add_part(run, *out, call->kind == LACIS_VECTOR ? "values" : "value", call->dtype, 0, &data);
    for (int i = 0; status == LACIS_OK && call->kind == LACIS_TABLE && i < call->columns; i++)
        status = add_part(run, *out, call->column[i].name, call->column[i].real ? LACIS_F64 : LACIS_I64, 0, &data);
    if (status != LACIS_OK) lacis_array_release(*out);
    return status;
}

/* --- figures ------------------------------------------------------------------------------------------ */

static void fill_column(const lacis_symv_work *work, const char *name, const lacis_symv_figures *from, void *to)
{
    double *real = to;
    const int64_t base = lacis_array_base(work->x.array, 0);
    for (int64_t i = 0; i < work->x.lanes; i++) {
        const lacis_symv_figures *f = &from[i];
        if (strcmp(name, "lane") == 0) ((int64_t *)to)[i] = base + i;
        if (strcmp(name, "dot") == 0) real[i] = f->dot[0];
        if (strcmp(name, "dot_lo") == 0) real[i] = f->dot[1];
        if (strcmp(name, "dot_im") == 0) real[i] = f->dot_im[0];
        if (strcmp(name, "dot_im_lo") == 0) real[i] = f->dot_im[1];
        if (strcmp(name, "norm1") == 0) real[i] = f->norm1;
        if (strcmp(name, "norm2") == 0) real[i] = f->norm2;
        if (strcmp(name, "norm_max") == 0) real[i] = f->norm_max;
    }
}

lacis_status lacis_symv_new_table(lacis_run *run, const lacis_symv_work *work, const lacis_symv_figures *figures,
                                  lacis_array **out)
{
    lacis_array *array;
    lacis_status status = LACIS_OK;
    LACIS_TRY(lacis_array_new(run, LACIS_TABLE, LACIS_F64, work->x.lanes, 0, &array));
    for (int i = 0; status == LACIS_OK && i < LACIS_SYMV_COLUMNS && work->column[i].name != NULL; i++) {
        const lacis_column *column = &work->column[i];
        void *data;
        status = add_part(run, array, column->name, column->real ? LACIS_F64 : LACIS_I64, work->x.lanes, &data);
        if (status == LACIS_OK) fill_column(work, column->name, figures, data);
    }
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}
