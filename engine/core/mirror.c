/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between host and device, and which parts of arrays have one there. Large copies go through two pieces of
 * pinned memory, the threads of the run moving one while the device moves the other. Copies of parts stay until their
 * buffer goes or the device needs the room, so that a graph is sent once for many statements.
 */
#include "core/device.h"

#include <string.h>

/* Below it the runtime's own staging is as fast. */
static const uint64_t SMALL_COPY = (uint64_t)256 << 10;
static const uint64_t PIECE = (uint64_t)8 << 20, SLICE = (uint64_t)1 << 20;
/* Copies from which rates are learned. */
static const uint64_t WORTH_TIMING = (uint64_t)64 << 20;

/* --------------------------------------------------------------------------------------------- copies */

struct slices {
    char *to;
    const char *from;
    uint64_t bytes;
};

static lacis_status move_slice(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct slices *slices = context;
    uint64_t begin = (uint64_t)task * SLICE, end = begin + SLICE;
    if (end > slices->bytes) end = slices->bytes;
    memcpy(slices->to + begin, slices->from + begin, end - begin);
    return LACIS_OK;
}

static lacis_status move_host(lacis_run *run, void *to, const void *from, uint64_t bytes)
{
    struct slices slices = {to, from, bytes};
    return lacis_run_parallel(run, (int64_t)((bytes + SLICE - 1) / SLICE), move_slice, &slices);
}

/* False: there is no pinned memory; copies then go without. */
static bool pieces_ready(lacis_gpu *gpu)
{
    for (int i = 0; i < LACIS_GPU_PIECES; i++) {
        if (gpu->piece[i] == NULL && LACIS_DRIVER(gpu, pinned_new, PIECE, &gpu->piece[i]) != 0) gpu->piece[i] = NULL;
        if (gpu->piece_done[i] == NULL && LACIS_DRIVER(gpu, event_new, &gpu->piece_done[i]) != 0)
            gpu->piece_done[i] = NULL;
        if (gpu->piece[i] == NULL || gpu->piece_done[i] == NULL) {
            gpu->driver->forget();
            return false;
        }
    }
    return true;
}

static lacis_status copy_plain(lacis_run *run, lacis_gpu *gpu, void *to, const void *from, uint64_t bytes,
                               bool upload)
{
    int code = LACIS_DRIVER(gpu, copy, to, from, bytes, upload, gpu->stream);
    if (code == 0 && !upload) code = LACIS_DRIVER(gpu, stream_wait, gpu->stream);
    return code == 0 ? LACIS_OK : lacis_gpu_failed(run, gpu, code);
}

static uint64_t piece_bytes(uint64_t bytes, uint64_t at)
{
    return bytes - at < PIECE ? bytes - at : PIECE;
}

/* Starts the device's half of piece number i. */
static int begin_piece(lacis_gpu *gpu, void *to, const void *from, uint64_t bytes, bool upload, int i)
{
    int code = LACIS_DRIVER(gpu, copy, to, from, bytes, upload, gpu->stream);
    return code != 0 ? code : LACIS_DRIVER(gpu, event_record, gpu->piece_done[i], gpu->stream);
}

static lacis_status upload_pieces(lacis_run *run, lacis_gpu *gpu, const char *host, uint64_t bytes, char *device)
{
    int i = 0;
    for (uint64_t at = 0; at < bytes; at += PIECE, i = (i + 1) % LACIS_GPU_PIECES) {
        uint64_t size = piece_bytes(bytes, at);
        int code = LACIS_DRIVER(gpu, event_wait, gpu->piece_done[i]); /* of whoever used the piece before */
        if (code != 0) return lacis_gpu_failed(run, gpu, code);
        LACIS_TRY(move_host(run, gpu->piece[i], host + at, size));
        code = begin_piece(gpu, device + at, gpu->piece[i], size, true, i);
        if (code != 0) return lacis_gpu_failed(run, gpu, code);
    }
    return LACIS_OK;
}

static lacis_status download_pieces(lacis_run *run, lacis_gpu *gpu, const char *device, uint64_t bytes, char *host)
{
    int i = 0;
    int code = begin_piece(gpu, gpu->piece[0], device, piece_bytes(bytes, 0), false, 0);
    for (uint64_t at = 0; code == 0 && at < bytes; at += PIECE, i = (i + 1) % LACIS_GPU_PIECES) {
        uint64_t next = at + PIECE;
        int j = (i + 1) % LACIS_GPU_PIECES;
        if (next < bytes) code = begin_piece(gpu, gpu->piece[j], device + next, piece_bytes(bytes, next), false, j);
        if (code == 0) code = LACIS_DRIVER(gpu, event_wait, gpu->piece_done[i]);
        if (code == 0) LACIS_TRY(move_host(run, host + at, gpu->piece[i], piece_bytes(bytes, at)));
    }
    return code == 0 ? LACIS_OK : lacis_gpu_failed(run, gpu, code);
}

static void learn_rate(lacis_run *run, lacis_gpu *gpu, uint64_t bytes, double seconds, bool upload)
{
    double *rate = upload ? &gpu->facts.upload_rate : &gpu->facts.download_rate;
    lacis_run_count(run, upload ? "bytes to the GPU" : "bytes from the GPU", (double)bytes);
    lacis_run_count(run, upload ? "seconds to the GPU" : "seconds from the GPU", seconds);
    if (bytes >= WORTH_TIMING && seconds > 0) *rate = 0.5 * (*rate + (double)bytes / seconds);
}

static lacis_status move(lacis_run *run, lacis_gpu *gpu, void *host, void *device, uint64_t bytes, bool upload)
{
    if (bytes == 0) return LACIS_OK;
    if (gpu->state != LACIS_GPU_READY) return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", gpu->reason);
    lacis_status status;
    double start = lacis_now();
    if (bytes <= SMALL_COPY || !pieces_ready(gpu)) {
        status = copy_plain(run, gpu, upload ? device : host, upload ? host : device, bytes, upload);
    } else if (upload) {
        status = upload_pieces(run, gpu, host, bytes, device);
    } else {
        status = download_pieces(run, gpu, device, bytes, host);
    }
    if (status == LACIS_OK) learn_rate(run, gpu, bytes, lacis_now() - start, upload);
    return status;
}

lacis_status lacis_gpu_upload(lacis_run *run, lacis_gpu *gpu, const void *host, uint64_t bytes, void *device)
{
    void *from;
    memcpy(&from, &host, sizeof from); /* only read */
    return move(run, gpu, from, device, bytes, true);
}

lacis_status lacis_gpu_download(lacis_run *run, lacis_gpu *gpu, const void *device, uint64_t bytes, void *host)
{
    void *from;
    memcpy(&from, &device, sizeof from);
    double start = lacis_now();
    LACIS_TRY(lacis_gpu_wait(run, gpu)); /* so that kernels still running do not count as copying */
    lacis_run_count(run, "seconds waiting for the GPU", lacis_now() - start);
    return move(run, gpu, host, from, bytes, false);
}

lacis_status lacis_device_measure(lacis_run *run, lacis_gpu *gpu)
{
    uint64_t bytes = 2 * WORTH_TIMING;
    void *host, *device = lacis_gpu_alloc(gpu, bytes);
    if (device == NULL) return LACIS_OK; /* the rates stay as they were */
    lacis_status status = lacis_run_alloc(run, bytes, &host);
    if (status == LACIS_OK) {
        memset(host, 0, bytes);
        for (int round = 0; status == LACIS_OK && round < 4; round++) {
            status = lacis_gpu_upload(run, gpu, host, bytes, device);
            if (status == LACIS_OK) status = lacis_gpu_download(run, gpu, device, bytes, host);
        }
        lacis_run_free(run, host);
    }
    lacis_gpu_free(gpu, device);
    return status;
}

/* -------------------------------------------------------------------------------------------- mirrors */

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
    lacis_mirror **link = &lacis_buffer_mirrored(mirror->buffer)->first;
    while (*link != mirror)
        link = &(*link)->next;
    *link = mirror->next;
    unlink_use(gpu, mirror);
    lacis_device_free_locked(gpu, mirror->device);
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

void lacis_mirror_drop(lacis_buffer_mirrors *mirrors)
{
    lacis_gpu *gpu = mirrors->gpu;
    if (gpu == NULL) return;
    pthread_mutex_lock(&gpu->lock);
    while (mirrors->first != NULL)
        delete_mirror(gpu, mirrors->first);
    pthread_mutex_unlock(&gpu->lock);
    mirrors->gpu = NULL;
    lacis_gpu_release(gpu);
}

static lacis_mirror *find_locked(const lacis_gpu *gpu, lacis_buffer *buffer, uint64_t offset, uint64_t bytes)
{
    lacis_buffer_mirrors *mirrors = lacis_buffer_mirrored(buffer);
    if (mirrors->gpu != gpu) return NULL;
    lacis_mirror *mirror = mirrors->first;
    while (mirror != NULL && (mirror->offset > offset || mirror->offset + mirror->bytes < offset + bytes))
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

bool lacis_gpu_keep(lacis_gpu *gpu, lacis_buffer *buffer, uint64_t offset, uint64_t bytes, void *device)
{
    lacis_buffer_mirrors *mirrors = lacis_buffer_mirrored(buffer);
    lacis_mirror *mirror = NULL;
    if (gpu->state == LACIS_GPU_READY && (mirrors->gpu == NULL || mirrors->gpu == gpu))
        mirror = lacis_memory_alloc(gpu->memory, sizeof *mirror);
    if (mirror == NULL) {
        lacis_gpu_free(gpu, device);
        return false;
    }
    pthread_mutex_lock(&gpu->lock);
    *mirror = (lacis_mirror){.buffer = buffer, .offset = offset, .bytes = bytes, .device = device};
    if (mirrors->gpu == NULL) {
        atomic_fetch_add_explicit(&gpu->holders, 1, memory_order_relaxed);
        mirrors->gpu = gpu;
    }
    mirror->next = mirrors->first;
    mirrors->first = mirror;
    link_newest(gpu, mirror);
    pthread_mutex_unlock(&gpu->lock);
    return true;
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
