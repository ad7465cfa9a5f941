/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_mul_gpu_sample: some rows' entries, counted exactly, for the caller to say how much room all of them will
 * take. Columns are counted as they are before MASK, HAVING and TOP. Called by operators/multiply before panels are
 * dealt whose bounds do not fit.
 */
#include "gpu_symbolic.cuh"

enum { SAMPLE_BLOCKS = 6 }; /* on a multiprocessor */

static __global__ void __launch_bounds__(MULG_THREADS, SAMPLE_BLOCKS)
    sample_kernel(const __grid_constant__ mulg_params p, const mul_i64 *rows, mul_u64 *entries)
{
    __shared__ mulg_middle_shared<mulg_symbolic> shared;
    const mul_u64 n = mulg_count_row(p, shared, (mul_u32)rows[blockIdx.x]);
    if (threadIdx.x == 0) entries[blockIdx.x] = n;
}

/* One block of device memory: header, bounds and lengths of B, the rows, what they have. */
static lacis_mul_gpu_status sample(mulg_run *s, char **block, const int64_t *rows, int64_t count, uint64_t *entries)
{
    const lacis_mul_gpu_job *job = s->job;
    const uint64_t b_rows = (uint64_t)job->b.rows, list_bytes = (uint64_t)count * sizeof *rows;
    const uint64_t head = mulg_aligned(sizeof *s->header), bounds = mulg_aligned(b_rows * sizeof *s->bound);
    const uint64_t lengths = mulg_aligned(b_rows * sizeof *s->length), list = mulg_aligned(list_bytes);
    const mulg_chunks none = {};
    MULG_TRY(mulg_take(s, head + bounds + lengths + 2 * list, block));
    mulg_header *const header = (mulg_header *)*block;
    uint2 *const bound = (uint2 *)(*block + head);
    unsigned short *const length = (unsigned short *)(*block + head + bounds);
    mul_i64 *const device_rows = (mul_i64 *)(*block + head + bounds + lengths);
    mul_u64 *const found = (mul_u64 *)(*block + head + bounds + lengths + list);
    s->p.b_bound = bound;
    s->p.b_length = length;
    s->p.bits = mulg_symbolic_bits(s->p.width);
    MULG_TRY_CUDA(s, cudaMemsetAsync(header, 0, sizeof *header, s->stream));
    MULG_TRY_CUDA(s, cudaMemcpyAsync(device_rows, rows, list_bytes, cudaMemcpyHostToDevice, s->stream));
    MULG_TRY_CUDA(
        s, mulg_bounds(&job->b, job->t_lo, job->t_lo + (int64_t)s->p.width, bound, length, none, header, s->stream));
    sample_kernel<<<(unsigned)count, MULG_THREADS, s->p.bits / 8, s->stream>>>(s->p, device_rows, found);
    MULG_TRY_CUDA(s, cudaGetLastError());
    MULG_TRY_CUDA(s, cudaMemcpyAsync(entries, found, list_bytes, cudaMemcpyDeviceToHost, s->stream));
    MULG_TRY_CUDA(s, cudaStreamSynchronize(s->stream));
    return LACIS_MUL_GPU_OK;
}

lacis_mul_gpu_status lacis_mul_gpu_sample(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t count,
                                          uint64_t *entries, int *cuda_error)
{
    mulg_run s = {};
    char *block = NULL;
    *cuda_error = 0;
    if (count <= 0) return LACIS_MUL_GPU_OK;
    if (count > LACIS_MUL_GPU_SAMPLE || lacis_mul_gpu_refuses(job)) return LACIS_MUL_GPU_UNSUPPORTED;
    s.job = job;
    mulg_set_params(&s);
    const lacis_mul_gpu_status status = sample(&s, &block, rows, count, entries);
    *cuda_error = (int)s.error;
    mulg_give(&s, block);
    return status;
}
