/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids of doubles. Called through the table of each instruction set.
 */
#define T       double
#define T_FLOAT 0
#define NAME    lacis_sweep_f64
#include "sweep/type.h"
