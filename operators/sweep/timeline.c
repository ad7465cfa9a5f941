/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of EXCHANGE ... TO: what each exchange took of each part, in seconds. Called by ranks_spread.c, and for
 * several GPUs by system_gpus.c.
 */
#include "sweep/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static void complain(lacis_run *run, const lacis_sweep_work *work)
{
    lacis_run_note(run, LACIS_WARNING, "SWEEP: EXCHANGE TO '%s': %s", work->exchange.to, strerror(errno));
}

FILE *lacis_sweep_timeline_open(lacis_run *run, const lacis_sweep_work *work)
{
    FILE *file = fopen(work->exchange.to, "w");
    if (file == NULL)
        complain(run, work);
    else
        fputs("part,exchange,pack,centre,wait,unpack,rest,bytes\n", file);
    return file;
}

void lacis_sweep_timeline_add(FILE *file, int part, const lacis_sweep_times *line, int64_t lines)
{
    for (int64_t i = 0; file != NULL && i < lines; i++)
        fprintf(file, "%d,%" PRId64 ",%.9f,%.9f,%.9f,%.9f,%.9f,%.0f\n", part, i, line[i].pack, line[i].centre,
                line[i].wait, line[i].unpack, line[i].rest, line[i].bytes);
}

void lacis_sweep_timeline_close(lacis_run *run, const lacis_sweep_work *work, FILE *file)
{
    if (file == NULL) return;
    const bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad) complain(run, work);
}
