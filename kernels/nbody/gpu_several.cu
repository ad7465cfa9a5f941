/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_nbody_gpus_*: one system on several devices of this process.
 */
#include "nbody/gpu_several.h"

#include <new>
#include <stdlib.h>

namespace nbody
{

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
        if (s->of[k]) (void)cudaStreamSynchronize(s->of[k]->machine.stream);
    }
    for (int k = s->devices - 1; k >= 0; k--) {
        (void)cudaSetDevice(s->device[k]);
        lacis_nbody_gpu_free(s->of[k]);
        if (s->copies[k]) (void)cudaStreamDestroy(s->copies[k]);
        for (cudaEvent_t event : {s->ready[k], s->walked[k], s->sent[k]})
            if (event) (void)cudaEventDestroy(event);
    }
    free(s);
}

/* Device k's system: the first has the columns, the others get their rows from it. */
template <class P, class R>
static lacis_nbody_status make_one(Several<P, R> *s, int k, const lacis_nbody_gpu_start *starts)
{
    lacis_nbody_gpu_start start = starts[k];
    lacis_nbody_gpu *one = nullptr;
    start.start = starts->start;
    start.start.host = starts[k].start.host;
    if (k > 0) start.start.x = start.start.ax = nullptr;
    if (k > 0) start.timed = false;
    NBODY_CUDA(s, cudaSetDevice(s->device[k]));
    NBODY_CUDA(s, cudaStreamCreateWithFlags(&s->copies[k], cudaStreamNonBlocking));
    for (cudaEvent_t *event : {&s->ready[k], &s->walked[k], &s->sent[k]})
        NBODY_CUDA(s, cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    NBODY_TRY(system_new(&start, &one, &s->cuda_error));
    s->of[k] = static_cast<System<P, R> *>(one);
    return LACIS_NBODY_OK;
}

template <class P, class R>
static lacis_nbody_status fill(Several<P, R> *s, const lacis_nbody_gpu_start *starts, const int *device, int devices)
{
    s->type = starts->start.type;
    s->host = starts->start.host;
    s->alone = true;
    s->devices = devices;
    for (int k = 0; k < devices; k++)
        s->device[k] = device[k];
    befriend(s);
    for (int k = 0; k < devices; k++)
        NBODY_TRY(make_one(s, k, starts));
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

/* CUDA's error of whichever system failed. */
template <class P, class R> static lacis_nbody_status told(Several<P, R> *s, lacis_nbody_status status)
{
    for (int k = 0; k < s->devices && status == LACIS_NBODY_FAILED && s->cuda_error == 0; k++)
        s->cuda_error = s->of[k]->cuda_error;
    (void)cudaSetDevice(s->device[0]);
    return status;
}

/* All move alike; motion(system): how. */
template <class P, class R, class M> static lacis_nbody_status move_all(Several<P, R> *s, M motion)
{
    NBODY_CUDA(s, cudaSetDevice(s->device[0]));
    NBODY_TRY(system_mark(s->of[0], 0));
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_move(s->of[k], motion(s->of[k])));
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status field(Several<P, R> *s, bool potential)
{
    const System<P, R> *const first = s->of[0];
    if (first->known && (first->phi_known || !potential)) return LACIS_NBODY_OK;
    if (first->known) { /* potentials alone: the whole does that by itself */
        s->alone = true;
        NBODY_CUDA(s, cudaSetDevice(s->device[0]));
        return system_field(s->of[0], potential);
    }
    NBODY_TRY(several_spread(s));
    for (int k = 0; k < s->devices; k++) {
        NBODY_CUDA(s, cudaSetDevice(s->device[k]));
        NBODY_TRY(system_settle(s->of[k]));
    }
    NBODY_TRY(move_all(s, [](const System<P, R> *p) { return Motion<P, R>{factor_of(p), 0, 0, 0, false, false}; }));
    return several_field(s, potential);
}

template <class P, class R> static lacis_nbody_status step(Several<P, R> *s, double dt, bool potential)
{
    NBODY_TRY(several_spread(s));
    NBODY_TRY(move_all(s, [dt](const System<P, R> *p) {
        return Motion<P, R>{factor_of(p), (P)p->close, (P)(dt / 2), (P)dt, p->closes, true};
    }));
    for (int k = 0; k < s->devices; k++)
        s->of[k]->known = s->of[k]->phi_known = s->of[k]->closes = false;
    NBODY_TRY(several_field(s, potential));
    for (int k = 0; k < s->devices; k++) {
        s->of[k]->closes = true;
        s->of[k]->close = dt / 2;
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_status steps(Several<P, R> *s, int64_t many, double dt, bool potential)
{
    const lacis_nbody_host *host = &s->host;
    NBODY_TRY(field(s, potential && many <= 0));
    for (int64_t k = 0; k < many; k++) {
        NBODY_TRY(step(s, dt, potential && k + 1 == many));
        if (k + 1 < many && host->cancelled && host->cancelled(host->context)) return LACIS_NBODY_CANCELLED;
    }
    return LACIS_NBODY_OK;
}

template <class P, class R> static lacis_nbody_gpu *whole(Several<P, R> *s, bool potential)
{
    const lacis_nbody_status status = told(s, field(s, potential));
    s->alone = true;
    return status == LACIS_NBODY_OK ? s->of[0] : nullptr;
}

template <class P, class R> static void set_rule(Several<P, R> *s, const lacis_nbody_rule *rule)
{
    for (int k = 0; k < s->devices; k++)
        lacis_nbody_gpu_set_rule(s->of[k], rule);
}

/* All have one tree, and each its share of the sums. */
template <class P, class R> static void counted(Several<P, R> *s, lacis_nbody_counts *out, bool reset)
{
    lacis_nbody_counts one;
    lacis_nbody_gpu_counted(s->of[0], out, reset);
    for (int k = 1; k < s->devices; k++) {
        (void)cudaSetDevice(s->device[k]);
        lacis_nbody_gpu_counted(s->of[k], &one, reset);
        out->p2p += one.p2p;
        out->m2p += one.m2p;
        out->expanded += one.expanded;
        out->visits += one.visits;
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

int lacis_nbody_gpu_current(void)
{
    int device = 0;
    return cudaGetDevice(&device) == cudaSuccess ? device : 0;
}

lacis_nbody_status lacis_nbody_gpus_new(const lacis_nbody_gpu_start *starts, const int *device, int devices,
                                        lacis_nbody_gpus **out, int *cuda_error)
{
    const lacis_nbody_start *start = &starts->start;
    *out = nullptr;
    *cuda_error = 0;
    if (lacis_nbody_gpu_refuses(start) || devices < 1 || devices > LACIS_NBODY_GPUS_MOST || start->n < 1 ||
        start->eps || start->rule.way != LACIS_NBODY_TREE)
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

void lacis_nbody_gpus_set_rule(lacis_nbody_gpus *systems, const lacis_nbody_rule *rule)
{
    OF_TYPE(systems, set_rule(s, rule));
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
