/* SPDX-License-Identifier: Apache-2.0
 *
 * What EXPLAIN says of NBODY and ACCELERATE besides the variants: bodies, rule, expected terms and error, memory.
 */
#include "nbody/work.h"

#include <inttypes.h>
#include <string.h>

static lacis_status explain_bodies(const lacis_nbody_work *work, lacis_lines *lines)
{
    const char *eps = !work->common && work->bodies.eps != NULL ? "each its own" : NULL;
    char common[40];
    snprintf(common, sizeof common, "%g", work->soften);
    if (work->places.array != NULL) LACIS_TRY(lacis_lines_add(lines, "at %" PRId64 " points", work->places.count));
    return lacis_lines_add(lines, "bodies %" PRId64 " in %s%s, softening %s, G %g", work->bodies.count,
                           lacis_nbody_type_name(work->type),
                           work->type == LACIS_NBODY_MIXED ? " (positions f64, forces f32)" : "",
                           eps != NULL ? eps : common, work->g);
}

static lacis_status explain_steps(const lacis_nbody_work *work, lacis_lines *lines)
{
    const bool known = work->bodies.ax != NULL;
    if (work->accelerate) return LACIS_OK;
    return lacis_lines_add(lines, "steps %" PRId64 " of %g, leapfrog (kick drift kick); accelerations %s",
                           work->steps, work->dt, known ? "taken over" : "computed first");
}

static lacis_status explain_rule(lacis_run *run, const lacis_nbody_work *work, lacis_lines *lines)
{
    const double n = (double)work->bodies.count;
    LACIS_TRY(lacis_lines_add(lines, "trees: %s%s; about %.0f terms a body (%.0f by pairs)",
                              lacis_nbody_rule_text(run, &work->rule), work->error > 0 ? " to begin with" : "",
                              lacis_nbody_terms(&work->rule, n), n));
    LACIS_TRY(lacis_lines_add(lines, "a cell counts as a whole where %s",
                              work->rule.opening == LACIS_NBODY_RELATIVE
                                  ? "that errs by less than alpha times the body's last acceleration"
                                  : "its size is less than theta times its distance"));
    if (work->error > 0)
        return lacis_lines_add(
            lines,
            "error: 99 %% of accelerations within %g (relative), sought on the bodies themselves with %d of them",
            work->error, LACIS_NBODY_SAMPLE);
    return lacis_lines_add(
        lines, "error: 99 %% of accelerations within about %.1g (relative) by a tree, as in a Plummer sphere%s",
        lacis_nbody_expected_error(&work->rule), work->certify > 0 ? "; certified" : "");
}

static lacis_status explain_way(const char *where, const char *way, const lacis_nbody_estimate *e, lacis_lines *lines)
{
    if (!e->known) return LACIS_OK;
    return lacis_lines_add(lines,
                           "%s%s: all accelerations %.0f times, %.3g s each, of which %.3g s %s; work memory %.3g MB",
                           where, way, e->evaluations, e->field + e->build, e->build,
                           strcmp(way, "pairs") == 0 ? "order the bodies" : "build the tree", 1e-6 * e->bytes);
}

lacis_status lacis_nbody_explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    static const char *const name[LACIS_NBODY_WAYS] = {"pairs", "tree", "insertion"};
    const lacis_nbody_work *work = call->work;
    LACIS_TRY(explain_bodies(work, lines));
    LACIS_TRY(explain_steps(work, lines));
    LACIS_TRY(explain_rule(run, work, lines));
    LACIS_TRY(
        lacis_lines_add(lines, "vector instructions: %s; sums %s", lacis_isa_words(lacis_nbody_isa()),
                        work->rule.deterministic ? "the same for bodies in any order" : "in the bodies' order"));
    for (int way = 0; way < LACIS_NBODY_WAYS; way++)
        LACIS_TRY(explain_way("", name[way], &work->cpu[way], lines));
    for (int way = 0; way < LACIS_NBODY_WAYS; way++)
        LACIS_TRY(explain_way("gpu ", name[way], &work->gpu[way], lines));
    return lacis_nbody_explain_ranks(run, work, lines);
}
