/* SPDX-License-Identifier: Apache-2.0
 *
 * CONVERT: a batch of systems, symmetric matrices, bodies or grids in another layout or type. This file is the
 * descriptor; the engine's registry names it.
 */
#include "convert/convert.h"

#include <inttypes.h>
#include <string.h>

static const lacis_param params[] = {
    {.form = "%a", .required = true, .help = "a batch of systems, a symmetric matrix, bodies, or a grid"},
    {.keyword = "LAYOUT",
     .form = "%k",
     .help =
         "lane behind lane, element behind element, or flocks of so many lanes; a symmetric matrix: full or packed"},
    {.keyword = "AS", .form = "f32|f64|c64|c128|dd|cdd", .help = "the type of all fields; bodies, grids: f32 or f64"},
    {.keyword = "SHARE", .form = "", .help = "fields on which the lanes of each group agree are stored once a group"},
};

static const char *const examples[] = {
    "CONVERT x LAYOUT full",
    "CONVERT x LAYOUT block(64) AS f32",
    "LET y = x LAYOUT block(64)",
    "LET y = x SHARE",
    "LET b = a LAYOUT packed AS f32",
    "LET h = CONVERT g AS f64",
    NULL,
};

static const char help[] =
    "CONVERT x LAYOUT flat | full | block(n) gives the same batch with its elements in another order in memory:\n"
    "flat: lane behind lane; full: first elements of all lanes, then second ones ...; block(n): flocks of n lanes,\n"
    "each in itself as in full, the last one padded. What SQL sees is the same. Lanes of another length or tree "
    "form\n"
    "a group of their own and lie behind those before.\n"
    "\n"
    "AS f32, f64, c64, c128, dd or cdd converts all fields; reals that are too large for f32 become infinite. A "
    "complex\n"
    "field does not become real.\n"
    "\n"
    "SHARE stores a field on which all lanes of each group agree, bit for bit, once a group: operators read it once, "
    "and\n"
    "a matrix that all systems have in common is factored once.\n"
    "\n"
    "A dense symmetric or Hermitian matrix is full (both triangles have places, one is read) or packed (one triangle "
    "alone);\n"
    "LAYOUT full | packed and AS convert it. Bodies and grids become f32 or f64; a figure that f32 cannot hold is "
    "an\n"
    "error.\n"
    "\n"
    "Where a call is sure to stand the verb may be left out: LET y = x LAYOUT full; SOLVE (x LAYOUT full).";

const lacis_dtype lacis_convert_types[6] = {LACIS_F32, LACIS_F64, LACIS_C64, LACIS_C128, LACIS_DD, LACIS_CDD};

/* --- bind ----------------------------------------------------------------------------------------- */

static bool is_complex(lacis_dtype dtype)
{
    return dtype == LACIS_C64 || dtype == LACIS_C128 || dtype == LACIS_CDD;
}

lacis_status lacis_convert_bind_reals(lacis_run *run, const lacis_call *call, const char *noun, const char *layout,
                                      lacis_dtype *dtype)
{
    const lacis_arg *as = lacis_call_arg(call, "AS"), *laid = lacis_call_arg(call, "LAYOUT");
    const lacis_arg *other = laid != NULL ? laid : lacis_call_arg(call, "SHARE");
    if (other != NULL)
        return lacis_run_fail_at(run, LACIS_TYPE, other->offset, "AS f32 | f64 is what there is", "%s", layout);
    *dtype = lacis_convert_types[as->item[0].integer];
    if (*dtype == LACIS_F32 || *dtype == LACIS_F64) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_TYPE, as->item[0].offset, NULL, "%s of f32 or f64, not of %s", noun,
                             lacis_dtype_name(*dtype));
}

static lacis_status bind_type(lacis_run *run, const lacis_call *call, lacis_convert_work *work)
{
    const lacis_arg *as = lacis_call_arg(call, "AS");
    work->typed = as != NULL;
    if (as == NULL) return LACIS_OK;
    work->dtype = lacis_convert_types[as->item[0].integer];
    for (int i = 0; i < work->from.fields && !is_complex(work->dtype); i++) {
        const lacis_batch_part *field = &work->from.field[i];
        if (is_complex(field->dtype))
            return lacis_run_fail_at(run, LACIS_TYPE, as->item[0].offset, "AS c64, c128 and cdd keep both parts",
                                     "field %s is complex and cannot become %s", field->name,
                                     lacis_dtype_name(work->dtype));
    }
    return LACIS_OK;
}

/* Columns of a field's further numbers, as they end; NULL behind the last. */
static const char *const *endings_of(lacis_dtype type)
{
    static const char *const none[] = {NULL}, *const complex[] = {"_im", NULL}, *const wide[] = {"_lo", NULL},
                             *const both[] = {"_lo", "_im", "_im_lo", NULL};
    return type == LACIS_CDD ? both : type == LACIS_DD ? wide : is_complex(type) ? complex : none;
}

/* What SQL will see: parent, fields, and their further numbers. */
static lacis_status bind_columns(lacis_run *run, lacis_call *call, const lacis_convert_work *work)
{
    lacis_column *column;
    int count = 0;
    LACIS_TRY(lacis_run_scratch(run, (4 * LACIS_BATCH_FIELDS + 1) * sizeof *column, &column));
    if (work->from.parent != NULL) column[count++] = (lacis_column){"parent", false};
    for (int i = 0; i < work->from.fields; i++) {
        const lacis_batch_part *field = &work->from.field[i];
        lacis_dtype type = lacis_convert_type(work, field);
        column[count++] = (lacis_column){field->name, type >= LACIS_F32};
        for (const char *const *ending = endings_of(type); *ending != NULL; ending++) {
            const char *further = lacis_run_text(run, "%s%s", field->name, *ending);
            if (further == NULL) return lacis_run_fail(run, LACIS_NOMEM, "out of memory");
            column[count++] = (lacis_column){further, true};
        }
    }
    call->column = column;
    call->columns = count;
    return LACIS_OK;
}

/* Lanes whose labels lie in the restriction's range. */
static void bind_lanes(lacis_call *call, lacis_convert_work *work)
{
    int64_t base = lacis_array_base(work->array, 0), lanes = work->from.lanes, end = lanes;
    const lacis_restriction *wanted = call->restriction;
    if (wanted != NULL) {
        int64_t lo = wanted->lo, hi = wanted->hi;
        if (wanted->list != NULL && wanted->count > 0) {
            if (wanted->list[0] > lo) lo = wanted->list[0];
            if (wanted->list[wanted->count - 1] < hi) hi = wanted->list[wanted->count - 1];
        }
        work->first = lacis_label_lower(NULL, base, lanes, lo);
        if (hi < INT64_MAX) end = lacis_label_lower(NULL, base, lanes, hi + 1);
        if (end < work->first) end = work->first;
    }
    call->units = call->extent[0] = end - work->first;
}

static void measure(const lacis_call *call, lacis_convert_work *work)
{
    double share = work->from.lanes > 0 ? (double)call->units / (double)work->from.lanes : 0;
    for (int i = 0; i < work->from.fields; i++) {
        const lacis_batch_part *field = &work->from.field[i];
        double size = (double)lacis_dtype_size(lacis_convert_type(work, field));
        work->bytes += size * (field->shared ? (double)work->from.rows : share * (double)work->from.elements);
    }
}

static lacis_status bind(lacis_run *run, lacis_call *call)
{
    const lacis_arg *operand = lacis_call_arg(call, NULL), *layout = lacis_call_arg(call, "LAYOUT");
    const lacis_array *array = operand->item[0].array;
    lacis_convert_work *work;
    char text[LACIS_LAYOUT_TEXT];
    bool share = lacis_call_arg(call, "SHARE") != NULL, symmetric = lacis_array_kind(array) == LACIS_SYMMETRIC;
    bool bodies = lacis_array_kind(array) == LACIS_BODIES, grid = lacis_array_kind(array) == LACIS_GRID;
    if (lacis_array_kind(array) != LACIS_INTERLEAVED && !symmetric && !bodies && !grid)
        return lacis_run_fail_at(
            run, LACIS_TYPE, operand->item[0].offset, NULL,
            "CONVERT takes a batch of systems (lane, row, fields), a symmetric matrix, bodies or a grid: "
            "other arrays have one layout");
    if (layout == NULL && lacis_call_arg(call, "AS") == NULL && !share)
        return lacis_run_fail_at(run, LACIS_SYNTAX, call->offset, NULL, "CONVERT needs LAYOUT, AS or SHARE");
    if (symmetric) return lacis_convert_bind_symmetric(run, call, array);
    if (bodies) return lacis_convert_bind_bodies(run, call, array);
    if (grid) return lacis_convert_bind_grid(run, call, array);
    if (layout != NULL && layout->item[0].integer == LACIS_LAYOUT_PACKED)
        return lacis_run_fail_at(run, LACIS_TYPE, layout->item[0].offset, NULL,
                                 "packed is how a symmetric matrix may lie; a batch of systems is flat, full or "
                                 "block(n)");
    LACIS_TRY(lacis_run_scratch(run, sizeof *work, &work));
    memset(work, 0, sizeof *work);
    work->array = array;
    work->share = share;
    LACIS_TRY(lacis_batch_view(run, array, &work->from));
    work->block = layout == NULL ? work->from.block : layout->item[0].integer;
    LACIS_TRY(bind_type(run, call, work));
    call->kind = LACIS_INTERLEAVED;
    call->dtype = work->typed ? work->dtype : lacis_array_dtype(array);
    call->extent[1] = lacis_array_extent(array, 1);
    call->layout = lacis_run_text(run, "%s", lacis_batch_layout_text(work->block, text));
    call->work = work;
    bind_lanes(call, work);
    measure(call, work);
    return bind_columns(run, call, work);
}

/* --- estimates ------------------------------------------------------------------------------------ */

static int64_t fit(const lacis_call *call, int64_t begin, uint64_t bytes)
{
    const lacis_convert_work *work = call->work;
    double lane = 1, fixed = 0;
    if (work->whole) return work->bytes <= (double)bytes ? call->units : begin;
    for (int i = 0; i < work->from.fields; i++) {
        const lacis_batch_part *field = &work->from.field[i];
        double size = (double)(work->typed ? lacis_dtype_size(field->dtype) : 0) +
                      (double)lacis_dtype_size(lacis_convert_type(work, field));
        if (field->shared)
            fixed += size * (double)work->from.rows;
        else
            lane += size * (double)work->from.most_rows;
    }
    double lanes = ((double)bytes - fixed) / lane, side = work->block > 1 ? (double)work->block : 1;
    if (lanes < side) return begin;
    if (lanes >= (double)(call->units - begin)) return call->units;
    int64_t count = (int64_t)(lanes / side) * (int64_t)side;
    return begin + count;
}

static lacis_status cost(lacis_run *run, const lacis_call *call, const lacis_profile *profile, lacis_cost *out)
{
    (void)run;
    const lacis_convert_work *work = call->work;
    const double read_and_write = 2, second = 1e9;
    if (work->whole) {
        out->bytes = out->peak_bytes = work->bytes;
        out->entries = out->products = (double)lacis_array_entries(work->array);
        out->seconds = read_and_write * out->bytes / lacis_profile_get(profile, "convert.bytes_per_ns", 4.0) / second;
        return LACIS_OK;
    }
    double padding =
        work->from.lanes > 0 ? (double)work->from.groups * (double)(work->block > 1 ? work->block : 0) : 0;
    double rate = lacis_profile_get(profile, "convert.bytes_per_ns", 4.0);
    out->bytes = work->bytes * (1 + (call->units > 0 ? padding / 2 / (double)call->units : 0));
    out->entries = (double)call->units * (double)call->extent[1];
    out->products = out->entries;
    out->seconds = read_and_write * out->bytes / rate / second;
    out->peak_bytes = out->bytes * (work->typed && work->block != work->from.block ? 2 : 1);
    return LACIS_OK;
}

static lacis_status explain(lacis_run *run, const lacis_call *call, lacis_lines *lines)
{
    (void)run;
    const lacis_convert_work *work = call->work;
    char from[LACIS_LAYOUT_TEXT], to[LACIS_LAYOUT_TEXT];
    if (call->kind == LACIS_SYMMETRIC) return lacis_convert_explain_symmetric(call, lines);
    if (call->kind == LACIS_BODIES) return lacis_convert_explain_bodies(call, lines);
    if (call->kind == LACIS_GRID) return lacis_convert_explain_grid(call, lines);
    return lacis_lines_add(lines, "layout %s -> %s, lanes %" PRId64 " of %" PRId64 " in %" PRId64 " group%s",
                           lacis_batch_layout_text(work->from.block, from), lacis_batch_layout_text(work->block, to),
                           call->units, work->from.lanes, work->from.groups, work->from.groups == 1 ? "" : "s");
}

static const lacis_variant copy = {
    .name = "copy",
    .device = LACIS_CPU,
    .summary = "copies of stretches, or tiles turned in registers; blocks of lanes over the threads",
    .cost = cost,
    .run = lacis_convert_run,
};
static const lacis_variant *const variants[] = {&copy};

const lacis_op lacis_op_convert = {
    .verb = "CONVERT",
    .summary = "a batch of systems, a symmetric matrix, bodies or a grid in another layout or type",
    .help = help,
    .examples = examples,
    .params = params,
    .param_count = LACIS_COUNT(params),
    .work = "elements",
    .bind = bind,
    .fit = fit,
    .explain = explain,
    .variants = variants,
    .variant_count = LACIS_COUNT(variants),
    .silent = true,
};
