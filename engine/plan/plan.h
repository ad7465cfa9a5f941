/* SPDX-License-Identifier: Apache-2.0
 *
 * From a bound call to a plan: which variant on which device, whole or in blocks, and why. exec/ runs plans; EXPLAIN
 * prints them.
 */
#ifndef LACIS_PLAN_PLAN_H
#define LACIS_PLAN_PLAN_H

#include "core/run.h"

/* profile.c: named figures of this machine, and corrections learned from measured runs. */
struct lacis_profile {
    lacis_host *host;
    struct profile_entry *entry;
    int entries, room;
    bool learned;                    /* a correction has changed since the catalog was last told */
    struct lacis_tuned_entry *table; /* of TUNE */
    int tables, table_room;
    struct lacis_tune_kept *curve; /* of the TUNE that runs: tune_curves.c */
};
void lacis_profile_init(lacis_profile *profile, lacis_host *host);
void lacis_profile_clear(lacis_profile *profile);
typedef void (*lacis_profile_fn)(void *arg, const char *name, double value);
void lacis_profile_each(const lacis_profile *profile, lacis_profile_fn fn, void *arg);
/* Corrections fit the figures from which they were learned: back to 1. */
void lacis_profile_unlearn(lacis_profile *profile);
/* A number for a GPU and its driver: figures hold for those that they were measured on. */
#define LACIS_PROFILE_GPU "gpu.identity"
/* What CALIBRATE measures of its start and its copies. */
#define LACIS_PROFILE_GPU_START "gpu.start_seconds"
#define LACIS_PROFILE_UPLOAD    "gpu.upload_bytes_a_second"
#define LACIS_PROFILE_DOWNLOAD  "gpu.download_bytes_a_second"
double lacis_profile_gpu(const lacis_gpu *gpu);
/* A name for this processor, under which the catalog keeps figures. */
void lacis_profile_machine(char *text, size_t size);

/* tuning.c: the tables of lacis_extend_tune.h, and their text, which lacis_tuned_text writes and _read reads; false:
 * it is none. _restore answers LACIS_RANGE for such. */
enum { LACIS_TUNED_DEVICE = 128, LACIS_TUNED_TEXT = LACIS_TUNE_RANGES * (LACIS_TUNE_TEXT + 24) };
void lacis_tuned_device(const lacis_gpu *gpu, char *text); /* its name and driver */
void lacis_tuned_text(const lacis_tune_table *table, char *text);
bool lacis_tuned_read(const char *text, lacis_tune_table *table);
typedef lacis_status (*lacis_tuned_fn)(void *arg, const char *device, const char *name,
                                       const lacis_tune_table *table);
lacis_status lacis_tuned_each(const lacis_profile *profile, lacis_tuned_fn fn, void *arg);
lacis_status lacis_tuned_restore(lacis_profile *profile, const char *device, const char *name, const char *text);
void lacis_tuned_clear(lacis_profile *profile);

/* tune_curves.c: hands what lacis_tune_keep took to fn, by the names of their tables, until one fails; then none is
 * left. fn may be NULL. */
typedef lacis_status (*lacis_curves_fn)(void *arg, const char *name, lacis_array *table);
lacis_status lacis_tune_kept(lacis_profile *profile, lacis_curves_fn fn, void *arg);

/* What is wanted of the result. */
typedef enum lacis_purpose {
    LACIS_STORE, /* one array */
    LACIS_STREAM /* block after block; each is dropped before the next */
} lacis_purpose;

typedef struct lacis_candidate {
    const lacis_variant *variant;
    bool can, costed, fits;
    lacis_cost cost;
    char reason[200]; /* why it cannot, or why it was passed over */
} lacis_candidate;

enum { LACIS_CANDIDATES = 16 };
typedef struct lacis_plan {
    lacis_call *call;
    lacis_purpose purpose;
    lacis_candidate candidate[LACIS_CANDIDATES];
    int candidates;
    int chosen;
    uint64_t block_bytes; /* the budget of one block; UINT64_MAX: the whole result at once */
    char reason[200];
} lacis_plan;

/* Chooses for a bound call. Costs are estimated only when a choice hangs on them or `explain` asks.
 * LACIS_UNSUPPORTED with every variant's reason where none can run; LACIS_LIMIT, before anything runs, where a result
 * that must be stored surely does not fit. */
lacis_status lacis_plan_make(lacis_run *run, lacis_call *call, const lacis_profile *profile, lacis_purpose purpose,
                             bool explain, lacis_plan *out);

/* Runs the chosen variant. Where it finds that it cannot after all the next best one takes its place in the plan, and
 * a note says so; LACIS_UNSUPPORTED where none is left. */
lacis_status lacis_plan_run(lacis_run *run, lacis_plan *plan, int64_t begin, int64_t end, lacis_array **out);

/* The same for totals alone, by variants that have them. *done is false where the chosen one has none: nothing was
 * added. */
lacis_status lacis_plan_totals(lacis_run *run, lacis_plan *plan, int64_t begin, int64_t end, lacis_totals *totals,
                               bool *done);

/* Teaches the profile from a run that was predicted and measured. */
void lacis_plan_learn(lacis_profile *profile, const lacis_plan *plan, double seconds);

/* Lines of text, for EXPLAIN. */
struct lacis_lines {
    lacis_run *run; /* lines live in its scratch */
    const char **line;
    int count, room;
    int indent;
};
void lacis_lines_init(lacis_lines *lines, lacis_run *run);

/* The plan as text: result, estimates, candidates with cost and reason, the operator's own lines. */
lacis_status lacis_plan_explain(const lacis_plan *plan, lacis_lines *lines);
/* What really happened: seconds, peak, the run's counters, each beside its estimate. */
lacis_status lacis_plan_explain_actual(const lacis_plan *plan, double seconds, uint64_t peak, int64_t entries,
                                       uint64_t bytes, lacis_lines *lines);

#endif
