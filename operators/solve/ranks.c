/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE's variants "ranks": whether other ranks can share the lanes, what that would cost, and dealing them. Pieces
 * are lanes with about equal elements, several a rank; whoever is free takes the next. Operands lie whole on each
 * rank where they fit, and stay there for later statements; where they do not, each piece brings its lanes. Right
 * sides that meet one matrix always come with their piece.
 */
#include "solve/device.h"
#include "solve/slices.h"

#include <string.h>

/* Less than this is done before the others have heard of it. */
static const double LEAST_ELEMENTS = 2e7;
enum { PIECES_A_RANK = 4 };

struct dealt {
    lacis_solve_task *task;
    const lacis_variant *local; /* what rank 0's own share runs */
    bool whole[2];              /* the matrices, the right sides of BY: no piece has lanes of its own */
    int64_t *border, pieces;    /* of lanes */
};

/* ----------------------------------------------------------------------------------------- whether */

static double elements_of(const lacis_call *call)
{
    const lacis_solve *work = call->work;
    const lacis_batch *batch = &work->like->batch;
    return batch->lanes > 0 ? (double)batch->elements * (double)call->units / (double)batch->lanes : 0;
}

static bool can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_solve *work = call->work;
    const char *why = NULL;
    if (lacis_run_ranks(work->run) == 1) why = "there are no other ranks";
    if (why == NULL && work->in_place) why = "IN PLACE is done where the right sides are";
    if (why == NULL && work->chosen != NULL) why = "lanes picked one by one are done sooner than sent";
    double elements = elements_of(call);
    if (why == NULL && elements < LEAST_ELEMENTS && !lacis_run_ranks_always(work->run)) {
        snprintf(reason, size, "too little work: %.0f elements, of %.0f that it takes to pay", elements,
                 LEAST_ELEMENTS);
        return false;
    }
    if (why != NULL) snprintf(reason, size, "%s", why);
    return why == NULL;
}

/* The way on the GPU that rank 0 takes for its own share; NULL, with the reason of the last one: none. */
static const lacis_variant *gpu_way(const lacis_call *call, char *reason, size_t size)
{
    const lacis_variant *const ways[] = {&lacis_solve_gpu_chip, &lacis_solve_gpu_lanes, &lacis_solve_gpu_thread,
                                         &lacis_solve_gpu_branches};
    for (int i = 0; i < LACIS_COUNT(ways); i++)
        if (ways[i]->can(call, reason, size)) return ways[i];
    return NULL;
}

static bool gpu_can(const lacis_call *call, char *reason, size_t size)
{
    if (!can(call, reason, size) || gpu_way(call, reason, size) == NULL) return false;
    reason[0] = '\0'; /* of a way that was asked before */
    return true;
}

/* ------------------------------------------------------------------------------------------- costs */

static bool by_pieces(const lacis_solve *work)
{
    return work->one && work->matrix.batch.groups == 1;
}

static double send_seconds(lacis_run *run, const lacis_solve *work, double result, int ranks)
{
    const double call_seconds = 1e-2, copy_rate = 4e9; /* some round trips a rank, each until rank 0 looks round */
    const double others = ranks - 1, rate = lacis_run_ranks_rate(run);
    const lacis_array *s = work->matrix.array, *r = work->rhs.array;
    double bytes = lacis_run_ranks_hold(run, s) ? 0 : others * (double)lacis_array_bytes(s);
    if (r != s && by_pieces(work)) bytes += others / ranks * (double)lacis_array_bytes(r);
    if (r != s && !by_pieces(work) && !lacis_run_ranks_hold(run, r)) bytes += others * (double)lacis_array_bytes(r);
    return call_seconds + (bytes + others / ranks * result) / rate + result / copy_rate;
}

static lacis_status cost_over(const lacis_variant *local, lacis_run *run, const lacis_call *call,
                              const lacis_profile *profile, lacis_cost *out)
{
    const int ranks = lacis_run_ranks(run);
    lacis_call whole = *call;
    whole.totals = false; /* ranks bring the result */
    LACIS_TRY(local->cost(run, &whole, profile, out));
    out->seconds = out->seconds / ranks + send_seconds(run, call->work, out->bytes, ranks);
    return LACIS_OK;
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    return cost_over(&lacis_solve_cpu, run, call, profile, out);
}

static lacis_status gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    char reason[200] = "";
    const lacis_variant *way = gpu_way(call, reason, sizeof reason);
    if (way == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    return cost_over(way, run, call, profile, out);
}

/* ------------------------------------------------------------------------------------------- pieces */

/* Borders of pieces of about equal elements, at whole flocks of the right sides where that can be. */
static void cut(struct dealt *d, double most)
{
    const lacis_solve_task *task = d->task;
    const lacis_batch *like = &task->work->like->batch;
    const int64_t flock = task->work->rhs.batch.block > 1 ? task->work->rhs.batch.block : 1;
    double room = most;
    d->border[d->pieces = 0] = task->first;
    for (int64_t g = 0; g < like->groups; g++) {
        const lacis_batch_group *group = &like->group[g];
        int64_t lane = group->lane > task->first ? group->lane : task->first, stop = group->lane + group->lanes;
        if (stop > task->stop) stop = task->stop;
        while (lane < stop) {
            double rows = group->rows > 0 ? (double)group->rows : 1, taken = room / rows + 1;
            int64_t more = taken < (double)(stop - lane) ? (int64_t)taken : stop - lane;
            int64_t up = (lane - group->lane + more + flock - 1) / flock * flock + group->lane;
            if (up > stop) up = stop;
            room -= (double)(up - lane) * rows;
            lane = up;
            if (room > 0) continue;
            d->border[++d->pieces] = lane;
            room = most;
        }
    }
    if (d->border[d->pieces] < task->stop) d->border[++d->pieces] = task->stop;
}

static lacis_status plan(void *context, lacis_run *run, uint64_t room, int64_t *pieces)
{
    struct dealt *d = context;
    const lacis_solve *work = d->task->work;
    const lacis_array *s = work->matrix.array, *r = work->rhs.array;
    const int64_t most = (int64_t)lacis_run_ranks(run) * PIECES_A_RANK;
    double whole = (double)lacis_array_bytes(s) + (r == s || by_pieces(work) ? 0 : (double)lacis_array_bytes(r));
    double share = (double)work->like->batch.elements / (double)most * 8 * (LACIS_SOLVE_ROLES + 2);
    d->whole[0] = whole + share < (double)room;
    d->whole[1] = d->whole[0] && !by_pieces(work);
    if (by_pieces(work)) d->whole[0] = true;
    LACIS_TRY(lacis_run_scratch(run, sizeof(int64_t) * (uint64_t)(most + 2), &d->border));
    double elements = 0;
    for (int64_t i = 0; i < d->task->job.groups; i++) {
        const lacis_solve_group *group = &d->task->job.group[i];
        elements += (double)group->lanes * (double)(group->rows > 0 ? group->rows : 1);
    }
    cut(d, elements / (double)most + 1);
    *pieces = d->pieces;
    return LACIS_OK;
}

/* Of matrices that serve all lanes of their group, those of the groups that the lanes are in. */
static void matrix_lanes(const lacis_solve *work, int64_t *begin, int64_t *end)
{
    const lacis_batch *like = &work->like->batch;
    int64_t first = like->groups, last = 0;
    if (!work->one) return;
    for (int64_t g = 0; g < like->groups; g++) {
        const lacis_batch_group *group = &like->group[g];
        if (group->lane + group->lanes <= *begin || group->lane >= *end) continue;
        if (g < first) first = g;
        last = g + 1;
    }
    *begin = first;
    *end = last;
}

static lacis_status operand(void *context, lacis_run *run, int64_t piece, const lacis_item *item, lacis_array **out)
{
    struct dealt *d = context;
    const lacis_call *call = d->task->call;
    const lacis_solve *work = d->task->work;
    const bool is_matrix = item == &lacis_call_arg(call, NULL)->item[0], both = lacis_call_arg(call, "BY") == NULL;
    int64_t begin = d->border[piece], end = d->border[piece + 1];
    *out = NULL;
    if (d->whole[is_matrix ? 0 : 1]) return LACIS_OK;
    if (!is_matrix) return lacis_solve_slice(run, &work->rhs, &work->part[LACIS_SOLVE_RIGHT], 1, begin, end, out);
    matrix_lanes(work, &begin, &end);
    return lacis_solve_slice(run, &work->matrix, work->part, both ? LACIS_SOLVE_ROLES : LACIS_SOLVE_RIGHT, begin, end,
                             out);
}

/* Units are lanes from the first that is wanted on; of operands of a piece's own, all. */
static void range(void *context, int64_t piece, int64_t *begin, int64_t *end)
{
    const struct dealt *d = context;
    const lacis_solve *work = d->task->work;
    const bool own = work->one ? !d->whole[1] : !d->whole[0];
    *begin = own ? 0 : d->border[piece] - work->first;
    *end = own ? INT64_MAX : d->border[piece + 1] - work->first;
}

static lacis_status take(void *context, lacis_run *run, int64_t piece, const lacis_array *result)
{
    const struct dealt *d = context;
    lacis_solve_task *task = d->task;
    const int64_t first = d->border[piece] - task->first, lanes = d->border[piece + 1] - d->border[piece];
    const struct {
        const char *name;
        lacis_dtype dtype;
        void *data;
    } field[] = {{"value", task->call->dtype, task->job.x},
                 {"status", LACIS_U8, task->marks},
                 {"residual", LACIS_F64, task->job.residual}};
    lacis_batch batch;
    bool fine = lacis_array_kind(result) == LACIS_INTERLEAVED;
    if (fine) LACIS_TRY(lacis_batch_view(run, result, &batch));
    fine = fine && batch.lanes == lanes;
    for (int i = 0; fine && i < LACIS_COUNT(field); i++) {
        if (field[i].data == NULL) continue;
        const lacis_batch_part *part = lacis_batch_field(&batch, field[i].name);
        fine = part != NULL && part->dtype == field[i].dtype && !part->shared &&
               lacis_solve_copy_lanes(&batch, 0, part->data, &task->shape, first, field[i].data, lanes,
                                      lacis_dtype_size(part->dtype));
    }
    return fine ? LACIS_OK
                : lacis_run_fail(run, LACIS_UNSUPPORTED, "a rank answered with lanes that were not asked for");
}

static lacis_status own(void *context, lacis_run *run, int64_t piece)
{
    const struct dealt *d = context;
    const int64_t first = d->task->work->first;
    lacis_array *array;
    LACIS_TRY(d->local->run(run, d->task->call, d->border[piece] - first, d->border[piece + 1] - first, &array));
    lacis_status status = take(context, run, piece, array);
    lacis_array_release(array);
    return status;
}

/* --------------------------------------------------------------------------------------------- runs */

static lacis_status deal_lanes(lacis_solve_task *task, const lacis_variant *local)
{
    struct dealt d = {.task = task, .local = local};
    const lacis_deal deal = {.device = local->device,
                             .context = &d,
                             .plan = plan,
                             .operand = operand,
                             .range = range,
                             .own = own,
                             .take = take};
    task->marked = true;
    return lacis_run_deal(task->run, task->call, &deal);
}

static lacis_status compute(lacis_solve_task *task)
{
    return deal_lanes(task, &lacis_solve_cpu);
}

static lacis_status gpu_compute(lacis_solve_task *task)
{
    char reason[200] = "";
    const lacis_variant *way = gpu_way(task->call, reason, sizeof reason);
    if (way == NULL) return lacis_run_fail(task->run, LACIS_UNSUPPORTED, "%s", reason);
    return deal_lanes(task, way);
}

/* Whose bad lane was heard of first hangs on the ranks; the one that is told, the lowest, must not. */
static lacis_status run_over(lacis_solve_compute over, const lacis_variant *local, lacis_run *run,
                             const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    lacis_status status = lacis_solve_by(run, call, begin, end, over, out);
    return status == LACIS_RANGE ? local->run(run, call, begin, end, out) : status;
}

static lacis_status run_cpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return run_over(compute, &lacis_solve_cpu, run, call, begin, end, out);
}

static lacis_status run_gpu(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return run_over(gpu_compute, &lacis_solve_cpu, run, call, begin, end, out);
}

const lacis_variant lacis_solve_ranks = {
    .name = "ranks",
    .device = LACIS_CPU,
    .summary = "lanes dealt over the ranks of an mpirun in pieces of about equal elements",
    .can = can,
    .cost = cost,
    .run = run_cpu,
    .ranks = true,
};

const lacis_variant lacis_solve_ranks_gpu = {
    .name = "ranks-gpu",
    .device = LACIS_GPU,
    .summary = "lanes dealt over the ranks of an mpirun, each with a GPU of its own",
    .can = gpu_can,
    .cost = gpu_cost,
    .run = run_gpu,
    .ranks = true,
};

lacis_status lacis_solve_explain_ranks(lacis_run *run, const lacis_solve *work, lacis_lines *lines)
{
    const int ranks = lacis_run_ranks(run);
    if (ranks == 1) return LACIS_OK;
    return lacis_lines_add(
        lines, "ranks: %d; lanes in pieces of about equal elements, %d a rank, to whoever is free; %s", ranks,
        PIECES_A_RANK,
        by_pieces(work) ? "each holds the matrix, right sides come with their piece"
                        : "each holds the operands, where they do not fit lanes come with their piece");
}
