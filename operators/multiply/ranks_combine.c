/* SPDX-License-Identifier: Apache-2.0
 *
 * Products of one panel of rows with one block of B after the other, combined by AGG in the order of the blocks,
 * which is that of c: the same bits as in one go. Called by ranks.c on rank 0.
 */
#include "multiply/ranks.h"

#include <string.h>

/* What is known of a panel: parts [0, next) combined, others waiting for their turn. */
struct lacis_partial {
    int64_t next;
    lacis_array *sum;      /* NULL: nothing yet */
    lacis_array **waiting; /* one a block */
};

bool lacis_dealt_combines(const lacis_product *product, char *reason, size_t size)
{
    lacis_mul_agg agg = product->job.agg;
    bool integers = product->dtype == LACIS_I64;
    bool real = product->dtype == LACIS_F32 || product->dtype == LACIS_F64;
    bool order = agg == LACIS_MUL_MIN || agg == LACIS_MUL_MAX;
    if (agg == LACIS_MUL_COUNT || (agg == LACIS_MUL_SUM && integers) || (order && (integers || real))) return true;
    snprintf(reason, size, "parts combine exactly only for count, min, max and sums of integers");
    return false;
}

lacis_status lacis_dealt_combine_begin(lacis_dealt *dealt)
{
    struct lacis_partial *partial;
    lacis_array **waiting;
    uint64_t panels = (uint64_t)dealt->panels, blocks = (uint64_t)dealt->blocks;
    LACIS_TRY(lacis_run_scratch(dealt->run, sizeof *partial * panels, &partial));
    LACIS_TRY(lacis_run_scratch(dealt->run, sizeof *waiting * panels * blocks, &waiting));
    memset(waiting, 0, sizeof *waiting * panels * blocks);
    for (uint64_t i = 0; i < panels; i++)
        partial[i] = (struct lacis_partial){.waiting = waiting + i * blocks};
    dealt->partial = partial;
    return LACIS_OK;
}

void lacis_dealt_combine_end(lacis_dealt *dealt)
{
    for (int64_t p = 0; dealt->partial != NULL && p < dealt->panels; p++) {
        struct lacis_partial *partial = &dealt->partial[p];
        lacis_array_release(partial->sum);
        for (int64_t j = 0; j < dealt->blocks; j++)
            lacis_array_release(partial->waiting[j]);
    }
    dealt->partial = NULL;
}

/* ------------------------------------------------------------------------------------------ merging */

/* Two graphs of the same rows and columns on their way into one. Values: int64, float or double. */
struct merge {
    lacis_csr x, y;
    lacis_mul_agg agg;
    lacis_dtype type;
    int64_t *begin;
    uint32_t *column;
    char *value;
    int64_t at;
    bool overflow;
};

/* As the kernels: NaN counts only where there is nothing else, of equal values the later stays. */
#define MERGE_REAL(T)                                                                                                \
    static T merge_##T(T x, T y, bool min)                                                                           \
    {                                                                                                                \
        if (x != x || y != y) return y == y ? y : x;                                                                 \
        return (min ? x < y : x > y) ? x : y;                                                                        \
    }
MERGE_REAL(float)
MERGE_REAL(double)

static int64_t merge_int(struct merge *m, int64_t x, int64_t y)
{
    int64_t sum = 0;
    if (m->agg == LACIS_MUL_MIN) return x < y ? x : y;
    if (m->agg == LACIS_MUL_MAX) return x > y ? x : y;
    m->overflow |= __builtin_add_overflow(x, y, &sum);
    return sum;
}

static void merge_both(struct merge *m, int64_t i, int64_t j)
{
    bool min = m->agg == LACIS_MUL_MIN;
    switch (m->type) {
    case LACIS_F32:
        ((float *)(void *)m->value)[m->at] =
            merge_float(((const float *)m->x.value)[i], ((const float *)m->y.value)[j], min);
        break;
    case LACIS_F64:
        ((double *)(void *)m->value)[m->at] =
            merge_double(((const double *)m->x.value)[i], ((const double *)m->y.value)[j], min);
        break;
    default:
        ((int64_t *)(void *)m->value)[m->at] = merge_int(m, lacis_value_int64(m->x.value, m->x.storage, i),
                                                         lacis_value_int64(m->y.value, m->y.storage, j));
    }
    m->column[m->at++] = m->x.column[i];
}

static void merge_one(struct merge *m, const lacis_csr *from, int64_t i)
{
    lacis_values_convert(from->value, from->storage, i, 1, m->value + (size_t)m->at * lacis_dtype_size(m->type),
                         m->type);
    m->column[m->at++] = from->column[i];
}

static void merge_row(struct merge *m, int64_t row)
{
    int64_t i = m->x.begin[row], j = m->y.begin[row];
    const int64_t x_end = m->x.end[row], y_end = m->y.end[row];
    while (i < x_end || j < y_end) {
        uint32_t x = i < x_end ? m->x.column[i] : UINT32_MAX, y = j < y_end ? m->y.column[j] : UINT32_MAX;
        if (i < x_end && j < y_end && x == y) {
            merge_both(m, i++, j++);
        } else if (j >= y_end || (i < x_end && x < y)) {
            merge_one(m, &m->x, i++);
        } else {
            merge_one(m, &m->y, j++);
        }
    }
}

static int64_t entries_of(const lacis_csr *csr)
{
    int64_t sum = 0;
    for (int64_t r = 0; r < csr->rows; r++)
        sum += csr->end[r] - csr->begin[r];
    return sum;
}

static lacis_status merge_rows(lacis_run *run, struct merge *m)
{
    m->begin[0] = 0;
    for (int64_t r = 0; r < m->x.rows; r++) {
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        merge_row(m, r);
        m->begin[r + 1] = m->at;
    }
    return LACIS_OK;
}

static lacis_status merge(lacis_dealt *dealt, const lacis_array *x, const lacis_array *y, lacis_array **out)
{
    lacis_run *run = dealt->run;
    const lacis_product *product = &dealt->work->product;
    struct merge m = {.agg = product->job.agg, .type = product->dtype};
    lacis_csr_view(x, &m.x);
    lacis_csr_view(y, &m.y);
    uint64_t most = (uint64_t)(entries_of(&m.x) + entries_of(&m.y));
    lacis_csr_parts parts = {.rows = m.x.rows, .cols = m.x.cols, .storage = m.type, .dtype = m.type};
    lacis_status status = lacis_buffer_new(run, sizeof(int64_t) * (uint64_t)(m.x.rows + 1), &parts.begin);
    if (status == LACIS_OK) status = lacis_buffer_new(run, sizeof(uint32_t) * most, &parts.columns);
    if (status == LACIS_OK) status = lacis_buffer_new(run, lacis_dtype_size(m.type) * most, &parts.values);
    if (status == LACIS_OK) {
        m.begin = lacis_buffer_data(parts.begin);
        m.column = lacis_buffer_data(parts.columns);
        m.value = lacis_buffer_data(parts.values);
        status = merge_rows(run, &m);
        parts.entries = m.at;
    }
    if (status == LACIS_OK && m.overflow) status = lacis_product_fail(run, product, LACIS_MUL_OVERFLOW);
    if (status == LACIS_OK) status = lacis_csr_new(run, &parts, out);
    lacis_buffer_release(parts.begin);
    lacis_buffer_release(parts.columns);
    lacis_buffer_release(parts.values);
    return status;
}

/* ------------------------------------------------------------------------------------ HAVING and TOP */

/* The columns by themselves: what is multiplied by it stays as it is. */
static lacis_status identity(lacis_run *run, lacis_product *owner, const lacis_labels *t, lacis_csr *out)
{
    int64_t *begin;
    uint32_t *column;
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof *begin * (uint64_t)(t->count + 1), &begin));
    LACIS_TRY(lacis_product_alloc(run, owner, sizeof *column * (uint64_t)t->count, &column));
    for (int64_t i = 0; i <= t->count; i++)
        begin[i] = i;
    for (int64_t i = 0; i < t->count; i++)
        column[i] = (uint32_t)i;
    *out = (lacis_csr){.rows = t->count,
                       .cols = t->count,
                       .entries = t->count,
                       .begin = begin,
                       .end = begin + 1,
                       .column = column,
                       .storage = LACIS_PATTERN,
                       .dtype = LACIS_PATTERN,
                       .row_label = t->label,
                       .col_label = t->label,
                       .row_base = t->base,
                       .col_base = t->base};
    return LACIS_OK;
}

static lacis_status filter_product(lacis_dealt *dealt, int64_t row, lacis_csr *sum, lacis_product *filter)
{
    lacis_run *run = dealt->run;
    const lacis_product *product = &dealt->work->product;
    lacis_product_spec spec = {.verb = product->spec.verb, .a = *sum, .form = LACIS_MUL_CON_A, .agg = LACIS_AGG_ANY};
    lacis_labels rows = lacis_labels_from(&product->s, row, sum->rows);
    spec.a.dtype = product->dtype;
    spec.a.row_label = rows.label;
    spec.a.row_base = rows.base;
    spec.a.col_label = product->t.label;
    spec.a.col_base = product->t.base;
    spec.having = product->spec.having;
    spec.top = product->job.top;
    LACIS_TRY(identity(run, filter, &product->t, &spec.b));
    LACIS_TRY(lacis_product_prepare(run, &spec, filter));
    lacis_product_result result;
    LACIS_TRY(lacis_product_run(run, filter, 0, filter->s.count, &result));
    lacis_csr kept = {.rows = filter->s.count,
                      .cols = filter->t.count,
                      .begin = lacis_buffer_data(result.begin),
                      .end = lacis_buffer_data(result.end),
                      .column = lacis_buffer_data(result.column),
                      .value = lacis_buffer_data(result.value),
                      .storage = filter->storage};
    lacis_status status = lacis_dealt_append(dealt, row, &kept);
    lacis_product_release(&result);
    return status;
}

static lacis_status finish_panel(lacis_dealt *dealt, int64_t panel, const lacis_array *sum)
{
    const lacis_product *product = &dealt->work->product;
    lacis_csr csr;
    lacis_csr_view(sum, &csr);
    if (product->spec.having == NULL && product->job.top == 0)
        return lacis_dealt_append(dealt, dealt->border[panel], &csr);
    lacis_product filter = {0};
    lacis_status status = filter_product(dealt, dealt->border[panel], &csr, &filter);
    lacis_product_clear(dealt->run, &filter);
    return status;
}

/* -------------------------------------------------------------------------------------------- parts */

static lacis_status add_part(lacis_dealt *dealt, struct lacis_partial *partial, lacis_array *part)
{
    if (partial->sum == NULL) {
        partial->sum = lacis_array_retain(part);
        return LACIS_OK;
    }
    lacis_array *sum;
    LACIS_TRY(merge(dealt, partial->sum, part, &sum));
    lacis_array_release(partial->sum);
    partial->sum = sum;
    return LACIS_OK;
}

lacis_status lacis_dealt_combine(lacis_dealt *dealt, int64_t panel, int64_t block, const lacis_array *part)
{
    struct lacis_partial *partial = &dealt->partial[panel];
    int64_t rows = dealt->border[panel + 1] - dealt->border[panel];
    if (lacis_array_kind(part) != LACIS_CSR || lacis_array_extent(part, 0) != rows ||
        lacis_array_extent(part, 1) != dealt->work->product.t.count)
        return lacis_run_fail(dealt->run, LACIS_UNSUPPORTED, "a rank answered with rows that were not asked for");
    partial->waiting[block] = lacis_array_retain(part);
    while (partial->next < dealt->blocks && partial->waiting[partial->next] != NULL) {
        lacis_array **next = &partial->waiting[partial->next];
        LACIS_TRY(add_part(dealt, partial, *next));
        lacis_array_release(*next);
        *next = NULL;
        partial->next++;
    }
    if (partial->next < dealt->blocks) return LACIS_OK;
    lacis_status status = finish_panel(dealt, panel, partial->sum);
    lacis_array_release(partial->sum);
    partial->sum = NULL;
    return status;
}
