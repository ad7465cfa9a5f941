/* SPDX-License-Identifier: Apache-2.0
 *
 * What the parts of symv_half_gpu share: matrices, device memory, runs.
 */
#ifndef LACIS_TESTS_SYMV_HALF_SUPPORT_H
#define LACIS_TESTS_SYMV_HALF_SUPPORT_H

#include "support.h"
#include "symv/half.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <string>

typedef int64_t i64;
typedef uint32_t u32;
extern int cases;
extern i64 live; /* blocks of device memory that kernels hold */
extern int processors;

static inline double next_number(u64 *state)
{
    return (double)(i64)(next_random(state) >> 11) * 0x1p-52 - 1;
}

/* Rows of CSR. */
struct pattern {
    i64 n;
    std::vector<i64> begin, end;
    std::vector<u32> column;
};

/* The lower triangle of a symmetric pattern, by name: fem3 (27 points of a cube of m, three unknowns each), fem1,
 * band (width 500), random, arrow, arrow-last, empty, diagonal, dense, few (random lengths, empty rows). */
pattern make_lower(const std::string &name, i64 m, u64 seed);
enum form { LOWER_ONLY, UPPER_ONLY, BOTH, BOTH_UPPER, LOOSE, FORMS };
extern const char *const form_name[FORMS];
pattern make_form(const pattern &lower, enum form form, u64 seed);
static inline bool is_upper(enum form form)
{
    return form == UPPER_ONLY || form == BOTH_UPPER;
}

template <class T> struct on_device {
    T *at = nullptr;
    on_device() = default;
    explicit on_device(const std::vector<T> &from) : on_device((i64)from.size())
    {
        if (!from.empty()) CUDA(cudaMemcpy(at, from.data(), sizeof(T) * from.size(), cudaMemcpyHostToDevice));
    }
    explicit on_device(i64 count)
    {
        CUDA(cudaMalloc((void **)&at, sizeof(T) * (size_t)count + 256));
    }
    on_device(on_device &&other) : at(other.at)
    {
        other.at = nullptr;
    }
    on_device &operator=(on_device &&other)
    {
        std::swap(at, other.at);
        return *this;
    }
    ~on_device()
    {
        cudaFree(at);
    }
    std::vector<T> back(i64 count) const
    {
        std::vector<T> out((size_t)count);
        CUDA(cudaDeviceSynchronize());
        if (count > 0) CUDA(cudaMemcpy(out.data(), at, sizeof(T) * (size_t)count, cudaMemcpyDeviceToHost));
        return out;
    }
};

lacis_symv_host device_host();
void check_all(bool small, u64 seed);
int bench(int argc, char **argv);

#endif
