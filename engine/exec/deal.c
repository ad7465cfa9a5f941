/* SPDX-License-Identifier: Apache-2.0
 *
 * Rank 0's side of a call that several ranks share: asks the others what they hold, sends what they lack, and gives
 * one piece after the other to whoever is free, itself included. Variants with `ranks` set call lacis_run_deal.
 */
#include "exec/dealing.h"

#include <string.h>

lacis_status lacis_dealing_send(lacis_dealing *d, int to, lacis_talk kind, uint64_t number, lacis_wire *wire)
{
    const lacis_message message = {(uint32_t)kind, number, wire->bytes};
    lacis_status status = wire->status;
    if (status == LACIS_OK) status = lacis_ranks_send(d->run, d->ranks, to, &message, wire->data);
    d->sent += (double)wire->bytes;
    return status;
}

/* ----------------------------------------------------------------------------------------- the call */

static void put_restriction(lacis_wire *wire, const lacis_restriction *r)
{
    lacis_wire_int(wire, r != NULL);
    if (r == NULL) return;
    lacis_wire_bytes(wire, r, sizeof *r);
    if (r->list != NULL) lacis_wire_bytes(wire, r->list, sizeof *r->list * (uint64_t)r->count);
}

static void put_bindings(lacis_wire *wire, const lacis_bindings *bindings)
{
    lacis_wire_int(wire, bindings == NULL ? 0 : bindings->count);
    for (int i = 0; bindings != NULL && i < bindings->count; i++) {
        const lacis_binding *value = &bindings->value[i];
        lacis_wire_text(wire, value->name);
        lacis_wire_int(wire, value->type);
        lacis_wire_int(wire, value->integer);
        lacis_wire_bytes(wire, &value->real, sizeof value->real);
        lacis_wire_text(wire, value->text);
    }
}

static void put_call(const lacis_dealing *d, lacis_wire *wire)
{
    const lacis_host *host = d->run->host;
    lacis_wire_int(wire, host->deterministic);
    lacis_wire_int(wire, host->threads_asked);
    lacis_wire_int(wire, (int64_t)host->gpu_limit);
    lacis_wire_int(wire, (int64_t)host->ranks_memory);
    lacis_wire_int(wire, d->deal->device == LACIS_GPU ? LACIS_ON_GPU : LACIS_ON_CPU);
    put_restriction(wire, d->call->restriction);
    lacis_wire_text(wire, d->call->text);
    put_bindings(wire, d->call->bindings);
    for (int i = 0; d->deal->without != NULL && d->deal->without[i] != NULL; i++)
        lacis_wire_text(wire, d->deal->without[i]);
    lacis_wire_text(wire, NULL);
    lacis_wire_int(wire, d->slots);
    for (int i = 0; i < d->slots; i++)
        lacis_wire_int(wire, (int64_t)lacis_array_number(d->slot[i]->array));
}

static lacis_status send_call(lacis_dealing *d)
{
    lacis_wire wire = {.run = d->run};
    lacis_status status = LACIS_OK;
    put_call(d, &wire);
    for (int rank = 1; rank < d->ranks->place.size && status == LACIS_OK; rank++)
        status = lacis_dealing_send(d, rank, LACIS_TALK_CALL, d->number, &wire);
    lacis_wire_free(&wire);
    return status;
}

/* ------------------------------------------------------------------------------------------ answers */

/* The next message of a rank, which must be of that kind; its bytes in *body. */
static lacis_status hear(lacis_dealing *d, int rank, lacis_talk kind, lacis_buffer **body, lacis_unwire *out)
{
    lacis_message head;
    *body = NULL;
    LACIS_TRY(lacis_ranks_head(d->run, d->ranks, rank, false, &head));
    LACIS_TRY(lacis_ranks_body(d->run, d->ranks, rank, &head, body));
    d->received += (double)head.bytes;
    *out = (lacis_unwire){.data = lacis_buffer_data(*body), .bytes = head.bytes};
    if (head.kind == (uint32_t)kind && head.number == d->number) return LACIS_OK;
    lacis_buffer_release(*body);
    *body = NULL;
    d->ranks->broken = true;
    snprintf(d->ranks->reason, sizeof d->ranks->reason, "rank %d answered what was not asked", rank);
    return lacis_run_fail(d->run, LACIS_UNSUPPORTED, "%s", d->ranks->reason);
}

/* Every answer begins with how it went. A place in the text is one in the call's. */
static lacis_status outcome(lacis_dealing *d, int rank, lacis_unwire *from)
{
    lacis_status status = (lacis_status)lacis_unwire_int(from);
    if (status == LACIS_OK && !from->bad) return LACIS_OK;
    int64_t offset = lacis_unwire_int(from);
    const char *message = lacis_unwire_text(from), *hint = lacis_unwire_text(from);
    if (from->bad || message == NULL)
        return lacis_run_fail(d->run, LACIS_UNSUPPORTED, "rank %d answered nonsense", rank);
    if (offset >= 0) offset += d->call->offset;
    if (status == LACIS_LIMIT)
        hint = "SET ranks_memory_limit gives the other ranks more, SET ranks = off leaves them out";
    bool anybody = status != LACIS_LIMIT && status != LACIS_NOMEM && status != LACIS_UNSUPPORTED;
    if (anybody) return lacis_run_fail_at(d->run, status, offset, hint, "%s", message);
    return lacis_run_fail_at(d->run, status, offset, hint, "rank %d: %s", rank, message);
}

static lacis_status hear_held(lacis_dealing *d, int rank, uint64_t *room)
{
    lacis_buffer *body;
    lacis_unwire from;
    LACIS_TRY(hear(d, rank, LACIS_TALK_HELD, &body, &from));
    lacis_status status = outcome(d, rank, &from);
    if (status == LACIS_OK) {
        uint64_t own = (uint64_t)lacis_unwire_int(&from), held = (uint64_t)lacis_unwire_int(&from);
        if (own < *room) *room = own;
        for (int i = 0; i < d->slots; i++)
            if ((held >> i & 1) != 0) d->worker[rank].at[i] = lacis_array_retain(d->slot[i]->array);
    }
    lacis_buffer_release(body);
    return status;
}

/* All answer, also where one fails. */
static lacis_status ask(lacis_dealing *d, uint64_t *room)
{
    lacis_status status = LACIS_OK;
    lacis_error why = d->run->host->error;
    *room = UINT64_MAX;
    LACIS_TRY(send_call(d));
    for (int rank = 1; rank < d->ranks->place.size; rank++) {
        lacis_status one = hear_held(d, rank, room);
        if (one == LACIS_OK || status != LACIS_OK) continue;
        status = one;
        why = d->run->host->error;
    }
    if (status != LACIS_OK) d->run->host->error = why;
    return status;
}

/* ------------------------------------------------------------------------------------------- pieces */

/* Puts the array in the place of every operand in `slots`. number 0: not to be kept. */
static lacis_status send_array(lacis_dealing *d, int rank, uint64_t slots, uint64_t number, const lacis_array *array)
{
    lacis_wire wire = {.run = d->run};
    lacis_wire_int(&wire, (int64_t)number);
    lacis_wire_array(&wire, array);
    lacis_status status = lacis_dealing_send(d, rank, LACIS_TALK_ARRAY, slots, &wire);
    lacis_wire_free(&wire);
    return status;
}

/* The operands of a piece; each is held. */
lacis_status lacis_dealing_operands(lacis_dealing *d, int64_t piece, lacis_array *wanted[LACIS_SLOTS])
{
    for (int i = 0; i < d->slots; i++) {
        LACIS_TRY(d->deal->operand(d->deal->context, d->run, piece, d->slot[i], &wanted[i]));
        if (wanted[i] == NULL) wanted[i] = lacis_array_retain(d->slot[i]->array);
    }
    return LACIS_OK;
}

lacis_status lacis_dealing_give(lacis_dealing *d, int rank, lacis_array *wanted[LACIS_SLOTS])
{
    lacis_array **at = d->worker[rank].at;
    for (int i = 0; i < d->slots; i++) {
        uint64_t slots = 0;
        if (at[i] == wanted[i]) continue;
        for (int j = i; j < d->slots; j++) {
            if (wanted[j] != wanted[i]) continue;
            slots |= (uint64_t)1 << j;
            lacis_array_release(at[j]);
            at[j] = lacis_array_retain(wanted[i]);
        }
        bool whole = wanted[i] == d->slot[i]->array;
        LACIS_TRY(send_array(d, rank, slots, whole ? lacis_array_number(wanted[i]) : 0, wanted[i]));
        if (whole && !lacis_run_ranks_hold(d->run, wanted[i]))
            d->ranks->sent[d->ranks->sends++ % LACIS_RANKS_SENT] = lacis_array_number(wanted[i]);
    }
    return LACIS_OK;
}

static lacis_status give_piece(lacis_dealing *d, int rank)
{
    lacis_array *wanted[LACIS_SLOTS] = {NULL};
    lacis_wire wire = {.run = d->run};
    int64_t piece = d->next, begin, end;
    lacis_status status = lacis_dealing_operands(d, piece, wanted);
    if (status == LACIS_OK) status = lacis_dealing_give(d, rank, wanted);
    if (status == LACIS_OK) {
        d->deal->range(d->deal->context, piece, &begin, &end);
        lacis_wire_int(&wire, begin);
        lacis_wire_int(&wire, end);
        status = lacis_dealing_send(d, rank, LACIS_TALK_PIECE, d->number, &wire);
    }
    if (status == LACIS_OK) {
        d->worker[rank].piece[d->worker[rank].busy++] = piece;
        d->next++;
    }
    lacis_wire_free(&wire);
    for (int i = 0; i < d->slots; i++)
        lacis_array_release(wanted[i]);
    return status;
}

/* Figures of all ranks add up. */
static void take_counters(lacis_run *run, lacis_unwire *from)
{
    int64_t count = lacis_unwire_int(from);
    for (int64_t i = 0; i < count && !from->bad; i++) {
        double figure = 0;
        const char *what = lacis_unwire_text(from);
        const void *data = lacis_unwire_bytes(from, sizeof figure);
        if (data == NULL || what == NULL) return;
        memcpy(&figure, data, sizeof figure);
        lacis_run_count(run, what, figure);
    }
}

lacis_status lacis_dealing_take(lacis_dealing *d, int rank, bool wanted)
{
    lacis_buffer *body;
    lacis_unwire from;
    lacis_array *result = NULL;
    lacis_worker *worker = &d->worker[rank];
    int64_t piece = worker->piece[0];
    memmove(worker->piece, worker->piece + 1, sizeof piece * (LACIS_PIECES_AHEAD - 1));
    worker->busy--;
    LACIS_TRY(hear(d, rank, LACIS_TALK_RESULT, &body, &from));
    lacis_status status = outcome(d, rank, &from);
    if (status == LACIS_OK && wanted) take_counters(d->run, &from);
    const bool array = wanted && d->deal->together == NULL;
    if (status == LACIS_OK && array) status = lacis_unwire_array(d->run, &from, body, &result);
    if (status == LACIS_OK && array) status = d->deal->take(d->deal->context, d->run, piece, result);
    lacis_array_release(result);
    lacis_buffer_release(body);
    d->done++;
    return status;
}

/* Whether that rank should have one more piece now. */
static lacis_status wants_piece(lacis_dealing *d, int rank, bool *yes)
{
    const lacis_worker *worker = &d->worker[rank];
    *yes = worker->busy == 0 && d->next < d->pieces;
    if (worker->busy == 0 || worker->busy == LACIS_PIECES_AHEAD || d->pieces - d->next <= d->ranks->place.size)
        return LACIS_OK;
    lacis_array *wanted[LACIS_SLOTS] = {NULL};
    lacis_status status = lacis_dealing_operands(d, d->next, wanted);
    *yes = status == LACIS_OK;
    for (int i = 0; i < d->slots; i++) {
        *yes &= worker->at[i] == wanted[i];
        lacis_array_release(wanted[i]);
    }
    return status;
}

/* Takes what has come and keeps everybody busy. *moved: something happened. */
static lacis_status look_round(lacis_dealing *d, bool *moved, int *busy)
{
    *busy = 0;
    for (int rank = 1; rank < d->ranks->place.size; rank++) {
        bool there = false;
        bool more = true;
        if (d->worker[rank].busy > 0) LACIS_TRY(lacis_ranks_there(d->run, d->ranks, rank, &there));
        if (there) LACIS_TRY(lacis_dealing_take(d, rank, true));
        while (more) {
            LACIS_TRY(wants_piece(d, rank, &more));
            if (more) LACIS_TRY(give_piece(d, rank));
        }
        *busy += d->worker[rank].busy;
        *moved |= there;
    }
    return LACIS_OK;
}

static lacis_status all_alive(lacis_dealing *d)
{
    for (int rank = 1; rank < d->ranks->place.size; rank++)
        if (d->worker[rank].busy > 0 && !lacis_ranks_alive(d->ranks, rank))
            return lacis_run_fail(d->run, LACIS_UNSUPPORTED, "%s; the other ranks are not used any more",
                                  d->ranks->reason);
    return LACIS_OK;
}

static lacis_status work_off(lacis_dealing *d)
{
    unsigned pause = 0, looks = 0;
    int busy;
    for (;;) {
        bool moved = false;
        if (lacis_run_cancelled(d->run)) return lacis_run_interrupted(d->run);
        LACIS_TRY(look_round(d, &moved, &busy));
        if (d->next < d->pieces) {
            LACIS_TRY(d->deal->own(d->deal->context, d->run, d->next++));
            d->done++;
            moved = true;
        } else if (busy == 0) {
            return LACIS_OK;
        }
        lacis_run_advance(d->run, d->call->op->verb, (double)d->done, (double)d->pieces, "pieces");
        if (moved) pause = 0;
        if (!moved) lacis_ranks_pause(&pause);
        const unsigned now_and_then = 256;
        if (++looks % now_and_then == 0) LACIS_TRY(all_alive(d));
    }
}

/* After a failure: what is still computed is stopped and thrown away. The error stays the first. */
static void stop_all(lacis_dealing *d)
{
    const lacis_error why = d->run->host->error;
    for (int rank = 1; rank < d->ranks->place.size; rank++)
        if (d->worker[rank].busy > 0) lacis_ranks_stop(d->ranks, rank, d->number);
    for (int rank = 1; rank < d->ranks->place.size; rank++)
        while (d->worker[rank].busy > 0 && !d->ranks->broken)
            lacis_dealing_take(d, rank, false);
    d->run->host->error = why;
}

static void finish(lacis_dealing *d)
{
    const lacis_message done = {LACIS_TALK_DONE, d->number, 0};
    const lacis_error why = d->run->host->error;
    for (int rank = 1; rank < d->ranks->place.size; rank++) {
        if (!d->ranks->broken) lacis_ranks_send(d->run, d->ranks, rank, &done, NULL);
        for (int i = 0; i < d->slots; i++)
            lacis_array_release(d->worker[rank].at[i]);
    }
    d->run->host->error = why;
    lacis_run_free(d->run, d->worker);
}

static lacis_status deal_call(lacis_dealing *d)
{
    uint64_t room;
    LACIS_TRY(ask(d, &room));
    LACIS_TRY(d->deal->plan(d->deal->context, d->run, room, &d->pieces));
    lacis_status status = d->deal->together != NULL ? lacis_deal_together(d) : work_off(d);
    if (status != LACIS_OK) stop_all(d);
    lacis_run_count(d->run, "ranks", d->ranks->place.size);
    lacis_run_count(d->run, "pieces", (double)d->pieces);
    lacis_run_count(d->run, "bytes to ranks", d->sent);
    lacis_run_count(d->run, "bytes from ranks", d->received);
    return status;
}

lacis_status lacis_run_deal(lacis_run *run, const lacis_call *call, const lacis_deal *deal)
{
    lacis_dealing d = {.run = run, .call = call, .deal = deal, .ranks = run->host->ranks};
    if (lacis_run_ranks(run) == 1 || call->text == NULL)
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "there are no other ranks");
    if (!lacis_call_slots(call, d.slot, &d.slots))
        return lacis_run_fail(run, LACIS_UNSUPPORTED, "more than %d operands are not dealt", LACIS_SLOTS);
    uint64_t bytes = sizeof *d.worker * (uint64_t)d.ranks->place.size;
    LACIS_TRY(lacis_run_alloc(run, bytes, &d.worker));
    memset(d.worker, 0, bytes);
    d.number = ++d.ranks->calls;
    lacis_status status = deal_call(&d);
    finish(&d);
    return status;
}
