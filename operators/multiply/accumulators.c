/* SPDX-License-Identifier: Apache-2.0
 *
 * What a product is computed and stored in, once it is known how many products there are: the narrowest accumulators
 * that surely hold every result, checked ones where that cannot be shown, and built-in loops only where CON cannot
 * overflow. Called by lacis_product_prepare.
 */
#include "multiply/product.h"

#include <float.h>
#include <math.h>

static const double INT64_END = 9223372036854775808.0; /* 2^63 */
static const double EXACT = 9007199254740992.0;        /* 2^53 */

static double most(lacis_range range)
{
    return fmax(fabs(range.lo), fabs(range.hi));
}

static bool in_i32(lacis_range range)
{
    return range.known && range.lo >= INT32_MIN && range.hi <= INT32_MAX;
}

static void store(lacis_product *product, lacis_dtype type, lacis_dtype storage)
{
    product->job.type = lacis_mul_type_of(type);
    product->job.storage = lacis_mul_storage_of(storage);
    product->strips.type = type;
    product->storage = storage;
}

/* ------------------------------------------------------------------------------------ ranges of CON */

static lacis_range add_ranges(lacis_range a, lacis_range b)
{
    return (lacis_range){a.known && b.known, a.lo + b.lo, a.hi + b.hi};
}

static lacis_range mul_ranges(lacis_range a, lacis_range b)
{
    double p = a.lo * b.lo, q = a.lo * b.hi, r = a.hi * b.lo, s = a.hi * b.hi;
    return (lacis_range){a.known && b.known, fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s))};
}

static lacis_range label_range(const lacis_labels *labels)
{
    if (labels->count == 0) return (lacis_range){true, 0, 0};
    return (lacis_range){true, (double)lacis_labels_at(labels, 0),
                         (double)lacis_labels_at(labels, labels->count - 1)};
}

static lacis_range expr_range(const lacis_product *product, lacis_range a, lacis_range b)
{
    lacis_range slot[5] = {a, b, label_range(&product->s), label_range(&product->c), label_range(&product->t)};
    double lo[5], hi[5];
    for (int i = 0; i < 5; i++) {
        if (!slot[i].known && lacis_expr_uses(product->spec.con, i)) return (lacis_range){false, 0, 0};
        lo[i] = slot[i].lo;
        hi[i] = slot[i].hi;
    }
    lacis_range out = {true, 0, 0};
    out.known = lacis_expr_bounds(product->spec.con, lo, hi, &out.lo, &out.hi);
    return out;
}

/* Doubles round beyond 2^53; a range must not come out too narrow. */
static lacis_range outward(lacis_range range)
{
    if (fabs(range.lo) > EXACT) range.lo = nextafter(range.lo, -INFINITY);
    if (fabs(range.hi) > EXACT) range.hi = nextafter(range.hi, INFINITY);
    if (isnan(range.lo) || isnan(range.hi)) range.known = false;
    return range;
}

static lacis_status con_range(lacis_run *run, const lacis_product *product, lacis_range *a, lacis_range *b,
                              lacis_range *out)
{
    lacis_mul_con con = product->job.con_kind;
    bool strips = con == LACIS_MUL_CON_STRIPS, both = con == LACIS_MUL_CON_ADD || con == LACIS_MUL_CON_MUL;
    const lacis_expr *expr = product->spec.con;
    *a = *b = (lacis_range){true, 1, 1};
    if (both || con == LACIS_MUL_CON_A || (strips && lacis_expr_uses(expr, 0)))
        LACIS_TRY(lacis_product_range(run, product, false, a));
    if (both || con == LACIS_MUL_CON_B || (strips && lacis_expr_uses(expr, 1)))
        LACIS_TRY(lacis_product_range(run, product, true, b));
    switch (con) {
    case LACIS_MUL_CON_ONE:
        *out = (lacis_range){true, 1, 1};
        break;
    case LACIS_MUL_CON_A:
        *out = *a;
        break;
    case LACIS_MUL_CON_B:
        *out = *b;
        break;
    case LACIS_MUL_CON_ADD:
        *out = outward(add_ranges(*a, *b));
        break;
    case LACIS_MUL_CON_MUL:
        *out = outward(mul_ranges(*a, *b));
        break;
    case LACIS_MUL_CON_STRIPS:
        *out = expr_range(product, *a, *b);
        break;
    }
    return LACIS_OK;
}

/* ------------------------------------------------------------------------------------------ choices */

static void choose_count(lacis_product *product)
{
    uint64_t count = product->job.max_degree_a;
    store(product, LACIS_I64,
          count <= UINT8_MAX    ? LACIS_U8
          : count <= UINT16_MAX ? LACIS_U16
          : count <= UINT32_MAX ? LACIS_U32
                                : LACIS_I64);
}

static void bound(lacis_product *product, lacis_range con)
{
    product->job.bounded = con.known && most(con) <= EXACT;
    product->job.con_lo = con.lo;
    product->job.con_hi = con.hi;
}

/* Loops that are compiled in do not look for overflow of CON: where it could happen, strips that do. */
static void guard(lacis_product *product, lacis_range con)
{
    lacis_mul_job *job = &product->job;
    if (job->con_kind != LACIS_MUL_CON_ADD && job->con_kind != LACIS_MUL_CON_MUL) return;
    if (con.known && con.lo >= -INT64_END && con.hi < INT64_END) return;
    product->strips.form = job->con_kind;
    product->strips.form_type = LACIS_I64;
    job->con_kind = LACIS_MUL_CON_STRIPS;
}

static lacis_status choose_integer(lacis_run *run, lacis_product *product)
{
    lacis_mul_job *job = &product->job;
    lacis_range a, b, con;
    LACIS_TRY(con_range(run, product, &a, &b, &con));
    guard(product, con);
    bound(product, con);
    if (job->agg == LACIS_MUL_AVG) {
        store(product, LACIS_I64, LACIS_F64);
        return LACIS_OK;
    }
    double degree = (double)job->max_degree_a, sum = job->agg == LACIS_MUL_SUM ? degree * most(con) : most(con);
    bool strips = job->con_kind == LACIS_MUL_CON_STRIPS; /* converts its values itself */
    bool narrow = con.known && sum <= INT32_MAX && (strips || (in_i32(a) && in_i32(b)));
    job->checked = job->agg == LACIS_MUL_SUM && !(con.known && sum < INT64_END / 2);
    store(product, narrow ? LACIS_I32 : LACIS_I64, narrow ? LACIS_I32 : LACIS_I64);
    return LACIS_OK;
}

static lacis_status choose_real(lacis_run *run, lacis_product *product)
{
    lacis_mul_job *job = &product->job;
    lacis_dtype type = product->con_dtype;
    const uint64_t worth = 1 << 18; /* products from which reading all values once pays */
    store(product, type, job->agg == LACIS_MUL_AVG && type != LACIS_C128 ? LACIS_F64 : type);
    bool order = job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX;
    if (!order || product->total_products < worth || job->con_kind == LACIS_MUL_CON_STRIPS) return LACIS_OK;
    lacis_range a, b, con;
    LACIS_TRY(con_range(run, product, &a, &b, &con));
    const double slack = 1e-6; /* rounding of f32 */
    double reach = most(con) * slack;
    job->con_lo = con.lo - reach;
    job->con_hi = con.hi + reach;
    job->bounded = con.known && most(a) < FLT_MAX && most(b) < FLT_MAX && most(con) < FLT_MAX / 2;
    return LACIS_OK;
}

static lacis_status choose_fold(lacis_run *run, lacis_product *product)
{
    lacis_mul_job *job = &product->job;
    store(product, product->dtype, product->dtype);
    if (job->con_kind != LACIS_MUL_CON_ADD && job->con_kind != LACIS_MUL_CON_MUL) return LACIS_OK;
    if (product->con_dtype == LACIS_I64) {
        lacis_range a, b, con;
        LACIS_TRY(con_range(run, product, &a, &b, &con));
        guard(product, con);
    }
    if (product->con_dtype != product->dtype && job->con_kind != LACIS_MUL_CON_STRIPS) {
        product->strips.form = job->con_kind;
        product->strips.form_type = product->con_dtype;
        job->con_kind = LACIS_MUL_CON_STRIPS;
    }
    return LACIS_OK;
}

lacis_status lacis_product_accumulators(lacis_run *run, lacis_product *product)
{
    if (product->job.agg == LACIS_MUL_COUNT) {
        choose_count(product);
        return LACIS_OK;
    }
    if (product->job.agg == LACIS_MUL_FOLD) return choose_fold(run, product);
    return product->con_dtype == LACIS_I64 ? choose_integer(run, product) : choose_real(run, product);
}
