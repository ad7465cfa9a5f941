/* SPDX-License-Identifier: Apache-2.0
 *
 * Kernels of NBODY on a real GPU: nbody_gpu check|small [PART] [SEED], bench PART [...].
 *
 * check: against double sums on the host. small: few of them, for compute-sanitizer. bench: times. Parts register
 * themselves (nbody_support.h): build.TYPE, build.rest, walk.TYPE, walk.rest, walk.made, direct, system.TYPE, several; build is
 * all that begin with it.
 */
#include "nbody_support.h"

#include <chrono>
#include <cstring>

cudaStream_t stream;
int failures, nbody_checks;

static nbody_part *parts;
static nbody_bench *benches;

nbody_part::nbody_part(const char *name_, void (*check_)(bool, u64)) : name(name_), check(check_), next(parts)
{
    parts = this;
}

nbody_bench::nbody_bench(const char *name_, int (*bench_)(int, char **)) : name(name_), bench(bench_), next(benches)
{
    benches = this;
}

static int usage()
{
    printf("usage: nbody_gpu check|small [PART] [SEED] | bench PART [...]\nparts:");
    for (const nbody_part *p = parts; p != nullptr; p = p->next)
        printf(" %s", p->name);
    printf("\nbenches:");
    for (const nbody_bench *b = benches; b != nullptr; b = b->next)
        printf(" %s", b->name);
    printf("\n");
    return 2;
}

/* PART: a part, or what names begin with up to a dot. */
static bool begins(const char *name, const char *part)
{
    const size_t length = strlen(part);
    return strncmp(name, part, length) == 0 && (name[length] == 0 || name[length] == '.');
}

static int check(bool small, const char *only, u64 seed)
{
    const auto begin = std::chrono::steady_clock::now();
    int found = 0;
    for (const nbody_part *p = parts; p != nullptr; p = p->next) {
        if (only != nullptr && !begins(p->name, only)) continue;
        found++;
        p->check(small, seed);
        nbody_expect(nbody_live == 0, "%s: %lld blocks of memory are left", p->name, (long long)nbody_live);
    }
    if (found == 0) return usage();
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    printf("%s %s: %d cases, %d failures, %.1f s\n", small ? "small" : "check", only != nullptr ? only : "all",
           nbody_checks, failures, s);
    return failures != 0;
}

int main(int argc, char **argv)
{
    const std::string what = argc > 1 ? argv[1] : "";
    const bool named = argc > 2 && (argv[2][0] < '0' || argv[2][0] > '9');
    cudaMemPool_t pool;
    uint64_t keep = UINT64_MAX;
    CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    if (what == "check" || what == "small")
        return check(what == "small", named ? argv[2] : nullptr,
                     argc > 2 + named ? strtoull(argv[2 + named], nullptr, 0) : 1);
    for (const nbody_bench *b = benches; what == "bench" && argc > 2 && b != nullptr; b = b->next)
        if (strcmp(b->name, argv[2]) == 0) return b->bench(argc - 3, argv + 3);
    return usage();
}
