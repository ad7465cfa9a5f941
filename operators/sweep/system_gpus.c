/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields in slabs on several GPUs of this process: kernels/sweep/gpu_several.h. Each GPU gets its rows of the arrays,
 * and gives back its rows of the result. Made by system_gpu.c where GPUs share a call (share_gpus.c).
 */
#include "sweep/device.h"
#include "sweep/ranks.h"

#ifdef LACIS_GPU_KERNELS

#include "sweep/gpu_several.h"

#include <string.h>

enum { TIMED = 1024 }; /* exchanges of a timeline */

typedef struct member {
    struct gpus *of;
    lacis_gpu *gpu;
    void *block; /* arrays as they are sent */
} member;

typedef struct gpus {
    lacis_sweep_system base;
    int members;
    member member[LACIS_SWEEP_GPUS_MOST];
    lacis_sweep_share share; /* how faces are cut, as over ranks */
    lacis_sweep_gpus_start start;
    lacis_sweep_gpus *systems;
    FILE *times; /* of EXCHANGE TO; NULL: none */
} gpus;

static gpus *own(lacis_sweep_system *system)
{
    return (gpus *)system; /* of which it is the beginning */
}

static lacis_status failed(const gpus *g, lacis_sweep_status status, int code)
{
    lacis_run *run = g->base.run;
    if (status == LACIS_SWEEP_NO_MEMORY) return lacis_gpu_no_room(run, g->member[0].gpu, "the fields");
    if (status == LACIS_SWEEP_FAILED) return lacis_gpu_failed(run, g->member[0].gpu, code);
    return lacis_sweep_said(run, g->base.work, status, 0);
}

/* ---------------------------------------------------------------------------------------- functions */

static lacis_status steps(lacis_sweep_system *system, int64_t count, lacis_sweep_change *change)
{
    const gpus *g = own(system);
    const lacis_sweep_status status = lacis_sweep_gpus_steps(g->systems, count, change);
    return failed(g, status, status == LACIS_SWEEP_FAILED ? lacis_sweep_gpus_error_code(g->systems) : 0);
}

static uint64_t slab_bytes(const gpus *g, int k)
{
    const int64_t *extent = g->start.part[k].start.extent;
    return lacis_sweep_size(g->base.work->type) * (uint64_t)(extent[0] * extent[1] * extent[2]);
}

/* Bytes before the slab in an array of the whole grid. */
static uint64_t offset_of(const gpus *g, int k)
{
    const lacis_sweep_work *work = g->base.work;
    const int axis = work->grid.dims - 1;
    const uint64_t row = (uint64_t)(work->grid.cells / work->grid.extent[axis]);
    return (uint64_t)g->start.part[k].start.origin[axis] * row * lacis_sweep_size(work->type);
}

static lacis_status read_slab(const gpus *g, int k, void *block, void *const *field)
{
    lacis_sweep_gpu *slab = lacis_sweep_gpus_slab(g->systems, k);
    for (int i = 0; i < g->base.work->grid.fields; i++) {
        void *only[LACIS_SWEEP_FIELDS] = {NULL};
        if (field[i] == NULL) continue;
        only[i] = block;
        const lacis_sweep_status status = lacis_sweep_gpu_read(slab, only);
        LACIS_TRY(failed(g, status, status == LACIS_SWEEP_FAILED ? lacis_sweep_gpu_error_code(slab) : 0));
        LACIS_TRY(lacis_gpu_download(g->base.run, g->member[k].gpu, block, slab_bytes(g, k),
                                     (char *)field[i] + offset_of(g, k)));
    }
    return LACIS_OK;
}

static lacis_status read(lacis_sweep_system *system, void *const *field)
{
    const gpus *g = own(system);
    lacis_status status = LACIS_OK;
    for (int k = 0; k < g->members && status == LACIS_OK; k++) {
        lacis_gpu *gpu = g->member[k].gpu;
        LACIS_TRY(lacis_gpu_enter(system->run, gpu));
        void *block = lacis_gpu_alloc(gpu, slab_bytes(g, k));
        if (block == NULL) return lacis_gpu_no_room(system->run, gpu, "the result");
        status = read_slab(g, k, block, field);
        lacis_gpu_free(gpu, block);
    }
    LACIS_TRY(status);
    return lacis_gpu_enter(system->run, g->member[0].gpu);
}

/* EXCHANGE ... TO: times of slabs by their devices' clocks. */
static void timeline(const gpus *g)
{
    lacis_sweep_times *line;
    lacis_run *run = g->base.run;
    if (lacis_run_scratch(run, sizeof *line * (uint64_t)g->start.timed, &line) != LACIS_OK) {
        lacis_sweep_timeline_warn(run, g->base.work, "there is no memory for the times");
        return;
    }
    for (int k = 0; k < g->members; k++) {
        int64_t lines = 0;
        if (lacis_sweep_gpus_times(g->systems, k, line, &lines) != LACIS_SWEEP_OK) {
            lacis_sweep_timeline_warn(run, g->base.work, "a GPU does not tell its times");
            return;
        }
        lacis_sweep_timeline_add(g->times, k, line, lines);
    }
}

static void counted(lacis_sweep_system *system, lacis_sweep_counts *out)
{
    const gpus *g = own(system);
    lacis_sweep_gpus_counted(g->systems, out, true);
    lacis_run_count(system->run, "GPUs", g->members);
    lacis_run_count(system->run, "steps on an exchange", g->start.cut.deep);
    lacis_run_count(system->run, "bytes between GPUs", lacis_sweep_gpus_copied(g->systems));
    if (g->start.timed > 0) timeline(g);
}

static void clear(lacis_sweep_system *system)
{
    gpus *g = own(system);
    lacis_sweep_timeline_close(system->run, system->work, &g->times);
    lacis_sweep_gpus_free(g->systems);
    g->systems = NULL;
    for (int k = 0; k < g->members; k++)
        lacis_gpu_free(g->member[k].gpu, g->member[k].block);
    g->members = 0;
}

static const lacis_sweep_kind kind = {.steps = steps, .read = read, .counted = counted, .free = clear, .parts = true};

/* ---------------------------------------------------------------------------------------- beginning */

static void *take(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((member *)context)->gpu, bytes);
}

static void give(void *context, void *block)
{
    lacis_gpu_free(((member *)context)->gpu, block);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(((member *)context)->of->base.run);
}

static lacis_status send_face(gpus *g, int k, int face, const void *whole, void *to)
{
    void *part;
    const uint64_t bytes = lacis_sweep_share_face_bytes(&g->share, k, face);
    LACIS_TRY(lacis_run_alloc(g->base.run, bytes, &part));
    lacis_sweep_face_copy(&g->start.cut, k, face, lacis_sweep_size(g->base.work->type), whole, part);
    const lacis_status status = lacis_gpu_upload(g->base.run, g->member[k].gpu, part, bytes, to);
    lacis_run_free(g->base.run, part);
    return status;
}

/* Slab k's arrays, in a block until the systems have copies. */
static lacis_status send_arrays(gpus *g, int k, const lacis_sweep_input *input)
{
    lacis_sweep_start *start = &g->start.part[k].start;
    lacis_gpu *gpu = g->member[k].gpu;
    const uint64_t bytes = lacis_sweep_apart(slab_bytes(g, k));
    const int arrays = start->fields + start->coefficients;
    g->member[k].block = lacis_gpu_alloc(gpu, lacis_sweep_share_arrays_bytes(&g->share, k));
    if (g->member[k].block == NULL) return lacis_gpu_no_room(g->base.run, gpu, "the grid");
    char *at = g->member[k].block;
    for (int i = 0; i < arrays; i++, at += bytes) {
        start->array[i] = at;
        LACIS_TRY(lacis_gpu_upload(g->base.run, gpu, (const char *)input->array[i] + offset_of(g, k),
                                   slab_bytes(g, k), at));
    }
    for (int field = 0; field < start->fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++) {
            if (!lacis_sweep_face_valued(&g->share, k, field, face)) continue;
            start->edge[field][face].values = at;
            LACIS_TRY(send_face(g, k, face, input->face[field][face], at));
            at += lacis_sweep_apart(lacis_sweep_share_face_bytes(&g->share, k, face));
        }
    return LACIS_OK;
}

static lacis_status furnish(gpus *g, int k, int levels, const lacis_sweep_start *whole)
{
    lacis_sweep_gpu_start *part = &g->start.part[k];
    lacis_gpu *gpu = g->member[k].gpu;
    void *side[2];
    LACIS_TRY(lacis_gpu_enter(g->base.run, gpu));
    g->start.device[k] = lacis_sweep_gpu_current();
    lacis_sweep_cut_start(whole, &g->start.cut, k, &part->start);
    part->start.levels = levels;
    part->start.host = (lacis_sweep_host){take, give, stopped, &g->member[k]};
    part->stream = lacis_gpu_stream(gpu);
    lacis_gpu_beside(gpu, side, &part->pinned);
    if (part->pinned == NULL)
        return lacis_run_fail(g->base.run, LACIS_UNSUPPORTED, "the GPU's driver has no pinned memory left");
    return lacis_sweep_program_make(g->base.run, gpu, g->base.work, &part->start, part->kernel);
}

static lacis_status begin(gpus *g, const lacis_sweep_input *input, int levels)
{
    const lacis_sweep_work *work = g->base.work;
    lacis_sweep_start whole;
    int code = 0;
    lacis_sweep_start_of(work, NULL, &whole);
    g->share = (lacis_sweep_share){.work = work, .cut = g->start.cut};
    for (int k = 0; k < g->members; k++) {
        LACIS_TRY(furnish(g, k, levels, &whole));
        LACIS_TRY(send_arrays(g, k, input));
        LACIS_TRY(lacis_gpu_wait(g->base.run, g->member[k].gpu));
    }
    LACIS_TRY(lacis_gpu_enter(g->base.run, g->member[0].gpu));
    LACIS_TRY(failed(g, lacis_sweep_gpus_new(&g->start, &g->systems, &code), code));
    for (int k = 0; k < g->members; k++) {
        lacis_gpu_free(g->member[k].gpu, g->member[k].block);
        g->member[k].block = NULL;
    }
    return LACIS_OK;
}

lacis_status lacis_sweep_gpus_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                     int levels, lacis_gpu *const *gpu, int many, lacis_sweep_system **out)
{
    const lacis_sweep_work *work = call->work;
    char why[LACIS_SWEEP_WHY];
    gpus *made;
    LACIS_TRY(lacis_run_scratch(run, sizeof *made, &made));
    memset(made, 0, sizeof *made);
    made->base = (lacis_sweep_system){&kind, run, call, work};
    made->members = made->start.devices = many;
    made->start.timed = work->exchange.to != NULL ? TIMED : 0;
    for (int k = 0; k < many; k++)
        made->member[k] = (member){made, gpu[k], NULL};
    *out = &made->base;
    if (lacis_sweep_gpus_deep(work, levels, many, &made->start.cut, why) == 0)
        return lacis_sweep_cannot_cut(work, true, many, why);
    LACIS_TRY(lacis_sweep_timeline_open(run, work, &made->times));
    lacis_sweep_by_means_nothing(work);
    made->start.apart = lacis_sweep_gpus_wait(work, &made->start.cut);
    return begin(made, input, levels);
}

#endif
