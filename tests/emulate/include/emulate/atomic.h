/* SPDX-License-Identifier: Apache-2.0
 *
 * Atomics, and loads and stores with cache hints. Lanes run one at a time: a plain operation is atomic. Before each
 * another lane may run.
 */
#ifndef LACIS_EMULATE_ATOMIC_H
#define LACIS_EMULATE_ATOMIC_H

#include "lane.h"

#include <type_traits>

namespace emulate
{

template <class T> struct same { /* keeps a parameter out of deduction */
    typedef T type;
};
template <class T> using same_t = typename same<T>::type;

template <class T> inline void hold(const T *p)
{
    may_turn();
    progress();
    static_assert(std::is_trivially_copyable<T>::value, "atomics are of plain types");
    if ((uintptr_t)p % sizeof(T))
        fail({__builtin_FILE(), __builtin_LINE()}, "atomic at an odd address %p", (const void *)p);
}

} /* namespace emulate */

#define EMULATE_ATOMIC(name, next)                                                                                   \
    template <class T> inline T name(T *p, emulate::same_t<T> v)                                                     \
    {                                                                                                                \
        emulate::hold(p);                                                                                            \
        const T old = *p;                                                                                            \
        *p = (next);                                                                                                 \
        return old;                                                                                                  \
    }                                                                                                                \
    template <class T> inline T name##_block(T *p, emulate::same_t<T> v)                                             \
    {                                                                                                                \
        return name(p, v);                                                                                           \
    }                                                                                                                \
    template <class T> inline T name##_system(T *p, emulate::same_t<T> v)                                            \
    {                                                                                                                \
        return name(p, v);                                                                                           \
    }
namespace emulate
{
template <class T> inline T plus(T x, T y)
{
    if constexpr (std::is_integral<T>::value)
        return (T)((std::make_unsigned_t<T>)x + (std::make_unsigned_t<T>)y);
    else
        return x + y;
}
} /* namespace emulate */
EMULATE_ATOMIC(atomicAdd, emulate::plus(old, v))
EMULATE_ATOMIC(atomicSub, emulate::plus(old, (T)(0 - (std::make_unsigned_t<T>)v)))
EMULATE_ATOMIC(atomicMin, old < v ? old : v)
EMULATE_ATOMIC(atomicMax, old > v ? old : v)
EMULATE_ATOMIC(atomicAnd, old &v)
EMULATE_ATOMIC(atomicOr, old | v)
EMULATE_ATOMIC(atomicXor, old ^ v)
EMULATE_ATOMIC(atomicExch, v)
EMULATE_ATOMIC(atomicInc, old >= v ? 0 : old + 1)
EMULATE_ATOMIC(atomicDec, old == 0 || old > v ? v : old - 1)
#undef EMULATE_ATOMIC

template <class T> inline T atomicCAS(T *p, emulate::same_t<T> expected, emulate::same_t<T> v)
{
    emulate::hold(p);
    const T old = *p;
    if (memcmp(&old, &expected, sizeof old) == 0) *p = v;
    return old;
}
template <class T> inline T atomicCAS_block(T *p, emulate::same_t<T> expected, emulate::same_t<T> v)
{
    return atomicCAS(p, expected, v);
}

#define EMULATE_LOAD(name)                                                                                           \
    template <class T> inline T name(const T *p)                                                                     \
    {                                                                                                                \
        return *p;                                                                                                   \
    }
EMULATE_LOAD(__ldg)
EMULATE_LOAD(__ldcs)
EMULATE_LOAD(__ldca)
EMULATE_LOAD(__ldcg)
EMULATE_LOAD(__ldlu)
EMULATE_LOAD(__ldcv)
#undef EMULATE_LOAD
#define EMULATE_STORE(name)                                                                                          \
    template <class T> inline void name(T *p, emulate::same_t<T> v)                                                  \
    {                                                                                                                \
        *p = v;                                                                                                      \
    }
EMULATE_STORE(__stcs)
EMULATE_STORE(__stcg)
EMULATE_STORE(__stwb)
EMULATE_STORE(__stwt)
#undef EMULATE_STORE

#endif
