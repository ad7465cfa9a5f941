/* SPDX-License-Identifier: Apache-2.0
 *
 * See gpu_walk_points.h. Points are numbered along Hilbert's curve in the cube about them, with the builder's keys.
 */
#include "nbody/gpu_walk_points.h"

#include "nbody/gpu_build_keys.cuh"
#include "nbody/gpu_number.cuh"

#include <cub/device/device_radix_sort.cuh>

namespace nbody
{

/* Memory of one evaluation; first: the curve's order. */
template <class P, class R> struct Points {
    Four<P> *packed, *sorted;
    Key *key[2];
    uint32_t *order[2];
    Four<R> *rough; /* RELATIVE: the first field */
    R *old;
    Key *bounds;
    Box *box;
    uint32_t *left;
    void *work;
    size_t work_bytes;
};

template <class P>
static __global__ void __launch_bounds__(256)
    pack_kernel(uint32_t n, const P *x, const P *y, const P *z, Four<P> *out)
{
    const uint32_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = {x[i], y[i], z[i], 0};
}

template <class P>
static __global__ void __launch_bounds__(256)
    number_kernel(uint32_t n, const Four<P> *point, const Box *box, Curve curve, Key *key, uint32_t *order)
{
    __shared__ uint8_t step[192];
    if (threadIdx.x < 192) step[threadIdx.x] = curve.step[threadIdx.x];
    __syncthreads();
    const uint32_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const Four<P> p = point[i];
    key[i] = key_of(step, grid_of((double)p.x, box->lo[0], *box), grid_of((double)p.y, box->lo[1], *box),
                    grid_of((double)p.z, box->lo[2], *box), GRID);
    order[i] = i;
}

template <class P>
static __global__ void __launch_bounds__(256)
    gather_kernel(uint32_t n, const uint32_t *order, const Four<P> *from, Four<P> *out)
{
    const uint32_t i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = from[order[i]];
}

/* Scaled, so that squares stay in range. */
template <class R> static __global__ void __launch_bounds__(256) length_kernel(uint32_t n, const Four<R> *a, R *out)
{
    const uint32_t i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const R x = fabs(a[i].x), y = fabs(a[i].y), z = fabs(a[i].z), top = x > y ? (x > z ? x : z) : (y > z ? y : z);
    const R u = x / top, v = y / top, w = z / top;
    out[i] = top > 0 ? top * sqrt(fused(u, u, fused(v, v, w * w))) : 0;
}

/* Where arrays lie in one block; base NULL: only its size. */
template <class P, class R> static uint64_t lay_out(Points<P, R> *p, uint32_t n, bool twice, char *base)
{
    uint64_t at = 0;
    const auto room = [&](auto **pointer, uint64_t count) {
        *pointer = base != nullptr && count > 0
                       ? reinterpret_cast<std::remove_reference_t<decltype(*pointer)>>(base + at)
                       : nullptr;
        at += (count * sizeof **pointer + 255) / 256 * 256;
    };
    room(&p->packed, n);
    room(&p->sorted, n);
    for (int k = 0; k < 2; k++) {
        room(&p->key[k], n);
        room(&p->order[k], n);
    }
    room(&p->rough, twice ? n : 0);
    room(&p->old, twice ? n : 0);
    room(&p->bounds, 6);
    room(&p->box, 1);
    room(&p->left, n / 32 + 2);
    p->work = base != nullptr ? base + at : nullptr;
    return at + p->work_bytes;
}

template <class P, class R>
static cudaError_t sort(const Points<P, R> &p, uint32_t n, void *work, size_t *bytes, cudaStream_t stream)
{
    return cub::DeviceRadixSort::SortPairs(work, *bytes, p.key[0], p.key[1], p.order[0], p.order[1], (int)n, 0,
                                           3 * GRID, stream);
}

template <class P, class R>
static bool put_in_order(const Machine *machine, Points<P, R> *p, uint32_t n, const Targets<P> *points)
{
    static constexpr Curve curve = make_curve();
    const cudaStream_t stream = machine->stream;
    const unsigned blocks = blocks_of(n, 256);
    pack_kernel<P><<<blocks, 256, 0, stream>>>(n, points->x, points->y, points->z, p->packed);
    if (!launched(machine) || !good(machine, cudaMemsetAsync(p->bounds, 0, 6 * sizeof(Key), stream))) return false;
    bounds_kernel<P><<<blocks_of(n, 2048), 256, 0, stream>>>(n, p->packed, p->bounds);
    if (!launched(machine)) return false;
    boxes_kernel<<<1, 32, 0, stream>>>(1, p->bounds, p->box);
    if (!launched(machine)) return false;
    number_kernel<P><<<blocks, 256, 0, stream>>>(n, p->packed, p->box, curve, p->key[0], p->order[0]);
    if (!launched(machine) || !good(machine, sort(*p, n, p->work, &p->work_bytes, stream))) return false;
    gather_kernel<P><<<blocks, 256, 0, stream>>>(n, p->order[1], p->packed, p->sorted);
    return launched(machine);
}

template <class P, class R> static void targets_of(Walk<P, R> *walk, const Points<P, R> &p, uint32_t n)
{
    walk->target = p.sorted;
    walk->bodies = false;
    walk->left = p.left + 1;
    walk->lefts = p.left;
    walk->n = n;
}

template <class P, class R>
static bool evaluate(const Machine *machine, const lacis_nbody_rule *rule, const Tree<P, R> &whole,
                     const Points<P, R> &p, uint32_t n, const Forces<R> *forces)
{
    Tree<P, R> tree = whole;
    Forces<R> to = {p.rough, false, forces->counts};
    if (p.rough != nullptr) {
        tree.old = nullptr;
        Walk<P, R> first = walk_of(rule, &tree, &to);
        targets_of(&first, p, n);
        if (!good(machine, walk_start(first, rule, false, machine->stream))) return false;
        length_kernel<R><<<blocks_of(n, 256), 256, 0, machine->stream>>>(n, p.rough, p.old);
        if (!launched(machine)) return false;
    }
    tree.old = p.old;
    Walk<P, R> last = walk_of(rule, &tree, forces);
    targets_of(&last, p, n);
    last.order = p.order[1];
    return good(machine, walk_start(last, rule, forces->potential, machine->stream));
}

template <class P, class R>
lacis_nbody_status walk_points(const Machine *machine, const lacis_nbody_rule *rule, const Tree<P, R> *tree,
                               const Targets<P> *points, const Forces<R> *forces)
{
    Points<P, R> p = {};
    if (points->n > INT32_MAX) return LACIS_NBODY_UNSUPPORTED;
    const uint32_t n = (uint32_t)points->n;
    const bool twice = rule->opening == LACIS_NBODY_RELATIVE;
    if (!good(machine, sort(p, n, nullptr, &p.work_bytes, machine->stream))) return LACIS_NBODY_FAILED;
    void *block = machine->host.alloc(machine->host.context, lay_out(&p, n, twice, (char *)nullptr));
    if (block == nullptr) return LACIS_NBODY_NO_MEMORY;
    lay_out(&p, n, twice, (char *)block);
    const bool done = put_in_order(machine, &p, n, points) && evaluate(machine, rule, *tree, p, n, forces);
    machine->host.free(machine->host.context, block);
    return done ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

#define INSTANCE(P, R)                                                                                               \
    template lacis_nbody_status walk_points(const Machine *, const lacis_nbody_rule *, const Tree<P, R> *,           \
                                            const Targets<P> *, const Forces<R> *);
INSTANCE(float, float)
INSTANCE(double, double)
INSTANCE(double, float)

} // namespace nbody
