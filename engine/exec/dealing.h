/* SPDX-License-Identifier: Apache-2.0
 *
 * A call that rank 0 deals over several ranks, as deal.c and deal_together.c share it: the one gives independent
 * pieces to whoever is free, the other a piece to every rank at the same time.
 */
#ifndef LACIS_EXEC_DEALING_H
#define LACIS_EXEC_DEALING_H

#include "exec/talk.h"

/* A rank has a second piece waiting where that needs no operands of its own: it need not wait for rank 0 then, which
 * looks round only between pieces. */
enum { LACIS_PIECES_AHEAD = 2 };

typedef struct lacis_worker {
    int64_t piece[LACIS_PIECES_AHEAD]; /* in the order in which they will be answered */
    int busy;                          /* how many */
    lacis_array *at[LACIS_SLOTS];      /* what it has in each operand's place; held */
} lacis_worker;

typedef struct lacis_dealing {
    lacis_run *run;
    const lacis_call *call;
    const lacis_deal *deal;
    lacis_ranks *ranks;
    uint64_t number; /* of the call */
    lacis_item *slot[LACIS_SLOTS];
    int slots;
    lacis_worker *worker; /* one a rank; [0] is not used */
    int64_t next, pieces, done;
    double sent, received; /* bytes */
} lacis_dealing;

/* deal.c */
lacis_status lacis_dealing_send(lacis_dealing *d, int to, lacis_talk kind, uint64_t number, lacis_wire *wire);
/* The operands of a piece, each held; and those of them that a rank lacks sent there. */
lacis_status lacis_dealing_operands(lacis_dealing *d, int64_t piece, lacis_array *wanted[LACIS_SLOTS]);
lacis_status lacis_dealing_give(lacis_dealing *d, int rank, lacis_array *wanted[LACIS_SLOTS]);
/* A rank's answer. wanted: its figures count, and what has come of the piece. */
lacis_status lacis_dealing_take(lacis_dealing *d, int rank, bool wanted);
/* deal_together.c */
lacis_status lacis_deal_together(lacis_dealing *d);

#endif
