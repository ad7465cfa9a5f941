/* SPDX-License-Identifier: Apache-2.0
 *
 * One part of a grid on a device, among parts of other ranks: parts.h, with the cells on a device. Borders are packed
 * on a stream of their own while the centre is computed; what is sent lies in pinned host memory, or, where messages
 * may lie on devices, there. Parts of one host write it straight into each other's memory where their processes can
 * (CUDA IPC), and send a word by mail.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_PART_H
#define LACIS_KERNELS_SWEEP_GPU_PART_H

#include "sweep/gpu.h"
#include "sweep/parts.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lacis_sweep_gpu_part_how {
    lacis_sweep_part_how part;
    bool direct; /* messages may lie on the device, and do where all parts say so */
    bool copy;   /* borders by copies of two dimensions, not by kernels */
    bool host;   /* never straight into a neighbour's memory */
    bool best;   /* `part.overlap` was not asked for: where all of all parts goes straight it is waited for instead */
    /* Device memory that is not host.alloc's, since other processes are to write into it, counted and given back with
     * host.context: false where there is no room. NULL: it does not count. */
    bool (*charge)(void *context, uint64_t bytes);
    void (*credit)(void *context, uint64_t bytes);
} lacis_sweep_gpu_part_how;
typedef struct lacis_sweep_gpu_part lacis_sweep_gpu_part;

/* start: of the part, with arrays on the device. As lacis_sweep_part_new. */
lacis_sweep_status lacis_sweep_gpu_part_new(const lacis_sweep_gpu_start *start, const lacis_sweep_cut *cut, int part,
                                            const lacis_sweep_mail *mail, const lacis_sweep_gpu_part_how *how,
                                            lacis_sweep_gpu_part **out);
/* What it takes on the device besides its arrays. start: of the part; arrays are not looked at. */
uint64_t lacis_sweep_gpu_part_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part,
                                    const lacis_sweep_gpu_part_how *how);
/* Neighbours' memory is let go of; all parts have done so before one is freed. */
void lacis_sweep_gpu_part_leave(lacis_sweep_gpu_part *part);
void lacis_sweep_gpu_part_free(lacis_sweep_gpu_part *part); /* NULL is fine */
/* How many of the messages of an exchange go straight; why not all (NULL: they do, were not to, or neighbours are on
 * other hosts). */
int lacis_sweep_gpu_part_straight(const lacis_sweep_gpu_part *part, int *messages, const char **why);
int lacis_sweep_gpu_part_error_code(const lacis_sweep_gpu_part *part);
lacis_sweep_status lacis_sweep_gpu_part_steps(lacis_sweep_gpu_part *part, int64_t steps, lacis_sweep_change *change);
lacis_sweep_gpu *lacis_sweep_gpu_part_system(lacis_sweep_gpu_part *part);
void lacis_sweep_gpu_part_spent(const lacis_sweep_gpu_part *part, lacis_sweep_times *out, int64_t *lines);

#ifdef __cplusplus
}
#endif

#endif
