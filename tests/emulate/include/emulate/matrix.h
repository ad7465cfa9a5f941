/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of small matrices that a warp holds together (mma.sync): each lane brings its fragments, in double
 * precision 16 x 8 += 16 x 8 by 8 x 8. Sums run over k in order, each step rounded once.
 */
#ifndef LACIS_EMULATE_MATRIX_H
#define LACIS_EMULATE_MATRIX_H

#include "numbers.h"
#include "warp.h"

namespace emulate
{

/* The pair that each lane brings, as all lanes see it. */
struct pairs {
    double of[32][2];
};
static inline pairs gather(double x, double y, place here)
{
    const double mine[2] = {x, y};
    meeting *m = meet(~0u, SHUFFLE, mine, sizeof mine, here);
    pairs out;
    memcpy(&out, m->word, sizeof out);
    leave(m);
    return out;
}

/* Lane 4 g + t: a has rows g and g + 8, for k = t, then for k = t + 4; b has k = t and t + 4 of column g; d has rows
 * g and g + 8, columns 2 t and 2 t + 1 each. */
static inline void ptx_mma_sync_aligned_m16n8k8_row_col_f64_f64_f64_f64_0_1_2_3_4_5_6_7_8_9_0_1_2_3(
    double &d0, double &d1, double &d2, double &d3, double a0, double a1, double a2, double a3, double b0, double b1,
    EMULATE_HERE)
{
    const pairs low = gather(a0, a1, here), high = gather(a2, a3, here), b = gather(b0, b1, here);
    const unsigned g = lane_number() / 4, t = lane_number() % 4;
    double *const d[2][2] = {{&d0, &d1}, {&d2, &d3}};
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < 2; i++)
            for (unsigned j = 0; j < 2; j++) {
                const double a = (k < 4 ? low : high).of[4 * g + k % 4][i];
                *d[i][j] = fma(a, b.of[4 * (2 * t + j) + k % 4][k / 4], *d[i][j]);
            }
}

} /* namespace emulate */

#endif
