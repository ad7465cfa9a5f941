/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's bind: operands, words and defaults. Called by the engine before planning.
 */
#include "symv/work.h"

#include <string.h>

/* --- numbers ------------------------------------------------------------------------------------------ */

/* ALPHA or BETA, in double-double. */
static void number(const lacis_arg *arg, double otherwise, double out[4])
{
    const double plain[4] = {otherwise, 0, 0, 0};
    memcpy(out, arg == NULL ? plain : arg->item[0].wide, sizeof plain);
}

static bool is_zero(const double number[4])
{
    return number[0] == 0 && number[1] == 0 && number[2] == 0 && number[3] == 0;
}

static lacis_status check_number(lacis_run *run, const lacis_call *call, const lacis_symv_work *work,
                                 const char *word, const double value[4])
{
    const lacis_arg *arg = lacis_call_arg(call, word);
    if ((value[2] == 0 && value[3] == 0) || lacis_symv_is_complex(work->matrix.dtype)) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_TYPE, arg->item[0].offset, NULL,
                             "SYMV: a complex %s is for complex matrices, and this one is %s", word,
                             lacis_dtype_name(work->matrix.dtype));
}

static lacis_status bind_numbers(lacis_run *run, const lacis_call *call, lacis_symv_work *work)
{
    const lacis_arg *beta = lacis_call_arg(call, "BETA");
    const bool add = work->y.array != NULL;
    if (beta != NULL && !add)
        return lacis_run_fail_at(run, LACIS_SYNTAX, beta->offset, "SYMV a BY x ADD y BETA 2",
                                 "SYMV: BETA is a factor of ADD's vector, and there is none");
    number(lacis_call_arg(call, "ALPHA"), 1, work->alpha);
    number(beta, add ? 1 : 0, work->beta);
    work->adds = !is_zero(work->beta);
    LACIS_TRY(check_number(run, call, work, "ALPHA", work->alpha));
    return check_number(run, call, work, "BETA", work->beta);
}

/* --- words -------------------------------------------------------------------------------------------- */

static void bind_words(lacis_run *run, const lacis_call *call, lacis_symv_work *work)
{
    static const lacis_symv_order orders[] = {LACIS_SYMV_FIXED, LACIS_SYMV_FREE, LACIS_SYMV_CANONICAL};
    const lacis_arg *order = lacis_call_arg(call, "ORDER");
    work->accurate = lacis_call_arg(call, "ACCURATE") != NULL;
    work->figures = lacis_call_arg(call, "FIGURES") != NULL;
    work->order = lacis_run_deterministic(run) ? LACIS_SYMV_CANONICAL : LACIS_SYMV_FIXED;
    if (order != NULL) work->order = orders[order->item[0].integer];
}

static lacis_status bind_operands(lacis_run *run, const lacis_call *call, lacis_symv_work *work)
{
    const lacis_arg *by = lacis_call_arg(call, "BY"), *add = lacis_call_arg(call, "ADD");
    LACIS_TRY(lacis_symv_bind_matrix(run, call, &work->matrix));
    LACIS_TRY(lacis_symv_take_vectors(run, &by->item[0], "x", &work->x));
    if (add != NULL) LACIS_TRY(lacis_symv_take_vectors(run, &add->item[0], "ADD's y", &work->y));
    work->blank =
        lacis_call_arg(call, NULL)->item[0].partial || by->item[0].partial || (add != NULL && add->item[0].partial);
    if (call->restriction != NULL && call->restriction->lo > call->restriction->hi) work->blank = true;
    return LACIS_OK;
}

lacis_status lacis_symv_bind(lacis_run *run, lacis_call *call)
{
    lacis_symv_work *work;
    call->work = NULL;
    LACIS_TRY(lacis_run_scratch(run, sizeof *work, &work));
    memset(work, 0, sizeof *work);
    work->run = run;
    bind_words(run, call, work);
    LACIS_TRY(bind_operands(run, call, work));
    LACIS_TRY(lacis_symv_bind_types(run, call, work));
    LACIS_TRY(bind_numbers(run, call, work));
    if (!work->blank) {
        LACIS_TRY(lacis_symv_bind_shapes(run, work));
        LACIS_TRY(lacis_symv_cut(run, work));
    }
    call->work = work;
    call->units = work->blank ? 0 : 1;
    return lacis_symv_describe(run, call, work);
}
