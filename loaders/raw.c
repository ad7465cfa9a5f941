/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids as bare numbers without a head, x fastest, field behind field: what most simulations write. LOAD is told the
 * shape; SAVE writes the grid's own type, little-endian. The engine calls it through its descriptor.
 */
#include "common_grid.h"
#include "common_number.h"

#include <string.h>

static const lacis_option_spec options[] = {
    {.name = "shape",
     .form = 's',
     .required = true,
     .help = "cells along x, y, z: '1024x768', as far as there are dimensions"},
    {.name = "type",
     .form = 'w',
     .words = "f32|f64|u8|i8|u16|i16|u32|i32|i64",
     .required = true,
     .help = "of the numbers in the file"},
    {.name = "endian", .form = 'w', .words = "little|big", .otherwise = "little", .help = "the order of their bytes"},
    {.name = "skip", .form = 'i', .otherwise = "0", .help = "bytes before the first of them"},
    {.name = "fields", .form = 's', .help = "'u,v': several fields, one behind the other"},
    {.name = "to",
     .form = 'w',
     .words = LACIS_GRID_TYPES,
     .help = "type of the grid; by default what holds them all"},
};

typedef struct number_type {
    lacis_dtype storage;
    int narrow; /* as in lacis_grid_numbers */
} number_type;

/* In the order of the words of option type. */
static const number_type types[] = {{LACIS_F32, 0}, {LACIS_F64, 0}, {LACIS_U8, 0},  {LACIS_I32, 1}, {LACIS_U16, 0},
                                    {LACIS_I32, 2}, {LACIS_U32, 0}, {LACIS_I32, 0}, {LACIS_I64, 0}};

/* "1024x768", also with blanks or commas between. */
static lacis_status read_shape(lacis_run *run, const lacis_options *given, lacis_grid *shape)
{
    const char *text = lacis_option_text(given, "shape");
    int64_t offset = lacis_option_offset(given, "shape");
    shape->dims = 0;
    for (const char *p = text + strspn(text, " "); *p != '\0';) {
        const char *end = p + strspn(p, "0123456789");
        if (shape->dims == 3 || !lacis_number_integer(p, end, &shape->extent[shape->dims]))
            return lacis_run_fail_at(run, LACIS_RANGE, offset,
                                     "shape = '1024x768' is 1024 cells along x, 768 along y",
                                     "shape takes one to three numbers of cells, not \"%s\"", text);
        shape->dims++;
        p = end + strspn(end, " xX*,");
    }
    if (shape->dims > 0) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, offset, NULL, "shape is empty");
}

/* The file must hold these cells and no more. */
static lacis_status check_size(lacis_run *run, const lacis_source *source, const lacis_grid *shape, size_t each,
                               int64_t skip)
{
    uint64_t need = (uint64_t)shape->fields * each, left = source->size;
    for (int i = 0; i < shape->dims; i++)
        if (__builtin_mul_overflow(need, (uint64_t)shape->extent[i], &need)) need = UINT64_MAX;
    if (skip >= 0 && (uint64_t)skip <= left) {
        left -= (uint64_t)skip;
        if (need == left) return LACIS_OK;
    }
    return lacis_run_fail(
        run, LACIS_FORMAT,
        "%s: %llu bytes behind the first %lld do not make this shape, which takes %llu; mend shape, "
        "type, fields or skip",
        source->path, (unsigned long long)left, (long long)skip, (unsigned long long)need);
}

static lacis_status load(lacis_run *run, const lacis_source *source, const lacis_options *given, lacis_array **out)
{
    lacis_grid shape = {.extent = {1, 1, 1}, .fields = 1, .name = {"value"}};
    lacis_grid_maker maker;
    const number_type *type = &types[lacis_option_integer(given, "type", 0)];
    size_t each = type->narrow != 0 ? (size_t)type->narrow : lacis_dtype_size(type->storage);
    int64_t skip = lacis_option_integer(given, "skip", 0);
    const char *names = lacis_option_text(given, "fields");
    const lacis_option_value *to = lacis_option_set(given, "to");
    LACIS_TRY(read_shape(run, given, &shape));
    if (names != NULL) LACIS_TRY(lacis_grid_names(run, names, lacis_option_offset(given, "fields"), &shape));
    shape.dtype = to != NULL ? (to->integer == 0 ? LACIS_F32 : LACIS_F64)
                             : (type->narrow != 0 ? LACIS_F32 : lacis_grid_type_for(type->storage));
    LACIS_TRY(check_size(run, source, &shape, each, skip));
    LACIS_TRY(lacis_grid_begin(run, source->path, &shape, &maker));
    lacis_grid_numbers numbers = {
        .storage = type->storage, .narrow = type->narrow, .swap = lacis_option_integer(given, "endian", 0) != 0};
    lacis_grid_strides(&maker.grid, each, numbers.stride);
    lacis_status status = LACIS_OK;
    for (int i = 0; i < shape.fields && status == LACIS_OK; i++) {
        numbers.data = source->data + skip + (int64_t)each * maker.grid.cells * i;
        status = lacis_grid_take(&maker, i, &numbers);
    }
    return lacis_grid_end(&maker, status, out);
}

static lacis_status save(lacis_run *run, const lacis_array *array, FILE *file)
{
    lacis_grid grid;
    lacis_writer *w;
    if (lacis_array_kind(array) != LACIS_GRID)
        return lacis_run_fail(run, LACIS_TYPE, "raw holds grids; npy has vectors and batches with their shape");
    LACIS_TRY(lacis_grid_view(run, array, &grid));
    LACIS_TRY(lacis_run_alloc(run, sizeof *w, &w));
    lacis_writer_begin(w, run, file);
    lacis_grid_write(w, &grid, false);
    lacis_status status = lacis_writer_end(w);
    lacis_run_free(run, w);
    return status;
}

static const lacis_holding holdings[] = {{.kind = LACIS_GRID}};

const lacis_loader lacis_loader_raw = {
    .name = "raw",
    .summary = "grids as bare numbers, x fastest, field behind field",
    .extensions = ".raw",
    .options = options,
    .option_count = LACIS_COUNT(options),
    .load = load,
    .save = save,
    .holds = holdings,
    .holdings = LACIS_COUNT(holdings),
};
