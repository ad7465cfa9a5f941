/* SPDX-License-Identifier: Apache-2.0
 *
 * Between totals.c and totals_batch.c.
 */
#ifndef LACIS_CORE_TOTALS_H
#define LACIS_CORE_TOTALS_H

#include "core/rows.h"

/* Adds elements first .. first + count - 1; `integer` fields of totals count where the type is one. */
void lacis_totals_values(const void *data, lacis_dtype storage, int64_t first, int64_t count, lacis_totals *totals);
void lacis_totals_merge(lacis_totals *to, const lacis_totals *from);
/* The column of a table or grid that is summed up (lacis_columns.total), or NULL; columns.c. */
const lacis_part *lacis_table_total(const lacis_array *table);
/* Of a batch; *integer: its values are. */
lacis_status lacis_totals_batch(lacis_run *run, const lacis_array *array, lacis_totals *totals, bool *integer);
/* Of dense symmetric matrices, over what is stored. */
lacis_status lacis_totals_symmetric(lacis_run *run, const lacis_array *array, lacis_totals *totals);
/* Of bodies: their number and ids; and of a column without a part: ids that count up, velocities of bodies at rest.
 */
lacis_status lacis_totals_bodies(lacis_run *run, const lacis_array *array, lacis_totals *totals);
void lacis_totals_partless(const lacis_array *bodies, bool id, lacis_totals *totals);

#endif
