/* SPDX-License-Identifier: Apache-2.0
 *
 * What ranks say to each other about a call: deal.c writes the questions and serve.c the answers. The number of a
 * message is that of the call; of an array the bits of the operands' places that it goes to.
 *
 *     rank 0                                   another rank
 *     CALL  settings, text, operands' numbers  HELD    what is there already, and how much room there is
 *     ARRAY an operand (more than once)
 *     PIECE a range of units                   RESULT  an array, or the error
 *     TOGETHER a piece of several that talk    RESULT  how it went, when all have ended (core/team.h)
 *     DONE
 *     END   (no call) rank 0 leaves
 */
#ifndef LACIS_EXEC_TALK_H
#define LACIS_EXEC_TALK_H

#include "core/ranks.h"
#include "core/wire.h"
#include "exec/exec.h"

typedef enum lacis_talk {
    LACIS_TALK_CALL = 1,
    LACIS_TALK_HELD,
    LACIS_TALK_ARRAY,
    LACIS_TALK_PIECE,
    LACIS_TALK_TOGETHER,
    LACIS_TALK_RESULT,
    LACIS_TALK_DONE,
    LACIS_TALK_END
} lacis_talk;

/* Operands of a call are counted in the order of its arguments. */
enum { LACIS_SLOTS = 8 };
/* The items that are arrays; false where there are more than LACIS_SLOTS. */
static inline bool lacis_call_slots(const lacis_call *call, lacis_item *slot[LACIS_SLOTS], int *count)
{
    *count = 0;
    for (int i = 0; i < call->arg_count; i++) {
        for (int j = 0; j < LACIS_ITEMS; j++) {
            lacis_item *item = &call->args[i].item[j];
            if (item->array == NULL && item->name == NULL && item->call == NULL) continue;
            if (*count == LACIS_SLOTS) return false;
            slot[(*count)++] = item;
        }
    }
    return true;
}

#endif
