/* SPDX-License-Identifier: Apache-2.0
 *
 * Random expressions for test_expr_random.c: trees and their text.
 */
#ifndef LACIS_TESTS_EXPR_TREES_H
#define LACIS_TESTS_EXPR_TREES_H

#include "unit/expr_support.h"

static uint64_t random_state;

static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static int below(int n)
{
    return (int)(random_bits() >> 16) & 0x7fffffff ? (int)((random_bits() >> 20) % (uint64_t)n) : 0;
}

/* ------------------------------------------------------------------------------------------- trees */

enum kind { SLOT, INTEGER, REAL, UNARY, BINARY, COMPARE, AND, OR, NOT, CASE, SWITCH, IN, BETWEEN };
struct tree {
    enum kind kind;
    const char *name; /* of the operator or function */
    int slot;
    int64_t integer;
    double real;
    int count;
    struct tree *kid[8];
};
enum mode { INTEGERS, MIXED, FLOATS, MODES };
enum { SLOTS = 4 };
static const char slot_names[] = "a,b,c,d";
static const lacis_dtype slot_types[MODES][SLOTS] = {{LACIS_I32, LACIS_I64, LACIS_I64, LACIS_I32},
                                                     {LACIS_I32, LACIS_I64, LACIS_F64, LACIS_F64},
                                                     {LACIS_F32, LACIS_F32, LACIS_F32, LACIS_F32}};

static struct tree *make(enum kind kind, const char *name)
{
    struct tree *tree;
    assert_int_equal(lacis_run_scratch(&run, sizeof *tree, &tree), LACIS_OK);
    *tree = (struct tree){.kind = kind, .name = name};
    return tree;
}

/* Any bits, of any length. */
static int64_t random_integer(void)
{
    int64_t bits = (int64_t)random_bits();
    return bits >> below(63);
}

static struct tree *leaf(enum mode mode)
{
    int choice = below(6);
    if (choice < 4) {
        struct tree *tree = make(SLOT, "");
        tree->slot = below(SLOTS);
        return tree;
    }
    bool real = mode == FLOATS || (mode == MIXED && choice == 5);
    struct tree *tree = make(real ? REAL : INTEGER, "");
    tree->integer = below(8) == 0 ? random_integer() : below(21) - 10;
    tree->real = (below(41) - 20) * 0.25 + 0.125;
    return tree;
}

static struct tree *grow(enum mode mode, int depth);

static struct tree *slot_leaf(void)
{
    struct tree *tree = make(SLOT, "");
    tree->slot = below(SLOTS);
    return tree;
}

static const char *pick(const char *const *names)
{
    int count = 0;
    while (names[count] != NULL) {
        count++;
    }
    return names[below(count)];
}

/* FLOATS: literals stand beside slots only, so that what the engine folds need not be known here. */
static void add_kids(struct tree *tree, int count, enum mode mode, int depth)
{
    for (int i = 0; i < count; i++) {
        tree->kid[tree->count++] = mode == FLOATS && i % 2 == 0 && depth <= 1 ? slot_leaf() : grow(mode, depth - 1);
    }
}

static struct tree *grow_number(enum mode mode, int depth)
{
    static const char *const binary[] = {"+", "-", "*", "/", "%", "min", "max", NULL};
    static const char *const bits[] = {"&", "|", "<<", ">>", NULL};
    static const char *const unary[] = {"-", "abs", "sign", NULL};
    static const char *const reals[] = {"sqrt", "exp", "ln", "floor", "ceil", "round", "sin", "tanh", NULL};
    int choice = below(12);
    if (choice < 7) {
        bool bit = mode == INTEGERS && choice == 0, pair = mode != INTEGERS && choice == 0;
        struct tree *tree = make(BINARY, bit ? pick(bits) : pair ? "hypot" : pick(binary));
        add_kids(tree, 2, mode, depth);
        return tree;
    }
    if (choice < 10) {
        bool real = mode != INTEGERS && choice == 7;
        struct tree *tree = make(UNARY, real ? pick(reals) : mode == INTEGERS && choice == 8 ? "~" : pick(unary));
        add_kids(tree, 1, mode, depth);
        return tree;
    }
    struct tree *tree = make(choice == 10 ? CASE : SWITCH, "");
    if (tree->kind == SWITCH) add_kids(tree, 1, mode, depth);
    for (int i = below(2); i >= 0; i--) {
        if (tree->kind == SWITCH) add_kids(tree, 1, mode, depth);
        if (tree->kind == CASE) {
            tree->kid[tree->count] = make(COMPARE, "<");
            add_kids(tree->kid[tree->count++], 2, mode, depth - 1);
        }
        add_kids(tree, 1, mode, depth);
    }
    tree->kid[tree->count++] = mode == FLOATS ? slot_leaf() : grow(mode, depth - 1);
    return tree;
}

static struct tree *grow_truth(enum mode mode, int depth)
{
    static const char *const compare[] = {"=", "<>", "<", "<=", ">", ">=", NULL};
    int choice = below(8);
    if (choice < 4) {
        struct tree *tree = make(COMPARE, pick(compare));
        add_kids(tree, 2, mode, depth);
        return tree;
    }
    struct tree *tree = make((enum kind[]){AND, OR, NOT, below(2) != 0 ? IN : BETWEEN}[choice - 4], "");
    add_kids(tree, tree->kind == NOT ? 1 : tree->kind == AND || tree->kind == OR ? 2 + below(2) : 3, mode, depth);
    return tree;
}

/* FLOATS: truth values, which are integers, would make F64 of it; they stand at the top only. */
static struct tree *grow(enum mode mode, int depth)
{
    if (depth <= 0) return leaf(mode);
    return mode != FLOATS && below(4) == 0 ? grow_truth(mode, depth) : grow_number(mode, depth);
}

/* -------------------------------------------------------------------------------------------- text */

static char text[1 << 16], *at;

static void put(const char *more)
{
    assert_true(at - text + (ptrdiff_t)strlen(more) + 1 < (ptrdiff_t)sizeof text);
    at = stpcpy(at, more);
}

static void write_tree(const struct tree *tree);

static void write_list(const struct tree *tree, int first, const char *between)
{
    for (int i = first; i < tree->count; i++) {
        if (i > first) put(between);
        write_tree(tree->kid[i]);
    }
}

static void write_case(const struct tree *tree)
{
    int i = tree->kind == SWITCH;
    put("CASE ");
    if (i > 0) write_tree(tree->kid[0]);
    for (; i + 1 < tree->count; i += 2) {
        put(" WHEN ");
        write_tree(tree->kid[i]);
        put(" THEN ");
        write_tree(tree->kid[i + 1]);
    }
    put(" ELSE ");
    write_tree(tree->kid[i]);
    put(" END");
}

static void write_inside(const struct tree *tree)
{
    bool function = tree->name[0] >= 'a' && tree->name[0] <= 'z';
    char number[64];
    switch (tree->kind) {
    case SLOT:
        put((const char *[]){"a", "b", "c", "d"}[tree->slot]);
        break;
    case INTEGER:
        snprintf(number, sizeof number, "%lld", (long long)tree->integer);
        put(number);
        break;
    case REAL:
        snprintf(number, sizeof number, "%.17g", tree->real);
        put(number);
        break;
    case CASE:
    case SWITCH:
        write_case(tree);
        break;
    case IN:
        write_tree(tree->kid[0]);
        put(" IN (");
        write_list(tree, 1, ", ");
        put(")");
        break;
    case BETWEEN:
        write_tree(tree->kid[0]);
        put(" BETWEEN ");
        write_list(tree, 1, " AND ");
        break;
    case AND:
    case OR:
        write_list(tree, 0, tree->kind == AND ? " AND " : " OR ");
        break;
    default:
        if (tree->kind == NOT) put("NOT ");
        if (function || tree->count == 1) put(tree->name);
        if (function) put("(");
        write_list(tree, 0, function ? ", " : tree->name);
        if (function) put(")");
    }
}

static void write_tree(const struct tree *tree)
{
    put("(");
    write_inside(tree);
    put(")");
}

#endif
