/* SPDX-License-Identifier: Apache-2.0
 *
 * The bodies of an essential tree, written out, and fields that were computed elsewhere.
 *
 * A monopole is one body. A quadrupole is four, at the corners of a tetrahedron: of a cell with second moments Q
 * about its centre c, e_k and M s_k^2 the axes and moments of Q, they lie at c + sum over k of v_k s_k e_k, each with
 * M / 4, v = (1 1 1), (1 -1 -1), (-1 1 -1), (-1 -1 1): the sum of v is 0 and that of v v^T four times one, so that
 * mass, centre and second moments are the cell's, and as no corner is farther from c than sqrt(tr Q / M), none is
 * farther than the farthest body. They have third moments of their own, whose potential is 15 M s_1 s_2 s_3 n_1 n_2
 * n_3 / d^4 in the direction n, at most 5/9 M s^3 / d^4; what the rule bounds, the cell's own, is at most M s^3 /
 * d^4. So that both together keep to the rule's bound, it is asked for with 14/9 of the mass.
 */
#include "nbody/essential.h"

#include <math.h>
#include <string.h>

static void put_number(const lacis_nbody *system, void *column, int64_t i, double value)
{
    if (system->type == LACIS_NBODY_F32) {
        ((float *)column)[i] = (float)value;
    } else {
        ((double *)column)[i] = value;
    }
}

/* --- bodies that stand for cells --------------------------------------------------------------------------- */

/* Turns the axes i and j of a symmetric matrix so that a[i][j] is 0; v's columns turn along. */
static void turn(double a[3][3], double v[3][3], int i, int j)
{
    if (a[i][j] == 0) return;
    const double t = (a[j][j] - a[i][i]) / (2 * a[i][j]);
    const double tangent = copysign(1 / (fabs(t) + sqrt(t * t + 1)), t);
    const double c = 1 / sqrt(tangent * tangent + 1), s = tangent * c;
    const int k = 3 - i - j;
    const double ki = a[k][i], kj = a[k][j];
    a[i][i] -= tangent * a[i][j];
    a[j][j] += tangent * a[i][j];
    a[i][j] = a[j][i] = 0;
    a[k][i] = a[i][k] = c * ki - s * kj;
    a[k][j] = a[j][k] = s * ki + c * kj;
    for (int r = 0; r < 3; r++) {
        const double x = v[r][i], y = v[r][j];
        v[r][i] = c * x - s * y;
        v[r][j] = s * x + c * y;
    }
}

/* Columns of `axis`: s_k e_k of the moments Q / M = sum of s_k^2 e_k e_k^T (Jacobi). */
static void axes_of(const nbody_moments *cell, double axis[3][3])
{
    enum { SWEEPS = 8 };
    const double *q = cell->q;
    double a[3][3] = {{q[0], q[3], q[4]}, {q[3], q[1], q[5]}, {q[4], q[5], q[2]}};
    double v[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] /= cell->m;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        turn(a, v, 0, 1);
        turn(a, v, 0, 2);
        turn(a, v, 1, 2);
    }
    for (int k = 0; k < 3; k++)
        for (int d = 0; d < 3; d++)
            axis[d][k] = sqrt(fmax(a[k][k], 0)) * v[d][k];
}

static int64_t put_body(const lacis_nbody_essential *e, const lacis_nbody_sources *to, int64_t at, double m,
                        const double place[3], double soft)
{
    const lacis_nbody *system = e->system;
    void *const column[3] = {to->x, to->y, to->z};
    put_number(system, to->m, at, m / system->units.mass);
    for (int d = 0; d < 3; d++)
        put_number(system, column[d], at, place[d] / system->units.length);
    if (e->eps) put_number(system, to->eps, at, sqrt(2 * soft) / system->units.length);
    return at + 1;
}

static int64_t put_corners(const lacis_nbody_essential *e, const lacis_nbody_sources *to, int64_t at,
                           const nbody_moments *cell)
{
    static const double corner[NBODY_CORNERS][3] = {{1, 1, 1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, 1}};
    double axis[3][3];
    axes_of(cell, axis);
    for (int c = 0; c < NBODY_CORNERS; c++) {
        double place[3];
        for (int d = 0; d < 3; d++)
            place[d] =
                cell->at[d] + corner[c][0] * axis[d][0] + corner[c][1] * axis[d][1] + corner[c][2] * axis[d][2];
        at = put_body(e, to, at, cell->m / NBODY_CORNERS, place, cell->e);
    }
    return at;
}

/* A body without mass, as far off as the cell's farthest body and outwards from its parent's centre. */
static int64_t put_mark(const lacis_nbody_essential *e, const lacis_nbody_sources *to, int64_t at,
                        const nbody_moments *cell, const nbody_moments *parent)
{
    double from[3], square = 0, place[3];
    for (int d = 0; d < 3; d++) {
        from[d] = cell->at[d] - parent->at[d];
        square += from[d] * from[d];
    }
    if (!(square > 0)) from[0] = square = 1;
    for (int d = 0; d < 3; d++)
        place[d] = cell->at[d] + from[d] * (cell->extent / sqrt(square));
    return put_body(e, to, at, 0, place, cell->e);
}

static int64_t put_rest(const lacis_nbody_essential *e, const lacis_nbody_sources *to, int64_t at, int64_t heap)
{
    const lacis_nbody *system = e->system;
    const nbody_cell *range = &system->tree.cell[heap];
    double m = 0, soft = 0;
    for (int64_t i = range->begin; i < range->end; i++) {
        if (i >= e->begin && i < e->end) continue;
        const double own = number_at(system, system->column[NBODY_M], i) * system->units.mass;
        const double eps = e->eps ? number_at(system, system->column[NBODY_EPS], i) * system->units.length : 0;
        m += own;
        soft += own * eps * eps * 0.5;
    }
    return put_body(e, to, at, m, system->tree.moments[heap].at, m > 0 ? soft / m : 0);
}

static int64_t put_column(const lacis_nbody_essential *e, void *to, nbody_column from, int64_t at, int64_t first,
                          int64_t many)
{
    const size_t size = (size_t)lacis_nbody_size(e->system->type);
    if (many > 0)
        memcpy((char *)to + size * (size_t)at, (const char *)e->system->column[from] + size * (size_t)first,
               size * (size_t)many);
    return at + many;
}

static int64_t put_range(const lacis_nbody_essential *e, const lacis_nbody_sources *to, int64_t at, int64_t first,
                         int64_t many)
{
    put_column(e, to->m, NBODY_M, at, first, many);
    put_column(e, to->x, NBODY_X, at, first, many);
    put_column(e, to->y, NBODY_Y, at, first, many);
    put_column(e, to->z, NBODY_Z, at, first, many);
    if (e->eps) put_column(e, to->eps, NBODY_EPS, at, first, many);
    return at + many;
}

/* What stands for a cell goes by the first of its bodies: those that nobody wants the field of share groups with
 * those that somebody does, which are to be no less strict than elsewhere. */
static void put_old(const lacis_nbody_essential *e, const lacis_nbody_sources *to)
{
    const lacis_nbody *system = e->system;
    const void *old = system->column[NBODY_OLD];
    int64_t at = put_column(e, to->old, NBODY_OLD, 0, e->begin, e->end - e->begin);
    for (int64_t i = 0; i < e->picks; i++) {
        const struct lacis_nbody_pick *pick = &e->pick[i];
        if (pick->kind == RANGE) {
            at = put_column(e, to->old, NBODY_OLD, at, pick->first, pick->many);
            continue;
        }
        const double first = number_at(system, old, system->tree.cell[pick->first].begin);
        for (int64_t k = 0; k < pick->many; k++)
            put_number(system, to->old, at++, first);
    }
}

void lacis_nbody_essential_fill(const lacis_nbody_essential *essential, const lacis_nbody_sources *to)
{
    const lacis_nbody_essential *e = essential;
    int64_t at = put_range(e, to, 0, e->begin, e->end - e->begin);
    for (int64_t i = 0; i < e->picks; i++) {
        const struct lacis_nbody_pick *pick = &e->pick[i];
        const nbody_moments *cell = pick->kind == RANGE ? NULL : &e->system->tree.moments[pick->first];
        switch (pick->kind) {
        case RANGE:
            at = put_range(e, to, at, pick->first, pick->many);
            break;
        case ONE:
            at = put_body(e, to, at, cell->m, cell->at, cell->e);
            if (pick->many > 1) at = put_mark(e, to, at, cell, &e->system->tree.moments[pick->parent]);
            break;
        case FOUR:
            at = put_corners(e, to, at, cell);
            at = put_mark(e, to, at, cell, &e->system->tree.moments[pick->parent]);
            break;
        case REST:
            at = put_rest(e, to, at, pick->first);
            break;
        }
    }
    if (e->old) put_old(e, to);
}

/* --- fields from elsewhere --------------------------------------------------------------------------------- */

void lacis_nbody_share_with(lacis_nbody *system, lacis_nbody_share share, void *context)
{
    system->share = share;
    system->share_context = context;
}

void lacis_nbody_put(lacis_nbody *system, int64_t begin, int64_t end, const void *const a[3], const void *phi)
{
    const size_t size = (size_t)lacis_nbody_size(system->type), bytes = size * (size_t)(end - begin);
    for (int d = 0; d < 3 && !system->known && bytes > 0; d++)
        memcpy((char *)system->column[NBODY_AX + d] + size * (size_t)begin, a[d], bytes);
    if (phi != NULL && bytes > 0) memcpy((char *)system->column[NBODY_PHI] + size * (size_t)begin, phi, bytes);
}
