/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER on the host side: a job's matrices, and its steps cut into products (gpu_power.h). Products do not go beyond
 * a step in which a clamp begins or ends to flow. Callers: gpu_tables.cu, gpu_run.cu.
 */
#include "gpu_state.h"

#include <stdlib.h>

uint64_t neug_power_bytes(const lacis_neuron_gpu_job *job)
{
    const neuron_plan *plan = &job->plan;
    const neug_power_cut cut = neug_power_cut_of(plan, job->most_steps);
    int32_t *clamps = neug_count_clamps(plan);
    uint64_t bytes = neug_aligned((uint64_t)plan->shapes * sizeof(neug_power_shape));
    for (int64_t s = 0; s < plan->shapes; s++)
        bytes += sizeof(double) *
                 neug_power_doubles(&cut, plan->shape[s].nodes, neug_clamps_at(plan, clamps, s), plan->numbers);
    free(clamps);
    return bytes;
}

static uint64_t doubles_of(const lacis_neuron_gpu_tables *t, int64_t shape)
{
    return neug_power_doubles(&t->cut, t->shape[shape].nodes, t->shape[shape].clamps, t->shape[shape].probes);
}

static int rising(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static bool list_turns(lacis_neuron_gpu_tables *t, const neug_clamp *clamp, int64_t clamps)
{
    t->turn = (int64_t *)malloc((size_t)(2 * clamps + 1) * sizeof *t->turn);
    if (t->turn == NULL) return false;
    for (int64_t c = 0; c < clamps; c++) {
        t->turn[2 * c] = clamp[c].from;
        t->turn[2 * c + 1] = clamp[c].to;
    }
    t->turn[2 * clamps] = INT64_MAX;
    qsort(t->turn, (size_t)(2 * clamps), sizeof *t->turn, rising);
    return true;
}

static lacis_neuron_gpu_status make(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *t,
                                    neug_power_shape *shape, int *cuda_error)
{
    const cudaStream_t stream = (cudaStream_t)job->stream;
    const uint64_t head = neug_aligned((uint64_t)t->shapes * sizeof *shape);
    uint64_t bytes = head;
    for (int64_t s = 0; s < t->shapes; s++)
        bytes += doubles_of(t, s) * sizeof(double);
    t->matrices = job->memory.alloc(job->memory.context, bytes);
    if (t->matrices == NULL) return LACIS_NEURON_GPU_NO_MEMORY;
    t->power = (neug_power_shape *)t->matrices;
    NEUG_TRY_CUDA(cuda_error, cudaMemsetAsync(t->matrices, 0, bytes, stream));
    double *at = (double *)((char *)t->matrices + head);
    for (int64_t s = 0; s < t->shapes; s++) {
        NEUG_TRY_CUDA(cuda_error, neug_power_make(&t->common, &t->shape[s], s, t->setup.half, &t->cut,
                                                  job->plan.every, at, &shape[s], stream));
        const int64_t rows = t->cut.steps > 0 ? shape[s].rows[0] : shape[s].nodes;
        if (rows > t->setup.power_rows) t->setup.power_rows = rows;
        at += doubles_of(t, s);
    }
    NEUG_TRY_CUDA(cuda_error, cudaMemcpyAsync(t->power, shape, (size_t)t->shapes * sizeof *shape,
                                              cudaMemcpyHostToDevice, stream));
    NEUG_TRY_CUDA(cuda_error, cudaStreamSynchronize(stream));
    return LACIS_NEURON_GPU_OK;
}

lacis_neuron_gpu_status neug_power_tables_make(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *t,
                                               const neug_clamp *clamp, int64_t clamps, int *cuda_error)
{
    neug_power_shape *shape = (neug_power_shape *)malloc((size_t)(t->shapes + 1) * sizeof *shape);
    if (shape == NULL) return LACIS_NEURON_GPU_NO_MEMORY;
    t->cut = neug_power_cut_of(&job->plan, job->most_steps);
    const lacis_neuron_gpu_status status =
        list_turns(t, clamp, clamps) ? make(job, t, shape, cuda_error) : LACIS_NEURON_GPU_NO_MEMORY;
    free(shape);
    return status;
}

void neug_power_tables_free(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *t)
{
    if (t->matrices != NULL) job->memory.free(job->memory.context, t->matrices);
    free(t->turn);
}

/* The first turn after `step`. */
static int64_t next_turn(const lacis_neuron_gpu_tables *t, int64_t step)
{
    const int64_t *turn = t->turn;
    while (*turn <= step)
        turn++;
    return *turn;
}

static bool turns_in(const lacis_neuron_gpu_tables *t, int64_t step)
{
    return step == 0 || next_turn(t, step - 1) == step;
}

#define TRY(call)                                                                                                    \
    do {                                                                                                             \
        const cudaError_t error_ = (call);                                                                           \
        if (error_ != cudaSuccess) return error_;                                                                    \
    } while (0)

cudaError_t neug_power_start(neug_power_run *run, int64_t words)
{
    const neug_launch *l = run->launch;
    TRY(cudaMemsetAsync(run->x, 0, (size_t)words * sizeof *run->x, l->stream));
    TRY(cudaMemsetAsync(run->y, 0, (size_t)words * sizeof *run->y, l->stream));
    TRY(neug_power_begin(l, run->params, run->x));
    return neug_power_record(l, run->params, run->tables->power, run->x, 0, 1);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

cudaError_t neug_power_go_on(neug_power_run *run)
{
    const lacis_neuron_gpu_tables *t = run->tables;
    const int64_t every = run->params->every, end = least(run->steps, next_turn(t, run->step));
    const int64_t most = least(run->most, end - run->step);
    int64_t samples = run->step % every == 0 ? t->cut.samples : 0; /* of a block; 0: none fits */
    int block = 0;
    for (; samples * every > most; samples >>= 1)
        block++;
    int level = -1 - block;
    int64_t steps = samples * every;
    if (samples == 0) {
        steps = least(most, every - run->step % every);
        for (level = 0; level + 1 < t->cut.levels && (int64_t)2 << level <= steps;)
            level++;
        steps = (int64_t)1 << level;
    }
    run->params->step = run->step;
    if (turns_in(t, run->step)) TRY(neug_power_flow(run->launch, run->params, run->x, run->y));
    TRY(neug_power_multiply(run->launch, run->params->tile, t->power, run->x, run->y, level));
    double *swap = run->x;
    run->x = run->y;
    run->y = swap;
    run->step += steps;
    if (run->step % every != 0) return cudaSuccess;
    if (samples == 0) samples = 1;
    return neug_power_record(run->launch, run->params, t->power, run->x, run->step / every - samples + 1, samples);
}
