/* SPDX-License-Identifier: Apache-2.0
 *
 * Kinds of bodies in one file (gas, dark matter, stars ...), and option kinds, which picks some. Used by tipsy.c and
 * gadget.c.
 */
#ifndef LACIS_LOADERS_KINDS_H
#define LACIS_LOADERS_KINDS_H

#include "common_options.h"

/* Bits of the kinds that option kinds names, by name or number, with blanks or commas between; all without it.
 * LACIS_RANGE where there is no such kind. */
lacis_status lacis_kinds_read(lacis_run *run, const lacis_options *given, const char *const *names, int count,
                              unsigned *out);
/* Tells how many of each there are, where there are several. */
void lacis_kinds_note(lacis_run *run, const char *const *names, int count, unsigned wanted, const int64_t *bodies);

#endif
