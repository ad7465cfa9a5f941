/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes from one layout to another, in pieces that lie in one flock on either side: there, elements of a lane and
 * lanes of an element are evenly spaced, and a piece is a copy of stretches or a transposition. See lanes.h.
 */
#include "common/isa.h"
#include "convert/inside.h"

#include <string.h>

/* Lanes of a piece that is transposed: a row of them is some cache lines, a column of them few pages. */
enum { PIECE = 32, STEP = 16 };

static convert_transpose_fn transpose(void)
{
    static const convert_transpose_fn builds[] = {[LACIS_ISA_BASELINE] = lacis_convert_transpose_baseline,
                                                  [LACIS_ISA_AVX2] = lacis_convert_transpose_avx2,
                                                  [LACIS_ISA_AVX512] = lacis_convert_transpose_avx512};
    return builds[lacis_isa_here()];
}

/* Lanes from `lane` on that lie in its flock. */
static int64_t in_flock(const lacis_convert_side *side, int64_t lane)
{
    return side->block == 1 ? INT64_MAX : side->block - lane % side->block;
}

static char *place(const lacis_convert_side *side, int64_t lane, int64_t rows, size_t size)
{
    int64_t at = lane / side->block * side->block * rows + lane % side->block;
    return (char *)side->data + (size_t)at * size;
}

/* Rows of `bytes` each; known sizes are copied without a call. */
static void copy_stretches(const char *from, size_t from_step, char *to, size_t to_step, int64_t rows, size_t bytes)
{
#define STRETCHES(size)                                                                                              \
    case size:                                                                                                       \
        for (int64_t row = 0; row < rows; row++)                                                                     \
            memcpy(to + (size_t)row * to_step, from + (size_t)row * from_step, size);                                \
        return;
    switch (bytes) {
        STRETCHES(8)
        STRETCHES(16)
        STRETCHES(32)
        STRETCHES(64)
        STRETCHES(128)
    default:
        for (int64_t row = 0; row < rows; row++)
            memcpy(to + (size_t)row * to_step, from + (size_t)row * from_step, bytes);
    }
}

static void copy_rows(const char *from, int64_t from_block, char *to, int64_t to_block, int64_t lanes, int64_t rows,
                      size_t size)
{
    if (lanes == from_block && lanes == to_block) {
        memcpy(to, from, (size_t)(lanes * rows) * size);
        return;
    }
    copy_stretches(from, (size_t)from_block * size, to, (size_t)to_block * size, rows, (size_t)lanes * size);
}

static void from_flat(const char *from, char *to, int64_t to_block, int64_t lanes, int64_t rows, size_t size)
{
    convert_transpose_fn turn = transpose();
    for (int64_t lane = 0; lane < lanes; lane += PIECE) {
        int64_t some = lanes - lane < PIECE ? lanes - lane : PIECE;
        turn(from + (size_t)(lane * rows) * size, rows, to + (size_t)lane * size, to_block, some, rows, size);
    }
}

static void to_flat(const char *from, int64_t from_block, char *to, int64_t lanes, int64_t rows, size_t size)
{
    convert_transpose_fn turn = transpose();
    for (int64_t lane = 0; lane < lanes; lane += PIECE) {
        int64_t some = lanes - lane < PIECE ? lanes - lane : PIECE;
        for (int64_t row = 0; row < rows; row += STEP)
            turn(from + (size_t)(row * from_block + lane) * size, from_block, to + (size_t)(lane * rows + row) * size,
                 rows, rows - row < STEP ? rows - row : STEP, some, size);
    }
}

void lacis_convert_lanes(const lacis_convert_side *from, const lacis_convert_side *to, int64_t lanes, int64_t rows,
                         size_t size)
{
    for (int64_t done = 0; done < lanes;) {
        int64_t some = lanes - done, left = in_flock(from, from->lane + done), right = in_flock(to, to->lane + done);
        if (some > left) some = left;
        if (some > right) some = right;
        const char *source = place(from, from->lane + done, rows, size);
        char *target = place(to, to->lane + done, rows, size);
        if (from->block == 1 && to->block == 1)
            memcpy(target, source, (size_t)(some * rows) * size);
        else if (from->block == 1)
            from_flat(source, target, to->block, some, rows, size);
        else if (to->block == 1)
            to_flat(source, from->block, target, some, rows, size);
        else
            copy_rows(source, from->block, target, to->block, some, rows, size);
        done += some;
    }
}

void lacis_convert_pad(const lacis_convert_side *to, int64_t lanes, int64_t rows, size_t size)
{
    int64_t used = lanes % to->block;
    if (used == 0) return;
    char *flock = place(to, lanes - used, rows, size);
    for (int64_t row = 0; row < rows; row++)
        memset(flock + (size_t)(row * to->block + used) * size, 0, (size_t)(to->block - used) * size);
}
