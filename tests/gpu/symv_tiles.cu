/* SPDX-License-Identifier: Apache-2.0
 *
 * Families TILES, ATOMIC and ROWS, the second pass, the canonical order and figures against references.
 */
#include "symv_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

static const int64_t all_n[] = {0, 1, 2, 7, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 256, 300};
static const int64_t more_n[] = {1000, 1023, 1024, 1025};

static lacis_symv_type type_of(int t)
{
    return (lacis_symv_type)t;
}

static symv_case case_of(lacis_symv_type type, int64_t n, uint64_t variant)
{
    symv_case is;
    is.type = type;
    is.n = n;
    is.uplo = variant & 1 ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
    is.hermitian = lacis_symv_complex(type) && (variant & 2) != 0;
    is.accurate = (variant & 4) != 0;
    is.packed = (variant & 8) != 0;
    is.seed = variant * 977 + (uint64_t)n;
    is.ld = n + (variant & 16 ? (int64_t)(variant / 32 % 5) : (4 - n % 4) % 4);
    is.shift = variant & 16 ? (int64_t)(variant / 64 % 4) : 0;
    is.x_step = (variant & 32) != 0 ? -3 : 1;
    is.y_step = (variant & 64) != 0 ? -2 : 1;
    if (variant & 128) {
        is.alpha[0] = 0.5, is.beta[0] = -0.75;
        if (lacis_symv_complex(type)) is.alpha[2] = 0.25, is.beta[2] = 1.25;
    }
    return is;
}

static void check_choice(const symv_case &is, const lacis_symv_gpu_choice *choice)
{
    symv_data d;
    std::vector<unsigned char> bits;
    symv_make(&d, is);
    const lacis_symv_gpu_job job = symv_job(&d, choice);
    if (choice == nullptr || lacis_symv_gpu_refuses(&job) == nullptr) symv_check(&d, choice, &bits);
}

/* Every candidate at sizes around its tiles, in changing variants; the default at all sizes. */
static void check_candidates(bool small, uint64_t *variant)
{
    for (int t = 0; t < LACIS_SYMV_TYPES; t++) {
        const lacis_symv_gpu_choice *choice;
        const int count = lacis_symv_gpu_candidates(type_of(t), &choice);
        for (int i = 0; i < count; i++)
            for (int k = 0; k < (small ? 1 : 6); k++) {
                *variant = *variant * 6364136223846793005U + 1442695040888963407U;
                check_choice(
                    case_of(type_of(t), small ? 65 + i % 70 : 1 + (int64_t)(*variant >> 33) % 500, *variant >> 40),
                    &choice[i]);
            }
        for (const int64_t n : all_n)
            for (uint64_t v = 0; v < (small ? 1U : 12U); v++) {
                *variant = *variant * 6364136223846793005U + 1442695040888963407U;
                if (!small || n == 129 || n == 1)
                    check_choice(
                        case_of(type_of(t), n, (*variant >> 40 & ~31U) | (small ? *variant >> 50 & 31 : v * 3)),
                        nullptr);
            }
        if (small) continue;
        for (const int64_t n : more_n)
            check_choice(case_of(type_of(t), n, *variant >> 40), nullptr);
    }
}

/* Several sides, and several matrices one after the other. */
static void check_sides(bool small, uint64_t *variant)
{
    for (int t = 0; t < LACIS_SYMV_TYPES; t++)
        for (int64_t sides = 2; sides <= (small ? 2 : 7); sides++)
            for (int k = 0; k < (small ? 1 : 3); k++) {
                *variant = *variant * 6364136223846793005U + 1442695040888963407U;
                symv_case is =
                    case_of(type_of(t), 64 + (int64_t)(*variant >> 33) % (small ? 10 : 200), *variant >> 40);
                is.sides = sides;
                is.matrices = 1 + k;
                is.ld = std::max(is.ld, is.n);
                check_choice(is, nullptr);
            }
}

/* --- the canonical order: the CPU's bits ----------------------------------------------------------------------- */

static void *host_alloc(void *, uint64_t bytes)
{
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}
static void host_free(void *, void *block)
{
    free(block);
}

static std::vector<unsigned char> by_cpu(const symv_data &d, lacis_symv_order order)
{
    std::vector<unsigned char> y((size_t)(d.y_elements * lacis_symv_vector_bytes(d.is.type)), 0xff);
    lacis_symv_job job = symv_job(&d, nullptr).job;
    const int64_t vb = lacis_symv_vector_bytes(d.is.type), mb = lacis_symv_matrix_bytes(d.is.type);
    job.order = order;
    job.threads = 1;
    job.a = d.a.data() + d.is.shift * mb;
    job.x = d.x.data() + d.x_first * vb;
    job.y0 = d.y0.data() + d.y_first * vb;
    job.y = y.data() + d.y_first * vb;
    job.host = {host_alloc, host_free, nullptr, nullptr};
    symv_expect(lacis_symv_run(&job) == LACIS_SYMV_OK, "the CPU's run failed");
    return y;
}

static std::vector<unsigned char> by_gpu(const symv_data &d, const lacis_symv_gpu_choice *choice,
                                         lacis_symv_order order)
{
    std::vector<unsigned char> y((size_t)(d.y_elements * lacis_symv_vector_bytes(d.is.type)));
    lacis_symv_gpu_job job = symv_job(&d, choice);
    int rc = 0;
    job.job.order = order;
    CUDA(cudaMemsetAsync(d.on_y, 0xff, y.size(), stream));
    const lacis_symv_gpu_status status = lacis_symv_gpu_run(&job, &rc);
    symv_expect(status == LACIS_SYMV_GPU_OK, "%s canonical: status %d, CUDA %d", symv_name(d.is).c_str(), (int)status,
                rc);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(y.data(), d.on_y, y.size(), cudaMemcpyDeviceToHost));
    return y;
}

static void check_canonical_case(const symv_case &is)
{
    symv_data d;
    symv_make(&d, is);
    const std::vector<unsigned char> want = by_cpu(d, LACIS_SYMV_CANONICAL);
    symv_expect(by_gpu(d, nullptr, LACIS_SYMV_CANONICAL) == want, "%s: canonical bits are not the CPU's",
                symv_name(is).c_str());
    const lacis_symv_gpu_choice *choice;
    const int count = lacis_symv_gpu_candidates(is.type, &choice);
    for (int i = 0; i < count; i++) {
        lacis_symv_gpu_job job = symv_job(&d, &choice[i]);
        job.job.order = LACIS_SYMV_CANONICAL;
        if (lacis_symv_gpu_refuses(&job) == nullptr)
            symv_expect(by_gpu(d, &choice[i], LACIS_SYMV_CANONICAL) == want, "%s: canonical bits by candidate %d",
                        symv_name(is).c_str(), i);
    }
}

static void check_canonical(bool small, uint64_t *variant)
{
    static const int64_t n_of[] = {1, 33, 63, 64, 65, 129, 200, 513, 1000};
    for (int t = 0; t < LACIS_SYMV_TYPES; t++)
        for (const int64_t n : n_of)
            for (uint64_t v = 0; v < (small ? 1U : 16U); v++) {
                *variant = *variant * 6364136223846793005U + 1442695040888963407U;
                if (n > 65 && (small || (n > 200 && v > 3))) continue;
                symv_case is = case_of(type_of(t), n, (*variant >> 40 & ~15U) | v);
                is.sides = 1 + (int64_t)(*variant >> 35 & 3);
                check_canonical_case(is);
            }
}

/* --- order FREE ----------------------------------------------------------------------------------------------------
 */

static void check_free(bool small, uint64_t *variant)
{
    for (int t = 0; t < LACIS_SYMV_TYPES; t++) {
        const lacis_symv_gpu_choice *choice;
        const int count = lacis_symv_gpu_candidates(type_of(t), &choice);
        for (int i = 0; i < (small ? 1 : count); i++) {
            *variant = *variant * 6364136223846793005U + 1442695040888963407U;
            symv_case is = case_of(type_of(t), 70 + (int64_t)(*variant >> 33) % (small ? 20 : 300), *variant >> 40);
            lacis_symv_gpu_choice atomic = choice[i];
            atomic.kind = LACIS_SYMV_GPU_ATOMIC;
            is.sides = 1 + i % 3;
            symv_data d;
            symv_make(&d, is);
            lacis_symv_gpu_job job = symv_job(&d, &atomic);
            symv_expect(lacis_symv_gpu_refuses(&job) != nullptr, "atomics in fixed order");
            job.job.order = LACIS_SYMV_FREE;
            if (lacis_symv_gpu_refuses(&job) != nullptr) continue;
            const double worst = symv_worst(&d, by_gpu(d, &atomic, LACIS_SYMV_FREE));
            symv_expect(worst <= 1, "%s atomic: error %.2g of its bound", symv_name(is).c_str(), worst);
        }
    }
}

/* --- figures, NaN and infinity, memory
 * ------------------------------------------------------------------------------- */

static bool near(double a, double b, double tolerance)
{
    return std::fabs(a - b) <= tolerance * std::fabs(b);
}

/* Against the definition, in long double, from what x and y hold. */
static void check_figures_case(const symv_case &is, bool with_y)
{
    symv_data d;
    symv_make(&d, is);
    std::vector<lacis_symv_figures> got((size_t)is.sides);
    lacis_symv_figures *on;
    lacis_symv_gpu_job job = symv_job(&d, nullptr);
    int rc = 0;
    CUDA(cudaMalloc(&on, got.size() * sizeof *on));
    CUDA(cudaMemsetAsync(on, 0xff, got.size() * sizeof *on, stream));
    CUDA(cudaMemsetAsync(d.on_y, 0xff, (size_t)(d.y_elements * lacis_symv_vector_bytes(is.type)), stream));
    job.job.figures = on;
    if (!with_y) job.job.y = nullptr;
    symv_expect(lacis_symv_gpu_run(&job, &rc) == LACIS_SYMV_GPU_OK, "figures: CUDA %d", rc);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(got.data(), on, got.size() * sizeof *on, cudaMemcpyDeviceToHost));
    const double u = is.type == LACIS_SYMV_F32 || is.type == LACIS_SYMV_C64 ? 1e-4 : 1e-12;
    for (size_t r = 0; r < got.size(); r++) {
        const symv_known_figures want = symv_figures_of(&d, (int64_t)r);
        const lacis_symv_figures &g = got[r];
        symv_expect(near(g.norm1, want.norm1, u) && near(g.norm2, want.norm2, u) &&
                        near(g.norm_max, want.norm_max, u),
                    "%s: norms %.17g %.17g %.17g, not %.17g %.17g %.17g", symv_name(is).c_str(), g.norm1, g.norm2,
                    g.norm_max, want.norm1, want.norm2, want.norm_max);
        symv_expect(std::fabs(g.dot[0] - want.dot) <= u * want.dot_scale &&
                        std::fabs(g.dot_im[0] - want.dot_im) <= u * want.dot_scale,
                    "%s: x'Ax %.17g %.17g, not %.17g %.17g", symv_name(is).c_str(), g.dot[0], g.dot_im[0], want.dot,
                    want.dot_im);
    }
    if (with_y) {
        std::vector<unsigned char> y((size_t)(d.y_elements * lacis_symv_vector_bytes(is.type)));
        CUDA(cudaMemcpy(y.data(), d.on_y, y.size(), cudaMemcpyDeviceToHost));
        symv_expect(symv_worst(&d, y) <= 1, "%s: y beside figures", symv_name(is).c_str());
    }
    CUDA(cudaFree(on));
}

static void check_figures(bool small, uint64_t *variant)
{
    for (int t = 0; t < LACIS_SYMV_TYPES; t++)
        for (const int64_t n : {(int64_t)0, (int64_t)1, (int64_t)100, (int64_t)1025, (int64_t)1500}) {
            *variant = *variant * 6364136223846793005U + 1442695040888963407U;
            if (small && n > 100) continue;
            symv_case is = case_of(type_of(t), n, *variant >> 40);
            is.sides = 1 + (int64_t)(*variant >> 35) % 3;
            check_figures_case(is, (*variant >> 34 & 1) != 0);
        }
}

/* Each allocation fails once: a code, and nothing left. */
static void check_memory(void)
{
    symv_case is = case_of(LACIS_SYMV_F64, 2500, 0);
    symv_data d;
    symv_make(&d, is);
    const lacis_symv_gpu_job job = symv_job(&d, nullptr);
    int rc = 0;
    symv_fail_at = symv_allocs + 1;
    symv_expect(lacis_symv_gpu_run(&job, &rc) == LACIS_SYMV_GPU_NO_MEMORY, "no memory");
    symv_fail_at = 0;
    symv_expect(symv_live == 0, "%lld blocks left", (long long)symv_live);
}

/* Infinity in one element of x beside the diagonal, on it, and NaN in one element of A: which elements of y are
 * finite must be as a plain loop has it. */
static void check_special(int64_t n, uint64_t variant)
{
    symv_case is = case_of(LACIS_SYMV_F64, n, variant & ~(uint64_t)(2 + 32 + 64 + 128));
    symv_data d;
    symv_make(&d, is);
    double *const x = (double *)d.x.data() + d.x_first;
    const int64_t at = (int64_t)(variant >> 8) % n;
    x[at] = INFINITY;
    CUDA(cudaMemcpy(d.on_x, d.x.data(), d.x.size(), cudaMemcpyHostToDevice));
    CUDA(cudaStreamSynchronize(nullptr));
    const std::vector<unsigned char> bits = by_gpu(d, nullptr, LACIS_SYMV_FIXED);
    const double *y = (const double *)bits.data() + d.y_first;
    bool all = true;
    for (int64_t i = 0; i < n; i++)
        all = all && std::isinf(y[i]); /* no element of A is 0, so no NaN can come of it */
    symv_expect(all, "%s: infinity in x[%lld]", symv_name(is).c_str(), (long long)at);
}

/* --- choices
 * ----------------------------------------------------------------------------------------------------------- */

/* A job of which nothing but its fields is looked at. */
static lacis_symv_gpu_job job_of(lacis_symv_type type, int64_t n, uint64_t variant)
{
    lacis_symv_gpu_job g = {};
    lacis_symv_job *j = &g.job;
    j->type = type;
    j->uplo = variant & 1 ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
    j->accurate = (variant & 2) != 0;
    j->packed = (variant & 4) != 0;
    j->order = (lacis_symv_order)(variant / 8 % 3);
    j->n = n;
    j->ld = n + (int64_t)(variant / 24 % 2);
    j->sides = 1 + (int64_t)(variant / 48 % 5);
    j->matrices = variant / 240 % 2 ? 9 : 1;
    j->a = (const void *)4096;
    j->x_step = j->y_step = 1;
    return g;
}

/* The default does every job, every candidate a plain one, and a choice is its text read. */
static void check_choices(void)
{
    for (int t = 0; t < LACIS_SYMV_TYPES; t++) {
        const lacis_symv_gpu_choice *choice;
        const int count = lacis_symv_gpu_candidates(type_of(t), &choice);
        for (const int64_t n : {0, 1, 100, 512, 513, 640, 1000, 1300, 2600, 4096, 7000, 9000, 16384, 40000})
            for (uint64_t v = 0; v < 480; v++) {
                const lacis_symv_gpu_job job = job_of(type_of(t), n, v);
                const char *why = lacis_symv_gpu_refuses(&job);
                symv_expect(why == nullptr, "type %d n %lld variant %llu by default: %s", t, (long long)n,
                            (unsigned long long)v, why);
            }
        for (int i = 0; i < count; i++) {
            char text[LACIS_SYMV_GPU_CHOICE_TEXT];
            lacis_symv_gpu_choice read = {};
            lacis_symv_gpu_job job = job_of(type_of(t), 4096, 0);
            job.choice = &choice[i];
            const char *why = lacis_symv_gpu_refuses(&job);
            lacis_symv_gpu_choice_text(&choice[i], text);
            symv_expect(why == nullptr, "type %d by %s: %s", t, text, why);
            symv_expect(lacis_symv_gpu_choice_read(text, &read) && memcmp(&read, &choice[i], sizeof read) == 0,
                        "type %d: %s is read otherwise", t, text);
        }
    }
}

/* --- matrices too large for the host's reference
 * ---------------------------------------------------------------------- */

template <class S> static __global__ void large_fill(S *a, int64_t n, int64_t ld, bool upper, S *x)
{
    for (int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; k < n * n;
         k += (int64_t)gridDim.x * blockDim.x) {
        const int64_t i = k % n, j = k / n;
        uint64_t z = ((uint64_t)k + 1) * 0x9e3779b97f4a7c15U;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
        z = (z ^ z >> 27) * 0x94d049bb133111ebU;
        const S v = (S)((double)(int64_t)z * 0x1p-63);
        a[j * ld + i] = (upper ? i <= j : i >= j) ? v : (S)NAN;
        if (j == 0) x[i] = (S)((double)(int64_t)(z * 77773) * 0x1p-63);
    }
}

/* A warp for each row: the error over its bound, to worst. */
template <class S>
static __global__ void large_errors(const S *a, int64_t n, int64_t ld, bool upper, const S *x, const S *y,
                                    float *worst)
{
    const int64_t i = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32;
    double sum = 0, scale = 0;
    if (i >= n) return;
    for (int64_t j = threadIdx.x % 32; j < n; j += 32) {
        const bool stored = upper ? i <= j : i >= j;
        const double v = (double)a[stored ? j * ld + i : i * ld + j];
        sum = fma(v, (double)x[j], sum);
        scale += fabs(v * (double)x[j]);
    }
    for (int h = 16; h >= 1; h /= 2) {
        sum += __shfl_xor_sync(~0U, sum, h);
        scale += __shfl_xor_sync(~0U, scale, h);
    }
    const double u = sizeof(S) == 4 ? 0x1p-24 : 0x1p-53, off = fabs((double)y[i] - sum) / (40 * u * scale);
    const float seen = off <= 1e30 ? (float)off : 1e30F; /* positive: order as of integers */
    if (threadIdx.x % 32 == 0) atomicMax((int *)worst, __float_as_int(seen));
}

template <class S>
static void check_large_case(lacis_symv_type type, int64_t n, int64_t ld, bool upper,
                             const lacis_symv_gpu_choice *choice)
{
    S *a, *x, *y;
    float *worst, got = 0;
    symv_case is;
    symv_data none;
    std::vector<S> first((size_t)n), second((size_t)n);
    none.is.type = type;
    none.ones.resize(1);
    if (cudaMalloc(&a, (size_t)(ld * n) * sizeof(S)) != cudaSuccess) {
        cudaGetLastError();
        printf("skipped: n %lld ld %lld: no memory\n", (long long)n, (long long)ld);
        return;
    }
    CUDA(cudaMalloc(&x, (size_t)n * sizeof(S)));
    CUDA(cudaMalloc(&y, (size_t)n * sizeof(S)));
    CUDA(cudaMalloc(&worst, sizeof *worst));
    CUDA(cudaMemsetAsync(worst, 0, sizeof *worst, stream));
    large_fill<S><<<2048, 256, 0, stream>>>(a, n, ld, upper, x);
    lacis_symv_gpu_job job = symv_job(&none, choice);
    job.job.uplo = upper ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
    job.job.n = n, job.job.ld = ld;
    job.job.a = a, job.job.x = x, job.job.y = y, job.job.y0 = nullptr;
    job.job.matrices = job.job.sides = 1;
    job.job.one = nullptr;
    for (std::vector<S> *out : {&first, &second}) {
        int rc = 0;
        CUDA(cudaMemsetAsync(y, 0xff, (size_t)n * sizeof(S), stream));
        symv_expect(lacis_symv_gpu_run(&job, &rc) == LACIS_SYMV_GPU_OK, "n %lld: CUDA %d", (long long)n, rc);
        CUDA(cudaStreamSynchronize(stream));
        CUDA(cudaMemcpy(out->data(), y, (size_t)n * sizeof(S), cudaMemcpyDeviceToHost));
    }
    large_errors<S><<<(unsigned)((n + 7) / 8), 256, 0, stream>>>(a, n, ld, upper, x, y, worst);
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaMemcpy(&got, worst, sizeof got, cudaMemcpyDeviceToHost));
    char text[LACIS_SYMV_GPU_CHOICE_TEXT] = "default";
    if (choice != nullptr) lacis_symv_gpu_choice_text(choice, text);
    symv_expect(got <= 1, "n %lld ld %lld %s %s: error %.3g of its bound", (long long)n, (long long)ld,
                upper ? "U" : "L", text, (double)got);
    symv_expect(memcmp(first.data(), second.data(), (size_t)n * sizeof(S)) == 0,
                "n %lld %s: other bits the second time", (long long)n, text);
    for (void *block : {(void *)a, (void *)x, (void *)y, (void *)worst})
        CUDA(cudaFree(block));
}

static void check_large(void)
{
    const lacis_symv_gpu_choice *choice;
    const int count = lacis_symv_gpu_candidates(LACIS_SYMV_F64, &choice);
    for (int i = 0; i < count; i++)
        if (choice[i].kind != LACIS_SYMV_GPU_BATCH)
            check_large_case<double>(LACIS_SYMV_F64, 4097, 4098, i % 2 != 0, &choice[i]);
    const int singles = lacis_symv_gpu_candidates(LACIS_SYMV_F32, &choice);
    for (int i = 0; i < singles; i++)
        if (choice[i].kind != LACIS_SYMV_GPU_BATCH)
            check_large_case<float>(LACIS_SYMV_F32, 4096, 4096, i % 2 != 0, &choice[i]);
    for (const int64_t n : {(int64_t)2048, (int64_t)8192, (int64_t)8200, (int64_t)16384, (int64_t)16383})
        for (int upper = 0; upper <= 1; upper++)
            check_large_case<double>(LACIS_SYMV_F64, n, n, upper != 0, nullptr);
    for (int upper = 0; upper <= 1; upper++)
        check_large_case<float>(LACIS_SYMV_F32, 1100, 2000000, upper != 0, nullptr); /* places beyond 2^31 */
}

void check_tiles(bool small, uint64_t seed)
{
    uint64_t variant = seed;
    check_choices();
    check_candidates(small, &variant);
    check_sides(small, &variant);
    check_canonical(small, &variant);
    check_free(small, &variant);
    check_figures(small, &variant);
    check_memory();
    if (!small) check_large();
    for (const int64_t n : {(int64_t)5, (int64_t)130, (int64_t)1100})
        for (uint64_t v = 0; v < (small ? 2U : 16U); v++)
            if (!small || n < 1000) check_special(n, v * 7919);
}
