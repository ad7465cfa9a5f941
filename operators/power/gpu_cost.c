/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER's variant "gpu": whether the kernels can do a call and the device may be asked for it, and what it would
 * cost. Called by the planner, and by cost.c.
 */
#include "power/gpu.h"

#include "multiply/device.h"
#include "multiply/written.h"

#ifdef LACIS_GPU_KERNELS

/* A call and two rounds, at least. */
static const double CALL_SECONDS = 2e-4;

/* ----------------------------------------------------------------------------------------- whether */

static lacis_mul_con form_of(const lacis_product_spec *spec)
{
    return spec->con == NULL ? spec->form : lacis_con_form(spec->con);
}

static const char *refuses(const lacis_power *work)
{
    const uint64_t places = UINT32_MAX - 64; /* of the graph: its entries are numbered in 32 bits there */
    if (!work->stable && work->rounds == 1) return "there is nothing to multiply";
    if (work->stable && (work->a.dtype == LACIS_C64 || work->a.dtype == LACIS_C128 || work->type == LACIS_C128))
        return "closures of complex values are only done on the CPU";
    if (work->a.cols >= (int64_t)UINT32_MAX) return "a dimension has 2^32 rows or columns";
    if ((uint64_t)work->a.entries >= places) return "the graph has too many entries";
    return NULL;
}

static bool written(const lacis_power *work)
{
    return work->spec.agg == LACIS_AGG_FOLD || form_of(&work->spec) == LACIS_MUL_CON_STRIPS;
}

/* Whether NVRTC can have CON and AGG. */
static bool can_write(const lacis_power *work, char *reason, size_t size)
{
    const lacis_product product = {.spec = work->spec};
    return !written(work) || lacis_written_can(&product, reason, size);
}

bool lacis_power_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_power *work = call->work;
    const char *why = refuses(work);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    double copies = 4 * lacis_profile_get(call->profile, LACIS_GPU_COPY_FIGURE, LACIS_GPU_COPY_SECONDS);
    if (!lacis_gpu_worth(call, work->run, LACIS_GPU_LOAD_FIGURE, lacis_power_most_seconds(work, call->profile),
                         CALL_SECONDS + copies, reason, size))
        return false;
    if (!can_write(work, reason, size)) return false;
    return call->on != LACIS_ON_GPU || lacis_run_gpu(work->run, reason, size) != NULL;
}

/* ------------------------------------------------------------------------------------------- costs */

/* NVRTC, unless it was compiled before, which is not known here; and the device's start. */
static double once_seconds(const lacis_power *work, const lacis_profile *profile)
{
    const double compile_seconds = 1.2;
    double start = lacis_gpu_start_seconds(work->run, profile, LACIS_GPU_LOAD_FIGURE);
    return start + (written(work) ? compile_seconds : 0);
}

/* A round waits for the device; a path is an atomic, or a product and its offer; the result is looked through.
 * Measured on an H200. */
double lacis_power_gpu_seconds(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                               const lacis_cost *work_of)
{
    const lacis_power *work = call->work;
    const lacis_gpu *gpu = lacis_gpu_at_hand(run);
    const lacis_mul_matrix a = lacis_power_host_graph(work);
    double round = lacis_profile_get(profile, "power.gpu.round_ns", work->stable ? 3e4 : 2e5);
    double path = lacis_profile_get(profile, "power.gpu.path_ns", 0.02), cell_ns = 0.006;
    double cells = work->stable ? (double)call->units * (double)work->a.cols : work_of->entries;
    double missing = (double)lacis_send_missing(lacis_gpu_at_hand(run), &work->sent, &a);
    return once_seconds(work, profile) + CALL_SECONDS +
           1e-9 * (round * work->expected_rounds + path * work_of->products + cell_ns * cells) +
           lacis_gpu_copy_seconds(gpu, profile, missing, work_of->bytes);
}

lacis_status lacis_power_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                  lacis_cost *out)
{
    LACIS_TRY(lacis_power_cost(run, call, profile, out));
    out->once = once_seconds(call->work, profile);
    out->seconds = lacis_power_gpu_seconds(run, call, profile, out);
    out->peak_bytes = out->bytes;
    return LACIS_OK;
}

#else

bool lacis_power_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_power *work = call->work;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Neither is asked, since it says no. */
double lacis_power_gpu_seconds(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                               const lacis_cost *work_of)
{
    (void)run, (void)call, (void)profile, (void)work_of;
    return 0;
}

lacis_status lacis_power_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                  lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

#endif
