/* SPDX-License-Identifier: Apache-2.0
 *
 * CUB's scans, one after the other on the CPU. The first call, without work space, says how much is wanted.
 */
#ifndef LACIS_EMULATE_CUB_DEVICE_SCAN_CUH
#define LACIS_EMULATE_CUB_DEVICE_SCAN_CUH

#include "emulate/device_wide.h"

namespace cub
{
struct DeviceScan {
    template <class IN, class OUT, class N>
    static cudaError_t ExclusiveSum(void *work, size_t &bytes, IN in, OUT out, N n, cudaStream_t stream = 0)
    {
        return emulate::device_wide(work, bytes, stream, [=] {
            auto sum = emulate::value_of(in);
            for (N i = 0; i < n; i++) {
                const auto x = in[i];
                out[i] = sum;
                sum = sum + x;
            }
        });
    }
    template <class IN, class OUT, class N>
    static cudaError_t InclusiveSum(void *work, size_t &bytes, IN in, OUT out, N n, cudaStream_t stream = 0)
    {
        return emulate::device_wide(work, bytes, stream, [=] {
            auto sum = emulate::value_of(in);
            for (N i = 0; i < n; i++)
                out[i] = sum = sum + in[i];
        });
    }
};
} /* namespace cub */

#endif
