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

/* What goes by mail for rows that went straight into a neighbour's memory: which exchange they are of, and whether
 * they did after all. */
struct Word {
    int64_t exchange, straight;
};

/* A message's way, as both sides agreed (gpu_part_straight.cu): says, rows are written into the neighbour's inbox and
 * a word is sent of them; hears, the same from there. */
struct Link {
    bool says, hears;
    char *to[2]; /* even and odd exchanges, in the neighbour's memory */
    Word said, heard;
};

/* What parts tell each other of a message before the first one. It outlives a mail that fails. */
enum { HOST_NAME = 64 };
struct Hello {
    cudaIpcMemHandle_t handle;
    int64_t able, place[2]; /* where in the inbox the message goes */
    uint64_t mark;          /* the pattern is made of it */
    char host[HOST_NAME];
};
struct Meeting {
    Hello own[LACIS_SWEEP_MESSAGES], theirs[LACIS_SWEEP_MESSAGES];
    int64_t wrote[LACIS_SWEEP_MESSAGES], written[LACIS_SWEEP_MESSAGES]; /* into the neighbour's, by it into the own */
    int64_t saw[LACIS_SWEEP_MESSAGES], seen[LACIS_SWEEP_MESSAGES];      /* it has come; so says the neighbour */
};

/* A neighbour's inbox, opened here. */
struct Peer {
    int part;
    char *inbox;
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
    sweep::Link link[LACIS_SWEEP_MESSAGES];
    sweep::Meeting meeting;
    sweep::Peer peer[LACIS_SWEEP_MESSAGES];
    int peers;
    char *inbox;          /* of all messages, for even and then for odd exchanges; NULL: nothing comes straight */
    uint64_t inbox_bytes; /* counted (how.charge) */
    int64_t exchange;     /* of fields, so far */
    const char *apart;    /* why rows go through the host's memory; NULL: they need not */
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
lacis_sweep_status make_room(lacis_sweep_gpu_part *p);
/* Of an exchange. array: 0 all moving fields, else a coefficient. Packing and putting are on the border's stream: the
 * one begins once the present level is whole, behind the other `whole` is recorded. */
uint64_t message_size(const lacis_sweep_gpu_part *p, int array, int i);
lacis_sweep_status pack_messages(lacis_sweep_gpu_part *p, int array, int messages);
lacis_sweep_status post_packed(lacis_sweep_gpu_part *p, int array, int i,
                               cudaStream_t stream); /* where it is sent from */
lacis_sweep_status begin_messages(lacis_sweep_gpu_part *p, int array, int messages, lacis_sweep_times *times);
lacis_sweep_status wait_messages(lacis_sweep_gpu_part *p, int array, int messages);
lacis_sweep_status upload_messages(lacis_sweep_gpu_part *p, int array, int messages);
lacis_sweep_status unpack_messages(lacis_sweep_gpu_part *p, int array, int messages);
/* All of it, while nothing else is computed. */
lacis_sweep_status exchange_coefficients(lacis_sweep_gpu_part *p);
lacis_sweep_status exchange_fields(lacis_sweep_gpu_part *p, lacis_sweep_times *times);

/* --- gpu_part_straight.cu: rows that go straight into a neighbour's memory. _join: all parts together find out which
 * can; what cannot stays as it was. */
lacis_sweep_status join_peers(lacis_sweep_gpu_part *p);
void leave_peers(lacis_sweep_gpu_part *p); /* before anybody's inbox goes */
void free_inbox(lacis_sweep_gpu_part *p);
bool all_straight(const lacis_sweep_gpu_part *p);
/* Message i's rows of the present exchange on their way; false: they must go through the host's memory. */
bool post_straight(lacis_sweep_gpu_part *p, int i, cudaStream_t stream);
char *inbox_of(const lacis_sweep_gpu_part *p, int i, int64_t exchange);
/* Words have come: rows that could not go straight after all follow now. */
lacis_sweep_status hear_words(lacis_sweep_gpu_part *p, int messages);

/* --- gpu_part.cu */
lacis_sweep_status mark_time(lacis_sweep_gpu_part *p, Mark mark);

/* --- gpu_part_strips.cu. start: of the part, whose coefficients have their halos */
lacis_sweep_status make_strips(lacis_sweep_gpu_part *p, const lacis_sweep_gpu_start *start);
void free_strips(lacis_sweep_gpu_part *p); /* once they are done */
lacis_sweep_status steps_by_strips(lacis_sweep_gpu_part *p, int steps, bool sums, lacis_sweep_times *times);

} // namespace sweep

#endif
