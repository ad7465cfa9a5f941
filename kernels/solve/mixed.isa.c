/* SPDX-License-Identifier: Apache-2.0
 *
 * Systems stored in floats and computed in doubles. Called from run.c through the table of each instruction set.
 */
#include "solve/types.h"

#define T       double
#define TI      int64_t
#define S       float
#define SLACK   SOLVE_SLACK_F64
#define NAME(x) x##_side
#define L       8
#include "solve/loops.h"
#undef L
#undef NAME
#define NAME(x) x##_one
#define L       1
#include "solve/loops.h"
#undef NAME

SOLVE_TABLE(lacis_solve_mixed, 8)
