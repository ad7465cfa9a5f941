/* SPDX-License-Identifier: Apache-2.0
 *
 * Stretches of a batch's lanes, as pieces.h says.
 */
#include "solve/pieces.h"

#include <string.h>

static int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* Whole groups that follow each other make one stretch. */
static void add_piece(lacis_solve_lie *lie, lacis_solve_piece piece)
{
    if (piece.width == 0 || piece.height == 0) return;
    lacis_solve_piece *last = lie->pieces > 0 ? &lie->piece[lie->pieces - 1] : NULL;
    if (last != NULL && last->height == 1 && piece.height == 1 && last->from + last->width == piece.from &&
        last->to + last->width == piece.to) {
        last->width += piece.width;
    } else {
        lie->piece[lie->pieces++] = piece;
    }
}

/* A row of each of its lanes at a time; the copy holds them as Full. */
static lacis_solve_side add_columns(lacis_solve_lie *lie, const lacis_batch_group *group, int64_t begin, int64_t end)
{
    const int64_t lanes = end - begin, to = lie->places;
    add_piece(lie, (lacis_solve_piece){group->place + begin, to, lanes, group->rows, group->block, lanes});
    lie->places += lanes * group->rows;
    return (lacis_solve_side){to, lanes, 0, group->row, 1};
}

/* Flocks [first, last); flock number 0 lies at `to` of the copy. */
static void add_whole(lacis_solve_lie *lie, const lacis_batch_group *group, int64_t first, int64_t last, int64_t to)
{
    const int64_t flock = group->block * group->rows;
    if (last <= first) return;
    add_piece(lie,
              (lacis_solve_piece){group->place + first * flock, to + first * flock, (last - first) * flock, 1, 0, 0});
}

/* Lanes [begin, end) of one flock, row by row. */
static void add_part(lacis_solve_lie *lie, const lacis_batch_group *group, int64_t begin, int64_t end, int64_t to)
{
    const int64_t block = group->block, at = begin / block * block * group->rows + begin % block;
    if (end <= begin) return;
    add_piece(lie, (lacis_solve_piece){group->place + at, to + at, end - begin, group->rows, block, block});
}

/* The flocks at either end, of which only some lanes are meant, and those between them. */
static void add_flocks(lacis_solve_lie *lie, const lacis_batch_group *group, int64_t begin, int64_t end, int64_t to)
{
    const int64_t block = group->block, up = (end + block - 1) / block;
    if (!lie->exact) {
        add_whole(lie, group, begin / block, up, to);
        return;
    }
    const int64_t first = (begin + block - 1) / block, last = end == group->lanes ? up : end / block;
    if (first > last) {
        add_part(lie, group, begin, end, to);
        return;
    }
    add_part(lie, group, begin, least(first * block, end), to);
    add_whole(lie, group, first, last, to);
    add_part(lie, group, last * block, end, to);
}

lacis_solve_side lacis_solve_lie_add(lacis_solve_lie *lie, const lacis_batch *batch, const lacis_batch_group *group,
                                     int64_t begin, int64_t end)
{
    const int64_t block = group->block, to = lie->places;
    const bool all = begin == 0 && end == group->lanes;
    if (batch->block == 0 && !all) return add_columns(lie, group, begin, end);
    const int64_t first = begin / block, flocks = end > begin ? (end - 1) / block + 1 - first : 0;
    const int64_t origin = to - first * block * group->rows;
    if (flocks > 0) add_flocks(lie, group, begin, end, origin);
    lie->places += flocks * block * group->rows;
    return (lacis_solve_side){origin, block, begin, group->row, 1};
}

static void move(const lacis_solve_piece *piece, uint64_t size, bool back, char *batch, char *copy)
{
    const size_t bytes = (size_t)piece->width * size;
    for (int64_t i = 0; i < piece->height; i++) {
        char *at = batch + (size_t)(piece->from + i * piece->from_pitch) * size;
        char *own = copy + (size_t)(piece->to + i * piece->to_pitch) * size;
        memcpy(back ? at : own, back ? own : at, bytes);
    }
}

void lacis_solve_lie_take(const lacis_solve_lie *lie, uint64_t size, const void *from, void *copy)
{
    char *batch;
    memcpy(&batch, &from, sizeof batch); /* only read */
    for (int i = 0; i < lie->pieces; i++)
        move(&lie->piece[i], size, false, batch, copy);
}

void lacis_solve_lie_put(const lacis_solve_lie *lie, uint64_t size, const void *copy, void *to)
{
    char *own;
    memcpy(&own, &copy, sizeof own); /* only read */
    for (int i = 0; i < lie->pieces; i++)
        move(&lie->piece[i], size, true, to, own);
}
