/* SPDX-License-Identifier: Apache-2.0
 *
 * A system in parts: made, cut out of the whole, put together again, and its fields.
 */
#include "nbody/gpu_several.h"

namespace nbody
{

enum { ALIGNED = 512, FEWEST = 32 }; /* bodies: that share the upper part of a walk; of a part at least */

bool parts_cut(int64_t n, int many, Place *at)
{
    const int64_t least = (n + many - 1) / many, of = least < ALIGNED ? 32 : ALIGNED,
                  each = (least + of - 1) / of * of;
    uint64_t cell = 1 + (uint64_t)many;
    for (int k = 0; k <= many; k++) {
        const int64_t first = k * each < n ? k * each : n, end = (k + 1) * each < n ? (k + 1) * each : n;
        at[k] = {first, (uint32_t)cell};
        cell += builder_cells(end - first);
        if (cell >= UINT64_C(1) << 29) return false;
        if (k < many && end - first < FEWEST) return false;
    }
    return true;
}

template <class P, class R> uint64_t parts_bytes(const lacis_nbody_start *start, int many)
{
    Place at[LACIS_NBODY_GPUS_MOST + 1];
    lacis_nbody_start part = *start;
    if (!parts_cut(start->n, many, at)) return 0;
    part.n = at[1].body;
    const uint64_t cells = at[many].cell, cube = start->rule.opening == LACIS_NBODY_OFFSET ? sizeof(Four<P>) : 0;
    return lacis_nbody_gpu_bytes(&part) + (uint64_t)start->n * sizeof(Four<P>) +
           cells * (sizeof(Link) + sizeof(Four<P>) + cube + 2 * sizeof(Four<R>)) + 4096;
}

/* --- made and freed --------------------------------------------------------------------------------------------- */

template <class P, class R> static lacis_nbody_status place(Several<P, R> *s, int k)
{
    Parts<P, R> *const parts = &s->parts;
    Joint<P, R> *const j = &parts->joint[k];
    System<P, R> *const p = parts->of[k];
    const Place &at = parts->at[k];
    const uint64_t cells = parts->at[parts->many].cell;
    NBODY_TRY(take(p, &j->body, (uint64_t)parts->at[parts->many].body));
    NBODY_TRY(take(p, &j->link, cells));
    NBODY_TRY(take(p, &j->centre, cells));
    NBODY_TRY(take(p, &j->quad, 2 * cells));
    if (p->rule.opening == LACIS_NBODY_OFFSET) NBODY_TRY(take(p, &j->cube, cells));
    if (!p->builder) NBODY_TRY(builder_new(&p->machine, p->n, false, &p->builder));
    builder_place(p->builder, j->body + at.body, j->link + at.cell, j->centre + at.cell,
                  j->cube != nullptr ? j->cube + at.cell : nullptr, j->quad + 2 * (size_t)at.cell);
    return LACIS_NBODY_OK;
}

template <class P, class R> lacis_nbody_status parts_make(Several<P, R> *s, int k, const lacis_nbody_gpu_start *of)
{
    Parts<P, R> *const parts = &s->parts;
    lacis_nbody_gpu_start start = *of;
    lacis_nbody_gpu *one = nullptr;
    start.start.n = parts->at[k + 1].body - parts->at[k].body;
    start.start.x = start.start.ax = nullptr;
    NBODY_TRY(system_new(&start, &one, &s->cuda_error));
    parts->of[k] = static_cast<System<P, R> *>(one);
    parts->of[k]->rule = s->of[0]->rule;
    return place(s, k);
}

template <class P, class R> void parts_free(Several<P, R> *s, int k)
{
    System<P, R> *const p = s->parts.of[k];
    if (p == nullptr) return;
    Joint<P, R> *const j = &s->parts.joint[k];
    give(p, &j->body);
    give(p, &j->link);
    give(p, &j->centre);
    give(p, &j->cube);
    give(p, &j->quad);
    lacis_nbody_gpu_free(p);
}

/* --- rows ------------------------------------------------------------------------------------------------------- */

/* Rows of part k of the whole (on device 0) to the part, or back. */
template <class P, class R> static lacis_nbody_status copy_rows(Several<P, R> *s, int k, bool back)
{
    System<P, R> *const w = s->of[0], *const p = s->parts.of[k];
    const int64_t first = s->parts.at[k].body;
    const cudaStream_t stream = p->machine.stream;
    const auto copy = [&](auto *whole, auto *part) {
        const size_t bytes = (size_t)p->n * sizeof *part;
        return back ? cudaMemcpyPeerAsync(whole + first, s->device[0], part, s->device[k], bytes, stream)
                    : cudaMemcpyPeerAsync(part, s->device[k], whole + first, s->device[0], bytes, stream);
    };
    NBODY_CUDA(s, copy(w->body, p->body));
    NBODY_CUDA(s, copy(w->moving, p->moving));
    if (w->sized || (back && p->sized)) NBODY_CUDA(s, copy(w->sum, p->sum));
    return LACIS_NBODY_OK;
}

/* All rows one way, behind what device 0 has done and before what it does next. */
template <class P, class R> static lacis_nbody_status copy_all(Several<P, R> *s, bool back)
{
    System<P, R> *const w = s->of[0];
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    NBODY_CUDA(s, cudaEventRecord(s->ready[0], w->machine.stream));
    for (int k = 0; k < s->devices; k++) {
        const cudaStream_t stream = s->parts.of[k]->machine.stream;
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_CUDA(s, cudaStreamWaitEvent(stream, s->ready[0]));
        NBODY_TRY(copy_rows(s, k, back));
        NBODY_CUDA(s, cudaEventRecord(s->sent[k], stream));
        NBODY_CUDA(s, cudaStreamWaitEvent(w->machine.stream, s->sent[k]));
    }
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    return LACIS_NBODY_OK;
}

template <class P, class R> lacis_nbody_status parts_spread(Several<P, R> *s)
{
    System<P, R> *const w = s->of[0];
    if (!s->alone) return LACIS_NBODY_OK;
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    NBODY_TRY(system_settle(w));
    NBODY_TRY(system_move(w, still(w)));
    NBODY_TRY(system_grow(w)); /* for the order alone */
    NBODY_TRY(system_follow(w, false, w->sized));
    NBODY_TRY(system_move(w, still(w)));
    w->grown = false;
    NBODY_TRY(copy_all(s, false));
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->parts.of[k];
        p->at = p->body;
        p->from = nullptr;
        take_flags(p, w);
    }
    s->alone = false;
    s->since = 0;
    return LACIS_NBODY_OK;
}

template <class P, class R> lacis_nbody_status parts_gather(Several<P, R> *s)
{
    System<P, R> *const w = s->of[0];
    if (s->alone) return LACIS_NBODY_OK;
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->parts.of[k];
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_settle(p));
        NBODY_TRY(system_move(p, still(p)));
        p->grown = false;
    }
    take_flags(w, s->parts.of[0]);
    w->at = w->body;
    w->from = nullptr;
    NBODY_TRY(copy_all(s, true));
    s->alone = true;
    return LACIS_NBODY_OK;
}

/* --- fields ----------------------------------------------------------------------------------------------------- */

/* A part's tree is made where the others' sums no longer need what was there. */
template <class P, class R> static lacis_nbody_status grow(Several<P, R> *s, bool sizes)
{
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_CUDA(s, cudaStreamWaitEvent(s->parts.of[k]->machine.stream, s->sent[k]));
        NBODY_TRY(place(s, k));
        NBODY_TRY(system_grow_begin(s->parts.of[k]));
    }
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->parts.of[k];
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_grow_end(p));
        NBODY_CUDA(s, parts_shift(s->parts.joint[k], s->parts.at[k], builder_made(p->builder), p->machine.stream));
        NBODY_CUDA(s, cudaEventRecord(s->ready[k], p->machine.stream));
        NBODY_TRY(system_follow(p, sizes, false));
    }
    return LACIS_NBODY_OK;
}

/* Part k to device j, on the stream for device k's copies. */
template <class P, class R> static lacis_nbody_status send_part(Several<P, R> *s, int k, int j)
{
    const Parts<P, R> &parts = s->parts;
    const Place &at = parts.at[k];
    const System<P, R> *const p = parts.of[k];
    const size_t cells = builder_made(p->builder);
    const auto copy = [&](auto *to, const auto *from, size_t first, size_t count) {
        return cudaMemcpyPeerAsync(to + first, s->device[j], from + first, s->device[k], count * sizeof *to,
                                   s->copies[k]);
    };
    const Joint<P, R> &to = parts.joint[j], &from = parts.joint[k];
    NBODY_CUDA(s, copy(to.body, from.body, (size_t)at.body, (size_t)p->n));
    NBODY_CUDA(s, copy(to.link, from.link, at.cell, cells));
    NBODY_CUDA(s, copy(to.centre, from.centre, at.cell, cells));
    if (p->rule.order == LACIS_NBODY_QUADRUPOLE)
        NBODY_CUDA(s, copy(to.quad, from.quad, 2 * (size_t)at.cell, 2 * cells));
    if (p->rule.opening == LACIS_NBODY_OFFSET) NBODY_CUDA(s, copy(to.cube, from.cube, at.cell, cells));
    return LACIS_NBODY_OK;
}

/* Copies wait for the tree, and for walks of the time before on the device that they go to. */
template <class P, class R> static lacis_nbody_status exchange(Several<P, R> *s)
{
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_CUDA(s, cudaStreamWaitEvent(s->copies[k], s->ready[k]));
        for (int j = 0; j < s->devices; j++) {
            if (j == k) continue;
            NBODY_CUDA(s, cudaStreamWaitEvent(s->copies[k], s->walked[j]));
            NBODY_TRY(send_part(s, k, j));
        }
        NBODY_CUDA(s, cudaEventRecord(s->sent[k], s->copies[k]));
    }
    for (int j = 0; j < s->devices; j++) {
        const cudaStream_t stream = s->parts.of[j]->machine.stream;
        NBODY_CUDA(s, cudaSetDevice(s->device[j]));
        for (int k = 0; k < s->devices; k++)
            if (k != j) NBODY_CUDA(s, cudaStreamWaitEvent(stream, s->sent[k]));
        const bool quad = s->parts.of[j]->rule.order == LACIS_NBODY_QUADRUPOLE;
        NBODY_CUDA(s, parts_top(s->parts.joint[j], s->parts.at, s->devices, quad, stream));
    }
    return LACIS_NBODY_OK;
}

/* All trees as device k's part walks them. */
template <class P, class R> static Tree<P, R> tree_of(const Several<P, R> *s, int k)
{
    const Joint<P, R> &j = s->parts.joint[k];
    Tree<P, R> tree = s->parts.of[k]->tree;
    tree.n = s->of[0]->n;
    tree.body = j.body;
    tree.cells = nullptr;
    tree.room = s->parts.at[s->devices].cell;
    tree.link = j.link;
    tree.centre = j.centre;
    if (tree.cube != nullptr) tree.cube = j.cube;
    if (tree.quad != nullptr) tree.quad = j.quad;
    tree.rota = nullptr;
    return tree;
}

template <class P, class R> static lacis_nbody_status walk_all(Several<P, R> *s, bool old, bool potential)
{
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->parts.of[k];
        const Tree<P, R> tree = tree_of(s, k);
        const Forces<R> forces = {p->sum, potential, p->counted};
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(
            walk_part(&p->machine, &p->rule, &tree, s->parts.at[k].body, p->n, old ? p->old : nullptr, &forces));
        NBODY_CUDA(s, cudaEventRecord(s->walked[k], p->machine.stream));
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status rough_sizes(Several<P, R> *s)
{
    NBODY_TRY(walk_all(s, false, false));
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_sizes(s->parts.of[k]));
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status mark(Several<P, R> *s, int phase)
{
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    return system_mark(s->parts.of[0], phase);
}

template <class P, class R> lacis_nbody_status parts_field(Several<P, R> *s, bool potential)
{
    const System<P, R> *const one = s->parts.of[0];
    const bool relative = one->rule.opening == LACIS_NBODY_RELATIVE && one->g > 0;
    NBODY_TRY(mark(s, 1));
    NBODY_TRY(grow(s, relative && one->sized));
    NBODY_TRY(exchange(s));
    NBODY_TRY(mark(s, 2));
    if (relative && !one->sized) NBODY_TRY(rough_sizes(s));
    NBODY_TRY(walk_all(s, relative, potential));
    for (int k = 0; k < s->devices; k++) {
        System<P, R> *const p = s->parts.of[k];
        p->given = false;
        p->known = p->sized = true;
        p->phi_known = potential;
        p->done.evaluations++;
    }
    NBODY_TRY(mark(s, 3));
    return system_add_times(s->parts.of[0]);
}

#define OF_TYPE(P, R)                                                                                                \
    template uint64_t parts_bytes<P, R>(const lacis_nbody_start *, int);                                             \
    template lacis_nbody_status parts_make(Several<P, R> *, int, const lacis_nbody_gpu_start *);                     \
    template void parts_free(Several<P, R> *, int);                                                                  \
    template lacis_nbody_status parts_spread(Several<P, R> *);                                                       \
    template lacis_nbody_status parts_gather(Several<P, R> *);                                                       \
    template lacis_nbody_status parts_field(Several<P, R> *, bool);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
