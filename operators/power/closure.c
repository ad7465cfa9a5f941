/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER a UNTIL STABLE: paths of any length. Semi-naive: a round multiplies only the entries that the round before
 * made or improved, and keeps those that are new or better. Sources are taken in blocks whose values, one an end
 * vertex, fit the cache; each block goes on until nothing changes. Called by POWER's variant and by its cost.
 *
 * Paths have one edge or more: nothing is put on the diagonal.
 */
#include "power/power.h"

#include <string.h>

static const uint64_t BLOCK_BYTES = (uint64_t)32 << 20; /* of values of a block of sources */

/* A block's state: value of (row, column) at row * cols + column, and whether there is one. */
struct block {
    const lacis_power *work;
    int64_t rows, cols;
    char *value;
    uint64_t *present;
    int64_t words;  /* of present, a row */
    int64_t *count; /* entries a row */
    size_t size;    /* bytes a value */
    /* What changed in the last round: rows as a csr with values of work->type. */
    lacis_product_result changed;
    char *changed_value;
};

static bool better(const struct block *block, const char *now, const char *then)
{
    bool less = block->work->spec.agg == LACIS_AGG_MIN;
    if (!less && block->work->spec.agg != LACIS_AGG_MAX) return false; /* any: the first one stays */
    if (block->work->type == LACIS_I64) {
        int64_t x, y;
        memcpy(&x, now, sizeof x);
        memcpy(&y, then, sizeof y);
        return less ? x < y : x > y;
    }
    double x = lacis_value_double(now, block->work->type, 0), y = lacis_value_double(then, block->work->type, 0);
    return less ? x < y : x > y;
}

/* Takes a candidate; whether it was new or better. */
static bool offer(struct block *block, int64_t row, uint32_t column, const char *value)
{
    uint64_t *word = &block->present[row * block->words + column / 64], bit = (uint64_t)1 << column % 64;
    char *place = block->value + (size_t)(row * block->cols + column) * block->size;
    bool there = (*word & bit) != 0;
    if (there && !better(block, value, place)) return false;
    memcpy(place, value, block->size);
    *word |= bit;
    block->count[row] += !there;
    return true;
}

/* Offers the entries of `from`'s rows and keeps those taken, in place, as what changed. */
struct merge {
    struct block *block;
    const int64_t *begin, *end; /* of the candidates */
    const uint32_t *column;
    const void *value; /* NULL: all 1 */
    lacis_dtype storage;
    int64_t *to_begin, *to_end;
    uint32_t *to_column;
    char *to_value;
};

static lacis_status merge_row(void *context, int64_t row, int worker)
{
    (void)worker;
    const struct merge *merge = context;
    struct block *block = merge->block;
    char one[16]; /* the widest value is complex */
    int64_t begin = merge->begin[row], end = merge->end[row], at = begin;
    for (int64_t i = begin; i < end; i++) {
        lacis_values_convert(merge->value, merge->value == NULL ? LACIS_PATTERN : merge->storage, i, 1, one,
                             block->work->type);
        uint32_t column = merge->column[i];
        if (!offer(block, row, column, one)) continue;
        merge->to_column[at] = column;
        memcpy(merge->to_value + (size_t)at * block->size, one, block->size);
        at++;
    }
    merge->to_begin[row] = begin;
    merge->to_end[row] = at;
    return LACIS_OK;
}

static void forget_changed(lacis_run *run, struct block *block)
{
    lacis_product_release(&block->changed);
    lacis_run_free(run, block->changed_value);
    block->changed_value = NULL;
}

static uint64_t changed_entries(const struct block *block)
{
    const int64_t *begin = lacis_buffer_data(block->changed.begin), *end = lacis_buffer_data(block->changed.end);
    uint64_t sum = 0;
    for (int64_t r = 0; r < block->rows; r++)
        sum += (uint64_t)(end[r] - begin[r]);
    return sum;
}

/* The candidates `from` (taken over) become what changed. */
static lacis_status take(lacis_run *run, struct block *block, lacis_product_result *from, lacis_dtype storage)
{
    forget_changed(run, block);
    block->changed = *from;
    *from = (lacis_product_result){0};
    LACIS_TRY(lacis_run_alloc(run, block->changed.used * block->size, &block->changed_value));
    struct merge merge = {.block = block,
                          .begin = lacis_buffer_data(block->changed.begin),
                          .end = lacis_buffer_data(block->changed.end),
                          .column = lacis_buffer_data(block->changed.column),
                          .value = lacis_buffer_data(block->changed.value),
                          .storage = storage,
                          .to_begin = lacis_buffer_data(block->changed.begin),
                          .to_end = lacis_buffer_data(block->changed.end),
                          .to_column = lacis_buffer_data(block->changed.column),
                          .to_value = block->changed_value};
    LACIS_TRY(lacis_run_parallel(run, block->rows, merge_row, &merge));
    block->changed.entries = changed_entries(block);
    return LACIS_OK;
}

/* The first change: the sources' own edges. */
static lacis_status begin_block(lacis_run *run, struct block *block, const lacis_csr *start)
{
    lacis_product_result *changed = &block->changed;
    uint64_t entries = 0;
    int64_t rows = block->rows;
    for (int64_t r = 0; r < rows; r++)
        entries += (uint64_t)(start->end[r] - start->begin[r]);
    *changed = (lacis_product_result){.rows = rows, .used = entries};
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)rows, &changed->begin));
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)rows, &changed->end));
    LACIS_TRY(lacis_buffer_new(run, sizeof(uint32_t) * entries, &changed->column));
    LACIS_TRY(lacis_run_alloc(run, entries * block->size, &block->changed_value));
    int64_t *begin = lacis_buffer_data(changed->begin), *end = lacis_buffer_data(changed->end), at = 0;
    uint32_t *column = lacis_buffer_data(changed->column);
    for (int64_t r = 0; r < rows; r++) {
        begin[r] = at;
        for (int64_t i = start->begin[r]; i < start->end[r]; i++, at++) {
            char *value = block->changed_value + (size_t)at * block->size;
            lacis_values_convert(start->value, start->value == NULL ? LACIS_PATTERN : start->storage, i, 1, value,
                                 block->work->type);
            column[at] = start->column[i];
            offer(block, r, column[at], value);
        }
        end[r] = at;
    }
    changed->entries = entries;
    return LACIS_OK;
}

static lacis_csr operand(const struct block *block, const lacis_csr *start)
{
    lacis_csr csr = *start;
    csr.begin = lacis_buffer_data(block->changed.begin);
    csr.end = lacis_buffer_data(block->changed.end);
    csr.column = lacis_buffer_data(block->changed.column);
    csr.value = block->changed_value;
    csr.entries = (int64_t)block->changed.entries;
    csr.storage = csr.dtype = block->work->type;
    return csr;
}

static lacis_status advance(lacis_run *run, struct block *block, const lacis_csr *start, uint64_t *products)
{
    lacis_product product = {0};
    lacis_product_result result = {0};
    lacis_product_spec spec = block->work->spec;
    spec.a = operand(block, start);
    spec.a_slot = block->work->type;
    spec.con_typed = true;
    LACIS_TRY(lacis_product_prepare(run, &spec, &product));
    *products += product.total_products;
    lacis_dtype storage = product.storage;
    lacis_status status = lacis_product_run(run, &product, 0, block->rows, &result);
    lacis_product_clear(run, &product);
    if (status == LACIS_OK) status = take(run, block, &result, storage);
    lacis_product_release(&result);
    return status;
}

lacis_status lacis_power_endless(lacis_run *run, const lacis_power *work, int64_t rounds)
{
    return lacis_run_fail_at(run, LACIS_RANGE, work->spec.con_offset, "WITHIN k stops after k rounds",
                             "POWER: values still change after %lld rounds, more than there are vertices: some cycle "
                             "keeps improving them (a negative cycle, for shortest paths)",
                             (long long)rounds);
}

/* Rounds until nothing changes. */
static lacis_status settle(lacis_run *run, struct block *block, const lacis_csr *start, lacis_power_rows *out)
{
    const lacis_power *work = block->work;
    int64_t most = work->a.rows > work->a.cols ? work->a.rows : work->a.cols, round = 1;
    while (block->changed.entries > 0 && (work->rounds == 0 || round < work->rounds)) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        lacis_run_advance(run, "POWER", out->share * (double)work->start.s.count, (double)work->start.s.count,
                          "sources");
        if (work->rounds == 0 && round > most) return lacis_power_endless(run, work, round);
        LACIS_TRY(advance(run, block, start, &out->products));
        round++;
    }
    if (round > out->done) out->done = round;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ result */

struct emission {
    const struct block *block;
    const int64_t *begin; /* of the block's rows */
    uint32_t *column;
    char *value;
};

static lacis_status emit_row(void *context, int64_t row, int worker)
{
    (void)worker;
    const struct emission *emission = context;
    const struct block *block = emission->block;
    int64_t at = emission->begin[row];
    for (int64_t w = 0; w < block->words; w++)
        for (uint64_t left = block->present[row * block->words + w]; left != 0; left &= left - 1) {
            int64_t column = w * 64 + __builtin_ctzll(left);
            emission->column[at] = (uint32_t)column;
            memcpy(emission->value + (size_t)at * block->size,
                   block->value + (size_t)(row * block->cols + column) * block->size, block->size);
            at++;
        }
    return LACIS_OK;
}

lacis_status lacis_power_too_large(lacis_run *run, lacis_status status)
{
    return lacis_run_fail_at(run, status, -1, "WHERE src IN (...), or SELECT with totals keep less",
                             "POWER: the result needs more than memory_limit leaves (%.1f MB more are free)",
                             (double)lacis_run_memory_left(run) / 1e6);
}

static lacis_status charge(lacis_run *run, const struct block *block, lacis_product_result *to, uint64_t entries)
{
    lacis_status status = lacis_buffer_charge(to->column, entries * sizeof(uint32_t));
    if (status == LACIS_OK) status = lacis_buffer_charge(to->value, entries * block->size);
    return status == LACIS_OK ? LACIS_OK : lacis_power_too_large(run, status);
}

/* Writes the block's rows behind what is there. */
static lacis_status emit(lacis_run *run, const struct block *block, int64_t first, lacis_power_rows *out)
{
    lacis_product_result *to = &out->rows;
    int64_t *begin = lacis_buffer_data(to->begin), *end = lacis_buffer_data(to->end), at = (int64_t)to->entries;
    for (int64_t r = 0; r < block->rows; r++) {
        begin[first + r] = at;
        at += block->count[r];
        end[first + r] = at;
    }
    LACIS_TRY(charge(run, block, to, (uint64_t)at - to->entries));
    to->entries = to->used = (uint64_t)at;
    struct emission emission = {block, begin + first, lacis_buffer_data(to->column), lacis_buffer_data(to->value)};
    return lacis_run_parallel(run, block->rows, emit_row, &emission);
}

static lacis_status make_result(lacis_run *run, const struct block *block, int64_t rows, lacis_product_result *to)
{
    uint64_t places = (uint64_t)rows * (uint64_t)block->cols;
    *to = (lacis_product_result){.rows = rows};
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)rows, &to->begin));
    LACIS_TRY(lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)rows, &to->end));
    LACIS_TRY(lacis_buffer_reserve(run, places * sizeof(uint32_t), &to->column));
    return lacis_buffer_reserve(run, places * block->size, &to->value);
}

/* --------------------------------------------------------------------------------------- all blocks */

static int64_t block_rows(const struct block *block, int64_t rows)
{
    uint64_t row = (uint64_t)block->cols * block->size, fit = row == 0 ? (uint64_t)rows : BLOCK_BYTES / row;
    if (fit < 1) fit = 1;
    return fit < (uint64_t)rows ? (int64_t)fit : rows;
}

static lacis_status make_block(lacis_run *run, struct block *block, int64_t rows)
{
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)rows * (uint64_t)block->cols * block->size, &block->value));
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)rows * (uint64_t)block->words * sizeof(uint64_t), &block->present));
    return lacis_run_alloc(run, (uint64_t)rows * sizeof(int64_t), &block->count);
}

static lacis_status one_block(lacis_run *run, struct block *block, const lacis_csr *start, int64_t first,
                              lacis_power_rows *out)
{
    lacis_csr rows = *start;
    lacis_labels all = lacis_labels_of_rows(start), labels = lacis_labels_from(&all, first, block->rows);
    rows.begin += first;
    rows.end += first;
    rows.rows = block->rows;
    rows.row_label = labels.label;
    rows.row_base = labels.base;
    memset(block->present, 0, sizeof(uint64_t) * (size_t)(block->rows * block->words));
    memset(block->count, 0, sizeof(int64_t) * (size_t)block->rows);
    lacis_status status = begin_block(run, block, &rows);
    if (status == LACIS_OK) status = settle(run, block, &rows, out);
    if (status == LACIS_OK) status = emit(run, block, first, out);
    forget_changed(run, block);
    return status;
}

lacis_status lacis_power_closure(lacis_run *run, const lacis_power *work, const lacis_csr *start,
                                 lacis_power_rows *out)
{
    *out = (lacis_power_rows){.storage = work->type};
    struct block block = {.work = work, .cols = work->a.cols, .words = (work->a.cols + 63) / 64};
    block.size = lacis_dtype_size(work->type);
    int64_t step = block_rows(&block, start->rows);
    lacis_status status = make_block(run, &block, step);
    if (status == LACIS_OK) status = make_result(run, &block, start->rows, &out->rows);
    for (int64_t first = 0; status == LACIS_OK && first < start->rows; first += step) {
        block.rows = start->rows - first < step ? start->rows - first : step;
        out->share = (double)first / (double)start->rows;
        status = one_block(run, &block, start, first, out);
    }
    lacis_run_free(run, block.value);
    lacis_run_free(run, block.present);
    lacis_run_free(run, block.count);
    if (status != LACIS_OK) lacis_product_release(&out->rows);
    return status;
}
