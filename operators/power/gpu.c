/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER's variant "gpu" runs: the graph to the device (gpu_graph.c), blocks of sources there from the first round to
 * the last (gpu_rounds.c, gpu_closure.c), only their results to the host (gpu_result.c). gpu_cost.c says whether and
 * for how much.
 */
#include "power/gpu.h"

#include "multiply/device.h"
#include "multiply/written.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

static void label(const lacis_power *work, const lacis_labels *sources, lacis_product *product)
{
    product->s = *sources;
    product->c = lacis_labels_of_cols(&work->a); /* gpu_graph.c */
    product->t = lacis_labels_of_cols(&work->a);
}

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((struct lacis_power_gpu *)context)->gpu, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(((struct lacis_power_gpu *)context)->gpu, block);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(((struct lacis_power_gpu *)context)->run);
}

lacis_status lacis_power_gpu_status(struct lacis_power_gpu *on, lacis_mul_gpu_status status, int cuda_error)
{
    switch (status) {
    case LACIS_MUL_GPU_OK:
        return LACIS_OK;
    case LACIS_MUL_GPU_NO_MEMORY:
    case LACIS_MUL_GPU_ROOM:
        return LACIS_LIMIT;
    case LACIS_MUL_GPU_OVERFLOW: {
        lacis_product product = {.spec = on->work->spec};
        product.job.checked = true;
        if (on->written) product.job.con_kind = LACIS_MUL_CON_STRIPS;
        return lacis_product_fail(on->run, &product, LACIS_MUL_OVERFLOW);
    }
    case LACIS_MUL_GPU_CANCELLED:
        return lacis_run_interrupted(on->run);
    case LACIS_MUL_GPU_UNSUPPORTED:
        return lacis_run_fail(on->run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this product after all");
    case LACIS_MUL_GPU_UNCOMPILED:
        return lacis_written_failed(on->compiled);
    case LACIS_MUL_GPU_FAILED:
        break;
    }
    return lacis_gpu_failed(on->run, on->gpu, cuda_error);
}

lacis_status lacis_power_gpu_alloc(struct lacis_power_gpu *on, uint64_t bytes, void *out_pointer)
{
    void *block = lacis_gpu_alloc(on->gpu, bytes);
    memcpy(out_pointer, &block, sizeof block);
    return block == NULL ? LACIS_LIMIT : LACIS_OK;
}

lacis_status lacis_power_gpu_guard(struct lacis_power_gpu *on, lacis_mul_con con, double r, double a, double *most)
{
    const double end = 4611686018427387904.0; /* 2^62 */
    *most = con == LACIS_MUL_CON_A     ? r
            : con == LACIS_MUL_CON_B   ? a
            : con == LACIS_MUL_CON_ADD ? r + a
            : con == LACIS_MUL_CON_MUL ? r * a
                                       : 1;
    if (*most < end || (con != LACIS_MUL_CON_ADD && con != LACIS_MUL_CON_MUL)) return LACIS_OK;
    return lacis_run_fail(on->run, LACIS_UNSUPPORTED,
                          "CON's integers could overflow 64 bits, which the GPU does not look for");
}

/* Labels that CON takes from lists; all sources' once, for whatever block of them. */
static lacis_status send_lists(struct lacis_power_gpu *on, lacis_product *product, int64_t first,
                               lacis_mul_gpu_job *job)
{
    const lacis_labels *all = &on->work->start.s;
    label(on->work, all, product);
    LACIS_TRY(lacis_written_send(on->run, on->gpu, product, &on->work->sent, job));
    if (job->label[0] != NULL) job->label[0] += on->sources.label - all->label + first;
    return LACIS_OK;
}

lacis_status lacis_power_gpu_compile(struct lacis_power_gpu *on, lacis_product *product, int64_t first,
                                     lacis_mul_gpu_job *job, lacis_mul_gpu_written *kernels)
{
    lacis_labels sources = lacis_labels_from(&on->sources, first, on->sources.count - first);
    label(on->work, &sources, product);
    on->written = true;
    on->compiled = kernels;
    LACIS_TRY(lacis_written_prepare(on->run, on->gpu, product, job, kernels));
    return send_lists(on, product, first, job);
}

/* The graph's values as `type`, made once. */
lacis_status lacis_power_gpu_values(struct lacis_power_gpu *on, lacis_mul_type type, const void **out)
{
    lacis_dtype storage = on->storage;
    *out = on->a.value;
    if (on->a.value == NULL || lacis_mul_storage_of(storage) == lacis_power_storage_of(type)) return LACIS_OK;
    if (on->values[type] == NULL) {
        LACIS_TRY(lacis_power_gpu_alloc(on, on->places * lacis_power_type_bytes(type), &on->values[type]));
        int error = lacis_mul_gpu_convert(on->a.value, lacis_mul_storage_of(storage), on->places, on->values[type],
                                          lacis_power_storage_of(type), on->stream);
        if (error != 0) return lacis_gpu_failed(on->run, on->gpu, error);
    }
    *out = on->values[type];
    return LACIS_OK;
}

lacis_status lacis_power_gpu_look(struct lacis_power_gpu *on, const lacis_mul_matrix *rows, lacis_mul_gpu_facts *out)
{
    return lacis_power_gpu_status(on, lacis_mul_gpu_rows_look(rows, &on->memory, on->stream, out), out->cuda_error);
}

/* The greatest absolute value of the graph's, and whether all are finite; found once. */
lacis_status lacis_power_gpu_graph_facts(struct lacis_power_gpu *on, lacis_mul_type type)
{
    lacis_mul_matrix a = on->a;
    if (on->looked) return LACIS_OK;
    LACIS_TRY(lacis_power_gpu_values(on, type, &a.value));
    a.type = type;
    LACIS_TRY(lacis_power_gpu_look(on, &a, &on->facts));
    on->looked = true;
    return LACIS_OK;
}

void lacis_power_gpu_drop(struct lacis_power_gpu *on, struct lacis_power_device_rows *rows)
{
    lacis_gpu_free(on->gpu, rows->begin);
    lacis_gpu_free(on->gpu, rows->end);
    lacis_gpu_free(on->gpu, rows->column);
    lacis_gpu_free(on->gpu, rows->value);
    *rows = (struct lacis_power_device_rows){0};
}

/* Sources from `first` on as matrix of the device: rows of the graph. */
static lacis_status send_start(struct lacis_power_gpu *on, const lacis_csr *start)
{
    uint64_t bytes = sizeof(int64_t) * (uint64_t)start->rows;
    LACIS_TRY(lacis_power_gpu_alloc(on, bytes, &on->start_begin));
    LACIS_TRY(lacis_power_gpu_alloc(on, bytes, &on->start_end));
    LACIS_TRY(lacis_gpu_upload(on->run, on->gpu, start->begin, bytes, on->start_begin));
    return lacis_gpu_upload(on->run, on->gpu, start->end, bytes, on->start_end);
}

/* As many sources as fit, halved until they do. */
static lacis_status run_blocks(struct lacis_power_gpu *on, int64_t rows)
{
    int64_t count = on->work->stable ? lacis_power_gpu_closure_rows(on, rows) : rows;
    for (int64_t first = 0; first < rows;) {
        struct lacis_power_device_rows part = {0};
        if (count > rows - first) count = rows - first;
        on->out->share = (double)first / (double)rows;
        lacis_status status = on->work->stable ? lacis_power_gpu_closure(on, first, count, &part)
                                               : lacis_power_gpu_rounds(on, first, count, &part);
        if (status == LACIS_OK) {
            status = lacis_power_gpu_fetch(on, first, count, &part);
            lacis_power_gpu_drop(on, &part);
            LACIS_TRY(status);
            first += count;
            on->blocks++;
        } else if (status != LACIS_LIMIT) {
            return status;
        } else if (count > 1) {
            count /= 2;
        } else {
            return lacis_gpu_no_room(on->run, on->gpu, "a round of one source besides the graph");
        }
    }
    return LACIS_OK;
}

static void report(const struct lacis_power_gpu *on)
{
    lacis_run_count(on->run, "products", (double)on->out->products);
    lacis_run_count(on->run, "GPU blocks of sources", (double)on->blocks);
    if (!on->work->stable) return;
    lacis_run_count(on->run, "GPU rounds pushed", (double)on->pushed);
    lacis_run_count(on->run, "GPU rounds multiplied", (double)on->multiplied);
}

static void clear(struct lacis_power_gpu *on)
{
    for (int i = 0; i < LACIS_COUNT(on->values); i++)
        lacis_gpu_free(on->gpu, on->values[i]);
    lacis_gpu_free(on->gpu, on->start_begin);
    lacis_gpu_free(on->gpu, on->start_end);
}

static lacis_status run_all(struct lacis_power_gpu *on, const lacis_csr *start)
{
    on->stream = lacis_gpu_stream(on->gpu);
    on->memory = (lacis_mul_gpu_memory){device_alloc, device_free, stopped, on};
    lacis_status status = lacis_power_gpu_send(on);
    if (status == LACIS_OK) status = send_start(on, start);
    if (status == LACIS_LIMIT) return lacis_gpu_no_room(on->run, on->gpu, "the graph");
    LACIS_TRY(status);
    LACIS_TRY(lacis_buffer_new(on->run, sizeof(int64_t) * (uint64_t)start->rows, &on->out->rows.begin));
    LACIS_TRY(lacis_buffer_new(on->run, sizeof(int64_t) * (uint64_t)start->rows, &on->out->rows.end));
    LACIS_TRY(run_blocks(on, start->rows));
    LACIS_TRY(lacis_power_gpu_result(on, on->work->dtype)); /* where nothing came out */
    report(on);
    return LACIS_OK;
}

static lacis_status compute(lacis_run *run, lacis_power *work, const lacis_csr *start, lacis_power_rows *out)
{
    char reason[200];
    struct lacis_power_gpu on = {.run = run, .work = work, .out = out, .sources = lacis_labels_of_rows(start)};
    *out = (lacis_power_rows){.rows = {.rows = start->rows}};
    on.gpu = lacis_run_gpu(run, reason, sizeof reason);
    if (on.gpu == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    lacis_status status = run_all(&on, start);
    clear(&on);
    if (status != LACIS_OK) lacis_product_release(&out->rows);
    return status;
}

static lacis_status gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    lacis_power *work = call->work;
    lacis_csr start = lacis_power_start(work, begin, end);
    lacis_power_rows rows;
    LACIS_TRY(compute(run, work, &start, &rows));
    return lacis_power_array(run, work, begin, end, &rows, out);
}

#else

static lacis_status gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)call, (void)begin, (void)end, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif

const lacis_variant lacis_power_gpu_variant = {
    .name = "gpu",
    .device = LACIS_GPU,
    .summary = "rounds on the GPU from the first to the last; closures push along edges while little changes",
    .can = lacis_power_gpu_can,
    .cost = lacis_power_gpu_cost,
    .run = gpu_run,
};
