/* SPDX-License-Identifier: Apache-2.0
 *
 * Joining and leaving the ranks of an mpirun. lacis.h describes each function.
 */
#include "api/engine.h"

#include "exec/talk.h"

lacis_status lacis_ranks_join(lacis_ranks **out, char *message, size_t size)
{
    return lacis_ranks_open(out, message, size) ? LACIS_OK : LACIS_CANTOPEN;
}

int lacis_ranks_rank(const lacis_ranks *ranks)
{
    return ranks == NULL ? 0 : ranks->place.rank;
}

int lacis_ranks_size(const lacis_ranks *ranks)
{
    return ranks == NULL ? 1 : ranks->place.size;
}

static lacis_status misused(lacis_engine *engine, const char *what)
{
    lacis_run run;
    lacis_run_init(&run, &engine->host);
    return lacis_run_fail(&run, LACIS_MISUSE, "%s", what);
}

/* Each rank of a host takes the next GPU, and its share of the processors. */
static void take_place(lacis_host *host, const lacis_ranks *ranks)
{
    host->gpu_number = ranks == NULL ? 0 : ranks->place.local_rank;
    if (host->threads_asked == 0) host->threads = lacis_ranks_threads(ranks);
}

lacis_status lacis_set_ranks(lacis_engine *engine, lacis_ranks *ranks)
{
    if (!lacis_engine_usable(engine)) return LACIS_MISUSE;
    if (lacis_ranks_rank(ranks) != 0) return misused(engine, "only rank 0 runs statements; the others serve it");
    engine->host.ranks = ranks;
    take_place(&engine->host, ranks);
    return LACIS_OK;
}

lacis_status lacis_ranks_serve(lacis_ranks *ranks, lacis_engine *engine)
{
    if (!lacis_engine_usable(engine)) return LACIS_MISUSE;
    if (lacis_ranks_rank(ranks) == 0) return misused(engine, "rank 0 runs statements and serves nobody");
    take_place(&engine->host, ranks);
    return lacis_exec_serve(&engine->world, ranks);
}

void lacis_ranks_leave(lacis_ranks *ranks)
{
    lacis_host host = {.threads = 1}; /* for messages that nobody reads */
    lacis_run run;
    const lacis_message end = {LACIS_TALK_END, 0, 0};
    if (ranks == NULL) return;
    lacis_run_init(&run, &host);
    for (int rank = 1; ranks->place.rank == 0 && rank < ranks->place.size; rank++)
        if (lacis_ranks_alive(ranks, rank)) lacis_ranks_send(&run, ranks, rank, &end, NULL);
    lacis_ranks_close(ranks);
}
