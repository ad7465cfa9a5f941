/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of expressions by name: for the parser, the printer and completion.
 */
#include "core/word.h"
#include "expr/tree.h"

static const lacis_function functions[] = {
    {"abs", LACIS_NODE_ABS, 1, 1},     {"min", LACIS_NODE_MIN, 2, -1},    {"max", LACIS_NODE_MAX, 2, -1},
    {"sqrt", LACIS_NODE_SQRT, 1, 1},   {"exp", LACIS_NODE_EXP, 1, 1},     {"ln", LACIS_NODE_LN, 1, 1},
    {"log2", LACIS_NODE_LOG2, 1, 1},   {"log10", LACIS_NODE_LOG10, 1, 1}, {"pow", LACIS_NODE_POW, 2, 2},
    {"floor", LACIS_NODE_FLOOR, 1, 1}, {"ceil", LACIS_NODE_CEIL, 1, 1},   {"round", LACIS_NODE_ROUND, 1, 1},
    {"sign", LACIS_NODE_SIGN, 1, 1},   {"sin", LACIS_NODE_SIN, 1, 1},     {"cos", LACIS_NODE_COS, 1, 1},
    {"tan", LACIS_NODE_TAN, 1, 1},     {"tanh", LACIS_NODE_TANH, 1, 1},   {"atan2", LACIS_NODE_ATAN2, 2, 2},
    {"hypot", LACIS_NODE_HYPOT, 2, 2}, {"iif", LACIS_NODE_CASE, 3, 3},    {"complex", LACIS_NODE_COMPLEX, 2, 2},
    {"re", LACIS_NODE_RE, 1, 1},       {"im", LACIS_NODE_IM, 1, 1},       {"conj", LACIS_NODE_CONJ, 1, 1},
    {"arg", LACIS_NODE_ARG, 1, 1},
};

const char *const lacis_expr_functions[] = {
    "abs", "min", "max",  "sqrt",  "exp",   "ln",  "log2", "log10",   "pow", "floor", "ceil", "round", "sign", "sin",
    "cos", "tan", "tanh", "atan2", "hypot", "iif", "cast", "complex", "re",  "im",    "conj", "arg",   NULL,
};

const lacis_function *lacis_function_find(const char *name, size_t length)
{
    for (int i = 0; i < LACIS_COUNT(functions); i++) {
        if (lacis_word_is(name, length, functions[i].name)) return &functions[i];
    }
    return NULL;
}

const char *lacis_function_name(lacis_node_op op)
{
    for (int i = 0; i < LACIS_COUNT(functions); i++) {
        if (functions[i].op == op) return functions[i].name;
    }
    return NULL;
}
