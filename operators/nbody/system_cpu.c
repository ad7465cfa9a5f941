/* SPDX-License-Identifier: Apache-2.0
 *
 * A system on the CPU: kernels/nbody with memory and cancelling of the run.
 */
#include "nbody/system.h"

#include <string.h>

typedef struct cpu {
    lacis_nbody_system base;
    lacis_nbody *system;
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

static void told(void *context, int64_t done, int64_t all)
{
    lacis_run_advance(context, "ACCELERATE", (double)done, (double)all, "bodies");
}

static cpu *own(lacis_nbody_system *system)
{
    return (cpu *)system; /* of which it is the beginning */
}

static lacis_status said(lacis_nbody_system *system, lacis_nbody_status status)
{
    if (system->failed != LACIS_OK) return system->failed;
    return lacis_nbody_said(system->run, status, own(system)->bytes);
}

static lacis_status field(lacis_nbody_system *system, bool potential)
{
    return said(system, lacis_nbody_field(own(system)->system, potential));
}

static lacis_status steps(lacis_nbody_system *system, int64_t count, double dt, bool potential)
{
    return said(system, lacis_nbody_steps(own(system)->system, count, dt, potential));
}

static lacis_status points(lacis_nbody_system *system, int64_t count, const void *at, void *out, bool potential)
{
    const size_t bytes = (size_t)lacis_nbody_size(system->work->type) * (size_t)count;
    const char *x = at;
    char *a = out;
    return said(system, lacis_nbody_points(own(system)->system, count, x, x + bytes, x + 2 * bytes, a, a + bytes,
                                           a + 2 * bytes, potential ? a + 3 * bytes : NULL));
}

static lacis_status measure(lacis_nbody_system *system, lacis_nbody_figures *out)
{
    return said(system, lacis_nbody_measure(own(system)->system, out));
}

static lacis_status certify(lacis_nbody_system *system, int64_t sample, lacis_nbody_errors *out)
{
    return said(system, lacis_nbody_certify(own(system)->system, sample, out));
}

static lacis_status read(lacis_nbody_system *system, const lacis_nbody_columns *into)
{
    return said(system, lacis_nbody_read(own(system)->system, into));
}

static void set_rule(lacis_nbody_system *system, const lacis_nbody_rule *rule)
{
    lacis_nbody_set_rule(own(system)->system, rule);
}

static void counted(lacis_nbody_system *system, lacis_nbody_counts *out)
{
    lacis_nbody_counted(own(system)->system, out, true);
}

static void clear(lacis_nbody_system *system)
{
    lacis_nbody_free(own(system)->system);
    own(system)->system = NULL;
}

static const lacis_nbody_kind kind = {
    .field = field,
    .steps = steps,
    .points = points,
    .measure = measure,
    .certify = certify,
    .read = read,
    .set_rule = set_rule,
    .counted = counted,
    .free = clear,
};

lacis_nbody *lacis_nbody_cpu_of(lacis_nbody_system *system)
{
    return own(system)->system;
}

lacis_status lacis_nbody_cpu_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                    lacis_nbody_way way, lacis_nbody_system **out)
{
    cpu *made;
    const lacis_nbody_work *work = call->work;
    lacis_nbody_start start = lacis_nbody_start_with(work, input, way);
    start.host = (lacis_nbody_host){.alloc = take, .free = give, .cancelled = stopped, .context = run};
    if (work->accelerate && work->error <= 0) start.host.told = told; /* steps and searches tell of themselves */
    LACIS_TRY(lacis_run_scratch(run, sizeof *made, &made));
    *made = (cpu){.base = {&kind, run, call, work, start.rule, start.ax != NULL}, .bytes = lacis_nbody_bytes(&start)};
    if (made->bytes > lacis_run_memory_left(run)) return lacis_nbody_said(run, LACIS_NBODY_NO_MEMORY, made->bytes);
    *out = &made->base;
    return lacis_nbody_said(run, lacis_nbody_new(&start, &made->system), made->bytes);
}
