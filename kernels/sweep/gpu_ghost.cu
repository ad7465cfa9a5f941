/* SPDX-License-Identifier: Apache-2.0
 *
 * Ghosts: cells beyond the faces, as edges say. Each is a number that does not change, or comes of one cell of the
 * part, so that they can be put for any box of cells: those whose cell lies in it. A thread makes one ghost: along z,
 * then y, then x it asks which cell, nearer, it is continued from, and applies what is to be done with it in the
 * other order.
 */
#include "sweep/gpu_inside.h"

namespace sweep
{

enum { GHOST_THREADS = 256 };

struct Region {
    Box box;
    int64_t first; /* how many ghosts are before it */
};

struct Ghosts {
    void *cells[LACIS_SWEEP_ARRAYS];
    int array;  /* that blockIdx.y 0 is */
    bool still; /* those that do not change, too */
    int64_t stride[3], extent[3], low[3], high[3];
    int64_t inner_low[3], inner_high[3]; /* cells of neighbours */
    Box box;                             /* cells that ghosts come of */
    int regions;
    Region region[LACIS_SWEEP_FACES];
    int64_t count;
    const Edges *edges;
};

/* What continuing a cell along one axis does to its value. */
template <class T> struct Turn {
    T a, b;
    bool used;
};

/* Of the face (axis, high), as far as halos go: where the values' element of a cell is. Cells beyond another face
 * take the nearest one's, along closed axes the cell's on the other side. */
static __device__ int64_t element_of(const Ghosts &g, const Edges &e, int array, int axis, const int64_t *at)
{
    int64_t element = 0, step = 1;
    for (int k = 0; k < 3; k++) {
        if (k == axis) continue;
        int64_t x = at[k];
        const int64_t end = g.extent[k] + g.inner_high[k];
        if (e.kind[array][2 * k] == LACIS_SWEEP_PERIODIC)
            x = x < 0 ? x + g.extent[k] : x >= end ? x - g.extent[k] : x;
        x = x < -g.inner_low[k] ? -g.inner_low[k] : x >= end ? end - 1 : x;
        element += (x + g.inner_low[k]) * step;
        step *= end + g.inner_low[k];
    }
    return element;
}

/* Continues along one axis: `at` becomes the cell that it comes of; true: it is a number, in turn->a. */
template <class T>
static __device__ bool nearer(const Ghosts &g, const Edges &e, int array, int axis, int64_t *at, Turn<T> *turn)
{
    const int64_t n = g.extent[axis], x = at[axis];
    turn->used = false;
    if (x >= -g.inner_low[axis] && x < n + g.inner_high[axis]) return false;
    const bool high = x >= n;
    const int face = 2 * axis + high;
    const int64_t beyond = high ? x - n : -1 - x; /* 0 is the first */
    int64_t inside = 0;                           /* cells inside of the outermost one */
    switch (e.kind[array][face]) {
    case LACIS_SWEEP_PERIODIC:
        at[axis] = high ? x - n : x + n;
        return false;
    case LACIS_SWEEP_MIRROR:
        inside = beyond + 1;
        break;
    case LACIS_SWEEP_AFFINE:
        inside = beyond;
        turn->a = (T)e.a[array][face][beyond];
        turn->b = (T)e.b[array][face][beyond];
        turn->used = true;
        if (turn->b == T(0)) return true;
        break;
    case LACIS_SWEEP_VALUES:
        if (g.still) /* else the values may be gone */
            turn->a = static_cast<const T *>(e.values[array][face])[element_of(g, e, array, axis, at)];
        return true;
    default:
        break;
    }
    at[axis] = high ? n - 1 - inside : inside;
    return false;
}

template <class T> static __device__ void ghost(const Ghosts &g, const Edges &e, int array, T *cells, int64_t *at)
{
    Turn<T> turn[3] = {};
    const int64_t to = at[0] + at[1] * g.stride[1] + at[2] * g.stride[2];
    int axis = 2;
    bool number = false;
    for (; axis >= 0 && !number; axis--)
        number = nearer(g, e, array, axis, at, &turn[axis]);
    T value;
    if (number) {
        if (!g.still) return;
        value = turn[++axis].a;
    } else {
        for (int k = 0; k < 3; k++)
            if (at[k] < g.box.begin[k] || at[k] >= g.box.end[k]) return;
        value = cells[at[0] + at[1] * g.stride[1] + at[2] * g.stride[2]];
    }
    for (axis++; axis < 3; axis++)
        if (turn[axis].used) value = sweep_fma(turn[axis].b, value, turn[axis].a);
    cells[to] = value;
}

template <class T>
static __global__ void __launch_bounds__(GHOST_THREADS) ghost_kernel(const __grid_constant__ Ghosts g)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x;
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < g.count; i += stride) {
        int r = 0;
        while (r + 1 < g.regions && i >= g.region[r + 1].first)
            r++;
        const Box &box = g.region[r].box;
        const int64_t x = box.end[0] - box.begin[0], y = box.end[1] - box.begin[1];
        const int64_t in = i - g.region[r].first;
        int64_t at[3];
        if (g.count < INT64_C(1) << 32) { /* divisions of 64 bits would take longer than all else */
            const unsigned row = (unsigned)in / (unsigned)x;
            at[0] = box.begin[0] + ((unsigned)in - row * (unsigned)x);
            at[1] = box.begin[1] + row % (unsigned)y;
            at[2] = box.begin[2] + row / (unsigned)y;
        } else {
            at[0] = box.begin[0] + in % x;
            at[1] = box.begin[1] + in / x % y;
            at[2] = box.begin[2] + in / x / y;
        }
        const int array = g.array + (int)blockIdx.y;
        ghost(g, *g.edges, array, static_cast<T *>(g.cells[array]), at);
    }
}

/* --- which there are -------------------------------------------------------------------------------------------- */

static lacis_sweep_edge_kind coefficient_edge(const lacis_sweep_start *start, int face)
{
    const lacis_sweep_edge_kind kind = start->edge[0][face].kind;
    return kind == LACIS_SWEEP_PERIODIC || kind == LACIS_SWEEP_INNER ? kind : LACIS_SWEEP_CLAMP;
}

/* Whether ghosts beyond a face are read: those where all fields hold their values are not, but by coefficients. */
static bool read_beyond(const lacis_sweep_gpu *s, int face, bool coefficients)
{
    if (s->start.edge[0][face].kind == LACIS_SWEEP_INNER) return false;
    if (coefficients) return true;
    for (int f = 0; f < s->start.fields; f++)
        if (s->start.edge[f][face].kind != LACIS_SWEEP_HOLD) return true;
    return false;
}

/* Whether a face's ghosts may come of cells in the box: those near it, or near the other one where the axis is
 * closed. */
static bool comes_of(const lacis_sweep_gpu *s, int face, const Box &box)
{
    const int axis = face / 2;
    const int64_t n = s->layout.extent[axis], deep = s->reach[axis] + 1;
    const bool low = box.begin[axis]<deep, high = box.end[axis]> n - deep;
    return s->start.edge[0][face].kind == LACIS_SWEEP_PERIODIC || s->start.fields > 1 ? low || high
           : face % 2                                                                 ? high
                                                                                      : low;
}

static void add_region(const lacis_sweep_gpu *s, int face, Ghosts *g)
{
    const int axis = face / 2;
    Region *r = &g->region[g->regions++];
    r->first = g->count;
    int64_t count = 1;
    for (int k = 0; k < 3; k++) {
        r->box.begin[k] = k < axis ? -g->low[k] : -g->inner_low[k];
        r->box.end[k] = g->extent[k] + (k < axis ? g->high[k] : g->inner_high[k]);
        if (k == axis) {
            r->box.begin[k] = face % 2 ? g->extent[k] : -g->low[k];
            r->box.end[k] = face % 2 ? g->extent[k] + g->high[k] : 0;
        }
        count *= r->box.end[k] - r->box.begin[k];
    }
    g->count += count;
    if (count == 0) g->regions--;
}

static void fill(lacis_sweep_gpu *s, int level, const Box &box, bool still, Ghosts *g)
{
    const bool coefficients = level < 0;
    g->array = coefficients ? s->start.fields : 0;
    g->still = still;
    g->box = box;
    g->edges = s->edges;
    for (int k = 0; k < 3; k++) {
        g->stride[k] = s->layout.stride[k];
        g->extent[k] = s->layout.extent[k];
        g->low[k] = s->layout.low[k];
        g->high[k] = s->layout.high[k];
        g->inner_low[k] = s->start.edge[0][2 * k].kind == LACIS_SWEEP_INNER ? g->low[k] : 0;
        g->inner_high[k] = s->start.edge[0][2 * k + 1].kind == LACIS_SWEEP_INNER ? g->high[k] : 0;
    }
    for (int f = 0; f < s->start.fields; f++)
        g->cells[f] = coefficients ? nullptr : s->level[level][f];
    for (int c = 0; c < s->start.coefficients; c++)
        g->cells[s->start.fields + c] = s->fixed[c];
    for (int face = 0; face < 2 * s->start.dims; face++)
        if (read_beyond(s, face, coefficients) && (still || comes_of(s, face, box))) add_region(s, face, g);
}

lacis_sweep_status ghosts(lacis_sweep_gpu *s, int level, const Box &box, bool still, cudaStream_t stream)
{
    Ghosts g = {};
    const int arrays = level < 0 ? s->start.coefficients : s->start.fields;
    if (arrays == 0 || empty(box)) return LACIS_SWEEP_OK;
    fill(s, level, box, still, &g);
    if (g.count == 0) return LACIS_SWEEP_OK;
    const int64_t blocks = (g.count + GHOST_THREADS - 1) / GHOST_THREADS, most = 64 * (int64_t)s->processors;
    const dim3 grid((unsigned)(blocks < most ? blocks : most), (unsigned)arrays);
    if (s->start.type == LACIS_SWEEP_F32)
        ghost_kernel<float><<<grid, GHOST_THREADS, 0, stream>>>(g);
    else
        ghost_kernel<double><<<grid, GHOST_THREADS, 0, stream>>>(g);
    SWEEP_CUDA(s, cudaGetLastError());
    return LACIS_SWEEP_OK;
}

bool ghosts_change(const lacis_sweep_gpu *s)
{
    for (int face = 0; face < 2 * s->start.dims; face++)
        for (int f = 0; f < s->start.fields; f++) {
            const lacis_sweep_edge *edge = &s->start.edge[f][face];
            bool moves = edge->kind != LACIS_SWEEP_VALUES && edge->kind != LACIS_SWEEP_INNER;
            if (edge->kind == LACIS_SWEEP_HOLD) moves = read_beyond(s, face, false);
            if (edge->kind == LACIS_SWEEP_AFFINE) {
                moves = false;
                for (double b : edge->b)
                    moves = moves || b != 0;
            }
            if (moves) return true;
        }
    return false;
}

lacis_sweep_status ghost_tables(lacis_sweep_gpu *s)
{
    const lacis_sweep_start *start = &s->start;
    Edges e = {};
    for (int face = 0; face < LACIS_SWEEP_FACES; face++) {
        for (int c = 0; c < start->coefficients; c++)
            e.kind[start->fields + c][face] = coefficient_edge(start, face);
        for (int f = 0; f < start->fields; f++) {
            e.kind[f][face] = start->edge[f][face].kind;
            e.values[f][face] = start->edge[f][face].values;
            for (int k = 0; k < LACIS_SWEEP_RADIUS; k++) {
                e.a[f][face][k] = rounded(start->type, start->edge[f][face].a[k]);
                e.b[f][face][k] = rounded(start->type, start->edge[f][face].b[k]);
            }
        }
    }
    SWEEP_CUDA(s, cudaMemcpyAsync(s->edges, &e, sizeof e, cudaMemcpyHostToDevice, s->stream));
    SWEEP_CUDA(s, cudaStreamSynchronize(s->stream)); /* e goes */
    return LACIS_SWEEP_OK;
}

} // namespace sweep
