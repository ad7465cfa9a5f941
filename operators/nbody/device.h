/* SPDX-License-Identifier: Apache-2.0
 *
 * What gpu_cost.c and gpu_calibrate.c share: names of the GPU's figures in the profile.
 */
#ifndef LACIS_OPERATORS_NBODY_DEVICE_H
#define LACIS_OPERATORS_NBODY_DEVICE_H

#include "nbody/work.h"

#ifdef LACIS_GPU_KERNELS
#include "nbody/gpu.h"

#define LACIS_NBODY_LOAD_FIGURE "nbody.gpu.load_seconds" /* of the first use of the kernels */
const char *lacis_nbody_gpu_figure(lacis_nbody_type type, int what);
/* Of a step's making of a tree: seconds of a small one, and nanoseconds a body more. */
const char *lacis_nbody_gpu_call_figure(lacis_nbody_way way);
const char *lacis_nbody_gpu_build_figure(lacis_nbody_way way);
/* The GPUs that share a call, at most LACIS_NBODY_GPUS_MOST; gpu[0] is known. start: others are started where that is
 * worth it. */
int lacis_nbody_gpus_for(const lacis_nbody_work *work, lacis_nbody_way way, bool start, lacis_gpu **gpu);
#endif

#endif
