/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON and AGG for NVRTC: the prefix that kernels/multiply/gpu.h asks for, from the typed trees, before the
 * kernels' own source. Labels that are counted are indices plus a number; lists of labels are not sent to the GPU.
 */
#include "multiply/written.h"

#include <inttypes.h>
#include <math.h>

bool lacis_written_needed(const lacis_product *product)
{
    return product->job.con_kind == LACIS_MUL_CON_STRIPS || product->job.agg == LACIS_MUL_FOLD;
}

#ifdef LACIS_GPU_WRITTEN

static bool con_written(const lacis_product *product)
{
    return product->job.con_kind == LACIS_MUL_CON_STRIPS && product->strips.form == LACIS_MUL_CON_ONE;
}

bool lacis_written_can(const lacis_product *product, char *reason, size_t size)
{
    const lacis_labels *labels[] = {&product->s, &product->c, &product->t};
    for (int i = 0; con_written(product) && i < LACIS_COUNT(labels); i++) {
        if (labels[i]->label == NULL || !lacis_expr_uses(product->spec.con, 2 + i)) continue;
        snprintf(reason, size, "CON uses %s, whose labels are listed and not counted",
                 i == 0   ? "s"
                 : i == 1 ? "c"
                          : "t");
        return false;
    }
    return lacis_gpu_compiles(reason, size);
}

static const char *type_text(lacis_mul_type type)
{
    static const char *const text[] = {[LACIS_MUL_I32] = "int",
                                       [LACIS_MUL_I64] = "long long",
                                       [LACIS_MUL_F32] = "float",
                                       [LACIS_MUL_F64] = "double",
                                       [LACIS_MUL_C128] = "lacis_c128"};
    return text[type];
}

static const char head[] = "#define LACIS_DEVICE static __device__ __forceinline__\n"
                           "#define lacis_high(a, b) __mul64hi(a, b)\n"
                           "#define LACIS_INFINITY __longlong_as_double(0x7ff0000000000000ll)\n"
                           "#define LACIS_NAN __longlong_as_double(0x7ff8000000000000ll)\n";

/* An expression of type `from` as `to`. */
static const char *cast(lacis_run *run, const char *text, lacis_mul_type from, lacis_mul_type to)
{
    if (from == to) return text;
    if (to == LACIS_MUL_C128) return lacis_run_text(run, "lacis_complex((double)(%s), 0.0)", text);
    return lacis_run_text(run, "(%s)(%s)", type_text(to), text);
}

/* The type that CON, as it is emitted, gives. */
static lacis_mul_type con_type(const lacis_product *product)
{
    if (con_written(product)) return lacis_mul_type_of(lacis_expr_dtype(product->spec.con));
    if (product->job.con_kind == LACIS_MUL_CON_STRIPS) return lacis_mul_type_of(product->strips.form_type);
    return product->job.type;
}

/* CON that is built in, in the type that it is computed in. */
static char *built_in(lacis_run *run, const lacis_product *product)
{
    bool guarded =
        product->job.con_kind == LACIS_MUL_CON_STRIPS; /* a + b, a * b, watched for overflow or converted */
    lacis_mul_con form = guarded ? product->strips.form : product->job.con_kind;
    bool complex = con_type(product) == LACIS_MUL_C128;
    const char *type = type_text(con_type(product));
    bool watched = guarded && product->strips.form_type == LACIS_I64;
    const char *text = form == LACIS_MUL_CON_A                ? "a"
                       : form == LACIS_MUL_CON_B              ? "b"
                       : form == LACIS_MUL_CON_ADD && watched ? "lacis_add(a, b, bad)"
                       : form == LACIS_MUL_CON_MUL && watched ? "lacis_mul(a, b, bad)"
                       : form == LACIS_MUL_CON_ADD && complex ? "lacis_add_c128(a, b)"
                       : form == LACIS_MUL_CON_MUL && complex ? "lacis_mul_c128(a, b)"
                       : complex                              ? "lacis_complex(1.0, 0.0)"
                       : form == LACIS_MUL_CON_ADD            ? "a + b"
                       : form == LACIS_MUL_CON_MUL            ? "a * b"
                                                              : "1";
    return lacis_run_text(
        run,
        "LACIS_DEVICE %s lacis_con_of(%s a, %s b, long long s, long long c, long long t, int *bad)\n"
        "{ return %s; }\n",
        type, type, type, text);
}

static lacis_status con_text(lacis_run *run, const lacis_product *product, const char **out)
{
    if (con_written(product)) return lacis_expr_emit(run, product->spec.con, "lacis_con_of", out);
    *out = built_in(run, product);
    return *out == NULL ? LACIS_NOMEM : LACIS_OK;
}

/* An operand's value as CON, as it is emitted, takes it. */
static const char *argument(lacis_run *run, const lacis_product *product, const lacis_mul_gpu_job *job, bool b)
{
    const lacis_product_spec *spec = &product->spec;
    lacis_dtype slot = b ? lacis_slot_dtype(spec->b.dtype) : spec->a_slot;
    lacis_mul_type to = con_written(product) ? lacis_mul_type_of(slot) : con_type(product);
    return cast(run, b ? "b" : "a", b ? job->b.type : job->a.type, to);
}

static lacis_status wrapped_con(lacis_run *run, const lacis_product *product, const lacis_mul_gpu_job *job,
                                const char **out)
{
    const lacis_labels *s = &product->s, *c = &product->c, *t = &product->t;
    const char *a = argument(run, product, job, false), *b = argument(run, product, job, true);
    if (a == NULL || b == NULL) return LACIS_NOMEM;
    const char *call = lacis_run_text(
        run, "lacis_con_of(%s, %s, s + %" PRId64 "ll, c + %" PRId64 "ll, t + %" PRId64 "ll, bad)", a, b,
        s->label == NULL ? s->base : 0, c->label == NULL ? c->base : 0, t->label == NULL ? t->base : 0);
    const char *value = call == NULL ? NULL : cast(run, call, con_type(product), job->type);
    if (value == NULL) return LACIS_NOMEM;
    *out = lacis_run_text(
        run,
        "typedef %s lacis_t; typedef %s lacis_a; typedef %s lacis_b;\n"
        "LACIS_DEVICE lacis_t lacis_con(lacis_a a, lacis_b b, long long s, long long c, long long t, int *bad)\n"
        "{ return %s; }\n",
        type_text(job->type), type_text(job->a.type), type_text(job->b.type), value);
    return *out == NULL ? LACIS_NOMEM : LACIS_OK;
}

static char *real_text(lacis_run *run, double value)
{
    if (isinf(value)) return lacis_run_text(run, "%sLACIS_INFINITY", value < 0 ? "-" : "");
    return isnan(value) ? lacis_run_text(run, "LACIS_NAN") : lacis_run_text(run, "%a", value);
}

static char *identity_text(lacis_run *run, const lacis_product *product)
{
    const lacis_agg *fold = product->spec.fold;
    if (product->job.type == LACIS_MUL_C128) {
        char *re = real_text(run, fold->identity), *im = real_text(run, fold->identity_imag);
        return re == NULL || im == NULL ? NULL : lacis_run_text(run, "lacis_complex(%s, %s)", re, im);
    }
    if (!fold->identity_real && fold->identity_int == INT64_MIN)
        return lacis_run_text(run, "(-9223372036854775807ll - 1)");
    if (!fold->identity_real) return lacis_run_text(run, "%" PRId64 "ll", fold->identity_int);
    return real_text(run, fold->identity);
}

static lacis_status fold_text(lacis_run *run, const lacis_product *product, const char **body, const char **wrapped)
{
    *body = *wrapped = "";
    if (product->job.agg != LACIS_MUL_FOLD) return LACIS_OK;
    char *identity = identity_text(run, product);
    LACIS_TRY(lacis_expr_emit(run, product->spec.fold->fold, "lacis_fold_of", body));
    lacis_mul_type type = lacis_mul_type_of(lacis_expr_dtype(product->spec.fold->fold));
    const char *value = cast(run, "lacis_fold_of(x, y, bad)", type, product->job.type);
    if (identity == NULL || value == NULL) return LACIS_NOMEM;
    *wrapped = lacis_run_text(run,
                              "LACIS_DEVICE lacis_t lacis_fold(lacis_t x, lacis_t y, int *bad)\n"
                              "{ return %s; }\n"
                              "#define LACIS_IDENTITY ((lacis_t)(%s))\n",
                              value, identity);
    return *wrapped == NULL ? LACIS_NOMEM : LACIS_OK;
}

lacis_status lacis_written_compile(lacis_run *run, lacis_gpu *gpu, const lacis_product *product,
                                   const lacis_mul_gpu_job *job, lacis_mul_gpu_written *out)
{
    enum { OPTIONS = 16, OPTION_TEXT = 512 };
    const char *option[OPTIONS], *text[7] = {head, lacis_expr_functions_text()};
    char *option_text;
    LACIS_TRY(lacis_run_scratch(run, OPTION_TEXT, &option_text));
    LACIS_TRY(con_text(run, product, &text[2]));
    LACIS_TRY(fold_text(run, product, &text[3], &text[5]));
    LACIS_TRY(wrapped_con(run, product, job, &text[4]));
    text[6] = lacis_mul_gpu_source();
    int options = lacis_mul_gpu_options(job, option, OPTIONS - 1, option_text, OPTION_TEXT);
    option[options++] = "-default-device";
    lacis_gpu_source source = {text, 7, option, options, lacis_mul_gpu_kernel_name, LACIS_MUL_GPU_WRITTEN_KERNELS};
    return lacis_gpu_compile(run, gpu, &source, out->kernel);
}

#else

bool lacis_written_can(const lacis_product *product, char *reason, size_t size)
{
    (void)product;
    snprintf(reason, size, "this build has no GPU kernels for written CON and AGG");
    return false;
}

lacis_status lacis_written_compile(lacis_run *run, lacis_gpu *gpu, const lacis_product *product,
                                   const lacis_mul_gpu_job *job, lacis_mul_gpu_written *out)
{
    (void)gpu, (void)product, (void)job, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels for written CON and AGG");
}

#endif
