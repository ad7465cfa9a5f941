/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis-bench solve: batches of tridiagonal systems and of trees. Ours is one LET statement: parsed, planned, solved
 * and entered in the catalog. The peer, for tridiagonal systems in f64, is LAPACK's dgtsv, lane by lane on one
 * thread, from a library that is opened only here. Residuals of both are checked before anything is timed.
 */
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROLES = 4, LOWER = 0, DIAGONAL, UPPER, RIGHT };

static const struct batch_case {
    const char *name;
    bool tree;
    int64_t lanes, rows, block;
    int shared; /* 1: off-diagonals, 2: the whole matrix */
} cases[] = {
    {"chain/flat", false, 1000, 512, 1, 0},
    {"chain/full", false, 1000, 512, 0, 0},
    {"chain/block64", false, 1000, 512, 64, 0},
    {"chain/block8", false, 1000, 512, 8, 0},
    {"chain-offdiagonals-shared/block64", false, 1000, 512, 64, 1},
    {"chain-matrix-shared/block64", false, 1000, 512, 64, 2},
    {"tree/flat", true, 1000, 319, 1, 0},
    {"tree/full", true, 1000, 319, 0, 0},
    {"tree/block64", true, 1000, 319, 64, 0},
    {"tree-offdiagonals-shared/block64", true, 1000, 319, 64, 1},
    {"tree-matrix-shared/block64", true, 1000, 319, 64, 2},
};

typedef void (*gtsv_fn)(const int *n, const int *nrhs, double *dl, double *d, double *du, double *b, const int *ldb,
                        int *info);

struct bench {
    const bench_options *options;
    const struct batch_case *kind;
    lacis_engine *engine;
    double *value[ROLES]; /* lane by lane; what is shared is the same in every lane */
    int32_t *parent;
    gtsv_fn gtsv; /* NULL: no peer */
    double *work[ROLES];
};

/* --- systems ------------------------------------------------------------------------------------------ */

static double drawn(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* Branches as of a neuron: mostly the row before, now and then a nearby one further up. */
static void draw_tree(struct bench *bench, uint64_t *state)
{
    for (int64_t r = 0; r < bench->kind->rows; r++) {
        bool branch = drawn(state) < 0.1;
        bench->parent[r] = r == 0 ? -1 : branch ? (int32_t)(drawn(state) * (double)r) : (int32_t)r - 1;
    }
}

static void draw(struct bench *bench)
{
    const int64_t n = bench->kind->rows, lanes = bench->kind->lanes;
    uint64_t state = 1;
    draw_tree(bench, &state);
    for (int64_t i = 0; i < n * lanes; i++)
        for (int role = 0; role < ROLES; role++) {
            bool shared = role != RIGHT && bench->kind->shared >= (role == DIAGONAL ? 2 : 1);
            double own = role == DIAGONAL ? 12 + drawn(&state) : 0.1 + 0.8 * drawn(&state);
            own = role == DIAGONAL && !bench->kind->tree ? own - 9 : role == RIGHT ? own : -own;
            if (role == DIAGONAL) own = fabs(own);
            own = strcmp(bench->options->type, "f32") == 0 ? (double)(float)own : own;
            bench->value[role][i] = shared && i >= n ? bench->value[role][i - n] : own;
        }
    /* Every row dominant, by something. */
    for (int64_t l = 0; bench->kind->tree && l < lanes; l++)
        for (int64_t r = 1; r < n; r++)
            bench->value[DIAGONAL][l * n + bench->parent[r]] += fabs(bench->value[UPPER][l * n + r]);
}

/* --- ours --------------------------------------------------------------------------------------------- */

static int64_t place(const struct batch_case *kind, int64_t lane, int64_t row)
{
    int64_t block = kind->block == 0 ? kind->lanes : kind->block;
    return lane / block * block * kind->rows + row * block + lane % block;
}

static int64_t places(const struct batch_case *kind)
{
    int64_t block = kind->block == 0 ? kind->lanes : kind->block;
    return (kind->lanes + block - 1) / block * block * kind->rows;
}

static void lay_out(const struct bench *bench, int role, bool shared, void *to)
{
    const struct batch_case *kind = bench->kind;
    for (int64_t l = 0; l < (shared ? 1 : kind->lanes); l++)
        for (int64_t r = 0; r < kind->rows; r++) {
            int64_t at = shared ? r : place(kind, l, r);
            double value = bench->value[role][l * kind->rows + r];
            if (strcmp(bench->options->type, "f32") == 0) {
                ((float *)to)[at] = (float)value;
            } else {
                ((double *)to)[at] = value;
            }
        }
}

static int create(struct bench *bench)
{
    static const char *const chain[] = {"a", "b", "c", "d"}, *const tree[] = {"b", "d", "a", "rhs"};
    const struct batch_case *kind = bench->kind;
    const lacis_dtype type = strcmp(bench->options->type, "f32") == 0 ? LACIS_F32 : LACIS_F64;
    lacis_part parts[ROLES + 2] = {{"block", LACIS_I64, 1, &kind->block}};
    void *data[ROLES] = {NULL};
    int count = 1;
    lacis_status status = LACIS_OK;
    for (int role = 0; role < ROLES; role++) {
        bool shared = role != RIGHT && kind->shared >= (role == DIAGONAL ? 2 : 1);
        int64_t elements = shared ? kind->rows : places(kind);
        data[role] = calloc((size_t)elements, sizeof(double));
        if (data[role] == NULL) status = LACIS_NOMEM;
        if (data[role] != NULL) lay_out(bench, role, shared, data[role]);
        parts[count++] = (lacis_part){(kind->tree ? tree : chain)[role], type, elements, data[role]};
    }
    if (kind->tree) parts[count++] = (lacis_part){"parent", LACIS_I32, kind->rows, bench->parent};
    const lacis_array_spec spec = {LACIS_INTERLEAVED, type, {kind->lanes, kind->rows}, parts, count};
    if (status == LACIS_OK) status = lacis_array_create(bench->engine, "s", &spec);
    for (int role = 0; role < ROLES; role++)
        free(data[role]);
    return status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(bench->engine));
}

static int run_ours(const struct bench *bench, const char *clauses, double *seconds)
{
    char text[80];
    snprintf(text, sizeof text, "LET x = SOLVE s %s ON %s", clauses, bench->options->device);
    double start = bench_now();
    lacis_status status = lacis_exec(bench->engine, text, NULL, NULL);
    *seconds = bench_now() - start;
    return status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(bench->engine));
}

static int keep_real(void *arg, int columns, const char *const *names, const char *const *values)
{
    (void)names;
    if (columns == 1 && values[0] != NULL) *(double *)arg = atof(values[0]);
    return 0;
}

static int check_ours(const struct bench *bench)
{
    double seconds, worst = INFINITY, most = strcmp(bench->options->type, "f32") == 0 ? 1e-5 : 1e-13;
    int code = run_ours(bench, "RESIDUAL", &seconds);
    if (code != 0) return code;
    if (lacis_exec(bench->engine, "SELECT max(residual) FROM x", keep_real, &worst) != LACIS_OK)
        return bench_fail("%s", lacis_error_message(bench->engine));
    return worst <= most ? 0 : bench_fail("%s: the answer is wrong: residual %g", bench->kind->name, worst);
}

/* --- LAPACK ------------------------------------------------------------------------------------------- */

static int run_peer(const struct bench *bench, double *seconds)
{
    const struct batch_case *kind = bench->kind;
    const int n = (int)kind->rows, one = 1;
    int info = 0;
    for (int role = 0; role < ROLES; role++)
        memcpy(bench->work[role], bench->value[role], sizeof(double) * (size_t)(kind->rows * kind->lanes));
    double start = bench_now();
    for (int64_t l = 0; l < kind->lanes && info == 0; l++) {
        int64_t at = l * kind->rows;
        bench->gtsv(&n, &one, bench->work[LOWER] + at + 1, bench->work[DIAGONAL] + at, bench->work[UPPER] + at,
                    bench->work[RIGHT] + at, &n, &info);
    }
    *seconds = bench_now() - start;
    return info == 0 ? 0 : bench_fail("dgtsv gave %d", info);
}

static int check_peer(const struct bench *bench)
{
    const int64_t n = bench->kind->rows;
    double seconds, worst = 0;
    int code = run_peer(bench, &seconds);
    for (int64_t i = 0; code == 0 && i < n * bench->kind->lanes; i++) {
        const double *x = bench->work[RIGHT] + i;
        double left = bench->value[RIGHT][i] - bench->value[DIAGONAL][i] * x[0];
        if (i % n > 0) left -= bench->value[LOWER][i] * x[-1];
        if (i % n < n - 1) left -= bench->value[UPPER][i] * x[1];
        if (!(fabs(left) <= worst)) worst = fabs(left);
    }
    return code != 0 || worst <= 1e-13 ? code : bench_fail("the peer's answer is wrong: residual %g", worst);
}

/* --- cases -------------------------------------------------------------------------------------------- */

static int prepare(struct bench *bench)
{
    const size_t elements = (size_t)(bench->kind->rows * bench->kind->lanes);
    bench->parent = malloc(sizeof(int32_t) * (size_t)bench->kind->rows);
    bool fine = bench->parent != NULL;
    for (int role = 0; role < ROLES; role++) {
        bench->value[role] = malloc(sizeof(double) * elements);
        bench->work[role] = malloc(sizeof(double) * elements);
        fine = fine && bench->value[role] != NULL && bench->work[role] != NULL;
    }
    if (!fine) return bench_fail("out of memory");
    draw(bench);
    return create(bench);
}

static void clear(struct bench *bench)
{
    for (int role = 0; role < ROLES; role++) {
        free(bench->value[role]);
        free(bench->work[role]);
    }
    free(bench->parent);
}

static int time_case(const struct bench *bench)
{
    const bench_options *o = bench->options;
    const struct batch_case *kind = bench->kind;
    bool peer = bench->gtsv != NULL && !kind->tree && strcmp(o->type, "f64") == 0;
    double ours[BENCH_REPEATS], theirs[BENCH_REPEATS];
    bench_timing timing = {.peer = "lapack", .peer_s = -1, .units = (double)(kind->lanes * kind->rows)};
    int code = check_ours(bench);
    if (code == 0 && peer) code = check_peer(bench);
    for (int i = 0; code == 0 && i < o->repeat; i++) {
        code = run_ours(bench, "", &ours[i]);
        if (code == 0 && peer) code = run_peer(bench, &theirs[i]);
    }
    if (code != 0) return code;
    snprintf(timing.name, sizeof timing.name, "solve/%s/%lldx%lld/%s/%s", kind->name, (long long)kind->lanes,
             (long long)kind->rows, o->type, o->device);
    timing.ours_s = bench_median(ours, o->repeat);
    if (peer) timing.peer_s = bench_median(theirs, o->repeat);
    bench_print_timing(o, &timing);
    return 0;
}

static int open_engine(struct bench *bench)
{
    char text[64];
    lacis_status status = lacis_open(NULL, &bench->engine);
    if (status == LACIS_OK && bench->options->threads > 0) {
        snprintf(text, sizeof text, "SET threads = %d", bench->options->threads);
        status = lacis_exec(bench->engine, text, NULL, NULL);
    }
    return status == LACIS_OK ? 0 : bench_fail("%s", lacis_error_message(bench->engine));
}

/* dgtsv where there is a LAPACK; asked for by name it must be there. */
static int open_peer(struct bench *bench, void **library)
{
    const char *wanted = bench->options->peer;
    *library = NULL;
    if (wanted != NULL && strcmp(wanted, "none") == 0) return 0;
    if (wanted != NULL && strcmp(wanted, "lapack") != 0) return bench_fail("solve has no peer \"%s\"", wanted);
    *library = dlopen("liblapack.so.3", RTLD_NOW | RTLD_LOCAL);
    void *symbol = *library == NULL ? NULL : dlsym(*library, "dgtsv_");
    memcpy(&bench->gtsv, &symbol, sizeof symbol);
    return symbol == NULL && wanted != NULL ? bench_fail("there is no liblapack.so.3 here") : 0;
}

int bench_solve(const bench_options *options)
{
    if (strcmp(options->device, "gpu") == 0) return bench_solve_gpu(options);
    struct bench bench = {.options = options};
    void *library = NULL;
    int code = open_engine(&bench), known = options->op == NULL;
    if (code == 0) code = open_peer(&bench, &library);
    for (size_t i = 0; code == 0 && i < sizeof cases / sizeof cases[0]; i++) {
        if (options->op != NULL && strstr(cases[i].name, options->op) == NULL) continue;
        known = 1;
        bench.kind = &cases[i];
        code = prepare(&bench);
        if (code == 0) code = time_case(&bench);
        clear(&bench);
    }
    if (code == 0 && !known)
        code = bench_fail("--op is part of a case's name (chain, tree, flat ...), not %s", options->op) + 1;
    if (library != NULL) dlclose(library);
    lacis_close(bench.engine);
    return code;
}
