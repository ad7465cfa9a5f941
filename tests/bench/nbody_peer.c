/* SPDX-License-Identifier: Apache-2.0
 *
 * REBOUND's tree code beside lacis-bench nbody, run by Python on the bodies that lacis saved. It times its own steps.
 */
#include "nbody.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A step so short that the bodies stay where they are: then its accelerations are those of their places, and can be
 * compared with direct sums. It takes as long as any other. */
static const char script[] =
    "import csv, math, sys, time, rebound\n"
    "sim = rebound.Simulation()\n"
    "sim.G, sim.dt, sim.softening = 1, 1e-9, 0.05\n"
    "if hasattr(sim, 'configure_box'):\n" /* before 5.0 */
    "    sim.configure_box(4096)\n"
    "else:\n"
    "    sim.root_size = 4096\n"
    "sim.gravity, sim.integrator, sim.boundary = 'tree', 'leapfrog', 'open'\n"
    "sim.opening_angle2 = float(sys.argv[2]) ** 2\n"
    "for row in csv.DictReader(open(sys.argv[1])):\n"
    "    sim.add(**{key: float(row[key]) for key in ('m', 'x', 'y', 'z', 'vx', 'vy', 'vz')})\n"
    "step = (lambda: sim.steps(1)) if hasattr(sim, 'steps') else sim.step\n"
    "step()\n"
    "times = []\n"
    "for _ in range(3):\n"
    "    since = time.perf_counter()\n"
    "    step()\n"
    "    times.append(time.perf_counter() - since)\n"
    "assert sim.N == int(sys.argv[3])\n"
    "bodies = [(p.m, p.x, p.y, p.z) for p in sim.particles]\n"
    "errors = []\n"
    "for at in range(0, sim.N, max(1, sim.N // 60)):\n"
    "    p, a = sim.particles[at], [0.0, 0.0, 0.0]\n"
    "    for m, x, y, z in bodies:\n"
    "        x, y, z = x - p.x, y - p.y, z - p.z\n"
    "        s = x * x + y * y + z * z + 0.0025\n"
    "        s = m / (s * math.sqrt(s))\n"
    "        a[0] += s * x\n"
    "        a[1] += s * y\n"
    "        a[2] += s * z\n"
    "    errors.append(math.dist(a, (p.ax, p.ay, p.az)) / math.hypot(*a))\n"
    "errors.sort()\n"
    "print('figures', sorted(times)[1], errors[len(errors) // 2], errors[len(errors) * 95 // 100])\n";

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

static bool ask(const char *folder, const nbody_case *c, double theta, nbody_figures *f)
{
    char command[400], line[200];
    bool found = false;
    snprintf(command, sizeof command, "OMP_NUM_THREADS=%d python3 %s/peer.py %s/bodies.csv %g %lld 2>/dev/null",
             c->options->threads > 0 ? c->options->threads : (int)sysconf(_SC_NPROCESSORS_ONLN), folder, folder,
             theta, (long long)c->n);
    FILE *out = popen(command, "r");
    if (out == NULL) return false;
    while (fgets(line, sizeof line, out) != NULL)
        found = sscanf(line, "figures %lf %lf %lf", &f->peer, &f->peer_median, &f->peer_tail) == 3 || found;
    return pclose(out) == 0 && found;
}

bool nbody_peer(const nbody_case *c, double theta, nbody_figures *f)
{
    char folder[] = "/tmp/lacis-bench-XXXXXX", path[80], text[200];
    if (mkdtemp(folder) == NULL) return false;
    snprintf(text, sizeof text, "SAVE g TO '%s/bodies.csv'", folder);
    snprintf(path, sizeof path, "%s/peer.py", folder);
    bool good = write_script(path) && lacis_exec(c->db, text, NULL, NULL) == LACIS_OK && ask(folder, c, theta, f);
    unlink(path);
    snprintf(path, sizeof path, "%s/bodies.csv", folder);
    unlink(path);
    rmdir(folder);
    return good;
}
