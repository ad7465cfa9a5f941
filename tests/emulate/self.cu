/* SPDX-License-Identifier: Apache-2.0
 *
 * The emulator's own test: small kernels that are right, and ones with a planted fault each. self.py runs them and
 * knows what must come of each.
 *
 *     self MODE        0: the result is right; 1: it is wrong; 3: the emulator has stopped the kernel
 */
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

#include <stdio.h>
#include <string.h>

#define ALL 0xffffffffu

static cudaStream_t stream, side;
static unsigned *device, *pinned;

/* --- right ones --------------------------------------------------------------------------------------- */

enum { SUM_OF_1000 = 499500 };

template <class T, bool BARRIER> __global__ void sum_kernel(const T *x, T *sum, int n)
{
    __shared__ T part[32];
    T s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += x[i];
    for (int d = 16; d > 0; d /= 2)
        s += __shfl_xor_sync(ALL, s, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    if (BARRIER) __syncthreads();
    if (threadIdx.x > 0) return;
    s = 0;
    for (unsigned w = 0; w < blockDim.x / 32; w++)
        s += part[w];
    atomicAdd(sum, s);
}

template <bool BARRIER> static int sum()
{
    unsigned x[1000];
    for (unsigned i = 0; i < 1000; i++)
        x[i] = i;
    cudaMemcpy(device, x, sizeof x, cudaMemcpyHostToDevice);
    cudaMemsetAsync(device + 1000, 0, 4, stream);
    sum_kernel<unsigned, BARRIER><<<2, 256, 0, stream>>>(device, device + 1000, 1000);
    cudaMemcpyAsync(pinned, device + 1000, 4, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return *pinned != 2 * SUM_OF_1000;
}

static __global__ void warp_kernel(unsigned *wrong)
{
    extern __shared__ unsigned lane_of[];
    const unsigned lane = threadIdx.x & 31, odd = lane & 1 ? 0xaaaaaaaau : 0x55555555u;
    unsigned bad = 0, below;
    int all;
    asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
    bad |= __popc(below) != (int)lane;
    bad |= __ballot_sync(ALL, lane > 3) != 0xfffffff0u;
    bad |= __shfl_up_sync(ALL, lane, 3) != (lane < 3 ? lane : lane - 3);
    bad |= __shfl_down_sync(ALL, lane, 3, 8) != (lane % 8 < 5 ? lane + 3 : lane);
    bad |= __shfl_sync(odd, lane, 1, 2) != (lane | 1) && (lane & 1); /* halves by themselves */
    if (lane & 1) bad |= __reduce_add_sync(0xaaaaaaaau, lane) != 256;
    bad |= __match_any_sync(ALL, lane / 4) != 15u << (lane & 28u);
    bad |= __match_all_sync(ALL, 7, &all) != ALL || !all;
    bad |= __syncthreads_count(lane == 0) != (int)blockDim.x / 32;
    bad |= !__syncthreads_or(threadIdx.x == 77);
    lane_of[threadIdx.x] = lane;
    __syncwarp();
    bad |= lane_of[threadIdx.x ^ 1] != (lane ^ 1);
    if (bad) atomicOr(wrong, 1u << lane);
}

static int warps()
{
    cudaMemsetAsync(device, 0, 4, stream);
    warp_kernel<<<3, 96, 96 * 4, stream>>>(device);
    cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, stream);
    cudaStreamSynchronize(stream);
    return *pinned != 0;
}

/* A flag that another block sets. */
static __global__ void flag_kernel(volatile unsigned *flag, bool set)
{
    if (blockIdx.x == 0 && set) *flag = 1;
    while (*flag == 0)
        __nanosleep(10);
}

template <bool SET> static int flag()
{
    cudaMemset(device, 0, 4);
    flag_kernel<<<2, 32>>>(device, SET);
    return cudaDeviceSynchronize() != cudaSuccess;
}

/* Each block of a cluster reads what its neighbour has in shared memory. */
static __global__ void cluster_kernel(unsigned *out)
{
    __shared__ unsigned mine;
    unsigned rank;
    unsigned long long there;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    mine = blockIdx.x;
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
    asm("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"((unsigned long long)&mine), "r"(rank ^ 1));
    out[blockIdx.x] = *(const unsigned *)there;
    asm volatile("barrier.cluster.arrive.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

static int clusters()
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    void *arguments[] = {&device};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(4);
    config.blockDim = dim3(1);
    config.attrs = &attribute;
    config.numAttrs = 1;
    if (cudaLaunchKernelExC(&config, (const void *)cluster_kernel, arguments) != cudaSuccess) return 1;
    unsigned found[4];
    cudaMemcpy(found, device, sizeof found, cudaMemcpyDeviceToHost);
    return found[0] != 1 || found[1] != 0 || found[2] != 3 || found[3] != 2;
}

/* What a device refuses. */
static int refused()
{
    flag_kernel<<<1, 2048>>>(device, true);
    if (cudaGetLastError() != cudaErrorInvalidConfiguration) return 1;
    warp_kernel<<<1, 32, 64 << 10>>>(device);
    if (cudaGetLastError() != cudaErrorInvalidValue) return 1;
    cudaFuncSetAttribute(warp_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10);
    warp_kernel<<<1, 32, 64 << 10>>>(device);
    return cudaGetLastError() != cudaSuccess;
}

/* --- wrong ones --------------------------------------------------------------------------------------- */

static __global__ void stuck_kernel()
{
    if (threadIdx.x < 7)
        __syncthreads();
    else if (threadIdx.x < 32)
        __syncwarp(ALL);
}
static __global__ void two_barriers_kernel()
{
    if (threadIdx.x % 2)
        __syncthreads();
    else
        __syncthreads();
}
static __global__ void mask_kernel(unsigned *out)
{
    *out = __ballot_sync(0xff, 1);
}
static __global__ void shared_kernel(unsigned *out, unsigned i)
{
    __shared__ unsigned a[4], b[4];
    b[0] = 5;
    a[i] = 1;
    *out = b[0] + a[0];
}
static __global__ void dynamic_kernel(unsigned i)
{
    extern __shared__ unsigned memory[];
    memory[i] = 1;
}
static __global__ void write_kernel(unsigned *out, unsigned v)
{
    *out = v;
}
static __global__ void early_kernel(const unsigned *from, unsigned *to)
{
    __shared__ unsigned a[4];
    __pipeline_memcpy_async(a, from, 16);
    __pipeline_commit();
    *to = a[0];
}

template <class F> static int stopped(F launch)
{
    launch();
    return cudaDeviceSynchronize() != cudaSuccess;
}

static int behind_block()
{
    unsigned *block;
    cudaMalloc(&block, 100);
    write_kernel<<<1, 1>>>(block + 25, 1);
    cudaFree(block);
    return 0;
}

static int freed_twice()
{
    unsigned *block;
    cudaMallocAsync(&block, 100, stream);
    cudaFreeAsync(block, stream);
    cudaFreeAsync(block, stream);
    cudaStreamSynchronize(stream);
    return 0;
}

/* The second stream does not wait for the first. */
template <bool WAITS> static int two_streams()
{
    cudaEvent_t event;
    cudaMemset(device, 0, 8);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    write_kernel<<<1, 1, 0, stream>>>(device, 5);
    cudaEventRecord(event, stream);
    if (WAITS) cudaStreamWaitEvent(side, event, 0);
    cudaMemcpyAsync(device + 1, device, 4, cudaMemcpyDeviceToDevice, side);
    cudaMemcpyAsync(pinned, device + 1, 4, cudaMemcpyDeviceToHost, side);
    cudaStreamSynchronize(side);
    cudaEventDestroy(event);
    return *pinned != 5;
}

static int read_early()
{
    *pinned = 0;
    write_kernel<<<1, 1, 0, stream>>>(device, 5);
    cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, stream);
    return *pinned != 5;
}

static int copied_early()
{
    cudaMemset(device, 7, 16);
    early_kernel<<<1, 1>>>(device, device + 8);
    cudaMemcpy(pinned, device + 8, 4, cudaMemcpyDeviceToHost);
    return *pinned != 0x07070707;
}

static const struct {
    const char *name;
    int (*run)();
} modes[] = {
    {"sum", sum<true>},
    {"warps", warps},
    {"flag", flag<true>},
    {"clusters", clusters},
    {"refused", refused},
    {"two-streams", two_streams<true>},
    {"no-barrier", sum<false>},
    {"no-flag", flag<false>},
    {"stuck", [] { return stopped([] { stuck_kernel<<<1, 32>>>(); }); }},
    {"two-barriers", [] { return stopped([] { two_barriers_kernel<<<1, 32>>>(); }); }},
    {"mask", [] { return stopped([] { mask_kernel<<<1, 32>>>(device); }); }},
    {"shared", [] { return stopped([] { shared_kernel<<<1, 1>>>(device, 4); }); }},
    {"dynamic", [] { return stopped([] { dynamic_kernel<<<1, 1, 64>>>(16); }); }},
    {"behind-block", behind_block},
    {"freed-twice", freed_twice},
    {"no-event", two_streams<false>},
    {"read-early", read_early},
    {"copied-early", copied_early},
};

int main(int argc, char **argv)
{
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    cudaMalloc(&device, 8192);
    cudaMallocHost(&pinned, 64);
    for (const auto &mode : modes)
        if (argc == 2 && strcmp(argv[1], mode.name) == 0) return mode.run();
    fprintf(stderr, "self: unknown mode\n");
    return 2;
}
