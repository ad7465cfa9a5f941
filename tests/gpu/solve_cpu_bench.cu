/* SPDX-License-Identifier: Apache-2.0
 *
 * The processor beside the GPU: the systems of a bench, copied to the host, solved there by all processors.
 */
#include "solve_support.h"

#include <chrono>
#include <cstdlib>
#include <thread>

static void *take(void *, uint64_t bytes)
{
    return aligned_alloc(64, (bytes + 64) / 64 * 64);
}
static void give(void *, void *block)
{
    free(block);
}

double cpu_ms(const lacis_solve_job &there, const std::vector<int32_t> &parent, const size_t *bytes, int repeats)
{
    void *field[5];
    const void *from[4] = {there.lower.data, there.diagonal.data, there.upper.data, there.rhs.data};
    bool good = true;
    for (int i = 0; i < 5; i++) {
        field[i] = take(NULL, bytes[i]);
        good = good && field[i] != NULL;
        if (good && i < 4) CUDA(cudaMemcpy(field[i], from[i], bytes[i], cudaMemcpyDeviceToHost));
    }
    lacis_solve_job job = there;
    lacis_solve_output out;
    std::vector<double> ms;
    job.lower.data = field[0], job.diagonal.data = field[1], job.upper.data = field[2], job.rhs.data = field[3];
    job.x = field[4];
    job.parent = parent.empty() ? NULL : parent.data();
    job.threads = (int)std::thread::hardware_concurrency();
    job.host = {take, give, NULL, NULL};
    for (int i = 0; good && i <= repeats; i++) { /* the first run touches pages */
        const auto begin = std::chrono::steady_clock::now();
        good = lacis_solve_run(&job, &out) == LACIS_SOLVE_OK;
        const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
        if (i > 0) ms.push_back(time.count());
    }
    for (void *block : field)
        free(block);
    return good ? median(ms) : -1;
}
