/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrow's C data interface, exports: what is exported of each kind, who holds what until when, children moved out,
 * threads, and memory that runs out.
 */
#include "arrow_samples.h"

#include <pthread.h>
#include <stdbool.h>

/* Whether the encoded notes hold this key and, behind it, this value. */
static bool says(const char *notes, const char *key, const char *value)
{
    int32_t count, length[2];
    memcpy(&count, notes, sizeof count);
    notes += sizeof count;
    for (int32_t i = 0; i < count; i++) {
        const char *text[2];
        for (int k = 0; k < 2; k++) {
            memcpy(&length[k], notes, sizeof length[k]);
            text[k] = notes + sizeof length[k];
            notes = text[k] + length[k];
        }
        if ((size_t)length[0] == strlen(key) && memcmp(text[0], key, (size_t)length[0]) == 0)
            return (size_t)length[1] == strlen(value) && memcmp(text[1], value, (size_t)length[1]) == 0;
    }
    return false;
}

static void tables_are_structs_of_their_columns(void **state)
{
    atomic_int released = 0;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    lend_table(*state, &released);
    export_named(*state, "t", &schema, &batch);
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, 3);
    assert_string_equal(schema.children[0]->name, "k");
    assert_string_equal(schema.children[0]->format, "l");
    assert_string_equal(schema.children[1]->format, "g");
    assert_string_equal(schema.children[2]->format, "+w:2");
    assert_string_equal(schema.children[2]->children[0]->format, "f");
    assert_true(says(schema.children[2]->metadata, "lacis.type", "c64"));
    assert_true(says(schema.metadata, "lacis.kind", "table"));
    assert_int_equal(schema.flags, 0);
    assert_int_equal(batch.length, 3);
    assert_int_equal(batch.null_count, 0);
    assert_int_equal(batch.n_buffers, 1);
    assert_null(batch.buffers[0]);
    assert_int_equal(batch.children[0]->n_buffers, 2);
    assert_ptr_equal(batch.children[0]->buffers[1], ids);
    assert_ptr_equal(batch.children[1]->buffers[1], reals);
    assert_int_equal(batch.children[2]->n_buffers, 1);
    assert_int_equal(batch.children[2]->children[0]->length, 6);
    assert_ptr_equal(batch.children[2]->children[0]->buffers[1], pairs);
    db_run(*state, "DROP t");
    schema.release(&schema);
    assert_null(schema.release);
    assert_int_equal(released, 0);
    batch.release(&batch);
    assert_null(batch.release);
    assert_int_equal(released, 1);
}

static void moved_children_outlive_their_parent(void **state)
{
    atomic_int released = 0;
    struct ArrowSchema schema, moved_schema;
    struct ArrowArray batch, moved, inner;
    lend_table(*state, &released);
    export_named(*state, "t", &schema, &batch);
    db_run(*state, "DROP t");
    moved = *batch.children[1];
    batch.children[1]->release = NULL;
    inner = *batch.children[2]->children[0];
    batch.children[2]->children[0]->release = NULL;
    moved_schema = *schema.children[2];
    schema.children[2]->release = NULL;
    batch.release(&batch);
    schema.release(&schema);
    assert_int_equal(released, 0);
    assert_string_equal(moved_schema.name, "z");
    assert_string_equal(moved_schema.children[0]->name, "item");
    assert_true(((const double *)moved.buffers[1])[2] == 2.5);
    moved.release(&moved);
    assert_int_equal(released, 0);
    assert_true(((const float *)inner.buffers[1])[5] == 6);
    inner.release(&inner);
    assert_int_equal(released, 1);
    moved_schema.release(&moved_schema);
}

static void exports_outlive_the_engine(void **state)
{
    atomic_int released = 0;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    lacis_engine *engine = db_open(NULL);
    (void)state;
    lend_table(engine, &released);
    export_named(engine, "t", &schema, &batch);
    lacis_close(engine);
    assert_int_equal(released, 0);
    assert_int_equal(((const int64_t *)batch.children[0]->buffers[1])[2], 9);
    batch.release(&batch);
    schema.release(&schema);
    assert_int_equal(released, 1);
}

static void vectors_are_their_values(void **state)
{
    static const int64_t index[] = {2, 5};
    const lacis_part sparse[] = {{"index", LACIS_I64, 2, index}, {"values", LACIS_F64, 2, reals}};
    const lacis_array_spec spec = {LACIS_VECTOR, LACIS_F64, {9, 1}, sparse, 2};
    struct ArrowSchema schema;
    struct ArrowArray array;
    db_run(*state, "GENERATE x AS random(n = 5, seed = 3)");
    export_named(*state, "x", &schema, &array);
    assert_string_equal(schema.format, "g");
    assert_int_equal(array.length, 5);
    assert_int_equal(array.n_children, 0);
    schema.release(&schema);
    array.release(&array);
    assert_int_equal(lacis_array_create(*state, "s", &spec), LACIS_OK);
    export_named(*state, "s", &schema, &array);
    assert_string_equal(schema.format, "+s");
    assert_string_equal(schema.children[0]->name, "i");
    assert_string_equal(schema.children[1]->name, "value");
    assert_int_equal(array.length, 2);
    assert_int_equal(((const int64_t *)array.children[0]->buffers[1])[1], 5);
    schema.release(&schema);
    array.release(&array);
}

static void bodies_and_grids_tell_what_is_no_column(void **state)
{
    static const double one[] = {1}, time[] = {0.25};
    static const int64_t shape[] = {3, 1, 1}, step[] = {12};
    const lacis_part body[] = {{"m", LACIS_F64, 1, one},
                               {"x", LACIS_F64, 1, one},
                               {"y", LACIS_F64, 1, one},
                               {"z", LACIS_F64, 1, one},
                               {"time", LACIS_F64, 1, time}};
    const lacis_part grid[] = {
        {"shape", LACIS_I64, 3, shape}, {"value", LACIS_F64, 3, reals}, {"step", LACIS_I64, 1, step}};
    const lacis_array_spec bodies_spec = {LACIS_BODIES, LACIS_F64, {1, 1}, body, 5};
    const lacis_array_spec grid_spec = {LACIS_GRID, LACIS_F64, {3, 1}, grid, 3};
    struct ArrowSchema schema;
    struct ArrowArray array;
    assert_int_equal(lacis_array_create(*state, "b", &bodies_spec), LACIS_OK);
    assert_int_equal(lacis_array_create(*state, "g", &grid_spec), LACIS_OK);
    export_named(*state, "b", &schema, &array);
    assert_int_equal(schema.n_children, 4);
    assert_true(says(schema.metadata, "lacis.kind", "bodies"));
    assert_true(says(schema.metadata, "lacis.time", "0.25"));
    schema.release(&schema);
    array.release(&array);
    export_named(*state, "g", &schema, &array);
    assert_int_equal(schema.n_children, 1);
    assert_int_equal(array.length, 3);
    assert_true(says(schema.metadata, "lacis.shape", "3,1,1"));
    assert_true(says(schema.metadata, "lacis.step", "12"));
    schema.release(&schema);
    array.release(&array);
}

static void other_kinds_are_refused(void **state)
{
    static const char *const makes[] = {"GENERATE a AS path(n = 3)", "GENERATE a AS symmetric(n = 3)",
                                        "GENERATE a AS tridiagonal(4, 2)"};
    static const char *const says_so[] = {"a graph has no", "a symmetric matrix has no", "a batch of systems has no"};
    for (int i = 0; i < 3; i++) {
        lacis_array *array;
        struct ArrowSchema schema = {0};
        struct ArrowArray out = {0};
        db_run(*state, makes[i]);
        assert_int_equal(lacis_array_find(*state, "a", &array), LACIS_OK);
        assert_int_equal(lacis_array_export_arrow(*state, array, &schema, &out), LACIS_TYPE);
        assert_non_null(strstr(lacis_error_message(*state), says_so[i]));
        assert_non_null(strstr(lacis_error_hint(*state), "LET t = SELECT"));
        assert_true(schema.release == NULL && out.release == NULL);
        assert_int_equal(lacis_array_export_arrow(*state, array, &schema, NULL), LACIS_MISUSE);
        assert_int_equal(lacis_array_export_arrow(NULL, array, &schema, &out), LACIS_MISUSE);
        lacis_array_release(array);
    }
}

static void *release_there(void *arg)
{
    struct ArrowArray *array = arg;
    array->release(array);
    return NULL;
}

static void children_are_released_from_any_thread(void **state)
{
    enum { ROUNDS = 50 };
    atomic_int released = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct ArrowSchema schema;
        struct ArrowArray batch, part[3];
        pthread_t thread[3];
        lend_table(*state, &released);
        export_named(*state, "t", &schema, &batch);
        schema.release(&schema);
        for (int i = 0; i < 3; i++) {
            part[i] = *batch.children[i];
            batch.children[i]->release = NULL;
            assert_int_equal(pthread_create(&thread[i], NULL, release_there, &part[i]), 0);
        }
        batch.release(&batch);
        db_run(*state, "DROP t");
        for (int i = 0; i < 3; i++)
            assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_int_equal(released, round + 1);
    }
}

static void failing_allocations_leave_nothing(void **state)
{
    atomic_int released = 0;
    lacis_array *array;
    int failures = 0;
    uint64_t before, after;
    lend_table(*state, &released);
    assert_int_equal(lacis_array_find(*state, "t", &array), LACIS_OK);
    lacis_memory_usage(*state, &before, NULL, 0);
    for (int n = 0;; n++) {
        struct ArrowSchema schema;
        struct ArrowArray out;
        int left = n;
        lacis_set_allocation_guard(refuse_at, &left);
        lacis_status status = lacis_array_export_arrow(*state, array, &schema, &out);
        lacis_set_allocation_guard(NULL, NULL);
        if (status == LACIS_OK) {
            schema.release(&schema);
            out.release(&out);
            break;
        }
        failures++;
        assert_int_equal(status, LACIS_NOMEM);
        assert_true(schema.release == NULL && out.release == NULL);
        lacis_memory_usage(*state, &after, NULL, 0);
        assert_int_equal(after, before);
    }
    assert_true(failures >= 10); /* a block of each schema and each array */
    lacis_memory_usage(*state, &after, NULL, 0);
    assert_int_equal(after, before);
    db_run(*state, "DROP t");
    lacis_array_release(array);
    assert_int_equal(released, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(tables_are_structs_of_their_columns),
        CHECK(moved_children_outlive_their_parent),
        CHECK(exports_outlive_the_engine),
        CHECK(vectors_are_their_values),
        CHECK(bodies_and_grids_tell_what_is_no_column),
        CHECK(other_kinds_are_refused),
        CHECK(children_are_released_from_any_thread),
        CHECK(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
