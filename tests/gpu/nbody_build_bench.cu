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
static double median(Device<P, R> *d, const lacis_nbody_rule &rule, int times, bool sorted, uint32_t *cells)
{
    const uint32_t n = (uint32_t)d->body.size();
    nbody::Tree<P, R> tree;
    std::vector<float> ms((size_t)times);
    cudaEvent_t begin, end;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    for (int k = -2; k < times; k++) {
        shift_kernel<P, R><<<(n + 255) / 256, 256, 0, stream>>>(n, d->body_at, (P)1e-3);
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

template <class P, class R> static void times_of(const char *type, const nbody_set &set, int leaf, int repeat)
{
    for (int canonical = 0; canonical < 2; canonical++) {
        lacis_nbody_rule rule = nbody_rule(LACIS_NBODY_TREE, LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_RELATIVE);
        rule.leaf = leaf;
        rule.deterministic = canonical != 0;
        uint32_t cells[2];
        Device<P, R> d(set);
        const double random = median(&d, rule, repeat, false, &cells[0]),
                     sorted = median(&d, rule, repeat, true, &cells[1]);
        printf("build %-8s %9lld bodies, leaf %3d, %-9s: %7.3f ms in random order, %7.3f ms sorted, %u cells\n", type,
               (long long)set.n(), leaf, canonical ? "canonical" : "free", random, sorted, cells[1]);
    }
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
        const int repeat = n > 1000000 ? 11 : 31;
        times_of<float, float>("f32", set, 24, repeat);
        if (n != 500000 && n != 5000000) continue;
        times_of<float, float>("f32", set, 32, repeat);
        times_of<double, double>("f64", set, 24, repeat);
        times_of<double, float>("mixed", set, 24, repeat);
    }
    return failures != 0;
}

static nbody_bench entry("build", bench);
