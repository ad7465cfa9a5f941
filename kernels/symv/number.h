/* SPDX-License-Identifier: Apache-2.0
 *
 * The numbers of one type: what the *.isa.c files of kernels/symv are written in. Before it is included:
 *   T       float or double: what vectors and sums are made of; E the same of the matrix
 *   KIND    SYMV_REAL, SYMV_COMPLEX, SYMV_WIDE (double-double) or SYMV_WIDE_COMPLEX
 *   MATRIX  how many E make a matrix element
 *   NAME    of the table that the file defines
 */
#include "symv/inside.h"

#include <stdbool.h>
#include <string.h>

#ifndef LACIS_ISA_NAME
#error "files called *.isa.c are compiled with LACIS_ISA_NAME"
#endif

#define SYMV_REAL         1
#define SYMV_COMPLEX      2
#define SYMV_WIDE         3
#define SYMV_WIDE_COMPLEX 4

#define IS_COMPLEX (KIND == SYMV_COMPLEX || KIND == SYMV_WIDE_COMPLEX)
#define IS_WIDE    (KIND == SYMV_WIDE || KIND == SYMV_WIDE_COMPLEX)
#define PARTS      (KIND == SYMV_REAL ? 1 : KIND == SYMV_WIDE_COMPLEX ? 4 : 2)
#define ALWAYS     static inline __attribute__((always_inline))

/* A vector's element, and a matrix's: of the vectors' type, but without a low part where it has none. */
typedef struct num {
    T v[PARTS];
} num;
typedef struct mat {
    T v[MATRIX];
} mat;

ALWAYS T fma_of(T a, T b, T c)
{
    return sizeof(T) == sizeof(float) ? (T)__builtin_fmaf((float)a, (float)b, (float)c) : (T)__builtin_fma(a, b, c);
}

#if IS_WIDE
ALWAYS lacis_dd wide_plus(lacis_dd s, lacis_dd t, bool accurate)
{
    return accurate ? lacis_dd_add_accurate(s, t) : lacis_dd_add_sloppy(s, t);
}

ALWAYS lacis_dd wide_at(const T *v)
{
    return lacis_dd_new(v[0], v[1]);
}
#endif

/* One step of a chain: a x + s. */
ALWAYS num num_step(num a, num x, num s, bool accurate)
{
    (void)accurate;
#if KIND == SYMV_REAL
    return (num){{fma_of(a.v[0], x.v[0], s.v[0])}};
#elif KIND == SYMV_COMPLEX
    return (num){{fma_of(-a.v[1], x.v[1], fma_of(a.v[0], x.v[0], s.v[0])),
                  fma_of(a.v[1], x.v[0], fma_of(a.v[0], x.v[1], s.v[1]))}};
#elif KIND == SYMV_WIDE
    lacis_dd r = wide_plus(wide_at(s.v), lacis_dd_mul_raw(wide_at(a.v), wide_at(x.v)), accurate);
    return (num){{r.hi, r.lo}};
#else
    const lacis_dd ar = wide_at(a.v), ai = wide_at(a.v + 2), xr = wide_at(x.v), xi = wide_at(x.v + 2);
    lacis_dd re = wide_plus(wide_at(s.v), lacis_dd_mul_raw(ar, xr), accurate);
    re = wide_plus(re, lacis_dd_mul_raw(lacis_dd_neg(ai), xi), accurate);
    lacis_dd im = wide_plus(wide_at(s.v + 2), lacis_dd_mul_raw(ar, xi), accurate);
    im = wide_plus(im, lacis_dd_mul_raw(ai, xr), accurate);
    return (num){{re.hi, re.lo, im.hi, im.lo}};
#endif
}

/* The same with a matrix's element. */
ALWAYS num mat_step(mat a, num x, num s, bool accurate)
{
#if KIND == SYMV_WIDE && MATRIX == 1
    lacis_dd r = wide_plus(wide_at(s.v), lacis_dd_mul_raw_by(a.v[0], wide_at(x.v)), accurate);
    return (num){{r.hi, r.lo}};
#else
    num full;
    memcpy(&full, &a, sizeof full);
    return num_step(full, x, s, accurate);
#endif
}

ALWAYS num num_plus(num s, num t, bool accurate)
{
    (void)accurate;
#if IS_WIDE
    for (int i = 0; i < PARTS; i += 2) {
        lacis_dd r = wide_plus(wide_at(s.v + i), wide_at(t.v + i), accurate);
        s.v[i] = r.hi;
        s.v[i + 1] = r.lo;
    }
#else
    for (int i = 0; i < PARTS; i++)
        s.v[i] += t.v[i];
#endif
    return s;
}

/* The element across the diagonal. */
ALWAYS mat mat_mirror(mat a, bool hermitian)
{
    for (int i = MATRIX / 2; IS_COMPLEX && hermitian && i < MATRIX; i++)
        a.v[i] = -a.v[i];
    return a;
}

/* One on it. */
ALWAYS mat mat_diagonal(mat a, bool hermitian)
{
    for (int i = MATRIX / 2; IS_COMPLEX && hermitian && i < MATRIX; i++)
        a.v[i] = 0;
    return a;
}

ALWAYS mat mat_read(const E *at)
{
    mat a;
    for (int i = 0; i < MATRIX; i++)
        a.v[i] = (T)at[i];
    return a;
}

/* alpha or beta. */
ALWAYS num num_factor(const double *from)
{
    num out = {{(T)from[0]}};
    if (KIND == SYMV_COMPLEX) out.v[PARTS - 1] = (T)from[2];
    for (int i = 1; IS_WIDE && i < PARTS; i++)
        out.v[i] = (T)from[i];
    return out;
}

/* Element `row` of a vector. */
ALWAYS const T *vector_at(const char *base, int64_t side, int64_t side_step, int64_t row, int64_t step)
{
    return (const T *)base + (side * side_step + row * step) * PARTS;
}

ALWAYS const T *x_at(const symv_pass *pass, int side, int64_t row)
{
    const lacis_symv_job *job = pass->m->job;
    return vector_at(pass->m->x, pass->side + side, job->x_side, row, job->x_step);
}
