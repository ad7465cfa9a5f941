/* SPDX-License-Identifier: Apache-2.0
 *
 * What a part on a device sends and receives: packed on a stream of the borders' own, through pinned memory where
 * messages may not lie on devices. Called by gpu_part.cu and gpu_part_strips.cu.
 */
#include "sweep/gpu_part_inside.h"

namespace sweep
{

static uint64_t message_bytes(const lacis_sweep_start *start, const lacis_sweep_message *message)
{
    const uint64_t line = 256, arrays = start->fields > 0 ? (uint64_t)start->fields : 1;
    return (arrays * (uint64_t)message->cells * lacis_sweep_size(start->type) + line - 1) / line * line;
}

uint64_t messages_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part)
{
    lacis_sweep_message message[LACIS_SWEEP_MESSAGES];
    const int messages = lacis_sweep_cut_messages(cut, part, true, message);
    uint64_t bytes = 256;
    for (int i = 0; i < messages; i++)
        bytes += 2 * message_bytes(start, &message[i]);
    return bytes;
}

/* Diagonal messages, which steps may do without, behind the others. */
void list_messages(lacis_sweep_gpu_part *p)
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

lacis_sweep_status make_room(lacis_sweep_gpu_part *p)
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

uint64_t message_size(const lacis_sweep_gpu_part *p, int array, int i)
{
    const uint64_t arrays = array == 0 ? (uint64_t)p->start.fields : 1;
    return arrays * (uint64_t)p->message[i].cells * lacis_sweep_size(p->start.type);
}

/* On the border's stream, once the present level is whole. */
lacis_sweep_status pack_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    SWEEP_CUDA(p, cudaEventRecord(p->whole, p->system->stream));
    SWEEP_CUDA(p, cudaStreamWaitEvent(p->border, p->whole, 0));
    for (int i = 0; i < messages; i++) {
        SWEEP_TRY(lacis_sweep_gpu_pack(p->system, array, &p->message[i].out, p->out[i], p->how.copy, p->border));
        if (!p->how.direct)
            SWEEP_CUDA(p, cudaMemcpyAsync(p->out_host[i], p->out[i], message_size(p, array, i),
                                          cudaMemcpyDeviceToHost, p->border));
    }
    return LACIS_SWEEP_OK;
}

lacis_sweep_status begin_messages(lacis_sweep_gpu_part *p, int array, int messages, lacis_sweep_times *times)
{
    const lacis_sweep_mail *const mail = &p->mail;
    char *const *const out = p->how.direct ? p->out : p->out_host, *const *const in =
                                                                       p->how.direct ? p->in : p->in_host;
    SWEEP_CUDA(p, cudaStreamSynchronize(p->border)); /* packed, and what came the time before is where it belongs */
    for (int i = 0; i < messages; i++) {
        const lacis_sweep_message *const m = &p->message[i];
        if (mail->receive(mail->context, m->part, m->tag_in, in[i], message_size(p, array, i)) != 0)
            return LACIS_SWEEP_CANCELLED;
    }
    for (int i = 0; i < messages; i++) {
        const lacis_sweep_message *const m = &p->message[i];
        if (mail->send(mail->context, m->part, m->tag_out, out[i], message_size(p, array, i)) != 0)
            return LACIS_SWEEP_CANCELLED;
        times->bytes += (double)message_size(p, array, i);
    }
    times->messages += messages;
    times->exchanges++;
    return LACIS_SWEEP_OK;
}

lacis_sweep_status upload_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    for (int i = 0; i < messages && !p->how.direct; i++)
        SWEEP_CUDA(p, cudaMemcpyAsync(p->in[i], p->in_host[i], message_size(p, array, i), cudaMemcpyHostToDevice,
                                      p->border));
    return LACIS_SWEEP_OK;
}

lacis_sweep_status unpack_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    for (int i = 0; i < messages; i++)
        SWEEP_TRY(lacis_sweep_gpu_unpack(p->system, array, &p->message[i].in, p->in[i], p->how.copy, p->border));
    SWEEP_TRY(lacis_sweep_gpu_refresh(p->system, p->border));
    SWEEP_CUDA(p, cudaEventRecord(p->whole, p->border));
    return LACIS_SWEEP_OK;
}

/* What has come, to where it belongs. */
static lacis_sweep_status take_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    if (p->mail.wait(p->mail.context) != 0) return LACIS_SWEEP_CANCELLED;
    SWEEP_TRY(upload_messages(p, array, messages));
    return unpack_messages(p, array, messages);
}

lacis_sweep_status exchange_coefficients(lacis_sweep_gpu_part *p)
{
    for (int i = 0; i < p->start.coefficients; i++) {
        lacis_sweep_times times = {};
        const int array = p->start.fields + i;
        SWEEP_TRY(pack_messages(p, array, p->all));
        SWEEP_TRY(begin_messages(p, array, p->all, &times));
        SWEEP_TRY(take_messages(p, array, p->all));
        SWEEP_CUDA(p, cudaStreamSynchronize(p->border)); /* the buffers serve the next one */
    }
    return LACIS_SWEEP_OK;
}

lacis_sweep_status exchange_fields(lacis_sweep_gpu_part *p, lacis_sweep_times *times)
{
    SWEEP_TRY(pack_messages(p, 0, p->messages));
    SWEEP_TRY(begin_messages(p, 0, p->messages, times));
    SWEEP_TRY(take_messages(p, 0, p->messages));
    SWEEP_CUDA(p, cudaStreamWaitEvent(p->system->stream, p->whole, 0));
    return LACIS_SWEEP_OK;
}

} // namespace sweep
