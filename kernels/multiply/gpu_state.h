/* SPDX-License-Identifier: Apache-2.0
 *
 * One run of the GPU's product on the host side, as gpu_run.cu, gpu_job.cu and gpu_classes.cu share it. C++ (nvcc)
 * only.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_STATE_H
#define LACIS_KERNELS_MULTIPLY_GPU_STATE_H

#include "gpu_host.h"

#include <string.h>

enum {
    SMALL_CELLS = 2048, /* of MIDDLE rows with few products */
    LARGE_CELLS = 8192,
    BITS_MOST = 1 << 18, /* columns of a bitmap */
    ORDERED_PLACES_BYTES = 512,
    PACK_LEAST = 1 << 22,       /* entries of B that are worth packing: fewer stay in the L2 anyway */
    SMALL_FIXED = 4224,         /* shared memory of a SMALL block beside its dynamic part, at most */
    SMALL_FIXED_WIDE = 8448,    /* likewise, values of A of 16 bytes */
    MIDDLE_FIXED = 5632,        /* shared memory of a MIDDLE block beside its dynamic part, at most */
    MIDDLE_FIXED_WIDE = 8448,   /* likewise, values of A of 16 bytes */
    LARGE_CELLS_WIDE = 4096,    /* of 16 bytes and more, filled in order: a second walk costs most there */
    LARGE_CELLS_FREE = 2560,    /* likewise, in any order: three blocks run at once on an H200, of more cells two */
    SPARED_ROWS = 4096,         /* that MIDDLE's kernel takes from another one which is not compiled */
    ZEROS_BYTES = MULG_FEW * 8, /* behind the header: `start`, or sums of few rows */
    FEW_DENSE = 2048,           /* products from which one of few rows is DENSE */
    CUT_BYTES_SHIFT = 31        /* cuts of B take 2 GiB at most: wider matrices have no dense rows */
};

typedef struct mulg_run {
    const lacis_mul_gpu_job *job;
    lacis_mul_gpu_output *out;
    cudaStream_t stream;
    mulg_params p;
    mulg_rules rules;
    mulg_kernels kernels;
    bool ordered;
    lacis_mul_gpu_small small;                       /* of rows of the list SMALL */
    mul_u32 as_middle;                               /* bit i: list i is computed by MIDDLE's kernel */
    bool few;                                        /* gpu_few.cu sets up */
    bool beside;                                     /* classes run on streams of their own */
    bool whole;                                      /* all rows, from the first on, are FLAT: there is no list */
    int value_bytes;                                 /* of B, 0: not read */
    mul_u32 window_width;                            /* of DENSE */
    int multiprocessors, shared_bytes, shared_block; /* shared memory of a multiprocessor, and of a block at most */
    mulg_header *header, *host, own;
    uint2 *bound;
    unsigned short *length;
    unsigned char *bucket;
    mul_u32 *start, *list, *cut;
    mul_i64 *offset;
    void *work, *packed;
    cudaEvent_t fork, join[2];
    cudaEvent_t mark[MULG_LISTS + 1], hub_mark;
    mul_u32 hub_rows; /* of the DENSE list */
    mul_u32 top_most; /* the greatest `top` that they do so for */
    bool uncounted;   /* without room for bounds the run ends: there is another way */
    bool select;      /* MIDDLE and DENSE rows store only what may be among the job's `top` greatest */
    cudaError_t error;
} mulg_run;

#define MULG_TRY_CUDA(s, call)                                                                                       \
    do {                                                                                                             \
        (s)->error = (call);                                                                                         \
        if ((s)->error != cudaSuccess) return LACIS_MUL_GPU_FAILED;                                                  \
    } while (0)
#define MULG_TRY(call)                                                                                               \
    do {                                                                                                             \
        const lacis_mul_gpu_status status_ = (call);                                                                 \
        if (status_ != LACIS_MUL_GPU_OK) return status_;                                                             \
    } while (0)

/* gpu_job.cu: what a job takes. */
bool mulg_filters(const lacis_mul_gpu_job *job);       /* whether rows keep less than their product */
bool mulg_masked_inside(const lacis_mul_gpu_job *job); /* whether MASK is seen to by the kernels of the classes */
bool mulg_takes_out(const lacis_mul_gpu_job *job);     /* whether entries are taken out of stored rows */
bool mulg_in_order(const lacis_mul_gpu_job *job);
int mulg_type_bytes(lacis_mul_type type);
lacis_mul_type mulg_b_type(const lacis_mul_gpu_job *job); /* as which kernels read B; job.b may have no values */
int mulg_storage_bytes(lacis_mul_storage storage);
void mulg_set_params(mulg_run *s); /* from s->job */
/* Written kernels that the rows in s->host need; whole: and any part of them might. */
lacis_mul_gpu_status mulg_compile(mulg_run *s, bool whole);

/* gpu_classes.cu: for a job with TOP, once the device is known */
void mulg_set_top(mulg_run *s);

/* gpu_room.cu: column and value of s->out, for as many entries as the set-up found or fewer. */
lacis_mul_gpu_status mulg_take_room(mulg_run *s, const int64_t *rows, int64_t first, int64_t count);

/* gpu_classes.cu: launches every class, joins their streams, and reads the header back. */
mul_u32 mulg_list_rows(const mulg_header *header, int list);
void mulg_class_totals(const mulg_run *s, int64_t count, uint64_t *class_rows, uint64_t *class_products);
lacis_mul_gpu_status mulg_run_classes(mulg_run *s, const int64_t *rows, int64_t first, int64_t count);
bool mulg_sided(const mulg_run *s); /* whether classes run on streams of their own */

static inline uint64_t mulg_aligned(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static inline lacis_mul_gpu_status mulg_take(mulg_run *s, uint64_t bytes, void *out_pointer)
{
    void *block = s->job->memory.alloc(s->job->memory.context, bytes ? bytes : 1);
    if (!block) return LACIS_MUL_GPU_NO_MEMORY;
    memcpy(out_pointer, &block, sizeof block);
    return LACIS_MUL_GPU_OK;
}

static inline void mulg_give(mulg_run *s, void *block)
{
    if (block) s->job->memory.free(s->job->memory.context, block);
}

#endif
