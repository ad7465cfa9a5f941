/* SPDX-License-Identifier: Apache-2.0
 *
 * NODES: figures of single nodes of a cell's tree, as COMPARTMENTS with the same clauses numbers them, in the place
 * of what holds for all or for a type. Called by bind.c, once the figures of all nodes are there.
 */
#include "simulate/simulate.h"

#include <inttypes.h>
#include <string.h>

typedef struct node_table {
    const lacis_array *array;
    const lacis_part *cell, *node; /* cell: NULL where there is one cell */
    int64_t rows, offset;
    unsigned char *seen; /* nodes of all cells */
} node_table;

static const double *figures_of(const neuron_shape *shape, neuron_figure figure)
{
    switch (figure) {
    case NEURON_CM:
        return shape->cm;
    case NEURON_G:
        return shape->g;
    case NEURON_E:
        return shape->e;
    case NEURON_GNA:
        return shape->gna;
    case NEURON_GK:
        return shape->gk;
    case NEURON_GL:
        return shape->gl;
    case NEURON_EL:
        return shape->el;
    default:
        return NULL;
    }
}

/* Each column is cell, node, or a figure that nodes have here and lanes do not differ in. */
static lacis_status check_columns(lacis_run *run, const lacis_simulation *s, const node_table *t)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(t->array, i, &part) == LACIS_OK && i < lacis_array_part_count(t->array); i++) {
        if (strcmp(part.name, "cell") == 0 || strcmp(part.name, "node") == 0) continue;
        neuron_figure figure = lacis_figure_named(part.name);
        if (figure == NEURON_FIGURES || figures_of(&s->shape[0], figure) == NULL)
            return lacis_run_fail_at(run, LACIS_NAME, t->offset,
                                     figure == NEURON_RA ? "TYPE t RA x sets it, for the sections of a type"
                                     : s->plan.hh        ? "cell, node, cm, gna, gk, gl, el"
                                                         : "cell, node, cm, g, e; channels need HH",
                                     "NODES has no use for the column '%s'", part.name);
        if (s->plan.column[figure] != NULL)
            return lacis_run_fail_at(run, LACIS_NAME, t->offset, NULL,
                                     "NODES and PARAMETERS both say %s: it differs by node or by lane", part.name);
    }
    if (t->node == NULL)
        return lacis_run_fail_at(run, LACIS_NAME, t->offset, "COMPARTMENTS with the same clauses numbers them",
                                 "NODES lacks the column 'node'");
    if (t->cell == NULL && s->cells.count > 1)
        return lacis_run_fail_at(run, LACIS_NAME, t->offset, NULL,
                                 "NODES lacks the column 'cell', and there are %" PRId64 " cells", s->cells.count);
    return LACIS_OK;
}

/* Where a row's node is; each may be there once. */
static lacis_status find_node(lacis_run *run, const lacis_simulation *s, const node_table *t, int64_t row,
                              const neuron_shape **shape, int64_t *node)
{
    int64_t cell = 0, before = 0;
    if (t->cell != NULL) LACIS_TRY(lacis_simulate_number(run, "NODES", t->cell, row, t->offset, &cell));
    LACIS_TRY(lacis_simulate_number(run, "NODES", t->node, row, t->offset, node));
    if (cell < 0 || cell >= s->cells.count)
        return lacis_run_fail_at(run, LACIS_RANGE, t->offset, NULL,
                                 "NODES row %" PRId64 ": cell %" PRId64 " is not one of 0 .. %" PRId64, row, cell,
                                 s->cells.count - 1);
    *shape = &s->shape[cell];
    if (*node < 0 || *node >= (*shape)->nodes)
        return lacis_run_fail_at(run, LACIS_RANGE, t->offset, "COMPARTMENTS with the same clauses numbers them",
                                 "NODES row %" PRId64 ": node %" PRId64 " is not one of 0 .. %" PRId64, row, *node,
                                 (*shape)->nodes - 1);
    before = (*shape)->chain - s->shape[0].chain - cell; /* chains of a cell take its nodes and one place more */
    if (t->seen[before + *node]++ == 0) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_TYPE, t->offset, NULL,
                             "NODES row %" PRId64 ": node %" PRId64 " is there twice", row, *node);
}

static lacis_status take_row(lacis_run *run, const lacis_simulation *s, const node_table *t, int64_t row)
{
    const neuron_shape *shape = NULL;
    int64_t node = 0;
    LACIS_TRY(find_node(run, s, t, row, &shape, &node));
    for (int f = 0; f < NEURON_FIGURES; f++) {
        const lacis_part *part = lacis_array_part_named(t->array, lacis_figure_name[f]);
        if (part == NULL) continue;
        double value = lacis_value_double(part->data, part->dtype, row), *all = s->nodes;
        if (!lacis_figure_fine(f, value))
            return lacis_run_fail_at(run, LACIS_RANGE, t->offset, NULL, "NODES row %" PRId64 ": %s cannot be %g", row,
                                     part->name, value);
        all[figures_of(shape, f) - all + node] = value;
    }
    return LACIS_OK;
}

lacis_status lacis_nodes_bind(lacis_run *run, const lacis_call *call, lacis_simulation *s)
{
    const lacis_arg *arg = lacis_call_arg(call, "NODES");
    if (arg == NULL) return LACIS_OK;
    node_table t = {.array = arg->item[0].array, .offset = arg->item[0].offset};
    if (lacis_array_kind(t.array) != LACIS_TABLE)
        return lacis_run_fail_at(run, LACIS_TYPE, t.offset, NULL, "NODES takes a table with a row for each node");
    t.cell = lacis_array_part_named(t.array, "cell");
    t.node = lacis_array_part_named(t.array, "node");
    t.rows = lacis_array_extent(t.array, 0);
    LACIS_TRY(check_columns(run, s, &t));
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)s->trees.nodes, &t.seen));
    memset(t.seen, 0, (size_t)s->trees.nodes);
    lacis_status status = LACIS_OK;
    for (int64_t row = 0; status == LACIS_OK && row < t.rows; row++)
        status = take_row(run, s, &t, row);
    lacis_run_free(run, t.seen);
    s->by_node = t.rows;
    return status;
}
