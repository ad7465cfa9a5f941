/* SPDX-License-Identifier: Apache-2.0
 *
 * Types of a product: of CON's slots, of its values, of the result; and which built-in form CON is. What depends on
 * how large the job is stands in accumulators.c. Called by lacis_product_prepare.
 */
#include "multiply/product.h"

#include <string.h>

lacis_dtype lacis_slot_dtype(lacis_dtype dtype)
{
    switch (dtype) {
    case LACIS_I32:
    case LACIS_F32:
    case LACIS_F64:
        return dtype;
    case LACIS_C64:
    case LACIS_C128:
        return LACIS_C128;
    default:
        return LACIS_I64;
    }
}

static bool real(lacis_dtype dtype)
{
    return dtype == LACIS_F32 || dtype == LACIS_F64;
}

/* As expressions do it: anything becomes complex beside complex numbers, integers meet in I64, reals of one type
 * stay, all else is F64. */
lacis_dtype lacis_dtype_unify(lacis_dtype x, lacis_dtype y)
{
    if (x == LACIS_C128 || y == LACIS_C128) return LACIS_C128;
    if (!real(x) && !real(y)) return LACIS_I64;
    return x == y ? x : LACIS_F64;
}

lacis_status lacis_condition_type(lacis_run *run, lacis_expr *condition, const lacis_dtype *slots, int count)
{
    LACIS_TRY(lacis_expr_type(run, condition, slots, count));
    if (lacis_expr_dtype(condition) != LACIS_C128) return LACIS_OK;
    return lacis_run_fail(run, LACIS_TYPE,
                          "the condition %s is a complex number; compare it with 0, or take re(z), im(z) or abs(z)",
                          lacis_expr_text(condition));
}

lacis_mul_type lacis_mul_type_of(lacis_dtype dtype)
{
    switch (dtype) {
    case LACIS_I32:
        return LACIS_MUL_I32;
    case LACIS_F32:
        return LACIS_MUL_F32;
    case LACIS_F64:
        return LACIS_MUL_F64;
    case LACIS_C128:
        return LACIS_MUL_C128;
    default:
        return LACIS_MUL_I64;
    }
}

lacis_mul_storage lacis_mul_storage_of(lacis_dtype storage)
{
    switch (storage) {
    case LACIS_U8:
        return LACIS_MUL_TO_U8;
    case LACIS_U16:
        return LACIS_MUL_TO_U16;
    case LACIS_U32:
        return LACIS_MUL_TO_U32;
    case LACIS_I32:
        return LACIS_MUL_TO_I32;
    case LACIS_F32:
        return LACIS_MUL_TO_F32;
    case LACIS_F64:
        return LACIS_MUL_TO_F64;
    case LACIS_C128:
        return LACIS_MUL_TO_C128;
    default:
        return LACIS_MUL_TO_I64;
    }
}

struct form {
    const char *text;
    lacis_mul_con con;
};
#define CON(text, con) {text, con},
static const struct form forms[] = {
#include "multiply/builtin.def"
};
#undef CON

lacis_mul_con lacis_con_form(const lacis_expr *con)
{
    const char *text = lacis_expr_text(con);
    for (int i = 0; i < LACIS_COUNT(forms); i++)
        if (strcmp(text, forms[i].text) == 0) return forms[i].con;
    return LACIS_MUL_CON_STRIPS;
}

static bool form_uses(lacis_mul_con form, bool b)
{
    if (form == LACIS_MUL_CON_ADD || form == LACIS_MUL_CON_MUL) return true;
    return form == (b ? LACIS_MUL_CON_B : LACIS_MUL_CON_A);
}

static bool uses(const lacis_product_spec *spec, lacis_mul_con form, bool b)
{
    return form == LACIS_MUL_CON_STRIPS ? lacis_expr_uses(spec->con, b ? 1 : 0) : form_uses(form, b);
}

static bool wide(lacis_dtype dtype)
{
    return dtype == LACIS_DD || dtype == LACIS_CDD;
}

static lacis_status refuse_wide(lacis_run *run, const lacis_product *product, lacis_dtype dtype, int64_t offset)
{
    return lacis_run_fail_at(run, LACIS_TYPE, offset, "CON nil works for any type",
                             "%s computes with i32, i64, f32, f64 and complex values; this operand's are %s",
                             product->spec.verb, lacis_dtype_name(dtype));
}

/* What needs an order that complex values lack. */
static lacis_status refuse_order(lacis_run *run, const lacis_product *product)
{
    const lacis_product_spec *spec = &product->spec;
    lacis_mul_agg agg = product->job.agg;
    if (product->dtype != LACIS_C128) return LACIS_OK;
    if (agg == LACIS_MUL_MIN || agg == LACIS_MUL_MAX)
        return lacis_run_fail_at(
            run, LACIS_TYPE, spec->agg_offset, "let CON give re(z), im(z) or abs(z), as in CON abs(a * b)",
            "AGG %s needs values in an order, and complex numbers have none", agg == LACIS_MUL_MIN ? "min" : "max");
    if (spec->top > 0)
        return lacis_run_fail_at(run, LACIS_TYPE, spec->con_offset,
                                 "let CON give re(z), im(z) or abs(z), as in CON abs(a * b)",
                                 "TOP keeps the greatest values, and complex numbers have no order");
    return LACIS_OK;
}

static lacis_dtype form_dtype(lacis_mul_con form, lacis_dtype a, lacis_dtype b)
{
    switch (form) {
    case LACIS_MUL_CON_A:
        return lacis_dtype_unify(a, a);
    case LACIS_MUL_CON_B:
        return lacis_dtype_unify(b, b);
    case LACIS_MUL_CON_ADD:
    case LACIS_MUL_CON_MUL:
        return lacis_dtype_unify(a, b);
    default:
        return LACIS_I64;
    }
}

/* A factor of 1 need not be multiplied by. */
static lacis_mul_con drop_ones(const lacis_product *product, lacis_mul_con form)
{
    bool a_one = product->a.value == NULL, b_one = product->b.value == NULL;
    if (form == LACIS_MUL_CON_MUL && a_one) form = LACIS_MUL_CON_B;
    if (form == LACIS_MUL_CON_MUL && b_one) form = LACIS_MUL_CON_A;
    if (form == LACIS_MUL_CON_A && a_one) form = LACIS_MUL_CON_ONE;
    if (form == LACIS_MUL_CON_B && b_one) form = LACIS_MUL_CON_ONE;
    return form;
}

static lacis_status type_con(lacis_run *run, lacis_product *product)
{
    lacis_product_spec *spec = &product->spec;
    lacis_dtype a = spec->a_slot != LACIS_PATTERN ? spec->a_slot : lacis_slot_dtype(spec->a.dtype);
    lacis_dtype b = lacis_slot_dtype(spec->b.dtype);
    if (spec->a_slot == LACIS_PATTERN) spec->a_slot = a;
    lacis_dtype slots[5] = {a, b, LACIS_I64, LACIS_I64, LACIS_I64};
    lacis_mul_con form = spec->form;
    if (spec->con != NULL) {
        if (!spec->con_typed) LACIS_TRY(lacis_expr_type(run, spec->con, slots, 5));
        form = lacis_con_form(spec->con);
    }
    if (spec->agg == LACIS_AGG_COUNT) form = LACIS_MUL_CON_ONE;
    if (wide(spec->a.dtype) && uses(spec, form, false))
        return refuse_wide(run, product, spec->a.dtype, spec->a_offset);
    if (wide(spec->b.dtype) && uses(spec, form, true))
        return refuse_wide(run, product, spec->b.dtype, spec->b_offset);
    product->con_dtype = form == LACIS_MUL_CON_STRIPS ? lacis_expr_dtype(spec->con) : form_dtype(form, a, b);
    lacis_mul_con plain = drop_ones(product, form);
    if (plain == LACIS_MUL_CON_ONE) product->con_dtype = LACIS_I64;
    product->job.con_kind = plain;
    return LACIS_OK;
}

/* A fold computes in the type that CON's values, its identity and its own result can share. */
static lacis_status type_fold(lacis_run *run, lacis_product *product)
{
    const lacis_agg *agg = product->spec.fold;
    lacis_dtype type = product->spec.con_typed ? product->spec.a.dtype : product->con_dtype;
    if (agg->identity_real && !real(type) && type != LACIS_C128) type = LACIS_F64;
    if (agg->identity_complex) type = LACIS_C128;
    for (int round = 0; round < 2 && !product->spec.con_typed; round++) {
        lacis_dtype slots[2] = {type, type};
        LACIS_TRY(lacis_expr_type(run, agg->fold, slots, 2));
        lacis_dtype wider = lacis_dtype_unify(type, lacis_expr_dtype(agg->fold));
        if (wider == type) break;
        type = wider;
    }
    product->job.identity_int = agg->identity_int;
    product->job.identity = agg->identity_real ? agg->identity : (double)agg->identity_int;
    product->job.identity_imag = agg->identity_imag;
    product->dtype = type;
    return LACIS_OK;
}

static const lacis_mul_agg kernel_agg[] = {
    [LACIS_AGG_COUNT] = LACIS_MUL_COUNT, [LACIS_AGG_SUM] = LACIS_MUL_SUM,   [LACIS_AGG_MIN] = LACIS_MUL_MIN,
    [LACIS_AGG_MAX] = LACIS_MUL_MAX,     [LACIS_AGG_ANY] = LACIS_MUL_FIRST, [LACIS_AGG_AVG] = LACIS_MUL_AVG,
    [LACIS_AGG_FIRST] = LACIS_MUL_FIRST, [LACIS_AGG_LAST] = LACIS_MUL_LAST, [LACIS_AGG_FOLD] = LACIS_MUL_FOLD,
};

lacis_status lacis_product_types(lacis_run *run, lacis_product *product)
{
    LACIS_TRY(type_con(run, product));
    lacis_mul_job *job = &product->job;
    job->agg = kernel_agg[product->spec.agg];
    if (job->agg == LACIS_MUL_SUM && job->con_kind == LACIS_MUL_CON_ONE) job->agg = LACIS_MUL_COUNT;
    product->dtype = product->con_dtype;
    if (job->agg == LACIS_MUL_COUNT) product->dtype = LACIS_I64;
    if (job->agg == LACIS_MUL_AVG && product->dtype != LACIS_C128) product->dtype = LACIS_F64;
    if (job->agg == LACIS_MUL_FOLD) LACIS_TRY(type_fold(run, product));
    return refuse_order(run, product);
}
