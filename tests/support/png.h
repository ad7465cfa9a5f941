/* SPDX-License-Identifier: Apache-2.0
 *
 * PNG files for tests, put together chunk by chunk with zlib, so that what libpng reads was not written by libpng.
 */
#ifndef LACIS_TESTS_PNG_H
#define LACIS_TESTS_PNG_H

#include "support/bytes.h"

#include <zlib.h>

static inline void png_chunk(bytes *b, const char *type, const unsigned char *data, size_t size)
{
    bytes big = {.swap = true};
    put_u32(&big, (uint32_t)size);
    put_bytes(&big, type, 4);
    put_bytes(&big, data, size);
    put_u32(&big, (uint32_t)crc32(0, big.data + 4, (unsigned)(size + 4)));
    put_bytes(b, big.data, big.size);
}

static inline void png_begin(bytes *b, uint32_t width, uint32_t height, int depth, int colour, int interlaced)
{
    bytes head = {.swap = true};
    put_u32(&head, width);
    put_u32(&head, height);
    const unsigned char rest[] = {(unsigned char)depth, (unsigned char)colour, 0, 0, (unsigned char)interlaced};
    put_bytes(&head, rest, sizeof rest);
    *b = (bytes){0};
    put_bytes(b, "\x89PNG\r\n\x1a\n", 8);
    png_chunk(b, "IHDR", head.data, head.size);
}

/* Rows, each with its filter byte before it. */
static inline void png_end(bytes *b, const unsigned char *rows, size_t size)
{
    static unsigned char packed[1 << 14];
    uLongf length = sizeof packed;
    assert_int_equal(compress(packed, &length, rows, size), Z_OK);
    png_chunk(b, "IDAT", packed, length);
    png_chunk(b, "IEND", packed, 0);
}

#endif
