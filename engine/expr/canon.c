/* SPDX-License-Identifier: Apache-2.0
 *
 * Canonical form: constants folded, operands of commutative operations in one order, neutral elements dropped. Every
 * rule keeps the value bit for bit, NaN and -0.0 included (but which zero min and max give of 0.0 and -0.0 is left
 * open); a rule may take away the overflow of an intermediate result, never a value. Called by type.c on each node
 * once its kids are done; CASE is in case.c.
 */
#include "expr/steps.h"

#include <math.h>
#include <string.h>

static lacis_status make(lacis_run *run, lacis_node_op op, const lacis_node *like, lacis_node *x, lacis_node *y,
                         lacis_node **out)
{
    lacis_node *kid[2] = {x, y};
    return lacis_node_typed(run, op, like->dtype, like->offset, y == NULL ? 1 : 2, kid, out);
}

/* A kid takes its parent's place: a conversion that the parent had implied must then be written out. */
static lacis_status replace(lacis_run *run, lacis_node *kid, lacis_node **out)
{
    if (!kid->implied) {
        *out = kid;
        return LACIS_OK;
    }
    return lacis_node_typed(run, kid->op, kid->dtype, kid->offset, kid->count, kid->kid, out);
}

/* ------------------------------------------------------------------------------------------ folding */

union value {
    int64_t i64;
    float f32;
    double f64;
    lacis_pair c128;
};

static void load(const lacis_node *node, union value *out)
{
    if (node->dtype == LACIS_I64) out->i64 = node->integer;
    if (node->dtype == LACIS_F32) out->f32 = (float)node->real;
    if (node->dtype == LACIS_F64) out->f64 = node->real;
    if (node->dtype == LACIS_C128) out->c128 = (lacis_pair){node->real, node->imag};
}

/* op of constants as a constant; *out stays NULL where it would fail, so that it fails when (and if) it is run. */
static lacis_status fold(lacis_run *run, lacis_node_op op, const lacis_node *x, const lacis_node *y, lacis_node **out)
{
    union value a, b = {0}, result = {0};
    lacis_step_fn fn = lacis_step_find(lacis_steps_here(), op, x->dtype);
    lacis_dtype dtype = lacis_step_result(op, x->dtype);
    *out = NULL;
    load(x, &a);
    if (y != NULL) load(y, &b);
    if (fn(1, 0, &a, &b, NULL, &result) != 0) return LACIS_OK;
    if (dtype == LACIS_I64) return lacis_node_integer(run, x->offset, result.i64, out);
    if (dtype == LACIS_C128) return lacis_node_complex(run, x->offset, result.c128.re, result.c128.im, out);
    return lacis_node_real(run, x->offset, dtype, dtype == LACIS_F32 ? (double)result.f32 : result.f64, out);
}

static bool all_constant(const lacis_node *node)
{
    for (int i = 0; i < node->count; i++) {
        if (node->kid[i]->op != LACIS_NODE_CONST) return false;
    }
    return true;
}

/* ------------------------------------------------------------------------- AND, OR, MIN, MAX as lists */

/* The kids of node and of kids with the same operation, in one list. */
static lacis_status flatten(lacis_run *run, const lacis_node *node, lacis_nodes *out)
{
    for (int i = 0; i < node->count; i++) {
        lacis_node *kid = node->kid[i];
        bool same = kid->op == node->op;
        for (int k = 0; k < (same ? kid->count : 1); k++) {
            LACIS_TRY(lacis_nodes_add(run, out, same ? kid->kid[k] : kid));
        }
    }
    return LACIS_OK;
}

static void merge(lacis_node **node, lacis_node **spare, int middle, int count)
{
    int i = 0, k = middle, to = 0;
    while (i < middle && k < count) {
        spare[to++] = lacis_node_order(node[i], node[k]) <= 0 ? node[i++] : node[k++];
    }
    while (i < middle) {
        spare[to++] = node[i++];
    }
    memcpy(node, spare, (size_t)to * sizeof *node);
}

/* Merge sort: lists of IN can be long. */
static void sort(lacis_node **node, lacis_node **spare, int count)
{
    if (count < 2) return;
    sort(node, spare, count / 2);
    sort(node + count / 2, spare, count - count / 2);
    merge(node, spare, count / 2, count);
}

/* Sorts and drops what stands there twice. */
static lacis_status order(lacis_run *run, lacis_node **node, int *count)
{
    lacis_node **spare;
    int kept = 0;
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)*count * sizeof *spare, &spare));
    sort(node, spare, *count);
    for (int i = 0; i < *count; i++) {
        if (kept == 0 || !lacis_node_equal(node[kept - 1], node[i])) node[kept++] = node[i];
    }
    *count = kept;
    return LACIS_OK;
}

static lacis_status simplify_logic(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_nodes kids = {0};
    int64_t neutral = node->op == LACIS_NODE_AND;
    int kept = 0;
    LACIS_TRY(flatten(run, node, &kids));
    for (int i = 0; i < kids.count; i++) {
        if (lacis_node_is_integer(kids.node[i], !neutral))
            return lacis_node_integer(run, node->offset, !neutral, out);
        if (!lacis_node_is_integer(kids.node[i], neutral)) kids.node[kept++] = kids.node[i];
    }
    if (kept == 0) return lacis_node_integer(run, node->offset, neutral, out);
    /* What can fail stays behind the conditions that guard it. */
    if (!node->tree_fails) LACIS_TRY(order(run, kids.node, &kept));
    if (kept == 1) return replace(run, kids.node[0], out);
    return lacis_node_typed(run, node->op, LACIS_I64, node->offset, kept, kids.node, out);
}

static lacis_status simplify_extreme(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_nodes kids = {0};
    LACIS_TRY(flatten(run, node, &kids));
    LACIS_TRY(order(run, kids.node, &kids.count));
    while (kids.count > 1 && kids.node[kids.count - 2]->op == LACIS_NODE_CONST) { /* constants are last */
        lacis_node **last = &kids.node[kids.count - 2];
        LACIS_TRY(fold(run, node->op, last[0], last[1], last));
        kids.count--;
    }
    if (kids.count == 1) return replace(run, kids.node[0], out);
    return lacis_node_typed(run, node->op, node->dtype, node->offset, kids.count, kids.node, out);
}

/* -------------------------------------------------------------------------------------- comparisons */

/* The comparison with its operands swapped. */
static lacis_node_op mirrored(lacis_node_op op)
{
    switch (op) {
    case LACIS_NODE_LT:
        return LACIS_NODE_GT;
    case LACIS_NODE_LE:
        return LACIS_NODE_GE;
    case LACIS_NODE_GT:
        return LACIS_NODE_LT;
    case LACIS_NODE_GE:
        return LACIS_NODE_LE;
    default:
        return op;
    }
}

static lacis_status simplify_comparison(lacis_run *run, lacis_node *node, lacis_node **out)
{
    *out = node;
    if (lacis_node_order(node->kid[0], node->kid[1]) <= 0) return LACIS_OK;
    return make(run, mirrored(node->op), node, node->kid[1], node->kid[0], out);
}

/* The comparison that holds where op does not; for reals only = and <> have one, because of NaN. */
static lacis_node_op opposite(lacis_node_op op, bool integers)
{
    static const lacis_node_op pairs[][2] = {
        {LACIS_NODE_EQ, LACIS_NODE_NE}, {LACIS_NODE_LT, LACIS_NODE_GE}, {LACIS_NODE_LE, LACIS_NODE_GT}};
    for (int i = 0; i < (integers ? 3 : 1); i++) {
        if (op == pairs[i][0]) return pairs[i][1];
        if (op == pairs[i][1]) return pairs[i][0];
    }
    return LACIS_NODE_NIL;
}

static lacis_status simplify_not(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_node *kid = node->kid[0];
    *out = node;
    if (kid->op == LACIS_NODE_NOT) return replace(run, kid->kid[0], out);
    if (kid->op < LACIS_NODE_EQ || kid->op > LACIS_NODE_LE) return LACIS_OK;
    lacis_node_op op = opposite(kid->op, kid->kid[0]->dtype == LACIS_I64);
    return op == LACIS_NODE_NIL ? LACIS_OK : make(run, op, node, kid->kid[0], kid->kid[1], out);
}

static lacis_status compare(lacis_run *run, lacis_node_op op, const lacis_node *like, lacis_node *x, lacis_node *y,
                            lacis_node **out)
{
    LACIS_TRY(make(run, op, like, x, y, out));
    return lacis_node_simplify(run, *out, out);
}

/* x BETWEEN y AND z is two comparisons, where x is no more than a slot or a constant that may be repeated. */
static lacis_status simplify_between(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_node *kid[2];
    *out = node;
    if (node->kid[0]->count > 0) return LACIS_OK;
    LACIS_TRY(compare(run, LACIS_NODE_GE, node, node->kid[0], node->kid[1], &kid[0]));
    LACIS_TRY(compare(run, LACIS_NODE_LE, node, node->kid[0], node->kid[2], &kid[1]));
    LACIS_TRY(lacis_node_typed(run, LACIS_NODE_AND, LACIS_I64, node->offset, 2, kid, out));
    return lacis_node_simplify(run, *out, out);
}

static lacis_status simplify_in(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_node *x = node->kid[0];
    int values = node->count - 1;
    bool constant = true;
    *out = node;
    for (int i = 1; i <= values; i++) {
        constant = constant && node->kid[i]->op == LACIS_NODE_CONST;
    }
    if (!constant && values > 1) return LACIS_OK;
    LACIS_TRY(order(run, node->kid + 1, &values));
    if (values == 1) return compare(run, LACIS_NODE_EQ, node, x, node->kid[1], out);
    if (x->op != LACIS_NODE_CONST)
        return lacis_node_typed(run, LACIS_NODE_IN, LACIS_I64, node->offset, values + 1, node->kid, out);
    bool found = false;
    for (int i = 1; i <= values && !found; i++) {
        lacis_node *equal;
        LACIS_TRY(fold(run, LACIS_NODE_EQ, x, node->kid[i], &equal));
        found = equal->integer != 0;
    }
    return lacis_node_integer(run, node->offset, found, out);
}

/* --------------------------------------------------------------------------------------- arithmetic */

/* Whether the node is -y: a negation or a constant below zero whose negative exists; gives y. */
static lacis_status negated(lacis_run *run, lacis_node *node, lacis_node **out)
{
    *out = NULL;
    if (node->op == LACIS_NODE_NEG) *out = node->kid[0];
    if (node->op != LACIS_NODE_CONST) return LACIS_OK;
    bool integer = node->dtype == LACIS_I64;
    bool below =
        integer ? node->integer < 0 && node->integer != INT64_MIN : lacis_dtype_real(node->dtype) && node->real < 0;
    return below ? fold(run, LACIS_NODE_NEG, node, NULL, out) : LACIS_OK;
}

static lacis_status simplify_add(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_node *x = node->kid[0], *y = node->kid[1], *minus;
    bool swap = lacis_node_order(x, y) > 0;
    if (swap) {
        x = node->kid[1];
        y = node->kid[0];
    }
    if (lacis_node_is_integer(y, 0)) return replace(run, x, out);
    LACIS_TRY(negated(run, y, &minus));
    if (minus != NULL) return make(run, LACIS_NODE_SUB, node, x, minus, out);
    LACIS_TRY(negated(run, x, &minus));
    if (minus != NULL) return make(run, LACIS_NODE_SUB, node, y, minus, out);
    *out = node;
    return swap ? make(run, LACIS_NODE_ADD, node, x, y, out) : LACIS_OK;
}

static lacis_status simplify_subtract(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_node *x = node->kid[0], *y = node->kid[1], *minus;
    if (lacis_node_is_number(y, 0)) return replace(run, x, out); /* of reals too: -0.0 - 0.0 is -0.0 */
    LACIS_TRY(negated(run, y, &minus));
    *out = node;
    if (minus == NULL) return LACIS_OK;
    LACIS_TRY(make(run, LACIS_NODE_ADD, node, x, minus, out));
    return lacis_node_simplify(run, *out, out);
}

static lacis_status simplify_multiply(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_node *x = node->kid[0], *y = node->kid[1];
    if (lacis_node_order(x, y) > 0) {
        x = node->kid[1];
        y = node->kid[0];
        LACIS_TRY(make(run, LACIS_NODE_MUL, node, x, y, &node));
    }
    *out = node;
    if (node->dtype == LACIS_C128) return LACIS_OK; /* times 1 or -1 is not the same for infinite parts */
    if (lacis_node_is_number(y, 1)) return replace(run, x, out);
    if (lacis_node_is_integer(y, 0) && !x->tree_fails) return lacis_node_integer(run, node->offset, 0, out);
    if (!lacis_node_is_number(y, -1)) return LACIS_OK;
    LACIS_TRY(make(run, LACIS_NODE_NEG, node, x, NULL, out));
    return lacis_node_simplify(run, *out, out);
}

static lacis_status simplify_commutative(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_node *x = node->kid[0], *y = node->kid[1];
    bool repeats = node->op == LACIS_NODE_BITAND || node->op == LACIS_NODE_BITOR; /* x & x = x */
    if (repeats && lacis_node_equal(x, y)) return replace(run, x, out);
    *out = node;
    return lacis_node_order(x, y) > 0 ? make(run, node->op, node, y, x, out) : LACIS_OK;
}

/* re(complex(x, y)) and im of it */
static lacis_status simplify_part(lacis_run *run, lacis_node *node, lacis_node **out)
{
    const lacis_node *kid = node->kid[0];
    *out = node;
    if (kid->op != LACIS_NODE_COMPLEX) return LACIS_OK;
    return replace(run, kid->kid[node->op == LACIS_NODE_IM], out);
}

/* -(-x), abs(-x), abs(abs(x)), ~~x, conj(conj(x)) */
static lacis_status simplify_unary(lacis_run *run, lacis_node *node, lacis_node **out)
{
    lacis_node *kid = node->kid[0];
    *out = node;
    if (node->op == LACIS_NODE_ABS && kid->op == LACIS_NODE_ABS) return replace(run, kid, out);
    if (node->op == LACIS_NODE_ABS && kid->op == LACIS_NODE_NEG)
        return make(run, LACIS_NODE_ABS, node, kid->kid[0], NULL, out);
    if (node->op != LACIS_NODE_ABS && kid->op == node->op) return replace(run, kid->kid[0], out);
    return LACIS_OK;
}

static lacis_status simplify_special(lacis_run *run, lacis_node *node, lacis_node **out)
{
    switch (node->op) {
    case LACIS_NODE_ADD:
        return simplify_add(run, node, out);
    case LACIS_NODE_SUB:
        return simplify_subtract(run, node, out);
    case LACIS_NODE_MUL:
        return simplify_multiply(run, node, out);
    case LACIS_NODE_DIV:
        if (node->dtype != LACIS_C128 && lacis_node_is_number(node->kid[1], 1))
            return replace(run, node->kid[0], out);
        break;
    case LACIS_NODE_BITAND:
    case LACIS_NODE_BITOR:
    case LACIS_NODE_HYPOT:
        return simplify_commutative(run, node, out);
    case LACIS_NODE_NEG:
    case LACIS_NODE_BITNOT:
    case LACIS_NODE_ABS:
    case LACIS_NODE_CONJ:
        return simplify_unary(run, node, out);
    case LACIS_NODE_NOT:
        return simplify_not(run, node, out);
    case LACIS_NODE_RE:
    case LACIS_NODE_IM:
        return simplify_part(run, node, out);
    default:
        break;
    }
    *out = node;
    return LACIS_OK;
}

lacis_status lacis_node_simplify(lacis_run *run, lacis_node *node, lacis_node **out)
{
    switch (node->op) {
    case LACIS_NODE_CONST:
    case LACIS_NODE_SLOT:
    case LACIS_NODE_NIL:
        *out = node;
        return LACIS_OK;
    case LACIS_NODE_OR:
    case LACIS_NODE_AND:
        return simplify_logic(run, node, out);
    case LACIS_NODE_MIN:
    case LACIS_NODE_MAX:
        return simplify_extreme(run, node, out);
    case LACIS_NODE_IN:
        return simplify_in(run, node, out);
    case LACIS_NODE_BETWEEN:
        return simplify_between(run, node, out);
    case LACIS_NODE_CASE:
    case LACIS_NODE_SWITCH:
        return lacis_case_simplify(run, node, out);
    default:
        break;
    }
    if (all_constant(node)) {
        LACIS_TRY(fold(run, node->op, node->kid[0], node->count > 1 ? node->kid[1] : NULL, out));
        if (*out != NULL) return LACIS_OK;
    }
    if (node->op >= LACIS_NODE_EQ && node->op <= LACIS_NODE_LE) return simplify_comparison(run, node, out);
    return simplify_special(run, node, out);
}
