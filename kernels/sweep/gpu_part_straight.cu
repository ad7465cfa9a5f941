/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a part's border straight into the memory of a neighbour's device, where that is another process of this
 * host: CUDA IPC. Called by gpu_part.cu and gpu_part_mail.cu.
 *
 * A part has an inbox with room for the messages of two exchanges, of which it sends the handle to its neighbours.
 * They open it, write a pattern, and say so; the part looks whether it has come, and says so. Only then do rows go
 * that way: the sender copies them into the inbox, waits for its stream, and sends a word by mail. Two exchanges:
 * whoever writes exchange e + 2 has had the neighbour's word of e + 1, which was sent once e had been unpacked.
 *
 * Whatever fails on the way there leaves that message as it was, through the host's memory.
 */
#include "sweep/gpu_part_inside.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

namespace sweep
{

enum { PATTERN = 8 }; /* words, for which every message has room */

/* The host by the number of its present start: handles of others mean nothing here. */
static void host_name(char *out)
{
    memset(out, 0, HOST_NAME);
    FILE *const file = fopen("/proc/sys/kernel/random/boot_id", "r");
    if (file == nullptr) return;
    if (fgets(out, HOST_NAME, file) == nullptr) out[0] = '\0';
    (void)fclose(file);
}

/* The first reason stays. */
static bool good(lacis_sweep_gpu_part *p, cudaError_t error)
{
    if (error == cudaSuccess) return true;
    (void)cudaGetLastError();
    if (p->apart == nullptr) p->apart = cudaGetErrorString(error);
    return false;
}

static bool because(lacis_sweep_gpu_part *p, const char *why)
{
    if (p->apart == nullptr) p->apart = why;
    return false;
}

/* --- places ------------------------------------------------------------------------------------------------------
 */

static int64_t place_of(const lacis_sweep_gpu_part *p, int i, int64_t exchange)
{
    uint64_t before = 0, all = 0;
    for (int k = 0; k < p->messages; k++) {
        if (k < i) before += lacis_sweep_message_bytes(&p->start, &p->message[k]);
        all += lacis_sweep_message_bytes(&p->start, &p->message[k]);
    }
    return (int64_t)(before + (exchange % 2 == 0 ? 0 : all));
}

char *inbox_of(const lacis_sweep_gpu_part *p, int i, int64_t exchange)
{
    return p->inbox + place_of(p, i, exchange);
}

/* --- how all find out --------------------------------------------------------------------------------------------
 */

/* Something small of each message's, both ways. */
template <class T> static bool tell(lacis_sweep_gpu_part *p, const T *out, T *in)
{
    const lacis_sweep_mail *const mail = &p->mail;
    for (int i = 0; i < p->messages; i++)
        if (mail->receive(mail->context, p->message[i].part, p->message[i].tag_in, &in[i], sizeof(T)) != 0)
            return false;
    for (int i = 0; i < p->messages; i++)
        if (mail->send(mail->context, p->message[i].part, p->message[i].tag_out, &out[i], sizeof(T)) != 0)
            return false;
    return mail->wait(mail->context) == 0;
}

static bool make_inbox(lacis_sweep_gpu_part *p, cudaIpcMemHandle_t *handle)
{
    const uint64_t bytes = lacis_sweep_messages_bytes(&p->start, &p->cut, p->part) + 1;
    void *block = nullptr;
    if (p->how.charge != nullptr && !p->how.charge(p->start.host.context, bytes))
        return because(p, "gpu_memory_limit leaves no room for a neighbour's rows");
    p->inbox_bytes = bytes;
    if (!good(p, cudaMalloc(&block, bytes))) return false; /* memory of a pool has no such handle */
    p->inbox = static_cast<char *>(block);
    return good(p, cudaMemset(block, 0, bytes)) && good(p, cudaDeviceSynchronize()) &&
           good(p, cudaIpcGetMemHandle(handle, block));
}

void free_inbox(lacis_sweep_gpu_part *p)
{
    if (p->inbox != nullptr) (void)cudaFree(p->inbox);
    if (p->how.credit != nullptr && p->inbox_bytes > 0) p->how.credit(p->start.host.context, p->inbox_bytes);
    p->inbox = nullptr;
    p->inbox_bytes = 0;
}

/* An inbox is opened once a neighbour. */
static char *open_inbox(lacis_sweep_gpu_part *p, int part, const Hello *hello)
{
    void *inbox = nullptr;
    for (int k = 0; k < p->peers; k++)
        if (p->peer[k].part == part) return p->peer[k].inbox;
    if (!good(p, cudaIpcOpenMemHandle(&inbox, hello->handle, cudaIpcMemLazyEnablePeerAccess))) inbox = nullptr;
    p->peer[p->peers++] = {part, static_cast<char *>(inbox)};
    return static_cast<char *>(inbox);
}

static void fill_pattern(uint64_t *pattern, uint64_t mark, int slot)
{
    for (uint64_t k = 0; k < PATTERN; k++)
        pattern[k] = (mark + k) * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)slot;
}

/* Into the neighbour's inbox, for both exchanges. */
static bool write_pattern(lacis_sweep_gpu_part *p, int i, const Hello *hello)
{
    uint64_t pattern[PATTERN];
    if (hello->able == 0) return because(p, "a neighbour's process cannot share its GPU's memory");
    char *const inbox = open_inbox(p, p->message[i].part, hello);
    if (inbox == nullptr) return false;
    for (int slot = 0; slot < 2; slot++) {
        p->link[i].to[slot] = inbox + hello->place[slot];
        fill_pattern(pattern, hello->mark, slot);
        if (!good(p, cudaMemcpy(p->link[i].to[slot], pattern, sizeof pattern, cudaMemcpyDefault))) return false;
    }
    return good(p, cudaDeviceSynchronize());
}

static bool read_pattern(lacis_sweep_gpu_part *p, int i, uint64_t mark)
{
    uint64_t expected[PATTERN], found[PATTERN];
    for (int slot = 0; slot < 2; slot++) {
        fill_pattern(expected, mark, slot);
        if (!good(p, cudaMemcpy(found, inbox_of(p, i, slot), sizeof found, cudaMemcpyDeviceToHost))) return false;
        if (memcmp(found, expected, sizeof found) != 0)
            return because(p, "what a neighbour wrote into this GPU's memory did not come");
    }
    return true;
}

static uint64_t mark_of(const lacis_sweep_gpu_part *p, int i)
{
    return ((uint64_t)getpid() << 20) ^ ((uint64_t)p->part << 8) ^ (uint64_t)i;
}

static void greet(lacis_sweep_gpu_part *p, Hello *hello)
{
    cudaIpcMemHandle_t handle = {};
    const bool able = !p->how.host && make_inbox(p, &handle);
    for (int i = 0; i < p->messages; i++) {
        hello[i] = {};
        hello[i].handle = handle;
        hello[i].able = able;
        for (int slot = 0; slot < 2; slot++)
            hello[i].place[slot] = place_of(p, i, slot);
        hello[i].mark = mark_of(p, i);
        host_name(hello[i].host);
    }
}

lacis_sweep_status join_peers(lacis_sweep_gpu_part *p)
{
    Meeting *const m = &p->meeting;
    if (p->how.direct) return LACIS_SWEEP_OK; /* MPI knows ways of its own */
    greet(p, m->own);
    if (!tell(p, m->own, m->theirs)) return LACIS_SWEEP_CANCELLED;
    for (int i = 0; i < p->messages; i++) {
        const bool here = m->own[i].host[0] != '\0' && memcmp(m->own[i].host, m->theirs[i].host, HOST_NAME) == 0;
        m->wrote[i] = !p->how.host && here && write_pattern(p, i, &m->theirs[i]);
    }
    if (!tell(p, m->wrote, m->written)) return LACIS_SWEEP_CANCELLED;
    for (int i = 0; i < p->messages; i++)
        m->saw[i] = p->link[i].hears =
            m->written[i] != 0 && m->own[i].able != 0 && read_pattern(p, i, m->own[i].mark);
    if (!tell(p, m->saw, m->seen)) return LACIS_SWEEP_CANCELLED;
    for (int i = 0; i < p->messages; i++) {
        p->link[i].says = m->wrote[i] != 0 && m->seen[i] != 0;
        if (m->wrote[i] != 0 && m->seen[i] == 0)
            because(p, "what was written into a neighbour's memory did not come");
    }
    return LACIS_SWEEP_OK;
}

void leave_peers(lacis_sweep_gpu_part *p)
{
    for (int k = 0; k < p->peers; k++)
        if (p->peer[k].inbox != nullptr) (void)cudaIpcCloseMemHandle(p->peer[k].inbox);
    p->peers = 0;
}

bool all_straight(const lacis_sweep_gpu_part *p)
{
    bool all = true;
    for (int i = 0; i < p->messages; i++)
        all = all && p->link[i].says && p->link[i].hears;
    return all;
}

/* --- exchanges ---------------------------------------------------------------------------------------------------
 */

bool post_straight(lacis_sweep_gpu_part *p, int i, cudaStream_t stream)
{
    Link *const link = &p->link[i];
    link->said.straight = link->says && good(p, cudaMemcpyAsync(link->to[p->exchange % 2], p->out[i],
                                                                message_size(p, 0, i), cudaMemcpyDefault, stream));
    return link->said.straight != 0;
}

/* Rows that did not go straight after all, once every word has come: whoever waits for one waits for no other. */
static lacis_sweep_status late_rows(lacis_sweep_gpu_part *p, int messages)
{
    const lacis_sweep_mail *const mail = &p->mail;
    for (int i = 0; i < messages; i++) {
        const lacis_sweep_message *const m = &p->message[i];
        if (p->link[i].hears && p->link[i].heard.straight == 0 &&
            mail->receive(mail->context, m->part, m->tag_in, p->in_host[i], message_size(p, 0, i)) != 0)
            return LACIS_SWEEP_CANCELLED;
        if (p->link[i].says && p->link[i].said.straight == 0 &&
            mail->send(mail->context, m->part, m->tag_out, p->out_host[i], message_size(p, 0, i)) != 0)
            return LACIS_SWEEP_CANCELLED;
    }
    return mail->wait(mail->context) == 0 ? LACIS_SWEEP_OK : LACIS_SWEEP_CANCELLED;
}

lacis_sweep_status hear_words(lacis_sweep_gpu_part *p, int messages)
{
    bool late = false;
    for (int i = 0; i < messages; i++) {
        const Link *const link = &p->link[i];
        if (link->hears && link->heard.exchange != p->exchange) return LACIS_SWEEP_FAILED;
        late = late || (link->hears && link->heard.straight == 0) || (link->says && link->said.straight == 0);
    }
    return late ? late_rows(p, messages) : LACIS_SWEEP_OK;
}

} // namespace sweep
