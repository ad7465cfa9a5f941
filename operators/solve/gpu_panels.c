/* SPDX-License-Identifier: Apache-2.0
 *
 * A panel of SOLVE's lanes on a device: where they lie there, what has to be sent for them, kernels. gpu.c deals the
 * panels and takes their results.
 */
#include "solve/device.h"

#ifdef LACIS_GPU_KERNELS

#include <string.h>

/* Lanes that are copied row by row are gathered in blocks of so many bytes. */
static const uint64_t GATHERED = (uint64_t)16 << 20;

static void *device_alloc(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((lacis_solve_device *)context)->gpu, bytes);
}

static void device_free(void *context, void *block)
{
    lacis_gpu_free(((lacis_solve_device *)context)->gpu, block);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(((lacis_solve_device *)context)->solving->task->run);
}

static bool matrix_sent(const lacis_solve_device *device)
{
    for (int role = 0; role < LACIS_SOLVE_RIGHT; role++)
        if (device->part[role] == NULL) return true;
    return false;
}

/* The panel's lanes [lo, hi) of group g of `like`, the nth of the run's, both counted in the run's group. */
static void place_group(const lacis_solve_device *device, int64_t g, int64_t nth, int64_t lo, int64_t hi,
                        lacis_solve_panel *own)
{
    const lacis_solve_task *task = device->solving->task;
    const lacis_solve *work = task->work;
    const lacis_batch *r = &work->rhs.batch, *shape = &task->shape;
    const lacis_solve_group *from = &task->job.group[nth];
    const lacis_batch_group *result = &shape->group[shape->groups == work->like->batch.groups ? g : nth];
    lacis_solve_group *to = &own->group[own->groups++];
    *to = *from;
    to->lanes = hi - lo;
    to->first = from->first + lo;
    to->matrix.lane += work->one ? 0 : lo;
    to->rhs.lane += lo;
    if (matrix_sent(device))
        to->matrix = lacis_solve_lie_add(&own->matrix, &work->matrix.batch, lacis_solve_matrix_group(work, g),
                                         to->matrix.lane, to->matrix.lane + hi - lo);
    if (device->part[LACIS_SOLVE_RIGHT] == NULL)
        to->rhs = lacis_solve_lie_add(&own->right, r, &r->group[g], to->rhs.lane, to->rhs.lane + hi - lo);
    to->x = lacis_solve_lie_add(&own->result, shape, result, lo, hi);
}

/* Groups with lanes in the panel; lanes of the job are counted from its first on. LACIS_NOMEM: the host has no room
 * for the list. */
static lacis_status place_lanes(const lacis_solve_device *device, const lacis_panel *panel, lacis_solve_panel *own)
{
    const lacis_solve_task *task = device->solving->task;
    const lacis_batch *like = &task->work->like->batch;
    const int64_t begin = panel->first, end = panel->first + panel->count;
    int64_t nth = -1;
    own->group = lacis_run_alloc_quiet(task->run, sizeof *own->group * (uint64_t)like->groups);
    if (own->group == NULL) return LACIS_NOMEM;
    own->result.exact = true;
    for (int64_t g = 0; g < like->groups; g++) {
        const lacis_batch_group *group = &like->group[g];
        int64_t stop = group->lane + group->lanes, base = group->lane > task->first ? group->lane : task->first;
        if (stop <= task->first || group->lane >= task->stop) continue;
        nth++;
        int64_t lo = base > begin ? base : begin, hi = stop < end ? stop : end;
        if (lo < hi) place_group(device, g, nth, lo - base, hi - base, own);
    }
    for (int64_t i = 0; i < own->groups; i++)
        own->group[i].first -= begin - task->first;
    return LACIS_OK;
}

/* One stretch a piece, or rows gathered into blocks. */
static lacis_status send_piece(lacis_run *run, lacis_gpu *gpu, const lacis_solve_piece *piece, uint64_t size,
                               const char *from, char *to)
{
    const uint64_t bytes = (uint64_t)piece->width * size;
    from += (uint64_t)piece->from * size;
    to += (uint64_t)piece->to * size;
    if (piece->height == 1) return lacis_gpu_send(run, gpu, from, bytes, to);
    int64_t rows = bytes > GATHERED ? 1 : (int64_t)(GATHERED / bytes);
    if (rows > piece->height) rows = piece->height;
    char *block = lacis_run_alloc_quiet(run, bytes * (uint64_t)rows);
    lacis_status status = block == NULL ? LACIS_NOMEM : LACIS_OK;
    for (int64_t row = 0; status == LACIS_OK && row < piece->height; row += rows) {
        if (rows > piece->height - row) rows = piece->height - row;
        for (int64_t i = 0; i < rows; i++)
            memcpy(block + (uint64_t)i * bytes, from + (uint64_t)((row + i) * piece->from_pitch) * size, bytes);
        status =
            lacis_gpu_send(run, gpu, block, bytes * (uint64_t)rows, to + (uint64_t)(row * piece->to_pitch) * size);
    }
    lacis_run_free(run, block);
    return status;
}

static lacis_status send_part(const lacis_solve_device *device, int role, lacis_solve_panel *own)
{
    const lacis_solve_task *task = device->solving->task;
    const lacis_solve_lie *lie = role == LACIS_SOLVE_RIGHT ? &own->right : &own->matrix;
    const uint64_t size = (uint64_t)lacis_solve_bytes(task->work->type), bytes = size * (uint64_t)lie->places;
    own->part[role] = lacis_gpu_alloc(device->gpu, bytes);
    if (own->part[role] == NULL) return LACIS_LIMIT;
    own->sent += bytes;
    for (int i = 0; i < lie->pieces; i++)
        LACIS_TRY(send_piece(task->run, device->gpu, &lie->piece[i], size,
                             lacis_solve_field_of(&task->job, role)->data, own->part[role]));
    return LACIS_OK;
}

static lacis_status take_room(const lacis_solve_device *device, const lacis_panel *panel, lacis_solve_panel *own)
{
    const lacis_solve *work = device->solving->task->work;
    const uint64_t places = (uint64_t)own->result.places, lanes = (uint64_t)panel->count;
    own->x = lacis_gpu_alloc(device->gpu, (uint64_t)lacis_solve_bytes(work->type) * places);
    const bool residual = work->residual && device->solving->sum == NULL, sums = device->solving->sum != NULL;
    if (residual) own->residual = lacis_gpu_alloc(device->gpu, sizeof(double) * places);
    if (sums) own->sum = lacis_gpu_alloc(device->gpu, sizeof(lacis_solve_gpu_sum) * lanes);
    if (work->status) own->status = lacis_gpu_alloc(device->gpu, sizeof(int64_t) * lanes);
    bool fine = own->x != NULL && (own->residual != NULL || !residual) && (own->status != NULL || !work->status);
    return fine && (own->sum != NULL || !sums) ? LACIS_OK : LACIS_LIMIT;
}

static lacis_solve_field there(const lacis_solve_device *device, int role, const lacis_solve_panel *own)
{
    const lacis_solve_field *field = lacis_solve_field_of(&device->solving->task->job, role);
    return (lacis_solve_field){own->part[role] != NULL ? own->part[role] : device->part[role], field->shared};
}

/* The answer of the kernels as panels take it. A bad lane is told once it is known that it is the first. */
static lacis_status answer(lacis_solve_device *device, lacis_solve_gpu_status status, int cuda_error,
                           lacis_solve_panel *own)
{
    switch (status) {
    case LACIS_SOLVE_GPU_OK:
        return LACIS_OK;
    case LACIS_SOLVE_GPU_NO_MEMORY:
        return LACIS_LIMIT;
    case LACIS_SOLVE_GPU_CANCELLED:
        return LACIS_INTERRUPT;
    case LACIS_SOLVE_GPU_BAD:
        own->bad = true;
        return LACIS_OK;
    case LACIS_SOLVE_GPU_UNSUPPORTED:
        return LACIS_MISUSE;
    case LACIS_SOLVE_GPU_FAILED:
        break;
    }
    return lacis_gpu_broke(device->gpu, cuda_error);
}

static lacis_status run_kernels(lacis_solve_device *device, lacis_solve_panel *own)
{
    const lacis_solving *solving = device->solving;
    lacis_solve_gpu_output out;
    lacis_solve_gpu_job job = {.job = solving->task->job,
                               .way = solving->way,
                               .stream = lacis_gpu_stream(device->gpu),
                               .pinned = device->pinned};
    job.job.lower = there(device, LACIS_SOLVE_LOWER, own);
    job.job.diagonal = there(device, LACIS_SOLVE_DIAGONAL, own);
    job.job.upper = there(device, LACIS_SOLVE_UPPER, own);
    job.job.rhs = there(device, LACIS_SOLVE_RIGHT, own);
    job.job.x = own->x;
    job.job.residual = own->residual;
    job.job.status = own->status;
    job.job.parent = device->parent;
    job.job.group = own->group;
    job.job.groups = own->groups;
    job.job.host = (lacis_solve_host){device_alloc, device_free, stopped, device};
    const lacis_solve_gpu_plan *plan = own->groups == device->planned ? device->plan : NULL;
    lacis_solve_gpu_status status = lacis_solve_gpu_run(&job, plan, solving->task->job.parent, &out);
    own->out = out.solve;
    if (status == LACIS_SOLVE_GPU_OK && own->sum != NULL)
        status = lacis_solve_gpu_sums(&job, own->sum, &out.cuda_error);
    return answer(device, status, out.cuda_error, own);
}

lacis_status lacis_solve_panel_compute(void *context, lacis_panel *panel)
{
    lacis_solving *solving = context;
    lacis_solve_device *device = &solving->device[panel->device];
    lacis_solve_panel *own = panel->own;
    LACIS_TRY(place_lanes(device, panel, own));
    LACIS_TRY(take_room(device, panel, own));
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        if (device->part[role] == NULL) LACIS_TRY(send_part(device, role, own));
    return run_kernels(device, own);
}

void lacis_solve_panel_drop(void *context, lacis_panel *panel)
{
    const lacis_solving *solving = context;
    lacis_solve_panel *own = panel->own;
    for (int role = 0; role < LACIS_SOLVE_ROLES; role++)
        lacis_gpu_free(panel->gpu, own->part[role]);
    lacis_gpu_free(panel->gpu, own->x);
    lacis_gpu_free(panel->gpu, own->residual);
    lacis_gpu_free(panel->gpu, own->status);
    lacis_gpu_free(panel->gpu, own->sum);
    lacis_run_free(solving->task->run, own->group);
    *own = (lacis_solve_panel){0};
}

#endif
