/* SPDX-License-Identifier: Apache-2.0
 *
 * A generalized product on its way from operands to result: what MULTIPLY's bind, cost, explain and run share, and
 * POWER's rounds reuse. A spec says what is wanted; lacis_product_prepare turns it into a kernel job:
 *
 *     select.c   which rows of A                     align.c    A's columns onto B's rows, the mask onto both
 *     types.c    slots, CON, AGG, accumulators       range.c    smallest and largest values, for exact bounds
 *     convert.c  values in the type of the job       strips.c   written CON, fold and HAVING
 *     run.c      kernel, buffers                     result.c   arrays of what came out
 *     pull.c     graph BY vector                     cost.c     estimates from a sample of rows
 *     glance.c   estimates for a quick choice          having.c   HAVING on vectors from a GPU
 *
 * A vector is a matrix of one row (vector BY graph) or one column (graph BY vector).
 */
#ifndef LACIS_OPERATORS_PRODUCT_H
#define LACIS_OPERATORS_PRODUCT_H

#include "lacis_extend.h"

#include "multiply/multiply.h"

/* Labels of a dimension: label[i], or base + i where there are none. */
typedef struct lacis_labels {
    const int64_t *label;
    int64_t base, count;
} lacis_labels;

typedef enum lacis_product_shape {
    LACIS_PRODUCT_MATRIX,
    LACIS_PRODUCT_COLUMN, /* graph BY vector: labels are s */
    LACIS_PRODUCT_ROW     /* vector BY graph: labels are t */
} lacis_product_shape;

typedef struct lacis_product_spec {
    const char *verb; /* for messages */
    bool whole;       /* not a round of something larger, which reports progress itself */
    lacis_csr a, b, mask;
    lacis_product_shape shape;
    bool has_mask, mask_not;
    lacis_mul_con form; /* CON where con is NULL */
    lacis_expr *con;    /* over a, b, s, c, t */
    bool con_typed;     /* con and fold have their types from an earlier round, whose result a is */
    lacis_agg_kind agg;
    const lacis_agg *fold; /* LACIS_AGG_FOLD */
    lacis_dtype a_slot;    /* slot type of a where it is not that of the operand; LACIS_PATTERN: it is */
    lacis_expr *where, *having;
    const lacis_restriction *restriction;                            /* NULL: none */
    int64_t top;                                                     /* 0: none */
    int64_t a_offset, b_offset, mask_offset, con_offset, agg_offset; /* in the statement, for errors */
} lacis_product_spec;

/* What written functions need while a kernel runs. A copy with shifted `s` serves each panel. */
typedef struct lacis_strips {
    lacis_program *con, *fold, *having;
    lacis_mul_con form;                           /* CON where con is NULL: a + b, a * b with overflow found */
    lacis_dtype form_type;                        /* its type */
    lacis_dtype con_type, fold_type, having_type; /* what the programs give */
    lacis_dtype type, storage, value_type;        /* accumulators; result in memory; slot `value` */
    bool uses_c, uses_s, uses_t;                  /* of con */
    lacis_labels s, c, t;
    bool vector_row, vector_column; /* HAVING: src and dst both are the vector's label */
    size_t program_bytes;           /* of a worker's workspace, before the strips that follow */
    /* Whether HAVING says no more than that a value lies from low to high, of integers or of reals. */
    bool within;
    int64_t low, high;
    double low_real, high_real;
} lacis_strips;

enum { LACIS_PRODUCT_BLOCKS = 40 };
typedef struct lacis_product {
    lacis_product_spec spec;
    lacis_mul_job job; /* job.a: the selected rows only */
    lacis_mul_matrix mask;
    lacis_strips strips;
    lacis_labels s, c, t;  /* labels of job.a's rows, job.b's rows, the columns */
    lacis_csr a, b;        /* job.a and job.b with their values in storage type */
    bool all_rows;         /* every row of the operand, in its order */
    int64_t first_row;     /* of the operand, where rows are contiguous; -1: a list */
    const int64_t *t_list; /* ROW: only these labels (NULL: all) */
    int64_t t_count;
    lacis_program *t_where; /* ROW: a predicate over the label */
    int64_t t_top;          /* ROW: TOP of those labels, where there is a list or predicate; 0: none */
    lacis_dtype con_dtype;  /* of CON's values, in meaning */
    lacis_dtype dtype, storage;
    uint64_t *products; /* one a row */
    uint64_t total_products, total_degree;
    const char *alignment; /* for EXPLAIN */
    void *block[LACIS_PRODUCT_BLOCKS];
    int blocks;
    uint64_t block_bytes;
    struct lacis_estimate *estimate; /* cost.c, once asked for */
    struct lacis_glance *glance;     /* glance.c, likewise */
} lacis_product;

/* job.c */
lacis_status lacis_product_prepare(lacis_run *run, const lacis_product_spec *spec, lacis_product *out);
void lacis_product_clear(lacis_run *run, lacis_product *product);
/* Memory that lacis_product_clear frees. */
lacis_status lacis_product_alloc(lacis_run *run, lacis_product *product, uint64_t bytes, void *out_pointer);
/* The job for rows [begin, end) alone: its row 0 is `begin`. strips must stay while it is used. */
void lacis_product_panel(const lacis_product *product, int64_t begin, int64_t end, lacis_mul_job *job,
                         lacis_mul_matrix *mask, lacis_strips *strips);

/* operand.c: views of arrays. A table is LACIS_TYPE. */
lacis_status lacis_operand_csr(lacis_run *run, lacis_product *owner, const char *verb, const char *name,
                               const lacis_array *array, int64_t offset, bool as_row, lacis_csr *out);
lacis_labels lacis_labels_of_rows(const lacis_csr *csr);
lacis_labels lacis_labels_of_cols(const lacis_csr *csr);
static inline int64_t lacis_labels_at(const lacis_labels *labels, int64_t index)
{
    return labels->label == NULL ? labels->base + index : labels->label[index];
}
/* Labels from index `first` on. */
lacis_labels lacis_labels_from(const lacis_labels *labels, int64_t first, int64_t count);

/* select.c, align.c */
lacis_status lacis_product_select(lacis_run *run, lacis_product *product);
lacis_status lacis_product_align(lacis_run *run, lacis_product *product);
lacis_status lacis_product_mask(lacis_run *run, lacis_product *product);
/* Rows `begin`/`end` of csr copied one behind the other; columns through the labels where from and to differ
 * (`to` NULL: as they are), those that `to` lacks left out. */
lacis_status lacis_csr_compact(lacis_run *run, lacis_product *product, lacis_csr *csr, const lacis_labels *from,
                               const lacis_labels *to);

/* convert.c: values of csr as `type`; where they are already, nothing is copied. */
lacis_status lacis_product_values(lacis_run *run, lacis_product *product, const lacis_csr *csr, lacis_dtype type,
                                  lacis_mul_matrix *out);
/* B cut down to the rows that the selected rows of A reach. */
lacis_status lacis_product_gather(lacis_run *run, lacis_product *product);
/* Whether touching all of B would cost more than the product itself. */
bool lacis_product_small(const lacis_product *product);

/* types.c: before (types) and after (accumulators) the products are known. */
lacis_dtype lacis_dtype_unify(lacis_dtype x, lacis_dtype y);
lacis_dtype lacis_slot_dtype(lacis_dtype dtype); /* PATTERN reads as I64, C64 as C128 */
lacis_mul_type lacis_mul_type_of(lacis_dtype dtype);
lacis_mul_storage lacis_mul_storage_of(lacis_dtype storage);
/* Types WHERE or HAVING, which must not be complex. */
lacis_status lacis_condition_type(lacis_run *run, lacis_expr *condition, const lacis_dtype *slots, int count);
/* The built-in form of a typed expression, or LACIS_MUL_CON_STRIPS. */
lacis_mul_con lacis_con_form(const lacis_expr *con);
lacis_status lacis_product_types(lacis_run *run, lacis_product *product);
lacis_status lacis_product_accumulators(lacis_run *run, lacis_product *product);

/* range.c: known is false where a value is NaN. */
typedef struct lacis_range {
    bool known;
    double lo, hi;
} lacis_range;
lacis_status lacis_product_range(lacis_run *run, const lacis_product *product, bool of_b, lacis_range *out);

/* strips.c */
lacis_status lacis_product_strips(lacis_run *run, lacis_product *product);

/* run.c */
typedef struct lacis_product_result {
    int64_t rows;
    uint64_t entries, used;
    lacis_buffer *begin, *end, *column, *value;
    const uint32_t *row; /* COLUMN: which rows these are, from the first of the call on; NULL: all */
} lacis_product_result;
lacis_status lacis_product_run(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                               lacis_product_result *out);
void lacis_product_release(lacis_product_result *result);
/* For results that another device makes: buffers for rows [begin, end) by their bounds; room for `more` entries
 * behind result->used charged; what was not used given back. */
lacis_status lacis_product_buffers(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                                   lacis_product_result *result);
lacis_status lacis_product_charge(lacis_run *run, const lacis_product *product, lacis_product_result *result,
                                  uint64_t more);
void lacis_product_trim(const lacis_product *product, lacis_product_result *result);
/* Sum of the rows' bounds, with what kernels may write beyond. */
uint64_t lacis_product_room(const lacis_product *product, int64_t begin, int64_t end);
/* The end of the rows from `begin` on that keep to the limits by their bounds, and their products. */
int64_t lacis_product_within(const lacis_product *product, int64_t begin, int64_t end, const lacis_mul_limits *limits,
                             uint64_t *products);
uint64_t lacis_product_entry_bytes(const lacis_product *product);
/* LACIS_OVERFLOW, LACIS_LIMIT ... for what a kernel answered. */
lacis_status lacis_product_fail(lacis_run *run, const lacis_product *product, lacis_mul_status status);

/* pull.c: the same for graph BY vector with built-in functions, a value at a time. */
bool lacis_product_can_pull(const lacis_product *product, char *reason, size_t size);
/* Of collecting so many rows, with nothing around it. */
double lacis_pull_seconds(const lacis_product *product, const lacis_profile *profile, int64_t rows);
lacis_status lacis_product_pull(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                                lacis_product_result *out);

/* having.c: takes what HAVING does not keep out of a vector, rows [first, ...) of it, that came without. */
lacis_status lacis_product_sift(lacis_run *run, const lacis_product *product, int64_t first,
                                lacis_product_result *result);

/* result.c: the array of rows [begin, end), with their labels. Where col_labels is NULL the product's are copied. */
lacis_status lacis_product_array(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                                 const lacis_product_result *result, lacis_buffer *row_labels,
                                 lacis_buffer *col_labels, lacis_array **out);
/* The buffer of a labels part that can be shared whole, or NULL. */
lacis_buffer *lacis_labels_buffer(const lacis_array *array, const char *part);

/* cost.c */
typedef struct lacis_estimate {
    bool exact; /* every row was looked at */
    int64_t sampled;
    double entries, bound, seconds;
    double class_rows[LACIS_MUL_CLASSES], class_products[LACIS_MUL_CLASSES], class_seconds[LACIS_MUL_CLASSES];
} lacis_estimate;
lacis_status lacis_product_estimate(lacis_run *run, lacis_product *product, const lacis_profile *profile);
/* closely: from the estimate above; else, where there is none yet, at a glance. */
lacis_status lacis_product_cost(lacis_run *run, lacis_product *product, const lacis_profile *profile, bool closely,
                                lacis_cost *out);
/* Seconds that the processor takes at most, from the products alone: all rows in the class that takes longest, twice
 * as long as calibrated, every product an entry. */
double lacis_product_most_seconds(const lacis_product *product, const lacis_profile *profile);
lacis_status lacis_product_calibrate(lacis_run *run, lacis_profile *profile);
/* Seconds for pages of a result of so many bytes that nobody has touched yet. */
double lacis_product_touches(const lacis_run *run, double bytes, int threads);
/* Nanoseconds a product (threads not divided) of a class: kind 0 count, 1 built-in, 2 strips. */
enum { LACIS_PRODUCT_KINDS = 3 };
const char *lacis_product_figure(lacis_mul_class class, int kind);
int lacis_product_kind(const lacis_product *product);

/* Nanoseconds an entry of the graph for graph BY vector, threads not divided: its name, and what a row adds; and what
 * one thread does for a row before and behind, counting, making the result (as an Intel Xeon took). */
#define lacis_pull_figure "multiply.pull.entry_ns"
/* Bytes that all threads set in a second, beyond the caches. */
#define lacis_set_figure   "memory.set_bytes_a_second"
#define LACIS_PULL_ROW_NS  6.0
#define LACIS_PULL_HOST_NS 15.0
double lacis_product_now(void); /* seconds */

/* glance.c: rows of one entry of A and of more, by the power of two of their products, from rows looked at; entries
 * as they may be, or, once counted, as some rows had them. */
enum { LACIS_GLANCE_POWERS = 64 };
typedef struct lacis_glance {
    double rows[2][LACIS_GLANCE_POWERS], products[2][LACIS_GLANCE_POWERS];
    double least, most, entries;
    bool counted;
} lacis_glance;
lacis_status lacis_product_glance(lacis_run *run, lacis_product *product);
lacis_status lacis_product_glance_entries(lacis_run *run, lacis_product *product);

/* explain.c */
lacis_status lacis_product_explain(lacis_run *run, lacis_product *product, lacis_lines *lines);

#endif
