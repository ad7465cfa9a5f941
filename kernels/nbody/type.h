/* SPDX-License-Identifier: Apache-2.0
 *
 * All loops of one type: P is the number of places and columns, R that of forces. Included once by each of the
 * *.isa.c files of types.
 */
#include "nbody/vector.h"

#include "nbody/group.h"

#include "nbody/pairs.h"

#include "nbody/cells.h"

#include "nbody/expand.h"

#include "nbody/walk.h"

#include "nbody/bodies.h"

#include "nbody/moments.h"

static uint64_t walk_bytes(int64_t levels)
{
    return sizeof(walk_room) + sizeof(visit) * (uint64_t)(7 * levels + EIGHT);
}

/* --- sums to where they belong ------------------------------------------------------------------------------ */

static void put_sums(const R *sum, void *column, double unit, const nbody_targets *targets, int64_t begin, int count)
{
    P *to = column;
    if (to == NULL) return;
    for (int l = 0; l < count; l++)
        to[targets->order == NULL ? begin + l : targets->order[begin + l].index] = (P)((double)sum[l] * unit);
}

static void put_group(const lacis_nbody *system, const nbody_targets *targets, int64_t begin, const group *g)
{
    const nbody_units *units = &system->units;
    put_sums(g->ax, targets->ax, units->force, targets, begin, g->count);
    put_sums(g->ay, targets->ay, units->force, targets, begin, g->count);
    put_sums(g->az, targets->az, units->force, targets, begin, g->count);
    put_sums(g->phi, targets->phi, units->potential, targets, begin, g->count);
}

static void add_tally(nbody_worker *worker, const nbody_tally *tally)
{
    worker->tally.p2p += tally->p2p;
    worker->tally.m2p += tally->m2p;
    worker->tally.expanded += tally->expanded;
    worker->tally.visits += tally->visits;
}

/* --- a group at a time; false: stopped
 * -------------------------------------------------------------------------------------- */

static bool walk(const lacis_nbody *system, nbody_worker *worker, const nbody_targets *targets, int64_t begin,
                 int64_t end)
{
    walk_room *room = worker->room;
    const walk_rule rule = {.own_eps = system->soft != NULL,
                            .potential = targets->phi != NULL,
                            .quadrupole = system->rule.order == LACIS_NBODY_QUADRUPOLE,
                            .relative = targets->relative,
                            .low = PLACE_BITS == 32};
    room->tally = (nbody_tally){0};
    fill_group(system, targets, begin, end, &room->group);
    measure_group(&room->group);
    bound_group(system, targets, &room->group);
    walk_group(system, room, &rule);
    put_group(system, targets, begin, &room->group);
    add_tally(worker, &room->tally);
    return !room->stopped;
}

/* By all pairs. False: stopped. */
enum { ASK_PAIRS = 1 << 17 };
static bool direct(const lacis_nbody *system, nbody_worker *worker, const nbody_targets *targets, int64_t begin,
                   int64_t end)
{
    group *g = &((walk_room *)worker->room)->group;
    fill_group(system, targets, begin, end, g);
    for (int64_t at = 0; at < system->n; at += ASK_PAIRS) {
        const int64_t next = system->n - at < ASK_PAIRS ? system->n : at + ASK_PAIRS;
        pairs_in_pieces(system, g, at, next, targets->phi != NULL);
        if (nbody_stopped(system)) return false;
    }
    put_group(system, targets, begin, g);
    worker->tally.p2p += system->n * g->count;
    return true;
}

extern const nbody_loops LACIS_ISA(NAME);
const nbody_loops LACIS_ISA(NAME) = {.bounds = bounds,
                                     .keys = keys,
                                     .bring = bring,
                                     .moments = moments,
                                     .walk_bytes = walk_bytes,
                                     .walk = walk,
                                     .direct = direct,
                                     .kick = kick,
                                     .drift = drift,
                                     .remember = remember,
                                     .figures = figures,
                                     .certify = certify};
