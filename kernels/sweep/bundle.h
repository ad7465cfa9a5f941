/* SPDX-License-Identifier: Apache-2.0
 *
 * Four neighbouring rows at a time of the rules that are met most: each row of values is loaded once for the rows above
 * and below it, its neighbours along x come out of the registers (where there are instructions for that), and sums of
 * the two neighbours along x serve cross and corners alike. Rows follow each other along z in grids of two dimensions,
 * along y in those of three. Bits are those of linear.h's loops.
 */

enum { ROWS = SWEEP_BUNDLE, AROUND = SWEEP_BUNDLE + 2 };

/* Cells one to the left and right of `here`, which lies at `at`, with the vectors before and behind. */
ALWAYS vec vec_left(vec before, vec here, const T *at)
{
#if defined(__AVX512F__) && T_FLOAT
    (void)at;
    return (vec)_mm512_alignr_epi32((__m512i)here, (__m512i)before, WIDTH - 1);
#elif defined(__AVX512F__)
    (void)at;
    return (vec)_mm512_alignr_epi64((__m512i)here, (__m512i)before, WIDTH - 1);
#else
    (void)before;
    (void)here;
    return vec_at(at - 1);
#endif
}
ALWAYS vec vec_right(vec here, vec behind, const T *at)
{
#if defined(__AVX512F__) && T_FLOAT
    (void)at;
    return (vec)_mm512_alignr_epi32((__m512i)behind, (__m512i)here, 1);
#elif defined(__AVX512F__)
    (void)at;
    return (vec)_mm512_alignr_epi64((__m512i)behind, (__m512i)here, 1);
#else
    (void)here;
    (void)behind;
    return vec_at(at + 1);
#endif
}

/* What is known when compiled. Groups stand in this order. */
typedef struct bundle_kind {
    bool centre, corners, deep; /* deep: of three dimensions */
} bundle_kind;

typedef struct bundle_rows {
    const T *row[AROUND], *low[ROWS], *high[ROWS]; /* low, high: of the planes beside */
    T *out[ROWS];
} bundle_rows;

ALWAYS vec first_group(vec w, vec sum, vec constant, bool plain)
{
    return plain ? w * sum : vec_fma(w, sum, constant);
}

ALWAYS void bundle_put(T *to, vec value, int64_t count, bool stream)
{
    if (count < WIDTH) {
        vec_put_some(to, value, count);
    } else if (stream) {
        vec_stream(to, value);
    } else {
        vec_put(to, value);
    }
}

ALWAYS void bundle_loop(const bundle_rows *b, const vec *w, vec constant, bundle_kind kind, bool plain, bool stream,
                        int64_t n)
{
    const int sides = kind.corners ? 0 : 1; /* the first row whose neighbours along x count */
    const int64_t ahead = ROWS * (b->row[2] - b->row[1]); /* the next bundle's rows */
    vec before[AROUND], here[AROUND], pair[AROUND];
    for (int k = sides; k < AROUND - sides; k++) {
        before[k] = vec_at(b->row[k] - WIDTH);
        here[k] = vec_at(b->row[k]);
    }
    for (int64_t x = 0; x < n; x += WIDTH) {
        const int64_t count = n - x;
        if (!kind.corners) {
            here[0] = vec_at(b->row[0] + x);
            here[AROUND - 1] = vec_at(b->row[AROUND - 1] + x);
        }
        vec next[AROUND];
#pragma GCC unroll 6
        for (int k = sides; k < AROUND - sides; k++) {
            const T *at = b->row[k] + x;
            next[k] = vec_at(at + WIDTH);
            pair[k] = vec_left(before[k], here[k], at) + vec_right(here[k], next[k], at);
        }
#pragma GCC unroll 4
        for (int k = 0; k < ROWS; k++) {
            vec cross = pair[k + 1] + (here[k] + here[k + 2]), r;
            if (kind.deep) {
                cross = cross + (vec_at(b->low[k] + x) + vec_at(b->high[k] + x));
                __builtin_prefetch(b->high[k] + x + ahead);
            }
            if (kind.centre) {
                r = vec_fma(w[1], cross, first_group(w[0], here[k + 1], constant, plain));
            } else {
                r = first_group(w[0], cross, constant, plain);
            }
            if (kind.corners) r = vec_fma(w[kind.centre ? 2 : 1], pair[k] + pair[k + 2], r);
            bundle_put(b->out[k] + x, r, count, stream && x > 0 && count > WIDTH);
        }
#pragma GCC unroll 6
        for (int k = sides; k < AROUND - sides; k++) {
            before[k] = here[k];
            here[k] = next[k];
        }
    }
}

ALWAYS void bundle_run(const sweep_rule *rule, const void *const *tap, void *const *out, int64_t n, bool stream,
                       bundle_kind kind)
{
    const T *weight = rule->weight;
    const int *place = rule->place, taps = rule->taps;
    bundle_rows b;
    b.row[0] = tap[place[SWEEP_UP]];
    b.row[AROUND - 1] = tap[(ROWS - 1) * taps + place[SWEEP_DOWN]];
    for (int k = 0; k < ROWS; k++) {
        b.row[k + 1] = (const T *)tap[k * taps + place[SWEEP_LEFT]] + 1;
        b.low[k] = tap[k * taps + (kind.deep ? place[SWEEP_LOW] : 0)];
        b.high[k] = tap[k * taps + (kind.deep ? place[SWEEP_HIGH] : 0)];
        b.out[k] = out[k];
    }
    vec w[3];
    for (int g = 0; g < 1 + kind.centre + kind.corners; g++)
        w[g] = vec_all(weight[g]);
    const vec constant = vec_all((T)rule->constant);
    if (rule->constant != 0) {
        bundle_loop(&b, w, constant, kind, false, false, n);
    } else if (stream) {
        bundle_loop(&b, w, constant, kind, true, true, n);
    } else {
        bundle_loop(&b, w, constant, kind, true, false, n);
    }
}

#define BUNDLE(name, centre_, corners_, deep_)                                                                       \
    static void bundle_##name(const sweep_rule *rule, const void *const *tap, void *const *out, int64_t n, bool stream)  \
    {                                                                                                                \
        bundle_run(rule, tap, out, n, stream, (bundle_kind){centre_, corners_, deep_});                              \
    }
BUNDLE(cross, false, false, false)
BUNDLE(centre_cross, true, false, false)
BUNDLE(cross_corners, false, true, false)
BUNDLE(centre_cross_corners, true, true, false)
BUNDLE(deep_cross, false, false, true)
BUNDLE(deep_centre_cross, true, false, true)

/* --- which rules these are -------------------------------------------------------------------------------- */

/* Where a tap of offsets along x, rows and planes stands from `from` to `end`; -1: nowhere. */
static int find_tap(const sweep_rule *rule, int dims, int from, int end, int x, int row, int plane)
{
    for (int i = from; i < end; i++) {
        const int8_t *at = rule->tap[i].at;
        const int along = dims == 2 ? at[2] : at[1], across = dims == 2 ? at[1] : at[2];
        if (at[0] == x && along == row && across == plane) return i;
    }
    return -1;
}

/* Two pairs of taps side by side, in either order: those at +- (x, row) and those at +- (x2, row2). */
static bool pairs_at(const sweep_rule *rule, int dims, int at, const int8_t a[2][2], const int8_t b[2][2])
{
    int found[4];
    for (int i = 0; i < 2; i++) {
        found[i] = find_tap(rule, dims, at, at + 4, a[i][0], a[i][1], 0);
        found[2 + i] = find_tap(rule, dims, at, at + 4, b[i][0], b[i][1], 0);
    }
    for (int i = 0; i < 4; i++)
        if (found[i] < 0) return false;
    return (found[0] - at) / 2 == (found[1] - at) / 2;
}

static bool is_cross(sweep_rule *rule, int dims, int at, int count)
{
    static const int8_t x[2][2] = {{-1, 0}, {1, 0}}, rows[2][2] = {{0, -1}, {0, 1}};
    if (count != (dims == 2 ? 4 : 6) || !pairs_at(rule, dims, at, x, rows)) return false;
    rule->place[SWEEP_LEFT] = find_tap(rule, dims, at, at + 4, -1, 0, 0);
    rule->place[SWEEP_UP] = find_tap(rule, dims, at, at + 4, 0, -1, 0);
    rule->place[SWEEP_DOWN] = find_tap(rule, dims, at, at + 4, 0, 1, 0);
    if (dims == 2) return true;
    rule->place[SWEEP_LOW] = find_tap(rule, dims, at + 4, at + 6, 0, 0, -1);
    rule->place[SWEEP_HIGH] = find_tap(rule, dims, at + 4, at + 6, 0, 0, 1);
    return rule->place[SWEEP_LOW] >= 0 && rule->place[SWEEP_HIGH] >= 0;
}

static bool is_corners(const sweep_rule *rule, int dims, int at, int count)
{
    static const int8_t up[2][2] = {{-1, -1}, {1, -1}}, down[2][2] = {{-1, 1}, {1, 1}};
    return count == 4 && dims == 2 && pairs_at(rule, dims, at, up, down);
}

static void choose_bundle(sweep_rule *rule, int dims)
{
    rule->rows = NULL;
    if (dims < 2 || rule->groups < 1 || rule->groups > 3) return;
    for (int i = 1; i < rule->taps; i++)
        if (rule->tap[i].array != rule->tap[0].array) return;
    const int *first = rule->first;
    const bool centre = first[1] == 1 && find_tap(rule, dims, 0, 1, 0, 0, 0) == 0;
    const int g = centre ? 1 : 0;
    if (g >= rule->groups || !is_cross(rule, dims, first[g], first[g + 1] - first[g])) return;
    const bool corners = rule->groups == g + 2 && is_corners(rule, dims, first[g + 1], first[g + 2] - first[g + 1]);
    if (rule->groups != g + 1 && !corners) return;
    if (dims == 3) {
        rule->rows = centre ? bundle_deep_centre_cross : bundle_deep_cross;
    } else if (corners) {
        rule->rows = centre ? bundle_centre_cross_corners : bundle_cross_corners;
    } else {
        rule->rows = centre ? bundle_centre_cross : bundle_cross;
    }
}
