/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_extend_ranks.h - the part of lacis_extend.h, which includes it, that is about several ranks (docs/ranks.md).
 */
#ifndef LACIS_EXTEND_RANKS_H
#define LACIS_EXTEND_RANKS_H

/* A variant with `ranks` set deals its call over them: it says how in a lacis_deal and hands that to lacis_run_deal.
 * The call is cut into pieces; a piece is the same call, with arrays of its own in place of some operands where need
 * be, computed over a range of its units by whichever rank is free, this one included. Every other rank binds the
 * call to the arrays that it was sent and runs a variant of the wanted device. */
typedef struct lacis_deal {
    lacis_device device;        /* for the other ranks */
    const char *const *without; /* keywords of clauses that they leave out, up to NULL; NULL: none */
    void *context;
    /* Once the other ranks have been asked: the least room that one of them has for operands, in bytes. Says how many
     * pieces there are, or fails: LACIS_UNSUPPORTED with the reason lets the next best variant run. */
    lacis_status (*plan)(void *context, lacis_run *run, uint64_t room, int64_t *pieces);
    /* A piece's own array in place of an operand, of which *out becomes a hold; NULL: the call's, which ranks keep
     * for later statements. An array that the piece before had in that place is not sent again. */
    lacis_status (*operand)(void *context, lacis_run *run, int64_t piece, const lacis_item *item, lacis_array **out);
    /* The piece's range of the units that the call has with those operands; *end INT64_MAX: all from *begin on. */
    void (*range)(void *context, int64_t piece, int64_t *begin, int64_t *end);
    /* Rank 0's share; and the array that another rank made of a piece. Pieces come in any order, each once. */
    lacis_status (*own)(void *context, lacis_run *run, int64_t piece);
    lacis_status (*take)(void *context, lacis_run *run, int64_t piece, const lacis_array *result);
    /* Pieces that talk to each other, at most one a rank, run at the same time: own() is piece 0, and rank k runs
     * together->together for piece k, bound to its operands; what comes of it they tell each other (lacis_team_send):
     * range and take are not called. NULL: pieces are independent. */
    const lacis_variant *together;
    /* What a piece is told besides: bytes in the run's scratch, which lacis_team_brief gives. NULL: nothing. */
    lacis_status (*brief)(void *context, lacis_run *run, int64_t piece, const void **data, uint64_t *bytes);
} lacis_deal;
LACIS_API lacis_status lacis_run_deal(lacis_run *run, const lacis_call *call, const lacis_deal *deal);
/* How many ranks there are, this one included; 1 where SET ranks = off. */
LACIS_API int lacis_run_ranks(const lacis_run *run);
LACIS_API bool lacis_run_ranks_always(const lacis_run *run);                         /* SET ranks = all */
LACIS_API bool lacis_run_ranks_hold(const lacis_run *run, const lacis_array *array); /* most likely */
LACIS_API double lacis_run_ranks_rate(const lacis_run *run); /* bytes a second between two of them */

/* --- Pieces that work together: what a piece's own() or together() talks to the others with. Piece k is on rank k. A
 * call that fails is the end of all pieces: the others' next call fails too, and the statement's error is the first
 * piece's that has one of its own. Only the run's own thread calls these. */
typedef struct lacis_team lacis_team;
LACIS_API lacis_team *lacis_run_team(const lacis_run *run); /* NULL: no such piece is running */
LACIS_API int lacis_team_piece(const lacis_team *team);
LACIS_API int lacis_team_pieces(const lacis_team *team);
LACIS_API const void *lacis_team_brief(const lacis_team *team, uint64_t *bytes); /* 64-byte aligned */
/* Whether data may lie in a GPU's memory; otherwise (MPI does not know CUDA) on the host alone. */
LACIS_API bool lacis_team_takes_device(const lacis_team *team);
/* Begin a transfer of any size, tags 0 .. LACIS_TEAM_TAGS - 1; those of one tag between two pieces arrive in order,
 * and both sides name the same bytes. The data stay untouched until lacis_team_wait, or a test that says `done`, or
 * lacis_team_end. */
enum { LACIS_TEAM_TAGS = 4000 };
LACIS_API lacis_status lacis_team_send(lacis_team *team, int to, int tag, const void *data, uint64_t bytes);
LACIS_API lacis_status lacis_team_receive(lacis_team *team, int from, int tag, void *data, uint64_t bytes);
/* Moves transfers on; *done: all that were begun have ended. It also notices what lacis_team_wait would. */
LACIS_API lacis_status lacis_team_test(lacis_team *team, bool *done);
/* Until all have ended, the run is cancelled, or another piece or a rank has failed. */
LACIS_API lacis_status lacis_team_wait(lacis_team *team);
/* Element by element over all pieces, which call it alike; all get the same. Integers wrap; a NaN is the greatest. */
LACIS_API lacis_status lacis_team_sum(lacis_team *team, int64_t *values, int count);
LACIS_API lacis_status lacis_team_max(lacis_team *team, double *values, int count);
/* The piece's end, before it frees what transfers use: all pieces come to it, with what has come of them. Nothing is
 * under way behind it. Answers the status, or where another piece failed LACIS_INTERRUPT. The engine calls it for
 * pieces that do not. */
LACIS_API lacis_status lacis_team_end(lacis_team *team, lacis_status status);
/* What the piece does once at its end, whichever call comes to it, before any other piece hears of that: lets go of
 * what others free behind theirs. NULL: nothing any more. */
LACIS_API void lacis_team_before_end(lacis_team *team, void (*leave)(void *context), void *context);

#endif
