/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids of floats. Called through the table of each instruction set.
 */
#define T       float
#define T_FLOAT 1
#define NAME    lacis_sweep_f32
#include "sweep/type.h"
