/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench symv: dense symmetric and Hermitian matrix-vector products, S D C Z W and mixed, both triangles, on the
 * CPU or a GPU; and the picture of GFLOPS against n. This file reads the command line's lists and hands them on.
 */
#include "symv.h"

#include "picture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char STATEMENT[] = "statement"; /* among --op's */

/* The next word of a list with commas between; false: there is none. */
static bool next_word(const char **list, char *word, size_t size)
{
    if (*list == NULL || **list == '\0') return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, size, "%.*s", (int)length, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static const symv_kind *kind_named(const char *name)
{
    for (int i = 0; i < LACIS_SYMV_TYPES; i++)
        if (strcmp(symv_kinds[i].name, name) == 0 || strcmp(symv_kinds[i].letter, name) == 0) return &symv_kinds[i];
    return NULL;
}

static int read_types(const bench_options *options, symv_wish *wish)
{
    const char *list = options->type == NULL ? "f32,f64,c64,c128,dd" : options->type;
    char word[32];
    while (next_word(&list, word, sizeof word)) {
        const symv_kind *kind = kind_named(word);
        if (kind == NULL || wish->kinds == LACIS_SYMV_TYPES)
            return bench_fail("symv's --type is f32, f64, c64, c128, dd, cdd, f32_f64, f32_dd, f64_dd or several of "
                              "them with commas between, not %s",
                              word) +
                   1;
        wish->kind[wish->kinds++] = kind;
    }
    return 0;
}

static const char *usual_sizes(const bench_options *options)
{
    bool gpu = strcmp(options->device, "gpu") == 0;
    if (options->picture != NULL && gpu)
        return "64,128,256,384,512,768,1024,1536,2048,3072,4096,5120,6144,7168,8192,9216,10240,11264,12288,13312,"
               "14336,"
               "15360,16384";
    if (options->picture != NULL) return "64,128,256,384,512,768,1024,1536,2048,3072,4096,5120,6144";
    return gpu ? "512,1024,2048,4096,8192,16384" : "128,512,2048,4096";
}

static int read_sizes(const bench_options *options, symv_wish *wish)
{
    const char *list = options->n == NULL ? usual_sizes(options) : options->n;
    char word[32], *end;
    while (next_word(&list, word, sizeof word)) {
        int64_t n = strtoll(word, &end, 10);
        if (*end != '\0' || n < 1 || n > 65536 || wish->sizes == (int)(sizeof wish->n / sizeof wish->n[0]))
            return bench_fail("--n takes up to 64 numbers from 1 to 65536 with commas between, not %s", word) + 1;
        wish->n[wish->sizes++] = n;
    }
    return wish->sizes > 0 ? 0 : bench_fail("--n is empty") + 1;
}

static int read_ops(const bench_options *options)
{
    const char *list = options->op;
    char word[32];
    while (next_word(&list, word, sizeof word)) {
        int op = 0;
        while (op < SYMV_OPS && strcmp(symv_ops[op].name, word) != 0)
            op++;
        if (op == SYMV_OPS && strcmp(word, STATEMENT) != 0)
            return bench_fail("symv's --op knows fixed, accurate, symmetric, free, canonical, packed, sides4, batch "
                              "and statement, not %s",
                              word) +
                   1;
    }
    return 0;
}

static int read_wish(const bench_options *options, symv_wish *wish)
{
    *wish = (symv_wish){.options = options, .uplo = {true, options->picture == NULL}};
    if (options->uplo != NULL) {
        wish->uplo[0] = bench_listed(options->uplo, "lower");
        wish->uplo[1] = bench_listed(options->uplo, "upper");
        if (!wish->uplo[0] && !wish->uplo[1]) return bench_fail("--uplo is lower, upper or lower,upper") + 1;
    }
    int code = read_types(options, wish);
    if (code == 0) code = read_sizes(options, wish);
    return code == 0 ? read_ops(options) : code;
}

/* FILE.svg's points are in FILE.csv. */
static int csv_of(const char *svg, char *csv, size_t size)
{
    size_t length = strlen(svg);
    if (length < 5 || strcmp(svg + length - 4, ".svg") != 0 || length >= size)
        return bench_fail("--picture takes a name that ends in .svg, not %s", svg) + 1;
    snprintf(csv, size, "%.*s.csv", (int)length - 4, svg);
    return 0;
}

/* --plot FILE.csv: the picture of points that were measured before. */
static int plot(const char *csv)
{
    char svg[1024];
    size_t length = strlen(csv);
    if (length < 5 || strcmp(csv + length - 4, ".csv") != 0 || length >= sizeof svg)
        return bench_fail("--plot takes a name that ends in .csv, not %s", csv) + 1;
    snprintf(svg, sizeof svg, "%.*s.svg", (int)length - 4, csv);
    return bench_picture(csv, svg);
}

int bench_symv(const bench_options *options)
{
    char csv[1024];
    symv_wish wish;
    if (options->plot != NULL) return plot(options->plot);
    int code = read_wish(options, &wish);
    if (code == 0 && options->picture != NULL) code = csv_of(options->picture, csv, sizeof csv);
    if (code == 0 && options->picture != NULL) code = symv_points_open(csv, &wish.points);
    if (code != 0) return code;
    code = strcmp(options->device, "gpu") == 0 ? symv_gpu_all(&wish) : symv_cpu(&wish);
    const bool kernels_alone = options->picture != NULL || options->regret > 0;
    const bool statements = options->op == NULL || bench_listed(options->op, STATEMENT);
    if (code == 0 && statements && !kernels_alone) code = symv_statements(&wish);
    int closed = symv_points_close(wish.points);
    if (code == 0) code = closed;
    return code == 0 && options->picture != NULL ? bench_picture(csv, options->picture) : code;
}
