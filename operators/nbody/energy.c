/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME_energy: figures of a system while it moves, in doubles. A row for the first step and the last, and each k-th
 * between them.
 */
#include "nbody/steps.h"

#include <math.h>

static const lacis_column columns[] = {
    {"step", false}, {"t", true},  {"kinetic", true}, {"potential", true}, {"energy", true},  {"drift", true},
    {"px", true},    {"py", true}, {"pz", true},      {"lx", true},        {"ly", true},      {"lz", true},
    {"cx", true},    {"cy", true}, {"cz", true},      {"drift_p", true},   {"drift_l", true},
};
enum { STEP, T, KINETIC, POTENTIAL, ENERGY, DRIFT, PX, LX = PX + 3, CX = LX + 3, DRIFT_P = CX + 3, DRIFT_L, COLUMNS };

_Static_assert(LACIS_COUNT(columns) == COLUMNS, "a name a column");
_Static_assert(LACIS_COUNT(((lacis_nbody_energy *)0)->data) >= COLUMNS, "room for all columns");

int64_t lacis_nbody_energy_rows(const lacis_nbody_work *work)
{
    const int64_t every = work->every > 0 ? work->every : work->steps > 0 ? work->steps : 1;
    return 1 + work->steps / every + (work->steps % every != 0);
}

double lacis_nbody_energy_bytes(const lacis_nbody_work *work)
{
    return 8.0 * COLUMNS * (double)lacis_nbody_energy_rows(work);
}

lacis_status lacis_nbody_energy_new(lacis_run *run, int64_t rows, lacis_nbody_energy *out)
{
    lacis_dtype dtype[COLUMNS];
    for (int i = 0; i < COLUMNS; i++)
        dtype[i] = columns[i].real ? LACIS_F64 : LACIS_I64;
    *out = (lacis_nbody_energy){.rows = rows};
    return lacis_nbody_new_table(run, columns, dtype, COLUMNS, rows, &out->table, out->data);
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

static void put(lacis_nbody_energy *energy, int column, double value)
{
    ((double *)energy->data[column])[energy->row] = value;
}

void lacis_nbody_energy_put(lacis_nbody_energy *energy, int64_t step, double t, const lacis_nbody_figures *figures)
{
    if (energy->row == 0) energy->first = *figures;
    const double all = figures->kinetic + figures->potential;
    const double first = energy->first.kinetic + energy->first.potential;
    energy->drift = first != 0 ? (all - first) / fabs(first) : all - first;
    ((int64_t *)energy->data[STEP])[energy->row] = step;
    put(energy, T, t);
    put(energy, KINETIC, figures->kinetic);
    put(energy, POTENTIAL, figures->potential);
    put(energy, ENERGY, all);
    put(energy, DRIFT, energy->drift);
    for (int i = 0; i < 3; i++) {
        put(energy, PX + i, figures->momentum[i]);
        put(energy, LX + i, figures->angular[i]);
        put(energy, CX + i, figures->centre[i]);
    }
    put(energy, DRIFT_P, distance(figures->momentum, energy->first.momentum));
    put(energy, DRIFT_L, distance(figures->angular, energy->first.angular));
    energy->row++;
}
