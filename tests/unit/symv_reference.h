/* SPDX-License-Identifier: Apache-2.0
 *
 * Problems for tests of kernels/symv: matrices and vectors of any type drawn as 113-bit numbers that the type holds
 * exactly, laid out in memory in any way that symv.h allows, and the product by its definition. Whatever must not be
 * read is NaN.
 */
#ifndef LACIS_TESTS_SYMV_REFERENCE_H
#define LACIS_TESTS_SYMV_REFERENCE_H

#include "symv/symv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef __float128 quad;
typedef struct pair {
    quad re, im;
} pair;

/* How the elements of a matrix or of vectors are stored. */
typedef struct layout {
    bool single, wide, complex;
} layout;

static inline layout matrix_layout(lacis_symv_type type)
{
    const bool single =
        type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64 || type == LACIS_SYMV_F32_F64 || type == LACIS_SYMV_F32_DD;
    return (layout){single, type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD, lacis_symv_complex(type)};
}

static inline layout vector_layout(lacis_symv_type type)
{
    const bool wide =
        type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD || type == LACIS_SYMV_F32_DD || type == LACIS_SYMV_F64_DD;
    return (layout){type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64, wide, lacis_symv_complex(type)};
}

static inline int64_t layout_scalars(layout l)
{
    return (l.wide ? 2 : 1) * (l.complex ? 2 : 1);
}

static inline size_t layout_bytes(layout l)
{
    return (size_t)layout_scalars(l) * (l.single ? 4 : 8);
}

static inline void layout_split(layout l, pair value, double *out)
{
    quad part[2] = {value.re, value.im};
    for (int c = 0; c < (l.complex ? 2 : 1); c++) {
        out[l.wide ? 2 * c : c] = (double)part[c];
        if (l.wide) out[2 * c + 1] = (double)(part[c] - (quad)(double)part[c]);
    }
}

static inline void layout_put(layout l, void *base, int64_t index, pair value)
{
    double v[4] = {0};
    layout_split(l, value, v);
    for (int64_t i = 0; i < layout_scalars(l); i++) {
        if (l.single) {
            ((float *)base)[index * layout_scalars(l) + i] = (float)v[i];
        } else {
            ((double *)base)[index * layout_scalars(l) + i] = v[i];
        }
    }
}

static inline pair layout_get(layout l, const void *base, int64_t index)
{
    double v[4] = {0};
    for (int64_t i = 0; i < layout_scalars(l); i++) {
        int64_t at = index * layout_scalars(l) + i;
        v[i] = l.single ? (double)((const float *)base)[at] : ((const double *)base)[at];
    }
    if (!l.wide) return (pair){v[0], v[1]};
    return (pair){(quad)v[0] + v[1], (quad)v[2] + v[3]};
}

/* --- values ------------------------------------------------------------------------------------------ */

static inline double drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)*state / 0x1p63;
}

/* A number in -1 .. 1 that the layout holds. */
static inline quad drawn_part(uint64_t *state, layout l)
{
    double hi = drawn(state), lo = drawn(state) * hi * 0x1p-54;
    if (l.single) hi = (double)(float)hi;
    return l.wide ? (quad)hi + lo : (quad)hi;
}

static inline pair drawn_pair(uint64_t *state, layout l)
{
    pair out = {drawn_part(state, l), 0};
    if (l.complex) out.im = drawn_part(state, l);
    return out;
}

static inline pair pair_times(pair a, pair b)
{
    return (pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline pair pair_plus(pair a, pair b)
{
    return (pair){a.re + b.re, a.im + b.im};
}

static inline quad quad_abs(quad a)
{
    return a < 0 ? -a : a;
}

static inline quad pair_size(pair a)
{
    return quad_abs(a.re) + quad_abs(a.im);
}

/* --- a problem: one matrix, some sides --------------------------------------------------------------- */

typedef struct problem {
    lacis_symv_type type;
    bool hermitian;
    int64_t n, sides;
    pair *a;          /* n x n, both triangles; place j n + i */
    pair *x, *y0, *y; /* side by side; y is the result */
    quad *bound;      /* of each y: sum of |a||x| and so on, in moduli re + im */
    pair *dot;        /* x^H A x of each side */
    double alpha[4], beta[4];
} problem;

static inline void *grown(size_t count, size_t size)
{
    void *out = calloc(count + 1, size);
    assert_non_null(out);
    return out;
}

static inline void problem_draw_matrix(problem *p, uint64_t *state)
{
    const layout l = matrix_layout(p->type);
    for (int64_t j = 0; j < p->n; j++)
        for (int64_t i = j; i < p->n; i++) {
            pair a = drawn_pair(state, l);
            if (i == j && p->hermitian) a.im = 0;
            p->a[j * p->n + i] = a;
            if (p->hermitian) a.im = -a.im;
            if (i != j) p->a[i * p->n + j] = a;
        }
}

static inline pair problem_factor(layout l, const double *f)
{
    if (l.single) return (pair){(float)f[0], (float)f[2]};
    return (pair){(quad)f[0] + (l.wide ? f[1] : 0), (quad)f[2] + (l.wide ? f[3] : 0)};
}

static inline void problem_solve(problem *p)
{
    const layout l = vector_layout(p->type);
    const pair alpha = problem_factor(l, p->alpha), beta = problem_factor(l, p->beta);
    for (int64_t s = 0; s < p->sides; s++) {
        const pair *x = p->x + s * p->n;
        p->dot[s] = (pair){0, 0};
        for (int64_t i = 0; i < p->n; i++) {
            pair sum = {0, 0}, old = pair_times(beta, p->y0[s * p->n + i]);
            quad size = 0;
            for (int64_t j = 0; j < p->n; j++) {
                sum = pair_plus(sum, pair_times(p->a[j * p->n + i], x[j]));
                size += pair_size(p->a[j * p->n + i]) * pair_size(x[j]);
            }
            p->dot[s] = pair_plus(p->dot[s], pair_times((pair){x[i].re, -x[i].im}, sum));
            p->y[s * p->n + i] = pair_plus(pair_times(alpha, sum), old);
            p->bound[s * p->n + i] = size * pair_size(alpha) + pair_size(beta) * pair_size(p->y0[s * p->n + i]);
        }
    }
}

static inline problem problem_new(lacis_symv_type type, bool hermitian, int64_t n, int64_t sides, uint64_t seed)
{
    problem p = {.type = type, .hermitian = hermitian, .n = n, .sides = sides};
    const layout l = vector_layout(type);
    const size_t vectors = (size_t)(n * sides);
    uint64_t state = seed;
    p.a = grown((size_t)(n * n), sizeof *p.a);
    p.x = grown(vectors, sizeof *p.x);
    p.y0 = grown(vectors, sizeof *p.y0);
    p.y = grown(vectors, sizeof *p.y);
    p.bound = grown(vectors, sizeof *p.bound);
    p.dot = grown((size_t)sides, sizeof *p.dot);
    problem_draw_matrix(&p, &state);
    for (size_t i = 0; i < vectors; i++) {
        p.x[i] = drawn_pair(&state, l);
        p.y0[i] = drawn_pair(&state, l);
    }
    p.alpha[0] = 1;
    return p;
}

static inline void problem_free(problem *p)
{
    free(p->a);
    free(p->x);
    free(p->y0);
    free(p->y);
    free(p->bound);
    free(p->dot);
}

/* --- in memory --------------------------------------------------------------------------------------- */

typedef struct storage {
    lacis_symv_uplo uplo;
    bool packed;
    int64_t more;           /* ld is n + more */
    int64_t x_step, y_step; /* not 0 */
    bool in_place;          /* y0 is y */
    int shift;              /* scalars that the matrix lies off a malloc's alignment */
} storage;

typedef struct laid {
    lacis_symv_job job;
    void *block[4];
    int64_t y_places;
} laid;

static inline int64_t storage_place(const storage *s, int64_t n, int64_t i, int64_t j)
{
    if (!s->packed) return j * (n + s->more) + i;
    return s->uplo == LACIS_SYMV_LOWER ? j * (2 * n - j - 1) / 2 + i : j * (j + 1) / 2 + i;
}

/* Filled with NaN; freed by laid_free. */
static inline void *laid_block(laid *l, int which, size_t bytes)
{
    l->block[which] = malloc(bytes + 1);
    assert_non_null(l->block[which]);
    memset(l->block[which], 0xff, bytes);
    return l->block[which];
}

static inline void laid_matrix(laid *l, const problem *p, const storage *s)
{
    const layout of = matrix_layout(p->type);
    const int64_t n = p->n, places = n == 0 ? 0 : storage_place(s, n, n - 1, n - 1) + 1;
    const size_t shift = (size_t)s->shift * (of.single ? 4 : 8);
    char *a = (char *)laid_block(l, 0, (size_t)places * layout_bytes(of) + shift) + shift;
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = 0; i < n; i++) {
            if (s->uplo == LACIS_SYMV_LOWER ? i < j : i > j) continue;
            pair value = p->a[j * n + i];
            if (i == j && p->hermitian) value.im = (quad)NAN;
            layout_put(of, a, storage_place(s, n, i, j), value);
        }
    l->job.a = a;
}

/* Where element i of side 0 lies, of vectors that take all their places. */
static inline int64_t laid_first(int64_t n, int64_t step)
{
    return step > 0 || n == 0 ? 0 : -step * (n - 1);
}

static inline void *laid_vectors(laid *l, int which, const problem *p, int64_t step, const pair *values)
{
    const layout of = vector_layout(p->type);
    const int64_t side = p->n * (step > 0 ? step : -step) + 1, first = laid_first(p->n, step);
    char *base = laid_block(l, which, (size_t)(side * p->sides) * layout_bytes(of));
    for (int64_t s = 0; values != NULL && s < p->sides; s++)
        for (int64_t i = 0; i < p->n; i++)
            layout_put(of, base, s * side + first + i * step, values[s * p->n + i]);
    return base + first * (int64_t)layout_bytes(of);
}

static inline void *host_alloc(void *context, uint64_t bytes)
{
    (void)context;
    assert_true(bytes > 0);
    void *out = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (out != NULL) memset(out, 0xff, bytes);
    return out;
}

static inline void host_free(void *context, void *block)
{
    (void)context;
    free(block);
}

static inline laid laid_out(const problem *p, const storage *s)
{
    laid l = {.job = {.type = p->type, .uplo = s->uplo, .hermitian = p->hermitian, .packed = s->packed}};
    lacis_symv_job *job = &l.job;
    const bool old = p->beta[0] != 0 || p->beta[1] != 0 || p->beta[2] != 0 || p->beta[3] != 0;
    job->matrices = 1;
    job->n = p->n;
    job->ld = p->n + s->more;
    job->sides = p->sides;
    job->x_step = s->x_step;
    job->y_step = s->y_step;
    job->x_side = p->n * labs(s->x_step) + 1;
    job->y_side = p->n * labs(s->y_step) + 1;
    laid_matrix(&l, p, s);
    job->x = laid_vectors(&l, 1, p, s->x_step, p->x);
    job->y = laid_vectors(&l, 2, p, s->y_step, s->in_place && old ? p->y0 : NULL);
    job->y0 = s->in_place ? job->y : laid_vectors(&l, 3, p, s->y_step, old ? p->y0 : NULL);
    l.y_places = job->y_side * p->sides;
    memcpy(job->alpha, p->alpha, sizeof job->alpha);
    memcpy(job->beta, p->beta, sizeof job->beta);
    job->threads = 1;
    job->host = (lacis_symv_host){.alloc = host_alloc, .free = host_free};
    return l;
}

static inline void laid_free(laid *l)
{
    for (int i = 0; i < 4; i++)
        free(l->block[i]);
}

static inline pair laid_y(const laid *l, int64_t side, int64_t i)
{
    return layout_get(vector_layout(l->job.type), l->job.y, side * l->job.y_side + i * l->job.y_step);
}

static inline double unit_of(lacis_symv_type type)
{
    const layout l = vector_layout(type);
    return l.single ? 0x1p-24 : l.wide ? 0x1p-106 : 0x1p-53;
}

/* symv.h's error bound: so many units of the sum of moduli. */
static inline double bound_of(lacis_symv_type type, int64_t n, bool tight)
{
    const layout l = vector_layout(type);
    return (l.wide ? (tight ? 4 : 16) : 1) * (l.complex ? 2 : 1) * (double)(n + 8);
}

/* The largest error over its bound's sum, in units of the type's rounding; places between elements still are NaN. */
static inline double laid_error(const laid *l, const problem *p)
{
    double worst = 0;
    for (int64_t s = 0; s < p->sides; s++)
        for (int64_t i = 0; i < p->n; i++) {
            const pair y = laid_y(l, s, i), want = p->y[s * p->n + i];
            const double error = (double)pair_size((pair){y.re - want.re, y.im - want.im});
            if (isnan(error)) return (double)NAN;
            const double over = (double)p->bound[s * p->n + i];
            if (error > 0) worst = fmax(worst, error / (over * unit_of(p->type)));
        }
    return worst;
}

static inline void laid_untouched(const laid *l, const problem *p)
{
    const size_t bytes = layout_bytes(vector_layout(p->type));
    const unsigned char *base = l->block[2];
    const int64_t first = laid_first(p->n, l->job.y_step);
    int64_t untouched = 0;
    for (int64_t at = 0; at < l->y_places; at++) {
        bool all = true;
        for (size_t b = 0; b < bytes; b++)
            all = all && base[(size_t)at * bytes + b] == 0xff;
        untouched += all;
    }
    assert_true(first >= 0);
    assert_int_equal(untouched, l->y_places - p->n * p->sides);
}

#endif
