/* SPDX-License-Identifier: Apache-2.0
 *
 * Linear forms: whether a typed expression is a constant plus fixed weights times its slots. SWEEP asks, since such
 * stencils have kernels of their own.
 */
#include "expr/tree.h"

#include <math.h>

struct form {
    double constant;
    double *weight;
};

static bool constant_of(const lacis_node *node, double *out)
{
    if (node->op != LACIS_NODE_CONST || !lacis_dtype_real(node->dtype)) return false;
    *out = node->real;
    return true;
}

/* Adds `scale` times the node to the form. The tree is no deeper than LACIS_EXPR_DEPTH. */
static bool add(struct form *form, const lacis_node *node, double scale)
{
    double factor;
    if (!lacis_dtype_real(node->dtype)) return false;
    switch (node->op) {
    case LACIS_NODE_SLOT:
        form->weight[node->slot] += scale;
        return true;
    case LACIS_NODE_CONST:
        form->constant += scale * node->real;
        return true;
    case LACIS_NODE_ADD:
        return add(form, node->kid[0], scale) && add(form, node->kid[1], scale);
    case LACIS_NODE_SUB:
        return add(form, node->kid[0], scale) && add(form, node->kid[1], -scale);
    case LACIS_NODE_NEG:
        return add(form, node->kid[0], -scale);
    case LACIS_NODE_MUL:
        if (constant_of(node->kid[1], &factor)) return add(form, node->kid[0], scale * factor);
        return constant_of(node->kid[0], &factor) && add(form, node->kid[1], scale * factor);
    case LACIS_NODE_DIV:
        return constant_of(node->kid[1], &factor) && add(form, node->kid[0], scale / factor);
    default:
        return false;
    }
}

bool lacis_expr_affine(const lacis_expr *expr, double *constant, double *weight)
{
    struct form form = {.weight = weight};
    for (int i = 0; i < expr->slots; i++)
        weight[i] = 0;
    *constant = 0;
    if (expr->root == expr->raw || !add(&form, expr->root, 1)) return false;
    bool finite = isfinite(form.constant);
    for (int i = 0; i < expr->slots; i++)
        finite = finite && isfinite(weight[i]);
    *constant = form.constant;
    return finite;
}
