/* SPDX-License-Identifier: Apache-2.0
 *
 * Systems on a device: steps, one by one or several in a pass, and what they give.
 */
#include "sweep/gpu_block.h"
#include "sweep/gpu_inside.h"

#include <string.h>

namespace sweep
{

/* So much is put on the stream before what went before is waited for. */
enum { MARK_PASSES = 64 };
static const double MARK_CELLS = 2147483648.0;

/* What of the part's halos a step computes when `later` more are to follow without new halos. */
static Box box_before(const lacis_sweep_gpu *s, int64_t later)
{
    Box box = whole_part(s);
    for (int k = 0; k < s->start.dims; k++) {
        if (s->start.edge[0][2 * k].kind == LACIS_SWEEP_INNER) box.begin[k] -= later * s->reach[k];
        if (s->start.edge[0][2 * k + 1].kind == LACIS_SWEEP_INNER) box.end[k] += later * s->reach[k];
    }
    return box;
}

void turn(lacis_sweep_gpu *s, int levels)
{
    s->now = 1 - s->now;
    s->ahead = false;
    s->t += levels;
    s->done.passes++;
    s->done.steps += levels;
    s->done.levels = levels;
}

/* Whether passes of several steps may be thought of. Halos then are cells of the grid, held at their rim: what is
 * wrong grows from there by the reach with each step, and halos are as deep as steps need. `first`: where that grid
 * begins. */
static bool may_block(const lacis_sweep_gpu *s, lacis_sweep_block *block, int64_t *first)
{
    const lacis_sweep_start *start = &s->start;
    if (start->fields != 1 || start->coefficients != 0 || start->rule[0].written || start->levels == 1) return false;
    *block = {};
    *first = 0;
    block->type = start->type;
    block->dims = start->dims;
    block->pitch[0] = s->layout.stride[1];
    block->pitch[1] = s->layout.stride[2];
    block->rule = &start->rule[0];
    block->asked = start->levels > 1;
    for (int k = 0; k < 3; k++) {
        block->extent[k] = s->layout.extent[k];
        for (int side = 0; k < start->dims && side < 2; side++) {
            lacis_sweep_edge *edge = &block->edge[2 * k + side];
            *edge = start->edge[0][2 * k + side];
            if (edge->kind != LACIS_SWEEP_INNER) continue;
            if (k == 0) return false; /* rows would not begin at 16 bytes */
            edge->kind = LACIS_SWEEP_HOLD;
            block->extent[k] += side ? s->layout.high[k] : s->layout.low[k];
            if (!side) *first -= s->layout.low[k] * s->layout.stride[k];
        }
    }
    return true;
}

static int depth_of(const lacis_sweep_gpu *s, int64_t steps)
{
    lacis_sweep_block block;
    int64_t first;
    if (steps < 2 || !may_block(s, &block, &first)) return 1;
    const int64_t most = s->start.levels > 1 && s->start.levels < steps ? s->start.levels : steps;
    return lacis_sweep_block_depth(&block, most);
}

static lacis_sweep_status several_steps(lacis_sweep_gpu *s, int levels)
{
    lacis_sweep_block block;
    int64_t first = 0;
    (void)may_block(s, &block, &first);
    first *= (int64_t)lacis_sweep_size(s->start.type);
    SWEEP_CUDA(s, lacis_sweep_block_pass(&block, levels, static_cast<char *>(s->level[s->now][0]) + first,
                                         static_cast<char *>(s->level[1 - s->now][0]) + first, s->stream));
    s->done.updates +=
        (double)levels * (double)s->layout.extent[0] * (double)s->layout.extent[1] * (double)s->layout.extent[2];
    return LACIS_SWEEP_OK;
}

/* Whether ghosts are read before the next pass of several steps, which reads none that change: by a single step, or
 * by whoever goes on from here. */
static bool ghosts_read(const lacis_sweep_gpu *s, int64_t later, bool change)
{
    for (int face = 0; face < 2 * s->start.dims; face++)
        if (s->start.edge[0][face].kind == LACIS_SWEEP_INNER) return true;
    return depth_of(s, later - change) == 1;
}

/* change: the last of the `later` steps is one by itself. */
static lacis_sweep_status next_pass(lacis_sweep_gpu *s, int levels, int64_t later, bool change, bool sums)
{
    const Box box = box_before(s, later);
    if (levels == 1) {
        SWEEP_TRY(pass(s, box, sums, s->stream));
    } else {
        SWEEP_TRY(several_steps(s, levels));
        if (s->ghosts_change && ghosts_read(s, later, change))
            SWEEP_TRY(ghosts(s, 1 - s->now, box, false, s->stream));
    }
    turn(s, levels);
    return LACIS_SWEEP_OK;
}

/* Lets the host be two batches ahead of the device at most, so that it sees in time when it is to end. */
static lacis_sweep_status mark(lacis_sweep_gpu *s, int64_t *passes, double *cells, int *batch)
{
    if (*passes < MARK_PASSES && *cells < MARK_CELLS) return LACIS_SWEEP_OK;
    *passes = 0;
    *cells = 0;
    SWEEP_CUDA(s, cudaEventRecord(s->mark[*batch & 1], s->stream));
    if (++*batch > 1) SWEEP_CUDA(s, cudaEventSynchronize(s->mark[*batch & 1]));
    if (s->start.host.cancelled == nullptr || !s->start.host.cancelled(s->start.host.context)) return LACIS_SWEEP_OK;
    return LACIS_SWEEP_CANCELLED;
}

static lacis_sweep_status run(lacis_sweep_gpu *s, int64_t steps, bool change)
{
    const double each = (double)s->layout.cells * s->start.fields;
    int64_t passes = 0;
    double cells = 0;
    int batch = 0;
    for (int64_t left = steps; left > 0;) {
        const bool last = change && left == 1;
        const int levels = depth_of(s, left - change);
        SWEEP_TRY(next_pass(s, levels, left - levels, change, last && sums_fused(s)));
        left -= levels;
        passes++;
        cells += each;
        SWEEP_TRY(mark(s, &passes, &cells, &batch));
    }
    return LACIS_SWEEP_OK;
}

lacis_sweep_status read_bad(lacis_sweep_gpu *s, cudaStream_t stream)
{
    int bad = 0;
    if (!any_written(&s->start)) return LACIS_SWEEP_OK;
    SWEEP_CUDA(s, cudaMemcpyAsync(s->pinned, s->bad, sizeof bad, cudaMemcpyDeviceToHost, stream));
    SWEEP_CUDA(s, cudaStreamSynchronize(stream));
    memcpy(&bad, s->pinned, sizeof bad);
    return bad ? LACIS_SWEEP_ARITHMETIC : LACIS_SWEEP_OK;
}

static bool used_up(const lacis_sweep_gpu *s, int64_t steps)
{
    for (int k = 0; k < s->start.dims; k++)
        for (int side = 0; side < 2; side++)
            if (s->start.edge[0][2 * k + side].kind == LACIS_SWEEP_INNER && s->reach[k] > 0 &&
                steps > s->start.halo[k] / s->reach[k])
                return true;
    return false;
}

static lacis_sweep_status take_steps(lacis_sweep_gpu *s, int64_t steps, bool sums)
{
    if (used_up(s, steps)) return LACIS_SWEEP_UNSUPPORTED;
    if (sums) SWEEP_TRY(clear_sums(s, s->stream));
    SWEEP_TRY(run(s, steps, sums));
    return sums && !sums_fused(s) ? measure(s, s->stream) : LACIS_SWEEP_OK;
}

lacis_sweep_status begin_pass(lacis_sweep_gpu *s, int64_t *left, bool sums)
{
    if (used_up(s, *left)) return LACIS_SWEEP_UNSUPPORTED;
    if (sums) SWEEP_TRY(clear_sums(s, s->stream));
    const int levels = depth_of(s, *left);
    *left -= levels;
    SWEEP_TRY(next_pass(s, levels, *left, false, sums && sums_fused(s)));
    return sums && !sums_fused(s) ? measure(s, s->stream) : LACIS_SWEEP_OK;
}

lacis_sweep_status begin_steps(lacis_sweep_gpu *s, int64_t steps, bool sums)
{
    for (int64_t left = steps; left > 0;)
        SWEEP_TRY(begin_pass(s, &left, sums));
    return LACIS_SWEEP_OK;
}

} // namespace sweep

using namespace sweep;

lacis_sweep_status lacis_sweep_gpu_steps(lacis_sweep_gpu *system, int64_t steps, lacis_sweep_change *change)
{
    if (steps <= 0) return LACIS_SWEEP_OK;
    if (!take_ahead(system, steps == 1 && change != nullptr)) SWEEP_TRY(take_steps(system, steps, change != nullptr));
    SWEEP_TRY(read_bad(system, system->stream));
    if (change == nullptr) return LACIS_SWEEP_OK;
    SWEEP_TRY(join_sums(system, system->stream));
    SWEEP_CUDA(system, cudaEventRecord(system->mark[0], system->stream));
    SWEEP_TRY(begin_ahead(system));
    SWEEP_CUDA(system, cudaEventSynchronize(system->mark[0]));
    memset(change, 0, sizeof *change);
    take_sums(system, change);
    return LACIS_SWEEP_OK;
}

lacis_sweep_status lacis_sweep_gpu_read(lacis_sweep_gpu *system, void *const *field)
{
    for (int f = 0; f < system->start.fields; f++)
        if (field[f] != nullptr)
            SWEEP_TRY(get(system, system->level[system->now][f], whole_part(system), field[f], system->stream));
    return LACIS_SWEEP_OK;
}

void lacis_sweep_gpu_counted(lacis_sweep_gpu *system, lacis_sweep_counts *out, bool reset)
{
    *out = system->done;
    if (reset) system->done = {};
}

int lacis_sweep_gpu_levels(const lacis_sweep_start *start)
{
    Layout layout;
    if (!layout_of(start, &layout)) return 1;
    lacis_sweep_gpu s = {};
    s.start = *start;
    s.layout = layout;
    return depth_of(&s, INT64_C(1) << 20);
}
