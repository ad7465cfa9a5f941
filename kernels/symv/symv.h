/* SPDX-License-Identifier: Apache-2.0
 *
 * y := alpha A x + beta y for symmetric, Hermitian and complex symmetric matrices of which one triangle is read,
 * once. Raw pointers and sizes only; operators/symv fills a job and calls lacis_symv_run. gpu.h takes the same job
 * with device pointers.
 *
 * Storage. Full: element (i, j) of matrix m at a + place + j ld + i, column behind column; packed: the columns'
 * stored elements behind each other, that is LOWER j (2 n - j - 1) / 2 + i, i >= j, UPPER j (j + 1) / 2 + i, i <= j.
 * A triangle stored row behind row is the other triangle stored column behind column (complex Hermitian: conjugated).
 * Elements of the other triangle are never read; of a Hermitian matrix's diagonal the imaginary part is not read
 * either. NaN and infinity in what is read go on into y as arithmetic has it.
 *
 * Errors. Let u be 2^-24 or 2^-53, the rounding of the vectors' type, and T_i the sum over j of |alpha| |a_ij| |x_j|,
 * and of |beta| |y0_i|, a complex number's modulus taken as |re| + |im|. Then in every order, short of overflow and
 * underflow, the computed y_i misses the exact one by at most
 *     S, D     (n + 8) u T_i            C, Z        2 (n + 8) u T_i
 *     W        4 (n + 8) u^2 T_i        complex W   8 (n + 8) u^2 T_i
 * and with sloppy sums that are not CANONICAL four times W's: those are normalised after four products. What accurate
 * addition adds is a bound for each addition relative to its result, so that cancellation loses nothing more.
 *
 * Order of sums, which decides the bits of y:
 *   FIXED      the same bits on every run of one device kind (a CPU: one instruction set) with one tuning
 *   FREE       whatever is fastest (on a GPU: atomics)
 *   CANONICAL  the same bits on CPU and GPU, for every tile, grid, tuning and number of threads; see below
 *
 * The canonical order. The matrix falls into tiles of 64 x 64, the last row and column of tiles filled up with
 * elements +0 against x elements +0. p counts along the stored direction (the row within a tile), q across it. V is
 * the number of matrix elements in 16 bytes, 1 at least. Matrix elements are taken as of the vectors' type (exactly;
 * of S and D with double-double sums there is no low part), a Hermitian's diagonal as having the imaginary part +0.
 * Every chain begins with +0 and goes on with the step
 *     real     s = fma(a, x, s)
 *     complex  re = fma(-ai, xi, fma(ar, xr, re)), im = fma(ai, xr, fma(ar, xi, im)), a Hermitian's mirror with -ai
 *     double-double: the same with lacis_dd_fma_sloppy or _accurate of common/dd.h, where a has no low part
 *     lacis_dd_fma_sloppy_by or _accurate_by; -ai negates both parts
 * and halving H(s, k) is: for h = k/2 .. 1: s[g] = s[g] + s[g + h] for all g < h (double-double: lacis_dd_add_sloppy
 * or _accurate, s[g] first).
 *   along (one sum for every q):  s[g], g < 64 / V: the chain over p = g V .. g V + V - 1;   then H(s, 64 / V)
 *   across (one sum for every p): s[w], w < 8: the chain over q = w, w + 8 .. w + 56;        then H(s, 8)
 * A stored tile beside the diagonal gives across sums of A x to its rows' part of y and along sums of A' x to its
 * columns' part. A tile on the diagonal is mirrored first (a Hermitian's with -ai) and gives across sums alone. So
 * each part of y has one vector of 64 sums from every tile row t; the sum over t is again s[w], w < 8, each +0 and
 * then the additions s[w] = s[w] + sum over t = w, w + 8 .., then H(s, 8), all eight of them even where there are
 * fewer t. Last y is a chain as above of the one step (alpha, s) and, where beta is not 0, of the step (beta, y0)
 * after it; alpha and beta are rounded to the vectors' type. LOWER and UPPER have bits of their own; full and packed
 * have the same, as has any leading dimension. Signs and payloads of NaN are left open, and so are the figures' bits.
 */
#ifndef LACIS_KERNELS_SYMV_H
#define LACIS_KERNELS_SYMV_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The matrix, then vectors, alpha, beta and sums where they are of another type. */
typedef enum lacis_symv_type {
    LACIS_SYMV_F32,  /* S */
    LACIS_SYMV_F64,  /* D */
    LACIS_SYMV_C64,  /* C */
    LACIS_SYMV_C128, /* Z */
    LACIS_SYMV_DD,   /* W: double-double, high and low */
    LACIS_SYMV_CDD,  /* complex W: real high, real low, imaginary high, imaginary low */
    LACIS_SYMV_F32_F64,
    LACIS_SYMV_F32_DD,
    LACIS_SYMV_F64_DD,
    LACIS_SYMV_TYPES
} lacis_symv_type;

typedef enum lacis_symv_uplo { LACIS_SYMV_LOWER, LACIS_SYMV_UPPER } lacis_symv_uplo;
typedef enum lacis_symv_order { LACIS_SYMV_FIXED, LACIS_SYMV_FREE, LACIS_SYMV_CANONICAL } lacis_symv_order;

typedef enum lacis_symv_status {
    LACIS_SYMV_OK,
    LACIS_SYMV_NO_MEMORY, /* alloc answered NULL */
    LACIS_SYMV_CANCELLED
} lacis_symv_status;

/* Memory and the wish to stop. alloc gives 64-byte alignment, from any thread. */
typedef struct lacis_symv_host {
    void *(*alloc)(void *context, uint64_t bytes);
    void (*free)(void *context, void *block);
    bool (*cancelled)(void *context); /* NULL: never. Asked from any thread */
    /* How many of the job's products of a matrix and a vector are done, by the thread that called. NULL: nobody asks
     */
    void (*told)(void *context, double done, double all);
    void *context;
} lacis_symv_host;

/* One matrix of a batch whose matrices differ in size. Places count elements from a, x, y0 and y. */
typedef struct lacis_symv_one {
    int64_t n, ld;
    int64_t a, x, y;
} lacis_symv_one;

/* What is known of one y besides itself, in double-double (high, low): x^H A x (before alpha and beta), and of y as
 * it is written the sum of moduli, the 2-norm (scaled: it only overflows where it must) and the largest modulus, NaN
 * where y has one. */
typedef struct lacis_symv_figures {
    double dot[2], dot_im[2];
    double norm1, norm2, norm_max;
} lacis_symv_figures;

typedef struct lacis_symv_job {
    lacis_symv_type type;
    lacis_symv_uplo uplo;
    lacis_symv_order order;
    bool hermitian; /* complex types: the other triangle is the conjugate */
    bool packed;    /* ld is not looked at */
    bool accurate;  /* double-double: accurate addition (Li et al. 2002) instead of the sloppy one */
    int64_t matrices;
    int64_t n, ld;             /* ld >= n */
    int64_t stride;            /* elements from one matrix to the next */
    const lacis_symv_one *one; /* of each matrix; NULL: all are n x n, ld, stride apart */
    const void *a;
    /* Vector v (of matrix m: right side r of `sides`) has its element i at x + m x_stride + r x_side + i x_step
     * elements, y likewise; steps may be negative, not 0. one's places stand in for m x_stride and m y_stride. */
    /* Right-hand sides of each matrix. A CPU takes 16 in one pass over it, of the canonical order 4. */
    int64_t sides;
    const void *x;
    int64_t x_stride, x_side, x_step;
    const void *y0; /* what beta is of, lying as y does; not read where beta is 0; may be y */
    void *y;        /* overlaps nothing but y0; NULL: only the figures are wanted */
    int64_t y_stride, y_side, y_step;
    double alpha[4], beta[4];    /* real high, real low, imaginary high, imaginary low */
    lacis_symv_figures *figures; /* of each vector, matrix by matrix; NULL: not wanted */
    int threads;
    lacis_symv_host host;
} lacis_symv_job;

/* After anything but OK what y and figures hold is undefined. */
lacis_symv_status lacis_symv_run(const lacis_symv_job *job);

/* Bytes that a run takes from host.alloc at most. */
uint64_t lacis_symv_work_bytes(const lacis_symv_job *job);

/* "avx512", "avx2", "baseline": which loops run here. LACIS_ISA in the environment asks for less. */
const char *lacis_symv_isa(void);

/* Bytes of an element of the matrix, and of one of x and y. */
static inline int lacis_symv_matrix_bytes(lacis_symv_type type)
{
    static const int bytes[LACIS_SYMV_TYPES] = {4, 8, 8, 16, 16, 32, 4, 4, 8};
    return bytes[type];
}
static inline int lacis_symv_vector_bytes(lacis_symv_type type)
{
    static const int bytes[LACIS_SYMV_TYPES] = {4, 8, 8, 16, 16, 32, 8, 16, 16};
    return bytes[type];
}
static inline bool lacis_symv_complex(lacis_symv_type type)
{
    return type == LACIS_SYMV_C64 || type == LACIS_SYMV_C128 || type == LACIS_SYMV_CDD;
}

#ifdef __cplusplus
}
#endif

#endif
