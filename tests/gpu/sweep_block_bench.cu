/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of kernels blocked in time: those of the library and candidates (sweep_block_candidates.cu), each checked
 * first: two passes must give what the same steps one by one give, cell for cell, at a size that uses all warps.
 *   sweep_block_gpu bench [SECONDS_A_CASE] [PART_OF_A_NAME [SIDE]]
 * SIDE: of the one grid that is tried, instead of
 * several.
 */
#include "sweep/gpu_block_launch.cuh"
#include "sweep_block_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sweep_block
{

namespace
{

using namespace sweep::block;

template <class T> __global__ void fill(T *to, int64_t cells)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < cells;
         i += (int64_t)gridDim.x * blockDim.x) {
        uint64_t z = (uint64_t)i * 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        to[i] = (T)((double)(z >> 40) / (double)(1 << 24) - 0.5);
    }
}

/* One step, plainly: cells inside by the rule, those at the ends kept. */
template <class T>
__global__ void plain(Case::Numbers<T> rule, int dims, int64_t nx, int64_t ny, int64_t nz, int64_t pitch,
                      int64_t plane, const T *in, T *out)
{
    const int64_t x = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, y = blockIdx.y, z = blockIdx.z;
    if (x >= nx) return;
    const T *at = in + z * plane + y * pitch + x;
    T value = at[0];
    if (x > 0 && x < nx - 1 && y > 0 && y < ny - 1 && (dims == 2 || (z > 0 && z < nz - 1))) {
        T sum = add(add(at[-1], at[1]), add(at[-pitch], at[pitch]));
        if (dims == 3) sum = add(sum, add(at[-plane], at[plane]));
        value = rule.constant;
        if (rule.groups & CENTRE) value = multiply_add(rule.centre, at[0], value);
        value = multiply_add(rule.cross, sum, value);
        if (rule.groups & CORNERS)
            value = multiply_add(rule.corners,
                                 add(add(at[-pitch - 1], at[-pitch + 1]), add(at[pitch - 1], at[pitch + 1])), value);
    }
    out[z * plane + y * pitch + x] = value;
}

template <class T> __global__ void differ(const T *a, const T *b, int64_t cells, unsigned long long *count)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < cells; i += (int64_t)gridDim.x * blockDim.x)
        if (a[i] != b[i]) atomicAdd(count, 1ull);
}

unsigned blocks_for(int64_t cells)
{
    return (unsigned)std::min<int64_t>(1024, (cells + 255) / 256);
}

/* Three arrays of a grid whose rows are whole 16 bytes; pads are cells like others and stay as they are. Before and
 * behind there is what may be read beyond the faces. */
template <class T> struct Pair {
    T *at[3];
    int64_t cells, beyond;
    explicit Pair(const lacis_sweep_block &b)
        : cells(b.dims == 3 ? b.pitch[1] * b.extent[2] : b.pitch[0] * b.extent[1]),
          beyond((b.pitch[0] + (b.dims == 3 ? b.pitch[1] : 0) + 31) / 32 * 32)
    {
        for (T *&one : at) {
            CUDA(cudaMalloc((void **)&one, (size_t)(cells + 2 * beyond) * sizeof(T)));
            fill<T><<<1024, 256, 0, stream>>>(one, cells + 2 * beyond);
            one += beyond;
        }
    }
    Pair(const Pair &) = delete;
    ~Pair()
    {
        for (T *one : at)
            cudaFree(one - beyond);
    }
    void put(int which)
    {
        fill<T><<<blocks_for(cells), 256, 0, stream>>>(at[which], cells);
    }
};

template <class T> bool right(const Variant *v, Case &c, const Shape &shape)
{
    const lacis_sweep_block &b = c.block;
    Pair<T> pair(b);
    for (int i = 0; i < 3; i++)
        pair.put(i);
    CUDA(v->pass(&b, &shape, pair.at[0], pair.at[1], stream));
    CUDA(v->pass(&b, &shape, pair.at[1], pair.at[2], stream)); /* at[2]: after two passes */
    pair.put(0);
    pair.put(1);
    const Case::Numbers<T> rule = {shape.groups, (T)shape.constant, (T)shape.centre, (T)shape.cross,
                                   (T)shape.corners};
    const dim3 blocks((unsigned)((b.extent[0] + 255) / 256), (unsigned)b.extent[1], (unsigned)b.extent[2]);
    for (int step = 0; step < 2 * v->levels; step++)
        plain<T><<<blocks, 256, 0, stream>>>(rule, b.dims, b.extent[0], b.extent[1], b.extent[2], b.pitch[0],
                                             b.dims == 3 ? b.pitch[1] : 0, pair.at[step & 1],
                                             pair.at[1 - (step & 1)]);
    unsigned long long *count, wrong = 0;
    CUDA(cudaMalloc((void **)&count, sizeof *count));
    CUDA(cudaMemsetAsync(count, 0, sizeof *count, stream));
    differ<T><<<blocks_for(pair.cells), 256, 0, stream>>>(pair.at[0], pair.at[2], pair.cells, count);
    CUDA(cudaMemcpyAsync(&wrong, count, sizeof wrong, cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaFree(count));
    return wrong == 0;
}

/* GCells/s, of the median pass within about `seconds`. */
template <class T> double rate(const Variant *v, Case &c, const Shape &shape, double seconds)
{
    const lacis_sweep_block &b = c.block;
    Pair<T> pair(b);
    pair.put(0);
    pair.put(1);
    cudaEvent_t begin, end;
    CUDA(cudaEventCreate(&begin));
    CUDA(cudaEventCreate(&end));
    std::vector<float> times;
    double spent = 0;
    for (int i = 0; i < 200 && (i < 7 || spent < seconds * 1e3); i++) {
        float ms;
        CUDA(cudaEventRecord(begin, stream));
        CUDA(v->pass(&b, &shape, pair.at[i & 1], pair.at[1 - (i & 1)], stream));
        CUDA(cudaEventRecord(end, stream));
        CUDA(cudaEventSynchronize(end));
        CUDA(cudaEventElapsedTime(&ms, begin, end));
        if (i > 1) times.push_back(ms);
        spent += ms;
    }
    std::sort(times.begin(), times.end());
    CUDA(cudaEventDestroy(begin));
    CUDA(cudaEventDestroy(end));
    return (double)v->levels * (double)b.extent[0] * (double)b.extent[1] * (double)b.extent[2] /
           times[times.size() / 2] / 1e6;
}

/* Rows begin at lines of 128 bytes, as those of systems do. */
void size(Case &c, int64_t nx, int64_t ny, int64_t nz)
{
    const int64_t line = c.block.type == LACIS_SWEEP_F32 ? 32 : 16;
    c.size(nx, ny, nz);
    c.block.pitch[0] = (nx + line - 1) / line * line;
    c.block.pitch[1] = c.block.pitch[0] * ny;
}

template <class T> void one(const Variant *v, double seconds, int64_t side)
{
    static const struct {
        const char *name;
        lacis_sweep_edge_kind kind;
    } edges[] = {{"hold", LACIS_SWEEP_HOLD},
                 {"periodic", LACIS_SWEEP_PERIODIC},
                 {"mirror", LACIS_SWEEP_MIRROR},
                 {"values", LACIS_SWEEP_VALUES}};
    static const int64_t narrow[] = {32, 64, 96, 127};
    static const int64_t planes[] = {16384, 15708, 25000, 4096, 1024}, spaces[] = {1024, 512, 1001, 256};
    u64 random = 5;
    Case c(v->type, v->dims, v->groups, false, &random);
    Shape shape;
    lacis_sweep_edge_kind kind[6];
    std::fill(kind, kind + 6, LACIS_SWEEP_HOLD);
    c.edges(kind, &random);
    if (side)
        size(c, side, side, v->dims == 2 ? 1 : side);
    else if (v->dims == 2)
        size(c, 8191, 8209, 1);
    else
        size(c, 509, 401, 307);
    if (!sweep::block::shape_of(&c.block, &shape)) {
        printf("%s: the rule is not recognised\n", v->name);
        failures++;
        return;
    }
    if (!sweep::block::fits(v, &c.block)) {
        printf("%-40s does not fit\n", v->name);
        return;
    }
    bool good = right<T>(v, c, shape);
    if (good && v->dims == 2 && !side) { /* long pieces */
        size(c, 16380, 16384, 1);
        good = right<T>(v, c, shape);
    }
    if (!good) {
        printf("%-40s WRONG\n", v->name);
        failures++;
        return;
    }
    printf("%-40s", v->name);
    const int sizes = side ? 1 : v->dims == 2 ? 5 : 4;
    for (int i = 0; i < sizes; i++) {
        const int64_t n = side ? side : v->dims == 2 ? planes[i] : spaces[i];
        size(c, n, n, v->dims == 2 ? 1 : n);
        for (int k = 0; k < (i > 0 ? 1 : v->open ? 4 : 3); k++) {
            std::fill(kind, kind + 6, edges[k].kind);
            c.edges(kind, &random);
            printf("  %lld %s %.0f", (long long)n, edges[k].name, rate<T>(v, c, shape, seconds));
            fflush(stdout);
        }
    }
    std::fill(kind, kind + 6, LACIS_SWEEP_HOLD);
    c.edges(kind, &random);
    for (const int64_t n : narrow) { /* columns of a tall grid; or a cube's side */
        if (!v->open || side) break;
        size(c, n, v->dims == 2 ? 1 << 20 : n, v->dims == 2 ? 1 : n);
        printf("  %lld wide %.0f", (long long)n, rate<T>(v, c, shape, seconds));
    }
    printf("\n");
}

} // namespace

static void times(int count, char **argument)
{
    const double seconds = count > 0 ? atof(argument[0]) : 0.1;
    const char *part = count > 1 ? argument[1] : "";
    const int64_t side = count > 2 ? atoll(argument[2]) : 0;
    printf("GCells/s\n");
    for (const Variant *v : variants())
        if (strstr(v->name, part))
            v->type == LACIS_SWEEP_F32 ? one<float>(v, seconds, side) : one<double>(v, seconds, side);
}

static const bool linked = (bench = times, true);

} // namespace sweep_block
