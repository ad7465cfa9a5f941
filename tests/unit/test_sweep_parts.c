/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/sweep on the CPU in parts: grids cut into blocks that exchange halos, some steps between exchanges, each
 * step in boxes that reach into the halo; or several steps in one call. Fields and changes bit for bit the naive
 * reference's.
 */
#include "unit/sweep_cases.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 1
#else
#define SLOW 0
#endif

enum { CUTS_MOST = 3, PARTS_MOST = CUTS_MOST * CUTS_MOST * CUTS_MOST };

typedef struct part {
    lacis_sweep_start start;
    lacis_sweep *system;
    int at[3];
    lacis_sweep_box box; /* own cells */
    void *array[LACIS_SWEEP_ARRAYS];
    void *values[LACIS_SWEEP_FIELDS][LACIS_SWEEP_FACES];
} part;

typedef struct blocks {
    const sweep_case *c;
    int cuts[3]; /* parts along each axis */
    int64_t begin[3][CUTS_MOST + 1], halo[3];
    int steps; /* between exchanges */
    part part[PARTS_MOST];
    int parts;
    sweep_memory memory;
} blocks;

static int64_t wrapped(int64_t at, int64_t n)
{
    return ((at % n) + n) % n;
}

/* --- cutting ---------------------------------------------------------------------------------------------- */

/* Cuts of one axis, each part as long as the halo at least; 1 part where that cannot be or periodicity is mixed. */
static void cut_axis(blocks *b, int axis, bool at_tiles, uint64_t *seed)
{
    const sweep_case *c = b->c;
    const int64_t n = c->start.extent[axis], unit = !at_tiles   ? 1
                                                    : axis == 0 ? LACIS_SWEEP_TILE_X
                                                    : axis == 1 ? LACIS_SWEEP_TILE_Y
                                                                : 1;
    int periodic = 0;
    for (int f = 0; f < c->start.fields; f++)
        periodic += c->start.edge[f][2 * axis].kind == LACIS_SWEEP_PERIODIC;
    int cuts = 1 + (int)below(seed, CUTS_MOST);
    b->halo[axis] = b->steps * c->reach[axis];
    if (axis >= c->start.dims || (periodic != 0 && periodic != c->start.fields)) cuts = 1;
    for (;; cuts--) {
        bool fits = true;
        for (int i = 0; i <= cuts; i++)
            b->begin[axis][i] = i == cuts ? n : n * i / cuts / unit * unit;
        for (int i = 0; i < cuts; i++)
            fits &= b->begin[axis][i + 1] - b->begin[axis][i] > b->halo[axis];
        if (fits || cuts == 1) break;
    }
    b->cuts[axis] = cuts;
}

static bool is_inner(const blocks *b, const part *p, int face)
{
    const int axis = face / 2, last = b->cuts[axis] - 1;
    if (last == 0) return false;
    return b->c->start.edge[0][face].kind == LACIS_SWEEP_PERIODIC || p->at[axis] != (face % 2 == 0 ? 0 : last);
}

/* The cells [begin, end) of an array of the whole grid's extents, wrapped where they lie beyond it. */
static void *cut_array(lacis_sweep_type type, const void *from, const int64_t n[3], const int64_t begin[3],
                       const int64_t end[3])
{
    const int64_t cells = (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
    void *out = malloc(8 * (size_t)cells);
    assert_non_null(out);
    int64_t i = 0;
    for (int64_t z = begin[2]; z < end[2]; z++)
        for (int64_t y = begin[1]; y < end[1]; y++)
            for (int64_t x = begin[0]; x < end[0]; x++)
                put_number(
                    type, out, i++,
                    number_at(type, from, (wrapped(z, n[2]) * n[1] + wrapped(y, n[1])) * n[0] + wrapped(x, n[0])));
    return out;
}

static void cut_values(const blocks *b, part *p, int f, int face)
{
    const sweep_case *c = b->c;
    int64_t n[3], begin[3], end[3];
    for (int d = 0; d < 3; d++) {
        const bool across = d == face / 2;
        n[d] = across ? 1 : c->start.extent[d];
        begin[d] = across ? 0 : p->box.begin[d] - (is_inner(b, p, 2 * d) ? b->halo[d] : 0);
        end[d] = across ? 1 : p->box.end[d] + (is_inner(b, p, 2 * d + 1) ? b->halo[d] : 0);
    }
    p->values[f][face] = cut_array(c->start.type, c->values[f][face], n, begin, end);
    p->start.edge[f][face].values = p->values[f][face];
}

static void make_part(blocks *b, part *p, int number)
{
    const sweep_case *c = b->c;
    p->start = c->start;
    for (int d = 0; d < 3; d++) {
        p->at[d] = number % b->cuts[d];
        number /= b->cuts[d];
        p->box.begin[d] = p->start.origin[d] = b->begin[d][p->at[d]];
        p->box.end[d] = b->begin[d][p->at[d] + 1];
        p->start.extent[d] = p->box.end[d] - p->box.begin[d];
        p->start.whole[d] = c->start.extent[d];
        p->start.halo[d] = b->cuts[d] > 1 ? b->halo[d] : 0;
    }
    for (int a = 0; a < c->start.fields + c->start.coefficients; a++)
        p->start.array[a] = p->array[a] =
            cut_array(c->start.type, c->array[a], c->start.extent, p->box.begin, p->box.end);
    for (int f = 0; f < c->start.fields; f++)
        for (int face = 0; face < 2 * c->start.dims; face++) {
            if (is_inner(b, p, face)) {
                p->start.edge[f][face] = (lacis_sweep_edge){.kind = LACIS_SWEEP_INNER};
            } else if (c->start.edge[f][face].kind == LACIS_SWEEP_VALUES) {
                cut_values(b, p, f, face);
            }
        }
    p->start.host = (lacis_sweep_host){.alloc = memory_take, .free = memory_free, .context = &b->memory};
    char why[200] = "";
    if (lacis_sweep_refuses(&p->start, why, sizeof why)) fail_msg("refused: %s", why);
    assert_int_equal(lacis_sweep_new(&p->start, &p->system), LACIS_SWEEP_OK);
}

static void free_part(part *p)
{
    lacis_sweep_free(p->system);
    for (int a = 0; a < LACIS_SWEEP_ARRAYS; a++)
        free(p->array[a]);
    for (int f = 0; f < LACIS_SWEEP_FIELDS; f++)
        for (int face = 0; face < LACIS_SWEEP_FACES; face++)
            free(p->values[f][face]);
}

/* --- halos ------------------------------------------------------------------------------------------------ */

/* Brings the halo of one direction from the neighbour there. */
static void bring_halo(blocks *b, part *p, const int way[3], int array)
{
    lacis_sweep_box to, from;
    int neighbour = 0, times = 1;
    int64_t cells = b->c->start.fields;
    for (int d = 0; d < 3; d++) {
        if (way[d] != 0 && !is_inner(b, p, 2 * d + (way[d] > 0))) return;
        to.begin[d] = way[d] < 0 ? p->box.begin[d] - b->halo[d] : way[d] > 0 ? p->box.end[d] : p->box.begin[d];
        to.end[d] = way[d] > 0 ? p->box.end[d] + b->halo[d] : way[d] < 0 ? p->box.begin[d] : p->box.end[d];
        from.begin[d] = wrapped(to.begin[d], b->c->start.extent[d]);
        from.end[d] = from.begin[d] + to.end[d] - to.begin[d];
        neighbour += times * (int)wrapped(p->at[d] + way[d], b->cuts[d]);
        times *= b->cuts[d];
        cells *= to.end[d] - to.begin[d];
    }
    if (cells == 0) return;
    void *buffer = malloc(8 * (size_t)cells);
    assert_non_null(buffer);
    lacis_sweep_pack(b->part[neighbour].system, array, &from, buffer);
    lacis_sweep_unpack(p->system, array, &to, buffer);
    free(buffer);
}

static void exchange(blocks *b, int array)
{
    for (int i = 0; i < b->parts; i++)
        for (int way = 0; way < 27; way++)
            if (way != 13)
                bring_halo(b, &b->part[i], (const int[]){way % 3 - 1, way / 3 % 3 - 1, way / 9 - 1}, array);
}

/* --- steps ------------------------------------------------------------------------------------------------ */

/* Updates a box in two, cut somewhere (at a tile where a change is wanted), and these again. */
static void update(part *p, lacis_sweep_box box, int depth, lacis_sweep_change *change, uint64_t *seed)
{
    const int axis = (int)below(seed, 3);
    const int64_t unit = change == NULL ? 1
                         : axis == 0    ? LACIS_SWEEP_TILE_X
                         : axis == 1    ? LACIS_SWEEP_TILE_Y
                                        : 1,
                  at = (box.begin[axis] + below(seed, box.end[axis] - box.begin[axis])) / unit * unit;
    if (depth == 0 || at <= box.begin[axis]) {
        assert_int_equal(lacis_sweep_update(p->system, &box, change), LACIS_SWEEP_OK);
        return;
    }
    lacis_sweep_box low = box, high = box;
    low.end[axis] = high.begin[axis] = at;
    update(p, high, depth - 1, change, seed);
    update(p, low, depth - 1, change, seed);
}

static void step(blocks *b, part *p, int later, lacis_sweep_change *change, uint64_t *seed)
{
    lacis_sweep_box box = p->box;
    for (int d = 0; d < 3; d++) {
        if (is_inner(b, p, 2 * d)) box.begin[d] -= later * b->c->reach[d];
        if (is_inner(b, p, 2 * d + 1)) box.end[d] += later * b->c->reach[d];
    }
    update(p, box, 2, change, seed);
    lacis_sweep_turn(p->system);
}

static void round_of_steps(blocks *b, bool at_once, bool last, lacis_sweep_change *change, uint64_t *seed)
{
    exchange(b, 0);
    for (int i = 0; i < b->parts; i++) {
        part *p = &b->part[i];
        lacis_sweep_change own = {0};
        lacis_sweep_refresh(p->system);
        if (at_once) {
            assert_int_equal(lacis_sweep_steps(p->system, b->steps, last ? &own : NULL), LACIS_SWEEP_OK);
        } else {
            for (int s = 0; s < b->steps; s++)
                step(b, p, b->steps - 1 - s, last && s + 1 == b->steps ? &own : NULL, seed);
        }
        if (last) lacis_sweep_change_merge(change, &own);
    }
}

/* --- the whole -------------------------------------------------------------------------------------------- */

static void check_part(const blocks *b, const part *p, void *const *wanted)
{
    const lacis_sweep_start *s = &p->start;
    const int64_t cells = s->extent[0] * s->extent[1] * s->extent[2];
    void *got[LACIS_SWEEP_FIELDS];
    for (int f = 0; f < s->fields; f++) {
        got[f] = malloc(8 * (size_t)cells);
        assert_non_null(got[f]);
    }
    lacis_sweep_read(p->system, got);
    for (int f = 0; f < s->fields; f++) {
        void *own = cut_array(s->type, wanted[f], b->c->start.extent, p->box.begin, p->box.end);
        if (memcmp(own, got[f], (size_t)cells * lacis_sweep_size(s->type)) != 0)
            fail_msg(
                "field %d of part %d %d %d of %d %d %d differs: %ld x %ld x %ld, %d steps an exchange, levels %d", f,
                p->at[0], p->at[1], p->at[2], b->cuts[0], b->cuts[1], b->cuts[2], (long)b->c->start.extent[0],
                (long)b->c->start.extent[1], (long)b->c->start.extent[2], b->steps, s->levels);
        free(own);
        free(got[f]);
    }
}

static void check_parts(sweep_case *c, bool at_once, bool want_change, uint64_t *seed)
{
    blocks *b = calloc(1, sizeof *b);
    assert_non_null(b);
    b->c = c;
    b->steps = 1 + (int)below(seed, 4);
    b->parts = 1;
    const int rounds = 1 + (int)below(seed, 3);
    for (int d = 0; d < 3; d++) {
        cut_axis(b, d, want_change, seed);
        b->parts *= b->cuts[d];
    }
    for (int i = 0; i < b->parts; i++)
        make_part(b, &b->part[i], i);
    for (int a = 0; a < c->start.coefficients; a++)
        exchange(b, c->start.fields + a);
    void *wanted[LACIS_SWEEP_FIELDS];
    lacis_sweep_change change = {0}, expected;
    reference_steps(c, rounds * b->steps, wanted, &expected);
    for (int r = 0; r < rounds; r++)
        round_of_steps(b, at_once, want_change && r + 1 == rounds, &change, seed);
    const double is = lacis_sweep_exact_round(&change.squares), was = lacis_sweep_exact_round(&expected.squares);
    if (want_change && (memcmp(&is, &was, sizeof is) != 0 || memcmp(&change.max, &expected.max, sizeof is) != 0))
        fail_msg("change %.17g, not %.17g; max %.17g, not %.17g", is, was, change.max, expected.max);
    for (int i = 0; i < b->parts; i++) {
        check_part(b, &b->part[i], wanted);
        free_part(&b->part[i]);
    }
    assert_int_equal(b->memory.blocks, 0);
    for (int f = 0; f < c->start.fields; f++)
        free(wanted[f]);
    free(b);
}

static void check_many(int cases, bool at_once, bool want_change, uint64_t seed)
{
    for (int i = 0; i < cases; i++) {
        sweep_wish wish = {.type = (lacis_sweep_type)(i % 2),
                           .dims = 1 + i / 2 % 3,
                           .radius = 1 + (int)below(&seed, i % 4 == 0 ? 4 : 2),
                           .fields = 1 + (int)below(&seed, 2),
                           .coefficients = (int)below(&seed, 2),
                           .written = i % 3 == 0 ? 50 : 0,
                           .shape = i % 5 == 0 ? 1 : 0,
                           .same_edge = i % 7 == 0    ? 1 + LACIS_SWEEP_PERIODIC
                                        : i % 11 == 0 ? 1 + LACIS_SWEEP_VALUES
                                                      : 0};
        for (int d = 0; d < 3; d++)
            wish.extent[d] =
                wish.dims == 3 ? 4 + below(&seed, d == 0 && want_change ? 80 : 24) : 20 + below(&seed, 90);
        sweep_case c;
        make_case(&c, &wish, &seed);
        c.start.levels = (int)below(&seed, 4);
        c.start.threads = 1 + (int)below(&seed, 3);
        c.start.cache = below(&seed, 2) ? 0 : 3000;
        check_parts(&c, at_once, want_change, &seed);
        free_case(&c);
    }
}

static void parts_have_the_bits_of_the_whole(void **state)
{
    (void)state;
    check_many(SLOW ? 60 : 400, false, false, 11);
}

static void so_have_several_steps_at_once(void **state)
{
    (void)state;
    check_many(SLOW ? 60 : 400, true, false, 12);
}

/* Long rows, of which two levels are joined. */
static void wide_parts_have_them(void **state)
{
    (void)state;
    uint64_t seed = 15;
    for (int i = 0; i < (SLOW ? 8 : 24); i++) {
        const sweep_wish wish = {.type = (lacis_sweep_type)(i % 2),
                                 .dims = 2,
                                 .radius = 1,
                                 .fields = 1,
                                 .shape = i % 3 == 0 ? 1 : 4,
                                 .same_edge = i % 5 == 0 ? 1 + LACIS_SWEEP_PERIODIC : 0,
                                 .extent = {(i % 2 == 0 ? 1700 : 900) + below(&seed, 900), 20 + below(&seed, 60), 1}};
        sweep_case c;
        make_case(&c, &wish, &seed);
        c.start.levels = 2 + (int)below(&seed, 3);
        c.start.threads = 1 + (int)below(&seed, 3);
        check_parts(&c, true, false, &seed);
        free_case(&c);
    }
}

static void changes_of_parts_add_up(void **state)
{
    (void)state;
    check_many(SLOW ? 40 : 200, false, true, 13);
    check_many(SLOW ? 40 : 200, true, true, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_have_the_bits_of_the_whole),
        cmocka_unit_test(so_have_several_steps_at_once),
        cmocka_unit_test(wide_parts_have_them),
        cmocka_unit_test(changes_of_parts_add_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
