/* SPDX-License-Identifier: Apache-2.0
 *
 * A matrix in S, vectors and sums in D.
 */
#define NAME   lacis_symv_f32_f64
#define T      double
#define E      float
#define KIND   SYMV_REAL
#define MATRIX 1
#include "symv/number.h"

#include "symv/canonical.h"
#include "symv/finish.h"
#include "symv/panel_real.h"

#include "symv/panel.h"

#include "symv/table.h"
