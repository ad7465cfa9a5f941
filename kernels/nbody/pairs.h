/* SPDX-License-Identifier: Apache-2.0
 *
 * Forces of bodies on a group's, one by one: W targets beside each other, sources one after the other. For type.h.
 */

/* own: the range holds bodies of the group, and none acts on itself. */
INLINE void pairs_on(group *g, int lane, const body *source, const R *soft, const body_range *range, int ranges,
                     bool own, bool own_eps, bool potential)
{
    const vp x = load_places(g->x + lane), y = load_places(g->y + lane), z = load_places(g->z + lane);
    const vr e = load(g->e + lane), none = all(0);
    vr ax = none, ay = none, az = none, phi = none;
    for (int r = 0; r < ranges; r++)
        for (int64_t j = range[r].begin; j < range[r].end; j++) {
            const body *b = &source[j];
            const vr dx = apart(b->x, &x), dy = apart(b->y, &y), dz = apart(b->z, &z);
            const vr e2 = own_eps ? e + soft[j] : e;
            const vr w = inverse_root(fma_(dz, dz, fma_(dy, dy, fma_(dx, dx, e2))));
            vr m = all((R)b->m);
            if (own) m = without(m, j - g->begin, lane);
            const vr mw = m * w, f = mw * (w * w);
            ax = fma_(dx, f, ax);
            ay = fma_(dy, f, ay);
            az = fma_(dz, f, az);
            if (potential) phi += mw;
        }
    store(g->ax + lane, load(g->ax + lane) + ax);
    store(g->ay + lane, load(g->ay + lane) + ay);
    store(g->az + lane, load(g->az + lane) + az);
    if (potential) store(g->phi + lane, load(g->phi + lane) + phi);
}

/* Loops that know what they need not do. */
#define PAIRS(name, own, own_eps, potential)                                                                         \
    static __attribute__((noinline)) void name(group *g, const body *source, const R *soft, const body_range *range, \
                                               int ranges)                                                           \
    {                                                                                                                \
        for (int lane = 0; lane < g->count; lane += W)                                                               \
            pairs_on(g, lane, source, soft, range, ranges, own, own_eps, potential);                                 \
    }
PAIRS(pairs_000, false, false, false)
PAIRS(pairs_001, false, false, true)
PAIRS(pairs_010, false, true, false)
PAIRS(pairs_011, false, true, true)
PAIRS(pairs_100, true, false, false)
PAIRS(pairs_101, true, false, true)
PAIRS(pairs_110, true, true, false)
PAIRS(pairs_111, true, true, true)
#undef PAIRS

static void pairs(const lacis_nbody *system, group *g, const body_range *range, int ranges, bool own, bool potential)
{
    typedef void (*fn)(group *, const body *, const R *, const body_range *, int);
    static const fn by_kind[] = {pairs_000, pairs_001, pairs_010, pairs_011,
                                 pairs_100, pairs_101, pairs_110, pairs_111};
    by_kind[(own ? 4 : 0) | (system->soft != NULL ? 2 : 0) | (potential ? 1 : 0)](g, system->body, system->soft,
                                                                                  range, ranges);
}

/* Those of [begin, end), in pieces, so that the errors of long sums do not grow with their length; the group's own
 * among them apart. */
enum { PAIRS_PIECE = 1024 };
static void pairs_in_pieces(const lacis_nbody *system, group *g, int64_t begin, int64_t end, bool potential)
{
    while (begin < end) {
        body_range range = {begin, end - begin > PAIRS_PIECE ? begin + PAIRS_PIECE : end};
        const bool own = begin >= g->begin && begin < g->end;
        if (begin < g->begin && range.end > g->begin) range.end = g->begin;
        if (own && range.end > g->end) range.end = g->end;
        pairs(system, g, &range, 1, own, potential);
        begin = range.end;
    }
}
