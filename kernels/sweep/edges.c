/* SPDX-License-Identifier: Apache-2.0
 *
 * Ghosts: what lies beyond the faces. Of a plane first along x in each of its rows, then rows along y, which take the
 * ghosts along x with them. Planes beyond the ends of z that have to be computed (AFFINE, VALUES) come from such
 * planes.
 */
#include "sweep/inside.h"

#include "common/parallel.h"

#include <string.h>

static void copy_cell(char *to, const char *from, int size)
{
    if (size == 4) {
        memcpy(to, from, 4);
    } else {
        memcpy(to, from, 8);
    }
}

/* --- arrays of VALUES ------------------------------------------------------------------------------------- */

/* Where coordinate `at` of an axis stands in an array over a face. */
static int64_t continued(const lacis_sweep *system, int array, int axis, int64_t at)
{
    const sweep_plan *plan = &system->plan;
    const int64_t n = plan->n[axis], before = plan->inner[axis][0] ? plan->halo[axis] : 0,
                  behind = plan->inner[axis][1] ? plan->halo[axis] : 0;
    if (system->face[array][2 * axis].kind == LACIS_SWEEP_PERIODIC) at = sweep_wrap(at, n);
    return at < -before ? 0 : (at >= n + behind ? n + behind - 1 : at) + before;
}

static int64_t face_extent(const sweep_plan *plan, int axis)
{
    return plan->n[axis] + (plan->inner[axis][0] ? plan->halo[axis] : 0) +
           (plan->inner[axis][1] ? plan->halo[axis] : 0);
}

/* u, v: coordinates along the other axes, the lower first. */
static const char *value_at(const lacis_sweep *system, int array, int face, int64_t u, int64_t v)
{
    const int axis = face / 2, low = axis == SWEEP_X ? SWEEP_Y : SWEEP_X, high = axis == SWEEP_Z ? SWEEP_Y : SWEEP_Z;
    const int64_t at =
        continued(system, array, high, v) * face_extent(&system->plan, low) + continued(system, array, low, u);
    return system->face[array][face].values + at * system->loops->size;
}

static void values_row(const lacis_sweep *system, int array, int face, char *to, int64_t begin, int64_t end,
                       int64_t v)
{
    const int size = system->loops->size;
    for (int64_t x = begin; x < end; x++, to += size)
        copy_cell(to, value_at(system, array, face, x, v), size);
}

/* --- one plane -------------------------------------------------------------------------------------------- */

/* The cell that ghost k of an axis of n cells repeats. */
static int64_t repeated(lacis_sweep_edge_kind kind, int side, int64_t k, int64_t n)
{
    switch (kind) {
    case LACIS_SWEEP_MIRROR:
        return side == 0 ? k : n - 1 - k;
    case LACIS_SWEEP_PERIODIC:
        return sweep_wrap(side == 0 ? -k : n - 1 + k, n);
    case LACIS_SWEEP_AFFINE:
        return side == 0 ? k - 1 : n - k;
    default:
        return side == 0 ? 0 : n - 1;
    }
}

/* The ghosts of one row; `row` is its cell 0. */
static void row_ghosts(const lacis_sweep *system, int array, int side, char *row, int64_t deep, int64_t y, int64_t z)
{
    const sweep_face *face = &system->face[array][side];
    const int64_t n = system->plan.n[0];
    const int size = system->loops->size;
    for (int64_t k = 1; k <= deep; k++) {
        char *ghost = row + (side == 0 ? -k : n - 1 + k) * size;
        const char *from = row + repeated(face->kind, side, k, n) * size;
        if (face->kind == LACIS_SWEEP_AFFINE) {
            system->loops->affine(face->a[k - 1], face->b[k - 1], from, ghost, 1);
        } else if (face->kind == LACIS_SWEEP_VALUES) {
            copy_cell(ghost, value_at(system, array, side, y, z), size);
        } else {
            copy_cell(ghost, from, size);
        }
    }
}

static void rows_beyond(const lacis_sweep *system, int array, int side, sweep_plane plane, const sweep_window *window,
                        int64_t z)
{
    const int face_of = 2 * SWEEP_Y + side;
    const sweep_face *face = &system->face[array][face_of];
    const int64_t n = system->plan.n[1], size = system->loops->size,
                  begin = window->begin[0] - (window->ends[0][0] ? window->deep[0] : 0),
                  end = window->end[0] + (window->ends[0][1] ? window->deep[0] : 0);
    for (int64_t k = 1; k <= window->deep[1]; k++) {
        char *to = plane.at + (side == 0 ? -k : n - 1 + k) * plane.pitch + begin * size;
        const char *from = plane.at + repeated(face->kind, side, k, n) * plane.pitch + begin * size;
        if (face->kind == LACIS_SWEEP_AFFINE) {
            system->loops->affine(face->a[k - 1], face->b[k - 1], from, to, end - begin);
        } else if (face->kind == LACIS_SWEEP_VALUES) {
            values_row(system, array, face_of, to, begin, end, z);
        } else {
            memcpy(to, from, (size_t)((end - begin) * size));
        }
    }
}

void lacis_sweep_edges(const lacis_sweep *system, int array, sweep_plane plane, const sweep_window *window, int64_t z)
{
    for (int side = 0; side < 2; side++)
        if (window->ends[0][side] && !window->rows_done)
            for (int64_t y = window->begin[1]; y < window->end[1]; y++)
                row_ghosts(system, array, side, plane.at + y * plane.pitch, window->deep[0], y, z);
    for (int side = 0; side < 2; side++)
        if (window->ends[1][side]) rows_beyond(system, array, side, plane, window, z);
}

/* --- planes beyond the ends of z -------------------------------------------------------------------------- */

/* The cells of a plane with its ghosts. */
static void with_ghosts(const sweep_window *window, int64_t begin[2], int64_t end[2])
{
    for (int d = 0; d < 2; d++) {
        begin[d] = window->begin[d] - (window->ends[d][0] ? window->deep[d] : 0);
        end[d] = window->end[d] + (window->ends[d][1] ? window->deep[d] : 0);
    }
}

void lacis_sweep_affine_plane(const lacis_sweep *system, int array, int side, int k, sweep_plane from, sweep_plane to,
                              const sweep_window *window)
{
    const sweep_face *face = &system->face[array][2 * SWEEP_Z + side];
    const int64_t size = system->loops->size;
    int64_t begin[2], end[2];
    with_ghosts(window, begin, end);
    for (int64_t y = begin[1]; y < end[1]; y++)
        system->loops->affine(face->a[k - 1], face->b[k - 1], from.at + y * from.pitch + begin[0] * size,
                              to.at + y * to.pitch + begin[0] * size, end[0] - begin[0]);
}

static void end_planes(const lacis_sweep *system, int array, int copy, int side, const sweep_window *window)
{
    const int face = 2 * SWEEP_Z + side;
    const lacis_sweep_edge_kind kind = system->face[array][face].kind;
    const int64_t n = system->plan.n[2], size = system->loops->size;
    if (kind != LACIS_SWEEP_AFFINE && kind != LACIS_SWEEP_VALUES) return;
    int64_t begin[2], end[2];
    with_ghosts(window, begin, end);
    for (int k = 1; k <= system->plan.reach[2]; k++) {
        const sweep_plane to = lacis_sweep_array_plane(system, copy, array, side == 0 ? -k : n - 1 + k),
                          from = lacis_sweep_array_plane(system, copy, array, side == 0 ? k - 1 : n - k);
        if (kind == LACIS_SWEEP_AFFINE) lacis_sweep_affine_plane(system, array, side, k, from, to, window);
        if (kind == LACIS_SWEEP_VALUES)
            for (int64_t y = begin[1]; y < end[1]; y++)
                values_row(system, array, face, to.at + y * to.pitch + begin[0] * size, begin[0], end[0], y);
    }
}

/* --- all of an array -------------------------------------------------------------------------------------- */

struct ghosts {
    const lacis_sweep *system;
    sweep_window window;
    int first, copy;
    int64_t begin, end, piece, pieces; /* of planes */
};

static int ghosts_task(void *context, int64_t task, int worker)
{
    const struct ghosts *g = context;
    const int array = g->first + (int)(task / g->pieces);
    const int64_t begin = g->begin + task % g->pieces * g->piece,
                  end = begin + g->piece < g->end ? begin + g->piece : g->end;
    (void)worker;
    for (int64_t z = begin; z < end; z++)
        lacis_sweep_edges(g->system, array, lacis_sweep_array_plane(g->system, g->copy, array, z), &g->window, z);
    return LACIS_SWEEP_OK;
}

void lacis_sweep_ghosts(lacis_sweep *system, int first, int end, int copy, bool rows_done)
{
    const sweep_plan *plan = &system->plan;
    struct ghosts g = {.system = system, .first = first, .copy = copy, .piece = 1};
    for (int d = 0; d < 2; d++) {
        g.window.begin[d] = plan->inner[d][0] ? -plan->halo[d] : 0;
        g.window.end[d] = plan->n[d] + (plan->inner[d][1] ? plan->halo[d] : 0);
        g.window.deep[d] = plan->ghost[d];
        for (int side = 0; side < 2; side++)
            g.window.ends[d][side] = !plan->inner[d][side] && plan->ghost[d] > 0;
    }
    g.begin = plan->inner[2][0] ? -plan->halo[2] : 0;
    g.end = plan->n[2] + (plan->inner[2][1] ? plan->halo[2] : 0);
    enum { ROWS = 256 };
    g.piece = ROWS / plan->n[1] > 1 ? ROWS / plan->n[1] : 1;
    g.pieces = (g.end - g.begin + g.piece - 1) / g.piece;
    g.window.rows_done = rows_done;
    const bool *x = g.window.ends[0], *y = g.window.ends[1];
    if ((!rows_done && (x[0] || x[1])) || y[0] || y[1])
        lacis_parallel(plan->threads, g.pieces * (end - first), ghosts_task, &g);
    for (int array = first; array < end; array++)
        for (int side = 0; side < 2; side++)
            end_planes(system, array, copy, side, &g.window);
}
