/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of Arrow's C data interface share: a table in memory that counts its release, exports by name, and
 * allocations that fail.
 */
#ifndef LACIS_TESTS_ARROW_SAMPLES_H
#define LACIS_TESTS_ARROW_SAMPLES_H

#include "support/db.h"

#include <stdatomic.h>

static inline int setup(void **state)
{
    *state = db_open(NULL);
    return 0;
}

static inline int teardown(void **state)
{
    lacis_close(*state);
    return 0;
}

static inline void count_release(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static const int64_t ids[] = {7, 8, 9};
static const double reals[] = {0.5, 1.5, 2.5};
static const float pairs[] = {1, 2, 3, 4, 5, 6};

/* The table t of a column of each sort, in memory that counts its release. */
static inline void lend_table(lacis_engine *engine, atomic_int *released)
{
    const lacis_part parts[] = {{"k", LACIS_I64, 3, ids}, {"y", LACIS_F64, 3, reals}, {"z", LACIS_C64, 3, pairs}};
    const lacis_array_spec spec = {LACIS_TABLE, LACIS_PATTERN, {3, 1}, parts, 3};
    assert_int_equal(lacis_array_lend(engine, "t", &spec, count_release, released), LACIS_OK);
}

static inline void export_named(lacis_engine *engine, const char *name, struct ArrowSchema *schema,
                                struct ArrowArray *out)
{
    lacis_array *array;
    assert_int_equal(lacis_array_find(engine, name, &array), LACIS_OK);
    lacis_status status = lacis_array_export_arrow(engine, array, schema, out);
    if (status != LACIS_OK) fail_msg("%s: %s", name, lacis_error_message(engine));
    lacis_array_release(array);
}

/* A guard of allocations: after *arg more one is refused. */
static inline int refuse_at(void *arg, size_t bytes)
{
    (void)bytes;
    return (*(int *)arg)-- == 0;
}

#endif
