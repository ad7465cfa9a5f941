/* SPDX-License-Identifier: Apache-2.0
 *
 * Any linear rules: a thread computes a cell of a field, its taps one after the other from a table. For rules that no
 * kernel of gpu_march.cu is for.
 */
#include "sweep/gpu_inside.h"

#include <stdlib.h>

namespace sweep
{

enum {
    GENERAL_THREADS = 128,
    GENERAL_ROWS = 4,   /* of a block, one behind the other */
    GENERAL_DEPTH = 15, /* levels of pairs: taps are fewer than 2^15 */
};

struct General {
    sweep_pass pass;
    Rules rules;
};

/* Sums pairs as they fill up: level l holds the sum of 2^l taps where bit l of their count is set. */
template <class T> struct Pairs {
    T level[GENERAL_DEPTH];
    __device__ __forceinline__ void add(int count, T value)
    {
#pragma unroll
        for (int l = 0; l < GENERAL_DEPTH; l++) {
            if (!(count >> l & 1)) {
                level[l] = value;
                break;
            }
            value = sweep_add(level[l], value);
        }
    }
    __device__ __forceinline__ T sum(int count) const
    {
        T value = T(0);
        bool any = false;
#pragma unroll
        for (int l = 0; l < GENERAL_DEPTH; l++)
            if (count >> l & 1) {
                value = any ? sweep_add(level[l], value) : level[l];
                any = true;
            }
        return value;
    }
};

template <class T> static __device__ T next_of(const General &g, int f, int64_t cell)
{
    const double *weight = g.rules.weights + g.rules.weight[f];
    Pairs<T> pairs;
    T value = (T)*weight++;
    int count = 0;
    for (int i = g.rules.first[f]; i < g.rules.first[f + 1]; i++) {
        const Tap tap = g.rules.tap[i];
        pairs.add(count++, static_cast<const T *>(g.pass.from[tap.array])[cell + tap.offset]);
        if (!tap.ends) continue;
        value = sweep_fma((T)*weight++, pairs.sum(count), value);
        count = 0;
    }
    return value;
}

template <class T>
static __global__ void __launch_bounds__(GENERAL_THREADS) general_kernel(const __grid_constant__ General g)
{
    const int f = (int)blockIdx.y;
    const sweep_pass &p = g.pass;
    int64_t low[3], high[3];
    for (int k = 0; k < 3; k++) {
        low[k] = p.begin[k] > p.keep_low[f][k] ? p.begin[k] : p.keep_low[f][k];
        high[k] = p.end[k] < p.keep_high[f][k] ? p.end[k] : p.keep_high[f][k];
    }
    const int64_t strips = p.strips, rows = (high[1] - low[1]) * (high[2] - low[2]);
    if (rows <= 0 || high[1] <= low[1]) return;
    const int64_t x = low[0] + blockIdx.x % strips * GENERAL_THREADS + threadIdx.x;
    if (x >= high[0]) return;
    for (int64_t r = (int64_t)(blockIdx.x / strips) * GENERAL_ROWS, end = r + GENERAL_ROWS; r < end && r < rows;
         r++) {
        const int64_t y = low[1] + r % (high[1] - low[1]), z = low[2] + r / (high[1] - low[1]);
        const int64_t cell = x + y * p.stride[1] + z * p.stride[2];
        static_cast<T *>(p.to[f])[cell] = next_of<T>(g, f, cell);
    }
}

lacis_sweep_status general(lacis_sweep_gpu *s, const Box &box, cudaStream_t stream)
{
    General g = {};
    fill_pass(s, box, &g.pass);
    g.rules = s->rules;
    const int64_t x = box.end[0] - box.begin[0], rows = (box.end[1] - box.begin[1]) * (box.end[2] - box.begin[2]);
    const int64_t strips = (x + GENERAL_THREADS - 1) / GENERAL_THREADS;
    const int64_t blocks = strips * ((rows + GENERAL_ROWS - 1) / GENERAL_ROWS);
    if (blocks > INT32_MAX) return LACIS_SWEEP_UNSUPPORTED;
    g.pass.strips = (unsigned)strips;
    const dim3 grid((unsigned)blocks, (unsigned)s->start.fields);
    if (s->start.type == LACIS_SWEEP_F32)
        general_kernel<float><<<grid, GENERAL_THREADS, 0, stream>>>(g);
    else
        general_kernel<double><<<grid, GENERAL_THREADS, 0, stream>>>(g);
    SWEEP_CUDA(s, cudaGetLastError());
    return LACIS_SWEEP_OK;
}

/* --- tables ------------------------------------------------------------------------------------------------------
 */

static int taps_of(const lacis_sweep_rule *rule)
{
    return rule->written ? 0 : rule->linear.first[rule->linear.groups];
}

uint64_t general_bytes(const lacis_sweep_start *start)
{
    uint64_t taps = 1, weights = 1;
    for (int f = 0; f < start->fields; f++) {
        if (start->rule[f].written) continue;
        taps += (uint64_t)taps_of(&start->rule[f]);
        weights += 1 + (uint64_t)start->rule[f].linear.groups;
    }
    return taps * sizeof(Tap) + weights * sizeof(double);
}

double constant_of(lacis_sweep_type type, const lacis_sweep_linear *linear)
{
    /* fma(w, s, -0.0) is w s, in all its bits. */
    const double constant = rounded(type, linear->constant);
    return constant == 0 && linear->groups > 0 ? -0.0 : constant;
}

static void fill_field(lacis_sweep_gpu *s, int f, double *weight, Tap *tap)
{
    const lacis_sweep_rule *rule = &s->start.rule[f];
    const lacis_sweep_linear *linear = &rule->linear;
    *weight++ = constant_of(s->start.type, linear);
    for (int g = 0; g < linear->groups; g++) {
        *weight++ = rounded(s->start.type, linear->weight[g]);
        for (int i = linear->first[g]; i < linear->first[g + 1]; i++, tap++) {
            const lacis_sweep_tap *from = &rule->tap[i];
            tap->array = from->array;
            tap->ends = i + 1 == linear->first[g + 1];
            tap->offset = from->at[0] + from->at[1] * s->layout.stride[1] + from->at[2] * s->layout.stride[2];
        }
    }
}

lacis_sweep_status general_tables(lacis_sweep_gpu *s, void *memory)
{
    const uint64_t bytes = general_bytes(&s->start);
    int taps = 0, weights = 0;
    for (int f = 0; f < s->start.fields; f++) {
        s->rules.first[f] = taps;
        s->rules.weight[f] = weights;
        if (s->start.rule[f].written) continue;
        taps += taps_of(&s->start.rule[f]);
        weights += 1 + s->start.rule[f].linear.groups;
    }
    s->rules.first[s->start.fields] = taps;
    char *const host = static_cast<char *>(calloc(1, bytes));
    if (host == nullptr) return LACIS_SWEEP_NO_MEMORY;
    double *const weight = reinterpret_cast<double *>(host);
    Tap *const tap = reinterpret_cast<Tap *>(weight + weights);
    for (int f = 0; f < s->start.fields; f++)
        if (!s->start.rule[f].written) fill_field(s, f, weight + s->rules.weight[f], tap + s->rules.first[f]);
    s->rules.weights = static_cast<double *>(memory);
    s->rules.tap = reinterpret_cast<Tap *>(s->rules.weights + weights);
    cudaError_t error = cudaMemcpyAsync(memory, host, bytes, cudaMemcpyHostToDevice, s->stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(s->stream);
    free(host);
    SWEEP_CUDA(s, error);
    return LACIS_SWEEP_OK;
}

} // namespace sweep
