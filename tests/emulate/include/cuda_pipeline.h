/* SPDX-License-Identifier: Apache-2.0
 *
 * Stands in the place of CUDA's header of this name.
 */
#pragma once
#include "cuda_runtime.h"
