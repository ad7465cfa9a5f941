/* SPDX-License-Identifier: Apache-2.0
 *
 * CASE in canonical form: branches that are never or always taken go, and what is really a minimum, a maximum or a
 * truth value becomes one. Integers alone, because NaN makes `CASE WHEN a < b THEN a ELSE b END` another function
 * than min(a, b). Called by canon.c.
 */
#include "expr/tree.h"

/* What remains may be a conversion that nothing implies any more. */
static lacis_status alone(lacis_run *run, lacis_node *node, lacis_node **out)
{
    *out = node;
    if (!node->implied) return LACIS_OK;
    return lacis_node_typed(run, node->op, node->dtype, node->offset, node->count, node->kid, out);
}

static lacis_status extreme(lacis_run *run, const lacis_node *node, lacis_node_op op, lacis_node **out)
{
    lacis_node *kid[2] = {node->kid[1], node->kid[2]};
    LACIS_TRY(lacis_node_typed(run, op, node->dtype, node->offset, 2, kid, out));
    return lacis_node_simplify(run, *out, out);
}

/* CASE WHEN when THEN then ELSE otherwise END over integers. */
static lacis_status simplify_choice(lacis_run *run, lacis_node *node, lacis_node **out)
{
    const lacis_node *when = node->kid[0], *then = node->kid[1], *otherwise = node->kid[2];
    *out = node;
    if (node->dtype != LACIS_I64) return LACIS_OK;
    if (lacis_node_is_integer(then, 1) && lacis_node_is_integer(otherwise, 0)) return alone(run, node->kid[0], out);
    bool rising = when->op == LACIS_NODE_LT || when->op == LACIS_NODE_LE;
    bool falling = when->op == LACIS_NODE_GT || when->op == LACIS_NODE_GE;
    if (!rising && !falling) return LACIS_OK;
    if (lacis_node_equal(then, when->kid[0]) && lacis_node_equal(otherwise, when->kid[1]))
        return extreme(run, node, rising ? LACIS_NODE_MIN : LACIS_NODE_MAX, out);
    if (lacis_node_equal(then, when->kid[1]) && lacis_node_equal(otherwise, when->kid[0]))
        return extreme(run, node, rising ? LACIS_NODE_MAX : LACIS_NODE_MIN, out);
    return LACIS_OK;
}

static lacis_status simplify_searched(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_nodes kids = {0};
    lacis_node *otherwise = node->kid[node->count - 1];
    for (int i = 0; i < node->count - 1; i += 2) {
        if (lacis_node_is_integer(node->kid[i], 0)) continue;
        if (node->kid[i]->op == LACIS_NODE_CONST) {
            otherwise = node->kid[i + 1];
            break;
        }
        LACIS_TRY(lacis_nodes_add(run, &kids, node->kid[i]));
        LACIS_TRY(lacis_nodes_add(run, &kids, node->kid[i + 1]));
    }
    if (kids.count == 0) return alone(run, otherwise, out);
    LACIS_TRY(lacis_nodes_add(run, &kids, otherwise));
    LACIS_TRY(lacis_node_typed(run, LACIS_NODE_CASE, node->dtype, node->offset, kids.count, kids.node, out));
    return kids.count == 3 ? simplify_choice(run, *out, out) : LACIS_OK;
}

/* CASE x WHEN v ... becomes CASE WHEN x = v ... where x is no more than a slot or a constant that may be repeated. */
lacis_status lacis_case_simplify(lacis_run *run, lacis_node *node, lacis_node **out)
{
    if (node->op == LACIS_NODE_CASE) return simplify_searched(run, node, out);
    *out = node;
    if (node->kid[0]->count > 0) return LACIS_OK;
    for (int i = 1; i < node->count - 1; i += 2) {
        lacis_node *pair[2] = {node->kid[0], node->kid[i]};
        LACIS_TRY(lacis_node_typed(run, LACIS_NODE_EQ, LACIS_I64, node->kid[i]->offset, 2, pair, out));
        LACIS_TRY(lacis_node_simplify(run, *out, &node->kid[i]));
    }
    LACIS_TRY(lacis_node_typed(run, LACIS_NODE_CASE, node->dtype, node->offset, node->count - 1, node->kid + 1, out));
    return simplify_searched(run, *out, out);
}
