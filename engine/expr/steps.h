/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps: one loop each over a strip, for one operation on one type. program.c strings them together; canon.c folds
 * constants with them, so that folding and running cannot differ.
 */
#ifndef LACIS_EXPR_STEPS_H
#define LACIS_EXPR_STEPS_H

#include "expr/tree.h"

/* Which operands are one value for the whole strip. Never all of them: then n is 1 and form 0. */
enum { LACIS_FORM_X = 1, LACIS_FORM_Y = 2, LACIS_FORM_Z = 4 };

/* out[i] = op(x[i], y[i], z[i]) for i < n. Not zero: some element overflowed or divided by zero, its result means
 * nothing. out may be x, y or z only if the elements have one size. Booleans are int64 0 and 1. */
typedef int64_t (*lacis_step_fn)(int n, unsigned form, const void *x, const void *y, const void *z, void *out);

/* C128 in memory. */
typedef struct lacis_pair {
    double re, im;
} lacis_pair;

typedef struct lacis_steps {
    const char *isa;
    lacis_step_fn fn[LACIS_STEP_OPS][4]; /* by type of the operands (BLEND: of y and z): I64, F32, F64, C128 */
} lacis_steps;

/* The loops for this processor: "avx512", "avx2" or "baseline"; LACIS_ISA in the environment may name a lesser one.
 */
const lacis_steps *lacis_steps_here(void);
/* NULL where the operation does not exist for the type. */
lacis_step_fn lacis_step_find(const lacis_steps *steps, lacis_node_op op, lacis_dtype operands);
/* The type of an operation's result. */
lacis_dtype lacis_step_result(lacis_node_op op, lacis_dtype operands);
/* Whether one element of an I64 (TO_INT: real) step fails; a slow second look behind a step that did. */
bool lacis_step_fails(lacis_node_op op, lacis_dtype operands, const void *x, const void *y);

#endif
