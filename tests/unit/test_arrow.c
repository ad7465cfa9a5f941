/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrow's C data interface: what is exported of each kind, who holds what until when, children moved out, offsets and
 * nulls of what is imported, threads, and memory that runs out.
 */
#include "support/db.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

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

static void count_release(void *arg)
{
    atomic_fetch_add((atomic_int *)arg, 1);
}

static const int64_t ids[] = {7, 8, 9};
static const double reals[] = {0.5, 1.5, 2.5};
static const float pairs[] = {1, 2, 3, 4, 5, 6};

/* The table t of a column of each sort, in memory that counts its release. */
static void lend_table(lacis_engine *engine, atomic_int *released)
{
    const lacis_part parts[] = {{"k", LACIS_I64, 3, ids}, {"y", LACIS_F64, 3, reals}, {"z", LACIS_C64, 3, pairs}};
    const lacis_array_spec spec = {LACIS_TABLE, LACIS_PATTERN, {3, 1}, parts, 3};
    assert_int_equal(lacis_array_lend(engine, "t", &spec, count_release, released), LACIS_OK);
}

static void export_named(lacis_engine *engine, const char *name, struct ArrowSchema *schema, struct ArrowArray *out)
{
    lacis_array *array;
    assert_int_equal(lacis_array_find(engine, name, &array), LACIS_OK);
    lacis_status status = lacis_array_export_arrow(engine, array, schema, out);
    if (status != LACIS_OK) fail_msg("%s: %s", name, lacis_error_message(engine));
    lacis_array_release(array);
}

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

/* ------------------------------------------------------------------------------------------ export */

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

/* ------------------------------------------------------------------------------------------ import */

/* A producer's column: numbers with an offset and, where not NULL, their validity. */
struct column {
    struct ArrowSchema schema;
    struct ArrowArray array;
    const void *buffer[2];
    int *schemas, *arrays; /* released */
};

static void schema_done(struct ArrowSchema *schema)
{
    struct column *column = schema->private_data;
    for (int64_t i = 0; i < schema->n_children; i++)
        schema->children[i]->release(schema->children[i]);
    (*column->schemas)++;
    schema->release = NULL;
}

static void array_done(struct ArrowArray *array)
{
    struct column *column = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        array->children[i]->release(array->children[i]);
    (*column->arrays)++;
    array->release = NULL;
}

static int schemas, arrays;

static void produce(struct column *column, const char *format, const char *name, const void *valid, const void *data,
                    int64_t offset, int64_t length)
{
    schemas = arrays = 0;
    column->schemas = &schemas;
    column->arrays = &arrays;
    column->buffer[0] = valid;
    column->buffer[1] = data;
    column->schema =
        (struct ArrowSchema){.format = format, .name = name, .release = schema_done, .private_data = column};
    column->array = (struct ArrowArray){.length = length,
                                        .null_count = -1,
                                        .offset = offset,
                                        .n_buffers = 2,
                                        .buffers = column->buffer,
                                        .release = array_done,
                                        .private_data = column};
}

/* A parent of `child`: a struct, or a list of fixed size. */
static void wrap(struct column *parent, struct ArrowSchema **schema, struct ArrowArray **array, const char *format,
                 const char *name, struct column *child, int64_t offset, int64_t length)
{
    produce(parent, format, name, NULL, NULL, offset, length);
    *schema = &child->schema;
    *array = &child->array;
    parent->schema.n_children = parent->array.n_children = 1;
    parent->schema.children = schema;
    parent->array.children = array;
    parent->array.n_buffers = 1;
}

static lacis_status import(lacis_engine *engine, struct column *column)
{
    lacis_status status = lacis_array_import_arrow(engine, "in", &column->schema, &column->array);
    assert_null(column->schema.release);
    assert_null(column->array.release);
    return status;
}

static void numbers_become_a_vector_where_they_lie(void **state)
{
    static const unsigned char valid[] = {0xfc}; /* the first two are null, and left out */
    struct column column;
    lacis_array *array;
    lacis_part part;
    produce(&column, "l", "", valid, ids, 2, 1);
    assert_int_equal(import(*state, &column), LACIS_OK);
    assert_int_equal(schemas, 1);
    assert_int_equal(arrays, 0);
    db_expect(*state, "SELECT i, value FROM \"in\"", "0,9\n");
    assert_int_equal(lacis_array_find(*state, "in", &array), LACIS_OK);
    assert_int_equal(lacis_array_part(array, 0, &part), LACIS_OK);
    assert_ptr_equal(part.data, ids + 2);
    db_run(*state, "DROP \"in\"");
    assert_int_equal(arrays, 0);
    lacis_array_release(array);
    assert_int_equal(arrays, 1);
}

static void offsets_add_up_through_structs_and_lists(void **state)
{
    static const double many[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    struct column numbers, list, table;
    struct ArrowSchema *schema[2];
    struct ArrowArray *array[2];
    produce(&numbers, "g", "item", NULL, many, 1, 11);
    wrap(&list, &schema[0], &array[0], "+w:2", "z", &numbers, 1, 4);
    wrap(&table, &schema[1], &array[1], "+s", "", &list, 2, 2);
    assert_int_equal(import(*state, &table), LACIS_OK);
    lacis_array *in;
    lacis_part part;
    assert_int_equal(lacis_array_find(*state, "in", &in), LACIS_OK);
    assert_int_equal(lacis_array_part(in, 0, &part), LACIS_OK);
    assert_string_equal(part.name, "z");
    assert_int_equal(part.dtype, LACIS_C128);
    assert_int_equal(part.count, 2);
    assert_ptr_equal(part.data, many + 7);
    lacis_array_release(in);
    assert_int_equal(arrays, 0);
    db_run(*state, "DROP \"in\"");
    assert_int_equal(arrays, 3);
    assert_int_equal(schemas, 3);
}

static void refuse(lacis_engine *engine, struct column *column, lacis_status status, const char *message)
{
    assert_int_equal(import(engine, column), status);
    assert_int_equal(arrays, 1);
    assert_int_equal(schemas, 1);
    if (strstr(lacis_error_message(engine), message) == NULL)
        fail_msg("\"%s\" lacks \"%s\"", lacis_error_message(engine), message);
}

static void what_does_not_fit_is_refused_and_released(void **state)
{
    static const unsigned char valid[] = {0x05};
    struct column column;
    produce(&column, "g", "", valid, reals, 0, 3);
    refuse(*state, &column, LACIS_TYPE, "has nulls");
    produce(&column, "u", "", NULL, reals, 0, 3);
    refuse(*state, &column, LACIS_TYPE, "format \"u\"");
    produce(&column, "C", "", NULL, reals, 0, 3);
    refuse(*state, &column, LACIS_TYPE, "cannot be of type u8");
    produce(&column, "g", "", NULL, (const char *)reals + 4, 0, 2);
    refuse(*state, &column, LACIS_TYPE, "aligned");
    produce(&column, "g", "", NULL, NULL, 0, 3);
    refuse(*state, &column, LACIS_TYPE, "not what its ArrowSchema says");
    produce(&column, "g", "", NULL, reals, -1, 3);
    refuse(*state, &column, LACIS_TYPE, "not what its ArrowSchema says");
    produce(&column, "g", "", NULL, reals, INT64_MAX, 3);
    refuse(*state, &column, LACIS_TYPE, "not what its ArrowSchema says");
    produce(&column, "g", "", NULL, reals, 0, 3);
    assert_int_equal(lacis_array_import_arrow(*state, NULL, &column.schema, &column.array), LACIS_MISUSE);
    assert_int_equal(arrays + schemas, 2);
    assert_int_equal(lacis_array_import_arrow(*state, "in", &column.schema, &column.array), LACIS_MISUSE);
    db_fails(*state, "SELECT * FROM \"in\"", LACIS_NAME, "in");
}

static void columns_shorter_than_their_struct_are_refused(void **state)
{
    struct column numbers, table;
    struct ArrowSchema *schema;
    struct ArrowArray *array;
    produce(&numbers, "g", "y", NULL, reals, 0, 3);
    wrap(&table, &schema, &array, "+s", "", &numbers, 1, 3);
    assert_int_equal(import(*state, &table), LACIS_TYPE);
    produce(&numbers, "g", NULL, NULL, reals, 0, 3);
    wrap(&table, &schema, &array, "+s", "", &numbers, 0, 3);
    assert_int_equal(import(*state, &table), LACIS_NAME);
    assert_non_null(strstr(lacis_error_message(*state), "column 0 has no name"));
}

static void an_export_comes_back_the_same(void **state)
{
    static const double words[] = {1, 1e-20, 2, 2e-20};
    const lacis_part parts[] = {{"d", LACIS_DD, 2, words}, {"q", LACIS_CDD, 1, words}};
    const lacis_array_spec spec = {
        LACIS_VECTOR, LACIS_DD, {2, 1}, (const lacis_part[]){{"values", LACIS_DD, 2, words}}, 1};
    const lacis_array_spec table = {LACIS_TABLE, LACIS_PATTERN, {1, 1}, &parts[1], 1};
    const lacis_array_spec *const both[] = {&spec, &table};
    for (int i = 0; i < 2; i++) {
        struct ArrowSchema schema;
        struct ArrowArray array;
        lacis_array *back;
        lacis_part part;
        assert_int_equal(lacis_array_create(*state, "out", both[i]), LACIS_OK);
        export_named(*state, "out", &schema, &array);
        assert_int_equal(lacis_array_import_arrow(*state, "back", &schema, &array), LACIS_OK);
        db_run(*state, "DROP out");
        assert_int_equal(lacis_array_find(*state, "back", &back), LACIS_OK);
        assert_int_equal(lacis_array_part(back, 0, &part), LACIS_OK);
        assert_int_equal(part.dtype, parts[i].dtype);
        assert_memory_equal(part.data, words, sizeof words);
        lacis_array_release(back);
    }
}

/* ---------------------------------------------------------------------------------- memory runs out */

static int refuse_at(void *arg, size_t bytes)
{
    (void)bytes;
    return (*(int *)arg)-- == 0;
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

static void imports_without_memory_release_what_they_took(void **state)
{
    lacis_status status = LACIS_NOMEM;
    int failures = -1;
    for (int n = 0; status != LACIS_OK; n++) {
        struct column column;
        int left = n;
        produce(&column, "g", "", NULL, reals, 0, 3);
        lacis_set_allocation_guard(refuse_at, &left);
        status = lacis_array_import_arrow(*state, "in", &column.schema, &column.array);
        lacis_set_allocation_guard(NULL, NULL);
        failures++;
        assert_int_equal(schemas, 1);
        assert_int_equal(arrays, status == LACIS_OK ? 0 : 1);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
        if (status == LACIS_OK) db_run(*state, "DROP \"in\"");
    }
    assert_true(failures >= 3);
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
        CHECK(numbers_become_a_vector_where_they_lie),
        CHECK(offsets_add_up_through_structs_and_lists),
        CHECK(what_does_not_fit_is_refused_and_released),
        CHECK(columns_shorter_than_their_struct_are_refused),
        CHECK(an_export_comes_back_the_same),
        CHECK(failing_allocations_leave_nothing),
        CHECK(imports_without_memory_release_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
