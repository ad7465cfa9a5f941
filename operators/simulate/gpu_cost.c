/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's GPU variants before they run: whether a way of kernels/neuron/gpu.h can do a call and the device may be
 * asked for it, and what it would cost with the copies that are needed.
 */
#include "simulate/device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const lacis_variant *const ways[] = {&lacis_simulate_gpu_thread, &lacis_simulate_gpu_chip,
                                            &lacis_simulate_gpu_power};

#ifdef LACIS_GPU_KERNELS

_Static_assert(LACIS_COUNT(ways) == LACIS_NEURON_GPU_WAYS, "a variant a way");

/* ----------------------------------------------------------------------------------------- whether */

/* Of few steps: tables, launches and waits. */
static const double CALL_SECONDS = 1e-4;

void lacis_simulate_gpu_job(const lacis_simulation *s, lacis_neuron_gpu_way way, lacis_neuron_gpu_job *out)
{
    *out = (lacis_neuron_gpu_job){.plan = s->plan, .way = way};
}

/* LACIS_SIMULATE_WAY names one in the environment: for tests of each, and to measure them. */
static const char *refuses(const lacis_simulation *s, lacis_neuron_gpu_way way)
{
    const char *wanted = getenv("LACIS_SIMULATE_WAY");
    lacis_neuron_gpu_job job;
    if (wanted != NULL && strcmp(wanted, lacis_neuron_gpu_way_name[way]) != 0)
        return "LACIS_SIMULATE_WAY asks for another way";
    if (way == LACIS_NEURON_GPU_POWER && lacis_run_deterministic(s->run))
        return "SET deterministic = on: its bits differ from those of the other ways";
    lacis_simulate_gpu_job(s, way, &job);
    return lacis_neuron_gpu_refuses(&job);
}

static double column_bytes(const lacis_simulation *s)
{
    double bytes = 0;
    for (int i = 0; i < NEURON_FIGURES; i++)
        if (s->plan.column[i] != NULL) bytes += (double)sizeof(double) * (double)s->plan.lanes;
    return bytes;
}

/* Samples, reduced ones with their times. */
static double result_bytes(const lacis_simulation *s)
{
    double samples = (double)lacis_trace_samples(s) * (double)s->plan.numbers * (double)s->plan.lanes;
    return (s->plan.reduce == NEURON_ALL ? 1 : 2) * (double)sizeof(double) * samples;
}

/* The most that the processor takes, which is twice as long as calibrated, against a call and its copies; rows of the
 * result are made of them on either. */
static bool worth(const lacis_call *call, char *reason, size_t size)
{
    const double margin = 2;
    const lacis_simulation *s = call->work;
    const lacis_gpu *gpu = lacis_gpu_at_hand(s->run);
    const lacis_profile *own = lacis_gpu_figures(gpu, call->profile);
    double processor = margin * lacis_simulate_lanes_seconds(s, call->profile, lacis_run_threads(s->run));
    double device = CALL_SECONDS + lacis_gpu_copy_seconds(gpu, own, column_bytes(s), result_bytes(s));
    return lacis_gpu_worth(call, s->run, LACIS_SIMULATE_LOAD_FIGURE, processor, device, reason, size);
}

/* The device is started here only where it is demanded: a plan that does not choose it must leave it alone. */
bool lacis_simulate_gpu_can(const lacis_call *call, int way, char *reason, size_t size)
{
    const lacis_simulation *s = call->work;
    if (!worth(call, reason, size)) return false;
    const char *why = refuses(s, (lacis_neuron_gpu_way)way);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    return call->on != LACIS_ON_GPU || lacis_run_gpu(s->run, reason, size) != NULL;
}

static lacis_neuron_gpu_way usual_way(const lacis_simulation *s)
{
    lacis_neuron_gpu_job job;
    lacis_simulate_gpu_job(s, LACIS_NEURON_GPU_THREAD, &job);
    return lacis_neuron_gpu_choose(&job, lacis_run_deterministic(s->run));
}

const lacis_variant *lacis_simulate_gpu_any(const lacis_call *call, char *reason, size_t size)
{
    const lacis_variant *usual = ways[usual_way(call->work)];
    if (usual->can(call, reason, size)) return usual;
    for (int i = 0; i < LACIS_COUNT(ways); i++)
        if (ways[i]->can(call, reason, size)) return ways[i];
    return NULL;
}

/* ------------------------------------------------------------------------------------------- costs */

/* Where nobody has calibrated: measured on an H200. [way][passive, hh][many, few] */
static const double otherwise[LACIS_NEURON_GPU_WAYS][2][2] = {
    [LACIS_NEURON_GPU_THREAD] = {{0.0088, 260}, {0.041, 940}},
    [LACIS_NEURON_GPU_CHIP] = {{0.0048, 85}, {0.023, 125}},
    [LACIS_NEURON_GPU_POWER] = {{4.6e-5, 3e4}, {4.6e-5, 3e4}},
};
static const char *const figure[LACIS_NEURON_GPU_WAYS][2][2] = {
    [LACIS_NEURON_GPU_THREAD] = {{"simulate.gpu.thread.passive_ns", "simulate.gpu.thread.passive_node_ns"},
                                 {"simulate.gpu.thread.hh_ns", "simulate.gpu.thread.hh_node_ns"}},
    [LACIS_NEURON_GPU_CHIP] = {{"simulate.gpu.chip.passive_ns", "simulate.gpu.chip.passive_node_ns"},
                               {"simulate.gpu.chip.hh_ns", "simulate.gpu.chip.hh_node_ns"}},
    [LACIS_NEURON_GPU_POWER] = {{"simulate.gpu.power.multiplication_ns", "simulate.gpu.power.product_ns"},
                                {"simulate.gpu.power.hh_ns", "simulate.gpu.power.hh_product_ns"}},
};

const char *lacis_simulate_figure(lacis_neuron_gpu_way way, bool hh, bool few)
{
    return figure[way][hh][few];
}

static double figure_of(const lacis_profile *profile, lacis_neuron_gpu_way way, bool hh, bool few)
{
    return lacis_profile_get(profile, figure[way][hh][few], otherwise[way][hh][few]);
}

double lacis_simulate_gpu_seconds(const lacis_simulation *s, lacis_neuron_gpu_way way, int64_t begin, int64_t end)
{
    double units = lacis_simulate_units(&s->plan, way, false, 1), all = (double)s->compartments;
    double part = (double)lacis_simulation_compartments(s, begin, end) / all;
    return 1e-9 * units * part * (double)s->plan.steps * otherwise[way][s->plan.hh][0];
}

/* GPUs that would share it: those that have been started. */
static int gpus(lacis_run *run, const lacis_simulation *s, lacis_neuron_gpu_way way, lacis_gpu *first)
{
    lacis_gpu *gpu[LACIS_GPUS];
    bool worth = lacis_simulate_gpu_seconds(s, way, 0, s->plan.lanes) >= LACIS_SIMULATE_SHARED;
    if (first == NULL || !(worth || lacis_run_gpus_forced(run))) return 1;
    return lacis_run_gpus(run, false, gpu);
}

static double step_seconds(const lacis_simulation *s, lacis_neuron_gpu_way way, const lacis_profile *profile,
                           int devices)
{
    bool hh = s->plan.hh;
    double all = lacis_simulate_units(&s->plan, way, false, s->depth) * figure_of(profile, way, hh, false) / devices;
    double chain = lacis_simulate_units(&s->plan, way, true, s->depth) * figure_of(profile, way, hh, true);
    return 1e-9 * (all > chain ? all : chain);
}

/* Nodes one below the other. */
static lacis_status measure_depth(lacis_run *run, lacis_simulation *s)
{
    int32_t *depth;
    s->depth = 1;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)s->trees.nodes * sizeof *depth, &depth));
    for (int64_t c = 0; c < s->plan.shapes; c++)
        for (int64_t i = 0; i < s->shape[c].nodes; i++) {
            depth[i] = i == 0 ? 1 : depth[s->shape[c].parent[i]] + 1;
            if (depth[i] > s->depth) s->depth = depth[i];
        }
    lacis_run_free(run, depth);
    return LACIS_OK;
}

/* Matrices are multiplied with each other before: some of a tree's size. Of small ones each product is a launch and
 * few blocks' walk along a row. */
static double tables_seconds(const neuron_plan *plan, lacis_neuron_gpu_way way, const lacis_profile *profile)
{
    const double launch_ns = 5e3, node_ns = 44, products = lacis_simulate_table_products(plan);
    double sum = 0;
    for (int64_t i = 0; i < plan->shapes && way == LACIS_NEURON_GPU_POWER; i++) {
        double nodes = (double)plan->shape[i].nodes;
        sum += products * (launch_ns + node_ns * nodes + pow(nodes, 3) * figure_of(profile, way, false, false));
    }
    return 1e-9 * sum;
}

static void estimate(lacis_run *run, const lacis_simulation *s, lacis_neuron_gpu_way way,
                     const lacis_profile *profile, lacis_simulate_estimate *out)
{
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    const lacis_profile *own = lacis_gpu_figures(gpu, profile);
    lacis_neuron_gpu_job job;
    lacis_simulate_gpu_job(s, way, &job);
    *out = (lacis_simulate_estimate){.known = true};
    out->tables = (double)lacis_neuron_gpu_tables_bytes(&job);
    out->work = (double)lacis_neuron_gpu_work_bytes(&job);
    out->gpus = gpus(run, s, way, gpu);
    out->step = step_seconds(s, way, own, out->gpus);
    out->kernels = CALL_SECONDS + tables_seconds(&s->plan, way, own) + out->step * (double)s->plan.steps;
    out->up = out->tables + column_bytes(s);
    out->down = result_bytes(s);
    out->copies = lacis_gpu_copy_seconds(gpu, own, out->up, out->down);
    out->once = lacis_gpu_start_seconds(run, own, LACIS_SIMULATE_LOAD_FIGURE);
}

lacis_status lacis_simulate_gpu_cost(lacis_run *run, const lacis_call *call, int way, const lacis_profile *profile,
                                     lacis_cost *out)
{
    lacis_simulation *s = call->work;
    double rows = (double)call->extent[0];
    if (s->gpu == NULL) {
        LACIS_TRY(lacis_run_scratch(run, LACIS_COUNT(ways) * sizeof *s->gpu, &s->gpu));
        memset(s->gpu, 0, LACIS_COUNT(ways) * sizeof *s->gpu);
    }
    if (s->depth == 0) LACIS_TRY(measure_depth(run, s));
    lacis_simulate_estimate *e = &s->gpu[way];
    estimate(run, s, (lacis_neuron_gpu_way)way, profile, e);
    *out = (lacis_cost){.seconds = e->once + e->kernels + e->copies + lacis_trace_seconds(run, rows),
                        .products = (double)s->compartments * (double)s->plan.steps,
                        .entries = rows,
                        .bytes = LACIS_TRACE_ROW_BYTES * rows,
                        .peak_bytes = LACIS_TRACE_ROW_BYTES * rows,
                        .once = e->once,
                        .kind = s->plan.hh ? "hh" : "passive"};
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- EXPLAIN */

static lacis_status explain_way(const lacis_simulation *s, int way, lacis_lines *lines)
{
    const double launch_seconds = 0.05; /* as long as the kernels let one run, so that they can be stopped */
    const lacis_simulate_estimate *e = &s->gpu[way];
    if (!e->known) return LACIS_OK;
    double launch = launch_seconds / e->step;
    if (launch < 1) launch = 1;
    if (launch > (double)s->plan.steps) launch = (double)s->plan.steps;
    return lacis_lines_add(
        lines,
        "%s: %.3g s a step, up to %.0f steps a launch; tables of %.3g MB and state of %.3g MB in its memory; copies "
        "%.3g MB there, %.3g MB back",
        ways[way]->name, e->step, launch, 1e-6 * e->tables, 1e-6 * e->work, 1e-6 * e->up, 1e-6 * e->down);
}

lacis_status lacis_simulate_explain_gpu(const lacis_simulation *s, lacis_lines *lines)
{
    for (int way = 0; s->gpu != NULL && way < LACIS_COUNT(ways); way++)
        LACIS_TRY(explain_way(s, way, lines));
    return LACIS_OK;
}

#else

bool lacis_simulate_gpu_can(const lacis_call *call, int way, char *reason, size_t size)
{
    const lacis_simulation *s = call->work;
    (void)way;
    if (lacis_gpu_possible(s->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Never asked, since lacis_simulate_gpu_can says no. */
lacis_status lacis_simulate_gpu_cost(lacis_run *run, const lacis_call *call, int way, const lacis_profile *profile,
                                     lacis_cost *out)
{
    (void)call, (void)way, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

const lacis_variant *lacis_simulate_gpu_any(const lacis_call *call, char *reason, size_t size)
{
    return ways[0]->can(call, reason, size) ? ways[0] : NULL;
}

lacis_status lacis_simulate_explain_gpu(const lacis_simulation *s, lacis_lines *lines)
{
    (void)s, (void)lines;
    return LACIS_OK;
}

#endif
