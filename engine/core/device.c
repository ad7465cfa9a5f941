/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine's GPU: found when first asked for, with a reason where there is none; its stream and memory pool; blocks
 * counted against gpu_memory_limit; and what a failed call means. Operators' GPU variants call it through
 * lacis_extend.h, SHOW DEVICES and SET through device.h.
 */
#include "core/device.h"

#include <string.h>

enum { ALIGN = 256 };

/* Process-wide, set while no engine runs (device.h). */
static const lacis_driver *chosen;
static int (*guard)(void *arg);
static void *guard_arg;

void lacis_device_set_driver(const lacis_driver *driver)
{
    chosen = driver;
}

void lacis_device_set_guard(int (*refuse)(void *arg), void *arg)
{
    guard = refuse;
    guard_arg = arg;
}

bool lacis_device_refused(void)
{
    return guard != NULL && guard(guard_arg) != 0;
}

static const lacis_driver *driver(void)
{
    return chosen != NULL ? chosen : lacis_driver_cuda();
}

static const char *error_text(const lacis_gpu *gpu, int code)
{
    return code == LACIS_DRIVER_REFUSED ? "refused by a test" : gpu->driver->text(code);
}

/* ----------------------------------------------------------------------------------------- starting */

static int start_device(lacis_gpu *gpu)
{
    int code = LACIS_DRIVER(gpu, describe, gpu->device, &gpu->facts);
    if (code == 0) code = LACIS_DRIVER(gpu, enter, gpu->device);
    if (code == 0) code = LACIS_DRIVER(gpu, stream_new, &gpu->stream);
    if (code == 0) code = LACIS_DRIVER(gpu, pool_new, gpu->device, &gpu->pool);
    return code;
}

static void stop_device(lacis_gpu *gpu)
{
    const lacis_driver *calls = gpu->driver;
    for (int i = 0; i < LACIS_GPU_PIECES; i++) {
        if (gpu->piece[i] != NULL) calls->pinned_free(gpu->piece[i]);
        if (gpu->piece_done[i] != NULL) calls->event_free(gpu->piece_done[i]);
        gpu->piece[i] = gpu->piece_done[i] = NULL;
    }
    while (gpu->module != NULL) {
        lacis_module *module = gpu->module;
        gpu->module = module->next;
        calls->library_free(module->library);
        lacis_memory_free(gpu->memory, module);
    }
    if (gpu->stream != NULL) calls->stream_free(gpu->stream);
    if (gpu->pool != NULL) calls->pool_free(gpu->pool);
    gpu->stream = gpu->pool = NULL;
}

static void start(lacis_gpu *gpu)
{
    int devices = 0;
    gpu->state = LACIS_GPU_ABSENT;
    if (!gpu->driver->possible(gpu->reason, sizeof gpu->reason)) return;
    int code = LACIS_DRIVER(gpu, count, &devices);
    if (devices > 0) gpu->device %= devices;
    if (code == 0 && devices > 0) code = start_device(gpu);
    if (code != 0) {
        snprintf(gpu->reason, sizeof gpu->reason, "the GPU cannot be used: %.120s", error_text(gpu, code));
        gpu->driver->forget();
        stop_device(gpu);
    } else if (devices == 0) {
        snprintf(gpu->reason, sizeof gpu->reason, "the NVIDIA driver shows no GPU to this process");
    } else {
        gpu->state = LACIS_GPU_READY;
    }
}

static void set_limit(lacis_gpu *gpu, uint64_t bytes)
{
    uint64_t most = gpu->facts.memory / 10 * 9;
    gpu->limit = bytes == 0 || bytes > most ? most : bytes;
    gpu->facts.budget = gpu->limit;
}

lacis_gpu *lacis_device_find(lacis_host *host)
{
    /* Rates until the first large copy has been timed: PCIe 4 through pinned memory. */
    const double upload_rate = 18e9, download_rate = 16e9;
    if (host->gpu != NULL) return host->gpu;
    lacis_gpu *gpu = lacis_memory_alloc(host->memory, sizeof *gpu);
    if (gpu == NULL) return NULL;
    memset(gpu, 0, sizeof *gpu);
    if (pthread_mutex_init(&gpu->lock, NULL) != 0) {
        lacis_memory_free(host->memory, gpu);
        return NULL;
    }
    gpu->holders = 1;
    gpu->memory = lacis_memory_retain(host->memory);
    gpu->driver = driver();
    gpu->device = host->gpu_number;
    gpu->facts.upload_rate = upload_rate;
    gpu->facts.download_rate = download_rate;
    start(gpu);
    set_limit(gpu, host->gpu_limit);
    host->gpu = gpu;
    return gpu;
}

void lacis_gpu_release(lacis_gpu *gpu)
{
    if (gpu == NULL || atomic_fetch_sub(&gpu->holders, 1) != 1) return;
    lacis_memory *memory = gpu->memory;
    if (gpu->state != LACIS_GPU_ABSENT) {
        gpu->driver->enter(gpu->device);
        stop_device(gpu);
    }
    pthread_mutex_destroy(&gpu->lock);
    lacis_memory_free(memory, gpu->block);
    lacis_memory_free(memory, gpu);
    lacis_memory_release(memory);
}

void lacis_device_set_limit(lacis_host *host, uint64_t bytes)
{
    host->gpu_limit = bytes;
    if (host->gpu != NULL) set_limit(host->gpu, bytes);
}

lacis_status lacis_device_each(const lacis_gpu *gpu, lacis_device_fn fn, void *arg)
{
    int devices = 0;
    if (gpu->state == LACIS_GPU_ABSENT || LACIS_DRIVER(gpu, count, &devices) != 0) return LACIS_OK;
    for (int i = 0; i < devices; i++) {
        lacis_gpu_facts facts = {0};
        if (LACIS_DRIVER(gpu, describe, i, &facts) == 0) LACIS_TRY(fn(arg, i, &facts));
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------ asking for it */

bool lacis_gpu_possible(const lacis_run *run, char *reason, size_t size)
{
    const lacis_gpu *gpu = run->host->gpu;
    if (gpu == NULL) return driver()->possible(reason, size);
    if (gpu->state == LACIS_GPU_READY) return true;
    snprintf(reason, size, "%s", gpu->reason);
    return false;
}

bool lacis_gpu_started(const lacis_run *run)
{
    return run->host->gpu != NULL && run->host->gpu->state == LACIS_GPU_READY;
}

lacis_gpu *lacis_run_gpu(lacis_run *run, char *reason, size_t size)
{
    lacis_gpu *gpu = lacis_device_find(run->host);
    if (gpu == NULL) {
        snprintf(reason, size, "the host has no memory left to start a GPU");
        return NULL;
    }
    if (gpu->state != LACIS_GPU_READY) {
        snprintf(reason, size, "%s", gpu->reason);
        return NULL;
    }
    int code = LACIS_DRIVER(gpu, enter, gpu->device);
    if (code != 0) {
        lacis_device_failed(gpu, code);
        snprintf(reason, size, "%s", gpu->reason);
        return NULL;
    }
    gpu->turn++;
    return gpu;
}

void lacis_gpu_describe(const lacis_gpu *gpu, lacis_gpu_facts *out)
{
    *out = gpu->facts;
}

void *lacis_gpu_stream(const lacis_gpu *gpu)
{
    return gpu->stream;
}

/* --------------------------------------------------------------------------------------- failed calls */

void lacis_device_failed(lacis_gpu *gpu, int code)
{
    gpu->driver->forget();
    snprintf(gpu->reason, sizeof gpu->reason, "%.60s failed: %.100s", gpu->facts.name, error_text(gpu, code));
    int answer = LACIS_DRIVER(gpu, stream_wait, gpu->stream);
    if (answer == 0) return;
    gpu->driver->forget();
    gpu->state = LACIS_GPU_LOST;
    snprintf(gpu->reason, sizeof gpu->reason, "%.60s is lost: %.100s", gpu->facts.name, error_text(gpu, code));
}

lacis_status lacis_gpu_failed(lacis_run *run, lacis_gpu *gpu, int code)
{
    lacis_device_failed(gpu, code);
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", gpu->reason);
}

lacis_status lacis_gpu_wait(lacis_run *run, lacis_gpu *gpu)
{
    int code = LACIS_DRIVER(gpu, stream_wait, gpu->stream);
    return code == 0 ? LACIS_OK : lacis_gpu_failed(run, gpu, code);
}

/* --------------------------------------------------------------------------------------------- memory */

static bool make_room(lacis_gpu *gpu)
{
    if (gpu->blocks < gpu->block_room) return true;
    int room = gpu->block_room == 0 ? 64 : 2 * gpu->block_room;
    struct lacis_block *grown = lacis_memory_alloc(gpu->memory, sizeof *grown * (uint64_t)room);
    if (grown == NULL) return false;
    if (gpu->blocks > 0) memcpy(grown, gpu->block, sizeof *grown * (size_t)gpu->blocks);
    lacis_memory_free(gpu->memory, gpu->block);
    gpu->block = grown;
    gpu->block_room = room;
    return true;
}

static bool fits(const lacis_gpu *gpu, uint64_t bytes)
{
    return bytes <= gpu->limit && gpu->used <= gpu->limit - bytes;
}

/* Copies that nobody uses at the moment make room, first for the budget, then for what else lies on the card. */
static void *alloc_locked(lacis_gpu *gpu, uint64_t bytes)
{
    void *block = NULL;
    while (!fits(gpu, bytes) && lacis_mirror_evict(gpu)) {
    }
    if (!fits(gpu, bytes) || !make_room(gpu)) return NULL;
    int code = LACIS_DRIVER(gpu, alloc, bytes, gpu->pool, gpu->stream, &block);
    if (code != 0 && gpu->driver->full(code)) {
        gpu->driver->forget();
        while (lacis_mirror_evict(gpu)) {
        }
        code = LACIS_DRIVER(gpu, stream_wait, gpu->stream);
        if (code == 0) code = LACIS_DRIVER(gpu, pool_trim, gpu->pool);
        if (code == 0) code = LACIS_DRIVER(gpu, alloc, bytes, gpu->pool, gpu->stream, &block);
    }
    if (code != 0) {
        if (gpu->driver->full(code)) {
            gpu->driver->forget();
        } else {
            lacis_device_failed(gpu, code);
        }
        return NULL;
    }
    gpu->block[gpu->blocks++] = (struct lacis_block){block, bytes};
    gpu->used += bytes;
    if (gpu->used > gpu->peak) gpu->peak = gpu->used;
    return block;
}

void *lacis_gpu_alloc(lacis_gpu *gpu, uint64_t bytes)
{
    if (gpu->state != LACIS_GPU_READY || bytes > UINT64_MAX - ALIGN || !lacis_memory_may(bytes)) return NULL;
    uint64_t rounded = bytes == 0 ? ALIGN : (bytes + ALIGN - 1) / ALIGN * ALIGN;
    pthread_mutex_lock(&gpu->lock);
    void *block = alloc_locked(gpu, rounded);
    pthread_mutex_unlock(&gpu->lock);
    return block;
}

/* A lost device refuses, and its memory is gone with it; a failing free of a good one shows at the next call. */
void lacis_device_free_locked(lacis_gpu *gpu, void *block)
{
    for (int i = gpu->blocks - 1; i >= 0; i--) {
        if (gpu->block[i].device != block) continue;
        gpu->used -= gpu->block[i].bytes;
        gpu->block[i] = gpu->block[--gpu->blocks];
        gpu->driver->enter(gpu->device);
        gpu->driver->free(block, gpu->stream);
        return;
    }
}

void lacis_gpu_free(lacis_gpu *gpu, void *block)
{
    if (block == NULL) return;
    pthread_mutex_lock(&gpu->lock);
    lacis_device_free_locked(gpu, block);
    pthread_mutex_unlock(&gpu->lock);
}

uint64_t lacis_gpu_memory_left(lacis_gpu *gpu)
{
    pthread_mutex_lock(&gpu->lock);
    uint64_t left = gpu->used < gpu->limit ? gpu->limit - gpu->used : 0;
    for (const lacis_mirror *mirror = gpu->oldest; mirror != NULL; mirror = mirror->newer)
        if (mirror->use != gpu->turn) left += mirror->bytes;
    pthread_mutex_unlock(&gpu->lock);
    return left < gpu->limit ? left : gpu->limit;
}
