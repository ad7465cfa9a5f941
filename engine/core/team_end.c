/* SPDX-License-Identifier: Apache-2.0
 *
 * How pieces that work together come to an end, as told in team.h.
 */
#include "core/team.h"

#include <stdlib.h>
#include <string.h>

enum { LOOKS_A_CHECK = 256 };

/* What a piece tells each other one. */
struct finis {
    uint64_t number, sent, failed;
};

struct patience {
    lacis_team *team;
    int rank;
    unsigned looks;
};

/* The driver's way to wait: codes below 0 are ours. */
static int wait_a_little(void *arg)
{
    struct patience *patience = arg;
    const int lost = -1;
    lacis_team_pause(&patience->looks);
    bool look = patience->looks % LOOKS_A_CHECK == 0;
    return look && !lacis_ranks_alive(patience->team->ranks, patience->rank) ? lost : 0;
}

static lacis_ranks_wait patient(struct patience *patience)
{
    return (lacis_ranks_wait){wait_a_little, patience};
}

/* ------------------------------------------------------------------------------------ what is told */

static lacis_status hear_one(lacis_team *team, int rank)
{
    struct finis finis;
    struct patience patience = {team, rank, 0};
    int code = team->ranks->driver->receive(rank, LACIS_RANKS_FINIS, &finis, sizeof finis, patient(&patience));
    if (code != 0) return lacis_team_broken(team, rank, code);
    if (rank >= team->pieces || finis.number != team->number) return LACIS_OK; /* nobody's any more */
    lacis_teammate *mate = &team->mate[rank];
    team->overs += !mate->over;
    mate->over = true;
    mate->failed = finis.failed != 0;
    mate->theirs = finis.sent;
    team->failed |= mate->failed;
    return LACIS_OK;
}

lacis_status lacis_team_hear(lacis_team *team)
{
    for (;;) {
        int rank = -1;
        int code = team->ranks->driver->probe_any(LACIS_RANKS_FINIS, &rank);
        if (code != 0) return lacis_team_broken(team, 0, code);
        if (rank < 0) return LACIS_OK;
        LACIS_TRY(hear_one(team, rank));
    }
}

static lacis_status tell_all(lacis_team *team, bool failed)
{
    for (int rank = 0; rank < team->pieces; rank++) {
        const struct finis finis = {team->number, team->mate[rank].sent, failed};
        struct patience patience = {team, rank, 0};
        if (rank == team->piece) continue;
        int code = team->ranks->driver->send(rank, LACIS_RANKS_FINIS, &finis, sizeof finis, patient(&patience));
        if (code != 0) return lacis_team_broken(team, rank, code);
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------ what is left */

/* Receives that nobody needs; sends go on until the other side has thrown them away. */
static lacis_status take_back(lacis_team *team)
{
    int kept = 0;
    lacis_status status = LACIS_OK;
    for (int i = 0; i < team->transfers; i++) {
        lacis_team_transfer *transfer = &team->transfer[i];
        struct patience patience = {team, transfer->peer, 0};
        bool came = false;
        if (!transfer->receives || status != LACIS_OK) {
            team->transfer[kept++] = *transfer;
            continue;
        }
        int code = team->ranks->driver->take_back(&transfer->request, patient(&patience), &came);
        if (code != 0) status = lacis_team_broken(team, transfer->peer, code);
        team->mate[transfer->peer].got += came;
    }
    team->transfers = kept;
    return status;
}

/* Messages of a piece that is over, beyond those that were received. *waste: a block, once it is needed. */
static lacis_status throw_away(lacis_team *team, int rank, void **waste, bool *left)
{
    lacis_teammate *mate = &team->mate[rank];
    struct patience patience = {team, rank, 0};
    bool there = true;
    while (mate->got < mate->theirs && there) {
        if (*waste == NULL) *waste = malloc(LACIS_RANKS_PIECE);
        if (*waste == NULL) {
            team->ranks->broken = true;
            snprintf(team->ranks->reason, sizeof team->ranks->reason, "rank %d has no memory left", team->piece);
            return lacis_team_broken(team, rank, 0);
        }
        int code = team->ranks->driver->throw_away(rank, *waste, patient(&patience), &there);
        if (code != 0) return lacis_team_broken(team, rank, code);
        mate->got += there;
    }
    *left |= mate->got < mate->theirs;
    return LACIS_OK;
}

/* Rank 0's user wants no more, while it waits for the others. */
static void pass_on(lacis_team *team, bool *passed)
{
    if (*passed || team->ranks->place.rank != 0 || !lacis_run_cancelled(team->run)) return;
    for (int rank = 1; rank < team->pieces; rank++)
        if (!team->mate[rank].over) lacis_ranks_stop(team->ranks, rank, team->number);
    *passed = true;
}

static lacis_status all_are_over(lacis_team *team, void **waste)
{
    struct patience patience = {team, 0, 0};
    bool passed = false;
    for (;;) {
        bool left = false;
        LACIS_TRY(lacis_team_move(team));
        LACIS_TRY(lacis_team_hear(team));
        for (int rank = 0; rank < team->pieces; rank++)
            if (rank != team->piece && team->mate[rank].over) LACIS_TRY(throw_away(team, rank, waste, &left));
        if (!left && team->transfers == 0 && team->overs == team->pieces - 1) return LACIS_OK;
        pass_on(team, &passed);
        lacis_team_pause(&patience.looks);
        for (int rank = 0; patience.looks % LOOKS_A_CHECK == 0 && rank < team->pieces; rank++)
            if (rank != team->piece && !lacis_ranks_alive(team->ranks, rank)) return lacis_team_broken(team, rank, 0);
    }
}

/* The memory stays MPI's where a rank is gone: nobody can say when it is done with it, and the process ends soon. */
static void drop_all(lacis_team *team)
{
    for (int i = 0; i < team->transfers; i++)
        team->ranks->driver->drop(&team->transfer[i].request);
    team->transfers = 0;
}

static lacis_status come_to_end(lacis_team *team, lacis_status status)
{
    void *waste = NULL;
    if (status == LACIS_OK) status = lacis_team_wait(team);
    team->ended = true;
    if (team->leave != NULL) team->leave(team->leave_context);
    const lacis_error why = team->run->host->error;
    const double start = lacis_now();
    lacis_status over = team->ranks->broken ? LACIS_UNSUPPORTED : LACIS_OK;
    if (over == LACIS_OK && status != LACIS_OK) over = take_back(team);
    if (over == LACIS_OK) over = tell_all(team, status != LACIS_OK);
    if (over == LACIS_OK) over = all_are_over(team, &waste);
    free(waste);
    team->spent.waited += lacis_now() - start;
    if (over != LACIS_OK) drop_all(team);
    if (status != LACIS_OK) { /* the first error stays */
        team->run->host->error = why;
        return status;
    }
    if (over != LACIS_OK) return lacis_team_broken(team, 0, 0);
    return team->failed ? lacis_run_fail(team->run, LACIS_INTERRUPT, "another rank's piece failed") : LACIS_OK;
}

void lacis_team_before_end(lacis_team *team, void (*leave)(void *context), void *context)
{
    team->leave = leave;
    team->leave_context = context;
}

lacis_status lacis_team_end(lacis_team *team, lacis_status status)
{
    if (!team->ended) team->outcome = come_to_end(team, status);
    return status != LACIS_OK ? status : team->outcome;
}
