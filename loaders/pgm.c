/* SPDX-License-Identifier: Apache-2.0
 *
 * Portable grey maps (Netpbm's P2 and P5, 8 and 16 bits): grids of two dimensions. SAVE writes P5 with 16 bits, the
 * values of black and white in a comment. The engine calls it through its descriptor. Layout: "P5", width, height,
 * the count of white, with white space between and '#' comments; one white space; rows of counts, the topmost first.
 */
#include "common_image.h"
#include "common_number.h"
#include "common_text.h"

static const lacis_option_spec options[] = {LACIS_OPTION_IMAGE};

typedef struct head {
    bool text;
    int64_t width, height, white;
    const char *data;
    const char *range; /* of a comment that says it, or NULL */
} head;

static bool is_space(char c)
{
    return lacis_blank(c) || c == '\n';
}

/* Past white space and comments. */
static const char *skip(const char *p, const char *end, head *h)
{
    while (p < end && (is_space(*p) || *p == '#')) {
        if (*p != '#') {
            p++;
            continue;
        }
        const char *from = lacis_skip_blanks(p + 1, end);
        if (h != NULL && (size_t)(end - from) > sizeof LACIS_IMAGE_RANGE &&
            memcmp(from, LACIS_IMAGE_RANGE, sizeof LACIS_IMAGE_RANGE - 1) == 0)
            h->range = from;
        p = lacis_line_end(p, end);
    }
    return p;
}

static const char *read_count(const char *p, const char *end, head *h, int64_t *out)
{
    const char *from = skip(p, end, h);
    for (p = from; p < end && *p >= '0' && *p <= '9';)
        p++;
    return lacis_number_integer(from, p, out) ? p : NULL;
}

static int sniff(const lacis_source *source)
{
    const char *p = source->data;
    return source->size >= 3 && p[0] == 'P' && (p[1] == '2' || p[1] == '5') && (is_space(p[2]) || p[2] == '#') ? 90
                                                                                                               : 0;
}

static lacis_status read_head(lacis_run *run, const lacis_source *source, const lacis_text *text, head *h)
{
    const char *p = source->data + 2, *end = source->data + source->size;
    if (sniff(source) == 0)
        return lacis_run_fail(run, LACIS_FORMAT, "%s: this is no grey map (P2 or P5); convert it", source->path);
    *h = (head){.text = source->data[1] == '2'};
    int64_t *const figure[] = {&h->width, &h->height, &h->white};
    for (int i = 0; i < 3; i++) {
        const char *next = read_count(p, end, h, figure[i]);
        if (next == NULL)
            return lacis_text_fail(run, text, skip(p, end, NULL),
                                   "no number of the head, width, height, white; fetch the file again");
        p = next;
    }
    if (h->white < 1 || h->white > LACIS_IMAGE_WHITE)
        return lacis_run_fail(run, LACIS_FORMAT, "%s: its white is %lld, and must be 1 to 65535", source->path,
                              (long long)h->white);
    if (!h->text && (p == end || !is_space(*p)))
        return lacis_text_fail(run, text, p, "no white space behind the head; fetch the file again");
    h->data = h->text ? p : p + 1;
    return LACIS_OK;
}

/* Bytes of all pixels, or of their least text; UINT64_MAX where they cannot be counted. */
static uint64_t least_bytes(const head *h)
{
    uint64_t bytes = h->text || h->white > 255 ? 2 : 1;
    if (__builtin_mul_overflow(bytes, (uint64_t)h->width, &bytes) ||
        __builtin_mul_overflow(bytes, (uint64_t)h->height, &bytes))
        return UINT64_MAX;
    return bytes;
}

/* ------------------------------------------------------------------------------------------- pixels */

static lacis_status take_binary(lacis_run *run, const lacis_source *source, const head *h,
                                const lacis_grid_maker *maker, lacis_grid_numbers *numbers)
{
    bool wide = h->white > 255;
    if ((uint64_t)(source->data + source->size - h->data) > least_bytes(h))
        return lacis_run_fail(run, LACIS_FORMAT, "%s: bytes follow its pixels; fetch it again, or cut them off",
                              source->path);
    numbers->data = h->data;
    numbers->storage = wide ? LACIS_U16 : LACIS_U8;
    numbers->swap = wide;
    lacis_grid_strides(&maker->grid, wide ? 2 : 1, numbers->stride);
    return lacis_grid_take(maker, 0, numbers);
}

/* The counts as text, into `count`. */
static lacis_status read_text(lacis_run *run, const lacis_text *text, const head *h, int64_t cells, uint16_t *count)
{
    const char *p = h->data, *end = text->end;
    int64_t value;
    for (int64_t i = 0; i < cells; i++) {
        const char *next = read_count(p, end, NULL, &value), *at = skip(p, end, NULL);
        if (next == NULL || value > h->white)
            return lacis_text_fail(run, text, at,
                                   "no count from 0 to %lld for x = %lld, y = %lld; fetch the file again",
                                   (long long)h->white, (long long)(i % h->width), (long long)(i / h->width));
        count[i] = (uint16_t)value;
        p = next;
        if ((i & 0xffff) == 0 && lacis_run_cancelled(run)) return lacis_run_interrupted(run);
    }
    p = skip(p, end, NULL);
    return p == end ? LACIS_OK : lacis_text_fail(run, text, p, "more follows its pixels; cut it off");
}

static lacis_status take_text(lacis_run *run, const lacis_text *text, const head *h, const lacis_grid_maker *maker,
                              lacis_grid_numbers *numbers)
{
    uint16_t *count;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)maker->grid.cells * sizeof *count, &count));
    lacis_status status = read_text(run, text, h, maker->grid.cells, count);
    numbers->data = (const char *)count;
    numbers->storage = LACIS_U16;
    lacis_grid_strides(&maker->grid, sizeof *count, numbers->stride);
    if (status == LACIS_OK) status = lacis_grid_take(maker, 0, numbers);
    lacis_run_free(run, count);
    return status;
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    const lacis_text text = {source->path, source->data, source->data, source->data + source->size, NULL};
    lacis_grid shape = {.dims = 2, .fields = 1, .name = {"value"}, .dtype = lacis_grid_type(given, LACIS_F32)};
    lacis_grid_maker maker;
    lacis_grid_numbers numbers = {0};
    char range[LACIS_IMAGE_TEXT] = "";
    head h;
    LACIS_TRY(read_head(run, source, &text, &h));
    /* the last count of a text needs no white space behind it */
    if (least_bytes(&h) > (uint64_t)(text.end - h.data) + (h.text ? 1 : 0))
        return lacis_run_fail(run, LACIS_FORMAT, "%s: the file ends before its %lld x %lld pixels; fetch it again",
                              source->path, (long long)h.width, (long long)h.height);
    shape.extent[0] = h.width;
    shape.extent[1] = h.height;
    if (h.range != NULL) {
        size_t length = (size_t)(lacis_line_end(h.range, text.end) - h.range);
        memcpy(range, h.range, length < sizeof range ? length : sizeof range - 1);
    }
    lacis_image_scale(given, h.range != NULL ? range : NULL, (double)h.white, &numbers);
    LACIS_TRY(lacis_grid_begin(run, source->path, &shape, &maker));
    lacis_status status =
        h.text ? take_text(run, &text, &h, &maker, &numbers) : take_binary(run, source, &h, &maker, &numbers);
    return lacis_grid_end(&maker, status, out);
}

/* ------------------------------------------------------------------------------------------- saving */

static lacis_status save(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_image image;
    unsigned char *row;
    LACIS_TRY(lacis_image_of(run, array, "pgm", &image));
    int64_t width = image.grid.extent[0], height = image.grid.extent[1];
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)width * 2, &row));
    fprintf(file, "P5\n# %s\n%lld %lld\n%d\n", image.range, (long long)width, (long long)height, LACIS_IMAGE_WHITE);
    for (int64_t y = 0; y < height && !ferror(file); y++) {
        lacis_image_row(&image, y, row);
        fwrite(row, 2, (size_t)width, file);
        if (lacis_run_cancelled(run)) break;
        if ((y & 63) == 0) lacis_run_progress(run, "saving", (double)y / (double)height);
    }
    lacis_run_free(run, row);
    return lacis_run_cancelled(run) ? lacis_run_interrupted(run) : LACIS_OK;
}

static const lacis_holding holdings[] = {{.kind = LACIS_GRID, .dims = 2, .fields = 1}};

const lacis_loader lacis_loader_pgm = {
    .name = "pgm",
    .summary = "grey images (P2, P5; 8 and 16 bits): grids of two dimensions",
    .extensions = ".pgm",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
    .save = save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
};
