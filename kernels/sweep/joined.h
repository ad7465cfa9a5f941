/* SPDX-License-Identifier: Apache-2.0
 *
 * Two levels at once of crosses in two dimensions (bundle.h), with the centre or without: four rows of a level are
 * computed, and out of the registers four rows of the level after it, one row behind and one vector behind along x.
 * Of the level between, two rows of the bundle before are read and two are written for the next one: what a level
 * alone reads and writes in the second cache is what takes its time. (With corners sums take as long, and nothing is
 * won.) Neighbours along x must come out of registers: with AVX-512 alone. Bits are those of linear.h's loops.
 */
#if defined(__AVX512F__)

/* A vector of cells in each row around a bundle, and those before and behind it. */
typedef struct joined_window {
    vec before[AROUND], here[AROUND], next[AROUND];
} joined_window;

ALWAYS vec joined_pair(const joined_window *v, int k)
{
    return vec_left(v->before[k], v->here[k], NULL) + vec_right(v->here[k], v->next[k], NULL);
}

/* The cells `here` of the bundle's rows. */
ALWAYS void joined_cells(const joined_window *v, const vec *w, vec constant, bool centre, bool plain, vec *out)
{
#pragma GCC unroll 4
    for (int k = 0; k < ROWS; k++) {
        const vec cross = joined_pair(v, k + 1) + (v->here[k] + v->here[k + 2]);
        out[k] = centre ? vec_fma(w[1], cross, first_group(w[0], v->here[k + 1], constant, plain))
                        : first_group(w[0], cross, constant, plain);
    }
}

ALWAYS void joined_move(joined_window *v, int from, int end)
{
#pragma GCC unroll 6
    for (int k = from; k < end; k++) {
        v->before[k] = v->here[k];
        v->here[k] = v->next[k];
    }
}

/* Rows of the level between at x: two that the bundle before has written, and four that are computed. */
ALWAYS void joined_between(const sweep_joined *j, joined_window *from, joined_window *between, const vec *w,
                           vec constant, bool centre, bool plain, int64_t x)
{
#pragma GCC unroll 4
    for (int k = 1; k < AROUND - 1; k++)
        from->next[k] = vec_at((const T *)j->from[k] + x + WIDTH);
    from->here[0] = vec_at((const T *)j->from[0] + x);
    from->here[AROUND - 1] = vec_at((const T *)j->from[AROUND - 1] + x);
    joined_cells(from, w, constant, centre, plain, between->next + 2);
    for (int k = 0; k < 2; k++) {
        between->next[k] = vec_at((const T *)j->between[k] + x);
        vec_put((T *)j->between[AROUND - 2 + k] + x, between->next[AROUND - 2 + k]);
    }
}

ALWAYS void joined_loop(const sweep_joined *j, const vec *w, vec constant, bool centre, bool plain, bool stream,
                        int64_t n)
{
    joined_window from, between;
    for (int k = 0; k < AROUND; k++) {
        from.before[k] = vec_at((const T *)j->from[k] - WIDTH);
        from.here[k] = vec_at((const T *)j->from[k]);
        between.before[k] = vec_at((const T *)j->between[k] - 2 * WIDTH);
        between.here[k] = vec_at((const T *)j->between[k] - WIDTH);
    }
    for (int64_t x = 0; x < n; x += WIDTH) {
        vec out[ROWS];
        joined_between(j, &from, &between, w, constant, centre, plain, x);
        joined_cells(&between, w, constant, centre, plain, out);
#pragma GCC unroll 4
        for (int k = 0; k < ROWS; k++)
            bundle_put((T *)j->out[k] + x - WIDTH, out[k], WIDTH, stream);
        joined_move(&from, 1, AROUND - 1);
        joined_move(&between, 0, AROUND);
    }
}

ALWAYS void joined_run(const sweep_rule *rule, const sweep_joined *j, int64_t n, bool stream, bool centre)
{
    const T *weight = rule->weight;
    vec w[3];
    for (int g = 0; g < 1 + centre; g++)
        w[g] = vec_all(weight[g]);
    const vec constant = vec_all((T)rule->constant);
    if (rule->constant != 0) {
        joined_loop(j, w, constant, centre, false, false, n);
    } else if (stream) {
        joined_loop(j, w, constant, centre, true, true, n);
    } else {
        joined_loop(j, w, constant, centre, true, false, n);
    }
}

static void joined_cross(const sweep_rule *rule, const sweep_joined *j, int64_t n, bool stream)
{
    joined_run(rule, j, n, stream, false);
}

static void joined_centre_cross(const sweep_rule *rule, const sweep_joined *j, int64_t n, bool stream)
{
    joined_run(rule, j, n, stream, true);
}

/* Behind choose_bundle. */
static void choose_joined(sweep_rule *rule, int dims)
{
    rule->joined = NULL;
    if (dims != 2 || rule->taps < 1 || rule->tap[0].array != 0) return;
    if (rule->rows == bundle_cross) rule->joined = joined_cross;
    if (rule->rows == bundle_centre_cross) rule->joined = joined_centre_cross;
}

#else

static void choose_joined(sweep_rule *rule, int dims)
{
    (void)dims;
    rule->joined = NULL;
}

#endif
