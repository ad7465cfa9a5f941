/* SPDX-License-Identifier: Apache-2.0
 *
 * How much room a product's entries get on a device. One pass with room for every row's bound is fastest where that
 * fits, as it mostly does; where bounds are far more than there will be entries, a symbolic pass counts them first,
 * for all rows at once or in panels as long as a sample of rows says. The way is chosen by its cost: by gpu_cost.c
 * from the plan's estimate, by gpu_sample.c for a run from rows that the device counts.
 */
#include "multiply/device.h"

#include <math.h>

#ifdef LACIS_GPU_KERNELS

/* ------------------------------------------------------------------------------------------- the choice */

/* Seconds of the pass that counts, a product: what MIDDLE takes (measured on an H200 of counts), which sets the same
 * bits of the same windows before it computes anything. How much less it is, is not measured (an experiment's
 * symbolic pass took a fifth); a row is one block's, so where one has a large share of all products it is more. */
static const double COUNT_SECONDS = 9.6e-12;
/* By so much another way than bounds must be faster to be taken. */
static const double SURELY = 0.9;

double lacis_multiply_room_counting(double products)
{
    return COUNT_SECONDS * products;
}

double lacis_multiply_room_panel(const lacis_product *product, double call)
{
    const double row = 26, rate = 2e12; /* bytes a row of B, read and written; a second: half of what a copy has */
    return call + row * (double)product->job.b.rows / rate;
}

static double panels_of(const lacis_gpu_room_facts *facts, double bytes)
{
    const double room = facts->back > 0 ? facts->left / 2 : facts->left; /* the next panel is computed meanwhile */
    if (bytes <= facts->left) return 1;
    return room > 0 ? ceil(bytes / room) : INFINITY;
}

/* Of several panels the shorter of computing and copying is hidden, but for one panel's. */
static double seconds_of(const lacis_gpu_room_facts *facts, double panels, double counting)
{
    const double kernels = facts->kernels + counting + panels * facts->panel;
    if (panels < 2) return kernels + facts->back;
    return fmax(kernels, facts->back) + fmin(kernels, facts->back) / panels;
}

void lacis_multiply_room_choose(const lacis_gpu_room_facts *facts, lacis_gpu_room *out)
{
    const double counting = lacis_multiply_room_counting(facts->products);
    const double bound = facts->fixed + facts->entry * facts->bound;
    const double exact = facts->fixed + facts->entry * facts->most;
    *out = (lacis_gpu_room){.way = LACIS_ROOM_BOUNDS, .bound = facts->bound, .entries = facts->entries};
    out->bytes[LACIS_ROOM_BOUNDS] = bound;
    out->bytes[LACIS_ROOM_COUNTED] = out->bytes[LACIS_ROOM_SAMPLED] = exact;
    out->panels[LACIS_ROOM_BOUNDS] = panels_of(facts, bound);
    out->panels[LACIS_ROOM_COUNTED] = 1;
    out->panels[LACIS_ROOM_SAMPLED] = fmax(2, panels_of(facts, exact));
    for (int way = 0; way < LACIS_ROOM_WAYS; way++)
        out->seconds[way] = seconds_of(facts, out->panels[way], way == LACIS_ROOM_BOUNDS ? 0 : counting);
    if (exact > facts->left) out->seconds[LACIS_ROOM_COUNTED] = INFINITY;
    if (out->panels[LACIS_ROOM_BOUNDS] < 2 || !facts->countable) return;
    const bool whole = out->seconds[LACIS_ROOM_COUNTED] <= out->seconds[LACIS_ROOM_SAMPLED];
    const lacis_gpu_room_way other = whole ? LACIS_ROOM_COUNTED : LACIS_ROOM_SAMPLED;
    if (out->seconds[other] < SURELY * out->seconds[LACIS_ROOM_BOUNDS]) out->way = other;
}

bool lacis_multiply_room_countable(const lacis_product *product)
{
    const lacis_mul_job *job = &product->job;
    return job->top == 0 && (job->mask == NULL || job->mask_not);
}

/* ---------------------------------------------------------------------------------------------- EXPLAIN */

lacis_status lacis_multiply_room_explain(const lacis_gpu_room *room, double products, lacis_lines *lines)
{
    static const char *const text[LACIS_ROOM_WAYS] = {
        [LACIS_ROOM_BOUNDS] = "for bounds, without counting",
        [LACIS_ROOM_COUNTED] = "for entries, which a symbolic pass counts first",
        [LACIS_ROOM_SAMPLED] = "for entries counted first, in panels as long as a sample says"};
    const lacis_gpu_room_way way = room->way;
    if (room->entries <= 0) return LACIS_OK;
    LACIS_TRY(lacis_lines_add(lines, "room on the GPU %s: %.3g MB in %.0f panel%s", text[way],
                              1e-6 * room->bytes[way], room->panels[way], room->panels[way] >= 2 ? "s" : ""));
    return lacis_lines_add(lines,
                           "compression %.2f: %.3g products, at most %.3g entries (%.3g MB), about %.3g (%.3g MB)",
                           products / room->entries, products, room->bound, 1e-6 * room->bytes[LACIS_ROOM_BOUNDS],
                           room->entries, 1e-6 * room->bytes[LACIS_ROOM_COUNTED]);
}

#endif
