/* SPDX-License-Identifier: Apache-2.0
 *
 * The field of a system, and its motion. operators/nbody calls what nbody.h names; points.c forces at other places.
 */
#include "nbody/inside.h"

#include "common/parallel.h"

/* --- order, tree, units --------------------------------------------------------------------------------- */

static void bring_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    (void)context;
    system->loops->bring(system, begin, end);
}

static lacis_nbody_status sort_bodies(lacis_nbody *system, const nbody_box *box)
{
    nbody_tree *tree = &system->tree;
    lacis_nbody_status status =
        lacis_nbody_keys(system, (const void *const *)&system->column[NBODY_X], box, system->n, tree->pair);
    if (status == LACIS_NBODY_OK)
        status = (system->rule.way == LACIS_NBODY_INSERT ? lacis_nbody_insert : lacis_nbody_sort)(
            system, tree->pair, tree->spare, system->n);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_grow(system, box);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_permute(system);
    return status;
}

static lacis_nbody_status place(lacis_nbody *system)
{
    const bool tree = system->rule.way != LACIS_NBODY_DIRECT;
    nbody_box box;
    lacis_nbody_status status =
        lacis_nbody_box_of(system, (const void *const *)&system->column[NBODY_X], system->n, &box);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_room_of_tree(system);
    if (status == LACIS_NBODY_OK && (tree || system->rule.deterministic)) status = sort_bodies(system, &box);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_units_of(system, &box);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_over(system, system->n, NBODY_PIECE, bring_piece, NULL);
    if (status == LACIS_NBODY_OK && tree) status = lacis_nbody_weigh(system);
    return status;
}

lacis_nbody_status lacis_nbody_prepare(lacis_nbody *system)
{
    if (system->placed) return LACIS_NBODY_OK;
    const double start = lacis_nbody_seconds();
    lacis_nbody_status status = place(system);
    system->placed = status == LACIS_NBODY_OK;
    const bool tree = system->rule.way != LACIS_NBODY_DIRECT;
    lacis_nbody_counts *counts = &system->counts;
    counts->cells = tree ? system->tree.cells : 0;
    counts->leaves = tree ? system->tree.leaves : 0;
    counts->levels = tree ? system->tree.levels : 0;
    counts->build_seconds += lacis_nbody_seconds() - start;
    return status;
}

/* --- forces --------------------------------------------------------------------------------------------- */

/* What one thread does sooner than others wake. */
enum { TARGETS_ALONE = 512, PAIRS_ALONE = 1 << 18 };

struct forces {
    lacis_nbody *system;
    const nbody_targets *targets;
    int64_t group;
};

/* A group of bodies none of which is wanted. */
static bool unwanted(const lacis_nbody *system, const nbody_targets *targets, int64_t begin, int64_t end)
{
    if (system->wanted == system->n || targets->x != NULL) return false;
    while (begin < end && system->number[begin] >= system->wanted)
        begin++;
    return begin == end;
}

static int forces_task(void *context, int64_t task, int worker)
{
    const struct forces *forces = context;
    lacis_nbody *system = forces->system;
    const int64_t begin = task * forces->group,
                  end = begin + forces->group < forces->targets->n ? begin + forces->group : forces->targets->n;
    if (nbody_stopped(system)) return LACIS_NBODY_CANCELLED;
    if (unwanted(system, forces->targets, begin, end)) return LACIS_NBODY_OK;
    if (worker == 0 && system->host.told != NULL) system->host.told(system->host.context, begin, forces->targets->n);
    const bool tree = system->rule.way != LACIS_NBODY_DIRECT;
    const bool done = (tree ? system->loops->walk : system->loops->direct)(system, &system->worker[worker],
                                                                           forces->targets, begin, end);
    return done ? LACIS_NBODY_OK : LACIS_NBODY_CANCELLED;
}

lacis_nbody_status lacis_nbody_forces(lacis_nbody *system, const nbody_targets *targets)
{
    const double start = lacis_nbody_seconds();
    lacis_nbody_status status = lacis_nbody_room_of_walks(system);
    if (status != LACIS_NBODY_OK) return status;
    const bool direct = system->rule.way == LACIS_NBODY_DIRECT;
    struct forces forces = {system, targets, direct ? NBODY_GROUP_MOST : system->rule.group};
    const int64_t groups = (targets->n + forces.group - 1) / forces.group;
    const bool alone = targets->n < (direct ? PAIRS_ALONE / (system->n + 1) : TARGETS_ALONE);
    status = (lacis_nbody_status)lacis_parallel(alone ? 1 : system->threads, groups, forces_task, &forces);
    if (targets->x == NULL) system->counts.groups = groups;
    system->counts.force_seconds += lacis_nbody_seconds() - start;
    return status;
}

static void remember_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    (void)context;
    system->loops->remember(system, begin, end);
}

/* What RELATIVE goes by is what accelerations were before; potentials that are wanted later are of the same walk. */
static lacis_nbody_status keep_old(lacis_nbody *system)
{
    if (system->known || !system->felt) return LACIS_NBODY_OK;
    lacis_nbody_status status = lacis_nbody_over(system, system->n, NBODY_PIECE, remember_piece, NULL);
    if (status != LACIS_NBODY_OK) return status;
    system->old = true;
    system->felt = false;
    return LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_field(lacis_nbody *system, bool potential)
{
    if (system->known && (system->potentials || !potential)) return LACIS_NBODY_OK;
    lacis_nbody_status status = keep_old(system);
    if (status == LACIS_NBODY_OK) status = lacis_nbody_prepare(system);
    if (status != LACIS_NBODY_OK) return status;
    const bool fields = !system->known;
    nbody_targets targets = {.n = system->n,
                             .relative = system->rule.opening == LACIS_NBODY_RELATIVE && system->old,
                             .ax = fields ? system->column[NBODY_AX] : NULL,
                             .ay = fields ? system->column[NBODY_AY] : NULL,
                             .az = fields ? system->column[NBODY_AZ] : NULL,
                             .phi = potential ? system->column[NBODY_PHI] : NULL};
    if (system->share != NULL) {
        status = system->share(system->share_context, system, potential);
    } else {
        status = lacis_nbody_forces(system, &targets);
    }
    if (status != LACIS_NBODY_OK) return status;
    system->known = system->felt = true;
    system->potentials = potential;
    system->counts.evaluations += 1;
    return LACIS_NBODY_OK;
}

/* --- motion --------------------------------------------------------------------------------------------- */

static void kick_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    system->loops->kick(system, *(const double *)context, begin, end);
}

static void kick_and_drift_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    kick_piece(system, context, begin, end);
    system->loops->drift(system, *(const double *)context, begin, end);
}

static lacis_nbody_status move(lacis_nbody *system, nbody_piece fn, double dt)
{
    const double start = lacis_nbody_seconds();
    lacis_nbody_status status = lacis_nbody_over(system, system->n, NBODY_PIECE, fn, &dt);
    system->counts.move_seconds += lacis_nbody_seconds() - start;
    return status;
}

lacis_nbody_status lacis_nbody_steps(lacis_nbody *system, int64_t steps, double dt, bool potential)
{
    lacis_nbody_status status = lacis_nbody_field(system, potential && steps <= 0);
    for (int64_t s = 0; s < steps && status == LACIS_NBODY_OK; s++) {
        status = move(system, kick_and_drift_piece, dt);
        if (status != LACIS_NBODY_OK) return status;
        system->known = system->potentials = system->placed = false;
        status = lacis_nbody_field(system, potential && s + 1 == steps);
        if (status == LACIS_NBODY_OK) status = move(system, kick_piece, dt);
    }
    return status;
}
