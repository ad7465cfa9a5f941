/* SPDX-License-Identifier: Apache-2.0
 *
 * cuBLAS as the peer of SYMV on the GPU: symv and hemv in both modes (atomics or not), spmv and hpmv for packed
 * matrices, symm for several right-hand sides, gemv over the whole square. The library is found when the program
 * runs.
 */
#include "symv_gpu.h"

#include <cublas_v2.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS(X)                                                                                                 \
    X(Create_v2)                                                                                                     \
    X(Destroy_v2)                                                                                                    \
    X(SetStream_v2)                                                                                                  \
    X(SetAtomicsMode)                                                                                                \
    X(Ssymv_v2)                                                                                                      \
    X(Dsymv_v2)                                                                                                      \
    X(Csymv_v2)                                                                                                      \
    X(Zsymv_v2)                                                                                                      \
    X(Chemv_v2)                                                                                                      \
    X(Zhemv_v2)                                                                                                      \
    X(Sspmv_v2)                                                                                                      \
    X(Dspmv_v2)                                                                                                      \
    X(Chpmv_v2)                                                                                                      \
    X(Zhpmv_v2)                                                                                                      \
    X(Ssymm_v2)                                                                                                      \
    X(Dsymm_v2)                                                                                                      \
    X(Chemm_v2)                                                                                                      \
    X(Zhemm_v2)                                                                                                      \
    X(Sgemv_v2)                                                                                                      \
    X(Dgemv_v2)                                                                                                      \
    X(Cgemv_v2)                                                                                                      \
    X(Zgemv_v2)
#define MEMBER(name) __typeof__(&cublas##name) name;
#define LOAD(name)   ok = ok && (*(void **)&cublas->name = dlsym(cublas->library, "cublas" #name)) != NULL;

struct symv_cublas {
    void *library;
    cublasHandle_t handle;
    FUNCTIONS(MEMBER)
};

int symv_cublas_open(void *stream, const char *wanted, symv_cublas **out)
{
    static const char *const place[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so",
                                        "/usr/local/cuda/lib64/libcublas.so.13",
                                        "/usr/local/cuda/lib64/libcublas.so"};
    *out = NULL;
    if (wanted != NULL && strcmp(wanted, "none") == 0) return 0;
    if (wanted != NULL && strcmp(wanted, "cublas") != 0)
        return bench_fail("symv on the GPU has no peer \"%s\"", wanted);
    symv_cublas *cublas = calloc(1, sizeof *cublas);
    if (cublas == NULL) return bench_fail("out of memory");
    for (size_t i = 0; cublas->library == NULL && i < sizeof place / sizeof place[0]; i++)
        cublas->library = dlopen(place[i], RTLD_NOW | RTLD_LOCAL);
    bool ok = cublas->library != NULL;
    if (ok) {
        FUNCTIONS(LOAD)
    }
    ok = ok && cublas->Create_v2(&cublas->handle) == CUBLAS_STATUS_SUCCESS;
    if (!ok || cublas->SetStream_v2(cublas->handle, stream) != CUBLAS_STATUS_SUCCESS) {
        free(cublas);
        return wanted != NULL ? bench_fail("cuBLAS is not here") : 0;
    }
    *out = cublas;
    return 0;
}

void symv_cublas_close(symv_cublas *cublas)
{
    if (cublas == NULL) return;
    cublas->Destroy_v2(cublas->handle);
    free(cublas);
}

int symv_cublas_atomics(symv_cublas *cublas, bool allowed)
{
    cublasAtomicsMode_t mode = allowed ? CUBLAS_ATOMICS_ALLOWED : CUBLAS_ATOMICS_NOT_ALLOWED;
    return cublas->SetAtomicsMode(cublas->handle, mode) == CUBLAS_STATUS_SUCCESS ? 0 : bench_fail("cuBLAS: no mode");
}

bool symv_cublas_has(const symv_cublas *cublas, const symv_case *c)
{
    if (cublas == NULL || c->kind->type > LACIS_SYMV_C128 || c->op->matrices > 1) return false;
    return !(c->op->symmetric && (c->op->packed || c->op->sides > 1));
}

static const float one32 = 1, zero32 = 0;
static const double one64 = 1, zero64 = 0;
static const cuComplex one_c64 = {1, 0}, zero_c64 = {0, 0};
static const cuDoubleComplex one_c128 = {1, 0}, zero_c128 = {0, 0};

#define SYMV(name, one, zero) cublas->name##_v2(cublas->handle, uplo, n, &one, a, n, x, 1, &zero, y, 1)
#define SPMV(name, one, zero) cublas->name##_v2(cublas->handle, uplo, n, &one, a, x, 1, &zero, y, 1)
#define SYMM(name, one, zero)                                                                                        \
    cublas->name##_v2(cublas->handle, CUBLAS_SIDE_LEFT, uplo, n, c->op->sides, &one, a, n, x, n, &zero, y, n)
#define GEMV(name, one, zero) cublas->name##_v2(cublas->handle, CUBLAS_OP_N, n, n, &one, a, n, x, 1, &zero, y, 1)

static cublasStatus_t several(symv_cublas *cublas, const symv_case *c, const void *a, const void *x, void *y)
{
    const cublasFillMode_t uplo = c->uplo == LACIS_SYMV_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const int n = (int)c->n;
    switch (c->kind->type) {
    case LACIS_SYMV_F32:
        return SYMM(Ssymm, one32, zero32);
    case LACIS_SYMV_F64:
        return SYMM(Dsymm, one64, zero64);
    case LACIS_SYMV_C64:
        return SYMM(Chemm, one_c64, zero_c64);
    default:
        return SYMM(Zhemm, one_c128, zero_c128);
    }
}

static cublasStatus_t packed(symv_cublas *cublas, const symv_case *c, const void *a, const void *x, void *y)
{
    const cublasFillMode_t uplo = c->uplo == LACIS_SYMV_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const int n = (int)c->n;
    switch (c->kind->type) {
    case LACIS_SYMV_F32:
        return SPMV(Sspmv, one32, zero32);
    case LACIS_SYMV_F64:
        return SPMV(Dspmv, one64, zero64);
    case LACIS_SYMV_C64:
        return SPMV(Chpmv, one_c64, zero_c64);
    default:
        return SPMV(Zhpmv, one_c128, zero_c128);
    }
}

static cublasStatus_t full(symv_cublas *cublas, const symv_case *c, const void *a, const void *x, void *y)
{
    const cublasFillMode_t uplo = c->uplo == LACIS_SYMV_LOWER ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
    const bool hermitian = symv_hermitian(c);
    const int n = (int)c->n;
    switch (c->kind->type) {
    case LACIS_SYMV_F32:
        return SYMV(Ssymv, one32, zero32);
    case LACIS_SYMV_F64:
        return SYMV(Dsymv, one64, zero64);
    case LACIS_SYMV_C64:
        return hermitian ? SYMV(Chemv, one_c64, zero_c64) : SYMV(Csymv, one_c64, zero_c64);
    default:
        return hermitian ? SYMV(Zhemv, one_c128, zero_c128) : SYMV(Zsymv, one_c128, zero_c128);
    }
}

static int told(cublasStatus_t status)
{
    if (status == CUBLAS_STATUS_SUCCESS) return 0;
    bench_fail("cuBLAS answered %d", (int)status);
    return -1;
}

int symv_cublas_run(symv_cublas *cublas, const symv_case *c, const void *a, const void *x, void *y)
{
    if (c->op->sides > 1) return told(several(cublas, c, a, x, y));
    return told(c->op->packed ? packed(cublas, c, a, x, y) : full(cublas, c, a, x, y));
}

int symv_cublas_gemv(symv_cublas *cublas, const symv_case *c, const void *a, const void *x, void *y)
{
    const int n = (int)c->n;
    switch (c->kind->type) {
    case LACIS_SYMV_F32:
        return told(GEMV(Sgemv, one32, zero32));
    case LACIS_SYMV_F64:
        return told(GEMV(Dgemv, one64, zero64));
    case LACIS_SYMV_C64:
        return told(GEMV(Cgemv, one_c64, zero_c64));
    default:
        return told(GEMV(Zgemv, one_c128, zero_c128));
    }
}

int symv_gpu_cublas(symv_gpu *g, int turn)
{
    return symv_cublas_run(g->cublas, &g->present, symv_gpu_matrix(g, turn), g->x, g->y);
}

int symv_gpu_gemv(symv_gpu *g, int turn)
{
    return symv_cublas_gemv(g->cublas, &g->present, symv_gpu_matrix(g, turn), g->x, g->y);
}
