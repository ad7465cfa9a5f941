/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of figures of lacis-bench nbody.
 */
#include "nbody.h"

#include <inttypes.h>
#include <stdio.h>

const nbody_figures nbody_unknown = {.step = -1,
                                     .first = -1,
                                     .peer = -1,
                                     .build = -1,
                                     .force = -1,
                                     .move = -1,
                                     .p2p = -1,
                                     .m2p = -1,
                                     .expanded = -1,
                                     .visits = -1,
                                     .median = -1,
                                     .tail = -1,
                                     .most = -1,
                                     .drift = -1,
                                     .peer_median = -1,
                                     .peer_tail = -1,
                                     .free = -1,
                                     .one = -1};

static void figure(bool json, const char *name, const char *format, double value)
{
    if (value < 0) return;
    printf(json ? ", \"%s\": " : " %s=", name);
    printf(format, value);
}

void nbody_print(const nbody_case *c, const nbody_figures *f)
{
    const bool json = c->options->json;
    const struct {
        const char *name, *format;
        double value;
    } all[] = {
        {"step_ms", "%.4f", 1e3 * f->step},
        {"first_ms", "%.4f", 1e3 * f->first},
        {"free_ms", "%.4f", 1e3 * f->free},
        {"over_free", "%.4f", f->free > 0 ? f->step / f->free : -1},
        {"one_gpu_ms", "%.4f", 1e3 * f->one},
        {"speedup", "%.3f", f->one > 0 && f->step > 0 ? f->one / f->step : -1},
        {"rebound_ms", "%.1f", 1e3 * f->peer},
        {"ratio", "%.4f", f->peer > 0 ? f->step / f->peer : -1},
        {"rebound_median", "%.3g", f->peer_median},
        {"rebound_95", "%.3g", f->peer_tail},
        {"build_ms", "%.4f", 1e3 * f->build},
        {"force_ms", "%.4f", 1e3 * f->force},
        {"move_ms", "%.4f", 1e3 * f->move},
        {"p2p", "%.0f", f->p2p},
        {"m2p", "%.0f", f->m2p},
        {"expanded", "%.1f", f->expanded},
        {"visits", "%.1f", f->visits},
        {"Mbodies_s", "%.3f", f->step > 0 ? 1e-6 * (double)c->n / f->step : -1},
        {"pairs_s", "%.4g", f->step > 0 && f->m2p == 0 ? (double)c->n * f->p2p / f->step : -1},
        {"error_median", "%.3g", f->median},
        {"error_99", "%.3g", f->tail},
        {"error_most", "%.3g", f->most},
        {"drift", "%.3g", f->drift},
        {"steps", "%.0f", f->drift >= 0 ? (double)f->steps : -1},
    };
    printf(json ? "{\"case\": \"nbody/%s/%s/%" PRId64 "\", \"device\": \"%s\", \"clauses\": \"%s\""
                : "case=nbody/%s/%s/%" PRId64 " device=%s clauses='%s'",
           c->op->name, c->type, c->n, c->options->device, c->op->clauses);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        figure(json, all[i].name, all[i].format, all[i].value);
    puts(json ? "}" : "");
    fflush(stdout);
}
