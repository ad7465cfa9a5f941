/* SPDX-License-Identifier: Apache-2.0
 *
 * Peers of SYMV on the CPU: OpenBLAS for S, D, C and Z, opened when the program runs, and QD for double-double, whose
 * loop is a module beside the program (peer_qd.cpp) where CMake found QD.
 */
#include "symv.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void (*symv_fn)(const char *uplo, const int *n, const void *alpha, const void *a, const int *lda,
                        const void *x, const int *incx, const void *beta, void *y, const int *incy);
typedef void (*spmv_fn)(const char *uplo, const int *n, const void *alpha, const void *a, const void *x,
                        const int *incx, const void *beta, void *y, const int *incy);
typedef void (*symm_fn)(const char *side, const char *uplo, const int *m, const int *n, const void *alpha,
                        const void *a, const int *lda, const void *b, const int *ldb, const void *beta, void *c,
                        const int *ldc);
typedef void (*qd_fn)(int upper, int64_t n, const double *a, const double *x, double *y);

enum { TYPES = LACIS_SYMV_C128 + 1 };
struct symv_blas {
    void *library, *module;
    symv_fn symv[TYPES], hemv[TYPES];
    spmv_fn spmv[TYPES];
    symm_fn symm[TYPES];
    void (*set_threads)(int threads);
    qd_fn qd;
};

static void *symbol(void *library, const char *name)
{
    return library == NULL ? NULL : dlsym(library, name);
}

/* Of a complex matrix those for Hermitian ones, but for symv. */
static void find_all(symv_blas *blas)
{
    static const char *const symv[TYPES] = {"ssymv_", "dsymv_", "csymv_", "zsymv_"};
    static const char *const hemv[TYPES] = {"ssymv_", "dsymv_", "chemv_", "zhemv_"};
    static const char *const spmv[TYPES] = {"sspmv_", "dspmv_", "chpmv_", "zhpmv_"};
    static const char *const symm[TYPES] = {"ssymm_", "dsymm_", "chemm_", "zhemm_"};
    for (int i = 0; i < TYPES; i++) {
        *(void **)&blas->symv[i] = symbol(blas->library, symv[i]);
        *(void **)&blas->hemv[i] = symbol(blas->library, hemv[i]);
        *(void **)&blas->spmv[i] = symbol(blas->library, spmv[i]);
        *(void **)&blas->symm[i] = symbol(blas->library, symm[i]);
    }
    *(void **)&blas->set_threads = symbol(blas->library, "openblas_set_num_threads");
}

static void *beside_program(const char *name)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    snprintf(path + folder, sizeof path - folder, "%s", name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

int symv_blas_open(const char *wanted, symv_blas **out)
{
    *out = NULL;
    if (wanted != NULL && strcmp(wanted, "none") == 0) return 0;
    if (wanted != NULL && strcmp(wanted, "openblas") != 0 && strcmp(wanted, "qd") != 0)
        return bench_fail("symv on the CPU has the peers openblas and qd, not \"%s\"", wanted);
    symv_blas *blas = calloc(1, sizeof *blas);
    if (blas == NULL) return bench_fail("out of memory");
    if (wanted == NULL || strcmp(wanted, "openblas") == 0) {
        blas->library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        find_all(blas);
    }
    if (wanted == NULL || strcmp(wanted, "qd") == 0) {
        blas->module = beside_program("lacis-bench-qd.so");
        *(void **)&blas->qd = symbol(blas->module, "bench_qd_symv");
    }
    if (wanted != NULL && blas->library == NULL && blas->qd == NULL) {
        symv_blas_close(blas);
        return bench_fail("%s is not here", wanted);
    }
    *out = blas;
    return 0;
}

void symv_blas_threads(symv_blas *blas, int threads)
{
    if (blas != NULL && blas->set_threads != NULL) blas->set_threads(threads);
}

bool symv_blas_has(const symv_blas *blas, const symv_case *c)
{
    const lacis_symv_type type = c->kind->type;
    if (blas == NULL || c->op->matrices > 1 || (c->op->symmetric && (c->op->packed || c->op->sides > 1)))
        return false;
    if (type == LACIS_SYMV_DD) return blas->qd != NULL && !c->op->packed && c->op->sides == 1;
    if ((int)type >= TYPES) return false;
    if (c->op->packed) return blas->spmv[type] != NULL;
    if (c->op->sides > 1) return blas->symm[type] != NULL;
    return (symv_hermitian(c) ? blas->hemv[type] : blas->symv[type]) != NULL;
}

void symv_blas_run(const symv_blas *blas, const symv_case *c, const void *a, const void *x, void *y)
{
    static const double one64[] = {1, 0}, zero64[] = {0, 0};
    static const float one32[] = {1, 0}, zero32[] = {0, 0};
    const lacis_symv_type type = c->kind->type;
    const bool single = type == LACIS_SYMV_F32 || type == LACIS_SYMV_C64;
    const void *one = single ? (const void *)one32 : one64, *zero = single ? (const void *)zero32 : zero64;
    const char *uplo = c->uplo == LACIS_SYMV_LOWER ? "L" : "U";
    const int n = (int)c->n, step = 1;
    if (type == LACIS_SYMV_DD) {
        blas->qd(c->uplo == LACIS_SYMV_UPPER, c->n, a, x, y);
    } else if (c->op->packed) {
        blas->spmv[type](uplo, &n, one, a, x, &step, zero, y, &step);
    } else if (c->op->sides > 1) {
        blas->symm[type]("L", uplo, &n, &c->op->sides, one, a, &n, x, &n, zero, y, &n);
    } else {
        (symv_hermitian(c) ? blas->hemv : blas->symv)[type](uplo, &n, one, a, &n, x, &step, zero, y, &step);
    }
}

void symv_blas_close(symv_blas *blas)
{
    if (blas == NULL) return;
    if (blas->library != NULL) dlclose(blas->library);
    if (blas->module != NULL) dlclose(blas->module);
    free(blas);
}
