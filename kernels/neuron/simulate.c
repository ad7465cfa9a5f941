/* SPDX-License-Identifier: Apache-2.0
 *
 * A block of lanes through all steps on the CPU: the state is laid out, and the loops advance it from one moment at
 * which something happens (a clamp switches, a probe is read) to the next. Caller: operators/simulate.
 */
#include "common/isa.h"
#include "neuron/arena.h"
#include "neuron/inside.h"

#include <string.h>

enum { PATIENCE = 64 }; /* steps between questions whether to stop, at most */

const neuron_loops *lacis_neuron_loops(void)
{
    static const neuron_loops *const loops[] = {[LACIS_ISA_BASELINE] = &lacis_neuron_loops_baseline,
                                                [LACIS_ISA_AVX2] = &lacis_neuron_loops_avx2,
                                                [LACIS_ISA_AVX512] = &lacis_neuron_loops_avx512};
    return loops[lacis_isa_here()];
}

const char *lacis_neuron_isa(void)
{
    return lacis_neuron_loops()->name;
}

static int width_class(int64_t lanes)
{
    return lanes == 1 ? NEURON_ONE : NEURON_VECTOR;
}

int lacis_neuron_width(int64_t lanes)
{
    return lacis_neuron_loops()->width[width_class(lanes)];
}

int64_t lacis_neuron_chains(const int32_t *parent, int64_t nodes, int32_t *chain)
{
    int64_t chains = 0;
    for (int64_t i = 0; i < nodes; i++)
        if (i == 0 || parent[i] != i - 1) chain[chains++] = (int32_t)i;
    chain[chains] = (int32_t)nodes;
    return chains;
}

int64_t lacis_neuron_blocks(const neuron_plan *plan, neuron_block *block)
{
    int64_t count = 0, first = plan->first, end = plan->first + plan->lanes;
    for (int64_t s = 0; s < plan->shapes; s++) {
        const neuron_shape *shape = &plan->shape[s];
        int64_t width = lacis_neuron_width(shape->lanes), last = shape->lane + shape->lanes;
        if (last > end) last = end;
        for (int64_t lane = shape->lane < first ? first : shape->lane; lane < last; lane += width, count++) {
            int64_t left = last - lane;
            if (block != NULL)
                block[count] = (neuron_block){(int32_t)s, (int32_t)(left < width ? left : width), lane};
        }
    }
    return count;
}

static int64_t padded(int64_t count)
{
    return (count + NEURON_WIDEST - 1) / NEURON_WIDEST * NEURON_WIDEST;
}

/* Memory of a block: the state, coefficients where lanes differ in them, and the currents. */
struct room {
    neuron_state state;
    double *coefficients, *currents, *ena, *ek;
};

static void lay_out(const neuron_plan *plan, int64_t nodes, int64_t width, neuron_arena *arena, struct room *room)
{
    int64_t all = padded(nodes * width);
    neuron_state *state = &room->state;
    memset(room, 0, sizeof *room);
    NEURON_TAKE(arena, state->v, all);
    NEURON_TAKE(arena, state->r, all);
    if (plan->method != NEURON_EULER) NEURON_TAKE(arena, state->u, all);
    if (plan->hh) {
        NEURON_TAKE(arena, state->d, all);
        NEURON_TAKE(arena, state->m, all);
        NEURON_TAKE(arena, state->h, all);
        NEURON_TAKE(arena, state->n, all);
    }
    NEURON_TAKE(arena, room->ena, NEURON_WIDEST);
    NEURON_TAKE(arena, room->ek, NEURON_WIDEST);
    NEURON_TAKE(arena, room->currents, plan->clamps * width);
    NEURON_TAKE(arena, state->current, plan->clamps);
    if (lacis_neuron_by_lane(plan))
        NEURON_TAKE(arena, room->coefficients, lacis_neuron_coefficient_arrays(plan) * all);
}

size_t lacis_neuron_workspace(const neuron_plan *plan)
{
    size_t most = 0;
    for (int64_t s = 0; s < plan->shapes; s++) {
        neuron_arena arena = {NULL, 0};
        struct room room;
        lay_out(plan, plan->shape[s].nodes, lacis_neuron_width(plan->shape[s].lanes), &arena, &room);
        if (arena.used > most) most = arena.used;
    }
    return most;
}

size_t lacis_neuron_shared_bytes(const neuron_plan *plan)
{
    size_t count = 0;
    for (int64_t s = 0; s < plan->shapes; s++)
        count += (size_t)padded(plan->shape[s].nodes);
    if (lacis_neuron_by_lane(plan)) return 0;
    return count * sizeof(double) * (size_t)lacis_neuron_coefficient_arrays(plan);
}

static double *shared_of(const neuron_plan *plan, double *shared, int64_t shape)
{
    for (int64_t s = 0; s < shape; s++)
        shared += padded(plan->shape[s].nodes) * lacis_neuron_coefficient_arrays(plan);
    return shared;
}

void lacis_neuron_share(const neuron_plan *plan, void *shared)
{
    double *at = shared;
    memset(shared, 0, lacis_neuron_shared_bytes(plan));
    for (int64_t s = 0; s < plan->shapes && !lacis_neuron_by_lane(plan); s++) {
        neuron_coefficients by;
        int64_t count = padded(plan->shape[s].nodes);
        lacis_neuron_coefficients_place(plan, at, count, &by);
        lacis_neuron_coefficients(plan, &plan->shape[s], -1, 1, &by);
        at += count * lacis_neuron_coefficient_arrays(plan);
    }
}

/* One run of a block. */
struct job {
    const neuron_plan *plan;
    const neuron_block *block;
    const neuron_shape *shape;
    const neuron_loops *loops;
    int wide, by_lane; /* which of the loops */
    int64_t width;
    struct room room;
};

static int64_t lane_at(const struct job *job, int64_t lane)
{
    return job->block->lane + (lane < job->block->lanes ? lane : job->block->lanes - 1);
}

static void begin_coefficients(struct job *job, const void *shared)
{
    const neuron_plan *plan = job->plan;
    neuron_state *state = &job->room.state;
    if (job->by_lane) {
        int64_t count = padded(job->shape->nodes * job->width);
        memset(job->room.coefficients, 0, (size_t)(count * lacis_neuron_coefficient_arrays(plan)) * sizeof(double));
        lacis_neuron_coefficients_place(plan, job->room.coefficients, count, &state->by);
        lacis_neuron_coefficients(plan, job->shape, job->block->lane - job->shape->lane, job->width, &state->by);
    } else {
        double *mine = shared_of(plan, (double *)(uintptr_t)shared, job->block->shape);
        lacis_neuron_coefficients_place(plan, mine, padded(job->shape->nodes), &state->by);
    }
}

static void begin_voltages(struct job *job)
{
    const neuron_plan *plan = job->plan;
    neuron_state *state = &job->room.state;
    int64_t all = padded(state->nodes * job->width);
    double v[NEURON_WIDEST];
    for (int64_t lane = 0; lane < NEURON_WIDEST; lane++) {
        int64_t number = lane_at(job, lane % job->width);
        v[lane] = lacis_neuron_figure(plan, NEURON_V, number, plan->v);
        job->room.ena[lane] = lacis_neuron_figure(plan, NEURON_ENA, number, plan->ena);
        job->room.ek[lane] = lacis_neuron_figure(plan, NEURON_EK, number, plan->ek);
    }
    for (int64_t k = 0; k < all; k++)
        state->v[k] = v[k % job->width];
    for (int64_t k = 0; k < state->nodes * job->width && !plan->hh; k++) {
        int64_t c = job->by_lane ? k : k / job->width;
        state->r[k] = state->by.keep[c] * state->v[k] + state->by.give[c];
    }
    if (plan->hh) job->loops->gates[job->wide][job->by_lane](state);
}

static void begin(struct job *job, const void *shared, void *workspace)
{
    neuron_arena arena = {workspace, 0};
    neuron_state *state = &job->room.state;
    lay_out(job->plan, job->shape->nodes, job->width, &arena, &job->room);
    state->nodes = job->shape->nodes;
    state->parent = job->shape->parent;
    state->chain = job->shape->chain;
    state->chains = job->shape->chains;
    state->area = job->shape->area;
    state->ena = job->room.ena;
    state->ek = job->room.ek;
    state->dt = job->plan->dt;
    state->rate = job->plan->rate;
    begin_coefficients(job, shared);
    begin_voltages(job);
}

static bool flows(const neuron_clamp *clamp, double t)
{
    return t >= clamp->from && t < clamp->to;
}

/* The currents that flow in step `step`. */
static void set_currents(struct job *job, int64_t step)
{
    const neuron_plan *plan = job->plan;
    neuron_state *state = &job->room.state;
    double t = ((double)step + 0.5) * plan->dt;
    state->currents = 0;
    for (int64_t c = 0; c < plan->clamps; c++) {
        const neuron_clamp *clamp = &plan->clamp[c];
        if (clamp->shape != job->block->shape || !flows(clamp, t)) continue;
        double *value = job->room.currents + c * job->width, area = job->shape->area[clamp->node];
        for (int64_t lane = 0; lane < job->width; lane++) {
            int64_t k = job->by_lane ? clamp->node * job->width + lane : clamp->node;
            double amplitude = lacis_neuron_figure(plan, NEURON_AMPLITUDE, lane_at(job, lane), clamp->amplitude);
            value[lane] = amplitude * 100 / (area > 0 ? area : 100) * (plan->hh ? 1 : state->by.inverse[k]);
        }
        state->current[state->currents++] = (neuron_current){clamp->node, value};
    }
}

/* The steps from `step` on in which the same clamps flow: 1 .. most. */
static int64_t steady(const struct job *job, int64_t step, int64_t most)
{
    const neuron_plan *plan = job->plan;
    for (int64_t c = 0; c < plan->clamps; c++) {
        const neuron_clamp *clamp = &plan->clamp[c];
        bool now = flows(clamp, ((double)step + 0.5) * plan->dt);
        for (int64_t k = 1; k < most; k++)
            if (flows(clamp, ((double)(step + k) + 0.5) * plan->dt) != now) most = k;
    }
    return most;
}

bool lacis_neuron_run(const neuron_plan *plan, const neuron_block *block, const void *shared, void *workspace,
                      neuron_stop_fn stop, void *context)
{
    struct job job = {
        .plan = plan, .block = block, .shape = &plan->shape[block->shape], .loops = lacis_neuron_loops()};
    job.wide = width_class(job.shape->lanes);
    job.width = job.loops->width[job.wide];
    job.by_lane = lacis_neuron_by_lane(plan);
    begin(&job, shared, workspace);
    int method = plan->method == NEURON_EULER ? 0 : 1;
    neuron_advance_fn advance = (plan->hh ? job.loops->channels : job.loops->passive)[job.wide][job.by_lane][method];
    lacis_neuron_record(plan, block, &job.room.state, job.width, 0);
    for (int64_t step = 0; step < plan->steps;) {
        int64_t most = plan->every - step % plan->every, left = plan->steps - step;
        if (most > left) most = left;
        if (most > PATIENCE) most = PATIENCE;
        most = steady(&job, step, most);
        set_currents(&job, step);
        advance(&job.room.state, most);
        step += most;
        if (step % plan->every == 0) lacis_neuron_record(plan, block, &job.room.state, job.width, step);
        if (stop != NULL && stop(context, most)) return false;
    }
    return true;
}
