/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench FAMILY [options]: command line, table of families, and the measuring that they share.
 */
#include "bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const bench_family families[] = {
    {"multiply", "--graph rmat:S|uniform:S|FILE  --op pair|minplus|user|top10|source (all of them if left out)",
     bench_multiply},
    {"solve", "--op part of a case's name: chain, tree, flat, full, block, shared (all of them if left out)",
     bench_solve},
};
enum { FAMILIES = sizeof families / sizeof families[0] };

int bench_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("lacis-bench: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return 1;
}

double bench_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int by_size(const void *x, const void *y)
{
    double left = *(const double *)x, right = *(const double *)y;
    return (left > right) - (left < right);
}

double bench_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_size);
    return count % 2 == 1 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static void figure(const bench_options *options, const char *name, const char *format, double value)
{
    if (value < 0) return;
    printf(options->json ? ", \"%s\": " : " %s=", name);
    printf(format, value);
}

void bench_print(const bench_options *options, const bench_line *line)
{
    bool peer = line->peer_s >= 0;
    if (options->json) {
        printf("{\"case\": \"%s\", \"peer\": \"%s\"", line->name, peer ? line->peer : "none");
    } else {
        printf("case=%s peer=%s", line->name, peer ? line->peer : "none");
    }
    figure(options, "ours_s", "%.6f", line->ours_s);
    figure(options, "peer_s", "%.6f", line->peer_s);
    figure(options, "ratio", "%.4f", peer ? line->ours_s / line->peer_s : -1);
    figure(options, "products", "%.0f", line->products);
    figure(options, "entries", "%.0f", line->entries);
    figure(options, "peak_mb", "%.1f", line->peak_mb);
    figure(options, "entry_bytes", "%.2f", line->entry_bytes);
    figure(options, "entry_ns", "%.3f", line->entry_ns > 0 ? line->entry_ns : -1);
    puts(options->json ? "}" : "");
    fflush(stdout);
}

/* ------------------------------------------------------------------------------------- command line */

struct option {
    const char *name, *help;
    const char **text; /* or */
    int *number;
};

static int usage(FILE *to)
{
    fputs("usage: lacis-bench FAMILY [options]\n\nfamilies:\n", to);
    for (int i = 0; i < FAMILIES; i++)
        fprintf(to, "  %-10s %s\n", families[i].name, families[i].help);
    fputs(
        "\noptions of all families:\n"
        "  --type f32|f64   values (f32)\n"
        "  --device cpu|gpu (cpu)\n"
        "  --threads N      of both sides (all processors)\n"
        "  --peer NAME      graphblas, lapack or none (what is there)\n"
        "  --repeat N       runs of each side, of which the median counts (5)\n"
        "  --json           one JSON object a line\n\n"
        "Times are of one LET statement, from arrays in memory to the stored result; the answer is checked first.\n",
        to);
    return to == stdout ? 0 : 2;
}

static int set(const struct option *option, const char *value)
{
    if (option->text != NULL) {
        *option->text = value;
        return 0;
    }
    char *end;
    long number = strtol(value, &end, 10);
    if (*end != '\0' || number < 1 || number > BENCH_REPEATS)
        return bench_fail("%s takes a number from 1 to %d, not %s", option->name, BENCH_REPEATS, value) + 1;
    *option->number = (int)number;
    return 0;
}

static int parse(int argc, char **argv, bench_options *options)
{
    const struct option all[] = {
        {"--graph", "", &options->graph, NULL},   {"--op", "", &options->op, NULL},
        {"--type", "", &options->type, NULL},     {"--device", "", &options->device, NULL},
        {"--peer", "", &options->peer, NULL},     {"--threads", "", NULL, &options->threads},
        {"--repeat", "", NULL, &options->repeat},
    };
    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            options->json = true;
            continue;
        }
        size_t at = 0;
        while (at < sizeof all / sizeof all[0] && strcmp(argv[i], all[at].name) != 0)
            at++;
        if (at == sizeof all / sizeof all[0] || i + 1 == argc)
            return bench_fail("unknown option or missing value: %s", argv[i]) + 1;
        int code = set(&all[at], argv[++i]);
        if (code != 0) return code;
    }
    if (strcmp(options->type, "f32") != 0 && strcmp(options->type, "f64") != 0)
        return bench_fail("--type is f32 or f64, not %s", options->type) + 1;
    if (strcmp(options->device, "cpu") != 0 && strcmp(options->device, "gpu") != 0)
        return bench_fail("--device is cpu or gpu, not %s", options->device) + 1;
    return 0;
}

int main(int argc, char **argv)
{
    bench_options options = {"rmat:14", NULL, "f32", "cpu", NULL, 0, 5, false};
    if (argc < 2) return usage(stderr);
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) return usage(stdout);
    int code = parse(argc, argv, &options);
    if (code != 0) return code;
    for (int i = 0; i < FAMILIES; i++)
        if (strcmp(argv[1], families[i].name) == 0) return families[i].run(&options);
    bench_fail("there is no family \"%s\"", argv[1]);
    return usage(stderr);
}
