/* SPDX-License-Identifier: Apache-2.0
 *
 * Running programs. Operators' kernels call lacis_program_run from their threads, once for each strip, often with few
 * elements: nothing here is done for each element, and little for each step.
 */
#include "expr/program.h"

#include <string.h>

static size_t flag_bytes(const lacis_program *program)
{
    return ((size_t)program->registers + 63) / 64 * 64;
}

size_t lacis_program_workspace(const lacis_program *program)
{
    return flag_bytes(program) + (size_t)program->registers * program->register_bytes;
}

/* One strip's run. */
struct frame {
    const lacis_program *program;
    const lacis_strip *slots;
    bool *flat; /* for each register: one value for the whole strip */
    char *registers;
    int n;
};

static inline lacis_strip operand(const struct frame *frame, lacis_operand where)
{
    switch (where.place) {
    case LACIS_PLACE_SLOT:
        return frame->slots[where.index];
    case LACIS_PLACE_CONST:
        return (lacis_strip){frame->program->constant + where.index, true};
    case LACIS_PLACE_VALUE:
        return (lacis_strip){frame->registers + (size_t)where.index * frame->program->register_bytes,
                             frame->flat[where.index]};
    default:
        return (lacis_strip){NULL, true};
    }
}

static const void *element(lacis_strip strip, int i, size_t size)
{
    return strip.data == NULL || strip.constant ? strip.data : (const char *)strip.data + (size_t)i * size;
}

/* A second look at a step that failed somewhere: whether it did where it counts. */
static bool fails_under_mask(const struct frame *frame, const lacis_program_step *step)
{
    if (step->mask.place == LACIS_PLACE_NONE) return true;
    lacis_strip x = operand(frame, step->x), y = operand(frame, step->y), mask = operand(frame, step->mask);
    size_t size = step->dtype == LACIS_F32 ? sizeof(float) : sizeof(int64_t);
    for (int i = 0; i < frame->n; i++) {
        int64_t counts;
        memcpy(&counts, element(mask, i, sizeof counts), sizeof counts);
        if (counts != 0 && lacis_step_fails(step->op, step->dtype, element(x, i, size), element(y, i, size)))
            return true;
    }
    return false;
}

/* The first element of out, over all n. */
static void spread(int n, size_t size, void *out)
{
    if (size == sizeof(float)) {
        float *value = out, first = value[0];
        for (int i = 1; i < n; i++) {
            value[i] = first;
        }
        return;
    }
    if (size == sizeof(lacis_pair)) {
        lacis_pair *value = out, first = value[0];
        for (int i = 1; i < n; i++) {
            value[i] = first;
        }
        return;
    }
    int64_t *value = out, first = value[0];
    for (int i = 1; i < n; i++) {
        value[i] = first;
    }
}

bool lacis_program_run(const lacis_program *program, int n, const lacis_strip *slots, void *workspace, void *out)
{
    struct frame frame = {program, slots, workspace, (char *)workspace + flag_bytes(program), n};
    bool flat = false;
    if (n <= 0) return true;
    for (const lacis_program_step *step = program->step; step < program->step + program->steps; step++) {
        lacis_strip x = operand(&frame, step->x), y = operand(&frame, step->y), z = operand(&frame, step->z);
        flat = x.constant && y.constant && z.constant;
        unsigned form = 0;
        if (!flat) {
            form |= x.constant ? LACIS_FORM_X : 0;
            form |= y.constant && y.data != NULL ? LACIS_FORM_Y : 0;
            form |= z.constant && z.data != NULL ? LACIS_FORM_Z : 0;
        }
        void *to = step->out < 0 ? out : frame.registers + (size_t)step->out * program->register_bytes;
        int64_t failed = step->fn(flat ? 1 : n, form, x.data, y.data, z.data, to);
        if (failed != 0 && fails_under_mask(&frame, step)) return false;
        if (step->out >= 0) frame.flat[step->out] = flat;
    }
    if (flat) spread(n, program->result_size, out);
    return true;
}
