/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: copies of each cell, and the table that says by which parameters they differ. Called by bind.c.
 */
#include "simulate/simulate.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const lacis_figure_name[NEURON_FIGURES] = {"v",  "cm", "ra", "g",   "e",  "gna",
                                                       "gk", "gl", "el", "ena", "ek", "amplitude"};

static bool belongs(const lacis_simulation *s, neuron_figure figure)
{
    if (figure == NEURON_G || figure == NEURON_E) return !s->plan.hh;
    return s->plan.hh || figure < NEURON_GNA || figure > NEURON_EK;
}

bool lacis_figure_fine(neuron_figure figure, double value)
{
    if (!isfinite(value)) return false;
    if (figure == NEURON_CM || figure == NEURON_RA) return value > 0;
    return value >= 0 || (figure != NEURON_G && figure != NEURON_GNA && figure != NEURON_GK && figure != NEURON_GL);
}

neuron_figure lacis_figure_named(const char *name)
{
    int figure = 0;
    while (figure < NEURON_FIGURES && strcmp(name, lacis_figure_name[figure]) != 0)
        figure++;
    return (neuron_figure)figure;
}

static lacis_status check_names(lacis_run *run, const lacis_simulation *s, const lacis_array *table, int64_t offset)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(table, i, &part) == LACIS_OK && i < lacis_array_part_count(table); i++) {
        bool known = strcmp(part.name, "lane") == 0;
        for (int f = 0; f < NEURON_FIGURES; f++)
            known = known || (strcmp(part.name, lacis_figure_name[f]) == 0 && belongs(s, f));
        if (!known)
            return lacis_run_fail_at(run, LACIS_NAME, offset,
                                     s->plan.hh ? "lane, v, cm, ra, gna, gk, gl, el, ena, ek, amplitude"
                                                : "lane, v, cm, ra, g, e, amplitude; channels need HH",
                                     "PARAMETERS has no use for the column '%s'", part.name);
    }
    return LACIS_OK;
}

lacis_status lacis_simulate_number(lacis_run *run, const char *table, const lacis_part *part, int64_t row,
                                   int64_t offset, int64_t *out)
{
    const double largest = 9007199254740992; /* beyond it a real is no number of anything */
    *out = 0;
    if (part->dtype == LACIS_F32 || part->dtype == LACIS_F64) {
        double value = lacis_value_double(part->data, part->dtype, row);
        if (!(fabs(value) <= largest) || value != floor(value))
            return lacis_run_fail_at(run, LACIS_TYPE, offset, NULL, "%s row %" PRId64 ": %s %g is not a whole number",
                                     table, row, part->name, value);
    }
    *out = lacis_value_int64(part->data, part->dtype, row);
    return LACIS_OK;
}

/* Rows may stand in any order where there is a column lane; each lane once. */
static lacis_status row_of_lane(lacis_run *run, const lacis_array *table, int64_t rows, int64_t offset, int64_t *row)
{
    const lacis_part *lane = lacis_array_part_named(table, "lane");
    for (int64_t i = 0; i < rows; i++)
        row[i] = lane == NULL ? i : -1;
    for (int64_t i = 0; lane != NULL && i < rows; i++) {
        int64_t at;
        LACIS_TRY(lacis_simulate_number(run, "PARAMETERS", lane, i, offset, &at));
        if (at < 0 || at >= rows || row[at] >= 0)
            return lacis_run_fail_at(run, LACIS_TYPE, offset, NULL, "PARAMETERS row %" PRId64 ": lane %" PRId64 " %s",
                                     i, at, at < 0 || at >= rows ? "is not one of 0 .. rows - 1" : "is there twice");
        row[at] = i;
    }
    return LACIS_OK;
}

/* One figure for all lanes of all cells. */
static lacis_status read_column(lacis_run *run, lacis_simulation *s, const lacis_part *part, neuron_figure figure,
                                const int64_t *row, int64_t offset, double *to)
{
    double ra = s->matters.all[LACIS_MATTER_RA];
    for (int64_t lane = 0; lane < s->lanes; lane++) {
        double value = lacis_value_double(part->data, part->dtype, row[lane]);
        if (!lacis_figure_fine(figure, value))
            return lacis_run_fail_at(run, LACIS_RANGE, offset, NULL, "PARAMETERS lane %" PRId64 ": %s cannot be %g",
                                     lane, lacis_figure_name[figure], value);
        for (int64_t c = 0; c < s->cells.count; c++)
            to[c * s->lanes + lane] = figure == NEURON_RA ? value / ra : value;
    }
    s->plan.column[figure] = to;
    return LACIS_OK;
}

static lacis_status read_columns(lacis_run *run, lacis_simulation *s, const lacis_array *table, int64_t offset)
{
    int64_t *row, all = s->lanes * s->cells.count, used = 0, columns = lacis_array_part_count(table);
    LACIS_TRY(lacis_run_scratch(run, (uint64_t)s->lanes * sizeof *row, &row));
    LACIS_TRY(row_of_lane(run, table, s->lanes, offset, row));
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)columns * (uint64_t)all * sizeof(double), &s->figures));
    for (int f = 0; f < NEURON_FIGURES; f++) {
        const lacis_part *part = lacis_array_part_named(table, lacis_figure_name[f]);
        if (part == NULL) continue;
        LACIS_TRY(read_column(run, s, part, f, row, offset, s->figures + used++ * all));
    }
    return LACIS_OK;
}

lacis_status lacis_lanes_bind(lacis_run *run, const lacis_call *call, lacis_simulation *s)
{
    const lacis_arg *lanes = lacis_call_arg(call, "LANES"), *parameters = lacis_call_arg(call, "PARAMETERS");
    s->lanes = lanes == NULL ? 1 : lanes->item[0].integer;
    if (parameters != NULL) {
        const lacis_array *table = parameters->item[0].array;
        int64_t offset = parameters->item[0].offset;
        if (lacis_array_kind(table) != LACIS_TABLE)
            return lacis_run_fail_at(run, LACIS_TYPE, offset, NULL,
                                     "PARAMETERS takes a table with a row for each lane");
        int64_t rows = lacis_array_extent(table, 0);
        if (lanes != NULL && rows != s->lanes)
            return lacis_run_fail_at(run, LACIS_TYPE, offset, NULL,
                                     "PARAMETERS has %" PRId64 " rows for %" PRId64 " lanes", rows, s->lanes);
        s->lanes = rows;
        LACIS_TRY(check_names(run, s, table, offset));
    }
    if (s->lanes < 1 || s->lanes > INT32_MAX / s->cells.count)
        return lacis_run_fail_at(run, LACIS_RANGE, lanes != NULL ? lanes->item[0].offset : call->offset, NULL,
                                 "LANES times cells must be 1 .. 2147483647");
    if (parameters == NULL) return LACIS_OK;
    return read_columns(run, s, parameters->item[0].array, parameters->item[0].offset);
}
