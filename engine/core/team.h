/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces that work together: what lacis_extend_ranks.h declares, from inside. team.c has their transfers, team_end.c
 * how all come to an end, team_reduce.c sums over them. exec/deal.c and exec/serve.c begin and end a team for each
 * piece.
 *
 * The end. A piece that is over, well or not, tells every other one (FINIS: its number of messages to it), and goes
 * on only when all have told it the same and their messages have come: those that nobody wants any more are thrown
 * away. So no message is left for a later call, and no memory is given back that MPI still reads. Who waits for a
 * transfer looks for such words, so that one piece's failure soon is everybody's.
 */
#ifndef LACIS_CORE_TEAM_H
#define LACIS_CORE_TEAM_H

#include "core/ranks.h"

/* Of what the other pieces' ranks have sent and been sent in this call, in messages of the driver. */
typedef struct lacis_teammate {
    uint64_t sent, got, theirs; /* theirs: how many they sent, once that has been said */
    bool over, failed;          /* its FINIS has come; and said that it went wrong */
} lacis_teammate;

typedef struct lacis_team_transfer {
    lacis_ranks_request request;
    int peer;
    bool receives;
} lacis_team_transfer;

typedef struct lacis_team_figures {
    double waited;          /* seconds in lacis_team_wait */
    double bytes, messages; /* sent */
} lacis_team_figures;

struct lacis_team {
    lacis_run *run;
    lacis_ranks *ranks;
    uint64_t number; /* of the call */
    int piece, pieces;
    const void *brief;
    uint64_t brief_bytes;
    lacis_teammate *mate; /* one a rank: the ranks' own */
    lacis_team_transfer *transfer;
    int transfers, room;          /* under way; the list's length */
    void (*leave)(void *context); /* lacis_team_before_end; NULL: nothing */
    void *leave_context;
    int overs;            /* mates that are over */
    bool ended, failed;   /* this piece has; another one has failed */
    lacis_status outcome; /* once ended */
    lacis_team_figures spent;
};

/* team.c: a piece begins; the run has the team until _close, which frees what it took. */
void lacis_team_open(lacis_team *team, lacis_run *run, lacis_ranks *ranks, uint64_t number, int piece, int pieces);
void lacis_team_close(lacis_team *team);
/* Moves transfers on; those that are done leave the list. */
lacis_status lacis_team_move(lacis_team *team);
/* What ends a piece from outside: the run cancelled, another piece failed, a rank gone (looked for when `closely`).
 */
lacis_status lacis_team_look(lacis_team *team, bool closely);
lacis_status lacis_team_broken(lacis_team *team, int rank, int code);
/* One look of many: yields at first, later sleeps, less long than lacis_ranks_pause does. */
void lacis_team_pause(unsigned *looks);
/* team_end.c */
lacis_status lacis_team_hear(lacis_team *team);

#endif
