/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps of a part whose borders go ahead of it as strips: their rows are packed, sent and received while the part
 * takes its own steps, several in a pass, and put into its halos behind them. Called by gpu_part.cu.
 */
#include "sweep/gpu_part_inside.h"

namespace sweep
{

static int64_t rows_before(const lacis_sweep_gpu_part *p, int side)
{
    const int axis = p->cut.dims - 1;
    return side == 0 ? 0 : p->start.extent[axis] - p->cut.halo[axis];
}

/* Rows of the part and its halo into the strip and around it. */
static lacis_sweep_status load(lacis_sweep_gpu_part *p, int side, bool coefficients)
{
    const int axis = p->cut.dims - 1, arrays = coefficients ? p->start.coefficients : p->start.fields;
    const int64_t halo = p->cut.halo[axis];
    PartStrip *const own = &p->side[side];
    for (int f = 0; f < arrays; f++) {
        const Rows from =
            rows_of(p->system, axis, coefficients ? -1 : p->system->now, f, rows_before(p, side) - halo, 3 * halo);
        const Rows to = rows_of(own->strip, axis, coefficients ? -1 : own->strip->now, f, -halo, 3 * halo);
        SWEEP_CUDA(p, cudaMemcpyAsync(to.at, from.at, from.bytes, cudaMemcpyDeviceToDevice, own->stream));
    }
    return LACIS_SWEEP_OK;
}

/* The message that goes to that side, whose tag is its direction (parts_boxes.c). */
static int message_at(const lacis_sweep_gpu_part *p, int side)
{
    const int itself = 13, stride = p->cut.dims == 1 ? 1 : p->cut.dims == 2 ? 3 : 9;
    for (int i = 0; i < p->messages; i++)
        if (p->message[i].tag_out == itself + (side == 0 ? -stride : stride)) return i;
    return -1;
}

static lacis_sweep_status make_strip(lacis_sweep_gpu_part *p, int side, const lacis_sweep_gpu_start *part)
{
    PartStrip *const own = &p->side[side];
    lacis_sweep_gpu_start start;
    own->message = message_at(p, side);
    if (own->message < 0) return LACIS_SWEEP_OK;
    SWEEP_CUDA(p, border_stream(&own->stream));
    SWEEP_CUDA(p, cudaEventCreateWithFlags(&own->taken, cudaEventDisableTiming));
    strip_start(part, &p->cut, p->part, side, &start);
    SWEEP_TRY(lacis_sweep_gpu_new(&start, &own->strip, &p->cuda_error));
    SWEEP_CUDA(p, cudaStreamSynchronize(p->system->stream)); /* on which its memory is ordered */
    own->strip->stream = own->stream;
    SWEEP_TRY(load(p, side, true));
    own->strip->coefficients_new = p->start.coefficients > 0;
    SWEEP_TRY(lacis_sweep_gpu_refresh(own->strip, own->stream));
    SWEEP_CUDA(p, cudaStreamSynchronize(own->stream)); /* arrays are the caller's again */
    return LACIS_SWEEP_OK;
}

lacis_sweep_status make_strips(lacis_sweep_gpu_part *p, const lacis_sweep_gpu_start *start)
{
    for (int side = 0; side < 2; side++)
        SWEEP_TRY(make_strip(p, side, start));
    return LACIS_SWEEP_OK;
}

void free_strips(lacis_sweep_gpu_part *p)
{
    for (PartStrip &own : p->side) {
        if (own.stream) (void)cudaStreamSynchronize(own.stream);
        lacis_sweep_gpu_free(own.strip);
        if (own.taken) (void)cudaEventDestroy(own.taken);
        if (own.stream) {
            (void)cudaStreamSynchronize(own.stream);
            (void)cudaStreamDestroy(own.stream);
        }
    }
}

/* The strip's rows after the steps, packed, where messages are taken from. */
static lacis_sweep_status step_strip(lacis_sweep_gpu_part *p, int side, int steps)
{
    PartStrip *const own = &p->side[side];
    const int i = own->message;
    if (own->strip == nullptr) return LACIS_SWEEP_OK;
    SWEEP_CUDA(p, cudaStreamWaitEvent(own->stream, p->whole, 0));
    SWEEP_TRY(load(p, side, false));
    SWEEP_CUDA(p, cudaEventRecord(own->taken, own->stream));
    SWEEP_TRY(begin_steps(own->strip, steps, false));
    SWEEP_TRY(lacis_sweep_gpu_pack(own->strip, 0, &p->message[i].out, p->out[i], p->how.copy, own->stream));
    return post_packed(p, 0, i, own->stream);
}

/* The part's own steps, which overwrite what strips begin with. */
static lacis_sweep_status step_part(lacis_sweep_gpu_part *p, int steps, bool sums)
{
    for (const PartStrip &own : p->side)
        if (own.strip != nullptr) SWEEP_CUDA(p, cudaStreamWaitEvent(p->system->stream, own.taken, 0));
    SWEEP_TRY(mark_time(p, BEGUN));
    SWEEP_TRY(begin_steps(p->system, steps, sums));
    return mark_time(p, COMPUTED);
}

/* Received rows go to the device beside the part's steps, and into its halos behind them. */
static lacis_sweep_status take_halos(lacis_sweep_gpu_part *p)
{
    SWEEP_TRY(upload_messages(p, 0, p->messages));
    SWEEP_CUDA(p, cudaEventRecord(p->whole, p->system->stream));
    SWEEP_CUDA(p, cudaStreamWaitEvent(p->border, p->whole, 0));
    SWEEP_TRY(unpack_messages(p, 0, p->messages));
    SWEEP_CUDA(p, cudaStreamWaitEvent(p->system->stream, p->whole, 0));
    return mark_time(p, JOINED);
}

/* Halos of the very first level; strips have them too, in both levels where cells keep their values. */
static lacis_sweep_status first_halos(lacis_sweep_gpu_part *p, lacis_sweep_times *times)
{
    SWEEP_TRY(exchange_fields(p, times));
    for (int side = 0; side < 2; side++) {
        const PartStrip *const own = &p->side[side];
        if (own->strip == nullptr) continue;
        SWEEP_CUDA(p, cudaStreamWaitEvent(own->stream, p->whole, 0));
        SWEEP_TRY(load(p, side, false));
        SWEEP_TRY(lacis_sweep_gpu_refresh(own->strip, own->stream));
    }
    p->halos = true;
    return LACIS_SWEEP_OK;
}

lacis_sweep_status steps_by_strips(lacis_sweep_gpu_part *p, int steps, bool sums, lacis_sweep_times *times)
{
    if (!p->halos) SWEEP_TRY(first_halos(p, times));
    SWEEP_CUDA(p, cudaEventRecord(p->whole, p->system->stream));
    for (int side = 0; side < 2; side++)
        SWEEP_TRY(step_strip(p, side, steps));
    SWEEP_TRY(step_part(p, steps, sums));
    for (const PartStrip &own : p->side)
        if (own.strip != nullptr) SWEEP_CUDA(p, cudaStreamSynchronize(own.stream));
    SWEEP_TRY(begin_messages(p, 0, p->messages, times));
    SWEEP_TRY(wait_messages(p, 0, p->messages));
    return take_halos(p);
}

} // namespace sweep
