/* SPDX-License-Identifier: Apache-2.0
 *
 * TUNE SYMV on a pretended device: what it gives the kernels, which tables come of their pretended times, what these
 * say of a job, and how it ends when kernels fail or the user stops it.
 */
#include "support/check.h"
#include "support/gpu.h"

#include "symv/gpu.h"
#include "symv/measure.h"

#include "plan/tune.h"

/* Two that cross between 512 and 1024, one that is never best, one that refuses. */
static const lacis_symv_gpu_choice candidates[] = {{LACIS_SYMV_GPU_TILES, 32, 32, 4, 4, 4, 1},
                                                   {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 4, 1},
                                                   {LACIS_SYMV_GPU_RING, 64, 64, 8, 8, 2, 2},
                                                   {LACIS_SYMV_GPU_TICKETS, 64, 64, 8, 8, 2, 1}};

static struct {
    lacis_host host;
    lacis_run run;
    lacis_profile profile;
    lacis_gpu *gpu;
    const lacis_symv_gpu_job *job; /* of the run between two marks */
    double seconds[LACIS_SYMV_CLOCK_RUNS];
    int runs, clocks, held, fail_at, stop_at;
    int odd, even;
    const char *first, *last; /* where matrices lay */
} fix;

static const char *fake_refuses(const lacis_symv_gpu_job *job)
{
    return job->choice->kind == LACIS_SYMV_GPU_TICKETS ? "it never does" : NULL;
}

static int fake_candidates(lacis_symv_type type, const lacis_symv_gpu_choice **out)
{
    (void)type;
    *out = candidates;
    return LACIS_COUNT(candidates);
}

static double pretended(const lacis_symv_gpu_job *job)
{
    double n = (double)job->job.n, bytes = n * n / 2 * 8;
    if (job->choice->tx == 32) return 2e-6 + bytes / 1e12;
    return (job->choice->kind == LACIS_SYMV_GPU_RING ? 1.5 : 1) * (3e-6 + bytes / 3e12);
}

static lacis_symv_gpu_status fake_kernels(const lacis_symv_gpu_job *job, int *cuda_error)
{
    const lacis_symv_job *j = &job->job;
    assert_true(fix.held == 1);
    assert_true(j->ld == j->n && j->matrices == 1 && j->sides == 1 && j->order == LACIS_SYMV_FIXED);
    assert_non_null(j->x);
    assert_non_null(j->y);
    if (j->n % 2 == 0) fix.even++;
    if (j->n % 2 != 0) fix.odd++;
    if (fix.first == NULL) fix.first = j->a;
    if (fix.last < (const char *)j->a) fix.last = j->a;
    fix.seconds[fix.runs % LACIS_SYMV_CLOCK_RUNS] = pretended(job);
    *cuda_error = ++fix.runs == fix.fail_at ? FAKE_BROKEN : 0;
    if (fix.runs == fix.stop_at) atomic_store(&fix.host.cancel, 1);
    return *cuda_error != 0 ? LACIS_SYMV_GPU_FAILED : LACIS_SYMV_GPU_OK;
}

static int fake_clock_new(lacis_symv_clock **out)
{
    *out = (lacis_symv_clock *)&fix;
    fix.clocks++;
    return 0;
}
static void fake_clock_free(lacis_symv_clock *clock)
{
    fix.clocks -= clock != NULL;
}
static int fake_clock_hold(lacis_symv_clock *clock, void *stream)
{
    (void)clock, (void)stream;
    fix.held++;
    return 0;
}
static int fake_clock_begin(lacis_symv_clock *clock, int run, void *stream)
{
    (void)clock, (void)stream;
    assert_in_range(run, 0, LACIS_SYMV_CLOCK_RUNS - 1);
    return 0;
}
static int fake_clock_end(lacis_symv_clock *clock, int run, void *stream)
{
    return fake_clock_begin(clock, run, stream);
}
/* The runs of a batch all take as long. */
static int fake_clock_read(lacis_symv_clock *clock, int runs, void *stream, double *seconds)
{
    (void)clock, (void)stream;
    fix.held--;
    for (int i = 0; i < runs; i++)
        seconds[i] = fix.seconds[(fix.runs - 1) % LACIS_SYMV_CLOCK_RUNS];
    return 0;
}

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_symv_gpu_run        fake_kernels
#define lacis_symv_gpu_refuses    fake_refuses
#define lacis_symv_gpu_candidates fake_candidates
#define lacis_symv_clock_new      fake_clock_new
#define lacis_symv_clock_free     fake_clock_free
#define lacis_symv_clock_hold     fake_clock_hold
#define lacis_symv_clock_begin    fake_clock_begin
#define lacis_symv_clock_end      fake_clock_end
#define lacis_symv_clock_read     fake_clock_read
#define lacis_symv_tuned          tested_tuned
#define lacis_symv_tune           tested_tune
#define lacis_symv_explain_tuned  tested_explain
#include "../../operators/symv/tune.c"

/* --------------------------------------------------------------------------------------------- fixture */

static int setup(void **state)
{
    const uint64_t card = 100000000;
    char reason[200];
    (void)state;
    memset(&fix, 0, sizeof fix);
    fake_install(card);
    if (lacis_host_init(&fix.host) != LACIS_OK) return -1;
    lacis_run_init(&fix.run, &fix.host);
    lacis_profile_init(&fix.profile, &fix.host);
    fix.gpu = lacis_run_gpu(&fix.run, reason, sizeof reason);
    return fix.gpu == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(fix.clocks, 0);
    assert_int_equal(fix.held, 0);
    lacis_profile_clear(&fix.profile);
    lacis_run_clear(&fix.run);
    lacis_gpu_release(fix.host.gpu);
    fix.host.gpu = NULL;
    assert_int_equal(lacis_memory_used(fix.host.memory), 0);
    lacis_host_clear(&fix.host);
    fake_remove();
    return 0;
}

static lacis_symv_gpu_job job_of(int64_t n)
{
    return (lacis_symv_gpu_job){.job = {.type = LACIS_SYMV_F64, .matrices = 1, .sides = 1, .n = n, .ld = n}};
}

/* ------------------------------------------------------------------------------------------------ tests */

static void tables_of_both_triangles(void **state)
{
    (void)state;
    const lacis_tune_wish wish = {.type = "f64", .seconds = 600};
    lacis_symv_gpu_choice choice;
    assert_int_equal(tested_tune(&fix.run, &fix.profile, &wish), LACIS_OK);
    for (int uplo = 0; uplo < 2; uplo++) {
        lacis_symv_gpu_job job = job_of(128);
        job.job.uplo = (lacis_symv_uplo)uplo;
        assert_true(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
        assert_memory_equal(&choice, &candidates[0], sizeof choice);
        job.job.n = job.job.ld = 2000;
        assert_true(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
        assert_memory_equal(&choice, &candidates[1], sizeof choice);
    }
    assert_int_equal(fix.profile.tables, 6);
    static const lacis_tune_table small = {1, {{1, "ring 64x64 w8 u8 b2 c2"}}};
    lacis_symv_gpu_job job = job_of(101); /* an odd ld, or packed: columns begin anywhere */
    assert_int_equal(lacis_tune_put(&fix.profile, fix.gpu, "SYMV f64 LOWER unaligned", &small), LACIS_OK);
    assert_true(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
    assert_memory_equal(&choice, &candidates[2], sizeof choice);
    job = job_of(128);
    job.job.packed = true;
    assert_true(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
    assert_memory_equal(&choice, &candidates[2], sizeof choice);
    assert_true(fix.odd > 100 && fix.even > 100); /* columns that are aligned, and not */
    assert_true(fix.last > fix.first);            /* matrices rotate */
}

static void other_jobs_have_the_default(void **state)
{
    (void)state;
    const lacis_tune_wish wish = {.type = "F64", .seconds = 600};
    lacis_symv_gpu_choice choice;
    lacis_symv_gpu_job job = job_of(128);
    assert_false(tested_tuned(&fix.profile, fix.gpu, &job, &choice)); /* not tuned yet */
    assert_int_equal(tested_tune(&fix.run, &fix.profile, &wish), LACIS_OK);
    assert_true(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
    assert_false(tested_tuned(&fix.profile, NULL, &job, &choice));
    assert_false(tested_tuned(NULL, fix.gpu, &job, &choice));
    job.job.sides = 4;
    assert_false(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
    job.job.sides = 1;
    job.job.matrices = 9;
    assert_false(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
    job.job.matrices = 1;
    job.job.type = LACIS_SYMV_F32;
    assert_false(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
    static const lacis_tune_table refused = {1, {{1, "tickets 64x64 w8 u8 b2 c1"}}}, wrong = {1, {{1, "nonsense"}}};
    job.job.type = LACIS_SYMV_F64;
    assert_int_equal(lacis_tune_put(&fix.profile, fix.gpu, "SYMV f64 LOWER", &refused), LACIS_OK);
    assert_false(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
    assert_int_equal(lacis_tune_put(&fix.profile, fix.gpu, "SYMV f64 LOWER", &wrong), LACIS_OK);
    assert_false(tested_tuned(&fix.profile, fix.gpu, &job, &choice));
}

static void explain_shows_the_table(void **state)
{
    (void)state;
    lacis_lines lines;
    lacis_symv_gpu_job job = job_of(128);
    static const lacis_tune_table table = {2, {{1, "tiles 32x32 w4 u4 b4 c1"}, {700, "tiles 64x64 w8 u8 b4 c1"}}};
    lacis_lines_init(&lines, &fix.run);
    assert_int_equal(tested_explain(&lines, &fix.profile, fix.gpu, &job.job), LACIS_OK);
    assert_int_equal(lines.count, 0);
    assert_int_equal(lacis_tune_put(&fix.profile, fix.gpu, "SYMV f64 LOWER", &table), LACIS_OK);
    assert_int_equal(tested_explain(&lines, &fix.profile, fix.gpu, &job.job), LACIS_OK);
    assert_int_equal(lines.count, 2);
    assert_string_equal(lines.line[1], "tuned, SYMV f64 LOWER, from 700: tiles 64x64 w8 u8 b4 c1");
}

static void it_ends_when_it_must(void **state)
{
    (void)state;
    lacis_tune_wish wish = {.type = "f16"};
    assert_int_equal(tested_tune(&fix.run, &fix.profile, &wish), LACIS_NAME);
    assert_string_equal(fix.host.error.message, "SYMV has no type f16");
    wish.type = "f64";
    fix.stop_at = 77;
    assert_int_equal(tested_tune(&fix.run, &fix.profile, &wish), LACIS_INTERRUPT);
    assert_true(fix.runs < 77 + 10);
    atomic_store(&fix.host.cancel, 0);
    fix.stop_at = 0;
    fix.fail_at = fix.runs + 300;
    assert_int_equal(tested_tune(&fix.run, &fix.profile, &wish), LACIS_UNSUPPORTED);
    assert_int_equal(fix.runs, fix.fail_at);
    assert_int_equal(fix.profile.tables, 0);
}

static void too_little_memory(void **state)
{
    (void)state;
    const lacis_tune_wish wish = {.type = "f64"};
    lacis_device_set_limit(&fix.host, 4000);
    assert_int_equal(tested_tune(&fix.run, &fix.profile, &wish), LACIS_UNSUPPORTED);
    assert_int_equal(fix.runs, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(tables_of_both_triangles, setup, teardown),
                                       cmocka_unit_test_setup_teardown(other_jobs_have_the_default, setup, teardown),
                                       cmocka_unit_test_setup_teardown(explain_shows_the_table, setup, teardown),
                                       cmocka_unit_test_setup_teardown(it_ends_when_it_must, setup, teardown),
                                       cmocka_unit_test_setup_teardown(too_little_memory, setup, teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
