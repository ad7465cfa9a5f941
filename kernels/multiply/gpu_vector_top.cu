/* SPDX-License-Identifier: Apache-2.0
 *
 * TOP of a vector, as gpu_vector.h says. The key of the k-th greatest value is found digit by digit: each launch
 * counts the next digit of the keys that have all digits found so far, and its last block to finish chooses among
 * them; launches behind the one that settles it do nothing. Then each warp counts, and writes, what stays of its
 * unit.
 */
#include "gpu_key.cuh"
#include "gpu_vector.cuh"
#include "gpu_vector.h"

#include <cub/device/device_scan.cuh>

enum {
    DIGIT = 11,
    BINS = 1 << DIGIT,
    OWN = BINS / MULG_THREADS, /* bins that a thread looks at when one is chosen */
    UNIT = 256,                /* places that a warp takes */
    BLOCKS = 4                 /* on a multiprocessor, that count digits */
};

struct top_state {
    mul_u64 least, left, kept; /* keys below `least` go, above it stay; `left`: as many equal ones */
    mul_u32 done, arrived, bin[BINS];
};

struct top_params {
    const mul_u32 *column;
    const void *value;
    const unsigned char *present;
    mul_u32 first;
    mul_u64 count, units, top;
    top_state *state;
    mul_u64 *offset; /* of units: how many are above and, << 32, equal */
    mul_u32 *out_column;
    void *out_value;
};

struct top_shared {
    mul_u32 bin[BINS], sum[MULG_WARPS];
    bool last;
};

MULG_DEVICE bool there(const top_params &p, mul_u64 i)
{
    return i < p.count && (!p.present || p.present[i] != 0);
}

/* --- the key -------------------------------------------------------------------------------------- */

/* Of keys' `before` bits that are not known the digit down to bit `after`, in this block's bins. */
template <class V> MULG_DEVICE void count_digit(const top_params &p, top_shared &s, int before, int after)
{
    const mul_u64 least = p.state->least, step = (mul_u64)gridDim.x * MULG_THREADS;
    for (mul_u32 b = threadIdx.x; b < BINS; b += MULG_THREADS)
        s.bin[b] = 0;
    __syncthreads();
    for (mul_u64 i = (mul_u64)blockIdx.x * MULG_THREADS + threadIdx.x; i < p.count; i += step) {
        if (!there(p, i)) continue;
        const mul_u64 key = mulg_key_of(((const V *)p.value)[i]);
        if (before == mulg_key_bits<V>::value || key >> before == least >> before)
            atomicAdd(&s.bin[key >> after & ((1u << (before - after)) - 1)], 1u);
    }
    __syncthreads();
    for (mul_u32 b = threadIdx.x; b < BINS; b += MULG_THREADS)
        if (s.bin[b]) atomicAdd(p.state->bin + b, s.bin[b]);
}

/* Whether this is the last block to come here: then it sees what all have added. */
MULG_DEVICE bool is_last(const top_params &p, top_shared &s)
{
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) s.last = atomicAdd(&p.state->arrived, 1u) == gridDim.x - 1;
    __syncthreads();
    if (s.last) __threadfence();
    return s.last;
}

/* The bin in which the last wanted one lies, from the greatest down; thread 0 has the greatest OWN bins. */
MULG_DEVICE void choose(const top_params &p, top_shared &s, bool first, int after)
{
    top_state *const state = p.state;
    const mul_u32 top_bin = BINS - 1 - OWN * threadIdx.x, warp = threadIdx.x / 32;
    const mul_u64 left = first ? p.top : state->left;
    mul_u32 own = 0, bin[OWN];
    for (int k = 0; k < OWN; k++)
        own += bin[k] = __ldcg(state->bin + top_bin - k);
    const mul_u32 upto = mulg_scan(own);
    if ((threadIdx.x & 31) == 31) s.sum[warp] = upto;
    __syncthreads();
    mul_u64 seen = upto - own, all = 0;
    for (mul_u32 w = 0; w < MULG_WARPS; w++) {
        if (w < warp) seen += s.sum[w];
        all += s.sum[w];
    }
    for (int k = 0; k < OWN; k++)
        state->bin[top_bin - k] = 0;
    if (all <= left) { /* all stay: only before anything is known */
        if (threadIdx.x > 0) return;
        state->left = left;
        state->kept = all;
        state->done = 1;
        return;
    }
    if (threadIdx.x == 0) {
        state->kept = p.top;
        state->arrived = 0;
    }
    for (int k = 0; k < OWN; k++) {
        if (seen < left && left <= seen + bin[k]) {
            state->least |= (mul_u64)(top_bin - k) << after;
            state->left = left - seen;
            state->done = left == seen + bin[k]; /* the whole bin stays */
        }
        seen += bin[k];
    }
}

template <class V>
static __global__ void __launch_bounds__(MULG_THREADS)
    digit_kernel(const __grid_constant__ top_params p, int before, int after)
{
    __shared__ top_shared s;
    if (p.state->done) return;
    count_digit<V>(p, s, before, after);
    if (is_last(p, s)) choose(p, s, before == mulg_key_bits<V>::value, after);
}

/* --- what stays ----------------------------------------------------------------------------------- */

template <class V, bool WRITE>
static __global__ void __launch_bounds__(MULG_THREADS) unit_kernel(const __grid_constant__ top_params p)
{
    const mul_u64 unit = (mul_u64)blockIdx.x * MULG_WARPS + threadIdx.x / 32, lane = threadIdx.x & 31;
    const V *const value = (const V *)p.value;
    if (unit >= p.units) return;
    const mul_u64 least = p.state->least, left = p.state->left, before = WRITE ? p.offset[unit] : 0;
    mul_u64 above = before & 0xffffffff, equal = before >> 32;
    for (int k = 0; k < UNIT / 32; k++) {
        const mul_u64 i = unit * UNIT + (mul_u64)k * 32 + lane;
        const bool is = there(p, i);
        const mul_u64 key = is ? mulg_key_of(value[i]) : 0;
        const mul_u32 more = __ballot_sync(MULG_ALL, is && key > least);
        const mul_u32 same = __ballot_sync(MULG_ALL, is && key == least);
        if (WRITE && is && key >= least) {
            const mul_u64 rank = equal + __popc(same & mulg_lanes_below());
            const mul_u64 to = above + __popc(more & mulg_lanes_below()) + (rank < left ? rank : left);
            if (key > least || rank < left) {
                p.out_column[to] = p.column ? p.column[i] : p.first + (mul_u32)i;
                ((V *)p.out_value)[to] = value[i];
            }
        }
        above += __popc(more);
        equal += __popc(same);
    }
    if (!WRITE && lane == 0) p.offset[unit] = equal << 32 | above;
}

/* --- host ----------------------------------------------------------------------------------------- */

struct top_work {
    top_params p;
    void *scan;
    size_t scan_bytes;
    cudaStream_t stream;
    int processors;
};

template <class V> static cudaError_t launch(const top_work *w)
{
    const top_params &p = w->p;
    const mul_u64 wanted = (p.count + MULG_THREADS - 1) / MULG_THREADS, most = (mul_u64)w->processors * BLOCKS;
    const unsigned blocks = (unsigned)(wanted < most ? wanted : most);
    const unsigned units = (unsigned)((p.units + MULG_WARPS - 1) / MULG_WARPS);
    for (int before = mulg_key_bits<V>::value; before > 0;) {
        const int after = before > DIGIT ? before - DIGIT : 0;
        digit_kernel<V><<<blocks, MULG_THREADS, 0, w->stream>>>(p, before, after);
        before = after;
    }
    unit_kernel<V, false><<<units, MULG_THREADS, 0, w->stream>>>(p);
    cudaError_t error = cudaGetLastError();
    size_t bytes = w->scan_bytes;
    if (error == cudaSuccess)
        error = cub::DeviceScan::ExclusiveSum(w->scan, bytes, p.offset, p.offset, (mul_i64)p.units, w->stream);
    if (error != cudaSuccess) return error;
    unit_kernel<V, true><<<units, MULG_THREADS, 0, w->stream>>>(p);
    return cudaGetLastError();
}

static cudaError_t launch_for(const top_work *w, lacis_mul_storage storage)
{
    switch (storage) {
    case LACIS_MUL_TO_U8:
        return launch<unsigned char>(w);
    case LACIS_MUL_TO_U16:
        return launch<unsigned short>(w);
    case LACIS_MUL_TO_U32:
        return launch<mul_u32>(w);
    case LACIS_MUL_TO_I32:
        return launch<int>(w);
    case LACIS_MUL_TO_I64:
        return launch<mul_i64>(w);
    case LACIS_MUL_TO_F32:
        return launch<float>(w);
    default:
        return launch<double>(w);
    }
}

static mul_u64 aligned(mul_u64 bytes)
{
    return (bytes + 255) / 256 * 256;
}

static int storage_bytes(lacis_mul_storage storage)
{
    static const int bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[storage];
}

static cudaError_t run(top_work *w, lacis_mul_gpu_top *top)
{
    const lacis_mul_gpu_job *job = top->job;
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess) error = cudaDeviceGetAttribute(&w->processors, cudaDevAttrMultiProcessorCount, device);
    if (error == cudaSuccess) error = cudaMemsetAsync(w->p.state, 0, sizeof *w->p.state, w->stream);
    if (error == cudaSuccess) error = launch_for(w, job->storage);
    if (error != cudaSuccess) return error;
    mul_u64 kept = 0;
    error = mulg_read_back(job->pinned, &w->p.state->kept, &kept, sizeof kept, w->stream);
    top->entries = kept;
    return error;
}

static void give(const lacis_mul_gpu_job *job, void *block)
{
    if (block) job->memory.free(job->memory.context, block);
}

/* State, offsets and work space in one block; the results in two. */
static char *take_all(top_work *w, lacis_mul_gpu_top *top)
{
    const lacis_mul_gpu_job *job = top->job;
    const mul_u64 room = w->p.top < w->p.count ? w->p.top : w->p.count;
    const mul_u64 state = aligned(sizeof(top_state)), offsets = aligned(w->p.units * sizeof(mul_u64));
    cub::DeviceScan::ExclusiveSum(NULL, w->scan_bytes, (mul_u64 *)NULL, (mul_u64 *)NULL, (mul_i64)w->p.units);
    char *block = (char *)job->memory.alloc(job->memory.context, state + offsets + w->scan_bytes);
    top->out_column = (uint32_t *)job->memory.alloc(job->memory.context, room * sizeof(uint32_t));
    top->out_value = job->memory.alloc(job->memory.context, room * (mul_u64)storage_bytes(job->storage));
    if (!block || !top->out_column || !top->out_value) {
        give(job, block);
        return NULL;
    }
    w->p.state = (top_state *)block;
    w->p.offset = (mul_u64 *)(block + state);
    w->scan = block + state + offsets;
    w->p.out_column = top->out_column;
    w->p.out_value = top->out_value;
    return block;
}

static lacis_mul_gpu_status failed(lacis_mul_gpu_top *top, lacis_mul_gpu_status status)
{
    give(top->job, top->out_column);
    give(top->job, top->out_value);
    top->out_column = NULL;
    top->out_value = NULL;
    top->entries = 0;
    return status;
}

lacis_mul_gpu_status lacis_mul_gpu_top_run(lacis_mul_gpu_top *top)
{
    const lacis_mul_gpu_job *job = top->job;
    top_work w = {};
    top->out_column = NULL;
    top->out_value = NULL;
    top->entries = 0;
    top->cuda_error = 0;
    if (job->top <= 0 || job->storage == LACIS_MUL_TO_C128 || top->count > UINT32_MAX)
        return LACIS_MUL_GPU_UNSUPPORTED;
    if (top->count == 0) return LACIS_MUL_GPU_OK;
    w.p.column = top->column;
    w.p.value = top->value;
    w.p.present = top->present;
    w.p.first = top->first;
    w.p.count = top->count;
    w.p.units = (top->count + UNIT - 1) / UNIT;
    w.p.top = (mul_u64)job->top;
    w.stream = (cudaStream_t)job->stream;
    char *block = take_all(&w, top);
    if (!block) return failed(top, LACIS_MUL_GPU_NO_MEMORY);
    top->cuda_error = (int)run(&w, top);
    give(job, block);
    return top->cuda_error ? failed(top, LACIS_MUL_GPU_FAILED) : LACIS_MUL_GPU_OK;
}
