/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies for tests of kernels/nbody, direct sums over them in long double, and a host that counts what is taken from
 * it.
 */
#ifndef LACIS_TESTS_NBODY_REFERENCE_H
#define LACIS_TESTS_NBODY_REFERENCE_H

#include "nbody/nbody.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* --- the host ----------------------------------------------------------------------------------------------- */

typedef struct counting_host {
    uint64_t held, most;
    int64_t blocks, takes, fail_at; /* fail_at: the number of the allocation that fails, from 1; 0: none */
    _Atomic int64_t asked;
    int64_t cancel_at; /* likewise, of questions whether to stop */
} counting_host;

static inline void *host_alloc(void *context, uint64_t bytes)
{
    counting_host *host = context;
    if (++host->takes == host->fail_at) return NULL;
    char *block = aligned_alloc(64, (bytes + 127) / 64 * 64);
    if (block == NULL) return NULL;
    memset(block, 0xa5, bytes + 64);
    memcpy(block, &bytes, sizeof bytes);
    host->held += bytes;
    host->blocks++;
    if (host->held > host->most) host->most = host->held;
    return block + 64;
}

static inline void host_free(void *context, void *block)
{
    counting_host *host = context;
    uint64_t bytes;
    memcpy(&bytes, (char *)block - 64, sizeof bytes);
    host->held -= bytes;
    host->blocks--;
    free((char *)block - 64);
}

static inline bool host_cancelled(void *context)
{
    counting_host *host = context;
    const int64_t asked = ++host->asked;
    return host->cancel_at > 0 && asked >= host->cancel_at;
}

/* --- bodies: doubles, rounded to floats where the type asks for them -------------------------------------------- */

enum { M, X, Y, Z, VX, VY, VZ, EPS, AX, AY, AZ, PHI, COLUMNS };
typedef struct bodies {
    int64_t n;
    double *column[COLUMNS]; /* EPS, AX .. may be NULL */
    double soften, g;
} bodies;

static inline uint64_t next_bits(uint64_t *state)
{
    uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}
static inline double from_0_to_1(uint64_t *state)
{
    return (double)(next_bits(state) >> 11) * 0x1p-53;
}
static inline double from_1_to_1(uint64_t *state)
{
    return 2 * from_0_to_1(state) - 1;
}

static inline bodies bodies_new(int64_t n, bool own_eps)
{
    bodies b = {.n = n, .g = 1};
    for (int c = 0; c < COLUMNS; c++)
        if (c < EPS || (c == EPS && own_eps)) b.column[c] = calloc((size_t)n + 1, sizeof(double));
    return b;
}
static inline void bodies_free(bodies *b)
{
    for (int c = 0; c < COLUMNS; c++)
        free(b->column[c]);
}

static inline void place_body(bodies *b, int64_t i, double x, double y, double z)
{
    b->column[X][i] = x;
    b->column[Y][i] = y;
    b->column[Z][i] = z;
}

/* A Plummer sphere of scale 1, cut at 0.999 of its mass, at rest. */
static inline void plummer(bodies *b, int64_t begin, int64_t end, const double at[3], double scale, double mass,
                           uint64_t seed)
{
    for (int64_t i = begin; i < end; i++) {
        const double share = 0.999 * from_0_to_1(&seed) + 1e-12, r = scale / sqrt(pow(share, -2.0 / 3) - 1);
        const double z = from_1_to_1(&seed), turn = 6.283185307179586 * from_0_to_1(&seed), flat = sqrt(1 - z * z);
        place_body(b, i, at[0] + r * flat * cos(turn), at[1] + r * flat * sin(turn), at[2] + r * z);
        b->column[M][i] = mass / (double)(end - begin);
    }
}

static inline void round_to_floats(bodies *b)
{
    for (int c = 0; c < COLUMNS; c++)
        for (int64_t i = 0; b->column[c] != NULL && i < b->n; i++)
            b->column[c][i] = (double)(float)b->column[c][i];
}

/* --- reference ---------------------------------------------------------------------------------------------- */

typedef struct exact {
    long double a[3], phi, modulus, deep; /* sums of moduli of the terms of a and of phi */
} exact;

/* The field at a place; `but` is left out. eps2: of what is there, the squared length. */
static inline exact exact_at(const bodies *b, const double at[3], double eps2, int64_t but)
{
    exact e = {.phi = 0};
    for (int64_t j = 0; j < b->n; j++) {
        if (j == but) continue;
        const double own = b->column[EPS] != NULL ? b->column[EPS][j] : b->soften;
        long double d[3], r2 = ((long double)eps2 + (long double)own * own) / 2, d2 = 0;
        for (int k = 0; k < 3; k++) {
            d[k] = (long double)b->column[X + k][j] - at[k];
            d2 += d[k] * d[k];
        }
        r2 += d2;
        if (r2 == 0) continue;
        const long double f = b->g * (long double)b->column[M][j] / (r2 * sqrtl(r2));
        for (int k = 0; k < 3; k++)
            e.a[k] += d[k] * f;
        e.phi -= f * r2;
        e.modulus += fabsl(f) * sqrtl(d2);
        e.deep += fabsl(f) * r2;
    }
    return e;
}
static inline exact exact_of(const bodies *b, int64_t i)
{
    const double at[3] = {b->column[X][i], b->column[Y][i], b->column[Z][i]};
    const double eps = b->column[EPS] != NULL ? b->column[EPS][i] : b->soften;
    return exact_at(b, at, eps * eps, i);
}

/* --- a system of them ------------------------------------------------------------------------------------------- */

static inline void *column_in(const double *from, int64_t n, lacis_nbody_type type)
{
    if (from == NULL) return NULL;
    char *to = malloc((size_t)(n + 1) * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        if (type == LACIS_NBODY_F32) {
            ((float *)to)[i] = (float)from[i];
        } else {
            ((double *)to)[i] = from[i];
        }
    return to;
}
static inline double element_of(const void *column, int64_t i, lacis_nbody_type type)
{
    return type == LACIS_NBODY_F32 ? (double)((const float *)column)[i] : ((const double *)column)[i];
}

static inline lacis_nbody_status system_new(const bodies *b, lacis_nbody_type type, const lacis_nbody_rule *rule,
                                            int threads, counting_host *host, lacis_nbody **out)
{
    void *in[COLUMNS];
    for (int c = 0; c < COLUMNS; c++)
        in[c] = column_in(b->column[c], b->n, type);
    const lacis_nbody_start start = {.type = type,
                                     .n = b->n,
                                     .m = in[M],
                                     .x = in[X],
                                     .y = in[Y],
                                     .z = in[Z],
                                     .vx = in[VX],
                                     .vy = in[VY],
                                     .vz = in[VZ],
                                     .eps = in[EPS],
                                     .ax = in[AX],
                                     .ay = in[AY],
                                     .az = in[AZ],
                                     .soften = b->soften,
                                     .g = b->g,
                                     .rule = *rule,
                                     .threads = threads,
                                     .host = {host_alloc, host_free, host_cancelled, NULL, host}};
    const lacis_nbody_status status = lacis_nbody_new(&start, out);
    for (int c = 0; c < COLUMNS; c++)
        free(in[c]);
    return status;
}

/* Everything that a system holds, as doubles. */
static inline bodies system_read(lacis_nbody *system, const bodies *like, lacis_nbody_type type)
{
    bodies b = {.n = like->n, .soften = like->soften, .g = like->g};
    void *raw[COLUMNS] = {NULL};
    for (int c = 0; c < COLUMNS; c++)
        if (c != M && c != EPS) raw[c] = malloc((size_t)(b.n + 1) * sizeof(double));
    const lacis_nbody_columns into = {raw[X],  raw[Y],  raw[Z],  raw[VX], raw[VY],
                                      raw[VZ], raw[AX], raw[AY], raw[AZ], raw[PHI]};
    assert_int_equal(lacis_nbody_read(system, &into), LACIS_NBODY_OK);
    for (int c = 0; c < COLUMNS; c++) {
        const double *same = c == M || c == EPS ? like->column[c] : NULL;
        if (raw[c] == NULL && same == NULL) continue;
        b.column[c] = calloc((size_t)b.n + 1, sizeof(double));
        for (int64_t i = 0; i < b.n; i++)
            b.column[c][i] = same != NULL ? same[i] : element_of(raw[c], i, type);
        free(raw[c]);
    }
    return b;
}

/* The field by one rule, read back. */
static inline bodies field_of(const bodies *b, lacis_nbody_type type, const lacis_nbody_rule *rule, int threads,
                              bool potential)
{
    counting_host host = {0};
    lacis_nbody *system;
    assert_int_equal(system_new(b, type, rule, threads, &host, &system), LACIS_NBODY_OK);
    assert_int_equal(lacis_nbody_field(system, potential), LACIS_NBODY_OK);
    bodies result = system_read(system, b, type);
    lacis_nbody_free(system);
    assert_int_equal(host.blocks, 0);
    return result;
}

/* Greatest distance from the reference, by the moduli of its terms, of `sample` bodies; and quantiles of |a -
 * a'|/|a'|. */
typedef struct distance {
    double field, potential, median, ninety_nine;
} distance;

static inline int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The reference for `sample` bodies spread over the numbers; to be freed. */
static inline exact *exacts_of(const bodies *b, int64_t *sample)
{
    if (*sample > b->n) *sample = b->n;
    exact *e = malloc(sizeof *e * (size_t)(*sample + 1));
    for (int64_t s = 0; s < *sample; s++)
        e[s] = exact_of(b, s * (b->n / *sample));
    return e;
}

static inline distance distance_from(const exact *reference, const bodies *result, int64_t sample)
{
    distance most = {0};
    if (sample == 0) return most;
    double *relative = malloc(sizeof(double) * (size_t)sample);
    for (int64_t s = 0; s < sample; s++) {
        const int64_t i = s * (result->n / sample);
        const exact e = reference[s];
        long double off = 0, size = 0;
        for (int k = 0; k < 3; k++) {
            const long double d = (long double)result->column[AX + k][i] - e.a[k];
            off += d * d;
            size += e.a[k] * e.a[k];
        }
        off = sqrtl(off);
        relative[s] = (double)(off == 0 ? 0 : off / sqrtl(size));
        const double field = (double)(off == 0 ? 0 : off / e.modulus);
        const long double phi = fabsl((long double)result->column[PHI][i] - e.phi);
        const double potential = (double)(phi == 0 ? 0 : phi / e.deep);
        if (!(field <= most.field)) most.field = field; /* so that NaN shows */
        if (!(potential <= most.potential)) most.potential = potential;
    }
    qsort(relative, (size_t)sample, sizeof *relative, by_size);
    most.median = relative[(sample - 1) / 2];
    most.ninety_nine = relative[(sample * 99 + 99) / 100 - 1];
    free(relative);
    return most;
}

static inline distance distance_of(const bodies *b, const bodies *result, int64_t sample)
{
    exact *reference = exacts_of(b, &sample);
    const distance most = distance_from(reference, result, sample);
    free(reference);
    return most;
}

/* --- what fields are judged by */
static const double origin[3] = {0, 0, 0};
static const lacis_nbody_rule gate_rule = {.way = LACIS_NBODY_TREE,
                                           .order = LACIS_NBODY_QUADRUPOLE,
                                           .opening = LACIS_NBODY_GEOMETRIC,
                                           .theta = 0.4,
                                           .alpha = 0.005,
                                           .expand = -1,
                                           .deterministic = true};

static inline void check_distance(const bodies *b, const bodies *result, lacis_nbody_type type, double bound,
                                  const char *what)
{
    const distance off = distance_of(b, result, 300);
    if (!(off.field <= bound) || !(off.potential <= bound))
        fail_msg("%s, type %d, n %ld: field %g, potential %g, bound %g", what, type, (long)b->n, off.field,
                 off.potential, bound);
}

#endif
