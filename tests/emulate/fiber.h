/* SPDX-License-Identifier: Apache-2.0
 *
 * Fibers: a stack each, switched by hand on x86-64 (six registers), by ucontext elsewhere. Used by scheduler.cpp.
 */
#ifndef LACIS_EMULATE_FIBER_H
#define LACIS_EMULATE_FIBER_H

#include <stddef.h>

namespace emulate
{

struct fiber {
    void *place = nullptr;  /* stack pointer, or ucontext_t, while it does not run */
    char *top = nullptr;    /* where its stack begins */
    char *stack = nullptr;  /* lowest address; NULL: the program's own */
    void *fake = nullptr;   /* AddressSanitizer's */
    fiber *after = nullptr; /* in the pool */
};

fiber *fiber_take(); /* from a pool that only grows; a guard page lies below each stack */
void fiber_give(fiber *f);
void fiber_begin(fiber *f, void (*entry)());          /* f begins there when it is next switched to */
void fiber_switch(fiber *from, fiber *to, bool ends); /* ends: `from` is never switched to again before a begin */
void fiber_begun();                                   /* to be called first of all in an entry */

} /* namespace emulate */

#endif
