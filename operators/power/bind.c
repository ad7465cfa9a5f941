/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER's bind: which rows to start from, what a round computes, and the type in which values settle. Called by the
 * engine before planning.
 */
#include "power/power.h"

#include <string.h>

static lacis_status bind_rounds(lacis_run *run, const lacis_call *call, lacis_power *work)
{
    const lacis_arg *to = lacis_call_arg(call, "TO"), *until = lacis_call_arg(call, "UNTIL");
    const lacis_arg *within = lacis_call_arg(call, "WITHIN");
    if ((to == NULL) == (until == NULL))
        return lacis_run_fail_at(run, LACIS_SYNTAX, call->offset, NULL, "POWER needs either TO k or UNTIL STABLE");
    if (to != NULL && within != NULL)
        return lacis_run_fail_at(run, LACIS_SYNTAX, within->offset, NULL,
                                 "WITHIN belongs to UNTIL STABLE, not to TO k");
    const lacis_arg *number = to != NULL ? to : within;
    work->stable = until != NULL;
    work->rounds = number == NULL ? 0 : number->item[0].integer;
    if (number != NULL && work->rounds < 1)
        return lacis_run_fail_at(run, LACIS_RANGE, number->item[0].offset, NULL,
                                 "the number of rounds must be 1 or more, not %lld", (long long)work->rounds);
    return LACIS_OK;
}

static lacis_status bind_graph(lacis_run *run, const lacis_call *call, lacis_power *work)
{
    const lacis_arg *a = lacis_call_arg(call, NULL);
    if (lacis_array_kind(a->item[0].array) != LACIS_CSR)
        return lacis_run_fail_at(run, LACIS_TYPE, a->item[0].offset, NULL, "POWER works on a graph");
    lacis_csr_view(a->item[0].array, &work->a);
    work->sent.array[0] = a->item[0].array;
    work->row_labels = lacis_labels_buffer(a->item[0].array, "row_labels");
    work->col_labels = lacis_labels_buffer(a->item[0].array, "col_labels");
    work->spec.a_offset = work->spec.b_offset = a->item[0].offset;
    return LACIS_OK;
}

static lacis_status bind_functions(lacis_run *run, const lacis_call *call, lacis_power *work)
{
    lacis_product_spec *spec = &work->spec;
    bool nil, plain = lacis_call_arg(call, "CON") == NULL && lacis_call_arg(call, "AGG") == NULL;
    lacis_bind_functions(call, spec, &nil);
    if (work->stable && (plain || (nil && lacis_call_arg(call, "AGG") == NULL))) {
        nil = true; /* reachability */
        spec->form = LACIS_MUL_CON_ONE;
        spec->agg = LACIS_AGG_ANY;
    }
    work->walks = spec->agg == LACIS_AGG_COUNT;
    if (work->walks) { /* whatever CON says, a path counts 1 */
        spec->con = NULL;
        spec->form = LACIS_MUL_CON_ONE;
    }
    if (nil || work->walks) {
        work->a.value = NULL;
        work->a.storage = work->a.dtype = LACIS_PATTERN;
    }
    bool settles = spec->agg == LACIS_AGG_MIN || spec->agg == LACIS_AGG_MAX || spec->agg == LACIS_AGG_ANY;
    if (work->stable && !settles)
        return lacis_run_fail_at(
            run, LACIS_TYPE, spec->agg_offset, "use AGG min, max or any, or TO k",
            "UNTIL STABLE needs an AGG that settles when the same path comes again: min, max or any");
    return LACIS_OK;
}

static lacis_status select_rows(lacis_run *run, const lacis_call *call, lacis_power *work)
{
    lacis_product *start = &work->start;
    start->spec = work->spec;
    start->spec.where = lacis_bind_expr(call, "WHERE");
    start->spec.restriction = call->restriction;
    start->a = work->a;
    start->s = lacis_labels_of_rows(&work->a);
    start->t = lacis_labels_of_cols(&work->a);
    return lacis_product_select(run, start);
}

/* What a round gives where values before it have this type. */
static lacis_status round_type(lacis_run *run, const lacis_product_spec *spec, lacis_dtype type, lacis_dtype *out)
{
    const int64_t some_value = 1;
    lacis_product dummy = {.spec = *spec};
    dummy.spec.a.dtype = type;
    dummy.spec.a.value = &some_value;
    dummy.a = dummy.spec.a;
    dummy.b = dummy.spec.b;
    LACIS_TRY(lacis_product_types(run, &dummy));
    *out = dummy.dtype;
    return LACIS_OK;
}

/* Types only widen (i64, f32, f64, c128), so few rounds show where they settle. */
static lacis_status settle_type(lacis_run *run, lacis_power *work)
{
    lacis_dtype type = lacis_dtype_unify(lacis_slot_dtype(work->a.dtype), lacis_slot_dtype(work->a.dtype)), next;
    int64_t most = work->stable || work->rounds > 4 ? 4 : work->rounds - 1;
    for (int64_t i = 0; i < most; i++) {
        LACIS_TRY(round_type(run, &work->spec, type, &next));
        if (work->stable) next = lacis_dtype_unify(type, next);
        if (next == type && i > 0) break;
        type = next;
    }
    work->type = type;
    work->dtype = type;
    if (!work->stable && work->rounds == 1) work->dtype = work->walks ? LACIS_I64 : work->a.dtype;
    return LACIS_OK;
}

/* Checks shapes and types by preparing the first product, which EXPLAIN shows. */
static lacis_status prepare_first(lacis_run *run, lacis_power *work)
{
    if (!work->stable && work->rounds == 1) return LACIS_OK;
    lacis_product_spec spec = work->spec;
    spec.a = work->start.a;
    return lacis_product_prepare(run, &spec, &work->first);
}

static lacis_status bind(lacis_run *run, const lacis_call *call, lacis_power *work)
{
    work->spec.verb = "POWER";
    LACIS_TRY(bind_rounds(run, call, work));
    LACIS_TRY(bind_graph(run, call, work));
    LACIS_TRY(bind_functions(run, call, work));
    work->spec.b = work->a;
    LACIS_TRY(select_rows(run, call, work));
    LACIS_TRY(prepare_first(run, work));
    return settle_type(run, work);
}

lacis_status lacis_power_bind(lacis_run *run, lacis_call *call)
{
    lacis_power *work;
    call->work = NULL;
    LACIS_TRY(lacis_run_scratch(run, sizeof *work, &work));
    memset(work, 0, sizeof *work);
    work->run = run;
    call->work = work;
    lacis_status status = bind(run, call, work);
    if (status != LACIS_OK) {
        lacis_power_unbind(run, call);
        return status;
    }
    call->kind = LACIS_CSR;
    call->dtype = work->dtype;
    call->extent[0] = work->start.s.count;
    call->extent[1] = work->a.cols;
    call->units = work->start.s.count;
    return LACIS_OK;
}

void lacis_power_unbind(lacis_run *run, lacis_call *call)
{
    lacis_power *work = call->work;
    if (work == NULL) return;
    lacis_send_clear(&work->sent);
    lacis_product_clear(run, &work->first);
    lacis_product_clear(run, &work->start);
    call->work = NULL;
}
