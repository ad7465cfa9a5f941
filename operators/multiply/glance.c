/* SPDX-License-Identifier: Apache-2.0
 *
 * What a product will cost at a glance: for plans that choose a device and that nobody reads. At most so many rows
 * are looked at, evenly spaced, and nothing is multiplied unless a choice hangs on the number of entries. cost.c
 * looks closely, for EXPLAIN and for results that may not fit. Called by cost.c and gpu_cost.c.
 */
#include "multiply/product.h"

#include <math.h>
#include <string.h>

enum { LOOKED_AT = 2048 };
/* Rows multiplied for the number of entries: of so many, but at least so few, products. */
enum { PICKS = 32, FEWEST_PICKS = 6 };
static const double PICKED_SHARE = 0.002, PICKED_AT_LEAST = 50000;

static int power_of(uint64_t products)
{
    return 64 - __builtin_clzll(products) - 1;
}

/* Entries of a row if all columns were alike; of graphs whose columns are not, a third or more of that. */
static double spread(double products, double columns)
{
    return columns <= 0 ? 0 : columns * (1 - exp(-products / columns));
}

static void look(const lacis_product *product, lacis_glance *out)
{
    int64_t rows = product->s.count, step = rows / LOOKED_AT + 1, looked = 0;
    double seen = 0;
    for (int64_t r = step / 2; r < rows; r += step) {
        uint64_t products = product->products[r];
        looked++;
        if (products == 0) continue;
        int several = product->a.end[r] - product->a.begin[r] > 1, power = power_of(products);
        out->rows[several][power] += 1;
        out->products[several][power] += (double)products;
        seen += (double)products;
    }
    double more_rows = looked > 0 ? (double)rows / (double)looked : 0;
    double more = seen > 0 ? (double)product->total_products / seen : 0;
    for (int i = 0; i < 2 * LACIS_GLANCE_POWERS; i++) {
        out->rows[i / LACIS_GLANCE_POWERS][i % LACIS_GLANCE_POWERS] *= more_rows;
        out->products[i / LACIS_GLANCE_POWERS][i % LACIS_GLANCE_POWERS] *= more;
    }
}

/* The most entries that are likely, and the least. */
static void guess_entries(const lacis_product *product, lacis_glance *out)
{
    const double least = 0.3;
    int64_t top = product->job.top;
    double columns = (double)(product->job.t_hi - product->job.t_lo);
    for (int several = 0; several < 2; several++)
        for (int i = 0; i < LACIS_GLANCE_POWERS; i++) {
            double rows = out->rows[several][i];
            if (rows <= 0) continue;
            double mean = out->products[several][i] / rows, most = several ? spread(mean, columns) : mean;
            double low = several ? least * most : most;
            out->most += rows * (top > 0 && most > (double)top ? (double)top : most);
            out->least += rows * (top > 0 && low > (double)top ? (double)top : low);
        }
    out->entries = sqrt(out->most * out->least);
}

lacis_status lacis_product_glance(lacis_run *run, lacis_product *product)
{
    if (product->glance != NULL) return LACIS_OK;
    lacis_glance *glance;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof *glance, &glance));
    memset(glance, 0, sizeof *glance);
    look(product, glance);
    guess_entries(product, glance);
    product->glance = glance;
    return LACIS_OK;
}

/* ---------------------------------------------------------------------------------------- entries */

/* Rows where the sum of products reaches each of `wanted` equal steps, and how many steps that is: a row is likelier
 * the more it has. */
struct picks {
    int64_t row[PICKS];
    int steps[PICKS], rows;
};

static void pick_rows(const lacis_product *product, int wanted, struct picks *out)
{
    int64_t count = product->s.count, step = count / LOOKED_AT + 1;
    double total = 0, sum = 0;
    int next = 0;
    for (int64_t r = step / 2; r < count; r += step)
        total += (double)product->products[r];
    for (int64_t r = step / 2; r < count && next < wanted; r += step) {
        int before = next;
        sum += (double)product->products[r];
        while (next < wanted && sum * wanted > total * (next + 0.5))
            next++;
        if (next == before) continue;
        out->row[out->rows] = r;
        out->steps[out->rows++] = next - before;
    }
}

static int wanted_picks(const lacis_product *product)
{
    const lacis_glance *glance = product->glance;
    double total = (double)product->total_products, squares = 0;
    for (int i = 0; i < LACIS_GLANCE_POWERS; i++)
        for (int several = 0; several < 2; several++)
            if (glance->rows[several][i] > 0)
                squares += glance->products[several][i] * glance->products[several][i] / glance->rows[several][i];
    double budget = fmax(PICKED_AT_LEAST, PICKED_SHARE * total), mean = squares / total;
    return (int)fmin(PICKS, fmax(FEWEST_PICKS, budget / mean));
}

/* The heaviest rows say little of TOP, whose guess is good as it is. */
lacis_status lacis_product_glance_entries(lacis_run *run, lacis_product *product)
{
    lacis_glance *glance = product->glance;
    struct picks picks = {{0}, {0}, 0};
    uint64_t entries[PICKS] = {0};
    double share = 0, steps = 0;
    if (glance->counted || product->total_products == 0 || product->job.top > 0) return LACIS_OK;
    pick_rows(product, wanted_picks(product), &picks);
    lacis_mul_status answer = lacis_mul_symbolic(&product->job, picks.row, picks.rows, entries);
    LACIS_TRY(lacis_product_fail(run, product, answer));
    for (int i = 0; i < picks.rows; i++) {
        share += picks.steps[i] * (double)entries[i] / (double)product->products[picks.row[i]];
        steps += picks.steps[i];
    }
    glance->counted = true;
    if (steps > 0) glance->entries = share / steps * (double)product->total_products;
    return LACIS_OK;
}
