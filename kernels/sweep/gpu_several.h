/* SPDX-License-Identifier: Apache-2.0
 *
 * One grid on several devices of this process, in slabs along its last axis (parts.h): each device has a slab and
 * `deep` steps' halo of its neighbours'. Bits are one device's. What lies at borders is computed first, on streams of
 * its own, and copied from device to device while the rest is computed.
 *
 *   deep 1: the border rows of a step, then its inside; the rows go straight into the neighbours' halos.
 *   deeper: each border is a small system besides (a strip, halo deep, with as much again of neighbours' around it),
 *   which takes the same steps; its rows wait at the neighbour until the slab's own steps are done. So the slab's
 *   steps are one device's: several in a pass.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_SEVERAL_H
#define LACIS_KERNELS_SWEEP_GPU_SEVERAL_H

#include "sweep/gpu.h"
#include "sweep/parts.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LACIS_SWEEP_GPUS_MOST = 8 };
/* part[k]: slab k's (lacis_sweep_cut_start) on device[k], an ordinal of CUDA's, which may come more than once:
 * stream, pinned memory, host, kernels, arrays and edges' values there. Calls leave device[0] current. */
typedef struct lacis_sweep_gpus_start {
    int devices;
    int device[LACIS_SWEEP_GPUS_MOST];
    lacis_sweep_gpu_start part[LACIS_SWEEP_GPUS_MOST];
    lacis_sweep_cut cut;
    bool apart;    /* nothing overlaps: slabs' steps, then copies. To compare with */
    int64_t timed; /* exchanges to be timed, for a timeline; 0: none */
} lacis_sweep_gpus_start;
typedef struct lacis_sweep_gpus lacis_sweep_gpus;

int lacis_sweep_gpu_current(void); /* the ordinal of this thread's device */
lacis_sweep_status lacis_sweep_gpus_new(const lacis_sweep_gpus_start *start, lacis_sweep_gpus **out, int *cuda_error);
void lacis_sweep_gpus_free(lacis_sweep_gpus *systems); /* NULL is fine */
int lacis_sweep_gpus_error_code(const lacis_sweep_gpus *systems);
lacis_sweep_status lacis_sweep_gpus_steps(lacis_sweep_gpus *systems, int64_t steps, lacis_sweep_change *change);
/* Slab k's system, its device current: for lacis_sweep_gpu_read. */
lacis_sweep_gpu *lacis_sweep_gpus_slab(lacis_sweep_gpus *systems, int k);
void lacis_sweep_gpus_counted(lacis_sweep_gpus *systems, lacis_sweep_counts *out, bool reset); /* of all */
/* Bytes copied between devices so far. */
double lacis_sweep_gpus_copied(const lacis_sweep_gpus *systems);
/* What exchanges so far took of slab k, by its device's clock: `centre`, its own steps, and `wait`, from there until
 * its halos were there: exposed communication. line: room for as many as were to be timed. *lines: how many are. */
lacis_sweep_status lacis_sweep_gpus_times(lacis_sweep_gpus *systems, int k, lacis_sweep_times *line, int64_t *lines);
/* What slab `part` takes on its device besides its arrays, of the start of the whole grid. */
uint64_t lacis_sweep_gpus_bytes(const lacis_sweep_start *whole, const lacis_sweep_cut *cut, bool apart, int part);

#ifdef __cplusplus
}
#endif

#endif
