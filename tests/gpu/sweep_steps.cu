/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole grids: every kind of edge, rules of known shapes and random ones, odd sizes, several fields, against the
 * naive sweep; changes; memory that fails; estimates of bytes; cancellation.
 */
#include "sweep/gpu_inside.h"
#include "sweep_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>

static int some(u64 *state, int low, int high)
{
    return low + (int)(next_random(state) % (u64)(high - low + 1));
}

static double weight(u64 *state)
{
    return (double)some(state, -999, 999) / 1024 + 0x1p-30;
}

/* --- rules -------------------------------------------------------------------------------------------------------
 */

/* Taps at +-d along each axis, of field 0. */
static std::vector<int> cross(int dims, int distance)
{
    std::vector<int> at;
    for (int k = 0; k < dims; k++)
        for (int sign = -1; sign < 2; sign += 2) {
            const int tap[4] = {0, k == 0 ? sign * distance : 0, k == 1 ? sign * distance : 0,
                                k == 2 ? sign * distance : 0};
            at.insert(at.end(), tap, tap + 4);
        }
    return at;
}

/* Taps with so many components that are not 0, in the operator's order. */
static std::vector<int> ring(int dims, int components)
{
    std::vector<int> at;
    for (int z = dims > 2 ? -1 : 0; z <= (dims > 2 ? 1 : 0); z++)
        for (int y = dims > 1 ? -1 : 0; y <= (dims > 1 ? 1 : 0); y++)
            for (int x = -1; x <= 1; x++) {
                const int tap[4] = {0, x, y, z};
                if ((x != 0) + (y != 0) + (z != 0) == components) at.insert(at.end(), tap, tap + 4);
            }
    return at;
}

/* In the operator's order: sorted by |z|, |y|, |x|, then z, y, x. */
static std::vector<int> sorted(std::vector<int> at)
{
    std::vector<std::vector<int>> taps;
    for (size_t i = 0; i < at.size(); i += 4) {
        const int *t = &at[i];
        taps.push_back({abs(t[3]), abs(t[2]), abs(t[1]), t[3], t[2], t[1], t[0]});
    }
    std::sort(taps.begin(), taps.end());
    at.clear();
    for (const std::vector<int> &t : taps)
        at.insert(at.end(), {t[6], t[5], t[4], t[3]});
    return at;
}

enum { SHAPES = 8 };
/* Rules that kernels are made for. */
static void known(sweep_case *c, int shape, u64 *state)
{
    const int dims = c->start.dims;
    const std::vector<int> centre = {0, 0, 0, 0};
    if (shape == 1 || shape == 3 || shape == 5 || shape > 5) sweep_group(c, 0, weight(state), centre);
    if (shape == 7) {
        for (int distance = 1; distance <= 4; distance++)
            sweep_group(c, 0, weight(state), cross(dims, distance));
        return;
    }
    sweep_group(c, 0, weight(state), cross(dims, 1));
    if (shape == 2 || shape == 3)
        for (int components = 2; components <= dims; components++)
            sweep_group(c, 0, weight(state), sorted(ring(dims, components)));
    if (shape == 4 || shape == 5) c->start.rule[0].linear.constant = weight(state);
    if (shape == 6) sweep_group(c, 0, weight(state), cross(dims, 2));
}

static void random_rule(sweep_case *c, int field, int radius, u64 *state)
{
    const int groups = some(state, 0, 3), arrays = c->start.fields + c->start.coefficients;
    if (some(state, 0, 1)) c->start.rule[field].linear.constant = weight(state);
    for (int g = 0; g < groups; g++) {
        std::vector<int> at;
        for (int taps = some(state, 1, 9); taps > 0; taps--) {
            at.push_back(some(state, 0, arrays - 1));
            for (int k = 0; k < 3; k++)
                at.push_back(k < c->start.dims ? some(state, -radius, radius) : 0);
        }
        sweep_group(c, field, weight(state), at);
    }
}

/* --- checks ------------------------------------------------------------------------------------------------------
 */

static const char *const edge_name[] = {"hold", "clamp", "mirror", "periodic", "affine", "values"};

static void known_case(int shape, lacis_sweep_type type, int dims, const int64_t *n, int edge, u64 seed)
{
    sweep_case c;
    u64 state = seed;
    sweep_shape(&c, type, dims, n[0], n[1], n[2], 1, 0);
    sweep_fill(&c, &state);
    known(&c, shape, &state);
    if (edge < 6)
        sweep_edge(&c, (lacis_sweep_edge_kind)edge, &state);
    else
        sweep_edges(&c, &state);
    sweep_settle(&c);
    c.name = "shape " + std::to_string(shape) + (type == LACIS_SWEEP_F32 ? " f32 " : " f64 ") +
             std::to_string(c.start.extent[0]) + " " + std::to_string(c.start.extent[1]) + " " +
             std::to_string(c.start.extent[2]) + " " + (edge < 6 ? edge_name[edge] : "mixed") + " seed " +
             std::to_string(seed);
    /* Kernels are made for all shapes but stars in three dimensions, those of radius 4 and those of a line. */
    const bool made = shape < 2 || shape == 4 || shape == 5 || (dims == 2 && shape != 7) ||
                      (dims == 3 && shape == 3) || (dims == 1 && shape < 6);
    for (const bool sums : {false, true})
        sweep_expect((sweep::march_kernel(&c.start, sums) != nullptr) == made, "%s: %s", c.name.c_str(),
                     made ? "no kernel is for it" : "a kernel is for it");
    sweep::march_length = (int)(seed % 27); /* 0: as is best */
    sweep::march_slab = (int)(seed / 27 % 30);
    sweep::ghosts_apart = seed % 5 == 0;                     /* by a kernel of their own */
    const bool blocked = seed % 3 == 0 && c.cells() < 20000; /* several steps in a pass, where that can be */
    c.start.levels = !blocked ? 1 : seed % 2 ? 0 : 12; /* asked for: narrow grids too */
    sweep_compare(c, blocked ? 27 : 3, true);
    sweep::march_length = sweep::march_slab = 0;
    sweep::ghosts_apart = false;
}

/* nan: some cells are NaN or infinite. */
static void random_case(bool small, bool nan, u64 seed)
{
    sweep_case c;
    u64 state = seed;
    const int dims = some(&state, 1, 3), most = dims == 1 ? 700 : dims == 2 ? (small ? 40 : 150) : (small ? 12 : 40);
    const int radius = some(&state, 0, 4), fields = some(&state, 0, 2) ? 1 : some(&state, 2, 3);
    sweep_shape(&c, some(&state, 0, 1) ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64, dims, some(&state, radius + 1, most),
                some(&state, radius + 1, most), some(&state, radius + 1, most), fields, some(&state, 0, 2));
    sweep_fill(&c, &state);
    const float bad[] = {NAN, INFINITY};
    for (int i = 0; nan && i < 3; i++) {
        const u64 cell = next_random(&state) % c.cells();
        const double wide = bad[i % 2];
        if (c.start.type == LACIS_SWEEP_F32)
            memcpy(&c.array[0][4 * cell], &bad[i % 2], 4);
        else
            memcpy(&c.array[0][8 * cell], &wide, 8);
    }
    for (int f = 0; f < fields; f++)
        random_rule(&c, f, radius, &state);
    sweep_edges(&c, &state);
    sweep_settle(&c);
    c.name = "random rule seed " + std::to_string(seed);
    sweep_compare(c, some(&state, 1, 5), some(&state, 0, 1) || nan);
}

/* Steps that are measured one by one, with others between: each change, and where it ends. */
static void looked_at(u64 seed)
{
    static const int counts[] = {1, 1, 1, 1, 3, 1, 1, 1, -2, 1, 1, 1}; /* below 0: not measured */
    sweep_case c;
    sweep_device d;
    sweep_state expected, got;
    std::string where;
    u64 state = seed;
    sweep_shape(&c, seed % 2 ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64, 2 + (int)(seed / 2 % 2), some(&state, 5, 150),
                some(&state, 5, 40), some(&state, 5, 12), 1, 0);
    sweep_fill(&c, &state);
    known(&c, (int)(seed % 4), &state);
    sweep_edges(&c, &state);
    sweep_settle(&c);
    c.name = "looked at, seed " + std::to_string(seed);
    sweep_begin(&d, c, nullptr, nullptr, 0);
    if (sweep_make(&d) != LACIS_SWEEP_OK) sweep_expect(false, "%s: new", c.name.c_str());
    int done = 0;
    for (const int count : counts) {
        lacis_sweep_change change = {};
        done += std::abs(count);
        const lacis_sweep_status status =
            lacis_sweep_gpu_steps(d.system, std::abs(count), count > 0 ? &change : nullptr);
        sweep_naive(c, done, &expected);
        sweep_expect(status == LACIS_SWEEP_OK, "%s: status %d", c.name.c_str(), (int)status);
        sweep_expect(count < 0 || sweep_same_change(expected.change, change), "%s: change %a, not %a after %d",
                     c.name.c_str(), change.max, expected.change.max, done);
        if (done % 3 != 0) continue;
        sweep_collect(&d, c, &got);
        sweep_expect(sweep_differences(c, expected, got, &where) == 0, "%s: %s differs after %d", c.name.c_str(),
                     where.c_str(), done);
    }
    lacis_sweep_counts counted;
    lacis_sweep_gpu_counted(d.system, &counted, true);
    sweep_expect(counted.steps == done && counted.updates == (double)done * (double)c.cells(),
                 "%s: %g steps, %g updates", c.name.c_str(), counted.steps, counted.updates);
}

static void failing_memory(u64 seed)
{
    for (sweep_fail_at = 1; sweep_fail_at < 100; sweep_fail_at++) {
        sweep_case c;
        sweep_device d;
        u64 state = seed;
        sweep_shape(&c, LACIS_SWEEP_F64, 2, 20, 20, 1, 2, 1);
        sweep_fill(&c, &state);
        random_rule(&c, 0, 1, &state);
        random_rule(&c, 1, 1, &state);
        sweep_edges(&c, &state);
        sweep_settle(&c);
        sweep_begin(&d, c, nullptr, nullptr, 0);
        sweep_allocs = 0;
        const lacis_sweep_status status = sweep_make(&d);
        if (status == LACIS_SWEEP_OK) break;
        sweep_expect(status == LACIS_SWEEP_NO_MEMORY && d.system == nullptr, "status %d without memory", (int)status);
        sweep_expect(sweep_live == 0, "%lld blocks are left without memory", (long long)sweep_live);
    }
    sweep_expect(sweep_fail_at == 7, "%lld blocks", (long long)sweep_fail_at - 1);
    sweep_fail_at = 0;
}

static bool at_once(void *)
{
    return true;
}

static void cancelled(u64 seed)
{
    sweep_case c;
    sweep_device d;
    u64 state = seed;
    sweep_shape(&c, LACIS_SWEEP_F32, 2, 8, 8, 1, 1, 0);
    sweep_fill(&c, &state);
    known(&c, 0, &state);
    sweep_edge(&c, LACIS_SWEEP_HOLD, &state);
    sweep_settle(&c);
    sweep_begin(&d, c, nullptr, nullptr, 0);
    d.start.start.host.cancelled = at_once;
    sweep_expect(sweep_make(&d) == LACIS_SWEEP_OK, "cancelled: new");
    sweep_expect(lacis_sweep_gpu_steps(d.system, 1000, nullptr) == LACIS_SWEEP_CANCELLED, "it is not cancelled");
}

static void check(bool small, u64 seed)
{
    static const int64_t sizes[][3] = {{5, 5, 5}, {130, 9, 6}, {261, 70, 1}, {37, 131, 17}, {515, 61, 9}};
    u64 state = seed;
    const int most = small ? 4 : 5;
    for (int dims = 1; dims <= 3; dims++)
        for (int shape = 0; shape < SHAPES; shape++)
            for (int i = 0; i < most; i++) {
                const int64_t *n = sizes[i];
                if (dims == 3 && n[2] < 5) continue;
                if (small && (shape + i + dims) % 3 != 0) continue;
                for (int edge = 0; edge < (small ? 1 : 7); edge++) {
                    if (i >= 3 && !small && (edge + shape) % 3 != 0) continue; /* the naive sweep takes its time */
                    known_case(shape, (lacis_sweep_type)((i + shape) % 2), dims, n,
                               small ? (int)(next_random(&state) % 7) : edge, next_random(&state) % 1000000);
                }
            }
    for (int i = 0; i < (small ? 40 : 200); i++)
        random_case(small, i % 8 == 7, next_random(&state) % 1000000);
    for (u64 i = 0; i < (small ? 6 : 24); i++)
        looked_at(seed + i);
    failing_memory(seed);
    cancelled(seed);
}
static sweep_part part("steps", check);
