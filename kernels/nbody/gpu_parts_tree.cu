/* SPDX-License-Identifier: Apache-2.0
 *
 * Several trees as one: links that count from the first cell and body of all, and a top above the roots.
 */
#include "nbody/gpu_parts.h"

namespace nbody
{

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    shift_kernel(uint32_t cells, Link *link, uint32_t cell, uint32_t body)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < cells) link[i].first += link[i].many & LEAF ? body : cell;
}

template <class P, class R>
cudaError_t parts_shift(const Joint<P, R> &joint, const Place &at, uint32_t cells, cudaStream_t stream)
{
    if (cells == 0) return cudaSuccess;
    shift_kernel<<<blocks_of(cells, THREADS), THREADS, 0, stream>>>(cells, joint.link + at.cell, at.cell,
                                                                    (uint32_t)at.body);
    return cudaGetLastError();
}

struct Roots {
    uint32_t cell[LACIS_NBODY_GPUS_MOST];
    int many;
};

/* What is known of roots' masses about the point between them. */
struct Top {
    double x[3], mass, xx, yy, zz, xy, xz, yz, extent;
};

template <class P, class R> __device__ static Top top_of(const Joint<P, R> &j, const Roots &roots)
{
    Top t = {};
    for (int k = 0; k < roots.many; k++)
        t.mass += (double)j.centre[roots.cell[k]].w;
    for (int k = 0; k < roots.many; k++) {
        const Four<P> c = load(j.centre + roots.cell[k]);
        const double part = t.mass > 0 ? (double)c.w / t.mass : 1.0 / roots.many;
        t.x[0] += part * (double)c.x, t.x[1] += part * (double)c.y, t.x[2] += part * (double)c.z;
    }
    for (int k = 0; k < 3; k++)
        t.x[k] = (double)(P)t.x[k];
    for (int k = 0; k < roots.many; k++) {
        const Four<P> c = load(j.centre + roots.cell[k]);
        const double x = (double)c.x - t.x[0], y = (double)c.y - t.x[1], z = (double)c.z - t.x[2], m = (double)c.w;
        t.extent = fmax(t.extent, (double)j.link[roots.cell[k]].extent + sqrt(x * x + y * y + z * z));
        if (j.quad == nullptr) continue;
        const Four<R> q = load(j.quad + 2 * (size_t)roots.cell[k]), p = load(j.quad + 2 * (size_t)roots.cell[k] + 1);
        t.xx += (double)q.x + m * x * x, t.yy += (double)q.y + m * y * y, t.zz += (double)q.z + m * z * z;
        t.xy += (double)q.w + m * x * y, t.xz += (double)p.x + m * x * z, t.yz += (double)p.y + m * y * z;
    }
    return t;
}

/* The top is as wide as what it holds; its cube has no side that any rule would take. */
template <class P, class R> __global__ void top_kernel(Joint<P, R> j, Roots roots)
{
    const Top t = top_of(j, roots);
    j.link[0] = Link{1, (uint32_t)roots.many, __double2float_ru(t.extent), __int_as_float(0x7f800000)};
    store(j.centre, Four<P>{(P)t.x[0], (P)t.x[1], (P)t.x[2], (P)t.mass});
    if (j.cube != nullptr) store(j.cube, Four<P>{(P)t.x[0], (P)t.x[1], (P)t.x[2], 0});
    const R soft = j.quad != nullptr ? j.quad[2 * (size_t)roots.cell[0] + 1].z : 0;
    if (j.quad != nullptr) {
        store(j.quad, Four<R>{(R)t.xx, (R)t.yy, (R)t.zz, (R)t.xy});
        store(j.quad + 1, Four<R>{(R)t.xz, (R)t.yz, soft, 0});
    }
    for (uint32_t k = 0; k < (uint32_t)roots.many; k++) {
        const size_t from = roots.cell[k], to = 1 + k;
        j.link[to] = j.link[from];
        store(j.centre + to, load(j.centre + from));
        if (j.cube != nullptr) store(j.cube + to, load(j.cube + from));
        for (int half = 0; half < 2 && j.quad != nullptr; half++)
            store(j.quad + 2 * to + half, load(j.quad + 2 * from + half));
    }
}

template <class P, class R>
cudaError_t parts_top(const Joint<P, R> &joint, const Place *at, int many, bool quad, cudaStream_t stream)
{
    Joint<P, R> j = joint;
    Roots roots = {{}, many};
    for (int k = 0; k < many; k++)
        roots.cell[k] = at[k].cell;
    if (!quad) j.quad = nullptr;
    top_kernel<P, R><<<1, 1, 0, stream>>>(j, roots);
    return cudaGetLastError();
}

#define OF_TYPE(P, R)                                                                                                \
    template cudaError_t parts_shift(const Joint<P, R> &, const Place &, uint32_t, cudaStream_t);                    \
    template cudaError_t parts_top(const Joint<P, R> &, const Place *, int, bool, cudaStream_t);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
