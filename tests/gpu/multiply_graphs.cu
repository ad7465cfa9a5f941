/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs and shapes for the checks and the bench of multiply_gpu.cu, with their values.
 */
#include "multiply_support.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>

matrix from_keys(std::vector<u64> &key, int64_t rows, int64_t cols)
{
    std::sort(key.begin(), key.end());
    key.erase(std::unique(key.begin(), key.end()), key.end());
    matrix m;
    m.rows = rows;
    m.cols = cols;
    std::vector<int64_t> offset(rows + 1);
    for (u64 k : key) {
        offset[(k >> 32) + 1]++;
        m.column.push_back((uint32_t)k);
    }
    for (int64_t r = 0; r < rows; r++)
        offset[r + 1] += offset[r];
    m.begin.assign(offset.begin(), offset.end() - 1);
    m.end.assign(offset.begin() + 1, offset.end());
    return m;
}

u64 max_degree(const matrix &m)
{
    int64_t most = 0;
    for (int64_t r = 0; r < m.rows; r++)
        most = std::max(most, m.end[r] - m.begin[r]);
    return (u64)most;
}

/* star:N: row 0 has all N columns, each other row three, one of them 0, so that the square is full. hub:N: row 0 has
 * all columns, each other row eight, none of them 0. dense:N: every entry. */
static bool make_plain(const char *name, matrix *out)
{
    int64_t n = 0;
    std::vector<u64> key;
    if (sscanf(name, "star:%" SCNd64, &n) == 1) {
        for (int64_t i = 0; i < n; i++) {
            key.push_back((u64)i);
            for (int64_t k = 0; k < 3; k++)
                key.push_back((u64)i << 32 | (u64)(i * 97 * k % n));
        }
    } else if (sscanf(name, "hub:%" SCNd64, &n) == 1) {
        u64 state = 3;
        for (int64_t i = 0; i < n; i++) {
            key.push_back((u64)i);
            for (int k = 0; k < 8 && i > 0; k++)
                key.push_back((u64)i << 32 | (1 + next_random(&state) % (u64)(n - 1)));
        }
    } else if (sscanf(name, "dense:%" SCNd64, &n) == 1) {
        for (int64_t i = 0; i < n * n; i++)
            key.push_back((u64)(i / n) << 32 | (u64)(i % n));
    } else
        return false;
    *out = from_keys(key, n, n);
    return true;
}

matrix make_graph(const char *name)
{
    matrix plain;
    if (make_plain(name, &plain)) return plain;
    int scale = 0;
    u64 state = 1;
    const bool raw = sscanf(name, "rmat-raw:%d", &scale) == 1, rmat = raw || sscanf(name, "rmat:%d", &scale) == 1;
    if (!rmat && sscanf(name, "uniform:%d", &scale) != 1) {
        printf("%s: not a graph\n", name);
        exit(2);
    }
    const int64_t n = (int64_t)1 << scale, edges = n * (rmat ? 16 : 8);
    std::vector<u64> key(edges);
    for (int64_t i = 0; i < edges; i++) {
        if (!rmat) {
            key[i] = (u64)(i / 8) << 32 | (next_random(&state) & (n - 1));
            continue;
        }
        u64 row = 0, col = 0;
        for (int k = 0; k < scale; k++) {
            const double p = (double)(next_random(&state) >> 11) * 0x1p-53;
            row = row << 1 | (p >= 0.76);
            col = col << 1 | ((p >= 0.57 && p < 0.76) || p >= 0.95);
        }
        key[i] = row << 32 | col;
    }
    if (rmat && !raw) {
        columns place(n);
        for (int64_t i = 0; i < n; i++)
            place[i] = (uint32_t)i;
        for (int64_t i = n - 1; i > 0; i--)
            std::swap(place[i], place[next_random(&state) % (u64)(i + 1)]);
        for (u64 &k : key)
            k = (u64)place[k >> 32] << 32 | place[k & UINT32_MAX];
    }
    return from_keys(key, n, n);
}

matrix make_shape(u64 *state, int shape, int64_t rows, int64_t cols, int64_t entries)
{
    std::vector<u64> key;
    if (shape == 3) {
        for (int64_t r = 0; r < rows; r++)
            for (int64_t c = 0; c < cols; c++)
                key.push_back((u64)r << 32 | (u64)c);
        return from_keys(key, rows, cols);
    }
    for (int64_t i = 0; i < entries && rows && cols; i++) {
        double x = (double)(next_random(state) >> 11) * 0x1p-53, y = (double)(next_random(state) >> 11) * 0x1p-53;
        if (shape == 1) x = pow(x, 4), y = pow(y, 4);
        if (shape == 4) x = floor(x * 8) / 8;
        u64 r = std::min<u64>((u64)(x * rows), rows - 1), c = std::min<u64>((u64)(y * cols), cols - 1);
        if (shape == 2 && i % 3 == 0) r = rows / 2;
        if (shape == 2 && i % 3 == 1) c = cols / 3;
        key.push_back(r << 32 | c);
    }
    return from_keys(key, rows, cols);
}

int type_bytes(lacis_mul_type t)
{
    return t == LACIS_MUL_I32 || t == LACIS_MUL_F32 ? 4 : 8;
}

void add_values(matrix &m, lacis_mul_type type, u64 *state, bool wild)
{
    const size_t n = m.column.size();
    m.valued = true;
    m.value.resize((n + 1) * type_bytes(type));
    for (size_t i = 0; i < n; i++) {
        const int64_t k = (int64_t)(next_random(state) % 2001) - 1000;
        const double d = wild ? (double)(int64_t)next_random(state) * 1e-15 : (double)k;
        const double x = wild && next_random(state) % 50 == 0 ? NAN : wild && next_random(state) % 50 == 0 ? -0.0 : d;
        if (type == LACIS_MUL_I32) ((int32_t *)m.value.data())[i] = (int32_t)(wild ? (int64_t)next_random(state) : k);
        if (type == LACIS_MUL_I64) ((int64_t *)m.value.data())[i] = wild ? (int64_t)next_random(state) : k << 20;
        if (type == LACIS_MUL_F32) ((float *)m.value.data())[i] = (float)x;
        if (type == LACIS_MUL_F64) ((double *)m.value.data())[i] = x;
    }
}
