/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for SOLVE: one thread over lanes in every shape, layout and way of sharing, many short runs, of which the
 * least counts. Whatever else the machine does makes some of them longer; a run that is waited for by several threads
 * would nearly always hold one that was. And all threads over chains that no cache holds, for the memory's rate.
 */
#include "solve/device.h"

#include <time.h>

enum { LANES = 256, ROWS = 128, FEWEST = 8, MOST = 200 }; /* systems; runs */
static const double ENOUGH = 0.02;                        /* seconds for a figure, once there are the fewest runs */
enum { FIELDS = 4, PLACES = LANES * ROWS };
enum { WIDE_LANES = 48 << 10, WIDE_ROUNDS = 4 }; /* chains of the same rows: 50 MB a field */

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *take(void *context, uint64_t bytes)
{
    return lacis_run_alloc_quiet(context, bytes);
}

static void give(void *context, void *block)
{
    lacis_run_free(context, block);
}

/* Dominant systems, different in every row. */
static void fill(double *field, int which, int64_t places)
{
    const double diagonal = 4, off = -0.9;
    for (int64_t i = 0; i < places; i++)
        field[i] = (which == 1 ? diagonal : which == 3 ? 1 : off) + 1e-3 * (double)(i % 97);
}

/* The least seconds of a run. */
static lacis_status time_job(lacis_run *run, const lacis_solve_job *job, double *least)
{
    lacis_solve_output out;
    const double begin = now();
    for (int round = 0; round < MOST && (round < FEWEST || now() - begin < ENOUGH); round++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        double start = now();
        lacis_solve_status status = lacis_solve_run(job, &out);
        double seconds = now() - start;
        if (status == LACIS_SOLVE_NO_MEMORY)
            return lacis_run_fail(run, LACIS_NOMEM, "SOLVE: the system has no more memory");
        if (round == 0 || seconds < *least) *least = seconds;
    }
    return LACIS_OK;
}

static lacis_status measure(lacis_run *run, lacis_profile *profile, lacis_solve_job *job, const char *figure)
{
    double least = 0;
    LACIS_TRY(time_job(run, job, &least));
    double ns = 1e9 * least / PLACES;
    return lacis_profile_set(profile, figure, ns > 0.1 ? ns : 0.1);
}

static lacis_status measure_all(lacis_run *run, lacis_profile *profile, double *values, const int32_t *parent)
{
    for (int which = 0; which < 8; which++) {
        const bool tree = which & 4, flat = which & 2, factored = which & 1;
        lacis_solve_side side = {0, flat ? 1 : LANES, 0, 0, 1};
        lacis_solve_group group = {LANES, ROWS, 0, 0, side, side, side};
        lacis_solve_job job = {.type = LACIS_SOLVE_F64,
                               .lower = {values, factored},
                               .diagonal = {values + PLACES, factored},
                               .upper = {values + 2 * PLACES, factored},
                               .rhs = {values + 3 * PLACES, false},
                               .x = values + FIELDS * PLACES,
                               .parent = tree ? parent : NULL,
                               .group = &group,
                               .groups = 1,
                               .threads = 1,
                               .host = {take, give, NULL, run}};
        LACIS_TRY(measure(run, profile, &job, lacis_solve_figure(tree, flat, factored)));
    }
    return LACIS_OK;
}

static lacis_status fill_wide(void *context, int64_t task, int worker)
{
    double *values = context;
    (void)worker;
    fill(values + task * PLACES, (int)(task / (WIDE_LANES / LANES)), PLACES); /* of whole fields */
    return LACIS_OK;
}

/* The least of a few rounds; the first touches x. */
static lacis_status time_wide(lacis_run *run, lacis_solve_job *job, double *least)
{
    lacis_solve_output out;
    for (int round = 0; round < WIDE_ROUNDS; round++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        double start = now();
        if (lacis_solve_run(job, &out) == LACIS_SOLVE_NO_MEMORY)
            return lacis_run_fail(run, LACIS_NOMEM, "SOLVE: the system has no more memory");
        double seconds = now() - start;
        if (round <= 1 || seconds < *least) *least = seconds;
    }
    return LACIS_OK;
}

/* x is fetched before it is written. Without so much memory the figure stays what it was. */
static lacis_status measure_memory(lacis_run *run, lacis_profile *profile)
{
    const int64_t places = (int64_t)WIDE_LANES * ROWS, moved = FIELDS + 2;
    const uint64_t bytes = sizeof(double) * (FIELDS + 1) * (uint64_t)places, part = 4;
    double least = 0;
    if (bytes > lacis_run_memory_left(run) / part) return LACIS_OK;
    double *values = lacis_run_alloc_quiet(run, bytes);
    if (values == NULL) return LACIS_OK;
    lacis_status status = lacis_run_parallel(run, FIELDS * (WIDE_LANES / LANES), fill_wide, values);
    const lacis_solve_side side = {0, WIDE_LANES, 0, 0, 1};
    const lacis_solve_group group = {WIDE_LANES, ROWS, 0, 0, side, side, side};
    lacis_solve_job job = {.type = LACIS_SOLVE_F64,
                           .lower = {values, false},
                           .diagonal = {values + places, false},
                           .upper = {values + 2 * places, false},
                           .rhs = {values + 3 * places, false},
                           .x = values + FIELDS * places,
                           .group = &group,
                           .groups = 1,
                           .threads = lacis_run_threads(run),
                           .host = {take, give, NULL, run}};
    if (status == LACIS_OK) status = time_wide(run, &job, &least);
    lacis_run_free(run, values);
    if (status != LACIS_OK || least <= 0) return status;
    return lacis_profile_set(profile, LACIS_SOLVE_MEMORY_FIGURE,
                             (double)moved * sizeof(double) * (double)places / least);
}

lacis_status lacis_solve_calibrate(lacis_run *run, lacis_profile *profile)
{
    double *values;
    int32_t parent[ROWS];
    LACIS_TRY(lacis_run_alloc(run, sizeof *values * (FIELDS + 1) * PLACES, &values));
    for (int i = 0; i < FIELDS; i++)
        fill(values + i * PLACES, i, PLACES);
    for (int r = 0; r < ROWS; r++)
        parent[r] = r == 0 ? -1 : r % 8 == 0 ? r / 2 : r - 1;
    lacis_status status = measure_all(run, profile, values, parent);
    lacis_run_free(run, values);
    if (status == LACIS_OK) status = measure_memory(run, profile);
    return status == LACIS_OK ? lacis_solve_gpu_calibrate(run, profile) : status;
}
