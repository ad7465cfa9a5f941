/* SPDX-License-Identifier: Apache-2.0
 *
 * NumPy's .npy (format 1.0 and 2.0), little-endian, one dimension: vectors. Two dimensions are batches of systems,
 * lanes x rows, which common_npy.c reads and writes, or dense symmetric matrices (common_npy_matrix.c); one dimension
 * of records with the names of bodies' columns is bodies (common_npy_bodies.c); three dimensions, and what lacis has
 * saved of them, are grids (common_npy_grid.c). The engine calls it through its
 * descriptor. Layout: "\x93NUMPY", version (2 bytes), length of the head (2 or 4 bytes), the
 * head as a Python dictionary, data.
 */
#include "common_npy.h"
#include "common_options.h"

#include <string.h>

static const lacis_option_spec options[] = {
    {.name = "matrix",
     .form = 'w',
     .words = "symmetric|hermitian",
     .help = "n x n is a dense matrix, m x n x n a batch of them; without it two dimensions are lanes x rows"},
    {.name = "uplo",
     .form = 'w',
     .words = "lower|upper",
     .help = "the triangle of the matrix that is taken; by default both are, and must agree"},
};

/* ------------------------------------------------------------------------------------------ loading */

static lacis_status refuse(lacis_run *run, const lacis_source *source, const char *cause)
{
    return lacis_run_fail(run, LACIS_FORMAT, "%s: %s", source->path, cause);
}

/* "(5,)": the 5; -1 where there is not one dimension. */
static int64_t shape_of(const lacis_npy_head *h)
{
    const char *p = lacis_npy_value(h, "'shape'");
    int64_t count = 0;
    if (*p++ != '(') return -1;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (__builtin_mul_overflow(count, (int64_t)10, &count) ||
            __builtin_add_overflow(count, (int64_t)(*p - '0'), &count))
            return -1;
    }
    return p[0] == ',' && p[1 + strspn(p + 1, " ")] == ')' ? count : -1;
}

static lacis_status make_vector(lacis_run *run, const char *data, int64_t count, const lacis_npy_type *type,
                                lacis_array **out)
{
    lacis_buffer *buffer;
    lacis_array *array;
    uint64_t bytes = (uint64_t)count * lacis_dtype_size(type->storage);
    LACIS_TRY(lacis_buffer_new(run, bytes, &buffer));
    if (bytes > 0) memcpy(lacis_buffer_data(buffer), data, bytes);
    lacis_status status = lacis_array_new(run, LACIS_VECTOR, type->dtype, count, 0, &array);
    if (status == LACIS_OK) {
        status = lacis_array_add(run, array, "values", type->storage, count, buffer, 0);
        if (status == LACIS_OK)
            *out = array;
        else
            lacis_array_release(array);
    }
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status load_head(lacis_run *run, const lacis_source *source, lacis_npy_head *h,
                              const lacis_options *given, lacis_array **out)
{
    LACIS_TRY(lacis_npy_read_head(run, source, h));
    bool matrix = lacis_option_set(given, "matrix") != NULL;
    if (!matrix && lacis_option_set(given, "uplo") != NULL)
        return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "uplo"), NULL,
                                 "uplo is a triangle of a matrix: say matrix = 'symmetric' or 'hermitian' as well");
    if (matrix) return lacis_npy_load_matrix(run, source, h, given, out);
    if (lacis_npy_is_grid(h)) return lacis_npy_take_grid(run, source, h, given, out);
    if (lacis_npy_is_bodies(h)) return lacis_npy_take_bodies(run, source, h, given, out);
    if (lacis_npy_is_batch(h)) return lacis_npy_load_batch(run, source, h, out);
    const lacis_npy_type *type = lacis_npy_type_at(lacis_npy_value(h, "'descr'"));
    int64_t count = shape_of(h);
    if (type == NULL)
        return refuse(run, source,
                      "its type is none of f4, f8, i4, i8, u1, u2, u4, b1, c8, c16 (little-endian); convert "
                      "it with astype");
    if (count < 0)
        return refuse(run, source,
                      "it has neither one dimension (a vector) nor two (lanes x rows) nor three (a grid); save "
                      "matrices as mtx (scipy.io.mmwrite)");
    size_t size = lacis_dtype_size(type->storage), left = source->size - h->end;
    if ((uint64_t)count > left / size) return refuse(run, source, "the file ends before its data; fetch it again");
    if ((uint64_t)count * size < left) return refuse(run, source, "bytes follow its data; fetch it again");
    return make_vector(run, source->data + h->end, count, type, out);
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    lacis_npy_head *h;
    LACIS_TRY(lacis_run_alloc(run, sizeof *h, &h));
    lacis_status status = load_head(run, source, h, given, out);
    lacis_run_free(run, h);
    return status;
}

static int sniff(const lacis_source *source)
{
    return lacis_npy_is(source) ? 100 : 0;
}

/* ------------------------------------------------------------------------------------------- saving */

/* The one column of numbers that an array is. */
static lacis_status find_column(lacis_run *run, const lacis_array *array, lacis_part *part)
{
    if (lacis_array_kind(array) == LACIS_CSR)
        return lacis_run_fail(run, LACIS_TYPE,
                              "npy holds vectors, not graphs; save as mtx (scipy.io.mmread reads it)");
    if (lacis_array_kind(array) == LACIS_TABLE) {
        if (lacis_array_part_count(array) != 1)
            return lacis_run_fail(run, LACIS_TYPE, "npy holds one column, the table has %d; save it as csv",
                                  lacis_array_part_count(array));
        return lacis_array_part(array, 0, part);
    }
    const lacis_part *values = lacis_array_part_named(array, "values");
    if (values == NULL || lacis_array_part_named(array, "index") != NULL)
        return lacis_run_fail(run, LACIS_TYPE, "npy has no indices, and this vector does; save it as csv");
    if (lacis_array_base(array, 0) != 0)
        lacis_run_note(run, LACIS_WARNING,
                       "npy counts from 0: that this vector begins at %lld is not in the file; csv keeps it",
                       (long long)lacis_array_base(array, 0));
    *part = *values;
    return LACIS_OK;
}

static lacis_status save(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_part part;
    if (lacis_array_kind(array) == LACIS_BODIES) return lacis_npy_save_bodies(run, array, file);
    if (lacis_array_kind(array) == LACIS_GRID) return lacis_npy_save_grid(run, array, file);
    if (lacis_array_kind(array) == LACIS_SYMMETRIC) return lacis_npy_save_matrix(run, array, file);
    if (lacis_array_kind(array) == LACIS_INTERLEAVED) return lacis_npy_save_batch(run, array, file);
    LACIS_TRY(find_column(run, array, &part));
    const lacis_npy_type *type = lacis_npy_type_of(part.dtype);
    if (type == NULL) return lacis_run_fail(run, LACIS_TYPE, "npy has no type for %s", lacis_dtype_name(part.dtype));
    char descr[16], shape[32];
    snprintf(descr, sizeof descr, "'%s'", type->code);
    snprintf(shape, sizeof shape, "%lld,", (long long)part.count);
    lacis_npy_write_head(file, descr, false, shape, NULL);
    fwrite(part.data, lacis_dtype_size(part.dtype), (size_t)part.count, file);
    return LACIS_OK;
}

static const lacis_holding holdings[] = {
    {.kind = LACIS_VECTOR, /* without indices */
     .types = LACIS_TYPES_WHOLE | LACIS_TYPES_REAL | LACIS_TYPES_COMPLEX,
     .some = true},
    {.kind = LACIS_TABLE, .fields = 1},
    {.kind = LACIS_INTERLEAVED},
    {.kind = LACIS_SYMMETRIC, .types = LACIS_TYPES_REAL | LACIS_TYPES_COMPLEX},
    {.kind = LACIS_BODIES},
    {.kind = LACIS_GRID, .fault = lacis_npy_name_fault},
};

const lacis_loader lacis_loader_npy = {
    .name = "npy",
    .summary = "NumPy arrays: vectors, lanes x rows of batches, symmetric matrices, records of bodies, grids",
    .extensions = ".npy",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .sniff = sniff,
    .load = load,
    .save = save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
};
