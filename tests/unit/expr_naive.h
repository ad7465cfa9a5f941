/* SPDX-License-Identifier: Apache-2.0
 *
 * A naive recursive interpreter for the random expressions of test_expr_random.c, which shares nothing with
 * engine/expr.
 */
#ifndef LACIS_TESTS_EXPR_NAIVE_H
#define LACIS_TESTS_EXPR_NAIVE_H

#include "unit/expr_trees.h"

/* An integer, or a real of one of two sizes; `literal` where the engine knows the value too. */
struct value {
    bool real, narrow, literal, failed;
    int64_t i;
    double d;
};
struct inputs {
    struct value slot[SLOTS];
};

static struct value integer(__int128 i, bool failed)
{
    return (struct value){.i = (int64_t)i, .failed = failed || i > INT64_MAX || i < INT64_MIN};
}

static struct value real(double d, bool narrow)
{
    return (struct value){.real = true, .narrow = narrow, .d = narrow ? (double)(float)d : d};
}

static double number(struct value v)
{
    return v.real ? v.d : (double)v.i;
}

static bool truth(struct value v)
{
    return v.real ? v.d != 0 : v.i != 0;
}

/* For integers against whole real literals exact, else as reals. -2: not comparable (NaN). */
static int order(struct value a, struct value b)
{
    bool a_whole = a.real && a.literal && a.d == trunc(a.d), b_whole = b.real && b.literal && b.d == trunc(b.d);
    if (a_whole && !b.real) a = integer((__int128)a.d, false);
    if (b_whole && !a.real) b = integer((__int128)b.d, false);
    if (!a.real && !b.real) return (a.i > b.i) - (a.i < b.i);
    double x = number(a), y = number(b);
    if (isnan(x) || isnan(y)) return -2;
    return (x > y) - (x < y);
}

static int64_t shifted(int64_t a, __int128 by)
{
    if (by >= 0) return by > 63 ? 0 : (int64_t)((uint64_t)a << by);
    return by < -63 ? (a < 0 ? -1 : 0) : a >> -by;
}

static struct value integer_binary(const char *name, int64_t a, int64_t b)
{
    switch (name[0]) {
    case '+':
        return integer((__int128)a + b, false);
    case '-':
        return integer((__int128)a - b, false);
    case '*':
        return integer((__int128)a * b, false);
    case '/':
        return integer(b == 0 ? 0 : (__int128)a / b, b == 0);
    case '%':
        return integer(b == 0 ? 0 : (__int128)a % b, b == 0);
    case '&':
        return integer(a & b, false);
    case '|':
        return integer(a | b, false);
    case '<':
        return integer(shifted(a, b), false);
    case '>':
        return integer(shifted(a, -(__int128)b), false);
    default:
        return integer(strcmp(name, "min") == 0 ? (a < b ? a : b) : (a > b ? a : b), false);
    }
}

static double real_binary(const char *name, double a, double b, bool narrow)
{
    switch (name[0]) {
    case '+':
        return a + b;
    case '-':
        return a - b;
    case '*':
        return a * b;
    case '/':
        return a / b;
    case '%':
        return fmod(a, b);
    case 'h':
        return narrow ? (double)hypotf((float)a, (float)b) : hypot(a, b);
    default:
        return strcmp(name, "min") == 0 ? fmin(a, b) : fmax(a, b);
    }
}

static struct value binary(const char *name, struct value a, struct value b)
{
    bool failed = a.failed || b.failed, real_function = strcmp(name, "hypot") == 0;
    bool narrow = (a.narrow || a.literal) && (b.narrow || b.literal) && (a.narrow || b.narrow);
    struct value out;
    if (!a.real && !b.real && !real_function) {
        out = integer_binary(name, a.i, b.i);
    } else {
        double x = number(a), y = number(b);
        if (narrow) x = (double)(float)x, y = (double)(float)y;
        out = real(real_binary(name, x, y, narrow), narrow);
    }
    out.failed = out.failed || failed;
    out.literal = a.literal && b.literal;
    return out;
}

static double real_function(const char *name, double a, bool narrow)
{
    static const struct {
        const char *name;
        double (*wide)(double);
        float (*narrow)(float);
    } functions[] = {{"abs", fabs, fabsf},     {"sqrt", sqrt, sqrtf},    {"exp", exp, expf},
                     {"ln", log, logf},        {"floor", floor, floorf}, {"ceil", ceil, ceilf},
                     {"round", round, roundf}, {"sin", sin, sinf},       {"tanh", tanh, tanhf}};
    if (strcmp(name, "-") == 0) return -a;
    if (strcmp(name, "sign") == 0) return (a > 0) - (a < 0);
    for (int i = 0; i < LACIS_COUNT(functions); i++) {
        if (strcmp(name, functions[i].name) == 0)
            return narrow ? (double)functions[i].narrow((float)a) : functions[i].wide(a);
    }
    fail_msg("no function %s", name);
    return 0;
}

static struct value unary(const char *name, struct value a)
{
    static const char *const whole[] = {"floor", "ceil", "round"};
    struct value out = a;
    bool same = false;
    for (int i = 0; i < LACIS_COUNT(whole); i++) {
        same = same || strcmp(name, whole[i]) == 0;
    }
    if (!a.real && same) return a;
    if (!a.real && strcmp(name, "-") == 0)
        out = integer(-(__int128)a.i, a.failed);
    else if (!a.real && strcmp(name, "abs") == 0)
        out = integer(a.i < 0 ? -(__int128)a.i : a.i, a.failed);
    else if (!a.real && strcmp(name, "sign") == 0)
        out = integer((a.i > 0) - (a.i < 0), a.failed);
    else if (!a.real && strcmp(name, "~") == 0)
        out = integer(~a.i, a.failed);
    else
        out = real(real_function(name, number(a), a.narrow), a.narrow);
    out.failed = out.failed || a.failed;
    out.literal = a.literal;
    return out;
}

static struct value eval(const struct tree *tree, const struct inputs *inputs);

/* Types of all results count, though one is taken: whether the whole is real. */
static bool is_real(const struct tree *tree, const struct inputs *inputs)
{
    return eval(tree, inputs).real;
}

static struct value choice(const struct tree *tree, const struct inputs *inputs)
{
    struct value x = {0}, out;
    int i = tree->kind == SWITCH;
    bool failed = false, real_result = is_real(tree->kid[tree->count - 1], inputs);
    for (int k = i + 1; k < tree->count; k += 2) {
        real_result = real_result || is_real(tree->kid[k], inputs);
    }
    if (i > 0) x = eval(tree->kid[0], inputs);
    failed = x.failed;
    bool exact = i > 0 && !x.real; /* integers are compared as such if all values are, or are whole literals */
    for (int k = i; i > 0 && k + 1 < tree->count; k += 2) {
        struct value v = eval(tree->kid[k], inputs);
        exact = exact && (!v.real || (v.literal && v.d == trunc(v.d)));
    }
    for (; i + 1 < tree->count; i += 2) {
        struct value when = eval(tree->kid[i], inputs);
        failed = failed || when.failed;
        bool equal = exact ? order(x, when) == 0 : number(x) == number(when);
        if (tree->kind == SWITCH ? equal : truth(when)) break;
    }
    out = eval(tree->kid[i + 1 < tree->count ? i + 1 : i], inputs);
    if (real_result && !out.real) out = (struct value){.real = true, .d = number(out), .failed = out.failed};
    out.failed = out.failed || failed;
    out.literal = false;
    return out;
}

static struct value logic(const struct tree *tree, const struct inputs *inputs)
{
    for (int i = 0; i < tree->count; i++) {
        struct value v = eval(tree->kid[i], inputs);
        if (v.failed) return integer(0, true);
        if (truth(v) == (tree->kind == OR)) return integer(tree->kind == OR, false);
    }
    return integer(tree->kind == AND, false);
}

static bool compared(const char *name, int o)
{
    if (o == -2) return strcmp(name, "<>") == 0;
    return strcmp(name, "=") == 0    ? o == 0
           : strcmp(name, "<>") == 0 ? o != 0
           : strcmp(name, "<") == 0  ? o < 0
           : strcmp(name, "<=") == 0 ? o <= 0
           : strcmp(name, ">") == 0  ? o > 0
                                     : o >= 0;
}

static struct value several(const struct tree *tree, const struct inputs *inputs)
{
    struct value x = eval(tree->kid[0], inputs);
    bool failed = x.failed, found = false, within = true, exact = !x.real;
    struct value v[8];
    for (int i = 1; i < tree->count; i++) {
        v[i] = eval(tree->kid[i], inputs);
        failed = failed || v[i].failed;
        exact = exact && (!v[i].real || (v[i].literal && v[i].d == trunc(v[i].d)));
    }
    for (int i = 1; i < tree->count; i++) {
        struct value p = x, q = v[i];
        if (!exact && (x.real || v[1].real || v[2].real)) p = real(number(p), false), q = real(number(q), false);
        int o = order(p, q);
        found = found || o == 0;
        within = within && o != -2 && (i == 1 ? o >= 0 : o <= 0);
    }
    return integer(tree->kind == IN ? found : within, failed);
}

static struct value eval(const struct tree *tree, const struct inputs *inputs)
{
    struct value a, b, out;
    switch (tree->kind) {
    case SLOT:
        return inputs->slot[tree->slot];
    case INTEGER:
        return (struct value){.i = tree->integer, .literal = true};
    case REAL:
        return (struct value){.real = true, .d = tree->real, .literal = true};
    case UNARY:
        return unary(tree->name, eval(tree->kid[0], inputs));
    case BINARY:
        return binary(tree->name, eval(tree->kid[0], inputs), eval(tree->kid[1], inputs));
    case COMPARE:
        a = eval(tree->kid[0], inputs);
        b = eval(tree->kid[1], inputs);
        if (a.narrow && b.literal) b = real(b.d, true);
        if (b.narrow && a.literal) a = real(a.d, true);
        out = integer(compared(tree->name, order(a, b)), a.failed || b.failed);
        out.literal = a.literal && b.literal;
        return out;
    case NOT:
        a = eval(tree->kid[0], inputs);
        return integer(!truth(a), a.failed);
    case AND:
    case OR:
        return logic(tree, inputs);
    case CASE:
    case SWITCH:
        return choice(tree, inputs);
    default:
        return several(tree, inputs);
    }
}

#endif
