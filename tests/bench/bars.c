/* SPDX-License-Identifier: Apache-2.0
 *
 * The bars of MULTIPLY on the GPU (one H200 against cuSPARSE 13.0 and against itself, two against one), and lines of
 * figures as text or JSON.
 */
#include "bars.h"

#include <stdio.h>
#include <string.h>

static const struct {
    bench_op op;
    const char *graphs; /* with a blank on either side; NULL: files */
    const char *of;
    double bar, beyond;
    int gpus;
} bars[] = {
    {BENCH_PAIR, " rmat:14 rmat:16 rmat:17 ", "peer", 0.095, 0.055, 1},
    {BENCH_MINPLUS, " rmat:14 rmat:16 rmat:17 ", "peer", 0.095, 0.055, 1},
    {BENCH_TIMES, " rmat:14 rmat:16 rmat:17 ", "peer", 0.12, 0.07, 1},
    {BENCH_TIMES, " uniform:18 ", "peer", 0.18, -1, 1},
    {BENCH_TIMES, " uniform:20 ", "peer", 0.25, -1, 1},
    {BENCH_TIMES, " uniform:22 ", "peer", 0.32, 0.20, 1},
    {BENCH_TIMES, NULL, "peer", 0.5, 0.2, 1},
    {BENCH_PAIR, NULL, "peer", 0.5, 0.2, 1},
    {BENCH_MINPLUS, NULL, "peer", 0.5, 0.2, 1},
    {BENCH_PAIR, " rmat:18 ", "Gproducts/s", 70, 110, 1},
    {BENCH_USER, " rmat:14 rmat:16 rmat:17 ", "minplus", 1.1, 1.02, 1},
    {BENCH_TOP10, " rmat:16 ", "ms", 3.4, 1.7, 1},
    {BENCH_FOLD16, " rmat:14 rmat:16 rmat:17 ", "minplus", 2.5, 1.6, 1},
    {BENCH_SOURCE, " rmat:16 ", "us", 60, 25, 1},
    {BENCH_PAIR, " rmat:18 ", "one GPU", 1.8, 1.95, 2},
    {BENCH_MINPLUS, " rmat:18 ", "one GPU", 1.8, 1.95, 2},
    {BENCH_TIMES, " rmat:18 ", "one GPU", 1.8, 1.95, 2},
};

static bool is_for(const char *graphs, const char *graph)
{
    char word[80];
    if (graphs == NULL) return strchr(graph, ':') == NULL;
    snprintf(word, sizeof word, " %s ", graph);
    return strstr(graphs, word) != NULL;
}

static double figure_of(const char *of, const bench_line *line)
{
    if (strcmp(of, "peer") == 0) return line->peer_s > 0 ? line->ours_s / line->peer_s : -1;
    if (strcmp(of, "minplus") == 0) return line->minplus_s > 0 ? line->ours_s / line->minplus_s : -1;
    if (strcmp(of, "one GPU") == 0) return line->one_s > 0 ? line->one_s / line->ours_s : -1;
    if (strcmp(of, "ms") == 0) return 1e3 * line->ours_s;
    if (strcmp(of, "us") == 0) return 1e6 * line->ours_s;
    return 1e-9 * line->products / line->ours_s;
}

bool bench_bar_of(const bench_line *line, bench_bar *out)
{
    bool f32 = strcmp(line->type, "f32") == 0, gpu = strcmp(line->device, "gpu") == 0;
    for (size_t i = 0; f32 && gpu && i < sizeof bars / sizeof bars[0]; i++) {
        if (bars[i].op != line->op || bars[i].gpus != line->gpus || !is_for(bars[i].graphs, line->graph)) continue;
        *out = (bench_bar){bars[i].of, bars[i].bar, bars[i].beyond, figure_of(bars[i].of, line),
                           strcmp(bars[i].of, "Gproducts/s") == 0 || strcmp(bars[i].of, "one GPU") == 0};
        return out->found >= 0;
    }
    return false;
}

bench_line bench_line_new(void)
{
    return (bench_line){.gpus = 1,
                        .ours_s = -1,
                        .one_s = -1,
                        .host_s = -1,
                        .peer_s = -1,
                        .minplus_s = -1,
                        .floor_s = -1,
                        .peak_mb = -1,
                        .entry_bytes = -1,
                        .result_bytes = -1};
}

static void figure(bool json, const char *name, const char *format, double value)
{
    if (value < 0) return;
    printf(json ? ", \"%s\": " : " %s=", name);
    printf(format, value);
}

static const char *verdict(const bench_bar *bar)
{
    if (bar->at_least) return bar->found < bar->bar ? "MISSED" : bar->found < bar->beyond ? "ok" : "beyond";
    return bar->found > bar->bar ? "MISSED" : bar->found > bar->beyond ? "ok" : "beyond";
}

static void print_bar(bool json, const bench_line *line)
{
    bench_bar bar;
    if (!bench_bar_of(line, &bar)) return;
    const char *sign = bar.at_least ? ">=" : "<=";
    printf(json ? ", \"of\": \"%s\", \"found\": %.4g, \"bar\": %.4g, \"verdict\": \"%s\""
                : " | of=%s found=%.4g bar=%.4g %s",
           bar.of, bar.found, bar.bar, verdict(&bar));
    if (!json) printf(" (%s%g)", sign, bar.bar);
    if (bar.beyond > 0) figure(json, "beyond", "%g", bar.beyond);
}

void bench_print(const bench_options *options, const bench_line *line)
{
    bool json = options->json, peer = line->peer_s >= 0;
    char shared[16] = "";
    if (line->gpus > 1) snprintf(shared, sizeof shared, "*%d", line->gpus);
    printf(json ? "{\"case\": \"multiply/%s/%s/%s/%s%s\", \"peer\": \"%s\"" : "case=multiply/%s/%s/%s/%s%s peer=%s",
           line->graph, bench_op_name[line->op], line->type, line->device, shared, peer ? line->peer : "none");
    figure(json, "ours_s", "%.7f", line->ours_s);
    figure(json, "one_s", "%.7f", line->one_s);
    figure(json, "speedup", "%.3f", line->one_s > 0 ? line->one_s / line->ours_s : -1);
    figure(json, "peer_s", "%.7f", line->peer_s);
    figure(json, "ratio", "%.4f", peer ? line->ours_s / line->peer_s : -1);
    figure(json, "host_s", "%.7f", line->host_s);
    figure(json, "floor_s", "%.7f", line->floor_s);
    figure(json, "share", "%.3f", line->floor_s > 0 ? line->floor_s / line->ours_s : -1);
    figure(json, "products", "%.0f", line->products);
    figure(json, "entries", "%.0f", line->entries);
    figure(json, "result_mb", "%.1f", 1e-6 * line->result_bytes);
    figure(json, "peak_mb", "%.1f", line->peak_mb);
    figure(json, "entry_bytes", "%.2f", line->entry_bytes);
    print_bar(json, line);
    puts(json ? "}" : "");
    fflush(stdout);
}
