/* SPDX-License-Identifier: Apache-2.0
 *
 * Complex W.
 */
#define NAME   lacis_symv_cdd
#define T      double
#define E      double
#define KIND   SYMV_WIDE_COMPLEX
#define MATRIX 4
#include "symv/number.h"

#include "symv/canonical.h"
#include "symv/finish.h"
#include "symv/panel_wide.h"

#include "symv/panel.h"

#include "symv/table.h"
