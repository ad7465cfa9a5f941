/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies through a ring of pinned memory: the device moves one piece while the run's threads move another. One team
 * for the whole copy, since waking one for each piece takes as long as moving it: the thread that takes the first
 * task talks to the driver and says which slices may be moved, the others wait for slices. Called by copies.c.
 */
#include "core/device.h"

#include "common/parallel.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static const uint64_t PIECE = LACIS_GPU_PIECE, LEAST_PIECE = (uint64_t)4 << 20, SLICE = (uint64_t)256 << 10;
/* From here on the host's pages are touched before: a page of 2 MB at a time, all threads at it at once. */
static const uint64_t WORTH_TOUCHING = (uint64_t)4 << 20, PAGE = 4096, HUGE_PAGE = (uint64_t)2 << 20;

struct staged {
    lacis_gpu *gpu;
    char *host, *device;
    uint64_t bytes, piece; /* of all, of a piece but the last */
    int64_t slices, pages; /* of all; to be touched */
    bool upload;
    void *stream;
    int movers;                             /* that many threads move slices */
    _Atomic int64_t page, slice, ready;     /* the next to be taken; slices before `ready` may be moved */
    _Atomic int64_t touched;                /* pages */
    _Atomic int64_t left[LACIS_GPU_PIECES]; /* slices of the piece in that place that are still to be moved */
    _Atomic int code;                       /* the driver's; not 0: all stop */
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

/* --------------------------------------------------------------------------------------------- pieces */

/* So that even a small copy goes in several pieces. */
static uint64_t piece_size(uint64_t bytes)
{
    uint64_t part = bytes / 4 / LEAST_PIECE * LEAST_PIECE;
    return part < LEAST_PIECE ? LEAST_PIECE : part > PIECE ? PIECE : part;
}

static int64_t pieces_of(const struct staged *staged)
{
    return (int64_t)((staged->bytes + staged->piece - 1) / staged->piece);
}

static uint64_t piece_bytes(const struct staged *staged, int64_t piece)
{
    uint64_t at = (uint64_t)piece * staged->piece;
    return staged->bytes - at < staged->piece ? staged->bytes - at : staged->piece;
}

static int64_t slices_in(uint64_t bytes)
{
    return (int64_t)((bytes + SLICE - 1) / SLICE);
}

static void move_slice(struct staged *staged, int64_t slice)
{
    int64_t a_piece = slices_in(staged->piece), piece = slice / a_piece;
    int place = (int)(piece % LACIS_GPU_PIECES);
    uint64_t at = (uint64_t)(slice % a_piece) * SLICE, end = at + SLICE, whole = piece_bytes(staged, piece);
    char *host = staged->host + (uint64_t)piece * staged->piece + at,
         *pinned = (char *)staged->gpu->piece[place] + at;
    if (end > whole) end = whole;
    move_bytes(staged->upload ? pinned : host, staged->upload ? host : pinned, end - at);
    atomic_fetch_sub_explicit(&staged->left[place], 1, memory_order_release);
}

/* ------------------------------------------------------------------------------------------- movers */

/* Little is to be waited for: a piece comes every few tenths of a millisecond. */
static void pause_a_little(int *turns)
{
    const int often = 1024;
#ifdef __SSE2__
    _mm_pause();
#endif
    if (++*turns % often == 0) sched_yield();
}

/* Writes to pages that hold nothing yet: all of it before anything is moved there. */
static void touch_pages(struct staged *staged)
{
    uintptr_t begin = (uintptr_t)staged->host, end = begin + staged->bytes;
    for (int64_t page; (page = atomic_fetch_add(&staged->page, 1)) < staged->pages;) {
        uintptr_t first = begin / HUGE_PAGE * HUGE_PAGE + (uint64_t)page * HUGE_PAGE;
        for (uintptr_t at = first; at < first + HUGE_PAGE; at += PAGE)
            if (at >= begin && at < end) *(volatile char *)at = 0;
        atomic_fetch_add_explicit(&staged->touched, 1, memory_order_release);
    }
}

static void touch_all(struct staged *staged)
{
    int turns = 0;
    touch_pages(staged);
    while (atomic_load_explicit(&staged->touched, memory_order_acquire) < staged->pages)
        pause_a_little(&turns);
}

static void move_slices(struct staged *staged)
{
    int turns = 0;
    for (int64_t slice; (slice = atomic_fetch_add(&staged->slice, 1)) < staged->slices;) {
        while (atomic_load_explicit(&staged->ready, memory_order_acquire) <= slice) {
            if (staged->code != 0) return;
            pause_a_little(&turns);
        }
        move_slice(staged, slice);
    }
}

/* ------------------------------------------------------------------------------------- who conducts */

/* Takes slices as long as some may be moved, then waits for those that others took. */
static void finish_piece(struct staged *staged, int place)
{
    int64_t ready = staged->ready, slice = staged->slice;
    int turns = 0;
    while (slice < ready)
        if (atomic_compare_exchange_weak(&staged->slice, &slice, slice + 1)) move_slice(staged, slice);
    while (atomic_load_explicit(&staged->left[place], memory_order_acquire) > 0)
        pause_a_little(&turns);
}

static void let_move(struct staged *staged, int64_t piece)
{
    int64_t slices = slices_in(piece_bytes(staged, piece));
    int place = (int)(piece % LACIS_GPU_PIECES);
    staged->left[place] = slices;
    atomic_fetch_add_explicit(&staged->ready, slices, memory_order_release);
    finish_piece(staged, place);
}

/* Starts the device's half of a piece. */
static int begin_piece(struct staged *staged, int64_t piece)
{
    int place = (int)(piece % LACIS_GPU_PIECES);
    lacis_gpu *gpu = staged->gpu;
    char *device = staged->device + (uint64_t)piece * staged->piece;
    void *to = staged->upload ? device : gpu->piece[place], *from = staged->upload ? gpu->piece[place] : device;
    int code = LACIS_DRIVER(gpu, copy, to, from, piece_bytes(staged, piece), staged->upload, staged->stream);
    return code != 0 ? code : LACIS_DRIVER(gpu, event_record, gpu->piece_done[place], staged->stream);
}

/* Waits for the device to be through with what is in that place. */
static int wait_for(const struct staged *staged, int64_t piece)
{
    return LACIS_DRIVER(staged->gpu, event_wait, staged->gpu->piece_done[piece % LACIS_GPU_PIECES]);
}

static int upload(struct staged *staged)
{
    int code = 0;
    for (int64_t piece = 0; code == 0 && piece < pieces_of(staged); piece++) {
        code = wait_for(staged, piece); /* for whoever used the place before */
        if (code != 0) break;
        let_move(staged, piece);
        code = begin_piece(staged, piece);
    }
    return code;
}

/* All places but one are being filled while the threads empty one. */
static int download(struct staged *staged)
{
    int code = 0;
    int64_t pieces = pieces_of(staged), asked = 0;
    for (int64_t piece = 0; code == 0 && piece < pieces; piece++) {
        for (; code == 0 && asked < pieces && asked < piece + LACIS_GPU_PIECES; asked++)
            code = begin_piece(staged, asked);
        if (piece == 0) touch_all(staged);
        if (code == 0) code = wait_for(staged, piece);
        if (code == 0) let_move(staged, piece);
    }
    return code;
}

/* Tasks are dealt in rising order, so somebody conducts before anybody waits. */
static int take_part(void *context, int64_t task, int worker)
{
    (void)worker;
    struct staged *staged = context;
    if (task == 0) {
        int code = LACIS_DRIVER(staged->gpu, enter, staged->gpu->device);
        if (code == 0) code = staged->upload ? upload(staged) : download(staged);
        staged->code = code;
        return 0;
    }
    touch_pages(staged);
    if (task < staged->movers) move_slices(staged);
    return 0;
}

/* As many as keep up with the link (on one H200's host 8 moved 38 GB/s, 16 moved 54) and leave some to those that
 * feed the device. */
static int movers(int threads)
{
    const int least = 8, enough = 16;
    int half = threads / 2 < least ? least : threads / 2 > enough ? enough : threads / 2;
    return threads < half ? threads : half;
}

int lacis_device_staged(const lacis_run *run, lacis_gpu *gpu, void *host, void *device, uint64_t bytes,
                        bool to_device, void *stream)
{
    struct staged staged = {.gpu = gpu,
                            .host = host,
                            .device = device,
                            .bytes = bytes,
                            .piece = piece_size(bytes),
                            .upload = to_device,
                            .stream = stream,
                            .movers = movers(lacis_run_threads(run))};
    uintptr_t begin = (uintptr_t)host;
    int64_t pieces = pieces_of(&staged);
    staged.slices = (pieces - 1) * slices_in(staged.piece) + slices_in(piece_bytes(&staged, pieces - 1));
    if (!to_device && bytes >= WORTH_TOUCHING)
        staged.pages = (int64_t)((begin + bytes - 1) / HUGE_PAGE - begin / HUGE_PAGE + 1);
    /* Lanes of panels.c share the processors. */
    int team = staged.pages > 0 && stream == gpu->stream ? lacis_run_threads(run) : staged.movers;
    lacis_parallel(team, team, take_part, &staged);
    return staged.code;
}
