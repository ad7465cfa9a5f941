/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0's system of a grid that is spread over ranks: it gives the others their arrays, tells them each step, and
 * gathers what comes of it. Made within the call's own piece (ranks.c).
 */
#include "sweep/ranks.h"

#include <string.h>

typedef struct spread {
    lacis_sweep_system base;
    lacis_sweep_share share;
    lacis_sweep_order order; /* that is being sent */
    char *buffer;            /* an array of the largest part, or a face's values */
    FILE *times;             /* of EXCHANGE TO; NULL: none */
    bool prepared;
} spread;

static spread *own(lacis_sweep_system *system)
{
    return (spread *)system; /* of which it is the beginning */
}

static int parts(const spread *s)
{
    return s->share.cut.parts;
}

static lacis_status give(spread *s, lacis_sweep_wish wish, int64_t steps, bool change)
{
    lacis_team *team = s->share.team;
    s->share.busy = true;
    s->order = (lacis_sweep_order){wish, steps, change};
    for (int part = 1; part < parts(s); part++)
        LACIS_TRY(lacis_team_send(team, part, LACIS_SWEEP_TAG_ORDER, &s->order, sizeof s->order));
    LACIS_TRY(lacis_team_wait(team)); /* small messages: nobody is waited for */
    s->share.busy = false;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------- arrays */

static lacis_status send_buffer(spread *s, int part, uint64_t bytes)
{
    LACIS_TRY(lacis_team_send(s->share.team, part, LACIS_SWEEP_TAG_ARRAY, s->buffer, bytes));
    return lacis_team_wait(s->share.team);
}

static lacis_status send_arrays(spread *s, int part, const lacis_sweep_input *input)
{
    const lacis_sweep_share *share = &s->share;
    const lacis_sweep_start *start = &share->start;
    const uint64_t size = lacis_sweep_size(start->type);
    lacis_sweep_box box;
    lacis_sweep_cut_box(&share->cut, part, &box);
    for (int i = 0; i < start->fields + start->coefficients; i++) {
        lacis_sweep_copy_out(&share->cut, size, input->array[i], &box, s->buffer);
        LACIS_TRY(send_buffer(s, part, lacis_sweep_box_bytes(share->work, &box)));
    }
    for (int field = 0; field < start->fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++) {
            if (!lacis_sweep_face_valued(share, part, field, face)) continue;
            lacis_sweep_face_copy(&share->cut, part, face, size, input->face[field][face], s->buffer);
            LACIS_TRY(send_buffer(s, part, size * (uint64_t)lacis_sweep_face_cells(&share->cut, part, face)));
        }
    return LACIS_OK;
}

static uint64_t largest(const spread *s)
{
    const lacis_sweep_share *share = &s->share;
    int64_t cells = 0;
    for (int part = 0; part < parts(s); part++) {
        lacis_sweep_box box;
        lacis_sweep_cut_box(&share->cut, part, &box);
        if (lacis_sweep_box_cells(&box) > cells) cells = lacis_sweep_box_cells(&box);
        for (int face = 0; face < 2 * share->cut.dims; face++)
            if (lacis_sweep_face_cells(&share->cut, part, face) > cells)
                cells = lacis_sweep_face_cells(&share->cut, part, face);
    }
    return (uint64_t)cells * lacis_sweep_size(share->work->type);
}

/* Rank 0's own arrays, in a block that lasts until its kernels have copied them. */
static lacis_status own_arrays(spread *s, const lacis_sweep_input *input, char **block)
{
    lacis_sweep_share *share = &s->share;
    lacis_sweep_start *start = &share->start;
    const uint64_t size = lacis_sweep_size(start->type), cells = lacis_sweep_box_bytes(share->work, &share->box);
    uint64_t bytes = cells * (uint64_t)(start->fields + start->coefficients);
    for (int field = 0; field < start->fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (lacis_sweep_face_valued(share, 0, field, face))
                bytes += size * (uint64_t)lacis_sweep_face_cells(&share->cut, 0, face);
    LACIS_TRY(lacis_run_alloc(share->run, bytes, block));
    char *at = *block;
    for (int i = 0; i < start->fields + start->coefficients; i++, at += cells) {
        lacis_sweep_copy_out(&share->cut, size, input->array[i], &share->box, at);
        start->array[i] = at;
    }
    for (int field = 0; field < start->fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++) {
            if (!lacis_sweep_face_valued(share, 0, field, face)) continue;
            lacis_sweep_face_copy(&share->cut, 0, face, size, input->face[field][face], at);
            start->edge[field][face].values = at;
            at += size * (uint64_t)lacis_sweep_face_cells(&share->cut, 0, face);
        }
    return LACIS_OK;
}

static lacis_status scatter(spread *s, const lacis_sweep_input *input)
{
    char *block = NULL;
    LACIS_TRY(lacis_run_alloc(s->share.run, largest(s), &s->buffer));
    s->share.busy = true;
    for (int part = 1; part < parts(s); part++)
        LACIS_TRY(send_arrays(s, part, input));
    s->share.busy = false;
    lacis_status status = own_arrays(s, input, &block);
    if (status == LACIS_OK) status = lacis_sweep_share_begin(&s->share);
    lacis_run_free(s->share.run, block); /* kernels have copies, and messages are others' */
    return status;
}

/* -------------------------------------------------------------------------------- what a system does */

static lacis_status steps(lacis_sweep_system *system, int64_t count, lacis_sweep_change *change)
{
    spread *s = own(system);
    LACIS_TRY(give(s, LACIS_SWEEP_STEP, count, change != NULL));
    return lacis_sweep_share_steps(&s->share, count, change);
}

static lacis_status gather(spread *s, int part, void *const *field)
{
    lacis_sweep_share *share = &s->share;
    const uint64_t size = lacis_sweep_size(share->work->type);
    lacis_sweep_box box;
    lacis_sweep_cut_box(&share->cut, part, &box);
    for (int i = 0; i < share->start.fields; i++) {
        const uint64_t bytes = lacis_sweep_box_bytes(share->work, &box);
        LACIS_TRY(lacis_team_receive(share->team, part, LACIS_SWEEP_TAG_FIELD, s->buffer, bytes));
        LACIS_TRY(lacis_team_wait(share->team));
        if (field[i] != NULL) lacis_sweep_copy_in(&share->cut, size, s->buffer, &box, field[i]);
    }
    return LACIS_OK;
}

/* One field after the other through the buffer. */
static lacis_status read_own(spread *s, void *const *field)
{
    lacis_sweep_share *share = &s->share;
    for (int i = 0; i < share->start.fields; i++) {
        void *only[LACIS_SWEEP_FIELDS] = {NULL};
        if (field[i] == NULL) continue;
        only[i] = s->buffer;
        LACIS_TRY(lacis_sweep_share_read(share, only));
        lacis_sweep_copy_in(&share->cut, lacis_sweep_size(share->work->type), s->buffer, &share->box, field[i]);
    }
    return LACIS_OK;
}

static lacis_status read(lacis_sweep_system *system, void *const *field)
{
    spread *s = own(system);
    LACIS_TRY(give(s, LACIS_SWEEP_READ, 0, false));
    s->share.busy = true;
    LACIS_TRY(read_own(s, field));
    for (int part = 1; part < parts(s); part++)
        LACIS_TRY(gather(s, part, field));
    s->share.busy = false;
    return LACIS_OK;
}

/* --- a timeline: EXCHANGE ... TO */

static lacis_status gather_lines(spread *s, int part)
{
    lacis_sweep_times *line;
    int64_t lines = 0;
    lacis_team *team = s->share.team;
    LACIS_TRY(lacis_team_receive(team, part, LACIS_SWEEP_TAG_LINES, &lines, sizeof lines));
    lacis_status status = lacis_team_wait(team);
    if (status != LACIS_OK) return lacis_team_end(team, status); /* before `lines` goes */
    LACIS_TRY(lacis_run_scratch(s->share.run, sizeof *line * (uint64_t)(lines + 1), &line));
    LACIS_TRY(lacis_team_receive(team, part, LACIS_SWEEP_TAG_LINES, line, sizeof *line * (uint64_t)lines));
    status = lacis_team_wait(team);
    if (status != LACIS_OK) return lacis_team_end(team, status);
    lacis_sweep_timeline_add(s->times, part, line, lines);
    return LACIS_OK;
}

static lacis_status timeline(spread *s)
{
    lacis_sweep_times times;
    int64_t lines;
    lacis_status status = LACIS_OK;
    lacis_sweep_share_spent(&s->share, &times, &lines);
    lacis_sweep_timeline_add(s->times, 0, s->share.line, lines);
    for (int part = 1; part < parts(s) && status == LACIS_OK; part++)
        status = gather_lines(s, part);
    return status;
}

static void counted(lacis_sweep_system *system, lacis_sweep_counts *out)
{
    spread *s = own(system);
    lacis_status status = give(s, LACIS_SWEEP_TELL, 0, false);
    if (status == LACIS_OK) status = lacis_sweep_share_tell(&s->share, out);
    if (status == LACIS_OK && s->share.brief.lines > 0) status = timeline(s);
    if (status != LACIS_OK) s->share.busy = true; /* the engine hears of it at the end */
}

/* The others stop, or are told by the end that all comes to, at which parts let go of each other's memory before any
 * of it goes. */
static void clear(lacis_sweep_system *system)
{
    spread *s = own(system);
    lacis_sweep_timeline_close(system->run, system->work, &s->times);
    if (!s->prepared) return;
    if (!s->share.busy && (s->share.part != NULL || s->share.gpu != NULL)) give(s, LACIS_SWEEP_STOP, 0, false);
    if (s->share.busy || s->share.gpu != NULL)
        lacis_team_end(s->share.team, s->share.busy ? LACIS_INTERRUPT : LACIS_OK);
    lacis_run_free(system->run, s->buffer);
    lacis_sweep_share_free(&s->share);
    s->prepared = false;
}

static const lacis_sweep_kind kind = {.steps = steps, .read = read, .counted = counted, .free = clear, .parts = true};

lacis_status lacis_sweep_ranks_system(lacis_run *run, const lacis_call *call, const lacis_sweep_input *input,
                                      int levels, lacis_sweep_system **out)
{
    const lacis_sweep_dealt *dealt = call->work; /* whose beginning is the work */
    spread *s;
    (void)levels;
    LACIS_TRY(lacis_run_scratch(run, sizeof *s, &s));
    *s = (spread){.base = {&kind, run, call, call->work}};
    *out = &s->base;
    LACIS_TRY(lacis_sweep_timeline_open(run, call->work, &s->times));
    LACIS_TRY(lacis_sweep_share_prepare(run, call->work, &dealt->brief, &s->share));
    s->prepared = true;
    return scatter(s, input);
}
