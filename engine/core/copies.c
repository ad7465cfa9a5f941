/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between host and device. Large ones go through a ring of pinned memory (staged.c); on an H200 that is as
 * fast as its link (54 of 55 GB/s), where registering the host's memory costs more than it saves. Called by operators
 * through lacis_extend_gpu.h, by mirror.c and by CALIBRATE.
 */
#include "core/device.h"

#include <string.h>

/* Below it the runtime's own staging is as fast. */
static const uint64_t SMALL_COPY = (uint64_t)2 << 20;
/* The same in lanes of panels.c, whose threads would first have to start others. */
static const uint64_t SMALL_IN_LANES = (uint64_t)4 << 20;
/* Copies from which rates are learned. */
static const uint64_t WORTH_TIMING = (uint64_t)64 << 20;

/* False: there is no pinned memory; copies then go without. */
static bool pieces_ready(lacis_gpu *gpu)
{
    for (int i = 0; i < LACIS_GPU_PIECES; i++) {
        if (gpu->piece[i] == NULL && LACIS_DRIVER(gpu, pinned_new, LACIS_GPU_PIECE, &gpu->piece[i]) != 0)
            gpu->piece[i] = NULL;
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

static int move_code(const lacis_run *run, lacis_gpu *gpu, void *host, void *device, uint64_t bytes, bool upload,
                     void *stream)
{
    if (bytes <= (stream == gpu->stream ? SMALL_COPY : SMALL_IN_LANES))
        return copy_plain(gpu, upload ? device : host, upload ? host : device, bytes, upload, stream);
    pthread_mutex_lock(&gpu->copying);
    int code;
    if (!pieces_ready(gpu)) {
        code = copy_plain(gpu, upload ? device : host, upload ? host : device, bytes, upload, stream);
    } else {
        code = lacis_device_staged(run, gpu, host, device, bytes, upload, stream);
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
