/* SPDX-License-Identifier: Apache-2.0
 *
 * NAME_error: how far a sample of accelerations is off direct sums in double.
 */
#include "nbody/system.h"

static const lacis_column columns[] = {{"quantile", true}, {"relative", true}, {"scaled", true}};
static const lacis_dtype dtypes[] = {LACIS_F64, LACIS_F64, LACIS_F64};

lacis_status lacis_nbody_attach_errors(lacis_run *run, lacis_array *array, const lacis_nbody_errors *errors)
{
    static const double quantile[] = {0.5, 0.9, 0.99, 1};
    lacis_array *table;
    void *data[LACIS_COUNT(columns)];
    LACIS_TRY(lacis_nbody_new_table(run, columns, dtypes, LACIS_COUNT(columns), LACIS_COUNT(quantile), &table, data));
    for (int i = 0; i < LACIS_COUNT(quantile); i++) {
        ((double *)data[0])[i] = quantile[i];
        ((double *)data[1])[i] = errors->relative[i];
        ((double *)data[2])[i] = errors->scaled[i];
    }
    lacis_status status = lacis_array_attach(run, array, "error", table);
    lacis_array_release(table);
    return status;
}
