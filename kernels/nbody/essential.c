/* SPDX-License-Identifier: Apache-2.0
 *
 * Locally essential trees (Warren and Salmon 1993): what the field of some neighbouring bodies comes from, so that it
 * can be computed elsewhere. The rest of the tree is walked once for all of them; cells that the rule takes as wholes
 * from the nearest of them become bodies that have the same moments (essential_fill.c), so that nothing but bodies
 * need be sent. operators/nbody/ranks_field.c calls it.
 */
#include "nbody/essential.h"

#include <math.h>
#include <string.h>

enum { BOXES = 32, HEAP = 64 };

/* One part of the domain (the first: all of it), in units of ours. */
typedef struct part {
    double lo[3], hi[3];
    double weak; /* as of a group */
} part;

typedef struct pruning {
    lacis_nbody *system;
    lacis_nbody_essential *out;
    part part[BOXES + 1];
    int parts;
    bool relative;
    double near; /* factor of d^2 */
    bool no_memory;
} pruning;

/* --- the domain ------------------------------------------------------------------------------------------- */

/* RELATIVE's guard lets cells near by in whose errors add up where groups here and there differ: factors that were
 * measured to keep the error of one tree (tests/unit/test_nbody_essential.c). */
static double excess(const lacis_nbody *system)
{
    const bool quadrupole = system->rule.order == LACIS_NBODY_QUADRUPOLE;
    if (system->rule.opening == LACIS_NBODY_RELATIVE) return quadrupole ? 4 : 16;
    return quadrupole ? 14.0 / 9 : 1;
}

static part part_of(const pruning *p, int64_t begin, int64_t end)
{
    const lacis_nbody *system = p->system;
    const double power = system->rule.order == LACIS_NBODY_QUADRUPOLE ? 0.4 : 0.5;
    part out = {.weak = 0};
    double least = INFINITY;
    for (int d = 0; d < 3; d++) {
        out.lo[d] = INFINITY;
        out.hi[d] = -INFINITY;
        for (int64_t i = begin; i < end; i++) {
            const double at = number_at(system, system->column[NBODY_X + d], i) * system->units.length;
            out.lo[d] = fmin(out.lo[d], at);
            out.hi[d] = fmax(out.hi[d], at);
        }
    }
    if (!p->relative) return out;
    for (int64_t i = begin; i < end; i++)
        least = fmin(least, number_at(system, system->column[NBODY_OLD], i));
    out.weak = pow(system->rule.alpha * (least / fabs(system->units.force)) / excess(system), -power);
    return out;
}

static void cut_domain(pruning *p)
{
    const int64_t begin = p->out->begin, count = p->out->end - begin;
    const int boxes = count < BOXES ? (int)count : BOXES;
    p->part[0] = part_of(p, begin, p->out->end);
    p->parts = 1;
    for (int b = 0; b < boxes && boxes > 1; b++)
        p->part[p->parts++] = part_of(p, begin + count * b / boxes, begin + count * (b + 1) / boxes);
}

/* --- cells ------------------------------------------------------------------------------------------------ */

static double squared_distance(const part *box, const double at[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        const double off = fmax(fmax(box->lo[d] - at[d], at[d] - box->hi[d]), 0);
        sum += off * off;
    }
    return sum;
}

/* Where a place that is rounded to the type would be off by more than 2^-13 of the distance, bodies themselves,
 * whose places are not rounded, are sent. */
static double rounding_of(const lacis_nbody *system, const double at[3])
{
    const double unit = system->type == LACIS_NBODY_F32 ? 0x1p-11 : 0x1p-40;
    const double off = unit * fmax(fmax(fabs(at[0]), fabs(at[1])), fabs(at[2]));
    return off * off;
}

static bool far_from(const pruning *p, int64_t cell, int which)
{
    const nbody_tree *tree = &p->system->tree;
    const double *at = tree->moments[cell].at, d2 = squared_distance(&p->part[which], at);
    const double near = number_at(p->system, tree->field[NBODY_NEAR], cell);
    if (near < 0) return d2 >= 0; /* all at one place */
    if (!(d2 > near * p->near) || !(d2 > rounding_of(p->system, at))) return false;
    return !p->relative || d2 > number_at(p->system, tree->field[NBODY_WEAK], cell) * p->part[which].weak;
}

static bool taken(const pruning *p, int64_t cell)
{
    if (far_from(p, cell, 0)) return true;
    for (int b = 1; b < p->parts; b++)
        if (!far_from(p, cell, b)) return false;
    return p->parts > 1;
}

/* --- the list --------------------------------------------------------------------------------------------- */

static void grow(pruning *p)
{
    const lacis_nbody_host *host = &p->system->host;
    lacis_nbody_essential *out = p->out;
    const int64_t room = out->room < 256 ? 512 : 2 * out->room;
    struct lacis_nbody_pick *more = nbody_take(host, sizeof *more * (uint64_t)room);
    p->no_memory = more == NULL;
    if (more == NULL) return;
    if (out->picks > 0) memcpy(more, out->pick, sizeof *more * (size_t)out->picks);
    nbody_give(host, out->pick);
    out->pick = more;
    out->room = room;
}

static void add(pruning *p, pick_kind kind, int64_t first, int64_t many, int64_t parent)
{
    lacis_nbody_essential *out = p->out;
    struct lacis_nbody_pick *last = out->picks > 0 ? &out->pick[out->picks - 1] : NULL;
    if (many <= 0 || p->no_memory) return;
    out->n += many;
    if (kind == RANGE && last != NULL && last->kind == RANGE && last->first + last->many == first) {
        last->many += many;
        return;
    }
    if (out->picks == out->room) grow(p);
    if (!p->no_memory) out->pick[out->picks++] = (struct lacis_nbody_pick){first, many, parent, kind};
}

static void add_whole(pruning *p, int64_t cell, int64_t parent)
{
    const nbody_cell *range = &p->system->tree.cell[cell];
    const int64_t bodies = range->end - range->begin;
    const bool wide = p->system->tree.moments[cell].extent > 0;
    const bool four = wide && p->system->rule.order == LACIS_NBODY_QUADRUPOLE;
    const int64_t many = (four ? NBODY_CORNERS : 1) + wide;
    if (bodies <= many) {
        add(p, RANGE, range->begin, bodies, 0);
    } else {
        add(p, four ? FOUR : ONE, cell, many, parent);
    }
}

/* Bodies of a leaf that are not in the domain. Many at one place are one. */
static void add_leaf(pruning *p, int64_t leaf)
{
    const nbody_cell *range = &p->system->tree.cell[leaf];
    const int64_t begin = p->out->begin, end = p->out->end;
    const int64_t before = range->end < begin ? range->end : begin, after = range->begin > end ? range->begin : end;
    const int64_t others =
        (before > range->begin ? before - range->begin : 0) + (range->end > after ? range->end - after : 0);
    if (others > HEAP && p->system->tree.moments[leaf].extent == 0) {
        add(p, REST, leaf, 1, 0);
    } else {
        add(p, RANGE, range->begin, before - range->begin, 0);
        add(p, RANGE, after, range->end - after, 0);
    }
}

/* Depth first; a cell's children lie after it, so that the last level's are the deepest. */
static void prune(pruning *p, int64_t cell, int64_t parent)
{
    const nbody_tree *tree = &p->system->tree;
    const nbody_cell *range = &tree->cell[cell];
    const int64_t begin = p->out->begin, end = p->out->end;
    const bool apart = range->end <= begin || range->begin >= end;
    if (range->begin >= begin && range->end <= end) return;
    if (!(tree->moments[cell].m > 0) || p->no_memory) return;
    if (apart && taken(p, cell)) {
        add_whole(p, cell, parent);
        return;
    }
    if (range->many == 0) add_leaf(p, cell);
    for (int k = 0; k < range->many; k++)
        prune(p, range->first + k, cell);
}

lacis_nbody_status lacis_nbody_essential_new(lacis_nbody *system, int64_t begin, int64_t end,
                                             lacis_nbody_essential *out)
{
    const bool tree = system->rule.way != LACIS_NBODY_DIRECT;
    const double tight = cbrt(excess(system));
    *out = (lacis_nbody_essential){.begin = begin, .end = end, .n = end - begin, .system = system};
    lacis_nbody_status status = lacis_nbody_prepare(system);
    if (status != LACIS_NBODY_OK) return status;
    pruning p = {.system = system,
                 .out = out,
                 .relative = tree && system->rule.opening == LACIS_NBODY_RELATIVE && system->old,
                 .near = tight * tight};
    out->eps = system->column[NBODY_EPS] != NULL;
    out->old = p.relative;
    if (tree) {
        cut_domain(&p);
        if (system->n > 0) prune(&p, 0, 0);
    } else {
        add(&p, RANGE, 0, begin, 0);
        add(&p, RANGE, end, system->n - end, 0);
    }
    if (p.no_memory) lacis_nbody_essential_free(out);
    return p.no_memory ? LACIS_NBODY_NO_MEMORY : LACIS_NBODY_OK;
}

void lacis_nbody_essential_free(lacis_nbody_essential *essential)
{
    if (essential->system != NULL) nbody_give(&essential->system->host, essential->pick);
    *essential = (lacis_nbody_essential){.n = 0};
}
