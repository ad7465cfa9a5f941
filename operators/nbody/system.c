/* SPDX-License-Identifier: Apache-2.0
 *
 * What systems of all kinds share: how one starts, its rule, what it did, and the codes of kernels in the user's
 * words.
 */
#include "nbody/system.h"

lacis_nbody_start lacis_nbody_start_of(const lacis_nbody_work *work, lacis_nbody_way way)
{
    lacis_nbody_start start = {.type = work->type, .n = work->bodies.count, .soften = work->soften, .g = work->g};
    start.rule = work->rule;
    start.rule.way = way;
    start.wanted = work->wanted;
    start.threads = lacis_run_threads(work->run);
    return start;
}

lacis_nbody_start lacis_nbody_start_with(const lacis_nbody_work *work, const lacis_nbody_input *input,
                                         lacis_nbody_way way)
{
    lacis_nbody_start start = lacis_nbody_start_of(work, way);
    start.m = input->column[LACIS_NBODY_M];
    start.x = input->column[LACIS_NBODY_X];
    start.y = input->column[LACIS_NBODY_Y];
    start.z = input->column[LACIS_NBODY_Z];
    start.vx = input->column[LACIS_NBODY_VX];
    start.vy = input->column[LACIS_NBODY_VY];
    start.vz = input->column[LACIS_NBODY_VZ];
    start.eps = work->common ? NULL : input->column[LACIS_NBODY_EPS];
    start.ax = input->column[LACIS_NBODY_AX];
    start.ay = input->column[LACIS_NBODY_AY];
    start.az = input->column[LACIS_NBODY_AZ];
    return start;
}

lacis_status lacis_nbody_said(lacis_run *run, lacis_nbody_status status, uint64_t bytes)
{
    switch (status) {
    case LACIS_NBODY_OK:
        return LACIS_OK;
    case LACIS_NBODY_CANCELLED:
        return lacis_run_interrupted(run);
    case LACIS_NBODY_NO_MEMORY:
        break;
    case LACIS_NBODY_UNSUPPORTED:
    case LACIS_NBODY_FAILED:
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the kernels do not do this with these bodies after all");
    }
    if (bytes <= lacis_run_memory_left(run))
        return lacis_run_fail(run, LACIS_NOMEM, "the system has no more memory for the bodies' work");
    return lacis_run_fail(run, LACIS_LIMIT,
                          "the bodies' work memory of %.1f MB is more than memory_limit leaves (%.1f MB)",
                          1e-6 * (double)bytes, 1e-6 * (double)lacis_run_memory_left(run));
}

void lacis_nbody_rule_set(lacis_nbody_system *system, const lacis_nbody_rule *rule)
{
    system->rule = *rule;
    system->kind->set_rule(system, rule);
}

/* Well enough to tell how great accelerations are. */
static lacis_status feel(lacis_nbody_system *system)
{
    const double crude = 0.6;
    const lacis_nbody_rule rule = system->rule;
    lacis_nbody_rule first = rule;
    first.opening = LACIS_NBODY_GEOMETRIC;
    first.theta = rule.theta < crude ? rule.theta : crude;
    lacis_nbody_fit_expansion(&first);
    lacis_nbody_rule_set(system, &first);
    LACIS_TRY(system->kind->field(system, false));
    lacis_nbody_rule_set(system, &rule);
    return LACIS_OK;
}

lacis_status lacis_nbody_refresh(lacis_nbody_system *system, bool potential)
{
    const bool relative = system->rule.opening == LACIS_NBODY_RELATIVE && system->rule.way != LACIS_NBODY_DIRECT;
    if (relative && !system->felt) LACIS_TRY(feel(system));
    system->felt = true;
    return system->kind->field(system, potential);
}

static void tell(lacis_run *run, const char *what, double figure)
{
    if (figure > 0) lacis_run_count(run, what, figure);
}

void lacis_nbody_tell_counts(lacis_nbody_system *system)
{
    lacis_nbody_counts counts = {0};
    lacis_run *run = system->run;
    system->kind->counted(system, &counts);
    tell(run, "evaluations", counts.evaluations);
    tell(run, "pairs of bodies", counts.p2p);
    tell(run, "cells at bodies", counts.m2p);
    tell(run, "cells at groups", counts.expanded);
    tell(run, "visits", counts.visits);
    tell(run, "cells", (double)counts.cells);
    tell(run, "leaves", (double)counts.leaves);
    tell(run, "levels", (double)counts.levels);
    tell(run, "groups", (double)counts.groups);
    tell(run, "seconds of build", counts.build_seconds);
    tell(run, "seconds of force", counts.force_seconds);
    tell(run, "seconds of move", counts.move_seconds);
}
