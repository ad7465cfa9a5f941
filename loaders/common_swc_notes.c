/* SPDX-License-Identifier: Apache-2.0
 *
 * Warnings of SWC files that are taken although something about them may surprise; see common_swc.h. Each says on
 * which line it is first, and its name. Also the rule for radii.
 */
#include "common_swc.h"

#include <math.h>

/* What is found sample by sample, in the order of the file. */
typedef struct finding {
    int64_t count, row; /* row: the first */
} finding;

typedef struct findings {
    finding late, falling, gaps, roots, somas, soma_pieces, soma_below, type_0, type_5, negative_type, zero_radius,
        negative_radius, zero_length;
} findings;

static void add(finding *f, bool is, int64_t row)
{
    if (!is) return;
    if (f->count++ == 0) f->row = row;
}

static void look_at_ids(const lacis_swc *swc, int64_t i, findings *f)
{
    add(&f->late, swc->up[i] > i, i);
    add(&f->roots, swc->up[i] < 0, i);
    if (i == 0) return;
    add(&f->falling, swc->id[i] < swc->id[i - 1], i);
    add(&f->gaps, swc->id[i] - swc->id[i - 1] != 1, i);
}

static void look_at_types(const lacis_swc *swc, int64_t i, findings *f)
{
    int64_t type = swc->type[i];
    int32_t up = swc->up[i];
    bool soma = type == LACIS_SWC_SOMA, below = up >= 0 && swc->type[up] != LACIS_SWC_SOMA;
    add(&f->somas, soma, i);
    add(&f->soma_pieces, soma && (up < 0 || below), i);
    add(&f->soma_below, soma && below, i);
    add(&f->type_0, type == 0, i);
    add(&f->type_5, type >= 5, i);
    add(&f->negative_type, type < 0, i);
}

static void look_at_shape(const lacis_swc *swc, int64_t i, findings *f)
{
    int32_t up = swc->up[i];
    add(&f->zero_radius, swc->radius[i] == 0, i);
    add(&f->negative_radius, swc->radius[i] < 0, i);
    add(&f->zero_length, up >= 0 && swc->x[i] == swc->x[up] && swc->y[i] == swc->y[up] && swc->z[i] == swc->z[up], i);
}

/* "line n [and so many more]: name: more". */
static void tell_at(const lacis_swc *swc, const char *name, int64_t count, const char *at, const char *more)
{
    if (count == 0) return;
    long long line = (long long)lacis_text_line(swc->text, at);
    if (count == 1)
        lacis_run_note(swc->run, LACIS_WARNING, "line %lld: %s: %s", line, name, more);
    else
        lacis_run_note(swc->run, LACIS_WARNING, "line %lld and %lld more: %s: %s", line, (long long)count - 1, name,
                       more);
}

static void tell(const lacis_swc *swc, const char *name, const finding *f, const char *more)
{
    if (f->count > 0) tell_at(swc, name, f->count, lacis_swc_line(swc, f->row), more);
}

static void tell_of_ids(const lacis_swc *swc, const findings *f)
{
    int64_t first = swc->id[0];
    bool zero = false;
    for (int64_t i = 0; i < swc->count && !zero; i++)
        zero = swc->id[i] == 0;
    if (zero)
        lacis_run_note(swc->run, LACIS_WARNING, "id 0: it is a sample like others here, and a parent; roots have -1");
    if (first != 1)
        lacis_run_note(swc->run, LACIS_WARNING, "first id: it is %lld, not 1: ids stay as they are",
                       (long long)first);
    tell(swc, "ids go down", &f->falling, "ids stay as they are");
    tell(swc, "ids skip numbers", &f->gaps, "ids stay as they are");
    tell(swc, "parent after child", &f->late, "parents were moved in front of their children");
}

static void tell_of_trees(const lacis_swc *swc, const findings *f)
{
    if (f->roots.count > 1)
        lacis_run_note(swc->run, LACIS_WARNING, "several trees: %lld roots: each is a tree of its own in this cell",
                       (long long)f->roots.count);
    if (f->somas.count == 0)
        lacis_run_note(swc->run, LACIS_WARNING,
                       "no soma: no sample has type 1; where SIMULATE asks for a place, name a section "
                       "('dend[0](0.5)') or a sample");
    if (f->soma_pieces.count > 1)
        lacis_run_note(swc->run, LACIS_WARNING, "several somas: samples of type 1 in %lld pieces",
                       (long long)f->soma_pieces.count);
    tell(swc, "soma below a neurite", &f->soma_below, "a sample of type 1 hangs on one of another type");
    tell(swc, "type 0", &f->type_0, "a structure left undefined");
    tell(swc, "type 5 or above", &f->type_5, "a structure of its makers' own meaning");
    tell(swc, "negative type", &f->negative_type, "no such structure is known");
}

static void tell_of_lines(const lacis_swc *swc)
{
    const lacis_text *text = swc->text;
    tell_at(swc, "decimal ids", swc->decimals.count, swc->decimals.at, "ids, types or parents with a decimal point");
    tell_at(swc, "more columns", swc->more.count, swc->more.at, "what is behind the 7th is left out");
    tell_at(swc, "comment behind numbers", swc->comments.count, swc->comments.at, "# and what follows is left out");
    for (const char *p = text->begin; p < text->end; p++) {
        p = memchr(p, '\r', (size_t)(text->end - p));
        if (p == NULL) return;
        if (p + 1 < text->end && p[1] == '\n') continue;
        lacis_run_note(swc->run, LACIS_WARNING,
                       "line %lld: stray carriage return: one that ends no line counts as a blank",
                       (long long)lacis_text_line(text, p));
        return;
    }
}

void lacis_swc_notes(lacis_swc *swc)
{
    findings f = {0};
    for (int64_t i = 0; i < swc->count; i++) {
        look_at_ids(swc, i, &f);
        look_at_types(swc, i, &f);
        look_at_shape(swc, i, &f);
    }
    tell_of_lines(swc);
    tell_of_ids(swc, &f);
    tell_of_trees(swc, &f);
    tell(swc, "radius 0", &f.zero_radius, "no area and no axial conductance there; min_radius = r raises it");
    tell(swc, "negative radius", &f.negative_radius, "it counts as 0; min_radius = r raises it");
    tell(swc, "length 0", &f.zero_length, "a sample at the place of its parent; it is kept");
}

/* A radius below 0 says no more than that it is not known: it becomes 0, which area and resistance have a rule for.
 */
lacis_status lacis_swc_scale(lacis_swc *swc, double scale, double least)
{
    int64_t raised = 0;
    for (int64_t i = 0; i < swc->count; i++) {
        swc->x[i] *= scale;
        swc->y[i] *= scale;
        swc->z[i] *= scale;
        double radius = swc->radius[i] * scale;
        if (!isfinite(swc->x[i]) || !isfinite(swc->y[i]) || !isfinite(swc->z[i]) || !isfinite(radius))
            return lacis_text_fail(swc->run, swc->text, lacis_swc_line(swc, i),
                                   "times scale = %g the sample leaves the range of numbers", scale);
        raised += radius < least;
        swc->radius[i] = radius < least ? least : radius;
    }
    if (least > 0 && raised > 0)
        lacis_run_note(swc->run, LACIS_NOTE, "%lld radii were raised to min_radius = %g", (long long)raised, least);
    return LACIS_OK;
}
