/* SPDX-License-Identifier: Apache-2.0
 *
 * Vertex ids of a file and the indices 0 .. n-1 that they get, ascending. Ids are first counted by all threads, then
 * numbered, then looked up. Three stores: dense (declared: base .. base+n-1), direct (an array over 0 .. cap) and
 * hashed (any 64-bit ids). Used by the graph builder (common_edges.c).
 */
#ifndef LACIS_LOADERS_IDS_H
#define LACIS_LOADERS_IDS_H

#include "lacis_extend.h"

#include <stdatomic.h>

typedef enum lacis_ids_store { LACIS_IDS_DENSE, LACIS_IDS_DIRECT, LACIS_IDS_HASHED } lacis_ids_store;

enum { LACIS_SHARDS = 128 };
typedef struct lacis_id_slot {
    int64_t id;
    uint64_t state; /* 0: empty; while counting 1 + degree; once numbered 1 + index */
} lacis_id_slot;
typedef struct lacis_id_shard {
    _Alignas(64) atomic_flag lock;
    lacis_id_slot *slot;
    uint64_t room, used; /* room: a power of two, or 0 */
} lacis_id_shard;

typedef struct lacis_ids {
    lacis_run *run;
    lacis_ids_store store;
    bool shared; /* several threads count at once */
    int64_t base, count;
    /* direct: degree by id, later index by id; a bit for each id that occurs */
    lacis_buffer *number_buffer, *seen_buffer;
    uint32_t *number;
    uint64_t *seen;
    int64_t cap;
    _Atomic int64_t ready; /* ids below it have zeroed, charged storage */
    atomic_flag growing;
    lacis_id_shard *shard;
    lacis_buffer *labels; /* the ids, rising; NULL where they are base + index */
} lacis_ids;

void lacis_ids_dense(lacis_ids *ids, lacis_run *run, int64_t base, int64_t count);
lacis_status lacis_ids_direct(lacis_ids *ids, lacis_run *run, bool shared, int64_t cap);
lacis_status lacis_ids_hashed(lacis_ids *ids, lacis_run *run, bool shared);
void lacis_ids_clear(lacis_ids *ids);

/* Notes that ids occur, and where `degree` is set counts each. From any thread, without a message:
 * LACIS_RANGE (direct) an id lies outside the array, or a count left 32 bits: count again with hashed ids
 * LACIS_NOMEM, LACIS_LIMIT */
lacis_status lacis_ids_count(lacis_ids *ids, const int64_t *id, int n, bool degree);
/* Numbers the ids. `base`: NULL, or the id of index 0: then all ids from there to the largest get an index. */
lacis_status lacis_ids_number(lacis_ids *ids, const int64_t *base);
/* Writes the degree of index i to degree[i]; only direct and hashed, once, right before lacis_ids_settle. */
void lacis_ids_degrees(lacis_ids *ids, int64_t *degree);
/* Turns counts into indices, frees what lookups do not need. */
lacis_status lacis_ids_settle(lacis_ids *ids);
/* Replaces ids by their indices. */
void lacis_ids_index(const lacis_ids *ids, int64_t *id, int n);

#endif
