/* SPDX-License-Identifier: Apache-2.0
 *
 * Another rank's side of a grid that is spread over ranks: takes the arrays of its part, does what rank 0 tells it,
 * and hands its fields over. Called by the engine for its piece of the call.
 */
#include "sweep/ranks.h"

#include <string.h>

/* Arrays of the part as they come: fields and coefficients, then faces' values. One block. */
static lacis_status take_arrays(lacis_sweep_share *share, char **block)
{
    lacis_sweep_start *start = &share->start;
    const uint64_t size = lacis_sweep_size(start->type), cells = size * (uint64_t)lacis_sweep_box_cells(&share->box);
    const int part = lacis_team_piece(share->team), arrays = start->fields + start->coefficients;
    uint64_t bytes = cells * (uint64_t)arrays;
    for (int field = 0; field < start->fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (lacis_sweep_face_valued(share, part, field, face))
                bytes += size * (uint64_t)lacis_sweep_face_cells(&share->cut, part, face);
    LACIS_TRY(lacis_run_alloc(share->run, bytes, block));
    char *at = *block;
    share->busy = true;
    for (int i = 0; i < arrays; i++, at += cells) {
        start->array[i] = at;
        LACIS_TRY(lacis_team_receive(share->team, 0, LACIS_SWEEP_TAG_ARRAY, at, cells));
    }
    for (int field = 0; field < start->fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++) {
            if (!lacis_sweep_face_valued(share, part, field, face)) continue;
            const uint64_t values = size * (uint64_t)lacis_sweep_face_cells(&share->cut, part, face);
            start->edge[field][face].values = at;
            LACIS_TRY(lacis_team_receive(share->team, 0, LACIS_SWEEP_TAG_ARRAY, at, values));
            at += values;
        }
    LACIS_TRY(lacis_team_wait(share->team));
    share->busy = false;
    return LACIS_OK;
}

static lacis_status send_fields(lacis_sweep_share *share)
{
    void *field[LACIS_SWEEP_FIELDS] = {NULL};
    char *block;
    const uint64_t bytes = lacis_sweep_box_bytes(share->work, &share->box);
    const int fields = share->start.fields;
    LACIS_TRY(lacis_run_alloc(share->run, bytes * (uint64_t)fields, &block));
    for (int i = 0; i < fields; i++)
        field[i] = block + bytes * (uint64_t)i;
    lacis_status status = lacis_sweep_share_read(share, field);
    for (int i = 0; i < fields && status == LACIS_OK; i++)
        status = lacis_team_send(share->team, 0, LACIS_SWEEP_TAG_FIELD, field[i], bytes);
    if (status == LACIS_OK) status = lacis_team_wait(share->team);
    if (status != LACIS_OK) status = lacis_team_end(share->team, status); /* before the memory goes */
    lacis_run_free(share->run, block);
    return status;
}

static lacis_status tell(lacis_sweep_share *share)
{
    lacis_sweep_counts counts;
    lacis_sweep_times times;
    int64_t lines = 0;
    LACIS_TRY(lacis_sweep_share_tell(share, &counts));
    if (share->brief.lines == 0) return LACIS_OK;
    lacis_sweep_share_spent(share, &times, &lines);
    LACIS_TRY(lacis_team_send(share->team, 0, LACIS_SWEEP_TAG_LINES, &lines, sizeof lines));
    LACIS_TRY(
        lacis_team_send(share->team, 0, LACIS_SWEEP_TAG_LINES, share->line, sizeof *share->line * (uint64_t)lines));
    return lacis_team_wait(share->team);
}

static lacis_status obey(lacis_sweep_share *share)
{
    for (;;) {
        lacis_sweep_order order;
        lacis_sweep_change change;
        LACIS_TRY(lacis_team_receive(share->team, 0, LACIS_SWEEP_TAG_ORDER, &order, sizeof order));
        const lacis_status status = lacis_team_wait(share->team);
        if (status != LACIS_OK) return lacis_team_end(share->team, status); /* before `order` goes */
        switch ((lacis_sweep_wish)order.wish) {
        case LACIS_SWEEP_STEP:
            LACIS_TRY(lacis_sweep_share_steps(share, order.steps, order.change != 0 ? &change : NULL));
            break;
        case LACIS_SWEEP_READ:
            LACIS_TRY(send_fields(share));
            break;
        case LACIS_SWEEP_TELL:
            LACIS_TRY(tell(share));
            break;
        case LACIS_SWEEP_STOP:
            return LACIS_OK;
        }
    }
}

lacis_status lacis_sweep_obey(lacis_run *run, const lacis_call *call)
{
    lacis_sweep_brief brief;
    lacis_sweep_share share;
    char *block = NULL;
    uint64_t bytes;
    const void *data = lacis_team_brief(lacis_run_team(run), &bytes);
    if (data == NULL || bytes != sizeof brief)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "rank 0 is of another version of lacis");
    memcpy(&brief, data, sizeof brief);
    LACIS_TRY(lacis_sweep_share_prepare(run, call->work, &brief, &share));
    lacis_status status = take_arrays(&share, &block);
    if (status == LACIS_OK) status = lacis_sweep_share_begin(&share);
    if (status == LACIS_OK) { /* kernels have copies by now */
        lacis_run_free(run, block);
        block = NULL;
        status = obey(&share);
    }
    status = lacis_team_end(share.team, status);
    lacis_run_free(run, block);
    lacis_sweep_share_free(&share);
    return status;
}
