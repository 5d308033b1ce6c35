/* SPDX-License-Identifier: MIT */
/* Numbers to text: short, never cut, never a lying zero, honest about what is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "src/format.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef size_t format_fn(char *out, size_t size, double value);

struct expectation {
    double value;
    const char *text;
};

static void check(format_fn *format, const struct expectation *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char out[FORMAT_SIZE];
        size_t length = format(out, sizeof(out), cases[i].value);
        if (strcmp(out, cases[i].text) != 0)
            fail_msg("%.17g: \"%s\" instead of \"%s\"", cases[i].value, out, cases[i].text);
        assert_int_equal(length, strlen(out));
    }
}

static void test_scaled(void **state)
{
    (void)state;
    static const struct expectation cases[] = {
        {0, "0"},
        {-0.0, "0"},
        {9, "9"},
        {9.04, "9"},
        {9.4, "9.4"},
        {9.96, "10"},
        {0.4, "0.4"},
        {0.02, "0.02"},
        {0.456, "0.46"},
        {0.997, "1"},
        {0.004, "0.004"},
        {0.0096, "0.01"},
        {0.0004, "<.001"},
        {1e-300, "<.001"},
        {99.94, "99.9"},
        {99.96, "100"},
        {900, "900"},
        {999.6, "1000"},
        {1100, "1100"},
        {1500, "1500"},
        {9999.4, "9999"},
        {9999.6, "10.0k"},
        {12345, "12.3k"},
        {99949, "99.9k"},
        {99951, "100k"},
        {474123, "474k"},
        {567999, "568k"},
        {999499, "999k"},
        {999501, "1.00M"},
        {1020000, "1.02M"},
        {9994999, "9.99M"},
        {9995001, "10.0M"},
        {14880952, "14.9M"},
        {1e9, "1.00G"},
        {1.8446744073709552e19, "18.4E"},
        {9.9e26, "990Y"},
        {1e30, ">999Y"},
        {DBL_MAX, ">999Y"},
        {INFINITY, "inf"},
        {NAN, "-"},
        {-1, "-1"},
        {-0.4, "-0.4"},
        {-12345, "-12.3k"},
        {-1e-9, "-<.001"},
        {-INFINITY, "-inf"},
        {-NAN, "-"},
    };
    check(format_scaled, cases, COUNT(cases));
}

static void test_scaled_is_short_and_near(void **state)
{
    (void)state;
    char out[FORMAT_SIZE];
    for (double value = 1e-5; value < 9.9e26; value *= 1.0037) {
        size_t length = format_scaled(out, sizeof(out), value);
        if (length > 5)
            fail_msg("%.17g takes %zu cells: %s", value, length, out);
        if (value < 0.0005)
            continue;
        char *letter;
        double back = strtod(out, &letter);
        static const char letters[] = "kMGTPEZY";
        if (*letter)
            back *= pow(1000, (double)(strchr(letters, *letter) - letters + 1));
        double allowed = value < 1 ? fmax(0.005, value * 0.01) : value * 0.051;
        if (fabs(back - value) > allowed)
            fail_msg("%.17g reads %s", value, out);
        assert_int_equal(format_scaled(out, sizeof(out), -value), length + 1);
    }
}

static void test_other_numbers(void **state)
{
    (void)state;
    static const struct expectation percents[] = {
        {0, "0"},           {0.02, "0.02"}, {0.4, "0.4"},     {16.5, "16.5"},  {16.04, "16"},
        {99.94, "99.9"},    {100, "100"},   {0.004, "0.004"}, {1e-6, "<.001"}, {1234, "1234"},
        {12345.4, "12345"}, {1e6, "1.00M"}, {-3.5, "-3.5"},   {NAN, "-"},
    };
    static const struct expectation exacts[] = {
        {0, "0"},
        {474123, "474123"},
        {474123.6, "474124"},
        {12.345, "12.35"},
        {0.001, "0.001"},
        {99.999, "100"},
        {9007199254740993., "9007199254740992"},
        {1e17, "100000000000000000"},
        {1e20, "100E"},
        {-1234567, "-1234567"},
        {NAN, "-"},
    };
    static const struct expectation bytes[] = {{0, "0B"}, {312, "312B"}, {1500000, "1.50MB"}};
    check(format_percent, percents, COUNT(percents));
    check(format_exact, exacts, COUNT(exacts));
    check(format_bytes, bytes, COUNT(bytes));

    char out[FORMAT_SIZE];
    format_u64(out, sizeof(out), UINT64_MAX);
    assert_string_equal(out, "18446744073709551615");
    format_u64(out, sizeof(out), 0);
    assert_string_equal(out, "0");
}

static void test_durations(void **state)
{
    (void)state;
    static const struct expectation cases[] = {
        {0, "0s"},        {-5, "0s"},         {NAN, "0s"},      {1e-9, "<1us"},
        {12e-6, "12us"},  {0.0003, "0.3ms"},  {0.042, "42ms"},  {0.0996, "0.1s"},
        {0.4, "0.4s"},    {1, "1s"},          {2.54, "2.5s"},   {9.96, "10s"},
        {12.4, "12s"},    {59.6, "1m"},       {60, "1m"},       {179, "2m"},
        {180, "3m"},      {3599, "59m"},      {3600, "1h00"},   {3720, "1h02"},
        {86399, "23h59"}, {86400, "1d00"},    {183600, "2d03"}, {86400.0 * 400, "400d00"},
        {1e300, "ever"},  {INFINITY, "ever"},
    };
    check(format_duration, cases, COUNT(cases));
}

static void test_times(void **state)
{
    (void)state;
    char out[FORMAT_SIZE];
    assert_int_equal(format_elapsed(out, sizeof(out), 192 * INT64_C(1000000000)), 8);
    assert_string_equal(out, "00:03:12");
    format_elapsed(out, sizeof(out), 123 * 3600 * INT64_C(1000000000));
    assert_string_equal(out, "123:00:00");
    format_elapsed(out, sizeof(out), INT64_MIN);
    assert_string_equal(out, "00:00:00");
    setenv("TZ", "UTC-2", 1);
    tzset();
    format_clock(out, sizeof(out), INT64_C(1000000000) * 43331);
    assert_string_equal(out, "14:02:11");
}

static void test_rfc3339_agrees_with_the_c_library(void **state)
{
    (void)state;
    char out[FORMAT_SIZE], expected[FORMAT_SIZE];
    static const int64_t odd[] = {0,          -1,         1,           951782400,  951868799,
                                  4107542399, 1709164800, -2208988800, 9223372036, -9223372036};
    uint64_t seed = 1;
    for (size_t i = 0; i < 20000; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1;
        time_t seconds = i < COUNT(odd) ? odd[i] : (int64_t)(seed >> 30) - 8589934592;
        struct tm tm;
        gmtime_r(&seconds, &tm);
        size_t length = strftime(expected, sizeof(expected), "%Y-%m-%dT%H:%M:%S", &tm);
        memcpy(expected + length, ".042Z", 6);
        if (seconds == -9223372036)
            seconds++, expected[18]++;
        format_rfc3339(out, sizeof(out), seconds * 1000000000 + 42999999);
        assert_string_equal(out, expected);
    }
}

static void test_nothing_is_written_behind_the_end(void **state)
{
    (void)state;
    static format_fn *const functions[] = {format_scaled, format_exact, format_percent, format_bytes,
                                           format_duration};
    static const double values[] = {0, 1.5, -123456, 1e18, 1e-9, 7200, NAN, INFINITY};
    for (size_t f = 0; f < COUNT(functions); f++)
        for (size_t v = 0; v < COUNT(values); v++)
            for (size_t size = 0; size < 8; size++) {
                char *out = malloc(size + 1);
                out[size] = 'x';
                size_t length = functions[f](out, size, values[v]);
                assert_int_equal(out[size], 'x');
                if (size > 0)
                    assert_int_equal(strnlen(out, size), length);
                free(out);
            }
}

static const struct column pps = {.title = "RX PPS", .type = TYPE_F64, .unit = UNIT_PPS, .where = DERIVED};
static const struct column bps = {.title = "RX BIT/S", .type = TYPE_F64, .unit = UNIT_BPS, .where = DERIVED};
static const struct column loss = {
    .type = TYPE_F64, .unit = UNIT_PCT, .where = DERIVED, .watch = 0.01, .bad = 1};
static const struct column mtu = {.type = TYPE_U64, .unit = UNIT_BYTES, .where = IN_INFO};
static const struct column counter = {.type = TYPE_CNT, .unit = UNIT_PACKETS, .where = IN_ROW};
static const struct column identity = {.type = TYPE_U64, .unit = UNIT_NONE, .where = IN_INFO};
static const struct column age = {.type = TYPE_F64, .unit = UNIT_S, .where = IN_ROW};
static const struct column name = {.title = "PORT", .type = TYPE_STR, .unit = UNIT_NONE, .where = IN_INFO};

static void assert_cell(struct cell cell, const struct column *column, enum format_units units,
                        const char *expected)
{
    char out[64];
    struct format_style style = {units};
    size_t length = format_cell(out, sizeof(out), &cell, column, &style);
    assert_string_equal(out, expected);
    assert_int_equal(length, strlen(expected));
}

#define F64(...) ((struct cell){.kind = CELL_F64, .f64 = __VA_ARGS__})
#define U64(...) ((struct cell){.kind = CELL_U64, .u64 = __VA_ARGS__})

static void test_cells(void **state)
{
    (void)state;
    assert_cell((struct cell){.kind = CELL_NONE}, &pps, UNITS_BITS, "-");
    assert_cell((struct cell){.kind = CELL_DENIED}, &pps, UNITS_BITS, "?");
    assert_cell((struct cell){.kind = CELL_NEW}, &pps, UNITS_EXACT, "new");
    assert_cell((struct cell){.kind = CELL_RESET}, &pps, UNITS_BITS, "rst");
    assert_cell((struct cell){.kind = CELL_STR, .str = "eth0"}, &name, UNITS_BITS, "eth0");
    assert_cell((struct cell){.kind = CELL_STR}, &name, UNITS_BITS, "");
    assert_cell(F64(474123), &pps, UNITS_BITS, "474k");
    assert_cell(F64(474123), &pps, UNITS_EXACT, "474123");
    assert_cell(F64(8e6), &bps, UNITS_BITS, "8.00M");
    assert_cell(F64(8e6), &bps, UNITS_BYTES, "1.00M");
    assert_cell(F64(8e6), &bps, UNITS_EXACT, "8000000");
    assert_cell(F64(16.5), &loss, UNITS_BITS, "16.5!");
    assert_cell(F64(0.02), &loss, UNITS_BITS, "0.02*");
    assert_cell(F64(0), &loss, UNITS_BITS, "0");
    assert_cell(F64(0.004), &loss, UNITS_BITS, "0.004");
    assert_cell(F64(57, .approx = true), &loss, UNITS_BITS, "57~!");
    assert_cell(F64(57, .approx = true), &pps, UNITS_BITS, "57~");
    assert_cell(U64(65535), &mtu, UNITS_BITS, "65535");
    assert_cell(U64(65535), &counter, UNITS_BITS, "65.5k");
    assert_cell(U64(UINT64_MAX), &counter, UNITS_EXACT, "18446744073709551615");
    assert_cell(U64(UINT64_MAX), &counter, UNITS_BYTES, "18.4E");
    assert_cell(U64(UINT64_MAX), &identity, UNITS_BITS, "18446744073709551615");
    assert_cell(F64(0.0003), &age, UNITS_BITS, "0.3ms");
    assert_cell(F64(12.25), &age, UNITS_EXACT, "12.25");
}

static void test_long_text_cell_is_cut_inside_its_room(void **state)
{
    (void)state;
    char out[4];
    struct format_style style = {UNITS_BITS};
    struct cell cell = {.kind = CELL_STR, .str = "abcdefgh"};
    assert_int_equal(format_cell(out, sizeof(out), &cell, &name, &style), 3);
    assert_string_equal(out, "abc");
}

static void test_roles(void **state)
{
    (void)state;
    struct cell zero = F64(0), some = F64(5), bad = F64(5, .stale = true), none = {.kind = CELL_NONE};
    struct cell text = {.kind = CELL_STR, .str = "x"}, little = F64(0.5);
    assert_int_equal(format_role(&zero, &pps), ROLE_DIM);
    assert_int_equal(format_role(&some, &pps), ROLE_TEXT);
    assert_int_equal(format_role(&some, &loss), ROLE_BAD);
    assert_int_equal(format_role(&little, &loss), ROLE_WATCH);
    assert_int_equal(format_role(&bad, &loss), ROLE_STALE);
    assert_int_equal(format_role(&none, &loss), ROLE_DIM);
    assert_int_equal(format_role(&text, &name), ROLE_TEXT);
}

static void test_deltas_and_titles(void **state)
{
    (void)state;
    char out[FORMAT_SIZE];
    struct format_style bits = {UNITS_BITS}, bytes = {UNITS_BYTES};
    format_delta(out, sizeof(out), 12345, &pps, &bits);
    assert_string_equal(out, "+12.3k");
    format_delta(out, sizeof(out), -0.4, &loss, &bits);
    assert_string_equal(out, "-0.4");
    format_delta(out, sizeof(out), 0, &pps, &bits);
    assert_string_equal(out, "0");
    format_delta(out, sizeof(out), 8000, &bps, &bytes);
    assert_string_equal(out, "+1000");
    format_title(out, sizeof(out), &bps, &bits);
    assert_string_equal(out, "RX BIT/S");
    format_title(out, sizeof(out), &bps, &bytes);
    assert_string_equal(out, "RX BYTE/S");
    format_title(out, sizeof(out), &pps, &bytes);
    assert_string_equal(out, "RX PPS");
    assert_true(format_is_right(&pps));
    assert_false(format_is_right(&name));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scaled),
        cmocka_unit_test(test_scaled_is_short_and_near),
        cmocka_unit_test(test_other_numbers),
        cmocka_unit_test(test_durations),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_rfc3339_agrees_with_the_c_library),
        cmocka_unit_test(test_nothing_is_written_behind_the_end),
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_long_text_cell_is_cut_inside_its_room),
        cmocka_unit_test(test_roles),
        cmocka_unit_test(test_deltas_and_titles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
