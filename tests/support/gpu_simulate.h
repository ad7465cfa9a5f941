/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's GPU variants on a pretended device whose kernels are the CPU's. gpu.c and what belongs to it are
 * compiled into whatever includes this file, so that tests of them work in builds without nvcc as well.
 */
#ifndef LACIS_TESTS_GPU_SIMULATE_H
#define LACIS_TESTS_GPU_SIMULATE_H

#include "neuron/gpu.h"
#include "support/cells.h"
#include "support/gpu_variant.h"

#include <unistd.h>

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_neuron_gpu_way_name     fake_way_name
#define lacis_neuron_gpu_refuses      fake_refuses
#define lacis_neuron_gpu_choose       fake_choose
#define lacis_neuron_gpu_tables_new   fake_tables_new
#define lacis_neuron_gpu_tables_free  fake_tables_free
#define lacis_neuron_gpu_run          fake_kernels
#define lacis_neuron_gpu_work_bytes   fake_work_bytes
#define lacis_neuron_gpu_tables_bytes fake_tables_bytes
/* The library has its own. */
#define lacis_simulate_gpu_thread     tested_thread
#define lacis_simulate_gpu_chip       tested_chip
#define lacis_simulate_gpu_power      tested_power
#define lacis_simulate_gpu_can        tested_can
#define lacis_simulate_gpu_cost       tested_cost
#define lacis_simulate_gpu_any        tested_any
#define lacis_simulate_gpu_job        tested_job
#define lacis_simulate_gpu_calibrate  tested_calibrate
#define lacis_simulate_explain_gpu    tested_explain
#define lacis_simulate_figure         tested_figure
#define lacis_simulate_gpu_seconds    tested_gpu_seconds
#define lacis_simulate_units          tested_units
#define lacis_simulate_table_products tested_table_products
#define lacis_simulate_devices        tested_devices
#define lacis_simulate_devices_clear  tested_devices_clear
#define lacis_simulate_panel_lanes    tested_panel_lanes
#define lacis_simulate_panel_compute  tested_panel_compute
#define lacis_simulate_panel_drop     tested_panel_drop
#define lacis_simulate_fraction       tested_fraction

static const char *const fake_way_name[LACIS_NEURON_GPU_WAYS] = {"thread", "chip", "power"};
static int fake_cuda_error; /* not 0: the next run of the kernels fails with it */
static int fake_tables;     /* that are still held */

static const char *fake_refuses(const lacis_neuron_gpu_job *job)
{
    if (job->way != LACIS_NEURON_GPU_POWER) return NULL;
    if (job->plan.column[NEURON_CM] != NULL) return "the lanes' matrices differ";
    return job->plan.hh ? "its matrix is another in every step" : NULL;
}

static lacis_neuron_gpu_way fake_choose(const lacis_neuron_gpu_job *job, bool same_bits)
{
    return job->plan.hh || same_bits ? LACIS_NEURON_GPU_CHIP : LACIS_NEURON_GPU_POWER;
}

static uint64_t fake_tables_bytes(const lacis_neuron_gpu_job *job)
{
    return lacis_neuron_shared_bytes(&job->plan) + 64;
}

static uint64_t fake_work_bytes(const lacis_neuron_gpu_job *job)
{
    const uint64_t always = 4096, node = 16;
    return always + (uint64_t)job->plan.lanes * (uint64_t)job->plan.shape[0].nodes * node;
}

struct lacis_neuron_gpu_tables {
    double shared[1];
};

static lacis_neuron_gpu_status fake_tables_new(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables **out,
                                               int *cuda_error)
{
    (void)cuda_error;
    *out = job->memory.alloc(job->memory.context, fake_tables_bytes(job));
    if (*out == NULL) return LACIS_NEURON_GPU_NO_MEMORY;
    lacis_neuron_share(&job->plan, *out);
    fake_tables++;
    return LACIS_NEURON_GPU_OK;
}

static void fake_tables_free(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *tables)
{
    if (tables == NULL) return;
    job->memory.free(job->memory.context, tables);
    fake_tables--;
}

static bool fake_blocks(const lacis_neuron_gpu_job *job, const lacis_neuron_gpu_tables *tables)
{
    int64_t blocks = lacis_neuron_blocks(&job->plan, NULL);
    neuron_block *block = malloc(sizeof *block * (size_t)(blocks + 1));
    void *workspace = aligned_alloc(64, (lacis_neuron_workspace(&job->plan) + 127) / 64 * 64);
    bool whole = true;
    lacis_neuron_blocks(&job->plan, block);
    for (int64_t i = 0; i < blocks && whole; i++)
        whole = lacis_neuron_run(&job->plan, &block[i], tables->shared, workspace, NULL, NULL) &&
                (job->stop == NULL || !job->stop(job->stop_context, i + 1 == blocks ? job->plan.steps : 0));
    free(workspace);
    free(block);
    return whole;
}

static lacis_neuron_gpu_status fake_kernels(const lacis_neuron_gpu_job *job, const lacis_neuron_gpu_tables *tables,
                                            int *cuda_error)
{
    if (job->stream == NULL || tables == NULL) return LACIS_NEURON_GPU_UNSUPPORTED;
    fake_meet();
    if (fake_cuda_error != 0) {
        *cuda_error = fake_cuda_error;
        fake_cuda_error = 0;
        return LACIS_NEURON_GPU_FAILED;
    }
    void *work = job->memory.alloc(job->memory.context, fake_work_bytes(job));
    if (work == NULL) return LACIS_NEURON_GPU_NO_MEMORY;
    bool whole = fake_blocks(job, tables);
    job->memory.free(job->memory.context, work);
    return whole ? LACIS_NEURON_GPU_OK : LACIS_NEURON_GPU_CANCELLED;
}

#include "../../operators/simulate/gpu.c"
#include "../../operators/simulate/gpu_cost.c"
#include "../../operators/simulate/gpu_devices.c"
#include "../../operators/simulate/gpu_units.c"
#define device_alloc calibrate_alloc
#define device_free  calibrate_free
#include "../../operators/simulate/gpu_calibrate.c"
#undef device_alloc
#undef device_free

#endif
