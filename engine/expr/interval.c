/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis_expr_interval: predicates over reals that say no more than that a slot lies within an interval, so that
 * operators compare in their kernels without a program. Understands =, <, <=, >, >=, BETWEEN of the slot and
 * constants, and AND of those. What set.c is for integers.
 */
#include "expr/tree.h"

#include <math.h>

/* Both ends belong to it. */
struct interval {
    double lo, hi;
};

static const struct interval nowhere = {1, 0};

static bool interval_of(const lacis_node *node, int slot, struct interval *out);

/* The slot itself, perhaps beneath the conversion that comparing f32 with f64 has added. */
static bool is_slot(const lacis_node *node, int slot)
{
    if (node->op == LACIS_NODE_TO_REAL && node->implied) node = node->kid[0];
    return node->op == LACIS_NODE_SLOT && node->slot == slot && lacis_dtype_real(node->dtype);
}

static bool is_real(const lacis_node *node)
{
    return node->op == LACIS_NODE_CONST && lacis_dtype_real(node->dtype);
}

static void more_than(double x, bool or_equal, struct interval *out)
{
    *out = (struct interval){or_equal ? x : nextafter(x, INFINITY), INFINITY};
    if (isnan(x) || (!or_equal && x == INFINITY)) *out = nowhere;
}

static void less_than(double x, bool or_equal, struct interval *out)
{
    *out = (struct interval){-INFINITY, or_equal ? x : nextafter(x, -INFINITY)};
    if (isnan(x) || (!or_equal && x == -INFINITY)) *out = nowhere;
}

static bool comparison(const lacis_node *node, int slot, struct interval *out)
{
    const bool mirrored = node->kid[0]->op == LACIS_NODE_CONST; /* 5 < value */
    const lacis_node *constant = node->kid[mirrored ? 0 : 1];
    if (!is_slot(node->kid[mirrored ? 1 : 0], slot) || !is_real(constant)) return false;
    const double x = constant->real;
    const bool equal = node->op == LACIS_NODE_LE || node->op == LACIS_NODE_GE;
    const bool less = node->op == LACIS_NODE_LT || node->op == LACIS_NODE_LE;
    if (node->op == LACIS_NODE_EQ) {
        *out = isnan(x) ? nowhere : (struct interval){x, x};
    } else if (less != mirrored) {
        less_than(x, equal, out);
    } else {
        more_than(x, equal, out);
    }
    return true;
}

static void intersect(struct interval *interval, const struct interval *other)
{
    if (other->lo > interval->lo) interval->lo = other->lo;
    if (other->hi < interval->hi) interval->hi = other->hi;
}

static bool between(const lacis_node *node, int slot, struct interval *out)
{
    struct interval most;
    if (!is_slot(node->kid[0], slot) || !is_real(node->kid[1]) || !is_real(node->kid[2])) return false;
    more_than(node->kid[1]->real, true, out);
    less_than(node->kid[2]->real, true, &most);
    if (most.lo > most.hi) *out = most;
    intersect(out, &most);
    return true;
}

static bool all_of(const lacis_node *node, int slot, struct interval *out)
{
    *out = (struct interval){-INFINITY, INFINITY};
    for (int i = 0; i < node->count; i++) {
        struct interval more;
        if (!interval_of(node->kid[i], slot, &more)) return false;
        if (more.lo > more.hi) *out = nowhere;
        intersect(out, &more);
    }
    return true;
}

static bool interval_of(const lacis_node *node, int slot, struct interval *out)
{
    switch (node->op) {
    case LACIS_NODE_AND:
        return all_of(node, slot, out);
    case LACIS_NODE_BETWEEN:
        return between(node, slot, out);
    case LACIS_NODE_EQ:
    case LACIS_NODE_LT:
    case LACIS_NODE_LE:
    case LACIS_NODE_GT:
    case LACIS_NODE_GE:
        return comparison(node, slot, out);
    default:
        return false;
    }
}

bool lacis_expr_interval(const lacis_expr *expr, int slot, double *lo, double *hi)
{
    struct interval interval;
    if (!interval_of(expr->root, slot, &interval)) return false;
    *lo = interval.lo;
    *hi = interval.hi;
    return true;
}
