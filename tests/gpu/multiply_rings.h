/* SPDX-License-Identifier: Apache-2.0
 *
 * Written semirings as multiply_rings.cu has them, for multiply_written.cu, which checks them, multiply_inside*.cu
 * and multiply_written_bench.cu.
 */
#ifndef LACIS_TESTS_GPU_MULTIPLY_RINGS_H
#define LACIS_TESTS_GPU_MULTIPLY_RINGS_H

#include "multiply_support.h"

#include <string>

/* A value, whatever its type: small integers stay exact. */
struct pair {
    double x, y;
};

struct ring {
    const char *name, *text; /* of lacis_con_of, lacis_fold and so on */
    lacis_mul_type type;
    lacis_mul_agg agg;
    bool any_order, having, listed;
    pair (*con)(double a, double b, int64_t s, int64_t c, int64_t t);
    pair (*fold)(pair x, pair y); /* of AVG: sum and count, which is the sum of imaginary parts as well */
    pair start;
    bool (*keeps)(pair v, int64_t s, int64_t t); /* HAVING: INSIDE, or BEHIND where `having` */
};

/* A ring's source; `seconds` that its last compilation took. */
struct compiling {
    std::string text;
    std::vector<std::string> option;
    double seconds;
};

extern const ring rings[];
extern const int ring_count;
lacis_mul_gpu_job ring_job(const ring &r, const lacis_mul_matrix &a, const lacis_mul_matrix &b);
/* Every class that can take a row. written: of kernels without MASK, and with. */
void check_ring(const ring &r, const matrix &a, const matrix &b, const matrix &mask, lacis_mul_gpu_written *written);
/* multiply_inside_f32.cu, multiply_inside_c128.cu: kernels with HAVING inside, by nvcc. */
void check_inside_f32(const matrix &a, const matrix &b, const matrix &mask);
void check_inside_i64(const matrix &a, const matrix &b, const matrix &mask);
void check_inside_c128(const matrix &a, const matrix &b, const matrix &mask);
void prepare_ring(const ring &r, const lacis_mul_gpu_job &job, compiling &of);
/* For lacis_mul_gpu_written, with a `compiling` as context. */
bool compile_ring(lacis_mul_gpu_written *written, uint32_t wanted);
void whole_values(matrix &m, u64 *state); /* 1 to 3: sums stay exact */

#endif
