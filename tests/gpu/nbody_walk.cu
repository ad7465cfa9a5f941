/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk on trees that the host made, against sums in double: every type, order and opening over hard and plain
 * sets; points; single far cells, whose error is known; counts and bits. Walks of odd numbers: nbody_walk_made.cu.
 */
#include "nbody_walk.h"

template <class P, class R> static void check_set(const char *type, const nbody_set &set)
{
    const std::vector<nbody_sum> want = nbody_directs(set, numbers(set.n()));
    const std::vector<double> old = lengths(want);
    for (const variant &v : variants) {
        lacis_nbody_rule rule = {LACIS_NBODY_TREE, v.order, v.opening, v.theta, v.alpha,
                                 v.expand,         v.leaf,  v.group,   true};
        nbody_tree<P, R> tree;
        nbody_make_tree(set, rule, &tree);
        if (v.opening == LACIS_NBODY_RELATIVE) tree.tree.old = nbody_in_order(&tree, old);
        const result plain = run(tree, rule, false, nullptr), r = run(tree, rule, true, nullptr);
        nbody_expect(memcmp(plain.x.data(), r.x.data(), r.x.size() * 8) == 0 &&
                         memcmp(plain.y.data(), r.y.data(), r.y.size() * 8) == 0 &&
                         memcmp(plain.z.data(), r.z.data(), r.z.size() * 8) == 0,
                     "walk %s %s: potentials change the bits of accelerations", type, set.name.c_str());
        const errors e = compare(r, want, true);
        const double least = rounding<P, R>(), times = set.name == "collinear" ? 20 : 5;
        const double pairs = sizeof(R) == 8 ? 1e-12 : 4e-6;      /* however wide groups are */
        if (&v == variants && (sizeof(R) == 8 || set.n() < 200)) /* sums of few */
            nbody_expect(e.worst <= pairs && e.potential <= pairs,
                         "walk %s, %s, all pairs: worst %.2e, potential %.2e", type, set.name.c_str(), e.worst,
                         e.potential);
        double worst = times * v.worst + 4 * least;
        if (e.worst > worst) worst = worst_alone(set, {set.x, set.y, set.z}, rule, want) * 1.001 + 4 * least;
        nbody_expect(e.median <= times * v.median + (least < 1e-5 ? least : 1e-5) && e.worst <= worst &&
                         e.potential <= times * v.worst + 8 * least,
                     "walk %s, %s, variant %d: median %.2e, worst %.2e, potential %.2e", type, set.name.c_str(),
                     (int)(&v - variants), e.median, e.worst, e.potential);
        if (&v == variants && set.name == "plummer")
            nbody_expect(r.counts[0] == (double)set.n() * (double)set.n() && r.counts[1] + r.counts[2] == 0,
                         "walk %s: %.0f pairs of %lld bodies", type, r.counts[0], (long long)set.n());
    }
}

/* The series of a set about its centre of mass at a point, in double (gpu_walk_sums.cuh has the formula). */
static nbody_sum series_at(const nbody_set &set, const double *point, bool quad)
{
    double m = 0, c[3] = {0, 0, 0}, q[3][3] = {}, trace = 0;
    for (size_t i = 0; i < set.m.size(); i++) {
        const double x[3] = {set.x[i], set.y[i], set.z[i]};
        for (int k = 0; k < 3; k++)
            c[k] += set.m[i] * x[k];
        m += set.m[i];
    }
    for (double &k : c)
        k /= m;
    for (size_t i = 0; quad && i < set.m.size(); i++) {
        const double x[3] = {set.x[i] - c[0], set.y[i] - c[1], set.z[i] - c[2]};
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < 3; j++)
                q[k][j] += set.m[i] * x[k] * x[j];
            trace += set.m[i] * x[k] * x[k];
        }
    }
    const double d[3] = {c[0] - point[0], c[1] - point[1], c[2] - point[2]};
    const double r = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + set.soften * set.soften);
    double qd[3] = {0, 0, 0}, dqd = 0;
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < 3; j++)
            qd[k] += q[k][j] * d[j];
        dqd += qd[k] * d[k];
    }
    nbody_sum s = {};
    for (int k = 0; k < 3; k++)
        s.a[k] = d[k] * (m * pow(r, -3) + 7.5 * dqd * pow(r, -7) - 1.5 * trace * pow(r, -5)) - 3 * qd[k] * pow(r, -5);
    s.phi = m / r + (3 * dqd * pow(r, -5) - trace * pow(r, -3)) / 2;
    s.modulus = m / (r * r);
    return s;
}

/* A ball of sources seen by points far away: as a cell it is the series to the last digits; as a field it lacks that
 * one's third order. */
template <class P, class R> static void check_far(const char *type, u64 seed)
{
    nbody_set set = nbody_plummer(48, seed);
    set.soften = 0.3;
    double size = 0;
    for (size_t i = 0; i < set.x.size(); i++) {
        for (auto *c : {&set.x, &set.y, &set.z})
            (*c)[i] = tanh((*c)[i]);
        set.m[i] *= (double)(1 + i % 5);
        size = std::max(size, sqrt(set.x[i] * set.x[i] + set.y[i] * set.y[i] + set.z[i] * set.z[i]));
    }
    if (sizeof(P) == 4) nbody_round(&set);
    points at;
    u64 state = seed;
    for (int i = 0; i < 70; i++) {
        const auto unit = [&] { return (double)(float)((double)(next_random(&state) >> 40) * 0x1p-24); };
        at.x.push_back(20 + unit());
        at.y.push_back(11 + unit());
        at.z.push_back(-7 - unit());
    }
    std::vector<nbody_sum> want[2];
    for (size_t i = 0; i < at.x.size(); i++) {
        const double p[3] = {at.x[i], at.y[i], at.z[i]};
        want[0].push_back(series_at(set, p, false));
        want[1].push_back(series_at(set, p, true));
    }
    for (int order = 0; order < 2; order++)
        for (int expand = 0; expand < 2; expand++) {
            lacis_nbody_rule rule = {LACIS_NBODY_TREE,
                                     order ? LACIS_NBODY_QUADRUPOLE : LACIS_NBODY_MONOPOLE,
                                     LACIS_NBODY_GEOMETRIC,
                                     0.5,
                                     0,
                                     expand ? 0.5 : 0,
                                     8,
                                     64,
                                     true};
            nbody_tree<P, R> tree;
            nbody_make_tree(set, rule, &tree);
            const result r = run(tree, rule, true, &at);
            const errors e = compare(r, want[order], true);
            /* A field's (r / d)^3 is 6e-5 with r 0.9 at d 23. */
            const double most = expand ? 1.6e-4 : sizeof(R) == 4 ? 2e-6 : 1e-13;
            nbody_expect(e.worst <= most && e.potential <= (expand ? most / 4 : most),
                         "walk %s: far, order %d, expand %d: %.2e, %.2e", type, order, expand, e.worst, e.potential);
            nbody_expect(r.counts[expand ? 1 : 2] == 0 && r.counts[expand ? 2 : 1] > 0, "walk %s: a far cell's way",
                         type);
        }
}

/* Doubles at small theta: an error in any coefficient of the series shows. What it leaves out are octupoles, which
 * are (s / d) of what monopoles leave out, and in potentials a quarter of what they are in accelerations. */
static void check_series(u64 seed, int64_t n)
{
    const nbody_set set = nbody_plummer(n, seed);
    const std::vector<nbody_sum> want = nbody_directs(set, numbers(n));
    const double theta = 0.15;
    lacis_nbody_rule rule = {LACIS_NBODY_TREE, LACIS_NBODY_MONOPOLE, LACIS_NBODY_GEOMETRIC, theta, 0, 0, 4, 32, true};
    nbody_tree<double, double> tree;
    nbody_make_tree(set, rule, &tree);
    const errors mono = compare(run(tree, rule, true, nullptr), want, true);
    for (const double expand : {0.0, 0.08}) {
        rule.order = LACIS_NBODY_QUADRUPOLE;
        rule.expand = expand;
        nbody_tree<double, double> quad;
        nbody_make_tree(set, rule, &quad);
        const result r = run(quad, rule, true, nullptr);
        const errors e = compare(r, want, true);
        nbody_expect(e.median <= 5e-6 && e.worst <= 2 * theta * mono.worst &&
                         e.potential <= 2 * theta * mono.potential,
                     "walk f64: theta 0.15, expand %g: %.2e %.2e %.2e, monopoles %.2e %.2e", expand, e.median,
                     e.worst, e.potential, mono.worst, mono.potential);
        printf("series, expand %g: %.2e %.2e %.2e, monopoles %.2e %.2e, counts %.0f %.0f %.0f %.0f\n", expand,
               e.median, e.worst, e.potential, mono.worst, mono.potential, r.counts[0], r.counts[1], r.counts[2],
               r.counts[3]);
    }
}

/* Free points among bodies, and on them: those are pulled as the bodies are. */
template <class P, class R> static void check_points(const char *type, const nbody_set &set)
{
    static const int some[] = {0, 2, 7};
    for (const int variant_at : some) {
        const variant &v = variants[variant_at];
        lacis_nbody_rule rule = {LACIS_NBODY_TREE, v.order, v.opening, v.theta, v.alpha,
                                 v.expand,         v.leaf,  v.group,   true};
        nbody_tree<P, R> tree;
        nbody_make_tree(set, rule, &tree);
        points at;
        std::vector<nbody_sum> want;
        for (int64_t i = 0; i < set.n(); i += 3) {
            const double p[3] = {(double)(P)(set.x[i] + (i % 2) * 0.01), set.y[i], set.z[i]};
            at.x.push_back(p[0]);
            at.y.push_back(p[1]);
            at.z.push_back(p[2]);
            want.push_back(nbody_direct(set, -1, p));
        }
        const result r = run(tree, rule, true, &at);
        const errors e = compare(r, want, true);
        const double least = rounding<P, R>(), times = set.name == "collinear" ? 20 : 3;
        double worst = times * v.worst + 4 * least;
        if (e.worst > worst) worst = worst_alone(set, at, rule, want) * 1.001 + 4 * least;
        nbody_expect(e.median <= times * v.median + (least < 1e-5 ? least : 1e-5) && e.worst <= worst &&
                         e.potential <= times * v.worst + 8 * least,
                     "walk %s, points of %s, variant %d: median %.2e, worst %.2e, potential %.2e", type,
                     set.name.c_str(), variant_at, e.median, e.worst, e.potential);
    }
}

template <class P, class R> static void check_type(const char *type, bool small, u64 seed)
{
    std::vector<nbody_set> sets = nbody_hard(small ? 90 : 3000, seed);
    for (nbody_set &set : sets) {
        if (sizeof(P) == 4 || sizeof(R) == 4) nbody_round(&set);
        check_set<P, R>(type, set);
        if (set.n() > 2) check_points<P, R>(type, set);
    }
    check_far<P, R>(type, seed);
}

static void check_f32(bool small, u64 seed)
{
    check_type<float, float>("f32", small, seed);
}
static void check_f64(bool small, u64 seed)
{
    check_type<double, double>("f64", small, seed);
}
static void check_mixed(bool small, u64 seed)
{
    check_type<double, float>("mixed", small, seed);
}
static void check_rest(bool small, u64 seed)
{
    check_series(seed, small ? 400 : 4000);
}

static nbody_part parts[] = {
    {"walk.rest", check_rest}, {"walk.mixed", check_mixed}, {"walk.f64", check_f64}, {"walk.f32", check_f32}};
