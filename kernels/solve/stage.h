/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of a tile brought from where they are stored into the shape in which loops.h computes, and back: a chunk of
 * rows, lanes side by side. Included by loops.h with its T, S, L and NAME.
 */

/* What lies outside the matrix is 0; lanes that are not there, or at their end, are rows of the identity. */
static void NAME(gather)(const solve_tile *tile, solve_role role, int width, int64_t row, int64_t count, T *to)
{
    const solve_view *view = &tile->in[role];
    const T outside = role == SOLVE_DIAGONAL;
    for (int l = 0; l < width; l++) {
        int64_t own = l < tile->lanes ? tile->lane_rows[l] - row : 0;
        const S *from = l < tile->lanes ? (const S *)(const void *)view->lane[l] + row * view->lane_step[l] : NULL;
        int64_t step = l < tile->lanes ? view->lane_step[l] : 0, inside = own < count ? own < 0 ? 0 : own : count;
        for (int64_t r = 0; r < inside; r++)
            to[r * width + l] = (T)from[r * step];
        for (int64_t r = inside; r < count; r++)
            to[r * width + l] = outside;
        if (role == SOLVE_UPPER && tile->tree.parent == NULL && own >= 1 && own <= count)
            to[(own - 1) * width + l] = 0;
    }
}

#if L > 1
/* A square of lanes and rows in registers is transposed in steps that swap ever larger squares within. */
#if defined(__AVX512F__)
#define TURN_BYTES 64
#elif defined(__AVX2__)
#define TURN_BYTES 32
#else
#define TURN_BYTES 16
#endif
#define TURN ((int)(TURN_BYTES / sizeof(T)))
typedef T NAME(turn) __attribute__((vector_size(TURN_BYTES), aligned(sizeof(T)), may_alias));
typedef TI NAME(iturn) __attribute__((vector_size(TURN_BYTES)));
typedef S NAME(stored)
    __attribute__((vector_size(TURN_BYTES / sizeof(T) * sizeof(S)), aligned(sizeof(S)), may_alias));

static inline __attribute__((always_inline)) void NAME(swap)(NAME(turn) * square, const int distance)
{
    NAME(iturn) low, high;
#pragma GCC unroll 16
    for (int k = 0; k < TURN; k++) {
        low[k] = (k & distance) ? TURN + k - distance : k;
        high[k] = (k & distance) ? TURN + k : k + distance;
    }
#pragma GCC unroll 16
    for (int i = 0; i < TURN; i++) {
        if (i & distance) continue;
        NAME(turn) x = square[i], y = square[i + distance];
        square[i] = __builtin_shuffle(x, y, low);
        square[i + distance] = __builtin_shuffle(x, y, high);
    }
}

static inline __attribute__((always_inline)) void NAME(transpose)(NAME(turn) * square)
{
    NAME(swap)(square, 1);
    if (TURN > 2) NAME(swap)(square, 2);
    if (TURN > 4) NAME(swap)(square, 4);
    if (TURN > 8) NAME(swap)(square, 8);
}

/* Where rows lie that are wanted a while later: of the lanes at hand, or, at their end, of those behind them. */
static int64_t NAME(turn_ahead)(const solve_tile *tile, int width, int64_t row)
{
    const int64_t chunks = 4 * SOLVE_CHUNK, rows = tile->rows;
    if (tile->tree.parent != NULL) return row < chunks ? (width + 1) * rows - chunks : -chunks;
    return row + chunks < rows ? chunks : (width - 1) * rows + chunks;
}

/* Rows [row, row + count) of full lanes; answers how many were done: all but of lanes shorter than a square, for the
 * last square may begin anywhere, with rows of the one before or of the chunk before. */
static int64_t NAME(turn_in)(const solve_tile *tile, const solve_view *view, int width, int64_t row, int64_t count,
                             T *to)
{
    const int64_t ahead = NAME(turn_ahead)(tile, width, row);
    if (row + count < TURN) return 0;
    for (int l = 0; l < width; l += TURN)
        for (int64_t begin = 0; begin < count; begin += TURN) {
            const int64_t r = begin + TURN <= count ? begin : count - TURN;
            NAME(turn) square[TURN];
#pragma GCC unroll 16
            for (int k = 0; k < TURN; k++) {
                const S *from = (const S *)(const void *)view->lane[l + k] + row + r;
                square[k] = __builtin_convertvector(*(const NAME(stored) *)from, NAME(turn));
                __builtin_prefetch(from + ahead, 0, 2); /* into the second-level cache */
            }
            NAME(transpose)(square);
#pragma GCC unroll 16
            for (int k = 0; k < TURN; k++)
                if (r + k >= 0) *(NAME(turn) *)(to + (r + k) * width + l) = square[k];
        }
    return count;
}

/* Lanes [l, l + TURN) of rows [0, count) from `from`, one lane behind the other in `to`. */
static void NAME(turn_lanes)(int width, int64_t count, const T *from, S *to)
{
    const int64_t done = count / TURN * TURN;
    for (int64_t r = 0; r < done; r += TURN) {
        NAME(turn) square[TURN];
#pragma GCC unroll 16
        for (int k = 0; k < TURN; k++)
            square[k] = *(const NAME(turn) *)(from + (r + k) * width);
        NAME(transpose)(square);
#pragma GCC unroll 16
        for (int k = 0; k < TURN; k++)
            *(NAME(stored) *)(to + k * count + r) = __builtin_convertvector(square[k], NAME(stored));
    }
    for (int k = 0; k < TURN; k++)
        for (int64_t r = done; r < count; r++)
            to[k * count + r] = (S)from[r * width + k];
}

/* A stretch of a lane to where it belongs: lines that are written whole go past the caches. */
static void NAME(send)(S *to, const S *from, int64_t count)
{
    const int64_t line = SOLVE_VECTOR_BYTES / (int64_t)sizeof(S);
    int64_t i = 0;
    for (; i < count && (uintptr_t)(to + i) % SOLVE_VECTOR_BYTES != 0; i++)
        to[i] = from[i];
    for (; i + line <= count; i += line)
        solve_past(to + i, from + i);
    for (; i < count; i++)
        to[i] = from[i];
}

/* x of a whole tile, which lies where y was, to its Flat lanes. They begin anywhere, so a square of lanes and rows
 * has lines of its own in no lane: long stretches are turned first, where q was. */
static void NAME(send_lanes)(const solve_tile *tile, int width)
{
    const int64_t most = 248; /* rows: they stay in the first-level cache, and do not lie 4096 bytes apart */
    const T *x = tile->y;
    S *turned = tile->q;
    for (int l = 0; l < width; l += TURN)
        for (int64_t row = 0; row < tile->rows; row += most) {
            const int64_t count = tile->rows - row < most ? tile->rows - row : most;
            NAME(turn_lanes)(width, count, x + row * width + l, turned);
            for (int k = 0; k < TURN; k++)
                NAME(send)((S *)(void *)tile->x.lane[l + k] + row, turned + k * count, count);
        }
}

static int64_t NAME(turn_out)(const solve_view *view, int width, int64_t row, int64_t count, const T *from)
{
    const int64_t done = count / TURN * TURN;
    for (int l = 0; l < width; l += TURN)
        for (int64_t r = 0; r < done; r += TURN) {
            NAME(turn) square[TURN];
#pragma GCC unroll 16
            for (int k = 0; k < TURN; k++)
                square[k] = *(const NAME(turn) *)(from + (r + k) * width + l);
            NAME(transpose)(square);
#pragma GCC unroll 16
            for (int k = 0; k < TURN; k++) {
                S *to = (S *)(void *)view->lane[l + k] + row + r;
                *(NAME(stored) *)to = __builtin_convertvector(square[k], NAME(stored));
            }
        }
    return done;
}
#undef TURN
#undef TURN_BYTES
#else
static int64_t NAME(turn_in)(const solve_tile *tile, const solve_view *view, int width, int64_t row, int64_t count,
                             T *to)
{
    (void)tile, (void)view, (void)width, (void)row, (void)count, (void)to;
    return 0;
}

static int64_t NAME(turn_out)(const solve_view *view, int width, int64_t row, int64_t count, const T *from)
{
    (void)view, (void)width, (void)row, (void)count, (void)from;
    return 0;
}

static void NAME(send_lanes)(const solve_tile *tile, int width)
{
    (void)tile, (void)width;
}
#endif

static void NAME(stage)(const solve_tile *tile, solve_role role, int width, int64_t row, int64_t count, T *to)
{
    const solve_view *view = &tile->in[role];
    const S *at = (const S *)(const void *)view->at;
    int64_t done;
    if (view->mode == SOLVE_GATHER) {
        NAME(gather)(tile, role, width, row, count, to);
        return;
    }
    if (view->mode == SOLVE_TURN) {
        done = NAME(turn_in)(tile, view, width, row, count, to);
        for (int l = 0; l < width; l++)
            for (int64_t r = done; r < count; r++)
                to[r * width + l] = (T)((const S *)(const void *)view->lane[l])[row + r];
        return;
    }
    const bool splat = view->mode == SOLVE_SPLAT;
    const int64_t ahead = (tile->tree.parent != NULL ? -32 : 32) * view->step;
    for (int64_t r = 0; r < count; r++, to += width) {
        const S *from = at + (row + r) * view->step;
        for (int l = 0; splat && l < width; l++)
            to[l] = (T)*from;
        for (int l = 0; !splat && l < width; l++)
            to[l] = (T)from[l];
        for (int l = 0; !splat && l < width; l += SOLVE_VECTOR_BYTES / (int)sizeof(S))
            __builtin_prefetch(from + l + ahead, 0, 2);
    }
}

static void NAME(unstage)(const solve_tile *tile, int width, int64_t row, int64_t count, const T *from)
{
    const solve_view *view = &tile->x;
    if (view->mode == SOLVE_PAIRS) {
        S *at = (S *)(void *)view->at + row * view->step;
        for (int64_t r = 0; r < count; r++)
            for (int l = 0; l < width; l++)
                at[r * view->step + l] = (S)from[r * width + l];
        return;
    }
    int64_t done = view->mode == SOLVE_TURN ? NAME(turn_out)(view, width, row, count, from) : 0;
    for (int l = 0; l < tile->lanes; l++) {
        int64_t step = view->mode == SOLVE_TURN ? 1 : view->lane_step[l], own = tile->lane_rows[l] - row;
        S *to = (S *)(void *)view->lane[l] + row * step;
        for (int64_t r = done; r < count && r < own; r++)
            to[r * step] = (S)from[r * width + l];
    }
}
