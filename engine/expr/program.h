/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs, shared by compile.c, which makes them, and program.c, which runs them.
 */
#ifndef LACIS_EXPR_PROGRAM_H
#define LACIS_EXPR_PROGRAM_H

#include "expr/steps.h"

typedef enum lacis_place {
    LACIS_PLACE_NONE,
    LACIS_PLACE_SLOT,  /* index of the slot */
    LACIS_PLACE_CONST, /* index into program.constant */
    LACIS_PLACE_VALUE  /* register; while compiling: the step that makes it */
} lacis_place;
typedef struct lacis_operand {
    lacis_place place;
    int32_t index;
} lacis_operand;

typedef struct lacis_program_step {
    lacis_step_fn fn;
    lacis_node_op op;
    lacis_dtype dtype; /* of the operands */
    lacis_operand x, y, z;
    lacis_operand mask; /* failures count only where it is 1; NONE: everywhere */
    int32_t out;        /* register; -1: the program's result */
} lacis_program_step;

/* One block of memory: the program, its steps, its constants. A workspace holds a flag for each register (one value
 * for the whole strip), rounded up to 64 bytes, then the registers of LACIS_STRIP elements of 8 bytes, or 16 where
 * anything is complex. */
struct lacis_program {
    lacis_memory *memory;
    int steps, registers, slots;
    size_t register_bytes; /* a multiple of 64 */
    size_t result_size;    /* bytes an element */
    const lacis_program_step *step;
    const int64_t *constant;
};

/* fuse.c: steps of which two can be one, while operands are still steps; the last one stays the last. */
lacis_status lacis_steps_fuse(lacis_run *run, lacis_program_step *step, int *steps);

#endif
