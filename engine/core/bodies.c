/* SPDX-License-Identifier: Apache-2.0
 *
 * Point masses in space: taken apart with their shapes checked, and built. Used by row sources, the catalog's and the
 * interface's checks, loaders, generators and operators. Values are bodies_check.c's.
 */
#include "core/bodies.h"

#include <inttypes.h>
#include <string.h>

enum { VX = 4, AX = 8 }; /* figures: the first four must be there */

const char *const lacis_bodies_figure[LACIS_BODIES_FIGURES] = {"m",  "x",   "y",  "z",  "vx", "vy",
                                                               "vz", "eps", "ax", "ay", "az", "phi"};

/* Where each figure of lacis_bodies_figure stands in a view. */
static const size_t place[LACIS_BODIES_FIGURES] = {
    offsetof(lacis_bodies, m),  offsetof(lacis_bodies, x),  offsetof(lacis_bodies, y),  offsetof(lacis_bodies, z),
    offsetof(lacis_bodies, vx), offsetof(lacis_bodies, vy), offsetof(lacis_bodies, vz), offsetof(lacis_bodies, eps),
    offsetof(lacis_bodies, ax), offsetof(lacis_bodies, ay), offsetof(lacis_bodies, az), offsetof(lacis_bodies, phi),
};

const void *lacis_bodies_column(const lacis_bodies *bodies, int figure)
{
    const void *data;
    memcpy(&data, (const char *)bodies + place[figure], sizeof data);
    return data;
}

void lacis_bodies_set_column(lacis_bodies *bodies, int figure, const void *data)
{
    memcpy((char *)bodies + place[figure], &data, sizeof data);
}

/* --- taking apart --------------------------------------------------------------------------------- */

static const char nothing[sizeof(double)]; /* what a part without elements points to */

static lacis_status wrong_part(lacis_run *run, const lacis_part *part, int64_t count, lacis_dtype dtype)
{
    return lacis_run_fail(run, LACIS_TYPE,
                          "part \"%s\" of bodies must be %" PRId64 " elements of %s, not %" PRId64 " of %s",
                          part->name, count, lacis_dtype_name(dtype), part->count, lacis_dtype_name(part->dtype));
}

static int figure_named(const char *name)
{
    for (int f = 0; f < LACIS_BODIES_FIGURES; f++)
        if (strcmp(lacis_bodies_figure[f], name) == 0) return f;
    return -1;
}

static lacis_status take_part(lacis_run *run, const lacis_part *part, lacis_bodies *out)
{
    int figure = figure_named(part->name);
    bool id = strcmp(part->name, "id") == 0, time = strcmp(part->name, "time") == 0;
    lacis_dtype dtype = id ? LACIS_I64 : time ? LACIS_F64 : out->dtype;
    int64_t count = time ? 1 : out->count;
    const void *data = part->data == NULL ? nothing : part->data;
    if (figure < 0 && !id && !time) return lacis_run_fail(run, LACIS_TYPE, "bodies have no part \"%s\"", part->name);
    if (part->dtype != dtype || part->count != count) return wrong_part(run, part, count, dtype);
    if (id) out->id = data;
    if (time) memcpy(&out->time, data, sizeof out->time);
    if (figure >= 0) lacis_bodies_set_column(out, figure, data);
    return LACIS_OK;
}

/* Three that are all there or none of them. */
static lacis_status check_triple(lacis_run *run, const lacis_bodies *bodies, int first)
{
    const char *const *name = lacis_bodies_figure + first;
    bool there = lacis_bodies_column(bodies, first) != NULL;
    for (int k = 1; k < 3; k++)
        if ((lacis_bodies_column(bodies, first + k) != NULL) != there)
            return lacis_run_fail(run, LACIS_TYPE, "bodies have all of %s, %s and %s, or none of them", name[0],
                                  name[1], name[2]);
    return LACIS_OK;
}

static lacis_status check_parts(lacis_run *run, const lacis_bodies *bodies)
{
    for (int f = 0; f < VX; f++)
        if (lacis_bodies_column(bodies, f) == NULL)
            return lacis_run_fail(run, LACIS_TYPE, "the bodies have no part \"%s\"", lacis_bodies_figure[f]);
    LACIS_TRY(check_triple(run, bodies, VX));
    return check_triple(run, bodies, AX);
}

lacis_status lacis_bodies_view(lacis_run *run, const lacis_array *array, lacis_bodies *out)
{
    if (lacis_array_kind(array) != LACIS_BODIES) return lacis_run_fail(run, LACIS_TYPE, "bodies are needed");
    *out = (lacis_bodies){
        .count = lacis_array_extent(array, 0), .dtype = lacis_array_dtype(array), .base = lacis_array_base(array, 0)};
    if (out->dtype != LACIS_F32 && out->dtype != LACIS_F64)
        return lacis_run_fail(run, LACIS_TYPE, "bodies are of f32 or f64, not of %s", lacis_dtype_name(out->dtype));
    int64_t beyond;
    if (out->count < 0 || __builtin_add_overflow(out->base, out->count, &beyond))
        return lacis_run_fail(run, LACIS_TYPE, "the bodies, or their ids, are more than can be counted");
    for (int i = 0; i < lacis_array_part_count(array); i++) {
        lacis_part part;
        LACIS_TRY(lacis_array_part(array, i, &part));
        LACIS_TRY(take_part(run, &part, out));
    }
    return check_parts(run, out);
}

/* --- building ------------------------------------------------------------------------------------- */

/* A part of its own, not filled. */
static lacis_status add_part(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t count,
                             void **data)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, (uint64_t)count * lacis_dtype_size(dtype), &buffer));
    *data = lacis_buffer_data(buffer);
    lacis_status status = lacis_array_add(run, array, name, dtype, count, buffer, 0);
    lacis_buffer_release(buffer);
    return status;
}

static lacis_status add_figures(lacis_run *run, const lacis_bodies *like, lacis_array *array)
{
    uint64_t bytes = (uint64_t)like->count * lacis_dtype_size(like->dtype);
    void *data;
    for (int f = 0; f < LACIS_BODIES_FIGURES; f++) {
        bool there = lacis_bodies_column(like, f) != NULL;
        if (f >= LACIS_BODIES_EPS && !there) continue;
        LACIS_TRY(add_part(run, array, lacis_bodies_figure[f], like->dtype, like->count, &data));
        if (!there && bytes > 0) memset(data, 0, bytes);
    }
    return LACIS_OK;
}

static lacis_status build(lacis_run *run, const lacis_bodies *like, lacis_array *array, lacis_bodies *out)
{
    void *data;
    lacis_array_set_base(array, 0, like->base);
    LACIS_TRY(add_figures(run, like, array));
    if (like->id != NULL) {
        LACIS_TRY(add_part(run, array, "id", LACIS_I64, like->count, &data));
        if (like->count > 0) memcpy(data, like->id, (uint64_t)like->count * sizeof *like->id);
    }
    LACIS_TRY(add_part(run, array, "time", LACIS_F64, 1, &data));
    memcpy(data, &like->time, sizeof like->time);
    return lacis_bodies_view(run, array, out);
}

lacis_status lacis_bodies_new(lacis_run *run, const lacis_bodies *like, lacis_array **array, lacis_bodies *out)
{
    lacis_array *fresh;
    LACIS_TRY(check_triple(run, like, VX));
    if (like->count < 0 || like->count > INT64_MAX / 64)
        return lacis_run_fail(run, LACIS_RANGE, "there are more bodies than can be counted");
    LACIS_TRY(lacis_array_new(run, LACIS_BODIES, like->dtype, like->count, 0, &fresh));
    lacis_status status = build(run, like, fresh, out);
    if (status != LACIS_OK) {
        lacis_array_release(fresh);
        return status;
    }
    *array = fresh;
    return LACIS_OK;
}
