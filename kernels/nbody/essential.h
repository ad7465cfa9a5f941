/* SPDX-License-Identifier: Apache-2.0
 *
 * What essential.c leaves to essential_fill.c: a list of bodies and cells.
 */
#ifndef LACIS_KERNELS_NBODY_ESSENTIAL_H
#define LACIS_KERNELS_NBODY_ESSENTIAL_H

#include "nbody/inside.h"

enum { NBODY_CORNERS = 4 }; /* bodies that stand for a quadrupole */

/* Bodies [first, first + many); or a cell, as so many bodies. */
typedef enum kind { RANGE, ONE, FOUR, REST } pick_kind; /* REST: those of a heap that are not in the domain, as one */
struct lacis_nbody_pick {
    int64_t first, many, parent;
    pick_kind kind;
};

static inline double number_at(const lacis_nbody *system, const void *column, int64_t i)
{
    return system->type == LACIS_NBODY_F32 ? (double)((const float *)column)[i] : ((const double *)column)[i];
}

#endif
