/* SPDX-License-Identifier: Apache-2.0
 *
 * Which parts of arrays have copies on a device, and what operators made of them there. They stay until their buffer
 * goes or the device needs the room, so that a graph is sent once for many statements.
 */
#include "core/device.h"

#include <string.h>

static void unlink_use(lacis_gpu *gpu, lacis_mirror *mirror)
{
    if (mirror->newer != NULL) mirror->newer->older = mirror->older;
    if (mirror->older != NULL) mirror->older->newer = mirror->newer;
    if (gpu->newest == mirror) gpu->newest = mirror->older;
    if (gpu->oldest == mirror) gpu->oldest = mirror->newer;
    mirror->newer = mirror->older = NULL;
}

static void link_newest(lacis_gpu *gpu, lacis_mirror *mirror)
{
    mirror->use = gpu->turn;
    mirror->older = gpu->newest;
    mirror->newer = NULL;
    if (gpu->newest != NULL) gpu->newest->newer = mirror;
    gpu->newest = mirror;
    if (gpu->oldest == NULL) gpu->oldest = mirror;
}

static void delete_mirror(lacis_gpu *gpu, lacis_mirror *mirror)
{
    lacis_mirror **link = &mirror->home->first;
    while (*link != mirror)
        link = &(*link)->next;
    *link = mirror->next;
    unlink_use(gpu, mirror);
    lacis_device_free_locked(gpu, mirror->device);
    lacis_memory_free(gpu->memory, mirror->thing);
    lacis_memory_free(gpu->memory, mirror);
}

bool lacis_mirror_evict(lacis_gpu *gpu)
{
    for (lacis_mirror *mirror = gpu->oldest; mirror != NULL; mirror = mirror->newer) {
        if (mirror->use == gpu->turn) continue;
        delete_mirror(gpu, mirror);
        return true;
    }
    return false;
}

/* Of one device. */
static void drop_on(lacis_buffer_mirrors *mirrors)
{
    lacis_gpu *gpu = mirrors->gpu;
    pthread_mutex_lock(&gpu->lock);
    while (mirrors->first != NULL)
        delete_mirror(gpu, mirrors->first);
    pthread_mutex_unlock(&gpu->lock);
    mirrors->gpu = NULL;
}

void lacis_mirror_drop(lacis_buffer_mirrors *mirrors)
{
    lacis_gpu *gpu = mirrors->gpu;
    if (gpu == NULL) return;
    drop_on(mirrors);
    lacis_gpu_release(gpu);
    for (lacis_buffer_mirrors *more = mirrors->more; more != NULL;) {
        lacis_buffer_mirrors *next = more->more;
        lacis_gpu *other = more->gpu;
        drop_on(more);
        lacis_memory_free(other->memory, more);
        lacis_gpu_release(other);
        more = next;
    }
    mirrors->more = NULL;
}

static lacis_buffer_mirrors *mirrors_on(const lacis_gpu *gpu, lacis_buffer *buffer)
{
    lacis_buffer_mirrors *mirrors = lacis_buffer_mirrored(buffer);
    while (mirrors != NULL && mirrors->gpu != gpu)
        mirrors = mirrors->more;
    return mirrors;
}

/* The same, made where there is none. Only the engine's thread makes them. */
static lacis_buffer_mirrors *make_mirrors(lacis_gpu *gpu, lacis_buffer *buffer)
{
    lacis_buffer_mirrors *mirrors = mirrors_on(gpu, buffer), *first = lacis_buffer_mirrored(buffer);
    if (mirrors != NULL) return mirrors;
    bool own = first->gpu != NULL;
    mirrors = own ? lacis_memory_alloc(gpu->memory, sizeof *mirrors) : first;
    if (mirrors == NULL) return NULL;
    if (own) memset(mirrors, 0, sizeof *mirrors);
    atomic_fetch_add_explicit(&gpu->holders, 1, memory_order_relaxed);
    mirrors->gpu = gpu;
    if (own) {
        mirrors->more = (lacis_buffer_mirrors *)first->more;
        first->more = mirrors;
    }
    return mirrors;
}

static lacis_mirror *find_locked(const lacis_gpu *gpu, lacis_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    lacis_buffer_mirrors *mirrors = mirrors_on(gpu, buffer);
    if (mirrors == NULL) return NULL;
    lacis_mirror *mirror = mirrors->first;
    while (mirror != NULL &&
           (mirror->thing != NULL || mirror->offset > offset || mirror->offset + mirror->bytes < offset + bytes))
        mirror = mirror->next;
    return mirror;
}

/* The filled bytes of a part, from its buffer; NULL: there is no such part. */
static lacis_buffer *part_bytes(const lacis_array *array, const char *name, uint64_t *offset, uint64_t *bytes)
{
    const lacis_part *part = lacis_array_part_named(array, name);
    if (part == NULL) return NULL;
    lacis_buffer *buffer = lacis_array_part_buffer(array, name, offset);
    uint64_t used = lacis_buffer_used(buffer);
    *bytes = (uint64_t)part->count * lacis_dtype_size(part->dtype);
    if (*offset + *bytes > used) *bytes = used > *offset ? used - *offset : 0;
    return buffer;
}

uint64_t lacis_gpu_part_missing(lacis_gpu *gpu, const lacis_array *array, const char *name)
{
    uint64_t offset, bytes;
    lacis_buffer *buffer = part_bytes(array, name, &offset, &bytes);
    if (buffer == NULL || gpu == NULL) return buffer == NULL ? 0 : bytes;
    pthread_mutex_lock(&gpu->lock);
    bool there = find_locked(gpu, buffer, offset, bytes) != NULL;
    pthread_mutex_unlock(&gpu->lock);
    return there ? 0 : bytes;
}

/* The block becomes a mirror's, which with `thing` (its own memory) is not a copy. */
static bool keep(lacis_gpu *gpu, lacis_buffer *buffer, const lacis_mirror *what)
{
    lacis_buffer_mirrors *mirrors = gpu->state == LACIS_GPU_READY ? make_mirrors(gpu, buffer) : NULL;
    lacis_mirror *mirror = mirrors == NULL ? NULL : lacis_memory_alloc(gpu->memory, sizeof *mirror);
    if (mirror == NULL) {
        lacis_gpu_free(gpu, what->device);
        lacis_memory_free(gpu->memory, what->thing);
        return false;
    }
    pthread_mutex_lock(&gpu->lock);
    *mirror = *what;
    mirror->home = mirrors;
    mirror->next = mirrors->first;
    mirrors->first = mirror;
    link_newest(gpu, mirror);
    pthread_mutex_unlock(&gpu->lock);
    return true;
}

bool lacis_gpu_keep(lacis_gpu *gpu, lacis_buffer *buffer, uint64_t offset, uint64_t bytes, void *device)
{
    return keep(gpu, buffer, &(lacis_mirror){.offset = offset, .bytes = bytes, .device = device});
}

bool lacis_gpu_keep_made(lacis_gpu *gpu, lacis_buffer *buffer, const lacis_gpu_thing *thing)
{
    lacis_gpu_thing *own = lacis_memory_alloc(gpu->memory, sizeof *own);
    if (own == NULL) {
        lacis_gpu_free(gpu, thing->device);
        return false;
    }
    *own = *thing;
    return keep(gpu, buffer, &(lacis_mirror){.bytes = thing->bytes, .device = thing->device, .thing = own});
}

static bool is_it(const lacis_gpu_thing *thing, const lacis_gpu_thing *wanted)
{
    return thing != NULL && strcmp(thing->name, wanted->name) == 0 &&
           memcmp(thing->key, wanted->key, sizeof thing->key) == 0;
}

bool lacis_gpu_made(lacis_gpu *gpu, lacis_buffer *buffer, lacis_gpu_thing *thing)
{
    lacis_buffer_mirrors *mirrors = mirrors_on(gpu, buffer);
    if (mirrors == NULL) return false;
    pthread_mutex_lock(&gpu->lock);
    lacis_mirror *mirror = mirrors->first;
    while (mirror != NULL && !is_it(mirror->thing, thing))
        mirror = mirror->next;
    if (mirror != NULL) {
        unlink_use(gpu, mirror);
        link_newest(gpu, mirror);
        *thing = *mirror->thing;
    }
    pthread_mutex_unlock(&gpu->lock);
    return mirror != NULL;
}

static void *use_mirror(lacis_gpu *gpu, lacis_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    void *device = NULL;
    pthread_mutex_lock(&gpu->lock);
    lacis_mirror *mirror = find_locked(gpu, buffer, offset, bytes);
    if (mirror != NULL) {
        unlink_use(gpu, mirror);
        link_newest(gpu, mirror);
        device = (char *)mirror->device + (offset - mirror->offset);
    }
    pthread_mutex_unlock(&gpu->lock);
    return device;
}

lacis_status lacis_gpu_part(lacis_run *run, lacis_gpu *gpu, const lacis_array *array, const char *name,
                            const void **out)
{
    uint64_t offset, bytes;
    lacis_buffer *buffer = part_bytes(array, name, &offset, &bytes);
    *out = NULL;
    if (buffer == NULL) return LACIS_OK;
    *out = use_mirror(gpu, buffer, offset, bytes);
    if (*out != NULL) return LACIS_OK;
    void *device = lacis_gpu_alloc(gpu, bytes);
    if (device == NULL) return LACIS_LIMIT;
    lacis_status status = lacis_gpu_upload(run, gpu, (const char *)lacis_buffer_data(buffer) + offset, bytes, device);
    if (status != LACIS_OK) {
        lacis_gpu_free(gpu, device);
        return status;
    }
    if (!lacis_gpu_keep(gpu, buffer, offset, bytes, device))
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "the host has no memory left to keep a copy on the GPU");
    *out = device;
    return LACIS_OK;
}
