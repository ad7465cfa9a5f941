/* SPDX-License-Identifier: Apache-2.0
 *
 * How a grid is cut into parts. Called by operators/sweep/ranks*.c, and for several devices by gpu_several.cu.
 */
#include "sweep/parts.h"

#include <stdio.h>
#include <string.h>

static const int64_t tile[3] = {LACIS_SWEEP_TILE_X, LACIS_SWEEP_TILE_Y, 1};
static const char axis_name[3] = {'x', 'y', 'z'};

/* ------------------------------------------------------------------------------------------- shares */

static int64_t tiles_along(const lacis_sweep_cut *cut, int axis)
{
    return (cut->whole[axis] + tile[axis] - 1) / tile[axis];
}

/* Where share i of n begins: whole tiles, dealt evenly. */
static int64_t border(const lacis_sweep_cut *cut, int axis, int n, int i)
{
    const int64_t tiles = tiles_along(cut, axis);
    int64_t at = (tiles / n * i + tiles % n * i / n) * tile[axis];
    return at < cut->whole[axis] ? at : cut->whole[axis];
}

static int64_t thinnest(const lacis_sweep_cut *cut, int axis, int n)
{
    int64_t least = cut->whole[axis];
    for (int i = 0; i < n; i++) {
        int64_t share = border(cut, axis, n, i + 1) - border(cut, axis, n, i);
        if (share < least) least = share;
    }
    return least;
}

void lacis_sweep_cut_place(const lacis_sweep_cut *cut, int part, int place[3])
{
    for (int axis = 0; axis < 3; axis++) {
        place[axis] = part % cut->grid[axis];
        part /= cut->grid[axis];
    }
}

int lacis_sweep_cut_part(const lacis_sweep_cut *cut, const int place[3])
{
    return (place[2] * cut->grid[1] + place[1]) * cut->grid[0] + place[0];
}

void lacis_sweep_cut_box(const lacis_sweep_cut *cut, int part, lacis_sweep_box *out)
{
    int place[3];
    lacis_sweep_cut_place(cut, part, place);
    for (int axis = 0; axis < 3; axis++) {
        out->begin[axis] = border(cut, axis, cut->grid[axis], place[axis]);
        out->end[axis] = border(cut, axis, cut->grid[axis], place[axis] + 1);
    }
}

bool lacis_sweep_cut_inner(const lacis_sweep_cut *cut, int part, int face)
{
    int place[3];
    const int axis = face / 2, n = cut->grid[axis];
    if (n == 1) return false;
    lacis_sweep_cut_place(cut, part, place);
    return cut->periodic[axis] || (face % 2 == 0 ? place[axis] > 0 : place[axis] < n - 1);
}

int64_t lacis_sweep_box_cells(const lacis_sweep_box *box)
{
    int64_t cells = 1;
    for (int axis = 0; axis < 3; axis++)
        cells *= box->end[axis] > box->begin[axis] ? box->end[axis] - box->begin[axis] : 0;
    return cells;
}

/* -------------------------------------------------------------------------------- the grid of parts */

static double surface(const lacis_sweep_cut *cut, const int grid[3])
{
    const int both = 2;
    double cells = 0;
    for (int axis = 0; axis < 3; axis++) {
        int borders = grid[axis] == 1 ? 0 : grid[axis] - !cut->periodic[axis];
        double face = (double)(cut->reach[axis] * cut->deep) * borders * both;
        for (int other = 0; other < 3; other++)
            if (other != axis) face *= (double)cut->whole[other];
        cells += face;
    }
    return cells;
}

double lacis_sweep_cut_surface(const lacis_sweep_cut *cut)
{
    return surface(cut, cut->grid);
}

/* By how much the thinnest share is thick enough, as a ratio; below 1: it is not. *at: the worst axis. */
static double thickness(const lacis_sweep_cut *cut, const int grid[3], int *at)
{
    const double plenty = 1e9;
    double worst = plenty;
    *at = 0;
    for (int axis = 0; axis < 3; axis++) {
        if (grid[axis] == 1) continue;
        const int64_t halo = cut->reach[axis] * cut->deep, least = halo > cut->reach[axis] ? halo : halo + 1;
        double ratio = axis < cut->dims ? (double)thinnest(cut, axis, grid[axis]) / (double)least : 0;
        if (ratio >= worst) continue;
        worst = ratio;
        *at = axis;
    }
    return worst;
}

/* An axis of which some fields are periodic and others are not stays whole. */
static bool mixed(const lacis_sweep_start *whole, int axis)
{
    for (int field = 1; field < whole->fields; field++)
        for (int face = 2 * axis; face < 2 * axis + 2; face++)
            if ((whole->edge[field][face].kind == LACIS_SWEEP_PERIODIC) !=
                (whole->edge[0][face].kind == LACIS_SWEEP_PERIODIC))
                return true;
    return false;
}

static bool diagonal(const lacis_sweep_start *whole, const int grid[3])
{
    for (int field = 0; field < whole->fields; field++)
        for (int i = 0; i < whole->rule[field].taps; i++) {
            int off = 0;
            for (int axis = 0; axis < 3; axis++)
                off += grid[axis] > 1 && whole->rule[field].tap[i].at[axis] != 0;
            if (off > 1) return true;
        }
    return false;
}

static void describe(const lacis_sweep_cut *cut, const int grid[3], int axis, int parts, char *why, size_t size)
{
    char cells[80];
    int used = snprintf(cells, sizeof cells, "%lld", (long long)cut->whole[0]);
    for (int other = 1; other < cut->dims; other++)
        used += snprintf(cells + used, sizeof cells - (size_t)used, " x %lld", (long long)cut->whole[other]);
    const long long share = (long long)thinnest(cut, axis, grid[axis]),
                    halo = (long long)(cut->reach[axis] * cut->deep);
    snprintf(why, size, "%s cells in %d parts: shares of %lld cells along %c are %s their halo of %lld", cells, parts,
             share, axis_name[axis], share < halo ? "thinner than" : "no thicker than", halo);
}

/* Of all grids of so many parts the one with thick enough shares and the least surface; of alike ones that which cuts
 * higher axes. Where none is thick enough the best of them is told. */
static bool choose(lacis_sweep_cut *cut, int parts, const bool whole[3], char *why, size_t size)
{
    int best[3] = {0, 0, 0}, closest[3] = {1, 1, 1}, closest_axis = 0;
    double least = 0, closest_ratio = -1;
    for (int x = 1; x <= parts; x++) {
        for (int y = 1; parts % x == 0 && y <= parts / x; y++) {
            const int grid[3] = {x, y, parts / x / y};
            int axis;
            if (parts / x % y != 0 || (whole[0] && x > 1) || (whole[1] && y > 1) || (whole[2] && grid[2] > 1))
                continue;
            double ratio = thickness(cut, grid, &axis);
            if (ratio > closest_ratio) {
                closest_ratio = ratio;
                closest_axis = axis;
                memcpy(closest, grid, sizeof closest);
            }
            double cells = surface(cut, grid);
            if (ratio < 1 || (best[0] > 0 && cells >= least)) continue;
            least = cells;
            memcpy(best, grid, sizeof best);
        }
    }
    memcpy(cut->grid, best, sizeof best);
    if (best[0] > 0) return true;
    if (closest_ratio < 0) {
        snprintf(why, size, "axes that are periodic for some fields alone are not cut, and no other one can be");
    } else {
        describe(cut, closest, closest_axis, parts, why, size);
    }
    return false;
}

bool lacis_sweep_cut_make(const lacis_sweep_start *whole, int parts, int deep, lacis_sweep_cut *out, char *why,
                          size_t size)
{
    bool stays[3];
    *out = (lacis_sweep_cut){.dims = whole->dims, .parts = parts, .deep = deep};
    lacis_sweep_reach(whole, out->reach);
    for (int axis = 0; axis < 3; axis++) {
        out->whole[axis] = whole->extent[axis];
        out->periodic[axis] = whole->edge[0][2 * axis].kind == LACIS_SWEEP_PERIODIC;
        stays[axis] = axis >= whole->dims || (parts > 1 && mixed(whole, axis));
    }
    if (!choose(out, parts, stays, why, size)) return false;
    for (int axis = 0; axis < 3; axis++)
        out->halo[axis] = out->grid[axis] > 1 ? out->reach[axis] * deep : 0;
    out->corners = deep > 1 || diagonal(whole, out->grid);
    return true;
}

void lacis_sweep_cut_start(const lacis_sweep_start *whole, const lacis_sweep_cut *cut, int part,
                           lacis_sweep_start *out)
{
    lacis_sweep_box box;
    lacis_sweep_cut_box(cut, part, &box);
    *out = *whole;
    for (int axis = 0; axis < 3; axis++) {
        out->extent[axis] = box.end[axis] - box.begin[axis];
        out->whole[axis] = cut->whole[axis];
        out->origin[axis] = box.begin[axis];
        out->halo[axis] = cut->halo[axis];
    }
    for (int field = 0; field < whole->fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (lacis_sweep_cut_inner(cut, part, face))
                out->edge[field][face] = (lacis_sweep_edge){.kind = LACIS_SWEEP_INNER};
}
