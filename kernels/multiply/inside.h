/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of kernels/multiply share: the plan made from a job, a worker's memory, and the table of functions
 * that each instruction set offers. Nothing outside this folder includes it, apart from its own unit test.
 *
 * How a row is computed. Every class but SORT feeds slices of B rows to `scatter` functions, which update cells
 * acc[index[i]]: in DENSE the index is the column itself (cells of a window of columns), in HASH a number given to
 * each new column by a table, in COPY just 0, 1, 2... Cells that nothing touched hold `empty`. Where `empty` can also
 * be a real result, a byte a column (touch) tells them apart. Updates, and so floats, always run over rising c; FIRST
 * runs over falling c and overwrites.
 */
#ifndef LACIS_KERNELS_MULTIPLY_INSIDE_H
#define LACIS_KERNELS_MULTIPLY_INSIDE_H

#include "multiply/multiply.h"

#include <stdatomic.h>

#define LACIS_ISA_GLUE2(name, isa) name##_##isa
#define LACIS_ISA_GLUE(name, isa)  LACIS_ISA_GLUE2(name, isa)
#define LACIS_ISA(name)            LACIS_ISA_GLUE(name, LACIS_ISA_NAME)

enum {
    MUL_BLOCK = 64,         /* columns that one flag byte covers; dense windows are multiples */
    MUL_RANGE = 4096,       /* columns emitted at a time where results are filtered or converted */
    MUL_PAD = 64,           /* entries that vector stores may write past a row */
    MUL_SORT_MAX = 256,     /* products of a row that SORT takes (slots are 8 bits) */
    MUL_HASH_MAX = 1 << 16, /* products of a row that HASH takes: its table is 1 MiB then, the size of an L2 */
    MUL_CHUNK_ROWS = 4096,  /* most rows dealt to a thread at a time */
    MUL_BITS_GROUP = 512,   /* columns of a line of bits; windows are multiples */
    MUL_BITS_LINE = 64      /* bytes */
};

typedef lacis_mul_storage mul_kind; /* kinds of cells are named like kinds of storage */

typedef struct mul_pair { /* C128 */
    double re, im;
} mul_pair;

typedef union mul_scalar {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    mul_pair c128;
    uint64_t bits;
} mul_scalar;

/* How a value comes from the operands: constant over a slice, b, a + b, a * b. */
typedef enum mul_form { MUL_FORM_CONST, MUL_FORM_B, MUL_FORM_ADD, MUL_FORM_MUL, MUL_FORMS } mul_form;
typedef enum mul_update { MUL_UPDATE_SUM, MUL_UPDATE_MIN, MUL_UPDATE_MAX, MUL_UPDATE_PUT, MUL_UPDATES } mul_update;
typedef enum mul_mode { MUL_MODE_COUNT, MUL_MODE_DIRECT, MUL_MODE_STRIPS } mul_mode;

typedef void (*mul_count_fn)(void *cells, const uint32_t *index, int64_t n);
typedef void (*mul_scatter_fn)(void *cells, const uint32_t *index, int64_t n, const void *values, mul_scalar a);
typedef void (*mul_fill_fn)(void *out, int64_t n, const void *values, mul_scalar a);

/* Cells of a row: where slices are scattered to. */
typedef struct mul_target {
    void *cells;      /* cells[index] of the first index used; may point before the block (windows) */
    uint32_t *counts; /* AVG: how many values each cell took */
    mul_kind kind;
    int log2_bytes;
} mul_target;

typedef struct mul_worker mul_worker;

/* One row, or its columns [lo, hi): writes entries to column, value; answers how many or -1 (worker->status). */
typedef int64_t (*mul_row_fn)(mul_worker *worker, int64_t row, uint32_t *column, void *value);
typedef int64_t (*mul_window_fn)(mul_worker *worker, int64_t row, int64_t lo, int64_t hi, uint32_t *column,
                                 void *value);

/* What one instruction set offers to the files that are compiled once. */
typedef struct mul_kernels {
    const char *name;
    mul_row_fn row[LACIS_MUL_CLASSES];
    mul_window_fn dense;
    bool has_bits; /* counts can be summed from bits */
} mul_kernels;
extern const mul_kernels lacis_mul_kernels_baseline, lacis_mul_kernels_avx2, lacis_mul_kernels_avx512;
const mul_kernels *lacis_mul_kernels(void);
bool lacis_mul_has_byte_compress(void); /* AVX-512 VBMI2 */

/* Heavy rows of B as bits (bits.c). */
typedef struct mul_bits {
    int64_t least;        /* entries of a heavy row */
    uint64_t rows;        /* heavy ones; 0: none is kept as bits */
    uint64_t group_bytes; /* a line of each */
    char *lines;          /* group after group */
    uint32_t *line_of;    /* by row of B, the heavy ones only: bytes from a group's begin */
} mul_bits;

/* The job, made ready. */
typedef struct mul_plan {
    const lacis_mul_job *job;
    const mul_kernels *kernels;
    mul_mode mode;
    mul_form form;
    mul_update update;
    bool convert_b;  /* b's values are of another type than the job's */
    bool descending; /* run over c from the last to the first */
    bool touch;      /* touched cells are marked in bytes */
    bool direct;     /* cells go to the output as they are: no filter, no conversion but of counts */
    bool clip;       /* [t_lo, t_hi) leaves out columns */
    bool byte_compress;
    bool sure;            /* MIN or MAX of floats: no NaN comes of a finite value of A */
    bool bounded;         /* CON's bounds are known and finite */
    mul_kind kind;        /* of cells; COUNT: the widest that a row may need */
    uint64_t empty;       /* bits of an untouched cell */
    uint64_t empty_high;  /* the others of one of 16 bytes */
    int value_bytes;      /* of the output */
    int64_t width;        /* t_hi - t_lo */
    int64_t window;       /* columns of a dense window */
    uint64_t total;       /* products of the whole run */
    const mul_bits *bits; /* NULL: none */
} mul_plan;
void lacis_mul_plan(mul_plan *plan, const lacis_mul_job *job, uint64_t total);

typedef struct mul_candidate {
    uint64_t key;   /* in the order of the values */
    uint64_t value; /* bits of the stored value, or the count */
    uint32_t t;
} mul_candidate;

/* Filters on the way to the output (filter.c). */
typedef struct mul_sink {
    int64_t row;
    uint32_t *column;
    char *value;
    int64_t entries;
    int64_t mask_next, mask_end;
    mul_candidate *heap;           /* of job.top at most: the worst first */
    uint64_t *order, *order_other; /* as long as the heap */
    int64_t held, capacity;
    bool counts; /* keys and values are plain counts */
} mul_sink;

struct mul_worker {
    const mul_plan *plan;
    lacis_mul_status status;
    /* Dense window: cells, touch, flags; all empty between rows. */
    char *cells;
    uint8_t *touch, *flags;
    uint32_t *counts;
    int64_t *cursor;
    int64_t cursors;
    /* Hash: table of (column << 32 | number + 1); keys of (column << 32 | number); cells by number. */
    char *hash_cells;
    uint32_t *hash_counts;
    uint64_t *table, *keys, *keys_other;
    /* Small, always there: strips of LACIS_MUL_STRIP, blocks of MUL_RANGE + MUL_PAD entries, sort buffers. */
    char *small;
    char *strip_value, *strip_other, *strip_x;
    uint32_t *strip_index, *iota;
    uint32_t *block_column;
    char *block_cell, *block_value;
    uint8_t *keep;
    uint32_t *sort_key, *sort_slot, *sort_start;
    uint64_t *sort_wide;
    char *sort_value;
    void *user; /* workspace of job.con and others */
    mul_sink sink;
    uint64_t row_products; /* of the row under way */
    uint32_t *heavy;       /* lines of the heavy rows of B that the row under way sums as bits */
    int64_t heavies;
    /* The stretch of the output that this worker fills. */
    int64_t arena_next, arena_end;
    char *spare; /* a row that waits for its exact place */
    int64_t spare_entries;
    uint64_t saved; /* room that rows left unused, not yet told */
    uint32_t *order;
    uint8_t *row_class;
    uint64_t entries;
    double class_seconds[LACIS_MUL_CLASSES];
    uint64_t class_rows[LACIS_MUL_CLASSES], class_products[LACIS_MUL_CLASSES];
};

/* worker.c */
bool lacis_mul_worker_open(mul_worker *worker, const mul_plan *plan);
void lacis_mul_worker_close(mul_worker *worker);
bool lacis_mul_worker_dense(mul_worker *worker); /* makes the dense window; false: no memory, status set */
bool lacis_mul_worker_hash(mul_worker *worker);
bool lacis_mul_worker_cursors(mul_worker *worker, int64_t count);
bool lacis_mul_worker_heap(mul_worker *worker);
bool lacis_mul_worker_spare(mul_worker *worker, int64_t entries);
uint64_t lacis_mul_worker_bytes(const mul_plan *plan);
void lacis_mul_fill_cells(const mul_plan *plan, void *cells, int64_t n, int log2_bytes); /* with plan->empty */

/* bits.c: makes the bitmaps where they pay and there is memory (plan->bits), gives workers room for lists. */
void lacis_mul_bits_open(mul_bits *bits, mul_plan *plan, mul_worker *workers, int threads);
void lacis_mul_bits_close(const mul_bits *bits, const lacis_mul_job *job);
uint64_t lacis_mul_bits_bytes(const mul_plan *plan); /* at most */
/* Lists the heavy rows of B that a row of A meets in worker->heavy; how many, or 0 where all are to be scattered. */
int64_t lacis_mul_bits_pick(mul_worker *worker, int64_t row);

/* filter.c: begin, blocks of rising t, end. Blocks stand in worker->block_column and block_cell (of `kind`). */
bool lacis_mul_sink_begin(mul_worker *worker, int64_t row, int64_t lo, uint32_t *column, void *value);
bool lacis_mul_sink_block(mul_worker *worker, int64_t n, mul_kind kind);
/* Candidates for the top, in rising t: one, or n stored values. */
void lacis_mul_sink_take(mul_worker *worker, uint64_t key, uint64_t value, uint32_t t);
void lacis_mul_sink_offer(mul_worker *worker, int64_t n, const uint32_t *t, const void *value);
int64_t lacis_mul_sink_end(mul_worker *worker);
/* finite.c: whether all values of B are; true only where looking is cheap beside the run's products */
bool lacis_mul_all_finite(const lacis_mul_job *job, uint64_t products);
/* convert.c */
void lacis_mul_convert(int64_t n, mul_kind from, const void *in, mul_kind to, void *out);
mul_kind lacis_mul_kind_of(lacis_mul_type type);
/* keys.c: rising order; `other` is as long as keys; the answer is whichever holds the result. */
uint64_t *lacis_mul_sort_keys(uint64_t *keys, uint64_t *other, int64_t n, uint64_t highest);
lacis_mul_class lacis_mul_class_of(const mul_plan *plan, int64_t degree, uint64_t products); /* classify.c */

/* A call of lacis_mul_run. */
typedef struct mul_run {
    const lacis_mul_job *job;
    mul_plan plan;
    mul_bits bits;
    const int64_t *rows; /* NULL: 0, 1, 2... */
    int64_t count;
    const uint64_t *products;
    lacis_mul_output *out;
    mul_worker *worker;
    int64_t arena;                 /* entries that a worker takes at a time */
    atomic_uint_fast64_t next;     /* of the output */
    atomic_int_fast64_t allowance; /* room that may be left unused at the ends of stretches */
    int64_t *chunk;                /* chunk i is [chunk[i], chunk[i + 1]) of rows */
    int64_t chunks;
} mul_run;

/* place.c: computes a row and places it. False: worker->status. */
bool lacis_mul_place(mul_run *run, mul_worker *worker, int64_t row, uint64_t products, lacis_mul_class class);
/* Exactly n entries of the output; -1: no memory, status set. */
int64_t lacis_mul_take(mul_run *run, mul_worker *worker, int64_t n);
/* hub.c: one row by all threads. */
lacis_mul_status lacis_mul_hub(mul_run *run, int64_t row, uint64_t products);
uint64_t lacis_mul_hub_bytes(const mul_plan *plan);
int64_t lacis_mul_arena(const lacis_mul_job *job);
double lacis_mul_seconds(void);

static inline int mul_log2_bytes(mul_kind kind)
{
    static const int log2_bytes[] = {0, 1, 2, 2, 3, 2, 3, 4};
    return log2_bytes[kind];
}

static inline size_t mul_type_bytes(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : type == LACIS_MUL_C128 ? 16 : 8;
}

/* Sums of a kind, F64 or C128, as averages. */
static inline void mul_divide(mul_kind kind, void *sum, int64_t i, uint32_t count)
{
    double *parts = sum;
    if (kind != LACIS_MUL_TO_C128) {
        parts[i] /= count;
        return;
    }
    parts[2 * i] /= count;
    parts[2 * i + 1] /= count;
}

/* The narrowest cell for counts up to `most`. */
static inline mul_kind mul_count_kind(uint64_t most)
{
    return most <= UINT8_MAX ? LACIS_MUL_TO_U8 : most <= UINT16_MAX ? LACIS_MUL_TO_U16 : LACIS_MUL_TO_U32;
}

/* First position in [lo, hi) of rising `column` that is not below t. */
static inline int64_t mul_lower_bound(const uint32_t *column, int64_t lo, int64_t hi, int64_t t)
{
    while (lo < hi) {
        const int64_t middle = lo + (hi - lo) / 2;
        const bool below = (int64_t)column[middle] < t;
        lo = below ? middle + 1 : lo;
        hi = below ? hi : middle;
    }
    return lo;
}

#endif
