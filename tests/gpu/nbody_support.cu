/* SPDX-License-Identifier: Apache-2.0
 *
 * See nbody_support.h: memory, columns, reading a system back, sums on the host.
 */
#include "nbody_support.h"

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstring>
#include <thread>

int64_t nbody_live, nbody_live_bytes, nbody_most_bytes, nbody_allocs, nbody_fail_at;

void nbody_expect(bool good, const char *format, ...)
{
    nbody_checks++;
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

/* --- memory: a block begins with its size --------------------------------------------------------------------- */

static std::vector<std::pair<void *, int64_t>> blocks;

static void *host_alloc(void *, uint64_t bytes)
{
    void *block = nullptr;
    if (++nbody_allocs == nbody_fail_at) return nullptr;
    if (cudaMallocAsync(&block, bytes ? bytes : 1, stream) != cudaSuccess) return nullptr;
    CUDA(cudaMemsetAsync(block, 0xff, bytes ? bytes : 1, stream)); /* what is read before it is written shows */
    blocks.push_back({block, (int64_t)bytes});
    nbody_live++;
    nbody_live_bytes += (int64_t)bytes;
    nbody_most_bytes = std::max(nbody_most_bytes, nbody_live_bytes);
    return block;
}

static void host_free(void *, void *block)
{
    if (block == nullptr) return;
    for (size_t i = 0; i < blocks.size(); i++) {
        if (blocks[i].first != block) continue;
        nbody_live--;
        nbody_live_bytes -= blocks[i].second;
        blocks.erase(blocks.begin() + (long)i);
        CUDA(cudaFreeAsync(block, stream));
        return;
    }
    nbody_expect(false, "a block is freed that nobody has");
}

lacis_nbody_host nbody_host(void)
{
    return {host_alloc, host_free, nullptr, nullptr, nullptr};
}

/* --- columns ------------------------------------------------------------------------------------------------- */

void *nbody_room(lacis_nbody_type type, int64_t n)
{
    void *column = nullptr;
    const size_t bytes = (size_t)(n * lacis_nbody_size(type));
    CUDA(cudaMallocAsync(&column, bytes ? bytes : 1, stream));
    CUDA(cudaMemsetAsync(column, 0xff, bytes ? bytes : 1, stream));
    return column;
}

void *nbody_up(lacis_nbody_type type, const std::vector<double> &values)
{
    if (values.empty()) return nullptr;
    void *column = nbody_room(type, (int64_t)values.size());
    const std::vector<float> floats(values.begin(), values.end());
    const void *from = type == LACIS_NBODY_F32 ? (const void *)floats.data() : (const void *)values.data();
    CUDA(cudaMemcpyAsync(column, from, values.size() * (size_t)lacis_nbody_size(type), cudaMemcpyHostToDevice,
                         stream));
    CUDA(cudaStreamSynchronize(stream));
    return column;
}

std::vector<double> nbody_down(lacis_nbody_type type, const void *column, int64_t n)
{
    std::vector<double> out((size_t)n);
    std::vector<float> floats((size_t)n);
    void *to = type == LACIS_NBODY_F32 ? (void *)floats.data() : (void *)out.data();
    CUDA(cudaMemcpyAsync(to, column, (size_t)(n * lacis_nbody_size(type)), cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    if (type == LACIS_NBODY_F32) std::copy(floats.begin(), floats.end(), out.begin());
    return out;
}

void nbody_drop(const void *column)
{
    if (column != nullptr) CUDA(cudaFreeAsync((void *)column, stream));
}

nbody_columns::~nbody_columns()
{
    for (void *column : held)
        nbody_drop(column);
    if (start.pinned != nullptr) CUDA(cudaFreeHost(start.pinned));
}

void nbody_begin(nbody_columns *c, const nbody_set &set, lacis_nbody_type type, const lacis_nbody_rule &rule)
{
    const auto column = [&](const std::vector<double> &values) {
        void *there = nbody_up(type, values);
        if (there != nullptr) c->held.push_back(there);
        return there;
    };
    lacis_nbody_start *s = &c->start.start;
    *s = {type,
          set.n(),
          column(set.m),
          column(set.x),
          column(set.y),
          column(set.z),
          column(set.vx),
          column(set.vy),
          column(set.vz),
          column(set.eps),
          nullptr,
          nullptr,
          nullptr,
          set.soften,
          1,
          rule,
          0,
          nbody_host()};
    c->start.stream = stream;
    CUDA(cudaHostAlloc(&c->start.pinned, LACIS_NBODY_GPU_PINNED_BYTES, 0));
}

lacis_nbody_rule nbody_rule(lacis_nbody_way way, lacis_nbody_order order, lacis_nbody_opening opening)
{
    lacis_nbody_rule rule = {way, order, opening, 0.5, 0, 0, 0, 0, false};
    if (opening == LACIS_NBODY_RELATIVE) {
        rule.theta = 1.2;
        rule.alpha = 1e-2;
    }
    return rule;
}

nbody_state nbody_read(lacis_nbody_gpu *system, lacis_nbody_type type, int64_t n, bool phi)
{
    nbody_state out;
    std::vector<double> *to[] = {&out.x,  &out.y,  &out.z,  &out.vx, &out.vy,
                                 &out.vz, &out.ax, &out.ay, &out.az, &out.phi};
    void *room[10] = {};
    for (int c = 0; c < 9 + phi; c++)
        room[c] = nbody_room(type, n);
    const lacis_nbody_columns into = {room[0], room[1], room[2], room[3], room[4],
                                      room[5], room[6], room[7], room[8], room[9]};
    nbody_expect(lacis_nbody_gpu_read(system, &into) == LACIS_NBODY_OK, "read: not done");
    for (int c = 0; c < 9 + phi; c++) {
        *to[c] = nbody_down(type, room[c], n);
        nbody_drop(room[c]);
    }
    return out;
}

static bool same(const std::vector<double> &a, const std::vector<double> &b)
{
    return a.size() == b.size() && (a.empty() || memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

bool nbody_state::operator==(const nbody_state &o) const
{
    return same(x, o.x) && same(y, o.y) && same(z, o.z) && same(vx, o.vx) && same(vy, o.vy) && same(vz, o.vz) &&
           same(ax, o.ax) && same(ay, o.ay) && same(az, o.az) && same(phi, o.phi);
}

/* --- sums on the host ----------------------------------------------------------------------------------------- */

nbody_sum nbody_direct(const nbody_set &set, int64_t i, const double *point)
{
    const size_t k = (size_t)(i < 0 ? 0 : i);
    const double x = i < 0 ? point[0] : set.x[k], y = i < 0 ? point[1] : set.y[k], z = i < 0 ? point[2] : set.z[k];
    const bool own = !set.eps.empty();
    const double mine = !own ? set.soften * set.soften : i < 0 ? 0 : set.eps[k] * set.eps[k];
    nbody_sum s = {};
    for (size_t j = 0; j < set.m.size(); j++) {
        if ((int64_t)j == i) continue;
        const double e = own ? (mine + set.eps[j] * set.eps[j]) / 2 : mine;
        const double dx = set.x[j] - x, dy = set.y[j] - y, dz = set.z[j] - z;
        const double d2 = dx * dx + dy * dy + dz * dz, r2 = d2 + e;
        if (!(r2 > 0)) continue;
        const double w = 1 / sqrt(r2), f = set.m[j] * w * w * w;
        s.a[0] += f * dx;
        s.a[1] += f * dy;
        s.a[2] += f * dz;
        s.phi += set.m[j] * w;
        s.modulus += f * sqrt(d2);
    }
    return s;
}

std::vector<nbody_sum> nbody_directs(const nbody_set &set, const std::vector<int64_t> &which)
{
    std::vector<nbody_sum> out(which.size());
    const size_t threads = std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> team;
    for (size_t t = 0; t < threads; t++)
        team.emplace_back([&, t] {
            for (size_t k = t; k < which.size(); k += threads)
                out[k] = nbody_direct(set, which[k], nullptr);
        });
    for (std::thread &t : team)
        t.join();
    return out;
}

void nbody_quantiles(std::vector<double> errors, double *out)
{
    std::sort(errors.begin(), errors.end());
    const double at[] = {0.5, 0.9, 0.99, 1};
    for (int q = 0; q < 4; q++) {
        const size_t last = errors.empty() ? 0 : errors.size() - 1;
        out[q] = errors.empty() ? 0 : errors[std::min(last, (size_t)(at[q] * (double)errors.size()))];
    }
}
