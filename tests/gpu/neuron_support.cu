/* SPDX-License-Identifier: Apache-2.0
 *
 * Made-up neurons and both ways of running them, as neuron_support.h says.
 */
#include "neuron_support.h"

#include <algorithm>

const char *const tree_name[TREE_KINDS] = {"path", "star", "random", "bifurcating", "broom"};

uint64_t random_numbers::next()
{
    return next_random(&state);
}

double random_numbers::within(double low, double high)
{
    return low + (high - low) * (double)(next() >> 11) * 0x1p-53;
}

int64_t random_numbers::below(int64_t n)
{
    return (int64_t)(next() % (uint64_t)n);
}

/* Sections of two nodes; ends of random sections fork until there are enough nodes. */
static std::vector<int32_t> forks(random_numbers &r, int64_t nodes)
{
    std::vector<int32_t> parent, tip;
    const auto section = [&](int32_t from) {
        for (int k = 0; k < 2 && (int64_t)parent.size() < nodes; k++, from = (int32_t)parent.size() - 1)
            parent.push_back(from);
        tip.push_back((int32_t)parent.size() - 1);
    };
    section(-1);
    while ((int64_t)parent.size() < nodes) {
        const int64_t k = r.below((int64_t)tip.size());
        const int32_t from = tip[k];
        tip[k] = tip.back();
        tip.pop_back();
        section(from);
        if ((int64_t)parent.size() < nodes) section(from);
    }
    return parent;
}

std::vector<int32_t> make_parents(random_numbers &r, tree_kind kind, int64_t nodes)
{
    if (kind == BIFURCATING) return forks(r, nodes);
    std::vector<int32_t> parent(nodes, -1);
    for (int64_t i = 1; i < nodes; i++)
        parent[i] = (int32_t)(kind == PATH    ? i - 1
                              : kind == STAR  ? 0
                              : kind == BROOM ? std::min(i - 1, nodes / 2)
                                              : r.below(i));
    return parent;
}

cell make_cell(random_numbers &r, tree_kind kind, int64_t nodes, double without_area)
{
    cell c;
    c.parent = make_parents(r, kind, nodes);
    const auto fill = [&](std::vector<double> &to, double low, double high) {
        for (int64_t i = 0; i < nodes; i++)
            to.push_back(r.within(low, high));
    };
    fill(c.area, 20, 400);
    for (int64_t i = 1; i < nodes; i++)
        if (r.within(0, 1) < without_area) c.area[i] = 0;
    fill(c.cm, 0.7, 1.3);
    fill(c.g, 1e-4, 2e-3);
    fill(c.e, -75, -55);
    fill(c.gna, 0.08, 0.14);
    fill(c.gk, 0.03, 0.04);
    fill(c.gl, 2e-4, 4e-4);
    fill(c.el, -56, -52);
    c.a.resize(nodes);
    c.b.resize(nodes);
    for (int64_t i = 1; i < nodes; i++) {
        const double ri = exp(r.within(log(0.05), log(60))), above = c.area[c.parent[i]], own = c.area[i];
        c.a[i] = -100 / (ri * (above > 0 ? above : 100));
        c.b[i] = -100 / (ri * (own > 0 ? own : 100));
    }
    c.chain.resize(nodes + 1);
    c.chain.resize(lacis_neuron_chains(c.parent.data(), nodes, c.chain.data()) + 1);
    return c;
}

void batch::add(cell c, int64_t lanes)
{
    cells.push_back(std::move(c));
    shape.push_back({});
    shape.back().lane = plan.lanes;
    shape.back().lanes = lanes;
    plan.lanes += lanes;
}

void batch::give_column(random_numbers &r, neuron_figure figure, double low, double high)
{
    for (int64_t l = 0; l < plan.lanes; l++)
        column[figure].push_back(r.within(low, high));
}

void batch::probe_all(random_numbers &r, int64_t numbers)
{
    plan.numbers = numbers;
    for (size_t s = 0; s < cells.size(); s++)
        for (int64_t k = 0; k < numbers; k++)
            probe.push_back({(int32_t)s, (int32_t)r.below((int64_t)cells[s].parent.size()), (int32_t)k});
}

void batch::clamp_some(random_numbers &r, int64_t count)
{
    const double end = plan.dt * (double)plan.steps;
    for (int64_t k = 0; k < count; k++) {
        const int64_t s = r.below((int64_t)cells.size());
        const double from = r.within(-0.1 * end, 0.8 * end);
        clamp.push_back({(int32_t)s, (int32_t)r.below((int64_t)cells[s].parent.size()), r.within(0, 1), from,
                         r.below(3) ? from + r.within(0, 0.5 * end) : INFINITY});
        if (k % 2) clamp.back().node = clamp[k - 1].shape == (int32_t)s ? clamp[k - 1].node : 0;
    }
}

void batch::settle()
{
    for (size_t s = 0; s < cells.size(); s++) {
        cell &c = cells[s];
        neuron_shape &to = shape[s];
        to.nodes = (int64_t)c.parent.size();
        to.parent = c.parent.data();
        to.a = c.a.data();
        to.b = c.b.data();
        to.area = c.area.data();
        to.cm = c.cm.data();
        to.g = c.g.data();
        to.e = c.e.data();
        to.gna = c.gna.data();
        to.gk = c.gk.data();
        to.gl = c.gl.data();
        to.el = c.el.data();
        to.chain = c.chain.data();
        to.chains = (int64_t)c.chain.size() - 1;
    }
    plan.shape = shape.data();
    plan.shapes = (int64_t)shape.size();
    for (int f = 0; f < NEURON_FIGURES; f++)
        plan.column[f] = column[f].empty() ? NULL : column[f].data();
    plan.clamp = clamp.data();
    plan.clamps = (int64_t)clamp.size();
    plan.probe = probe.data();
    plan.probes = (int64_t)probe.size();
}

static int64_t values_of(const neuron_plan &plan)
{
    return plan.numbers * plan.lanes * (plan.reduce == NEURON_ALL ? lacis_neuron_samples(&plan) : 1);
}

int64_t batch::values() const
{
    return values_of(plan);
}

answer run_on_cpu(const neuron_plan &given)
{
    answer a;
    neuron_plan plan = given;
    a.out.resize(values_of(plan));
    a.when.resize(plan.numbers * plan.lanes);
    plan.out = a.out.data();
    plan.when = a.when.data();
    const size_t blocks = (size_t)lacis_neuron_blocks(&plan, NULL);
    std::vector<neuron_block> block(blocks);
    lacis_neuron_blocks(&plan, block.data());
    void *shared = aligned_alloc(64, lacis_neuron_shared_bytes(&plan) + 64);
    void *work = aligned_alloc(64, lacis_neuron_workspace(&plan) + 64);
    lacis_neuron_share(&plan, shared);
    for (const neuron_block &b : block)
        lacis_neuron_run(&plan, &b, shared, work, NULL, NULL);
    free(shared);
    free(work);
    return a;
}

static int64_t blocks_out; /* of device memory that is not given back */
static void *pool_alloc(void *, uint64_t bytes)
{
    void *p = NULL;
    if (cudaMallocAsync(&p, bytes, stream) != cudaSuccess) return NULL;
    blocks_out++;
    CUDA(cudaMemsetAsync(p, 0xee, bytes, stream));
    return p;
}
static void pool_free(void *, void *p)
{
    blocks_out--;
    cudaFreeAsync(p, stream);
}
const lacis_neuron_gpu_memory pool = {pool_alloc, pool_free, NULL};

static void run_panel(const neuron_plan &plan, const gpu_options &options, const lacis_neuron_gpu_tables *tables,
                      answer *a)
{
    int error = 0;
    double *out = NULL, *when = NULL;
    const size_t out_bytes = (size_t)values_of(plan) * 8, when_bytes = (size_t)(plan.numbers * plan.lanes) * 8;
    CUDA(cudaMallocAsync(&out, out_bytes + 8, stream));
    CUDA(cudaMallocAsync(&when, when_bytes + 8, stream));
    CUDA(cudaMemsetAsync(out, 0xee, out_bytes, stream));
    CUDA(cudaMemsetAsync(when, 0xee, when_bytes, stream));
    lacis_neuron_gpu_job job = {plan, options.way, options.most_steps, NULL, NULL, stream, NULL, pool};
    job.plan.out = out;
    job.plan.when = when;
    const lacis_neuron_gpu_status status = lacis_neuron_gpu_run(&job, tables, &error);
    if (status != LACIS_NEURON_GPU_OK) {
        printf("FAIL run: status %d, CUDA error %d: %s\n", (int)status, error,
               cudaGetErrorString((cudaError_t)error));
        exit(1);
    }
    a->out.resize(values_of(plan));
    a->when.resize(plan.numbers * plan.lanes);
    CUDA(cudaMemcpyAsync(a->out.data(), out, out_bytes, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaMemcpyAsync(a->when.data(), when, when_bytes, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaFreeAsync(out, stream));
    CUDA(cudaFreeAsync(when, stream));
    CUDA(cudaStreamSynchronize(stream));
}

/* A panel's rows into those of all lanes. */
static void merge(const std::vector<double> &from, int64_t first, int64_t lanes, int64_t all, std::vector<double> *to)
{
    const int64_t rows = (int64_t)from.size() / lanes;
    to->resize(rows * all);
    for (int64_t r = 0; r < rows; r++)
        memcpy(to->data() + r * all + first, from.data() + r * lanes, (size_t)lanes * 8);
}

answer run_on_gpu(const neuron_plan &plan, const gpu_options &options)
{
    answer a, part;
    int error = 0;
    lacis_neuron_gpu_tables *tables = NULL;
    lacis_neuron_gpu_job job = {plan, options.way, options.most_steps, NULL, NULL, stream, NULL, pool};
    const lacis_neuron_gpu_status status = lacis_neuron_gpu_tables_new(&job, &tables, &error);
    if (status != LACIS_NEURON_GPU_OK) {
        printf("FAIL tables: status %d, CUDA error %d\n", (int)status, error);
        exit(1);
    }
    const int64_t panel = options.panel > 0 ? options.panel : plan.lanes;
    for (int64_t first = 0; first < plan.lanes; first += panel) {
        neuron_plan some = plan;
        some.first = first;
        some.lanes = std::min(panel, plan.lanes - first);
        run_panel(some, options, tables, &part);
        merge(part.out, first, some.lanes, plan.lanes, &a.out);
        merge(part.when, first, some.lanes, plan.lanes, &a.when);
    }
    lacis_neuron_gpu_tables_free(&job, tables);
    CUDA(cudaStreamSynchronize(stream));
    if (blocks_out != 0) fail("memory", "blocks not given back", (double)blocks_out, 0);
    return a;
}
