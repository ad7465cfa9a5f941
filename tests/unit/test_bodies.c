/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies: what SQL sees of them, with ids in any order, made by the interface, lent or written in SQL; what is
 * refused; and the way through a database file.
 */
#include "support/db.h"

#include <math.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>

enum { N = 4 };

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

static const double m[N] = {1, 0, 2.5, 0.1}, x[N] = {0, 1, -2, 3}, y[N] = {0.5, 0, 0, 1e-3}, z[N] = {0, 0, 7, -1},
                    vx[N] = {1, 2, 3, 4}, vy[N] = {-1, 0, 0, 0}, vz[N] = {0, 0, 0, 1e300}, eps[N] = {0, 0.1, 0.2, 0},
                    a[N] = {1, 1, 1, 1}, phi[N] = {-1, -2, -3, -4}, when = 0.5;
static const int64_t id[N] = {30, -7, 12, 4};

/* All that bodies can have; the first four are what they must have. */
static const lacis_part every[] = {
    {"m", LACIS_F64, N, m},     {"x", LACIS_F64, N, x},        {"y", LACIS_F64, N, y},   {"z", LACIS_F64, N, z},
    {"phi", LACIS_F64, N, phi}, {"vx", LACIS_F64, N, vx},      {"vy", LACIS_F64, N, vy}, {"vz", LACIS_F64, N, vz},
    {"ax", LACIS_F64, N, a},    {"ay", LACIS_F64, N, a},       {"az", LACIS_F64, N, a},  {"eps", LACIS_F64, N, eps},
    {"id", LACIS_I64, N, id},   {"time", LACIS_F64, 1, &when},
};
enum { EVERY = sizeof every / sizeof every[0] };

static lacis_status create(lacis_engine *engine, const char *name, const lacis_part *parts, int count)
{
    const lacis_array_spec spec = {LACIS_BODIES, LACIS_F64, {N, 0}, parts, count};
    return lacis_array_create(engine, name, &spec);
}

static void bodies_at_rest_are_numbered_from_0(void **state)
{
    assert_int_equal(create(*state, "b", every, 4), LACIS_OK);
    db_expect(*state, "SELECT * FROM b",
              "0,1.0,0.0,0.5,0.0,0.0,0.0,0.0\n1,0.0,1.0,0.0,0.0,0.0,0.0,0.0\n2,2.5,-2.0,0.0,7.0,0.0,0.0,0.0\n"
              "3,0.1,3.0,0.001,-1.0,0.0,0.0,0.0\n");
    db_expect(*state, "SELECT id FROM b WHERE id > 1", "2\n3\n");
    db_expect(*state, "SELECT count(*), sum(id), min(id), max(id) FROM b", "4,6,0,3\n");
    db_expect(*state, "SHOW ARRAYS", "b,bodies,4,4,f64,128,NULL\n");
}

static void ids_may_lie_in_any_order(void **state)
{
    assert_int_equal(create(*state, "b", every, EVERY), LACIS_OK);
    db_expect(*state, "SELECT * FROM b",
              "-7,0.0,1.0,0.0,0.0,2.0,0.0,0.0,0.1,1.0,1.0,1.0,-2.0\n"
              "4,0.1,3.0,0.001,-1.0,4.0,0.0,1e+300,0.0,1.0,1.0,1.0,-4.0\n"
              "12,2.5,-2.0,0.0,7.0,3.0,0.0,0.0,0.2,1.0,1.0,1.0,-3.0\n"
              "30,1.0,0.0,0.5,0.0,1.0,-1.0,0.0,0.0,1.0,1.0,1.0,-1.0\n");
    db_expect(*state, "SELECT phi FROM b WHERE id = 30", "-1.0\n");
    db_expect(*state, "SELECT phi FROM b WHERE id = 5", "");
    db_expect(*state, "SELECT id FROM b WHERE id BETWEEN 4 AND 12", "4\n12\n");
    db_expect(*state, "SELECT id FROM b WHERE id < 12", "-7\n4\n");
    db_expect(*state, "SELECT id, eps FROM b WHERE id IN (30, 5, -7, 99, 12) AND id > -7", "12,0.2\n30,0.0\n");
    db_expect(*state, "SELECT id FROM b ORDER BY id DESC LIMIT 2", "30\n12\n");
    db_expect(*state, "SELECT id FROM b LIMIT 2", "-7\n4\n");
    db_expect(*state, "SELECT id FROM b ORDER BY m DESC LIMIT 2", "12\n30\n");
    db_expect(*state, "SELECT count(*), sum(id), min(id), max(id) FROM b", "4,39,-7,30\n");
    db_expect(*state, "SELECT count(*), sum(id), sum(m), max(vz) FROM b WHERE m > 0", "3,46,3.6,1e+300\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(bodies_at_rest_are_numbered_from_0, setup, teardown),
        cmocka_unit_test_setup_teardown(ids_may_lie_in_any_order, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
