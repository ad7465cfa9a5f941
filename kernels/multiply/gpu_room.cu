/* SPDX-License-Identifier: Apache-2.0
 *
 * Room for the result. First by bounds; where there is no memory for as much, or the job wants less, entries of
 * MIDDLE and DENSE rows, of which several products may be one entry, are counted first (gpu_symbolic.cuh), unless a
 * run may store candidates of TOP alone; at once where the job says so. Called by gpu_run.cu between set-up and
 * classes.
 */
#include "gpu_state.h"
#include "gpu_symbolic.cuh"

#include <stddef.h>

enum { COUNT_BLOCKS = 6 }; /* on a multiprocessor */

/* The list's rows, the last first (those are DENSE), take room as they are counted. */
static __global__ void __launch_bounds__(MULG_THREADS, COUNT_BLOCKS)
    count_kernel(const __grid_constant__ mulg_params p, mulg_header *header)
{
    __shared__ mulg_middle_shared<mulg_symbolic> shared;
    for (;;) {
        if (threadIdx.x == 0) shared.task = atomicAdd(p.next, 1u);
        __syncthreads();
        if (shared.task >= p.rows) break;
        const mul_u32 row = p.list[p.rows - 1 - shared.task];
        const mul_u64 all = mulg_count_row(p, shared, row);
        if (threadIdx.x == 0) p.c_begin[row] = (mul_i64)atomicAdd(&header->room, all);
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
    p.bits = mulg_symbolic_bits(p.width);
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

/* Whether there are rows whose entries may be fewer than their room. */
static bool countable(const mulg_run *s)
{
    mul_u32 rows = 0;
    for (int list = MULG_LIST_SMALL; list < MULG_LISTS; list++)
        rows += mulg_list_rows(s->host, list);
    return rows > 0 && !s->select && !s->few && !s->uncounted;
}

lacis_mul_gpu_status mulg_take_room(mulg_run *s, const int64_t *rows, int64_t first, int64_t count)
{
    const bool can = countable(s);
    if (!s->job->counted || !can) {
        const lacis_mul_gpu_status status = take(s);
        const bool short_of = status == LACIS_MUL_GPU_ROOM || status == LACIS_MUL_GPU_NO_MEMORY;
        if (!short_of || !can) return status;
        mulg_give(s, s->out->column);
        s->out->column = NULL;
    }
    MULG_TRY(count_rows(s, rows, first, count));
    return take(s);
}
