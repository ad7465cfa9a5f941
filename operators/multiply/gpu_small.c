/* SPDX-License-Identifier: Apache-2.0
 *
 * Which way MULTIPLY's rows of 65 to 2048 products take on the GPU: bitmaps as heavier rows, sorted by a block, or
 * hashed by one (kernels/multiply/gpu.h). Seconds of each are counted from what the kernels do, not measured: warp
 * instructions for products, and for words of bitmaps as long as the matrix is wide. So what has been measured stays,
 * unless bitmaps have to go over several windows and the count says that sorting takes a third at most;
 * LACIS_MULTIPLY_SMALL in the environment names one, for tests of each and to measure them. Used by gpu_cost.c and
 * gpu_devices.c.
 */
#include "multiply/device.h"
#include "multiply/written.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TINY_MOST = 64, WINDOW = 1 << 18 }; /* products; columns of a bitmap at most */
static const double ISSUED = 1.05e12;      /* warp instructions a second of an H200 */

/* Warp instructions for 32 products, or for 32 words of a bitmap: read off the loops, not measured. */
static const double WALK = 30;              /* a product found in line, its column and value loaded */
static const double WORDS = 34;             /* cleared, counted, ranked, columns written */
static const double ENTER = 14;             /* a cell by rank, a value put in */
static const double PIECE = 21 * 6 + 12;    /* steps of a bitonic sort of 64, loads and stores */
static const double MERGED = 12, PATH = 9;  /* a key in one merge; a step of the search for where to begin */
static const double PROBE = 24, LEAVE = 40; /* a column found or taken; an entry folded and stored */
static const double CLEARED = 8;            /* two slots of a table for each product, read again at the end */

static const char *const way_name[LACIS_MUL_GPU_SMALLS] = {"bitmap", "sort", "hash"};

static double merges(double n)
{
    return n > TINY_MOST ? ceil(log2(n / TINY_MOST)) : 0;
}

/* Of sorting n keys. A thread has `each` of them, and looks for its beginning once in a merge. */
static double sorting(double n)
{
    const double each = n > 256 ? exp2(ceil(log2(n / 256))) : 1;
    return n / 32 * (PIECE + merges(n) * (MERGED + PATH * log2(n) / 2 / each));
}

static double row_instructions(lacis_mul_gpu_small way, double n, double columns)
{
    const double windows = ceil(columns / WINDOW), words = columns / 32;
    if (way == LACIS_MUL_GPU_SORT) return n / 32 * (WALK + LEAVE) + sorting(n);
    if (way == LACIS_MUL_GPU_HASH) return n / 32 * (WALK + 2 * PROBE + ENTER + 2 * CLEARED + LEAVE) + sorting(n);
    return n / 32 * (2 * WALK + ENTER + LEAVE) + words / 32 * WORDS + (windows > 1 ? windows * n / 32 * PATH : 0);
}

/* Rows by powers of two of their products, so that logarithms are few. */
typedef struct tally {
    double rows[LACIS_GLANCE_POWERS], products[LACIS_GLANCE_POWERS];
} tally;

static void count_rows(const lacis_product *product, bool closely, tally *out)
{
    const lacis_glance *glance = product->glance;
    const bool rows = product->products != NULL && (closely || glance == NULL);
    for (int64_t r = 0; rows && r < product->s.count; r++) {
        const uint64_t products = product->products[r];
        if (products <= TINY_MOST || products > LACIS_MUL_GPU_SMALL_MOST) continue;
        const int power = 63 - __builtin_clzll(products);
        out->rows[power] += 1;
        out->products[power] += (double)products;
    }
    for (int i = 0; !rows && glance != NULL && i < LACIS_GLANCE_POWERS; i++) {
        const double mean = glance->rows[1][i] > 0 ? glance->products[1][i] / glance->rows[1][i] : 0;
        if (mean <= TINY_MOST || mean > LACIS_MUL_GPU_SMALL_MOST) continue;
        out->rows[i] = glance->rows[1][i];
        out->products[i] = glance->products[1][i];
    }
}

/* A written semiring would have one more kernel to compile: only where it is asked for. */
static lacis_mul_gpu_small choose(const lacis_product *product, const lacis_gpu_ways *ways)
{
    const char *wanted = getenv("LACIS_MULTIPLY_SMALL");
    const double margin = 3, columns = (double)(product->job.t_hi - product->job.t_lo);
    for (int way = 0; wanted != NULL && way < LACIS_MUL_GPU_SMALLS; way++)
        if (strcmp(wanted, way_name[way]) == 0) return (lacis_mul_gpu_small)way;
    const bool proven = margin * ways->seconds[LACIS_MUL_GPU_SORT] <= ways->seconds[LACIS_MUL_GPU_BITMAP];
    return ways->rows > 0 && columns > WINDOW && proven && !lacis_written_needed(product) ? LACIS_MUL_GPU_SORT
                                                                                          : LACIS_MUL_GPU_BITMAP;
}

void lacis_multiply_gpu_small(const lacis_product *product, bool closely, lacis_gpu_ways *out)
{
    const double columns = (double)(product->job.t_hi - product->job.t_lo);
    tally of = {{0}, {0}};
    *out = (lacis_gpu_ways){0};
    count_rows(product, closely, &of);
    for (int i = 0; i < LACIS_GLANCE_POWERS; i++) {
        if (of.rows[i] <= 0) continue;
        out->rows += of.rows[i];
        for (int way = 0; way < LACIS_MUL_GPU_SMALLS; way++)
            out->seconds[way] += of.rows[i] *
                                 row_instructions((lacis_mul_gpu_small)way, of.products[i] / of.rows[i], columns) /
                                 ISSUED;
    }
    out->taken = choose(product, out);
}

lacis_status lacis_multiply_gpu_explain_small(const lacis_gpu_ways *ways, lacis_lines *lines)
{
    if (ways->rows <= 0) return LACIS_OK;
    return lacis_lines_add(
        lines,
        "%.0f rows of %d to %d products by %s; counted, not measured: bitmap %.6f s, sort %.6f s, hash "
        "%.6f s",
        ways->rows, TINY_MOST + 1, LACIS_MUL_GPU_SMALL_MOST, way_name[ways->taken],
        ways->seconds[LACIS_MUL_GPU_BITMAP], ways->seconds[LACIS_MUL_GPU_SORT], ways->seconds[LACIS_MUL_GPU_HASH]);
}
