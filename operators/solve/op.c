/* SPDX-License-Identifier: Apache-2.0
 *
 * SOLVE: batches of tridiagonal systems and of trees (Hines). This file is the descriptor from which parser,
 * completion, help, planner and EXPLAIN work; the engine's registry names it.
 */
#include "solve/device.h"

#include <inttypes.h>

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "a batch of systems: fields a, b, c, d, or a tree's a, b, d, rhs"},
    {.keyword = "BY", .form = "%a", .help = "right sides of a batch of their own; one matrix may serve all of them"},
    {.keyword = "PRECISION", .form = "F32|F64", .help = "F64: f32 systems are computed in doubles"},
    {.keyword = "LAYOUT", .form = "%l", .help = "of the result; else that of the right sides"},
    {.keyword = "IN",
     .form = "PLACE",
     .help = "the result takes the memory of the right sides: a call in parentheses, which nobody else sees"},
    {.keyword = "STATUS", .form = "", .help = "a column status in place of an error where a lane is bad"},
    {.keyword = "RESIDUAL", .form = "", .help = "a column residual: |right side - matrix x| of each row"},
};

static const char *const examples[] = {
    "SOLVE s",
    "SOLVE s BY r",
    "SOLVE s STATUS RESIDUAL",
    "SOLVE s PRECISION F64",
    "SOLVE s LAYOUT full",
    "SOLVE (s LAYOUT full) IN PLACE",
    NULL,
};

static const char help[] =
    "SOLVE s solves every lane of a batch: independent systems that are tridiagonal or have the shape of a tree. It\n"
    "gives a batch of the same lanes and rows with the field value; s stays as it is.\n"
    "\n"
    "Tridiagonal: a[r] x[r-1] + b[r] x[r] + c[r] x[r+1] = d[r], in f32, f64 or c128. A batch with a column parent is "
    "a\n"
    "tree: b[r] x[parent] + d[r] x[r] + the sum over children k of a[k] x[k] = rhs[r], in f32 or f64. (NEURON's "
    "NODEB,\n"
    "NODED, NODEA, NODERHS.) Fields may be shared by all lanes of a shape; a matrix all of which is shared is "
    "factored\n"
    "once. Lanes may be of any mix of lengths and trees.\n"
    "\n"
    "BY r takes the right sides from a batch r (its field d or rhs, or value, or its only one). Where s has one "
    "lane,\n"
    "that matrix serves all lanes of r. The result has r's layout, or the one that LAYOUT names.\n"
    "\n"
    "IN PLACE writes the result over the right sides, which must belong to this statement alone: a call in "
    "parentheses,\n"
    "such as SOLVE (s LAYOUT full) IN PLACE. That saves the memory of the result; named arrays never change.\n"
    "\n"
    "There is no pivoting: a row that is not (weakly) diagonally dominant, a zero pivot, NaN and infinity are errors "
    "that\n"
    "name lane and row. With STATUS they are values of the column status, at the lane's first bad row: 1 not "
    "dominant,\n"
    "2 zero pivot, 3 not finite; 0 everywhere else. RESIDUAL adds |right side - matrix x|, computed in doubles.\n"
    "\n"
    "Results have the same bits in every layout and grouping and on any number of threads.\n"
    "\n"
    "Elimination after Thomas (1949) and Hines (Int. J. Bio-Med. Comput. 15, 1984), lanes side by side in vectors, "
    "as\n"
    "Valero-Lara et al. (2018) lay them out for GPUs.";

static const char *layout_name(lacis_run *run, int64_t block)
{
    if (block == 1) return "flat";
    if (block == 0) return "full";
    const char *text = lacis_run_text(run, "block(%" PRId64 ")", block);
    return text == NULL ? "block" : text;
}

/* What has to be read and written at least, whoever solves it. */
static lacis_status explain_bytes(const lacis_call *call, lacis_lines *lines)
{
    const lacis_solve *work = call->work;
    const lacis_batch *batch = &work->like->batch;
    const bool shared[] = {work->one || work->lower.shared, work->one || work->diagonal.shared,
                           work->one || work->upper.shared, work->right.shared};
    double elements = (double)call->units / (batch->lanes > 0 ? (double)batch->lanes : 1) * (double)batch->elements;
    double read = 0, size = lacis_solve_bytes(work->type);
    for (int i = 0; i < LACIS_SOLVE_ROLES; i++)
        read += size * (shared[i] ? (double)batch->rows : elements);
    const double mega = 1e6, unit = read < mega ? 1e3 : mega;
    return lacis_lines_add(lines, "memory traffic: at least %.4g %s read and %.4g %s written", read / unit,
                           read < mega ? "kB" : "MB", size * elements / unit, read < mega ? "kB" : "MB");
}

/* Operands and results are never converted as a whole: one solve would not win back the pass over memory. */
static lacis_status explain_layout(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    const lacis_solve *work = call->work;
    const bool matrix = work->one || (work->lower.shared && work->diagonal.shared && work->upper.shared);
    const bool flat = (!matrix && work->matrix.batch.block == 1) ||
                      (!work->right.shared && work->rhs.batch.block == 1) || work->block == 1;
    LACIS_TRY(lacis_lines_add(lines, "layout: matrix %s, right side %s, result %s",
                              layout_name(run, work->matrix.batch.block), layout_name(run, work->rhs.batch.block),
                              layout_name(run, work->block)));
    if (!flat) return LACIS_OK;
    LACIS_TRY(lacis_lines_add(
        lines,
        "conversion by the CPU: flat lanes (one behind the other) are turned side by side in registers, a tile at "
        "a time, as they are read and written; a pass of its own would not pay"));
    return lacis_solve_gpu_explain_layout(work, lines);
}

static lacis_status explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    static const char *const sharing[] = {"", "; off-diagonals shared by lanes",
                                          "; matrix shared, factored once on the CPU and, where lanes are many, by "};
    const lacis_solve *work = call->work;
    const lacis_batch *batch = &work->like->batch;
    bool off = work->lower.shared && work->upper.shared, all = off && work->diagonal.shared;
    int shared = work->type == LACIS_SOLVE_C128 ? 0 : work->one || all ? 2 : off ? 1 : 0;
    const char *way = shared < 2 ? "" : work->tree ? "gpu thread" : "gpu chip";
    LACIS_TRY(lacis_lines_add(lines,
                              "systems: %s, %" PRId64 " lanes in %" PRId64 " shape%s, %" PRId64 " elements%s%s",
                              work->tree ? "trees" : "tridiagonal", batch->lanes, batch->groups,
                              batch->groups == 1 ? "" : "s", batch->elements, sharing[shared], way));
    LACIS_TRY(explain_layout(run, call, lines));
    LACIS_TRY(explain_bytes(call, lines));
    LACIS_TRY(lacis_lines_add(lines, "arithmetic: %s, vector instructions: %s",
                              work->type == LACIS_SOLVE_MIXED ? "f64 (double precision) on stored f32"
                                                              : lacis_dtype_words(call->dtype),
                              lacis_isa_words(lacis_solve_isa())));
    LACIS_TRY(lacis_solve_gpu_explain(work, lines));
    return lacis_solve_explain_ranks(run, work, lines);
}

static const char *cheaper(const lacis_call *call)
{
    (void)call;
    return "a view, read by WHERE lane = x or in ranges of lanes";
}

static const lacis_variant *const variants[] = {
    &lacis_solve_cpu,        &lacis_solve_gpu_thread, &lacis_solve_gpu_chip,
    &lacis_solve_gpu_lanes,  &lacis_solve_gpu_shared, &lacis_solve_gpu_branches,
    &lacis_solve_gpu_cyclic, &lacis_solve_ranks,      &lacis_solve_ranks_gpu};

const lacis_op lacis_op_solve = {
    .verb = "SOLVE",
    .summary = "batches of tridiagonal and tree-shaped linear systems",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "elements",
    .bind = lacis_solve_bind,
    .fit = lacis_solve_fit,
    .cheaper = cheaper,
    .explain = explain,
    .calibrate = lacis_solve_calibrate,
    .variants = variants,
    .variant_count = LACIS_COUNT(variants),
};
