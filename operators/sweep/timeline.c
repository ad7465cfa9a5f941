/* SPDX-License-Identifier: Apache-2.0
 *
 * The file of EXCHANGE ... TO: what each exchange took of each part, in seconds. Called by ranks_spread.c, and for
 * several GPUs by system_gpus.c.
 */
#include "sweep/ranks.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

lacis_status lacis_sweep_timeline_open(lacis_run *run, const lacis_sweep_work *work, FILE **out)
{
    const lacis_sweep_exchange *exchange = &work->exchange;
    *out = NULL;
    if (exchange->to == NULL) return LACIS_OK;
    *out = fopen(exchange->to, "w");
    if (*out == NULL)
        return lacis_run_fail_at(run, LACIS_IO, exchange->to_offset, NULL, "cannot write \"%s\": %s", exchange->to,
                                 strerror(errno));
    fputs("part,exchange,pack,centre,wait,unpack,rest,bytes\n", *out);
    return LACIS_OK;
}

void lacis_sweep_timeline_add(FILE *file, int part, const lacis_sweep_times *line, int64_t lines)
{
    for (int64_t i = 0; file != NULL && i < lines; i++)
        fprintf(file, "%d,%" PRId64 ",%.9f,%.9f,%.9f,%.9f,%.9f,%.0f\n", part, i, line[i].pack, line[i].centre,
                line[i].wait, line[i].unpack, line[i].rest, line[i].bytes);
}

void lacis_sweep_timeline_warn(lacis_run *run, const lacis_sweep_work *work, const char *why)
{
    lacis_run_note(run, LACIS_WARNING, "SWEEP: EXCHANGE TO '%s': %s", work->exchange.to, why);
}

void lacis_sweep_timeline_close(lacis_run *run, const lacis_sweep_work *work, FILE **file)
{
    if (*file == NULL) return;
    int code = ferror(*file) != 0 ? EIO : 0; /* why was lost among later calls */
    if (fclose(*file) != 0 && code == 0) code = errno;
    *file = NULL;
    if (code != 0) lacis_sweep_timeline_warn(run, work, strerror(code));
}
