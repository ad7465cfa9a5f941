/* SPDX-License-Identifier: Apache-2.0
 *
 * All loops of one type, T. Included once by each of the *.isa.c files of types.
 */
#include "sweep/vector.h"

#include "sweep/linear.h"

#include "sweep/bundle.h"

#include "sweep/joined.h"

#include "sweep/change.h"

static void choose(sweep_rule *rule, int dims)
{
    choose_row(rule);
    choose_bundle(rule, dims);
    choose_joined(rule, dims);
}

static void weights(const double *from, int count, void *to)
{
    T *weight = to;
    for (int i = 0; i < count; i++)
        weight[i] = (T)from[i];
}

static void affine(double a, double b, const void *from, void *to, int64_t n)
{
    const T *cell = from, by = (T)b, and = (T)a;
    T *out = to;
    for (int64_t i = 0; i < n; i++)
        out[i] = by == 0 ? and : one_fma(by, cell[i], and);
}

extern const sweep_loops LACIS_ISA(NAME);
const sweep_loops LACIS_ISA(NAME) = {
    .size = sizeof(T), .choose = choose, .weights = weights, .affine = affine, .change = change, .settle = settle};
