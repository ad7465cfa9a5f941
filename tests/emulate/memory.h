/* SPDX-License-Identifier: Apache-2.0
 *
 * What streams.cpp and memory.cpp ask of each other.
 */
#ifndef LACIS_EMULATE_MEMORY_H
#define LACIS_EMULATE_MEMORY_H

#include "emulate/runtime.h"

namespace emulate
{

void drain(emulate_stream *s); /* NULL: the default stream */
void drain_all();

} /* namespace emulate */

#endif
