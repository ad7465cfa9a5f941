/* SPDX-License-Identifier: Apache-2.0
 *
 * A run whose rows' bounds do not fit the device: some rows are counted there, which says how much of its bound a row
 * of so many products has, and so which way the run takes (gpu_room.c) and how many rows a panel may have
 * (gpu_devices.c). The sample decides about sizes alone. Room is taken for what was counted; where the device has too
 * little for that, nothing has been multiplied yet, the panel is halved, and later ones are made shorter.
 */
#include "multiply/device.h"

#include <math.h>
#include <string.h>

#ifdef LACIS_GPU_KERNELS

enum { POWERS = LACIS_GPU_ROOM_POWERS, LIGHT = 6, LEAST_ROWS = 4, MOST_ROWS = 24 };

static int power_of(uint64_t products)
{
    return products == 0 ? 0 : 63 - __builtin_clzll(products);
}

/* Rows whose products have the same power of two. */
struct stratum {
    double bound, products, share, squares; /* share: sum over sampled rows of entries / bound */
    int64_t rows, wanted, seen, taken;
};

static uint64_t bound_of(const lacis_product *product, int64_t row)
{
    return lacis_mul_bound(&product->job, row, product->products[row]);
}

static double count_strata(const lacis_multiply_run *running, struct stratum *strata)
{
    const lacis_product *product = &running->work->product;
    double bound = 0;
    for (int64_t r = running->begin; r < running->end; r++) {
        if (product->products[r] == 0) continue;
        struct stratum *stratum = &strata[power_of(product->products[r])];
        const double most = (double)bound_of(product, r);
        stratum->rows++;
        stratum->products += (double)product->products[r];
        stratum->bound += most;
        bound += most;
    }
    return bound;
}

/* Light rows have room for their bounds in any case. Of others a few rows each, more of those that bounds say most
 * of, about a hundredth of all products, but some of every power of two (so a hub's row always). */
static void want_rows(const lacis_multiply_run *running, struct stratum *strata, double bound)
{
    const double part = 0.01;
    for (int i = LIGHT; i < POWERS; i++) {
        struct stratum *stratum = &strata[i];
        if (stratum->rows == 0) continue;
        const double mean = stratum->products / (double)stratum->rows;
        const double rows = part * (double)running->products * (stratum->bound / bound) / mean;
        int64_t wanted = rows > MOST_ROWS ? MOST_ROWS : (int64_t)rows;
        if (wanted < LEAST_ROWS) wanted = LEAST_ROWS;
        stratum->wanted = wanted < stratum->rows ? wanted : stratum->rows;
    }
}

/* Evenly spaced within each stratum. */
static int64_t pick_rows(const lacis_multiply_run *running, struct stratum *strata, int64_t *rows)
{
    const lacis_product *product = &running->work->product;
    int64_t picked = 0;
    for (int64_t r = running->begin; r < running->end && picked < LACIS_MUL_GPU_SAMPLE; r++) {
        if (product->products[r] == 0) continue;
        struct stratum *stratum = &strata[power_of(product->products[r])];
        const double step = stratum->wanted > 0 ? (double)stratum->rows / (double)stratum->wanted : 0;
        if (stratum->taken < stratum->wanted && (double)stratum->seen >= step * (double)stratum->taken) {
            stratum->taken++;
            rows[picked++] = r;
        }
        stratum->seen++;
    }
    return picked;
}

static void take_shares(const lacis_multiply_run *running, struct stratum *strata, const int64_t *rows,
                        const uint64_t *entries, int64_t count)
{
    const lacis_product *product = &running->work->product;
    for (int64_t i = 0; i < count; i++) {
        struct stratum *stratum = &strata[power_of(product->products[rows[i]])];
        const double share = (double)entries[i] / (double)bound_of(product, rows[i]);
        stratum->share += share;
        stratum->squares += share * share;
    }
}

/* What a row's bound is multiplied by: the mean share, and for panels two standard errors and a little more. */
static void settle_shares(lacis_multiply_run *running, const struct stratum *strata, lacis_gpu_room_facts *facts)
{
    const double more = 0.02;
    facts->entries = facts->most = 0;
    for (int i = 0; i < POWERS; i++) {
        const struct stratum *stratum = &strata[i];
        const double n = (double)stratum->taken;
        double mean = 1, most = 1;
        if (n > 0) {
            mean = stratum->share / n;
            const double variance = fmax(0, stratum->squares / n - mean * mean) * n / fmax(1, n - 1);
            const double error = stratum->taken < stratum->rows ? sqrt(variance / n) : 0;
            most = fmin(1, mean + 2 * error + more);
        }
        running->room_share[i] = most;
        facts->entries += mean * stratum->bound;
        facts->most += most * stratum->bound;
    }
}

/* Entries of some rows, by the first device. */
static lacis_status sample(lacis_multiply_run *running, lacis_gpu_room_facts *facts)
{
    lacis_multiply_device *device = &running->device[0];
    struct stratum strata[POWERS] = {0};
    int64_t rows[LACIS_MUL_GPU_SAMPLE];
    uint64_t entries[LACIS_MUL_GPU_SAMPLE];
    int error = 0;
    facts->bound = count_strata(running, strata);
    want_rows(running, strata, facts->bound);
    running->sampled = pick_rows(running, strata, rows);
    switch (lacis_mul_gpu_sample(&device->job, rows, running->sampled, entries, &error)) {
    case LACIS_MUL_GPU_OK:
        break;
    case LACIS_MUL_GPU_FAILED:
        return lacis_gpu_failed(running->run, device->gpu, error);
    default: /* bounds then: a sample is no more than advice */
        facts->countable = false;
        running->sampled = 0;
        return LACIS_OK;
    }
    take_shares(running, strata, rows, entries, running->sampled);
    settle_shares(running, strata, facts);
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------------ a run */

/* What the plan did not say is guessed from products alone. */
static void take_figures(const lacis_multiply_run *running, lacis_gpu_room_facts *facts)
{
    const double product = 7e-12, link = 5e10, call = 6e-5; /* seconds, bytes a second, seconds; of an H200 */
    const lacis_gpu_estimate *plan = &running->work->gpu;
    facts->products = (double)running->products;
    facts->kernels = plan->known ? plan->kernels : product * facts->products;
    facts->panel = lacis_multiply_room_panel(&running->work->product, call);
    if (running->result != NULL)
        facts->back = facts->entries * (double)lacis_product_entry_bytes(&running->work->product) / link;
}

lacis_status lacis_multiply_room(lacis_multiply_run *running, const lacis_mul_limits *limits)
{
    lacis_gpu_room_facts facts = {.countable = lacis_multiply_room_countable(&running->work->product)};
    lacis_gpu_room room;
    running->way = LACIS_ROOM_BOUNDS;
    if (!facts.countable) return LACIS_OK;
    LACIS_TRY(sample(running, &facts));
    if (!facts.countable) return LACIS_OK;
    facts.entry = (double)limits->entry_bytes;
    facts.fixed = (double)(running->end - running->begin) * (double)limits->row_bytes;
    facts.left = (double)limits->bytes;
    take_figures(running, &facts);
    lacis_multiply_room_choose(&facts, &room);
    running->way = room.way;
    lacis_run_count(running->run, "GPU rows counted for a sample", (double)running->sampled);
    for (int i = 0; i < running->devices; i++)
        running->device[i].job.counted = room.way != LACIS_ROOM_BOUNDS;
    return LACIS_OK;
}

int64_t lacis_multiply_room_rows(lacis_multiply_run *running, int64_t first, int64_t end,
                                 const lacis_mul_limits *limits, uint64_t *products)
{
    const double more = 0.25; /* for each panel so far that had too little room */
    const lacis_product *product = &running->work->product;
    const double scale = 1 + more * running->short_of;
    double bytes = 0;
    int64_t row = first;
    *products = 0;
    for (; row < end; row++) {
        const uint64_t own = product->products[row];
        const double bound = (double)bound_of(product, row);
        const double most = fmin(bound, ceil(bound * running->room_share[power_of(own)] * scale));
        bytes += (double)limits->row_bytes + most * (double)limits->entry_bytes;
        if (bytes > (double)limits->bytes || own > limits->products - *products) break;
        *products += own;
    }
    return row;
}

#endif
