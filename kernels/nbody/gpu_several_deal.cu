/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies from the whole to the parts and back: rows of the whole in the order of the curve are cut into pieces of one
 * length. All that a body has goes with it, so that nothing but the trees depends on who has it.
 */
#include "nbody/gpu_several.h"

namespace nbody
{

/* What `from`'s stream has done, `to`'s waits for. */
static lacis_nbody_status follow(lacis_nbody_gpus *s, int device_from, cudaStream_t from, cudaEvent_t event,
                                 cudaStream_t to)
{
    NBODY_CUDA(s, cudaSetDevice(device_from));
    NBODY_CUDA(s, cudaEventRecord(event, from));
    NBODY_CUDA(s, cudaStreamWaitEvent(to, event));
    return LACIS_NBODY_OK;
}

template <class P, class R> static Motion<P, R> still(const System<P, R> *s)
{
    return {factor_of(s), 0, 0, 0, false, false};
}

/* Rows in the order of a tree over all. */
template <class P, class R> static lacis_nbody_status sort_whole(System<P, R> *w)
{
    NBODY_TRY(system_settle(w));
    NBODY_TRY(system_move(w, still(w)));
    NBODY_TRY(system_grow(w));
    NBODY_TRY(system_follow(w, false, w->sized));
    NBODY_TRY(system_move(w, still(w)));
    w->grown = false;
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status copy_rows(Several<P, R> *s, int k, bool back)
{
    System<P, R> *const w = s->whole, *const p = s->part[k];
    const int64_t first = s->first[k];
    const size_t n = (size_t)p->n;
    const int to = back ? s->device[0] : s->device[k], from = back ? s->device[k] : s->device[0];
    const cudaStream_t stream = back ? p->machine.stream : w->machine.stream;
    const auto copy = [&](auto *whole, auto *part) {
        void *const into = back ? (void *)whole : (void *)part;
        const void *const out_of = back ? (void *)part : (void *)whole;
        return cudaMemcpyPeerAsync(into, to, out_of, from, n * sizeof *whole, stream);
    };
    NBODY_CUDA(s, copy(w->body + first, p->body));
    NBODY_CUDA(s, copy(w->moving + first, p->moving));
    if (w->sized || p->sized) NBODY_CUDA(s, copy(w->sum + first, p->sum));
    return LACIS_NBODY_OK;
}

static void take_flags(lacis_nbody_gpu *to, const lacis_nbody_gpu *from)
{
    to->known = from->known;
    to->phi_known = from->phi_known;
    to->sized = from->sized;
    to->given = from->given;
    to->grown = to->closes = false;
}

template <class P, class R> lacis_nbody_status several_deal(Several<P, R> *s)
{
    if (s->dealt) return LACIS_NBODY_OK;
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    NBODY_TRY(sort_whole(s->whole));
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->part[k];
        /* The part may still be at work upon rows that it had. */
        NBODY_TRY(follow(s, s->device[k], p->machine.stream, s->walked[k], s->whole->machine.stream));
        NBODY_CUDA(s, cudaSetDevice(s->device[0]));
        NBODY_TRY(copy_rows(s, k, false));
        NBODY_TRY(follow(s, s->device[0], s->whole->machine.stream, s->built[0], p->machine.stream));
        p->at = p->body;
        p->from = nullptr;
        take_flags(p, s->whole);
    }
    s->dealt = true;
    s->age = 0;
    return LACIS_NBODY_OK;
}

template <class P, class R> lacis_nbody_status several_gather(Several<P, R> *s)
{
    if (!s->dealt) return LACIS_NBODY_OK;
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->part[k];
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_settle(p));
        NBODY_TRY(system_move(p, still(p)));
        NBODY_TRY(follow(s, s->device[0], s->whole->machine.stream, s->built[0], p->machine.stream));
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(copy_rows(s, k, true));
        NBODY_TRY(follow(s, s->device[k], p->machine.stream, s->walked[k], s->whole->machine.stream));
    }
    take_flags(s->whole, s->part[0]);
    s->whole->at = s->whole->body;
    s->whole->from = nullptr;
    s->dealt = false;
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    return LACIS_NBODY_OK;
}

#define OF_TYPE(P, R)                                                                                                \
    template lacis_nbody_status several_deal(Several<P, R> *);                                                       \
    template lacis_nbody_status several_gather(Several<P, R> *);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
