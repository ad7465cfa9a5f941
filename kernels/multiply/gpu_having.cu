/* SPDX-License-Identifier: Apache-2.0
 *
 * HAVING's launches. Called by gpu_classes.cu between the classes and TOP.
 */
#include "gpu_having.cuh"
#include "gpu_host.h"

#include <cstddef>

/* What mulg_keep finds at nought when it follows. */
static cudaError_t clear(mulg_header *header, cudaStream_t stream)
{
    cudaError_t error = cudaMemsetAsync(&header->kept, 0, sizeof header->kept, stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(&header->long_rows, 0, sizeof header->long_rows, stream);
    if (error == cudaSuccess) error = cudaMemsetAsync(&header->keep_next, 0, sizeof header->keep_next, stream);
    return error;
}

cudaError_t mulg_having(const lacis_mul_gpu_job *job, const void *kernel, const int64_t *rows, int64_t first,
                        int64_t count, const lacis_mul_gpu_output *out, mulg_header *header, mul_u32 *list,
                        int multiprocessors, cudaStream_t stream)
{
    mulg_having_params p = {};
    void *argument[] = {&p};
    p.rows = (const mul_i64 *)rows;
    p.first = first;
    p.count = count;
    p.begin = (const mul_i64 *)out->begin;
    p.end = (mul_i64 *)out->end;
    p.column = out->column;
    p.value = out->value;
    if (job->mask) {
        p.mask_begin = (const mul_i64 *)job->mask->begin;
        p.mask_end = (const mul_i64 *)job->mask->end;
        p.mask_column = job->mask->column;
        p.mask_not = job->mask_not;
    }
    for (int i = 0; i < 3; i++)
        p.label[i] = (const mul_i64 *)job->label[i];
    p.long_list = list;
    p.long_rows = &header->long_rows;
    p.next = &header->keep_next;
    p.bad = &header->bad;
    p.entries = &header->kept;
    const unsigned blocks = (unsigned)multiprocessors * MULG_HAVING_BLOCKS;
    for (p.blocks = 0; p.blocks < 2; p.blocks++) {
        const cudaError_t error = cudaLaunchKernel(kernel, dim3(blocks), dim3(MULG_THREADS), argument, 0, stream);
        if (error != cudaSuccess) return error;
    }
    return job->top > 0 ? clear(header, stream) : cudaSuccess;
}
