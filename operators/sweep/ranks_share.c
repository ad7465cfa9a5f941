/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank's share of a grid: its part, whose kernels run on this rank's CPU, and the engine's messages in the form
 * that they want. Rank 0 has one as the others do.
 */
#include "sweep/ranks.h"

#include <string.h>

/* ---------------------------------------------------------------------------------- what kernels get */

static int noted(lacis_sweep_share *share, lacis_status status)
{
    if (share->failed == LACIS_OK) share->failed = status;
    return status != LACIS_OK;
}

static int send(void *context, int part, int tag, const void *data, uint64_t bytes)
{
    lacis_sweep_share *share = context;
    return noted(share, lacis_team_send(share->team, part, tag, data, bytes));
}

static int receive(void *context, int part, int tag, void *data, uint64_t bytes)
{
    lacis_sweep_share *share = context;
    return noted(share, lacis_team_receive(share->team, part, tag, data, bytes));
}

static int test(void *context)
{
    lacis_sweep_share *share = context;
    bool done;
    return noted(share, lacis_team_test(share->team, &done));
}

static int wait(void *context)
{
    lacis_sweep_share *share = context;
    return noted(share, lacis_team_wait(share->team));
}

static int agree(void *context, bool *yes)
{
    lacis_sweep_share *share = context;
    int64_t no = !*yes;
    const int failed = noted(share, lacis_team_sum(share->team, &no, 1));
    *yes = no == 0;
    return failed;
}

lacis_sweep_mail lacis_sweep_share_mail(lacis_sweep_share *share)
{
    return (lacis_sweep_mail){send, receive, test, wait, share, agree};
}

/* ---------------------------------------------------------------------------------- beginning, ending */

uint64_t lacis_sweep_lines_bytes(const lacis_sweep_brief *brief)
{
    return sizeof(lacis_sweep_times) * (uint64_t)brief->lines;
}

bool lacis_sweep_ranks_cut(const lacis_sweep_work *work, const lacis_sweep_brief *brief, int parts,
                           lacis_sweep_cut *out, char *why, size_t size)
{
    lacis_sweep_start whole;
    lacis_sweep_start_of(work, NULL, &whole);
    memcpy(whole.extent, brief->extent, sizeof whole.extent);
    return (brief->slabs ? lacis_sweep_cut_slabs : lacis_sweep_cut_make)(&whole, parts, brief->deep, out, why, size);
}

bool lacis_sweep_every_is_why(const lacis_sweep_work *work, bool slabs, int parts)
{
    char why[200];
    lacis_sweep_cut cut;
    lacis_sweep_brief brief = {.deep = 1, .slabs = slabs};
    memcpy(brief.extent, work->grid.extent, sizeof brief.extent);
    return work->exchange.every > 1 && lacis_sweep_ranks_cut(work, &brief, parts, &cut, why, sizeof why);
}

lacis_status lacis_sweep_cannot_cut(const lacis_sweep_work *work, bool slabs, int parts, const char *why)
{
    if (lacis_sweep_every_is_why(work, slabs, parts))
        return lacis_run_fail_at(work->run, LACIS_RANGE, work->exchange.every_offset,
                                 "a smaller EVERY, or fewer PARTS", "%s", why);
    return lacis_run_fail(work->run, LACIS_UNSUPPORTED, "%s", why);
}

void lacis_sweep_by_means_nothing(const lacis_sweep_work *work)
{
    if (work->exchange.copy || work->exchange.host)
        lacis_run_note(work->run, LACIS_NOTE, "SWEEP: BY %s is for borders on ranks' GPUs, and means nothing here",
                       work->exchange.copy ? "copy" : "host");
}

lacis_status lacis_sweep_share_prepare(lacis_run *run, const lacis_sweep_work *work, const lacis_sweep_brief *brief,
                                       lacis_sweep_share *out)
{
    char why[200];
    lacis_sweep_start whole;
    lacis_team *team = lacis_run_team(run);
    const int part = lacis_team_piece(team);
    *out = (lacis_sweep_share){.run = run, .work = work, .team = team, .brief = *brief};
    if (!lacis_sweep_ranks_cut(work, brief, lacis_team_pieces(team), &out->cut, why, sizeof why))
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "%s", why);
    lacis_sweep_cut_box(&out->cut, part, &out->box);
    lacis_sweep_start_of(work, NULL, &whole);
    memcpy(whole.extent, brief->extent, sizeof whole.extent);
    lacis_sweep_cut_start(&whole, &out->cut, part, &out->start);
    out->start.levels = brief->levels;
    out->start.host = lacis_sweep_host_of(run);
    if (brief->gpu) return LACIS_OK;
    out->bytes = lacis_sweep_bytes(&out->start) + lacis_sweep_part_bytes(&out->start, &out->cut, part) +
                 lacis_sweep_lines_bytes(brief);
    if (out->bytes > lacis_run_memory_left(run))
        return lacis_sweep_said(run, work, LACIS_SWEEP_NO_MEMORY, out->bytes);
    return LACIS_OK;
}

static lacis_status begin_on_cpu(lacis_sweep_share *share, const lacis_sweep_part_how *how)
{
    const lacis_sweep_mail mail = lacis_sweep_share_mail(share);
    LACIS_TRY(lacis_sweep_programs_new(share->run, share->work, share->start.threads, &share->programs));
    share->start.cells = lacis_sweep_program_cells;
    share->start.cells_context = share->programs;
    const lacis_sweep_status made =
        lacis_sweep_part_new(&share->start, &share->cut, lacis_team_piece(share->team), &mail, how, &share->part);
    if (share->failed != LACIS_OK) return share->failed;
    return lacis_sweep_said(share->run, share->work, made, share->bytes);
}

lacis_status lacis_sweep_share_begin(lacis_sweep_share *share)
{
    if (share->brief.lines > 0)
        LACIS_TRY(lacis_run_alloc(share->run, lacis_sweep_lines_bytes(&share->brief), &share->line));
    const lacis_sweep_part_how how = {share->brief.overlap, share->line, share->brief.lines};
    share->busy = true;
    LACIS_TRY(share->brief.gpu ? lacis_sweep_share_gpu_begin(share, &how) : begin_on_cpu(share, &how));
    share->busy = false;
    return LACIS_OK;
}

void lacis_sweep_share_free(lacis_sweep_share *share)
{
    lacis_sweep_share_gpu_free(share->gpu);
    share->gpu = NULL;
    lacis_sweep_part_free(share->part);
    lacis_sweep_programs_free(share->run, share->programs);
    lacis_run_free(share->run, share->line);
    share->part = NULL;
    share->programs = NULL;
    share->line = NULL;
}

/* -------------------------------------------------------------------------------------------- steps */

/* All shares' change: the squares are sums of digits, which add up exactly. */
static lacis_status join_changes(lacis_sweep_share *share, lacis_sweep_change *change)
{
    enum { DIGITS = LACIS_SWEEP_DIGITS, SPECIAL = 3 };
    int64_t all[DIGITS + SPECIAL];
    _Static_assert(sizeof change->squares.special == SPECIAL * sizeof all[0], "what is counted besides digits");
    lacis_sweep_exact_settle(&change->squares);
    memcpy(all, change->squares.digit, sizeof change->squares.digit);
    memcpy(all + DIGITS, change->squares.special, sizeof change->squares.special);
    LACIS_TRY(lacis_team_sum(share->team, all, DIGITS + SPECIAL));
    LACIS_TRY(lacis_team_max(share->team, &change->max, 1));
    memcpy(change->squares.digit, all, sizeof change->squares.digit);
    memcpy(change->squares.special, all + DIGITS, sizeof change->squares.special);
    lacis_sweep_exact_settle(&change->squares);
    return LACIS_OK;
}

static lacis_status step_on_cpu(lacis_sweep_share *share, int64_t steps, lacis_sweep_change *change)
{
    const lacis_sweep_status done = lacis_sweep_part_steps(share->part, steps, change);
    if (share->failed != LACIS_OK) return share->failed;
    return lacis_sweep_said(share->run, share->work, done, share->bytes);
}

lacis_status lacis_sweep_share_steps(lacis_sweep_share *share, int64_t steps, lacis_sweep_change *change)
{
    share->busy = true;
    LACIS_TRY(share->gpu != NULL ? lacis_sweep_share_gpu_steps(share->gpu, steps, change)
                                 : step_on_cpu(share, steps, change));
    if (change != NULL) LACIS_TRY(join_changes(share, change));
    share->busy = false;
    return LACIS_OK;
}

lacis_status lacis_sweep_share_read(lacis_sweep_share *share, void *const *field)
{
    if (share->gpu != NULL) return lacis_sweep_share_gpu_read(share->gpu, field);
    lacis_sweep_read(lacis_sweep_part_system(share->part), field);
    return LACIS_OK;
}

void lacis_sweep_share_spent(const lacis_sweep_share *share, lacis_sweep_times *out, int64_t *lines)
{
    lacis_sweep_counts counts;
    if (share->gpu != NULL)
        lacis_sweep_share_gpu_tell(share->gpu, &counts, out, lines);
    else
        lacis_sweep_part_spent(share->part, out, lines);
}

static void count_own(lacis_sweep_share *share, lacis_sweep_counts *out, lacis_sweep_times *times)
{
    int64_t lines;
    if (share->gpu != NULL) {
        lacis_sweep_share_gpu_tell(share->gpu, out, times, &lines);
        return;
    }
    lacis_sweep_counted(lacis_sweep_part_system(share->part), out, true);
    lacis_sweep_part_spent(share->part, times, &lines);
}

/* GPUs whose slabs' borders go ahead of them are not stopped to be timed: then nothing is told. */
static void tell_seconds(lacis_run *run, const lacis_sweep_times *times)
{
    const double borders = times->pack + times->unpack, steps = times->centre + times->rest;
    if (borders + times->wait + steps == 0) return;
    lacis_run_count(run, "seconds of packing and unpacking, ranks together", borders);
    lacis_run_count(run, "seconds of waiting for halos, ranks together", times->wait);
    lacis_run_count(run, "seconds of computing, ranks together", steps);
}

/* The engine adds up the figures of all ranks. */
lacis_status lacis_sweep_share_tell(lacis_sweep_share *share, lacis_sweep_counts *out)
{
    lacis_sweep_times times = {0};
    count_own(share, out, &times);
    int64_t updates = (int64_t)out->updates;
    share->busy = true;
    LACIS_TRY(lacis_team_sum(share->team, &updates, 1));
    share->busy = false;
    out->updates = (double)updates;
    if (share->gpu != NULL) lacis_sweep_share_gpu_count(share->gpu);
    lacis_run_count(share->run, "exchanges, ranks together", times.exchanges);
    lacis_run_count(share->run, "halo bytes", times.bytes);
    tell_seconds(share->run, &times);
    return LACIS_OK;
}
