/* SPDX-License-Identifier: Apache-2.0
 *
 * A sweep on a device, as the files gpu_*.cu share it.
 *
 * Each moving field has two levels, present and next, which a step turns; coefficients have one. All of a system's
 * arrays lie alike (sweep_layout): the part's cells with ghosts around them, as deep as rules reach, or as the halo
 * of INNER faces. Whoever writes cells of a level sees to the ghosts that come of them, so that a level is whole
 * before it is read.
 */
#ifndef LACIS_KERNELS_SWEEP_GPU_INSIDE_H
#define LACIS_KERNELS_SWEEP_GPU_INSIDE_H

#include "sweep/gpu.h"
#include "sweep/gpu_base.cuh"
#include "sweep/gpu_edges.cuh"

#include <cuda_runtime.h>

namespace sweep
{

struct Layout {
    int64_t extent[3];
    int64_t low[3], high[3]; /* cells kept beyond the faces */
    int64_t stride[3];       /* 1, a row, a plane: in cells */
    int64_t first;           /* of cell (0, 0, 0) */
    uint64_t cells;          /* in all */
};

/* One tap of the kernel for any rule. */
struct Tap {
    int64_t offset;
    int array;
    bool ends; /* the group ends behind it */
};

struct Rules {
    Tap *tap; /* on the device: of all linear rules */
    int first[LACIS_SWEEP_FIELDS + 1];
    int weight[LACIS_SWEEP_FIELDS]; /* where in `weights` a field's constant is; its weights behind it */
    double *weights;                /* on the device, numbers of the type */
};

/* Cells of the part. */
struct Box {
    int64_t begin[3], end[3];
};

} // namespace sweep

struct lacis_sweep_gpu {
    lacis_sweep_start start; /* arrays in it are not looked at once the system is made */
    cudaStream_t stream;
    void *pinned;
    const void *kernel[LACIS_SWEEP_GPU_KERNELS];
    sweep::Layout layout;
    int64_t reach[3];
    void *block[LACIS_SWEEP_ARRAYS + LACIS_SWEEP_FIELDS]; /* as given by host.alloc */
    void *level[2][LACIS_SWEEP_FIELDS];                   /* cell (0, 0, 0) */
    void *fixed[LACIS_SWEEP_ARRAYS];                      /* of coefficients */
    int now;                                              /* the present level */
    int64_t t;
    int64_t keep_low[LACIS_SWEEP_FIELDS][3], keep_high[LACIS_SWEEP_FIELDS][3];
    bool ghosts_change;    /* by steps */
    bool coefficients_new; /* in halos */
    sweep_edges *edges;
    sweep::Rules rules;
    sweep_sums *sums; /* SWEEP_SUMS of them */
    bool sums_clear;
    int alone;  /* steps that were measured one by one, up to now */
    bool ahead; /* the next level has another step, with its sums */
    double ahead_updates;
    int *bad;
    int processors, cuda_error;
    cudaEvent_t mark[2]; /* of steps under way */
    lacis_sweep_counts done;
};

namespace sweep
{

#define SWEEP_TRY(call)                                                                                              \
    do {                                                                                                             \
        const lacis_sweep_status status_ = (call);                                                                   \
        if (status_ != LACIS_SWEEP_OK) return status_;                                                               \
    } while (0)
#define SWEEP_CUDA(system, call)                                                                                     \
    do {                                                                                                             \
        const cudaError_t error_ = (call);                                                                           \
        if (error_ == cudaSuccess) break;                                                                            \
        (system)->cuda_error = (int)error_;                                                                          \
        return LACIS_SWEEP_FAILED;                                                                                   \
    } while (0)

static inline Box whole_part(const lacis_sweep_gpu *s)
{
    Box box = {};
    for (int k = 0; k < 3; k++)
        box.end[k] = s->layout.extent[k];
    return box;
}
static inline double rounded(lacis_sweep_type type, double value)
{
    return type == LACIS_SWEEP_F32 ? (double)(float)value : value;
}
static inline bool empty(const Box &box)
{
    return box.begin[0] >= box.end[0] || box.begin[1] >= box.end[1] || box.begin[2] >= box.end[2];
}

/* Cells of the part with those of neighbours around it. */
static inline Box part_with_halos(const lacis_sweep_gpu *s)
{
    Box box = whole_part(s);
    for (int k = 0; k < 3; k++) {
        if (s->start.edge[0][2 * k].kind == LACIS_SWEEP_INNER) box.begin[k] -= s->layout.low[k];
        if (s->start.edge[0][2 * k + 1].kind == LACIS_SWEEP_INNER) box.end[k] += s->layout.high[k];
    }
    return box;
}

/* --- gpu_pass.cu: the next level's cells of a box from the present level's, with the ghosts that come of them, by
 * the fastest kernel that can; sums: added to, where sums_fused says that the kernel does */
lacis_sweep_status pass(lacis_sweep_gpu *s, const Box &box, bool sums, cudaStream_t stream);
bool sums_fused(const lacis_sweep_gpu *s);
void fill_pass(const lacis_sweep_gpu *s, const Box &box, sweep_pass *out); /* but weights and how blocks are dealt */

/* --- gpu_march*.cu: kernels for one shape of rule (NULL: none for these rules), and those of programs */
const void *march_kernel(const lacis_sweep_start *start, bool sums);
const void *march_kernel_f32(const lacis_sweep_start *start, bool sums);
const void *march_kernel_f64(const lacis_sweep_start *start, bool sums);
lacis_sweep_status march(lacis_sweep_gpu *s, const void *kernel, const Box &box, bool sums, cudaStream_t stream);
extern int march_length, march_slab; /* rows that a warp marches, rows of a slab, for who measures; 0: as is best */
extern bool ghosts_apart;            /* by a kernel of their own behind each step, for who measures */

/* --- gpu_general.cu: any linear rules */
lacis_sweep_status general(lacis_sweep_gpu *s, const Box &box, cudaStream_t stream);
uint64_t general_bytes(const lacis_sweep_start *start);
lacis_sweep_status general_tables(lacis_sweep_gpu *s, void *memory);         /* general_bytes on the device */
double constant_of(lacis_sweep_type type, const lacis_sweep_linear *linear); /* what fma begins with */

/* --- gpu_ghost.cu: ghosts of level[level] (of coefficients: level < 0) that come of cells in the box; still: those
 * that are numbers, too */
lacis_sweep_status ghosts(lacis_sweep_gpu *s, int level, const Box &box, bool still, cudaStream_t stream);
bool ghosts_change(const lacis_sweep_gpu *s);               /* whether steps change any */
void near_faces(const lacis_sweep_gpu *s, sweep_pass *out); /* which cells those come of */
lacis_sweep_status ghost_tables(lacis_sweep_gpu *s);

/* --- gpu_copy.cu: dense arrays of a box, and a level's cells of it; move: either, by copies of the runtime */
lacis_sweep_status put(lacis_sweep_gpu *s, void *cells, const Box &box, const void *from, cudaStream_t stream);
lacis_sweep_status get(lacis_sweep_gpu *s, const void *cells, const Box &box, void *to, cudaStream_t stream);
lacis_sweep_status move(lacis_sweep_gpu *s, void *cells, const Box &box, void *dense, bool in, cudaStream_t stream);
/* Cells that HOLD keeps, in halos too: into the next level. */
lacis_sweep_status keep(lacis_sweep_gpu *s, cudaStream_t stream);

/* --- gpu_sums.cu */
lacis_sweep_status clear_sums(lacis_sweep_gpu *s, cudaStream_t stream); /* before they are used */
/* From the levels: present against the other one. */
lacis_sweep_status measure(lacis_sweep_gpu *s, cudaStream_t stream);
/* Puts them where the host reads them, and clears them. */
lacis_sweep_status join_sums(lacis_sweep_gpu *s, cudaStream_t stream);
void take_sums(const lacis_sweep_gpu *s, lacis_sweep_change *change); /* once they are there: adds to it */
/* Both; waits. */
lacis_sweep_status read_sums(lacis_sweep_gpu *s, lacis_sweep_change *change, cudaStream_t stream);

/* --- gpu_ahead.cu; alone: one step is asked for, and its change. take_ahead: it was done already */
bool take_ahead(lacis_sweep_gpu *s, bool alone);
lacis_sweep_status begin_ahead(lacis_sweep_gpu *s);

/* --- gpu_make.cu */
bool layout_of(const lacis_sweep_start *start, Layout *out); /* false: more than a device can address */
bool any_written(const lacis_sweep_start *start);

/* --- gpu_system.cu */
void turn(lacis_sweep_gpu *s, int levels);
lacis_sweep_status read_bad(lacis_sweep_gpu *s, cudaStream_t stream); /* waits, where rules are written */
/* One pass of the *left steps, or all, without waiting for what it asks for: read_bad and read_sums do. sums: of the
 * only step that is left. */
lacis_sweep_status begin_pass(lacis_sweep_gpu *s, int64_t *left, bool sums);
lacis_sweep_status begin_steps(lacis_sweep_gpu *s, int64_t steps, bool sums);

} // namespace sweep

#endif
