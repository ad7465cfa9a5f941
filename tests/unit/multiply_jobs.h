/* SPDX-License-Identifier: Apache-2.0
 *
 * Jobs for the CPU's kernels at random, with written functions by strips, and one job compared with the definition
 * (multiply_reference.h), for test_multiply_kernel.c.
 */
#ifndef LACIS_TESTS_MULTIPLY_JOBS_H
#define LACIS_TESTS_MULTIPLY_JOBS_H

#include "multiply_random.h"

/* --- the written functions, by strips -------------------------------------------------------------- */

static bool strip_con(void *context, void *workspace, const lacis_mul_strip *strip, void *out)
{
    const lacis_mul_job *job = context;
    memset(workspace, 0x3c, job->workspace_bytes);
    assert_true(strip->n > 0 && strip->n <= LACIS_MUL_STRIP);
    const lacis_mul_matrix a = {.value = strip->a, .type = job->a.type}, b = {.value = strip->b, .type = job->b.type};
    for (int i = 0; i < strip->n; i++) {
        const cell v =
            written_con(job->type, load(&a, 0, job->type), load(&b, i, job->type), strip->s, strip->c, strip->t[i]);
        memcpy((char *)out + i * type_size(job->type), &v, (size_t)type_size(job->type));
    }
    return true;
}

static bool strip_fold(void *context, void *workspace, int n, void *x, const void *y)
{
    const lacis_mul_job *job = context;
    const int size = type_size(job->type);
    (void)workspace;
    for (int i = 0; i < n; i++) {
        cell u = {.c128 = {0, 0}}, v = {.c128 = {0, 0}};
        memcpy(&u, (char *)x + i * size, (size_t)size);
        memcpy(&v, (const char *)y + i * size, (size_t)size);
        u = written_fold(job->type, u, v);
        memcpy((char *)x + i * size, &u, (size_t)size);
    }
    return true;
}

static bool strip_having(void *context, void *workspace, int n, int64_t s, const uint32_t *t, const void *value,
                         uint8_t *keep)
{
    const lacis_mul_job *job = context;
    (void)workspace;
    (void)s;
    assert_true(n > 0 && n <= LACIS_MUL_STRIP);
    for (int i = 0; i < n; i++) {
        cell v = {.c128 = {0, 0}};
        memcpy(&v, (const char *)value + i * storage_size(job->storage), (size_t)storage_size(job->storage));
        keep[i] = written_having(t[i], stored_double(job->storage, v));
    }
    return true;
}

/* --- one comparison --------------------------------------------------------------------------------- */

typedef struct result {
    lacis_mul_output out;
    lacis_mul_status status;
    uint64_t *products;
    uint64_t guard; /* bytes after the room that must stay */
} result;

static result compute(const lacis_mul_job *job, const int64_t *rows, int64_t count)
{
    result r = {.guard = 4096};
    const int size = storage_size(job->storage);
    r.products = malloc(sizeof(uint64_t) * (size_t)(count + 1));
    lacis_mul_products(job, rows, count, r.products);
    uint64_t room = lacis_mul_slack(job);
    for (int64_t i = 0; i < count; i++)
        room += lacis_mul_bound(job, rows ? rows[i] : i, r.products[i]);
    r.out.room = room;
    r.out.begin = malloc(sizeof(int64_t) * (size_t)(job->a.rows + 1));
    r.out.end = malloc(sizeof(int64_t) * (size_t)(job->a.rows + 1));
    memset(r.out.begin, 0xff, sizeof(int64_t) * (size_t)(job->a.rows + 1));
    r.out.column = malloc(room * 4 + r.guard);
    r.out.value = malloc(room * (uint64_t)size + r.guard);
    memset((char *)r.out.column + room * 4, 0x77, r.guard);
    memset((char *)r.out.value + room * (uint64_t)size, 0x77, r.guard);
    r.status = lacis_mul_run(job, rows, count, r.products, &r.out);
    for (uint64_t i = 0; i < r.guard; i++) {
        assert_int_equal(((unsigned char *)r.out.column)[room * 4 + i], 0x77);
        assert_int_equal(((unsigned char *)r.out.value)[room * (uint64_t)size + i], 0x77);
    }
    return r;
}

static void free_result(result *r)
{
    free(r->products);
    free(r->out.begin);
    free(r->out.end);
    free(r->out.column);
    free(r->out.value);
}

static char told[512];

static const char *tell(const lacis_mul_job *job, int64_t row)
{
    snprintf(told, sizeof told,
             "isa %s con %d agg %d type %d storage %d force %d threads %d mask %d/%d top %lld having %d t %lld-%lld "
             "%lld x %lld row %lld",
             lacis_mul_isa(), (int)job->con_kind, (int)job->agg, (int)job->type, (int)job->storage, (int)job->force,
             job->threads, job->mask != NULL, job->mask_not, (long long)job->top, job->having != NULL,
             (long long)job->t_lo, (long long)job->t_hi, (long long)job->a.rows, (long long)job->b.cols,
             (long long)row);
    return told;
}

static bool same_value(const lacis_mul_job *job, const char *got, const cell *want)
{
    cell g = {.c128 = {0, 0}};
    memcpy(&g, got, (size_t)storage_size(job->storage));
    const double x = stored_double(job->storage, g), y = stored_double(job->storage, *want);
    const bool floating = job->storage >= LACIS_MUL_TO_F32;
    if (job->storage == LACIS_MUL_TO_C128) {
        const double u = g.c128.im, v = want->c128.im;
        return (x == y || (x != x && y != y)) && (u == v || (u != u && v != v));
    }
    return floating && x != x ? y != y : memcmp(got, want, (size_t)storage_size(job->storage)) == 0;
}

static void check(const lacis_mul_job *job, const int64_t *rows, int64_t count)
{
    heap *h = job->memory.context;
    state *states = calloc((size_t)job->b.cols + 1, sizeof *states);
    result r = compute(job, rows, count);
    uint64_t entries = 0;
    bool overflow = false;
    assert_int_equal(atomic_load(&h->live), 0);
    for (int64_t i = 0; i < count; i++) {
        const int64_t row = rows ? rows[i] : i;
        answer want = reference_row(job, row, states);
        overflow |= want.overflow;
        const int64_t begin = r.out.begin[row], n = r.out.end[row] - begin;
        if (!overflow && (r.status != LACIS_MUL_OK || n != want.n))
            fail_msg("%s: status %d, %lld entries for %lld", tell(job, row), (int)r.status, (long long)n,
                     (long long)want.n);
        for (int64_t k = 0; !overflow && k < n; k++)
            if (r.out.column[begin + k] != want.t[k] ||
                !same_value(job, (char *)r.out.value + (begin + k) * storage_size(job->storage), &want.value[k]))
                fail_msg("%s: entry %lld column %u for %u, or its value", tell(job, row), (long long)k,
                         r.out.column[begin + k], want.t[k]);
        entries += (uint64_t)want.n;
        free(want.t);
        free(want.value);
    }
    if (overflow && job->checked) assert_int_equal(r.status, LACIS_MUL_OVERFLOW);
    if (!overflow) {
        assert_true(r.out.used <= r.out.room);
        assert_int_equal(r.out.entries, entries);
    }
    free_result(&r);
    free(states);
}

/* --- random jobs -------------------------------------------------------------------------------------- */

static lacis_mul_job make_job(heap *h, lacis_mul_matrix a, lacis_mul_matrix b)
{
    lacis_mul_job job = {.a = a, .b = b, .type = LACIS_MUL_I64, .t_hi = b.cols, .threads = 1};
    for (int64_t r = 0; r < a.rows; r++)
        if ((uint64_t)(a.end[r] - a.begin[r]) > job.max_degree_a)
            job.max_degree_a = (uint64_t)(a.end[r] - a.begin[r]);
    job.memory = (lacis_mul_memory){heap_alloc, heap_free, heap_charge, heap_cancelled, h};
    job.con = strip_con;
    job.fold = strip_fold;
    job.workspace_bytes = 200;
    job.identity = 2;
    job.identity_imag = -3;
    job.identity_int = 2;
    return job;
}

static lacis_mul_storage natural_storage(const lacis_mul_job *job)
{
    if (job->agg == LACIS_MUL_COUNT) {
        const int least = job->max_degree_a <= 255 ? 0 : job->max_degree_a <= 65535 ? 1 : 2;
        return (lacis_mul_storage)(least + (int)draw(3 - (uint64_t)least));
    }
    if (job->type == LACIS_MUL_C128) return LACIS_MUL_TO_C128;
    return job->agg == LACIS_MUL_AVG ? LACIS_MUL_TO_F64 : (lacis_mul_storage)(LACIS_MUL_TO_I32 + (int)job->type);
}

/* Fills in what to compute, at random; keeps the matrices. */
static void draw_job(lacis_mul_job *job, const lacis_mul_matrix *mask, bool bounded_values)
{
    job->con_kind = (lacis_mul_con)draw(6);
    job->agg = (lacis_mul_agg)draw(8);
    const bool complex = job->type == LACIS_MUL_C128;
    if (complex && (job->agg == LACIS_MUL_MIN || job->agg == LACIS_MUL_MAX)) job->agg = LACIS_MUL_SUM;
    job->storage = natural_storage(job);
    if (draw(8) == 0 && !complex)
        job->storage = job->agg == LACIS_MUL_COUNT || job->type <= LACIS_MUL_I64
                           ? (draw(2) && job->agg != LACIS_MUL_AVG ? LACIS_MUL_TO_I64 : LACIS_MUL_TO_F64)
                           : LACIS_MUL_TO_F64;
    job->checked = draw(4) == 0;
    job->bounded = bounded_values && draw(2) && job->con_kind != LACIS_MUL_CON_MUL;
    job->con_lo = -1e6;
    job->con_hi = 1e6;
    job->force = (lacis_mul_class)draw(LACIS_MUL_CLASSES);
    job->threads = draw(2) ? 2 : 1;
    job->mask = draw(4) == 0 ? mask : NULL;
    job->mask_not = draw(2);
    job->top = draw(4) == 0 && !complex ? (int64_t)draw(12) + 1 : 0;
    job->having = draw(5) == 0 ? strip_having : NULL;
    job->t_lo = 0;
    job->t_hi = job->b.cols;
    if (draw(4) == 0) {
        job->t_lo = (int64_t)draw((uint64_t)job->b.cols);
        job->t_hi = job->t_lo + (int64_t)draw((uint64_t)(job->b.cols - job->t_lo) + 1);
    }
}

#endif
