/* SPDX-License-Identifier: Apache-2.0
 *
 * Any text as rules over free names with offsets, given to an operator that asks all there is to ask of them: slots,
 * types, linear forms, exactness, strips and the text for a GPU. What a rule is printed as must be read as the same.
 * The first byte picks the slots' types.
 */
#include "fuzz.h"

#include "lacis_extend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const fuzz_words[] = {"u",
                                  "v",
                                  "w",
                                  "t",
                                  "\"my field\"",
                                  "\"exp\"",
                                  "[1]",
                                  "[-1,0]",
                                  "[0,-1]",
                                  "[0,0,1]",
                                  "[+4,-4,4]",
                                  "[",
                                  "]",
                                  "[101]",
                                  " = ",
                                  ", v = ",
                                  ",",
                                  " + ",
                                  " - ",
                                  " * ",
                                  " / ",
                                  "/4",
                                  "1/4",
                                  "0.25*",
                                  "(u[-1]+u[1])",
                                  "min(",
                                  "sqrt(",
                                  "exp(",
                                  "floor(",
                                  "complex(",
                                  "CASE WHEN ",
                                  " THEN ",
                                  " ELSE ",
                                  " END",
                                  " AND ",
                                  " IN (1, 2)",
                                  "CAST(u AS int)",
                                  " LIKE ",
                                  " EDGE left fixed 1",
                                  " EDGE OF v robin 1 2 3",
                                  " EDGE periodic",
                                  " UNTIL max < 1e-3 EVERY 5",
                                  " EVERY ",
                                  "(",
                                  ")",
                                  "-",
                                  "1e308",
                                  "NAN",
                                  ":k",
                                  NULL};

enum { ELEMENTS = 37, TEXT = 16384 };
static int types;          /* which the slots have */
static char printed[TEXT]; /* the first rule, as it was before it had types; "": there was none */

static lacis_dtype type_of(int slot)
{
    static const lacis_dtype mixed[] = {LACIS_F32, LACIS_I64, LACIS_F64, LACIS_I32, LACIS_C64};
    return types % 4 == 0 ? LACIS_F32 : types % 4 == 1 ? LACIS_F64 : mixed[(slot + types / 4) % (types % 4 + 2)];
}

static void check_slots(const lacis_expr *expr)
{
    const lacis_expr_slot *slot;
    int count = lacis_expr_slots(expr, &slot);
    FUZZ_CHECK(count >= 0 && count <= LACIS_EXPR_SLOTS);
    for (int i = 0; i < count; i++) {
        FUZZ_CHECK(slot[i].name != NULL && slot[i].offsets >= 0 && slot[i].offsets <= 3 && slot[i].place >= 0);
        for (int k = 0; k < 3; k++) {
            FUZZ_CHECK(slot[i].offset[k] >= -LACIS_EXPR_OFFSET && slot[i].offset[k] <= LACIS_EXPR_OFFSET);
            FUZZ_CHECK(k < slot[i].offsets || slot[i].offset[k] == 0);
        }
    }
}

/* Strips that begin anywhere, with few elements. */
static lacis_status run_strips(lacis_run *run, const lacis_expr *expr, int slots)
{
    static double values[ELEMENTS * 4], out[ELEMENTS * 2];
    lacis_program *program;
    lacis_strip *strip;
    void *workspace;
    for (int i = 0; i < LACIS_COUNT(values); i++)
        values[i] = types % 4 == 1 ? i - 60.5 : 0;
    LACIS_TRY(lacis_run_scratch(run, ((uint64_t)slots + 1) * sizeof *strip, &strip));
    for (int i = 0; i < slots; i++)
        strip[i] = (lacis_strip){(const char *)values + (size_t)(i % 7) * lacis_dtype_size(type_of(i)), i % 5 == 4};
    LACIS_TRY(lacis_program_new(run, expr, &program));
    lacis_status status = lacis_run_scratch(run, lacis_program_workspace(program) + 1, &workspace);
    if (status == LACIS_OK) (void)lacis_program_run(program, ELEMENTS, strip, workspace, out);
    lacis_program_free(program);
    return status;
}

static lacis_status ask(lacis_run *run, lacis_expr *expr)
{
    const lacis_expr_slot *slot;
    int64_t place = 0;
    int slots = lacis_expr_slots(expr, &slot);
    lacis_dtype *dtype;
    double constant, *weight;
    const char *emitted;
    LACIS_TRY(lacis_run_scratch(run, ((uint64_t)slots + 1) * sizeof *dtype, &dtype));
    LACIS_TRY(lacis_run_scratch(run, ((uint64_t)slots + 1) * sizeof *weight, &weight));
    FUZZ_CHECK(lacis_expr_pitfall(run, expr, &place) == NULL || place > 0);
    for (int i = 0; i < slots; i++)
        dtype[i] = type_of(i);
    LACIS_TRY(lacis_expr_type(run, expr, dtype, slots));
    bool linear = lacis_expr_affine(expr, &constant, weight);
    for (int i = 0; i < slots && linear; i++)
        FUZZ_CHECK(isfinite(constant) && isfinite(weight[i]) && (weight[i] == 0 || lacis_expr_uses(expr, i)));
    if (linear) FUZZ_CHECK(lacis_expr_exact(expr));
    LACIS_TRY(lacis_expr_emit(run, expr, "rule", &emitted));
    FUZZ_CHECK(strstr(emitted, "LACIS_DEVICE ") == emitted);
    return run_strips(run, expr, slots);
}

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    for (int i = 0; i < call->arg_count; i++) {
        lacis_item *item = call->args[i].item;
        if (call->args[i].param != 0) continue;
        check_slots(item[2].expr);
        const char *text = lacis_expr_text(item[2].expr);
        if (i == 0 && strlen(text) < TEXT) strcpy(printed, text);
        LACIS_TRY(ask(run, item[2].expr));
    }
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "all was asked");
}

static lacis_status never(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "nothing runs here");
}

static lacis_status none(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    (void)call, (void)begin, (void)end, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "nothing runs here");
}

static const lacis_param params[] = {
    {.keyword = "STEP", .form = "[%n =] %f ,...", .slots = "t", .required = true, .help = "rules"},
    {.keyword = "UNTIL", .form = "max|l2 < %r [EVERY %i]", .help = ""},
    {.keyword = "EDGE",
     .form = "[OF %n] [left|right] {fixed [%v]|robin %r %r %r|periodic}",
     .repeated = true,
     .help = ""},
};
static const lacis_variant variant = {
    .name = "none", .device = LACIS_CPU, .summary = "never", .cost = never, .run = none};
static const lacis_variant *const variants[] = {&variant};
static const char *const examples[] = {"RULES STEP u", NULL};
static const lacis_op op = {.verb = "RULES",
                            .summary = "rules",
                            .help = "Asks all of them.",
                            .examples = examples,
                            .params = params,
                            .param_count = LACIS_COUNT(params),
                            .bind = bind,
                            .variants = variants,
                            .variant_count = 1};

static lacis_engine *engine;

static void prepare(const char *rules, size_t length)
{
    static const char verb[] = "RULES STEP ";
    char *text = malloc(sizeof verb + length);
    FUZZ_CHECK(text != NULL);
    memcpy(text, verb, sizeof verb - 1);
    memcpy(text + sizeof verb - 1, rules, length);
    text[sizeof verb - 1 + length] = '\0';
    lacis_statement *statement = NULL;
    printed[0] = '\0';
    lacis_status status = lacis_prepare(engine, text, NULL, &statement);
    fuzz_check_error(engine, status, strlen(text));
    if (status == LACIS_OK && statement != NULL) fuzz_drain(engine, statement);
    free(text);
}

void fuzz_one(const uint8_t *data, size_t size)
{
    if (size == 0 || size > 4096) return;
    if (engine == NULL) {
        engine = fuzz_open();
        FUZZ_CHECK(lacis_register_operator(engine, &op) == LACIS_OK);
    }
    types = data[0];
    prepare((const char *)data + 1, size - 1);
    if (printed[0] == '\0' || strlen(printed) > 4096) return;
    char first[TEXT + 4] = "r = "; /* or the text's own name = would be taken for it */
    strcat(first, printed);
    prepare(first, strlen(first));
    FUZZ_CHECK(strcmp(first + 4, printed) == 0);
}
