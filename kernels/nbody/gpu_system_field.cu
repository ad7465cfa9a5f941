/* SPDX-License-Identifier: Apache-2.0
 *
 * The field of a system and its steps. The order of a step: kick, drift (one kernel, with the kick that ended the
 * step before), tree, forces. All pairs do what follows the forces in the kernel that adds these up.
 */
#include "nbody/gpu_system.h"

namespace nbody
{

static bool is_direct(const lacis_nbody_gpu *s)
{
    return s->rule.way == LACIS_NBODY_DIRECT;
}

/* --- times of phases ------------------------------------------------------------------------------------------- */

lacis_nbody_status system_mark(lacis_nbody_gpu *s, int phase)
{
    if (s->timed) NBODY_CUDA(s, cudaEventRecord(s->event[phase], s->machine.stream));
    return LACIS_NBODY_OK;
}
lacis_nbody_status system_add_times(lacis_nbody_gpu *s)
{
    double *to[NBODY_MARKS - 1] = {&s->done.move_seconds, &s->done.build_seconds, &s->done.force_seconds};
    if (!s->timed) return LACIS_NBODY_OK;
    NBODY_CUDA(s, cudaEventSynchronize(s->event[NBODY_MARKS - 1]));
    for (int phase = 0; phase < NBODY_MARKS - 1; phase++) {
        float ms = 0;
        NBODY_CUDA(s, cudaEventElapsedTime(&ms, s->event[phase], s->event[phase + 1]));
        *to[phase] += 1e-3 * ms;
    }
    return LACIS_NBODY_OK;
}

/* --- one evaluation -------------------------------------------------------------------------------------------- */

template <class P, class R> lacis_nbody_status system_grow_begin(System<P, R> *s)
{
    NBODY_TRY(take(s, &s->order, (uint64_t)s->n));
    if (!s->builder) NBODY_TRY(builder_new(&s->machine, s->n, s->own, &s->builder));
    return build_begin(&s->machine, s->builder, &s->rule, s->body, s->own ? s->soft : nullptr,
                       (R)(s->soften * s->soften), s->order, &s->tree);
}

template <class P, class R> lacis_nbody_status system_grow_end(System<P, R> *s)
{
    NBODY_TRY(build_end(&s->machine, s->builder, &s->rule, s->body, s->own ? s->soft : nullptr,
                        (R)(s->soften * s->soften), s->order));
    NBODY_TRY(take(s, &s->rota.block, rota_words(s->n)));
    s->tree.old = nullptr;
    s->tree.rota = &s->rota;
    s->at = s->tree.body;
    s->at_soft = s->tree.soft;
    s->from = s->order;
    s->grown = true;
    return LACIS_NBODY_OK;
}

template <class P, class R> lacis_nbody_status system_grow(System<P, R> *s)
{
    NBODY_TRY(system_grow_begin(s));
    return system_grow_end(s);
}

template <class P, class R>
static lacis_nbody_status walk_tree(System<P, R> *s, const Targets<P> &targets, Four<R> *out, bool potential)
{
    const Forces<R> forces = {out, potential, s->counted};
    return walk(&s->machine, &s->rule, &s->tree, &targets, &forces);
}

/* Sums of the tree's bodies by a walk. */
template <class P, class R> static lacis_nbody_status walk_bodies(System<P, R> *s, Four<R> *sum, bool potential)
{
    const Targets<P> bodies = {s->n, nullptr, nullptr, nullptr};
    const lacis_nbody_status status = walk_tree(s, bodies, sum, potential);
    s->tree.old = nullptr; /* what else walks this tree has no time before */
    NBODY_TRY(status);
    return s->rule.deterministic ? system_level(s, sum) : LACIS_NBODY_OK;
}

/* Rows have been moved. keep: sums hold, and go with the bodies; new ones come into sum_spare. Where RELATIVE knows
 * no time before a first walk tells it: a step that begins with a rough field would begin with a wrong energy. */
template <class P, class R> static lacis_nbody_status tree_field(System<P, R> *s, bool potential, bool keep)
{
    const bool relative = s->rule.opening == LACIS_NBODY_RELATIVE && s->g > 0;
    NBODY_TRY(system_grow(s));
    NBODY_TRY(system_follow(s, relative && s->sized, keep));
    NBODY_TRY(system_mark(s, 2));
    if (relative && !s->sized) {
        NBODY_TRY(walk_bodies(s, s->sum, false));
        NBODY_TRY(system_sizes(s));
    }
    if (relative) s->tree.old = s->old;
    if (keep) NBODY_TRY(take(s, &s->sum_spare, (uint64_t)s->n));
    return walk_bodies(s, keep ? s->sum_spare : s->sum, potential);
}

template <class P, class R>
static lacis_nbody_status direct_field(System<P, R> *s, bool potential, bool keep, const Motion<P, R> &how)
{
    const Pairs pairs = pairs_of<R>(s->n, s->machine.processors, 0, 0);
    const uint64_t bytes = pairs_bytes<R>(pairs);
    const R common = (R)(s->soften * s->soften);
    if (s->rule.deterministic && !s->ranked) {
        NBODY_TRY(system_canonical(s));
        NBODY_TRY(system_reorder(s, keep));
    }
    s->ranked = false;
    if (s->slots_bytes < bytes) give(s, &s->slots);
    s->slots_bytes = bytes;
    unsigned char *slots = static_cast<unsigned char *>(s->slots);
    NBODY_TRY(take(s, &slots, bytes));
    s->slots = slots;
    if (keep) NBODY_TRY(take(s, &s->sum_spare, (uint64_t)s->n));
    NBODY_TRY(system_mark(s, 2));
    const bool ranks = s->rule.deterministic && how.opens && !keep && !s->own && pairs.supers == 1;
    const bool moves = ranks || ((how.closes || how.opens) && !s->rule.deterministic);
    Four<R> *const sum = keep ? s->sum_spare : s->sum;
    const Sources<P, R> sources = {s->body, s->own ? s->soft : nullptr, common};
    Finish<P, R> finish = {sum, s->body, moves ? s->moving : nullptr, how, {}};
    if (ranks) NBODY_TRY(system_ranked(s, &finish.ranked));
    NBODY_CUDA(s, pairs_run(s->machine.stream, pairs, sources, potential, s->slots, finish));
    s->done.p2p += (double)s->n * (double)(s->n - 1);
    s->ranked = ranks;
    if (!s->rule.deterministic || ranks) return LACIS_NBODY_OK;
    NBODY_TRY(system_level(s, sum));
    return keep ? LACIS_NBODY_OK : system_move(s, how);
}

/* The field at rows that have been moved. how: what all pairs do with it at once. */
template <class P, class R>
static lacis_nbody_status evaluate(System<P, R> *s, bool potential, bool keep, const Motion<P, R> &how)
{
    NBODY_TRY(system_mark(s, 1));
    if (s->n > 0) NBODY_TRY(is_direct(s) ? direct_field(s, potential, keep, how) : tree_field(s, potential, keep));
    if (keep)
        NBODY_TRY(system_potentials(s));
    else
        s->given = false;
    NBODY_TRY(system_mark(s, 3));
    s->done.evaluations++;
    s->known = s->sized = true;
    s->phi_known = potential;
    return system_add_times(s);
}

template <class P, class R> lacis_nbody_status system_field(System<P, R> *s, bool potential)
{
    if (s->known && (s->phi_known || !potential)) return LACIS_NBODY_OK;
    const Motion<P, R> none = {factor_of(s), 0, 0, 0, false, false};
    NBODY_TRY(system_settle(s));
    NBODY_TRY(system_mark(s, 0));
    NBODY_TRY(system_move(s, none));
    return evaluate(s, potential, s->known, none);
}

/* --- steps ----------------------------------------------------------------------------------------------------- */

/* Whether to stop: behind the next step, for all pairs are then at the beginning of another one. */
static bool asked(const lacis_nbody_gpu *s)
{
    const lacis_nbody_host *host = &s->machine.host;
    return host->cancelled && host->cancelled(host->context);
}

/* Tree: the kick that ends a step is left to the next one's beginning, or to who asks for velocities. */
template <class P, class R> static lacis_nbody_status tree_step(System<P, R> *s, double dt, bool potential)
{
    const Motion<P, R> how = {factor_of(s), (P)s->close, (P)(dt / 2), (P)dt, s->closes, true};
    NBODY_TRY(system_mark(s, 0));
    NBODY_TRY(system_move(s, how));
    s->known = s->phi_known = s->closes = false;
    NBODY_TRY(evaluate(s, potential, false, how));
    s->closes = true;
    s->close = dt / 2;
    return LACIS_NBODY_OK;
}

/* All pairs: `first` finds sums, not kicked with yet; the others find bodies at the end of their drift. */
template <class P, class R>
static lacis_nbody_status direct_step(System<P, R> *s, double dt, bool potential, bool first, bool last)
{
    const P half = (P)(dt / 2), whole = (P)dt;
    NBODY_TRY(system_mark(s, 0));
    if (first) NBODY_TRY(system_move(s, Motion<P, R>{factor_of(s), 0, half, whole, false, true}));
    s->grown = false;
    s->known = s->phi_known = false;
    return evaluate(s, potential, false, Motion<P, R>{(R)s->g, half, half, whole, true, !last});
}

template <class P, class R> lacis_nbody_status system_steps(System<P, R> *s, int64_t steps, double dt, bool potential)
{
    if (steps <= 0) return system_field(s, potential);
    NBODY_TRY(system_field(s, false));
    if (is_direct(s)) NBODY_TRY(system_settle(s));
    for (int64_t k = 0; k < steps; k++) {
        const bool stop = k + 1 < steps && asked(s), last = stop || k + 1 == steps;
        if (is_direct(s))
            NBODY_TRY(direct_step(s, dt, potential && last, k == 0, last));
        else
            NBODY_TRY(tree_step(s, dt, potential && last));
        if (stop) return LACIS_NBODY_CANCELLED;
    }
    return LACIS_NBODY_OK;
}

/* --- free points ----------------------------------------------------------------------------------------------- */

template <class P, class R> static lacis_nbody_status have_tree(System<P, R> *s)
{
    const Motion<P, R> none = {factor_of(s), 0, 0, 0, false, false};
    if (s->grown) return LACIS_NBODY_OK;
    NBODY_TRY(system_settle(s));
    NBODY_TRY(system_move(s, none));
    NBODY_TRY(system_grow(s));
    return system_follow(s, false, s->sized);
}

template <class P, class R>
lacis_nbody_status system_points(System<P, R> *s, int64_t n, const P *x, const P *y, const P *z, Four<R> *out)
{
    if (n == 0) return LACIS_NBODY_OK;
    if (!is_direct(s) && s->n > 0) {
        const Targets<P> targets = {n, x, y, z};
        NBODY_TRY(have_tree(s));
        return walk_tree(s, targets, out, true);
    }
    void *const context = s->machine.host.context;
    void *slots = s->machine.host.alloc(context, marks_bytes<R>(n, s->machine.processors));
    if (!slots) return LACIS_NBODY_NO_MEMORY;
    const Sources<P, R> sources = {s->at, s->own ? s->at_soft : nullptr, (R)(s->soften * s->soften)};
    const Marks<P, R> marks = {n, x, y, z, nullptr};
    s->cuda_error = (int)marks_run(s->machine.stream, s->machine.processors, s->n, sources, marks, false, slots, out);
    s->machine.host.free(context, slots);
    s->done.p2p += (double)s->n * (double)n;
    return s->cuda_error == (int)cudaSuccess ? LACIS_NBODY_OK : LACIS_NBODY_FAILED;
}

#define OF_TYPE(P, R)                                                                                                \
    template lacis_nbody_status system_grow(System<P, R> *);                                                         \
    template lacis_nbody_status system_grow_begin(System<P, R> *);                                                   \
    template lacis_nbody_status system_grow_end(System<P, R> *);                                                     \
    template lacis_nbody_status system_field(System<P, R> *, bool);                                                  \
    template lacis_nbody_status system_steps(System<P, R> *, int64_t, double, bool);                                 \
    template lacis_nbody_status system_points(System<P, R> *, int64_t, const P *, const P *, const P *, Four<R> *);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
