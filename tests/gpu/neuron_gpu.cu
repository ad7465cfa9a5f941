/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks SIMULATE's GPU kernels against the CPU's, and times them.
 *
 *     neuron_gpu check [SEED]    trees of all kinds, columns, clamps, reductions, both methods, panels: every way
 *     neuron_gpu small [SEED]    a few small ones: for compute-sanitizer and the emulator
 *     neuron_gpu bench [WHAT [WAY]]    times of a step (neuron_bench.cu)
 *
 * Exit code 0: every comparison agreed; 2: wrong usage. Build: nvcc -arch=sm_90 -std=c++17 -O3 --fmad=false of the
 * neuron_*.cu here, with kernels/ as include directory and the objects of kernels/neuron.
 */
#include "neuron_support.h"

#include <algorithm>

int failures;
cudaStream_t stream;

void fail(const std::string &what, const char *why, double found, double expected)
{
    if (failures++ < 20) printf("FAIL %s: %s: %.17g, expected %.17g\n", what.c_str(), why, found, expected);
}

static double worst_passive, worst_channels;

static bool same_bits(const std::vector<double> &a, const std::vector<double> &b)
{
    return a.size() == b.size() && memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

static double largest_difference(const std::vector<double> &a, const std::vector<double> &b)
{
    double most = 0;
    for (size_t i = 0; i < a.size(); i++) {
        const double d = fabs(a[i] - b[i]);
        if (!(d <= most)) most = d;
    }
    return most;
}

/* What a reduction makes of samples that a run kept: the CPU's own code is for blocks, so this is written anew. */
static answer reduce(const neuron_plan &plan, const std::vector<double> &all)
{
    answer a;
    const int64_t row = plan.numbers * plan.lanes, samples = lacis_neuron_samples(&plan);
    a.out.resize(row);
    a.when.resize(row);
    for (int64_t k = 0; k < row; k++) {
        double out = all[k], when = 0, spikes = 0, first = NAN;
        for (int64_t s = 1; s < samples; s++) {
            const double v = all[s * row + k], t = (double)(s * plan.every) * plan.dt,
                         before = all[(s - 1) * row + k];
            if (plan.reduce == NEURON_MEAN) out += (v - out) / (double)(s + 1), when = t;
            if (plan.reduce == NEURON_MAX ? v > out : plan.reduce == NEURON_MIN && v < out) out = v, when = t;
            if (v >= plan.threshold && !(before >= plan.threshold) && spikes++ == 0) first = t;
        }
        a.out[k] = plan.reduce == NEURON_SPIKES ? spikes : out;
        a.when[k] = plan.reduce == NEURON_SPIKES ? first : when;
    }
    return a;
}

static bool same_values(const std::vector<double> &a, const std::vector<double> &b)
{
    for (size_t i = 0; i < a.size(); i++)
        if (!(a[i] == b[i] || (a[i] != a[i] && b[i] != b[i]))) return false;
    return a.size() == b.size();
}

static void check_reductions(const neuron_plan &given, const answer &all, const gpu_options &options,
                             const std::string &name)
{
    static const char *const reduce_name[] = {"all", "max", "min", "mean", "spikes"};
    neuron_plan plan = given;
    for (int r = NEURON_MAX; r <= NEURON_SPIKES; r++) {
        plan.reduce = (neuron_reduce)r;
        plan.threshold = plan.hh ? -20 : -62;
        const answer found = run_on_gpu(plan, options), expected = reduce(plan, all.out);
        if (!same_values(found.out, expected.out))
            fail(name, reduce_name[r], largest_difference(found.out, expected.out), 0);
        if (!same_values(found.when, expected.when)) fail(name, "when", r, 0);
    }
}

static bool takes(const neuron_plan &plan, lacis_neuron_gpu_way way)
{
    lacis_neuron_gpu_job job = {plan, way, 0, NULL, NULL, stream, NULL, pool};
    return lacis_neuron_gpu_refuses(&job) == NULL;
}

/* Every way against the CPU; those that promise it against each other, bit for bit, in panels and short launches. */
static void check(batch &b, const std::string &name, bool reductions)
{
    b.settle();
    const answer expected = run_on_cpu(b.plan);
    const double bar = b.plan.hh ? 1e-8 : 1e-11;
    double &worst = b.plan.hh ? worst_channels : worst_passive;
    answer first;
    for (int way = 0; way < LACIS_NEURON_GPU_WAYS; way++) {
        if (!takes(b.plan, (lacis_neuron_gpu_way)way)) continue;
        const std::string here = name + " " + lacis_neuron_gpu_way_name[way];
        gpu_options options;
        options.way = (lacis_neuron_gpu_way)way;
        const answer found = run_on_gpu(b.plan, options);
        const double difference = largest_difference(found.out, expected.out);
        if (!(difference <= bar)) fail(here, "difference from the CPU", difference, 0);
        worst = std::max(worst, difference);
        if (way == LACIS_NEURON_GPU_THREAD) first = found;
        if (way != LACIS_NEURON_GPU_POWER && !same_bits(found.out, first.out))
            fail(here, "bits of another way", largest_difference(found.out, first.out), 0);
        options.panel = b.plan.lanes > 3 ? b.plan.lanes / 3 + 1 : 1;
        if (way != LACIS_NEURON_GPU_POWER) options.most_steps = 3;
        if (!same_bits(run_on_gpu(b.plan, options).out, found.out)) fail(here, "bits in panels", 1, 0);
        options.most_steps = 0;
        options.panel = 0;
        if (reductions) check_reductions(b.plan, found, options, here);
    }
}

/* A plan with this much to do and nothing in it yet. */
static batch make_batch(bool hh, neuron_method method, int64_t steps, int64_t every)
{
    batch b;
    b.plan.method = method;
    b.plan.hh = hh;
    b.plan.dt = 0.025;
    b.plan.steps = steps;
    b.plan.every = every;
    b.plan.v = -65;
    b.plan.ena = 50;
    b.plan.ek = -77;
    b.plan.rate = hh ? 1.3 : 1;
    return b;
}

static void give_columns(random_numbers &r, batch *b, int which)
{
    const double low[] = {-70, 0.8, 0.5, 1e-4, -75, 0.08, 0.03, 2e-4, -56, 45, -80, 0};
    const double high[] = {-60, 1.2, 2, 2e-3, -55, 0.14, 0.04, 4e-4, -52, 55, -75, 1};
    for (int f = 0; f < NEURON_FIGURES; f++)
        if (which == 1 || (which == 2 && (f == NEURON_V || f == NEURON_AMPLITUDE || f == NEURON_E)) ||
            (which > 2 && r.below(4) == 0))
            b->give_column(r, (neuron_figure)f, low[f], high[f]);
}

static bool deep; /* trees whose steps take long */

static void check_kind(random_numbers &r, tree_kind kind, int64_t nodes, int64_t lanes, int turn)
{
    const bool hh = turn % 2;
    const neuron_method method = turn / 2 % 2 ? NEURON_CRANK_NICOLSON : NEURON_EULER;
    const int columns = turn / 4 % 4;
    batch b = make_batch(hh, method, deep ? 4 : 16 + r.below(20), 1 + r.below(4));
    /* Crank-Nicolson does not damp nodes without area: rounding there swings on. */
    b.add(make_cell(r, kind, nodes, turn % 3 == 1 ? 0.2 : 0), lanes);
    give_columns(r, &b, columns);
    b.probe_all(r, 3);
    b.clamp_some(r, 1 + turn % 3);
    char name[120];
    snprintf(name, sizeof name, "%s of %lld, %lld lanes, %s, method %d, columns %d, turn %d", tree_name[kind],
             (long long)nodes, (long long)lanes, hh ? "hh" : "passive", (int)method, columns, turn);
    check(b, name, turn % 5 == 0);
}

static void check_many_shapes(random_numbers &r, int turn, bool few)
{
    batch b = make_batch(turn % 2, turn / 2 % 2 ? NEURON_CRANK_NICOLSON : NEURON_EULER, few ? 12 : 60, 2);
    for (int s = 0; s < (few ? 4 : 23); s++)
        b.add(make_cell(r, (tree_kind)r.below(TREE_KINDS), 1 + r.below(few ? 30 : 400), 0.1),
              1 + r.below(few ? 9 : 70));
    give_columns(r, &b, turn % 4);
    b.probe_all(r, 2);
    b.clamp_some(r, 10);
    check(b, "many shapes, turn " + std::to_string(turn), turn < 2);
}

static void check_both_faults(random_numbers &r)
{
    for (int hh = 0; hh < 2; hh++) {
        batch b = make_batch(hh, NEURON_EULER, 20, 1);
        b.add(make_cell(r, RANDOM, 20, 0), 5);
        b.give_column(r, NEURON_V, -70, -60);
        b.probe_all(r, 1);
        b.clamp_some(r, 1);
        check_faults(b);
    }
}

static void check_all(uint64_t seed)
{
    random_numbers r = {seed};
    check_both_faults(r);
    const int64_t nodes[] = {1, 2, 17, 76, 319, 691}, lanes[] = {1, 2, 5, 16, 33, 64, 131, 200};
    int turn = 0;
    for (int kind = 0; kind < TREE_KINDS; kind++)
        for (int64_t n : nodes)
            for (int again = 0; again < 4; again++, turn++)
                check_kind(r, (tree_kind)kind, n, lanes[r.below(8)], turn);
    for (turn = 0; turn < 8; turn++)
        check_many_shapes(r, turn, false);
    deep = true;
    check_kind(r, PATH, 100000, 2, 12);
    check_kind(r, PATH, 100000, 2, 1);
    check_kind(r, STAR, 50000, 2, 4);
    check_kind(r, RANDOM, 30000, 40, 9);
}

static void check_small(uint64_t seed)
{
    random_numbers r = {seed};
    deep = true;
    check_both_faults(r);
    for (int turn = 1; turn < 9; turn++)
        check_kind(r, (tree_kind)(turn % TREE_KINDS), 1 + r.below(30), 1 + r.below(40), turn + (int)(seed % 2) * 8);
    check_many_shapes(r, 2 + (int)(seed % 4), true);
    check_many_shapes(r, 3 + (int)(seed % 4), true);
}

int main(int argc, char **argv)
{
    const std::string mode = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    CUDA(cudaStreamCreate(&stream));
    const uint64_t seed = argc == 3 ? strtoull(argv[2], NULL, 10) : 1;
    if (mode == "check" && argc <= 3) {
        check_all(seed);
    } else if (mode == "small" && argc <= 3) {
        check_small(seed);
    } else if (mode == "bench") {
        bench(argc - 2, argv + 2);
    } else {
        fprintf(stderr, "usage: neuron_gpu check [SEED] | small [SEED] | bench [WHAT [WAY]]\n");
        return 2;
    }
    printf("%s: %d failures; largest difference from the CPU: passive %.2g, channels %.2g mV\n", mode.c_str(),
           failures, worst_passive, worst_channels);
    return failures != 0;
}
