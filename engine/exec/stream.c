/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls read block by block: what a SELECT over a view, a bare call, an export and totals all do. Blocks start small
 * (whoever wants ten rows should not wait for a million) and double up to the plan's budget.
 */
#include "exec/exec.h"

#include <string.h>

static const uint64_t FIRST_BLOCK = (uint64_t)1 << 20;

struct blocks {
    lacis_world *world;
    lacis_run run; /* its scratch holds the call */
    lacis_restriction restriction;
    lacis_call *call;
    lacis_plan *plan;
    int64_t at; /* the first unit of the next block */
    uint64_t bytes;
};

static void blocks_close(struct blocks *blocks)
{
    if (blocks->call != NULL) lacis_exec_unbind(&blocks->run, blocks->call);
    lacis_run_clear(&blocks->run);
}

static lacis_status blocks_plan(struct blocks *blocks, const char *text, const lacis_bindings *bindings, bool totals)
{
    lacis_run *run = &blocks->run;
    LACIS_TRY(lacis_lang_call(run, blocks->world->registry, text, bindings, &blocks->call));
    blocks->call->totals = totals;
    LACIS_TRY(lacis_exec_bind(blocks->world, run, blocks->call, &blocks->restriction));
    LACIS_TRY(lacis_run_scratch(run, sizeof *blocks->plan, &blocks->plan));
    return lacis_plan_make(run, blocks->call, blocks->world->profile, LACIS_STREAM, false, blocks->plan);
}

/* After a failure nothing is left to close. */
static lacis_status blocks_open(struct blocks *blocks, lacis_world *world, const char *text,
                                const lacis_bindings *bindings, const lacis_restriction *restriction, bool totals)
{
    memset(blocks, 0, sizeof *blocks);
    blocks->world = world;
    blocks->restriction = *restriction;
    blocks->bytes = totals ? UINT64_MAX : FIRST_BLOCK; /* of totals nobody sees a first row */
    lacis_run_init(&blocks->run, world->host);
    lacis_status status = blocks_plan(blocks, text, bindings, totals);
    if (status != LACIS_OK) blocks_close(blocks);
    return status;
}

static int64_t block_end(struct blocks *blocks)
{
    const lacis_call *call = blocks->call;
    if (call->op->fit == NULL || blocks->plan->block_bytes == UINT64_MAX) return call->units;
    uint64_t bytes = blocks->bytes < blocks->plan->block_bytes ? blocks->bytes : blocks->plan->block_bytes;
    int64_t end = call->op->fit(call, blocks->at, bytes);
    blocks->bytes = bytes * 2;
    return end > blocks->at ? end : blocks->at + 1;
}

/* *out is NULL behind the last block. */
static lacis_status blocks_next(struct blocks *blocks, lacis_array **out)
{
    lacis_call *call = blocks->call;
    *out = NULL;
    if (blocks->at >= call->units) return LACIS_OK;
    if (lacis_run_cancelled(&blocks->run)) return lacis_run_interrupted(&blocks->run);
    int64_t end = block_end(blocks);
    LACIS_TRY(lacis_plan_run(&blocks->run, blocks->plan, blocks->at, end, out));
    blocks->at = end;
    const char *unit = call->kind == LACIS_CSR || call->kind == LACIS_VECTOR ? "rows" : "lanes";
    lacis_run_advance(&blocks->run, call->op->verb, (double)end, (double)call->units, unit);
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------------------- rows */

struct call_rows {
    lacis_rows base;
    struct blocks blocks;
    lacis_filter filter;
    lacis_rows *inner; /* of the present block */
    lacis_memory *memory;
};

static lacis_status next_block(struct call_rows *rows, lacis_run *run, bool *more)
{
    lacis_array *block;
    lacis_rows_close(rows->inner);
    rows->inner = NULL;
    LACIS_TRY(blocks_next(&rows->blocks, &block));
    *more = block != NULL;
    if (block == NULL) return LACIS_OK;
    lacis_status status = lacis_rows_of_array(run, block, &rows->filter, &rows->inner);
    lacis_array_release(block);
    return status;
}

static lacis_status call_next(lacis_rows *base, lacis_run *run, bool *more)
{
    struct call_rows *rows = (struct call_rows *)base;
    for (;;) {
        if (rows->inner != NULL) {
            LACIS_TRY(lacis_rows_next(rows->inner, run, more));
            if (*more) return LACIS_OK;
        }
        LACIS_TRY(next_block(rows, run, more));
        if (!*more) return LACIS_OK;
    }
}

static void call_cell(const lacis_rows *base, int column, lacis_cell *out)
{
    const struct call_rows *rows = (const struct call_rows *)base;
    lacis_rows_cell(rows->inner, column, out);
}

static void call_close(lacis_rows *base)
{
    struct call_rows *rows = (struct call_rows *)base;
    lacis_memory *memory = rows->memory;
    lacis_rows_close(rows->inner);
    blocks_close(&rows->blocks);
    lacis_memory_free(memory, rows);
}

static const lacis_rows_class call_class = {call_next, call_cell, call_close};

static lacis_status plain_rows(lacis_world *world, lacis_run *run, const char *text, const lacis_bindings *bindings,
                               const lacis_filter *filter, struct call_rows **out)
{
    struct call_rows *rows;
    LACIS_TRY(lacis_run_alloc(run, sizeof *rows, &rows));
    *rows = (struct call_rows){.base.class = &call_class, .filter = *filter, .memory = run->host->memory};
    rows->filter.by_value = false;
    rows->filter.limit = -1;
    lacis_restriction restriction = filter->where;
    /* Each row's best are enough to find the best of all. */
    if (filter->by_value && filter->limit > 0 && (restriction.top == 0 || restriction.top > filter->limit))
        restriction.top = filter->limit;
    lacis_status status = blocks_open(&rows->blocks, world, text, bindings, &restriction, false);
    if (status != LACIS_OK) {
        lacis_run_free(run, rows);
        return status;
    }
    *out = rows;
    return LACIS_OK;
}

lacis_status lacis_exec_rows(lacis_world *world, lacis_run *run, const char *text, const lacis_bindings *bindings,
                             const lacis_filter *filter, lacis_columns *columns, lacis_rows **out)
{
    struct call_rows *rows;
    lacis_columns own;
    if (columns == NULL) columns = &own;
    LACIS_TRY(plain_rows(world, run, text, bindings, filter, &rows));
    lacis_columns_of_call(rows->blocks.call, columns);
    if (filter->by_value) return lacis_rows_top(run, &rows->base, columns, filter->limit, out);
    *out = &rows->base;
    return LACIS_OK;
}

static lacis_status each_block(struct blocks *blocks, lacis_run *run, lacis_block_fn fn, void *context)
{
    for (;;) {
        lacis_array *block;
        LACIS_TRY(blocks_next(blocks, &block));
        if (block == NULL) return LACIS_OK;
        lacis_status status = fn(context, run, block);
        lacis_array_release(block);
        LACIS_TRY(status);
    }
}

lacis_status lacis_exec_blocks(lacis_world *world, lacis_run *run, const char *text, lacis_block_fn fn, void *context)
{
    const lacis_bindings none = {NULL, 0};
    struct blocks blocks;
    LACIS_TRY(blocks_open(&blocks, world, text, &none, &lacis_filter_all.where, false));
    lacis_status status = each_block(&blocks, run, fn, context);
    blocks_close(&blocks);
    return status;
}

static lacis_status add_block(void *context, lacis_run *run, const lacis_array *block)
{
    return lacis_totals_add(run, block, context);
}

lacis_status lacis_exec_sum(lacis_world *world, lacis_run *run, const char *text, lacis_totals *totals)
{
    const lacis_bindings none = {NULL, 0};
    struct blocks blocks;
    bool done;
    LACIS_TRY(blocks_open(&blocks, world, text, &none, &lacis_filter_all.where, true));
    lacis_status status = lacis_plan_totals(&blocks.run, blocks.plan, 0, blocks.call->units, totals, &done);
    if (status == LACIS_OK && !done) status = each_block(&blocks, run, add_block, totals);
    blocks_close(&blocks);
    return status;
}
