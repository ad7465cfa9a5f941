/* SPDX-License-Identifier: Apache-2.0
 *
 * One system on several devices, as the files gpu_several*.cu and gpu_parts*.cu share it: in parts where that is
 * asked for (gpu_parts.h); else with all bodies and the tree over them on each device, which walks for its share and
 * sends the sums to the others, so that all move all bodies alike and bits do not depend on when parts were cut.
 */
#ifndef LACIS_NBODY_GPU_SEVERAL_H
#define LACIS_NBODY_GPU_SEVERAL_H

#include "nbody/gpu_parts.h"

struct lacis_nbody_gpus {
    lacis_nbody_type type;
    int devices;
    int device[LACIS_NBODY_GPUS_MOST];
    bool alone; /* device 0's system may have gone on by itself: the others, or the parts, need its rows */
    bool cut;   /* in parts; of[0] is then the whole, where it is asked for */
    int since;  /* steps since parts were cut */
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
    Parts<P, R> parts;
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

/* gpu_parts.cu: part k on its device. */
template <class P, class R>
lacis_nbody_status parts_make(Several<P, R> *s, int k, const lacis_nbody_gpu_start *start);
template <class P, class R> void parts_free(Several<P, R> *s, int k);
/* Rows of the whole to the parts, in the order of a tree, where it may have gone on alone; and back. */
template <class P, class R> lacis_nbody_status parts_spread(Several<P, R> *s);
template <class P, class R> lacis_nbody_status parts_gather(Several<P, R> *s);
/* Fields of rows that have been moved. */
template <class P, class R> lacis_nbody_status parts_field(Several<P, R> *s, bool potential);

/* gpu_several_field.cu: rows and flags of device 0's system to the others', where it may have gone on alone. */
template <class P, class R> lacis_nbody_status several_spread(Several<P, R> *s);
/* Fields of rows that all devices have moved. */
template <class P, class R> lacis_nbody_status several_field(Several<P, R> *s, bool potential);

} // namespace nbody

#endif
