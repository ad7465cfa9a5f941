/* SPDX-License-Identifier: Apache-2.0
 *
 * POWER: a graph multiplied by itself again and again, a number of times or until nothing changes. This file is the
 * descriptor; the engine's registry names it.
 */
#include "power/power.h"

#include <inttypes.h>

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "a graph"},
    {.keyword = "TO", .form = "%i", .help = "k: the value of paths of exactly k edges"},
    {.keyword = "UNTIL", .form = "STABLE", .help = "paths of any number of edges: until no value changes"},
    {.keyword = "WITHIN", .form = "%i", .help = "with UNTIL STABLE: of at most so many edges"},
    {.keyword = "CON",
     .form = "%e",
     .slots = "a,b,s,c,t",
     .help = "a path of value a made longer by an edge c -> t of value b; s, c, t are labels; nil: 1"},
    {.keyword = "AGG", .form = "%g", .help = "how the paths from s to t become one value"},
    {.keyword = "WHERE", .form = "%e", .slots = "src", .help = "only these sources; nothing else is computed"},
};

static const char *const examples[] = {
    "POWER g TO 3 AGG count",
    "POWER g UNTIL STABLE CON a + b AGG min WHERE src = 1",
    "POWER g UNTIL STABLE WITHIN 4 CON max(a, b) AGG min",
    "POWER g UNTIL STABLE",
    NULL,
};

static const char help[] =
    "POWER a TO k: R = a, then k - 1 times R = R BY a with CON and AGG as MULTIPLY takes them (its defaults too): "
    "what\n"
    "paths of exactly k edges are worth. Under AGG count it counts walks of k edges (a's values do not matter): the "
    "first\n"
    "product counts, later ones add the counts up in checked 64-bit integers. TO 1 gives the selected rows of a.\n"
    "\n"
    "POWER a UNTIL STABLE: R = a, then R = AGG of R and R BY a until nothing changes: paths of any number of edges, "
    "one or\n"
    "more (so a pair (s, s) is there only where a cycle leads back to s). AGG must be min, max or any. CON a + b AGG "
    "min\n"
    "gives the lengths of shortest paths; without CON and AGG every pair that is joined has the value 1. Values are\n"
    "computed in the type in which CON settles: i64, f32, f64 or c128. Only entries that the last round made or "
    "improved are\n"
    "multiplied again. If values still change after as many rounds as there are vertices, a cycle keeps improving "
    "them (a\n"
    "negative cycle) and that is an error; WITHIN k stops after paths of k edges instead.\n"
    "\n"
    "WHERE src = x, IN (...) or a range starts from those rows alone: the cost is that of their own paths. The "
    "result\n"
    "holds the selected rows only. a's columns meet a's rows by label, as in MULTIPLY.";

/* No row can have more entries than there are columns. */
static int64_t fit(const lacis_call *call, int64_t begin, uint64_t bytes)
{
    const lacis_power *work = call->work;
    const uint64_t widest = sizeof(uint32_t) + (work->type == LACIS_C128 ? 2 : 1) * sizeof(int64_t);
    uint64_t row = widest * (uint64_t)work->a.cols + 3 * sizeof(int64_t), rows = bytes / row;
    uint64_t left = (uint64_t)(call->units - begin);
    return begin + (int64_t)(rows < left ? rows : left);
}

static const char *cheaper(const lacis_call *call)
{
    (void)call;
    return "WHERE src IN (...), or SELECT with totals";
}

static lacis_status explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    lacis_power *work = call->work;
    if (!work->stable) {
        LACIS_TRY(lacis_lines_add(lines, "rounds: %" PRId64, work->rounds));
    } else if (work->rounds > 0) {
        LACIS_TRY(lacis_lines_add(lines, "rounds: until nothing changes, at most %" PRId64, work->rounds));
    } else {
        LACIS_TRY(lacis_lines_add(lines, "rounds: until nothing changes"));
    }
    LACIS_TRY(lacis_lines_add(lines, "sources: %" PRId64 " of %" PRId64 "; estimates from computing some of them",
                              work->start.s.count, work->a.rows));
    if (work->first.products == NULL) return LACIS_OK;
    LACIS_TRY(lacis_lines_add(lines, "first product:"));
    return lacis_product_explain(run, &work->first, lines);
}

lacis_csr lacis_power_start(const lacis_power *work, int64_t begin, int64_t end)
{
    lacis_csr start = work->start.a;
    lacis_labels labels = lacis_labels_from(&work->start.s, begin, end - begin);
    start.begin += begin;
    start.end += begin;
    start.rows = end - begin;
    start.row_label = labels.label;
    start.row_base = labels.base;
    return start;
}

lacis_status lacis_power_array(lacis_run *run, const lacis_power *work, int64_t begin, int64_t end,
                               lacis_power_rows *rows, lacis_array **out)
{
    lacis_run_count(run, "rounds", (double)rows->done);
    lacis_run_count(run, "entries", (double)rows->rows.entries);
    lacis_product shape = work->start;
    shape.dtype = work->dtype;
    shape.storage = rows->storage;
    lacis_status status =
        lacis_product_array(run, &shape, begin, end, &rows->rows, work->row_labels, work->col_labels, out);
    lacis_product_release(&rows->rows);
    return status;
}

static lacis_status rounds_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    const lacis_power *work = call->work;
    lacis_csr start = lacis_power_start(work, begin, end);
    lacis_power_rows rows;
    LACIS_TRY(work->stable ? lacis_power_closure(run, work, &start, &rows)
                           : lacis_power_rounds(run, work, &start, &rows));
    return lacis_power_array(run, work, begin, end, &rows, out);
}

static const lacis_variant rounds = {
    .name = "rounds",
    .device = LACIS_CPU,
    .summary = "one row-wise product a round, from the selected rows on; closures multiply only what changed",
    .cost = lacis_power_cost,
    .run = rounds_run,
};
static const lacis_variant *const variants[] = {&rounds, &lacis_power_gpu_variant};

const lacis_op lacis_op_power = {
    .verb = "POWER",
    .summary = "repeated product of a graph with itself: walks of k edges, closures, shortest paths",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .bind = lacis_power_bind,
    .unbind = lacis_power_unbind,
    .fit = fit,
    .cheaper = cheaper,
    .explain = explain,
    .variants = variants,
    .variant_count = LACIS_COUNT(variants),
};
