/* SPDX-License-Identifier: Apache-2.0
 *
 * Answers, by a plain loop and from memory, as digests. Rows are dealt to all processors in chunks.
 */
#include "bench.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 64, CHUNK = 64 };

struct task {
    atomic_llong next;
    int64_t rows;
    const bench_rows *in; /* or */
    const bench_graph *graph;
    bench_op op;
    const int64_t *source;
    atomic_ullong entries, sum;
    atomic_bool failed;
};

/* ---------------------------------------------------------------------------------------- plain loop */

struct plain {
    double *value, *paths;
    uint32_t *touched;
    bool *there;
    int64_t count;
};

static double con_of(const bench_graph *g, bench_op op, int64_t i, int64_t j)
{
    switch (op) {
    case BENCH_MINPLUS:
    case BENCH_USER:
    case BENCH_FOLD16:
        return g->value64[i] + g->value64[j];
    case BENCH_TIMES:
        return g->small64[i] * g->small64[j];
    default:
        return 1;
    }
}

static void add(struct plain *p, bench_op op, uint32_t t, double v)
{
    bool least = op == BENCH_MINPLUS || op == BENCH_USER || op == BENCH_FOLD16;
    if (!p->there[t] || (least && v < p->value[t])) {
        if (!p->there[t]) p->touched[p->count++] = t;
        p->there[t] = true;
        p->value[t] = v;
        p->paths[t] = 1;
    } else if (!least) {
        p->value[t] += v;
    } else if (v == p->value[t]) {
        p->paths[t]++;
    }
}

static void plain_row(const bench_graph *g, int64_t row, bench_op op, struct plain *p)
{
    p->count = 0;
    for (int64_t i = g->offsets[row]; i < g->offsets[row + 1]; i++) {
        uint32_t c = g->columns[i];
        for (int64_t j = g->offsets[c]; j < g->offsets[c + 1]; j++)
            add(p, op, g->columns[j], con_of(g, op, i, j));
    }
}

/* Greater value first, then the smaller column. */
static bool before(const struct plain *p, uint32_t x, uint32_t y)
{
    return p->value[x] > p->value[y] || (p->value[x] == p->value[y] && x < y);
}

static int64_t keep_top(struct plain *p)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < p->count; i++) {
        uint32_t t = p->touched[i];
        if (kept == BENCH_TOP && !before(p, t, p->touched[BENCH_TOP - 1])) continue;
        int64_t at = kept < BENCH_TOP ? kept++ : BENCH_TOP - 1;
        for (; at > 0 && before(p, t, p->touched[at - 1]); at--)
            p->touched[at] = p->touched[at - 1];
        p->touched[at] = t;
    }
    return kept;
}

/* A distance and its number of paths as one number; both are whole and small. */
static double joined(double distance, double paths)
{
    return distance * 1048576 + paths;
}

static void plain_digest(const struct task *task, int64_t row, struct plain *p, bench_digest *digest)
{
    plain_row(task->graph, row, task->op, p);
    for (int64_t i = 0; i < p->count; i++)
        p->there[p->touched[i]] = false;
    int64_t kept = task->op == BENCH_TOP10 ? keep_top(p) : p->count;
    for (int64_t i = 0; i < kept; i++) {
        uint32_t t = p->touched[i];
        double value = task->op == BENCH_FOLD16 ? joined(p->value[t], p->paths[t]) : p->value[t];
        bench_digest_add(digest, (uint64_t)row, t, value);
    }
}

static bool plain_open(struct plain *p, int64_t columns)
{
    size_t n = (size_t)columns + 1;
    *p = (struct plain){malloc(n * sizeof(double)), malloc(n * sizeof(double)), malloc(n * sizeof(uint32_t)),
                        calloc(n, sizeof(bool)), 0};
    return p->value != NULL && p->paths != NULL && p->touched != NULL && p->there != NULL;
}

static void plain_close(struct plain *p)
{
    free(p->value);
    free(p->paths);
    free(p->touched);
    free(p->there);
}

/* ----------------------------------------------------------------------------------------- from memory */

static double value_of(const void *data, lacis_dtype storage, int64_t i)
{
    switch (storage) {
    case LACIS_U8:
        return ((const uint8_t *)data)[i];
    case LACIS_U16:
        return ((const uint16_t *)data)[i];
    case LACIS_U32:
        return ((const uint32_t *)data)[i];
    case LACIS_I32:
        return ((const int32_t *)data)[i];
    case LACIS_I64:
        return (double)((const int64_t *)data)[i];
    case LACIS_F32:
        return (double)((const float *)data)[i];
    case LACIS_C128:
        return joined(((const double *)data)[2 * i], ((const double *)data)[2 * i + 1]);
    default:
        return ((const double *)data)[i];
    }
}

static void stored_digest(const bench_rows *in, int64_t r, bench_digest *digest)
{
    for (int64_t i = in->begin[r]; i < in->end[r]; i++)
        bench_digest_add(digest, (uint64_t)(in->first + r), in->column[i], value_of(in->value, in->storage, i));
}

/* -------------------------------------------------------------------------------------------- dealing */

static void *work(void *arg)
{
    struct task *task = arg;
    struct plain plain = {0};
    bench_digest digest = {0, 0};
    if (task->in == NULL && !plain_open(&plain, task->graph->n)) atomic_store(&task->failed, true);
    while (!atomic_load(&task->failed)) {
        int64_t from = atomic_fetch_add(&task->next, CHUNK),
                to = from + CHUNK < task->rows ? from + CHUNK : task->rows;
        if (from >= task->rows) break;
        for (int64_t r = from; r < to; r++) {
            if (task->in != NULL)
                stored_digest(task->in, r, &digest);
            else
                plain_digest(task, task->source == NULL ? r : task->source[r], &plain, &digest);
        }
    }
    plain_close(&plain);
    atomic_fetch_add(&task->entries, digest.entries);
    atomic_fetch_add(&task->sum, digest.sum);
    return NULL;
}

static int deal(struct task *task, bench_digest *digest)
{
    pthread_t thread[THREADS];
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int most = processors > THREADS ? THREADS : (int)processors, started = 0;
    while (started + 1 < most && task->rows > CHUNK && pthread_create(&thread[started], NULL, work, task) == 0)
        started++;
    work(task);
    for (int i = 0; i < started; i++)
        pthread_join(thread[i], NULL);
    digest->entries += task->entries;
    digest->sum += task->sum;
    return task->failed ? bench_fail("out of memory") : 0;
}

int bench_digest_rows(const bench_rows *rows, bench_digest *digest)
{
    struct task task = {.rows = rows->rows, .in = rows};
    return deal(&task, digest);
}

int bench_digest_plain(const bench_graph *graph, bench_op op, const int64_t *source, bench_digest *digest)
{
    bool some = op == BENCH_SOURCE;
    struct task task = {
        .rows = some ? BENCH_SOURCES : graph->n, .graph = graph, .op = op, .source = some ? source : NULL};
    return deal(&task, digest);
}

/* Parts of a result by name; data NULL where there is none. */
static lacis_part part_of(const lacis_array *array, const char *name)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++)
        if (strcmp(part.name, name) == 0) return part;
    return (lacis_part){0};
}

int bench_digest_array(const lacis_array *array, int64_t first, bench_digest *digest)
{
    lacis_part begin = part_of(array, "begin"), end = part_of(array, "end"), offsets = part_of(array, "offsets");
    lacis_part columns = part_of(array, "columns"), values = part_of(array, "values");
    const int64_t *from = begin.data != NULL ? begin.data : offsets.data;
    bench_rows rows = {first,        lacis_array_extent(array, 0),
                       from,         end.data != NULL ? end.data : from + 1,
                       columns.data, values.data,
                       values.dtype};
    return bench_digest_rows(&rows, digest);
}
