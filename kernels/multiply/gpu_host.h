/* SPDX-License-Identifier: Apache-2.0
 *
 * What the host side of the GPU kernels shares: which kernels a job takes, and the set-up kernels. C++ (nvcc) only.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_HOST_H
#define LACIS_KERNELS_MULTIPLY_GPU_HOST_H

#include "gpu.h"
#include "gpu_base.cuh"

#include <cuda_runtime.h>

/* In the order of lacis_mul_gpu_written.kernel. Kernels that a semiring lacks are NULL. */
enum {
    MULG_COPY,
    MULG_TINY_NARROW,
    MULG_TINY_WIDE,
    MULG_MIDDLE,
    MULG_ORDERED,
    MULG_DENSE,
    MULG_ORDERED_DENSE,
    MULG_PAIR,
    MULG_FLAT,
    MULG_SMALL_SORT,
    MULG_SMALL_HASH,
    MULG_HAVING,
    MULG_KERNELS
};
typedef struct mulg_kernels {
    const void *kernel[MULG_KERNELS];
    int count_bytes;                    /* of a count in a cell of DENSE */
    const void *middle_top, *dense_top; /* store only what may be among the greatest; NULL: none */
} mulg_kernels;
mulg_kernels mulg_count_kernels(lacis_mul_storage storage, bool narrow); /* narrow: counts are below 2^16 */
mulg_kernels mulg_i32_kernels(lacis_mul_con con, lacis_mul_agg agg);
mulg_kernels mulg_i64_kernels(lacis_mul_con con, lacis_mul_agg agg);
mulg_kernels mulg_f32_kernels(lacis_mul_con con, lacis_mul_agg agg);
mulg_kernels mulg_f64_kernels(lacis_mul_con con, lacis_mul_agg agg);
/* The same for jobs whose HAVING is WITHIN (gpu_sift.cuh): gpu_sift.cu, which calls the others. */
mulg_kernels mulg_sifted_kernels(const lacis_mul_gpu_job *job, bool narrow);
mulg_kernels mulg_sifted_counts(lacis_mul_storage storage, bool narrow);
mulg_kernels mulg_sifted_i32(lacis_mul_agg agg);
mulg_kernels mulg_sifted_i64(lacis_mul_agg agg);
mulg_kernels mulg_sifted_f32(lacis_mul_con con, lacis_mul_agg agg);
mulg_kernels mulg_sifted_f64(lacis_mul_agg agg);

/* Lists of rows: classes, of which TINY has two kernels and MIDDLE two sizes of shared memory. Within a list heavy
 * rows come first, by half octaves of products. */
enum {
    MULG_LIST_COPY,
    MULG_LIST_FLAT,
    MULG_LIST_PAIR,
    MULG_LIST_TINY,
    MULG_LIST_SMALL,
    MULG_LIST_LARGE,
    MULG_LIST_DENSE,
    MULG_LISTS
};
enum { MULG_LENGTH_MOST = 65535 }; /* of a row of B as the short list of lengths has it: then look at its bounds */
enum { MULG_TOP_CELLS = 2048 };    /* of a turn of MIDDLE at least */
enum { MULG_STEPS = 32, MULG_BUCKETS = MULG_LISTS * MULG_STEPS, MULG_NO_LIST = 255 };

/* In device memory; read back after the set-up and after the run. */
typedef struct mulg_header {
    mul_u32 rows[MULG_BUCKETS];
    mul_u64 products[MULG_LISTS]; /* by list */
    mul_u64 room;                 /* sum of bounds */
    mul_u64 most;                 /* products of the heaviest row */
    mul_u64 b_entries;            /* of B, within the columns wanted */
    mul_u64 packed;               /* entries given out by mulg_pack */
    mul_u64 entries, kept;        /* before and after mulg_keep */
    mul_u64 hub_products;         /* of HUB rows, which are among those of DENSE above */
    mul_u32 b_most;               /* entries of B's longest row, likewise */
    mul_u32 bad, long_rows, keep_next;
    mul_u32 wide;                                  /* bit i: some row of DENSE's bucket i is wide */
    mul_u32 ticket;                                /* blocks of mulg_deal or mulg_few that are done */
    mul_u32 next[MULG_LISTS], hub_next, room_next; /* hub_next: of DENSE where HUB runs alone */
} mulg_header;

/* How rows are dealt to lists. */
typedef struct mulg_rules {
    int force;   /* a lacis_mul_gpu_class or 0 */
    int dense;   /* whether there is a dense kernel */
    int pairs;   /* whether tiny rows may be computed in pairs */
    int counted; /* MIDDLE and DENSE rows get no room: gpu_room.cu counts them */
    int flat;    /* whether there are chunks of B */
    int exact;   /* whether products of FLAT rows are wanted before they are computed */
    mul_u64 dense_from, large_from, width, b_rows;
    mul_u64 wide_windows; /* of a row, where wide ones have a way of their own; else 0 */
    /* Where only candidates for TOP are stored (top_room > 0): so many a window of DENSE or a turn of MIDDLE, which
     * has top_passes turns and one more for every MULG_TOP_CELLS products. */
    mul_u64 top_room, top_windows, top_passes;
} mulg_rules;

/* Whether rows of A with few entries are FLAT: no row of B is longer than a chunk, and chunks, so room for results as
 * well, are half full at least. */
static inline __host__ __device__ bool mulg_is_flat(const mulg_rules &rules, const mulg_header *header)
{
    return rules.flat && header->b_most <= MULG_FLAT_MOST && 2 * header->b_entries >= MULG_FLAT_MOST * rules.b_rows;
}

/* Where chunks of B go; to NULL: they are not wanted. */
typedef struct mulg_chunks {
    char *to;
    const void *value; /* NULL: every value is `one` */
    mul_u64 one;       /* bits of 1 */
    int value_bytes;   /* 0: none are read */
} mulg_chunks;

static inline unsigned mulg_blocks(mul_u64 items, unsigned each)
{
    const mul_u64 blocks = (items + each - 1) / each, most = 1u << 30;
    return (unsigned)(blocks < 1 ? 1 : blocks > most ? most : blocks);
}

#ifdef __CUDACC__
/* Bounds of a row of B without columns outside [t_lo, t_hi). */
MULG_DEVICE uint2 mulg_clip(const mul_u32 *column, uint2 x, mul_u64 t_lo, mul_u64 t_hi)
{
    x.x = mulg_search(column, x.x, x.y, t_lo);
    x.y = mulg_search(column, x.x, x.y, t_hi);
    return x;
}
#endif

/* All of these only launch. gpu_bounds.cu: */
cudaError_t mulg_bounds(const lacis_mul_matrix *b, int64_t t_lo, int64_t t_hi, uint2 *bound, unsigned short *length,
                        const mulg_chunks &chunks, mulg_header *header, cudaStream_t stream);
cudaError_t mulg_pack(const mulg_params &p, int64_t rows, mul_u32 *place, uint2 *pair, mulg_header *header,
                      cudaStream_t stream);
cudaError_t mulg_cuts(const mulg_params &p, int64_t rows, mul_u32 window_width, mul_u32 *cut, cudaStream_t stream);
/* The same for those rows of B alone that the rows of p.list reach. */
cudaError_t mulg_cuts_reached(const mulg_params &p, mul_u32 window_width, mul_u32 *cut, cudaStream_t stream);

/* gpu_setup.cu. host, here and below: pinned, gets the header as well; NULL: none. */
cudaError_t mulg_deal(const mulg_params &p, const mulg_rules &rules, const int64_t *rows, int64_t first,
                      int64_t count, unsigned char *bucket, mul_u64 *products, mulg_header *header, mulg_header *host,
                      cudaStream_t stream);
cudaError_t mulg_list(const int64_t *rows, int64_t first, int64_t count, const unsigned char *bucket,
                      mulg_header *header, mul_u32 *start, mul_u32 *list, cudaStream_t stream);

/* gpu_few.cu: bounds, deal and list at once for up to MULG_FEW rows. Only those bounds of B are found that the rows
 * reach. sum: `count` zeros. */
enum { MULG_FEW = 256 };
cudaError_t mulg_few(const mulg_params &p, const mulg_rules &rules, const lacis_mul_matrix *b, const int64_t *rows,
                     int64_t first, int64_t count, uint2 *bound, mul_u64 *sum, mul_u32 *list, mulg_header *header,
                     mulg_header *host, cudaStream_t stream);

/* gpu_hub.cu: which of the rows of DENSE, heaviest first, are HUB, into p's hub_rows, hub_tasks and hub_group. */
void mulg_hub_plan(const lacis_mul_gpu_job *job, const mulg_header *header, int multiprocessors, mulg_params *p);
mul_u64 mulg_hub_bytes(const mulg_params *p); /* of what follows, in one block */
cudaError_t mulg_hub_begin(const lacis_mul_gpu_job *job, mulg_params *p, void *block, mulg_header *header,
                           cudaStream_t stream);

/* gpu_keep.cu: list has space for `count` rows */
cudaError_t mulg_keep(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first, int64_t count,
                      const lacis_mul_gpu_output *out, mulg_header *header, mul_u32 *list, int multiprocessors,
                      cudaStream_t stream);

/* gpu_having.cu: the kernel of NVRTC. MASK as well; TOP is left to mulg_keep */
cudaError_t mulg_having(const lacis_mul_gpu_job *job, const void *kernel, const int64_t *rows, int64_t first,
                        int64_t count, const lacis_mul_gpu_output *out, mulg_header *header, mul_u32 *list,
                        int multiprocessors, cudaStream_t stream);

/* gpu_compact.cu */
size_t mulg_compact_bytes(int64_t count);
cudaError_t mulg_compact_begin(const int64_t *rows, int64_t first, int64_t count, const int64_t *begin,
                               const int64_t *end, mul_i64 *offset, void *work, size_t work_bytes,
                               cudaStream_t stream);
cudaError_t mulg_compact_move(const int64_t *rows, int64_t first, int64_t count, int64_t *begin, int64_t *end,
                              const mul_i64 *offset, mul_u64 entries, int value_bytes, const mul_u32 *column,
                              const void *value, mul_u32 *to_column, void *to_value, cudaStream_t stream);

#endif
