/* SPDX-License-Identifier: Apache-2.0
 *
 * What GPU variants share before they run: whether the device may be asked for a call at all, what its start and
 * copies take, and what is said where there is no room.
 */
#include "plan/plan.h"

#include <math.h>

lacis_gpu *lacis_gpu_at_hand(lacis_run *run)
{
    char reason[200];
    return lacis_gpu_started(run) ? lacis_run_gpu(run, reason, sizeof reason) : NULL;
}

double lacis_gpu_start_seconds(const lacis_run *run, const lacis_profile *profile, const char *load_figure)
{
    const double start = 0.3, load = 0.02;
    if (lacis_gpu_started(run)) return 0;
    return lacis_profile_get(profile, LACIS_PROFILE_GPU_START, start) + lacis_profile_get(profile, load_figure, load);
}

bool lacis_gpu_worth(const lacis_call *call, lacis_run *run, const char *load_figure, double processor, double device,
                     char *reason, size_t size)
{
    const bool must = call->on == LACIS_ON_GPU;
    if (!must) device += lacis_gpu_start_seconds(run, call->profile, load_figure);
    if (must || processor >= device) return lacis_gpu_possible(run, reason, size);
    snprintf(reason, size, "too little work: %.3g ms on the CPU at most, %.3g ms on the GPU at least%s",
             1e3 * processor, 1e3 * device, lacis_gpu_started(run) ? "" : ", starting it included");
    return false;
}

lacis_status lacis_gpu_no_room(lacis_run *run, lacis_gpu *gpu, const char *what)
{
    lacis_gpu_facts facts;
    lacis_gpu_describe(gpu, &facts);
    return lacis_run_fail(run, LACIS_UNSUPPORTED, "the GPU's memory (%.3g GB for this database) does not hold %s",
                          1e-9 * (double)facts.budget, what);
}

double lacis_gpu_copy_seconds(const lacis_gpu *gpu, const lacis_profile *profile, double up, double down)
{
    const double usual = gpu == NULL ? 30e9 : 0;
    lacis_gpu_facts facts = {.upload_rate = 0};
    if (gpu != NULL) lacis_gpu_describe(gpu, &facts);
    /* What CALIBRATE saw, or the large copies since then: something else may have slowed the one or the others. */
    return up / fmax(lacis_profile_get(profile, LACIS_PROFILE_UPLOAD, usual), facts.upload_rate) +
           down / fmax(lacis_profile_get(profile, LACIS_PROFILE_DOWNLOAD, usual), facts.download_rate);
}
