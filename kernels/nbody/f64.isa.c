/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies in doubles. Called through the table of each instruction set.
 */
#define P          double
#define R          double
#define PLACE_BITS 64
#define FORCE_BITS 64
#define NAME       lacis_nbody_f64
#include "nbody/type.h"
