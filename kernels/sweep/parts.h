/* SPDX-License-Identifier: Apache-2.0
 *
 * One grid in several parts, each with a memory of its own: how it is cut, which cells parts give each other, and the
 * order of a step. Parts talk through a lacis_sweep_mail (of ranks: operators/sweep/ranks_share.c), so that nothing
 * here knows MPI. gpu_several.h has the devices of one process.
 *
 * Cuts. The parts form a grid of parts, which is chosen for the fewest cells to be exchanged; where there is a
 * choice, higher axes are cut. Cuts lie at tiles' borders (sweep.h: change), so that sums have the same bits. Each
 * part keeps `halo` cells of its neighbours along cut axes: reach times `deep`, which is how many steps may follow on
 * one exchange. A share must be as thick as the halo: cells come from direct neighbours alone (diagonal ones too). An
 * axis that is periodic has neighbours across the ends; uncut, it is periodic within each part.
 */
#ifndef LACIS_KERNELS_SWEEP_PARTS_H
#define LACIS_KERNELS_SWEEP_PARTS_H

#include "sweep/sweep.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { LACIS_SWEEP_MESSAGES = 26, LACIS_SWEEP_RIM = 6 };

typedef struct lacis_sweep_cut {
    int dims, parts, deep;
    int grid[3]; /* of parts */
    int64_t whole[3], reach[3];
    int64_t halo[3];  /* 0 along axes that are not cut */
    bool periodic[3]; /* of all fields */
    bool corners;     /* steps read cells of diagonal neighbours */
} lacis_sweep_cut;

/* Cuts the grid of `whole` (a start without parts) into so many; false: it cannot be, and why ("... thinner than
 * ..."). */
bool lacis_sweep_cut_make(const lacis_sweep_start *whole, int parts, int deep, lacis_sweep_cut *out, char *why,
                          size_t size);
/* The same into slabs along the last axis: what they exchange lies in one piece. */
bool lacis_sweep_cut_slabs(const lacis_sweep_start *whole, int parts, int deep, lacis_sweep_cut *out, char *why,
                           size_t size);
/* Where a part lies, and which part lies at a place of the grid of parts. */
void lacis_sweep_cut_place(const lacis_sweep_cut *cut, int part, int place[3]);
int lacis_sweep_cut_part(const lacis_sweep_cut *cut, const int place[3]);
void lacis_sweep_cut_box(const lacis_sweep_cut *cut, int part, lacis_sweep_box *out);
/* Whether the part has a neighbour there: the face is INNER. */
bool lacis_sweep_cut_inner(const lacis_sweep_cut *cut, int part, int face);
/* Cells that all parts send each other in an exchange, of one field. */
double lacis_sweep_cut_surface(const lacis_sweep_cut *cut);
/* The start of a part, but for arrays and edges' values, which are the caller's (of the part; see sweep.h). */
void lacis_sweep_cut_start(const lacis_sweep_start *whole, const lacis_sweep_cut *cut, int part,
                           lacis_sweep_start *out);

/* --- parts_boxes.c: what is sent to a neighbour and what comes from it; both have the same number of cells. Tags are
 * directions: the sender's, so that two parts that are neighbours in several ways know which is which. */
typedef struct lacis_sweep_message {
    int part;
    int tag_out, tag_in; /* below 27 */
    lacis_sweep_box out, in;
    int64_t cells;
} lacis_sweep_message;
int lacis_sweep_cut_messages(const lacis_sweep_cut *cut, int part, bool corners,
                             lacis_sweep_message out[LACIS_SWEEP_MESSAGES]);
/* All of a part's, those that its steps may do without (diagonal ones) behind the others. *all: how many; answers how
 * many a step needs. */
int lacis_sweep_cut_list(const lacis_sweep_cut *cut, int part, lacis_sweep_message out[LACIS_SWEEP_MESSAGES],
                         int *all);
/* Room for one with all moving fields, in whole lines that a device's copies like; for all of a part's, both ways. */
uint64_t lacis_sweep_message_bytes(const lacis_sweep_start *start, const lacis_sweep_message *message);
uint64_t lacis_sweep_messages_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part);
/* What can be computed without halos (*centre; false: nothing), cut at tiles' borders, and the boxes around it that
 * make it up to the part and `more` steps' reach of its halo. */
bool lacis_sweep_cut_centre(const lacis_sweep_cut *cut, int part, lacis_sweep_box *centre);
int lacis_sweep_cut_rim(const lacis_sweep_cut *cut, int part, const lacis_sweep_box *centre, int more,
                        lacis_sweep_box out[LACIS_SWEEP_RIM]);
int64_t lacis_sweep_box_cells(const lacis_sweep_box *box);

/* --- parts_run.c: one part's steps. */
/* Answers that are not 0 end the steps (CANCELLED); the caller knows why. `test` moves transfers on, `wait` ends when
 * all have ended. */
typedef struct lacis_sweep_mail {
    int (*send)(void *context, int part, int tag, const void *data, uint64_t bytes);
    int (*receive)(void *context, int part, int tag, void *data, uint64_t bytes);
    int (*test)(void *context);
    int (*wait)(void *context);
    void *context;
    /* *yes stays where all parts say so, which all call it alike; NULL: nobody can ask. */
    int (*agree)(void *context, bool *yes);
} lacis_sweep_mail;

/* Seconds of one exchange and the steps on it, or of all. */
typedef struct lacis_sweep_times {
    double pack, centre, wait, unpack, rest;
    double bytes, messages, exchanges; /* sent */
} lacis_sweep_times;

static inline void lacis_sweep_times_add(lacis_sweep_times *to, const lacis_sweep_times *from)
{
    to->pack += from->pack;
    to->centre += from->centre;
    to->wait += from->wait;
    to->unpack += from->unpack;
    to->rest += from->rest;
    to->bytes += from->bytes;
    to->messages += from->messages;
    to->exchanges += from->exchanges;
}

typedef struct lacis_sweep_part_how {
    bool overlap; /* the centre is computed while messages are on their way; else all waits for them first */
    lacis_sweep_times *line; /* of each exchange, for a timeline; NULL: not wanted */
    int64_t lines;           /* room */
} lacis_sweep_part_how;

typedef struct lacis_sweep_part lacis_sweep_part;
/* start: of the part (lacis_sweep_cut_start), with arrays. Coefficients' halos are exchanged. *out is to be freed
 * also where that fails, once nothing is under way. */
lacis_sweep_status lacis_sweep_part_new(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part,
                                        const lacis_sweep_mail *mail, const lacis_sweep_part_how *how,
                                        lacis_sweep_part **out);
/* No transfer may be under way any more. NULL is fine. */
void lacis_sweep_part_free(lacis_sweep_part *part);
/* All parts take as many. change: of this part alone in the last step. */
lacis_sweep_status lacis_sweep_part_steps(lacis_sweep_part *part, int64_t steps, lacis_sweep_change *change);
lacis_sweep *lacis_sweep_part_system(lacis_sweep_part *part);
void lacis_sweep_part_spent(const lacis_sweep_part *part, lacis_sweep_times *out, int64_t *lines);
/* Besides the system's: what messages take. */
uint64_t lacis_sweep_part_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part);

#ifdef __cplusplus
}
#endif

#endif
