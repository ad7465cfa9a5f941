/* SPDX-License-Identifier: Apache-2.0
 *
 * The branches of a tree by levels, for BRANCHES. Host code; called by gpu_tree_plan.cu.
 */
#include "gpu_tree.h"

#include <stdlib.h>

namespace
{
enum { FEW = 2 }; /* branches of a level that is not worth a launch */

void find_branches(const tree_order *order, int32_t *place, int32_t *branch_of, tree_levels *l)
{
    bool begins = true;
    for (int32_t k = 0; k < order->rows; k++) {
        const tree_entry *e = &order->entry[k];
        if (begins) l->branch[l->branches++] = {k, 0, 0, 0, -1};
        l->branch[l->branches - 1].rows++;
        place[e->row] = k;
        branch_of[e->row] = l->branches - 1;
        begins = (e->flags & TREE_ROOT) || (e->flags & TREE_STACK) != TREE_ONLY;
    }
}

/* Levels, and what hangs at each branch; level must be cleared. Children come earlier in the order. */
int32_t link_branches(const tree_order *order, const int32_t *place, const int32_t *branch_of, int32_t *level,
                      tree_levels *l)
{
    int32_t most = 0;
    for (int32_t i = 0; i < l->branches; i++) {
        tree_branch *b = &l->branch[i];
        const int32_t last = order->entry[b->first + b->rows - 1].row, up = order->parent[last];
        b->child = l->children;
        const int32_t row = order->entry[b->first].row;
        for (int32_t k = order->children.first[row]; k >= 0; k = order->children.next[k])
            l->child[l->children++] = place[k];
        b->children = l->children - b->child;
        if (level[i] > most) most = level[i];
        if (up < 0) continue;
        b->parent = place[up];
        if (level[branch_of[up]] <= level[i]) level[branch_of[up]] = level[i] + 1;
    }
    return most + 1;
}

/* level, ends: by counting; ends has a place more. */
bool sort_branches(tree_levels *l, const int32_t *level, int32_t levels, int32_t *ends)
{
    tree_branch *sorted = (tree_branch *)malloc(sizeof(tree_branch) * ((size_t)l->branches + 1));
    if (sorted == NULL) return false;
    for (int32_t i = 0; i <= levels; i++)
        ends[i] = 0;
    for (int32_t i = 0; i < l->branches; i++)
        ends[level[i] + 1]++;
    for (int32_t i = 0; i < levels; i++)
        ends[i + 1] += ends[i];
    for (int32_t i = 0; i < l->branches; i++)
        sorted[ends[level[i]]++] = l->branch[i];
    free(l->branch);
    l->branch = sorted;
    return true;
}

/* ends: of the branches of each level. */
void cut_phases(tree_levels *l, const int32_t *ends, int32_t levels)
{
    int32_t begin = 0;
    for (int32_t i = 0; i < levels; i++) {
        const bool few = ends[i] - begin <= FEW || l->phases == TREE_PHASES_MOST - 1;
        if (few && l->phases > 0 && l->phase[l->phases - 1].in_turn)
            l->phase[l->phases - 1].end = ends[i];
        else
            l->phase[l->phases++] = {begin, ends[i], few};
        begin = ends[i];
    }
}
} // namespace

void tree_levels_clear(tree_levels *levels)
{
    free(levels->branch);
    free(levels->phase);
    free(levels->child);
    *levels = tree_levels();
}

bool tree_levels_make(const tree_order *order, tree_levels *out)
{
    const size_t n = (size_t)order->rows;
    *out = tree_levels();
    int32_t *space = (int32_t *)malloc(sizeof(int32_t) * (4 * n + 1));
    int32_t *level = (int32_t *)calloc(n + 1, sizeof(int32_t));
    out->branch = (tree_branch *)malloc(sizeof(tree_branch) * (n + 1));
    out->child = (int32_t *)malloc(sizeof(int32_t) * (n + 1));
    out->phase = (tree_phase *)malloc(sizeof(tree_phase) * TREE_PHASES_MOST);
    bool good = space != NULL && level != NULL && out->branch != NULL && out->child != NULL && out->phase != NULL;
    if (good) {
        find_branches(order, space, space + n, out);
        const int32_t levels = link_branches(order, space, space + n, level, out);
        good = sort_branches(out, level, levels, space + 2 * n);
        if (good) cut_phases(out, space + 2 * n, levels);
    }
    free(space);
    free(level);
    if (!good) tree_levels_clear(out);
    return good;
}
