/* SPDX-License-Identifier: Apache-2.0
 *
 * Family RING: every type, triangle and storage at the sizes where tiles begin and end, and its bits.
 */
#include "symv_families.h"
#include "symv_time.h"

#include <cstdio>
#include <cstdlib>

/* A strip of `wide` tiles. */
static lacis_symv_gpu_choice ring(lacis_symv_type type, int wide, int resident, int chunk)
{
    const int bytes = lacis_symv_matrix_bytes(type);
    return {LACIS_SYMV_GPU_RING,
            32 * (bytes < 16 ? 16 / bytes : 1),
            (bytes > 16 ? 32 : 64) * wide,
            8,
            16,
            resident,
            chunk};
}

/* One size: strips of one, two and four tiles. The bits must be the same however many blocks are resident. */
static void check_size(const symv_case &is, bool small)
{
    symv_data d;
    std::vector<unsigned char> bits, other;
    symv_make(&d, is);
    for (const int chunk : {1, 3, 8})
        for (const int wide : {1, 2, 4}) {
            const lacis_symv_gpu_choice two = ring(is.type, wide, 2, chunk), three = ring(is.type, wide, 3, chunk);
            if ((small && (chunk == 8 || wide == 4 || (chunk == 1) == (is.n > 65))) || (is.n > 300 && chunk == 1))
                continue;
            if (symv_gpu_refused(&d, &two)) continue; /* too long a chunk for the shared memory */
            symv_check(&d, &two, &bits);
            if (small || is.n < 64 || symv_gpu_refused(&d, &three)) continue;
            symv_check(&d, &three, &other);
            symv_expect(bits == other, "%s: other bits with 3 blocks a multiprocessor", symv_name(is).c_str());
        }
}

/* All sizes of one type and triangle; small: a few. */
static void check_type(symv_case is, bool small, bool large)
{
    static const int64_t sizes[] = {0,   1,   2,   7,   31,   32,   33,   63,   64,  65,
                                    127, 128, 129, 300, 1000, 1023, 1024, 1025, 4097};
    for (const int64_t n : sizes) {
        if ((n > 300 && !large) || (n > 1025 && is.type > LACIS_SYMV_F64)) break;
        if (small && n != 1 && n != 33 && n != 129) continue;
        for (const int64_t gap : {0, 1, 4}) {
            if ((gap > 0 && n > 300) || (gap == 1 && n > 129) || (gap == 4 && small)) continue;
            is.n = n;
            is.ld = n + gap;
            check_size(is, small);
        }
    }
}

/* What has ways of its own: packed, unaligned, steps, several sides, alpha and beta. */
static void check_ways(symv_case is, bool small)
{
    std::vector<unsigned char> bits;
    for (const int64_t n : {5, 64, 131, 290, 1100})
        for (int way = 0; way < 6; way++) {
            if ((small && n != 131) || (n > 290 && is.type > LACIS_SYMV_C128)) break;
            symv_case now = is;
            symv_data d;
            now.n = n;
            now.ld = n + (way == 1 ? 3 : n % 2);
            now.packed = way == 0;
            now.shift = way == 1 ? 1 : 0;
            if (way == 2) now.x_step = -3, now.y_step = 2;
            if (way == 3) now.sides = 2;
            if (way == 4) now.sides = 4, now.x_step = 2, now.y_step = -1;
            if (way == 5) now.sides = 3, now.packed = true;
            if (way >= 2) now.alpha[0] = -1.5, now.beta[0] = 0.75;
            if (way >= 2 && lacis_symv_complex(is.type)) now.alpha[2] = 0.5, now.beta[2] = -2;
            symv_make(&d, now);
            for (const int wide : {way % 2 + 1, n > 290 ? 8 : 4}) {
                const lacis_symv_gpu_choice choice = ring(is.type, wide, 2, wide == 4 ? 4 : 2);
                symv_check(&d, &choice, &bits);
            }
        }
}

void check_ring(bool small, lacis_symv_type only)
{
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (int way = 0; way < 8; way++) {
            symv_case is;
            if (only != LACIS_SYMV_TYPES && type != only) break;
            is.type = (lacis_symv_type)type;
            is.uplo = way & 1 ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
            is.hermitian = (way & 2) != 0;
            is.accurate = (way & 4) != 0;
            const bool low = type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD || type == LACIS_SYMV_F32_DD ||
                             type == LACIS_SYMV_F64_DD;
            if ((is.hermitian && !lacis_symv_complex(is.type)) || (is.accurate && !low)) continue;
            is.seed = (uint64_t)(type * 8 + way + 1);
            check_type(is, small, !small && way < 2 && !low);
            check_ways(is, small);
        }
}

/* --- time ---------------------------------------------------------------------------------------------------------
 */

/* Matrices in turn, so that the L2 holds none of the one that is next. */
struct rotating {
    std::vector<unsigned char *> a;
    void *x = nullptr, *y = nullptr;
    size_t at = 0;
};

static __global__ void scramble(unsigned *to, int64_t words)
{
    for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < words;
         i += (int64_t)gridDim.x * blockDim.x) {
        unsigned z = (unsigned)i * 2654435761U;
        z ^= z >> 15;
        to[i] = (z & 0x807fffffU) | 0x3f000000U; /* numbers near 1, as float and as double */
    }
}

static void rotate_make(rotating *r, lacis_symv_type type, int64_t n, int sides)
{
    const uint64_t bytes = (uint64_t)(n * n) * (uint64_t)lacis_symv_matrix_bytes(type);
    const int64_t many = 1 + (int64_t)(600000000U / bytes);
    for (int64_t i = 0; i < many; i++) {
        unsigned char *a;
        CUDA(cudaMalloc(&a, bytes));
        scramble<<<1024, 256, 0, stream>>>((unsigned *)a, (int64_t)(bytes / 4));
        r->a.push_back(a);
    }
    const size_t vectors = (size_t)(n * sides * lacis_symv_vector_bytes(type));
    CUDA(cudaMalloc(&r->x, vectors));
    CUDA(cudaMalloc(&r->y, vectors));
    scramble<<<1024, 256, 0, stream>>>((unsigned *)r->x, (int64_t)(vectors / 4));
}

static void rotate_free(rotating *r)
{
    for (unsigned char *a : r->a)
        CUDA(cudaFree(a));
    CUDA(cudaFree(r->x));
    CUDA(cudaFree(r->y));
}

/* The median of one choice, in microseconds; work is taken once. */
static double time_choice(rotating *r, symv_case is, const lacis_symv_gpu_choice *choice, int repeats)
{
    symv_data d;
    d.is = is;
    d.is.sizes.clear();
    d.ones.resize(1);
    lacis_symv_gpu_job job = symv_job(&d, choice);
    job.job.x = r->x;
    job.job.y0 = job.job.y = r->y;
    job.job.x_side = job.job.y_side = is.n;
    job.job.host = {};
    job.job.host.alloc = [](void *context, uint64_t) { return context; };
    job.job.host.free = [](void *, void *) {};
    const uint64_t bytes = lacis_symv_gpu_work_bytes(&job);
    CUDA(cudaMalloc(&job.job.host.context, bytes + 1));
    int failed = 0;
    const double us = symv_time(repeats, [&] {
        int rc = 0;
        job.job.a = r->a[r->at++ % r->a.size()];
        failed += lacis_symv_gpu_run(&job, &rc) != LACIS_SYMV_GPU_OK;
    });
    CUDA(cudaFree(job.job.host.context));
    return failed ? -1 : us;
}

/* One line: lower or upper, one or four sides, full or packed (or, in double-double, accurate) by the bits of `way`.
 */
static void time_way(rotating *r, lacis_symv_type type, int64_t n, int way, lacis_symv_gpu_choice choice,
                     double plain)
{
    symv_case is;
    symv_data d;
    is.type = type;
    is.n = is.ld = n;
    is.uplo = way & 1 ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
    is.sides = way & 2 ? 4 : 1;
    const bool low = type >= LACIS_SYMV_DD && type != LACIS_SYMV_F32_F64;
    is.accurate = low && (way & 4) != 0;
    is.packed = !low && (way & 4) != 0;
    d.is = is;
    d.ones.resize(1);
    if (symv_gpu_refused(&d, &choice)) return;
    const double us = time_choice(r, is, &choice, 7);
    printf("%s wide %d resident %d chunk %d: %.1f us, of the read %.3f\n", symv_name(is).c_str(), choice.ty,
           choice.resident, choice.chunk, us, plain / us);
}

/* bench-ring [N..]: every type, of each the chunks and residences, beside a plain read of the triangle's bytes. */
int bench_ring(int argc, char **argv)
{
    std::vector<int64_t> sizes;
    for (int i = 0; i < argc; i++)
        sizes.push_back(atoll(argv[i]));
    if (sizes.empty()) sizes = {2048, 4096, 8192, 16384};
    for (int type = 0; type < LACIS_SYMV_TYPES; type++)
        for (const int64_t n : sizes) {
            const uint64_t bytes =
                (uint64_t)(n * (n + 1) / 2) * (uint64_t)lacis_symv_matrix_bytes((lacis_symv_type)type);
            if (bytes > 3000000000U) continue;
            rotating r;
            rotate_make(&r, (lacis_symv_type)type, n, 4);
            const double plain = symv_plain_read(r.a[0], bytes, 9);
            printf("%s n %lld: plain read of %.1f MB %.1f us\n", symv_name({(lacis_symv_type)type}).c_str(),
                   (long long)n, (double)bytes * 1e-6, plain);
            for (int way = 0; way < 8; way++)
                for (const int wide : {1, 2, 4})
                    for (const int resident : {2, 3})
                        for (const int chunk : {2, 3, 4, 6, 8, 12}) {
                            if (way > 1 && (chunk == 3 || chunk > 6)) continue;
                            time_way(&r, (lacis_symv_type)type, n, way,
                                     ring((lacis_symv_type)type, wide, resident, chunk), plain);
                        }
            rotate_free(&r);
        }
    return 0;
}
