/* SPDX-License-Identifier: Apache-2.0
 *
 * REBOUND's tree code beside lacis-bench nbody, run by Python on the bodies that lacis saved. It times its own steps.
 */
#include "nbody.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char script[] =
    "import csv, sys, time, rebound\n"
    "sim = rebound.Simulation()\n"
    "sim.G, sim.dt, sim.softening = 1, 0.005, 0.05\n"
    "sim.configure_box(4096)\n"
    "sim.gravity, sim.integrator, sim.boundary = 'tree', 'leapfrog', 'open'\n"
    "sim.opening_angle2 = float(sys.argv[2]) ** 2\n"
    "for row in csv.DictReader(open(sys.argv[1])):\n"
    "    sim.add(**{key: float(row[key]) for key in ('m', 'x', 'y', 'z', 'vx', 'vy', 'vz')})\n"
    "sim.step()\n"
    "times = []\n"
    "for _ in range(3):\n"
    "    since = time.perf_counter()\n"
    "    sim.step()\n"
    "    times.append(time.perf_counter() - since)\n"
    "assert sim.N == int(sys.argv[3])\n"
    "print('seconds', sorted(times)[1])\n";

bool nbody_has_peer(const bench_options *options)
{
    if (options->peer != NULL && strcmp(options->peer, "rebound") != 0) return false;
    return strcmp(options->device, "cpu") == 0 && system("python3 -c 'import rebound' >/dev/null 2>&1") == 0;
}

static bool write_script(const char *path)
{
    FILE *file = fopen(path, "w");
    if (file == NULL) return false;
    bool good = fputs(script, file) >= 0;
    return fclose(file) == 0 && good;
}

static bool ask(const char *folder, const nbody_case *c, double theta, double *seconds)
{
    char command[400], line[200];
    bool found = false;
    snprintf(command, sizeof command, "OMP_NUM_THREADS=%d python3 %s/peer.py %s/bodies.csv %g %lld 2>/dev/null",
             c->options->threads > 0 ? c->options->threads : (int)sysconf(_SC_NPROCESSORS_ONLN), folder, folder,
             theta, (long long)c->n);
    FILE *out = popen(command, "r");
    if (out == NULL) return false;
    while (fgets(line, sizeof line, out) != NULL)
        found = sscanf(line, "seconds %lf", seconds) == 1 || found;
    return pclose(out) == 0 && found;
}

bool nbody_peer(const nbody_case *c, double theta, double *seconds)
{
    char folder[] = "/tmp/lacis-bench-XXXXXX", path[80], text[200];
    if (mkdtemp(folder) == NULL) return false;
    snprintf(text, sizeof text, "SAVE g TO '%s/bodies.csv'", folder);
    snprintf(path, sizeof path, "%s/peer.py", folder);
    bool good =
        write_script(path) && lacis_exec(c->db, text, NULL, NULL) == LACIS_OK && ask(folder, c, theta, seconds);
    unlink(path);
    snprintf(path, sizeof path, "%s/bodies.csv", folder);
    unlink(path);
    rmdir(folder);
    return good;
}
