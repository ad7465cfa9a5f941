/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of one part among others. As many steps as the halo is deep follow on one exchange:
 *
 *     pack, messages begin | centre of the first step | messages have ended, unpack | rim of the first step, the
 * others
 *
 * or, where nothing is to overlap, all steps behind the exchange, blocked in time as the kernels see fit. The centre
 * is computed in slabs, between which MPI is asked to move messages on.
 */
#include "sweep/parts.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLABS = 16 };
static const int64_t SLAB_CELLS = 1 << 18; /* at least: starting threads must not count */

struct lacis_sweep_part {
    lacis_sweep_start start;
    lacis_sweep_cut cut;
    lacis_sweep_mail mail;
    lacis_sweep_part_how how;
    lacis_sweep *system;
    int part, messages, all; /* messages of a step; with diagonal ones */
    lacis_sweep_message message[LACIS_SWEEP_MESSAGES];
    char *out[LACIS_SWEEP_MESSAGES], *in[LACIS_SWEEP_MESSAGES], *block;
    lacis_sweep_box centre;
    bool has_centre;
    lacis_sweep_times spent;
    int64_t lines;
};

static double seconds(void)
{
    const double nano = 1e-9;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + nano * (double)now.tv_nsec;
}

/* The time since *from, which moves on. */
static double lap(double *from)
{
    const double now = seconds(), passed = now - *from;
    *from = now;
    return passed;
}

/* --------------------------------------------------------------------------------- made and freed */

uint64_t lacis_sweep_part_bytes(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part)
{
    return lacis_sweep_messages_bytes(start, cut, part);
}

static bool make_room(lacis_sweep_part *p)
{
    const lacis_sweep_host *host = &p->start.host;
    uint64_t at = 0;
    p->block = host->alloc(host->context, lacis_sweep_part_bytes(&p->start, &p->cut, p->part) + 1);
    if (p->block == NULL) return false;
    for (int i = 0; i < p->all; i++) {
        p->out[i] = p->block + at;
        at += lacis_sweep_message_bytes(&p->start, &p->message[i]);
        p->in[i] = p->block + at;
        at += lacis_sweep_message_bytes(&p->start, &p->message[i]);
    }
    return true;
}

void lacis_sweep_part_free(lacis_sweep_part *part)
{
    if (part == NULL) return;
    const lacis_sweep_host host = part->start.host;
    lacis_sweep_free(part->system);
    if (part->block != NULL) host.free(host.context, part->block);
    free(part);
}

lacis_sweep *lacis_sweep_part_system(lacis_sweep_part *part)
{
    return part->system;
}

void lacis_sweep_part_spent(const lacis_sweep_part *part, lacis_sweep_times *out, int64_t *lines)
{
    *out = part->spent;
    *lines = part->lines;
}

/* ---------------------------------------------------------------------------------------- exchanges */

/* array: 0 all moving fields, else a coefficient. */
static lacis_sweep_status begin_messages(lacis_sweep_part *p, int array, int messages, lacis_sweep_times *times)
{
    const uint64_t arrays = array == 0 ? (uint64_t)p->start.fields : 1, size = lacis_sweep_size(p->start.type);
    const lacis_sweep_mail *mail = &p->mail;
    for (int i = 0; i < messages; i++) { /* receives first: what comes has its place then */
        const lacis_sweep_message *m = &p->message[i];
        if (mail->receive(mail->context, m->part, m->tag_in, p->in[i], arrays * (uint64_t)m->cells * size) != 0)
            return LACIS_SWEEP_CANCELLED;
    }
    for (int i = 0; i < messages; i++) {
        const lacis_sweep_message *m = &p->message[i];
        const uint64_t bytes = arrays * (uint64_t)m->cells * size;
        lacis_sweep_pack(p->system, array, &m->out, p->out[i]);
        if (mail->send(mail->context, m->part, m->tag_out, p->out[i], bytes) != 0) return LACIS_SWEEP_CANCELLED;
        times->bytes += (double)bytes;
    }
    times->messages += messages;
    times->exchanges++;
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status end_messages(lacis_sweep_part *p, int array, int messages, lacis_sweep_times *times,
                                       double *clock)
{
    if (p->mail.wait(p->mail.context) != 0) return LACIS_SWEEP_CANCELLED;
    times->wait += lap(clock);
    for (int i = 0; i < messages; i++)
        lacis_sweep_unpack(p->system, array, &p->message[i].in, p->in[i]);
    lacis_sweep_refresh(p->system);
    times->unpack += lap(clock);
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status exchange_coefficients(lacis_sweep_part *p)
{
    lacis_sweep_status status = LACIS_SWEEP_OK;
    for (int i = 0; i < p->start.coefficients && status == LACIS_SWEEP_OK; i++) {
        lacis_sweep_times times = {0};
        double clock = seconds();
        const int array = p->start.fields + i;
        status = begin_messages(p, array, p->all, &times);
        if (status == LACIS_SWEEP_OK) status = end_messages(p, array, p->all, &times, &clock);
    }
    return status;
}

lacis_sweep_status lacis_sweep_part_new(const lacis_sweep_start *start, const lacis_sweep_cut *cut, int part,
                                        const lacis_sweep_mail *mail, const lacis_sweep_part_how *how,
                                        lacis_sweep_part **out)
{
    lacis_sweep_part *p = calloc(1, sizeof *p);
    *out = p;
    if (p == NULL) return LACIS_SWEEP_NO_MEMORY;
    p->start = *start;
    p->cut = *cut;
    p->part = part;
    p->mail = *mail;
    p->how = *how;
    p->messages = lacis_sweep_cut_list(cut, part, p->message, &p->all);
    p->has_centre = lacis_sweep_cut_centre(cut, part, &p->centre);
    if (!make_room(p)) return LACIS_SWEEP_NO_MEMORY;
    lacis_sweep_status status = lacis_sweep_new(start, &p->system);
    return status == LACIS_SWEEP_OK ? exchange_coefficients(p) : status;
}

/* -------------------------------------------------------------------------------------------- steps */

/* Slabs of the centre along its last axis, cut at tiles' borders. */
static lacis_sweep_status update_centre(lacis_sweep_part *p, lacis_sweep_change *change)
{
    const int axis = p->cut.dims - 1;
    const int64_t tile[3] = {LACIS_SWEEP_TILE_X, LACIS_SWEEP_TILE_Y, 1}, size = tile[axis];
    const int64_t cells = lacis_sweep_box_cells(&p->centre), thick = p->centre.end[axis] - p->centre.begin[axis];
    int64_t slabs = cells / SLAB_CELLS < SLABS ? cells / SLAB_CELLS + 1 : SLABS;
    const int64_t step =
        (thick / slabs + size - 1) / size * size > 0 ? (thick / slabs + size - 1) / size * size : size;
    for (int64_t at = p->centre.begin[axis]; at < p->centre.end[axis]; at += step) {
        lacis_sweep_box slab = p->centre;
        slab.begin[axis] = at;
        if (at + step < slab.end[axis]) slab.end[axis] = at + step;
        lacis_sweep_status status = lacis_sweep_update(p->system, &slab, change);
        if (status != LACIS_SWEEP_OK) return status;
        if (p->mail.test(p->mail.context) != 0) return LACIS_SWEEP_CANCELLED;
    }
    return LACIS_SWEEP_OK;
}

/* The first of `steps` steps but for the centre, which has been computed. */
static lacis_sweep_status update_rim(lacis_sweep_part *p, int more, lacis_sweep_change *change)
{
    lacis_sweep_box rim[LACIS_SWEEP_RIM];
    const int boxes = lacis_sweep_cut_rim(&p->cut, p->part, &p->centre, more, rim);
    for (int i = 0; i < boxes; i++) {
        lacis_sweep_status status = lacis_sweep_update(p->system, &rim[i], change);
        if (status != LACIS_SWEEP_OK) return status;
    }
    lacis_sweep_turn(p->system);
    return LACIS_SWEEP_OK;
}

static lacis_sweep_status after_exchange(lacis_sweep_part *p, int steps, lacis_sweep_change *change)
{
    if (!p->how.overlap) return lacis_sweep_steps(p->system, steps, change);
    lacis_sweep_status status = update_rim(p, steps - 1, steps == 1 ? change : NULL);
    if (status != LACIS_SWEEP_OK || steps == 1) return status;
    return lacis_sweep_steps(p->system, steps - 1, change);
}

/* An exchange and the steps on it, at most as many as the halo is deep. */
static lacis_sweep_status some_steps(lacis_sweep_part *p, int steps, lacis_sweep_change *change)
{
    lacis_sweep_times times = {0};
    double clock = seconds();
    if (change != NULL) memset(change, 0, sizeof *change);
    lacis_sweep_status status = begin_messages(p, 0, p->messages, &times);
    times.pack = lap(&clock);
    if (status == LACIS_SWEEP_OK && p->how.overlap && p->has_centre)
        status = update_centre(p, steps == 1 ? change : NULL);
    times.centre = lap(&clock);
    if (status == LACIS_SWEEP_OK) status = end_messages(p, 0, p->messages, &times, &clock);
    if (status == LACIS_SWEEP_OK) status = after_exchange(p, steps, change);
    times.rest = lap(&clock);
    lacis_sweep_times_add(&p->spent, &times);
    if (p->how.line != NULL && p->lines < p->how.lines) p->how.line[p->lines++] = times;
    return status;
}

lacis_sweep_status lacis_sweep_part_steps(lacis_sweep_part *part, int64_t steps, lacis_sweep_change *change)
{
    lacis_sweep_status status = LACIS_SWEEP_OK;
    while (steps > 0 && status == LACIS_SWEEP_OK) {
        const int now = steps < part->cut.deep ? (int)steps : part->cut.deep;
        steps -= now;
        status = some_steps(part, now, steps == 0 ? change : NULL);
    }
    return status;
}
