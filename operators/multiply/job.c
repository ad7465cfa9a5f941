/* SPDX-License-Identifier: Apache-2.0
 *
 * From a spec to a kernel job, in the order in which each step knows what it needs. Called by MULTIPLY's bind and by
 * each round of POWER.
 */
#include "multiply/product.h"

#include <string.h>

lacis_status lacis_product_alloc(lacis_run *run, lacis_product *product, uint64_t bytes, void *out_pointer)
{
    if (product->blocks >= LACIS_PRODUCT_BLOCKS)
        return lacis_run_fail(run, LACIS_MISUSE, "%s: more than %d work blocks", product->spec.verb,
                              LACIS_PRODUCT_BLOCKS);
    void *block;
    LACIS_TRY(lacis_run_alloc(run, bytes, &block));
    product->block[product->blocks++] = block;
    product->block_bytes += bytes;
    memcpy(out_pointer, &block, sizeof block);
    return LACIS_OK;
}

void lacis_product_clear(lacis_run *run, lacis_product *product)
{
    lacis_program_free(product->strips.con);
    lacis_program_free(product->strips.fold);
    lacis_program_free(product->strips.having);
    lacis_program_free(product->t_where);
    for (int i = 0; i < product->blocks; i++)
        lacis_run_free(run, product->block[i]);
    memset(product, 0, sizeof *product);
}

static void *alloc_quiet(void *context, uint64_t bytes)
{
    return lacis_run_alloc_quiet(context, bytes);
}

static void free_block(void *context, void *block)
{
    lacis_run_free(context, block);
}

static bool charge_nothing(void *context, uint64_t bytes)
{
    (void)context;
    (void)bytes;
    return true;
}

static bool cancelled(void *context)
{
    return lacis_run_cancelled(context);
}

static void begin_job(lacis_run *run, lacis_product *product)
{
    const lacis_product_spec *spec = &product->spec;
    lacis_mul_job *job = &product->job;
    product->a = spec->a;
    product->b = spec->b;
    product->s = lacis_labels_of_rows(&spec->a);
    product->c = lacis_labels_of_rows(&spec->b);
    product->t = lacis_labels_of_cols(&spec->b);
    job->t_lo = 0;
    job->t_hi = spec->b.cols;
    job->threads = lacis_run_threads(run);
    job->memory = (lacis_mul_memory){alloc_quiet, free_block, charge_nothing, cancelled, run};
    job->top = spec->top;
}

/* Columns that SQL asks for, and how many of each row. Where the call itself says TOP, that chooses among all columns
 * before SQL does. */
static void restrict_columns(lacis_product *product)
{
    const lacis_restriction *r = product->spec.restriction;
    int64_t *top = &product->job.top;
    if (r == NULL || product->spec.shape != LACIS_PRODUCT_MATRIX) return;
    const lacis_labels *t = &product->t;
    bool all = r->lo1 == INT64_MIN && r->hi1 == INT64_MAX;
    if (*top > 0 && !all) return;
    if (r->top > 0 && (*top == 0 || r->top < *top)) *top = r->top;
    product->job.t_lo = lacis_label_lower(t->label, t->base, t->count, r->lo1);
    if (r->hi1 < INT64_MAX) product->job.t_hi = lacis_label_lower(t->label, t->base, t->count, r->hi1 + 1);
    if (product->job.t_hi < product->job.t_lo) product->job.t_hi = product->job.t_lo;
}

static void frame(lacis_product *product)
{
    const lacis_csr *a = &product->a, *b = &product->b;
    product->job.a = (lacis_mul_matrix){a->rows, b->rows, a->begin, a->end, a->column, NULL, LACIS_MUL_I64};
    product->job.b = (lacis_mul_matrix){b->rows, b->cols, b->begin, b->end, b->column, NULL, LACIS_MUL_I64};
}

static lacis_status count_products(lacis_run *run, lacis_product *product)
{
    const lacis_csr *a = &product->a;
    frame(product);
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(uint64_t) * (uint64_t)a->rows, &product->products));
    product->total_products = lacis_mul_products(&product->job, NULL, a->rows, product->products);
    uint64_t most = 0, sum = 0;
    for (int64_t r = 0; r < a->rows; r++) {
        uint64_t degree = (uint64_t)(a->end[r] - a->begin[r]);
        if (degree > most) most = degree;
        sum += degree;
    }
    product->job.max_degree_a = most;
    product->total_degree = sum;
    return LACIS_OK;
}

/* The type in which an operand's values are needed; LACIS_PATTERN: they are not. */
static lacis_dtype needed(const lacis_product *product, bool b)
{
    const lacis_product_spec *spec = &product->spec;
    switch (product->job.con_kind) {
    case LACIS_MUL_CON_ONE:
        return LACIS_PATTERN;
    case LACIS_MUL_CON_A:
        return b ? LACIS_PATTERN : product->strips.type;
    case LACIS_MUL_CON_B:
        return b ? product->strips.type : LACIS_PATTERN;
    case LACIS_MUL_CON_ADD:
    case LACIS_MUL_CON_MUL:
        return product->strips.type;
    case LACIS_MUL_CON_STRIPS:
        break;
    }
    if (product->strips.form_type != LACIS_PATTERN) return product->strips.form_type;
    if (!lacis_expr_uses(spec->con, b ? 1 : 0)) return LACIS_PATTERN;
    return b ? lacis_slot_dtype(spec->b.dtype) : spec->a_slot;
}

/* Values of `csr` as needed, copied if they are not so already; only those that the job reaches. */
static lacis_status bring_values(lacis_run *run, lacis_product *product)
{
    lacis_dtype a = needed(product, false), b = needed(product, true);
    if (a == LACIS_PATTERN) product->a.value = NULL;
    if (b == LACIS_PATTERN) product->b.value = NULL;
    bool convert_a = product->a.value != NULL && product->a.storage != a;
    bool convert_b = product->b.value != NULL && product->b.storage != b;
    if (convert_b && lacis_product_small(product)) {
        LACIS_TRY(lacis_product_gather(run, product));
    } else if (convert_a && !product->all_rows) {
        LACIS_TRY(lacis_csr_compact(run, product, &product->a, NULL, NULL));
    }
    frame(product);
    LACIS_TRY(lacis_product_values(run, product, &product->a, a, &product->job.a));
    return lacis_product_values(run, product, &product->b, b, &product->job.b);
}

static lacis_status prepare(lacis_run *run, lacis_product *product)
{
    begin_job(run, product);
    restrict_columns(product);
    LACIS_TRY(lacis_product_types(run, product));
    LACIS_TRY(lacis_product_select(run, product));
    LACIS_TRY(lacis_product_align(run, product));
    LACIS_TRY(count_products(run, product));
    LACIS_TRY(lacis_product_accumulators(run, product));
    LACIS_TRY(bring_values(run, product));
    LACIS_TRY(lacis_product_mask(run, product));
    return lacis_product_strips(run, product);
}

lacis_status lacis_product_prepare(lacis_run *run, const lacis_product_spec *spec, lacis_product *out)
{
    out->spec = *spec;
    lacis_status status = prepare(run, out);
    if (status != LACIS_OK) lacis_product_clear(run, out);
    return status;
}

void lacis_product_panel(const lacis_product *product, int64_t begin, int64_t end, lacis_mul_job *job,
                         lacis_mul_matrix *mask, lacis_strips *strips)
{
    *job = product->job;
    *strips = product->strips;
    strips->s = lacis_labels_from(&product->s, begin, end - begin);
    job->user = strips;
    job->a.rows = end - begin;
    job->a.begin += begin;
    job->a.end += begin;
    if (job->mask == NULL) return;
    *mask = product->mask;
    mask->rows = end - begin;
    mask->begin += begin;
    mask->end += begin;
    job->mask = mask;
}
