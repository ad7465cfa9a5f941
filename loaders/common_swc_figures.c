/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of a cell for <name>_files: samples, branch points, tips, roots, lengths, depths; see common_swc.h.
 */
#include "common_swc.h"

#include <math.h>

const lacis_column lacis_swc_figures[LACIS_SWC_FIGURES] = {
    {"samples", false},      {"branch_points", false},    {"tips", false},        {"roots", false},
    {"length_um", true},     {"neurite_length_um", true}, {"max_depth", false},   {"longest_unbranched", false},
    {"max_children", false}, {"soma_samples", false},     {"zero_radius", false}, {"zero_length", false},
    {"min_id", false},       {"max_id", false},
};

/* In the order of the table above. */
typedef struct figures {
    double samples, branch_points, tips, roots, length, neurite_length, depth, unbranched, children, somas,
        zero_radius, zero_length, min_id, max_id;
} figures;

typedef struct cell {
    int64_t count;
    const int64_t *id, *type, *parent;
    const double *x, *y, *z, *radius;
    int32_t *up;       /* row of the parent, which comes first; -1: none */
    int32_t *children; /* how many */
    int32_t *depth;    /* edges to the root */
    int32_t *run;      /* edges in a row above that begin at no branch point */
} cell;

static const void *column(const lacis_array *array, enum lacis_swc_column which)
{
    return lacis_array_part_named(array, lacis_swc_columns[which].name)->data;
}

static void view(const lacis_array *array, cell *c)
{
    c->count = lacis_array_extent(array, 0);
    c->id = column(array, LACIS_SWC_ID);
    c->type = column(array, LACIS_SWC_TYPE);
    c->x = column(array, LACIS_SWC_X);
    c->y = column(array, LACIS_SWC_Y);
    c->z = column(array, LACIS_SWC_Z);
    c->radius = column(array, LACIS_SWC_RADIUS);
    c->parent = column(array, LACIS_SWC_PARENT);
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

static void count_children(cell *c, const lacis_swc_ids *ids)
{
    memset(c->children, 0, (size_t)c->count * sizeof *c->children);
    for (int64_t i = 0; i < c->count; i++) {
        c->up[i] = c->parent[i] < 0 ? -1 : (int32_t)lacis_swc_ids_row(ids, c->parent[i]);
        if (c->up[i] >= 0) c->children[c->up[i]]++;
    }
}

static void add_edge(const cell *c, int64_t i, figures *f)
{
    int32_t up = c->up[i];
    double dx = c->x[i] - c->x[up], dy = c->y[i] - c->y[up], dz = c->z[i] - c->z[up];
    double length = sqrt(dx * dx + dy * dy + dz * dz);
    f->length += length;
    if (c->type[i] != LACIS_SWC_SOMA && c->type[up] != LACIS_SWC_SOMA) f->neurite_length += length;
    f->zero_length += dx == 0 && dy == 0 && dz == 0;
}

static void add_sample(cell *c, int64_t i, figures *f)
{
    int32_t up = c->up[i];
    c->depth[i] = up < 0 ? 0 : c->depth[up] + 1;
    c->run[i] = up < 0 || c->children[up] > 1 ? 0 : c->run[up] + 1;
    f->depth = most(f->depth, c->depth[i]);
    f->unbranched = most(f->unbranched, c->run[i]);
    f->children = most(f->children, c->children[i]);
    f->branch_points += c->children[i] > 1;
    f->tips += c->children[i] == 0;
    f->roots += up < 0;
    f->somas += c->type[i] == LACIS_SWC_SOMA;
    f->zero_radius += c->radius[i] == 0;
    f->min_id = -most(-f->min_id, -(double)c->id[i]);
    f->max_id = most(f->max_id, (double)c->id[i]);
    if (up >= 0) add_edge(c, i, f);
}

lacis_status lacis_swc_measure(lacis_run *run, const lacis_array *array, double *value)
{
    cell c;
    lacis_swc_ids ids;
    int64_t twice, first;
    view(array, &c);
    uint64_t n = (uint64_t)c.count;
    LACIS_TRY(lacis_run_alloc(run, 4 * n * sizeof *c.up, &c.up));
    c.children = c.up + n;
    c.depth = c.children + n;
    c.run = c.depth + n;
    lacis_status status = lacis_swc_ids_make(&ids, run, c.id, c.count, &twice, &first);
    if (status == LACIS_OK) {
        figures f = {.samples = (double)c.count, .min_id = INFINITY, .max_id = -INFINITY};
        count_children(&c, &ids);
        for (int64_t i = 0; i < c.count; i++)
            add_sample(&c, i, &f);
        memcpy(value, &f, sizeof f);
    }
    lacis_swc_ids_end(&ids);
    lacis_run_free(run, c.up);
    return status;
}
