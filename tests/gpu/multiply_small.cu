/* SPDX-License-Identifier: Apache-2.0
 *
 * SMALL rows of multiply_gpu.cu, sorted and hashed: as many products as pieces, runs and tables hold, one fewer and
 * one more; products all of one column or of as many; long rows of A that lead nowhere; columns beyond those of
 * narrow keys; every type and AGG, in order and in any, with MASK, HAVING and TOP.
 */
#include "multiply_support.h"

#include <algorithm>

enum { SPARE = 600 }; /* rows of B without entries, for long rows of A */

/* Row r of A has products[r] products by a B whose rows have `each` entries, but for the last ones which have one,
 * and for SPARE that have none, of which every third row of A has all. */
static matrix rows_with(const std::vector<int64_t> &products, int64_t each, int64_t full, int64_t single)
{
    std::vector<u64> key;
    for (size_t r = 0; r < products.size(); r++) {
        const int64_t whole = std::min(products[r] / each, full), rest = products[r] - whole * each;
        for (int64_t c = 0; c < whole; c++)
            key.push_back((u64)r << 32 | (u64)c);
        for (int64_t c = 0; c < std::min(rest, single); c++)
            key.push_back((u64)r << 32 | (u64)(full + c));
        for (int64_t c = 0; r % 3 == 2 && c < SPARE; c++)
            key.push_back((u64)r << 32 | (u64)(full + single + c));
    }
    return from_keys(key, (int64_t)products.size(), full + single + SPARE);
}

static matrix columns_for(int64_t each, int64_t full, int64_t single, int64_t cols, int64_t spread, u64 *state)
{
    std::vector<u64> key;
    for (int64_t c = 0; c < full + single; c++)
        for (int64_t e = 0; e < (c < full ? each : 1); e++)
            key.push_back((u64)c << 32 | (u64)(cols - 1 - (int64_t)(next_random(state) % (u64)spread)));
    return from_keys(key, full + single + SPARE, cols);
}

static void vary(lacis_mul_gpu_job &job, int agg, int way, const lacis_mul_matrix *mask, u64 *state)
{
    static const lacis_mul_storage counts[] = {LACIS_MUL_TO_U8, LACIS_MUL_TO_U16, LACIS_MUL_TO_U32, LACIS_MUL_TO_I64};
    job.con_kind = (lacis_mul_con)(agg == LACIS_MUL_COUNT ? 0 : 1 + next_random(state) % 4);
    job.agg = (lacis_mul_agg)agg;
    job.storage = agg == LACIS_MUL_COUNT ? counts[next_random(state) % 4]
                  : agg == LACIS_MUL_AVG ? LACIS_MUL_TO_F64
                                         : storage_of(job.type);
    job.small = way & 1 ? LACIS_MUL_GPU_SORT : LACIS_MUL_GPU_HASH;
    job.force = next_random(state) % 2 ? LACIS_MUL_GPU_SMALL : LACIS_MUL_GPU_EMPTY;
    job.mask_not = next_random(state) % 2;
    if (next_random(state) % 3 == 0) job.mask = mask;
    if (next_random(state) % 3 == 0) random_having(job, state);
    if (next_random(state) % 5 == 0) job.top = 1 + (int64_t)(next_random(state) % 40);
    if (next_random(state) % 4 == 0) job.t_lo = 3;
    if (next_random(state) % 3 == 0) job.side[0] = job.side[1] = nullptr;
}

/* Wild values are folded in order, others, which are small whole numbers, in any: to the same bits. */
static void check_type(matrix a, matrix b, const matrix &mask, lacis_mul_type type, u64 *state, bool brief)
{
    for (int wild = 0; wild < 2; wild++) {
        add_values(a, type, state, wild);
        add_values(b, type, state, wild);
        lacis_mul_matrix da = to_device(a, type), db = to_device(b, type), dm = to_device(mask, type);
        for (int agg = LACIS_MUL_COUNT; agg <= LACIS_MUL_AVG; agg++)
            for (int way = 0; way < (brief ? 2 : 8); way++) {
                lacis_mul_gpu_job job = make_job(da, db);
                vary(job, agg, way, &dm, state);
                job.ordered = wild || way & 2;
                job.checked = !wild && way & 4 && agg == LACIS_MUL_SUM;
                if (job.con_kind == LACIS_MUL_CON_MUL && !job.ordered && type == LACIS_MUL_F32)
                    job.con_kind = LACIS_MUL_CON_ADD; /* sums beyond 2^24 */
                mask_matrix = job.mask ? &mask : nullptr;
                expect(check_job(a, b, job, {}, 0, a.rows));
                mask_matrix = nullptr;
            }
        free_matrix(da), free_matrix(db), free_matrix(dm);
    }
}

/* Rows that are asked for are SMALL, and no others. */
static void check_class(const matrix &a, const matrix &b, const std::vector<int64_t> &products)
{
    lacis_mul_matrix da = to_device(a, LACIS_MUL_I32), db = to_device(b, LACIS_MUL_I32);
    for (int small = 0; small < LACIS_MUL_GPU_SMALLS; small++) {
        lacis_mul_gpu_job job = make_job(da, db);
        job.agg = LACIS_MUL_COUNT;
        job.storage = LACIS_MUL_TO_U32;
        job.small = (lacis_mul_gpu_small)small;
        lacis_mul_gpu_totals totals;
        expect(lacis_mul_gpu_look(&job, nullptr, 0, a.rows, nullptr, &totals) == LACIS_MUL_GPU_OK);
        u64 rows = 0, sum = 0;
        for (size_t r = 0; r < products.size(); r++) {
            const bool tiny = products[r] <= 64 && a.end[r] - a.begin[r] <= 32, copied = a.end[r] - a.begin[r] == 1;
            if (products[r] == 0 || products[r] > LACIS_MUL_GPU_SMALL_MOST || tiny || copied) continue;
            rows++;
            sum += (u64)products[r];
        }
        expect(rows > 0 && totals.class_rows[LACIS_MUL_GPU_SMALL] == (small ? rows : 0) &&
               totals.class_products[LACIS_MUL_GPU_SMALL] == (small ? sum : 0));
    }
    free_matrix(da), free_matrix(db);
}

static std::vector<int64_t> counted(const matrix &a, const matrix &b)
{
    std::vector<int64_t> products((size_t)a.rows);
    for (int64_t r = 0; r < a.rows; r++)
        for (int64_t i = a.begin[r]; i < a.end[r]; i++)
            products[r] += b.end[a.column[i]] - b.begin[a.column[i]];
    return products;
}

void check_small(u64 seed, bool brief)
{
    /* Columns of B's rows among so many, and of B. */
    static const int64_t spread[][2] = {{1, 1}, {9, 40}, {700, 70000}, {1 << 21, (1 << 21) - 1}, {1 << 30, 1 << 30}};
    static const int64_t edges[] = {0,   1,   31,  32,  33,  63,  64,   65,   127,  128,  129,
                                    255, 256, 257, 511, 513, 700, 1024, 1025, 2047, 2048, 2049};
    u64 state = seed;
    for (int turn = 0; turn < 5; turn++) {
        const int64_t each = spread[turn][0] == 1 ? 1 : 7, full = 2100 / each, single = 8;
        const int64_t cols = spread[turn][1], among = std::min(spread[turn][0], cols);
        std::vector<int64_t> wanted_products(edges, edges + sizeof edges / sizeof *edges);
        for (int i = 0; i < 12; i++)
            wanted_products.push_back((int64_t)(next_random(&state) % 2100));
        matrix b = columns_for(each, full, single, cols, among, &state);
        matrix a = rows_with(wanted_products, each, full, single);
        const matrix mask = make_shape(&state, 0, a.rows, std::min<int64_t>(cols, 1 << 16), 20 * a.rows);
        check_class(a, b, counted(a, b));
        matrix wide_mask = mask;
        wide_mask.cols = cols;
        for (int type = 0; type < 4; type++)
            if (wanted(type) && (!brief || type == (turn + (int)seed) % 4))
                check_type(a, b, wide_mask, (lacis_mul_type)type, &state, brief);
    }
    for (int shape = 0; shape < 5; shape++) {
        const int64_t n = shape == 3 ? 40 : brief ? 60 : 300;
        matrix a = make_shape(&state, shape, n, n, 15 * n), b = make_shape(&state, shape, n, n, 15 * n);
        const matrix mask = make_shape(&state, 0, n, n, 8 * n);
        for (int type = 0; type < 4; type++)
            if (wanted(type) && (!brief || type == (shape + (int)seed) % 4))
                check_type(a, b, mask, (lacis_mul_type)type, &state, brief);
    }
}
