/* SPDX-License-Identifier: Apache-2.0
 *
 * Grids cut into parts, each a system of its own with halos of several steps: stepped in boxes on several streams or
 * by steps(), halos exchanged by pack and unpack, against the naive sweep of the whole grid.
 */
#include "sweep_support.h"

#include <algorithm>
#include <cstring>

static int some(u64 *state, int low, int high)
{
    return low + (int)(next_random(state) % (u64)(high - low + 1));
}

struct inner_faces {
    bool face[3][2];
};

struct grid_of_parts {
    const sweep_case &c;
    bool cut[3] = {}, closed[3] = {};
    int64_t reach[3] = {}, halo = 0;
    int deep = 1; /* steps between exchanges */
    std::vector<lacis_sweep_box> own;
    std::vector<inner_faces> inner;
    std::deque<sweep_device> part;
    cudaStream_t streams[LACIS_SWEEP_GPU_STREAMS];

    explicit grid_of_parts(const sweep_case &of) : c(of)
    {
        for (cudaStream_t &one : streams)
            CUDA(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    }
    ~grid_of_parts()
    {
        part.clear();
        for (cudaStream_t one : streams)
            CUDA(cudaStreamDestroy(one));
    }
    /* All streams of all parts: each waits for the others. */
    static void meet()
    {
        CUDA(cudaDeviceSynchronize());
    }
};

/* Cuts along the axes that `cut` says, at tiles' borders, into two or three; parts are as deep as the halo at least.
 */
static void make_parts(grid_of_parts *g, u64 *state)
{
    std::vector<int64_t> at[3];
    for (int k = 0; k < 3; k++) {
        const int64_t n = g->c.start.extent[k], tile = k == 0 ? 32 : k == 1 ? 8 : 1;
        at[k] = {0, n};
        for (int i = 0; g->cut[k] && i < 2; i++) {
            const int64_t where = tile * (int64_t)(1 + next_random(state) % (u64)((n + tile - 1) / tile));
            const int64_t before = at[k][at[k].size() - 2];
            if (where - before >= g->halo && n - where >= g->halo && where < n) at[k].insert(at[k].end() - 1, where);
        }
    }
    for (size_t z = 0; z + 1 < at[2].size(); z++)
        for (size_t y = 0; y + 1 < at[1].size(); y++)
            for (size_t x = 0; x + 1 < at[0].size(); x++)
                g->own.push_back({{at[0][x], at[1][y], at[2][z]}, {at[0][x + 1], at[1][y + 1], at[2][z + 1]}});
    for (const lacis_sweep_box &box : g->own) {
        inner_faces inner = {};
        for (int k = 0; k < 3; k++) {
            inner.face[k][0] = g->cut[k] && (g->closed[k] || box.begin[k] > 0);
            inner.face[k][1] = g->cut[k] && (g->closed[k] || box.end[k] < g->c.start.extent[k]);
        }
        g->inner.push_back(inner);
        g->part.emplace_back();
        sweep_begin(&g->part.back(), g->c, &box, inner.face, g->halo);
        sweep_expect(sweep_make(&g->part.back()) == LACIS_SWEEP_OK, "%s: a part", g->c.name.c_str());
    }
}

/* Cells of `halo` that lie in `own` moved by shift. */
static bool overlap(const lacis_sweep_box &halo, const lacis_sweep_box &own, const int64_t *shift,
                    lacis_sweep_box *out)
{
    for (int k = 0; k < 3; k++) {
        out->begin[k] = std::max(halo.begin[k], own.begin[k] + shift[k]);
        out->end[k] = std::min(halo.end[k], own.end[k] + shift[k]);
        if (out->begin[k] >= out->end[k]) return false;
    }
    return true;
}

static void send(grid_of_parts *g, int array, size_t from, size_t to, const lacis_sweep_box &box,
                 const int64_t *shift, bool copy)
{
    lacis_sweep_box source = box;
    uint64_t cells = array < g->c.start.fields ? (uint64_t)g->c.start.fields : 1;
    for (int k = 0; k < 3; k++) {
        source.begin[k] -= shift[k];
        source.end[k] -= shift[k];
        cells *= (uint64_t)(box.end[k] - box.begin[k]);
    }
    void *const buffer = sweep_up(nullptr, cells * lacis_sweep_size(g->c.start.type));
    sweep_expect(lacis_sweep_gpu_pack(g->part[from].system, array, &source, buffer, copy, g->streams[0]) ==
                     LACIS_SWEEP_OK,
                 "%s: pack", g->c.name.c_str());
    CUDA(cudaStreamSynchronize(g->streams[0]));
    sweep_expect(lacis_sweep_gpu_unpack(g->part[to].system, array, &box, buffer, copy, g->streams[1]) ==
                     LACIS_SWEEP_OK,
                 "%s: unpack", g->c.name.c_str());
    CUDA(cudaStreamSynchronize(g->streams[1]));
    sweep_drop(buffer);
}

/* Each part's halo of an array, in boxes: what lies in which part, at which side of closed axes. */
static void exchange(grid_of_parts *g, int array, bool copy)
{
    int64_t side[3];
    for (size_t to = 0; to < g->part.size(); to++)
        for (int direction = 0; direction < 27; direction++) {
            lacis_sweep_box halo = g->own[to];
            bool there = direction != 13;
            for (int k = 0, left = direction; k < 3; k++, left /= 3) {
                side[k] = left % 3 - 1;
                there = there && (side[k] == 0 || g->inner[to].face[k][side[k] > 0]);
                if (side[k] < 0) halo.end[k] = halo.begin[k], halo.begin[k] -= g->halo;
                if (side[k] > 0) halo.begin[k] = halo.end[k], halo.end[k] += g->halo;
            }
            for (size_t from = 0; there && from < g->part.size(); from++)
                for (int wrap = 0; wrap < 27; wrap++) {
                    lacis_sweep_box box;
                    const int64_t *n = g->c.start.extent;
                    const int64_t shift[3] = {(wrap % 3 - 1) * n[0], (wrap / 3 % 3 - 1) * n[1],
                                              (wrap / 9 - 1) * n[2]};
                    if (overlap(halo, g->own[from], shift, &box)) send(g, array, from, to, box, shift, copy);
                }
        }
}

static void refresh(grid_of_parts *g)
{
    for (sweep_device &part : g->part)
        sweep_expect(lacis_sweep_gpu_refresh(part.system, g->streams[2]) == LACIS_SWEEP_OK, "%s: refresh",
                     g->c.name.c_str());
    g->meet();
}

/* One step of a part, in boxes of about equal rows on streams; `later` more follow before the next exchange. */
static void step(grid_of_parts *g, size_t i, int later, u64 *state)
{
    lacis_sweep_box all = g->own[i];
    for (int k = 0; k < 3; k++) {
        all.begin[k] -= g->inner[i].face[k][0] ? later * g->reach[k] : 0;
        all.end[k] += g->inner[i].face[k][1] ? later * g->reach[k] : 0;
    }
    const int axis = some(state, 0, g->c.start.dims - 1), pieces = some(state, 1, 5);
    const int64_t n = all.end[axis] - all.begin[axis];
    for (int p = 0; p < pieces; p++) {
        lacis_sweep_box box = all;
        box.begin[axis] = all.begin[axis] + n * p / pieces;
        box.end[axis] = all.begin[axis] + n * (p + 1) / pieces;
        const lacis_sweep_status status = lacis_sweep_gpu_update(g->part[i].system, &box, g->streams[p]);
        sweep_expect(status == LACIS_SWEEP_OK, "%s: update, status %d", g->c.name.c_str(), (int)status);
    }
    lacis_sweep_gpu_turn(g->part[i].system);
}

static void plain_steps(grid_of_parts *g, size_t i, int count, lacis_sweep_change *change)
{
    lacis_sweep_change own = {};
    const lacis_sweep_status status =
        lacis_sweep_gpu_steps(g->part[i].system, count, change != nullptr ? &own : nullptr);
    sweep_expect(status == LACIS_SWEEP_OK, "%s: steps, status %d", g->c.name.c_str(), (int)status);
    if (change != nullptr) lacis_sweep_change_merge(change, &own);
}

/* Steps of all parts, with the change of the last one: that one is not in boxes. */
static void steps(grid_of_parts *g, bool in_boxes, int count, u64 *state, lacis_sweep_change *change)
{
    for (size_t i = 0; i < g->part.size(); i++) {
        if (!in_boxes) {
            plain_steps(g, i, count, change);
            continue;
        }
        for (int s = 0; s < count - (change != nullptr); s++) {
            step(g, i, count - 1 - s, state);
            g->meet();
        }
        if (change != nullptr) plain_steps(g, i, 1, change);
    }
    g->meet();
}

static void random_grid(sweep_case *c, bool small, u64 *state)
{
    const int dims = some(state, 1, 3), radius = some(state, 1, 2), most = dims == 3 ? 20 : 60;
    sweep_shape(c, some(state, 0, 1) ? LACIS_SWEEP_F32 : LACIS_SWEEP_F64, dims, some(state, 64, small ? 150 : 400),
                some(state, 16, most), some(state, 8, small ? 16 : 40), some(state, 1, 2), some(state, 0, 1));
    sweep_fill(c, state);
    for (int f = 0; f < c->start.fields; f++)
        for (int group = 0; group < 2; group++) {
            std::vector<int> at;
            for (int tap = some(state, 1, 5); tap > 0; tap--) {
                at.push_back(some(state, 0, c->start.fields + c->start.coefficients - 1));
                for (int k = 0; k < 3; k++)
                    at.push_back(k < dims ? some(state, -radius, radius) : 0);
            }
            sweep_group(c, f, (double)some(state, -9, 9) / 16 + 0.01, at);
        }
}

/* Axes that are cut are closed for all fields or for none. */
static void cut_axes(const sweep_case &c, grid_of_parts *g, u64 *state)
{
    for (int k = 0; k < c.start.dims; k++) {
        g->closed[k] = c.start.edge[0][2 * k].kind == LACIS_SWEEP_PERIODIC;
        bool same = true;
        for (int f = 1; f < c.start.fields; f++)
            same = same && (c.start.edge[f][2 * k].kind == LACIS_SWEEP_PERIODIC) == g->closed[k];
        g->cut[k] = same && some(state, 0, 3) > 0;
    }
}

static int several; /* cases of more than one part */

static void random_case(bool small, u64 seed)
{
    sweep_case c;
    u64 state = seed;
    random_grid(&c, small, &state);
    sweep_edges(&c, &state);
    for (int k = 0; k < c.start.dims; k++) {
        const bool closed = some(&state, 0, 2) == 0;
        for (int f = 0; closed && f < c.start.fields; f++)
            c.start.edge[f][2 * k].kind = c.start.edge[f][2 * k + 1].kind = LACIS_SWEEP_PERIODIC;
    }
    sweep_settle(&c);
    c.name = "parts seed " + std::to_string(seed);
    grid_of_parts g(c);
    cut_axes(c, &g, &state);
    lacis_sweep_reach(&c.start, g.reach);
    g.deep = some(&state, 1, 3);
    g.halo = 0;
    for (int64_t reach : g.reach)
        g.halo = std::max(g.halo, reach * g.deep);
    make_parts(&g, &state);
    several += g.part.size() > 1;
    const bool copy = some(&state, 0, 1), in_boxes = some(&state, 0, 3) > 0;
    for (int i = 0; i < c.start.coefficients; i++)
        exchange(&g, c.start.fields + i, copy);
    int done = 0;
    lacis_sweep_change change = {};
    for (int round = 0; round < 2; round++, done += g.deep) {
        exchange(&g, 0, copy);
        refresh(&g);
        steps(&g, in_boxes, g.deep, &state, round == 1 ? &change : nullptr);
    }
    sweep_state expected, got;
    std::string where;
    sweep_naive(c, done, &expected);
    for (sweep_device &part : g.part)
        sweep_collect(&part, c, &got);
    const int64_t differ = sweep_differences(c, expected, got, &where);
    sweep_expect(differ == 0, "%s: %d parts, %d steps: %lld cells differ, the first is %s", c.name.c_str(),
                 (int)g.part.size(), done, (long long)differ, where.c_str());
    sweep_expect(sweep_same_change(expected.change, change), "%s: change %a, not %a", c.name.c_str(), change.max,
                 expected.change.max);
}

static void check(bool small, u64 seed)
{
    u64 state = seed ^ 99;
    several = 0;
    for (int i = 0; i < (small ? 25 : 150); i++)
        random_case(small, next_random(&state) % 1000000);
    sweep_expect(several >= (small ? 8 : 50), "only %d grids were cut at all", several);
}
static sweep_part part("parts", check);
