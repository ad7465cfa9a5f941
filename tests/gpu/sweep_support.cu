/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases of sweep_gpu, and how two results are compared.
 */
#include "sweep_support.h"

#include <cmath>
#include <cstdarg>
#include <cstring>

void sweep_expect(bool good, const char *format, ...)
{
    sweep_checks++;
    if (good) return;
    failures++;
    if (failures > 20) return;
    va_list arguments;
    va_start(arguments, format);
    printf("FAIL: ");
    vprintf(format, arguments);
    printf("\n");
    va_end(arguments);
}

/* --- cases -------------------------------------------------------------------------------------------------------
 */

uint64_t sweep_case::cells() const
{
    return (uint64_t)start.extent[0] * (uint64_t)start.extent[1] * (uint64_t)start.extent[2];
}

void sweep_shape(sweep_case *c, lacis_sweep_type type, int dims, int64_t nx, int64_t ny, int64_t nz, int fields,
                 int coefficients)
{
    c->start.type = type;
    c->start.dims = dims;
    c->start.extent[0] = nx;
    c->start.extent[1] = dims > 1 ? ny : 1;
    c->start.extent[2] = dims > 2 ? nz : 1;
    c->start.fields = fields;
    c->start.coefficients = coefficients;
    c->start.levels = 1;
}

static double between(u64 *state, double low, double high)
{
    return low + (high - low) * ((double)(next_random(state) >> 11) * 0x1p-53);
}

static std::vector<unsigned char> numbers(lacis_sweep_type type, uint64_t n, u64 *state)
{
    std::vector<unsigned char> out(n * lacis_sweep_size(type));
    for (uint64_t i = 0; i < n; i++) {
        const double value = between(state, -1, 1);
        const float narrow = (float)value;
        if (type == LACIS_SWEEP_F32)
            memcpy(&out[4 * i], &narrow, 4);
        else
            memcpy(&out[8 * i], &value, 8);
    }
    return out;
}

void sweep_fill(sweep_case *c, u64 *state)
{
    for (int i = 0; i < c->start.fields + c->start.coefficients; i++)
        c->array[i] = numbers(c->start.type, c->cells(), state);
}

static void add_taps(sweep_case *c, int field, const std::vector<int> &at)
{
    for (size_t i = 0; i + 3 < at.size(); i += 4)
        c->tap[field].push_back({(int8_t)at[i], {(int8_t)at[i + 1], (int8_t)at[i + 2], (int8_t)at[i + 3]}});
}

void sweep_group(sweep_case *c, int field, double weight, const std::vector<int> &at)
{
    if (c->first[field].empty()) c->first[field].push_back(0);
    add_taps(c, field, at);
    c->weight[field].push_back(weight);
    c->first[field].push_back((int)c->tap[field].size());
}

void sweep_written(sweep_case *c, int field, const std::vector<int> &at, sweep_rule_f32 f32, sweep_rule_f64 f64)
{
    c->start.rule[field].written = true;
    add_taps(c, field, at);
    c->f32[field] = f32;
    c->f64[field] = f64;
}

static void face_values(sweep_case *c, int field, int face, u64 *state)
{
    const int64_t *n = c->start.extent;
    c->values.push_back(numbers(c->start.type, (uint64_t)(n[0] * n[1] * n[2] / n[face / 2]), state));
    c->start.edge[field][face].values = c->values.back().data();
}

static void set_edge(sweep_case *c, int field, int face, lacis_sweep_edge_kind kind, u64 *state)
{
    lacis_sweep_edge *edge = &c->start.edge[field][face];
    *edge = {};
    edge->kind = kind;
    if (kind == LACIS_SWEEP_VALUES) face_values(c, field, face, state);
    if (kind != LACIS_SWEEP_AFFINE) return;
    const bool fixed = next_random(state) % 3 == 0;
    for (int k = 0; k < LACIS_SWEEP_RADIUS; k++) {
        edge->a[k] = between(state, -1, 1);
        edge->b[k] = fixed ? 0 : between(state, -1, 1);
    }
}

void sweep_edge(sweep_case *c, lacis_sweep_edge_kind kind, u64 *state)
{
    for (int f = 0; f < c->start.fields; f++)
        for (int face = 0; face < 2 * c->start.dims; face++)
            set_edge(c, f, face, kind, state);
}

void sweep_edges(sweep_case *c, u64 *state)
{
    static const lacis_sweep_edge_kind open[] = {LACIS_SWEEP_HOLD, LACIS_SWEEP_CLAMP, LACIS_SWEEP_MIRROR,
                                                 LACIS_SWEEP_AFFINE, LACIS_SWEEP_VALUES};
    for (int f = 0; f < c->start.fields; f++)
        for (int axis = 0; axis < c->start.dims; axis++) {
            const bool closed = next_random(state) % 4 == 0;
            for (int face = 2 * axis; face < 2 * axis + 2; face++)
                set_edge(c, f, face, closed ? LACIS_SWEEP_PERIODIC : open[next_random(state) % 5], state);
        }
}

void sweep_settle(sweep_case *c)
{
    for (int i = 0; i < c->start.fields + c->start.coefficients; i++)
        c->start.array[i] = c->array[i].data();
    for (int f = 0; f < c->start.fields; f++) {
        lacis_sweep_rule *rule = &c->start.rule[f];
        rule->taps = (int)c->tap[f].size();
        rule->tap = c->tap[f].data();
        if (rule->written) continue;
        if (c->first[f].empty()) c->first[f].push_back(0);
        rule->linear.groups = (int)c->weight[f].size();
        rule->linear.weight = c->weight[f].data();
        rule->linear.first = c->first[f].data();
    }
}

/* --- compared ----------------------------------------------------------------------------------------------------
 */

template <class T> static bool same(const unsigned char *a, const unsigned char *b)
{
    T x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return memcmp(a, b, sizeof x) == 0 || (x != x && y != y);
}

int64_t sweep_differences(const sweep_case &c, const sweep_state &a, const sweep_state &b, std::string *where)
{
    const uint64_t size = lacis_sweep_size(c.start.type);
    int64_t count = 0;
    for (int f = 0; f < c.start.fields; f++)
        for (uint64_t i = 0; i < c.cells(); i++) {
            const unsigned char *x = &a.field[f][i * size], *y = &b.field[f][i * size];
            if (size == 4 ? same<float>(x, y) : same<double>(x, y)) continue;
            const uint64_t nx = (uint64_t)c.start.extent[0], ny = (uint64_t)c.start.extent[1];
            if (count++ == 0)
                *where = "field " + std::to_string(f) + " at " + std::to_string(i % nx) + ", " +
                         std::to_string(i / nx % ny) + ", " + std::to_string(i / nx / ny);
        }
    return count;
}

bool sweep_same_change(const lacis_sweep_change &a, const lacis_sweep_change &b)
{
    const double x = lacis_sweep_exact_round(&a.squares), y = lacis_sweep_exact_round(&b.squares);
    const bool maxima = a.max == b.max || (a.max != a.max && b.max != b.max);
    return maxima && (x == y || (x != x && y != y));
}
