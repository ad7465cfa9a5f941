/* SPDX-License-Identifier: Apache-2.0
 *
 * Family TICKETS: that it is right, and that it never hangs: very many small launches beside other work, with every y
 * compared on the device. Whoever waits for the device here waits for a limited time.
 */
#include "symv_families.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

static const lacis_symv_gpu_choice TICKETS = {LACIS_SYMV_GPU_TICKETS, 64, 64, 8, 16, 1, 1};

/* --- right ---------------------------------------------------------------------------------------------------- */

static void check_case(symv_case is)
{
    symv_data d;
    std::vector<unsigned char> bits;
    symv_make(&d, is);
    symv_check(&d, &TICKETS, &bits);
}

void check_tickets(bool small, lacis_symv_type only)
{
    static const int64_t sizes[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300, 1000, 1023, 1024, 1025};
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (int way = 0; way < 4; way++)
            for (const int64_t n : sizes) {
                symv_case is;
                if (only != LACIS_SYMV_TYPES && type != only) break;
                const bool complex = lacis_symv_complex((lacis_symv_type)type);
                if (n > 300 && (small || type > LACIS_SYMV_DD)) break;
                if (small && n != 2 && n != 65 && n != 300) continue;
                is.type = (lacis_symv_type)type;
                is.uplo = way & 1 ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
                is.hermitian = complex && (way & 2) != 0;
                is.accurate = (way & 2) != 0;
                is.packed = n % 3 == 0;
                is.n = n;
                is.ld = n + n % 5;
                is.shift = n % 2;
                is.sides = 1 + n % 4;
                is.x_step = n % 7 == 0 ? -2 : 1;
                is.y_step = n % 7 == 0 ? 3 : 1;
                is.alpha[0] = 0.5;
                is.beta[0] = n % 2 ? 2 : 0;
                if (complex) is.alpha[2] = -1, is.beta[2] = n % 2 ? 0.25 : 0;
                is.seed = (uint64_t)(type * 1000 + way * 7 + n);
                check_case(is);
            }
}

/* --- never hanging ---------------------------------------------------------------------------------------------- */

/* Counts words of y that are not as they were the first time. */
static __global__ void compare(const unsigned *y, const unsigned *first, int words, unsigned *differ)
{
    for (int i = (int)threadIdx.x; i < words; i += (int)blockDim.x)
        if (y[i] != first[i]) atomicAdd(differ, 1U);
}

/* Other work: keeps every multiprocessor busy for some microseconds, with blocks of the greatest size. */
static __global__ void busy(double *to, int rounds)
{
    double s = threadIdx.x;
    for (int i = 0; i < rounds; i++)
        s = fma(s, 0.999, 1.0);
    to[blockIdx.x * blockDim.x + threadIdx.x] = s;
}

/* Waits for the stream, at most some seconds; false: it has not come so far. */
static bool wait_at_most(cudaStream_t stream, double seconds)
{
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds) {
        const cudaError_t rc = cudaStreamQuery(stream);
        if (rc == cudaSuccess) return true;
        if (rc != cudaErrorNotReady) CUDA(rc);
    }
    return false;
}

/* `launches` products of n x n, compared each, beside work on another stream. */
static void stress(lacis_symv_type type, int64_t n, int64_t launches)
{
    enum { AT_ONCE = 500, BUSY_BLOCKS = 264, BUSY_THREADS = 1024 };
    symv_case is;
    symv_data d;
    std::vector<unsigned char> bits;
    cudaStream_t other;
    unsigned *differ, wrong = 0;
    unsigned char *first;
    double *sink;
    is.type = type;
    is.n = is.ld = n;
    symv_make(&d, is);
    symv_check(&d, &TICKETS, &bits);
    CUDA(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&differ, sizeof *differ));
    CUDA(cudaMemset(differ, 0, sizeof *differ));
    CUDA(cudaMalloc(&first, bits.size()));
    CUDA(cudaMemcpy(first, bits.data(), bits.size(), cudaMemcpyHostToDevice));
    CUDA(cudaMalloc(&sink, sizeof(double) * BUSY_BLOCKS * BUSY_THREADS));
    const lacis_symv_gpu_job job = symv_job(&d, &TICKETS);
    for (int64_t done = 0; done < launches; done += AT_ONCE) {
        for (int i = 0; i < AT_ONCE; i++) {
            int rc = 0;
            const lacis_symv_gpu_status status = lacis_symv_gpu_run(&job, &rc);
            if (status != LACIS_SYMV_GPU_OK) symv_expect(false, "stress: status %d, CUDA %d", (int)status, rc);
            compare<<<1, 128, 0, stream>>>((const unsigned *)d.on_y, (const unsigned *)first, (int)(bits.size() / 4),
                                           differ);
            if (i % 4 == 0) busy<<<BUSY_BLOCKS, BUSY_THREADS, 0, other>>>(sink, 300 + 100 * (i % 16));
        }
        if (!wait_at_most(stream, 10) || !wait_at_most(other, 10)) {
            printf("FAIL stress: still waiting after 10 s, launches %lld ff. of n %lld\n", (long long)done,
                   (long long)n);
            exit(1); /* nothing can be freed while it runs */
        }
    }
    CUDA(cudaMemcpy(&wrong, differ, sizeof wrong, cudaMemcpyDeviceToHost));
    symv_expect(wrong == 0, "stress: %u words of y were other than the first time", wrong);
    symv_expect(symv_live == 0, "stress: %lld blocks left", (long long)symv_live);
    CUDA(cudaStreamDestroy(other));
    CUDA(cudaFree(differ));
    CUDA(cudaFree(first));
    CUDA(cudaFree(sink));
}

int stress_tickets(int argc, char **argv)
{
    const int64_t launches = argc > 0 ? atoll(argv[0]) : 100000;
    const auto begin = std::chrono::steady_clock::now();
    stress(LACIS_SYMV_F64, 320, launches / 2);
    stress(LACIS_SYMV_F32, 1000, launches / 4);
    stress(LACIS_SYMV_F64, 65, launches / 4);
    printf("stress: %lld launches in %.1f s, %d failures\n", (long long)launches,
           std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(), failures);
    return failures ? 1 : 0;
}
