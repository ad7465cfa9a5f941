/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain loops over bodies: extents, keys, units, motion, figures and direct sums in double. For type.h.
 */
#include "nbody/hilbert.h"

static void bounds(const void *const place[3], int64_t begin, int64_t end, double lo[3], double hi[3])
{
    for (int d = 0; d < 3; d++) {
        const P *at = place[d];
        P least[EIGHT], most[EIGHT];
        for (int l = 0; l < EIGHT; l++) {
            least[l] = (P)INFINITY;
            most[l] = -(P)INFINITY;
        }
        int64_t i = begin;
        for (; i + EIGHT <= end; i += EIGHT)
            for (int l = 0; l < EIGHT; l++) {
                least[l] = at[i + l] < least[l] ? at[i + l] : least[l];
                most[l] = at[i + l] > most[l] ? at[i + l] : most[l];
            }
        for (; i < end; i++) {
            least[0] = at[i] < least[0] ? at[i] : least[0];
            most[0] = at[i] > most[0] ? at[i] : most[0];
        }
        for (int l = 1; l < EIGHT; l++) {
            least[0] = least[l] < least[0] ? least[l] : least[0];
            most[0] = most[l] > most[0] ? most[l] : most[0];
        }
        lo[d] = (double)least[0];
        hi[d] = (double)most[0];
    }
}

static void keys(const void *const place[3], const nbody_box *box, int64_t begin, int64_t end, nbody_pair *pair)
{
    hilbert_block block;
    uint32_t *const step[3] = {block.x, block.y, block.z};
    for (int64_t i = begin; i < end; i += HILBERT_BLOCK) {
        const int many = end - i < HILBERT_BLOCK ? (int)(end - i) : HILBERT_BLOCK;
        for (int d = 0; d < 3; d++) {
            const P *at = (const P *)place[d] + i;
            for (int k = 0; k < many; k++)
                step[d][k] = hilbert_step((double)at[k], box->lo[d], box->half);
        }
        hilbert_transpose(&block, many);
        for (int k = 0; k < many; k++)
            pair[i + k] = (nbody_pair){hilbert_key(&block, k), i + k};
    }
}

INLINE const P *column_of(const lacis_nbody *system, nbody_column column)
{
    return system->column[column];
}

static void bring(lacis_nbody *system, int64_t begin, int64_t end)
{
    const P *x = column_of(system, NBODY_X), *y = column_of(system, NBODY_Y), *z = column_of(system, NBODY_Z);
    const P *m = column_of(system, NBODY_M), *eps = column_of(system, NBODY_EPS);
    const double length = system->units.length, mass = system->units.mass;
    body *to = system->body;
    for (int64_t i = begin; i < end; i++)
        to[i] = (body){(P)((double)x[i] * length), (P)((double)y[i] * length), (P)((double)z[i] * length),
                       (P)((double)m[i] * mass)};
    if (eps == NULL) return;
    R *soft = system->soft;
    for (int64_t i = begin; i < end; i++) {
        const double own = (double)eps[i] * length;
        soft[i] = (R)(own * own * 0.5);
    }
}

/* --- motion ----------------------------------------------------------------------------------------------- */

static void kick(lacis_nbody *system, double dt, int64_t begin, int64_t end)
{
    const P half = (P)(dt * 0.5);
    for (int d = 0; d < 3; d++) {
        P *v = system->column[NBODY_VX + d];
        const P *a = system->column[NBODY_AX + d];
        for (int64_t i = begin; i < end; i++)
            v[i] += half * a[i];
    }
}

static void drift(lacis_nbody *system, double dt, int64_t begin, int64_t end)
{
    const P whole = (P)dt;
    for (int d = 0; d < 3; d++) {
        P *x = system->column[NBODY_X + d];
        const P *v = system->column[NBODY_VX + d];
        for (int64_t i = begin; i < end; i++)
            x[i] += whole * v[i];
    }
}

static void remember(lacis_nbody *system, int64_t begin, int64_t end)
{
    const P *x = column_of(system, NBODY_AX), *y = column_of(system, NBODY_AY), *z = column_of(system, NBODY_AZ);
    P *old = system->column[NBODY_OLD];
    for (int64_t i = begin; i < end; i++)
        old[i] = (P)sqrt((double)x[i] * (double)x[i] + (double)y[i] * (double)y[i] + (double)z[i] * (double)z[i]);
}

/* --- figures ---------------------------------------------------------------------------------------------- */

static void figures(const lacis_nbody *system, int64_t begin, int64_t end, lacis_nbody_figures *out)
{
    const P *mass = column_of(system, NBODY_M), *phi = column_of(system, NBODY_PHI);
    *out = (lacis_nbody_figures){0};
    for (int64_t i = begin; i < end; i++) {
        const double m = (double)mass[i];
        double x[3], v[3];
        for (int d = 0; d < 3; d++) {
            x[d] = (double)column_of(system, (nbody_column)(NBODY_X + d))[i];
            v[d] = (double)column_of(system, (nbody_column)(NBODY_VX + d))[i];
            out->centre[d] += m * x[d];
            out->momentum[d] += m * v[d];
        }
        out->mass += m;
        out->kinetic += m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]) * 0.5;
        out->potential += m * (double)phi[i] * 0.5;
        out->angular[0] += m * (x[1] * v[2] - x[2] * v[1]);
        out->angular[1] += m * (x[2] * v[0] - x[0] * v[2]);
        out->angular[2] += m * (x[0] * v[1] - x[1] * v[0]);
    }
}

/* --- direct sums in double ---------------------------------------------------------------------------------- */

typedef double d8 __attribute__((vector_size(EIGHT * sizeof(double))));

INLINE d8 root8(d8 x)
{
#if BYTES == 64
    return (d8)_mm512_sqrt_pd((__m512d)x);
#else
    for (int l = 0; l < EIGHT; l++)
        x[l] = sqrt(x[l]);
    return x;
#endif
}

INLINE d8 wide8(const P *from)
{
    return __builtin_convertvector(load8(from), d8);
}

/* Adds the terms of EIGHT bodies from j on to sums beside each other; lane `but` (-1: none) is left out. */
INLINE void terms(const lacis_nbody *system, const P *const column[5], const double at[4], int64_t j, int64_t but,
                  d8 sum[4])
{
    const double length = system->units.length;
    d8 d[3], square = {0}, mass = wide8(column[3] + j) * system->units.mass;
    for (int k = 0; k < 3; k++) {
        d[k] = (wide8(column[k] + j) - at[k]) * length;
        square += d[k] * d[k];
    }
    if (but >= 0 && but < EIGHT) mass[but] = 0;
    const d8 soft = (column[4] == NULL ? system->soften - (d8){0} : wide8(column[4] + j)) * length;
    const d8 r2 = square + (at[3] + soft * soft) * 0.5, cube = r2 * root8(r2), none = {0};
    /* Where the cube is 0, at one place and not softened, 1 stands in: the differences are 0. */
    const d8 f = mass / (cube + (d8)((cube == none) & (__typeof__(cube == none))(none + 1)));
    for (int k = 0; k < 3; k++)
        sum[k] += d[k] * f;
    sum[3] += root8(square) * f;
}

static void certify(const lacis_nbody *system, int64_t own, double exact[4], double as_is[3])
{
    const P *column[5] = {column_of(system, NBODY_X), column_of(system, NBODY_Y), column_of(system, NBODY_Z),
                          column_of(system, NBODY_M), column_of(system, NBODY_EPS)};
    const double length = (column[4] == NULL ? system->soften : (double)column[4][own]) * system->units.length;
    double at[4] = {0, 0, 0, length * length};
    d8 sum[4] = {{0}, {0}, {0}, {0}};
    for (int k = 0; k < 3; k++) {
        at[k] = (double)column[k][own];
        as_is[k] = (double)column_of(system, (nbody_column)(NBODY_AX + k))[own];
    }
    int64_t j = 0;
    for (; j + EIGHT <= system->n; j += EIGHT)
        terms(system, column, at, j, own - j, sum);
    P rest[5][EIGHT] = {{0}}; /* massless lanes past the last */
    for (int c = 0; c < 5 && column[c] != NULL; c++) {
        memcpy(rest[c], column[c] + j, sizeof(P) * (size_t)(system->n - j));
        column[c] = rest[c];
    }
    terms(system, column, at, 0, own - j, sum);
    for (int k = 0; k < 4; k++) {
        exact[k] = 0;
        for (int l = 0; l < EIGHT; l++)
            exact[k] += sum[k][l];
        exact[k] *= k < 3 ? system->units.force : fabs(system->units.force);
    }
}
