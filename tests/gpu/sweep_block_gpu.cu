/* SPDX-License-Identifier: Apache-2.0
 *
 * Sweeps blocked in time on a device, kernel by kernel: `sweep_block_gpu check`, `small` (emulator,
 * compute-sanitizer).
 */
#include "sweep_block_support.h"

#include <cstring>

cudaStream_t stream;
int failures;
void (*sweep_block::bench)(int, char **);

int main(int count, char **argument)
{
    const char *mode = count > 1 ? argument[1] : "check";
    CUDA(cudaStreamCreate(&stream));
    if (!strcmp(mode, "check") || !strcmp(mode, "small")) {
        sweep_block::check(!strcmp(mode, "small"));
    } else if (!strcmp(mode, "bench") && sweep_block::bench) {
        sweep_block::bench(count - 2, argument + 2);
    } else {
        printf("sweep_block_gpu check | small | bench [SECONDS_A_CASE] [PART_OF_A_NAME [SIDE]]\n");
        return 2;
    }
    CUDA(cudaStreamDestroy(stream));
    if (failures) printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
