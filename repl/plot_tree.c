/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures of morphologies, as LOAD makes them of SWC files: every sample joined to its parent, one series a type of
 * neurite, over x and y and over x and z. Tables from elsewhere may have parents behind their children, in a ring, or
 * nowhere: a sample looks for its own parent alone, and without one it is a dot. See plot.h.
 */
#include "plot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ID, TYPE, X, Y, Z, RADIUS, PARENT, COLUMNS };
static const char *const column_name[COLUMNS] = {"id", "type", "x", "y", "z", "radius", "parent"};

enum { SOMA, AXON, BASAL, APICAL, OTHER, CLASSES };
static const char *const class_name[CLASSES] = {"soma", "axon", "basal dendrite", "apical dendrite", "other"};

typedef struct sample_key {
    int64_t cell, id, row;
} sample_key;

typedef struct morphology {
    lacis_part column[COLUMNS], cell;
    bool cells; /* several of them, each with its own ids */
    int64_t count;
    sample_key *key; /* rising */
} morphology;

/* ---------------------------------------------------------------------------------------- the table */

bool plot_is_tree(const lacis_array *array)
{
    lacis_part part;
    int found = 0;
    for (int i = 0; lacis_array_kind(array) == LACIS_TABLE && lacis_array_part(array, i, &part) == LACIS_OK; i++)
        for (int c = 0; c < COLUMNS; c++)
            found += strcmp(part.name, column_name[c]) == 0;
    return found == COLUMNS;
}

static bool find_columns(const plot_source *source, morphology *m)
{
    char missing[100] = "";
    if (lacis_array_kind(source->array) != LACIS_TABLE)
        return plot_fail(source, "a tree is of a morphology, as LOAD makes it of an SWC file; %s is no table",
                         source->plot->name);
    for (int c = 0, lacking = 0; c < COLUMNS; c++) {
        size_t used = strlen(missing);
        if (!plot_part(source, column_name[c], &m->column[c]))
            snprintf(missing + used, sizeof missing - used, "%s%s", lacking++ > 0 ? ", " : "", column_name[c]);
    }
    if (missing[0] != '\0')
        return plot_fail(source, "a tree needs the columns id, type, x, y, z, radius and parent; %s lacks %s",
                         source->plot->name, missing);
    m->cells = plot_part(source, "cell", &m->cell);
    m->count = lacis_array_extent(source->array, 0);
    return true;
}

static double value(const morphology *m, int column, int64_t row)
{
    return plot_number(&m->column[column], row);
}

/* What is no id is one that nobody has. */
static int64_t whole(const lacis_part *part, int64_t row)
{
    double number = plot_number(part, row);
    return fabs(number) < 9e18 ? (int64_t)number : INT64_MIN;
}

static int64_t cell_of(const morphology *m, int64_t row)
{
    return m->cells ? whole(&m->cell, row) : 0;
}

static int class_of(const morphology *m, int64_t row)
{
    int64_t type = whole(&m->column[TYPE], row);
    return type >= 1 && type <= 4 ? (int)type - 1 : OTHER;
}

static bool has_place(const morphology *m, int64_t row)
{
    return isfinite(value(m, X, row)) && isfinite(value(m, Y, row)) && isfinite(value(m, Z, row));
}

/* ------------------------------------------------------------------------------------------ parents */

static int in_order(const void *left, const void *right)
{
    const sample_key *a = left, *b = right;
    if (a->cell != b->cell) return a->cell < b->cell ? -1 : 1;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static void sort_keys(morphology *m)
{
    m->key = shell_alloc(NULL, sizeof *m->key * ((size_t)m->count + 1));
    for (int64_t i = 0; i < m->count; i++)
        m->key[i] = (sample_key){cell_of(m, i), whole(&m->column[ID], i), i};
    qsort(m->key, (size_t)m->count, sizeof *m->key, in_order);
}

/* The first row with the parent's id, or -1. */
static int64_t parent_of(const morphology *m, int64_t row)
{
    const sample_key wanted = {cell_of(m, row), whole(&m->column[PARENT], row), -1};
    int64_t low = 0, high = m->count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (in_order(&m->key[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < m->count && m->key[low].cell == wanted.cell && m->key[low].id == wanted.id;
    return found && wanted.id != INT64_MIN && has_place(m, m->key[low].row) ? m->key[low].row : -1;
}

/* A soma of three samples stands for a ball: two of them lie on its surface, and as pieces would make it a sausage.
 */
static bool is_on_ball(const morphology *m, int64_t row, int64_t parent)
{
    if (parent < 0 || class_of(m, row) != SOMA || class_of(m, parent) != SOMA || parent_of(m, parent) >= 0)
        return false;
    double far = hypot(hypot(value(m, X, row) - value(m, X, parent), value(m, Y, row) - value(m, Y, parent)),
                       value(m, Z, row) - value(m, Z, parent));
    double radius = value(m, RADIUS, parent), off = fmax(fabs(far - radius), fabs(value(m, RADIUS, row) - radius));
    return off <= 0.01 * radius; /* files are rounded */
}

/* ------------------------------------------------------------------------------------------- series */

static void add_piece(const morphology *m, int64_t row, int64_t parent, plot_series *one)
{
    const int64_t end[] = {parent >= 0 ? parent : row, row};
    double radius = value(m, RADIUS, row);
    one->width[one->count / 2] = isfinite(radius) && radius > 0 ? 2 * radius : 0;
    for (int e = 0; e < 2; e++) {
        one->x[one->count] = value(m, X, end[e]);
        one->y[one->count] = value(m, Y, end[e]);
        one->z[one->count++] = value(m, Z, end[e]);
    }
}

static bool add_classes(const plot_source *source, const morphology *m, plot_figure *figure)
{
    if (!plot_take(source, m->count, sizeof *m->key + 3 * sizeof(double))) return false; /* keys, z and width */
    int64_t samples[CLASSES] = {0};
    for (int64_t i = 0; i < m->count; i++)
        samples[class_of(m, i)]++;
    for (int c = 0; c < CLASSES; c++) {
        plot_series *one = plot_add(source, figure, 2 * samples[c], class_name[c]);
        if (one == NULL) return false;
        one->z = shell_alloc(NULL, sizeof *one->z * (2 * (size_t)samples[c] + 1));
        one->width = shell_alloc(NULL, sizeof *one->width * ((size_t)samples[c] + 1));
        one->count = 0;
    }
    return true;
}

bool plot_tree(const plot_source *source, plot_figure *figure)
{
    morphology m;
    if (!find_columns(source, &m)) return false;
    figure->mark = PLOT_TREE;
    if (!add_classes(source, &m, figure)) return false;
    sort_keys(&m);
    for (int64_t i = 0; i < m.count; i++) {
        int64_t parent = has_place(&m, i) ? parent_of(&m, i) : -1;
        if (has_place(&m, i) && !is_on_ball(&m, i, parent)) add_piece(&m, i, parent, &figure->one[class_of(&m, i)]);
    }
    free(m.key);
    snprintf(figure->x.label, sizeof figure->x.label, "x (um)");
    snprintf(figure->y.label, sizeof figure->y.label, "y (um)");
    snprintf(figure->z.label, sizeof figure->z.label, "z (um)");
    snprintf(figure->title, sizeof figure->title, "%s: %lld samples", source->plot->name, (long long)m.count);
    return true;
}

/* --------------------------------------------------------------------------------------------- axes */

/* NaN is what fmin and fmax pass over. */
static void widen(plot_axis *axis, const plot_series *one, const double *at)
{
    for (int64_t i = 0; i < one->count; i++) {
        axis->low = fmin(axis->low, at[i] - one->width[i / 2] / 2);
        axis->high = fmax(axis->high, at[i] + one->width[i / 2] / 2);
    }
}

bool plot_tree_fit(plot_figure *figure)
{
    plot_axis *const axis[] = {&figure->x, &figure->y, &figure->z};
    for (int a = 0; a < 3; a++)
        axis[a]->low = axis[a]->high = NAN;
    for (int s = 0; s < figure->series; s++) {
        widen(&figure->x, &figure->one[s], figure->one[s].x);
        widen(&figure->y, &figure->one[s], figure->one[s].y);
        widen(&figure->z, &figure->one[s], figure->one[s].z);
    }
    for (int a = 0; a < 3; a++)
        if (!(fmax(fabs(axis[a]->low), fabs(axis[a]->high)) < 1e300)) return false;
    return true;
}

static double span(const plot_axis *axis)
{
    return axis->high - axis->low;
}

static void stretch(plot_axis *axis, double to)
{
    double middle = axis->low + span(axis) / 2;
    axis->low = middle - to / 2;
    axis->high = middle + to / 2;
}

void plot_tree_panels(const plot_figure *figure, double width, double height, plot_figure *panel)
{
    const double room = 1.08;
    double unit = room * fmax(span(&figure->x) / width, fmax(span(&figure->y), span(&figure->z)) / height);
    double middle = fmax(fabs(figure->x.high), fmax(fabs(figure->y.high), fabs(figure->z.high)));
    if (!(unit > middle * 1e-12)) unit = fmax(middle * 1e-3, 1) / height; /* all of it is one point */
    panel[0] = panel[1] = *figure;
    panel[1].y = figure->z;
    for (int s = 0; s < figure->series; s++)
        panel[1].one[s].y = figure->one[s].z;
    for (int p = 0; p < 2; p++) {
        stretch(&panel[p].x, unit * width);
        stretch(&panel[p].y, unit * height);
    }
}
