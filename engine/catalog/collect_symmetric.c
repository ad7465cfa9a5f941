/* SPDX-License-Identifier: Apache-2.0
 *
 * Dense symmetric matrices out of collected columns ([lane,] i, j and the words of a value). Every element lands at
 * its own place of full storage; then what stands in one triangle alone is mirrored, and what stands in both must
 * agree. Missing elements are 0. The triangle that was given is the stored one: the lower one where both were.
 */
#include "catalog/collect.h"
#include "core/symmetric.h"

#include <inttypes.h>
#include <string.h>

typedef struct matrix {
    lacis_run *run;
    const lacis_collected *from;
    bool batch;
    int first; /* column of the first word */
    int words;
    int64_t base[2]; /* least label of rows and columns, of lanes */
    int64_t *order;  /* of each lane; NULL without lanes */
    lacis_symmetric_shape shape;
    lacis_symmetric a;
    char *values;
    uint64_t *given;            /* a bit a place */
    bool lower, upper, both;    /* elements off the diagonal: of one triangle alone, of both */
    bool same, conjugate, real; /* all that stand in both are the same, conjugate; the diagonal is real */
} matrix;

static int64_t label(const matrix *self, int column, int64_t row)
{
    return self->from->bits[column + self->batch][row];
}

/* --- sizes ---------------------------------------------------------------------------------------- */

static lacis_status too_far(const matrix *self, const char *what, int64_t low, int64_t high)
{
    return lacis_run_fail(self->run, LACIS_RANGE,
                          "%s go from %" PRId64 " to %" PRId64
                          ": a dense matrix has a place for each number between, and at most 2^31 - 1",
                          what, low, high);
}

static lacis_status find_bounds(matrix *self)
{
    int64_t low = INT64_MAX, high = INT64_MIN, low_lane = INT64_MAX, high_lane = INT64_MIN;
    for (int64_t r = 0; r < self->from->rows; r++) {
        for (int c = 0; c < 2; c++) {
            int64_t at = label(self, c, r);
            if (at < low) low = at;
            if (at > high) high = at;
        }
        int64_t lane = self->batch ? label(self, -1, r) : 0;
        if (lane < low_lane) low_lane = lane;
        if (lane > high_lane) high_lane = lane;
    }
    self->shape.matrices = self->batch ? 0 : 1;
    if (self->from->rows == 0) return LACIS_OK;
    if ((uint64_t)high - (uint64_t)low >= INT32_MAX) return too_far(self, "i and j", low, high);
    if ((uint64_t)high_lane - (uint64_t)low_lane >= INT32_MAX) return too_far(self, "lanes", low_lane, high_lane);
    self->base[0] = self->shape.base[0] = low;
    self->base[1] = self->shape.base[1] = self->batch ? low_lane : 0;
    self->shape.n = high - low + 1;
    self->shape.matrices = high_lane - low_lane + 1;
    return LACIS_OK;
}

/* Each lane is as large as its own elements ask for. */
static lacis_status find_orders(matrix *self)
{
    bool equal = true;
    int64_t matrices = self->shape.matrices;
    if (!self->batch) return LACIS_OK;
    LACIS_TRY(lacis_run_alloc(self->run, (uint64_t)matrices * sizeof *self->order, &self->order));
    memset(self->order, 0, (uint64_t)matrices * sizeof *self->order);
    for (int64_t r = 0; r < self->from->rows; r++) {
        int64_t *order = &self->order[label(self, -1, r) - self->base[1]];
        for (int c = 0; c < 2; c++) {
            int64_t rows = label(self, c, r) - self->base[0] + 1;
            if (rows > *order) *order = rows;
        }
    }
    for (int64_t m = 0; m < matrices; m++)
        equal = equal && self->order[m] == self->shape.n;
    if (!equal) self->shape.order = self->order;
    return LACIS_OK;
}

/* --- elements ------------------------------------------------------------------------------------- */

/* In full storage, whichever triangle it is of. */
static int64_t place_of(const matrix *self, int64_t m, int64_t i, int64_t j)
{
    return lacis_symmetric_begin(&self->a, m) + j * lacis_symmetric_ld(&self->a, m) + i;
}

static bool is_given(const matrix *self, int64_t place)
{
    return (self->given[place / 64] >> place % 64 & 1) != 0;
}

/* "element (3, 1)", "element (3, 1) of lane 2" */
static const char *name_of(const matrix *self, int64_t m, int64_t i, int64_t j, char *text, size_t size)
{
    int used = snprintf(text, size, "element (%" PRId64 ", %" PRId64 ")", self->base[0] + i, self->base[0] + j);
    if (self->batch) snprintf(text + used, size - (size_t)used, " of lane %" PRId64, self->base[1] + m);
    return text;
}

static lacis_status put(matrix *self, int64_t r)
{
    char text[100];
    int64_t m = self->batch ? label(self, -1, r) - self->base[1] : 0;
    int64_t i = label(self, 0, r) - self->base[0], j = label(self, 1, r) - self->base[0],
            at = place_of(self, m, i, j);
    double *word = (double *)(void *)self->values + at * self->words;
    if (is_given(self, at))
        return lacis_run_fail(self->run, LACIS_TYPE, "%s is given twice: sum(value) ... GROUP BY makes one of them",
                              name_of(self, m, i, j, text, sizeof text));
    self->given[at / 64] |= (uint64_t)1 << at % 64;
    for (int k = 0; k < self->words; k++) {
        int column = self->first + k;
        int64_t bits = self->from->bits[column][r];
        if (column == self->from->columns || self->from->real[column])
            memcpy(&word[k], &bits, sizeof bits);
        else
            word[k] = (double)bits;
    }
    return LACIS_OK;
}

/* --- both triangles ------------------------------------------------------------------------------- */

static bool equal(double a, double b)
{
    return a == b || (a != a && b != b);
}

static bool is_complex(const matrix *self)
{
    return self->shape.dtype == LACIS_C128 || self->shape.dtype == LACIS_CDD;
}

/* Whether (j, i) is (i, j), or its conjugate. */
static void compare(const matrix *self, const double *x, const double *y, bool *same, bool *conjugate)
{
    int real = is_complex(self) ? self->words / 2 : self->words;
    *same = *conjugate = true;
    for (int k = 0; k < self->words; k++) {
        *same = *same && equal(x[k], y[k]);
        *conjugate = *conjugate && equal(x[k], k < real ? y[k] : -y[k]);
    }
    if (!is_complex(self)) *conjugate = false;
}

/* Looks at (i, j) and (j, i), i > j. */
static lacis_status meet(matrix *self, int64_t m, int64_t i, int64_t j)
{
    char text[100];
    int64_t low = place_of(self, m, i, j), high = place_of(self, m, j, i);
    const double *values = (const double *)(const void *)self->values;
    bool below = is_given(self, low), above = is_given(self, high), same, conjugate;
    if (below != above) {
        self->lower = self->lower || below;
        self->upper = self->upper || above;
    }
    if (!below || !above) return LACIS_OK;
    compare(self, values + low * self->words, values + high * self->words, &same, &conjugate);
    self->both = true;
    self->same = self->same && same;
    self->conjugate = self->conjugate && conjugate;
    if (self->same || self->conjugate) return LACIS_OK;
    return lacis_run_fail(self->run, LACIS_TYPE,
                          "%s is given in both triangles, and differs: the matrix is not symmetric%s",
                          name_of(self, m, i, j, text, sizeof text), is_complex(self) ? ", nor Hermitian" : "");
}

static lacis_status look(matrix *self)
{
    self->same = self->conjugate = self->real = true;
    int real = self->words / 2;
    for (int64_t m = 0; m < self->shape.matrices; m++) {
        int64_t n = lacis_symmetric_order(&self->a, m);
        for (int64_t j = 0; j < n; j++) {
            const double *word = (const double *)(const void *)self->values + place_of(self, m, j, j) * self->words;
            for (int k = real; k < self->words && is_complex(self); k++)
                self->real = self->real && word[k] == 0;
            for (int64_t i = j + 1; i < n; i++)
                LACIS_TRY(meet(self, m, i, j));
            if (lacis_run_cancelled(self->run)) return lacis_run_interrupted(self->run);
        }
    }
    return LACIS_OK;
}

/* Whether the matrix is Hermitian: where both triangles are there they say it, else a real diagonal does. */
static bool hermitian(const matrix *self)
{
    if (!is_complex(self) || !self->real || !self->conjugate) return false;
    lacis_run_note(self->run, LACIS_NOTE, "taken for Hermitian: its diagonal is real%s",
                   self->both ? ", and (j, i) the conjugate of (i, j)" : "");
    return true;
}

/* Elements of one triangle alone to the other one, so that either may be taken for the stored one. */
static void complete(matrix *self, bool conjugated)
{
    size_t size = (size_t)self->words * sizeof(double);
    for (int64_t m = 0; m < self->shape.matrices; m++)
        for (int64_t j = 0; j < lacis_symmetric_order(&self->a, m); j++)
            for (int64_t i = j + 1; i < lacis_symmetric_order(&self->a, m); i++) {
                int64_t low = place_of(self, m, i, j), high = place_of(self, m, j, i);
                if (is_given(self, low) == is_given(self, high)) continue;
                int64_t to = is_given(self, low) ? high : low, from = is_given(self, low) ? low : high;
                double *word = (double *)(void *)(self->values + (size_t)to * size);
                memcpy(word, self->values + (size_t)from * size, size);
                for (int k = self->words / 2; k < self->words && conjugated; k++)
                    word[k] = -word[k];
            }
}

/* --- arrays --------------------------------------------------------------------------------------- */

static lacis_status check_memory(const matrix *self, int64_t places)
{
    uint64_t size = lacis_dtype_size(self->shape.dtype), left = lacis_run_memory_left(self->run);
    double need = (double)places * ((double)size + 0.125);
    if (places >= 0 && need <= (double)left) return LACIS_OK;
    return lacis_run_fail(self->run, LACIS_LIMIT,
                          "a dense matrix of %" PRId64 " rows would need %.4g MB, and memory_limit leaves %.4g MB",
                          self->shape.n, places < 0 ? (double)INT64_MAX / 1e6 : need / 1e6, (double)left / 1e6);
}

static lacis_status begin(matrix *self, lacis_array **array)
{
    LACIS_TRY(find_bounds(self));
    LACIS_TRY(find_orders(self));
    int64_t places = lacis_symmetric_places(&self->shape);
    LACIS_TRY(check_memory(self, places));
    LACIS_TRY(lacis_symmetric_new(self->run, &self->shape, NULL, array));
    LACIS_TRY(lacis_symmetric_view(self->run, *array, &self->a));
    uint64_t bytes = (uint64_t)places * lacis_dtype_size(self->shape.dtype), bits = ((uint64_t)places / 64 + 1) * 8;
    self->values = lacis_buffer_data(lacis_array_part_buffer(*array, "values", NULL));
    memset(self->values, 0, bytes);
    LACIS_TRY(lacis_run_alloc(self->run, bits, &self->given));
    memset(self->given, 0, bits);
    return LACIS_OK;
}

/* The shape is known only once the elements are: the same values under a description that says it. */
static lacis_status build(matrix *self, lacis_array **array, lacis_array **out)
{
    LACIS_TRY(begin(self, array));
    for (int64_t r = 0; r < self->from->rows; r++)
        LACIS_TRY(put(self, r));
    LACIS_TRY(look(self));
    self->shape.hermitian = hermitian(self);
    self->shape.upper = self->upper && !self->lower && !self->both;
    complete(self, self->shape.hermitian);
    return lacis_symmetric_new(self->run, &self->shape, lacis_array_part_buffer(*array, "values", NULL), out);
}

lacis_status lacis_collected_symmetric(lacis_run *run, const lacis_collected *from, lacis_dtype dtype,
                                       lacis_array **out)
{
    lacis_array *array = NULL;
    bool batch = lacis_name_compare(from->name[0], "lane") == 0;
    matrix self = {.run = run, .from = from, .batch = batch, .first = batch ? 3 : 2};
    self.words = (int)(lacis_dtype_size(dtype) / sizeof(double));
    self.shape.dtype = dtype;
    lacis_status status = build(&self, &array, out);
    lacis_array_release(array);
    lacis_run_free(run, self.order);
    lacis_run_free(run, self.given);
    return status;
}
