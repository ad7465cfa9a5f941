/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids to PNG, 16 bits of grey; see common_png.h.
 */
#include "common_png.h"

#ifndef LACIS_HAVE_PNG

lacis_status lacis_png_save(lacis_run *run, const lacis_array *array, FILE *file)
{
    (void)array;
    (void)file;
    return lacis_run_fail(run, LACIS_UNSUPPORTED,
                          "this lacis was built without libpng; save it as pgm, or build with libpng-dev");
}

#else

#include <png.h>

typedef struct writing {
    lacis_run *run;
    FILE *file;
    lacis_image image;
    unsigned char *row;
    uint64_t refused;
    char message[120];
    png_structp png;
    png_infop info;
} writing;

static void on_error(png_structp png, png_const_charp message)
{
    writing *w = png_get_error_ptr(png);
    snprintf(w->message, sizeof w->message, "%s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static png_voidp take_memory(png_structp png, png_alloc_size_t size)
{
    writing *w = png_get_mem_ptr(png);
    void *block = lacis_run_alloc_quiet(w->run, size);
    if (block == NULL) w->refused = size;
    return block;
}

static void give_memory(png_structp png, png_voidp block)
{
    writing *w = png_get_mem_ptr(png);
    lacis_run_free(w->run, block);
}

static void write_bytes(png_structp png, png_bytep data, size_t size)
{
    writing *w = png_get_io_ptr(png);
    if (!ferror(w->file)) (void)fwrite(data, 1, size, w->file); /* the engine asks ferror */
}

static void flush(png_structp png)
{
    (void)png;
}

static bool write_image(writing *w)
{
    char key[] = "Comment";
    const int64_t *extent = w->image.grid.extent;
    png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = key, .text = w->image.range};
    if (setjmp(png_jmpbuf(w->png))) return false;
    png_set_user_limits(w->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_write_fn(w->png, w, write_bytes, flush);
    png_set_IHDR(w->png, w->info, (png_uint_32)extent[0], (png_uint_32)extent[1], 16, PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_set_text(w->png, w->info, &text, 1);
    png_write_info(w->png, w->info);
    for (int64_t y = 0; y < extent[1]; y++) {
        lacis_image_row(&w->image, y, w->row);
        png_write_row(w->png, w->row);
        if (lacis_run_cancelled(w->run) || ferror(w->file)) return true; /* the caller asks again */
        if ((y & 63) == 0) lacis_run_progress(w->run, "saving", (double)y / (double)extent[1]);
    }
    png_write_end(w->png, NULL);
    return true;
}

static lacis_status failed(const writing *w)
{
    void *block;
    if (w->refused == 0) return lacis_run_fail(w->run, LACIS_IO, "libpng: %s", w->message);
    LACIS_TRY(lacis_run_alloc(w->run, w->refused, &block)); /* says how much, and of what limit */
    lacis_run_free(w->run, block);
    return lacis_run_fail(w->run, LACIS_NOMEM, "out of memory");
}

static lacis_status save(writing *w)
{
    LACIS_TRY(lacis_run_alloc(w->run, (uint64_t)w->image.grid.extent[0] * 2, &w->row));
    w->png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, w, on_error, on_warning, w, take_memory, give_memory);
    if (w->png != NULL) w->info = png_create_info_struct(w->png);
    if (w->info == NULL) snprintf(w->message, sizeof w->message, "it cannot be started");
    if (w->info == NULL || !write_image(w)) return failed(w);
    return lacis_run_cancelled(w->run) ? lacis_run_interrupted(w->run) : LACIS_OK;
}

lacis_status lacis_png_save(lacis_run *run, const lacis_array *array, FILE *file)
{
    writing w = {.run = run, .file = file};
    LACIS_TRY(lacis_image_of(run, array, "png", &w.image));
    if (w.image.grid.extent[0] > INT32_MAX || w.image.grid.extent[1] > INT32_MAX)
        return lacis_run_fail(run, LACIS_RANGE, "png has at most 2147483647 pixels along x and y; save it as npy");
    lacis_status status = save(&w);
    png_destroy_write_struct(&w.png, &w.info);
    lacis_run_free(run, w.row);
    return status;
}

#endif
