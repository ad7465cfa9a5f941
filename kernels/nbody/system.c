/* SPDX-License-Identifier: Apache-2.0
 *
 * A system of bodies: its columns from the caller's and back, its memory. operators/nbody calls what nbody.h names.
 */
#include "nbody/inside.h"

#include "common/parallel.h"

#include <math.h>
#include <string.h>
#include <time.h>

double lacis_nbody_seconds(void)
{
    struct timespec now;
    return clock_gettime(CLOCK_MONOTONIC, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0;
}

/* --- loops over all bodies -------------------------------------------------------------------------- */

struct over {
    lacis_nbody *system;
    nbody_piece fn;
    void *context;
    int64_t n, piece;
};

static int over_task(void *context, int64_t task, int worker)
{
    const struct over *over = context;
    const int64_t begin = task * over->piece, end = begin + over->piece;
    (void)worker;
    if (nbody_stopped(over->system)) return LACIS_NBODY_CANCELLED;
    over->fn(over->system, over->context, begin, end < over->n ? end : over->n);
    return LACIS_NBODY_OK;
}

lacis_nbody_status lacis_nbody_over(lacis_nbody *system, int64_t n, int64_t piece, nbody_piece fn, void *context)
{
    struct over over = {system, fn, context, n, piece};
    return (lacis_nbody_status)lacis_parallel(n < NBODY_ALONE ? 1 : system->threads, (n + piece - 1) / piece,
                                              over_task, &over);
}

/* --- the rule ---------------------------------------------------------------------------------------- */

/* Leaves and groups: the fastest of those measured for Plummer spheres of 50,000 to 500,000 bodies, within a few per
 * cent. Expansions: what adds little to the error that the opening allows: it goes with theta, or the
 * third root of alpha. */
void lacis_nbody_settle(const lacis_nbody_start *start, lacis_nbody_rule *rule)
{
    (void)start;
    if (rule->leaf <= 0) rule->leaf = 32;
    if (rule->group <= 0) rule->group = 32;
    if (rule->group > NBODY_GROUP_MOST) rule->group = NBODY_GROUP_MOST;
    if (rule->expand >= 0) return;
    const double share = rule->order == LACIS_NBODY_QUADRUPOLE ? 0.3 : 0.4;
    rule->expand = fmin(0.25, rule->opening == LACIS_NBODY_RELATIVE ? cbrt(rule->alpha) : share * rule->theta);
}

static void settle(lacis_nbody *system, const lacis_nbody_rule *rule)
{
    const lacis_nbody_start start = {.type = system->type, .n = system->n, .soften = system->soften};
    system->rule = *rule;
    lacis_nbody_settle(&start, &system->rule);
    if (system->g == 0 && system->rule.opening == LACIS_NBODY_RELATIVE) system->rule.opening = LACIS_NBODY_GEOMETRIC;
}

void lacis_nbody_set_rule(lacis_nbody *system, const lacis_nbody_rule *rule)
{
    settle(system, rule);
    system->known = system->potentials = system->placed = false;
}

/* --- a new system ------------------------------------------------------------------------------------ */

static int columns_of(const lacis_nbody_start *start)
{
    return NBODY_COLUMNS - (start->eps == NULL ? 1 : 0);
}

static uint64_t element(const lacis_nbody_start *start)
{
    return (uint64_t)lacis_nbody_size(start->type);
}

static uint64_t column_bytes(const lacis_nbody_start *start)
{
    return nbody_lines(element(start) * (uint64_t)start->n);
}

static uint64_t body_bytes(const lacis_nbody_start *start)
{
    return nbody_lines(4 * element(start) * (uint64_t)start->n);
}

static bool take_columns(lacis_nbody *system, const lacis_nbody_start *start)
{
    for (int c = 0; c < columns_of(start); c++)
        if ((system->column[c] = nbody_take(&system->host, column_bytes(start))) == NULL) return false;
    const uint64_t pairs = sizeof(nbody_pair) * (uint64_t)start->n;
    system->number = nbody_take(&system->host, sizeof(int64_t) * (uint64_t)start->n);
    system->number_spare = nbody_take(&system->host, sizeof(int64_t) * (uint64_t)start->n);
    system->spare = nbody_take(&system->host, column_bytes(start));
    system->tree.histogram = nbody_take(&system->host, sizeof(int64_t) * NBODY_BINS * (uint64_t)system->threads);
    system->body = nbody_take(&system->host, body_bytes(start));
    system->tree.pair = nbody_take(&system->host, pairs);
    system->tree.spare = nbody_take(&system->host, pairs);
    system->worker = nbody_take(&system->host, sizeof(nbody_worker) * (uint64_t)system->threads);
    if (system->worker != NULL) memset(system->worker, 0, sizeof(nbody_worker) * (size_t)system->threads);
    if (start->eps != NULL) system->soft = nbody_take(&system->host, column_bytes(start));
    return system->number != NULL && system->number_spare != NULL && system->spare != NULL &&
           system->tree.histogram != NULL && system->body != NULL && system->tree.pair != NULL &&
           system->tree.spare != NULL && system->worker != NULL && (start->eps == NULL || system->soft != NULL);
}

struct bring {
    const void *from[NBODY_COLUMNS];
    uint64_t size;
};

static void bring_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    const struct bring *bring = context;
    const uint64_t at = bring->size * (uint64_t)begin, bytes = bring->size * (uint64_t)(end - begin);
    for (int c = 0; c < NBODY_COLUMNS; c++) {
        char *to = system->column[c];
        if (to == NULL) continue;
        if (bring->from[c] != NULL) {
            memcpy(to + at, (const char *)bring->from[c] + at, bytes);
        } else {
            memset(to + at, 0, bytes);
        }
    }
    for (int64_t i = begin; i < end; i++)
        system->number[i] = i;
}

static lacis_nbody_status begin(lacis_nbody *system, const lacis_nbody_start *start)
{
    if (!take_columns(system, start)) return LACIS_NBODY_NO_MEMORY;
    struct bring bring = {.from = {start->x, start->y, start->z, start->m, start->vx, start->vy, start->vz, start->ax,
                                   start->ay, start->az, NULL, NULL, start->eps},
                          .size = element(start)};
    lacis_nbody_status status = lacis_nbody_over(system, system->n, NBODY_PIECE, bring_piece, &bring);
    if (status != LACIS_NBODY_OK) return status;
    system->known = system->felt = start->ax != NULL;
    return lacis_nbody_prepare(system);
}

lacis_nbody_status lacis_nbody_new(const lacis_nbody_start *start, lacis_nbody **out)
{
    *out = NULL;
    const nbody_loops *loops = lacis_nbody_kernels()->loops[start->type];
    lacis_nbody *system = nbody_take(&start->host, sizeof *system);
    if (system == NULL) return LACIS_NBODY_NO_MEMORY;
    *system = (lacis_nbody){.type = start->type,
                            .n = start->n,
                            .threads = start->threads < 1 ? 1 : start->threads,
                            .host = start->host,
                            .soften = start->soften,
                            .g = start->g,
                            .wanted = start->wanted > 0 ? start->wanted : start->n,
                            .loops = loops};
    settle(system, &start->rule);
    lacis_nbody_status status = begin(system, start);
    if (status != LACIS_NBODY_OK) {
        lacis_nbody_free(system);
        return status;
    }
    *out = system;
    return LACIS_NBODY_OK;
}

void lacis_nbody_free(lacis_nbody *system)
{
    if (system == NULL) return;
    const lacis_nbody_host host = system->host;
    for (int c = 0; c < NBODY_COLUMNS; c++)
        nbody_give(&host, system->column[c]);
    for (int w = 0; system->worker != NULL && w < system->threads; w++)
        nbody_give(&host, system->worker[w].room);
    void *const block[] = {system->number,      system->number_spare, system->tree.histogram, system->spare,
                           system->body,        system->soft,         system->worker,         system->tree.pair,
                           system->tree.spare,  system->tree.cell,    system->tree.level,     system->tree.fields,
                           system->tree.moments};
    for (size_t b = 0; b < sizeof block / sizeof block[0]; b++)
        nbody_give(&host, block[b]);
    nbody_give(&host, system);
}

/* --- out of it ---------------------------------------------------------------------------------------- */

struct read {
    void *to[NBODY_COLUMNS];
    uint64_t size;
};

static void scatter(const void *from, void *to, const int64_t *number, int64_t begin, int64_t end, uint64_t size)
{
    if (size == 4) {
        for (int64_t i = begin; i < end; i++)
            ((uint32_t *)to)[number[i]] = ((const uint32_t *)from)[i];
    } else {
        for (int64_t i = begin; i < end; i++)
            ((uint64_t *)to)[number[i]] = ((const uint64_t *)from)[i];
    }
}

static void read_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    const struct read *read = context;
    for (int c = 0; c < NBODY_COLUMNS; c++)
        if (read->to[c] != NULL) scatter(system->column[c], read->to[c], system->number, begin, end, read->size);
}

lacis_nbody_status lacis_nbody_read(lacis_nbody *system, const lacis_nbody_columns *into)
{
    struct read read = {.to = {into->x, into->y, into->z, NULL, into->vx, into->vy, into->vz, into->ax, into->ay,
                               into->az, into->phi, NULL, NULL},
                        .size = (uint64_t)lacis_nbody_size(system->type)};
    return lacis_nbody_over(system, system->n, NBODY_PIECE, read_piece, &read);
}

void lacis_nbody_counted(lacis_nbody *system, lacis_nbody_counts *out, bool reset)
{
    nbody_tally sum = {0};
    for (int w = 0; w < system->threads; w++) {
        const nbody_tally *own = &system->worker[w].tally;
        sum.p2p += own->p2p;
        sum.m2p += own->m2p;
        sum.expanded += own->expanded;
        sum.visits += own->visits;
        if (reset) system->worker[w].tally = (nbody_tally){0};
    }
    *out = system->counts;
    out->p2p = (double)sum.p2p;
    out->m2p = (double)sum.m2p;
    out->expanded = (double)sum.expanded;
    out->visits = (double)sum.visits;
    if (!reset) return;
    system->counts.evaluations = 0;
    system->counts.build_seconds = system->counts.force_seconds = system->counts.move_seconds = 0;
}
