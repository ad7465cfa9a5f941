/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the lanes of a tile lie in each field, and in which way the loops should take them. Called from run.c.
 */
#include "solve/inside.h"

static const lacis_solve_field *field_of(const lacis_solve_job *job, solve_role role)
{
    switch (role) {
    case SOLVE_LOWER:
        return &job->lower;
    case SOLVE_DIAGONAL:
        return &job->diagonal;
    case SOLVE_UPPER:
        return &job->upper;
    case SOLVE_RHS:
    case SOLVE_ROLES:
        break;
    }
    return &job->rhs;
}

static const lacis_solve_side *side_of(const lacis_solve_group *group, solve_role role)
{
    return role == SOLVE_RHS ? &group->rhs : &group->matrix;
}

static bool side_by_side(const lacis_solve_side *side, int64_t lane, int count)
{
    return side->block > 1 && (lane + side->lane) % side->block + count <= side->block;
}

static bool is_smooth(const lacis_solve_field *field, const lacis_solve_side *side, int64_t lane, int count)
{
    return field->shared || side->block == 1 || side_by_side(side, lane, count);
}

bool lacis_solve_smooth(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, int count)
{
    const lacis_solve_field x = {job->x, false};
    for (int role = 0; role < SOLVE_ROLES; role++)
        if (!is_smooth(field_of(job, (solve_role)role), side_of(group, (solve_role)role), lane, count)) return false;
    return is_smooth(&x, &group->x, lane, count);
}

/* The place of a lane's first row, and the way to its next. */
static char *lane_at(const lacis_solve_field *field, const lacis_solve_side *side, int64_t rows, int64_t lane,
                     int bytes, int64_t *step)
{
    int64_t at = field->shared ? side->row : lacis_solve_place(side, rows, lane, 0);
    *step = field->shared ? side->step : side->block;
    return (char *)field->data + at * bytes;
}

/* `ready`: elements lie as they are computed with. */
static void view_of(const lacis_solve_field *field, const lacis_solve_side *side, int64_t rows, int64_t lane,
                    int count, int width, int bytes, bool ready, solve_view *out)
{
    out->at = lane_at(field, side, rows, lane, bytes, &out->step);
    if (width == 1) {
        out->mode = ready ? SOLVE_DIRECT : SOLVE_PAIRS;
    } else if (field->shared && count == width) {
        out->mode = SOLVE_SPLAT;
    } else if (!field->shared && count == width && side_by_side(side, lane, count)) {
        out->mode = ready ? SOLVE_DIRECT : SOLVE_PAIRS;
    } else {
        out->mode = !field->shared && count == width && side->block == 1 ? SOLVE_TURN : SOLVE_GATHER;
        const int64_t apart = field->shared ? 0 : rows * bytes;
        for (int l = 0; l < count; l++) {
            bool plain = field->shared || side->block == 1; /* spares a division */
            out->lane_step[l] = out->step;
            out->lane[l] =
                plain ? out->at + l * apart : lane_at(field, side, rows, lane + l, bytes, &out->lane_step[l]);
        }
    }
}

void lacis_solve_tile_of(const lacis_solve_job *job, const lacis_solve_group *group, int64_t lane, int count,
                         int width, solve_tile *out)
{
    const int bytes = lacis_solve_bytes(job->type);
    const bool ready = job->type == LACIS_SOLVE_F64 || job->type == LACIS_SOLVE_F32;
    const lacis_solve_field x = {job->x, false};
    out->lanes = count;
    out->rows = group->rows;
    for (int l = 0; l < count; l++)
        out->lane_rows[l] = group->rows;
    for (int role = 0; role < SOLVE_ROLES; role++)
        view_of(field_of(job, (solve_role)role), side_of(group, (solve_role)role), group->rows, lane, count, width,
                bytes, ready, &out->in[role]);
    view_of(&x, &group->x, group->rows, lane, count, width, bytes, ready, &out->x);
}

void lacis_solve_tile_mixed(const lacis_solve_job *job, const solve_lane *lanes, int count, solve_tile *out)
{
    const int bytes = lacis_solve_bytes(job->type);
    const lacis_solve_field x = {job->x, false};
    out->lanes = count;
    out->rows = 0;
    for (int role = 0; role < SOLVE_ROLES; role++)
        out->in[role].mode = SOLVE_GATHER;
    out->x.mode = SOLVE_GATHER;
    for (int l = 0; l < count; l++) {
        const lacis_solve_group *group = lanes[l].group;
        out->lane_rows[l] = group->rows;
        if (group->rows > out->rows) out->rows = group->rows;
        for (int role = 0; role < SOLVE_ROLES; role++) {
            solve_view *view = &out->in[role];
            view->lane[l] = lane_at(field_of(job, (solve_role)role), side_of(group, (solve_role)role), group->rows,
                                    lanes[l].lane, bytes, &view->lane_step[l]);
        }
        out->x.lane[l] = lane_at(&x, &group->x, group->rows, lanes[l].lane, bytes, &out->x.lane_step[l]);
    }
}
