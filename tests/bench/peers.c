/* SPDX-License-Identifier: Apache-2.0
 *
 * Peer libraries by name. GraphBLAS comes as a module beside the program, cuSPARSE is looked for by its own file.
 */
#include "bench.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const bench_peer *from_module(const char *name, char *reason, size_t size)
{
    char path[PATH_MAX], symbol[64];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0) length = 0;
    path[length] = '\0';
    char *slash = strrchr(path, '/');
    size_t folder = slash == NULL ? 0 : (size_t)(slash - path) + 1;
    snprintf(path + folder, sizeof path - folder, "lacis-bench-%s.so", name);
    snprintf(symbol, sizeof symbol, "bench_peer_%s", name);
    void *module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const bench_peer *peer = module == NULL ? NULL : dlsym(module, symbol);
    if (peer == NULL) snprintf(reason, size, "%s", dlerror());
    return peer;
}

const bench_peer *bench_peer_find(const char *name, char *reason, size_t size)
{
    if (strcmp(name, "graphblas") == 0) return from_module(name, reason, size);
#ifdef LACIS_BENCH_CUSPARSE
    if (strcmp(name, "cusparse") == 0) return &bench_peer_cusparse;
    snprintf(reason, size, "there is no peer of that name");
#else
    snprintf(reason, size, "this lacis-bench was built without cusparse.h");
#endif
    return NULL;
}
