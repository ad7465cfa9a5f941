/* SPDX-License-Identifier: Apache-2.0
 *
 * Binary files for tests, built number by number in either order of bytes; and arrays of a database compared bit for
 * bit.
 */
#ifndef LACIS_TESTS_BYTES_H
#define LACIS_TESTS_BYTES_H

#include "support/files.h"

#include <stdbool.h>

typedef struct bytes {
    bool swap; /* numbers in the order of bytes that this machine does not have */
    size_t size;
    unsigned char data[1 << 15];
} bytes;

static inline void put_bytes(bytes *b, const void *data, size_t size)
{
    assert_true(size <= sizeof b->data - b->size);
    memcpy(b->data + b->size, data, size);
    b->size += size;
}

static inline void put_number(bytes *b, const void *number, size_t size)
{
    unsigned char turned[8];
    for (size_t i = 0; i < size; i++)
        turned[i] = ((const unsigned char *)number)[b->swap ? size - 1 - i : i];
    put_bytes(b, turned, size);
}

static inline void put_u16(bytes *b, uint16_t value)
{
    put_number(b, &value, sizeof value);
}

static inline void put_u32(bytes *b, uint32_t value)
{
    put_number(b, &value, sizeof value);
}

static inline void put_u64(bytes *b, uint64_t value)
{
    put_number(b, &value, sizeof value);
}

static inline void put_f32(bytes *b, float value)
{
    put_number(b, &value, sizeof value);
}

static inline void put_f64(bytes *b, double value)
{
    put_number(b, &value, sizeof value);
}

static inline void put_text(bytes *b, const char *text)
{
    put_bytes(b, text, strlen(text));
}

/* A .npy with this dictionary; data follow. */
static inline void put_npy(bytes *b, const char *head)
{
    size_t length = strlen(head);
    const unsigned char start[] = {
        0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)(length & 255), (unsigned char)(length >> 8)};
    *b = (bytes){0};
    put_bytes(b, start, sizeof start);
    put_bytes(b, head, length);
}

/* LOAD x FROM a file of the first `size` bytes, `how` behind it. */
static inline const char *load_bytes(const bytes *b, size_t size, const char *how)
{
    static char sql[400];
    write_file(path_of("bin"), b->data, size);
    snprintf(sql, sizeof sql, "LOAD x FROM '%s' %s", path_of("bin"), how);
    return sql;
}

/* Every part of both arrays, which are of this kind, name by name. */
static inline void same_bits_of(lacis_kind kind, lacis_engine *engine, const char *one, const char *other)
{
    lacis_array *array[2];
    lacis_part a, b;
    assert_int_equal(lacis_array_find(engine, one, &array[0]), LACIS_OK);
    assert_int_equal(lacis_array_find(engine, other, &array[1]), LACIS_OK);
    assert_int_equal(lacis_array_kind(array[0]), kind);
    assert_int_equal(lacis_array_kind(array[1]), kind);
    for (int d = 0; d < 2; d++)
        assert_int_equal(lacis_array_extent(array[0], d), lacis_array_extent(array[1], d));
    assert_int_equal(lacis_array_dtype(array[0]), lacis_array_dtype(array[1]));
    for (int i = 0; lacis_array_part(array[0], i, &a) == LACIS_OK; i++) {
        int k = 0;
        while (lacis_array_part(array[1], k, &b) == LACIS_OK && strcmp(a.name, b.name) != 0)
            k++;
        if (lacis_array_part(array[1], k, &b) != LACIS_OK) fail_msg("%s has no %s", other, a.name);
        assert_int_equal(a.dtype, b.dtype);
        assert_int_equal(a.count, b.count);
        if (memcmp(a.data, b.data, (size_t)a.count * lacis_dtype_size(a.dtype)) != 0) fail_msg("%s differs", a.name);
    }
    assert_int_equal(lacis_array_part_count(array[0]), lacis_array_part_count(array[1]));
    lacis_array_release(array[0]);
    lacis_array_release(array[1]);
}

static inline void same_bits(lacis_engine *engine, const char *one, const char *other)
{
    same_bits_of(LACIS_BODIES, engine, one, other);
}

#endif
