/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_nbody_gpu_*: systems made and freed, and calls handed to what is of the system's type.
 */
#include "nbody/gpu_system.h"

#include <new>
#include <stdlib.h>
#include <string.h>

namespace nbody
{

/* --- memory at most, as bytes() says it ------------------------------------------------------------------------- */

template <class P, class R> static uint64_t rows_bytes(uint64_t n, bool own)
{
    return n * (sizeof(Four<P>) + sizeof(Moving<P>) + sizeof(Four<R>) + (own ? sizeof(R) : 0));
}

template <class P, class R> static uint64_t bytes_of(const lacis_nbody_start *start)
{
    const uint64_t n = (uint64_t)start->n, small = 65536; /* rounding of some twenty arrays, and figures' pieces */
    const bool own = start->eps != nullptr, direct = start->rule.way == LACIS_NBODY_DIRECT;
    /* Twice for orders and for potentials alone; sizes, old ones and the order itself. */
    const uint64_t rows = 2 * rows_bytes<P, R>(n, own) + n * (2 * sizeof(R) + sizeof(uint32_t)) + n / 8 + small;
    const uint64_t keys = start->rule.deterministic && direct && n > 0
                              ? system_canonical_bytes(start->n) + system_ranked_bytes(start->n)
                              : 0;
    if (direct) return rows + keys + pairs_bytes<R>(pairs_of<R>(start->n, 132, 0, 0));
    return rows + builder_bytes<P, R>(start->n, own) + walk_bytes<P, R>(&start->rule, start->n) +
           rota_words(start->n) * sizeof(uint32_t);
}

/* --- made and freed --------------------------------------------------------------------------------------------- */

template <class P, class R> static void clear(System<P, R> *s)
{
    give(s, &s->body);
    give(s, &s->body_spare);
    give(s, &s->moving);
    give(s, &s->moving_spare);
    give(s, &s->soft);
    give(s, &s->soft_spare);
    give(s, &s->size);
    give(s, &s->old);
    give(s, &s->sum);
    give(s, &s->sum_spare);
    give(s, &s->order);
    give(s, &s->slots);
    give(s, &s->keys);
    give(s, &s->ranks);
    give(s, &s->rota.block);
    give(s, &s->counted);
    if (s->builder) builder_free(&s->machine, s->builder);
    for (cudaEvent_t event : s->event)
        if (event) cudaEventDestroy(event);
    free(s);
}

static lacis_nbody_status begin(lacis_nbody_gpu *s, const lacis_nbody_gpu_start *start)
{
    int device = 0;
    s->type = start->start.type;
    s->n = start->start.n;
    s->g = start->start.g;
    s->soften = start->start.soften;
    s->own = start->start.eps != nullptr;
    s->timed = start->timed;
    s->known = s->sized = s->given = start->start.ax != nullptr;
    s->machine = {(cudaStream_t)start->stream, start->pinned, 0, start->start.host, &s->cuda_error};
    NBODY_CUDA(s, cudaGetDevice(&device));
    NBODY_CUDA(s, cudaDeviceGetAttribute(&s->machine.processors, cudaDevAttrMultiProcessorCount, device));
    for (int k = 0; s->timed && k < NBODY_MARKS; k++)
        NBODY_CUDA(s, cudaEventCreate(&s->event[k]));
    NBODY_TRY(take(s, &s->counted, 4));
    NBODY_CUDA(s, cudaMemsetAsync(s->counted, 0, 4 * sizeof *s->counted, s->machine.stream));
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status fill(System<P, R> *s, const lacis_nbody_gpu_start *start)
{
    NBODY_TRY(begin(s, start));
    NBODY_TRY(take(s, &s->body, (uint64_t)s->n));
    NBODY_TRY(take(s, &s->moving, (uint64_t)s->n));
    NBODY_TRY(take(s, &s->sum, (uint64_t)s->n));
    if (s->own) NBODY_TRY(take(s, &s->soft, (uint64_t)s->n));
    s->rule = start->start.rule;
    lacis_nbody_gpu_settle(&start->start, &s->rule);
    return start->start.x ? system_load(s, &start->start) : LACIS_NBODY_OK;
}

template <class P, class R>
static lacis_nbody_status make(const lacis_nbody_gpu_start *start, lacis_nbody_gpu **out, int *cuda_error)
{
    void *block = calloc(1, sizeof(System<P, R>));
    if (!block) return LACIS_NBODY_NO_MEMORY;
    System<P, R> *s = new (block) System<P, R>();
    const lacis_nbody_status status = fill(s, start);
    if (status == LACIS_NBODY_OK) {
        *out = s;
        return status;
    }
    *cuda_error = s->cuda_error;
    clear(s);
    return status;
}

lacis_nbody_status system_new(const lacis_nbody_gpu_start *start, lacis_nbody_gpu **out, int *cuda_error)
{
    *out = nullptr;
    *cuda_error = 0;
    switch (start->start.type) {
    case LACIS_NBODY_F32:
        return make<float, float>(start, out, cuda_error);
    case LACIS_NBODY_F64:
        return make<double, double>(start, out, cuda_error);
    default:
        return make<double, float>(start, out, cuda_error);
    }
}

} // namespace nbody

using namespace nbody;

/* DO(s): with s the system as what it is. */
#define OF_TYPE(system, DO)                                                                                          \
    do {                                                                                                             \
        switch ((system)->type) {                                                                                    \
        case LACIS_NBODY_F32: {                                                                                      \
            System<float, float> *const s = static_cast<System<float, float> *>(system);                             \
            DO;                                                                                                      \
        } break;                                                                                                     \
        case LACIS_NBODY_F64: {                                                                                      \
            System<double, double> *const s = static_cast<System<double, double> *>(system);                         \
            DO;                                                                                                      \
        } break;                                                                                                     \
        default: {                                                                                                   \
            System<double, float> *const s = static_cast<System<double, float> *>(system);                           \
            DO;                                                                                                      \
        }                                                                                                            \
        }                                                                                                            \
    } while (0)

const char *lacis_nbody_gpu_refuses(const lacis_nbody_start *start)
{
    if (start->n >= INT64_C(1) << 31) return "it has 2^31 bodies or more";
    return nullptr;
}

void lacis_nbody_gpu_settle(const lacis_nbody_start *start, lacis_nbody_rule *rule)
{
    walk_settle(start->type, start->n, rule);
}

lacis_nbody_status lacis_nbody_gpu_new(const lacis_nbody_gpu_start *start, lacis_nbody_gpu **out, int *cuda_error)
{
    *out = nullptr;
    *cuda_error = 0;
    if (lacis_nbody_gpu_refuses(&start->start)) return LACIS_NBODY_UNSUPPORTED;
    return system_new(start, out, cuda_error);
}

void lacis_nbody_gpu_free(lacis_nbody_gpu *system)
{
    if (!system) return;
    OF_TYPE(system, clear(s));
}

int lacis_nbody_gpu_error_code(const lacis_nbody_gpu *system)
{
    return system->cuda_error;
}

void lacis_nbody_gpu_set_rule(lacis_nbody_gpu *system, const lacis_nbody_rule *rule)
{
    lacis_nbody_start start = {};
    start.type = system->type;
    start.n = system->n;
    system->rule = *rule;
    lacis_nbody_gpu_settle(&start, &system->rule);
    system->known = system->phi_known = system->grown = false;
}

lacis_nbody_status lacis_nbody_gpu_field(lacis_nbody_gpu *system, bool potential)
{
    OF_TYPE(system, return system_field(s, potential));
    return LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_gpu_steps(lacis_nbody_gpu *system, int64_t steps, double dt, bool potential)
{
    OF_TYPE(system, return system_steps(s, steps, dt, potential));
    return LACIS_NBODY_OK;
}

template <class P, class R>
static lacis_nbody_status points(System<P, R> *s, int64_t n, const void *x, const void *y, const void *z, void *ax,
                                 void *ay, void *az, void *phi)
{
    Four<R> *sum = nullptr;
    NBODY_TRY(take(s, &sum, (uint64_t)n));
    lacis_nbody_status status =
        system_points(s, n, static_cast<const P *>(x), static_cast<const P *>(y), static_cast<const P *>(z), sum);
    if (status == LACIS_NBODY_OK) status = system_write_points(s, n, sum, ax, ay, az, phi);
    give(s, &sum);
    return status;
}

lacis_nbody_status lacis_nbody_gpu_points(lacis_nbody_gpu *system, int64_t n, const void *x, const void *y,
                                          const void *z, void *ax, void *ay, void *az, void *phi)
{
    if (n >= INT64_C(1) << 31) return LACIS_NBODY_UNSUPPORTED;
    OF_TYPE(system, return points(s, n, x, y, z, ax, ay, az, phi));
    return LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_gpu_measure(lacis_nbody_gpu *system, lacis_nbody_figures *out)
{
    OF_TYPE(system, return system_measure(s, out));
    return LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_gpu_certify(lacis_nbody_gpu *system, int64_t sample, lacis_nbody_errors *out)
{
    OF_TYPE(system, return system_certify(s, sample, out));
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status read(System<P, R> *s, const lacis_nbody_columns *into)
{
    if (into->ax || into->ay || into->az || into->phi) NBODY_TRY(system_field(s, into->phi != nullptr));
    if (into->vx || into->vy || into->vz) NBODY_TRY(system_settle(s));
    return system_write(s, into);
}

lacis_nbody_status lacis_nbody_gpu_read(lacis_nbody_gpu *system, const lacis_nbody_columns *into)
{
    OF_TYPE(system, return read(s, into));
    return LACIS_NBODY_OK;
}

/* What the device has counted; zeros where a call fails, for figures are no reason to end a run. */
static void counted_there(lacis_nbody_gpu *s, double *four, bool reset)
{
    double *const pinned = static_cast<double *>(s->machine.pinned);
    cudaError_t error =
        cudaMemcpyAsync(pinned, s->counted, 4 * sizeof *pinned, cudaMemcpyDeviceToHost, s->machine.stream);
    if (error == cudaSuccess && reset) error = cudaMemsetAsync(s->counted, 0, 4 * sizeof *pinned, s->machine.stream);
    if (error == cudaSuccess) error = cudaStreamSynchronize(s->machine.stream);
    memset(four, 0, 4 * sizeof *four);
    if (error == cudaSuccess) memcpy(four, pinned, 4 * sizeof *four);
}

void lacis_nbody_gpu_counted(lacis_nbody_gpu *system, lacis_nbody_counts *out, bool reset)
{
    double there[4];
    counted_there(system, there, reset);
    *out = system->done;
    out->p2p += there[0];
    out->m2p += there[1];
    out->expanded += there[2];
    out->visits += there[3];

    OF_TYPE(
        system, if (s->builder) { (void)builder_figures(&s->machine, s->builder, out); });
    if (system->rule.way != LACIS_NBODY_DIRECT && system->rule.group > 0)
        out->groups = (system->n + system->rule.group - 1) / system->rule.group;
    if (reset) system->done = {};
}

uint64_t lacis_nbody_gpu_bytes(const lacis_nbody_start *start)
{
    if (lacis_nbody_gpu_refuses(start)) return 0;
    switch (start->type) {
    case LACIS_NBODY_F32:
        return bytes_of<float, float>(start);
    case LACIS_NBODY_F64:
        return bytes_of<double, double>(start);
    default:
        return bytes_of<double, float>(start);
    }
}
