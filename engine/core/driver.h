/* SPDX-License-Identifier: Apache-2.0
 *
 * The calls that device.c makes of a GPU's runtime, as a table: cuda.c fills it with CUDA's, tests with a pretended
 * device in host memory. Every call answers 0 or the runtime's own error code. Streams, events and pools are opaque.
 */
#ifndef LACIS_CORE_DRIVER_H
#define LACIS_CORE_DRIVER_H

#include "lacis_extend.h"

typedef struct lacis_driver {
    /* Whether asking could find a device, without loading or starting anything; if not, why. */
    bool (*possible)(char *reason, size_t size);
    int (*count)(int *out);
    int (*describe)(int device, lacis_gpu_facts *out); /* all but budget and rates */
    int (*enter)(int device);                          /* what follows on this thread is for that device */
    int (*stream_new)(void **out);
    int (*stream_free)(void *stream);
    int (*stream_wait)(void *stream);
    int (*stream_follow)(void *stream, void *event); /* what follows on the stream waits for the event */
    int (*event_new)(void **out);
    int (*event_free)(void *event);
    int (*event_record)(void *event, void *stream);
    int (*event_wait)(void *event);
    int (*pool_new)(int device, void **out); /* keeps what is given back to it until pool_trim */
    int (*pool_free)(void *pool);
    int (*pool_trim)(void *pool);
    int (*alloc)(uint64_t bytes, void *pool, void *stream, void **out); /* in the stream's order, as is free */
    int (*free)(void *block, void *stream);
    int (*pinned_new)(uint64_t bytes, void **out); /* host memory that the device copies from at full speed */
    int (*pinned_free)(void *block);
    int (*copy)(void *to, const void *from, uint64_t bytes, bool upload, void *stream);
    int (*library_new)(const void *image, void **out); /* of compiled kernels; copies the image */
    int (*library_free)(void *library);
    int (*library_kernel)(void *library, const char *name, void **out);
    const char *(*text)(int code);
    bool (*full)(int code); /* out of memory, and nothing else is wrong */
    void (*forget)(void);   /* the error that the runtime remembers */
} lacis_driver;

/* cuda.c. */
const lacis_driver *lacis_driver_cuda(void);

#endif
