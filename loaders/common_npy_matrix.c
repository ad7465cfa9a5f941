/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense symmetric and Hermitian matrices in NumPy's format, n x n or a batch m x n x n; see common_npy.h. A matrix
 * row behind row is its transpose column behind column: its other triangle, conjugated where it is Hermitian.
 */
#include "common_dense.h"
#include "common_npy.h"

#include <string.h>

typedef enum uplo { LOWER, UPPER, BOTH } uplo;

typedef struct matrices {
    lacis_run *run;
    const lacis_source *source;
    const char *data;
    const lacis_npy_type *type;
    int64_t count, n;
    bool fortran, hermitian;
    uplo uplo; /* as NumPy sees it; BOTH: they must agree */
    lacis_dtype dtype;
} matrices;

static lacis_status refuse(const matrices *t, const char *cause)
{
    return lacis_run_fail(t->run, LACIS_FORMAT, "%s: %s", t->source->path, cause);
}

/* --- the head ------------------------------------------------------------------------------------- */

/* The dimensions of the shape, at most three; 0 where it is not one. */
static int read_shape(const lacis_npy_head *h, int64_t *size)
{
    const char *p = lacis_npy_value(h, "'shape'");
    int dimensions = 0;
    if (*p++ != '(') return 0;
    while (*p != ')' && dimensions < 3) {
        int64_t value = 0;
        const char *digits = p;
        for (; *p >= '0' && *p <= '9'; p++)
            if (__builtin_mul_overflow(value, (int64_t)10, &value) ||
                __builtin_add_overflow(value, (int64_t)(*p - '0'), &value))
                return 0;
        if (p == digits) return 0;
        size[dimensions++] = value;
        p += strspn(p, ", ");
    }
    return *p == ')' ? dimensions : 0;
}

static lacis_status read_head(matrices *t, const lacis_npy_head *h)
{
    int64_t size[3], elements;
    int dimensions = read_shape(h, size);
    t->type = lacis_npy_type_at(lacis_npy_value(h, "'descr'"));
    t->fortran = strncmp(lacis_npy_value(h, "'fortran_order'"), "True", 4) == 0;
    if (t->type == NULL)
        return refuse(t,
                      "its type is none of f4, f8, i4, i8, u1, u2, u4, b1, c8, c16 (little-endian); convert it with "
                      "astype");
    bool square = dimensions > 1 && size[dimensions - 1] == size[dimensions - 2];
    if (!square) return refuse(t, "a matrix is n x n here, a batch of them m x n x n; leave option matrix out");
    t->n = size[dimensions - 1];
    t->count = dimensions == 3 ? size[0] : 1;
    if (dimensions == 3 && t->fortran)
        return refuse(t, "a batch of matrices stands in C's order; numpy.ascontiguousarray gives that");
    if (t->n > INT32_MAX) return refuse(t, "a symmetric matrix has at most 2^31 - 1 rows");
    bool counts = !__builtin_mul_overflow(t->n * t->n, t->count, &elements);
    uint64_t bytes = lacis_dtype_size(t->type->storage), left = t->source->size - h->end;
    if (!counts || (uint64_t)elements > left / bytes)
        return refuse(t, "the file ends before its data; fetch it again");
    if ((uint64_t)elements * bytes < left) return refuse(t, "bytes follow its data; fetch it again");
    t->data = t->source->data + h->end;
    t->dtype = t->type->dtype < LACIS_F32 ? LACIS_F64 : t->type->dtype;
    if (t->hermitian && !lacis_dense_complex(t->dtype)) return refuse(t, "a Hermitian matrix is of c8 or c16");
    return LACIS_OK;
}

/* --- elements ------------------------------------------------------------------------------------- */

/* Element (i, j) and (j, i) of every pair, in the file's order or not: it does not matter. */
static lacis_status check_both(const matrices *t, const void *values)
{
    for (int64_t m = 0; m < t->count; m++) {
        for (int64_t j = 0; j < t->n; j++) {
            if (lacis_run_cancelled(t->run)) return lacis_run_interrupted(t->run);
            for (int64_t i = j + 1; i < t->n; i++) {
                double x[4], y[4];
                bool same = true, conjugate = true;
                lacis_dense_get(values, t->dtype, (m * t->n + j) * t->n + i, x);
                lacis_dense_get(values, t->dtype, (m * t->n + i) * t->n + j, y);
                lacis_dense_compare(x, y, &same, &conjugate);
                if (t->hermitian ? conjugate : same) continue;
                return lacis_run_fail(
                    t->run, LACIS_FORMAT,
                    "%s: matrix %lld is not %s: element (%lld, %lld) %s (%lld, %lld); uplo = 'lower' "
                    "or 'upper' takes one triangle",
                    t->source->path, (long long)m, t->hermitian ? "Hermitian" : "symmetric", (long long)i,
                    (long long)j, t->hermitian ? "is not the conjugate of" : "differs from", (long long)j,
                    (long long)i);
            }
        }
    }
    return LACIS_OK;
}

static void conjugate_all(const matrices *t, void *values)
{
    int64_t count = t->count * t->n * t->n;
    for (int64_t i = 0; i < count; i++) {
        double word[4];
        lacis_dense_get(values, t->dtype, i, word);
        word[2] = -word[2];
        lacis_dense_put(values, t->dtype, i, word);
    }
}

/* The file's data may begin at any byte. */
static void take(const matrices *t, char *values)
{
    double slice[512];
    int64_t count = t->count * t->n * t->n, most = LACIS_COUNT(slice) / 2; /* elements of up to 16 bytes */
    size_t from = lacis_dtype_size(t->type->storage), to = lacis_dtype_size(t->dtype);
    for (int64_t done = 0; done < count; done += most) {
        int64_t some = count - done < most ? count - done : most;
        memcpy(slice, t->data + (size_t)done * from, (size_t)some * from);
        lacis_values_convert(slice, t->type->storage, 0, some, values + (size_t)done * to, t->dtype);
    }
}

static lacis_status fill(const matrices *t, void *values)
{
    take(t, values);
    if (!t->fortran && t->hermitian) conjugate_all(t, values);
    return t->uplo == BOTH ? check_both(t, values) : LACIS_OK;
}

lacis_status lacis_npy_load_matrix(lacis_run *run, const lacis_source *source, const lacis_npy_head *h,
                                   const lacis_options *given, lacis_array **out)
{
    matrices t = {.run = run, .source = source, .hermitian = lacis_option_integer(given, "matrix", 0) == 1};
    t.uplo = (uplo)lacis_option_integer(given, "uplo", BOTH);
    LACIS_TRY(read_head(&t, h));
    bool upper = t.uplo == UPPER;
    const lacis_symmetric_shape shape = {.n = t.n,
                                         .matrices = t.count,
                                         .upper = t.uplo == BOTH ? false : upper == t.fortran,
                                         .hermitian = t.hermitian,
                                         .dtype = t.dtype};
    LACIS_TRY(lacis_dense_room(run, source->path, lacis_symmetric_places(&shape), shape.dtype));
    LACIS_TRY(lacis_symmetric_new(run, &shape, NULL, out));
    lacis_status status = fill(&t, lacis_buffer_data(lacis_array_part_buffer(*out, "values", NULL)));
    if (status == LACIS_OK) return LACIS_OK;
    lacis_array_release(*out);
    *out = NULL;
    return status;
}

/* --- saving --------------------------------------------------------------------------------------- */

static lacis_status check(lacis_run *run, const lacis_array *array, const lacis_symmetric *a)
{
    if (lacis_npy_type_of(a->dtype) == NULL)
        return lacis_run_fail(run, LACIS_TYPE, "npy has no type for %s; save it as mtx", lacis_dtype_name(a->dtype));
    if (a->order != NULL)
        return lacis_run_fail(run, LACIS_TYPE,
                              "npy holds matrices of one size, and these are of several; save them as "
                              "csv");
    if (lacis_array_base(array, 0) != 0)
        lacis_run_note(run, LACIS_WARNING,
                       "npy counts from 0: that rows begin at %lld is not in the file; csv keeps it",
                       (long long)lacis_array_base(array, 0));
    return LACIS_OK;
}

static void put_row(lacis_writer *w, const lacis_symmetric *a, int64_t matrix, int64_t i)
{
    for (int64_t j = 0; j < a->n; j++) {
        double word[4], element[4];
        lacis_dense_element(a, matrix, i, j, word);
        lacis_dense_put(element, a->dtype, 0, word);
        lacis_writer_bytes(w, element, lacis_dtype_size(a->dtype));
    }
}

lacis_status lacis_npy_save_matrix(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_symmetric a;
    lacis_writer *w;
    char descr[16], shape[80];
    LACIS_TRY(lacis_symmetric_view(run, array, &a));
    LACIS_TRY(check(run, array, &a));
    snprintf(descr, sizeof descr, "'%s'", lacis_npy_type_of(a.dtype)->code);
    if (a.matrices == 1)
        snprintf(shape, sizeof shape, "%lld, %lld", (long long)a.n, (long long)a.n);
    else
        snprintf(shape, sizeof shape, "%lld, %lld, %lld", (long long)a.matrices, (long long)a.n, (long long)a.n);
    LACIS_TRY(lacis_run_alloc(run, sizeof *w, &w));
    lacis_npy_write_head(file, descr, false, shape, NULL);
    lacis_writer_begin(w, run, file);
    bool stop = false;
    for (int64_t m = 0; m < a.matrices && !stop; m++)
        for (int64_t i = 0; i < a.n && !stop; i++) {
            put_row(w, &a, m, i);
            stop = lacis_writer_stop(w, m * a.n + i, a.matrices * a.n);
        }
    lacis_status status = lacis_writer_end(w);
    lacis_run_free(run, w);
    return status;
}
