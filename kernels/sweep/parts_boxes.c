/* SPDX-License-Identifier: Apache-2.0
 *
 * Which cells parts give each other, and which can be computed before they have come. Called by parts_run.c, for
 * several devices by gpu_several.cu, and by tests.
 */
#include "sweep/parts.h"

static const int64_t tile[3] = {LACIS_SWEEP_TILE_X, LACIS_SWEEP_TILE_Y, 1};
enum { DIRECTIONS = 27, ITSELF = 13 };

/* Direction 0 .. 26 as steps of -1, 0, 1 along each axis; the one back is 26 - direction. */
static void direction_of(int number, int step[3])
{
    step[0] = number % 3 - 1;
    step[1] = number / 3 % 3 - 1;
    step[2] = number / 9 - 1;
}

/* The part in that direction, or -1. */
static int neighbour(const lacis_sweep_cut *cut, int part, const int step[3])
{
    int place[3];
    lacis_sweep_cut_place(cut, part, place);
    for (int axis = 0; axis < 3; axis++) {
        if (step[axis] == 0) continue;
        if (!lacis_sweep_cut_inner(cut, part, 2 * axis + (step[axis] > 0))) return -1;
        place[axis] = (place[axis] + step[axis] + cut->grid[axis]) % cut->grid[axis];
    }
    return lacis_sweep_cut_part(cut, place);
}

/* The part's own cells at that side, or (beyond) those of the halo. */
static void side(const lacis_sweep_cut *cut, const lacis_sweep_box *own, const int step[3], bool beyond,
                 lacis_sweep_box *out)
{
    *out = *own;
    for (int axis = 0; axis < 3; axis++) {
        const int64_t halo = cut->halo[axis];
        if (step[axis] < 0) {
            out->begin[axis] = own->begin[axis] - (beyond ? halo : 0);
            out->end[axis] = out->begin[axis] + halo;
        } else if (step[axis] > 0) {
            out->begin[axis] = own->end[axis] - (beyond ? 0 : halo);
            out->end[axis] = out->begin[axis] + halo;
        }
    }
}

int lacis_sweep_cut_messages(const lacis_sweep_cut *cut, int part, bool corners,
                             lacis_sweep_message out[LACIS_SWEEP_MESSAGES])
{
    lacis_sweep_box own;
    int count = 0;
    lacis_sweep_cut_box(cut, part, &own);
    for (int number = 0; number < DIRECTIONS; number++) {
        int step[3];
        direction_of(number, step);
        const int far = (step[0] != 0) + (step[1] != 0) + (step[2] != 0);
        const int to = number == ITSELF || (far > 1 && !corners) ? -1 : neighbour(cut, part, step);
        if (to < 0) continue;
        lacis_sweep_message *message = &out[count];
        message->part = to;
        message->tag_out = number;
        message->tag_in = DIRECTIONS - 1 - number; /* as its sender sees it */
        side(cut, &own, step, false, &message->out);
        side(cut, &own, step, true, &message->in);
        message->cells = lacis_sweep_box_cells(&message->out);
        count += message->cells > 0;
    }
    return count;
}

int lacis_sweep_cut_list(const lacis_sweep_cut *cut, int part, lacis_sweep_message out[LACIS_SWEEP_MESSAGES],
                         int *all)
{
    lacis_sweep_message any[LACIS_SWEEP_MESSAGES];
    *all = lacis_sweep_cut_messages(cut, part, true, any);
    const int needed = lacis_sweep_cut_messages(cut, part, false, out);
    int at = needed;
    for (int i = 0; i < *all; i++) {
        bool listed = false;
        for (int j = 0; j < needed; j++)
            listed = listed || out[j].tag_out == any[i].tag_out;
        if (!listed) out[at++] = any[i];
    }
    return cut->corners ? *all : needed;
}

uint64_t lacis_sweep_message_bytes(const lacis_sweep_start *start, const lacis_sweep_message *message)
{
    const uint64_t line = 256, arrays = start->fields > 0 ? (uint64_t)start->fields : 1;
    return (arrays * (uint64_t)message->cells * lacis_sweep_size(start->type) + line - 1) / line * line;
}

uint64_t lacis_sweep_messages_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part)
{
    lacis_sweep_message message[LACIS_SWEEP_MESSAGES];
    const int messages = lacis_sweep_cut_messages(cut, part, true, message);
    uint64_t bytes = 0;
    for (int i = 0; i < messages; i++)
        bytes += 2 * lacis_sweep_message_bytes(start, &message[i]);
    return bytes;
}

/* -------------------------------------------------------------------------------- centre and border */

bool lacis_sweep_cut_centre(const lacis_sweep_cut *cut, int part, lacis_sweep_box *centre)
{
    lacis_sweep_cut_box(cut, part, centre);
    for (int axis = 0; axis < 3; axis++) {
        const int64_t reach = cut->reach[axis], size = tile[axis];
        if (lacis_sweep_cut_inner(cut, part, 2 * axis)) centre->begin[axis] += (reach + size - 1) / size * size;
        if (lacis_sweep_cut_inner(cut, part, 2 * axis + 1))
            centre->end[axis] = (centre->end[axis] - reach) / size * size;
    }
    if (lacis_sweep_box_cells(centre) > 0) return true;
    lacis_sweep_cut_box(cut, part, centre); /* an empty one, around which the rim is all of the part */
    for (int axis = 0; axis < 3; axis++)
        centre->end[axis] = centre->begin[axis];
    return false;
}

int lacis_sweep_cut_rim(const lacis_sweep_cut *cut, int part, const lacis_sweep_box *centre, int more,
                        lacis_sweep_box out[LACIS_SWEEP_RIM])
{
    lacis_sweep_box rest;
    int count = 0;
    lacis_sweep_cut_box(cut, part, &rest);
    for (int axis = 0; axis < 3; axis++) {
        const int64_t far = cut->reach[axis] * more;
        if (lacis_sweep_cut_inner(cut, part, 2 * axis)) rest.begin[axis] -= far;
        if (lacis_sweep_cut_inner(cut, part, 2 * axis + 1)) rest.end[axis] += far;
    }
    /* Slabs along z first, as they lie in one piece; what is left is cut along y, then x. */
    for (int axis = 2; axis >= 0; axis--) {
        lacis_sweep_box low = rest, high = rest;
        low.end[axis] = centre->begin[axis];
        high.begin[axis] = centre->end[axis];
        if (lacis_sweep_box_cells(&low) > 0) out[count++] = low;
        if (lacis_sweep_box_cells(&high) > 0) out[count++] = high;
        rest.begin[axis] = centre->begin[axis];
        rest.end[axis] = centre->end[axis];
    }
    return count;
}
