/* SPDX-License-Identifier: Apache-2.0
 *
 * A statement's rows as record batches: types, nulls, several batches, values that fit no column, memory that runs
 * out, batches that outlive everything.
 */
#include "support/db.h"

#include <errno.h>

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

static lacis_status stream_of(lacis_engine *engine, const char *text, struct ArrowArrayStream *stream)
{
    lacis_statement *statement;
    assert_int_equal(lacis_prepare(engine, text, NULL, &statement), LACIS_OK);
    lacis_status status = lacis_statement_export_arrow(statement, stream);
    if (status != LACIS_OK) lacis_finalize(statement); /* it is still ours */
    return status;
}

static void begin(lacis_engine *engine, const char *text, struct ArrowArrayStream *stream)
{
    if (stream_of(engine, text, stream) != LACIS_OK) fail_msg("%s: %s", text, lacis_error_message(engine));
}

/* The formats of the columns, one behind another. */
static void expect_formats(struct ArrowArrayStream *stream, const char *formats)
{
    struct ArrowSchema schema;
    assert_int_equal(stream->get_schema(stream, &schema), 0);
    assert_string_equal(schema.format, "+s");
    assert_int_equal(schema.n_children, strlen(formats));
    for (int64_t i = 0; i < schema.n_children; i++) {
        assert_int_equal(schema.children[i]->format[0], formats[i]);
        assert_int_equal(schema.children[i]->flags, ARROW_FLAG_NULLABLE);
    }
    schema.release(&schema);
    assert_null(schema.release);
}

static void expect_end(struct ArrowArrayStream *stream)
{
    struct ArrowArray batch;
    assert_int_equal(stream->get_next(stream, &batch), 0);
    assert_null(batch.release);
}

static int is_valid(const struct ArrowArray *column, int64_t row)
{
    return ((const unsigned char *)column->buffers[0])[row / 8] >> (row % 8) & 1;
}

static void values_have_their_types(void **state)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    begin(*state,
          "SELECT 7 AS i, 0.5 AS r, 'one' AS t, x'00ff' AS b, NULL AS n, 1 AS m"
          " UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, 2.5 UNION ALL SELECT -9, 1.5, 'three', x'', NULL, NULL",
          &stream);
    expect_formats(&stream, "lgUZUg");
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 3);
    const int64_t *i = batch.children[0]->buffers[1], *t = batch.children[2]->buffers[1];
    const int64_t *b = batch.children[3]->buffers[1], *n = batch.children[4]->buffers[1];
    const double *m = batch.children[5]->buffers[1];
    assert_int_equal(batch.children[0]->null_count, 1);
    assert_true(is_valid(batch.children[0], 0) && !is_valid(batch.children[0], 1) && is_valid(batch.children[0], 2));
    assert_true(i[0] == 7 && i[2] == -9);
    assert_true(((const double *)batch.children[1]->buffers[1])[2] == 1.5);
    assert_int_equal(batch.children[2]->n_buffers, 3);
    assert_true(t[0] == 0 && t[1] == 3 && t[2] == 3 && t[3] == 8);
    assert_memory_equal(batch.children[2]->buffers[2], "onethree", 8);
    assert_true(b[1] == 2 && b[3] == 2 && is_valid(batch.children[3], 2));
    assert_true(n[0] == 0 && n[3] == 0 && batch.children[4]->null_count == 3);
    assert_true(m[0] == 1 && m[1] == 2.5);
    expect_end(&stream);
    expect_end(&stream);
    stream.release(&stream);
    assert_null(stream.release);
    batch.release(&batch);
    assert_null(batch.release);
}

#define NUMBERS "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 149999) SELECT "

static void many_rows_come_in_batches(void **state)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    int64_t rows = 0, batches = 0;
    begin(*state, NUMBERS "i, 'row ' || i AS t, CASE WHEN i > 140000 THEN i END AS late, i * 0.5 AS half FROM n",
          &stream);
    expect_formats(&stream, "lUUg");
    while (stream.get_next(&stream, &batch) == 0 && batch.release != NULL) {
        const int64_t *i = batch.children[0]->buffers[1], *offset = batch.children[1]->buffers[1];
        const int64_t *late = batch.children[2]->buffers[1];
        const double *half = batch.children[3]->buffers[1];
        for (int64_t k = 0; k < batch.length; k++, rows++) {
            char text[32];
            int length = snprintf(text, sizeof text, "row %lld", (long long)rows);
            assert_int_equal(i[k], rows);
            assert_int_equal(offset[k + 1] - offset[k], length);
            assert_memory_equal((const char *)batch.children[1]->buffers[2] + offset[k], text, (size_t)length);
            assert_int_equal(is_valid(batch.children[2], k), rows > 140000);
            assert_int_equal(late[k + 1] - late[k], rows > 140000 ? 6 : 0);
            assert_true(half[k] == (double)rows * 0.5);
        }
        batches++;
        batch.release(&batch);
    }
    assert_int_equal(rows, 150000);
    assert_int_equal(batches, 3);
    stream.release(&stream);
}

static void operators_and_parameters_stream_as_well(void **state)
{
    lacis_statement *statement;
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    db_run(*state, "GENERATE g AS path(n = 5)");
    assert_int_equal(lacis_prepare(*state, "MULTIPLY g BY g CON nil AGG count WHERE src = :s", NULL, &statement),
                     LACIS_OK);
    assert_int_equal(lacis_bind_int64(statement, "s", 1), LACIS_OK);
    assert_int_equal(lacis_statement_export_arrow(statement, &stream), LACIS_OK);
    expect_formats(&stream, "lll");
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    assert_int_equal(batch.length, 1);
    assert_int_equal(((const int64_t *)batch.children[1]->buffers[1])[0], 3);
    stream.release(&stream);
    batch.release(&batch);
}

static void results_without_rows_end_at_once(void **state)
{
    struct ArrowArrayStream stream;
    begin(*state, "SELECT 1 AS a, 'x' AS b WHERE 0", &stream);
    expect_formats(&stream, "UU");
    expect_end(&stream);
    stream.release(&stream);
    assert_int_equal(stream_of(*state, "CREATE TABLE q(a)", &stream), LACIS_TYPE);
    assert_null(stream.release);
    assert_int_equal(lacis_statement_export_arrow(NULL, &stream), LACIS_MISUSE);
}

static void values_that_do_not_fit_end_it(void **state)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch;
    assert_int_equal(stream_of(*state, "SELECT 1 AS a UNION ALL SELECT 'x'", &stream), LACIS_TYPE);
    assert_non_null(strstr(lacis_error_message(*state), "column \"a\" has texts among its integers"));
    assert_null(stream.release);
    begin(*state, NUMBERS "CASE WHEN i < 149000 THEN i ELSE 'x' END AS a FROM n", &stream);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    batch.release(&batch);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    batch.release(&batch);
    assert_null(stream.get_last_error(&stream));
    assert_int_equal(stream.get_next(&stream, &batch), EIO);
    assert_null(batch.release);
    assert_non_null(strstr(stream.get_last_error(&stream), "texts among its integers"));
    assert_int_equal(stream.get_next(&stream, &batch), EIO);
    stream.release(&stream);
}

static void batches_outlive_the_engine(void **state)
{
    struct ArrowArrayStream stream;
    struct ArrowArray batch, moved;
    lacis_engine *engine = db_open(NULL);
    (void)state;
    begin(engine, "SELECT 'kept' AS t, 5 AS i", &stream);
    assert_int_equal(stream.get_next(&stream, &batch), 0);
    stream.release(&stream);
    lacis_close(engine);
    moved = *batch.children[0];
    batch.children[0]->release = NULL;
    batch.release(&batch);
    assert_memory_equal(moved.buffers[2], "kept", 4);
    moved.release(&moved);
}

static int refuse_at(void *arg, size_t bytes)
{
    (void)bytes;
    return (*(int *)arg)-- == 0;
}

/* All of a stream; LACIS_OK: it went to its end. */
static lacis_status drain(lacis_statement *statement)
{
    struct ArrowArrayStream stream;
    struct ArrowSchema schema;
    struct ArrowArray batch;
    lacis_status status = lacis_statement_export_arrow(statement, &stream);
    if (status != LACIS_OK) {
        lacis_finalize(statement);
        return status;
    }
    int code = stream.get_schema(&stream, &schema);
    if (code == 0) schema.release(&schema);
    for (int go_on = code == 0; go_on;) {
        code = stream.get_next(&stream, &batch);
        go_on = code == 0 && batch.release != NULL;
        if (go_on) batch.release(&batch);
    }
    stream.release(&stream);
    assert_true(code == 0 || code == ENOMEM);
    return code == 0 ? LACIS_OK : LACIS_NOMEM;
}

static void failing_allocations_leave_nothing(void **state)
{
    lacis_status status = LACIS_NOMEM;
    uint64_t before, after;
    int n = 0;
    lacis_memory_usage(*state, &before, NULL, 0);
    for (; status != LACIS_OK; n++) {
        lacis_statement *statement;
        int left = n;
        assert_int_equal(
            lacis_prepare(*state, "SELECT value AS v, 't' || value AS t FROM json_each('[1,2,3]')", NULL, &statement),
            LACIS_OK);
        lacis_set_allocation_guard(refuse_at, &left);
        status = drain(statement);
        lacis_set_allocation_guard(NULL, NULL);
        if (status != LACIS_OK) assert_int_equal(status, LACIS_NOMEM);
        lacis_memory_usage(*state, &after, NULL, 0);
        assert_int_equal(after, before);
    }
    assert_true(n > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHECK(values_have_their_types),
        CHECK(many_rows_come_in_batches),
        CHECK(operators_and_parameters_stream_as_well),
        CHECK(results_without_rows_end_at_once),
        CHECK(values_that_do_not_fit_end_it),
        CHECK(batches_outlive_the_engine),
        CHECK(failing_allocations_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
