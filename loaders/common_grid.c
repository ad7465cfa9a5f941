/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids in the making; see common_grid.h.
 */
#include "common_grid.h"

#include <string.h>
#include <strings.h>

enum {
    BLOCK = 1 << 15, /* cells of a task */
    STRIP = 512      /* numbers at a time */
};

/* ------------------------------------------------------------------------------------------ shapes */

static const char axis[] = "xyz";

static lacis_status count_cells(lacis_run *run, const char *what, const lacis_grid *shape, int64_t *cells)
{
    int64_t bytes;
    *cells = 1;
    for (int i = 0; i < shape->dims; i++) {
        if (shape->extent[i] < 1)
            return lacis_run_fail(run, LACIS_RANGE, "%s: a grid has cells, and this one has %lld along %c", what,
                                  (long long)shape->extent[i], axis[i]);
        if (__builtin_mul_overflow(*cells, shape->extent[i], cells)) *cells = INT64_MAX;
    }
    if (!__builtin_mul_overflow(*cells, (int64_t)(shape->fields * (int)lacis_dtype_size(shape->dtype)), &bytes))
        return LACIS_OK;
    return lacis_run_fail(run, LACIS_RANGE, "%s: a grid of more cells than can be counted", what);
}

lacis_status lacis_grid_begin(lacis_run *run, const char *what, const lacis_grid *shape, lacis_grid_maker *out)
{
    lacis_grid like = *shape;
    LACIS_TRY(count_cells(run, what, shape, &like.cells));
    for (int i = shape->dims; i < 3; i++)
        like.extent[i] = 1;
    double need = (double)like.cells * like.fields * (double)lacis_dtype_size(like.dtype);
    double left = (double)lacis_run_memory_left(run);
    if (need > left)
        return lacis_run_fail(run, LACIS_LIMIT,
                              "%s: a grid of %.4g cells would need %.4g MB, and memory_limit leaves %.4g MB; make it "
                              "smaller, take type = 'f32', or raise memory_limit",
                              what, (double)like.cells, need / 1e6, left / 1e6);
    *out = (lacis_grid_maker){.run = run};
    return lacis_grid_new(run, &like, &out->array, &out->grid);
}

lacis_status lacis_grid_end(lacis_grid_maker *maker, lacis_status status, lacis_array **out)
{
    if (status == LACIS_OK)
        *out = maker->array;
    else
        lacis_array_release(maker->array);
    return status;
}

/* ------------------------------------------------------------------------------------------- names */

const char *lacis_grid_name_fault(const char *from, const char *to)
{
    static const char *const taken[] = {"x", "y", "z", "t", "shape", "step"};
    size_t length = (size_t)(to - from);
    if (length == 0) return "is empty";
    if (length >= LACIS_GRID_NAME) return "is too long";
    for (int i = 0; i < LACIS_COUNT(taken); i++)
        if (strlen(taken[i]) == length && strncasecmp(from, taken[i], length) == 0) return "means something else";
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)from[i];
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z', digit = c >= '0' && c <= '9';
        if (!letter && c != '_' && c < 128 && (i == 0 || !digit)) return "is not a plain name";
    }
    return NULL;
}

static lacis_status add_name(lacis_run *run, const char *from, size_t length, int64_t offset, lacis_grid *shape)
{
    const char *fault = lacis_grid_name_fault(from, from + length);
    for (int i = 0; i < shape->fields && fault == NULL; i++)
        if (strlen(shape->name[i]) == length && strncasecmp(shape->name[i], from, length) == 0)
            fault = "is there twice";
    if (fault != NULL)
        return lacis_run_fail_at(run, LACIS_RANGE, offset, NULL, "a field's name, '%.*s', %s", (int)length, from,
                                 fault);
    if (shape->fields == LACIS_GRID_FIELDS)
        return lacis_run_fail_at(run, LACIS_RANGE, offset, NULL, "a grid has at most %d fields", LACIS_GRID_FIELDS);
    const char *name = lacis_run_text(run, "%.*s", (int)length, from);
    if (name == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
    shape->name[shape->fields++] = name;
    return LACIS_OK;
}

lacis_status lacis_grid_names(lacis_run *run, const char *text, int64_t offset, lacis_grid *shape)
{
    shape->fields = 0;
    for (const char *p = text; *(p += strspn(p, ", ")) != '\0';) {
        size_t length = strcspn(p, ", ");
        LACIS_TRY(add_name(run, p, length, offset, shape));
        p += length;
    }
    if (shape->fields > 0) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, offset, NULL, "no field is named");
}

/* ------------------------------------------------------------------------------------------- cells */

typedef struct parts {
    lacis_grid_part_fn fn;
    void *context;
    int64_t cells;
} parts;

static lacis_status one_part(void *context, int64_t task, int worker)
{
    (void)worker;
    const parts *p = context;
    p->fn(p->context, task * BLOCK, p->cells - task * BLOCK < BLOCK ? p->cells : (task + 1) * BLOCK);
    return LACIS_OK;
}

lacis_status lacis_grid_parts(lacis_run *run, int64_t cells, lacis_grid_part_fn fn, void *context)
{
    parts p = {fn, context, cells};
    return lacis_run_parallel(run, cells / BLOCK + (cells % BLOCK != 0), one_part, &p);
}

void lacis_grid_strides(const lacis_grid *grid, size_t each, int64_t *stride)
{
    stride[0] = (int64_t)each;
    stride[1] = stride[0] * grid->extent[0];
    stride[2] = stride[1] * grid->extent[1];
}

typedef struct taking {
    const lacis_grid_maker *maker;
    const lacis_grid_numbers *numbers;
    int field;
} taking;

/* Bytes of a number as it stands in the file. */
static size_t bytes_of(const lacis_grid_numbers *numbers)
{
    return numbers->narrow != 0 ? (size_t)numbers->narrow : lacis_dtype_size(numbers->storage);
}

/* Numbers as they came, at aligned places. */
typedef union strip {
    int8_t i8[STRIP];
    int16_t i16[STRIP];
    int32_t i32[STRIP];
    uint16_t u16[STRIP];
    uint32_t u32[STRIP];
    uint64_t u64[STRIP];
} strip;

static void swap_all(strip *words, size_t size, int64_t count)
{
    for (int64_t i = 0; size == 2 && i < count; i++)
        words->u16[i] = __builtin_bswap16(words->u16[i]);
    for (int64_t i = 0; size == 4 && i < count; i++)
        words->u32[i] = __builtin_bswap32(words->u32[i]);
    for (int64_t i = 0; size == 8 && i < count; i++)
        words->u64[i] = __builtin_bswap64(words->u64[i]);
}

static void widen(strip *words, int narrow, int64_t count)
{
    strip wide;
    for (int64_t i = 0; i < count; i++)
        wide.i32[i] = narrow == 1 ? words->i8[i] : words->i16[i];
    memcpy(words->i32, wide.i32, (size_t)count * sizeof wide.i32[0]);
}

/* At most STRIP numbers, `step` bytes apart. */
static void take_strip(const taking *t, const char *from, int64_t step, int64_t first, int64_t count)
{
    strip words;
    double scaled[STRIP];
    const lacis_grid_numbers *n = t->numbers;
    size_t size = bytes_of(n), out = lacis_dtype_size(t->maker->grid.dtype);
    if (step == (int64_t)size)
        memcpy(&words, from, size * (size_t)count);
    else
        for (int64_t i = 0; i < count; i++)
            memcpy((char *)&words + size * (size_t)i, from + step * i, size);
    if (n->swap) swap_all(&words, size, count);
    if (n->narrow != 0) widen(&words, n->narrow, count);
    void *to = (char *)lacis_grid_maker_cells(t->maker, t->field) + out * (size_t)first;
    if (n->most > 0) {
        lacis_values_convert(&words, n->storage, 0, count, scaled, LACIS_F64);
        for (int64_t i = 0; i < count; i++)
            scaled[i] = lacis_grid_scale(n, scaled[i]);
        lacis_values_convert(scaled, LACIS_F64, 0, count, to, t->maker->grid.dtype);
    } else {
        lacis_values_convert(&words, n->storage, 0, count, to, t->maker->grid.dtype);
    }
}

static void take_part(void *context, int64_t first, int64_t end)
{
    const taking *t = context;
    const int64_t *extent = t->maker->grid.extent, *stride = t->numbers->stride;
    for (int64_t i = first, count; i < end; i += count) {
        int64_t x = i % extent[0], row = i / extent[0], y = row % extent[1], z = row / extent[1];
        count = extent[0] - x < end - i ? extent[0] - x : end - i;
        if (count > STRIP) count = STRIP;
        take_strip(t, t->numbers->data + x * stride[0] + y * stride[1] + z * stride[2], stride[0], i, count);
    }
}

lacis_status lacis_grid_take(const lacis_grid_maker *maker, int field, const lacis_grid_numbers *numbers)
{
    taking t = {maker, numbers, field};
    return lacis_grid_parts(maker->run, maker->grid.cells, take_part, &t);
}

/* ------------------------------------------------------------------------------------------ saving */

static void write_field(lacis_writer *w, const lacis_grid *grid, int field)
{
    enum { PIECE = 1 << 18 };
    size_t size = lacis_dtype_size(grid->dtype);
    lacis_writer_flush(w);
    for (int64_t i = 0; i < grid->cells; i += PIECE) {
        int64_t count = grid->cells - i < PIECE ? grid->cells - i : PIECE;
        if (lacis_writer_stop(w, field * grid->cells + i, grid->fields * grid->cells)) return;
        (void)fwrite((const char *)grid->field[field] + (size_t)i * size, size, (size_t)count, w->file);
    }
}

void lacis_grid_write(lacis_writer *w, const lacis_grid *grid, bool interleave)
{
    size_t size = lacis_dtype_size(grid->dtype);
    for (int f = 0; f < grid->fields && (!interleave || grid->fields == 1); f++)
        write_field(w, grid, f);
    for (int64_t i = 0; i < grid->cells && interleave && grid->fields > 1; i++) {
        if ((i & 0xffff) == 0 && lacis_writer_stop(w, i, grid->cells)) return;
        for (int f = 0; f < grid->fields; f++)
            lacis_writer_bytes(w, (const char *)grid->field[f] + (size_t)i * size, size);
    }
}
