/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for SYMV: packed triangles of each type that no cache near the processor holds, by one vector and by
 * several, on one thread; and what all threads together gain. The least of a few runs counts.
 */
#include "symv/device.h"
#include "symv/sample.h"

#include <string.h>

enum { ROWS = 2048, WIDE_ROWS = 1024, SIDES = 4, FEWEST = 3, MOST = 100 }; /* matrices, right sides, runs */
static const double ENOUGH = 0.02; /* seconds for a figure, once there are the fewest runs */

static lacis_status time_job(lacis_run *run, const lacis_symv_job *job, double *least)
{
    const double begin = lacis_symv_now();
    for (int round = 0; round < MOST && (round < FEWEST || lacis_symv_now() - begin < ENOUGH); round++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        double start = lacis_symv_now();
        if (lacis_symv_run(job) != LACIS_SYMV_OK)
            return lacis_run_fail(run, LACIS_NOMEM, "SYMV: no memory to calibrate with");
        double seconds = lacis_symv_now() - start;
        if (round == 0 || seconds < *least) *least = seconds;
    }
    return LACIS_OK;
}

/* Numbers of any type: single ones as they are, others in doubles; low parts of double-double are 0. */
static void fill(lacis_symv_type type, char *a, uint64_t bytes)
{
    const bool single = lacis_symv_matrix_bytes(type) == 4 || type == LACIS_SYMV_C64;
    const bool wide = type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD;
    const uint64_t size = single ? sizeof(float) : sizeof(double);
    for (uint64_t i = 0; i < bytes / size; i++) {
        const double value = wide && i % 2 == 1 ? 0 : 1 + 1e-3 * (double)(i % 97);
        const float rounded = (float)value;
        memcpy(a + i * size, single ? (const void *)&rounded : (const void *)&value, size);
    }
}

static lacis_status measure(lacis_run *run, lacis_profile *profile, lacis_symv_job *job)
{
    double one = 0, several = 0, all = 0;
    const double elements = (double)job->n * (double)(job->n + 1) / 2;
    job->sides = 1;
    LACIS_TRY(time_job(run, job, &one));
    LACIS_TRY(lacis_symv_set_figure(profile, lacis_symv_figure(job->type, false), 1e9 * one / elements, 1e-3));
    job->sides = SIDES;
    LACIS_TRY(time_job(run, job, &several));
    LACIS_TRY(lacis_symv_set_figure(profile, lacis_symv_figure(job->type, true),
                                    1e9 * (several - one) / elements / (SIDES - 1), 1e-4));
    if (job->type != LACIS_SYMV_F64 || lacis_run_threads(run) == 1) return LACIS_OK;
    job->sides = 1;
    job->threads = lacis_run_threads(run);
    LACIS_TRY(time_job(run, job, &all));
    return lacis_symv_set_figure(profile, lacis_symv_gain_figure(), one / all, 1);
}

static lacis_status measure_type(lacis_run *run, lacis_profile *profile, lacis_symv_type type)
{
    const bool wide = lacis_symv_vector_bytes(type) > 8 && type != LACIS_SYMV_C128;
    const int64_t n = wide ? WIDE_ROWS : ROWS;
    const uint64_t bytes = (uint64_t)lacis_symv_matrix_bytes(type) * (uint64_t)(n * (n + 1) / 2);
    const uint64_t vectors = (uint64_t)lacis_symv_vector_bytes(type) * (uint64_t)(n * SIDES);
    char *memory;
    LACIS_TRY(lacis_run_alloc(run, bytes + 2 * vectors, &memory));
    fill(type, memory, bytes);
    memset(memory + bytes, 0, 2 * vectors);
    lacis_symv_job job = lacis_symv_sample(type, n, memory, memory + bytes, memory + bytes + vectors);
    job.host = lacis_symv_host_of(run);
    job.host.told = NULL;      /* CALIBRATE tells of itself */
    job.host.cancelled = NULL; /* asked between runs */
    lacis_status status = measure(run, profile, &job);
    lacis_run_free(run, memory);
    return status;
}

lacis_status lacis_symv_calibrate(lacis_run *run, lacis_profile *profile)
{
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        LACIS_TRY(measure_type(run, profile, (lacis_symv_type)type));
    return lacis_symv_gpu_calibrate(run, profile);
}
