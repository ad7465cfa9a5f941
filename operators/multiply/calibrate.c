/* SPDX-License-Identifier: Apache-2.0
 *
 * CALIBRATE for products: two small graphs made here, one with a power law (copied and dense rows), one uniform
 * (sorted rows, and hashed ones where they are forced to be), multiplied by themselves with count, min-plus and
 * min-plus in strips; the kernel's own clock gives the nanoseconds a product of each class. The uniform graph by a
 * vector gives the figure of "pull". The least of a few rounds counts: whatever else runs only makes them longer.
 * Called through MULTIPLY's descriptor.
 */
#include "multiply/device.h"

#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 4 }; /* the first warms caches and pages */

struct sample_graph {
    int64_t *begin;
    uint32_t *column;
    int32_t *value;
    int64_t rows, entries;
};

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A row or column of a graph of 2^scale: each bit is 0 with probability `zero` / 256. */
static uint64_t skewed(uint64_t *state, int scale, unsigned zero)
{
    uint64_t value = 0;
    for (int i = 0; i < scale; i++)
        value = value << 1 | ((next_random(state) & 255) >= zero);
    return value;
}

static int by_key(const void *x, const void *y)
{
    uint64_t left = *(const uint64_t *)x, right = *(const uint64_t *)y;
    return (left > right) - (left < right);
}

static lacis_status make_graph(lacis_run *run, lacis_product *owner, int scale, int64_t degree, unsigned zero,
                               struct sample_graph *out)
{
    uint64_t state = 1, *key;
    int64_t rows = (int64_t)1 << scale, n = rows * degree, kept = 0;
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof(uint64_t) * (uint64_t)n, &key));
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof(int64_t) * (uint64_t)(rows + 1), &out->begin));
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof(uint32_t) * (uint64_t)n, &out->column));
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof(int32_t) * (uint64_t)n, &out->value));
    for (int64_t i = 0; i < n; i++)
        key[i] = skewed(&state, scale, zero) << 32 | skewed(&state, scale, zero);
    qsort(key, (size_t)n, sizeof *key, by_key);
    memset(out->begin, 0, sizeof(int64_t) * (size_t)(rows + 1));
    for (int64_t i = 0; i < n; i++) {
        if (i > 0 && key[i] == key[i - 1]) continue;
        out->begin[(key[i] >> 32) + 1]++;
        out->column[kept] = (uint32_t)key[i];
        out->value[kept++] = (int32_t)(next_random(&state) % 1000);
    }
    for (int64_t r = 0; r < rows; r++)
        out->begin[r + 1] += out->begin[r];
    out->rows = rows;
    out->entries = kept;
    return LACIS_OK;
}

static bool add_strip(void *context, void *workspace, const lacis_mul_strip *strip, void *out)
{
    (void)context;
    (void)workspace;
    const int32_t *b = strip->b;
    int32_t a = *(const int32_t *)strip->a, *to = out;
    for (int i = 0; i < strip->n; i++)
        to[i] = a + b[i];
    return true;
}

static void describe(const struct sample_graph *graph, int kind, lacis_product *product)
{
    lacis_csr csr = {.rows = graph->rows,
                     .cols = graph->rows,
                     .entries = graph->entries,
                     .begin = graph->begin,
                     .end = graph->begin + 1,
                     .column = graph->column,
                     .value = graph->value,
                     .storage = LACIS_I32,
                     .dtype = LACIS_I64};
    product->spec = (lacis_product_spec){.verb = "CALIBRATE", .a = csr, .b = csr};
    product->spec.form = kind == 0 ? LACIS_MUL_CON_ONE : LACIS_MUL_CON_ADD;
    product->spec.agg = kind == 0 ? LACIS_AGG_COUNT : LACIS_AGG_MIN;
}

/* The least nanoseconds a product seen, by class; 0: none yet. */
static void take_least(const lacis_mul_output *output, double *least)
{
    const uint64_t enough = 20000; /* products a class needs to be believed */
    for (int i = LACIS_MUL_COPY; i < LACIS_MUL_CLASSES; i++) {
        if (output->class_products[i] < enough) continue;
        double ns = 1e9 * output->class_seconds[i] / (double)output->class_products[i];
        if (least[i] == 0 || ns < least[i]) least[i] = ns;
    }
}

static lacis_status keep_figures(lacis_profile *profile, const double *least, int kind)
{
    for (int i = LACIS_MUL_COPY; i < LACIS_MUL_CLASSES; i++) {
        double ns = least[i];
        if (ns == 0) continue;
        LACIS_TRY(lacis_profile_set(profile, lacis_product_figure((lacis_mul_class)i, kind), ns));
        /* Hub rows are dense rows shared by threads. */
        if (i == LACIS_MUL_DENSE)
            LACIS_TRY(lacis_profile_set(profile, lacis_product_figure(LACIS_MUL_HUB, kind), ns));
    }
    return LACIS_OK;
}

static lacis_status measure(lacis_run *run, lacis_profile *profile, lacis_product *product, int kind)
{
    double least[LACIS_MUL_CLASSES] = {0};
    int64_t rows = product->s.count, *place;
    uint64_t room = lacis_product_room(product, 0, rows);
    void *column, *value;
    LACIS_TRY(lacis_product_alloc(run, product, 2 * sizeof(int64_t) * (uint64_t)rows, &place));
    LACIS_TRY(lacis_product_alloc(run, product, room * sizeof(uint32_t), &column));
    LACIS_TRY(lacis_product_alloc(run, product, room * lacis_dtype_size(product->storage), &value));
    if (kind == 2) {
        product->job.con_kind = LACIS_MUL_CON_STRIPS;
        product->job.con = add_strip;
    }
    for (int round = 0; round < ROUNDS; round++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        lacis_mul_output output = {place, place + rows, column, value, room, 0, 0, {0}, {0}, {0}};
        lacis_mul_status status = lacis_mul_run(&product->job, NULL, rows, product->products, &output);
        LACIS_TRY(lacis_product_fail(run, product, status));
        take_least(&output, least);
    }
    return keep_figures(profile, least, kind);
}

/* force: the class that rows are to be computed in; LACIS_MUL_EMPTY: whichever suits them. */
static lacis_status calibrate_graph(lacis_run *run, lacis_profile *profile, const struct sample_graph *graph,
                                    lacis_mul_class force)
{
    for (int kind = 0; kind < LACIS_PRODUCT_KINDS; kind++) {
        lacis_product product = {0};
        describe(graph, kind, &product);
        lacis_product_spec spec = product.spec;
        lacis_status status = lacis_product_prepare(run, &spec, &product);
        product.job.force = force;
        if (status == LACIS_OK) status = measure(run, profile, &product, kind);
        lacis_product_clear(run, &product);
        LACIS_TRY(status);
    }
    return LACIS_OK;
}

/* --------------------------------------------------------------------------------- graph BY vector */

/* The graph by a vector with a value everywhere: begin counts from 0, all columns are 0. */
static lacis_status describe_pull(lacis_run *run, lacis_product *owner, const struct sample_graph *graph,
                                  lacis_product_spec *spec)
{
    int64_t *begin, rows = graph->rows;
    uint32_t *column;
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof *begin * (uint64_t)(rows + 1), &begin));
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof *column * (uint64_t)rows, &column));
    memset(column, 0, sizeof *column * (size_t)rows);
    for (int64_t i = 0; i <= rows; i++)
        begin[i] = i;
    lacis_product by_graph = {0};
    describe(graph, 1, &by_graph);
    *spec = by_graph.spec;
    spec->shape = LACIS_PRODUCT_COLUMN;
    spec->b.cols = 1;
    spec->b.begin = begin;
    spec->b.end = begin + 1;
    spec->b.column = column;
    spec->b.entries = rows;
    return LACIS_OK;
}

static lacis_status time_pull(lacis_run *run, lacis_profile *profile, const lacis_product *product)
{
    double least = 0;
    for (int round = 0; round < ROUNDS; round++) {
        lacis_product_result result;
        double start = lacis_product_now();
        LACIS_TRY(lacis_product_pull(run, product, 0, product->s.count, &result));
        double seconds = lacis_product_now() - start;
        lacis_product_release(&result);
        if (round == 0 || seconds < least) least = seconds;
    }
    double ns = 1e9 * least * product->job.threads - LACIS_PULL_ROW_NS * (double)product->s.count;
    double entry = ns / (double)product->total_degree;
    return lacis_profile_set(profile, lacis_pull_figure, entry > 0.1 ? entry : 0.1);
}

static lacis_status calibrate_pull(lacis_run *run, lacis_profile *profile, lacis_product *owner,
                                   const struct sample_graph *graph)
{
    lacis_product product = {0};
    lacis_product_spec spec;
    LACIS_TRY(describe_pull(run, owner, graph, &spec));
    LACIS_TRY(lacis_product_prepare(run, &spec, &product));
    lacis_status status = time_pull(run, profile, &product);
    lacis_product_clear(run, &product);
    return status;
}

/* ------------------------------------------------------------------------------------------ memory */

enum { SET_BYTES = 1 << 20 };

static lacis_status set_block(void *context, int64_t task, int worker)
{
    memset((char *)context + task * SET_BYTES, worker, SET_BYTES);
    return LACIS_OK;
}

/* More than caches hold, but not much of what is left. */
static lacis_status calibrate_memory(lacis_run *run, lacis_profile *profile)
{
    const uint64_t most = (uint64_t)512 << 20;
    uint64_t share = lacis_run_memory_left(run) / 4, bytes = share < most ? share : most;
    int64_t blocks = (int64_t)(bytes / SET_BYTES);
    double least = 0;
    void *memory;
    if (blocks == 0) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, bytes, &memory));
    lacis_status status = LACIS_OK;
    for (int round = 0; status == LACIS_OK && round < ROUNDS; round++) {
        double start = lacis_product_now();
        status = lacis_run_parallel(run, blocks, set_block, memory);
        double seconds = lacis_product_now() - start;
        if (round <= 1 || seconds < least) least = seconds; /* the first touches pages */
    }
    lacis_run_free(run, memory);
    if (status != LACIS_OK || least <= 0) return status;
    return lacis_profile_set(profile, lacis_set_figure, (double)blocks * SET_BYTES / least);
}

lacis_status lacis_product_calibrate(lacis_run *run, lacis_profile *profile)
{
    const unsigned skew = 180, even = 128; /* of 256 */
    lacis_product owner = {0};
    struct sample_graph power, uniform;
    lacis_status status = make_graph(run, &owner, 13, 16, skew, &power);
    if (status == LACIS_OK) status = make_graph(run, &owner, 17, 8, even, &uniform);
    if (status == LACIS_OK) status = calibrate_graph(run, profile, &power, LACIS_MUL_EMPTY);
    if (status == LACIS_OK) status = calibrate_graph(run, profile, &uniform, LACIS_MUL_HASH);
    if (status == LACIS_OK) status = calibrate_graph(run, profile, &uniform, LACIS_MUL_EMPTY);
    if (status == LACIS_OK) status = calibrate_pull(run, profile, &owner, &uniform);
    lacis_product_clear(run, &owner);
    if (status == LACIS_OK) status = calibrate_memory(run, profile);
    return status == LACIS_OK ? lacis_multiply_gpu_calibrate(run, profile) : status;
}
