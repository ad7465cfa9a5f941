/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of batches of systems; see common_systems.h. Rows are strictly dominant: the diagonal is the sum of the
 * absolute off-diagonals of its row, and between 0.5 and 1.5 more.
 */
#include "common_systems.h"

#include <math.h>
#include <string.h>

typedef enum role { LOWER, UPPER, DIAGONAL, RHS, ROLES } role;
typedef enum sharing { SHARED_NONE, SHARED_OFFDIAGONALS, SHARED_MATRIX } sharing;
enum { PIECE = 64 };
static const int64_t SPACE = (int64_t)1 << 20; /* sums of a piece */

typedef struct field {
    lacis_dtype dtype;
    bool shared;
    void *data;
} field;

typedef struct filling {
    lacis_run *run;
    lacis_batch batch;
    field field[ROLES];
    uint64_t seed;
    bool tree, complex;
    int64_t lanes; /* a task */
} filling;

/* --- numbers --------------------------------------------------------------------------------------- */

typedef struct number {
    double re, im;
} number;

/* What distinguishes a field of a lane; `second` that of imaginary parts. */
static uint64_t key_of(const filling *f, role which, int second, const lacis_batch_group *group, int64_t lane)
{
    int64_t own = f->field[which].shared ? group->lane : group->lane + lane;
    return lacis_mix(f->seed ^ lacis_mix((uint64_t)own * 16 + (uint64_t)which * 2 + (uint64_t)second));
}

static double unit(uint64_t key, int64_t row)
{
    return lacis_unit(lacis_mix(key + (uint64_t)row));
}

/* Keys of one lane. */
typedef struct keys {
    uint64_t re[ROLES], im[ROLES];
} keys;

static number off_diagonal(const filling *f, const keys *k, role which, int64_t row)
{
    if (f->tree) return (number){-unit(k->re[which], row), 0}; /* as conductances stand in cables */
    return (number){2 * unit(k->re[which], row) - 1, f->complex ? 2 * unit(k->im[which], row) - 1 : 0};
}

static double size_of(number x)
{
    return fabs(x.re) + fabs(x.im);
}

static void store(const field *to, int64_t place, number x)
{
    switch (to->dtype) {
    case LACIS_F32:
        ((float *)to->data)[place] = (float)x.re;
        break;
    case LACIS_C64:
        ((float *)to->data)[2 * place] = (float)x.re;
        ((float *)to->data)[2 * place + 1] = (float)x.im;
        break;
    case LACIS_C128:
        ((double *)to->data)[2 * place] = x.re;
        ((double *)to->data)[2 * place + 1] = x.im;
        break;
    default:
        ((double *)to->data)[place] = x.re;
        break;
    }
}

/* --- pieces ---------------------------------------------------------------------------------------- */

/* Lanes of one flock; or, for fields that lanes share, the one that stands for all. */
typedef struct piece {
    const filling *f;
    const lacis_batch_group *group;
    int64_t first, lanes;
    bool shared;
    keys key[PIECE];
    double *sum; /* of absolute off-diagonals, by row and lane */
} piece;

static int64_t place_of(const piece *p, int64_t lane, int64_t row)
{
    return p->shared ? p->group->row + row : lacis_batch_place(p->group, p->first + lane, row);
}

/* Whether the field is written with this piece. */
static bool mine(const piece *p, role which)
{
    return p->f->field[which].shared == p->shared;
}

static bool has(const piece *p, role which, int64_t row)
{
    if (which == LOWER || p->f->tree) return p->f->tree ? p->f->batch.parent[p->group->row + row] >= 0 : row > 0;
    return row + 1 < p->group->rows;
}

/* The row to whose sum the off-diagonal belongs: A[parent, row] stands in the parent's. */
static int64_t row_of(const piece *p, role which, int64_t row)
{
    return p->f->tree && which == LOWER ? p->f->batch.parent[p->group->row + row] : row;
}

/* From the last row to the first, so that sums are taken in one order. */
static void put_off_diagonals(const piece *p, role which)
{
    for (int64_t row = p->group->rows - 1; row >= 0; row--) {
        bool there = has(p, which, row);
        double *sum = there ? p->sum + row_of(p, which, row) * p->lanes : NULL;
        for (int64_t lane = 0; lane < p->lanes; lane++) {
            number x = there ? off_diagonal(p->f, &p->key[lane], which, row) : (number){0, 0};
            if (there) sum[lane] += size_of(x);
            if (mine(p, which)) store(&p->f->field[which], place_of(p, lane, row), x);
        }
    }
}

static void put_diagonal(const piece *p)
{
    for (int64_t row = 0; row < p->group->rows; row++)
        for (int64_t lane = 0; lane < p->lanes; lane++) {
            const keys *k = &p->key[lane];
            number x = {p->sum[row * p->lanes + lane] + 0.5 + unit(k->re[DIAGONAL], row), 0};
            if (p->f->complex) x.im = 2 * unit(k->im[DIAGONAL], row) - 1;
            store(&p->f->field[DIAGONAL], place_of(p, lane, row), x);
        }
}

static void put_rhs(const piece *p)
{
    for (int64_t row = 0; row < p->group->rows; row++)
        for (int64_t lane = 0; lane < p->lanes; lane++) {
            const keys *k = &p->key[lane];
            number x = {2 * unit(k->re[RHS], row) - 1, p->f->complex ? 2 * unit(k->im[RHS], row) - 1 : 0};
            store(&p->f->field[RHS], place_of(p, lane, row), x);
        }
}

static lacis_status put_piece(const filling *f, const lacis_batch_group *group, int64_t first, int64_t lanes,
                              bool shared)
{
    piece p = {.f = f, .group = group, .first = first, .lanes = lanes, .shared = shared};
    bool off = mine(&p, LOWER), diagonal = mine(&p, DIAGONAL);
    for (int64_t lane = 0; lane < lanes; lane++)
        for (int which = 0; which < ROLES; which++) {
            p.key[lane].re[which] = key_of(f, (role)which, 0, group, first + lane);
            p.key[lane].im[which] = key_of(f, (role)which, 1, group, first + lane);
        }
    if (off || diagonal) {
        uint64_t bytes = (uint64_t)(group->rows * lanes) * sizeof *p.sum;
        p.sum = lacis_run_alloc_quiet(f->run, bytes);
        if (p.sum == NULL) return LACIS_NOMEM;
        memset(p.sum, 0, bytes);
        put_off_diagonals(&p, LOWER);
        put_off_diagonals(&p, UPPER);
    }
    if (diagonal) put_diagonal(&p);
    if (mine(&p, RHS)) put_rhs(&p);
    lacis_run_free(f->run, p.sum);
    return LACIS_OK;
}

/* Lanes first .. last of a group, as pieces of one flock. */
static lacis_status put_lanes(const filling *f, const lacis_batch_group *group, int64_t first, int64_t last)
{
    int64_t most = SPACE / (group->rows > 0 ? group->rows : 1);
    if (most > PIECE) most = PIECE;
    if (most < 1) most = 1;
    while (first < last) {
        int64_t some = last - first < most ? last - first : most, left = group->block - first % group->block;
        if (some > left) some = left;
        LACIS_TRY(put_piece(f, group, first, some, false));
        first += some;
    }
    return LACIS_OK;
}

/* The first group that has lanes from `lane` on. */
static int64_t group_of(const lacis_batch *batch, int64_t lane)
{
    int64_t low = 0, high = batch->groups;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (batch->group[middle].lane <= lane)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static lacis_status put_task(void *context, int64_t task, int worker)
{
    (void)worker;
    const filling *f = context;
    int64_t first = task * f->lanes, last = first + f->lanes;
    for (int64_t g = group_of(&f->batch, first); g < f->batch.groups && f->batch.group[g].lane < last; g++) {
        const lacis_batch_group *group = &f->batch.group[g];
        int64_t begin = first > group->lane ? first - group->lane : 0, end = last - group->lane;
        if (end > group->lanes) end = group->lanes;
        if (begin < end) LACIS_TRY(put_lanes(f, group, begin, end));
        if (begin == 0 && end > 0 && f->field[LOWER].shared) LACIS_TRY(put_piece(f, group, 0, 1, true));
        if (lacis_run_cancelled(f->run)) return LACIS_INTERRUPT;
    }
    return LACIS_OK;
}

/* --- arrays ---------------------------------------------------------------------------------------- */

static lacis_status add_field(filling *f, lacis_array *array, const char *name, role which, bool shared,
                              lacis_dtype dtype)
{
    int64_t count = shared ? f->batch.rows : f->batch.places;
    uint64_t bytes = (uint64_t)count * lacis_dtype_size(dtype);
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_reserve(f->run, bytes, &buffer));
    lacis_status status = lacis_buffer_charge(buffer, bytes);
    if (status != LACIS_OK) {
        lacis_buffer_release(buffer);
        return lacis_run_fail(f->run, status, "no memory left for the systems; raise memory_limit");
    }
    if (f->batch.places > f->batch.elements && !shared) memset(lacis_buffer_data(buffer), 0, bytes); /* padding */
    f->field[which] = (field){dtype, shared, lacis_buffer_data(buffer)};
    status = lacis_array_add(f->run, array, name, dtype, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status add_fields(filling *f, const lacis_options *given, lacis_dtype dtype, lacis_array *array)
{
    static const char *const names[2][ROLES] = {{"a", "c", "b", "d"}, {"a", "b", "d", "rhs"}};
    static const role order[2][ROLES] = {{LOWER, DIAGONAL, UPPER, RHS}, {LOWER, UPPER, DIAGONAL, RHS}};
    sharing shared = (sharing)lacis_option_integer(given, "shared", SHARED_NONE);
    for (int i = 0; i < ROLES; i++) {
        role which = order[f->tree][i];
        bool own = which == RHS || shared == SHARED_NONE || (which == DIAGONAL && shared == SHARED_OFFDIAGONALS);
        LACIS_TRY(add_field(f, array, names[f->tree][which], which, !own, dtype));
    }
    return LACIS_OK;
}

static lacis_status fill(const lacis_systems *systems, const lacis_options *given, lacis_dtype dtype,
                         lacis_array *array)
{
    lacis_run *run = systems->run;
    filling f = {.run = run, .tree = systems->parent != NULL, .complex = dtype == LACIS_C64 || dtype == LACIS_C128};
    f.seed = lacis_mix((uint64_t)lacis_option_integer(given, "seed", 1));
    LACIS_TRY(lacis_batch_view(run, array, &f.batch));
    LACIS_TRY(add_fields(&f, given, dtype, array));
    if (f.batch.elements == 0) return LACIS_OK;
    int64_t lanes = (SPACE / 16) / f.batch.most_rows / PIECE;
    f.lanes = (lanes > 0 ? lanes : 1) * PIECE;
    lacis_status status = lacis_run_parallel(run, (f.batch.lanes - 1) / f.lanes + 1, put_task, &f);
    return status == LACIS_NOMEM ? lacis_run_fail(run, status, "out of memory") : status;
}

static lacis_status read_layout(lacis_run *run, const lacis_options *given, int64_t *block)
{
    const char *text = lacis_option_text(given, "layout");
    *block = text == NULL ? 1 : lacis_batch_layout_read(text);
    if (*block >= 0) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_RANGE, lacis_option_offset(given, "layout"), NULL,
                             "layout = '%s' is none of 'flat', 'full', 'block(n)'", text);
}

lacis_status lacis_systems_make(const lacis_systems *systems, const lacis_options *given, const char *name,
                                lacis_array **out)
{
    static const lacis_dtype types[] = {LACIS_F64, LACIS_F32, LACIS_C128, LACIS_C64};
    lacis_run *run = systems->run;
    lacis_batch_shape shape = {
        .groups = systems->groups, .lanes = systems->lanes, .rows = systems->rows, .parent = systems->parent};
    double elements = 0, left = (double)lacis_run_memory_left(run);
    shape.dtype = types[lacis_option_integer(given, "type", 0)];
    LACIS_TRY(read_layout(run, given, &shape.block));
    for (int64_t g = 0; g < systems->groups; g++)
        elements += (double)systems->lanes[g] * (double)systems->rows[g];
    int own = lacis_option_integer(given, "shared", SHARED_NONE) == SHARED_NONE           ? 4
              : lacis_option_integer(given, "shared", SHARED_NONE) == SHARED_OFFDIAGONALS ? 2
                                                                                          : 1;
    double need = elements * own * (double)lacis_dtype_size(shape.dtype);
    if (need > left)
        return lacis_run_fail(run, LACIS_LIMIT,
                              "%s would need %.4g MB, and memory_limit leaves %.4g MB; make it smaller or raise "
                              "memory_limit",
                              name, need / 1e6, left / 1e6);
    lacis_array *array;
    LACIS_TRY(lacis_batch_new(run, &shape, &array));
    lacis_status status = fill(systems, given, shape.dtype, array);
    if (status != LACIS_OK) {
        lacis_array_release(array);
        return status;
    }
    *out = array;
    return LACIS_OK;
}

lacis_status lacis_systems_begin(lacis_run *run, const lacis_options *given, lacis_systems *out)
{
    int64_t lanes, shapes = 1;
    *out = (lacis_systems){.run = run};
    LACIS_TRY(lacis_generate_integer(run, given, "lanes", 0, (int64_t)1 << 40, &lanes));
    if (lacis_option_set(given, "shapes") != NULL)
        LACIS_TRY(lacis_generate_integer(run, given, "shapes", 1, (int64_t)1 << 24, &shapes));
    if (shapes > lanes) shapes = lanes > 0 ? lanes : 1;
    out->groups = shapes;
    LACIS_TRY(lacis_run_scratch(run, 2 * (uint64_t)shapes * sizeof *out->lanes, &out->lanes));
    out->rows = out->lanes + shapes;
    for (int64_t g = 0; g < shapes; g++)
        out->lanes[g] = lanes / shapes + (g < lanes % shapes);
    return LACIS_OK;
}

int64_t lacis_systems_vary(const lacis_options *given, const lacis_systems *systems, int64_t rows, int64_t group)
{
    uint64_t random = lacis_mix((uint64_t)lacis_option_integer(given, "seed", 1) ^ lacis_mix((uint64_t)group + 7));
    if (systems->groups == 1) return rows;
    return rows - rows / 2 + (int64_t)((double)(rows / 2 * 2 + 1) * lacis_unit(random));
}
