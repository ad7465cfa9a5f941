/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells far from a group are expanded about its centre, W cells beside each other, and the sum of the expansions is
 * evaluated at each body. With D = cell - centre, w = (D^2 + e)^(-1/2), n = w D, q = w^2 Q n, i = n.q, t = w^2 tr Q:
 *   a   = w^2 [n (M + 15/2 i - 3/2 t) - 3 q]
 *   a'  = w^3 [3 w^2 Q - 15 (q n' + n q') + (3 M + 105/2 i - 15/2 t) n n' - (M + 15/2 i - 3/2 t) 1]
 *   a'' = w^4 M [15 n n n - 3 (1 n, in its three orders)]          (of the mass alone)
 *   phi = w [M + 3/2 i - 1/2 t]
 * Places are measured in radii of the group, so that a' and a'' come times the radius and its square: w times the
 * radius is small, and nothing overflows however near and small the group is. For type.h.
 */

enum { A = 0, J = 3, H = 9, PHI = 19 }; /* J: xx yy zz xy xz yz; H: xxx yyy zzz xxy xxz xyy yyz xzz yzz xyz */

INLINE void expand_mass(vr *sum, vr nx, vr ny, vr nz, vr w4)
{
    const vr five = all(5), one = all(1), three = all(3);
    const vr xx = five * nx * nx, yy = five * ny * ny, zz = five * nz * nz;
    const vr h = w4 * (R)3, hx = h * nx, hy = h * ny, hz = h * nz;
    sum[H + 0] = fma_(hx, xx - three, sum[H + 0]);
    sum[H + 1] = fma_(hy, yy - three, sum[H + 1]);
    sum[H + 2] = fma_(hz, zz - three, sum[H + 2]);
    sum[H + 3] = fma_(hy, xx - one, sum[H + 3]);
    sum[H + 4] = fma_(hz, xx - one, sum[H + 4]);
    sum[H + 5] = fma_(hx, yy - one, sum[H + 5]);
    sum[H + 6] = fma_(hz, yy - one, sum[H + 6]);
    sum[H + 7] = fma_(hx, zz - one, sum[H + 7]);
    sum[H + 8] = fma_(hy, zz - one, sum[H + 8]);
    sum[H + 9] = fma_(hx * five, ny * nz, sum[H + 9]);
}

INLINE void expand_on(expansion *to, const far_list *list, int begin, int end, vr common, vr radius, bool quadrupole,
                      bool own_eps)
{
    vr sum[EXPANSION];
    for (int i = 0; i < EXPANSION; i++)
        sum[i] = to->sum[i];
    for (int k = begin; k < end; k += W) {
        const vr dx = load(list->x + k), dy = load(list->y + k), dz = load(list->z + k), m = load(list->m + k);
        const vr e = own_eps ? common + load(list->e + k) : common;
        const vr w = inverse_root(fma_(dz, dz, fma_(dy, dy, fma_(dx, dx, e)))), u = w * w, wr = w * radius;
        const vr nx = w * dx, ny = w * dy, nz = w * dz, u1 = u * wr;
        vr at = m, along = m * (R)3, phi = m;
        if (quadrupole) {
            const vr xx = u * load(list->q[0] + k), yy = u * load(list->q[1] + k), zz = u * load(list->q[2] + k);
            const vr xy = u * load(list->q[3] + k), xz = u * load(list->q[4] + k), yz = u * load(list->q[5] + k);
            const vr qx = fma_(xz, nz, fma_(xy, ny, xx * nx)), qy = fma_(yz, nz, fma_(yy, ny, xy * nx)),
                     qz = fma_(zz, nz, fma_(yz, ny, xz * nx));
            const vr in = fma_(nz, qz, fma_(ny, qy, nx * qx)), t = xx + yy + zz;
            at = fma_(in, all((R)7.5), fnma(t, all((R)1.5), m));
            along = fma_(in, all((R)52.5), fnma(t, all((R)7.5), along));
            phi = fma_(in, all((R)1.5), fnma(t, all((R)0.5), m));
            const vr f = u1 * (R)3, g = u1 * (R)15, u3 = u * (R)3;
            const vr gx = g * qx, gy = g * qy, gz = g * qz;
            sum[A + 0] = fnma(u3, qx, sum[A + 0]);
            sum[A + 1] = fnma(u3, qy, sum[A + 1]);
            sum[A + 2] = fnma(u3, qz, sum[A + 2]);
            sum[J + 0] = fnma(gx + gx, nx, fma_(f, xx, sum[J + 0]));
            sum[J + 1] = fnma(gy + gy, ny, fma_(f, yy, sum[J + 1]));
            sum[J + 2] = fnma(gz + gz, nz, fma_(f, zz, sum[J + 2]));
            sum[J + 3] = fnma(gy, nx, fnma(gx, ny, fma_(f, xy, sum[J + 3])));
            sum[J + 4] = fnma(gz, nx, fnma(gx, nz, fma_(f, xz, sum[J + 4])));
            sum[J + 5] = fnma(gz, ny, fnma(gy, nz, fma_(f, yz, sum[J + 5])));
        }
        const vr a = u * at, b = u1 * along, c = u1 * at;
        const vr bx = b * nx, by = b * ny, bz = b * nz;
        sum[A + 0] = fma_(a, nx, sum[A + 0]);
        sum[A + 1] = fma_(a, ny, sum[A + 1]);
        sum[A + 2] = fma_(a, nz, sum[A + 2]);
        sum[J + 0] = fma_(bx, nx, sum[J + 0]) - c;
        sum[J + 1] = fma_(by, ny, sum[J + 1]) - c;
        sum[J + 2] = fma_(bz, nz, sum[J + 2]) - c;
        sum[J + 3] = fma_(bx, ny, sum[J + 3]);
        sum[J + 4] = fma_(bx, nz, sum[J + 4]);
        sum[J + 5] = fma_(by, nz, sum[J + 5]);
        expand_mass(sum, nx, ny, nz, m * u1 * wr);
        sum[PHI] = fma_(w, phi, sum[PHI]);
    }
    for (int i = 0; i < EXPANSION; i++)
        to->sum[i] = sum[i];
}

#define EXPAND_ON(name, quadrupole, own_eps)                                                                         \
    static __attribute__((noinline)) void name(expansion *to, const far_list *list, int end, R common, R radius)     \
    {                                                                                                                \
        expand_on(to, list, 0, end, all(common), all(radius), quadrupole, own_eps);                                  \
    }
EXPAND_ON(expand_00, false, false)
EXPAND_ON(expand_01, false, true)
EXPAND_ON(expand_10, true, false)
EXPAND_ON(expand_11, true, true)
#undef EXPAND_ON

/* The list's cells but for those that do not fill a vector, which stay; `last`: these, too, beside massless ones. */
static void take_far(walk_room *room, const walk_rule *rule, bool last)
{
    typedef void (*fn)(expansion *, const far_list *, int, R, R);
    static const fn by_kind[] = {expand_00, expand_01, expand_10, expand_11};
    far_list *list = &room->far;
    R *const field[] = {list->x,    list->y,    list->z,    list->m,    list->q[0], list->q[1],
                        list->q[2], list->q[3], list->q[4], list->q[5], list->e};
    enum { LISTED = sizeof field / sizeof field[0] };
    if (last)
        for (; list->count % W != 0; list->count++)
            for (int i = 0; i < LISTED; i++)
                field[i][list->count] = i == 0 ? 1 : 0;
    const int end = list->count / W * W, rest = list->count - end;
    if (end > 0) {
        by_kind[(rule->quadrupole ? 2 : 0) | (rule->own_eps ? 1 : 0)](&room->expansion, list, end, room->group.mean_e,
                                                                      (R)room->group.radius);
        room->expansion.any = true;
    }
    for (int i = 0; i < LISTED; i++)
        for (int k = 0; k < rest; k++)
            field[i][k] = field[i][end + k];
    list->count = rest;
}

/* --- at the bodies ---------------------------------------------------------------------------------------- */

INLINE vr dot3(vr ax, vr ay, vr az, vr bx, vr by, vr bz)
{
    return fma_(az, bz, fma_(ay, by, ax * bx));
}

static void evaluate_expansion(walk_room *room, bool potential)
{
    group *g = &room->group;
    if (!room->expansion.any) return;
    R s[EXPANSION];
    for (int i = 0; i < EXPANSION; i++) {
        s[i] = 0;
        for (int l = 0; l < W; l++)
            s[i] += room->expansion.sum[i][l];
    }
    const R scale = g->radius > 0 ? (R)(1 / g->radius) : 0, radius = (R)g->radius;
    for (int lane = 0; lane < g->count; lane += W) {
        const vp px = load_places(g->x + lane), py = load_places(g->y + lane), pz = load_places(g->z + lane);
        const vr x = apart(g->centre[0], &px) * -scale, y = apart(g->centre[1], &py) * -scale,
                 z = apart(g->centre[2], &pz) * -scale;
        const vr xx = x * x, yy = y * y, zz = z * z, xy = x * y, xz = x * z, yz = y * z;
        const vr jx = s[J] * x + s[J + 3] * y + s[J + 4] * z, jy = s[J + 3] * x + s[J + 1] * y + s[J + 5] * z,
                 jz = s[J + 4] * x + s[J + 5] * y + s[J + 2] * z;
        /* half of x'' H x'' */
        const R *h = s + H;
        const vr hx = (h[0] * xx + h[5] * yy + h[7] * zz) * (R)0.5 + h[3] * xy + h[4] * xz + h[9] * yz;
        const vr hy = (h[3] * xx + h[1] * yy + h[8] * zz) * (R)0.5 + h[5] * xy + h[9] * xz + h[6] * yz;
        const vr hz = (h[4] * xx + h[6] * yy + h[2] * zz) * (R)0.5 + h[9] * xy + h[7] * xz + h[8] * yz;
        store(g->ax + lane, load(g->ax + lane) + (s[A] + jx + hx));
        store(g->ay + lane, load(g->ay + lane) + (s[A + 1] + jy + hy));
        store(g->az + lane, load(g->az + lane) + (s[A + 2] + jz + hz));
        if (!potential) continue;
        const vr slope = s[A] * x + s[A + 1] * y + s[A + 2] * z, bend = dot3(x, y, z, jx, jy, jz) * (R)0.5,
                 turn = dot3(x, y, z, hx, hy, hz) / (R)3;
        store(g->phi + lane, load(g->phi + lane) + (s[PHI] + radius * (slope + bend + turn)));
    }
}
