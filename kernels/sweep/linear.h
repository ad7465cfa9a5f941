/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of linear rules: groups of taps summed pairwise, each sum multiplied and added. Common shapes (how many taps
 * each group has) have loops of their own, in which all is known but where the taps are; `any` takes the others.
 * Loops load whole vectors of taps past the row's end: arrays have room there.
 */

/* --- a group's sum: the first power of two of the taps, and the rest --------------------------------------- */

ALWAYS vec sum_1(const T *const *tap, int64_t x)
{
    return vec_at(tap[0] + x);
}
#define SUM(n, low, rest)                                                                                            \
    ALWAYS vec sum_##n(const T *const *tap, int64_t x)                                                               \
    {                                                                                                                \
        return sum_##low(tap, x) + sum_##rest(tap + low, x);                                                         \
    }
SUM(2, 1, 1)
SUM(3, 2, 1)
SUM(4, 2, 2)
SUM(5, 4, 1)
SUM(6, 4, 2)
SUM(7, 4, 3)
SUM(8, 4, 4)
SUM(9, 8, 1)
SUM(11, 8, 3)
SUM(12, 8, 4)
SUM(16, 8, 8)
SUM(27, 16, 11)

/* --- rows -------------------------------------------------------------------------------------------------- */

/* Calls BODY(x), a vector of cells, for all of a row; stores to `out` are aligned but for the first. */
#define ROW_LOOP(BODY)                                                                                               \
    int64_t x = 0;                                                                                                   \
    const int64_t odd = (int64_t)((uintptr_t)to % VECTOR_BYTES / sizeof(T));                                         \
    if (odd != 0) {                                                                                                  \
        x = WIDTH - odd < n ? WIDTH - odd : n;                                                                       \
        vec_put_some(to, BODY((int64_t)0), x);                                                                       \
    }                                                                                                                \
    if (stream) { /* but not the ends, which are read again for ghosts */                                            \
        if (x == 0 && n >= WIDTH) {                                                                                  \
            vec_put(to, BODY((int64_t)0));                                                                           \
            x = WIDTH;                                                                                               \
        }                                                                                                            \
        for (; x + WIDTH < n; x += WIDTH)                                                                            \
            vec_stream(to + x, BODY(x));                                                                             \
    } else {                                                                                                         \
        for (; x + WIDTH <= n; x += WIDTH)                                                                           \
            vec_put(to + x, BODY(x));                                                                                \
    }                                                                                                                \
    if (x < n) vec_put_some(to + x, BODY(x), n - x);

#define FIRST(count)       (plain ? w[0] * sum_##count(p, x_) : vec_fma(w[0], sum_##count(p, x_), constant))
#define NEXT(g, count, at) r = vec_fma(w[g], sum_##count(p + (at), x_), r);

/* A row function of a shape: its taps and groups, and what follows after the first group. */
#define SHAPE(name, taps_, groups_, first_, rest_)                                                                   \
    ALWAYS vec cells_##name(const T *const *p, const vec *w, vec constant, bool plain, int64_t x_)                   \
    {                                                                                                                \
        vec r = FIRST(first_);                                                                                       \
        rest_ return r;                                                                                              \
    }                                                                                                                \
    ALWAYS void loop_##name(const T *const *p, const vec *w, vec constant, bool plain, T *to, int64_t n,             \
                            bool stream)                                                                             \
    {                                                                                                                \
        ROW_LOOP(CELLS_##name)                                                                                       \
    }                                                                                                                \
    static void row_##name(const sweep_rule *rule, const void *const *tap, void *out, int64_t n, bool stream)        \
    {                                                                                                                \
        const T *p[taps_], *weight = rule->weight;                                                                   \
        vec w[groups_];                                                                                              \
        for (int i = 0; i < (taps_); i++)                                                                            \
            p[i] = tap[i];                                                                                           \
        for (int g = 0; g < (groups_); g++)                                                                          \
            w[g] = vec_all(weight[g]);                                                                               \
        const vec constant = vec_all((T)rule->constant);                                                             \
        if (rule->constant == 0) {                                                                                   \
            loop_##name(p, w, constant, true, out, n, stream);                                                       \
        } else {                                                                                                     \
            loop_##name(p, w, constant, false, out, n, stream);                                                      \
        }                                                                                                            \
    }

#define CELLS_1(x)         cells_1(p, w, constant, plain, x)
#define CELLS_2(x)         cells_2(p, w, constant, plain, x)
#define CELLS_3(x)         cells_3(p, w, constant, plain, x)
#define CELLS_4(x)         cells_4(p, w, constant, plain, x)
#define CELLS_5(x)         cells_5(p, w, constant, plain, x)
#define CELLS_6(x)         cells_6(p, w, constant, plain, x)
#define CELLS_7(x)         cells_7(p, w, constant, plain, x)
#define CELLS_8(x)         cells_8(p, w, constant, plain, x)
#define CELLS_9(x)         cells_9(p, w, constant, plain, x)
#define CELLS_27(x)        cells_27(p, w, constant, plain, x)
#define CELLS_1_1(x)       cells_1_1(p, w, constant, plain, x)
#define CELLS_1_2(x)       cells_1_2(p, w, constant, plain, x)
#define CELLS_1_4(x)       cells_1_4(p, w, constant, plain, x)
#define CELLS_1_6(x)       cells_1_6(p, w, constant, plain, x)
#define CELLS_4_1(x)       cells_4_1(p, w, constant, plain, x)
#define CELLS_4_4(x)       cells_4_4(p, w, constant, plain, x)
#define CELLS_6_1(x)       cells_6_1(p, w, constant, plain, x)
#define CELLS_1_1_1(x)     cells_1_1_1(p, w, constant, plain, x)
#define CELLS_1_2_1(x)     cells_1_2_1(p, w, constant, plain, x)
#define CELLS_1_2_2(x)     cells_1_2_2(p, w, constant, plain, x)
#define CELLS_1_4_1(x)     cells_1_4_1(p, w, constant, plain, x)
#define CELLS_1_4_4(x)     cells_1_4_4(p, w, constant, plain, x)
#define CELLS_1_6_1(x)     cells_1_6_1(p, w, constant, plain, x)
#define CELLS_1_6_6(x)     cells_1_6_6(p, w, constant, plain, x)
#define CELLS_1_2_2_2(x)   cells_1_2_2_2(p, w, constant, plain, x)
#define CELLS_1_4_4_4(x)   cells_1_4_4_4(p, w, constant, plain, x)
#define CELLS_1_6_6_6(x)   cells_1_6_6_6(p, w, constant, plain, x)
#define CELLS_1_6_12_8(x)  cells_1_6_12_8(p, w, constant, plain, x)
#define CELLS_1_1_1_1_1(x) cells_1_1_1_1_1(p, w, constant, plain, x)
#define CELLS_1_2_2_2_2(x) cells_1_2_2_2_2(p, w, constant, plain, x)
#define CELLS_1_4_4_4_4(x) cells_1_4_4_4_4(p, w, constant, plain, x)
#define CELLS_1_6_6_6_6(x) cells_1_6_6_6_6(p, w, constant, plain, x)

#define NONE
SHAPE(1, 1, 1, 1, NONE)
SHAPE(2, 2, 1, 2, NONE)
SHAPE(3, 3, 1, 3, NONE)
SHAPE(4, 4, 1, 4, NONE)
SHAPE(5, 5, 1, 5, NONE)
SHAPE(6, 6, 1, 6, NONE)
SHAPE(7, 7, 1, 7, NONE)
SHAPE(8, 8, 1, 8, NONE)
SHAPE(9, 9, 1, 9, NONE)
SHAPE(27, 27, 1, 27, NONE)
SHAPE(1_1, 2, 2, 1, NEXT(1, 1, 1))
SHAPE(1_2, 3, 2, 1, NEXT(1, 2, 1))
SHAPE(1_4, 5, 2, 1, NEXT(1, 4, 1))
SHAPE(1_6, 7, 2, 1, NEXT(1, 6, 1))
SHAPE(4_1, 5, 2, 4, NEXT(1, 1, 4))
SHAPE(4_4, 8, 2, 4, NEXT(1, 4, 4))
SHAPE(6_1, 7, 2, 6, NEXT(1, 1, 6))
SHAPE(1_1_1, 3, 3, 1, NEXT(1, 1, 1) NEXT(2, 1, 2))
SHAPE(1_2_1, 4, 3, 1, NEXT(1, 2, 1) NEXT(2, 1, 3))
SHAPE(1_2_2, 5, 3, 1, NEXT(1, 2, 1) NEXT(2, 2, 3))
SHAPE(1_4_1, 6, 3, 1, NEXT(1, 4, 1) NEXT(2, 1, 5))
SHAPE(1_4_4, 9, 3, 1, NEXT(1, 4, 1) NEXT(2, 4, 5))
SHAPE(1_6_1, 8, 3, 1, NEXT(1, 6, 1) NEXT(2, 1, 7))
SHAPE(1_6_6, 13, 3, 1, NEXT(1, 6, 1) NEXT(2, 6, 7))
SHAPE(1_2_2_2, 7, 4, 1, NEXT(1, 2, 1) NEXT(2, 2, 3) NEXT(3, 2, 5))
SHAPE(1_4_4_4, 13, 4, 1, NEXT(1, 4, 1) NEXT(2, 4, 5) NEXT(3, 4, 9))
SHAPE(1_6_6_6, 19, 4, 1, NEXT(1, 6, 1) NEXT(2, 6, 7) NEXT(3, 6, 13))
SHAPE(1_6_12_8, 27, 4, 1, NEXT(1, 6, 1) NEXT(2, 12, 7) NEXT(3, 8, 19))
SHAPE(1_1_1_1_1, 5, 5, 1, NEXT(1, 1, 1) NEXT(2, 1, 2) NEXT(3, 1, 3) NEXT(4, 1, 4))
SHAPE(1_2_2_2_2, 9, 5, 1, NEXT(1, 2, 1) NEXT(2, 2, 3) NEXT(3, 2, 5) NEXT(4, 2, 7))
SHAPE(1_4_4_4_4, 17, 5, 1, NEXT(1, 4, 1) NEXT(2, 4, 5) NEXT(3, 4, 9) NEXT(4, 4, 13))
SHAPE(1_6_6_6_6, 25, 5, 1, NEXT(1, 6, 1) NEXT(2, 6, 7) NEXT(3, 6, 13) NEXT(4, 6, 19))

static const struct shape {
    int groups, taps[5];
    void (*row)(const sweep_rule *, const void *const *, void *, int64_t, bool);
} shapes[] = {{1, {1}, row_1},
              {1, {2}, row_2},
              {1, {3}, row_3},
              {1, {4}, row_4},
              {1, {5}, row_5},
              {1, {6}, row_6},
              {1, {7}, row_7},
              {1, {8}, row_8},
              {1, {9}, row_9},
              {1, {27}, row_27},
              {2, {1, 1}, row_1_1},
              {2, {1, 2}, row_1_2},
              {2, {1, 4}, row_1_4},
              {2, {1, 6}, row_1_6},
              {2, {4, 1}, row_4_1},
              {2, {4, 4}, row_4_4},
              {2, {6, 1}, row_6_1},
              {3, {1, 1, 1}, row_1_1_1},
              {3, {1, 2, 1}, row_1_2_1},
              {3, {1, 2, 2}, row_1_2_2},
              {3, {1, 4, 1}, row_1_4_1},
              {3, {1, 4, 4}, row_1_4_4},
              {3, {1, 6, 1}, row_1_6_1},
              {3, {1, 6, 6}, row_1_6_6},
              {4, {1, 2, 2, 2}, row_1_2_2_2},
              {4, {1, 4, 4, 4}, row_1_4_4_4},
              {4, {1, 6, 6, 6}, row_1_6_6_6},
              {4, {1, 6, 12, 8}, row_1_6_12_8},
              {5, {1, 1, 1, 1, 1}, row_1_1_1_1_1},
              {5, {1, 2, 2, 2, 2}, row_1_2_2_2_2},
              {5, {1, 4, 4, 4, 4}, row_1_4_4_4_4},
              {5, {1, 6, 6, 6, 6}, row_1_6_6_6_6}};

/* --- all others -------------------------------------------------------------------------------------------- */

/* Pairwise sums of `many` vectors of cells side by side: sums of 1, 2, 4 ... taps wait until as large a one comes. */
enum { BESIDE = 4, WAITING = 12 };
ALWAYS void sum_any(const void *const *tap, int taps, int64_t x, int many, vec *sum)
{
    vec wait[WAITING][BESIDE];
    int depth = 0;
    for (int i = 0; i < taps; i++) {
        const T *from = (const T *)tap[i] + x;
        for (int v = 0; v < many; v++)
            wait[depth][v] = vec_at(from + v * WIDTH);
        for (int sums = i + 1; sums % 2 == 0; sums /= 2, depth--)
            for (int v = 0; v < many; v++)
                wait[depth - 1][v] += wait[depth][v];
        depth++;
    }
    for (; depth > 1; depth--)
        for (int v = 0; v < many; v++)
            wait[depth - 2][v] += wait[depth - 1][v];
    for (int v = 0; v < many; v++)
        sum[v] = wait[0][v];
}

ALWAYS void cells_any(const sweep_rule *rule, const void *const *tap, int64_t x, int many, vec *r)
{
    const T *weight = rule->weight;
    const vec constant = vec_all((T)rule->constant);
    for (int v = 0; v < many; v++)
        r[v] = constant;
    for (int g = 0; g < rule->groups; g++) {
        const vec w = vec_all(weight[g]);
        vec sum[BESIDE];
        sum_any(tap + rule->first[g], rule->first[g + 1] - rule->first[g], x, many, sum);
        const bool plain = g == 0 && rule->constant == 0;
        for (int v = 0; v < many; v++)
            r[v] = plain ? w * sum[v] : vec_fma(w, sum[v], r[v]);
    }
}

static void row_any(const sweep_rule *rule, const void *const *tap, void *out, int64_t n, bool stream)
{
    T *to = out;
    int64_t x = 0;
    (void)stream;
    vec r[BESIDE];
    for (; x + BESIDE * WIDTH <= n; x += BESIDE * WIDTH) {
        cells_any(rule, tap, x, BESIDE, r);
        for (int v = 0; v < BESIDE; v++)
            vec_put(to + x + v * WIDTH, r[v]);
    }
    for (; x < n; x += WIDTH) {
        cells_any(rule, tap, x, 1, r);
        vec_put_some(to + x, r[0], n - x < WIDTH ? n - x : WIDTH);
    }
}

static bool has_shape(const sweep_rule *rule, const struct shape *shape)
{
    if (rule->groups != shape->groups) return false;
    for (int g = 0; g < rule->groups; g++)
        if (rule->first[g + 1] - rule->first[g] != shape->taps[g]) return false;
    return rule->first[0] == 0;
}

static void choose_row(sweep_rule *rule)
{
    rule->row = row_any;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (has_shape(rule, &shapes[i])) rule->row = shapes[i].row;
}
