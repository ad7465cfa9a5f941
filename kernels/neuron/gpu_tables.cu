/* SPDX-License-Identifier: Apache-2.0
 *
 * What all panels of a job have in common, laid out on the host and copied to the device in one piece. Callers:
 * operators/simulate, gpu_run.cu.
 */
#include "gpu_state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sizes, and the host's copy of the block: the pointers of `common` as they are on the host. */
struct draft {
    const lacis_neuron_gpu_job *job;
    lacis_neuron_gpu_tables *tables;
    uint64_t nodes, clamps, probes, lists, events, bytes;
    char *block;
    neug_shape *shape;
    uint32_t *flag, *event;
    int32_t *parent, *list;
    uint2 *word;
    double *member;
    double2 *couple;
    neug_clamp *clamp;
    neug_probe *probe;
};

#define PLACE(d, pointer, count)                                                                                     \
    do {                                                                                                             \
        void *here_ = (d)->block == NULL ? NULL : (d)->block + (d)->bytes;                                           \
        memcpy(&(pointer), &here_, sizeof here_);                                                                    \
        (d)->bytes += neug_aligned((uint64_t)(count) * sizeof *(pointer));                                           \
    } while (0)

static void lay_out(struct draft *d)
{
    d->bytes = 0;
    PLACE(d, d->shape, d->job->plan.shapes);
    PLACE(d, d->flag, d->nodes);
    PLACE(d, d->event, d->events);
    PLACE(d, d->parent, d->nodes);
    PLACE(d, d->list, d->lists);
    PLACE(d, d->word, d->lists > 0 ? d->nodes : 0);
    PLACE(d, d->member, d->nodes * NEUG_MEMBER);
    PLACE(d, d->couple, d->nodes);
    PLACE(d, d->clamp, d->clamps);
    PLACE(d, d->probe, d->probes);
}

static void measure(const lacis_neuron_gpu_job *job, int groups, struct draft *d)
{
    const neuron_plan *plan = &job->plan;
    memset(d, 0, sizeof *d);
    d->job = job;
    for (int64_t s = 0; s < plan->shapes; s++)
        d->nodes += (uint64_t)plan->shape[s].nodes;
    d->clamps = (uint64_t)plan->clamps;
    d->probes = (uint64_t)plan->probes;
    if (job->way == LACIS_NEURON_GPU_CHIP) {
        d->lists = (uint64_t)plan->shapes * (2 * NEUG_PHASES * (uint64_t)groups + 2);
        d->events = d->nodes + d->clamps;
    }
    lay_out(d);
}

uint64_t lacis_neuron_gpu_tables_bytes(const lacis_neuron_gpu_job *job)
{
    struct draft d;
    measure(job, NEUG_CHIP_THREADS, &d);
    return d.bytes + (job->way == LACIS_NEURON_GPU_POWER ? neug_power_bytes(job) : 0);
}

/* The first step whose middle is not before `time`. */
static int64_t first_step(double time, double dt)
{
    const double most = 0x1p62;
    if (!(time > 0.5 * dt)) return 0;
    if (time / dt >= most) return (int64_t)most;
    int64_t step = (int64_t)(time / dt);
    while (step > 0 && ((double)(step - 1) + 0.5) * dt >= time)
        step--;
    while (((double)step + 0.5) * dt < time)
        step++;
    return step;
}

static neug_clamp clamp_of(const neuron_plan *plan, const neuron_clamp *from, double inverse)
{
    const double area = plan->shape[from->shape].area[from->node];
    neug_clamp out = {from->amplitude, 100 / (area > 0 ? area : 100) * inverse, 0, 0, 0, 0};
    if (isnan(from->from) || isnan(from->to)) return out; /* never */
    out.from = first_step(from->from, plan->dt);
    out.to = first_step(from->to, plan->dt);
    return out;
}

static int by_node(const void *a, const void *b)
{
    const neug_clamp *x = (const neug_clamp *)a, *y = (const neug_clamp *)b;
    if (x->node != y->node) return x->node > y->node ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Places in the lists of clamps and probes: those of a shape stand together. */
static void count_clamps_and_probes(struct draft *d)
{
    const neuron_plan *plan = &d->job->plan;
    for (int64_t c = 0; c < plan->clamps; c++)
        d->shape[plan->clamp[c].shape].clamps++;
    for (int64_t c = 0; c < plan->probes; c++)
        d->shape[plan->probe[c].shape].probes++;
    for (int64_t s = 1; s < plan->shapes; s++) {
        d->shape[s].clamp0 = d->shape[s - 1].clamp0 + d->shape[s - 1].clamps;
        d->shape[s].probe0 = d->shape[s - 1].probe0 + d->shape[s - 1].probes;
    }
}

/* In the plan's numbers and order; turned into those of the trees shape by shape. `number` has the plan's number. */
static void deal_clamps_and_probes(struct draft *d)
{
    const neuron_plan *plan = &d->job->plan;
    for (int64_t s = 0; s < plan->shapes; s++)
        d->shape[s].clamps = d->shape[s].probes = 0;
    for (int64_t c = 0; c < plan->clamps; c++) {
        neug_shape *shape = &d->shape[plan->clamp[c].shape];
        d->clamp[shape->clamp0 + shape->clamps++].number = (int32_t)c;
    }
    for (int64_t c = 0; c < plan->probes; c++) {
        neug_shape *shape = &d->shape[plan->probe[c].shape];
        d->probe[shape->probe0 + shape->probes++] = {plan->probe[c].node, plan->probe[c].number};
    }
}

static void settle_clamps(struct draft *d, neug_shape *shape, neug_tree *tree, const double *inverse)
{
    const neuron_plan *plan = &d->job->plan;
    for (int32_t k = 0; k < shape->clamps; k++) {
        neug_clamp *clamp = &d->clamp[shape->clamp0 + k];
        const int32_t number = clamp->number, node = tree->number[plan->clamp[number].node];
        *clamp = clamp_of(plan, &plan->clamp[number], inverse[node]);
        clamp->number = number;
        clamp->node = node;
        tree->flag[node] |= NEUG_CLAMPED;
    }
    qsort(&d->clamp[shape->clamp0], (size_t)shape->clamps, sizeof *d->clamp, by_node);
}

static void settle_probes(struct draft *d, const neug_shape *shape, const neug_tree *tree)
{
    for (int32_t k = 0; k < shape->probes; k++) {
        neug_probe *probe = &d->probe[shape->probe0 + k];
        probe->node = tree->number[probe->node];
    }
}

/* The schedule; the tree's numbers become rows. */
static bool settle_schedule(struct draft *d, neug_shape *shape, neug_tree *tree, int64_t number)
{
    neug_launch *setup = &d->tables->setup;
    neug_schedule schedule;
    if (!neug_schedule_make(tree, &d->clamp[shape->clamp0], shape->clamps, setup->groups, &schedule)) return false;
    shape->phases = schedule.phases;
    shape->events = schedule.events;
    shape->list0 = number * (2 * NEUG_PHASES * setup->groups + 2);
    shape->event0 = shape->node0 + shape->clamp0;
    memcpy(&d->list[shape->list0], schedule.list,
           (2 * (size_t)(schedule.phases * setup->groups) + 2) * sizeof *d->list);
    memcpy(&d->word[shape->node0], schedule.word, (size_t)shape->nodes * sizeof *d->word);
    memcpy(&d->event[shape->event0], schedule.event, (size_t)schedule.events * sizeof *d->event);
    for (int32_t i = 0; i < shape->nodes; i++)
        tree->number[i] = schedule.row[tree->number[i]];
    neug_schedule_free(&schedule);
    const size_t bytes = neug_chip_bytes(setup->model, setup->half, shape, setup->lanes, setup->groups);
    if (bytes > setup->shared_bytes) setup->shared_bytes = bytes;
    return true;
}

static bool fill_tree(struct draft *d, int64_t number, neug_tree *tree, double *inverse)
{
    const neuron_plan *plan = &d->job->plan;
    neug_shape *shape = &d->shape[number];
    double *member = &d->member[shape->node0 * NEUG_MEMBER];
    double2 *couple = &d->couple[shape->node0];
    shape->pending = tree->pending;
    if (tree->pending > d->tables->setup.pending) d->tables->setup.pending = tree->pending;
    if (!neug_members_fill(plan, &plan->shape[number], tree, member, couple, inverse)) return false;
    settle_clamps(d, shape, tree, inverse);
    memcpy(&d->flag[shape->node0], tree->flag, (size_t)shape->nodes * sizeof *d->flag);
    memcpy(&d->parent[shape->node0], tree->parent, (size_t)shape->nodes * sizeof *d->parent);
    if (d->job->way == LACIS_NEURON_GPU_CHIP &&
        (!settle_schedule(d, shape, tree, number) ||
         !neug_members_fill(plan, &plan->shape[number], tree, member, couple, inverse)))
        return false;
    settle_probes(d, shape, tree);
    return true;
}

static bool fill_shape(struct draft *d, int64_t number)
{
    const neuron_shape *from = &d->job->plan.shape[number];
    neug_tree tree = {};
    double *inverse = (double *)malloc((size_t)from->nodes * sizeof *inverse);
    const bool good = inverse != NULL && neug_tree_make(from, &tree) && fill_tree(d, number, &tree, inverse);
    neug_tree_free(&tree);
    free(inverse);
    return good;
}

static bool fill(struct draft *d)
{
    const neuron_plan *plan = &d->job->plan;
    int64_t node0 = 0;
    for (int64_t s = 0; s < plan->shapes; s++) {
        d->shape[s].nodes = (int32_t)plan->shape[s].nodes;
        d->shape[s].node0 = node0;
        node0 += plan->shape[s].nodes;
    }
    count_clamps_and_probes(d);
    deal_clamps_and_probes(d);
    for (int64_t s = 0; s < plan->shapes; s++)
        if (!fill_shape(d, s)) return false;
    return true;
}

/* The block to the device, and the pointers into it. */
static lacis_neuron_gpu_status copy_up(struct draft *d, int *cuda_error)
{
    const lacis_neuron_gpu_job *job = d->job;
    lacis_neuron_gpu_tables *t = d->tables;
    char *host = d->block;
    t->block = job->memory.alloc(job->memory.context, d->bytes);
    if (t->block == NULL) return LACIS_NEURON_GPU_NO_MEMORY;
    NEUG_TRY_CUDA(cuda_error,
                  cudaMemcpyAsync(t->block, host, d->bytes, cudaMemcpyHostToDevice, (cudaStream_t)job->stream));
    NEUG_TRY_CUDA(cuda_error, cudaStreamSynchronize((cudaStream_t)job->stream));
    memcpy(t->shape, d->shape, (size_t)t->shapes * sizeof *t->shape);
    d->block = (char *)t->block;
    lay_out(d);
    t->common = {d->shape, d->flag, d->parent, d->member, d->couple, d->clamp, d->probe, d->list, d->word, d->event};
    d->block = host;
    return LACIS_NEURON_GPU_OK;
}

static lacis_neuron_gpu_status set_up(const lacis_neuron_gpu_job *job, neug_launch *setup, int *cuda_error)
{
    int device = 0, shared = 0;
    setup->model = neug_model(&job->plan);
    setup->half = job->plan.method != NEURON_EULER;
    setup->by_lane = neug_by_lane(&job->plan);
    NEUG_TRY_CUDA(cuda_error, cudaGetDevice(&device));
    NEUG_TRY_CUDA(cuda_error, cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
    if (job->way == LACIS_NEURON_GPU_CHIP && !neug_chip_fit(job, (size_t)shared, setup))
        return LACIS_NEURON_GPU_UNSUPPORTED;
    return LACIS_NEURON_GPU_OK;
}

static lacis_neuron_gpu_status make(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *t, int *cuda_error)
{
    struct draft d;
    NEUG_TRY(set_up(job, &t->setup, cuda_error));
    measure(job, t->setup.groups, &d);
    d.tables = t;
    d.block = (char *)calloc(1, d.bytes);
    if (d.block == NULL) return LACIS_NEURON_GPU_NO_MEMORY;
    lay_out(&d);
    lacis_neuron_gpu_status status = fill(&d) ? copy_up(&d, cuda_error) : LACIS_NEURON_GPU_NO_MEMORY;
    if (status == LACIS_NEURON_GPU_OK && job->way == LACIS_NEURON_GPU_POWER) {
        lay_out(&d);
        status = neug_power_tables_make(job, t, d.clamp, job->plan.clamps, cuda_error);
    }
    free(d.block);
    return status;
}

lacis_neuron_gpu_status lacis_neuron_gpu_tables_new(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables **out,
                                                    int *cuda_error)
{
    int ignored = 0;
    *out = NULL;
    if (lacis_neuron_gpu_refuses(job) != NULL) return LACIS_NEURON_GPU_UNSUPPORTED;
    lacis_neuron_gpu_tables *t = (lacis_neuron_gpu_tables *)calloc(1, sizeof *t);
    if (t == NULL) return LACIS_NEURON_GPU_NO_MEMORY;
    t->shapes = job->plan.shapes;
    t->shape = (neug_shape *)calloc((size_t)t->shapes + 1, sizeof *t->shape);
    lacis_neuron_gpu_status status = LACIS_NEURON_GPU_NO_MEMORY;
    if (t->shape != NULL) status = make(job, t, cuda_error == NULL ? &ignored : cuda_error);
    if (status == LACIS_NEURON_GPU_OK) {
        *out = t;
    } else {
        lacis_neuron_gpu_tables_free(job, t);
    }
    return status;
}

void lacis_neuron_gpu_tables_free(const lacis_neuron_gpu_job *job, lacis_neuron_gpu_tables *tables)
{
    if (tables == NULL) return;
    neug_power_tables_free(job, tables);
    if (tables->block != NULL) job->memory.free(job->memory.context, tables->block);
    free(tables->shape);
    free(tables);
}
