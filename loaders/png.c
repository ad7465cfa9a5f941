/* SPDX-License-Identifier: Apache-2.0
 *
 * PNG images as grids of two dimensions, through libpng. Grey ones are taken as they are, of coloured ones the
 * luminance; transparency is left out. SAVE writes 16 bits of grey, the values of black and white as a text chunk. A
 * build without libpng says so. The engine calls it through its descriptor.
 */
#include "common_png.h"

static const lacis_option_spec options[] = {LACIS_OPTION_IMAGE};

static int sniff(const lacis_source *source)
{
    return source->size >= 8 && memcmp(source->data, "\x89PNG\r\n\x1a\n", 8) == 0 ? 100 : 0;
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    if (sniff(source) == 0) return lacis_run_fail(run, LACIS_FORMAT, "%s: this is no PNG image", source->path);
    return lacis_png_load(run, source, given, out);
}

static const lacis_holding holdings[] = {{.kind = LACIS_GRID, .dims = 2, .fields = 1}};

const lacis_loader lacis_loader_png = {
    .name = "png",
    .summary = "PNG images, 8 and 16 bits, colours as luminance: grids of two dimensions",
    .extensions = ".png",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
    .save = lacis_png_save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
};
