/* SPDX-License-Identifier: Apache-2.0
 *
 * Whether an expression has the same bits wherever it is computed: on any processor, and on GPUs, where emit.c writes
 * it. Operators that promise equal bits ask.
 */
#include "expr/tree.h"

/* Operations that are not: libm and CUDA have them right to a few units in the last place, each in its own way. */
static bool rounded_freely(const lacis_node *node)
{
    switch (node->op) {
    case LACIS_NODE_EXP:
    case LACIS_NODE_LN:
    case LACIS_NODE_LOG2:
    case LACIS_NODE_LOG10:
    case LACIS_NODE_POW:
    case LACIS_NODE_SIN:
    case LACIS_NODE_COS:
    case LACIS_NODE_TAN:
    case LACIS_NODE_TANH:
    case LACIS_NODE_ATAN2:
    case LACIS_NODE_HYPOT:
    case LACIS_NODE_ARG:
        return true;
    case LACIS_NODE_ABS: /* a hypotenuse */
        return node->kid[0]->dtype == LACIS_C128;
    default:
        return false;
    }
}

static bool exact(const lacis_node *node)
{
    if (rounded_freely(node)) return false;
    for (int i = 0; i < node->count; i++)
        if (!exact(node->kid[i])) return false;
    return true;
}

bool lacis_expr_exact(const lacis_expr *expr)
{
    return expr->root != expr->raw && exact(expr->root);
}
