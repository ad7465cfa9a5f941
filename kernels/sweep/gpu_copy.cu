/* SPDX-License-Identifier: Apache-2.0
 *
 * Boxes of cells copied: in and out of dense arrays, and from one level to the other.
 */
#include "sweep/gpu_inside.h"

namespace sweep
{

enum { COPY_THREADS = 256 };

struct Copy {
    const void *from;
    void *to;
    int64_t from_row, from_plane, to_row, to_plane; /* in cells */
    int64_t x, y, z;
};

template <class T> static __global__ void __launch_bounds__(COPY_THREADS) copy_kernel(const __grid_constant__ Copy c)
{
    const int64_t rows = c.y * c.z, stride = (int64_t)gridDim.x * blockDim.y;
    for (int64_t r = (int64_t)blockIdx.x * blockDim.y + threadIdx.y; r < rows; r += stride) {
        const int64_t y = r % c.y, z = r / c.y;
        const T *from = static_cast<const T *>(c.from) + z * c.from_plane + y * c.from_row;
        T *to = static_cast<T *>(c.to) + z * c.to_plane + y * c.to_row;
        for (int64_t x = (int64_t)blockIdx.y * blockDim.x + threadIdx.x; x < c.x;
             x += (int64_t)gridDim.y * blockDim.x)
            to[x] = from[x];
    }
}

static lacis_sweep_status copy(lacis_sweep_gpu *s, const Copy &c, cudaStream_t stream)
{
    if (c.x <= 0 || c.y <= 0 || c.z <= 0) return LACIS_SWEEP_OK;
    unsigned across = 1;
    while (across < COPY_THREADS && across < c.x)
        across *= 2;
    const dim3 block(across, COPY_THREADS / across);
    const int64_t rows = (c.y * c.z + block.y - 1) / block.y, most = 32 * (int64_t)s->processors;
    const unsigned down = (unsigned)(rows < most ? rows : most);
    const int64_t pieces = (c.x + COPY_THREADS - 1) / COPY_THREADS, room = (most + down - 1) / down;
    const dim3 grid(down, (unsigned)(pieces < room ? pieces : room));
    if (s->start.type == LACIS_SWEEP_F32)
        copy_kernel<float><<<grid, block, 0, stream>>>(c);
    else
        copy_kernel<double><<<grid, block, 0, stream>>>(c);
    SWEEP_CUDA(s, cudaGetLastError());
    return LACIS_SWEEP_OK;
}

/* The first cell of a box. */
static char *cell(const lacis_sweep_gpu *s, const void *cells, const int64_t *at)
{
    const int64_t *stride = s->layout.stride;
    const int64_t offset = at[0] + at[1] * stride[1] + at[2] * stride[2];
    return const_cast<char *>(static_cast<const char *>(cells)) + offset * (int64_t)lacis_sweep_size(s->start.type);
}

lacis_sweep_status put(lacis_sweep_gpu *s, void *cells, const Box &box, const void *from, cudaStream_t stream)
{
    const int64_t x = box.end[0] - box.begin[0], y = box.end[1] - box.begin[1], z = box.end[2] - box.begin[2];
    const int64_t *stride = s->layout.stride;
    return copy(s, {from, cell(s, cells, box.begin), x, x * y, stride[1], stride[2], x, y, z}, stream);
}

lacis_sweep_status get(lacis_sweep_gpu *s, const void *cells, const Box &box, void *to, cudaStream_t stream)
{
    const int64_t x = box.end[0] - box.begin[0], y = box.end[1] - box.begin[1], z = box.end[2] - box.begin[2];
    const int64_t *stride = s->layout.stride;
    return copy(s, {cell(s, cells, box.begin), to, stride[1], stride[2], x, x * y, x, y, z}, stream);
}

/* The same by copies of the runtime, one for each plane. */
lacis_sweep_status move(lacis_sweep_gpu *s, void *cells, const Box &box, void *dense, bool in, cudaStream_t stream)
{
    const uint64_t size = lacis_sweep_size(s->start.type);
    const int64_t x = box.end[0] - box.begin[0], y = box.end[1] - box.begin[1];
    if (empty(box)) return LACIS_SWEEP_OK;
    const size_t width = (size_t)x * size, pitch = (size_t)s->layout.stride[1] * size;
    for (int64_t z = box.begin[2]; z < box.end[2]; z++) {
        const int64_t at[3] = {box.begin[0], box.begin[1], z};
        char *const there = cell(s, cells, at);
        char *const here = static_cast<char *>(dense) + (size_t)(z - box.begin[2]) * (size_t)y * width;
        SWEEP_CUDA(s, in ? cudaMemcpy2DAsync(there, pitch, here, width, width, (size_t)y, cudaMemcpyDefault, stream)
                         : cudaMemcpy2DAsync(here, width, there, pitch, width, (size_t)y, cudaMemcpyDefault, stream));
    }
    return LACIS_SWEEP_OK;
}

lacis_sweep_status keep(lacis_sweep_gpu *s, cudaStream_t stream)
{
    const int64_t *stride = s->layout.stride;
    for (int f = 0; f < s->start.fields; f++)
        for (int face = 0; face < 2 * s->start.dims; face++) {
            if (s->start.edge[f][face].kind != LACIS_SWEEP_HOLD) continue;
            Box box = part_with_halos(s);
            const int axis = face / 2;
            if (face % 2)
                box.begin[axis] = s->keep_high[f][axis];
            else
                box.end[axis] = s->keep_low[f][axis];
            SWEEP_TRY(copy(s,
                           {cell(s, s->level[s->now][f], box.begin), cell(s, s->level[1 - s->now][f], box.begin),
                            stride[1], stride[2], stride[1], stride[2], box.end[0] - box.begin[0],
                            box.end[1] - box.begin[1], box.end[2] - box.begin[2]},
                           stream));
        }
    return LACIS_SWEEP_OK;
}

} // namespace sweep
