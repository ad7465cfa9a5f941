/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of kernels/symv share on the CPU: a matrix of a job, and the loops that each type has in each
 * instruction set. run.c drives them.
 *
 * A product goes in four steps: x is brought into a room of the kernel's own; the parts of the triangle are taken, in
 * any order and on any threads, and leave sums in the room, each in its place; for each chunk of rows the sums are
 * added up in an order of their own; that chunk of y is finished. What falls where depends on n alone, so bits do not
 * depend on threads.
 */
#ifndef LACIS_KERNELS_SYMV_INSIDE_H
#define LACIS_KERNELS_SYMV_INSIDE_H

#include "common/dd.h"
#include "symv/symv.h"

#include <stddef.h>

#define LACIS_ISA_GLUE2(name, isa) name##_##isa
#define LACIS_ISA_GLUE(name, isa)  LACIS_ISA_GLUE2(name, isa)
#define LACIS_ISA(name)            LACIS_ISA_GLUE(name, LACIS_ISA_NAME)

enum {
    SYMV_TILE = 64,       /* of the canonical order */
    SYMV_ROWS = 256,      /* rows of y that are finished at a time; a multiple of SYMV_TILE */
    SYMV_NUMBER_MOST = 32 /* bytes of a vector element */
};

typedef struct symv_matrix {
    const lacis_symv_job *job;
    int64_t n, ld;
    const char *a, *x, *y0; /* x, y0, y: element 0 of side 0 */
    char *y;
} symv_matrix;

/* Where element (0, j) would lie. */
static inline const char *symv_column(const symv_matrix *m, int64_t j)
{
    const lacis_symv_job *job = m->job;
    int64_t place = j * m->ld;
    if (job->packed) place = job->uplo == LACIS_SYMV_LOWER ? j * (2 * m->n - j - 1) / 2 : j * (j + 1) / 2;
    return m->a + place * lacis_symv_matrix_bytes(job->type);
}

/* Some right-hand sides of one matrix, and the room that their x and sums take. */
typedef struct symv_pass {
    const symv_matrix *m;
    int64_t side; /* the first */
    int sides;
    char *room;
} symv_pass;

/* One way to take the triangle. Sums are of the vectors' type, elements as they lie in x and y. */
typedef struct symv_path {
    int sides; /* of one pass, at most */
    int64_t (*parts)(int64_t n);
    uint64_t (*room)(int64_t n, int sides);
    void (*bring)(const symv_pass *pass);
    void (*part)(const symv_pass *pass, int64_t part);
    /* Rows [row, row + count) of A x; row is a multiple of SYMV_ROWS, count that many at most. */
    void (*sum)(const symv_pass *pass, int side, int64_t row, int count, void *out);
} symv_path;

/* Figures of some rows. */
typedef struct symv_dot {
    lacis_dd exact;
    double plain;
} symv_dot;
static inline void symv_dot_add(symv_dot *into, const symv_dot *part)
{
    into->exact = lacis_dd_add_accurate(into->exact, part->exact);
    into->plain += part->plain;
}
typedef struct symv_partial {
    symv_dot dot, dot_im;
    lacis_dd norm1;
    double largest, squares; /* sum of squares of modulus / 2^exponent */
    int exponent;
} symv_partial;

typedef struct symv_loops {
    symv_path fixed, canonical;
    /* Writes rows of y from the sums; partial may be NULL. */
    void (*finish)(const symv_pass *pass, int side, int64_t row, int count, const void *sums, symv_partial *partial);
} symv_loops;

typedef struct symv_kernels {
    const char *name;
    const symv_loops *loops[LACIS_SYMV_TYPES];
} symv_kernels;
extern const symv_kernels lacis_symv_kernels_baseline, lacis_symv_kernels_avx2, lacis_symv_kernels_avx512;
const symv_kernels *lacis_symv_kernels(void);

/* figures.c: rows' figures put together in their order. */
void lacis_symv_join(symv_partial *into, const symv_partial *part);
void lacis_symv_figures_of(const symv_partial *all, lacis_symv_figures *out);
static inline symv_partial symv_partial_none(void)
{
    return (symv_partial){.exponent = -2000};
}

static inline uint64_t symv_lines(uint64_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

#endif
