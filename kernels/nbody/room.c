/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory of trees and walks: taken when it is first needed, kept to the end; and how much a system takes in all.
 */
#include "nbody/inside.h"

/* Cells have two children at least, but of trees with leaves of some bodies no more than this is seen: so leaves are
 * larger where it would not do. */
uint64_t lacis_nbody_cells_most(int64_t n, int leaf)
{
    const uint64_t most = 2 * (uint64_t)n + 1, usual = (uint64_t)n / 2 + 4096;
    return leaf < 8 || most < usual ? most : usual;
}

static uint64_t field_bytes(lacis_nbody_type type, int field, uint64_t cells)
{
    const bool wide = type == LACIS_NBODY_F64 || (type == LACIS_NBODY_MIXED && field < NBODY_POSITIONS);
    return nbody_lines((cells + NBODY_SLACK) * (wide ? 8 : 4));
}

static uint64_t fields_bytes(lacis_nbody_type type, uint64_t cells)
{
    uint64_t sum = 0;
    for (int f = 0; f < NBODY_FIELDS; f++)
        sum += field_bytes(type, f, cells);
    return sum;
}

static int64_t levels_most(int64_t n)
{
    return n < NBODY_DEEPEST ? n + 1 : NBODY_DEEPEST;
}

static void give_tree(lacis_nbody *system)
{
    nbody_tree *tree = &system->tree;
    nbody_give(&system->host, tree->cell);
    nbody_give(&system->host, tree->level);
    nbody_give(&system->host, tree->moments);
    nbody_give(&system->host, tree->fields);
    tree->cell = NULL;
    tree->level = NULL;
    tree->moments = NULL;
    tree->fields = NULL;
    tree->room = 0;
}

lacis_nbody_status lacis_nbody_room_of_tree(lacis_nbody *system)
{
    nbody_tree *tree = &system->tree;
    const uint64_t cells = lacis_nbody_cells_most(system->n, system->rule.leaf);
    if ((uint64_t)tree->room >= cells) return LACIS_NBODY_OK;
    give_tree(system);
    tree->cell = nbody_take(&system->host, sizeof(nbody_cell) * cells);
    tree->level = nbody_take(&system->host, sizeof(int64_t) * (uint64_t)(levels_most(system->n) + 1));
    tree->moments = nbody_take(&system->host, sizeof(nbody_moments) * cells);
    tree->fields = nbody_take(&system->host, fields_bytes(system->type, cells));
    if (tree->cell == NULL || tree->level == NULL || tree->moments == NULL || tree->fields == NULL) {
        give_tree(system);
        return LACIS_NBODY_NO_MEMORY;
    }
    tree->room = (int64_t)cells;
    char *at = tree->fields;
    for (int f = 0; f < NBODY_FIELDS; f++) {
        tree->field[f] = at;
        at += field_bytes(system->type, f, cells);
    }
    return LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_room_of_walks(lacis_nbody *system)
{
    if (system->worker[system->threads - 1].room != NULL && system->tree.levels <= system->walk_levels)
        return LACIS_NBODY_OK;
    const int64_t usual = 32, levels = system->tree.levels > usual ? levels_most(system->n) : usual;
    for (int w = 0; w < system->threads; w++) {
        nbody_give(&system->host, system->worker[w].room);
        system->worker[w].room = nbody_take(&system->host, system->loops->walk_bytes(levels));
        if (system->worker[w].room == NULL) return LACIS_NBODY_NO_MEMORY;
    }
    system->walk_levels = levels;
    return LACIS_NBODY_OK;
}

uint64_t lacis_nbody_bytes(const lacis_nbody_start *start)
{
    lacis_nbody_rule rule = start->rule;
    lacis_nbody_settle(start, &rule);
    const nbody_loops *loops = lacis_nbody_kernels()->loops[start->type];
    const uint64_t n = (uint64_t)start->n, threads = (uint64_t)(start->threads < 1 ? 1 : start->threads),
                   element = (uint64_t)lacis_nbody_size(start->type),
                   cells = lacis_nbody_cells_most(start->n, rule.leaf);
    const uint64_t columns = NBODY_COLUMNS + 1 + (start->eps != NULL ? 1 : 0); /* the spare, and soft for eps */
    const int64_t deepest = levels_most(start->n) > 32 ? levels_most(start->n) : 32;
    uint64_t bytes = sizeof(lacis_nbody) + columns * nbody_lines(element * n) + nbody_lines(4 * element * n) + 128;
    bytes += n * (2 * sizeof(int64_t) + 2 * sizeof(nbody_pair));
    bytes += cells * (sizeof(nbody_cell) + sizeof(nbody_moments)) + fields_bytes(start->type, cells);
    bytes += sizeof(int64_t) * (uint64_t)(deepest + 1);
    if (rule.way == LACIS_NBODY_INSERT) bytes += lacis_nbody_insert_bytes(start->n, rule.leaf);
    bytes += threads * (sizeof(nbody_worker) + sizeof(int64_t) * NBODY_BINS + loops->walk_bytes(deepest));
    return bytes;
}
