/* SPDX-License-Identifier: Apache-2.0
 *
 * Plans and runs against plain sums on the host in twice the precision. Values of the other triangle, the imaginary
 * part of a Hermitian's diagonal and, where beta is 0, y0 are NaN; y lies among other bytes that must stay.
 */
#include "symv_half_support.h"

int failures, cases;
i64 live;
cudaStream_t stream;
int processors;

static void *take(void *, uint64_t bytes)
{
    void *block;
    if (cudaMalloc(&block, bytes) != cudaSuccess) return NULL;
    live++;
    return block;
}
static void give(void *, void *block)
{
    live -= block != NULL;
    CUDA(cudaFree(block));
}
lacis_symv_host device_host()
{
    return {take, give, NULL, NULL};
}

template <class T> struct traits {
    typedef T real;
    typedef long double wide;
    static T number(u64 *state)
    {
        return (T)next_number(state);
    }
    static T nan()
    {
        return (T)NAN;
    }
    static T diagonal(T v)
    {
        return v;
    }
    static wide mirror(wide v, bool)
    {
        return v;
    }
    static wide widen(T v)
    {
        return v;
    }
    static wide scale(const double *a)
    {
        return a[0];
    }
};
template <class R> struct traits<std::complex<R>> {
    typedef R real;
    typedef std::complex<long double> wide;
    static std::complex<R> number(u64 *state)
    {
        const R re = (R)next_number(state);
        return {re, (R)next_number(state)};
    }
    static std::complex<R> nan()
    {
        return {(R)NAN, (R)NAN};
    }
    static std::complex<R> diagonal(std::complex<R> v)
    {
        return {v.real(), (R)NAN};
    }
    static wide mirror(wide v, bool hermitian)
    {
        return hermitian ? std::conj(v) : v;
    }
    static wide widen(std::complex<R> v)
    {
        return {v.real(), v.imag()};
    }
    static wide scale(const double *a)
    {
        return {a[0], a[2]};
    }
};

struct shape {
    std::string name;
    i64 m;
    enum form form;
    lacis_symv_type type;
    bool hermitian, ones, free, beta;
    i64 x_step, y_step, sides;
    int window;
};

template <class T> struct operands {
    std::vector<T> value, x, y0;
    i64 x_at, y_at, x_side, y_side;
};

template <class T> static operands<T> make_operands(const pattern &p, const shape &s, u64 *state)
{
    operands<T> o;
    const bool upper = is_upper(s.form);
    o.value.assign(p.column.size(), traits<T>::nan());
    for (i64 r = 0; r < p.n; r++)
        for (i64 i = p.begin[r]; i < p.end[r]; i++) {
            if (upper ? p.column[i] < r : p.column[i] > r) continue;
            o.value[i] = traits<T>::number(state);
            if (p.column[i] == r && s.hermitian) o.value[i] = traits<T>::diagonal(o.value[i]);
        }
    const i64 x_span = (p.n + 1) * std::abs(s.x_step), y_span = (p.n + 1) * std::abs(s.y_step);
    o.x_side = x_span + 3;
    o.y_side = y_span + 5;
    o.x.resize((size_t)(o.x_side * s.sides));
    o.y0.resize((size_t)(o.y_side * s.sides));
    for (T &x : o.x)
        x = traits<T>::number(state);
    for (T &y : o.y0)
        y = s.beta ? traits<T>::number(state) : traits<T>::nan();
    o.x_at = s.x_step < 0 ? x_span - 1 : 0;
    o.y_at = s.y_step < 0 ? y_span - 1 : 0;
    return o;
}

/* The first row of side `side` that is off by more than rounding may be; -1: none. */
template <class T>
static i64 wrong_row(const pattern &p, const shape &s, const operands<T> &o, const lacis_symv_job &job,
                     const std::vector<T> &y, i64 side)
{
    typedef typename traits<T>::wide wide;
    std::vector<wide> sum((size_t)p.n, wide(0));
    std::vector<long double> size((size_t)p.n, 0), terms((size_t)p.n, 4);
    const T *x = o.x.data() + o.x_at + side * o.x_side;
    for (i64 r = 0; r < p.n; r++)
        for (i64 i = p.begin[r]; i < p.end[r]; i++) {
            const i64 c = p.column[i];
            if (is_upper(s.form) ? c < r : c > r) continue;
            wide a = s.ones ? wide(1) : traits<T>::widen(o.value[i]);
            if (c == r && s.hermitian && !s.ones) a = wide(std::real(a));
            const wide xr = traits<T>::widen(x[r * s.x_step]), xc = traits<T>::widen(x[c * s.x_step]);
            sum[r] += a * xc;
            size[r] += std::abs(a) * std::abs(xc);
            terms[r]++;
            if (c == r) continue;
            sum[c] += traits<T>::mirror(a, s.hermitian) * xr;
            size[c] += std::abs(a) * std::abs(xr);
            terms[c]++;
        }
    const wide alpha = traits<T>::scale(job.alpha), beta = traits<T>::scale(job.beta);
    const T *y0 = o.y0.data() + o.y_at + side * o.y_side, *out = y.data() + o.y_at + side * o.y_side;
    const long double eps = std::is_same<typename traits<T>::real, float>::value ? 0x1p-23L : 0x1p-52L;
    for (i64 r = 0; r < p.n; r++) {
        wide want = alpha * sum[r];
        long double most = std::abs(alpha) * size[r];
        if (s.beta) want += beta * traits<T>::widen(y0[r * s.y_step]);
        if (s.beta) most += std::abs(beta) * std::abs(traits<T>::widen(y0[r * s.y_step]));
        const long double off = std::abs(traits<T>::widen(out[r * s.y_step]) - want);
        if (!(off <= 3 * eps * terms[r] * most)) return r;
    }
    return -1;
}

/* Bytes of y that a run must not have touched. */
template <class T>
static bool others_stay(const pattern &p, const shape &s, const operands<T> &o, const std::vector<T> &y)
{
    std::vector<char> ours(y.size());
    for (i64 side = 0; side < s.sides; side++)
        for (i64 r = 0; r < p.n; r++)
            ours[(size_t)(o.y_at + side * o.y_side + r * s.y_step)] = 1;
    for (size_t i = 0; i < y.size(); i++)
        if (!ours[i] && memcmp(&y[i], &o.y0[i], sizeof(T)) != 0) return false;
    return true;
}

static void fail(const shape &s, const char *what, i64 at)
{
    failures++;
    printf("%s %lld, %s, type %d%s%s%s, steps %lld %lld, window %d: %s (%lld)\n", s.name.c_str(), (long long)s.m,
           form_name[s.form], (int)s.type, s.hermitian ? ", Hermitian" : "", s.ones ? ", ones" : "",
           s.free ? ", free" : "", (long long)s.x_step, (long long)s.y_step, s.window, what, (long long)at);
}

template <class T> static void check(const pattern &lower, const shape &s, u64 *state)
{
    cases++;
    const pattern p = make_form(lower, s.form, next_random(state));
    operands<T> o = make_operands<T>(p, s, state);
    on_device<i64> begin(p.begin), end(p.end);
    on_device<u32> column(p.column);
    on_device<T> value(o.value), x(o.x), y(o.y0);
    lacis_symv_half_gpu gpu = {};
    lacis_symv_job *job = &gpu.half.job;
    job->type = s.type;
    job->uplo = is_upper(s.form) ? LACIS_SYMV_UPPER : LACIS_SYMV_LOWER;
    job->order = s.free ? LACIS_SYMV_FREE : LACIS_SYMV_FIXED;
    job->hermitian = s.hermitian;
    job->matrices = 1;
    job->n = p.n;
    job->sides = s.sides;
    job->x = x.at + o.x_at;
    job->x_side = o.x_side;
    job->x_step = s.x_step;
    job->y = y.at + o.y_at;
    job->y0 = job->y;
    job->y_side = o.y_side;
    job->y_step = s.y_step;
    job->alpha[0] = next_random(state) % 3 ? 1.25 : 1;
    job->beta[0] = s.beta ? -0.5 : 0;
    if (lacis_symv_complex(s.type) && s.beta) job->alpha[2] = 0.75, job->beta[2] = 2;
    job->host = device_host();
    gpu.half.begin = (const int64_t *)begin.at;
    gpu.half.end = (const int64_t *)end.at;
    gpu.half.column = column.at;
    gpu.half.value = s.ones ? NULL : value.at;
    gpu.entries = p.column.size();
    gpu.joined = s.form != LOOSE;
    gpu.processors = processors;
    gpu.window = s.window;
    gpu.stream = stream;
    lacis_symv_half_plan plan = {};
    int error = 0;
    if (!s.free && p.n > 0 && lacis_symv_half_gpu_plan(&gpu, &plan, &error) != LACIS_SYMV_GPU_OK)
        return fail(s, "no plan", error);
    if (plan.bytes > lacis_symv_half_gpu_plan_bytes(&gpu))
        fail(s, "the plan is larger than announced", (i64)plan.bytes);
    std::vector<T> first;
    for (int again = 0; again < (s.free ? 1 : 3); again++) {
        CUDA(cudaMemcpy(y.at, o.y0.data(), sizeof(T) * o.y0.size(), cudaMemcpyHostToDevice));
        if (again == 2) { /* the plan too */
            job->host.free(NULL, plan.block);
            plan = {};
            if (p.n > 0 && lacis_symv_half_gpu_plan(&gpu, &plan, &error) != LACIS_SYMV_GPU_OK)
                return fail(s, "no plan again", error);
        }
        const lacis_symv_gpu_status status = lacis_symv_half_gpu_run(&gpu, s.free || p.n == 0 ? NULL : &plan, &error);
        if (status != LACIS_SYMV_GPU_OK) return fail(s, "status", (i64)status);
        CUDA(cudaStreamSynchronize(stream));
        const std::vector<T> out = y.back((i64)o.y0.size());
        if (again == 0) first = out;
        if (memcmp(first.data(), out.data(), sizeof(T) * out.size()) != 0) fail(s, "other bits", again);
    }
    for (i64 side = 0; side < s.sides; side++) {
        const i64 wrong = wrong_row(p, s, o, *job, first, side);
        if (wrong >= 0) fail(s, "wrong at row", wrong);
    }
    if (!others_stay(p, s, o, first)) fail(s, "bytes beside y", 0);
    if (plan.block != NULL) job->host.free(NULL, plan.block);
}

static void check_type(const pattern &lower, const shape &s, u64 *state)
{
    switch (s.type) {
    case LACIS_SYMV_F32:
        return check<float>(lower, s, state);
    case LACIS_SYMV_F64:
        return check<double>(lower, s, state);
    case LACIS_SYMV_C64:
        return check<std::complex<float>>(lower, s, state);
    default:
        return check<std::complex<double>>(lower, s, state);
    }
}

void check_all(bool small, u64 seed)
{
    u64 state = seed;
    struct {
        const char *name;
        i64 m, small;
    } list[] = {{"empty", 0, 0},     {"diagonal", 1, 1},    {"few", 2, 2},
                {"few", 33, 33},     {"few", 5000, 300},    {"diagonal", 3000, 100},
                {"empty", 1000, 40}, {"arrow", 40000, 200}, {"fem3", 9, 3},
                {"fem1", 16, 5},     {"band", 20000, 400},  {"random", 6000, 200},
                {"dense", 700, 60},  {"few", 300000, 1000}, {"arrow-last", 4000, 150}};
    for (const auto &one : list) {
        const pattern lower = make_lower(one.name, small ? one.small : one.m, next_random(&state));
        for (int f = 0; f < FORMS; f++)
            for (int type = LACIS_SYMV_F32; type <= LACIS_SYMV_C128; type++) {
                if (small && type != LACIS_SYMV_F32 + (f % 4)) continue;
                const u64 any = next_random(&state);
                const bool complex = type >= LACIS_SYMV_C64;
                shape s = {one.name,
                           lower.n,
                           (enum form)f,
                           (lacis_symv_type)type,
                           complex && (any & 1),
                           (any & 14) == 0,
                           (any & 0x70) == 0,
                           (any & 0x80) != 0,
                           any & 0x100 ? 1 : (i64)(any >> 9) % 4 - 5,
                           any & 0x2000 ? 1 : (i64)(any >> 14) % 3 + 1,
                           any & 0x70000 ? 1 : 3,
                           (any >> 24) % 3 == 0 ? 64 : 0};
                check_type(lower, s, &state);
            }
    }
}
