/* SPDX-License-Identifier: Apache-2.0
 *
 * What NBODY and ACCELERATE have in common: a call as bind.c leaves it, what it is expected to cost (model.c,
 * cost.c), and the parts of its runs. Both verbs have the variants of variants.c and ranks.c; a run makes a system
 * (system.h) of the call's bodies, moves it (steps.c) or asks for its field (field.c), and reads the result off it.
 */
#ifndef LACIS_OPERATORS_NBODY_WORK_H
#define LACIS_OPERATORS_NBODY_WORK_H

#include "lacis_extend.h"
#include "nbody/nbody.h"

/* Columns of bodies, as kernels take them. */
enum {
    LACIS_NBODY_M,
    LACIS_NBODY_X,
    LACIS_NBODY_Y,
    LACIS_NBODY_Z,
    LACIS_NBODY_VX,
    LACIS_NBODY_VY,
    LACIS_NBODY_VZ,
    LACIS_NBODY_EPS,
    LACIS_NBODY_AX,
    LACIS_NBODY_AY,
    LACIS_NBODY_AZ,
    LACIS_NBODY_COLUMNS
};
extern const char *const lacis_nbody_column_name[LACIS_NBODY_COLUMNS];

/* Free points of ACCELERATE: of bodies, or columns of a table. */
typedef struct lacis_nbody_places {
    const lacis_array *array; /* NULL: there are none, the bodies themselves are meant */
    int64_t count;
    lacis_dtype dtype[3];
    const void *at[3]; /* x, y, z */
    const int64_t *id; /* NULL: base, base + 1 ... */
    int64_t base;
} lacis_nbody_places;

/* What a way would take, in seconds and bytes. */
typedef struct lacis_nbody_estimate {
    bool known;
    double evaluations, field, build, direct, copies, once; /* seconds of each evaluation; of direct sums; ... */
    double bytes;                                           /* of work memory, where the way runs */
} lacis_nbody_estimate;

typedef struct lacis_nbody_work {
    lacis_run *run;
    bool accelerate;
    lacis_nbody_type type;
    lacis_dtype dtype; /* of results */
    const lacis_array *array;
    lacis_bodies bodies;
    lacis_nbody_places places;
    double soften, g;
    bool common;           /* SOFTEN: one length for all, whatever the bodies say */
    lacis_nbody_rule rule; /* its way is the variant's */
    double error;          /* that ERROR asks for; 0: no ERROR */
    int64_t steps, every;
    double dt;
    const char *to; /* files of EVERY; NULL: none */
    bool potential;
    bool last;       /* a piece of another rank's: the accelerations are those of the time before */
    int64_t wanted;  /* of such a piece, the field of the first so many bodies; 0: of all */
    int64_t certify; /* bodies of the sample; 0: no certificate */
    lacis_nbody_estimate cpu[LACIS_NBODY_WAYS], gpu[LACIS_NBODY_WAYS];
} lacis_nbody_work;

/* --- bind.c, rule.c: what both verbs do with their clauses */
#define LACIS_NBODY_FIELD_PARAMS                                                                                     \
    {.keyword = "THETA",                                                                                             \
     .form = "%r",                                                                                                   \
     .help = "a cell of side l at distance d is taken as a whole where l < t d, about (0.5)"},                       \
        {.keyword = "ERROR",                                                                                         \
         .form = "%r",                                                                                               \
         .help = "99 % of the accelerations within this relative error: THETA or ALPHA and ORDER are sought"},       \
        {.keyword = "ORDER", .form = "MONOPOLE|QUADRUPOLE", .help = "of cells (quadrupole)"},                        \
        {.keyword = "OPENING",                                                                                       \
         .form = "GEOMETRIC|OFFSET|RELATIVE",                                                                        \
         .help = "when a cell is taken as a whole (geometric; with ALPHA: relative)"},                               \
        {.keyword = "ALPHA",                                                                                         \
         .form = "%r",                                                                                               \
         .help = "of OPENING relative: error of a cell, of the last acceleration"},                                  \
        {.keyword = "SOFTEN", .form = "%r", .help = "Plummer's length for all (each body's own eps, or 0)"},         \
        {.keyword = "G", .form = "%r", .help = "constant of gravitation (1)"},                                       \
        {.keyword = "POTENTIAL", .form = "", .help = "potentials as well: phi"},                                     \
    {                                                                                                                \
        .keyword = "TYPE", .form = "F32|F64|MIXED",                                                                  \
        .help = "of numbers (the bodies'); mixed: positions in f64, forces in f32"                                   \
    }
lacis_status lacis_nbody_bind_field(lacis_run *run, const lacis_call *call, lacis_nbody_work *work);
lacis_status lacis_nbody_bind(lacis_run *run, lacis_call *call);
/* The operand and the clauses of fields; the work is in call->work. */
lacis_status lacis_nbody_bind_bodies(lacis_run *run, lacis_call *call, bool accelerate, lacis_nbody_work **out);
/* A clause KEYWORD %r where it is there: finite, and at least (above: more than) `low`. */
lacis_status lacis_nbody_bind_real(lacis_run *run, const lacis_call *call, const char *keyword, double low,
                                   bool above, double *value);
lacis_status lacis_nbody_bind_whole(lacis_run *run, const lacis_call *call, const char *keyword, int64_t low,
                                    int64_t *value);
/* CERTIFY. */
lacis_status lacis_nbody_bind_certify(lacis_run *run, const lacis_call *call, lacis_nbody_work *work);

/* A start without columns: sizes and rule, for what kernels say of bytes. */
lacis_nbody_start lacis_nbody_start_of(const lacis_nbody_work *work, lacis_nbody_way way);
const char *lacis_nbody_type_name(lacis_nbody_type type);
const char *lacis_nbody_rule_text(lacis_run *run, const lacis_nbody_rule *rule);

/* --- columns.c: bodies to kernels' columns and back */
typedef struct lacis_nbody_input {
    const void *column[LACIS_NBODY_COLUMNS]; /* NULL: there is none */
    bool direct[LACIS_NBODY_COLUMNS];        /* it is the array's own memory */
    void *own;
} lacis_nbody_input;
/* Checks values, and takes them in the type of the run. */
lacis_status lacis_nbody_take(lacis_run *run, const lacis_nbody_work *work, lacis_nbody_input *out);
void lacis_nbody_give(lacis_run *run, lacis_nbody_input *input);
/* Bytes of its own that taking takes. */
uint64_t lacis_nbody_take_bytes(const lacis_nbody_work *work);
/* Bodies for a result at `time`, labels, masses and softening filled in. */
lacis_status lacis_nbody_new_bodies(lacis_run *run, const lacis_nbody_work *work, const lacis_nbody_input *input,
                                    double time, lacis_array **array, lacis_bodies *out);
double lacis_nbody_result_bytes(const lacis_nbody_work *work);
/* Points, in the type of the run: three columns behind each other. */
lacis_status lacis_nbody_take_places(lacis_run *run, const lacis_nbody_work *work, void **out);

/* THETA is the classical one, the side of a cube over its distance; kernels compare the radius of what is in it,
 * which is at most half the diagonal; of monopoles, whose errors have the longer tail, a little less. */
static inline double lacis_nbody_radius(const lacis_nbody_rule *rule)
{
    return rule->order == LACIS_NBODY_QUADRUPOLE ? 0.8660254037844386 : 0.82;
}

/* --- model.c: what trees take and how far off they are, as measured */
/* Pairs and cells a body, with one evaluation. */
double lacis_nbody_terms(const lacis_nbody_rule *rule, double n);
/* The 99th percentile of the relative error. */
double lacis_nbody_expected_error(const lacis_nbody_rule *rule);
/* The knob of a rule: theta, or alpha where it is RELATIVE. */
double lacis_nbody_knob(const lacis_nbody_rule *rule);
void lacis_nbody_fit_expansion(lacis_nbody_rule *rule);
void lacis_nbody_set_knob(lacis_nbody_rule *rule, double knob);
/* The knob with which so great an error is expected, and its bounds. */
void lacis_nbody_aim(lacis_nbody_rule *rule, double error);
double lacis_nbody_least_knob(const lacis_nbody_rule *rule), lacis_nbody_most_knob(const lacis_nbody_rule *rule);
/* By how much the error grows with the knob: error ~ knob^p. */
double lacis_nbody_power(const lacis_nbody_rule *rule);
/* The least error that sums in this type reach over so many bodies. */
double lacis_nbody_floor(lacis_nbody_type type);
enum { LACIS_NBODY_TRIES = 8, LACIS_NBODY_SAMPLE = 1000 }; /* of a search */

/* --- cost.c */
double lacis_nbody_evaluations(const lacis_nbody_work *work);
/* Of direct sums: certificates and searches. */
double lacis_nbody_direct_pairs(const lacis_nbody_work *work);
double lacis_nbody_products(const lacis_nbody_work *work, lacis_nbody_way way);
lacis_status lacis_nbody_cost(lacis_run *run, const lacis_call *call, lacis_nbody_way way,
                              const lacis_profile *profile, lacis_cost *out);
double lacis_nbody_cpu_seconds(const lacis_nbody_work *work, lacis_nbody_way way, const lacis_profile *profile,
                               double threads);
enum { LACIS_NBODY_PAIR, LACIS_NBODY_TERM_MONOPOLE, LACIS_NBODY_TERM_QUADRUPOLE, LACIS_NBODY_FIGURES };
const char *lacis_nbody_figure(lacis_nbody_type type, int what);
const char *lacis_nbody_build_figure(lacis_nbody_way way);
/* calibrate.c, gpu_calibrate.c */
lacis_status lacis_nbody_calibrate(lacis_run *run, lacis_profile *profile);
lacis_status lacis_nbody_gpu_calibrate(lacis_run *run, lacis_profile *profile);
/* Bodies of a Plummer sphere in doubles, behind each other as columns m, x, y, z. */
void lacis_nbody_sample_bodies(int64_t n, double *out);

/* --- gpu_cost.c */
bool lacis_nbody_gpu_can(const lacis_call *call, lacis_nbody_way way, char *reason, size_t size);
lacis_status lacis_nbody_gpu_cost(lacis_run *run, const lacis_call *call, lacis_nbody_way way,
                                  const lacis_profile *profile, lacis_cost *out);

/* --- explain.c */
lacis_status lacis_nbody_explain(lacis_run *run, const lacis_call *call, lacis_lines *lines);

lacis_status lacis_nbody_explain_ranks(lacis_run *run, const lacis_nbody_work *work, lacis_lines *lines);

/* --- variants.c, ranks.c */
enum { LACIS_NBODY_VARIANTS = 8 };
extern const lacis_variant lacis_nbody_ranks, lacis_nbody_ranks_gpu;
extern const lacis_variant *const lacis_nbody_variants[LACIS_NBODY_VARIANTS];

#endif
