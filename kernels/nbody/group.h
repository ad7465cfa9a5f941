/* SPDX-License-Identifier: Apache-2.0
 *
 * A group: bodies, or points, that share a walk, their sums, and the lists that a walk fills for them. For type.h.
 */

/* What forces come from. */
typedef struct body {
    P x, y, z, m;
} body;

enum { ASK_WALK = 1 << 18 };
enum { MOST = NBODY_GROUP_MOST, CELLS = 256, RANGES = 256, LISTED_MOST = CELLS + EIGHT };

typedef struct group {
    _Alignas(64) P x[MOST], y[MOST], z[MOST]; /* lanes past the last have its values */
    _Alignas(64) R e[MOST];                   /* eps^2, or half of it where bodies have their own */
    _Alignas(64) R ax[MOST], ay[MOST], az[MOST], phi[MOST];
    int64_t begin, end; /* bodies of the system; none where they are points */
    int count;
    P centre[3], wide[3]; /* of the box, and halves of its sides */
    P radius;
    P reach;          /* squared: what is farther may be expanded */
    P weak, heavy;    /* RELATIVE: the least |a|^-p; that times reach of the radius */
    R mean_e, spread; /* softening of the group as a whole */
} group;

/* Cells to be taken at each body. */
typedef struct near_list {
    _Alignas(64) P x[CELLS + EIGHT], y[CELLS + EIGHT], z[CELLS + EIGHT];
    _Alignas(64) R low[3][CELLS + EIGHT];
    _Alignas(64) R m[CELLS + EIGHT], q[6][CELLS + EIGHT], e[CELLS + EIGHT];
    int count;
} near_list;

/* Cells to be expanded about the group's centre: their places from there. */
typedef struct far_list {
    _Alignas(64) R x[CELLS + EIGHT], y[CELLS + EIGHT], z[CELLS + EIGHT];
    _Alignas(64) R m[CELLS + EIGHT], q[6][CELLS + EIGHT], e[CELLS + EIGHT];
    int count;
} far_list;

/* Field, first derivatives times the radius, second ones times its square; potential. */
enum { EXPANSION = 20 };
typedef struct expansion {
    _Alignas(64) vr sum[EXPANSION];
    bool any;
} expansion;

typedef struct body_range {
    int64_t begin, end;
} body_range;

typedef struct visit {
    int64_t first;
    int64_t many;
} visit;

typedef struct walk_room {
    group group;
    near_list near;
    far_list far;
    expansion expansion;
    body_range range[RANGES];
    int ranges;
    int64_t pairs; /* bodies in the ranges */
    nbody_tally tally;
    int64_t since; /* bodies in ranges since it was last asked whether to stop */
    bool stopped;
    visit stack[]; /* seven of each level, and eight */
} walk_room;

/* What is the same all through a walk. */
typedef struct walk_rule {
    bool own_eps, potential, quadrupole, relative, low;
} walk_rule;
