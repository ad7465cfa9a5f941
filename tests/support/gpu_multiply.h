/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" on a pretended device whose kernels are the CPU's. gpu.c and what belongs to it are
 * compiled into whatever includes this file, so that tests of them work in builds without nvcc as well.
 */
#ifndef LACIS_TESTS_GPU_MULTIPLY_H
#define LACIS_TESTS_GPU_MULTIPLY_H

#include "multiply/gpu_summary.h"
#include "support/gpu_variant.h"

#include <unistd.h>

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_mul_gpu_run             fake_kernels
#define lacis_mul_gpu_refuses         fake_refuses
#define lacis_mul_gpu_compile         fake_compile
#define lacis_mul_gpu_work_bytes      fake_work_bytes
#define lacis_mul_gpu_class_name      fake_class_name
#define lacis_mul_gpu_summarize       fake_summarize
#define lacis_mul_gpu_groups          fake_groups
#define lacis_mul_gpu_summary_bytes   fake_summary_bytes
#define lacis_mul_gpu_sample          fake_sample
#define lacis_multiply_gpu            tested
#define lacis_multiply_gpu_job        tested_job
#define lacis_multiply_gpu_can        tested_can
#define lacis_multiply_gpu_cost       tested_cost
#define lacis_multiply_gpu_explain    tested_explain
#define lacis_multiply_gpu_figure     tested_figure
#define lacis_multiply_devices        tested_devices
#define lacis_multiply_panel_rows     tested_panel_rows
#define lacis_multiply_panel_compute  tested_panel_compute
#define lacis_multiply_panel_drop     tested_panel_drop
#define lacis_multiply_copies_little  tested_copies_little
#define lacis_multiply_room           tested_room
#define lacis_multiply_room_panel     tested_room_panel
#define lacis_multiply_room_choose    tested_room_choose
#define lacis_multiply_room_counting  tested_room_counting
#define lacis_multiply_room_countable tested_room_countable
#define lacis_multiply_room_rows      tested_room_rows
#define lacis_multiply_room_explain   tested_room_explain

static const char *const fake_class_name[LACIS_MUL_GPU_CLASSES] = {"empty",  "copy",  "tiny", "small",
                                                                   "middle", "dense", "hub"};
static int fake_cuda_error;            /* not 0: the next run of the kernels fails with it */
static lacis_mul_gpu_small fake_small; /* of the last run */

static const char *fake_refuses(const lacis_mul_gpu_job *job)
{
    return job->con_kind == LACIS_MUL_CON_STRIPS ? "CON is written" : NULL;
}
static uint64_t fake_work_bytes(const lacis_mul_gpu_job *job, int64_t count)
{
    (void)job;
    return (uint64_t)count * 16;
}
static lacis_mul_gpu_status fake_kernels(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                         int64_t count, lacis_mul_gpu_output *out);

static lacis_mul_gpu_status fake_compile(const lacis_mul_gpu_job *job, int64_t first, int64_t count, int *cuda_error)
{
    (void)job, (void)first, (void)count, (void)cuda_error;
    return LACIS_MUL_GPU_OK;
}

static int64_t fake_groups(int64_t first, int64_t count);
static uint64_t fake_summary_bytes(int64_t count)
{
    return (uint64_t)count;
}
static lacis_mul_gpu_status fake_summarize(const lacis_mul_gpu_job *job, const lacis_mul_gpu_keys *keys,
                                           int64_t first, int64_t count, lacis_mul_gpu_output *out,
                                           lacis_mul_gpu_summary *summary, double *group);

static lacis_mul_gpu_status fake_sample(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t count,
                                        uint64_t *entries, int *cuda_error);

#include "../../operators/multiply/gpu_cost.c"
#include "../../operators/multiply/gpu_room.c"
#include "../../operators/multiply/gpu_sample.c"

#include "../../operators/multiply/gpu_devices.c"

#include "../../operators/multiply/gpu.c"

static void *plain_alloc(void *context, uint64_t bytes)
{
    (void)context;
    return aligned_alloc(64, (bytes + 127) / 64 * 64);
}
static void plain_free(void *context, void *block)
{
    (void)context;
    free(block);
}
static bool plain_charge(void *context, uint64_t bytes)
{
    (void)context, (void)bytes;
    return true;
}
static bool never(void *context)
{
    (void)context;
    return false;
}

static size_t storage_bytes(lacis_mul_storage storage)
{
    const size_t bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[storage];
}

static lacis_mul_job host_job(const lacis_mul_gpu_job *job)
{
    return (lacis_mul_job){.a = job->a,
                           .b = job->b,
                           .con_kind = job->con_kind,
                           .agg = job->agg,
                           .type = job->type,
                           .storage = job->storage,
                           .checked = job->checked,
                           .max_degree_a = job->max_degree_a,
                           .mask = job->mask,
                           .mask_not = job->mask_not,
                           .top = job->top,
                           .t_lo = job->t_lo,
                           .t_hi = job->t_hi,
                           .threads = 1,
                           .memory = {plain_alloc, plain_free, plain_charge, never, NULL}};
}

/* The rows' entries one behind the other, in blocks of the job's memory. */
static bool move_together(const lacis_mul_gpu_job *job, const lacis_mul_output *from, int64_t first, int64_t count,
                          lacis_mul_gpu_output *out)
{
    size_t size = storage_bytes(job->storage);
    out->column = job->memory.alloc(job->memory.context, from->entries * 4);
    out->value = job->memory.alloc(job->memory.context, from->entries * size);
    if (out->column == NULL || out->value == NULL) {
        job->memory.free(job->memory.context, out->column);
        job->memory.free(job->memory.context, out->value);
        return false;
    }
    int64_t at = 0;
    for (int64_t r = first; r < first + count; r++) {
        int64_t n = from->end[r] - from->begin[r];
        memcpy(out->column + at, from->column + from->begin[r], 4 * (size_t)n);
        memcpy((char *)out->value + (size_t)at * size, (const char *)from->value + (size_t)from->begin[r] * size,
               size * (size_t)n);
        out->begin[r] = at;
        out->end[r] = at += n;
    }
    out->entries = from->entries;
    return true;
}

static int64_t fake_groups(int64_t first, int64_t count)
{
    return count <= 0 ? 0 : (first + count - 1) / LACIS_MUL_GPU_GROUP - first / LACIS_MUL_GPU_GROUP + 1;
}

static double stored(const lacis_mul_gpu_job *job, const void *value, int64_t at)
{
    const lacis_dtype type[] = {LACIS_U8, LACIS_U16, LACIS_U32, LACIS_I32, LACIS_I64, LACIS_F32, LACIS_F64};
    return lacis_value_double(value, type[job->storage], at);
}

static void add_entry(lacis_mul_gpu_summary *to, const lacis_mul_gpu_keys *keys, int64_t row, uint32_t column,
                      double v)
{
    if (to->count++ == 0) {
        to->first_row = row;
        to->min = to->max = v;
        to->min_column = to->max_column = column;
    }
    to->last_row = row;
    to->src += keys->row != NULL ? keys->row[row] : keys->row_base + row;
    to->dst += keys->column != NULL ? keys->column[column] : column;
    to->value += (int64_t)v;
    to->min = v < to->min ? v : to->min;
    to->max = v > to->max ? v : to->max;
    to->min_int = (int64_t)to->min;
    to->max_int = (int64_t)to->max;
    to->min_column = column < to->min_column ? column : to->min_column;
    to->max_column = column > to->max_column ? column : to->max_column;
}

static lacis_mul_gpu_status fake_summarize(const lacis_mul_gpu_job *job, const lacis_mul_gpu_keys *keys,
                                           int64_t first, int64_t count, lacis_mul_gpu_output *out,
                                           lacis_mul_gpu_summary *summary, double *group)
{
    *summary = (lacis_mul_gpu_summary){0};
    for (int64_t i = 0; group != NULL && i < fake_groups(first, count); i++)
        group[i] = 0;
    for (int64_t r = first; r < first + count; r++) {
        for (int64_t at = out->begin[r]; at < out->end[r]; at++) {
            double v = stored(job, out->value, at);
            add_entry(summary, keys, r, out->column[at], v);
            if (group != NULL) group[r / LACIS_MUL_GPU_GROUP - first / LACIS_MUL_GPU_GROUP] += v;
        }
    }
    return LACIS_MUL_GPU_OK;
}

static lacis_mul_gpu_status fake_kernels(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                         int64_t count, lacis_mul_gpu_output *out)
{
    if (rows != NULL || job->stream == NULL) return LACIS_MUL_GPU_UNSUPPORTED;
    fake_small = job->small;
    fake_meet();
    if (fake_cuda_error != 0) {
        out->cuda_error = fake_cuda_error;
        fake_cuda_error = 0;
        return LACIS_MUL_GPU_FAILED;
    }
    lacis_mul_job host = host_job(job);
    int64_t *list = malloc(sizeof *list * (size_t)(count + 1)), total = job->a.rows;
    uint64_t *products = malloc(sizeof *products * (size_t)(count + 1)), room = lacis_mul_slack(&host);
    for (int64_t i = 0; i < count; i++)
        list[i] = first + i;
    out->products = lacis_mul_products(&host, list, count, products);
    for (int64_t i = 0; i < count; i++)
        room += lacis_mul_bound(&host, list[i], products[i]);
    lacis_mul_output loose = {.begin = malloc(8 * (size_t)(total + 1)),
                              .end = malloc(8 * (size_t)(total + 1)),
                              .column = malloc(4 * room),
                              .value = malloc(8 * room),
                              .room = room};
    lacis_mul_status status = lacis_mul_run(&host, list, count, products, &loose);
    lacis_mul_gpu_status answer = status == LACIS_MUL_OVERFLOW ? LACIS_MUL_GPU_OVERFLOW : LACIS_MUL_GPU_OK;
    if (status == LACIS_MUL_OK && !move_together(job, &loose, first, count, out)) answer = LACIS_MUL_GPU_NO_MEMORY;
    out->class_rows[LACIS_MUL_GPU_TINY] = (uint64_t)count;
    out->counted = job->counted ? (uint64_t)count : 0;
    free(list);
    free(products);
    free(loose.begin);
    free(loose.end);
    free(loose.column);
    free(loose.value);
    return answer;
}

static int fake_share = 100; /* percent of their entries that sampled rows are said to have */

static lacis_mul_gpu_status fake_sample(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t count,
                                        uint64_t *entries, int *cuda_error)
{
    lacis_mul_job host = host_job(job);
    *cuda_error = fake_cuda_error;
    fake_cuda_error = 0;
    if (*cuda_error != 0) return LACIS_MUL_GPU_FAILED;
    void *block = job->memory.alloc(job->memory.context, 16 * (uint64_t)count);
    if (block == NULL) return LACIS_MUL_GPU_NO_MEMORY;
    lacis_mul_symbolic(&host, rows, count, entries);
    for (int64_t i = 0; i < count; i++)
        entries[i] = entries[i] * (uint64_t)fake_share / 100;
    job->memory.free(job->memory.context, block);
    return LACIS_MUL_GPU_OK;
}

/* ----------------------------------------------------------------------------------------- fixture */

static inline int setup(void **state)
{
    static const lacis_variant *const under_test[] = {&tested, NULL};
    fake_cuda_error = 0;
    fake_share = 100;
    fake_meet_again(0);
    fixture_setup(state, "MULTIPLY", under_test);
    return 0;
}

typedef struct pair {
    graph a, b, m;
    named arrays[4];
} pair;

static inline pair pair_make(parity *p, graph_kind kind, int64_t n, lacis_dtype dtype)
{
    uint64_t random = 7;
    pair o = {graph_make(&random, kind, n, n, dtype),
              graph_make(&random, kind, n, n, dtype),
              graph_make(&random, GRAPH_SPARSE, n, n, LACIS_PATTERN),
              {{0}}};
    o.arrays[0] = (named){"a", graph_array(p, &o.a)};
    o.arrays[1] = (named){"b", graph_array(p, &o.b)};
    o.arrays[2] = (named){"m", graph_array(p, &o.m)};
    return o;
}

static inline void pair_free(pair *o)
{
    for (int i = 0; i < 3; i++)
        lacis_array_release(o->arrays[i].array);
    graph_free(&o->a);
    graph_free(&o->b);
    graph_free(&o->m);
}

#endif
