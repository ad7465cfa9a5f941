/* SPDX-License-Identifier: Apache-2.0
 *
 * What a part on a device sends and receives: packed on a stream of the borders' own, through pinned memory where
 * messages may not lie on devices. Called by gpu_part.cu and gpu_part_strips.cu.
 */
#include "sweep/gpu_part_inside.h"

namespace sweep
{

lacis_sweep_status make_room(lacis_sweep_gpu_part *p)
{
    const uint64_t bytes = lacis_sweep_messages_bytes(&p->start, &p->cut, p->part) + 1; /* or there are none */
    uint64_t at = 0;
    p->block = p->start.host.alloc(p->start.host.context, bytes);
    if (p->block == nullptr) return LACIS_SWEEP_NO_MEMORY;
    if (!p->how.direct) SWEEP_CUDA(p, cudaMallocHost(&p->pinned, bytes));
    for (int i = 0; i < p->all; i++) {
        for (int way = 0; way < 2; way++) {
            (way == 0 ? p->out : p->in)[i] = static_cast<char *>(p->block) + at;
            if (!p->how.direct) (way == 0 ? p->out_host : p->in_host)[i] = static_cast<char *>(p->pinned) + at;
            at += lacis_sweep_message_bytes(&p->start, &p->message[i]);
        }
    }
    return LACIS_SWEEP_OK;
}

uint64_t message_size(const lacis_sweep_gpu_part *p, int array, int i)
{
    const uint64_t arrays = array == 0 ? (uint64_t)p->start.fields : 1;
    return arrays * (uint64_t)p->message[i].cells * lacis_sweep_size(p->start.type);
}

lacis_sweep_status post_packed(lacis_sweep_gpu_part *p, int array, int i, cudaStream_t stream)
{
    if (array == 0 && post_straight(p, i, stream)) return LACIS_SWEEP_OK;
    if (!p->how.direct)
        SWEEP_CUDA(
            p, cudaMemcpyAsync(p->out_host[i], p->out[i], message_size(p, array, i), cudaMemcpyDeviceToHost, stream));
    return LACIS_SWEEP_OK;
}

/* On the border's stream, once the present level is whole. */
lacis_sweep_status pack_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    SWEEP_CUDA(p, cudaEventRecord(p->whole, p->system->stream));
    SWEEP_CUDA(p, cudaStreamWaitEvent(p->border, p->whole, 0));
    for (int i = 0; i < messages; i++) {
        SWEEP_TRY(lacis_sweep_gpu_pack(p->system, array, &p->message[i].out, p->out[i], p->how.copy, p->border));
        SWEEP_TRY(post_packed(p, array, i, p->border));
    }
    return LACIS_SWEEP_OK;
}

/* A message, or where it goes straight into the neighbour's memory the word of it. */
static bool send_one(lacis_sweep_gpu_part *p, int array, int i)
{
    const lacis_sweep_mail *const mail = &p->mail;
    const lacis_sweep_message *const m = &p->message[i];
    const char *const data = p->how.direct ? p->out[i] : p->out_host[i];
    if (array == 0 && p->link[i].says) {
        p->link[i].said.exchange = p->exchange;
        return mail->send(mail->context, m->part, m->tag_out, &p->link[i].said, sizeof(Word)) == 0;
    }
    return mail->send(mail->context, m->part, m->tag_out, data, message_size(p, array, i)) == 0;
}

static bool receive_one(lacis_sweep_gpu_part *p, int array, int i)
{
    const lacis_sweep_mail *const mail = &p->mail;
    const lacis_sweep_message *const m = &p->message[i];
    char *const data = p->how.direct ? p->in[i] : p->in_host[i];
    if (array == 0 && p->link[i].hears)
        return mail->receive(mail->context, m->part, m->tag_in, &p->link[i].heard, sizeof(Word)) == 0;
    return mail->receive(mail->context, m->part, m->tag_in, data, message_size(p, array, i)) == 0;
}

lacis_sweep_status begin_messages(lacis_sweep_gpu_part *p, int array, int messages, lacis_sweep_times *times)
{
    SWEEP_CUDA(p, cudaStreamSynchronize(p->border)); /* packed, and what came the time before is where it belongs */
    for (int i = 0; i < messages; i++)
        if (!receive_one(p, array, i)) return LACIS_SWEEP_CANCELLED;
    for (int i = 0; i < messages; i++) {
        if (!send_one(p, array, i)) return LACIS_SWEEP_CANCELLED;
        times->bytes += (double)message_size(p, array, i);
    }
    times->messages += messages;
    times->exchanges++;
    return LACIS_SWEEP_OK;
}

lacis_sweep_status wait_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    if (p->mail.wait(p->mail.context) != 0) return LACIS_SWEEP_CANCELLED;
    return array == 0 ? hear_words(p, messages) : LACIS_SWEEP_OK;
}

/* Whether it has come to the device by itself. */
static bool came_straight(const lacis_sweep_gpu_part *p, int array, int i)
{
    return array == 0 && p->link[i].hears && p->link[i].heard.straight != 0;
}

lacis_sweep_status upload_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    for (int i = 0; i < messages && !p->how.direct; i++)
        if (!came_straight(p, array, i))
            SWEEP_CUDA(p, cudaMemcpyAsync(p->in[i], p->in_host[i], message_size(p, array, i), cudaMemcpyHostToDevice,
                                          p->border));
    return LACIS_SWEEP_OK;
}

lacis_sweep_status unpack_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    for (int i = 0; i < messages; i++) {
        const char *const from = came_straight(p, array, i) ? inbox_of(p, i, p->exchange) : p->in[i];
        SWEEP_TRY(lacis_sweep_gpu_unpack(p->system, array, &p->message[i].in, from, p->how.copy, p->border));
    }
    p->exchange += array == 0;
    SWEEP_TRY(lacis_sweep_gpu_refresh(p->system, p->border));
    SWEEP_CUDA(p, cudaEventRecord(p->whole, p->border));
    return LACIS_SWEEP_OK;
}

/* What has come, to where it belongs. */
static lacis_sweep_status take_messages(lacis_sweep_gpu_part *p, int array, int messages)
{
    SWEEP_TRY(wait_messages(p, array, messages));
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
