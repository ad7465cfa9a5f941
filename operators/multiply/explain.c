/* SPDX-License-Identifier: Apache-2.0
 *
 * What EXPLAIN says of a product beyond the engine's own lines. Called through the descriptors of MULTIPLY and POWER.
 */
#include "multiply/product.h"

#include <inttypes.h>

static const char *con_text(const lacis_product *product)
{
    const lacis_product_spec *spec = &product->spec;
    if (spec->con != NULL) return lacis_expr_text(spec->con);
    switch (spec->form) {
    case LACIS_MUL_CON_ONE:
        return "nil";
    case LACIS_MUL_CON_A:
        return "a";
    case LACIS_MUL_CON_B:
        return "b";
    case LACIS_MUL_CON_ADD:
        return "a + b";
    default:
        return "a * b";
    }
}

static const char *agg_text(const lacis_product *product)
{
    static const char *const name[] = {
        [LACIS_AGG_COUNT] = "count", [LACIS_AGG_SUM] = "sum", [LACIS_AGG_MIN] = "min",     [LACIS_AGG_MAX] = "max",
        [LACIS_AGG_ANY] = "any",     [LACIS_AGG_AVG] = "avg", [LACIS_AGG_FIRST] = "first", [LACIS_AGG_LAST] = "last"};
    if (product->spec.fold == NULL) return name[product->spec.agg];
    return product->spec.fold->text != NULL ? product->spec.fold->text : "a written fold";
}

static const char *con_path(const lacis_product *product)
{
    if (product->job.con_kind != LACIS_MUL_CON_STRIPS) return "built in";
    if (product->strips.form != LACIS_MUL_CON_ONE) return "built in, strips of values checked for overflow";
    return "your text, run over strips of values";
}

/* "CON a + b (built in), AGG min (built in)" and in what numbers that is computed and kept. */
static lacis_status functions(const lacis_product *product, lacis_lines *lines)
{
    const bool count = product->job.agg == LACIS_MUL_COUNT, written = product->spec.fold != NULL;
    const lacis_dtype type = count ? product->storage : product->strips.type;
    LACIS_TRY(lacis_lines_add(lines, "CON %s (%s), AGG %s (%s)", con_text(product), con_path(product),
                              agg_text(product), written ? "your text, run over strips of values" : "built in"));
    LACIS_TRY(lacis_lines_add(
        lines, "computed in %s (%s)%s, stored as %s; vector instructions: %s", lacis_dtype_name(type),
        lacis_dtype_words(type), product->job.checked ? ", checked for overflow" : "",
        type == product->storage ? "such" : lacis_dtype_name(product->storage), lacis_isa_words(lacis_mul_isa())));
    return LACIS_OK;
}

static lacis_status classes(const lacis_estimate *estimate, lacis_lines *lines)
{
    static const char *const how[LACIS_MUL_CLASSES] = {"nothing to do",         "one row of b, taken over",
                                                       "few products: sorted",  "more: gathered in a hash table",
                                                       "many: a cell a column", "very many: a row over all threads"};
    LACIS_TRY(lacis_lines_add(lines, "%-8s %12s %16s %12s  %s", "class", "rows", "products", "seconds", "how"));
    for (int i = 0; i < LACIS_MUL_CLASSES; i++)
        if (estimate->class_rows[i] > 0)
            LACIS_TRY(lacis_lines_add(lines, "%-8s %12.0f %16.0f %12.6f  %s", lacis_mul_class_name[i],
                                      estimate->class_rows[i], estimate->class_products[i],
                                      estimate->class_seconds[i], how[i]));
    return LACIS_OK;
}

static lacis_status filters(const lacis_product *product, lacis_lines *lines)
{
    const lacis_mul_job *job = &product->job;
    if (!product->all_rows)
        LACIS_TRY(lacis_lines_add(lines, "rows: %" PRId64 " of %" PRId64 " selected", product->s.count,
                                  product->spec.a.rows));
    if (job->mask != NULL)
        LACIS_TRY(lacis_lines_add(lines, "mask: only pairs %s in it", job->mask_not ? "not stored" : "stored"));
    if (job->top > 0) LACIS_TRY(lacis_lines_add(lines, "top: %" PRId64 " a row, while it is computed", job->top));
    if (job->having != NULL)
        LACIS_TRY(lacis_lines_add(lines, "having: %s, while rows are computed; entries are estimated without it",
                                  lacis_expr_text(product->spec.having)));
    return LACIS_OK;
}

lacis_status lacis_product_explain(lacis_run *run, lacis_product *product, lacis_lines *lines)
{
    LACIS_TRY(lacis_product_estimate(run, product, NULL));
    const lacis_estimate *estimate = product->estimate;
    LACIS_TRY(lacis_lines_add(lines, "operands: %s", product->alignment));
    LACIS_TRY(functions(product, lines));
    LACIS_TRY(filters(product, lines));
    if (estimate->exact && estimate->sampled == 0) {
        LACIS_TRY(lacis_lines_add(lines, "entries %.0f exactly: one for each row with products", estimate->entries));
    } else {
        LACIS_TRY(lacis_lines_add(lines, "entries at most %.0f, about %.0f (computed for %s %" PRId64 " rows)",
                                  estimate->bound, estimate->entries, estimate->exact ? "all" : "a sample of",
                                  estimate->sampled));
    }
    return classes(estimate, lines);
}
