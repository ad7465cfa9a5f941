/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between arrays of a whole grid and those of its parts, and what these take. Called by ranks_spread.c, and
 * where parts lie on GPUs.
 */
#include "sweep/ranks.h"

#include <string.h>

uint64_t lacis_sweep_box_bytes(const lacis_sweep_work *work, const lacis_sweep_box *box)
{
    return (uint64_t)lacis_sweep_box_cells(box) * lacis_sweep_size(work->type);
}

/* Row by row; row(context, place in the whole grid's memory, place in the box's, cells). */
static void each_row(const lacis_sweep_cut *cut, const lacis_sweep_box *box,
                     void (*row)(void *context, int64_t whole, int64_t own, int64_t cells), void *context)
{
    const int64_t cells = box->end[0] - box->begin[0];
    int64_t own = 0;
    for (int64_t z = box->begin[2]; z < box->end[2]; z++)
        for (int64_t y = box->begin[1]; y < box->end[1]; y++, own += cells)
            row(context, (z * cut->whole[1] + y) * cut->whole[0] + box->begin[0], own, cells);
}

struct copy {
    const char *from;
    char *to;
    uint64_t size;
};

static void row_out(void *context, int64_t whole, int64_t own, int64_t cells)
{
    const struct copy *c = context;
    memcpy(c->to + c->size * (uint64_t)own, c->from + c->size * (uint64_t)whole, c->size * (uint64_t)cells);
}

static void row_in(void *context, int64_t whole, int64_t own, int64_t cells)
{
    const struct copy *c = context;
    memcpy(c->to + c->size * (uint64_t)whole, c->from + c->size * (uint64_t)own, c->size * (uint64_t)cells);
}

void lacis_sweep_copy_out(const lacis_sweep_cut *cut, uint64_t size, const void *whole, const lacis_sweep_box *box,
                          void *to)
{
    struct copy c = {whole, to, size};
    each_row(cut, box, row_out, &c);
}

void lacis_sweep_copy_in(const lacis_sweep_cut *cut, uint64_t size, const void *from, const lacis_sweep_box *box,
                         void *whole)
{
    struct copy c = {from, whole, size};
    each_row(cut, box, row_in, &c);
}

/* ------------------------------------------------------------------------------------------- faces */

/* The cells of the face that the part sees: its own, and those of its halo where a face of another axis is INNER. */
static void face_box(const lacis_sweep_cut *cut, int part, int face, lacis_sweep_box *out)
{
    lacis_sweep_cut_box(cut, part, out);
    for (int axis = 0; axis < 3; axis++) {
        if (lacis_sweep_cut_inner(cut, part, 2 * axis)) out->begin[axis] -= cut->halo[axis];
        if (lacis_sweep_cut_inner(cut, part, 2 * axis + 1)) out->end[axis] += cut->halo[axis];
    }
    out->begin[face / 2] = 0;
    out->end[face / 2] = 1;
}

int64_t lacis_sweep_face_cells(const lacis_sweep_cut *cut, int part, int face)
{
    lacis_sweep_box box;
    face_box(cut, part, face, &box);
    return lacis_sweep_box_cells(&box);
}

/* Halos that lie beyond a periodic end are the other side's. */
void lacis_sweep_face_copy(const lacis_sweep_cut *cut, int part, int face, uint64_t size, const void *whole, void *to)
{
    lacis_sweep_box box;
    int64_t extent[3], at[3];
    char *next = to;
    face_box(cut, part, face, &box);
    memcpy(extent, cut->whole, sizeof extent);
    extent[face / 2] = 1;
    for (at[2] = box.begin[2]; at[2] < box.end[2]; at[2]++)
        for (at[1] = box.begin[1]; at[1] < box.end[1]; at[1]++)
            for (at[0] = box.begin[0]; at[0] < box.end[0]; at[0]++, next += size) {
                int64_t in[3];
                for (int axis = 0; axis < 3; axis++)
                    in[axis] = (at[axis] + extent[axis]) % extent[axis];
                const int64_t from = (in[2] * extent[1] + in[1]) * extent[0] + in[0];
                memcpy(next, (const char *)whole + size * (uint64_t)from, size);
            }
}

uint64_t lacis_sweep_share_face_bytes(const lacis_sweep_share *share, int part, int face)
{
    return lacis_sweep_size(share->work->type) * (uint64_t)lacis_sweep_face_cells(&share->cut, part, face);
}

bool lacis_sweep_face_valued(const lacis_sweep_share *share, int part, int field, int face)
{
    return face / 2 < share->cut.dims && share->work->edge[field][face].kind == LACIS_SWEEP_VALUES &&
           !lacis_sweep_cut_inner(&share->cut, part, face);
}

/* ------------------------------------------------------------------------- a part's, as a GPU gets them */

uint64_t lacis_sweep_apart(uint64_t bytes)
{
    const uint64_t line = 256;
    return (bytes + line - 1) / line * line;
}

uint64_t lacis_sweep_share_arrays_bytes(const lacis_sweep_share *share, int part)
{
    const lacis_sweep_work *work = share->work;
    lacis_sweep_box box;
    lacis_sweep_cut_box(&share->cut, part, &box);
    uint64_t all =
        lacis_sweep_apart(lacis_sweep_box_bytes(work, &box)) * (uint64_t)(work->grid.fields + work->coefficients);
    for (int field = 0; field < work->grid.fields; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if (lacis_sweep_face_valued(share, part, field, face))
                all += lacis_sweep_apart(lacis_sweep_share_face_bytes(share, part, face));
    return all;
}
