/* SPDX-License-Identifier: Apache-2.0
 *
 * Written rules for NVRTC: the functions that kernels/sweep/gpu.h asks for, from typed trees, between its texts. Each
 * is what cells.c does on the CPU: the expression in its own type, that converted to the type of the run, the source
 * added. Called by system_gpu.c and gpu_cost.c.
 */
#include "sweep/device.h"

#ifdef LACIS_GPU_KERNELS

static const char head[] = "#define LACIS_DEVICE static __device__ __forceinline__\n"
                           "#define lacis_high(a, b) __mul64hi(a, b)\n"
                           "#define LACIS_INFINITY __longlong_as_double(0x7ff0000000000000ll)\n"
                           "#define LACIS_NAN __longlong_as_double(0x7ff8000000000000ll)\n";
enum { TEXTS = 5 };

static lacis_status no_memory(lacis_run *run)
{
    return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
}

/* --- one rule ----------------------------------------------------------------------------------------- */

/* What stands for a slot in the call of the expression's function. */
static const char *argument(lacis_run *run, int means)
{
    static const char *const place[LACIS_SWEEP_PLACES] = {"x", "y", "z", "t"};
    if (means >= 0) return lacis_run_text(run, "v%d, ", means);
    return means == LACIS_SWEEP_UNUSED ? "0, " : lacis_run_text(run, "%s, ", place[LACIS_SWEEP_X - means]);
}

static const char *join(lacis_run *run, const char *a, const char *b)
{
    return a == NULL || b == NULL ? NULL : lacis_run_text(run, "%s%s", a, b);
}

static lacis_status rule_text(lacis_run *run, const lacis_sweep_work *work, int field, const char **out)
{
    const lacis_sweep_formula *f = &work->formula[field];
    const char *type = work->type == LACIS_SWEEP_F32 ? "float" : "double", *body = NULL, *taps = "", *arguments = "";
    const char *name = lacis_run_text(run, "lacis_step_%d", field);
    if (name == NULL) return no_memory(run);
    LACIS_TRY(lacis_expr_emit(run, f->expr, name, &body));
    for (int i = 0; i < f->rule.taps; i++)
        taps = join(run, taps, lacis_run_text(run, "%s v%d, ", type, i));
    for (int i = 0; i < f->slots; i++)
        arguments = join(run, arguments, argument(run, f->slot[i]));
    const char *source = f->source >= 0 ? lacis_run_text(run, " + v%d", f->source) : "";
    if (taps == NULL || arguments == NULL || source == NULL) return no_memory(run);
    *out = lacis_run_text(run,
                          "%s\nLACIS_DEVICE %s lacis_rule_%d(%s%s x, %s y, %s z, %s t, int *bad)\n"
                          "{ return (%s)%s(%sbad)%s; }\n",
                          body, type, field, taps, type, type, type, type, type, name, arguments, source);
    return *out == NULL ? no_memory(run) : LACIS_OK;
}

/* --- the program -------------------------------------------------------------------------------------- */

static lacis_status make_source(lacis_run *run, const lacis_sweep_work *work, const lacis_sweep_start *start,
                                const char **text, lacis_gpu_source *out)
{
    static const char *const option[] = {"-default-device", "--fmad=false"};
    char *prefix;
    const char *rules = "", *one = NULL;
    const uint64_t bytes = lacis_sweep_gpu_prefix(start, NULL, 0);
    if (bytes == 0) return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU has no program for these rules");
    LACIS_TRY(lacis_run_scratch(run, bytes, &prefix));
    lacis_sweep_gpu_prefix(start, prefix, bytes);
    for (int field = 0; field < work->grid.fields; field++) {
        if (!work->formula[field].rule.written) continue;
        LACIS_TRY(rule_text(run, work, field, &one));
        rules = join(run, rules, one);
        if (rules == NULL) return no_memory(run);
    }
    text[0] = head;
    text[1] = lacis_expr_functions_text();
    text[2] = prefix;
    text[3] = rules;
    text[4] = lacis_sweep_gpu_source();
    *out = (lacis_gpu_source){
        text, TEXTS, option, LACIS_COUNT(option), lacis_sweep_gpu_kernel_name, LACIS_SWEEP_GPU_KERNELS, 0, 0};
    return LACIS_OK;
}

bool lacis_sweep_program_can(const lacis_sweep_work *work, const lacis_sweep_start *start, char *reason, size_t size)
{
    (void)start;
    return !lacis_sweep_written(work) || lacis_gpu_compiles(reason, size);
}

static bool wanted(const lacis_sweep_work *work, const lacis_sweep_start *start)
{
    char reason[200];
    if (lacis_sweep_written(work)) return true;
    return lacis_sweep_gpu_wants(start) && lacis_sweep_gpu_prefix(start, NULL, 0) > 0 &&
           lacis_gpu_compiles(reason, sizeof reason);
}

lacis_status lacis_sweep_program_make(lacis_run *run, lacis_gpu *gpu, const lacis_sweep_work *work,
                                      const lacis_sweep_start *start, void **kernel)
{
    const char *text[TEXTS];
    lacis_gpu_source source;
    for (int i = 0; i < LACIS_SWEEP_GPU_KERNELS; i++)
        kernel[i] = NULL;
    if (!wanted(work, start)) return LACIS_OK;
    LACIS_TRY(make_source(run, work, start, text, &source));
    const lacis_status status = lacis_gpu_compile(run, gpu, &source, kernel);
    if (status != LACIS_UNSUPPORTED || lacis_sweep_written(work)) return status;
    for (int i = 0; i < LACIS_SWEEP_GPU_KERNELS; i++)
        kernel[i] = NULL;
    lacis_run_note(run, LACIS_NOTE, "SWEEP: no kernel could be compiled for these rules; the built-in one is slower");
    return LACIS_OK;
}

double lacis_sweep_program_seconds(lacis_run *run, lacis_gpu *gpu, const lacis_sweep_work *work,
                                   const lacis_sweep_start *start)
{
    const double compiling = 0.35;
    const char *text[TEXTS];
    lacis_gpu_source source;
    if (!wanted(work, start)) return 0;
    if (gpu == NULL || make_source(run, work, start, text, &source) != LACIS_OK) return compiling;
    return lacis_gpu_compiled(run, gpu, &source) ? 0 : compiling;
}

#endif
