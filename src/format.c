/* SPDX-License-Identifier: MIT */
/* Values to text for people (see format.h). */
#include "src/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Copies what fits. */
static size_t put(char *out, size_t size, const char *text, size_t length)
{
    if (size == 0)
        return 0;
    length = length < size ? length : size - 1;
    memcpy(out, text, length);
    out[length] = '\0';
    return length;
}

static size_t put_text(char *out, size_t size, const char *text)
{
    return put(out, size, text, strlen(text));
}

size_t format_u64(char *out, size_t size, uint64_t value)
{
    char digits[24];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    return put(out, size, digits + at, sizeof(digits) - at);
}

/* value >= 0 with so many decimals, rounded; no locale. 10^decimals * value must fit 64 bits. */
static size_t put_decimals(char *out, size_t size, double value, unsigned decimals, bool trim)
{
    static const uint64_t powers[] = {1, 10, 100, 1000};
    char text[FORMAT_SIZE];
    uint64_t scaled = (uint64_t)(value * (double)powers[decimals] + 0.5);
    size_t length = format_u64(text, sizeof(text), scaled / powers[decimals]);

    if (decimals > 0) {
        uint64_t fraction = scaled % powers[decimals];
        text[length++] = '.';
        for (unsigned i = decimals; i > 0; i--)
            text[length++] = (char)('0' + fraction / powers[i - 1] % 10);
        while (trim && text[length - 1] == '0')
            length--;
        if (text[length - 1] == '.')
            length--;
    }
    return put(out, size, text, length);
}

/* Below 1000: fractions as far as they say something. */
static size_t put_small(char *out, size_t size, double value)
{
    if (value >= 0.995)
        return put_decimals(out, size, value, value < 99.95, true);
    if (value >= 0.00995)
        return put_decimals(out, size, value, 2, true);
    if (value >= 0.0005)
        return put_decimals(out, size, value, 3, true);
    return put_text(out, size, value > 0 ? "<.001" : "0");
}

/* 10.0k and up: three digits and the letter of the power. */
static size_t put_large(char *out, size_t size, double value)
{
    static const char letters[] = "kMGTPEZY";
    size_t power = 0;
    value /= 1000;
    while (value >= 999.5 && power + 1 < sizeof(letters) - 1) {
        value /= 1000;
        power++;
    }
    if (value >= 999.5)
        return put_text(out, size, ">999Y");
    size_t length = put_decimals(out, size, value, value < 9.995 ? 2 : value < 99.95 ? 1 : 0, false);
    return length + put(out + length, size - length, letters + power, 1);
}

static size_t put_magnitude(char *out, size_t size, double value)
{
    if (value < 999.5)
        return put_small(out, size, value);
    if (value < 9999.5)
        return put_decimals(out, size, value, 0, false);
    return put_large(out, size, value);
}

/* The sign, then what writes magnitudes. "-0" is not written: a magnitude that is not zero never reads 0. */
static size_t put_signed(char *out, size_t size, double value,
                         size_t (*put_positive)(char *out, size_t size, double value))
{
    if (isnan(value))
        return put_text(out, size, "-");
    size_t length = value < 0 ? put_text(out, size, "-") : 0;
    if (isinf(value))
        return length + put_text(out + length, size - length, "inf");
    return length + put_positive(out + length, size - length, fabs(value));
}

size_t format_scaled(char *out, size_t size, double value)
{
    return put_signed(out, size, value, put_magnitude);
}

static size_t put_exact(char *out, size_t size, double value)
{
    if (value < 99.995)
        return value > 0 && value < 0.005 ? put_small(out, size, value)
                                          : put_decimals(out, size, value, 2, true);
    if (value < 1e18)
        return put_decimals(out, size, value, 0, false);
    return put_large(out, size, value);
}

size_t format_exact(char *out, size_t size, double value)
{
    return put_signed(out, size, value, put_exact);
}

static size_t put_percent(char *out, size_t size, double value)
{
    return value < 99999.5 && value >= 99.95 ? put_decimals(out, size, value, 0, false)
                                             : put_magnitude(out, size, value);
}

size_t format_percent(char *out, size_t size, double percent)
{
    return put_signed(out, size, percent, put_percent);
}

size_t format_bytes(char *out, size_t size, double bytes)
{
    size_t length = format_scaled(out, size, bytes);
    return length + put_text(out + length, size - length, "B");
}

static size_t put_pair(char *out, size_t size, uint64_t big, char unit, uint64_t small)
{
    char text[FORMAT_SIZE];
    size_t length = format_u64(text, sizeof(text), big);
    text[length++] = unit;
    text[length++] = (char)('0' + small / 10 % 10);
    text[length++] = (char)('0' + small % 10);
    return put(out, size, text, length);
}

size_t format_duration(char *out, size_t size, double seconds)
{
    if (!(seconds > 0))
        return put_text(out, size, "0s");
    if (seconds < 59.5) {
        double value = seconds < 9.95e-5 ? seconds * 1e6 : seconds < 0.0995 ? seconds * 1e3 : seconds;
        const char *unit = seconds < 9.95e-5 ? "us" : seconds < 0.0995 ? "ms" : "s";
        if (seconds < 0.5e-6)
            return put_text(out, size, "<1us");
        size_t length = put_decimals(out, size, value, value < 9.95 && seconds >= 9.95e-5, true);
        return length + put_text(out + length, size - length, unit);
    }
    if (seconds >= 1e15)
        return put_text(out, size, "ever");
    uint64_t minutes = (uint64_t)(seconds < 60 ? 60 : seconds) / 60;
    if (minutes < 60) {
        size_t length = format_u64(out, size, minutes);
        return length + put_text(out + length, size - length, "m");
    }
    return minutes < 24 * 60 ? put_pair(out, size, minutes / 60, 'h', minutes % 60)
                             : put_pair(out, size, minutes / 1440, 'd', minutes / 60 % 24);
}

static void put_two(char *out, uint64_t value)
{
    out[0] = (char)('0' + value / 10 % 10);
    out[1] = (char)('0' + value % 10);
}

static size_t put_hms(char *out, size_t size, uint64_t hours, uint64_t minutes, uint64_t seconds)
{
    char text[FORMAT_SIZE] = "0";
    size_t length = hours < 10 ? 1 : 0;
    length += format_u64(text + length, sizeof(text) - length, hours);
    memcpy(text + length, ":00:00", 6);
    put_two(text + length + 1, minutes);
    put_two(text + length + 4, seconds);
    return put(out, size, text, length + 6);
}

size_t format_elapsed(char *out, size_t size, int64_t ns)
{
    uint64_t s = ns > 0 ? (uint64_t)ns / 1000000000 : 0;
    return put_hms(out, size, s / 3600, s / 60 % 60, s % 60);
}

/* Whole seconds, rounded down also before 1970. */
static int64_t floor_seconds(int64_t wall_ns)
{
    return wall_ns / 1000000000 - (wall_ns % 1000000000 < 0);
}

size_t format_clock(char *out, size_t size, int64_t wall_ns)
{
    time_t seconds = (time_t)floor_seconds(wall_ns);
    struct tm tm = {0};
    localtime_r(&seconds, &tm);
    return put_hms(out, size, (uint64_t)tm.tm_hour, (uint64_t)tm.tm_min, (uint64_t)tm.tm_sec);
}

/* Year, month, day of a day count since 1970-01-01 in the Gregorian calendar: years start in March, so that
 * the leap day is a year's last. */
static void civil_date(int64_t days, int64_t *year, unsigned *month, unsigned *day)
{
    days += 719468; /* since 0000-03-01 */
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    unsigned of_era = (unsigned)(days - era * 146097);
    unsigned years = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    unsigned of_year = of_era - (365 * years + years / 4 - years / 100);
    unsigned march_month = (5 * of_year + 2) / 153;
    *day = of_year - (153 * march_month + 2) / 5 + 1;
    *month = march_month < 10 ? march_month + 3 : march_month - 9;
    *year = (int64_t)years + era * 400 + (*month <= 2);
}

size_t format_rfc3339(char *out, size_t size, int64_t wall_ns)
{
    char text[] = "0000-00-00T00:00:00.000Z";
    int64_t seconds = floor_seconds(wall_ns), year;
    int64_t days = seconds / 86400 - (seconds % 86400 < 0);
    uint64_t of_day = (uint64_t)(seconds - days * 86400);
    uint64_t ms = (uint64_t)(wall_ns - seconds * 1000000000) / 1000000;
    unsigned month, day;

    civil_date(days, &year, &month, &day); /* 64 bits of ns reach from 1677 to 2262 */
    put_two(text, (uint64_t)year / 100);
    put_two(text + 2, (uint64_t)year);
    put_two(text + 5, month);
    put_two(text + 8, day);
    put_two(text + 11, of_day / 3600);
    put_two(text + 14, of_day / 60 % 60);
    put_two(text + 17, of_day % 60);
    text[20] = (char)('0' + ms / 100);
    put_two(text + 21, ms);
    return put(out, size, text, sizeof(text) - 1);
}

const char *format_units_name(enum format_units units)
{
    static const char *const names[FORMAT_UNITS] = {"bits", "bytes", "exact"};
    return names[units];
}

enum format_level format_level(const struct cell *cell, const struct column *column)
{
    if (!cell_is_number(cell))
        return LEVEL_NONE;
    double value = cell_number(cell);
    if (column->bad > 0 && value >= column->bad)
        return LEVEL_BAD;
    return column->watch > 0 && value >= column->watch ? LEVEL_WATCH : LEVEL_NONE;
}

enum role format_role(const struct cell *cell, const struct column *column)
{
    static const enum role roles[] = {[LEVEL_WATCH] = ROLE_WATCH, [LEVEL_BAD] = ROLE_BAD};
    if (cell->stale)
        return ROLE_STALE;
    enum format_level level = format_level(cell, column);
    if (level != LEVEL_NONE)
        return roles[level];
    if (cell->kind == CELL_STR)
        return ROLE_TEXT;
    return cell_is_number(cell) && cell_number(cell) != 0 ? ROLE_TEXT : ROLE_DIM;
}

/* Inventory is small and read as it is (MTU 65535, 25000 Mbit/s); so are identities, whatever their size. */
static bool is_plain(double value, const struct column *column)
{
    return column->unit == UNIT_NONE ||
           ((column->where == IN_INFO || column->unit == UNIT_MHZ || column->unit == UNIT_MBPS) &&
            fabs(value) < 99999.5);
}

size_t format_value(char *out, size_t size, double value, const struct column *column,
                    const struct format_style *style)
{
    if (column->unit == UNIT_BPS && style->units == UNITS_BYTES)
        value /= 8;
    if (column->unit == UNIT_PCT)
        return format_percent(out, size, value);
    if (style->units == UNITS_EXACT || is_plain(value, column))
        return format_exact(out, size, value);
    return column->unit == UNIT_S ? format_duration(out, size, value) : format_scaled(out, size, value);
}

size_t format_delta(char *out, size_t size, double delta, const struct column *column,
                    const struct format_style *style)
{
    const char *sign = delta > 0 ? "+" : delta < 0 ? "-" : "";
    size_t length = put_text(out, size, sign);
    return length + format_value(out + length, size - length, fabs(delta), column, style);
}

size_t format_cell(char *out, size_t size, const struct cell *cell, const struct column *column,
                   const struct format_style *style)
{
    static const char *const reasons[] = {
        [CELL_NONE] = "-", [CELL_DENIED] = "?", [CELL_NEW] = "new", [CELL_RESET] = "rst"};
    static const char *const signs[] = {[LEVEL_NONE] = "", [LEVEL_WATCH] = "*", [LEVEL_BAD] = "!"};
    size_t length;

    if (cell->kind == CELL_STR) {
        length = put_text(out, size, cell->str ? cell->str : "");
        return cell->approx ? length + put_text(out + length, size - length, "~") : length;
    }
    if (!cell_is_number(cell))
        return put_text(out, size, reasons[cell->kind]);
    bool all_digits = style->units == UNITS_EXACT || column->unit == UNIT_NONE;
    if (cell->kind == CELL_U64 && all_digits && column->unit != UNIT_PCT && column->unit != UNIT_BPS)
        length = format_u64(out, size, cell->u64);
    else
        length = format_value(out, size, cell_number(cell), column, style);
    length += put_text(out + length, size - length, cell->approx ? "~" : "");
    length += put_text(out + length, size - length, cell->stale && column->where != IN_INFO ? "'" : "");
    return length + put_text(out + length, size - length, signs[format_level(cell, column)]);
}

size_t format_title(char *out, size_t size, const struct column *column, const struct format_style *style)
{
    const char *bit = strstr(column->title, "BIT/");
    if (!bit || column->unit != UNIT_BPS || style->units != UNITS_BYTES)
        return put_text(out, size, column->title);
    size_t length = put(out, size, column->title, (size_t)(bit - column->title));
    length += put_text(out + length, size - length, "BYTE/");
    return length + put_text(out + length, size - length, bit + strlen("BIT/"));
}

bool format_is_right(const struct column *column)
{
    return column->type != TYPE_STR;
}
