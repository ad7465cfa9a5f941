/* SPDX-License-Identifier: Apache-2.0
 *
 * What the stand-ins for CUB share: a call without work space asks for the size, one with it does the work, in its
 * stream's order.
 */
#ifndef LACIS_EMULATE_DEVICE_WIDE_H
#define LACIS_EMULATE_DEVICE_WIDE_H

#include "cuda_runtime.h"

#include <functional>
#include <type_traits>

namespace emulate
{

void do_on(cudaStream_t stream, std::function<void()> work);

template <class IN> std::decay_t<decltype(std::declval<IN>()[0])> value_of(IN)
{
    return {};
}

template <class F> cudaError_t device_wide(void *work, size_t &bytes, cudaStream_t stream, F f)
{
    enum { WORK = 256 };
    if (!work)
        bytes = WORK;
    else if (bytes < WORK)
        return cudaErrorInvalidValue;
    else
        do_on(stream, [=] {
            memset(work, 0xc3, WORK);
            f();
        });
    return cudaSuccess;
}

} /* namespace emulate */

#endif
