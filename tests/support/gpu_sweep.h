/* SPDX-License-Identifier: Apache-2.0
 *
 * SWEEP's variants for the GPU on a pretended device whose kernels are the CPU's. system_gpu.c and what belongs to it
 * are compiled into whatever includes this file, so that tests of them work in builds without nvcc as well.
 */
#ifndef LACIS_TESTS_GPU_SWEEP_H
#define LACIS_TESTS_GPU_SWEEP_H

#include "parity/sweeps.h"
#include "support/gpu_variant.h"
#include "sweep/gpu.h"
#include "sweep/system.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_sweep_gpu             fake_sweep
#define lacis_sweep_gpu_new         fake_sweep_new
#define lacis_sweep_gpu_free        fake_sweep_free
#define lacis_sweep_gpu_error_code  fake_sweep_error_code
#define lacis_sweep_gpu_steps       fake_sweep_steps
#define lacis_sweep_gpu_read        fake_sweep_read
#define lacis_sweep_gpu_counted     fake_sweep_counted
#define lacis_sweep_gpu_bytes       fake_sweep_bytes
#define lacis_sweep_gpu_levels      fake_sweep_levels
#define lacis_sweep_gpu_refuses     fake_sweep_refuses
#define lacis_sweep_gpu_wants       fake_sweep_wants
#define lacis_sweep_gpu_prefix      fake_sweep_prefix
#define lacis_sweep_gpu_source      fake_sweep_source
#define lacis_sweep_gpu_kernel_name fake_sweep_kernel_name

#define lacis_sweep_gpus_for    fake_gpus_for
#define lacis_sweep_gpus_system fake_gpus_system

/* The library has its own. */
#define lacis_sweep_gpu_system      tested_system
#define lacis_sweep_gpu_can         tested_can
#define lacis_sweep_gpu_could       tested_could
#define lacis_sweep_gpu_cost        tested_cost
#define lacis_sweep_gpu_calibrate   tested_calibrate
#define lacis_sweep_gpu_chip_figure tested_chip_figure
#define lacis_sweep_program_can     tested_program_can
#define lacis_sweep_program_make    tested_program_make
#define lacis_sweep_program_seconds tested_program_seconds
#define lacis_sweep_variants        tested_variants

/* --- kernels ------------------------------------------------------------------------------------------ */

static int fake_cuda_error;      /* not 0: the next system, or the next steps, fail with it */
static int fake_systems;         /* made so far */
static uint64_t fake_takes;      /* bytes that a system takes on the device */
static const char *fake_refusal; /* why they refuse a start; NULL: they do not */
static int fake_levels;          /* that they would use */

typedef struct fake_sweep {
    lacis_sweep *system;
    lacis_sweep_host device;
    void *block;
    int error, fields;
    uint64_t bytes; /* of a field */
} fake_sweep;

static void *fake_take(void *context, uint64_t bytes)
{
    (void)context;
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static void fake_give(void *context, void *block)
{
    (void)context;
    free(block);
}

static lacis_sweep_status fake_sweep_new(const lacis_sweep_gpu_start *start, fake_sweep **out, int *cuda_error)
{
    lacis_sweep_start own = start->start;
    *out = NULL;
    *cuda_error = fake_cuda_error;
    fake_systems++;
    if (fake_cuda_error != 0) return LACIS_SWEEP_FAILED;
    void *block = own.host.alloc(own.host.context, fake_takes);
    if (block == NULL) return LACIS_SWEEP_NO_MEMORY;
    fake_sweep *made = calloc(1, sizeof *made);
    *made = (fake_sweep){.device = own.host, .block = block, .fields = own.fields};
    made->bytes = lacis_sweep_size(own.type) * (uint64_t)(own.extent[0] * own.extent[1] * own.extent[2]);
    own.host = (lacis_sweep_host){fake_take, fake_give, NULL, NULL};
    own.threads = 1;
    *out = made;
    return lacis_sweep_new(&own, &made->system);
}

static void fake_sweep_free(fake_sweep *made)
{
    if (made == NULL) return;
    lacis_sweep_free(made->system);
    made->device.free(made->device.context, made->block);
    free(made);
}

static int fake_sweep_error_code(const fake_sweep *made)
{
    return made->error;
}

static lacis_sweep_status fake_sweep_steps(fake_sweep *made, int64_t steps, lacis_sweep_change *change)
{
    made->error = fake_cuda_error;
    return fake_cuda_error != 0 ? LACIS_SWEEP_FAILED : lacis_sweep_steps(made->system, steps, change);
}

static lacis_sweep_status fake_sweep_read(fake_sweep *made, void *const *field)
{
    lacis_sweep_read(made->system, field);
    return LACIS_SWEEP_OK;
}

static void fake_sweep_counted(fake_sweep *made, lacis_sweep_counts *out, bool reset)
{
    lacis_sweep_counted(made->system, out, reset);
}

static uint64_t fake_sweep_bytes(const lacis_sweep_start *start)
{
    (void)start;
    return fake_takes;
}

static int fake_sweep_levels(const lacis_sweep_start *start)
{
    return start->levels == 1 ? 1 : fake_levels;
}

static const char *fake_sweep_refuses(const lacis_sweep_start *start)
{
    (void)start;
    return fake_refusal;
}

static bool fake_sweep_wants(const lacis_sweep_start *start)
{
    (void)start;
    return false;
}

static uint64_t fake_sweep_prefix(const lacis_sweep_start *start, char *text, uint64_t size)
{
    (void)start;
    if (size > 0) snprintf(text, size, "// prefix\n");
    return sizeof "// prefix\n";
}

static const char *fake_sweep_source(void)
{
    return "// source\n";
}

static const char *const fake_sweep_kernel_name[LACIS_SWEEP_GPU_KERNELS] = {"a", "b"};

static int fake_gpus = 1; /* that share a call, as system_gpus.c finds; there is one device */
static int fake_gpus_for(const lacis_sweep_work *work, int levels, bool start, lacis_gpu **gpu)
{
    (void)work, (void)levels, (void)start, (void)gpu;
    return fake_gpus;
}

static lacis_status fake_gpus_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                     int levels, lacis_gpu *const *gpu, int many, lacis_sweep_system **out)
{
    (void)call, (void)input, (void)levels, (void)gpu, (void)many, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "there is one device");
}

#include "../../operators/sweep/gpu_calibrate.c"
#include "../../operators/sweep/gpu_cost.c"
#include "../../operators/sweep/gpu_text.c"
#define take system_take /* gpu_calibrate.c has its own */
#define give system_give
#include "../../operators/sweep/system_gpu.c"
#undef take
#undef give
#include "../../operators/sweep/variants.c"

#endif
