/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans as text for EXPLAIN and EXPLAIN ANALYZE.
 */
#include "core/grid.h"
#include "plan/plan.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

void lacis_lines_init(lacis_lines *lines, lacis_run *run)
{
    *lines = (lacis_lines){.run = run};
}

static lacis_status make_room(lacis_lines *lines)
{
    if (lines->count < lines->room) return LACIS_OK;
    int room = lines->room == 0 ? 32 : 2 * lines->room;
    const char **grown;
    LACIS_TRY(lacis_run_scratch(lines->run, sizeof(char *) * (uint64_t)room, &grown));
    if (lines->count > 0) memcpy(grown, lines->line, sizeof(char *) * (size_t)lines->count);
    lines->line = grown;
    lines->room = room;
    return LACIS_OK;
}

lacis_status lacis_lines_add(lacis_lines *lines, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    LACIS_TRY(make_room(lines));
    char *line = lacis_run_text(lines->run, "%*s%s", lines->indent, "", text);
    if (line == NULL) return LACIS_NOMEM;
    lines->line[lines->count++] = line;
    return LACIS_OK;
}

static const char *count_text(double value, char *text)
{
    if (value < 0) return "unknown";
    snprintf(text, LACIS_NUMBER_TEXT, "%.0f", value);
    return text;
}

static const char *bytes_text(double value, char *text)
{
    return value < 0 ? "unknown" : lacis_format_bytes((uint64_t)value, text);
}

static const char *seconds_text(double value, char *text)
{
    if (value < 0) return "unknown";
    snprintf(text, LACIS_NUMBER_TEXT, value < 0.1 ? "%.3g s" : "%.3f s", value);
    return text;
}

static const char *device_name(lacis_device device)
{
    return device == LACIS_CPU ? "CPU" : "GPU";
}

static bool same_refusal(const lacis_candidate *a, const lacis_candidate *b)
{
    return !a->can && !b->can && a->variant->device == b->variant->device && strcmp(a->reason, b->reason) == 0;
}

/* Those that cannot run for the same reason are told together; 0: the first of them told that one already. */
static int refused_together(const lacis_plan *plan, int at, char *names, size_t size)
{
    size_t used = 0;
    int count = 0;
    names[0] = '\0';
    for (int i = 0; i < plan->candidates && used < size; i++) {
        if (!same_refusal(&plan->candidate[i], &plan->candidate[at])) continue;
        if (i < at) return 0;
        used += (size_t)snprintf(names + used, size - used, "%s%s", count++ > 0 ? ", " : "",
                                 plan->candidate[i].variant->name);
    }
    return count;
}

static lacis_status explain_candidate(const lacis_plan *plan, int at, lacis_lines *lines)
{
    char seconds[LACIS_NUMBER_TEXT], peak[LACIS_NUMBER_TEXT], names[240];
    const lacis_candidate *candidate = &plan->candidate[at];
    const lacis_variant *variant = candidate->variant;
    if (!candidate->can) {
        if (refused_together(plan, at, names, sizeof names) == 0) return LACIS_OK;
        return lacis_lines_add(lines, "- %s on %s: cannot: %s", names, device_name(variant->device),
                               candidate->reason);
    }
    return lacis_lines_add(
        lines, "%c %s on %s: about %s, memory at most %s%s%s", at == plan->chosen ? '*' : '-', variant->name,
        device_name(variant->device), seconds_text(candidate->cost.seconds, seconds),
        bytes_text(candidate->cost.peak_bytes, peak), candidate->reason[0] != '\0' ? ": " : "", candidate->reason);
}

static const char *shape_text(const lacis_call *call, char *text, size_t size)
{
    const char *type = lacis_dtype_name(call->dtype);
    if (call->kind == LACIS_INTERLEAVED) {
        snprintf(text, size, "batch of %" PRId64 " lanes of up to %" PRId64 " rows, %s%s%s", call->extent[0],
                 call->extent[1], type, call->layout == NULL ? "" : ", ", call->layout == NULL ? "" : call->layout);
    } else if (call->kind == LACIS_CSR) {
        snprintf(text, size, "graph %" PRId64 " x %" PRId64 ", %s", call->extent[0], call->extent[1], type);
    } else if (call->kind == LACIS_SYMMETRIC && call->extent[1] == 1) {
        snprintf(text, size, "symmetric %" PRId64 " x %" PRId64 ", %s", call->extent[0], call->extent[0], type);
    } else if (call->kind == LACIS_SYMMETRIC) {
        snprintf(text, size, "batch of %" PRId64 " symmetric matrices of up to %" PRId64 " rows, %s", call->extent[1],
                 call->extent[0], type);
    } else if (call->kind == LACIS_GRID) {
        char extents[LACIS_GRID_SHAPE_TEXT];
        snprintf(text, size, "grid %s, %s",
                 lacis_grid_shape_text(call->extent, lacis_grid_dims_of(call->extent), extents), type);
    } else {
        const char *kind = call->kind == LACIS_VECTOR ? "vector" : call->kind == LACIS_BODIES ? "bodies" : "table";
        snprintf(text, size, "%s of %" PRId64 ", %s", kind, call->extent[0], type);
    }
    return text;
}

static lacis_status explain_symmetric(const lacis_item *item, lacis_lines *lines)
{
    lacis_symmetric a;
    char form[64], count[64] = "";
    LACIS_TRY(lacis_symmetric_view(lines->run, item->array, &a));
    snprintf(form, sizeof form,
             a.packed          ? "packed"
             : a.order != NULL ? "full"
                               : "columns %" PRId64 " elements apart",
             a.ld);
    if (a.matrices != 1) snprintf(count, sizeof count, "%" PRId64 " matrices of up to ", a.matrices);
    return lacis_lines_add(lines, "%s: %s%" PRId64 " x %" PRId64 ", %s, %s triangle, %s, %s",
                           item->name == NULL ? "operand" : item->name, count, a.n, a.n,
                           a.hermitian ? "Hermitian" : "symmetric", a.upper ? "upper" : "lower", form,
                           lacis_dtype_name(a.dtype));
}

static lacis_status explain_bodies(const lacis_item *item, lacis_lines *lines)
{
    lacis_bodies bodies;
    LACIS_TRY(lacis_bodies_view(lines->run, item->array, &bodies));
    return lacis_lines_add(lines, "%s: %" PRId64 " bodies, %s%s%s", item->name == NULL ? "operand" : item->name,
                           bodies.count, lacis_dtype_name(bodies.dtype), bodies.eps == NULL ? "" : ", softening each",
                           bodies.ax == NULL ? "" : ", accelerations known");
}

static lacis_status explain_grid(const lacis_item *item, lacis_lines *lines)
{
    lacis_grid grid;
    char shape[LACIS_GRID_SHAPE_TEXT], fields[LACIS_GRID_FIELDS_TEXT];
    LACIS_TRY(lacis_grid_view(lines->run, item->array, &grid));
    return lacis_lines_add(lines, "%s: grid %s, %s%s", item->name == NULL ? "operand" : item->name,
                           lacis_grid_shape_text(grid.extent, grid.dims, shape),
                           lacis_grid_fields_text(grid.name, grid.fields, fields), lacis_dtype_name(grid.dtype));
}

/* Batches, bodies, grids and symmetric matrices among the operands with their layouts. */
static lacis_status explain_operand(const lacis_item *item, lacis_lines *lines)
{
    if (item->array != NULL && lacis_array_kind(item->array) == LACIS_SYMMETRIC)
        return explain_symmetric(item, lines);
    if (item->array != NULL && lacis_array_kind(item->array) == LACIS_BODIES) return explain_bodies(item, lines);
    if (item->array != NULL && lacis_array_kind(item->array) == LACIS_GRID) return explain_grid(item, lines);
    if (item->array == NULL || lacis_array_kind(item->array) != LACIS_INTERLEAVED) return LACIS_OK;
    char layout[LACIS_LAYOUT_TEXT];
    lacis_batch batch;
    LACIS_TRY(lacis_batch_view(lines->run, item->array, &batch));
    return lacis_lines_add(lines, "%s: %" PRId64 " x %" PRId64 ", %s%s", item->name == NULL ? "operand" : item->name,
                           batch.lanes, batch.most_rows, lacis_batch_layout_text(batch.block, layout),
                           batch.parent == NULL ? "" : ", trees");
}

lacis_status lacis_plan_explain(const lacis_plan *plan, lacis_lines *lines)
{
    char shape[120], a[LACIS_NUMBER_TEXT], b[LACIS_NUMBER_TEXT], c[LACIS_NUMBER_TEXT];
    const lacis_call *call = plan->call;
    const lacis_candidate *chosen = &plan->candidate[plan->chosen];
    LACIS_TRY(lacis_lines_add(lines, "%s -> %s", call->op->verb, shape_text(call, shape, sizeof shape)));
    lines->indent += 2;
    LACIS_TRY(lacis_lines_add(lines, "work: %s %s; result: about %s entries, %s",
                              count_text(chosen->cost.products, a),
                              call->op->work == NULL ? "products" : call->op->work,
                              count_text(chosen->cost.entries, b), bytes_text(chosen->cost.bytes, c)));
    for (int i = 0; i < call->arg_count; i++)
        for (int j = 0; j < LACIS_ITEMS; j++)
            LACIS_TRY(explain_operand(&call->args[i].item[j], lines));
    if (call->op->explain != NULL) LACIS_TRY(call->op->explain(lines->run, call, lines));
    LACIS_TRY(lacis_lines_add(lines, "chosen: %s on %s, %s", chosen->variant->name,
                              device_name(chosen->variant->device), plan->reason));
    if (chosen->variant->summary != NULL) LACIS_TRY(lacis_lines_add(lines, "how: %s", chosen->variant->summary));
    LACIS_TRY(lacis_lines_add(lines, "variants (* chosen), with estimated seconds and bytes of memory:"));
    lines->indent += 2;
    for (int i = 0; i < plan->candidates; i++)
        LACIS_TRY(explain_candidate(plan, i, lines));
    lines->indent -= 2;
    if (call->op->fit != NULL) {
        int64_t whole = call->op->fit(call, 0, lacis_run_memory_left(lines->run) / 2);
        LACIS_TRY(lacis_lines_add(lines, whole >= call->units
                                             ? "memory: the result fits as a whole"
                                             : "memory: the result may not fit; SELECT, SAVE and totals read it in "
                                               "blocks of rows"));
    }
    lines->indent -= 2;
    return LACIS_OK;
}

static double figure(const lacis_run *run, const char *what)
{
    for (int i = 0; i < run->counters; i++)
        if (strcmp(run->counter[i].what, what) == 0) return run->counter[i].figure;
    return 0;
}

/* How fast copies to and from GPUs went. */
static lacis_status explain_copies(lacis_lines *lines)
{
    static const char *const way[] = {"to the GPU", "from the GPU"};
    char bytes[48], seconds[48];
    for (int i = 0; i < LACIS_COUNT(way); i++) {
        snprintf(bytes, sizeof bytes, "bytes %s", way[i]);
        snprintf(seconds, sizeof seconds, "seconds %s", way[i]);
        double moved = figure(lines->run, bytes), took = figure(lines->run, seconds);
        if (moved > 0 && took > 0)
            LACIS_TRY(lacis_lines_add(lines, "copies %s %.3g GB/s", way[i], 1e-9 * moved / took));
    }
    return LACIS_OK;
}

lacis_status lacis_plan_explain_actual(const lacis_plan *plan, double seconds, uint64_t peak, int64_t entries,
                                       uint64_t bytes, lacis_lines *lines)
{
    char a[LACIS_NUMBER_TEXT], b[LACIS_NUMBER_TEXT];
    const lacis_cost *cost = &plan->candidate[plan->chosen].cost;
    LACIS_TRY(lacis_lines_add(lines, "actual (estimate in brackets)"));
    lines->indent += 2;
    LACIS_TRY(lacis_lines_add(lines, "time %s (%s)", seconds_text(seconds, a), seconds_text(cost->seconds, b)));
    LACIS_TRY(lacis_lines_add(lines, "entries %" PRId64 " (%s)", entries, count_text(cost->entries, b)));
    LACIS_TRY(lacis_lines_add(lines, "result %s (%s)", lacis_format_bytes(bytes, a), bytes_text(cost->bytes, b)));
    LACIS_TRY(lacis_lines_add(lines, "memory at most %s (%s)", lacis_format_bytes(peak, a),
                              bytes_text(cost->peak_bytes, b)));
    for (int i = 0; i < lines->run->counters; i++)
        LACIS_TRY(lacis_lines_add(lines, "%s %.6g", lines->run->counter[i].what, lines->run->counter[i].figure));
    LACIS_TRY(explain_copies(lines));
    lines->indent -= 2;
    return LACIS_OK;
}
