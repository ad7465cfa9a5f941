/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting and collapsing of rows; see common_rows.h. Rows are dealt to the threads in blocks of about equal numbers
 * of entries. A block is collapsed towards its own beginning; afterwards the blocks move together.
 */
#include "common_rows.h"

#include "common_collapse.h"
#include "common_sort.h"

#include <stdatomic.h>
#include <string.h>

enum { BLOCK_ENTRIES = 1 << 16 };

/* Work memory of one thread, grown as rows ask for it. */
typedef struct space {
    void *data;
    uint64_t bytes;
} space;

typedef struct work {
    lacis_raw_rows *rows;
    int64_t blocks;
    space *spaces; /* one a thread */
    lacis_duplicates rule;
    int64_t *length; /* collapse: entries that are left of each block */
    int64_t *end;    /* collapse: the row behind each block; offsets no longer tell once they change */
    _Atomic int64_t duplicates, first;
} work;

static lacis_status space_room(lacis_run *run, space *s, uint64_t bytes)
{
    if (bytes <= s->bytes) return LACIS_OK;
    lacis_run_free(run, s->data);
    s->bytes = bytes + bytes / 4;
    s->data = lacis_run_alloc_quiet(run, s->bytes);
    if (s->data != NULL) return LACIS_OK;
    s->bytes = 0;
    return LACIS_NOMEM;
}

/* The first row of a block: that in which entry block * BLOCK_ENTRIES lies, or begins behind it. */
static int64_t block_row(const lacis_raw_rows *rows, int64_t blocks, int64_t block)
{
    if (block == 0) return 0;
    if (block == blocks) return rows->rows;
    int64_t entry = block * BLOCK_ENTRIES, low = 0, high = rows->rows;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (rows->offsets[middle] < entry)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static lacis_status work_begin(work *w, lacis_raw_rows *rows)
{
    *w = (work){.rows = rows, .blocks = rows->entries / BLOCK_ENTRIES + 1, .first = INT64_MAX};
    uint64_t bytes = sizeof(space) * (uint64_t)lacis_run_threads(rows->run);
    LACIS_TRY(lacis_run_alloc(rows->run, bytes, &w->spaces));
    memset(w->spaces, 0, bytes);
    return LACIS_OK;
}

static void work_end(work *w)
{
    for (int i = 0; i < lacis_run_threads(w->rows->run); i++) {
        lacis_run_free(w->rows->run, w->spaces[i].data);
    }
    lacis_run_free(w->rows->run, w->spaces);
    lacis_run_free(w->rows->run, w->length);
}

/* Worker threads cannot report: this does it for them. */
static lacis_status report(lacis_run *run, lacis_status status)
{
    if (status == LACIS_NOMEM || status == LACIS_LIMIT)
        return lacis_run_fail(run, status, "no memory left to sort the rows of the graph; raise memory_limit");
    if (status == LACIS_OVERFLOW)
        return lacis_run_fail(run, status,
                              "the sum of duplicate entries leaves 64 bits; load with WITH (duplicates = 'max') or "
                              "another rule");
    return status;
}

/* -------------------------------------------------------------------------------------------- sort */

/* Entries of a sorted row whose column is that of the one before. */
static int64_t repeats(const uint32_t *column, int64_t count)
{
    int64_t found = 0;
    for (int64_t i = 1; i < count; i++) {
        found += column[i] == column[i - 1];
    }
    return found;
}

static bool is_sorted(const uint32_t *column, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        if (column[i] < column[i - 1]) return false;
    }
    return true;
}

/* Sorts columns with their places (32 bits each), then brings the values in that order. */
static lacis_status sort_valued(work *w, space *s, uint32_t *column, char *value, size_t size, int64_t count)
{
    LACIS_TRY(space_room(w->rows->run, s, (uint64_t)count * (8 + size)));
    uint64_t *key = s->data;
    char *copy = (char *)(key + count);
    for (int64_t i = 0; i < count; i++) {
        key[i] = (uint64_t)column[i] << 32 | (uint64_t)i;
    }
    lacis_sort_u64(key, count);
    memcpy(copy, value, (size_t)count * size);
    for (int64_t i = 0; i < count; i++) {
        column[i] = (uint32_t)(key[i] >> 32);
        memcpy(value + (size_t)i * size, copy + (size_t)(uint32_t)key[i] * size, size);
    }
    return LACIS_OK;
}

static lacis_status sort_row(work *w, space *s, int64_t row)
{
    lacis_raw_rows *rows = w->rows;
    int64_t at = rows->offsets[row], count = rows->offsets[row + 1] - at;
    if (count > UINT32_MAX) return LACIS_RANGE;
    uint32_t *column = (uint32_t *)lacis_buffer_data(rows->columns) + at;
    if (!is_sorted(column, count)) {
        size_t size = lacis_dtype_size(rows->storage);
        if (rows->values == NULL)
            lacis_sort_u32(column, count);
        else
            LACIS_TRY(
                sort_valued(w, s, column, (char *)lacis_buffer_data(rows->values) + (size_t)at * size, size, count));
    }
    int64_t found = repeats(column, count);
    if (found == 0) return LACIS_OK;
    w->duplicates += found;
    int64_t first = w->first;
    while (row < first && !atomic_compare_exchange_weak(&w->first, &first, row)) {
    }
    return LACIS_OK;
}

static lacis_status sort_block(void *context, int64_t block, int worker)
{
    work *w = context;
    int64_t end = block_row(w->rows, w->blocks, block + 1);
    for (int64_t row = block_row(w->rows, w->blocks, block); row < end; row++) {
        LACIS_TRY(sort_row(w, &w->spaces[worker], row));
        if ((row & 4095) == 0 && lacis_run_cancelled(w->rows->run)) return LACIS_INTERRUPT;
    }
    return LACIS_OK;
}

lacis_status lacis_rows_sort(lacis_raw_rows *rows, int64_t *duplicates, int64_t *first)
{
    work w;
    LACIS_TRY(work_begin(&w, rows));
    lacis_status status = lacis_run_parallel(rows->run, w.blocks, sort_block, &w);
    *duplicates = w.duplicates;
    *first = w.first == INT64_MAX ? -1 : w.first;
    work_end(&w);
    if (status == LACIS_RANGE)
        return lacis_run_fail(rows->run, status, "a vertex has more than 2^32 - 1 entries, duplicates included");
    return report(rows->run, status);
}

/* ---------------------------------------------------------------------------------------- collapse */

/* Collapses the rows of a block towards its beginning. Offsets inside the block follow; that of the block's first row
 * belongs to the block before as well and stays. */
static lacis_status collapse_block(void *context, int64_t block, int worker)
{
    work *w = context;
    lacis_raw_rows *rows = w->rows;
    int64_t begin = block == 0 ? 0 : w->end[block - 1], end = w->end[block];
    uint32_t *columns = lacis_buffer_data(rows->columns);
    lacis_collapse c = {.columns = columns, .storage = rows->storage, .rule = w->rule};
    c.values = rows->values != NULL ? lacis_buffer_data(rows->values) : NULL;
    c.out = begin < rows->rows ? rows->offsets[begin] : 0;
    int64_t start = c.out, from = c.out;
    for (int64_t row = begin; row < end; row++) {
        int64_t to = rows->offsets[row + 1];
        if (row > begin) w->rows->offsets[row] = c.out;
        LACIS_TRY(space_room(rows->run, &w->spaces[worker], lacis_collapse_space(&c, from, to)));
        c.space = w->spaces[worker].data;
        LACIS_TRY(lacis_collapse_row(&c, from, to));
        from = to;
    }
    w->length[block] = c.out - start;
    return lacis_run_cancelled(rows->run) ? LACIS_INTERRUPT : LACIS_OK;
}

/* Moves the collapsed blocks together. */
static void close_gaps(work *w)
{
    lacis_raw_rows *rows = w->rows;
    size_t size = rows->values != NULL ? lacis_dtype_size(rows->storage) : 0;
    char *values = rows->values != NULL ? lacis_buffer_data(rows->values) : NULL;
    uint32_t *columns = lacis_buffer_data(rows->columns);
    int64_t out = 0, row = 0;
    for (int64_t block = 0; block < w->blocks; block++) {
        int64_t from = row < rows->rows ? rows->offsets[row] : 0, length = w->length[block];
        if (length > 0 && from != out) {
            memmove(columns + out, columns + from, (size_t)length * sizeof *columns);
            if (values != NULL)
                memmove(values + (size_t)out * size, values + (size_t)from * size, (size_t)length * size);
        }
        for (; row < w->end[block]; row++) {
            rows->offsets[row] -= from - out;
        }
        out += length;
    }
    rows->offsets[rows->rows] = out;
    rows->entries = out;
}

/* Values for COUNT, or wider ones for sums. */
static lacis_status new_values(lacis_raw_rows *rows, lacis_dtype storage)
{
    lacis_buffer *wider;
    uint64_t bytes = (uint64_t)rows->entries * lacis_dtype_size(storage);
    LACIS_TRY(lacis_buffer_reserve(rows->run, bytes, &wider));
    lacis_status status = lacis_buffer_charge(wider, bytes);
    if (status != LACIS_OK) {
        lacis_buffer_release(wider);
        return report(rows->run, status);
    }
    const void *old = rows->values != NULL ? lacis_buffer_data(rows->values) : NULL;
    lacis_dtype from = rows->values != NULL ? rows->storage : LACIS_PATTERN;
    lacis_values_convert(old, from, 0, rows->entries, lacis_buffer_data(wider), storage);
    lacis_buffer_release(rows->values);
    rows->values = wider;
    rows->storage = storage;
    return LACIS_OK;
}

/* Whether some sum of 32-bit values needs 64. */
static bool sums_are_wide(const lacis_raw_rows *rows)
{
    const uint32_t *column = lacis_buffer_data(rows->columns);
    const int32_t *value = lacis_buffer_data(rows->values);
    for (int64_t row = 0; row < rows->rows; row++) {
        int64_t sum = 0;
        for (int64_t i = rows->offsets[row]; i < rows->offsets[row + 1]; i++) {
            bool same = i > rows->offsets[row] && column[i] == column[i - 1];
            sum = same ? sum + value[i] : value[i];
            if (sum > INT32_MAX || sum < INT32_MIN) return true;
        }
    }
    return false;
}

static lacis_status collapse_all(work *w)
{
    lacis_raw_rows *rows = w->rows;
    LACIS_TRY(lacis_run_alloc(rows->run, sizeof(int64_t) * 2 * (uint64_t)w->blocks, &w->length));
    w->end = w->length + w->blocks;
    for (int64_t block = 0; block < w->blocks; block++) {
        w->end[block] = block_row(rows, w->blocks, block + 1);
    }
    LACIS_TRY(lacis_run_parallel(rows->run, w->blocks, collapse_block, w));
    close_gaps(w);
    lacis_buffer_trim(rows->columns, (uint64_t)rows->entries * sizeof(uint32_t));
    if (rows->values != NULL)
        lacis_buffer_trim(rows->values, (uint64_t)rows->entries * lacis_dtype_size(rows->storage));
    return LACIS_OK;
}

lacis_status lacis_rows_collapse(lacis_raw_rows *rows, lacis_duplicates rule)
{
    if (rule == LACIS_DUPLICATES_COUNT)
        LACIS_TRY(new_values(rows, LACIS_U32));
    else if (rule == LACIS_DUPLICATES_SUM && rows->storage == LACIS_I32 && sums_are_wide(rows))
        LACIS_TRY(new_values(rows, LACIS_I64));
    work w;
    LACIS_TRY(work_begin(&w, rows));
    w.rule = rule;
    lacis_status status = collapse_all(&w);
    work_end(&w);
    return report(rows->run, status);
}
