/* SPDX-License-Identifier: Apache-2.0
 *
 * A stable radix sort of 64-bit keys with a payload, byte by byte from the lowest; bytes in which all keys agree cost
 * nothing. For arrays made of rows in any order.
 */
#include "core/radix.h"

#include <string.h>

enum { BYTES = 8, BINS = 256 };

typedef struct sorter {
    uint64_t *key, *other_key;
    int64_t *payload, *other_payload;
    int64_t count;
    int64_t bins[BYTES][BINS];
} sorter;

static bool sorted(const uint64_t *key, int64_t count)
{
    for (int64_t i = 1; i < count; i++)
        if (key[i] < key[i - 1]) return false;
    return true;
}

static void count_bytes(sorter *self)
{
    memset(self->bins, 0, sizeof self->bins);
    for (int64_t i = 0; i < self->count; i++)
        for (int byte = 0; byte < BYTES; byte++)
            self->bins[byte][(self->key[i] >> (8 * byte)) & 0xff]++;
}

/* One pass; the sorted lists are then the ones called key and payload. */
static void deal(sorter *self, int byte)
{
    int64_t *place = self->bins[byte], at = 0;
    for (int bin = 0; bin < BINS; bin++) {
        int64_t here = place[bin];
        place[bin] = at;
        at += here;
    }
    for (int64_t i = 0; i < self->count; i++) {
        int64_t to = place[(self->key[i] >> (8 * byte)) & 0xff]++;
        self->other_key[to] = self->key[i];
        if (self->payload != NULL) self->other_payload[to] = self->payload[i];
    }
    uint64_t *key = self->key;
    int64_t *payload = self->payload;
    self->key = self->other_key;
    self->payload = self->other_payload;
    self->other_key = key;
    self->other_payload = payload;
}

static bool all_alike(const sorter *self, int byte)
{
    return self->bins[byte][(self->key[0] >> (8 * byte)) & 0xff] == self->count;
}

lacis_status lacis_radix_sort(lacis_run *run, uint64_t *key, int64_t *payload, int64_t count)
{
    if (sorted(key, count)) return LACIS_OK;
    sorter *self;
    LACIS_TRY(lacis_run_alloc(run, sizeof *self, &self));
    *self = (sorter){.key = key, .payload = payload, .count = count};
    void *spare = NULL;
    uint64_t bytes = (uint64_t)count * 8;
    lacis_status status = lacis_run_alloc(run, payload == NULL ? bytes : 2 * bytes, &spare);
    if (status == LACIS_OK) {
        self->other_key = spare;
        if (payload != NULL) self->other_payload = (int64_t *)spare + count;
        count_bytes(self);
        for (int byte = 0; byte < BYTES; byte++)
            if (!all_alike(self, byte)) deal(self, byte);
        if (self->key != key) {
            memcpy(key, self->key, bytes);
            if (payload != NULL) memcpy(payload, self->payload, bytes);
        }
    }
    lacis_run_free(run, spare);
    lacis_run_free(run, self);
    return status;
}
