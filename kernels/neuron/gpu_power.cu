/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of POWER (gpu_power.h): a product of matrices in double precision on tensor cores, the columns that clamps
 * need, and samples. Callers: gpu_power_tables.cu, gpu_run.cu.
 */
#include "gpu_power.h"
#include "gpu_record.cuh"

#include <cuda_pipeline_primitives.h>

enum {
    SLICE = NEUG_POWER_SLICE,
    ROWS = NEUG_POWER_ROWS,
    LANES = NEUG_POWER_LANES,
    STAGES = 3,
    HIGH = 2,                  /* of a warp's part, in 16 rows; 32 lanes wide */
    DOWN = ROWS / (16 * HIGH), /* warps below each other */
    THREADS = 32 * DOWN * (LANES / 32),
    A_ROW = 20,  /* doubles of a row of A in shared memory, and of X: 4 more than a multiple of 16 each, */
    X_ROW = 132, /* so that fragments meet no bank twice */
    A_SLICE = ROWS * A_ROW,
    X_SLICE = SLICE * X_ROW
};

/* One product: y[r] := sum of a[r][k] x[k] for rows r and columns (lanes) of x. Rows of y from `split` on stand
 * `wide` rows from its beginning. */
struct product {
    const double *a, *x;
    double *y;
    int64_t stride; /* of x and y; a multiple of 2 */
    int32_t rows, wide, split, lanes;
};

/* acc += a b for 16 rows, 8 lanes, 8 of k; a: rows g and g + 8 by k = t, then t + 4; b: k = t, t + 4 by lane g. */
NEUG_DEVICE void multiply_add(double *acc, const double *a, const double *b)
{
#if __CUDA_ARCH__ >= 900
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+d"(acc[0]), "+d"(acc[1]), "+d"(acc[2]), "+d"(acc[3])
        : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(b[0]), "d"(b[1]));
#else
    for (int half = 0; half < 2; half++)
        for (int k = 0; k < 2; k++)
            asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                : "+d"(acc[2 * half]), "+d"(acc[2 * half + 1])
                : "d"(a[half + 2 * k]), "d"(b[k]));
#endif
}

/* Slice `s` of A and X on its way into shared memory; what lies outside comes as zeros. */
NEUG_DEVICE void fetch(const product &m, double *a, double *x, int32_t row0, int32_t lane0, int32_t s)
{
    for (int k = (int)threadIdx.x; k < ROWS * SLICE / 2; k += THREADS) {
        const int r = k / (SLICE / 2), c = k % (SLICE / 2) * 2;
        const bool in = row0 + r < m.rows;
        __pipeline_memcpy_async(a + r * A_ROW + c, m.a + (int64_t)(in ? row0 + r : 0) * m.wide + s * SLICE + c, 16,
                                in ? 0 : 16);
    }
    for (int k = (int)threadIdx.x; k < SLICE * LANES / 2; k += THREADS) {
        const int r = k / (LANES / 2), c = k % (LANES / 2) * 2;
        const bool in = lane0 + c < m.lanes;
        __pipeline_memcpy_async(x + r * X_ROW + c, m.x + (int64_t)(s * SLICE + r) * m.stride + (in ? lane0 + c : 0),
                                16, in ? 0 : 16);
    }
}

/* A warp's part. */
struct part {
    double acc[HIGH][4][4]; /* 16 rows by 8 lanes each */

    NEUG_METHOD void take(const double *a, const double *x, int g, int t)
    {
#pragma unroll
        for (int k = 0; k < SLICE; k += 8) {
            double fa[HIGH][4], fx[4][2];
#pragma unroll
            for (int i = 0; i < HIGH; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    fa[i][j] = a[(16 * i + g + 8 * (j & 1)) * A_ROW + k + t + 4 * (j >> 1)];
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 2; j++)
                    fx[i][j] = x[(k + t + 4 * j) * X_ROW + 8 * i + g];
#pragma unroll
            for (int i = 0; i < HIGH; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    multiply_add(acc[i][j], fa[i], fx[j]);
        }
    }

    NEUG_METHOD void store(const product &m, int32_t row, int32_t lane) const
    {
#pragma unroll
        for (int i = 0; i < HIGH; i++)
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int half = 0; half < 2; half++) {
                    const int32_t r = row + 16 * i + 8 * half, l = lane + 8 * j;
                    if (r >= m.rows || l >= m.lanes) continue;
                    const int64_t to = r < m.split ? r : m.wide + r - m.split;
                    *(double2 *)(m.y + to * m.stride + l) =
                        make_double2(acc[i][j][2 * half], acc[i][j][2 * half + 1]);
                }
    }
};

NEUG_DEVICE void multiply(const product &m, int32_t row0, int32_t lane0, double *shared)
{
    double *a = shared, *x = shared + STAGES * A_SLICE;
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, g = lane / 4, t = lane % 4;
    const int row = warp % DOWN * 16 * HIGH, column = warp / DOWN * 32;
    const int32_t slices = m.wide / SLICE;
    part part = {};
    for (int32_t s = 0; s < STAGES - 1; s++) {
        if (s < slices) fetch(m, a + s * A_SLICE, x + s * X_SLICE, row0, lane0, s);
        __pipeline_commit();
    }
    for (int32_t s = 0; s < slices; s++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        const int32_t ahead = s + STAGES - 1, to = ahead % STAGES, from = s % STAGES;
        if (ahead < slices) fetch(m, a + to * A_SLICE, x + to * X_SLICE, row0, lane0, ahead);
        __pipeline_commit();
        part.take(a + from * A_SLICE + row * A_ROW, x + from * X_SLICE + column, g, t);
    }
    part.store(m, row0 + row + g, lane0 + column + 2 * t);
}

/* Blocks of one tile's rows follow each other, so that they find its x in the L2. */
static __global__ void __launch_bounds__(THREADS, 2)
    step_kernel(const neug_tile *tiles, const neug_power_shape *shapes, const double *x, double *y, int level,
                int parts)
{
    extern __shared__ double2 shared[];
    const neug_tile tile = tiles[blockIdx.x / parts];
    const neug_power_shape *s = shapes + tile.shape;
    const int32_t row0 = (int32_t)(blockIdx.x % parts) * ROWS, nodes = s->nodes;
    const int32_t rows = level < 0 ? s->rows[-1 - level] : nodes;
    if (row0 >= rows) return;
    const product m = {level < 0 ? s->block[-1 - level] : s->level[level],
                       x + tile.base,
                       y + tile.base,
                       tile.stride,
                       rows,
                       s->wide,
                       nodes,
                       (tile.lanes + 1) / 2 * 2};
    multiply(m, row0, 0, (double *)shared);
}

static __global__ void __launch_bounds__(THREADS, 2) product_kernel(const __grid_constant__ product m)
{
    extern __shared__ double2 shared[];
    multiply(m, (int32_t)blockIdx.x * ROWS, (int32_t)blockIdx.y * LANES, (double *)shared);
}

static const size_t shared_bytes = STAGES * (A_SLICE + X_SLICE) * sizeof(double);

cudaError_t neug_power_multiply(const neug_launch *l, const neug_tile *tile, const neug_power_shape *shape,
                                const double *x, double *y, int level)
{
    const cudaError_t error =
        cudaFuncSetAttribute(step_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    if (error != cudaSuccess) return error;
    const int parts = (l->power_rows + ROWS - 1) / ROWS;
    step_kernel<<<l->tiles * parts, THREADS, shared_bytes, l->stream>>>(tile, shape, x, y, level, parts);
    return cudaGetLastError();
}

cudaError_t neug_power_product(const double *a, int64_t rows, const double *x, double *y, int64_t wide,
                               cudaStream_t stream)
{
    const cudaError_t error =
        cudaFuncSetAttribute(product_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
    if (error != cudaSuccess) return error;
    const product m = {a, x, y, wide, (int32_t)rows, (int32_t)wide, (int32_t)rows, (int32_t)wide};
    const dim3 blocks((unsigned)((rows + ROWS - 1) / ROWS), (unsigned)((wide + LANES - 1) / LANES));
    product_kernel<<<blocks, THREADS, shared_bytes, stream>>>(m);
    return cudaGetLastError();
}

/* A thread a column: a step's answer to a unit of it. */
static __global__ void unit_kernel(neug_common common, int64_t number, bool half, int64_t wide, double *matrix)
{
    const neug_shape shape = common.shape[number];
    const int32_t n = shape.nodes, j = (int32_t)(blockIdx.x * blockDim.x + threadIdx.x);
    if (j >= n + 1 + shape.clamps) return;
    const double2 *couple = common.couple + shape.node0;
    const int32_t *parent = common.parent + shape.node0;
    double *column = matrix + j;
    for (int32_t i = 0; i < n; i++) {
        const double *member = common.member + (shape.node0 + i) * NEUG_MEMBER;
        column[i * wide] = i == j ? member[NEUG_KEEP] : j == n ? member[NEUG_GIVE] : 0.0;
    }
    if (j > n) {
        const neug_clamp clamp = common.clamp[shape.clamp0 + j - n - 1];
        column[clamp.node * wide] = clamp.factor;
    }
    for (int32_t i = n - 1; i > 0; i--)
        column[parent[i] * wide] = fma(couple[i].x, column[i * wide], column[parent[i] * wide]);
    for (int32_t i = 1; i < n; i++)
        column[i * wide] = fma(couple[i].y, column[parent[i] * wide], column[i * wide]);
    for (int32_t i = 0; half && i < n; i++)
        column[i * wide] = fma(2.0, column[i * wide], i == j ? -1.0 : 0.0);
    if (j >= n) column[j * wide] = 1.0;
}

cudaError_t neug_power_unit(const neug_common *common, const neug_shape *shape, int64_t number, bool half,
                            int64_t wide, double *matrix, cudaStream_t stream)
{
    const unsigned columns = (unsigned)(shape->nodes + 1 + shape->clamps);
    unit_kernel<<<(columns + 127) / 128, 128, 0, stream>>>(*common, number, half, wide, matrix);
    return cudaGetLastError();
}

static __global__ void pick_kernel(neug_common common, int64_t number, const double *matrix, int64_t wide,
                                   double *rows)
{
    const neug_shape *shape = common.shape + number;
    const int32_t node = common.probe[shape->probe0 + blockIdx.x].node;
    for (int32_t k = (int32_t)threadIdx.x; k < wide; k += (int32_t)blockDim.x)
        rows[blockIdx.x * wide + k] = matrix[node * wide + k];
}

cudaError_t neug_power_pick(const neug_common *common, const neug_shape *shape, int64_t number, const double *matrix,
                            int64_t wide, double *rows, cudaStream_t stream)
{
    if (shape->probes == 0) return cudaSuccess;
    pick_kernel<<<shape->probes, 128, 0, stream>>>(*common, number, matrix, wide, rows);
    return cudaGetLastError();
}

static __global__ void begin_kernel(const __grid_constant__ neug_params p, double *x)
{
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape *shape = p.common.shape + tile.shape;
    for (int64_t k = threadIdx.x; k < (int64_t)shape->nodes * tile.lanes; k += blockDim.x) {
        const int64_t l = k % tile.lanes;
        x[tile.base + k / tile.lanes * tile.stride + l] = neug_figure(p, NEURON_V, tile.lane + l, p.start);
    }
}

static __global__ void flow_kernel(const __grid_constant__ neug_params p, double *x, double *y, bool by_lane)
{
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape *shape = p.common.shape + tile.shape;
    const neug_clamp *clamp = p.common.clamp + shape->clamp0;
    for (int32_t k = (int32_t)threadIdx.x; k < (shape->clamps + 1) * tile.lanes; k += (int32_t)blockDim.x) {
        const int32_t c = k / tile.lanes - 1;
        const int64_t lane = tile.lane + k % tile.lanes;
        const bool flows = c >= 0 && p.step >= clamp[c].from && p.step < clamp[c].to;
        const double value = c < 0   ? (by_lane ? neug_figure(p, NEURON_E, lane, 1) : 1.0)
                             : flows ? neug_figure(p, NEURON_AMPLITUDE, lane, clamp[c].amplitude)
                                     : 0.0;
        const int64_t at = tile.base + (shape->nodes + c + 1) * tile.stride + k % tile.lanes;
        x[at] = y[at] = value;
    }
}

cudaError_t neug_power_begin(const neug_launch *l, const neug_params *p, double *x)
{
    begin_kernel<<<l->tiles, 256, 0, l->stream>>>(*p, x);
    return cudaGetLastError();
}

cudaError_t neug_power_flow(const neug_launch *l, const neug_params *p, double *x, double *y)
{
    flow_kernel<<<l->tiles, 256, 0, l->stream>>>(*p, x, y, l->by_lane);
    return cudaGetLastError();
}

/* A thread a probe and lane. */
static __global__ void record_kernel(const __grid_constant__ neug_params p, const neug_power_shape *shapes,
                                     const double *x, int64_t first, int64_t samples)
{
    const neug_tile tile = p.tile[blockIdx.x];
    const neug_shape *shape = p.common.shape + tile.shape;
    const double *within = x + tile.base + shapes[tile.shape].wide * tile.stride;
    for (int32_t k = (int32_t)threadIdx.x; k < shape->probes * tile.lanes; k += (int32_t)blockDim.x) {
        const int32_t probe = k / tile.lanes, l = k % tile.lanes;
        const neug_probe to = p.common.probe[shape->probe0 + probe];
        for (int64_t s = 0; s < samples; s++) {
            const double *v = s + 1 < samples ? within + (s * shape->probes + probe) * tile.stride
                                              : x + tile.base + to.node * tile.stride;
            neug_record(p, to.number, tile.lane + l, v[l], first + s);
        }
    }
}

cudaError_t neug_power_record(const neug_launch *l, const neug_params *p, const neug_power_shape *shape,
                              const double *x, int64_t first, int64_t samples)
{
    record_kernel<<<l->tiles, 256, 0, l->stream>>>(*p, shape, x, first, samples);
    return cudaGetLastError();
}
