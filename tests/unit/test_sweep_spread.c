/* SPDX-License-Identifier: Apache-2.0
 *
 * A grid in parts gives the bits of the whole: random stencils, edges and sizes, parts as threads that exchange their
 * borders, steps on one exchange, overlapped or not; the change of the last step, too.
 */
#include "support/team.h"
#include "sweep/parts.h"

#include <math.h>

enum { ROUNDS = 400, TAPS = 12, GROUPS = 4, CELLS_MOST = 60000 };

static uint64_t seed;
static int64_t draw(int64_t most) /* 0 .. most */
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(seed >> 33) % (most + 1);
}

static double draw_value(void)
{
    return (double)draw(2000000) * 1e-6 - 1;
}

/* A whole grid, its rules and values. */
typedef struct sample {
    lacis_sweep_start start;
    lacis_sweep_tap tap[LACIS_SWEEP_FIELDS][TAPS];
    double weight[LACIS_SWEEP_FIELDS][GROUPS];
    int first[LACIS_SWEEP_FIELDS][GROUPS + 1];
    void *array[LACIS_SWEEP_ARRAYS];
    void *face[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES];
    int64_t cells;
    int64_t steps;
    int parts, deep, levels;
    bool overlap, change;
    void *result[2][LACIS_SWEEP_FIELDS]; /* alone, in parts */
    lacis_sweep_change whole, joined[TEAM_MOST];
} sample;

/* ------------------------------------------------------------------------------------------- drawing */

static void *draw_array(lacis_sweep_type type, int64_t count)
{
    void *array = malloc((size_t)count * lacis_sweep_size(type));
    for (int64_t i = 0; i < count; i++) {
        if (type == LACIS_SWEEP_F32)
            ((float *)array)[i] = (float)draw_value();
        else
            ((double *)array)[i] = draw_value();
    }
    return array;
}

/* Written rules: a function of taps, place and step that is not linear. */
static bool written(void *context, int worker, int field, int n, const void *const *tap, int64_t x, int64_t y,
                    int64_t z, int64_t t, void *out)
{
    const sample *s = context;
    const int taps = s->start.rule[field].taps;
    (void)worker;
    for (int i = 0; i < n; i++) {
        double sum = 1e-3 * (double)((x + i) % 7 + y % 5 + 3 * (z % 3) + t % 4);
        for (int k = 0; k < taps; k++) {
            double v =
                s->start.type == LACIS_SWEEP_F32 ? (double)((const float *)tap[k])[i] : ((const double *)tap[k])[i];
            sum += v * (0.1 * k - 0.3) + 0.01 * v * v;
        }
        if (s->start.type == LACIS_SWEEP_F32)
            ((float *)out)[i] = (float)sum;
        else
            ((double *)out)[i] = sum;
    }
    return true;
}

static void draw_rule(sample *s, int field, const int64_t reach[3])
{
    lacis_sweep_rule *rule = &s->start.rule[field];
    const int arrays = s->start.fields + s->start.coefficients;
    rule->written = draw(3) == 0;
    rule->taps = 1 + (int)draw(TAPS - 1);
    rule->tap = s->tap[field];
    const bool star = draw(1) != 0;
    for (int i = 0; i < rule->taps; i++) {
        lacis_sweep_tap *tap = &s->tap[field][i];
        const int only = (int)draw(s->start.dims - 1);
        *tap = (lacis_sweep_tap){.array = (int8_t)draw(arrays - 1)};
        for (int axis = 0; axis < s->start.dims; axis++)
            if (!star || axis == only) tap->at[axis] = (int8_t)(draw(2 * reach[axis]) - reach[axis]);
    }
    if (rule->written) return;
    lacis_sweep_linear *linear = &rule->linear;
    linear->groups = 1 + (int)draw(rule->taps < GROUPS ? rule->taps - 1 : GROUPS - 1);
    linear->constant = draw(1) != 0 ? 0 : draw_value();
    linear->weight = s->weight[field];
    linear->first = s->first[field];
    for (int g = 0; g < linear->groups; g++) {
        s->weight[field][g] = draw_value() / rule->taps;
        s->first[field][g] = g; /* one tap each, and the rest in the last */
    }
    s->first[field][linear->groups] = rule->taps;
}

static void draw_edges(sample *s, int field, const bool periodic[3])
{
    static const lacis_sweep_edge_kind kind[] = {LACIS_SWEEP_HOLD, LACIS_SWEEP_CLAMP, LACIS_SWEEP_MIRROR,
                                                 LACIS_SWEEP_AFFINE, LACIS_SWEEP_VALUES};
    for (int face = 0; face < 2 * s->start.dims; face++) {
        lacis_sweep_edge *edge = &s->start.edge[field][face];
        const int kinds = LACIS_COUNT(kind) - (s->start.dims == 1);
        edge->kind = periodic[face / 2] ? LACIS_SWEEP_PERIODIC : kind[draw(kinds - 1)];
        for (int k = 0; k < LACIS_SWEEP_RADIUS; k++) {
            edge->a[k] = draw_value();
            edge->b[k] = draw(2) == 0 ? 0 : draw_value();
        }
        if (edge->kind != LACIS_SWEEP_VALUES) continue;
        s->face[field][face] = draw_array(s->start.type, s->cells / s->start.extent[face / 2]);
        edge->values = s->face[field][face];
    }
}

static void *plain_alloc(void *context, uint64_t bytes)
{
    (void)context;
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}

static void plain_free(void *context, void *block)
{
    (void)context;
    free(block);
}

static void draw_sample(sample *s)
{
    lacis_sweep_start *start = &s->start;
    memset(s, 0, sizeof *s);
    start->type = draw(1) != 0 ? LACIS_SWEEP_F64 : LACIS_SWEEP_F32;
    start->dims = 1 + (int)draw(2);
    const int64_t most[3][3] = {{3000, 1, 1}, {300, 120, 1}, {140, 60, 40}};
    int64_t reach[3];
    bool periodic[3];
    s->cells = 1;
    for (int axis = 0; axis < 3; axis++) {
        start->extent[axis] = axis < start->dims ? 1 + draw(most[start->dims - 1][axis] - 1) : 1;
        reach[axis] = draw(3) == 0 ? draw(LACIS_SWEEP_RADIUS) : 1;
        periodic[axis] = draw(2) == 0;
        s->cells *= start->extent[axis];
    }
    start->fields = 1 + (int)draw(1);
    start->coefficients = (int)draw(1);
    for (int i = 0; i < start->fields + start->coefficients; i++)
        start->array[i] = s->array[i] = draw_array(start->type, s->cells);
    for (int field = 0; field < start->fields; field++) {
        draw_rule(s, field, reach);
        draw_edges(s, field, periodic);
        for (int i = 0; i < 2; i++)
            s->result[i][field] = malloc((size_t)s->cells * lacis_sweep_size(start->type));
    }
    start->cells = written;
    start->cells_context = s;
    start->t = draw(100);
    start->threads = 1 + (int)draw(1);
    start->levels = 1;
    start->host = (lacis_sweep_host){plain_alloc, plain_free, NULL, NULL};
    s->steps = 1 + draw(8);
    s->parts = 2 + (int)draw(4);
    s->deep = 1 + (int)draw(3);
    s->levels = (int)draw(2);
    s->overlap = draw(1) != 0;
    s->change = draw(1) != 0;
}

static void free_sample(sample *s)
{
    for (int i = 0; i < LACIS_SWEEP_ARRAYS; i++)
        free(s->array[i]);
    for (int field = 0; field < LACIS_SWEEP_FIELDS; field++) {
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            free(s->face[field][face]);
        free(s->result[0][field]);
        free(s->result[1][field]);
    }
}

/* ---------------------------------------------------------------------------------- alone, in parts */

static void run_alone(sample *s)
{
    lacis_sweep *system;
    assert_int_equal(lacis_sweep_new(&s->start, &system), LACIS_SWEEP_OK);
    assert_int_equal(lacis_sweep_steps(system, s->steps, s->change ? &s->whole : NULL), LACIS_SWEEP_OK);
    lacis_sweep_read(system, s->result[0]);
    lacis_sweep_free(system);
}

static int mail_send(void *context, int part, int tag, const void *data, uint64_t bytes)
{
    return lacis_team_send(context, part, tag, data, bytes) != LACIS_OK;
}

static int mail_receive(void *context, int part, int tag, void *data, uint64_t bytes)
{
    return lacis_team_receive(context, part, tag, data, bytes) != LACIS_OK;
}

static int mail_test(void *context)
{
    bool done;
    return lacis_team_test(context, &done) != LACIS_OK;
}

static int mail_wait(void *context)
{
    return lacis_team_wait(context) != LACIS_OK;
}

/* Cells of a box, between the whole array and a block of their own. */
static void move_box(const sample *s, const lacis_sweep_box *box, void *whole, void *own, bool out)
{
    const size_t size = lacis_sweep_size(s->start.type), row = size * (size_t)(box->end[0] - box->begin[0]);
    char *at = own;
    for (int64_t z = box->begin[2]; z < box->end[2]; z++)
        for (int64_t y = box->begin[1]; y < box->end[1]; y++, at += row) {
            char *there =
                (char *)whole + size * (size_t)((z * s->start.extent[1] + y) * s->start.extent[0] + box->begin[0]);
            memcpy(out ? at : there, out ? there : at, row);
        }
}

/* A face's values for the part, its halos included: wrapped where they lie beyond an end. */
static void *face_values(const sample *s, const lacis_sweep_cut *cut, int part, int field, int face)
{
    lacis_sweep_box box;
    const size_t size = lacis_sweep_size(s->start.type);
    int64_t extent[3], count = 0;
    lacis_sweep_cut_box(cut, part, &box);
    for (int axis = 0; axis < 3; axis++) {
        extent[axis] = axis == face / 2 ? 1 : cut->whole[axis];
        if (axis == face / 2) box.begin[axis] = 0;
        if (axis == face / 2) box.end[axis] = 1;
        if (axis == face / 2) continue;
        if (lacis_sweep_cut_inner(cut, part, 2 * axis)) box.begin[axis] -= cut->halo[axis];
        if (lacis_sweep_cut_inner(cut, part, 2 * axis + 1)) box.end[axis] += cut->halo[axis];
    }
    char *out = malloc(size * (size_t)lacis_sweep_box_cells(&box));
    for (int64_t z = box.begin[2]; z < box.end[2]; z++)
        for (int64_t y = box.begin[1]; y < box.end[1]; y++)
            for (int64_t x = box.begin[0]; x < box.end[0]; x++, count++) {
                const int64_t in[3] = {(x + extent[0]) % extent[0], (y + extent[1]) % extent[1],
                                       (z + extent[2]) % extent[2]};
                memcpy(out + size * (size_t)count,
                       (const char *)s->face[field][face] +
                           size * (size_t)((in[2] * extent[1] + in[1]) * extent[0] + in[0]),
                       size);
            }
    return out;
}

static lacis_status run_part(team_member *m)
{
    sample *s = m->own;
    lacis_sweep_cut cut;
    lacis_sweep_start start;
    lacis_sweep_box box;
    lacis_sweep_part *part = NULL;
    char why[200];
    void *block[LACIS_SWEEP_ARRAYS] = {NULL}, *values[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES] = {{NULL}};
    const lacis_sweep_mail mail = {mail_send, mail_receive, mail_test, mail_wait, &m->team, NULL};
    const lacis_sweep_part_how how = {.overlap = s->overlap};
    if (!lacis_sweep_cut_make(&s->start, s->parts, s->deep, &cut, why, sizeof why)) return LACIS_FORMAT;
    lacis_sweep_cut_start(&s->start, &cut, m->rank, &start);
    lacis_sweep_cut_box(&cut, m->rank, &box);
    const size_t bytes = (size_t)lacis_sweep_box_cells(&box) * lacis_sweep_size(start.type);
    for (int i = 0; i < start.fields + start.coefficients; i++) {
        start.array[i] = block[i] = malloc(bytes);
        move_box(s, &box, s->array[i], block[i], true);
    }
    for (int field = 0; field < start.fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (start.edge[field][face].kind == LACIS_SWEEP_VALUES)
                start.edge[field][face].values = values[field][face] = face_values(s, &cut, m->rank, field, face);
    start.levels = s->levels;
    lacis_sweep_status status = lacis_sweep_part_new(&start, &cut, m->rank, &mail, &how, &part);
    for (int field = 0; field < LACIS_SWEEP_FIELDS; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            free(values[field][face]);
    const int64_t half = s->steps / 2; /* in two goes, as a run with checks does */
    if (status == LACIS_SWEEP_OK) status = lacis_sweep_part_steps(part, half, NULL);
    if (status == LACIS_SWEEP_OK)
        status = lacis_sweep_part_steps(part, s->steps - half, s->change ? &s->joined[m->rank] : NULL);
    if (status == LACIS_SWEEP_OK) {
        lacis_sweep_read(lacis_sweep_part_system(part), block);
        for (int field = 0; field < start.fields; field++)
            move_box(s, &box, s->result[1][field], block[field], false);
    }
    for (int i = 0; i < LACIS_SWEEP_ARRAYS; i++)
        free(block[i]);
    lacis_status end = lacis_team_end(&m->team, status == LACIS_SWEEP_OK ? LACIS_OK : LACIS_FORMAT);
    lacis_sweep_part_free(part);
    return end;
}

/* -------------------------------------------------------------------------------------------- checks */

static void describe(const sample *s, const lacis_sweep_cut *cut, char *out, size_t size)
{
    const lacis_sweep_start *start = &s->start;
    int used = snprintf(out, size,
                        "%s %lld x %lld x %lld, %d fields, %d coefficients, parts %d x %d x %d, deep %d, "
                        "%lld steps, overlap %d, change %d, levels %d;",
                        start->type == LACIS_SWEEP_F32 ? "f32" : "f64", (long long)start->extent[0],
                        (long long)start->extent[1], (long long)start->extent[2], start->fields, start->coefficients,
                        cut->grid[0], cut->grid[1], cut->grid[2], s->deep, (long long)s->steps, s->overlap, s->change,
                        s->levels);
    for (int field = 0; field < start->fields; field++) {
        used += snprintf(out + used, size - (size_t)used, " edges");
        for (int face = 0; face < 2 * start->dims; face++)
            used += snprintf(out + used, size - (size_t)used, " %d", (int)start->edge[field][face].kind);
        used +=
            snprintf(out + used, size - (size_t)used, " %s taps", start->rule[field].written ? "written" : "linear");
        for (int i = 0; i < start->rule[field].taps; i++) {
            const lacis_sweep_tap *tap = &start->rule[field].tap[i];
            used += snprintf(out + used, size - (size_t)used, " %d[%d,%d,%d]", tap->array, tap->at[0], tap->at[1],
                             tap->at[2]);
        }
    }
}

static void check_fields(const sample *s, const lacis_sweep_cut *cut, uint64_t at_seed)
{
    const size_t size = lacis_sweep_size(s->start.type);
    char text[2000];
    for (int field = 0; field < s->start.fields; field++)
        for (int64_t i = 0; i < s->cells; i++) {
            const char *alone = (const char *)s->result[0][field] + size * (size_t)i;
            const char *parts = (const char *)s->result[1][field] + size * (size_t)i;
            if (memcmp(alone, parts, size) == 0) continue;
            describe(s, cut, text, sizeof text);
            fail_msg("seed %llu field %d cell %lld, %lld: %s", (unsigned long long)at_seed, field,
                     (long long)(i % s->start.extent[0]), (long long)(i / s->start.extent[0]), text);
        }
}

static void check_change(sample *s)
{
    for (int part = 1; part < s->parts; part++)
        lacis_sweep_change_merge(&s->joined[0], &s->joined[part]);
    assert_memory_equal(&s->joined[0].max, &s->whole.max, sizeof s->whole.max);
    const double alone = lacis_sweep_exact_round(&s->whole.squares),
                 joined = lacis_sweep_exact_round(&s->joined[0].squares);
    assert_memory_equal(&alone, &joined, sizeof alone);
}

static void test_random(void **state)
{
    (void)state;
    static sample s;
    static team_member all[TEAM_MOST];
    int done = 0, changes = 0;
    for (int round = 1; round <= ROUNDS; round++) {
        char why[200];
        lacis_sweep_cut cut;
        const uint64_t at_seed = seed = (uint64_t)round * 977;
        draw_sample(&s);
        if (s.cells > CELLS_MOST || lacis_sweep_refuses(&s.start, why, sizeof why) ||
            !lacis_sweep_cut_make(&s.start, s.parts, s.deep, &cut, why, sizeof why)) {
            free_sample(&s);
            continue;
        }
        run_alone(&s);
        team_begin(all, s.parts, run_part);
        for (int i = 0; i < s.parts; i++)
            all[i].own = &s;
        team_run_all(all, s.parts);
        for (int i = 0; i < s.parts; i++)
            assert_int_equal(all[i].status, LACIS_OK);
        team_finish(all, s.parts);
        check_fields(&s, &cut, at_seed);
        if (s.change) check_change(&s);
        done++;
        changes += s.change;
        free_sample(&s);
    }
    assert_true(done > ROUNDS / 5 && changes > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
