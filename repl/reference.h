/* SPDX-License-Identifier: Apache-2.0
 *
 * lacis --reference: operators with their clauses, aggregates, functions, formats, generators, types, options and dot
 * commands as a page of Markdown, from the descriptors and tables that the engine and the shell themselves go by.
 * docs/reference.md is its output, which a test compares.
 */
#ifndef SHELL_REFERENCE_H
#define SHELL_REFERENCE_H

#include <stdbool.h>

bool shell_reference(void); /* on standard output; false: not all of it, which was said on stderr */

#endif
