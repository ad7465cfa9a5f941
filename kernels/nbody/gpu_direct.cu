/* SPDX-License-Identifier: Apache-2.0
 *
 * All pairs on the host side: how bodies are cut into tiles, memory, and `direct` of gpu_inside.h.
 */
#include "nbody/gpu_direct.h"

namespace nbody
{

static uint32_t up_to(uint32_t n, uint32_t step)
{
    return (n + step - 1) / step * step;
}

enum { SUPER = 32768, WARPS = 4, COLUMNS_MOST = 512 };

/* So many columns that there are several tiles for every processor, and slots stay few. */
static uint32_t columns_for(uint32_t n, uint32_t rows, int processors)
{
    uint32_t columns = COLUMNS_MOST;
    const uint64_t wanted = 6 * (uint64_t)processors, high = (n + rows - 1) / rows;
    while (columns > 32 && high * ((n + columns - 1) / columns) / 2 < wanted)
        columns /= 2;
    return columns;
}

static bool has_early(void)
{
    int device = 0, major = 0;
    return cudaGetDevice(&device) == cudaSuccess &&
           cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device) == cudaSuccess && major >= 9;
}

template <class R> Pairs pairs_of(int64_t n, int processors, int warps, int columns)
{
    Pairs p = {};
    p.n = (uint32_t)n;
    p.warps = (uint32_t)(warps > 0 ? warps : WARPS);
    p.rows = p.warps * 32 * ROWS<R>;
    p.columns = columns > 0 ? (uint32_t)columns : columns_for(p.n, p.rows, processors);
    if (p.columns > p.rows) p.columns = p.rows;
    p.super = up_to(p.n < SUPER ? p.n : (uint32_t)SUPER, p.rows);
    p.supers = p.super > 0 ? (p.n + p.super - 1) / p.super : 0;
    p.early = has_early();
    p.row_tiles = p.super / p.rows;
    p.column_tiles = p.super / p.columns;
    return p;
}

template <class R> uint64_t pairs_bytes(const Pairs &p)
{
    return (uint64_t)p.n * (p.row_tiles + p.column_tiles) * sizeof(Four<R>);
}

template <class P, class R>
static cudaError_t run(const Machine *machine, const Pairs &pairs, const Sources<P, R> &sources,
                       const Targets<P> *targets, const Forces<R> *forces, void *slots)
{
    if (targets->x == nullptr) {
        const Finish<P, R> finish = {forces->out, nullptr, nullptr, {}, {}};
        return pairs_run(machine->stream, pairs, sources, forces->potential, slots, finish);
    }
    const Marks<P, R> marks = {targets->n, targets->x, targets->y, targets->z, nullptr};
    return marks_run(machine->stream, machine->processors, pairs.n, sources, marks, false, slots, forces->out);
}

template <class P, class R>
lacis_nbody_status direct(const Machine *machine, int64_t n, const Four<P> *body, const R *soft, R common,
                          const Targets<P> *targets, const Forces<R> *forces)
{
    const Pairs pairs = pairs_of<R>(n, machine->processors, 0, 0);
    const bool points = targets->x != nullptr;
    const uint64_t bytes = points ? marks_bytes<R>(targets->n, machine->processors) : pairs_bytes<R>(pairs);
    if (bytes == 0) return LACIS_NBODY_OK;
    void *slots = machine->host.alloc(machine->host.context, bytes);
    if (slots == nullptr) return LACIS_NBODY_NO_MEMORY;
    const Sources<P, R> sources = {body, soft, common};
    const cudaError_t error = run(machine, pairs, sources, targets, forces, slots);
    machine->host.free(machine->host.context, slots);
    if (error == cudaSuccess) return LACIS_NBODY_OK;
    *machine->cuda_error = (int)error;
    return LACIS_NBODY_FAILED;
}

#define OF_TYPE(P, R)                                                                                                \
    template lacis_nbody_status direct(const Machine *, int64_t, const Four<P> *, const R *, R, const Targets<P> *,  \
                                       const Forces<R> *);
OF_TYPE(float, float)
OF_TYPE(double, double)
OF_TYPE(double, float)
template Pairs pairs_of<float>(int64_t, int, int, int);
template Pairs pairs_of<double>(int64_t, int, int, int);
template uint64_t pairs_bytes<float>(const Pairs &);
template uint64_t pairs_bytes<double>(const Pairs &);

} // namespace nbody
