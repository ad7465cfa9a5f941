/* SPDX-License-Identifier: Apache-2.0
 *
 * Barriers and what lanes of a warp do together. Lanes that a mask names but that have ended count as come.
 */
#ifndef LACIS_EMULATE_WARP_H
#define LACIS_EMULATE_WARP_H

#include "lane.h"

/* --- the block -------------------------------------------------------------------------------------- */

static inline void __syncthreads(EMULATE_HERE)
{
    emulate::barrier(0, 0, false, true, here);
}
static inline int __syncthreads_count(int p, EMULATE_HERE)
{
    return (int)emulate::barrier(0, 0, p != 0, true, here);
}
static inline int __syncthreads_or(int p, EMULATE_HERE)
{
    return emulate::barrier(0, 0, p != 0, true, here) != 0;
}
static inline int __syncthreads_and(int p, EMULATE_HERE)
{
    return emulate::barrier(0, 0, p == 0, true, here) == 0;
}

/* Fences order what a lane writes; lanes run one at a time, so order holds anyway. */
static inline void __threadfence()
{
    emulate::may_turn();
}
static inline void __threadfence_block()
{
    emulate::may_turn();
}
static inline void __threadfence_system()
{
    emulate::may_turn();
}
static inline void __nanosleep(unsigned, EMULATE_HERE)
{
    emulate::turn(here);
}

/* --- the warp ---------------------------------------------------------------------------------------- */

namespace emulate
{

static inline unsigned of_all(unsigned width)
{
    return width == 32 ? ~0u : (1u << width) - 1;
}

/* The value that lane `from` brought. One that did not come brought nothing of meaning. */
template <class T> T take_from(meeting *m, unsigned from)
{
    T out;
    memset(&out, 0x5a, sizeof out);
    if (m->came >> from & 1) memcpy(&out, m->word[from], sizeof out);
    leave(m);
    return out;
}

template <class T> T shuffle(unsigned mask, T v, unsigned from, place here)
{
    static_assert(sizeof(T) <= 16, "shuffles move up to 16 bytes here");
    return take_from<T>(meet(mask, SHUFFLE, &v, sizeof v, here), from);
}

template <class T, class F> T reduce(unsigned mask, T v, place here, F f)
{
    meeting *m = meet(mask, REDUCE, &v, sizeof v, here);
    bool first = true;
    T out{};
    for (unsigned i = 0; i < 32; i++)
        if (m->came >> i & 1) {
            T x;
            memcpy(&x, m->word[i], sizeof x);
            out = first ? x : f(out, x);
            first = false;
        }
    leave(m);
    return out;
}

} /* namespace emulate */

static inline void __syncwarp(unsigned mask = ~0u, EMULATE_HERE)
{
    emulate::leave(emulate::meet(mask, emulate::SYNC, NULL, 0, here));
}
static inline unsigned __activemask()
{
    return 1u << emulate::lane_number(); /* what is promised: no more */
}

template <class T> T __shfl_sync(unsigned mask, T v, int source, int width = 32, EMULATE_HERE)
{
    const unsigned lane = emulate::lane_number(), base = lane & ~(unsigned)(width - 1);
    return emulate::shuffle(mask, v, base | ((unsigned)source & (unsigned)(width - 1)), here);
}
template <class T> T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, EMULATE_HERE)
{
    const unsigned lane = emulate::lane_number(), in = lane & (unsigned)(width - 1);
    return emulate::shuffle(mask, v, in >= delta ? lane - delta : lane, here);
}
template <class T> T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, EMULATE_HERE)
{
    const unsigned lane = emulate::lane_number(), in = lane & (unsigned)(width - 1);
    return emulate::shuffle(mask, v, in + delta < (unsigned)width ? lane + delta : lane, here);
}
template <class T> T __shfl_xor_sync(unsigned mask, T v, int turned, int width = 32, EMULATE_HERE)
{
    const unsigned lane = emulate::lane_number(), other = lane ^ (unsigned)turned;
    const bool within = (other & ~(unsigned)(width - 1)) <= (lane & ~(unsigned)(width - 1));
    return emulate::shuffle(mask, v, within ? other & 31 : lane, here);
}

static inline unsigned __ballot_sync(unsigned mask, int p, EMULATE_HERE)
{
    const uint64_t bit = p != 0;
    emulate::meeting *m = emulate::meet(mask, emulate::BALLOT, &bit, sizeof bit, here);
    unsigned out = 0;
    for (unsigned i = 0; i < 32; i++)
        if (m->came >> i & 1) out |= (unsigned)m->word[i][0] << i;
    emulate::leave(m);
    return out;
}
static inline int __any_sync(unsigned mask, int p, EMULATE_HERE)
{
    return __ballot_sync(mask, p, here) != 0;
}
static inline int __all_sync(unsigned mask, int p, EMULATE_HERE)
{
    return __ballot_sync(mask, !p, here) == 0;
}

template <class T> unsigned __match_any_sync(unsigned mask, T v, EMULATE_HERE)
{
    emulate::meeting *m = emulate::meet(mask, emulate::MATCH, &v, sizeof v, here);
    unsigned out = 0;
    for (unsigned i = 0; i < 32; i++)
        if ((m->came >> i & 1) && memcmp(m->word[i], &v, sizeof v) == 0) out |= 1u << i;
    emulate::leave(m);
    return out;
}
template <class T> unsigned __match_all_sync(unsigned mask, T v, int *all, EMULATE_HERE)
{
    emulate::meeting *m = emulate::meet(mask, emulate::MATCH, &v, sizeof v, here);
    unsigned out = m->came;
    for (unsigned i = 0; i < 32; i++)
        if ((m->came >> i & 1) && memcmp(m->word[i], &v, sizeof v) != 0) out = 0;
    emulate::leave(m);
    *all = out != 0;
    return out;
}

#define EMULATE_REDUCE(name, T, result)                                                                              \
    static inline T __reduce_##name##_sync(unsigned mask, T v, EMULATE_HERE)                                         \
    {                                                                                                                \
        return emulate::reduce(mask, v, here, [](T x, T y) -> T { return result; });                                 \
    }
EMULATE_REDUCE(add, unsigned, x + y)
EMULATE_REDUCE(min, unsigned, x < y ? x : y)
EMULATE_REDUCE(max, unsigned, x > y ? x : y)
EMULATE_REDUCE(and, unsigned, x &y)
EMULATE_REDUCE(or, unsigned, x | y)
EMULATE_REDUCE(xor, unsigned, x ^ y)
EMULATE_REDUCE(add, int, (int)((unsigned)x + (unsigned)y))
EMULATE_REDUCE(min, int, x < y ? x : y)
EMULATE_REDUCE(max, int, x > y ? x : y)
#undef EMULATE_REDUCE

#endif
