/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMULATE's variants "ranks": lanes of all cells dealt over the ranks of an mpirun in pieces of about equal
 * compartments, several a rank; whoever is free takes the next. Every rank has the cells and the parameters whole, so
 * that a piece is a range of lanes. Rank 0 puts their voltages into one table. In SIMULATE's list of variants.
 */
#include "simulate/simulate.h"

#include <inttypes.h>

/* Less than this is done before the others have heard of it. */
static const double LEAST_SECONDS = 0.05;
/* Pieces a rank: many even out; on a GPU each should fill it. */
enum { PIECES = 8, GPU_PIECES = 2 };
/* Part of a rank's room that a piece's result may take; it is held twice while it is sent. */
enum { RESULT_SHARE = 4 };

/* Lanes [begin, end) of a call. */
struct dealt {
    const lacis_call *call;
    const lacis_simulation *s;
    const lacis_variant *local; /* what rank 0's own share runs */
    int64_t begin, end;
    int64_t *border, pieces;
    lacis_trace trace;
};

/* ------------------------------------------------------------------------------- whether, for how much */

static bool ranks_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_simulation *s = call->work;
    double seconds = lacis_simulate_lanes_seconds(s, NULL, lacis_run_threads(s->run));
    if (lacis_run_ranks(s->run) == 1) {
        snprintf(reason, size, "there are no other ranks");
        return false;
    }
    if (s->plan.lanes == 1) {
        snprintf(reason, size, "there is one lane, and a lane is not shared");
        return false;
    }
    if (seconds >= LEAST_SECONDS || lacis_run_ranks_always(s->run)) return true;
    snprintf(reason, size, "too little work: about %.2g s, of %.2g s that it takes to pay", seconds, LEAST_SECONDS);
    return false;
}

static bool ranks_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    return ranks_can(call, reason, size) && lacis_simulate_gpu_any(call, reason, size) != NULL;
}

static const lacis_array *table_of(const lacis_call *call, const char *keyword)
{
    const lacis_arg *table = lacis_call_arg(call, keyword);
    return table == NULL ? NULL : table->item[0].array;
}

static const lacis_array *cells_of(const lacis_call *call)
{
    return lacis_call_arg(call, NULL)->item[0].array;
}

static double send_seconds(lacis_run *run, const lacis_call *call, double result, int ranks)
{
    const double call_seconds = 1e-2; /* some round trips a rank, each until rank 0 looks round */
    double others = ranks - 1, bytes = 0;
    const lacis_array *operand[] = {cells_of(call), table_of(call, "PARAMETERS"), table_of(call, "NODES")};
    for (int i = 0; i < LACIS_COUNT(operand); i++)
        if (operand[i] != NULL && !lacis_run_ranks_hold(run, operand[i]))
            bytes += others * (double)lacis_array_bytes(operand[i]);
    return call_seconds + (bytes + result * others / ranks) / lacis_run_ranks_rate(run);
}

static lacis_status cost_over(const lacis_variant *local, lacis_run *run, const lacis_call *call,
                              const lacis_profile *profile, lacis_cost *out)
{
    int ranks = lacis_run_ranks(run);
    LACIS_TRY(local->cost(run, call, profile, out));
    out->seconds = out->once + (out->seconds - out->once) / ranks + send_seconds(run, call, out->bytes, ranks);
    return LACIS_OK;
}

static lacis_status ranks_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    return cost_over(&lacis_simulate_lanes, run, call, profile, out);
}

static lacis_status ranks_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                   lacis_cost *out)
{
    char reason[200];
    const lacis_variant *local = lacis_simulate_gpu_any(call, reason, sizeof reason);
    if (local == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    return cost_over(local, run, call, profile, out);
}

/* ------------------------------------------------------------------------------------------ borders */

/* One past the last lane of the piece that begins at `lane`: whole vectors of a cell's lanes, about `most`
 * compartments, a result of no more than `bytes`, but at least a vector. */
static int64_t piece_end(const struct dealt *dealt, int64_t lane, int64_t most, uint64_t bytes)
{
    const lacis_simulation *s = dealt->s;
    int64_t width = lacis_neuron_width(s->lanes), sum = 0;
    uint64_t used = 0, lane_bytes = LACIS_TRACE_ROW_BYTES * (uint64_t)dealt->trace.stretches;
    do {
        int64_t cell = lane / s->lanes, last = (cell + 1) * s->lanes, next = lane + width;
        if (next > last) next = last;
        sum += s->shape[cell].nodes * (next - lane);
        used += lane_bytes * (uint64_t)(next - lane);
        lane = next;
    } while (lane < dealt->end && sum < most && used < bytes);
    return lane < dealt->end ? lane : dealt->end;
}

/* What a rank keeps besides results: operands, and what bind makes of them. */
static uint64_t whole_bytes(const struct dealt *dealt)
{
    const lacis_simulation *s = dealt->s;
    const lacis_array *parameters = table_of(dealt->call, "PARAMETERS"), *nodes = table_of(dealt->call, "NODES");
    uint64_t bytes = 3 * lacis_array_bytes(cells_of(dealt->call)), node_bytes = 256;
    if (parameters != NULL) bytes += 2 * lacis_array_bytes(parameters) * (uint64_t)s->cells.count;
    if (nodes != NULL) bytes += 2 * lacis_array_bytes(nodes);
    return bytes + node_bytes * (uint64_t)s->trees.nodes + lacis_neuron_shared_bytes(&s->plan);
}

static lacis_status plan(void *context, lacis_run *run, uint64_t room, int64_t *pieces)
{
    struct dealt *dealt = context;
    uint64_t need = whole_bytes(dealt);
    if (need > room / 2)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the cells do not fit the memory of every rank");
    uint64_t bytes = (room - need) / RESULT_SHARE;
    int64_t a_rank = dealt->local->device == LACIS_GPU ? GPU_PIECES : PIECES;
    int64_t all = lacis_simulation_compartments(dealt->s, dealt->begin, dealt->end);
    int64_t most = all / (lacis_run_ranks(run) * a_rank) + 1;
    dealt->pieces = 0;
    for (int64_t lane = dealt->begin; lane < dealt->end; dealt->pieces++)
        lane = piece_end(dealt, lane, most, bytes);
    LACIS_TRY(lacis_run_scratch(run, sizeof(int64_t) * (uint64_t)(dealt->pieces + 1), &dealt->border));
    dealt->border[0] = dealt->begin;
    for (int64_t i = 0; i < dealt->pieces; i++)
        dealt->border[i + 1] = piece_end(dealt, dealt->border[i], most, bytes);
    *pieces = dealt->pieces;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- pieces */

static lacis_status operand(void *context, lacis_run *run, int64_t piece, const lacis_item *item, lacis_array **out)
{
    (void)context, (void)run, (void)piece, (void)item;
    *out = NULL; /* each is the call's own */
    return LACIS_OK;
}

static void range(void *context, int64_t piece, int64_t *begin, int64_t *end)
{
    const struct dealt *dealt = context;
    *begin = dealt->border[piece];
    *end = dealt->border[piece + 1];
}

/* A column of a piece, where it is one. */
static const double *column(const lacis_array *array, const char *name, int64_t rows)
{
    const lacis_part *part = lacis_array_part_named(array, name);
    return part == NULL || part->dtype != LACIS_F64 || part->count != rows ? NULL : part->data;
}

static lacis_status take(void *context, lacis_run *run, int64_t piece, const lacis_array *result)
{
    struct dealt *dealt = context;
    const lacis_trace *trace = &dealt->trace;
    int64_t first = dealt->border[piece], lanes = dealt->border[piece + 1] - first, rows = trace->stretches * lanes;
    const double *v = column(result, "v", rows), *t = column(result, "t", rows);
    if (v == NULL || t == NULL)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "a rank answered with lanes that were not asked for");
    lacis_trace_put(trace, trace->v, 0, trace->stretches, first, lanes, v);
    if (dealt->s->plan.reduce != NEURON_ALL) lacis_trace_put(trace, trace->t, 0, trace->stretches, first, lanes, t);
    return LACIS_OK;
}

static lacis_status own(void *context, lacis_run *run, int64_t piece)
{
    struct dealt *dealt = context;
    lacis_array *array;
    LACIS_TRY(dealt->local->run(run, dealt->call, dealt->border[piece], dealt->border[piece + 1], &array));
    lacis_status status = take(context, run, piece, array);
    lacis_array_release(array);
    return status;
}

/* --------------------------------------------------------------------------------------------- run */

static lacis_status run_over(const lacis_variant *local, lacis_run *run, const lacis_call *call, int64_t begin,
                             int64_t end, lacis_array **out)
{
    struct dealt dealt = {.call = call, .s = call->work, .local = local, .begin = begin, .end = end};
    const lacis_deal deal = {.device = local->device,
                             .context = &dealt,
                             .plan = plan,
                             .operand = operand,
                             .range = range,
                             .own = own,
                             .take = take};
    LACIS_TRY(lacis_trace_new(run, call, begin, end, &dealt.trace));
    lacis_status status = lacis_run_deal(run, call, &deal);
    return lacis_trace_end(run, call, &dealt.trace, status, out);
}

static lacis_status ranks_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    return run_over(&lacis_simulate_lanes, run, call, begin, end, out);
}

static lacis_status ranks_gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,
                                  lacis_array **out)
{
    char reason[200];
    const lacis_variant *local = lacis_simulate_gpu_any(call, reason, sizeof reason);
    if (local == NULL) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", reason);
    return run_over(local, run, call, begin, end, out);
}

const lacis_variant lacis_simulate_ranks = {
    .name = "ranks",
    .device = LACIS_CPU,
    .summary = "lanes dealt over the ranks of an mpirun in pieces of about equal compartments",
    .can = ranks_can,
    .cost = ranks_cost,
    .run = ranks_run,
    .ranks = true,
};

const lacis_variant lacis_simulate_ranks_gpu = {
    .name = "ranks-gpu",
    .device = LACIS_GPU,
    .summary = "lanes dealt over the ranks of an mpirun, each with a GPU of its own",
    .can = ranks_gpu_can,
    .cost = ranks_gpu_cost,
    .run = ranks_gpu_run,
    .ranks = true,
};

lacis_status lacis_simulate_explain_ranks(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    const lacis_simulation *s = call->work;
    int ranks = lacis_run_ranks(run);
    if (ranks == 1 || s->plan.lanes == 1) return LACIS_OK;
    return lacis_lines_add(lines,
                           "ranks: %d; lanes in pieces of about equal compartments, %d a rank, to whoever is free; "
                           "each holds the cells whole%s",
                           ranks, PIECES, lacis_run_ranks_hold(run, cells_of(call)) ? " (there already)" : "");
}
