/* SPDX-License-Identifier: Apache-2.0
 *
 * Typed trees as text of CUDA device functions (a part of it that C has too), for NVRTC. The text is made from the
 * tree alone: no name and no number is copied from what the user typed. Evaluation is that of the strips: what fails
 * sets *bad only where CASE, AND and OR reach it, everything else is always evaluated. Operators call it for written
 * CON, AGG and HAVING on a GPU.
 */
#include "expr/tree.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Text that grows in scratch; `status` remembers the first failure. */
struct writer {
    lacis_run *run;
    const lacis_expr *expr;
    char *text;
    size_t length, room;
    int temporaries; /* t0 ... of which function `head` tells the types */
    struct writer *head;
    lacis_status status;
};

static void put_bytes(struct writer *to, const char *bytes, size_t count)
{
    if (to->status != LACIS_OK) return;
    if (to->length + count + 1 > to->room) {
        size_t room = 2 * (to->length + count) + 256;
        char *grown;
        to->status = lacis_run_scratch(to->run, room, &grown);
        if (to->status != LACIS_OK) return;
        if (to->length > 0) memcpy(grown, to->text, to->length);
        to->text = grown;
        to->room = room;
    }
    memcpy(to->text + to->length, bytes, count);
    to->length += count;
    to->text[to->length] = '\0';
}

static void put(struct writer *to, const char *text)
{
    put_bytes(to, text, strlen(text));
}

static void put_number(struct writer *to, const char *before, int64_t number, const char *after)
{
    char text[64];
    snprintf(text, sizeof text, "%s%" PRId64 "%s", before, number, after);
    put(to, text);
}

static const char *type_text(lacis_dtype dtype)
{
    switch (dtype) {
    case LACIS_I32:
        return "int";
    case LACIS_F32:
        return "float";
    case LACIS_F64:
        return "double";
    case LACIS_C64:
        return "lacis_c64";
    case LACIS_C128:
        return "lacis_c128";
    default:
        return "lacis_i64";
    }
}

static void emit(struct writer *to, const lacis_node *node);

/* --------------------------------------------------------------------------------------------- leaves */

static void emit_real(struct writer *to, lacis_dtype dtype, double real)
{
    char text[64];
    if (isnan(real)) {
        snprintf(text, sizeof text, "((%s)LACIS_NAN)", type_text(dtype));
    } else if (isinf(real)) {
        snprintf(text, sizeof text, "((%s)%sLACIS_INFINITY)", type_text(dtype), real < 0 ? "-" : "");
    } else {
        snprintf(text, sizeof text, "(%a%s)", real, dtype == LACIS_F32 ? "f" : ""); /* every bit of it */
    }
    put(to, text);
}

static void emit_constant(struct writer *to, const lacis_node *node)
{
    if (node->dtype == LACIS_I64) {
        if (node->integer == INT64_MIN) {
            put(to, "(-9223372036854775807ll - 1)");
        } else {
            put_number(to, node->integer < 0 ? "(" : "", node->integer, node->integer < 0 ? "ll)" : "ll");
        }
        return;
    }
    if (node->dtype != LACIS_C128) {
        emit_real(to, node->dtype, node->dtype == LACIS_F32 ? (double)(float)node->real : node->real);
        return;
    }
    put(to, "lacis_complex(");
    emit_real(to, LACIS_F64, node->real);
    put(to, ", ");
    emit_real(to, LACIS_F64, node->imag);
    put(to, ")");
}

static void emit_slot(struct writer *to, const lacis_node *node)
{
    lacis_dtype slot = to->expr->slot_dtype[node->slot];
    put_number(to,
               slot == LACIS_I32   ? "(lacis_i64)p"
               : slot == LACIS_C64 ? "lacis_load_c64(p"
                                   : "p",
               node->slot, slot == LACIS_C64 ? ")" : "");
}

/* ---------------------------------------------------------------------------- operators and functions */

/* How a node is written: infix between its kids, or a function of them. */
struct spelling {
    const char *plain, *checked; /* I64 that cannot fail (NULL: like those that can); that can */
    const char *real_f32, *real_f64, *complex;
};
#define SAME(op)                                                                                                     \
    {                                                                                                                \
        op, op, op, op, NULL                                                                                         \
    }
#define MATH(name)                                                                                                   \
    {                                                                                                                \
        NULL, NULL, name "f(", name "(", NULL                                                                        \
    }
static const struct spelling spellings[LACIS_NODE_OPS] = {
    [LACIS_NODE_EQ] = {"==", "==", "==", "==", "lacis_eq_c128("},
    [LACIS_NODE_NE] = {"!=", "!=", "!=", "!=", "lacis_ne_c128("},
    [LACIS_NODE_GT] = SAME(">"),
    [LACIS_NODE_GE] = SAME(">="),
    [LACIS_NODE_LT] = SAME("<"),
    [LACIS_NODE_LE] = SAME("<="),
    [LACIS_NODE_BITAND] = SAME("&"),
    [LACIS_NODE_BITOR] = SAME("|"),
    [LACIS_NODE_SHL] = SAME("lacis_shl("),
    [LACIS_NODE_SHR] = SAME("lacis_shr("),
    [LACIS_NODE_ADD] = {"+", "lacis_add(", "+", "+", "lacis_add_c128("},
    [LACIS_NODE_SUB] = {"-", "lacis_sub(", "-", "-", "lacis_sub_c128("},
    [LACIS_NODE_MUL] = {"*", "lacis_mul(", "*", "*", "lacis_mul_c128("},
    [LACIS_NODE_DIV] = {"/", "lacis_div(", "/", "/", "lacis_div_c128("},
    [LACIS_NODE_MOD] = {NULL, "lacis_mod(", "fmodf(", "fmod(", NULL},
    [LACIS_NODE_NEG] = {"-", "lacis_neg(", "-", "-", "lacis_neg_c128("},
    [LACIS_NODE_BITNOT] = SAME("~"),
    [LACIS_NODE_ABS] = {NULL, "lacis_abs(", "fabsf(", "fabs(", "lacis_abs_c128("},
    [LACIS_NODE_MIN] = {"lacis_min(", "lacis_min(", "lacis_min_f32(", "lacis_min_f64(", NULL},
    [LACIS_NODE_MAX] = {"lacis_max(", "lacis_max(", "lacis_max_f32(", "lacis_max_f64(", NULL},
    [LACIS_NODE_SIGN] = {"lacis_sign(", "lacis_sign(", "lacis_sign_f32(", "lacis_sign_f64(", NULL},
    [LACIS_NODE_SQRT] = MATH("sqrt"),
    [LACIS_NODE_EXP] = MATH("exp"),
    [LACIS_NODE_LN] = MATH("log"),
    [LACIS_NODE_LOG2] = MATH("log2"),
    [LACIS_NODE_LOG10] = MATH("log10"),
    [LACIS_NODE_POW] = MATH("pow"),
    [LACIS_NODE_FLOOR] = MATH("floor"),
    [LACIS_NODE_CEIL] = MATH("ceil"),
    [LACIS_NODE_ROUND] = MATH("round"),
    [LACIS_NODE_SIN] = MATH("sin"),
    [LACIS_NODE_COS] = MATH("cos"),
    [LACIS_NODE_TAN] = MATH("tan"),
    [LACIS_NODE_TANH] = MATH("tanh"),
    [LACIS_NODE_ATAN2] = MATH("atan2"),
    [LACIS_NODE_HYPOT] = MATH("hypot"),
    [LACIS_NODE_COMPLEX] = {NULL, NULL, NULL, "lacis_complex(", NULL},
    [LACIS_NODE_RE] = {NULL, NULL, NULL, NULL, "lacis_re("},
    [LACIS_NODE_IM] = {NULL, NULL, NULL, NULL, "lacis_im("},
    [LACIS_NODE_CONJ] = {NULL, NULL, NULL, NULL, "lacis_conj("},
    [LACIS_NODE_ARG] = {NULL, NULL, NULL, NULL, "lacis_arg("},
    [LACIS_NODE_TO_INT] = {NULL, NULL, "lacis_to_int((double)", "lacis_to_int(", NULL},
    [LACIS_NODE_TO_REAL] = {"(double)", "(double)", "(double)", "(double)", NULL},
};
#undef SAME
#undef MATH

/* Whether a function takes `bad`. */
static bool tells(const lacis_node *node, const char *spelled)
{
    static const char *const names[] = {"lacis_add(", "lacis_sub(", "lacis_mul(", "lacis_div(",
                                        "lacis_mod(", "lacis_neg(", "lacis_abs("};
    if (node->op == LACIS_NODE_TO_INT) return true;
    for (int i = 0; i < LACIS_COUNT(names); i++)
        if (strcmp(spelled, names[i]) == 0) return true;
    return false;
}

static void fail(struct writer *to, const lacis_node *node)
{
    if (to->status != LACIS_OK) return;
    to->status = lacis_run_fail_at(to->run, LACIS_UNSUPPORTED, node->offset, NULL,
                                   "this expression cannot be written for a GPU");
}

/* A chain of more than two (MIN, MAX) nests to the left, as strips do it. */
static void emit_call(struct writer *to, const lacis_node *node, const char *spelled)
{
    const char *end = tells(node, spelled) ? ", bad)" : ")";
    put(to, spelled);
    for (int i = 2; i < node->count; i++)
        put(to, spelled);
    emit(to, node->kid[0]);
    for (int i = 1; i < node->count; i++) {
        put(to, ", ");
        emit(to, node->kid[i]);
        put(to, end);
    }
    if (node->count == 1) put(to, end);
}

static bool comparison(lacis_node_op op)
{
    return op >= LACIS_NODE_EQ && op <= LACIS_NODE_LE;
}

static void emit_plain(struct writer *to, const lacis_node *node)
{
    const struct spelling *spelling = &spellings[node->op];
    lacis_dtype dtype = node->kid[0]->dtype;
    const char *spelled = dtype == LACIS_F32    ? spelling->real_f32
                          : dtype == LACIS_F64  ? spelling->real_f64
                          : dtype == LACIS_C128 ? spelling->complex
                          : node->fails         ? spelling->checked
                                                : spelling->plain;
    if (spelled == NULL && dtype == LACIS_I64) spelled = spelling->checked;
    if (spelled == NULL) {
        fail(to, node);
    } else if (strchr(spelled, '(') != NULL && spelled[0] != '(') {
        emit_call(to, node, spelled);
    } else if (node->count == 1) {
        put(to, "(");
        put(to, spelled);
        put(to, "(");
        emit(to, node->kid[0]);
        put(to, "))");
    } else {
        put(to, comparison(node->op) ? "(lacis_i64)(" : "(");
        emit(to, node->kid[0]);
        put(to, " ");
        put(to, spelled);
        put(to, " ");
        emit(to, node->kid[1]);
        put(to, ")");
    }
}

/* ------------------------------------------------------------------------------ conditions and choices */

static void emit_logic(struct writer *to, const lacis_node *node)
{
    put(to, "(lacis_i64)(");
    for (int i = 0; i < node->count; i++) {
        if (i > 0) put(to, node->op == LACIS_NODE_AND ? " && " : " || ");
        emit(to, node->kid[i]);
        put(to, " != 0");
    }
    put(to, ")");
}

/* "(t3 = x, ": x is evaluated once. The caller closes the parenthesis. */
static int begin_temporary(struct writer *to, const lacis_node *x)
{
    int number = to->temporaries++;
    put(to->head, "    ");
    put(to->head, type_text(x->dtype));
    put_number(to->head, " t", number, ";\n");
    put_number(to, "(t", number, " = ");
    emit(to, x);
    put(to, ", ");
    return number;
}

static void emit_between(struct writer *to, const lacis_node *node)
{
    int x = begin_temporary(to, node->kid[0]);
    put_number(to, "(lacis_i64)((t", x, " >= ");
    emit(to, node->kid[1]);
    put_number(to, ") & (t", x, " <= ");
    emit(to, node->kid[2]);
    put(to, ")))");
}

/* t3 == y */
static void emit_equal(struct writer *to, int x, const lacis_node *y)
{
    bool complex = y->dtype == LACIS_C128;
    put_number(to, complex ? "lacis_eq_c128(t" : "(t", x, complex ? ", " : " == ");
    emit(to, y);
    put(to, ")");
}

static void emit_in(struct writer *to, const lacis_node *node)
{
    int x = begin_temporary(to, node->kid[0]);
    put(to, "(lacis_i64)(");
    for (int i = 1; i < node->count; i++) {
        if (i > 1) put(to, " | ");
        emit_equal(to, x, node->kid[i]);
    }
    put(to, "))");
}

static void emit_case(struct writer *to, const lacis_node *node)
{
    bool compare = node->op == LACIS_NODE_SWITCH;
    int first = compare ? 1 : 0, x = compare ? begin_temporary(to, node->kid[0]) : 0, branches = 0;
    for (int i = first; i < node->count - 1; i += 2, branches++) {
        put(to, "(");
        if (compare) emit_equal(to, x, node->kid[i]);
        if (!compare) emit(to, node->kid[i]);
        put(to, compare ? " ? " : " != 0 ? ");
        emit(to, node->kid[i + 1]);
        put(to, " : ");
    }
    emit(to, node->kid[node->count - 1]);
    for (int i = 0; i < branches + first; i++)
        put(to, ")");
}

static void emit(struct writer *to, const lacis_node *node)
{
    if (to->status != LACIS_OK) return;
    switch (node->op) {
    case LACIS_NODE_CONST:
        emit_constant(to, node);
        break;
    case LACIS_NODE_SLOT:
        emit_slot(to, node);
        break;
    case LACIS_NODE_NOT:
        put(to, "(lacis_i64)(");
        emit(to, node->kid[0]);
        put(to, " == 0)");
        break;
    case LACIS_NODE_OR:
    case LACIS_NODE_AND:
        emit_logic(to, node);
        break;
    case LACIS_NODE_BETWEEN:
        emit_between(to, node);
        break;
    case LACIS_NODE_IN:
        emit_in(to, node);
        break;
    case LACIS_NODE_CASE:
    case LACIS_NODE_SWITCH:
        emit_case(to, node);
        break;
    default:
        emit_plain(to, node);
        break;
    }
}

/* -------------------------------------------------------------------------------------- the function */

static void put_signature(struct writer *to, const char *name)
{
    put(to, "LACIS_DEVICE ");
    put(to, type_text(to->expr->root->dtype));
    put(to, " ");
    put(to, name);
    put(to, "(");
    for (int i = 0; i < to->expr->slots; i++) {
        put(to, type_text(to->expr->slot_dtype[i]));
        put_number(to, " p", i, ", ");
    }
    put(to, "int *bad)\n{\n    (void)bad;\n");
    for (int i = 0; i < to->expr->slots; i++)
        put_number(to, "    (void)p", i, ";\n");
}

lacis_status lacis_expr_emit(lacis_run *run, const lacis_expr *expr, const char *name, const char **out)
{
    struct writer head = {.run = run, .expr = expr}, body = {.run = run, .expr = expr, .head = &head};
    if (expr->raw->op == LACIS_NODE_NIL || expr->root == expr->raw)
        return lacis_run_fail(run, LACIS_MISUSE, "only typed expressions with a value can be written for a GPU");
    put_signature(&head, name);
    put(&body, "    return ");
    emit(&body, expr->root);
    put(&body, ";\n}\n");
    if (body.status == LACIS_OK) put_bytes(&head, body.text, body.length);
    *out = head.text;
    return body.status != LACIS_OK ? body.status : head.status;
}

extern const char lacis_text_functions_cuh[];

const char *lacis_expr_functions_text(void)
{
    return lacis_text_functions_cuh;
}
