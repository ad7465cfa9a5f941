/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids as text: a matrix of numbers (row y, column x), or cells under a header x, y, z and fields, as SAVE writes
 * them to csv. AS grid also takes NumPy's arrays of numbers or records. The engine calls it through its descriptor.
 */
#include "common_grid_text.h"
#include "common_npy.h"

static const lacis_option_spec options[] = {
    {.name = "type",
     .form = 'w',
     .words = LACIS_GRID_TYPES,
     .help = "of the grid; by default f64 of text, and of npy what holds every number"},
};

static lacis_status load_text(lacis_run *run, const lacis_text *text, const lacis_options *given, lacis_array **out)
{
    lacis_grid_layout layout;
    LACIS_TRY(lacis_grid_layout_find(run, text, &layout));
    return lacis_grid_text_read(run, &layout, lacis_grid_type(given, LACIS_F64), out);
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    lacis_text text;
    if (lacis_npy_is(source)) return lacis_npy_load_grid(run, source, given, out);
    LACIS_TRY(lacis_text_open(run, source, &text));
    lacis_status status = load_text(run, &text, given, out);
    lacis_text_close(run, &text);
    return status;
}

/* Matrices of numbers are taken for what else they may be, unless AS grid says so. */
static int sniff(const lacis_source *source)
{
    lacis_text text;
    size_t look = source->size < 4096 ? source->size : 4096;
    if (look == 0 || memchr(source->data, 0, look) != NULL) return 0;
    lacis_text_peek(source, &text);
    return lacis_grid_layout_sniff(&text) ? 80 : 0;
}

const lacis_loader lacis_loader_grid = {
    .name = "grid",
    .summary = "grids: matrices of numbers (row y, column x), cells under a header x,y,z and fields, NumPy's arrays",
    .extensions = "",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
};
