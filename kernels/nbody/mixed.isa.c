/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies in doubles, forces in floats. Called through the table of each instruction set.
 */
#define P          double
#define R          float
#define PLACE_BITS 64
#define FORCE_BITS 32
#define NAME       lacis_nbody_mixed
#include "nbody/type.h"
