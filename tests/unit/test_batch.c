/* SPDX-License-Identifier: Apache-2.0
 *
 * Interleaved batches: what SQL sees of every layout, groups of lanes, trees, shared and complex fields, the way
 * through a database file, and descriptions that do not go together.
 */
#include "support/db.h"

#include <unistd.h>

enum { LANES = 5, ROWS = 3 };

static int setup(void **state)
{
    *state = db_open(NULL);
    return 0;
}

static int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

/* Value 10 * lane + row at its place, -1 in padding. */
static int64_t place_all(int64_t block, double *out)
{
    int64_t side = block == 0 ? LANES : block, flocks = (LANES + side - 1) / side, places = flocks * side * ROWS;
    for (int64_t i = 0; i < places; i++)
        out[i] = -1;
    for (int64_t lane = 0; lane < LANES; lane++)
        for (int64_t row = 0; row < ROWS; row++)
            out[(lane / side) * side * ROWS + row * side + lane % side] = 10.0 * (double)lane + (double)row;
    return places;
}

static lacis_status create(lacis_engine *engine, int64_t block, const char *name)
{
    double value[64];
    int64_t places = place_all(block, value);
    const lacis_part parts[] = {{"block", LACIS_I64, 1, &block}, {"value", LACIS_F64, places, value}};
    const lacis_array_spec spec = {LACIS_INTERLEAVED, LACIS_F64, {LANES, ROWS}, parts, 2};
    return lacis_array_create(engine, name, &spec);
}

static void every_layout_shows_the_same_rows(void **state)
{
    static const int64_t blocks[] = {1, 0, 2, 4, 8};
    for (int i = 0; i < 5; i++) {
        assert_int_equal(create(*state, blocks[i], "x"), LACIS_OK);
        db_expect(*state, "SELECT count(*), sum(value), max(value) FROM x", "15,315.0,42.0\n");
        db_expect(*state, "SELECT * FROM x WHERE lane = 3", "3,0,30.0\n3,1,31.0\n3,2,32.0\n");
        db_expect(*state, "SELECT lane, value FROM x WHERE row = 2 AND lane >= 3", "3,32.0\n4,42.0\n");
        db_expect(*state, "SELECT lane, row FROM x WHERE lane IN (4, 1, 9) AND row BETWEEN 1 AND 7",
                  "1,1\n1,2\n4,1\n4,2\n");
        db_expect(*state, "SELECT lane, row FROM x ORDER BY value DESC LIMIT 2", "4,2\n4,1\n");
    }
}

/* Two groups: lanes 0 and 1 of two rows, lane 2 of three; u is shared within each. */
static lacis_status create_groups(lacis_engine *engine, const int32_t *parent, int64_t parents)
{
    static const int64_t lanes[] = {2, 1}, rows[] = {2, 3};
    static const double d[] = {1, 2, 3, 4, 5, 6, 7}, u[] = {0.5, 0.25, 8, 9, 10};
    const lacis_part parts[] = {{"d", LACIS_F64, 7, d},
                                {"group_lanes", LACIS_I64, 2, lanes},
                                {"group_rows", LACIS_I64, 2, rows},
                                {"u", LACIS_F64, 5, u},
                                {"parent", LACIS_I32, parents, parent}};
    const lacis_array_spec spec = {LACIS_INTERLEAVED, LACIS_F64, {3, 3}, parts, 5};
    return lacis_array_create(engine, "g", &spec);
}

static void groups_trees_and_shared_fields(void **state)
{
    static const int32_t parent[] = {-1, 0, -1, 0, 0};
    assert_int_equal(create_groups(*state, parent, 5), LACIS_OK);
    db_expect(*state, "SELECT * FROM g",
              "0,0,-1,1.0,0.5\n0,1,0,2.0,0.25\n1,0,-1,3.0,0.5\n1,1,0,4.0,0.25\n"
              "2,0,-1,5.0,8.0\n2,1,0,6.0,9.0\n2,2,0,7.0,10.0\n");
    db_expect(*state, "SELECT count(*) FROM g", "7\n");
    db_expect(*state, "SELECT row FROM g WHERE lane IN (2, 0) AND row > 0", "1\n1\n2\n");
}

static void what_does_not_fit_is_refused(void **state)
{
    static const int32_t late[] = {-1, 0, -1, 2, 0}, below[] = {-1, -2, -1, 0, 0};
    assert_int_equal(create_groups(*state, late, 5), LACIS_TYPE);
    assert_non_null(strstr(lacis_error_message(*state), "lane 2"));
    assert_int_equal(create_groups(*state, below, 5), LACIS_TYPE);
    assert_int_equal(create_groups(*state, late, 4), LACIS_TYPE);
    int64_t block = -1;
    double value[64] = {0};
    lacis_part parts[] = {{"block", LACIS_I64, 1, &block}, {"value", LACIS_F64, 15, value}};
    lacis_array_spec spec = {LACIS_INTERLEAVED, LACIS_F64, {LANES, ROWS}, parts, 2};
    assert_int_equal(lacis_array_create(*state, "x", &spec), LACIS_TYPE);
    block = 4; /* needs 24 places */
    assert_int_equal(lacis_array_create(*state, "x", &spec), LACIS_TYPE);
    assert_non_null(strstr(lacis_error_message(*state), "24"));
    spec.extent[0] = INT64_MAX / 2;
    assert_int_equal(lacis_array_create(*state, "x", &spec), LACIS_TYPE);
}

static void complex_fields_are_two_columns(void **state)
{
    static const double z[] = {1, -1, 2, -2};
    const lacis_part parts[] = {{"z", LACIS_C128, 2, z}};
    const lacis_array_spec spec = {LACIS_INTERLEAVED, LACIS_C128, {1, 2}, parts, 1};
    assert_int_equal(lacis_array_create(*state, "z", &spec), LACIS_OK);
    db_expect(*state, "SELECT row, z, z_im FROM z", "0,1.0,-1.0\n1,2.0,-2.0\n");
}

static void batches_live_in_a_file(void **state)
{
    (void)state;
    static const int32_t parent[] = {-1, 0, -1, 0, 0};
    char path[] = "/tmp/lacis-batch-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    lacis_engine *engine = db_open(path);
    assert_int_equal(create(engine, 4, "x"), LACIS_OK);
    assert_int_equal(create_groups(engine, parent, 5), LACIS_OK);
    lacis_close(engine);
    engine = db_open(path);
    db_expect(engine, "SELECT sum(value) FROM x", "315.0\n");
    db_expect(engine, "SELECT parent, d, u FROM g WHERE lane = 2", "-1,5.0,8.0\n0,6.0,9.0\n0,7.0,10.0\n");
    lacis_close(engine);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_layout_shows_the_same_rows, setup, teardown),
        cmocka_unit_test_setup_teardown(groups_trees_and_shared_fields, setup, teardown),
        cmocka_unit_test_setup_teardown(what_does_not_fit_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(complex_fields_are_two_columns, setup, teardown),
        cmocka_unit_test(batches_live_in_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
