/* SPDX-License-Identifier: Apache-2.0
 *
 * What SOLVE costs on the CPU: nanoseconds an element, by shape, layout and type, as CALIBRATE measures them.
 */
#include "solve/systems.h"

#include <time.h>

enum shape { CHAIN, TREE, SHAPES };
enum layout { FLAT, SIDE, LAYOUTS };
enum kind { OWN, FACTORED, KINDS };

/* As CALIBRATE measures them for f64 on an AMD EPYC (Zen 4). */
static const struct figure {
    const char *name;
    double otherwise;
} figures[SHAPES][LAYOUTS][KINDS] = {
    [CHAIN] = {[FLAT] = {{"solve.chain.flat", 3}, {"solve.chain.flat.factored", 1.5}},
               [SIDE] = {{"solve.chain.side", 2}, {"solve.chain.side.factored", 0.8}}},
    [TREE] = {[FLAT] = {{"solve.tree.flat", 4.5}, {"solve.tree.flat.factored", 2}},
              [SIDE] = {{"solve.tree.side", 2.8}, {"solve.tree.side.factored", 1}}},
};
/* Times that of f64. */
static const double of_type[LACIS_SOLVE_TYPES] = {
    [LACIS_SOLVE_F64] = 1, [LACIS_SOLVE_F32] = 0.4, [LACIS_SOLVE_MIXED] = 0.7, [LACIS_SOLVE_C128] = 4};

static const double START = 2e-5; /* seconds */

/* Lanes that are too few for a vector cost as much as one. */
static double computed(const lacis_batch *batch, int side)
{
    double elements = 0;
    for (int64_t g = 0; g < batch->groups; g++) {
        int64_t lanes = (batch->group[g].lanes + side - 1) / side * side;
        elements += (double)(batch->groups > 1 && batch->parent == NULL ? batch->group[g].lanes : lanes) *
                    (double)batch->group[g].rows;
    }
    return elements;
}

static bool is_factored(const lacis_solve_job *job)
{
    return job->lower.shared && job->diagonal.shared && job->upper.shared && job->type != LACIS_SOLVE_C128;
}

lacis_status lacis_solve_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    const lacis_solve *work = call->work;
    const lacis_batch *batch = &work->like->batch;
    lacis_solve_job job;
    double wanted = batch->lanes > 0 ? (double)call->units / (double)batch->lanes : 0;
    LACIS_TRY(lacis_solve_job_of(run, work, 0, batch->lanes, batch, &job));
    bool flat = work->matrix.batch.block == 1 || work->rhs.batch.block == 1;
    const struct figure *figure = &figures[work->tree ? TREE : CHAIN][flat ? FLAT : SIDE][is_factored(&job)];
    double ns = lacis_profile_get(profile, figure->name, figure->otherwise) * of_type[work->type];
    double elements = (double)batch->elements * wanted, places = (double)batch->places * wanted;
    double bytes = lacis_solve_bytes(work->type) + (work->status ? 1 : 0) + (work->residual ? 8 : 0);
    out->seconds = START + 1e-9 * ns * computed(batch, 8) * wanted / job.threads;
    if (work->residual) out->seconds += 1e-9 * 10 * elements / job.threads;
    out->products = elements;
    out->entries = elements;
    out->bytes = bytes * places;
    out->peak_bytes =
        out->bytes + (double)lacis_solve_work_bytes(&job) + (work->status ? 8.0 * (double)call->units : 0);
    return LACIS_OK;
}

/* --- CALIBRATE --------------------------------------------------------------------------------------- */

enum { LANES = 512, ROWS = 256, ROUNDS = 5 };

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
static void fill(double *field, int which)
{
    const double diagonal = 4, off = -0.9;
    for (int64_t i = 0; i < (int64_t)LANES * ROWS; i++)
        field[i] = (which == 1 ? diagonal : which == 3 ? 1 : off) + 1e-3 * (double)(i % 97);
}

static lacis_status measure(lacis_run *run, lacis_profile *profile, lacis_solve_job *job, const struct figure *figure)
{
    double least = 0;
    lacis_solve_output out;
    for (int round = 0; round < ROUNDS; round++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        double start = now();
        lacis_solve_status status = lacis_solve_run(job, &out);
        double seconds = now() - start;
        if (status == LACIS_SOLVE_NO_MEMORY)
            return lacis_run_fail(run, LACIS_NOMEM, "SOLVE: the system has no more memory");
        if (round == 0 || seconds < least) least = seconds;
    }
    double ns = 1e9 * (least - START / 4) * job->threads / ((double)LANES * ROWS);
    return lacis_profile_set(profile, figure->name, ns > 0.1 ? ns : 0.1);
}

static lacis_status measure_all(lacis_run *run, lacis_profile *profile, double *values, int32_t *parent)
{
    const int64_t places = (int64_t)LANES * ROWS;
    for (int i = 0; i < 4; i++)
        fill(values + i * places, i);
    for (int r = 0; r < ROWS; r++)
        parent[r] = r == 0 ? -1 : r % 8 == 0 ? r / 2 : r - 1;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int layout = 0; layout < LAYOUTS; layout++)
            for (int kind = 0; kind < KINDS; kind++) {
                lacis_solve_side side = {0, layout == FLAT ? 1 : LANES, 0, 0, 1};
                lacis_solve_group group = {LANES, ROWS, 0, 0, side, side, side};
                lacis_solve_job job = {.type = LACIS_SOLVE_F64,
                                       .lower = {values, kind == FACTORED},
                                       .diagonal = {values + places, kind == FACTORED},
                                       .upper = {values + 2 * places, kind == FACTORED},
                                       .rhs = {values + 3 * places, false},
                                       .x = values + 4 * places,
                                       .parent = shape == TREE ? parent : NULL,
                                       .group = &group,
                                       .groups = 1,
                                       .threads = lacis_run_threads(run),
                                       .host = {take, give, NULL, run}};
                LACIS_TRY(measure(run, profile, &job, &figures[shape][layout][kind]));
            }
    return LACIS_OK;
}

lacis_status lacis_solve_calibrate(lacis_run *run, lacis_profile *profile)
{
    double *values;
    int32_t parent[ROWS];
    LACIS_TRY(lacis_run_alloc(run, sizeof *values * 5 * LANES * ROWS, &values));
    lacis_status status = measure_all(run, profile, values, parent);
    lacis_run_free(run, values);
    return status;
}
