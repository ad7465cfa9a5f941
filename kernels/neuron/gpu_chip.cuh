/* SPDX-License-Identifier: Apache-2.0
 *
 * CHIP's shared memory, and the two sweeps of a group of threads through its rows (gpu_schedule.h). Used by
 * gpu_chip.cu.
 */
#ifndef LACIS_KERNELS_NEURON_GPU_CHIP_CUH
#define LACIS_KERNELS_NEURON_GPU_CHIP_CUH

#include "gpu_record.cuh"
#include "gpu_schedule.h"

/* What lies in shared memory, as offsets in bytes: of them few instructions make addresses. Voltages and the like of
 * row i and lane l stand i * row + 8 l behind the array's beginning. */
struct chip {
    uint32_t y;              /* voltages; within a step right-hand sides, then solutions */
    uint32_t f;              /* excesses, then these over their diagonals; not CONSTANT */
    uint32_t old;            /* Crank-Nicolson: voltages */
    uint32_t couple, member; /* member: CONSTANT */
    uint32_t word, list, event;
    uint32_t row;
    int shift, lanes, groups;
};

extern __shared__ double2 memory[];
template <class T> NEUG_DEVICE T &at(uint32_t offset)
{
    return *(T *)((char *)memory + offset);
}

NEUG_DEVICE uint32_t take(uint32_t *end, size_t bytes)
{
    const uint32_t out = *end;
    *end += (uint32_t)(bytes + 15) / 16 * 16;
    return out;
}

enum { WORDS_AHEAD = 2 }; /* that are read behind the last, and in front of the first */

template <int MODEL, bool HALF> NEUG_DEVICE chip lay_out(const neug_shape &shape, int lanes, int groups)
{
    chip c;
    uint32_t end = 0;
    const size_t n = (size_t)shape.nodes, all = n * (size_t)lanes * sizeof(double);
    c.lanes = lanes;
    c.groups = groups;
    c.shift = __ffs(lanes) - 1;
    c.row = (uint32_t)lanes * 8;
    c.y = take(&end, all);
    c.f = MODEL == NEUG_CONSTANT ? 0 : take(&end, all);
    c.old = HALF ? take(&end, all) : 0;
    c.couple = take(&end, n * sizeof(double2));
    c.member = MODEL == NEUG_CONSTANT ? take(&end, n * sizeof(double2)) : 0;
    c.word = take(&end, (n + 2 * WORDS_AHEAD) * sizeof(uint2)) + (uint32_t)(WORDS_AHEAD * sizeof(uint2));
    c.list = take(&end, (2 * (size_t)(shape.phases * groups) + 2) * sizeof(int32_t));
    c.event = take(&end, (size_t)shape.events * sizeof(uint32_t));
    return c;
}

/* A thread's part in a block's work. */
struct worker {
    const neug_clamp *clamp;
    uint32_t lane; /* its place in a row, in bytes */
    int group;
    int64_t number; /* of the lane, in the panel */
    neug_lane scale;
};

template <int MODEL, bool BY_LANE> NEUG_DEVICE double coupling(const worker &w, double c)
{
    return MODEL != NEUG_CONSTANT && BY_LANE ? c * w.scale.couple : c;
}

/* A row that is due, read ahead; where there is one child beside the next, that is in it. */
struct due {
    double sum, excess;
    double2 couple;
};

template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE due fetch_rising(const chip &c, const worker &w, uint32_t k, uint32_t word)
{
    due out;
    const uint32_t here = k * c.row + w.lane;
    out.couple = at<double2>(c.couple + k * 16);
    if constexpr (MODEL == NEUG_CONSTANT) {
        const double2 member = at<double2>(c.member + k * 16);
        out.sum = fma(member.x, at<double>((HALF ? c.old : c.y) + here), BY_LANE ? member.y * w.scale.ge : member.y);
    } else {
        out.sum = at<double>(c.y + here);
        out.excess = at<double>(c.f + here);
    }
    const bool child = word & NEUG_ROW_CHILD;
    const uint32_t which = word & NEUG_ROW_MASK, there = which * c.row + w.lane;
    const double down = child ? coupling<MODEL, BY_LANE>(w, at<double>(c.couple + which * 16)) : 0;
    out.sum += down * (child ? at<double>(c.y + there) : 0);
    if constexpr (MODEL != NEUG_CONSTANT) out.excess += down * (child ? at<double>(c.f + there) : 0);
    return out;
}

/* Clamps and children as the list of events has them. Answers what follows them there. */
template <int MODEL, bool BY_LANE>
NEUG_DEVICE uint32_t take_events(const neug_params &p, const chip &c, const worker &w, int64_t step, uint32_t event,
                                 due *d)
{
    double sum = 0, excess = 0;
    for (uint32_t what = 0; !(what & NEUG_EVENT_END); event += sizeof what) {
        what = at<uint32_t>(event);
        const uint32_t id = what & NEUG_ROW_MASK, there = id * c.row + w.lane;
        if (what & NEUG_EVENT_CLAMP) {
            d->sum += neug_current(p, w.clamp[id], w.number, step);
            continue;
        }
        const double down = coupling<MODEL, BY_LANE>(w, at<double>(c.couple + id * 16));
        if (what & NEUG_EVENT_NEXT) {
            d->sum = fma(down, at<double>(c.y + there), d->sum);
            if (MODEL != NEUG_CONSTANT) d->excess = fma(down, at<double>(c.f + there), d->excess);
            continue;
        }
        sum = fma(down, at<double>(c.y + there), sum);
        if (MODEL != NEUG_CONSTANT) excess = fma(down, at<double>(c.f + there), excess);
        if (!(what & NEUG_EVENT_CLOSE)) continue;
        d->sum += sum;
        if (MODEL != NEUG_CONSTANT) d->excess += excess;
    }
    return event;
}

/* What goes from row to row on the way to the root. */
struct carried {
    double y, f, below; /* of the row before; below: its coupling to the parent */
    uint32_t event;
};

template <int MODEL, bool BY_LANE>
NEUG_DEVICE void finish(const neug_params &p, const chip &c, const worker &w, int64_t step, uint32_t k, uint32_t word,
                        due d, carried *r)
{
    if (word & NEUG_ROW_EVENTS) r->event = take_events<MODEL, BY_LANE>(p, c, w, step, r->event, &d);
    if (word & NEUG_ROW_NEXT) {
        const double down = coupling<MODEL, BY_LANE>(w, r->below);
        d.sum = fma(down, r->y, d.sum);
        if (MODEL != NEUG_CONSTANT) d.excess = fma(down, r->f, d.excess);
    }
    const uint32_t here = k * c.row + w.lane;
    r->y = d.sum;
    if constexpr (MODEL != NEUG_CONSTANT) {
        const double inverse = neug_reciprocal(d.excess + coupling<MODEL, BY_LANE>(w, d.couple.y));
        r->y *= inverse;
        r->f = d.excess * inverse;
        at<double>(c.f + here) = r->f;
    }
    at<double>(c.y + here) = r->y;
    r->below = d.couple.x;
}

NEUG_DEVICE uint2 word_of(const chip &c, uint32_t k)
{
    return at<uint2>(c.word + k * (uint32_t)sizeof(uint2));
}

template <int MODEL, bool HALF, bool BY_LANE>
NEUG_DEVICE void rise(const neug_params &p, const chip &c, const worker &w, int32_t phase, int64_t step)
{
    const uint32_t list = c.list + 8 * (uint32_t)(phase * c.groups + w.group);
    uint32_t k = at<uint32_t>(list);
    const uint32_t end = at<uint32_t>(list + 8);
    if (k == end) return;
    carried r = {0, 0, 0, c.event + 4 * at<uint32_t>(list + 4)};
    uint32_t word = word_of(c, k).x, next_word = word_of(c, k + 1).x;
    due now = fetch_rising<MODEL, HALF, BY_LANE>(c, w, k, word);
#pragma unroll 2
    for (; k + 1 < end; k++) {
        const uint32_t second_word = word_of(c, k + 2).x;
        const due next = fetch_rising<MODEL, HALF, BY_LANE>(c, w, k + 1, next_word);
        finish<MODEL, BY_LANE>(p, c, w, step, k, word, now, &r);
        word = next_word;
        next_word = second_word;
        now = next;
    }
    finish<MODEL, BY_LANE>(p, c, w, step, k, word, now, &r);
}

/* A row that is due in the sweep to the tips: v = y + up times the parent's. */
struct falls {
    double y, up, parent;
};

template <int MODEL> NEUG_DEVICE falls fetch_falling(const chip &c, const worker &w, uint32_t k, uint32_t word)
{
    const uint32_t here = k * c.row + w.lane;
    falls out;
    out.y = at<double>(c.y + here);
    out.up = MODEL == NEUG_CONSTANT ? at<double>(c.couple + k * 16 + 8) : at<double>(c.f + here);
    out.parent = at<double>(c.y + (word & NEUG_ROW_MASK) * c.row + w.lane); /* of the root: itself, not used */
    return out;
}

template <int MODEL, bool HALF>
NEUG_DEVICE double settle(const chip &c, const worker &w, uint32_t k, uint32_t word, const falls &d, double before)
{
    const double above = word & NEUG_ROW_UNDER ? before : d.parent, up = MODEL == NEUG_CONSTANT ? d.up : 1.0 - d.up;
    const double u = word & NEUG_ROW_ROOT ? d.y : fma(up, above, d.y);
    const uint32_t here = k * c.row + w.lane;
    at<double>(c.y + here) = u;
    if constexpr (HALF) at<double>(c.old + here) = fma(2.0, u, -at<double>(c.old + here));
    return u;
}

template <int MODEL, bool HALF> NEUG_DEVICE void fall(const chip &c, const worker &w, int32_t phase)
{
    const uint32_t list = c.list + 8 * (uint32_t)(phase * c.groups + w.group);
    const uint32_t first = at<uint32_t>(list);
    uint32_t k = at<uint32_t>(list + 8);
    if (k-- == first) return;
    uint32_t word = word_of(c, k).y, next_word = word_of(c, k - 1).y;
    falls now = fetch_falling<MODEL>(c, w, k, word);
    double u = 0;
#pragma unroll 2
    for (; k > first; k--) {
        const uint32_t second_word = word_of(c, k - 2).y;
        const falls next = fetch_falling<MODEL>(c, w, k - 1, next_word);
        u = settle<MODEL, HALF>(c, w, k, word, now, u);
        word = next_word;
        next_word = second_word;
        now = next;
    }
    settle<MODEL, HALF>(c, w, k, word, now, u);
}

/* The voltage of a row and lane: of number (row << shift) + lane. */
template <bool HALF> NEUG_DEVICE double &voltage(const chip &c, uint32_t place)
{
    return at<double>((HALF ? c.old : c.y) + place * 8);
}

#endif
