/* SPDX-License-Identifier: Apache-2.0
 *
 * Two ranks in one process, for tests without MPI: rank 0 is the test, rank 1 a thread that serves with an engine of
 * its own; messages go through sockets. The driver's functions have no context, as MPI's have none: one set a rank.
 */
#ifndef LACIS_TESTS_RANKS_H
#define LACIS_TESTS_RANKS_H

#include "core/ranks.h"
#include "support/db.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

/* [tag - 1][rank] */
enum { RANKS_TAGS = 3 };
static int ranks_socket[RANKS_TAGS][2];

static inline int ranks_move(int fd, bool out, char *data, uint64_t bytes, lacis_ranks_wait wait)
{
    for (uint64_t at = 0; at < bytes;) {
        ssize_t moved = out ? send(fd, data + at, bytes - at, MSG_DONTWAIT | MSG_NOSIGNAL)
                            : recv(fd, data + at, bytes - at, MSG_DONTWAIT);
        if (moved > 0) at += (uint64_t)moved;
        if (moved > 0) continue;
        if (moved == 0 || (errno != EAGAIN && errno != EINTR)) return EPIPE;
        int code = wait.wait(wait.arg);
        if (code != 0) return code;
    }
    return 0;
}

#define RANKS_DRIVER(rank)                                                                                           \
    static int ranks_send_##rank(int to, lacis_ranks_tag tag, const void *data, uint64_t bytes,                      \
                                 lacis_ranks_wait wait)                                                              \
    {                                                                                                                \
        char *bare;                                                                                                  \
        memcpy(&bare, &data, sizeof bare);                                                                           \
        return to == !rank ? ranks_move(ranks_socket[tag - 1][rank], true, bare, bytes, wait) : EINVAL;              \
    }                                                                                                                \
    static int ranks_receive_##rank(int from, lacis_ranks_tag tag, void *data, uint64_t bytes,                       \
                                    lacis_ranks_wait wait)                                                           \
    {                                                                                                                \
        return from == !rank ? ranks_move(ranks_socket[tag - 1][rank], false, data, bytes, wait) : EINVAL;           \
    }                                                                                                                \
    static int ranks_probe_##rank(int from, lacis_ranks_tag tag, bool *there)                                        \
    {                                                                                                                \
        char byte;                                                                                                   \
        ssize_t peeked = recv(ranks_socket[tag - 1][rank], &byte, 1, MSG_DONTWAIT | MSG_PEEK);                       \
        *there = peeked > 0;                                                                                         \
        return from != !rank ? EINVAL : peeked == 0 ? EPIPE : 0;                                                     \
    }                                                                                                                \
    static const lacis_ranks_driver ranks_driver_##rank = {.version = LACIS_RANKS_VERSION,                           \
                                                           .send = ranks_send_##rank,                                \
                                                           .receive = ranks_receive_##rank,                          \
                                                           .probe = ranks_probe_##rank,                              \
                                                           .text = ranks_text}
static void ranks_text(int code, char *out, size_t size)
{
    snprintf(out, size, "%s", strerror(code));
}
RANKS_DRIVER(0);
RANKS_DRIVER(1);

typedef struct ranks_bench {
    lacis_engine *engine; /* rank 0's */
    lacis_ranks ranks[2];
    lacis_peer peer[2][2];
    pthread_t thread;
    lacis_status served;
} ranks_bench;

static void *ranks_serve(void *arg)
{
    ranks_bench *bench = arg;
    lacis_engine *engine;
    bench->served = lacis_open(NULL, &engine);
    if (bench->served == LACIS_OK) bench->served = lacis_ranks_serve(&bench->ranks[1], engine);
    lacis_close(engine);
    return NULL;
}

static inline int ranks_setup(void **state)
{
    ranks_bench *bench = calloc(1, sizeof *bench);
    assert_non_null(bench);
    for (int tag = 0; tag < RANKS_TAGS; tag++)
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ranks_socket[tag]), 0);
    for (int rank = 0; rank < 2; rank++) {
        bench->ranks[rank] = (lacis_ranks){.driver = rank == 0 ? &ranks_driver_0 : &ranks_driver_1,
                                           .place = {rank, 2, rank, 2, true},
                                           .peer = bench->peer[rank],
                                           .rate = 1e9};
    }
    bench->engine = db_open(NULL);
    assert_int_equal(lacis_set_ranks(bench->engine, &bench->ranks[0]), LACIS_OK);
    db_run(bench->engine, "SET ranks = all");
    assert_int_equal(pthread_create(&bench->thread, NULL, ranks_serve, bench), 0);
    *state = bench;
    return 0;
}

/* Rank 0's ends are closed: rank 1 finds nobody and ends. */
static inline int ranks_teardown(void **state)
{
    ranks_bench *bench = *state;
    for (int tag = 0; tag < RANKS_TAGS; tag++)
        shutdown(ranks_socket[tag][0], SHUT_RDWR);
    pthread_join(bench->thread, NULL);
    for (int tag = 0; tag < RANKS_TAGS; tag++)
        for (int rank = 0; rank < 2; rank++)
            close(ranks_socket[tag][rank]);
    lacis_close(bench->engine);
    free(bench);
    return 0;
}

/* A test with two ranks. */
#define RANKS(function) cmocka_unit_test_setup_teardown(function, ranks_setup, ranks_teardown)

/* The same rows dealt and alone; and dealt it was. */
static inline void ranks_check_same(lacis_engine *engine, const char *statement)
{
    char explain[600];
    db_run(engine, "SET ranks = all");
    char *dealt = db_rows(engine, statement);
    snprintf(explain, sizeof explain, "EXPLAIN ANALYZE %s", statement);
    char *plan = db_rows(engine, explain);
    db_run(engine, "SET ranks = off");
    char *alone = db_rows(engine, statement);
    db_run(engine, "SET ranks = all");
    assert_string_equal(dealt, alone);
    if (strstr(plan, "  ranks 2\n") == NULL) fail_msg("%s was not dealt: %s", statement, plan);
    free(dealt);
    free(alone);
    free(plan);
}

/* Bytes sent to rank 1, as an EXPLAIN ANALYZE says. */
static inline double ranks_bytes(lacis_engine *engine, const char *explain)
{
    char *plan = db_rows(engine, explain);
    const char *line = strstr(plan, "  bytes to ranks ");
    assert_non_null(line);
    double bytes = strtod(line + strlen("  bytes to ranks "), NULL);
    free(plan);
    return bytes;
}

#endif
