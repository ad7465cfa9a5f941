/* SPDX-License-Identifier: Apache-2.0
 *
 * ACCELERATE: the gravity of point masses, at themselves or at free points. Its descriptor and its bind; what runs is
 * shared with NBODY and stands there. The engine's registry names it.
 */
#include "nbody/field.h"

#include <string.h>

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "bodies: m, x, y, z"},
    {.keyword = "AT", .form = "%a", .help = "points: bodies, or a table with columns x, y, z (and id)"},
    LACIS_NBODY_FIELD_PARAMS,
    {.keyword = "CERTIFY", .form = "%i", .help = "check so many of the accelerations (NAME_error)"},
    {.keyword = "LAST", .form = "", .help = "by a tree; the bodies' accelerations are those of the time before"},
};

static const char *const examples[] = {
    "ACCELERATE g SOFTEN 0.05",
    "ACCELERATE g ERROR 1e-4 POTENTIAL CERTIFY 1000",
    "ACCELERATE g AT p THETA 0.7 ORDER monopole",
    NULL,
};

static const char help[] =
    "ACCELERATE bodies gives a table id, ax, ay, az, and with POTENTIAL phi: what the bodies' gravity does to each "
    "of\n"
    "them, itself left out. AT points: at free points, which are bodies (whose masses do not count) or a table with\n"
    "columns x, y, z; id is the table's where it has one, else the row. A free point has the softening length of\n"
    "SOFTEN, and none beside lengths of each body; where it lies on a body without softening, that body gives "
    "nothing.\n"
    "\n"
    "THETA, ERROR, ORDER, OPENING, ALPHA, SOFTEN, G and TYPE are those of NBODY. ERROR holds for the bodies. CERTIFY "
    "n\n"
    "checks n of the accelerations asked for against direct sums in f64: LET a = ACCELERATE ... makes the table\n"
    "a_error of it. docs/nbody.md has the mathematics.";

/* ----------------------------------------------------------------------------------------------- AT */

static lacis_status take_bodies(lacis_run *run, const lacis_array *array, lacis_nbody_places *out)
{
    lacis_bodies b;
    LACIS_TRY(lacis_bodies_view(run, array, &b));
    out->count = b.count;
    out->id = b.id;
    out->base = b.base;
    const void *const at[3] = {b.x, b.y, b.z};
    for (int k = 0; k < 3; k++) {
        out->at[k] = at[k];
        out->dtype[k] = b.dtype;
    }
    return LACIS_OK;
}

static bool is_number(lacis_dtype dtype)
{
    return dtype == LACIS_F32 || dtype == LACIS_F64 || dtype == LACIS_I32 || dtype == LACIS_I64;
}

static lacis_status take_table(lacis_run *run, const lacis_item *item, lacis_nbody_places *out)
{
    static const char *const name[3] = {"x", "y", "z"};
    const lacis_part *id = lacis_array_part_named(item->array, "id");
    out->count = lacis_array_extent(item->array, 0);
    if (id != NULL && id->dtype == LACIS_I64) out->id = id->data;
    for (int k = 0; k < 3; k++) {
        const lacis_part *part = lacis_array_part_named(item->array, name[k]);
        if (part == NULL || !is_number(part->dtype))
            return lacis_run_fail_at(run, LACIS_TYPE, item->offset, "SELECT 0 AS x, 0 AS y, 0 AS z",
                                     "AT takes points with columns x, y, z, and this table has no %s of numbers",
                                     name[k]);
        out->at[k] = part->data;
        out->dtype[k] = part->dtype;
    }
    return LACIS_OK;
}

static lacis_status bind_places(lacis_run *run, const lacis_call *call, lacis_nbody_places *out)
{
    const lacis_arg *at = lacis_call_arg(call, "AT");
    memset(out, 0, sizeof *out);
    if (at == NULL) return LACIS_OK;
    const lacis_item *item = &at->item[0];
    out->array = item->array;
    if (lacis_array_kind(item->array) == LACIS_BODIES) return take_bodies(run, item->array, out);
    if (lacis_array_kind(item->array) == LACIS_TABLE) return take_table(run, item, out);
    return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL, "AT takes bodies, or a table with columns x, y, z");
}

/* --------------------------------------------------------------------------------------------- bind */

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    lacis_nbody_work *work;
    LACIS_TRY(lacis_nbody_bind_bodies(run, call, true, &work));
    LACIS_TRY(bind_places(run, call, &work->places));
    LACIS_TRY(lacis_nbody_bind_certify(run, call, work));
    work->last = lacis_call_arg(call, "LAST") != NULL;
    call->kind = LACIS_TABLE;
    call->dtype = LACIS_F64;
    call->column = lacis_nbody_field_column;
    call->columns = LACIS_NBODY_FIELD_COLUMNS - !work->potential;
    call->extent[0] = work->places.array != NULL ? work->places.count : work->bodies.count;
    call->units = call->extent[0];
    return LACIS_OK;
}

const lacis_op lacis_op_accelerate = {
    .verb = "ACCELERATE",
    .summary = "the gravity of point masses, at themselves or at free points",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "terms",
    .bind = bind,
    .explain = lacis_nbody_explain,
    .variants = lacis_nbody_variants,
    .variant_count = LACIS_NBODY_VARIANTS,
    .tables = (const char *const[]){"error", NULL},
};
