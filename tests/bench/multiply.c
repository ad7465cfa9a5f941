/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench multiply: a graph times itself. On the CPU ours is one LET statement: parsed, planned, computed and
 * entered in the catalog; the peer's is its product, finished. On the GPU there are two figures: the kernels from
 * operands on the device to the result there (which is what the peer does), and the statement, from operands on the
 * host to the result on the host. Every answer is checked against a plain loop before anything is timed.
 */
#include "bars.h"
#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench {
    const bench_options *options;
    const char *graph_name;
    bool gpu, f64;
    lacis_engine *engine;
    bench_graph graph;
    int64_t source[BENCH_SOURCES];
    const bench_peer *peer; /* NULL: none */
    double peer_s;          /* GPU: its one product, measured once a graph; < 0: not yet */
    bench_resident *resident;
    double copy_rate;
    double minplus_s; /* ours of this graph, with which others are compared; < 0: not measured */
};

static uint64_t held(const struct bench *bench)
{
    uint64_t now, peak;
    lacis_memory_usage(bench->engine, &now, &peak, 0);
    return now;
}

/* On the GPU the statement begins with operands on the host: the arrays are made anew. */
static int forget_operands(const struct bench *bench, bench_op op)
{
    const char *name = bench_op_array(op);
    char text[16];
    if (!bench->gpu || op == BENCH_SOURCE) return 0;
    snprintf(text, sizeof text, "DROP %s", name);
    if (lacis_exec(bench->engine, text, NULL, NULL) != LACIS_OK)
        return bench_fail("%s", lacis_error_message(bench->engine));
    return bench_engine_array(bench->engine, &bench->graph, bench->f64, name[0] == 'h');
}

/* The result's parts on the host, with the digest where one is wanted. */
static int take_result(const struct bench *bench, int64_t first, double start, double *seconds, bench_digest *digest)
{
    lacis_array *array = NULL;
    lacis_part part;
    if (lacis_array_find(bench->engine, "r", &array) != LACIS_OK)
        return bench_fail("%s", lacis_error_message(bench->engine));
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK;)
        i++;
    *seconds = bench_now() - start;
    int code = digest == NULL ? 0 : bench_digest_array(array, first, digest);
    lacis_array_release(array);
    return code;
}

/* Times one statement. Where there is a digest, the result goes into it, and *bytes becomes what it holds. */
static int statement(const struct bench *bench, bench_op op, int64_t source, double *seconds, bench_digest *digest,
                     uint64_t *bytes)
{
    char text[500], where[64] = "";
    const char *array = bench_op_array(op);
    if (op == BENCH_SOURCE) snprintf(where, sizeof where, " WHERE src = %lld", (long long)source);
    snprintf(text, sizeof text, "LET r = MULTIPLY %s BY %s %s%s ON %s", array, array, bench_op_clauses[op], where,
             bench->options->device);
    int code = forget_operands(bench, op);
    if (code != 0) return code;
    uint64_t before = held(bench);
    double start = bench_now();
    if (lacis_exec(bench->engine, text, NULL, NULL) != LACIS_OK)
        return bench_fail("%s: %s", text, lacis_error_message(bench->engine));
    code = take_result(bench, op == BENCH_SOURCE ? source : 0, start, seconds, digest);
    if (bytes != NULL) *bytes = held(bench) - before;
    if (lacis_exec(bench->engine, "DROP r", NULL, NULL) != LACIS_OK)
        code = bench_fail("%s", lacis_error_message(bench->engine));
    return code;
}

/* ------------------------------------------------------------------------------------------- one run */

typedef enum bench_side { STATEMENT, RESIDENT, PEER, SHARED } bench_side; /* SHARED: as RESIDENT, by all GPUs */

/* One run of a side: of a single product, or the mean over the sources. */
static int one_run(const struct bench *bench, bench_op op, bench_side side, double *seconds, bench_digest *digest,
                   uint64_t *bytes)
{
    double sum = 0, one = 0;
    int runs = op == BENCH_SOURCE ? BENCH_SOURCES : 1;
    for (int i = 0; i < runs; i++) {
        int64_t source = bench->source[i];
        int gpus = side == SHARED ? bench_resident_gpus(bench->resident) : 1;
        int code = side == PEER        ? bench->peer->run(op, source, &one, digest)
                   : side == STATEMENT ? statement(bench, op, source, &one, digest, bytes)
                                       : bench_resident_run(bench->resident, gpus, source, &one, digest);
        if (code != 0) return code;
        sum += one;
    }
    *seconds = sum / runs;
    return 0;
}

static int check(const struct bench *bench, bench_op op, bench_side side, const bench_digest *right, uint64_t *bytes)
{
    static const char *const name[] = {"the statement", "the kernels", "the peer", "the kernels on all GPUs"};
    bench_digest found = {0, 0};
    double seconds;
    int code = one_run(bench, op, side, &seconds, &found, bytes);
    if (code == 0 && (found.entries != right->entries || found.sum != right->sum))
        return bench_fail("%s: the answer of %s is wrong: %llu entries, %llu expected", bench_op_name[op], name[side],
                          (unsigned long long)found.entries, (unsigned long long)right->entries);
    return code;
}

static int medians(const struct bench *bench, bench_op op, const bench_side *sides, int count, double *out)
{
    double times[3][BENCH_REPEATS];
    int repeat = bench->options->repeat;
    for (int i = 0; i < repeat; i++)
        for (int j = 0; j < count; j++) { /* by turns */
            int code = one_run(bench, op, sides[j], &times[j][i], NULL, NULL);
            if (code != 0) return code;
        }
    for (int j = 0; j < count; j++)
        out[j] = bench_median(times[j], repeat);
    return 0;
}

/* --------------------------------------------------------------------------------------------- on the CPU */

static int run_on_cpu(struct bench *bench, bench_op op, const bench_digest *right, bench_line *line)
{
    uint64_t before, now, peak, bytes = 0;
    double times[2] = {-1, -1};
    const bench_side sides[] = {STATEMENT, PEER};
    bool peer = bench->peer != NULL && bench->peer->has(op);
    lacis_memory_usage(bench->engine, &before, &peak, 1);
    int code = check(bench, op, STATEMENT, right, &bytes);
    if (code != 0) return code;
    lacis_memory_usage(bench->engine, &now, &peak, 0);
    line->peak_mb = (double)(peak - before) / 1e6;
    if (op < BENCH_TOP10 && right->entries > 0) line->entry_bytes = (double)bytes / (double)right->entries;
    if (peer && op != BENCH_TOP10) code = check(bench, op, PEER, right, NULL); /* it has no top ten: all counts */
    if (code == 0) code = medians(bench, op, sides, peer ? 2 : 1, times);
    line->ours_s = times[0];
    line->peer_s = times[1];
    if (peer) line->peer = bench->peer->name;
    return code;
}

/* --------------------------------------------------------------------------------------------- on the GPU */

static int run_peer_on_gpu(struct bench *bench)
{
    bench_digest right = {0, 0};
    const bench_side side = PEER;
    if (bench->peer == NULL || bench->peer_s >= 0) return 0;
    int code = bench_digest_plain(&bench->graph, BENCH_TIMES, NULL, &right);
    if (code == 0) code = check(bench, BENCH_TIMES, PEER, &right, NULL);
    return code == 0 ? medians(bench, BENCH_TIMES, &side, 1, &bench->peer_s) : code;
}

static int run_on_gpu(struct bench *bench, bench_op op, const bench_digest *right, bench_line *line)
{
    double times[2] = {-1, -1};
    const bench_side sides[] = {RESIDENT, STATEMENT};
    int code = run_peer_on_gpu(bench);
    if (code == 0) code = check(bench, op, RESIDENT, right, NULL);
    line->result_bytes = bench_resident_bytes(bench->resident);
    if (code == 0) code = check(bench, op, STATEMENT, right, NULL);
    if (code == 0) code = medians(bench, op, &sides[0], 1, &times[0]);
    if (code == 0) code = medians(bench, op, &sides[1], 1, &times[1]);
    if (code != 0) return code;
    line->ours_s = times[0];
    line->host_s = times[1];
    if (bench->copy_rate > 0) line->floor_s = line->result_bytes / bench->copy_rate;
    if (bench->peer != NULL && op != BENCH_SOURCE) {
        line->peer_s = bench->peer_s;
        line->peer = bench->peer->detail();
    }
    if (op == BENCH_MINPLUS) bench->minplus_s = line->ours_s;
    line->minplus_s = bench->minplus_s;
    return 0;
}

/* ------------------------------------------------------------------------------------- on several GPUs */

static int set_gpus(const struct bench *bench, int gpus)
{
    char text[32];
    snprintf(text, sizeof text, "SET gpus = %d", gpus);
    return lacis_exec(bench->engine, text, NULL, NULL) == LACIS_OK
               ? 0
               : bench_fail("%s", lacis_error_message(bench->engine));
}

/* One GPU's figure is measured anew, by turns with that of all. */
static int run_on_gpus(struct bench *bench, bench_op op, const bench_digest *right, bench_line *line)
{
    double times[3] = {-1, -1, -1};
    const bench_side sides[] = {RESIDENT, SHARED, STATEMENT};
    line->gpus = bench_resident_gpus(bench->resident);
    int code = set_gpus(bench, line->gpus);
    if (code == 0) code = check(bench, op, SHARED, right, NULL);
    line->result_bytes = bench_resident_bytes(bench->resident);
    if (code == 0) code = check(bench, op, STATEMENT, right, NULL);
    if (code == 0) code = medians(bench, op, &sides[0], 2, &times[0]);
    if (code == 0) code = medians(bench, op, &sides[2], 1, &times[2]);
    if (code == 0) code = set_gpus(bench, 1);
    line->one_s = times[0];
    line->ours_s = times[1];
    line->host_s = times[2];
    return code;
}

/* ----------------------------------------------------------------------------------------------- cases */

/* Whether the GPU does this op at all; where not, it is said. */
static bool gpu_does(struct bench *bench, bench_op op)
{
    char why[300];
    if (!bench->gpu) return true;
    int code = bench_resident_begin(bench->resident, op, why, sizeof why);
    if (code == 0 && why[0] == '\0') return true;
    printf("skipped: %s %s on the GPU: %s\n", bench->graph_name, bench_op_name[op], why);
    return false;
}

static bench_line line_of(const struct bench *bench, bench_op op, const bench_digest *right)
{
    bench_line line = bench_line_new();
    line.graph = bench->graph_name;
    line.op = op;
    line.type = bench->options->type;
    line.device = bench->options->device;
    line.entries = (double)right->entries / (op == BENCH_SOURCE ? BENCH_SOURCES : 1);
    line.products = bench_products(&bench->graph, op, bench->source);
    return line;
}

static int run_case(struct bench *bench, bench_op op)
{
    bench_digest right = {0, 0};
    if (op == BENCH_FOLD16 && !bench->gpu && bench->options->op == NULL) return 0;
    if (!gpu_does(bench, op)) return 0;
    int code = bench_digest_plain(&bench->graph, op, bench->source, &right);
    if (code != 0) return code;
    bench_line line = line_of(bench, op, &right);
    code = bench->gpu ? run_on_gpu(bench, op, &right, &line) : run_on_cpu(bench, op, &right, &line);
    if (code == 0) bench_print(bench->options, &line);
    if (code != 0 || op == BENCH_SOURCE || !bench->gpu || bench_resident_gpus(bench->resident) == 1) return code;
    line = line_of(bench, op, &right);
    code = run_on_gpus(bench, op, &right, &line);
    if (code == 0) bench_print(bench->options, &line);
    return code;
}

/* Where a peer was not asked for by name, its absence is said and no more. */
static int open_peer(struct bench *bench)
{
    char reason[300] = "";
    const char *wanted = bench->options->peer, *name = wanted != NULL ? wanted
                                                       : bench->gpu   ? "cusparse"
                                                                      : "graphblas";
    if (strcmp(name, "none") == 0) return 0;
    const bench_peer *peer = bench_peer_find(name, reason, sizeof reason);
    if (peer == NULL) {
        if (wanted != NULL && !bench->gpu) return bench_fail("no peer \"%s\": %s", name, reason);
        printf("no peer %s: %s\n", name, reason);
        return 0;
    }
    int code = peer->open(&bench->graph, bench->f64, bench->options->threads);
    if (code != 0 && !bench->gpu) return code;
    if (code != 0) printf("no peer %s for %s\n", name, bench->graph_name);
    if (code == 0) bench->peer = peer;
    return 0;
}

static int open_gpu(struct bench *bench)
{
    char reason[300] = "";
    if (!bench->gpu) return 0;
    int gpus = bench->options->gpus;
    int code = bench_resident_open(&bench->graph, bench->f64, gpus, &bench->resident, reason, sizeof reason);
    if (code == 0 && bench->resident == NULL) {
        printf("skipped: %s\n", reason);
        return 77;
    }
    if (code == 0 && bench_resident_gpus(bench->resident) < gpus)
        printf("%d GPUs were asked for: there are %d\n", gpus, bench_resident_gpus(bench->resident));
    if (code == 0) bench->copy_rate = bench_resident_copy_rate(bench->resident);
    return code;
}

static int run_graph(const bench_options *options, const char *name)
{
    struct bench bench = {.options = options,
                          .graph_name = bench_graph_label(name),
                          .gpu = strcmp(options->device, "gpu") == 0,
                          .f64 = strcmp(options->type, "f64") == 0,
                          .peer_s = -1,
                          .minplus_s = -1};
    int code = bench_graph_make(name, &bench.graph);
    if (code == 0) code = open_gpu(&bench);
    if (code == 0) code = bench_engine_open(&bench.graph, options, NULL, &bench.engine);
    if (code == 0 && bench.gpu) code = set_gpus(&bench, 1);
    if (code == 0) code = open_peer(&bench);
    if (code == 0) bench_sources(&bench.graph, bench.source);
    if (code == 0 && bench.gpu && !options->json)
        printf("%s: device copies %.2f TB/s read and written\n", bench.graph_name, 1e-12 * bench.copy_rate);
    for (int op = 0; code == 0 && op < BENCH_OPS; op++)
        if (bench_op_wanted(options, (bench_op)op)) code = run_case(&bench, (bench_op)op);
    if (bench.peer != NULL) bench.peer->close();
    bench_resident_close(bench.resident);
    lacis_close(bench.engine);
    bench_graph_free(&bench.graph);
    return code;
}

int bench_multiply(const bench_options *options)
{
    int worst = 0;
    if (!bench_ops_known(options)) return 2;
    for (int i = 0; i < options->graphs; i++) {
        int code = run_graph(options, options->graph[i]);
        if (code == 77) return code;
        if (code != 0) worst = code;
    }
    return worst;
}
