/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rows of A a product is wanted for: the restriction that SQL passes down and WHERE, turned into a range or a
 * list of rows. Nothing here touches more rows than are selected, unless WHERE is a predicate that has to be asked.
 * Called by lacis_product_prepare.
 */
#include "multiply/product.h"

#include <string.h>

/* Labels in lo..hi and, where list is given, in it. */
struct wanted {
    int64_t lo, hi;
    const int64_t *list;
    int64_t count;
};

static bool in_list(const int64_t *list, int64_t count, int64_t label)
{
    int64_t at = lacis_label_lower(list, 0, count, label);
    return at < count && list[at] == label;
}

/* Narrows wanted by another set. */
static lacis_status narrow(lacis_run *run, lacis_product *product, struct wanted *wanted, const struct wanted *by)
{
    if (by->lo > wanted->lo) wanted->lo = by->lo;
    if (by->hi < wanted->hi) wanted->hi = by->hi;
    if (by->list == NULL) return LACIS_OK;
    if (wanted->list == NULL) {
        wanted->list = by->list;
        wanted->count = by->count;
        return LACIS_OK;
    }
    int64_t *both, count = 0;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * (uint64_t)by->count, &both));
    for (int64_t i = 0; i < by->count; i++)
        if (in_list(wanted->list, wanted->count, by->list[i])) both[count++] = by->list[i];
    wanted->list = both;
    wanted->count = count;
    return LACIS_OK;
}

/* What is wanted, and the part of WHERE that has to be asked label by label (or NULL). */
static lacis_status read_wanted(lacis_run *run, lacis_product *product, struct wanted *wanted,
                                const lacis_expr **predicate)
{
    const lacis_product_spec *spec = &product->spec;
    *wanted = (struct wanted){INT64_MIN, INT64_MAX, NULL, 0};
    *predicate = NULL;
    /* SQL chooses among what TOP has left of a vector. */
    bool after_top = spec->shape == LACIS_PRODUCT_ROW && spec->top > 0;
    if (spec->restriction != NULL && !after_top) {
        const lacis_restriction *r = spec->restriction;
        wanted->lo = r->lo;
        wanted->hi = r->hi;
        wanted->list = r->list;
        wanted->count = r->count;
    }
    if (spec->where == NULL) return LACIS_OK;
    lacis_dtype slot = LACIS_I64;
    LACIS_TRY(lacis_condition_type(run, spec->where, &slot, 1));
    struct wanted set = {INT64_MIN, INT64_MAX, NULL, 0};
    if (lacis_expr_integer_set(run, spec->where, 0, &set.lo, &set.hi, &set.list, &set.count))
        return narrow(run, product, wanted, &set);
    *predicate = spec->where;
    return LACIS_OK;
}

/* Indices of the wanted labels: a contiguous range [*first, *first + *count), or *index where a list is needed. */
static lacis_status find_rows(lacis_run *run, lacis_product *product, const lacis_labels *labels,
                              const struct wanted *wanted, int64_t *first, int64_t *count, int64_t **index)
{
    *index = NULL;
    *first = lacis_label_lower(labels->label, labels->base, labels->count, wanted->lo);
    int64_t end = labels->count;
    if (wanted->hi < INT64_MAX) end = lacis_label_lower(labels->label, labels->base, labels->count, wanted->hi + 1);
    *count = end > *first ? end - *first : 0;
    if (wanted->list == NULL || *count == 0) return LACIS_OK;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * (uint64_t)wanted->count, index));
    int64_t found = 0;
    for (int64_t i = 0; i < wanted->count; i++) {
        int64_t at = lacis_label_find(labels->label, labels->base, labels->count, wanted->list[i]);
        if (at >= *first && at < end) (*index)[found++] = at;
    }
    *count = found;
    return LACIS_OK;
}

struct asked {
    const lacis_labels *labels;
    const lacis_program *program;
    const int64_t *in; /* NULL: first, first + 1 ... */
    int64_t first;
    lacis_dtype type;
    void *workspace;
};

static bool ask_strip(const struct asked *asked, int64_t at, int n, int64_t *index, bool *yes)
{
    int64_t label[LACIS_STRIP], number[LACIS_STRIP];
    double real[LACIS_STRIP];
    for (int i = 0; i < n; i++) {
        index[i] = asked->in == NULL ? asked->first + at + i : asked->in[at + i];
        label[i] = lacis_labels_at(asked->labels, index[i]);
    }
    lacis_strip slot = {label, false};
    lacis_dtype type = asked->type;
    void *out = type == LACIS_I64 ? (void *)number : (void *)real;
    if (!lacis_program_run(asked->program, n, &slot, asked->workspace, out)) return false;
    for (int i = 0; i < n; i++)
        yes[i] = type == LACIS_I64 ? number[i] != 0 : lacis_value_double(out, type, i) != 0;
    return true;
}

/* Asks WHERE of `count` rows and keeps those where it holds. */
static lacis_status ask(lacis_run *run, struct asked *asked, int64_t *count, int64_t *out)
{
    int64_t index[LACIS_STRIP], kept = 0;
    bool yes[LACIS_STRIP];
    for (int64_t at = 0; at < *count; at += LACIS_STRIP) {
        int n = *count - at < LACIS_STRIP ? (int)(*count - at) : LACIS_STRIP;
        if (lacis_run_cancelled(run)) return lacis_run_interrupted(run);
        if (!ask_strip(asked, at, n, index, yes))
            return lacis_run_fail(run, LACIS_OVERFLOW, "integer overflow or division by zero in WHERE");
        for (int i = 0; i < n; i++)
            if (yes[i]) out[kept++] = index[i];
    }
    *count = kept;
    return LACIS_OK;
}

static lacis_status filter_rows(lacis_run *run, lacis_product *product, const lacis_labels *labels,
                                const lacis_expr *predicate, int64_t first, int64_t *count, int64_t **index)
{
    lacis_program *program;
    int64_t *out;
    LACIS_TRY(lacis_product_alloc(run, product, sizeof(int64_t) * (uint64_t)*count, &out));
    LACIS_TRY(lacis_program_new(run, predicate, &program));
    struct asked asked = {labels, program, *index, first, lacis_expr_dtype(predicate), NULL};
    lacis_status status = lacis_run_alloc(run, lacis_program_workspace(program), &asked.workspace);
    if (status == LACIS_OK) status = ask(run, &asked, count, out);
    lacis_run_free(run, asked.workspace);
    lacis_program_free(program);
    *index = out;
    return status;
}

static void take_range(lacis_product *product, int64_t first, int64_t count)
{
    lacis_csr *a = &product->a;
    product->first_row = first;
    product->all_rows = first == 0 && count == a->rows;
    product->s = lacis_labels_from(&product->s, first, count);
    a->begin += first;
    a->end += first;
    a->rows = count;
    a->row_label = product->s.label;
    a->row_base = product->s.base;
}

static lacis_status take_list(lacis_run *run, lacis_product *product, const int64_t *index, int64_t count)
{
    lacis_csr *a = &product->a;
    int64_t *block;
    LACIS_TRY(lacis_product_alloc(run, product, 3 * sizeof(int64_t) * (uint64_t)count, &block));
    int64_t *begin = block, *end = block + count, *label = block + 2 * count;
    for (int64_t i = 0; i < count; i++) {
        begin[i] = a->begin[index[i]];
        end[i] = a->end[index[i]];
        label[i] = lacis_labels_at(&product->s, index[i]);
    }
    product->first_row = -1;
    product->all_rows = false;
    product->s = (lacis_labels){label, 0, count};
    a->begin = begin;
    a->end = end;
    a->rows = count;
    a->row_label = label;
    return LACIS_OK;
}

/* vector BY graph has one row; what is selected are columns. */
static lacis_status select_columns(lacis_run *run, lacis_product *product, const struct wanted *wanted,
                                   const lacis_expr *predicate)
{
    const lacis_labels *t = &product->t;
    int64_t first, count, *index;
    struct wanted range = {wanted->lo, wanted->hi, NULL, 0};
    LACIS_TRY(find_rows(run, product, t, &range, &first, &count, &index));
    product->job.t_lo = first;
    product->job.t_hi = first + count;
    product->t_list = wanted->list;
    product->t_count = wanted->count;
    product->first_row = 0;
    product->all_rows = true;
    if (wanted->list != NULL || predicate != NULL) {
        product->t_top = product->job.top; /* the kernel does not know which of them count */
        product->job.top = 0;
    }
    if (predicate == NULL) return LACIS_OK;
    return lacis_program_new(run, predicate, &product->t_where);
}

lacis_status lacis_product_select(lacis_run *run, lacis_product *product)
{
    struct wanted wanted;
    const lacis_expr *predicate;
    LACIS_TRY(read_wanted(run, product, &wanted, &predicate));
    if (product->spec.shape == LACIS_PRODUCT_ROW) return select_columns(run, product, &wanted, predicate);
    const lacis_labels labels = product->s;
    int64_t first, count, *index;
    LACIS_TRY(find_rows(run, product, &labels, &wanted, &first, &count, &index));
    if (predicate != NULL) LACIS_TRY(filter_rows(run, product, &labels, predicate, first, &count, &index));
    if (index != NULL) return take_list(run, product, index, count);
    take_range(product, first, count);
    return LACIS_OK;
}
