/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells out of sorted keys, level by level from the root: a cell of more bodies than a leaf may have is parted where
 * its keys first differ, so that cells have two children at least. Where keys do not tell its bodies apart they get
 * keys in the box that just holds them, until they do or lie at one place. Then moments, bottom up. Called by
 * field.c; INSERT's cells are parted as insert.c says.
 */
#include "nbody/inside.h"

#include "common/parallel.h"
#include "nbody/hilbert.h"

#include <math.h>

enum { CELLS_OF_TASK = 64, TASKS_ALONE = 8, LONG = 16384, ASK = 1 << 15 };
static const double SMALLEST = 0x1p-1000; /* half a side; nothing smaller is parted */

/* --- keys within a cell ------------------------------------------------------------------------------- */

static double place_of(const lacis_nbody *system, int d, int64_t index)
{
    const void *column = system->column[NBODY_X + d];
    return system->type == LACIS_NBODY_F32 ? (double)((const float *)column)[index] : ((const double *)column)[index];
}

static nbody_box box_of(const lacis_nbody *system, const nbody_pair *pair, int64_t n)
{
    nbody_box box = {.half = 0};
    for (int d = 0; d < 3; d++) {
        double lo = INFINITY, hi = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            const double at = place_of(system, d, pair[i].index);
            lo = at < lo ? at : lo;
            hi = at > hi ? at : hi;
        }
        lacis_nbody_axis(&box, d, lo, hi);
    }
    return box;
}

/* False: stopped. */
static bool rekey(const lacis_nbody *system, const nbody_box *box, nbody_pair *pair, int64_t n)
{
    hilbert_block block;
    for (int64_t i = 0; i < n; i += HILBERT_BLOCK) {
        if (i % ASK == 0 && nbody_stopped(system)) return false;
        const int many = n - i < HILBERT_BLOCK ? (int)(n - i) : HILBERT_BLOCK;
        for (int k = 0; k < many; k++) {
            const int64_t body = pair[i + k].index;
            block.x[k] = hilbert_step(place_of(system, 0, body), box->lo[0], box->half);
            block.y[k] = hilbert_step(place_of(system, 1, body), box->lo[1], box->half);
            block.z[k] = hilbert_step(place_of(system, 2, body), box->lo[2], box->half);
        }
        hilbert_transpose(&block, many);
        for (int k = 0; k < many; k++)
            pair[i + k].key = hilbert_key(&block, k);
    }
    return true;
}

/* --- one cell ----------------------------------------------------------------------------------------- */

static bool alike(const nbody_pair *pair, const nbody_cell *cell)
{
    return pair[cell->begin].key == pair[cell->end - 1].key;
}

/* Bodies of one key in a leaf are put into an order that does not depend on the one before. */
static bool close_leaf(const lacis_nbody *system, nbody_cell *cell)
{
    cell->many = 0;
    return lacis_nbody_canonical(system, system->tree.pair + cell->begin, system->tree.spare + cell->begin,
                                 cell->end - cell->begin);
}

/* The digit in which a cell's keys first differ, from the highest. */
static int digit_of(const nbody_pair *pair, const nbody_cell *cell)
{
    return (__builtin_clzll(pair[cell->begin].key ^ pair[cell->end - 1].key) - 1) / 3;
}

static int64_t end_of_digit(const nbody_pair *pair, int64_t begin, int64_t end, int shift, uint64_t digit)
{
    while (begin < end) {
        const int64_t middle = begin + (end - begin) / 2;
        if ((pair[middle].key >> shift & 7) <= digit) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

/* Ends of its children; how many. */
static int part(const nbody_pair *pair, const nbody_cell *cell, int64_t *end)
{
    const int shift = 3 * (NBODY_LEVELS - 1 - digit_of(pair, cell));
    int many = 0;
    for (int64_t at = cell->begin; at < cell->end; many++) {
        at = end_of_digit(pair, at, cell->end, shift, pair[at].key >> shift & 7);
        end[many] = at;
    }
    return many;
}

static void count_children(const lacis_nbody *system, nbody_cell *cell)
{
    int64_t end[8];
    cell->many = part(system->tree.pair, cell, end);
    cell->level = digit_of(system->tree.pair, cell); /* of the smallest cube that holds its bodies */
}

/* --- a level ------------------------------------------------------------------------------------------ */

enum { LATER = -1 };
struct level {
    lacis_nbody *system;
    int64_t begin, end;
};

static int64_t task_end(const struct level *level, int64_t task)
{
    const int64_t end = level->begin + (task + 1) * CELLS_OF_TASK;
    return end < level->end ? end : level->end;
}

static int threads_for(const lacis_nbody *system, int64_t tasks)
{
    return tasks < TASKS_ALONE ? 1 : system->threads;
}

static bool look_at(const lacis_nbody *system, nbody_cell *cell)
{
    nbody_pair *pair = system->tree.pair + cell->begin;
    const int64_t n = cell->end - cell->begin;
    if (n <= system->rule.leaf) return close_leaf(system, cell);
    if (alike(system->tree.pair, cell)) {
        const nbody_box box = box_of(system, pair, n);
        if (box.half < SMALLEST) return close_leaf(system, cell);
        cell->box = box;
        cell->level = 0;
        if (!rekey(system, &box, pair, n)) return false;
        if (n > LONG) {
            cell->many = LATER;
            return true;
        }
        lacis_nbody_sort_few(pair, system->tree.spare + cell->begin, n);
    }
    count_children(system, cell);
    return true;
}

static int look_task(void *context, int64_t task, int worker)
{
    const struct level *level = context;
    (void)worker;
    for (int64_t c = level->begin + task * CELLS_OF_TASK; c < task_end(level, task); c++)
        if (!look_at(level->system, &level->system->tree.cell[c])) return LACIS_NBODY_CANCELLED;
    return nbody_stopped(level->system) ? LACIS_NBODY_CANCELLED : LACIS_NBODY_OK;
}

static int fill_task(void *context, int64_t task, int worker)
{
    const struct level *level = context;
    nbody_tree *tree = &level->system->tree;
    (void)worker;
    for (int64_t c = level->begin + task * CELLS_OF_TASK; c < task_end(level, task); c++) {
        const nbody_cell *cell = &tree->cell[c];
        if (cell->many == 0) continue;
        int64_t end[8], begin = cell->begin;
        const int digit = digit_of(tree->pair, cell), many = part(tree->pair, cell, end);
        for (int k = 0; k < many; k++) {
            tree->cell[cell->first + k] =
                (nbody_cell){.begin = begin, .end = end[k], .level = digit + 1, .box = cell->box};
            begin = end[k];
        }
    }
    return LACIS_NBODY_OK;
}

/* Sorts what was too long for one thread, and gives places to the children, as long as there are any left: beyond
 * them leaves are as large as they are. */
static lacis_nbody_status deal_places(lacis_nbody *system, const struct level *level, int64_t *next)
{
    nbody_tree *tree = &system->tree;
    for (int64_t c = level->begin; c < level->end; c++) {
        nbody_cell *cell = &tree->cell[c];
        if (cell->many == LATER) {
            lacis_nbody_status status = lacis_nbody_sort(system, tree->pair + cell->begin, tree->spare + cell->begin,
                                                         cell->end - cell->begin);
            if (status != LACIS_NBODY_OK) return status;
            count_children(system, cell);
        }
        if (*next + cell->many > tree->room && !close_leaf(system, cell)) return LACIS_NBODY_CANCELLED;
        cell->first = *next;
        *next += cell->many;
        if (cell->many == 0) tree->leaves++;
    }
    return LACIS_NBODY_OK;
}

static lacis_nbody_status grow_level(lacis_nbody *system, int64_t begin, int64_t end, int64_t *next)
{
    struct level level = {system, begin, end};
    const int64_t tasks = (end - begin + CELLS_OF_TASK - 1) / CELLS_OF_TASK;
    lacis_nbody_status status =
        (lacis_nbody_status)lacis_parallel(threads_for(system, tasks), tasks, look_task, &level);
    if (status == LACIS_NBODY_OK) status = deal_places(system, &level, next);
    if (status != LACIS_NBODY_OK) return status;
    return (lacis_nbody_status)lacis_parallel(threads_for(system, tasks), tasks, fill_task, &level);
}

lacis_nbody_status lacis_nbody_grow(lacis_nbody *system, const nbody_box *box)
{
    nbody_tree *tree = &system->tree;
    tree->cells = system->n > 0;
    tree->levels = 0;
    tree->leaves = 0;
    if (system->n == 0) return LACIS_NBODY_OK;
    tree->cell[0] = (nbody_cell){.end = system->n, .box = *box};
    tree->level[0] = 0;
    for (int64_t begin = 0; begin < tree->cells;) {
        int64_t next = tree->cells;
        lacis_nbody_status status = grow_level(system, begin, tree->cells, &next);
        if (status != LACIS_NBODY_OK) return status;
        begin = tree->cells;
        tree->cells = next;
        tree->level[++tree->levels] = begin;
    }
    return LACIS_NBODY_OK;
}

/* --- moments ------------------------------------------------------------------------------------------ */

static int weigh_task(void *context, int64_t task, int worker)
{
    const struct level *level = context;
    (void)worker;
    level->system->loops->moments(level->system, level->begin + task * CELLS_OF_TASK, task_end(level, task));
    return nbody_stopped(level->system) ? LACIS_NBODY_CANCELLED : LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_weigh(lacis_nbody *system)
{
    const nbody_tree *tree = &system->tree;
    for (int l = tree->levels - 1; l >= 0; l--) {
        struct level level = {system, tree->level[l], tree->level[l + 1]};
        const int64_t tasks = (level.end - level.begin + CELLS_OF_TASK - 1) / CELLS_OF_TASK;
        lacis_nbody_status status =
            (lacis_nbody_status)lacis_parallel(threads_for(system, tasks), tasks, weigh_task, &level);
        if (status != LACIS_NBODY_OK) return status;
    }
    return LACIS_NBODY_OK;
}
