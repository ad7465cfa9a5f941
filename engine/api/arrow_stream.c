/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of a statement as record batches, through Arrow's C stream interface. Rows are read a batch at a time and
 * copied into columns (arrow_rows.c); the first batch decides about the columns' types, before anything asks for
 * them.
 */
#include "api/arrow.h"
#include "api/arrow_rows.h"
#include "api/statement.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

struct stream {
    lacis_memory *memory;
    lacis_statement *statement;
    lacis_arrow_column *column;
    int columns;
    int64_t rows;     /* of the batch that is read and not yet asked for */
    bool ready, more; /* there is such a batch; the statement stands on a row behind it */
    char message[400];
};

static lacis_status read_rows(lacis_run *run, struct stream *stream)
{
    lacis_status status = LACIS_ROW;
    for (stream->rows = 0; status == LACIS_ROW && stream->rows < LACIS_ARROW_ROWS; stream->rows++) {
        for (int i = 0; i < stream->columns; i++)
            LACIS_TRY(lacis_arrow_column_add(run, &stream->column[i], stream->statement, i, stream->rows));
        status = lacis_step(stream->statement);
    }
    stream->more = status == LACIS_ROW;
    stream->ready = true;
    return stream->more || status == LACIS_DONE ? LACIS_OK : status;
}

/* The message of the engine stays until its next call; the stream's own until the stream ends. */
static int keep_failure(struct stream *stream, lacis_status status)
{
    const lacis_engine *engine = stream->statement->engine;
    snprintf(stream->message, sizeof stream->message, "%s", lacis_error_message(engine));
    stream->ready = stream->more = false;
    return status == LACIS_NOMEM || status == LACIS_LIMIT ? ENOMEM : status == LACIS_INTERRUPT ? EINTR : EIO;
}

static int get_schema(struct ArrowArrayStream *self, struct ArrowSchema *out)
{
    struct stream *stream = self->private_data;
    lacis_run run;
    lacis_run_init(&run, &stream->statement->engine->host);
    out->release = NULL;
    lacis_status status = lacis_arrow_schema_new(&run, "+s", "", NULL, 0, stream->columns, out);
    for (int i = 0; status == LACIS_OK && i < stream->columns; i++) {
        const char *name = stream->column[i].name;
        status = lacis_arrow_schema_new(&run, lacis_arrow_column_format(&stream->column[i]), name, NULL, 0, 0,
                                        out->children[i]);
        out->children[i]->flags = ARROW_FLAG_NULLABLE;
    }
    if (status != LACIS_OK && out->release != NULL) out->release(out);
    lacis_run_clear(&run);
    return status == LACIS_OK ? 0 : keep_failure(stream, status);
}

static lacis_status hand_out(lacis_run *run, struct stream *stream, struct ArrowArray *out)
{
    LACIS_TRY(lacis_arrow_struct_new(run, stream->rows, stream->columns, out));
    for (int i = 0; i < stream->columns; i++)
        LACIS_TRY(lacis_arrow_column_take(run, &stream->column[i], stream->rows, out->children[i]));
    return LACIS_OK;
}

static int get_next(struct ArrowArrayStream *self, struct ArrowArray *out)
{
    struct stream *stream = self->private_data;
    lacis_run run;
    lacis_status status = LACIS_OK;
    out->release = NULL;
    if (stream->message[0] != '\0') return EIO; /* as before */
    lacis_run_init(&run, &stream->statement->engine->host);
    if (!stream->ready && stream->more) status = read_rows(&run, stream);
    if (status == LACIS_OK && stream->ready) status = hand_out(&run, stream, out);
    if (status == LACIS_OK) stream->ready = false;
    if (status != LACIS_OK && out->release != NULL) out->release(out);
    lacis_run_clear(&run);
    return status == LACIS_OK ? 0 : keep_failure(stream, status);
}

static const char *get_last_error(struct ArrowArrayStream *self)
{
    const struct stream *stream = self->private_data;
    return stream->message[0] != '\0' ? stream->message : NULL;
}

static void stream_free(struct stream *stream)
{
    lacis_memory *memory = stream->memory;
    for (int i = 0; i < stream->columns; i++)
        lacis_arrow_column_free(memory, &stream->column[i]);
    lacis_memory_free(memory, stream->column);
    lacis_memory_free(memory, stream);
    lacis_memory_release(memory);
}

static void stream_release(struct ArrowArrayStream *self)
{
    struct stream *stream = self->private_data;
    lacis_finalize(stream->statement);
    stream_free(stream);
    self->release = NULL;
}

static lacis_status name_columns(lacis_run *run, struct stream *stream)
{
    for (int i = 0; i < stream->columns; i++) {
        const char *name = lacis_column_name(stream->statement, i);
        size_t bytes = strlen(name) + 1;
        LACIS_TRY(lacis_run_alloc(run, bytes, &stream->column[i].name));
        memcpy(stream->column[i].name, name, bytes);
    }
    return LACIS_OK;
}

/* Up to the first batch. */
static lacis_status begin(lacis_run *run, struct stream *stream)
{
    lacis_status status = lacis_step(stream->statement);
    if (status != LACIS_ROW && status != LACIS_DONE) return status;
    int columns = lacis_column_count(stream->statement);
    if (columns == 0) return lacis_run_fail(run, LACIS_TYPE, "the statement gives no rows for Arrow");
    LACIS_TRY(lacis_run_alloc(run, sizeof *stream->column * (uint64_t)columns, &stream->column));
    memset(stream->column, 0, sizeof *stream->column * (size_t)columns);
    stream->columns = columns;
    LACIS_TRY(name_columns(run, stream));
    if (status == LACIS_DONE) return LACIS_OK;
    LACIS_TRY(read_rows(run, stream));
    for (int i = 0; i < columns; i++)
        lacis_arrow_column_fix(&stream->column[i]);
    return LACIS_OK;
}

static lacis_status export_rows(lacis_run *run, lacis_statement *statement, struct ArrowArrayStream *out)
{
    struct stream *stream;
    LACIS_TRY(lacis_run_alloc(run, sizeof *stream, &stream));
    *stream = (struct stream){.memory = lacis_memory_retain(run->host->memory), .statement = statement};
    lacis_status status = begin(run, stream);
    if (status != LACIS_OK) {
        stream_free(stream);
        return status;
    }
    *out = (struct ArrowArrayStream){get_schema, get_next, get_last_error, stream_release, stream};
    return LACIS_OK;
}

lacis_status lacis_statement_export_arrow(lacis_statement *statement, struct ArrowArrayStream *out)
{
    if (out != NULL) out->release = NULL;
    if (statement == NULL || out == NULL || statement->state != READY) return LACIS_MISUSE;
    lacis_run run;
    lacis_run_init(&run, &statement->engine->host);
    lacis_status status = export_rows(&run, statement, out);
    lacis_run_clear(&run);
    return status;
}
