/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory counted against one engine's limit. Blocks carry their size in a 64-byte header, so that freeing needs no
 * size and data stay aligned for vectors. Address space for results (buffer.c) is taken and given back here too:
 * what is given back waits in a small pool, marked MADV_FREE, since first touches of fresh pages cost more than many
 * of the products that are written to them.
 */
#include "core/memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { HEADER = 64, POOL = 4 };
static const uint64_t HUGE = (uint64_t)2 << 20, SPACIOUS = (uint64_t)64 << 20, KEPT_WARM = (uint64_t)64 << 20;

struct region {
    void *data;
    uint64_t bytes;
    uint64_t touched; /* how much of it may have pages */
};

struct lacis_memory {
    atomic_int holders;
    _Atomic uint64_t used, peak, limit;
    pthread_mutex_t lock; /* of the pool */
    struct region pool[POOL];
    _Atomic uint64_t pooled;
};

/* Process-wide, set while no engine runs (lacis.h). */
static lacis_refuse_fn guard;
static void *guard_arg;

void lacis_set_allocation_guard(lacis_refuse_fn fn, void *arg)
{
    guard = fn;
    guard_arg = arg;
}

bool lacis_memory_may(uint64_t bytes)
{
    return guard == NULL || guard(guard_arg, (size_t)bytes) == 0;
}

uint64_t lacis_memory_physical(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages <= 0 || size <= 0 ? 0 : (uint64_t)pages * (uint64_t)size;
}

static uint64_t default_limit(void)
{
    uint64_t bytes = lacis_memory_physical();
    return bytes == 0 ? (uint64_t)4 << 30 : bytes / 10 * 8;
}

lacis_memory *lacis_memory_new(void)
{
    if (!lacis_memory_may(sizeof(lacis_memory))) return NULL;
    lacis_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL) return NULL;
    if (pthread_mutex_init(&memory->lock, NULL) != 0) {
        free(memory);
        return NULL;
    }
    memory->holders = 1;
    memory->limit = default_limit();
    return memory;
}

lacis_memory *lacis_memory_retain(lacis_memory *memory)
{
    atomic_fetch_add_explicit(&memory->holders, 1, memory_order_relaxed);
    return memory;
}

static void pool_empty(lacis_memory *memory)
{
    pthread_mutex_lock(&memory->lock);
    for (int i = 0; i < POOL; i++) {
        struct region *region = &memory->pool[i];
        if (region->data == NULL) continue;
        memory->pooled -= region->touched;
        munmap(region->data, region->bytes);
        *region = (struct region){0};
    }
    pthread_mutex_unlock(&memory->lock);
}

void lacis_memory_release(lacis_memory *memory)
{
    if (memory == NULL || atomic_fetch_sub(&memory->holders, 1) != 1) return;
    pool_empty(memory);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static void raise_peak(lacis_memory *memory, uint64_t used)
{
    uint64_t peak = memory->peak;
    while (used > peak && !atomic_compare_exchange_weak(&memory->peak, &peak, used)) {
    }
}

bool lacis_memory_charge(lacis_memory *memory, uint64_t bytes)
{
    uint64_t before = atomic_fetch_add(&memory->used, bytes);
    uint64_t limit = memory->limit;
    if (bytes > limit || before > limit - bytes) {
        atomic_fetch_sub(&memory->used, bytes);
        return false;
    }
    if (before + bytes + memory->pooled > limit) pool_empty(memory);
    raise_peak(memory, before + bytes);
    return true;
}

void lacis_memory_credit(lacis_memory *memory, uint64_t bytes)
{
    atomic_fetch_sub(&memory->used, bytes);
}

void lacis_memory_set_limit(lacis_memory *memory, uint64_t bytes)
{
    memory->limit = bytes;
    if (memory->used + memory->pooled > bytes) pool_empty(memory);
}

uint64_t lacis_memory_limit(const lacis_memory *memory)
{
    return memory->limit;
}

uint64_t lacis_memory_used(const lacis_memory *memory)
{
    return memory->used;
}

uint64_t lacis_memory_peak(const lacis_memory *memory)
{
    return memory->peak;
}

void lacis_memory_reset_peak(lacis_memory *memory)
{
    memory->peak = memory->used;
}

uint64_t lacis_memory_warm(const lacis_memory *memory)
{
    return memory->pooled;
}

static uint64_t alignment(uint64_t bytes)
{
    return bytes >= 2 * HUGE ? HUGE : HEADER;
}

uint64_t lacis_memory_block(uint64_t bytes)
{
    if (bytes > UINT64_MAX - HEADER - HUGE) return UINT64_MAX;
    uint64_t align = alignment(bytes);
    return (bytes + HEADER + align - 1) / align * align;
}

void *lacis_memory_alloc(lacis_memory *memory, uint64_t bytes)
{
    if (bytes > UINT64_MAX - HEADER - HUGE || !lacis_memory_may(bytes)) return NULL;
    uint64_t align = alignment(bytes), total = lacis_memory_block(bytes);
    if (!lacis_memory_charge(memory, total)) return NULL;
    char *block = aligned_alloc(align, total);
    if (block == NULL) {
        lacis_memory_credit(memory, total);
        return NULL;
    }
    if (align == HUGE) madvise(block, total, MADV_HUGEPAGE);
    memcpy(block, &total, sizeof total);
    return block + HEADER;
}

void lacis_memory_free(lacis_memory *memory, void *block)
{
    if (block == NULL) return;
    char *start = (char *)block - HEADER;
    uint64_t total;
    memcpy(&total, start, sizeof total);
    lacis_memory_credit(memory, total);
    free(start);
}

/* The smallest pooled region that holds `bytes` without being wildly larger. */
static bool pool_take(lacis_memory *memory, uint64_t bytes, struct region *out)
{
    struct region *best = NULL;
    pthread_mutex_lock(&memory->lock);
    for (int i = 0; i < POOL; i++) {
        struct region *region = &memory->pool[i];
        if (region->data == NULL || region->bytes < bytes) continue;
        if (best == NULL || region->bytes < best->bytes) best = region;
    }
    if (best != NULL) {
        *out = *best;
        memory->pooled -= best->touched;
        *best = (struct region){0};
    }
    pthread_mutex_unlock(&memory->lock);
    return best != NULL;
}

static void *map(uint64_t size)
{
    void *data = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (data == MAP_FAILED) return NULL;
    madvise(data, size, MADV_HUGEPAGE);
    return data;
}

void *lacis_memory_map(lacis_memory *memory, uint64_t *bytes, uint64_t *touched)
{
    struct region region;
    if (*bytes > UINT64_MAX - HUGE || !lacis_memory_may(*bytes)) return NULL;
    uint64_t size = (*bytes + HUGE - 1) / HUGE * HUGE;
    if (pool_take(memory, size, &region)) {
        *bytes = region.bytes;
        *touched = region.touched;
        return region.data;
    }
    /* Address space costs nothing, and a region with room serves the next, larger block of a result too. */
    *bytes = size < SPACIOUS ? SPACIOUS : size;
    *touched = 0;
    void *data = map(*bytes);
    if (data == NULL && *bytes > size) {
        *bytes = size < HUGE ? HUGE : size;
        data = map(*bytes);
    }
    return data;
}

/* A free place, or that of the region that is worth least; the lock is held. */
static struct region *pool_place(lacis_memory *memory)
{
    struct region *place = &memory->pool[0];
    for (int i = 1; i < POOL && place->data != NULL; i++) {
        struct region *region = &memory->pool[i];
        if (region->data == NULL || region->touched < place->touched) place = region;
    }
    return place;
}

void lacis_memory_unmap(lacis_memory *memory, void *data, uint64_t bytes, uint64_t touched)
{
    struct region region = {data, bytes, touched < bytes ? touched : bytes}, gone = region;
    pthread_mutex_lock(&memory->lock);
    struct region *place = pool_place(memory);
    bool room = memory->used + memory->pooled + region.touched <= memory->limit;
    if (room && (place->data == NULL || place->touched < region.touched)) {
#ifdef MADV_FREE
        /* A flush on every processor: not for little. */
        if (region.touched > KEPT_WARM) madvise(data, region.touched, MADV_FREE);
#endif
        gone = *place;
        *place = region;
        memory->pooled += region.touched - gone.touched;
    }
    pthread_mutex_unlock(&memory->lock);
    if (gone.data != NULL) munmap(gone.data, gone.bytes);
}
