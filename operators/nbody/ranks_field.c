/* SPDX-License-Identifier: Apache-2.0
 *
 * The field of a system's bodies, computed in pieces by several ranks. A piece is a stretch of the curve. It is sent
 * as bodies of its own, those of the stretch and behind them the essential part of the tree, with a call of
 * ACCELERATE (LAST: by a tree, and by the accelerations that come along), of which the first bodies' rows are asked
 * for. Every rank, this one included, does the same with a piece, so that nothing depends on who was free.
 */
#include "nbody/ranks.h"

#include <string.h>

typedef struct spread {
    lacis_nbody_system *base; /* on the CPU */
    lacis_nbody_maker make;   /* of the systems of pieces */
    lacis_device device;
    /* While a field is computed: */
    lacis_nbody *system;
    bool potential;
    lacis_nbody_rule rule; /* of pieces, as others read it */
    int64_t pieces;
    lacis_array *ready; /* the bodies of the piece that is dealt next, where they have been made */
    int64_t ready_piece;
} spread;

static int64_t border(const spread *s, int64_t piece)
{
    const int64_t n = s->base->work->bodies.count;
    return n / s->pieces * piece + (piece < n % s->pieces ? piece : n % s->pieces);
}

/* ---------------------------------------------------------------------------------------- the call */

static bool own_eps(const lacis_nbody_work *work)
{
    return !work->common && work->bodies.eps != NULL;
}

/* THETA goes to the others as people write it. */
static void round_rule(spread *s, double *theta)
{
    s->rule = s->base->rule;
    *theta = s->rule.theta;
    if (s->rule.opening == LACIS_NBODY_GEOMETRIC) {
        *theta /= lacis_nbody_radius(&s->rule);
        s->rule.theta = *theta * lacis_nbody_radius(&s->rule);
    }
    lacis_nbody_fit_expansion(&s->rule);
}

static void write_call(spread *s, char *text, size_t size)
{
    static const char *const opening[] = {"geometric", "offset", "relative"};
    const lacis_nbody_work *work = s->base->work;
    char alpha[40] = "", soften[40] = "";
    double theta;
    round_rule(s, &theta);
    if (s->rule.opening == LACIS_NBODY_RELATIVE) snprintf(alpha, sizeof alpha, " ALPHA %.17g", s->rule.alpha);
    if (!own_eps(work)) snprintf(soften, sizeof soften, " SOFTEN %.17g", work->soften);
    snprintf(text, size, "ACCELERATE bodies THETA %.17g ORDER %s OPENING %s%s%s G %.17g%s TYPE %s LAST", theta,
             s->rule.order == LACIS_NBODY_QUADRUPOLE ? "quadrupole" : "monopole", opening[s->rule.opening], alpha,
             soften, work->g, s->potential ? " POTENTIAL" : "", lacis_nbody_type_name(work->type));
}

/* ------------------------------------------------------------------------------------------ pieces */

static lacis_status plan(void *context, lacis_run *run, uint64_t room, int64_t *pieces)
{
    spread *s = context;
    const lacis_nbody_work *work = s->base->work;
    const lacis_nbody_start start = lacis_nbody_start_of(work, LACIS_NBODY_TREE);
    const int64_t most = work->bodies.count;
    const double twice = 2, piece_bytes = twice * (double)lacis_nbody_bytes(&start);
    s->pieces = (int64_t)lacis_run_ranks(run) * LACIS_NBODY_PIECES;
    if (s->pieces > most) s->pieces = most;
    if (piece_bytes / (double)s->pieces > (double)room)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "pieces of the bodies do not fit the memory of every rank");
    *pieces = s->pieces;
    return LACIS_OK;
}

static lacis_status add_column(lacis_run *run, lacis_array *array, const char *name, lacis_dtype dtype, int64_t n,
                               void **data)
{
    lacis_buffer *buffer;
    LACIS_TRY(lacis_buffer_new(run, (uint64_t)n * lacis_dtype_size(dtype), &buffer));
    *data = lacis_buffer_data(buffer);
    lacis_status status = lacis_array_add(run, array, name, dtype, n, buffer, 0);
    lacis_buffer_release(buffer); /* the array keeps its own hold */
    return status;
}

/* |a| of the time before goes along as an acceleration of that size. */
static lacis_status columns_of(lacis_run *run, const lacis_nbody_essential *e, lacis_dtype dtype, lacis_array *array,
                               lacis_nbody_sources *to)
{
    void *still[2] = {NULL, NULL};
    const struct {
        const char *name;
        void **data;
        bool there;
    } column[] = {{"m", &to->m, true},       {"x", &to->x, true},       {"y", &to->y, true},
                  {"z", &to->z, true},       {"eps", &to->eps, e->eps}, {"ax", &to->old, e->old},
                  {"ay", &still[0], e->old}, {"az", &still[1], e->old}};
    for (int i = 0; i < LACIS_COUNT(column); i++)
        if (column[i].there) LACIS_TRY(add_column(run, array, column[i].name, dtype, e->n, column[i].data));
    for (int i = 0; i < 2 && e->old; i++)
        memset(still[i], 0, (size_t)e->n * lacis_dtype_size(dtype));
    return LACIS_OK;
}

static lacis_status make_bodies(const spread *s, lacis_run *run, int64_t piece, lacis_array **out)
{
    const lacis_dtype dtype = s->base->work->dtype;
    lacis_nbody_essential e;
    lacis_nbody_sources to = {NULL};
    lacis_array *array = NULL;
    const lacis_nbody_status made = lacis_nbody_essential_new(s->system, border(s, piece), border(s, piece + 1), &e);
    LACIS_TRY(lacis_nbody_said(run, made, 0));
    lacis_status status = lacis_array_new(run, LACIS_BODIES, dtype, e.n, 0, &array);
    if (status == LACIS_OK) status = columns_of(run, &e, dtype, array, &to);
    if (status == LACIS_OK) {
        lacis_nbody_essential_fill(&e, &to);
        lacis_run_count(run, "bodies sent", (double)e.n);
        *out = array;
    } else {
        lacis_array_release(array);
    }
    lacis_nbody_essential_free(&e);
    return status;
}

/* Asked for more than once until it has been dealt. */
static lacis_status operand(void *context, lacis_run *run, int64_t piece, const lacis_item *item, lacis_array **out)
{
    spread *s = context;
    (void)item;
    if (s->ready == NULL || s->ready_piece != piece) {
        lacis_array_release(s->ready);
        s->ready = NULL;
        LACIS_TRY(make_bodies(s, run, piece, &s->ready));
        s->ready_piece = piece;
    }
    *out = lacis_array_retain(s->ready);
    return LACIS_OK;
}

static void range(void *context, int64_t piece, int64_t *begin, int64_t *end)
{
    const spread *s = context;
    *begin = 0;
    *end = border(s, piece + 1) - border(s, piece);
}

static lacis_status take(void *context, lacis_run *run, int64_t piece, const lacis_array *result)
{
    static const char *const name[4] = {"ax", "ay", "az", "phi"};
    const spread *s = context;
    const int64_t first = border(s, piece), last = border(s, piece + 1);
    const void *column[4] = {NULL};
    for (int i = 0; i < 3 + s->potential; i++) {
        const lacis_part *part = lacis_array_part_named(result, name[i]);
        if (part == NULL || part->dtype != s->base->work->dtype || part->count != last - first)
            return lacis_run_fail(run, LACIS_UNSUPPORTED, "a rank answered with bodies that were not asked for");
        column[i] = part->data;
    }
    lacis_nbody_put(s->system, first, last, column, column[3]);
    return LACIS_OK;
}

static lacis_status own(void *context, lacis_run *run, int64_t piece)
{
    spread *s = context;
    lacis_nbody_work work = *s->base->work;
    lacis_call call = *s->base->call;
    lacis_array *bodies = NULL, *table = NULL;
    LACIS_TRY(operand(context, run, piece, NULL, &bodies));
    call.work = &work;
    work.array = bodies;
    work.accelerate = work.last = true;
    work.potential = s->potential;
    work.rule = s->rule;
    work.error = 0;
    work.certify = 0;
    lacis_status status = lacis_bodies_view(run, bodies, &work.bodies);
    if (status == LACIS_OK)
        status = lacis_nbody_run(run, &call, LACIS_NBODY_TREE, s->make, 0, border(s, piece + 1) - border(s, piece),
                                 &table);
    if (status == LACIS_OK) status = take(context, run, piece, table);
    lacis_array_release(table);
    lacis_array_release(bodies);
    return status;
}

/* ----------------------------------------------------------------------------------------- systems */

/* The others are told a call of their own, with one operand. */
static lacis_status deal_field(spread *s)
{
    enum { CALL_TEXT = 400 };
    char text[CALL_TEXT];
    lacis_arg arg;
    memset(&arg, 0, sizeof arg);
    arg.item[0].array = (lacis_array *)(uintptr_t)s->base->work->array;
    lacis_call call = *s->base->call;
    call.args = &arg;
    call.arg_count = 1;
    call.restriction = NULL;
    call.bindings = NULL;
    call.text = text;
    write_call(s, text, sizeof text);
    const lacis_deal deal = {.device = s->device,
                             .context = s,
                             .plan = plan,
                             .operand = operand,
                             .range = range,
                             .own = own,
                             .take = take};
    lacis_status status = lacis_run_deal(s->base->run, &call, &deal);
    lacis_array_release(s->ready);
    s->ready = NULL;
    return status;
}

static lacis_nbody_status share(void *context, lacis_nbody *system, bool potential)
{
    spread *s = context;
    s->system = system;
    s->potential = potential;
    s->base->failed = deal_field(s);
    return s->base->failed == LACIS_OK ? LACIS_NBODY_OK : LACIS_NBODY_CANCELLED;
}

static lacis_status spread_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                  lacis_nbody_maker make, lacis_device device, lacis_nbody_system **out)
{
    spread *s;
    LACIS_TRY(lacis_run_scratch(run, sizeof *s, &s));
    LACIS_TRY(lacis_nbody_cpu_system(run, call, input, LACIS_NBODY_TREE, out));
    *s = (spread){.base = *out, .make = make, .device = device};
    lacis_nbody_share_with(lacis_nbody_cpu_of(*out), share, s);
    return LACIS_OK;
}

lacis_status lacis_nbody_ranks_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                      lacis_nbody_way way, lacis_nbody_system **out)
{
    (void)way;
    return spread_system(run, call, input, lacis_nbody_cpu_system, LACIS_CPU, out);
}

lacis_status lacis_nbody_ranks_gpu_system(lacis_run *run, const lacis_call *call, const lacis_nbody_input *input,
                                          lacis_nbody_way way, lacis_nbody_system **out)
{
    (void)way;
    return spread_system(run, call, input, lacis_nbody_gpu_system, LACIS_GPU, out);
}
