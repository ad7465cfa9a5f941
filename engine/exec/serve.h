/* SPDX-License-Identifier: Apache-2.0
 *
 * What another rank keeps of rank 0's calls, as serve.c and serve_call.c share it.
 */
#ifndef LACIS_EXEC_SERVE_H
#define LACIS_EXEC_SERVE_H

#include "core/team.h"
#include "exec/hold.h"
#include "exec/talk.h"

typedef struct lacis_server {
    lacis_world *world;
    lacis_ranks *ranks;
    uint64_t own_limit; /* of memory, where rank 0 does not say */
    lacis_hold hold;    /* operands for later calls */
    /* The present call as it was sent; texts are in `message`. */
    lacis_run kept_run;
    uint64_t number;
    lacis_buffer *message;
    const char *text;
    lacis_bindings bindings;
    lacis_placement on;
    const char *without[LACIS_SLOTS];
    int withouts;
    const lacis_restriction *restriction; /* NULL or the next */
    lacis_restriction restricted;
    /* The call bound: anew for other operands, with what that took. */
    lacis_run run;
    bool bound;
    lacis_call *call;
    lacis_plan *plan;
    lacis_item *slot[LACIS_SLOTS];
    int slots;
    lacis_array *at[LACIS_SLOTS]; /* operands, held */
    lacis_error failed;           /* an operand could not be taken */
    bool stopped;                 /* rank 0 does not want it any more */
    lacis_wire answer;            /* that waits until nothing else is to be done; data NULL: none */
} lacis_server;

lacis_status lacis_server_damaged(lacis_server *s); /* a message is */
/* The call as it was sent; *held: bits of the operands that are here. */
lacis_status lacis_server_take_call(lacis_server *s, lacis_unwire *from, uint64_t *held);
/* Binds it, all operands being there; and plans it, bound anew. */
lacis_status lacis_server_bind(lacis_server *s);
lacis_status lacis_server_plan(lacis_server *s);
void lacis_server_unbind(lacis_server *s);
void lacis_server_close_call(lacis_server *s);

#endif
