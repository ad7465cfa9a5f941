/* SPDX-License-Identifier: Apache-2.0
 *
 * Neurons in SWC files, as NeuroMorpho.Org and others publish them: a sample a line. The engine calls it through its
 * descriptor.
 *
 * Source of the format: R. C. Cannon et al., An on-line archive of reconstructed hippocampal neurons, J. Neurosci.
 * Methods 84 (1998).
 */
#include "common_options.h"
#include "common_swc.h"

#include <math.h>

static const lacis_option_spec options[] = {
    {.name = "scale", .form = 'r', .otherwise = "1", .help = "um a unit of the file: 0.008 for voxels of 8 nm"},
    {.name = "min_radius", .form = 'r', .otherwise = "0", .help = "in um: smaller radii are raised to it"},
    {.name = "strict",
     .form = 'b',
     .otherwise = "false",
     .help = "of several files: one that is refused fails the statement"},
};

static lacis_status read_options(lacis_run *run, const lacis_options *given, double *scale, double *least)
{
    const lacis_option_value *s = lacis_option_set(given, "scale"), *r = lacis_option_set(given, "min_radius");
    *scale = s != NULL ? s->real : 1;
    *least = r != NULL ? r->real : 0;
    if (!(*scale > 0) || !isfinite(*scale))
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "scale"), NULL,
                                 "scale = %g is no positive number", *scale);
    if (!(*least >= 0) || !isfinite(*least))
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "min_radius"), NULL,
                                 "min_radius = %g is not 0 or more", *least);
    return LACIS_OK;
}

static lacis_status load_text(lacis_run *run, const lacis_text *text, double scale, double least, lacis_array **out)
{
    lacis_swc swc;
    lacis_swc_begin(&swc, run, text);
    lacis_status status = lacis_swc_read(&swc);
    if (status == LACIS_OK) status = lacis_swc_link(&swc);
    if (status == LACIS_OK && lacis_run_cancelled(run)) status = lacis_run_interrupted(run);
    if (status == LACIS_OK) {
        lacis_swc_notes(&swc);
        status = lacis_swc_scale(&swc, scale, least);
    }
    if (status == LACIS_OK && lacis_run_cancelled(run)) status = lacis_run_interrupted(run);
    if (status == LACIS_OK) status = lacis_swc_sort(&swc);
    if (status == LACIS_OK) status = lacis_swc_table(run, swc.buffer, swc.count, out);
    lacis_swc_end(&swc);
    return status;
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    double scale, least;
    lacis_text text;
    LACIS_TRY(read_options(run, given, &scale, &least));
    LACIS_TRY(lacis_text_open(run, source, &text));
    lacis_status status = load_text(run, &text, scale, least, out);
    lacis_text_close(run, &text);
    return status;
}

static const lacis_holding holdings[] = {{.kind = LACIS_TABLE, .some = true}};

const lacis_loader lacis_loader_swc = {
    .name = "swc",
    .summary = "neurons: samples with id, type, x, y, z, radius and parent",
    .extensions = ".swc",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = lacis_swc_sniff,
    .load = load,
    .save = lacis_swc_save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
    .join = lacis_swc_join,
    .figure = lacis_swc_figures,
    .figures = LACIS_SWC_FIGURES,
    .measure = lacis_swc_measure,
    .growth = 1.5,
};
