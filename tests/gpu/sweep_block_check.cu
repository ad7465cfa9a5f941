/* SPDX-License-Identifier: Apache-2.0
 *
 * Every kernel blocked in time against single steps on the host, bit by bit: sizes at which strips and pieces begin
 * and end differently, all kinds of edges, special values; what lies beside the grid in memory stays.
 */
#include "sweep_block_support.h"

#include <cmath>
#include <cstring>

namespace sweep_block
{

namespace
{

/* Arrays of a pitched grid with a plane's and a row's worth before and behind, all of it a mark. */
template <class T> struct Held {
    size_t before, cells;
    T *block = nullptr;
    Held(const lacis_sweep_block &b)
    {
        before = (size_t)((b.pitch[0] + (b.dims == 3 ? b.pitch[1] : 0) + 1 + 31) / 32 * 32);
        cells = before * 2 + (size_t)(b.dims == 3 ? b.pitch[1] * b.extent[2] : b.pitch[0] * b.extent[1]);
        CUDA(cudaMalloc((void **)&block, cells * sizeof(T)));
    }
    Held(const Held &) = delete;
    ~Held()
    {
        cudaFree(block);
    }
    T *first() const
    {
        return block + before;
    }
    void put(const std::vector<T> &image)
    {
        CUDA(cudaMemcpyAsync(block, image.data(), cells * sizeof(T), cudaMemcpyHostToDevice, stream));
        CUDA(cudaStreamSynchronize(stream));
    }
};

template <class T> T mark()
{
    return (T)-12345;
}

/* VALUES where a system has its ghosts. */
template <class T> void put_values(const Case &c, const Held<T> &held, std::vector<T> *to)
{
    const lacis_sweep_block &b = c.block;
    const int64_t stride[3] = {1, b.pitch[0], b.pitch[1]};
    for (int face = 0; face < 2 * b.dims; face++) {
        int64_t end[3] = {b.extent[0], b.extent[1], b.extent[2]}, at[3];
        if (b.edge[face].kind != LACIS_SWEEP_VALUES) continue;
        end[face / 2] = 1;
        for (at[2] = 0; at[2] < end[2]; at[2]++)
            for (at[1] = 0; at[1] < end[1]; at[1]++)
                for (at[0] = 0; at[0] < end[0]; at[0]++) {
                    int64_t cell[3] = {at[0], at[1], at[2]};
                    cell[face / 2] = face % 2 ? b.extent[face / 2] : -1;
                    const int64_t place = cell[0] * stride[0] + cell[1] * stride[1] + cell[2] * stride[2];
                    (*to)[(size_t)((int64_t)held.before + place)] = (T)c.given(face, cell);
                }
    }
}

/* The whole array with the grid's cells in it. */
template <class T> std::vector<T> image(const Case &c, const Held<T> &held, const std::vector<T> *grid)
{
    const lacis_sweep_block &b = c.block;
    std::vector<T> out(held.cells, mark<T>());
    put_values(c, held, &out);
    if (!grid) return out;
    size_t i = 0;
    for (int64_t z = 0; z < b.extent[2]; z++)
        for (int64_t y = 0; y < b.extent[1]; y++)
            for (int64_t x = 0; x < b.extent[0]; x++)
                out[held.before + (size_t)(z * b.pitch[1] + y * b.pitch[0] + x)] = (*grid)[i++];
    return out;
}

bool same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

/* NaN is NaN whatever its bits. */
template <class T> bool same_number(T a, T b)
{
    return same(&a, &b, sizeof a) || (std::isnan(a) && std::isnan(b));
}

template <class T> void one(const Variant *v, Case &c, u64 *random, bool special)
{
    const lacis_sweep_block &b = c.block;
    const int passes = 2;
    std::vector<T> grid((size_t)(b.extent[0] * b.extent[1] * b.extent[2]));
    for (T &cell : grid)
        cell = (T)((double)(next_random(random) >> 11) / (double)(1ull << 52) - 1);
    if (special) { /* zeros of both signs, small numbers, what is no number */
        const T some[] = {(T)0.0, (T)-0.0, (T)1e-38, (T)-1e-40, (T)INFINITY, (T)-INFINITY, (T)NAN};
        for (int i = 0; i < 40; i++)
            grid[next_random(random) % grid.size()] = some[next_random(random) % (i < 6 ? 7 : 4)];
    }
    Held<T> from(b), to(b);
    from.put(image(c, from, &grid));
    sweep::block::Shape shape;
    if (!sweep::block::shape_of(&b, &shape) || shape.groups != v->groups) {
        printf("%s: %s: the rule is not recognised\n", v->name, c.name().c_str());
        failures++;
        return;
    }
    for (int pass = 0; pass < passes; pass++) {
        Held<T> &in = pass & 1 ? to : from, &out = pass & 1 ? from : to;
        out.put(image<T>(c, out, nullptr));
        CUDA(v->pass(&b, &shape, in.first(), out.first(), stream));
    }
    std::vector<T> got(from.cells);
    CUDA(cudaMemcpyAsync(got.data(), passes & 1 ? to.block : from.block, from.cells * sizeof(T),
                         cudaMemcpyDeviceToHost, stream));
    CUDA(cudaStreamSynchronize(stream));
    naive(c, grid, v->levels * passes);
    const std::vector<T> want = image(c, from, &grid);
    for (size_t i = 0; i < want.size(); i++)
        if (!same_number(got[i], want[i])) {
            const int64_t at = (int64_t)(i - from.before);
            printf("%s: %s: cell %lld, %lld is %.17g, not %.17g\n", v->name, c.name().c_str(),
                   (long long)(at % b.pitch[0]), (long long)(at / b.pitch[0]), (double)got[i], (double)want[i]);
            failures++;
            return;
        }
}

void any(const Variant *v, Case &c, u64 *random, bool special)
{
    if (!sweep::block::fits(v, &c.block)) {
        printf("%s: %s: does not fit\n", v->name, c.name().c_str());
        failures++;
    } else if (v->type == LACIS_SWEEP_F32) {
        one<float>(v, c, random, special);
    } else {
        one<double>(v, c, random, special);
    }
}

/* open: VALUES among them. */
lacis_sweep_edge_kind draw(u64 *random, bool open)
{
    static const lacis_sweep_edge_kind some[] = {LACIS_SWEEP_HOLD,   LACIS_SWEEP_CLAMP,    LACIS_SWEEP_MIRROR,
                                                 LACIS_SWEEP_AFFINE, LACIS_SWEEP_PERIODIC, LACIS_SWEEP_VALUES,
                                                 LACIS_SWEEP_VALUES};
    return some[next_random(random) % (open ? 7 : 5)];
}

/* Both faces of an axis: PERIODIC both or neither. */
void draw_edges(u64 *random, int dims, bool open, lacis_sweep_edge_kind *kind)
{
    for (int axis = 0; axis < dims; axis++) {
        kind[2 * axis] = kind[2 * axis + 1] = draw(random, open);
        while (kind[2 * axis] != LACIS_SWEEP_PERIODIC &&
               (kind[2 * axis + 1] = draw(random, open)) == LACIS_SWEEP_PERIODIC)
            ;
    }
}

/* Columns: of kernels with open ends also fewer than a warp has. */
int64_t width(const Variant *v, u64 *random, int64_t usual)
{
    static const int64_t narrow[] = {5, 6, 7, 8, 9, 31, 32, 33, 62, 97, 103, 104, 105, 125, 126, 127};
    return v->open && next_random(random) % 3 ? narrow[next_random(random) % 16] : usual;
}

void planes(const Variant *v, bool small, u64 *random)
{
    static const int64_t wide[] = {128, 129, 131, 232, 233, 240, 335, 336, 337, 411, 700};
    static const int64_t high[] = {1, 2, 3, 7, 24, 25, 37, 60, 97, 130, 211};
    const int rounds = small ? 16 : 60;
    for (int i = 0; i < rounds; i++) {
        Case c(v->type, 2, v->groups, next_random(random) % 2, random);
        const int64_t nx = width(v, random, wide[next_random(random) % (small ? 9 : 11)]);
        c.size(nx, high[next_random(random) % (small ? 10 : 11)], 1);
        lacis_sweep_edge_kind kind[6];
        draw_edges(random, 2, v->open, kind);
        if (i % 8 == 1 && (v->groups & 2)) /* corners between sums */
            kind[next_random(random) % 2] = kind[2 + next_random(random) % 2] = LACIS_SWEEP_AFFINE;
        for (int axis = 0; axis < 2; axis++) /* both faces wrap or none */
            for (int side = 0; side < 2; side++)
                if (kind[2 * axis + side] == LACIS_SWEEP_PERIODIC &&
                    kind[2 * axis + 1 - side] != LACIS_SWEEP_PERIODIC)
                    kind[2 * axis + side] = LACIS_SWEEP_AFFINE;
        c.edges(kind, random);
        if ((kind[2] == LACIS_SWEEP_MIRROR || kind[3] == LACIS_SWEEP_MIRROR) && c.block.extent[1] == 1) continue;
        any(v, c, random, i % 4 == 3);
    }
    if (small) return;
    Case c(v->type, 2, v->groups, false, random); /* nearly as many pieces as there are warps */
    const lacis_sweep_edge_kind kind[] = {LACIS_SWEEP_HOLD, LACIS_SWEEP_HOLD, LACIS_SWEEP_HOLD, LACIS_SWEEP_HOLD};
    c.size(1501, 1003, 1);
    c.edges(kind, random);
    any(v, c, random, false);
}

void spaces(const Variant *v, bool small, u64 *random)
{
    static const int64_t wide[] = {128, 129, 131, 245, 247, 256, 370};
    static const int64_t deep[] = {1, 2, 3, 5, 8, 11, 17, 40};
    const int rounds = small ? 8 : 30;
    for (int i = 0; i < rounds; i++) {
        Case c(v->type, 3, v->groups, next_random(random) % 2, random);
        const int64_t high = v->least[1] + (int64_t)(next_random(random) % (small ? 20 : 90));
        const int64_t nx = width(v, random, wide[i == 0 ? 6 : next_random(random) % (small ? 5 : 7)]);
        c.size(nx, i == 0 ? 3 * v->least[1] : high, deep[next_random(random) % (small ? 6 : 8)]);
        lacis_sweep_edge_kind kind[6];
        draw_edges(random, 3, v->open, kind);
        c.edges(kind, random);
        bool lone = false; /* a mirror needs two cells */
        for (int face = 2; face < 6; face++)
            lone = lone || (kind[face] == LACIS_SWEEP_MIRROR && c.block.extent[face / 2] == 1);
        if (lone) continue;
        any(v, c, random, i % 4 == 3);
    }
}

} // namespace

void check(bool small, const char *part)
{
    u64 seed = 20261130;
    for (const Variant *v : variants()) {
        u64 random = seed++; /* each kernel its own, so that its cases do not depend on what else is checked */
        if (!strstr(v->name, part)) continue;
        const int before = failures;
        if (v->dims == 2)
            planes(v, small, &random);
        else
            spaces(v, small, &random);
        printf("%-32s %s\n", v->name, failures == before ? "bit-equal to single steps" : "WRONG");
    }
}

} // namespace sweep_block
