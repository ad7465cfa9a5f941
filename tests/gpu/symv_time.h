/* SPDX-License-Identifier: Apache-2.0
 *
 * Times on the stream, and those of a plain read, which kernels that read a matrix once are held against. Used by the
 * parts of symv_gpu.cu that measure.
 */
#ifndef LACIS_TESTS_GPU_SYMV_TIME_H
#define LACIS_TESTS_GPU_SYMV_TIME_H

#include <cstdint>

/* Median microseconds of `repeats` calls, each behind a kernel that holds the stream until it is all enqueued. */
double symv_time_between(void (*call)(void *), void *context, int repeats);
template <class F> double symv_time(int repeats, F call)
{
    return symv_time_between([](void *context) { (*(F *)context)(); }, &call, repeats);
}

/* Reads bytes once, by a grid of so many blocks. */
void symv_read_launch(const void *from, uint64_t bytes, int blocks);

/* Microseconds that a plain read of as many bytes takes, the best of some grids: always from one place, or each time
 * from where `from` says. */
double symv_plain_read(const void *from, uint64_t bytes, int repeats);
template <class F> double symv_plain_read_of(int repeats, uint64_t bytes, F from)
{
    double best = 1e30;
    for (const int blocks : {132, 264, 528, 1056, 2112}) {
        const double us = symv_time(repeats, [&] { symv_read_launch(from(), bytes, blocks); });
        if (us < best) best = us;
    }
    return best;
}

#endif
