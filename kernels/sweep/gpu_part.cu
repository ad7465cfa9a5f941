/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of one part on a device, as parts_run.c has them on the CPU. The centre runs on the system's own stream,
 * the rim around it on streams of its own, borders are packed and copied on another: of all that the host waits for
 * packed borders alone.
 */
#include "sweep/gpu_part_inside.h"

#include <new>
#include <stdlib.h>
#include <string.h>
#include <time.h>

using namespace sweep;

static double seconds()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The time since *from, which moves on. */
static double lap(double *from)
{
    const double now = seconds(), passed = now - *from;
    *from = now;
    return passed;
}

/* --- made and freed ----------------------------------------------------------------------------------------------
 */

static lacis_sweep_status make_streams(lacis_sweep_gpu_part *p)
{
    SWEEP_CUDA(p, border_stream(&p->border));
    SWEEP_CUDA(p, cudaEventCreateWithFlags(&p->whole, cudaEventDisableTiming));
    for (int i = 0; i < RIM_STREAMS; i++) {
        SWEEP_CUDA(p, border_stream(&p->rim[i]));
        SWEEP_CUDA(p, cudaEventCreateWithFlags(&p->rims[i], cudaEventDisableTiming));
    }
    return LACIS_SWEEP_OK;
}

void lacis_sweep_gpu_part_free(lacis_sweep_gpu_part *part)
{
    if (part == nullptr) return;
    const lacis_sweep_host host = part->start.host;
    if (part->border) (void)cudaStreamSynchronize(part->border);
    for (int i = 0; i < RIM_STREAMS; i++) {
        if (part->rim[i]) (void)cudaStreamSynchronize(part->rim[i]);
        if (part->rim[i]) (void)cudaStreamDestroy(part->rim[i]);
        if (part->rims[i]) (void)cudaEventDestroy(part->rims[i]);
    }
    if (part->system != nullptr) (void)cudaStreamSynchronize(part->system->stream);
    free_strips(part);
    leave_peers(part);
    free_inbox(part);
    clock_free(&part->clock);
    lacis_sweep_gpu_free(part->system);
    if (part->block != nullptr) host.free(host.context, part->block);
    if (part->pinned != nullptr) (void)cudaFreeHost(part->pinned);
    if (part->whole) (void)cudaEventDestroy(part->whole);
    if (part->border) (void)cudaStreamDestroy(part->border);
    free(part);
}

int lacis_sweep_gpu_part_error_code(const lacis_sweep_gpu_part *part)
{
    int code = part->cuda_error;
    for (const lacis_sweep_gpu *one : {part->system, part->side[0].strip, part->side[1].strip})
        if (code == 0 && one != nullptr) code = one->cuda_error;
    return code;
}

void lacis_sweep_gpu_part_leave(lacis_sweep_gpu_part *part)
{
    if (part == nullptr) return;
    if (part->border) (void)cudaStreamSynchronize(part->border);
    for (const PartStrip &own : part->side)
        if (own.stream) (void)cudaStreamSynchronize(own.stream);
    leave_peers(part);
}

int lacis_sweep_gpu_part_straight(const lacis_sweep_gpu_part *part, int *messages, const char **why)
{
    int straight = 0;
    for (int i = 0; i < part->messages; i++)
        straight += part->link[i].says;
    *messages = part->messages;
    *why = part->apart;
    return straight;
}

lacis_sweep_gpu *lacis_sweep_gpu_part_system(lacis_sweep_gpu_part *part)
{
    return part->system;
}

void lacis_sweep_gpu_part_spent(const lacis_sweep_gpu_part *part, lacis_sweep_times *out, int64_t *lines)
{
    *out = part->spent;
    *lines = part->lines;
}

lacis_sweep_status sweep::mark_time(lacis_sweep_gpu_part *p, Mark mark)
{
    SWEEP_CUDA(p, clock_mark(&p->clock, mark, p->system->stream));
    return LACIS_SWEEP_OK;
}

/* Strips take room on the device from the part, which pays where the way to the neighbours is long. All parts must
 * send alike. */
static lacis_sweep_status wait_or_overlap(lacis_sweep_gpu_part *p)
{
    bool straight = all_straight(p);
    if (!p->strips || !p->how.best || p->mail.agree == nullptr) return LACIS_SWEEP_OK;
    if (p->mail.agree(p->mail.context, &straight) != 0) return LACIS_SWEEP_CANCELLED;
    if (!straight) return LACIS_SWEEP_OK;
    p->strips = false;
    p->how.part.overlap = false;
    return LACIS_SWEEP_OK;
}

/* Each part was told of its own process alone. */
static lacis_sweep_status agree_on_direct(lacis_sweep_gpu_part *p)
{
    if (p->mail.agree == nullptr) return LACIS_SWEEP_OK;
    return p->mail.agree(p->mail.context, &p->how.direct) == 0 ? LACIS_SWEEP_OK : LACIS_SWEEP_CANCELLED;
}

static lacis_sweep_status fill(lacis_sweep_gpu_part *p, const lacis_sweep_gpu_start *start)
{
    SWEEP_TRY(agree_on_direct(p));
    SWEEP_CUDA(p, clock_new(&p->clock, p->how.part.line != nullptr ? p->how.part.lines : 0));
    SWEEP_TRY(make_streams(p));
    SWEEP_TRY(make_room(p));
    SWEEP_TRY(lacis_sweep_gpu_new(start, &p->system, &p->cuda_error));
    SWEEP_CUDA(p, cudaStreamSynchronize(p->system->stream)); /* memory is there for all streams */
    SWEEP_TRY(join_peers(p));
    SWEEP_TRY(wait_or_overlap(p));
    SWEEP_TRY(exchange_coefficients(p));
    return p->strips ? make_strips(p, start) : LACIS_SWEEP_OK;
}

static bool has_strips(const lacis_sweep_part_how *how, const lacis_sweep_cut *cut)
{
    return how->overlap && cut->deep > 1 && strips_fit(cut);
}

uint64_t lacis_sweep_gpu_part_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part,
                                    const lacis_sweep_gpu_part_how *how)
{
    const uint64_t messages = lacis_sweep_messages_bytes(start, cut, part);
    const uint64_t inbox = how->host || how->direct ? 0 : messages; /* of two exchanges */
    const uint64_t bytes = lacis_sweep_gpu_bytes(start) + messages + inbox;
    return has_strips(&how->part, cut) ? bytes + strips_bytes(start, cut, part) : bytes;
}

lacis_sweep_status lacis_sweep_gpu_part_new(const lacis_sweep_gpu_start *start, const lacis_sweep_cut *cut, int part,
                                            const lacis_sweep_mail *mail, const lacis_sweep_gpu_part_how *how,
                                            lacis_sweep_gpu_part **out)
{
    void *const block = calloc(1, sizeof(lacis_sweep_gpu_part));
    *out = nullptr;
    if (block == nullptr) return LACIS_SWEEP_NO_MEMORY;
    lacis_sweep_gpu_part *const p = *out = new (block) lacis_sweep_gpu_part();
    p->start = start->start;
    p->cut = *cut;
    p->part = part;
    p->mail = *mail;
    p->how = *how;
    p->strips = has_strips(&how->part, cut);
    p->messages = lacis_sweep_cut_list(cut, part, p->message, &p->all);
    p->has_centre = lacis_sweep_cut_centre(cut, part, &p->centre);
    return fill(p, start);
}

/* --- steps -------------------------------------------------------------------------------------------------------
 */

/* The first of `more` + 1 steps but for the centre, each piece on a stream of its own once halos are there. */
static lacis_sweep_status update_rim(lacis_sweep_gpu_part *p, int more)
{
    lacis_sweep_box rim[LACIS_SWEEP_RIM];
    const int boxes = lacis_sweep_cut_rim(&p->cut, p->part, &p->centre, more, rim);
    for (int i = 0; i < boxes; i++) {
        const cudaStream_t stream = p->rim[i % RIM_STREAMS];
        SWEEP_CUDA(p, cudaStreamWaitEvent(stream, p->whole, 0));
        SWEEP_TRY(lacis_sweep_gpu_update(p->system, &rim[i], stream));
        SWEEP_CUDA(p, cudaEventRecord(p->rims[i % RIM_STREAMS], stream));
    }
    for (int i = 0; i < boxes && i < RIM_STREAMS; i++)
        SWEEP_CUDA(p, cudaStreamWaitEvent(p->system->stream, p->rims[i], 0));
    lacis_sweep_gpu_turn(p->system);
    return LACIS_SWEEP_OK;
}

/* ahead: the centre of the first step was computed before. */
static lacis_sweep_status after_exchange(lacis_sweep_gpu_part *p, int steps, bool ahead, bool sums)
{
    SWEEP_CUDA(p, cudaStreamWaitEvent(p->system->stream, p->whole, 0));
    if (ahead) SWEEP_TRY(update_rim(p, steps - 1));
    SWEEP_TRY(mark_time(p, JOINED));
    return begin_steps(p->system, steps - ahead, sums);
}

/* Halos first, then steps; the centre is computed meanwhile, but where a step is measured: tiles are whole then. */
static lacis_sweep_status steps_by_centre(lacis_sweep_gpu_part *p, int steps, bool sums, lacis_sweep_times *times)
{
    const bool ahead = p->how.part.overlap && !sums;
    double clock = seconds();
    SWEEP_TRY(pack_messages(p, 0, p->messages));
    SWEEP_TRY(mark_time(p, BEGUN));
    if (ahead && p->has_centre) SWEEP_TRY(lacis_sweep_gpu_update(p->system, &p->centre, nullptr));
    SWEEP_TRY(mark_time(p, COMPUTED));
    times->centre = lap(&clock);
    SWEEP_TRY(begin_messages(p, 0, p->messages, times));
    times->pack = lap(&clock);
    SWEEP_TRY(wait_messages(p, 0, p->messages));
    times->wait = lap(&clock);
    SWEEP_TRY(upload_messages(p, 0, p->messages));
    SWEEP_TRY(unpack_messages(p, 0, p->messages));
    times->unpack = lap(&clock);
    SWEEP_TRY(after_exchange(p, steps, ahead, sums));
    times->rest = lap(&clock);
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status some_steps(lacis_sweep_gpu_part *p, int steps, bool sums)
{
    lacis_sweep_times times = {};
    SWEEP_TRY(p->strips ? steps_by_strips(p, steps, sums, &times) : steps_by_centre(p, steps, sums, &times));
    times.exchanges = 1;
    lacis_sweep_times_add(&p->spent, &times);
    return LACIS_SWEEP_OK;
}

/* Lines are of the device's clock: the host's tells when it asked for things. */
static lacis_sweep_status read_clock(lacis_sweep_gpu_part *p)
{
    lacis_sweep_times *at = p->how.part.line + p->lines;
    if (p->how.part.line == nullptr) return LACIS_SWEEP_OK;
    SWEEP_CUDA(p, clock_read(&p->clock, &at));
    p->lines = at - p->how.part.line;
    return LACIS_SWEEP_OK;
}

lacis_sweep_status lacis_sweep_gpu_part_steps(lacis_sweep_gpu_part *part, int64_t steps, lacis_sweep_change *change)
{
    for (int64_t left = steps; left > 0;) {
        /* The last step by itself where it is measured. */
        const bool sums = change != nullptr && left == 1;
        const int64_t wanted = change != nullptr && left > 1 ? left - 1 : left;
        const int now = wanted < part->cut.deep ? (int)wanted : part->cut.deep;
        left -= now;
        SWEEP_TRY(some_steps(part, now, sums));
    }
    SWEEP_TRY(read_clock(part));
    SWEEP_TRY(read_bad(part->system, part->system->stream));
    if (change == nullptr || steps <= 0) return LACIS_SWEEP_OK;
    memset(change, 0, sizeof *change);
    return read_sums(part->system, change, part->system->stream);
}
