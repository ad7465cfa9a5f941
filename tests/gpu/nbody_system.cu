/* SPDX-License-Identifier: Apache-2.0
 *
 * The system around the forces: motion against a leapfrog on the host, steps one by one and together, runs that go on
 * from where another ended, any order of bodies, figures, certificates, memory that fails.
 */
#include "nbody_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>

/* A system that frees itself. */
struct Running {
    lacis_nbody_gpu *system = nullptr;
    lacis_nbody_type type;
    int64_t n;
    explicit Running(const nbody_columns &c) : type(c.start.start.type), n(c.start.start.n)
    {
        int error = 0;
        const lacis_nbody_status status = lacis_nbody_gpu_new(&c.start, &system, &error);
        nbody_expect(status == LACIS_NBODY_OK, "system: status %d, CUDA %d", status, error);
    }
    ~Running()
    {
        lacis_nbody_gpu_free(system);
    }
    void steps(int64_t k, double dt, bool potential)
    {
        nbody_expect(lacis_nbody_gpu_steps(system, k, dt, potential) == LACIS_NBODY_OK, "steps: not done");
    }
    nbody_state read(bool phi)
    {
        return nbody_read(system, type, n, phi);
    }
};

/* What is to be tested of a type: all pairs, and trees where they are in this build. */
static std::vector<lacis_nbody_rule> rules_of(lacis_nbody_type type)
{
    std::vector<lacis_nbody_rule> out;
    const lacis_nbody_order orders[] = {LACIS_NBODY_MONOPOLE, LACIS_NBODY_QUADRUPOLE};
    out.push_back(nbody_rule(LACIS_NBODY_DIRECT, LACIS_NBODY_MONOPOLE, LACIS_NBODY_GEOMETRIC));
    for (const lacis_nbody_way way : {LACIS_NBODY_TREE, LACIS_NBODY_INSERT})
        for (const lacis_nbody_order order : orders)
            for (const lacis_nbody_opening opening : {LACIS_NBODY_GEOMETRIC, LACIS_NBODY_RELATIVE}) {
                lacis_nbody_start start = {};
                start.type = type;
                start.rule = nbody_rule(way, order, opening);
                if (lacis_nbody_gpu_refuses(&start) == nullptr) out.push_back(start.rule);
            }
    return out;
}

static nbody_set typed(nbody_set set, lacis_nbody_type type)
{
    if (type == LACIS_NBODY_F32) nbody_round(&set);
    return set;
}

/* --- motion --------------------------------------------------------------------------------------------------- */

static void host_kick(nbody_set *set, double dt)
{
    std::vector<int64_t> all;
    for (int64_t i = 0; i < set->n(); i++)
        all.push_back(i);
    const std::vector<nbody_sum> sums = nbody_directs(*set, all);
    for (size_t i = 0; i < all.size(); i++) {
        set->vx[i] += dt * sums[i].a[0];
        set->vy[i] += dt * sums[i].a[1];
        set->vz[i] += dt * sums[i].a[2];
    }
}
static void host_steps(nbody_set *set, int steps, double dt)
{
    for (int k = 0; k < steps; k++) {
        host_kick(set, dt / 2);
        for (size_t i = 0; i < set->m.size(); i++) {
            set->x[i] += dt * set->vx[i];
            set->y[i] += dt * set->vy[i];
            set->z[i] += dt * set->vz[i];
        }
        host_kick(set, dt / 2);
    }
}
static double farthest(const std::vector<double> &a, const std::vector<double> &b)
{
    double worst = 0;
    for (size_t i = 0; i < a.size(); i++)
        worst = std::max(worst, std::isnan(a[i]) ? INFINITY : fabs(a[i] - b[i]));
    return worst;
}

static void check_motion(lacis_nbody_type type, u64 seed)
{
    nbody_set set = typed(nbody_plummer(150, seed), type);
    nbody_columns c;
    nbody_begin(&c, set, type, rules_of(type)[0]);
    Running r(c);
    r.steps(5, 0.01, false);
    const nbody_state got = r.read(false);
    host_steps(&set, 5, 0.01);
    const double worst = std::max({farthest(got.x, set.x), farthest(got.y, set.y), farthest(got.z, set.z),
                                   farthest(got.vx, set.vx), farthest(got.vy, set.vy), farthest(got.vz, set.vz)});
    nbody_expect(worst < (type == LACIS_NBODY_F64 ? 1e-13 : 2e-6), "motion: type %d: off by %.2e", type, worst);
}

/* Steps one by one, together, with potentials, in between asked for figures and columns: the same bits. A run from
 * the state in the middle ends with those, too. */
static void check_bits(lacis_nbody_type type, const lacis_nbody_rule &rule, const nbody_set &set)
{
    const double dt = 0.02;
    nbody_columns c;
    nbody_begin(&c, set, type, rule);
    Running together(c), single(c);
    together.steps(4, dt, false);
    single.steps(1, dt, true);
    lacis_nbody_figures figures;
    nbody_expect(lacis_nbody_gpu_measure(single.system, &figures) == LACIS_NBODY_OK, "measure: not done");
    single.steps(1, dt, false);
    const nbody_state middle = single.read(false);
    single.steps(1, dt, false);
    single.steps(1, dt, true);
    const nbody_state end = together.read(false);
    nbody_expect(end == single.read(false), "%s, type %d, way %d: steps one by one have other bits", set.name.c_str(),
                 type, rule.way);
    nbody_expect(lacis_nbody_gpu_field(together.system, true) == LACIS_NBODY_OK, "field: not done");
    nbody_expect(end == together.read(false), "%s, type %d, way %d: potentials change bits", set.name.c_str(), type,
                 rule.way);

    nbody_set rest = set;
    rest.x = middle.x, rest.y = middle.y, rest.z = middle.z;
    rest.vx = middle.vx, rest.vy = middle.vy, rest.vz = middle.vz;
    nbody_columns from;
    nbody_begin(&from, rest, type, rule);
    lacis_nbody_start *start = &from.start.start;
    from.held.push_back(nbody_up(type, middle.ax));
    start->ax = from.held.back();
    from.held.push_back(nbody_up(type, middle.ay));
    start->ay = from.held.back();
    from.held.push_back(nbody_up(type, middle.az));
    start->az = from.held.back();
    Running resumed(from);
    nbody_expect(lacis_nbody_gpu_field(resumed.system, true) == LACIS_NBODY_OK, "field: not done");
    nbody_expect(middle == resumed.read(false), "%s, type %d, way %d: potentials of a resumed run change bits",
                 set.name.c_str(), type, rule.way);
    resumed.steps(2, dt, false);
    nbody_expect(end == resumed.read(false), "%s, type %d, way %d: a resumed run has other bits", set.name.c_str(),
                 type, rule.way);
}

/* Bodies in another order: the same bits for each. */
static void check_order(lacis_nbody_type type, const lacis_nbody_rule &rule, const nbody_set &set, u64 seed)
{
    std::vector<int64_t> to;
    const nbody_set other = nbody_shuffled(set, seed, &to);
    nbody_columns a, b;
    nbody_begin(&a, set, type, rule);
    nbody_begin(&b, other, type, rule);
    Running one(a), two(b);
    one.steps(3, 0.02, true);
    two.steps(3, 0.02, true);
    const nbody_state s = one.read(true), t = two.read(true);
    int64_t wrong = 0;
    for (size_t i = 0; i < to.size(); i++) {
        const size_t j = (size_t)to[i];
        const double p[] = {s.x[i], s.vy[i], s.az[i], s.phi[i]}, q[] = {t.x[j], t.vy[j], t.az[j], t.phi[j]};
        wrong += memcmp(p, q, sizeof p) != 0;
    }
    nbody_expect(wrong == 0, "%s, type %d, way %d: in another order %lld bodies have other bits", set.name.c_str(),
                 type, rule.way, (long long)wrong);
    lacis_nbody_figures f, g;
    lacis_nbody_gpu_measure(one.system, &f);
    lacis_nbody_gpu_measure(two.system, &g);
    nbody_expect(!memcmp(&f, &g, sizeof f), "%s, type %d, way %d: figures depend on the order", set.name.c_str(),
                 type, rule.way);
}

/* --- figures and certificates ---------------------------------------------------------------------------------- */

static void check_figures(lacis_nbody_type type, const lacis_nbody_rule &rule, const nbody_set &set)
{
    nbody_columns c;
    nbody_begin(&c, set, type, rule);
    Running r(c);
    lacis_nbody_figures f, want = {};
    nbody_expect(lacis_nbody_gpu_measure(r.system, &f) == LACIS_NBODY_OK, "measure: not done");
    const nbody_state s = r.read(true);
    const bool moves = !set.vx.empty();
    double terms = 0;
    for (size_t i = 0; i < set.m.size(); i++) {
        const double m = set.m[i], vx = moves ? set.vx[i] : 0, vy = moves ? set.vy[i] : 0, vz = moves ? set.vz[i] : 0;
        want.mass += m;
        want.kinetic += m * (vx * vx + vy * vy + vz * vz) / 2;
        want.potential += m * s.phi[i] / 2;
        want.momentum[2] += m * vz;
        want.angular[0] += m * (set.y[i] * vz - set.z[i] * vy);
        want.centre[1] += m * set.y[i];
        terms += m * (1 + fabs(set.y[i]) + fabs(set.z[i])) * (fabs(vy) + fabs(vz) + 1);
    }
    if (want.mass > 0) want.centre[1] /= want.mass;
    const double worst = std::max({fabs(f.mass - want.mass), fabs(f.kinetic - want.kinetic),
                                   fabs(f.momentum[2] - want.momentum[2]), fabs(f.angular[0] - want.angular[0]),
                                   want.mass > 0 ? want.mass * fabs(f.centre[1] - want.centre[1]) : 0});
    nbody_expect(worst <= 1e-13 * terms, "figures: %s, type %d: off by %.2e of %.2e", set.name.c_str(), type, worst,
                 terms);
    nbody_expect(fabs(f.potential - want.potential) <= 1e-12 * fabs(want.potential),
                 "figures: %s: potential %.17g, not %.17g", set.name.c_str(), f.potential, want.potential);
}

static void check_certificate(lacis_nbody_type type, const lacis_nbody_rule &rule, const nbody_set &set, int64_t many)
{
    nbody_columns c;
    nbody_begin(&c, set, type, rule);
    Running r(c);
    const int64_t n = set.n(), sample = std::min(many, n);
    lacis_nbody_errors got;
    lacis_nbody_counts before, after;
    nbody_expect(lacis_nbody_gpu_field(r.system, false) == LACIS_NBODY_OK, "field: not done");
    lacis_nbody_gpu_counted(r.system, &before, false);
    nbody_expect(lacis_nbody_gpu_certify(r.system, many, &got) == LACIS_NBODY_OK, "certify: not done");
    lacis_nbody_gpu_counted(r.system, &after, false);
    nbody_expect(before.p2p == after.p2p && before.evaluations == after.evaluations, "certify: counts change");
    const nbody_state s = r.read(false);
    std::vector<int64_t> which;
    for (int64_t k = 0; k < sample; k++)
        which.push_back(k * n / sample);
    const std::vector<nbody_sum> sums = nbody_directs(set, which);
    std::vector<double> relative, scaled;
    for (size_t k = 0; k < which.size(); k++) {
        const size_t i = (size_t)which[k];
        const double *a = sums[k].a, size = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
        const double e = sqrt(pow(s.ax[i] - a[0], 2) + pow(s.ay[i] - a[1], 2) + pow(s.az[i] - a[2], 2));
        relative.push_back(size > 0 ? e / size : e == 0 ? 0 : INFINITY);
        scaled.push_back(sums[k].modulus > 0 ? e / sums[k].modulus : e == 0 ? 0 : INFINITY);
    }
    double want[8];
    nbody_quantiles(relative, want);
    nbody_quantiles(scaled, want + 4);
    const double rounding = type == LACIS_NBODY_F64 ? 1e-12 : 1e-7; /* of softening in floats */
    bool good = got.sample == sample;
    for (int q = 0; q < 8; q++) {
        const double have = q < 4 ? got.relative[q] : got.scaled[q - 4];
        good = good && (have == want[q] || fabs(have - want[q]) <= 1e-3 * want[q] + rounding);
    }
    nbody_expect(good, "certificate: %s, type %d, way %d, %lld: %.3e %.3e, not %.3e %.3e", set.name.c_str(), type,
                 rule.way, (long long)sample, got.relative[0], got.relative[3], want[0], want[3]);
}

/* --- memory ---------------------------------------------------------------------------------------------------- */

static lacis_nbody_status run_all(const nbody_columns &c, int *error)
{
    lacis_nbody_gpu *system = nullptr;
    lacis_nbody_figures figures;
    lacis_nbody_errors errors;
    const lacis_nbody_type type = c.start.start.type;
    void *point[7];
    for (void *&one : point)
        one = nbody_up(type, std::vector<double>(5, 0.5));
    lacis_nbody_status s = lacis_nbody_gpu_new(&c.start, &system, error);
    if (s == LACIS_NBODY_OK) s = lacis_nbody_gpu_steps(system, 2, 0.01, false);
    if (s == LACIS_NBODY_OK) s = lacis_nbody_gpu_measure(system, &figures);
    const int64_t most = nbody_most_bytes;
    if (s == LACIS_NBODY_OK) s = lacis_nbody_gpu_certify(system, 7, &errors);
    if (s == LACIS_NBODY_OK)
        s = lacis_nbody_gpu_points(system, 5, point[0], point[1], point[2], point[3], point[4], point[5], point[6]);
    nbody_most_bytes = most;
    lacis_nbody_gpu_free(system);
    for (void *one : point)
        nbody_drop(one);
    return s;
}

static void check_memory(lacis_nbody_type type, const lacis_nbody_rule &rule, const nbody_set &set)
{
    nbody_columns c;
    int error = 0;
    nbody_begin(&c, set, type, rule);
    nbody_most_bytes = nbody_live_bytes = 0;
    nbody_allocs = nbody_fail_at = 0;
    nbody_expect(run_all(c, &error) == LACIS_NBODY_OK, "memory: a run fails, CUDA %d", error);
    const int64_t allocs = nbody_allocs, most = nbody_most_bytes;
    nbody_expect((uint64_t)most <= lacis_nbody_gpu_bytes(&c.start.start),
                 "memory: type %d, way %d: %lld bytes, %llu said", type, rule.way, (long long)most,
                 (unsigned long long)lacis_nbody_gpu_bytes(&c.start.start));
    for (int64_t k = 1; k <= allocs; k++) {
        nbody_allocs = 0;
        nbody_fail_at = k;
        const lacis_nbody_status status = run_all(c, &error);
        nbody_expect(status == LACIS_NBODY_NO_MEMORY, "memory: way %d, block %lld of %lld fails: status %d", rule.way,
                     (long long)k, (long long)allocs, status);
        nbody_expect(nbody_live == 0, "memory: way %d, block %lld fails: %lld are left", rule.way, (long long)k,
                     (long long)nbody_live);
    }
    nbody_fail_at = 0;
}

/* --- other calls ----------------------------------------------------------------------------------------------- */

static bool stop_at_once(void *)
{
    return true;
}

static void check_cancelled(lacis_nbody_type type, const lacis_nbody_rule &rule, const nbody_set &set)
{
    nbody_columns c;
    nbody_begin(&c, set, type, rule);
    Running plain(c);
    c.start.start.host.cancelled = stop_at_once;
    Running r(c);
    nbody_expect(lacis_nbody_gpu_steps(r.system, 5, 0.02, false) == LACIS_NBODY_CANCELLED, "cancelled: not told");
    plain.steps(1, 0.02, false);
    nbody_expect(plain.read(false) == r.read(false), "cancelled: type %d, way %d: not at the end of a step", type,
                 rule.way);
}

static bool finite(const nbody_state &s)
{
    for (const auto *column : {&s.x, &s.y, &s.z, &s.vx, &s.vy, &s.vz, &s.ax, &s.ay, &s.az, &s.phi})
        for (const double v : *column)
            if (!std::isfinite(v)) return false;
    return true;
}

/* The greatest error of the rule where every body walks by itself, in doubles: a cell that is just far enough may be
 * most of what pulls a body. Of RELATIVE its guard's: bodies that have met have the accelerations of that time. */
static double worst_alone(const nbody_set &set, const lacis_nbody_rule &rule)
{
    nbody_columns c;
    nbody_begin(&c, set, LACIS_NBODY_F64, rule);
    Running r(c);
    void *at[6];
    double worst = 0;
    for (void *&column : at)
        column = nbody_room(LACIS_NBODY_F64, 1);
    for (int64_t i = 0; i < set.n(); i++) {
        const double place[3] = {set.x[(size_t)i], set.y[(size_t)i], set.z[(size_t)i]};
        for (int k = 0; k < 3; k++)
            CUDA(cudaMemcpy(at[k], place + k, sizeof place[k], cudaMemcpyHostToDevice));
        nbody_expect(lacis_nbody_gpu_points(r.system, 1, at[0], at[1], at[2], at[3], at[4], at[5], nullptr) ==
                         LACIS_NBODY_OK,
                     "%s: no field at a point", set.name.c_str());
        const nbody_sum want = nbody_direct(set, i, nullptr);
        double off = 0;
        for (int k = 0; k < 3; k++)
            off = hypot(off, nbody_down(LACIS_NBODY_F64, at[3 + k], 1)[0] - want.a[k]);
        worst = std::max(worst, off / want.modulus);
    }
    for (void *column : at)
        nbody_drop(column);
    return worst;
}

/* Nothing is made up of hard inputs: all calls end, all numbers are finite, a second run has the same bits. */
static void check_hard(lacis_nbody_type type, const lacis_nbody_rule &rule, const nbody_set &set)
{
    nbody_columns c;
    nbody_begin(&c, set, type, rule);
    Running r(c), again(c);
    r.steps(2, 1e-6, true);
    const nbody_state s = r.read(true);
    nbody_expect(finite(s), "%s, type %d, way %d: not finite", set.name.c_str(), type, rule.way);
    again.steps(2, 1e-6, true);
    nbody_expect(!rule.deterministic || s == again.read(true), "%s, type %d, way %d: another run has other bits",
                 set.name.c_str(), type, rule.way);
    lacis_nbody_errors errors;
    lacis_nbody_figures figures;
    nbody_expect(lacis_nbody_gpu_certify(r.system, 50, &errors) == LACIS_NBODY_OK, "%s: no certificate",
                 set.name.c_str());
    nbody_expect(lacis_nbody_gpu_measure(r.system, &figures) == LACIS_NBODY_OK, "%s: no figures", set.name.c_str());
    /* On a line cells' errors have one sign. */
    double bound = set.name == "collinear" ? 0.15 : 0.05;
    if (errors.scaled[3] >= bound) {
        nbody_set now = set;
        now.x = s.x, now.y = s.y, now.z = s.z;
        bound = worst_alone(now, rule) * 1.01;
    }
    nbody_expect(errors.scaled[3] < bound, "%s, type %d, way %d, order %d, opening %d: error %.2e", set.name.c_str(),
                 type, rule.way, rule.order, rule.opening, errors.scaled[3]);
}

/* Another rule in the middle: all pairs then a tree, where there is one, and back. */
static void check_rules(lacis_nbody_type type, const nbody_set &set)
{
    const std::vector<lacis_nbody_rule> rules = rules_of(type);
    nbody_columns c;
    nbody_begin(&c, set, type, rules[0]);
    Running r(c);
    for (const lacis_nbody_rule &rule : rules)
        for (const bool back : {false, true}) {
            lacis_nbody_errors errors;
            lacis_nbody_gpu_set_rule(r.system, back ? &rules[0] : &rule);
            r.steps(1, 1e-3, false);
            nbody_expect(lacis_nbody_gpu_certify(r.system, 40, &errors) == LACIS_NBODY_OK && errors.scaled[3] < 0.05,
                         "rules: type %d, way %d: error %.2e", type, rule.way, errors.scaled[3]);
        }
}

static void check_rule(lacis_nbody_type type, const lacis_nbody_rule &loose, bool small, u64 seed)
{
    lacis_nbody_rule rule = loose;
    const int64_t n = small ? 90 : 2000;
    const nbody_set set = typed(nbody_plummer(n, seed), type);
    rule.deterministic = true;
    nbody_set own = set;
    own.name = "plummer, softening by body";
    for (int64_t i = 0; i < n; i++)
        own.eps.push_back(0.01 * (double)(1 + i % 5));
    own = typed(own, type);
    check_bits(type, rule, set);
    check_bits(type, rule, own);
    if (rule.way == LACIS_NBODY_DIRECT) check_bits(type, loose, set);
    check_order(type, rule, own, seed);
    check_figures(type, loose, set);
    check_certificate(type, loose, own, n / 3);
    check_certificate(type, loose, set, 2 * n);
    check_cancelled(type, rule, set);
    for (const nbody_set &hard : nbody_hard(small ? 40 : 600, seed)) {
        check_hard(type, rule, typed(hard, type));
        if (!small) check_order(type, rule, typed(hard, type), seed);
    }
    if (small && (type != LACIS_NBODY_MIXED || rule.opening == LACIS_NBODY_GEOMETRIC)) return; /* many runs each */
    check_memory(type, rule, own);
    check_memory(type, loose, set);
}

/* Many bodies that are alike among others: more than all pairs have room for in one bucket of their order. */
static void check_alike(lacis_nbody_type type, u64 seed)
{
    nbody_set set = nbody_plummer(300, seed);
    lacis_nbody_rule rule = rules_of(type)[0];
    set.name = "plummer, 200 alike";
    rule.deterministic = true;
    for (size_t i = 50; i < 250; i++)
        for (auto *column : {&set.m, &set.x, &set.y, &set.z, &set.vx, &set.vy, &set.vz})
            (*column)[i] = (*column)[50];
    set = typed(set, type);
    check_order(type, rule, set, seed);
    check_bits(type, rule, set);
}

static void check_type(lacis_nbody_type type, bool small, u64 seed)
{
    check_alike(type, seed);
    check_motion(type, seed);
    check_rules(type, typed(nbody_plummer(small ? 100 : 3000, seed + 1), type));
    if (!small) { /* so many that all pairs sort them another way */
        lacis_nbody_rule rule = rules_of(type)[0];
        rule.deterministic = true;
        check_order(type, rule, typed(nbody_plummer(21000, seed), type), seed);
    }
    for (const lacis_nbody_rule &rule : rules_of(type))
        check_rule(type, rule, small, seed);
}
static void check_f32(bool small, u64 seed)
{
    check_type(LACIS_NBODY_F32, small, seed);
}
static void check_f64(bool small, u64 seed)
{
    check_type(LACIS_NBODY_F64, small, seed);
}
static void check_mixed(bool small, u64 seed)
{
    check_type(LACIS_NBODY_MIXED, small, seed);
}

static nbody_part parts[] = {{"system.mixed", check_mixed}, {"system.f64", check_f64}, {"system.f32", check_f32}};
