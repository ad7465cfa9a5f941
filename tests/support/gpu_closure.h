/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of a pretended GPU for POWER, in host memory and by plain loops: products (kernels/multiply/gpu.h) and
 * closures (gpu_closure.h), for values that doubles hold. They take their blocks from the job's memory, as the real
 * ones do.
 */
#ifndef LACIS_TESTS_GPU_CLOSURE_H
#define LACIS_TESTS_GPU_CLOSURE_H

#include "multiply/gpu_closure.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>

static int fake_cuda_error; /* not 0: the next product or round fails with it */

static inline lacis_mul_storage fake_storage(lacis_mul_type type)
{
    const lacis_mul_storage storage[] = {LACIS_MUL_TO_I32, LACIS_MUL_TO_I64, LACIS_MUL_TO_F32, LACIS_MUL_TO_F64};
    return storage[type];
}

static inline size_t fake_bytes(lacis_mul_storage storage)
{
    const size_t bytes[] = {1, 2, 4, 4, 8, 4, 8};
    return bytes[storage];
}

static inline double fake_get(const void *from, lacis_mul_storage storage, int64_t i)
{
    if (from == NULL) return 1;
    switch (storage) {
    case LACIS_MUL_TO_U8:
        return ((const uint8_t *)from)[i];
    case LACIS_MUL_TO_U16:
        return ((const uint16_t *)from)[i];
    case LACIS_MUL_TO_U32:
        return ((const uint32_t *)from)[i];
    case LACIS_MUL_TO_I32:
        return ((const int32_t *)from)[i];
    case LACIS_MUL_TO_I64:
        return (double)((const int64_t *)from)[i];
    case LACIS_MUL_TO_F32:
        return (double)((const float *)from)[i];
    default:
        return ((const double *)from)[i];
    }
}

static inline void fake_set(void *to, lacis_mul_storage storage, uint64_t i, double v)
{
    switch (storage) {
    case LACIS_MUL_TO_U8:
        ((uint8_t *)to)[i] = (uint8_t)v;
        break;
    case LACIS_MUL_TO_U16:
        ((uint16_t *)to)[i] = (uint16_t)v;
        break;
    case LACIS_MUL_TO_U32:
        ((uint32_t *)to)[i] = (uint32_t)v;
        break;
    case LACIS_MUL_TO_I32:
        ((int32_t *)to)[i] = (int32_t)v;
        break;
    case LACIS_MUL_TO_I64:
        ((int64_t *)to)[i] = (int64_t)v;
        break;
    case LACIS_MUL_TO_F32:
        ((float *)to)[i] = (float)v;
        break;
    default:
        ((double *)to)[i] = v;
        break;
    }
}

static inline double fake_con(lacis_mul_con con, double a, double b)
{
    return con == LACIS_MUL_CON_A     ? a
           : con == LACIS_MUL_CON_B   ? b
           : con == LACIS_MUL_CON_ADD ? a + b
           : con == LACIS_MUL_CON_MUL ? a * b
                                      : 1;
}

static inline double fake_fold(lacis_mul_agg agg, double n, double x, double v)
{
    if (n == 0) return v;
    switch (agg) {
    case LACIS_MUL_SUM:
    case LACIS_MUL_AVG:
        return x + v;
    case LACIS_MUL_MIN:
        return v < x ? v : x;
    case LACIS_MUL_MAX:
        return v > x ? v : x;
    case LACIS_MUL_LAST:
        return v;
    default:
        return x;
    }
}

static inline bool fake_fails_now(int *cuda_error)
{
    *cuda_error = fake_cuda_error;
    fake_cuda_error = 0;
    return *cuda_error != 0;
}

/* --- products ---------------------------------------------------------------------------------------- */

/* What a test's written CON and AGG say; and whether their source is compiled as well, one kernel of it. */
static struct {
    double (*con)(double a, double b, int64_t s, int64_t c, int64_t t);
    double (*fold)(double x, double y), identity;
    bool compiled;
} fake_written;

static inline int64_t fake_label(const lacis_mul_gpu_job *job, int which, int64_t index)
{
    return job->label[which] != NULL ? job->label[which][index] : index;
}

static inline double fake_value(const lacis_mul_gpu_job *job, int64_t row, int64_t c, uint32_t t, double a, double b)
{
    if (job->con_kind != LACIS_MUL_CON_STRIPS) return fake_con(job->con_kind, a, b);
    return fake_written.con(a, b, fake_label(job, 0, row), fake_label(job, 1, c), fake_label(job, 2, t));
}

static inline void fake_row(const lacis_mul_gpu_job *job, int64_t row, double *n, double *x, uint64_t *products)
{
    lacis_mul_storage a = fake_storage(job->a.type), b = fake_storage(job->b.type);
    for (int64_t i = job->a.begin[row]; i < job->a.end[row]; i++)
        for (int64_t c = job->a.column[i], j = job->b.begin[c]; j < job->b.end[c]; j++, ++*products) {
            uint32_t t = job->b.column[j];
            double v = fake_value(job, row, c, t, fake_get(job->a.value, a, i), fake_get(job->b.value, b, j));
            if (job->agg == LACIS_MUL_FOLD)
                x[t] = fake_written.fold(n[t] == 0 ? fake_written.identity : x[t], v);
            else
                x[t] = fake_fold(job->agg, n[t], x[t], v);
            n[t]++;
        }
}

static inline lacis_mul_gpu_status fake_product(const lacis_mul_gpu_job *job, const int64_t *rows, int64_t first,
                                                int64_t count, lacis_mul_gpu_output *out)
{
    assert_null(rows);
    assert_non_null(job->stream);
    if (fake_fails_now(&out->cuda_error)) return LACIS_MUL_GPU_FAILED;
    const uint32_t ordered = 1U << 4; /* lacis_ordered */
    if (job->written != NULL && fake_written.compiled) assert_true(job->written->compile(job->written, ordered));
    uint64_t cols = (uint64_t)job->b.cols, room = (uint64_t)count * cols;
    out->column = job->memory.alloc(job->memory.context, 4 * room);
    out->value = job->memory.alloc(job->memory.context, fake_bytes(job->storage) * room);
    if (out->column == NULL || out->value == NULL) {
        if (out->column != NULL) job->memory.free(job->memory.context, out->column);
        if (out->value != NULL) job->memory.free(job->memory.context, out->value);
        out->column = out->value = NULL;
        return LACIS_MUL_GPU_NO_MEMORY;
    }
    double *n = malloc(2 * sizeof *n * (cols + 1)), *x = n + cols;
    out->room = room;
    for (int64_t r = first; r < first + count; r++) {
        for (uint64_t t = 0; t < cols; t++)
            n[t] = 0;
        fake_row(job, r, n, x, &out->products);
        out->begin[r] = (int64_t)out->entries;
        for (uint64_t t = 0; t < cols; t++) {
            if (n[t] == 0) continue;
            double v = job->agg == LACIS_MUL_COUNT ? n[t] : job->agg == LACIS_MUL_AVG ? x[t] / n[t] : x[t];
            out->column[out->entries] = (uint32_t)t;
            fake_set(out->value, job->storage, out->entries++, v);
        }
        out->end[r] = (int64_t)out->entries;
    }
    free(n);
    return LACIS_MUL_GPU_OK;
}

static inline lacis_mul_gpu_status fake_rows_look(const lacis_mul_matrix *rows, const lacis_mul_gpu_memory *memory,
                                                  void *stream, lacis_mul_gpu_facts *out)
{
    (void)memory, (void)stream;
    *out = (lacis_mul_gpu_facts){.finite = true};
    if (fake_fails_now(&out->cuda_error)) return LACIS_MUL_GPU_FAILED;
    for (int64_t r = 0; r < rows->rows; r++) {
        uint64_t n = (uint64_t)(rows->end[r] - rows->begin[r]);
        out->entries += n;
        if (n > out->degree) out->degree = n;
        for (int64_t i = rows->begin[r]; i < rows->end[r]; i++) {
            double v = fabs(fake_get(rows->value, fake_storage(rows->type), i));
            if (!isfinite(v)) out->finite = false;
            if (isfinite(v) && v > (double)out->most) out->most = (uint64_t)v;
        }
    }
    return LACIS_MUL_GPU_OK;
}

static inline int fake_convert(const void *from, lacis_mul_storage from_type, uint64_t count, void *to,
                               lacis_mul_storage to_type, void *stream)
{
    (void)stream;
    for (uint64_t i = 0; i < count; i++)
        fake_set(to, to_type, i, fake_get(from, from_type, (int64_t)i));
    return 0;
}

/* --- closures ------------------------------------------------------------------------------------------ */

typedef struct fake_cell {
    double value;
    bool there, changed;
} fake_cell;

static int fake_pushes, fake_rows_taken;

static inline fake_cell *fake_cells(const lacis_mul_gpu_closure *c)
{
    return (fake_cell *)c->block;
}

static inline uint64_t fake_row_bytes(int64_t cols, lacis_mul_type type)
{
    (void)type;
    return (uint64_t)cols * sizeof(fake_cell);
}

static inline lacis_mul_gpu_status fake_begin(lacis_mul_gpu_closure *c)
{
    uint64_t bytes = (uint64_t)(c->rows * c->a.cols) * sizeof(fake_cell);
    c->block = c->memory.alloc(c->memory.context, bytes);
    if (c->block == NULL) return LACIS_MUL_GPU_NO_MEMORY;
    memset(c->block, 0, bytes);
    return LACIS_MUL_GPU_OK;
}

static inline void fake_end(lacis_mul_gpu_closure *c)
{
    if (c->block != NULL) c->memory.free(c->memory.context, c->block);
    c->block = NULL;
}

static inline void fake_offer_one(lacis_mul_gpu_closure *c, int64_t row, uint32_t t, double v)
{
    fake_cell *cell = &fake_cells(c)[row * c->a.cols + t];
    bool better = c->agg == LACIS_MUL_MIN ? v < cell->value : c->agg == LACIS_MUL_MAX && v > cell->value;
    if (cell->there && !better) return;
    *cell = (fake_cell){v, true, true};
}

static inline lacis_mul_gpu_status fake_offer(lacis_mul_gpu_closure *c, const int64_t *begin, const int64_t *end,
                                              const uint32_t *column, const void *value)
{
    for (int64_t r = 0; r < c->rows; r++)
        for (int64_t i = begin[r]; i < end[r]; i++)
            fake_offer_one(c, r, column[i], fake_get(value, fake_storage(c->type), i));
    return LACIS_MUL_GPU_OK;
}

static inline lacis_mul_gpu_status fake_look(lacis_mul_gpu_closure *c, lacis_mul_gpu_changes *out)
{
    *out = (lacis_mul_gpu_changes){0};
    if (fake_fails_now(&c->cuda_error)) return LACIS_MUL_GPU_FAILED;
    for (int64_t i = 0; i < c->rows * c->a.cols; i++) {
        const fake_cell *cell = &fake_cells(c)[i];
        int64_t t = i % c->a.cols;
        if (!cell->changed) continue;
        out->entries++;
        out->products += (uint64_t)(c->a.end[t] - c->a.begin[t]);
        if (fabs(cell->value) > (double)out->most) out->most = (uint64_t)fabs(cell->value);
    }
    return LACIS_MUL_GPU_OK;
}

/* Cells that changed, or all that are there, as rows one behind the other. */
static inline uint64_t fake_take(lacis_mul_gpu_closure *c, bool all, int64_t *begin, int64_t *end, uint32_t *column,
                                 void *value)
{
    uint64_t n = 0;
    for (int64_t r = 0; r < c->rows; r++) {
        begin[r] = (int64_t)n;
        for (int64_t t = 0; t < c->a.cols; t++) {
            fake_cell *cell = &fake_cells(c)[r * c->a.cols + t];
            if (!(all ? cell->there : cell->changed)) continue;
            column[n] = (uint32_t)t;
            fake_set(value, fake_storage(c->type), n++, cell->value);
            cell->changed = false;
        }
        end[r] = (int64_t)n;
    }
    return n;
}

static inline lacis_mul_gpu_status fake_closure_rows(lacis_mul_gpu_closure *c, const lacis_mul_gpu_changes *changes,
                                                     lacis_mul_matrix *out)
{
    uint64_t rows = 8 * (uint64_t)c->rows, columns = (changes->entries + 1) / 2 * 8;
    char *block = c->memory.alloc(c->memory.context, 2 * rows + columns + 8 * changes->entries);
    if (block == NULL) return LACIS_MUL_GPU_NO_MEMORY;
    int64_t *begin = (int64_t *)block, *end = (int64_t *)(block + rows);
    uint32_t *column = (uint32_t *)(block + 2 * rows);
    void *value = block + 2 * rows + columns;
    fake_rows_taken++;
    fake_take(c, false, begin, end, column, value);
    *out = (lacis_mul_matrix){c->rows, c->a.cols, begin, end, column, value, c->type};
    return LACIS_MUL_GPU_OK;
}

static inline lacis_mul_gpu_status fake_push(lacis_mul_gpu_closure *c, const lacis_mul_gpu_changes *changes)
{
    lacis_mul_matrix delta;
    lacis_mul_gpu_status status = fake_closure_rows(c, changes, &delta);
    if (status != LACIS_MUL_GPU_OK) return status;
    fake_rows_taken--;
    fake_pushes++;
    lacis_mul_storage storage = fake_storage(c->type);
    for (int64_t r = 0; r < c->rows; r++)
        for (int64_t i = delta.begin[r]; i < delta.end[r]; i++)
            for (int64_t v = delta.column[i], j = c->a.begin[v]; j < c->a.end[v]; j++)
                fake_offer_one(c, r, c->a.column[j],
                               fake_con(c->con, fake_get(delta.value, storage, i), fake_get(c->a.value, storage, j)));
    c->memory.free(c->memory.context, (void *)delta.begin);
    return LACIS_MUL_GPU_OK;
}

static inline lacis_mul_gpu_status fake_pushes_of(lacis_mul_gpu_closure *c, int rounds, lacis_mul_gpu_changes *before)
{
    for (int r = 0; r < rounds; r++) {
        lacis_mul_gpu_status status = fake_look(c, &before[r]);
        if (status == LACIS_MUL_GPU_OK) status = fake_push(c, &before[r]);
        if (status != LACIS_MUL_GPU_OK) return status;
    }
    return LACIS_MUL_GPU_OK;
}

static inline lacis_mul_gpu_status fake_result(lacis_mul_gpu_closure *c, int64_t *begin, int64_t *end,
                                               uint32_t **column, void **value, uint64_t *entries)
{
    uint64_t n = 0;
    for (int64_t i = 0; i < c->rows * c->a.cols; i++)
        n += fake_cells(c)[i].there;
    *column = c->memory.alloc(c->memory.context, 4 * n);
    *value = c->memory.alloc(c->memory.context, 8 * n);
    if (*column == NULL || *value == NULL) {
        if (*column != NULL) c->memory.free(c->memory.context, *column);
        if (*value != NULL) c->memory.free(c->memory.context, *value);
        *column = *value = NULL;
        return LACIS_MUL_GPU_NO_MEMORY;
    }
    *entries = fake_take(c, true, begin, end, *column, *value);
    return LACIS_MUL_GPU_OK;
}

#endif
