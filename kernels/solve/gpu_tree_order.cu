/* SPDX-License-Identifier: Apache-2.0
 *
 * The order in which rows of a tree are computed one after another, so that few sums wait on the stack. Host code,
 * without recursion. Called by gpu_tree_plan.cu.
 */
#include "gpu_tree.h"

#include <stdlib.h>
#include <string.h>

void tree_order_clear(tree_order *order)
{
    free(order->entry);
    free(order->children.first);
    *order = tree_order();
}

static void link_children(const tree_order *order)
{
    const tree_children *c = &order->children;
    for (int32_t r = 0; r < order->rows; r++)
        c->first[r] = -1;
    for (int32_t r = 0; r < order->rows; r++) {
        if (order->parent[r] < 0) continue;
        c->next[r] = c->first[order->parent[r]];
        c->first[order->parent[r]] = r;
    }
}

/* Slots that a row's subtree needs, `need`; of its first two children the needier one comes first in the lists then:
 * what it holds back is little while nothing waits yet. */
static int32_t count_slots(const tree_order *order, int32_t *need)
{
    const tree_children *c = &order->children;
    int32_t most = 0;
    for (int32_t r = order->rows - 1; r >= 0; r--) {
        int32_t one = c->first[r], two = one < 0 ? -1 : c->next[one];
        if (two >= 0 && need[two] > need[one]) {
            c->next[one] = c->next[two];
            c->next[two] = one;
            c->first[r] = two;
        }
        need[r] = 0;
        for (int32_t k = c->first[r]; k >= 0; k = c->next[k]) {
            const int32_t own = need[k] + (k != c->first[r]);
            if (own > need[r]) need[r] = own;
        }
        if (need[r] > most) most = need[r];
    }
    return most;
}

/* Backwards: a parent, then the child that is computed last with all below it, ... at last the first one; or the
 * other way round, where there is no stack and the first child of a sum had better be computed last (`turned`). */
void tree_order_number(const tree_order *order, bool turned, int32_t *stack, tree_entry *entry)
{
    const tree_children *c = &order->children;
    int32_t at = order->rows, depth = 0;
    for (int32_t r = 0; r < order->rows; r++)
        if (order->parent[r] < 0) stack[depth++] = r;
    while (depth > 0) {
        const int32_t r = stack[--depth], p = order->parent[r], begin = depth;
        const bool first = p >= 0 && c->first[p] == r, last = c->next[r] < 0;
        const uint32_t op = p < 0 || (first && last) ? TREE_ONLY : first ? TREE_PUSH : last ? TREE_POP : TREE_ADD;
        entry[--at] = {r, op | (c->first[r] < 0 ? TREE_LEAF : 0u) | (p < 0 ? TREE_ROOT : 0u)};
        for (int32_t k = c->first[r]; k >= 0; k = c->next[k])
            stack[depth++] = k;
        for (int32_t i = begin, j = depth - 1; turned && i < j; i++, j--) {
            const int32_t k = stack[i];
            stack[i] = stack[j];
            stack[j] = k;
        }
    }
}

bool tree_order_make(int32_t rows, const int32_t *parent, tree_order *out)
{
    *out = tree_order();
    out->rows = rows;
    out->parent = parent;
    int32_t *space = (int32_t *)malloc(sizeof(int32_t) * 3 * ((size_t)rows + 1));
    out->entry = (tree_entry *)malloc(sizeof(tree_entry) * ((size_t)rows + 1));
    out->children.first = space;
    if (space == NULL || out->entry == NULL) {
        tree_order_clear(out);
        return false;
    }
    out->children.next = space + rows;
    int32_t *scratch = space + 2 * (size_t)rows;
    for (int32_t r = 0; r < rows; r++)
        out->children.next[r] = -1;
    link_children(out);
    out->depth = count_slots(out, scratch);
    tree_order_number(out, false, scratch, out->entry);
    return true;
}
