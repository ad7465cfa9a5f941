/* SPDX-License-Identifier: Apache-2.0
 *
 * What MULTIPLY's variant "gpu" does on each device: operands there, a job, how many rows a panel takes, kernels.
 * gpu.c deals the panels.
 */
#include "multiply/device.h"
#include "multiply/written.h"

#ifdef LACIS_GPU_KERNELS

/* Products from which it pays to share the work: below the result is better kept whole on one device. */
static const uint64_t WORTH_SHARING = 1000000000;
/* Panels a device, so that copies overlap kernels and no device is left with a long one; but not with less than: */
enum { PANELS = 8 };
static const uint64_t LEAST_PANEL = 4000000;
/* Where next to nothing is copied devices that are alike take their shares, the last of them a little more so that no
 * row is left over. Others take such a part of their share of what is left, then of what is left then, so that few
 * panels are computed and all devices end together: down to so many parts of a whole share. */
static const double TAKEN = 0.92, LAST_MORE = 1.02;
enum { LEAST_PARTS = 12 };

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((lacis_multiply_device *)context)->gpu, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(((lacis_multiply_device *)context)->gpu, block);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(((lacis_multiply_device *)context)->running->run);
}

/* ------------------------------------------------------------------------------------------ operands */

static lacis_status no_room(lacis_run *run, lacis_gpu *gpu)
{
    lacis_gpu_facts facts;
    lacis_gpu_describe(gpu, &facts);
    return lacis_run_fail(run, LACIS_UNSUPPORTED,
                          "the GPU's memory (%.3g GB for this database) does not hold the operands",
                          1e-9 * (double)facts.budget);
}

static lacis_status send_keys(lacis_multiply_run *running, lacis_multiply_device *device)
{
    const lacis_product *product = &running->work->product;
    const lacis_labels *rows = &product->s, *columns = &product->t;
    const void *row, *column;
    LACIS_TRY(lacis_send_host(running->run, device->gpu, &running->work->sent, rows->label,
                              sizeof(int64_t) * (uint64_t)rows->count, &row));
    LACIS_TRY(lacis_send_host(running->run, device->gpu, &running->work->sent, columns->label,
                              sizeof(int64_t) * (uint64_t)columns->count, &column));
    device->keys = (lacis_mul_gpu_keys){row, column, rows->base, columns->base};
    return LACIS_OK;
}

static lacis_status send_operands(lacis_multiply_run *running, lacis_multiply_device *device)
{
    lacis_run *run = running->run;
    lacis_sent *sent = &running->work->sent;
    const lacis_mul_job *job = &running->work->product.job;
    lacis_status status = lacis_send_matrix(run, device->gpu, sent, &job->a, &device->job.a);
    if (status == LACIS_OK) status = lacis_send_matrix(run, device->gpu, sent, &job->b, &device->job.b);
    if (status == LACIS_OK && job->mask != NULL) {
        status = lacis_send_matrix(run, device->gpu, sent, job->mask, &device->mask);
        device->job.mask = &device->mask;
    }
    if (status == LACIS_OK)
        status = lacis_written_send(run, device->gpu, &running->work->product, sent, &device->job);
    if (status == LACIS_OK && running->result == NULL) status = send_keys(running, device);
    return status == LACIS_LIMIT ? no_room(run, device->gpu) : status;
}

/* Before panels are computed, which threads do that cannot report. */
static lacis_status compile(lacis_multiply_run *running, lacis_multiply_device *device)
{
    int error = 0;
    switch (lacis_mul_gpu_compile(&device->job, running->begin, running->end - running->begin, &error)) {
    case LACIS_MUL_GPU_OK:
        return LACIS_OK;
    case LACIS_MUL_GPU_UNCOMPILED:
        return lacis_written_failed(&running->written);
    case LACIS_MUL_GPU_FAILED:
        return lacis_gpu_failed(running->run, device->gpu, error);
    default:
        return no_room(running->run, device->gpu);
    }
}

static lacis_status prepare(lacis_multiply_run *running, lacis_multiply_device *device)
{
    lacis_run *run = running->run;
    const lacis_product *product = &running->work->product;
    lacis_mul_gpu_job *job = &device->job;
    device->running = running;
    lacis_multiply_gpu_job(product, job);
    job->ordered = lacis_run_deterministic(run);
    job->timed = lacis_run_timed(run);
    job->small = running->work->gpu.ways.taken;
    job->compact = running->result != NULL; /* totals are taken where the rows lie */
    job->stream = lacis_gpu_stream(device->gpu);
    job->memory = (lacis_mul_gpu_memory){device_alloc, device_free, stopped, device};
    lacis_gpu_beside(device->gpu, job->side, &job->pinned);
    bool written = lacis_written_needed(product), first = device == running->device;
    if (written && first) LACIS_TRY(lacis_written_prepare(run, device->gpu, product, job, &running->written));
    if (written && !first) { /* the first one's kernels are good for all */
        job->ordered = running->device[0].job.ordered;
        job->any_order = running->device[0].job.any_order;
        job->fails = running->device[0].job.fails;
        job->having = running->device[0].job.having;
        job->written = &running->written;
    }
    LACIS_TRY(send_operands(running, device));
    if (written && first) LACIS_TRY(compile(running, device));
    device->room = lacis_gpu_memory_left(device->gpu) / 32 * 31;
    return LACIS_OK;
}

/* A device beside the first that does not take the operands is done without. */
static lacis_status prepare_more(lacis_multiply_run *running, lacis_gpu *gpu)
{
    lacis_multiply_device *device = &running->device[running->devices];
    device->gpu = gpu;
    LACIS_TRY(lacis_gpu_enter(running->run, gpu));
    LACIS_TRY(prepare(running, device));
    running->devices++;
    return LACIS_OK;
}

static lacis_status prepare_all(lacis_multiply_run *running)
{
    char reason[200];
    lacis_run *run = running->run;
    lacis_gpu *gpu[LACIS_GPUS] = {lacis_run_gpu(run, reason, sizeof reason)};
    if (gpu[0] == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    running->device[0].gpu = gpu[0];
    running->devices = 1;
    LACIS_TRY(prepare(running, &running->device[0]));
    if (running->products < WORTH_SHARING && !lacis_run_gpus_forced(run)) return LACIS_OK;
    int gpus = lacis_run_gpus(run, true, gpu);
    for (int i = 1; i < gpus; i++) {
        lacis_status status = prepare_more(running, gpu[i]);
        if (status != LACIS_OK && status != LACIS_UNSUPPORTED) return status;
        if (status != LACIS_OK)
            lacis_run_note(run, LACIS_NOTE, "%s: GPU %d is done without", running->work->product.spec.verb,
                           lacis_gpu_number(gpu[i]));
    }
    return gpus > 1 ? lacis_gpu_enter(run, gpu[0]) : LACIS_OK;
}

/* -------------------------------------------------------------------------------------------- panels */

/* Of what stays when the second panel's rows are already being computed. */
static uint64_t panel_room(const lacis_multiply_run *running, lacis_gpu *gpu, int device, bool whole)
{
    uint64_t left = lacis_gpu_memory_left(gpu) / 32 * 31, share = running->device[device].room / 2;
    return whole || running->result == NULL || share > left ? left : share;
}

/* What rows take on a device. Compact ones take an entry's bytes twice, since they are moved at the end; work grows
 * with the rows, from what B alone needs. */
static lacis_mul_limits limits_of(const lacis_multiply_run *running, int device, uint64_t room, uint64_t most)
{
    const int64_t many = 4096;
    const lacis_mul_gpu_job *job = &running->device[device].job;
    const bool moved = job->compact || job->mask != NULL || job->having || job->top > 0;
    const uint64_t used = lacis_mul_gpu_work_bytes(job, 0) + lacis_mul_gpu_summary_bytes(0);
    const uint64_t row_bytes =
        2 * sizeof(int64_t) + (lacis_mul_gpu_work_bytes(job, many) - lacis_mul_gpu_work_bytes(job, 0) +
                               lacis_mul_gpu_summary_bytes(many) + many - 1) /
                                  many;
    return (lacis_mul_limits){used > room ? 0 : room - used, row_bytes,
                              (moved ? 2 : 1) * lacis_product_entry_bytes(&running->work->product), most};
}

/* Rows from `first` on that fit `room`, surely or as far as a sample says, and have no more than `most` products (one
 * row may): *products. */
static int64_t rows_within(lacis_multiply_run *running, int device, int64_t first, int64_t end, uint64_t room,
                           uint64_t most, uint64_t *products)
{
    *products = 0;
    const lacis_mul_limits limits = limits_of(running, device, room, most);
    if (limits.bytes == 0) return 1;
    int64_t past = running->way == LACIS_ROOM_BOUNDS
                       ? lacis_product_within(&running->work->product, first, end, &limits, products)
                       : lacis_multiply_room_rows(running, first, end, &limits, products);
    return past > first ? past - first : 1; /* fewer still if that is not enough: the dealer halves */
}

/* Where not all rows fit by their bounds there may be a better way. */
static lacis_status find_way(lacis_multiply_run *running)
{
    uint64_t products;
    const lacis_mul_limits limits = limits_of(running, 0, running->device[0].room, UINT64_MAX);
    const int64_t rows = running->end - running->begin;
    if (rows_within(running, 0, running->begin, running->end, running->device[0].room, UINT64_MAX, &products) == rows)
        return LACIS_OK;
    return lacis_multiply_room(running, &limits);
}

lacis_status lacis_multiply_devices(lacis_multiply_run *running)
{
    lacis_multiply *work = running->work;
    if (!work->gpu.known) lacis_multiply_gpu_small(&work->product, true, &work->gpu.ways); /* nobody has planned */
    LACIS_TRY(prepare_all(running));
    return find_way(running);
}

bool lacis_multiply_copies_little(const lacis_multiply_run *running)
{
    const double link = 3e10, product = 5e-12, little = 0.1; /* bytes a second, seconds; of a fast device */
    const lacis_product *product_of = &running->work->product;
    if (running->result == NULL) return true;
    double entry = (double)lacis_product_entry_bytes(product_of), top = (double)product_of->job.top;
    double bytes = (double)(running->end - running->begin) * (2 * sizeof(int64_t) + top * entry);
    return top > 0 && bytes / link < little * product * (double)running->products;
}

static bool alike(const lacis_multiply_run *running)
{
    lacis_gpu_facts first, other;
    lacis_gpu_describe(running->device[0].gpu, &first);
    for (int i = 1; i < running->devices; i++) {
        lacis_gpu_describe(running->device[i].gpu, &other);
        if (other.arch != first.arch || other.processors != first.processors) return false;
    }
    return true;
}

/* How many products the next panel may have where devices take shares. */
static uint64_t shared_products(lacis_multiply_run *running, uint64_t least)
{
    const uint64_t left = running->products > running->dealt ? running->products - running->dealt : 0;
    const int turn = running->panels++ % running->devices;
    const bool even = alike(running);
    if (turn == 0) running->part = (uint64_t)((even ? 1 : TAKEN) * (double)left / (double)running->devices);
    double part = (double)running->part;
    if (even && turn == running->devices - 1) part *= LAST_MORE;
    return part > (double)least ? (uint64_t)part : least;
}

/* How many products the next panel may have. */
static uint64_t panel_products(lacis_multiply_run *running)
{
    uint64_t devices = (uint64_t)running->devices, share = running->products / devices, part = share / PANELS;
    if (running->result == NULL && devices == 1) return UINT64_MAX;
    if (devices > 1 && lacis_multiply_copies_little(running)) part = shared_products(running, share / LEAST_PARTS);
    if (lacis_run_gpus_forced(running->run)) return part > 0 ? part : 1;
    return part < LEAST_PANEL ? LEAST_PANEL : part;
}

int64_t lacis_multiply_panel_rows(void *context, lacis_gpu *gpu, int device, int64_t first, int64_t end)
{
    lacis_multiply_run *running = context;
    bool all = first == running->begin && running->devices == 1;
    uint64_t products;
    int64_t rows = 0;
    if (all)
        rows =
            rows_within(running, device, first, end, panel_room(running, gpu, device, true), UINT64_MAX, &products);
    if (all && rows == end - first) return rows;
    rows = rows_within(running, device, first, end, panel_room(running, gpu, device, false), panel_products(running),
                       &products);
    running->dealt += products;
    int64_t cut = (first + rows) % LACIS_MUL_GPU_GROUP; /* whole groups, so that sums of reals stay the same */
    return running->result == NULL && first + rows < end && rows > cut ? rows - cut : rows;
}

/* The answer of the kernels as panels take it. */
static lacis_status answer(lacis_multiply_device *device, lacis_mul_gpu_status status, int cuda_error)
{
    switch (status) {
    case LACIS_MUL_GPU_OK:
        return LACIS_OK;
    case LACIS_MUL_GPU_NO_MEMORY:
    case LACIS_MUL_GPU_ROOM:
        return LACIS_LIMIT;
    case LACIS_MUL_GPU_OVERFLOW:
        return LACIS_OVERFLOW;
    case LACIS_MUL_GPU_CANCELLED:
        return LACIS_INTERRUPT;
    case LACIS_MUL_GPU_UNSUPPORTED:
    case LACIS_MUL_GPU_UNCOMPILED: /* was compiled before */
        break;
    case LACIS_MUL_GPU_FAILED:
        return lacis_gpu_broke(device->gpu, cuda_error);
    }
    return LACIS_MISUSE;
}

lacis_status lacis_multiply_panel_compute(void *context, lacis_panel *panel)
{
    lacis_multiply_run *running = context;
    lacis_multiply_device *device = &running->device[panel->device];
    lacis_multiply_panel *own = panel->own;
    uint64_t bytes = sizeof(int64_t) * (uint64_t)panel->count;
    own->begin = lacis_gpu_alloc(panel->gpu, bytes);
    own->end = lacis_gpu_alloc(panel->gpu, bytes);
    if (own->begin == NULL || own->end == NULL) return LACIS_LIMIT;
    own->out.begin = own->begin - panel->first; /* kernels number rows as a does */
    own->out.end = own->end - panel->first;
    lacis_mul_gpu_status status = lacis_mul_gpu_run(&device->job, NULL, panel->first, panel->count, &own->out);
    if (status == LACIS_MUL_GPU_NO_MEMORY && running->way != LACIS_ROOM_BOUNDS) running->short_of++;
    return answer(device, status, own->out.cuda_error);
}

void lacis_multiply_panel_drop(void *context, lacis_panel *panel)
{
    (void)context;
    lacis_multiply_panel *own = panel->own;
    lacis_gpu_free(panel->gpu, own->begin);
    lacis_gpu_free(panel->gpu, own->end);
    lacis_gpu_free(panel->gpu, own->out.column);
    lacis_gpu_free(panel->gpu, own->out.value);
    *own = (lacis_multiply_panel){0};
}

#endif
