/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields on the CPU: kernels/sweep with memory and cancelling of the run.
 */
#include "sweep/system.h"

typedef struct cpu {
    lacis_sweep_system base;
    lacis_sweep *system;
    lacis_sweep_programs *programs;
    uint64_t bytes; /* that it takes at most, for messages */
} cpu;

static void *take(void *context, uint64_t bytes)
{
    return lacis_run_alloc_quiet(context, bytes);
}

static void give(void *context, void *block)
{
    lacis_run_free(context, block);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(context);
}

lacis_sweep_host lacis_sweep_host_of(lacis_run *run)
{
    return (lacis_sweep_host){take, give, stopped, run};
}

static cpu *own(lacis_sweep_system *system)
{
    return (cpu *)system; /* of which it is the beginning */
}

static lacis_status steps(lacis_sweep_system *system, int64_t count, lacis_sweep_change *change)
{
    const cpu *c = own(system);
    return lacis_sweep_said(system->run, system->work, lacis_sweep_steps(c->system, count, change), c->bytes);
}

static lacis_status read(lacis_sweep_system *system, void *const *field)
{
    lacis_sweep_read(own(system)->system, field);
    return LACIS_OK;
}

static void counted(lacis_sweep_system *system, lacis_sweep_counts *out)
{
    lacis_sweep_counted(own(system)->system, out, true);
}

static void clear(lacis_sweep_system *system)
{
    cpu *c = own(system);
    lacis_sweep_free(c->system);
    lacis_sweep_programs_free(system->run, c->programs);
    c->system = NULL;
    c->programs = NULL;
}

static const lacis_sweep_kind kind = {.steps = steps, .read = read, .counted = counted, .free = clear};

lacis_status lacis_sweep_cpu_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                    int levels, lacis_sweep_system **out)
{
    cpu *made;
    const lacis_sweep_work *work = call->work;
    lacis_sweep_start start;
    lacis_sweep_start_of(work, input, &start);
    start.levels = levels;
    start.host = lacis_sweep_host_of(run);
    LACIS_TRY(lacis_run_scratch(run, sizeof *made, &made));
    *made = (cpu){.base = {&kind, run, call, work}, .bytes = lacis_sweep_bytes(&start)};
    if (made->bytes > lacis_run_memory_left(run))
        return lacis_sweep_said(run, work, LACIS_SWEEP_NO_MEMORY, made->bytes);
    *out = &made->base;
    LACIS_TRY(lacis_sweep_programs_new(run, work, start.threads, &made->programs));
    start.cells_context = made->programs;
    return lacis_sweep_said(run, work, lacis_sweep_new(&start, &made->system), made->bytes);
}
