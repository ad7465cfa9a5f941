/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY's variant "gpu" before it runs: whether the kernels of kernels/multiply/gpu.h can do a product and the
 * device may be asked for it, and what it would cost with the copies that are needed.
 */
#include "multiply/device.h"
#include "multiply/written.h"

#include <inttypes.h>
#include <math.h>

#ifdef LACIS_GPU_KERNELS

/* ----------------------------------------------------------------------------------------- whether */

/* Of a product of nothing: launches and two waits. */
static const double CALL_SECONDS = 6e-5;
enum { COPIES = 4 }; /* of begins and ends, of columns and values */

void lacis_multiply_gpu_job(const lacis_product *product, lacis_mul_gpu_job *out)
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
                               .mask_not = job->mask_not,
                               .top = job->top,
                               .t_lo = job->t_lo,
                               .t_hi = job->t_hi,
                               .compact = true};
    lacis_multiply_gpu_having(product, out);
}

static const char *refuses(const lacis_product *product)
{
    const uint64_t places = UINT32_MAX - 64; /* of b: its entries are numbered in 32 bits there */
    lacis_mul_gpu_written any = {{NULL}, NULL, NULL};
    lacis_mul_gpu_job job;
    lacis_multiply_gpu_job(product, &job);
    if (lacis_written_needed(product)) job.written = &any; /* compiled once the rest is known to go */
    const char *why = lacis_mul_gpu_refuses(&job);
    if (why == NULL && lacis_send_places(&job.b) >= places) why = "b has too many entries";
    return why;
}

/* The device is started here only where it is demanded: a plan that does not choose it must leave it alone. What is
 * too little for it is found before anything is looked at. */
bool lacis_multiply_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_multiply *work = call->work;
    const lacis_product *product = &work->product;
    double processor = lacis_product_most_seconds(product, call->profile);
    double kernels = (call->totals ? 3 : 1) * lacis_profile_get(call->profile, LACIS_GPU_CALL_FIGURE, CALL_SECONDS);
    if (!call->totals)
        kernels += COPIES * lacis_profile_get(call->profile, LACIS_GPU_COPY_FIGURE, LACIS_GPU_COPY_SECONDS);
    if (!lacis_gpu_worth(call, work->run, LACIS_GPU_LOAD_FIGURE, processor, kernels, reason, size)) return false;
    const char *why = refuses(product);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    if (lacis_written_needed(product) && !lacis_written_can(product, reason, size)) return false;
    return call->on != LACIS_ON_GPU || lacis_run_gpu(work->run, reason, size) != NULL;
}

/* ------------------------------------------------------------------------------------------- costs */

static const uint64_t few_products = 512, some_products = 8192;
/* Nanoseconds a product where nobody has calibrated: measured on an H200. */
static const double otherwise[LACIS_GPU_SIZES][LACIS_WORK_KINDS] = {
    /*                  count,  value,  float, written, ordered */
    [LACIS_GPU_FEW] = {0.0068, 0.0092, 0.0092, 0.0088, 0.0092},
    [LACIS_GPU_SOME] = {0.0096, 0.0102, 0.0109, 0.0111, 0.0352},
    [LACIS_GPU_MANY] = {0.0045, 0.0058, 0.0066, 0.0058, 0.0227}};
static const char *const figure[LACIS_GPU_SIZES][LACIS_WORK_KINDS] = {
    [LACIS_GPU_FEW] = {"multiply.gpu.few.count_ns", "multiply.gpu.few.value_ns", "multiply.gpu.few.float_ns",
                       "multiply.gpu.few.written_ns", "multiply.gpu.few.ordered_ns"},
    [LACIS_GPU_SOME] = {"multiply.gpu.some.count_ns", "multiply.gpu.some.value_ns", "multiply.gpu.some.float_ns",
                        "multiply.gpu.some.written_ns", "multiply.gpu.some.ordered_ns"},
    [LACIS_GPU_MANY] = {"multiply.gpu.many.count_ns", "multiply.gpu.many.value_ns", "multiply.gpu.many.float_ns",
                        "multiply.gpu.many.written_ns", "multiply.gpu.many.ordered_ns"}};
static const char *const kind_name[LACIS_WORK_KINDS] = {"count", "value", "float", "written", "ordered"};
static const char *const size_name[LACIS_GPU_SIZES] = {"few", "some", "many"};

const char *lacis_multiply_gpu_figure(lacis_gpu_size size, lacis_gpu_work kind)
{
    return figure[size][kind];
}

static lacis_gpu_work kind_of(const lacis_run *run, const lacis_product *product)
{
    const lacis_mul_job *job = &product->job;
    bool real = job->type == LACIS_MUL_F32 || job->type == LACIS_MUL_F64;
    bool sums = job->agg == LACIS_MUL_SUM || job->agg == LACIS_MUL_AVG;
    bool fixed = (real || job->type == LACIS_MUL_C128) && lacis_run_deterministic(run);
    if (job->agg == LACIS_MUL_FOLD && (fixed || !product->spec.fold->associative)) return LACIS_WORK_ORDERED;
    if (job->checked || (sums && fixed)) return LACIS_WORK_ORDERED;
    if (lacis_written_needed(product)) return LACIS_WORK_WRITTEN;
    if (job->agg == LACIS_MUL_COUNT) return LACIS_WORK_COUNT;
    return real && sums ? LACIS_WORK_FLOAT : LACIS_WORK_VALUE;
}

static lacis_gpu_size size_of(double products)
{
    return products <= (double)few_products    ? LACIS_GPU_FEW
           : products <= (double)some_products ? LACIS_GPU_SOME
                                               : LACIS_GPU_MANY;
}

static void add_rows(lacis_gpu_estimate *out, double rows, double products)
{
    if (rows <= 0 || products <= 0) return;
    lacis_gpu_size size = size_of(products / rows);
    out->rows[size] += rows;
    out->products[size] += products;
}

static void count_sizes(const lacis_product *product, bool closely, lacis_gpu_estimate *out)
{
    const lacis_glance *glance = product->glance;
    for (int64_t r = 0; (closely || glance == NULL) && r < product->s.count; r++)
        add_rows(out, 1, (double)product->products[r]);
    for (int i = 0; !closely && glance != NULL && i < LACIS_GLANCE_POWERS; i++) {
        add_rows(out, glance->rows[0][i], glance->products[0][i]);
        add_rows(out, glance->rows[1][i], glance->products[1][i]);
    }
}

/* One row in order: a warp a window takes the row's entries one after the other; where B is too large for its cuts a
 * single block does, again for each lot of cells. From what the kernels do, not measured. */
static double ordered_row_seconds(const lacis_product *product)
{
    const double step = 1e-6, cells = 8192, warps = 4000, most_cuts = 2147483648.0;
    const lacis_mul_job *job = &product->job;
    const double columns = (double)(job->t_hi - job->t_lo), products = (double)product->total_products;
    const double windows = columns * (double)lacis_dtype_size(product->storage) / 5120 + 1;
    const double entries = products < columns ? products : columns, degree = (double)product->total_degree;
    if ((double)job->b.rows * (windows + 1) * sizeof(uint32_t) > most_cuts)
        return step * degree * (entries / cells + 1);
    return step * degree / 32 * (windows / warps + 1);
}

static void kernel_seconds(const lacis_run *run, const lacis_product *product, const lacis_profile *profile,
                           bool closely, lacis_gpu_estimate *out)
{
    const double row_ns = 0.2, top_ns = 0.0056; /* a row; a product */
    lacis_gpu_work kind = kind_of(run, product);
    count_sizes(product, closely, out);
    out->kernels = lacis_profile_get(profile, LACIS_GPU_CALL_FIGURE, CALL_SECONDS);
    for (int i = 0; i < LACIS_GPU_SIZES; i++) {
        out->seconds[i] = 1e-9 * out->products[i] * lacis_profile_get(profile, figure[i][kind], otherwise[i][kind]);
        out->kernels += out->seconds[i];
    }
    if (kind == LACIS_WORK_ORDERED && product->spec.shape == LACIS_PRODUCT_ROW)
        out->kernels += ordered_row_seconds(product);
    double top = lacis_profile_get(profile, LACIS_GPU_TOP_FIGURE, top_ns);
    if (product->job.top > 0) out->kernels += 1e-9 * top * (double)product->total_products;
    out->kernels += 1e-9 * row_ns * (double)product->s.count;
    /* Each row is a value, present or not, which one thread of the host looks at. */
    const bool column = product->spec.shape == LACIS_PRODUCT_COLUMN;
    if (column) out->kernels += 2e-9 * LACIS_PULL_HOST_NS * (double)product->s.count;
}

/* Totals are another walk over the rows, with launches and waits of its own: as long again as a call, twice. */
static double totals_seconds(const lacis_profile *profile, double entries)
{
    const double entry_ns = 0.0025;
    return 2 * lacis_profile_get(profile, LACIS_GPU_CALL_FIGURE, CALL_SECONDS) + 1e-9 * entry_ns * entries;
}

/* gpu NULL: it is not started, nothing is there yet. */
static double bytes_to_send(const lacis_multiply *work, lacis_gpu *gpu)
{
    const lacis_mul_job *job = &work->product.job;
    double missing = (double)lacis_send_missing(gpu, &work->sent, &job->a);
    if (job->a.column != job->b.column) missing += (double)lacis_send_missing(gpu, &work->sent, &job->b);
    if (job->mask != NULL) missing += (double)lacis_send_missing(gpu, &work->sent, job->mask);
    return missing;
}

/* Columns and values go through the run's threads, which have to be woken, unless they are few. */
static double copy_seconds(const lacis_run *run, const lacis_gpu *gpu, const lacis_profile *profile, double up,
                           double down)
{
    const double thread = 4e-6, few = 4e6;
    int copies = (up > 0 ? COPIES : 0) + (down > 0 ? COPIES : 0);
    return lacis_gpu_copy_seconds(gpu, profile, up, down) + (down > few ? 2 * thread * lacis_run_threads(run) : 0) +
           copies * lacis_profile_get(profile, LACIS_GPU_COPY_FIGURE, LACIS_GPU_COPY_SECONDS);
}

/* Room for the entries on the device, and what panels and counting add to the kernels. A device that is not started
 * is taken to have enough. */
static void find_room(const lacis_call *call, const lacis_product *product, lacis_gpu *gpu,
                      const lacis_profile *profile, double entries, lacis_gpu_estimate *out)
{
    const double bound = product->estimate != NULL ? product->estimate->bound
                         : product->glance != NULL ? product->glance->most
                                                   : 0;
    const double entry = (double)lacis_product_entry_bytes(product), link = 5e10; /* bytes a second */
    const bool loose =
        call->totals && product->job.mask == NULL && product->job.having == NULL && product->job.top == 0;
    const lacis_gpu_room_facts facts = {
        .products = (double)product->total_products,
        .bound = fmax(bound, entries),
        .entries = entries,
        .most = entries,
        .entry = (loose ? 1 : 2) * entry, /* rows are moved together at the end */
        .left = gpu != NULL ? 0.9 * (double)lacis_gpu_memory_left(gpu) : INFINITY,
        .kernels = out->kernels,
        .back = call->totals ? 0 : entries * entry / link,
        .panel = lacis_multiply_room_panel(product, lacis_profile_get(profile, LACIS_GPU_CALL_FIGURE, CALL_SECONDS)),
        .countable = lacis_multiply_room_countable(product)};
    lacis_multiply_room_choose(&facts, &out->room);
    const lacis_gpu_room_way way = out->room.way;
    out->kernels += (out->room.panels[way] - 1) * facts.panel;
    if (way != LACIS_ROOM_BOUNDS) out->kernels += lacis_multiply_room_counting(facts.products);
}

static bool compiled(lacis_run *run, lacis_gpu *gpu, const lacis_product *product)
{
    lacis_mul_gpu_job job;
    lacis_mul_gpu_written written;
    if (gpu == NULL) return false;
    lacis_multiply_gpu_job(product, &job);
    return lacis_written_prepare(run, gpu, product, &job, &written) == LACIS_OK && lacis_written_ready(&written);
}

/* Whether it has to be compiled is only looked up where the GPU would be faster at all. */
static double once_seconds(lacis_run *run, const lacis_product *product, lacis_gpu *gpu, const lacis_profile *profile,
                           bool faster)
{
    const double compile_seconds = 0.35;
    double seconds = lacis_gpu_start_seconds(run, profile, LACIS_GPU_LOAD_FIGURE);
    if (lacis_written_needed(product) && faster && !compiled(run, gpu, product))
        seconds += lacis_profile_get(profile, LACIS_GPU_COMPILE_FIGURE, compile_seconds);
    return seconds;
}

/* Seconds with a result of so many bytes. */
static double total_seconds(const lacis_run *run, const lacis_multiply *work, lacis_gpu *gpu,
                            const lacis_profile *profile, double bytes)
{
    const lacis_gpu_estimate *e = &work->gpu;
    double seconds = e->kernels + e->once + copy_seconds(run, gpu, profile, e->to_device, bytes);
    return seconds + (bytes > 0 ? lacis_product_touches(run, bytes, work->product.job.threads) : 0);
}

/* At a glance the entries may be fewer or more; where the choice hangs on them, some rows are counted. */
static lacis_status settle(lacis_run *run, lacis_multiply *work, lacis_gpu *gpu, const lacis_profile *profile,
                           const lacis_profile *figures, lacis_cost *out)
{
    const double margin = 1.2, worth = 4e-3; /* seconds: of less, counting would take too large a part */
    const lacis_glance *glance = work->product.glance;
    double processor = out->seconds, entry = out->entries > 0 ? out->bytes / out->entries : 0;
    double least = total_seconds(run, work, gpu, figures, glance->least * entry);
    double most = total_seconds(run, work, gpu, figures, glance->most * entry);
    if (most * margin < processor || least > processor * margin || processor < worth) return LACIS_OK;
    LACIS_TRY(lacis_product_glance_entries(run, &work->product));
    return lacis_product_cost(run, &work->product, profile, false, out);
}

lacis_status lacis_multiply_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                     lacis_cost *out)
{
    lacis_multiply *work = call->work;
    lacis_product *product = &work->product;
    lacis_gpu_estimate *estimate = &work->gpu;
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    LACIS_TRY(lacis_product_cost(run, product, profile, call->closely, out));
    const lacis_profile *figures = lacis_gpu_figures(gpu, profile);
    *estimate = (lacis_gpu_estimate){.known = true, .to_device = bytes_to_send(work, gpu)};
    kernel_seconds(run, product, figures, call->closely, estimate);
    lacis_multiply_gpu_small(product, call->closely, &estimate->ways);
    double processor = out->seconds;
    if (!call->totals && !call->closely && product->glance != NULL)
        LACIS_TRY(settle(run, work, gpu, profile, figures, out));
    find_room(call, product, gpu, figures, out->entries, estimate);
    if (call->totals) estimate->kernels += totals_seconds(figures, out->entries);
    estimate->to_host = call->totals ? 0 : out->bytes;
    bool faster = total_seconds(run, work, gpu, figures, estimate->to_host) < processor;
    estimate->once = once_seconds(run, product, gpu, figures, faster || call->closely);
    estimate->copies = copy_seconds(run, gpu, figures, estimate->to_device, estimate->to_host);
    out->seconds = total_seconds(run, work, gpu, figures, estimate->to_host);
    out->once = estimate->once;
    out->kind = kind_name[kind_of(run, product)];
    out->peak_bytes = estimate->to_host + (double)product->block_bytes;
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- EXPLAIN */

static lacis_status explain_vector(const lacis_product *product, lacis_lines *lines)
{
    const bool having = product->job.having != NULL, top = product->job.top > 0;
    if (product->spec.shape == LACIS_PRODUCT_MATRIX || !(having || top)) return LACIS_OK;
    return lacis_lines_add(lines, "by gpu pull and gpu push:%s%s%s",
                           !having                  ? ""
                           : product->strips.within ? " HAVING is compared on the GPU"
                                                    : " HAVING is taken of the vector on the host",
                           having && top ? "," : "",
                           !top ? ""
                           : having && !product->strips.within
                               ? " TOP is taken of the vector on the host"
                               : " TOP is chosen on the GPU where it leaves out much");
}

static lacis_status explain_having(const lacis_multiply *work, lacis_lines *lines)
{
    static const char *const text[] = {
        [LACIS_MUL_GPU_WITHIN] = "compared in the kernels of all classes, which store nothing else",
        [LACIS_MUL_GPU_INSIDE] = "compiled into the kernels of all classes, which store nothing else",
        [LACIS_MUL_GPU_BEHIND] = "by a kernel of its own behind the classes, in the rows as they are stored"};
    lacis_mul_gpu_job job;
    lacis_multiply_gpu_job(&work->product, &job);
    if (job.having == LACIS_MUL_GPU_ALL) return LACIS_OK;
    LACIS_TRY(lacis_written_having(work->run, &work->product, &job));
    return lacis_lines_add(lines, "HAVING on the GPU: %s", text[job.having]);
}

lacis_status lacis_multiply_gpu_explain(const lacis_multiply *work, lacis_lines *lines)
{
    const lacis_gpu_estimate *e = &work->gpu;
    if (!e->known) return LACIS_OK;
    LACIS_TRY(lacis_lines_add(lines,
                              "on the GPU, rows of few (to %" PRIu64 "), some (to %" PRIu64
                              ") and many products; rows, products and seconds of each:",
                              few_products, some_products));
    for (int i = 0; i < LACIS_GPU_SIZES; i++)
        if (e->rows[i] > 0)
            LACIS_TRY(lacis_lines_add(lines, "%-8s %12.0f %16.0f %12.6f", size_name[i], e->rows[i], e->products[i],
                                      e->seconds[i]));
    const double panels = e->room.panels[e->room.way];
    LACIS_TRY(lacis_lines_add(
        lines, "computing %.6f s in %.0f panel%s of rows, copies %.6f s (%.3g MB there, %.3g MB back)", e->kernels,
        panels, panels >= 2 ? "s" : "", e->copies, 1e-6 * e->to_device, 1e-6 * e->to_host));
    LACIS_TRY(lacis_multiply_room_explain(&e->room, (double)work->product.total_products, lines));
    LACIS_TRY(lacis_multiply_gpu_explain_small(&e->ways, lines));
    LACIS_TRY(explain_having(work, lines));
    LACIS_TRY(explain_vector(&work->product, lines));
    if (e->once > 0)
        LACIS_TRY(
            lacis_lines_add(lines, "the first time %.2f s more, to start the GPU or to compile for it", e->once));
    return LACIS_OK;
}

#else

bool lacis_multiply_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_multiply *work = call->work;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Never asked, since lacis_multiply_gpu_can says no. */
lacis_status lacis_multiply_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                     lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

lacis_status lacis_multiply_gpu_explain(const lacis_multiply *work, lacis_lines *lines)
{
    (void)work, (void)lines;
    return LACIS_OK;
}

#endif
