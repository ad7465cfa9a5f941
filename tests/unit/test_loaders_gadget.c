/* SPDX-License-Identifier: Apache-2.0
 *
 * Snapshots of Gadget-2: both formats, both orders of bytes, floats and doubles, ids of 32 and 64 bits, masses in the
 * head's table and in a block, kinds, files cut off anywhere, and records that are damaged.
 */
#include "support/bytes.h"

#include <math.h>

typedef struct form {
    int format;
    bool swap, doubles, wide; /* ids of 64 bits */
} form;

/* Two halo bodies of mass 0.5 each (table), then a disk and two star bodies with masses in the block. */
enum { HALO = 2, DISK = 1, STARS = 2, BODIES = HALO + DISK + STARS };

static void begin_block(bytes *b, const form *f, const char *name, uint32_t size)
{
    if (f->format == 2) {
        put_u32(b, 8);
        put_bytes(b, name, 4);
        put_u32(b, size + 8);
        put_u32(b, 8);
    }
    put_u32(b, size);
}

static void put_real(bytes *b, const form *f, double value)
{
    if (f->doubles)
        put_f64(b, value);
    else
        put_f32(b, (float)value);
}

static void put_block(bytes *b, const form *f, const char *name, int count, double first)
{
    uint32_t size = (uint32_t)count * (f->doubles ? 8 : 4);
    begin_block(b, f, name, size);
    for (int i = 0; i < count; i++)
        put_real(b, f, first + i);
    put_u32(b, size);
}

static void put_ids(bytes *b, const form *f, uint64_t first, uint64_t step)
{
    uint32_t size = BODIES * (f->wide ? 8 : 4);
    begin_block(b, f, "ID  ", size);
    for (uint64_t i = 0; i < BODIES; i++) {
        uint64_t id = first + i * step;
        if (f->wide)
            put_u64(b, id);
        else
            put_u32(b, (uint32_t)id);
    }
    put_u32(b, size);
}

static void put_head(bytes *b, const form *f, uint32_t halo)
{
    const uint32_t count[] = {0, halo, DISK, 0, STARS, 0};
    begin_block(b, f, "HEAD", 256);
    size_t start = b->size;
    for (int k = 0; k < 6; k++)
        put_u32(b, count[k]);
    for (int k = 0; k < 6; k++)
        put_f64(b, k == 1 ? 0.5 : 0);
    put_f64(b, 2.5);
    while (b->size < start + 256)
        put_u32(b, 0);
    put_u32(b, 256);
}

/* Places count from 100, velocities from 200, ids 10, 13 ..., masses 1, 2, 3. */
static void make_file(bytes *b, const form *f)
{
    b->swap = f->swap;
    b->size = 0;
    put_head(b, f, HALO);
    put_block(b, f, "POS ", 3 * BODIES, 100);
    put_block(b, f, "VEL ", 3 * BODIES, 200);
    put_ids(b, f, 10, 3);
    put_block(b, f, "MASS", DISK + STARS, 1);
}

#define ALL_HALO  "10,0.5,100.0,101.0,102.0,200.0,201.0,202.0\n13,0.5,103.0,104.0,105.0,203.0,204.0,205.0\n"
#define ALL_DISK  "16,1.0,106.0,107.0,108.0,206.0,207.0,208.0\n"
#define ALL_STARS "19,2.0,109.0,110.0,111.0,209.0,210.0,211.0\n22,3.0,112.0,113.0,114.0,212.0,213.0,214.0\n"

static form form_of(int i)
{
    return (form){1 + (i & 1), (i & 2) != 0, (i & 4) != 0, (i & 8) != 0};
}

static void every_form(void **state)
{
    bytes b;
    char arrays[100];
    for (int i = 0; i < 16; i++) {
        form f = form_of(i);
        make_file(&b, &f);
        db_run(*state, load_bytes(&b, b.size, ""));
        db_expect(*state, "SELECT * FROM x", ALL_HALO ALL_DISK ALL_STARS);
        snprintf(arrays, sizeof arrays, "x,bodies,5,5,%s,%d,NULL\n", f.doubles ? "f64" : "f32",
                 BODIES * (f.doubles ? 64 : 36) + 8); /* 7 figures, id; and the time */
        db_expect(*state, "SHOW ARRAYS", arrays);
        db_run(*state, load_bytes(&b, b.size, "WITH (kinds = '4, halo', type = 'f64')"));
        db_expect(*state, "SELECT * FROM x", ALL_HALO ALL_STARS);
        db_run(*state, load_bytes(&b, b.size, "WITH (kinds = 'disk', type = 'f32')"));
        db_expect(*state, "SELECT * FROM x", ALL_DISK);
        db_run(*state, load_bytes(&b, b.size, "WITH (kinds = 'gas')"));
        db_expect(*state, "SELECT * FROM x", "");
    }
    unlink(path_of("bin"));
}

static void cut_anywhere(void **state)
{
    bytes b;
    for (int i = 0; i < 16; i++) {
        form f = form_of(i);
        make_file(&b, &f);
        for (size_t size = 0; size < b.size; size++)
            db_fails(*state, load_bytes(&b, size, "AS gadget"), LACIS_FORMAT, path_of("bin"));
    }
    unlink(path_of("bin"));
}

/* Each byte of each length in front of and behind a record. */
static void damaged_records(void **state)
{
    bytes b;
    for (int i = 0; i < 4; i++) {
        form f = form_of(i);
        make_file(&b, &f);
        for (size_t at = 0; at < b.size;) {
            unsigned char n[4];
            for (int k = 0; k < 4; k++)
                n[k] = b.data[at + (size_t)(f.swap ? 3 - k : k)];
            size_t length = n[0] | (size_t)n[1] << 8;
            for (size_t k = 0; k < 8; k++) {
                unsigned char *hit = &b.data[k < 4 ? at + k : at + length + k];
                *hit ^= 0x10;
                db_fails(*state, load_bytes(&b, b.size, "AS gadget"), LACIS_FORMAT, path_of("bin"));
                *hit ^= 0x10;
            }
            at += length + 8;
        }
        db_run(*state, load_bytes(&b, b.size, "AS gadget"));
    }
    unlink(path_of("bin"));
}

static void wrong_numbers(void **state)
{
    const form f = {.format = 1};
    bytes b = {0};
    put_head(&b, &f, HALO + 1);
    put_block(&b, &f, "POS ", 3 * BODIES, 0);
    db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT,
             "block POS  has 60 bytes, and 18 elements have 72 or 144");
    b.size = 0;
    put_head(&b, &f, 2000000000);
    put_block(&b, &f, "POS ", 3 * BODIES, 0);
    db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, "block POS  has 60 bytes, and 6000000009 elements");
    make_file(&b, &f);
    put_block(&b, &f, "U   ", 7, 0); /* further blocks are passed over */
    db_run(*state, load_bytes(&b, b.size, ""));
    put_u32(&b, 0);
    db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, "a record of 0 bytes begins, and only 0 follow");
    b.size = 0;
    const form g = {.format = 2};
    put_head(&b, &g, HALO);
    put_block(&b, &g, "POS ", 3 * BODIES, 0);
    put_block(&b, &g, "POS ", 3 * BODIES, 0);
    db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, "a block is there twice");
    b.size = 0;
    put_head(&b, &g, HALO);
    put_block(&b, &g, "MASS", DISK + STARS, 1); /* in any order, with others between */
    put_block(&b, &g, "XYZ ", 1, 1);
    put_ids(&b, &g, 10, 3);
    put_block(&b, &g, "VEL ", 3 * BODIES, 200);
    db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, "no block of places (POS)");
    put_block(&b, &g, "POS ", 3 * BODIES, 100);
    db_run(*state, load_bytes(&b, b.size, ""));
    db_expect(*state, "SELECT * FROM x", ALL_HALO ALL_DISK ALL_STARS);
    unlink(path_of("bin"));
}

static void what_no_body_has(void **state)
{
    bytes b;
    form f = {.format = 1, .swap = true};
    const size_t pos = 264 + 4, vel = pos + 4 * 15 + 8, mass = vel + 4 * 15 + 8 + 4 * 5 + 8;
    const struct {
        size_t at;
        float value;
        const char *message;
    } bad[] = {
        {pos + 4 * (3 * 2 + 1), NAN, "disk body 0, at byte 296: y is not a number"},
        {vel + 4 * (3 * 4 + 2), INFINITY, "stars body 1, at byte 392: vz is infinite"},
        {mass + 4, -1, "stars body 0, at byte 436: m is negative"},
    };
    for (int i = 0; i < 3; i++) {
        make_file(&b, &f);
        size_t whole = b.size;
        b.size = bad[i].at;
        put_f32(&b, bad[i].value);
        db_fails(*state, load_bytes(&b, whole, ""), LACIS_FORMAT, bad[i].message);
        db_run(*state, load_bytes(&b, whole, "WITH (kinds = 'halo')"));
    }
    make_file(&b, &f);
    size_t whole = b.size;
    b.size = 4 + 24 + 8;
    put_f64(&b, -1);
    db_fails(*state, load_bytes(&b, whole, ""), LACIS_FORMAT, "at byte 36: a mass of the head's table");
    b.size = 4 + 24 + 8;
    put_f64(&b, 1e300);
    db_fails(*state, load_bytes(&b, whole, ""), LACIS_FORMAT, "the mass of halo bodies in the head's table");
    db_run(*state, load_bytes(&b, whole, "WITH (type = 'f64')"));
    b.size = 4 + 72;
    put_f64(&b, NAN);
    db_fails(*state, load_bytes(&b, whole, ""), LACIS_FORMAT, "at byte 76: the time is no finite number");
    unlink(path_of("bin"));
}

/* Ids that say nothing are left out; ones that no signed number holds are refused. */
static void ids(void **state)
{
    bytes b;
    for (int step = 0; step < 2; step++) {
        const form f = {.format = 2, .wide = true};
        b.size = 0;
        b.swap = false;
        put_head(&b, &f, HALO);
        put_block(&b, &f, "POS ", 3 * BODIES, 100);
        put_block(&b, &f, "VEL ", 3 * BODIES, 200);
        put_ids(&b, &f, step == 0 ? 7 : UINT64_C(1) << 63, (uint64_t)step);
        put_block(&b, &f, "MASS", DISK + STARS, 1);
        if (step == 0) {
            db_run(*state, load_bytes(&b, b.size, ""));
            db_expect(*state, "SELECT id FROM x", "0\n1\n2\n3\n4\n");
        } else {
            db_fails(*state, load_bytes(&b, b.size, ""), LACIS_FORMAT, "beyond 2^63 - 1");
        }
    }
    unlink(path_of("bin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_form, setup, teardown),
        cmocka_unit_test_setup_teardown(cut_anywhere, setup, teardown),
        cmocka_unit_test_setup_teardown(damaged_records, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(what_no_body_has, setup, teardown),
        cmocka_unit_test_setup_teardown(ids, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
