/* SPDX-License-Identifier: Apache-2.0
 *
 * The variants of NBODY and ACCELERATE: all pairs, a tree from sorted keys, a tree by insertion, on the CPU and on
 * the GPU.
 */
#include "nbody/system.h"

#include <stdlib.h>
#include <string.h>

static const char *const way_name[LACIS_NBODY_WAYS] = {"pairs", "tree", "insertion"};

/* LACIS_NBODY_WAY names one in the environment: for tests of each, and to measure them. */
static bool wanted(const lacis_call *call, lacis_nbody_way way, char *reason, size_t size)
{
    const lacis_nbody_work *work = call->work;
    if (work->last && way != LACIS_NBODY_TREE) {
        snprintf(reason, size, "LAST goes by a tree");
        return false;
    }
    const char *name = getenv("LACIS_NBODY_WAY");
    if (name == NULL || *name == '\0' || strcmp(name, way_name[way]) == 0) return true;
    snprintf(reason, size, "LACIS_NBODY_WAY asks for another way");
    return false;
}

/* Each variant's functions know their way. */
#define WAY(which, way, cpu_text, gpu_text)                                                                          \
    static bool which##_can(const lacis_call *call, char *reason, size_t size)                                       \
    {                                                                                                                \
        return wanted(call, way, reason, size);                                                                      \
    }                                                                                                                \
    static lacis_status which##_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,           \
                                     lacis_cost *out)                                                                \
    {                                                                                                                \
        return lacis_nbody_cost(run, call, way, profile, out);                                                       \
    }                                                                                                                \
    static lacis_status which##_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,              \
                                    lacis_array **out)                                                               \
    {                                                                                                                \
        return lacis_nbody_run(run, call, way, lacis_nbody_cpu_system, begin, end, out);                             \
    }                                                                                                                \
    static bool which##_gpu_can(const lacis_call *call, char *reason, size_t size)                                   \
    {                                                                                                                \
        return wanted(call, way, reason, size) && lacis_nbody_gpu_can(call, way, reason, size);                      \
    }                                                                                                                \
    static lacis_status which##_gpu_cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile,       \
                                         lacis_cost *out)                                                            \
    {                                                                                                                \
        return lacis_nbody_gpu_cost(run, call, way, profile, out);                                                   \
    }                                                                                                                \
    static lacis_status which##_gpu_run(lacis_run *run, const lacis_call *call, int64_t begin, int64_t end,          \
                                        lacis_array **out)                                                           \
    {                                                                                                                \
        return lacis_nbody_run(run, call, way, lacis_nbody_gpu_system, begin, end, out);                             \
    }                                                                                                                \
    static const lacis_variant which = {.name = #which,                                                              \
                                        .device = LACIS_CPU,                                                         \
                                        .summary = cpu_text,                                                         \
                                        .can = which##_can,                                                          \
                                        .cost = which##_cost,                                                        \
                                        .run = which##_run};                                                         \
    static const lacis_variant which##_gpu = {.name = "gpu " #which,                                                 \
                                              .device = LACIS_GPU,                                                   \
                                              .summary = gpu_text,                                                   \
                                              .can = which##_gpu_can,                                                \
                                              .cost = which##_gpu_cost,                                              \
                                              .run = which##_gpu_run}

WAY(pairs, LACIS_NBODY_DIRECT, "all pairs, in tiles of vectors", "all pairs, in tiles through shared memory");
WAY(tree, LACIS_NBODY_TREE, "an octree from sorted keys; neighbours share a walk and its lists",
    "an octree from sorted keys; a warp's bodies share a walk and its lists");
WAY(insertion, LACIS_NBODY_INSERT, "an octree built by inserting body after body; walks as of tree",
    "an octree built by inserting bodies side by side, with light locks; walks as of gpu tree");

const lacis_variant *const lacis_nbody_variants[LACIS_NBODY_VARIANTS] = {
    &pairs, &tree, &insertion, &pairs_gpu, &tree_gpu, &insertion_gpu, &lacis_nbody_ranks, &lacis_nbody_ranks_gpu};
