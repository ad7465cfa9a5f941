/* SPDX-License-Identifier: Apache-2.0
 *
 * Ids to indices; see common_ids.h.
 */
#include "common_ids.h"

#include "common_sort.h"

#include <string.h>

enum { GROW_IDS = 1 << 16, SHARD_ROOM = 64, AHEAD = 12 };

static void spin_lock(atomic_flag *lock)
{
    while (atomic_flag_test_and_set_explicit(lock, memory_order_acquire)) {
    }
}

static void spin_unlock(atomic_flag *lock)
{
    atomic_flag_clear_explicit(lock, memory_order_release);
}

void lacis_ids_dense(lacis_ids *ids, lacis_run *run, int64_t base, int64_t count)
{
    memset(ids, 0, sizeof *ids);
    ids->run = run;
    ids->store = LACIS_IDS_DENSE;
    ids->base = base;
    ids->count = count;
}

lacis_status lacis_ids_direct(lacis_ids *ids, lacis_run *run, bool shared, int64_t cap)
{
    lacis_ids_dense(ids, run, 0, 0);
    ids->store = LACIS_IDS_DIRECT;
    ids->shared = shared;
    ids->cap = cap;
    atomic_flag_clear(&ids->growing);
    LACIS_TRY(lacis_buffer_reserve(run, (uint64_t)cap * sizeof(uint32_t), &ids->number_buffer));
    LACIS_TRY(lacis_buffer_reserve(run, ((uint64_t)cap / 64 + 1) * sizeof(uint64_t), &ids->seen_buffer));
    ids->number = lacis_buffer_data(ids->number_buffer);
    ids->seen = lacis_buffer_data(ids->seen_buffer);
    return LACIS_OK;
}

lacis_status lacis_ids_hashed(lacis_ids *ids, lacis_run *run, bool shared)
{
    lacis_ids_dense(ids, run, 0, 0);
    ids->store = LACIS_IDS_HASHED;
    ids->shared = shared;
    LACIS_TRY(lacis_run_alloc(run, sizeof(lacis_id_shard) * LACIS_SHARDS, &ids->shard));
    for (int i = 0; i < LACIS_SHARDS; i++) {
        lacis_id_shard *shard = &ids->shard[i];
        atomic_flag_clear(&shard->lock);
        shard->slot = NULL;
        shard->room = shard->used = 0;
    }
    return LACIS_OK;
}

static void drop_shards(lacis_ids *ids)
{
    if (ids->shard == NULL) return;
    for (int i = 0; i < LACIS_SHARDS; i++) {
        lacis_run_free(ids->run, ids->shard[i].slot);
    }
    lacis_run_free(ids->run, ids->shard);
    ids->shard = NULL;
}

static void drop_direct(lacis_ids *ids)
{
    lacis_buffer_release(ids->number_buffer);
    lacis_buffer_release(ids->seen_buffer);
    ids->number_buffer = ids->seen_buffer = NULL;
}

void lacis_ids_clear(lacis_ids *ids)
{
    drop_direct(ids);
    drop_shards(ids);
    lacis_buffer_release(ids->labels);
    ids->labels = NULL;
}

/* ------------------------------------------------------------------------------------------- direct */

/* Zeroes and charges storage for ids up to `id`, and some more. */
static lacis_status direct_grow(lacis_ids *ids, int64_t id)
{
    lacis_status status = LACIS_OK;
    spin_lock(&ids->growing);
    int64_t ready = ids->ready;
    if (id >= ready) {
        int64_t want = (id + id / 8 + GROW_IDS) / 64 * 64;
        if (want > ids->cap) want = ids->cap;
        uint64_t more = (uint64_t)(want - ready);
        status = lacis_buffer_charge(ids->number_buffer, more * sizeof(uint32_t));
        if (status == LACIS_OK) status = lacis_buffer_charge(ids->seen_buffer, more / 8 + sizeof(uint64_t));
        if (status == LACIS_OK) {
            memset(ids->number + ready, 0, more * sizeof(uint32_t));
            memset(ids->seen + ready / 64, 0, (uint64_t)(want / 64 + 1 - ready / 64) * sizeof(uint64_t));
            atomic_store_explicit(&ids->ready, want, memory_order_release);
        }
    }
    spin_unlock(&ids->growing);
    return status;
}

static bool direct_degrees(lacis_ids *ids, const int64_t *id, int n)
{
    uint32_t full = 0;
    if (ids->shared) {
        for (int i = 0; i < n; i++) {
            full |= __atomic_fetch_add(&ids->number[id[i]], 1, __ATOMIC_RELAXED) == UINT32_MAX;
        }
    } else {
        for (int i = 0; i < n; i++) {
            full |= ids->number[id[i]]++ == UINT32_MAX;
        }
    }
    return full == 0;
}

static void direct_see(lacis_ids *ids, const int64_t *id, int n)
{
    for (int i = 0; i < n; i++) {
        uint64_t *word = &ids->seen[id[i] >> 6], bit = (uint64_t)1 << (id[i] & 63);
        if (!ids->shared)
            *word |= bit;
        else if ((__atomic_load_n(word, __ATOMIC_RELAXED) & bit) == 0)
            __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    }
}

static lacis_status direct_count(lacis_ids *ids, const int64_t *id, int n, bool degree)
{
    uint64_t most = 0;
    for (int i = 0; i < n; i++) {
        most = (uint64_t)id[i] > most ? (uint64_t)id[i] : most; /* negative ids are the largest of all */
    }
    if (most >= (uint64_t)ids->cap) return LACIS_RANGE;
    if ((int64_t)most >= atomic_load_explicit(&ids->ready, memory_order_acquire))
        LACIS_TRY(direct_grow(ids, (int64_t)most));
    direct_see(ids, id, n);
    return !degree || direct_degrees(ids, id, n) ? LACIS_OK : LACIS_RANGE;
}

/* ------------------------------------------------------------------------------------------- hashed */

static uint64_t id_hash(int64_t id)
{
    uint64_t x = (uint64_t)id * UINT64_C(0x9e3779b97f4a7c15);
    x ^= x >> 32;
    return x * UINT64_C(0xd6e8feb86659fd93);
}

static lacis_id_shard *shard_of(const lacis_ids *ids, uint64_t hash)
{
    return &ids->shard[hash >> 57]; /* 7 bits: LACIS_SHARDS */
}

/* The slot that holds id, or the empty one where it belongs. */
static lacis_id_slot *shard_slot(const lacis_id_shard *shard, int64_t id, uint64_t hash)
{
    uint64_t mask = shard->room - 1, at = (hash >> 16) & mask;
    while (shard->slot[at].state != 0 && shard->slot[at].id != id) {
        at = (at + 1) & mask;
    }
    return &shard->slot[at];
}

/* Where the search for id begins. */
static const lacis_id_slot *first_slot(const lacis_ids *ids, int64_t id)
{
    uint64_t hash = id_hash(id);
    const lacis_id_shard *shard = shard_of(ids, hash);
    return &shard->slot[(hash >> 16) & (shard->room - 1)];
}

static lacis_status shard_grow(lacis_run *run, lacis_id_shard *shard)
{
    lacis_id_shard larger = {.room = shard->room == 0 ? SHARD_ROOM : 2 * shard->room};
    larger.slot = lacis_run_alloc_quiet(run, larger.room * sizeof *larger.slot);
    if (larger.slot == NULL) return LACIS_NOMEM;
    memset(larger.slot, 0, larger.room * sizeof *larger.slot);
    for (uint64_t i = 0; i < shard->room; i++) {
        lacis_id_slot *slot = &shard->slot[i];
        if (slot->state != 0) *shard_slot(&larger, slot->id, id_hash(slot->id)) = *slot;
    }
    lacis_run_free(run, shard->slot);
    shard->slot = larger.slot;
    shard->room = larger.room;
    return LACIS_OK;
}

static lacis_status shard_add(lacis_run *run, lacis_id_shard *shard, int64_t id, uint64_t hash, uint64_t times)
{
    if (shard->used * 4 >= shard->room * 3) LACIS_TRY(shard_grow(run, shard));
    lacis_id_slot *slot = shard_slot(shard, id, hash);
    if (slot->state == 0) {
        *slot = (lacis_id_slot){id, 1};
        shard->used++;
    }
    slot->state += times;
    return LACIS_OK;
}

/* Files mostly list a vertex's edges together: one lock for a stretch of equal ids. */
static lacis_status hashed_count(lacis_ids *ids, const int64_t *id, int n, bool degree)
{
    for (int i = 0, next; i < n; i = next) {
        for (next = i + 1; next < n && id[next] == id[i];) {
            next++;
        }
        uint64_t hash = id_hash(id[i]);
        lacis_id_shard *shard = shard_of(ids, hash);
        if (ids->shared) spin_lock(&shard->lock);
        lacis_status status = shard_add(ids->run, shard, id[i], hash, degree ? (uint64_t)(next - i) : 0);
        if (ids->shared) spin_unlock(&shard->lock);
        LACIS_TRY(status);
    }
    return LACIS_OK;
}

lacis_status lacis_ids_count(lacis_ids *ids, const int64_t *id, int n, bool degree)
{
    if (ids->store == LACIS_IDS_DIRECT) return direct_count(ids, id, n, degree);
    return hashed_count(ids, id, n, degree);
}

/* ---------------------------------------------------------------------------------------- numbering */

static int64_t direct_words(const lacis_ids *ids)
{
    return (ids->ready + 63) / 64;
}

static lacis_status labels_new(lacis_ids *ids, int64_t **out)
{
    LACIS_TRY(lacis_buffer_new(ids->run, (uint64_t)ids->count * sizeof(int64_t), &ids->labels));
    *out = lacis_buffer_data(ids->labels);
    return LACIS_OK;
}

static lacis_status direct_number(lacis_ids *ids, const int64_t *base)
{
    int64_t first = -1, last = -1, *label;
    for (int64_t w = 0; w < direct_words(ids); w++) {
        uint64_t bits = ids->seen[w];
        if (bits == 0) continue;
        if (first < 0) first = 64 * w + __builtin_ctzll(bits);
        last = 64 * w + 63 - __builtin_clzll(bits);
        ids->count += __builtin_popcountll(bits);
    }
    if (base != NULL) {
        ids->base = *base;
        ids->count = last < *base ? 0 : last - *base + 1;
        return LACIS_OK;
    }
    ids->base = first < 0 ? 0 : first;
    if (ids->count == last - first + 1 || ids->count == 0) return LACIS_OK;
    LACIS_TRY(labels_new(ids, &label));
    for (int64_t w = 0; w < direct_words(ids); w++) {
        for (uint64_t bits = ids->seen[w]; bits != 0; bits &= bits - 1) {
            *label++ = 64 * w + __builtin_ctzll(bits);
        }
    }
    return LACIS_OK;
}

static lacis_status hashed_number(lacis_ids *ids)
{
    int64_t *label;
    for (int i = 0; i < LACIS_SHARDS; i++) {
        ids->count += (int64_t)ids->shard[i].used;
    }
    LACIS_TRY(labels_new(ids, &label));
    int64_t n = 0;
    for (int i = 0; i < LACIS_SHARDS; i++) {
        const lacis_id_shard *shard = &ids->shard[i];
        for (uint64_t k = 0; k < shard->room; k++) {
            if (shard->slot[k].state != 0) label[n++] = shard->slot[k].id;
        }
    }
    lacis_sort_i64(label, n);
    return LACIS_OK;
}

static lacis_status hashed_base(lacis_ids *ids, const int64_t *base)
{
    const int64_t *label = lacis_buffer_data(ids->labels);
    int64_t last = ids->count > 0 ? label[ids->count - 1] : *base - 1;
    if ((uint64_t)last - (uint64_t)*base > UINT32_MAX - 1)
        return lacis_run_fail(ids->run, LACIS_RANGE,
                              "base = %lld makes every id up to %lld a vertex, more than 2^32 - 1; leave base out",
                              (long long)*base, (long long)last);
    return lacis_run_fail(
        ids->run, LACIS_RANGE,
        "ids up to %lld are too far apart for base = %lld, which makes each a vertex; leave base out",
        (long long)last, (long long)*base);
}

lacis_status lacis_ids_number(lacis_ids *ids, const int64_t *base)
{
    if (ids->store == LACIS_IDS_DENSE) return LACIS_OK;
    if (ids->store == LACIS_IDS_DIRECT) return direct_number(ids, base);
    LACIS_TRY(hashed_number(ids));
    return base != NULL ? hashed_base(ids, base) : LACIS_OK;
}

void lacis_ids_degrees(lacis_ids *ids, int64_t *degree)
{
    const int64_t *label = ids->labels != NULL ? lacis_buffer_data(ids->labels) : NULL;
    for (int64_t i = 0; i < ids->count; i++) {
        int64_t id = label != NULL ? label[i] : ids->base + i;
        if (ids->store == LACIS_IDS_DIRECT) {
            degree[i] = ids->number[id];
            continue;
        }
        uint64_t hash = id_hash(id);
        degree[i] = (int64_t)shard_slot(shard_of(ids, hash), id, hash)->state - 1;
    }
}

/* Labels without gaps need neither table nor labels. */
static bool without_gaps(lacis_ids *ids)
{
    if (ids->labels == NULL) return true;
    const int64_t *label = lacis_buffer_data(ids->labels);
    if (ids->count > 0 && (uint64_t)label[ids->count - 1] - (uint64_t)label[0] != (uint64_t)ids->count - 1)
        return false;
    ids->base = ids->count > 0 ? label[0] : 0;
    lacis_buffer_release(ids->labels);
    ids->labels = NULL;
    return true;
}

lacis_status lacis_ids_settle(lacis_ids *ids)
{
    if (ids->store == LACIS_IDS_DENSE) return LACIS_OK;
    if (without_gaps(ids)) {
        drop_direct(ids);
        drop_shards(ids);
        ids->store = LACIS_IDS_DENSE;
        return LACIS_OK;
    }
    const int64_t *label = lacis_buffer_data(ids->labels);
    for (int64_t i = 0; i < ids->count; i++) {
        if (ids->store == LACIS_IDS_DIRECT) {
            ids->number[label[i]] = (uint32_t)i;
            continue;
        }
        uint64_t hash = id_hash(label[i]);
        shard_slot(shard_of(ids, hash), label[i], hash)->state = (uint64_t)i + 1;
    }
    lacis_buffer_release(ids->seen_buffer);
    ids->seen_buffer = NULL;
    return LACIS_OK;
}

void lacis_ids_index(const lacis_ids *ids, int64_t *id, int n)
{
    if (ids->store == LACIS_IDS_DENSE) {
        for (int i = 0; i < n; i++) {
            id[i] -= ids->base;
        }
    } else if (ids->store == LACIS_IDS_DIRECT) {
        for (int i = 0; i < n; i++) {
            id[i] = ids->number[id[i]];
        }
    } else {
        for (int i = 0; i < n; i++) { /* the slots are spread over all of memory: ask for them ahead of time */
            if (i + AHEAD < n) __builtin_prefetch(first_slot(ids, id[i + AHEAD]));
            uint64_t hash = id_hash(id[i]);
            id[i] = (int64_t)shard_slot(shard_of(ids, hash), id[i], hash)->state - 1;
        }
    }
}
