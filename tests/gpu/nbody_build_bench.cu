/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of a tree: nbody_gpu bench build [BODIES [LEAF]]... Medians over builds of bodies that come in random order,
 * and in the order of the tree before (as in a run), moved a little. Nothing of the host's is timed but what it waits
 * for.
 */
#include "nbody_built.h"

template <class P, class R> __global__ void shift_kernel(uint32_t n, nbody::Four<P> *body, P by)
{
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const uint32_t h = i * 2654435761u;
    body[i].x += by * ((P)(h & 1023) / 512 - 1);
    body[i].y += by * ((P)(h >> 10 & 1023) / 512 - 1);
    body[i].z += by * ((P)(h >> 20 & 1023) / 512 - 1);
}

template <class P, class R>
static double median(Device<P, R> *d, const lacis_nbody_rule &rule, int times, bool sorted, double move,
                     uint32_t *cells)
{
    const uint32_t n = (uint32_t)d->body.size();
    nbody::Tree<P, R> tree;
    std::vector<float> ms((size_t)times);
    cudaEvent_t begin, end;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (int k = -2; k < times; k++) {
        shift_kernel<P, R><<<(n + 255) / 256, 256, 0, stream>>>(n, d->body_at, (P)move);
        CUDA(cudaEventRecord(begin, stream));
        if (nbody::build<P, R>(&d->machine, d->builder, &rule, d->body_at, d->soft_at, d->common, d->order, &tree) !=
            LACIS_NBODY_OK)
            printf("not built: CUDA error %d\n", d->error);
        CUDA(cudaEventRecord(end, stream));
        CUDA(cudaEventSynchronize(end));
        if (k >= 0) CUDA(cudaEventElapsedTime(&ms[(size_t)k], begin, end));
        if (sorted)
            CUDA(cudaMemcpyAsync(d->body_at, tree.body, n * sizeof *tree.body, cudaMemcpyDeviceToDevice, stream));
    }
    *cells = built_down(tree.cells, 1)[0];
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
    std::sort(ms.begin(), ms.end());
    return ms[ms.size() / 2];
}

template <class P, class R>
static void times_of(const char *type, const nbody_set &set, lacis_nbody_way way, int leaf, int repeat,
                     double move = 1e-3)
{
    lacis_nbody_rule rule = nbody_rule(way, LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_RELATIVE);
    rule.leaf = leaf;
    uint32_t cells[2];
    Device<P, R> d(set);
    const double random = median(&d, rule, repeat, false, move, &cells[0]);
    const double sorted = median(&d, rule, repeat, true, move, &cells[1]);
    printf("build %-8s %9lld bodies, leaf %3d, %-6s: %7.3f ms in random order, %7.3f ms sorted, %u cells, %s\n", type,
           (long long)set.n(), leaf, way == LACIS_NBODY_INSERT ? "insert" : "tree", random, sorted, cells[1],
           set.name.c_str());
    fflush(stdout);
}

/* Two clusters far apart, all at one place, and a few places. */
static std::vector<nbody_set> hard(const nbody_set &all)
{
    std::vector<nbody_set> out(3, all);
    const char *const names[] = {"two clusters", "one place", "eight places"};
    for (size_t i = 0; i < all.x.size(); i++) {
        if (i % 2) out[0].x[i] += 1e6;
        out[1].x[i] = out[1].y[i] = out[1].z[i] = 0.25;
        out[2].x[i] = (double)(i & 1);
        out[2].y[i] = (double)(i >> 1 & 1);
        out[2].z[i] = (double)(i >> 2 & 1);
    }
    for (int k = 0; k < 3; k++)
        out[(size_t)k].name = names[k];
    return out;
}

static int bench(int argc, char **argv)
{
    std::vector<int64_t> sizes;
    for (int k = 0; k < argc; k++)
        sizes.push_back(atoll(argv[k]));
    if (sizes.empty()) sizes = {5000, 50000, 500000, 5000000};
    const nbody_set all = nbody_plummer(*std::max_element(sizes.begin(), sizes.end()), 1);
    for (const int64_t n : sizes) {
        nbody_set set = all;
        for (auto *column : {&set.m, &set.x, &set.y, &set.z})
            column->resize((size_t)n);
        const int repeat = n > 1000000 ? 7 : 31;
        times_of<float, float>("f32", set, LACIS_NBODY_TREE, 24, repeat);
        if (n != 500000 && n != 5000000) continue;
        times_of<float, float>("f32", set, LACIS_NBODY_TREE, 32, repeat);
        times_of<float, float>("f32", set, LACIS_NBODY_INSERT, 24, repeat);
        times_of<double, double>("f64", set, LACIS_NBODY_TREE, 24, repeat);
        times_of<double, float>("mixed", set, LACIS_NBODY_TREE, 24, repeat);
        for (const nbody_set &other : hard(set)) {
            times_of<double, float>("mixed", other, LACIS_NBODY_TREE, 24, 3, 0);
            times_of<double, float>("mixed", other, LACIS_NBODY_INSERT, 24, 3, 0);
        }
    }
    return failures != 0;
}

static nbody_bench entry("build", bench);
