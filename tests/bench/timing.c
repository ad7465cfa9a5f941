/* SPDX-License-Identifier: Apache-2.0
 *
 * A line of figures for families whose cases are a name, two times and an amount of work, as text or JSON.
 */
#include "bench.h"

#include <stdio.h>

static void figure(bool json, const char *name, const char *format, double value)
{
    if (value < 0) return;
    printf(json ? ", \"%s\": " : " %s=", name);
    printf(format, value);
}

void bench_print_timing(const bench_options *options, const bench_timing *timing)
{
    bool json = options->json, peer = timing->peer_s >= 0;
    printf(json ? "{\"case\": \"%s\", \"peer\": \"%s\"" : "case=%s peer=%s", timing->name,
           peer ? timing->peer : "none");
    figure(json, "ours_s", "%.6f", timing->ours_s);
    figure(json, "peer_s", "%.6f", timing->peer_s);
    figure(json, "ratio", "%.4f", peer ? timing->ours_s / timing->peer_s : -1);
    figure(json, "units", "%.0f", timing->units);
    figure(json, "ms_a_step", "%.5f", timing->steps > 0 ? 1e3 * timing->ours_s / timing->steps : -1);
    figure(json, "one_s", "%.6f", timing->one_s > 0 ? timing->one_s : -1);
    figure(json, "speedup", "%.3f", timing->one_s > 0 ? timing->one_s / timing->ours_s : -1);
    figure(json, "ns_a_unit", "%.4f", timing->units > 0 ? 1e9 * timing->ours_s / timing->units : -1);
    puts(json ? "}" : "");
    fflush(stdout);
}
