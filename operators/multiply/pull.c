/* SPDX-License-Identifier: Apache-2.0
 *
 * graph BY vector, row by row: the vector's values at the row's columns are collected in strips, CON is applied to a
 * strip and AGG folds it, always by rising column. Called by MULTIPLY's variant "pull".
 */
#include "multiply/product.h"

#include <string.h>

enum { STRIP = 512, FEWEST_ROWS = 16, MOST_ROWS = 512, TASKS = 8 }; /* rows of a task; tasks of a thread */

bool lacis_product_can_pull(const lacis_product *product, char *reason, size_t size)
{
    const lacis_mul_job *job = &product->job;
    const char *why = NULL;
    if (product->spec.shape != LACIS_PRODUCT_COLUMN) {
        why = "only for graph BY vector";
    } else if (job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD) {
        why = "only for built-in CON and AGG";
    } else if (job->mask != NULL || job->having != NULL) {
        why = "not with MASK or HAVING";
    } else if (job->agg != LACIS_MUL_COUNT && job->type == LACIS_MUL_C128) {
        why = "not for complex values";
    } else if (job->checked) {
        why = "sums of these integers could overflow, which it does not look for";
    }
    if (why != NULL) snprintf(reason, size, "%s", why);
    return why == NULL;
}

/* Where a row's products come from: entries of A and places in the vector. */
struct strip {
    int n;
    int64_t entry[STRIP], place[STRIP];
};

/* What a row has come to so far. */
struct total {
    int64_t count;
    union {
        int32_t i32;
        int64_t i64;
        float f32;
        double f64;
    } value;
    double sum; /* avg */
};

struct pull {
    const lacis_mul_job *job;
    int64_t first, last, task_rows; /* rows */
    int64_t *begin, *end;
    char *value;
    lacis_dtype storage;
};

/* Entries from *at on whose column the vector has, as many as fit. */
static void collect(const lacis_mul_job *job, int64_t *at, int64_t end, struct strip *strip)
{
    const int64_t *begin_b = job->b.begin, *end_b = job->b.end;
    const uint32_t *column = job->a.column;
    strip->n = 0;
    for (; *at < end && strip->n < STRIP; (*at)++) {
        uint32_t c = column[*at];
        strip->entry[strip->n] = *at;
        strip->place[strip->n] = begin_b[c];
        strip->n += end_b[c] > begin_b[c];
    }
}

/* CON over a strip, AGG over its values. A sum starts from its first value, as the kernels' do. */
#define PULL_A(TYPE) (a == NULL ? (TYPE)1 : a[entry[i]])
#define PULL_B(TYPE) (b == NULL ? (TYPE)1 : b[place[i]])
#define PULL_LOOP(value)                                                                                             \
    for (int i = 0; i < n; i++)                                                                                      \
    out[i] = value
#define PULL_TYPE(TYPE, FIELD)                                                                                       \
    static void con_##FIELD(const lacis_mul_job *job, const struct strip *strip, TYPE *out)                          \
    {                                                                                                                \
        const TYPE *a = job->a.value, *b = job->b.value;                                                             \
        const int64_t *entry = strip->entry, *place = strip->place;                                                  \
        int n = strip->n;                                                                                            \
        switch (job->con_kind) {                                                                                     \
        case LACIS_MUL_CON_A:                                                                                        \
            PULL_LOOP(PULL_A(TYPE));                                                                                 \
            break;                                                                                                   \
        case LACIS_MUL_CON_B:                                                                                        \
            PULL_LOOP(PULL_B(TYPE));                                                                                 \
            break;                                                                                                   \
        case LACIS_MUL_CON_ADD:                                                                                      \
            PULL_LOOP((TYPE)(PULL_A(TYPE) + PULL_B(TYPE)));                                                          \
            break;                                                                                                   \
        case LACIS_MUL_CON_MUL:                                                                                      \
            PULL_LOOP((TYPE)(PULL_A(TYPE) * PULL_B(TYPE)));                                                          \
            break;                                                                                                   \
        default:                                                                                                     \
            PULL_LOOP((TYPE)1);                                                                                      \
            break;                                                                                                   \
        }                                                                                                            \
    }                                                                                                                \
    static void agg_##FIELD(lacis_mul_agg agg, int n, const TYPE *v, struct total *total)                            \
    {                                                                                                                \
        int i = total->count == 0;                                                                                   \
        TYPE x = total->count == 0 ? v[0] : total->value.FIELD;                                                      \
        switch (agg) {                                                                                               \
        case LACIS_MUL_SUM:                                                                                          \
            for (; i < n; i++)                                                                                       \
                x = (TYPE)(x + v[i]);                                                                                \
            break;                                                                                                   \
        case LACIS_MUL_MIN:                                                                                          \
            for (; i < n; i++)                                                                                       \
                x = v[i] < x ? v[i] : x;                                                                             \
            break;                                                                                                   \
        case LACIS_MUL_MAX:                                                                                          \
            for (; i < n; i++)                                                                                       \
                x = v[i] > x ? v[i] : x;                                                                             \
            break;                                                                                                   \
        case LACIS_MUL_LAST:                                                                                         \
            x = v[n - 1];                                                                                            \
            break;                                                                                                   \
        case LACIS_MUL_AVG:                                                                                          \
            for (i = 0; i < n; i++)                                                                                  \
                total->sum += (double)v[i];                                                                          \
            break;                                                                                                   \
        default:                                                                                                     \
            break;                                                                                                   \
        }                                                                                                            \
        total->value.FIELD = x;                                                                                      \
    }
PULL_TYPE(int32_t, i32)
PULL_TYPE(int64_t, i64)
PULL_TYPE(float, f32)
PULL_TYPE(double, f64)

static void take(const lacis_mul_job *job, const struct strip *strip, struct total *total)
{
    union {
        int32_t i32[STRIP];
        int64_t i64[STRIP];
        float f32[STRIP];
        double f64[STRIP];
    } v;
    if (job->agg == LACIS_MUL_COUNT || strip->n == 0) {
        total->count += strip->n;
        return;
    }
    switch (job->type) {
    case LACIS_MUL_I32:
        con_i32(job, strip, v.i32);
        agg_i32(job->agg, strip->n, v.i32, total);
        break;
    case LACIS_MUL_I64:
        con_i64(job, strip, v.i64);
        agg_i64(job->agg, strip->n, v.i64, total);
        break;
    case LACIS_MUL_F32:
        con_f32(job, strip, v.f32);
        agg_f32(job->agg, strip->n, v.f32, total);
        break;
    case LACIS_MUL_F64:
        con_f64(job, strip, v.f64);
        agg_f64(job->agg, strip->n, v.f64, total);
        break;
    case LACIS_MUL_C128: /* refused */
        break;
    }
    total->count += strip->n;
}

static void put(const struct pull *pull, int64_t row, const struct total *total)
{
    char *to = pull->value + (size_t)row * lacis_dtype_size(pull->storage);
    if (pull->job->agg == LACIS_MUL_COUNT) {
        lacis_values_convert(&total->count, LACIS_I64, 0, 1, to, pull->storage);
    } else if (pull->job->agg == LACIS_MUL_AVG) {
        double mean = total->sum / (double)total->count;
        memcpy(to, &mean, sizeof mean);
    } else {
        memcpy(to, &total->value, lacis_dtype_size(pull->storage));
    }
}

static lacis_status pull_rows(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct pull *pull = context;
    const lacis_mul_job *job = pull->job;
    int64_t first = pull->first + task * pull->task_rows, last = first + pull->task_rows;
    struct strip strip;
    if (last > pull->last) last = pull->last;
    for (int64_t r = first; r < last; r++) {
        struct total total = {0};
        for (int64_t at = job->a.begin[r]; at < job->a.end[r];) {
            collect(job, &at, job->a.end[r], &strip);
            take(job, &strip, &total);
        }
        int64_t row = r - pull->first;
        pull->begin[row] = row;
        pull->end[row] = row + (total.count > 0);
        if (total.count > 0) put(pull, row, &total);
    }
    return LACIS_OK;
}

static int64_t rows_of_task(int64_t rows, int threads)
{
    int64_t share = rows / ((int64_t)TASKS * threads);
    return share < FEWEST_ROWS ? FEWEST_ROWS : share > MOST_ROWS ? MOST_ROWS : share;
}

double lacis_pull_seconds(const lacis_product *product, const lacis_profile *profile, int64_t rows)
{
    const double call = 2e-5, otherwise = 4; /* as CALIBRATE measures it on an AMD EPYC (Zen 4) */
    int64_t each = rows_of_task(rows, product->job.threads), tasks = (rows + each - 1) / each;
    double threads = tasks < product->job.threads ? (double)tasks : product->job.threads;
    double ns = lacis_profile_get(profile, lacis_pull_figure, otherwise) * (double)product->total_degree;
    ns += LACIS_PULL_ROW_NS * (double)rows;
    return call + 1e-9 * (tasks > 0 ? ns / threads : 0);
}

static lacis_status make_buffers(lacis_run *run, const lacis_product *product, lacis_product_result *out)
{
    uint64_t rows = (uint64_t)out->rows;
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * rows, &out->begin));
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * rows, &out->end));
    return lacis_buffer_new(run, lacis_dtype_size(product->storage) * rows, &out->value);
}

lacis_status lacis_product_pull(lacis_run *run, const lacis_product *product, int64_t begin, int64_t end,
                                lacis_product_result *out)
{
    *out = (lacis_product_result){.rows = end - begin};
    lacis_status status = make_buffers(run, product, out);
    if (status == LACIS_OK) {
        const int64_t task_rows = rows_of_task(out->rows, lacis_run_threads(run));
        struct pull pull = {&product->job,
                            begin,
                            end,
                            task_rows,
                            lacis_buffer_data(out->begin),
                            lacis_buffer_data(out->end),
                            lacis_buffer_data(out->value),
                            product->storage};
        status = lacis_run_parallel(run, (out->rows + task_rows - 1) / task_rows, pull_rows, &pull);
        for (int64_t r = 0; status == LACIS_OK && r < out->rows; r++)
            out->entries += (uint64_t)(pull.end[r] - pull.begin[r]);
    }
    if (status != LACIS_OK) lacis_product_release(out);
    return status;
}
