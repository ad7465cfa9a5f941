/* SPDX-License-Identifier: Apache-2.0
 *
 * Slabs on several devices: bits of the naive sweep, with random rules, edges and sizes, halos of one step and of
 * several, overlapped and apart; changes; memory that fails.
 */
#include "sweep_several.h"

static int some(u64 *state, int low, int high)
{
    return low + (int)(next_random(state) % (u64)(high - low + 1));
}

static void random_rule(sweep_case *c, int field, int radius, u64 *state)
{
    const int groups = some(state, 1, 3), arrays = c->start.fields + c->start.coefficients;
    if (some(state, 0, 1)) c->start.rule[field].linear.constant = some(state, -99, 99) / 128.0;
    for (int g = 0; g < groups; g++) {
        std::vector<int> at;
        for (int taps = some(state, 1, 6); taps > 0; taps--) {
            at.push_back(some(state, 0, arrays - 1));
            for (int k = 0; k < 3; k++)
                at.push_back(k < c->start.dims ? some(state, -radius, radius) : 0);
        }
        sweep_group(c, field, some(state, -999, 999) / 4096.0 + 0x1p-30, at);
    }
}

/* The 5- or 7-point average, which kernels of several steps a pass are made for. */
static void average(sweep_case *c)
{
    std::vector<int> at;
    for (int k = 0; k < c->start.dims; k++)
        for (int sign = -1; sign < 2; sign += 2) {
            int tap[4] = {0, 0, 0, 0};
            tap[k + 1] = sign;
            at.insert(at.end(), tap, tap + 4);
        }
    sweep_group(c, 0, 0.5 / c->start.dims, at);
}

/* Along the last axis, which is cut, all fields are periodic or none is. */
static void settle_edges(sweep_case *c, u64 *state)
{
    const int axis = c->start.dims - 1;
    const bool closed = some(state, 0, 2) == 0;
    sweep_edges(c, state);
    for (int f = 0; f < c->start.fields; f++)
        for (int face = 2 * axis; face < 2 * axis + 2; face++) {
            lacis_sweep_edge *edge = &c->start.edge[f][face];
            if (closed) edge->kind = LACIS_SWEEP_PERIODIC;
            if (!closed && edge->kind == LACIS_SWEEP_PERIODIC) edge->kind = LACIS_SWEEP_CLAMP;
        }
}

struct Way {
    int devices, deep;
    bool apart, measured;
    int64_t steps;
};

/* Exchanges of so many steps, of which a measured one comes by itself. */
static int64_t exchanges_of(int64_t steps, int deep, bool measured)
{
    const int64_t last = measured && steps > 1;
    return (steps - last + deep - 1) / deep + last;
}

/* A line of each exchange that was to be timed, and none more. */
static void check_times(const sweep_case &c, const Way &way, sweep_slabs *s)
{
    const int64_t half = way.steps / 2,
                  all = exchanges_of(half, way.deep, false) + exchanges_of(way.steps - half, way.deep, way.measured);
    for (int k = 0; k < way.devices; k++) {
        lacis_sweep_times line[SEVERAL_TIMED];
        int64_t lines = -1;
        sweep_expect(lacis_sweep_gpus_times(s->systems, k, line, &lines) == LACIS_SWEEP_OK, "%s: times",
                     c.name.c_str());
        sweep_expect(lines == (all < SEVERAL_TIMED ? all : SEVERAL_TIMED), "%s: %lld lines of %lld exchanges",
                     c.name.c_str(), (long long)lines, (long long)all);
        for (int64_t i = 0; i < lines; i++)
            sweep_expect(line[i].centre >= 0 && line[i].wait >= 0 && line[i].exchanges == 1, "%s: line %lld",
                         c.name.c_str(), (long long)i);
    }
}

static int blocked; /* slabs that did several steps in a pass */

static void compare(const sweep_case &c, const Way &way, int *done)
{
    sweep_state expected, got;
    sweep_slabs s;
    std::string where;
    char why[200];
    lacis_sweep_change change = {};
    if (!slabs_begin(&s, c, way.devices, way.deep, way.apart, why, sizeof why)) return;
    ++*done;
    sweep_naive(c, way.steps, &expected);
    const lacis_sweep_status made = slabs_make(&s);
    sweep_expect(made == LACIS_SWEEP_OK, "%s: status %d of new", c.name.c_str(), (int)made);
    if (made != LACIS_SWEEP_OK) return;
    lacis_sweep_status status = lacis_sweep_gpus_steps(s.systems, way.steps / 2, nullptr);
    if (status == LACIS_SWEEP_OK)
        status = lacis_sweep_gpus_steps(s.systems, way.steps - way.steps / 2, way.measured ? &change : nullptr);
    sweep_expect(status == LACIS_SWEEP_OK, "%s: status %d, %s", c.name.c_str(), (int)status,
                 cudaGetErrorString((cudaError_t)lacis_sweep_gpus_error_code(s.systems)));
    lacis_sweep_counts counts;
    lacis_sweep_gpus_counted(s.systems, &counts, true);
    sweep_expect(counts.steps == (double)way.steps, "%s: %g steps counted", c.name.c_str(), counts.steps);
    blocked += counts.passes < counts.steps;
    check_times(c, way, &s);
    slabs_collect(&s, c, &got);
    const int64_t differ = sweep_differences(c, expected, got, &where);
    sweep_expect(differ == 0, "%s, %d devices, %d deep%s: %lld cells differ, the first is %s", c.name.c_str(),
                 way.devices, way.deep, way.apart ? ", apart" : "", (long long)differ, where.c_str());
    sweep_expect(!way.measured || sweep_same_change(expected.change, change), "%s: another change", c.name.c_str());
}

static void random_case(bool small, u64 seed, int *done)
{
    sweep_case c;
    u64 state = seed;
    const int dims = some(&state, 1, 3), radius = some(&state, 0, 3) == 0 ? some(&state, 0, 4) : 1;
    const int most = dims == 1 ? 600 : dims == 2 ? (small ? 50 : 150) : small ? 14 : 40;
    const int last = dims == 1 ? most : dims == 2 ? 3 * most : 2 * most, fields = some(&state, 0, 2) ? 1 : 2;
    const bool plain = fields == 1 && some(&state, 0, 2) == 0, passes = plain && dims > 1;
    int64_t n[3];
    for (int k = 0; k < 3; k++)
        n[k] = some(&state, radius + 1, k == dims - 1 ? last : most);
    if (passes) n[0] += 128; /* as wide as kernels of several steps in a pass want it */
    if (passes) n[dims - 1] += dims == 2 ? 60 : 12;
    sweep_shape(&c, some(&state, 0, 1) ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64, dims, n[0], n[1], n[2], fields,
                passes ? 0 : some(&state, 0, 1));
    sweep_fill(&c, &state);
    if (plain) average(&c);
    for (int f = 0; f < fields && !plain; f++)
        random_rule(&c, f, radius, &state);
    settle_edges(&c, &state);
    for (int face = 0; face < 6 && plain; face++) /* those that several steps a pass know */
        if (c.start.edge[0][face].kind == LACIS_SWEEP_VALUES) c.start.edge[0][face].kind = LACIS_SWEEP_CLAMP;
    sweep_settle(&c);
    c.start.levels = passes ? 0 : 1;
    const int deep = !passes ? some(&state, 1, 4) : dims == 2 && some(&state, 0, 1) ? 12 : 4;
    const Way way = {some(&state, 2, passes ? 2 : 4), deep, some(&state, 0, 2) == 0, some(&state, 0, 1) == 0,
                     some(&state, 1, passes ? 40 : 11)};
    c.name = "slabs seed " + std::to_string(seed) + ", " + std::to_string(n[0]) + " " + std::to_string(n[1]) + " " +
             std::to_string(n[2]) + " in " + std::to_string(dims) + "-D, radius " + std::to_string(radius) + ", " +
             std::to_string(fields) + " fields, " + std::to_string(way.steps) + " steps, edges";
    for (int f = 0; f < fields; f++)
        for (int face = 0; face < 2 * dims; face++)
            c.name += " " + std::to_string((int)c.start.edge[f][face].kind);
    compare(c, way, done);
}

/* Averages that devices do in passes of several steps. */
static void passes_case(int dims, bool apart, bool closed, u64 seed, int *done)
{
    sweep_case c;
    u64 state = seed;
    sweep_shape(&c, LACIS_SWEEP_F32, dims, some(&state, 130, 190), dims == 2 ? 2 * some(&state, 50, 70) : 12,
                2 * some(&state, 10, 14), 1, 0);
    sweep_fill(&c, &state);
    average(&c);
    sweep_edge(&c, closed ? LACIS_SWEEP_PERIODIC : LACIS_SWEEP_HOLD, &state);
    c.start.levels = 0;
    sweep_settle(&c);
    c.name = "passes seed " + std::to_string(seed);
    compare(c, {2, dims == 2 ? 12 : 4, apart, true, 31}, done);
}

static void failing_memory(u64 seed)
{
    sweep_case c;
    u64 state = seed;
    sweep_shape(&c, LACIS_SWEEP_F64, 2, 20, 64, 1, 1, 1);
    sweep_fill(&c, &state);
    average(&c);
    sweep_edge(&c, LACIS_SWEEP_PERIODIC, &state);
    sweep_settle(&c);
    for (several_fail_at = 1; several_fail_at < 100; several_fail_at++) {
        sweep_slabs s;
        char why[200];
        const int64_t before = several_live;
        sweep_expect(slabs_begin(&s, c, 2, 2, false, why, sizeof why), "%s", why);
        several_allocs = 0;
        const lacis_sweep_status status = slabs_make(&s);
        if (status == LACIS_SWEEP_OK) break;
        sweep_expect(status == LACIS_SWEEP_NO_MEMORY && s.systems == nullptr, "status %d without memory",
                     (int)status);
        sweep_expect(several_live == before, "%lld blocks are left without memory",
                     (long long)(several_live - before));
    }
    sweep_expect(several_fail_at > 10 && several_fail_at < 100, "%lld blocks", (long long)several_fail_at - 1);
    several_fail_at = 0;
}

static void check(bool small, u64 seed)
{
    u64 state = seed;
    int done = 0;
    const int rounds = small ? 60 : 500;
    for (int i = 0; i < rounds; i++)
        random_case(small, next_random(&state) % 1000000, &done);
    for (int i = 0; i < 8; i++)
        passes_case(2 + i / 4, i & 1, i & 2, seed + (u64)i, &done);
    sweep_expect(done > rounds / 3, "%d of %d grids could be cut", done, rounds);
    sweep_expect(blocked > 0, "no slab did several steps in a pass");
    failing_memory(seed);
    sweep_expect(several_live == 0, "%lld blocks of slabs are left", (long long)several_live);
}
static sweep_part part("several", check);
