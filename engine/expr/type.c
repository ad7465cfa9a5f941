/* SPDX-License-Identifier: Apache-2.0
 *
 * Typing: raw tree + slot types -> a second tree in which every operation has operands of one type, conversions are
 * nodes, and everything is simplified from the leaves up. Operators call lacis_expr_type once they know their
 * operands.
 *
 * Integers are int64 throughout. Real literals take the type of what they meet; F32 stays F32 among F32 and literals;
 * an F64, or an integer that is no literal, makes it F64. Among complex numbers everything becomes complex.
 */
#include "expr/tree.h"

#include <float.h>
#include <math.h>

struct typing {
    lacis_run *run;
    lacis_expr *expr;
};

lacis_status lacis_node_typed(lacis_run *run, lacis_node_op op, lacis_dtype dtype, int64_t offset, int count,
                              lacis_node *const *kids, lacis_node **out)
{
    lacis_node *node;
    LACIS_TRY(lacis_node_new(run, op, offset, count, kids, &node));
    node->dtype = dtype;
    node->range = lacis_node_range(node, NULL, &node->fails);
    node->tree_fails = node->fails;
    for (int i = 0; i < count; i++) {
        node->tree_fails = node->tree_fails || kids[i]->tree_fails;
    }
    *out = node;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------- common types */

/* What has been seen among operands that must come to one type. */
struct mix {
    bool complex, f64, f32, integer, real_literal;
};

static void mix_add(struct mix *mix, const lacis_node *node)
{
    bool literal = node->op == LACIS_NODE_CONST;
    if (node->dtype == LACIS_C128) {
        mix->complex = true;
    } else if (node->dtype == LACIS_I64) {
        mix->integer = mix->integer || !literal;
    } else if (literal) {
        bool fits_float = fabs(node->real) <= (double)FLT_MAX || !isfinite(node->real);
        mix->real_literal = true;
        mix->f64 = mix->f64 || !fits_float;
    } else if (node->dtype == LACIS_F32) {
        mix->f32 = true;
    } else {
        mix->f64 = true;
    }
}

static lacis_dtype mix_type(const struct mix *mix)
{
    if (mix->complex) return LACIS_C128;
    if (mix->f64) return LACIS_F64;
    if (mix->f32) return mix->integer ? LACIS_F64 : LACIS_F32;
    return mix->real_literal ? LACIS_F64 : LACIS_I64;
}

static lacis_status convert(lacis_run *run, lacis_dtype dtype, lacis_node **node);

/* complex(x, 0), unwritten. */
static lacis_status make_complex(lacis_run *run, lacis_node *from, lacis_node **node)
{
    lacis_node *kid[2] = {from};
    LACIS_TRY(convert(run, LACIS_F64, &kid[0]));
    LACIS_TRY(lacis_node_real(run, from->offset, LACIS_F64, 0, &kid[1]));
    LACIS_TRY(lacis_node_typed(run, LACIS_NODE_COMPLEX, LACIS_C128, from->offset, 2, kid, node));
    (*node)->implied = true;
    return LACIS_OK;
}

/* *node as dtype: only ever towards more, except for literals. */
static lacis_status convert(lacis_run *run, lacis_dtype dtype, lacis_node **node)
{
    lacis_node *from = *node;
    if (from->dtype == dtype) return LACIS_OK;
    if (from->op != LACIS_NODE_CONST && dtype == LACIS_C128) return make_complex(run, from, node);
    if (from->op == LACIS_NODE_CONST) {
        double value = from->dtype == LACIS_I64 ? (double)from->integer : from->real;
        if (dtype == LACIS_C128) return lacis_node_complex(run, from->offset, value, 0, node);
        if (dtype == LACIS_F32) value = (double)(float)value;
        return lacis_node_real(run, from->offset, dtype, value, node);
    }
    LACIS_TRY(lacis_node_typed(run, LACIS_NODE_TO_REAL, LACIS_F64, from->offset, 1, &from, node));
    (*node)->implied = true;
    return LACIS_OK;
}

/* Kids first, first + step ... and, if asked for, the last one come to one type. */
static lacis_status unify(lacis_run *run, lacis_node **kid, int count, int first, int step, bool last,
                          lacis_dtype *out)
{
    struct mix mix = {0};
    int end = last ? count - 1 : count;
    for (int i = first; i < end; i += step) {
        mix_add(&mix, kid[i]);
    }
    if (last) mix_add(&mix, kid[count - 1]);
    *out = mix_type(&mix);
    for (int i = first; i < end; i += step) {
        LACIS_TRY(convert(run, *out, &kid[i]));
    }
    return last ? convert(run, *out, &kid[count - 1]) : LACIS_OK;
}

/* A condition: booleans stay, numbers are compared with 0. */
static lacis_status truth(lacis_run *run, lacis_node **node)
{
    lacis_node *from = *node, *kid[2] = {from};
    if (from->op >= LACIS_NODE_OR && from->op <= LACIS_NODE_BETWEEN) return LACIS_OK;
    if (from->op == LACIS_NODE_CONST) {
        bool yes = from->dtype == LACIS_I64 ? from->integer != 0 : from->real != 0 || from->imag != 0;
        return lacis_node_integer(run, from->offset, yes, node);
    }
    LACIS_TRY(lacis_node_integer(run, from->offset, 0, &kid[1]));
    LACIS_TRY(convert(run, from->dtype, &kid[1]));
    LACIS_TRY(lacis_node_typed(run, LACIS_NODE_NE, LACIS_I64, from->offset, 2, kid, node));
    return lacis_node_simplify(run, *node, node);
}

/* ---------------------------------------------------------------------------------- operations by kind */

static bool ordering(lacis_node_op op)
{
    return (op >= LACIS_NODE_GT && op <= LACIS_NODE_LE) || op == LACIS_NODE_BETWEEN || op == LACIS_NODE_MIN ||
           op == LACIS_NODE_MAX;
}

static bool takes_complex(lacis_node_op op)
{
    return op <= LACIS_NODE_NE || op == LACIS_NODE_IN || (op >= LACIS_NODE_ADD && op <= LACIS_NODE_DIV) ||
           op == LACIS_NODE_NEG || op == LACIS_NODE_CASE || op == LACIS_NODE_SWITCH || op == LACIS_NODE_ABS ||
           (op >= LACIS_NODE_RE && op <= LACIS_NODE_ARG);
}

static const char *symbol_of(lacis_node_op op)
{
    switch (op) {
    case LACIS_NODE_BITAND:
        return "&";
    case LACIS_NODE_BITOR:
        return "|";
    case LACIS_NODE_SHL:
        return "<<";
    case LACIS_NODE_SHR:
        return ">>";
    case LACIS_NODE_BITNOT:
        return "~";
    case LACIS_NODE_MOD:
        return "%";
    case LACIS_NODE_TO_INT:
    case LACIS_NODE_TO_REAL:
        return "CAST";
    default:
        return lacis_function_name(op);
    }
}

/* Operations that mean nothing for complex operands. */
static lacis_status refuse_complex(lacis_run *run, const lacis_node *raw, lacis_node *const *kid)
{
    bool found = false;
    for (int i = 0; i < raw->count; i++)
        found = found || kid[i]->dtype == LACIS_C128;
    if (!found || takes_complex(raw->op)) return LACIS_OK;
    if (ordering(raw->op))
        return lacis_run_fail_at(run, LACIS_TYPE, raw->offset, NULL,
                                 "complex numbers have no order; compare re(z), im(z) or abs(z)");
    return lacis_run_fail_at(run, LACIS_TYPE, raw->offset, "re(z), im(z), abs(z) and arg(z) are real",
                             "%s does not take complex numbers", symbol_of(raw->op));
}

static lacis_status only_integers(lacis_run *run, const lacis_node *raw, lacis_node *const *kid)
{
    for (int i = 0; i < raw->count; i++) {
        if (lacis_dtype_real(kid[i]->dtype))
            return lacis_run_fail_at(run, LACIS_TYPE, raw->offset, "CAST(x AS int) makes an integer of a real",
                                     "%s works on integers, but %s operand is real", symbol_of(raw->op),
                                     raw->count == 1 ? "its"
                                     : i == 0        ? "its left"
                                                     : "its right");
    }
    return LACIS_OK;
}

/* Real literals that are whole numbers meet integers as integers, so that `s = 3.0` is exact. */
static lacis_status whole_literals(lacis_run *run, lacis_node **kid, int first, int step, int count)
{
    bool integers = kid[0]->dtype == LACIS_I64;
    for (int i = first; i < count; i += step) {
        bool literal = kid[i]->op == LACIS_NODE_CONST && lacis_dtype_real(kid[i]->dtype);
        bool whole = literal && fabs(kid[i]->real) < 0x1p63 && kid[i]->real == trunc(kid[i]->real);
        integers = integers && (whole || kid[i]->dtype == LACIS_I64);
    }
    for (int i = first; integers && i < count; i += step) {
        if (kid[i]->dtype != LACIS_I64)
            LACIS_TRY(lacis_node_integer(run, kid[i]->offset, (int64_t)kid[i]->real, &kid[i]));
    }
    return LACIS_OK;
}

static lacis_status type_comparison(lacis_run *run, lacis_node **kid, int count)
{
    lacis_dtype ignored;
    if (kid[0]->op == LACIS_NODE_CONST && count == 2) { /* the literal may stand on the left */
        lacis_node *swapped[2] = {kid[1], kid[0]};
        LACIS_TRY(whole_literals(run, swapped, 1, 1, 2));
        kid[0] = swapped[1];
    }
    LACIS_TRY(whole_literals(run, kid, 1, 1, count));
    return unify(run, kid, count, 0, 1, false, &ignored);
}

static lacis_status type_case(lacis_run *run, lacis_node **kid, int count, lacis_dtype *dtype)
{
    for (int i = 0; i < count - 1; i += 2) {
        LACIS_TRY(truth(run, &kid[i]));
    }
    return unify(run, kid, count, 1, 2, true, dtype);
}

/* Operand and values come to one type, results to another. */
static lacis_status type_switch(lacis_run *run, lacis_node **kid, int count, lacis_dtype *dtype)
{
    struct mix mix = {0};
    LACIS_TRY(whole_literals(run, kid, 1, 2, count - 1));
    mix_add(&mix, kid[0]);
    for (int i = 1; i < count - 1; i += 2) {
        mix_add(&mix, kid[i]);
    }
    LACIS_TRY(convert(run, mix_type(&mix), &kid[0]));
    for (int i = 1; i < count - 1; i += 2) {
        LACIS_TRY(convert(run, mix_type(&mix), &kid[i]));
    }
    return unify(run, kid, count, 2, 2, true, dtype);
}

/* Functions that give reals whatever they are given. */
static lacis_status type_real_function(lacis_run *run, lacis_node **kid, int count, lacis_dtype *dtype)
{
    LACIS_TRY(unify(run, kid, count, 0, 1, false, dtype));
    if (*dtype != LACIS_I64) return LACIS_OK;
    *dtype = LACIS_F64;
    for (int i = 0; i < count; i++) {
        LACIS_TRY(convert(run, LACIS_F64, &kid[i]));
    }
    return LACIS_OK;
}

/* complex(re, im) of reals; the others of a complex number, to which arg makes a real. */
static lacis_status type_complex(lacis_run *run, lacis_node_op op, lacis_node **kid, lacis_dtype *dtype)
{
    *dtype = op == LACIS_NODE_COMPLEX || op == LACIS_NODE_CONJ ? LACIS_C128 : LACIS_F64;
    LACIS_TRY(convert(run, op == LACIS_NODE_COMPLEX ? LACIS_F64 : LACIS_C128, &kid[0]));
    return op == LACIS_NODE_COMPLEX ? convert(run, LACIS_F64, &kid[1]) : LACIS_OK;
}

static lacis_status type_kids(lacis_run *run, const lacis_node *raw, lacis_node **kid, lacis_dtype *dtype)
{
    *dtype = LACIS_I64;
    LACIS_TRY(refuse_complex(run, raw, kid));
    switch (raw->op) {
    case LACIS_NODE_OR:
    case LACIS_NODE_AND:
    case LACIS_NODE_NOT:
        for (int i = 0; i < raw->count; i++) {
            LACIS_TRY(truth(run, &kid[i]));
        }
        return LACIS_OK;
    case LACIS_NODE_BITAND:
    case LACIS_NODE_BITOR:
    case LACIS_NODE_SHL:
    case LACIS_NODE_SHR:
    case LACIS_NODE_BITNOT:
        return only_integers(run, raw, kid);
    case LACIS_NODE_CASE:
        return type_case(run, kid, raw->count, dtype);
    case LACIS_NODE_SWITCH:
        return type_switch(run, kid, raw->count, dtype);
    case LACIS_NODE_TO_INT:
        return LACIS_OK;
    case LACIS_NODE_TO_REAL:
        *dtype = kid[0]->dtype == LACIS_F32 ? LACIS_F32 : LACIS_F64;
        return LACIS_OK;
    case LACIS_NODE_COMPLEX:
    case LACIS_NODE_RE:
    case LACIS_NODE_IM:
    case LACIS_NODE_CONJ:
    case LACIS_NODE_ARG:
        return type_complex(run, raw->op, kid, dtype);
    default:
        break;
    }
    if (raw->op >= LACIS_NODE_EQ && raw->op <= LACIS_NODE_BETWEEN) return type_comparison(run, kid, raw->count);
    bool keeps = (raw->op >= LACIS_NODE_ADD && raw->op <= LACIS_NODE_NEG) || raw->op == LACIS_NODE_ABS ||
                 raw->op == LACIS_NODE_MIN || raw->op == LACIS_NODE_MAX || raw->op == LACIS_NODE_SIGN ||
                 (raw->op >= LACIS_NODE_FLOOR && raw->op <= LACIS_NODE_ROUND);
    if (!keeps) return type_real_function(run, kid, raw->count, dtype);
    LACIS_TRY(unify(run, kid, raw->count, 0, 1, false, dtype));
    if (raw->op == LACIS_NODE_ABS && *dtype == LACIS_C128) *dtype = LACIS_F64;
    return LACIS_OK;
}

/* Conversions and roundings of what has the type already; re and conj of what is real. */
static bool idle(lacis_node_op op, lacis_dtype kid)
{
    bool integer = kid == LACIS_I64;
    if (op == LACIS_NODE_TO_REAL) return lacis_dtype_real(kid);
    if (op == LACIS_NODE_RE || op == LACIS_NODE_CONJ) return kid != LACIS_C128;
    return integer &&
           (op == LACIS_NODE_TO_INT || op == LACIS_NODE_FLOOR || op == LACIS_NODE_CEIL || op == LACIS_NODE_ROUND);
}

static lacis_status type_slot(struct typing *typing, const lacis_node *raw, lacis_node **out)
{
    lacis_dtype dtype = typing->expr->slot_dtype[raw->slot];
    if (dtype == LACIS_PATTERN) return lacis_node_integer(typing->run, raw->offset, 1, out);
    bool complex = lacis_dtype_complex(dtype);
    if (dtype != LACIS_I32 && dtype != LACIS_I64 && !lacis_dtype_real(dtype) && !complex)
        return lacis_run_fail_at(typing->run, LACIS_TYPE, raw->offset, NULL,
                                 "%s is %s here, but expressions calculate with integers, reals and complex numbers",
                                 typing->expr->slot_name[raw->slot], lacis_dtype_name(dtype));
    LACIS_TRY(lacis_node_new(typing->run, LACIS_NODE_SLOT, raw->offset, 0, NULL, out));
    (*out)->slot = raw->slot;
    (*out)->dtype = complex ? LACIS_C128 : lacis_dtype_real(dtype) ? dtype : LACIS_I64;
    (*out)->range = lacis_dtype_range(dtype);
    return LACIS_OK;
}

static lacis_status type_node(struct typing *typing, const lacis_node *raw, lacis_node **out)
{
    lacis_run *run = typing->run;
    lacis_node **kid;
    lacis_dtype dtype;
    if (raw->op == LACIS_NODE_SLOT) return type_slot(typing, raw, out);
    if (raw->op == LACIS_NODE_CONST && raw->dtype == LACIS_I64)
        return lacis_node_integer(run, raw->offset, raw->integer, out);
    if (raw->op == LACIS_NODE_CONST) return lacis_node_real(run, raw->offset, raw->dtype, raw->real, out);
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)raw->count * sizeof *kid, &kid));
    for (int i = 0; i < raw->count; i++) {
        LACIS_TRY(type_node(typing, raw->kid[i], &kid[i]));
    }
    if (raw->op == LACIS_NODE_IM && kid[0]->dtype != LACIS_C128)
        return lacis_node_real(run, raw->offset, LACIS_F64, 0, out);
    if (idle(raw->op, kid[0]->dtype)) {
        *out = kid[0];
        return LACIS_OK;
    }
    LACIS_TRY(type_kids(run, raw, kid, &dtype));
    LACIS_TRY(lacis_node_typed(run, raw->op, dtype, raw->offset, raw->count, kid, out));
    return lacis_node_simplify(run, *out, out);
}

lacis_status lacis_expr_type(lacis_run *run, lacis_expr *expr, const lacis_dtype *slots, int count)
{
    struct typing typing = {run, expr};
    if (count < expr->slots)
        return lacis_run_fail(run, LACIS_MISUSE, "an expression over %d slots was given types for %d", expr->slots,
                              count);
    for (int i = 0; i < expr->slots; i++) {
        expr->slot_dtype[i] = slots[i];
    }
    if (expr->raw->op == LACIS_NODE_NIL) return LACIS_OK;
    lacis_node *root;
    LACIS_TRY(type_node(&typing, expr->raw, &root));
    LACIS_TRY(lacis_node_print(run, expr, root, &expr->text));
    expr->root = root;
    return LACIS_OK;
}
