/* SPDX-License-Identifier: Apache-2.0
 *
 * A product's operands on the GPU: parts of arrays through the engine, which keeps their copies; what bind made of
 * them in blocks of the call's own, until unbind. Called by MULTIPLY's variant "gpu".
 */
#ifndef LACIS_OPERATORS_SEND_H
#define LACIS_OPERATORS_SEND_H

#include "lacis_extend.h"

#include "multiply/multiply.h"

enum { LACIS_SENT_BLOCKS = 16, LACIS_SENT_ARRAYS = 3 };

/* Zeroed to begin with. */
typedef struct lacis_sent {
    lacis_gpu *gpu;
    const lacis_array *array[LACIS_SENT_ARRAYS]; /* whose parts operands may be; NULL: none */
    struct {
        const void *host;
        void *device;
    } block[LACIS_SENT_BLOCKS];
    int blocks;
} lacis_sent;

/* The matrix with device pointers. LACIS_LIMIT without a message: the device has no room. */
lacis_status lacis_send_matrix(lacis_run *run, lacis_gpu *gpu, lacis_sent *sent, const lacis_mul_matrix *matrix,
                               lacis_mul_matrix *out);
/* One piece of it: `bytes` from `host` on (more may be sent), for kernels that do not need all of a matrix. _missing:
 * what would have to be copied. */
lacis_status lacis_send_host(lacis_run *run, lacis_gpu *gpu, lacis_sent *sent, const void *host, uint64_t bytes,
                             const void **out);
uint64_t lacis_send_host_missing(lacis_gpu *gpu, const lacis_sent *sent, const void *host, uint64_t bytes);
/* Bytes that lacis_send_matrix would have to copy; gpu NULL: where nothing is there yet. */
uint64_t lacis_send_missing(lacis_gpu *gpu, const lacis_sent *sent, const lacis_mul_matrix *matrix);
/* Gives the blocks back. */
void lacis_send_clear(lacis_sent *sent);
/* One past the last place of column and value that a row uses. */
uint64_t lacis_send_places(const lacis_mul_matrix *matrix);

#endif
