/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of complex doubles: rows of a tile are two planes, real parts and imaginary parts. Called from run.c through
 * the table of each instruction set.
 */
#include "solve/types.h"

typedef double plane __attribute__((vector_size(64)));
typedef int64_t bits __attribute__((vector_size(64)));
typedef double there __attribute__((vector_size(64), aligned(8), may_alias));
typedef struct number {
    plane re, im;
} number;

enum { SIDE = 8, PLANES = 2 };
#define LOAD(p)     ((plane)(*(const there *)(p)))
#define STORE(p, v) (*(there *)(p) = (v))
#define INLINE      static inline __attribute__((always_inline))

/* --- bringing rows into planes ---------------------------------------------------------------------- */

/* A lane's first row; *step: numbers from row to row. */
static double *lane_of(const solve_view *view, int lane, int64_t *step)
{
    double *at = (double *)(void *)view->at;
    *step = view->step;
    if (view->mode == SOLVE_PAIRS) return at + PLANES * lane;
    if (view->mode == SOLVE_SPLAT) return at;
    *step = view->mode == SOLVE_TURN ? 1 : view->lane_step[lane];
    return (double *)(void *)view->lane[lane];
}

static void fill_lane(double *to, int width, int64_t from, int64_t count, double value)
{
    for (int64_t r = from; r < count; r++) {
        to[PLANES * r * width] = value;
        to[(PLANES * r + 1) * width] = 0;
    }
}

/* Lanes side by side: a row is split into its planes. */
static void split(const solve_view *view, int width, int64_t row, int64_t count, double *to)
{
    const int64_t ahead = 32 * PLANES * view->step;
    for (int64_t r = 0; r < count; r++, to += PLANES * width) {
        const double *from = (const double *)(const void *)view->at + PLANES * (row + r) * view->step;
        for (int l = 0; l < width; l++) {
            to[l] = from[PLANES * l];
            to[width + l] = from[PLANES * l + 1];
        }
        for (int l = 0; l < width; l += 4)
            __builtin_prefetch(from + PLANES * l + ahead, 0, 2);
    }
}

static void stage(const solve_tile *tile, solve_role role, int width, int64_t row, int64_t count, double *to)
{
    const solve_view *view = &tile->in[role];
    const double outside = role == SOLVE_DIAGONAL;
    const bool first = role == SOLVE_LOWER && row == 0;
    if (view->mode == SOLVE_PAIRS) split(view, width, row, count, to);
    for (int l = 0; l < width; l++) {
        int64_t step, own = l < tile->lanes ? tile->lane_rows[l] - row : 0, inside = own < count ? own : count;
        if (view->mode != SOLVE_PAIRS && inside > 0) {
            const double *from = lane_of(view, l, &step) + PLANES * row * step;
            for (int64_t r = 0; view->mode == SOLVE_TURN && r < SOLVE_CHUNK; r += 4)
                __builtin_prefetch(from + PLANES * (r + 2 * SOLVE_CHUNK), 0, 2);
            for (int64_t r = 0; r < inside; r++, from += PLANES * step) {
                to[PLANES * r * width + l] = from[0];
                to[(PLANES * r + 1) * width + l] = from[1];
            }
        }
        fill_lane(to + l, width, inside < 0 ? 0 : inside, count, outside);
        if (first) fill_lane(to + l, width, 0, 1, 0);
        if (role == SOLVE_UPPER && own >= 1 && own <= count) fill_lane(to + l, width, own - 1, own, 0);
    }
}

static void unstage(const solve_tile *tile, int width, int64_t row, int64_t count, const double *from)
{
    const solve_view *view = &tile->x;
    double *to = (double *)(void *)view->at + PLANES * row * view->step;
    for (int64_t r = 0; view->mode == SOLVE_PAIRS && r < count; r++, to += PLANES * view->step)
        for (int l = 0; l < width; l++) {
            to[PLANES * l] = from[PLANES * r * width + l];
            to[PLANES * l + 1] = from[(PLANES * r + 1) * width + l];
        }
    for (int l = 0; view->mode != SOLVE_PAIRS && l < tile->lanes; l++) {
        int64_t step, own = tile->lane_rows[l] - row;
        to = lane_of(view, l, &step) + PLANES * row * step;
        for (int64_t r = 0; r < count && r < own; r++, to += PLANES * step) {
            to[0] = from[PLANES * r * width + l];
            to[1] = from[(PLANES * r + 1) * width + l];
        }
    }
}

/* --- arithmetic ------------------------------------------------------------------------------------- */

INLINE void times(const number *x, const number *y, number *out)
{
    plane re = x->re * y->re - x->im * y->im, im = x->re * y->im + x->im * y->re;
    out->re = re;
    out->im = im;
}

INLINE void minus(const number *x, const number *y, number *out)
{
    out->re = x->re - y->re;
    out->im = x->im - y->im;
}

#define ABS(v) ((plane)((bits)(v)&low_bits))

INLINE plane most(const number *z)
{
    const bits low_bits = (bits){0} + INT64_MAX;
    plane re = ABS(z->re), im = ABS(z->im);
    bits more = re > im;
    return (plane)(((bits)re & more) | ((bits)im & ~more));
}

INLINE void invert(const number *z, number *out)
{
    plane m = most(z), u = z->re / m, v = z->im / m, t = (u * u + v * v) * m;
    out->re = u / t;
    out->im = -v / t;
}

/* Bounds of the moduli: what they leave open solve_find settles. */
INLINE void look(const number *a, const number *b, const number *c, const number *d, const number *w, bits *sign,
                 bits *odd)
{
    const bits low_bits = (bits){0} + INT64_MAX;
    /* max(|re|, |im|) <= modulus <= |re| + |im| */
    plane off = (ABS(a->re) + ABS(a->im)) + (ABS(c->re) + ABS(c->im));
    plane all = ((off + (b->re + b->im)) + (d->re + d->im)) + (w->re + w->im);
    *sign |= (bits)(most(b) * SOLVE_SLACK_F64 - off);
    *odd |= (bits)(all - all);
}

/* --- the chain -------------------------------------------------------------------------------------- */

INLINE void take(const double *from, int64_t row, int width, int v, number *out)
{
    out->re = LOAD(from + PLANES * row * width + v * SIDE);
    out->im = LOAD(from + (PLANES * row + 1) * width + v * SIDE);
}

INLINE void put(const number *z, double *to, int64_t row, int width, int v)
{
    STORE(to + PLANES * row * width + v * SIDE, z->re);
    STORE(to + (PLANES * row + 1) * width + v * SIDE, z->im);
}

INLINE void down(const solve_tile *tile, const int vectors, bits *sign, bits *odd)
{
    const int width = vectors * SIDE;
    number q[SOLVE_WIDE] = {0}, y[SOLVE_WIDE] = {0};
    for (int64_t row = 0; row < tile->rows; row += SOLVE_CHUNK) {
        int64_t count = tile->rows - row < SOLVE_CHUNK ? tile->rows - row : SOLVE_CHUNK;
        for (int role = 0; role < SOLVE_ROLES; role++)
            stage(tile, (solve_role)role, width, row, count, tile->stage[role]);
        for (int64_t r = 0; r < count; r++)
            _Pragma("GCC unroll 2") for (int v = 0; v < vectors; v++)
            {
                number a, b, c, d, w, t;
                take(tile->stage[SOLVE_LOWER], r, width, v, &a);
                take(tile->stage[SOLVE_DIAGONAL], r, width, v, &b);
                take(tile->stage[SOLVE_UPPER], r, width, v, &c);
                take(tile->stage[SOLVE_RHS], r, width, v, &d);
                times(&a, &q[v], &t);
                minus(&b, &t, &t);
                invert(&t, &w);
                look(&a, &b, &c, &d, &w, sign, odd);
                times(&c, &w, &q[v]);
                times(&a, &y[v], &t);
                minus(&d, &t, &t);
                times(&t, &w, &y[v]);
                put(&q[v], tile->q, row + r, width, v);
                put(&y[v], tile->y, row + r, width, v);
            }
    }
}

INLINE void up(const solve_tile *tile, const int vectors)
{
    const int width = vectors * SIDE;
    number x[SOLVE_WIDE] = {0};
    for (int64_t end = tile->rows; end > 0;) {
        int64_t row = (end - 1) / SOLVE_CHUNK * SOLVE_CHUNK;
        for (int64_t r = end - 1; r >= row; r--)
            for (int v = 0; v < vectors; v++) {
                number q, y, t;
                take(tile->q, r, width, v, &q);
                take(tile->y, r, width, v, &y);
                times(&q, &x[v], &t);
                minus(&y, &t, &x[v]);
                put(&x[v], tile->stage[SOLVE_ROLES], r - row, width, v);
            }
        unstage(tile, width, row, end - row, tile->stage[SOLVE_ROLES]);
        end = row;
    }
}

INLINE bool chain(const solve_tile *tile, const int vectors)
{
    bits sign = {0}, odd = {0};
    int64_t bad = 0;
    down(tile, vectors, &sign, &odd);
    up(tile, vectors);
    for (int k = 0; k < SIDE; k++)
        bad |= (int64_t)(sign[k] < 0) | odd[k];
    return bad == 0;
}

static bool chain_narrow(const solve_tile *tile)
{
    return chain(tile, 1);
}

static bool chain_wide(const solve_tile *tile)
{
    return chain(tile, 2);
}

const solve_loops LACIS_ISA(lacis_solve_c128) = {.chain = {NULL, chain_narrow, chain_wide},
                                                 .lanes = {0, SIDE, 2 * SIDE}};
