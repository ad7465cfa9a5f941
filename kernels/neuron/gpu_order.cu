/* SPDX-License-Identifier: Apache-2.0
 *
 * Depth-first numbers of a tree, without recursion and in linear time. Caller: gpu_tables.cu.
 */
#include "gpu_schedule.h"

#include <stdlib.h>
#include <string.h>

/* Nodes by size of their subtrees, then by number: a counting sort into `sorted`; `count` has nodes + 2 places. */
static void sort_by_size(const int32_t *size, int32_t nodes, int32_t *count, int32_t *sorted)
{
    memset(count, 0, ((size_t)nodes + 2) * sizeof *count);
    for (int32_t i = 0; i < nodes; i++)
        count[size[i] + 1]++;
    for (int32_t s = 0; s <= nodes; s++)
        count[s + 1] += count[s];
    for (int32_t i = 0; i < nodes; i++)
        sorted[count[size[i]]++] = i;
}

/* Places of children behind their parent, those in `sorted` first coming first: place[i] becomes how many nodes of
 * the parent's subtree come before it, the parent among them. `filled` is scratch. */
static void line_up(const neuron_shape *shape, const int32_t *size, const int32_t *sorted, int32_t *filled,
                    int32_t *place)
{
    for (int64_t i = 0; i < shape->nodes; i++)
        filled[i] = 1;
    for (int64_t k = 0; k < shape->nodes; k++) {
        const int32_t i = sorted[k], p = shape->parent[i];
        if (i == 0) continue;
        place[i] = filled[p];
        filled[p] += size[i];
    }
}

static void mark(neug_tree *tree)
{
    const int32_t n = tree->nodes;
    int32_t pending = 0;
    for (int32_t i = 1; i < n; i++) {
        const int32_t p = tree->parent[i];
        if (p == i - 1) {
            tree->flag[p] |= NEUG_NEXT;
        } else {
            tree->flag[i] |= NEUG_HEAD;
            tree->flag[p] |= NEUG_BRANCH;
        }
        if (i + tree->size[i] == p + tree->size[p]) tree->flag[i] |= NEUG_LAST;
    }
    for (int32_t i = n - 1; i >= 0; i--) {
        if (tree->flag[i] & NEUG_BRANCH) pending--;
        if ((tree->flag[i] & NEUG_HEAD) && (tree->flag[i] & NEUG_LAST)) pending++;
        if (pending > tree->pending) tree->pending = pending;
    }
}

static void number_all(const neuron_shape *shape, const int32_t *size, const int32_t *place, neug_tree *tree)
{
    for (int64_t i = 0; i < shape->nodes; i++) {
        const int32_t p = i == 0 ? -1 : tree->number[shape->parent[i]], at = i == 0 ? 0 : p + place[i];
        tree->number[i] = at;
        tree->parent[at] = p;
        tree->size[at] = size[i];
        tree->flag[at] = shape->area[i] > 0 ? NEUG_MEMBRANE : 0;
    }
}

bool neug_tree_make(const neuron_shape *shape, neug_tree *tree)
{
    const int64_t n = shape->nodes;
    memset(tree, 0, sizeof *tree);
    tree->nodes = (int32_t)n;
    int32_t *work = (int32_t *)malloc((size_t)(4 * n + 2) * sizeof *work);
    int32_t *all = (int32_t *)malloc((size_t)(4 * n) * sizeof *all);
    if (work == NULL || all == NULL) {
        free(work);
        free(all);
        return false;
    }
    tree->number = all;
    tree->parent = all + n;
    tree->size = all + 2 * n;
    tree->flag = (uint32_t *)(all + 3 * n);
    int32_t *size = work, *sorted = work + n, *place = work + 2 * n, *count = work + 3 * n;
    for (int64_t i = 0; i < n; i++)
        size[i] = 1;
    for (int64_t i = n - 1; i > 0; i--)
        size[shape->parent[i]] += size[i];
    sort_by_size(size, tree->nodes, count, sorted);
    line_up(shape, size, sorted, count, place);
    number_all(shape, size, place, tree);
    mark(tree);
    free(work);
    return true;
}

void neug_tree_free(neug_tree *tree)
{
    free(tree->number);
    memset(tree, 0, sizeof *tree);
}
