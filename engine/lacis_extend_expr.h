/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_expr.h - user functions: expressions and aggregates that operators are given (part of lacis_extend.h,
 * which includes it).
 */
#ifndef LACIS_EXTEND_EXPR_H
#define LACIS_EXTEND_EXPR_H

/* A typed expression over the slots of an operator (CON, HAVING, WHERE ...), or over names that are free (STEP),
 * parsed by the engine. */
typedef struct lacis_expr lacis_expr;
LACIS_API lacis_dtype lacis_expr_dtype(const lacis_expr *expr); /* I64, F32, F64 or C128 after typing */
/* The canonical form: equal functions written differently mostly have equal texts ("a + b"). */
LACIS_API const char *lacis_expr_text(const lacis_expr *expr);
LACIS_API bool lacis_expr_uses(const lacis_expr *expr, int slot);
/* Where the names of an expression are free (%f), each distinct pair of a name and offsets is a slot, numbered as
 * they come: u[1,0] and v are two, u, u[0] and u[0,0] one. Names are the same in any case. */
enum { LACIS_EXPR_SLOTS = 1024, LACIS_EXPR_OFFSET = 100 }; /* the most of each */
typedef struct lacis_expr_slot {
    const char *name;  /* as it was first written, quotes undone */
    int offsets;       /* how many stood in [ ]: 0 .. 3, the most of all places */
    int64_t offset[3]; /* 0 where none stood */
    int64_t place;     /* in the statement: the first place with so many */
} lacis_expr_slot;
/* A name as it has to be written there: in quotes where it is a word of expressions or has blanks. In scratch. */
LACIS_API const char *lacis_expr_name(lacis_run *run, const char *name);
/* How many slots there are, and they. None where the operator named them (%e). */
LACIS_API int lacis_expr_slots(const lacis_expr *expr, const lacis_expr_slot **out);
/* Gives each slot its type (in the order of the parameter's slot list, or of lacis_expr_slots), checks, infers, folds
 * and canonicalises. A slot may be PATTERN, I32, I64, F32, F64, C64 or C128. */
LACIS_API lacis_status lacis_expr_type(lacis_run *run, lacis_expr *expr, const lacis_dtype *slots, int count);
/* Bounds of the result where slot i lies in [lo[i], hi[i]]; false where none can be given. Bounds of
 * integer expressions are exact or too wide, never too narrow. */
LACIS_API bool lacis_expr_bounds(const lacis_expr *expr, const double *lo, const double *hi, double *out_lo,
                                 double *out_hi);

/* An expression flattened into steps over strips of values; no compiler is needed and nothing is
 * dispatched per element. A program is read-only and shared by threads; each has its own workspace. */
typedef struct lacis_program lacis_program;
enum { LACIS_STRIP = 512 }; /* the longest strip */
/* One slot's values: a strip of its slot type, or one value for the whole strip. They are read where they lie and may
 * begin at any element of an array: the slots of u[-1] and u[1] point into one field. */
typedef struct lacis_strip {
    const void *data;
    bool constant;
} lacis_strip;
LACIS_API lacis_status lacis_program_new(lacis_run *run, const lacis_expr *expr, lacis_program **out);
LACIS_API void lacis_program_free(lacis_program *program);              /* NULL is fine */
LACIS_API size_t lacis_program_workspace(const lacis_program *program); /* bytes a thread needs */
/* Evaluates n <= LACIS_STRIP elements into out (of the expression's dtype). False: an integer step
 * overflowed or divided by zero somewhere in the strip. out may be a slot's strip whose elements have its size. */
LACIS_API bool lacis_program_run(const lacis_program *program, int n, const lacis_strip *slots, void *workspace,
                                 void *out);
/* The expression as text of a CUDA device function `name`(p0, p1 ..., int *bad) of its slots in their order, an
 * integer failure setting *bad; made from the tree, never from the user's text. In scratch. It calls functions whose
 * text lacis_expr_functions_text gives; before both stand what LACIS_DEVICE, lacis_high(a, b), LACIS_INFINITY and
 * LACIS_NAN are to the compiler. Complex numbers are lacis_c64 and lacis_c128 there. */
LACIS_API lacis_status lacis_expr_emit(lacis_run *run, const lacis_expr *expr, const char *name, const char **out);
LACIS_API const char *lacis_expr_functions_text(void);
/* Whether the typed expression is *constant + sum of weight[slot] slot: sums, differences and signs of slots times or
 * over constants. weight has an element for each slot; they are worked out in double from the constants as typing
 * left them. A slot may be used (lacis_expr_uses) and yet have weight 0, as u in u - u: dropping it would lose its
 * NaN. False as well where a weight is not finite, and of anything complex or integer. */
LACIS_API bool lacis_expr_affine(const lacis_expr *expr, double *constant, double *weight);
/* Whether the typed expression has the same bits on every device: nothing in it but operations that are exact or
 * rounded right (+ - * / % sqrt abs min max floor ceil round sign, comparisons, CASE, CAST, integers); exp, sin, pow
 * and the like are to a few units in the last place, and differ. */
LACIS_API bool lacis_expr_exact(const lacis_expr *expr);
/* A division of integers written out that loses its remainder, as in 1/4 * u: "1/4 divides integers and is 0: write
 * 1.0/4". NULL: there is none (or no memory). *place: in the statement. Typed or not. */
LACIS_API const char *lacis_expr_pitfall(lacis_run *run, const lacis_expr *expr, int64_t *place);
/* A WHERE predicate seen as a set of integers: if it says no more than that slot `slot` is in a list or a
 * range, fills *lo, *hi (inclusive) and, for a list, *list (rising, in the run's scratch) and *count. */
LACIS_API bool lacis_expr_integer_set(lacis_run *run, const lacis_expr *expr, int slot, int64_t *lo, int64_t *hi,
                                      const int64_t **list, int64_t *count);
/* The same of reals: if a predicate says no more than that slot `slot`, an f32 or f64, lies from *lo to *hi (ends
 * among it, NaN nowhere), fills them. *lo > *hi: it is never true. */
LACIS_API bool lacis_expr_interval(const lacis_expr *expr, int slot, double *lo, double *hi);

/* For hints of messages: the one of `names` that a misspelt word may mean, or NULL. */
LACIS_API const char *lacis_name_nearest(const char *word, const char *const *names, int count);

typedef enum lacis_agg_kind {
    LACIS_AGG_COUNT,
    LACIS_AGG_SUM,
    LACIS_AGG_MIN,
    LACIS_AGG_MAX,
    LACIS_AGG_ANY, /* one of the values */
    LACIS_AGG_AVG,
    LACIS_AGG_FIRST, /* in the order of c */
    LACIS_AGG_LAST,
    LACIS_AGG_FOLD /* written: (x, y) -> fold IDENTITY identity */
} lacis_agg_kind;
typedef struct lacis_agg {
    lacis_agg_kind kind;
    const char *text;   /* as EXPLAIN shows it */
    lacis_expr *fold;   /* FOLD: over slots x (what is there), y (the new value) */
    bool identity_real; /* FOLD: the identity's type and value; integers are exact, a complex one is real as well */
    bool identity_complex;
    int64_t identity_int;
    double identity, identity_imag;
    bool associative; /* declared, or found from the expression */
    int64_t offset;   /* in the statement */
} lacis_agg;

#endif
