/* SPDX-License-Identifier: Apache-2.0
 *
 * Written rules on the CPU: strips of cells through the expression's program. Called by kernels, from any thread, and
 * set up by system_cpu.c. The GPU's text (gpu_text.c) does the same: the expression in its own type, that converted
 * to the type of the run, the source added.
 */
#include "sweep/system.h"

#include <string.h>

_Static_assert(LACIS_SWEEP_STRIP <= (int)LACIS_STRIP, "a strip of cells is a strip of the program");

struct lacis_sweep_programs {
    const lacis_sweep_work *work;
    lacis_program *program[LACIS_SWEEP_FIELDS]; /* NULL: the rule is linear */
    char *room;                                 /* of each worker: slots, x, the program's, its result */
    uint64_t slots, workspace, each;
};

enum { RESULT = LACIS_SWEEP_STRIP * sizeof(double), ALONG_X = RESULT };

static uint64_t round_up(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static uint64_t slot_bytes(const lacis_sweep_work *work)
{
    int most = 0;
    for (int i = 0; i < work->grid.fields; i++)
        if (work->formula[i].slots > most) most = work->formula[i].slots;
    return round_up((uint64_t)most * sizeof(lacis_strip));
}

uint64_t lacis_sweep_programs_bytes(const lacis_sweep_work *work, int threads)
{
    const uint64_t guess = 16 * RESULT; /* of a program's workspace, which is known once it is made */
    return (uint64_t)threads * (slot_bytes(work) + RESULT + ALONG_X + guess);
}

static lacis_status make_programs(lacis_run *run, lacis_sweep_programs *p)
{
    for (int i = 0; i < p->work->grid.fields; i++) {
        const lacis_sweep_formula *formula = &p->work->formula[i];
        if (!formula->rule.written) continue;
        LACIS_TRY(lacis_program_new(run, formula->expr, &p->program[i]));
        const uint64_t needs = round_up(lacis_program_workspace(p->program[i]));
        if (needs > p->workspace) p->workspace = needs;
    }
    return LACIS_OK;
}

lacis_status lacis_sweep_programs_new(lacis_run *run, const lacis_sweep_work *work, int threads,
                                      lacis_sweep_programs **out)
{
    lacis_sweep_programs *p;
    *out = NULL;
    if (!lacis_sweep_written(work)) return LACIS_OK;
    LACIS_TRY(lacis_run_scratch(run, sizeof *p, &p));
    *p = (lacis_sweep_programs){.work = work, .slots = slot_bytes(work)};
    *out = p;
    LACIS_TRY(make_programs(run, p));
    p->each = p->slots + RESULT + ALONG_X + p->workspace;
    return lacis_run_alloc(run, (uint64_t)threads * p->each, &p->room);
}

void lacis_sweep_programs_free(lacis_run *run, lacis_sweep_programs *p)
{
    if (p == NULL) return;
    for (int i = 0; i < LACIS_SWEEP_FIELDS; i++)
        lacis_program_free(p->program[i]);
    lacis_run_free(run, p->room);
    p->room = NULL;
    memset(p->program, 0, sizeof p->program);
}

/* ------------------------------------------------------------------------------------------- strips */

static void put_place(lacis_sweep_type type, int64_t value, void *out)
{
    if (type == LACIS_SWEEP_F32)
        *(float *)out = (float)value;
    else
        *(double *)out = (double)value;
}

static void put_line(lacis_sweep_type type, int64_t x, int n, char *out)
{
    const uint64_t size = lacis_sweep_size(type);
    for (int i = 0; i < n; i++)
        put_place(type, x + i, out + size * (uint64_t)i);
}

static void add_source(lacis_sweep_type type, int n, const void *source, void *out)
{
    if (type == LACIS_SWEEP_F32) {
        for (int i = 0; i < n; i++)
            ((float *)out)[i] += ((const float *)source)[i];
    } else {
        for (int i = 0; i < n; i++)
            ((double *)out)[i] += ((const double *)source)[i];
    }
}

bool lacis_sweep_program_cells(void *context, int worker, int field, int n, const void *const *tap, int64_t x,
                               int64_t y, int64_t z, int64_t t, void *out)
{
    const lacis_sweep_programs *p = context;
    const lacis_sweep_formula *formula = &p->work->formula[field];
    const lacis_sweep_type type = p->work->type;
    char *room = p->room + p->each * (uint64_t)worker;
    lacis_strip *slot = (lacis_strip *)(void *)room;
    char *result = room + p->slots, *line = result + RESULT;
    double place[3]; /* y, z, t, each in the type of the run */
    bool lined = false;
    put_place(type, y, &place[0]);
    put_place(type, z, &place[1]);
    put_place(type, t, &place[2]);
    for (int i = 0; i < formula->slots; i++) {
        const int means = formula->slot[i];
        if (means == LACIS_SWEEP_X && !lined) put_line(type, x, n, line);
        lined = lined || means == LACIS_SWEEP_X;
        slot[i] = means >= 0                    ? (lacis_strip){tap[means], false}
                  : means == LACIS_SWEEP_X      ? (lacis_strip){line, false}
                  : means == LACIS_SWEEP_UNUSED ? (lacis_strip){&place[0], true}
                                                : (lacis_strip){&place[LACIS_SWEEP_X - 1 - means], true};
    }
    const lacis_dtype dtype = lacis_expr_dtype(formula->expr);
    const bool same = dtype == p->work->dtype;
    if (!lacis_program_run(p->program[field], n, slot, line + ALONG_X, same ? out : result)) return false;
    if (!same) lacis_values_convert(result, dtype, 0, n, out, p->work->dtype);
    if (formula->source >= 0) add_source(type, n, tap[formula->source], out);
    return true;
}
