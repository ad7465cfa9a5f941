/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU variants before they run: whether kernels can do a call and the device may be asked for it, and what it
 * would cost with the copies that are needed. Called through variants.c.
 */
#include "sweep/device.h"

#ifdef LACIS_GPU_KERNELS

/* Where nobody has calibrated: what an H200 is expected to take. */
static const double RATE = 3.9e12, STEP = 4e-6;
static const struct {
    const char *name;
    double ns; /* an update of a cell by five taps, on the chip */
} chip_figure[] = {
    [LACIS_SWEEP_F32] = {"sweep.gpu.f32.update_ns", 3e-4}, [LACIS_SWEEP_F64] = {"sweep.gpu.f64.update_ns", 6e-4}};
static const double USUAL_TAPS = 5;

const char *lacis_sweep_gpu_chip_figure(lacis_sweep_type type)
{
    return chip_figure[type].name;
}

static void start_of(const lacis_sweep_work *work, int way, lacis_sweep_start *start)
{
    lacis_sweep_start_of(work, NULL, start);
    start->levels = way == LACIS_SWEEP_SINGLE ? 1 : work->levels;
}

static double bytes_to_send(lacis_gpu *gpu, const lacis_sweep_work *work)
{
    double bytes = 0;
    for (int i = 0; i < work->grid.fields + work->coefficients; i++) {
        const lacis_sweep_source *source = &work->array[i];
        const double all = (double)lacis_sweep_size(work->type) * (double)source->count;
        lacis_part part;
        double missing = all;
        for (int k = 0; source->dtype == work->dtype && lacis_array_part(source->array, k, &part) == LACIS_OK; k++)
            if (part.data == source->data) missing = (double)lacis_gpu_part_missing(gpu, source->array, part.name);
        bytes += missing;
    }
    return bytes;
}

/* Adds the bytes of a source as it is sent to those that stay on the device while the statement runs, or, where it is
 * converted, to those that go once the fields have them. */
static void count_source(const lacis_sweep_work *work, const lacis_sweep_source *source, double *stay, double *go)
{
    *(source->dtype == work->dtype ? stay : go) += (double)lacis_sweep_size(work->type) * (double)source->count;
}

/* Bytes on the device at a time: what is sent, the fields in their levels, and the result, which is left there. */
static double room_for(const lacis_sweep_work *work, const lacis_sweep_start *start)
{
    const double result = lacis_sweep_result_bytes(work), round = 256; /* what blocks are rounded up to */
    double stay = 0, go = 0;
    int blocks = work->grid.fields;
    for (int i = 0; i < work->grid.fields + work->coefficients; i++, blocks++)
        count_source(work, &work->array[i], &stay, &go);
    for (int field = 0; field < work->grid.fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (work->face[field][face].array != NULL) {
                count_source(work, &work->face[field][face], &stay, &go);
                blocks++;
            }
    return stay + (go > result ? go : result) + (double)lacis_sweep_gpu_bytes(start) + round * blocks;
}

/* --- costs -------------------------------------------------------------------------------------------- */

static void estimate(const lacis_sweep_work *work, int way, const lacis_profile *profile, lacis_sweep_estimate *out)
{
    lacis_sweep_start start;
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run), *all[LACIS_GPUS] = {gpu};
    const lacis_profile *own = lacis_gpu_figures(gpu, profile);
    const double taps = lacis_sweep_taps(work), stretch = lacis_sweep_stretch(work);
    start_of(work, way, &start);
    *out = (lacis_sweep_estimate){.known = true, .levels = lacis_sweep_gpu_levels(&start)};
    if (out->levels > stretch && stretch >= 1) out->levels = (int)stretch;
    out->bytes = lacis_sweep_step_bytes(work) / out->levels;
    out->memory = (double)lacis_sweep_gpu_bytes(&start);
    const double moved = out->bytes / lacis_profile_get(own, LACIS_SWEEP_GPU_RATE_FIGURE, RATE);
    const double sums = 1e-9 * (double)work->grid.cells * taps / USUAL_TAPS *
                        lacis_profile_get(own, chip_figure[work->type].name, chip_figure[work->type].ns);
    out->step = lacis_profile_get(own, LACIS_SWEEP_GPU_STEP_FIGURE, STEP) / out->levels +
                (moved > sums ? moved : sums) / lacis_sweep_gpus_for(work, start.levels, false, all);
    out->copies = lacis_gpu_copy_seconds(gpu, own, bytes_to_send(gpu, work), lacis_sweep_result_bytes(work));
    out->once = lacis_gpu_start_seconds(work->run, own, LACIS_SWEEP_LOAD_FIGURE) +
                lacis_sweep_program_seconds(work->run, gpu, work, &start);
}

lacis_status lacis_sweep_gpu_cost(lacis_run *run, const lacis_call *call, int way, const lacis_profile *profile,
                                  lacis_cost *out)
{
    lacis_sweep_work *work = call->work;
    (void)run;
    estimate(work, way, profile, &work->gpu[way]);
    const lacis_sweep_estimate *e = &work->gpu[way];
    *out = (lacis_cost){.seconds = e->once + e->copies + e->step * (double)work->steps,
                        .products = (double)work->steps * (double)work->grid.cells * work->grid.fields,
                        .entries = (double)work->grid.cells,
                        .bytes = lacis_sweep_result_bytes(work),
                        .once = e->once,
                        .kind = lacis_sweep_written(work) ? "written" : "linear"};
    out->peak_bytes = out->bytes + (double)lacis_sweep_take_bytes(work) + lacis_sweep_rows_bytes(work);
    return LACIS_OK;
}

/* --- can ---------------------------------------------------------------------------------------------- */

/* The most that the processor takes, twice as long as estimated, against the device with its copies. */
static bool worth(const lacis_call *call, int way, char *reason, size_t size)
{
    const double margin = 2;
    const lacis_sweep_work *work = call->work;
    lacis_sweep_estimate device;
    lacis_cost processor;
    lacis_call copy = *call;
    lacis_sweep_work own = *work;
    copy.work = &own; /* estimates that EXPLAIN shows are those that the planner asked for */
    estimate(work, way, call->profile, &device);
    if (lacis_sweep_cost(work->run, &copy, LACIS_SWEEP_BLOCKED, call->profile, &processor) != LACIS_OK) return false;
    return lacis_gpu_worth(call, work->run, LACIS_SWEEP_LOAD_FIGURE, margin * processor.seconds,
                           device.copies + device.step * (double)work->steps, reason, size);
}

static bool has_room(lacis_gpu *gpu, double need, char *reason, size_t size)
{
    const double mega = 1e-6;
    if (gpu == NULL || need <= (double)lacis_gpu_memory_left(gpu)) return true;
    snprintf(reason, size, "the fields take %.4g MB of its memory, of which %.4g MB are left", mega * need,
             mega * (double)lacis_gpu_memory_left(gpu));
    return false;
}

/* The device is started here only where it is demanded: a plan that does not choose it must leave it alone. */
bool lacis_sweep_gpu_could(const lacis_call *call, int way, char *reason, size_t size)
{
    const lacis_sweep_work *work = call->work;
    lacis_sweep_start start;
    start_of(work, way, &start);
    if (!lacis_gpu_possible(work->run, reason, size)) return false;
    const char *why = lacis_sweep_gpu_refuses(&start);
    if (why == NULL && way == LACIS_SWEEP_BLOCKED && lacis_sweep_gpu_levels(&start) <= 1)
        why = "its kernels do one step in a pass of these rules and edges";
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    if (!lacis_sweep_program_can(work, &start, reason, size) || !worth(call, way, reason, size)) return false;
    return call->on != LACIS_ON_GPU || lacis_run_gpu(work->run, reason, size) != NULL;
}

bool lacis_sweep_gpu_can(const lacis_call *call, int way, char *reason, size_t size)
{
    const lacis_sweep_work *work = call->work;
    lacis_sweep_start start;
    if (!lacis_sweep_gpu_could(call, way, reason, size)) return false;
    start_of(work, way, &start);
    lacis_gpu *all[LACIS_GPUS] = {lacis_gpu_at_hand(work->run)};
    if (lacis_sweep_gpus_for(work, start.levels, false, all) > 1) return true; /* which have room for their slabs */
    return has_room(all[0], room_for(work, &start), reason, size);
}

#else

bool lacis_sweep_gpu_could(const lacis_call *call, int way, char *reason, size_t size)
{
    return lacis_sweep_gpu_can(call, way, reason, size);
}

bool lacis_sweep_gpu_can(const lacis_call *call, int way, char *reason, size_t size)
{
    const lacis_sweep_work *work = call->work;
    (void)way;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Never asked, since lacis_sweep_gpu_can says no. */
lacis_status lacis_sweep_gpu_cost(lacis_run *run, const lacis_call *call, int way, const lacis_profile *profile,
                                  lacis_cost *out)
{
    (void)call, (void)way, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif
