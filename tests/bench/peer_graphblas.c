/* SPDX-License-Identifier: Apache-2.0
 *
 * SuiteSparse GraphBLAS as the peer of MULTIPLY on the CPU: the same product, computed, finished (nothing pending,
 * rows sorted) and stored. A module of its own, lacis-bench-graphblas.so, that peers.c loads where it lies beside the
 * program: so lacis-bench runs where there is no GraphBLAS.
 */
#include "bench.h"

#include <GraphBLAS.h>
#include <stdlib.h>

/* The peer's world; lacis-bench opens one at a time. */
static struct {
    GrB_Matrix a, small;
    GrB_Vector x;
    GrB_Type type;
    GrB_BinaryOp plus, least;
    GrB_Monoid monoid;
    GrB_Semiring user;
    bool f64;
    GrB_Index n;
} peer;

static void plus32(void *z, const void *x, const void *y)
{
    *(float *)z = *(const float *)x + *(const float *)y;
}
static void plus64(void *z, const void *x, const void *y)
{
    *(double *)z = *(const double *)x + *(const double *)y;
}
static void least32(void *z, const void *x, const void *y)
{
    float left = *(const float *)x, right = *(const float *)y;
    *(float *)z = left < right ? left : right;
}
static void least64(void *z, const void *x, const void *y)
{
    double left = *(const double *)x, right = *(const double *)y;
    *(double *)z = left < right ? left : right;
}

static GrB_Info import(const bench_graph *graph, const float *value32, const double *value64, GrB_Matrix *out)
{
    GrB_Index *offsets = malloc(sizeof *offsets * (size_t)(graph->n + 1));
    GrB_Index *columns = malloc(sizeof *columns * (size_t)(graph->entries + 1));
    GrB_Info info = GrB_OUT_OF_MEMORY;
    GrB_Index n = peer.n, entries = (GrB_Index)graph->entries;
    if (offsets != NULL && columns != NULL) {
        for (GrB_Index i = 0; i <= n; i++)
            offsets[i] = (GrB_Index)graph->offsets[i];
        for (GrB_Index i = 0; i < entries; i++)
            columns[i] = graph->columns[i];
        info = peer.f64 ? GrB_Matrix_import_FP64(out, GrB_FP64, n, n, offsets, columns, value64, n + 1, entries,
                                                 entries, GrB_CSR_FORMAT)
                        : GrB_Matrix_import_FP32(out, GrB_FP32, n, n, offsets, columns, value32, n + 1, entries,
                                                 entries, GrB_CSR_FORMAT);
    }
    free(offsets);
    free(columns);
    if (info == GrB_SUCCESS) info = GrB_Matrix_wait(*out, GrB_MATERIALIZE);
    return info;
}

static GrB_Info make_user(void)
{
    GrB_Info info = GrB_BinaryOp_new(&peer.plus, peer.f64 ? plus64 : plus32, peer.type, peer.type, peer.type);
    if (info == GrB_SUCCESS)
        info = GrB_BinaryOp_new(&peer.least, peer.f64 ? least64 : least32, peer.type, peer.type, peer.type);
    if (info == GrB_SUCCESS)
        info = peer.f64 ? GrB_Monoid_new_FP64(&peer.monoid, peer.least, INFINITY)
                        : GrB_Monoid_new_FP32(&peer.monoid, peer.least, INFINITY);
    if (info == GrB_SUCCESS) info = GrB_Semiring_new(&peer.user, peer.monoid, peer.plus);
    return info;
}

static int open_graph(const bench_graph *graph, bool f64, int threads)
{
    peer.f64 = f64;
    peer.n = (GrB_Index)graph->n;
    if (GrB_init(GrB_NONBLOCKING) != GrB_SUCCESS) return bench_fail("GraphBLAS cannot start");
    peer.type = f64 ? GrB_FP64 : GrB_FP32;
    if (threads > 0) GxB_Global_Option_set(GxB_NTHREADS, threads);
    GrB_Info info = import(graph, graph->value32, graph->value64, &peer.a);
    if (info == GrB_SUCCESS) info = import(graph, graph->small32, graph->small64, &peer.small);
    if (info == GrB_SUCCESS) info = make_user();
    return info == GrB_SUCCESS ? 0 : bench_fail("GraphBLAS: error %d while taking the graph", (int)info);
}

static GrB_Semiring semiring(bench_op op)
{
    if (op == BENCH_MINPLUS) return peer.f64 ? GrB_MIN_PLUS_SEMIRING_FP64 : GrB_MIN_PLUS_SEMIRING_FP32;
    if (op == BENCH_TIMES) return peer.f64 ? GrB_PLUS_TIMES_SEMIRING_FP64 : GrB_PLUS_TIMES_SEMIRING_FP32;
    if (op == BENCH_USER) return peer.user;
    return GxB_PLUS_PAIR_UINT32;
}

static bool counts(bench_op op)
{
    return op != BENCH_MINPLUS && op != BENCH_USER && op != BENCH_TIMES;
}

static double value_at(const void *values, bool iso, bool count, GrB_Index i)
{
    GrB_Index at = iso ? 0 : i;
    if (count) return (double)((const uint32_t *)values)[at];
    return peer.f64 ? ((const double *)values)[at] : (double)((const float *)values)[at];
}

static GrB_Info digest_matrix(GrB_Matrix c, bool count, bench_digest *digest)
{
    GrB_Index *offsets, *columns, size[3];
    void *values;
    bool iso;
    GrB_Info info =
        GxB_Matrix_unpack_CSR(c, &offsets, &columns, &values, &size[0], &size[1], &size[2], &iso, NULL, NULL);
    if (info != GrB_SUCCESS) return info;
    for (GrB_Index r = 0; r < peer.n; r++)
        for (GrB_Index i = offsets[r]; i < offsets[r + 1]; i++)
            bench_digest_add(digest, r, columns[i], value_at(values, iso, count, i));
    free(offsets);
    free(columns);
    free(values);
    return GrB_SUCCESS;
}

static GrB_Info run_product(bench_op op, double *seconds, bench_digest *digest)
{
    GrB_Matrix c = NULL, a = op == BENCH_TIMES ? peer.small : peer.a;
    double start = bench_now();
    GrB_Info info = GrB_Matrix_new(&c, counts(op) ? GrB_UINT32 : peer.type, peer.n, peer.n);
    if (info == GrB_SUCCESS) info = GrB_mxm(c, NULL, NULL, semiring(op), a, a, NULL);
    if (info == GrB_SUCCESS) info = GrB_Matrix_wait(c, GrB_MATERIALIZE);
    *seconds = bench_now() - start;
    if (info == GrB_SUCCESS && digest != NULL) info = digest_matrix(c, counts(op), digest);
    GrB_Matrix_free(&c);
    return info;
}

static GrB_Info digest_vector(GrB_Vector y, GrB_Index row, bench_digest *digest)
{
    GrB_Index count;
    GrB_Info info = GrB_Vector_nvals(&count, y);
    if (info != GrB_SUCCESS) return info;
    GrB_Index *index = malloc(sizeof *index * (size_t)(count + 1));
    double *value = malloc(sizeof *value * (size_t)(count + 1));
    if (index == NULL || value == NULL) return GrB_OUT_OF_MEMORY;
    info = GrB_Vector_extractTuples_FP64(index, value, &count, y);
    for (GrB_Index i = 0; info == GrB_SUCCESS && i < count; i++)
        bench_digest_add(digest, row, index[i], value[i]);
    free(index);
    free(value);
    return info;
}

/* Row `source` of A, then times A. */
static GrB_Info run_source(GrB_Index source, double *seconds, bench_digest *digest)
{
    GrB_Vector x = NULL, y = NULL;
    double start = bench_now();
    GrB_Info info = GrB_Vector_new(&x, peer.type, peer.n);
    if (info == GrB_SUCCESS) info = GrB_Vector_new(&y, GrB_UINT32, peer.n);
    if (info == GrB_SUCCESS) info = GrB_Col_extract(x, NULL, NULL, peer.a, GrB_ALL, peer.n, source, GrB_DESC_T0);
    if (info == GrB_SUCCESS) info = GrB_vxm(y, NULL, NULL, GxB_PLUS_PAIR_UINT32, x, peer.a, NULL);
    if (info == GrB_SUCCESS) info = GrB_Vector_wait(y, GrB_MATERIALIZE);
    *seconds = bench_now() - start;
    if (info == GrB_SUCCESS && digest != NULL) info = digest_vector(y, source, digest);
    GrB_Vector_free(&x);
    GrB_Vector_free(&y);
    return info;
}

static int run(bench_op op, int64_t source, double *seconds, bench_digest *digest)
{
    GrB_Info info =
        op == BENCH_SOURCE ? run_source((GrB_Index)source, seconds, digest) : run_product(op, seconds, digest);
    return info == GrB_SUCCESS ? 0 : bench_fail("GraphBLAS: error %d in a product", (int)info);
}

static void close_graph(void)
{
    GrB_Matrix_free(&peer.a);
    GrB_Matrix_free(&peer.small);
    GrB_Semiring_free(&peer.user);
    GrB_Monoid_free(&peer.monoid);
    GrB_BinaryOp_free(&peer.plus);
    GrB_BinaryOp_free(&peer.least);
    GrB_finalize();
}

static bool has(bench_op op)
{
    return op != BENCH_FOLD16;
}

extern const bench_peer bench_peer_graphblas;
__attribute__((visibility("default"))) const bench_peer bench_peer_graphblas = {
    .name = "graphblas", .open = open_graph, .has = has, .run = run, .close = close_graph};
