/* SPDX-License-Identifier: Apache-2.0
 *
 * Random dense vectors with elements between -1 and 1, each a function of seed and place alone, or a batch of them.
 * The engine calls it through its descriptor.
 */
#include "common_dense.h"
#include "common_generate.h"

static const lacis_option_spec options[] = {
    {.name = "n", .form = 'i', .required = true, .help = "elements"},
    {.name = "seed", .form = 'i', .otherwise = "1", .help = "another seed, other elements"},
    {.name = "type", .form = 'w', .words = LACIS_DENSE_TYPES, .otherwise = "f64", .help = "of the elements"},
    {.name = "lanes", .form = 'i', .help = "a batch of so many vectors, field value, instead of one vector"},
};

enum { BLOCK = 1 << 14 };

typedef struct job {
    void *values;
    lacis_dtype dtype;
    uint64_t seed;
    int64_t count;
} job;

static lacis_status fill(void *context, int64_t task, int worker)
{
    (void)worker;
    const job *work = context;
    int64_t end = work->count - task * BLOCK < BLOCK ? work->count : (task + 1) * BLOCK;
    for (int64_t i = task * BLOCK; i < end; i++) {
        double word[4];
        lacis_dense_random(lacis_mix(work->seed + (uint64_t)i), word);
        lacis_dense_put(work->values, work->dtype, i, word);
    }
    return LACIS_OK;
}

static lacis_status make_array(lacis_run *run, const job *work, int64_t lanes, int64_t n, lacis_array **out)
{
    lacis_batch_shape shape = {.groups = 1, .lanes = &lanes, .rows = &n, .block = 1, .dtype = work->dtype};
    if (lanes < 0) return lacis_array_new(run, LACIS_VECTOR, work->dtype, n, 0, out);
    return lacis_batch_new(run, &shape, out);
}

static lacis_status build(lacis_run *run, job *work, int64_t lanes, int64_t n, lacis_array **out)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, (uint64_t)work->count * lacis_dtype_size(work->dtype), &buffer));
    work->values = lacis_buffer_data(buffer);
    lacis_status status = lacis_run_parallel(run, (work->count + BLOCK - 1) / BLOCK, fill, work);
    lacis_array *array = NULL;
    if (status == LACIS_OK) status = make_array(run, work, lanes, n, &array);
    if (status == LACIS_OK)
        status = lacis_array_add(run, array, lanes < 0 ? "values" : "value", work->dtype, work->count, buffer, 0);
    lacis_buffer_release(buffer);
    if (status == LACIS_OK)
        *out = array;
    else
        lacis_array_release(array);
    return status;
}

static lacis_status make(lacis_run *run, const lacis_options *given, lacis_array **out)
{
    int64_t n, lanes = -1;
    job work = {.dtype = lacis_dense_type(given)};
    bool batch = lacis_option_set(given, "lanes") != NULL;
    work.seed = lacis_mix((uint64_t)lacis_option_integer(given, "seed", 1) ^ UINT64_C(0x566563746f7221));
    if (batch) LACIS_TRY(lacis_generate_integer(run, given, "lanes", 0, INT32_MAX, &lanes));
    LACIS_TRY(lacis_generate_integer(run, given, "n", 0, batch ? INT32_MAX : INT64_MAX / 64, &n));
    work.count = batch ? lanes * n : n;
    LACIS_TRY(lacis_dense_room(run, "the vector", work.count, work.dtype));
    return build(run, &work, lanes, n, out);
}

const lacis_generator lacis_generator_random = {
    .name = "random",
    .summary = "random dense vector, or a batch of them",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .make = make,
};
