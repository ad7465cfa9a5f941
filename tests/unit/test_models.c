/* SPDX-License-Identifier: Apache-2.0
 *
 * Generators of bodies: mass, rest, energies and profiles as the models have them, the same bits for any number of
 * threads and for ever, options that are refused.
 */
#include "support/load.h"

#include <math.h>

static load_bench bench;

static int setup(void **state)
{
    (void)state;
    load_open(&bench, 2);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    load_close(&bench);
    return 0;
}

static lacis_status generate(load_bench *b, const char *name, const char *options, lacis_array **out)
{
    const lacis_generator *const *g = lacis_builtin_generators;
    while (*g != NULL && strcmp((*g)->name, name) != 0)
        g++;
    if (*g == NULL) fail_msg("no generator %s", name);
    *out = NULL;
    return (*g)->make(&b->run, load_options(b, (*g)->options, (*g)->option_count, options), out);
}

/* What was made, with columns widened. */
typedef struct made {
    lacis_array *array;
    int64_t n;
    double *m, *place[3], *velocity[3];
} made;

static double *widen(const lacis_bodies *b, const void *data)
{
    double *wide = malloc((size_t)b->count * sizeof *wide + 1);
    assert_non_null(wide);
    lacis_values_convert(data, b->dtype, 0, b->count, wide, LACIS_F64);
    return wide;
}

static made make(const char *name, const char *options)
{
    made out;
    lacis_bodies b;
    if (generate(&bench, name, options, &out.array) != LACIS_OK)
        fail_msg("%s(%s): %s", name, options, bench.host.error.message);
    assert_int_equal(lacis_bodies_view(&bench.run, out.array, &b), LACIS_OK);
    assert_int_equal(lacis_bodies_check(&bench.run, &b), LACIS_OK);
    const void *const place[] = {b.x, b.y, b.z}, *const velocity[] = {b.vx, b.vy, b.vz};
    out.n = b.count;
    out.m = widen(&b, b.m);
    for (int c = 0; c < 3; c++) {
        out.place[c] = widen(&b, place[c]);
        out.velocity[c] = widen(&b, velocity[c]);
    }
    return out;
}

static void drop(made *b)
{
    for (int c = 0; c < 3; c++) {
        free(b->place[c]);
        free(b->velocity[c]);
    }
    free(b->m);
    lacis_array_release(b->array);
}

static double length(double *const *v, int64_t i)
{
    return sqrt(v[0][i] * v[0][i] + v[1][i] * v[1][i] + v[2][i] * v[2][i]);
}

static void near(double found, double expected, double within)
{
    if (!(fabs(found - expected) <= within)) fail_msg("%.9g is not within %g of %.9g", found, within, expected);
}

static double kinetic(const made *b)
{
    double sum = 0;
    for (int64_t i = 0; i < b->n; i++)
        sum += 0.5 * b->m[i] * pow(length(b->velocity, i), 2);
    return sum;
}

/* Minus the potential energy, over all pairs. */
static double binding(const made *b)
{
    double sum = 0;
    for (int64_t i = 0; i < b->n; i++)
        for (int64_t k = 0; k < i; k++) {
            double x = b->place[0][i] - b->place[0][k], y = b->place[1][i] - b->place[1][k];
            double z = b->place[2][i] - b->place[2][k];
            sum += b->m[i] * b->m[k] / sqrt(x * x + y * y + z * z);
        }
    return sum;
}

/* The centre of mass is at the origin, at rest; the mass is what was asked for. */
static void rests(const made *b, double mass, double size, double within)
{
    double all = 0, place[3] = {0}, motion[3] = {0};
    for (int64_t i = 0; i < b->n; i++) {
        all += b->m[i];
        for (int c = 0; c < 3; c++) {
            place[c] += b->m[i] * b->place[c][i];
            motion[c] += b->m[i] * b->velocity[c][i];
        }
    }
    near(all, mass, within * mass);
    for (int c = 0; c < 3; c++) {
        near(place[c] / mass, 0, within * size);
        near(motion[c] / mass, 0, within * sqrt(mass / size));
    }
}

static double within(const made *b, double radius)
{
    double sum = 0;
    for (int64_t i = 0; i < b->n; i++)
        sum += length(b->place, i) < radius ? b->m[i] : 0;
    return sum;
}

/* ------------------------------------------------------------------------------------------ models */

static void plummer(void **state)
{
    (void)state;
    made b = make("plummer", "n=20000;seed=5;mass=3;radius=2");
    rests(&b, 3, 2, 1e-12);
    for (double r = 0.25; r < 8; r *= 1.5) { /* 20,000 bodies: a standard deviation of at most 0.0035 of the mass */
        double exact = pow(1 + 1 / (r * r), -1.5) / 0.999;
        near(within(&b, 2 * r) / 3, exact < 1 ? exact : 1, 0.014);
    }
    near(kinetic(&b) * 2 / 9, 3 * M_PI / 64, 0.005); /* of G M^2 / a */
    double fastest = 0;
    for (int64_t i = 0; i < b.n; i++) {
        double r = length(b.place, i) / 2, escape = sqrt(2 / sqrt(1 + r * r) * 3 / 2);
        fastest = fmax(fastest, length(b.velocity, i) / escape);
    }
    assert_true(fastest < 1.02 && fastest > 0.9); /* the shift to rest may lift one over 1 */
    drop(&b);
    b = make("plummer", "n=4000;cut=0.99");
    near(kinetic(&b) / binding(&b), 0.5, 0.03);
    drop(&b);
    b = make("plummer", "n=1000;virial=0");
    assert_true(kinetic(&b) == 0);
    drop(&b);
    b = make("plummer", "n=3000;virial=0.125");
    near(kinetic(&b), 3 * M_PI / 64 / 4, 0.003);
    drop(&b);
}

static void sphere(void **state)
{
    (void)state;
    made b = make("sphere", "n=4000;radius=0.5;mass=2;type=f32");
    rests(&b, 2, 0.5, 1e-6);
    near(kinetic(&b) / binding(&b), 0.5, 0.03);
    for (double r = 0.1; r <= 0.5; r += 0.1)
        near(within(&b, r) / 2, pow(r / 0.5, 3), 0.035);
    drop(&b);
}

/* Logarithms of masses are even. */
static void mass_range(void **state)
{
    (void)state;
    made b = make("clusters", "n=40000;seed=3");
    rests(&b, 1, 1000, 1e-12);
    double least = INFINITY, most = 0, sum = 0;
    int64_t left = 0;
    for (int64_t i = 0; i < b.n; i++) {
        left += b.place[0][i] < 0;
        if (i >= b.n / 2) continue;
        least = fmin(least, b.m[i]);
        most = fmax(most, b.m[i]);
        sum += log(b.m[i]);
    }
    assert_int_equal(left, b.n / 2);
    near(log(most / least), log(1e6), 0.02);
    near(sum / (double)(b.n / 2), 0.5 * (log(most) + log(least)), 0.12);
    drop(&b);
    b = make("clusters", "n=1000;ratio=3;distance=50;mass=4;mass_range=1;radius=2");
    rests(&b, 4, 100, 1e-12);
    double first = 0;
    for (int64_t i = 0; i < 250; i++)
        first += b.place[0][i] / 250;
    near(first, -75, 1e-9); /* of 100, by the masses */
    near(b.m[0], 0.004, 1e-15);
    drop(&b);
}

/* Bound and nearly circular, in the plane; surface density falls as e^-r. */
static void disk(void **state)
{
    (void)state;
    made b = make("disk", "n=20001;heat=0;central=1;thickness=0.01");
    double spin = 0, most = 0;
    int64_t inside = 0;
    near(b.m[0], 1, 1e-12);
    assert_true(b.m[1] == 0);
    for (int64_t i = 1; i < b.n; i++) {
        double x = b.place[0][i], y = b.place[1][i], r = sqrt(x * x + y * y), d = length(b.place, i);
        double across = (x * b.velocity[1][i] - y * b.velocity[0][i]) / r;
        most = fmax(most, fabs(across / sqrt(r * r / (d * d * d)) - 1));
        spin += across > 0;
        inside += r < 1.6783469900166605; /* half of an exponential disk */
        assert_true(r >= 0.1 && r <= 5);
    }
    assert_true(spin == 20000);
    assert_true(most < 1e-9);
    double hole = 1 - 1.1 * exp(-0.1), all = 1 - 6 * exp(-5.0);
    near((double)inside / 20000, (0.5 - hole) / (all - hole), 0.015);
    drop(&b);
    b = make("disk", "n=3000;central=0.5;mass=2;radius=3;profile=flat;inner=0.5;cut=2;type=f32");
    rests(&b, 2, 3, 1e-6);
    double bound = 0;
    for (int64_t i = 1; i < b.n; i++)
        bound += pow(length(b.velocity, i), 2) / 2 < 1.5 / length(b.place, i);
    assert_true(bound == 2999);
    near(b.m[0], 1, 1e-6);
    drop(&b);
    b = make("disk", "n=500;central=0");
    near(b.m[0], 0.002, 1e-12);
    drop(&b);
    b = make("disk", "n=1");
    near(b.m[0], 1, 0);
    drop(&b);
}

/* Two of them, whose centres move on a parabola. */
static void galaxies(void **state)
{
    (void)state;
    for (int model = 0; model < 2; model++) {
        made b = make("galaxies", model == 0 ? "n=3000;ratio=0.5;mass=3;radius=2;distance=8;pericentre=2"
                                             : "n=3000;ratio=0.5;mass=3;radius=2;distance=8;pericentre=2;model=disk");
        double centre[2][6] = {{0}}, mass[2] = {0};
        rests(&b, 3, 16, 1e-12);
        for (int64_t i = 0; i < b.n; i++) {
            int g = i >= 2000;
            mass[g] += b.m[i];
            for (int c = 0; c < 3; c++) {
                centre[g][c] += b.m[i] * b.place[c][i];
                centre[g][3 + c] += b.m[i] * b.velocity[c][i];
            }
        }
        near(mass[0], 2, 1e-12);
        double d[6], squared = 0, distance = 0;
        for (int c = 0; c < 6; c++)
            d[c] = centre[1][c] / mass[1] - centre[0][c] / mass[0];
        for (int c = 0; c < 3; c++) {
            distance += d[c] * d[c];
            squared += d[3 + c] * d[3 + c];
        }
        distance = sqrt(distance);
        near(distance, 16, 1e-10);
        near(squared / 2 - 3 / distance, 0, 1e-10); /* energy of a parabola */
        near(d[0] * d[4] - d[1] * d[3], sqrt(2 * 3 * 4.0), 1e-10);
        assert_true(d[3] < 0);
        drop(&b);
    }
}

/* ------------------------------------------------------------------------------------------- bits */

static uint64_t digest(const lacis_array *array)
{
    uint64_t hash = UINT64_C(1469598103934665603);
    lacis_part part;
    for (int i = 0; lacis_array_part(array, i, &part) == LACIS_OK; i++)
        for (size_t k = 0; k < (size_t)part.count * lacis_dtype_size(part.dtype); k++)
            hash = (hash ^ ((const unsigned char *)part.data)[k]) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t digest_on(int threads, const char *name, const char *options)
{
    load_bench b;
    lacis_array *array;
    load_open(&b, threads);
    if (generate(&b, name, options, &array) != LACIS_OK) fail_msg("%s: %s", name, b.host.error.message);
    uint64_t hash = digest(array);
    lacis_array_release(array);
    load_close(&b);
    return hash;
}

static const struct {
    const char *name, *options;
    uint64_t hash; /* as it was when the generator was made: a seed means the same bodies for ever */
} known[] = {
    {"plummer", "n=30000", UINT64_C(0x07c2c610105bfb5e)},
    {"plummer", "n=30000;seed=2;type=f32", UINT64_C(0x16b5fbcf38f3605a)},
    {"sphere", "n=20000;mass_range=1000", UINT64_C(0x4d282ae0037dc651)},
    {"disk", "n=30000", UINT64_C(0xae1c09f17350bd8c)},
    {"disk", "n=9000;profile=flat;type=f32", UINT64_C(0x0a2967f79ce3e9e5)},
    {"galaxies", "n=30000;ratio=0.3", UINT64_C(0x7a22eb0b899133b6)},
    {"galaxies", "n=20000;model=disk", UINT64_C(0x9ddc34a74fef9c67)},
    {"clusters", "n=40000;type=f32", UINT64_C(0x2236a8ead3b23b82)},
};

static void same_bits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        for (int threads = 1; threads <= 3; threads++) {
            uint64_t hash = digest_on(threads, known[i].name, known[i].options);
            if (hash != known[i].hash)
                fail_msg("%s(%s) on %d threads: 0x%016llx", known[i].name, known[i].options, threads,
                         (unsigned long long)hash);
        }
    }
    assert_true(digest_on(1, "plummer", "n=100;seed=1") != digest_on(1, "plummer", "n=100;seed=2"));
}

static void few(void **state)
{
    static const char *const names[] = {"plummer", "sphere", "disk", "galaxies", "clusters"};
    (void)state;
    for (int i = 0; i < 5; i++)
        for (int n = 0; n < 4; n++) {
            char options[20];
            snprintf(options, sizeof options, "n=%d", n);
            made b = make(names[i], options);
            assert_int_equal(b.n, n);
            if (n > 1) rests(&b, 1, i == 4 ? 1000 : 10, 1e-12);
            drop(&b);
        }
}

/* --------------------------------------------------------------------------------------- refusals */

static void fails(const char *name, const char *options, lacis_status status, const char *message)
{
    lacis_array *array;
    lacis_status got = generate(&bench, name, options, &array);
    lacis_array_release(array);
    if (got != status || strstr(bench.host.error.message, message) == NULL)
        fail_msg("%s(%s): %s, '%s' lacks '%s'", name, options, lacis_status_name(got), bench.host.error.message,
                 message);
}

static void refusals(void **state)
{
    (void)state;
    fails("plummer", "n=-1", LACIS_RANGE, "n = -1 is not between");
    fails("plummer", "n=10;cut=1", LACIS_RANGE, "cut = 1 is not between");
    fails("plummer", "n=10;radius=0", LACIS_RANGE, "radius = 0");
    fails("plummer", "n=10;mass=nan", LACIS_RANGE, "mass = nan");
    fails("plummer", "n=10;mass_range=0.5", LACIS_RANGE, "mass_range = 0.5");
    fails("plummer", "n=10;virial=-1", LACIS_RANGE, "virial = -1");
    fails("plummer", "n=10;mass=1e200;type=f32", LACIS_RANGE, "change mass, radius or type");
    fails("plummer", "n=1000000000000", LACIS_LIMIT, "1000000000000 bodies would need 5.6e+07 MB");
    fails("disk", "n=10;inner=2;cut=1", LACIS_RANGE, "cut = 1 is not between");
    fails("disk", "n=10;inner=1;cut=1.0001", LACIS_RANGE, "take profile = flat");
    fails("disk", "n=10;central=1.1", LACIS_RANGE, "central = 1.1");
    fails("galaxies", "n=10;pericentre=11", LACIS_RANGE, "pericentre = 11");
    fails("galaxies", "n=10;ratio=0", LACIS_RANGE, "ratio = 0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plummer, setup, teardown),
        cmocka_unit_test_setup_teardown(sphere, setup, teardown),
        cmocka_unit_test_setup_teardown(mass_range, setup, teardown),
        cmocka_unit_test_setup_teardown(disk, setup, teardown),
        cmocka_unit_test_setup_teardown(galaxies, setup, teardown),
        cmocka_unit_test_setup_teardown(same_bits, setup, teardown),
        cmocka_unit_test_setup_teardown(few, setup, teardown),
        cmocka_unit_test_setup_teardown(refusals, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
