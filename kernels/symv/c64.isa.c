/* SPDX-License-Identifier: Apache-2.0
 *
 * Type C.
 */
#define NAME   lacis_symv_c64
#define T      float
#define E      float
#define KIND   SYMV_COMPLEX
#define MATRIX 2
#include "symv/number.h"

#include "symv/canonical.h"
#include "symv/finish.h"
#include "symv/panel_complex.h"

#include "symv/panel.h"

#include "symv/table.h"
