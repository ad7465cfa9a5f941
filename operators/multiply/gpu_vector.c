/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variants "gpu pull" (graph BY vector: each row collects) and "gpu push" (vector BY graph: each entry of
 * the vector scatters), on the kernels of kernels/multiply/gpu_vector.h.
 *
 * Direction: CSR has a graph's rows at hand, so along their grain graph BY vector pulls and vector BY graph pushes.
 * The other direction of each is gpu_against.c's, and which is the cheaper depends on how much of the vector is
 * there.
 */
#include "multiply/vector.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

void lacis_vector_job(lacis_run *run, const lacis_product *product, lacis_mul_gpu_job *out)
{
    const lacis_mul_job *job = &product->job;
    *out = (lacis_mul_gpu_job){.a = job->a,
                               .b = job->b,
                               .con_kind = job->con_kind,
                               .agg = job->agg,
                               .type = job->type,
                               .storage = job->storage,
                               .checked = job->checked,
                               .max_degree_a = job->max_degree_a,
                               .mask = job->mask,
                               .mask_not = job->mask_not, /* TOP is taken on the host (array_of) */
                               .t_lo = job->t_lo,
                               .t_hi = job->t_hi};
    out->ordered = lacis_run_deterministic(run);
    lacis_multiply_gpu_having(product, out);
    if (out->having == LACIS_MUL_GPU_BEHIND) out->having = LACIS_MUL_GPU_ALL; /* on the host (sift) */
}

uint64_t lacis_vector_type_bytes(lacis_mul_type type)
{
    return type == LACIS_MUL_I32 || type == LACIS_MUL_F32 ? 4 : 8;
}

/* Whether CON looks at the values of a or b. */
bool lacis_vector_uses(lacis_mul_con con, bool b)
{
    return con == LACIS_MUL_CON_ADD || con == LACIS_MUL_CON_MUL || con == (b ? LACIS_MUL_CON_B : LACIS_MUL_CON_A);
}

/* Every row of a column vector is there, in order, which its offsets show at their ends. */
static bool every(const lacis_mul_matrix *b)
{
    return b->rows > 0 && b->end == b->begin + 1 && b->begin[0] == 0 && b->end[b->rows - 1] == b->rows;
}

/* The processor's own way, twice as long as calibrated; what other variants take does not matter. */
static double pull_most_seconds(const lacis_product *product, const lacis_profile *profile)
{
    const double margin = 2;
    const int64_t rows = product->s.count;
    char reason[8];
    if (!lacis_product_can_pull(product, reason, sizeof reason)) return lacis_product_most_seconds(product, profile);
    return margin * lacis_pull_seconds(product, profile, rows) + 1e-9 * LACIS_PULL_HOST_NS * (double)rows;
}

static bool can(const lacis_call *call, lacis_product_shape shape, char *reason, size_t size)
{
    const lacis_multiply *work = call->work;
    const lacis_product *product = &work->product;
    const bool pull = shape == LACIS_PRODUCT_COLUMN, column = product->spec.shape == LACIS_PRODUCT_COLUMN;
    lacis_mul_gpu_job job;
    const char *why = NULL;
    lacis_vector_job(work->run, product, &job);
    if (product->spec.shape == LACIS_PRODUCT_MATRIX) {
        why = "only for a graph and a vector";
    } else if (job.agg != LACIS_MUL_COUNT &&
               (job.type == LACIS_MUL_C128 || job.a.type == LACIS_MUL_C128 || job.b.type == LACIS_MUL_C128)) {
        why = "not for complex values";
    } else if (product->spec.shape != shape) {
        why = lacis_against_refuses(work->run, work);
    } else {
        why = pull ? lacis_mul_gpu_pull_refuses(&job) : lacis_mul_gpu_push_refuses(&job);
    }
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    const double collected = (double)(column ? product->s.count : product->job.t_hi - product->job.t_lo);
    const double device = LACIS_VECTOR_CALL_SECONDS + (pull ? 1e-9 * LACIS_VECTOR_PULL_HOST_NS * collected : 0);
    double processor =
        column ? pull_most_seconds(product, call->profile) : lacis_product_most_seconds(product, call->profile);
    if (!lacis_gpu_worth(call, work->run, LACIS_GPU_LOAD_FIGURE, processor, device, reason, size)) return false;
    return call->on != LACIS_ON_GPU || lacis_run_gpu(work->run, reason, size) != NULL;
}

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(context, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(context, block);
}

lacis_status lacis_vector_begin(lacis_run *run, const lacis_product *product, lacis_gpu **gpu, lacis_mul_gpu_job *job)
{
    char reason[200];
    *gpu = lacis_run_gpu(run, reason, sizeof reason);
    if (*gpu == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    lacis_vector_job(run, product, job);
    job->stream = lacis_gpu_stream(*gpu);
    job->memory = (lacis_mul_gpu_memory){device_alloc, device_free, NULL, *gpu};
    return LACIS_OK;
}

lacis_status lacis_vector_failed(lacis_run *run, lacis_gpu *gpu, lacis_mul_gpu_status status, int cuda_error)
{
    if (status == LACIS_MUL_GPU_FAILED) return lacis_gpu_failed(run, gpu, cuda_error);
    if (status == LACIS_MUL_GPU_NO_MEMORY) return lacis_gpu_no_room(run, gpu, "the product besides its operands");
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this product after all");
}

lacis_status lacis_vector_sent(lacis_run *run, lacis_gpu *gpu, lacis_status status)
{
    return status == LACIS_LIMIT ? lacis_gpu_no_room(run, gpu, "the operands") : status;
}

/* HAVING where the kernels did not look at it. */
static lacis_status sift(lacis_run *run, const lacis_product *product, int64_t first, lacis_product_result *result)
{
    return product->strips.within ? LACIS_OK : lacis_product_sift(run, product, first, result);
}

/* The result as an array, TOP taken of a row. */
static lacis_status array_of(lacis_run *run, const lacis_multiply *work, int64_t begin, int64_t end,
                             const lacis_product_result *result, lacis_array **out)
{
    lacis_product product = work->product;
    if (product.spec.shape == LACIS_PRODUCT_ROW && product.job.top > 0) product.t_top = product.job.top;
    return lacis_product_array(run, &product, begin, end, result, NULL, NULL, out);
}

/* --- pull -------------------------------------------------------------------------------------- */

static bool pull_can(const lacis_call *call, char *reason, size_t size)
{
    return can(call, LACIS_PRODUCT_COLUMN, reason, size);
}

static double pull_missing(lacis_gpu *gpu, const lacis_multiply *work)
{
    const lacis_mul_job *job = &work->product.job;
    uint64_t rows = sizeof(int64_t) * (uint64_t)job->b.rows, bytes = lacis_send_missing(gpu, &work->sent, &job->a);
    if (lacis_vector_uses(job->con_kind, true))
        bytes += lacis_send_host_missing(gpu, &work->sent, job->b.value,
                                         lacis_vector_type_bytes(job->b.type) * lacis_send_places(&job->b));
    return (double)bytes + (every(&job->b) ? 0 : 2 * (double)rows);
}

static lacis_status pull_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_multiply *work = call->work;
    const lacis_product *product = &work->product;
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    LACIS_TRY(lacis_product_cost(run, &work->product, profile, call->closely, out));
    if (product->spec.shape == LACIS_PRODUCT_ROW) return lacis_against_cost(run, work, profile, out);
    double rows = (double)call->units, size = (double)lacis_dtype_size(product->storage);
    double ns =
        lacis_profile_get(profile, "multiply.gpu.vector.pull_entry_ns", 0.012) * (double)product->total_degree;
    out->once = lacis_gpu_start_seconds(run, profile, LACIS_GPU_LOAD_FIGURE);
    out->seconds = out->once + LACIS_VECTOR_CALL_SECONDS + 1e-9 * (ns + LACIS_VECTOR_PULL_HOST_NS * rows) +
                   lacis_gpu_copy_seconds(gpu, profile, pull_missing(gpu, work), (size + 1) * rows);
    return LACIS_OK;
}

static lacis_status pull_send(lacis_run *run, lacis_gpu *gpu, lacis_multiply *work, lacis_mul_gpu_pull *pull,
                              lacis_mul_gpu_job *job, lacis_mul_matrix *mask)
{
    const lacis_mul_job *from = &work->product.job;
    uint64_t rows = sizeof(int64_t) * (uint64_t)from->b.rows;
    const void *begin = NULL, *end = NULL, *value = NULL;
    LACIS_TRY(lacis_send_matrix(run, gpu, &work->sent, &from->a, &job->a));
    if (!pull->every) LACIS_TRY(lacis_send_host(run, gpu, &work->sent, from->b.begin, rows, &begin));
    if (!pull->every) LACIS_TRY(lacis_send_host(run, gpu, &work->sent, from->b.end, rows, &end));
    if (lacis_vector_uses(from->con_kind, true))
        LACIS_TRY(lacis_send_host(run, gpu, &work->sent, from->b.value,
                                  lacis_vector_type_bytes(from->b.type) * lacis_send_places(&from->b), &value));
    job->b.begin = begin;
    job->b.end = end;
    job->b.column = NULL;
    job->b.value = value;
    if (from->mask == NULL) return LACIS_OK;
    job->mask = mask;
    return lacis_send_matrix(run, gpu, &work->sent, from->mask, mask);
}

/* Values with a byte of presence each behind them, as they come from the device, into the rows of a result. */
static lacis_status pull_fetch(lacis_run *run, lacis_gpu *gpu, const void *device, uint64_t bytes, uint64_t values,
                               lacis_product_result *out)
{
    uint64_t rows = sizeof(int64_t) * (uint64_t)out->rows;
    LACIS_TRY(lacis_buffer_new(run, bytes, &out->value));
    LACIS_TRY(lacis_buffer_new(run, rows, &out->begin));
    LACIS_TRY(lacis_buffer_new(run, rows, &out->end));
    LACIS_TRY(lacis_gpu_download(run, gpu, device, bytes, lacis_buffer_data(out->value)));
    const uint8_t *present = (const uint8_t *)lacis_buffer_data(out->value) + values;
    int64_t *begin = lacis_buffer_data(out->begin), *end = lacis_buffer_data(out->end);
    for (int64_t r = 0; r < out->rows; r++) {
        begin[r] = r;
        end[r] = r + present[r];
        out->entries += present[r];
    }
    return LACIS_OK;
}

static lacis_status pull_rows(lacis_run *run, lacis_multiply *work, int64_t begin, int64_t end,
                              lacis_product_result *out)
{
    const lacis_product *product = &work->product;
    lacis_gpu *gpu;
    lacis_mul_gpu_job job;
    lacis_mul_matrix mask;
    LACIS_TRY(lacis_vector_begin(run, product, &gpu, &job));
    lacis_mul_gpu_pull pull = {.job = &job,
                               .every = every(&product->job.b),
                               .entries = product->total_degree,
                               .first = begin,
                               .count = end - begin};
    LACIS_TRY(lacis_vector_sent(run, gpu, pull_send(run, gpu, work, &pull, &job, &mask)));
    uint64_t values = lacis_dtype_size(product->storage) * (uint64_t)pull.count,
             bytes = values + (uint64_t)pull.count;
    pull.value = lacis_gpu_alloc(gpu, bytes);
    if (pull.value == NULL) return lacis_gpu_no_room(run, gpu, "the product besides its operands");
    pull.present = (uint8_t *)pull.value + values;
    lacis_mul_gpu_status done = lacis_mul_gpu_pull_run(&pull);
    lacis_status status = done == LACIS_MUL_GPU_OK ? pull_fetch(run, gpu, pull.value, bytes, values, out)
                                                   : lacis_vector_failed(run, gpu, done, pull.cuda_error);
    lacis_gpu_free(gpu, pull.value);
    return status;
}

static lacis_status pull_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    lacis_multiply *work = call->work;
    lacis_product_result result = {.rows = end - begin};
    lacis_status status = work->product.spec.shape == LACIS_PRODUCT_ROW ? lacis_against_pull(run, work, &result)
                                                                        : pull_rows(run, work, begin, end, &result);
    if (status == LACIS_OK) status = sift(run, &work->product, begin, &result);
    if (status == LACIS_OK) {
        lacis_run_count(run, "entries", (double)result.entries);
        status = array_of(run, work, begin, end, &result, out);
    }
    lacis_product_release(&result);
    return status;
}

/* --- push -------------------------------------------------------------------------------------- */

static bool push_can(const lacis_call *call, char *reason, size_t size)
{
    return can(call, LACIS_PRODUCT_ROW, reason, size);
}

static double push_missing(lacis_gpu *gpu, const lacis_multiply *work)
{
    const lacis_mul_job *job = &work->product.job;
    double vector =
        (double)(sizeof(uint32_t) + lacis_vector_type_bytes(job->a.type)) * (double)work->product.total_degree;
    return vector + (double)lacis_send_missing(gpu, &work->sent, &job->b);
}

static lacis_status push_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_multiply *work = call->work;
    const lacis_product *product = &work->product;
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    LACIS_TRY(lacis_product_cost(run, &work->product, profile, call->closely, out));
    if (product->spec.shape == LACIS_PRODUCT_COLUMN) return lacis_against_cost(run, work, profile, out);
    const double column_ns = 0.004; /* cleared, counted and looked at again */
    double ns =
        lacis_profile_get(profile, "multiply.gpu.vector.push_product_ns", 0.016) * (double)product->total_products;
    ns += column_ns * (double)(product->job.t_hi - product->job.t_lo) + LACIS_VECTOR_PUSH_HOST_NS * out->entries;
    out->once = lacis_gpu_start_seconds(run, profile, LACIS_GPU_LOAD_FIGURE);
    out->seconds = out->once + LACIS_VECTOR_CALL_SECONDS + 1e-9 * ns +
                   lacis_gpu_copy_seconds(gpu, profile, push_missing(gpu, work),
                                          (double)lacis_product_entry_bytes(product) * out->entries);
    return LACIS_OK;
}

static lacis_status push_send(lacis_run *run, lacis_gpu *gpu, lacis_multiply *work, lacis_mul_gpu_push *push,
                              lacis_mul_gpu_job *job, lacis_mul_matrix *mask)
{
    const lacis_mul_job *from = &work->product.job;
    const void *column, *value = NULL, *masked = NULL;
    LACIS_TRY(
        lacis_send_host(run, gpu, &work->sent, from->a.column, sizeof(uint32_t) * (uint64_t)push->end, &column));
    if (lacis_vector_uses(from->con_kind, false))
        LACIS_TRY(lacis_send_host(run, gpu, &work->sent, from->a.value,
                                  lacis_vector_type_bytes(from->a.type) * (uint64_t)push->end, &value));
    LACIS_TRY(lacis_send_matrix(run, gpu, &work->sent, &from->b, &job->b));
    job->a.column = column;
    job->a.value = value;
    if (from->mask == NULL) return LACIS_OK;
    push->mask_begin = from->mask->begin[0];
    push->mask_end = from->mask->end[0];
    LACIS_TRY(lacis_send_host(run, gpu, &work->sent, from->mask->column, sizeof(uint32_t) * (uint64_t)push->mask_end,
                              &masked));
    *mask = *from->mask;
    mask->column = masked;
    job->mask = mask;
    return LACIS_OK;
}

/* TOP of what was pushed, where it leaves out much; without memory for that the host takes it of all. */
static lacis_status push_top(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, lacis_mul_gpu_push *push)
{
    lacis_mul_gpu_top top = {.job = push->job, .count = push->entries, .column = push->column, .value = push->value};
    if (!lacis_vector_tops(product, push->entries)) return LACIS_OK;
    LACIS_TRY(lacis_vector_top(run, gpu, product, &top));
    if (top.out_column == NULL) return LACIS_OK;
    lacis_gpu_free(gpu, push->column);
    lacis_gpu_free(gpu, push->value);
    push->column = top.out_column;
    push->value = top.out_value;
    push->entries = top.entries;
    return LACIS_OK;
}

static lacis_status push_row(lacis_run *run, lacis_multiply *work, lacis_product_result *out)
{
    const lacis_product *product = &work->product;
    lacis_gpu *gpu;
    lacis_mul_gpu_job job;
    lacis_mul_matrix mask;
    LACIS_TRY(lacis_vector_begin(run, product, &gpu, &job));
    lacis_mul_gpu_push push = {.job = &job,
                               .begin = product->job.a.begin[0],
                               .end = product->job.a.end[0],
                               .products = product->total_products};
    LACIS_TRY(lacis_vector_sent(run, gpu, push_send(run, gpu, work, &push, &job, &mask)));
    lacis_mul_gpu_status done = lacis_mul_gpu_push_run(&push);
    if (done != LACIS_MUL_GPU_OK) return lacis_vector_failed(run, gpu, done, push.cuda_error);
    lacis_status status = push_top(run, gpu, product, &push);
    if (status == LACIS_OK)
        status = lacis_vector_fetch(run, gpu, product, push.column, push.value, push.entries, out);
    lacis_gpu_free(gpu, push.column);
    lacis_gpu_free(gpu, push.value);
    return status;
}

static lacis_status push_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    lacis_multiply *work = call->work;
    lacis_product_result result = {.rows = end - begin};
    lacis_status status = work->product.spec.shape == LACIS_PRODUCT_COLUMN
                              ? lacis_against_push(run, work, begin, end, &result)
                              : push_row(run, work, &result);
    if (status == LACIS_OK) status = sift(run, &work->product, begin, &result);
    if (status == LACIS_OK) {
        lacis_run_count(run, "products", (double)work->product.total_products);
        lacis_run_count(run, "entries", (double)result.entries);
        status = array_of(run, work, begin, end, &result, out);
    }
    lacis_product_release(&result);
    return status;
}

#else

static bool absent(const lacis_call *call, char *reason, size_t size)
{
    const lacis_multiply *work = call->work;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}
static bool pull_can(const lacis_call *call, char *reason, size_t size)
{
    return absent(call, reason, size);
}
static bool push_can(const lacis_call *call, char *reason, size_t size)
{
    return absent(call, reason, size);
}

/* Never asked. */
static lacis_status no_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}
static lacis_status no_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)call, (void)begin, (void)end, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}
#define pull_cost no_cost
#define push_cost no_cost
#define pull_run  no_run
#define push_run  no_run

#endif

const lacis_variant lacis_multiply_gpu_pull = {
    .name = "gpu pull",
    .device = LACIS_GPU,
    .summary = "graph BY vector: a few lanes a row collect its values of the vector, long rows in pieces; vector BY "
               "graph: likewise by columns",
    .can = pull_can,
    .cost = pull_cost,
    .run = pull_run,
};

const lacis_variant lacis_multiply_gpu_push = {
    .name = "gpu push",
    .device = LACIS_GPU,
    .summary = "vector BY graph: each entry of the vector scatters along its row into a cell a column; graph BY "
               "vector: likewise by columns",
    .can = push_can,
    .cost = push_cost,
    .run = push_run,
};
