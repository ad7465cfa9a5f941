/* SPDX-License-Identifier: Apache-2.0
 *
 * Choices of kernels for SYMV on a GPU: the candidates of each type, what is shipped for sm_90 until the tuner knows
 * better, and choices as text. Plain C, built with or without CUDA.
 */
#include "symv/gpu.h"

#include "symv/gpu_choices.h"

#include <stdio.h>
#include <string.h>

const char *const lacis_symv_gpu_kind_name[LACIS_SYMV_GPU_KINDS] = {"tiles",  "ring",  "tickets",
                                                                    "atomic", "batch", "rows"};

/* --- candidates ------------------------------------------------------------------------------------------------- */

/* Elements in 16 bytes, lanes of a column, and loads of 16 bytes under way, as gpu_tile.cuh has them. */
#define PER_LOAD(bytes)               ((bytes) < 16 ? 16 / (bytes) : 1)
#define LANES(bytes, tx)              ((tx) / PER_LOAD(bytes) < 32 ? (tx) / PER_LOAD(bytes) : 32)
#define LOADS(bytes, tx, deep)        ((deep) * ((tx) / PER_LOAD(bytes) / LANES(bytes, tx)) * ((bytes) > 16 ? 2 : 1))
#define ONE(b, tx, ty, w, deep, r, c) {LACIS_SYMV_GPU_TILES, tx, ty, w, LOADS(b, tx, deep), r, c},
/* Chunks of several tiles: of 2, 3, 4 and 8. */
#define RUNS_0(b, tx, ty, w, deep, r) ONE(b, tx, ty, w, deep, r, 1)
#define RUNS_1(b, tx, ty, w, deep, r)                                                                                \
    ONE(b, tx, ty, w, deep, r, 2)                                                                                    \
    ONE(b, tx, ty, w, deep, r, 3) ONE(b, tx, ty, w, deep, r, 4) ONE(b, tx, ty, w, deep, r, 8)
#define TILES_4(tx, ty, w, deep, r, run)  RUNS_##run(4, tx, ty, w, deep, r)
#define TILES_8(tx, ty, w, deep, r, run)  RUNS_##run(8, tx, ty, w, deep, r)
#define TILES_16(tx, ty, w, deep, r, run) RUNS_##run(16, tx, ty, w, deep, r)
#define TILES_32(tx, ty, w, deep, r, run) RUNS_##run(32, tx, ty, w, deep, r)
#define ROWS(rows, warps, deep)           {LACIS_SYMV_GPU_ROWS, rows, rows, warps, deep, 1, 1},

/* Of 2 and 3 blocks a multiprocessor, chunks of 1 to 8 tiles; the tile is the type's. */
#define RING_OF(tx, ty, r, c) {LACIS_SYMV_GPU_RING, tx, ty, 8, 8, r, c},
#define RING_BY(tx, ty, r)                                                                                           \
    RING_OF(tx, ty, r, 1)                                                                                            \
    RING_OF(tx, ty, r, 2) RING_OF(tx, ty, r, 3) RING_OF(tx, ty, r, 4) RING_OF(tx, ty, r, 6) RING_OF(tx, ty, r, 8)
#define RING(tx, ty) RING_BY(tx, ty, 2) RING_BY(tx, ty, 3)

static const lacis_symv_gpu_choice f32[] = {SYMV_TILES_F32(TILES_4) SYMV_ROWS_4(ROWS) RING(128, 64)};
static const lacis_symv_gpu_choice f64[] = {SYMV_TILES_F64(TILES_8) SYMV_ROWS_8(ROWS) RING(64, 64)};
static const lacis_symv_gpu_choice c64[] = {SYMV_TILES_C64(TILES_8) SYMV_ROWS_8(ROWS) RING(64, 64)};
static const lacis_symv_gpu_choice c128[] = {SYMV_TILES_C128(TILES_16) SYMV_ROWS_16(ROWS) RING(32, 64)};
static const lacis_symv_gpu_choice dd[] = {SYMV_TILES_DD(TILES_16) SYMV_ROWS_16(ROWS) RING(32, 64)};
static const lacis_symv_gpu_choice cdd[] = {SYMV_TILES_CDD(TILES_32) SYMV_ROWS_32(ROWS) RING(32, 32)};
static const lacis_symv_gpu_choice f32_f64[] = {SYMV_TILES_F32_F64(TILES_4) SYMV_ROWS_4(ROWS) RING(128, 64)};
static const lacis_symv_gpu_choice f32_dd[] = {SYMV_TILES_F32_DD(TILES_4) SYMV_ROWS_4(ROWS) RING(128, 64)};
static const lacis_symv_gpu_choice f64_dd[] = {SYMV_TILES_F64_DD(TILES_8) SYMV_ROWS_8(ROWS) RING(64, 64)};

static const struct {
    const lacis_symv_gpu_choice *choice;
    int count;
} list[LACIS_SYMV_TYPES] = {
#define LIST(choices)                                                                                                \
    {                                                                                                                \
        choices, (int)(sizeof(choices) / sizeof *(choices))                                                          \
    }
    LIST(f32), LIST(f64), LIST(c64), LIST(c128), LIST(dd), LIST(cdd), LIST(f32_f64), LIST(f32_dd), LIST(f64_dd),
};

int lacis_symv_gpu_candidates(lacis_symv_type type, const lacis_symv_gpu_choice **out)
{
    *out = list[type].choice;
    return list[type].count;
}

/* --- the shipped defaults ----------------------------------------------------------------------------------------
 */

/* Up to `n` rows the choice (ROWS: of so many rows a block). */
typedef struct symv_default {
    int64_t n;
    lacis_symv_gpu_choice choice;
} symv_default;

#define MOST INT64_MAX
static const symv_default default_f32[] = {
    {1024, {LACIS_SYMV_GPU_ROWS, 8, 8, 8, 8, 1, 1}},
    {2048, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 8, 8, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 8, 6, 4}},
};
static const symv_default default_f64[] = {
    {640, {LACIS_SYMV_GPU_ROWS, 4, 4, 8, 8, 1, 1}},     {1200, {LACIS_SYMV_GPU_ROWS, 8, 8, 16, 4, 1, 1}},
    {2048, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 4, 1}}, {10000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 3, 3}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 3, 8}},
};
static const symv_default default_c128[] = {
    {512, {LACIS_SYMV_GPU_ROWS, 4, 4, 16, 4, 1, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 32, 64, 8, 8, 2, 4}},
};
static const symv_default default_dd[] = {
    {512, {LACIS_SYMV_GPU_ROWS, 4, 4, 8, 8, 1, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 32, 64, 8, 8, 2, 8}},
};
static const symv_default default_cdd[] = {{MOST, {LACIS_SYMV_GPU_TILES, 32, 64, 16, 4, 1, 8}}};
static const symv_default default_f32_f64[] = {
    {1024, {LACIS_SYMV_GPU_ROWS, 8, 8, 8, 8, 1, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 8, 4, 4}},
};
static const symv_default default_f32_dd[] = {
    {512, {LACIS_SYMV_GPU_ROWS, 8, 8, 8, 8, 1, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 4, 4, 4}},
};
static const symv_default default_f64_dd[] = {
    {512, {LACIS_SYMV_GPU_ROWS, 4, 4, 8, 8, 1, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 2, 8}},
};
static const symv_default *const defaults[LACIS_SYMV_TYPES] = {default_f32,     default_f64,    default_f64,
                                                               default_c128,    default_dd,     default_cdd,
                                                               default_f32_f64, default_f32_dd, default_f64_dd};

/* The first of the type's tiles that the canonical order takes: 64 x 64, a tile a block. */
static lacis_symv_gpu_choice canonical(lacis_symv_type type)
{
    int i = 0;
    while (list[type].choice[i].tx != 64 || list[type].choice[i].ty != 64 || list[type].choice[i].chunk != 1)
        i++;
    return list[type].choice[i];
}

static lacis_symv_gpu_choice by_size(const lacis_symv_gpu_job *job, int64_t n)
{
    const symv_default *d = defaults[job->job.type];
    while (n > d->n || (job->job.sides > 1 && d->choice.kind == LACIS_SYMV_GPU_ROWS))
        d++;
    return d->choice;
}

lacis_symv_gpu_choice lacis_symv_gpu_default(const lacis_symv_gpu_job *job)
{
    const lacis_symv_job *j = &job->job;
    int64_t n = j->one != NULL ? 0 : j->n;
    for (int64_t m = 0; j->one != NULL && m < j->matrices; m++)
        if (j->one[m].n > n) n = j->one[m].n;
    return j->order == LACIS_SYMV_CANONICAL ? canonical(j->type) : by_size(job, n);
}

/* --- as text
 * --------------------------------------------------------------------------------------------------------- */

const char *lacis_symv_gpu_choice_text(const lacis_symv_gpu_choice *choice, char *text)
{
    snprintf(text, LACIS_SYMV_GPU_CHOICE_TEXT, "%s %dx%d w%d u%d b%d c%d", lacis_symv_gpu_kind_name[choice->kind],
             choice->tx, choice->ty, choice->warps, choice->unroll, choice->resident, choice->chunk);
    return text;
}

bool lacis_symv_gpu_choice_read(const char *text, lacis_symv_gpu_choice *out)
{
    char name[16];
    int end = 0;
    const int read = sscanf(text, "%15s %dx%d w%d u%d b%d c%d%n", name, &out->tx, &out->ty, &out->warps, &out->unroll,
                            &out->resident, &out->chunk, &end);
    if (read != 7 || text[end] != 0) return false;
    for (int kind = 0; kind < LACIS_SYMV_GPU_KINDS; kind++)
        if (strcmp(name, lacis_symv_gpu_kind_name[kind]) == 0) {
            out->kind = (lacis_symv_gpu_kind)kind;
            return true;
        }
    return false;
}
