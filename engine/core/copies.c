/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between host and device. Large ones go through a ring of pinned memory, the threads of the run moving one
 * piece while the device moves the next; on an H200 that is as fast as its link (54 of 55 GB/s), where registering
 * the host's memory costs more than it saves. Called by operators through lacis_extend_gpu.h, by mirror.c and by
 * CALIBRATE.
 */
#include "core/device.h"

#include "common/parallel.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Below it the runtime's own staging is as fast. */
static const uint64_t SMALL_COPY = (uint64_t)256 << 10;
static const uint64_t PIECE = (uint64_t)16 << 20, LEAST_PIECE = (uint64_t)4 << 20, SLICE = (uint64_t)256 << 10;
/* From here on the host's pages are touched before: a page of 2 MB at a time, all threads at it at once. */
static const uint64_t WORTH_TOUCHING = (uint64_t)4 << 20, PAGE = 4096, HUGE_PAGE = (uint64_t)2 << 20;
/* Copies from which rates are learned. */
static const uint64_t WORTH_TIMING = (uint64_t)64 << 20;

struct slices {
    char *to;
    const char *from;
    uint64_t bytes;
};

/* Past the caches where that can be said: what is copied is not read soon, and a store need not load its line first.
 */
static void move_bytes(char *to, const char *from, uint64_t bytes)
{
    uint64_t at = 0;
#ifdef __SSE2__
    uint64_t head = (16 - (uintptr_t)to % 16) % 16;
    at = head < bytes ? head : bytes;
    memcpy(to, from, at);
    for (; at + 64 <= bytes; at += 64) {
        const __m128i *source = (const __m128i *)(const void *)(from + at);
        __m128i *target = (__m128i *)(void *)(to + at);
        __m128i a = _mm_loadu_si128(source), b = _mm_loadu_si128(source + 1);
        __m128i c = _mm_loadu_si128(source + 2), d = _mm_loadu_si128(source + 3);
        _mm_stream_si128(target, a);
        _mm_stream_si128(target + 1, b);
        _mm_stream_si128(target + 2, c);
        _mm_stream_si128(target + 3, d);
    }
    _mm_sfence();
#endif
    memcpy(to + at, from + at, bytes - at);
}

static int move_slice(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct slices *slices = context;
    uint64_t begin = (uint64_t)task * SLICE, end = begin + SLICE;
    if (end > slices->bytes) end = slices->bytes;
    move_bytes(slices->to + begin, slices->from + begin, end - begin);
    return 0;
}

/* As many as keep up with the link: more would only be in the way of those that feed the device. */
static int copy_threads(const lacis_run *run)
{
    const int enough = 8;
    return lacis_run_threads(run) < enough ? lacis_run_threads(run) : enough;
}

static void move_host(const lacis_run *run, void *to, const void *from, uint64_t bytes)
{
    struct slices slices = {to, from, bytes};
    lacis_parallel(copy_threads(run), (int64_t)((bytes + SLICE - 1) / SLICE), move_slice, &slices);
}

static int touch_page(void *context, int64_t task, int worker)
{
    (void)worker;
    const struct slices *range = context;
    uintptr_t first = (uintptr_t)range->to / HUGE_PAGE * HUGE_PAGE + (uint64_t)task * HUGE_PAGE;
    for (uintptr_t at = first; at < first + HUGE_PAGE; at += PAGE)
        if (at >= (uintptr_t)range->to && at < (uintptr_t)range->to + range->bytes) *(volatile char *)at = 0;
    return 0;
}

/* All of it is about to be written. */
static void touch(const lacis_run *run, char *host, uint64_t bytes)
{
    struct slices range = {host, NULL, bytes};
    uint64_t pages = ((uintptr_t)host + bytes - 1) / HUGE_PAGE - (uintptr_t)host / HUGE_PAGE + 1;
    if (bytes >= WORTH_TOUCHING) lacis_parallel(lacis_run_threads(run), (int64_t)pages, touch_page, &range);
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

/* From here to lacis_gpu_upload the driver's codes are answered: 0 is good. */
static int copy_plain(lacis_gpu *gpu, void *to, const void *from, uint64_t bytes, bool upload, void *stream)
{
    int code = LACIS_DRIVER(gpu, copy, to, from, bytes, upload, stream);
    if (code == 0 && !upload) code = LACIS_DRIVER(gpu, stream_wait, stream);
    return code;
}

/* So that even a small copy goes in several pieces; each costs the threads a start. */
static uint64_t piece_size(uint64_t bytes)
{
    uint64_t part = bytes / 4 / LEAST_PIECE * LEAST_PIECE;
    return part < LEAST_PIECE ? LEAST_PIECE : part > PIECE ? PIECE : part;
}

static uint64_t piece_bytes(uint64_t bytes, uint64_t at)
{
    uint64_t piece = piece_size(bytes);
    return bytes - at < piece ? bytes - at : piece;
}

/* Starts the device's half of piece number i. */
static int begin_piece(lacis_gpu *gpu, void *to, const void *from, uint64_t bytes, bool upload, int i, void *stream)
{
    int code = LACIS_DRIVER(gpu, copy, to, from, bytes, upload, stream);
    return code != 0 ? code : LACIS_DRIVER(gpu, event_record, gpu->piece_done[i], stream);
}

static int upload_pieces(const lacis_run *run, lacis_gpu *gpu, const char *host, uint64_t bytes, char *device)
{
    int i = 0, code = 0;
    for (uint64_t at = 0; code == 0 && at < bytes; at += piece_size(bytes), i = (i + 1) % LACIS_GPU_PIECES) {
        uint64_t size = piece_bytes(bytes, at);
        code = LACIS_DRIVER(gpu, event_wait, gpu->piece_done[i]); /* of whoever used the piece before */
        if (code != 0) break;
        move_host(run, gpu->piece[i], host + at, size);
        code = begin_piece(gpu, device + at, gpu->piece[i], size, true, i, gpu->stream);
    }
    return code;
}

/* All pieces but one are on their way while the threads empty one. */
static int download_pieces(const lacis_run *run, lacis_gpu *gpu, const char *device, uint64_t bytes, char *host,
                           void *stream)
{
    int code = 0;
    uint64_t asked = 0, piece = piece_size(bytes);
    for (uint64_t at = 0, n = 0; code == 0 && at < bytes; at += piece, n++) {
        for (; code == 0 && asked < bytes && asked < at + piece * LACIS_GPU_PIECES; asked += piece) {
            int j = (int)(asked / piece % LACIS_GPU_PIECES);
            code = begin_piece(gpu, gpu->piece[j], device + asked, piece_bytes(bytes, asked), false, j, stream);
        }
        int i = (int)(n % LACIS_GPU_PIECES);
        if (n == 0) touch(run, host, bytes);
        if (code == 0) code = LACIS_DRIVER(gpu, event_wait, gpu->piece_done[i]);
        if (code == 0) move_host(run, host + at, gpu->piece[i], piece_bytes(bytes, at));
    }
    return code;
}

static int move_code(const lacis_run *run, lacis_gpu *gpu, void *host, void *device, uint64_t bytes, bool upload,
                     void *stream)
{
    if (bytes <= SMALL_COPY)
        return copy_plain(gpu, upload ? device : host, upload ? host : device, bytes, upload, stream);
    pthread_mutex_lock(&gpu->copying);
    int code;
    if (!pieces_ready(gpu)) {
        code = copy_plain(gpu, upload ? device : host, upload ? host : device, bytes, upload, stream);
    } else if (upload) {
        code = upload_pieces(run, gpu, host, bytes, device);
    } else {
        code = download_pieces(run, gpu, device, bytes, host, stream);
    }
    pthread_mutex_unlock(&gpu->copying);
    return code;
}

void lacis_device_learn(lacis_run *run, lacis_gpu *gpu, uint64_t bytes, double seconds, bool upload)
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
    double start = lacis_now();
    int code = move_code(run, gpu, host, device, bytes, upload, gpu->stream);
    if (code != 0) return lacis_gpu_failed(run, gpu, code);
    lacis_device_learn(run, gpu, bytes, lacis_now() - start, upload);
    return LACIS_OK;
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

/* Makes the stream for copies beside kernels, and lets it wait for what the device's stream has to do so far. */
static int follow(lacis_gpu *gpu)
{
    int code = 0;
    if (gpu->copier == NULL) {
        code = LACIS_DRIVER(gpu, stream_new, &gpu->copier);
        if (code != 0) gpu->copier = NULL;
    }
    if (code == 0 && gpu->computed == NULL) {
        code = LACIS_DRIVER(gpu, event_new, &gpu->computed);
        if (code != 0) gpu->computed = NULL;
    }
    if (code == 0) code = LACIS_DRIVER(gpu, event_record, gpu->computed, gpu->stream);
    return code != 0 ? code : LACIS_DRIVER(gpu, stream_follow, gpu->copier, gpu->computed);
}

int lacis_device_follow(lacis_gpu *gpu)
{
    return gpu->state == LACIS_GPU_READY ? follow(gpu) : LACIS_DRIVER_REFUSED;
}

lacis_status lacis_gpu_send(lacis_run *run, lacis_gpu *gpu, const void *host, uint64_t bytes, void *device)
{
    void *from;
    memcpy(&from, &host, sizeof from); /* only read */
    if (bytes == 0) return LACIS_OK;
    if (gpu->state != LACIS_GPU_READY) return LACIS_UNSUPPORTED;
    int code = move_code(run, gpu, from, device, bytes, true, gpu->stream);
    return code == 0 ? LACIS_OK : lacis_gpu_broke(gpu, code);
}

lacis_status lacis_gpu_fetch(lacis_run *run, lacis_gpu *gpu, const void *device, uint64_t bytes, void *host)
{
    void *from;
    memcpy(&from, &device, sizeof from);
    if (bytes == 0) return LACIS_OK;
    if (gpu->state != LACIS_GPU_READY) return LACIS_UNSUPPORTED;
    int code = move_code(run, gpu, host, from, bytes, false, gpu->copier);
    gpu->fetched += bytes;
    return code == 0 ? LACIS_OK : lacis_gpu_broke(gpu, code);
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
