/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the compiler brings libFuzzer, it drives fuzz_one.
 */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_one(data, size);
    return 0;
}
