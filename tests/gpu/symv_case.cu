/* SPDX-License-Identifier: Apache-2.0
 *
 * See symv_case.h.
 */
#include "symv_case.h"

#include "common/dd.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

int64_t symv_live, symv_fail_at, symv_allocs;
cudaStream_t stream;
int symv_checks, failures;

void symv_expect(bool good, const char *format, ...)
{
    symv_checks++;
    if (good) return;
    va_list args;
    va_start(args, format);
    if (failures++ < 20) {
        printf("FAIL ");
        vprintf(format, args);
        printf("\n");
    }
    va_end(args);
}

static void *job_alloc(void *, uint64_t bytes)
{
    void *block = nullptr;
    if (++symv_allocs == symv_fail_at) return nullptr;
    if (cudaMallocAsync(&block, bytes ? bytes : 1, stream) != cudaSuccess) return nullptr;
    cudaMemsetAsync(block, 0xff, bytes, stream); /* work is not cleared: what is read before it is written shows */
    symv_live++;
    return block;
}

static void job_free(void *, void *block)
{
    if (block == nullptr) return;
    symv_live--;
    CUDA(cudaFreeAsync(block, stream));
}

/* --- elements --------------------------------------------------------------------------------------------- */

static double uniform(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15U;
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    z ^= z >> 31;
    return (double)(int64_t)z * 0x1p-63;
}

/* Of an element: is it float, has it low parts, is it complex. */
struct shape {
    bool single, low, complex;
};
static shape matrix_shape(lacis_symv_type type)
{
    const bool single =
        type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64 || type == LACIS_SYMV_F32_F64 || type == LACIS_SYMV_F32_DD;
    return {single, type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD, lacis_symv_complex(type)};
}
static shape vector_shape(lacis_symv_type type)
{
    const bool low =
        type == LACIS_SYMV_DD || type == LACIS_SYMV_CDD || type == LACIS_SYMV_F32_DD || type == LACIS_SYMV_F64_DD;
    return {type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64, low, lacis_symv_complex(type)};
}
/* Draws an element of the shape: value[4] as alpha has it. */
static void draw(shape s, uint64_t *state, double *value)
{
    for (int part = 0; part < 2; part++) {
        double *v = value + 2 * part;
        v[0] = v[1] = 0;
        if (part && !s.complex) continue;
        v[0] = s.single ? (double)(float)uniform(state) : uniform(state);
        if (s.low) v[1] = v[0] * uniform(state) * 0x1p-54;
    }
}
static void put(shape s, unsigned char *to, const double *value)
{
    for (int part = 0; part < (s.complex ? 2 : 1); part++)
        for (int low = 0; low < (s.low ? 2 : 1); low++) {
            const double v = value[2 * part + low];
            const float f = (float)v;
            const size_t bytes = s.single ? sizeof f : sizeof v;
            memcpy(to, s.single ? (const void *)&f : (const void *)&v, bytes);
            to += bytes;
        }
}
static void get(shape s, const unsigned char *from, double *value)
{
    memset(value, 0, 4 * sizeof *value);
    for (int part = 0; part < (s.complex ? 2 : 1); part++)
        for (int low = 0; low < (s.low ? 2 : 1); low++) {
            float f;
            if (s.single) {
                memcpy(&f, from, sizeof f);
                value[2 * part + low] = (double)f;
            } else
                memcpy(value + 2 * part + low, from, sizeof(double));
            from += s.single ? sizeof f : sizeof(double);
        }
}

/* --- the reference ------------------------------------------------------------------------------------------- */

struct number {
    lacis_dd re, im;
};
static number number_of(const double *v)
{
    return {lacis_dd_new(v[0], v[1]), lacis_dd_new(v[2], v[3])};
}
static number add_product(number s, number a, number b)
{
    s.re = lacis_dd_fma_accurate(a.re, b.re, s.re);
    s.re = lacis_dd_fma_accurate(lacis_dd_neg(a.im), b.im, s.re);
    s.im = lacis_dd_fma_accurate(a.re, b.im, s.im);
    s.im = lacis_dd_fma_accurate(a.im, b.re, s.im);
    return s;
}
static double size(const double *v)
{
    return fabs(v[0]) + fabs(v[2]);
}

static int64_t place(const symv_case &is, int64_t n, int64_t ld, int64_t i, int64_t j)
{
    if (!is.packed) return j * ld + i;
    return is.uplo == LACIS_SYMV_UPPER ? j * (j + 1) / 2 + i : j * (2 * n - j - 1) / 2 + i;
}
static int64_t elements(const symv_case &is, int64_t n, int64_t ld)
{
    if (n == 0) return 0;
    return is.packed ? n * (n + 1) / 2 : (n - 1) * ld + n;
}

/* One matrix: its stored triangle, x of each side, and want = alpha A x + beta y0. */
static void make_matrix(symv_data *d, int64_t m, uint64_t *state)
{
    const symv_case &is = d->is;
    const lacis_symv_one &one = d->ones[(size_t)m];
    const shape ms = matrix_shape(is.type), vs = vector_shape(is.type);
    const int mb = lacis_symv_matrix_bytes(is.type), vb = lacis_symv_vector_bytes(is.type);
    const int64_t n = one.n;
    std::vector<double> x((size_t)(n * is.sides * 4)), y(x.size());
    std::vector<number> s((size_t)(n * is.sides), number{});
    std::vector<double> scale((size_t)(n * is.sides));
    for (int64_t r = 0; r < is.sides; r++)
        for (int64_t i = 0; i < n; i++) {
            draw(vs, state, &x[(size_t)(r * n + i) * 4]);
            put(vs, &d->x[(size_t)((one.x + r * d->x_side + i * is.x_step) * vb)], &x[(size_t)(r * n + i) * 4]);
            draw(vs, state, &y[(size_t)(r * n + i) * 4]);
            if (size(is.beta) != 0)
                put(vs, &d->y0[(size_t)((one.y + r * d->y_side + i * is.y_step) * vb)], &y[(size_t)(r * n + i) * 4]);
        }
    for (int64_t j = 0; j < n; j++)
        for (int64_t i = is.uplo == LACIS_SYMV_UPPER ? 0 : j; i < (is.uplo == LACIS_SYMV_UPPER ? j + 1 : n); i++) {
            double v[4];
            draw(ms, state, v);
            put(ms, &d->a[(size_t)((one.a + place(is, n, one.ld, i, j)) * mb)], v);
            if (is.hermitian && i == j) v[2] = v[3] = 0;
            number a = number_of(v), mirror = a;
            if (is.hermitian) mirror.im = lacis_dd_neg(mirror.im);
            for (int64_t r = 0; r < is.sides; r++) {
                const size_t p = (size_t)(r * n + i), q = (size_t)(r * n + j);
                s[p] = add_product(s[p], a, number_of(&x[q * 4]));
                scale[p] += size(v) * size(&x[q * 4]);
                if (i == j) continue;
                s[q] = add_product(s[q], mirror, number_of(&x[p * 4]));
                scale[q] += size(v) * size(&x[p * 4]);
            }
        }
    for (size_t k = 0; k < s.size(); k++) {
        number w = add_product(number{}, number_of(is.alpha), s[k]);
        w = add_product(w, number_of(is.beta), number_of(&y[k * 4]));
        d->want.insert(d->want.end(), {w.re.hi, w.re.lo, w.im.hi, w.im.lo});
        d->scale.push_back(size(is.alpha) * scale[k] + size(is.beta) * size(&y[k * 4]));
    }
}

static unsigned char *upload(const std::vector<unsigned char> &v)
{
    unsigned char *to;
    CUDA(cudaMalloc(&to, v.size() + 1));
    CUDA(cudaMemcpy(to, v.data(), v.size(), cudaMemcpyHostToDevice));
    CUDA(cudaStreamSynchronize(nullptr)); /* the last few kilobytes may be on their way still */
    return to;
}

void symv_make(symv_data *d, const symv_case &is)
{
    d->is = is;
    const int64_t matrices = is.sizes.empty() ? is.matrices : (int64_t)is.sizes.size();
    int64_t n_most = 0, at = is.shift;
    for (int64_t m = 0; m < matrices; m++)
        n_most = std::max(n_most, is.sizes.empty() ? is.n : is.sizes[(size_t)m]);
    d->x_side = n_most * std::abs(is.x_step) + 1;
    d->y_side = n_most * std::abs(is.y_step) + 1;
    d->x_stride = is.sides * d->x_side;
    d->y_stride = is.sides * d->y_side;
    d->x_first = is.x_step < 0 ? -is.x_step * n_most : 0;
    d->y_first = is.y_step < 0 ? -is.y_step * n_most : 0;
    const int64_t align = 16 / std::min(16, lacis_symv_matrix_bytes(is.type));
    for (int64_t m = 0; m < matrices; m++) {
        const int64_t n = is.sizes.empty() ? is.n : is.sizes[(size_t)m], ld = is.sizes.empty() ? is.ld : n + is.ld;
        d->ones.push_back({n, ld, at, d->x_first + m * d->x_stride, d->y_first + m * d->y_stride});
        const int64_t take = elements(is, n, ld);
        d->stride = is.packed ? take : (take + align - 1) / align * align;
        at += d->stride;
    }
    const size_t vb = (size_t)lacis_symv_vector_bytes(is.type);
    d->y_elements = d->y_first + matrices * d->y_stride + 1;
    d->a.assign((size_t)at * (size_t)lacis_symv_matrix_bytes(is.type), 0xff);
    d->x.assign((size_t)(d->x_first + matrices * d->x_stride + 1) * vb, 0xff);
    d->y0.assign((size_t)d->y_elements * vb, 0xff);
    uint64_t state = is.seed;
    for (int64_t m = 0; m < matrices; m++)
        make_matrix(d, m, &state);
    d->on_a = upload(d->a);
    d->on_x = upload(d->x);
    d->on_y0 = upload(d->y0);
    CUDA(cudaMalloc(&d->on_y, (size_t)d->y_elements * vb));
}

symv_data::~symv_data()
{
    for (void *block : {(void *)on_a, (void *)on_x, (void *)on_y0, (void *)on_y})
        CUDA(cudaFree(block));
}

/* --- runs --------------------------------------------------------------------------------------------------- */

lacis_symv_gpu_job symv_job(const symv_data *d, const lacis_symv_gpu_choice *choice)
{
    const symv_case &is = d->is;
    lacis_symv_gpu_job g = {};
    const int64_t vb = lacis_symv_vector_bytes(is.type);
    int device = 0;
    CUDA(cudaGetDevice(&device));
    CUDA(cudaDeviceGetAttribute(&g.processors, cudaDevAttrMultiProcessorCount, device));
    g.choice = choice;
    g.stream = stream;
    lacis_symv_job *j = &g.job;
    j->type = is.type;
    j->uplo = is.uplo;
    j->order = is.order;
    j->hermitian = is.hermitian;
    j->packed = is.packed;
    j->accurate = is.accurate;
    j->matrices = (int64_t)d->ones.size();
    j->n = is.sizes.empty() ? is.n : *std::max_element(is.sizes.begin(), is.sizes.end());
    j->ld = is.sizes.empty() ? is.ld : j->n + is.ld;
    j->stride = d->stride;
    j->one = is.sizes.empty() ? nullptr : d->ones.data();
    const bool by_place = j->one != nullptr; /* then places count from the beginning */
    j->a = d->on_a + (by_place ? 0 : is.shift) * lacis_symv_matrix_bytes(is.type);
    j->sides = is.sides;
    j->x = d->on_x + (by_place ? 0 : d->x_first) * vb;
    j->x_stride = d->x_stride;
    j->x_side = d->x_side;
    j->x_step = is.x_step;
    j->y0 = d->on_y0 + (by_place ? 0 : d->y_first) * vb;
    j->y = d->on_y + (by_place ? 0 : d->y_first) * vb;
    j->y_stride = d->y_stride;
    j->y_side = d->y_side;
    j->y_step = is.y_step;
    memcpy(j->alpha, is.alpha, sizeof j->alpha);
    memcpy(j->beta, is.beta, sizeof j->beta);
    j->host.alloc = job_alloc;
    j->host.free = job_free;
    return g;
}

std::string symv_name(const symv_case &is)
{
    static const char *const types[] = {"f32", "f64", "c64", "c128", "dd", "cdd", "f32_f64", "f32_dd", "f64_dd"};
    char text[200];
    snprintf(text, sizeof text, "%s%s%s %s%s n %lld ld %lld sides %lld matrices %lld shift %lld steps %lld %lld",
             types[is.type], is.accurate ? " accurate" : "", is.hermitian ? " hermitian" : "",
             is.uplo == LACIS_SYMV_UPPER ? "upper" : "lower", is.packed ? " packed" : "", (long long)is.n,
             (long long)is.ld, (long long)is.sides,
             (long long)(is.sizes.empty() ? is.matrices : (int64_t)is.sizes.size()), (long long)is.shift,
             (long long)is.x_step, (long long)is.y_step);
    return text;
}

static bool run_once(const symv_data *d, const lacis_symv_gpu_choice *choice, std::vector<unsigned char> *bits)
{
    const lacis_symv_gpu_job job = symv_job(d, choice);
    int rc = 0;
    CUDA(cudaMemsetAsync(d->on_y, 0xff, (size_t)(d->y_elements * lacis_symv_vector_bytes(d->is.type)), stream));
    const lacis_symv_gpu_status status = lacis_symv_gpu_run(&job, &rc);
    const cudaError_t after = cudaStreamSynchronize(stream);
    char text[LACIS_SYMV_GPU_CHOICE_TEXT] = "default";
    if (choice != nullptr)
        snprintf(text, sizeof text, "%s %dx%d w%d u%d b%d c%d", lacis_symv_gpu_kind_name[choice->kind], choice->tx,
                 choice->ty, choice->warps, choice->unroll, choice->resident, choice->chunk);
    symv_expect(status == LACIS_SYMV_GPU_OK, "%s by %s: status %d, CUDA %d, %s", symv_name(d->is).c_str(), text,
                (int)status, rc, status == LACIS_SYMV_GPU_UNSUPPORTED ? lacis_symv_gpu_refuses(&job) : "");
    CUDA(after);
    symv_expect(symv_live == 0, "%s by %s: %lld blocks left", symv_name(d->is).c_str(), text, (long long)symv_live);
    bits->resize((size_t)(d->y_elements * lacis_symv_vector_bytes(d->is.type)));
    CUDA(cudaMemcpy(bits->data(), d->on_y, bits->size(), cudaMemcpyDeviceToHost));
    return status == LACIS_SYMV_GPU_OK;
}

/* The worst error over its bound: 2 (n + 8) u times the sum of moduli. */
static double worst_error(const symv_data *d, const std::vector<unsigned char> &bits, std::vector<bool> *written)
{
    const symv_case &is = d->is;
    const shape vs = vector_shape(is.type);
    const double u = vs.low ? 0x1p-103 : vs.single ? 0x1p-24 : 0x1p-53;
    const int64_t vb = lacis_symv_vector_bytes(is.type);
    double worst = 0;
    size_t k = 0;
    for (const lacis_symv_one &one : d->ones)
        for (int64_t r = 0; r < is.sides; r++)
            for (int64_t i = 0; i < one.n; i++, k++) {
                const int64_t at = one.y + r * d->y_side + i * is.y_step;
                double v[4];
                get(vs, &bits[(size_t)(at * vb)], v);
                (*written)[(size_t)at] = true;
                double off = 0;
                for (int part = 0; part < 4; part += 2)
                    off += fabs((v[part] - d->want[k * 4 + (size_t)part]) +
                                (v[part + 1] - d->want[k * 4 + (size_t)part + 1]));
                const double part = off / (2 * (double)(one.n + 8) * u * d->scale[k]);
                if (!(part <= worst)) worst = part == part ? part : INFINITY;
            }
    return worst;
}

void symv_check(symv_data *d, const lacis_symv_gpu_choice *choice, std::vector<unsigned char> *bits)
{
    std::vector<unsigned char> again;
    std::vector<bool> written((size_t)d->y_elements, false);
    const size_t vb = (size_t)lacis_symv_vector_bytes(d->is.type);
    if (!run_once(d, choice, bits)) return;
    const char *kind = choice ? lacis_symv_gpu_kind_name[choice->kind] : "default";
    const double worst = worst_error(d, *bits, &written);
    symv_expect(worst <= 1, "%s by %s chunk %d resident %d: error %.2g of its bound", symv_name(d->is).c_str(), kind,
                choice ? choice->chunk : 0, choice ? choice->resident : 0, worst);
    bool untouched = true;
    for (size_t i = 0; i < written.size(); i++)
        for (size_t b = 0; b < vb && !written[i]; b++)
            untouched = untouched && (*bits)[i * vb + b] == 0xff;
    symv_expect(untouched, "%s by %s: wrote beside y", symv_name(d->is).c_str(), kind);
    if (!run_once(d, choice, &again)) return;
    symv_expect(again == *bits, "%s by %s: other bits the second time", symv_name(d->is).c_str(), kind);
}
