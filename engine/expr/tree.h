/* SPDX-License-Identifier: Apache-2.0
 *
 * Expression trees, private to engine/expr. parse.c builds the raw tree as it was written; type.c makes a second one
 * with types, folded and canonical, which bounds.c, set.c and program.c read. Nodes lie in the run's scratch, are
 * never shared between parents, and never change once their parent exists.
 */
#ifndef LACIS_EXPR_TREE_H
#define LACIS_EXPR_TREE_H

#include "expr/expr.h"

/* Everything a node or a step of a program can do. Steps (steps.h) are looked up by it and by their operands' type.
 */
typedef enum lacis_node_op {
    LACIS_NODE_NIL,
    LACIS_NODE_CONST,
    LACIS_NODE_SLOT,
    /* Operators, loosest first. OR, AND, MIN and MAX have two kids or more. */
    LACIS_NODE_OR,
    LACIS_NODE_AND,
    LACIS_NODE_NOT,
    LACIS_NODE_EQ,
    LACIS_NODE_NE,
    LACIS_NODE_GT,
    LACIS_NODE_GE,
    LACIS_NODE_LT,
    LACIS_NODE_LE,
    LACIS_NODE_IN,      /* kid 0 is one of the others */
    LACIS_NODE_BETWEEN, /* kid 1 <= kid 0 <= kid 2 */
    LACIS_NODE_BITAND,
    LACIS_NODE_BITOR,
    LACIS_NODE_SHL,
    LACIS_NODE_SHR,
    LACIS_NODE_ADD,
    LACIS_NODE_SUB,
    LACIS_NODE_MUL,
    LACIS_NODE_DIV,
    LACIS_NODE_MOD,
    LACIS_NODE_NEG,
    LACIS_NODE_BITNOT,
    LACIS_NODE_CASE,   /* when, then, when, then ..., else */
    LACIS_NODE_SWITCH, /* operand, value, then, value, then ..., else */
    /* Functions */
    LACIS_NODE_ABS,
    LACIS_NODE_MIN, /* of reals: ignores NaN */
    LACIS_NODE_MAX,
    LACIS_NODE_SQRT,
    LACIS_NODE_EXP,
    LACIS_NODE_LN,
    LACIS_NODE_LOG2,
    LACIS_NODE_LOG10,
    LACIS_NODE_POW,
    LACIS_NODE_FLOOR,
    LACIS_NODE_CEIL,
    LACIS_NODE_ROUND, /* halves away from zero */
    LACIS_NODE_SIGN,
    LACIS_NODE_SIN,
    LACIS_NODE_COS,
    LACIS_NODE_TAN,
    LACIS_NODE_TANH,
    LACIS_NODE_ATAN2,
    LACIS_NODE_HYPOT,
    LACIS_NODE_COMPLEX, /* of two reals; also what typing makes of a real among complex numbers (node.implied) */
    LACIS_NODE_RE,
    LACIS_NODE_IM,
    LACIS_NODE_CONJ,
    LACIS_NODE_ARG,
    LACIS_NODE_TO_INT,  /* CAST: truncates; beyond int64 and NaN are errors */
    LACIS_NODE_TO_REAL, /* CAST, and conversions that typing adds (node.implied) */
    LACIS_NODE_OPS,
    /* Steps only */
    LACIS_STEP_COPY = LACIS_NODE_OPS,
    LACIS_STEP_LOAD,     /* i32 to i64, c64 to c128 */
    LACIS_STEP_BLEND,    /* x ? y : z */
    LACIS_STEP_ADD_SAFE, /* proved not to overflow */
    LACIS_STEP_SUB_SAFE,
    LACIS_STEP_MUL_NARROW, /* both operands proved to fit 32 bits */
    LACIS_STEP_MEMBER,     /* x in the list y: its length, then its rising values */
    LACIS_STEP_FUSED,      /* (x op y) op z of reals, 12 of them: + - *, and of each then + z, - z, z -, * z */
    LACIS_STEP_OPS = LACIS_STEP_FUSED + 12
} lacis_node_op;

/* What a value can be. Integers: lo..hi. Reals: real_lo..real_hi and, where `nan`, NaN besides. Nothing is known of
 * complex numbers: any real and NaN. */
typedef struct lacis_range {
    int64_t lo, hi;
    double real_lo, real_hi;
    bool nan;
} lacis_range;

typedef struct lacis_node lacis_node;
struct lacis_node {
    lacis_node_op op;
    lacis_dtype dtype; /* I64, F32, F64, C128 once typed (constants always); PATTERN before, and for nil */
    bool implied;      /* TO_REAL, COMPLEX: not written by the user, so only the first kid is printed */
    bool fails;        /* this node itself can overflow or divide by zero, as far as ranges tell */
    bool tree_fails;   /* it or one below */
    int depth;         /* 1 for leaves */
    int64_t offset;    /* in the statement */
    int slot;
    int64_t integer; /* CONST I64 */
    double real;     /* CONST F32, F64, C128 */
    double imag;     /* CONST C128 */
    int count;
    lacis_node **kid;
    lacis_range range; /* for whatever the slots' types can hold; once typed */
};

struct lacis_expr {
    lacis_node *raw;  /* as written */
    lacis_node *root; /* typed; raw until then */
    const char *text; /* of root */
    int slots;
    const char **slot_name;  /* as they are printed: u[1,0] */
    lacis_dtype *slot_dtype; /* PATTERN until typed */
    bool free;               /* slots are collected as they come */
    lacis_expr_slot *found;  /* they, where free */
    int room;                /* for slots, where free */
};

enum {
    LACIS_EXPR_NESTING = 200, /* parentheses and the like in the text */
    LACIS_EXPR_DEPTH = 1000   /* levels of the tree: chains such as a + b + c + ... grow by one an operator */
};

static inline bool lacis_node_is(const lacis_node *node, lacis_node_op op)
{
    return node->op == op;
}
static inline bool lacis_dtype_real(lacis_dtype dtype)
{
    return dtype == LACIS_F32 || dtype == LACIS_F64;
}
/* Of slots; nodes are C128 only. */
static inline bool lacis_dtype_complex(lacis_dtype dtype)
{
    return dtype == LACIS_C64 || dtype == LACIS_C128;
}

/* tree.c: kids are copied. Fails with LACIS_SYNTAX past LACIS_EXPR_DEPTH. */
lacis_status lacis_node_new(lacis_run *run, lacis_node_op op, int64_t offset, int count, lacis_node *const *kids,
                            lacis_node **out);
lacis_status lacis_node_integer(lacis_run *run, int64_t offset, int64_t value, lacis_node **out);
lacis_status lacis_node_real(lacis_run *run, int64_t offset, lacis_dtype dtype, double value, lacis_node **out);
lacis_status lacis_node_complex(lacis_run *run, int64_t offset, double re, double im, lacis_node **out);
bool lacis_node_equal(const lacis_node *a, const lacis_node *b);
/* The order of operands that may be swapped: < 0 where a comes first. Constants last, then by the leftmost slot,
 * small trees before large ones. 0 only where the trees are equal. */
int lacis_node_order(const lacis_node *a, const lacis_node *b);
bool lacis_node_is_integer(const lacis_node *node, int64_t value);
/* A constant of that value, integer, real or complex (not -0.0 for 0). */
bool lacis_node_is_number(const lacis_node *node, double value);

/* A list of nodes that grows in scratch. */
typedef struct lacis_nodes {
    lacis_node **node;
    int count, room;
} lacis_nodes;
lacis_status lacis_nodes_add(lacis_run *run, lacis_nodes *nodes, lacis_node *node);

/* print.c: the tree as text that parses back to it. */
lacis_status lacis_node_print(lacis_run *run, const lacis_expr *expr, const lacis_node *node, const char **out);

/* function.c: functions by name in any case. */
typedef struct lacis_function {
    const char *name;
    lacis_node_op op;
    int least, most; /* arguments; most < 0: any number */
} lacis_function;
const lacis_function *lacis_function_find(const char *name, size_t length);
const char *lacis_function_name(lacis_node_op op);

/* operand.c: numbers, slots, parameters, CASE, CAST, calls, parentheses. `parser` is private to the two files. */
typedef struct lacis_parser {
    lacis_run *run;
    lacis_lexer *lexer;
    const lacis_bindings *bindings;
    lacis_expr *expr; /* for its slots */
    int nesting;
} lacis_parser;
lacis_status lacis_parse_whole(lacis_parser *parser, lacis_node **out);   /* parse.c: one expression */
lacis_status lacis_parse_operand(lacis_parser *parser, lacis_node **out); /* operand.c */
lacis_status lacis_parse_parameter(lacis_parser *parser, lacis_node **out);
lacis_status lacis_parse_expected(lacis_parser *parser, const char *what);
/* Numbers with their sign, so that the least int64 can be written. At a number, behind the '-' if negative. */
lacis_status lacis_parse_number(lacis_run *run, lacis_lexer *lexer, bool negative, int64_t offset, lacis_node **out);
lacis_status lacis_expr_new(lacis_run *run, const char *slots, lacis_expr **out);
lacis_status lacis_expr_reset(lacis_run *run, lacis_expr *expr); /* back to the raw tree */

/* slots.c: free names. Whether an unquoted word can be one; the slot of a name, behind which the lexer stands, with
 * the offsets that follow; what names the slots have in print, once all are found. */
bool lacis_slot_word(const char *name, size_t length);
lacis_status lacis_slot_find(lacis_parser *parser, const char *name, int64_t place, int *out);
lacis_status lacis_slots_name(lacis_run *run, lacis_expr *expr);

/* canon.c: a typed node whose kids are simplified already, simplified. */
lacis_status lacis_node_simplify(lacis_run *run, lacis_node *node, lacis_node **out);
/* case.c: the same for CASE and SWITCH. */
lacis_status lacis_case_simplify(lacis_run *run, lacis_node *node, lacis_node **out);
/* type.c: a node of a given type, with its range and flags. */
lacis_status lacis_node_typed(lacis_run *run, lacis_node_op op, lacis_dtype dtype, int64_t offset, int count,
                              lacis_node *const *kids, lacis_node **out);

/* bounds.c: the node's range where slot i has range slots[i]; with slots NULL, from the ranges of its kids. *fails:
 * whether the node itself can fail then. */
lacis_range lacis_node_range(const lacis_node *node, const lacis_range *slots, bool *fails);
lacis_range lacis_dtype_range(lacis_dtype dtype);
/* range.c: transfer functions of nodes with one or two operands. */
lacis_range lacis_range_integer(lacis_node_op op, lacis_range x, lacis_range y, bool *fails);
lacis_range lacis_range_real(lacis_node_op op, lacis_dtype dtype, lacis_range x, lacis_range y);

#endif
