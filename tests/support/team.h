/* SPDX-License-Identifier: Apache-2.0
 *
 * Pieces that work together as threads of a test, each a rank of its own with a host and a run.
 */
#ifndef LACIS_TESTS_TEAM_H
#define LACIS_TESTS_TEAM_H

#include "support/check.h"
#include "support/mailbox.h"

enum { TEAM_MOST = 7, TEAM_CALL = 5 };

typedef struct team_member {
    int rank, pieces, round;
    lacis_host host;
    lacis_run run;
    lacis_ranks ranks;
    lacis_peer peer[TEAM_MOST];
    lacis_teammate mate[TEAM_MOST];
    lacis_team team;
    lacis_status (*piece)(struct team_member *member);
    lacis_status status;
    char said[200];
    void *own; /* the test's */
} team_member;

static void *team_work(void *arg)
{
    team_member *m = arg;
    mailbox_rank = m->rank;
    lacis_run_init(&m->run, &m->host);
    lacis_team_open(&m->team, &m->run, &m->ranks, TEAM_CALL + (uint64_t)m->round, m->rank, m->pieces);
    m->status = lacis_team_end(&m->team, m->piece(m));
    lacis_team_close(&m->team);
    snprintf(m->said, sizeof m->said, "%.190s", m->host.error.message);
    lacis_run_clear(&m->run);
    return NULL;
}

static inline void team_begin(team_member *all, int pieces, lacis_status (*piece)(team_member *))
{
    memset(all, 0, sizeof *all * (size_t)pieces);
    for (int i = 0; i < pieces; i++) {
        team_member *m = &all[i];
        assert_int_equal(lacis_host_init(&m->host), LACIS_OK);
        m->rank = i;
        m->pieces = pieces;
        m->piece = piece;
        m->ranks = (lacis_ranks){.driver = &mailbox_driver, .place = {i, pieces, i, pieces, true}};
        m->ranks.peer = m->peer;
        m->ranks.mate = m->mate;
    }
}

static inline void team_run_all(team_member *all, int pieces)
{
    pthread_t thread[TEAM_MOST];
    for (int i = 0; i < pieces; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, team_work, &all[i]), 0);
    for (int i = 0; i < pieces; i++)
        pthread_join(thread[i], NULL);
}

static inline void team_finish(team_member *all, int pieces)
{
    assert_null(mailbox); /* nothing is left for later calls */
    for (int i = 0; i < pieces; i++) {
        assert_int_equal(lacis_memory_used(all[i].host.memory), 0);
        lacis_host_clear(&all[i].host);
    }
}

#endif
