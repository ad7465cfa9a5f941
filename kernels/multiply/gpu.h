/* SPDX-License-Identifier: Apache-2.0
 *
 * Generalized sparse products on a CUDA device: what multiply.h does, on raw device pointers. operators/multiply's
 * variant "gpu" fills a job and calls these; nothing here knows the engine. Built with nvcc (gpu*.cu); where there is
 * no nvcc none of it is linked. The CUDA runtime is linked statically and works in the device's primary context: the
 * caller has made it current on this thread (cudaSetDevice, or cuCtxSetCurrent of the primary context).
 *
 * One pass. Products of each row are counted on the device, rows are put in classes by that bound, and each class is
 * computed by its own kernel. A row's room is its bound min(products, columns), or what TOP may keep of it; where
 * that is too much, or job.counted, MIDDLE and DENSE rows are counted first. Rows lie loose ([begin, end) anywhere
 * within column/value, columns rising within a row), or are moved together at the end (job.compact).
 *
 * The same entries as the CPU: integers bit for bit. Float sums: with job.ordered in rising order of c, so the CPU's
 * bits; without it in any order (faster). MIN and MAX of floats pass over NaN unless every value is NaN, as on the
 * CPU.
 *
 * Calls are synchronous towards the host (a run reads two small blocks back), all work goes to job.stream. Every
 * call may be made from several threads with jobs of their own.
 */
#ifndef LACIS_KERNELS_MULTIPLY_GPU_H
#define LACIS_KERNELS_MULTIPLY_GPU_H

#include "multiply/multiply.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum lacis_mul_gpu_status {
    LACIS_MUL_GPU_OK,
    LACIS_MUL_GPU_NO_MEMORY, /* alloc answered NULL: nothing is left allocated; try fewer rows */
    LACIS_MUL_GPU_ROOM,      /* more than job.room, though counted: out.room says how many entries; fewer rows */
    LACIS_MUL_GPU_OVERFLOW,  /* job.checked, and an integer overflowed */
    LACIS_MUL_GPU_CANCELLED,
    LACIS_MUL_GPU_UNSUPPORTED, /* see lacis_mul_gpu_refuses */
    LACIS_MUL_GPU_UNCOMPILED,  /* job.written->compile failed, and knows why */
    LACIS_MUL_GPU_FAILED       /* a CUDA call failed: out.cuda_error (a cudaError_t) */
} lacis_mul_gpu_status;

/* Classes of rows by their products. */
typedef enum lacis_mul_gpu_class {
    LACIS_MUL_GPU_EMPTY,  /* no product */
    LACIS_MUL_GPU_COPY,   /* one entry in the row of A: the row of B, mapped */
    LACIS_MUL_GPU_TINY,   /* sorted in the registers of a part of a warp */
    LACIS_MUL_GPU_SMALL,  /* a block a row: sorted, or hashed, in shared memory; only where job.small asks for it */
    LACIS_MUL_GPU_MIDDLE, /* a block a row: columns as bits in shared memory, cells by rank */
    LACIS_MUL_GPU_DENSE,  /* a block a window of columns: a cell a column in shared memory */
    LACIS_MUL_GPU_HUB,    /* so heavy that its windows are begun first and split further */
    LACIS_MUL_GPU_CLASSES
} lacis_mul_gpu_class;
extern const char *const lacis_mul_gpu_class_name[LACIS_MUL_GPU_CLASSES];

/* What computes rows of more products than TINY ones and at most LACIS_MUL_GPU_SMALL_MOST. Rows that store only what
 * may be among the greatest (TOP within the kernels) are MIDDLE in any case. */
typedef enum lacis_mul_gpu_small {
    LACIS_MUL_GPU_BITMAP, /* they are MIDDLE like heavier ones */
    LACIS_MUL_GPU_SORT,   /* SMALL, sorted in order of column and c: any AGG, floats with the CPU's bits */
    LACIS_MUL_GPU_HASH,   /* SMALL, hashed, where products may come in any order; else sorted */
    LACIS_MUL_GPU_SMALLS
} lacis_mul_gpu_small;
enum { LACIS_MUL_GPU_SMALL_MOST = 2048 };

/* Device memory: stream-ordered on job.stream (cudaMallocAsync from a pool), 256-byte aligned, not cleared; NULL:
 * none. A block given free may still be in use by work already on the stream. */
typedef struct lacis_mul_gpu_memory {
    void *(*alloc)(void *context, uint64_t bytes);
    void (*free)(void *context, void *block);
    bool (*cancelled)(void *context); /* NULL: never */
    void *context;
} lacis_mul_gpu_memory;

/* HAVING: what is kept of a row, and by whom. */
typedef enum lacis_mul_gpu_having {
    LACIS_MUL_GPU_ALL,    /* there is none */
    LACIS_MUL_GPU_WITHIN, /* values within [low, high]: by the kernels of the classes, which store nothing else */
    LACIS_MUL_GPU_INSIDE, /* lacis_having (see below), compiled with a written semiring: likewise. It cannot fail */
    LACIS_MUL_GPU_BEHIND  /* lacis_having by a kernel of its own, which takes entries out of stored rows */
} lacis_mul_gpu_having;

/* Kernels that NVRTC compiled for written CON, AGG or HAVING (lacis_mul_gpu_source); NULL in a job: built-in ones. */
typedef struct lacis_mul_gpu_written lacis_mul_gpu_written;

enum { LACIS_MUL_GPU_PINNED_BYTES = 4096 };
typedef struct lacis_mul_gpu_job {
    /* Device pointers. a.cols == b.rows; both < 2^32; columns of a row rise and are distinct. Values of both operands
     * are of `type` (NULL: every value is 1). b's entries lie within b.column[0, 2^32 - 64). */
    lacis_mul_matrix a, b;
    lacis_mul_con con_kind; /* LACIS_MUL_CON_STRIPS: written */
    lacis_mul_agg agg;      /* LACIS_MUL_FOLD: written */
    lacis_mul_type type;    /* of CON's values; COUNT ignores it; AVG gives F64 or C128; C128: a written semiring */
    lacis_mul_storage storage; /* COUNT: U8, U16, U32, I64; AVG: F64, C128; else that of `type` */
    bool checked;              /* integer SUM may overflow: LACIS_MUL_GPU_OVERFLOW (takes the ordered way) */
    bool ordered;              /* float sums in rising order of c: the CPU's bits */
    uint64_t max_degree_a;     /* no row of a has more entries (bounds counts); 0: not known */
    bool any_order; /* FOLD cannot fail and neither order nor grouping matters; 16-byte values: on devices from 9.0 on
                     */
    bool fails;     /* written CON or AGG: some values are refused. MASK then comes behind the kernels */
    lacis_mul_gpu_having having;
    int64_t low, high;          /* WITHIN, of integers */
    double low_real, high_real; /* likewise, of reals: NaN is never within */
    const int64_t *label[3]; /* device: labels of s, c, t where the source takes them from lists; NULL: it does not */
    lacis_mul_gpu_written *written;
    const lacis_mul_matrix
        *mask; /* host struct with device pointers; NULL, or keep only (not keep: mask_not) these */
    bool mask_not;
    int64_t top;        /* > 0: keep the `top` greatest values a row (ties: smaller t); stored by rising t */
    int64_t top_inside; /* the greatest `top` for which kernels of heavy rows store candidates alone, at most 256; 0:
                           32, and where there is no room for rows' bounds 256 */
    int64_t t_lo, t_hi; /* only columns in [t_lo, t_hi) */
    uint64_t room;      /* the most entries that may be allocated for the result; 0: no limit */
    bool counted;       /* MIDDLE and DENSE rows are counted at once, where their bounds would be far too much */
    /* With mask, having or top the result is always compact. */
    bool compact; /* rows one behind the other in order of the list, column/value exactly as long */
    bool timed;   /* fill class_seconds (classes then run one after the other) */
    lacis_mul_gpu_small small;
    lacis_mul_gpu_class force; /* EMPTY: classes by cost; else that one wherever it can take the row (tests) */
    void *stream;              /* cudaStream_t; NULL: the default stream */
    void *side[2]; /* two more streams on which classes may run beside each other; NULL: one after the other.
                      Work on them is joined into `stream` before a run returns */
    void *pinned;  /* LACIS_MUL_GPU_PINNED_BYTES of pinned host memory of this run's own: read-backs are
                      faster; NULL: none */
    lacis_mul_gpu_memory memory;
} lacis_mul_gpu_job;

typedef struct lacis_mul_gpu_output {
    int64_t *begin, *end; /* in: device, the caller's, indexed by the row of A; only listed rows are written */
    uint32_t *column;     /* out: device, from job.memory, now the caller's; NULL where nothing came out */
    void *value;          /* out: likewise, of job.storage */
    uint64_t room;        /* out: entries that column and value have space for */
    uint64_t counted;     /* out: rows whose entries were counted first, there being no room for their bounds */
    uint64_t entries;     /* out: total */
    uint64_t products;    /* out: total */
    int cuda_error;       /* out: with LACIS_MUL_GPU_FAILED */
    uint64_t class_rows[LACIS_MUL_GPU_CLASSES], class_products[LACIS_MUL_GPU_CLASSES]; /* out */
    double class_seconds[LACIS_MUL_GPU_CLASSES], setup_seconds;                        /* out, where job.timed */
} lacis_mul_gpu_output;

/* Why these kernels cannot do the job, as a plain phrase for EXPLAIN; NULL: they can. Looks only at the job's fields,
 * not at the device. */
const char *lacis_mul_gpu_refuses(const lacis_mul_gpu_job *job);

/* Computes the rows of the list (device, rising; NULL: rows [first, first + count)). On any status but OK nothing
 * stays allocated and begin/end are undefined. */
lacis_mul_gpu_status lacis_mul_gpu_run(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                       int64_t count, lacis_mul_gpu_output *out);

/* Totals of a list without computing it, for plans and panels. products (device, count long; NULL: not wanted):
 * products[i] of list row i. */
typedef struct lacis_mul_gpu_totals {
    uint64_t products, bound; /* sums over rows of products, min(products, columns) */
    uint64_t most;            /* products of the heaviest row */
    uint64_t class_rows[LACIS_MUL_GPU_CLASSES], class_products[LACIS_MUL_GPU_CLASSES];
    int cuda_error;
} lacis_mul_gpu_totals;
lacis_mul_gpu_status lacis_mul_gpu_look(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                        int64_t count, uint64_t *products, lacis_mul_gpu_totals *out);

/* Entries of each of the listed rows (host, like entries; at most LACIS_MUL_GPU_SAMPLE), counted exactly, MASK,
 * HAVING and TOP left aside: for estimates of the room that all rows take. */
enum { LACIS_MUL_GPU_SAMPLE = 1024 };
lacis_mul_gpu_status lacis_mul_gpu_sample(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t count,
                                          uint64_t *entries, int *cuda_error);

/* Bytes of device memory beside the result that a run over `count` rows takes at most. */
uint64_t lacis_mul_gpu_work_bytes(const lacis_mul_gpu_job *job, int64_t count);

/* --- written functions -------------------------------------------------------------------------------
 * The device source, to be given to NVRTC behind a prefix that the caller emits:
 *
 *     typedef struct lacis_c128 {...}                 // and lacis_complex: engine/expr/functions.cuh
 *     #define LACIS_LISTED 0                          // bit 0, 1, 2: s, c, t come from job.label
 *     #define LACIS_SEMIRING                          // CON or AGG is written, or values are complex: with
 *     typedef float lacis_t;                          //   of CON's values and of accumulators: int, long long,
 *                                                     //   float, double, lacis_c128
 *     typedef float lacis_a;                          //   of the operands' values, likewise
 *     typedef float lacis_b;
 *     __device__ lacis_t lacis_con(lacis_a a, lacis_b b, long long s, long long c, long long t, int *bad) {...}
 *     __device__ lacis_t lacis_fold(lacis_t x, lacis_t y, int *bad) {...}   // only with LACIS_MUL_FOLD
 *     #define LACIS_IDENTITY ((lacis_t)0)                                   // likewise
 *     #define LACIS_HAVING                            // HAVING is BEHIND; then, and where it is INSIDE:
 *     typedef unsigned char lacis_stored;             //   as job.storage says
 *     __device__ bool lacis_having(lacis_stored value, long long s, long long t, int *bad) {...}
 *
 * s, c, t are indices, or labels where they are listed; *bad = 1 means overflow or division by zero. The source needs
 * no header. Options: -std=c++17, --gpu-architecture=sm_XY, -default-device, -DLACIS_KERNEL=i for kernel i alone, and
 * -D macros that lacis_mul_gpu_options gives. */
const char *lacis_mul_gpu_source(void);
/* -D options for the job (agg, con, whether there is a mask, HAVING): at most `most` pointers to static or `text`
 * storage; answers how many. Kernels compiled without a mask are not for jobs with one, nor the other way round. */
int lacis_mul_gpu_options(const lacis_mul_gpu_job *job, const char **option, int most, char *text, size_t text_bytes);
/* Kernels by extern "C" name, in the order of lacis_mul_gpu_written.kernel. */
enum { LACIS_MUL_GPU_WRITTEN_KERNELS = 12 };
/* Bit i: kernel i, compiled in a hurry, was measured to be hardly slower: those of COPY and TINY, and MIDDLE (4 %),
 * which small products need alone. DENSE is slower by 15 %. */
enum { LACIS_MUL_GPU_QUICK_KERNELS = 0xf };
extern const char *const lacis_mul_gpu_kernel_name[LACIS_MUL_GPU_WRITTEN_KERNELS];
struct lacis_mul_gpu_written {
    /* cudaKernel_t: of cudaLibraryGetKernel, or a CUkernel of the driver. NULL: not compiled yet. */
    void *kernel[LACIS_MUL_GPU_WRITTEN_KERNELS];
    /* Fills in the kernels whose bit is set in `wanted`. A run calls it, in its own thread, once it knows which
     * kernels its rows need. False: LACIS_MUL_GPU_UNCOMPILED. NULL: all that may be needed are there. */
    bool (*compile)(lacis_mul_gpu_written *written, uint32_t wanted);
    void *context;
};
/* Compiles in this thread what rows [first, first + count) and any part of them need; runs then ask for nothing more,
 * from whatever thread. cuda_error: with LACIS_MUL_GPU_FAILED. */
lacis_mul_gpu_status lacis_mul_gpu_compile(const lacis_mul_gpu_job *job, int64_t first, int64_t count,
                                           int *cuda_error);
/* Whether the job's semiring is compiled at run time, and not built in. */
static inline bool lacis_mul_gpu_semiring_written(const lacis_mul_gpu_job *job)
{
    const bool pairs = job->agg != LACIS_MUL_COUNT && (job->type == LACIS_MUL_C128 || job->a.type == LACIS_MUL_C128 ||
                                                       job->b.type == LACIS_MUL_C128);
    return pairs || job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD;
}

#ifdef __cplusplus
}
#endif

#endif
