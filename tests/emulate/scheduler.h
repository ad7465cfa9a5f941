/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes, warps and blocks of the launch that runs. scheduler.cpp runs them, meet.cpp lets them wait for each other,
 * report.cpp tells where they are.
 */
#ifndef LACIS_EMULATE_SCHEDULER_H
#define LACIS_EMULATE_SCHEDULER_H

#include "arena.h"
#include "fiber.h"

#include "emulate/launch.h"

#include <vector>

namespace emulate
{

enum state { READY, AT_WARP, AT_BARRIER, AT_CLUSTER, ENDED };

struct copy {
    void *to;
    const void *from;
    size_t bytes, zeros;
    unsigned group;
};

struct lane {
    index id; /* first: `now` points to it */
    block *home;
    warp *squad;
    unsigned number; /* in the warp */
    state is;
    place waits;     /* or polls, where */
    unsigned result; /* of the barrier */
    fiber *context;
    std::vector<copy> copies;
    unsigned group; /* of copies that is being filled */
};

struct warp {
    block *home;
    lane *lanes;
    unsigned ready, ended; /* lanes */
    unsigned last;         /* that ran */
    int64_t priority;
    int at; /* in the list of warps with ready lanes; -1: not there */
    std::vector<meeting *> open;
};

struct barrier_state {
    unsigned came, votes, wanted; /* wanted 0: all that have not ended */
    place where;
};
enum { BARRIERS = 16 };

struct cluster {
    unsigned blocks, alive, came; /* lanes */
    std::vector<block *> members;
};

struct block {
    std::vector<lane> lanes;
    std::vector<warp> warps;
    unsigned alive;
    barrier_state barriers[BARRIERS];
    arena memory;
    cluster *group;
    unsigned rank;
};

/* --- scheduler.cpp ----------------------------------------------------------------------------------- */

extern const shape *running; /* NULL: no kernel runs */
extern std::vector<block *> residents;
lane *self();
void wait_as(state s, place here); /* until someone makes this lane ready */
void make_ready(lane *l);
unsigned random_below(unsigned n);
extern bool seeded;

/* --- meet.cpp: a lane has ended --------------------------------------------------------------------------- */

void ended(lane *l);

/* --- report.cpp ---------------------------------------------------------------------------------------- */

void tell_where(); /* kernel, block and thread that run, to stderr */
[[noreturn]] void tell_deadlock();
void watch_begin(), watch_end(); /* a launch that takes too long is told of */
void catch_signals();

} /* namespace emulate */

#endif
