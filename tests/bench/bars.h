/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of lacis-bench multiply, and the bars of the project that a line is held against.
 */
#ifndef LACIS_BENCH_BARS_H
#define LACIS_BENCH_BARS_H

#include "bench.h"

/* One line. Figures below zero are left out. */
typedef struct bench_line {
    const char *graph, *type, *device;
    bench_op op;
    const char *peer;
    int gpus;                                                 /* that share the product */
    double ours_s, one_s, host_s, peer_s, minplus_s, floor_s; /* one_s: by one GPU, where several share it */
    double products, entries, peak_mb, entry_bytes, result_bytes;
} bench_line;
bench_line bench_line_new(void);
void bench_print(const bench_options *options, const bench_line *line);

/* A bar: `of` says what is held against it. */
typedef struct bench_bar {
    const char
        *of; /* "peer", "minplus": ours over theirs; "one GPU": that over ours; "ms", "us": ours; "Gproducts/s" */
    double bar, beyond, found;
    bool at_least;
} bench_bar;
/* False: there is no bar for the line, or the figure that it compares with is missing. */
bool bench_bar_of(const bench_line *line, bench_bar *out);

#endif
