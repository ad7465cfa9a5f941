/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of a step of SIMULATE on the GPU: neuron_gpu bench [WHAT], where WHAT is a part of a row's name.
 */
#include "neuron_support.h"

#include <algorithm>
#include <time.h>

static double now()
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

struct what {
    tree_kind kind;
    int64_t nodes, lanes;
    bool hh;
    neuron_method method;
    int64_t steps_each; /* steps a launch; 0: as many as is good */
    int columns;
};

static batch make(const what &w)
{
    random_numbers r = {11};
    batch b;
    b.plan.method = w.method;
    b.plan.hh = w.hh;
    b.plan.dt = 0.025;
    b.plan.every = 1 << 30;
    b.plan.v = -65;
    b.plan.ena = 50;
    b.plan.ek = -77;
    b.plan.rate = 1;
    b.plan.reduce = NEURON_MAX;
    b.add(make_cell(r, w.kind, w.nodes, 0), w.lanes);
    b.give_column(r, NEURON_V, -70, -60);
    if (w.columns) b.give_column(r, NEURON_CM, 0.8, 1.2);
    b.probe_all(r, 1);
    b.clamp.push_back({0, 0, 0.3, 0, INFINITY});
    return b;
}

/* Seconds of `steps` steps, the run's other work included. */
static double seconds_of(batch &b, lacis_neuron_gpu_way way, const lacis_neuron_gpu_tables *tables, double *out,
                         int64_t steps_each, int64_t steps)
{
    int error = 0;
    lacis_neuron_gpu_job job = {b.plan, way, steps_each, NULL, NULL, stream, NULL, pool};
    job.plan.steps = steps;
    job.plan.out = out;
    job.plan.when = out + b.plan.lanes;
    CUDA(cudaStreamSynchronize(stream));
    const double begin = now();
    const lacis_neuron_gpu_status status = lacis_neuron_gpu_run(&job, tables, &error);
    if (status != LACIS_NEURON_GPU_OK) fail("bench", "status", (double)status, error);
    return now() - begin;
}

/* A step's time: of many less that of few, so that what a run does once does not count. Median of five. */
static void time_step(const what &w, lacis_neuron_gpu_way way, const char *name)
{
    batch b = make(w);
    b.settle();
    lacis_neuron_gpu_job job = {b.plan, way, 0, NULL, NULL, stream, NULL, pool};
    job.plan.steps = 1 << 20;
    lacis_neuron_gpu_tables *tables = NULL;
    int error = 0;
    if (lacis_neuron_gpu_refuses(&job) || lacis_neuron_gpu_tables_new(&job, &tables, &error) != LACIS_NEURON_GPU_OK) {
        printf("%-44s %-7s refused\n", name, lacis_neuron_gpu_way_name[way]);
        return;
    }
    double *out = NULL;
    CUDA(cudaMallocAsync(&out, (size_t)w.lanes * 16, stream));
    const int64_t many = w.nodes * w.lanes > 10000000 ? (w.hh ? 40 : 64) : 256, few = 4;
    std::vector<double> each;
    for (int k = 0; k < 6; k++) {
        const double base = seconds_of(b, way, tables, out, w.steps_each, few);
        const double t = (seconds_of(b, way, tables, out, w.steps_each, few + many) - base) / (double)many;
        if (k > 0) each.push_back(t);
    }
    std::sort(each.begin(), each.end());
    printf("%-44s %-7s %9.4f ms a step %8.2f ps a compartment (%.4f .. %.4f)\n", name, lacis_neuron_gpu_way_name[way],
           1e3 * each[2], 1e12 * each[2] / (double)(w.nodes * w.lanes), 1e3 * each[0], 1e3 * each[4]);
    fflush(stdout);
    lacis_neuron_gpu_tables_free(&job, tables);
    CUDA(cudaFreeAsync(out, stream));
    CUDA(cudaStreamSynchronize(stream));
}

void bench(int argc, char **argv)
{
    const struct {
        const char *name;
        what w;
    } row[] = {
        {"passive 319 random 256000, 1 a launch", {RANDOM, 319, 256000, false, NEURON_EULER, 1, 0}},
        {"passive 319 random 256000, 10 a launch", {RANDOM, 319, 256000, false, NEURON_EULER, 10, 0}},
        {"passive 319 bifurcating 256000, 1 a launch", {BIFURCATING, 319, 256000, false, NEURON_EULER, 1, 0}},
        {"passive 319 bifurcating 256000, 10 a launch", {BIFURCATING, 319, 256000, false, NEURON_EULER, 10, 0}},
        {"passive 319 random 256000, many a launch", {RANDOM, 319, 256000, false, NEURON_EULER, 0, 0}},
        {"passive cn 319 random 256000, 10 a launch", {RANDOM, 319, 256000, false, NEURON_CRANK_NICOLSON, 10, 0}},
        {"passive cm 319 random 256000, 10 a launch", {RANDOM, 319, 256000, false, NEURON_EULER, 10, 1}},
        {"hh 319 random 256000, 1 a launch", {RANDOM, 319, 256000, true, NEURON_EULER, 1, 0}},
        {"hh 319 random 256000, 10 a launch", {RANDOM, 319, 256000, true, NEURON_EULER, 10, 0}},
        {"hh 319 bifurcating 256000, 1 a launch", {BIFURCATING, 319, 256000, true, NEURON_EULER, 1, 0}},
        {"hh 319 bifurcating 256000, 10 a launch", {BIFURCATING, 319, 256000, true, NEURON_EULER, 10, 0}},
        {"hh 319 random 256000, many a launch", {RANDOM, 319, 256000, true, NEURON_EULER, 0, 0}},
        {"hh cn 319 random 256000, 10 a launch", {RANDOM, 319, 256000, true, NEURON_CRANK_NICOLSON, 10, 0}},
        {"passive path 1023, 1 lane", {PATH, 1023, 1, false, NEURON_EULER, 0, 0}},
        {"passive path 1023, 256 lanes", {PATH, 1023, 256, false, NEURON_EULER, 0, 0}},
        {"hh path 1023, 1 lane", {PATH, 1023, 1, true, NEURON_EULER, 0, 0}},
        {"hh path 1023, 256 lanes", {PATH, 1023, 256, true, NEURON_EULER, 0, 0}},
        {"passive random 1023, 1 lane", {RANDOM, 1023, 1, false, NEURON_EULER, 0, 0}},
        {"passive random 1023, 256 lanes", {RANDOM, 1023, 256, false, NEURON_EULER, 0, 0}},
        {"hh random 1023, 1 lane", {RANDOM, 1023, 1, true, NEURON_EULER, 0, 0}},
        {"hh random 1023, 256 lanes", {RANDOM, 1023, 256, true, NEURON_EULER, 0, 0}},
        {"hh random 319, 256 lanes", {RANDOM, 319, 256, true, NEURON_EULER, 0, 0}},
        {"hh random 1023, 64000 lanes", {RANDOM, 1023, 64000, true, NEURON_EULER, 0, 0}},
        {"passive random 1023, 64000 lanes", {RANDOM, 1023, 64000, false, NEURON_EULER, 0, 0}},
    };
    const char *wanted = argc > 0 ? argv[0] : "";
    const char *way_wanted = argc > 1 ? argv[1] : "";
    for (const auto &r : row)
        for (int way = 0; way < LACIS_NEURON_GPU_WAYS; way++)
            if (strstr(r.name, wanted) && strstr(lacis_neuron_gpu_way_name[way], way_wanted))
                time_step(r.w, (lacis_neuron_gpu_way)way, r.name);
}
