/* SPDX-License-Identifier: Apache-2.0
 *
 * What is right but seldom meant: 1/4 * u, where integers divide and leave 0. Operators whose expressions calculate
 * with reals ask and tell the user.
 */
#include "expr/tree.h"

struct division {
    const lacis_node *node;
    int64_t x, y;
};

/* x op y, where it exists. */
static bool calculate(lacis_node_op op, int64_t x, int64_t y, int64_t *out)
{
    switch (op) {
    case LACIS_NODE_ADD:
        return !__builtin_add_overflow(x, y, out);
    case LACIS_NODE_SUB:
        return !__builtin_sub_overflow(x, y, out);
    case LACIS_NODE_MUL:
        return !__builtin_mul_overflow(x, y, out);
    case LACIS_NODE_DIV:
        if (y == 0 || (y == -1 && x == INT64_MIN)) return false;
        *out = x / y;
        return true;
    default:
        return false;
    }
}

/* Whether a raw tree is a constant integer; the first division in it that loses something is kept on the way. */
static bool integer_of(const lacis_node *node, struct division *first, int64_t *out)
{
    int64_t value[2] = {0};
    bool known = true;
    if (node->op == LACIS_NODE_CONST) {
        *out = node->integer;
        return node->dtype == LACIS_I64;
    }
    for (int i = 0; i < node->count; i++)
        known = integer_of(node->kid[i], first, &value[i < 2 ? i : 1]) && known;
    if (node->op == LACIS_NODE_NEG && known) return !__builtin_sub_overflow((int64_t)0, value[0], out);
    if (node->count != 2 || !known || !calculate(node->op, value[0], value[1], out)) return false;
    bool lossy = node->op == LACIS_NODE_DIV && value[0] % value[1] != 0;
    if (lossy && first->node == NULL) *first = (struct division){node, value[0], value[1]};
    return true;
}

const char *lacis_expr_pitfall(lacis_run *run, const lacis_expr *expr, int64_t *place)
{
    struct division first = {0};
    int64_t ignored;
    integer_of(expr->raw, &first, &ignored);
    if (first.node == NULL) return NULL;
    long long x = first.x, y = first.y;
    *place = first.node->offset;
    return lacis_run_text(run, "%lld/%lld divides integers and is %lld: write %lld.0/%lld", x, y, x / y, x, y);
}
