/* SPDX-License-Identifier: Apache-2.0
 *
 * Some lanes of a batch as a batch of their own, and results of some lanes into one of all. Used by ranks.c.
 */
#ifndef LACIS_OPERATORS_SOLVE_SLICES_H
#define LACIS_OPERATORS_SOLVE_SLICES_H

#include "solve/systems.h"

/* Lanes [begin, end) of an operand with those fields alone; memory is shared where they lie behind each other. */
lacis_status lacis_solve_slice(lacis_run *run, const lacis_systems *from, const char *const *field, int fields,
                               int64_t begin, int64_t end, lacis_array **out);
/* `lanes` lanes of one field from lane `first` of one batch on to those from `to_first` of another, element by
 * element of `size` bytes. False: the lanes have other lengths. */
bool lacis_solve_copy_lanes(const lacis_batch *from, int64_t first, const void *data, const lacis_batch *to,
                            int64_t to_first, void *out, int64_t lanes, uint64_t size);

#endif
