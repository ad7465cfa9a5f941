/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies on the move: from the caller's columns into rows, kick and drift, rows into another order, and back into
 * columns. Every kernel here goes once over all bodies.
 */
#include "nbody/gpu_system.h"

namespace nbody
{

enum { THREADS = 256 };

#define LAUNCHED(s) NBODY_CUDA(s, cudaGetLastError())

/* --- columns into rows ----------------------------------------------------------------------------------------- */

template <class P> struct Columns {
    const P *m, *x, *y, *z, *vx, *vy, *vz, *eps, *ax, *ay, *az;
};

template <class P, class R>
__global__ void __launch_bounds__(THREADS)
    load_kernel(uint32_t n, const Columns<P> c, Four<P> *body, Moving<P> *moving, R *soft, Four<R> *sum)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    store(body + i, Four<P>{c.x[i], c.y[i], c.z[i], c.m[i]});
    moving[i] = Moving<P>{c.vx ? c.vx[i] : P(0), c.vy ? c.vy[i] : P(0), c.vz ? c.vz[i] : P(0), i};
    if (c.eps) soft[i] = (R)(c.eps[i] * c.eps[i]);
    if (c.ax) store(sum + i, Four<R>{(R)c.ax[i], (R)c.ay[i], (R)c.az[i], R(0)});
}

template <class P, class R> lacis_nbody_status system_load(System<P, R> *s, const lacis_nbody_start *f)
{
    const auto column = [](const void *p) { return static_cast<const P *>(p); };
    const Columns<P> c = {column(f->m),  column(f->x),   column(f->y),  column(f->z),  column(f->vx), column(f->vy),
                          column(f->vz), column(f->eps), column(f->ax), column(f->ay), column(f->az)};
    s->at = s->body;
    s->at_soft = s->soft;
    s->from = nullptr;
    if (s->n == 0) return LACIS_NBODY_OK;
    load_kernel<P, R><<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>((uint32_t)s->n, c, s->body,
                                                                                   s->moving, s->soft, s->sum);
    LAUNCHED(s);
    return LACIS_NBODY_OK;
}

/* --- kick and drift -------------------------------------------------------------------------------------------- */

template <class P, class R> struct Move {
    uint32_t n;
    Motion<P, R> how;
    const Four<P> *at;
    const R *at_soft; /* NULL: none */
    const uint32_t *from;
    const Moving<P> *moving_in;
    const Four<R> *sum; /* NULL: not looked at */
    Four<P> *body;
    Moving<P> *moving;
    R *soft, *size; /* size NULL: not wanted */
    R per_g;
};

template <class P, class R> __global__ void __launch_bounds__(THREADS) move_kernel(const Move<P, R> m)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= m.n) return;
    Four<P> body = load(m.at + i);
    Moving<P> v = m.moving_in[m.from ? m.from[i] : i];
    if (m.sum) {
        const Four<R> sum = load(m.sum + i);
        advance(m.how, sum, &body, &v);
        if (m.size) m.size[i] = modulus(m.how.factor * sum.x, m.how.factor * sum.y, m.how.factor * sum.z) * m.per_g;
    }
    store(m.body + i, body);
    m.moving[i] = v;
    if (m.at_soft) m.soft[i] = m.at_soft[i];
}

template <class P, class R> static bool wants_sizes(const System<P, R> *s)
{
    return s->rule.way != LACIS_NBODY_DIRECT && s->rule.opening == LACIS_NBODY_RELATIVE && s->sized && s->g > 0;
}

template <class P, class R> lacis_nbody_status system_move(System<P, R> *s, const Motion<P, R> &how)
{
    if (s->n == 0) return LACIS_NBODY_OK;
    const bool sizes = wants_sizes(s), kicks = how.closes || how.opens;
    if (s->at == s->body && !s->from && !sizes && !kicks) return LACIS_NBODY_OK;
    if (sizes) NBODY_TRY(take(s, &s->size, (uint64_t)s->n));
    if (s->from) NBODY_TRY(take(s, &s->moving_spare, (uint64_t)s->n));
    Move<P, R> m = {(uint32_t)s->n, how,       s->at,   s->own ? s->at_soft : nullptr,
                    s->from,        s->moving, nullptr, s->body,
                    s->moving,      s->soft,   nullptr, R(1 / s->g)};
    if (s->from) m.moving = s->moving_spare;
    if (sizes || kicks) m.sum = s->sum;
    if (sizes) m.size = s->size;
    move_kernel<P, R><<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>(m);
    LAUNCHED(s);
    if (s->from) {
        s->moving_spare = s->moving;
        s->moving = m.moving;
    }
    s->at = s->body;
    s->at_soft = s->soft;
    s->from = nullptr;
    if (how.opens) s->grown = false;
    return LACIS_NBODY_OK;
}

template <class P, class R> lacis_nbody_status system_settle(System<P, R> *s)
{
    if (!s->closes) return LACIS_NBODY_OK;
    const Motion<P, R> how = {factor_of(s), (P)s->close, 0, 0, true, false};
    NBODY_TRY(system_move(s, how));
    s->closes = false;
    return LACIS_NBODY_OK;
}

/* --- other orders ---------------------------------------------------------------------------------------------- */

template <class P, class R>
__global__ void __launch_bounds__(THREADS) reorder_kernel(Move<P, R> m, const Four<R> *sum, Four<R> *sum_out)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= m.n) return;
    const uint32_t row = m.from[i];
    store(m.body + i, load(m.at + row));
    m.moving[i] = m.moving_in[row];
    if (m.at_soft) m.soft[i] = m.at_soft[row];
    if (sum) store(sum_out + i, load(sum + row));
}

template <class T> static void change(T **a, T **b)
{
    T *const c = *a;
    *a = *b;
    *b = c;
}

template <class P, class R> lacis_nbody_status system_reorder(System<P, R> *s, bool sums)
{
    if (s->n == 0) return LACIS_NBODY_OK;
    NBODY_TRY(take(s, &s->body_spare, (uint64_t)s->n));
    NBODY_TRY(take(s, &s->moving_spare, (uint64_t)s->n));
    if (s->own) NBODY_TRY(take(s, &s->soft_spare, (uint64_t)s->n));
    if (sums) NBODY_TRY(take(s, &s->sum_spare, (uint64_t)s->n));
    const Move<P, R> m = {(uint32_t)s->n,  {},
                          s->body,         s->own ? s->soft : nullptr,
                          s->order,        s->moving,
                          nullptr,         s->body_spare,
                          s->moving_spare, s->soft_spare,
                          nullptr,         R(0)};
    reorder_kernel<P, R>
        <<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>(m, sums ? s->sum : nullptr, s->sum_spare);
    LAUNCHED(s);
    change(&s->body, &s->body_spare);
    change(&s->moving, &s->moving_spare);
    change(&s->soft, &s->soft_spare);
    if (sums) change(&s->sum, &s->sum_spare);
    s->at = s->body;
    s->at_soft = s->soft;
    return LACIS_NBODY_OK;
}

template <class R>
__global__ void __launch_bounds__(THREADS)
    follow_kernel(uint32_t n, const uint32_t *order, const R *size, R *old, const Four<R> *sum, Four<R> *sum_out)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    const uint32_t row = order[i];
    if (size) old[i] = size[row];
    if (sum) store(sum_out + i, load(sum + row));
}

template <class P, class R> lacis_nbody_status system_follow(System<P, R> *s, bool sizes, bool sums)
{
    if (s->n == 0 || (!sizes && !sums)) return LACIS_NBODY_OK;
    if (sizes) NBODY_TRY(take(s, &s->old, (uint64_t)s->n));
    if (sums) NBODY_TRY(take(s, &s->sum_spare, (uint64_t)s->n));
    follow_kernel<R><<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>(
        (uint32_t)s->n, s->order, sizes ? s->size : nullptr, s->old, sums ? s->sum : nullptr, s->sum_spare);
    LAUNCHED(s);
    if (sums) change(&s->sum, &s->sum_spare);
    return LACIS_NBODY_OK;
}

template <class R>
__global__ void __launch_bounds__(THREADS) sizes_kernel(uint32_t n, const Four<R> *sum, R factor, R per_g, R *old)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= n) return;
    const Four<R> a = load(sum + i);
    old[i] = modulus(factor * a.x, factor * a.y, factor * a.z) * per_g;
}

template <class P, class R> lacis_nbody_status system_sizes(System<P, R> *s)
{
    if (s->n == 0) return LACIS_NBODY_OK;
    NBODY_TRY(take(s, &s->old, (uint64_t)s->n));
    sizes_kernel<R><<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>((uint32_t)s->n, s->sum, (R)s->g,
                                                                                 R(1 / s->g), s->old);
    LAUNCHED(s);
    return LACIS_NBODY_OK;
}

template <class R>
__global__ void __launch_bounds__(THREADS) phi_kernel(uint32_t n, const Four<R> *from, Four<R> *sum)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) sum[i].w = from[i].w;
}

template <class P, class R> lacis_nbody_status system_potentials(System<P, R> *s)
{
    if (s->n == 0) return LACIS_NBODY_OK;
    phi_kernel<R><<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>((uint32_t)s->n, s->sum_spare, s->sum);
    LAUNCHED(s);
    return LACIS_NBODY_OK;
}

/* --- back into columns ----------------------------------------------------------------------------------------- */

template <class P, class R> struct Write {
    uint32_t n;
    const Four<P> *at;
    const Moving<P> *moving;
    const uint32_t *from;
    const Four<R> *sum;
    R factor, g;
    P *x, *y, *z, *vx, *vy, *vz, *ax, *ay, *az, *phi;
};

template <class P, class R> __device__ void write_field(const Write<P, R> &w, uint32_t to, const Four<R> &sum)
{
    if (w.ax) w.ax[to] = w.factor * sum.x;
    if (w.ay) w.ay[to] = w.factor * sum.y;
    if (w.az) w.az[to] = w.factor * sum.z;
    if (w.phi) w.phi[to] = -w.g * sum.w;
}

template <class P, class R> __global__ void __launch_bounds__(THREADS) write_kernel(const Write<P, R> w)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i >= w.n) return;
    const Moving<P> v = w.moving[w.from ? w.from[i] : i];
    const Four<P> b = load(w.at + i);
    if (w.x) w.x[v.number] = b.x;
    if (w.y) w.y[v.number] = b.y;
    if (w.z) w.z[v.number] = b.z;
    if (w.vx) w.vx[v.number] = v.x;
    if (w.vy) w.vy[v.number] = v.y;
    if (w.vz) w.vz[v.number] = v.z;
    if (w.sum) write_field(w, v.number, load(w.sum + i));
}

template <class P, class R> __global__ void __launch_bounds__(THREADS) write_points_kernel(const Write<P, R> w)
{
    const uint32_t i = blockIdx.x * THREADS + threadIdx.x;
    if (i < w.n) write_field(w, i, load(w.sum + i));
}

template <class P, class R> lacis_nbody_status system_write(System<P, R> *s, const lacis_nbody_columns *to)
{
    const auto column = [](void *p) { return static_cast<P *>(p); };
    if (s->n == 0) return LACIS_NBODY_OK;
    const bool field = to->ax || to->ay || to->az || to->phi;
    const Write<P, R> w = {(uint32_t)s->n, s->at,          s->moving,      s->from,        field ? s->sum : nullptr,
                           factor_of(s),   (R)s->g,        column(to->x),  column(to->y),  column(to->z),
                           column(to->vx), column(to->vy), column(to->vz), column(to->ax), column(to->ay),
                           column(to->az), column(to->phi)};
    write_kernel<P, R><<<blocks_of(s->n, THREADS), THREADS, 0, s->machine.stream>>>(w);
    LAUNCHED(s);
    return LACIS_NBODY_OK;
}

template <class P, class R>
lacis_nbody_status system_write_points(System<P, R> *s, int64_t n, const Four<R> *sum, void *ax, void *ay, void *az,
                                       void *phi)
{
    const auto column = [](void *p) { return static_cast<P *>(p); };
    if (n == 0) return LACIS_NBODY_OK;
    Write<P, R> w = {};
    w.n = (uint32_t)n;
    w.sum = sum;
    w.factor = w.g = (R)s->g;
    w.ax = column(ax);
    w.ay = column(ay);
    w.az = column(az);
    w.phi = column(phi);
    write_points_kernel<P, R><<<blocks_of(n, THREADS), THREADS, 0, s->machine.stream>>>(w);
    LAUNCHED(s);
    return LACIS_NBODY_OK;
}

#define OF_TYPE(P, R)                                                                                                \
    template lacis_nbody_status system_load(System<P, R> *, const lacis_nbody_start *);                              \
    template lacis_nbody_status system_move(System<P, R> *, const Motion<P, R> &);                                   \
    template lacis_nbody_status system_settle(System<P, R> *);                                                       \
    template lacis_nbody_status system_reorder(System<P, R> *, bool);                                                \
    template lacis_nbody_status system_follow(System<P, R> *, bool, bool);                                           \
    template lacis_nbody_status system_sizes(System<P, R> *);                                                        \
    template lacis_nbody_status system_potentials(System<P, R> *);                                                   \
    template lacis_nbody_status system_write(System<P, R> *, const lacis_nbody_columns *);                           \
    template lacis_nbody_status system_write_points(System<P, R> *, int64_t, const Four<R> *, void *, void *,        \
                                                    void *, void *);
NBODY_OF_TYPES(OF_TYPE)

} // namespace nbody
