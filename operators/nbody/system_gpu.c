/* SPDX-License-Identifier: Apache-2.0
 *
 * A system on a GPU, or several that share its walks: kernels/nbody/gpu.h. Columns of the array go to the device, and
 * stay there for later statements where kernels read them as they are; what is read off comes back to the host.
 */
#include "nbody/system.h"

#ifdef LACIS_GPU_KERNELS

#include "nbody/device.h"

typedef struct member {
    struct gpu *of;
    lacis_gpu *gpu;
} member;

typedef struct gpu {
    lacis_nbody_system base;
    lacis_gpu *gpu;
    lacis_nbody_gpu *system;   /* of several what the last call of `whole` gave */
    lacis_nbody_gpus *systems; /* NULL: there is one */
    int members;
    member member[LACIS_NBODY_GPUS_MOST];
} gpu;

static gpu *own(lacis_nbody_system *system)
{
    return (gpu *)system; /* of which it is the beginning */
}

static lacis_status failed(lacis_run *run, lacis_gpu *on, lacis_nbody_status status, int code)
{
    if (status == LACIS_NBODY_OK) return LACIS_OK;
    if (status == LACIS_NBODY_CANCELLED) return lacis_run_interrupted(run);
    if (status == LACIS_NBODY_NO_MEMORY) return lacis_gpu_no_room(run, on, "the bodies and their tree");
    if (status == LACIS_NBODY_FAILED) return lacis_gpu_failed(run, on, code);
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's kernels do not do this with these bodies after all");
}

static lacis_status said(lacis_nbody_system *system, lacis_nbody_status status)
{
    const gpu *g = own(system);
    int code = 0;
    if (status == LACIS_NBODY_FAILED)
        code = g->systems != NULL ? lacis_nbody_gpus_error_code(g->systems) : lacis_nbody_gpu_error_code(g->system);
    return failed(system->run, g->gpu, status, code);
}

/* The system of the first device, for what that does by itself. */
static lacis_status whole(lacis_nbody_system *system)
{
    gpu *g = own(system);
    if (g->systems == NULL) return LACIS_OK;
    LACIS_TRY(said(system, lacis_nbody_gpus_field(g->systems, false)));
    g->system = lacis_nbody_gpus_whole(g->systems, false);
    return g->system != NULL ? LACIS_OK : said(system, LACIS_NBODY_FAILED);
}

/* ------------------------------------------------------------------------------------------ functions */

static lacis_status field(lacis_nbody_system *system, bool potential)
{
    const gpu *g = own(system);
    return said(system, g->systems != NULL ? lacis_nbody_gpus_field(g->systems, potential)
                                           : lacis_nbody_gpu_field(g->system, potential));
}

static lacis_status steps(lacis_nbody_system *system, int64_t count, double dt, bool potential)
{
    const gpu *g = own(system);
    return said(system, g->systems != NULL ? lacis_nbody_gpus_steps(g->systems, count, dt, potential)
                                           : lacis_nbody_gpu_steps(g->system, count, dt, potential));
}

static lacis_status measure(lacis_nbody_system *system, lacis_nbody_figures *out)
{
    LACIS_TRY(whole(system));
    return said(system, lacis_nbody_gpu_measure(own(system)->system, out));
}

static lacis_status certify(lacis_nbody_system *system, int64_t sample, lacis_nbody_errors *out)
{
    LACIS_TRY(whole(system));
    return said(system, lacis_nbody_gpu_certify(own(system)->system, sample, out));
}

static void set_rule(lacis_nbody_system *system, const lacis_nbody_rule *rule)
{
    const gpu *g = own(system);
    if (g->systems != NULL)
        lacis_nbody_gpus_set_rule(g->systems, rule);
    else
        lacis_nbody_gpu_set_rule(g->system, rule);
}

static void counted(lacis_nbody_system *system, lacis_nbody_counts *out)
{
    const gpu *g = own(system);
    if (g->systems == NULL) {
        lacis_nbody_gpu_counted(g->system, out, true);
        return;
    }
    lacis_run_count(system->run, "GPUs", (double)g->members);
    lacis_nbody_gpus_counted(g->systems, out, true);
}

static void clear(lacis_nbody_system *system)
{
    gpu *g = own(system);
    if (g->systems != NULL)
        lacis_nbody_gpus_free(g->systems);
    else
        lacis_nbody_gpu_free(g->system);
    g->systems = NULL;
    g->system = NULL;
}

/* ------------------------------------------------------------------------------------------- columns */

enum { POINT_COLUMNS = 7, READ_COLUMNS = 10 };

static lacis_status points_there(lacis_nbody_system *system, int64_t count, const void *at, void *out, bool potential,
                                 char *block)
{
    lacis_gpu *on = own(system)->gpu;
    const uint64_t bytes = (uint64_t)lacis_nbody_size(system->work->type) * (uint64_t)count;
    char *a = block + 3 * bytes;
    LACIS_TRY(whole(system));
    LACIS_TRY(lacis_gpu_upload(system->run, on, at, 3 * bytes, block));
    LACIS_TRY(said(system, lacis_nbody_gpu_points(own(system)->system, count, block, block + bytes, block + 2 * bytes,
                                                  a, a + bytes, a + 2 * bytes, potential ? a + 3 * bytes : NULL)));
    return lacis_gpu_download(system->run, on, a, (potential ? 4 : 3) * bytes, out);
}

static lacis_status points(lacis_nbody_system *system, int64_t count, const void *at, void *out, bool potential)
{
    lacis_gpu *on = own(system)->gpu;
    if (count == 0) return LACIS_OK;
    char *block =
        lacis_gpu_alloc(on, POINT_COLUMNS * (uint64_t)lacis_nbody_size(system->work->type) * (uint64_t)count);
    if (block == NULL) return lacis_gpu_no_room(system->run, on, "the points");
    lacis_status status = points_there(system, count, at, out, potential, block);
    lacis_gpu_free(on, block);
    return status;
}

/* Column i is wanted where to[i] is there; its copy on the device lies at its place in the block. */
static lacis_status read_there(lacis_nbody_system *system, void *const to[READ_COLUMNS], char *block, uint64_t bytes)
{
    void *at[READ_COLUMNS];
    for (uint64_t i = 0; i < READ_COLUMNS; i++)
        at[i] = to[i] != NULL ? block + i * bytes : NULL;
    const lacis_nbody_columns there = {at[0], at[1], at[2], at[3], at[4], at[5], at[6], at[7], at[8], at[9]};
    LACIS_TRY(whole(system));
    LACIS_TRY(said(system, lacis_nbody_gpu_read(own(system)->system, &there)));
    const uint64_t length = (uint64_t)lacis_nbody_size(system->work->type) * (uint64_t)system->work->bodies.count;
    for (int i = 0; i < READ_COLUMNS; i++)
        if (to[i] != NULL) LACIS_TRY(lacis_gpu_download(system->run, own(system)->gpu, at[i], length, to[i]));
    return LACIS_OK;
}

static lacis_status read(lacis_nbody_system *system, const lacis_nbody_columns *into)
{
    void *const to[READ_COLUMNS] = {into->x,  into->y,  into->z,  into->vx, into->vy,
                                    into->vz, into->ax, into->ay, into->az, into->phi};
    lacis_gpu *on = own(system)->gpu;
    const uint64_t size = (uint64_t)lacis_nbody_size(system->work->type);
    const uint64_t bytes = (size * (uint64_t)system->work->bodies.count + 255) / 256 * 256;
    if (bytes == 0) return LACIS_OK;
    char *block = lacis_gpu_alloc(on, READ_COLUMNS * bytes);
    if (block == NULL) return lacis_gpu_no_room(system->run, on, "the result");
    lacis_status status = read_there(system, to, block, bytes);
    lacis_gpu_free(on, block);
    return status;
}

static const lacis_nbody_kind kind = {
    .field = field,
    .steps = steps,
    .points = points,
    .measure = measure,
    .certify = certify,
    .read = read,
    .set_rule = set_rule,
    .counted = counted,
    .free = clear,
};

/* ----------------------------------------------------------------------------------------- beginning */

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

/* Columns as the array has them, or copies in a block for the time being. */
static lacis_status send(lacis_run *run, const lacis_nbody_work *work, lacis_gpu *on, const lacis_nbody_input *input,
                         lacis_nbody_input *there, void **block)
{
    const uint64_t size = (uint64_t)lacis_nbody_size(work->type), bytes = size * (uint64_t)work->bodies.count;
    const uint64_t apart = (bytes + 255) / 256 * 256;
    uint64_t copied = 0;
    for (int i = 0; i < LACIS_NBODY_COLUMNS; i++)
        copied += input->column[i] != NULL && !input->direct[i];
    *block = lacis_gpu_alloc(on, copied * apart);
    if (*block == NULL) return lacis_gpu_no_room(run, on, "the bodies");
    char *to = *block;
    for (int i = 0; i < LACIS_NBODY_COLUMNS; i++) {
        if (input->column[i] == NULL) continue;
        if (input->direct[i]) {
            lacis_status status = lacis_gpu_part(run, on, work->array, lacis_nbody_column_name[i], &there->column[i]);
            if (status == LACIS_LIMIT) return lacis_gpu_no_room(run, on, "the bodies");
            LACIS_TRY(status);
            continue;
        }
        if (bytes > 0) LACIS_TRY(lacis_gpu_upload(run, on, input->column[i], bytes, to));
        there->column[i] = to;
        to += apart;
    }
    return LACIS_OK;
}

/* Where device k works. False: the driver has no pinned memory left. */
static bool furnish(gpu *made, int k, lacis_gpu *on, lacis_nbody_gpu_start *start)
{
    void *side[2];
    made->member[k] = (member){made, on};
    lacis_gpu_beside(on, side, &start->pinned);
    start->start.host =
        (lacis_nbody_host){.alloc = take, .free = give, .cancelled = stopped, .context = &made->member[k]};
    start->stream = lacis_gpu_stream(on);
    return start->pinned != NULL;
}

/* starts[0] becomes one of several where GPUs share the call; those without room are done without. */
static lacis_status gather(gpu *made, lacis_nbody_gpu_start *starts, int *device)
{
    lacis_run *run = made->base.run;
    lacis_gpu *on[LACIS_GPUS] = {made->gpu};
    const int most = lacis_nbody_gpus_for(made->base.work, starts[0].start.rule.way, true, on);
    const uint64_t bytes = lacis_nbody_gpu_bytes(&starts[0].start);
    made->members = 1;
    if (most == 1) return LACIS_OK;
    device[0] = lacis_nbody_gpu_current();
    for (int k = 1; k < most; k++) {
        lacis_nbody_gpu_start *next = &starts[made->members];
        if (lacis_gpu_memory_left(on[k]) < bytes || lacis_gpu_enter(run, on[k]) != LACIS_OK ||
            !furnish(made, made->members, on[k], next)) {
            lacis_run_note(run, LACIS_NOTE, "NBODY: GPU %d is done without", lacis_gpu_number(on[k]));
            continue;
        }
        device[made->members++] = lacis_nbody_gpu_current();
    }
    return lacis_gpu_enter(run, made->gpu);
}

static lacis_status begin(gpu *made, lacis_nbody_way way, const lacis_nbody_input *there)
{
    const lacis_nbody_work *work = made->base.work;
    lacis_run *run = made->base.run;
    lacis_nbody_gpu_start starts[LACIS_NBODY_GPUS_MOST] = {{.start = lacis_nbody_start_with(work, there, way)}};
    int code = 0, device[LACIS_NBODY_GPUS_MOST];
    if (!furnish(made, 0, made->gpu, &starts[0]))
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's driver has no pinned memory left");
    starts[0].timed = lacis_run_timed(run);
    lacis_nbody_gpu_settle(&starts[0].start, &starts[0].start.rule);
    made->base.rule = starts[0].start.rule;
    made->base.felt = starts[0].start.ax != NULL;
    LACIS_TRY(gather(made, starts, device));
    const lacis_nbody_status status = made->members > 1
                                          ? lacis_nbody_gpus_new(starts, device, made->members, &made->systems, &code)
                                          : lacis_nbody_gpu_new(&starts[0], &made->system, &code);
    return failed(run, made->gpu, status, code);
}

lacis_status lacis_nbody_gpu_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                    lacis_nbody_way way, lacis_nbody_system **out)
{
    char reason[200];
    gpu *made;
    void *block = NULL;
    lacis_nbody_input there = {.own = NULL};
    lacis_gpu *on = lacis_run_gpu(run, reason, sizeof reason);
    if (on == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    LACIS_TRY(lacis_run_scratch(run, sizeof *made, &made));
    *made = (gpu){.base = {.kind = &kind, .run = run, .call = call, .work = call->work}, .gpu = on};
    *out = &made->base;
    lacis_status status = send(run, call->work, on, input, &there, &block);
    if (status == LACIS_OK) status = begin(made, way, &there);
    lacis_gpu_free(on, block);
    return status;
}

#else

lacis_status lacis_nbody_gpu_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                    lacis_nbody_way way, lacis_nbody_system **out)
{
    (void)call, (void)input, (void)way, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif
