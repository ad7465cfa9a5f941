/* SPDX-License-Identifier: Apache-2.0
 *
 * Ghosts (gpu_edges.cuh) by a kernel of their own, a thread each: all of them when a system is made and where halos
 * were put, and behind what does not make them itself (the general kernel, passes of several steps). They can be put
 * for any box of cells: those whose cell lies in it. Marching kernels make theirs (gpu_march_ghosts.cuh).
 */
#include "sweep/gpu_inside.h"

namespace sweep
{

enum { GHOST_THREADS = 256 };

static_assert((int)SWEEP_FACES == (int)LACIS_SWEEP_FACES && (int)SWEEP_RADIUS == (int)LACIS_SWEEP_RADIUS, "tables");
static_assert((int)SWEEP_HOLD == (int)LACIS_SWEEP_HOLD && (int)SWEEP_CLAMP == (int)LACIS_SWEEP_CLAMP &&
                  (int)SWEEP_MIRROR == (int)LACIS_SWEEP_MIRROR && (int)SWEEP_PERIODIC == (int)LACIS_SWEEP_PERIODIC &&
                  (int)SWEEP_AFFINE == (int)LACIS_SWEEP_AFFINE && (int)SWEEP_VALUES == (int)LACIS_SWEEP_VALUES &&
                  (int)SWEEP_INNER == (int)LACIS_SWEEP_INNER,
              "kinds are the same on the device");

struct Region {
    Box box;
    int64_t first; /* how many ghosts are before it */
};

struct Ghosts {
    void *cells[LACIS_SWEEP_ARRAYS];
    int array;  /* that blockIdx.y 0 is */
    bool still; /* those that do not change, too */
    int64_t stride[3];
    Box box; /* cells that ghosts come of */
    int regions;
    Region region[LACIS_SWEEP_FACES];
    int64_t count;
    const sweep_edges *edges;
};

/* Of the face (axis, high), as far as halos go: where the values' element of a cell is. Cells beyond another face
 * take the nearest one's, along closed axes the cell's on the other side. */
static __device__ int64_t element_of(const sweep_edges &e, int array, int axis, const long long *at)
{
    int64_t element = 0, step = 1;
    for (int k = 0; k < 3; k++) {
        if (k == axis) continue;
        int64_t x = at[k];
        const int64_t end = e.extent[k] + e.inner_high[k];
        if (e.kind[array][2 * k] == SWEEP_PERIODIC) x = x < 0 ? x + e.extent[k] : x >= end ? x - e.extent[k] : x;
        x = x < -e.inner_low[k] ? -e.inner_low[k] : x >= end ? end - 1 : x;
        element += (x + e.inner_low[k]) * step;
        step *= end + e.inner_low[k];
    }
    return element;
}

/* The number that a ghost is, or ends with along `axis`. */
template <class T>
static __device__ T number_of(const sweep_edges &e, int array, int axis, const long long *at, T constant)
{
    const int face = 2 * axis + (at[axis] >= e.extent[axis]);
    if (e.kind[array][face] != SWEEP_VALUES) return constant;
    return static_cast<const T *>(e.values[array][face])[element_of(e, array, axis, at)];
}

template <class T> static __device__ void ghost(const Ghosts &g, int array, T *cells, long long *at)
{
    const sweep_edges &e = *g.edges;
    sweep_turn<T> turn[3] = {};
    const int64_t to = at[0] + at[1] * g.stride[1] + at[2] * g.stride[2];
    int axis = 2;
    bool number = false;
    for (; axis >= 0 && !number; axis--)
        number = sweep_nearer(e, array, axis, &at[axis], &turn[axis]);
    axis++;
    if (number) {
        if (!g.still) return; /* values may be gone */
        cells[to] = sweep_turned(turn, axis + 1, number_of(e, array, axis, at, turn[axis].a));
        return;
    }
    for (int k = 0; k < 3; k++)
        if (at[k] < g.box.begin[k] || at[k] >= g.box.end[k]) return;
    cells[to] = sweep_turned(turn, 0, cells[at[0] + at[1] * g.stride[1] + at[2] * g.stride[2]]);
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
        long long at[3];
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
        ghost(g, array, static_cast<T *>(g.cells[array]), at);
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
    const Layout &l = s->layout;
    const Box cells = part_with_halos(s);
    Region *r = &g->region[g->regions++];
    r->first = g->count;
    int64_t count = 1;
    for (int k = 0; k < 3; k++) {
        r->box.begin[k] = k < axis ? -l.low[k] : cells.begin[k];
        r->box.end[k] = k < axis ? l.extent[k] + l.high[k] : cells.end[k];
        if (k == axis) {
            r->box.begin[k] = face % 2 ? l.extent[k] : -l.low[k];
            r->box.end[k] = face % 2 ? l.extent[k] + l.high[k] : 0;
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
    for (int k = 0; k < 3; k++)
        g->stride[k] = s->layout.stride[k];
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

/* Whether steps change ghosts beyond a face. */
static bool changes(const lacis_sweep_gpu *s, int face)
{
    if (!read_beyond(s, face, false)) return false;
    for (int f = 0; f < s->start.fields; f++) {
        const lacis_sweep_edge *edge = &s->start.edge[f][face];
        bool moves = edge->kind != LACIS_SWEEP_VALUES && edge->kind != LACIS_SWEEP_AFFINE;
        for (int k = 0; k < LACIS_SWEEP_RADIUS && edge->kind == LACIS_SWEEP_AFFINE; k++)
            moves = moves || edge->b[k] != 0;
        if (moves) return true;
    }
    return false;
}

bool ghosts_change(const lacis_sweep_gpu *s)
{
    for (int face = 0; face < 2 * s->start.dims; face++)
        if (changes(s, face)) return true;
    return false;
}

void near_faces(const lacis_sweep_gpu *s, sweep_pass *out)
{
    const int64_t far = INT64_C(1) << 60;
    for (int k = 0; k < 3; k++) {
        bool low = false, high = false;
        for (int side = 0; k < s->start.dims && side < 2; side++) {
            const int face = 2 * k + side;
            if (!changes(s, face) || ghosts_apart) continue;
            for (int f = 0; f < s->start.fields; f++) {
                const bool other = s->start.edge[f][face].kind == LACIS_SWEEP_PERIODIC;
                low = low || other == (side == 1);
                high = high || other == (side == 0);
            }
        }
        out->near_low[k] = low ? s->reach[k] + 1 : -far; /* a mirror's cell is one further inside */
        out->near_high[k] = high ? s->layout.extent[k] - s->reach[k] - 1 : far;
    }
}

static void fill_fields(const lacis_sweep_start *start, int face, sweep_edges *e)
{
    for (int c = 0; c < start->coefficients; c++)
        e->kind[start->fields + c][face] = coefficient_edge(start, face);
    for (int f = 0; f < start->fields; f++) {
        e->kind[f][face] = start->edge[f][face].kind;
        e->values[f][face] = start->edge[f][face].values;
        for (int k = 0; k < LACIS_SWEEP_RADIUS; k++) {
            e->a[f][face][k] = rounded(start->type, start->edge[f][face].a[k]);
            e->b[f][face][k] = rounded(start->type, start->edge[f][face].b[k]);
        }
    }
}

lacis_sweep_status ghost_tables(lacis_sweep_gpu *s)
{
    const Box cells = part_with_halos(s);
    sweep_edges e = {};
    for (int k = 0; k < 3; k++) {
        e.extent[k] = s->layout.extent[k];
        e.inner_low[k] = -cells.begin[k];
        e.inner_high[k] = cells.end[k] - s->layout.extent[k];
    }
    for (int face = 0; face < 2 * s->start.dims; face++) {
        fill_fields(&s->start, face, &e);
        if (changes(s, face)) e.deep[face] = s->reach[face / 2];
    }
    SWEEP_CUDA(s, cudaMemcpyAsync(s->edges, &e, sizeof e, cudaMemcpyHostToDevice, s->stream));
    SWEEP_CUDA(s, cudaStreamSynchronize(s->stream)); /* e goes */
    return LACIS_SWEEP_OK;
}

} // namespace sweep
