/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting of plain numbers, in place, never quadratic. Used on the rows of graphs that are being built and on labels.
 */
#ifndef LACIS_LOADERS_SORT_H
#define LACIS_LOADERS_SORT_H

#include <stdint.h>

void lacis_sort_u32(uint32_t *value, int64_t count);
void lacis_sort_u64(uint64_t *value, int64_t count);
void lacis_sort_i64(int64_t *value, int64_t count);

#endif
