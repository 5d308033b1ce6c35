/* SPDX-License-Identifier: MIT */
/*
 * Values to CSV text (declared in format.h): every digit, one form whatever the locale. A recording of a
 * thousand ports writes tens of thousands of numbers a frame, so printf is only for what is rare.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "src/format.h"
#include "src/utf8.h"

#define DIGITS 12 /* significant digits of a double */

size_t format_csv_u64(char *out, uint64_t value)
{
    return format_u64(out, FORMAT_SIZE, value);
}

/* By printf, with the locale's decimal point, whatever it is, made a point. */
static size_t print_double(char *out, double value)
{
    char text[FORMAT_SIZE * 2];
    size_t used = 0;
    snprintf(text, sizeof(text), "%.*g", DIGITS, value);
    for (const char *p = text; *p && used + 1 < FORMAT_SIZE; p++) {
        if (strchr("0123456789+-e", *p))
            out[used++] = *p;
        else if (used > 0 && out[used - 1] != '.') /* a decimal point may be several bytes */
            out[used++] = '.';
    }
    out[used] = '\0';
    return used;
}

/* Twelve digits (units of 10^(exponent - 11)) in positional form, zeros at the end left out. */
static size_t put_digits(char *out, uint64_t digits, int exponent)
{
    char text[DIGITS + 1];
    size_t used = 0;
    int length = DIGITS;

    format_u64(text, sizeof(text), digits);
    while (length > 1 && text[length - 1] == '0')
        length--;
    if (exponent < 0) {
        out[used++] = '0';
        out[used++] = '.';
        for (int i = -1; i > exponent; i--)
            out[used++] = '0';
        exponent = DIGITS; /* no point any more */
    }
    for (int i = 0; i < length || (i <= exponent && exponent < DIGITS); i++) {
        if (i == exponent + 1)
            out[used++] = '.';
        out[used++] = i < length ? text[i] : '0';
    }
    out[used] = '\0';
    return used;
}

/*
 * 12 digits of value >= 1e-4 and < 1e12. The product with a power of ten that a double holds exactly is off
 * by less than 1e-3 of the last digit; where that could change the rounding, 0 is returned and printf
 * decides.
 */
static size_t put_fast(char *out, double value)
{
    static const double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    int exponent = -4;
    while (exponent < DIGITS - 1 &&
           value >= (exponent < 0 ? 1 / powers[-exponent - 1] : powers[exponent + 1]))
        exponent++;
    double scaled = value * powers[DIGITS - 1 - exponent];
    uint64_t digits = (uint64_t)scaled;
    double rest = scaled - (double)digits;
    if (fabs(rest - 0.5) < 1e-2)
        return 0;
    digits += rest > 0.5;
    if (digits < UINT64_C(100000000000) || digits >= UINT64_C(1000000000000))
        return 0; /* rounded over a power of ten, or the exponent was next to one */
    return put_digits(out, digits, exponent);
}

size_t format_csv_f64(char *out, double value)
{
    size_t sign = 0, used = 0;

    out[0] = '\0';
    if (!isfinite(value))
        return 0;
    if (value < 0)
        out[sign++] = '-';
    double magnitude = fabs(value);
    if (magnitude < 9007199254740992.0 && magnitude == (double)(uint64_t)magnitude)
        return sign + format_u64(out + sign, FORMAT_SIZE - sign, (uint64_t)magnitude);
    if (magnitude >= 1e-4 && magnitude < 1e12)
        used = put_fast(out + sign, magnitude);
    return used ? sign + used : print_double(out, value);
}

/* Bytes wanted, of which those that fit are kept. */
struct sink {
    char *out;
    size_t size, needed;
};

static void sink_put(struct sink *sink, const char *bytes, size_t length)
{
    if (sink->needed + length < sink->size)
        memcpy(sink->out + sink->needed, bytes, length);
    sink->needed += length;
}

static bool is_plain_csv(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f || *text == ',' || *text == '"')
            return false;
    return true;
}

static void sink_text(struct sink *sink, const char *text)
{
    for (size_t taken; *text; text += taken) {
        uint32_t code = utf8_decode(text, strnlen(text, UTF8_MAX), &taken);
        bool layout = code == '\t' || code == '\n' || code == '\r';
        if (code == UTF8_INVALID || (!layout && (code < 0x20 || (code >= 0x7f && code < 0xa0))))
            sink_put(sink, "\xef\xbf\xbd", 3);
        else if (code == '"')
            sink_put(sink, "\"\"", 2);
        else
            sink_put(sink, text, taken);
    }
}

size_t format_csv_text(char *out, size_t size, const char *text)
{
    struct sink sink = {out, size, 0};
    bool quoted = strpbrk(text, ",\"\n\r") != NULL;

    if (is_plain_csv(text)) {
        sink_put(&sink, text, strlen(text));
    } else {
        sink_put(&sink, "\"", quoted);
        sink_text(&sink, text);
        sink_put(&sink, "\"", quoted);
    }
    if (size > 0)
        out[sink.needed < size ? sink.needed : 0] = '\0';
    return sink.needed;
}

size_t format_csv_cell(char *out, size_t size, const struct cell *cell)
{
    char number[FORMAT_SIZE] = "";

    if (cell->kind == CELL_STR)
        return format_csv_text(out, size, cell->str ? cell->str : "");
    if (cell->kind == CELL_U64)
        format_csv_u64(number, cell->u64);
    else if (cell->kind == CELL_F64)
        format_csv_f64(number, cell->f64);
    return format_csv_text(out, size, number);
}
