/* SPDX-License-Identifier: Apache-2.0
 *
 * One grid on several devices, as gpu_several*.cu share it.
 */
#ifndef LACIS_SWEEP_GPU_SEVERAL_INSIDE_H
#define LACIS_SWEEP_GPU_SEVERAL_INSIDE_H

#include "sweep/gpu_clock.h"
#include "sweep/gpu_several.h"
#include "sweep/gpu_strip.h"

namespace sweep
{

/* The end of a slab at a neighbour's. */
struct Border {
    int neighbour;           /* -1: none */
    cudaStream_t stream;     /* what is computed first runs here */
    cudaEvent_t taken, sent; /* what it needs of the slab; its rows at the neighbour */
    lacis_sweep_gpu *strip;  /* NULL: the slab's own rows are sent */
    void *mail;              /* of the neighbour's strip: rows for the halo here; on this device */
};

struct Slab {
    int device;
    lacis_sweep_gpu *system;
    cudaEvent_t whole, done; /* the present level with its halos; without */
    Border border[2];        /* low, high */
    Clock clock;
    lacis_sweep_host host;
};

} // namespace sweep

struct lacis_sweep_gpus {
    int devices, axis; /* that is cut */
    bool apart, strips;
    lacis_sweep_cut cut;
    sweep::Slab slab[LACIS_SWEEP_GPUS_MOST];
    cudaEvent_t mark[2]; /* of steps under way, on the first device */
    int cuda_error;
    double copied;
};

namespace sweep
{

/* --- gpu_several_rows.cu */
/* Present rows of all fields to another system's present level, or next one; on the stream. */
lacis_sweep_status copy_rows(lacis_sweep_gpus *s, const lacis_sweep_gpu *from, int from_device, int from_level,
                             int64_t from_first, lacis_sweep_gpu *to, int to_device, int to_level, int64_t to_first,
                             int64_t count, cudaStream_t stream);
/* Of coefficients. */
lacis_sweep_status copy_coefficients(lacis_sweep_gpus *s, const lacis_sweep_gpu *from, int from_device,
                                     int64_t from_first, lacis_sweep_gpu *to, int to_device, int64_t to_first,
                                     int64_t count, cudaStream_t stream);
/* Of all fields, to or from a block of their own, field after field. */
lacis_sweep_status post_rows(lacis_sweep_gpus *s, const lacis_sweep_gpu *from, int from_device, int64_t first,
                             int64_t count, void *mail, int mail_device, cudaStream_t stream);
lacis_sweep_status fetch_rows(lacis_sweep_gpus *s, lacis_sweep_gpu *to, int64_t first, int64_t count,
                              const void *mail, int device, cudaStream_t stream);
uint64_t mail_bytes(const lacis_sweep_start *slab, const lacis_sweep_cut *cut);
/* Halos of both sides from the neighbours' present levels, once all have done `done`. */
lacis_sweep_status pull_halos(lacis_sweep_gpus *s);

/* --- gpu_several_steps.cu */
lacis_sweep_status several_steps(lacis_sweep_gpus *s, int64_t steps, lacis_sweep_change *change);
/* What a strip begins a cycle with: present rows of the slab, on the border's stream. */
lacis_sweep_status load_strip(lacis_sweep_gpus *s, int k, int side);

} // namespace sweep

#endif
