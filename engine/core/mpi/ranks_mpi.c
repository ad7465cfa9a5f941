/* SPDX-License-Identifier: Apache-2.0
 *
 * The module liblacis_ranks: MPI behind lacis_ranks_driver, for whichever MPI it was compiled against. Loaded by
 * ranks_load.c, never linked. A program that has called MPI_Init itself keeps its MPI: the ranks then talk through a
 * communicator of their own, and MPI_Finalize stays the program's.
 */
#include "core/ranks_driver.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

_Static_assert(sizeof(MPI_Request) <= sizeof(lacis_ranks_request), "a request fits where the engine keeps it");

/* MPI itself is one a process. */
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Comm beside = MPI_COMM_NULL; /* of transfers that go on by themselves */
static bool ours;                       /* MPI_Init was called here */

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
    if (code == MPI_SUCCESS) code = MPI_Comm_dup(comm, &beside);
    if (code == MPI_SUCCESS) code = MPI_Comm_set_errhandler(beside, MPI_ERRORS_RETURN);
    if (code == MPI_SUCCESS) code = MPI_Comm_rank(comm, &out->rank);
    if (code == MPI_SUCCESS) code = MPI_Comm_size(comm, &out->size);
    if (code == MPI_SUCCESS) code = local_place(out);
    if (code == MPI_SUCCESS) code = MPI_Query_thread(&level);
    out->threaded = level >= MPI_THREAD_SERIALIZED;
    return code;
}

static void stop(void)
{
    if (beside != MPI_COMM_NULL) MPI_Comm_free(&beside);
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

static int probe_any(lacis_ranks_tag tag, int *from)
{
    MPI_Status status;
    int flag = 0, code = MPI_Iprobe(MPI_ANY_SOURCE, (int)tag, comm, &flag, &status);
    *from = code == MPI_SUCCESS && flag ? status.MPI_SOURCE : -1;
    return code;
}

/* ------------------------------------------------------------------------------- transfers of their own */

static void keep(lacis_ranks_request *out, MPI_Request request)
{
    out->of = 0;
    memcpy(&out->of, &request, sizeof request);
}

static MPI_Request kept(const lacis_ranks_request *from)
{
    MPI_Request request;
    memcpy(&request, &from->of, sizeof request);
    return request;
}

static int begin_send(int to, int tag, const void *data, uint64_t bytes, lacis_ranks_request *out)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Isend(data, (int)bytes, MPI_BYTE, to, tag, beside, &request);
    keep(out, request);
    return code;
}

static int begin_receive(int from, int tag, void *data, uint64_t bytes, lacis_ranks_request *out)
{
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Irecv(data, (int)bytes, MPI_BYTE, from, tag, beside, &request);
    keep(out, request);
    return code;
}

static int test(lacis_ranks_request *request, bool *done)
{
    MPI_Request own = kept(request);
    int flag = 0, code = MPI_Test(&own, &flag, MPI_STATUS_IGNORE);
    keep(request, own);
    *done = flag != 0;
    return code;
}

static int take_back(lacis_ranks_request *request, lacis_ranks_wait wait, bool *came)
{
    MPI_Request own = kept(request);
    MPI_Status status;
    int done = 0, back = 0, code = MPI_Cancel(&own);
    *came = false;
    while (code == MPI_SUCCESS && !done) {
        code = MPI_Test(&own, &done, &status);
        if (code == MPI_SUCCESS && !done) code = wait.wait(wait.arg);
    }
    keep(request, own);
    if (code == MPI_SUCCESS) code = MPI_Test_cancelled(&status, &back);
    *came = code == MPI_SUCCESS && !back;
    return code;
}

static void drop(lacis_ranks_request *request)
{
    MPI_Request own = kept(request);
    if (own != MPI_REQUEST_NULL) MPI_Request_free(&own);
}

static int throw_away(int from, void *waste, lacis_ranks_wait wait, bool *there)
{
    MPI_Status status;
    MPI_Request request;
    int flag = 0, code = MPI_Iprobe(from, MPI_ANY_TAG, beside, &flag, &status);
    *there = code == MPI_SUCCESS && flag;
    if (!*there) return code;
    code = MPI_Irecv(waste, (int)LACIS_RANKS_PIECE, MPI_BYTE, from, status.MPI_TAG, beside, &request);
    return code == MPI_SUCCESS ? wait_for(&request, true, wait) : code;
}

/* Open MPI and MPICH answer that in an extension, which not every one of them has. */
static bool takes_device(void)
{
    int (*ask)(void) = NULL;
    void *found = dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");
    memcpy(&ask, &found, sizeof ask);
    return ask != NULL && ask() == 1;
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
    .probe_any = probe_any,
    .begin_send = begin_send,
    .begin_receive = begin_receive,
    .test = test,
    .take_back = take_back,
    .drop = drop,
    .throw_away = throw_away,
    .takes_device = takes_device,
    .text = text,
    .abort = end_all,
};
