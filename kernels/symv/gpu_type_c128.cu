/* SPDX-License-Identifier: Apache-2.0
 *
 * Families TILES and ROWS for complex numbers of double precision.
 */
#include "symv/gpu_choices.h"
#include "symv/gpu_rows.cuh"
#include "symv/gpu_tiles.cuh"

#define NUMBER symv_n_c128
static const symv_tiles_entry tiles[] = {
    SYMV_TILES_C128(SYMV_TILES_ENTRY) SYMV_TILES(NUMBER, 64, 64, 8, 4, 2, 1, false, false),
    SYMV_TILES(NUMBER, 64, 64, 8, 4, 2, 1, false, true),
    SYMV_TILES(NUMBER, 32, 64, 8, 4, 2, 2, true, true),
    SYMV_TILES(NUMBER, 32, 32, 8, 4, 2, 4, true, true),
    SYMV_TILES(NUMBER, 32, 64, 8, 4, 2, 2, false, true),
    SYMV_TILES(NUMBER, 32, 32, 8, 4, 2, 4, false, true),
    SYMV_TILES(NUMBER, 64, 64, 8, 2, 1, 2, true, false),
    SYMV_TILES(NUMBER, 64, 64, 8, 2, 1, 4, true, false),
    SYMV_TILES(NUMBER, 64, 64, 8, 2, 1, 2, false, false),
    SYMV_TILES(NUMBER, 64, 64, 8, 2, 1, 4, false, false),
};
static const symv_rows_entry rows[] = {SYMV_ROWS_16(SYMV_ROWS_ENTRY)};
extern const symv_tiles_list symv_tiles_c128 = {tiles, sizeof tiles / sizeof *tiles};
extern const symv_rows_list symv_rows_c128 = {rows, sizeof rows / sizeof *rows};
