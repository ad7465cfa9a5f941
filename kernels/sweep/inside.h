/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of kernels/sweep share on the CPU: how a system lies in memory and is cut into tasks, and the loops
 * that each type has in each instruction set.
 *
 * Axes. Inside, planes of x and y follow each other along z, whatever the grid's dimensions: a grid of two has its y
 * as z here (and y of extent 1), so that rows are marched over just as planes are. sweep_axis tells the caller's
 * axis.
 *
 * Memory. Each array lies in planes of rows with cells around them: ghosts, as deep as taps reach, and halos. Ghosts
 * along x and y are filled with each plane (edges.c), so that loops over rows never look where they are; planes
 * beyond the ends of z are found when they are read (planes.c).
 *
 * A pass takes one or more steps (levels) over a box (pass.c). Its tasks are tiles of x and y that march along z;
 * level l of a step is computed as soon as the level before has the planes that it needs. Level 0 is the array
 * itself, the last level is written into the array's other copy, those between live in rings of 2 reach + 1 planes of
 * the worker. Where a tile's side is no face of the grid, levels begin so much farther out that the last is as large
 * as the tile (neighbours compute these cells, too: the same bits).
 */
#ifndef LACIS_KERNELS_SWEEP_INSIDE_H
#define LACIS_KERNELS_SWEEP_INSIDE_H

#include "sweep/sweep.h"

#include <stddef.h>

#define LACIS_ISA_GLUE2(name, isa) name##_##isa
#define LACIS_ISA_GLUE(name, isa)  LACIS_ISA_GLUE2(name, isa)
#define LACIS_ISA(name)            LACIS_ISA_GLUE(name, LACIS_ISA_NAME)

enum {
    SWEEP_LINE = 64,        /* bytes; rows begin at a multiple of it */
    SWEEP_SLACK = 128,      /* bytes before and behind arrays: loops take whole vectors */
    SWEEP_BUNDLE = 4,       /* rows that a loop may take side by side */
    SWEEP_LEVELS_MOST = 32, /* of one pass */
    SWEEP_X = 0,
    SWEEP_Y = 1,
    SWEEP_Z = 2
};

/* How cells lie around cell (0, 0, 0): from -before to extent + behind - 1; pitch, plane in bytes. */
typedef struct sweep_shape {
    int64_t before[3], behind[3];
    int64_t pitch, plane;
    uint64_t first, bytes; /* offset of cell (0, 0, 0); of all */
} sweep_shape;

/* What follows from a start alone (plan.c); axes as inside. */
typedef struct sweep_plan {
    int64_t n[3], whole[3], origin[3], halo[3]; /* halo 0 where there are no INNER faces */
    int64_t reach[3];
    bool inner[3][2];
    bool open[3]; /* periodic, and tiles reach over the ends: the array has ghosts deep enough */
    int64_t ghost[3];
    int levels;
    int64_t tile[3];
    sweep_shape array, ring; /* ring: a plane of it alone */
    int64_t ring_planes;
    uint64_t ring_inverse; /* 2^64 / ring_planes, rounded up */
    int group;             /* planes of a level at a time */
    int taps, threads;     /* taps: the most of a rule */
    uint64_t stream_from;  /* bytes of fields from which on results go past the caches */
    uint64_t ring_bytes, ghost_bytes, column_bytes, worker_bytes, table_bytes, bytes;
} sweep_plan;

/* Neighbours along x, rows and planes. */
enum { SWEEP_LEFT, SWEEP_UP, SWEEP_DOWN, SWEEP_LOW, SWEEP_HIGH, SWEEP_PLACES };

/* Two levels of four rows each (joined.h): rows -1 .. 4 of the level before, rows -2 .. 3 of the level between, and
 * rows -1 .. 2 of the level after. */
enum { SWEEP_AROUND = SWEEP_BUNDLE + 2 };
typedef struct sweep_joined {
    const void *from[SWEEP_AROUND];
    void *between[SWEEP_AROUND]; /* the first two are read, the last two written */
    void *out[SWEEP_BUNDLE];
} sweep_joined;

typedef struct sweep_rule {
    bool written;
    int taps;
    const lacis_sweep_tap *tap; /* axes as inside */
    int groups;
    const int *first;
    const void *weight; /* of the type */
    double constant;    /* rounded to the type */
    /* LINEAR: n cells at `out`. */
    void (*row)(const struct sweep_rule *rule, const void *const *tap, void *out, int64_t n, bool stream);
    /* SWEEP_BUNDLE rows (bundle.h), each one's taps behind the other's, `out` at lines; NULL: has none. */
    void (*rows)(const struct sweep_rule *rule, const void *const *tap, void *const *out, int64_t n, bool stream);
    /* Cells [0, n) of the level between and [-line, n - line) of the level after, n in whole vectors; of the former
     * two lines before are there. NULL: has none. */
    void (*joined)(const struct sweep_rule *rule, const sweep_joined *rows, int64_t n, bool stream);
    int place[SWEEP_PLACES]; /* of those taps, where `rows` is */
} sweep_rule;

/* One face of one array. */
typedef struct sweep_face {
    lacis_sweep_edge_kind kind; /* never HOLD: CLAMP, and held */
    bool held;
    double a[LACIS_SWEEP_RADIUS], b[LACIS_SWEEP_RADIUS];
    char *values; /* VALUES: own copy */
} sweep_face;

/* Cell (0, 0) of a plane. */
typedef struct sweep_plane {
    char *at;
    int64_t pitch;
} sweep_plane;

/* Sums of a row of tiles: for each column of the tile's cells. */
typedef struct sweep_columns {
    double *squares;
    void *most; /* of the type */
} sweep_columns;

typedef struct sweep_loops {
    int size;
    /* Sets the loops of a linear rule of a grid of `dims` dimensions. */
    void (*choose)(sweep_rule *rule, int dims);
    void (*weights)(const double *from, int count, void *to);
    /* to[i] = fma(b, from[i], a); b 0: a */
    void (*affine)(double a, double b, const void *from, void *to, int64_t n);
    /* Adds |now - old| of n cells to columns. */
    void (*change)(const void *now, const void *old, int64_t n, double *squares, void *most);
    /* Columns of n cells, the first being `x` of the whole grid, into change; clears them. */
    void (*settle)(double *squares, void *most, int64_t x, int64_t n, lacis_sweep_change *change);
} sweep_loops;

typedef struct sweep_kernels {
    const char *name;
    const sweep_loops *loops[2];
} sweep_kernels;
extern const sweep_kernels lacis_sweep_kernels_baseline, lacis_sweep_kernels_avx2, lacis_sweep_kernels_avx512;
const sweep_kernels *lacis_sweep_kernels(void);

typedef struct sweep_worker {
    char *room;            /* rings, columns */
    const void **tap;      /* of a row */
    sweep_plane *tap_base; /* of a plane: where its row 0 begins */
    sweep_columns columns[LACIS_SWEEP_FIELDS];
    lacis_sweep_change change;
    double updates;
} sweep_worker;

struct lacis_sweep {
    lacis_sweep_start start; /* as the caller gave it; arrays not used after new */
    sweep_plan plan;
    const sweep_loops *loops;
    int arrays, now; /* present copy of moving fields */
    int64_t t;
    sweep_rule rule[LACIS_SWEEP_FIELDS];
    sweep_face face[LACIS_SWEEP_ARRAYS][LACIS_SWEEP_FACES]; /* faces as inside */
    char *array[2][LACIS_SWEEP_ARRAYS];                     /* cell (0, 0, 0); coefficients in [0] */
    char *block[2][LACIS_SWEEP_ARRAYS];                     /* as taken */
    char *tables;                                           /* taps, weights, values of faces */
    sweep_worker *worker;
    char *rooms;
    lacis_sweep_counts counts;
};

/* One pass: `levels` steps over a box. */
typedef struct sweep_pass {
    lacis_sweep *system;
    int levels;
    int64_t begin[3], end[3], tiles[3], tile[3];
    bool change, stream;
    bool ends; /* tiles have whole rows, and fill the ghosts at their ends */
} sweep_pass;

/* A tile of a pass. */
typedef struct sweep_task {
    const sweep_pass *pass;
    sweep_worker *worker;
    int index; /* of the worker */
    int64_t begin[3], end[3];
} sweep_task;

/* Some rows of a field that are computed side by side: neighbours along z in a grid of two dimensions, along y of one
 * plane in one of three. Cells are numbered as the part's. */
typedef struct sweep_row {
    int64_t y, z;
    char *out;               /* cell 0 */
    const char *old;         /* cell 0 of the level before */
    const sweep_plane *base; /* where its taps' rows 0 begin */
} sweep_row;
typedef struct sweep_bundle {
    const sweep_task *task;
    int level, field, rows;
    int64_t begin, end; /* of x */
    sweep_row row[SWEEP_BUNDLE];
} sweep_bundle;

static inline uint64_t sweep_lines(uint64_t bytes)
{
    return (bytes + SWEEP_LINE - 1) / SWEEP_LINE * SWEEP_LINE;
}
static inline int64_t sweep_wrap(int64_t at, int64_t n)
{
    const int64_t rest = at % n;
    return rest < 0 ? rest + n : rest;
}
/* z modulo ring_planes without a division; exact for |z| < 2^40. */
static inline int64_t sweep_slot(const sweep_plan *plan, int64_t z)
{
    if (plan->ring_planes == 1) return 0;
    const uint64_t from_0 = (uint64_t)(z + (plan->ring_planes << 40));
    const uint64_t times = (uint64_t)(((unsigned __int128)from_0 * plan->ring_inverse) >> 64);
    return (int64_t)(from_0 - times * (uint64_t)plan->ring_planes);
}
static inline int sweep_axis(int dims, int axis)
{
    return dims != 2 || axis == SWEEP_X ? axis : SWEEP_Y + SWEEP_Z - axis;
}
/* A face of the grid, beyond which are ghosts that edges give. */
static inline bool sweep_ends(const sweep_plan *plan, int axis, int side)
{
    return !plan->inner[axis][side] && !plan->open[axis];
}

/* plan.c */
bool lacis_sweep_plan(const lacis_sweep_start *start, sweep_plan *plan);
/* Of an array of VALUES; `face` of the caller's axes. */
uint64_t lacis_sweep_face_bytes(lacis_sweep_type type, const sweep_plan *plan, int dims, int face);

/* edges.c: what one array has beyond the faces of x and y, in a plane that holds cells [begin, end) of x and y and
 * ends at faces where `ends` says so. z is the plane's (VALUES). */
typedef struct sweep_window {
    int64_t begin[2], end[2];
    bool ends[2][2];
    int64_t deep[2]; /* ghosts */
    bool rows_done;  /* those along x are there already */
} sweep_window;
void lacis_sweep_edges(const lacis_sweep *system, int array, sweep_plane plane, const sweep_window *window,
                       int64_t z);
/* Plane k (1 ..) beyond a face of z, AFFINE, of the cells (ghosts too) of the plane that it comes from. */
void lacis_sweep_affine_plane(const lacis_sweep *system, int array, int side, int k, sweep_plane from, sweep_plane to,
                              const sweep_window *window);
/* All ghosts of one copy of arrays first .. end - 1; rows_done: but those along x, which are there. */
void lacis_sweep_ghosts(lacis_sweep *system, int first, int end, int copy, bool rows_done);

/* planes.c: plane z of an array at a level of a task, z beyond the ends of the grid too. */
sweep_plane lacis_sweep_plane(const sweep_task *task, int level, int array, int64_t z);
sweep_plane lacis_sweep_array_plane(const lacis_sweep *system, int copy, int array, int64_t z);
sweep_plane lacis_sweep_ring_plane(const sweep_task *task, int level, int field, int64_t z);
sweep_plane lacis_sweep_ghost_plane(const sweep_task *task, int level, int field, int side, int k);

/* rows.c: puts a row into the bundle, or copies it where it is held; computes the bundle's rows and empties it
 * (false: a written rule failed). */
void lacis_sweep_put_row(sweep_bundle *bundle, const sweep_row *row);
bool lacis_sweep_flush(sweep_bundle *bundle);
/* Two levels' bundles at once, `high` one row behind `low`: columns [begin, end) of the former, a line before those
 * of the latter. False: there are too few. _low: all else of the low one, whose edges come then; _high: what is
 * joined, and all else of the high one. from, before: rows of the level before the low one, and the two of it that
 * the bundle before has left. */
bool lacis_sweep_joint(const sweep_bundle *low, const sweep_bundle *high, int64_t *begin, int64_t *end);
void lacis_sweep_join_low(sweep_bundle *low, int64_t begin, int64_t end);
void lacis_sweep_join_high(sweep_bundle *low, sweep_bundle *high, const sweep_plane *from, const sweep_plane *before,
                           int64_t begin, int64_t end);

/* pass.c */
/* ends: whether ghosts along x are to be filled where that can be done; told whether they were. NULL: not. */
lacis_sweep_status lacis_sweep_run(lacis_sweep *system, const int64_t begin[3], const int64_t end[3], int levels,
                                   lacis_sweep_change *change, bool *ends);

#endif
