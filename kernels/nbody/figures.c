/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of a system: energies and momenta, summed in pieces and these in their order; and how far its
 * accelerations lie from direct sums. operators/nbody calls these.
 */
#include "nbody/inside.h"

#include "common/parallel.h"

#include <math.h>
#include <stdlib.h>

/* --- figures -------------------------------------------------------------------------------------------- */

struct sums {
    lacis_nbody_figures *one;
};

static void sum_piece(lacis_nbody *system, void *context, int64_t begin, int64_t end)
{
    struct sums *sums = context;
    system->loops->figures(system, begin, end, &sums->one[begin / NBODY_PIECE]);
}

static void join(lacis_nbody_figures *to, const lacis_nbody_figures *from)
{
    to->mass += from->mass;
    to->kinetic += from->kinetic;
    to->potential += from->potential;
    for (int d = 0; d < 3; d++) {
        to->centre[d] += from->centre[d];
        to->momentum[d] += from->momentum[d];
        to->angular[d] += from->angular[d];
    }
}

lacis_nbody_status lacis_nbody_measure(lacis_nbody *system, lacis_nbody_figures *out)
{
    *out = (lacis_nbody_figures){0};
    const int64_t pieces = (system->n + NBODY_PIECE - 1) / NBODY_PIECE;
    struct sums sums = {nbody_take(&system->host, sizeof *out * (uint64_t)pieces)};
    if (sums.one == NULL) return LACIS_NBODY_NO_MEMORY;
    lacis_nbody_status status = lacis_nbody_prepare(system); /* sums are in the order of the curve */
    if (status == LACIS_NBODY_OK) status = lacis_nbody_over(system, system->n, NBODY_PIECE, sum_piece, &sums);
    for (int64_t p = 0; p < pieces && status == LACIS_NBODY_OK; p++)
        join(out, &sums.one[p]);
    nbody_give(&system->host, sums.one);
    for (int d = 0; d < 3; d++)
        out->centre[d] = out->mass > 0 ? out->centre[d] / out->mass : 0;
    return status;
}

/* --- the certificate -------------------------------------------------------------------------------------- */

struct certificate {
    lacis_nbody *system;
    const int64_t *body;
    double *relative, *scaled;
};

static double share(double part, double whole)
{
    return part == 0 ? 0 : whole > 0 ? part / whole : INFINITY;
}

static int certify_task(void *context, int64_t task, int worker)
{
    const struct certificate *c = context;
    double exact[4], own[3];
    (void)worker;
    if (nbody_stopped(c->system)) return LACIS_NBODY_CANCELLED;
    c->system->loops->certify(c->system, c->body[task], exact, own);
    const double off = hypot(hypot(own[0] - exact[0], own[1] - exact[1]), own[2] - exact[2]);
    c->relative[task] = share(off, hypot(hypot(exact[0], exact[1]), exact[2]));
    c->scaled[task] = share(off, exact[3]);
    return LACIS_NBODY_OK;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The least that so many of them do not exceed. */
static void quantiles(double *value, int64_t n, double out[4])
{
    static const double part[4] = {0.5, 0.9, 0.99, 1};
    qsort(value, (size_t)n, sizeof *value, by_size);
    for (int i = 0; i < 4; i++) {
        const int64_t at = (int64_t)ceil(part[i] * (double)n) - 1;
        out[i] = n == 0 ? 0 : value[at < 0 ? 0 : at];
    }
}

/* Every so many of the caller's numbers. */
static void choose(const lacis_nbody *system, int64_t sample, int64_t *body)
{
    const int64_t stride = system->n / sample;
    for (int64_t i = 0; i < system->n; i++)
        if (system->number[i] % stride == 0 && system->number[i] / stride < sample)
            body[system->number[i] / stride] = i;
}

lacis_nbody_status lacis_nbody_certify(lacis_nbody *system, int64_t sample, lacis_nbody_errors *out)
{
    *out = (lacis_nbody_errors){.sample = sample < system->n ? sample : system->n};
    if (out->sample <= 0) {
        out->sample = 0;
        return LACIS_NBODY_OK;
    }
    const uint64_t many = (uint64_t)out->sample;
    char *block = nbody_take(&system->host, many * (sizeof(int64_t) + 2 * sizeof(double)));
    if (block == NULL) return LACIS_NBODY_NO_MEMORY;
    int64_t *body = (int64_t *)block;
    double *relative = (double *)(body + many), *scaled = relative + many;
    choose(system, out->sample, body);
    struct certificate certificate = {system, body, relative, scaled};
    lacis_nbody_status status =
        (lacis_nbody_status)lacis_parallel(system->threads, out->sample, certify_task, &certificate);
    if (status == LACIS_NBODY_OK) {
        quantiles(relative, out->sample, out->relative);
        quantiles(scaled, out->sample, out->scaled);
    }
    nbody_give(&system->host, block);
    return status;
}
