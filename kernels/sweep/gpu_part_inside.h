/* SPDX-License-Identifier: Apache-2.0
 *
 * One part of a grid on a rank's device, as gpu_part*.cu share it.
 */
#ifndef LACIS_SWEEP_GPU_PART_INSIDE_H
#define LACIS_SWEEP_GPU_PART_INSIDE_H

#include "sweep/gpu_clock.h"
#include "sweep/gpu_part.h"
#include "sweep/gpu_strip.h"

namespace sweep
{

enum { RIM_STREAMS = LACIS_SWEEP_GPU_STREAMS - 1 };

/* A border that is computed ahead of the part. */
struct PartStrip {
    lacis_sweep_gpu *strip; /* NULL: there is no neighbour */
    cudaStream_t stream;
    cudaEvent_t taken; /* what it needs of the part */
    int message;       /* that its rows are */
};

} // namespace sweep

struct lacis_sweep_gpu_part {
    lacis_sweep_start start;
    lacis_sweep_cut cut;
    lacis_sweep_mail mail;
    lacis_sweep_gpu_part_how how;
    lacis_sweep_gpu *system;
    cudaStream_t border, rim[sweep::RIM_STREAMS];
    cudaEvent_t whole, rims[sweep::RIM_STREAMS]; /* the present level with its halos; a piece of the next one's rim */
    int part, messages, all;
    lacis_sweep_message message[LACIS_SWEEP_MESSAGES];
    char *out[LACIS_SWEEP_MESSAGES], *in[LACIS_SWEEP_MESSAGES];           /* packed, on the device */
    char *out_host[LACIS_SWEEP_MESSAGES], *in_host[LACIS_SWEEP_MESSAGES]; /* not where messages are direct */
    void *block, *pinned;
    lacis_sweep_box centre;
    bool has_centre;
    int cuda_error;
    lacis_sweep_times spent;
    int64_t lines;
    sweep::Clock clock;
    bool strips, halos;       /* borders go ahead; the present level has its halos */
    sweep::PartStrip side[2]; /* low, high */
};

namespace sweep
{

/* --- gpu_part_mail.cu */
void list_messages(lacis_sweep_gpu_part *p); /* diagonal ones, which steps may do without, behind the others */
lacis_sweep_status make_room(lacis_sweep_gpu_part *p);
uint64_t messages_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part);
/* Of an exchange. array: 0 all moving fields, else a coefficient. Packing and putting are on the border's stream: the
 * one begins once the present level is whole, behind the other `whole` is recorded. */
uint64_t message_size(const lacis_sweep_gpu_part *p, int array, int i);
lacis_sweep_status pack_messages(lacis_sweep_gpu_part *p, int array, int messages);
lacis_sweep_status begin_messages(lacis_sweep_gpu_part *p, int array, int messages, lacis_sweep_times *times);
lacis_sweep_status upload_messages(lacis_sweep_gpu_part *p, int array, int messages);
lacis_sweep_status unpack_messages(lacis_sweep_gpu_part *p, int array, int messages);
/* All of it, while nothing else is computed. */
lacis_sweep_status exchange_coefficients(lacis_sweep_gpu_part *p);
lacis_sweep_status exchange_fields(lacis_sweep_gpu_part *p, lacis_sweep_times *times);

/* --- gpu_part.cu */
lacis_sweep_status mark_time(lacis_sweep_gpu_part *p, Mark mark);

/* --- gpu_part_strips.cu. start: of the part, whose coefficients have their halos */
lacis_sweep_status make_strips(lacis_sweep_gpu_part *p, const lacis_sweep_gpu_start *start);
void free_strips(lacis_sweep_gpu_part *p); /* once they are done */
lacis_sweep_status steps_by_strips(lacis_sweep_gpu_part *p, int steps, bool sums, lacis_sweep_times *times);

} // namespace sweep

#endif
