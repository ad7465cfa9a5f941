/* SPDX-License-Identifier: Apache-2.0
 *
 * Transfers between pieces that work together. A transfer is cut into messages of LACIS_RANKS_PIECE, so that any of
 * them can be received and thrown away where a call has failed.
 */
#include "core/team.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOKS_A_CHECK = 64, SUM_TAGS = LACIS_RANKS_TAGS - LACIS_TEAM_TAGS };
_Static_assert(SUM_TAGS >= 2, "sums over pieces have tags of their own");

/* ------------------------------------------------------------------------------- beginning, closing */

void lacis_team_open(lacis_team *team, lacis_run *run, lacis_ranks *ranks, uint64_t number, int piece, int pieces)
{
    *team = (lacis_team){
        .run = run, .ranks = ranks, .number = number, .piece = piece, .pieces = pieces, .mate = ranks->mate};
    memset(ranks->mate, 0, sizeof *ranks->mate * (size_t)ranks->place.size);
    run->team = team;
}

void lacis_team_close(lacis_team *team)
{
    const lacis_team_figures *spent = &team->spent;
    if (team->pieces > 1 && spent->messages > 0) {
        lacis_run_count(team->run, "messages between ranks", spent->messages);
        lacis_run_count(team->run, "bytes between ranks", spent->bytes);
        lacis_run_count(team->run, "seconds of waiting, ranks together", spent->waited);
    }
    lacis_run_free(team->run, team->transfer);
    team->transfer = NULL;
    team->run->team = NULL;
}

lacis_team *lacis_run_team(const lacis_run *run)
{
    return run->team;
}

int lacis_team_piece(const lacis_team *team)
{
    return team->piece;
}

int lacis_team_pieces(const lacis_team *team)
{
    return team->pieces;
}

const void *lacis_team_brief(const lacis_team *team, uint64_t *bytes)
{
    *bytes = team->brief_bytes;
    return team->brief;
}

bool lacis_team_takes_device(const lacis_team *team)
{
    return team->ranks->driver->takes_device != NULL && team->ranks->driver->takes_device();
}

/* ---------------------------------------------------------------------------------------- transfers */

lacis_status lacis_team_broken(lacis_team *team, int rank, int code)
{
    lacis_ranks *ranks = team->ranks;
    if (!ranks->broken) {
        char text[160];
        ranks->driver->text(code, text, sizeof text);
        snprintf(ranks->reason, sizeof ranks->reason, "rank %d: %s", rank, text);
        ranks->broken = true;
    }
    return lacis_run_fail(team->run, LACIS_UNSUPPORTED, "%s; the other ranks are not used any more", ranks->reason);
}

static lacis_status room_for_one(lacis_team *team)
{
    const int least = 32;
    lacis_team_transfer *grown;
    if (team->transfers < team->room) return LACIS_OK;
    int room = team->room == 0 ? least : 2 * team->room;
    LACIS_TRY(lacis_run_alloc(team->run, sizeof *grown * (uint64_t)room, &grown));
    if (team->transfers > 0) memcpy(grown, team->transfer, sizeof *grown * (size_t)team->transfers);
    lacis_run_free(team->run, team->transfer);
    team->transfer = grown;
    team->room = room;
    return LACIS_OK;
}

static lacis_status begin_one(lacis_team *team, int peer, int tag, char *data, uint64_t bytes, bool receives)
{
    const lacis_ranks_driver *driver = team->ranks->driver;
    LACIS_TRY(room_for_one(team));
    lacis_team_transfer *transfer = &team->transfer[team->transfers];
    *transfer = (lacis_team_transfer){.peer = peer, .receives = receives};
    int code = receives ? driver->begin_receive(peer, tag, data, bytes, &transfer->request)
                        : driver->begin_send(peer, tag, data, bytes, &transfer->request);
    if (code != 0) return lacis_team_broken(team, peer, code);
    team->transfers++;
    if (receives) return LACIS_OK;
    team->mate[peer].sent++;
    team->spent.messages++;
    team->spent.bytes += (double)bytes;
    return LACIS_OK;
}

static lacis_status begin(lacis_team *team, int peer, int tag, char *data, uint64_t bytes, bool receives)
{
    if (peer < 0 || peer >= team->pieces || peer == team->piece || tag < 0 || tag >= LACIS_RANKS_TAGS)
        return lacis_run_fail(team->run, LACIS_MISUSE, "a message to piece %d with tag %d", peer, tag);
    if (team->ranks->broken) return lacis_team_broken(team, peer, 0);
    uint64_t at = 0;
    do {
        uint64_t part = bytes - at < LACIS_RANKS_PIECE ? bytes - at : LACIS_RANKS_PIECE;
        LACIS_TRY(begin_one(team, peer, tag, data + at, part, receives));
        at += part;
    } while (at < bytes);
    return LACIS_OK;
}

lacis_status lacis_team_send(lacis_team *team, int to, int tag, const void *data, uint64_t bytes)
{
    return begin(team, to, tag, (char *)(uintptr_t)data, bytes, false);
}

lacis_status lacis_team_receive(lacis_team *team, int from, int tag, void *data, uint64_t bytes)
{
    return begin(team, from, tag, data, bytes, true);
}

lacis_status lacis_team_move(lacis_team *team)
{
    int kept = 0, code = 0, rank = 0;
    for (int i = 0; i < team->transfers; i++) {
        lacis_team_transfer *transfer = &team->transfer[i];
        bool done = false;
        if (code == 0) {
            code = team->ranks->driver->test(&transfer->request, &done);
            rank = transfer->peer;
        }
        if (done && transfer->receives) team->mate[transfer->peer].got++;
        if (!done) team->transfer[kept++] = *transfer;
    }
    team->transfers = kept;
    return code == 0 ? LACIS_OK : lacis_team_broken(team, rank, code);
}

/* ------------------------------------------------------------------------------------------ waiting */

void lacis_team_pause(unsigned *looks)
{
    const unsigned yields = 2000;
    const long ns = 50000;
    if ((*looks)++ < yields) {
        sched_yield();
    } else {
        struct timespec time = {0, ns};
        nanosleep(&time, NULL);
    }
}

static lacis_status all_alive(lacis_team *team)
{
    for (int rank = 0; rank < team->pieces; rank++)
        if (rank != team->piece && !lacis_ranks_alive(team->ranks, rank)) return lacis_team_broken(team, rank, 0);
    return LACIS_OK;
}

lacis_status lacis_team_look(lacis_team *team, bool closely)
{
    bool stopped = lacis_run_cancelled(team->run);
    if (!stopped && team->ranks->place.rank > 0) stopped = lacis_ranks_stop_wanted(team->ranks, team->number);
    if (stopped) return lacis_run_interrupted(team->run);
    LACIS_TRY(lacis_team_hear(team));
    if (closely) LACIS_TRY(all_alive(team));
    return team->failed ? lacis_run_fail(team->run, LACIS_INTERRUPT, "another rank's piece failed") : LACIS_OK;
}

lacis_status lacis_team_test(lacis_team *team, bool *done)
{
    if (team->ranks->broken) return lacis_team_broken(team, 0, 0);
    LACIS_TRY(lacis_team_move(team));
    *done = team->transfers == 0;
    return lacis_team_look(team, false);
}

lacis_status lacis_team_wait(lacis_team *team)
{
    unsigned looks = 0;
    bool done = false;
    const double start = lacis_now();
    lacis_status status = team->ranks->broken ? lacis_team_broken(team, 0, 0) : lacis_team_move(team);
    while (status == LACIS_OK && team->transfers > 0) {
        lacis_team_pause(&looks);
        status = lacis_team_move(team);
        done = team->transfers == 0;
        if (status == LACIS_OK && !done && looks % LOOKS_A_CHECK == 0)
            status = lacis_team_look(team, looks % (LOOKS_A_CHECK * LOOKS_A_CHECK) == 0);
    }
    team->spent.waited += lacis_now() - start;
    return status;
}
