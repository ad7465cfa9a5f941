/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench multiply: a graph times itself. Ours is one LET statement: parsed, planned, computed and entered in the
 * catalog; the peer's is its product, finished. The answer is checked against a plain loop before anything is timed.
 */
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOP = 10, SOURCES = 16 };

static const struct {
    const char *name, *clauses;
} ops[BENCH_OPS] = {
    [BENCH_PAIR] = {"pair", "CON nil AGG count"},
    [BENCH_MINPLUS] = {"minplus", "CON a + b AGG min"},
    /* Min-plus in words that no built-in form matches. */
    [BENCH_USER] = {"user", "CON CASE WHEN a >= 0 THEN a + b ELSE b - a END AGG min"},
    [BENCH_TOP10] = {"top10", "CON nil AGG count TOP 10"},
    [BENCH_SOURCE] = {"source", "CON nil AGG count"},
};

struct bench {
    const bench_options *options;
    lacis_engine *engine;
    bench_graph graph;
    int64_t source[SOURCES];
    const char *peer; /* NULL: none */
};

/* ---------------------------------------------------------------------------------------- plain loop */

struct plain {
    double *value;
    uint32_t *touched;
    bool *there;
    int64_t count;
};

static bool by_count(bench_op op)
{
    return op != BENCH_MINPLUS && op != BENCH_USER;
}

static void plain_row(const bench_graph *g, int64_t row, bench_op op, struct plain *p)
{
    p->count = 0;
    for (int64_t i = g->offsets[row]; i < g->offsets[row + 1]; i++) {
        uint32_t c = g->columns[i];
        for (int64_t j = g->offsets[c]; j < g->offsets[c + 1]; j++) {
            uint32_t t = g->columns[j];
            double v = by_count(op) ? 1 : g->value64[i] + g->value64[j];
            if (!p->there[t]) {
                p->there[t] = true;
                p->value[t] = v;
                p->touched[p->count++] = t;
            } else if (by_count(op)) {
                p->value[t] += 1;
            } else if (v < p->value[t]) {
                p->value[t] = v;
            }
        }
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
        if (kept == TOP && !before(p, t, p->touched[TOP - 1])) continue;
        int64_t at = kept < TOP ? kept++ : TOP - 1;
        for (; at > 0 && before(p, t, p->touched[at - 1]); at--)
            p->touched[at] = p->touched[at - 1];
        p->touched[at] = t;
    }
    return kept;
}

static void digest_row(const bench_graph *g, int64_t row, bench_op op, struct plain *p, bench_digest *digest)
{
    plain_row(g, row, op, p);
    for (int64_t i = 0; i < p->count; i++)
        p->there[p->touched[i]] = false;
    int64_t kept = op == BENCH_TOP10 ? keep_top(p) : p->count;
    for (int64_t i = 0; i < kept; i++)
        bench_digest_add(digest, (uint64_t)row, p->touched[i], p->value[p->touched[i]]);
}

static int plain_digest(const struct bench *bench, bench_op op, bench_digest *digest)
{
    size_t n = (size_t)bench->graph.n;
    struct plain p = {malloc(n * sizeof(double)), malloc(n * sizeof(uint32_t)), calloc(n, sizeof(bool)), 0};
    int code = p.value == NULL || p.touched == NULL || p.there == NULL ? bench_fail("out of memory") : 0;
    for (int64_t r = 0; code == 0 && op != BENCH_SOURCE && r < bench->graph.n; r++)
        digest_row(&bench->graph, r, op, &p, digest);
    for (int i = 0; code == 0 && op == BENCH_SOURCE && i < SOURCES; i++)
        digest_row(&bench->graph, bench->source[i], op, &p, digest);
    free(p.value);
    free(p.touched);
    free(p.there);
    return code;
}

/* --------------------------------------------------------------------------------------------- ours */

static double value_of(const lacis_part *part, int64_t i)
{
    switch (part->dtype) {
    case LACIS_U8:
        return ((const uint8_t *)part->data)[i];
    case LACIS_U16:
        return ((const uint16_t *)part->data)[i];
    case LACIS_U32:
        return ((const uint32_t *)part->data)[i];
    case LACIS_I32:
        return ((const int32_t *)part->data)[i];
    case LACIS_I64:
        return (double)((const int64_t *)part->data)[i];
    case LACIS_F32:
        return (double)((const float *)part->data)[i];
    default:
        return ((const double *)part->data)[i];
    }
}

/* Parts of a result by name; data NULL where there is none. */
static lacis_part part_of(const lacis_array *array, const char *name)
{
    lacis_part part;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++)
        if (strcmp(part.name, name) == 0) return part;
    return (lacis_part){0};
}

/* Rows count from `first`: where one source was selected, the result holds its row alone. */
static void digest_array(const lacis_array *array, int64_t first, bench_digest *digest)
{
    lacis_part begin = part_of(array, "begin"), end = part_of(array, "end"), offsets = part_of(array, "offsets");
    lacis_part columns = part_of(array, "columns"), values = part_of(array, "values");
    const int64_t *from = begin.data != NULL ? begin.data : offsets.data;
    const int64_t *to = end.data != NULL ? end.data : from + 1;
    for (int64_t r = 0; r < lacis_array_extent(array, 0); r++)
        for (int64_t i = from[r]; i < to[r]; i++)
            bench_digest_add(digest, (uint64_t)(first + r), ((const uint32_t *)columns.data)[i],
                             value_of(&values, i));
}

static uint64_t held(const struct bench *bench)
{
    uint64_t now, peak;
    lacis_memory_usage(bench->engine, &now, &peak, 0);
    return now;
}

/* Times one statement. Where there is a digest, the result goes into it, and *bytes becomes what it holds. */
static int ours_run(const struct bench *bench, bench_op op, int64_t source, double *seconds, bench_digest *digest,
                    uint64_t *bytes)
{
    char text[300], where[64] = "";
    if (op == BENCH_SOURCE) snprintf(where, sizeof where, " WHERE src = %lld", (long long)source);
    snprintf(text, sizeof text, "LET r = MULTIPLY g BY g %s%s ON %s", ops[op].clauses, where, bench->options->device);
    uint64_t before = held(bench);
    double start = bench_now();
    lacis_status status = lacis_exec(bench->engine, text, NULL, NULL);
    *seconds = bench_now() - start;
    lacis_array *array = NULL;
    if (status == LACIS_OK && digest != NULL) {
        *bytes = held(bench) - before;
        status = lacis_array_find(bench->engine, "r", &array);
        if (status == LACIS_OK) digest_array(array, op == BENCH_SOURCE ? source : 0, digest);
        lacis_array_release(array);
    }
    if (status == LACIS_OK) status = lacis_exec(bench->engine, "DROP r", NULL, NULL);
    return status == LACIS_OK ? 0 : bench_fail("%s: %s", text, lacis_error_message(bench->engine));
}

/* -------------------------------------------------------------------------------------------- cases */

/* One run of a side: of a single statement, or the mean over the sources. */
static int one_run(const struct bench *bench, bench_op op, bool peer, double *seconds, bench_digest *digest,
                   uint64_t *bytes)
{
    double sum = 0, one;
    int runs = op == BENCH_SOURCE ? SOURCES : 1;
    for (int i = 0; i < runs; i++) {
        int code = peer ? bench_peer_run(op, bench->source[i], &one, digest)
                        : ours_run(bench, op, bench->source[i], &one, digest, bytes);
        if (code != 0) return code;
        sum += one;
    }
    *seconds = sum / runs;
    return 0;
}

static int check(const struct bench *bench, bench_op op, bench_digest *ours, bench_line *line)
{
    bench_digest plain = {0, 0}, peer = {0, 0};
    double seconds;
    uint64_t now, peak, bytes = 0;
    lacis_memory_usage(bench->engine, &now, &peak, 1);
    uint64_t before = now;
    int code = one_run(bench, op, false, &seconds, ours, &bytes);
    if (code != 0) return code;
    lacis_memory_usage(bench->engine, &now, &peak, 0);
    line->peak_mb = (double)(peak - before) / 1e6;
    line->entries = (double)ours->entries / (op == BENCH_SOURCE ? SOURCES : 1);
    if (op < BENCH_TOP10 && ours->entries > 0) line->entry_bytes = (double)bytes / line->entries;
    code = plain_digest(bench, op, &plain);
    if (code != 0) return code;
    if (ours->entries != plain.entries || ours->sum != plain.sum)
        return bench_fail("%s: the answer is wrong: %llu entries, %llu expected", ops[op].name,
                          (unsigned long long)ours->entries, (unsigned long long)plain.entries);
    if (bench->peer == NULL || op == BENCH_TOP10) return 0;
    code = one_run(bench, op, true, &seconds, &peer, NULL);
    if (code == 0 && (peer.entries != plain.entries || peer.sum != plain.sum))
        return bench_fail("%s: the peer's answer differs", ops[op].name);
    return code;
}

static double products(const struct bench *bench, bench_op op)
{
    const bench_graph *g = &bench->graph;
    double sum = 0;
    for (int64_t k = 0; k < (op == BENCH_SOURCE ? SOURCES : g->n); k++) {
        int64_t r = op == BENCH_SOURCE ? bench->source[k] : k;
        for (int64_t i = g->offsets[r]; i < g->offsets[r + 1]; i++)
            sum += (double)(g->offsets[g->columns[i] + 1] - g->offsets[g->columns[i]]);
    }
    return op == BENCH_SOURCE ? sum / SOURCES : sum;
}

static int run_case(const struct bench *bench, bench_op op)
{
    const bench_options *o = bench->options;
    bench_digest ours = {0, 0};
    bench_times times = {.has_peer = bench->peer != NULL};
    bench_line line = {.peer = bench->peer, .peer_s = -1, .entry_bytes = -1};
    int code = check(bench, op, &ours, &line);
    for (int i = 0; code == 0 && i < o->repeat; i++) {
        code = one_run(bench, op, false, &times.ours[i], NULL, NULL);
        if (code == 0 && times.has_peer) code = one_run(bench, op, true, &times.peer[i], NULL, NULL);
    }
    if (code != 0) return code;
    const char *slash = strrchr(o->graph, '/');
    snprintf(line.name, sizeof line.name, "multiply/%s/%s/%s/%s", slash == NULL ? o->graph : slash + 1, ops[op].name,
             o->type, o->device);
    line.ours_s = bench_median(times.ours, o->repeat);
    if (times.has_peer) line.peer_s = bench_median(times.peer, o->repeat);
    line.products = products(bench, op);
    bench_print(o, &line);
    return 0;
}

static void choose_sources(struct bench *bench)
{
    uint64_t state = 12345;
    for (int i = 0; i < SOURCES; i++) {
        int64_t row = 0;
        for (int tries = 0; tries < 1000; tries++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            row = (int64_t)((state >> 33) % (uint64_t)bench->graph.n);
            if (bench->graph.offsets[row + 1] > bench->graph.offsets[row]) break;
        }
        bench->source[i] = row;
    }
}

static int open_engine(struct bench *bench)
{
    const bench_graph *g = &bench->graph;
    char text[64];
    bool f64 = strcmp(bench->options->type, "f64") == 0;
    const lacis_part parts[] = {
        {"offsets", LACIS_I64, g->n + 1, g->offsets},
        {"columns", LACIS_U32, g->entries, g->columns},
        {"values", f64 ? LACIS_F64 : LACIS_F32, g->entries, f64 ? (const void *)g->value64 : g->value32},
    };
    lacis_array_spec spec = {LACIS_CSR, f64 ? LACIS_F64 : LACIS_F32, {g->n, g->n}, parts, 3};
    lacis_status status = lacis_open(NULL, &bench->engine);
    if (status == LACIS_OK && bench->options->threads > 0) {
        snprintf(text, sizeof text, "SET threads = %d", bench->options->threads);
        status = lacis_exec(bench->engine, text, NULL, NULL);
    }
    if (status == LACIS_OK) status = lacis_array_create(bench->engine, "g", &spec);
    return status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(bench->engine));
}

static int open_peer(struct bench *bench)
{
    const char *wanted = bench->options->peer, *linked = bench_peer_name();
    if (wanted != NULL && strcmp(wanted, "none") == 0) return 0;
    if (wanted != NULL && (linked == NULL || strcmp(wanted, linked) != 0))
        return bench_fail("this lacis-bench has no peer \"%s\"", wanted);
    if (linked == NULL) return 0;
    bench->peer = linked;
    return bench_peer_open(&bench->graph, strcmp(bench->options->type, "f64") == 0, bench->options->threads);
}

int bench_multiply(const bench_options *options)
{
    struct bench bench = {.options = options};
    int code = bench_graph_make(options->graph, &bench.graph), known = options->op == NULL;
    if (code == 0) code = open_engine(&bench);
    if (code == 0) code = open_peer(&bench);
    if (code == 0) choose_sources(&bench);
    for (int op = 0; code == 0 && op < BENCH_OPS; op++) {
        if (options->op != NULL && strcmp(options->op, ops[op].name) != 0) continue;
        known = 1;
        code = run_case(&bench, (bench_op)op);
    }
    if (code == 0 && !known)
        code = bench_fail("--op is pair, minplus, user, top10 or source, not %s", options->op) + 1;
    if (bench.peer != NULL) bench_peer_close();
    lacis_close(bench.engine);
    bench_graph_free(&bench.graph);
    return code;
}
