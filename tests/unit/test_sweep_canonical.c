/* SPDX-License-Identifier: Apache-2.0
 *
 * The canonical order of linear stencils (operators/sweep/canonical.h), spelt out for the usual ones; that it does
 * not depend on how a stencil was written; and that sums of groups are the same for a mirrored grid.
 */
#include "support/check.h"
#include "sweep/canonical.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128 };

typedef struct made {
    lacis_sweep_tap tap[MOST + 1];
    double weight[MOST + 1];
    int first[MOST + 2];
    lacis_sweep_rule rule;
} made;

static lacis_sweep_term term(int array, int x, int y, int z, double weight)
{
    return (lacis_sweep_term){.tap = {(int8_t)array, {(int8_t)x, (int8_t)y, (int8_t)z}}, .weight = weight};
}

static void make(lacis_sweep_type type, const lacis_sweep_term *terms, int count, int source, made *out)
{
    lacis_sweep_term own[MOST];
    const lacis_sweep_room room = {out->tap, out->weight, out->first};
    memcpy(own, terms, (size_t)count * sizeof *own);
    lacis_sweep_canonical(type, 0, 0.5, own, count, source, &room, &out->rule);
}

/* "0.5{0:0,0,0} 0.125{0:-1,0,0 0:1,0,0}" */
static const char *text_of(const made *m)
{
    static char text[4096];
    size_t at = 0;
    const lacis_sweep_rule *rule = &m->rule;
    assert_int_equal(rule->linear.first[rule->linear.groups], rule->taps);
    text[0] = '\0';
    for (int g = 0; g < rule->linear.groups; g++) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%g{", g > 0 ? " " : "", rule->linear.weight[g]);
        for (int i = rule->linear.first[g]; i < rule->linear.first[g + 1]; i++)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%d:%d,%d,%d", i > rule->linear.first[g] ? " " : "",
                                   rule->tap[i].array, rule->tap[i].at[0], rule->tap[i].at[1], rule->tap[i].at[2]);
        at += (size_t)snprintf(text + at, sizeof text - at, "}");
    }
    return text;
}

static int box(int dims, double centre, double faces, double edges, double corners, lacis_sweep_term *out)
{
    const double by_components[] = {centre, faces, edges, corners};
    int count = 0;
    for (int z = dims > 2 ? 1 : 0; z >= (dims > 2 ? -1 : 0); z--) /* from the far end: not in the order wanted */
        for (int y = 1; y >= -1; y--)
            for (int x = 1; x >= -1; x--)
                if (by_components[(x != 0) + (y != 0) + (z != 0)] != 0)
                    out[count++] = term(0, x, y, z, by_components[(x != 0) + (y != 0) + (z != 0)]);
    return count;
}

static void usual_stencils(void **state)
{
    static const struct {
        int dims;
        double weight[4];
        const char *text, *shape;
    } cases[] = {
        {2, {0, 0.25, 0, 0}, "0.25{0:-1,0,0 0:1,0,0 0:0,-1,0 0:0,1,0}", "5-point"},
        {2, {0.5, 0.125, 0, 0}, "0.5{0:0,0,0} 0.125{0:-1,0,0 0:1,0,0 0:0,-1,0 0:0,1,0}", "5-point"},
        {2,
         {-1, 0.2, 0.05, 0},
         "-1{0:0,0,0} 0.2{0:-1,0,0 0:1,0,0 0:0,-1,0 0:0,1,0} 0.05{0:-1,-1,0 0:1,-1,0 0:-1,1,0 0:1,1,0}",
         "9-point"},
        {2,
         {0.1, 0.1, 0.1, 0},
         "0.1{0:-1,-1,0 0:1,-1,0 0:-1,1,0 0:1,1,0 0:-1,0,0 0:1,0,0 0:0,-1,0 0:0,1,0 0:0,0,0}",
         "9-point"},
        {3, {0.5, 0.1, 0, 0}, "0.5{0:0,0,0} 0.1{0:-1,0,0 0:1,0,0 0:0,-1,0 0:0,1,0 0:0,0,-1 0:0,0,1}", "7-point"},
        {3,
         {0, 0, 0, 1},
         "1{0:-1,-1,-1 0:1,-1,-1 0:-1,1,-1 0:1,1,-1 0:-1,-1,1 0:1,-1,1 0:-1,1,1 0:1,1,1}",
         "9-point, its own table"},
        {3,
         {0, 0, 2, 0},
         "2{0:-1,-1,0 0:1,-1,0 0:-1,1,0 0:1,1,0 0:-1,0,-1 0:1,0,-1 0:-1,0,1 0:1,0,1 0:0,-1,-1 0:0,1,-1 0:0,-1,1 "
         "0:0,1,1}",
         "13-point, its own table"},
    };
    (void)state;
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        lacis_sweep_term terms[MOST];
        made m;
        char shape[32];
        const double *w = cases[i].weight;
        make(LACIS_SWEEP_F64, terms, box(cases[i].dims, w[0], w[1], w[2], w[3], terms), -1, &m);
        assert_string_equal(text_of(&m), cases[i].text);
        assert_true(m.rule.linear.constant == 0.5 && !m.rule.written);
        lacis_sweep_shape(&m.rule, 0, cases[i].dims, shape, sizeof shape);
        assert_string_equal(shape, cases[i].shape);
    }
}

/* Other arrays behind the field itself, a source last, nearer groups first; floats that are equal are one weight. */
static void groups(void **state)
{
    const lacis_sweep_term terms[] = {term(2, 0, 0, 0, 1),    term(0, 2, 0, 0, 0.1),         term(1, 1, 0, 0, 0.1),
                                      term(0, -2, 0, 0, 0.1), term(0, 1, 0, 0, 0.1 + 1e-12), term(0, 0, 0, 0, 0)};
    const int count = (int)(sizeof terms / sizeof terms[0]);
    char shape[32];
    made m;
    (void)state;
    make(LACIS_SWEEP_F64, terms, count, 3, &m);
    assert_string_equal(text_of(&m),
                        "0{0:0,0,0} 0.1{0:1,0,0} 0.1{0:-2,0,0 0:2,0,0} 0.1{1:1,0,0} 1{2:0,0,0} 1{3:0,0,0}");
    lacis_sweep_shape(&m.rule, 0, 1, shape, sizeof shape);
    assert_string_equal(shape, "4-point, its own table");
    make(LACIS_SWEEP_F32, terms, count, -1, &m);
    assert_string_equal(text_of(&m), "0{0:0,0,0} 0.1{0:1,0,0 0:-2,0,0 0:2,0,0} 0.1{1:1,0,0} 1{2:0,0,0}");
    assert_true(m.rule.linear.weight[1] == (double)0.1f);
    make(LACIS_SWEEP_F64, terms, 0, -1, &m);
    assert_int_equal(m.rule.taps, 0);
    assert_int_equal(m.rule.linear.groups, 0);
}

static void shapes(void **state)
{
    static const struct {
        int dims, radius;
        const char *shape;
    } cases[] = {
        {1, 1, "3-point"}, {1, 2, "5-point"}, {2, 2, "9-point star"}, {3, 2, "13-point star"}, {3, 1, "7-point"}};
    (void)state;
    for (int i = 0; i < (int)(sizeof cases / sizeof cases[0]); i++) {
        lacis_sweep_term terms[MOST];
        char shape[32];
        made m;
        int count = 0;
        for (int axis = 0; axis < cases[i].dims; axis++)
            for (int k = 1; k <= cases[i].radius; k++)
                for (int sign = -1; sign <= 1; sign += 2) {
                    lacis_sweep_term t = term(0, 0, 0, 0, 1.0 / k);
                    t.tap.at[axis] = (int8_t)(sign * k);
                    terms[count++] = t;
                }
        make(LACIS_SWEEP_F64, terms, count, -1, &m);
        lacis_sweep_shape(&m.rule, 0, cases[i].dims, shape, sizeof shape);
        assert_string_equal(shape, cases[i].shape);
    }
}

/* However the terms are shuffled, the rule is the same. */
static void spellings(void **state)
{
    lacis_sweep_term terms[MOST];
    made m;
    const int count = box(3, 0.5, 0.25, 0.125, 0.25, terms);
    (void)state;
    srand(5);
    make(LACIS_SWEEP_F64, terms, count, -1, &m);
    char *wanted = strdup(text_of(&m));
    for (int round = 0; round < 200; round++) {
        for (int i = count - 1; i > 0; i--) {
            const int j = rand() % (i + 1);
            const lacis_sweep_term other = terms[i];
            terms[i] = terms[j];
            terms[j] = other;
        }
        make(LACIS_SWEEP_F64, terms, count, -1, &m);
        assert_string_equal(text_of(&m), wanted);
    }
    free(wanted);
}

/* The pairwise sum of a group over values of a small cube of cells, mirrored along the axes of `mirror`. */
static float group_sum(const lacis_sweep_tap *tap, int count, const float *cube, int mirror)
{
    float value[MOST];
    for (int i = 0; i < count; i++) {
        int at[3];
        for (int k = 0; k < 3; k++)
            at[k] = 1 + ((mirror >> k & 1) != 0 ? -tap[i].at[k] : tap[i].at[k]);
        value[i] = cube[(at[2] * 3 + at[1]) * 3 + at[0]];
    }
    for (; count > 1; count = (count + 1) / 2) {
        for (int i = 0; i < count / 2; i++)
            value[i] = value[2 * i] + value[2 * i + 1];
        if (count % 2 == 1) value[count / 2] = value[count - 1];
    }
    return value[0];
}

static void mirrored(void **state)
{
    static const double weights[][4] = {{1, 1, 1, 1}, {1, 1, 0, 0}, {0, 1, 1, 1},
                                        {1, 0, 1, 1}, {1, 2, 1, 2}, {1, 1, 1, 2}};
    (void)state;
    srand(9);
    for (int i = 0; i < (int)(sizeof weights / sizeof weights[0]); i++)
        for (int dims = 2; dims <= 3; dims++) {
            lacis_sweep_term terms[MOST];
            made m;
            float cube[27];
            make(LACIS_SWEEP_F32, terms, box(dims, weights[i][0], weights[i][1], weights[i][2], weights[i][3], terms),
                 -1, &m);
            for (int k = 0; k < 27; k++)
                cube[k] = (float)rand() / (float)RAND_MAX;
            for (int g = 0; g < m.rule.linear.groups; g++)
                for (int mirror = 1; mirror < 8; mirror++) {
                    const int first = m.first[g], count = m.first[g + 1] - first;
                    assert_true(group_sum(m.tap + first, count, cube, 0) ==
                                group_sum(m.tap + first, count, cube, mirror));
                }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_stencils), cmocka_unit_test(groups),   cmocka_unit_test(shapes),
        cmocka_unit_test(spellings),      cmocka_unit_test(mirrored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
