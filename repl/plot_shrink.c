/* SPDX-License-Identifier: Apache-2.0
 *
 * Makes a picture smaller, for screens. Called by plot_screen.c; see plot.h.
 */
#include "plot.h"

/* How much of source pixel `from` is in pixel `to`, where `old` of them become `new`; all of `to` is `old`. */
static uint64_t share(int from, int to, int old, int new)
{
    int64_t left = (int64_t)from * new > (int64_t)to *old ? (int64_t)from *new : (int64_t)to *old;
    int64_t right = (from + 1LL) * new < (to + 1LL) * old ? (from + 1LL) * new : (to + 1LL) * old;
    return (uint64_t)(right - left);
}

/* The mean of what lies below a pixel of the smaller picture, parts of pixels as parts. */
static uint32_t mean_of(const uint32_t *colour, int width, int height, int x, int y, int new_width, int new_height)
{
    const int x0 = x * width / new_width, x1 = ((x + 1) * width + new_width - 1) / new_width;
    const int y0 = y * height / new_height, y1 = ((y + 1) * height + new_height - 1) / new_height;
    const uint64_t whole = (uint64_t)width * (uint64_t)height;
    uint64_t red = whole / 2, green = whole / 2, blue = whole / 2;
    for (int v = y0; v < y1; v++)
        for (int u = x0; u < x1; u++) {
            uint32_t c = colour[(size_t)v * (size_t)width + (size_t)u];
            uint64_t weight = share(u, x, width, new_width) * share(v, y, height, new_height);
            red += weight * (c >> 16 & 255);
            green += weight * (c >> 8 & 255);
            blue += weight * (c & 255);
        }
    return (uint32_t)(red / whole << 16 | green / whole << 8 | blue / whole);
}

uint32_t *plot_shrink(const uint32_t *colour, int width, int height, int new_width, int new_height)
{
    uint32_t *out = shell_alloc(NULL, sizeof *out * (size_t)new_width * (size_t)new_height);
    for (int y = 0; y < new_height; y++)
        for (int x = 0; x < new_width; x++)
            out[(size_t)y * (size_t)new_width + (size_t)x] =
                mean_of(colour, width, height, x, y, new_width, new_height);
    return out;
}
