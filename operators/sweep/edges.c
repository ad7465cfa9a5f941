/* SPDX-License-Identifier: Apache-2.0
 *
 * EDGE: what is read beyond a face of the grid, for each field and face as kernels/sweep/sweep.h has it. Where
 * nothing is said border cells stay. Called by bind.c, and by explain.c for names.
 */
#include "sweep/work.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* In the order of op.c's form. */
enum { FIXED, CLAMP, NEUMANN, ROBIN, PERIODIC, MIRROR };
enum { ITEM_OF, ITEM_FIELD, ITEM_FACE, ITEM_KIND, ITEM_FIRST }; /* of an argument; FIRST: the kind's own begin */
enum { FACES_SAID = 6 };                                        /* then x, y, z: axes */

static const char *const face_name[LACIS_SWEEP_FACES] = {"left", "right", "bottom", "top", "front", "back"};
static const char *const axis_name[3] = {"x", "y", "z"};

const char *lacis_sweep_face_name(int face)
{
    return face_name[face];
}

/* --- kinds -------------------------------------------------------------------------------------------- */

/* A number in the type of the run. */
static double rounded(const lacis_sweep_work *work, double value)
{
    return work->type == LACIS_SWEEP_F32 ? (double)(float)value : value;
}

/* The face lies half a cell beyond the outermost one: cell k beyond it and the k-th inside are 2k - 1 cells apart. */
static void neumann(const lacis_sweep_work *work, double g, lacis_sweep_edge *edge)
{
    for (int k = 1; k <= LACIS_SWEEP_RADIUS; k++) {
        edge->a[k - 1] = rounded(work, (2 * k - 1) * g);
        edge->b[k - 1] = 1;
    }
}

/* a (u' + u) / 2 + b (u' - u) / (2k - 1) = g, u' beyond, u inside, solved for u'. */
static lacis_status robin(lacis_run *run, const lacis_sweep_work *work, const lacis_item *item, int64_t reach,
                          lacis_sweep_edge *edge)
{
    const double a = item[0].real, b = item[1].real, g = item[2].real;
    for (int k = 1; k <= LACIS_SWEEP_RADIUS; k++) {
        const double apart = 2 * k - 1, below = a / 2 + b / apart;
        const bool read = k <= (reach > 1 ? reach : 1);
        if (below == 0 && read)
            return lacis_run_fail_at(run, LACIS_RANGE, item[0].offset, NULL,
                                     "EDGE robin: a / 2 + b / %d is 0, so that no value %d cell%s beyond the face "
                                     "satisfies it",
                                     2 * k - 1, k, k == 1 ? "" : "s");
        edge->a[k - 1] = below == 0 ? 0 : rounded(work, g / below);
        edge->b[k - 1] = below == 0 ? 0 : rounded(work, -(a / 2 - b / apart) / below);
        if (read && !(isfinite(below) && isfinite(edge->a[k - 1]) && isfinite(edge->b[k - 1])))
            return lacis_run_fail_at(run, LACIS_RANGE, item[0].offset, "smaller numbers in the same ratio",
                                     "EDGE robin: what is to lie %d cell%s beyond the face is more than %s can hold",
                                     k, k == 1 ? "" : "s", lacis_dtype_name(work->dtype));
    }
    return LACIS_OK;
}

/* --- arrays over a face ------------------------------------------------------------------------------- */

static bool grid_fits(const lacis_sweep_work *work, const lacis_grid *grid, int face)
{
    int at = 0;
    if (grid->dims != work->grid.dims - 1 || grid->fields != 1) return false;
    for (int k = 0; k < work->grid.dims; k++)
        if (k != face / 2 && grid->extent[at++] != work->grid.extent[k]) return false;
    return true;
}

/* A vector in the order of the face's cells, or a grid of its shape. */
static bool face_array(lacis_run *run, const lacis_sweep_work *work, const lacis_array *array, int face,
                       lacis_sweep_source *out)
{
    lacis_grid grid;
    const int64_t cells = work->grid.cells / work->grid.extent[face / 2];
    if (lacis_array_kind(array) == LACIS_GRID) {
        if (lacis_grid_view(run, array, &grid) != LACIS_OK || !grid_fits(work, &grid, face)) return false;
        *out = (lacis_sweep_source){array, grid.name[0], grid.field[0], grid.dtype, grid.cells};
        return true;
    }
    const lacis_part *values = lacis_array_part_named(array, "values");
    if (lacis_array_kind(array) != LACIS_VECTOR || values == NULL || values->count != cells) return false;
    if (lacis_array_part_named(array, "index") != NULL || values->dtype > LACIS_F64) return false;
    *out = (lacis_sweep_source){array, "values", values->data, values->dtype, values->count};
    return true;
}

static lacis_status check_face(lacis_run *run, const lacis_sweep_work *work, const lacis_item *item, int face,
                               lacis_sweep_source *out)
{
    if (work->grid.dims == 1)
        return lacis_run_fail_at(run, LACIS_TYPE, item->offset, "EDGE left fixed 1",
                                 "a face of a grid of one dimension is one cell: fixed takes a number there");
    if (face_array(run, work, item->array, face, out)) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_TYPE, item->offset, NULL,
                             "EDGE %s fixed: a vector or a grid of one field less a dimension, of the face's %" PRId64
                             " cells, is needed",
                             face_name[face], work->grid.cells / work->grid.extent[face / 2]);
}

/* --- one clause --------------------------------------------------------------------------------------- */

static lacis_status bind_fixed(lacis_run *run, lacis_sweep_work *work, const lacis_item *item, int field, int face)
{
    lacis_sweep_edge *edge = &work->edge[field][face];
    if (item[0].integer == 0) return LACIS_OK; /* HOLD, which is 0 */
    if (item[1].text != NULL) {
        edge->kind = LACIS_SWEEP_AFFINE;
        for (int k = 0; k < LACIS_SWEEP_RADIUS; k++)
            edge->a[k] = rounded(work, item[1].real);
        return LACIS_OK;
    }
    edge->kind = LACIS_SWEEP_VALUES;
    return check_face(run, work, &item[1], face, &work->face[field][face]);
}

static lacis_status bind_face(lacis_run *run, lacis_sweep_work *work, const lacis_arg *arg, int field, int face,
                              const int64_t *reach)
{
    static const lacis_sweep_edge_kind kind[] = {LACIS_SWEEP_HOLD,   LACIS_SWEEP_CLAMP,    LACIS_SWEEP_AFFINE,
                                                 LACIS_SWEEP_AFFINE, LACIS_SWEEP_PERIODIC, LACIS_SWEEP_MIRROR};
    lacis_sweep_edge *edge = &work->edge[field][face];
    const lacis_item *item = &arg->item[ITEM_FIRST];
    *edge = (lacis_sweep_edge){.kind = kind[arg->item[ITEM_KIND].integer]};
    work->face[field][face] = (lacis_sweep_source){.array = NULL};
    switch (arg->item[ITEM_KIND].integer) {
    case FIXED:
        return bind_fixed(run, work, item, field, face);
    case NEUMANN:
        neumann(work, item[0].real, edge);
        return LACIS_OK;
    case ROBIN:
        return robin(run, work, item, reach[face / 2], edge);
    default:
        return LACIS_OK;
    }
}

/* The faces that a clause speaks of, as bits. */
static lacis_status faces_of(lacis_run *run, const lacis_sweep_work *work, const lacis_item *item, unsigned *out)
{
    const int said = (int)item->integer - 1, all = (1 << (2 * work->grid.dims)) - 1;
    *out = (unsigned)(said < 0 ? all : said < FACES_SAID ? 1 << said : 3 << (2 * (said - FACES_SAID)));
    if ((*out & ~(unsigned)all) == 0) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_NAME, item->offset, NULL, "EDGE %s: the grid has %d dimension%s",
                             said < FACES_SAID ? face_name[said] : axis_name[said - FACES_SAID], work->grid.dims,
                             work->grid.dims == 1 ? "" : "s");
}

static lacis_status fields_of(lacis_run *run, const lacis_sweep_work *work, const lacis_arg *arg, int *begin,
                              int *end)
{
    const lacis_item *item = arg->item;
    *begin = 0;
    *end = work->grid.fields;
    if (item[ITEM_OF].integer == 0) return LACIS_OK;
    *begin = lacis_sweep_field(work, item[ITEM_FIELD].text);
    *end = *begin + 1;
    if (*begin >= 0) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_NAME, item[ITEM_FIELD].offset,
                             lacis_sweep_hint(run, work, item[ITEM_FIELD].text, false),
                             "EDGE OF: the grid has no field %s", item[ITEM_FIELD].text);
}

static lacis_status bind_clause(lacis_run *run, lacis_sweep_work *work, const lacis_arg *arg, const int64_t *reach)
{
    int begin, end;
    unsigned faces;
    LACIS_TRY(fields_of(run, work, arg, &begin, &end));
    LACIS_TRY(faces_of(run, work, &arg->item[ITEM_FACE], &faces));
    for (int field = begin; field < end; field++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            if ((faces >> face & 1) != 0) LACIS_TRY(bind_face(run, work, arg, field, face, reach));
    return LACIS_OK;
}

/* The clause that spoke last of a face. */
static int64_t place_of(const lacis_call *call)
{
    int64_t offset = call->offset;
    const lacis_arg *arg;
    for (int from = 0; (arg = lacis_sweep_next(call, "EDGE", &from)) != NULL;)
        if (arg->item[ITEM_KIND].integer == PERIODIC) offset = arg->offset;
    return offset;
}

static lacis_status check_periodic(lacis_run *run, const lacis_call *call, const lacis_sweep_work *work)
{
    for (int field = 0; field < work->grid.fields; field++)
        for (int axis = 0; axis < work->grid.dims; axis++) {
            const lacis_sweep_edge *low = &work->edge[field][2 * axis], *high = low + 1;
            if ((low->kind == LACIS_SWEEP_PERIODIC) == (high->kind == LACIS_SWEEP_PERIODIC)) continue;
            return lacis_run_fail_at(run, LACIS_SYNTAX, place_of(call),
                                     lacis_run_text(run, "EDGE %s periodic", axis_name[axis]),
                                     "EDGE periodic holds for both faces, %s and %s, or for none",
                                     face_name[2 * axis], face_name[2 * axis + 1]);
        }
    return LACIS_OK;
}

lacis_status lacis_sweep_bind_edges(lacis_run *run, const lacis_call *call, lacis_sweep_work *work)
{
    int64_t reach[3];
    lacis_sweep_start start;
    const lacis_arg *arg;
    lacis_sweep_start_of(work, NULL, &start);
    lacis_sweep_reach(&start, reach);
    for (int from = 0; (arg = lacis_sweep_next(call, "EDGE", &from)) != NULL;)
        LACIS_TRY(bind_clause(run, work, arg, reach));
    return check_periodic(run, call, work);
}

/* --- for EXPLAIN -------------------------------------------------------------------------------------- */

static bool all_are(const double *b, double value)
{
    for (int k = 0; k < LACIS_SWEEP_RADIUS; k++)
        if (b[k] != value) return false;
    return true;
}

const char *lacis_sweep_edge_text(lacis_run *run, const lacis_sweep_work *work, int field, int face)
{
    const lacis_sweep_edge *edge = &work->edge[field][face];
    switch (edge->kind) {
    case LACIS_SWEEP_HOLD:
        return "fixed";
    case LACIS_SWEEP_CLAMP:
        return "clamp";
    case LACIS_SWEEP_MIRROR:
        return "mirror";
    case LACIS_SWEEP_PERIODIC:
        return "periodic";
    case LACIS_SWEEP_AFFINE:
        return all_are(edge->b, 0)   ? lacis_run_text(run, "fixed %g", edge->a[0])
               : all_are(edge->b, 1) ? lacis_run_text(run, "neumann %g", edge->a[0])
                                     : lacis_run_text(run, "robin: %g %s %g u", edge->a[0],
                                                      edge->b[0] < 0 ? "-" : "+", fabs(edge->b[0]));
    case LACIS_SWEEP_VALUES:
        return "fixed by an array";
    case LACIS_SWEEP_INNER:
        break;
    }
    return "of another part";
}
