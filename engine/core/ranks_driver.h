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

enum { LACIS_RANKS_VERSION = 2 };
#define LACIS_RANKS_SYMBOL "lacis_ranks_driver_mpi"

/* Four streams of messages: calls and their answers; wishes to stop, which are looked for while a call runs; the
 * word that a large message may come now; the word that a piece of several that work together has ended. */
typedef enum lacis_ranks_tag {
    LACIS_RANKS_TALK = 1,
    LACIS_RANKS_STOP,
    LACIS_RANKS_GO,
    LACIS_RANKS_FINIS
} lacis_ranks_tag;

/* A transfer under way: MPI's own request, whatever it is. */
typedef struct lacis_ranks_request {
    uint64_t of;
} lacis_ranks_request;

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
    /* Whether any rank has sent: its number, or -1. */
    int (*probe_any)(lacis_ranks_tag tag, int *from);
    /* Transfers that go on while their rank does something else, apart from the streams above (tags are the caller's,
     * 0 .. LACIS_RANKS_TAGS - 1). The data stay as they are until a test has said that it is done, or a receive was
     * taken back; *came: it could not be, as there was something already. dropped: the other side is gone. */
    int (*begin_send)(int to, int tag, const void *data, uint64_t bytes, lacis_ranks_request *out);
    int (*begin_receive)(int from, int tag, void *data, uint64_t bytes, lacis_ranks_request *out);
    int (*test)(lacis_ranks_request *request, bool *done);
    int (*take_back)(lacis_ranks_request *request, lacis_ranks_wait wait, bool *came);
    void (*drop)(lacis_ranks_request *request);
    /* A message of those that nobody receives: received into `waste` of LACIS_RANKS_PIECE bytes; *there: one was. */
    int (*throw_away)(int from, void *waste, lacis_ranks_wait wait, bool *there);
    /* Whether data may lie in the memory of a CUDA device. */
    bool (*takes_device)(void);
    void (*text)(int code, char *out, size_t size);
    /* Ends every rank at once, this one too. */
    void (*abort)(int code);
} lacis_ranks_driver;

/* Bytes of one transfer: far below MPI's limits, small enough to be received and thrown away where memory is short.
 */
#define LACIS_RANKS_PIECE ((uint64_t)8 << 20)
enum { LACIS_RANKS_TAGS = 4096 };

#endif
