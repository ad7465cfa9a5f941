/* SPDX-License-Identifier: Apache-2.0
 *
 * A pretended GPU in host memory, for tests of everything around kernels on machines without one: it counts what it
 * was given and never gave back, has a size, and can be told to fail.
 */
#ifndef LACIS_TESTS_GPU_H
#define LACIS_TESTS_GPU_H

#include "core/device.h"
#include "support/check.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FAKE_DEVICES = 4 };
static _Thread_local int fake_entered;

/* Codes of the pretended runtime. */
enum { FAKE_OK, FAKE_FULL, FAKE_BROKEN };

typedef struct fake_gpu {
    int devices, arch;
    uint64_t memory; /* bytes on each card */
    _Atomic uint64_t used[FAKE_DEVICES];
    atomic_int blocks, others; /* blocks; streams, events, pools, pinned pieces that are still held */
    _Atomic uint64_t sent, fetched;
    atomic_int calls;
    int fail_at; /* fail_at > 0: that call fails, and with `lost` all after it */
    int broken;  /* > 0: device broken - 1 answers no call any more from the broken_at'th on */
    atomic_int broken_at;
    bool lost, absent;
    atomic_int fails; /* of calls the guard refused */
} fake_gpu;
static fake_gpu fake;

static inline bool fake_possible(char *reason, size_t size)
{
    if (fake.absent) snprintf(reason, size, "there is no GPU in this test");
    return !fake.absent;
}
static inline int fake_count(int *out)
{
    *out = fake.devices;
    return FAKE_OK;
}
static inline int fake_describe(int device, lacis_gpu_facts *out)
{
    snprintf(out->name, sizeof out->name, "Pretended %d", device);
    snprintf(out->driver, sizeof out->driver, "CUDA 0.0");
    out->arch = fake.arch;
    out->processors = 1;
    out->memory = fake.memory;
    return FAKE_OK;
}
static inline int fake_enter(int device)
{
    fake_entered = device;
    return FAKE_OK;
}
/* A call of the device that this thread has entered. */
static inline bool fake_broken(void)
{
    bool broken = fake.broken > 0 && fake_entered == fake.broken - 1 && --fake.broken_at <= 0;
    fake.fails += broken;
    return broken;
}
static inline int fake_new(void **out)
{
    if (fake_broken()) return FAKE_BROKEN;
    *out = malloc(1);
    fake.others++;
    return FAKE_OK;
}
static inline int fake_delete(void *thing)
{
    free(thing);
    fake.others--;
    return FAKE_OK;
}
/* A pool is the device's number. */
static inline int fake_pool_new(int device, void **out)
{
    int *pool = malloc(sizeof *pool);
    *pool = device;
    *out = pool;
    fake.others++;
    return FAKE_OK;
}
static inline int fake_pinned_new(uint64_t bytes, void **out)
{
    *out = malloc(bytes);
    fake.others++;
    return FAKE_OK;
}
static inline int fake_wait(void *thing)
{
    if (fake_broken()) return FAKE_BROKEN;
    (void)thing;
    return FAKE_OK;
}
static inline int fake_follow(void *stream, void *event)
{
    if (fake_broken()) return FAKE_BROKEN;
    (void)stream, (void)event;
    return FAKE_OK;
}
static inline int fake_record(void *event, void *stream)
{
    if (fake_broken()) return FAKE_BROKEN;
    (void)event, (void)stream;
    return FAKE_OK;
}
/* Blocks carry their size and device in front. */
static inline int fake_alloc(uint64_t bytes, void *pool, void *stream, void **out)
{
    if (fake_broken()) return FAKE_BROKEN;
    (void)stream;
    int device = *(const int *)pool;
    if (fake.used[device] + bytes > fake.memory) return FAKE_FULL;
    uint64_t *block = malloc(bytes + 256);
    block[0] = bytes;
    block[1] = (uint64_t)device;
    *out = (char *)block + 256;
    fake.used[device] += bytes;
    fake.blocks++;
    return FAKE_OK;
}
static inline int fake_free(void *block, void *stream)
{
    (void)stream;
    uint64_t *start = (uint64_t *)((char *)block - 256);
    fake.used[start[1]] -= *start;
    fake.blocks--;
    free(start);
    return FAKE_OK;
}
static inline int fake_copy(void *to, const void *from, uint64_t bytes, bool upload, void *stream)
{
    if (fake_broken()) return FAKE_BROKEN;
    (void)stream;
    memcpy(to, from, bytes);
    if (upload)
        fake.sent += bytes;
    else
        fake.fetched += bytes;
    return FAKE_OK;
}
static inline int fake_library_new(const void *image, void **out)
{
    (void)image;
    return fake_new(out);
}
static inline int fake_kernel(void *library, const char *name, void **out)
{
    *out = library;
    return strcmp(name, "missing") == 0 ? FAKE_BROKEN : FAKE_OK;
}
static inline const char *fake_text(int code)
{
    return code == FAKE_FULL ? "full" : "broken";
}
static inline bool fake_full(int code)
{
    return code == FAKE_FULL;
}
static inline void fake_forget(void)
{
}

static const lacis_driver fake_driver = {
    .possible = fake_possible,
    .count = fake_count,
    .describe = fake_describe,
    .enter = fake_enter,
    .stream_new = fake_new,
    .stream_free = fake_delete,
    .stream_wait = fake_wait,
    .stream_follow = fake_follow,
    .event_new = fake_new,
    .event_free = fake_delete,
    .event_record = fake_record,
    .event_wait = fake_wait,
    .pool_new = fake_pool_new,
    .pool_free = fake_delete,
    .pool_trim = fake_wait,
    .alloc = fake_alloc,
    .free = fake_free,
    .pinned_new = fake_pinned_new,
    .pinned_free = fake_delete,
    .copy = fake_copy,
    .library_new = fake_library_new,
    .library_free = fake_delete,
    .library_kernel = fake_kernel,
    .text = fake_text,
    .full = fake_full,
    .forget = fake_forget,
};

/* Kernels of a device in `together` (bits) wait until all of these have begun, or a call has failed: so one device
 * does not do all the work before the other's thread has had a processor. Not for ever: where there is no work for
 * two. */
static unsigned fake_together;
static _Atomic unsigned fake_begun;
static inline void fake_meet(void)
{
    const struct timespec a_while = {0, 200000};
    fake_begun |= 1U << fake_entered;
    for (int i = 0; i < 50000 && (fake_begun & fake_together) != fake_together && fake.fails == 0; i++)
        nanosleep(&a_while, NULL);
}
static inline void fake_meet_again(unsigned devices)
{
    fake_together = devices;
    fake_begun = 0;
}

/* The nth call fails, counted from here; with `lost` all calls after it as well. */
static inline int fake_guard(void *arg)
{
    (void)arg;
    int call = ++fake.calls;
    bool fail = fake.fail_at > 0 && (fake.lost ? call >= fake.fail_at : call == fake.fail_at);
    fake.fails += fail;
    return fail;
}
static inline void fake_fail(int nth, bool lost)
{
    fake.calls = 0;
    fake.fails = fake.broken = 0;
    fake.fail_at = nth;
    fake.lost = lost;
}

static inline void fake_install(uint64_t memory)
{
    memset(&fake, 0, sizeof fake);
    fake.arch = 90;
    fake.devices = 1;
    fake.memory = memory;
    lacis_device_set_driver(&fake_driver);
    lacis_device_set_guard(fake_guard, NULL);
}

/* Nothing may be held any more. */
static inline void fake_remove(void)
{
    lacis_device_set_driver(NULL);
    lacis_device_set_guard(NULL, NULL);
    assert_int_equal(fake.others, 0);
    assert_int_equal(fake.blocks, 0);
}

#endif
