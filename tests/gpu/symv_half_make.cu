/* SPDX-License-Identifier: Apache-2.0
 *
 * Symmetric patterns for symv_half_gpu.
 */
#include "symv_half_support.h"

const char *const form_name[FORMS] = {"lower", "upper", "both", "both-upper", "loose"};

/* A node's neighbours in a cube of m^3, those not behind it, `unknowns` of each. */
static pattern cube(i64 m, i64 unknowns)
{
    pattern p{m * m * m * unknowns, {}, {}, {}};
    p.column.reserve((size_t)(p.n * 14 * unknowns));
    for (i64 node = 0; node < m * m * m; node++) {
        const i64 x = node % m, y = node / m % m, z = node / m / m;
        for (i64 of = 0; of < unknowns; of++) {
            p.begin.push_back((i64)p.column.size());
            for (i64 dz = -1; dz <= 0; dz++)
                for (i64 dy = -1; dy <= 1; dy++)
                    for (i64 dx = -1; dx <= 1; dx++) {
                        const i64 a = x + dx, b = y + dy, c = z + dz, other = (c * m + b) * m + a;
                        if (a < 0 || b < 0 || c < 0 || a >= m || b >= m || other > node) continue;
                        for (i64 k = 0; k < (other == node ? of + 1 : unknowns); k++)
                            p.column.push_back((u32)(other * unknowns + k));
                    }
            p.end.push_back((i64)p.column.size());
        }
    }
    return p;
}

/* Up to `most` columns of row r from `low` on, and the diagonal where wanted. */
static void random_row(pattern *p, i64 r, i64 low, i64 most, bool diagonal, u64 *state)
{
    std::vector<u32> row;
    for (i64 k = 0; k < most && r > low; k++)
        row.push_back((u32)(low + (i64)(next_random(state) % (u64)(r - low))));
    if (diagonal) row.push_back((u32)r);
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    p->begin.push_back((i64)p->column.size());
    p->column.insert(p->column.end(), row.begin(), row.end());
    p->end.push_back((i64)p->column.size());
}

pattern make_lower(const std::string &name, i64 m, u64 seed)
{
    u64 state = seed;
    if (name == "fem3") return cube(m, 3);
    if (name == "fem1") return cube(m, 1);
    pattern p{m, {}, {}, {}};
    for (i64 r = 0; r < m; r++) {
        if (name == "band")
            random_row(&p, r, std::max((i64)0, r - 500), 12, true, &state);
        else if (name == "random")
            random_row(&p, r, 0, 10, true, &state);
        else if (name == "few")
            random_row(&p, r, 0, (i64)(next_random(&state) % 7) * (next_random(&state) % 3 ? 1 : 0),
                       next_random(&state) & 1, &state);
        else if (name == "dense")
            random_row(&p, r, 0, 40 * m, true, &state);
        else {
            p.begin.push_back((i64)p.column.size());
            if (name == "arrow" && r > 0) p.column.push_back(0);
            if (name == "arrow-last" && r == m - 1)
                for (i64 c = 0; c < r; c++)
                    p.column.push_back((u32)c);
            if (name != "empty") p.column.push_back((u32)r);
            p.end.push_back((i64)p.column.size());
        }
    }
    return p;
}

/* The other triangle's entries too, or alone. */
static pattern mirrored(const pattern &lower, bool with_lower)
{
    pattern p{lower.n, {}, {}, {}};
    std::vector<i64> count((size_t)lower.n + 1);
    for (i64 r = 0; r < lower.n; r++)
        for (i64 i = lower.begin[r]; i < lower.end[r]; i++) {
            count[lower.column[i] + 1]++;
            if (with_lower && lower.column[i] != r) count[r + 1]++;
        }
    for (i64 r = 0; r < lower.n; r++)
        count[r + 1] += count[r];
    p.begin.assign(count.begin(), count.end() - 1);
    p.end = p.begin;
    p.column.resize((size_t)count[lower.n]);
    /* A row's own lower entries come before any later row gives it its upper ones. */
    for (i64 r = 0; r < lower.n; r++)
        for (i64 i = lower.begin[r]; i < lower.end[r]; i++) {
            const u32 c = lower.column[i];
            if (with_lower && c != r) p.column[p.end[r]++] = c;
            p.column[p.end[c]++] = (u32)r;
        }
    return p;
}

/* Rows in any order, with gaps of columns that no row has. */
static pattern loosened(const pattern &from, u64 seed)
{
    pattern p{from.n, from.begin, from.end, {}};
    std::vector<i64> order((size_t)from.n);
    for (i64 r = 0; r < from.n; r++)
        order[r] = r;
    for (i64 r = from.n - 1; r > 0; r--)
        std::swap(order[r], order[next_random(&seed) % (u64)(r + 1)]);
    for (i64 r : order) {
        p.column.resize(p.column.size() + next_random(&seed) % 3, ~0u);
        p.begin[r] = (i64)p.column.size();
        p.column.insert(p.column.end(), from.column.begin() + from.begin[r], from.column.begin() + from.end[r]);
        p.end[r] = (i64)p.column.size();
    }
    return p;
}

pattern make_form(const pattern &lower, enum form form, u64 seed)
{
    switch (form) {
    case UPPER_ONLY:
        return mirrored(lower, false);
    case BOTH:
    case BOTH_UPPER:
        return mirrored(lower, true);
    case LOOSE:
        return loosened(mirrored(lower, true), seed);
    default:
        return lower;
    }
}
