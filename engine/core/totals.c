/* SPDX-License-Identifier: Apache-2.0
 *
 * Count, sums and bounds of whole arrays, for totals that SQL asks for without any other condition. Blocks of rows
 * are summed in parallel by loops that vectorise and put together in the order of the rows, so results do not depend
 * on the number of threads: integers exactly, in 128 bits; reals in eight interleaved sums a slice. What is not a
 * number is NULL to SQL: counted apart, part of no sum.
 */
#include "core/totals.h"
#include "core/cells.h"
#include "core/grid.h"

#include <math.h>
#include <string.h>
#include <strings.h>

enum { BLOCK = 4096, LANES = 8 };
/* Elements summed in one go: short enough that 64-bit sums of 32-bit elements cannot overflow. */
static const int64_t SLICE = (int64_t)1 << 20;

void lacis_totals_init(lacis_totals *totals)
{
    *totals = (lacis_totals){
        .integer = true,
        .min_int = INT64_MAX,
        .max_int = INT64_MIN,
        .min = INFINITY,
        .max = -INFINITY,
        .min_src = INT64_MAX,
        .max_src = INT64_MIN,
        .min_dst = INT64_MAX,
        .max_dst = INT64_MIN,
    };
}

static inline void widen(int64_t value, int64_t *lo, int64_t *hi)
{
    if (value < *lo) *lo = value;
    if (value > *hi) *hi = value;
}

static void widen_real(lacis_totals *totals, double lo, double hi)
{
    if (lo < totals->min) totals->min = lo;
    if (hi > totals->max) totals->max = hi;
}

static void add_integers(lacis_totals *totals, __int128 sum, int64_t lo, int64_t hi)
{
    totals->exact += sum;
    widen(lo, &totals->min_int, &totals->max_int);
    widen(hi, &totals->min_int, &totals->max_int);
}

/* ----------------------------------------------------------------------------- one slice of values */

#define INTEGER_SLICE(name, type)                                                                                    \
    static void name(const type *value, int64_t count, lacis_totals *totals)                                         \
    {                                                                                                                \
        int64_t sum = 0;                                                                                             \
        type lo = value[0], hi = value[0];                                                                           \
        for (int64_t i = 0; i < count; i++) {                                                                        \
            type v = value[i];                                                                                       \
            sum += v;                                                                                                \
            lo = v < lo ? v : lo;                                                                                    \
            hi = v > hi ? v : hi;                                                                                    \
        }                                                                                                            \
        add_integers(totals, sum, lo, hi);                                                                           \
    }
INTEGER_SLICE(slice_u8, uint8_t)
INTEGER_SLICE(slice_u16, uint16_t)
INTEGER_SLICE(slice_u32, uint32_t)
INTEGER_SLICE(slice_i32, int32_t)

/* 64-bit values in two halves, whose sums cannot overflow within a slice. */
static void slice_i64(const int64_t *value, int64_t count, lacis_totals *totals)
{
    int64_t high = 0, low = 0, lo = value[0], hi = value[0];
    for (int64_t i = 0; i < count; i++) {
        int64_t v = value[i];
        high += v >> 32;
        low += v & 0xffffffff;
        lo = v < lo ? v : lo;
        hi = v > hi ? v : hi;
    }
    add_integers(totals, (__int128)high * ((__int128)1 << 32) + low, lo, hi);
}

typedef struct lanes {
    double sum[LANES], lo[LANES], hi[LANES];
    int64_t nan[LANES];
} lanes;

static void add_lanes(lacis_totals *totals, const lanes *lane)
{
    double sum = 0;
    for (int j = 0; j < LANES; j++) {
        sum += lane->sum[j];
        totals->nan += lane->nan[j];
        widen_real(totals, lane->lo[j], lane->hi[j]);
    }
    totals->sum += sum;
}

/* `stride` numbers an element, of which the first counts. */
#define REAL_STEP(j, v)                                                                                              \
    do {                                                                                                             \
        double step = (double)(v);                                                                                   \
        lane.sum[j] += step == step ? step : 0;                                                                      \
        lane.nan[j] += step != step;                                                                                 \
        lane.lo[j] = step < lane.lo[j] ? step : lane.lo[j];                                                          \
        lane.hi[j] = step > lane.hi[j] ? step : lane.hi[j];                                                          \
    } while (0)
#define REAL_SLICE(name, type, stride)                                                                               \
    static void name(const type *value, int64_t count, lacis_totals *totals)                                         \
    {                                                                                                                \
        lanes lane = {0};                                                                                            \
        for (int j = 0; j < LANES; j++) {                                                                            \
            lane.lo[j] = INFINITY;                                                                                   \
            lane.hi[j] = -INFINITY;                                                                                  \
        }                                                                                                            \
        int64_t i = 0;                                                                                               \
        for (; i + LANES <= count; i += LANES)                                                                       \
            for (int j = 0; j < LANES; j++)                                                                          \
                REAL_STEP(j, value[(i + j) * (stride)]);                                                             \
        for (int j = 0; i < count; i++, j++)                                                                         \
            REAL_STEP(j, value[i * (stride)]);                                                                       \
        add_lanes(totals, &lane);                                                                                    \
    }
REAL_SLICE(slice_f32, float, 1)
REAL_SLICE(slice_f64, double, 1)
REAL_SLICE(slice_c64, float, 2)
REAL_SLICE(slice_pair, double, 2)
REAL_SLICE(slice_cdd, double, 4)

static void add_slice(const void *data, lacis_dtype storage, int64_t first, int64_t count, lacis_totals *totals)
{
    switch (storage) {
    case LACIS_PATTERN:
        add_integers(totals, count, 1, 1);
        break;
    case LACIS_U8:
        slice_u8((const uint8_t *)data + first, count, totals);
        break;
    case LACIS_U16:
        slice_u16((const uint16_t *)data + first, count, totals);
        break;
    case LACIS_U32:
        slice_u32((const uint32_t *)data + first, count, totals);
        break;
    case LACIS_I32:
        slice_i32((const int32_t *)data + first, count, totals);
        break;
    case LACIS_I64:
        slice_i64((const int64_t *)data + first, count, totals);
        break;
    case LACIS_F32:
        slice_f32((const float *)data + first, count, totals);
        break;
    case LACIS_F64:
        slice_f64((const double *)data + first, count, totals);
        break;
    case LACIS_C64:
        slice_c64((const float *)data + 2 * first, count, totals);
        break;
    case LACIS_C128:
    case LACIS_DD:
        slice_pair((const double *)data + 2 * first, count, totals);
        break;
    case LACIS_CDD:
        slice_cdd((const double *)data + 4 * first, count, totals);
        break;
    }
}

void lacis_totals_values(const void *data, lacis_dtype storage, int64_t first, int64_t count, lacis_totals *totals)
{
    totals->count += count;
    for (int64_t done = 0; done < count; done += SLICE)
        add_slice(data, storage, first + done, count - done < SLICE ? count - done : SLICE, totals);
}

/* ---------------------------------------------------------------------------------- labels of entries */

static __int128 sum_indices(const uint32_t *column, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += column[i];
    return sum;
}

/* Labels no larger than 2^42 either way: a slice of them cannot overflow. */
static __int128 sum_small_labels(const int64_t *label, const uint32_t *column, int64_t count)
{
    int64_t even = 0, odd = 0, i = 0;
    for (; i + 2 <= count; i += 2) {
        even += label[column[i]];
        odd += label[column[i + 1]];
    }
    if (i < count) even += label[column[i]];
    return (__int128)even + odd;
}

static __int128 sum_labels(const int64_t *label, const uint32_t *column, int64_t count)
{
    __int128 sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += label[column[i]];
    return sum;
}

static void add_columns(const lacis_csr *csr, bool small, int64_t first, int64_t count, lacis_totals *totals)
{
    for (int64_t done = 0; done < count; done += SLICE) {
        const uint32_t *column = csr->column + first + done;
        int64_t n = count - done < SLICE ? count - done : SLICE;
        if (csr->col_label == NULL) {
            totals->sum_dst += sum_indices(column, n) + (__int128)csr->col_base * n;
        } else {
            totals->sum_dst +=
                small ? sum_small_labels(csr->col_label, column, n) : sum_labels(csr->col_label, column, n);
        }
    }
}

/* ------------------------------------------------------------------------------------------ blocks */

typedef struct job {
    lacis_csr csr;     /* graphs */
    bool small_labels; /* of columns */
    lacis_part value;  /* vectors */
    const int64_t *index;
    int64_t base;
    lacis_totals *block;
    int64_t units; /* rows or elements */
} job;

/* The rows of one block; rows that lie behind one another in memory are summed as one stretch. */
static lacis_status csr_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const job *work = context;
    const lacis_csr *csr = &work->csr;
    lacis_totals *totals = &work->block[task];
    lacis_totals_init(totals);
    int64_t last = (task + 1) * BLOCK < work->units ? (task + 1) * BLOCK : work->units;
    int64_t first = 0, count = 0; /* the stretch so far */
    for (int64_t row = task * BLOCK; row < last; row++) {
        int64_t begin = csr->begin[row], length = csr->end[row] - begin;
        if (length == 0) continue;
        int64_t src = lacis_label(csr->row_label, csr->row_base, row);
        widen(src, &totals->min_src, &totals->max_src);
        totals->sum_src += (__int128)src * length;
        widen(csr->column[begin], &totals->min_dst, &totals->max_dst);
        widen(csr->column[begin + length - 1], &totals->min_dst, &totals->max_dst);
        if (count > 0 && begin == first + count) {
            count += length;
            continue;
        }
        lacis_totals_values(csr->value, csr->storage, first, count, totals);
        add_columns(csr, work->small_labels, first, count, totals);
        first = begin;
        count = length;
    }
    lacis_totals_values(csr->value, csr->storage, first, count, totals);
    add_columns(csr, work->small_labels, first, count, totals);
    if (totals->count > 0) { /* until now indices */
        totals->min_dst = lacis_label(csr->col_label, csr->col_base, totals->min_dst);
        totals->max_dst = lacis_label(csr->col_label, csr->col_base, totals->max_dst);
    }
    return LACIS_OK;
}

static lacis_status vector_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const job *work = context;
    lacis_totals *totals = &work->block[task];
    lacis_totals_init(totals);
    int64_t first = task * BLOCK;
    int64_t last = first + BLOCK < work->units ? first + BLOCK : work->units;
    lacis_totals_values(work->value.data, work->value.dtype, first, last - first, totals);
    for (int64_t i = first; i < last; i++)
        totals->sum_src += lacis_label(work->index, work->base, i);
    totals->min_src = lacis_label(work->index, work->base, first);
    totals->max_src = lacis_label(work->index, work->base, last - 1);
    return LACIS_OK;
}

void lacis_totals_merge(lacis_totals *to, const lacis_totals *from)
{
    to->count += from->count;
    to->nan += from->nan;
    to->exact += from->exact;
    if (from->min_int < to->min_int) to->min_int = from->min_int;
    if (from->max_int > to->max_int) to->max_int = from->max_int;
    to->sum += from->sum;
    widen_real(to, from->min, from->max);
    to->sum_src += from->sum_src;
    to->sum_dst += from->sum_dst;
    if (from->min_src < to->min_src) to->min_src = from->min_src;
    if (from->max_src > to->max_src) to->max_src = from->max_src;
    if (from->min_dst < to->min_dst) to->min_dst = from->min_dst;
    if (from->max_dst > to->max_dst) to->max_dst = from->max_dst;
}

void lacis_totals_settle(lacis_totals *totals, bool integer)
{
    if (!integer) totals->integer = false;
    if (!totals->integer || totals->count == 0) return;
    totals->overflow = totals->exact > INT64_MAX || totals->exact < INT64_MIN;
    totals->sum_int = totals->overflow ? 0 : (int64_t)totals->exact;
    totals->sum = (double)totals->exact;
    totals->min = (double)totals->min_int;
    totals->max = (double)totals->max_int;
}

static lacis_status add_blocks(lacis_run *run, job *work, lacis_task_fn fn, lacis_totals *totals)
{
    int64_t blocks = (work->units + BLOCK - 1) / BLOCK;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)blocks * sizeof *work->block, &work->block));
    lacis_status status = lacis_run_parallel(run, blocks, fn, work);
    for (int64_t i = 0; i < blocks && status == LACIS_OK; i++)
        if (work->block[i].count > 0) lacis_totals_merge(totals, &work->block[i]);
    lacis_run_free(run, work->block);
    return status;
}

static bool labels_small(const int64_t *label, int64_t count)
{
    const int64_t bound = (int64_t)1 << 42;
    return label == NULL || count == 0 || (label[0] >= -bound && label[count - 1] <= bound);
}

static lacis_status add_vector(lacis_run *run, const lacis_array *array, lacis_totals *totals)
{
    const lacis_part *value = lacis_array_part_named(array, "values");
    const lacis_part *index = lacis_array_part_named(array, "index");
    job work = {.base = lacis_array_base(array, 0), .units = lacis_array_entries(array)};
    if (value != NULL) work.value = *value;
    if (index != NULL) work.index = index->data;
    return add_blocks(run, &work, vector_block, totals);
}

static lacis_status add_table(lacis_run *run, const lacis_array *array, lacis_totals *totals, bool *integer)
{
    const lacis_part *value = lacis_table_total(array);
    job work = {.units = lacis_array_entries(array)};
    *integer = value != NULL && value->dtype < LACIS_F32;
    if (value == NULL || lacis_cells_of(value->dtype) != 1) {
        totals->count += work.units;
        return LACIS_OK;
    }
    work.value = *value;
    return add_blocks(run, &work, vector_block, totals);
}

lacis_status lacis_totals_add(lacis_run *run, const lacis_array *array, lacis_totals *totals)
{
    job work = {0};
    bool integer = lacis_array_dtype(array) < LACIS_F32;
    switch (lacis_array_kind(array)) {
    case LACIS_CSR:
        lacis_csr_view(array, &work.csr);
        work.units = work.csr.rows;
        work.small_labels = labels_small(work.csr.col_label, work.csr.cols);
        LACIS_TRY(add_blocks(run, &work, csr_block, totals));
        break;
    case LACIS_VECTOR:
        LACIS_TRY(add_vector(run, array, totals));
        break;
    case LACIS_INTERLEAVED:
        LACIS_TRY(lacis_totals_batch(run, array, totals, &integer));
        break;
    case LACIS_SYMMETRIC:
        LACIS_TRY(lacis_totals_symmetric(run, array, totals));
        break;
    case LACIS_BODIES:
        LACIS_TRY(lacis_totals_bodies(run, array, totals));
        break;
    case LACIS_TABLE:
    case LACIS_GRID:
        LACIS_TRY(add_table(run, array, totals, &integer));
        break;
    }
    lacis_totals_settle(totals, integer);
    return LACIS_OK;
}

/* Values without labels. */
static lacis_status column_block(void *context, int64_t task, int worker)
{
    (void)worker;
    const job *work = context;
    lacis_totals *totals = &work->block[task];
    lacis_totals_init(totals);
    int64_t first = task * BLOCK, count = work->units - first < BLOCK ? work->units - first : BLOCK;
    lacis_totals_values(work->value.data, work->value.dtype, first, count, totals);
    return LACIS_OK;
}

/* Of a coordinate of a grid. */
static void add_axis(const lacis_array *grid, const char *column, lacis_totals *totals)
{
    int64_t extent[3], cells = lacis_grid_cells(grid);
    const int64_t known[2] = {lacis_array_extent(grid, 0), lacis_array_extent(grid, 1)};
    int axis = 0;
    while (axis < 2 && strcasecmp(column, lacis_grid_axis[axis]) != 0)
        axis++;
    lacis_grid_extents(known, cells, lacis_grid_dims(grid), extent);
    totals->count += cells;
    add_integers(totals, (__int128)(cells / extent[axis]) * extent[axis] * (extent[axis] - 1) / 2, 0,
                 extent[axis] - 1);
}

/* The part of that name, in any case; NULL: none. */
static const lacis_part *part_of(const lacis_array *array, const char *name, lacis_part *out)
{
    for (int i = 0; i < lacis_array_part_count(array); i++)
        if (lacis_array_part(array, i, out) == LACIS_OK && strcasecmp(out->name, name) == 0) return out;
    return NULL;
}

lacis_status lacis_totals_column(lacis_run *run, const lacis_array *array, const char *column, lacis_totals *totals)
{
    lacis_part part;
    bool id = strcasecmp(column, "id") == 0;
    if (part_of(array, column, &part) != NULL) {
        job work = {.value = part, .units = part.count};
        LACIS_TRY(add_blocks(run, &work, column_block, totals));
        lacis_totals_settle(totals, part.dtype < LACIS_F32);
    } else if (lacis_array_kind(array) == LACIS_GRID) {
        add_axis(array, column, totals);
        lacis_totals_settle(totals, true);
    } else {
        lacis_totals_partless(array, id, totals);
        lacis_totals_settle(totals, id);
    }
    return LACIS_OK;
}
