/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrays of bodies in the making; see common_bodies.h.
 */
#include "common_bodies.h"

#include "common_sort.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <strings.h>

enum { BLOCK = 1 << 16 }; /* rows of a task */

const char *const lacis_body_names[LACIS_BODY_COLUMNS] = {"m",   "x",  "y",  "z",  "vx",  "vy", "vz",
                                                          "eps", "ax", "ay", "az", "phi", "id", "time"};

static bool is(const char *from, const char *to, const char *name)
{
    return strlen(name) == (size_t)(to - from) && strncasecmp(from, name, (size_t)(to - from)) == 0;
}

int lacis_body_named(const char *from, const char *to)
{
    if (is(from, to, "mass")) return LACIS_BODY_M;
    if (is(from, to, "pot")) return LACIS_BODY_PHI;
    for (int i = 0; i < LACIS_BODY_COLUMNS; i++)
        if (is(from, to, lacis_body_names[i])) return i;
    return -1;
}

void lacis_body_data(const lacis_bodies *b, const void **out)
{
    const void *const data[LACIS_BODY_REALS] = {b->m,  b->x,   b->y,  b->z,  b->vx, b->vy,
                                                b->vz, b->eps, b->ax, b->ay, b->az, b->phi};
    memcpy(out, data, sizeof data);
}

/* ------------------------------------------------------------------------------------------ making */

static lacis_status check_room(lacis_run *run, const char *what, int64_t count, lacis_dtype dtype, unsigned columns)
{
    double each = 0, left = (double)lacis_run_memory_left(run);
    for (int i = 0; i < LACIS_BODY_REALS; i++)
        each += columns >> i & 1 ? (double)lacis_dtype_size(dtype) : 0;
    each += columns >> LACIS_BODY_ID & 1 ? sizeof(int64_t) : 0;
    if ((double)count * each <= left && count <= INT64_MAX / 16) return LACIS_OK;
    return lacis_run_fail(run, LACIS_LIMIT,
                          "%s: %lld bodies would need %.4g MB, and memory_limit leaves %.4g MB; take fewer, type = "
                          "'f32', or raise memory_limit",
                          what, (long long)count, (double)count * each / 1e6, left / 1e6);
}

static lacis_status add_column(lacis_bodies_maker *maker, int column)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(maker->run, (uint64_t)maker->count * lacis_dtype_size(maker->dtype), &buffer));
    maker->column[column] = lacis_buffer_data(buffer);
    lacis_status status =
        lacis_array_add(maker->run, maker->array, lacis_body_names[column], maker->dtype, maker->count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status add_columns(lacis_bodies_maker *maker, unsigned columns)
{
    for (int i = 0; i < LACIS_BODY_REALS; i++)
        if (columns >> i & 1) LACIS_TRY(add_column(maker, i));
    if ((columns >> LACIS_BODY_ID & 1) == 0) return LACIS_OK;
    LACIS_TRY(lacis_buffer_new(maker->run, (uint64_t)maker->count * sizeof(int64_t), &maker->ids));
    maker->id = lacis_buffer_data(maker->ids);
    return LACIS_OK;
}

lacis_status lacis_bodies_begin(lacis_run *run, const char *what, int64_t count, lacis_dtype dtype, unsigned columns,
                                lacis_bodies_maker *out)
{
    *out = (lacis_bodies_maker){.run = run, .what = what, .count = count, .dtype = dtype};
    columns |= LACIS_BODY_ALWAYS;
    LACIS_TRY(check_room(run, what, count, dtype, columns));
    LACIS_TRY(lacis_array_new(run, LACIS_BODIES, dtype, count, 0, &out->array));
    lacis_status status = add_columns(out, columns);
    return status == LACIS_OK ? status : lacis_bodies_end(out, status, NULL);
}

/* How many ids from the first on count on, each one more than the one before. */
static int64_t counting(const lacis_bodies_maker *maker)
{
    int64_t row = maker->count > 0;
    while (row < maker->count && maker->id[row - 1] < INT64_MAX && maker->id[row] == maker->id[row - 1] + 1)
        row++;
    return row;
}

static bool rising(const lacis_bodies_maker *maker)
{
    int64_t row = 1;
    while (row < maker->count && maker->id[row] > maker->id[row - 1])
        row++;
    return row >= maker->count;
}

static lacis_status refuse_twice(const lacis_bodies_maker *maker, int64_t id)
{
    int64_t first = 0, second;
    while (maker->id[first] != id)
        first++;
    for (second = first + 1; maker->id[second] != id;)
        second++;
    return lacis_run_fail(maker->run, LACIS_FORMAT,
                          "%s: bodies %lld and %lld both have id %lld; leave ids out or mend them", maker->what,
                          (long long)first, (long long)second, (long long)id);
}

static lacis_status check_ids(const lacis_bodies_maker *maker)
{
    int64_t *sorted, row = 1;
    if (rising(maker)) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(maker->run, (uint64_t)maker->count * sizeof *sorted, &sorted));
    memcpy(sorted, maker->id, (size_t)maker->count * sizeof *sorted);
    lacis_sort_i64(sorted, maker->count);
    while (row < maker->count && sorted[row] != sorted[row - 1])
        row++;
    lacis_status status = row < maker->count ? refuse_twice(maker, sorted[row]) : LACIS_OK;
    lacis_run_free(maker->run, sorted);
    return status;
}

/* Ids that count on need no column. */
static lacis_status add_ids(const lacis_bodies_maker *maker)
{
    if (counting(maker) == maker->count && (maker->count == 0 || maker->id[maker->count - 1] < INT64_MAX)) {
        lacis_array_set_base(maker->array, 0, maker->count > 0 ? maker->id[0] : 0);
        return LACIS_OK;
    }
    lacis_status status = check_ids(maker);
    if (status == LACIS_FORMAT && maker->spare_ids) {
        lacis_run_note(maker->run, LACIS_WARNING,
                       "ids are not all different: they are left out, and bodies count from 0");
        return LACIS_OK;
    }
    LACIS_TRY(status);
    return lacis_array_add(maker->run, maker->array, "id", LACIS_I64, maker->count, maker->ids, 0);
}

static lacis_status add_time(const lacis_bodies_maker *maker)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(maker->run, sizeof maker->time, &buffer));
    memcpy(lacis_buffer_data(buffer), &maker->time, sizeof maker->time);
    lacis_status status = lacis_array_add(maker->run, maker->array, "time", LACIS_F64, 1, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

lacis_status lacis_bodies_end(lacis_bodies_maker *maker, lacis_status status, lacis_array **out)
{
    if (status == LACIS_OK && maker->ids != NULL) status = add_ids(maker);
    if (status == LACIS_OK && maker->time != 0) status = add_time(maker);
    if (status == LACIS_OK && out != NULL)
        *out = maker->array;
    else
        lacis_array_release(maker->array);
    lacis_buffer_release(maker->ids);
    *maker = (lacis_bodies_maker){.run = maker->run};
    return status;
}

void lacis_bodies_clear(lacis_bodies_maker *maker, lacis_body_column column)
{
    if (maker->count > 0) memset(maker->column[column], 0, (size_t)maker->count * lacis_dtype_size(maker->dtype));
}

/* ---------------------------------------------------------------------------------------- checking */

const char *lacis_body_fault(lacis_body_column column, lacis_dtype dtype, double value)
{
    if (isnan(value)) return "is not a number";
    if (isinf(value)) return "is infinite";
    if (dtype == LACIS_F32 && column < LACIS_BODY_REALS && isinf((float)value))
        return "is too large for f32; load it with type = 'f64'";
    if (value < 0 && column == LACIS_BODY_M) return "is negative, and a mass cannot be";
    if (value < 0 && column == LACIS_BODY_EPS) return "is negative, and a softening length cannot be";
    return NULL;
}

typedef struct search {
    const lacis_bodies_maker *maker;
    int64_t *first; /* of each task: a row, or -1 */
} search;

static bool row_good(const lacis_bodies_maker *maker, int64_t row)
{
    for (int i = 0; i < LACIS_BODY_REALS; i++) {
        if (maker->column[i] == NULL) continue;
        double value = lacis_value_double(maker->column[i], maker->dtype, row);
        if (!(fabs(value) <= DBL_MAX)) return false;
        if (value < 0 && (i == LACIS_BODY_M || i == LACIS_BODY_EPS)) return false;
    }
    return true;
}

static lacis_status search_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const search *s = context;
    int64_t end = s->maker->count - task * BLOCK < BLOCK ? s->maker->count : (task + 1) * BLOCK;
    int64_t row = task * BLOCK;
    while (row < end && row_good(s->maker, row))
        row++;
    s->first[task] = row < end ? row : -1;
    return LACIS_OK;
}

static void name_fault(const lacis_bodies_maker *maker, int64_t row, lacis_body_column *column, const char **cause)
{
    *cause = NULL;
    for (int i = 0; i < LACIS_BODY_REALS && *cause == NULL; i++) {
        if (maker->column[i] == NULL) continue;
        *column = (lacis_body_column)i;
        double value = lacis_value_double(maker->column[i], maker->dtype, row);
        *cause = lacis_body_fault(*column, LACIS_F64, value);
        if (isinf(value) && maker->dtype == LACIS_F32) *cause = "is infinite, or too large for f32";
    }
}

lacis_status lacis_bodies_first_fault(const lacis_bodies_maker *maker, int64_t *row, lacis_body_column *column,
                                      const char **cause)
{
    int64_t tasks = (maker->count + BLOCK - 1) / BLOCK;
    search s = {.maker = maker};
    *row = -1;
    LACIS_TRY(lacis_run_alloc(maker->run, (uint64_t)tasks * sizeof *s.first, &s.first));
    lacis_status status = lacis_run_parallel(maker->run, tasks, search_block, &s);
    for (int64_t t = 0; t < tasks && status == LACIS_OK && *row < 0; t++)
        *row = s.first[t];
    lacis_run_free(maker->run, s.first);
    if (status == LACIS_OK && *row >= 0) name_fault(maker, *row, column, cause);
    return status;
}
