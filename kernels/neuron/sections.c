/* SPDX-License-Identifier: Apache-2.0
 *
 * From samples to sections. Callers: the operators over cells.
 *
 * The rules are those by which NEURON 8 reads SWC files, so that results compare number by number; docs/neurons.md
 * states them. Points pass through eight significant digits and single precision, as they do there.
 */
#include "neuron/arena.h"
#include "neuron/points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Children of a sample, in hundredths: a child counts 100, one that does not stand right behind its parent or is of
 * another type a little more. Samples with exactly 100 go on in the next sample; at all others a section ends. */
enum { CHILD = 100, APART = 1, GOES_ON = 100 };

struct work {
    const neuron_samples *samples;
    neuron_sections *out;
    int32_t *children;   /* of a sample, in hundredths */
    int32_t *soma_heirs; /* of a soma sample: children that are soma */
    int32_t *section;    /* of a sample, before sections are left out */
    int32_t *begin;      /* of a section, sections + 1 */
    int32_t *parent;     /* sample */
    int32_t *renamed;    /* of a section: its number once others are left out, or -1 */
    unsigned char *proximal, *wire;
    unsigned char *thin;        /* of a section: the parent's copy gets the diameter of the first sample */
    int32_t *points;            /* of a section, with the parent's copy */
    bool sphere;                /* three samples that stand for a sphere */
    int32_t *type, *type_count; /* types so far, and how many sections of each: a hash table */
    int64_t slots;              /* of it, a power of two */
};

static void lay_out(struct work *work, int64_t n, neuron_arena *arena)
{
    neuron_sections *out = work->out;
    NEURON_TAKE(arena, out->type, n);
    NEURON_TAKE(arena, out->number, n);
    NEURON_TAKE(arena, out->parent, n);
    NEURON_TAKE(arena, out->parent_x, n);
    NEURON_TAKE(arena, out->first, n + 1);
    NEURON_TAKE(arena, out->arc, 2 * n + 3);
    NEURON_TAKE(arena, out->diameter, 2 * n + 3);
    NEURON_TAKE(arena, out->sample_section, n);
    NEURON_TAKE(arena, out->sample_point, n);
    NEURON_TAKE(arena, work->children, n);
    NEURON_TAKE(arena, work->soma_heirs, n);
    NEURON_TAKE(arena, work->section, n);
    NEURON_TAKE(arena, work->begin, n + 1);
    NEURON_TAKE(arena, work->parent, n);
    NEURON_TAKE(arena, work->renamed, n);
    NEURON_TAKE(arena, work->proximal, n);
    NEURON_TAKE(arena, work->wire, n);
    NEURON_TAKE(arena, work->thin, n);
    for (work->slots = 2; work->slots < 2 * n;)
        work->slots *= 2;
    NEURON_TAKE(arena, work->type, work->slots);
    NEURON_TAKE(arena, work->type_count, work->slots);
    NEURON_TAKE(arena, work->points, n);
}

size_t lacis_neuron_sections_bytes(int64_t samples)
{
    neuron_sections none;
    struct work work = {.out = &none};
    neuron_arena arena = {NULL, 0};
    lay_out(&work, samples, &arena);
    return arena.used;
}

static neuron_fault check(const neuron_samples *s)
{
    if (s->count < 1) return (neuron_fault){NEURON_EMPTY, 0};
    for (int64_t i = 0; i < s->count; i++) {
        if (s->parent[i] >= i || s->parent[i] < -1) return (neuron_fault){NEURON_ORDER, i};
        if (!isfinite(s->x[i]) || !isfinite(s->y[i]) || !isfinite(s->z[i]) || !isfinite(s->radius[i]))
            return (neuron_fault){NEURON_NOT_FINITE, i};
        if (s->radius[i] < 0) return (neuron_fault){NEURON_NEGATIVE_RADIUS, i};
    }
    return (neuron_fault){NEURON_FINE, 0};
}

static bool is_soma(const struct work *work, int64_t sample)
{
    return work->samples->type[sample < 0 ? 0 : sample] == NEURON_SOMA;
}

/* A branch off the first sample of a neurite, when that sample hangs on the soma by a wire, joins the neurite's
 * beginning: the sample does not end a section of its own. */
static bool joins_beginning(const struct work *work, int32_t p)
{
    if (p == 0) return !is_soma(work, 0);
    return p > 1 && !is_soma(work, p) && is_soma(work, work->parent[p]);
}

static void count_children(struct work *work)
{
    const neuron_samples *s = work->samples;
    memset(work->children, 0, (size_t)s->count * sizeof *work->children);
    memset(work->soma_heirs, 0, (size_t)s->count * sizeof *work->soma_heirs);
    memset(work->proximal, 0, (size_t)s->count);
    for (int64_t i = 0; i < s->count; i++) {
        int32_t p = work->parent[i];
        if (p < 0) continue;
        work->children[p] += CHILD;
        if (p != i - 1) {
            work->children[p] += APART;
            if (joins_beginning(work, p)) {
                work->proximal[i] = 1;
                work->children[p] = GOES_ON;
            }
        }
        if (s->type[p] != s->type[i]) work->children[p] += APART;
        if (is_soma(work, i) && is_soma(work, p)) work->soma_heirs[p]++;
    }
}

static double distance(const neuron_samples *s, int64_t i, int64_t j)
{
    double x = s->x[i] - s->x[j], y = s->y[i] - s->y[j], z = s->z[i] - s->z[j];
    return sqrt(x * x + y * y + z * z);
}

/* NeuroMorpho's three-point soma: a centre and two samples a radius off, all of one radius, nothing else on the two.
 */
static bool three_point_sphere(const struct work *work)
{
    const neuron_samples *s = work->samples;
    int64_t soma = 0;
    for (int64_t i = 0; i < s->count; i++)
        soma += is_soma(work, i);
    if (soma != 3 || work->parent[1] != 0 || work->parent[2] != 0) return false;
    if (work->children[1] != 0 || work->children[2] != 0) return false;
    if (s->radius[1] != s->radius[0] || s->radius[2] != s->radius[0] || s->radius[0] == 0) return false;
    return fabs((distance(s, 1, 0) + distance(s, 2, 0)) / (2 * s->radius[0]) - 1) < 0.01;
}

/* Soma samples behind one another stay one section unless a later one of them forks into soma. */
static void keep_soma_together(struct work *work)
{
    for (int64_t i = 0; i + 1 < work->samples->count; i++) {
        bool pair = is_soma(work, i) && is_soma(work, i + 1) && work->parent[i + 1] == i;
        if (pair && (i == 0 || work->soma_heirs[i] <= 1)) work->children[i] = GOES_ON;
    }
}

static int64_t cut(struct work *work)
{
    int64_t sections = 0;
    work->begin[0] = 0;
    for (int64_t i = 0; i < work->samples->count; i++) {
        work->section[i] = (int32_t)sections;
        if (work->children[i] != GOES_ON) work->begin[++sections] = (int32_t)(i + 1);
    }
    return sections;
}

/* Where a section begins on its parent, and whether by a wire: its first point is then its own first sample and not a
 * copy of the parent's. */
static void join_root(struct work *work, int64_t s, int32_t samples, bool leaves_soma, bool *done)
{
    int32_t first = work->begin[s], p = work->parent[first];
    *done = true;
    if (leaves_soma && work->points[0] == 1) {
        work->out->parent_x[s] = 0.5;
        work->wire[s] = samples > 1;
    } else if (p == 0) {
        work->out->parent_x[s] = 0;
        work->wire[s] = work->samples->type[first] != NEURON_SOMA && work->soma_heirs[0] > 1;
    } else {
        *done = false;
    }
}

static void join_soma(struct work *work, int64_t s, int32_t up, int32_t samples, bool leaves_soma)
{
    int32_t first = work->begin[s], p = work->parent[first], last = work->begin[up] + work->points[up];
    last -= up == 0 ? 1 : 2;
    if (p < last) {
        work->out->parent_x[s] = 0.5;
        work->wire[s] = leaves_soma && samples > 1;
    } else if (samples > 1 && work->soma_heirs[p < 0 ? 0 : p] > 1 && leaves_soma) {
        work->wire[s] = 1;
    }
}

static void join(struct work *work, int64_t s)
{
    int32_t first = work->begin[s], samples = work->begin[s + 1] - first, p = work->parent[first];
    int32_t up = work->section[p < 0 ? 0 : p];
    neuron_sections *out = work->out;
    bool on_soma = out->type[up] == NEURON_SOMA, leaves_soma = on_soma && work->samples->type[first] != NEURON_SOMA;
    bool done = false;
    out->parent[s] = up;
    out->parent_x[s] = 1;
    work->thin[s] = leaves_soma;
    if (up == 0) join_root(work, s, samples, leaves_soma, &done);
    if (!done && on_soma) join_soma(work, s, up, samples, leaves_soma);
    if (work->proximal[first]) out->parent_x[s] = 0;
    work->points[s] = samples + 1;
}

/* A section that has no length of its own is left out: one point, or two at one place. */
static bool is_nothing(const struct work *work, int64_t s)
{
    const neuron_samples *m = work->samples;
    int32_t first = work->begin[s], p = work->parent[first], points = work->points[s] - work->wire[s];
    if (points > 2) return false;
    if (points < 2) return true;
    int32_t i = work->wire[s] ? first : (p < 0 ? 0 : p), j = work->wire[s] ? first + 1 : first;
    return m->x[i] == m->x[j] && m->y[i] == m->y[j] && m->z[i] == m->z[j];
}

static void join_all(struct work *work, int64_t sections)
{
    neuron_sections *out = work->out;
    out->parent[0] = -1;
    out->parent_x[0] = 0;
    out->type[0] = work->samples->type[0];
    work->wire[0] = work->thin[0] = 0;
    work->points[0] = work->sphere ? 1 : work->begin[1];
    for (int64_t s = 1; s < sections; s++) {
        out->type[s] = work->samples->type[work->begin[s]];
        work->wire[s] = 0;
        join(work, s);
    }
}

/* Children of sections that are left out pass to the section before. Parents come first, so that one step is enough.
 */
static int64_t leave_out(struct work *work, int64_t sections)
{
    neuron_sections *out = work->out;
    int64_t kept = 0;
    for (int64_t s = 0; s < sections; s++) {
        int32_t up = out->parent[s];
        if (up >= 0 && work->renamed[up] < 0) {
            out->parent_x[s] = out->parent_x[up];
            out->parent[s] = out->parent[up];
        }
        work->renamed[s] = s > 0 && is_nothing(work, s) ? -1 : (int32_t)kept++;
    }
    return kept;
}

/* The points of section s, which becomes section `at`. */
static void draw(struct work *work, int64_t s, int64_t at)
{
    const neuron_samples *m = work->samples;
    neuron_sections *out = work->out;
    int32_t first = work->begin[s], end = work->begin[s + 1], p = work->parent[first], up = out->parent[at];
    neuron_pen pen = {.out = out, .first = out->points, .exact = m->exact};
    out->first[at] = (int32_t)out->points;
    if (up < 0 && work->points[s] == 1) {
        lacis_neuron_pen_sphere(&pen, lacis_neuron_point_of(m, first));
    } else if (up >= 0 && !work->wire[s]) {
        neuron_point copy = lacis_neuron_point_of(m, p < 0 ? 0 : p);
        if (work->thin[s]) copy.d = lacis_neuron_point_of(m, first).d;
        lacis_neuron_pen_point(&pen, copy);
    }
    for (int32_t i = first; i < end; i++) {
        bool drawn = up >= 0 || work->points[s] > 1;
        work->out->sample_section[i] = (int32_t)at;
        work->out->sample_point[i] = drawn ? (int32_t)(out->points - pen.first) : 1; /* a sphere's centre */
        if (drawn) lacis_neuron_pen_point(&pen, lacis_neuron_point_of(m, i));
    }
}

/* Samples of a section that was left out count as the place where it was joined. */
static void forget(struct work *work, int64_t s)
{
    for (int32_t i = work->begin[s]; i < work->begin[s + 1]; i++) {
        work->out->sample_section[i] = work->renamed[work->out->parent[s]];
        work->out->sample_point[i] = -1;
    }
}

/* Types may be any numbers: counts are kept in a table of twice as many slots as there are samples. */
static int32_t next_number(struct work *work, int32_t type)
{
    uint64_t mask = (uint64_t)work->slots - 1, slot = (uint64_t)(uint32_t)type * UINT64_C(0x9e3779b97f4a7c15) >> 20;
    while (work->type_count[slot & mask] != 0 && work->type[slot & mask] != type)
        slot++;
    work->type[slot & mask] = type;
    return work->type_count[slot & mask]++;
}

static void keep(struct work *work, int64_t s)
{
    neuron_sections *out = work->out;
    int64_t at = work->renamed[s];
    out->type[at] = out->type[s];
    out->parent[at] = out->parent[s] < 0 ? -1 : work->renamed[out->parent[s]];
    out->parent_x[at] = out->parent_x[s];
    out->number[at] = next_number(work, out->type[s]);
    draw(work, s, at);
}

neuron_fault lacis_neuron_sections(const neuron_samples *samples, void *memory, neuron_sections *out)
{
    struct work work = {.samples = samples, .out = out};
    neuron_arena arena = {memory, 0};
    neuron_fault fault = check(samples);
    if (fault.kind != NEURON_FINE) return fault;
    lay_out(&work, samples->count, &arena);
    memset(work.type_count, 0, (size_t)work.slots * sizeof *work.type_count);
    memcpy(work.parent, samples->parent, (size_t)samples->count * sizeof *work.parent);
    count_children(&work);
    work.sphere = samples->count > 2 && three_point_sphere(&work);
    if (work.sphere) work.parent[2] = 1;
    keep_soma_together(&work);
    int64_t sections = cut(&work);
    join_all(&work, sections);
    out->count = leave_out(&work, sections);
    out->points = 0;
    for (int64_t s = 0; s < sections; s++) {
        if (work.renamed[s] >= 0) {
            keep(&work, s);
        } else {
            forget(&work, s);
        }
    }
    out->first[out->count] = (int32_t)out->points;
    return fault;
}
