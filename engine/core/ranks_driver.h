/* SPDX-License-Identifier: Apache-2.0
 *
 * What the engine calls of MPI, as a table that the module liblacis_ranks exports. The module (mpi/ranks_mpi.c) is
 * the one file that sees <mpi.h>; ranks_load.c loads it where a process was started as one of several.
 *
 * Calls answer 0, or a code of text(). They never block inside MPI: while a message is on its way they call
 * wait(arg) again and again, which lets others run and whose non-zero answer makes them give up with that code.
 */
#ifndef LACIS_CORE_RANKS_DRIVER_H
#define LACIS_CORE_RANKS_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LACIS_RANKS_VERSION = 1 };
#define LACIS_RANKS_SYMBOL "lacis_ranks_driver_mpi"

/* Three streams of messages: calls and their answers; wishes to stop, which are looked for while a call runs; the
 * word that a large message may come now. */
typedef enum lacis_ranks_tag { LACIS_RANKS_TALK = 1, LACIS_RANKS_STOP, LACIS_RANKS_GO } lacis_ranks_tag;

typedef struct lacis_ranks_place {
    int rank, size;
    int local_rank, local_size; /* among the ranks of this host */
    bool threaded;              /* another thread may ask while the main one does not */
} lacis_ranks_place;

typedef struct lacis_ranks_wait {
    int (*wait)(void *arg);
    void *arg;
} lacis_ranks_wait;

typedef struct lacis_ranks_driver {
    int version;
    int (*start)(lacis_ranks_place *out);
    /* All ranks call it together. */
    void (*stop)(void);
    /* bytes <= LACIS_RANKS_PIECE; both sides name the same number of bytes. */
    int (*send)(int to, lacis_ranks_tag tag, const void *data, uint64_t bytes, lacis_ranks_wait wait);
    int (*receive)(int from, lacis_ranks_tag tag, void *data, uint64_t bytes, lacis_ranks_wait wait);
    int (*probe)(int from, lacis_ranks_tag tag, bool *there);
    void (*text)(int code, char *out, size_t size);
    /* Ends every rank at once, this one too. */
    void (*abort)(int code);
} lacis_ranks_driver;

/* Bytes of one transfer: far below MPI's limits, small enough to be received and thrown away where memory is short.
 */
#define LACIS_RANKS_PIECE ((uint64_t)8 << 20)

#endif
