/* SPDX-License-Identifier: Apache-2.0
 *
 * PNG to grids; see common_png.h. libpng leaves by longjmp: the functions that may be left so (those with setjmp)
 * keep everything in a `reading`.
 */
#include "common_png.h"

#ifndef LACIS_HAVE_PNG

lacis_status lacis_png_load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    (void)given;
    (void)out;
    return lacis_run_fail(
        run, LACIS_UNSUPPORTED,
        "%s: this lacis was built without libpng; convert the image to pgm, or build with libpng-dev", source->path);
}

#else

#include <png.h>

typedef struct reading {
    lacis_run *run;
    const lacis_source *source;
    const lacis_options *given;
    size_t at;         /* of the source's bytes */
    uint64_t refused;  /* bytes that there was no memory for */
    char message[120]; /* libpng's */
    png_structp png;
    png_infop info;
    char range[LACIS_IMAGE_TEXT];
    int depth, channels, passes;
    size_t row_bytes;
    unsigned char *pixels; /* a row; of interlaced images all */
    double *values;        /* of a row */
    lacis_grid_maker maker;
    lacis_grid_numbers scale;
} reading;

/* --- what libpng calls */

static void on_error(png_structp png, png_const_charp message)
{
    reading *r = png_get_error_ptr(png);
    snprintf(r->message, sizeof r->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static png_voidp take_memory(png_structp png, png_alloc_size_t size)
{
    reading *r = png_get_mem_ptr(png);
    void *block = lacis_run_alloc_quiet(r->run, size);
    if (block == NULL) r->refused = size;
    return block;
}

static void give_memory(png_structp png, png_voidp block)
{
    reading *r = png_get_mem_ptr(png);
    lacis_run_free(r->run, block);
}

static void read_bytes(png_structp png, png_bytep to, size_t size)
{
    reading *r = png_get_io_ptr(png);
    if (size > r->source->size - r->at) png_error(png, "the file ends before the image does");
    memcpy(to, r->source->data + r->at, size);
    r->at += size;
}

/* --- the image */

/* The range that lacis wrote into it. */
static void find_range(reading *r)
{
    png_textp text;
    int count = 0;
    png_get_text(r->png, r->info, &text, &count);
    for (int i = 0; i < count; i++)
        if (strncmp(text[i].text, LACIS_IMAGE_RANGE, sizeof LACIS_IMAGE_RANGE - 1) == 0)
            snprintf(r->range, sizeof r->range, "%s", text[i].text);
}

/* Before libpng takes memory for a row. */
static bool too_short(const reading *r)
{
    enum { DEFLATE = 1100 }; /* more bytes than one of the file can stand for */
    double bytes = (double)png_get_rowbytes(r->png, r->info) * png_get_image_height(r->png, r->info);
    return bytes > (double)r->source->size * DEFLATE;
}

/* Everything before the pixels, which become one or three numbers of 8 or 16 bits each. */
static bool read_head(reading *r)
{
    if (setjmp(png_jmpbuf(r->png))) return false;
    png_set_user_limits(r->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_read_fn(r->png, r, read_bytes);
    png_read_info(r->png, r->info);
    if (too_short(r)) png_error(r->png, "the file is too short for its width and height");
    find_range(r);
    png_set_expand(r->png);
    png_set_strip_alpha(r->png);
    if (png_get_bit_depth(r->png, r->info) == 16) png_set_swap(r->png);
    r->passes = png_set_interlace_handling(r->png);
    png_read_update_info(r->png, r->info);
    r->depth = png_get_bit_depth(r->png, r->info);
    r->channels = png_get_channels(r->png, r->info);
    r->row_bytes = png_get_rowbytes(r->png, r->info);
    return true;
}

static double number_at(const reading *r, const unsigned char *row, int64_t i)
{
    uint16_t wide;
    if (r->depth == 8) return row[i];
    memcpy(&wide, row + 2 * i, sizeof wide);
    return wide;
}

/* ITU-R BT.709's luma of the numbers as they stand; a grey that is written as a colour stays what it is. */
static double brightness(const reading *r, const unsigned char *row, int64_t x)
{
    if (r->channels < 3) return number_at(r, row, x * r->channels);
    double red = number_at(r, row, 3 * x), green = number_at(r, row, 3 * x + 1), blue = number_at(r, row, 3 * x + 2);
    return red == green && green == blue ? red : 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

static void take_row(reading *r, const unsigned char *row, int64_t y)
{
    int64_t width = r->maker.grid.extent[0];
    const lacis_grid_numbers *scale = &r->scale;
    for (int64_t x = 0; x < width; x++) {
        double value = brightness(r, row, x);
        r->values[x] = scale->most > 0 ? lacis_grid_scale(scale, value) : value;
    }
    char *to = (char *)lacis_grid_maker_cells(&r->maker, 0);
    to += (size_t)(y * width) * lacis_dtype_size(r->maker.grid.dtype);
    lacis_values_convert(r->values, LACIS_F64, 0, width, to, r->maker.grid.dtype);
}

/* All passes of an interlaced image are over the whole of it. */
static bool read_rows(reading *r)
{
    if (setjmp(png_jmpbuf(r->png))) return false;
    for (int pass = 0; pass < r->passes; pass++)
        for (int64_t y = 0; y < r->maker.grid.extent[1]; y++) {
            unsigned char *row = r->pixels + (r->passes > 1 ? (size_t)y * r->row_bytes : 0);
            png_read_row(r->png, row, NULL);
            if (pass == r->passes - 1) take_row(r, row, y);
            if ((y & 63) == 0 && lacis_run_cancelled(r->run)) return true; /* the caller asks again */
        }
    png_read_end(r->png, NULL);
    return true;
}

/* --- all */

static lacis_status failed(const reading *r)
{
    void *block;
    if (r->refused == 0)
        return lacis_run_fail(r->run, LACIS_FORMAT, "%s: %s; fetch it again, or convert it", r->source->path,
                              r->message);
    LACIS_TRY(lacis_run_alloc(r->run, r->refused, &block)); /* says how much, and of what limit */
    lacis_run_free(r->run, block);
    return lacis_run_fail(r->run, LACIS_NOMEM, "out of memory");
}

static lacis_status take_pixels(reading *r)
{
    uint64_t rows = r->passes > 1 ? (uint64_t)r->maker.grid.extent[1] : 1;
    LACIS_TRY(lacis_run_alloc(r->run, rows * r->row_bytes, &r->pixels));
    LACIS_TRY(lacis_run_alloc(r->run, (uint64_t)r->maker.grid.extent[0] * sizeof *r->values, &r->values));
    if (!read_rows(r)) return failed(r);
    return lacis_run_cancelled(r->run) ? lacis_run_interrupted(r->run) : LACIS_OK;
}

static lacis_status take_image(reading *r, lacis_array **out)
{
    lacis_grid shape = {.dims = 2, .fields = 1, .name = {"value"}, .dtype = lacis_grid_type(r->given, LACIS_F32)};
    if (!read_head(r)) return failed(r);
    shape.extent[0] = png_get_image_width(r->png, r->info);
    shape.extent[1] = png_get_image_height(r->png, r->info);
    lacis_image_scale(r->given, r->range, r->depth == 8 ? 255 : 65535, &r->scale);
    LACIS_TRY(lacis_grid_begin(r->run, r->source->path, &shape, &r->maker));
    return lacis_grid_end(&r->maker, take_pixels(r), out);
}

static lacis_status load(reading *r, lacis_array **out)
{
    r->png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, r, on_error, on_warning, r, take_memory, give_memory);
    if (r->png != NULL) r->info = png_create_info_struct(r->png);
    if (r->info == NULL) {
        snprintf(r->message, sizeof r->message, "libpng cannot be started");
        return failed(r);
    }
    return take_image(r, out);
}

lacis_status lacis_png_load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    reading *r;
    LACIS_TRY(lacis_run_alloc(run, sizeof *r, &r));
    *r = (reading){.run = run, .source = source, .given = given};
    lacis_status status = load(r, out);
    png_destroy_read_struct(&r->png, &r->info, NULL);
    lacis_run_free(run, r->pixels);
    lacis_run_free(run, r->values);
    lacis_run_free(run, r);
    return status;
}

#endif
