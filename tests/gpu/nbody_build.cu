/* SPDX-License-Identifier: Apache-2.0
 *
 * Trees that the device builds: their form, every number of every cell against sums in double, the same bits however
 * bodies are ordered, memory that fails.
 */
#include "nbody/gpu_build_keys.cuh"
#include "nbody_built.h"

static double uniform(u64 *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

static nbody_set empty(const char *name)
{
    nbody_set set;
    set.name = name;
    return set;
}

static void put(nbody_set *set, double m, double x, double y, double z)
{
    set->m.push_back(m);
    set->x.push_back(x);
    set->y.push_back(y);
    set->z.push_back(z);
}

/* What keys of 63 bits do not divide, and numbers near their ends. */
static std::vector<nbody_set> extremes(int64_t n, u64 seed, bool doubles)
{
    u64 state = seed + 99;
    std::vector<nbody_set> out;
    nbody_set set = empty("clumps far from each other");
    for (int64_t i = 0; i < n; i++) {
        const double far = (double)(i % 5) * 1e3, small = i % 5 == 4 ? 0 : doubles ? 1e-9 : 1e-3;
        put(&set, uniform(&state), far + small * uniform(&state), small * uniform(&state), small * uniform(&state));
    }
    out.push_back(set);
    set = empty("clumps within clumps");
    for (int64_t i = 0; i < n; i++) {
        const double s = pow(doubles ? 1e-40 : 1e-7, (double)(i % 4));
        put(&set, 1, s * uniform(&state), s * uniform(&state), s * uniform(&state));
    }
    out.push_back(set);
    set = empty("ever nearer to the origin");
    for (int64_t i = 0; i < n; i++)
        put(&set, 1, pow(2, -(double)(i % (doubles ? 1060 : 140))), i % 2 ? 0 : pow(2, -(double)(i % 100)), 0);
    out.push_back(set);
    set = empty("huge");
    const double huge = doubles ? 1.7e308 : 3.4e38;
    for (int64_t i = 0; i < n; i++)
        put(&set, 1e-3, huge * (2 * uniform(&state) - 1), huge * (2 * uniform(&state) - 1), i % 2 ? huge : -huge);
    out.push_back(set);
    set = empty("subnormal");
    const double least = doubles ? 5e-322 : 1e-43;
    for (int64_t i = 0; i < n; i++)
        put(&set, 1, least * uniform(&state), least * uniform(&state), 0);
    out.push_back(set);
    set = empty("one number is huge and the same");
    for (int64_t i = 0; i < n; i++)
        put(&set, 1, huge / 4, least * uniform(&state), 1e-3 * uniform(&state));
    out.push_back(set);
    set = empty("duplicates of unequal masses beside others");
    set.soften = 0.1;
    for (int64_t i = 0; i < n; i++) {
        const bool there = i % 4 != 0;
        put(&set, (double)(i % 3), there ? 0.5 : uniform(&state), there ? 0.25 : uniform(&state), 0);
        set.eps.push_back((double)(i % 5) * 0.1);
    }
    out.push_back(set);
    return out;
}

template <class P, class R> static bool in_order(const Built<P, R> &t, const Verify<P, R> &v)
{
    for (uint32_t c = 0; c + 1 < t.cells; c++) /* children of a cell follow each other */
        if (!(t.link[c].many & nbody::LEAF))
            for (uint32_t k = 0; k + 1 < t.link[c].many; k++)
                if (v.end[t.link[c].first + k] != v.begin[t.link[c].first + k + 1]) return false;
    return true;
}

template <class P, class R>
static void one_set(const nbody_set &given, const char *type, const lacis_nbody_rule &rule, u64 seed)
{
    nbody_set set = given;
    if (sizeof(P) == 4) nbody_round(&set);
    const std::string name = set.name + ", " + type + (rule.order == LACIS_NBODY_QUADRUPOLE ? ", quadrupole" : "") +
                             ", " + std::to_string(set.n()) + " bodies, leaf " + std::to_string(rule.leaf);
    const int64_t most = nbody_most_bytes = nbody_live_bytes;
    Device<P, R> d(set);
    nbody_expect(d.made == LACIS_NBODY_OK, "%s: no builder", name.c_str());
    if (d.made != LACIS_NBODY_OK) return;
    const Built<P, R> t = built(&d, rule);
    Verify<P, R> v = {d, t, rule, name, {}, {}, {}};
    v.all();
    nbody_expect(d.error == 0, "%s: CUDA error %d", name.c_str(), d.error);
    if (t.status != LACIS_NBODY_OK || v.broken) return;
    nbody_expect(in_order(t, v), "%s: children are not in order", name.c_str());
    const uint64_t bytes = nbody::builder_bytes<P, R>(set.n(), !set.eps.empty());
    nbody_expect((uint64_t)(nbody_most_bytes - most) <= bytes, "%s: more memory than it says", name.c_str());
    Device<P, R> other(set);
    const Built<P, R> again = built(&other, rule);
    nbody_expect(t.same_tree(again) && built_same(t.order, again.order), "%s: other bits the second time",
                 name.c_str());
    lacis_nbody_rule inserted = rule;
    inserted.way = LACIS_NBODY_INSERT;
    nbody_expect(t.same_tree(built(&other, inserted)), "%s: other bits by insertion", name.c_str());
    std::vector<int64_t> to;
    Device<P, R> shuffled(nbody_shuffled(set, seed, &to));
    nbody_expect(t.same_tree(built(&shuffled, rule)), "%s: other bits in another order", name.c_str());
}

template <class P, class R> static void one_type(const char *type, bool small, u64 seed)
{
    std::vector<nbody_set> sets = nbody_hard(small ? 300 : 20000, seed);
    for (const nbody_set &set : extremes(small ? 700 : 30000, seed, sizeof(P) == 8))
        sets.push_back(set);
    u64 state = seed;
    for (const nbody_set &set : sets)
        for (int k = 0; k < (small ? 1 : 2); k++) {
            static const lacis_nbody_opening openings[] = {LACIS_NBODY_OFFSET, LACIS_NBODY_GEOMETRIC};
            const u64 random = next_random(&state);
            lacis_nbody_rule rule =
                nbody_rule(LACIS_NBODY_TREE, random & 1 ? LACIS_NBODY_QUADRUPOLE : LACIS_NBODY_MONOPOLE,
                           openings[random >> 1 & 1]);
            static const int leaves[] = {24, 16, 32, 1, 128, 8, 24, 7};
            rule.leaf = leaves[random >> 2 & 7];
            one_set<P, R>(set, type, rule, random);
        }
    lacis_nbody_rule rule = nbody_rule(LACIS_NBODY_TREE, LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_RELATIVE);
    for (const int64_t n : {(int64_t)25, (int64_t)(small ? 1500 : 511), (int64_t)(small ? 0 : 300000)}) {
        rule.leaf = 24;
        one_set<P, R>(nbody_plummer(n, seed + 5), type, rule, seed);
    }
}

/* Neighbours on the curve are neighbours in space, every place is on it once, and two steps at once are two steps. */
static void curve()
{
    static const nbody::Curve one = nbody::make_curve();
    static const nbody::Turns two = nbody::make_turns();
    int at[512];
    bool twice = true, near = true;
    std::fill(at, at + 512, -1);
    for (int place = 0; place < 512; place++) {
        int state = 0, key = 0, by_two = 0;
        const auto octant = [&](int b) {
            return (place >> b & 1) | (place >> (3 + b) & 1) << 1 | (place >> (6 + b) & 1) << 2;
        };
        for (int b = 2; b >= 0; b--) {
            const int step = one.step[(state & ~7) | octant(b)];
            key = key << 3 | (step & 7);
            state = step;
            if (b == 1) by_two = two.steps[octant(2) << 3 | octant(1)];
            if (b == 1) twice = twice && (by_two & 63) == key && by_two >> 6 == state >> 3;
        }
        at[key] = place;
    }
    for (int k = 0; k < 512; k++) {
        nbody_expect(at[k] >= 0, "curve: nothing at %d", k);
        if (k == 0) continue;
        int steps = 0;
        for (int b = 0; b < 9; b += 3)
            steps += abs((at[k] >> b & 7) - (at[k - 1] >> b & 7));
        near = near && steps == 1;
    }
    nbody_expect(near, "curve: it jumps");
    nbody_expect(twice, "curve: two steps at once are others");
}

/* Every allocation fails once. */
static void memory(const nbody_set &set, lacis_nbody_way way)
{
    lacis_nbody_rule rule = nbody_rule(way, LACIS_NBODY_QUADRUPOLE, LACIS_NBODY_OFFSET);
    rule.leaf = 8;
    bool failed = true;
    for (int64_t at = 1; failed && at < 20; at++) {
        nbody_allocs = 0;
        nbody_fail_at = at;
        Device<double, double> d(set);
        failed = d.made == LACIS_NBODY_NO_MEMORY;
        if (!failed) failed = built(&d, rule).status == LACIS_NBODY_NO_MEMORY;
        nbody_fail_at = 0;
        if (!failed) break;
        nbody_expect(d.error == 0, "no memory: CUDA error %d", d.error);
        if (d.made == LACIS_NBODY_OK)
            nbody_expect(built(&d, rule).status == LACIS_NBODY_OK, "a builder does not work after no memory");
    }
    nbody_expect(!failed, "the build never succeeds");
}

static void check_f32(bool small, u64 seed)
{
    one_type<float, float>("f32", small, seed);
}
static void check_f64(bool small, u64 seed)
{
    one_type<double, double>("f64", small, seed + 1);
}
static void check_mixed(bool small, u64 seed)
{
    one_type<double, float>("mixed", small, seed + 2);
}
static void check_rest(bool small, u64)
{
    curve();
    for (const lacis_nbody_way way : {LACIS_NBODY_TREE, LACIS_NBODY_INSERT}) {
        memory(nbody_plummer(small ? 200 : 5000, 1), way);
        memory(extremes(small ? 300 : 3000, 1, true)[1], way);
    }
}

static nbody_part parts[] = {
    {"build.rest", check_rest}, {"build.mixed", check_mixed}, {"build.f64", check_f64}, {"build.f32", check_f32}};
