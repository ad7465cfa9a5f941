/* SPDX-License-Identifier: Apache-2.0
 *
 * Type Z.
 */
#define NAME   lacis_symv_c128
#define T      double
#define E      double
#define KIND   SYMV_COMPLEX
#define MATRIX 2
#include "symv/number.h"

#include "symv/canonical.h"
#include "symv/finish.h"
#include "symv/panel_complex.h"

#include "symv/panel.h"

#include "symv/table.h"
