/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of numbers to arrays; see common_records.h.
 */
#include "common_records.h"

#include "common_number.h"
#include "common_options.h"

#include <string.h>
#include <strings.h>

enum { FIRST_ROOM = 1024, CHUNK_RECORDS = 1 << 16 };

void lacis_records_begin(lacis_records *records, lacis_run *run, const lacis_text *text)
{
    records->run = run;
    records->text = text;
    records->columns = 0;
    records->count = records->room = 0;
}

void lacis_records_end(lacis_records *records)
{
    for (int i = 0; i < records->columns; i++) {
        lacis_run_free(records->run, records->column[i].value);
    }
    records->columns = 0;
}

int lacis_records_find(const lacis_records *records, const char *from, const char *to)
{
    size_t length = (size_t)(to - from);
    for (int i = 0; i < records->columns; i++) {
        if (strlen(records->column[i].name) == length && strncasecmp(records->column[i].name, from, length) == 0)
            return i;
    }
    return -1;
}

lacis_status lacis_records_column(lacis_records *records, const char *from, const char *to)
{
    char quote[LACIS_QUOTE];
    lacis_text_quote(from, to, quote);
    if (records->columns == LACIS_RECORD_COLUMNS)
        return lacis_text_fail(records->run, records->text, from, "more than %d columns; cut some off",
                               LACIS_RECORD_COLUMNS);
    if (to == from || to - from >= LACIS_RECORD_NAME || lacis_records_find(records, from, to) >= 0)
        return lacis_text_fail(records->run, records->text, from,
                               "%s cannot name a column: it is empty, too long or there already; rename it", quote);
    lacis_record_column *column = &records->column[records->columns++];
    memcpy(column->name, from, (size_t)(to - from));
    column->name[to - from] = '\0';
    column->real = false;
    column->value = NULL;
    return LACIS_OK;
}

lacis_status lacis_records_room(lacis_records *records)
{
    if (records->count < records->room) return LACIS_OK;
    int64_t room = records->room == 0 ? FIRST_ROOM : 2 * records->room;
    if (lacis_run_cancelled(records->run)) return lacis_run_interrupted(records->run);
    for (int i = 0; i < records->columns; i++) {
        lacis_edge_value *grown;
        LACIS_TRY(lacis_run_alloc(records->run, (uint64_t)room * sizeof *grown, &grown));
        if (records->count > 0) memcpy(grown, records->column[i].value, (size_t)records->count * sizeof *grown);
        lacis_run_free(records->run, records->column[i].value);
        records->column[i].value = grown;
    }
    records->room = room;
    return LACIS_OK;
}

lacis_status lacis_records_set(lacis_records *records, int column, const char *from, const char *to)
{
    lacis_record_column *c = &records->column[column];
    int64_t integer = 0;
    double real;
    lacis_number_kind kind = lacis_number_parse(from, to, &integer, &real);
    if (kind == LACIS_NUMBER_BAD) {
        char quote[LACIS_QUOTE];
        return lacis_text_fail(records->run, records->text, from, "%s is not a number; columns hold numbers only",
                               lacis_text_quote(from, to, quote));
    }
    if (kind != LACIS_NUMBER_INTEGER && !c->real) {
        for (int64_t i = 0; i < records->count; i++) {
            c->value[i].real = (double)c->value[i].integer;
        }
        c->real = true;
    }
    if (c->real)
        c->value[records->count].real = real;
    else
        c->value[records->count].integer = integer;
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- table */

static lacis_status add_part(lacis_records *records, lacis_array *array, const lacis_record_column *column,
                             const char *name)
{
    lacis_buffer *buffer;
    uint64_t bytes = (uint64_t)records->count * sizeof(int64_t);
    LACIS_TRY(lacis_buffer_new(records->run, bytes, &buffer));
    if (bytes > 0) memcpy(lacis_buffer_data(buffer), column->value, bytes);
    lacis_dtype dtype = column->real ? LACIS_F64 : LACIS_I64;
    lacis_status status = lacis_array_add(records->run, array, name, dtype, records->count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status make_table(lacis_records *records, lacis_array **out)
{
    lacis_array *array;
    LACIS_TRY(lacis_array_new(records->run, LACIS_TABLE, LACIS_PATTERN, records->count, 0, &array));
    lacis_status status = LACIS_OK;
    for (int i = 0; i < records->columns && status == LACIS_OK; i++) {
        status = add_part(records, array, &records->column[i], records->column[i].name);
    }
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}

/* -------------------------------------------------------------------------------------------- vector */

static bool rises(const lacis_records *records, const lacis_record_column *index)
{
    for (int64_t i = 1; i < records->count; i++) {
        if (index->value[i].integer <= index->value[i - 1].integer) return false;
    }
    return true;
}

/* Consecutive indices become a base; others are kept. */
static lacis_status make_vector(lacis_records *records, const lacis_record_column *index,
                                const lacis_record_column *value, lacis_array **out)
{
    if (index->real || !rises(records, index))
        return lacis_run_fail(records->run, LACIS_FORMAT, "%s: the indices i of a vector must be rising integers",
                              records->text->path);
    int64_t n = records->count, first = n > 0 ? index->value[0].integer : 0;
    bool dense = n == 0 || (uint64_t)index->value[n - 1].integer - (uint64_t)first == (uint64_t)n - 1;
    lacis_array *array;
    lacis_dtype dtype = value->real ? LACIS_F64 : LACIS_I64;
    LACIS_TRY(lacis_array_new(records->run, LACIS_VECTOR, dtype, n, 0, &array));
    lacis_status status = add_part(records, array, value, "values");
    if (status == LACIS_OK && !dense) status = add_part(records, array, index, "index");
    if (dense) lacis_array_set_base(array, 0, first);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- graph */

typedef struct edge_columns {
    const lacis_records *records;
    const lacis_record_column *src, *dst, *value; /* value may be NULL */
} edge_columns;

static lacis_status read_chunk(void *context, int64_t chunk, lacis_sink *sink)
{
    const edge_columns *e = context;
    int64_t end = (chunk + 1) * CHUNK_RECORDS;
    if (end > e->records->count) end = e->records->count;
    for (int64_t i = chunk * CHUNK_RECORDS; i < end; i++) {
        if (e->value != NULL && sink->want != LACIS_WANT_NONE) {
            lacis_edge_value value = e->value->value[i];
            if (e->value->real)
                lacis_seen_real(&sink->seen, value.real);
            else
                lacis_seen_integer(&sink->seen, value.integer);
            if (!e->value->real && sink->want == LACIS_WANT_REAL) value.real = (double)value.integer;
            sink->value[sink->count] = value;
        }
        LACIS_TRY(lacis_sink_put(sink, e->src->value[i].integer, e->dst->value[i].integer));
    }
    return LACIS_OK;
}

static lacis_status make_graph(edge_columns *e, const lacis_options *given, lacis_array **out)
{
    const lacis_records *records = e->records;
    if (e->src->real || e->dst->real)
        return lacis_run_fail(records->run, LACIS_FORMAT, "%s: src and dst must be integers", records->text->path);
    lacis_edge_reader reader = {.context = e,
                                .chunks = (records->count + CHUNK_RECORDS - 1) / CHUNK_RECORDS,
                                .read = read_chunk,
                                .phase = "loading"};
    lacis_edges_spec spec = {.direct = ((uint64_t)records->count + ((uint64_t)1 << 20)) / 64 * 64,
                             .mirror = lacis_option_mirror(given),
                             .want = e->value != NULL ? LACIS_WANT_ANY : LACIS_WANT_NONE,
                             .type = lacis_option_type(given),
                             .duplicates = lacis_option_duplicates(given),
                             .what = "edges",
                             .path = records->text->path};
    lacis_edges edges;
    lacis_status status = lacis_edges_begin(records->run, &edges, &spec, &reader);
    if (status == LACIS_OK) status = lacis_edges_count(&edges);
    if (status == LACIS_OK) status = lacis_edges_fill(&edges, out);
    lacis_edges_end(&edges);
    return status;
}

/* --------------------------------------------------------------------------------------------- batch */

static lacis_status make_batch(const lacis_records *records, lacis_array **out)
{
    lacis_batch_column column[LACIS_RECORD_COLUMNS];
    for (int i = 0; i < records->columns; i++) {
        const lacis_record_column *from = &records->column[i];
        const int64_t *bits = from->value == NULL ? NULL : &from->value->integer; /* NULL: no record */
        column[i] = (lacis_batch_column){from->name, from->real, bits};
    }
    return lacis_batch_gather(records->run, column, records->columns, records->count, records->text->path, out);
}

/* lane, row [, parent] and at least one field. */
static bool is_batch(const lacis_records *records)
{
    static const char *const keys[] = {"lane", "row", "parent"};
    int same = 0;
    while (same < 3 && same < records->columns && strcasecmp(records->column[same].name, keys[same]) == 0)
        same++;
    return same >= 2 && records->columns > same;
}

static const lacis_record_column *named(const lacis_records *records, const char *name)
{
    int i = lacis_records_find(records, name, name + strlen(name));
    return i >= 0 ? &records->column[i] : NULL;
}

lacis_status lacis_records_make(lacis_records *records, const lacis_options *given, lacis_array **out)
{
    edge_columns e = {records, named(records, "src"), named(records, "dst"), named(records, "value")};
    const lacis_record_column *i = named(records, "i");
    if (e.src != NULL && e.dst != NULL && records->columns == (e.value != NULL ? 3 : 2))
        return make_graph(&e, given, out);
    if (i != NULL && e.value != NULL && records->columns == 2) return make_vector(records, i, e.value, out);
    if (lacis_records_are_bodies(records)) return lacis_records_make_bodies(records, out);
    return is_batch(records) ? make_batch(records, out) : make_table(records, out);
}
