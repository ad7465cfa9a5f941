/* SPDX-License-Identifier: Apache-2.0
 *
 * Families TILES and ROWS for double precision.
 */
#include "symv/gpu_choices.h"
#include "symv/gpu_rows.cuh"
#include "symv/gpu_tiles.cuh"

#define NUMBER symv_f64
static const symv_tiles_entry tiles[] = {
    SYMV_TILES_F64(SYMV_TILES_ENTRY) SYMV_TILES(NUMBER, 64, 64, 8, 8, 3, 1, false, false),
    SYMV_TILES(NUMBER, 64, 64, 8, 8, 2, 1, false, true),
    SYMV_TILES(NUMBER, 64, 64, 8, 8, 2, 2, true, true),
    SYMV_TILES(NUMBER, 32, 64, 8, 4, 2, 4, true, true),
    SYMV_TILES(NUMBER, 64, 64, 8, 8, 2, 2, false, true),
    SYMV_TILES(NUMBER, 32, 64, 8, 4, 2, 4, false, true),
    SYMV_TILES(NUMBER, 64, 64, 8, 8, 2, 2, true, false),
    SYMV_TILES(NUMBER, 64, 64, 8, 4, 1, 4, true, false),
    SYMV_TILES(NUMBER, 64, 64, 8, 8, 2, 2, false, false),
    SYMV_TILES(NUMBER, 64, 64, 8, 4, 1, 4, false, false),
};
static const symv_rows_entry rows[] = {SYMV_ROWS_8(SYMV_ROWS_ENTRY)};
extern const symv_tiles_list symv_tiles_f64 = {tiles, sizeof tiles / sizeof *tiles};
extern const symv_rows_list symv_rows_f64 = {rows, sizeof rows / sizeof *rows};
