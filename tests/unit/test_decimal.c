/* SPDX-License-Identifier: Apache-2.0
 *
 * Decimal text to double-double numbers and back, against numbers known to many digits, and the rule that
 * text reads back as the same two doubles.
 */
#include "core/run.h"
#include "support/check.h"
#include "unit/decimal_cases.h"

#include <math.h>
#include <stdlib.h>

static void parse(const char *text, double *hi, double *lo)
{
    if (!lacis_parse_dd(text, strlen(text), hi, lo)) fail_msg("\"%s\" was not taken for a number", text);
}

static void reads_as(const char *text, double hi, double lo)
{
    double a, b;
    parse(text, &a, &b);
    if (a != hi || b != lo || signbit(a) != signbit(hi)) fail_msg("%s: %a %a, not %a %a", text, a, b, hi, lo);
}

static void shows_as(double hi, double lo, const char *text)
{
    char out[LACIS_DD_TEXT];
    lacis_format_dd(hi, lo, out);
    assert_string_equal(out, text);
}

static void known_numbers(void **state)
{
    (void)state;
    reads_as("0.1", 0.1, -0x1.999999999999ap-58);
    reads_as("-1", -1, 0);
    reads_as("+12.", 12, 0);
    reads_as(".5e1", 5, 0);
    /* pi and its rest, from the digits; M_PIl's tail is known: 1.2246467991473532e-16 */
    reads_as("3.14159265358979323846264338327950288419716939937510", 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53);
    reads_as("18014398509481985", 18014398509481984.0, 1); /* 2^54 + 1 */
    reads_as("1e999", INFINITY, 0);
    reads_as("-1e400", -INFINITY, 0);
    reads_as("1e-400", 0, 0);
    reads_as("-0", -0.0, 0);
    reads_as("4.9406564584124654e-324", 0x1p-1074, 0);
    reads_as("1e99999999999999999999", INFINITY, 0);
    shows_as(0.1, -0x1.999999999999ap-58, "0.1");
    shows_as(0.1, 0, "0.1000000000000000055511151231257827021181583404541015625");
    shows_as(3, 0, "3.0");
    shows_as(-12345678, 0, "-12345678.0");
    shows_as(0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, "3.1415926535897932384626433832795");
    shows_as(1, 0x1p-160, "1.00000000000000000000000000000000000000000000000068422776578");
    shows_as(1e300, 0, "1.00000000000000005250476025520442024870446858110815915491585e+300");
    shows_as(0, 0, "0.0");
    shows_as(INFINITY, 0, "inf");
    shows_as(NAN, 0, "nan");
    shows_as(18014398509481984.0, 1, "18014398509481985.0");
    shows_as(9.5e-6, 0, "9.50000000000000052301912800700733896519523113965988159179688e-06");
}

static void what_is_no_number(void **state)
{
    (void)state;
    static const char *const text[] = {"",      "-",   ".",  "e5", "1e",   "1e+",
                                       "1.2.3", "12a", " 1", "1 ", "0x10", "infinite"};
    double hi, lo;
    for (int i = 0; i < LACIS_COUNT(text); i++)
        if (lacis_parse_dd(text[i], strlen(text[i]), &hi, &lo)) fail_msg("\"%s\" was taken for a number", text[i]);
}

static uint64_t seed = 1;

static double random_double(int low, int high)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = seed >> 11;
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    int exponent = low + (int)((seed >> 33) % (uint64_t)(high - low + 1));
    return ldexp((double)(bits | (uint64_t)1 << 52), exponent - 52) * ((seed >> 20 & 1) != 0 ? -1 : 1);
}

/* Against exact fractions. */
static void a_table_of_numbers(void **state)
{
    (void)state;
    for (int i = 0; i < LACIS_COUNT(read_cases); i++)
        reads_as(read_cases[i].text, read_cases[i].hi, read_cases[i].lo);
    for (int i = 0; i < LACIS_COUNT(show_cases); i++)
        shows_as(show_cases[i].hi, show_cases[i].lo, show_cases[i].text);
}

static void text_reads_back(void **state)
{
    (void)state;
    char text[LACIS_DD_TEXT];
    for (int i = 0; i < 20000; i++) {
        double hi = random_double(-280, 300), lo = hi * random_double(-70, -54), a, b;
        volatile double sum = hi + lo;
        if (sum != hi) continue;
        lacis_format_dd(hi, lo, text);
        parse(text, &a, &b);
        if (a != hi || b != lo) fail_msg("%a %a became %s and %a %a", hi, lo, text, a, b);
    }
}

/* Long texts: exactly half way between two double-doubles, and a digit beyond it. */
static void ties_are_seen_to_the_last_digit(void **state)
{
    (void)state;
    /* 1 + 2^-53 lies half way between two doubles, and ties go to even; a digit far behind pushes it up */
    char text[1400] = "1.00000000000000011102230246251565404236316680908203125";
    double hi, lo;
    reads_as(text, 1, 0x1p-53);
    for (size_t at = strlen(text); at < 1390; at++)
        text[at] = '0';
    text[1390] = '1';
    text[1391] = '\0';
    parse(text, &hi, &lo);
    assert_true(hi == 0x1.0000000000001p0 && lo == -0x1p-53);
}

static void complex_ones(void **state)
{
    (void)state;
    char text[LACIS_CDD_TEXT];
    lacis_format_cdd((const double[4]){0.1, -0x1.999999999999ap-58, -2, 0}, text);
    assert_string_equal(text, "complex(0.1, -2.0)");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_numbers),
        cmocka_unit_test(what_is_no_number),
        cmocka_unit_test(a_table_of_numbers),
        cmocka_unit_test(text_reads_back),
        cmocka_unit_test(ties_are_seen_to_the_last_digit),
        cmocka_unit_test(complex_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
