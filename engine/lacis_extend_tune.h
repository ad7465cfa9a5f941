/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_tune.h - the part of lacis_extend.h, which includes it, that is about tuning: an operator has several
 * candidates for one and the same work (tiles, kernels); TUNE measures them over sizes, and tables say which of them
 * serves from which size on. Tables hold for the GPU and driver that they were measured on, and are kept in the
 * catalog.
 */
#ifndef LACIS_EXTEND_TUNE_H
#define LACIS_EXTEND_TUNE_H

enum { LACIS_TUNE_RANGES = 12, LACIS_TUNE_TEXT = 64 };
typedef struct lacis_tune_range {
    int64_t from;                 /* up to where the next range begins; the first serves what is smaller as well */
    char choice[LACIS_TUNE_TEXT]; /* the candidate's name */
} lacis_tune_range;
typedef struct lacis_tune_table {
    int ranges;
    lacis_tune_range range[LACIS_TUNE_RANGES]; /* from rises */
} lacis_tune_table;

/* The table called `name` ("SYMV f64 LOWER") for the GPU and its driver; NULL: there is none, or no GPU. It may move
 * or change with the next TUNE. */
LACIS_API const lacis_tune_table *lacis_tuned(const lacis_profile *profile, const lacis_gpu *gpu, const char *name);
LACIS_API lacis_status lacis_tune_put(lacis_profile *profile, const lacis_gpu *gpu, const char *name,
                                      const lacis_tune_table *table);
/* The candidate's name for a size; "" where the table is NULL. */
LACIS_API const char *lacis_tune_choice(const lacis_tune_table *table, int64_t size);
/* The table for EXPLAIN; nothing where it is NULL. */
LACIS_API lacis_status lacis_tune_lines(lacis_lines *lines, const char *name, const lacis_tune_table *table);

/* A search over candidates, in two stages (after CUDA-xSYMV's ASPEN.K2): all candidates at a few sizes with few
 * repeats; then the handful that serves these sizes best, at all sizes, in shuffled order round after round, the
 * median of the rounds counting. Of neighbouring sizes those that one candidate serves become a range. The next range
 * takes another only where that gains over LACIS_TUNE_GAIN. */
#define LACIS_TUNE_GAIN 0.02
typedef struct lacis_tune_search {
    int candidates, sizes;
    const int64_t *size; /* rising */
    int ranges;          /* at most, up to LACIS_TUNE_RANGES, which 0 stands for */
    double seconds;      /* that it may take: stages are cut short, but one size is always seen through */
    /* Seconds of one run, the median of `runs`; negative: the candidate does not do that size. */
    lacis_status (*measure)(void *context, int candidate, int64_t size, int runs, double *seconds);
    const char *(*name)(void *context, int candidate, char *text); /* of LACIS_TUNE_TEXT bytes */
    double (*clock)(void *context);                                /* seconds; NULL: the machine's */
    void *context;
    const char *phase; /* for progress */
} lacis_tune_search;
/* What was measured in the second stage, in the run's scratch. */
typedef struct lacis_tune_curves {
    int sizes, hands;
    const int64_t *size;     /* rising */
    const double *seconds;   /* [size][hand]; negative: that candidate does not do that size */
    const char *const *name; /* of each hand */
} lacis_tune_curves;
typedef struct lacis_tune_report {
    int handful, sizes, rounds; /* of the second stage: candidates, sizes measured, whole rounds */
    int64_t measured;           /* how often measure was called */
    double seconds;
    lacis_tune_curves curves;
} lacis_tune_report;
/* LACIS_UNSUPPORTED where no candidate does any size. */
LACIS_API lacis_status lacis_tune_run(lacis_run *run, const lacis_tune_search *search, lacis_tune_table *out,
                                      lacis_tune_report *report);

/* For TUNE's end, which enters them as a table ("SYMV f64 LOWER": tuned_symv_f64_lower): n, and of each hand how many
 * times the best one's time it takes. Of a TUNE that fails nothing is entered. */
LACIS_API lacis_status lacis_tune_keep(lacis_run *run, lacis_profile *profile, const char *name,
                                       const lacis_tune_curves *curves);

/* What TUNE asks of an operator. */
typedef struct lacis_tune_wish {
    const char *type; /* behind TYPE; NULL: every one */
    int64_t type_offset;
    double seconds; /* for each table; 0: not said */
} lacis_tune_wish;

#endif
