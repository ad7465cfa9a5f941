/* SPDX-License-Identifier: Apache-2.0
 *
 * A shared call on another rank: taken apart as it was sent, bound to the operands that are held, planned. Called by
 * serve.c.
 */
#include "core/device.h"
#include "exec/serve.h"

#include <string.h>
#include <strings.h>

void lacis_server_unbind(lacis_server *s)
{
    if (s->bound) lacis_exec_unbind(&s->run, s->call);
    s->bound = false;
    s->call = NULL;
    lacis_run_clear(&s->run);
}

void lacis_server_close_call(lacis_server *s)
{
    lacis_server_unbind(s);
    for (int i = 0; i < LACIS_SLOTS; i++) {
        lacis_array_release(s->at[i]);
        s->at[i] = NULL;
    }
    lacis_run_clear(&s->kept_run);
    s->slots = s->withouts = 0;
    s->text = NULL;
    lacis_buffer_release(s->message);
    s->message = NULL;
}

lacis_status lacis_server_damaged(lacis_server *s)
{
    return lacis_run_fail(&s->run, LACIS_FORMAT, "a message of rank 0 is damaged");
}

static void take_settings(lacis_server *s, lacis_unwire *from)
{
    lacis_host *host = s->run.host;
    host->deterministic = lacis_unwire_int(from) != 0;
    int threads = (int)lacis_unwire_int(from);
    host->threads = threads > 0 ? threads : lacis_ranks_threads(s->ranks);
    uint64_t gpu = (uint64_t)lacis_unwire_int(from), memory = (uint64_t)lacis_unwire_int(from);
    if (gpu != host->gpu_limit) lacis_device_set_limit(host, gpu);
    lacis_memory_set_limit(host->memory, memory > 0 ? memory : s->own_limit);
}

static lacis_status take_restriction(lacis_server *s, lacis_unwire *from)
{
    lacis_restriction *r = &s->restricted;
    s->restriction = NULL;
    if (lacis_unwire_int(from) == 0) return LACIS_OK;
    const void *data = lacis_unwire_bytes(from, sizeof *r);
    if (data == NULL) return lacis_server_damaged(s);
    memcpy(r, data, sizeof *r);
    if (r->list != NULL) {
        if (r->count < 0 || (uint64_t)r->count > from->bytes / sizeof *r->list) return lacis_server_damaged(s);
        r->list = lacis_unwire_bytes(from, sizeof *r->list * (uint64_t)r->count);
        if (r->list == NULL) return lacis_server_damaged(s);
    }
    s->restriction = r;
    return LACIS_OK;
}

static lacis_status take_bindings(lacis_server *s, lacis_unwire *from)
{
    lacis_binding *value;
    int64_t count = lacis_unwire_int(from);
    if (from->bad || count < 0 || (uint64_t)count > from->bytes) return lacis_server_damaged(s);
    LACIS_TRY(lacis_run_scratch(&s->kept_run, sizeof *value * (uint64_t)count, &value));
    for (int64_t i = 0; i < count; i++) {
        value[i] = (lacis_binding){.name = lacis_unwire_text(from)};
        value[i].type = (lacis_type)lacis_unwire_int(from);
        value[i].integer = lacis_unwire_int(from);
        const void *real = lacis_unwire_bytes(from, sizeof value[i].real);
        if (real != NULL) memcpy(&value[i].real, real, sizeof value[i].real);
        value[i].text = lacis_unwire_text(from);
        if (from->bad || value[i].name == NULL) return lacis_server_damaged(s);
    }
    s->bindings = (lacis_bindings){value, (int)count};
    return LACIS_OK;
}

/* Clauses that rank 0 does itself. */
static void leave_out(lacis_call *call, const char *keyword)
{
    int kept = 0;
    for (int i = 0; i < call->arg_count; i++) {
        const char *own = call->op->params[call->args[i].param].keyword;
        if (own == NULL || strcasecmp(own, keyword) != 0) call->args[kept++] = call->args[i];
    }
    call->arg_count = kept;
}

static lacis_status parse(lacis_server *s)
{
    LACIS_TRY(lacis_lang_call(&s->run, s->world->registry, s->text, &s->bindings, &s->call));
    for (int i = 0; i < s->withouts; i++)
        leave_out(s->call, s->without[i]);
    s->call->on = s->on;
    s->call->restriction = s->restriction;
    return lacis_call_slots(s->call, s->slot, &s->slots) ? LACIS_OK : lacis_server_damaged(s);
}

lacis_status lacis_server_take_call(lacis_server *s, lacis_unwire *from, uint64_t *held)
{
    const char *without;
    take_settings(s, from);
    s->on = (lacis_placement)lacis_unwire_int(from);
    LACIS_TRY(take_restriction(s, from));
    s->text = lacis_unwire_text(from);
    LACIS_TRY(take_bindings(s, from));
    while ((without = lacis_unwire_text(from)) != NULL && s->withouts < LACIS_SLOTS)
        s->without[s->withouts++] = without;
    int64_t slots = lacis_unwire_int(from);
    if (s->text == NULL) return lacis_server_damaged(s);
    LACIS_TRY(parse(s));
    if (s->slots != slots) return lacis_server_damaged(s);
    for (int i = 0; i < s->slots; i++) {
        s->at[i] = lacis_hold_find(&s->hold, (uint64_t)lacis_unwire_int(from));
        if (s->at[i] == NULL) continue;
        *held |= (uint64_t)1 << i;
    }
    return from->bad ? lacis_server_damaged(s) : LACIS_OK;
}

lacis_status lacis_server_bind(lacis_server *s)
{
    LACIS_TRY(parse(s));
    s->bound = true;
    for (int i = 0; i < s->slots; i++) {
        if (s->at[i] == NULL) return lacis_server_damaged(s);
        s->slot[i]->array = lacis_array_retain(s->at[i]);
    }
    return s->call->op->bind(&s->run, s->call);
}

lacis_status lacis_server_plan(lacis_server *s)
{
    lacis_server_unbind(s);
    LACIS_TRY(lacis_server_bind(s));
    LACIS_TRY(lacis_run_scratch(&s->run, sizeof *s->plan, &s->plan));
    return lacis_plan_make(&s->run, s->call, s->world->profile, LACIS_STREAM, false, s->plan);
}
