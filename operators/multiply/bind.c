/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's bind: operands, clauses and defaults into a product spec. Called by the engine before planning.
 */
#include "multiply/bind.h"

#include <string.h>

lacis_expr *lacis_bind_expr(const lacis_call *call, const char *keyword)
{
    const lacis_arg *arg = lacis_call_arg(call, keyword);
    return arg == NULL ? NULL : arg->item[0].expr;
}

void lacis_bind_functions(const lacis_call *call, lacis_product_spec *spec, bool *nil)
{
    const lacis_arg *con = lacis_call_arg(call, "CON"), *agg = lacis_call_arg(call, "AGG");
    const lacis_agg *given = agg == NULL ? NULL : agg->item[0].agg;
    spec->con_offset = con == NULL ? call->offset : con->item[0].offset;
    spec->agg_offset = agg == NULL ? call->offset : agg->item[0].offset;
    spec->con = con == NULL ? NULL : con->item[0].expr;
    *nil = spec->con != NULL && strcmp(lacis_expr_text(spec->con), "nil") == 0;
    spec->form = LACIS_MUL_CON_MUL;
    if (con == NULL && given != NULL && given->kind == LACIS_AGG_COUNT) *nil = true;
    if (*nil) {
        spec->con = NULL;
        spec->form = LACIS_MUL_CON_ONE;
    }
    spec->agg = given != NULL ? given->kind : *nil ? LACIS_AGG_COUNT : LACIS_AGG_SUM;
    spec->fold = spec->agg == LACIS_AGG_FOLD ? given : NULL;
}

static lacis_status operand(lacis_run *run, lacis_product *product, const lacis_arg *arg, int item, const char *name,
                            bool as_row, lacis_csr *out)
{
    return lacis_operand_csr(run, product, "MULTIPLY", name, arg->item[item].array, arg->item[item].offset, as_row,
                             out);
}

static bool is_vector(const lacis_arg *arg, int item)
{
    return lacis_array_kind(arg->item[item].array) == LACIS_VECTOR;
}

static lacis_status bind_operands(lacis_run *run, const lacis_call *call, lacis_product *product,
                                  lacis_product_spec *spec)
{
    const lacis_arg *a = lacis_call_arg(call, NULL), *b = lacis_call_arg(call, "BY");
    spec->a_offset = a->item[0].offset;
    spec->b_offset = b->item[0].offset;
    if (is_vector(a, 0) && is_vector(b, 0))
        return lacis_run_fail_at(run, LACIS_TYPE, spec->b_offset, NULL,
                                 "MULTIPLY needs at least one graph, and both operands are vectors");
    LACIS_TRY(operand(run, product, a, 0, "a", true, &spec->a));
    LACIS_TRY(operand(run, product, b, 0, "b", false, &spec->b));
    spec->shape = is_vector(a, 0) ? LACIS_PRODUCT_ROW : is_vector(b, 0) ? LACIS_PRODUCT_COLUMN : LACIS_PRODUCT_MATRIX;
    return LACIS_OK;
}

static lacis_status bind_mask(lacis_run *run, const lacis_call *call, lacis_product *product,
                              lacis_product_spec *spec)
{
    const lacis_arg *mask = lacis_call_arg(call, "MASK");
    if (mask == NULL) return LACIS_OK;
    bool vector = spec->shape != LACIS_PRODUCT_MATRIX;
    if (is_vector(mask, 1) != vector)
        return lacis_run_fail_at(run, LACIS_TYPE, mask->item[1].offset, NULL,
                                 "the result of MULTIPLY is a %s here, so its mask must be one",
                                 vector ? "vector" : "graph");
    spec->has_mask = true;
    spec->mask_offset = mask->item[1].offset;
    spec->mask_not = mask->item[0].integer != 0;
    return operand(run, product, mask, 1, "MASK", spec->shape == LACIS_PRODUCT_ROW, &spec->mask);
}

static lacis_status bind_top(lacis_run *run, const lacis_call *call, lacis_product_spec *spec)
{
    const lacis_arg *top = lacis_call_arg(call, "TOP");
    if (top == NULL) return LACIS_OK;
    spec->top = top->item[0].integer;
    if (spec->top <= 0)
        return lacis_run_fail_at(run, LACIS_RANGE, top->item[0].offset, NULL,
                                 "TOP keeps at least one value a row, and %lld was asked for", (long long)spec->top);
    return LACIS_OK;
}

static lacis_status fill_spec(lacis_run *run, const lacis_call *call, lacis_product *product,
                              lacis_product_spec *spec)
{
    bool nil;
    *spec = (lacis_product_spec){.verb = "MULTIPLY", .whole = true, .restriction = call->restriction};
    LACIS_TRY(bind_operands(run, call, product, spec));
    LACIS_TRY(bind_mask(run, call, product, spec));
    LACIS_TRY(bind_top(run, call, spec));
    lacis_bind_functions(call, spec, &nil);
    spec->where = lacis_bind_expr(call, "WHERE");
    spec->having = lacis_bind_expr(call, "HAVING");
    return LACIS_OK;
}

static void describe(lacis_call *call, const lacis_product *product)
{
    call->dtype = product->dtype;
    call->kind = product->spec.shape == LACIS_PRODUCT_MATRIX ? LACIS_CSR : LACIS_VECTOR;
    bool row = product->spec.shape == LACIS_PRODUCT_ROW;
    call->extent[0] = row ? product->t.count : product->s.count;
    call->extent[1] = call->kind == LACIS_CSR ? product->t.count : 0;
    call->units = product->s.count;
}

lacis_status lacis_multiply_bind(lacis_run *run, lacis_call *call)
{
    lacis_multiply *work;
    lacis_product_spec spec;
    call->work = NULL;
    LACIS_TRY(lacis_run_scratch(run, sizeof *work, &work));
    memset(work, 0, sizeof *work);
    lacis_status status = fill_spec(run, call, &work->product, &spec);
    if (status != LACIS_OK) {
        lacis_product_clear(run, &work->product);
        return status;
    }
    LACIS_TRY(lacis_product_prepare(run, &spec, &work->product));
    work->row_labels = lacis_labels_buffer(lacis_call_arg(call, NULL)->item[0].array, "row_labels");
    work->col_labels = lacis_labels_buffer(lacis_call_arg(call, "BY")->item[0].array, "col_labels");
    const lacis_arg *mask = lacis_call_arg(call, "MASK");
    work->run = run;
    work->sent.array[0] = lacis_call_arg(call, NULL)->item[0].array;
    work->sent.array[1] = lacis_call_arg(call, "BY")->item[0].array;
    work->sent.array[2] = mask == NULL ? NULL : mask->item[1].array;
    call->work = work;
    describe(call, &work->product);
    return LACIS_OK;
}

void lacis_multiply_unbind(lacis_run *run, lacis_call *call)
{
    lacis_multiply *work = call->work;
    if (work == NULL) return;
    lacis_send_clear(&work->sent);
    lacis_product_clear(run, &work->product);
    call->work = NULL;
}
