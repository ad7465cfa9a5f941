/* SPDX-License-Identifier: Apache-2.0
 *
 * Arrow's C data interface, imports: offsets and nulls, what is refused, what comes back of an export, who releases
 * what, and memory that runs out.
 */
#include "arrow_samples.h"

#include <stdbool.h>

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
        CHECK(numbers_become_a_vector_where_they_lie),
        CHECK(offsets_add_up_through_structs_and_lists),
        CHECK(what_does_not_fit_is_refused_and_released),
        CHECK(columns_shorter_than_their_struct_are_refused),
        CHECK(an_export_comes_back_the_same),
        CHECK(imports_without_memory_release_what_they_took),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
