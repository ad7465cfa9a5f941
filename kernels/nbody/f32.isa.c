/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies in floats. Called through the table of each instruction set.
 */
#define P          float
#define R          float
#define PLACE_BITS 32
#define FORCE_BITS 32
#define NAME       lacis_nbody_f32
#include "nbody/type.h"
