/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of one part on a device, as parts_run.c has them on the CPU. The centre runs on the system's own stream,
 * the rim around it on streams of its own, borders are packed and copied on another: of all that the host waits for
 * packed borders alone.
 */
#include "sweep/gpu_inside.h"
#include "sweep/gpu_part.h"

#include <new>
#include <stdlib.h>
#include <string.h>
#include <time.h>

using namespace sweep;

enum { RIM_STREAMS = LACIS_SWEEP_GPU_STREAMS - 1 };

struct lacis_sweep_gpu_part {
    lacis_sweep_start start;
    lacis_sweep_cut cut;
    lacis_sweep_mail mail;
    lacis_sweep_gpu_part_how how;
    lacis_sweep_gpu *system;
    cudaStream_t border, rim[RIM_STREAMS];
    cudaEvent_t whole, rims[RIM_STREAMS]; /* the present level with its halos; a piece of the next one's rim */
    int part, messages, all;
    lacis_sweep_message message[LACIS_SWEEP_MESSAGES];
    char *out[LACIS_SWEEP_MESSAGES], *in[LACIS_SWEEP_MESSAGES];           /* packed, on the device */
    char *out_host[LACIS_SWEEP_MESSAGES], *in_host[LACIS_SWEEP_MESSAGES]; /* not where messages are direct */
    void *block, *pinned;
    lacis_sweep_box centre;
    bool has_centre;
    int cuda_error;
    lacis_sweep_times spent;
    int64_t lines;
};

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

static uint64_t message_bytes(const lacis_sweep_start *start, const lacis_sweep_message *message)
{
    const uint64_t line = 256, arrays = start->fields > 0 ? (uint64_t)start->fields : 1;
    return (arrays * (uint64_t)message->cells * lacis_sweep_size(start->type) + line - 1) / line * line;
}

static uint64_t messages_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part)
{
    lacis_sweep_message message[LACIS_SWEEP_MESSAGES];
    const int messages = lacis_sweep_cut_messages(cut, part, true, message);
    uint64_t bytes = 256;
    for (int i = 0; i < messages; i++)
        bytes += 2 * message_bytes(start, &message[i]);
    return bytes;
}

/* Diagonal messages, which steps may do without, behind the others. */
static void list_messages(lacis_sweep_gpu_part *p)
{
    lacis_sweep_message all[LACIS_SWEEP_MESSAGES];
    p->all = lacis_sweep_cut_messages(&p->cut, p->part, true, all);
    p->messages = lacis_sweep_cut_messages(&p->cut, p->part, false, p->message);
    int at = p->messages;
    for (int i = 0; i < p->all; i++) {
        bool listed = false;
        for (int j = 0; j < p->messages; j++)
            listed = listed || p->message[j].tag_out == all[i].tag_out;
        if (!listed) p->message[at++] = all[i];
    }
    if (p->cut.corners) p->messages = p->all;
}

static lacis_sweep_status make_room(lacis_sweep_gpu_part *p)
{
    const uint64_t bytes = messages_bytes(&p->start, &p->cut, p->part);
    uint64_t at = 0;
    p->block = p->start.host.alloc(p->start.host.context, bytes);
    if (p->block == nullptr) return LACIS_SWEEP_NO_MEMORY;
    if (!p->how.direct) SWEEP_CUDA(p, cudaMallocHost(&p->pinned, bytes));
    for (int i = 0; i < p->all; i++) {
        for (int way = 0; way < 2; way++) {
            (way == 0 ? p->out : p->in)[i] = static_cast<char *>(p->block) + at;
            if (!p->how.direct) (way == 0 ? p->out_host : p->in_host)[i] = static_cast<char *>(p->pinned) + at;
            at += message_bytes(&p->start, &p->message[i]);
        }
    }
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status make_streams(lacis_sweep_gpu_part *p)
{
    SWEEP_CUDA(p, cudaStreamCreateWithFlags(&p->border, cudaStreamNonBlocking));
    SWEEP_CUDA(p, cudaEventCreateWithFlags(&p->whole, cudaEventDisableTiming));
    for (int i = 0; i < RIM_STREAMS; i++) {
        SWEEP_CUDA(p, cudaStreamCreateWithFlags(&p->rim[i], cudaStreamNonBlocking));
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
    lacis_sweep_gpu_free(part->system);
    if (part->block != nullptr) host.free(host.context, part->block);
    if (part->pinned != nullptr) (void)cudaFreeHost(part->pinned);
    if (part->whole) (void)cudaEventDestroy(part->whole);
    if (part->border) (void)cudaStreamDestroy(part->border);
    free(part);
}

int lacis_sweep_gpu_part_error_code(const lacis_sweep_gpu_part *part)
{
    return part->cuda_error != 0 || part->system == nullptr ? part->cuda_error : part->system->cuda_error;
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

/* --- exchanges ---------------------------------------------------------------------------------------------------
 */

static uint64_t bytes_of(const lacis_sweep_gpu_part *p, int array, int i)
{
    const uint64_t arrays = array == 0 ? (uint64_t)p->start.fields : 1;
    return arrays * (uint64_t)p->message[i].cells * lacis_sweep_size(p->start.type);
}

/* On the border's stream, once the present level is whole. */
static lacis_sweep_status pack(lacis_sweep_gpu_part *p, int array, int messages)
{
    SWEEP_CUDA(p, cudaEventRecord(p->whole, p->system->stream));
    SWEEP_CUDA(p, cudaStreamWaitEvent(p->border, p->whole, 0));
    for (int i = 0; i < messages; i++) {
        SWEEP_TRY(lacis_sweep_gpu_pack(p->system, array, &p->message[i].out, p->out[i], p->how.copy, p->border));
        if (!p->how.direct)
            SWEEP_CUDA(p, cudaMemcpyAsync(p->out_host[i], p->out[i], bytes_of(p, array, i), cudaMemcpyDeviceToHost,
                                          p->border));
    }
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status begin_messages(lacis_sweep_gpu_part *p, int array, int messages, lacis_sweep_times *times)
{
    const lacis_sweep_mail *const mail = &p->mail;
    char *const *const out = p->how.direct ? p->out : p->out_host, *const *const in =
                                                                       p->how.direct ? p->in : p->in_host;
    SWEEP_CUDA(p, cudaStreamSynchronize(p->border)); /* packed, and what came the time before is where it belongs */
    for (int i = 0; i < messages; i++) {
        const lacis_sweep_message *const m = &p->message[i];
        if (mail->receive(mail->context, m->part, m->tag_in, in[i], bytes_of(p, array, i)) != 0)
            return LACIS_SWEEP_CANCELLED;
    }
    for (int i = 0; i < messages; i++) {
        const lacis_sweep_message *const m = &p->message[i];
        if (mail->send(mail->context, m->part, m->tag_out, out[i], bytes_of(p, array, i)) != 0)
            return LACIS_SWEEP_CANCELLED;
        times->bytes += (double)bytes_of(p, array, i);
    }
    times->messages += messages;
    times->exchanges++;
    return LACIS_SWEEP_OK;
}

/* What has come, into the present level, behind the centre on the system's stream. */
static lacis_sweep_status unpack(lacis_sweep_gpu_part *p, int array, int messages)
{
    const cudaStream_t stream = p->border;
    for (int i = 0; i < messages; i++) {
        if (!p->how.direct)
            SWEEP_CUDA(
                p, cudaMemcpyAsync(p->in[i], p->in_host[i], bytes_of(p, array, i), cudaMemcpyHostToDevice, stream));
        SWEEP_TRY(lacis_sweep_gpu_unpack(p->system, array, &p->message[i].in, p->in[i], p->how.copy, stream));
    }
    SWEEP_TRY(lacis_sweep_gpu_refresh(p->system, stream));
    SWEEP_CUDA(p, cudaEventRecord(p->whole, stream));
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status exchange_coefficients(lacis_sweep_gpu_part *p)
{
    for (int i = 0; i < p->start.coefficients; i++) {
        lacis_sweep_times times = {};
        const int array = p->start.fields + i;
        SWEEP_TRY(pack(p, array, p->all));
        SWEEP_TRY(begin_messages(p, array, p->all, &times));
        if (p->mail.wait(p->mail.context) != 0) return LACIS_SWEEP_CANCELLED;
        SWEEP_TRY(unpack(p, array, p->all));
        SWEEP_CUDA(p, cudaStreamSynchronize(p->border)); /* the buffers serve the next one */
    }
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status fill(lacis_sweep_gpu_part *p, const lacis_sweep_gpu_start *start)
{
    SWEEP_TRY(make_streams(p));
    SWEEP_TRY(make_room(p));
    SWEEP_TRY(lacis_sweep_gpu_new(start, &p->system, &p->cuda_error));
    SWEEP_CUDA(p, cudaStreamSynchronize(p->system->stream)); /* memory is there for all streams */
    return exchange_coefficients(p);
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
    list_messages(p);
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

static lacis_sweep_status after_exchange(lacis_sweep_gpu_part *p, int steps)
{
    SWEEP_CUDA(p, cudaStreamWaitEvent(p->system->stream, p->whole, 0));
    if (!p->how.part.overlap) return lacis_sweep_gpu_steps(p->system, steps, nullptr);
    SWEEP_TRY(update_rim(p, steps - 1));
    return steps > 1 ? lacis_sweep_gpu_steps(p->system, steps - 1, nullptr) : LACIS_SWEEP_OK;
}

static lacis_sweep_status some_steps(lacis_sweep_gpu_part *p, int steps)
{
    lacis_sweep_times times = {};
    double clock = seconds();
    lacis_sweep_status status = pack(p, 0, p->messages);
    if (status == LACIS_SWEEP_OK && p->how.part.overlap && p->has_centre)
        status = lacis_sweep_gpu_update(p->system, &p->centre, nullptr);
    times.centre = lap(&clock);
    if (status == LACIS_SWEEP_OK) status = begin_messages(p, 0, p->messages, &times);
    times.pack = lap(&clock);
    if (status == LACIS_SWEEP_OK && p->mail.wait(p->mail.context) != 0) status = LACIS_SWEEP_CANCELLED;
    times.wait = lap(&clock);
    if (status == LACIS_SWEEP_OK) status = unpack(p, 0, p->messages);
    times.unpack = lap(&clock);
    if (status == LACIS_SWEEP_OK) status = after_exchange(p, steps);
    times.rest = lap(&clock);
    p->spent.pack += times.pack;
    p->spent.centre += times.centre;
    p->spent.wait += times.wait;
    p->spent.unpack += times.unpack;
    p->spent.rest += times.rest;
    p->spent.bytes += times.bytes;
    p->spent.messages += times.messages;
    p->spent.exchanges++;
    if (p->how.part.line != nullptr && p->lines < p->how.part.lines) p->how.part.line[p->lines++] = times;
    return status;
}

lacis_sweep_status lacis_sweep_gpu_part_steps(lacis_sweep_gpu_part *part, int64_t steps, lacis_sweep_change *change)
{
    for (int64_t left = steps; left > 0;) {
        /* The last step by itself where it is measured, so that the level before it is there. */
        const int64_t wanted = change != nullptr && left > 1 ? left - 1 : left;
        const int now = wanted < part->cut.deep ? (int)wanted : part->cut.deep;
        left -= now;
        SWEEP_TRY(some_steps(part, now));
    }
    SWEEP_TRY(read_bad(part->system, part->system->stream));
    if (change == nullptr || steps <= 0) return LACIS_SWEEP_OK;
    memset(change, 0, sizeof *change);
    return lacis_sweep_gpu_measure(part->system, change);
}
