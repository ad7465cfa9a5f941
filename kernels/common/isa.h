/* SPDX-License-Identifier: Apache-2.0
 *
 * Which of the three builds of *.isa.c files runs here: the widest that this processor has, unless the environment's
 * LACIS_ISA (baseline, avx2) asks for less. Kernels ask once a run.
 */
#ifndef LACIS_KERNELS_ISA_H
#define LACIS_KERNELS_ISA_H

typedef enum lacis_isa { LACIS_ISA_BASELINE, LACIS_ISA_AVX2, LACIS_ISA_AVX512 } lacis_isa;
lacis_isa lacis_isa_here(void);

#endif
