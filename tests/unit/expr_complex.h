/* SPDX-License-Identifier: Apache-2.0
 *
 * Random expressions over complex slots, for test_expr_complex.c and test_expr_emit.c: slots a and b are complex, c
 * is a real and d an integer. A `part` is an expression that is real or integer.
 */
#ifndef LACIS_TESTS_EXPR_COMPLEX_H
#define LACIS_TESTS_EXPR_COMPLEX_H

#include "unit/expr_trees.h"

static const lacis_dtype complex_types[SLOTS] = {LACIS_C128, LACIS_C64, LACIS_F64, LACIS_I32};

static inline struct tree *grow_complex(int depth);

static inline struct tree *slot_tree(int slot)
{
    struct tree *tree = make(SLOT, "");
    tree->slot = slot;
    return tree;
}

static inline struct tree *add_kid(struct tree *tree, struct tree *kid)
{
    tree->kid[tree->count++] = kid;
    return tree;
}

static inline struct tree *literal(void)
{
    struct tree *tree = make(below(2) == 0 ? REAL : INTEGER, "");
    tree->integer = below(9) - 4;
    tree->real = (below(41) - 20) * 0.25 + 0.125;
    return tree;
}

static inline struct tree *grow_part(int depth)
{
    static const char *const parts[] = {"re", "im", "abs", "arg", NULL};
    static const char *const binary[] = {"+", "-", "*", NULL};
    static const char *const idle[] = {"re", "im", "conj", "-", NULL};
    int choice = below(8);
    if (depth <= 0) return choice < 2 ? literal() : slot_tree(2 + choice % 2);
    if (choice < 4) return add_kid(make(UNARY, pick(parts)), grow_complex(depth - 1));
    if (choice == 4) return add_kid(make(UNARY, pick(idle)), grow_part(depth - 1));
    struct tree *tree = add_kid(make(BINARY, pick(binary)), grow_part(depth - 1));
    return add_kid(tree, grow_part(depth - 1));
}

/* Complex more often than not. */
static inline struct tree *grow_any(int depth)
{
    return below(3) == 0 ? grow_part(depth) : grow_complex(depth);
}

static inline struct tree *grow_condition(int depth)
{
    static const char *const equal[] = {"=", "<>", NULL};
    if (below(2) == 0) return add_kid(add_kid(make(COMPARE, "<"), grow_part(depth)), grow_part(depth));
    struct tree *tree = make(below(3) == 0 ? IN : COMPARE, pick(equal));
    add_kid(add_kid(tree, grow_complex(depth)), grow_any(depth));
    return tree->kind == IN ? add_kid(tree, grow_any(depth)) : tree;
}

static inline struct tree *grow_choice(int depth)
{
    struct tree *tree = make(below(2) == 0 ? CASE : SWITCH, "");
    if (tree->kind == SWITCH) add_kid(tree, grow_complex(depth));
    for (int i = below(2); i >= 0; i--) {
        add_kid(tree, tree->kind == SWITCH ? grow_any(depth) : grow_condition(depth));
        add_kid(tree, grow_any(depth));
    }
    return add_kid(tree, grow_complex(depth));
}

static inline struct tree *grow_complex(int depth)
{
    static const char *const binary[] = {"+", "-", "*", "/", NULL};
    int choice = below(10);
    if (depth <= 0 && choice < 8) return slot_tree(choice % 2);
    if (choice >= 8 || depth <= 0)
        return add_kid(add_kid(make(BINARY, "complex"), grow_part(depth - 1)), grow_part(depth - 1));
    if (choice == 7) return grow_choice(depth - 1);
    if (choice == 6) return add_kid(make(UNARY, below(2) == 0 ? "conj" : "-"), grow_complex(depth - 1));
    struct tree *tree = make(BINARY, pick(binary));
    add_kid(tree, choice < 2 ? grow_any(depth - 1) : grow_complex(depth - 1));
    return add_kid(tree, choice < 2 ? grow_complex(depth - 1) : grow_any(depth - 1));
}

#endif
