/* SPDX-License-Identifier: Apache-2.0
 *
 * A picture as sixels, for terminals that take them (DEC STD 070): bands of six rows, in each of them one pass a
 * colour. There are at most 256 colours: those of a cube of 32 x 32 x 32 that most pixels have, each the mean of its
 * pixels, and what is left goes to the nearest of them. See plot.h.
 */
#include "plot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLOURS = 256, BINS = 1 << 15, BAND = 6 };

typedef struct bin {
    uint64_t red, green, blue; /* sums, then means */
    uint32_t pixels, number;   /* of its colour in the palette */
} bin;

typedef struct palette {
    bin *bin; /* BINS of them */
    int count;
    uint16_t of[COLOURS]; /* the bin of each colour */
} palette;

static unsigned bin_of(uint32_t colour)
{
    return (colour >> 9 & 31 << 10) | (colour >> 6 & 31 << 5) | (colour >> 3 & 31);
}

/* ------------------------------------------------------------------------------------------ palette */

static void count_colours(bin *bins, const uint32_t *colour, size_t pixels)
{
    for (size_t i = 0; i < pixels; i++) {
        bin *b = &bins[bin_of(colour[i])];
        b->red += colour[i] >> 16 & 255;
        b->green += colour[i] >> 8 & 255;
        b->blue += colour[i] & 255;
        b->pixels++;
    }
    for (int i = 0; i < BINS; i++) {
        if (bins[i].pixels == 0) continue;
        bins[i].red /= bins[i].pixels;
        bins[i].green /= bins[i].pixels;
        bins[i].blue /= bins[i].pixels;
    }
}

static uint64_t apart(const bin *a, const bin *b)
{
    int64_t red = (int64_t)a->red - (int64_t)b->red, green = (int64_t)a->green - (int64_t)b->green;
    int64_t blue = (int64_t)a->blue - (int64_t)b->blue;
    return (uint64_t)(3 * red * red + 6 * green * green + blue * blue);
}

static uint32_t nearest(const palette *p, const bin *b)
{
    uint32_t best = 0;
    for (uint32_t k = 1; k < (uint32_t)p->count; k++)
        if (apart(&p->bin[p->of[k]], b) < apart(&p->bin[p->of[best]], b)) best = k;
    return best;
}

typedef struct rank {
    uint32_t pixels;
    uint16_t bin;
} rank;

static int by_pixels(const void *a, const void *b)
{
    const rank *left = a, *right = b;
    if (left->pixels != right->pixels) return left->pixels < right->pixels ? 1 : -1;
    return left->bin < right->bin ? -1 : 1;
}

static void choose(palette *p)
{
    static const size_t most = BINS;
    rank *order = shell_alloc(NULL, most * sizeof *order);
    size_t used = 0;
    for (size_t i = 0; i < most; i++)
        if (p->bin[i].pixels > 0) order[used++] = (rank){p->bin[i].pixels, (uint16_t)i};
    qsort(order, used, sizeof *order, by_pixels);
    p->count = used < COLOURS ? (int)used : COLOURS;
    for (size_t k = 0; k < used; k++) {
        bin *b = &p->bin[order[k].bin];
        if (k < COLOURS) p->of[k] = order[k].bin;
        b->number = k < COLOURS ? (uint32_t)k : nearest(p, b);
    }
    free(order);
}

/* ------------------------------------------------------------------------------------------- sixels */

/* `count` times the character, as !count where that is shorter. */
static void put_run(shell_text *out, char sixel, int count)
{
    char text[24];
    int length = snprintf(text, sizeof text, "!%d%c", count, sixel);
    for (int i = 0; count <= 3 && i < count; i++)
        text[i] = sixel;
    shell_text_add(out, text, (size_t)(count <= 3 ? count : length));
}

/* One colour of a band: a bit for each of the six rows that has it. */
static void put_pass(shell_text *out, const unsigned char *number, int width, int rows, int colour)
{
    char head[16], before = 0;
    int run = 0, length = snprintf(head, sizeof head, "#%d", colour);
    shell_text_add(out, head, (size_t)length);
    for (int x = 0; x < width; x++) {
        int bits = 0;
        for (int y = 0; y < rows; y++)
            bits |= (number[(size_t)y * (size_t)width + (size_t)x] == colour) << y;
        char sixel = (char)('?' + bits);
        if (run > 0 && sixel != before) {
            put_run(out, before, run);
            run = 0;
        }
        before = sixel;
        run++;
    }
    if (before != '?') put_run(out, before, run); /* nothing at the end need not be said */
    shell_text_add(out, "$", 1);
}

static void put_band(shell_text *out, const unsigned char *number, int width, int rows)
{
    bool there[COLOURS] = {false};
    for (size_t i = 0; i < (size_t)width * (size_t)rows; i++)
        there[number[i]] = true;
    for (int colour = 0; colour < COLOURS; colour++)
        if (there[colour]) put_pass(out, number, width, rows, colour);
}

static void put_head(shell_text *out, const palette *p, int width, int height)
{
    char text[80];
    snprintf(text, sizeof text, "\033P0;1;0q\"1;1;%d;%d", width, height);
    shell_text_puts(out, text);
    for (int k = 0; k < p->count; k++) { /* in hundredths */
        const bin *b = &p->bin[p->of[k]];
        snprintf(text, sizeof text, "#%d;2;%d;%d;%d", k, (int)((b->red * 100 + 127) / 255),
                 (int)((b->green * 100 + 127) / 255), (int)((b->blue * 100 + 127) / 255));
        shell_text_puts(out, text);
    }
}

void plot_sixel(const uint32_t *colour, int width, int height, shell_text *out)
{
    size_t pixels = (size_t)width * (size_t)height;
    palette p = {.bin = shell_alloc(NULL, BINS * sizeof *p.bin)};
    unsigned char *number = shell_alloc(NULL, pixels);
    memset(p.bin, 0, BINS * sizeof *p.bin);
    count_colours(p.bin, colour, pixels);
    choose(&p);
    for (size_t i = 0; i < pixels; i++)
        number[i] = (unsigned char)p.bin[bin_of(colour[i])].number;
    put_head(out, &p, width, height);
    for (int y = 0; y < height; y += BAND) {
        if (y > 0) shell_text_add(out, "-", 1); /* not behind the last: there the cursor is to stay */
        put_band(out, number + (size_t)y * (size_t)width, width, height - y < BAND ? height - y : BAND);
    }
    shell_text_puts(out, "\033\\");
    free(number);
    free(p.bin);
}
