/* SPDX-License-Identifier: Apache-2.0
 *
 * PNG and base64, for files, for images inside of SVG, and for terminals that take them. zlib is all that it needs.
 */
#include "plot.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static void big_endian(uint32_t value, unsigned char *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = (unsigned char)(value >> (24 - 8 * i));
}

static void chunk(shell_text *out, const char *type, const unsigned char *data, size_t size)
{
    unsigned char word[4];
    big_endian((uint32_t)size, word);
    shell_text_add(out, (const char *)word, 4);
    size_t from = out->used;
    shell_text_add(out, type, 4);
    if (size > 0) shell_text_add(out, (const char *)data, size);
    big_endian((uint32_t)crc32(0, (const Bytef *)out->data + from, (uInt)(size + 4)), word);
    shell_text_add(out, (const char *)word, 4);
}

void plot_png_encode(const uint32_t *colour, int width, int height, shell_text *out)
{
    size_t row = 1 + 3 * (size_t)width, size = row * (size_t)height;
    unsigned char *raw = shell_alloc(NULL, size), head[13] = {0};
    for (int y = 0; y < height; y++) {
        unsigned char *to = raw + row * (size_t)y;
        *to++ = 0; /* no filter */
        for (int x = 0; x < width; x++) {
            uint32_t c = colour[(size_t)y * (size_t)width + (size_t)x];
            *to++ = (unsigned char)(c >> 16);
            *to++ = (unsigned char)(c >> 8);
            *to++ = (unsigned char)c;
        }
    }
    uLongf packed_size = compressBound((uLong)size);
    unsigned char *packed = shell_alloc(NULL, packed_size);
    compress2(packed, &packed_size, raw, (uLong)size, 6); /* cannot fail: the room is enough, and shell_alloc's */
    big_endian((uint32_t)width, head);
    big_endian((uint32_t)height, head + 4);
    head[8] = 8;
    head[9] = 2;
    shell_text_add(out, "\x89PNG\r\n\x1a\n", 8);
    chunk(out, "IHDR", head, sizeof head);
    chunk(out, "IDAT", packed, packed_size);
    chunk(out, "IEND", NULL, 0);
    free(packed);
    free(raw);
}

void plot_base64(const char *data, size_t size, shell_text *out)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned char byte[3] = {0};
        size_t count = size - i < 3 ? size - i : 3;
        memcpy(byte, data + i, count);
        unsigned word = (unsigned)byte[0] << 16 | (unsigned)byte[1] << 8 | byte[2];
        char four[4];
        for (size_t k = 0; k < 4; k++)
            four[k] = k <= count ? digit[word >> (18 - 6 * k) & 63] : '=';
        shell_text_add(out, four, 4);
    }
}
