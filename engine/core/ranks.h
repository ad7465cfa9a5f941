/* SPDX-License-Identifier: Apache-2.0
 *
 * The ranks of an mpirun: rank 0 runs statements, the others serve it. ranks_load.c finds the module that speaks MPI;
 * ranks.c sends and receives messages, and knows when the other side has gone. exec/deal.c and exec/serve.c give
 * messages their meaning.
 *
 * Only the thread that runs the engine's statement talks, but for lacis_ranks_stop_wanted, which a watching thread
 * calls while that one computes.
 */
#ifndef LACIS_CORE_RANKS_H
#define LACIS_CORE_RANKS_H

#include "core/ranks_driver.h"
#include "core/run.h"

#include <sys/types.h>

enum { LACIS_RANKS_SENT = 32 };

typedef struct lacis_peer {
    pid_t process; /* 0: on another host */
} lacis_peer;

struct lacis_ranks {
    const lacis_ranks_driver *driver;
    void *module;
    lacis_ranks_place place;
    int threads;                 /* for this rank, as its processors were when it joined; 0: not asked yet */
    lacis_peer *peer;            /* one a rank */
    struct lacis_teammate *mate; /* one a rank: of the pieces that work together (team.h) */
    bool broken;                 /* a rank is gone or MPI failed: nobody is talked to any more */
    char reason[200];
    uint64_t calls;                         /* dealt so far */
    uint64_t sent[LACIS_RANKS_SENT], sends; /* numbers of arrays that all ranks were sent last, to be kept */
    double rate;                            /* bytes a second between ranks, of the large messages so far */
};

/* ranks_load.c. Whether the environment says that this process is one of several. */
bool lacis_ranks_wanted(void);
/* Whether it is the first of them, as far as the environment says. */
bool lacis_ranks_first(void);
/* Loads the module; NULL with the reason. */
const lacis_ranks_driver *lacis_ranks_load(void **module, char *reason, size_t size);

/* ranks.c: the processes' numbers go round once. NULL with the reason; *out NULL and true: this process is alone. */
bool lacis_ranks_open(lacis_ranks **out, char *reason, size_t size);
void lacis_ranks_close(lacis_ranks *ranks); /* NULL is fine */

/* Threads of a process that shares its host with other ranks; NULL: that does not. */
int lacis_ranks_threads(const lacis_ranks *ranks);

/* A message: a kind, a number that the sender chooses, and bytes. */
typedef struct lacis_message {
    uint32_t kind;
    uint64_t number, bytes;
} lacis_message;
/* Fails with LACIS_UNSUPPORTED and the reason where the other side is gone; the ranks are broken then. */
lacis_status lacis_ranks_send(lacis_run *run, lacis_ranks *ranks, int to, const lacis_message *message,
                              const void *data);
/* Whether a message from that rank has come. */
lacis_status lacis_ranks_there(lacis_run *run, lacis_ranks *ranks, int from, bool *there);
/* Its head, for which it waits; lacis_ranks_body must follow. LACIS_INTERRUPT where the run was cancelled meanwhile
 * and `stoppable`. */
lacis_status lacis_ranks_head(lacis_run *run, lacis_ranks *ranks, int from, bool stoppable, lacis_message *out);
/* Its bytes, in a buffer of their own; without memory for it they are thrown away and that is the status. */
lacis_status lacis_ranks_body(lacis_run *run, lacis_ranks *ranks, int from, const lacis_message *head,
                              lacis_buffer **out);
/* Sleeps between two looks, at first not at all, then longer up to a millisecond. *pause: 0 at first. */
void lacis_ranks_pause(unsigned *pause);
/* Whether that rank's process still runs, where it can be seen; breaks the ranks otherwise. */
bool lacis_ranks_alive(lacis_ranks *ranks, int rank);

/* Asks `to` to stop working at call `number`; from a watching thread: whether rank 0 has. */
void lacis_ranks_stop(lacis_ranks *ranks, int to, uint64_t number);
bool lacis_ranks_stop_wanted(lacis_ranks *ranks, uint64_t number);

#endif
