/* SPDX-License-Identifier: Apache-2.0
 *
 * One system on several devices against the same on one: fields, motion, figures, bits, memory that fails. On one GPU
 * it comes several times.
 */
#include "nbody_several.h"

#include <algorithm>
#include <cmath>

struct Together {
    Devices devices;
    lacis_nbody_gpus *systems = nullptr;
    lacis_nbody_type type;
    int64_t n;
    Together(int many, const nbody_set &set, lacis_nbody_type type_, const lacis_nbody_rule &rule)
        : devices(many, set, type_, rule), type(type_), n(set.n())
    {
        int error = 0;
        const lacis_nbody_status status =
            lacis_nbody_gpus_new(devices.starts, devices.device, devices.many, &systems, &error);
        nbody_expect(status == LACIS_NBODY_OK, "several: status %d, CUDA %d", status, error);
    }
    ~Together()
    {
        lacis_nbody_gpus_free(systems);
    }
    void steps(int64_t k, double dt)
    {
        const lacis_nbody_status status = lacis_nbody_gpus_steps(systems, k, dt, false);
        nbody_expect(status == LACIS_NBODY_OK, "several: steps: status %d, CUDA %d", status,
                     lacis_nbody_gpus_error_code(systems));
    }
    /* Of the whole, read on its own stream. */
    nbody_state read(bool phi)
    {
        lacis_nbody_gpu *whole = lacis_nbody_gpus_whole(systems, phi);
        nbody_expect(whole != nullptr, "several: no whole");
        CUDA(cudaStreamSynchronize(stream));
        const cudaStream_t mine = stream;
        stream = devices.streams[0];
        const nbody_state out = nbody_read(whole, type, n, phi);
        stream = mine;
        return out;
    }
};

/* The worst |a - a'| in terms of the sum of moduli, over some bodies. */
static double error_of(const nbody_set &set, const nbody_state &s)
{
    std::vector<int64_t> which;
    for (int64_t k = 0; k < 100; k++)
        which.push_back(k * set.n() / 100);
    nbody_set now = set;
    now.x = s.x, now.y = s.y, now.z = s.z;
    const std::vector<nbody_sum> sums = nbody_directs(now, which);
    double worst = 0;
    for (size_t k = 0; k < which.size(); k++) {
        const size_t i = (size_t)which[k];
        const double dx = s.ax[i] - sums[k].a[0], dy = s.ay[i] - sums[k].a[1], dz = s.az[i] - sums[k].a[2];
        const double off = sqrt(dx * dx + dy * dy + dz * dz), e = off == 0 ? 0 : off / sums[k].modulus;
        worst = std::isnan(e) ? INFINITY : std::max(worst, e);
    }
    return worst;
}

static void check_type(lacis_nbody_type type, int many, int64_t n, const lacis_nbody_rule &rule, u64 seed)
{
    nbody_set set = nbody_plummer(n, seed);
    if (type == LACIS_NBODY_F32) nbody_round(&set);
    Together a(many, set, type, rule);
    const double first = error_of(set, a.read(true));
    a.steps(2, 0.01);
    const nbody_state middle = a.read(false);
    a.steps(70, 1e-3);
    const nbody_state end = a.read(false);
    const double last = error_of(set, end);
    nbody_expect(first < 0.01 && last < 0.01, "several: type %d, %d devices, opening %d: errors %.2e %.2e", type,
                 many, rule.opening, first, last);
    nbody_columns c;
    nbody_begin(&c, set, type, rule);
    lacis_nbody_gpu *one = nullptr;
    int error = 0;
    nbody_expect(lacis_nbody_gpu_new(&c.start, &one, &error) == LACIS_NBODY_OK, "several: no system");
    nbody_expect(lacis_nbody_gpu_steps(one, 2, 0.01, false) == LACIS_NBODY_OK, "several: no steps");
    const nbody_state alone = nbody_read(one, type, n, false);
    lacis_nbody_gpu_free(one);
    nbody_expect(!rule.deterministic || alone == middle, "several: type %d, %d devices: other bits than one device's",
                 type, many);
    double apart = 0, phi = 0;
    for (size_t i = 0; i < set.m.size(); i++)
        apart = std::max({apart, fabs(alone.x[i] - middle.x[i]), fabs(alone.vz[i] - middle.vz[i])});
    nbody_expect(apart < 1e-3, "several: type %d, %d devices: %.2e from one device's", type, many, apart);
    Together b(many, set, type, rule);
    const std::vector<double> potential = b.read(true).phi;
    for (int64_t i = 0; i < n; i += n / 50)
        phi = std::max(phi, fabs(potential[(size_t)i] / nbody_direct(set, i, nullptr).phi + 1));
    nbody_expect(phi < 5e-3, "several: type %d, %d devices: potentials off by %.2e", type, many, phi);
    b.steps(1, 0.01);
    b.steps(1, 0.01);
    nbody_expect(!rule.deterministic || b.read(false) == middle, "several: type %d, %d devices: other bits", type,
                 many);
}

/* Another rule between steps, as on one device; kicks that were still to be done are done with the old sums. */
static void check_rule(int many, int64_t n, u64 seed)
{
    const nbody_set set = nbody_plummer(n, seed);
    lacis_nbody_rule rule = nbody_rule(LACIS_NBODY_TREE, LACIS_NBODY_MONOPOLE, LACIS_NBODY_GEOMETRIC);
    rule.deterministic = true;
    Together a(many, set, LACIS_NBODY_F64, rule);
    nbody_columns c;
    nbody_begin(&c, set, LACIS_NBODY_F64, rule);
    lacis_nbody_gpu *one = nullptr;
    int error = 0;
    nbody_expect(lacis_nbody_gpu_new(&c.start, &one, &error) == LACIS_NBODY_OK, "several: no system");
    for (const double theta : {0.8, 0.3}) {
        rule.theta = theta;
        lacis_nbody_gpus_set_rule(a.systems, &rule);
        lacis_nbody_gpu_set_rule(one, &rule);
        a.steps(3, 0.01);
        nbody_expect(lacis_nbody_gpu_steps(one, 3, 0.01, false) == LACIS_NBODY_OK, "several: no steps");
    }
    nbody_expect(nbody_read(one, LACIS_NBODY_F64, n, false) == a.read(false), "several: %d devices: set_rule", many);
    lacis_nbody_gpu_free(one);
}

static void check_memory(const lacis_nbody_rule &rule, u64 seed)
{
    const nbody_set set = nbody_plummer(300, seed);
    Devices devices(2, set, LACIS_NBODY_F64, rule);
    several_fail_at = 0;
    int64_t allocs = 1;
    for (int64_t fail = 0; fail <= allocs; fail++) { /* the first time nothing fails */
        lacis_nbody_gpus *systems = nullptr;
        int error = 0;
        several_allocs = 0;
        several_fail_at = fail;
        lacis_nbody_status s = lacis_nbody_gpus_new(devices.starts, devices.device, 2, &systems, &error);
        if (s == LACIS_NBODY_OK) s = lacis_nbody_gpus_steps(systems, 2, 0.01, false);
        lacis_nbody_gpus_free(systems);
        nbody_expect(s == (fail > 0 ? LACIS_NBODY_NO_MEMORY : LACIS_NBODY_OK), "several: block %lld fails: status %d",
                     (long long)fail, s);
        nbody_expect(several_live == 0, "several: block %lld fails: %lld are left", (long long)fail,
                     (long long)several_live);
        if (fail == 0) allocs = several_allocs;
    }
    several_fail_at = 0;
}

static void check(bool small, u64 seed)
{
    for (const bool deterministic : {true, false}) {
        for (const lacis_nbody_opening opening : {LACIS_NBODY_GEOMETRIC, LACIS_NBODY_OFFSET, LACIS_NBODY_RELATIVE}) {
            lacis_nbody_rule rule = nbody_rule(LACIS_NBODY_TREE, LACIS_NBODY_QUADRUPOLE, opening);
            rule.deterministic = deterministic;
            rule.expand = 0.2;
            for (const lacis_nbody_type type : {LACIS_NBODY_F32, LACIS_NBODY_F64, LACIS_NBODY_MIXED})
                check_type(type, small || type != LACIS_NBODY_F32 ? 2 : 3, small ? 150 : 20000, rule, seed);
            if (opening == LACIS_NBODY_RELATIVE) check_memory(rule, seed);
        }
    }
    check_rule(2, small ? 150 : 20000, seed);
    nbody_expect(several_live == 0, "several: %lld blocks are left", (long long)several_live);
}

static nbody_part part("several", check);
