/* SPDX-License-Identifier: Apache-2.0
 *
 * What ranks.c and ranks_field.c share: systems whose field is computed by several ranks.
 */
#ifndef LACIS_OPERATORS_NBODY_RANKS_H
#define LACIS_OPERATORS_NBODY_RANKS_H

#include "nbody/system.h"

/* More would even out; but the essential trees of smaller pieces are larger. */
enum { LACIS_NBODY_PIECES = 1 };

/* A system on this rank's CPU, which moves its bodies and makes its tree, and whose field comes in pieces from all
 * ranks' CPUs or GPUs. */
lacis_status lacis_nbody_ranks_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                      lacis_nbody_way way, lacis_nbody_system **out);
lacis_status lacis_nbody_ranks_gpu_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                          lacis_nbody_way way, lacis_nbody_system **out);

#endif
