/* SPDX-License-Identifier: Apache-2.0
 *
 * Records of Gadget-2's snapshots; see common_gadget.h.
 */
#include "common_gadget.h"

#include <math.h>
#include <string.h>

enum { MARK = 4, LABEL = 8 };

/* The order of blocks in format 1, where they have no names. */
static const char *const in_order[] = {"POS ", "VEL ", "ID  ", "MASS"};

bool lacis_gadget_is(const lacis_source *source, int *format, bool *swap)
{
    for (int other = 0; other < 2; other++) {
        *swap = other != 0;
        const char *d = source->data;
        if (source->size < MARK + LABEL) return false;
        *format = lacis_get_u32(d, *swap) == LABEL && memcmp(d + MARK, "HEAD", 4) == 0 ? 2 : 1;
        size_t at = *format == 2 ? 2 * MARK + LABEL : 0;
        if (source->size < at + 2 * MARK + LACIS_GADGET_HEAD) continue;
        if (lacis_get_u32(d + at, *swap) == LACIS_GADGET_HEAD &&
            lacis_get_u32(d + at + MARK + LACIS_GADGET_HEAD, *swap) == LACIS_GADGET_HEAD)
            return true;
    }
    return false;
}

/* ----------------------------------------------------------------------------------------- records */

static lacis_status refuse(const lacis_gadget *g, uint64_t at, const char *cause)
{
    return lacis_run_fail(g->run, LACIS_FORMAT, "%s: at byte %llu: %s", g->source->path, (unsigned long long)at,
                          cause);
}

/* The record at *at, which moves behind it. */
static lacis_status next_record(const lacis_gadget *g, uint64_t *at, lacis_gadget_block *out)
{
    uint64_t size = g->source->size, left = size - *at;
    if (left < MARK) return refuse(g, *at, "the file ends inside a record's length; fetch it again");
    uint64_t bytes = lacis_get_u32(g->source->data + *at, g->swap);
    if (left < bytes + 2 * MARK)
        return lacis_run_fail(g->run, LACIS_FORMAT,
                              "%s: at byte %llu: a record of %llu bytes begins, and only %llu follow; fetch the file "
                              "again",
                              g->source->path, (unsigned long long)*at, (unsigned long long)bytes,
                              (unsigned long long)(left - MARK));
    uint64_t end = *at + MARK + bytes, closing = lacis_get_u32(g->source->data + end, g->swap);
    if (closing != bytes)
        return lacis_run_fail(g->run, LACIS_FORMAT,
                              "%s: at byte %llu: a record of %llu bytes closes with length %llu; the file is damaged",
                              g->source->path, (unsigned long long)*at, (unsigned long long)bytes,
                              (unsigned long long)closing);
    *out = (lacis_gadget_block){.data = g->source->data + *at + MARK, .at = *at + MARK, .bytes = bytes};
    *at = end + MARK;
    return LACIS_OK;
}

/* The next block with its name, which format 2 has in a record before it; name[0] == '\0' in format 1. */
static lacis_status next_block(const lacis_gadget *g, uint64_t *at, char *name, lacis_gadget_block *out)
{
    name[0] = name[4] = '\0';
    if (g->format == 2) {
        uint64_t start = *at;
        LACIS_TRY(next_record(g, at, out));
        if (out->bytes != LABEL)
            return refuse(g, start, "a block's name is no record of 8 bytes; the file is damaged");
        memcpy(name, out->data, 4);
    }
    return next_record(g, at, out);
}

/* ---------------------------------------------------------------------------------------- the head */

static lacis_status read_head(lacis_gadget *g, const lacis_gadget_block *head)
{
    enum { MASS = 24, TIME = 72, REDSHIFT = 80, FILES = 124 };
    if (head->bytes != LACIS_GADGET_HEAD) return refuse(g, head->at, "the head is no record of 256 bytes");
    for (int k = 0; k < LACIS_GADGET_KINDS; k++) {
        g->count[k] = lacis_get_u32(head->data + 4 * k, g->swap);
        g->mass[k] = lacis_get_f64(head->data + MASS + 8 * k, g->swap);
        g->bodies += g->count[k];
        if (!(g->mass[k] >= 0) || !isfinite(g->mass[k]))
            return refuse(g, head->at + MASS + 8 * (uint64_t)k,
                          "a mass of the head's table is negative or no number");
    }
    g->time = lacis_get_f64(head->data + TIME, g->swap);
    g->redshift = lacis_get_f64(head->data + REDSHIFT, g->swap);
    g->files = lacis_get_u32(head->data + FILES, g->swap);
    return isfinite(g->time) ? LACIS_OK : refuse(g, head->at + TIME, "the time is no finite number");
}

/* ------------------------------------------------------------------------------------------ blocks */

static int64_t bodies_with_mass(const lacis_gadget *g)
{
    int64_t count = 0;
    for (int k = 0; k < LACIS_GADGET_KINDS; k++)
        count += g->mass[k] == 0 ? g->count[k] : 0;
    return count;
}

/* Sets a block that holds `elements` of 4 or 8 bytes each. */
static lacis_status take_block(lacis_gadget *g, const char *name, const lacis_gadget_block *block, int64_t elements,
                               lacis_gadget_block *out)
{
    if (out->data != NULL) return refuse(g, block->at, "a block is there twice");
    *out = *block;
    out->size = elements > 0 && block->bytes == 8 * (uint64_t)elements ? 8 : 4;
    if (block->bytes == (uint64_t)elements * (uint64_t)out->size) return LACIS_OK;
    return lacis_run_fail(g->run, LACIS_FORMAT,
                          "%s: at byte %llu: block %.4s has %llu bytes, and %lld elements have %lld or %lld",
                          g->source->path, (unsigned long long)block->at, name, (unsigned long long)block->bytes,
                          (long long)elements, (long long)elements * 4, (long long)elements * 8);
}

static lacis_status sort_block(lacis_gadget *g, const char *name, const lacis_gadget_block *block)
{
    if (memcmp(name, "POS ", 4) == 0) return take_block(g, name, block, 3 * g->bodies, &g->pos);
    if (memcmp(name, "VEL ", 4) == 0) return take_block(g, name, block, 3 * g->bodies, &g->vel);
    if (memcmp(name, "ID  ", 4) == 0) return take_block(g, name, block, g->bodies, &g->id);
    if (memcmp(name, "MASS", 4) == 0) return take_block(g, name, block, bodies_with_mass(g), &g->masses);
    return LACIS_OK;
}

/* What all snapshots have. */
static lacis_status check_blocks(const lacis_gadget *g)
{
    uint64_t end = g->source->size;
    if (g->bodies == 0) return LACIS_OK;
    if (g->pos.data == NULL) return refuse(g, end, "the file has no block of places (POS); fetch it again");
    if (g->vel.data == NULL) return refuse(g, end, "the file has no block of velocities (VEL); fetch it again");
    if (g->id.data == NULL) return refuse(g, end, "the file has no block of ids (ID); fetch it again");
    if (g->masses.data == NULL && bodies_with_mass(g) > 0)
        return refuse(g, end, "the file has no block of masses (MASS), and the head's table lacks some");
    return LACIS_OK;
}

lacis_status lacis_gadget_open(lacis_run *run, const lacis_source *source, lacis_gadget *out)
{
    *out = (lacis_gadget){.run = run, .source = source};
    lacis_gadget_block block;
    uint64_t at = 0;
    char name[5];
    int number = 0;
    if (!lacis_gadget_is(source, &out->format, &out->swap))
        return lacis_run_fail(
            run, LACIS_FORMAT,
            "%s: no record of 256 bytes at its head: this is no snapshot of Gadget-2, format 1 or 2", source->path);
    LACIS_TRY(next_block(out, &at, name, &block));
    LACIS_TRY(read_head(out, &block));
    int unnamed = bodies_with_mass(out) > 0 ? 4 : 3; /* blocks that lacis reads */
    for (; at < source->size; number++) {
        LACIS_TRY(next_block(out, &at, name, &block));
        if (out->format == 2 || number < unnamed)
            LACIS_TRY(sort_block(out, out->format == 2 ? name : in_order[number], &block));
    }
    return check_blocks(out);
}
