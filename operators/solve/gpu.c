/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's variants for the GPU, one a way to solve: lanes in as few panels as the devices' memory allows, dealt over
 * the devices; results to the host, where a copy of what came whole stays on the device for what comes next.
 */
#include "solve/device.h"

#ifdef LACIS_GPU_KERNELS

#include <string.h>

/* Lanes that are copied row by row come in blocks of so many bytes. */
static const uint64_t SCATTERED = (uint64_t)16 << 20;

/* --------------------------------------------------------------------------------------------- panels */

/* In the order of lanes: the first panel with a bad lane has the lowest one. */
static lacis_status place(void *context, lacis_panel *panel)
{
    lacis_solving *solving = context;
    const lacis_solve_panel *own = panel->own;
    solving->sent += (double)own->sent;
    solving->sums.bad_lanes += own->out.bad_lanes;
    if (own->out.factored > solving->sums.factored) solving->sums.factored = own->out.factored;
    if (!own->bad) return LACIS_OK;
    solving->bad_lane = panel->first + own->out.bad_lane;
    solving->bad = own->out.bad;
    return LACIS_RANGE;
}

/* Rows of some lanes, through a block on the host. */
static lacis_status fetch_rows(lacis_run *run, lacis_gpu *gpu, const lacis_solve_piece *piece, uint64_t size,
                               const char *from, char *to)
{
    const uint64_t pitch = (uint64_t)piece->to_pitch * size, bytes = (uint64_t)piece->width * size;
    int64_t rows = pitch > SCATTERED ? 1 : (int64_t)(SCATTERED / pitch);
    if (rows > piece->height) rows = piece->height;
    char *block = lacis_run_alloc_quiet(run, pitch * (uint64_t)rows);
    lacis_status status = block == NULL ? LACIS_NOMEM : LACIS_OK;
    for (int64_t row = 0; status == LACIS_OK && row < piece->height; row += rows) {
        if (rows > piece->height - row) rows = piece->height - row;
        status = lacis_gpu_fetch(run, gpu, from + (uint64_t)row * pitch, pitch * (uint64_t)(rows - 1) + bytes, block);
        for (int64_t i = 0; status == LACIS_OK && i < rows; i++)
            memcpy(to + (uint64_t)((row + i) * piece->from_pitch) * size, block + (uint64_t)i * pitch, bytes);
    }
    lacis_run_free(run, block);
    return status;
}

static lacis_status fetch_lanes(lacis_run *run, lacis_gpu *gpu, const lacis_solve_lie *lie, uint64_t size,
                                const void *from, void *to)
{
    for (int i = 0; i < lie->pieces; i++) {
        const lacis_solve_piece *piece = &lie->piece[i];
        const char *device = (const char *)from + (uint64_t)piece->to * size;
        char *host = (char *)to + (uint64_t)piece->from * size;
        LACIS_TRY(piece->height == 1 ? lacis_gpu_fetch(run, gpu, device, size * (uint64_t)piece->width, host)
                                     : fetch_rows(run, gpu, piece, size, device, host));
    }
    return LACIS_OK;
}

/* The whole result came in one panel: its block becomes the copy of the host's buffer. */
static void keep(lacis_solving *solving, lacis_panel *panel)
{
    lacis_solve_panel *own = panel->own;
    uint64_t offset, bytes = (uint64_t)lacis_solve_bytes(solving->task->work->type) * (uint64_t)own->result.places;
    lacis_buffer *buffer = lacis_array_part_buffer(solving->task->array, "value", &offset);
    lacis_gpu_keep(panel->gpu, buffer, offset, bytes, own->x);
    own->x = NULL;
}

static lacis_status fetch(void *context, lacis_panel *panel)
{
    lacis_solving *solving = context;
    lacis_solve_panel *own = panel->own;
    const lacis_solve_task *task = solving->task;
    const uint64_t size = (uint64_t)lacis_solve_bytes(task->work->type);
    if (own->sum != NULL)
        return lacis_gpu_fetch(task->run, panel->gpu, own->sum, sizeof *solving->sum * (uint64_t)panel->count,
                               solving->sum + (panel->first - task->first));
    LACIS_TRY(fetch_lanes(task->run, panel->gpu, &own->result, size, own->x, task->job.x));
    if (own->residual != NULL)
        LACIS_TRY(
            fetch_lanes(task->run, panel->gpu, &own->result, sizeof(double), own->residual, task->job.residual));
    if (own->status != NULL)
        LACIS_TRY(lacis_gpu_fetch(task->run, panel->gpu, own->status, sizeof(int64_t) * (uint64_t)panel->count,
                                  task->job.status + (panel->first - task->first)));
    if (panel->count == task->stop - task->first && solving->devices == 1) keep(solving, panel);
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- runs */

/* What panels ended with, in the user's words. */
static lacis_status told(const lacis_solving *solving, lacis_status status)
{
    const lacis_solve_task *task = solving->task;
    if (solving->bad_lane >= 0) return lacis_solve_say_bad(task->run, task->call, solving->bad_lane, solving->bad);
    if (status == LACIS_INTERRUPT) return lacis_run_interrupted(task->run);
    if (status == LACIS_MISUSE)
        return lacis_run_fail(task->run, LACIS_UNSUPPORTED, "the GPU's kernels do not solve these systems after all");
    if (status == LACIS_NOMEM) return lacis_run_fail(task->run, LACIS_NOMEM, "SOLVE: the system has no more memory");
    return status;
}

static lacis_status deal_lanes(lacis_solving *solving)
{
    const lacis_solve_task *task = solving->task;
    lacis_gpu *gpu[LACIS_GPUS];
    lacis_panels_report report;
    const lacis_panels panels = {.begin = task->first,
                                 .end = task->stop,
                                 .own_bytes = sizeof(lacis_solve_panel),
                                 .context = solving,
                                 .size = lacis_solve_panel_lanes,
                                 .compute = lacis_solve_panel_compute,
                                 .place = place,
                                 .fetch = fetch,
                                 .drop = lacis_solve_panel_drop,
                                 .verb = "SOLVE",
                                 .unit = "lane"};
    for (int i = 0; i < solving->devices; i++)
        gpu[i] = solving->device[i].gpu;
    lacis_status status = lacis_gpu_panels(task->run, gpu, solving->devices, &panels, &report);
    if (status != LACIS_OK) return told(solving, status);
    if (task->work->status) lacis_run_count(task->run, "bad lanes", (double)solving->sums.bad_lanes);
    if (solving->sums.factored > 0) lacis_run_count(task->run, "matrices factored", (double)solving->sums.factored);
    if (solving->sent > 0) lacis_run_count(task->run, "bytes to the GPU with panels", solving->sent);
    return LACIS_OK;
}

lacis_status lacis_solve_deal(lacis_solving *solving)
{
    lacis_status status = lacis_solve_devices(solving);
    if (status == LACIS_OK) status = deal_lanes(solving);
    lacis_solve_devices_leave(solving);
    return status;
}

static lacis_status compute(lacis_solve_task *task, lacis_solve_gpu_way way)
{
    lacis_solving *solving;
    if (task->stop == task->first) return LACIS_OK;
    LACIS_TRY(lacis_run_scratch(task->run, sizeof *solving, &solving));
    *solving = (lacis_solving){.task = task, .way = way, .bad_lane = -1};
    return lacis_solve_deal(solving);
}

#else

static lacis_status compute(lacis_solve_task *task, lacis_solve_gpu_way way)
{
    (void)way;
    return lacis_run_fail(task->run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif

/* ------------------------------------------------------------------------------------------- variants */

#define VARIANT(id, way, title, says)                                                                                \
    static bool id##_can(const lacis_call *call, char *reason, size_t size)                                          \
    {                                                                                                                \
        return lacis_solve_gpu_can(call, way, reason, size);                                                         \
    }                                                                                                                \
    static lacis_status id##_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,              \
                                  lacis_cost *out)                                                                   \
    {                                                                                                                \
        return lacis_solve_gpu_cost(run, call, way, profile, out);                                                   \
    }                                                                                                                \
    static lacis_status id##_compute(lacis_solve_task *task)                                                         \
    {                                                                                                                \
        return compute(task, way);                                                                                   \
    }                                                                                                                \
    static lacis_status id##_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,                 \
                                 lacis_array **out)                                                                  \
    {                                                                                                                \
        return lacis_solve_by(run, call, begin, end, id##_compute, out);                                             \
    }                                                                                                                \
    static lacis_status id##_totals(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,              \
                                    lacis_totals *totals)                                                            \
    {                                                                                                                \
        return lacis_solve_gpu_totals(run, call, begin, end, way, totals);                                           \
    }                                                                                                                \
    const lacis_variant lacis_solve_gpu_##id = {.name = title,                                                       \
                                                .device = LACIS_GPU,                                                 \
                                                .summary = says,                                                     \
                                                .can = id##_can,                                                     \
                                                .cost = id##_cost,                                                   \
                                                .run = id##_run,                                                     \
                                                .totals = id##_totals};

VARIANT(thread, LACIS_SOLVE_GPU_THREAD, "gpu thread", "a thread a system, rows streamed through it")
VARIANT(chip, LACIS_SOLVE_GPU_CHIP, "gpu chip",
        "chains in registers, rows in chunks over threads: read and written once")
VARIANT(lanes, LACIS_SOLVE_GPU_LANES, "gpu lanes",
        "trees on chip, lanes by groups of threads that share their subtrees")
VARIANT(shared, LACIS_SOLVE_GPU_SHARED, "gpu shared",
        "trees, a thread a system, its eliminated rows in shared memory")
VARIANT(branches, LACIS_SOLVE_GPU_BRANCHES, "gpu branches", "trees of several shapes, branches by levels as chains")
VARIANT(cyclic, LACIS_SOLVE_GPU_CYCLIC, "gpu cr-pcr",
        "a block a chain in shared memory: cyclic reduction, the last rows by parallel cyclic reduction")

const lacis_variant *lacis_solve_gpu_variant(lacis_solve_gpu_way way)
{
    static const lacis_variant *const variant[LACIS_SOLVE_GPU_WAYS] = {
        &lacis_solve_gpu_thread, &lacis_solve_gpu_chip,     &lacis_solve_gpu_lanes,
        &lacis_solve_gpu_shared, &lacis_solve_gpu_branches, &lacis_solve_gpu_cyclic};
    return variant[way];
}
