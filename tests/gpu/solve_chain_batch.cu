/* SPDX-License-Identifier: Apache-2.0
 *
 * Batches of solve_chain_support.h: made, laid out, run.
 */
#include "solve_chain_support.h"

#include <cmath>
#include <cstring>
#include <limits>

static const double NaN = std::numeric_limits<double>::quiet_NaN();
static const double INF = std::numeric_limits<double>::infinity();

static value random_value(lacis_solve_type type, double most, uint64_t *state)
{
    const double re = (2 * uniform(state) - 1) * most, im = (2 * uniform(state) - 1) * most;
    return type == LACIS_SOLVE_C128 ? value(re, im) : value(type == LACIS_SOLVE_F64 ? re : (double)(float)re, 0);
}

static double rounded_up(lacis_solve_type type, double x)
{
    if (type == LACIS_SOLVE_F64 || type == LACIS_SOLVE_C128) return x;
    float f = (float)x;
    return (double)f < x ? std::nextafterf(f, INFINITY) : f;
}

/* The ways in which a lane may be bad, or only look so. */
static void spoil(lacis_solve_type type, chain_set &s, int64_t lane, int shared, uint64_t *state)
{
    const int64_t row = (int64_t)(next_random(state) % (uint64_t)s.rows), at = lane * s.rows + row;
    const bool small = type == LACIS_SOLVE_F32 || type == LACIS_SOLVE_MIXED;
    const int way = (int)(next_random(state) % 10);
    const auto own = [&](int field) { return (shared >> field & 1) == 0; };
    if (way < 4) { /* not finite, in any field; sometimes where it is not looked at */
        if (own(way)) s.in[way][at] = next_random(state) % 2 ? value(NaN, 0) : value(INF, 0);
    } else if (way == 4 && own(DIAGONAL)) {
        s.in[DIAGONAL][at] = 0;
    } else if (way == 5 && own(DIAGONAL)) { /* not dominant, yet solved well */
        s.in[DIAGONAL][at] *= small ? (float)0.4F : 0.4;
    } else if (way == 6 && own(DIAGONAL) && own(LOWER) && row > 0) { /* pivot of exactly 0 */
        s.in[LOWER][at] = s.in[DIAGONAL][at];
        s.in[DIAGONAL][at - 1] = 1, s.in[UPPER][at - 1] = 1;
        if (own(UPPER) && row == 1) s.in[LOWER][at - 1] = 0;
    } else if (way >= 7 && (shared & 7) == 0) { /* extreme, but right */
        const double most = small ? 1e38 : 3e307, least = small ? 1e-41 : 1e-309;
        const double scale = way == 7 ? most / 10 : way == 8 ? least : small ? 1e-37 : 1e-305;
        for (int64_t r = 0; r < s.rows; r++)
            for (int f = 0; f < 3; f++)
                s.in[f][lane * s.rows + r] *= scale;
    }
}

chain_set make_chains(lacis_solve_type type, int64_t lanes, int64_t rows, int shared, kind kind, uint64_t *state)
{
    chain_set s;
    s.lanes = lanes, s.rows = rows;
    for (int f = 0; f < FIELDS; f++)
        s.in[f].resize((size_t)(lanes * rows));
    for (int64_t l = 0; l < lanes; l++)
        for (int64_t r = 0; r < rows; r++) {
            const int64_t at = l * rows + r;
            value v[FIELDS];
            for (int f = 0; f < FIELDS; f++)
                v[f] = random_value(type, 1, state);
            const double lower = r > 0 ? std::abs(v[LOWER]) : 0, upper = r < rows - 1 ? std::abs(v[UPPER]) : 0;
            const double sum = lower + upper;
            const double size = kind == BARE ? (sum > 0 ? sum : 1) : sum + 0.05 + 2 * uniform(state);
            const double angle = 6.28 * uniform(state);
            const value unit = type == LACIS_SOLVE_C128 ? std::polar(1.0, angle) : value(angle < 3.14 ? 1 : -1, 0);
            v[DIAGONAL] = unit * rounded_up(type, size * (type == LACIS_SOLVE_C128 ? 1 + 1e-14 : 1));
            for (int f = 0; f < FIELDS; f++)
                s.in[f][at] = v[f];
        }
    if (kind == BARE) /* all rows of the sum 0 are singular: one row at least is not */
        for (int64_t l = 0; l < lanes; l++)
            s.in[DIAGONAL][l * rows + rows / 2] *= 2;
    if (kind == BAD)
        for (int64_t l = 0; l < lanes; l++)
            if (next_random(state) % 3 == 0) spoil(type, s, l, shared, state);
    for (int f = 0; f < FIELDS; f++)
        for (int64_t l = 1; l < lanes && (shared >> f & 1); l++)
            std::copy(s.in[f].begin(), s.in[f].begin() + rows, s.in[f].begin() + l * rows);
    if ((shared & 7) != 0 && (shared & 7) != 7 && kind != BAD) /* own rows fit the shared ones */
        for (int64_t i = 0; i < lanes * rows; i++) {
            const double need =
                (i % rows > 0 ? std::abs(s.in[LOWER][i]) : 0) + (i % rows < rows - 1 ? std::abs(s.in[UPPER][i]) : 0);
            if ((shared >> DIAGONAL & 1) == 0 && std::abs(s.in[DIAGONAL][i]) < need + 0.01)
                s.in[DIAGONAL][i] = rounded_up(type, need + 0.5);
        }
    return s;
}

static void put(lacis_solve_type type, char *data, int64_t at, value v)
{
    if (type == LACIS_SOLVE_F64) {
        ((double *)data)[at] = v.real();
    } else if (type == LACIS_SOLVE_C128) {
        ((value *)data)[at] = v;
    } else {
        ((float *)data)[at] = (float)v.real();
    }
}

value value_at(lacis_solve_type type, const char *data, int64_t at)
{
    if (type == LACIS_SOLVE_F64) return ((const double *)data)[at];
    if (type == LACIS_SOLVE_C128) return ((const value *)data)[at];
    return (double)((const float *)data)[at];
}

bool same_value(lacis_solve_type type, const char *a, const char *b)
{
    const int bytes = lacis_solve_bytes(type);
    if (memcmp(a, b, (size_t)bytes) == 0) return true;
    const value x = value_at(type, a, 0), y = value_at(type, b, 0);
    const auto same = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
    return same(x.real(), y.real()) && same(x.imag(), y.imag());
}

lacis_solve_job batch::job() const
{
    lacis_solve_job j = {};
    j.type = type;
    j.lower = {in[LOWER].data(), (shared >> LOWER & 1) != 0};
    j.diagonal = {in[DIAGONAL].data(), (shared >> DIAGONAL & 1) != 0};
    j.upper = {in[UPPER].data(), (shared >> UPPER & 1) != 0};
    j.rhs = {in[RHS].data(), (shared >> RHS & 1) != 0};
    j.x = (void *)x.data();
    j.group = groups.data();
    j.groups = (int64_t)groups.size();
    j.threads = 1;
    return j;
}

/* Places of a group's lanes in an array that is `*size` elements so far. */
static lacis_solve_side side_of(const chain_set &s, const layout &l, bool odd, int64_t *size)
{
    lacis_solve_side side = {};
    const int64_t lanes = l.ahead + s.lanes + l.behind;
    side.block = l.block == 0 ? (lanes > 0 ? lanes : 1) : l.block;
    side.lane = l.ahead;
    side.place = *size + (odd ? 3 : 0);
    const int64_t flocks = (lanes + side.block - 1) / side.block;
    *size = side.place + flocks * side.block * s.rows;
    side.step = odd ? 2 : 1;
    side.row = *size + (odd ? 1 : 0);
    *size = side.row + s.rows * side.step;
    return side;
}

batch lay_out(lacis_solve_type type, int shared, const std::vector<chain_set> &sets,
              const std::vector<layout> &matrix, const std::vector<layout> &rhs, const std::vector<layout> &x,
              bool odd)
{
    batch b;
    b.type = type, b.shared = shared, b.sets = sets;
    int64_t size[3] = {};
    for (size_t g = 0; g < sets.size(); g++) {
        lacis_solve_group group = {};
        group.lanes = sets[g].lanes, group.rows = sets[g].rows, group.first = b.lanes;
        group.matrix = side_of(sets[g], matrix[g], odd, &size[0]);
        group.rhs = side_of(sets[g], rhs[g], odd, &size[1]);
        group.x = side_of(sets[g], x[g], odd, &size[2]);
        b.groups.push_back(group);
        b.lanes += sets[g].lanes;
    }
    const int64_t bytes = lacis_solve_bytes(type);
    for (int f = 0; f < FIELDS; f++) {
        const int64_t count = size[f == RHS ? 1 : 0];
        b.in[f].resize((size_t)(count * bytes));
        for (int64_t i = 0; i < count; i++)
            put(type, b.in[f].data(), i, value(NaN, NaN));
    }
    b.x.assign((size_t)(size[2] * bytes), (char)0xa5);
    b.residual.assign((size_t)size[2], -7);
    b.status.assign((size_t)b.lanes, -7);
    for (size_t g = 0; g < sets.size(); g++)
        for (int f = 0; f < FIELDS; f++)
            for (int64_t l = 0; l < sets[g].lanes; l++)
                for (int64_t r = 0; r < sets[g].rows; r++) {
                    const lacis_solve_side &side = f == RHS ? b.groups[g].rhs : b.groups[g].matrix;
                    if ((f == LOWER && r == 0) || (f == UPPER && r == sets[g].rows - 1)) continue;
                    const int64_t at =
                        (shared >> f & 1) ? side.row + r * side.step : lacis_solve_place(&side, sets[g].rows, l, r);
                    put(type, b.in[f].data(), at, sets[g].in[f][l * sets[g].rows + r]);
                }
    return b;
}

/* Whether elements of no lane are as before. */
template <class E> static bool rest_is(const batch &b, const std::vector<E> &now, size_t each, const E &was)
{
    std::vector<char> mine(now.size() / each, 0);
    for (size_t g = 0; g < b.groups.size(); g++)
        for (int64_t l = 0; l < b.groups[g].lanes; l++)
            for (int64_t r = 0; r < b.groups[g].rows; r++)
                mine[(size_t)lacis_solve_place(&b.groups[g].x, b.groups[g].rows, l, r)] = 1;
    for (size_t i = 0; i < now.size(); i++)
        if (!mine[i / each] && now[i] != was) return false;
    return true;
}

run_result run_on_device(batch &b, lacis_solve_gpu_way way, bool want_status, bool want_residual, bool later,
                         const std::string &what)
{
    run_result result;
    lacis_solve_gpu_job job = {};
    char *in[FIELDS];
    job.job = b.job();
    for (int f = 0; f < FIELDS; f++)
        in[f] = upload(b.in[f]);
    const std::vector<char> poison(b.x.size(), (char)0xa5);
    const std::vector<double> poison_residual(b.residual.size(), -7);
    char *x = upload(poison);
    double *residual = upload(poison_residual);
    int64_t *status = upload(std::vector<int64_t>((size_t)b.lanes, -7));
    job.job.lower.data = in[LOWER], job.job.diagonal.data = in[DIAGONAL];
    job.job.upper.data = in[UPPER], job.job.rhs.data = in[RHS];
    job.job.x = x;
    job.job.residual = want_residual ? residual : nullptr;
    job.job.status = want_status ? status : nullptr;
    job.job.host = {device_alloc, device_free, nullptr, nullptr};
    job.way = way;
    job.later = later;
    job.stream = stream;
    job.pinned = cases % 3 ? pinned : nullptr;
    most_held = held;
    const uint64_t before = held, promised = lacis_solve_gpu_work_bytes(&job);
    result.status = lacis_solve_gpu_run(&job, nullptr, nullptr, &result.out);
    if (result.status == LACIS_SOLVE_GPU_FAILED)
        printf("%s\n", cudaGetErrorString((cudaError_t)result.out.cuda_error));
    CUDA(cudaStreamSynchronize(stream));
    expect(held == before && most_held - before <= promised, "%s: %llu bytes of %llu promised, %llu left",
           what.c_str(), (unsigned long long)(most_held - before), (unsigned long long)promised,
           (unsigned long long)(held - before));
    for (int f = 0; f < FIELDS; f++) {
        std::vector<char> now(b.in[f].size());
        CUDA(cudaMemcpy(now.data(), in[f], now.size(), cudaMemcpyDeviceToHost));
        expect(now == b.in[f], "%s: input %d was changed", what.c_str(), f);
        CUDA(cudaFree(in[f]));
    }
    CUDA(cudaMemcpy(b.x.data(), x, b.x.size(), cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(b.residual.data(), residual, b.residual.size() * 8, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(b.status.data(), status, b.status.size() * 8, cudaMemcpyDeviceToHost));
    CUDA(cudaFree(x));
    CUDA(cudaFree(residual));
    CUDA(cudaFree(status));
    expect(rest_is(b, b.x, (size_t)lacis_solve_bytes(b.type), (char)0xa5), "%s: x beyond its lanes", what.c_str());
    expect(rest_is(b, b.residual, 1, -7.0), "%s: residual beyond its lanes", what.c_str());
    return result;
}

std::vector<char> x_of(const batch &b, int64_t g)
{
    const lacis_solve_group &group = b.groups[(size_t)g];
    const int bytes = lacis_solve_bytes(b.type);
    std::vector<char> out((size_t)(group.lanes * group.rows * bytes));
    for (int64_t l = 0; l < group.lanes; l++)
        for (int64_t r = 0; r < group.rows; r++)
            memcpy(&out[(size_t)((l * group.rows + r) * bytes)],
                   &b.x[(size_t)(lacis_solve_place(&group.x, group.rows, l, r) * bytes)], (size_t)bytes);
    return out;
}
