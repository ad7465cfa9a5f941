/* SPDX-License-Identifier: Apache-2.0
 *
 * Written CON, AGG and HAVING for NVRTC: the prefix that kernels/multiply/gpu.h asks for, from the typed trees,
 * before the kernels' own source. Labels that are counted are indices plus a number; listed ones are sent.
 */
#include "multiply/written.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

bool lacis_written_needed(const lacis_product *product)
{
    const lacis_mul_job *job = &product->job;
    bool complex = job->type == LACIS_MUL_C128 || job->a.type == LACIS_MUL_C128 || job->b.type == LACIS_MUL_C128;
    bool semiring = job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD ||
                    (complex && job->agg != LACIS_MUL_COUNT);
    return semiring || (job->having != NULL && !product->strips.within);
}

#ifdef LACIS_GPU_WRITTEN

static bool con_written(const lacis_product *product)
{
    return product->job.con_kind == LACIS_MUL_CON_STRIPS && product->strips.form == LACIS_MUL_CON_ONE;
}

bool lacis_written_can(const lacis_product *product, char *reason, size_t size)
{
    (void)product;
    return lacis_gpu_compiles(reason, size);
}

/* Labels of s, c, t. */
static const lacis_labels *labels_of(const lacis_product *product, int which)
{
    return which == 0 ? &product->s : which == 1 ? &product->c : &product->t;
}

/* Which of s, c, t CON reads from lists of labels, as bits; which of s and t HAVING does: it has value, src, dst and
 * the latter's other names. */
static int con_lists(const lacis_product *product)
{
    int bits = 0;
    for (int i = 0; con_written(product) && i < 3; i++)
        if (labels_of(product, i)->label != NULL && lacis_expr_uses(product->spec.con, 2 + i)) bits |= 1 << i;
    return bits;
}

static int having_lists(const lacis_product *product)
{
    bool used = false;
    for (int slot = 1; slot < 5 && product->job.having != NULL; slot++)
        used |= lacis_expr_uses(product->spec.having, slot);
    return used ? (product->s.label != NULL ? 1 : 0) | (product->t.label != NULL ? 4 : 0) : 0;
}

bool lacis_written_lists(const lacis_product *product)
{
    return (con_lists(product) | having_lists(product)) != 0;
}

lacis_status lacis_written_send(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, lacis_sent *sent,
                                lacis_mul_gpu_job *job)
{
    const int lists = con_lists(product) | having_lists(product);
    for (int i = 0; i < 3; i++) {
        const lacis_labels *labels = labels_of(product, i);
        const void *device;
        if (!(lists >> i & 1)) continue;
        LACIS_TRY(lacis_send_host(run, gpu, sent, labels->label, sizeof(int64_t) * (uint64_t)labels->count, &device));
        job->label[i] = device;
    }
    return LACIS_OK;
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

/* ------------------------------------------------------------------------------------------- HAVING */

static const char *stored_text(lacis_mul_storage storage)
{
    static const char *const text[] = {[LACIS_MUL_TO_U8] = "unsigned char", [LACIS_MUL_TO_U16] = "unsigned short",
                                       [LACIS_MUL_TO_U32] = "unsigned int", [LACIS_MUL_TO_I32] = "int",
                                       [LACIS_MUL_TO_I64] = "long long",    [LACIS_MUL_TO_F32] = "float",
                                       [LACIS_MUL_TO_F64] = "double",       [LACIS_MUL_TO_C128] = "lacis_c128"};
    return text[storage];
}

static bool can_fail(const char *text)
{
    return strstr(text, ", bad)") != NULL;
}

/* The kernels of the classes look at it twice, and on rows that MASK is still to take from: it must not fail. */
lacis_status lacis_written_having(lacis_run *run, const lacis_product *product, lacis_mul_gpu_job *job)
{
    const char *body;
    if (job->having != LACIS_MUL_GPU_BEHIND || !lacis_mul_gpu_semiring_written(job)) return LACIS_OK;
    LACIS_TRY(lacis_expr_emit(run, product->spec.having, "lacis_having_of", &body));
    if (!can_fail(body)) job->having = LACIS_MUL_GPU_INSIDE;
    return LACIS_OK;
}

static lacis_status having_text(lacis_run *run, const lacis_product *product, const lacis_mul_gpu_job *job,
                                const char **out)
{
    const lacis_strips *strips = &product->strips;
    const char *body, *row = strips->vector_row ? "column" : "row",
                      *column = strips->vector_column ? "row" : "column";
    *out = "";
    if (job->having != LACIS_MUL_GPU_INSIDE && job->having != LACIS_MUL_GPU_BEHIND) return LACIS_OK;
    LACIS_TRY(lacis_expr_emit(run, product->spec.having, "lacis_having_of", &body));
    const char *type = type_text(lacis_mul_type_of(strips->value_type));
    *out = lacis_run_text(run,
                          "%s%s"
                          "typedef %s lacis_stored;\n"
                          "LACIS_DEVICE bool lacis_having(lacis_stored v, long long s, long long t, int *bad)\n"
                          "{ long long row = s + %" PRId64 "ll, column = t + %" PRId64 "ll; %s value = v;\n"
                          "return lacis_having_of(value, %s, %s, %s, %s, bad) != 0; }\n",
                          job->having == LACIS_MUL_GPU_BEHIND ? "#define LACIS_HAVING\n" : "", body,
                          stored_text(product->job.storage), product->s.label == NULL ? product->s.base : 0,
                          product->t.label == NULL ? product->t.base : 0, type, row, column, row, column);
    return *out == NULL ? LACIS_NOMEM : LACIS_OK;
}

/* ----------------------------------------------------------------------------------------- compiling */

enum { TEXTS = 5, OPTIONS = 8, OPTION_TEXT = 256 };

/* A source, and what it points to. */
struct part {
    lacis_gpu_source source;
    const char *text[TEXTS], *option[OPTIONS];
    char option_text[OPTION_TEXT];
};

/* What kernels are made of as runs ask for them. HAVING's kernel, where it has one, is a source of its own: it is the
 * same for any CON and AGG, and they are for any HAVING. */
struct prepared {
    lacis_run *run;
    lacis_gpu *gpu;
    struct part semiring, having;
    lacis_status status; /* of the last compilation */
};

static const uint32_t having_bit = 1u << (LACIS_MUL_GPU_WRITTEN_KERNELS - 1);

static bool compile(lacis_mul_gpu_written *written, uint32_t wanted)
{
    struct prepared *prepared = written->context;
    struct part *part[] = {&prepared->semiring, &prepared->having};
    const uint32_t bits[] = {wanted & ~having_bit, wanted & having_bit};
    prepared->status = LACIS_OK;
    for (int i = 0; i < 2 && prepared->status == LACIS_OK; i++) {
        if (bits[i] == 0) continue;
        part[i]->source.wanted = bits[i];
        prepared->status = lacis_gpu_compile(prepared->run, prepared->gpu, &part[i]->source, written->kernel);
    }
    return prepared->status == LACIS_OK;
}

lacis_status lacis_written_failed(const lacis_mul_gpu_written *written)
{
    return ((const struct prepared *)written->context)->status;
}

/* A fold that can fail says so by `bad`; kernels that fold in any order have nowhere to say it. Devices before 9.0
 * exchange no 16 bytes at once. */
static void set_order(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, const char *fold,
                      lacis_mul_gpu_job *job)
{
    lacis_gpu_facts facts;
    lacis_gpu_describe(gpu, &facts);
    bool wide = job->type == LACIS_MUL_C128;
    bool real = wide || job->type == LACIS_MUL_F32 || job->type == LACIS_MUL_F64;
    bool able = !wide || facts.arch >= 90;
    if (!able) job->ordered = true;
    if (job->agg != LACIS_MUL_FOLD) return;
    job->any_order =
        able && product->spec.fold->associative && !can_fail(fold) && !(real && lacis_run_deterministic(run));
}

static lacis_status semiring_text(lacis_run *run, const lacis_product *product, lacis_mul_gpu_job *job,
                                  const char **text, const char **fold)
{
    *text = *fold = "";
    if (!lacis_mul_gpu_semiring_written(job)) return LACIS_OK;
    const char *con, *wrapped, *wrapped_fold;
    LACIS_TRY(con_text(run, product, &con));
    LACIS_TRY(fold_text(run, product, fold, &wrapped_fold));
    LACIS_TRY(wrapped_con(run, product, job, &wrapped));
    job->fails = can_fail(con) || can_fail(*fold);
    *text = lacis_run_text(run, "#define LACIS_SEMIRING\n%s%s%s%s", con, *fold, wrapped, wrapped_fold);
    return *text == NULL ? LACIS_NOMEM : LACIS_OK;
}

static lacis_status make_part(lacis_run *run, const lacis_mul_gpu_job *job, int lists, const char *functions,
                              struct part *part)
{
    const char **text = part->text;
    text[0] = head;
    text[1] = lacis_expr_functions_text();
    text[2] = lacis_run_text(run, "#define LACIS_LISTED %d\n", lists);
    text[3] = functions;
    text[4] = lacis_mul_gpu_source();
    if (text[2] == NULL) return LACIS_NOMEM;
    int options = lacis_mul_gpu_options(job, part->option, OPTIONS - 1, part->option_text, OPTION_TEXT);
    part->option[options++] = "-default-device";
    part->source = (lacis_gpu_source){.text = text,
                                      .texts = TEXTS,
                                      .option = part->option,
                                      .options = options,
                                      .kernel = lacis_mul_gpu_kernel_name,
                                      .kernels = LACIS_MUL_GPU_WRITTEN_KERNELS,
                                      .quick = LACIS_MUL_GPU_QUICK_KERNELS};
    return LACIS_OK;
}

lacis_status lacis_written_prepare(lacis_run *run, lacis_gpu *gpu, const lacis_product *product,
                                   lacis_mul_gpu_job *job, lacis_mul_gpu_written *out)
{
    static const lacis_mul_gpu_job any = {.type = LACIS_MUL_I64};
    struct prepared *prepared;
    const char *semiring, *fold, *having;
    LACIS_TRY(lacis_run_scratch(run, sizeof *prepared, &prepared));
    *prepared = (struct prepared){.run = run, .gpu = gpu};
    LACIS_TRY(semiring_text(run, product, job, &semiring, &fold));
    LACIS_TRY(lacis_written_having(run, product, job));
    LACIS_TRY(having_text(run, product, job, &having));
    set_order(run, gpu, product, fold, job);
    const bool inside = job->having == LACIS_MUL_GPU_INSIDE;
    const char *text = inside ? lacis_run_text(run, "%s%s", semiring, having) : semiring;
    if (text == NULL) return LACIS_NOMEM;
    LACIS_TRY(
        make_part(run, job, con_lists(product) | (inside ? having_lists(product) : 0), text, &prepared->semiring));
    LACIS_TRY(make_part(run, &any, having_lists(product), having, &prepared->having));
    *out = (lacis_mul_gpu_written){.compile = compile, .context = prepared};
    job->written = out;
    return LACIS_OK;
}

bool lacis_written_ready(const lacis_mul_gpu_written *written)
{
    const struct prepared *prepared = written->context;
    return lacis_gpu_compiled(prepared->run, prepared->gpu, &prepared->semiring.source) ||
           lacis_gpu_compiled(prepared->run, prepared->gpu, &prepared->having.source);
}

#else

bool lacis_written_can(const lacis_product *product, char *reason, size_t size)
{
    (void)product;
    snprintf(reason, size, "this build has no GPU kernels for written CON and AGG");
    return false;
}

bool lacis_written_lists(const lacis_product *product)
{
    (void)product;
    return false;
}

lacis_status lacis_written_prepare(lacis_run *run, lacis_gpu *gpu, const lacis_product *product,
                                   lacis_mul_gpu_job *job, lacis_mul_gpu_written *out)
{
    (void)gpu, (void)product, (void)job, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels for written CON and AGG");
}

lacis_status lacis_written_having(lacis_run *run, const lacis_product *product, lacis_mul_gpu_job *job)
{
    (void)run, (void)product, (void)job;
    return LACIS_OK;
}

lacis_status lacis_written_failed(const lacis_mul_gpu_written *written)
{
    (void)written;
    return LACIS_UNSUPPORTED;
}

lacis_status lacis_written_send(lacis_run *run, lacis_gpu *gpu, const lacis_product *product, lacis_sent *sent,
                                lacis_mul_gpu_job *job)
{
    (void)run, (void)gpu, (void)product, (void)sent, (void)job;
    return LACIS_OK;
}

bool lacis_written_ready(const lacis_mul_gpu_written *written)
{
    (void)written;
    return false;
}

#endif
