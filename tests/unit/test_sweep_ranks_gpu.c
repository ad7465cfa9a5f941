/* SPDX-License-Identifier: Apache-2.0
 *
 * A rank's part of SWEEP on a pretended GPU before its kernels begin: what it takes is estimated to the byte, values
 * of faces too, and where that is more than is left another variant may go on.
 */
#include "core/team.h"
#include "parity/sweeps.h"
#include "support/gpu_variant.h"
#include "sweep/gpu_part.h"
#include "sweep/ranks.h"

#undef LACIS_GPU_KERNELS
#define LACIS_GPU_KERNELS
#include "sweep/device.h"

#define lacis_sweep_share_gpu_fits   tested_fits
#define lacis_sweep_share_gpu_begin  tested_begin
#define lacis_sweep_share_gpu_levels tested_levels
#define lacis_sweep_share_gpu_steps  tested_steps
#define lacis_sweep_share_gpu_read   tested_read
#define lacis_sweep_share_gpu_tell   tested_tell
#define lacis_sweep_share_gpu_count  tested_count
#define lacis_sweep_share_gpu_free   tested_free

/* --- kernels, which never begin ------------------------------------------------------------------------ */

static uint64_t fake_takes; /* bytes of a part besides its arrays */

static lacis_sweep_status never(void)
{
    fail_msg("no part has begun");
    return LACIS_SWEEP_FAILED;
}
#define lacis_sweep_gpu_part_bytes(start, cut, part, how)                                                            \
    ((void)(start), (void)(cut), (void)(part), (void)(how), fake_takes)
#define lacis_sweep_gpu_part_new(start, cut, part, mail, how, out)                                                   \
    ((void)(start), (void)(cut), (void)(part), (void)(mail), (void)(how), (void)(out), never())
#define lacis_sweep_gpu_part_free(part)  assert_null(part)
#define lacis_sweep_gpu_part_leave(part) assert_null(part)
#define lacis_sweep_gpu_part_straight(part, messages, why)                                                           \
    ((void)(part), *(messages) = 0, *(why) = NULL, (int)never())
#define lacis_sweep_gpu_part_error_code(part)           ((void)(part), (int)never())
#define lacis_sweep_gpu_part_steps(part, steps, change) ((void)(part), (void)(steps), (void)(change), never())
#define lacis_sweep_gpu_part_system(part)               ((void)(part), (lacis_sweep_gpu *)NULL)
#define lacis_sweep_gpu_part_spent(part, times, lines)  ((void)(part), (void)(times), (void)(lines), (void)never())
#define lacis_sweep_gpu_read(system, field)             ((void)(system), (void)(field), never())
#define lacis_sweep_gpu_counted(system, counts, reset)  ((void)(system), (void)(counts), (void)never())
#define lacis_sweep_gpu_levels(start)                   ((void)(start), 1)
#define lacis_sweep_program_make(run, gpu, work, start, kernel)                                                      \
    ((void)(run), (void)(gpu), (void)(work), (void)(start), (void)(kernel), LACIS_OK)

#include "../../operators/sweep/ranks_gpu.c"

/* ---------------------------------------------------------------------------------------------- fixture */

enum { NX = 60, NY = 1000 };
static sweeps grids;

static int setup(void **state)
{
    static const int64_t extent[3] = {NX, NY, 1}, side[3] = {NY, 1, 1};
    static const lacis_variant *const none[] = {NULL};
    dice seed = 5;
    parity *p = fixture_setup(state, "SWEEP", none);
    sweeps_new(&grids, p, &seed, 2, extent, 1, true);
    enter(&grids, "side", grid_array(&grids, 1, side, 1, NULL, grids.n.array, 0));
    lacis_run_clear(&p->run);
    start_anew(p);
    return 0;
}

static int finish(void **state)
{
    sweeps_free(&grids);
    return teardown(state);
}

/* Two slabs, of which the first has 496 rows and a halo of one: its block of the device has a multiple of 256 bytes
 * for the cells, and as much as it reads of the face's values. */
static const uint64_t CELLS = UINT64_C(60) * 496 * 4, VALUES = 2048; /* of 497 floats */

typedef struct sample {
    lacis_call *call;
    lacis_team team;
    lacis_sweep_share share;
} sample;

static void begin_sample(sample *s, parity *p, const char *text)
{
    char why[200] = "";
    s->call = bind_on(p, text, grids.arrays, LACIS_ON_GPU);
    const lacis_sweep_work *work = s->call->work;
    s->team = (lacis_team){.run = &p->run, .pieces = 2};
    s->share = (lacis_sweep_share){.run = &p->run, .work = work, .team = &s->team};
    s->share.brief = (lacis_sweep_brief){.deep = 1, .gpu = true, .slabs = true};
    memcpy(s->share.brief.extent, work->grid.extent, sizeof s->share.brief.extent);
    assert_true(lacis_sweep_ranks_cut(work, &s->share.brief, 2, &s->share.cut, why, sizeof why));
}

#define AVERAGE "SWEEP g STEP (u[-1,0] + u[1,0] + u[0,-1] + u[0,1]) / 4 STEPS 500 TYPE f32"

/* ----------------------------------------------------------------------------------------------- tests */

/* Whether it fits with `arrays` bytes of arrays, and not with one less. */
static void takes(parity *p, const char *text, uint64_t arrays)
{
    char why[200] = "";
    sample s;
    const uint64_t left = lacis_gpu_memory_left(lacis_gpu_at_hand(&p->run));
    const lacis_sweep_part_how how = {.overlap = true};
    begin_sample(&s, p, text);
    fake_takes = left - arrays;
    assert_true(tested_fits(s.share.work, &s.share.brief, &s.share.cut, 0, why, sizeof why));
    fake_takes++;
    assert_false(tested_fits(s.share.work, &s.share.brief, &s.share.cut, 0, why, sizeof why));
    if (strstr(why, "are left; SET gpu_memory_limit") == NULL) fail_msg("%s", why);
    assert_int_equal(tested_begin(&s.share, &how), LACIS_UNSUPPORTED); /* the planner goes on to the next variant */
    assert_string_equal(p->host.error.message, why);
    tested_free(s.share.gpu);
    parity_unbind(p, s.call);
    assert_int_equal(fake.blocks, 0);
}

static void memory_is_estimated(void **state)
{
    parity *p = *state;
    takes(p, AVERAGE, CELLS);
    takes(p, AVERAGE " EDGE left fixed side", CELLS + VALUES);
    takes(p, AVERAGE " EDGE left fixed side EDGE right fixed side", CELLS + 2 * VALUES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(memory_is_estimated, setup, finish),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
