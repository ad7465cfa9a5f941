/* SPDX-License-Identifier: Apache-2.0
 *
 * Sorting of 64-bit keys. Used where arrays are made of rows in any order.
 */
#ifndef LACIS_CORE_RADIX_H
#define LACIS_CORE_RADIX_H

#include "lacis_extend.h"

/* Sorts keys rising, payload (NULL: none) along with them; equal keys keep their order. */
lacis_status lacis_radix_sort(lacis_run *run, uint64_t *key, int64_t *payload, int64_t count);

#endif
