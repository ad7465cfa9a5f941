/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers in memory (cuda_awbarrier_primitives.h): so many arrivals end a phase. A wait that is not over lets other
 * lanes run and answers false.
 */
#ifndef LACIS_EMULATE_MBARRIER_H
#define LACIS_EMULATE_MBARRIER_H

#include "lane.h"

typedef uint64_t __mbarrier_t;
typedef uint64_t __mbarrier_token_t;

namespace emulate
{

enum { MBARRIER_MARK = 0xb5a7 }; /* tells one that was begun from what memory holds otherwise */
struct mbarrier_state {
    uint16_t mark, phase, wanted, left;
};
static_assert(sizeof(mbarrier_state) == sizeof(__mbarrier_t), "a state is a barrier");

static inline mbarrier_state *mbarrier_of(__mbarrier_t *b, place here)
{
    mbarrier_state *const s = (mbarrier_state *)b;
    if (s->mark != MBARRIER_MARK) fail(here, "an mbarrier that was not begun");
    return s;
}

} /* namespace emulate */

static inline void __mbarrier_init(__mbarrier_t *b, uint32_t count, EMULATE_HERE)
{
    if (count == 0 || count > 65535) emulate::fail(here, "an mbarrier of %u arrivals", count);
    const emulate::mbarrier_state s = {emulate::MBARRIER_MARK, 0, (uint16_t)count, (uint16_t)count};
    memcpy(b, &s, sizeof s);
}
static inline void __mbarrier_inval(__mbarrier_t *b)
{
    *b = 0;
}
static inline __mbarrier_token_t __mbarrier_arrive(__mbarrier_t *b, EMULATE_HERE)
{
    emulate::may_turn();
    emulate::mbarrier_state *const s = emulate::mbarrier_of(b, here);
    const __mbarrier_token_t token = s->phase;
    if (--s->left == 0) {
        s->phase ^= 1;
        s->left = s->wanted;
        emulate::progress();
    }
    return token;
}
static inline bool __mbarrier_test_wait_parity(__mbarrier_t *b, bool parity, EMULATE_HERE)
{
    emulate::may_turn();
    return emulate::mbarrier_of(b, here)->phase != (uint16_t)parity;
}
static inline bool __mbarrier_try_wait_parity(__mbarrier_t *b, bool parity, uint32_t = 0, EMULATE_HERE)
{
    if (emulate::mbarrier_of(b, here)->phase == (uint16_t)parity) emulate::turn(here);
    return emulate::mbarrier_of(b, here)->phase != (uint16_t)parity;
}
static inline bool __mbarrier_test_wait(__mbarrier_t *b, __mbarrier_token_t token, EMULATE_HERE)
{
    return __mbarrier_test_wait_parity(b, token != 0, here);
}
static inline bool __mbarrier_try_wait(__mbarrier_t *b, __mbarrier_token_t token, uint32_t ns = 0, EMULATE_HERE)
{
    return __mbarrier_try_wait_parity(b, token != 0, ns, here);
}

#endif
