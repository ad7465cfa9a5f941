/* SPDX-License-Identifier: Apache-2.0
 *
 * Symmetric products as test cases: matrices with NaN wherever nothing may be read, a reference in double-double from
 * the definition, and runs through lacis_symv_gpu_run that are compared with it. Used by the parts of symv_gpu.cu.
 */
#ifndef LACIS_TESTS_GPU_SYMV_CASE_H
#define LACIS_TESTS_GPU_SYMV_CASE_H

#include "support.h"
#include "symv/gpu.h"

#include <string>

struct symv_case {
    lacis_symv_type type = LACIS_SYMV_F64;
    lacis_symv_uplo uplo = LACIS_SYMV_LOWER;
    lacis_symv_order order = LACIS_SYMV_FIXED;
    bool hermitian = false, packed = false, accurate = false;
    int64_t n = 0, ld = 0, sides = 1, matrices = 1;
    std::vector<int64_t> sizes; /* of each matrix, where they differ; then n and matrices are not looked at */
    int64_t shift = 0;          /* elements by which the matrix is moved off its alignment */
    int64_t x_step = 1, y_step = 1;
    double alpha[4] = {1, 0, 0, 0}, beta[4] = {0, 0, 0, 0};
    bool figures = false;
    uint64_t seed = 1;
};

/* A case with its data on both sides. Elements are made of numbers in [-1, 1), the low ones of double-double too. */
struct symv_data {
    symv_case is;
    std::vector<lacis_symv_one> ones;
    std::vector<unsigned char> a, x, y0; /* as they lie on the device */
    std::vector<double> want, scale;     /* of each element of y 4 parts (as alpha has them), and sum |a| |x| .. */
    unsigned char *on_a = nullptr, *on_x = nullptr, *on_y0 = nullptr, *on_y = nullptr;
    int64_t y_elements = 0, y_first = 0; /* of y's memory, and where element 0 lies in it */
    int64_t x_first = 0, x_stride = 0, x_side = 0, y_stride = 0, y_side = 0, stride = 0;
    ~symv_data();
};
void symv_make(symv_data *d, const symv_case &is);

/* Memory for jobs, counted: blocks held, and which allocation (from 1 on) fails. */
extern int64_t symv_live, symv_fail_at, symv_allocs;
extern int symv_checks;
void symv_expect(bool good, const char *format, ...); /* counts, and says what failed */

lacis_symv_gpu_job symv_job(const symv_data *d, const lacis_symv_gpu_choice *choice);
std::string symv_name(const symv_case &is);

/* Runs the case by the choice (NULL: the default) and compares: y poisoned before, what lies between y's elements
 * untouched, the error within its bound, the same bits in a second run. Writes y's bytes to *bits. */
void symv_check(symv_data *d, const lacis_symv_gpu_choice *choice, std::vector<unsigned char> *bits);

#endif
