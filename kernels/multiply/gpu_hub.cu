/* SPDX-License-Identifier: Apache-2.0
 *
 * HUB rows: which of the DENSE ones they are, in how many parts each, and the memory where parts meet (gpu_hub.cuh).
 * Called by gpu_classes.cu.
 */
#include "gpu_state.h"

static const mul_u64 MEMORY = 1 << 29; /* bytes of cells at most */

static mul_u64 cell_bytes(const mulg_params *p)
{
    return (mul_u64)p->hub_rows * p->windows * MULG_DENSE_BYTES;
}

static mul_u64 mark_bytes(const mulg_params *p) /* a bit for a cell of four bytes, at most */
{
    return cell_bytes(p) / 32;
}

static mul_u64 done_bytes(const mulg_params *p)
{
    return (mul_u64)p->hub_rows * p->windows * sizeof(mul_u32);
}

mul_u64 mulg_hub_bytes(const mulg_params *p)
{
    return cell_bytes(p) + mark_bytes(p) + done_bytes(p);
}

/* Products of a typical row of a bucket of DENSE (bucket_of in gpu_setup.cu). */
static mul_u64 typical(const mulg_header *header, int bucket)
{
    const int half_octaves = MULG_STEPS - 1 - bucket + 20;
    mul_u64 least = 1ull << (half_octaves / 2);
    if (half_octaves % 2) least += least / 2;
    if (bucket == 0 || least + least / 4 > header->most) return header->most;
    return bucket == MULG_STEPS - 1 ? least / 2 : least + least / 4;
}

/* A window of a row is split where it has more than a block's share of all the work; a part is worth its meeting
 * the others from twice as many products as cells on. */
void mulg_hub_plan(const lacis_mul_gpu_job *job, const mulg_header *header, int multiprocessors, mulg_params *p)
{
    enum {
        SHARES = 2, /* parts that a block's share of all the work is */
        PARTS_MOST = 1024,
        WIDE_PARTS = 8,
        FORCED = 3
    };
    mul_u64 all = 0;
    mulg_params with = *p;
    for (int list = 0; list < MULG_LISTS; list++)
        all += header->products[list];
    const mul_u64 least = MULG_DENSE_BYTES / 2;
    mul_u64 share = all / ((mul_u64)multiprocessors * MULG_DENSE_BLOCKS * SHARES);
    if (share < least) share = least;
    for (int bucket = 0, group = 0; bucket < MULG_STEPS && group < MULG_HUB_GROUPS; bucket++) {
        const mul_u32 rows = header->rows[MULG_LIST_DENSE * MULG_STEPS + bucket];
        if (rows == 0) continue;
        mul_u64 parts = typical(header, bucket) / p->windows / share;
        const bool wide = header->wide >> bucket & 1;
        if (wide && parts < WIDE_PARTS) parts = WIDE_PARTS;
        if (job->force == LACIS_MUL_GPU_HUB) parts = FORCED;
        if (parts < 2 && header->wide >> bucket == 0) break;
        if (parts < 1) parts = 1; /* ahead of wide rows: a window whole, as any of DENSE */
        if (parts > PARTS_MOST) parts = PARTS_MOST;
        with.hub_rows += rows;
        with.hub_tasks += rows * (mul_u32)parts;
        const mul_u64 from = typical(header, bucket) / p->windows + 1;
        with.hub_wide[group] = job->force == LACIS_MUL_GPU_HUB && bucket % 2 ? 1 : wide ? (mul_u32)from : MULG_ALL;
        with.hub_group[group++] = make_uint2(rows, (mul_u32)parts);
        if (cell_bytes(&with) > MEMORY || (mul_u64)with.hub_tasks * p->windows > UINT32_MAX / 4) break;
        *p = with;
    }
}

static __global__ void fill_kernel(mul_u64 *cell, mul_u64 count, mul_u64 x)
{
    for (mul_u64 i = (mul_u64)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (mul_u64)gridDim.x * blockDim.x)
        cell[i] = x;
}

/* What mulg_cell's empty() gives, in 64 bits. */
static mul_u64 empty(const lacis_mul_gpu_job *job)
{
    if (job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX) return ~0ull;
    if (job->agg != LACIS_MUL_SUM) return 0;
    return job->type == LACIS_MUL_F32 ? 0x8000000080000000ull : job->type == LACIS_MUL_F64 ? 1ull << 63 : 0;
}

cudaError_t mulg_hub_begin(const lacis_mul_gpu_job *job, mulg_params *p, void *block, mulg_header *header,
                           cudaStream_t stream)
{
    const mul_u64 cells = cell_bytes(p), marks = mark_bytes(p);
    p->hub_cell = block;
    p->hub_mark = (mul_u32 *)((char *)block + cells);
    p->hub_done = (mul_u32 *)((char *)block + cells + marks);
    p->hub_products = &header->hub_products;
    fill_kernel<<<(unsigned)(cells / 32768 + 1), 256, 0, stream>>>((mul_u64 *)block, cells / 8, empty(job));
    return cudaMemsetAsync(p->hub_mark, 0, marks + done_bytes(p), stream);
}
