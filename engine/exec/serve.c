/* SPDX-License-Identifier: Apache-2.0
 *
 * The other ranks' side of a shared call: binds what rank 0 sends and computes ranges of it, until rank 0 leaves.
 * Operands are kept for later calls, the longest unused going first where memory is short. Called by api/ranks.c.
 */
#include "exec/serve.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* ---------------------------------------------------------------------------- stopping when asked to */

struct watch {
    lacis_ranks *ranks;
    lacis_host *host;
    uint64_t number;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool over;
};

static void *watch_rank_0(void *arg)
{
    struct watch *watch = arg;
    const long step_ns = 2000000, second_ns = 1000000000;
    pthread_mutex_lock(&watch->lock);
    while (!watch->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += step_ns;
        until.tv_sec += until.tv_nsec / second_ns;
        until.tv_nsec %= second_ns;
        pthread_cond_timedwait(&watch->wake, &watch->lock, &until);
        if (watch->over) break;
        if (lacis_ranks_stop_wanted(watch->ranks, watch->number) || !lacis_ranks_alive(watch->ranks, 0))
            atomic_store(&watch->host->cancel, 1);
    }
    pthread_mutex_unlock(&watch->lock);
    return NULL;
}

static lacis_status compute(lacis_server *s, int64_t begin, int64_t end, lacis_array **out)
{
    if (s->failed.code != LACIS_OK) {
        s->run.host->error = s->failed;
        return s->failed.code;
    }
    if (s->stopped) return lacis_run_interrupted(&s->run);
    if (!s->bound) {
        lacis_status status = lacis_server_plan(s);
        if (status != LACIS_OK) lacis_server_unbind(s);
        LACIS_TRY(status);
    }
    if (end > s->call->units) end = s->call->units;
    if (begin < 0 || begin > end) return lacis_server_damaged(s);
    return lacis_plan_run(&s->run, s->plan, begin, end, out);
}

/* Rank 0 was told that what is kept for later can make room. */
static lacis_status compute_in_room(lacis_server *s, int64_t begin, int64_t end, lacis_array **out)
{
    lacis_status status = compute(s, begin, end, out);
    if (status != LACIS_LIMIT || s->failed.code != LACIS_OK || !lacis_hold_drop(&s->hold, s->at, s->slots))
        return status;
    lacis_server_unbind(s);
    while (lacis_hold_drop(&s->hold, s->at, s->slots))
        continue;
    return compute(s, begin, end, out);
}

/* Without a second thread a wish to stop is heard when the piece is done. */
static lacis_status compute_watched(lacis_server *s, int64_t begin, int64_t end, lacis_array **out)
{
    struct watch watch = {.ranks = s->ranks, .host = s->run.host, .number = s->number};
    pthread_t thread;
    atomic_store(&watch.host->cancel, 0);
    s->run.counters = 0;
    pthread_mutex_init(&watch.lock, NULL);
    pthread_cond_init(&watch.wake, NULL);
    bool watched = s->ranks->place.threaded && pthread_create(&thread, NULL, watch_rank_0, &watch) == 0;
    lacis_status status = compute_in_room(s, begin, end, out);
    if (watched) {
        pthread_mutex_lock(&watch.lock);
        watch.over = true;
        pthread_cond_signal(&watch.wake);
        pthread_mutex_unlock(&watch.lock);
        pthread_join(thread, NULL);
    }
    s->stopped |= atomic_load(&watch.host->cancel) != 0;
    pthread_cond_destroy(&watch.wake);
    pthread_mutex_destroy(&watch.lock);
    return status;
}

/* ------------------------------------------------------------------------------------------ answers */

static void put_outcome(lacis_wire *wire, lacis_status status, const lacis_error *error)
{
    lacis_wire_int(wire, status);
    if (status == LACIS_OK) return;
    lacis_wire_int(wire, error->offset);
    lacis_wire_text(wire, error->message);
    lacis_wire_text(wire, error->hint[0] == '\0' ? NULL : error->hint);
}

static void put_counters(lacis_wire *wire, const lacis_run *run)
{
    lacis_wire_int(wire, run->counters);
    for (int i = 0; i < run->counters; i++) {
        lacis_wire_text(wire, run->counter[i].what);
        lacis_wire_bytes(wire, &run->counter[i].figure, sizeof run->counter[i].figure);
    }
}

/* Also where the answer itself does not fit memory: then that is the answer. */
static lacis_status answer(lacis_server *s, lacis_talk kind, lacis_wire *wire)
{
    enum { SMALL = 2048 };
    char spare[SMALL];
    const lacis_message message = {(uint32_t)kind, s->number, wire->bytes};
    if (wire->status == LACIS_OK) return lacis_ranks_send(&s->run, s->ranks, 0, &message, wire->data);
    lacis_wire small = {.run = &s->run, .data = spare, .room = sizeof spare};
    const lacis_error *error = &s->run.host->error;
    put_outcome(&small, wire->status, error);
    const lacis_message failure = {(uint32_t)kind, s->number, small.bytes};
    return lacis_ranks_send(&s->run, s->ranks, 0, &failure, spare);
}

static lacis_status on_call(lacis_server *s, lacis_unwire *from, uint64_t number, lacis_buffer *body)
{
    uint64_t held = 0;
    lacis_server_close_call(s);
    lacis_host_ok(s->run.host);
    s->failed.code = LACIS_OK;
    s->stopped = false;
    s->number = number;
    s->message = lacis_buffer_retain(body);
    lacis_wire wire = {.run = &s->run};
    lacis_status status = lacis_server_take_call(s, from, &held);
    put_outcome(&wire, status, &s->run.host->error);
    lacis_wire_int(&wire, (int64_t)(lacis_run_memory_left(&s->run) + lacis_hold_bytes(&s->hold)));
    lacis_wire_int(&wire, (int64_t)held);
    status = answer(s, LACIS_TALK_HELD, &wire);
    lacis_wire_free(&wire);
    return status;
}

static lacis_status on_array(lacis_server *s, lacis_unwire *from, uint64_t slots, lacis_buffer *body)
{
    lacis_array *array;
    uint64_t number = (uint64_t)lacis_unwire_int(from);
    LACIS_TRY(lacis_unwire_array(&s->run, from, body, &array));
    for (int i = 0; i < s->slots; i++)
        if ((slots >> i & 1) != 0 && s->at[i] == NULL) s->at[i] = lacis_array_retain(array);
    if (number != 0) lacis_hold_keep(&s->hold, number, array, s->at, s->slots);
    lacis_array_release(array);
    return LACIS_OK;
}

static lacis_status send_answer(lacis_server *s)
{
    lacis_status status = answer(s, LACIS_TALK_RESULT, &s->answer);
    lacis_wire_free(&s->answer);
    return status;
}

/* The answer is sent when nothing else is to be done: rank 0 may be busy with a piece of its own for long. */
static lacis_status on_piece(lacis_server *s, lacis_unwire *from)
{
    const uint64_t share = 4; /* of memory that an answer may hold while the next piece is computed */
    lacis_array *result = NULL;
    int64_t begin = lacis_unwire_int(from), end = lacis_unwire_int(from);
    if (s->answer.data != NULL && s->answer.bytes > lacis_run_memory_left(&s->run) / share) LACIS_TRY(send_answer(s));
    lacis_status status =
        s->text != NULL && !from->bad ? compute_watched(s, begin, end, &result) : lacis_server_damaged(s);
    lacis_wire wire = {.run = &s->kept_run};
    put_outcome(&wire, status, &s->run.host->error);
    if (status == LACIS_OK) {
        put_counters(&wire, &s->run);
        lacis_wire_array(&wire, result);
    }
    lacis_array_release(result);
    status = s->answer.data != NULL ? send_answer(s) : LACIS_OK;
    s->answer = wire;
    return wire.status == LACIS_OK ? status : send_answer(s);
}

/* ---------------------------------------------------------------------- pieces that work together */

static const lacis_variant *variant_named(const lacis_call *call, const char *name)
{
    for (int i = 0; i < call->op->variant_count; i++)
        if (strcmp(call->op->variants[i]->name, name) == 0) return call->op->variants[i];
    return NULL;
}

static lacis_status compute_together(lacis_server *s, lacis_team *team, const char *name, lacis_unwire *from)
{
    if (s->failed.code != LACIS_OK) {
        s->run.host->error = s->failed;
        return s->failed.code;
    }
    team->brief_bytes = (uint64_t)lacis_unwire_int(from);
    if (team->brief_bytes > 0) team->brief = lacis_unwire_aligned(from, team->brief_bytes);
    if (from->bad) return lacis_server_damaged(s);
    LACIS_TRY(lacis_server_bind(s));
    const lacis_variant *variant = variant_named(s->call, name);
    if (variant == NULL || variant->together == NULL) return lacis_server_damaged(s);
    return variant->together(&s->run, s->call);
}

/* The run's own thread looks for wishes to stop, as it talks between steps anyhow. */
static lacis_status on_together(lacis_server *s, lacis_unwire *from)
{
    lacis_team team;
    const bool born = lacis_unwire_int(from) != 0;
    const int64_t pieces = lacis_unwire_int(from);
    const char *name = lacis_unwire_text(from);
    if (from->bad || name == NULL || pieces > s->ranks->place.size) return lacis_server_damaged(s);
    lacis_server_unbind(s);
    atomic_store(&s->run.host->cancel, 0);
    s->run.counters = 0;
    lacis_team_open(&team, &s->run, s->ranks, s->number, s->ranks->place.rank, (int)pieces);
    lacis_status status = born ? compute_together(s, &team, name, from) : LACIS_INTERRUPT;
    status = lacis_team_end(&team, status);
    lacis_team_close(&team);
    lacis_wire wire = {.run = &s->kept_run};
    put_outcome(&wire, status, &s->run.host->error);
    if (status == LACIS_OK) put_counters(&wire, &s->run);
    lacis_server_unbind(s);
    status = answer(s, LACIS_TALK_RESULT, &wire);
    lacis_wire_free(&wire);
    return status;
}

/* ------------------------------------------------------------------------------------------ the loop */

/* The places that an array is about to take are emptied first: two of a kind may not fit. */
static void make_room(lacis_server *s, const lacis_message *head)
{
    lacis_server_unbind(s);
    for (int i = 0; i < s->slots; i++) {
        if ((head->number >> i & 1) == 0) continue;
        lacis_array_release(s->at[i]);
        s->at[i] = NULL;
    }
    while (lacis_run_memory_left(&s->run) / 2 < head->bytes && lacis_hold_drop(&s->hold, s->at, s->slots))
        continue;
}

static lacis_status take_message(lacis_server *s, const lacis_message *head)
{
    lacis_buffer *body;
    lacis_status status = lacis_ranks_body(&s->run, s->ranks, 0, head, &body);
    if (status == LACIS_OK) {
        lacis_unwire from = {.data = lacis_buffer_data(body), .bytes = head->bytes};
        switch ((lacis_talk)head->kind) {
        case LACIS_TALK_CALL:
            status = on_call(s, &from, head->number, body);
            break;
        case LACIS_TALK_ARRAY:
            status = on_array(s, &from, head->number, body);
            break;
        case LACIS_TALK_PIECE:
            status = on_piece(s, &from);
            break;
        case LACIS_TALK_TOGETHER:
            status = on_together(s, &from);
            break;
        default:
            status = lacis_server_damaged(s);
        }
        lacis_buffer_release(body);
    }
    /* An operand that cannot be taken is what the next piece is answered with. */
    bool operand = head->kind == LACIS_TALK_ARRAY && !s->ranks->broken;
    if (status == LACIS_OK || !operand) return status;
    s->failed = s->run.host->error;
    return LACIS_OK;
}

static lacis_status serve(lacis_server *s)
{
    for (;;) {
        lacis_message head;
        bool there;
        LACIS_TRY(lacis_ranks_there(&s->run, s->ranks, 0, &there));
        if (!there && s->answer.data != NULL) {
            LACIS_TRY(send_answer(s));
            continue;
        }
        LACIS_TRY(lacis_ranks_head(&s->run, s->ranks, 0, false, &head));
        if (head.kind == LACIS_TALK_END) return LACIS_OK;
        if (head.kind == LACIS_TALK_DONE) {
            lacis_server_close_call(s);
            continue;
        }
        if (head.kind == LACIS_TALK_ARRAY) make_room(s, &head);
        LACIS_TRY(take_message(s, &head));
    }
}

lacis_status lacis_exec_serve(lacis_world *world, lacis_ranks *ranks)
{
    lacis_server *s;
    lacis_run run;
    lacis_run_init(&run, world->host);
    LACIS_TRY(lacis_run_alloc(&run, sizeof *s, &s));
    memset(s, 0, sizeof *s);
    s->world = world;
    s->ranks = ranks;
    s->answer.run = &s->kept_run;
    s->own_limit = lacis_memory_limit(world->host->memory) / (uint64_t)ranks->place.local_size;
    lacis_run_init(&s->run, world->host);
    lacis_run_init(&s->kept_run, world->host);
    lacis_status status = serve(s);
    lacis_wire_free(&s->answer);
    lacis_server_close_call(s);
    while (lacis_hold_drop(&s->hold, NULL, 0))
        continue;
    lacis_run_free(&run, s);
    return status;
}
