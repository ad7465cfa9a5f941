/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for SYMV on the GPU: of each type a packed triangle that no cache holds, by one vector and by several,
 * from operands on the device to y there; and next to nothing. The least of a few rounds counts. Called behind the
 * processor's share; a device without room for a sample leaves its figures as they were.
 */
#include "symv/device.h"

#ifdef LACIS_GPU_KERNELS

#include "symv/sample.h"

#include <math.h>

enum { ROUNDS = 5, SIDES = 4, LITTLE = 64 };        /* the first round loads kernels and fills the pool; rows */
static const uint64_t SAMPLE = (uint64_t)256 << 20; /* bytes of the matrix */
static const uint64_t VECTORS = (uint64_t)16 << 20; /* bytes of x, and of y */

struct measured {
    lacis_run *run;
    lacis_gpu *gpu;
    int processors;
    char *a, *x, *y;     /* on the device: zeroes, which take kernels as long as any numbers */
    double first, least; /* seconds of a run */
};

static lacis_status send_zeroes(struct measured *m, char *to, uint64_t bytes, const char *zeroes, uint64_t block)
{
    for (uint64_t at = 0; at < bytes; at += block)
        LACIS_TRY(lacis_gpu_upload(m->run, m->gpu, zeroes, bytes - at < block ? bytes - at : block, to + at));
    return LACIS_OK;
}

static lacis_status send_samples(struct measured *m)
{
    const uint64_t block = (uint64_t)4 << 20;
    char *zeroes;
    LACIS_TRY(lacis_run_alloc(m->run, block, &zeroes));
    for (uint64_t i = 0; i < block; i++)
        zeroes[i] = 0;
    lacis_status status = send_zeroes(m, m->a, SAMPLE, zeroes, block);
    if (status == LACIS_OK) status = send_zeroes(m, m->x, VECTORS, zeroes, block);
    lacis_run_free(m->run, zeroes);
    return status;
}

/* *fits: false where the device has no room or does not do it. */
static lacis_status once(struct measured *m, const lacis_symv_gpu_job *job, double *seconds, bool *fits)
{
    int cuda_error = 0;
    LACIS_TRY(lacis_gpu_wait(m->run, m->gpu));
    double start = lacis_symv_now();
    lacis_symv_gpu_status status = lacis_symv_gpu_run(job, &cuda_error);
    if (status == LACIS_SYMV_GPU_FAILED) return lacis_gpu_failed(m->run, m->gpu, cuda_error);
    LACIS_TRY(lacis_gpu_wait(m->run, m->gpu));
    *seconds = lacis_symv_now() - start;
    *fits = status == LACIS_SYMV_GPU_OK;
    return LACIS_OK;
}

static lacis_status measure(struct measured *m, lacis_symv_type type, int64_t n, int64_t sides, bool *fits)
{
    double seconds = 0;
    lacis_symv_gpu_job job = {.job = lacis_symv_sample(type, n, m->a, m->x, m->y),
                              .processors = m->processors,
                              .stream = lacis_gpu_stream(m->gpu)};
    job.job.sides = sides;
    job.job.host = lacis_symv_gpu_host(m->gpu);
    *fits = lacis_symv_gpu_refuses(&job) == NULL;
    for (int round = 0; *fits && round < ROUNDS; round++) {
        if (lacis_run_cancelled(m->run)) return lacis_run_interrupted(m->run);
        LACIS_TRY(once(m, &job, &seconds, fits));
        if (round == 0) m->first = seconds;
        if (round <= 1 || seconds < m->least) m->least = seconds;
    }
    return LACIS_OK;
}

static lacis_status figures_of(struct measured *m, lacis_profile *profile, lacis_symv_type type, double call)
{
    const double size = lacis_symv_matrix_bytes(type);
    const int64_t n = (int64_t)sqrt(2 * (double)SAMPLE / size) / LITTLE * LITTLE - LITTLE;
    const double elements = (double)n * (double)(n + 1) / 2;
    bool fits;
    LACIS_TRY(measure(m, type, n, 1, &fits));
    if (!fits) return LACIS_OK;
    const double one = m->least;
    LACIS_TRY(
        lacis_symv_set_figure(profile, lacis_symv_gpu_figure(type, false), 1e9 * (one - call) / elements, 1e-5));
    LACIS_TRY(measure(m, type, n, SIDES, &fits));
    if (!fits) return LACIS_OK;
    return lacis_symv_set_figure(profile, lacis_symv_gpu_figure(type, true),
                                 1e9 * (m->least - one) / elements / (SIDES - 1), 1e-6);
}

static lacis_status measure_all(struct measured *m, lacis_profile *profile)
{
    const double loaded_before = 1e-3;
    bool fits;
    LACIS_TRY(send_samples(m));
    LACIS_TRY(measure(m, LACIS_SYMV_F64, LITTLE, 1, &fits));
    if (!fits) return LACIS_OK;
    const double call = m->least, load = m->first - m->least;
    LACIS_TRY(lacis_profile_set(profile, LACIS_SYMV_GPU_CALL_FIGURE, call));
    if (load > loaded_before) LACIS_TRY(lacis_profile_set(profile, LACIS_SYMV_GPU_LOAD_FIGURE, load));
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        LACIS_TRY(figures_of(m, profile, (lacis_symv_type)type, call));
    return LACIS_OK;
}

lacis_status lacis_symv_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    char reason[200];
    lacis_gpu_facts facts;
    struct measured m = {.run = run, .gpu = lacis_run_gpu(run, reason, sizeof reason)};
    if (m.gpu == NULL) return LACIS_OK;
    lacis_gpu_describe(m.gpu, &facts);
    m.processors = facts.processors;
    m.a = lacis_gpu_alloc(m.gpu, SAMPLE);
    m.x = lacis_gpu_alloc(m.gpu, VECTORS);
    m.y = lacis_gpu_alloc(m.gpu, VECTORS);
    lacis_status status = LACIS_OK;
    if (m.a != NULL && m.x != NULL && m.y != NULL) status = measure_all(&m, profile);
    lacis_gpu_free(m.gpu, m.a);
    lacis_gpu_free(m.gpu, m.x);
    lacis_gpu_free(m.gpu, m.y);
    return status;
}

#else

lacis_status lacis_symv_gpu_calibrate(lacis_run *run, lacis_profile *profile)
{
    (void)run, (void)profile;
    return LACIS_OK;
}

#endif
