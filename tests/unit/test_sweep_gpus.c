/* SPDX-License-Identifier: Apache-2.0
 *
 * Slabs of SWEEP on several pretended GPUs before their kernels begin: how many share a call, what each gives of its
 * memory, depths of exchanges, slabs that are too thin, and what is given back where kernels cannot begin.
 */
#include "core/ranks.h"
#include "parity/sweeps.h"
#include "support/gpu_variant.h"
#include "sweep/gpu_several.h"
#include "sweep/system.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#define lacis_sweep_gpus_for        tested_gpus_for
#define lacis_sweep_gpus_deep       tested_gpus_deep
#define lacis_sweep_gpus_wait       tested_gpus_wait
#define lacis_sweep_gpus_system     tested_gpus_system
#define lacis_sweep_gpu_levels      fake_levels_of
#define lacis_sweep_gpu_read        fake_read
#define lacis_sweep_gpu_error_code  fake_error_code
#define lacis_sweep_gpu_current     fake_current
#define lacis_sweep_gpus_new        fake_gpus_new
#define lacis_sweep_gpus_free       fake_gpus_free
#define lacis_sweep_gpus_error_code fake_gpus_error_code
#define lacis_sweep_gpus_steps      fake_gpus_steps
#define lacis_sweep_gpus_slab       fake_gpus_slab
#define lacis_sweep_gpus_counted    fake_gpus_counted
#define lacis_sweep_gpus_copied     fake_gpus_copied
#define lacis_sweep_gpus_times      fake_gpus_times
#define lacis_sweep_gpus_bytes      fake_gpus_bytes
#define lacis_sweep_program_make    fake_program_make

/* --- kernels, which never begin ------------------------------------------------------------------------ */

static int fake_levels = 6;          /* of a pass */
static uint64_t fake_takes;          /* bytes that a slab takes besides its arrays */
static bool fake_apart;              /* whether that was asked for slabs whose borders do not go ahead */
static lacis_sweep_gpus_start begun; /* of the last system that was to begin */

static int fake_levels_of(const lacis_sweep_start *start)
{
    (void)start;
    return fake_levels;
}

static uint64_t fake_gpus_bytes(const lacis_sweep_start *whole, const lacis_sweep_cut *cut, bool apart, int part)
{
    (void)whole, (void)cut, (void)part;
    fake_apart = apart;
    return fake_takes;
}

static lacis_sweep_status fake_gpus_new(const lacis_sweep_gpus_start *start, lacis_sweep_gpus **out, int *cuda_error)
{
    begun = *start;
    *out = NULL;
    *cuda_error = 0;
    return LACIS_SWEEP_NO_MEMORY;
}

static int fake_current(void)
{
    return fake_entered;
}

static lacis_status fake_program_make(lacis_run *run, lacis_gpu *gpu, const lacis_sweep_work *work,
                                      const lacis_sweep_start *start, void **kernel)
{
    (void)run, (void)gpu, (void)work, (void)start, (void)kernel;
    return LACIS_OK;
}

static void fake_gpus_free(lacis_sweep_gpus *systems)
{
    assert_null(systems);
}

static lacis_sweep_status never(void)
{
    fail_msg("no system has begun");
    return LACIS_SWEEP_FAILED;
}
#define fake_gpus_steps(systems, count, change)  ((void)(systems), (void)(count), (void)(change), never())
#define fake_gpus_error_code(systems)            ((void)(systems), (int)never())
#define fake_gpus_slab(systems, k)               ((void)(systems), never(), (lacis_sweep_gpu *)NULL)
#define fake_gpus_counted(systems, out, reset)   ((void)(systems), (void)(out), (void)never())
#define fake_gpus_copied(systems)                ((void)(systems), (double)never())
#define fake_gpus_times(systems, k, line, lines) ((void)(systems), (void)(line), (void)(lines), never())
#define fake_read(slab, field)                   ((void)(slab), (void)(field), never())
#define fake_error_code(slab)                    ((void)(slab), (int)never())

#include "../../operators/sweep/share_gpus.c"
#include "../../operators/sweep/system_gpus.c"

/* ---------------------------------------------------------------------------------------------- fixture */

static sweeps grids;

static int setup(void **state)
{
    static const int64_t extent[3] = {60, 1000, 1}, side[3] = {1000, 1, 1};
    static const lacis_variant *const none[] = {NULL};
    dice seed = 5;
    parity *p = fixture_setup(state, "SWEEP", none);
    fake.devices = 2;
    p->host.gpus = 2;
    fake_levels = 6;
    fake_takes = 1000;
    sweeps_new(&grids, p, &seed, 2, extent, 1, true);
    enter(&grids, "side", grid_array(&grids, 1, side, 1, NULL, grids.n.array, 0));
    lacis_run_clear(&p->run);
    start_anew(p);
    last_note[0] = '\0';
    return 0;
}

static int finish(void **state)
{
    sweeps_free(&grids);
    return teardown(state);
}

/* How many GPUs share the call. */
static int many(parity *p, const char *text, lacis_sweep_work **work, bool start)
{
    lacis_gpu *gpu[LACIS_GPUS] = {lacis_gpu_at_hand(&p->run)};
    lacis_call *call = bind_on(p, text, grids.arrays, LACIS_ON_GPU);
    *work = call->work;
    const int count = lacis_sweep_gpus_for(call->work, 0, start, gpu);
    parity_unbind(p, call);
    return count;
}

#define AVERAGE "SWEEP g STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 500 TYPE f32"

/* ----------------------------------------------------------------------------------------------- tests */

static void how_many(void **state)
{
    parity *p = *state;
    lacis_sweep_work *work;
    assert_int_equal(many(p, AVERAGE, &work, true), 2);
    assert_int_equal(many(p, AVERAGE " PARTS 1", &work, true), 1);
    assert_int_equal(many(p, AVERAGE " PARTS 9", &work, true), 2);
    assert_int_equal(many(p, "SWEEP g STEP u[0,4] STEPS 9 EDGE y periodic", &work, true), 2);
    p->host.gpus = 1;
    assert_int_equal(many(p, AVERAGE, &work, true), 1);
    assert_string_equal(last_note, "");
}

/* The second slab is 60 x 504 floats, in a multiple of 256 bytes; a device has 100 MB, of which it gives nine tenths.
 */
static const uint64_t SLAB = UINT64_C(473) * 256;

static void memory_is_estimated(void **state)
{
    parity *p = *state;
    lacis_sweep_work *work;
    const uint64_t left = lacis_gpu_memory_left(lacis_gpu_at_hand(&p->run));
    fake_takes = left - SLAB;
    assert_int_equal(many(p, AVERAGE, &work, true), 2);
    fake_takes = left;
    assert_int_equal(many(p, AVERAGE, &work, false), 1);
    assert_string_equal(last_note, ""); /* costs are no run */
    assert_int_equal(many(p, AVERAGE, &work, true), 1);
    if (strstr(last_note, "one GPU has the grid: a slab for each of 2 takes 90") == NULL) fail_msg("%s", last_note);
}

/* The second slab has 504 rows, and one more of the face's values: 505 floats lie in 2,048 bytes. */
static void faces_take_memory_too(void **state)
{
    parity *p = *state;
    lacis_sweep_work *work;
    const uint64_t left = lacis_gpu_memory_left(lacis_gpu_at_hand(&p->run));
    const char *const text = AVERAGE " EXCHANGE EVERY 1 EDGE left fixed side";
    fake_takes = left - SLAB - 2048;
    assert_int_equal(many(p, text, &work, false), 2);
    fake_takes++;
    assert_int_equal(many(p, text, &work, false), 1);
}

static lacis_status begin_on_two(parity *p, const char *text)
{
    lacis_gpu *gpu[LACIS_GPUS] = {lacis_gpu_at_hand(&p->run)};
    lacis_sweep_system *system = NULL;
    lacis_sweep_input input;
    lacis_call *call = bind_on(p, text, grids.arrays, LACIS_ON_GPU);
    memset(&begun, 0, sizeof begun);
    parity_ok(p, lacis_sweep_take(&p->run, call->work, &input), text);
    assert_int_equal(lacis_sweep_gpus_for(call->work, 0, true, gpu), 2);
    const lacis_status status = lacis_sweep_gpus_system(&p->run, call, &input, 0, gpu, 2, &system);
    assert_non_null(system);
    system->kind->free(system);
    lacis_sweep_give(&p->run, &input);
    parity_unbind(p, call);
    assert_int_equal(fake.blocks, 0);
    return status;
}

static void how_they_exchange(void **state)
{
    parity *p = *state;
    /* Kernels have no memory, which is told; nothing is left on the devices. */
    char folder[] = "/tmp/lacis-times-XXXXXX", file[64];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/times.csv", folder);
    assert_int_equal(begin_on_two(p, AVERAGE), LACIS_UNSUPPORTED);
    if (strstr(p->host.error.message, "the fields") == NULL) fail_msg("%s", p->host.error.message);
    assert_true(begun.devices == 2 && begun.device[0] != begun.device[1] && begun.cut.grid[1] == 2);
    assert_true(begun.apart && begun.timed == 0 && begun.cut.deep > fake_levels && begun.cut.deep % fake_levels == 0);
    assert_true(begun.cut.deep <= 64 && begun.cut.halo[1] == begun.cut.deep && begun.part[1].start.origin[1] == 496);
    assert_true(fake_apart); /* memory is estimated for what is made */
    char text[300];
    snprintf(text, sizeof text, AVERAGE " EXCHANGE async EVERY 7 TO '%s'", file);
    begin_on_two(p, text);
    assert_true(!begun.apart && !fake_apart && begun.cut.deep == 7 && begun.timed > 0);
    assert_true(remove(file) == 0 && remove(folder) == 0);
    begin_on_two(p, AVERAGE " EXCHANGE sync EVERY 1");
    assert_true(begun.apart && begun.cut.deep == 1);
    begin_on_two(p, AVERAGE " CHANGE EVERY 10"); /* no further than the next look */
    assert_int_equal(begun.cut.deep, 10);
    begin_on_two(p, AVERAGE " CHANGE EVERY 1");
    assert_true(begun.cut.deep == 1 && !begun.apart);
}

/* What cannot be written is an error before anything begins; what means nothing is told. */
static void what_is_told(void **state)
{
    parity *p = *state;
    assert_int_equal(begin_on_two(p, AVERAGE " EXCHANGE TO '/nowhere/at/all'"), LACIS_IO);
    assert_string_equal(p->host.error.message, "cannot write \"/nowhere/at/all\": No such file or directory");
    assert_int_equal(begun.devices, 0);
    begin_on_two(p, AVERAGE " EXCHANGE BY kernel");
    assert_string_equal(last_note, "");
    begin_on_two(p, AVERAGE " EXCHANGE BY copy");
    assert_string_equal(last_note, "SWEEP: BY copy is for borders on ranks' GPUs, and means nothing here");
    begin_on_two(p, AVERAGE " EXCHANGE BY host");
    assert_string_equal(last_note, "SWEEP: BY host is for borders on ranks' GPUs, and means nothing here");
}

static void too_thin(void **state)
{
    static const int64_t extent[3] = {200, 40, 1};
    parity *p = *state;
    dice seed = 6;
    sweeps_free(&grids);
    sweeps_new(&grids, p, &seed, 2, extent, 1, true);
    assert_int_equal(begin_on_two(p, AVERAGE " EXCHANGE EVERY 30"), LACIS_RANGE); /* an error, not another variant */
    assert_true(p->host.error.offset == (int64_t)strlen(AVERAGE " EXCHANGE EVERY "));
    assert_string_equal(p->host.error.hint, "a smaller EVERY, or fewer PARTS");
    assert_string_equal(p->host.error.message,
                        "200 x 40 cells in 2 parts: shares of 16 cells along y are thinner than their halo of 30");
    assert_int_equal(begun.devices, 0);
    begin_on_two(p, AVERAGE);
    assert_true(begun.cut.deep >= 1 && begun.cut.deep <= 16);
    /* Where a step alone reaches too far, fewer GPUs share it, whatever EVERY says. */
    lacis_sweep_work *work;
    fake.devices = p->host.gpus = 4;
    start_anew(p);
    assert_int_equal(many(p, "SWEEP g STEP u[0,4] + u[0,-4] STEPS 9 EXCHANGE EVERY 2", &work, true), 4);
    sweeps_free(&grids);
    sweeps_new(&grids, p, &seed, 2, (const int64_t[3]){200, 19, 1}, 1, true);
    assert_int_equal(many(p, "SWEEP g STEP u[0,4] + u[0,-4] STEPS 9 EXCHANGE EVERY 2", &work, true), 2);
}

/* Halos that are too deep for eight ranks are not for two GPUs, which may take the grid; where it stays whole what
 * was written is an error. */
static void too_thin_for_ranks(void **state)
{
    static const int64_t extent[3] = {40, 40, 1};
    static const char text[] =
        "SWEEP g STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 9000000 EXCHANGE EVERY 14";
    static const char why[] = "40 x 40 cells in 8 parts: shares of 8 cells along x are thinner than their halo of 14";
    parity *p = *state;
    char reason[200] = "";
    dice seed = 7;
    lacis_ranks ranks = {.place = {.size = 8}, .rate = 1e9};
    sweeps_free(&grids);
    sweeps_new(&grids, p, &seed, 2, extent, 1, true);
    p->host.ranks = &ranks;
    lacis_call *call = bind_on(p, text, grids.arrays, LACIS_ON_AUTO);
    assert_false(lacis_sweep_ranks.can(call, reason, sizeof reason));
    assert_string_equal(reason, why);
    assert_int_equal(lacis_sweep_uncut(call->work), LACIS_RANGE);
    assert_string_equal(p->host.error.message, why);
    assert_string_equal(p->host.error.hint, "a smaller EVERY, or fewer PARTS");
    parity_unbind(p, call);
    begin_on_two(p, text);
    assert_true(begun.devices == 2 && begun.cut.deep == 14);
    p->host.ranks_use = LACIS_RANKS_OFF;
    call = bind_on(p, text, grids.arrays, LACIS_ON_AUTO);
    assert_int_equal(lacis_sweep_uncut(call->work), LACIS_OK);
    parity_unbind(p, call);
    p->host.ranks_use = LACIS_RANKS_AUTO;
    p->host.ranks = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(how_many, setup, finish),
        cmocka_unit_test_setup_teardown(memory_is_estimated, setup, finish),
        cmocka_unit_test_setup_teardown(faces_take_memory_too, setup, finish),
        cmocka_unit_test_setup_teardown(how_they_exchange, setup, finish),
        cmocka_unit_test_setup_teardown(what_is_told, setup, finish),
        cmocka_unit_test_setup_teardown(too_thin, setup, finish),
        cmocka_unit_test_setup_teardown(too_thin_for_ranks, setup, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
