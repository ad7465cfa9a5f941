/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops over a tile for one type: included by *.isa.c, once for vectors and once for single lanes, with
 *     T   the type computed in, TI an integer of its size   S   the type stored
 *     L   lanes of a vector                                 NAME(x) names of their own
 *     SLACK
 * Tiles have L or SOLVE_WIDE * L lanes. Nothing in here depends on the instruction set but its speed.
 */
typedef T NAME(vec) __attribute__((vector_size(L * sizeof(T))));
typedef TI NAME(ivec) __attribute__((vector_size(L * sizeof(T))));
typedef T NAME(there) __attribute__((vector_size(L * sizeof(T)), aligned(sizeof(T)), may_alias)); /* in memory */

#define LOAD(p)     ((NAME(vec))(*(const NAME(there) *)(p)))
#define STORE(p, v) (*(NAME(there) *)(p) = (v))
#define BITS(v)     ((NAME(ivec))(v))
#define ABS(v)      ((NAME(vec))(BITS(v) & low_bits))
#define SPLAT(x)    ((x) - (NAME(vec)){0}) /* keeps the bits of every x but -0, which no result depends on */

#include "solve/stage.h"

/* What a look at the rows gives: `sign` negative where a row is not dominant, `odd` not zero where something is not
 * finite. */
typedef struct NAME(doubt) {
    NAME(ivec) sign, odd;
} NAME(doubt);

static inline bool NAME(sure)(const NAME(doubt) * doubt, int vectors)
{
    TI bad = 0;
    for (int v = 0; v < vectors; v++)
        for (int k = 0; k < L; k++)
            bad |= (TI)(doubt[v].sign[k] < 0) | doubt[v].odd[k];
    return bad == 0;
}

/* Rows of one chunk as the loops take them. */
typedef struct NAME(rows) {
    const T *at[SOLVE_ROLES];
    int64_t step[SOLVE_ROLES];
    int64_t ahead[SOLVE_ROLES]; /* elements from a row to one that is to be fetched; 0: it is near */
} NAME(rows);

enum { NAME(AHEAD) = 32 }; /* rows, fetched into the second-level cache */

static inline __attribute__((always_inline)) void NAME(bring)(const solve_tile *tile, solve_role from,
                                                              const int vectors, bool scalar, int64_t row,
                                                              int64_t count, NAME(rows) * out)
{
    for (int role = (int)from; role < SOLVE_ROLES; role++) {
        const solve_view *view = &tile->in[role];
        bool off = role == SOLVE_LOWER || role == SOLVE_UPPER;
        bool as_is = view->mode == SOLVE_DIRECT || (scalar && off);
        out->step[role] = as_is ? view->step : vectors * L;
        out->ahead[role] =
            as_is && !(scalar && off) ? (tile->tree.parent != NULL ? -NAME(AHEAD) : NAME(AHEAD)) * view->step : 0;
        out->at[role] = as_is ? (const T *)(const void *)view->at + row * view->step : tile->stage[role];
        if (!as_is) NAME(stage)(tile, (solve_role)role, vectors * L, row, count, tile->stage[role]);
    }
}

/* Both off-diagonals are shared and can be read one by one. */
static inline bool NAME(scalar)(const solve_tile *tile)
{
    return sizeof(S) == sizeof(T) && tile->in[SOLVE_LOWER].mode == SOLVE_SPLAT &&
           tile->in[SOLVE_UPPER].mode == SOLVE_SPLAT;
}

/* The row's part in `doubt`: off is the sum of the moduli of its other elements. */
static inline __attribute__((always_inline)) void NAME(look)(NAME(doubt) * doubt, const NAME(vec) * off,
                                                             const NAME(vec) * diagonal, const NAME(vec) * rhs,
                                                             const NAME(vec) * w)
{
    const NAME(ivec) low_bits = (NAME(ivec)){0} + (TI)(UINT64_MAX >> (65 - 8 * sizeof(TI)));
    NAME(vec) size = ABS(*diagonal), all = ((*off + size) + *rhs) + *w;
    doubt->sign |= BITS(size * (T)SLACK - *off);
    doubt->odd |= BITS(all - all);
}

#define VECTORS              _Pragma("GCC unroll 4") for (int v = 0; v < vectors; v++)
#define OFF_ROLE(role, p)    (scalar ? SPLAT(*(p)) : LOAD((p) + v * L))
#define FETCH(rows, role, p) __builtin_prefetch((p) + (rows)->ahead[role] + v * L, 0, 2)

/* x to where it belongs; `past`: see solve_past. */
static inline __attribute__((always_inline)) void NAME(put)(bool past, T *to, const NAME(vec) * x)
{
    if (past && L > 1 && (uintptr_t)to % SOLVE_VECTOR_BYTES == 0) {
        solve_past(to, x);
    } else {
        STORE(to, *x);
    }
}

/* --- chains ----------------------------------------------------------------------------------------- */

typedef struct NAME(chain_state) {
    NAME(vec) q[SOLVE_WIDE], y[SOLVE_WIDE];
    NAME(doubt) doubt[SOLVE_WIDE];
} NAME(chain_state);

/* Rows of a chunk; first and last say that the chain begins and ends with it. */
static inline __attribute__((always_inline)) void NAME(chain_rows)(const NAME(rows) * in, int64_t from, int64_t to,
                                                                   const int vectors, const bool scalar,
                                                                   const bool first, const bool last, T *q, T *y,
                                                                   NAME(chain_state) * state)
{
    const NAME(ivec) low_bits = (NAME(ivec)){0} + (TI)(UINT64_MAX >> (65 - 8 * sizeof(TI)));
    NAME(chain_state) s = *state;
    for (int64_t r = from; r < to; r++) {
        const T *pa = in->at[SOLVE_LOWER] + r * in->step[SOLVE_LOWER];
        const T *pb = in->at[SOLVE_DIAGONAL] + r * in->step[SOLVE_DIAGONAL];
        const T *pc = in->at[SOLVE_UPPER] + r * in->step[SOLVE_UPPER];
        const T *pd = in->at[SOLVE_RHS] + r * in->step[SOLVE_RHS];
        VECTORS
        {
            const NAME(vec) none = {0};
            NAME(vec) a = first ? none : OFF_ROLE(SOLVE_LOWER, pa), c = last ? none : OFF_ROLE(SOLVE_UPPER, pc);
            NAME(vec) b = LOAD(pb + v * L), d = LOAD(pd + v * L);
            if (!scalar) FETCH(in, SOLVE_LOWER, pa);
            if (!scalar) FETCH(in, SOLVE_UPPER, pc);
            FETCH(in, SOLVE_DIAGONAL, pb);
            FETCH(in, SOLVE_RHS, pd);
            NAME(vec) w = (T)1 / (b - a * s.q[v]), off = ABS(a) + ABS(c);
            NAME(look)(&s.doubt[v], &off, &b, &d, &w);
            s.q[v] = c * w;
            s.y[v] = (d - a * s.y[v]) * w;
            STORE(q + (r * vectors + v) * L, s.q[v]);
            STORE(y + (r * vectors + v) * L, s.y[v]);
        }
    }
    *state = s;
}

static inline __attribute__((always_inline)) bool NAME(chain_down)(const solve_tile *tile, const int vectors,
                                                                   const bool scalar)
{
    NAME(chain_state) state = {0};
    for (int64_t row = 0; row < tile->rows; row += SOLVE_CHUNK) {
        int64_t count = tile->rows - row < SOLVE_CHUNK ? tile->rows - row : SOLVE_CHUNK;
        bool first = row == 0, last = row + count == tile->rows;
        int64_t from = first ? 1 : 0, to = last ? count - 1 : count;
        NAME(rows) in;
        T *q = (T *)tile->q + row * vectors * L, *y = (T *)tile->y + row * vectors * L;
        NAME(bring)(tile, SOLVE_LOWER, vectors, scalar, row, count, &in);
        if (first && tile->rows == 1) {
            NAME(chain_rows)(&in, 0, 1, vectors, scalar, true, true, q, y, &state);
            break;
        }
        if (first) NAME(chain_rows)(&in, 0, 1, vectors, scalar, true, false, q, y, &state);
        NAME(chain_rows)(&in, from, to, vectors, scalar, false, false, q, y, &state);
        if (last) NAME(chain_rows)(&in, to, count, vectors, scalar, false, true, q, y, &state);
    }
    return NAME(sure)(state.doubt, vectors);
}

/* Whether x stays where y is until the whole tile is done, for send_lanes. */
static inline bool NAME(late)(const solve_tile *tile)
{
    return L > 1 && tile->past && tile->x.mode == SOLVE_TURN;
}

/* Where a chunk of x is to be made, and how far its rows are apart. */
static inline T *NAME(x_rows)(const solve_tile *tile, int vectors, int64_t row, int64_t *step)
{
    bool direct = tile->x.mode == SOLVE_DIRECT;
    if (NAME(late)(tile)) {
        *step = vectors * L;
        return (T *)tile->y + row * *step;
    }
    *step = direct ? tile->x.step : vectors * L;
    return direct ? (T *)(void *)tile->x.at + row * *step : tile->stage[SOLVE_ROLES];
}

static inline __attribute__((always_inline)) void NAME(chain_up)(const solve_tile *tile, const int vectors,
                                                                 const bool factored)
{
    NAME(vec) x[SOLVE_WIDE] = {0};
    const T *shared = factored ? tile->factor->q : NULL;
    const bool past = tile->past && tile->x.mode == SOLVE_DIRECT, late = NAME(late)(tile);
    for (int64_t end = tile->rows; end > 0;) {
        int64_t row = (end - 1) / SOLVE_CHUNK * SOLVE_CHUNK, step;
        T *to = NAME(x_rows)(tile, vectors, row, &step);
        for (int64_t r = end - 1; r >= row; r--)
            VECTORS
            {
                const T *q = (const T *)tile->q + (r * vectors + v) * L,
                        *y = (const T *)tile->y + (r * vectors + v) * L;
                x[v] = LOAD(y) - (factored ? SPLAT(shared[r]) : LOAD(q)) * x[v];
                NAME(put)(past, to + (r - row) * step + v * L, &x[v]);
            }
        if (tile->x.mode != SOLVE_DIRECT && !late) NAME(unstage)(tile, vectors * L, row, end - row, to);
        end = row;
    }
    if (late) NAME(send_lanes)(tile, vectors * L);
}

static inline __attribute__((always_inline)) bool NAME(chain)(const solve_tile *tile, const int vectors)
{
    bool sure = NAME(scalar)(tile) ? NAME(chain_down)(tile, vectors, true) : NAME(chain_down)(tile, vectors, false);
    NAME(chain_up)(tile, vectors, false);
    return sure;
}

static inline __attribute__((always_inline)) bool NAME(chain_factored)(const solve_tile *tile, const int vectors)
{
    const solve_factor *factor = tile->factor;
    const T *lower = factor->off, *w = factor->w;
    NAME(vec) y[SOLVE_WIDE] = {0};
    NAME(doubt) doubt[SOLVE_WIDE] = {0};
    for (int64_t row = 0; row < tile->rows; row += SOLVE_CHUNK) {
        int64_t count = tile->rows - row < SOLVE_CHUNK ? tile->rows - row : SOLVE_CHUNK;
        NAME(rows) in;
        NAME(bring)(tile, SOLVE_RHS, vectors, false, row, count, &in);
        for (int64_t r = 0; r < count; r++) {
            const T *pd = in.at[SOLVE_RHS] + r * in.step[SOLVE_RHS];
            VECTORS
            {
                NAME(vec) d = LOAD(pd + v * L);
                FETCH(&in, SOLVE_RHS, pd);
                doubt[v].odd |= BITS(d - d);
                y[v] = (d - SPLAT(lower[row + r]) * y[v]) * SPLAT(w[row + r]);
                STORE((T *)tile->y + ((row + r) * vectors + v) * L, y[v]);
            }
        }
    }
    NAME(chain_up)(tile, vectors, true);
    return NAME(sure)(doubt, vectors);
}

/* --- trees ------------------------------------------------------------------------------------------ */

/* From the last row of a chunk to its first: q and y, whose places hold the sums of the children until then. */
static inline __attribute__((always_inline)) void NAME(tree_rows)(const solve_tile *tile, const NAME(rows) * in,
                                                                  int64_t row, int64_t count, const int vectors,
                                                                  const bool scalar, NAME(doubt) * doubt)
{
    const NAME(ivec) low_bits = (NAME(ivec)){0} + (TI)(UINT64_MAX >> (65 - 8 * sizeof(TI)));
    const int64_t width = (int64_t)vectors * L;
    for (int64_t r = count - 1; r >= 0; r--) {
        const int64_t i = row + r, p = tile->tree.parent[i];
        const bool leaf = tile->tree.last[i] < 0, root = p < 0, first = !root && tile->tree.last[p] == i;
        const T *pb = in->at[SOLVE_LOWER] + r * in->step[SOLVE_LOWER];
        const T *pm = in->at[SOLVE_DIAGONAL] + r * in->step[SOLVE_DIAGONAL];
        const T *pa = in->at[SOLVE_UPPER] + r * in->step[SOLVE_UPPER];
        const T *pd = in->at[SOLVE_RHS] + r * in->step[SOLVE_RHS];
        T *q = (T *)tile->q + i * width, *y = (T *)tile->y + i * width, *z = (T *)tile->z + i * width;
        VECTORS
        {
            const NAME(vec) none = {0};
            NAME(vec) b = root ? none : OFF_ROLE(SOLVE_LOWER, pb), a = root ? none : OFF_ROLE(SOLVE_UPPER, pa);
            NAME(vec) m = LOAD(pm + v * L), d = LOAD(pd + v * L), off = ABS(b), w, own;
            if (!scalar) FETCH(in, SOLVE_UPPER, pa);
            if (!scalar) FETCH(in, SOLVE_LOWER, pb);
            FETCH(in, SOLVE_DIAGONAL, pm);
            FETCH(in, SOLVE_RHS, pd);
            w = (T)1 / (leaf ? m : m - LOAD(q + v * L));
            if (!leaf) off += LOAD(z + v * L);
            NAME(look)(&doubt[v], &off, &m, &d, &w);
            own = b * w;
            d = (leaf ? d : d - LOAD(y + v * L)) * w;
            STORE(q + v * L, own);
            STORE(y + v * L, d);
            if (root) continue;
            T *up_q = (T *)tile->q + p * width + v * L, *up_y = (T *)tile->y + p * width + v * L;
            T *up_z = (T *)tile->z + p * width + v * L;
            STORE(up_q, first ? a * own : LOAD(up_q) + a * own);
            STORE(up_y, first ? a * d : LOAD(up_y) + a * d);
            STORE(up_z, first ? ABS(a) : LOAD(up_z) + ABS(a));
        }
    }
}

static inline __attribute__((always_inline)) bool NAME(tree_up)(const solve_tile *tile, const int vectors,
                                                                const bool scalar)
{
    NAME(doubt) doubt[SOLVE_WIDE] = {0};
    for (int64_t end = tile->rows; end > 0;) {
        int64_t row = (end - 1) / SOLVE_CHUNK * SOLVE_CHUNK;
        NAME(rows) in;
        NAME(bring)(tile, SOLVE_LOWER, vectors, scalar, row, end - row, &in);
        NAME(tree_rows)(tile, &in, row, end - row, vectors, scalar, doubt);
        end = row;
    }
    return NAME(sure)(doubt, vectors);
}

/* x takes the places of y, where later rows find their parents'. */
static inline __attribute__((always_inline)) void NAME(tree_down)(const solve_tile *tile, const int vectors,
                                                                  const bool factored)
{
    const int64_t width = (int64_t)vectors * L;
    const T *shared = factored ? tile->factor->q : NULL;
    const bool past = tile->past && tile->x.mode == SOLVE_DIRECT, late = NAME(late)(tile);
    for (int64_t row = 0; row < tile->rows; row += SOLVE_CHUNK) {
        int64_t count = tile->rows - row < SOLVE_CHUNK ? tile->rows - row : SOLVE_CHUNK, step;
        T *to = NAME(x_rows)(tile, vectors, row, &step);
        for (int64_t i = row; i < row + count; i++) {
            const int64_t p = tile->tree.parent[i];
            const T *q = (const T *)tile->q + i * width, *up = (const T *)tile->y + (p < 0 ? 0 : p) * width;
            T *y = (T *)tile->y + i * width;
            VECTORS
            {
                NAME(vec) x = LOAD(y + v * L);
                if (p >= 0) x -= (factored ? SPLAT(shared[i]) : LOAD(q + v * L)) * LOAD(up + v * L);
                STORE(y + v * L, x);
                if (!late) NAME(put)(past, to + (i - row) * step + v * L, &x);
            }
        }
        if (tile->x.mode != SOLVE_DIRECT && !late) NAME(unstage)(tile, vectors * L, row, count, to);
    }
    if (late) NAME(send_lanes)(tile, vectors * L);
}

static inline __attribute__((always_inline)) bool NAME(tree)(const solve_tile *tile, const int vectors)
{
    bool sure = NAME(scalar)(tile) ? NAME(tree_up)(tile, vectors, true) : NAME(tree_up)(tile, vectors, false);
    NAME(tree_down)(tile, vectors, false);
    return sure;
}

static inline __attribute__((always_inline)) bool NAME(tree_factored)(const solve_tile *tile, const int vectors)
{
    const int64_t width = (int64_t)vectors * L;
    const T *upper = tile->factor->off, *w = tile->factor->w;
    NAME(doubt) doubt[SOLVE_WIDE] = {0};
    for (int64_t end = tile->rows; end > 0;) {
        int64_t row = (end - 1) / SOLVE_CHUNK * SOLVE_CHUNK;
        NAME(rows) in;
        NAME(bring)(tile, SOLVE_RHS, vectors, false, row, end - row, &in);
        for (int64_t i = end - 1; i >= row; i--) {
            const int64_t p = tile->tree.parent[i];
            const bool leaf = tile->tree.last[i] < 0, first = p >= 0 && tile->tree.last[p] == i;
            const T *pd = in.at[SOLVE_RHS] + (i - row) * in.step[SOLVE_RHS];
            T *y = (T *)tile->y + i * width, *up = (T *)tile->y + (p < 0 ? 0 : p) * width;
            VECTORS
            {
                NAME(vec) d = LOAD(pd + v * L);
                FETCH(&in, SOLVE_RHS, pd);
                doubt[v].odd |= BITS(d - d);
                d = (leaf ? d : d - LOAD(y + v * L)) * SPLAT(w[i]);
                STORE(y + v * L, d);
                if (p >= 0) {
                    NAME(vec) own = SPLAT(upper[i]) * d;
                    STORE(up + v * L, first ? own : LOAD(up + v * L) + own);
                }
            }
        }
        end = row;
    }
    NAME(tree_down)(tile, vectors, true);
    return NAME(sure)(doubt, vectors);
}

#undef LOAD
#undef STORE
#undef BITS
#undef ABS
#undef SPLAT
#undef VECTORS
#undef OFF_ROLE
#undef FETCH
