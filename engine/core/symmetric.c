/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense symmetric and Hermitian matrices: taken apart with every size checked, and built. Used by row sources,
 * totals, the catalog's and the interface's checks, loaders, generators and operators.
 */
#include "core/symmetric.h"

#include <inttypes.h>
#include <string.h>

enum { UPLO, HERMITIAN, LD, STRIDE, SHAPE }; /* elements of the part "shape" */

static lacis_status bad(lacis_run *run, const char *what)
{
    return lacis_run_fail(run, LACIS_TYPE, "the symmetric matrix %s", what);
}

/* --- sizes ---------------------------------------------------------------------------------------- */

/* Elements from a matrix's first to its last; false: they cannot be counted. */
static bool extent_of(int64_t n, int64_t ld, bool packed, int64_t *out)
{
    int64_t before;
    *out = 0;
    if (n < 0 || n > INT32_MAX) return false;
    if (n == 0) return true;
    if (packed) {
        *out = n * (n + 1) / 2;
        return true;
    }
    return ld >= n && !__builtin_mul_overflow(n - 1, ld, &before) && !__builtin_add_overflow(before, n, out);
}

/* What one matrix takes where the next one follows: of a full one also the gap behind its last column. */
static bool room_of(int64_t n, int64_t ld, bool packed, int64_t *out)
{
    return extent_of(n, ld, packed, out) && (packed || n == 0 || !__builtin_mul_overflow(n, ld, out));
}

/* Of all matrices, which have one size. */
static bool places_of(const lacis_symmetric *a, int64_t *out)
{
    int64_t one, before;
    if (!extent_of(a->n, a->ld, a->packed, &one)) return false;
    *out = 0;
    if (a->matrices == 0) return true;
    return !__builtin_mul_overflow(a->matrices - 1, a->stride, &before) && !__builtin_add_overflow(before, one, out);
}

static int64_t triangle(int64_t n)
{
    return n * (n + 1) / 2;
}

/* --- taking apart --------------------------------------------------------------------------------- */

static lacis_status view_shape(lacis_run *run, const lacis_array *array, lacis_symmetric *out)
{
    const lacis_part *part = lacis_array_part_named(array, "shape");
    if (part == NULL || part->dtype != LACIS_I64 || part->count != SHAPE)
        return bad(run, "needs \"shape\" of four i64: triangle, Hermitian, leading dimension, stride");
    const int64_t *shape = part->data;
    bool words = shape[UPLO] >= 0 && shape[UPLO] <= 1 && shape[HERMITIAN] >= 0 && shape[HERMITIAN] <= 1;
    if (!words) return bad(run, "has a triangle or a Hermitian in \"shape\" that is neither 0 nor 1");
    if (shape[LD] < 0 || shape[STRIDE] < 0) return bad(run, "has a negative leading dimension or stride");
    *out = (lacis_symmetric){.n = lacis_array_extent(array, 0), .matrices = lacis_array_extent(array, 1)};
    out->upper = shape[UPLO] == 1;
    out->hermitian = shape[HERMITIAN] == 1;
    out->packed = shape[LD] == 0;
    out->ld = shape[LD];
    out->stride = shape[STRIDE];
    out->dtype = lacis_array_dtype(array);
    if (out->n < 0 || out->n > INT32_MAX)
        return lacis_run_fail(run, LACIS_TYPE, "a symmetric matrix has at most 2^31 - 1 rows, not %" PRId64, out->n);
    if (out->matrices < 0) return bad(run, "has a negative number of matrices");
    return LACIS_OK;
}

/* All matrices have one size. */
static lacis_status view_equal(lacis_run *run, lacis_symmetric *out)
{
    int64_t one;
    if (!out->packed && out->ld < out->n)
        return lacis_run_fail(run, LACIS_TYPE,
                              "the symmetric matrix has a leading dimension of %" PRId64 ", less than its %" PRId64
                              " rows",
                              out->ld, out->n);
    bool fits = room_of(out->n, out->ld, out->packed, &one);
    if (fits && out->stride == 0) out->stride = one;
    bool apart = extent_of(out->n, out->ld, out->packed, &one) && (out->matrices < 2 || out->stride >= one);
    if (fits && !apart) return bad(run, "has a stride that is less than one matrix takes");
    fits = fits && places_of(out, &out->places) &&
           !__builtin_mul_overflow(triangle(out->n), out->matrices, &out->elements);
    return fits ? LACIS_OK : bad(run, "has more elements than can be counted");
}

/* Fills begin; they lie behind one another. */
static lacis_status view_orders(lacis_run *run, const lacis_part *part, lacis_symmetric *out)
{
    int64_t *begin, most = 0;
    if (part->dtype != LACIS_I64 || part->count != out->matrices)
        return bad(run, "needs \"orders\" as one i64 a matrix");
    if (out->stride != 0) return bad(run, "has orders and a stride: matrices of several sizes have none");
    out->order = part->data;
    LACIS_TRY(lacis_run_scratch(run, ((uint64_t)out->matrices + 1) * sizeof *begin, &begin));
    begin[0] = 0;
    for (int64_t m = 0; m < out->matrices; m++) {
        int64_t n = out->order[m], room;
        if (n < 0 || n > out->n)
            return lacis_run_fail(run, LACIS_TYPE,
                                  "matrix %" PRId64 " has %" PRId64 " rows, the largest is said to have %" PRId64, m,
                                  n, out->n);
        if (n > most) most = n;
        bool fits = room_of(n, n, out->packed, &room) && !__builtin_add_overflow(begin[m], room, &begin[m + 1]);
        if (!fits) return bad(run, "has more elements than can be counted");
        out->elements += triangle(n);
    }
    if (most != out->n)
        return lacis_run_fail(run, LACIS_TYPE, "the largest matrix has %" PRId64 " rows, not %" PRId64, most, out->n);
    out->begin = begin;
    out->places = begin[out->matrices];
    out->ld = 0;
    return LACIS_OK;
}

static lacis_status view_values(lacis_run *run, const lacis_array *array, lacis_symmetric *out)
{
    const lacis_part *part = lacis_array_part_named(array, "values");
    if (out->dtype < LACIS_F32 || out->dtype > LACIS_CDD)
        return lacis_run_fail(run, LACIS_TYPE, "a symmetric matrix is of f32, f64, c64, c128, dd or cdd, not of %s",
                              lacis_dtype_name(out->dtype));
    if (part == NULL) return bad(run, "needs \"values\"");
    if (part->dtype != out->dtype)
        return lacis_run_fail(run, LACIS_TYPE, "\"values\" are of %s in a symmetric matrix of %s",
                              lacis_dtype_name(part->dtype), lacis_dtype_name(out->dtype));
    if (part->count < out->places)
        return lacis_run_fail(run, LACIS_TYPE,
                              "\"values\" has %" PRId64 " elements: a symmetric matrix of this shape needs %" PRId64,
                              part->count, out->places);
    bool complex = out->dtype == LACIS_C64 || out->dtype == LACIS_C128 || out->dtype == LACIS_CDD;
    if (out->hermitian && !complex) return bad(run, "is said to be Hermitian, but is not of a complex type");
    out->values = part->data;
    return LACIS_OK;
}

lacis_status lacis_symmetric_view(lacis_run *run, const lacis_array *array, lacis_symmetric *out)
{
    const lacis_part *orders = lacis_array_part_named(array, "orders");
    if (lacis_array_kind(array) != LACIS_SYMMETRIC)
        return lacis_run_fail(run, LACIS_TYPE, "a symmetric matrix is needed");
    LACIS_TRY(view_shape(run, array, out));
    LACIS_TRY(orders == NULL ? view_equal(run, out) : view_orders(run, orders, out));
    return view_values(run, array, out);
}

int64_t lacis_symmetric_elements(const lacis_array *array)
{
    const lacis_part *orders = lacis_array_part_named(array, "orders");
    int64_t sum = 0;
    if (orders == NULL) return triangle(lacis_array_extent(array, 0)) * lacis_array_extent(array, 1);
    for (int64_t m = 0; m < orders->count; m++)
        sum += triangle(((const int64_t *)orders->data)[m]);
    return sum;
}

/* --- building ------------------------------------------------------------------------------------- */

int64_t lacis_symmetric_places(const lacis_symmetric_shape *shape)
{
    lacis_symmetric a = {.n = shape->n, .matrices = shape->matrices, .packed = shape->packed};
    int64_t one, sum = 0;
    if (shape->order == NULL) {
        a.ld = shape->packed ? 0 : shape->ld == 0 ? shape->n : shape->ld;
        if (!room_of(a.n, a.ld, a.packed, &one)) return -1;
        a.stride = shape->stride == 0 ? one : shape->stride;
        return places_of(&a, &sum) ? sum : -1;
    }
    for (int64_t m = 0; m < shape->matrices; m++) {
        bool fits = room_of(shape->order[m], shape->order[m], shape->packed, &one);
        if (!fits || __builtin_add_overflow(sum, one, &sum)) return -1;
    }
    return sum;
}

static lacis_status add_numbers(lacis_run *run, lacis_array *array, const char *name, const int64_t *data,
                                int64_t count)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, (uint64_t)count * sizeof *data, &buffer));
    if (count > 0) memcpy(lacis_buffer_data(buffer), data, (uint64_t)count * sizeof *data);
    lacis_status status = lacis_array_add(run, array, name, LACIS_I64, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status add_values(lacis_run *run, const lacis_symmetric_shape *shape, lacis_buffer *values,
                               lacis_array *array)
{
    int64_t places = lacis_symmetric_places(shape);
    uint64_t size = lacis_dtype_size(shape->dtype);
    if (places < 0 || places > INT64_MAX / 64) return bad(run, "has more elements than can be counted");
    if (values != NULL) {
        int64_t count = (int64_t)(lacis_buffer_size(values) / size);
        return lacis_array_add(run, array, "values", shape->dtype, count, values, 0);
    }
    LACIS_TRY(lacis_buffer_new(run, (uint64_t)places * size, &values));
    lacis_status status = lacis_array_add(run, array, "values", shape->dtype, places, values, 0);
    lacis_buffer_release(values);
    return status;
}

static lacis_status build(lacis_run *run, const lacis_symmetric_shape *shape, lacis_buffer *values,
                          lacis_array *array)
{
    int64_t part[SHAPE] = {shape->upper, shape->hermitian, shape->ld, shape->stride};
    lacis_symmetric a;
    if (part[LD] == 0 && !shape->packed) part[LD] = shape->n > 0 ? shape->n : 1;
    if (shape->packed) part[LD] = 0;
    for (int d = 0; d < 2; d++)
        lacis_array_set_base(array, d, shape->base[d]);
    LACIS_TRY(add_values(run, shape, values, array));
    LACIS_TRY(add_numbers(run, array, "shape", part, SHAPE));
    if (shape->order != NULL) LACIS_TRY(add_numbers(run, array, "orders", shape->order, shape->matrices));
    return lacis_symmetric_view(run, array, &a);
}

lacis_status lacis_symmetric_new(lacis_run *run, const lacis_symmetric_shape *shape, lacis_buffer *values,
                                 lacis_array **out)
{
    lacis_array *array;
    if (lacis_dtype_size(shape->dtype) == 0 || shape->dtype < LACIS_F32)
        return lacis_run_fail(run, LACIS_TYPE, "a symmetric matrix cannot be of %s", lacis_dtype_name(shape->dtype));
    LACIS_TRY(lacis_array_new(run, LACIS_SYMMETRIC, shape->dtype, shape->n, shape->matrices, &array));
    lacis_status status = build(run, shape, values, array);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}
