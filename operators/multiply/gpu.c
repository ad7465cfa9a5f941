/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" runs: operands to the device, rows in as few panels as its memory allows, results to the
 * host, where copies of them stay on the device for what comes next.
 */
#include "multiply/device.h"
#include "multiply/written.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

/* One run: the job on the device, and the result as far as it has come. */
struct running {
    lacis_run *run;
    lacis_gpu *gpu;
    const lacis_multiply *work;
    lacis_mul_gpu_job job;
    lacis_mul_gpu_written written;
    lacis_mul_matrix mask;
    uint64_t value_bytes;
    lacis_product_result *result;
    int64_t begin; /* the result's first row */
    int panels;
};

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((struct running *)context)->gpu, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(((struct running *)context)->gpu, block);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(((struct running *)context)->run);
}

static lacis_status no_room(lacis_run *run, lacis_gpu *gpu, const char *what)
{
    lacis_gpu_facts facts;
    lacis_gpu_describe(gpu, &facts);
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's memory (%.3g GB for this database) does not hold %s",
                          1e-9 * (double)facts.budget, what);
}

static lacis_status send_operands(struct running *running, lacis_sent *sent)
{
    lacis_run *run = running->run;
    const lacis_mul_job *job = &running->work->product.job;
    lacis_status status = lacis_send_matrix(run, running->gpu, sent, &job->a, &running->job.a);
    if (status == LACIS_OK) status = lacis_send_matrix(run, running->gpu, sent, &job->b, &running->job.b);
    if (status == LACIS_OK && job->mask != NULL) {
        status = lacis_send_matrix(run, running->gpu, sent, job->mask, &running->mask);
        running->job.mask = &running->mask;
    }
    if (status == LACIS_OK)
        status = lacis_written_send(run, running->gpu, &running->work->product, sent, &running->job);
    return status == LACIS_LIMIT ? no_room(run, running->gpu, "the operands") : status;
}

/* The device's part of a result, from kernels to host. */
struct panel {
    int64_t *begin, *end;
    lacis_mul_gpu_output out;
};

static void free_panel(struct running *running, struct panel *panel)
{
    lacis_gpu_free(running->gpu, panel->begin);
    lacis_gpu_free(running->gpu, panel->end);
    lacis_gpu_free(running->gpu, panel->out.column);
    lacis_gpu_free(running->gpu, panel->out.value);
    *panel = (struct panel){0};
}

static void report(lacis_run *run, const lacis_mul_gpu_output *out)
{
    char what[64];
    for (int i = 0; i < LACIS_MUL_GPU_CLASSES; i++) {
        const char *name = lacis_mul_gpu_class_name[i];
        if (out->class_rows[i] == 0) continue;
        snprintf(what, sizeof what, "GPU rows %s", name);
        lacis_run_count(run, what, (double)out->class_rows[i]);
        snprintf(what, sizeof what, "GPU products %s", name);
        lacis_run_count(run, what, (double)out->class_products[i]);
        snprintf(what, sizeof what, "GPU seconds %s", name);
        if (out->class_seconds[i] > 0) lacis_run_count(run, what, out->class_seconds[i]);
    }
    if (out->setup_seconds > 0) lacis_run_count(run, "GPU seconds set-up", out->setup_seconds);
    lacis_run_count(run, "products", (double)out->products);
}

/* *fits is false where the device has no room for so many rows. */
static lacis_status compute(struct running *running, int64_t first, int64_t count, struct panel *panel, bool *fits)
{
    lacis_run *run = running->run;
    uint64_t bytes = sizeof(int64_t) * (uint64_t)count;
    *fits = false;
    *panel = (struct panel){lacis_gpu_alloc(running->gpu, bytes), lacis_gpu_alloc(running->gpu, bytes), {0}};
    if (panel->begin == NULL || panel->end == NULL) return LACIS_OK;
    panel->out.begin = panel->begin - first; /* kernels number rows as a does */
    panel->out.end = panel->end - first;
    lacis_mul_gpu_status status = lacis_mul_gpu_run(&running->job, NULL, first, count, &panel->out);
    *fits = status == LACIS_MUL_GPU_OK;
    switch (status) {
    case LACIS_MUL_GPU_OK:
        report(run, &panel->out);
        break;
    case LACIS_MUL_GPU_NO_MEMORY:
    case LACIS_MUL_GPU_ROOM:
        break;
    case LACIS_MUL_GPU_OVERFLOW:
        return lacis_product_fail(run, &running->work->product, LACIS_MUL_OVERFLOW);
    case LACIS_MUL_GPU_CANCELLED:
        return lacis_run_interrupted(run);
    case LACIS_MUL_GPU_UNSUPPORTED:
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this product after all");
    case LACIS_MUL_GPU_UNCOMPILED:
        return lacis_written_failed(&running->written);
    case LACIS_MUL_GPU_FAILED:
        return lacis_gpu_failed(run, running->gpu, panel->out.cuda_error);
    }
    return LACIS_OK;
}

static lacis_status fetch_rows(struct running *running, int64_t first, int64_t count, const struct panel *panel)
{
    lacis_product_result *result = running->result;
    uint64_t bytes = sizeof(int64_t) * (uint64_t)count;
    int64_t *begin = (int64_t *)lacis_buffer_data(result->begin) + (first - running->begin);
    int64_t *end = (int64_t *)lacis_buffer_data(result->end) + (first - running->begin);
    LACIS_TRY(lacis_gpu_download(running->run, running->gpu, panel->begin, bytes, begin));
    LACIS_TRY(lacis_gpu_download(running->run, running->gpu, panel->end, bytes, end));
    for (int64_t i = 0; result->used > 0 && i < count; i++) {
        begin[i] += (int64_t)result->used;
        end[i] += (int64_t)result->used;
    }
    return LACIS_OK;
}

static lacis_status fetch(struct running *running, int64_t first, int64_t count, const struct panel *panel)
{
    lacis_product_result *result = running->result;
    uint64_t n = panel->out.entries, column = sizeof(uint32_t) * n, value = running->value_bytes * n;
    LACIS_TRY(fetch_rows(running, first, count, panel));
    LACIS_TRY(lacis_product_charge(running->run, &running->work->product, result, n));
    LACIS_TRY(lacis_gpu_download(running->run, running->gpu, panel->out.column, column,
                                 (uint32_t *)lacis_buffer_data(result->column) + result->used));
    LACIS_TRY(lacis_gpu_download(running->run, running->gpu, panel->out.value, value,
                                 (char *)lacis_buffer_data(result->value) + running->value_bytes * result->used));
    result->used += n;
    result->entries += n;
    return LACIS_OK;
}

/* The whole result came in one panel: its blocks become the copies of the host's buffers. */
static void keep(struct running *running, int64_t count, struct panel *panel)
{
    const lacis_product_result *result = running->result;
    uint64_t n = panel->out.entries, rows = sizeof(int64_t) * (uint64_t)count;
    lacis_gpu_keep(running->gpu, result->begin, 0, rows, panel->begin);
    lacis_gpu_keep(running->gpu, result->end, 0, rows, panel->end);
    panel->begin = panel->end = NULL;
    if (n == 0) return;
    lacis_gpu_keep(running->gpu, result->column, 0, sizeof(uint32_t) * n, panel->out.column);
    lacis_gpu_keep(running->gpu, result->value, 0, running->value_bytes * n, panel->out.value);
    panel->out.column = NULL;
    panel->out.value = NULL;
}

/* How many rows from `first` on surely fit: twice their bound, since rows are moved together at the end. */
static int64_t panel_rows(const struct running *running, int64_t first, int64_t end)
{
    const lacis_product *product = &running->work->product;
    uint64_t left = lacis_gpu_memory_left(running->gpu) / 10 * 9;
    uint64_t entry = 2 * lacis_product_entry_bytes(product), used = 0;
    int64_t r = first;
    for (; r < end; r++) {
        used += 2 * sizeof(int64_t) + entry * lacis_mul_bound(&product->job, r, product->products[r]);
        if (used > left) break;
    }
    int64_t rows = r > first ? r - first : 1;
    uint64_t work = lacis_mul_gpu_work_bytes(&running->job, rows);
    if (used + work <= left || rows == 1) return rows;
    return rows / 2 > 0 ? rows / 2 : 1; /* fewer still if that is not enough: the caller halves */
}

/* Rows from `first` on, as many as go at once; *count says how many. */
static lacis_status run_panel(struct running *running, int64_t first, int64_t end, int64_t *count)
{
    struct panel panel;
    bool fits = false;
    *count = panel_rows(running, first, end);
    for (;;) {
        lacis_status status = compute(running, first, *count, &panel, &fits);
        if (status != LACIS_OK || fits) {
            if (status == LACIS_OK) status = fetch(running, first, *count, &panel);
            bool whole = first == running->begin && first + *count == end;
            if (status == LACIS_OK && whole) keep(running, *count, &panel);
            free_panel(running, &panel);
            return status;
        }
        free_panel(running, &panel);
        if (*count == 1) return no_room(running->run, running->gpu, "one row's products besides the operands");
        *count = *count / 2;
    }
}

static lacis_status run_rows(struct running *running, int64_t end)
{
    int64_t count;
    for (int64_t at = running->begin; at < end; at += count) {
        if (lacis_run_cancelled(running->run)) return lacis_run_interrupted(running->run);
        LACIS_TRY(run_panel(running, at, end, &count));
        running->panels++;
    }
    lacis_run_count(running->run, "GPU panels", running->panels);
    return LACIS_OK;
}

static lacis_status compute_all(lacis_run *run, lacis_multiply *work, int64_t begin, int64_t end,
                                lacis_product_result *result)
{
    char reason[200];
    struct running running = {.run = run, .work = work, .result = result, .begin = begin};
    running.gpu = lacis_run_gpu(run, reason, sizeof reason);
    if (running.gpu == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    lacis_multiply_gpu_job(&work->product, &running.job);
    running.job.ordered = lacis_run_deterministic(run);
    running.job.timed = lacis_run_timed(run);
    running.job.stream = lacis_gpu_stream(running.gpu);
    running.job.memory = (lacis_mul_gpu_memory){device_alloc, device_free, stopped, &running};
    running.value_bytes = lacis_dtype_size(work->product.storage);
    if (lacis_written_needed(&work->product)) {
        LACIS_TRY(lacis_written_prepare(run, running.gpu, &work->product, &running.job, &running.written));
    }
    LACIS_TRY(send_operands(&running, &work->sent));
    LACIS_TRY(lacis_product_buffers(run, &work->product, begin, end, result));
    LACIS_TRY(run_rows(&running, end));
    lacis_product_trim(&work->product, result);
    return LACIS_OK;
}

static lacis_status gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    lacis_multiply *work = call->work;
    lacis_product_result result = {.rows = end - begin};
    lacis_status status = compute_all(run, work, begin, end, &result);
    if (status == LACIS_OK) {
        lacis_run_count(run, "entries", (double)result.entries);
        status =
            lacis_product_array(run, &work->product, begin, end, &result, work->row_labels, work->col_labels, out);
    }
    lacis_product_release(&result);
    return status;
}

#else

static lacis_status gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)call, (void)begin, (void)end, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif

const lacis_variant lacis_multiply_gpu = {
    .name = "gpu",
    .device = LACIS_GPU,
    .summary =
        "rows in classes by their number of paths: sorted in registers, ranked in bitmaps, or in dense windows",
    .can = lacis_multiply_gpu_can,
    .cost = lacis_multiply_gpu_cost,
    .run = gpu_run,
};
