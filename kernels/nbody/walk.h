/* SPDX-License-Identifier: Apache-2.0
 *
 * One walk for a group: children of opened cells are looked at eight at a time; those that may be taken go to a list,
 * bodies of leaves that may not to another, and full lists are worked off. For type.h.
 */

/* RELATIVE: d^2 > (M s^moment / (alpha a))^power, a in units of ours with G = 1. */
typedef struct relative_test {
    double power, moment;
} relative_test;
INLINE relative_test relative_test_of(lacis_nbody_order order)
{
    return order == LACIS_NBODY_QUADRUPOLE ? (relative_test){0.4, 3} : (relative_test){0.5, 2};
}

/* --- the group ------------------------------------------------------------------------------------------ */

INLINE P place_at(const void *column, int64_t i)
{
    return ((const P *)column)[i];
}

static void fill_group(const lacis_nbody *system, const nbody_targets *targets, int64_t begin, int64_t end, group *g)
{
    const bool points = targets->x != NULL;
    const body *all_bodies = system->body;
    const R *soft = system->soft;
    g->count = (int)(end - begin);
    g->begin = points ? 0 : begin;
    g->end = points ? 0 : end;
    for (int l = 0; l < MOST; l++) {
        const int64_t i = begin + (l < g->count ? l : g->count - 1);
        if (points) {
            const int64_t k = targets->order[i].index;
            g->x[l] = (P)((double)place_at(targets->x, k) * system->units.length);
            g->y[l] = (P)((double)place_at(targets->y, k) * system->units.length);
            g->z[l] = (P)((double)place_at(targets->z, k) * system->units.length);
        } else {
            g->x[l] = all_bodies[i].x;
            g->y[l] = all_bodies[i].y;
            g->z[l] = all_bodies[i].z;
        }
        g->e[l] = soft == NULL ? (R)system->units.common : points ? 0 : soft[i];
        g->ax[l] = g->ay[l] = g->az[l] = g->phi[l] = 0;
        if (l >= (g->count + W - 1) / W * W) break;
    }
}

static void axis_of(const P *at, int count, P *centre, P *wide)
{
    P lo = at[0], hi = at[0];
    for (int l = 1; l < count; l++) {
        lo = at[l] < lo ? at[l] : lo;
        hi = at[l] > hi ? at[l] : hi;
    }
    *centre = lo * (P)0.5 + hi * (P)0.5;
    const P below = *centre - lo, above = hi - *centre;
    *wide = below > above ? below : above;
}

static void measure_group(group *g)
{
    axis_of(g->x, g->count, &g->centre[0], &g->wide[0]);
    axis_of(g->y, g->count, &g->centre[1], &g->wide[1]);
    axis_of(g->z, g->count, &g->centre[2], &g->wide[2]);
    P most = 0;
    R least_e = g->e[0], most_e = g->e[0];
    for (int l = 0; l < g->count; l++) {
        const P x = g->x[l] - g->centre[0], y = g->y[l] - g->centre[1], z = g->z[l] - g->centre[2];
        const P square = x * x + y * y + z * z;
        most = square > most ? square : most;
        least_e = g->e[l] < least_e ? g->e[l] : least_e;
        most_e = g->e[l] > most_e ? g->e[l] : most_e;
    }
    g->radius = (P)sqrt((double)most);
    g->mean_e = least_e + (most_e - least_e) * (R)0.5;
    g->spread = most_e - least_e;
}

/* What the group's cells have to keep to: expansions need r / d < expand, differences of softening that matter as
 * little, and of RELATIVE a field that is strong enough. */
static void bound_group(const lacis_nbody *system, const nbody_targets *targets, group *g)
{
    const relative_test test = relative_test_of(system->rule.order);
    const double radius = (double)g->radius, expand = system->rule.expand;
    const double reach = expand > 0 ? radius / expand : INFINITY;
    const double spread = expand > 0 ? (double)g->spread / (expand * expand * expand) : 0;
    g->reach = (P)(reach * reach + spread);
    g->weak = g->heavy = 0;
    if (!targets->relative) return;
    double least = INFINITY;
    for (int64_t i = g->begin; i < g->end; i++)
        least = fmin(least, (double)place_at(system->column[NBODY_OLD], i));
    const double a = system->rule.alpha * (least / fabs(system->units.force));
    g->weak = (P)pow(a, -test.power);
    g->heavy = (P)(expand > 0 ? pow(pow(reach, test.moment) / a, test.power) : 0);
}

/* --- the lists ------------------------------------------------------------------------------------------ */

INLINE const P *places(const lacis_nbody *system, nbody_field_name field)
{
    return system->tree.field[field];
}
INLINE const R *values(const lacis_nbody *system, nbody_field_name field)
{
    return system->tree.field[field];
}

INLINE void add_values(const lacis_nbody *system, const walk_rule *rule, R *m, R (*q)[CELLS + EIGHT], R *e,
                       int64_t cell, unsigned bits, int at)
{
    append_forces(m + at, values(system, NBODY_MASS) + cell, bits);
    if (rule->quadrupole)
        for (int i = 0; i < 6; i++)
            append_forces(q[i] + at, values(system, (nbody_field_name)(NBODY_QXX + i)) + cell, bits);
    if (rule->own_eps) append_forces(e + at, values(system, NBODY_MEAN) + cell, bits);
}

INLINE void add_near(const lacis_nbody *system, walk_room *room, const walk_rule *rule, int64_t cell, unsigned bits)
{
    near_list *list = &room->near;
    append_places(list->x + list->count, load8(places(system, NBODY_CX) + cell), bits);
    append_places(list->y + list->count, load8(places(system, NBODY_CY) + cell), bits);
    append_places(list->z + list->count, load8(places(system, NBODY_CZ) + cell), bits);
    if (rule->low)
        for (int d = 0; d < 3; d++)
            append_forces(list->low[d] + list->count, values(system, (nbody_field_name)(NBODY_LX + d)) + cell, bits);
    add_values(system, rule, list->m, list->q, list->e, cell, bits, list->count);
    list->count += __builtin_popcount(bits);
    if (list->count >= CELLS) {
        room->tally.m2p += (int64_t)list->count * room->group.count;
        take_near(room, rule);
    }
}

INLINE void add_far(const lacis_nbody *system, walk_room *room, const walk_rule *rule, int64_t cell, unsigned bits,
                    v8 dx, v8 dy, v8 dz)
{
    far_list *list = &room->far;
    const v8 from[] = {dx, dy, dz};
    R *const to[] = {list->x, list->y, list->z};
    for (int d = 0; d < 3; d++) {
        r8 v = __builtin_convertvector(from[d], r8);
        if (rule->low) v += *(const r8_loose *)(values(system, (nbody_field_name)(NBODY_LX + d)) + cell);
        R lanes[EIGHT];
        memcpy(lanes, &v, sizeof lanes);
        append_forces(to[d] + list->count, lanes, bits);
    }
    add_values(system, rule, list->m, list->q, list->e, cell, bits, list->count);
    list->count += __builtin_popcount(bits);
    room->tally.expanded += __builtin_popcount(bits);
    if (list->count >= CELLS) take_far(room, rule, false);
}

static void take_pairs(const lacis_nbody *system, walk_room *room, const walk_rule *rule)
{
    if (room->ranges > 0) pairs(system, &room->group, room->range, room->ranges, false, rule->potential);
    room->ranges = 0;
    room->pairs = 0;
}

static void add_range(const lacis_nbody *system, walk_room *room, const walk_rule *rule, int64_t begin, int64_t end)
{
    if (begin >= end) return;
    room->tally.p2p += (end - begin) * room->group.count;
    if (room->ranges > 0 && room->range[room->ranges - 1].end == begin) {
        room->range[room->ranges - 1].end = end;
    } else {
        room->range[room->ranges++] = (body_range){begin, end};
    }
    room->pairs += end - begin;
    room->since += end - begin;
    if (room->since >= ASK_WALK) {
        room->since = 0;
        room->stopped = room->stopped || nbody_stopped(system);
    }
    if (room->ranges == RANGES || room->pairs >= PAIRS_PIECE) take_pairs(system, room, rule);
}

/* A leaf, of which the group's own bodies go apart: none acts on itself. */
static void add_leaf(const lacis_nbody *system, walk_room *room, const walk_rule *rule, const nbody_cell *leaf)
{
    group *g = &room->group;
    const int64_t begin = leaf->begin > g->begin ? leaf->begin : g->begin,
                  end = leaf->end < g->end ? leaf->end : g->end;
    if (begin >= end) {
        add_range(system, room, rule, leaf->begin, leaf->end);
        return;
    }
    const body_range own = {begin, end};
    room->tally.p2p += (end - begin) * g->count;
    pairs(system, g, &own, 1, true, rule->potential);
    add_range(system, room, rule, leaf->begin, begin);
    add_range(system, room, rule, end, leaf->end);
}

/* --- cells that hold bodies of the group ------------------------------------------------------------------ */

/* Many bodies at one place, some of the group among them: taken as one body, less what a body is itself. */
static void take_heap(const lacis_nbody *system, walk_room *room, const walk_rule *rule, int64_t cell)
{
    group *g = &room->group;
    const nbody_moments *heap = &system->tree.moments[cell];
    const nbody_cell *range = &system->tree.cell[cell];
    const body *source = system->body;
    const bool own_eps = system->soft != NULL;
    room->tally.m2p += g->count;
    for (int l = 0; l < g->count; l++) {
        const int64_t i = g->begin + l;
        const bool inside = i >= range->begin && i < range->end;
        const double m = heap->m - (inside ? (double)source[i].m : 0);
        const double x = heap->at[0] - (double)g->x[l], y = heap->at[1] - (double)g->y[l],
                     z = heap->at[2] - (double)g->z[l];
        const double square = x * x + y * y + z * z + (double)g->e[l] + (own_eps ? heap->e : 0);
        const double w = square > 0 ? 1 / sqrt(square) : 0, f = m * w * w * w;
        g->ax[l] += (R)(x * f);
        g->ay[l] += (R)(y * f);
        g->az[l] += (R)(z * f);
        if (rule->potential) g->phi[l] += (R)(m * w);
    }
}

/* Of the cells that may be taken but reach as far as the group: those that hold none of its bodies. Heaps that do are
 * taken here and leave `lanes`. */
static unsigned not_own(const lacis_nbody *system, walk_room *room, const walk_rule *rule, int64_t first,
                        unsigned take, unsigned doubtful, unsigned *lanes)
{
    const group *g = &room->group;
    for (; doubtful != 0; doubtful &= doubtful - 1) {
        const int lane = __builtin_ctz(doubtful);
        const nbody_cell *cell = &system->tree.cell[first + lane];
        if (cell->end <= g->begin || cell->begin >= g->end) continue;
        take &= ~(1u << lane);
        if (cell->many > 0 || cell->end - cell->begin <= MOST || system->tree.moments[first + lane].extent > 0)
            continue;
        take_heap(system, room, rule, first + lane);
        *lanes &= ~(1u << lane);
    }
    return take;
}

/* --- the walk ------------------------------------------------------------------------------------------- */

INLINE int64_t look(const lacis_nbody *system, walk_room *room, const walk_rule *rule, visit at, int64_t depth)
{
    const group *g = &room->group;
    const int64_t first = at.first;
    const v8 none = {0};
    const v8 dx = load8(places(system, NBODY_CX) + first) - g->centre[0],
             dy = load8(places(system, NBODY_CY) + first) - g->centre[1],
             dz = load8(places(system, NBODY_CZ) + first) - g->centre[2];
    const v8 x = greatest8(greatest8(dx, -dx) - g->wide[0], none),
             y = greatest8(greatest8(dy, -dy) - g->wide[1], none),
             z = greatest8(greatest8(dz, -dz) - g->wide[2], none);
    const v8 d2 = x * x + y * y + z * z, centres2 = dx * dx + dy * dy + dz * dz;
    unsigned lanes = (1u << at.many) - 1;
    lanes &= greater8(load8(places(system, NBODY_HEAVY) + first), none);
    unsigned take = lanes & greater8(d2, load8(places(system, NBODY_NEAR) + first));
    if (rule->relative) take &= greater8(d2, load8(places(system, NBODY_WEAK) + first) * g->weak);
    const unsigned doubtful = take & ~greater8(d2, load8(places(system, NBODY_REACH) + first));
    if (doubtful != 0) take = not_own(system, room, rule, first, take, doubtful, &lanes);
    unsigned far = take & greater8(centres2, none + g->reach);
    if (rule->relative && far != 0) far &= greater8(centres2, load8(places(system, NBODY_HEAVY) + first) * g->heavy);
    if (far != 0) add_far(system, room, rule, first, far, dx, dy, dz);
    if ((take & ~far) != 0) add_near(system, room, rule, first, take & ~far);
    for (unsigned open = lanes & ~take; open != 0; open &= open - 1) {
        const nbody_cell *cell = &system->tree.cell[first + __builtin_ctz(open)];
        if (cell->many == 0) {
            add_leaf(system, room, rule, cell);
        } else {
            room->stack[depth++] = (visit){cell->first, cell->many};
        }
    }
    return depth;
}

static void walk_group(const lacis_nbody *system, walk_room *room, const walk_rule *rule)
{
    room->near.count = room->far.count = room->ranges = 0;
    room->pairs = 0;
    room->since = 0;
    room->stopped = false;
    memset(&room->expansion, 0, sizeof room->expansion);
    int64_t depth = 0;
    if (system->tree.cells > 0) room->stack[depth++] = (visit){0, 1};
    while (depth > 0 && !room->stopped) {
        const visit at = room->stack[--depth];
        room->tally.visits += at.many;
        depth = look(system, room, rule, at, depth);
    }
    room->tally.m2p += (int64_t)room->near.count * room->group.count;
    take_near(room, rule);
    take_far(room, rule, true);
    take_pairs(system, room, rule);
    evaluate_expansion(room, rule->potential);
}
