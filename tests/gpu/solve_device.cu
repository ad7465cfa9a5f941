/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of solve_gpu.cu share: memory that counts and may fail, random numbers, what was expected.
 */
#include "solve_support.h"

#include <cstdarg>
#include <unordered_map>

cudaStream_t stream;
void *pinned;
int64_t live, fail_at = -1, allocs;
uint64_t held, most_held;
int failures, cases;

static std::unordered_map<void *, uint64_t> size_of;

void *device_alloc(void *, uint64_t bytes)
{
    void *block = nullptr;
    if (allocs++ == fail_at) return nullptr;
    if (cudaMallocAsync(&block, bytes, stream) != cudaSuccess) {
        cudaGetLastError();
        return nullptr;
    }
    CUDA(cudaMemsetAsync(block, 0xa5, bytes < 4096 ? bytes : 4096, stream)); /* not cleared */
    live++;
    size_of[block] = bytes;
    held += bytes;
    if (held > most_held) most_held = held;
    return block;
}

void device_free(void *, void *block)
{
    live--;
    held -= size_of[block];
    size_of.erase(block);
    CUDA(cudaFreeAsync(block, stream));
}

void expect(bool good, const char *format, ...)
{
    cases++;
    if (good) return;
    failures++;
    va_list list;
    va_start(list, format);
    printf("FAIL ");
    vprintf(format, list);
    printf("\n");
    va_end(list);
    if (failures > 40) exit(1);
}

double uniform(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-53;
}

double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}
