/* SPDX-License-Identifier: Apache-2.0
 *
 * A matrix in D, vectors and sums in W.
 */
#define NAME   lacis_symv_f64_dd
#define T      double
#define E      double
#define KIND   SYMV_WIDE
#define MATRIX 1
#include "symv/number.h"

#include "symv/canonical.h"
#include "symv/finish.h"
#include "symv/panel_wide.h"

#include "symv/panel.h"

#include "symv/table.h"
