/* SPDX-License-Identifier: Apache-2.0
 *
 * The state at t = 0 for THREAD and CHIP. Caller: gpu_run.cu.
 */
#include "gpu_kernels.h"
#include "gpu_record.cuh"

/* Voltages and gates at t = 0, and the first sample. */
template <int MODEL> static __global__ void begin_kernel(const __grid_constant__ neug_params p)
{
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape *shape = p.common.shape + tile.shape;
    const double roots = neug_roots();
    for (int64_t k0 = 0; k0 < (int64_t)shape->nodes * tile.lanes; k0 += blockDim.x) {
        const int64_t k = k0 + threadIdx.x, l = k % tile.lanes, at = tile.base + k / tile.lanes * tile.stride + l;
        const bool mine = k < (int64_t)shape->nodes * tile.lanes;
        const double v = neug_figure(p, NEURON_V, tile.lane + l, p.start);
        if (mine) p.v[at] = v;
        if constexpr (MODEL == NEUG_CHANNELS) {
            const neug_rates rates = neug_rates_at(v, roots);
            if (!mine) continue;
            p.m[at] = rates.m;
            p.h[at] = rates.h;
            p.n[at] = rates.n;
        }
    }
    for (int32_t k = (int32_t)threadIdx.x; k < shape->probes * tile.lanes; k += (int32_t)blockDim.x) {
        const int64_t lane = tile.lane + k % tile.lanes;
        const neug_probe probe = p.common.probe[shape->probe0 + k / tile.lanes];
        neug_record(p, probe.number, lane, neug_figure(p, NEURON_V, lane, p.start), 0);
    }
}

cudaError_t neug_begin_launch(const neug_launch *l, const neug_params *p)
{
    if (l->model == NEUG_CHANNELS) {
        begin_kernel<NEUG_CHANNELS><<<l->tiles, NEUG_THREADS, 0, l->stream>>>(*p);
    } else {
        begin_kernel<NEUG_PASSIVE><<<l->tiles, NEUG_THREADS, 0, l->stream>>>(*p);
    }
    return cudaGetLastError();
}
