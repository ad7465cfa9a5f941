/* SPDX-License-Identifier: Apache-2.0
 *
 * HUB rows: which of the DENSE ones they are, in how many parts each, and the memory where parts meet (gpu_hub.cuh).
 * Called by gpu_classes.cu.
 */
#include "gpu_state.h"

static const mul_u64 MEMORY = 1 << 29; /* bytes of cells at most */

/* What gpu_dense.cuh and gpu_ordered.cuh need where parts meet. In order only those AGGs are split for which partial
 * results give the same: FIRST and LAST, and AVG unless the CPU's order is asked for. */
mulg_hub_shape mulg_hub_shape_of(const lacis_mul_gpu_job *job, bool ordered, mul_u32 window_width)
{
    const mul_u64 value = (mul_u64)mulg_type_bytes(job->type);
    const bool average = job->agg == LACIS_MUL_AVG, last = job->agg == LACIS_MUL_FIRST || job->agg == LACIS_MUL_LAST;
    mulg_hub_shape shape = {};
    if (!ordered) {
        shape.cells = MULG_DENSE_BYTES;
        shape.marks = MULG_DENSE_BYTES / 32; /* a bit for a cell of four bytes, at most */
        shape.least = MULG_DENSE_BYTES / 2;
        shape.tasks = MULG_DENSE_BLOCKS;
        shape.apart = job->agg == LACIS_MUL_FOLD || value > 8; /* not mulg_splits */
    } else if (last || (average && !job->ordered)) {
        const mul_u64 sum = average && value < 8 ? 8 : value; /* mulg_mean */
        shape.cells = window_width * sum;
        shape.marks = window_width * (average ? sizeof(mul_u32) : 1);
        shape.least = 8 * (mul_u64)window_width;
        shape.tasks = MULG_ORDERED_BLOCKS * MULG_WARPS;
        shape.apart = true;
    }
    return shape;
}

static mul_u64 windows_kept(const mulg_params *p, const mulg_hub_shape &shape)
{
    return (mul_u64)(shape.apart ? p->hub_tasks : p->hub_rows) * p->windows;
}

static mul_u64 done_bytes(const mulg_params *p)
{
    return (mul_u64)p->hub_rows * p->windows * sizeof(mul_u32);
}

mul_u64 mulg_hub_bytes(const mulg_params *p, const mulg_hub_shape &shape)
{
    return windows_kept(p, shape) * (shape.cells + shape.marks) + done_bytes(p);
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
void mulg_hub_plan(const lacis_mul_gpu_job *job, const mulg_header *header, const mulg_hub_shape &shape,
                   int multiprocessors, mulg_params *p)
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
    mul_u64 share = all / ((mul_u64)multiprocessors * shape.tasks * SHARES);
    if (share < shape.least) share = shape.least;
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
        if (windows_kept(&with, shape) * shape.cells > MEMORY ||
            (mul_u64)with.hub_tasks * p->windows > UINT32_MAX / 4)
            break;
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

/* Cells that parts have for their own are written before they are read. */
cudaError_t mulg_hub_begin(const lacis_mul_gpu_job *job, mulg_params *p, const mulg_hub_shape &shape, void *block,
                           mulg_header *header, cudaStream_t stream)
{
    const mul_u64 cells = windows_kept(p, shape) * shape.cells, marks = windows_kept(p, shape) * shape.marks;
    p->hub_cell = block;
    p->hub_mark = (mul_u32 *)((char *)block + cells);
    p->hub_done = (mul_u32 *)((char *)block + cells + marks);
    p->hub_products = &header->hub_products;
    if (shape.apart) return cudaMemsetAsync(p->hub_done, 0, done_bytes(p), stream);
    fill_kernel<<<(unsigned)(cells / 32768 + 1), 256, 0, stream>>>((mul_u64 *)block, cells / 8, empty(job));
    return cudaMemsetAsync(p->hub_mark, 0, marks + done_bytes(p), stream);
}
