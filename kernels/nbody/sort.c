/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorts pairs of key and index: by radix on all threads (order.c's keys, 11 bits a pass; bits that all keys share are
 * skipped), by radix or insertion on one, and by everything that bodies have where keys do not tell them apart.
 */
#include "nbody/inside.h"

#include "common/parallel.h"

#include <string.h>

enum { DIGIT = 11, FEW = 32, SERIAL = 2 * NBODY_ALONE, BYTE_DIGITS = 8, BYTE_BINS = 256, ASK = 1 << 15 };

static void insertion(nbody_pair *pair, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const nbody_pair own = pair[i];
        int64_t at = i;
        for (; at > 0 && pair[at - 1].key > own.key; at--)
            pair[at] = pair[at - 1];
        pair[at] = own;
    }
}

/* --- on one thread ------------------------------------------------------------------------------------ */

static void scatter_bytes(const nbody_pair *from, nbody_pair *to, int64_t n, int shift, int64_t *bin)
{
    int64_t sum = 0;
    for (int b = 0; b < BYTE_BINS; b++) {
        const int64_t many = bin[b];
        bin[b] = sum;
        sum += many;
    }
    for (int64_t i = 0; i < n; i++)
        to[bin[from[i].key >> shift & (BYTE_BINS - 1)]++] = from[i];
}

void lacis_nbody_sort_few(nbody_pair *pair, nbody_pair *spare, int64_t n)
{
    if (n <= FEW) {
        insertion(pair, n);
        return;
    }
    int64_t bin[BYTE_DIGITS][BYTE_BINS];
    memset(bin, 0, sizeof bin);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < BYTE_DIGITS; d++)
            bin[d][pair[i].key >> (8 * d) & (BYTE_BINS - 1)]++;
    nbody_pair *from = pair, *to = spare;
    for (int d = 0; d < BYTE_DIGITS; d++) {
        if (bin[d][pair[0].key >> (8 * d) & (BYTE_BINS - 1)] == n) continue;
        scatter_bytes(from, to, n, 8 * d, bin[d]);
        nbody_pair *const swap = from;
        from = to;
        to = swap;
    }
    if (from != pair) memcpy(pair, from, sizeof *pair * (size_t)n);
}

/* --- on all ------------------------------------------------------------------------------------------- */

struct pass {
    lacis_nbody *system;
    const nbody_pair *from;
    nbody_pair *to;
    int64_t n, chunk;
    int shift;
    uint64_t differs[64]; /* of chunks: bits that are not the first key's */
};

static int64_t chunk_end(const struct pass *pass, int64_t chunk)
{
    const int64_t end = (chunk + 1) * pass->chunk;
    return end < pass->n ? end : pass->n;
}

/* Whether to stop, asked before every so many pairs. */
static bool stop_at(const struct pass *pass, int64_t i, int64_t begin)
{
    return (i - begin) % ASK == 0 && nbody_stopped(pass->system);
}

static int differs_task(void *context, int64_t chunk, int worker)
{
    struct pass *pass = context;
    uint64_t differs = 0;
    (void)worker;
    const int64_t begin = chunk * pass->chunk, end = chunk_end(pass, chunk);
    for (int64_t i = begin; i < end; i++) {
        if (stop_at(pass, i, begin)) return LACIS_NBODY_CANCELLED;
        differs |= pass->from[i].key ^ pass->from[0].key;
    }
    pass->differs[chunk] = differs;
    return LACIS_NBODY_OK;
}

static int count_task(void *context, int64_t chunk, int worker)
{
    const struct pass *pass = context;
    int64_t *bin = pass->system->tree.histogram + chunk * NBODY_BINS;
    (void)worker;
    memset(bin, 0, sizeof *bin * NBODY_BINS);
    const int64_t begin = chunk * pass->chunk, end = chunk_end(pass, chunk);
    for (int64_t i = begin; i < end; i++) {
        if (stop_at(pass, i, begin)) return LACIS_NBODY_CANCELLED;
        bin[pass->from[i].key >> pass->shift & (NBODY_BINS - 1)]++;
    }
    return LACIS_NBODY_OK;
}

static int scatter_task(void *context, int64_t chunk, int worker)
{
    const struct pass *pass = context;
    int64_t *bin = pass->system->tree.histogram + chunk * NBODY_BINS;
    (void)worker;
    const int64_t begin = chunk * pass->chunk, end = chunk_end(pass, chunk);
    for (int64_t i = begin; i < end; i++) {
        if (stop_at(pass, i, begin)) return LACIS_NBODY_CANCELLED;
        pass->to[bin[pass->from[i].key >> pass->shift & (NBODY_BINS - 1)]++] = pass->from[i];
    }
    return LACIS_NBODY_OK;
}

static void sum_bins(const struct pass *pass, int64_t chunks)
{
    int64_t sum = 0;
    for (int64_t b = 0; b < NBODY_BINS; b++)
        for (int64_t c = 0; c < chunks; c++) {
            int64_t *bin = &pass->system->tree.histogram[c * NBODY_BINS + b];
            const int64_t many = *bin;
            *bin = sum;
            sum += many;
        }
}

static int one_pass(struct pass *pass, int64_t chunks)
{
    const int threads = pass->system->threads;
    int answer = lacis_parallel(threads, chunks, count_task, pass);
    if (answer != 0) return answer;
    sum_bins(pass, chunks);
    answer = lacis_parallel(threads, chunks, scatter_task, pass);
    nbody_pair *const sorted = pass->to;
    pass->to = (nbody_pair *)(uintptr_t)pass->from;
    pass->from = sorted;
    return answer;
}

lacis_nbody_status lacis_nbody_sort(lacis_nbody *system, nbody_pair *pair, nbody_pair *spare, int64_t n)
{
    if (n <= FEW) {
        insertion(pair, n);
        return LACIS_NBODY_OK;
    }
    int64_t chunks = n <= SERIAL ? 1 : system->threads;
    if (chunks > 64) chunks = 64;
    struct pass pass = {.system = system, .from = pair, .to = spare, .n = n, .chunk = (n + chunks - 1) / chunks};
    int answer = lacis_parallel(system->threads, chunks, differs_task, &pass);
    uint64_t differs = 0;
    for (int64_t c = 0; c < chunks; c++)
        differs |= pass.differs[c];
    for (; answer == 0 && pass.shift < 63; pass.shift += DIGIT)
        if ((differs >> pass.shift & (NBODY_BINS - 1)) != 0) answer = one_pass(&pass, chunks);
    if (answer == 0 && pass.from != pair) memcpy(pair, pass.from, sizeof *pair * (size_t)n);
    return (lacis_nbody_status)answer;
}

/* --- bodies of one key -------------------------------------------------------------------------------- */

/* By value, then by bits (zeros of either sign). */
static int compare_column(const void *column, int size, int64_t a, int64_t b)
{
    double x, y;
    if (size == 4) {
        x = (double)((const float *)column)[a];
        y = (double)((const float *)column)[b];
    } else {
        x = ((const double *)column)[a];
        y = ((const double *)column)[b];
    }
    if (x != y) return x < y ? -1 : 1;
    const char *bytes = column;
    return memcmp(bytes + a * size, bytes + b * size, (size_t)size);
}

static bool before(const lacis_nbody *system, const nbody_pair *a, const nbody_pair *b)
{
    static const nbody_column order[] = {NBODY_X, NBODY_Y, NBODY_Z, NBODY_M, NBODY_EPS, NBODY_VX, NBODY_VY, NBODY_VZ};
    if (a->key != b->key) return a->key < b->key;
    const int size = lacis_nbody_size(system->type);
    for (size_t c = 0; c < sizeof order / sizeof order[0]; c++) {
        const void *column = system->column[order[c]];
        const int answer = column == NULL ? 0 : compare_column(column, size, a->index, b->index);
        if (answer != 0) return answer < 0;
    }
    return false;
}

static void merge(const lacis_nbody *system, const nbody_pair *from, nbody_pair *to, int64_t n, int64_t middle)
{
    int64_t i = 0, j = middle;
    for (int64_t at = 0; at < n; at++) {
        const bool second = i == middle || (j < n && before(system, &from[j], &from[i]));
        to[at] = second ? from[j++] : from[i++];
    }
}

static bool is_canonical(const lacis_nbody *system, const nbody_pair *pair, int64_t n)
{
    for (int64_t i = 1; i < n; i++)
        if ((pair[i - 1].key == pair[i].key || pair[i - 1].key > pair[i].key) &&
            before(system, &pair[i], &pair[i - 1]))
            return false;
    return true;
}

bool lacis_nbody_canonical(const lacis_nbody *system, nbody_pair *pair, nbody_pair *spare, int64_t n)
{
    if (is_canonical(system, pair, n)) return true;
    nbody_pair *from = pair, *to = spare;
    int64_t since = 0;
    for (int64_t run = 1; run < n; run *= 2) {
        for (int64_t begin = 0; begin < n; begin += 2 * run) {
            const int64_t most = n - begin < 2 * run ? n - begin : 2 * run;
            merge(system, from + begin, to + begin, most, most < run ? most : run);
            if ((since += most) < ASK) continue;
            since = 0;
            if (nbody_stopped(system)) return false;
        }
        nbody_pair *const swap = from;
        from = to;
        to = swap;
    }
    if (from != pair) memcpy(pair, from, sizeof *pair * (size_t)n);
    return true;
}
