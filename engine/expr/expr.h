/* SPDX-License-Identifier: Apache-2.0
 *
 * User expressions and aggregates: text -> tree -> types, properties, canonical form -> strips. What operators see of
 * it stands in lacis_extend.h; this is the part that the statement parser uses.
 */
#ifndef LACIS_EXPR_EXPR_H
#define LACIS_EXPR_EXPR_H

#include "core/lexer.h"

/* Values of :name parameters. */
typedef struct lacis_binding {
    const char *name;
    lacis_type type;
    int64_t integer;
    double real;
    const char *text;
} lacis_binding;
typedef struct lacis_bindings {
    const lacis_binding *value;
    int count;
} lacis_bindings;
/* NULL where there is none of that name. */
const lacis_binding *lacis_binding_find(const lacis_bindings *bindings, const char *name, size_t length);

/* Parses one expression from the lexer's present token as far as it goes (a word that cannot continue it ends it, so
 * clause keywords need not be reserved) over the slots named in `slots` ("a,b,s"). The tree lives in the run's
 * scratch. bindings == NULL: parameters are accepted and stand for 0 (only the syntax is of interest). Grammar, SQL's
 * scalar one without NULL, loosest first: OR; AND; NOT; = == <> !=, IS [NOT] NULL (never and always so), [NOT] IN
 * (list), [NOT] BETWEEN x AND y; < <= > >=; | & << >>; + -; * / %; unary - + ~; CASE WHEN .. THEN .. ELSE .. END,
 * CASE x WHEN ..; functions abs min max sqrt exp ln log2 log10 pow floor ceil round sign sin cos tan tanh atan2 hypot
 * iif complex re im conj arg, CAST(x AS int|real); literals, TRUE, FALSE, INF, NAN; nil (the empty CON: every product
 * counts 1).
 *
 * Types: integers are int64, checked (an integer expression is I64 also over I32 slots); a PATTERN slot is the
 * constant 1; F32 stays F32 among F32 and literals, else reals are F64; among complex numbers everything is C128
 * (C64 slots too); conditions are 0 or 1. Integers divide as in SQL. min and max ignore NaN. Complex numbers are
 * equal or not, but have no order. What fails in a branch of CASE, or behind the left side of AND or OR, counts only
 * where that is reached. */
lacis_status lacis_expr_parse(lacis_run *run, lacis_lexer *lexer, const char *slots, const lacis_bindings *bindings,
                              lacis_expr **out);
/* The same over free names: one that is no function and no constant, with or without [dx], [dx,dy] or [dx,dy,dz]
 * behind it, is a slot (lacis_expr_slots). Quoted ones always are. */
lacis_status lacis_expr_parse_free(lacis_run *run, lacis_lexer *lexer, const lacis_bindings *bindings,
                                   lacis_expr **out);

/* name | "(" x "," y ")" "->" expr "IDENTITY" literal [ "ASSOCIATIVE" ]; the literal may be complex(re, im) of two.
 * Folds that are a named aggregate written out (x + y, min(x, y) ...) become that aggregate. */
lacis_status lacis_agg_parse(lacis_run *run, lacis_lexer *lexer, const lacis_bindings *bindings, lacis_agg **out);

/* The named aggregates, for SHOW AGGREGATES and completion: NULL-terminated pairs of name and summary. */
extern const char *const lacis_agg_names[][2];
/* Functions of expressions, for completion: NULL-terminated. */
extern const char *const lacis_expr_functions[];

#endif
