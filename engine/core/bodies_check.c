/* SPDX-License-Identifier: Apache-2.0
 *
 * What bodies may not hold: figures that are not finite, negative masses and softening lengths, an id twice. The
 * first row that does is named. Also the order of ids, which SQL reads bodies in.
 */
#include "core/bodies.h"
#include "core/radix.h"
#include "core/run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { BLOCK = 1 << 15, MASS = 0 };

typedef struct checking {
    const lacis_bodies *bodies;
    _Atomic int64_t bad; /* the first row, or count */
} checking;

static bool may_be_negative(int figure)
{
    return figure != MASS && figure != LACIS_BODIES_EPS;
}

/* Elements first .. end - 1: the first that is not finite, or negative where that is wrong; end: none. The whole
 * block is looked at before its elements are, since nearly all are good: that loop vectorises. */
#define FIRST_BAD(name, type)                                                                                        \
    static int64_t name(const type *value, int64_t first, int64_t end, bool negative)                                \
    {                                                                                                                \
        const type least = negative ? -INFINITY : 0;                                                                 \
        int good = 1;                                                                                                \
        for (int64_t i = first; i < end; i++)                                                                        \
            good &= (value[i] - value[i] == 0) & (value[i] >= least);                                                \
        if (good) return end;                                                                                        \
        while (value[first] - value[first] == 0 && value[first] >= least)                                            \
            first++;                                                                                                 \
        return first;                                                                                                \
    }
FIRST_BAD(first_bad_f32, float)
FIRST_BAD(first_bad_f64, double)

static int64_t first_bad(const lacis_bodies *bodies, int figure, int64_t first, int64_t end)
{
    const void *data = lacis_bodies_column(bodies, figure);
    if (data == NULL) return end;
    if (bodies->dtype == LACIS_F32) return first_bad_f32(data, first, end, may_be_negative(figure));
    return first_bad_f64(data, first, end, may_be_negative(figure));
}

static lacis_status check_block(void *context, int64_t task, int worker)
{
    (void)worker;
    checking *job = context;
    int64_t first = task * BLOCK, end = first + BLOCK, known = atomic_load(&job->bad);
    if (end > job->bodies->count) end = job->bodies->count;
    int64_t bad = end;
    for (int f = 0; f < LACIS_BODIES_FIGURES && first < bad; f++)
        bad = first_bad(job->bodies, f, first, bad);
    while (bad < end && bad < known)
        if (atomic_compare_exchange_weak(&job->bad, &known, bad)) break;
    return LACIS_OK;
}

static lacis_status bad_row(lacis_run *run, const lacis_bodies *bodies, int64_t row)
{
    char text[LACIS_NUMBER_TEXT];
    int figure = 0;
    while (first_bad(bodies, figure, row, row + 1) > row)
        figure++;
    const void *data = lacis_bodies_column(bodies, figure);
    double value = lacis_value_double(data, bodies->dtype, row);
    bool finite = isfinite(value);
    lacis_format_double(value, text);
    return lacis_run_fail(run, LACIS_RANGE, "row %" PRId64 " (id %" PRId64 "): %s is %s, and %s", row + 1,
                          lacis_bodies_id(bodies, row), lacis_bodies_figure[figure], text,
                          !finite          ? "all figures of bodies are finite"
                          : figure == MASS ? "no mass is negative"
                                           : "no softening length is");
}

/* --- ids ------------------------------------------------------------------------------------------ */

static bool rising(const int64_t *id, int64_t count)
{
    int good = 1;
    for (int64_t i = 1; i < count; i++)
        good &= id[i] > id[i - 1];
    return good;
}

/* Places by rising id, into `place`; equal ones by place. */
static lacis_status sort_ids(lacis_run *run, const lacis_bodies *bodies, int64_t *place)
{
    const uint64_t sign = (uint64_t)1 << 63; /* makes unsigned order that of signed numbers */
    uint64_t *key;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)bodies->count * sizeof *key, &key));
    for (int64_t i = 0; i < bodies->count; i++) {
        key[i] = (uint64_t)bodies->id[i] ^ sign;
        place[i] = i;
    }
    lacis_status status = lacis_radix_sort(run, key, place, bodies->count);
    lacis_run_free(run, key);
    return status;
}

/* A bit an id, where they lie close enough together: most labels are a run of numbers in another order. */
static lacis_status seen_twice(lacis_run *run, const lacis_bodies *bodies, bool *known, bool *twice)
{
    const int64_t *id = bodies->id, count = bodies->count;
    const uint64_t bits_each = 64; /* a bitmap as large as the ids */
    int64_t low = id[0], high = id[0];
    for (int64_t i = 1; i < count; i++) {
        low = id[i] < low ? id[i] : low;
        high = id[i] > high ? id[i] : high;
    }
    uint64_t range = (uint64_t)high - (uint64_t)low, bytes = (range / 64 + 1) * sizeof(uint64_t), *bit, again = 0;
    *known = range / bits_each < (uint64_t)count;
    if (!*known) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, bytes, &bit));
    memset(bit, 0, bytes);
    for (int64_t i = 0; i < count; i++) {
        uint64_t at = (uint64_t)id[i] - (uint64_t)low, mask = (uint64_t)1 << at % 64;
        again |= bit[at / 64] & mask;
        bit[at / 64] |= mask;
    }
    lacis_run_free(run, bit);
    *twice = again != 0;
    return LACIS_OK;
}

static lacis_status check_ids(lacis_run *run, const lacis_bodies *bodies)
{
    int64_t *place, first = -1;
    bool known, twice = false;
    if (bodies->id == NULL || rising(bodies->id, bodies->count)) return LACIS_OK;
    LACIS_TRY(seen_twice(run, bodies, &known, &twice));
    if (known && !twice) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(run, (uint64_t)bodies->count * sizeof *place, &place));
    lacis_status status = sort_ids(run, bodies, place);
    for (int64_t i = 1; i < bodies->count && status == LACIS_OK; i++) {
        bool equal = bodies->id[place[i]] == bodies->id[place[i - 1]];
        if (equal && (first < 0 || place[i] < first)) first = place[i];
    }
    lacis_run_free(run, place);
    LACIS_TRY(status);
    if (first < 0) return LACIS_OK;
    return lacis_run_fail(run, LACIS_RANGE, "row %" PRId64 " (id %" PRId64 "): a row before has this id, too",
                          first + 1, bodies->id[first]);
}

lacis_status lacis_bodies_check(lacis_run *run, const lacis_bodies *bodies)
{
    checking job = {.bodies = bodies, .bad = bodies->count};
    LACIS_TRY(lacis_run_parallel(run, (bodies->count + BLOCK - 1) / BLOCK, check_block, &job));
    int64_t bad = atomic_load(&job.bad);
    return bad < bodies->count ? bad_row(run, bodies, bad) : check_ids(run, bodies);
}

/* An order without elements says that the bodies lie by rising id. */
lacis_status lacis_bodies_order(lacis_run *run, const lacis_array *array, const lacis_bodies *bodies,
                                const int64_t **order)
{
    *order = NULL;
    if (bodies->id == NULL || bodies->count < 2) return LACIS_OK;
    lacis_buffer *kept = lacis_array_aside(array);
    if (kept == NULL) {
        bool lies = rising(bodies->id, bodies->count);
        LACIS_TRY(lacis_buffer_new(run, lies ? 0 : (uint64_t)bodies->count * sizeof **order, &kept));
        lacis_status status = lies ? LACIS_OK : sort_ids(run, bodies, lacis_buffer_data(kept));
        if (status != LACIS_OK) {
            lacis_buffer_release(kept);
            return status;
        }
        kept = lacis_array_set_aside(array, kept);
    }
    if (lacis_buffer_size(kept) > 0) *order = lacis_buffer_data(kept);
    return LACIS_OK;
}
