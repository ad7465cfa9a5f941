/* SPDX-License-Identifier: Apache-2.0
 *
 * How a grid is cut into parts: shares cover it and end at tiles' borders, what one part sends is what its neighbour
 * expects and fills every halo cell once, centre and rim make up a part, and what cannot be cut is refused.
 */
#include "support/check.h"
#include "sweep/parts.h"

enum { ROUNDS = 4000, MOST = 12 };
static const int64_t tile[3] = {LACIS_SWEEP_TILE_X, LACIS_SWEEP_TILE_Y, 1};

static uint64_t seed = 1;
static int64_t draw(int64_t most) /* 0 .. most */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(seed >> 33) % (most + 1);
}

/* A grid with one field, whose rule reaches so far along each axis; taps on the axes, or a diagonal one besides. */
static lacis_sweep_tap taps[8];
static void make_start(lacis_sweep_start *out, int dims, const int64_t extent[3], const int reach[3], bool diagonal)
{
    int count = 0;
    memset(out, 0, sizeof *out);
    memset(taps, 0, sizeof taps);
    out->dims = dims;
    out->fields = 1;
    out->levels = 1;
    for (int axis = 0; axis < 3; axis++) {
        out->extent[axis] = axis < dims ? extent[axis] : 1;
        if (axis < dims) taps[count++].at[axis] = (int8_t)-reach[axis];
        out->edge[0][2 * axis].kind = out->edge[0][2 * axis + 1].kind = LACIS_SWEEP_CLAMP;
    }
    if (diagonal) {
        for (int axis = 0; axis < dims; axis++)
            taps[count].at[axis] = (int8_t)(reach[axis] > 0);
        count++;
    }
    out->rule[0] = (lacis_sweep_rule){.taps = count, .tap = taps};
}

static void wrap(const lacis_sweep_cut *cut, lacis_sweep_box *box)
{
    for (int axis = 0; axis < 3; axis++) {
        int64_t by = box->begin[axis] < 0                   ? cut->whole[axis]
                     : box->begin[axis] >= cut->whole[axis] ? -cut->whole[axis]
                                                            : 0;
        box->begin[axis] += by;
        box->end[axis] += by;
    }
}

static bool within(const lacis_sweep_box *box, const int64_t at[3])
{
    for (int axis = 0; axis < 3; axis++)
        if (at[axis] < box->begin[axis] || at[axis] >= box->end[axis]) return false;
    return true;
}

/* ------------------------------------------------------------------------------------------- checks */

static void check_shares(const lacis_sweep_cut *cut)
{
    int64_t cells = 0;
    for (int part = 0; part < cut->parts; part++) {
        lacis_sweep_box box;
        int place[3];
        lacis_sweep_cut_box(cut, part, &box);
        lacis_sweep_cut_place(cut, part, place);
        assert_int_equal(lacis_sweep_cut_part(cut, place), part);
        for (int axis = 0; axis < 3; axis++) {
            assert_int_equal(box.begin[axis] % tile[axis], 0);
            assert_true(box.end[axis] % tile[axis] == 0 || box.end[axis] == cut->whole[axis]);
            assert_true(box.end[axis] - box.begin[axis] >= cut->halo[axis]);
            if (place[axis] == 0) assert_int_equal(box.begin[axis], 0);
            if (place[axis] == cut->grid[axis] - 1) assert_int_equal(box.end[axis], cut->whole[axis]);
        }
        cells += lacis_sweep_box_cells(&box);
    }
    assert_int_equal(cells, cut->whole[0] * cut->whole[1] * cut->whole[2]);
}

/* Each message has its other end: the cells sent are those expected, but for a wrap. */
static void check_messages(const lacis_sweep_cut *cut, bool corners)
{
    lacis_sweep_message mine[LACIS_SWEEP_MESSAGES], theirs[LACIS_SWEEP_MESSAGES];
    for (int part = 0; part < cut->parts; part++) {
        const int count = lacis_sweep_cut_messages(cut, part, corners, mine);
        for (int i = 0; i < count; i++) {
            const lacis_sweep_message *m = &mine[i], *end = NULL;
            const int others = lacis_sweep_cut_messages(cut, m->part, corners, theirs);
            assert_int_not_equal(m->part, part);
            for (int j = 0; j < others; j++)
                if (theirs[j].part == part && theirs[j].tag_in == m->tag_out) end = &theirs[j];
            assert_non_null(end);
            lacis_sweep_box in = end->in;
            wrap(cut, &in);
            assert_memory_equal(&in, &m->out, sizeof in);
            assert_int_equal(lacis_sweep_box_cells(&end->in), m->cells);
            assert_int_equal(lacis_sweep_box_cells(&m->in), m->cells);
        }
    }
}

/* The part with its halo at INNER faces. */
static void with_halo(const lacis_sweep_cut *cut, int part, lacis_sweep_box *box)
{
    lacis_sweep_cut_box(cut, part, box);
    for (int axis = 0; axis < 3; axis++) {
        if (lacis_sweep_cut_inner(cut, part, 2 * axis)) box->begin[axis] -= cut->halo[axis];
        if (lacis_sweep_cut_inner(cut, part, 2 * axis + 1)) box->end[axis] += cut->halo[axis];
    }
}

static void check_halo(const lacis_sweep_cut *cut, int part)
{
    lacis_sweep_message message[LACIS_SWEEP_MESSAGES];
    lacis_sweep_box own, all;
    int64_t cells = 0;
    const int count = lacis_sweep_cut_messages(cut, part, true, message);
    lacis_sweep_cut_box(cut, part, &own);
    with_halo(cut, part, &all);
    for (int i = 0; i < count; i++) {
        const lacis_sweep_box *in = &message[i].in;
        const int64_t last[3] = {in->end[0] - 1, in->end[1] - 1, in->end[2] - 1};
        assert_true(within(&all, in->begin) && within(&all, last));
        assert_false(within(&own, in->begin) || within(&own, last));
        cells += message[i].cells;
        for (int j = 0; j < i; j++) { /* boxes of a grid of boxes: their corners tell */
            assert_false(within(&message[j].in, in->begin) || within(in, message[j].in.begin));
        }
    }
    assert_int_equal(cells, lacis_sweep_box_cells(&all) - lacis_sweep_box_cells(&own));
}

static void check_rim(const lacis_sweep_cut *cut, int part)
{
    lacis_sweep_box centre, rim[LACIS_SWEEP_RIM], own, all;
    lacis_sweep_cut_box(cut, part, &own);
    const bool there = lacis_sweep_cut_centre(cut, part, &centre);
    assert_int_equal(there, lacis_sweep_box_cells(&centre) > 0);
    for (int axis = 0; axis < 3 && there; axis++) {
        if (lacis_sweep_cut_inner(cut, part, 2 * axis))
            assert_true(centre.begin[axis] - own.begin[axis] >= cut->reach[axis]);
        if (lacis_sweep_cut_inner(cut, part, 2 * axis + 1))
            assert_true(own.end[axis] - centre.end[axis] >= cut->reach[axis]);
        assert_int_equal(centre.begin[axis] % tile[axis], 0);
        assert_true(centre.end[axis] % tile[axis] == 0 || centre.end[axis] == own.end[axis]);
    }
    for (int more = 0; more < cut->deep; more++) {
        const int count = lacis_sweep_cut_rim(cut, part, &centre, more, rim);
        int64_t cells = lacis_sweep_box_cells(&centre), wanted = 1;
        for (int axis = 0; axis < 3; axis++) {
            all = own;
            wanted *=
                own.end[axis] - own.begin[axis] +
                cut->reach[axis] * more *
                    (lacis_sweep_cut_inner(cut, part, 2 * axis) + lacis_sweep_cut_inner(cut, part, 2 * axis + 1));
        }
        with_halo(cut, part, &all);
        for (int i = 0; i < count; i++) {
            cells += lacis_sweep_box_cells(&rim[i]);
            const int64_t last[3] = {rim[i].end[0] - 1, rim[i].end[1] - 1, rim[i].end[2] - 1};
            assert_true(within(&all, rim[i].begin) && within(&all, last));
            for (int axis = 0; axis < 3 && more == 0; axis++)
                assert_int_equal(rim[i].begin[axis] % tile[axis], 0);
        }
        assert_int_equal(cells, wanted);
    }
}

static void test_random(void **state)
{
    (void)state;
    int done[4] = {0};
    for (int round = 0; round < ROUNDS; round++) {
        lacis_sweep_start start;
        lacis_sweep_cut cut;
        char why[200];
        const int dims = 1 + (int)draw(2), parts = 1 + (int)draw(MOST - 1), deep = 1 + (int)draw(3);
        const int64_t most = dims == 1 ? 5000 : dims == 2 ? 400 : 120;
        const int64_t extent[3] = {1 + draw(most), 1 + draw(most), 1 + draw(most / 4)};
        const int reach[3] = {(int)draw(4), (int)draw(4), (int)draw(4)};
        const bool diagonal = draw(1) != 0;
        make_start(&start, dims, extent, reach, diagonal);
        for (int axis = 0; axis < dims; axis++)
            if (draw(1) != 0) start.edge[0][2 * axis].kind = start.edge[0][2 * axis + 1].kind = LACIS_SWEEP_PERIODIC;
        if (!lacis_sweep_cut_make(&start, parts, deep, &cut, why, sizeof why)) continue;
        done[dims] += parts > 1;
        assert_int_equal(cut.grid[0] * cut.grid[1] * cut.grid[2], parts);
        check_shares(&cut);
        check_messages(&cut, true);
        check_messages(&cut, false);
        for (int part = 0; part < parts; part++) {
            check_halo(&cut, part);
            check_rim(&cut, part);
        }
    }
    for (int dims = 1; dims <= 3; dims++)
        assert_true(done[dims] > 100);
}

/* ------------------------------------------------------------------------------------------ choices */

static void check_grid(const lacis_sweep_start *start, int parts, int deep, int x, int y, int z)
{
    lacis_sweep_cut cut;
    char why[200];
    if (!lacis_sweep_cut_make(start, parts, deep, &cut, why, sizeof why)) fail_msg("%s", why);
    if (cut.grid[0] != x || cut.grid[1] != y || cut.grid[2] != z)
        fail_msg("%d x %d x %d parts, not %d x %d x %d", cut.grid[0], cut.grid[1], cut.grid[2], x, y, z);
}

static void test_least_surface(void **state)
{
    (void)state;
    lacis_sweep_start start;
    const int one[3] = {1, 1, 1};
    make_start(&start, 2, (const int64_t[3]){4096, 4096, 1}, one, false);
    check_grid(&start, 1, 1, 1, 1, 1);
    check_grid(&start, 2, 1, 1, 2, 1); /* rows lie in one piece */
    check_grid(&start, 3, 1, 1, 3, 1);
    check_grid(&start, 4, 1, 2, 2, 1);
    check_grid(&start, 6, 1, 2, 3, 1);
    make_start(&start, 2, (const int64_t[3]){65536, 512, 1}, one, false);
    check_grid(&start, 6, 1, 6, 1, 1);
    make_start(&start, 3, (const int64_t[3]){512, 512, 512}, one, false);
    check_grid(&start, 2, 1, 1, 1, 2);
    check_grid(&start, 8, 4, 2, 2, 2);
    make_start(&start, 1, (const int64_t[3]){1000, 1, 1}, one, false);
    check_grid(&start, 6, 1, 6, 1, 1);
    lacis_sweep_cut cut;
    char why[200];
    make_start(&start, 2, (const int64_t[3]){64, 64, 1}, one, false);
    assert_true(lacis_sweep_cut_make(&start, 4, 1, &cut, why, sizeof why) && !cut.corners);
    make_start(&start, 2, (const int64_t[3]){64, 64, 1}, one, true);
    assert_true(lacis_sweep_cut_make(&start, 4, 1, &cut, why, sizeof why) && cut.corners);
    assert_true(lacis_sweep_cut_surface(&cut) == 2 * (64 + 64));
}

static void check_refused(const lacis_sweep_start *start, int parts, int deep, const char *wanted)
{
    lacis_sweep_cut cut;
    char why[200] = "";
    if (lacis_sweep_cut_make(start, parts, deep, &cut, why, sizeof why)) fail_msg("not refused: %s", wanted);
    assert_string_equal(why, wanted);
}

static void test_refused(void **state)
{
    (void)state;
    lacis_sweep_start start;
    const int two[3] = {2, 2, 2};
    make_start(&start, 2, (const int64_t[3]){40, 29, 1}, two, false);
    check_refused(&start, 4, 5,
                  "40 x 29 cells in 4 parts: shares of 8 cells along x are thinner than their halo of 10");
    check_refused(&start, 2, 8,
                  "40 x 29 cells in 2 parts: shares of 13 cells along y are thinner than their halo of 16");
    check_refused(&start, 64, 1,
                  "40 x 29 cells in 64 parts: shares of 0 cells along y are thinner than their halo of 2");
    make_start(&start, 1, (const int64_t[3]){33, 1, 1}, two, false);
    check_refused(&start, 2, 1, "33 cells in 2 parts: shares of 1 cells along x are thinner than their halo of 2");
    make_start(&start, 1, (const int64_t[3]){300, 1, 1}, two, false);
    check_grid(&start, 3, 1, 3, 1, 1);
    make_start(&start, 1, (const int64_t[3]){34, 1, 1}, two, false);
    check_refused(&start, 2, 1, "34 cells in 2 parts: shares of 2 cells along x are no thicker than their halo of 2");
    make_start(&start, 1, (const int64_t[3]){300, 1, 1}, two, false);
    start.fields = 2;
    start.rule[1] = start.rule[0];
    start.edge[0][0].kind = start.edge[0][1].kind = LACIS_SWEEP_PERIODIC;
    check_refused(&start, 2, 1, "axes that are periodic for some fields alone are not cut, and no other one can be");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_least_surface),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
