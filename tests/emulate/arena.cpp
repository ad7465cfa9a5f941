/* SPDX-License-Identifier: Apache-2.0 */
#include "arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, bytes)   ((void)(at), (void)(bytes))
#define ASAN_UNPOISON_MEMORY_REGION(at, bytes) ((void)(at), (void)(bytes))
#endif

namespace emulate
{

enum { PAGE = 4096, GAP_BYTE = 0xa7 };

char *arena_dynamic(const arena *a)
{
    return a->base + ARENA_BYTES - (a->dynamic_bytes + 15) / 16 * 16;
}

static void map(arena *a)
{
    char *const at = (char *)mmap(NULL, ARENA_BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at + PAGE, ARENA_BYTES, PROT_READ | PROT_WRITE) != 0) {
        perror("emulate: no memory for a block's shared memory");
        abort();
    }
    a->base = at + PAGE;
}

void arena_begin(arena *a, size_t dynamic_bytes, unsigned char garbage)
{
    if (!a->base) map(a);
    a->variables.clear();
    a->used = a->static_bytes = 0;
    a->dynamic_bytes = dynamic_bytes;
    ASAN_POISON_MEMORY_REGION(a->base, ARENA_BYTES);
    char *const dynamic = arena_dynamic(a);
    ASAN_UNPOISON_MEMORY_REGION(dynamic, dynamic_bytes);
    memset(dynamic, garbage, dynamic_bytes);
}

void *arena_variable_at(arena *a, const void *key, size_t bytes, size_t alignment, const char *name,
                        unsigned char garbage)
{
    for (const arena_variable &v : a->variables)
        if (v.key == key) return a->base + v.at;
    if (alignment < 16) alignment = 16;
    const size_t at = (a->used + alignment - 1) / alignment * alignment;
    a->static_bytes = (a->static_bytes + alignment - 1) / alignment * alignment + bytes;
    if (a->static_bytes > ARENA_STATIC_MOST || a->base + at + bytes + ARENA_GAP > arena_dynamic(a)) return NULL;
    a->used = at + bytes + ARENA_GAP;
    a->variables.push_back({key, name, at, bytes});
    ASAN_UNPOISON_MEMORY_REGION(a->base + at, bytes + ARENA_GAP);
    memset(a->base + at, garbage, bytes);
    memset(a->base + at + bytes, GAP_BYTE, ARENA_GAP);
    ASAN_POISON_MEMORY_REGION(a->base + at + bytes, ARENA_GAP);
    return a->base + at;
}

const char *arena_overrun(const arena *a)
{
#ifndef __SANITIZE_ADDRESS__
    for (const arena_variable &v : a->variables)
        for (size_t i = 0; i < ARENA_GAP; i++)
            if ((unsigned char)a->base[v.at + v.bytes + i] != GAP_BYTE) return v.name;
#else
    (void)a;
#endif
    return NULL;
}

} /* namespace emulate */
