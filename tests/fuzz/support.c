/* SPDX-License-Identifier: Apache-2.0
 *
 * Engines, statements and arrays as the fuzz targets handle them; see fuzz.h.
 */
#include "fuzz.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

enum { ROWS_AT_MOST = 300 };

_Noreturn void fuzz_broken(const char *what, const char *file, int line)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    abort();
}

void fuzz_must(lacis_engine *engine, const char *script)
{
    if (lacis_exec(engine, script, NULL, NULL) == LACIS_OK) return;
    fprintf(stderr, "%s: %s\n", script, lacis_error_message(engine));
    abort();
}

lacis_engine *fuzz_open(void)
{
    lacis_engine *engine;
    FUZZ_CHECK(lacis_open(NULL, &engine) == LACIS_OK);
    fuzz_must(engine, "SET threads = 1; SET memory_limit = '64MB';");
    return engine;
}

/* The alarm's handler may only call what a signal may: lacis_interrupt is such a thing. */
static lacis_engine *volatile watched;

static void on_alarm(int signal)
{
    (void)signal;
    lacis_engine *engine = watched;
    if (engine != NULL) lacis_interrupt(engine);
}

static void watch(lacis_engine *engine)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGVTALRM, &action, NULL);
    watched = engine;
    struct itimerval half_second = {{0, 100000}, {0, 500000}};
    struct itimerval none = {{0, 0}, {0, 0}};
    setitimer(ITIMER_VIRTUAL, engine != NULL ? &half_second : &none, NULL);
}

static void read_cells(lacis_statement *statement)
{
    int columns = lacis_column_count(statement);
    for (int i = 0; i < columns; i++) {
        FUZZ_CHECK(lacis_column_name(statement, i) != NULL);
        if (lacis_column_type(statement, i) != LACIS_NULL) FUZZ_CHECK(lacis_column_text(statement, i) != NULL);
    }
}

void fuzz_drain(lacis_engine *engine, lacis_statement *statement)
{
    watch(engine);
    lacis_status status = LACIS_ROW;
    for (int row = 0; row < ROWS_AT_MOST && status == LACIS_ROW; row++) {
        status = lacis_step(statement);
        if (status == LACIS_ROW) read_cells(statement);
    }
    watch(NULL);
    if (status != LACIS_ROW && status != LACIS_DONE) FUZZ_CHECK(lacis_error_message(engine)[0] != '\0');
    lacis_finalize(statement);
}

void fuzz_check_error(const lacis_engine *engine, lacis_status status, size_t text_length)
{
    if (status == LACIS_OK) return;
    FUZZ_CHECK(lacis_error_status(engine) == status);
    FUZZ_CHECK(lacis_error_message(engine)[0] != '\0');
    FUZZ_CHECK(lacis_error_offset(engine) >= -1 && lacis_error_offset(engine) <= (int64_t)text_length);
    FUZZ_CHECK(lacis_error_hint(engine) != NULL);
}

/* ------------------------------------------------------------------------------------------ arrays */

static const lacis_part *find_part(const lacis_array *array, const char *name, lacis_part *out)
{
    for (int i = 0; lacis_array_part(array, i, out) == LACIS_OK; i++)
        if (strcmp(out->name, name) == 0) return out;
    return NULL;
}

static void check_rising(const lacis_array *array, const char *name, int64_t count)
{
    lacis_part part;
    if (find_part(array, name, &part) == NULL) return;
    const int64_t *label = part.data;
    FUZZ_CHECK(part.dtype == LACIS_I64 && part.count == count);
    for (int64_t i = 1; i < count; i++)
        FUZZ_CHECK(label[i - 1] < label[i]);
}

static void check_row(const uint32_t *column, int64_t begin, int64_t end, int64_t count, int64_t columns)
{
    FUZZ_CHECK(begin >= 0 && begin <= end && end <= count);
    for (int64_t i = begin; i < end; i++) {
        FUZZ_CHECK((int64_t)column[i] < columns);
        if (i > begin) FUZZ_CHECK(column[i - 1] < column[i]);
    }
}

static void check_csr(const lacis_array *array)
{
    int64_t rows = lacis_array_extent(array, 0), columns = lacis_array_extent(array, 1);
    lacis_part begin, end, column, value;
    FUZZ_CHECK(rows >= 0 && columns >= 0);
    const int64_t *first, *last;
    if (find_part(array, "offsets", &begin) != NULL) {
        FUZZ_CHECK(begin.count == rows + 1);
        first = begin.data;
        last = first + 1;
    } else {
        FUZZ_CHECK(find_part(array, "begin", &begin) != NULL && find_part(array, "end", &end) != NULL);
        FUZZ_CHECK(begin.count == rows && end.count == rows);
        first = begin.data;
        last = end.data;
    }
    FUZZ_CHECK(find_part(array, "columns", &column) != NULL && column.dtype == LACIS_U32);
    for (int64_t row = 0; row < rows; row++)
        check_row(column.data, first[row], last[row], column.count, columns);
    if (lacis_array_dtype(array) != LACIS_PATTERN)
        FUZZ_CHECK(find_part(array, "values", &value) != NULL && value.count == column.count);
    check_rising(array, "row_labels", rows);
    check_rising(array, "col_labels", columns);
}

/* Sizes of one group, into the sums of all. */
static void check_group(int64_t block, int64_t lanes, int64_t rows, const int32_t *parent, int64_t *places)
{
    FUZZ_CHECK(lanes >= 0 && rows >= 0);
    int64_t side = block > 1 ? (lanes + block - 1) / block * block : lanes;
    *places += side * rows;
    for (int64_t r = 0; r < rows && parent != NULL; r++)
        FUZZ_CHECK(parent[r] >= -1 && parent[r] < r);
}

static void check_batch(const lacis_array *array)
{
    static const char *const structure[] = {"block", "group_lanes", "group_rows", "parent"};
    lacis_part part, lanes, rows;
    int64_t block = 1, all_rows = 0, places = 0, all_lanes = 0;
    const int32_t *parent = find_part(array, "parent", &part) != NULL ? part.data : NULL;
    if (find_part(array, "block", &part) != NULL) block = *(const int64_t *)part.data;
    bool groups = find_part(array, "group_lanes", &lanes) != NULL && find_part(array, "group_rows", &rows) != NULL;
    for (int64_t g = 0; g < (groups ? lanes.count : 1); g++) {
        int64_t width = groups ? ((const int64_t *)lanes.data)[g] : lacis_array_extent(array, 0);
        int64_t height = groups ? ((const int64_t *)rows.data)[g] : lacis_array_extent(array, 1);
        check_group(block, width, height, parent == NULL ? NULL : parent + all_rows, &places);
        all_rows += height;
        all_lanes += width;
    }
    FUZZ_CHECK(all_lanes == lacis_array_extent(array, 0));
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++) {
        bool field = true;
        for (int k = 0; k < 4; k++)
            field = field && strcmp(part.name, structure[k]) != 0;
        if (field) FUZZ_CHECK(part.count == places || part.count == all_rows);
    }
}

/* One matrix with all its elements, each of which is read. */
static void check_symmetric(const lacis_array *array)
{
    lacis_part values, shape;
    int64_t n = lacis_array_extent(array, 0);
    FUZZ_CHECK(find_part(array, "values", &values) != NULL && find_part(array, "shape", &shape) != NULL);
    FUZZ_CHECK(shape.count == 4 && n >= 0 && lacis_array_extent(array, 1) >= 0);
    const int64_t *word = shape.data;
    const unsigned char *byte = values.data;
    int64_t least = word[2] == 0 ? n * (n + 1) / 2 : n * n;
    FUZZ_CHECK(lacis_array_extent(array, 1) != 1 || values.count >= least);
    for (size_t i = 0; i < (size_t)values.count * lacis_dtype_size(values.dtype); i += 64)
        (void)*(const volatile unsigned char *)&byte[i];
}

/* Figures are finite, masses and softening lengths not negative; the time is one number. */
static void check_bodies(const lacis_array *array)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++) {
        if (strcmp(part.name, "time") == 0) {
            FUZZ_CHECK(part.dtype == LACIS_F64 && part.count == 1 && isfinite(*(const double *)part.data));
            continue;
        }
        FUZZ_CHECK(part.count == lacis_array_extent(array, 0));
        if (strcmp(part.name, "id") == 0) continue;
        bool positive = strcmp(part.name, "m") == 0 || strcmp(part.name, "eps") == 0;
        FUZZ_CHECK(part.dtype == lacis_array_dtype(array));
        for (int64_t k = 0; k < part.count; k++) {
            double value =
                part.dtype == LACIS_F32 ? (double)((const float *)part.data)[k] : ((const double *)part.data)[k];
            FUZZ_CHECK(isfinite(value) && (!positive || value >= 0));
        }
    }
}

/* Fields of one type with a number for each cell of the shape. */
static void check_grid(const lacis_array *array)
{
    lacis_part part;
    int64_t cells = 1;
    FUZZ_CHECK(find_part(array, "shape", &part) != NULL && part.dtype == LACIS_I64);
    FUZZ_CHECK(part.count >= 1 && part.count <= 3);
    for (int64_t d = 0; d < part.count; d++) {
        int64_t extent = ((const int64_t *)part.data)[d];
        FUZZ_CHECK(extent >= 1 && (d > 1 || extent == lacis_array_extent(array, (int)d)));
        FUZZ_CHECK(!__builtin_mul_overflow(cells, extent, &cells));
    }
    if (find_part(array, "step", &part) != NULL) FUZZ_CHECK(part.count == 1 && *(const int64_t *)part.data >= 0);
    int fields = 0;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++) {
        if (strcmp(part.name, "shape") == 0 || strcmp(part.name, "step") == 0) continue;
        FUZZ_CHECK(part.dtype == lacis_array_dtype(array) && part.count == cells);
        const unsigned char *byte = part.data;
        for (size_t k = 0; k < (size_t)cells * lacis_dtype_size(part.dtype); k += 64)
            (void)*(const volatile unsigned char *)&byte[k];
        fields++;
    }
    FUZZ_CHECK(fields >= 1 && fields <= 8);
}

void fuzz_check_array(const lacis_array *array)
{
    lacis_part part;
    if (lacis_array_kind(array) == LACIS_CSR) {
        check_csr(array);
    } else if (lacis_array_kind(array) == LACIS_VECTOR) {
        FUZZ_CHECK(find_part(array, "values", &part) != NULL);
        check_rising(array, "index", part.count);
    } else if (lacis_array_kind(array) == LACIS_INTERLEAVED) {
        check_batch(array);
    } else if (lacis_array_kind(array) == LACIS_SYMMETRIC) {
        check_symmetric(array);
    } else if (lacis_array_kind(array) == LACIS_BODIES) {
        check_bodies(array);
    } else if (lacis_array_kind(array) == LACIS_GRID) {
        check_grid(array);
    } else {
        for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++)
            FUZZ_CHECK(part.count == lacis_array_extent(array, 0));
    }
}
