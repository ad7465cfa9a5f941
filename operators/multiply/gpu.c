/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" runs: rows in as few panels as the devices' memory allows, dealt over the devices; results
 * to the host, where a copy of what came whole stays on the device for what comes next, or their totals alone.
 */
#include "multiply/device.h"
#include "multiply/written.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

/* ------------------------------------------------------------------------------------- what was done */

static void add_sums(lacis_mul_gpu_output *to, const lacis_mul_gpu_output *from)
{
    to->products += from->products;
    to->counted += from->counted;
    to->setup_seconds += from->setup_seconds;
    for (int i = 0; i < LACIS_MUL_GPU_CLASSES; i++) {
        to->class_rows[i] += from->class_rows[i];
        to->class_products[i] += from->class_products[i];
        to->class_seconds[i] += from->class_seconds[i];
    }
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
    if (out->counted > 0) lacis_run_count(run, "GPU rows counted first", (double)out->counted);
    lacis_run_count(run, "products", (double)out->products);
}

/* ------------------------------------------------------------------------------------- result to the host */

static lacis_status place(void *context, lacis_panel *panel)
{
    lacis_multiply_run *running = context;
    const lacis_multiply_panel *own = panel->own;
    lacis_product_result *result = running->result;
    LACIS_TRY(lacis_product_charge(running->run, &running->work->product, result, own->out.entries));
    panel->place = (int64_t)result->used;
    result->used += own->out.entries;
    result->entries += own->out.entries;
    add_sums(&running->sums, &own->out);
    return LACIS_OK;
}

static lacis_status fetch_rows(const lacis_multiply_run *running, const lacis_panel *panel)
{
    const lacis_multiply_panel *own = panel->own;
    const lacis_product_result *result = running->result;
    uint64_t bytes = sizeof(int64_t) * (uint64_t)panel->count;
    int64_t *begin = (int64_t *)lacis_buffer_data(result->begin) + (panel->first - running->begin);
    int64_t *end = (int64_t *)lacis_buffer_data(result->end) + (panel->first - running->begin);
    LACIS_TRY(lacis_gpu_fetch(running->run, panel->gpu, own->begin, bytes, begin));
    LACIS_TRY(lacis_gpu_fetch(running->run, panel->gpu, own->end, bytes, end));
    for (int64_t i = 0; panel->place > 0 && i < panel->count; i++) {
        begin[i] += panel->place;
        end[i] += panel->place;
    }
    return LACIS_OK;
}

/* The whole result came in one panel: its blocks become the copies of the host's buffers. */
static void keep(const lacis_multiply_run *running, lacis_panel *panel)
{
    lacis_multiply_panel *own = panel->own;
    const lacis_product_result *result = running->result;
    uint64_t n = own->out.entries, rows = sizeof(int64_t) * (uint64_t)panel->count;
    lacis_gpu_keep(panel->gpu, result->begin, 0, rows, own->begin);
    lacis_gpu_keep(panel->gpu, result->end, 0, rows, own->end);
    own->begin = own->end = NULL;
    if (n == 0) return;
    lacis_gpu_keep(panel->gpu, result->column, 0, sizeof(uint32_t) * n, own->out.column);
    lacis_gpu_keep(panel->gpu, result->value, 0, running->value_bytes * n, own->out.value);
    own->out.column = NULL;
    own->out.value = NULL;
}

static lacis_status fetch(void *context, lacis_panel *panel)
{
    const lacis_multiply_run *running = context;
    const lacis_multiply_panel *own = panel->own;
    const lacis_product_result *result = running->result;
    uint64_t n = own->out.entries, at = (uint64_t)panel->place, size = running->value_bytes;
    LACIS_TRY(fetch_rows(running, panel));
    LACIS_TRY(lacis_gpu_fetch(running->run, panel->gpu, own->out.column, sizeof(uint32_t) * n,
                              (uint32_t *)lacis_buffer_data(result->column) + at));
    LACIS_TRY(lacis_gpu_fetch(running->run, panel->gpu, own->out.value, size * n,
                              (char *)lacis_buffer_data(result->value) + size * at));
    bool whole = panel->first == running->begin && panel->first + panel->count == running->end;
    if (whole && running->devices == 1) keep(running, panel);
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- totals */

static double *group_of(const lacis_multiply_run *running, int device)
{
    return running->real
               ? running->group + device * lacis_mul_gpu_groups(running->begin, running->end - running->begin)
               : NULL;
}

static lacis_status compute_totals(void *context, lacis_panel *panel)
{
    lacis_multiply_run *running = context;
    lacis_multiply_device *device = &running->device[panel->device];
    lacis_multiply_panel *own = panel->own;
    LACIS_TRY(lacis_multiply_panel_compute(context, panel));
    lacis_mul_gpu_status status = lacis_mul_gpu_summarize(&device->job, &device->keys, panel->first, panel->count,
                                                          &own->out, &own->summary, group_of(running, panel->device));
    if (status == LACIS_MUL_GPU_NO_MEMORY) return LACIS_LIMIT;
    return status == LACIS_MUL_GPU_OK ? LACIS_OK : lacis_gpu_broke(panel->gpu, own->out.cuda_error);
}

static lacis_status place_totals(void *context, lacis_panel *panel)
{
    lacis_multiply_run *running = context;
    const lacis_product *product = &running->work->product;
    const lacis_multiply_panel *own = panel->own;
    const lacis_mul_gpu_summary *summary = &own->summary;
    const double *group = group_of(running, panel->device);
    add_sums(&running->sums, &own->out);
    if (summary->count == 0) return LACIS_OK;
    lacis_totals more;
    lacis_totals_init(&more);
    more.count = (int64_t)summary->count;
    more.nan = (int64_t)summary->nan;
    more.min_src = lacis_labels_at(&product->s, summary->first_row);
    more.max_src = lacis_labels_at(&product->s, summary->last_row);
    more.min_dst = lacis_labels_at(&product->t, summary->min_column);
    more.max_dst = lacis_labels_at(&product->t, summary->max_column);
    more.sum_src = summary->src;
    more.sum_dst = summary->dst + (product->t.label == NULL ? (__int128)product->t.base * more.count : 0);
    if (group == NULL) {
        more.exact = summary->value;
        more.min_int = summary->min_int;
        more.max_int = summary->max_int;
    } else {
        more.min = summary->min;
        more.max = summary->max;
    }
    for (int64_t i = 0; group != NULL && i < lacis_mul_gpu_groups(panel->first, panel->count); i++)
        running->totals->sum += group[i];
    lacis_totals_merge(running->totals, &more);
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- runs */

/* What panels ended with, in the user's words. */
static lacis_status told(const lacis_multiply_run *running, lacis_status status)
{
    lacis_run *run = running->run;
    if (status == LACIS_OVERFLOW) return lacis_product_fail(run, &running->work->product, LACIS_MUL_OVERFLOW);
    if (status == LACIS_INTERRUPT) return lacis_run_interrupted(run);
    if (status == LACIS_MISUSE)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this product after all");
    return status;
}

static lacis_status deal_rows(lacis_multiply_run *running)
{
    bool totals = running->result == NULL, little = running->devices > 1 && lacis_multiply_copies_little(running);
    lacis_gpu *gpu[LACIS_GPUS];
    lacis_panels_report done;
    const lacis_panels panels = {.begin = running->begin,
                                 .end = running->end,
                                 .together = totals ? LACIS_MUL_GPU_GROUP : 0,
                                 .own_bytes = sizeof(lacis_multiply_panel),
                                 .context = running,
                                 .size = lacis_multiply_panel_rows,
                                 .compute = totals ? compute_totals : lacis_multiply_panel_compute,
                                 .place = totals ? place_totals : place,
                                 .fetch = totals ? NULL : fetch,
                                 .drop = lacis_multiply_panel_drop,
                                 .single = little,
                                 .awake = little,
                                 .verb = running->work->product.spec.verb};
    for (int i = 0; i < running->devices; i++)
        gpu[i] = running->device[i].gpu;
    lacis_status status = lacis_gpu_panels(running->run, gpu, running->devices, &panels, &done);
    if (status != LACIS_OK) return told(running, status);
    report(running->run, &running->sums);
    return LACIS_OK;
}

static lacis_multiply_run *begin_run(lacis_run *run, lacis_multiply *work, int64_t begin, int64_t end)
{
    const lacis_product *product = &work->product;
    lacis_multiply_run *running;
    if (lacis_run_scratch(run, sizeof *running, &running) != LACIS_OK) return NULL;
    *running = (lacis_multiply_run){.run = run, .work = work, .begin = begin, .end = end};
    running->value_bytes = lacis_dtype_size(product->storage);
    running->real = product->storage == LACIS_F32 || product->storage == LACIS_F64;
    bool all = begin == 0 && end == product->s.count;
    running->products = all ? product->total_products : 0;
    for (int64_t r = begin; !all && r < end; r++)
        running->products += product->products[r];
    return running;
}

static lacis_status compute_all(lacis_multiply_run *running, lacis_product_result *result)
{
    const lacis_product *product = &running->work->product;
    running->result = result;
    LACIS_TRY(lacis_multiply_devices(running));
    LACIS_TRY(lacis_product_buffers(running->run, product, running->begin, running->end, result));
    LACIS_TRY(deal_rows(running));
    lacis_product_trim(product, result);
    return LACIS_OK;
}

static lacis_status gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    lacis_multiply *work = call->work;
    lacis_product_result result = {.rows = end - begin};
    lacis_multiply_run *running = begin_run(run, work, begin, end);
    if (running == NULL) return LACIS_NOMEM;
    lacis_status status = compute_all(running, &result);
    if (status == LACIS_OK) {
        lacis_run_count(run, "entries", (double)result.entries);
        status =
            lacis_product_array(run, &work->product, begin, end, &result, work->row_labels, work->col_labels, out);
    }
    lacis_product_release(&result);
    return status;
}

static lacis_status sum_all(lacis_multiply_run *running, lacis_totals *totals)
{
    uint64_t groups = (uint64_t)lacis_mul_gpu_groups(running->begin, running->end - running->begin);
    LACIS_TRY(lacis_multiply_devices(running));
    if (running->real)
        LACIS_TRY(
            lacis_run_alloc(running->run, sizeof(double) * groups * (uint64_t)running->devices, &running->group));
    int64_t before = totals->count;
    lacis_status status = deal_rows(running);
    lacis_run_free(running->run, running->group);
    LACIS_TRY(status);
    lacis_run_count(running->run, "entries", (double)(totals->count - before));
    lacis_totals_settle(totals, !running->real);
    return LACIS_OK;
}

static lacis_status gpu_totals(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                               lacis_totals *totals)
{
    lacis_multiply *work = call->work;
    const lacis_product *product = &work->product;
    /* A vector is small, and what it keeps is decided on the host; of pairs of numbers nobody asks for totals. */
    if (product->spec.shape != LACIS_PRODUCT_MATRIX || product->storage > LACIS_F64) {
        lacis_array *array;
        LACIS_TRY(gpu_run(run, call, begin, end, &array));
        lacis_status status = lacis_totals_add(run, array, totals);
        lacis_array_release(array);
        return status;
    }
    lacis_multiply_run *running = begin_run(run, work, begin, end);
    if (running == NULL) return LACIS_NOMEM;
    running->totals = totals;
    return sum_all(running, totals);
}

#else

static lacis_status gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)call, (void)begin, (void)end, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

static lacis_status gpu_totals(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                               lacis_totals *totals)
{
    (void)totals;
    return gpu_run(run, call, begin, end, NULL);
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
    .totals = gpu_totals,
};
