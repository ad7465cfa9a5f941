/* SPDX-License-Identifier: Apache-2.0
 *
 * Forces of cells on a group's bodies, at each body: W targets beside each other, cells one after the other. With
 * D = cell - body, u = 1 / (D^2 + e), Q the second moments, q = u Q D:
 *   a = u^(3/2) [D (M + 15/2 u D.q - 3/2 u tr Q) - 3 q],   phi = u^(1/2) [M + 3/2 u D.q - 1/2 u tr Q].
 * For type.h.
 */

INLINE void cells_on(group *g, int lane, const near_list *list, bool quadrupole, bool own_eps, bool low,
                     bool potential)
{
    const vp x = load_places(g->x + lane), y = load_places(g->y + lane), z = load_places(g->z + lane);
    const vr e = load(g->e + lane);
    vr ax = load(g->ax + lane), ay = load(g->ay + lane), az = load(g->az + lane), phi = load(g->phi + lane);
    for (int k = 0; k < list->count; k++) {
        vr dx = apart(list->x[k], &x), dy = apart(list->y[k], &y), dz = apart(list->z[k], &z);
        if (low) {
            dx += list->low[0][k];
            dy += list->low[1][k];
            dz += list->low[2][k];
        }
        const vr e2 = own_eps ? e + list->e[k] : e;
        const vr w = inverse_root(fma_(dz, dz, fma_(dy, dy, fma_(dx, dx, e2)))), u = w * w, w3 = w * u;
        const vr m = all(list->m[k]);
        if (!quadrupole) {
            const vr f = m * w3;
            ax = fma_(dx, f, ax);
            ay = fma_(dy, f, ay);
            az = fma_(dz, f, az);
            if (potential) phi = fma_(m, w, phi);
            continue;
        }
        const vr xx = all(list->q[0][k]), yy = all(list->q[1][k]), zz = all(list->q[2][k]);
        const vr xy = all(list->q[3][k]), xz = all(list->q[4][k]), yz = all(list->q[5][k]);
        const vr qx = u * fma_(xz, dz, fma_(xy, dy, xx * dx)), qy = u * fma_(yz, dz, fma_(yy, dy, xy * dx)),
                 qz = u * fma_(zz, dz, fma_(yz, dy, xz * dx));
        const vr in = u * fma_(dz, qz, fma_(dy, qy, dx * qx)), trace = u * (xx + yy + zz);
        const vr f = w3 * fma_(in, all((R)7.5), fnma(trace, all((R)1.5), m)), h = w3 * (R)3;
        ax = fnma(h, qx, fma_(dx, f, ax));
        ay = fnma(h, qy, fma_(dy, f, ay));
        az = fnma(h, qz, fma_(dz, f, az));
        if (potential) phi = fma_(w, fma_(in, all((R)1.5), fnma(trace, all((R)0.5), m)), phi);
    }
    store(g->ax + lane, ax);
    store(g->ay + lane, ay);
    store(g->az + lane, az);
    store(g->phi + lane, phi);
}

#define CELLS_ON(name, quadrupole, own_eps, low, potential)                                                          \
    static __attribute__((noinline)) void name(group *g, const near_list *list)                                      \
    {                                                                                                                \
        for (int lane = 0; lane < g->count; lane += W)                                                               \
            cells_on(g, lane, list, quadrupole, own_eps, low, potential);                                            \
    }
CELLS_ON(cells_0000, false, false, false, false)
CELLS_ON(cells_0001, false, false, false, true)
CELLS_ON(cells_0100, false, true, false, false)
CELLS_ON(cells_0101, false, true, false, true)
CELLS_ON(cells_1000, true, false, false, false)
CELLS_ON(cells_1001, true, false, false, true)
CELLS_ON(cells_1100, true, true, false, false)
CELLS_ON(cells_1101, true, true, false, true)
#if PLACE_BITS == 32
CELLS_ON(cells_0010, false, false, true, false)
CELLS_ON(cells_0011, false, false, true, true)
CELLS_ON(cells_0110, false, true, true, false)
CELLS_ON(cells_0111, false, true, true, true)
CELLS_ON(cells_1010, true, false, true, false)
CELLS_ON(cells_1011, true, false, true, true)
CELLS_ON(cells_1110, true, true, true, false)
CELLS_ON(cells_1111, true, true, true, true)
#else
#define cells_0010 NULL
#define cells_0011 NULL
#define cells_0110 NULL
#define cells_0111 NULL
#define cells_1010 NULL
#define cells_1011 NULL
#define cells_1110 NULL
#define cells_1111 NULL
#endif
#undef CELLS_ON

static void take_near(walk_room *room, const walk_rule *rule)
{
    typedef void (*fn)(group *, const near_list *);
    static const fn by_kind[] = {cells_0000, cells_0001, cells_0010, cells_0011, cells_0100, cells_0101,
                                 cells_0110, cells_0111, cells_1000, cells_1001, cells_1010, cells_1011,
                                 cells_1100, cells_1101, cells_1110, cells_1111};
    by_kind[(rule->quadrupole ? 8 : 0) | (rule->own_eps ? 4 : 0) | (rule->low ? 2 : 0) | (rule->potential ? 1 : 0)](
        &room->group, &room->near);
    room->near.count = 0;
}
