/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0's side of a call whose pieces work together: every rank gets one and begins at once; this one does piece 0
 * itself; when all have come to their end (core/team.h) their answers are heard. The error of the whole is the first
 * piece's that failed by itself and not because others did.
 */
#include "core/team.h"
#include "exec/dealing.h"

#include <string.h>

static lacis_status put_brief(lacis_dealing *d, int64_t piece, lacis_wire *wire)
{
    const lacis_deal *deal = d->deal;
    const void *data = NULL;
    uint64_t bytes = 0;
    if (deal->brief != NULL) LACIS_TRY(deal->brief(deal->context, d->run, piece, &data, &bytes));
    lacis_wire_int(wire, (int64_t)bytes);
    if (bytes > 0) lacis_wire_aligned(wire, data, bytes);
    return wire->status;
}

/* born: its operands are there; otherwise the piece only comes to its end with the others. */
static lacis_status send_piece(lacis_dealing *d, int rank, bool born)
{
    lacis_wire wire = {.run = d->run};
    lacis_wire_int(&wire, born);
    lacis_wire_int(&wire, d->pieces);
    lacis_wire_text(&wire, d->deal->together->name);
    lacis_status status = wire.status;
    if (status == LACIS_OK && born) status = put_brief(d, rank, &wire);
    if (status == LACIS_OK) status = lacis_dealing_send(d, rank, LACIS_TALK_TOGETHER, d->number, &wire);
    if (status == LACIS_OK) d->worker[rank].piece[d->worker[rank].busy++] = rank;
    lacis_wire_free(&wire);
    return status;
}

static lacis_status give_piece(lacis_dealing *d, int rank)
{
    lacis_array *wanted[LACIS_SLOTS] = {NULL};
    lacis_status status = lacis_dealing_operands(d, rank, wanted);
    if (status == LACIS_OK) status = lacis_dealing_give(d, rank, wanted);
    if (status == LACIS_OK) status = send_piece(d, rank, true);
    for (int i = 0; i < d->slots; i++)
        lacis_array_release(wanted[i]);
    return status;
}

/* The others may be at work already: all are told of a failure by a piece that comes to nothing. */
static lacis_status give_all(lacis_dealing *d)
{
    lacis_status status = LACIS_OK;
    lacis_error why = d->run->host->error;
    for (int rank = 1; rank < d->pieces; rank++) {
        if (status == LACIS_OK && lacis_run_cancelled(d->run)) status = lacis_run_interrupted(d->run);
        lacis_status one = status == LACIS_OK ? give_piece(d, rank) : status;
        if (one != LACIS_OK && status == LACIS_OK) why = d->run->host->error;
        if (one != LACIS_OK) status = one;
        if (one == LACIS_OK) continue;
        if (d->ranks->broken || send_piece(d, rank, false) == LACIS_OK || d->ranks->broken) continue;
        d->ranks->broken = true; /* it waits for what nobody can send */
        snprintf(d->ranks->reason, sizeof d->ranks->reason, "rank %d could not be told of a failure", rank);
    }
    if (status != LACIS_OK) d->run->host->error = why;
    return status;
}

static lacis_status hear_all(lacis_dealing *d, lacis_status status)
{
    lacis_error why = d->run->host->error;
    for (int rank = 1; rank < d->pieces && !d->ranks->broken; rank++) {
        lacis_status one = lacis_dealing_take(d, rank, true);
        if (one == LACIS_OK || (status != LACIS_OK && (status != LACIS_INTERRUPT || one == LACIS_INTERRUPT)))
            continue;
        status = one;
        why = d->run->host->error;
    }
    if (status != LACIS_OK) d->run->host->error = why;
    return status;
}

lacis_status lacis_deal_together(lacis_dealing *d)
{
    lacis_team team;
    if (d->pieces < 1 || d->pieces > d->ranks->place.size)
        return lacis_run_fail(d->run, LACIS_UNSUPPORTED, "%lld pieces that work together, over %d ranks",
                              (long long)d->pieces, d->ranks->place.size);
    lacis_team_open(&team, d->run, d->ranks, d->number, 0, (int)d->pieces);
    const void *brief = NULL;
    uint64_t bytes = 0;
    lacis_status status = give_all(d);
    if (status == LACIS_OK && d->deal->brief != NULL)
        status = d->deal->brief(d->deal->context, d->run, 0, &brief, &bytes);
    team.brief = brief;
    team.brief_bytes = bytes;
    if (status == LACIS_OK) status = d->deal->own(d->deal->context, d->run, 0);
    status = lacis_team_end(&team, status);
    lacis_team_close(&team);
    status = hear_all(d, status);
    if (status == LACIS_INTERRUPT && lacis_run_cancelled(d->run)) return lacis_run_interrupted(d->run);
    return status;
}
