/* SPDX-License-Identifier: Apache-2.0
 *
 * What SYMV costs on the CPU: nanoseconds an element of the triangle by type, as CALIBRATE measures them, and what it
 * holds in memory. Called by the planner, and by the GPU's variants.
 */
#include "symv/work.h"

/* Nanoseconds an element with one right side on one thread, the matrix out of cache; for each right side more. As
 * CALIBRATE measures them on an AMD EPYC (Zen 4). */
static const struct figure {
    const char *name, *side;
    double ns, side_ns;
} figures[LACIS_SYMV_TYPES] = {
    [LACIS_SYMV_F32] = {"symv.f32.element_ns", "symv.f32.side_ns", 0.25, 0.1},
    [LACIS_SYMV_F64] = {"symv.f64.element_ns", "symv.f64.side_ns", 0.5, 0.2},
    [LACIS_SYMV_C64] = {"symv.c64.element_ns", "symv.c64.side_ns", 0.5, 0.3},
    [LACIS_SYMV_C128] = {"symv.c128.element_ns", "symv.c128.side_ns", 1, 0.6},
    [LACIS_SYMV_DD] = {"symv.dd.element_ns", "symv.dd.side_ns", 1.2, 1},
    [LACIS_SYMV_CDD] = {"symv.cdd.element_ns", "symv.cdd.side_ns", 4.5, 4},
    [LACIS_SYMV_F32_F64] = {"symv.f32_f64.element_ns", "symv.f32_f64.side_ns", 0.3, 0.2},
    [LACIS_SYMV_F32_DD] = {"symv.f32_dd.element_ns", "symv.f32_dd.side_ns", 1, 0.8},
    [LACIS_SYMV_F64_DD] = {"symv.f64_dd.element_ns", "symv.f64_dd.side_ns", 1, 0.8},
};
#define GAIN_FIGURE "symv.threads_gain"

const char *lacis_symv_figure(lacis_symv_type type, bool side)
{
    return side ? figures[type].side : figures[type].name;
}

const char *lacis_symv_gain_figure(void)
{
    return GAIN_FIGURE;
}

/* Seconds of a run of next to nothing; of waking threads for it and waiting for them. */
static const double START = 2e-6, WAKE = 1e-5;

double lacis_symv_triangle_bytes(const lacis_symv_work *work)
{
    return work->matrix.elements * lacis_symv_matrix_bytes(work->type);
}

/* Right sides of each matrix. */
static double sides_of(const lacis_symv_work *work)
{
    return work->pieces > 0 ? (double)work->piece[0].sides : 0;
}

/* A thread that has less than some hundredths of a millisecond of work costs more to wake than it saves. */
int lacis_symv_threads(const lacis_run *run, const lacis_symv_work *work)
{
    const double least_ns = 30000;
    const struct figure *figure = &figures[work->type];
    const double sides = sides_of(work), most = lacis_run_threads(run);
    double worth = work->matrix.elements * (figure->ns + (sides - 1) * figure->side_ns) / least_ns;
    return worth < 2 ? 1 : worth < most ? (int)worth : (int)most;
}

/* Of sums in double-double threads share the arithmetic; of others the memory, of which they have no more than
 * CALIBRATE saw. */
static double gain(const lacis_symv_work *work, const lacis_profile *profile, int threads)
{
    const double usual = 6;
    const double most = lacis_profile_get(profile, GAIN_FIGURE, usual);
    return lacis_symv_is_wide(work->dtype) || threads < most ? threads : most;
}

/* Accurate additions take more steps than sloppy ones: 20 against 11, of 17 and 8 with the product. */
static double slower(const lacis_symv_work *work)
{
    const double accurate = 1.4;
    return work->accurate ? accurate : 1;
}

void lacis_symv_vector_memory(const lacis_symv_work *work, lacis_cost *out)
{
    const double size = (double)lacis_dtype_size(work->dtype), all = size * (double)work->places;
    const double row = 8 * LACIS_SYMV_COLUMNS;
    const bool y_copied = work->scattered || (work->figures && work->adds && !work->y.direct);
    out->entries = work->figures ? (double)work->x.lanes : (double)work->places;
    out->bytes = work->figures ? row * (double)work->x.lanes : all;
    out->peak_bytes = out->bytes + (work->x.direct ? 0 : all) + (y_copied ? all : 0);
    if (work->figures) out->peak_bytes += (double)sizeof(lacis_symv_figures) * (double)work->x.lanes;
}

/* The most that a piece takes. */
static double work_bytes(const lacis_symv_work *work)
{
    double most = 0;
    for (int64_t i = 0; i < work->pieces; i++) {
        lacis_symv_job job;
        lacis_symv_job_of(work, &work->piece[i], &job);
        double bytes = (double)lacis_symv_work_bytes(&job);
        most = bytes > most ? bytes : most;
    }
    return most;
}

lacis_status lacis_symv_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    const lacis_symv_work *work = call->work;
    const struct figure *figure = &figures[work->type];
    const double sides = sides_of(work), elements = work->matrix.elements;
    const int threads = lacis_symv_threads(run, work);
    double ns = lacis_profile_get(profile, figure->name, figure->ns);
    if (sides > 1) ns += (sides - 1) * lacis_profile_get(profile, figure->side, figure->side_ns);
    out->seconds =
        START + (threads > 1 ? WAKE : 0) + 1e-9 * ns * slower(work) * elements / gain(work, profile, threads);
    out->products = elements * sides;
    lacis_symv_vector_memory(work, out);
    out->peak_bytes += work_bytes(work);
    return LACIS_OK;
}
