/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_nbody_gpus_*: one system on several devices of this process.
 */
#include "nbody/gpu_several.h"

#include <new>
#include <stdlib.h>

namespace nbody
{

enum { ANEW = 64 }; /* steps after which bodies are dealt anew: they have left the places of those they were with */

/* --- made and freed --------------------------------------------------------------------------------------------- */

/* Lets devices copy each other's memory by the shortest way; where that cannot be, copies take another. */
static void befriend(const lacis_nbody_gpus *s)
{
    for (int a = 0; a < s->devices; a++)
        for (int b = 0; b < s->devices; b++) {
            int can = 0;
            if (s->device[a] == s->device[b]) continue;
            if (cudaDeviceCanAccessPeer(&can, s->device[a], s->device[b]) != cudaSuccess || !can) continue;
            if (cudaSetDevice(s->device[a]) == cudaSuccess) (void)cudaDeviceEnablePeerAccess(s->device[b], 0);
        }
    (void)cudaGetLastError(); /* it may have been so before */
}

template <class P, class R> static void clear(Several<P, R> *s)
{
    for (int k = 0; k < s->devices; k++) {
        (void)cudaSetDevice(s->device[k]);
        if (s->copies[k]) (void)cudaStreamSynchronize(s->copies[k]);
        if (s->part[k]) (void)cudaStreamSynchronize(s->part[k]->machine.stream);
    }
    for (int k = 0; k < s->devices; k++) {
        (void)cudaSetDevice(s->device[k]);
        for (Foreign<P, R> &f : s->foreign[k])
            if (f.block) s->start[k].start.host.free(s->start[k].start.host.context, f.block);
        lacis_nbody_gpu_free(s->part[k]);
        if (s->copies[k]) (void)cudaStreamDestroy(s->copies[k]);
        for (cudaEvent_t event : {s->built[k], s->fetched[k], s->walked[k]})
            if (event) (void)cudaEventDestroy(event);
    }
    (void)cudaSetDevice(s->device[0]);
    lacis_nbody_gpu_free(s->whole);
    free(s);
}

template <class P, class R> static lacis_nbody_status make_part(Several<P, R> *s, int k, const lacis_nbody_start *all)
{
    lacis_nbody_gpu_start start = s->start[k];
    lacis_nbody_gpu *part = nullptr;
    NBODY_CUDA(s, cudaSetDevice(s->device[k]));
    NBODY_CUDA(s, cudaStreamCreateWithFlags(&s->copies[k], cudaStreamNonBlocking));
    for (cudaEvent_t *event : {&s->built[k], &s->fetched[k], &s->walked[k]})
        NBODY_CUDA(s, cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    const lacis_nbody_host host = start.start.host;
    start.start = *all;
    start.start.host = host;
    start.start.n = s->first[k + 1] - s->first[k];
    start.start.x = start.start.ax = nullptr;
    start.timed = false;
    NBODY_TRY(system_new(&start, &part, &s->cuda_error));
    s->part[k] = static_cast<System<P, R> *>(part);
    return LACIS_NBODY_OK;
}

template <class P, class R>
static lacis_nbody_status fill(Several<P, R> *s, const lacis_nbody_gpu_start *starts, const int *device, int devices)
{
    lacis_nbody_gpu *whole = nullptr;
    s->type = starts->start.type;
    s->devices = devices;
    for (int k = 0; k < devices; k++) {
        s->device[k] = device[k];
        s->start[k] = starts[k];
        s->first[k + 1] = starts->start.n * (k + 1) / devices;
    }
    befriend(s);
    NBODY_CUDA(s, cudaSetDevice(device[0]));
    NBODY_TRY(system_new(starts, &whole, &s->cuda_error));
    s->whole = static_cast<System<P, R> *>(whole);
    for (int k = 0; k < devices; k++)
        NBODY_TRY(make_part(s, k, &starts->start));
    NBODY_CUDA(s, cudaSetDevice(device[0]));
    return LACIS_NBODY_OK;
}

template <class P, class R>
static lacis_nbody_status make(const lacis_nbody_gpu_start *starts, const int *device, int devices,
                               lacis_nbody_gpus **out, int *cuda_error)
{
    void *block = calloc(1, sizeof(Several<P, R>));
    if (!block) return LACIS_NBODY_NO_MEMORY;
    Several<P, R> *s = new (block) Several<P, R>();
    const lacis_nbody_status status = fill(s, starts, device, devices);
    if (status == LACIS_NBODY_OK) {
        *out = s;
        return status;
    }
    *cuda_error = s->cuda_error;
    clear(s);
    return status;
}

/* --- motion ----------------------------------------------------------------------------------------------------- */

/* CUDA's error of whichever part failed. */
template <class P, class R> static lacis_nbody_status told(Several<P, R> *s, lacis_nbody_status status)
{
    for (int k = 0; k < s->devices && status == LACIS_NBODY_FAILED && s->cuda_error == 0; k++)
        s->cuda_error = s->part[k]->cuda_error;
    if (status == LACIS_NBODY_FAILED && s->cuda_error == 0) s->cuda_error = s->whole->cuda_error;
    (void)cudaSetDevice(s->device[0]);
    return status;
}

/* All parts move; motion(part): how. */
template <class P, class R, class M> static lacis_nbody_status move_all(Several<P, R> *s, M motion)
{
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_move(s->part[k], motion(s->part[k])));
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status field(Several<P, R> *s, bool potential)
{
    const bool keep = s->dealt ? s->part[0]->known : s->whole->known;
    const bool phi = s->dealt ? s->part[0]->phi_known : s->whole->phi_known;
    if (keep && (phi || !potential)) return LACIS_NBODY_OK;
    if (keep) { /* potentials alone: the whole does that by itself */
        NBODY_TRY(several_gather(s));
        return system_field(s->whole, potential);
    }
    NBODY_TRY(several_deal(s));
    NBODY_TRY(move_all(s, [](const System<P, R> *p) { return Motion<P, R>{factor_of(p), 0, 0, 0, false, false}; }));
    return several_field(s, potential);
}

template <class P, class R> static lacis_nbody_status step(Several<P, R> *s, double dt, bool potential)
{
    if (s->age >= ANEW) NBODY_TRY(several_gather(s));
    NBODY_TRY(several_deal(s));
    s->age++;
    NBODY_TRY(move_all(s, [dt](const System<P, R> *p) {
        return Motion<P, R>{factor_of(p), (P)p->close, (P)(dt / 2), (P)dt, p->closes, true};
    }));
    for (int k = 0; k < s->devices; k++)
        s->part[k]->known = s->part[k]->phi_known = s->part[k]->closes = false;
    NBODY_TRY(several_field(s, potential));
    for (int k = 0; k < s->devices; k++) {
        s->part[k]->closes = true;
        s->part[k]->close = dt / 2;
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status steps(Several<P, R> *s, int64_t many, double dt, bool potential)
{
    const lacis_nbody_host *host = &s->start[0].start.host;
    NBODY_TRY(field(s, potential && many <= 0));
    for (int64_t k = 0; k < many; k++) {
        NBODY_TRY(step(s, dt, potential && k + 1 == many));
        if (k + 1 < many && host->cancelled && host->cancelled(host->context)) return LACIS_NBODY_CANCELLED;
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_gpu *whole(Several<P, R> *s, bool potential)
{
    lacis_nbody_status status = field(s, potential);
    if (status == LACIS_NBODY_OK) status = several_gather(s);
    return told(s, status) == LACIS_NBODY_OK ? s->whole : nullptr;
}

static void add_counts(lacis_nbody_counts *to, const lacis_nbody_counts *more)
{
    to->p2p += more->p2p;
    to->m2p += more->m2p;
    to->expanded += more->expanded;
    to->visits += more->visits;
    to->cells += more->cells;
    to->leaves += more->leaves;
    to->groups += more->groups;
    to->levels = more->levels > to->levels ? more->levels : to->levels;
}

/* Those of the whole are trees that bodies are dealt by, and potentials asked for by themselves. */
template <class P, class R> static void counted(Several<P, R> *s, lacis_nbody_counts *out, bool reset)
{
    lacis_nbody_counts one;
    lacis_nbody_gpu_counted(s->whole, out, reset);
    out->cells = out->leaves = out->levels = out->groups = 0;
    for (int k = 0; k < s->devices; k++) {
        (void)cudaSetDevice(s->device[k]);
        lacis_nbody_gpu_counted(s->part[k], &one, reset);
        if (k == 0) out->evaluations += one.evaluations;
        add_counts(out, &one);
    }
    (void)cudaSetDevice(s->device[0]);
}

} // namespace nbody

using namespace nbody;

/* DO with s the systems as what they are. */
#define OF_TYPE(systems, DO)                                                                                         \
    do {                                                                                                             \
        switch ((systems)->type) {                                                                                   \
        case LACIS_NBODY_F32: {                                                                                      \
            Several<float, float> *const s = static_cast<Several<float, float> *>(systems);                          \
            DO;                                                                                                      \
        } break;                                                                                                     \
        case LACIS_NBODY_F64: {                                                                                      \
            Several<double, double> *const s = static_cast<Several<double, double> *>(systems);                      \
            DO;                                                                                                      \
        } break;                                                                                                     \
        default: {                                                                                                   \
            Several<double, float> *const s = static_cast<Several<double, float> *>(systems);                        \
            DO;                                                                                                      \
        }                                                                                                            \
        }                                                                                                            \
    } while (0)

lacis_nbody_status lacis_nbody_gpus_new(const lacis_nbody_gpu_start *starts, const int *device, int devices,
                                        lacis_nbody_gpus **out, int *cuda_error)
{
    const lacis_nbody_start *start = &starts->start;
    *out = nullptr;
    *cuda_error = 0;
    if (lacis_nbody_gpu_refuses(start) || devices < 1 || devices > LACIS_NBODY_GPUS_MOST || start->n < devices ||
        start->eps || start->rule.way == LACIS_NBODY_DIRECT)
        return LACIS_NBODY_UNSUPPORTED;
    switch (start->type) {
    case LACIS_NBODY_F32:
        return make<float, float>(starts, device, devices, out, cuda_error);
    case LACIS_NBODY_F64:
        return make<double, double>(starts, device, devices, out, cuda_error);
    default:
        return make<double, float>(starts, device, devices, out, cuda_error);
    }
}

void lacis_nbody_gpus_free(lacis_nbody_gpus *systems)
{
    if (!systems) return;
    OF_TYPE(systems, clear(s));
}

int lacis_nbody_gpus_error_code(const lacis_nbody_gpus *systems)
{
    return systems->cuda_error;
}

lacis_nbody_status lacis_nbody_gpus_field(lacis_nbody_gpus *systems, bool potential)
{
    OF_TYPE(systems, return told(s, field(s, potential)));
    return LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_gpus_steps(lacis_nbody_gpus *systems, int64_t many, double dt, bool potential)
{
    OF_TYPE(systems, return told(s, steps(s, many, dt, potential)));
    return LACIS_NBODY_OK;
}

lacis_nbody_gpu *lacis_nbody_gpus_whole(lacis_nbody_gpus *systems, bool potential)
{
    OF_TYPE(systems, return whole(s, potential));
    return nullptr;
}

void lacis_nbody_gpus_counted(lacis_nbody_gpus *systems, lacis_nbody_counts *out, bool reset)
{
    OF_TYPE(systems, counted(s, out, reset));
}
