/* SPDX-License-Identifier: Apache-2.0 */
#include "fiber.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulate
{

#ifdef __SANITIZE_ADDRESS__
enum { STACK_BYTES = 512 << 10 };
#else
enum { STACK_BYTES = 128 << 10 };
#endif
enum { GUARD_BYTES = 4096 };

enum { COLOURS = 61, COLOUR_BYTES = 192 }; /* stacks begin apart, so that they do not share lines of the caches */

static fiber *pool;
static const void *main_bottom; /* of the program's own stack: AddressSanitizer tells it at the first switch */
static size_t main_bytes;

fiber *fiber_take()
{
    if (!pool) {
        char *const at = (char *)mmap(NULL, STACK_BYTES + GUARD_BYTES, PROT_READ | PROT_WRITE,
                                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (at == MAP_FAILED || mprotect(at, GUARD_BYTES, PROT_NONE) != 0) {
            perror("emulate: no memory for stacks");
            abort();
        }
        static unsigned made;
        fiber *const f = new fiber;
        f->top = at + GUARD_BYTES + STACK_BYTES - made++ % COLOURS * COLOUR_BYTES;
        f->stack = at + GUARD_BYTES;
        return f;
    }
    fiber *const f = pool;
    pool = f->after;
    return f;
}

void fiber_give(fiber *f)
{
    f->after = pool;
    pool = f;
}

/* --- the switch -------------------------------------------------------------------------------------- */

#ifdef __x86_64__
extern "C" void emulate_switch(void **save, void *to);
asm(".text\n"
    ".p2align 4\n"
    ".globl emulate_switch\n"
    ".type emulate_switch, @function\n"
    "emulate_switch:\n"
    "    pushq %rbp\n"
    "    pushq %rbx\n"
    "    pushq %r12\n"
    "    pushq %r13\n"
    "    pushq %r14\n"
    "    pushq %r15\n"
    "    movq %rsp, (%rdi)\n"
    "    movq %rsi, %rsp\n"
    "    popq %r15\n"
    "    popq %r14\n"
    "    popq %r13\n"
    "    popq %r12\n"
    "    popq %rbx\n"
    "    popq %rbp\n"
    "    ret\n"
    ".size emulate_switch, .-emulate_switch\n");

void fiber_begin(fiber *f, void (*entry)())
{
    void **const top = (void **)f->top;
    for (int i = 1; i <= 8; i++)
        top[-i] = NULL;
    top[-2] = (void *)entry; /* what the switch returns to; the stack is then as behind a call */
    f->place = top - 8;
}

static void change(fiber *from, fiber *to)
{
    emulate_switch(&from->place, to->place);
}
#else
} /* namespace emulate */
#include <ucontext.h>
namespace emulate
{

static ucontext_t *context(fiber *f)
{
    if (!f->place) f->place = calloc(1, sizeof(ucontext_t));
    return (ucontext_t *)f->place;
}

void fiber_begin(fiber *f, void (*entry)())
{
    ucontext_t *const c = context(f);
    getcontext(c);
    c->uc_stack.ss_sp = f->stack;
    c->uc_stack.ss_size = (size_t)(f->top - f->stack);
    makecontext(c, entry, 0);
}

static void change(fiber *from, fiber *to)
{
    swapcontext(context(from), context(to));
}
#endif

#ifdef __SANITIZE_ADDRESS__
static fiber *leaving;

/* Behind a switch: what the sanitizer has kept for the fiber that now runs. */
static void arrived(fiber *f)
{
    const void *bottom;
    size_t bytes;
    __sanitizer_finish_switch_fiber(f ? f->fake : NULL, &bottom, &bytes);
    if (!leaving->stack) {
        main_bottom = bottom;
        main_bytes = bytes;
    }
}

void fiber_begun()
{
    arrived(NULL);
}

void fiber_switch(fiber *from, fiber *to, bool ends)
{
    leaving = from;
    __sanitizer_start_switch_fiber(ends ? NULL : &from->fake, to->stack ? to->stack : main_bottom,
                                   to->stack ? (size_t)STACK_BYTES : main_bytes);
    change(from, to);
    arrived(from);
}
#else
void fiber_begun()
{
}

void fiber_switch(fiber *from, fiber *to, bool)
{
    change(from, to);
}
#endif

} /* namespace emulate */
