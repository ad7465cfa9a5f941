/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces that work together, as threads that talk through a mailbox: messages of any size arrive in order, sums and
 * maxima are the same everywhere, and however a piece ends, all end, with no message left for the next call.
 */
#include "support/team.h"

#include <math.h>
#include <stdatomic.h>
#include <sys/wait.h>

static unsigned char byte_of(int from, int tag, uint64_t at)
{
    return (unsigned char)((uint64_t)from * 31 + (uint64_t)tag * 7 + at * 13 + (at >> 20));
}

/* ----------------------------------------------------------------------------------------- messages */

/* To both neighbours round a ring, which may be the same one, twice each. */
static lacis_status ring(team_member *m)
{
    static const uint64_t sizes[] = {1, 3000, 100000, 2 * LACIS_RANKS_PIECE + 17};
    enum { SIZES = LACIS_COUNT(sizes), WAYS = 2 };
    unsigned char *out[SIZES][WAYS], *in[SIZES][WAYS];
    const int next[WAYS] = {(m->rank + 1) % m->pieces, (m->rank + m->pieces - 1) % m->pieces};
    for (int s = 0; s < SIZES; s++)
        for (int w = 0; w < WAYS; w++) {
            LACIS_TRY(lacis_run_alloc(&m->run, sizes[s], &out[s][w]));
            LACIS_TRY(lacis_run_alloc(&m->run, sizes[s], &in[s][w]));
            for (uint64_t i = 0; i < sizes[s]; i++)
                out[s][w][i] = byte_of(m->rank, w + 2 * s, i);
            LACIS_TRY(lacis_team_receive(&m->team, next[w], 1 - w, in[s][w], sizes[s]));
            LACIS_TRY(lacis_team_send(&m->team, next[w], w, out[s][w], sizes[s]));
        }
    bool done;
    LACIS_TRY(lacis_team_test(&m->team, &done));
    LACIS_TRY(lacis_team_wait(&m->team));
    for (int s = 0; s < SIZES; s++)
        for (int w = 0; w < WAYS; w++) {
            for (uint64_t i = 0; i < sizes[s]; i++)
                if (in[s][w][i] != byte_of(next[w], 1 - w + 2 * s, i))
                    return lacis_run_fail(&m->run, LACIS_FORMAT, "x");
            lacis_run_free(&m->run, out[s][w]);
            lacis_run_free(&m->run, in[s][w]);
        }
    return LACIS_OK;
}

static void test_messages(void **state)
{
    (void)state;
    team_member all[TEAM_MOST];
    for (int pieces = 2; pieces <= 4; pieces++) {
        team_begin(all, pieces, ring);
        team_run_all(all, pieces);
        for (int i = 0; i < pieces; i++) {
            assert_int_equal(all[i].status, LACIS_OK);
            assert_true(all[i].team.spent.messages == 2 * (3 + 3));
        }
        team_finish(all, pieces);
    }
}

static lacis_status sums(team_member *m)
{
    int64_t value[3] = {m->rank + 1, INT64_MAX, -m->rank};
    double most[3] = {m->rank, -1.0 - m->rank, m->rank == m->pieces - 1 ? NAN : 5};
    const int64_t n = m->pieces;
    LACIS_TRY(lacis_team_sum(&m->team, value, 3));
    LACIS_TRY(lacis_team_max(&m->team, most, 3));
    bool right = value[0] == n * (n + 1) / 2 && value[1] == (int64_t)((uint64_t)n * (uint64_t)INT64_MAX) &&
                 value[2] == -n * (n - 1) / 2 && most[0] == (double)(n - 1) && most[1] == -1 && isnan(most[2]);
    return right ? LACIS_OK : lacis_run_fail(&m->run, LACIS_FORMAT, "wrong");
}

static void test_sums(void **state)
{
    (void)state;
    team_member all[TEAM_MOST];
    for (int pieces = 1; pieces <= TEAM_MOST; pieces++) {
        team_begin(all, pieces, sums);
        team_run_all(all, pieces);
        for (int i = 0; i < pieces; i++)
            assert_int_equal(all[i].status, LACIS_OK);
        team_finish(all, pieces);
    }
}

/* --------------------------------------------------------------------------------------------- ends */

/* The last one fails while all have large messages under way, some of which nobody will ever receive. */
static lacis_status failing(team_member *m)
{
    static char out[TEAM_MOST][100000], in[TEAM_MOST][TEAM_MOST][100000];
    const bool bad = m->rank == m->pieces - 1;
    for (int i = 0; i < m->pieces; i++) {
        if (i == m->rank) continue;
        LACIS_TRY(lacis_team_send(&m->team, i, 1, out[m->rank], sizeof out[0]));
        if (!bad) LACIS_TRY(lacis_team_receive(&m->team, i, 1, in[m->rank][i], sizeof in[0][0]));
        if (!bad) LACIS_TRY(lacis_team_receive(&m->team, i, 2, in[m->rank][i], sizeof in[0][0]));
    }
    if (bad) return lacis_run_fail(&m->run, LACIS_RANGE, "no more");
    return lacis_team_wait(&m->team); /* what has tag 2 nobody sends */
}

static void test_failure(void **state)
{
    (void)state;
    team_member all[TEAM_MOST];
    for (int pieces = 2; pieces <= TEAM_MOST; pieces++) {
        team_begin(all, pieces, failing);
        team_run_all(all, pieces);
        for (int i = 0; i < pieces - 1; i++) {
            assert_int_equal(all[i].status, LACIS_INTERRUPT);
            assert_string_equal(all[i].said, "another rank's piece failed");
        }
        assert_int_equal(all[pieces - 1].status, LACIS_RANGE);
        assert_string_equal(all[pieces - 1].said, "no more");
        assert_null(mailbox);
        for (int i = 0; i < pieces; i++) { /* and the same ranks go on */
            all[i].piece = sums;
            all[i].round++;
        }
        team_run_all(all, pieces);
        for (int i = 0; i < pieces; i++)
            assert_int_equal(all[i].status, LACIS_OK);
        team_finish(all, pieces);
    }
}

static lacis_status late_failure(team_member *m)
{
    return m->rank == 1 ? lacis_run_fail(&m->run, LACIS_RANGE, "late") : LACIS_OK;
}

/* Those that are done already hear of it all the same. */
static void test_late_failure(void **state)
{
    (void)state;
    team_member all[TEAM_MOST];
    team_begin(all, 3, late_failure);
    team_run_all(all, 3);
    assert_int_equal(all[0].status, LACIS_INTERRUPT);
    assert_int_equal(all[1].status, LACIS_RANGE);
    assert_int_equal(all[2].status, LACIS_INTERRUPT);
    team_finish(all, 3);
}

static atomic_int left; /* pieces that have let go */

static void leave(void *context)
{
    int *times = context;
    ++*times;
    atomic_fetch_add(&left, 1);
}

/* Piece 1 fails beside a sum, whose end is that of the pieces: behind it all have let go, each once. */
static lacis_status leaving(team_member *m)
{
    int times = 0, gone;
    int64_t value = 1;
    lacis_team_before_end(&m->team, leave, &times);
    lacis_status status =
        m->rank == 1 ? lacis_run_fail(&m->run, LACIS_RANGE, "late") : lacis_team_sum(&m->team, &value, 1);
    status = lacis_team_end(&m->team, status);
    gone = atomic_load(&left);
    return gone == m->pieces && times == 1 ? status : lacis_run_fail(&m->run, LACIS_FORMAT, "%d, %d", gone, times);
}

static void test_leaving(void **state)
{
    (void)state;
    team_member all[TEAM_MOST];
    for (int pieces = 2; pieces <= TEAM_MOST; pieces++) {
        team_begin(all, pieces, leaving);
        atomic_store(&left, 0);
        team_run_all(all, pieces);
        for (int i = 0; i < pieces; i++)
            assert_int_equal(all[i].status, i == 1 ? LACIS_RANGE : LACIS_INTERRUPT);
        team_finish(all, pieces);
    }
}

/* Rank 0's user wants no more, while rank 0 waits for the others' end and these for a message. */
static lacis_status cancelled(team_member *m)
{
    static int never;
    if (m->rank == 0) {
        atomic_store(&m->host.cancel, 1);
        return LACIS_OK;
    }
    LACIS_TRY(lacis_team_receive(&m->team, 0, 9, &never, sizeof never));
    return lacis_team_wait(&m->team);
}

static void test_cancelled(void **state)
{
    (void)state;
    team_member all[TEAM_MOST];
    team_begin(all, 4, cancelled);
    team_run_all(all, 4);
    for (int i = 0; i < 4; i++)
        assert_int_equal(all[i].status, LACIS_INTERRUPT);
    team_finish(all, 4);
}

/* Its process is known to have ended: the others say so, and free what they hold. */
static lacis_status waits_for_2(team_member *m)
{
    static int never[2];
    LACIS_TRY(lacis_team_receive(&m->team, 2, 0, &never[m->rank], sizeof never[0]));
    return lacis_team_wait(&m->team);
}

static void test_gone(void **state)
{
    (void)state;
    team_member all[TEAM_MOST];
    pthread_t thread[2];
    pid_t child = fork();
    if (child == 0) _exit(0);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    team_begin(all, 3, waits_for_2);
    for (int i = 0; i < 2; i++) {
        all[i].peer[2].process = child;
        assert_int_equal(pthread_create(&thread[i], NULL, team_work, &all[i]), 0);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], NULL);
        assert_int_equal(all[i].status, LACIS_UNSUPPORTED);
        assert_non_null(strstr(all[i].said, "rank 2 has ended"));
        assert_true(all[i].ranks.broken);
    }
    team_finish(all, 3);
}

static lacis_status misused(team_member *m)
{
    char byte = 0;
    assert_int_equal(lacis_team_send(&m->team, m->rank, 0, &byte, 1), LACIS_MISUSE);
    assert_int_equal(lacis_team_send(&m->team, m->pieces, 0, &byte, 1), LACIS_MISUSE);
    assert_int_equal(lacis_team_receive(&m->team, 1 - m->rank, -1, &byte, 1), LACIS_MISUSE);
    return LACIS_OK;
}

static void test_misuse(void **state)
{
    (void)state;
    team_member all[TEAM_MOST];
    team_begin(all, 2, misused);
    team_run_all(all, 2);
    team_finish(all, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),     cmocka_unit_test(test_sums),      cmocka_unit_test(test_failure),
        cmocka_unit_test(test_late_failure), cmocka_unit_test(test_cancelled), cmocka_unit_test(test_gone),
        cmocka_unit_test(test_misuse),       cmocka_unit_test(test_leaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
