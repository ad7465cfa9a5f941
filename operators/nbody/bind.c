/* SPDX-License-Identifier: Apache-2.0
 *
 * NBODY's bind, and that of the bodies themselves, which ACCELERATE shares. Called by the engine before planning.
 */
#include "nbody/work.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

lacis_status lacis_nbody_bind_bodies(lacis_run *run, lacis_call *call, bool accelerate, lacis_nbody_work **out)
{
    lacis_nbody_work *work;
    const lacis_item *item = &lacis_call_arg(call, NULL)->item[0];
    call->work = NULL;
    if (lacis_array_kind(item->array) != LACIS_BODIES)
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset,
                                 "LOAD them, GENERATE g AS plummer(n = 1000), or SELECT id, m, x, y, z, vx, vy, vz",
                                 "%s takes bodies", call->op->verb);
    LACIS_TRY(lacis_run_scratch(run, sizeof *work, &work));
    memset(work, 0, sizeof *work);
    work->run = run;
    work->accelerate = accelerate;
    work->array = item->array;
    LACIS_TRY(lacis_bodies_view(run, item->array, &work->bodies));
    call->work = work;
    *out = work;
    return lacis_nbody_bind_field(run, call, work);
}

/* ------------------------------------------------------------------------------------------- motion */

static lacis_status bind_steps(lacis_run *run, const lacis_call *call, lacis_nbody_work *work)
{
    const lacis_arg *steps = lacis_call_arg(call, "STEPS"), *dt = lacis_call_arg(call, "DT");
    work->steps = dt != NULL ? 1 : 0;
    LACIS_TRY(lacis_nbody_bind_whole(run, call, "STEPS", 0, &work->steps));
    LACIS_TRY(lacis_nbody_bind_real(run, call, "DT", -HUGE_VAL, false, &work->dt));
    if (work->steps > 0 && dt == NULL)
        return lacis_run_fail_at(run, LACIS_SYNTAX, steps->offset, "STEPS 100 DT 0.01",
                                 "STEPS needs DT, the time that a step takes");
    if (dt != NULL && work->dt == 0)
        return lacis_run_fail_at(run, LACIS_RANGE, dt->item[0].offset, NULL, "DT must not be 0");
    return LACIS_OK;
}

static lacis_status bind_every(lacis_run *run, const lacis_call *call, lacis_nbody_work *work)
{
    const lacis_arg *every = lacis_call_arg(call, "EVERY"), *to = lacis_call_arg(call, "TO");
    LACIS_TRY(lacis_nbody_bind_whole(run, call, "EVERY", 1, &work->every));
    if (to == NULL) return LACIS_OK;
    if (every == NULL)
        return lacis_run_fail_at(run, LACIS_SYNTAX, to->offset, "EVERY 10 TO 'step_*.npy'",
                                 "TO names the files of EVERY, and there is none");
    const char *star = strchr(to->item[0].text, '*');
    if (star == NULL || strchr(star + 1, '*') != NULL)
        return lacis_run_fail_at(run, LACIS_SYNTAX, to->item[0].offset, "'step_*.npy'",
                                 "TO needs one *, where the step's number goes");
    work->to = to->item[0].text;
    const lacis_outline form = {.kind = LACIS_BODIES, .dtype = work->dtype};
    return lacis_run_can_save(run, &form, work->to, to->item[0].offset);
}

/* What a result has besides id, m, x, y, z, vx, vy, vz. */
static void say_columns(lacis_call *call, const lacis_nbody_work *work)
{
    static const lacis_column columns[] = {{"eps", true}, {"ax", true}, {"ay", true}, {"az", true}, {"phi", true}};
    const bool eps = work->bodies.eps != NULL;
    call->column = eps ? columns : columns + 1;
    call->columns = 3 + eps + work->potential;
}

lacis_status lacis_nbody_bind(lacis_run *run, lacis_call *call)
{
    lacis_nbody_work *work;
    LACIS_TRY(lacis_nbody_bind_bodies(run, call, false, &work));
    LACIS_TRY(bind_steps(run, call, work));
    LACIS_TRY(bind_every(run, call, work));
    LACIS_TRY(lacis_nbody_bind_certify(run, call, work));
    call->kind = LACIS_BODIES;
    call->dtype = work->dtype;
    call->extent[0] = work->bodies.count;
    call->units = work->bodies.count;
    say_columns(call, work);
    return LACIS_OK;
}
