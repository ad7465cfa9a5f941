/* SPDX-License-Identifier: Apache-2.0
 *
 * PNG through libpng (common_png_read.c, common_png_write.c; LACIS_HAVE_PNG), for png.c. Without it both answer
 * LACIS_UNSUPPORTED.
 */
#ifndef LACIS_LOADERS_PNG_H
#define LACIS_LOADERS_PNG_H

#include "common_image.h"

#include <string.h>

lacis_status lacis_png_load(lacis_run *run, const lacis_source *source, const lacis_options *given,
                            lacis_array **out);
lacis_status lacis_png_save(lacis_run *run, const lacis_array *array, FILE *file);

#endif
