/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields on a GPU: kernels/sweep/gpu.h. Arrays of the catalog go to the device, and stay there for later statements
 * where kernels read them as they are; what is read off comes back to the host.
 */
#include "sweep/system.h"

#ifdef LACIS_GPU_KERNELS

#include "sweep/device.h"

typedef struct gpu {
    lacis_sweep_system base;
    lacis_gpu *gpu;
    lacis_sweep_gpu *system;
} gpu;

static gpu *own(lacis_sweep_system *system)
{
    return (gpu *)system; /* of which it is the beginning */
}

static lacis_status failed(const gpu *g, lacis_sweep_status status, int code)
{
    lacis_run *run = g->base.run;
    if (status == LACIS_SWEEP_NO_MEMORY) return lacis_gpu_no_room(run, g->gpu, "the fields");
    if (status == LACIS_SWEEP_FAILED) return lacis_gpu_failed(run, g->gpu, code);
    return lacis_sweep_said(run, g->base.work, status, 0);
}

static lacis_status said(const gpu *g, lacis_sweep_status status)
{
    return failed(g, status, status == LACIS_SWEEP_FAILED ? lacis_sweep_gpu_error_code(g->system) : 0);
}

/* ------------------------------------------------------------------------------------------ functions */

static lacis_status steps(lacis_sweep_system *system, int64_t count, lacis_sweep_change *change)
{
    const gpu *g = own(system);
    return said(g, lacis_sweep_gpu_steps(g->system, count, change));
}

static uint64_t field_bytes(const gpu *g)
{
    return lacis_sweep_size(g->base.work->type) * (uint64_t)g->base.work->grid.cells;
}

/* A field to the host, through a block of the device that has it afterwards. */
static lacis_status read_through(const gpu *g, int field, void *block, void *host)
{
    void *only[LACIS_SWEEP_FIELDS] = {NULL};
    only[field] = block;
    LACIS_TRY(said(g, lacis_sweep_gpu_read(g->system, only)));
    return lacis_gpu_download(g->base.run, g->gpu, block, field_bytes(g), host);
}

static lacis_status read(lacis_sweep_system *system, void *const *field)
{
    const gpu *g = own(system);
    void *block = lacis_gpu_alloc(g->gpu, field_bytes(g));
    lacis_status status = LACIS_OK;
    if (block == NULL) return lacis_gpu_no_room(system->run, g->gpu, "the result");
    for (int i = 0; i < system->work->grid.fields && status == LACIS_OK; i++)
        if (field[i] != NULL) status = read_through(g, i, block, field[i]);
    lacis_gpu_free(g->gpu, block);
    return status;
}

/* The array's part that begins at `data`. */
static const char *part_name(const lacis_array *array, const void *data)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++)
        if (part.data == data) return part.name;
    return NULL;
}

/* Each field's block stays on the device as the copy of its part. */
static lacis_status leave_field(const gpu *g, const lacis_array *array, const lacis_grid *grid, int field)
{
    uint64_t offset = 0;
    const char *name = part_name(array, grid->field[field]);
    lacis_buffer *buffer = name == NULL ? NULL : lacis_array_part_buffer(array, name, &offset);
    void *block = lacis_gpu_alloc(g->gpu, field_bytes(g));
    if (block == NULL) return lacis_gpu_no_room(g->base.run, g->gpu, "the result");
    const lacis_status status = read_through(g, field, block, (void *)(uintptr_t)grid->field[field]);
    if (status != LACIS_OK || buffer == NULL)
        lacis_gpu_free(g->gpu, block);
    else
        lacis_gpu_keep(g->gpu, buffer, offset, field_bytes(g), block);
    return status;
}

static lacis_status leave(lacis_sweep_system *system, const lacis_array *array, const lacis_grid *grid)
{
    for (int i = 0; i < grid->fields; i++)
        LACIS_TRY(leave_field(own(system), array, grid, i));
    return LACIS_OK;
}

static void counted(lacis_sweep_system *system, lacis_sweep_counts *out)
{
    lacis_sweep_gpu_counted(own(system)->system, out, true);
}

static void clear(lacis_sweep_system *system)
{
    lacis_sweep_gpu_free(own(system)->system);
    own(system)->system = NULL;
}

static const lacis_sweep_kind kind = {
    .steps = steps, .read = read, .leave = leave, .counted = counted, .free = clear};

/* ----------------------------------------------------------------------------------------- beginning */

static void *take(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((gpu *)context)->gpu, bytes);
}

static void give(void *context, void *block)
{
    lacis_gpu_free(((gpu *)context)->gpu, block);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(((gpu *)context)->base.run);
}

/* Arrays that were converted have no copy of their own on the device; they lie one behind the other in a block. */
typedef struct sending {
    const gpu *to;
    char *block;
    uint64_t used;
} sending;

static uint64_t apart(uint64_t bytes)
{
    return (bytes + 255) / 256 * 256;
}

static lacis_status send(sending *s, const lacis_sweep_source *source, const void *host, const void **out)
{
    const gpu *g = s->to;
    const uint64_t bytes = lacis_sweep_size(g->base.work->type) * (uint64_t)source->count;
    const char *name = host == source->data ? part_name(source->array, host) : NULL;
    if (name != NULL) {
        const lacis_status status = lacis_gpu_part(g->base.run, g->gpu, source->array, name, out);
        return status == LACIS_LIMIT ? lacis_gpu_no_room(g->base.run, g->gpu, "the grid") : status;
    }
    *out = s->block + s->used;
    s->used += apart(bytes);
    return lacis_gpu_upload(g->base.run, g->gpu, host, bytes, s->block + s->used - apart(bytes));
}

static uint64_t bytes_to_convert(const lacis_sweep_work *work, const lacis_sweep_input *input)
{
    const uint64_t size = lacis_sweep_size(work->type);
    uint64_t bytes = 0;
    for (int i = 0; i < work->grid.fields + work->coefficients; i++)
        if (input->array[i] != work->array[i].data) bytes += apart(size * (uint64_t)work->array[i].count);
    for (int field = 0; field < work->grid.fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (input->face[field][face] != work->face[field][face].data)
                bytes += apart(size * (uint64_t)work->face[field][face].count);
    return bytes;
}

static lacis_status send_all(sending *s, const lacis_sweep_input *input, lacis_sweep_input *there)
{
    const lacis_sweep_work *work = s->to->base.work;
    for (int i = 0; i < work->grid.fields + work->coefficients; i++)
        LACIS_TRY(send(s, &work->array[i], input->array[i], &there->array[i]));
    for (int field = 0; field < work->grid.fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (work->face[field][face].array != NULL)
                LACIS_TRY(send(s, &work->face[field][face], input->face[field][face], &there->face[field][face]));
    return LACIS_OK;
}

static lacis_status begin(gpu *made, int levels, const lacis_sweep_input *there)
{
    lacis_run *run = made->base.run;
    lacis_sweep_gpu_start start = {.stream = lacis_gpu_stream(made->gpu)};
    void *side[2];
    int code = 0;
    lacis_sweep_start_of(made->base.work, there, &start.start);
    start.start.levels = levels;
    start.start.host = (lacis_sweep_host){take, give, stopped, made};
    lacis_gpu_beside(made->gpu, side, &start.pinned);
    if (start.pinned == NULL)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's driver has no pinned memory left");
    LACIS_TRY(lacis_sweep_program_make(run, made->gpu, made->base.work, &start.start, start.kernel));
    const lacis_sweep_status status = lacis_sweep_gpu_new(&start, &made->system, &code);
    return failed(made, status, code);
}

lacis_status lacis_sweep_gpu_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                    int levels, lacis_sweep_system **out)
{
    char reason[200];
    gpu *made;
    lacis_sweep_input there = {.own = NULL};
    lacis_gpu *on = lacis_run_gpu(run, reason, sizeof reason);
    if (on == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    lacis_gpu *all[LACIS_GPUS] = {on};
    const int many = lacis_sweep_gpus_for(call->work, levels, true, all);
    if (many > 1) return lacis_sweep_gpus_system(run, call, input, levels, all, many, out);
    LACIS_TRY(lacis_run_scratch(run, sizeof *made, &made));
    *made = (gpu){.base = {&kind, run, call, call->work}, .gpu = on};
    const uint64_t bytes = bytes_to_convert(call->work, input);
    sending s = {.to = made, .block = bytes > 0 ? lacis_gpu_alloc(on, bytes) : NULL};
    if (bytes > 0 && s.block == NULL) return lacis_gpu_no_room(run, on, "the grid");
    *out = &made->base;
    lacis_status status = send_all(&s, input, &there);
    if (status == LACIS_OK) status = begin(made, levels, &there);
    lacis_gpu_free(on, s.block);
    return status;
}

#else

lacis_status lacis_sweep_gpu_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                    int levels, lacis_sweep_system **out)
{
    (void)call, (void)input, (void)levels, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif
