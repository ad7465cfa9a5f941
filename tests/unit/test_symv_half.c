/* SPDX-License-Identifier: Apache-2.0
 *
 * Sparse symmetric products on the CPU against plain sums in long double: types, triangles, matrices that hold one
 * triangle or both, loose rows, steps, bits for any number of threads and any instruction set.
 */
#include "symv/half.h"

#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef complex long double wide;

/* --------------------------------------------------------------------------------------------- matrices */

typedef enum shape { RANDOM, BAND, ARROW, LAST, EMPTY, DIAGONAL, DENSE, RUNS, SHAPES } shape;

/* The positions of one triangle as bits of a square would be too many: entries of each row, rising. */
typedef struct pattern {
    int64_t n, count, room;
    int64_t *begin, *end;
    uint32_t *column;
} pattern;

static uint64_t state;
static uint64_t draw(void)
{
    state += 0x9e3779b97f4a7c15u;
    uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
static double number(void)
{
    return (double)(int64_t)(draw() >> 11) * 0x1p-52 - 1;
}

static void *room_for(size_t count, size_t bytes)
{
    void *block = calloc(count + 1, bytes);
    assert_non_null(block);
    return block;
}

static bool has(shape what, int64_t n, int64_t r, int64_t c)
{
    switch (what) {
    case RANDOM:
        return r % 5 != 3 && (draw() % (uint64_t)n < 8 || (r == c && draw() % 2));
    case BAND:
        return r - c < 40 && draw() % 3 == 0;
    case ARROW:
        return r == c || c == 0;
    case LAST:
        return r == c || r == n - 1;
    case DIAGONAL:
        return r == c;
    case DENSE:
        return true;
    case RUNS:
        return r - c < 11 || (r - c > 60 && r - c < 81);
    default:
        return false;
    }
}

/* both: the other triangle's entries too; upper: which is the wanted one; loose: rows from the last to the first,
 * with a gap behind each. */
static pattern make(shape what, int64_t n, bool upper, bool both, bool loose)
{
    uint8_t *lower = room_for((size_t)(n * n), 1);
    pattern p = {.n = n, .begin = room_for((size_t)n, 8), .end = room_for((size_t)n, 8)};
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c <= r; c++)
            lower[r * n + c] = has(what, n, r, c);
    p.column = room_for((size_t)(n * n + n), 4);
    for (int64_t k = 0; k < n; k++) {
        int64_t r = loose ? n - 1 - k : k;
        p.begin[r] = p.room;
        for (int64_t c = 0; c < n; c++) {
            if (!both && (upper ? c < r : c > r)) continue;
            if (lower[r > c ? r * n + c : c * n + r]) p.column[p.room++] = (uint32_t)c;
        }
        p.end[r] = p.room;
        p.count += p.end[r] - p.begin[r];
        if (loose) p.column[p.room++] = UINT32_MAX;
    }
    free(lower);
    return p;
}

static void drop(pattern *p)
{
    free(p->begin);
    free(p->end);
    free(p->column);
}

/* ----------------------------------------------------------------------------------------- numbers by type */

static wide get(lacis_symv_type type, const void *at, int64_t i)
{
    const float *f = at;
    const double *d = at;
    switch (type) {
    case LACIS_SYMV_F32:
        return f[i];
    case LACIS_SYMV_F64:
        return d[i];
    case LACIS_SYMV_C64:
        return CMPLXL(f[2 * i], f[2 * i + 1]);
    default:
        return CMPLXL(d[2 * i], d[2 * i + 1]);
    }
}

static void set(lacis_symv_type type, void *at, int64_t i, double re, double im)
{
    const int parts = lacis_symv_complex(type) ? 2 : 1;
    for (int k = 0; k < parts; k++) {
        const double v = k == 0 ? re : im;
        if (type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64)
            ((float *)at)[parts * i + k] = (float)v;
        else
            ((double *)at)[parts * i + k] = v;
    }
}

static void fill(lacis_symv_type type, void *at, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const double re = number();
        set(type, at, i, re, number());
    }
}

/* ------------------------------------------------------------------------------------------------ a check */

static int64_t live; /* blocks; several threads take and give */
static void *take(void *context, uint64_t bytes)
{
    (void)context;
    __atomic_fetch_add(&live, 1, __ATOMIC_RELAXED);
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    assert_non_null(block);
    memset(block, 0xff, bytes);
    return block;
}
static void give(void *context, void *block)
{
    (void)context;
    __atomic_fetch_sub(&live, 1, __ATOMIC_RELAXED);
    free(block);
}

typedef struct trial {
    lacis_symv_type type;
    bool upper, both, loose, hermitian, ones, beta;
    int64_t x_step, y_step;
} trial;

enum { SIDES = 2 };
typedef struct operands {
    void *value, *x, *y, *y0;
    int64_t x_count, y_count;
    lacis_symv_half half;
} operands;

static void make_operands(const pattern *p, const trial *t, operands *o)
{
    const size_t bytes = (size_t)lacis_symv_vector_bytes(t->type);
    const int64_t x_span = p->n * llabs(t->x_step), y_span = p->n * llabs(t->y_step);
    *o = (operands){.x_count = SIDES * x_span, .y_count = SIDES * y_span};
    o->value = room_for((size_t)p->room, bytes);
    o->x = room_for((size_t)o->x_count, bytes);
    o->y = room_for((size_t)o->y_count, bytes);
    o->y0 = room_for((size_t)o->y_count, bytes);
    fill(t->type, o->x, o->x_count);
    fill(t->type, o->y0, o->y_count);
    for (int64_t i = 0; i < p->room; i++)
        set(t->type, o->value, i, NAN, NAN);
    for (int64_t r = 0; r < p->n; r++)
        for (int64_t i = p->begin[r]; i < p->end[r]; i++) {
            if (t->upper ? p->column[i] < r : p->column[i] > r) continue;
            const double re = number(), im = number();
            set(t->type, o->value, i, re, p->column[i] == r && t->hermitian ? NAN : im);
        }
    lacis_symv_job *job = &o->half.job;
    job->type = t->type;
    job->uplo = t->upper ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
    job->hermitian = t->hermitian;
    job->matrices = 1;
    job->n = p->n;
    job->sides = SIDES;
    const int64_t x_at = t->x_step < 0 ? x_span - 1 : 0, y_at = t->y_step < 0 ? y_span - 1 : 0;
    job->x = (char *)o->x + x_at * (int64_t)bytes;
    job->x_side = x_span;
    job->x_step = t->x_step;
    job->y = (char *)o->y + y_at * (int64_t)bytes;
    job->y0 = job->y;
    job->y_side = y_span;
    job->y_step = t->y_step;
    job->alpha[0] = 1.5;
    if (lacis_symv_complex(t->type)) job->alpha[2] = -0.25;
    if (t->beta) job->beta[0] = 0.5;
    job->host = (lacis_symv_host){.alloc = take, .free = give};
    o->half.begin = p->begin;
    o->half.end = p->end;
    o->half.column = p->column;
    o->half.value = t->ones ? NULL : o->value;
}

static void run(const operands *o, const trial *t, int threads)
{
    const size_t bytes = (size_t)lacis_symv_vector_bytes(t->type) * (size_t)o->y_count;
    lacis_symv_half half = o->half;
    half.job.threads = threads;
    if (t->beta)
        memcpy(o->y, o->y0, bytes);
    else
        memset(o->y, 0xff, bytes);
    assert_null(lacis_symv_half_refuses(&half));
    assert_int_equal(lacis_symv_half_run(&half), LACIS_SYMV_OK);
    assert_int_equal(live, 0);
}

static void check_numbers(const pattern *p, const trial *t, const operands *o, int64_t side)
{
    const lacis_symv_job *job = &o->half.job;
    wide *sum = room_for((size_t)p->n, sizeof *sum);
    long double *size = room_for((size_t)p->n, sizeof *size);
    for (int64_t r = 0; r < p->n; r++)
        for (int64_t i = p->begin[r]; i < p->end[r]; i++) {
            const int64_t c = p->column[i];
            if (t->upper ? c < r : c > r) continue;
            wide a = t->ones ? 1 : get(t->type, o->value, i);
            if (c == r && t->hermitian) a = creall(a);
            const wide xr = get(t->type, job->x, side * job->x_side + r * t->x_step);
            const wide xc = get(t->type, job->x, side * job->x_side + c * t->x_step);
            sum[r] += a * xc;
            size[r] += cabsl(a) * cabsl(xc);
            if (c == r) continue;
            sum[c] += (t->hermitian ? conjl(a) : a) * xr;
            size[c] += cabsl(a) * cabsl(xr);
        }
    const bool single = t->type == LACIS_SYMV_F32 || t->type == LACIS_SYMV_C64;
    const wide alpha = CMPLXL(job->alpha[0], job->alpha[2]);
    const int64_t first = t->y_step < 0 ? p->n * -t->y_step - 1 : 0;
    for (int64_t r = 0; r < p->n; r++) {
        const int64_t at = side * job->y_side + r * t->y_step;
        wide want = alpha * sum[r];
        if (t->beta) want += job->beta[0] * get(t->type, o->y0, first + at);
        const long double most = cabsl(alpha) * size[r] + 1, off = cabsl(get(t->type, job->y, at) - want);
        assert_true(off <= most * (single ? 1e-5L : 1e-14L));
    }
    free(sum);
    free(size);
}

static void check(shape what, int64_t n, const trial *t)
{
    static const int threads[] = {1, 2, 3, 7};
    static const char *const sets[] = {"baseline", "avx2", "avx512"};
    pattern p = make(what, n, t->upper, t->both, t->loose);
    operands o;
    make_operands(&p, t, &o);
    const size_t bytes = (size_t)lacis_symv_vector_bytes(t->type) * (size_t)o.y_count;
    run(&o, t, 1);
    for (int64_t side = 0; side < SIDES; side++)
        check_numbers(&p, t, &o, side);
    void *first = room_for(bytes, 1);
    memcpy(first, o.y, bytes);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            setenv("LACIS_ISA", sets[k], 1);
            run(&o, t, threads[i]);
            assert_memory_equal(o.y, first, bytes);
        }
    unsetenv("LACIS_ISA");
    free(first);
    free(o.value);
    free(o.x);
    free(o.y);
    free(o.y0);
    drop(&p);
}

static void every_kind(void **unused)
{
    (void)unused;
    static const int64_t sizes[] = {1, 2, 7, 33, 200};
    state = 1;
    for (shape what = 0; what < SHAPES; what++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (lacis_symv_type type = LACIS_SYMV_F32; type <= LACIS_SYMV_C128; type++)
                for (int kind = 0; kind < 8; kind++) {
                    const uint64_t any = draw();
                    const trial t = {.type = type,
                                     .upper = kind & 1,
                                     .both = kind & 2,
                                     .loose = kind & 4,
                                     .hermitian = lacis_symv_complex(type) && (any & 1),
                                     .ones = (any & 6) == 0,
                                     .beta = any & 8,
                                     .x_step = any & 16 ? 1 : (any & 32 ? 3 : -2),
                                     .y_step = any & 64 ? 1 : (any & 128 ? 2 : -1)};
                    check(what, sizes[i], &t);
                }
}

/* Enough entries for several tasks, of which threads take one each. */
static void several_tasks(void **unused)
{
    (void)unused;
    state = 2;
    for (int kind = 0; kind < 4; kind++) {
        const trial t = {
            .type = (lacis_symv_type)kind, .upper = kind & 1, .both = kind & 2, .x_step = 1, .y_step = 1};
        check(RUNS, 5000, &t);
        check(DENSE, 600, &t);
    }
}

static void empty_matrix(void **unused)
{
    (void)unused;
    lacis_symv_half half = {.job = {.type = LACIS_SYMV_F64, .matrices = 1, .sides = 1, .threads = 2}};
    assert_int_equal(lacis_symv_half_run(&half), LACIS_SYMV_OK);
}

/* What x has that is not finite comes to the rows whose entries meet it, and to no other. */
static void not_finite(void **unused)
{
    (void)unused;
    const trial t = {.type = LACIS_SYMV_F64, .x_step = 1, .y_step = 1};
    state = 3;
    pattern p = make(BAND, 300, false, false, false);
    operands o;
    make_operands(&p, &t, &o);
    ((double *)o.x)[150] = NAN;
    run(&o, &t, 2);
    bool *meets = room_for(300, sizeof *meets);
    for (int64_t r = 0; r < p.n; r++)
        for (int64_t i = p.begin[r]; i < p.end[r]; i++) {
            if (p.column[i] == 150) meets[r] = true;
            if (r == 150) meets[p.column[i]] = true;
        }
    for (int64_t r = 0; r < p.n; r++)
        assert_int_equal(isnan(((double *)o.y)[r]) != 0, meets[r]);
    free(meets);
    free(o.value);
    free(o.x);
    free(o.y);
    free(o.y0);
    drop(&p);
}

static bool stop(void *context)
{
    return ++*(int *)context > 2;
}

static void *none(void *context, uint64_t bytes)
{
    int *left = context;
    return (*left)-- > 0 ? take(NULL, bytes) : NULL;
}

static void stopped_and_short_of_memory(void **unused)
{
    (void)unused;
    const trial t = {.type = LACIS_SYMV_F64, .x_step = 2, .y_step = 1};
    state = 4;
    pattern p = make(RUNS, 5000, false, false, false);
    operands o;
    make_operands(&p, &t, &o);
    int count = 0;
    lacis_symv_half half = o.half;
    half.job.threads = 2;
    half.job.host = (lacis_symv_host){.alloc = take, .free = give, .cancelled = stop, .context = &count};
    assert_int_equal(lacis_symv_half_run(&half), LACIS_SYMV_CANCELLED);
    assert_int_equal(live, 0);
    for (int left = 0; left < 4; left++) {
        int present = left;
        half.job.host = (lacis_symv_host){.alloc = none, .free = give, .context = &present};
        assert_int_equal(lacis_symv_half_run(&half), LACIS_SYMV_NO_MEMORY);
        assert_int_equal(live, 0);
    }
    free(o.value);
    free(o.x);
    free(o.y);
    free(o.y0);
    drop(&p);
}

static void refused(void **unused)
{
    (void)unused;
    lacis_symv_half half = {.job = {.type = LACIS_SYMV_DD, .matrices = 1}};
    assert_non_null(lacis_symv_half_refuses(&half));
    half.job.type = LACIS_SYMV_F64;
    half.job.order = LACIS_SYMV_CANONICAL;
    assert_null(lacis_symv_half_refuses(&half));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind),
                                       cmocka_unit_test(several_tasks),
                                       cmocka_unit_test(empty_matrix),
                                       cmocka_unit_test(not_finite),
                                       cmocka_unit_test(stopped_and_short_of_memory),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
