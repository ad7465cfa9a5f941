/* SPDX-License-Identifier: Apache-2.0
 *
 * The canonical order (symv.h) of one type; included after number.h. A part is a column of tiles; the sums of 64 that
 * each tile gives to the rows' and to the columns' part of y have a place of their own in the room, and are added
 * when all are there.
 *
 * Within a tile, vectors and columns lie by planes (all first components, ..) and in the order of the chains of
 * `along` sums: element p at p % V * (64 / V) + p / V, so that a chain's steps are whole vectors apart.
 */

enum {
    CANONICAL_SIDES = 4,
    V = 16 / (sizeof(E) * MATRIX) > 0 ? 16 / (sizeof(E) * MATRIX) : 1,
    CHAINS = SYMV_TILE / V,
    WAYS = 8, /* sums that are halved to one, across and over the tiles */
    PLANES = PARTS * SYMV_TILE
};

ALWAYS int canonical_place(int p)
{
    return p % V * CHAINS + p / V;
}

static int64_t canonical_tiles(int64_t n)
{
    return (n + SYMV_TILE - 1) / SYMV_TILE;
}

static uint64_t canonical_room(int64_t n, int sides)
{
    const uint64_t tiles = (uint64_t)canonical_tiles(n);
    return (tiles + tiles * tiles) * (uint64_t)sides * PLANES * sizeof(T);
}

ALWAYS T *canonical_x(const symv_pass *pass, int side, int64_t tile)
{
    return (T *)pass->room + (side * canonical_tiles(pass->m->n) + tile) * PLANES;
}

/* The sums that tile row t gives to part r of y. */
ALWAYS T *canonical_slot(const symv_pass *pass, int side, int64_t r, int64_t t)
{
    const int64_t tiles = canonical_tiles(pass->m->n);
    return canonical_x(pass, pass->sides, 0) + ((side * tiles + r) * tiles + t) * PLANES;
}

ALWAYS num planes_get(const T *planes, int p)
{
    num out;
    for (int i = 0; i < PARTS; i++)
        out.v[i] = planes[i * SYMV_TILE + p];
    return out;
}

ALWAYS void planes_put(T *planes, int p, num value)
{
    for (int i = 0; i < PARTS; i++)
        planes[i * SYMV_TILE + p] = value.v[i];
}

ALWAYS mat column_get(const T *column, int p)
{
    mat out;
    for (int i = 0; i < MATRIX; i++)
        out.v[i] = column[i * SYMV_TILE + p];
    return out;
}

ALWAYS void column_put(T *column, int p, mat value)
{
    for (int i = 0; i < MATRIX; i++)
        column[i * SYMV_TILE + p] = value.v[i];
}

static void canonical_bring(const symv_pass *pass)
{
    const int64_t n = pass->m->n;
    for (int side = 0; side < pass->sides; side++)
        for (int64_t tile = 0; tile < canonical_tiles(n); tile++) {
            T *planes = canonical_x(pass, side, tile);
            memset(planes, 0, sizeof(T) * PLANES);
            for (int p = 0; p < SYMV_TILE && tile * SYMV_TILE + p < n; p++) {
                num value;
                memcpy(&value, x_at(pass, side, tile * SYMV_TILE + p), sizeof value);
                planes_put(planes, canonical_place(p), value);
            }
        }
}

/* --- columns of a tile ------------------------------------------------------------------------------- */

/* Rows [row, row + 64) of column j. */
ALWAYS void column_beside(const symv_matrix *m, int64_t row, int64_t j, T *column)
{
    const E *from = (const E *)symv_column(m, j) + row * MATRIX;
    int count = m->n - row < SYMV_TILE ? (int)(m->n - row) : SYMV_TILE;
    if (count < SYMV_TILE) memset(column, 0, sizeof(T) * MATRIX * SYMV_TILE);
    if (count == SYMV_TILE) {
        for (int v = 0; v < V; v++)
            for (int g = 0; g < CHAINS; g++)
                column_put(column, v * CHAINS + g, mat_read(from + (g * V + v) * MATRIX));
        return;
    }
    for (int p = 0; p < count; p++)
        column_put(column, canonical_place(p), mat_read(from + p * MATRIX));
}

/* The same of the tile on the diagonal, with what the other triangle has. */
static void column_mirrored(const symv_matrix *m, int64_t row, int64_t j, T *column)
{
    const bool lower = m->job->uplo == LACIS_SYMV_LOWER, hermitian = m->job->hermitian;
    memset(column, 0, sizeof(T) * MATRIX * SYMV_TILE);
    for (int p = 0; p < SYMV_TILE && row + p < m->n; p++) {
        const int64_t i = row + p;
        const bool stored = lower ? i >= j : i <= j;
        mat a = mat_read((const E *)symv_column(m, stored ? j : i) + (stored ? i : j) * MATRIX);
        if (i == j) a = mat_diagonal(a, hermitian);
        if (!stored) a = mat_mirror(a, hermitian);
        column_put(column, canonical_place(p), a);
    }
}

/* --- the two sums ------------------------------------------------------------------------------------ */

ALWAYS num canonical_along(const T *column, const T *x, bool hermitian, bool accurate)
{
    num s[CHAINS] = {0};
    T chain[PLANES] = {0};
    for (int v = 0; v < V; v++)
        for (int g = 0; g < CHAINS; g++) {
            const int p = v * CHAINS + g;
            const mat a = mat_mirror(column_get(column, p), hermitian);
            planes_put(chain, g, mat_step(a, planes_get(x, p), planes_get(chain, g), accurate));
        }
    for (int g = 0; g < CHAINS; g++)
        s[g] = planes_get(chain, g);
    for (int h = CHAINS / 2; h >= 1; h /= 2)
        for (int g = 0; g < h; g++)
            s[g] = num_plus(s[g], s[g + h], accurate);
    return s[0];
}

ALWAYS void canonical_across(const T *column, num x, T *sums, bool accurate)
{
    for (int p = 0; p < SYMV_TILE; p++)
        planes_put(sums, p, mat_step(column_get(column, p), x, planes_get(sums, p), accurate));
}

ALWAYS void canonical_halve(T (*sums)[PLANES], T *out, bool accurate)
{
    for (int h = WAYS / 2; h >= 1; h /= 2)
        for (int g = 0; g < h; g++)
            for (int p = 0; p < SYMV_TILE; p++)
                planes_put(sums[g], p, num_plus(planes_get(sums[g], p), planes_get(sums[g + h], p), accurate));
    memcpy(out, sums[0], sizeof sums[0]);
}

/* Tile (r, c) of the stored triangle. */
ALWAYS void canonical_tile(const symv_pass *pass, int64_t r, int64_t c, bool hermitian, bool accurate)
{
    T column[MATRIX * SYMV_TILE], across[CANONICAL_SIDES][WAYS][PLANES];
    memset(across, 0, sizeof across);
    for (int q = 0; q < SYMV_TILE; q++) {
        const int64_t j = c * SYMV_TILE + q;
        if (j >= pass->m->n) {
            memset(column, 0, sizeof column);
        } else if (r == c) {
            column_mirrored(pass->m, r * SYMV_TILE, j, column);
        } else {
            column_beside(pass->m, r * SYMV_TILE, j, column);
        }
        const int place = canonical_place(q);
        for (int side = 0; side < pass->sides; side++) {
            canonical_across(column, planes_get(canonical_x(pass, side, c), place), across[side][q % WAYS], accurate);
            if (r == c) continue;
            num along = canonical_along(column, canonical_x(pass, side, r), hermitian, accurate);
            planes_put(canonical_slot(pass, side, c, r), place, along);
        }
    }
    for (int side = 0; side < pass->sides; side++)
        canonical_halve(across[side], canonical_slot(pass, side, r, c), accurate);
}

ALWAYS void canonical_column(const symv_pass *pass, int64_t c, bool hermitian, bool accurate)
{
    const bool lower = pass->m->job->uplo == LACIS_SYMV_LOWER;
    const int64_t end = lower ? canonical_tiles(pass->m->n) : c + 1;
    for (int64_t r = lower ? c : 0; r < end; r++)
        canonical_tile(pass, r, c, hermitian, accurate);
}

ALWAYS void canonical_sum_of(const symv_pass *pass, int side, int64_t r, T *out, bool accurate)
{
    T sums[WAYS][PLANES];
    memset(sums, 0, sizeof sums);
    for (int64_t t = 0; t < canonical_tiles(pass->m->n); t++) {
        const T *slot = canonical_slot(pass, side, r, t);
        T *to = sums[t % WAYS];
        for (int p = 0; p < SYMV_TILE; p++)
            planes_put(to, p, num_plus(planes_get(to, p), planes_get(slot, p), accurate));
    }
    canonical_halve(sums, out, accurate);
}

/* --- what the table has ------------------------------------------------------------------------------ */

static void canonical_part(const symv_pass *pass, int64_t part)
{
    const lacis_symv_job *job = pass->m->job;
    /* The longest columns first, for the threads' sake. */
    const int64_t c = job->uplo == LACIS_SYMV_LOWER ? part : canonical_tiles(pass->m->n) - 1 - part;
    const bool hermitian = IS_COMPLEX && job->hermitian;
#if IS_WIDE
    if (job->accurate) {
        canonical_column(pass, c, hermitian, true);
        return;
    }
#endif
    canonical_column(pass, c, hermitian, false);
}

static void canonical_sum(const symv_pass *pass, int side, int64_t row, int count, void *out)
{
    T planes[PLANES];
    num *to = out;
    for (int i = 0; i < count; i += SYMV_TILE) {
        canonical_sum_of(pass, side, (row + i) / SYMV_TILE, planes, IS_WIDE && pass->m->job->accurate);
        for (int p = 0; p < SYMV_TILE && i + p < count; p++)
            to[i + p] = planes_get(planes, canonical_place(p));
    }
}
