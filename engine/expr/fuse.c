/* SPDX-License-Identifier: Apache-2.0
 *
 * Two steps on reals made one: (x op y) op z, each rounded as before. A strip of values in between is then neither
 * written nor read, which is most of what such steps cost. Called by compile.c before registers are given out.
 */
#include "expr/program.h"

#include <string.h>

/* Its row or column among the fused steps, or -1; `behind`: the first result is what is subtracted. */
static int number(lacis_node_op op, bool behind, bool second)
{
    if (op == LACIS_NODE_ADD) return 0;
    if (op == LACIS_NODE_SUB) return second && behind ? 2 : 1;
    return op == LACIS_NODE_MUL ? (second ? 3 : 2) : -1;
}

static bool simple(const lacis_program_step *step)
{
    return number(step->op, false, false) >= 0 && lacis_dtype_real(step->dtype);
}

static void count_use(int *uses, lacis_operand operand)
{
    if (operand.place == LACIS_PLACE_VALUE) uses[operand.index]++;
}

/* Takes the step that makes *inner into `outer`, whose other operand is z. A single value as x would be slow. */
static bool take_in(lacis_program_step *step, lacis_program_step *outer, lacis_operand inner, lacis_operand z,
                    bool behind, int *uses)
{
    if (inner.place != LACIS_PLACE_VALUE || uses[inner.index] != 1) return false;
    const lacis_program_step *first = &step[inner.index];
    if (!simple(first) || first->dtype != outer->dtype || first->x.place == LACIS_PLACE_CONST) return false;
    int which = 4 * number(first->op, false, false) + number(outer->op, behind, true);
    outer->op = (lacis_node_op)(LACIS_STEP_FUSED + which);
    outer->x = first->x;
    outer->y = first->y;
    outer->z = z;
    uses[inner.index] = 0;
    return true;
}

static void renumber(lacis_operand *operand, const int *place)
{
    if (operand->place == LACIS_PLACE_VALUE) operand->index = place[operand->index];
}

/* Drops steps that nobody uses any more; the last is the result. */
static int close_up(lacis_program_step *step, int steps, const int *uses, int *place)
{
    int kept = 0;
    for (int i = 0; i < steps; i++) {
        if (uses[i] == 0 && i < steps - 1) continue;
        lacis_program_step moved = step[i];
        renumber(&moved.x, place);
        renumber(&moved.y, place);
        renumber(&moved.z, place);
        renumber(&moved.mask, place);
        place[i] = kept;
        step[kept++] = moved;
    }
    return kept;
}

lacis_status lacis_steps_fuse(lacis_run *run, lacis_program_step *step, int *steps)
{
    int *uses, *place;
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)*steps * sizeof *uses, &uses));
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)*steps * sizeof *place, &place));
    memset(uses, 0, (size_t)*steps * sizeof *uses);
    for (int i = 0; i < *steps; i++) {
        count_use(uses, step[i].x);
        count_use(uses, step[i].y);
        count_use(uses, step[i].z);
        count_use(uses, step[i].mask);
    }
    for (int i = 0; i < *steps; i++) {
        lacis_operand x = step[i].x, y = step[i].y;
        if (!simple(&step[i])) continue;
        if (!take_in(step, &step[i], x, y, false, uses)) (void)take_in(step, &step[i], y, x, true, uses);
    }
    *steps = close_up(step, *steps, uses, place);
    return LACIS_OK;
}
