/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank's share on its GPU: kernels/sweep/gpu_part.h. Arrays of the part go to the device once; halos straight into
 * the neighbour's memory where its process is of this host and CUDA IPC does that, or where MPI takes the devices'
 * memory, else by pinned memory. Called by ranks_share.c.
 */
#include "sweep/ranks.h"

#ifdef LACIS_GPU_KERNELS

#include "sweep/device.h"
#include "sweep/gpu_part.h"

#include <string.h>

struct lacis_sweep_share_gpu {
    lacis_sweep_share *share;
    lacis_gpu *gpu;
    lacis_sweep_gpu_part *part;
    void *block; /* arrays, until the part has them */
};

static lacis_status said(const lacis_sweep_share_gpu *g, lacis_sweep_status status)
{
    lacis_run *run = g->share->run;
    if (g->share->failed != LACIS_OK) return g->share->failed;
    if (status == LACIS_SWEEP_NO_MEMORY) return lacis_gpu_no_room(run, g->gpu, "the part of the grid");
    if (status != LACIS_SWEEP_FAILED) return lacis_sweep_said(run, g->share->work, status, 0);
    return lacis_gpu_failed(run, g->gpu, g->part == NULL ? 0 : lacis_sweep_gpu_part_error_code(g->part));
}

static void *take(void *context, uint64_t bytes)
{
    return lacis_gpu_alloc(((lacis_sweep_share_gpu *)context)->gpu, bytes);
}

static void give(void *context, void *block)
{
    lacis_gpu_free(((lacis_sweep_share_gpu *)context)->gpu, block);
}

static bool charge(void *context, uint64_t bytes)
{
    return lacis_gpu_charge(((lacis_sweep_share_gpu *)context)->gpu, bytes);
}

static void credit(void *context, uint64_t bytes)
{
    lacis_gpu_credit(((lacis_sweep_share_gpu *)context)->gpu, bytes);
}

static bool stopped(void *context)
{
    return lacis_run_cancelled(((lacis_sweep_share_gpu *)context)->share->run);
}

/* Whatever ends the team: a neighbour may free what this part has of its memory behind that. */
static void leave(void *context)
{
    lacis_sweep_gpu_part_leave(((lacis_sweep_share_gpu *)context)->part);
}

/* --------------------------------------------------------------------------------------------- arrays */

static uint64_t part_bytes(const lacis_sweep_share *share)
{
    return lacis_sweep_box_bytes(share->work, &share->box);
}

static lacis_status send(lacis_sweep_share_gpu *g, const void **array, uint64_t bytes, char **at)
{
    LACIS_TRY(lacis_gpu_upload(g->share->run, g->gpu, *array, bytes, *at));
    *array = *at;
    *at += lacis_sweep_apart(bytes);
    return LACIS_OK;
}

/* The start's pointers become the device's. */
static lacis_status send_arrays(lacis_sweep_share_gpu *g, lacis_sweep_start *start)
{
    const lacis_sweep_share *share = g->share;
    const int part = lacis_team_piece(share->team), arrays = start->fields + start->coefficients;
    g->block = lacis_gpu_alloc(g->gpu, lacis_sweep_share_arrays_bytes(share, part));
    if (g->block == NULL) return lacis_gpu_no_room(share->run, g->gpu, "the part of the grid");
    char *at = g->block;
    for (int i = 0; i < arrays; i++)
        LACIS_TRY(send(g, &start->array[i], part_bytes(share), &at));
    for (int field = 0; field < start->fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (lacis_sweep_face_valued(share, part, field, face))
                LACIS_TRY(
                    send(g, &start->edge[field][face].values, lacis_sweep_share_face_bytes(share, part, face), &at));
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ functions */

/* Whether messages may lie on this rank's GPU. Nobody knows while there is no team, which a plan has not. */
static bool takes_device(const lacis_sweep_work *work)
{
    const lacis_team *team = lacis_run_team(work->run);
    return !work->exchange.host && team != NULL && lacis_team_takes_device(team);
}

bool lacis_sweep_share_gpu_fits(const lacis_sweep_work *work, const lacis_sweep_brief *brief,
                                const lacis_sweep_cut *cut, int part, char *why, size_t size)
{
    const double mega = 1e-6;
    const lacis_sweep_gpu_part_how how = {
        .part.overlap = brief->overlap, .direct = takes_device(work), .host = work->exchange.host};
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    const lacis_sweep_share share = {.work = work, .cut = *cut};
    lacis_sweep_start whole, start;
    lacis_sweep_start_of(work, NULL, &whole);
    memcpy(whole.extent, brief->extent, sizeof whole.extent);
    lacis_sweep_cut_start(&whole, cut, part, &start);
    const double need = (double)lacis_sweep_share_arrays_bytes(&share, part) +
                        (double)lacis_sweep_gpu_part_bytes(&start, cut, part, &how);
    if (gpu == NULL || need <= (double)lacis_gpu_memory_left(gpu)) return true;
    snprintf(why, size,
             "a part of the fields takes %.4g MB of a GPU's memory, of which %.4g MB are left; SET gpu_memory_limit",
             mega * need, mega * (double)lacis_gpu_memory_left(gpu));
    return false;
}

/* Which way halos go, where that is not how it was to be. Rank 0's note is heard; each rank's are counted at the end.
 */
static void tell_way(const lacis_sweep_share_gpu *g)
{
    int messages;
    const char *why;
    const int straight = lacis_sweep_gpu_part_straight(g->part, &messages, &why);
    if (why != NULL && straight < messages)
        lacis_run_note(
            g->share->run, LACIS_NOTE,
            "SWEEP: %d of %d halos of part %d go through the host's memory, not straight to the neighbour's "
            "GPU: %s",
            messages - straight, messages, lacis_team_piece(g->share->team), why);
}

static lacis_status begin(lacis_sweep_share_gpu *g, const lacis_sweep_part_how *how)
{
    lacis_sweep_share *share = g->share;
    const lacis_sweep_mail mail = lacis_sweep_share_mail(share);
    const lacis_sweep_exchange *exchange = &share->work->exchange;
    const lacis_sweep_gpu_part_how own = {.part = *how,
                                          .direct = takes_device(share->work),
                                          .copy = exchange->copy,
                                          .host = exchange->host,
                                          .charge = charge,
                                          .credit = credit,
                                          .best = exchange->overlap == LACIS_SWEEP_AS_BEST};
    lacis_sweep_gpu_start start = {.start = share->start, .stream = lacis_gpu_stream(g->gpu)};
    void *side[2];
    start.start.host = (lacis_sweep_host){take, give, stopped, g};
    lacis_gpu_beside(g->gpu, side, &start.pinned);
    if (start.pinned == NULL)
        return lacis_run_fail(share->run, LACIS_UNSUPPORTED, "the GPU's driver has no pinned memory left");
    LACIS_TRY(send_arrays(g, &start.start));
    LACIS_TRY(lacis_sweep_program_make(share->run, g->gpu, share->work, &start.start, start.kernel));
    const lacis_sweep_status made =
        lacis_sweep_gpu_part_new(&start, &share->cut, lacis_team_piece(share->team), &mail, &own, &g->part);
    LACIS_TRY(said(g, made));
    lacis_gpu_free(g->gpu, g->block);
    g->block = NULL;
    tell_way(g);
    return LACIS_OK;
}

lacis_status lacis_sweep_share_gpu_begin(lacis_sweep_share *share, const lacis_sweep_part_how *how)
{
    char reason[200];
    LACIS_TRY(lacis_run_scratch(share->run, sizeof *share->gpu, &share->gpu));
    memset(share->gpu, 0, sizeof *share->gpu);
    share->gpu->share = share;
    share->gpu->gpu = lacis_run_gpu(share->run, reason, sizeof reason);
    if (share->gpu->gpu == NULL) return lacis_run_fail(share->run, LACIS_UNSUPPORTED, "%s", reason);
    lacis_team_before_end(share->team, leave, share->gpu);
    if (!lacis_sweep_share_gpu_fits(share->work, &share->brief, &share->cut, lacis_team_piece(share->team), reason,
                                    sizeof reason))
        return lacis_run_fail(share->run, LACIS_UNSUPPORTED, "%s", reason);
    return begin(share->gpu, how);
}

int lacis_sweep_share_gpu_levels(const lacis_sweep_start *part)
{
    return lacis_sweep_gpu_levels(part);
}

lacis_status lacis_sweep_share_gpu_steps(lacis_sweep_share_gpu *gpu, int64_t steps, lacis_sweep_change *change)
{
    return said(gpu, lacis_sweep_gpu_part_steps(gpu->part, steps, change));
}

/* Field after field, through one block. */
static lacis_status read_through(lacis_sweep_share_gpu *gpu, void *const *field, void *block)
{
    for (int i = 0; i < gpu->share->start.fields; i++) {
        void *only[LACIS_SWEEP_FIELDS] = {NULL};
        if (field[i] == NULL) continue;
        only[i] = block;
        LACIS_TRY(said(gpu, lacis_sweep_gpu_read(lacis_sweep_gpu_part_system(gpu->part), only)));
        LACIS_TRY(lacis_gpu_download(gpu->share->run, gpu->gpu, block, part_bytes(gpu->share), field[i]));
    }
    return LACIS_OK;
}

lacis_status lacis_sweep_share_gpu_read(lacis_sweep_share_gpu *gpu, void *const *field)
{
    void *block = lacis_gpu_alloc(gpu->gpu, part_bytes(gpu->share));
    if (block == NULL) return lacis_gpu_no_room(gpu->share->run, gpu->gpu, "the result");
    const lacis_status status = read_through(gpu, field, block);
    lacis_gpu_free(gpu->gpu, block);
    return status;
}

void lacis_sweep_share_gpu_tell(lacis_sweep_share_gpu *gpu, lacis_sweep_counts *counts, lacis_sweep_times *times,
                                int64_t *lines)
{
    lacis_sweep_gpu_counted(lacis_sweep_gpu_part_system(gpu->part), counts, true);
    lacis_sweep_gpu_part_spent(gpu->part, times, lines);
}

void lacis_sweep_share_gpu_count(lacis_sweep_share_gpu *gpu)
{
    int messages;
    const char *why;
    const int straight = lacis_sweep_gpu_part_straight(gpu->part, &messages, &why);
    lacis_run_count(gpu->share->run, "halos straight to the neighbour's GPU, ranks together", straight);
    lacis_run_count(gpu->share->run, "halos of an exchange, ranks together", messages);
}

void lacis_sweep_share_gpu_free(lacis_sweep_share_gpu *gpu)
{
    if (gpu == NULL || gpu->gpu == NULL) return;
    lacis_team_before_end(gpu->share->team, NULL, NULL);
    lacis_sweep_gpu_part_free(gpu->part);
    lacis_gpu_free(gpu->gpu, gpu->block);
    gpu->part = NULL;
    gpu->block = NULL;
}

#else

bool lacis_sweep_share_gpu_fits(const lacis_sweep_work *work, const lacis_sweep_brief *brief,
                                const lacis_sweep_cut *cut, int part, char *why, size_t size)
{
    (void)work, (void)brief, (void)cut, (void)part, (void)why, (void)size;
    return true;
}

lacis_status lacis_sweep_share_gpu_begin(lacis_sweep_share *share, const lacis_sweep_part_how *how)
{
    (void)how;
    return lacis_run_fail(share->run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

/* Never called, since none begins. */
int lacis_sweep_share_gpu_levels(const lacis_sweep_start *part)
{
    (void)part;
    return 1;
}

lacis_status lacis_sweep_share_gpu_steps(lacis_sweep_share_gpu *gpu, int64_t steps, lacis_sweep_change *change)
{
    (void)gpu, (void)steps, (void)change;
    return LACIS_UNSUPPORTED;
}

lacis_status lacis_sweep_share_gpu_read(lacis_sweep_share_gpu *gpu, void *const *field)
{
    (void)gpu, (void)field;
    return LACIS_UNSUPPORTED;
}

void lacis_sweep_share_gpu_tell(lacis_sweep_share_gpu *gpu, lacis_sweep_counts *counts, lacis_sweep_times *times,
                                int64_t *lines)
{
    (void)gpu, (void)counts, (void)times, (void)lines;
}

void lacis_sweep_share_gpu_count(lacis_sweep_share_gpu *gpu)
{
    (void)gpu;
}

void lacis_sweep_share_gpu_free(lacis_sweep_share_gpu *gpu)
{
    (void)gpu;
}

#endif
