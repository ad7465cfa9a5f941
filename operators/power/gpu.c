/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER's variant "gpu": whether the kernels can do a call and the device may be asked for it, what it would cost,
 * and its run: the graph to the device (gpu_graph.c), blocks of sources there from the first round to the last
 * (gpu_rounds.c, gpu_closure.c), only their results to the host.
 */
#include "power/gpu.h"

#include "multiply/device.h"
#include "multiply/written.h"

#include <string.h>

#ifdef LACIS_GPU_KERNELS

/* A call and two rounds, at least. */
static const double CALL_SECONDS = 2e-4;

/* ----------------------------------------------------------------------------------------- whether */

static lacis_mul_con form_of(const lacis_product_spec *spec)
{
    return spec->con == NULL ? spec->form : lacis_con_form(spec->con);
}

static const char *refuses(const lacis_power *work)
{
    const uint64_t places = UINT32_MAX - 64; /* of the graph: its entries are numbered in 32 bits there */
    if (!work->stable && work->rounds == 1) return "there is nothing to multiply";
    if (work->stable && (work->a.dtype == LACIS_C64 || work->a.dtype == LACIS_C128 || work->type == LACIS_C128))
        return "closures of complex values are only done on the CPU";
    if (work->a.cols >= (int64_t)UINT32_MAX) return "a dimension has 2^32 rows or columns";
    if ((uint64_t)work->a.entries >= places) return "the graph has too many entries";
    return NULL;
}

static void label(const lacis_power *work, const lacis_labels *sources, lacis_product *product)
{
    product->s = *sources;
    product->c = lacis_labels_of_cols(&work->a); /* gpu_graph.c */
    product->t = lacis_labels_of_cols(&work->a);
}

static bool written(const lacis_power *work)
{
    return work->spec.agg == LACIS_AGG_FOLD || form_of(&work->spec) == LACIS_MUL_CON_STRIPS;
}

/* Whether NVRTC can have CON and AGG. */
static bool can_write(const lacis_power *work, char *reason, size_t size)
{
    const lacis_product product = {.spec = work->spec};
    return !written(work) || lacis_written_can(&product, reason, size);
}

bool lacis_power_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_power *work = call->work;
    const char *why = refuses(work);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    double copies = 4 * lacis_profile_get(call->profile, LACIS_GPU_COPY_FIGURE, LACIS_GPU_COPY_SECONDS);
    if (!lacis_gpu_worth(call, work->run, LACIS_GPU_LOAD_FIGURE, lacis_power_most_seconds(work, call->profile),
                         CALL_SECONDS + copies, reason, size))
        return false;
    if (!can_write(work, reason, size)) return false;
    return call->on != LACIS_ON_GPU || lacis_run_gpu(work->run, reason, size) != NULL;
}

/* ------------------------------------------------------------------------------------------- costs */

/* NVRTC, unless it was compiled before, which is not known here; and the device's start. */
static double once_seconds(const lacis_power *work, const lacis_profile *profile)
{
    const double compile_seconds = 1.2;
    double start = lacis_gpu_start_seconds(work->run, profile, LACIS_GPU_LOAD_FIGURE);
    return start + (written(work) ? compile_seconds : 0);
}

/* A round waits for the device; a path is an atomic, or a product and its offer; the result is looked through.
 * Measured on an H200. */
double lacis_power_gpu_seconds(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                               const lacis_cost *work_of)
{
    const lacis_power *work = call->work;
    const lacis_gpu *gpu = lacis_gpu_at_hand(run);
    const lacis_mul_matrix a = lacis_power_host_graph(work);
    double round = lacis_profile_get(profile, "power.gpu.round_ns", work->stable ? 3e4 : 2e5);
    double path = lacis_profile_get(profile, "power.gpu.path_ns", 0.02), cell_ns = 0.006;
    double cells = work->stable ? (double)call->units * (double)work->a.cols : work_of->entries;
    double missing = (double)lacis_send_missing(lacis_gpu_at_hand(run), &work->sent, &a);
    return once_seconds(work, profile) + CALL_SECONDS +
           1e-9 * (round * work->expected_rounds + path * work_of->products + cell_ns * cells) +
           lacis_gpu_copy_seconds(gpu, profile, missing, work_of->bytes);
}

static lacis_status gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    LACIS_TRY(lacis_power_cost(run, call, profile, out));
    out->once = once_seconds(call->work, profile);
    out->seconds = lacis_power_gpu_seconds(run, call, profile, out);
    out->peak_bytes = out->bytes;
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- run */

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

static lacis_status fetch_bounds(struct lacis_power_gpu *on, int64_t first, int64_t count,
                                 const struct lacis_power_device_rows *from)
{
    lacis_product_result *to = &on->out->rows;
    uint64_t bytes = sizeof(int64_t) * (uint64_t)count;
    int64_t *begin = (int64_t *)lacis_buffer_data(to->begin) + first;
    int64_t *end = (int64_t *)lacis_buffer_data(to->end) + first;
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, from->begin, bytes, begin));
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, from->end, bytes, end));
    for (int64_t i = 0; to->used > 0 && i < count; i++) {
        begin[i] += (int64_t)to->used;
        end[i] += (int64_t)to->used;
    }
    return LACIS_OK;
}

/* Room for the whole result as address space, once its type is known: that of the first block with entries. */
static lacis_status make_result(struct lacis_power_gpu *on, lacis_dtype storage)
{
    lacis_product_result *to = &on->out->rows;
    uint64_t places = (uint64_t)to->rows * (uint64_t)on->work->a.cols;
    if (to->column != NULL) return LACIS_OK;
    on->out->storage = storage;
    LACIS_TRY(lacis_buffer_reserve(on->run, places * sizeof(uint32_t), &to->column));
    return lacis_buffer_reserve(on->run, places * lacis_dtype_size(storage), &to->value);
}

static lacis_status charge(struct lacis_power_gpu *on, uint64_t entries)
{
    lacis_product_result *to = &on->out->rows;
    lacis_status status = lacis_buffer_charge(to->column, entries * sizeof(uint32_t));
    if (status == LACIS_OK) status = lacis_buffer_charge(to->value, entries * lacis_dtype_size(on->out->storage));
    return status == LACIS_OK ? LACIS_OK : lacis_power_too_large(on->run, status);
}

/* A block that is the whole result leaves its pieces on the device as copies of the host's. */
static void keep(struct lacis_power_gpu *on, int64_t count, struct lacis_power_device_rows *from, uint64_t size)
{
    const lacis_product_result *to = &on->out->rows;
    uint64_t rows = sizeof(int64_t) * (uint64_t)count, n = from->entries;
    if (count != to->rows || n == 0) return;
    lacis_gpu_keep(on->gpu, to->begin, 0, rows, from->begin);
    lacis_gpu_keep(on->gpu, to->end, 0, rows, from->end);
    lacis_gpu_keep(on->gpu, to->column, 0, sizeof(uint32_t) * n, from->column);
    lacis_gpu_keep(on->gpu, to->value, 0, size * n, from->value);
    *from = (struct lacis_power_device_rows){0};
}

static lacis_status fetch(struct lacis_power_gpu *on, int64_t first, int64_t count,
                          struct lacis_power_device_rows *from)
{
    lacis_product_result *to = &on->out->rows;
    uint64_t n = from->entries, size = lacis_dtype_size(from->storage);
    LACIS_TRY(fetch_bounds(on, first, count, from));
    if (n == 0) return LACIS_OK;
    LACIS_TRY(make_result(on, from->storage));
    if (from->storage != on->out->storage)
        return lacis_run_fail(on->run, LACIS_UNSUPPORTED, "blocks of sources came in different types");
    LACIS_TRY(charge(on, n));
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, from->column, sizeof(uint32_t) * n,
                                 (uint32_t *)lacis_buffer_data(to->column) + to->used));
    LACIS_TRY(lacis_gpu_download(on->run, on->gpu, from->value, size * n,
                                 (char *)lacis_buffer_data(to->value) + size * to->used));
    to->used += n;
    to->entries += n;
    keep(on, count, from, size);
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
            status = fetch(on, first, count, &part);
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
    LACIS_TRY(make_result(on, on->work->dtype)); /* where nothing came out */
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

bool lacis_power_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_power *work = call->work;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Neither is asked, since it says no. */
double lacis_power_gpu_seconds(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                               const lacis_cost *work_of)
{
    (void)run, (void)call, (void)profile, (void)work_of;
    return 0;
}

static lacis_status gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

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
    .cost = gpu_cost,
    .run = gpu_run,
};
