/* SPDX-License-Identifier: Apache-2.0
 *
 * The descriptors that an engine knows: those built in (a table that CMake generates) and those registered later.
 */
#ifndef LACIS_CORE_REGISTRY_H
#define LACIS_CORE_REGISTRY_H

#include "core/run.h"

typedef struct lacis_registry {
    const lacis_op **op;
    int ops;
    const lacis_loader **loader;
    int loaders;
    const lacis_generator **generator;
    int generators;
} lacis_registry;

/* Generated: NULL-terminated. */
extern const lacis_op *const lacis_builtin_ops[];
extern const lacis_loader *const lacis_builtin_loaders[];
extern const lacis_generator *const lacis_builtin_generators[];

lacis_status lacis_registry_init(lacis_run *run, lacis_registry *registry);
void lacis_registry_clear(lacis_host *host, lacis_registry *registry);
lacis_status lacis_registry_add_op(lacis_run *run, lacis_registry *registry, const lacis_op *op);
lacis_status lacis_registry_add_loader(lacis_run *run, lacis_registry *registry, const lacis_loader *loader);

/* By name in any case; NULL where there is none. */
const lacis_op *lacis_registry_op(const lacis_registry *registry, const char *verb, size_t length);
const lacis_loader *lacis_registry_loader(const lacis_registry *registry, const char *name);
const lacis_generator *lacis_registry_generator(const lacis_registry *registry, const char *name);

/* nearest.c: the candidate nearest to `word` by edit distance (case ignored), if it is near enough to be meant;
 * NULL otherwise. Feed candidates one by one. */
typedef struct lacis_nearest {
    const char *word;
    size_t length;
    int distance;
    char best[64];
} lacis_nearest;
void lacis_nearest_begin(lacis_nearest *nearest, const char *word, size_t length);
void lacis_nearest_try(lacis_nearest *nearest, const char *candidate);
const char *lacis_nearest_result(const lacis_nearest *nearest);

#endif
