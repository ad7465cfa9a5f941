/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend.h - what operators, loaders and generators see of the engine (C17 only). An operator is one
 * `static const lacis_op`, a loader one `static const lacis_loader`; the parser, completion, help, planner
 * and EXPLAIN work from these descriptors alone.
 *
 * Errors: the function that finds one calls lacis_run_fail (which remembers code, message, place and hint)
 * and returns its code; everybody else passes the code on. LACIS_TRY does that.
 */
#ifndef LACIS_EXTEND_H
#define LACIS_EXTEND_H

#include "lacis.h"

#include <stdbool.h>
#include <stdio.h>

#define LACIS_TRY(call)                                                                                              \
    do {                                                                                                             \
        lacis_status lacis_try_status_ = (call);                                                                     \
        if (lacis_try_status_ != LACIS_OK) return lacis_try_status_;                                                 \
    } while (0)

#define LACIS_COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* --------------------------------------------------------------------------------------------- run */

/* One execution: where it reports errors, notes and progress, takes memory, and learns that it should
 * stop. Only the thread that started the run may call lacis_run_fail, _note and _progress; worker threads
 * return a code. */
typedef struct lacis_run lacis_run;

LACIS_API lacis_status lacis_run_fail(lacis_run *run, lacis_status code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same with a byte offset in the statement (-1: none) and a hint (NULL: none). */
LACIS_API lacis_status lacis_run_fail_at(lacis_run *run, lacis_status code, int64_t offset, const char *hint,
                                         const char *format, ...) __attribute__((format(printf, 5, 6)));
LACIS_API void lacis_run_note(lacis_run *run, lacis_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Cheap; to be asked every few thousand steps, from any thread. */
LACIS_API bool lacis_run_cancelled(const lacis_run *run);
/* The code of a cancelled run, with its message. */
LACIS_API lacis_status lacis_run_interrupted(lacis_run *run);
LACIS_API void lacis_run_progress(lacis_run *run, const char *phase, double fraction);
/* The same with counts, which are shown with their rate: "SWEEP 8400 of 20000 steps, 2700/s". all <= 0: the end is
 * not known. unit is a constant; "bytes" become MB. */
LACIS_API void lacis_run_advance(lacis_run *run, const char *phase, double done, double all, const char *unit);
LACIS_API int lacis_run_threads(const lacis_run *run);        /* SET threads */
LACIS_API bool lacis_run_deterministic(const lacis_run *run); /* SET deterministic */
/* EXPLAIN ANALYZE runs it: times of single parts are worth having even where taking them costs some. */
LACIS_API bool lacis_run_timed(const lacis_run *run);
/* A figure for EXPLAIN ANALYZE ("rows dense", 120). Adds up under one name. */
LACIS_API void lacis_run_count(lacis_run *run, const char *what, double figure);

/* Memory. All of it counts against memory_limit: a request beyond it fails with LACIS_LIMIT and a message,
 * as does LACIS_NOMEM. Blocks are 64-byte aligned and not cleared. Any thread may allocate (the _quiet
 * form, which reports nothing and returns NULL); bytes == 0 gives a block all the same. */
LACIS_API lacis_status lacis_run_alloc(lacis_run *run, uint64_t bytes, void *out_pointer);
LACIS_API void *lacis_run_alloc_quiet(lacis_run *run, uint64_t bytes);
LACIS_API void lacis_run_free(lacis_run *run, void *block); /* NULL is fine */
/* Memory that the run itself frees at its end: small things with the life of a call. Not for threads. */
LACIS_API lacis_status lacis_run_scratch(lacis_run *run, uint64_t bytes, void *out_pointer);
LACIS_API char *lacis_run_text(lacis_run *run, const char *format, ...) /* in scratch; NULL: no memory */
    __attribute__((format(printf, 2, 3)));
LACIS_API uint64_t lacis_run_memory_left(const lacis_run *run); /* of memory_limit */
/* Of what lacis_buffer_reserve will hand out next, so many bytes have pages already. */
LACIS_API uint64_t lacis_run_memory_warm(const lacis_run *run);

/* Runs fn(context, task) for task = 0 .. tasks-1 over the threads of the run, each thread taking the next
 * task that is left; returns the first code that is not LACIS_OK (remaining tasks are then skipped) or
 * LACIS_INTERRUPT where the run was cancelled. `worker` is 0 .. lacis_run_threads-1. */
typedef lacis_status (*lacis_task_fn)(void *context, int64_t task, int worker);
LACIS_API lacis_status lacis_run_parallel(lacis_run *run, int64_t tasks, lacis_task_fn fn, void *context);

/* ------------------------------------------------------------------------------------------ buffers */

/* Counted memory that parts of arrays point into. */
typedef struct lacis_buffer lacis_buffer;
LACIS_API lacis_status lacis_buffer_new(lacis_run *run, uint64_t bytes, lacis_buffer **out);
/* Address space for up to `bytes`, of which pages are taken when first touched (huge pages where there
 * are any); pages may be used ones, with anything in them. Nothing is charged to memory_limit until
 * lacis_buffer_charge says how much is in use; call that as the use grows, from any thread. lacis_buffer_trim says
 * that nothing of any buffer is used behind `bytes`, and gives back whole pages of reserved ones. */
LACIS_API lacis_status lacis_buffer_reserve(lacis_run *run, uint64_t bytes, lacis_buffer **out);
LACIS_API lacis_status lacis_buffer_charge(lacis_buffer *buffer, uint64_t more);
LACIS_API void lacis_buffer_trim(lacis_buffer *buffer, uint64_t bytes);
/* Foreign memory: release(arg) is called when the last holder lets go. */
LACIS_API lacis_status lacis_buffer_wrap(lacis_run *run, const void *data, uint64_t bytes, lacis_release_fn release,
                                         void *arg, lacis_buffer **out);
LACIS_API void *lacis_buffer_data(const lacis_buffer *buffer);
LACIS_API uint64_t lacis_buffer_size(const lacis_buffer *buffer);
LACIS_API lacis_buffer *lacis_buffer_retain(lacis_buffer *buffer);
LACIS_API void lacis_buffer_release(lacis_buffer *buffer); /* NULL is fine */

/* ------------------------------------------------------------------------------------------- arrays */

/* An array is built part by part and then left alone. A part shares its buffer: `offset` bytes in, `count`
 * elements; the array retains the buffer, the caller keeps its own hold. Names are copied. */
LACIS_API lacis_status lacis_array_new(lacis_run *run, lacis_kind kind, lacis_dtype dtype, int64_t extent0,
                                       int64_t extent1, lacis_array **out);
LACIS_API lacis_status lacis_array_add(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype,
                                       int64_t count, lacis_buffer *buffer, uint64_t offset);
/* The label of index 0 where a dimension has no labels part: ids are base, base + 1 ... */
LACIS_API void lacis_array_set_base(lacis_array *array, int dimension, int64_t base);
LACIS_API int64_t lacis_array_base(const lacis_array *array, int dimension);
LACIS_API lacis_array *lacis_array_retain(const lacis_array *array);
/* The part of that name, or NULL. */
LACIS_API const lacis_part *lacis_array_part_named(const lacis_array *array, const char *name);
LACIS_API lacis_buffer *lacis_array_part_buffer(const lacis_array *array, const char *name, uint64_t *offset);
/* The same where the caller's hold of the array is the only one, and the array's of the buffer, whose memory is the
 * engine's: a computed operand that nobody else will ever see. Its bytes may then be overwritten, after
 * lacis_buffer_change, which gives up copies of them on devices. NULL otherwise. */
LACIS_API lacis_buffer *lacis_array_part_own(const lacis_array *array, const char *name, uint64_t *offset);
LACIS_API void lacis_buffer_change(lacis_buffer *buffer);
/* No other buffer of this process has it or had it, nor this one after a change. */
LACIS_API uint64_t lacis_buffer_serial(const lacis_buffer *buffer);
LACIS_API uint64_t lacis_array_bytes(const lacis_array *array); /* sum of its parts in use */
/* csr: entries; vector: values; table: rows; batch: elements; symmetric: elements of the stored triangles;
 * bodies: their number; grid: cells */
LACIS_API int64_t lacis_array_entries(const lacis_array *array);

/* A CSR array taken apart. Row r is [begin[r], end[r]); rows may lie anywhere and in any order ("loose")
 * but never overlap; columns rise within a row, each at most once. A label pointer is NULL where labels are
 * base + index. Labels rise. storage is how values lie in memory, dtype what they mean: a count (I64)
 * may be stored as U8, U16, U32, an I64 as I32. */
typedef struct lacis_csr {
    int64_t rows, cols, entries;
    const int64_t *begin, *end;
    const uint32_t *column;
    const void *value;
    lacis_dtype storage, dtype;
    const int64_t *row_label, *col_label;
    int64_t row_base, col_base;
} lacis_csr;
LACIS_API void lacis_csr_view(const lacis_array *array, lacis_csr *out);

/* Builds a CSR array from buffers. offsets: rows + 1 (I64) where end_buffer is NULL, else begin and end of
 * `rows` each. values may be NULL with LACIS_PATTERN. Labels may be NULL. All buffers are retained. */
typedef struct lacis_csr_parts {
    int64_t rows, cols, entries;
    lacis_buffer *begin, *end, *columns, *values, *row_labels, *col_labels;
    lacis_dtype storage, dtype;
    int64_t row_base, col_base;
} lacis_csr_parts;
LACIS_API lacis_status lacis_csr_new(lacis_run *run, const lacis_csr_parts *parts, lacis_array **out);

#include "lacis_extend_batch.h"
#include "lacis_extend_bodies.h"
#include "lacis_extend_grid.h"
#include "lacis_extend_save.h"
#include "lacis_extend_symmetric.h"

LACIS_API int64_t lacis_label(const int64_t *labels, int64_t base, int64_t index);
/* Index of a label, or -1. */
LACIS_API int64_t lacis_label_find(const int64_t *labels, int64_t base, int64_t count, int64_t label);
/* Index of the first label >= `label`; count where there is none. */
LACIS_API int64_t lacis_label_lower(const int64_t *labels, int64_t base, int64_t count, int64_t label);

/* Element `index` of storage as an integer or a real (the real part of a complex number, hi + lo of dd). */
LACIS_API int64_t lacis_value_int64(const void *data, lacis_dtype storage, int64_t index);
LACIS_API double lacis_value_double(const void *data, lacis_dtype storage, int64_t index);
/* Copies count values from one storage type to another (PATTERN reads as 1). */
LACIS_API void lacis_values_convert(const void *from, lacis_dtype from_type, int64_t first, int64_t count, void *to,
                                    lacis_dtype to_type);

/* Formats with the fewest digits that read back as the same number; text holds LACIS_NUMBER_TEXT bytes. */
#define LACIS_NUMBER_TEXT 40
LACIS_API void lacis_format_double(double value, char *text);
LACIS_API void lacis_format_float(float value, char *text);
/* Double-double numbers as text, 32 digits and more where those do not read back as the same two doubles (but not
 * more than 60); text holds LACIS_DD_TEXT bytes. Complex ones as complex(re, im), LACIS_CDD_TEXT bytes. */
#define LACIS_DD_TEXT  80
#define LACIS_CDD_TEXT (2 * LACIS_DD_TEXT + 12)
LACIS_API void lacis_format_dd(double hi, double lo, char *text);
LACIS_API void lacis_format_cdd(const double *value, char *text);
/* The double-double number nearest to a decimal one ([+-]digits[.digits][e[+-]digits], inf, nan; Fortran's d for e);
 * false: it is none.
 */
LACIS_API bool lacis_parse_dd(const char *text, size_t length, double *hi, double *lo);

/* --------------------------------------------------------------------------------------------- GPU */

#include "lacis_extend_gpu.h" /* apart only for its length */

/* ------------------------------------------------------------------------------- user functions */

#include "lacis_extend_expr.h" /* apart only for its length */

/* ---------------------------------------------------------------------------------------- operators */

/* What may stand behind a keyword, as a pattern of words and items:
 *   %a an array: a name, a literal vector or (call)      %e an expression over `slots`
 *   %f an expression over free names with offsets: u[1,0] (lacis_expr_slots); `slots`: names to complete
 *   %i an integer     %r a real number     %n a name     %s a string     %g an aggregate
 *   %z a number that may be complex: as %r, or complex(re, im)     %v a number (text not NULL), or an array
 *   %p a place: a name or a string (as text), or an integer (text NULL)
 *   %l a layout of a batch: flat, full, block(lanes)     %k the same, or packed, of a symmetric matrix
 *   WORD a keyword that must stand there   A|B|C one of these words   [A|B|C] one of them, or none
 *   [WORD ... %x ...] a group that may stand there, and does where its word does. It may begin with an item too: it
 *     stands where that can begin, a name only with the word of the group behind it, if there is one. Items yield to
 *     the operator's keywords and ON, which names must be quoted to be.
 *   {WORD ...|WORD ...} one of these, by their first words (A|B within one is {A|B})
 *   ,... at the end: the whole again behind a comma, as an argument of its own
 * Examples: "%a"; "[NOT] %a"; "%n %r FROM %r TO %r"; "%n = %a ,..."; "[%n =] %f"; "max|sum < %r [EVERY %i]";
 * "[left|right] {fixed [%v]|free}"; "STABLE"; "" (a bare flag).
 * A parameter without keyword is the operand right behind the verb. */
typedef struct lacis_param {
    const char *keyword;
    const char *form;
    const char *slots; /* for %e: "a,b,s,c,t" */
    bool required, repeated;
    const char *help; /* one line */
} lacis_param;

enum { LACIS_ITEMS = 8 };
/* What the parser found for one item of a form. */
typedef struct lacis_item {
    int64_t offset;   /* in the statement */
    int64_t integer;  /* %i; index of the word for A|B|C, of the arm for {...}; for [A|B|C] that + 1, or 0; 1 where a
                         group stands; %l, %k as in lacis_batch.block, or LACIS_LAYOUT_PACKED */
    double real;      /* %r, %z, %v */
    double imag;      /* %z */
    double wide[4];   /* %r, %z to all their digits: real high, real low, imaginary high, imaginary low */
    const char *text; /* %n, %s, %p; %r, %z, %v: as written */
    lacis_expr *expr; /* %e, %f */
    lacis_agg *agg;   /* %g */
    /* %a, %v: after planning the array; a name until then */
    lacis_array *array;
    bool partial; /* %a, %v: array lacks rows that nobody wants */
    const char *name;
    struct lacis_call *call; /* %a, %v: a nested call */
} lacis_item;
typedef struct lacis_arg {
    int param;
    int64_t offset;
    /* In the order of the form: items, A|B|Cs, for each group and each {...} one and then those in it; the arms of
     * {...} share places. */
    lacis_item item[LACIS_ITEMS];
} lacis_arg;

/* What SQL wants of a lazy result: rows whose label lies in lo..hi and, where list is given, in it; of
 * each row the entries whose second column lies in lo1..hi1, and of those the `top` greatest values
 * (0: all). An operator may ignore the second column's range (but says so in its result's filter). */
typedef struct lacis_restriction {
    int64_t lo, hi;
    const int64_t *list; /* rising; NULL: none */
    int64_t count;
    int64_t lo1, hi1;
    int64_t top;
    bool third;       /* of a grid: only cells whose third column lies in lo2..hi2 */
    int list_column;  /* of a grid: the column that list is about; 0 of all others */
    int64_t lo2, hi2; /* where third is set */
} lacis_restriction;

/* Sums over all rows of a result, for SELECT count(*), sum(value) ... without visiting rows one by one. */
typedef struct lacis_totals {
    int64_t count;
    bool integer;  /* values are integers: sum_int, min_int, max_int hold */
    bool overflow; /* sum_int would not fit */
    int64_t sum_int, min_int, max_int;
    __int128 exact;                             /* the sum that sum_int is of */
    double sum, min, max;                       /* hold for integers too */
    int64_t nan;                                /* values that are not numbers: NULL to SQL, in count alone */
    int64_t min_src, max_src, min_dst, max_dst; /* labels; key columns of the kind */
    __int128 sum_src, sum_dst;
} lacis_totals;
LACIS_API void lacis_totals_init(lacis_totals *totals);
LACIS_API lacis_status lacis_totals_add(lacis_run *run, const lacis_array *array, lacis_totals *totals);
/* Adds what other rows came to; then, once all are in, what the integer and the real fields say of each other. */
LACIS_API void lacis_totals_merge(lacis_totals *to, const lacis_totals *from);
LACIS_API void lacis_totals_settle(lacis_totals *totals, bool integer);

typedef enum lacis_device { LACIS_CPU, LACIS_GPU } lacis_device;
typedef enum lacis_placement { LACIS_ON_AUTO, LACIS_ON_CPU, LACIS_ON_GPU } lacis_placement;

typedef struct lacis_op lacis_op;
typedef struct lacis_variant lacis_variant;

/* A column of a result, as SQL sees it. */
typedef struct lacis_column {
    const char *name;
    bool real; /* otherwise an integer */
} lacis_column;

/* A call of an operator, from parsing to running. */
typedef struct lacis_call {
    const lacis_op *op;
    lacis_arg *args;
    int arg_count;
    lacis_placement on;
    int64_t offset;                       /* of the verb */
    const lacis_restriction *restriction; /* NULL: everything is wanted */
    /* Set by bind: */
    lacis_kind kind; /* of the result */
    lacis_dtype dtype;
    int64_t extent[3]; /* of a grid along x, y and z, 0 beyond its dimensions; of others two as lacis_array_create has
                          them */
    bool totals;       /* only totals are wanted, before bind: the result is not copied anywhere */
    const lacis_column *column; /* of a table, the fields of a batch or grid, or of bodies the columns behind vz (eps,
                                 * ax, ay, az, phi in this order); static or in scratch. NULL: those that the kind has
                                 * (batch, grid: value) */
    int columns;
    const char *layout; /* of a batch, as lacis_batch_layout_text gives it; NULL: not said */
    int64_t units;      /* rows, lanes ... into which the work can be cut */
    bool closely; /* set by the planner: costs are for people to read, or memory is short; else quick ones will do */
    const struct lacis_profile *profile; /* set by the planner before it asks who can; NULL: nothing is known */
    void *work;                          /* the operator's own, in the run's scratch */
    /* The engine's, where there are other ranks to be told: the call as it was written. */
    const char *text;
    const struct lacis_bindings *bindings;
} lacis_call;

/* The argument for the parameter `keyword` (NULL: the operand), or NULL. */
LACIS_API const lacis_arg *lacis_call_arg(const lacis_call *call, const char *keyword);

/* Estimates, before anything runs. Negative: not known. */
typedef struct lacis_cost {
    double seconds;
    double products;   /* elementary operations, as lacis_op.work calls them */
    double entries;    /* of the result */
    double bytes;      /* of the result */
    double peak_bytes; /* held at most besides the operands */
    double once;       /* of the seconds, what a later run will not take: starting a device, compiling */
    const char *kind;  /* of work: what a run teaches holds for it ("count"); NULL: all are alike */
} lacis_cost;

/* Named figures of this machine (nanoseconds, bytes a second ...), measured by CALIBRATE. A profile that is NULL has
 * none. */
typedef struct lacis_profile lacis_profile;
LACIS_API double lacis_profile_get(const lacis_profile *profile, const char *name, double otherwise);
/* The profile, or NULL where its figures were measured on another GPU. gpu NULL: not started, they are taken to hold.
 */
LACIS_API const lacis_profile *lacis_gpu_figures(const lacis_gpu *gpu, const lacis_profile *profile);
LACIS_API lacis_status lacis_profile_set(lacis_profile *profile, const char *name, double value);

/* Text tables for EXPLAIN: lines are free text, indented by the engine. */
typedef struct lacis_lines lacis_lines;
LACIS_API lacis_status lacis_lines_add(lacis_lines *lines, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same types and instruction sets in words, for whoever reads a plan for the first time: "64-bit integers" for
 * LACIS_I64, "AVX-512" for the kernels' name avx512. */
LACIS_API const char *lacis_dtype_words(lacis_dtype dtype);
LACIS_API const char *lacis_isa_words(const char *name);

#include "lacis_extend_tune.h"

struct lacis_variant {
    const char *name; /* "rows", "panel-hash" */
    lacis_device device;
    const char *summary;
    /* Whether it can run this call; where not, why, in `reason`. NULL: always. */
    bool (*can)(const lacis_call *call, char *reason, size_t size);
    /* LACIS_UNSUPPORTED with the reason: it cannot after all. */
    lacis_status (*cost)(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out);
    /* Computes units [begin, end) into *out: an array of the call's kind that holds these units (or all, with the
     * others empty); its labels or base say which they are. A variant that finds only now that it cannot (a GPU full
     * or lost) answers LACIS_UNSUPPORTED with the reason; without ON the next best variant is taken, and the user
     * told. */
    lacis_status (*run)(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out);
    bool ranks; /* deals the work over other ranks: only offered where there are some */
    /* Of those whose pieces work together (lacis_deal.together): what other ranks do with their piece. */
    lacis_status (*together)(lacis_run *run, const lacis_call *call);
    /* NULL, or the totals of units [begin, end) added to *totals without an array of them; answers as run does. */
    lacis_status (*totals)(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_totals *totals);
};

#include "lacis_extend_ranks.h"

struct lacis_op {
    const char *verb;            /* "MULTIPLY" */
    const char *summary;         /* one line */
    const char *help;            /* paragraphs for .help VERB: shapes, units, errors, the paper */
    const char *const *examples; /* NULL-terminated */
    const lacis_param *params;
    int param_count;
    /* Checks types and shapes, fills the call's lower half. Operand arrays are there. */
    lacis_status (*bind)(lacis_run *run, lacis_call *call);
    void (*unbind)(lacis_run *run, lacis_call *call); /* NULL, or frees what bind took outside scratch */
    /* The largest end so that the result of units [begin, end) surely takes no more than `bytes`; begin
     * where not even one unit fits. NULL: the work cannot be cut. */
    int64_t (*fit)(const lacis_call *call, int64_t begin, uint64_t bytes);
    /* What a result that is too large could be replaced by: "TOP k, WHERE src IN (...)". */
    const char *(*cheaper)(const lacis_call *call);
    /* What EXPLAIN calls the elementary operations that lacis_cost.products counts: "elements". NULL: products. */
    const char *work;
    /* More lines for EXPLAIN. NULL: none. */
    lacis_status (*explain)(lacis_run *run, const lacis_call *call, lacis_lines *lines);
    /* Measures the figures that its costs use. NULL: none. */
    lacis_status (*calibrate)(lacis_run *run, lacis_profile *profile);
    /* TUNE verb: measures its candidates and puts tables. NULL: it has nothing to tune. */
    lacis_status (*tune)(lacis_run *run, lacis_profile *profile, const lacis_tune_wish *wish);
    const lacis_variant *const *variants;
    int variant_count;
    /* Row i of a graph result needs row i of the operand alone: of a view in its place no other is computed. */
    bool row_by_row;
    /* Its verb may be left out where a call is sure to stand and one of its clauses follows the operand: x LAYOUT
     * full. */
    bool silent;
    /* Suffixes of the tables that its results may come with (lacis_array_attach), up to NULL: LET then looks before
     * it runs whether they can be entered. NULL: none. */
    const char *const *tables;
};

/* ----------------------------------------------------------------------------------------- loaders */

/* A file's bytes, mapped, or unpacked where it is gzip. */
typedef struct lacis_source {
    const char *path;
    const char *data;
    size_t size;
    bool packed; /* was gzip */
} lacis_source;

/* WITH (...) and generator options. */
typedef struct lacis_option_spec {
    const char *name;
    char form;             /* 's' string, 'b' true|false, 'i' integer, 'r' real, 'w' one of words */
    const char *words;     /* "sum|min|max": for 'w' */
    const char *otherwise; /* default as text; NULL: none, the option counts as absent */
    bool required;
    const char *help;
} lacis_option_spec;
typedef struct lacis_option_value {
    const lacis_option_spec *spec;
    bool given;
    int64_t integer; /* 'i', 'b' (0, 1), 'w' (index) */
    double real;
    const char *text; /* NULL: absent */
    int64_t offset;
} lacis_option_value;
typedef struct lacis_options {
    const lacis_option_value *value; /* one for each spec, in its order */
    int count;
} lacis_options;
LACIS_API const lacis_option_value *lacis_option(const lacis_options *options, const char *name);

typedef struct lacis_loader {
    const char *name; /* AS name: "snap", "mtx" */
    const char *summary;
    const char *extensions; /* ".mtx .mm", for SAVE and as a weak hint */
    const lacis_option_spec *options;
    int option_count;
    /* How sure the loader is that the content is its format: 0 .. 100. NULL: never by content. */
    int (*sniff)(const lacis_source *source);
    lacis_status (*load)(lacis_run *run, const lacis_source *source, const lacis_options *options, lacis_array **out);
    /* Writes the array to an open stream whose errors the engine checks afterwards. NULL: cannot save. */
    lacis_status (*save)(lacis_run *run, const lacis_array *array, FILE *file);
    /* The kinds that save takes, so that others are refused before a file is opened, or steps are taken whose results
     * cannot be kept. NULL: nothing is known, save says. */
    const lacis_holding *holds;
    int holdings;
    /* save may be called for one block of rows after the other; it writes its header at file position 0 only. */
    bool pieces;
    /* Several files at once (FROM a pattern, a folder or a list): load is called from several threads, each with a
     * run of its own, and join makes one array of what they gave, in the files' order. It may release pieces as it
     * goes (and set them to NULL); the engine releases the rest. NULL: one file at a time. A file for which load
     * answers LACIS_FORMAT or LACIS_IO is left out, unless option `strict` is set. */
    lacis_status (*join)(lacis_run *run, lacis_array **piece, int64_t pieces, lacis_array **out);
    /* What the SQL table <name>_files tells of each file besides: columns, and their values for what load gave. */
    const lacis_column *figure;
    int figures;
    lacis_status (*measure)(lacis_run *run, const lacis_array *piece, double *value);
    double growth; /* about how many bytes of an array a byte of a file makes; for estimates */
} lacis_loader;

typedef struct lacis_generator {
    const char *name; /* "rmat" */
    const char *summary;
    const lacis_option_spec *options; /* in the order in which values without names are taken */
    int option_count;
    lacis_status (*make)(lacis_run *run, const lacis_options *options, lacis_array **out);
} lacis_generator;

#endif
