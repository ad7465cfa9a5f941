/* SPDX-License-Identifier: Apache-2.0
 *
 * Edge lists, for loaders of formats that are edge lists in part (csv.c).
 */
#ifndef LACIS_LOADERS_SNAP_H
#define LACIS_LOADERS_SNAP_H

#include "lacis_extend.h"

lacis_status lacis_snap_load(lacis_run *run, const lacis_source *source, const lacis_options *given,
                             lacis_array **out);

#endif
