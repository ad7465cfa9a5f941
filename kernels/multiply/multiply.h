/* SPDX-License-Identifier: Apache-2.0
 *
 * Generalized sparse products on raw CSR storage: for every pair (s, t) that some path s -> c -> t joins,
 *     value(s, t) = AGG over c of CON(a(s, c), b(c, t), s, c, t).
 * operators/multiply and operators/power fill a job and call these; nothing here knows the engine.
 *
 * Row-wise product after Gustavson (ACM TOMS 4(3), 1978), rows classified by the exact bound sum(degree_b(c)) as in
 * the graph-multiplication thesis (Athens 2017): copied, sorted, hashed, or accumulated in a dense window. One pass:
 * the bound sizes a row's room, no symbolic pass; rows lie loose where they were written. Within an entry the order
 * of c is always rising, so results do not depend on thread count, class or window.
 */
#ifndef LACIS_KERNELS_MULTIPLY_H
#define LACIS_KERNELS_MULTIPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* C128: two doubles, real and imaginary. They have no order: no MIN, MAX or top. */
typedef enum lacis_mul_type {
    LACIS_MUL_I32,
    LACIS_MUL_I64,
    LACIS_MUL_F32,
    LACIS_MUL_F64,
    LACIS_MUL_C128
} lacis_mul_type;
/* How results are stored: the accumulator's type, or narrower for counts. */
typedef enum lacis_mul_storage {
    LACIS_MUL_TO_U8,
    LACIS_MUL_TO_U16,
    LACIS_MUL_TO_U32,
    LACIS_MUL_TO_I32,
    LACIS_MUL_TO_I64,
    LACIS_MUL_TO_F32,
    LACIS_MUL_TO_F64,
    LACIS_MUL_TO_C128
} lacis_mul_storage;

typedef enum lacis_mul_con {
    LACIS_MUL_CON_ONE, /* 1, whatever the operands */
    LACIS_MUL_CON_A,
    LACIS_MUL_CON_B,
    LACIS_MUL_CON_ADD,   /* a + b */
    LACIS_MUL_CON_MUL,   /* a * b */
    LACIS_MUL_CON_STRIPS /* job.con fills strips */
} lacis_mul_con;

typedef enum lacis_mul_agg {
    LACIS_MUL_COUNT,
    LACIS_MUL_SUM,
    LACIS_MUL_MIN,
    LACIS_MUL_MAX,
    LACIS_MUL_FIRST, /* also any */
    LACIS_MUL_LAST,
    LACIS_MUL_AVG,
    LACIS_MUL_FOLD /* job.fold combines strips */
} lacis_mul_agg;

typedef enum lacis_mul_class {
    LACIS_MUL_EMPTY, /* no product */
    LACIS_MUL_COPY,  /* one entry in the row of A: the row of B, mapped */
    LACIS_MUL_SORT,  /* few products: sorted in registers or merged */
    LACIS_MUL_HASH,  /* a table that fits the L2, then sorted */
    LACIS_MUL_DENSE, /* an accumulator of all columns, or a window of them at a time */
    LACIS_MUL_HUB,   /* dense, one row's windows dealt over threads */
    LACIS_MUL_CLASSES
} lacis_mul_class;
extern const char *const lacis_mul_class_name[LACIS_MUL_CLASSES];

typedef enum lacis_mul_status {
    LACIS_MUL_OK,
    LACIS_MUL_NO_MEMORY,
    LACIS_MUL_OVERFLOW,
    LACIS_MUL_CANCELLED
} lacis_mul_status;

/* Row r is [begin[r], end[r]); columns rise. value NULL: every value is 1. */
typedef struct lacis_mul_matrix {
    int64_t rows, cols;
    const int64_t *begin, *end;
    const uint32_t *column;
    const void *value;
    lacis_mul_type type;
} lacis_mul_matrix;

/* Memory for accumulators and tables, from the caller. Called from worker threads. */
typedef struct lacis_mul_memory {
    void *(*alloc)(void *context, uint64_t bytes); /* 64-byte aligned, not cleared; NULL: none */
    void (*free)(void *context, void *block);
    bool (*charge)(void *context, uint64_t bytes); /* so many more bytes of the output are in use; false: stop */
    bool (*cancelled)(void *context);
    void *context;
} lacis_mul_memory;

/* Strip functions evaluate n <= LACIS_MUL_STRIP elements; `workspace` is one worker's (workspace_bytes each, 64-byte
 * aligned). They answer false on integer overflow or division by zero. Indices are given, not labels. */
enum { LACIS_MUL_STRIP = 512 };
typedef struct lacis_mul_strip {
    int n;
    int64_t s, c;
    const void *a;     /* one value of a.type; NULL where A has none */
    const void *b;     /* n values of b.type; NULL where B has none */
    const uint32_t *t; /* n column indices */
} lacis_mul_strip;
typedef bool (*lacis_mul_con_fn)(void *context, void *workspace, const lacis_mul_strip *strip, void *out);
/* x[i] := fold(x[i], y[i]), all of job.type */
typedef bool (*lacis_mul_fold_fn)(void *context, void *workspace, int n, void *x, const void *y);
/* keep[i] := whether entry (s, t[i]) with value[i] (of job.storage) stays */
typedef bool (*lacis_mul_having_fn)(void *context, void *workspace, int n, int64_t s, const uint32_t *t,
                                    const void *value, uint8_t *keep);

typedef struct lacis_mul_job {
    lacis_mul_matrix a, b; /* a.cols == b.rows */
    lacis_mul_con con_kind;
    lacis_mul_agg agg;
    lacis_mul_type type; /* of CON's values and of accumulators; COUNT ignores it; AVG accumulates F64 or C128 */
    lacis_mul_storage storage; /* of the result; the caller has made sure that it is wide enough */
    bool checked;              /* integer CON or SUM may overflow `type`: that must end in LACIS_MUL_OVERFLOW */
    bool bounded;              /* con_lo <= CON <= con_hi, exactly (lets accumulators use sentinels) */
    double con_lo, con_hi;
    uint64_t max_degree_a; /* no count exceeds it */
    lacis_mul_con_fn con;  /* LACIS_MUL_CON_STRIPS; gives values of `type` */
    lacis_mul_fold_fn fold;
    int64_t identity_int; /* FOLD */
    double identity, identity_imag;
    lacis_mul_having_fn having; /* NULL: none. Before top. */
    void *user;                 /* context of the three */
    size_t workspace_bytes;
    const lacis_mul_matrix *mask; /* NULL, or keep only (not keep: mask_not) the pairs stored there */
    bool mask_not;
    int64_t top;        /* > 0: keep the `top` greatest values a row (ties: smaller t); stored by rising t */
    int64_t t_lo, t_hi; /* only columns in [t_lo, t_hi) */
    int threads;
    lacis_mul_class force; /* EMPTY: classes by cost; else that one wherever it can take the row (tests) */
    lacis_mul_memory memory;
} lacis_mul_job;

/* products[i] := sum over c in row rows[i] of A of degree_b(c) (rows NULL: row i). Returns the sum over all. */
uint64_t lacis_mul_products(const lacis_mul_job *job, const int64_t *rows, int64_t count, uint64_t *products);

/* The class in which a row of so many entries of A and products would be computed. */
lacis_mul_class lacis_mul_classify(const lacis_mul_job *job, int64_t degree, uint64_t products,
                                   uint64_t total_products);

/* The most entries that a row of `products` can have (top, mask and columns considered). */
uint64_t lacis_mul_bound(const lacis_mul_job *job, int64_t row, uint64_t products);

/* How many rows fit: the end of the longest run of rows from `begin` on that keeps to the limits (`begin` where not
 * even one does), by the rows' bounds. products: of all rows. */
typedef struct lacis_mul_limits {
    uint64_t bytes, row_bytes, entry_bytes, products;
} lacis_mul_limits;
typedef struct lacis_mul_reached {
    uint64_t entries, products; /* of those rows, entries at most */
} lacis_mul_reached;
int64_t lacis_mul_within(const lacis_mul_job *job, const uint64_t *products, int64_t begin, int64_t end,
                         const lacis_mul_limits *limits, lacis_mul_reached *reached);

/* Entries of the listed rows' product without having and top, exactly: for estimates from a sample. entries[i]
 * for each. */
lacis_mul_status lacis_mul_symbolic(const lacis_mul_job *job, const int64_t *rows, int64_t count, uint64_t *entries);

/* Where results go. Room for column and value is `room` entries of address space (the sum of the rows' bounds, plus
 * lacis_mul_slack); rows are written anywhere within and out.begin/out.end say where, indexed by the row of A. Rows
 * not listed are not touched. */
typedef struct lacis_mul_output {
    int64_t *begin, *end;
    uint32_t *column;
    void *value; /* of job.storage */
    uint64_t room;
    uint64_t used;                                                             /* out: high-water mark in entries */
    uint64_t entries;                                                          /* out: total */
    double class_seconds[LACIS_MUL_CLASSES];                                   /* out, summed over threads */
    uint64_t class_rows[LACIS_MUL_CLASSES], class_products[LACIS_MUL_CLASSES]; /* out */
} lacis_mul_output;
uint64_t
lacis_mul_slack(const lacis_mul_job *job); /* entries that vector stores and arenas may run past the bounds */

/* Computes the listed rows (rising). products as from lacis_mul_products. progress may be NULL. */
lacis_mul_status lacis_mul_run(const lacis_mul_job *job, const int64_t *rows, int64_t count, const uint64_t *products,
                               lacis_mul_output *out);

/* Whether one thread does it all, there being so little. */
bool lacis_mul_alone(const lacis_mul_job *job, int64_t count, uint64_t products);

/* Bytes of accumulators and tables that lacis_mul_run takes at most, all threads together. */
uint64_t lacis_mul_work_bytes(const lacis_mul_job *job);

/* Which instruction set the kernels run with here: "avx512", "avx2", "baseline". LACIS_ISA in the environment may
 * name a lesser one, for tests. */
const char *lacis_mul_isa(void);

#endif
