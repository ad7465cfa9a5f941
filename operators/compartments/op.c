/* SPDX-License-Identifier: Apache-2.0
 *
 * COMPARTMENTS: neurons cut into pieces that each have one voltage, with the coefficients of the tree matrix. This
 * file is the descriptor; the engine's registry names it.
 */
#include "sections/trees.h"

#include <string.h>

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "a table of samples"},
    LACIS_CUT_PARAMS,
    LACIS_EXACT_PARAM,
    {.keyword = "RA", .form = "%r", .help = "axial resistivity, ohm cm (100)"},
    {.keyword = "CM", .form = "%r", .help = "capacitance, uF/cm2 (1); it matters to DLAMBDA alone"},
};

static const char *const examples[] = {"COMPARTMENTS cell", "COMPARTMENTS cell NSEG 1 RA 150",
                                       "COMPARTMENTS cell DLAMBDA 0.05 AT 200", NULL};

static const char help[] =
    "COMPARTMENTS cell gives a table with a row for each node of each cell's tree, in NEURON's order: node 0 stands "
    "at "
    "x = 0\n"
    "of the root section; then, section by section (breadth first), come its nseg compartments and a node without "
    "area "
    "at\n"
    "x = 1. Columns: cell, section (as in SECTIONS), type, node, x along the section, parent (a node, -1 for node "
    "0),\n"
    "area_um2, diam_um (0 at section ends), ri_megaohm between node and parent, a (the node's coefficient in its "
    "parent's\n"
    "row) and b (the parent's in its own), in mA/cm2 a mV: a = -100 / (ri area of the parent), b = -100 / (ri own "
    "area),\n"
    "where a node without area counts as 100 um2.\n"
    "\n"
    "Sections are cut by the d_lambda rule (0.1 at 100 Hz) unless NSEG, LENGTH or DLAMBDA says otherwise; LENGTH and "
    "DLAMBDA\n"
    "give odd numbers, so that a node stands at x = 0.5. Sources: Hines 1984; Carnevale and Hines 2006; "
    "docs/neurons.md.";

static const lacis_column columns[] = {
    {"cell", false},    {"section", false}, {"type", false},      {"node", false}, {"x", true}, {"parent", false},
    {"area_um2", true}, {"diam_um", true},  {"ri_megaohm", true}, {"a", true},     {"b", true}};
static const lacis_dtype dtypes[] = {LACIS_I64, LACIS_I32, LACIS_I32, LACIS_I32, LACIS_F64, LACIS_I32,
                                     LACIS_F64, LACIS_F64, LACIS_F64, LACIS_F64, LACIS_F64};
enum { CELL, SECTION, TYPE, NODE, X, PARENT, AREA, DIAMETER, RI, A, B, COLUMNS };

struct work {
    lacis_cells cells;
    lacis_trees trees;
    neuron_cut cut;
};

static void unbind(lacis_run *run, lacis_call *call)
{
    struct work *work = call->work;
    if (work == NULL) return;
    lacis_trees_clear(run, &work->trees);
    lacis_cells_clear(run, &work->cells);
    call->work = NULL;
}

static lacis_status bind_parts(lacis_run *run, const lacis_call *call, struct work *work)
{
    lacis_matters matters = {.all = {[LACIS_MATTER_CM] = 1, [LACIS_MATTER_RA] = 100}};
    LACIS_TRY(lacis_cut_bind(run, call, &work->cut));
    LACIS_TRY(lacis_real_bind(run, call, "RA", true, &matters.all[LACIS_MATTER_RA]));
    LACIS_TRY(lacis_real_bind(run, call, "CM", true, &matters.all[LACIS_MATTER_CM]));
    LACIS_TRY(lacis_cells_read(run, call, &work->cells));
    return lacis_trees_make(run, &work->cells, &work->cut, &matters, &work->trees);
}

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    struct work *work;
    call->work = NULL;
    LACIS_TRY(lacis_run_scratch(run, sizeof *work, &work));
    memset(work, 0, sizeof *work);
    call->work = work;
    lacis_status status = bind_parts(run, call, work);
    if (status != LACIS_OK) {
        unbind(run, call);
        return status;
    }
    call->kind = LACIS_TABLE;
    call->dtype = LACIS_F64;
    call->column = columns;
    call->columns = COLUMNS;
    call->extent[0] = work->trees.nodes;
    call->units = 1;
    return LACIS_OK;
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    double rows = (double)call->extent[0];
    (void)run, (void)profile;
    *out = (lacis_cost){
        .seconds = 2e-8 * rows, .products = rows, .entries = rows, .bytes = 72 * rows, .peak_bytes = 72 * rows};
    return LACIS_OK;
}

static lacis_status explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    const struct work *work = call->work;
    return lacis_lines_add(lines, "cells %lld, sections %lld, compartments: %s", (long long)work->cells.count,
                           (long long)work->cells.first_section[work->cells.count], lacis_cut_text(run, &work->cut));
}

static void write_cell(const struct work *work, int64_t cell, int64_t at, void **data)
{
    const neuron_tree *tree = &work->trees.tree[cell];
    size_t n = (size_t)tree->count;
    for (int64_t i = 0; i < tree->count; i++) {
        ((int64_t *)data[CELL])[at + i] = work->cells.label[cell];
        ((int32_t *)data[TYPE])[at + i] = work->cells.sections[cell].type[tree->section[i]];
        ((int32_t *)data[NODE])[at + i] = (int32_t)i;
    }
    memcpy((int32_t *)data[SECTION] + at, tree->section, n * sizeof(int32_t));
    memcpy((int32_t *)data[PARENT] + at, tree->parent, n * sizeof(int32_t));
    memcpy((double *)data[X] + at, tree->x, n * sizeof(double));
    memcpy((double *)data[AREA] + at, tree->area, n * sizeof(double));
    memcpy((double *)data[DIAMETER] + at, tree->diameter, n * sizeof(double));
    memcpy((double *)data[RI] + at, tree->ri, n * sizeof(double));
    memcpy((double *)data[A] + at, tree->a, n * sizeof(double));
    memcpy((double *)data[B] + at, tree->b, n * sizeof(double));
}

static lacis_status run_rows(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    const struct work *work = call->work;
    void *data[COLUMNS];
    int64_t at = 0;
    (void)begin, (void)end;
    LACIS_TRY(lacis_cells_table(run, columns, dtypes, COLUMNS, call->extent[0], out, data));
    for (int64_t c = 0; c < work->cells.count; c++) {
        write_cell(work, c, at, data);
        at += work->trees.tree[c].count;
    }
    return LACIS_OK;
}

static const lacis_variant rows = {
    .name = "rows", .device = LACIS_CPU, .summary = "each section's points once", .cost = cost, .run = run_rows};
static const lacis_variant *const variants[] = {&rows};

const lacis_op lacis_op_compartments = {
    .verb = "COMPARTMENTS",
    .summary = "neurons cut into compartments, with areas, resistances and matrix coefficients",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "compartments",
    .bind = bind,
    .unbind = unbind,
    .explain = explain,
    .variants = variants,
    .variant_count = LACIS_COUNT(variants),
};
