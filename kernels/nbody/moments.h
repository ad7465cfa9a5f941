/* SPDX-License-Identifier: Apache-2.0
 *
 * Moments of cells, from their bodies or their children, in double and in the order of the curve; and what the rule
 * makes of them: from which distance a cell may be taken as a whole. For type.h.
 */

enum { EXACT_BODIES = 1024 }; /* cells of more have a bound of their extent, out of their children's */

static void add_moment(nbody_moments *to, double m, const double d[3])
{
    to->q[0] += m * d[0] * d[0];
    to->q[1] += m * d[1] * d[1];
    to->q[2] += m * d[2] * d[2];
    to->q[3] += m * d[0] * d[1];
    to->q[4] += m * d[0] * d[2];
    to->q[5] += m * d[1] * d[2];
}

/* To what a cell's fields hold. */
static void round_place(double at[3])
{
    for (int d = 0; d < 3; d++) {
        const P whole = (P)at[d];
        at[d] = (double)whole + (PLACE_BITS == 32 ? (double)(R)(at[d] - (double)whole) : 0);
    }
}

static double apart_from(const body *b, const double at[3], double d[3])
{
    d[0] = (double)b->x - at[0];
    d[1] = (double)b->y - at[1];
    d[2] = (double)b->z - at[2];
    return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

static void moments_of_leaf(const lacis_nbody *system, const nbody_cell *cell, nbody_moments *to)
{
    const body *all_bodies = system->body;
    const R *soft = system->soft;
    const double base[3] = {(double)all_bodies[cell->begin].x, (double)all_bodies[cell->begin].y,
                            (double)all_bodies[cell->begin].z};
    double sum[3] = {0, 0, 0}, plain[3] = {0, 0, 0}, d[3], farthest = 0;
    *to = (nbody_moments){.m = 0};
    for (int64_t i = cell->begin; i < cell->end; i++) {
        const double m = (double)all_bodies[i].m;
        apart_from(&all_bodies[i], base, d);
        for (int k = 0; k < 3; k++) {
            sum[k] += m * d[k];
            plain[k] += d[k];
        }
        to->m += m;
        if (soft != NULL) to->e += m * (double)soft[i];
    }
    const double *place = to->m > 0 ? sum : plain, share = to->m > 0 ? to->m : (double)(cell->end - cell->begin);
    for (int k = 0; k < 3; k++)
        to->at[k] = base[k] + place[k] / share;
    round_place(to->at);
    to->e = to->m > 0 ? to->e / to->m : 0;
    for (int64_t i = cell->begin; i < cell->end; i++) {
        farthest = fmax(farthest, apart_from(&all_bodies[i], to->at, d));
        add_moment(to, (double)all_bodies[i].m, d);
    }
    to->extent = sqrt(farthest);
}

static double extent_of(const lacis_nbody *system, const nbody_cell *cell, const double at[3])
{
    const body *all_bodies = system->body;
    double farthest = 0, d[3];
    for (int64_t i = cell->begin; i < cell->end; i++)
        farthest = fmax(farthest, apart_from(&all_bodies[i], at, d));
    return sqrt(farthest);
}

static void moments_of_children(const lacis_nbody *system, const nbody_cell *cell, nbody_moments *to)
{
    const nbody_moments *child = system->tree.moments + cell->first;
    const nbody_cell *range = system->tree.cell + cell->first;
    double sum[3] = {0, 0, 0}, plain[3] = {0, 0, 0}, bound = 0;
    *to = (nbody_moments){.m = 0};
    for (int k = 0; k < cell->many; k++) {
        for (int d = 0; d < 3; d++) {
            sum[d] += child[k].m * (child[k].at[d] - child->at[d]);
            plain[d] += (double)(range[k].end - range[k].begin) * (child[k].at[d] - child->at[d]);
        }
        to->m += child[k].m;
        to->e += child[k].m * child[k].e;
    }
    const double *place = to->m > 0 ? sum : plain, share = to->m > 0 ? to->m : (double)(cell->end - cell->begin);
    for (int d = 0; d < 3; d++)
        to->at[d] = child->at[d] + place[d] / share;
    round_place(to->at);
    to->e = to->m > 0 ? to->e / to->m : 0;
    for (int k = 0; k < cell->many; k++) {
        const double d[3] = {child[k].at[0] - to->at[0], child[k].at[1] - to->at[1], child[k].at[2] - to->at[2]};
        for (int i = 0; i < 6; i++)
            to->q[i] += child[k].q[i];
        add_moment(to, child[k].m, d);
        bound = fmax(bound, child[k].extent + sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]));
    }
    to->extent = cell->end - cell->begin > EXACT_BODIES ? bound : extent_of(system, cell, to->at);
}

/* --- what a walk reads ---------------------------------------------------------------------------------------- */

/* OFFSET: side / theta + how far the centre of mass lies from the cube's. */
static double offset_distance(const lacis_nbody *system, const nbody_cell *cell, const nbody_moments *own)
{
    const double length = system->units.length, side = ldexp(cell->box.half * length, 1 - cell->level);
    double off = 0;
    for (int d = 0; d < 3; d++) {
        const double at = (double)column_of(system, (nbody_column)(NBODY_X + d))[cell->begin];
        const uint32_t step = cell->box.half > 0 ? hilbert_step(at, cell->box.lo[d], cell->box.half) : 0;
        const double cube = (double)(step >> (NBODY_LEVELS - cell->level)) + 0.5;
        const double from = cell->box.lo[d] * length + cube * side - own->at[d];
        off += from * from;
    }
    return side / system->rule.theta + sqrt(off);
}

static void tests_of(const lacis_nbody *system, const nbody_cell *cell, const nbody_moments *own, double test[4])
{
    static const double more = PLACE_BITS == 32 ? 1 + 0x1p-18 : 1 + 0x1p-44; /* than rounding may take away */
    const relative_test relative = relative_test_of(system->rule.order);
    const double s = own->extent * more;
    test[2] = s * s * more;
    test[3] = pow(own->m, relative.power);
    if (s == 0) {
        test[0] = test[1] = -1;
        return;
    }
    const double from =
        system->rule.opening == LACIS_NBODY_OFFSET ? offset_distance(system, cell, own) : s / system->rule.theta;
    test[0] = from * from;
    test[1] = pow(own->m * pow(s, relative.moment), relative.power);
}

static void fill_fields(lacis_nbody *system, int64_t c)
{
    const nbody_moments *own = &system->tree.moments[c];
    void **field = system->tree.field;
    double test[4];
    tests_of(system, &system->tree.cell[c], own, test);
    for (int d = 0; d < 3; d++) {
        const P whole = (P)own->at[d];
        ((P *)field[NBODY_CX + d])[c] = whole;
        ((R *)field[NBODY_LX + d])[c] = (R)(own->at[d] - (double)whole);
    }
    for (int t = 0; t < 4; t++)
        ((P *)field[NBODY_NEAR + t])[c] = (P)test[t];
    ((R *)field[NBODY_MASS])[c] = (R)own->m;
    for (int i = 0; i < 6; i++)
        ((R *)field[NBODY_QXX + i])[c] = (R)own->q[i];
    ((R *)field[NBODY_MEAN])[c] = (R)own->e;
}

static void moments(lacis_nbody *system, int64_t begin, int64_t end)
{
    for (int64_t c = begin; c < end; c++) {
        const nbody_cell *cell = &system->tree.cell[c];
        if (cell->many == 0) {
            moments_of_leaf(system, cell, &system->tree.moments[c]);
        } else {
            moments_of_children(system, cell, &system->tree.moments[c]);
        }
        fill_fields(system, c);
    }
}
