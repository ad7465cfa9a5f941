/* SPDX-License-Identifier: Apache-2.0
 *
 * A GPU for the engine whose kernels the emulator runs: linked into a program (tests/emulate/engine), it is there
 * before main begins. Copies and allocations are done at once; events have nothing left to wait for.
 */
#include "core/device.h"

#include <stdlib.h>
#include <string.h>

int emulated_alloc(uint64_t bytes, void **out);
int emulated_free(void *block);
int emulated_copy(void *to, const void *from, uint64_t bytes, void *stream);
int emulated_stream_new(void **out);
int emulated_stream_free(void *stream);
int emulated_wait(void *stream);
int emulated_pinned_new(uint64_t bytes, void **out);
int emulated_pinned_free(void *block);

enum { NO_MEMORY = 2, REFUSED = 1 }; /* cudaErrorMemoryAllocation, cudaErrorInvalidValue */

static uint64_t memory(void)
{
    const char *megabytes = getenv("EMULATE_MEGABYTES");
    const uint64_t otherwise = 2048;
    return (megabytes != NULL ? strtoull(megabytes, NULL, 10) : otherwise) << 20;
}

static bool possible(char *reason, size_t size)
{
    (void)reason, (void)size;
    return true;
}

static int count(int *out)
{
    *out = 1;
    return 0;
}

static int describe(int device, lacis_gpu_facts *out)
{
    (void)device;
    snprintf(out->name, sizeof out->name, "Emulated");
    snprintf(out->driver, sizeof out->driver, "the CPU");
    out->arch = 90;
    out->processors = 2;
    out->memory = memory() / 4 * 3; /* the rest is what its blocks are rounded up to */
    return 0;
}

static int enter(int device)
{
    (void)device;
    return 0;
}

/* Events and pools are nothing but their addresses. */
static int thing_new(void **out)
{
    *out = malloc(1);
    return *out == NULL ? NO_MEMORY : 0;
}

static int thing_free(void *thing)
{
    free(thing);
    return 0;
}

static int pool_new(int device, void **out)
{
    (void)device;
    return thing_new(out);
}

static int nothing(void *thing)
{
    (void)thing;
    return 0;
}

static int record(void *event, void *stream)
{
    (void)event;
    return emulated_wait(stream);
}

static int follow(void *stream, void *event)
{
    (void)stream, (void)event;
    return 0;
}

static int alloc(uint64_t bytes, void *pool, void *stream, void **out)
{
    (void)pool, (void)stream;
    return emulated_alloc(bytes, out);
}

static int give(void *block, void *stream)
{
    int code = emulated_wait(stream);
    return code != 0 ? code : emulated_free(block);
}

static int copy(void *to, const void *from, uint64_t bytes, bool upload, void *stream)
{
    (void)upload;
    return emulated_copy(to, from, bytes, stream);
}

static int library_new(const void *image, void **out)
{
    (void)image, (void)out;
    return REFUSED; /* nothing is compiled at run time */
}

static int library_kernel(void *library, const char *name, void **out)
{
    (void)library, (void)name, (void)out;
    return REFUSED;
}

static const char *text(int code)
{
    return code == NO_MEMORY ? "out of memory" : "the emulator refused a call";
}

static bool full(int code)
{
    return code == NO_MEMORY;
}

static void forget(void)
{
}

static const lacis_driver driver = {
    .possible = possible,
    .count = count,
    .describe = describe,
    .enter = enter,
    .stream_new = emulated_stream_new,
    .stream_free = emulated_stream_free,
    .stream_wait = emulated_wait,
    .stream_follow = follow,
    .event_new = thing_new,
    .event_free = thing_free,
    .event_record = record,
    .event_wait = nothing,
    .pool_new = pool_new,
    .pool_free = thing_free,
    .pool_trim = nothing,
    .alloc = alloc,
    .free = give,
    .pinned_new = emulated_pinned_new,
    .pinned_free = emulated_pinned_free,
    .copy = copy,
    .library_new = library_new,
    .library_free = thing_free,
    .library_kernel = library_kernel,
    .text = text,
    .full = full,
    .forget = forget,
};

__attribute__((constructor)) static void install(void)
{
    lacis_device_set_driver(&driver);
}
