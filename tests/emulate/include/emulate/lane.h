/* SPDX-License-Identifier: Apache-2.0
 *
 * What device code asks of the scheduler (scheduler.cpp): who am I, meet other lanes, the block's shared memory. A
 * lane is one thread of a kernel, run as a fiber; all lanes of a launch run on one thread of the CPU, one at a time.
 */
#ifndef LACIS_EMULATE_LANE_H
#define LACIS_EMULATE_LANE_H

#include "types.h"

#include <string.h>

namespace emulate
{

struct block;
struct warp;

/* A place in the kernels' source: for reports. */
struct place {
    const char *file;
    int line;
};
#define EMULATE_HERE emulate::place here = {__builtin_FILE(), __builtin_LINE()}

struct index {
    uint3 thread, block;
};
extern __thread index *now;  /* of the lane that runs; NULL: host code runs */
extern __thread bool shaken; /* lanes may be interrupted at atomics and the like */

unsigned lane_number();

/* Another lane runs now: this one polls, in vain so far. may_turn: at random, where the seed says so. */
void turn(place here);
void progress(); /* something that others poll has changed */
void shake();
static inline void may_turn()
{
    if (shaken) shake();
}

/* Lanes of a warp that meet: each brings bytes, and sees those of all that came. */
enum kind { SYNC, SHUFFLE, BALLOT, MATCH, REDUCE };
struct meeting {
    unsigned mask, came, left;
    kind what;
    place where;
    uint64_t word[32][2];
};
meeting *meet(unsigned mask, kind what, const void *bytes, size_t count, place here);
void leave(meeting *m);

/* Barriers of a block. count 0: all threads that have not ended. Answers how many brought `vote`. */
unsigned barrier(unsigned number, unsigned count, bool vote, bool wait, place here);
unsigned threads_at_barrier(); /* of the last __syncthreads_* */
void cluster_barrier(place here);

/* Shared memory: a variable is known by its key, of which there is one for each instantiation. */
void *shared_variable(const void *key, size_t bytes, size_t alignment, const char *name);
void *dynamic_shared();
size_t dynamic_shared_bytes();
unsigned shared_address(const void *p); /* as __cvta_generic_to_shared */
void *shared_pointer(unsigned address);
void *shared_of_rank(const void *p, unsigned rank); /* the same place in another block of the cluster */
unsigned cluster_rank();
dim3 cluster_size();

/* Asynchronous copies into shared memory happen when they are waited for. */
void copy_later(void *to, const void *from, size_t bytes, size_t zeros);
void copy_commit();
void copy_wait(unsigned groups_left);

[[noreturn]] void fail(place here, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* T &name = shared<T, tag>(...): what `__shared__ T name` becomes (rewrite.py). */
template <class T, class TAG> inline T &shared(const char *name, size_t alignment = alignof(T))
{
    static char key;
    return *(T *)shared_variable(&key, sizeof(T), alignment, name);
}

/* `extern __shared__ T name[]` at namespace scope. */
template <class T> struct dynamic {
    operator T *() const
    {
        return (T *)dynamic_shared();
    }
    T &operator[](size_t i) const
    {
        return ((T *)dynamic_shared())[i];
    }
};

} /* namespace emulate */

/* Passes whenever it is asked for. */
static inline long long clock64()
{
    static __thread long long now;
    return now += 1000;
}

/* Of the lane that runs. */
extern __thread uint3 threadIdx, blockIdx, blockDim, gridDim;
enum { warpSize = 32 };

#endif
