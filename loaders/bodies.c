/* SPDX-License-Identifier: Apache-2.0
 *
 * Bodies as text, a line each: under a header line (also csv, as SAVE writes it), in columns that an option names, or
 * in the format of Princeton's n-body assignment. AS bodies also takes NumPy's n x 4, 7 or 8 numbers. The engine
 * calls it through its descriptor.
 */
#include "common_bodies_text.h"
#include "common_npy.h"

static const lacis_option_spec options[] = {
    {.name = "columns",
     .form = 's',
     .help =
         "what the fields of a line are: 'x y z vx vy vz m', of m x y z vx vy vz eps id ax ay az phi time; others "
         "are left out"},
    {.name = "type", .form = 'w', .words = LACIS_BODIES_TYPES, .help = "of all figures; of text f64 by default"},
};

static lacis_status load_text(lacis_run *run, const lacis_text *text, const lacis_options *given, lacis_array **out)
{
    lacis_bodies_layout layout;
    LACIS_TRY(lacis_bodies_layout_find(run, text, given, &layout));
    return lacis_bodies_text_read(run, &layout, lacis_bodies_type(given, LACIS_F64), out);
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    lacis_text text;
    if (lacis_npy_is(source)) return lacis_npy_load_bodies(run, source, given, out);
    LACIS_TRY(lacis_text_open(run, source, &text));
    lacis_status status = load_text(run, &text, given, out);
    lacis_text_close(run, &text);
    return status;
}

static int sniff(const lacis_source *source)
{
    lacis_text text;
    size_t look = source->size < 4096 ? source->size : 4096;
    if (look > 0 && memchr(source->data, 0, look) != NULL) return 0;
    lacis_text_peek(source, &text);
    return lacis_bodies_layout_sniff(&text);
}

const lacis_loader lacis_loader_bodies = {
    .name = "bodies",
    .summary =
        "bodies: m, x, y, z, vx, vy, vz ... under a header line or in named columns; Princeton's n-body format",
    .extensions = "",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
};
