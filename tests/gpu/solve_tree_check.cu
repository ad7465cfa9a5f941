/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks of trees on the GPU: every way, type, layout and kind of tree against the plain reference, bit for bit; that
 * nothing else is written; bad lanes by name; what a run takes of memory.
 */
#include "solve_tree.h"

#include <cmath>
#include <cstring>

static const lacis_solve_gpu_way ways[] = {LACIS_SOLVE_GPU_THREAD, LACIS_SOLVE_GPU_LANES, LACIS_SOLVE_GPU_SHARED,
                                           LACIS_SOLVE_GPU_BRANCHES};

static const char *say(const tree_batch &b, lacis_solve_gpu_way way)
{
    static char text[200];
    snprintf(text, sizeof text, "%s: type %d sharing %d layouts %lld %lld %lld, %lld groups, %lld rows, %lld lanes",
             lacis_solve_gpu_way_name[way], (int)b.spec.type, b.spec.sharing, (long long)b.spec.matrix,
             (long long)b.spec.rhs, (long long)b.spec.x, (long long)b.group.size(), (long long)b.group[0].rows,
             (long long)b.lanes);
    return text;
}

static std::vector<char> receive(const tree_batch &b, int which, size_t bytes)
{
    std::vector<char> to(bytes);
    CUDA(cudaMemcpy(to.data(), b.device[which], bytes, cudaMemcpyDeviceToHost));
    return to;
}

static bool inputs_unchanged(const tree_batch &b)
{
    const std::vector<char> *field[] = {&b.lower, &b.diagonal, &b.upper, &b.rhs};
    for (int i = 0; i < 4; i++)
        if (receive(b, i, field[i]->size()) != *field[i]) return false;
    return true;
}

/* What a run should give: x where the job's lanes lie, as it was elsewhere. */
struct wanted {
    std::vector<char> x;
    std::vector<int64_t> status;
    double error;
};

static wanted solve(tree_batch &b)
{
    const size_t bytes = (size_t)lacis_solve_bytes(b.spec.type);
    wanted w = {std::vector<char>((size_t)(b.x_places + 1) * bytes, (char)0xA5), {}, 0};
    std::vector<double> x;
    for (size_t g = 0; g < b.group.size(); g++)
        for (int64_t l = 0; l < b.group[g].lanes; l++) {
            double error;
            w.status.push_back(reference_lane(b, (int64_t)g, l, x, &error));
            if (w.status.back() == 0) w.error = std::fmax(w.error, error);
            for (int64_t r = 0; r < b.group[g].rows; r++)
                put(b, w.x, lacis_solve_place(&b.group[g].x, b.group[g].rows, l, r), x[(size_t)r]);
        }
    return w;
}

/* NaNs of any kind are the same. */
static int64_t differing(const tree_batch &b, const std::vector<char> &x, const std::vector<char> &y)
{
    const size_t bytes = (size_t)lacis_solve_bytes(b.spec.type);
    for (size_t i = 0; i < x.size() / bytes; i++) {
        if (memcmp(x.data() + i * bytes, y.data() + i * bytes, bytes) == 0) continue;
        if (std::isnan(get(b, x, (int64_t)i)) && std::isnan(get(b, y, (int64_t)i))) continue;
        return (int64_t)i;
    }
    return -1;
}

/* The plan taken apart and put together again, as statements find it that solve the same trees; its block. */
static void *kept_and_found(const lacis_solve_gpu_job &job, lacis_solve_gpu_plan **plan, const char *what)
{
    lacis_solve_gpu_kept kept = {};
    int error = 0;
    if (*plan == NULL) return NULL;
    const bool there = lacis_solve_gpu_plan_keep(*plan, &kept);
    expect(there, "%s: plan not kept", what);
    if (!there) return NULL;
    *plan = NULL;
    expect(lacis_solve_gpu_plan_from(&job, &kept, plan, &error) == LACIS_SOLVE_GPU_OK && error == 0,
           "%s: plan not found, error %d", what, error);
    return kept.device;
}

static void run_way(tree_batch &b, lacis_solve_gpu_way way, const wanted &w, bool status)
{
    lacis_solve_gpu_job job = job_of(b, way);
    lacis_solve_gpu_output out;
    if (status) job.job.status = b.status;
    if (lacis_solve_gpu_refuses(&job) != NULL) return;
    send(b);
    const int64_t before = live;
    most_held = held;
    const uint64_t base = held;
    lacis_solve_gpu_plan *plan = NULL;
    int error = 0;
    if (b.spec.seed % 2 == 0)
        expect(lacis_solve_gpu_plan_new(&job, b.parent.data(), &plan, &error) == LACIS_SOLVE_GPU_OK,
               "%s: plan, error %d", say(b, way), error);
    void *block = b.spec.seed % 4 == 0 ? kept_and_found(job, &plan, say(b, way)) : NULL;
    const lacis_solve_gpu_status got = lacis_solve_gpu_run(&job, plan, b.parent.data(), &out);
    lacis_solve_gpu_plan_free(&job, plan);
    if (block != NULL) device_free(NULL, block);
    int64_t bad = 0, lowest = -1;
    for (size_t i = w.status.size(); i-- > 0;)
        if (w.status[i] != 0) {
            bad++;
            lowest = (int64_t)i;
        }
    expect(live == before, "%s: memory left", say(b, way));
    expect(most_held - base <= lacis_solve_gpu_work_bytes(&job), "%s: %llu bytes, not %llu", say(b, way),
           (unsigned long long)(most_held - base), (unsigned long long)lacis_solve_gpu_work_bytes(&job));
    expect(inputs_unchanged(b), "%s: inputs changed", say(b, way));
    if (bad > 0 && !status) {
        expect(got == LACIS_SOLVE_GPU_BAD && out.solve.bad_lane == lowest &&
                   out.solve.bad == w.status[(size_t)lowest],
               "%s: status %d, lane %lld word %lld instead of %lld %lld", say(b, way), (int)got,
               (long long)out.solve.bad_lane, (long long)out.solve.bad, (long long)lowest,
               (long long)w.status[(size_t)lowest]);
        return;
    }
    expect(got == LACIS_SOLVE_GPU_OK, "%s: status %d, error %d", say(b, way), (int)got, out.cuda_error);
    const int64_t at = differing(b, receive(b, 4, w.x.size()), w.x);
    expect(at < 0, "%s: x differs at %lld: %.17g, not %.17g", say(b, way), (long long)at,
           at < 0 ? 0. : get(b, receive(b, 4, w.x.size()), at), at < 0 ? 0. : get(b, w.x, at));
    if (!status) return;
    std::vector<int64_t> words((size_t)b.lanes);
    CUDA(cudaMemcpy(words.data(), b.status, words.size() * 8, cudaMemcpyDeviceToHost));
    expect(words == w.status && out.solve.bad_lanes == bad, "%s: status words", say(b, way));
}

static void check_batch(const std::vector<tree> &shapes, const std::vector<int64_t> &lanes, const tree_spec &spec)
{
    tree_batch b = make_batch(shapes, lanes, spec);
    const wanted w = solve(b);
    const double most = spec.type == LACIS_SOLVE_F64 ? 1e-12 : 1e-3;
    expect(w.error <= most, "reference: error %g", w.error);
    for (lacis_solve_gpu_way way : ways)
        run_way(b, way, w, false);
    free_batch(b);
}

/* Something wrong in some lanes, by turns. */
static void check_bad(const tree &shape, int64_t lanes, const tree_spec &spec)
{
    tree_batch b = make_batch({shape}, {lanes}, spec);
    uint64_t state = spec.seed;
    for (int64_t l = 1; l < lanes; l += 3) {
        const int64_t row = (int64_t)(next_random(&state) % shape.size());
        const int64_t d = place_in(b, b.diagonal, 0, l, row), r = place_in(b, b.rhs, 0, l, row);
        switch (l / 3 % 6) {
        case 0:
            put(b, b.rhs, r, NAN);
            break;
        case 1:
            put(b, b.diagonal, d, INFINITY);
            break;
        case 2:
            put(b, b.diagonal, d, NAN);
            break;
        case 3:
            put(b, b.diagonal, place_in(b, b.diagonal, 0, l, (int64_t)shape.size() - 1), 0);
            break;
        case 4:
            put(b, b.diagonal, d, get(b, b.diagonal, d) * 1e-3);
            break;
        default:
            put(b, b.rhs, r, -INFINITY);
            break;
        }
    }
    const wanted w = solve(b);
    for (lacis_solve_gpu_way way : ways) {
        run_way(b, way, w, false);
        run_way(b, way, w, true);
    }
    free_batch(b);
}

/* A plan for other lanes of the same shapes: the first half of each group. */
static void check_halves(const std::vector<tree> &shapes, const std::vector<int64_t> &lanes, const tree_spec &spec)
{
    tree_batch b = make_batch(shapes, lanes, spec);
    for (lacis_solve_gpu_way way : ways) {
        lacis_solve_gpu_job job = job_of(b, way);
        lacis_solve_gpu_plan *plan = NULL;
        lacis_solve_gpu_output out;
        int error = 0;
        if (lacis_solve_gpu_refuses(&job) != NULL) continue;
        if (lacis_solve_gpu_plan_new(&job, b.parent.data(), &plan, &error) != LACIS_SOLVE_GPU_OK) plan = NULL;
        expect(plan != NULL, "%s: plan, error %d", say(b, way), error);
        send(b);
        std::vector<lacis_solve_group> half = b.group;
        for (lacis_solve_group &g : half)
            g.lanes = (g.lanes + 1) / 2;
        job.job.group = half.data();
        b.group.swap(half);
        const wanted w = solve(b);
        const bool good = lacis_solve_gpu_run(&job, plan, b.parent.data(), &out) == LACIS_SOLVE_GPU_OK;
        expect(good && differing(b, receive(b, 4, w.x.size()), w.x) < 0, "%s: half of the lanes", say(b, way));
        b.group.swap(half);
        lacis_solve_gpu_plan_free(&job, plan);
    }
    free_batch(b);
}

/* The nth allocation fails. */
static void check_no_memory(const std::vector<tree> &shapes, const std::vector<int64_t> &lanes, const tree_spec &spec)
{
    tree_batch b = make_batch(shapes, lanes, spec);
    for (lacis_solve_gpu_way way : ways) {
        lacis_solve_gpu_job job = job_of(b, way);
        lacis_solve_gpu_output out;
        if (lacis_solve_gpu_refuses(&job) != NULL) continue;
        send(b);
        lacis_solve_gpu_status got = LACIS_SOLVE_GPU_NO_MEMORY;
        for (int n = 0; n < 20 && got == LACIS_SOLVE_GPU_NO_MEMORY; n++) {
            const int64_t before = live;
            fail_at = allocs + n;
            got = lacis_solve_gpu_run(&job, NULL, b.parent.data(), &out);
            fail_at = -1;
            expect(live == before && (got == LACIS_SOLVE_GPU_OK || got == LACIS_SOLVE_GPU_NO_MEMORY),
                   "%s: allocation %d fails: status %d", say(b, way), n, (int)got);
        }
        expect(got == LACIS_SOLVE_GPU_OK, "%s: more allocations than thought", say(b, way));
    }
    free_batch(b);
}

static tree_spec random_spec(uint64_t *state)
{
    static const int64_t layouts[] = {LAYOUT_FULL, LAYOUT_FLAT, 64, 8, 37, LAYOUT_FULL};
    tree_spec spec = {};
    spec.type = (lacis_solve_type)(next_random(state) % 3);
    spec.sharing = (int)(next_random(state) % SHARINGS);
    spec.matrix = layouts[next_random(state) % 6];
    spec.rhs = next_random(state) % 3 == 0 ? layouts[next_random(state) % 6] : spec.matrix;
    spec.x = next_random(state) % 3 == 0 ? layouts[next_random(state) % 6] : spec.rhs;
    spec.before = (int64_t)(next_random(state) % 3 * (next_random(state) % 50));
    spec.behind = (int64_t)(next_random(state) % 40);
    spec.seed = next_random(state) % 100000;
    return spec;
}

static int64_t some(uint64_t *state, int64_t most)
{
    return 1 + (int64_t)(next_random(state) % (uint64_t)most);
}

/* So many lanes that LANES takes wide tiles: of 32, and of f32 with long trees of 64. */
static void check_wide_tiles(uint64_t *state)
{
    const int64_t tiles = 140;
    for (int type = 0; type < 3; type++)
        for (int sharing = SHARE_NONE; sharing <= SHARE_OFF; sharing++) {
            const bool longer = type == (int)LACIS_SOLVE_F32;
            tree_spec spec = random_spec(state);
            spec.type = (lacis_solve_type)type;
            spec.sharing = sharing;
            if (sharing == SHARE_OFF) spec.matrix = spec.rhs = spec.x = LAYOUT_FULL;
            check_batch({make_tree(TREE_PEER, longer ? 130 : 25, 0, next_random(state))},
                        {tiles * (longer ? 64 : 32) - 3}, spec);
        }
}

/* So many lanes that a matrix which they share is eliminated first; then one that is not dominant. */
static void check_factored(uint64_t *state)
{
    const int64_t lanes = (1 << 14) + 5;
    for (int type = 0; type < 3; type++) {
        tree_spec spec = random_spec(state);
        const tree shape = make_tree((int)(next_random(state) % TREE_KINDS), 8, 4, next_random(state));
        spec.type = (lacis_solve_type)type;
        spec.sharing = SHARE_ALL;
        check_batch({shape, shape}, {lanes, 9}, spec);
        tree_batch b = make_batch({shape}, {lanes}, spec);
        const int64_t d = place_in(b, b.diagonal, 0, 0, (int64_t)(next_random(state) % shape.size()));
        put(b, b.diagonal, d, get(b, b.diagonal, d) * 1e-3);
        put(b, b.rhs, lacis_solve_place(&b.group[0].rhs, b.group[0].rows, 7, 1), NAN);
        const wanted w = solve(b);
        run_way(b, LACIS_SOLVE_GPU_THREAD, w, false);
        run_way(b, LACIS_SOLVE_GPU_THREAD, w, true);
        free_batch(b);
    }
}

/* So many Flat lanes that THREAD puts them side by side first. */
static void check_turned(uint64_t *state)
{
    for (int type = 0; type < 3; type++)
        for (int sharing = 0; sharing < SHARINGS; sharing++) {
            tree_spec spec = random_spec(state);
            spec.type = (lacis_solve_type)type;
            spec.sharing = sharing;
            spec.matrix = spec.rhs = spec.x = LAYOUT_FLAT;
            check_batch({make_tree(TREE_PEER, 9 + some(state, 40), 0, next_random(state)),
                         make_tree(TREE_PEER, 5, 0, next_random(state))},
                        {4000, 4300}, spec);
        }
}

/* A path whose schedule does not fit beside its rows: LANES goes THREAD's way, which puts so many Flat lanes side by
 * side first. That takes room for all arrays. */
static void check_turned_without_schedule()
{
    const int64_t rows = 415, lanes = 4100;
    const tree_spec spec = {LACIS_SOLVE_F64, SHARE_NONE, LAYOUT_FLAT, LAYOUT_FLAT, LAYOUT_FLAT, 3, 2, 14};
    tree_batch b = make_batch({make_tree(TREE_PATH, rows, 0, 1)}, {lanes}, spec);
    const wanted w = solve(b);
    const uint64_t before = held;
    run_way(b, LACIS_SOLVE_GPU_LANES, w, false);
    const lacis_solve_gpu_job job = job_of(b, LACIS_SOLVE_GPU_LANES);
    expect(lacis_solve_gpu_refuses(&job) == NULL && most_held - before > (uint64_t)(5 * 8 * rows * lanes),
           "lanes of a path: %llu bytes, so not turned", (unsigned long long)(most_held - before));
    free_batch(b);
}

static void say_so_far()
{
    printf("trees: %d cases so far, %d failures\n", cases, failures);
    fflush(stdout);
}

void check_trees(bool small, uint64_t seed)
{
    uint64_t state = seed + 77;
    const int rounds = small ? 1 : 3;
    const int64_t rows = small ? 40 : 200, lanes = small ? 50 : 300;
    for (int round = 0; round < rounds; round++) {
        for (int kind = 0; kind < TREE_KINDS; kind++)
            for (int type = 0; type < 3; type++)
                for (int sharing = 0; sharing < SHARINGS; sharing++) {
                    if (small && (kind + type + sharing) % 3 != (int)(seed % 3)) continue;
                    tree_spec spec = random_spec(&state);
                    spec.type = (lacis_solve_type)type;
                    spec.sharing = sharing;
                    const int64_t n = 3 + some(&state, rows);
                    check_batch({make_tree(kind, n, n / 3 + 1, next_random(&state))}, {some(&state, lanes)}, spec);
                }
        for (int i = 0; i < (small ? 3 : 8); i++) { /* many shapes, some without lanes */
            std::vector<tree> shapes;
            std::vector<int64_t> some_lanes;
            const int64_t most = i == 0 ? 10 * rows : rows;
            for (int g = 0; g < (small ? 6 : 30); g++) {
                const int64_t n = 3 + some(&state, most > 477 ? 477 : most);
                shapes.push_back(make_tree((int)(next_random(&state) % TREE_KINDS), n, n / 2, next_random(&state)));
                some_lanes.push_back(g % 7 == 3 ? 0 : some(&state, 90));
            }
            check_batch(shapes, some_lanes, random_spec(&state));
        }
        for (int i = 0; i < (small ? 2 : 12); i++) {
            tree_spec spec = random_spec(&state);
            if (spec.sharing == SHARE_ALL) spec.sharing = SHARE_OFF;
            check_bad(make_tree(TREE_PEER, 50, 0, next_random(&state)), 100, spec);
        }
        for (int i = 0; i < 2; i++) {
            const std::vector<tree> shapes = {make_tree(TREE_PEER, 30, 0, next_random(&state)),
                                              make_tree(TREE_THIRD, 61, 0, next_random(&state))};
            check_halves(shapes, {45, 33}, random_spec(&state));
            check_no_memory(shapes, {45, 33}, random_spec(&state));
        }
        say_so_far();
    }
    check_wide_tiles(&state);
    check_factored(&state);
    check_turned(&state);
    check_turned_without_schedule();
    say_so_far();
    if (small) return;
    const int64_t shapes[][2] = {{319, 157}, {691, 341}, {695, 66}, {305, 30}};
    for (const auto &s : shapes)
        for (int kind = TREE_PEER; kind <= TREE_EVEN; kind++) {
            check_batch({make_tree(kind, s[0], s[1], 5)}, {777}, {LACIS_SOLVE_F64, SHARE_OFF, 0, 0, 0, 0, 0, 6});
            check_batch({make_tree(kind, s[0], s[1], 5)}, {777}, {LACIS_SOLVE_F64, SHARE_NONE, 1, 1, 1, 0, 0, 7});
            check_batch({make_tree(kind, s[0], s[1], 5)}, {1501}, {LACIS_SOLVE_F32, SHARE_OFF, 0, 0, 0, 0, 0, 8});
        }
    say_so_far();
    check_batch({make_tree(TREE_THIRD, 50000, 0, 1), make_tree(TREE_PATH, 300000, 0, 1)}, {3, 2},
                {LACIS_SOLVE_F64, SHARE_NONE, 0, 0, 0, 0, 0, 9});
}
