/* SPDX-License-Identifier: Apache-2.0
 *
 * Shapes and batches of solve_tree.h, and their reference.
 */
#include "solve_tree.h"

#include <cmath>
#include <cstring>

const char *const tree_kind_name[] = {"path", "star", "comb", "third", "peer", "split", "even", "forest", "one"};

/* --- shapes ----------------------------------------------------------------------------------------- */

static int64_t below(uint64_t *state, int64_t n)
{
    return (int64_t)(next_random(state) % (uint64_t)n);
}

/* Branches, each of one row and more; numbered branch by branch. */
static tree from_branches(const std::vector<int64_t> &parent, std::vector<int64_t> length)
{
    std::vector<int64_t> last(parent.size());
    tree t;
    for (size_t i = 0; i < parent.size(); i++) {
        int64_t before = parent[i] < 0 ? -1 : last[(size_t)parent[i]];
        for (int64_t k = 0; k < length[i]; k++) {
            t.push_back((int32_t)before);
            before = (int64_t)t.size() - 1;
        }
        last[i] = before;
    }
    return t;
}

static tree branched(bool even, int64_t rows, int64_t branches, uint64_t *state)
{
    std::vector<int64_t> parent(1, -1), leaf(1, 0), length((size_t)branches, even ? rows / branches : 1);
    while ((int64_t)parent.size() < branches) {
        const int64_t at = even ? 0 : below(state, (int64_t)leaf.size()), up = leaf[(size_t)at];
        leaf.erase(leaf.begin() + at);
        for (int i = 0; i < 2 && (int64_t)parent.size() < branches; i++) {
            leaf.push_back((int64_t)parent.size());
            parent.push_back(up);
        }
    }
    for (int64_t left = rows - branches * length[0], i = 0; i < left; i++)
        length[(size_t)(even ? i % branches : below(state, branches))]++;
    return from_branches(parent, length);
}

tree make_tree(int kind, int64_t rows, int64_t branches, uint64_t seed)
{
    uint64_t state = seed * 2 + 1;
    if (kind == TREE_SPLIT || kind == TREE_EVEN) return branched(kind == TREE_EVEN, rows, branches, &state);
    tree t(1, -1);
    for (int64_t r = 1; r < (kind == TREE_ONE ? 1 : rows); r++) {
        int64_t p = r - 1;
        if (kind == TREE_STAR) p = 0;
        if (kind == TREE_COMB) p = r % 2 ? r - 1 : r - 2;
        if (kind == TREE_THIRD) p = r % 3 == 1 ? r - 1 : r % 3 == 2 ? r - 2 : r - 3;
        if (kind == TREE_PEER) p = below(&state, r);
        if (kind == TREE_FOREST) p = below(&state, r + 2) - 2;
        if (kind == TREE_THIRD && r % 3 == 1 && r > 1) p = r - 3;
        t.push_back((int32_t)(p < 0 ? -1 : p));
    }
    return t;
}

/* --- batches ---------------------------------------------------------------------------------------- */

void put(tree_batch &b, std::vector<char> &field, int64_t place, double value)
{
    if (b.spec.type == LACIS_SOLVE_F64)
        ((double *)field.data())[place] = value;
    else
        ((float *)field.data())[place] = (float)value;
}

double get(const tree_batch &b, const std::vector<char> &field, int64_t place)
{
    return b.spec.type == LACIS_SOLVE_F64 ? ((const double *)field.data())[place]
                                          : (double)((const float *)field.data())[place];
}

static bool is_shared(const tree_batch &b, const std::vector<char> &field)
{
    if (&field == &b.rhs) return false;
    if (&field == &b.diagonal) return b.spec.sharing == SHARE_ALL;
    if (&field == &b.upper) return b.spec.sharing == SHARE_ALL || b.spec.sharing == SHARE_OFF;
    return b.spec.sharing != SHARE_NONE;
}

int64_t place_in(const tree_batch &b, const std::vector<char> &field, int64_t g, int64_t lane, int64_t row)
{
    const lacis_solve_group *group = &b.group[(size_t)g];
    const lacis_solve_side *side = &field == &b.rhs ? &group->rhs : &group->matrix;
    return is_shared(b, field) ? side->row + row * side->step : lacis_solve_place(side, group->rows, lane, row);
}

static lacis_solve_side make_side(const tree_spec &spec, int64_t layout, int64_t lanes, int64_t rows, int64_t *places)
{
    lacis_solve_side side = {};
    const int64_t all = lanes + spec.before + spec.behind;
    side.place = *places + 1;
    side.block = layout != LAYOUT_FULL ? layout : all > 0 ? all : 1;
    side.lane = spec.before;
    *places = side.place + (all + side.block - 1) / side.block * side.block * rows;
    return side;
}

static void fill_lane(tree_batch &b, int64_t g, int64_t lane, uint64_t *state)
{
    const tree &t = b.shape[(size_t)g];
    const int64_t n = (int64_t)t.size();
    std::vector<double> off((size_t)n, 0);
    const bool shared_lower = is_shared(b, b.lower), shared_upper = is_shared(b, b.upper);
    for (int64_t r = n - 1; r >= 0; r--) {
        const int64_t at[2] = {place_in(b, b.lower, g, lane, r), place_in(b, b.upper, g, lane, r)};
        const bool root = t[(size_t)r] < 0;
        if (!shared_lower || lane == 0) put(b, b.lower, at[0], root ? NAN : 2 * uniform(state) - 1);
        if (!shared_upper || lane == 0) put(b, b.upper, at[1], root ? NAN : 2 * uniform(state) - 1);
        if (root) continue;
        off[(size_t)r] += fabs(get(b, b.lower, at[0]));
        off[(size_t)t[(size_t)r]] += fabs(get(b, b.upper, at[1]));
    }
    for (int64_t r = 0; r < n; r++) {
        const double size = off[(size_t)r] + 0.1 + uniform(state), sign = next_random(state) % 4 == 0 ? -1 : 1;
        if (!is_shared(b, b.diagonal) || lane == 0)
            put(b, b.diagonal, place_in(b, b.diagonal, g, lane, r), size * sign);
        put(b, b.rhs, place_in(b, b.rhs, g, lane, r), 2 * uniform(state) - 1);
    }
}

tree_batch make_batch(const std::vector<tree> &shapes, const std::vector<int64_t> &lanes, const tree_spec &spec)
{
    tree_batch b = {};
    b.spec = spec;
    b.shape = shapes;
    uint64_t state = spec.seed + 12345;
    int64_t rows = 0, matrix = 0, rhs = 0;
    for (size_t g = 0; g < shapes.size(); g++) {
        const int64_t n = (int64_t)shapes[g].size();
        lacis_solve_group group = {};
        group.lanes = lanes[g];
        group.rows = n;
        group.first = b.lanes;
        group.tree = (int64_t)b.parent.size();
        group.matrix = make_side(spec, spec.matrix, lanes[g], n, &matrix);
        group.matrix.row = rows + 1;
        group.matrix.step = 1 + (int64_t)(spec.seed % 2);
        rows += n * 2 + 1;
        group.rhs = make_side(spec, spec.rhs, lanes[g], n, &rhs);
        group.x = make_side(spec, spec.x, lanes[g], n, &b.x_places);
        b.lanes += lanes[g];
        b.group.push_back(group);
        b.parent.insert(b.parent.end(), shapes[g].begin(), shapes[g].end());
    }
    const size_t bytes = (size_t)lacis_solve_bytes(spec.type);
    const int64_t most = (matrix > rows ? matrix : rows) + 1;
    b.lower.assign((size_t)(is_shared(b, b.lower) ? rows + 1 : most) * bytes, 0);
    b.upper.assign((size_t)(is_shared(b, b.upper) ? rows + 1 : most) * bytes, 0);
    b.diagonal.assign((size_t)(is_shared(b, b.diagonal) ? rows + 1 : most) * bytes, 0);
    b.rhs.assign((size_t)(rhs + 1) * bytes, 0);
    for (size_t g = 0; g < shapes.size(); g++)
        for (int64_t l = 0; l < lanes[g]; l++)
            fill_lane(b, (int64_t)g, l, &state);
    const std::vector<char> *field[] = {&b.lower, &b.diagonal, &b.upper, &b.rhs};
    for (int i = 0; i < 4; i++)
        CUDA(cudaMalloc(&b.device[i], field[i]->size()));
    CUDA(cudaMalloc(&b.device[4], (size_t)(b.x_places + 1) * bytes));
    CUDA(cudaMalloc(&b.status, ((size_t)b.lanes + 1) * sizeof *b.status));
    b.device_parent = upload(b.parent);
    return b;
}

void send(tree_batch &b)
{
    const std::vector<char> *field[] = {&b.lower, &b.diagonal, &b.upper, &b.rhs};
    for (int i = 0; i < 4; i++)
        CUDA(cudaMemcpyAsync(b.device[i], field[i]->data(), field[i]->size(), cudaMemcpyHostToDevice, stream));
    CUDA(cudaMemsetAsync(b.device[4], 0xA5, (size_t)(b.x_places + 1) * (size_t)lacis_solve_bytes(b.spec.type),
                         stream));
    CUDA(cudaMemsetAsync(b.status, 0xA5, (size_t)b.lanes * sizeof *b.status, stream));
    CUDA(cudaStreamSynchronize(stream));
}

void free_batch(tree_batch &b)
{
    for (int i = 0; i < 5; i++)
        CUDA(cudaFree(b.device[i]));
    CUDA(cudaFree(b.device_parent));
    CUDA(cudaFree(b.status));
}

lacis_solve_gpu_job job_of(const tree_batch &b, lacis_solve_gpu_way way)
{
    lacis_solve_gpu_job job = {};
    job.way = way;
    job.stream = stream;
    job.pinned = pinned;
    job.job.type = b.spec.type;
    job.job.lower = {b.device[0], is_shared(b, b.lower)};
    job.job.diagonal = {b.device[1], is_shared(b, b.diagonal)};
    job.job.upper = {b.device[2], is_shared(b, b.upper)};
    job.job.rhs = {b.device[3], false};
    job.job.x = b.device[4];
    job.job.parent = b.device_parent;
    job.job.group = b.group.data();
    job.job.groups = (int64_t)b.group.size();
    job.job.host = {device_alloc, device_free, NULL, NULL};
    return job;
}

/* --- reference -------------------------------------------------------------------------------------- */

/* Solves in C; rounding to float is what steps in float would do to each. */
template <class C> static int64_t steps(const tree_batch &b, int64_t g, int64_t lane, std::vector<C> &x)
{
    const tree &t = b.shape[(size_t)g];
    const int64_t n = (int64_t)t.size();
    const C slack = sizeof(C) == 4 ? (C)(1 + 1e-5F) : (C)(1 + 1e-12);
    std::vector<C> q((size_t)n), y((size_t)n), sq((size_t)n), sy((size_t)n), off((size_t)n);
    std::vector<char> some((size_t)n, 0);
    int64_t row[4] = {-1, -1, -1, -1};
    for (int64_t r = n - 1; r >= 0; r--) {
        const size_t i = (size_t)r;
        const C d = (C)get(b, b.diagonal, place_in(b, b.diagonal, g, lane, r));
        const C right = (C)get(b, b.rhs, place_in(b, b.rhs, g, lane, r));
        const C lo = t[i] < 0 ? 0 : (C)get(b, b.lower, place_in(b, b.lower, g, lane, r));
        const C up = t[i] < 0 ? 0 : (C)get(b, b.upper, place_in(b, b.upper, g, lane, r));
        const C w = (C)1 / (some[i] ? d - sq[i] : d);
        const C size = std::fabs(d) * slack, sum = some[i] ? std::fabs(lo) + off[i] : std::fabs(lo);
        if (!std::isfinite(d) || !std::isfinite(right) || !std::isfinite(lo) || !std::isfinite(up)) row[3] = r;
        if (!std::isfinite(w) && row[2] < 0) row[2] = r;
        if (size - sum < 0) row[1] = r;
        q[i] = lo * w;
        y[i] = (some[i] ? right - sy[i] : right) * w;
        if (t[i] < 0) continue;
        const size_t p = (size_t)t[i];
        const C uq = up * q[i], uy = up * y[i];
        sq[p] = some[p] ? sq[p] + uq : uq;
        sy[p] = some[p] ? sy[p] + uy : uy;
        off[p] = some[p] ? off[p] + std::fabs(up) : std::fabs(up);
        some[p] = 1;
    }
    x.resize((size_t)n);
    for (size_t i = 0; i < (size_t)n; i++)
        x[i] = t[i] < 0 ? y[i] : y[i] - q[i] * x[(size_t)t[i]];
    for (int cause = 3; cause > 0; cause--)
        if (row[cause] >= 0) return row[cause] * 4 + cause;
    return 0;
}

int64_t reference_lane(const tree_batch &b, int64_t g, int64_t lane, std::vector<double> &x, double *error)
{
    std::vector<long double> exact;
    int64_t word;
    if (b.spec.type == LACIS_SOLVE_F32) {
        std::vector<float> single;
        word = steps(b, g, lane, single);
        x.assign(single.begin(), single.end());
    } else {
        word = steps(b, g, lane, x);
        for (size_t i = 0; i < x.size() && b.spec.type == LACIS_SOLVE_MIXED; i++)
            x[i] = (double)(float)x[i];
    }
    steps(b, g, lane, exact);
    *error = 0;
    for (size_t i = 0; i < x.size(); i++)
        *error = std::fmax(*error, (double)fabsl((long double)x[i] - exact[i]));
    return word;
}
