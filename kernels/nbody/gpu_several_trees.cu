/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields of parts: every device builds the tree of its part, and walks it while the others' trees are copied to it;
 * then it walks these, one after the other, for the same targets. Sums are added in the order of the devices.
 */
#include "nbody/gpu_several.h"

namespace nbody
{

enum { THREADS = 256 };

/* --- trees ------------------------------------------------------------------------------------------------------ */

template <class P, class R> static bool relative(const System<P, R> *p)
{
    return p->rule.opening == LACIS_NBODY_RELATIVE && p->sized && p->g > 0;
}

/* The part's tree, and how many cells it has on the way to the host. */
template <class P, class R> static lacis_nbody_status build_part(Several<P, R> *s, int k)
{
    System<P, R> *const p = s->part[k];
    NBODY_CUDA(s, cudaSetDevice(s->device[k]));
    for (int other = 0; other < s->devices; other++)
        if (other != k) NBODY_CUDA(s, cudaStreamWaitEvent(p->machine.stream, s->fetched[other]));
    NBODY_TRY(system_grow(p));
    NBODY_TRY(system_follow(p, relative(p), false));
    NBODY_CUDA(s, cudaMemcpyAsync(p->machine.pinned, p->tree.cells, sizeof(uint32_t), cudaMemcpyDeviceToHost,
                                  p->machine.stream));
    NBODY_CUDA(s, cudaEventRecord(s->built[k], p->machine.stream));
    return LACIS_NBODY_OK;
}

/* Sizes, and copies where there is a block for them. */
template <class P, class R>
static cudaError_t copy_tree(Several<P, R> *s, int a, int b, uint32_t cells, uint64_t *bytes)
{
    const Tree<P, R> *const from = &s->part[b]->tree;
    Foreign<P, R> *const f = &s->foreign[a][b];
    cudaError_t error = cudaSuccess;
    *bytes = 0;
    f->tree = *from;
    const auto copy = [&](auto **to, uint64_t count) {
        const uint64_t size = count * sizeof **to;
        if (!*to || error != cudaSuccess) return;
        if (f->block) {
            const void *const source = *to;
            void *const here = static_cast<unsigned char *>(f->block) + *bytes;
            error = cudaMemcpyPeerAsync(here, s->device[a], source, s->device[b], size, s->copies[a]);
            *to = static_cast<std::remove_reference_t<decltype(*to)>>(here);
        }
        *bytes += (size + 255) / 256 * 256;
    };
    copy(&f->tree.body, (uint64_t)from->n);
    copy(&f->tree.cells, 1);
    copy(&f->tree.link, cells);
    copy(&f->tree.centre, cells);
    copy(&f->tree.cube, cells);
    copy(&f->tree.quad, 2 * (uint64_t)cells);
    copy(&f->tree.soft_mean, cells);
    return error;
}

/* b's tree to a. Blocks are a third larger than must be, for trees grow and shrink. */
template <class P, class R> static lacis_nbody_status fetch_tree(Several<P, R> *s, int a, int b)
{
    System<P, R> *const p = s->part[a];
    Foreign<P, R> *const f = &s->foreign[a][b];
    const uint32_t cells = *static_cast<const uint32_t *>(s->part[b]->machine.pinned);
    void *const block = f->block;
    uint64_t bytes = 0;
    f->block = nullptr;
    NBODY_CUDA(s, copy_tree(s, a, b, cells, &bytes));
    f->block = block;
    if (f->bytes < bytes) {
        const lacis_nbody_host *host = &p->machine.host;
        if (f->block) host->free(host->context, f->block);
        f->bytes = bytes + bytes / 3;
        f->block = host->alloc(host->context, f->bytes);
        if (!f->block) {
            f->bytes = 0;
            return LACIS_NBODY_NO_MEMORY;
        }
        NBODY_CUDA(s,
                   cudaEventRecord(s->walked[a], p->machine.stream)); /* the block is there in the stream's order */
    }
    NBODY_CUDA(s, cudaStreamWaitEvent(s->copies[a], s->walked[a]));
    NBODY_CUDA(s, copy_tree(s, a, b, cells, &bytes));
    return LACIS_NBODY_OK;
}

/* --- sums ------------------------------------------------------------------------------------------------------- */

template <class R>
__global__ void __launch_bounds__(THREADS) add_sums_kernel(uint32_t n, const Four<R> *more, Four<R> *sum)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    const Four<R> a = load(sum + i), b = load(more + i);
    store(sum + i, Four<R>{a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w});
}

/* Walks a tree that is not the part's own for the part's bodies. */
template <class P, class R>
static cudaError_t walk_foreign(System<P, R> *p, const Tree<P, R> &foreign, bool potential, void *room)
{
    Tree<P, R> tree = foreign;
    tree.old = relative(p) ? p->old : nullptr;
    const Forces<R> forces = {p->sum_spare, potential, p->counted};
    Walk<P, R> w = walk_of(&p->rule, &tree, &forces);
    w.n = p->n;
    w.target = p->tree.body;
    w.bodies = false;
    walk_share(&p->rule, &w, room);
    const cudaError_t error = walk_start(w, &p->rule, potential, p->machine.stream);
    if (error != cudaSuccess) return error;
    add_sums_kernel<R>
        <<<blocks_of(p->n, THREADS), THREADS, 0, p->machine.stream>>>((uint32_t)p->n, p->sum_spare, p->sum);
    return cudaGetLastError();
}

template <class P, class R> static lacis_nbody_status walk_others(Several<P, R> *s, int a, bool potential)
{
    System<P, R> *const p = s->part[a];
    const lacis_nbody_host *host = &p->machine.host;
    Walk<P, R> sized = {};
    sized.n = p->n;
    NBODY_TRY(take(p, &p->sum_spare, (uint64_t)p->n));
    void *const room = host->alloc(host->context, walk_share(&p->rule, &sized, nullptr));
    if (!room) return LACIS_NBODY_NO_MEMORY;
    cudaError_t error = cudaStreamWaitEvent(p->machine.stream, s->fetched[a]);
    for (int b = 0; b < s->devices && error == cudaSuccess; b++)
        if (b != a) error = walk_foreign(p, s->foreign[a][b].tree, potential, room);
    host->free(host->context, room);
    if (error == cudaSuccess) error = cudaEventRecord(s->walked[a], p->machine.stream);
    NBODY_CUDA(s, error);
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status walk_own(Several<P, R> *s, int a, bool potential)
{
    System<P, R> *const p = s->part[a];
    const Targets<P> bodies = {p->n, nullptr, nullptr, nullptr};
    const Forces<R> forces = {p->sum, potential, p->counted};
    NBODY_CUDA(s, cudaSetDevice(s->device[a]));
    p->tree.old = relative(p) ? p->old : nullptr;
    NBODY_TRY(walk(&p->machine, &p->rule, &p->tree, &bodies, &forces));
    p->tree.old = nullptr;
    for (int b = 0; b < s->devices; b++)
        if (b != a) NBODY_TRY(fetch_tree(s, a, b));
    NBODY_CUDA(s, cudaEventRecord(s->fetched[a], s->copies[a]));
    return walk_others(s, a, potential);
}

/* The first time of RELATIVE: sums by a rough walk tell sizes. */
template <class P, class R> static lacis_nbody_status walk_roughly(Several<P, R> *s)
{
    for (int k = 0; k < s->devices; k++)
        NBODY_TRY(walk_own(s, k, false));
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_sizes(s->part[k]));
        s->part[k]->sized = true;
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> lacis_nbody_status several_field(Several<P, R> *s, bool potential)
{
    const System<P, R> *const one = s->part[0];
    for (int k = 0; k < s->devices; k++)
        NBODY_TRY(build_part(s, k));
    for (int k = 0; k < s->devices; k++)
        NBODY_CUDA(s, cudaEventSynchronize(s->built[k]));
    if (one->rule.opening == LACIS_NBODY_RELATIVE && !one->sized && one->g > 0) NBODY_TRY(walk_roughly(s));
    for (int k = 0; k < s->devices; k++)
        NBODY_TRY(walk_own(s, k, potential));
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->part[k];
        p->given = false;
        p->known = p->sized = true;
        p->phi_known = potential;
        p->done.evaluations++;
    }
    return LACIS_NBODY_OK;
}

#define OF_TYPE(P, R) template lacis_nbody_status several_field(Several<P, R> *, bool);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
