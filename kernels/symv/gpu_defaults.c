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

/* RING: strips of 1, 2 and 4 of the type's tiles; what was best somewhere. */
#define RING(tx, ty, resident, chunk)                                                                                \
    {                                                                                                                \
        LACIS_SYMV_GPU_RING, tx, ty, 8, 16, resident, chunk                                                          \
    }
#define RINGS_BY(tx, ty, resident)                                                                                   \
    RING(tx, ty, resident, 2), RING(tx, ty, resident, 3), RING(tx, ty, resident, 4), RING(tx, ty, resident, 6)
#define RINGS(tx, ty)                                                                                                \
    RINGS_BY(tx, ty, 3), RING(tx, 2 * ty, 3, 2), RING(tx, 2 * ty, 3, 3), RING(tx, 2 * ty, 3, 4),                     \
        RINGS_BY(tx, 2 * ty, 2), RINGS_BY(tx, 4 * ty, 2), RING(tx, 4 * ty, 2, 8)

static const lacis_symv_gpu_choice f32[] = {SYMV_TILES_F32(TILES_4) SYMV_ROWS_4(ROWS) RINGS_BY(128, 64, 3)};
static const lacis_symv_gpu_choice f64[] = {SYMV_TILES_F64(TILES_8) SYMV_ROWS_8(ROWS) RINGS(64, 64),
                                            RING(64, 256, 3, 3)};
static const lacis_symv_gpu_choice c64[] = {SYMV_TILES_C64(TILES_8) SYMV_ROWS_8(ROWS) RINGS(64, 64),
                                            RING(64, 256, 3, 3)};
static const lacis_symv_gpu_choice c128[] = {SYMV_TILES_C128(TILES_16) SYMV_ROWS_16(ROWS) RINGS(32, 64)};
static const lacis_symv_gpu_choice dd[] = {SYMV_TILES_DD(TILES_16) SYMV_ROWS_16(ROWS) RINGS(32, 64)};
static const lacis_symv_gpu_choice cdd[] = {SYMV_TILES_CDD(TILES_32) SYMV_ROWS_32(ROWS) RINGS_BY(32, 32, 2),
                                            RINGS_BY(32, 64, 2), RING(32, 64, 2, 8)};
static const lacis_symv_gpu_choice f32_f64[] = {SYMV_TILES_F32_F64(TILES_4) SYMV_ROWS_4(ROWS) RINGS_BY(128, 128, 2),
                                                RING(128, 128, 2, 8)};
static const lacis_symv_gpu_choice f32_dd[] = {SYMV_TILES_F32_DD(TILES_4) SYMV_ROWS_4(ROWS) RINGS_BY(128, 64, 2)};
static const lacis_symv_gpu_choice f64_dd[] = {SYMV_TILES_F64_DD(TILES_8) SYMV_ROWS_8(ROWS) RINGS_BY(64, 64, 2),
                                               RINGS_BY(64, 256, 2), RING(64, 256, 2, 8)};

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
    {1500, {LACIS_SYMV_GPU_ROWS, 4, 4, 8, 8, 1, 1}},
    {3000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 4, 5, 1}},
    {10000, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 8, 6, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 8, 6, 2}},
};
static const symv_default default_f64[] = {
    {640, {LACIS_SYMV_GPU_ROWS, 4, 4, 8, 8, 1, 1}},
    {1200, {LACIS_SYMV_GPU_ROWS, 8, 8, 16, 4, 1, 1}},
    {6000, {LACIS_SYMV_GPU_TILES, 32, 32, 4, 4, 10, 1}},
    {10000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 4, 1}},
    {MOST, RING(64, 256, 2, 8)},
};
static const symv_default default_c64[] = {
    {1104, {LACIS_SYMV_GPU_ROWS, 4, 4, 8, 8, 1, 1}},
    {3000, {LACIS_SYMV_GPU_TILES, 32, 32, 4, 4, 8, 1}},
    {10000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 4, 1}},
    {MOST, RING(64, 256, 2, 8)},
};
static const symv_default default_c128[] = {
    {1104, {LACIS_SYMV_GPU_ROWS, 4, 4, 16, 4, 1, 1}},
    {3000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 2, 1}},
    {6000, RING(32, 64, 3, 3)},
    {MOST, RING(32, 256, 2, 8)},
};
static const symv_default default_dd[] = {
    {600, {LACIS_SYMV_GPU_ROWS, 4, 4, 16, 4, 1, 1}},
    {1500, {LACIS_SYMV_GPU_TILES, 32, 32, 4, 4, 5, 1}},
    {3000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 2, 1}},
    {6000, RING(32, 128, 2, 4)},
    {MOST, RING(32, 256, 2, 8)},
};
static const symv_default default_dd_accurate[] = {
    {600, {LACIS_SYMV_GPU_ROWS, 4, 4, 16, 4, 1, 1}},    {1500, {LACIS_SYMV_GPU_TILES, 32, 32, 4, 4, 5, 1}},
    {3000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 2, 1}}, {10000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 2, 4}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 2, 8}},
};
static const symv_default default_cdd[] = {
    {1500, {LACIS_SYMV_GPU_TILES, 32, 32, 8, 8, 2, 1}},
    {6000, RING(32, 64, 2, 4)},
    {MOST, RING(32, 64, 2, 8)},
};
static const symv_default default_f32_f64[] = {
    {1024, {LACIS_SYMV_GPU_ROWS, 8, 8, 8, 8, 1, 1}},
    {6000, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 8, 5, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 8, 4, 8}},
};
static const symv_default default_f32_dd[] = {
    {1024, {LACIS_SYMV_GPU_ROWS, 8, 8, 8, 8, 1, 1}},
    {6000, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 4, 4, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 4, 4, 8}},
};
static const symv_default default_f64_dd[] = {
    {512, {LACIS_SYMV_GPU_ROWS, 4, 4, 8, 8, 1, 1}},
    {3000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 4, 2, 1}},
    {MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 4, 2, 8}},
};
static const symv_default *const defaults[LACIS_SYMV_TYPES] = {
    default_f32, default_f64,     default_c64,    default_c128,   default_dd,
    default_cdd, default_f32_f64, default_f32_dd, default_f64_dd,
};

/* Several small matrices together. */
enum { BATCH_FROM = 4, BATCH_ROWS = 512 };
static const lacis_symv_gpu_choice batch = {LACIS_SYMV_GPU_BATCH, 64, 32, 4, 24, 4, 1};

/* The first of the type's tiles that the canonical order takes: 64 x 64, a tile a block. */
static lacis_symv_gpu_choice canonical(lacis_symv_type type)
{
    int i = 0;
    while (list[type].choice[i].tx != 64 || list[type].choice[i].ty != 64 || list[type].choice[i].chunk != 1)
        i++;
    return list[type].choice[i];
}

static bool aligned(const lacis_symv_job *j)
{
    const int bytes = lacis_symv_matrix_bytes(j->type);
    if ((uintptr_t)j->a % 16 != 0) return false;
    return bytes % 16 == 0 || (!j->packed && j->one == NULL && j->ld * bytes % 16 == 0);
}

/* Several right-hand sides. Double-double is bound by arithmetic: as for one. */
static const symv_default sides_f32[] = {
    {6000, {LACIS_SYMV_GPU_TILES, 128, 64, 8, 8, 3, 3}},
    {10000, {LACIS_SYMV_GPU_TILES, 128, 64, 8, 8, 3, 4}},
    {MOST, RING(128, 256, 2, 4)},
};
static const symv_default sides_f64[] = {
    {6000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 2, 4}}, {10000, RING(64, 256, 2, 4)}, {MOST, RING(64, 512, 2, 4)}};
static const symv_default sides_c64[] = {
    {6000, {LACIS_SYMV_GPU_TILES, 64, 64, 8, 8, 3, 4}}, {10000, RING(64, 256, 2, 4)}, {MOST, RING(64, 512, 2, 4)}};
static const symv_default sides_c128[] = {
    {6000, RING(32, 128, 2, 6)}, {10000, RING(32, 256, 2, 8)}, {MOST, RING(32, 256, 2, 16)}};
static const symv_default sides_f32_f64[] = {{MOST, {LACIS_SYMV_GPU_TILES, 64, 64, 4, 8, 4, 8}}};
static const symv_default *const defaults_of_sides[LACIS_SYMV_TYPES] = {
    [LACIS_SYMV_F32] = sides_f32,   [LACIS_SYMV_F64] = sides_f64,         [LACIS_SYMV_C64] = sides_c64,
    [LACIS_SYMV_C128] = sides_c128, [LACIS_SYMV_F32_F64] = sides_f32_f64,
};

/* From how many rows on columns that begin anywhere are for the ring, too; fewer are read element by element, a tile
 * a block. */
static const int64_t ring_from[LACIS_SYMV_TYPES] = {
    [LACIS_SYMV_F32] = MOST,     [LACIS_SYMV_F64] = MOST,    [LACIS_SYMV_C64] = 10000,
    [LACIS_SYMV_C128] = 0,       [LACIS_SYMV_DD] = 0,        [LACIS_SYMV_CDD] = 0,
    [LACIS_SYMV_F32_F64] = MOST, [LACIS_SYMV_F32_DD] = MOST, [LACIS_SYMV_F64_DD] = MOST,
};
/* Packed columns of type Z seldom begin with a line of memory, which costs high tiles less. */
enum { PACKED_C128 = 10000 };

static lacis_symv_gpu_choice by_size(const lacis_symv_job *j, int64_t n)
{
    const symv_default *d = defaults[j->type];
    if (j->type == LACIS_SYMV_DD && j->accurate) d = default_dd_accurate;
    if (j->sides > 1 && defaults_of_sides[j->type] != NULL) d = defaults_of_sides[j->type];
    while (n > d->n)
        d++;
    if (d->choice.kind == LACIS_SYMV_GPU_ROWS || j->sides > 1) return d->choice;
    if (j->type == LACIS_SYMV_C128 && j->packed && n <= PACKED_C128) return canonical(j->type);
    return aligned(j) || n >= ring_from[j->type] ? d->choice : canonical(j->type);
}

lacis_symv_gpu_choice lacis_symv_gpu_default(const lacis_symv_gpu_job *job)
{
    const lacis_symv_job *j = &job->job;
    int64_t n = j->one != NULL ? 0 : j->n;
    for (int64_t m = 0; j->one != NULL && m < j->matrices; m++)
        if (j->one[m].n > n) n = j->one[m].n;
    if (j->order == LACIS_SYMV_CANONICAL) return canonical(j->type);
    return j->matrices >= BATCH_FROM && n <= BATCH_ROWS ? batch : by_size(j, n);
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
