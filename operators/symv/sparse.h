/* SPDX-License-Identifier: Apache-2.0
 *
 * SYMV's graphs: symmetric matrices of which one triangle of entries is read. graph.c takes one apart; variants of
 * their own compute, all others refuse them.
 */
#ifndef LACIS_OPERATORS_SYMV_SPARSE_H
#define LACIS_OPERATORS_SYMV_SPARSE_H

#include "symv/work.h"

/* graph.c */
lacis_status lacis_symv_take_graph(lacis_run *run, const lacis_item *item, lacis_symv_matrix *out);

#endif
