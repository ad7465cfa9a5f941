/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine's GPU behind what lacis_extend.h shows of it. device.c: finding and starting it, errors, memory under a
 * budget; copies.c, staged.c: copies between host and device; mirror.c: which buffers have one there; panels.c: work
 * dealt over several. Nothing of CUDA is touched before somebody asks for a GPU. Calls are made by the engine's
 * thread, but for those that let go of buffers and those that lanes of panels.c may make: memory, lacis_gpu_fetch,
 * lacis_gpu_broke.
 */
#ifndef LACIS_CORE_DEVICE_H
#define LACIS_CORE_DEVICE_H

#include "core/driver.h"
#include "core/run.h"

#include <pthread.h>

typedef enum lacis_gpu_state {
    LACIS_GPU_READY,
    LACIS_GPU_ABSENT, /* reason says why */
    LACIS_GPU_LOST    /* it was there, and failed */
} lacis_gpu_state;

struct lacis_block {
    void *device;
    uint64_t bytes;
};

/* A part of a buffer that has a copy on the device, or what an operator made of it there. In two lists: that of its
 * buffer, and the device's by last use. */
typedef struct lacis_mirror {
    struct lacis_mirror *next; /* of the buffer, on this device */
    struct lacis_mirror *newer, *older;
    struct lacis_buffer_mirrors *home;
    uint64_t offset, bytes;
    void *device;
    uint64_t use;           /* of what turn of the device */
    lacis_gpu_thing *thing; /* NULL: a copy */
} lacis_mirror;

/* A kernel compiled at run time (engine/jit), by the hash of all that made it. */
enum { LACIS_HASH_TEXT = 33 };
typedef struct lacis_module {
    struct lacis_module *next;
    char hash[LACIS_HASH_TEXT];
    void *library, *kernel; /* kernel NULL: the source has none of that name */
} lacis_module;

enum { LACIS_GPU_PIECES = 3, LACIS_GPU_PIECE = 16 << 20 }; /* places for copies, bytes of each */

/* Counted: the engine (or the device before it) holds it, and every buffer that ever had a copy there. */
struct lacis_gpu {
    atomic_int holders;
    lacis_gpu *next; /* the engine's next device, once it was asked for; held */
    lacis_memory *memory;
    const lacis_driver *driver;
    _Atomic lacis_gpu_state state;
    char reason[200];
    int number, device; /* of the engine's devices; to the driver */
    lacis_gpu_facts facts;
    void *stream, *pool;
    void *copier, *computed; /* stream of lacis_gpu_fetch, and the event that it waits for; NULL: none yet */
    void *side[2], *pinned;  /* lacis_gpu_beside */
    uint64_t fetched;        /* by lacis_gpu_fetch */
    pthread_mutex_t failing; /* of reason, while lanes run */
    pthread_mutex_t copying; /* of the pieces */
    pthread_mutex_t lock;    /* of all below */
    struct lacis_block *block;
    int blocks, block_room;
    uint64_t used, peak, limit;
    lacis_mirror *newest, *oldest;
    uint64_t turn;                                                /* mirrors of the present turn are in use */
    void *piece[LACIS_GPU_PIECES], *piece_done[LACIS_GPU_PIECES]; /* pinned staging and its events; NULL: none yet */
    lacis_module *module;
};

/* Looks for GPUs, once an engine: the first one, started. NULL: no memory on the host. */
lacis_gpu *lacis_device_find(lacis_host *host);
/* The one behind `gpu`, started now where it was not yet; NULL: there is none (or no memory on the host). */
lacis_gpu *lacis_device_next(lacis_host *host, lacis_gpu *gpu);
/* Of several processes on this machine the `rank`th: devices rank, rank + ranks ... are its own, or one of all where
 * there are more processes than devices. Before a device is asked for. */
void lacis_device_set_rank(lacis_host *host, int rank, int ranks);
void lacis_gpu_release(lacis_gpu *gpu); /* NULL is fine */
/* Every device of this machine: for SHOW DEVICES. Calls fn for each that can be described. */
typedef lacis_status (*lacis_device_fn)(void *arg, int number, const lacis_gpu_facts *facts);
lacis_status lacis_device_each(const lacis_gpu *gpu, lacis_device_fn fn, void *arg);
/* SET gpu_memory_limit; 0: nine tenths of the card. */
void lacis_device_set_limit(lacis_host *host, uint64_t bytes);

/* copies.c: times copies both ways, for CALIBRATE; facts hold what came out. */
lacis_status lacis_device_measure(lacis_run *run, lacis_gpu *gpu);
/* staged.c: a copy through the pinned places, which are there; on `stream`. The driver's code. */
int lacis_device_staged(const lacis_run *run, lacis_gpu *gpu, void *host, void *device, uint64_t bytes,
                        bool to_device, void *stream);
/* copies.c, for panels.c: lacis_gpu_fetch is for what the device's stream has to do so far. The driver's code. */
int lacis_device_follow(lacis_gpu *gpu);
/* copies.c: so many bytes came in so many seconds, for facts and EXPLAIN ANALYZE. */
void lacis_device_learn(lacis_run *run, lacis_gpu *gpu, uint64_t bytes, double seconds, bool upload);
/* Takes note of a failed call, and finds out whether the device is lost. */
void lacis_device_failed(lacis_gpu *gpu, int code);
/* A call of the driver's table by name, or the guard's refusal. */
#define LACIS_DRIVER(gpu, name, ...)                                                                                 \
    (lacis_device_refused() ? LACIS_DRIVER_REFUSED : (gpu)->driver->name(__VA_ARGS__))
enum { LACIS_DRIVER_REFUSED = -1 };
bool lacis_device_refused(void);

/* mirror.c, for device.c: gives back the copy that was used longest ago and is not in use now; the lock is held.
 * False: there is none. */
bool lacis_mirror_evict(lacis_gpu *gpu);
/* device.c, for mirror.c; the lock is held. */
void lacis_device_free_locked(lacis_gpu *gpu, void *block);

/* buffer.c, for mirror.c. The bytes of a buffer that have been filled. */
uint64_t lacis_buffer_used(const lacis_buffer *buffer);
bool lacis_buffer_alone(const lacis_buffer *buffer); /* held once, and not somebody else's memory */
/* Where a buffer keeps its mirrors: the device (retained) that they are on, or NULL; those on others stand behind
 * `more`.
 */
typedef struct lacis_buffer_mirrors {
    _Atomic(lacis_gpu *) gpu;
    lacis_mirror *first; /* under the device's lock */
    _Atomic(struct lacis_buffer_mirrors *) more;
} lacis_buffer_mirrors;
lacis_buffer_mirrors *lacis_buffer_mirrored(lacis_buffer *buffer);
/* mirror.c, for buffer.c: the buffer goes. */
void lacis_mirror_drop(lacis_buffer_mirrors *mirrors);

/* Process-wide, for tests, set while no engine runs: another driver (NULL: CUDA), and a guard asked before each call,
 * whose non-zero answer makes that call fail. */
void lacis_device_set_driver(const lacis_driver *driver);
void lacis_device_set_guard(int (*refuse)(void *arg), void *arg);
/* Each device counts so many times: several of them where a machine has one. */
void lacis_device_set_copies(int copies);

#endif
