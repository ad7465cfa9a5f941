/* SPDX-License-Identifier: Apache-2.0
 *
 * The variants of SWEEP: one step a pass over memory, or several, on the CPU and on the GPU.
 */
#include "sweep/ranks.h"

/* Each variant's functions know their way. */
#define WAY(which, way, text, gpu_text)                                                                              \
    static int which##_levels(const lacis_call *call)                                                                \
    {                                                                                                                \
        const lacis_sweep_work *work = call->work;                                                                   \
        return (way) == LACIS_SWEEP_SINGLE ? 1 : work->levels;                                                       \
    }                                                                                                                \
    static bool which##_can(const lacis_call *call, char *reason, size_t size)                                       \
    {                                                                                                                \
        return lacis_sweep_can(call, way, reason, size);                                                             \
    }                                                                                                                \
    static lacis_status which##_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,           \
                                     lacis_cost *out)                                                                \
    {                                                                                                                \
        return lacis_sweep_cost(run, call, way, profile, out);                                                       \
    }                                                                                                                \
    static lacis_status which##_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,              \
                                    lacis_array **out)                                                               \
    {                                                                                                                \
        (void)begin, (void)end; /* a grid is not cut */                                                              \
        return lacis_sweep_run_call(run, call, lacis_sweep_cpu_system, which##_levels(call), out);                   \
    }                                                                                                                \
    static bool which##_gpu_can(const lacis_call *call, char *reason, size_t size)                                   \
    {                                                                                                                \
        return lacis_sweep_can(call, way, reason, size) && lacis_sweep_gpu_can(call, way, reason, size);             \
    }                                                                                                                \
    static lacis_status which##_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,       \
                                         lacis_cost *out)                                                            \
    {                                                                                                                \
        return lacis_sweep_gpu_cost(run, call, way, profile, out);                                                   \
    }                                                                                                                \
    static lacis_status which##_gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,          \
                                        lacis_array **out)                                                           \
    {                                                                                                                \
        (void)begin, (void)end;                                                                                      \
        return lacis_sweep_run_call(run, call, lacis_sweep_gpu_system, which##_levels(call), out);                   \
    }                                                                                                                \
    static const lacis_variant which = {.name = #which,                                                              \
                                        .device = LACIS_CPU,                                                         \
                                        .summary = (text),                                                           \
                                        .can = which##_can,                                                          \
                                        .cost = which##_cost,                                                        \
                                        .run = which##_run};                                                         \
    static const lacis_variant which##_gpu = {.name = "gpu " #which,                                                 \
                                              .device = LACIS_GPU,                                                   \
                                              .summary = (gpu_text),                                                 \
                                              .can = which##_gpu_can,                                                \
                                              .cost = which##_gpu_cost,                                              \
                                              .run = which##_gpu_run}

WAY(sweep, LACIS_SWEEP_SINGLE, "one step in a pass over memory", "one step in a pass over its memory");
WAY(blocked, LACIS_SWEEP_BLOCKED, "several steps in a pass over memory, in blocks that stay in cache",
    "several steps in a pass over its memory, in blocks that stay on the chip");

const lacis_variant *const lacis_sweep_variants[LACIS_SWEEP_VARIANTS] = {&sweep, &blocked, &sweep_gpu, &blocked_gpu,
                                                                         &lacis_sweep_ranks};
