/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's variant for the GPU before it runs: whether kernels can do the job and the device may be asked for it, and
 * what it would cost with the copies that are needed. Called through gpu.c's variant.
 */
#include "symv/device.h"
#include "symv/tune.h"

/* Nanoseconds an element of the triangle of a large matrix, and for each right side more, where nobody has
 * calibrated; from what plain kernels took on an H200. */
static const struct figure {
    const char *name, *side;
    double ns, side_ns;
} figures[LACIS_SYMV_TYPES] = {
    [LACIS_SYMV_F32] = {"symv.gpu.f32.element_ns", "symv.gpu.f32.side_ns", 0.001, 0.0001},
    [LACIS_SYMV_F64] = {"symv.gpu.f64.element_ns", "symv.gpu.f64.side_ns", 0.002, 0.0002},
    [LACIS_SYMV_C64] = {"symv.gpu.c64.element_ns", "symv.gpu.c64.side_ns", 0.002, 0.0002},
    [LACIS_SYMV_C128] = {"symv.gpu.c128.element_ns", "symv.gpu.c128.side_ns", 0.004, 0.0006},
    [LACIS_SYMV_DD] = {"symv.gpu.dd.element_ns", "symv.gpu.dd.side_ns", 0.0045, 0.003},
    [LACIS_SYMV_CDD] = {"symv.gpu.cdd.element_ns", "symv.gpu.cdd.side_ns", 0.014, 0.012},
    [LACIS_SYMV_F32_F64] = {"symv.gpu.f32_f64.element_ns", "symv.gpu.f32_f64.side_ns", 0.001, 0.0002},
    [LACIS_SYMV_F32_DD] = {"symv.gpu.f32_dd.element_ns", "symv.gpu.f32_dd.side_ns", 0.0035, 0.003},
    [LACIS_SYMV_F64_DD] = {"symv.gpu.f64_dd.element_ns", "symv.gpu.f64_dd.side_ns", 0.0035, 0.003},
};

const char *lacis_symv_gpu_figure(lacis_symv_type type, bool side)
{
    return side ? figures[type].side : figures[type].name;
}

#ifdef LACIS_GPU_KERNELS

/* Of next to nothing, where nobody has calibrated. */
static const double CALL_SECONDS = 1.2e-5;
enum { COPIES = 2 }; /* to the device */

/* --- bytes -------------------------------------------------------------------------------------------- */

/* gpu NULL: it is not started, nothing is there yet. */
static double bytes_to_send(lacis_gpu *gpu, const lacis_symv_work *work)
{
    double bytes = (double)lacis_gpu_part_missing(gpu, work->matrix.array, work->matrix.part);
    bytes += lacis_symv_gpu_missing(gpu, work, &work->x);
    return work->adds ? bytes + lacis_symv_gpu_missing(gpu, work, &work->y) : bytes;
}

/* With nothing there: matrix, vectors, result and what kernels take besides. */
static double bytes_there(const lacis_symv_work *work, lacis_gpu *gpu)
{
    double most = 0;
    for (int64_t i = 0; i < work->pieces; i++) {
        lacis_symv_gpu_job job = lacis_symv_gpu_job_of(work, &work->piece[i], gpu);
        double bytes = (double)lacis_symv_gpu_work_bytes(&job);
        most = bytes > most ? bytes : most;
    }
    return bytes_to_send(NULL, work) + (double)lacis_dtype_size(work->dtype) * (double)work->places + most;
}

/* --- can ---------------------------------------------------------------------------------------------- */

static double call_seconds(const lacis_profile *profile)
{
    return lacis_profile_get(profile, LACIS_SYMV_GPU_CALL_FIGURE, CALL_SECONDS);
}

/* The most that the processor takes, which is twice as long as calibrated, against a call and its copies. */
static bool worth(const lacis_call *call, const lacis_cost *processor, char *reason, size_t size)
{
    const double margin = 2;
    const lacis_symv_work *work = call->work;
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    const lacis_profile *profile = lacis_gpu_figures(gpu, call->profile);
    double device = call_seconds(profile) +
                    lacis_symv_gpu_copy_seconds(gpu, profile, COPIES, bytes_to_send(gpu, work), processor->bytes);
    return lacis_gpu_worth(call, work->run, LACIS_SYMV_GPU_LOAD_FIGURE, margin * processor->seconds, device, reason,
                           size);
}

static const char *refuses(const lacis_symv_work *work)
{
    for (int64_t i = 0; i < work->pieces; i++) {
        const lacis_symv_gpu_job job = lacis_symv_gpu_job_of(work, &work->piece[i], NULL);
        const char *why = lacis_symv_gpu_refuses(&job);
        if (why != NULL) return why;
    }
    return NULL;
}

/* The device is started here only where it is demanded: a plan that does not choose it must leave it alone. */
bool lacis_symv_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_symv_work *work = call->work;
    lacis_cost processor = {0};
    if (work->matrix.sparse) {
        snprintf(reason, size, "only for dense matrices");
        return false;
    }
    if (!lacis_gpu_possible(work->run, reason, size)) return false;
    if (lacis_symv_cost(work->run, call, call->profile, &processor) != LACIS_OK) {
        snprintf(reason, size, "the host has no memory left");
        return false;
    }
    const char *why = refuses(work);
    if (why != NULL) {
        snprintf(reason, size, "%s", why);
        return false;
    }
    if (!worth(call, &processor, reason, size)) return false;
    if (call->on == LACIS_ON_GPU && lacis_run_gpu(work->run, reason, size) == NULL) return false;

    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    return lacis_symv_gpu_room(gpu, bytes_there(work, gpu), "matrix and vectors", reason, size);
}

/* --- costs -------------------------------------------------------------------------------------------- */

/* A call, and the elements at their rate: this line fits what was measured from 1,024 rows on. */
static double kernel_seconds(const lacis_symv_work *work, const lacis_profile *profile)
{
    const double accurate = 1.3, batch = 1.3;
    const struct figure *figure = &figures[work->type];
    double sides = work->pieces > 0 ? (double)work->piece[0].sides : 0;
    double ns = lacis_profile_get(profile, figure->name, figure->ns);
    if (sides > 1) ns += (sides - 1) * lacis_profile_get(profile, figure->side, figure->side_ns);
    if (work->accurate) ns *= accurate;
    if (work->matrix.matrices > 1) ns *= batch;
    return call_seconds(profile) * (double)work->pieces + 1e-9 * ns * work->matrix.elements;
}

lacis_status lacis_symv_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                 lacis_cost *out)
{
    lacis_symv_work *work = call->work;
    lacis_gpu *gpu = lacis_gpu_at_hand(run);
    const lacis_profile *here = lacis_gpu_figures(gpu, profile);
    LACIS_TRY(lacis_symv_cost(run, call, profile, out));
    lacis_symv_vector_memory(work, out);
    const double up = bytes_to_send(gpu, work), down = out->bytes;
    const double kernels = kernel_seconds(work, here),
                 copies = lacis_symv_gpu_copy_seconds(gpu, here, COPIES, up, down);
    out->once = lacis_gpu_start_seconds(run, here, LACIS_SYMV_GPU_LOAD_FIGURE);
    out->kind = up > 0 ? "sent" : "there"; /* what runs teach of copies says nothing of kernels alone */
    out->seconds = out->once + kernels + copies;
    work->gpu = (lacis_symv_estimate){
        .known = true, .kernels = kernels, .copies = copies, .to_device = up, .to_host = down, .once = out->once};
    return LACIS_OK;
}

/* --- EXPLAIN ------------------------------------------------------------------------------------------ */

lacis_status lacis_symv_gpu_explain(const lacis_call *call, lacis_lines *lines)
{
    const lacis_symv_work *work = call->work;
    const lacis_symv_estimate *e = &work->gpu;
    char text[LACIS_SYMV_GPU_CHOICE_TEXT];
    if (!e->known || work->pieces == 0) return LACIS_OK;
    lacis_gpu *gpu = lacis_gpu_at_hand(work->run);
    const lacis_symv_gpu_job job = lacis_symv_gpu_job_of(work, &work->piece[0], gpu);
    const lacis_symv_gpu_choice choice = lacis_symv_choose(call->profile, gpu, &job);
    LACIS_TRY(lacis_lines_add(
        lines,
        "on the GPU: kernel %s (TUNE SYMV seeks a faster); computing %.3g s, copies %.3g s (%.3g MB there, %.3g MB "
        "back)",
        lacis_symv_gpu_choice_text(&choice, text), e->kernels, e->copies, 1e-6 * e->to_device, 1e-6 * e->to_host));
    LACIS_TRY(lacis_symv_explain_tuned(lines, call->profile, gpu, &job.job));
    if (e->once > 0) return lacis_lines_add(lines, "the first time %.2f s more, to start the GPU", e->once);
    return LACIS_OK;
}

#else

bool lacis_symv_gpu_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_symv_work *work = call->work;
    if (lacis_gpu_possible(work->run, reason, size)) snprintf(reason, size, "this build has no GPU kernels for it");
    return false;
}

/* Never asked, since lacis_symv_gpu_can says no. */
lacis_status lacis_symv_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,
                                 lacis_cost *out)
{
    (void)call, (void)profile, (void)out;
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "this build has no GPU kernels");
}

lacis_status lacis_symv_gpu_explain(const lacis_call *call, lacis_lines *lines)
{
    (void)call, (void)lines;
    return LACIS_OK;
}

#endif
