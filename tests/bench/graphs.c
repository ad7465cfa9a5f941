/* SPDX-License-Identifier: Apache-2.0
 *
 * Graphs for lacis-bench: made here (so that they are the same whatever the engine does), or loaded by the engine.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A recursive-matrix edge (Chakrabarti, Zhan and Faloutsos, SDM 2004): a .57, b .19, c .19. */
static uint64_t rmat_edge(uint64_t *state, int scale)
{
    uint64_t row = 0, column = 0;
    for (int i = 0; i < scale; i++) {
        double p = (double)(next_random(state) >> 11) * 0x1p-53;
        row = row << 1 | (p >= 0.76);
        column = column << 1 | ((p >= 0.57 && p < 0.76) || p >= 0.95);
    }
    return row << 32 | column;
}

static void permute(uint64_t *key, int64_t edges, int64_t n, uint64_t *state)
{
    uint32_t *place = malloc(sizeof *place * (size_t)n);
    if (place == NULL) return;
    for (int64_t i = 0; i < n; i++)
        place[i] = (uint32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        int64_t j = (int64_t)(next_random(state) % (uint64_t)(i + 1));
        uint32_t other = place[i];
        place[i] = place[j];
        place[j] = other;
    }
    for (int64_t i = 0; i < edges; i++)
        key[i] = (uint64_t)place[key[i] >> 32] << 32 | place[key[i] & UINT32_MAX];
    free(place);
}

/* Sorts keys by their lowest bits first, 16 at a time; digits that all keys share cost one look. */
static int sort_keys(uint64_t *key, int64_t count)
{
    enum { DIGIT = 16, DIGITS = 1 << DIGIT };
    uint64_t *other = malloc(sizeof *other * (size_t)(count + 1)), *from = key, *to = other;
    int64_t *place = malloc(sizeof *place * DIGITS);
    if (other == NULL || place == NULL) return bench_fail("out of memory");
    for (int shift = 0; shift < 64; shift += DIGIT) {
        memset(place, 0, sizeof *place * DIGITS);
        for (int64_t i = 0; i < count; i++)
            place[from[i] >> shift & (DIGITS - 1)]++;
        if (count == 0 || place[from[0] >> shift & (DIGITS - 1)] == count) continue;
        int64_t sum = 0;
        for (int i = 0; i < DIGITS; i++) {
            int64_t here = place[i];
            place[i] = sum;
            sum += here;
        }
        for (int64_t i = 0; i < count; i++)
            to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
        uint64_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != key) memcpy(key, from, sizeof *key * (size_t)count);
    free(other);
    free(place);
    return 0;
}

/* Distinct keys row << 32 | column into CSR. */
static int from_keys(uint64_t *key, int64_t edges, int64_t n, bench_graph *out)
{
    int code = sort_keys(key, edges);
    if (code != 0) return code;
    out->n = n;
    out->offsets = calloc((size_t)n + 1, sizeof *out->offsets);
    out->columns = malloc(sizeof *out->columns * (size_t)edges);
    if (out->offsets == NULL || out->columns == NULL) return bench_fail("out of memory");
    for (int64_t i = 0; i < edges; i++) {
        if (i > 0 && key[i] == key[i - 1]) continue;
        out->offsets[(key[i] >> 32) + 1]++;
        out->columns[out->entries++] = (uint32_t)key[i];
    }
    for (int64_t r = 0; r < n; r++)
        out->offsets[r + 1] += out->offsets[r];
    return 0;
}

static int generate(bool rmat, int scale, bench_graph *out)
{
    uint64_t state = 1;
    int64_t n = (int64_t)1 << scale, edges = n * (rmat ? 16 : 8);
    uint64_t *key = malloc(sizeof *key * (size_t)edges);
    if (key == NULL) return bench_fail("out of memory");
    for (int64_t i = 0; i < edges; i++)
        key[i] =
            rmat ? rmat_edge(&state, scale) : (uint64_t)(i / 8) << 32 | (next_random(&state) & ((uint64_t)n - 1));
    if (rmat) permute(key, edges, n, &state);
    int code = from_keys(key, edges, n, out);
    free(key);
    return code;
}

static const lacis_part *find_part(const lacis_array *array, const char *name, lacis_part *part)
{
    for (int i = 0; lacis_array_part(array, i, part) == LACIS_OK; i++)
        if (strcmp(part->name, name) == 0) return part;
    return NULL;
}

/* The pattern of a loaded graph; rows and columns that are labelled must be the same ones. */
static int copy_array(const char *name, const lacis_array *array, bench_graph *out)
{
    lacis_part offsets, columns;
    if (lacis_array_kind(array) != LACIS_CSR || lacis_array_extent(array, 0) != lacis_array_extent(array, 1) ||
        find_part(array, "offsets", &offsets) == NULL || find_part(array, "columns", &columns) == NULL)
        return bench_fail("%s is not a square graph", name);
    out->n = lacis_array_extent(array, 0);
    out->entries = columns.count;
    out->offsets = malloc(sizeof(int64_t) * (size_t)offsets.count);
    out->columns = malloc(sizeof(uint32_t) * (size_t)(columns.count + 1));
    if (out->offsets == NULL || out->columns == NULL) return bench_fail("out of memory");
    memcpy(out->offsets, offsets.data, sizeof(int64_t) * (size_t)offsets.count);
    memcpy(out->columns, columns.data, sizeof(uint32_t) * (size_t)columns.count);
    return 0;
}

static int load(const char *path, bench_graph *out)
{
    lacis_engine *engine;
    lacis_array *array = NULL;
    char text[4096];
    snprintf(text, sizeof text, "LOAD g FROM '%s'", path);
    int code = 0;
    if (lacis_open(NULL, &engine) != LACIS_OK || lacis_exec(engine, text, NULL, NULL) != LACIS_OK ||
        lacis_array_find(engine, "g", &array) != LACIS_OK)
        code = bench_fail("%s: %s", path, lacis_error_message(engine));
    if (code == 0) code = copy_array(path, array, out);
    lacis_array_release(array);
    lacis_close(engine);
    return code;
}

static int add_values(bench_graph *graph)
{
    uint64_t state = 7;
    size_t n = (size_t)graph->entries + 1;
    graph->value32 = malloc(sizeof(float) * n);
    graph->small32 = malloc(sizeof(float) * n);
    graph->value64 = malloc(sizeof(double) * n);
    graph->small64 = malloc(sizeof(double) * n);
    if (graph->value32 == NULL || graph->small32 == NULL || graph->value64 == NULL || graph->small64 == NULL)
        return bench_fail("out of memory");
    for (int64_t i = 0; i < graph->entries; i++) {
        uint64_t value = 1 + next_random(&state) % 1000;
        graph->value64[i] = (double)value;
        graph->value32[i] = (float)value;
        graph->small64[i] = (double)(1 + value % 8);
        graph->small32[i] = (float)graph->small64[i];
    }
    return 0;
}

int bench_graph_make(const char *name, bench_graph *out)
{
    int scale, used = 0, code;
    *out = (bench_graph){0};
    bool rmat = sscanf(name, "rmat:%d%n", &scale, &used) == 1 && name[used] == '\0';
    bool uniform = !rmat && sscanf(name, "uniform:%d%n", &scale, &used) == 1 && name[used] == '\0';
    if ((rmat || uniform) && (scale < 1 || scale > 28)) return bench_fail("%s: the scale goes from 1 to 28", name);
    code = rmat || uniform ? generate(rmat, scale, out) : load(name, out);
    if (code == 0) code = add_values(out);
    if (code != 0) bench_graph_free(out);
    return code;
}

void bench_graph_free(bench_graph *graph)
{
    free(graph->offsets);
    free(graph->columns);
    free(graph->value32);
    free(graph->small32);
    free(graph->value64);
    free(graph->small64);
    *graph = (bench_graph){0};
}

const char *bench_graph_label(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash == NULL ? name : slash + 1;
}
