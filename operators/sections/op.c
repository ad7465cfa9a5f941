/* SPDX-License-Identifier: Apache-2.0
 *
 * SECTIONS: the unbranched pieces of neurons. This file is the descriptor; the engine's registry names it.
 */
#include "sections/cells.h"

#include <string.h>

static const lacis_param params[] = {{.form = "%a", .required = true, .help = "a table of samples"},
                                     LACIS_EXACT_PARAM};

static const char *const examples[] = {"SECTIONS cell", "LET s = SECTIONS cell", NULL};

static const char help[] =
    "SECTIONS cell gives a table with a row for each unbranched piece of each cell, in the order in which NEURON "
    "8's\n"
    "import3d makes them: cell; section, from 0 in each cell; type (1 soma, 2 axon, 3 dendrite, 4 apical ...) and "
    "number\n"
    "(dend[3] is type 3, number 3); parent, the section it is joined to, -1 for the root; parent_x, where on it: 0, "
    "0.5 or\n"
    "1; points; length_um, area_um2, diam_um (the mean); nseg, the compartments that d_lambda 0.1 at 100 Hz asks for "
    "with\n"
    "RA 100 and CM 1 (0 where two neighbouring diameters are 0).\n"
    "\n"
    "cell is a table of samples: id, type, x, y, z, radius, parent (-1 for a root), and cell where there are "
    "several;\n"
    "parents come before children. docs/neurons.md says how samples become sections: somas of one, three and more "
    "points,\n"
    "forests, sections without length.";

static const lacis_column columns[] = {{"cell", false},    {"section", false}, {"type", false},   {"number", false},
                                       {"parent", false},  {"parent_x", true}, {"points", false}, {"length_um", true},
                                       {"area_um2", true}, {"diam_um", true},  {"nseg", false}};
static const lacis_dtype dtypes[] = {LACIS_I64, LACIS_I32, LACIS_I32, LACIS_I32, LACIS_I32, LACIS_F64,
                                     LACIS_I32, LACIS_F64, LACIS_F64, LACIS_F64, LACIS_I32};
enum { CELL, SECTION, TYPE, NUMBER, PARENT, PARENT_X, POINTS, LENGTH, AREA, DIAMETER, NSEG, COLUMNS };

static void unbind(lacis_run *run, lacis_call *call)
{
    if (call->work == NULL) return;
    lacis_cells_clear(run, call->work);
    call->work = NULL;
}

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    lacis_cells *cells;
    call->work = NULL;
    LACIS_TRY(lacis_run_scratch(run, sizeof *cells, &cells));
    lacis_status status = lacis_cells_read(run, call, cells);
    call->work = cells;
    if (status != LACIS_OK) {
        unbind(run, call);
        return status;
    }
    call->kind = LACIS_TABLE;
    call->dtype = LACIS_F64;
    call->column = columns;
    call->columns = COLUMNS;
    call->extent[0] = cells->first_section[cells->count];
    call->units = 1;
    return LACIS_OK;
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    const lacis_cells *cells = call->work;
    double rows = (double)call->extent[0];
    (void)run, (void)profile;
    *out = (lacis_cost){.seconds = 2e-8 * (double)cells->rows + 1e-7 * rows,
                        .products = (double)cells->rows,
                        .entries = rows,
                        .bytes = 68 * rows,
                        .peak_bytes = 68 * rows};
    return LACIS_OK;
}

static int32_t nseg_of(const neuron_sections *sections, int64_t section)
{
    const neuron_cut rule = {.kind = NEURON_CUT_LAMBDA, .lambda = 0.1, .hz = 100};
    double compartments;
    return lacis_neuron_cut_section(sections, &rule, section, 100, 1, &compartments) && compartments < INT32_MAX
               ? (int32_t)compartments
               : 0;
}

static void write_cell(const lacis_cells *cells, int64_t cell, void **data)
{
    const neuron_sections *from = &cells->sections[cell];
    for (int64_t s = 0, at = cells->first_section[cell]; s < from->count; s++, at++) {
        ((int64_t *)data[CELL])[at] = cells->label[cell];
        ((int32_t *)data[SECTION])[at] = (int32_t)s;
        ((int32_t *)data[TYPE])[at] = from->type[s];
        ((int32_t *)data[NUMBER])[at] = from->number[s];
        ((int32_t *)data[PARENT])[at] = from->parent[s];
        ((double *)data[PARENT_X])[at] = from->parent_x[s];
        ((int32_t *)data[POINTS])[at] = from->first[s + 1] - from->first[s];
        ((double *)data[LENGTH])[at] = lacis_neuron_length(from, s);
        lacis_neuron_measure(from, s, (double *)data[AREA] + at, (double *)data[DIAMETER] + at);
        ((int32_t *)data[NSEG])[at] = nseg_of(from, s);
    }
}

static lacis_status run_rows(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end, lacis_array **out)
{
    const lacis_cells *cells = call->work;
    void *data[COLUMNS];
    (void)begin, (void)end;
    LACIS_TRY(lacis_cells_table(run, columns, dtypes, COLUMNS, call->extent[0], out, data));
    for (int64_t c = 0; c < cells->count; c++)
        write_cell(cells, c, data);
    lacis_run_count(run, "samples", (double)cells->rows);
    return LACIS_OK;
}

static const lacis_variant rows = {.name = "rows",
                                   .device = LACIS_CPU,
                                   .summary = "each cell's samples once, cells over the threads",
                                   .cost = cost,
                                   .run = run_rows};
static const lacis_variant *const variants[] = {&rows};

const lacis_op lacis_op_sections = {
    .verb = "SECTIONS",
    .summary = "the unbranched pieces of neurons, as NEURON makes them",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "samples",
    .bind = bind,
    .unbind = unbind,
    .variants = variants,
    .variant_count = LACIS_COUNT(variants),
};
