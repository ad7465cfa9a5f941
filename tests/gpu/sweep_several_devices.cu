/* SPDX-License-Identifier: Apache-2.0
 *
 * See sweep_several.h.
 */
#include "sweep_several.h"

#include <cstring>

int64_t several_live, several_allocs, several_fail_at;
static int64_t several_bytes; /* taken, whether or not they were given back */

/* The context is the stream of a device, which is current whenever its memory is asked for. */
static void *host_alloc(void *context, uint64_t bytes)
{
    void *block = nullptr;
    if (++several_allocs == several_fail_at) return nullptr;
    if (cudaMallocAsync(&block, bytes ? bytes : 1, (cudaStream_t)context) != cudaSuccess) return nullptr;
    CUDA(cudaMemsetAsync(block, 0xff, bytes ? bytes : 1, (cudaStream_t)context));
    several_live++;
    several_bytes += (int64_t)bytes;
    return block;
}

static void host_free(void *context, void *block)
{
    if (block == nullptr) return;
    several_live--;
    CUDA(cudaFreeAsync(block, (cudaStream_t)context));
}

/* Memory of this device's pool for the other devices. */
static void share_pool(int device, int devices)
{
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, device));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    for (int other = 0; other < devices; other++) {
        int can = 0;
        if (other == device) continue;
        CUDA(cudaDeviceCanAccessPeer(&can, other, device));
        cudaMemAccessDesc access = {};
        access.location.type = cudaMemLocationTypeDevice;
        access.location.id = other;
        access.flags = cudaMemAccessFlagsProtReadWrite;
        if (can) CUDA(cudaMemPoolSetAccess(pool, &access, 1));
    }
}

static const void *up(sweep_slabs *s, int k, const void *host, uint64_t bytes)
{
    void *block = nullptr;
    CUDA(cudaMallocAsync(&block, bytes ? bytes : 1, s->streams[k]));
    CUDA(cudaMemcpyAsync(block, host, bytes, cudaMemcpyHostToDevice, s->streams[k]));
    CUDA(cudaStreamSynchronize(s->streams[k]));
    s->held[k].push_back(block);
    return block;
}

/* Rows of the last axis, wrapped where they lie beyond an end. */
static const void *up_rows(sweep_slabs *s, int k, const unsigned char *whole, int64_t rows, uint64_t row_bytes,
                           int64_t begin, int64_t end)
{
    std::vector<unsigned char> part((uint64_t)(end - begin) * row_bytes);
    for (int64_t r = begin; r < end; r++)
        memcpy(&part[(uint64_t)(r - begin) * row_bytes], whole + (uint64_t)((r + rows) % rows) * row_bytes,
               row_bytes);
    return up(s, k, part.data(), part.size());
}

static void begin_slab(sweep_slabs *s, const sweep_case &c, int k)
{
    lacis_sweep_gpu_start *part = &s->start.part[k];
    lacis_sweep_start *start = &part->start;
    const int axis = c.start.dims - 1;
    lacis_sweep_box box;
    lacis_sweep_cut_start(&c.start, &s->start.cut, k, start);
    lacis_sweep_cut_box(&s->start.cut, k, &box);
    const int64_t rows = c.start.extent[axis], begin = box.begin[axis], end = box.end[axis];
    const uint64_t size = lacis_sweep_size(start->type), row = c.cells() / (uint64_t)rows * size;
    start->host = {host_alloc, host_free, nullptr, s->streams[k]};
    part->stream = s->streams[k];
    for (int i = 0; i < LACIS_SWEEP_GPU_KERNELS; i++)
        part->kernel[i] = c.kernel[i];
    CUDA(cudaHostAlloc(&part->pinned, LACIS_SWEEP_GPU_PINNED_BYTES, cudaHostAllocPortable));
    for (int i = 0; i < start->fields + start->coefficients; i++)
        start->array[i] = up_rows(s, k, c.array[i].data(), rows, row, begin, end);
    const int64_t halo = s->start.cut.halo[axis];
    const int64_t low = lacis_sweep_cut_inner(&s->start.cut, k, 2 * axis) ? halo : 0;
    const int64_t high = lacis_sweep_cut_inner(&s->start.cut, k, 2 * axis + 1) ? halo : 0;
    for (int f = 0; f < start->fields; f++)
        for (int face = 0; face < 2 * start->dims; face++) {
            lacis_sweep_edge *edge = &start->edge[f][face];
            if (edge->kind != LACIS_SWEEP_VALUES) continue;
            const unsigned char *values = (const unsigned char *)c.start.edge[f][face].values;
            edge->values = face / 2 == axis ? up(s, k, values, row)
                                            : up_rows(s, k, values, rows, row / (uint64_t)c.start.extent[face / 2],
                                                      begin - low, end + high);
        }
}

bool slabs_begin(sweep_slabs *s, const sweep_case &c, int devices, int deep, bool apart, char *why, size_t size)
{
    int there = 0;
    if (!lacis_sweep_cut_slabs(&c.start, devices, deep, &s->start.cut, why, size)) return false;
    CUDA(cudaGetDeviceCount(&there));
    s->whole = c.start;
    s->start.devices = devices;
    s->start.apart = apart;
    s->start.timed = SEVERAL_TIMED;
    for (int k = 0; k < devices; k++) {
        s->start.device[k] = k % there;
        CUDA(cudaSetDevice(s->start.device[k]));
        if (k < there) share_pool(s->start.device[k], there < devices ? there : devices);
        CUDA(cudaStreamCreateWithFlags(&s->streams[k], cudaStreamNonBlocking));
        begin_slab(s, c, k);
    }
    CUDA(cudaSetDevice(s->start.device[0]));
    return true;
}

/* What was said that slabs take is what they take, but for the ends of blocks. */
static void compare_bytes(const sweep_slabs *s, int64_t blocks)
{
    const int64_t end = 512;
    int64_t said = 0;
    for (int k = 0; k < s->start.devices; k++)
        said += (int64_t)lacis_sweep_gpus_bytes(&s->whole, &s->start.cut, s->start.apart, k);
    sweep_expect(several_bytes <= said && said - several_bytes <= end * blocks,
                 "slabs take %lld bytes, not %lld, in %lld blocks", (long long)several_bytes, (long long)said,
                 (long long)blocks);
}

lacis_sweep_status slabs_make(sweep_slabs *s)
{
    int error = 0;
    const int64_t before = several_live;
    several_bytes = 0;
    const lacis_sweep_status status = lacis_sweep_gpus_new(&s->start, &s->systems, &error);
    sweep_expect(error == 0, "slabs: %s", cudaGetErrorString((cudaError_t)error));
    if (status == LACIS_SWEEP_OK) compare_bytes(s, several_live - before);
    return status;
}

void slabs_collect(sweep_slabs *s, const sweep_case &c, sweep_state *out)
{
    const uint64_t size = lacis_sweep_size(c.start.type);
    const int axis = c.start.dims - 1;
    for (int f = 0; f < c.start.fields; f++)
        out->field[f].resize(c.cells() * size);
    for (int k = 0; k < s->start.devices; k++) {
        const lacis_sweep_start *start = &s->start.part[k].start;
        const uint64_t bytes = (uint64_t)(start->extent[0] * start->extent[1] * start->extent[2]) * size;
        const uint64_t row = c.cells() / (uint64_t)c.start.extent[axis] * size;
        lacis_sweep_gpu *slab = lacis_sweep_gpus_slab(s->systems, k);
        void *field[LACIS_SWEEP_FIELDS] = {};
        for (int f = 0; f < c.start.fields; f++)
            CUDA(cudaMallocAsync(&field[f], bytes, s->streams[k]));
        sweep_expect(lacis_sweep_gpu_read(slab, field) == LACIS_SWEEP_OK, "%s: read", c.name.c_str());
        for (int f = 0; f < c.start.fields; f++) {
            CUDA(cudaMemcpyAsync(&out->field[f][(uint64_t)start->origin[axis] * row], field[f], bytes,
                                 cudaMemcpyDeviceToHost, s->streams[k]));
            CUDA(cudaStreamSynchronize(s->streams[k]));
            CUDA(cudaFreeAsync(field[f], s->streams[k]));
        }
    }
    CUDA(cudaSetDevice(s->start.device[0]));
}

sweep_slabs::~sweep_slabs()
{
    lacis_sweep_gpus_free(systems);
    for (int k = 0; k < start.devices; k++) {
        if (streams[k] == nullptr) continue;
        CUDA(cudaSetDevice(start.device[k]));
        for (void *block : held[k])
            CUDA(cudaFreeAsync(block, streams[k]));
        CUDA(cudaStreamSynchronize(streams[k]));
        CUDA(cudaStreamDestroy(streams[k]));
        CUDA(cudaFreeHost(start.part[k].pinned));
    }
    if (start.devices > 0) CUDA(cudaSetDevice(start.device[0]));
}
