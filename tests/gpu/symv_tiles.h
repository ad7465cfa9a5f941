/* SPDX-License-Identifier: Apache-2.0
 *
 * What symv_gpu.cu's main calls of symv_tiles.cu and symv_tiles_bench.cu, and what symv_reference.cu gives them.
 */
#ifndef LACIS_TESTS_GPU_SYMV_TILES_H
#define LACIS_TESTS_GPU_SYMV_TILES_H

#include "symv_case.h"

void check_tiles(bool small, uint64_t seed);
int bench_tiles(int argc, char **argv); /* arguments behind "bench" */

/* The worst error over its bound, as symv_check has it. */
double symv_worst(const symv_data *d, const std::vector<unsigned char> &y);

/* What lacis_symv_figures is to hold of side r, from the case's reference. */
struct symv_known_figures {
    double norm1, norm2, norm_max, dot, dot_im, dot_scale;
};
symv_known_figures symv_figures_of(const symv_data *d, int64_t side);

#endif
