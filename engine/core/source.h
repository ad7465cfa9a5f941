/* SPDX-License-Identifier: Apache-2.0
 *
 * Opens the file that a LOAD names as one run of bytes: a regular file is mapped, gzip is unpacked (found by its
 * magic number, several members in a row too), pipes and devices are read whole. Called by exec/ for LOAD.
 */
#ifndef LACIS_CORE_SOURCE_H
#define LACIS_CORE_SOURCE_H

#include "core/run.h"

/* Holds the mapping or the memory behind a lacis_source. */
typedef struct lacis_source_handle lacis_source_handle;

/* Fills *source, whose path (copied) and data live until lacis_source_close(*out). On failure *out is NULL.
 *   LACIS_IO         it cannot be opened or read (the message has path and cause), or is a directory
 *   LACIS_FORMAT     a gzip stream that ends early or is damaged
 *   LACIS_INTERRUPT  cancelled; a pipe that nobody writes to can be left too
 *   LACIS_LIMIT, LACIS_NOMEM  what was unpacked or read does not fit
 * An empty file is fine: size 0. A file that another program shortens while it is mapped raises SIGBUS, as for every
 * user of mmap. */
lacis_status lacis_source_open(lacis_run *run, const char *path, lacis_source_handle **out, lacis_source *source);
void lacis_source_close(lacis_source_handle *handle); /* NULL is fine */

#endif
