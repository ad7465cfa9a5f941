/* SPDX-License-Identifier: Apache-2.0
 *
 * Systems in floats. Called from run.c through the table of each instruction set.
 */
#include "solve/types.h"

#define T       float
#define TI      int32_t
#define S       float
#define SLACK   SOLVE_SLACK_F32
#define NAME(x) x##_side
#define L       16
#include "solve/loops.h"
#undef L
#undef NAME
#define NAME(x) x##_one
#define L       1
#include "solve/loops.h"
#undef NAME

SOLVE_TABLE(lacis_solve_f32, 16)
