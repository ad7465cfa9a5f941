/* SPDX-License-Identifier: Apache-2.0
 *
 * Finding liblacis_ranks, the module that speaks MPI: only where a launcher's variables say that this process is one
 * of several. lacis itself is not linked with MPI. Called by ranks.c.
 */
#include "core/ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifndef LACIS_RANKS_DIRS /* where the module lies from where the program or library does; from CMake */
#define LACIS_RANKS_DIRS ".", "../lib"
#endif
static const char file_name[] = "liblacis_ranks.so";

/* LACIS_RANKS=on or off overrules what the launchers' variables say: Open MPI, MPICH and Intel MPI, srun's PMIx. */
bool lacis_ranks_wanted(void)
{
    static const char *const size[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    const char *asked = getenv("LACIS_RANKS");
    if (asked != NULL && strcasecmp(asked, "on") == 0) return true;
    if (asked != NULL && strcasecmp(asked, "off") == 0) return false;
    for (int i = 0; i < LACIS_COUNT(size); i++) {
        const char *value = getenv(size[i]);
        if (value != NULL && strtol(value, NULL, 10) > 1) return true;
    }
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    return getenv("PMIX_RANK") != NULL && tasks != NULL && strtol(tasks, NULL, 10) > 1;
}

bool lacis_ranks_first(void)
{
    static const char *const rank[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"};
    for (int i = 0; i < LACIS_COUNT(rank); i++) {
        const char *value = getenv(rank[i]);
        if (value != NULL) return strtol(value, NULL, 10) == 0;
    }
    return true;
}

/* The folder of the program or library that this code is in. */
static bool own_folder(char *out, size_t size)
{
    static const char here;
    Dl_info info;
    char path[PATH_MAX];
    if (dladdr(&here, &info) == 0 || info.dli_fname == NULL) return false;
    /* Of a program that was found through PATH the name alone may be known. */
    const char *name = strchr(info.dli_fname, '/') != NULL ? info.dli_fname : "/proc/self/exe";
    if (realpath(name, path) == NULL) return false;
    *strrchr(path, '/') = '\0';
    return (size_t)snprintf(out, size, "%s", path) < size;
}

/* MPI's own plugins look for its names among the global ones. */
static void *open_module(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void *find_module(void)
{
    static const char *const folder[] = {LACIS_RANKS_DIRS};
    char own[PATH_MAX], path[2 * PATH_MAX];
    void *module = NULL;
    bool known = own_folder(own, sizeof own);
    for (int i = 0; known && module == NULL && i < LACIS_COUNT(folder); i++) {
        bool absolute = folder[i][0] == '/';
        snprintf(path, sizeof path, "%s%s%s/%s", absolute ? "" : own, absolute ? "" : "/", folder[i], file_name);
        module = open_module(path);
    }
    return module != NULL ? module : open_module(file_name);
}

const lacis_ranks_driver *lacis_ranks_load(void **module, char *reason, size_t size)
{
    *module = find_module();
    if (*module == NULL) {
        const char *why = dlerror();
        snprintf(reason, size,
                 "started as one of several processes, but %s cannot be loaded (%.200s): it is built where "
                 "MPI is found; LACIS_RANKS=off runs each process alone",
                 file_name, why == NULL ? "no reason given" : why);
        return NULL;
    }
    const lacis_ranks_driver *driver = dlsym(*module, LACIS_RANKS_SYMBOL);
    if (driver != NULL && driver->version == LACIS_RANKS_VERSION) return driver;
    snprintf(reason, size, "%s is of another version of lacis", file_name);
    dlclose(*module);
    *module = NULL;
    return NULL;
}
