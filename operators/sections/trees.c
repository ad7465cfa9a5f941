/* SPDX-License-Identifier: Apache-2.0
 *
 * Compartments of all cells of a call. Called by COMPARTMENTS and SIMULATE.
 */
#include "sections/trees.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *const lacis_matter_name[LACIS_MATTERS] = {"CM", "RA", "G", "E", "GNA", "GK", "GL", "EL", "ENA", "EK"};

double lacis_matter_of(const lacis_matters *matters, int32_t type, lacis_matter matter)
{
    double value = matters->all[matter];
    for (int i = 0; i < matters->typed_count; i++)
        if (matters->typed[i].type == type && matters->typed[i].matter == matter) value = matters->typed[i].value;
    return value;
}

lacis_status lacis_real_bind(lacis_run *run, const lacis_call *call, const char *keyword, bool positive,
                             double *value)
{
    const lacis_arg *arg = lacis_call_arg(call, keyword);
    if (arg == NULL) return LACIS_OK;
    *value = arg->item[0].real;
    if (!isfinite(*value) || (positive && !(*value > 0)))
        return lacis_run_fail_at(run, LACIS_RANGE, arg->item[0].offset, NULL, "%s must be %s, not %g", keyword,
                                 positive ? "above 0" : "a finite number", *value);
    return LACIS_OK;
}

lacis_status lacis_cut_bind(lacis_run *run, const lacis_call *call, neuron_cut *out)
{
    const lacis_arg *nseg = lacis_call_arg(call, "NSEG"), *length = lacis_call_arg(call, "LENGTH");
    const lacis_arg *lambda = lacis_call_arg(call, "DLAMBDA"), *at = lacis_call_arg(call, "AT");
    *out = (neuron_cut){.kind = NEURON_CUT_LAMBDA, .lambda = 0.1, .hz = 100};
    if ((nseg != NULL) + (length != NULL) + (lambda != NULL) > 1)
        return lacis_run_fail_at(run, LACIS_SYNTAX, call->offset, NULL, "give one of NSEG, LENGTH and DLAMBDA");
    if (at != NULL && (nseg != NULL || length != NULL))
        return lacis_run_fail_at(run, LACIS_SYNTAX, at->offset, NULL, "AT belongs to DLAMBDA");
    if (nseg != NULL) {
        out->kind = NEURON_CUT_COUNT;
        out->count = nseg->item[0].integer;
        if (out->count < 1 || out->count > 1000000)
            return lacis_run_fail_at(run, LACIS_RANGE, nseg->item[0].offset, NULL,
                                     "NSEG must be 1 .. 1000000, not %" PRId64, out->count);
    }
    if (length != NULL) out->kind = NEURON_CUT_LENGTH;
    LACIS_TRY(lacis_real_bind(run, call, "LENGTH", true, &out->length));
    LACIS_TRY(lacis_real_bind(run, call, "DLAMBDA", true, &out->lambda));
    return lacis_real_bind(run, call, "AT", true, &out->hz);
}

const char *lacis_cut_text(lacis_run *run, const neuron_cut *cut)
{
    const char *text;
    if (cut->kind == NEURON_CUT_COUNT) {
        text = lacis_run_text(run, "%" PRId64 " a section", cut->count);
    } else if (cut->kind == NEURON_CUT_LENGTH) {
        text = lacis_run_text(run, "none longer than %g um", cut->length);
    } else {
        text = lacis_run_text(run, "d_lambda %g at %g Hz", cut->lambda, cut->hz);
    }
    return text == NULL ? "" : text;
}

/* Per section, of all cells: ra, cm, and the compartments. */
struct cuts {
    double *ra, *cm;
    int32_t *nseg;
};

static lacis_status cut_all(lacis_run *run, const lacis_cells *cells, const neuron_cut *cut,
                            const lacis_matters *matters, struct cuts *cuts)
{
    for (int64_t c = 0; c < cells->count; c++) {
        const neuron_sections *sections = &cells->sections[c];
        int64_t at = cells->first_section[c];
        for (int64_t s = 0; s < sections->count; s++) {
            cuts->ra[at + s] = lacis_matter_of(matters, sections->type[s], LACIS_MATTER_RA);
            cuts->cm[at + s] = lacis_matter_of(matters, sections->type[s], LACIS_MATTER_CM);
        }
        neuron_fault fault = lacis_neuron_cut(sections, cut, cuts->ra + at, cuts->cm + at, cuts->nseg + at);
        if (fault.kind != NEURON_FINE) return lacis_cells_fail(run, cells, c, fault);
    }
    return LACIS_OK;
}

static lacis_status grow_all(lacis_run *run, const lacis_cells *cells, const struct cuts *cuts, lacis_trees *out)
{
    uint64_t bytes = 0;
    for (int64_t c = 0; c < cells->count; c++) {
        int64_t sections = cells->sections[c].count;
        int64_t nodes = lacis_neuron_tree_nodes(sections, cuts->nseg + cells->first_section[c]);
        if (nodes < 0) return lacis_cells_fail(run, cells, c, (neuron_fault){NEURON_TOO_MANY, 0});
        bytes += lacis_neuron_tree_bytes(sections, nodes);
        out->nodes += nodes;
    }
    LACIS_TRY(lacis_run_alloc(run, bytes, &out->block));
    char *place = out->block;
    for (int64_t c = 0; c < cells->count; c++) {
        int64_t at = cells->first_section[c];
        neuron_tree *tree = &out->tree[c];
        neuron_fault fault = lacis_neuron_tree(&cells->sections[c], cuts->nseg + at, cuts->ra + at, place, tree);
        if (fault.kind != NEURON_FINE) return lacis_cells_fail(run, cells, c, fault);
        place += lacis_neuron_tree_bytes(cells->sections[c].count, tree->count);
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
    }
    return LACIS_OK;
}

lacis_status lacis_trees_make(lacis_run *run, const lacis_cells *cells, const neuron_cut *cut,
                              const lacis_matters *matters, lacis_trees *out)
{
    uint64_t sections = (uint64_t)cells->first_section[cells->count], n = (uint64_t)cells->count;
    struct cuts cuts;
    *out = (lacis_trees){0};
    LACIS_TRY(
        lacis_run_alloc(run, sections * (2 * sizeof(double) + sizeof(int32_t)) + n * sizeof *out->tree, &out->cut));
    out->tree = out->cut;
    cuts.ra = (double *)(out->tree + n);
    cuts.cm = cuts.ra + sections;
    cuts.nseg = (int32_t *)(cuts.cm + sections);
    LACIS_TRY(cut_all(run, cells, cut, matters, &cuts));
    return grow_all(run, cells, &cuts, out);
}

void lacis_trees_clear(lacis_run *run, lacis_trees *trees)
{
    lacis_run_free(run, trees->block);
    lacis_run_free(run, trees->cut);
    memset(trees, 0, sizeof *trees);
}
