/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench without a peer library for graphs.
 */
#include "bench.h"

const char *bench_peer_name(void)
{
    return NULL;
}

int bench_peer_open(const bench_graph *graph, bool f64, int threads)
{
    (void)graph, (void)f64, (void)threads;
    return 1;
}

int bench_peer_run(bench_op op, int64_t source, double *seconds, bench_digest *digest)
{
    (void)op, (void)source, (void)seconds, (void)digest;
    return 1;
}

void bench_peer_close(void)
{
}
