/* SPDX-License-Identifier: Apache-2.0
 *
 * Family BATCH: matrices alike and of all sizes together, every type; and its time beside a plain read.
 */
#include "symv_families.h"
#include "symv_time.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

static const lacis_symv_gpu_choice BATCH = {LACIS_SYMV_GPU_BATCH, 64, 32, 4, 24, 4, 1};

static void check_case(const symv_case &is)
{
    symv_data d;
    std::vector<unsigned char> bits;
    symv_make(&d, is);
    symv_check(&d, &BATCH, &bits);
}

/* A matrix alone must have the bits that it has among others. */
static void check_alone(symv_case is)
{
    symv_data many, one;
    std::vector<unsigned char> bits, alone;
    is.n = is.ld = 77;
    is.matrices = 3;
    symv_make(&many, is);
    is.matrices = 1; /* the same seed: the first of the three */
    symv_make(&one, is);
    symv_check(&many, &BATCH, &bits);
    symv_check(&one, &BATCH, &alone);
    const size_t bytes = (size_t)(is.n * lacis_symv_vector_bytes(is.type));
    symv_expect(std::equal(alone.begin(), alone.begin() + (long)bytes, bits.begin()), "%s: other bits alone",
                symv_name(is).c_str());
}

static void check_type(symv_case is, bool small)
{
    const bool complex = lacis_symv_complex(is.type);
    static const int64_t sizes[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 257, 512};
    check_alone(is);
    for (const int64_t n : sizes) {
        if (small && n != 7 && n != 31 && n != 129) continue;
        for (int way = 0; way < 4; way++) {
            if (small && n != 129 && (way & 1) != (n == 31)) continue;
            symv_case now = is;
            now.n = n;
            now.ld = n + (way == 1 ? 3 : way == 2 ? 4 - n % 4 : 0);
            now.matrices = n > 200 ? 2 : 5;
            now.packed = way == 3;
            now.shift = way == 1 ? 1 : 0;
            if (way == 1) now.x_step = 2, now.y_step = -3;
            if (way == 2) now.sides = 3, now.alpha[0] = -2, now.beta[0] = 0.5;
            if (way == 2 && complex) now.alpha[2] = 1, now.beta[2] = -0.25;
            if (way == 3) now.sides = 5;
            check_case(now);
        }
    }
    for (const bool packed : {false, true}) {
        symv_case now = is;
        now.packed = packed;
        now.sizes = {5, 0, 31, 130, 1, 64, 8, 17, 129, 2, 33, 128, small ? 140 : 400, 9};
        now.ld = 1; /* on top of each size */
        now.sides = 2;
        check_case(now);
    }
}

void check_batch(bool small, lacis_symv_type only)
{
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (int way = 0; way < 8; way++) {
            symv_case is;
            if (only != LACIS_SYMV_TYPES && type != only) break;
            const bool low = type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD || type == LACIS_SYMV_F32_DD ||
                             type == LACIS_SYMV_F64_DD;
            is.type = (lacis_symv_type)type;
            is.uplo = way & 1 ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
            is.hermitian = (way & 2) != 0;
            is.accurate = (way & 4) != 0;
            if ((is.hermitian && !lacis_symv_complex(is.type)) || (is.accurate && !low)) continue;
            is.seed = (uint64_t)(type * 8 + way + 1);
            check_type(is, small);
        }
}

/* --- time ---------------------------------------------------------------------------------------------------- */

static __global__ void scramble(unsigned *to, int64_t words)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < words;
         i += (int64_t)gridDim.x * blockDim.x) {
        unsigned z = (unsigned)i * 2654435761U;
        z ^= z >> 15;
        to[i] = (z & 0x807fffffU) | 0x3f000000U; /* numbers near 1, as float and as double */
    }
}

/* One size: `matrices` of n rows, several such batches in turn so that the L2 holds none. */
static void time_batch(symv_case is, int64_t matrices)
{
    symv_data d;
    lacis_symv_gpu_job job;
    const uint64_t vb = (uint64_t)lacis_symv_vector_bytes(is.type), n = (uint64_t)is.n;
    const uint64_t bytes = (uint64_t)matrices * n * n * (uint64_t)lacis_symv_matrix_bytes(is.type);
    const uint64_t read = (uint64_t)matrices * (n * (n + 1) / 2) * (uint64_t)lacis_symv_matrix_bytes(is.type);
    const size_t turns = (size_t)(1 + 600000000U / bytes);
    const uint64_t vectors = (uint64_t)matrices * n * (uint64_t)is.sides * vb;
    unsigned char *a, *x, *y;
    size_t turn = 0;
    int failed = 0;
    CUDA(cudaMalloc(&a, bytes * turns));
    CUDA(cudaMalloc(&x, vectors));
    CUDA(cudaMalloc(&y, vectors));
    scramble<<<1024, 256, 0, stream>>>((unsigned *)a, (int64_t)(bytes * turns / 4));
    scramble<<<1024, 256, 0, stream>>>((unsigned *)x, (int64_t)(vectors / 4));
    const double plain = symv_plain_read(a, read, 9);
    d.is = is;
    d.ones.resize((size_t)matrices);
    d.stride = is.n * is.n;
    d.x_side = d.y_side = is.n;
    d.x_stride = d.y_stride = is.n * is.sides;
    job = symv_job(&d, &BATCH);
    job.job.x = x;
    job.job.y = y;
    job.job.y0 = y;
    const double us = symv_time(11, [&] {
        int rc = 0;
        job.job.a = a + bytes * (turn++ % turns);
        failed += lacis_symv_gpu_run(&job, &rc) != LACIS_SYMV_GPU_OK;
    });
    printf("%lld x %s: %.1f us%s, of the plain read (%.1f us) %.3f, of copy at 4.3 TB/s %.3f\n", (long long)matrices,
           symv_name(is).c_str(), us, failed ? " FAILED" : "", plain, plain / us, (double)read / us / 4.3e6);
    d.on_a = d.on_x = d.on_y0 = d.on_y = nullptr;
    for (void *block : {(void *)a, (void *)x, (void *)y})
        CUDA(cudaFree(block));
}

int bench_batch(int argc, char **argv)
{
    (void)argc, (void)argv;
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (const int64_t sides : {1, 4})
            for (const int64_t n : {8, 16, 32, 64, 128, 256, 512}) {
                symv_case is;
                is.type = (lacis_symv_type)type;
                is.n = is.ld = n;
                is.sides = sides;
                time_batch(is, std::min<int64_t>(200000, std::max<int64_t>(132, 16384000 / (n * n))));
                is.packed = true;
                if (n == 128 && sides == 1) time_batch(is, 1000);
                is.packed = false;
                is.uplo = LACIS_SYMV_UPPER;
                if (n == 128) time_batch(is, 1000);
            }
    return 0;
}
