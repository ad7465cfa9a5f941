/* SPDX-License-Identifier: Apache-2.0
 *
 * The module liblacis_ranks: MPI behind lacis_ranks_driver, for whichever MPI it was compiled against. Loaded by
 * ranks_load.c, never linked. A program that has called MPI_Init itself keeps its MPI: the ranks then talk through a
 * communicator of their own, and MPI_Finalize stays the program's.
 */
#include "core/ranks_driver.h"

#include <mpi.h>
#include <stdio.h>

/* MPI itself is one a process. */
static MPI_Comm comm = MPI_COMM_NULL;
static bool ours; /* MPI_Init was called here */

static int local_place(lacis_ranks_place *out)
{
    MPI_Comm local;
    int code = MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, out->rank, MPI_INFO_NULL, &local);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Comm_rank(local, &out->local_rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(local, &out->local_size);
    MPI_Comm_free(&local);
    return code;
}

static int begin(void)
{
    int begun = 0, ended = 0, provided = 0;
    int code = MPI_Finalized(&ended);
    if (code != MPI_SUCCESS) return code;
    if (ended) return MPI_ERR_OTHER; /* it cannot be started twice */
    code = MPI_Initialized(&begun);
    if (code != MPI_SUCCESS || begun) return code;
    code = MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
    ours = code == MPI_SUCCESS;
    return code;
}

static int start(lacis_ranks_place *out)
{
    int level = MPI_THREAD_SINGLE, code = begin();
    if (code == MPI_SUCCESS) code = MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(comm, &out->rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(comm, &out->size);
    if (code == MPI_SUCCESS) code = local_place(out);
    if (code == MPI_SUCCESS) code = MPI_Query_thread(&level);
    out->threaded = level >= MPI_THREAD_SERIALIZED;
    return code;
}

static void stop(void)
{
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
    if (ours) MPI_Finalize();
    ours = false;
}

/* Given up: the request is let go of, whatever becomes of it. */
static int wait_for(MPI_Request *request, bool receives, lacis_ranks_wait wait)
{
    for (;;) {
        int done = 0, code = MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (code != MPI_SUCCESS || done) return code;
        code = wait.wait(wait.arg);
        if (code == 0) continue;
        if (receives) MPI_Cancel(request);
        MPI_Request_free(request);
        return code;
    }
}

static int post(int to, lacis_ranks_tag tag, const void *data, uint64_t bytes, lacis_ranks_wait wait)
{
    MPI_Request request;
    int code = MPI_Isend(data, (int)bytes, MPI_BYTE, to, (int)tag, comm, &request);
    return code == MPI_SUCCESS ? wait_for(&request, false, wait) : code;
}

static int receive(int from, lacis_ranks_tag tag, void *data, uint64_t bytes, lacis_ranks_wait wait)
{
    MPI_Request request;
    int code = MPI_Irecv(data, (int)bytes, MPI_BYTE, from, (int)tag, comm, &request);
    return code == MPI_SUCCESS ? wait_for(&request, true, wait) : code;
}

static int probe(int from, lacis_ranks_tag tag, bool *there)
{
    int flag = 0, code = MPI_Iprobe(from, (int)tag, comm, &flag, MPI_STATUS_IGNORE);
    *there = flag != 0;
    return code;
}

static void text(int code, char *out, size_t size)
{
    char message[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(code, message, &length) != MPI_SUCCESS) length = 0;
    snprintf(out, size, "%s", length > 0 ? message : "an error of MPI");
}

static void end_all(int code)
{
    MPI_Abort(comm, code);
}

extern const lacis_ranks_driver lacis_ranks_driver_mpi;
__attribute__((visibility("default"))) const lacis_ranks_driver lacis_ranks_driver_mpi = {
    .version = LACIS_RANKS_VERSION,
    .start = start,
    .stop = stop,
    .send = post,
    .receive = receive,
    .probe = probe,
    .text = text,
    .abort = end_all,
};
