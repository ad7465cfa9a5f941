/* SPDX-License-Identifier: Apache-2.0
 *
 * Fields on several devices: each builds the whole tree, whose order is the same on all of them, and walks for its
 * pieces of the bodies. While it walks for the next piece the last one's sums are copied to the others.
 */
#include "nbody/gpu_several.h"

namespace nbody
{

enum {
    SHARED_BY = 512, /* bodies that share the upper part of a walk, at most */
    GROUP = 64
};
/* Bodies of a device from which on it walks in two pieces: the copies of the first one's sums, beside the second's
 * walk, are then worth another launch. */
static const int64_t TWO_PIECES = 5000000;

/* --- rows ------------------------------------------------------------------------------------------------------- */

template <class P, class R> static lacis_nbody_status copy_rows(Several<P, R> *s, int k)
{
    const System<P, R> *const w = s->of[0];
    System<P, R> *const p = s->of[k];
    const cudaStream_t stream = p->machine.stream;
    const auto copy = [&](auto *to, const auto *from) {
        return cudaMemcpyPeerAsync(to, s->device[k], from, s->device[0], (size_t)w->n * sizeof *to, stream);
    };
    NBODY_CUDA(s, copy(p->body, w->body));
    NBODY_CUDA(s, copy(p->moving, w->moving));
    if (w->sized) NBODY_CUDA(s, copy(p->sum, w->sum));
    p->at = p->body;
    p->from = nullptr;
    take_flags(p, w);
    return LACIS_NBODY_OK;
}

template <class P, class R> lacis_nbody_status several_spread(Several<P, R> *s)
{
    System<P, R> *const w = s->of[0];
    if (!s->alone) return LACIS_NBODY_OK;
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    NBODY_TRY(system_settle(w));
    NBODY_TRY(system_move(w, still(w)));
    w->grown = false;
    NBODY_CUDA(s, cudaEventRecord(s->ready[0], w->machine.stream));
    for (int k = 1; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_CUDA(s, cudaStreamWaitEvent(s->of[k]->machine.stream, s->ready[0]));
        NBODY_TRY(copy_rows(s, k));
        NBODY_CUDA(s, cudaEventRecord(s->ready[k], s->of[k]->machine.stream));
        NBODY_CUDA(s, cudaStreamWaitEvent(w->machine.stream, s->ready[k]));
    }
    s->alone = false;
    return LACIS_NBODY_OK;
}

/* --- trees ------------------------------------------------------------------------------------------------------ */

/* All devices begin before the host waits for one of them. */
template <class P, class R> static lacis_nbody_status grow_all(Several<P, R> *s, bool sizes)
{
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_grow_begin(s->of[k]));
    }
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_grow_end(s->of[k]));
        NBODY_TRY(system_follow(s->of[k], sizes, false));
    }
    return LACIS_NBODY_OK;
}

/* --- walks ------------------------------------------------------------------------------------------------------ */

/* Bodies of a piece: such that groups are the same as on one device. */
static int64_t piece_of(int64_t n, int devices)
{
    const int64_t pieces = n / devices >= TWO_PIECES ? 2 * devices : devices, least = (n + pieces - 1) / pieces;
    const int64_t of = least < SHARED_BY ? GROUP : SHARED_BY;
    return (least + of - 1) / of * of;
}

/* A piece of device a's, and its sums to the others. */
template <class P, class R>
static lacis_nbody_status walk_piece(Several<P, R> *s, int a, int64_t first, int64_t n, bool potential)
{
    System<P, R> *const p = s->of[a];
    const Forces<R> forces = {p->sum + first, potential, p->counted};
    const R *const old = p->tree.old != nullptr ? p->tree.old + first : nullptr;
    NBODY_CUDA(s, cudaSetDevice(s->device[a]));
    NBODY_TRY(walk_part(&p->machine, &p->rule, &p->tree, first, n, old, &forces));
    NBODY_CUDA(s, cudaEventRecord(s->walked[a], p->machine.stream));
    NBODY_CUDA(s, cudaStreamWaitEvent(s->copies[a], s->walked[a]));
    for (int b = 0; b < s->devices; b++)
        if (b != a)
            NBODY_CUDA(s, cudaMemcpyPeerAsync(s->of[b]->sum + first, s->device[b], p->sum + first, s->device[a],
                                              (size_t)n * sizeof *p->sum, s->copies[a]));
    return LACIS_NBODY_OK;
}

/* Copies wait until all devices have done with the sums of the time before. */
template <class P, class R> static lacis_nbody_status before_walks(Several<P, R> *s)
{
    for (int b = 0; b < s->devices; b++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[b]));
        NBODY_CUDA(s, cudaEventRecord(s->ready[b], s->of[b]->machine.stream));
        for (int a = 0; a < s->devices; a++)
            if (a != b) NBODY_CUDA(s, cudaStreamWaitEvent(s->copies[a], s->ready[b]));
    }
    return LACIS_NBODY_OK;
}

/* Devices wait for all sums, and for their own to be with the others. */
template <class P, class R> static lacis_nbody_status after_walks(Several<P, R> *s)
{
    for (int a = 0; a < s->devices; a++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[a]));
        NBODY_CUDA(s, cudaEventRecord(s->sent[a], s->copies[a]));
        for (int b = 0; b < s->devices; b++)
            NBODY_CUDA(s, cudaStreamWaitEvent(s->of[b]->machine.stream, s->sent[a]));
    }
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->of[k];
        p->tree.old = nullptr;
        if (!p->rule.deterministic) continue;
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_level(p, p->sum));
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status walk_all(Several<P, R> *s, bool old, bool potential)
{
    const int64_t n = s->of[0]->n, piece = piece_of(n, s->devices);
    int a = 0;
    for (int k = 0; k < s->devices; k++)
        s->of[k]->tree.old = old ? s->of[k]->old : nullptr;
    NBODY_TRY(before_walks(s));
    for (int64_t first = 0; first < n; first += piece) {
        NBODY_TRY(walk_piece(s, a, first, piece < n - first ? piece : n - first, potential));
        a = a + 1 < s->devices ? a + 1 : 0;
    }
    return after_walks(s);
}

/* A mark of device 0's phases, which stand for all devices'. */
template <class P, class R> static lacis_nbody_status mark(Several<P, R> *s, int phase)
{
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    return system_mark(s->of[0], phase);
}

/* All move alike before that. The first time of RELATIVE sums by a rough walk tell sizes, as on one device. */
template <class P, class R> lacis_nbody_status several_field(Several<P, R> *s, bool potential)
{
    const System<P, R> *const one = s->of[0];
    const bool relative = one->rule.opening == LACIS_NBODY_RELATIVE && one->g > 0;
    NBODY_TRY(mark(s, 1));
    NBODY_TRY(grow_all(s, relative && one->sized));
    NBODY_TRY(mark(s, 2));
    if (relative && !one->sized) {
        NBODY_TRY(walk_all(s, false, false));
        for (int k = 0; k < s->devices; k++) {
            NBODY_CUDA(s, cudaSetDevice(s->device[k]));
            NBODY_TRY(system_sizes(s->of[k]));
        }
    }
    NBODY_TRY(walk_all(s, relative, potential));
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->of[k];
        p->given = false;
        p->known = p->sized = true;
        p->phi_known = potential;
        p->done.evaluations++;
    }
    NBODY_TRY(mark(s, 3));
    return system_add_times(s->of[0]);
}

#define OF_TYPE(P, R)                                                                                                \
    template lacis_nbody_status several_spread(Several<P, R> *);                                                     \
    template lacis_nbody_status several_field(Several<P, R> *, bool);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
