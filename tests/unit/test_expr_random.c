/* SPDX-License-Identifier: Apache-2.0
 *
 * Random expression trees: what programs give on strips against a naive recursive interpreter that shares nothing
 * with engine/expr but the text between them; and bounds, which must hold whatever the values.
 */
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

/* ------------------------------------------------------------------------------- naive interpretation */

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

/* ------------------------------------------------------------------------------------------- strips */

union values {
    int32_t i32[LACIS_STRIP];
    int64_t i64[LACIS_STRIP];
    float f32[LACIS_STRIP];
    double f64[LACIS_STRIP];
};
static union values slot_values[SLOTS], result;

static void set(lacis_dtype dtype, int slot, int i, int64_t integer_value, double real_value)
{
    union values *values = &slot_values[slot];
    if (dtype == LACIS_I32) values->i32[i] = (int32_t)integer_value;
    if (dtype == LACIS_I64) values->i64[i] = integer_value;
    if (dtype == LACIS_F32) values->f32[i] = (float)real_value;
    if (dtype == LACIS_F64) values->f64[i] = real_value;
}

static struct value get(lacis_dtype dtype, int slot, int i)
{
    const union values *values = &slot_values[slot];
    if (dtype == LACIS_I32) return (struct value){.i = values->i32[i]};
    if (dtype == LACIS_I64) return (struct value){.i = values->i64[i]};
    if (dtype == LACIS_F32) return real((double)values->f32[i], true);
    return real(values->f64[i], false);
}

/* Mostly small values; now and then, with `wild`, any bits at all. */
static void draw(const lacis_dtype *dtypes, bool wild)
{
    for (int k = 0; k < SLOTS * LACIS_STRIP; k++) {
        int64_t small = below(41) - 20, any = random_integer();
        double quarter = (double)(below(8001) - 4000) * 0.0078125 + 0.001;
        bool odd = wild && below(4) == 0;
        double far = (double[]){INFINITY, -INFINITY, NAN, 1e300, -1e30, 1e-30}[below(6)];
        set(dtypes[k % SLOTS], k % SLOTS, k / SLOTS, odd ? any : small, odd ? far : quarter);
    }
}

static bool same(struct value expected, lacis_dtype dtype, int i)
{
    if (!expected.real) return dtype == LACIS_I64 && result.i64[i] == expected.i;
    double got = dtype == LACIS_F32 ? (double)result.f32[i] : result.f64[i];
    return dtype != LACIS_I64 && (got == expected.d || (isnan(got) && isnan(expected.d)));
}

static struct inputs inputs_at(const lacis_dtype *dtypes, const bool *one, int i)
{
    struct inputs inputs;
    for (int s = 0; s < SLOTS; s++) {
        inputs.slot[s] = get(dtypes[s], s, one[s] ? 0 : i);
    }
    return inputs;
}

/* One strip. A tree that fails somewhere by its letter may still be saved by its canonical form (an intermediate
 * result that overflows and is not needed), so only the elements that do not fail must agree. */
static void check_strip(const struct tree *tree, const lacis_expr *expr, const lacis_program *program, int n,
                        const bool *one, void *workspace, const lacis_dtype *dtypes)
{
    lacis_strip slots[SLOTS];
    int failing = 0;
    for (int s = 0; s < SLOTS; s++) {
        slots[s] = (lacis_strip){&slot_values[s], one[s]};
    }
    bool good = lacis_program_run(program, n, slots, workspace, &result);
    for (int i = 0; i < n; i++) {
        struct inputs inputs = inputs_at(dtypes, one, i);
        struct value expected = eval(tree, &inputs);
        failing += expected.failed;
        if (expected.failed || !good || same(expected, lacis_expr_dtype(expr), i)) continue;
        fail_msg("%s (%s) of %g %g %g %g: expected %lld or %.17g, got %lld or %.17g", text, lacis_expr_text(expr),
                 number(inputs.slot[0]), number(inputs.slot[1]), number(inputs.slot[2]), number(inputs.slot[3]),
                 (long long)expected.i, expected.d, (long long)result.i64[i], result.f64[i]);
    }
    if (!good && failing == 0) fail_msg("%s (%s) was refused", text, lacis_expr_text(expr));
}

static const struct tree *random_expression(enum mode mode, lacis_expr **expr)
{
    lacis_run_clear(&run);
    int depth = 1 + below(4);
    bool truths = mode == FLOATS && below(3) == 0;
    const struct tree *tree = truths ? grow_truth(mode, 1) : grow(mode, depth);
    at = text;
    write_tree(tree);
    *expr = typed(slot_names, slot_types[mode], text);
    return tree;
}

/* The canonical text is in the language, and is its own canonical text (of reals perhaps not quite: literals that
 * were converted to meet one operand may meet another as they are). */
static void check_text(lacis_expr *expr, enum mode mode)
{
    char canonical[sizeof text];
    snprintf(canonical, sizeof canonical, "%s", lacis_expr_text(expr));
    lacis_expr *again = typed(slot_names, slot_types[mode], canonical);
    if (strcmp(lacis_expr_text(again), canonical) != 0 && mode == INTEGERS) {
        const char *x = canonical, *y = lacis_expr_text(again);
        while (*x == *y)
            x++, y++;
        fail_msg("%s BECAME %s", x - 40 > canonical ? x - 40 : canonical, y);
    }
}

static void strips_against_interpreter(void **state)
{
    (void)state;
    random_state = 88172645463325252u;
    for (int k = 0; k < 2400; k++) {
        enum mode mode = (enum mode)(k % MODES);
        lacis_expr *expr;
        lacis_program *program;
        const struct tree *tree = random_expression(mode, &expr);
        assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
        void *workspace = malloc(lacis_program_workspace(program) + 1);
        for (int strip = 0; strip < 6; strip++) {
            bool one[SLOTS];
            draw(slot_types[mode], strip % 2 != 0);
            for (int s = 0; s < SLOTS; s++) {
                one[s] = below(3) == 0;
            }
            int n = (const int[]){37, 1, 16, 511, 1, 512}[strip];
            check_strip(tree, expr, program, k % 10 == 0 || n < 100 ? n : 64, one, workspace, slot_types[mode]);
        }
        free(workspace);
        lacis_program_free(program);
        check_text(expr, mode);
    }
}

/* ------------------------------------------------------------------------------------------- bounds */

static void draw_ranges(enum mode mode, double *lo, double *hi)
{
    for (int s = 0; s < SLOTS; s++) {
        double x = below(201) - 100, y = below(201) - 100;
        if (below(4) == 0) x *= 1e7;
        if (slot_types[mode][s] == LACIS_I64 && below(6) == 0) y *= 1e16;
        if (lacis_dtype_size(slot_types[mode][s]) == 8 && mode == MIXED) y += 0.5;
        lo[s] = x < y ? x : y;
        hi[s] = x < y ? y : x;
    }
}

/* Ends more often than what lies between. */
static void draw_within(enum mode mode, const double *lo, const double *hi)
{
    for (int k = 0; k < SLOTS * LACIS_STRIP; k++) {
        int s = k % SLOTS;
        double part = below(3) == 0 ? 0 : below(2) == 0 ? 1 : below(1001) * 0.001;
        double value = lo[s] + (hi[s] - lo[s]) * part;
        if (value < lo[s]) value = lo[s];
        if (value > hi[s]) value = hi[s];
        int64_t whole = (int64_t)(value > lo[s] ? floor(value) : ceil(value));
        if ((double)whole < lo[s]) whole++;
        set(slot_types[mode][s], s, k / SLOTS, whole, value);
    }
}

static void check_within(const lacis_expr *expr, int i, double lo, double hi)
{
    lacis_dtype dtype = lacis_expr_dtype(expr);
    bool inside = dtype == LACIS_F64 ? result.f64[i] >= lo && result.f64[i] <= hi
                  : dtype == LACIS_F32
                      ? (double)result.f32[i] >= lo && (double)result.f32[i] <= hi
                      : (__float128)result.i64[i] >= (__float128)lo && (__float128)result.i64[i] <= (__float128)hi;
    if (!inside)
        fail_msg("%s (%s): %lld or %.17g is not in %.17g .. %.17g", text, lacis_expr_text(expr),
                 (long long)result.i64[i], dtype == LACIS_F32 ? (double)result.f32[i] : result.f64[i], lo, hi);
}

static void bounds_hold(void **state)
{
    (void)state;
    int known = 0;
    random_state = 1234567890123457u;
    for (int k = 0; k < 3000; k++) {
        enum mode mode = (enum mode)(k % MODES);
        lacis_expr *expr;
        lacis_program *program;
        double lo[SLOTS], hi[SLOTS], out_lo, out_hi;
        const bool one[SLOTS] = {false};
        const lacis_strip slots[SLOTS] = {
            {&slot_values[0], 0}, {&slot_values[1], 0}, {&slot_values[2], 0}, {&slot_values[3], 0}};
        const struct tree *tree = random_expression(mode, &expr);
        draw_ranges(mode, lo, hi);
        if (!lacis_expr_bounds(expr, lo, hi, &out_lo, &out_hi)) continue;
        known++;
        draw_within(mode, lo, hi);
        assert_int_equal(lacis_program_new(&run, expr, &program), LACIS_OK);
        void *workspace = malloc(lacis_program_workspace(program) + 1);
        bool whole = lacis_program_run(program, 256, slots, workspace, &result);
        for (int i = 0; whole && i < 256; i++) {
            struct inputs inputs = inputs_at(slot_types[mode], one, i);
            if (!eval(tree, &inputs).failed) check_within(expr, i, out_lo, out_hi);
        }
        free(workspace);
        lacis_program_free(program);
    }
    assert_true(known > 1500);
}

/* How tight they are where that matters. */
static void bounds_are_tight(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double lo, hi;
        int known;
    } cases[] = {
        {"a + b", 12, 30, 1},     {"a - b", -18, 0, 1},
        {"a * b", 20, 200, 1},    {"-a", -10, -2, 1},
        {"min(a, b)", 2, 10, 1},  {"max(a, b)", 10, 20, 1},
        {"a / b", 0, 1, 1},       {"b / a", 1, 10, 1},
        {"a % b", 0, 10, 1},      {"a < b", 0, 1, 1},
        {"abs(a - b)", 0, 18, 1}, {"iif(a < b, a, 100)", 2, 100, 1},
        {"a & 7", 0, 7, 1},       {"a | 1", 2, 15, 1},
        {"a << 2", 8, 40, 1},     {"a >> 1", 1, 5, 1},
        {"sqrt(c)", 0, 2, 1},     {"c * 0.5", 0, 2, 1},
        {"1 / c", 0, 0, 0},       {"c - inf", -INFINITY, -INFINITY, 1},
        {"ln(c - 1)", 0, 0, 0},   {"nil", 1, 1, 1},
        {"7", 7, 7, 1},           {"CAST(c AS int)", 0, 4, 1},
        {"sign(a)", 1, 1, 1},     {"floor(c + 0.5)", 0, 4, 1},
        {"min(c, 3)", 0, 3, 1},   {"c % 3", 0, 3, 1},
    };
    const lacis_dtype dtypes[] = {LACIS_I64, LACIS_I32, LACIS_F64};
    const double lo[] = {2, 10, 0}, hi[] = {10, 20, 4};
    for (int i = 0; i < LACIS_COUNT(cases); i++) {
        double out_lo = 0, out_hi = 0;
        bool known = lacis_expr_bounds(typed("a,b,c", dtypes, cases[i].text), lo, hi, &out_lo, &out_hi);
        bool good =
            known == cases[i].known && (!known || (fabs(out_lo - cases[i].lo) < 1e-12 || out_lo == cases[i].lo));
        good = good && (!known || fabs(out_hi - cases[i].hi) < 1e-12 || out_hi == cases[i].hi);
        if (!good) fail_msg("%s: %d, %.17g .. %.17g", cases[i].text, known, out_lo, out_hi);
    }
    double x, y;
    assert_false(lacis_expr_bounds(parse("a", "a"), lo, hi, &x, &y)); /* not typed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(strips_against_interpreter, open_run, close_run),
        cmocka_unit_test_setup_teardown(bounds_hold, open_run, close_run),
        cmocka_unit_test_setup_teardown(bounds_are_tight, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
