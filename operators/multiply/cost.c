/* SPDX-License-Identifier: Apache-2.0
 *
 * What a product will cost: products are known exactly, entries from a sample of rows, seconds from figures that
 * CALIBRATE measures for each class of rows. Only asked where a plan has to choose or to be shown: a sample costs
 * about one hundredth of the product. Called through MULTIPLY's variant and by POWER.
 */
#include "multiply/product.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* Jobs of at most so many products are sampled whole. */
static const uint64_t SAMPLE_ALL = 200000;
/* Of larger ones about this part, */
static const double SAMPLE_SHARE = 0.01;
/* but at least so many rows of each stratum, where it has them. */
enum { STRATA = 64, STRATUM_ROWS = 6, SAMPLE_ROWS = 4096 };

/* Rows whose products have the same power of two. */
struct stratum {
    int64_t rows, wanted, taken;
    double products, bound;
    double sample_bound, sample_entries;
};

static int stratum_of(uint64_t products)
{
    return products == 0 ? 0 : 64 - __builtin_clzll(products) - 1;
}

static uint64_t bound_of(const lacis_product *product, int64_t row)
{
    return lacis_mul_bound(&product->job, row, product->products[row]);
}

static void count_strata(const lacis_product *product, struct stratum *strata, double *bound)
{
    *bound = 0;
    for (int64_t r = 0; r < product->s.count; r++) {
        uint64_t products = product->products[r];
        if (products == 0) continue;
        struct stratum *stratum = &strata[stratum_of(products)];
        double most = (double)bound_of(product, r);
        stratum->rows++;
        stratum->products += (double)products;
        stratum->bound += most;
        *bound += most;
    }
}

/* How many rows of each stratum to look at: in proportion to what it may hold, within a budget of products. */
static void choose_sample(const lacis_product *product, struct stratum *strata, double bound)
{
    double total = (double)product->total_products, budget = SAMPLE_SHARE * total;
    if (budget < (double)SAMPLE_ALL) budget = (double)SAMPLE_ALL;
    for (int i = 0; i < STRATA; i++) {
        struct stratum *stratum = &strata[i];
        if (stratum->rows == 0) continue;
        double mean = stratum->products / (double)stratum->rows;
        double rows = budget * (stratum->bound / bound) / mean;
        int64_t wanted = rows > SAMPLE_ROWS ? SAMPLE_ROWS : (int64_t)rows;
        if (wanted < STRATUM_ROWS) wanted = STRATUM_ROWS;
        stratum->wanted = wanted < stratum->rows && product->total_products > SAMPLE_ALL ? wanted : stratum->rows;
    }
}

/* Every so-manieth row of each stratum. */
static int64_t pick_rows(const lacis_product *product, struct stratum *strata, int64_t *rows)
{
    int64_t seen[STRATA] = {0}, picked = 0;
    for (int64_t r = 0; r < product->s.count; r++) {
        uint64_t products = product->products[r];
        if (products == 0) continue;
        int i = stratum_of(products);
        struct stratum *stratum = &strata[i];
        /* Row k of the stratum is taken where k * wanted / rows steps up. */
        int64_t k = seen[i]++;
        bool take = stratum->wanted >= stratum->rows ||
                    (k + 1) * stratum->wanted / stratum->rows > k * stratum->wanted / stratum->rows;
        if (take && stratum->taken < stratum->wanted) {
            stratum->taken++;
            rows[picked++] = r;
        }
    }
    return picked;
}

static void take_entries(const lacis_product *product, struct stratum *strata, const int64_t *rows, int64_t count,
                         const uint64_t *entries)
{
    int64_t top = product->job.top;
    for (int64_t i = 0; i < count; i++) {
        struct stratum *stratum = &strata[stratum_of(product->products[rows[i]])];
        double kept = (double)entries[i];
        if (top > 0 && kept > (double)top) kept = (double)top;
        stratum->sample_entries += kept;
        stratum->sample_bound += (double)bound_of(product, rows[i]);
    }
}

static lacis_status sample(lacis_run *run, lacis_product *product, struct stratum *strata, lacis_estimate *out)
{
    int64_t most = 0, *rows = NULL;
    uint64_t *entries = NULL;
    for (int i = 0; i < STRATA; i++)
        most += strata[i].wanted;
    LACIS_TRY(lacis_run_alloc(run, sizeof(int64_t) * (uint64_t)most, &rows));
    lacis_status status = lacis_run_alloc(run, sizeof(uint64_t) * (uint64_t)most, &entries);
    if (status == LACIS_OK) {
        int64_t count = pick_rows(product, strata, rows);
        lacis_mul_status answer = lacis_mul_symbolic(&product->job, rows, count, entries);
        status = lacis_product_fail(run, product, answer);
        if (status == LACIS_OK) take_entries(product, strata, rows, count, entries);
        out->sampled = count;
    }
    lacis_run_free(run, rows);
    lacis_run_free(run, entries);
    return status;
}

static lacis_status estimate_entries(lacis_run *run, lacis_product *product, lacis_estimate *out)
{
    struct stratum strata[STRATA] = {0};
    count_strata(product, strata, &out->bound);
    if (out->bound == 0) {
        out->exact = true;
        return LACIS_OK;
    }
    if (product->spec.shape == LACIS_PRODUCT_COLUMN && product->job.mask == NULL) {
        out->entries = out->bound; /* one value a row that has any */
        out->exact = true;
        return LACIS_OK;
    }
    choose_sample(product, strata, out->bound);
    LACIS_TRY(sample(run, product, strata, out));
    out->exact = product->total_products <= SAMPLE_ALL;
    for (int i = 0; i < STRATA; i++)
        if (strata[i].sample_bound > 0)
            out->entries += strata[i].bound * strata[i].sample_entries / strata[i].sample_bound;
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ seconds */

static const char *const figure[LACIS_MUL_CLASSES][LACIS_PRODUCT_KINDS] = {
    [LACIS_MUL_EMPTY] = {"multiply.empty_row_ns", "multiply.empty_row_ns", "multiply.empty_row_ns"},
    [LACIS_MUL_COPY] = {"multiply.copy.count_ns", "multiply.copy.value_ns", "multiply.copy.strips_ns"},
    [LACIS_MUL_SORT] = {"multiply.sort.count_ns", "multiply.sort.value_ns", "multiply.sort.strips_ns"},
    [LACIS_MUL_HASH] = {"multiply.hash.count_ns", "multiply.hash.value_ns", "multiply.hash.strips_ns"},
    [LACIS_MUL_DENSE] = {"multiply.dense.count_ns", "multiply.dense.value_ns", "multiply.dense.strips_ns"},
    [LACIS_MUL_HUB] = {"multiply.hub.count_ns", "multiply.hub.value_ns", "multiply.hub.strips_ns"},
};
/* Where nobody has calibrated: what CALIBRATE measured on an AMD EPYC (Zen 4, AVX-512) with one thread, the sort's
 * and the strips' figures corrected by products of uniform 2^18 and of rmat 14 (docs/performance.md, Estimates). */
static const double otherwise[LACIS_MUL_CLASSES][LACIS_PRODUCT_KINDS] = {
    /*                    count, value, strips */
    [LACIS_MUL_EMPTY] = {2, 2, 2},   [LACIS_MUL_COPY] = {1.2, 1.9, 2.4},  [LACIS_MUL_SORT] = {3, 5.5, 13},
    [LACIS_MUL_HASH] = {12, 15, 16}, [LACIS_MUL_DENSE] = {0.9, 1.7, 3.2}, [LACIS_MUL_HUB] = {0.9, 1.7, 3.2},
};

/* Planning and buffers; waking threads and waiting for the last of them, unless there is work for one alone. */
static double call_seconds(const lacis_product *product)
{
    const double call = 2e-5, thread = 4e-6;
    bool alone = lacis_mul_alone(&product->job, product->s.count, product->total_products);
    return call + (alone ? 0 : thread * product->job.threads);
}
static const double ROW_NS = 25; /* bounds, dealing and storing of a row */

/* Pages of the result that nobody has touched yet: for a large result they cost as much as its products. Not measured
 * by CALIBRATE, since it hangs on whether the hypervisor has the pages at hand: 0.1 to 1 ns a byte and thread, and no
 * number of threads does it at more than some 40 GB/s. */
double lacis_product_touches(const lacis_run *run, double bytes, int threads)
{
    const double ns = 0.4, together = 0.025;
    double cold = bytes - (double)lacis_run_memory_warm(run);
    return cold > 0 ? 1e-9 * cold * (ns / threads + together) : 0;
}

/* Writing a result beyond the caches: entries go out as two streams of parts of lines, which takes as long as setting
 * twice as many bytes. */
static double write_seconds(const lacis_profile *profile, double bytes, int threads)
{
    const double a_thread = 12e9, most = 60e9; /* bytes set in a second, where nobody has calibrated */
    double usual = a_thread * threads < most ? a_thread * threads : most;
    return 2 * bytes / lacis_profile_get(profile, lacis_set_figure, usual);
}

static double figure_of(const lacis_profile *profile, lacis_mul_class class, int kind)
{
    return lacis_profile_get(profile, figure[class][kind], otherwise[class][kind]);
}

const char *lacis_product_figure(lacis_mul_class class, int kind)
{
    return figure[class][kind];
}

int lacis_product_kind(const lacis_product *product)
{
    const lacis_mul_job *job = &product->job;
    if (job->con_kind == LACIS_MUL_CON_STRIPS || job->agg == LACIS_MUL_FOLD) return 2;
    return job->agg == LACIS_MUL_COUNT ? 0 : 1;
}

/* Of a product that one thread does, since waking others would take longer, just that one. */
static double threads_of(const lacis_product *product)
{
    bool alone = lacis_mul_alone(&product->job, product->s.count, product->total_products);
    return alone ? 1 : product->job.threads;
}

/* How many threads share the rows of a class: of few rows each has one, unless it is heavy enough to be shared. */
static double sharing(const lacis_product *product, lacis_mul_class class)
{
    double threads = threads_of(product), rows = (double)product->s.count;
    return class == LACIS_MUL_HUB || rows >= threads ? threads : rows > 1 ? rows : 1;
}

double lacis_product_most_seconds(const lacis_product *product, const lacis_profile *profile)
{
    const double margin = 2;
    const int kind = lacis_product_kind(product), threads = product->job.threads;
    double most = 0, products = (double)product->total_products, rows = (double)product->s.count;
    for (int class = LACIS_MUL_COPY; class < LACIS_MUL_CLASSES; class ++)
        most = fmax(most, figure_of(profile, (lacis_mul_class) class, kind));
    double bytes = products * (double)lacis_product_entry_bytes(product);
    double seconds = 1e-9 * (most * products + ROW_NS * rows) / sharing(product, LACIS_MUL_DENSE) +
                     write_seconds(profile, bytes, threads);
    return call_seconds(product) + margin * seconds;
}

/* Classes by products, for rows of one entry and of more: most rows have few products, and classifying costs more
 * than looking here. */
enum { KEPT = 1024 };
struct kept_class {
    uint64_t products;
    lacis_mul_class class;
};

static lacis_mul_class classify(const lacis_product *product, int64_t row, struct kept_class kept[2][KEPT])
{
    uint64_t products = product->products[row];
    int64_t degree = product->a.end[row] - product->a.begin[row];
    if (products == 0) return LACIS_MUL_EMPTY;
    struct kept_class *place = &kept[degree > 1][products % KEPT];
    if (place->products != products) {
        place->class = lacis_mul_classify(&product->job, degree, products, product->total_products);
        place->products = products;
    }
    return place->class;
}

static void estimate_seconds(const lacis_product *product, const lacis_profile *profile, lacis_estimate *out)
{
    struct kept_class kept[2][KEPT] = {0};
    for (int64_t r = 0; r < product->s.count; r++) {
        lacis_mul_class class = classify(product, r, kept);
        out->class_rows[class] += 1;
        out->class_products[class] += (double)product->products[r];
    }
    int kind = lacis_product_kind(product);
    double rows = 0;
    for (int i = 0; i < LACIS_MUL_CLASSES; i++) {
        double units = i == LACIS_MUL_EMPTY ? out->class_rows[i] : out->class_products[i];
        out->class_seconds[i] =
            1e-9 * figure_of(profile, (lacis_mul_class)i, kind) * units / sharing(product, (lacis_mul_class)i);
        out->seconds += out->class_seconds[i];
        if (i != LACIS_MUL_EMPTY) rows += out->class_rows[i];
    }
    out->seconds += call_seconds(product) + 1e-9 * ROW_NS * rows / threads_of(product);
}

lacis_status lacis_product_estimate(lacis_run *run, lacis_product *product, const lacis_profile *profile)
{
    if (product->estimate != NULL) return LACIS_OK;
    lacis_estimate *estimate;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof *estimate, &estimate));
    memset(estimate, 0, sizeof *estimate);
    LACIS_TRY(estimate_entries(run, product, estimate));
    estimate_seconds(product, profile, estimate);
    product->estimate = estimate;
    return LACIS_OK;
}

double lacis_product_now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* graph BY vector is planned each time it runs, since two variants can: one look at each row must do. */
static void estimate_column(const lacis_product *product, const lacis_profile *profile, lacis_estimate *out)
{
    int kind = lacis_product_kind(product);
    const double threads = threads_of(product);
    int64_t rows = 0;
    for (int64_t r = 0; r < product->s.count; r++)
        rows += product->products[r] > 0;
    double ns = 1e9 * call_seconds(product);
    ns += figure_of(profile, LACIS_MUL_EMPTY, kind) * (double)(product->s.count - rows) / threads;
    ns += figure_of(profile, LACIS_MUL_SORT, kind) * (double)product->total_products / threads;
    ns += ROW_NS * (double)rows / threads;
    *out = (lacis_estimate){.exact = true, .entries = (double)rows, .bound = (double)rows, .seconds = 1e-9 * ns};
}

/* What the kernel says it takes at most is for the largest rows; no table of it outgrows the products of its row: a
 * dense window takes a row of at least columns / 64 of them, a hash slot two, a bitmap an eighth of its entries'
 * products. */
static double work_bytes(const lacis_product *product)
{
    const double a_thread = 65536, a_product = 256;
    double most = (double)lacis_mul_work_bytes(&product->job);
    double few = a_thread * product->job.threads + a_product * (double)product->total_products;
    return few < most ? few : most;
}

static double row_seconds(const lacis_product *product, const lacis_profile *profile, lacis_mul_class class,
                          double rows, double products)
{
    double units = class == LACIS_MUL_EMPTY ? rows : products;
    double ns = figure_of(profile, class, lacis_product_kind(product)) * units + ROW_NS * rows;
    return 1e-9 * ns / sharing(product, class);
}

/* Rows of a power of two as if each had their mean. */
static void estimate_glance(const lacis_product *product, const lacis_profile *profile, lacis_estimate *out)
{
    const lacis_glance *glance = product->glance;
    *out = (lacis_estimate){.entries = glance->entries, .bound = glance->most};
    out->seconds = call_seconds(product);
    for (int several = 0; several < 2; several++)
        for (int i = 0; i < LACIS_GLANCE_POWERS; i++) {
            double rows = glance->rows[several][i], products = glance->products[several][i];
            if (rows <= 0) continue;
            lacis_mul_class class = lacis_mul_classify(&product->job, several ? 2 : 1, (uint64_t)(products / rows),
                                                       product->total_products);
            out->seconds += row_seconds(product, profile, class, rows, products);
        }
}

static lacis_status estimate_for(lacis_run *run, lacis_product *product, const lacis_profile *profile, bool closely,
                                 lacis_estimate *own, const lacis_estimate **out)
{
    *out = own;
    if (product->spec.shape == LACIS_PRODUCT_COLUMN && product->job.mask == NULL) {
        estimate_column(product, profile, own);
    } else if (closely || product->estimate != NULL) {
        LACIS_TRY(lacis_product_estimate(run, product, profile));
        *out = product->estimate;
    } else {
        LACIS_TRY(lacis_product_glance(run, product));
        estimate_glance(product, profile, own);
    }
    return LACIS_OK;
}

lacis_status lacis_product_cost(lacis_run *run, lacis_product *product, const lacis_profile *profile, bool closely,
                                lacis_cost *out)
{
    static const char *const kinds[LACIS_PRODUCT_KINDS] = {"count", "value", "strips"};
    lacis_estimate own;
    const lacis_estimate *estimate;
    LACIS_TRY(estimate_for(run, product, profile, closely, &own, &estimate));
    const double row_bytes = 2 * sizeof(int64_t);
    double rows = (double)product->s.count,
           labels = product->all_rows && product->s.label == NULL ? 0 : rows * sizeof(int64_t);
    if (product->t.label != NULL) labels += (double)product->t.count * sizeof(int64_t);
    out->kind = kinds[lacis_product_kind(product)];
    out->seconds = estimate->seconds;
    out->products = (double)product->total_products;
    out->entries = estimate->entries;
    /* A graph's entry has a column, a vector's an index. */
    bool graph = product->spec.shape == LACIS_PRODUCT_MATRIX;
    double entry = graph ? (double)lacis_product_entry_bytes(product)
                         : (double)(sizeof(int64_t) + lacis_dtype_size(product->storage));
    out->bytes = estimate->entries * entry + (graph ? rows * row_bytes + labels : 0);
    out->peak_bytes = out->bytes + work_bytes(product) + (double)product->block_bytes;
    if (!graph) return LACIS_OK;
    /* It overlaps with computing, but not wholly. */
    out->seconds = hypot(out->seconds, write_seconds(profile, out->bytes, product->job.threads));
    out->seconds += lacis_product_touches(run, out->bytes, product->job.threads);
    return LACIS_OK;
}
