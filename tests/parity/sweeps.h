/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids and statements for tests of SWEEP: made up by seed, as arrays of the engine and as a naive system
 * (sweep_reference.h) beside them; every variant that can run a call, compared bit by bit.
 */
#ifndef LACIS_TESTS_SWEEPS_H
#define LACIS_TESTS_SWEEPS_H

#include "core/attached.h"
#include "parity/parity.h"
#include "parity/sweep_reference.h"
#include "sweep/work.h"

/* ------------------------------------------------------------------------------------------- random */

typedef uint64_t dice;

static inline uint64_t roll(dice *d)
{
    *d += 0x9e3779b97f4a7c15u;
    uint64_t x = *d;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static inline int below(dice *d, int n)
{
    return (int)(roll(d) % (uint64_t)n);
}

/* A float from -1 to 1, so that both types hold it. */
static inline double any_value(dice *d)
{
    return (double)(float)((double)(roll(d) >> 11) * 0x1p-52 - 1);
}

/* --------------------------------------------------------------------------------------------- grids */

enum { GRIDS = 1 + LACIS_SWEEP_ARRAYS + LACIS_SWEEP_FIELDS * LACIS_SWEEP_FACES };

/* A call and what it is computed from: arrays[0] is the grid g, then coefficients k0, k1 ..., s, faces f0, f1 ... */
typedef struct sweeps {
    parity *p;
    naive n;
    lacis_dtype dtype; /* of the arrays */
    named arrays[GRIDS + 1];
    int count, named; /* arrays; COEFFs */
    double *face[LACIS_SWEEP_FACES * LACIS_SWEEP_FIELDS];
    int faces;
    char text[8192];
    size_t length;
} sweeps;

static const char *const field_name[LACIS_SWEEP_FIELDS] = {"u", "v", "w", "p", "q", "r", "s", "o"};
static const char *const coefficient_name[] = {"k0", "k1", "k2", "k3"};
static const char *const array_name[] = {"f0",  "f1",  "f2",  "f3",  "f4",  "f5",  "f6",  "f7",
                                         "f8",  "f9",  "f10", "f11", "f12", "f13", "f14", "f15",
                                         "f16", "f17", "f18", "f19", "f20", "f21", "f22", "f23"};

static inline void say(sweeps *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void say(sweeps *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(s->text + s->length, sizeof s->text - s->length, format, args);
    va_end(args);
    assert_true(length >= 0 && (size_t)length < sizeof s->text - s->length);
    s->length += (size_t)length;
}

static inline void enter(sweeps *s, const char *name, lacis_array *array)
{
    assert_true(s->count < GRIDS);
    s->arrays[s->count++] = (named){name, array};
    s->arrays[s->count] = (named){NULL, NULL};
}

static inline lacis_array *grid_array(sweeps *s, int dims, const int64_t *extent, int fields,
                                      const char *const *names, double *const *value, int64_t step)
{
    lacis_array *array = NULL;
    lacis_grid like = {.dims = dims, .dtype = s->dtype, .fields = fields, .step = step}, grid;
    for (int k = 0; k < 3; k++)
        like.extent[k] = k < dims ? extent[k] : 1;
    for (int i = 0; i < fields; i++)
        like.name[i] = names == NULL ? NULL : names[i];
    parity_ok(s->p, lacis_grid_new(&s->p->run, &like, &array, &grid), "a grid");
    for (int i = 0; i < fields; i++)
        lacis_values_convert(value[i], LACIS_F64, 0, grid.cells, (void *)(uintptr_t)grid.field[i], s->dtype);
    return array;
}

static inline double *values_new(dice *d, int64_t cells)
{
    double *value = calloc((size_t)cells, sizeof *value);
    assert_non_null(value);
    for (int64_t i = 0; i < cells; i++)
        value[i] = any_value(d);
    return value;
}

/* The swept grid, with random values; arrays are of floats or doubles, whatever the run's TYPE. */
static inline void sweeps_new(sweeps *s, parity *p, dice *d, int dims, const int64_t *extent, int fields, bool floats)
{
    *s = (sweeps){.p = p, .dtype = below(d, 2) == 0 ? LACIS_F32 : LACIS_F64};
    s->n = (naive){.floats = floats, .dims = dims, .fields = fields, .cells = 1, .t = below(d, 3) == 0 ? 17 : 0};
    for (int k = 0; k < 3; k++) {
        s->n.extent[k] = k < dims ? extent[k] : 1;
        s->n.cells *= s->n.extent[k];
    }
    for (int i = 0; i < fields; i++) {
        s->n.array[i] = values_new(d, s->n.cells);
        s->n.next[i] = calloc((size_t)s->n.cells, sizeof(double));
        s->n.source[i] = -1;
    }
    enter(s, "g", grid_array(s, dims, extent, fields, fields == 1 ? NULL : field_name, s->n.array, s->n.t));
}

static inline void sweeps_free(sweeps *s)
{
    for (int i = 0; i < s->count; i++)
        lacis_array_release(s->arrays[i].array);
    for (int i = 0; i < s->n.fields + s->n.coefficients; i++)
        free(s->n.array[i]);
    for (int i = 0; i < s->n.fields; i++)
        free(s->n.next[i]);
    for (int i = 0; i < s->faces; i++)
        free(s->face[i]);
}

static inline void add_coefficients(sweeps *s, dice *d, int count)
{
    s->named = count;
    for (int i = 0; i < count; i++) {
        double **value = &s->n.array[s->n.fields + s->n.coefficients++];
        *value = values_new(d, s->n.cells);
        enter(s, coefficient_name[i], grid_array(s, s->n.dims, s->n.extent, 1, NULL, value, 0));
    }
}

/* SOURCE s: a field for each of the grid's, behind the coefficients. */
static inline void add_source(sweeps *s, dice *d)
{
    const int first = s->n.fields + s->n.coefficients;
    for (int i = 0; i < s->n.fields; i++) {
        s->n.array[first + i] = values_new(d, s->n.cells);
        s->n.source[i] = first + i;
    }
    s->n.coefficients += s->n.fields;
    enter(s, "src",
          grid_array(s, s->n.dims, s->n.extent, s->n.fields, s->n.fields == 1 ? NULL : field_name, &s->n.array[first],
                     0));
}

/* An array over a face, as a grid less a dimension; its name. */
static inline const char *add_face(sweeps *s, dice *d, int field, int face)
{
    int64_t extent[3], cells = 1;
    int dims = 0;
    for (int k = 0; k < s->n.dims; k++) {
        if (k == face / 2) continue;
        extent[dims++] = s->n.extent[k];
        cells *= s->n.extent[k];
    }
    double *value = values_new(d, cells);
    s->face[s->faces] = value;
    s->n.face[field][face] = value;
    enter(s, array_name[s->faces], grid_array(s, dims, extent, 1, NULL, &value, 0));
    return array_name[s->faces++];
}

/* ------------------------------------------------------------------------------------------- running */

/* The reason first: statements are long, and messages are cut. */
static inline void sweep_ok(const sweeps *s, lacis_status status)
{
    if (status != LACIS_OK) fail_msg("%s: %s\n  %s", lacis_status_name(status), s->p->host.error.message, s->text);
}

static inline bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
}

static inline void compare_fields(const sweeps *s, const lacis_array *array, const char *how)
{
    lacis_grid grid;
    sweep_ok(s, lacis_grid_view(&s->p->run, array, &grid));
    assert_int_equal(grid.dtype, s->n.floats ? LACIS_F32 : LACIS_F64);
    assert_int_equal(grid.fields, s->n.fields);
    if (grid.step != s->n.t)
        fail_msg("%s: step %lld, expected %lld\n  %s", how, (long long)grid.step, (long long)s->n.t, s->text);
    for (int f = 0; f < grid.fields; f++)
        for (int64_t i = 0; i < grid.cells; i++) {
            const double found = lacis_value_double(grid.field[f], grid.dtype, i), wanted = s->n.array[f][i];
            if (!same_number(found, wanted))
                fail_msg("%s, %lld x %lld x %lld, field %d, cell %lld: %.17g, expected %.17g\n  %s", how,
                         (long long)grid.extent[0], (long long)grid.extent[1], (long long)grid.extent[2], f,
                         (long long)i, found, wanted, s->text);
        }
}

/* What the naive steps came to: the change after each. */
typedef struct changes {
    int64_t steps, first;
    double *max, *l2;
} changes;

static inline void compare_changes(const sweeps *s, lacis_array *array, const changes *c, int64_t every,
                                   const char *how)
{
    const lacis_attached *with = *lacis_array_attached(array);
    assert_non_null(with);
    const lacis_part *step = lacis_array_part_named(with->table, "step");
    const double *max = lacis_array_part_named(with->table, "max")->data;
    const double *l2 = lacis_array_part_named(with->table, "l2")->data;
    int64_t row = 0;
    for (int64_t i = 1; i <= c->steps; i++) {
        if ((c->first + i) % every != 0 && i != c->steps) continue;
        assert_true(row < step->count);
        assert_int_equal(((const int64_t *)step->data)[row], c->first + i);
        if (!same_number(max[row], c->max[i - 1]) || !same_number(l2[row], c->l2[i - 1]))
            fail_msg("%s: step %lld changed %.17g, %.17g; expected %.17g, %.17g\n  %s", how,
                     (long long)(c->first + i), max[row], l2[row], c->max[i - 1], c->l2[i - 1], s->text);
        row++;
    }
    assert_int_equal(row, step->count);
}

/* Binds, takes rules and edges as they were bound for the naive system, and answers the call. */
static inline lacis_call *bind_sweep(sweeps *s, bool take)
{
    lacis_call *call;
    lacis_sweep_start start;
    sweep_ok(s, parity_bind(s->p, s->text, s->arrays, NULL, &call));
    const lacis_sweep_work *work = call->work;
    if (!take) return call;
    for (int i = 0; i < s->n.fields; i++) {
        s->n.rule[i] = work->formula[i].rule.written ? NULL : &work->formula[i].rule;
        s->n.edge[i] = work->edge[i];
        assert_true(s->n.rule[i] != NULL || s->n.written[i] != NULL);
    }
    lacis_sweep_start_of(work, NULL, &start);
    lacis_sweep_reach(&start, s->n.reach);
    return call;
}

static inline void run_variants(sweeps *s, const lacis_call *call, const changes *c, int64_t every, int threads)
{
    char reason[256], how[300];
    for (int i = 0; i < call->op->variant_count; i++) {
        const lacis_variant *variant = call->op->variants[i];
        lacis_array *array = NULL;
        if ((parity_on_gpu() && variant->device != LACIS_GPU) || variant->ranks) continue;
        if (variant->can != NULL && !variant->can(call, reason, sizeof reason)) {
            parity_skipped(s->p, s->text, variant->name, reason);
            continue;
        }
        snprintf(how, sizeof how, "%s, %d thread%s", variant->name, threads, threads == 1 ? "" : "s");
        const lacis_status status = variant->run(&s->p->run, call, 0, call->units, &array);
        if (status == LACIS_UNSUPPORTED && strstr(s->p->host.error.message, "the emulator refused") != NULL) {
            snprintf(reason, sizeof reason, "%.200s", s->p->host.error.message); /* it has no NVRTC */
            parity_skipped(s->p, s->text, variant->name, reason);
            continue;
        }
        sweep_ok(s, status);
        compare_fields(s, array, how);
        if (every > 0) compare_changes(s, array, c, every, how);
        lacis_array_release(array);
    }
}

/* The statement by every variant and with one to three threads, against the naive system, which is moved on by
 * `steps`. every: of CHANGE, 0: none. */
static inline void check_sweep(sweeps *s, int64_t steps, int64_t every)
{
    changes c = {steps, s->n.t, calloc((size_t)steps + 1, sizeof(double)), calloc((size_t)steps + 1, sizeof(double))};
    s->p->host.threads = 1;
    lacis_call *call = bind_sweep(s, true);
    for (int64_t i = 0; i < steps; i++)
        naive_step(&s->n, &c.max[i], &c.l2[i]);
    if (parity_on_gpu()) call->on = LACIS_ON_GPU;
    run_variants(s, call, &c, every, 1);
    parity_unbind(s->p, call);
    lacis_run_clear(&s->p->run);
    for (int threads = 2; threads <= 3 && !parity_on_gpu(); threads++) {
        s->p->host.threads = threads;
        call = bind_sweep(s, false);
        run_variants(s, call, &c, every, threads);
        parity_unbind(s->p, call);
        lacis_run_clear(&s->p->run);
    }
    free(c.max);
    free(c.l2);
}

#endif
