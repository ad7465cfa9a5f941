/* SPDX-License-Identifier: Apache-2.0
 *
 * The engine's GPU: found when first asked for, with a reason where there is none; its stream and memory pool; blocks
 * counted against gpu_memory_limit; and what a failed call means. Operators' GPU variants call it through
 * lacis_extend.h, SHOW DEVICES and SET through device.h.
 */
#include "core/device.h"
#include "core/near.h"

#include <string.h>

enum { ALIGN = 256 };

/* Process-wide, set while no engine runs (device.h). */
static const lacis_driver *chosen;
static int (*guard)(void *arg);
static void *guard_arg;
static int copies = 1;

void lacis_device_set_driver(const lacis_driver *driver)
{
    chosen = driver;
}

void lacis_device_set_guard(int (*refuse)(void *arg), void *arg)
{
    guard = refuse;
    guard_arg = arg;
}

void lacis_device_set_copies(int times)
{
    copies = times;
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
    for (int i = 0; i < LACIS_COUNT(gpu->side); i++)
        if (gpu->side[i] != NULL) calls->stream_free(gpu->side[i]);
    if (gpu->pinned != NULL) calls->pinned_free(gpu->pinned);
    if (gpu->copier != NULL) calls->stream_free(gpu->copier);
    if (gpu->computed != NULL) calls->event_free(gpu->computed);
    if (gpu->stream != NULL) calls->stream_free(gpu->stream);
    if (gpu->pool != NULL) calls->pool_free(gpu->pool);
    gpu->stream = gpu->pool = gpu->copier = gpu->computed = gpu->side[0] = gpu->side[1] = gpu->pinned = NULL;
}

/* The driver's number of the host's nth device, or -1. */
static int nth_device(const lacis_host *host, int n, int devices)
{
    int step = host->gpu_step > 0 ? host->gpu_step : 1, all = devices * copies, at = host->gpu_number + n * step;
    if (n == 0 && all > 0) at %= all;
    return at < all ? at % devices : -1;
}

/* Of several ranks on this machine each works beside its first GPU: threads that it starts, and the memory that it
 * asks for, which copies go through. */
static void move_near(lacis_host *host, const lacis_gpu *gpu)
{
    if (host->gpu_step < 2 || gpu->number > 0) return;
    const int cpus = lacis_near("/sys", gpu->facts.address);
    if (cpus > 0 && host->threads_asked == 0 && host->threads > cpus) host->threads = cpus;
}

static void start(lacis_host *host, lacis_gpu *gpu)
{
    int devices = 0;
    gpu->state = LACIS_GPU_ABSENT;
    if (!gpu->driver->possible(gpu->reason, sizeof gpu->reason)) return;
    int code = LACIS_DRIVER(gpu, count, &devices);
    if (code == 0 && devices > 0) gpu->device = nth_device(host, gpu->number, devices);
    if (gpu->device < 0) return;
    if (code == 0 && devices > 0) code = start_device(gpu);
    if (code != 0) {
        snprintf(gpu->reason, sizeof gpu->reason, "the GPU cannot be used: %.120s", error_text(gpu, code));
        gpu->driver->forget();
        stop_device(gpu);
    } else if (devices == 0) {
        snprintf(gpu->reason, sizeof gpu->reason, "the NVIDIA driver shows no GPU to this process");
    } else {
        gpu->state = LACIS_GPU_READY;
        move_near(host, gpu);
    }
}

static void set_limit(lacis_gpu *gpu, uint64_t bytes)
{
    uint64_t most = gpu->facts.memory / 10 * 9;
    gpu->limit = bytes == 0 || bytes > most ? most : bytes;
    gpu->facts.budget = gpu->limit;
}

static bool make_locks(lacis_gpu *gpu)
{
    pthread_mutex_t *lock[] = {&gpu->lock, &gpu->copying, &gpu->failing};
    for (int i = 0; i < LACIS_COUNT(lock); i++) {
        if (pthread_mutex_init(lock[i], NULL) == 0) continue;
        while (i-- > 0)
            pthread_mutex_destroy(lock[i]);
        return false;
    }
    return true;
}

/* The host's nth device, started. */
static lacis_gpu *make(lacis_host *host, int number)
{
    /* Rates until the first large copy has been timed: PCIe 4 through pinned memory. */
    const double upload_rate = 18e9, download_rate = 16e9;
    lacis_gpu *gpu = lacis_memory_alloc(host->memory, sizeof *gpu);
    if (gpu == NULL) return NULL;
    memset(gpu, 0, sizeof *gpu);
    if (!make_locks(gpu)) {
        lacis_memory_free(host->memory, gpu);
        return NULL;
    }
    gpu->holders = 1;
    gpu->number = number;
    gpu->memory = lacis_memory_retain(host->memory);
    gpu->driver = driver();
    gpu->facts.upload_rate = upload_rate;
    gpu->facts.download_rate = download_rate;
    start(host, gpu);
    set_limit(gpu, host->gpu_limit);
    return gpu;
}

lacis_gpu *lacis_device_find(lacis_host *host)
{
    if (host->gpu == NULL) host->gpu = make(host, 0);
    return host->gpu;
}

lacis_gpu *lacis_device_next(lacis_host *host, lacis_gpu *gpu)
{
    if (gpu->next != NULL) return gpu->next;
    if (gpu->state == LACIS_GPU_ABSENT || gpu->number + 1 >= LACIS_GPUS) return NULL;
    lacis_gpu *next = make(host, gpu->number + 1);
    if (next != NULL && next->device < 0) {
        lacis_gpu_release(next);
        return NULL;
    }
    gpu->next = next;
    return next;
}

void lacis_device_set_rank(lacis_host *host, int rank, int ranks)
{
    host->gpu_number = rank;
    host->gpu_step = ranks;
}

void lacis_gpu_release(lacis_gpu *gpu)
{
    if (gpu == NULL || atomic_fetch_sub(&gpu->holders, 1) != 1) return;
    lacis_memory *memory = gpu->memory;
    lacis_gpu *next = gpu->next;
    if (gpu->state != LACIS_GPU_ABSENT) {
        gpu->driver->enter(gpu->device);
        stop_device(gpu);
    }
    pthread_mutex_destroy(&gpu->lock);
    pthread_mutex_destroy(&gpu->copying);
    pthread_mutex_destroy(&gpu->failing);
    lacis_memory_free(memory, gpu->block);
    lacis_memory_free(memory, gpu);
    lacis_memory_release(memory);
    lacis_gpu_release(next);
}

void lacis_device_set_limit(lacis_host *host, uint64_t bytes)
{
    host->gpu_limit = bytes;
    for (lacis_gpu *gpu = host->gpu; gpu != NULL; gpu = gpu->next)
        set_limit(gpu, bytes);
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

/* The first of those started that can be used; NULL: none. */
static lacis_gpu *usable(lacis_gpu *gpu)
{
    while (gpu != NULL && gpu->state != LACIS_GPU_READY)
        gpu = gpu->next;
    return gpu;
}

bool lacis_gpu_possible(const lacis_run *run, char *reason, size_t size)
{
    lacis_gpu *gpu = run->host->gpu;
    if (gpu == NULL) return driver()->possible(reason, size);
    if (usable(gpu) != NULL) return true;
    snprintf(reason, size, "%s", gpu->reason);
    return false;
}

bool lacis_gpu_started(const lacis_run *run)
{
    return usable(run->host->gpu) != NULL;
}

/* What follows on this thread is for that device, and its copies of a turn before may go. */
static bool enter(lacis_gpu *gpu)
{
    int code = LACIS_DRIVER(gpu, enter, gpu->device);
    if (code != 0) lacis_device_failed(gpu, code);
    gpu->turn++;
    return code == 0;
}

lacis_gpu *lacis_run_gpu(lacis_run *run, char *reason, size_t size)
{
    lacis_gpu *first = lacis_device_find(run->host), *gpu = usable(first);
    if (first == NULL) {
        snprintf(reason, size, "the host has no memory left to start a GPU");
        return NULL;
    }
    if (gpu != NULL && enter(gpu)) return gpu;
    snprintf(reason, size, "%s", gpu != NULL ? gpu->reason : first->reason);
    return NULL;
}

lacis_status lacis_gpu_enter(lacis_run *run, lacis_gpu *gpu)
{
    int code = LACIS_DRIVER(gpu, enter, gpu->device);
    return code == 0 ? LACIS_OK : lacis_gpu_failed(run, gpu, code);
}

int lacis_gpu_number(const lacis_gpu *gpu)
{
    return gpu->number;
}

bool lacis_run_gpus_forced(const lacis_run *run)
{
    return run->host->gpus > 1;
}

int lacis_run_gpus(lacis_run *run, bool start_more, lacis_gpu **out)
{
    lacis_host *host = run->host;
    lacis_gpu *first = usable(host->gpu);
    int most = host->gpus > 0 && host->gpus < LACIS_GPUS ? host->gpus : LACIS_GPUS, count = 0;
    if (first == NULL) return 0;
    out[count++] = first;
    for (lacis_gpu *gpu = first; count < most && gpu != NULL;) {
        gpu = start_more || host->gpus > 1 ? lacis_device_next(host, gpu) : gpu->next;
        if (gpu != NULL && gpu->state == LACIS_GPU_READY && enter(gpu)) out[count++] = gpu;
    }
    if (count > 1) first->driver->enter(first->device);
    return count;
}

void lacis_gpu_describe(const lacis_gpu *gpu, lacis_gpu_facts *out)
{
    *out = gpu->facts;
}

void *lacis_gpu_stream(const lacis_gpu *gpu)
{
    return gpu->stream;
}

/* Helps where there is one: whoever asks does without else. */
void lacis_gpu_beside(lacis_gpu *gpu, void **side, void **pinned)
{
    for (int i = 0; i < LACIS_COUNT(gpu->side); i++)
        if (gpu->side[i] == NULL && LACIS_DRIVER(gpu, stream_new, &gpu->side[i]) != 0) gpu->side[i] = NULL;
    if (gpu->pinned == NULL && LACIS_DRIVER(gpu, pinned_new, LACIS_GPU_PINNED, &gpu->pinned) != 0) gpu->pinned = NULL;
    if (gpu->side[0] == NULL || gpu->side[1] == NULL || gpu->pinned == NULL) gpu->driver->forget();
    side[0] = gpu->side[0];
    side[1] = gpu->side[1];
    *pinned = gpu->pinned;
}

/* --------------------------------------------------------------------------------------- failed calls */

void lacis_device_failed(lacis_gpu *gpu, int code)
{
    gpu->driver->forget();
    int answer = LACIS_DRIVER(gpu, stream_wait, gpu->stream);
    if (answer != 0) {
        gpu->driver->forget();
        gpu->state = LACIS_GPU_LOST;
    }
    pthread_mutex_lock(&gpu->failing);
    snprintf(gpu->reason, sizeof gpu->reason, "%.60s %s: %.100s", gpu->facts.name, answer == 0 ? "failed" : "is lost",
             error_text(gpu, code));
    pthread_mutex_unlock(&gpu->failing);
}

lacis_status lacis_gpu_broke(lacis_gpu *gpu, int code)
{
    lacis_device_failed(gpu, code);
    return LACIS_UNSUPPORTED;
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

bool lacis_gpu_charge(lacis_gpu *gpu, uint64_t bytes)
{
    pthread_mutex_lock(&gpu->lock);
    while (!fits(gpu, bytes) && lacis_mirror_evict(gpu)) {
    }
    const bool room = gpu->state == LACIS_GPU_READY && fits(gpu, bytes);
    if (room) gpu->used += bytes;
    if (gpu->used > gpu->peak) gpu->peak = gpu->used;
    pthread_mutex_unlock(&gpu->lock);
    return room;
}

void lacis_gpu_credit(lacis_gpu *gpu, uint64_t bytes)
{
    pthread_mutex_lock(&gpu->lock);
    gpu->used -= bytes;
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
