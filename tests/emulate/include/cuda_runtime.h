/* SPDX-License-Identifier: Apache-2.0
 *
 * CUDA on the CPU, for kernels that rewrite.py has turned into C++ (README.md here). It stands in the place of CUDA's
 * header of this name and shares no text with it.
 */
#ifndef LACIS_EMULATE_CUDA_RUNTIME_H
#define LACIS_EMULATE_CUDA_RUNTIME_H

#include "emulate/types.h"

#include "emulate/atomic.h"
#include "emulate/lane.h"
#include "emulate/launch.h"
#include "emulate/matrix.h"
#include "emulate/mbarrier.h"
#include "emulate/numbers.h"
#include "emulate/ptx.h"
#include "emulate/runtime.h"
#include "emulate/warp.h"

#endif
