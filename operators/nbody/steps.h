/* SPDX-License-Identifier: Apache-2.0
 *
 * NBODY's steps in parts: steps.c goes from one row to the next, energy.c keeps the table of figures, snapshots.c
 * writes files.
 */
#ifndef LACIS_OPERATORS_NBODY_STEPS_H
#define LACIS_OPERATORS_NBODY_STEPS_H

#include "nbody/system.h"

/* Figures of the system at some of its steps. */
typedef struct lacis_nbody_energy {
    int64_t rows, row;
    lacis_nbody_figures first;
    double drift; /* of energy, of the last row */
    lacis_array *table;
    void *data[20];
} lacis_nbody_energy;
/* How many rows there will be: the first, the last, each k-th. */
int64_t lacis_nbody_energy_rows(const lacis_nbody_work *work);
lacis_status lacis_nbody_energy_new(lacis_run *run, int64_t rows, lacis_nbody_energy *out);
void lacis_nbody_energy_put(lacis_nbody_energy *energy, int64_t step, double t, const lacis_nbody_figures *figures);
double lacis_nbody_energy_bytes(const lacis_nbody_work *work);

/* The system as bodies at a time; whether all of their figures are still numbers is looked at. */
lacis_status lacis_nbody_bodies_at(lacis_nbody_system *system, const lacis_nbody_input *input, double time,
                                   lacis_array **out);
/* Writes them to the file of this step. */
lacis_status lacis_nbody_snapshot(lacis_nbody_system *system, const lacis_nbody_input *input, int64_t step,
                                  double time);

#endif
