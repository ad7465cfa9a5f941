/* SPDX-License-Identifier: Apache-2.0
 *
 * What EXPLAIN says of SWEEP besides the variants: how STEP was understood, edges, what is moved, how long a step
 * takes.
 */
#include "sweep/ranks.h"

#include <inttypes.h>
#include <string.h>

static const char *source_text(const lacis_sweep_work *work, int field)
{
    return lacis_sweep_added(work, field) >= 0 ? ", and a source" : "";
}

static lacis_status explain_rule(const lacis_sweep_work *work, int field, lacis_lines *lines)
{
    const lacis_sweep_formula *f = &work->formula[field];
    const char *name = work->grid.name[field];
    if (f->rule.written)
        return lacis_lines_add(lines, "%s: as written, reads %d cell%s%s: %s%s", name, f->rule.taps,
                               f->rule.taps == 1 ? "" : "s", source_text(work, field), lacis_expr_text(f->expr),
                               lacis_expr_exact(f->expr) ? "" : " (not the same bits on a GPU)");
    return lacis_lines_add(lines, "%s: %s, recognised: reads %d cell%s in %d group%s of equal weights%s", name,
                           f->shape, f->rule.taps, f->rule.taps == 1 ? "" : "s", f->rule.linear.groups,
                           f->rule.linear.groups == 1 ? "" : "s", source_text(work, field));
}

/* Faces that are alike are said together. */
static lacis_status explain_edges(lacis_run *run, const lacis_sweep_work *work, int field, lacis_lines *lines)
{
    const int faces = 2 * work->grid.dims;
    const char *text[LACIS_SWEEP_FACES], *all = "";
    bool alike = true;
    for (int face = 0; face < faces; face++) {
        text[face] = lacis_sweep_edge_text(run, work, field, face);
        if (text[face] == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
        alike = alike && strcmp(text[face], text[0]) == 0;
    }
    if (alike) return lacis_lines_add(lines, "edges of %s: %s", work->grid.name[field], text[0]);
    for (int face = 0; face < faces && all != NULL; face++)
        all = lacis_run_text(run, "%s%s%s %s", all, face > 0 ? ", " : "", lacis_sweep_face_name(face), text[face]);
    if (all == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    return lacis_lines_add(lines, "edges of %s: %s", work->grid.name[field], all);
}

static lacis_status explain_steps(const lacis_sweep_work *work, lacis_lines *lines)
{
    LACIS_TRY(lacis_lines_add(lines, "steps %" PRId64 " from step %" PRId64 " on, in %s", work->steps,
                              work->grid.step, work->type == LACIS_SWEEP_F32 ? "f32" : "f64"));
    if (work->check > 0)
        LACIS_TRY(lacis_lines_add(lines, "until a step changes less than %g (%s), looked at every %" PRId64 " step%s",
                                  work->tolerance, work->l2 ? "l2" : "max", work->check,
                                  work->check == 1 ? "" : "s"));
    if (work->keep > 0) LACIS_TRY(lacis_lines_add(lines, "files %s every %" PRId64 " steps", work->to, work->keep));
    return LACIS_OK;
}

static lacis_status explain_way(const char *name, const lacis_sweep_estimate *e, lacis_lines *lines)
{
    if (!e->known) return LACIS_OK;
    return lacis_lines_add(
        lines, "%s: %d step%s a pass over memory, %.3g MB moved and %.3g s each step; work memory %.3g MB", name,
        e->levels, e->levels == 1 ? "" : "s", 1e-6 * e->bytes, e->step, 1e-6 * e->memory);
}

lacis_status lacis_sweep_explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    const lacis_sweep_work *work = call->work;
    for (int field = 0; field < work->grid.fields; field++) {
        LACIS_TRY(explain_rule(work, field, lines));
        LACIS_TRY(explain_edges(run, work, field, lines));
    }
    LACIS_TRY(explain_steps(work, lines));
    LACIS_TRY(lacis_lines_add(lines, "vector instructions: %s; a step alone moves %.3g MB of memory",
                              lacis_isa_words(lacis_sweep_isa()), 1e-6 * lacis_sweep_step_bytes(work)));
    LACIS_TRY(explain_way("sweep", &work->cpu[LACIS_SWEEP_SINGLE], lines));
    LACIS_TRY(explain_way("blocked", &work->cpu[LACIS_SWEEP_BLOCKED], lines));
    LACIS_TRY(explain_way("gpu sweep", &work->gpu[LACIS_SWEEP_SINGLE], lines));
    LACIS_TRY(explain_way("gpu blocked", &work->gpu[LACIS_SWEEP_BLOCKED], lines));
    return lacis_sweep_explain_ranks(work, lines);
}
