/* SPDX-License-Identifier: Apache-2.0
 *
 * A run of the GPU's simulation on the host side: a panel's lanes cut into tiles, its state, and launches of as many
 * steps as leave time to ask whether to stop. Caller: operators/simulate.
 */
#include "gpu_state.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ROW = 16 };                   /* lanes to which long rows of the state are padded */
static const double PATIENCE = 0.05; /* seconds of a launch */

struct run {
    const lacis_neuron_gpu_job *job;
    const lacis_neuron_gpu_tables *tables;
    neug_launch launch;
    neug_params params;
    int64_t tile_lanes, tiles, words; /* words: of one array of the state */
    uint64_t bytes;
    char *block;
    neug_tile *tile; /* on the host */
    const neug_tile *tiles_there;
    double *column[NEURON_FIGURES];
    neug_power_run power; /* POWER */
    int32_t *clamps;      /* of each shape; where there are no tables yet */
    int *cuda_error;
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Lanes of a shape that the panel has: answers how many, and which is the first. */
static int64_t lanes_of(const neuron_plan *plan, const neuron_shape *shape, int64_t *first)
{
    const int64_t end = least(shape->lane + shape->lanes, plan->first + plan->lanes);
    *first = shape->lane > plan->first ? shape->lane : plan->first;
    return end > *first ? end - *first : 0;
}

/* Rows of a shape's state; where there are no tables yet, with POWER at most. */
static int64_t rows_of(const struct run *s, int64_t shape)
{
    const neuron_plan *plan = &s->job->plan;
    const int64_t nodes = plan->shape[shape].nodes;
    if (s->job->way != LACIS_NEURON_GPU_POWER) return nodes;
    if (s->tables != NULL)
        return neug_power_rows(&s->tables->cut, nodes, s->tables->shape[shape].clamps,
                               s->tables->shape[shape].probes);
    const neug_power_cut cut = neug_power_cut_of(plan, s->job->most_steps);
    return neug_power_rows(&cut, nodes, neug_clamps_at(plan, s->clamps, shape), plan->numbers);
}

static int64_t padded(int64_t lanes)
{
    return (lanes + ROW - 1) / ROW * ROW;
}

/* Tiles, also into s->tile where there is one, and the size of a state's array. Rows of THREAD and POWER go over all
 * lanes that a shape has in the panel, those of CHIP over a tile's, so that a block's memory is in one piece. */
static void cut(struct run *s)
{
    const neuron_plan *plan = &s->job->plan;
    const bool chip = s->job->way == LACIS_NEURON_GPU_CHIP, power = s->job->way == LACIS_NEURON_GPU_POWER;
    s->tiles = s->words = 0;
    for (int64_t k = 0; k < plan->shapes; k++) {
        int64_t first;
        const int64_t lanes = lanes_of(plan, &plan->shape[k], &first);
        const int64_t stride = chip ? s->tile_lanes : power || lanes >= ROW ? padded(lanes) : lanes;
        for (int64_t at = 0; at < lanes; at += s->tile_lanes, s->tiles++) {
            const int32_t here = (int32_t)least(lanes - at, s->tile_lanes);
            if (s->tile != NULL)
                s->tile[s->tiles] = {(int32_t)k, here, first + at - plan->first, s->words + (chip ? 0 : at), stride};
            if (chip) s->words += padded(rows_of(s, k) * stride);
        }
        if (!chip) s->words += padded(rows_of(s, k) * stride);
    }
}

static double *array_of(struct run *s, int64_t words)
{
    double *out = s->block == NULL ? NULL : (double *)(s->block + s->bytes);
    s->bytes += neug_aligned((uint64_t)words * sizeof *out);
    return out;
}

/* Places of everything in the run's block of device memory. */
static void lay_out(struct run *s)
{
    const neuron_plan *plan = &s->job->plan;
    const int model = neug_model(plan);
    const bool half = plan->method != NEURON_EULER, thread = s->job->way == LACIS_NEURON_GPU_THREAD;
    const bool power = s->job->way == LACIS_NEURON_GPU_POWER;
    s->bytes = 0;
    s->tiles_there = (const neug_tile *)array_of(s, s->tiles * (int64_t)(sizeof(neug_tile) / sizeof(double)));
    s->params.v = array_of(s, s->words);
    s->params.y = power || (half && thread) ? array_of(s, s->words) : s->params.v;
    s->params.f = model != NEUG_CONSTANT && thread ? array_of(s, s->words) : NULL;
    if (model == NEUG_CHANNELS) {
        s->params.m = array_of(s, s->words);
        s->params.h = array_of(s, s->words);
        s->params.n = array_of(s, s->words);
    }
    for (int c = 0; c < NEURON_FIGURES; c++)
        s->column[c] = plan->column[c] == NULL ? NULL : array_of(s, plan->lanes);
}

/* tables may be NULL: then as they would be, or more. */
static void plan_memory(const lacis_neuron_gpu_job *job, const lacis_neuron_gpu_tables *tables, struct run *s)
{
    memset(s, 0, sizeof *s);
    s->job = job;
    s->tables = tables;
    if (tables != NULL) s->launch = tables->setup;
    if (tables == NULL && job->way == LACIS_NEURON_GPU_CHIP) neug_chip_fit(job, SIZE_MAX, &s->launch);
    if (tables == NULL && job->way == LACIS_NEURON_GPU_POWER) s->clamps = neug_count_clamps(&job->plan);
    s->tile_lanes = job->way == LACIS_NEURON_GPU_CHIP ? s->launch.lanes : NEUG_THREADS;
    cut(s);
    lay_out(s);
}

uint64_t lacis_neuron_gpu_work_bytes(const lacis_neuron_gpu_job *job)
{
    struct run s;
    uint64_t tiles = 0;
    plan_memory(job, NULL, &s);
    free(s.clamps);
    /* A device with little shared memory has tiles of fewer lanes. */
    if (job->way == LACIS_NEURON_GPU_CHIP) tiles = (uint64_t)job->plan.lanes * sizeof(neug_tile);
    return s.bytes + neug_aligned(tiles);
}

static lacis_neuron_gpu_status copy_up(struct run *s)
{
    const neuron_plan *plan = &s->job->plan;
    const cudaStream_t stream = s->launch.stream;
    cut(s);
    NEUG_TRY_CUDA(s->cuda_error, cudaMemcpyAsync((void *)s->tiles_there, s->tile, (size_t)s->tiles * sizeof *s->tile,
                                                 cudaMemcpyHostToDevice, stream));
    for (int c = 0; c < NEURON_FIGURES; c++) {
        if (s->column[c] == NULL) continue;
        NEUG_TRY_CUDA(s->cuda_error,
                      cudaMemcpyAsync(s->column[c], plan->column[c] + plan->first,
                                      (size_t)plan->lanes * sizeof *s->column[c], cudaMemcpyHostToDevice, stream));
    }
    return LACIS_NEURON_GPU_OK;
}

static void set_params(struct run *s)
{
    const neuron_plan *plan = &s->job->plan;
    neug_params *p = &s->params;
    p->common = s->tables->common;
    p->tile = s->tiles_there;
    memcpy(p->column, s->column, sizeof p->column);
    p->start = plan->v;
    p->ena = plan->ena;
    p->ek = plan->ek;
    p->dt = plan->dt;
    p->less = -plan->dt * plan->rate;
    p->every = plan->every;
    p->last_sample = lacis_neuron_samples(plan) - 1;
    p->numbers = plan->numbers;
    p->lanes = plan->lanes;
    p->reduce = plan->reduce;
    p->threshold = plan->threshold;
    p->out = plan->out;
    p->when = plan->when;
    s->launch.tiles = (unsigned)s->tiles;
}

static double seconds_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Steps of the first launch: little enough not to be waited for. A product is of many steps. */
static int64_t first_steps(const struct run *s)
{
    const int64_t steps = ((int64_t)1 << 32) / (s->words + 1);
    const int64_t least_steps = s->job->way == LACIS_NEURON_GPU_POWER ? 1 << NEUG_POWER_LEVELS : 1;
    return steps < least_steps ? least_steps : least(steps, 16 * least_steps);
}

/* Launches `steps` steps or, with POWER, until there are so many. Answers how many in *done. */
static lacis_neuron_gpu_status launch(struct run *s, int64_t steps, int64_t *done)
{
    const int64_t limit = s->job->most_steps > 0 ? s->job->most_steps : INT64_MAX;
    *done = 0;
    while (*done < steps && s->job->way == LACIS_NEURON_GPU_POWER) {
        const int64_t before = s->power.step;
        NEUG_TRY_CUDA(s->cuda_error, neug_power_go_on(&s->power));
        *done += s->power.step - before;
    }
    while (*done < steps) {
        const int64_t now = least(limit, steps - *done);
        s->params.steps = now;
        NEUG_TRY_CUDA(s->cuda_error, s->job->way == LACIS_NEURON_GPU_CHIP
                                         ? neug_chip_launch(&s->launch, &s->params)
                                         : neug_thread_launch(&s->launch, &s->params));
        s->params.step += now;
        *done += now;
    }
    return LACIS_NEURON_GPU_OK;
}

static lacis_neuron_gpu_status advance(struct run *s)
{
    const neuron_plan *plan = &s->job->plan;
    int64_t most = first_steps(s), done;
    for (int64_t step = 0; step < plan->steps; step += done) {
        const double begin = seconds_now();
        NEUG_TRY(launch(s, least(most, plan->steps - step), &done));
        NEUG_TRY_CUDA(s->cuda_error, cudaStreamSynchronize(s->launch.stream));
        most = least(4 * done, (int64_t)(PATIENCE * (double)done / (seconds_now() - begin + 1e-9)) + 1);
        if (s->job->stop != NULL && s->job->stop(s->job->stop_context, done)) return LACIS_NEURON_GPU_CANCELLED;
    }
    return LACIS_NEURON_GPU_OK;
}

static lacis_neuron_gpu_status run_all(struct run *s)
{
    set_params(s);
    NEUG_TRY(copy_up(s));
    if (s->tiles == 0) return LACIS_NEURON_GPU_OK;
    if (s->job->way == LACIS_NEURON_GPU_POWER) {
        const int64_t most = s->job->most_steps > 0 ? s->job->most_steps : INT64_MAX;
        s->power = {s->tables, &s->launch, &s->params, s->params.v, s->params.y, 0, s->job->plan.steps, most};
        NEUG_TRY_CUDA(s->cuda_error, neug_power_start(&s->power, s->words));
    } else {
        NEUG_TRY_CUDA(s->cuda_error, neug_begin_launch(&s->launch, &s->params));
    }
    NEUG_TRY(advance(s));
    NEUG_TRY_CUDA(s->cuda_error, cudaStreamSynchronize(s->launch.stream));
    return LACIS_NEURON_GPU_OK;
}

static lacis_neuron_gpu_status run_with(const lacis_neuron_gpu_job *job, const lacis_neuron_gpu_tables *tables,
                                        int *cuda_error)
{
    struct run s;
    plan_memory(job, tables, &s);
    s.cuda_error = cuda_error;
    s.launch.stream = (cudaStream_t)job->stream;
    s.tile = (neug_tile *)malloc((size_t)(s.tiles + 1) * sizeof *s.tile);
    s.block = (char *)job->memory.alloc(job->memory.context, s.bytes + 1);
    lacis_neuron_gpu_status status = LACIS_NEURON_GPU_NO_MEMORY;
    if (s.tile != NULL && s.block != NULL) {
        lay_out(&s);
        status = run_all(&s);
    }
    if (s.block != NULL) job->memory.free(job->memory.context, s.block);
    free(s.tile);
    return status;
}

lacis_neuron_gpu_status lacis_neuron_gpu_run(const lacis_neuron_gpu_job *job, const lacis_neuron_gpu_tables *tables,
                                             int *cuda_error)
{
    int ignored = 0;
    lacis_neuron_gpu_tables *own = NULL;
    if (cuda_error == NULL) cuda_error = &ignored;
    if (lacis_neuron_gpu_refuses(job) != NULL) return LACIS_NEURON_GPU_UNSUPPORTED;
    if (tables == NULL) {
        NEUG_TRY(lacis_neuron_gpu_tables_new(job, &own, cuda_error));
        tables = own;
    }
    const lacis_neuron_gpu_status status = run_with(job, tables, cuda_error);
    lacis_neuron_gpu_tables_free(job, own);
    return status;
}
