/* SPDX-License-Identifier: Apache-2.0
 *
 * TUNE SYMV: every candidate of a type timed on the GPU by the search of lacis_extend_tune.h, for both triangles, and
 * for each way in which columns may begin. Matrices lie in a pool of random numbers and rotate, so that no cache
 * holds them.
 */
#include "symv/tune.h"
#include "symv/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const type_name[LACIS_SYMV_TYPES] = {"f32", "f64",     "c64",    "c128",  "dd",
                                                        "cdd", "f32_f64", "f32_dd", "f64_dd"};

/* Where columns begin, which decides how fast they are read and by whom: all at multiples of a line of memory, at
 * multiples of what kernels read at once, or anywhere. */
enum { PIECE = 16, LINE = 128 };
enum { BY_LINES, BY_PIECES, ANYWHERE, WAYS };
static const char *const way_name[WAYS] = {"", " by 16", " unaligned"};

static int way_of(const lacis_symv_job *job)
{
    const int64_t bytes = lacis_symv_matrix_bytes(job->type), ld = job->one == NULL ? job->ld : job->one->ld;
    if (bytes % PIECE == 0) return job->packed || ld * bytes % LINE != 0 ? BY_PIECES : BY_LINES;
    if (job->packed || (uintptr_t)job->a % PIECE != 0 || ld * bytes % PIECE != 0) return ANYWHERE;
    return ld * bytes % LINE == 0 ? BY_LINES : BY_PIECES;
}

static const char *table_name(const lacis_symv_job *job, char *text)
{
    snprintf(text, LACIS_TUNE_TEXT, "SYMV %s %s%s", type_name[job->type],
             job->uplo == LACIS_SYMV_LOWER ? "LOWER" : "UPPER", way_name[way_of(job)]);
    return text;
}

lacis_status lacis_symv_explain_tuned(lacis_lines *lines, const lacis_profile *profile, const lacis_gpu *gpu,
                                      const lacis_symv_job *job)
{
    char name[LACIS_TUNE_TEXT];
    table_name(job, name);
    return lacis_tune_lines(lines, name, lacis_tuned(profile, gpu, name));
}

#ifdef LACIS_GPU_KERNELS

#include "symv/measure.h"

enum { STRETCH = 1 << 20, UNCOUNTED = 2, SIZES = 48 }; /* STRETCH: numbers made on the host */
static const uint64_t ROTATE = (uint64_t)512 << 20, ALIGNMENT = 256;
static const int64_t LEAST = 32, MOST = 16384;
static const double SECONDS = 30; /* a table, where it is not said */

bool lacis_symv_tuned(const lacis_profile *profile, const lacis_gpu *gpu, const lacis_symv_gpu_job *job,
                      lacis_symv_gpu_choice *out)
{
    char name[LACIS_TUNE_TEXT];
    lacis_symv_gpu_job with = *job;
    if (job->job.matrices != 1 || job->job.sides != 1) return false;
    const lacis_tune_table *table = lacis_tuned(profile, gpu, table_name(&job->job, name));
    const int64_t n = job->job.one == NULL ? job->job.n : job->job.one->n;
    if (table == NULL || !lacis_symv_gpu_choice_read(lacis_tune_choice(table, n), out)) return false;
    with.choice = out;
    return lacis_symv_gpu_refuses(&with) == NULL;
}

struct tuning {
    lacis_run *run;
    lacis_gpu *gpu;
    lacis_symv_clock *clock;
    const lacis_symv_gpu_choice *candidate;
    lacis_symv_gpu_job job; /* a: the pool */
    int64_t less;           /* a size stands for n smaller by so much, so that columns begin as they should */
    uint64_t pool;          /* bytes */
    void *x, *y;
};

/* ----------------------------------------------------------------------------------------- operands */

/* Between -1 and 1, as floats or doubles: what double-double numbers are made of need not be in order for timing. */
static void draw(double *values, bool single)
{
    uint64_t state = 1;
    float *narrow = (float *)values;
    for (int i = 0; i < (single ? 2 : 1) * STRETCH; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        double value = 2 * ((double)(state >> 11) / 9007199254740992.0) - 1;
        if (single) narrow[i] = (float)value;
        if (!single) values[i] = value;
    }
}

static lacis_status send(struct tuning *t, const double *values, void *to, uint64_t bytes)
{
    const uint64_t stretch = sizeof *values * STRETCH;
    for (uint64_t at = 0; at < bytes; at += stretch) {
        if (lacis_run_cancelled(t->run)) return lacis_run_interrupted(t->run);
        uint64_t part = bytes - at < stretch ? bytes - at : stretch;
        LACIS_TRY(lacis_gpu_upload(t->run, t->gpu, values, part, (char *)to + at));
    }
    return LACIS_OK;
}

/* The largest n whose matrix takes no more than half of what is left. */
static int64_t largest(const struct tuning *t, lacis_symv_type type)
{
    const uint64_t left = lacis_gpu_memory_left(t->gpu) / 2, size = (uint64_t)lacis_symv_matrix_bytes(type);
    int64_t n = MOST;
    while (n > LEAST && (uint64_t)n * (uint64_t)n * size > left)
        n /= 2;
    return n;
}

static lacis_status take_operands(struct tuning *t, lacis_symv_type type, int64_t most)
{
    const uint64_t matrix = (uint64_t)lacis_symv_matrix_bytes(type) * (uint64_t)most * (uint64_t)most;
    const uint64_t vector = (uint64_t)lacis_symv_vector_bytes(type) * (uint64_t)most;
    double *values;
    const uint64_t left = lacis_gpu_memory_left(t->gpu) / 2;
    t->pool = ROTATE < left ? ROTATE : left;
    if (t->pool < matrix) t->pool = matrix;
    t->job.job.a = lacis_gpu_alloc(t->gpu, t->pool);
    t->x = lacis_gpu_alloc(t->gpu, vector);
    t->y = lacis_gpu_alloc(t->gpu, vector);
    if (t->job.job.a == NULL || t->x == NULL || t->y == NULL)
        return lacis_gpu_no_room(t->run, t->gpu, "matrices for tuning");
    LACIS_TRY(lacis_run_alloc(t->run, sizeof *values * STRETCH, &values));
    draw(values, lacis_symv_matrix_bytes(type) == 4 || type == LACIS_SYMV_C64);
    lacis_status status = send(t, values, (void *)t->job.job.a, t->pool);
    draw(values, type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64);
    if (status == LACIS_OK) status = send(t, values, t->x, vector);
    lacis_run_free(t->run, values);
    return status;
}

static void give_operands(struct tuning *t)
{
    lacis_gpu_free(t->gpu, (void *)t->job.job.a);
    lacis_gpu_free(t->gpu, t->x);
    lacis_gpu_free(t->gpu, t->y);
    t->job.job.a = t->x = t->y = NULL;
}

/* -------------------------------------------------------------------------------------------- times */

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* One batch behind a hold; *fits: false where the device does not do it after all. */
static int batch(struct tuning *t, lacis_symv_gpu_job *job, int runs, double *seconds, bool *fits)
{
    const uint64_t size = (uint64_t)lacis_symv_matrix_bytes(job->job.type);
    const uint64_t bytes = (uint64_t)job->job.n * (uint64_t)job->job.n * size;
    const uint64_t stride = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT, turns = t->pool / stride;
    int error = lacis_symv_clock_hold(t->clock, job->stream);
    for (int i = 0; error == 0 && *fits && i < runs; i++) {
        job->job.a = (const char *)t->job.job.a + (uint64_t)i % (turns > 0 ? turns : 1) * stride;
        error = lacis_symv_clock_begin(t->clock, i, job->stream);
        if (error != 0) break;
        lacis_symv_gpu_status status = lacis_symv_gpu_run(job, &error);
        *fits = status == LACIS_SYMV_GPU_OK || status == LACIS_SYMV_GPU_FAILED;
        if (error == 0) error = lacis_symv_clock_end(t->clock, i, job->stream);
    }
    int read = lacis_symv_clock_read(t->clock, error == 0 && *fits ? runs : 0, job->stream, seconds);
    return error != 0 ? error : read;
}

static lacis_status measure_one(struct tuning *t, int candidate, int64_t n, int runs, double *median)
{
    double seconds[LACIS_SYMV_CLOCK_RUNS];
    lacis_symv_gpu_job job = t->job;
    bool fits = true;
    job.choice = &t->candidate[candidate];
    job.job.n = job.job.ld = job.job.stride = n;
    job.job.x_side = job.job.x_stride = job.job.y_side = job.job.y_stride = n;
    *median = -1;
    if (lacis_symv_gpu_refuses(&job) != NULL) return LACIS_OK;
    int error = batch(t, &job, runs + UNCOUNTED, seconds, &fits);
    if (error != 0) return lacis_gpu_failed(t->run, t->gpu, error);
    if (!fits) return LACIS_OK;
    qsort(seconds + UNCOUNTED, (size_t)runs, sizeof *seconds, by_size);
    *median = seconds[UNCOUNTED + runs / 2];
    return LACIS_OK;
}

static lacis_status measure(void *context, int candidate, int64_t size, int runs, double *seconds)
{
    const struct tuning *t = context;
    return measure_one(context, candidate, size - t->less, runs, seconds);
}

static const char *name(void *context, int candidate, char *text)
{
    const struct tuning *t = context;
    return lacis_symv_gpu_choice_text(&t->candidate[candidate], text);
}

/* ------------------------------------------------------------------------------------------- tables */

/* Five an octave, from 128 on multiples of 32, so that columns of any type begin at lines. */
static int list_sizes(int64_t most, int64_t *size)
{
    static const double fifth = 1.148698354997035; /* 2^(1/5) */
    int count = 0;
    double next = (double)LEAST;
    for (; count < SIZES - 1 && next < 0.95 * (double)most; next *= fifth) {
        int64_t unit = next < 128 ? 16 : 32, n = ((int64_t)next + unit / 2) / unit * unit;
        if (count == 0 || n > size[count - 1]) size[count++] = n;
    }
    size[count++] = most;
    return count;
}

static lacis_status tune_table(struct tuning *t, lacis_profile *profile, int ranges, double seconds, int64_t most)
{
    int64_t size[SIZES];
    char phase[LACIS_TUNE_TEXT];
    lacis_tune_table table;
    lacis_tune_report report;
    lacis_symv_job like = t->job.job;
    like.ld = most - t->less;
    const lacis_tune_search search = {.candidates = lacis_symv_gpu_candidates(t->job.job.type, &t->candidate),
                                      .sizes = list_sizes(most, size),
                                      .size = size,
                                      .ranges = ranges,
                                      .seconds = seconds,
                                      .measure = measure,
                                      .name = name,
                                      .context = t,
                                      .phase = table_name(&like, phase)};
    LACIS_TRY(lacis_tune_run(t->run, &search, &table, &report));
    LACIS_TRY(lacis_tune_put(profile, t->gpu, phase, &table));
    LACIS_TRY(lacis_tune_keep(t->run, profile, phase, &report.curves));
    lacis_run_note(t->run, LACIS_NOTE, "%s: %d of %d candidates at %d sizes, %d rounds, %d ranges (%.1f s)", phase,
                   report.handful, search.candidates, report.sizes, report.rounds, table.ranges, report.seconds);
    return LACIS_OK;
}

/* A triangle's tables, one for each way that columns begin, share its time and its ranges. */
static lacis_status tune_triangle(struct tuning *t, lacis_profile *profile, double seconds, int64_t most)
{
    const int bytes = lacis_symv_matrix_bytes(t->job.job.type), tables = bytes % PIECE == 0 ? WAYS - 1 : WAYS;
    for (int way = 0; way < tables; way++) {
        t->less = way == BY_LINES ? 0 : way == ANYWHERE || bytes > PIECE ? 1 : PIECE / bytes;
        LACIS_TRY(tune_table(t, profile, LACIS_TUNE_RANGES / tables, seconds / tables, most));
    }
    return LACIS_OK;
}

static lacis_status tune_type(struct tuning *t, lacis_profile *profile, lacis_symv_type type, double seconds)
{
    lacis_gpu_facts facts;
    lacis_gpu_describe(t->gpu, &facts);
    t->job = (lacis_symv_gpu_job){.job = {.type = type,
                                          .hermitian = lacis_symv_complex(type),
                                          .matrices = 1,
                                          .sides = 1,
                                          .x_step = 1,
                                          .y_step = 1,
                                          .alpha = {1},
                                          .threads = 1,
                                          .host = lacis_symv_gpu_host(t->gpu)},
                                  .processors = facts.processors,
                                  .stream = lacis_gpu_stream(t->gpu)};
    const int64_t most = largest(t, type);
    lacis_status status = take_operands(t, type, most);
    t->job.job.x = t->x;
    t->job.job.y = t->y;
    for (int uplo = 0; status == LACIS_OK && uplo < 2; uplo++) {
        t->job.job.uplo = (lacis_symv_uplo)uplo;
        status = tune_triangle(t, profile, seconds, most);
    }
    give_operands(t);
    return status;
}

/* The type that TYPE names; LACIS_SYMV_TYPES: every one. */
static lacis_status wished_type(lacis_run *run, const lacis_tune_wish *wish, int *type)
{
    *type = 0;
    if (wish->type == NULL) *type = LACIS_SYMV_TYPES;
    while (wish->type != NULL && *type < LACIS_SYMV_TYPES && strcasecmp(type_name[*type], wish->type) != 0)
        ++*type;
    if (wish->type == NULL || *type < LACIS_SYMV_TYPES) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_NAME, wish->type_offset,
                             "it takes f32, f64, c64, c128, dd, cdd, f32_f64, f32_dd, f64_dd", "SYMV has no type %s",
                             wish->type);
}

lacis_status lacis_symv_tune(lacis_run *run, lacis_profile *profile, const lacis_tune_wish *wish)
{
    char reason[200];
    int type, error;
    struct tuning t = {.run = run};
    LACIS_TRY(wished_type(run, wish, &type));
    t.gpu = lacis_run_gpu(run, reason, sizeof reason);
    if (t.gpu == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "TUNE SYMV: %s", reason);
    LACIS_TRY(lacis_gpu_enter(run, t.gpu));
    error = lacis_symv_clock_new(&t.clock);
    if (error != 0) return lacis_gpu_failed(run, t.gpu, error);
    lacis_status status = LACIS_OK;
    const double seconds = wish->seconds > 0 ? wish->seconds : SECONDS;
    for (int i = 0; status == LACIS_OK && i < LACIS_SYMV_TYPES; i++)
        if (type == LACIS_SYMV_TYPES || type == i) status = tune_type(&t, profile, (lacis_symv_type)i, seconds);
    lacis_symv_clock_free(t.clock);
    return status;
}

#else

bool lacis_symv_tuned(const lacis_profile *profile, const lacis_gpu *gpu, const lacis_symv_gpu_job *job,
                      lacis_symv_gpu_choice *out)
{
    (void)profile, (void)gpu, (void)job, (void)out;
    return false;
}

lacis_status lacis_symv_tune(lacis_run *run, lacis_profile *profile, const lacis_tune_wish *wish)
{
    (void)profile, (void)wish;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "TUNE SYMV: this build has no GPU kernels");
}

#endif
