/* SPDX-License-Identifier: Apache-2.0
 *
 * The shared memory of a block: variables from the front on, each with a gap behind it that nobody may write, dynamic
 * memory up to a page that nobody may touch. Used by scheduler.cpp.
 */
#ifndef LACIS_EMULATE_ARENA_H
#define LACIS_EMULATE_ARENA_H

#include <stddef.h>
#include <vector>

namespace emulate
{

struct arena_variable {
    const void *key;
    const char *name;
    size_t at, bytes;
};

struct arena {
    char *base = nullptr;
    size_t used = 0, static_bytes = 0, dynamic_bytes = 0;
    std::vector<arena_variable> variables;
};

enum { ARENA_BYTES = 1 << 19, ARENA_STATIC_MOST = 48 << 10, ARENA_GAP = 64 };

void arena_begin(arena *a, size_t dynamic_bytes, unsigned char garbage); /* maps it the first time */
void *arena_variable_at(arena *a, const void *key, size_t bytes, size_t alignment, const char *name,
                        unsigned char garbage);
char *arena_dynamic(const arena *a);
const char *arena_overrun(const arena *a); /* the name of a variable behind which was written; NULL: none */

} /* namespace emulate */

#endif
