/* SPDX-License-Identifier: Apache-2.0
 *
 * ACCELERATE's table, and the certificate of free points.
 */
#ifndef LACIS_OPERATORS_NBODY_FIELD_H
#define LACIS_OPERATORS_NBODY_FIELD_H

#include "nbody/system.h"

enum { LACIS_NBODY_FIELD_COLUMNS = 5 }; /* the last one, phi, with POTENTIAL alone */
extern const lacis_column lacis_nbody_field_column[LACIS_NBODY_FIELD_COLUMNS];

/* Accelerations `a` (three columns, of points [begin, end)) against direct sums in double, for a sample of as many
 * points as CERTIFY says. */
lacis_status lacis_nbody_certify_points(lacis_nbody_system *system, const void *places, int64_t begin, int64_t end,
                                        void *const a[3], lacis_nbody_errors *out);

#endif
