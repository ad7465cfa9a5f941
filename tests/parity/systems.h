/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of systems for tests of SOLVE: made up by a generator of numbers, laid out as asked for, and solved by
 * Gaussian elimination of the dense matrix in long doubles.
 */
#ifndef LACIS_TESTS_SYSTEMS_H
#define LACIS_TESTS_SYSTEMS_H

#include "parity/parity.h"

#include <complex.h>
#include <math.h>

enum { LOWER, DIAGONAL, UPPER, RIGHT, ROLES, MOST_GROUPS = 16 };
typedef long double complex exact;

typedef struct systems {
    bool tree, off_shared, matrix_shared;
    lacis_dtype dtype;
    int64_t groups, lanes[MOST_GROUPS], rows[MOST_GROUPS];
    int64_t all_lanes, all_rows, elements;
    int32_t *parent;              /* of all groups */
    double complex *value[ROLES]; /* element by element: lane by lane, row by row */
} systems;

static inline double drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static inline int64_t group_of_lane(const systems *s, int64_t lane, int64_t *within, int64_t *element, int64_t *row)
{
    *within = *element = *row = 0;
    for (int64_t g = 0; g < s->groups; g++) {
        if (lane < s->lanes[g]) {
            *within = lane;
            *element += lane * s->rows[g];
            return g;
        }
        lane -= s->lanes[g];
        *element += s->lanes[g] * s->rows[g];
        *row += s->rows[g];
    }
    return -1;
}

static inline void draw_tree(systems *s, uint64_t *state)
{
    int64_t at = 0;
    s->parent = malloc(sizeof(int32_t) * (size_t)(s->all_rows + 1));
    for (int64_t g = 0; g < s->groups; g++)
        for (int64_t r = 0; r < s->rows[g]; r++) {
            double kind = drawn(state);
            /* chains, branches, and now and then another root */
            s->parent[at++] = r == 0 || kind < 0.05 ? -1
                              : kind < 0.6          ? (int32_t)r - 1
                                                    : (int32_t)(drawn(state) * (double)r);
        }
}

static inline double complex drawn_value(const systems *s, int role, uint64_t *state)
{
    double re = role == DIAGONAL ? 2 + drawn(state) : role == RIGHT ? 2 * drawn(state) - 1 : -drawn(state);
    double im = s->dtype == LACIS_C128 ? 0.5 * drawn(state) - 0.25 : 0;
    if (s->dtype == LACIS_F32) re = (double)(float)re;
    return CMPLX(re, im);
}

/* The diagonal beyond the sum of the row's other elements: dominant, by little. */
static inline void make_dominant(systems *s)
{
    for (int64_t lane = 0; lane < s->all_lanes; lane++) {
        int64_t within, at, row, g = group_of_lane(s, lane, &within, &at, &row);
        for (int64_t r = 0; r < s->rows[g]; r++) {
            double sum = cabs(s->value[LOWER][at + r]);
            if (!s->tree) sum += cabs(s->value[UPPER][at + r]);
            for (int64_t k = r + 1; s->tree && k < s->rows[g]; k++)
                if (s->parent[row + k] == r) sum += cabs(s->value[UPPER][at + k]);
            s->value[DIAGONAL][at + r] += sum * 0.75;
            if (s->dtype == LACIS_F32) s->value[DIAGONAL][at + r] = (double)(float)creal(s->value[DIAGONAL][at + r]);
        }
    }
}

static inline bool is_shared_role(const systems *s, int role)
{
    return role != RIGHT && (s->matrix_shared || (s->off_shared && role != DIAGONAL));
}

static inline void systems_draw(systems *s, uint64_t seed)
{
    s->all_lanes = s->all_rows = s->elements = 0;
    for (int64_t g = 0; g < s->groups; g++) {
        s->all_lanes += s->lanes[g];
        s->all_rows += s->rows[g];
        s->elements += s->lanes[g] * s->rows[g];
    }
    s->parent = NULL;
    if (s->tree) draw_tree(s, &seed);
    for (int role = 0; role < ROLES; role++)
        s->value[role] = malloc(sizeof(double complex) * (size_t)(s->elements + 1));
    for (int64_t lane = 0; lane < s->all_lanes; lane++) {
        int64_t within, at, row, g = group_of_lane(s, lane, &within, &at, &row);
        for (int role = 0; role < ROLES; role++)
            for (int64_t r = 0; r < s->rows[g]; r++) {
                int64_t first = at - within * s->rows[g] + r;
                double complex own = drawn_value(s, role, &seed);
                s->value[role][at + r] = is_shared_role(s, role) && within > 0 ? s->value[role][first] : own;
            }
    }
    make_dominant(s);
}

static inline void systems_free(systems *s)
{
    for (int role = 0; role < ROLES; role++)
        free(s->value[role]);
    free(s->parent);
}

/* --- as an array -------------------------------------------------------------------------------------- */

static inline void put_value(const systems *s, void *data, int64_t at, double complex value)
{
    if (s->dtype == LACIS_F32) {
        ((float *)data)[at] = (float)creal(value);
    } else if (s->dtype == LACIS_F64) {
        ((double *)data)[at] = creal(value);
    } else {
        ((double *)data)[2 * at] = creal(value);
        ((double *)data)[2 * at + 1] = cimag(value);
    }
}

static inline void add_part(parity *p, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                            const void *data)
{
    lacis_buffer *buffer = buffer_of(p, data, lacis_dtype_size(dtype) * (size_t)count);
    parity_ok(p, lacis_array_add(&p->run, array, name, dtype, count, buffer, 0), name);
    lacis_buffer_release(buffer);
}

/* Elements that the systems do not have. */
static inline bool is_outside(const systems *s, int role, int64_t g, int64_t row, int64_t r)
{
    if (role == DIAGONAL || role == RIGHT) return false;
    if (s->tree) return s->parent[row + r] < 0;
    return role == LOWER ? r == 0 : r == s->rows[g] - 1;
}

static inline void add_role(parity *p, const systems *s, lacis_array *array, const lacis_batch *batch, int role,
                            const char *name)
{
    const bool shared = is_shared_role(s, role);
    int64_t count = shared ? batch->rows : batch->places, size = (int64_t)lacis_dtype_size(s->dtype);
    char *data = malloc((size_t)(count * size + 1));
    memset(data, 0xff, (size_t)(count * size)); /* padding holds anything: NaN */
    for (int64_t lane = 0; lane < s->all_lanes; lane++) {
        int64_t within, at, row, g = group_of_lane(s, lane, &within, &at, &row);
        for (int64_t r = 0; r < s->rows[g]; r++)
            put_value(s, data, shared ? row + r : lacis_batch_place(&batch->group[g], within, r),
                      is_outside(s, role, g, row, r) ? CMPLX(NAN, NAN) : s->value[role][at + r]);
    }
    add_part(p, array, name, s->dtype, count, data);
    free(data);
}

static inline lacis_array *systems_frame(parity *p, const systems *s, int64_t block, lacis_batch *batch)
{
    lacis_array *array;
    int64_t most = 0;
    for (int64_t g = 0; g < s->groups; g++)
        most = s->rows[g] > most ? s->rows[g] : most;
    parity_ok(p, lacis_array_new(&p->run, LACIS_INTERLEAVED, s->dtype, s->all_lanes, most, &array), "a batch");
    add_part(p, array, "block", LACIS_I64, 1, &block);
    add_part(p, array, "group_lanes", LACIS_I64, s->groups, s->lanes);
    add_part(p, array, "group_rows", LACIS_I64, s->groups, s->rows);
    if (s->tree) add_part(p, array, "parent", LACIS_I32, s->all_rows, s->parent);
    parity_ok(p, lacis_batch_view(&p->run, array, batch), "a batch");
    return array;
}

/* `matrix`, `right`: with these fields. */
static inline lacis_array *systems_array(parity *p, const systems *s, int64_t block, bool matrix, bool right)
{
    static const char *const chain[ROLES] = {"a", "b", "c", "d"}, *const tree[ROLES] = {"b", "d", "a", "rhs"};
    lacis_batch batch;
    lacis_array *array = systems_frame(p, s, block, &batch);
    for (int role = 0; role < ROLES; role++)
        if (role == RIGHT ? right : matrix) add_role(p, s, array, &batch, role, (s->tree ? tree : chain)[role]);
    return array;
}

/* --- the reference ------------------------------------------------------------------------------------ */

static inline void fill_dense(const systems *s, int64_t g, int64_t at, int64_t row, exact *m)
{
    const int64_t n = s->rows[g];
    for (int64_t r = 0; r < n; r++) {
        int64_t before = s->tree ? s->parent[row + r] : r - 1;
        m[r * (n + 1) + r] = s->value[DIAGONAL][at + r];
        m[r * (n + 1) + n] = s->value[RIGHT][at + r];
        if (before >= 0) m[r * (n + 1) + before] = s->value[LOWER][at + r];
        if (s->tree && before >= 0) m[before * (n + 1) + r] = s->value[UPPER][at + r];
        if (!s->tree && r + 1 < n) m[r * (n + 1) + r + 1] = s->value[UPPER][at + r];
    }
}

/* One lane, dense, with pivoting by rows. */
static inline void solve_dense(const systems *s, int64_t lane, double complex *x)
{
    int64_t within, at, row, g = group_of_lane(s, lane, &within, &at, &row), n = s->rows[g], w = n + 1;
    exact *m = calloc((size_t)(n * w + 1), sizeof *m);
    fill_dense(s, g, at, row, m);
    for (int64_t k = 0; k < n; k++) {
        int64_t best = k;
        for (int64_t r = k + 1; r < n; r++)
            if (cabsl(m[r * w + k]) > cabsl(m[best * w + k])) best = r;
        for (int64_t c = 0; c < w; c++) {
            exact swap = m[k * w + c];
            m[k * w + c] = m[best * w + c];
            m[best * w + c] = swap;
        }
        for (int64_t r = k + 1; r < n; r++) {
            exact f = m[r * w + k] / m[k * w + k];
            for (int64_t c = k; f != 0 && c < w; c++)
                m[r * w + c] -= f * m[k * w + c];
        }
    }
    for (int64_t r = n - 1; r >= 0; r--) {
        exact sum = m[r * w + n];
        for (int64_t c = r + 1; c < n; c++)
            sum -= m[r * w + c] * (exact)m[c * w + n];
        m[r * w + n] = sum / m[r * w + r];
        x[at + r] = (double complex)m[r * w + n];
    }
    free(m);
}

#endif
