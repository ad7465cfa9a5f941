/* SPDX-License-Identifier: Apache-2.0
 *
 * One system on several devices, as the files gpu_several*.cu share it: all bodies and the tree over them are on each
 * device, which walks for its share and sends the sums to the others, so that all move all bodies alike.
 */
#ifndef LACIS_NBODY_GPU_SEVERAL_H
#define LACIS_NBODY_GPU_SEVERAL_H

#include "nbody/gpu_system.h"

struct lacis_nbody_gpus {
    lacis_nbody_type type;
    int devices;
    int device[LACIS_NBODY_GPUS_MOST];
    bool alone; /* device 0's system may have gone on by itself: the others need its rows */
    int cuda_error;
    lacis_nbody_host host; /* device 0's, to ask whether to stop */
    cudaStream_t copies[LACIS_NBODY_GPUS_MOST];
    cudaEvent_t ready[LACIS_NBODY_GPUS_MOST];  /* a device's sums may be overwritten by others' */
    cudaEvent_t walked[LACIS_NBODY_GPUS_MOST]; /* the last piece of a device */
    cudaEvent_t sent[LACIS_NBODY_GPUS_MOST];   /* a device's sums to all others */
};

namespace nbody
{

template <class P, class R> struct Several : lacis_nbody_gpus {
    System<P, R> *of[LACIS_NBODY_GPUS_MOST];
};

/* Rows that are moved by nothing: keys and boxes alone. */
template <class P, class R> Motion<P, R> still(const System<P, R> *s)
{
    return {factor_of(s), 0, 0, 0, false, false};
}

/* What of a system is known, to one that has got its rows. */
inline void take_flags(lacis_nbody_gpu *to, const lacis_nbody_gpu *from)
{
    to->known = from->known;
    to->phi_known = from->phi_known;
    to->sized = from->sized;
    to->given = from->given;
    to->grown = to->closes = false;
}

/* gpu_several_field.cu: rows and flags of device 0's system to the others', where it may have gone on alone. */
template <class P, class R> lacis_nbody_status several_spread(Several<P, R> *s);
/* Fields of rows that all devices have moved. */
template <class P, class R> lacis_nbody_status several_field(Several<P, R> *s, bool potential);

} // namespace nbody

#endif
