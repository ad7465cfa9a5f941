/* SPDX-License-Identifier: Apache-2.0
 *
 * CUB's radix sort, which is stable, on the CPU. The first call, without work space, says how much is wanted.
 */
#ifndef LACIS_EMULATE_CUB_DEVICE_RADIX_SORT_CUH
#define LACIS_EMULATE_CUB_DEVICE_RADIX_SORT_CUH

#include "emulate/device_wide.h"

#include <algorithm>
#include <vector>

namespace cub
{
struct DeviceRadixSort {
    template <class K, class V, class N>
    static cudaError_t SortPairs(void *work, size_t &bytes, const K *in, K *out, const V *value_in, V *value_out, N n,
                                 int first, int last, cudaStream_t stream = 0)
    {
        return emulate::device_wide(work, bytes, stream, [=] {
            const int width = last - first;
            const K kept = width < (int)(8 * sizeof(K)) ? (K)(((K)1 << width) - 1) : (K) ~(K)0;
            std::vector<N> order((size_t)n);
            for (N i = 0; i < n; i++)
                order[i] = i;
            std::stable_sort(order.begin(), order.end(),
                             [=](N a, N b) { return (in[a] >> first & kept) < (in[b] >> first & kept); });
            for (N i = 0; i < n; i++) {
                out[i] = in[order[i]];
                value_out[i] = value_in[order[i]];
            }
        });
    }
    template <class K, class N>
    static cudaError_t SortKeys(void *work, size_t &bytes, const K *in, K *out, N n, int first, int last,
                                cudaStream_t stream = 0)
    {
        return emulate::device_wide(work, bytes, stream, [=] {
            const int width = last - first;
            const K kept = width < (int)(8 * sizeof(K)) ? (K)(((K)1 << width) - 1) : (K) ~(K)0;
            std::copy(in, in + n, out);
            std::stable_sort(out, out + n, [=](K a, K b) { return (a >> first & kept) < (b >> first & kept); });
        });
    }
};
} /* namespace cub */

#endif
