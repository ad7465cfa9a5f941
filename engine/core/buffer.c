/* SPDX-License-Identifier: Apache-2.0
 *
 * Counted memory for the parts of arrays: heap blocks, reserved address space, or the caller's own memory.
 */
#include "core/device.h"
#include "core/memory.h"

#include <string.h>
#include <sys/mman.h>

enum backing { HEAP, MAPPED, FOREIGN };

struct lacis_buffer {
    atomic_int holders;
    uint64_t serial;
    enum backing backing;
    lacis_memory *memory;
    void *data;
    uint64_t size;
    uint64_t mapped;          /* MAPPED: bytes of address space */
    _Atomic uint64_t charged; /* MAPPED: what counts against the limit; HEAP: what is filled, for all that is known */
    _Atomic uint64_t touched; /* MAPPED: the most that was ever charged */
    lacis_release_fn release;
    void *release_arg;
    lacis_buffer_mirrors mirrors; /* copies on a GPU */
};

static uint64_t next_serial(void)
{
    static _Atomic uint64_t last;
    return atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
}

static lacis_status buffer_new(lacis_run *run, enum backing backing, uint64_t size, lacis_buffer **out)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_run_alloc(run, sizeof *buffer, &buffer));
    memset(buffer, 0, sizeof *buffer);
    buffer->holders = 1;
    buffer->serial = next_serial();
    buffer->backing = backing;
    buffer->memory = lacis_memory_retain(run->host->memory);
    buffer->size = size;
    *out = buffer;
    return LACIS_OK;
}

static void buffer_delete(lacis_buffer *buffer)
{
    lacis_memory *memory = buffer->memory;
    lacis_memory_free(memory, buffer);
    lacis_memory_release(memory);
}

lacis_status lacis_buffer_new(lacis_run *run, uint64_t bytes, lacis_buffer **out)
{
    lacis_buffer *buffer;
    LACIS_TRY(buffer_new(run, HEAP, bytes, &buffer));
    buffer->data = lacis_memory_alloc(buffer->memory, bytes);
    if (buffer->data == NULL) {
        buffer_delete(buffer);
        return lacis_run_no_memory(run, bytes);
    }
    buffer->charged = bytes;
    *out = buffer;
    return LACIS_OK;
}

lacis_status lacis_buffer_reserve(lacis_run *run, uint64_t bytes, lacis_buffer **out)
{
    lacis_buffer *buffer;
    LACIS_TRY(buffer_new(run, MAPPED, bytes, &buffer));
    buffer->mapped = bytes;
    uint64_t touched = 0;
    buffer->data = lacis_memory_map(buffer->memory, &buffer->mapped, &touched);
    buffer->touched = touched;
    if (buffer->data == NULL) {
        buffer_delete(buffer);
        return lacis_run_fail(run, LACIS_NOMEM, "the system refused address space for a result");
    }
    *out = buffer;
    return LACIS_OK;
}

lacis_status lacis_buffer_charge(lacis_buffer *buffer, uint64_t more)
{
    if (!lacis_memory_may(more)) return LACIS_NOMEM;
    if (!lacis_memory_charge(buffer->memory, more)) return LACIS_LIMIT;
    uint64_t now = atomic_fetch_add(&buffer->charged, more) + more;
    uint64_t most = buffer->touched;
    while (now > most && !atomic_compare_exchange_weak(&buffer->touched, &most, now)) {
    }
    return LACIS_OK;
}

void lacis_buffer_trim(lacis_buffer *buffer, uint64_t bytes)
{
    uint64_t charged = buffer->charged;
    if (charged <= bytes) return;
    if (buffer->backing != MAPPED) {
        buffer->charged = bytes;
        return;
    }
    lacis_memory_credit(buffer->memory, charged - bytes);
    buffer->charged = bytes;
    /* Giving pages back costs a flush on every processor: not for little. */
    const uint64_t page = 4096, worth = (uint64_t)16 << 20;
    if (charged - bytes < worth) return;
    uint64_t keep = (bytes + page - 1) / page * page;
    if (keep < buffer->mapped) madvise((char *)buffer->data + keep, buffer->mapped - keep, MADV_DONTNEED);
}

lacis_status lacis_buffer_wrap(lacis_run *run, const void *data, uint64_t bytes, lacis_release_fn release, void *arg,
                               lacis_buffer **out)
{
    lacis_buffer *buffer;
    LACIS_TRY(buffer_new(run, FOREIGN, bytes, &buffer));
    memcpy(&buffer->data, &data, sizeof data); /* only ever read through arrays */
    buffer->release = release;
    buffer->release_arg = arg;
    *out = buffer;
    return LACIS_OK;
}

void *lacis_buffer_data(const lacis_buffer *buffer)
{
    return buffer->data;
}

uint64_t lacis_buffer_size(const lacis_buffer *buffer)
{
    return buffer->size;
}

uint64_t lacis_buffer_used(const lacis_buffer *buffer)
{
    return buffer->backing == FOREIGN ? buffer->size : buffer->charged;
}

lacis_buffer_mirrors *lacis_buffer_mirrored(lacis_buffer *buffer)
{
    return &buffer->mirrors;
}

bool lacis_buffer_alone(const lacis_buffer *buffer)
{
    return atomic_load(&buffer->holders) == 1 && buffer->backing != FOREIGN;
}

uint64_t lacis_buffer_serial(const lacis_buffer *buffer)
{
    return buffer->serial;
}

void lacis_buffer_change(lacis_buffer *buffer)
{
    buffer->serial = next_serial();
    lacis_mirror_drop(&buffer->mirrors);
}

lacis_buffer *lacis_buffer_retain(lacis_buffer *buffer)
{
    atomic_fetch_add_explicit(&buffer->holders, 1, memory_order_relaxed);
    return buffer;
}

void lacis_buffer_release(lacis_buffer *buffer)
{
    if (buffer == NULL || atomic_fetch_sub(&buffer->holders, 1) != 1) return;
    lacis_mirror_drop(&buffer->mirrors);
    if (buffer->backing == HEAP) {
        lacis_memory_free(buffer->memory, buffer->data);
    } else if (buffer->backing == MAPPED) {
        lacis_memory_credit(buffer->memory, buffer->charged);
        lacis_memory_unmap(buffer->memory, buffer->data, buffer->mapped, buffer->touched);
    } else if (buffer->release != NULL) {
        buffer->release(buffer->release_arg);
    }
    buffer_delete(buffer);
}
