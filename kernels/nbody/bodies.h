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

/* Adds the terms of EIGHT bodies from j on, those of `many` that there are, to sums beside each other. */
INLINE void terms(const lacis_nbody *system, const double at[4], int64_t own, int64_t j, int many,
                  double sum[4][EIGHT])
{
    const P *m = column_of(system, NBODY_M), *eps = column_of(system, NBODY_EPS);
    const double length = system->units.length;
    double d[3][EIGHT], near[EIGHT], mass[EIGHT];
    for (int l = 0; l < EIGHT; l++) {
        const int64_t i = l < many ? j + l : j;
        for (int k = 0; k < 3; k++)
            d[k][l] = ((double)((const P *)system->column[NBODY_X + k])[i] - at[k]) * length;
        const double soft = (eps == NULL ? system->soften : (double)eps[i]) * length;
        near[l] = (at[3] + soft * soft) * 0.5;
        mass[l] = l < many && i != own ? (double)m[i] * system->units.mass : 0;
    }
    for (int l = 0; l < EIGHT; l++) {
        const double square = d[0][l] * d[0][l] + d[1][l] * d[1][l] + d[2][l] * d[2][l], r2 = square + near[l];
        const double f = r2 > 0 ? mass[l] / (r2 * sqrt(r2)) : 0;
        for (int k = 0; k < 3; k++)
            sum[k][l] += d[k][l] * f;
        sum[3][l] += sqrt(square) * f;
    }
}

static void certify(const lacis_nbody *system, int64_t own, double exact[4], double as_is[3])
{
    const P *eps = column_of(system, NBODY_EPS);
    const double length = (eps == NULL ? system->soften : (double)eps[own]) * system->units.length;
    double at[4] = {0, 0, 0, length * length}, sum[4][EIGHT];
    memset(sum, 0, sizeof sum);
    for (int k = 0; k < 3; k++) {
        at[k] = (double)column_of(system, (nbody_column)(NBODY_X + k))[own];
        as_is[k] = (double)column_of(system, (nbody_column)(NBODY_AX + k))[own];
    }
    int64_t j = 0;
    for (; j + EIGHT <= system->n; j += EIGHT)
        terms(system, at, own, j, EIGHT, sum);
    if (j < system->n) terms(system, at, own, j, (int)(system->n - j), sum);
    for (int k = 0; k < 4; k++) {
        exact[k] = 0;
        for (int l = 0; l < EIGHT; l++)
            exact[k] += sum[k][l];
        exact[k] *= k < 3 ? system->units.force : fabs(system->units.force);
    }
}
