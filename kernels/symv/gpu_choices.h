/* SPDX-License-Identifier: Apache-2.0
 *
 * What is compiled of families TILES and ROWS: gpu_type_*.cu make kernels of these lists,
 * gpu_defaults.c candidates. X(tx, ty, warps, deep, resident, run): tiles of tx x ty, `deep` columns of a thread at a
 * time, run 1: chunks of several tiles. Y(rows, warps, deep): rows of y a block, loads of each kind at a time.
 */
#ifndef LACIS_KERNELS_SYMV_GPU_CHOICES_H
#define LACIS_KERNELS_SYMV_GPU_CHOICES_H

#define SYMV_TILES_F32(X)                                                                                            \
    X(64, 64, 4, 8, 6, 0)                                                                                            \
    X(64, 64, 8, 4, 5, 0)                                                                                            \
    X(128, 64, 16, 4, 2, 0)                                                                                          \
    X(64, 64, 4, 8, 4, 1)                                                                                            \
    X(64, 64, 4, 8, 6, 1)                                                                                            \
    X(128, 64, 8, 8, 3, 1)                                                                                           \
    X(128, 128, 8, 8, 2, 1)
#define SYMV_TILES_F64(X)                                                                                            \
    X(64, 64, 8, 8, 4, 0)                                                                                            \
    X(32, 32, 4, 4, 8, 0)                                                                                            \
    X(32, 32, 4, 4, 10, 0)                                                                                           \
    X(64, 32, 8, 4, 5, 0)                                                                                            \
    X(64, 64, 8, 8, 2, 1)                                                                                            \
    X(64, 64, 8, 8, 3, 1)                                                                                            \
    X(64, 64, 8, 4, 4, 1)                                                                                            \
    X(64, 128, 8, 8, 2, 1)
#define SYMV_TILES_C64(X)                                                                                            \
    X(64, 64, 8, 8, 4, 0)                                                                                            \
    X(32, 32, 4, 4, 8, 0)                                                                                            \
    X(64, 64, 8, 8, 2, 1)                                                                                            \
    X(64, 64, 8, 8, 3, 1)                                                                                            \
    X(64, 128, 8, 8, 2, 1)
#define SYMV_TILES_C128(X)                                                                                           \
    X(64, 64, 8, 4, 2, 0)                                                                                            \
    X(32, 32, 4, 4, 5, 0)                                                                                            \
    X(64, 64, 8, 4, 2, 1)                                                                                            \
    X(32, 64, 8, 8, 2, 1)                                                                                            \
    X(32, 64, 8, 4, 3, 1)
#define SYMV_TILES_DD(X)                                                                                             \
    X(64, 64, 8, 4, 2, 0)                                                                                            \
    X(32, 32, 4, 4, 5, 0)                                                                                            \
    X(64, 64, 8, 4, 2, 1)                                                                                            \
    X(32, 64, 8, 8, 2, 1)                                                                                            \
    X(32, 64, 8, 4, 3, 1)
#define SYMV_TILES_CDD(X)                                                                                            \
    X(64, 64, 8, 2, 1, 0)                                                                                            \
    X(32, 32, 8, 4, 2, 0)                                                                                            \
    X(32, 64, 16, 2, 1, 1)
#define SYMV_TILES_F32_F64(X)                                                                                        \
    X(64, 64, 4, 8, 5, 0)                                                                                            \
    X(128, 64, 8, 8, 2, 1)                                                                                           \
    X(64, 64, 4, 8, 4, 1)
#define SYMV_TILES_F32_DD(X)                                                                                         \
    X(64, 64, 4, 4, 4, 0)                                                                                            \
    X(64, 64, 4, 4, 4, 1)
#define SYMV_TILES_F64_DD(X)                                                                                         \
    X(64, 64, 8, 4, 2, 0)                                                                                            \
    X(64, 64, 8, 8, 2, 1)                                                                                            \
    X(64, 64, 8, 4, 2, 1)

#define SYMV_ROWS_4(Y)  Y(4, 8, 8) Y(8, 8, 8) Y(8, 16, 4) Y(16, 16, 4) /* elements of 4 bytes */
#define SYMV_ROWS_8(Y)  Y(4, 8, 8) Y(4, 16, 4) Y(8, 8, 8) Y(8, 16, 4)  /* of 8 */
#define SYMV_ROWS_16(Y) Y(4, 8, 8) Y(4, 16, 4) Y(8, 16, 4)             /* of 16 */
#define SYMV_ROWS_32(Y) Y(4, 8, 2)                                     /* of 32 */

#endif
