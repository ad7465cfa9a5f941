/* SPDX-License-Identifier: Apache-2.0
 *
 * Random dense symmetric or Hermitian matrices with elements between -1 and 1, each a function of seed, matrix and
 * place alone: storage, triangle and threads do not change them, and other types have them rounded. The engine calls
 * it through its descriptor.
 */
#include "common_dense.h"
#include "common_generate.h"

static const lacis_option_spec options[] = {
    {.name = "n", .form = 'i', .required = true, .help = "rows of each matrix"},
    {.name = "seed", .form = 'i', .otherwise = "1", .help = "another seed, other elements"},
    {.name = "type", .form = 'w', .words = LACIS_DENSE_TYPES, .otherwise = "f64", .help = "of the elements"},
    {.name = "uplo",
     .form = 'w',
     .words = "lower|upper",
     .otherwise = "lower",
     .help = "the triangle that is stored"},
    {.name = "hermitian",
     .form = 'b',
     .otherwise = "true",
     .help = "of complex types: the other triangle is the conjugate; false: it is the same"},
    {.name = "packed", .form = 'b', .otherwise = "false", .help = "the triangle alone is stored"},
    {.name = "matrices", .form = 'i', .otherwise = "1", .help = "other than 1: a batch"},
    {.name = "least", .form = 'i', .help = "of a batch: sizes from this to n, by random"},
    {.name = "ld", .form = 'i', .help = "from one column to the next: n by default"},
};

enum { BLOCK = 1 << 14 }; /* elements of a task, about */

typedef struct job {
    lacis_symmetric a;
    void *values;
    uint64_t seed;
    int64_t each; /* columns or matrices of a task */
} job;

static void fill_column(const job *work, int64_t matrix, int64_t j)
{
    const lacis_symmetric *a = &work->a;
    int64_t n = lacis_symmetric_order(a, matrix);
    int64_t first = a->upper ? 0 : j, end = a->upper ? j + 1 : n, place = lacis_symmetric_place(a, matrix, first, j);
    uint64_t key = lacis_mix(work->seed + (uint64_t)matrix);
    for (int64_t i = first; i < end; i++) {
        double word[4];
        int64_t low = i < j ? i : j, high = i < j ? j : i;
        lacis_dense_random(lacis_mix(lacis_mix(key + (uint64_t)high) + (uint64_t)low), word);
        if (a->hermitian && i == j) word[2] = word[3] = 0;
        if (a->hermitian && i < j) { /* the lower triangle's numbers, conjugated */
            word[2] = -word[2];
            word[3] = -word[3];
        }
        lacis_dense_put(work->values, a->dtype, place + i - first, word);
    }
}

/* Some columns of the only matrix, or some matrices of a batch. */
static lacis_status fill(void *context, int64_t task, int worker)
{
    (void)worker;
    const job *work = context;
    int64_t first = task * work->each, end = first + work->each;
    if (work->a.matrices == 1) {
        for (int64_t j = first; j < end && j < work->a.n; j++)
            fill_column(work, 0, j);
        return LACIS_OK;
    }
    for (int64_t m = first; m < end && m < work->a.matrices; m++)
        for (int64_t j = 0; j < lacis_symmetric_order(&work->a, m); j++)
            fill_column(work, m, j);
    return LACIS_OK;
}

/* Sizes between least and n, the largest of them n. */
static lacis_status vary(lacis_run *run, const lacis_options *given, uint64_t seed, lacis_symmetric_shape *shape)
{
    int64_t least, *order;
    if (lacis_option_set(given, "least") == NULL) return LACIS_OK;
    LACIS_TRY(lacis_generate_integer(run, given, "least", 0, shape->n, &least));
    if (shape->matrices < 2)
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "least"), NULL,
                                 "sizes vary in a batch only: matrices = 2 or more");
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)shape->matrices * sizeof *order, &order));
    for (int64_t m = 0; m < shape->matrices; m++)
        order[m] = least + (int64_t)(lacis_mix(seed ^ lacis_mix((uint64_t)m)) % (uint64_t)(shape->n - least + 1));
    order[(int64_t)(seed % (uint64_t)shape->matrices)] = shape->n;
    shape->order = order;
    return LACIS_OK;
}

static lacis_status read_ld(lacis_run *run, const lacis_options *given, lacis_symmetric_shape *shape)
{
    if (lacis_option_set(given, "ld") == NULL) return LACIS_OK;
    LACIS_TRY(lacis_generate_integer(run, given, "ld", shape->n, INT64_MAX, &shape->ld));
    if (!shape->packed && shape->order == NULL) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "ld"), NULL,
                             "packed matrices, and those of several sizes, have no leading dimension");
}

static lacis_status read_shape(lacis_run *run, const lacis_options *given, uint64_t seed,
                               lacis_symmetric_shape *shape)
{
    *shape = (lacis_symmetric_shape){.dtype = lacis_dense_type(given)};
    LACIS_TRY(lacis_generate_integer(run, given, "n", 0, INT32_MAX, &shape->n));
    LACIS_TRY(lacis_generate_integer(run, given, "matrices", 0, INT32_MAX, &shape->matrices));
    shape->upper = lacis_option_integer(given, "uplo", 0) == 1;
    shape->packed = lacis_option_integer(given, "packed", 0) != 0;
    shape->hermitian = lacis_dense_complex(shape->dtype) && lacis_option_integer(given, "hermitian", 1) != 0;
    LACIS_TRY(vary(run, given, seed, shape));
    return read_ld(run, given, shape);
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    lacis_symmetric_shape shape;
    job work = {.seed = lacis_mix((uint64_t)lacis_option_integer(given, "seed", 1))};
    LACIS_TRY(read_shape(run, given, work.seed, &shape));
    LACIS_TRY(lacis_dense_room(run, "the matrix", lacis_symmetric_places(&shape), shape.dtype));
    LACIS_TRY(lacis_symmetric_new(run, &shape, NULL, out));
    lacis_status status = lacis_symmetric_view(run, *out, &work.a);
    work.values = lacis_buffer_data(lacis_array_part_buffer(*out, "values", NULL));
    bool batch = work.a.matrices != 1;
    work.each = 1 + BLOCK / (1 + (batch ? work.a.n * work.a.n : work.a.n));
    int64_t units = batch ? work.a.matrices : work.a.n, tasks = (units + work.each - 1) / work.each;
    if (status == LACIS_OK) status = lacis_run_parallel(run, tasks, fill, &work);
    if (status == LACIS_OK) status = lacis_symmetric_mirror(run, *out);
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(*out);
    *out = NULL;
    return status;
}

const lacis_generator lacis_generator_symmetric = {
    .name = "symmetric",
    .summary = "random dense symmetric or Hermitian matrix, or a batch of them",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
