/* SPDX-License-Identifier: Apache-2.0
 *
 * One system on several devices, as the files gpu_several*.cu share it: a system that is the whole, on device 0, and
 * one for the part of each device. Bodies are in the parts from deal to gather.
 */
#ifndef LACIS_NBODY_GPU_SEVERAL_H
#define LACIS_NBODY_GPU_SEVERAL_H

#include "nbody/gpu_system.h"

struct lacis_nbody_gpus {
    lacis_nbody_type type;
    int devices;
    int device[LACIS_NBODY_GPUS_MOST];
    lacis_nbody_gpu_start start[LACIS_NBODY_GPUS_MOST]; /* without columns */
    int64_t first[LACIS_NBODY_GPUS_MOST + 1];           /* rows of the whole */
    int64_t age;                                        /* steps since bodies were dealt */
    bool dealt;
    int cuda_error;
    cudaStream_t copies[LACIS_NBODY_GPUS_MOST];
    cudaEvent_t built[LACIS_NBODY_GPUS_MOST];   /* a part's tree */
    cudaEvent_t fetched[LACIS_NBODY_GPUS_MOST]; /* by a device: the others' trees */
    cudaEvent_t walked[LACIS_NBODY_GPUS_MOST];  /* by a device: the others' trees, which it may overwrite then */
};

namespace nbody
{

/* Another device's tree, copied. */
template <class P, class R> struct Foreign {
    Tree<P, R> tree;
    void *block;
    uint64_t bytes;
};

template <class P, class R> struct Several : lacis_nbody_gpus {
    System<P, R> *whole, *part[LACIS_NBODY_GPUS_MOST];
    Foreign<P, R> foreign[LACIS_NBODY_GPUS_MOST][LACIS_NBODY_GPUS_MOST]; /* [a][b]: on a that of b */
};

/* gpu_several_deal.cu */
template <class P, class R> lacis_nbody_status several_deal(Several<P, R> *s);
template <class P, class R> lacis_nbody_status several_gather(Several<P, R> *s);
/* gpu_several_trees.cu: fields of parts whose rows have been moved. */
template <class P, class R> lacis_nbody_status several_field(Several<P, R> *s, bool potential);

} // namespace nbody

#endif
