/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums and maxima over pieces that work together: up a binary tree to piece 0, and down again. Integers add up to the
 * same in any order, and so does the greatest; so every piece decides alike.
 */
#include "core/team.h"

#include <math.h>
#include <string.h>

enum { UP = LACIS_TEAM_TAGS, DOWN };

typedef void (*join_fn)(void *to, const void *from, int count);

static lacis_status fetch(lacis_team *team, int from, int tag, void *data, uint64_t bytes)
{
    LACIS_TRY(lacis_team_receive(team, from, tag, data, bytes));
    return lacis_team_wait(team);
}

static lacis_status give(lacis_team *team, int to, int tag, const void *data, uint64_t bytes)
{
    LACIS_TRY(lacis_team_send(team, to, tag, data, bytes));
    return lacis_team_wait(team);
}

/* other: room for a second set. */
static lacis_status up_and_down(lacis_team *team, void *values, void *other, int count, uint64_t bytes, join_fn join)
{
    const int piece = team->piece, pieces = team->pieces;
    int bit = 1;
    for (; bit < pieces; bit <<= 1) {
        if ((piece & bit) != 0) break;
        if (piece + bit >= pieces) continue;
        LACIS_TRY(fetch(team, piece + bit, UP, other, bytes));
        join(values, other, count);
    }
    if (piece != 0) {
        LACIS_TRY(give(team, piece - bit, UP, values, bytes));
        LACIS_TRY(fetch(team, piece - bit, DOWN, values, bytes));
    }
    for (bit >>= 1; bit > 0; bit >>= 1)
        if (piece + bit < pieces) LACIS_TRY(give(team, piece + bit, DOWN, values, bytes));
    return LACIS_OK;
}

static lacis_status reduce(lacis_team *team, void *values, int count, join_fn join)
{
    void *other;
    const uint64_t bytes = sizeof(int64_t) * (uint64_t)count;
    if (team->pieces == 1 || count <= 0) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(team->run, bytes, &other));
    lacis_status status = lacis_team_wait(team); /* what else is under way would make the waits below longer */
    if (status == LACIS_OK) status = up_and_down(team, values, other, count, bytes, join);
    if (status != LACIS_OK) status = lacis_team_end(team, status); /* before the memory goes */
    lacis_run_free(team->run, other);
    return status;
}

static void add(void *to, const void *from, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t a, b;
        memcpy(&a, (char *)to + sizeof a * (size_t)i, sizeof a);
        memcpy(&b, (const char *)from + sizeof b * (size_t)i, sizeof b);
        a += b;
        memcpy((char *)to + sizeof a * (size_t)i, &a, sizeof a);
    }
}

static void greater(void *to, const void *from, int count)
{
    double *mine = to;
    const double *theirs = from;
    for (int i = 0; i < count; i++)
        if (!isnan(mine[i]) && (isnan(theirs[i]) || theirs[i] > mine[i])) mine[i] = theirs[i];
}

lacis_status lacis_team_sum(lacis_team *team, int64_t *values, int count)
{
    return reduce(team, values, count, add);
}

lacis_status lacis_team_max(lacis_team *team, double *values, int count)
{
    return reduce(team, values, count, greater);
}
