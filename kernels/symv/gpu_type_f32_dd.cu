/* SPDX-License-Identifier: Apache-2.0
 *
 * Families TILES and ROWS for matrices of single precision, sums of double-double.
 */
#include "symv/gpu_choices.h"
#include "symv/gpu_rows.cuh"
#include "symv/gpu_tiles.cuh"

#define NUMBER symv_f32_dd<false>
static const symv_tiles_entry tiles_sloppy[] = {
    SYMV_TILES_F32_DD(SYMV_TILES_ENTRY) SYMV_TILES(NUMBER, 64, 64, 4, 4, 3, 1, false, false),
    SYMV_TILES(NUMBER, 64, 64, 4, 4, 3, 1, false, true),
};
static const symv_rows_entry rows_sloppy[] = {SYMV_ROWS_4(SYMV_ROWS_ENTRY)};
#undef NUMBER
#define NUMBER symv_f32_dd<true>
static const symv_tiles_entry tiles_accurate[] = {
    SYMV_TILES_F32_DD(SYMV_TILES_ENTRY) SYMV_TILES(NUMBER, 64, 64, 4, 4, 3, 1, false, false),
    SYMV_TILES(NUMBER, 64, 64, 4, 4, 3, 1, false, true),
};
static const symv_rows_entry rows_accurate[] = {SYMV_ROWS_4(SYMV_ROWS_ENTRY)};
#undef NUMBER
#define COUNT(list) (sizeof(list) / sizeof *(list))
extern const symv_tiles_list symv_tiles_f32_dd[2] = {{tiles_sloppy, COUNT(tiles_sloppy)},
                                                     {tiles_accurate, COUNT(tiles_accurate)}};
extern const symv_rows_list symv_rows_f32_dd[2] = {{rows_sloppy, COUNT(rows_sloppy)},
                                                   {rows_accurate, COUNT(rows_accurate)}};
