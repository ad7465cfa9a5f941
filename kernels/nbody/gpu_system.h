/* SPDX-License-Identifier: Apache-2.0
 *
 * The system of bodies on a device, as the files gpu_system*.cu share it.
 *
 * Bodies lie in rows: row i of `body`, `moving`, `soft`, `size` and `sum` is one body. A tree puts them in another
 * order, its own: then `at` and `at_soft` are the tree's arrays, `sum` is in the tree's order, and `from` says in
 * which row the rest of each body lies, until the next kernel that moves bodies brings all rows into that order.
 *
 * `sum` is what the forces' kernels gave (times 1); accelerations are `factor` times that.
 */
#ifndef LACIS_NBODY_GPU_SYSTEM_H
#define LACIS_NBODY_GPU_SYSTEM_H

#include "nbody/gpu_direct.h"
#include "nbody/gpu_inside.h"
#include "nbody/gpu_motion.cuh"
#include "nbody/gpu_walk.h"

enum { NBODY_MARKS = 4 }; /* events between phases */

struct lacis_nbody_gpu {
    nbody::Machine machine;
    lacis_nbody_type type;
    int64_t n;
    double g, soften;
    lacis_nbody_rule rule;
    bool timed, own; /* own: softening of each body */
    int cuda_error;
    bool known;     /* sums are those of the positions */
    bool phi_known; /* with their potentials */
    bool sized;     /* sums are those of some positions: |a| of RELATIVE */
    bool given;     /* sums came as accelerations: factor is 1 */
    bool grown;     /* the tree is that of the positions */
    bool closes;    /* a kick of `close` is still to be done */
    double close;
    lacis_nbody_counts done; /* but what is counted on the device */
    double *counted;         /* there: p2p, m2p, expanded, visits */
    cudaEvent_t event[NBODY_MARKS];
};

namespace nbody
{

template <class P, class R> struct System : lacis_nbody_gpu {
    const Four<P> *at;
    const R *at_soft;
    const uint32_t *from; /* NULL: rows */
    Four<P> *body, *body_spare;
    Moving<P> *moving, *moving_spare;
    R *soft, *soft_spare;
    R *size, *old; /* |sum|, by row and by the tree's order */
    Four<R> *sum, *sum_spare;
    uint32_t *order;
    void *slots; /* DIRECT */
    uint64_t slots_bytes;
    Builder<P, R> *builder;
    Tree<P, R> tree;
    Rota rota;
    void *keys, *ranks; /* canonical order */
    int turn;           /* of the two counts in ranks */
    bool ranked;        /* rows have come in that order */
};

#define NBODY_TRY(call)                                                                                              \
    do {                                                                                                             \
        const lacis_nbody_status status_ = (call);                                                                   \
        if (status_ != LACIS_NBODY_OK) return status_;                                                               \
    } while (0)
#define NBODY_CUDA(system, call)                                                                                     \
    do {                                                                                                             \
        const cudaError_t error_ = (call);                                                                           \
        if (error_ == cudaSuccess) break;                                                                            \
        (system)->cuda_error = (int)error_;                                                                          \
        return LACIS_NBODY_FAILED;                                                                                   \
    } while (0)

/* Memory of the system's own, where it has none yet. */
template <class T> lacis_nbody_status take(lacis_nbody_gpu *s, T **block, uint64_t count)
{
    if (*block != nullptr) return LACIS_NBODY_OK;
    const uint64_t bytes = count * sizeof(T);
    *block = static_cast<T *>(s->machine.host.alloc(s->machine.host.context, bytes > 0 ? bytes : 1));
    return *block != nullptr ? LACIS_NBODY_OK : LACIS_NBODY_NO_MEMORY;
}
template <class T> void give(lacis_nbody_gpu *s, T **block)
{
    if (*block != nullptr) s->machine.host.free(s->machine.host.context, *block);
    *block = nullptr;
}
static inline unsigned blocks_of(int64_t n, int threads)
{
    return (unsigned)((n + threads - 1) / threads);
}
template <class P, class R> R factor_of(const System<P, R> *s)
{
    return s->given ? R(1) : (R)s->g;
}

/* --- gpu_system.cu: a system of start.n bodies; where it has no columns rows are left as they are */
lacis_nbody_status system_new(const lacis_nbody_gpu_start *start, lacis_nbody_gpu **out, int *cuda_error);

/* --- gpu_system_move.cu: launches alone */

template <class P, class R> lacis_nbody_status system_load(System<P, R> *s, const lacis_nbody_start *start);
/* Rows in the order of `at`, and kick, kick and drift; sizes where the rule wants them. */
template <class P, class R> lacis_nbody_status system_move(System<P, R> *s, const Motion<P, R> &how);
/* The same with kicks that are still to be done, so that velocities are those of the positions. */
template <class P, class R> lacis_nbody_status system_settle(System<P, R> *s);
/* Rows as `order` says. sums: these, too. */
template <class P, class R> lacis_nbody_status system_reorder(System<P, R> *s, bool sums);
/* old from sizes, sums as well, as the tree's order says. */
template <class P, class R> lacis_nbody_status system_follow(System<P, R> *s, bool sizes, bool sums);
/* old from sums in the tree's order. */
template <class P, class R> lacis_nbody_status system_sizes(System<P, R> *s);
/* Potentials out of sum_spare. */
template <class P, class R> lacis_nbody_status system_potentials(System<P, R> *s);
template <class P, class R> lacis_nbody_status system_write(System<P, R> *s, const lacis_nbody_columns *into);
template <class P, class R>
lacis_nbody_status system_write_points(System<P, R> *s, int64_t n, const Four<R> *sum, void *ax, void *ay, void *az,
                                       void *phi);

/* --- gpu_system_order.cu: `order` such that bodies come in the same order however they were given */
template <class P, class R> lacis_nbody_status system_canonical(System<P, R> *s);
uint64_t system_canonical_bytes(int64_t n);
/* Memory to put rows into that order as they are moved. */
template <class P, class R> lacis_nbody_status system_ranked(System<P, R> *s, Ranked<P> *out);
uint64_t system_ranked_bytes(int64_t n);
/* Bodies that are alike, which lie behind each other, get the sums of the first of them: which of them is which
 * depends on how they were given. */
template <class P, class R> lacis_nbody_status system_level(System<P, R> *s, Four<R> *sum);

/* --- gpu_system_field.cu */
/* Where times are asked for: phases 0 moves, 1 builds, 2 sums, 3 is the end; then they are added up, which waits. */
lacis_nbody_status system_mark(lacis_nbody_gpu *s, int phase);
lacis_nbody_status system_add_times(lacis_nbody_gpu *s);
/* The tree of rows that have been moved. */
template <class P, class R> lacis_nbody_status system_grow(System<P, R> *s);
/* In two: the host waits in the second only. */
template <class P, class R> lacis_nbody_status system_grow_begin(System<P, R> *s);
template <class P, class R> lacis_nbody_status system_grow_end(System<P, R> *s);
template <class P, class R> lacis_nbody_status system_field(System<P, R> *s, bool potential);
template <class P, class R>
lacis_nbody_status system_steps(System<P, R> *s, int64_t steps, double dt, bool potential);
template <class P, class R>
lacis_nbody_status system_points(System<P, R> *s, int64_t n, const P *x, const P *y, const P *z, Four<R> *out);

/* --- gpu_system_figures.cu, gpu_system_certify.cu */
template <class P, class R> lacis_nbody_status system_measure(System<P, R> *s, lacis_nbody_figures *out);
template <class P, class R>
lacis_nbody_status system_certify(System<P, R> *s, int64_t sample, lacis_nbody_errors *out);

#define NBODY_OF_TYPES(MACRO) MACRO(float, float) MACRO(double, double) MACRO(double, float)

} // namespace nbody

#endif
