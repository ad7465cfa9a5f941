/* SPDX-License-Identifier: Apache-2.0
 *
 * One lane at a time on one thread, in the steps of solve.h (what check.c does on the CPU): which row is bad and why,
 * x of lanes whose fast solution may be worse than that, residuals. Called from gpu_run.cu.
 */
#include "solve/gpu_check.h"
#include "solve/gpu_place.cuh"

enum { THREADS = 64, MOST_WALKERS = 1 << 15 };

/* What one thread works with: `slots` of these side by side, row after row. */
template <class T> struct room {
    T *at;
    int64_t slots, rows;
    __device__ __forceinline__ T &operator()(int table, int64_t row) const
    {
        return at[(table * rows + row) * slots];
    }
};

/* The lowest row of each cause; of zero pivots the one met first: others follow from it. */
struct finding {
    int64_t row[4];
};

SOLVE_FN void found_at(finding *f, int cause, int64_t row)
{
    if (f->row[cause] < 0 || (cause != LACIS_SOLVE_ZERO_PIVOT && row < f->row[cause])) f->row[cause] = row;
}

SOLVE_FN int64_t word_of(const finding &f)
{
    for (int cause = LACIS_SOLVE_NOT_FINITE; cause > LACIS_SOLVE_FINE; cause--)
        if (f.row[cause] >= 0) return f.row[cause] * 4 + cause;
    return 0;
}

/* A lane's fields. */
template <class S, class T> struct lane_of {
    solve_rows<const S> in[SOLVE_GPU_FIELDS];
    const int32_t *parent; /* from the group's first row on; NULL: a chain */
    int64_t rows;

    __device__ __forceinline__ T get(int field, int64_t row) const
    {
        bool there = true;
        if (field == SOLVE_GPU_LOWER) there = parent != nullptr ? parent[row] >= 0 : row > 0;
        if (field == SOLVE_GPU_UPPER) there = parent != nullptr ? parent[row] >= 0 : row < rows - 1;
        T x = number<T>(0);
        if (there) load_as(&x, in[field][row]);
        return x;
    }
};

template <class S, class T>
SOLVE_FN lane_of<S, T> lane_at(const solve_gpu_fields &fields, const int32_t *parent, const lacis_solve_group &group,
                               int64_t lane)
{
    lane_of<S, T> l;
    for (int field = 0; field < SOLVE_GPU_FIELDS; field++)
        l.in[field] = rows_of<S>(fields, field, group, lane);
    l.parent = parent == nullptr ? nullptr : parent + group.tree;
    l.rows = group.rows;
    return l;
}

/* One row's w; off: the sum of the moduli of the row's other elements. */
template <class S, class T, class R> SOLVE_FN T pivot(const lane_of<S, T> &lane, finding *f, int64_t row, T sq, R off)
{
    const T diagonal = lane.get(SOLVE_GPU_DIAGONAL, row), w = inverse(diagonal - sq);
    bool finite = true;
    for (int field = 0; field < SOLVE_GPU_FIELDS; field++)
        finite = finite && is_finite(lane.get(field, row));
    if (!finite) found_at(f, LACIS_SOLVE_NOT_FINITE, row);
    if (!is_finite(w)) found_at(f, LACIS_SOLVE_ZERO_PIVOT, row);
    if (with_slack(modulus(diagonal)) - off < 0) found_at(f, LACIS_SOLVE_NOT_DOMINANT, row);
    return w;
}

template <class S, class T> SOLVE_FN int64_t scan_chain(const lane_of<S, T> &lane)
{
    finding f = {{-1, -1, -1, -1}};
    T q = number<T>(0);
    for (int64_t r = 0; r < lane.rows; r++) {
        const T lower = lane.get(SOLVE_GPU_LOWER, r), upper = lane.get(SOLVE_GPU_UPPER, r);
        const T w = pivot(lane, &f, r, lower * q, modulus(lower) + modulus(upper));
        q = upper * w;
    }
    return word_of(f);
}

template <class S, class T> SOLVE_FN int64_t scan_tree(const lane_of<S, T> &lane, const room<T> &sums)
{
    finding f = {{-1, -1, -1, -1}};
    for (int64_t r = 0; r < lane.rows; r++)
        sums(0, r) = sums(1, r) = 0;
    for (int64_t r = lane.rows - 1; r >= 0; r--) {
        const T lower = lane.get(SOLVE_GPU_LOWER, r), upper = lane.get(SOLVE_GPU_UPPER, r);
        const T w = pivot(lane, &f, r, sums(0, r), modulus(lower) + sums(1, r));
        const int64_t p = lane.parent[r];
        if (p < 0) continue;
        sums(0, p) += upper * (lower * w);
        sums(1, p) += modulus(upper);
    }
    return word_of(f);
}

template <class S, class T>
SOLVE_FN void solve_chain(const lane_of<S, T> &lane, const solve_rows<S> &out, const room<T> &room)
{
    T q = number<T>(0), y = number<T>(0);
    for (int64_t r = 0; r < lane.rows; r++) {
        const T lower = lane.get(SOLVE_GPU_LOWER, r);
        const T w = inverse(lane.get(SOLVE_GPU_DIAGONAL, r) - lower * q);
        q = lane.get(SOLVE_GPU_UPPER, r) * w;
        y = (lane.get(SOLVE_GPU_RHS, r) - lower * y) * w;
        room(0, r) = q;
        room(1, r) = y;
    }
    T x = number<T>(0);
    for (int64_t r = lane.rows - 1; r >= 0; r--) {
        x = room(1, r) - room(0, r) * x;
        load_as(&out[r], x);
    }
}

/* The first child added, which is the highest, is taken as it is: 0 + v is v but for the sign of a zero. */
template <class S, class T>
SOLVE_FN void solve_tree(const lane_of<S, T> &lane, const solve_rows<S> &out, const room<T> &room)
{
    for (int64_t r = 0; r < lane.rows; r++)
        room(0, r) = room(1, r) = 0;
    for (int64_t r = lane.rows - 1; r >= 0; r--) {
        const T upper = lane.get(SOLVE_GPU_UPPER, r);
        const T w = inverse(lane.get(SOLVE_GPU_DIAGONAL, r) - room(0, r));
        const T q = lane.get(SOLVE_GPU_LOWER, r) * w, y = (lane.get(SOLVE_GPU_RHS, r) - room(1, r)) * w;
        const int64_t p = lane.parent[r];
        room(0, r) = q;
        room(1, r) = y;
        if (p < 0) continue;
        room(0, p) += upper * q;
        room(1, p) += upper * y;
    }
    for (int64_t r = 0; r < lane.rows; r++) {
        const int64_t p = lane.parent[r];
        T x = room(1, r);
        if (p >= 0) x = x - room(0, r) * room(1, p);
        room(1, r) = x;
        load_as(&out[r], x);
    }
}

struct walk {
    solve_gpu_fields fields;
    const int32_t *parent;
    lacis_solve_group group;
    solve_gpu_flags flags;
    int64_t *status;
    double *residual;
    solve_gpu_found *found;
    void *work;
    int64_t walkers;
};

template <class T> SOLVE_FN room<T> room_of(const walk &w, int64_t thread)
{
    return {(T *)w.work + thread, w.walkers, w.group.rows};
}

template <class S, class T> SOLVE_FN int64_t scan(const walk &w, int64_t lane, int64_t thread)
{
    const lane_of<S, T> l = lane_at<S, T>(w.fields, w.parent, w.group, lane);
    if constexpr (sizeof(T) <= 8)
        if (w.parent != nullptr) return scan_tree(l, room_of<T>(w, thread));
    return scan_chain(l);
}

template <class S, class T> SOLVE_FN void solve_again(const walk &w, int64_t lane, int64_t thread)
{
    const lane_of<S, T> l = lane_at<S, T>(w.fields, w.parent, w.group, lane);
    const solve_rows<S> out = x_rows_of<S>(w.fields, w.group, lane);
    if constexpr (sizeof(T) <= 8) {
        if (w.parent != nullptr) {
            solve_tree(l, out, room_of<T>(w, thread));
            return;
        }
    }
    solve_chain(l, out, room_of<T>(w, thread));
}

template <class S, class T> __global__ void __launch_bounds__(THREADS) walk_kernel(walk w)
{
    const int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (thread >= w.walkers) return;
    for (int64_t lane = thread; lane < w.group.lanes; lane += w.walkers) {
        const int64_t of_job = w.group.first + lane;
        const int mark = w.flags.mark[of_job];
        int64_t word = 0;
        if (mark != SOLVE_GPU_SURE) word = scan<S, T>(w, lane, thread);
        if (w.status != nullptr && (mark != SOLVE_GPU_SURE || w.found == nullptr)) w.status[of_job] = word;
        if (word != 0 && w.found != nullptr) {
            atomicAdd(&w.found->bad_lanes, 1ULL);
            atomicMin(&w.found->lowest, (unsigned long long)of_job);
        }
        if (mark == SOLVE_GPU_REDO && word % 4 != LACIS_SOLVE_NOT_FINITE) solve_again<S, T>(w, lane, thread);
    }
}

template <class S, class T> __global__ void name_kernel(walk w)
{
    const int64_t lane = (int64_t)w.found->lowest - w.group.first;
    if (lane < 0 || lane >= w.group.lanes || w.group.rows == 0) return;
    w.found->word = scan<S, T>(w, lane, 0);
}

/* In doubles, also of floats: what the rounding of x leaves shows. */
template <class S, class T> SOLVE_FN void residual_chain(const walk &w, const lane_of<S, T> &l, int64_t lane)
{
    const solve_rows<S> x = x_rows_of<S>(w.fields, w.group, lane);
    double *to = w.residual + place_of(w.group.x, l.rows, lane);
    T before = number<T>(0), here = number<T>(0);
    load_as(&here, x[0]);
    for (int64_t r = 0; r < l.rows; r++) {
        T behind = number<T>(0);
        if (r < l.rows - 1) load_as(&behind, x[r + 1]);
        T left = l.get(SOLVE_GPU_RHS, r) - l.get(SOLVE_GPU_DIAGONAL, r) * here;
        left = left - l.get(SOLVE_GPU_LOWER, r) * before;
        to[r * w.group.x.block] = modulus(left - l.get(SOLVE_GPU_UPPER, r) * behind);
        before = here;
        here = behind;
    }
}

SOLVE_FN void residual_tree(const walk &, const lane_of<solve_complex, solve_complex> &, int64_t, int64_t)
{
}
template <class S>
SOLVE_FN void residual_tree(const walk &w, const lane_of<S, double> &l, int64_t lane, int64_t thread)
{
    const solve_rows<S> x = x_rows_of<S>(w.fields, w.group, lane);
    const room<double> sum = room_of<double>(w, thread);
    double *to = w.residual + place_of(w.group.x, l.rows, lane);
    for (int64_t r = 0; r < l.rows; r++)
        sum(0, r) = 0;
    for (int64_t r = l.rows - 1; r >= 0; r--) {
        const int64_t p = l.parent[r];
        const double here = (double)x[r], up = p >= 0 ? (double)x[p] : 0;
        const double left = l.get(SOLVE_GPU_RHS, r) - l.get(SOLVE_GPU_DIAGONAL, r) * here;
        to[r * w.group.x.block] = fabs((left - l.get(SOLVE_GPU_LOWER, r) * up) - sum(0, r));
        if (p >= 0) sum(0, p) += l.get(SOLVE_GPU_UPPER, r) * here;
    }
}

template <class S, class T> __global__ void __launch_bounds__(THREADS) residual_kernel(walk w)
{
    const int64_t thread = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    if (thread >= w.walkers) return;
    for (int64_t lane = thread; lane < w.group.lanes; lane += w.walkers) {
        const lane_of<S, T> l = lane_at<S, T>(w.fields, w.parent, w.group, lane);
        if (w.parent != nullptr)
            residual_tree(w, l, lane, thread);
        else
            residual_chain(w, l, lane);
    }
}

/* --- host ------------------------------------------------------------------------------------------------ */

static int64_t longest(const lacis_solve_job *job)
{
    int64_t rows = 0;
    for (int64_t g = 0; g < job->groups; g++)
        if (job->group[g].lanes > 0 && job->group[g].rows > rows) rows = job->group[g].rows;
    return rows;
}

static uint64_t walker_bytes(const lacis_solve_job *job)
{
    return 2 * (job->type == LACIS_SOLVE_C128 ? 16 : 8) * (uint64_t)longest(job);
}

int64_t solve_gpu_walkers(const lacis_solve_job *job)
{
    const uint64_t most_bytes = 1 << 28, each = walker_bytes(job);
    int64_t lanes = 1;
    for (int64_t g = 0; g < job->groups; g++)
        if (job->group[g].lanes > lanes) lanes = job->group[g].lanes;
    const int64_t fit = each == 0 ? 1 : (int64_t)(most_bytes / each), most = fit < MOST_WALKERS ? fit : MOST_WALKERS;
    return lanes < most ? lanes : most < 1 ? 1 : most;
}

uint64_t solve_gpu_walk_bytes(const lacis_solve_job *job, int64_t walkers)
{
    return (uint64_t)walkers * walker_bytes(job);
}

typedef void (*walk_function)(walk);
enum step { WALK, NAME, RESIDUAL };

template <class S, class T> static walk_function function_of(step step)
{
    return step == WALK ? walk_kernel<S, T> : name_kernel<S, T>;
}

static walk_function function_of(lacis_solve_type type, step step)
{
    switch (type) {
    case LACIS_SOLVE_F64:
        return step == RESIDUAL ? residual_kernel<double, double> : function_of<double, double>(step);
    case LACIS_SOLVE_F32:
        return step == RESIDUAL ? residual_kernel<float, double> : function_of<float, float>(step);
    case LACIS_SOLVE_MIXED:
        return step == RESIDUAL ? residual_kernel<float, double> : function_of<float, double>(step);
    case LACIS_SOLVE_C128:
    case LACIS_SOLVE_TYPES:
        break;
    }
    return step == RESIDUAL ? residual_kernel<solve_complex, solve_complex>
                            : function_of<solve_complex, solve_complex>(step);
}

/* Group by group: this is for few lanes or, residuals, beside the point of speed. */
static cudaError_t launch(const lacis_solve_gpu_job *job, step step, const solve_gpu_flags *flags,
                          solve_gpu_found *found, void *work, int64_t walkers)
{
    const lacis_solve_job *j = &job->job;
    walk w = {};
    w.fields = solve_gpu_fields_of(j);
    w.parent = j->parent;
    if (flags != NULL) w.flags = *flags;
    w.status = j->status;
    w.residual = j->residual;
    w.found = found;
    w.work = work;
    w.walkers = walkers;
    const walk_function function = function_of(j->type, step);
    for (int64_t g = 0; g < j->groups; g++) {
        w.group = j->group[g];
        if (w.group.lanes == 0 || w.group.rows == 0) continue;
        const int64_t threads = w.group.lanes < walkers ? w.group.lanes : walkers;
        const unsigned blocks = (unsigned)((threads + THREADS - 1) / THREADS);
        if (step == NAME)
            function<<<1, 1, 0, (cudaStream_t)job->stream>>>(w);
        else
            function<<<blocks, THREADS, 0, (cudaStream_t)job->stream>>>(w);
        const cudaError_t error = cudaGetLastError();
        if (error != cudaSuccess) return error;
    }
    return cudaSuccess;
}

cudaError_t solve_gpu_walk(const lacis_solve_gpu_job *job, const solve_gpu_flags &flags, solve_gpu_found *found,
                           void *work, int64_t walkers)
{
    return launch(job, WALK, &flags, found, work, walkers);
}

cudaError_t solve_gpu_name(const lacis_solve_gpu_job *job, solve_gpu_found *found, void *work)
{
    return launch(job, NAME, NULL, found, work, 1);
}

cudaError_t solve_gpu_residuals(const lacis_solve_gpu_job *job, void *work, int64_t walkers)
{
    const bool chain = job->job.parent == NULL; /* needs no room */
    return launch(job, RESIDUAL, NULL, NULL, work, chain ? INT64_MAX / 2 : walkers);
}
