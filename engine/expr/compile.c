/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_program_new: typed tree -> steps -> registers. Equal steps are made once. Steps that can fail within a branch
 * of CASE or behind a condition of AND, OR get a mask of the elements for which they count. Operators call it once
 * for each expression that they run.
 */
#include "expr/program.h"

#include <float.h>
#include <math.h>
#include <string.h>

struct build {
    lacis_run *run;
    const lacis_expr *expr;
    lacis_program_step *step;
    int steps, step_room;
    int64_t *constant;
    int constants, constant_room;
};

enum { LOOK_BACK = 64 }; /* how far equal steps and constants are searched for */

static const lacis_operand nowhere = {LACIS_PLACE_NONE, 0};

static lacis_status compile(struct build *build, const lacis_node *node, lacis_operand mask, lacis_operand *out);

/* ------------------------------------------------------------------------------- constants and steps */

static lacis_status grow(lacis_run *run, void *pointer, int count, int *room, size_t size, int more)
{
    void *grown, *old;
    if (count + more <= *room) return LACIS_OK;
    int wanted = 2 * (count + more) + 16;
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)wanted * size, &grown));
    memcpy(&old, pointer, sizeof old);
    if (count > 0) memcpy(grown, old, (size_t)count * size);
    memcpy(pointer, &grown, sizeof grown);
    *room = wanted;
    return LACIS_OK;
}

static lacis_status add_constants(struct build *build, const int64_t *word, int count, lacis_operand *out)
{
    LACIS_TRY(grow(build->run, &build->constant, build->constants, &build->constant_room, sizeof *word, count));
    memcpy(build->constant + build->constants, word, (size_t)count * sizeof *word);
    *out = (lacis_operand){LACIS_PLACE_CONST, build->constants};
    build->constants += count;
    return LACIS_OK;
}

static lacis_status constant(struct build *build, const lacis_node *node, lacis_operand *out)
{
    int64_t word[2] = {node->integer};
    int words = node->dtype == LACIS_C128 ? 2 : 1;
    float narrow = (float)node->real;
    if (node->dtype == LACIS_F64 || words == 2) memcpy(&word[0], &node->real, sizeof word[0]);
    if (words == 2) memcpy(&word[1], &node->imag, sizeof word[1]);
    if (node->dtype == LACIS_F32) word[0] = 0, memcpy(&word[0], &narrow, sizeof narrow);
    for (int i = build->constants - words; i >= 0 && i >= build->constants - LOOK_BACK; i--) {
        if (memcmp(build->constant + i, word, (size_t)words * sizeof *word) != 0) continue;
        *out = (lacis_operand){LACIS_PLACE_CONST, i};
        return LACIS_OK;
    }
    return add_constants(build, word, words, out);
}

static bool same(lacis_operand a, lacis_operand b)
{
    return a.place == b.place && a.index == b.index;
}

static bool same_step(const lacis_program_step *a, const lacis_program_step *b)
{
    return a->op == b->op && a->dtype == b->dtype && same(a->x, b->x) && same(a->y, b->y) && same(a->z, b->z) &&
           same(a->mask, b->mask);
}

static lacis_status emit(struct build *build, const lacis_program_step *step, lacis_operand *out)
{
    for (int i = build->steps - 1; i >= 0 && i >= build->steps - LOOK_BACK; i--) {
        if (!same_step(&build->step[i], step)) continue;
        *out = (lacis_operand){LACIS_PLACE_VALUE, i};
        return LACIS_OK;
    }
    LACIS_TRY(grow(build->run, &build->step, build->steps, &build->step_room, sizeof *step, 1));
    build->step[build->steps] = *step; /* before *out, which may lie in it */
    *out = (lacis_operand){LACIS_PLACE_VALUE, build->steps++};
    return LACIS_OK;
}

/* A step on integers that cannot fail: masks, booleans. */
static lacis_status emit_plain(struct build *build, lacis_node_op op, lacis_dtype dtype, lacis_operand x,
                               lacis_operand y, lacis_operand *out)
{
    lacis_program_step step = {.op = op, .dtype = dtype, .x = x, .y = y};
    return emit(build, &step, out);
}

/* mask AND condition, or mask AND NOT condition. */
static lacis_status narrow_mask(struct build *build, lacis_operand mask, lacis_operand condition, bool negative,
                                lacis_operand *out)
{
    if (negative) LACIS_TRY(emit_plain(build, LACIS_NODE_NOT, LACIS_I64, condition, nowhere, &condition));
    *out = condition;
    if (mask.place == LACIS_PLACE_NONE) return LACIS_OK;
    return emit_plain(build, LACIS_NODE_AND, LACIS_I64, mask, condition, out);
}

/* ------------------------------------------------------------------------------------- kinds of node */

static bool narrow(lacis_range range)
{
    return range.lo >= INT32_MIN && range.hi <= INT32_MAX;
}

/* The cheapest step that does the node's work. */
static lacis_node_op step_op(const lacis_node *node)
{
    if (node->dtype != LACIS_I64 || node->fails) return node->op;
    if (node->op == LACIS_NODE_ADD) return LACIS_STEP_ADD_SAFE;
    if (node->op == LACIS_NODE_SUB) return LACIS_STEP_SUB_SAFE;
    bool small = node->op == LACIS_NODE_MUL && narrow(node->kid[0]->range) && narrow(node->kid[1]->range);
    return small ? LACIS_STEP_MUL_NARROW : node->op;
}

/* Whether the node is x over a power of two, and its reciprocal: x times that has the same bits and is faster. */
static bool reciprocal(const lacis_node *node, lacis_node *out)
{
    if (node->op != LACIS_NODE_DIV || !lacis_dtype_real(node->dtype)) return false;
    const lacis_node *y = node->kid[1];
    int exponent;
    double least = node->dtype == LACIS_F32 ? (double)FLT_MIN : DBL_MIN;
    double most = node->dtype == LACIS_F32 ? (double)FLT_MAX : DBL_MAX;
    if (y->op != LACIS_NODE_CONST || fabs(frexp(y->real, &exponent)) != 0.5) return false;
    *out = *y;
    out->real = 1 / y->real;
    return fabs(out->real) >= least && fabs(out->real) <= most;
}

/* One operand, two, or a chain of two (MIN, MAX). */
static lacis_status compile_plain(struct build *build, const lacis_node *node, lacis_operand mask, lacis_operand *out)
{
    lacis_program_step step = {
        .op = step_op(node), .dtype = node->kid[0]->dtype, .mask = node->fails ? mask : nowhere};
    lacis_node factor;
    LACIS_TRY(compile(build, node->kid[0], mask, &step.x));
    if (node->count == 1) return emit(build, &step, out);
    if (reciprocal(node, &factor)) {
        step.op = LACIS_NODE_MUL;
        LACIS_TRY(constant(build, &factor, &step.y));
        return emit(build, &step, out);
    }
    for (int i = 1; i < node->count; i++) {
        LACIS_TRY(compile(build, node->kid[i], mask, &step.y));
        LACIS_TRY(emit(build, &step, out));
        step.x = *out;
    }
    return LACIS_OK;
}

static lacis_status compile_logic(struct build *build, const lacis_node *node, lacis_operand mask, lacis_operand *out)
{
    lacis_operand left, right;
    LACIS_TRY(compile(build, node->kid[0], mask, &left));
    for (int i = 1; i < node->count; i++) {
        lacis_operand active = mask;
        if (node->kid[i]->tree_fails) LACIS_TRY(narrow_mask(build, mask, left, node->op == LACIS_NODE_OR, &active));
        LACIS_TRY(compile(build, node->kid[i], active, &right));
        LACIS_TRY(emit_plain(build, node->op, LACIS_I64, left, right, &left));
    }
    *out = left;
    return LACIS_OK;
}

static lacis_status compile_between(struct build *build, const lacis_node *node, lacis_operand mask,
                                    lacis_operand *out)
{
    lacis_operand x, lo, hi;
    lacis_dtype dtype = node->kid[0]->dtype;
    LACIS_TRY(compile(build, node->kid[0], mask, &x));
    LACIS_TRY(compile(build, node->kid[1], mask, &lo));
    LACIS_TRY(compile(build, node->kid[2], mask, &hi));
    LACIS_TRY(emit_plain(build, LACIS_NODE_GE, dtype, x, lo, &lo));
    LACIS_TRY(emit_plain(build, LACIS_NODE_LE, dtype, x, hi, &hi));
    return emit_plain(build, LACIS_NODE_AND, LACIS_I64, lo, hi, out);
}

/* A list of integer constants, which canonical form has sorted, is one step. */
static lacis_status compile_list(struct build *build, const lacis_node *node, lacis_operand x, lacis_operand *out)
{
    int64_t *word;
    lacis_operand list;
    LACIS_TRY(lacis_run_scratch(build->run, (uint64_t)node->count * sizeof *word, &word));
    word[0] = node->count - 1;
    for (int i = 1; i < node->count; i++) {
        word[i] = node->kid[i]->integer;
    }
    LACIS_TRY(add_constants(build, word, node->count, &list));
    return emit_plain(build, LACIS_STEP_MEMBER, LACIS_I64, x, list, out);
}

static lacis_status compile_in(struct build *build, const lacis_node *node, lacis_operand mask, lacis_operand *out)
{
    lacis_operand x, value, any = nowhere;
    lacis_dtype dtype = node->kid[0]->dtype;
    bool list = dtype == LACIS_I64;
    LACIS_TRY(compile(build, node->kid[0], mask, &x));
    for (int i = 1; i < node->count; i++) {
        list = list && node->kid[i]->op == LACIS_NODE_CONST;
    }
    if (list) return compile_list(build, node, x, out);
    for (int i = 1; i < node->count; i++) {
        LACIS_TRY(compile(build, node->kid[i], mask, &value));
        LACIS_TRY(emit_plain(build, LACIS_NODE_EQ, dtype, x, value, &value));
        if (i > 1) LACIS_TRY(emit_plain(build, LACIS_NODE_OR, LACIS_I64, any, value, &value));
        any = value;
    }
    *out = any;
    return LACIS_OK;
}

/* -------------------------------------------------------------------------------------------- CASE */

struct branch {
    lacis_operand when, active;
};

static int last_failing_kid(const lacis_node *node)
{
    int last = node->count - 1;
    while (last >= 0 && !node->kid[last]->tree_fails) {
        last--;
    }
    return last;
}

/* The conditions of CASE and SWITCH in turn, each where none before it held. *rest: where none holds at all. Masks
 * are made only as far as something can fail under them. */
static lacis_status compile_conditions(struct build *build, const lacis_node *node, lacis_operand mask,
                                       struct branch *branch, lacis_operand *rest)
{
    int first = node->op == LACIS_NODE_SWITCH, last = last_failing_kid(node);
    lacis_operand x = nowhere;
    if (first) LACIS_TRY(compile(build, node->kid[0], mask, &x));
    *rest = mask;
    for (int i = first; i < node->count - 1; i += 2, branch++) {
        LACIS_TRY(compile(build, node->kid[i], *rest, &branch->when));
        if (first) LACIS_TRY(emit_plain(build, LACIS_NODE_EQ, node->kid[0]->dtype, x, branch->when, &branch->when));
        branch->active = *rest;
        if (node->kid[i + 1]->tree_fails) LACIS_TRY(narrow_mask(build, *rest, branch->when, false, &branch->active));
        if (last > i + 1) LACIS_TRY(narrow_mask(build, *rest, branch->when, true, rest));
    }
    return LACIS_OK;
}

static lacis_status compile_case(struct build *build, const lacis_node *node, lacis_operand mask, lacis_operand *out)
{
    int first = node->op == LACIS_NODE_SWITCH, branches = (node->count - first) / 2;
    struct branch *branch;
    lacis_operand rest;
    lacis_program_step step = {.op = LACIS_STEP_BLEND, .dtype = node->dtype};
    LACIS_TRY(lacis_run_scratch(build->run, (uint64_t)branches * sizeof *branch, &branch));
    LACIS_TRY(compile_conditions(build, node, mask, branch, &rest));
    LACIS_TRY(compile(build, node->kid[node->count - 1], rest, &step.z));
    for (int i = branches - 1; i >= 0; i--) {
        step.x = branch[i].when;
        LACIS_TRY(compile(build, node->kid[first + 2 * i + 1], branch[i].active, &step.y));
        LACIS_TRY(emit(build, &step, &step.z));
    }
    *out = step.z;
    return LACIS_OK;
}

/* Slots of these types become wider when they are read. */
static bool loaded(lacis_dtype slot)
{
    return slot == LACIS_I32 || slot == LACIS_C64;
}

static lacis_status compile(struct build *build, const lacis_node *node, lacis_operand mask, lacis_operand *out)
{
    switch (node->op) {
    case LACIS_NODE_CONST:
        return constant(build, node, out);
    case LACIS_NODE_SLOT:
        *out = (lacis_operand){LACIS_PLACE_SLOT, node->slot};
        if (!loaded(build->expr->slot_dtype[node->slot])) return LACIS_OK;
        return emit_plain(build, LACIS_STEP_LOAD, node->dtype, *out, nowhere, out);
    case LACIS_NODE_OR:
    case LACIS_NODE_AND:
        return compile_logic(build, node, mask, out);
    case LACIS_NODE_IN:
        return compile_in(build, node, mask, out);
    case LACIS_NODE_BETWEEN:
        return compile_between(build, node, mask, out);
    case LACIS_NODE_CASE:
    case LACIS_NODE_SWITCH:
        return compile_case(build, node, mask, out);
    default:
        return compile_plain(build, node, mask, out);
    }
}

/* ---------------------------------------------------------------------------------------- registers */

static void note_use(int *last_use, lacis_operand operand, int step)
{
    if (operand.place == LACIS_PLACE_VALUE) last_use[operand.index] = step;
}

static void place(lacis_operand *operand, const lacis_program_step *step)
{
    if (operand->place == LACIS_PLACE_VALUE) operand->index = step[operand->index].out;
}

/* Gives each step's result a register until its last use. A result never shares a register with the step's own
 * operands, since the elements' sizes may differ. The last step writes the program's result. */
static lacis_status assign_registers(struct build *build, int *registers)
{
    int *last_use, *idle, *dies, idles = 0;
    uint64_t bytes = (uint64_t)build->steps * sizeof(int);
    LACIS_TRY(lacis_run_scratch(build->run, bytes, &last_use));
    LACIS_TRY(lacis_run_scratch(build->run, bytes, &idle));
    LACIS_TRY(lacis_run_scratch(build->run, bytes, &dies)); /* first value whose last use a step is, or -1 */
    int *next;
    LACIS_TRY(lacis_run_scratch(build->run, bytes, &next)); /* the next such value */
    for (int i = 0; i < build->steps; i++) {
        const lacis_program_step *step = &build->step[i];
        last_use[i] = dies[i] = -1;
        note_use(last_use, step->x, i);
        note_use(last_use, step->y, i);
        note_use(last_use, step->z, i);
        note_use(last_use, step->mask, i);
    }
    for (int i = 0; i < build->steps; i++) {
        int end = last_use[i] < 0 ? i : last_use[i];
        next[i] = dies[end];
        dies[end] = i;
    }
    *registers = 0;
    for (int i = 0; i < build->steps; i++) {
        lacis_program_step *step = &build->step[i];
        place(&step->x, build->step);
        place(&step->y, build->step);
        place(&step->z, build->step);
        place(&step->mask, build->step);
        step->out = i == build->steps - 1 ? -1 : idles > 0 ? idle[--idles] : (*registers)++;
        for (int value = dies[i]; value >= 0; value = next[value]) {
            idle[idles++] = build->step[value].out;
        }
    }
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------- the program */

static size_t value_size(lacis_dtype dtype)
{
    return dtype == LACIS_C128 ? sizeof(lacis_pair) : dtype == LACIS_F32 ? sizeof(float) : sizeof(int64_t);
}

static lacis_status finish(struct build *build, lacis_dtype result, int registers, lacis_program **out)
{
    const lacis_steps *loops = lacis_steps_here();
    size_t step_bytes = (size_t)build->steps * sizeof(lacis_program_step);
    size_t constant_bytes = (size_t)build->constants * sizeof(int64_t);
    lacis_program *program;
    size_t widest = sizeof(int64_t);
    for (int i = 0; i < build->steps; i++) {
        if (lacis_step_result(build->step[i].op, build->step[i].dtype) == LACIS_C128) widest = sizeof(lacis_pair);
        build->step[i].fn = lacis_step_find(loops, build->step[i].op, build->step[i].dtype);
    }
    LACIS_TRY(lacis_run_alloc(build->run, sizeof *program + step_bytes + constant_bytes, &program));
    lacis_program_step *step = (lacis_program_step *)(program + 1);
    int64_t *constants = (int64_t *)(step + build->steps);
    memcpy(step, build->step, step_bytes);
    if (build->constants > 0) memcpy(constants, build->constant, constant_bytes);
    *program = (lacis_program){.memory = lacis_memory_retain(build->run->host->memory),
                               .steps = build->steps,
                               .registers = registers,
                               .slots = build->expr->slots,
                               .register_bytes = LACIS_STRIP * widest,
                               .result_size = value_size(result),
                               .step = step,
                               .constant = constants};
    *out = program;
    return LACIS_OK;
}

lacis_status lacis_program_new(lacis_run *run, const lacis_expr *expr, lacis_program **out)
{
    struct build build = {.run = run, .expr = expr};
    lacis_operand root;
    int registers;
    *out = NULL;
    if (expr->raw->op == LACIS_NODE_NIL)
        return lacis_run_fail_at(run, LACIS_TYPE, expr->raw->offset, NULL, "nil has no value, so it cannot be run");
    if (expr->root == expr->raw)
        return lacis_run_fail(run, LACIS_MISUSE, "an expression must be typed before a program is made of it");
    LACIS_TRY(compile(&build, expr->root, nowhere, &root));
    if (root.place != LACIS_PLACE_VALUE || root.index != build.steps - 1)
        LACIS_TRY(emit_plain(&build, LACIS_STEP_COPY, expr->root->dtype, root, nowhere, &root));
    LACIS_TRY(lacis_steps_fuse(run, build.step, &build.steps));
    LACIS_TRY(assign_registers(&build, &registers));
    return finish(&build, expr->root->dtype, registers, out);
}

void lacis_program_free(lacis_program *program)
{
    if (program == NULL) return;
    lacis_memory *memory = program->memory;
    lacis_memory_free(memory, program);
    lacis_memory_release(memory);
}
