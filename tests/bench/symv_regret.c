/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench symv --regret N: sizes drawn at random, and what is lost there against the best of all candidates by
 * the table that TUNE left in --database, or without one by the shipped defaults. All candidates run a few times; the
 * best few and the one to be judged then run by turns, so that luck among many does not count as their merit.
 */
#ifdef LACIS_BENCH_SYMV_GPU

#include "symv_gpu.h"

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Bytes at multiples of which columns begin, as operators/symv/tune.c has it. */
enum { PIECE = 16, LINE = 128 };
enum { WAYS = 3 };
static const char *const way_name[WAYS] = {"", " by 16", " unaligned"};
enum { RANGES = 64, FINALISTS = 5, ROUNDS = 3, FEW = 5, MORE = 9, MOST_CANDIDATES = 512 };

struct judged {
    struct range {
        int64_t from;
        char choice[LACIS_SYMV_GPU_CHOICE_TEXT];
    } range[RANGES];
    int ranges;
    const char *want; /* "SYMV f64 LOWER unaligned from " */
    char device[264];
};

/* ------------------------------------------------------------------------------------------ tables */

/* Rows of SHOW KERNELS: "SYMV f64 LOWER from 1400 (NVIDIA H200, driver ...)" and the choice. */
static int keep_range(void *arg, int columns, const char *const *names, const char *const *values)
{
    struct judged *j = arg;
    (void)names;
    if (columns < 2 || values[0] == NULL || values[1] == NULL || j->ranges == RANGES) return 0;
    if (strncmp(values[0], j->want, strlen(j->want)) != 0 || strstr(values[0], j->device) == NULL) return 0;
    struct range *range = &j->range[j->ranges++];
    range->from = strtoll(values[0] + strlen(j->want), NULL, 10);
    snprintf(range->choice, sizeof range->choice, "%s", values[1]);
    return 0;
}

static int read_table(const char *database, const symv_case *c, int way, struct judged *j)
{
    char want[80];
    lacis_engine *engine;
    struct cudaDeviceProp device;
    j->ranges = 0;
    if (database == NULL) return 0;
    if (cudaGetDeviceProperties(&device, 0) != cudaSuccess) return bench_fail("CUDA: the GPU does not say its name");
    snprintf(j->device, sizeof j->device, "(%s,", device.name);
    snprintf(want, sizeof want, "SYMV %s %s%s from ", c->kind->name, c->uplo == LACIS_SYMV_LOWER ? "LOWER" : "UPPER",
             way_name[way]);
    j->want = want;
    lacis_status status = lacis_open(database, &engine);
    if (status == LACIS_OK) status = lacis_exec(engine, "SHOW KERNELS", keep_range, j);
    int code = status == LACIS_OK ? 0 : bench_fail("%s: %s", database, lacis_error_message(engine));
    lacis_close(engine);
    return code;
}

/* The choice for the present case; false: its text is none. */
static bool choice_for(const symv_gpu *g, const struct judged *j, lacis_symv_gpu_choice *out)
{
    int at = 0;
    if (j->ranges == 0) {
        const lacis_symv_gpu_job job = {.job = symv_job(&g->present), .processors = g->processors};
        *out = lacis_symv_gpu_default(&job);
        return true;
    }
    while (at + 1 < j->ranges && j->range[at + 1].from <= g->present.n)
        at++;
    return lacis_symv_gpu_choice_read(j->range[at].choice, out);
}

static int way_of(const symv_case *c)
{
    const int64_t bytes = lacis_symv_matrix_bytes(c->kind->type);
    if (bytes % PIECE != 0 && (c->op->packed || c->n * bytes % PIECE != 0)) return 2;
    return c->op->packed || c->n * bytes % LINE != 0 ? 1 : 0;
}

int symv_gpu_tuned(const char *database, symv_gpu *g, lacis_symv_gpu_choice *out)
{
    struct judged table;
    if (database == NULL) return 0;
    if (read_table(database, &g->present, way_of(&g->present), &table) != 0) return 1;
    if (table.ranges == 0) return 0;
    if (!choice_for(g, &table, out)) return bench_fail("the table holds what is no choice");
    g->choice = out;
    if (symv_gpu_refuses(g) != NULL) g->choice = NULL;
    return 0;
}

/* ------------------------------------------------------------------------------------------- sizes */

struct entry {
    const lacis_symv_gpu_choice *choice;
    double seconds[ROUNDS], median;
};

static int by_median(const void *a, const void *b)
{
    double left = ((const struct entry *)a)->median, right = ((const struct entry *)b)->median;
    return (left > right) - (left < right);
}

static int time_entry(symv_gpu *g, struct entry *entry, int runs, double *seconds)
{
    g->choice = entry->choice;
    return symv_gpu_time(g, symv_gpu_ours, runs, seconds);
}

/* All that can, the fastest first. */
static int first_round(symv_gpu *g, struct entry *entry, int *count)
{
    const lacis_symv_gpu_choice *candidate;
    const int candidates = lacis_symv_gpu_candidates(g->present.kind->type, &candidate);
    *count = 0;
    for (int i = 0; i < candidates && i < MOST_CANDIDATES; i++) {
        struct entry *next = &entry[*count];
        *next = (struct entry){.choice = &candidate[i]};
        g->choice = next->choice;
        if (symv_gpu_refuses(g) != NULL) continue;
        if (time_entry(g, next, FEW, &next->median) != 0) return 1;
        ++*count;
    }
    qsort(entry, (size_t)*count, sizeof *entry, by_median);
    return 0;
}

/* The finalists, the judged one first, by turns. */
static int last_rounds(symv_gpu *g, struct entry *final, int finals)
{
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < finals; i++) {
            int at = (i + round) % finals;
            if (time_entry(g, &final[at], MORE, &final[at].seconds[round]) != 0) return 1;
        }
    for (int i = 0; i < finals; i++)
        final[i].median = bench_median(final[i].seconds, ROUNDS);
    return 0;
}

static int judge_size(symv_gpu *g, const struct judged *j, bool json, double *regret)
{
    struct entry entry[MOST_CANDIDATES], final[FINALISTS + 1];
    lacis_symv_gpu_choice own;
    char own_text[LACIS_SYMV_GPU_CHOICE_TEXT], best_text[LACIS_SYMV_GPU_CHOICE_TEXT];
    int count, best = 0, finals = 1;
    if (!choice_for(g, j, &own)) return bench_fail("the table holds what is no choice");
    if (first_round(g, entry, &count) != 0) return 1;
    final[0] = (struct entry){.choice = &own};
    for (int i = 0; i < count && finals <= FINALISTS; i++)
        if (memcmp(entry[i].choice, &own, sizeof own) != 0) final[finals++] = entry[i];
    g->choice = &own;
    if (symv_gpu_refuses(g) != NULL) final[0].choice = NULL; /* as operators/symv does: the default */
    if (last_rounds(g, final, finals) != 0) return 1;
    for (int i = 1; i < finals; i++)
        if (final[i].median < final[best].median) best = i;
    *regret = final[0].median / final[best].median - 1;
    const symv_case *c = &g->present;
    printf(json ? "{\"case\": \"symv/%s/%s/%lld/regret\", \"own_us\": %.2f, \"best_us\": %.2f, \"regret\": %.4f, "
                  "\"own\": \"%s\", \"best\": \"%s\"}\n"
                : "case=symv/%s/%s/%lld/regret own_us=%.2f best_us=%.2f regret=%.4f own=\"%s\" best=\"%s\"\n",
           c->kind->name, c->uplo == LACIS_SYMV_LOWER ? "lower" : "upper", (long long)c->n, 1e6 * final[0].median,
           1e6 * final[best].median, *regret, lacis_symv_gpu_choice_text(&own, own_text),
           lacis_symv_gpu_choice_text(best == 0 ? &own : final[best].choice, best_text));
    return 0;
}

/* Between 64 and the largest of --n, as many in each octave. */
static int64_t drawn_size(uint64_t *state, int64_t most)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    double u = (double)(*state >> 11) / 9007199254740992.0;
    return (int64_t)(64 * pow((double)most / 64, u));
}

static void print_summary(const symv_wish *wish, const symv_case *c, double *regret, int count)
{
    symv_line line = {.figures = 0};
    double sum = 0;
    int within = 0;
    for (int i = 0; i < count; i++) {
        sum += regret[i];
        within += regret[i] <= 0.02;
    }
    double median = bench_median(regret, count); /* which sorts */
    snprintf(line.name, sizeof line.name, "symv/%s/%s/regret/gpu", c->kind->name,
             c->uplo == LACIS_SYMV_LOWER ? "lower" : "upper");
    symv_line_add(&line, "sizes", "%.0f", count);
    symv_line_add(&line, "mean", "%.4f", sum / count);
    symv_line_add(&line, "median", "%.4f", median);
    symv_line_add(&line, "p95", "%.4f", regret[count * 95 / 100]);
    symv_line_add(&line, "most", "%.4f", regret[count - 1]);
    symv_line_add(&line, "within_2_percent", NULL, (double)within / count);
    symv_line_print(wish->options, &line);
}

static int judge(const symv_wish *wish, symv_gpu *g, symv_case c, int64_t most)
{
    enum { MOST_SIZES = 1000 };
    static double regret[MOST_SIZES];
    struct judged table[WAYS];
    uint64_t state = 12345;
    int code = 0;
    for (int way = 0; code == 0 && way < WAYS; way++)
        code = read_table(wish->options->database, &c, way, &table[way]);
    if (code == 0 && wish->options->database != NULL && table[0].ranges == 0)
        code = bench_fail("%s has no table of %s for this GPU", wish->options->database, c.kind->name);
    for (int i = 0; code == 0 && i < wish->options->regret; i++) {
        c.n = drawn_size(&state, most);
        symv_gpu_set(g, &c);
        code = judge_size(g, &table[way_of(&c)], wish->options->json, &regret[i]);
    }
    if (code == 0) print_summary(wish, &c, regret, wish->options->regret);
    return code;
}

int symv_regret(const symv_wish *wish, symv_gpu *g)
{
    int64_t most = 128;
    for (int i = 0; i < wish->sizes; i++)
        if (wish->n[i] > most) most = wish->n[i];
    for (int k = 0; k < wish->kinds; k++) {
        const uint64_t bytes = (uint64_t)lacis_symv_matrix_bytes(wish->kind[k]->type) * (uint64_t)(most * most);
        if (symv_gpu_load(g, wish->kind[k], bytes) != 0) return 1;
        for (int uplo = 0; uplo < 2; uplo++) {
            const symv_case c = {.kind = wish->kind[k], .op = symv_ops, .uplo = (lacis_symv_uplo)uplo, .n = most};
            if (wish->uplo[uplo] && judge(wish, g, c, most) != 0) return 1;
        }
    }
    return 0;
}

#endif
