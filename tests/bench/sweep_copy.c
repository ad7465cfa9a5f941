/* SPDX-License-Identifier: Apache-2.0
 *
 * What a machine copies: the floor that steps of SWEEP are held against.
 */
#include "sweep.h"

#include "common/parallel.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { ROUNDS = 5 };
static const uint64_t BYTES = (uint64_t)1 << 28;

typedef struct copying {
    const char *from;
    char *to;
    uint64_t each;
} copying;

/* Past the caches, which memcpy does only from some length on that depends on the processor. Both are aligned. */
static void stream(const char *from, char *to, uint64_t bytes)
{
#ifdef __SSE2__
    for (uint64_t i = 0; i < bytes / sizeof(__m128i); i++)
        _mm_stream_si128((__m128i *)(void *)to + i, _mm_load_si128((const __m128i *)(const void *)from + i));
    _mm_sfence();
#else
    memcpy(to, from, bytes);
#endif
}

static int copy_part(void *context, int64_t task, int worker)
{
    const copying *c = context;
    (void)worker;
    stream(c->from + (uint64_t)task * c->each, c->to + (uint64_t)task * c->each, c->each);
    return 0;
}

double sweep_copy_rate(int threads)
{
    double seconds[ROUNDS];
    if (threads <= 0) threads = lacis_parallel_cpus();
    char *from = aligned_alloc(64, BYTES), *to = aligned_alloc(64, BYTES);
    copying c = {from, to, BYTES / (uint64_t)threads / 64 * 64};
    double rate = 0;
    if (from != NULL && to != NULL) {
        memset(from, 1, BYTES);
        memset(to, 2, BYTES);
        for (int i = 0; i < ROUNDS; i++) {
            const double begin = bench_now();
            lacis_parallel(threads, threads, copy_part, &c);
            seconds[i] = bench_now() - begin;
        }
        rate = 2 * (double)c.each * threads / bench_median(seconds, ROUNDS);
    }
    free(from);
    free(to);
    return rate;
}

double sweep_gpu_copy_rate(void)
{
    static double rate = -1; /* it does not change, and asking takes a while */
    bench_graph graph;
    bench_resident *resident = NULL;
    char reason[200];
    if (rate >= 0) return rate;
    rate = 0;
    if (bench_graph_make("rmat:8", &graph) != 0) return 0;
    if (bench_resident_open(&graph, false, 1, &resident, reason, sizeof reason) == 0 && resident != NULL)
        rate = bench_resident_copy_rate(resident);
    if (resident != NULL) bench_resident_close(resident);
    bench_graph_free(&graph);
    return rate;
}
