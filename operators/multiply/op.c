/* SPDX-License-Identifier: Apache-2.0
 *
 * MULTIPLY: generalized products of graphs, of a graph and a vector, of a vector and a graph. This file is the
 * descriptor from which parser, completion, help, planner and EXPLAIN work; the engine's registry names it.
 */
#include "multiply/device.h"

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "left operand: a graph, or a vector where b is a graph"},
    {.keyword = "BY",
     .form = "%a",
     .required = true,
     .help = "right operand: a graph, or a vector where a is a graph"},
    {.keyword = "CON",
     .form = "%e",
     .slots = "a,b,s,c,t",
     .help = "what a path s -> c -> t is worth: over its values a, b and the labels s, c, t; nil counts paths"},
    {.keyword = "AGG", .form = "%g", .help = "how the paths from s to t become one value"},
    {.keyword = "MASK", .form = "[NOT] %a", .help = "only the pairs stored (NOT: not stored) in this graph"},
    {.keyword = "WHERE", .form = "%e", .slots = "src", .help = "only these rows; nothing else is computed"},
    {.keyword = "TOP", .form = "%i", .help = "only the k greatest values of each row (ties: smaller dst)"},
    {.keyword = "HAVING",
     .form = "%e",
     .slots = "value,src,dst,s,t",
     .help = "only the entries for which this holds; before TOP"},
};

static const char *const examples[] = {
    "MULTIPLY g BY g",
    "MULTIPLY g BY g CON nil AGG count TOP 10",
    "MULTIPLY g BY g CON a + b AGG min WHERE src = 30",
    "MULTIPLY g BY g CON nil AGG count MASK NOT g HAVING src <> dst AND value > 1",
    "MULTIPLY g BY g CON a * b AGG (x, y) -> x + y - x * y IDENTITY 0 ASSOCIATIVE",
    "MULTIPLY x BY g CON a * b AGG sum",
    NULL,
};

static const char help[] =
    "MULTIPLY a BY b computes, for every pair (s, t) that some path s -> c -> t joins (s -> c an entry of a, c -> t "
    "one\n"
    "of b), the value AGG over c of CON(a, b, s, c, t). Without CON and AGG that is the ordinary product: a * b, "
    "sum.\n"
    "\n"
    "Defaults: CON nil means AGG count; AGG count means CON nil; CON alone is summed; another AGG alone gets a * b.\n"
    "a and b are 1 where the graph has no values. Values i32, i64, f32, f64 and complex ones (c64, c128; computed in "
    "c128)\n"
    "can be computed with; CON nil takes any. Complex values have no order: no AGG min or max of them, no TOP.\n"
    "Integers are computed in 64 bits and never wrap: an overflow is an error. count gives i64, avg f64 or c128, a "
    "written fold\n"
    "the type that CON's values, its identity and its own result share, every other AGG the type of CON (integers: "
    "i64).\n"
    "first and last go by rising c, as do all sums: results have the same bits on any number of threads.\n"
    "\n"
    "Shapes: graph BY graph gives a graph (src, dst, value), graph BY vector and vector BY graph a vector (i, value) "
    "with\n"
    "entries only where there is a path. a's columns meet b's rows by label: where both count alike that is their "
    "order;\n"
    "otherwise they are joined, and columns that b does not have as rows give nothing. Matrices that are not square "
    "and\n"
    "count from the same number to different ends are refused.\n"
    "\n"
    "WHERE src IN (...), = or a range computes those rows alone: the cost is that of their own paths. For a vector\n"
    "result src is its label i, and so are src, dst, s and t in HAVING. The result holds the selected rows only.\n"
    "TOP and HAVING work while a row is computed: what they drop is never stored.\n"
    "\n"
    "Row-wise products after Gustavson (ACM TOMS 4(3), 1978); rows are classified by their exact number of paths.";

/* What threads may leave unfilled counts against the block, but, where memory is not short, no more than half of it
 * is kept for that: many threads would have no rows left. */
static uint64_t fit_slack(const lacis_multiply *work, uint64_t bytes)
{
    const lacis_product *product = &work->product;
    uint64_t slack = lacis_mul_slack(&product->job) * lacis_product_entry_bytes(product);
    bool plenty = slack + bytes <= lacis_run_memory_left(work->run) / 2;
    return plenty && slack > bytes / 2 ? bytes / 2 : slack;
}

static int64_t fit(const lacis_call *call, int64_t begin, uint64_t bytes)
{
    const lacis_multiply *work = call->work;
    const lacis_product *product = &work->product;
    uint64_t slack = fit_slack(work, bytes);
    if (slack > bytes) return begin;
    const lacis_mul_limits limits = {.bytes = bytes - slack,
                                     .row_bytes = 3 * sizeof(int64_t), /* begin, end, label */
                                     .entry_bytes = lacis_product_entry_bytes(product),
                                     .products = UINT64_MAX};
    uint64_t products;
    return lacis_product_within(product, begin, call->units, &limits, &products);
}

static const char *cheaper(const lacis_call *call)
{
    const lacis_multiply *work = call->work;
    if (work != NULL && work->product.job.top > 0) return "WHERE src IN (...), or SELECT with totals";
    return "TOP k, WHERE src IN (...), or SELECT with totals";
}

static lacis_status explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    lacis_multiply *work = call->work;
    LACIS_TRY(lacis_product_explain(run, &work->product, lines));
    LACIS_TRY(lacis_multiply_gpu_explain(work, lines));
    return lacis_multiply_explain_ranks(run, call, lines);
}

static lacis_status rows_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_multiply *work = call->work;
    /* Of an entry that is summed, block after block: by threads that share the memory. */
    const double memory_ns = 0.2, thread_ns = 3;
    const double totals_ns = memory_ns + thread_ns / lacis_run_threads(run);
    LACIS_TRY(lacis_product_cost(run, &work->product, profile, call->closely, out));
    if (call->totals) out->seconds += 1e-9 * totals_ns * out->entries;
    return LACIS_OK;
}

static lacis_status rows_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    const lacis_multiply *work = call->work;
    lacis_product_result result;
    LACIS_TRY(lacis_product_run(run, &work->product, begin, end, &result));
    lacis_run_count(run, "entries", (double)result.entries);
    lacis_status status =
        lacis_product_array(run, &work->product, begin, end, &result, work->row_labels, work->col_labels, out);
    lacis_product_release(&result);
    return status;
}

const lacis_variant lacis_multiply_rows = {
    .name = "rows",
    .device = LACIS_CPU,
    .summary = "row by row: copied, sorted, hashed or accumulated in a dense window by the row's number of paths",
    .cost = rows_cost,
    .run = rows_run,
};

static bool pull_can(const lacis_call *call, char *reason, size_t size)
{
    const lacis_multiply *work = call->work;
    return lacis_product_can_pull(&work->product, reason, size);
}

static lacis_status pull_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    lacis_multiply *work = call->work;
    LACIS_TRY(lacis_product_cost(run, &work->product, profile, call->closely, out));
    out->seconds =
        lacis_pull_seconds(&work->product, profile, call->units) + 1e-9 * LACIS_PULL_HOST_NS * (double)call->units;
    return LACIS_OK;
}

static lacis_status pull_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    const lacis_multiply *work = call->work;
    lacis_product_result result;
    LACIS_TRY(lacis_product_pull(run, &work->product, begin, end, &result));
    lacis_run_count(run, "entries", (double)result.entries);
    lacis_status status = lacis_product_array(run, &work->product, begin, end, &result, NULL, NULL, out);
    lacis_product_release(&result);
    return status;
}

static const lacis_variant pull = {
    .name = "pull",
    .device = LACIS_CPU,
    .summary = "graph BY vector: each row of the graph collects its values of the vector",
    .can = pull_can,
    .cost = pull_cost,
    .run = pull_run,
};
static const lacis_variant *const variants[] = {&lacis_multiply_rows,     &pull,
                                                &lacis_multiply_gpu,      &lacis_multiply_gpu_pull,
                                                &lacis_multiply_gpu_push, &lacis_multiply_ranks,
                                                &lacis_multiply_ranks_gpu};

const lacis_op lacis_op_multiply = {
    .verb = "MULTIPLY",
    .summary = "generalized product: AGG over c of CON(a(s, c), b(c, t))",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .bind = lacis_multiply_bind,
    .unbind = lacis_multiply_unbind,
    .fit = fit,
    .cheaper = cheaper,
    .explain = explain,
    .calibrate = lacis_product_calibrate,
    .variants = variants,
    .variant_count = LACIS_COUNT(variants),
    .row_by_row = true,
};
