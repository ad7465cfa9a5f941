/* SPDX-License-Identifier: Apache-2.0
 *
 * Expressions emitted for a GPU, compiled as C here, against programs on strips: random trees, a value and a failure
 * for each element. Without a C compiler at run time that part is skipped.
 */
#include "unit/expr_complex.h"

#include "expr/program.h"

#include <dlfcn.h>
#include <unistd.h>

enum { EXPRESSIONS = 480, ELEMENTS = 64 };

/* An argument of any type, and one function for each expression that takes them apart. */
union word {
    int32_t i32;
    int64_t i64;
    float f32;
    double f64;
    struct {
        float re, im;
    } c64;
    struct {
        double re, im;
    } c128;
};
typedef int (*emitted_fn)(const union word *slot, union word *out);

static const char head[] = "#include <math.h>\n"
                           "#define LACIS_DEVICE static\n"
                           "#define lacis_high(a, b) ((lacis_i64)((__int128)(a) * (b) >> 64))\n"
                           "#define LACIS_INFINITY INFINITY\n"
                           "#define LACIS_NAN NAN\n";

static const char *field(lacis_dtype dtype)
{
    static const char *const names[] = {[LACIS_I32] = "i32", [LACIS_I64] = "i64", [LACIS_F32] = "f32",
                                        [LACIS_F64] = "f64", [LACIS_C64] = "c64", [LACIS_C128] = "c128"};
    return names[dtype];
}

/* int call7(const union word *s, union word *out) { ... out->f64 = f7(s[0].i32, ..., &bad); return bad; } */
static void write_caller(FILE *file, const lacis_expr *expr, const lacis_dtype *dtypes, int number)
{
    fprintf(file, "int call%d(const union word *s, union word *out)\n{ int bad = 0; out->%s = f%d(", number,
            field(lacis_expr_dtype(expr)), number);
    for (int i = 0; i < SLOTS; i++)
        fprintf(file, "s[%d].%s, ", i, field(dtypes[i]));
    fprintf(file, "&bad); return bad; }\n");
}

static void *compile_file(const char *path)
{
    char command[400], library[200];
    snprintf(library, sizeof library, "%s.so", path);
    snprintf(command, sizeof command,
             "cc -std=gnu17 -O1 -w -ffp-contract=off -fno-math-errno -shared -fPIC -x c %s -o %s -lm", path, library);
    if (system("command -v cc >/dev/null 2>&1") != 0) return NULL;
    assert_int_equal(system(command), 0);
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (loaded == NULL) fail_msg("%s", dlerror());
    unlink(library);
    return loaded;
}

static union word draw(lacis_dtype dtype, bool wild)
{
    union word word = {0};
    int64_t small = below(41) - 20, any = random_integer();
    double quarter = (double)(below(8001) - 4000) * 0.0078125 + 0.001;
    double far = (double[]){INFINITY, -INFINITY, NAN, 1e300, -1e30, 1e-30}[below(6)];
    bool odd = wild && below(4) == 0;
    if (dtype == LACIS_I32) word.i32 = (int32_t)(odd ? any : small);
    if (dtype == LACIS_I64) word.i64 = odd ? any : small;
    if (dtype == LACIS_F32) word.f32 = (float)(odd ? far : quarter);
    if (dtype == LACIS_F64) word.f64 = odd ? far : quarter;
    if (dtype == LACIS_C64) word.c64.re = (float)quarter, word.c64.im = odd ? (float)far : 0.5f;
    if (dtype == LACIS_C128) word.c128.re = odd ? far : quarter, word.c128.im = (double)small;
    return word;
}

/* NaN is NaN: which, hardware does not say alike. */
static bool same_bits(double x, double y)
{
    return memcmp(&x, &y, sizeof x) == 0 || (isnan(x) && isnan(y));
}

static bool agree(union word x, union word y, lacis_dtype dtype)
{
    if (dtype == LACIS_I64) return x.i64 == y.i64;
    if (dtype == LACIS_F32) return memcmp(&x.f32, &y.f32, sizeof x.f32) == 0 || (isnan(x.f32) && isnan(y.f32));
    bool first = same_bits(x.f64, y.f64);
    if (dtype != LACIS_C128) return first;
    return first && same_bits(x.c128.im, y.c128.im);
}

static void check_one(const lacis_expr *expr, const lacis_program *program, void *workspace,
                      const lacis_dtype *dtypes, emitted_fn function, bool wild)
{
    union word slot[SLOTS], strips = {0}, emitted = {0};
    lacis_strip strip[SLOTS];
    for (int i = 0; i < SLOTS; i++) {
        slot[i] = draw(dtypes[i], wild);
        strip[i] = (lacis_strip){&slot[i], true};
    }
    bool good = lacis_program_run(program, 1, strip, workspace, &strips);
    bool bad = function(slot, &emitted) != 0;
    if (good == bad)
        fail_msg("%s: %s on strips, %s as emitted", lacis_expr_text(expr), good ? "good" : "bad",
                 bad ? "bad" : "good");
    if (good && !agree(strips, emitted, lacis_expr_dtype(expr)))
        fail_msg("%s: %lld or %.17g on strips, %lld or %.17g as emitted", lacis_expr_text(expr),
                 (long long)strips.i64, strips.f64, (long long)emitted.i64, emitted.f64);
}

enum { COMPLEX = MODES, ALL_MODES }; /* beside the modes */

static const lacis_dtype *types_of(int mode)
{
    return mode == COMPLEX ? complex_types : slot_types[mode];
}

static lacis_expr *random_expression(int number)
{
    if (number == COMPLEX) {
        at = text;
        write_tree(below(4) == 0 ? grow_part(1 + below(4)) : grow_complex(1 + below(4)));
        return typed(slot_names, complex_types, text);
    }
    enum mode mode = (enum mode)number;
    bool truths = mode == FLOATS && below(3) == 0;
    const struct tree *tree = truths ? grow_truth(mode, 1) : grow(mode, 1 + below(4));
    at = text;
    write_tree(tree);
    return typed(slot_names, slot_types[mode], text);
}

static void check_all(lacis_expr *const *expr, void *loaded)
{
    for (int k = 0; k < EXPRESSIONS; k++) {
        char name[20];
        lacis_program *program;
        void *workspace;
        emitted_fn function;
        snprintf(name, sizeof name, "call%d", k);
        void *found = dlsym(loaded, name);
        memcpy(&function, &found, sizeof function);
        assert_non_null(found);
        assert_int_equal(lacis_program_new(&run, expr[k], &program), LACIS_OK);
        assert_int_equal(lacis_run_scratch(&run, lacis_program_workspace(program), &workspace), LACIS_OK);
        for (int i = 0; i < ELEMENTS; i++)
            check_one(expr[k], program, workspace, types_of(k % ALL_MODES), function, i % 2 == 1);
        lacis_program_free(program);
    }
}

static void emitted_against_strips(void **state)
{
    (void)state;
    static lacis_expr *expr[EXPRESSIONS];
    char path[] = "/tmp/lacis-emit-XXXXXX";
    int handle = mkstemp(path);
    assert_true(handle >= 0);
    FILE *file = fdopen(handle, "w");
    random_state = 1234567;
    fprintf(file,
            "%s%sunion word { int i32; lacis_i64 i64; float f32; double f64; lacis_c64 c64; lacis_c128 c128; };\n",
            head, lacis_expr_functions_text());
    for (int k = 0; k < EXPRESSIONS; k++) {
        char name[20];
        const char *emitted;
        expr[k] = random_expression(k % ALL_MODES);
        snprintf(name, sizeof name, "f%d", k);
        if (lacis_expr_emit(&run, expr[k], name, &emitted) != LACIS_OK) fail_msg("%s: %s", text, host.error.message);
        fputs(emitted, file);
        write_caller(file, expr[k], types_of(k % ALL_MODES), k);
    }
    assert_int_equal(fclose(file), 0);
    void *loaded = compile_file(path);
    unlink(path);
    if (loaded == NULL) {
        print_message("skipped: there is no C compiler here\n");
        skip();
    }
    check_all(expr, loaded);
    dlclose(loaded);
}

/* Names and literals of the user do not get through. */
static void nothing_of_the_text(void **state)
{
    (void)state;
    const lacis_dtype types[] = {LACIS_F64, LACIS_I64};
    const char *emitted;
    lacis_expr *expr = typed("weird_name,other", types, "weird_name * 0.1 + other");
    assert_int_equal(lacis_expr_emit(&run, expr, "f", &emitted), LACIS_OK);
    assert_null(strstr(emitted, "weird"));
    assert_null(strstr(emitted, "0.1"));
    assert_non_null(strstr(emitted, "LACIS_DEVICE double f(double p0, lacis_i64 p1, int *bad)"));
    lacis_expr *nil = parse("a", "nil");
    assert_int_equal(lacis_expr_emit(&run, nil, "f", &emitted), LACIS_MISUSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(emitted_against_strips, open_run, close_run),
        cmocka_unit_test_setup_teardown(nothing_of_the_text, open_run, close_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
