/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of made-up neurons for the checks and timings of SIMULATE's GPU kernels, and the CPU's answer to them.
 */
#ifndef LACIS_TESTS_GPU_NEURON_SUPPORT_H
#define LACIS_TESTS_GPU_NEURON_SUPPORT_H

#include "neuron/gpu.h"
#include "support.h"

#include <cmath>
#include <cstring>
#include <memory>
#include <string>

void fail(const std::string &what, const char *why, double found, double expected);

struct random_numbers {
    uint64_t state;
    uint64_t next();
    double within(double low, double high);
    int64_t below(int64_t n);
};

enum tree_kind { PATH, STAR, RANDOM, BIFURCATING, BROOM, TREE_KINDS };
extern const char *const tree_name[TREE_KINDS];

/* Parents of a tree. RANDOM: any earlier node; BIFURCATING: sections of two nodes that fork; BROOM: a path that ends
 * in a star. */
std::vector<int32_t> make_parents(random_numbers &r, tree_kind kind, int64_t nodes);

struct cell {
    std::vector<int32_t> parent, chain;
    std::vector<double> a, b, area, cm, g, e, gna, gk, gl, el;
};
cell make_cell(random_numbers &r, tree_kind kind, int64_t nodes, double without_area);

/* A plan and all that it points to; `plan` of a copy is only good while the batch is not copied. */
struct batch {
    std::vector<cell> cells;
    std::vector<neuron_shape> shape;
    std::vector<neuron_clamp> clamp;
    std::vector<neuron_probe> probe;
    std::vector<double> column[NEURON_FIGURES];
    neuron_plan plan = {};

    void add(cell c, int64_t lanes);
    void give_column(random_numbers &r, neuron_figure figure, double low, double high);
    void probe_all(random_numbers &r, int64_t numbers);
    void clamp_some(random_numbers &r, int64_t count);
    void settle(); /* points plan at everything */
    int64_t values() const;
};

struct answer {
    std::vector<double> out, when;
};
answer run_on_cpu(const neuron_plan &plan);

struct gpu_options {
    lacis_neuron_gpu_way way = LACIS_NEURON_GPU_THREAD;
    int64_t most_steps = 0, panel = 0; /* panel: lanes; 0: all at once */
};
/* Ends the program where the kernels fail. */
answer run_on_gpu(const neuron_plan &plan, const gpu_options &options);
extern const lacis_neuron_gpu_memory pool;

/* neuron_faults.cu */
void check_faults(batch &b);
/* neuron_bench.cu */
void bench(int argc, char **argv);

#endif
