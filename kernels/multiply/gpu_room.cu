/* SPDX-License-Identifier: Apache-2.0
 *
 * Room for the result. First by bounds; where there is no memory for as much, or the job wants less, entries of
 * MIDDLE and DENSE rows, of which several products may be one entry, are counted first: columns as bits, as in
 * gpu_middle.cuh (unless a run may store candidates of TOP alone). Called by gpu_run.cu between set-up and classes.
 */
#include "gpu_builtin.cuh"
#include "gpu_state.h"

#include <stddef.h>

enum { COUNT_BLOCKS = 6 }; /* on a multiprocessor */

typedef mulg_counts<mul_u32, false> plain;

/* Entries of the row among p.bits columns from lo on, a share of them in each thread. */
static __device__ mul_u32 count_window(const mulg_params &p, mulg_middle_shared<plain> &shared, mul_u32 row,
                                       mul_u64 lo)
{
    mul_u32 *const word = (mul_u32 *)mulg_dynamic;
    const mul_u32 words = p.bits / 32, base = p.t_lo + (mul_u32)lo;
    const mul_i64 begin = p.a_begin[row];
    for (mul_u32 i = threadIdx.x; i < words; i += MULG_THREADS)
        word[i] = 0;
    __syncthreads();
    const auto mark = [&](mul_u32 t) { atomicOr(word + (t - base) / 32, 1u << ((t - base) & 31)); };
    mulg_products<plain>(
        p, shared, false, mulg_extent(), begin, (mul_u32)(p.a_end[row] - begin), lo, p.width > p.bits, NULL,
        [&](mul_u32 t, int, int, mul_u32) { mark(t); },
        [&](mul_u32 t, mul_u32 u, int, int, int, mul_u32) {
            mark(t);
            mark(u);
        });
    __syncthreads();
    mul_u32 n = 0;
    for (mul_u32 i = threadIdx.x; i < words; i += MULG_THREADS)
        n += __popc(word[i]);
    return n;
}

/* The list's rows, the last first (those are DENSE), take room as they are counted. */
static __global__ void __launch_bounds__(MULG_THREADS, COUNT_BLOCKS)
    count_kernel(const __grid_constant__ mulg_params p, mulg_header *header)
{
    __shared__ mulg_middle_shared<plain> shared;
    for (;;) {
        if (threadIdx.x == 0) shared.task = atomicAdd(p.next, 1u);
        __syncthreads();
        if (shared.task >= p.rows) break;
        const mul_u32 row = p.list[p.rows - 1 - shared.task];
        mul_u32 n = 0;
        for (mul_u64 lo = 0; lo < p.width; lo += p.bits) {
            n += count_window(p, shared, row, lo);
            __syncthreads();
        }
        n = __reduce_add_sync(MULG_ALL, n);
        if (threadIdx.x % 32 == 0) shared.warp_sum[threadIdx.x / 32] = n;
        __syncthreads();
        if (threadIdx.x == 0) {
            mul_u64 all = 0;
            for (int w = 0; w < MULG_WARPS; w++)
                all += shared.warp_sum[w];
            p.c_begin[row] = (mul_i64)atomicAdd(&header->room, all);
        }
    }
}

/* Deals the rows once more, those to be counted without room, and counts them. */
static lacis_mul_gpu_status count_rows(mulg_run *s, const int64_t *rows, int64_t first, int64_t count)
{
    mulg_params p = s->p;
    mul_u32 before = 0;
    s->rules.counted = 1;
    MULG_TRY_CUDA(s, cudaMemsetAsync(s->header, 0, offsetof(mulg_header, b_entries), s->stream));
    MULG_TRY_CUDA(s, cudaMemsetAsync(s->start, 0, MULG_BUCKETS * sizeof *s->start, s->stream));
    MULG_TRY_CUDA(s, mulg_deal(s->p, s->rules, rows, first, count, s->bucket, NULL, s->header, NULL, s->stream));
    MULG_TRY_CUDA(s, mulg_list(rows, first, count, s->bucket, s->header, s->start, s->list, s->stream));
    for (int list = 0; list < MULG_LISTS; list++)
        if (list < MULG_LIST_SMALL)
            before += mulg_list_rows(s->host, list);
        else
            p.rows += mulg_list_rows(s->host, list);
    const mul_u64 bits = (p.width + 1023) / 1024 * 1024;
    p.bits = (mul_u32)(bits < BITS_MOST ? bits : BITS_MOST);
    p.list = s->list + before;
    p.next = &s->header->room_next;
    count_kernel<<<(unsigned)s->multiprocessors * COUNT_BLOCKS, MULG_THREADS, p.bits / 8, s->stream>>>(p, s->header);
    MULG_TRY_CUDA(s, cudaGetLastError());
    MULG_TRY_CUDA(s, cudaMemcpyAsync(s->host, s->header, sizeof *s->host, cudaMemcpyDeviceToHost, s->stream));
    MULG_TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    s->out->counted = p.rows;
    s->out->room = s->host->room;
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status take(mulg_run *s)
{
    lacis_mul_gpu_output *out = s->out;
    if (s->job->room && out->room > s->job->room) return LACIS_MUL_GPU_ROOM;
    MULG_TRY(mulg_take(s, out->room * sizeof *out->column, &out->column));
    return mulg_take(s, out->room * (uint64_t)mulg_storage_bytes(s->job->storage), &out->value);
}

lacis_mul_gpu_status mulg_take_room(mulg_run *s, const int64_t *rows, int64_t first, int64_t count)
{
    const lacis_mul_gpu_status status = take(s);
    const bool short_of = status == LACIS_MUL_GPU_ROOM || status == LACIS_MUL_GPU_NO_MEMORY;
    if (!short_of || s->select || s->few || s->uncounted) return status;
    mulg_give(s, s->out->column);
    s->out->column = NULL;
    MULG_TRY(count_rows(s, rows, first, count));
    return take(s);
}
