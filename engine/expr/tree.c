/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes: making, comparing, ordering. Used by all of engine/expr.
 */
#include "expr/tree.h"

#include <math.h>
#include <string.h>

lacis_status lacis_node_new(lacis_run *run, lacis_node_op op, int64_t offset, int count, lacis_node *const *kids,
                            lacis_node **out)
{
    lacis_node *node;
    LACIS_TRY(lacis_run_scratch(run, sizeof *node + (uint64_t)count * sizeof *kids, &node));
    *node = (lacis_node){.op = op, .offset = offset, .count = count, .kid = (lacis_node **)(node + 1), .depth = 1};
    for (int i = 0; i < count; i++) {
        node->kid[i] = kids[i];
        if (kids[i]->depth >= node->depth) node->depth = kids[i]->depth + 1;
    }
    if (node->depth > LACIS_EXPR_DEPTH)
        return lacis_run_fail_at(run, LACIS_SYNTAX, offset, NULL,
                                 "the expression has more than %d operators one inside the other; split it",
                                 LACIS_EXPR_DEPTH);
    *out = node;
    return LACIS_OK;
}

lacis_status lacis_node_integer(lacis_run *run, int64_t offset, int64_t value, lacis_node **out)
{
    LACIS_TRY(lacis_node_new(run, LACIS_NODE_CONST, offset, 0, NULL, out));
    (*out)->dtype = LACIS_I64;
    (*out)->integer = value;
    (*out)->range = (lacis_range){.lo = value, .hi = value};
    return LACIS_OK;
}

lacis_status lacis_node_real(lacis_run *run, int64_t offset, lacis_dtype dtype, double value, lacis_node **out)
{
    LACIS_TRY(lacis_node_new(run, LACIS_NODE_CONST, offset, 0, NULL, out));
    (*out)->dtype = dtype;
    (*out)->real = value;
    (*out)->range = (lacis_range){.real_lo = value, .real_hi = value, .nan = isnan(value)};
    if (isnan(value)) {
        (*out)->range.real_lo = -INFINITY;
        (*out)->range.real_hi = INFINITY;
    }
    return LACIS_OK;
}

lacis_status lacis_node_complex(lacis_run *run, int64_t offset, double re, double im, lacis_node **out)
{
    LACIS_TRY(lacis_node_new(run, LACIS_NODE_CONST, offset, 0, NULL, out));
    (*out)->dtype = LACIS_C128;
    (*out)->real = re;
    (*out)->imag = im;
    (*out)->range = lacis_dtype_range(LACIS_C128);
    return LACIS_OK;
}

lacis_status lacis_nodes_add(lacis_run *run, lacis_nodes *nodes, lacis_node *node)
{
    if (nodes->count == nodes->room) {
        int room = nodes->room == 0 ? 8 : 2 * nodes->room;
        lacis_node **grown;
        LACIS_TRY(lacis_run_scratch(run, (uint64_t)room * sizeof *grown, &grown));
        if (nodes->count > 0) memcpy(grown, nodes->node, (size_t)nodes->count * sizeof *grown);
        nodes->node = grown;
        nodes->room = room;
    }
    nodes->node[nodes->count++] = node;
    return LACIS_OK;
}

bool lacis_node_is_integer(const lacis_node *node, int64_t value)
{
    return node->op == LACIS_NODE_CONST && node->dtype == LACIS_I64 && node->integer == value;
}

bool lacis_node_is_number(const lacis_node *node, double value)
{
    if (node->op != LACIS_NODE_CONST) return false;
    if (node->dtype == LACIS_I64) return (double)node->integer == value;
    if (node->imag != 0 || signbit(node->imag)) return false;
    return node->real == value && !(value == 0 && signbit(node->real));
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

/* Reals by value, -0.0 before 0.0, NaN last. */
static int compare_reals(double a, double b)
{
    if (isnan(a) || isnan(b)) return compare(isnan(a), isnan(b));
    if (a != b) return a < b ? -1 : 1;
    return compare(signbit(b) != 0, signbit(a) != 0);
}

static int leftmost_slot(const lacis_node *node)
{
    while (node->count > 0) {
        node = node->kid[0];
    }
    return node->op == LACIS_NODE_SLOT ? node->slot : INT32_MAX;
}

static int order_same(const lacis_node *a, const lacis_node *b)
{
    int order = compare(a->op, b->op);
    if (order == 0) order = compare(a->dtype, b->dtype);
    if (order == 0) order = compare(a->slot, b->slot);
    if (order == 0) order = compare(a->integer, b->integer);
    if (order == 0) order = compare_reals(a->real, b->real);
    if (order == 0) order = compare_reals(a->imag, b->imag);
    if (order == 0) order = compare(a->count, b->count);
    for (int i = 0; order == 0 && i < a->count; i++) {
        order = order_same(a->kid[i], b->kid[i]);
    }
    return order;
}

int lacis_node_order(const lacis_node *a, const lacis_node *b)
{
    int order = compare(a->op == LACIS_NODE_CONST, b->op == LACIS_NODE_CONST);
    if (order == 0) order = compare(leftmost_slot(a), leftmost_slot(b));
    if (order == 0) order = compare(a->depth, b->depth);
    return order != 0 ? order : order_same(a, b);
}

bool lacis_node_equal(const lacis_node *a, const lacis_node *b)
{
    return a->depth == b->depth && order_same(a, b) == 0;
}
