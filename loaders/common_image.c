/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of grey images; see common_image.h.
 */
#include "common_image.h"
#include "common_number.h"

#include <math.h>
#include <string.h>

/* "lacis range 0 100" */
static bool read_range(const char *text, double *low, double *high)
{
    const size_t length = sizeof LACIS_IMAGE_RANGE - 1;
    if (text == NULL || strncmp(text, LACIS_IMAGE_RANGE, length) != 0) return false;
    const char *from = text + length, *blank = strchr(from, ' ');
    if (blank == NULL || !lacis_number_real(from, blank, low)) return false;
    const char *end = blank + 1 + strcspn(blank + 1, " \r\n");
    return lacis_number_real(blank + 1, end, high) && isfinite(*low) && isfinite(*high);
}

void lacis_image_scale(const lacis_options *given, const char *found, double most, lacis_grid_numbers *numbers)
{
    enum { FOUND, UNIT, COUNTS };
    int64_t scale = lacis_option_integer(given, "scale", FOUND);
    numbers->low = 0;
    numbers->high = 1;
    numbers->most = scale == COUNTS ? 0 : most;
    if (scale != FOUND) return;
    double low, high;
    if (!read_range(found, &low, &high)) return;
    numbers->low = low;
    numbers->high = high;
}

static double value_at(const lacis_grid *grid, int64_t i)
{
    return grid->dtype == LACIS_F32 ? (double)((const float *)grid->field[0])[i]
                                    : ((const double *)grid->field[0])[i];
}

static int64_t find_range(lacis_image *image)
{
    int64_t strange = 0;
    image->low = INFINITY;
    image->high = -INFINITY;
    for (int64_t i = 0; i < image->grid.cells; i++) {
        double value = value_at(&image->grid, i);
        if (!isfinite(value)) {
            strange++;
            continue;
        }
        if (value < image->low) image->low = value;
        if (value > image->high) image->high = value;
    }
    if (image->low > image->high) image->low = image->high = 0;
    return strange;
}

lacis_status lacis_image_of(lacis_run *run, const lacis_array *array, const char *format, lacis_image *out)
{
    char low[LACIS_NUMBER_TEXT], high[LACIS_NUMBER_TEXT];
    if (lacis_array_kind(array) != LACIS_GRID)
        return lacis_run_fail(run, LACIS_TYPE, "%s holds grids; LET g = SELECT x, y, value FROM ... makes one",
                              format);
    LACIS_TRY(lacis_grid_view(run, array, &out->grid));
    if (out->grid.fields > 1)
        return lacis_run_fail_at(run, LACIS_TYPE, -1, "LET one = SELECT x, y, u FROM g",
                                 "an image has one field, the grid has %d: take one", out->grid.fields);
    if (out->grid.dims > 2)
        return lacis_run_fail_at(run, LACIS_TYPE, -1, "LET plane = SELECT x, y, value FROM g WHERE z = 0",
                                 "an image has two dimensions, the grid has three: take a plane");
    int64_t strange = find_range(out);
    lacis_format_double(out->low, low);
    lacis_format_double(out->high, high);
    snprintf(out->range, sizeof out->range, LACIS_IMAGE_RANGE "%s %s", low, high);
    if (strange > 0)
        lacis_run_note(run, LACIS_WARNING, "%lld values are not finite: infinite ones are black or white, NaN black",
                       (long long)strange);
    lacis_run_note(run, LACIS_NOTE, "black is %s, white %s", low, high);
    return LACIS_OK;
}

void lacis_image_row(const lacis_image *image, int64_t y, unsigned char *out)
{
    double span = image->high / 2 - image->low / 2; /* halved: the range may be larger than a double */
    for (int64_t x = 0; x < image->grid.extent[0]; x++) {
        double value = value_at(&image->grid, y * image->grid.extent[0] + x), part = 0;
        if (span > 0) part = (value / 2 - image->low / 2) / span;
        if (!(part > 0)) part = 0; /* NaN, too */
        if (part > 1) part = 1;
        unsigned grey = (unsigned)(part * LACIS_IMAGE_WHITE + 0.5);
        out[2 * x] = (unsigned char)(grey >> 8);
        out[2 * x + 1] = (unsigned char)grey;
    }
}
