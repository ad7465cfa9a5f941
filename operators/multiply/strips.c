/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON, folds and HAVING as the kernels call them: over strips of at most LACIS_MUL_STRIP values, indices
 * turned into labels where a function asks for them. A worker's workspace is
 *
 *     [ program's own | labels of t | values in the program's type | values read from storage ]
 *
 * Called from the kernels through lacis_mul_job; made ready by lacis_product_prepare.
 */
#include "multiply/product.h"

_Static_assert((int)LACIS_MUL_STRIP <= (int)LACIS_STRIP, "kernels' strips must fit programs");

enum { STRIP_BYTES = LACIS_MUL_STRIP * 16 }; /* the widest values are complex */

static void *part(const lacis_strips *strips, void *workspace, int number)
{
    return (char *)workspace + strips->program_bytes + (size_t)number * STRIP_BYTES;
}

static void labels_of(const lacis_labels *labels, const uint32_t *index, int n, int64_t *out)
{
    if (labels->label == NULL) {
        for (int i = 0; i < n; i++)
            out[i] = labels->base + index[i];
    } else {
        for (int i = 0; i < n; i++)
            out[i] = labels->label[index[i]];
    }
}

static const int64_t one_i64 = 1;

/* -------------------------------------------------------------------------------------------- CON */

static bool form_integer(lacis_mul_con form, const int64_t *a, const int64_t *b, int n, int64_t *out)
{
    bool bad = false;
    for (int i = 0; i < n; i++) {
        int64_t y = b == NULL ? 1 : b[i];
        bad |= form == LACIS_MUL_CON_ADD ? __builtin_add_overflow(*a, y, &out[i])
                                         : __builtin_mul_overflow(*a, y, &out[i]);
    }
    return !bad;
}

#define FORM_REAL(name, type)                                                                                        \
    static bool name(lacis_mul_con form, const void *a, const void *b, int n, void *to)                              \
    {                                                                                                                \
        type x = a == NULL ? 1 : *(const type *)a, *out = to;                                                        \
        const type *y = b;                                                                                           \
        for (int i = 0; i < n; i++)                                                                                  \
            out[i] = form == LACIS_MUL_CON_ADD ? x + (y == NULL ? 1 : y[i]) : x * (y == NULL ? 1 : y[i]);            \
        return true;                                                                                                 \
    }
FORM_REAL(form_f32, float)
FORM_REAL(form_f64, double)

static bool form(const lacis_strips *strips, const lacis_mul_strip *strip, void *out)
{
    if (strips->form_type == LACIS_F32) return form_f32(strips->form, strip->a, strip->b, strip->n, out);
    if (strips->form_type == LACIS_F64) return form_f64(strips->form, strip->a, strip->b, strip->n, out);
    return form_integer(strips->form, strip->a == NULL ? &one_i64 : strip->a, strip->b, strip->n, out);
}

static bool program(const lacis_strips *strips, void *workspace, const lacis_mul_strip *strip, void *out)
{
    int64_t s = strips->uses_s ? lacis_labels_at(&strips->s, strip->s) : 0;
    int64_t c = strips->uses_c ? lacis_labels_at(&strips->c, strip->c) : 0;
    int64_t *t = part(strips, workspace, 0);
    if (strips->uses_t) labels_of(&strips->t, strip->t, strip->n, t);
    lacis_strip slot[5] = {
        {strip->a == NULL ? &one_i64 : strip->a, true},
        {strip->b == NULL ? &one_i64 : strip->b, strip->b == NULL},
        {&s, true},
        {&c, true},
        {t, false},
    };
    return lacis_program_run(strips->con, strip->n, slot, workspace, out);
}

static bool con_strip(void *context, void *workspace, const lacis_mul_strip *strip, void *out)
{
    const lacis_strips *strips = context;
    bool same = strips->con_type == strips->type;
    void *to = same ? out : part(strips, workspace, 1);
    bool good = strips->con == NULL ? form(strips, strip, to) : program(strips, workspace, strip, to);
    if (good && !same) lacis_values_convert(to, strips->con_type, 0, strip->n, out, strips->type);
    return good;
}

/* ------------------------------------------------------------------------------------------- folds */

static bool fold_strip(void *context, void *workspace, int n, void *x, const void *y)
{
    const lacis_strips *strips = context;
    lacis_strip slot[2] = {{x, false}, {y, false}};
    /* A step may write over an operand of its own size, and nothing is read behind the last one. */
    if (strips->fold_type == strips->type) return lacis_program_run(strips->fold, n, slot, workspace, x);
    void *out = part(strips, workspace, 1);
    if (!lacis_program_run(strips->fold, n, slot, workspace, out)) return false;
    lacis_values_convert(out, strips->fold_type, 0, n, x, strips->type);
    return true;
}

/* ------------------------------------------------------------------------------------------ HAVING */

static bool having_strip(void *context, void *workspace, int n, int64_t s, const uint32_t *t, const void *value,
                         uint8_t *keep)
{
    const lacis_strips *strips = context;
    int64_t src = lacis_labels_at(&strips->s, s), *dst = part(strips, workspace, 0);
    void *result = part(strips, workspace, 1), *read = part(strips, workspace, 2);
    labels_of(&strips->t, t, n, dst);
    if (strips->storage != strips->value_type) {
        lacis_values_convert(value, strips->storage, 0, n, read, strips->value_type);
        value = read;
    }
    lacis_strip row = {&src, true}, column = {dst, false};
    if (strips->vector_row) row = column;
    if (strips->vector_column) column = row;
    lacis_strip slot[5] = {{value, false}, row, column, row, column};
    if (!lacis_program_run(strips->having, n, slot, workspace, result)) return false;
    for (int i = 0; i < n; i++)
        keep[i] = strips->having_type == LACIS_I64 ? ((const int64_t *)result)[i] != 0
                                                   : lacis_value_double(result, strips->having_type, i) != 0;
    return true;
}

/* ------------------------------------------------------------------------------------------ set-up */

static lacis_status make(lacis_run *run, lacis_strips *strips, const lacis_expr *expr, lacis_program **program_out,
                         lacis_dtype *type)
{
    LACIS_TRY(lacis_program_new(run, expr, program_out));
    *type = lacis_expr_dtype(expr);
    size_t bytes = (lacis_program_workspace(*program_out) + 63) / 64 * 64;
    if (bytes > strips->program_bytes) strips->program_bytes = bytes;
    return LACIS_OK;
}

static lacis_status make_con(lacis_run *run, lacis_product *product)
{
    lacis_strips *strips = &product->strips;
    product->job.con = con_strip;
    strips->con_type = strips->form_type;
    lacis_expr *con = product->spec.con;
    bool built_in = con == NULL || lacis_con_form(con) != LACIS_MUL_CON_STRIPS;
    if (built_in) return LACIS_OK;
    strips->uses_s = lacis_expr_uses(con, 2);
    strips->uses_c = lacis_expr_uses(con, 3);
    strips->uses_t = lacis_expr_uses(con, 4);
    return make(run, strips, con, &strips->con, &strips->con_type);
}

static void find_interval(lacis_run *run, const lacis_expr *having, lacis_strips *strips)
{
    const int64_t *list;
    int64_t count;
    strips->low_real = 1;
    if (strips->value_type == LACIS_F32 || strips->value_type == LACIS_F64) {
        strips->within = lacis_expr_interval(having, 0, &strips->low_real, &strips->high_real);
    } else if ((strips->value_type == LACIS_I32 || strips->value_type == LACIS_I64) &&
               lacis_expr_integer_set(run, having, 0, &strips->low, &strips->high, &list, &count)) {
        strips->within = list == NULL || (uint64_t)strips->high - (uint64_t)strips->low == (uint64_t)count - 1;
    }
}

static lacis_status make_having(lacis_run *run, lacis_product *product)
{
    lacis_strips *strips = &product->strips;
    lacis_dtype value = product->dtype;
    lacis_dtype slots[5] = {value, LACIS_I64, LACIS_I64, LACIS_I64, LACIS_I64};
    LACIS_TRY(lacis_condition_type(run, product->spec.having, slots, 5));
    strips->value_type = value;
    strips->storage = product->storage;
    product->job.having = having_strip;
    find_interval(run, product->spec.having, strips);
    return make(run, strips, product->spec.having, &strips->having, &strips->having_type);
}

lacis_status lacis_product_strips(lacis_run *run, lacis_product *product)
{
    lacis_strips *strips = &product->strips;
    lacis_mul_job *job = &product->job;
    strips->s = product->s;
    strips->c = product->c;
    strips->t = product->t;
    strips->vector_row = product->spec.shape == LACIS_PRODUCT_ROW;
    strips->vector_column = product->spec.shape == LACIS_PRODUCT_COLUMN;
    if (job->con_kind == LACIS_MUL_CON_STRIPS) LACIS_TRY(make_con(run, product));
    if (job->agg == LACIS_MUL_FOLD) {
        job->fold = fold_strip;
        LACIS_TRY(make(run, strips, product->spec.fold->fold, &strips->fold, &strips->fold_type));
    }
    if (product->spec.having != NULL) LACIS_TRY(make_having(run, product));
    job->user = strips;
    job->workspace_bytes = strips->program_bytes + 3 * STRIP_BYTES;
    return LACIS_OK;
}
