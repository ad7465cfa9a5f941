/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops over nodes, for vectors of WIDTH lanes, with coefficients that lanes share (BY_LANE 0) or have of their
 * own (1). Included by step.isa.c for each; names end in WIDTH and BY_LANE.
 *
 * Nodes come in chains whose nodes follow each other, so that what passes from node to node stays in a register.
 */
#if BY_LANE
#define COEFFICIENT(array, i) (((const V(vec) *)(array))[i])
#else
#define COEFFICIENT(array, i) ((array)[i])
#endif

static inline void L(inject)(const neuron_state *s)
{
    V(vec) *r = (V(vec) *)s->r;
    for (int64_t c = 0; c < s->currents; c++)
        r[s->current[c].node] += *(const V(vec) *)s->current[c].value;
}

/* From the tips to the root: what children add to their parents' right-hand sides. */
static inline void L(gather)(const neuron_state *s)
{
    V(vec) *r = (V(vec) *)s->r;
    for (int64_t k = s->chains - 1; k >= 0; k--) {
        int64_t first = s->chain[k], i = s->chain[k + 1] - 1;
        V(vec) sum = r[i];
        for (i--; i >= first; i--)
            r[i] = sum = r[i] + COEFFICIENT(s->by.down, i + 1) * sum;
        if (first > 0) r[s->parent[first]] += COEFFICIENT(s->by.down, first) * sum;
    }
}

/* From the root to the tips: voltages, and at once the right-hand sides of the next step. */
static inline void L(spread)(const neuron_state *s)
{
    V(vec) *r = (V(vec) *)s->r, *v = (V(vec) *)s->v;
    for (int64_t k = 0; k < s->chains; k++) {
        int64_t i = s->chain[k], end = s->chain[k + 1];
        V(vec) u = i == 0 ? V(all)(0) : v[s->parent[i]];
        for (; i < end; i++) {
            u = r[i] + COEFFICIENT(s->by.up, i) * u;
            v[i] = u;
            r[i] = COEFFICIENT(s->by.keep, i) * u + COEFFICIENT(s->by.give, i);
        }
    }
}

static inline void L(spread_half)(const neuron_state *s)
{
    V(vec) *r = (V(vec) *)s->r, *v = (V(vec) *)s->v, *half = (V(vec) *)s->u;
    for (int64_t k = 0; k < s->chains; k++) {
        int64_t i = s->chain[k], end = s->chain[k + 1];
        V(vec) u = i == 0 ? V(all)(0) : half[s->parent[i]];
        for (; i < end; i++) {
            u = r[i] + COEFFICIENT(s->by.up, i) * u;
            half[i] = u;
            v[i] = 2.0 * u - v[i];
            r[i] = COEFFICIENT(s->by.keep, i) * v[i] + COEFFICIENT(s->by.give, i);
        }
    }
}

static void L(passive_euler)(neuron_state *s, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        L(inject)(s);
        L(gather)(s);
        L(spread)(s);
    }
}

static void L(passive_half)(neuron_state *s, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        L(inject)(s);
        L(gather)(s);
        L(spread_half)(s);
    }
}

#if WIDTH > 1

/* Opening and closing rates of the three gates at v: as steady state and speed (1/ms at 6.3 C). */
typedef struct L(rates) {
    V(vec) m, m_speed, h, h_speed, n, n_speed;
} L(rates);

/* alpha = top / bottom, so that with beta only one division is needed:
 * speed = alpha + beta = s / bottom, steady state alpha / speed = top / s, s = top + beta bottom. */
static inline void L(gate)(V(vec) top, V(vec) bottom, V(vec) beta, V(vec) * steady, V(vec) * speed)
{
    V(vec) s = top + beta * bottom, inverse = 1.0 / (bottom * s);
    *steady = top * bottom * inverse;
    *speed = s * s * inverse;
}

/* alpha = x / (e^x - 1), given e^x. */
static inline void L(trap)(V(vec) x, V(vec) power, V(vec) * top, V(vec) * bottom)
{
    V(ints) small = (x < 1e-6) & (x > -1e-6);
    *top = V(choose)(small, 1.0 - x / 2.0, x);
    *bottom = V(choose)(small, V(all)(1), power - 1.0);
}

static inline L(rates) L(rates_at)(V(vec) v)
{
    L(rates) out;
    V(vec) top, bottom, e80 = V(exponential)((v + 65.0) * -0.0125); /* e^-((v + 65)/80) */
    V(vec) e40 = e80 * e80, e20 = e40 * e40, e10 = e20 * e20;
    L(trap)((v + 40.0) * -0.1, e10 * 12.182493960703473, &top, &bottom); /* e^2.5 */
    L(gate)(top, bottom, 4.0 * V(exponential)((v + 65.0) * (-1.0 / 18)), &out.m, &out.m_speed);
    bottom = e10 * 20.085536923187668 + 1.0; /* e^3; here beta is 1 / bottom */
    V(vec) alpha = 0.07 * e20 * bottom;
    top = alpha + 1.0;
    V(vec) inverse = 1.0 / (bottom * top);
    out.h = alpha * bottom * inverse;
    out.h_speed = top * top * inverse;
    L(trap)((v + 55.0) * -0.1, e10 * 2.718281828459045, &top, &bottom);
    L(gate)(0.1 * top, bottom, 0.125 * e80, &out.n, &out.n_speed);
    return out;
}

/* Row i of the matrix and its right-hand side from v and the gates. */
static inline void L(equation)(const neuron_state *s, int64_t i)
{
    V(vec) m = ((V(vec) *)s->m)[i], n = ((V(vec) *)s->n)[i], v = ((V(vec) *)s->v)[i];
    V(vec) gna = COEFFICIENT(s->by.gna, i) * (m * m * m * ((V(vec) *)s->h)[i]);
    V(vec) gk = COEFFICIENT(s->by.gk, i) * (n * n * n * n);
    ((V(vec) *)s->d)[i] = COEFFICIENT(s->by.keep, i) + gna + gk + COEFFICIENT(s->by.gl, i);
    ((V(vec) *)s->r)[i] = COEFFICIENT(s->by.keep, i) * v + gna * *(const V(vec) *)s->ena +
                          gk * *(const V(vec) *)s->ek + COEFFICIENT(s->by.gl_el, i);
}

static inline void L(no_membrane)(const neuron_state *s, int64_t i)
{
    ((V(vec) *)s->d)[i] = ((V(vec) *)s->r)[i] = V(all)(0);
}

static void L(gates_begin)(neuron_state *s)
{
    for (int64_t i = 0; i < s->nodes; i++) {
        L(rates) at = L(rates_at)(((V(vec) *)s->v)[i]);
        ((V(vec) *)s->m)[i] = at.m;
        ((V(vec) *)s->h)[i] = at.h;
        ((V(vec) *)s->n)[i] = at.n;
        if (s->area == NULL || s->area[i] > 0) {
            L(equation)(s, i);
        } else {
            L(no_membrane)(s, i);
        }
    }
}

static inline V(vec) L(relax)(V(vec) gate, V(vec) steady, V(vec) speed, double dt)
{
    return gate + (1.0 - V(exponential)(speed * -dt)) * (steady - gate);
}

/* Gates go on for dt at the new voltages; then the equations of the next step. */
static inline void L(gates_go_on)(const neuron_state *s)
{
    double dt = s->dt * s->rate;
    for (int64_t i = 0; i < s->nodes; i++) {
        if (s->area != NULL && !(s->area[i] > 0)) {
            L(no_membrane)(s, i);
            continue;
        }
        L(rates) at = L(rates_at)(((V(vec) *)s->v)[i]);
        ((V(vec) *)s->m)[i] = L(relax)(((V(vec) *)s->m)[i], at.m, at.m_speed, dt);
        ((V(vec) *)s->h)[i] = L(relax)(((V(vec) *)s->h)[i], at.h, at.h_speed, dt);
        ((V(vec) *)s->n)[i] = L(relax)(((V(vec) *)s->n)[i], at.n, at.n_speed, dt);
        L(equation)(s, i);
    }
}

#endif

/* Elimination: d holds excesses, then inverses of diagonals (see coefficients.c). */
static inline void L(eliminate)(const neuron_state *s)
{
    V(vec) *r = (V(vec) *)s->r, *d = (V(vec) *)s->d;
    for (int64_t k = s->chains - 1; k >= 0; k--) {
        int64_t first = s->chain[k], i = s->chain[k + 1] - 1;
        V(vec) excess = d[i], sum = r[i];
        for (; i > first; i--) {
            V(vec) inverse = 1.0 / (excess + COEFFICIENT(s->by.up, i));
            V(vec) weight = COEFFICIENT(s->by.down, i) * inverse;
            d[i] = inverse;
            excess = d[i - 1] + weight * excess;
            r[i - 1] = sum = r[i - 1] + weight * sum;
        }
        V(vec) inverse = 1.0 / (excess + COEFFICIENT(s->by.up, first));
        d[first] = inverse;
        if (first == 0) continue;
        V(vec) weight = COEFFICIENT(s->by.down, first) * inverse;
        d[s->parent[first]] += weight * excess;
        r[s->parent[first]] += weight * sum;
    }
}

static inline void L(substitute)(const neuron_state *s, bool half)
{
    V(vec) *r = (V(vec) *)s->r, *d = (V(vec) *)s->d, *v = (V(vec) *)s->v;
    V(vec) *to = (V(vec) *)(half ? s->u : s->v);
    for (int64_t k = 0; k < s->chains; k++) {
        int64_t i = s->chain[k], end = s->chain[k + 1];
        V(vec) u = i == 0 ? V(all)(0) : to[s->parent[i]];
        for (; i < end; i++) {
            u = (r[i] + COEFFICIENT(s->by.up, i) * u) * d[i];
            to[i] = u;
            if (half) v[i] = 2.0 * u - v[i];
        }
    }
}

/* Of a single lane nodes stand side by side as lanes do otherwise. */
static inline void L(go_on)(const neuron_state *s)
{
#if WIDTH == 1
    neuron_state flat = *s;
    lay_flat(&flat);
    FLAT(gates_go_on)(&flat);
#else
    L(gates_go_on)(s);
#endif
}

static void L(gates_first)(neuron_state *s)
{
#if WIDTH == 1
    neuron_state flat = *s;
    lay_flat(&flat);
    FLAT(gates_begin)(&flat);
#else
    L(gates_begin)(s);
#endif
}

static void L(channels_euler)(neuron_state *s, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        L(inject)(s);
        L(eliminate)(s);
        L(substitute)(s, false);
        L(go_on)(s);
    }
}

static void L(channels_half)(neuron_state *s, int64_t steps)
{
    for (int64_t step = 0; step < steps; step++) {
        L(inject)(s);
        L(eliminate)(s);
        L(substitute)(s, true);
        L(go_on)(s);
    }
}

#undef COEFFICIENT
