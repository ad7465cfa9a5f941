/* SPDX-License-Identifier: Apache-2.0
 *
 * Sweeps blocked in time on a device, kernel by kernel: `sweep_block_gpu check`, `small` (emulator,
 * compute-sanitizer); a part of a name behind it takes the kernels that have it (to check several at once).
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
        sweep_block::check(!strcmp(mode, "small"), count > 2 ? argument[2] : "");
    } else if (!strcmp(mode, "bench") && sweep_block::bench) {
        sweep_block::bench(count - 2, argument + 2);
    } else {
        printf("sweep_block_gpu check [PART_OF_A_NAME] | small [PART_OF_A_NAME] | bench [SECONDS_A_CASE] [PART_OF_A_NAME [SIDE]]\n");
        return 2;
    }
    CUDA(cudaStreamDestroy(stream));
    if (failures) printf("%d failures\n", failures);
    return failures ? 1 : 0;
}
