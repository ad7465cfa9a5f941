/* SPDX-License-Identifier: Apache-2.0
 *
 * Whole statements for lacis-bench symv: LET y = SYMV a BY x, from arrays in memory to the stored result. On the GPU
 * the first one sends the matrix ("cold"), later ones find it there ("warm").
 */
#include "symv.h"

#include <stdio.h>
#include <string.h>

static int exec(lacis_engine *engine, const char *text, double *seconds)
{
    double start = bench_now();
    lacis_status status = lacis_exec(engine, text, NULL, NULL);
    *seconds = bench_now() - start;
    return status == LACIS_OK ? 0 : bench_fail("%s: %s", text, lacis_error_message(engine));
}

static int make_operands(lacis_engine *engine, const symv_kind *kind, int64_t n, const char *uplo)
{
    char text[160];
    double seconds;
    snprintf(text, sizeof text, "GENERATE a AS symmetric(n = %lld, type = '%s', uplo = '%s')", (long long)n,
             kind->name, uplo);
    int code = exec(engine, text, &seconds);
    snprintf(text, sizeof text, "GENERATE x AS random(n = %lld, type = '%s')", (long long)n, kind->name);
    return code == 0 ? exec(engine, text, &seconds) : code;
}

static int time_size(const symv_wish *wish, lacis_engine *engine, const symv_kind *kind, int64_t n, int uplo)
{
    static const char *const triangle[] = {"lower", "upper"};
    const bool gpu = strcmp(wish->options->device, "gpu") == 0;
    const int repeat = wish->options->repeat;
    const char *statement = gpu ? "LET y = SYMV a BY x ON GPU" : "LET y = SYMV a BY x ON CPU";
    double cold, ignored, warm[BENCH_REPEATS];
    symv_line line = {.figures = 0};
    int code = make_operands(engine, kind, n, triangle[uplo]);
    if (code == 0) code = exec(engine, statement, &ignored); /* starts the device and loads kernels */
    if (code == 0) code = make_operands(engine, kind, n, triangle[uplo]);
    if (code == 0) code = exec(engine, statement, &cold);
    for (int i = 0; code == 0 && i < repeat; i++)
        code = exec(engine, statement, &warm[i]);
    if (code != 0) return code;
    snprintf(line.name, sizeof line.name, "symv/%s/%s/%lld/statement/%s", kind->name, triangle[uplo], (long long)n,
             wish->options->device);
    symv_line_add(&line, "cold_us", "%.1f", 1e6 * cold);
    symv_line_add(&line, "warm_us", "%.1f", 1e6 * bench_median(warm, repeat));
    symv_line_print(wish->options, &line);
    return 0;
}

int symv_statements(const symv_wish *wish)
{
    char text[64];
    double seconds;
    lacis_engine *engine;
    int code = lacis_open(wish->options->database, &engine) == LACIS_OK ? 0 : bench_fail("out of memory");
    snprintf(text, sizeof text, "SET threads = %d", wish->options->threads > 0 ? wish->options->threads : 1);
    if (code == 0 && strcmp(wish->options->device, "cpu") == 0) code = exec(engine, text, &seconds);
    for (int k = 0; code == 0 && k < wish->kinds; k++)
        for (int uplo = 0; code == 0 && uplo < 2; uplo++)
            for (int size = 0; code == 0 && wish->uplo[uplo] && size < wish->sizes; size++)
                if (wish->kind[k]->type <= LACIS_SYMV_CDD) /* the mixed ones are not a matrix's alone */
                    code = time_size(wish, engine, wish->kind[k], wish->n[size], uplo);
    lacis_close(engine);
    return code;
}
