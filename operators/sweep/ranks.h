/* SPDX-License-Identifier: Apache-2.0
 *
 * A grid that is spread over ranks, as the files ranks*.c share it. Each rank has a share (ranks_share.c): its part
 * of the grid (kernels/sweep/parts.h) and the messages to its neighbours. Rank 0 runs the statement as always
 * (run.c), with a system (ranks_spread.c) that gives the others' arrays away, has all shares do the same steps, and
 * gathers fields; the others do what it tells them (ranks_obey.c). ranks.c has the variants.
 */
#ifndef LACIS_OPERATORS_SWEEP_RANKS_H
#define LACIS_OPERATORS_SWEEP_RANKS_H

#include "sweep/parts.h"
#include "sweep/system.h"

#include <stdio.h>

/* What rank 0 tells each other rank besides the call, which is bound there to small grids of the same names and
 * types.
 */
typedef struct lacis_sweep_brief {
    int64_t extent[3]; /* of the whole grid */
    int deep, levels;
    bool overlap;
    bool slabs;    /* cut along the last axis alone */
    bool gpu;      /* parts lie on the ranks' GPUs */
    int64_t lines; /* of a timeline */
} lacis_sweep_brief;

/* What rank 0 wants next. */
typedef enum lacis_sweep_wish {
    LACIS_SWEEP_STEP,
    LACIS_SWEEP_READ,
    LACIS_SWEEP_TELL,
    LACIS_SWEEP_STOP
} lacis_sweep_wish;
typedef struct lacis_sweep_order {
    int64_t wish, steps;
    int64_t change; /* of the last step is wanted */
} lacis_sweep_order;

/* Tags: directions of halos come first. */
enum { LACIS_SWEEP_TAG_ORDER = 32, LACIS_SWEEP_TAG_ARRAY, LACIS_SWEEP_TAG_FIELD, LACIS_SWEEP_TAG_LINES };

typedef struct lacis_sweep_share_gpu lacis_sweep_share_gpu;
typedef struct lacis_sweep_share {
    lacis_run *run;
    const lacis_sweep_work *work;
    lacis_team *team;
    lacis_sweep_brief brief;
    lacis_sweep_cut cut;
    lacis_sweep_box box;     /* of this part */
    lacis_sweep_start start; /* likewise */
    lacis_sweep_programs *programs;
    lacis_sweep_part *part;
    lacis_sweep_share_gpu *gpu; /* NULL: the part is on the CPU */
    lacis_sweep_times *line;
    uint64_t bytes;      /* that it takes at most */
    lacis_status failed; /* of a message, where kernels gave up because of one */
    bool busy;           /* transfers may be under way */
} lacis_sweep_share;

/* How the grid is cut; false: why it cannot be. */
bool lacis_sweep_ranks_cut(const lacis_sweep_work *work, const lacis_sweep_brief *brief, int parts,
                           lacis_sweep_cut *out, char *why, size_t size);
uint64_t lacis_sweep_lines_bytes(const lacis_sweep_brief *brief); /* of a part's timeline */
/* The error of a grid that cannot be cut so: LACIS_RANGE, at EVERY, where that alone makes halos too deep; else
 * another variant may do it. */
bool lacis_sweep_every_is_why(const lacis_sweep_work *work, bool slabs, int parts);
lacis_status lacis_sweep_cannot_cut(const lacis_sweep_work *work, bool slabs, int parts, const char *why);
/* Of a grid that is left whole: the error where EVERY alone keeps it from being cut over ranks. What was written is
 * not left out, but where GPUs of this process share the grid it holds for them. */
lacis_status lacis_sweep_uncut(const lacis_sweep_work *work);
/* BY copy and BY host: a note where borders do not lie on ranks' GPUs. */
void lacis_sweep_by_means_nothing(const lacis_sweep_work *work);
/* ranks_share.c: prepares all but the arrays, whose pointers are then put into share->start; begins; ends. */
lacis_status lacis_sweep_share_prepare(lacis_run *run, const lacis_sweep_work *work, const lacis_sweep_brief *brief,
                                       lacis_sweep_share *out);
lacis_status lacis_sweep_share_begin(lacis_sweep_share *share);
lacis_status lacis_sweep_share_steps(lacis_sweep_share *share, int64_t steps, lacis_sweep_change *change);
lacis_status lacis_sweep_share_read(lacis_sweep_share *share, void *const *field); /* the part's */
/* Messages of the share as kernels send them; of an exchange's times so far. */
lacis_sweep_mail lacis_sweep_share_mail(lacis_sweep_share *share);
void lacis_sweep_share_spent(const lacis_sweep_share *share, lacis_sweep_times *out, int64_t *lines);
/* Cell updates of all shares; figures for EXPLAIN ANALYZE. */
lacis_status lacis_sweep_share_tell(lacis_sweep_share *share, lacis_sweep_counts *out);
/* Behind lacis_team_end, at which a part on a GPU lets go of what lies in other parts' memory: what is given back
 * here is theirs to write until then. */
void lacis_sweep_share_free(lacis_sweep_share *share);

/* ranks_gpu.c: the same on a GPU. */
/* Whether this rank's GPU, where it is started, has room for a part of the grid; why not. */
bool lacis_sweep_share_gpu_fits(const lacis_sweep_work *work, const lacis_sweep_brief *brief,
                                const lacis_sweep_cut *cut, int part, char *why, size_t size);
lacis_status lacis_sweep_share_gpu_begin(lacis_sweep_share *share, const lacis_sweep_part_how *how);
int lacis_sweep_share_gpu_levels(const lacis_sweep_start *part); /* steps in a pass */
lacis_status lacis_sweep_share_gpu_steps(lacis_sweep_share_gpu *gpu, int64_t steps, lacis_sweep_change *change);
lacis_status lacis_sweep_share_gpu_read(lacis_sweep_share_gpu *gpu, void *const *field);
void lacis_sweep_share_gpu_tell(lacis_sweep_share_gpu *gpu, lacis_sweep_counts *counts, lacis_sweep_times *times,
                                int64_t *lines);
void lacis_sweep_share_gpu_count(lacis_sweep_share_gpu *gpu); /* its halos, for EXPLAIN ANALYZE: once */
void lacis_sweep_share_gpu_free(lacis_sweep_share_gpu *gpu);  /* NULL is fine */

/* ranks_cut.c: arrays of the whole grid and of a part. */
uint64_t lacis_sweep_box_bytes(const lacis_sweep_work *work, const lacis_sweep_box *box);
/* Between the whole grid's memory and a box's own, x fastest. */
void lacis_sweep_copy_out(const lacis_sweep_cut *cut, uint64_t size, const void *whole, const lacis_sweep_box *box,
                          void *to);
void lacis_sweep_copy_in(const lacis_sweep_cut *cut, uint64_t size, const void *from, const lacis_sweep_box *box,
                         void *whole);
/* Values of a face for a part whose face it is, halos included. cells 0: it has none. */
int64_t lacis_sweep_face_cells(const lacis_sweep_cut *cut, int part, int face);
void lacis_sweep_face_copy(const lacis_sweep_cut *cut, int part, int face, uint64_t size, const void *whole,
                           void *to);
uint64_t lacis_sweep_share_face_bytes(const lacis_sweep_share *share, int part, int face);
/* A part's arrays and faces' values in one block of a GPU, each where _apart says that the one before ends. share:
 * its work and cut alone. */
uint64_t lacis_sweep_apart(uint64_t bytes);
uint64_t lacis_sweep_share_arrays_bytes(const lacis_sweep_share *share, int part);
/* Whether the part reads values beyond that face of a field. */
bool lacis_sweep_face_valued(const lacis_sweep_share *share, int part, int field, int face);

/* ranks_spread.c: rank 0's system. The call's work begins a lacis_sweep_dealt. */
typedef struct lacis_sweep_dealt {
    lacis_sweep_work work;
    lacis_sweep_brief brief;
} lacis_sweep_dealt;
lacis_status lacis_sweep_ranks_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                      int levels, lacis_sweep_system **out);
/* timeline.c: the file of EXCHANGE ... TO, with a line of each part and exchange. It is opened before the first step,
 * so that one that cannot be is an error then; without TO *out is NULL. What goes wrong later is a warning, and the
 * steps' result stays. _close: *file NULL is fine, and becomes that. */
lacis_status lacis_sweep_timeline_open(lacis_run *run, const lacis_sweep_work *work, FILE **out);
void lacis_sweep_timeline_add(FILE *file, int part, const lacis_sweep_times *line, int64_t lines);
void lacis_sweep_timeline_warn(lacis_run *run, const lacis_sweep_work *work, const char *why);
void lacis_sweep_timeline_close(lacis_run *run, const lacis_sweep_work *work, FILE **file);

/* depth.c: steps on one exchange that is waited for, in whole passes of `levels` steps, as is best for slabs like
 * this one. */
int64_t lacis_sweep_best_depth(const lacis_sweep_work *work, const lacis_sweep_start *slab, int parts, int levels);

/* ranks_obey.c: another rank's side. */
lacis_status lacis_sweep_obey(lacis_run *run, const lacis_call *call);

/* ranks_brief.c: ranks that have a part (PARTS takes fewer than there are); how the grid is spread over them. */
int lacis_sweep_ranks_parts(const lacis_sweep_work *work);
void lacis_sweep_ranks_brief(const lacis_sweep_work *work, bool gpu, int parts, lacis_sweep_brief *brief);
/* ranks_deal.c: runs the call with all of them. */
lacis_status lacis_sweep_ranks_deal(bool gpu, lacis_run *run, const lacis_call *call, lacis_array **out);
/* ranks.c */
extern const lacis_variant lacis_sweep_ranks, lacis_sweep_ranks_gpu;
lacis_status lacis_sweep_explain_ranks(const lacis_sweep_work *work, lacis_lines *lines);

#endif
