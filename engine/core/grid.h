/* SPDX-License-Identifier: Apache-2.0
 *
 * What the engine knows of grids besides lacis_extend_grid.h.
 */
#ifndef LACIS_CORE_GRID_H
#define LACIS_CORE_GRID_H

#include "lacis_extend.h"

/* Names of the coordinates, as SQL has them. */
extern const char *const lacis_grid_axis[3];

/* Whether a part of this name is no field: the shape or the step. */
bool lacis_grid_structure(const char *name);
/* Whether a field may be called so. */
bool lacis_grid_field_name(const char *name);
/* Whether the only field has the name that it has where nobody gave it one, so that it need not be told. */
bool lacis_grid_plain(int fields, const char *first);
/* Of an array that may not have been looked at yet; 0 where it is none. */
int lacis_grid_dims(const lacis_array *array);
int64_t lacis_grid_cells(const lacis_array *array);
/* Of lacis_call.extent. */
int lacis_grid_dims_of(const int64_t *extent);
/* How long it is along each axis, by what the catalog keeps of it. */
void lacis_grid_extents(const int64_t *extent, int64_t cells, int dims, int64_t *out);

/* "1024 x 768" */
enum { LACIS_GRID_SHAPE_TEXT = 80 };
const char *lacis_grid_shape_text(const int64_t *extent, int dims, char *text);
/* "fields u, v, ", or nothing of a plain one. */
enum { LACIS_GRID_FIELDS_TEXT = LACIS_GRID_FIELDS * 66 + 16 };
const char *lacis_grid_fields_text(const char *const *name, int fields, char *text);

#endif
