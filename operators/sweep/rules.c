/* SPDX-License-Identifier: Apache-2.0
 *
 * STEP: what each field becomes. Names are looked up, expressions typed; those that are sums of weighted cells become
 * linear rules (canonical.c), others stay as they are written. Called by bind.c.
 */
#include "sweep/canonical.h"
#include "sweep/work.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- names -------------------------------------------------------------------------------------------- */

/* x, y, z, t; 0: none of them. */
static int place_of(const char *name)
{
    static const char *const word[LACIS_SWEEP_PLACES] = {"x", "y", "z", "t"};
    for (int i = 0; i < LACIS_SWEEP_PLACES; i++)
        if (lacis_sweep_same_word(name, word[i])) return LACIS_SWEEP_X - i;
    return 0;
}

static lacis_status check_place(lacis_run *run, const lacis_sweep_work *work, const lacis_expr_slot *slot, int place)
{
    const int axis = LACIS_SWEEP_X - place;
    if (slot->offset[0] != 0 || slot->offset[1] != 0 || slot->offset[2] != 0)
        return lacis_run_fail_at(run, LACIS_SYNTAX, slot->place, NULL, "%s is the cell's own and has no offsets",
                                 slot->name);
    if (place != LACIS_SWEEP_T && axis >= work->grid.dims)
        return lacis_run_fail_at(run, LACIS_NAME, slot->place, NULL, "there is no %s in a grid of %d dimension%s",
                                 slot->name, work->grid.dims, work->grid.dims == 1 ? "" : "s");
    return LACIS_OK;
}

static lacis_status check_cell(lacis_run *run, const lacis_sweep_work *work, const lacis_expr_slot *slot)
{
    if (slot->offsets > work->grid.dims)
        return lacis_run_fail_at(run, LACIS_SYNTAX, slot->place, NULL,
                                 "%s has %d offsets; the grid has %d dimension%s", slot->name, slot->offsets,
                                 work->grid.dims, work->grid.dims == 1 ? "" : "s");
    for (int k = 0; k < 3; k++)
        if (slot->offset[k] < -LACIS_SWEEP_RADIUS || slot->offset[k] > LACIS_SWEEP_RADIUS)
            return lacis_run_fail_at(run, LACIS_RANGE, slot->place, NULL,
                                     "%s[%" PRId64 "%s] is too far off: a step reaches %d cells along each axis",
                                     slot->name, slot->offset[k], work->grid.dims > 1 ? " ..." : "",
                                     (int)LACIS_SWEEP_RADIUS);
    return LACIS_OK;
}

/* The array that a slot reads, or a place below 0. */
static lacis_status resolve(lacis_run *run, const lacis_sweep_work *work, const lacis_expr_slot *slot, int *out)
{
    *out = lacis_sweep_array(work, slot->name);
    if (*out >= 0) return check_cell(run, work, slot);
    *out = place_of(slot->name);
    if (*out != 0) return check_place(run, work, slot, *out);
    return lacis_run_fail_at(run, LACIS_NAME, slot->place, lacis_sweep_hint(run, work, slot->name, true),
                             "STEP: there is no %s", slot->name);
}

/* --- one formula -------------------------------------------------------------------------------------- */

typedef struct making {
    lacis_run *run;
    const lacis_sweep_work *work;
    lacis_sweep_formula *formula;
    int field, slots;
    const lacis_expr_slot *slot;
    int *means; /* of each slot: an array, or a place */
    double *weight;
    double constant;
    lacis_sweep_term *term;
    lacis_sweep_room room;
} making;

static lacis_status make_room(making *m)
{
    const uint64_t slots = (uint64_t)m->slots;
    LACIS_TRY(lacis_run_scratch(m->run, (slots + 1) * sizeof *m->means, &m->means));
    LACIS_TRY(lacis_run_scratch(m->run, (slots + 1) * sizeof *m->weight, &m->weight));
    LACIS_TRY(lacis_run_scratch(m->run, (slots + 1) * sizeof *m->term, &m->term));
    LACIS_TRY(lacis_run_scratch(m->run, (slots + 1) * sizeof *m->room.tap, &m->room.tap));
    LACIS_TRY(lacis_run_scratch(m->run, (slots + 1) * sizeof *m->room.weight, &m->room.weight));
    return lacis_run_scratch(m->run, (slots + 2) * sizeof *m->room.first, &m->room.first);
}

static lacis_status type_slots(making *m, lacis_expr *expr)
{
    lacis_dtype *dtype;
    LACIS_TRY(lacis_run_scratch(m->run, (uint64_t)(m->slots + 1) * sizeof *dtype, &dtype));
    for (int i = 0; i < m->slots; i++) {
        LACIS_TRY(resolve(m->run, m->work, &m->slot[i], &m->means[i]));
        dtype[i] = m->work->dtype;
    }
    LACIS_TRY(lacis_expr_type(m->run, expr, dtype, m->slots));
    if (lacis_expr_dtype(expr) == LACIS_C128)
        return lacis_run_fail_at(m->run, LACIS_TYPE, m->formula->offset, "re(...) or abs(...)",
                                 "STEP gives complex numbers; the grid's are real");
    return LACIS_OK;
}

static lacis_sweep_tap tap_of(const lacis_expr_slot *slot, int array)
{
    return (lacis_sweep_tap){(int8_t)array,
                             {(int8_t)slot->offset[0], (int8_t)slot->offset[1], (int8_t)slot->offset[2]}};
}

/* The first slot that reads this one's cell: a field may be called by two names. */
static int first_of(const making *m, int slot)
{
    const lacis_expr_slot *own = &m->slot[slot];
    for (int i = 0; i < slot; i++)
        if (m->means[i] == m->means[slot] && lacis_expr_uses(m->formula->expr, i) &&
            memcmp(m->slot[i].offset, own->offset, sizeof own->offset) == 0)
            return i;
    return slot;
}

/* A number of the run's type: 0 times one that is not would be NaN. */
static bool holds(const making *m, double value)
{
    return isfinite(m->work->type == LACIS_SWEEP_F32 ? (double)(float)value : value);
}

/* Whether it is a sum of weighted cells; its weights are kept then, a cell's all with its first slot. */
static bool weigh(making *m)
{
    bool linear = lacis_expr_affine(m->formula->expr, &m->constant, m->weight) && holds(m, m->constant);
    for (int i = 0; i < m->slots && linear; i++) {
        if (!lacis_expr_uses(m->formula->expr, i)) continue;
        const int first = first_of(m, i);
        if (first < i) m->weight[first] += m->weight[i];
        linear = m->means[i] >= 0 && holds(m, m->weight[first]);
    }
    return linear;
}

static void make_linear(making *m)
{
    int terms = 0;
    const int source = lacis_sweep_added(m->work, m->field);
    for (int i = 0; i < m->slots; i++)
        if (lacis_expr_uses(m->formula->expr, i) && first_of(m, i) == i)
            m->term[terms++] = (lacis_sweep_term){.tap = tap_of(&m->slot[i], m->means[i]), .weight = m->weight[i]};
    lacis_sweep_canonical(m->work->type, m->field, m->constant, m->term, terms, source, &m->room, &m->formula->rule);
    lacis_sweep_shape(&m->formula->rule, m->field, m->work->grid.dims, m->formula->shape,
                      (int)sizeof m->formula->shape);
}

/* Taps in the order of slots, SOURCE's behind them. */
static void make_written(making *m)
{
    int taps = 0;
    const int source = lacis_sweep_added(m->work, m->field);
    for (int i = 0; i < m->slots; i++) {
        const int means = m->means[i];
        if (!lacis_expr_uses(m->formula->expr, i)) {
            m->means[i] = LACIS_SWEEP_UNUSED;
        } else if (means >= 0) {
            m->room.tap[taps] = tap_of(&m->slot[i], means);
            m->means[i] = taps++;
        }
    }
    m->formula->source = source >= 0 ? taps : -1;
    if (source >= 0) m->room.tap[taps++] = (lacis_sweep_tap){.array = (int8_t)source};
    m->formula->slots = m->slots;
    m->formula->slot = m->means;
    m->formula->rule = (lacis_sweep_rule){.written = true, .taps = taps, .tap = m->room.tap};
}

/* What is most likely not meant, such as 1/4. */
static void warn(lacis_run *run, const lacis_expr *expr)
{
    int64_t place = -1;
    const char *pitfall = lacis_expr_pitfall(run, expr, &place);
    if (pitfall != NULL) lacis_run_note(run, LACIS_WARNING, "STEP: %s", pitfall);
}

static lacis_status make_formula(lacis_run *run, const lacis_sweep_work *work, int field, const lacis_item *item,
                                 lacis_sweep_formula *formula)
{
    making m = {.run = run, .work = work, .formula = formula, .field = field};
    *formula = (lacis_sweep_formula){.expr = item->expr, .source = -1, .offset = item->offset};
    m.slots = lacis_expr_slots(item->expr, &m.slot);
    warn(run, item->expr);
    LACIS_TRY(make_room(&m));
    LACIS_TRY(type_slots(&m, item->expr));
    if (weigh(&m))
        make_linear(&m);
    else
        make_written(&m);
    return LACIS_OK;
}

/* --- all of them -------------------------------------------------------------------------------------- */

/* STEP expr is that of the only field; STEP name = expr says which. */
static lacis_status which_field(lacis_run *run, const lacis_sweep_work *work, const lacis_arg *arg, int *out)
{
    const lacis_item *item = arg->item;
    *out = 0;
    if (item[0].integer == 0) {
        if (work->grid.fields == 1) return LACIS_OK;
        return lacis_run_fail_at(
            run, LACIS_SYNTAX, item[2].offset,
            lacis_run_text(run, "STEP %s = ..., %s = ...", work->grid.name[0], work->grid.name[1]),
            "the grid has %d fields: STEP says which is computed", work->grid.fields);
    }
    *out = lacis_sweep_field(work, item[1].text);
    if (*out >= 0) return LACIS_OK;
    return lacis_run_fail_at(run, LACIS_NAME, item[1].offset, lacis_sweep_hint(run, work, item[1].text, false),
                             "STEP: the grid has no field %s", item[1].text);
}

static bool reads(const lacis_sweep_work *work, int array)
{
    for (int field = 0; field < work->grid.fields; field++)
        for (int i = 0; i < work->formula[field].rule.taps; i++)
            if (work->formula[field].rule.tap[i].array == array) return true;
    return false;
}

/* A COEFF that is forgotten, or called as a number is (inf). */
static void warn_of_unread(lacis_run *run, const lacis_sweep_work *work)
{
    const int fields = work->grid.fields, source = lacis_sweep_added(work, 0),
              end = source >= 0 ? source : fields + work->coefficients;
    for (int i = fields; i < end; i++)
        if (!reads(work, i))
            lacis_run_note(run, LACIS_WARNING, "COEFF %s: STEP does not read it", work->array[i].name);
}

lacis_status lacis_sweep_bind_rules(lacis_run *run, const lacis_call *call, lacis_sweep_work *work)
{
    const lacis_arg *arg;
    bool said[LACIS_SWEEP_FIELDS] = {false};
    for (int from = 0, field; (arg = lacis_sweep_next(call, "STEP", &from)) != NULL;) {
        LACIS_TRY(which_field(run, work, arg, &field));
        if (said[field])
            return lacis_run_fail_at(run, LACIS_SYNTAX, arg->offset, NULL, "STEP says twice what %s becomes",
                                     work->grid.name[field]);
        said[field] = true;
        LACIS_TRY(make_formula(run, work, field, &arg->item[2], &work->formula[field]));
    }
    for (int i = 0; i < work->grid.fields; i++)
        if (!said[i])
            return lacis_run_fail_at(run, LACIS_SYNTAX, lacis_call_arg(call, "STEP")->offset,
                                     lacis_run_text(run, "%s = %s keeps it", lacis_expr_name(run, work->grid.name[i]),
                                                    lacis_expr_name(run, work->grid.name[i])),
                                     "STEP does not say what %s becomes", work->grid.name[i]);
    warn_of_unread(run, work);
    return LACIS_OK;
}
