/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of whole trees: lacis_expr_bounds for given slots, and the ranges that typing leaves in the nodes, by which
 * program.c leaves out overflow checks. The arithmetic is in range.c.
 */
#include "expr/tree.h"

#include <math.h>

lacis_range lacis_dtype_range(lacis_dtype dtype)
{
    lacis_range range = {.lo = INT64_MIN, .hi = INT64_MAX};
    if (dtype == LACIS_I32) {
        range.lo = INT32_MIN;
        range.hi = INT32_MAX;
    }
    if (lacis_dtype_real(dtype) || lacis_dtype_complex(dtype))
        range = (lacis_range){.real_lo = -INFINITY, .real_hi = INFINITY, .nan = true};
    return range;
}

static lacis_range kid_range(const lacis_node *node, int kid, const lacis_range *slots)
{
    bool ignored = false;
    return slots == NULL ? node->kid[kid]->range : lacis_node_range(node->kid[kid], slots, &ignored);
}

static lacis_range hull(lacis_dtype dtype, lacis_range x, lacis_range y)
{
    if (!lacis_dtype_real(dtype)) {
        if (y.lo < x.lo) x.lo = y.lo;
        if (y.hi > x.hi) x.hi = y.hi;
        return x;
    }
    x.real_lo = fmin(x.real_lo, y.real_lo);
    x.real_hi = fmax(x.real_hi, y.real_hi);
    x.nan = x.nan || y.nan;
    return x;
}

/* Any of the results. */
static lacis_range case_range(const lacis_node *node, const lacis_range *slots)
{
    lacis_range range = kid_range(node, node->count - 1, slots);
    for (int i = node->op == LACIS_NODE_SWITCH ? 2 : 1; i < node->count - 1; i += 2) {
        range = hull(node->dtype, range, kid_range(node, i, slots));
    }
    return range;
}

static lacis_range to_int_range(lacis_range x, bool *fails)
{
    lacis_range range = {.lo = INT64_MIN, .hi = INT64_MAX};
    if (x.nan || !(x.real_lo >= -0x1p63) || !(x.real_hi < 0x1p63)) {
        *fails = true;
        return range;
    }
    range.lo = (int64_t)x.real_lo;
    range.hi = (int64_t)x.real_hi;
    return range;
}

/* Two operands, or more where the operation is applied again to what it gave (MIN, MAX). */
static lacis_range chain_range(const lacis_node *node, const lacis_range *slots, bool *fails)
{
    lacis_range x = kid_range(node, 0, slots), none = {0};
    lacis_dtype dtype = node->dtype;
    bool real = lacis_dtype_real(dtype);
    if (node->count == 1)
        return real ? lacis_range_real(node->op, dtype, x, none) : lacis_range_integer(node->op, x, none, fails);
    for (int i = 1; i < node->count; i++) {
        lacis_range y = kid_range(node, i, slots);
        x = real ? lacis_range_real(node->op, dtype, x, y) : lacis_range_integer(node->op, x, y, fails);
    }
    return x;
}

lacis_range lacis_node_range(const lacis_node *node, const lacis_range *slots, bool *fails)
{
    if (node->op == LACIS_NODE_CONST) return node->range;
    if (node->op == LACIS_NODE_SLOT) return slots == NULL ? node->range : slots[node->slot];
    if (node->op >= LACIS_NODE_OR && node->op <= LACIS_NODE_BETWEEN) return (lacis_range){.lo = 0, .hi = 1};
    if (node->dtype == LACIS_C128 || (node->count > 0 && node->kid[0]->dtype == LACIS_C128))
        return lacis_dtype_range(node->dtype);
    if (node->op == LACIS_NODE_CASE || node->op == LACIS_NODE_SWITCH) return case_range(node, slots);
    if (node->op == LACIS_NODE_TO_INT) return to_int_range(kid_range(node, 0, slots), fails);
    if (node->op == LACIS_NODE_TO_REAL && !lacis_dtype_real(node->kid[0]->dtype)) {
        lacis_range x = kid_range(node, 0, slots);
        return (lacis_range){.real_lo = (double)x.lo, .real_hi = (double)x.hi};
    }
    return chain_range(node, slots, fails);
}

/* -------------------------------------------------------------------------------- lacis_expr_bounds */

static int64_t saturated(double value)
{
    if (value >= 0x1p63) return INT64_MAX;
    return value <= -0x1p63 ? INT64_MIN : (int64_t)value;
}

/* Doubles beyond 2^53 may be integers that were rounded inwards. */
static int64_t integer_below(double value)
{
    return saturated(fabs(value) < 0x1p53 ? ceil(value) : nextafter(value, -INFINITY));
}

static int64_t integer_above(double value)
{
    return saturated(fabs(value) < 0x1p53 ? floor(value) : nextafter(value, INFINITY));
}

static lacis_range slot_range(lacis_dtype dtype, double lo, double hi)
{
    if (isnan(lo) || isnan(hi) || lacis_dtype_complex(dtype)) return lacis_dtype_range(dtype);
    if (lacis_dtype_real(dtype)) return (lacis_range){.real_lo = lo, .real_hi = hi};
    return (lacis_range){.lo = integer_below(lo), .hi = integer_above(hi)};
}

/* int64 as doubles, rounded outwards. */
static double double_below(int64_t value)
{
    double rounded = (double)value;
    return (__int128)rounded > value ? nextafter(rounded, -INFINITY) : rounded;
}

static double double_above(int64_t value)
{
    double rounded = (double)value;
    return (__int128)rounded < value ? nextafter(rounded, INFINITY) : rounded;
}

enum { BOUNDED_SLOTS = 64 }; /* no operator has more */

bool lacis_expr_bounds(const lacis_expr *expr, const double *lo, const double *hi, double *out_lo, double *out_hi)
{
    lacis_range slots[BOUNDED_SLOTS];
    bool fails = false;
    if (expr->root->op == LACIS_NODE_NIL) {
        *out_lo = *out_hi = 1;
        return true;
    }
    if (expr->root == expr->raw || expr->slots > BOUNDED_SLOTS || expr->root->dtype == LACIS_C128) return false;
    for (int i = 0; i < expr->slots; i++) {
        slots[i] = slot_range(expr->slot_dtype[i], lo[i], hi[i]);
    }
    lacis_range range = lacis_node_range(expr->root, slots, &fails);
    bool real = lacis_dtype_real(expr->root->dtype);
    *out_lo = real ? range.real_lo : double_below(range.lo);
    *out_hi = real ? range.real_hi : double_above(range.hi);
    return !range.nan;
}
