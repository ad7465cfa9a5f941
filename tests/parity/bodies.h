/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies for tests of NBODY and ACCELERATE: made up by kind and seed, of numbers that floats hold, so that every type
 * of run sees the same ones; as arrays; summed directly in long double; and the figures by which results are judged.
 */
#ifndef LACIS_TESTS_BODIES_H
#define LACIS_TESTS_BODIES_H

#include "parity/parity.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------- making */

typedef enum shape {
    PLUMMER,
    SPHERE,   /* uniform */
    RANGE,    /* Plummer's, masses over a range of 1e6 */
    POINT,    /* all at one place */
    HEAPS,    /* many at each of a few places */
    LINE,     /* collinear, along a slanted line */
    PLANE,    /* z = 0 */
    CLUSTERS, /* two, 1e6 of their sizes apart */
    LATTICE,  /* equal distances, many ties */
    ZERO,     /* no masses at all */
    TRACERS,  /* nine in ten without mass */
    SHAPES
} shape;
static const char *const shape_name[SHAPES] = {"plummer", "sphere",   "range",   "point", "heaps",  "line",
                                               "plane",   "clusters", "lattice", "zero",  "tracers"};

enum { M, X, Y, Z, VX, VY, VZ, EPS, COLUMNS };
typedef struct stars {
    int64_t n;
    double *at[COLUMNS];
    int64_t *id; /* NULL: 0, 1 ... */
    bool own_eps;
} stars;

static inline double next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return ((double)(x >> 11) + 0.5) * 0x1p-53;
}

static inline void on_sphere(uint64_t *seed, double r, double out[3])
{
    const double z = 2 * next(seed) - 1, angle = 6.283185307179586 * next(seed), s = sqrt(1 - z * z);
    out[0] = r * s * cos(angle);
    out[1] = r * s * sin(angle);
    out[2] = r * z;
}

static inline void place(shape kind, int64_t i, int64_t n, uint64_t *seed, double x[3])
{
    const double plummer = 1 / sqrt(pow(0.999 * next(seed), -2.0 / 3) - 1), uniform = cbrt(next(seed));
    const int64_t side = (int64_t)ceil(cbrt((double)n));
    on_sphere(seed, kind == SPHERE ? uniform : plummer, x);
    switch (kind) {
    case POINT:
        x[0] = 0.25, x[1] = -3, x[2] = 7;
        break;
    case HEAPS:
        for (int k = 0; k < 3; k++)
            x[k] = (double)((i % 5 + k) % 3) + 0.125 * (double)(i % 5);
        break;
    case LINE:
        x[1] = 2 * x[0], x[2] = -x[0];
        break;
    case PLANE:
        x[2] = 0;
        break;
    case CLUSTERS:
        if (i % 2 == 1) x[0] += 1e6;
        break;
    case LATTICE:
        x[0] = (double)(i % side), x[1] = (double)(i / side % side), x[2] = (double)(i / side / side);
        break;
    default:
        break;
    }
}

static inline double mass(shape kind, int64_t i, int64_t n, uint64_t *seed)
{
    const double u = next(seed);
    if (kind == ZERO) return 0;
    if (kind == TRACERS) return i % 10 == 3 ? 10.0 / (double)n : 0;
    return (kind == RANGE ? pow(10, 6 * u - 3) : 1) / (double)n;
}

static inline stars stars_new(shape kind, int64_t n, uint64_t seed)
{
    stars s = {.n = n};
    for (int c = 0; c < COLUMNS; c++) {
        s.at[c] = calloc((size_t)n + 1, sizeof *s.at[c]);
        assert_non_null(s.at[c]);
    }
    for (int64_t i = 0; i < n; i++) {
        double x[3], v[3];
        place(kind, i, n, &seed, x);
        on_sphere(&seed, 0.4 * next(&seed), v);
        s.at[M][i] = (float)mass(kind, i, n, &seed);
        for (int k = 0; k < 3; k++) {
            s.at[X + k][i] = (float)x[k];
            s.at[VX + k][i] = (float)v[k];
        }
        s.at[EPS][i] = (float)(0.02 + 0.1 * next(&seed));
    }
    return s;
}

static inline void stars_free(stars *s)
{
    for (int c = 0; c < COLUMNS; c++)
        free(s->at[c]);
    free(s->id);
    *s = (stars){0};
}

/* The same bodies in another order, with their ids. */
static inline stars stars_shuffled(const stars *from, uint64_t seed)
{
    stars s = stars_new(ZERO, from->n, 1);
    s.own_eps = from->own_eps;
    s.id = calloc((size_t)from->n + 1, sizeof *s.id);
    assert_non_null(s.id);
    for (int64_t i = 0; i < s.n; i++)
        s.id[i] = i;
    for (int64_t i = s.n - 1; i > 0; i--) {
        const int64_t j = (int64_t)(next(&seed) * (double)(i + 1)), other = s.id[j];
        s.id[j] = s.id[i];
        s.id[i] = other;
    }
    for (int c = 0; c < COLUMNS; c++)
        for (int64_t i = 0; i < s.n; i++)
            s.at[c][i] = from->at[c][s.id[i]];
    return s;
}

static inline lacis_array *stars_array(parity *p, const stars *s, lacis_dtype dtype)
{
    static const char some = 0;
    lacis_bodies like = {.count = s->n, .dtype = dtype, .id = s->id}, b;
    lacis_array *array = NULL;
    like.m = like.x = like.y = like.z = like.vx = like.vy = like.vz = &some;
    if (s->own_eps) like.eps = &some;
    parity_ok(p, lacis_bodies_new(&p->run, &like, &array, &b), "bodies");
    const void *const to[COLUMNS] = {b.m, b.x, b.y, b.z, b.vx, b.vy, b.vz, b.eps};
    for (int c = 0; c < COLUMNS; c++)
        if (to[c] != NULL) lacis_values_convert(s->at[c], LACIS_F64, 0, s->n, (void *)(uintptr_t)to[c], dtype);
    return array;
}

/* ---------------------------------------------------------------------------------------- reference */

typedef long double real;
/* The field at a place, and the sums of its terms' moduli. */
typedef struct sums {
    real a[3], phi, moduli, phi_moduli;
} sums;

/* self < 0: a free point, which has `soften` alone. */
static inline sums direct(const stars *s, double soften, real g, const double at[3], int64_t self)
{
    sums out = {{0, 0, 0}, 0, 0, 0};
    for (int64_t j = 0; j < s->n; j++) {
        real d[3], r2 = 0, e = (real)soften * (real)soften;
        if (j == self) continue;
        if (s->own_eps) {
            const real own = self >= 0 ? (real)s->at[EPS][self] : 0, other = s->at[EPS][j];
            e = (own * own + other * other) / 2;
        }
        for (int k = 0; k < 3; k++) {
            d[k] = (real)s->at[X + k][j] - (real)at[k];
            r2 += d[k] * d[k];
        }
        if (r2 + e == 0) continue;
        const real w = g * s->at[M][j] / sqrtl(r2 + e);
        out.phi -= w;
        out.phi_moduli += fabsl(w);
        for (int k = 0; k < 3; k++)
            out.a[k] += w / (r2 + e) * d[k];
        out.moduli += fabsl(w) / (r2 + e) * sqrtl(r2);
    }
    return out;
}

static inline void place_of(const stars *s, int64_t i, double out[3])
{
    for (int k = 0; k < 3; k++)
        out[k] = s->at[X + k][i];
}

static inline sums *direct_all(const stars *s, double soften, real g)
{
    sums *out = calloc((size_t)s->n + 1, sizeof *out);
    assert_non_null(out);
    for (int64_t i = 0; i < s->n; i++) {
        double at[3];
        place_of(s, i, at);
        out[i] = direct(s, soften, g, at, i);
    }
    return out;
}

/* ------------------------------------------------------------------------------------------ figures */

static inline int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static inline double quantile(double *sorted, int64_t n, double q)
{
    int64_t at = (int64_t)ceil(q * (double)n) - 1;
    return n == 0 ? 0 : sorted[at < 0 ? 0 : at];
}

static inline double number_at(const lacis_array *array, const char *name, int64_t i)
{
    const lacis_part *part = lacis_array_part_named(array, name);
    if (part == NULL) fail_msg("the result has no %s", name);
    assert_true(i < part->count);
    return lacis_value_double(part->data, part->dtype, i);
}

/* How far the accelerations (and potentials) of an array are off: medians, 99 %, greatest. */
typedef struct errors {
    double median, most99, relative, scaled, phi;
} errors;

static inline errors errors_of(const lacis_array *array, const sums *e, int64_t n, bool potential)
{
    static const char *const axis[3] = {"ax", "ay", "az"};
    errors out = {0, 0, 0, 0, 0};
    double *relative = calloc((size_t)n + 1, sizeof *relative);
    assert_non_null(relative);
    for (int64_t i = 0; i < n; i++) {
        real off = 0, size = 0;
        for (int k = 0; k < 3; k++) {
            const real d = (real)number_at(array, axis[k], i) - e[i].a[k];
            off += d * d;
            size += e[i].a[k] * e[i].a[k];
        }
        off = sqrtl(off);
        relative[i] = off == 0 ? 0 : size > 0 ? (double)(off / sqrtl(size)) : HUGE_VAL;
        const double scaled = off == 0 ? 0 : (double)(off / e[i].moduli);
        if (!(scaled <= out.scaled)) out.scaled = scaled;
        if (!potential) continue;
        const real miss = fabsl((real)number_at(array, "phi", i) - e[i].phi);
        const double phi = miss == 0 ? 0 : (double)(miss / e[i].phi_moduli);
        if (!(phi <= out.phi)) out.phi = phi;
    }
    qsort(relative, (size_t)n, sizeof *relative, by_value);
    out.median = quantile(relative, n, 0.5);
    out.most99 = quantile(relative, n, 0.99);
    out.relative = quantile(relative, n, 1);
    free(relative);
    return out;
}

/* ------------------------------------------------------------------------------------------- running */

typedef struct type {
    const char *word;
    lacis_dtype dtype; /* of results */
    double unit;       /* of rounding of forces */
} type;
static const type types[] = {{"f32", LACIS_F32, 0x1p-24}, {"f64", LACIS_F64, 0x1p-53}, {"mixed", LACIS_F64, 0x1p-24}};

static inline bool is_tree(const lacis_variant *variant)
{
    return strstr(variant->name, "pairs") == NULL;
}

/* Calls fn for every variant that can run the call here. */
typedef void (*variant_fn)(parity *p, const lacis_call *call, const lacis_variant *variant, void *context);
static inline void each_variant(parity *p, const char *text, const named *arrays, variant_fn fn, void *context)
{
    char reason[256] = "";
    lacis_call *call;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    if (parity_on_gpu()) call->on = LACIS_ON_GPU;
    for (int i = 0; i < call->op->variant_count; i++) {
        const lacis_variant *variant = call->op->variants[i];
        if ((parity_on_gpu() && variant->device != LACIS_GPU) || variant->ranks) continue;
        if (variant->can != NULL && !variant->can(call, reason, sizeof reason)) {
            parity_skipped(p, text, variant->name, reason);
            continue;
        }
        fn(p, call, variant, context);
    }
    parity_unbind(p, call);
    lacis_run_clear(&p->run);
}

static inline lacis_array *run_whole(parity *p, const lacis_call *call, const lacis_variant *variant,
                                     const char *text)
{
    lacis_array *array = NULL;
    parity_ok(p, variant->run(&p->run, call, 0, call->units, &array), text);
    assert_int_equal(lacis_array_kind(array), call->kind);
    return array;
}

/* One call by the variant of that name. */
static inline lacis_array *run_named(parity *p, const char *text, const named *arrays, const char *variant)
{
    lacis_call *call;
    lacis_array *array = NULL;
    parity_ok(p, parity_bind(p, text, arrays, NULL, &call), text);
    if (parity_on_gpu()) call->on = LACIS_ON_GPU;
    for (int i = 0; i < call->op->variant_count; i++)
        if (strcmp(call->op->variants[i]->name, variant) == 0)
            array = run_whole(p, call, call->op->variants[i], text);
    parity_unbind(p, call);
    assert_non_null(array);
    return array;
}

/* Every part of two results has the same bytes. */
static inline void same_arrays(const lacis_array *a, const lacis_array *b, const char *text, const char *how)
{
    lacis_part x;
    assert_int_equal(lacis_array_part_count(a), lacis_array_part_count(b));
    for (int i = 0; i < lacis_array_part_count(a); i++) {
        assert_int_equal(lacis_array_part(a, i, &x), LACIS_OK);
        const lacis_part *y = lacis_array_part_named(b, x.name);
        assert_non_null(y);
        assert_int_equal(x.count, y->count);
        assert_int_equal(x.dtype, y->dtype);
        const size_t size = lacis_dtype_size(x.dtype);
        for (int64_t j = 0; j < x.count; j++)
            if (memcmp((const char *)x.data + size * (size_t)j, (const char *)y->data + size * (size_t)j, size) != 0)
                fail_msg("%s (%s): %s[%lld] is %.17g in one and %.17g in the other", text, how, x.name, (long long)j,
                         lacis_value_double(x.data, x.dtype, j), lacis_value_double(y->data, y->dtype, j));
    }
}

/* --- a test's own: LACIS_PARITY_GPUS may ask for several GPUs. */
static inline int stars_setup(void **state)
{
    const char *gpus = getenv("LACIS_PARITY_GPUS");
    const int code = parity_setup(state);
    parity *p = *state;
    if (code == 0 && gpus != NULL) p->host.gpus = atoi(gpus);
    return code;
}

#endif
