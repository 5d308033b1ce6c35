/* SPDX-License-Identifier: MIT */
/* The canvas, its dump and UTF-8: hostile texts keep their columns and no byte of theirs reaches a terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "src/utf8.h"
#include "ui/canvas.h"
#include "ui/dump.h"

static void assert_dump(const struct canvas *canvas, const char *expected)
{
    char *text = dump_text_string(canvas);
    assert_string_equal(text, expected);
    free(text);
}

/* Draws a text in a field of 8 between bars; the field must keep its place. */
static void assert_field(bool utf8, const char *text, const char *expected)
{
    struct canvas *canvas = canvas_new(1, 12, utf8);
    canvas_text(canvas, 0, 0, 1, ROLE_TEXT, "|");
    canvas_text(canvas, 0, 9, 1, ROLE_TEXT, "|");
    canvas_text(canvas, 0, 1, 8, ROLE_TEXT, text);
    assert_dump(canvas, expected);

    int cells = 0;
    for (int col = 0; col < canvas->cols; col++)
        cells += canvas_at(canvas, 0, col)->width;
    assert_int_equal(cells, canvas->cols);
    canvas_free(canvas);
}

static void test_plain_text(void **state)
{
    (void)state;
    assert_field(true, "vnet0", "|vnet0   |\n");
    assert_field(true, "", "|        |\n");
    assert_field(true, "exactly8", "|exactly8|\n");
    assert_field(true, "longer than it", "|longer t|\n");
    assert_field(false, "vnet0", "|vnet0   |\n");
}

static void test_control_bytes_become_question_marks(void **state)
{
    (void)state;
    assert_field(true, "a\x1b[31mb", "|a?[31mb |\n");
    assert_field(true, "a\tb\nc\rd", "|a?b?c?d |\n");
    assert_field(true,
                 "\x7f\x01\xc2\x9b"
                 "x",
                 "|???x    |\n"); /* C1: CSI as UTF-8 */
    assert_field(true, "\xff\xfe\x80", "|???     |\n");
    assert_field(true, "\xc0\xaf\xe0\x80\xaf", "|?????   |\n"); /* overlong slashes */
    assert_field(true, "\xed\xa0\x80", "|???     |\n");         /* surrogate */
    assert_field(true, "\xf4\x90\x80\x80", "|????    |\n");     /* over U+10FFFF */
    assert_field(true, "ab\xe6\x97", "|ab??    |\n");           /* torn */
    assert_field(true,
                 "a\u202e"
                 "b\u2066"
                 "c",
                 "|a?b?c   |\n"); /* bidi */
    assert_field(true,
                 "\ufeffa\u200b"
                 "b\u2028",
                 "|?a?b?   |\n");
    assert_field(true,
                 "a\u00ad"
                 "b\uffff",
                 "|a?b?    |\n");
}

static void test_invisible_characters_go(void **state)
{
    (void)state;
    assert_field(true,
                 "a\u200d"
                 "b\ufe0f"
                 "c\u200c",
                 "|abc     |\n");
    assert_field(true, "\ufe0f", "|        |\n");
}

static void test_wide_characters_take_two_cells(void **state)
{
    (void)state;
    assert_field(true, "日本語", "|日本語  |\n");
    assert_field(true, "日本語日本", "|日本語日|\n");
    assert_field(true, "a日本語日", "|a日本語 |\n"); /* half a character is none */
    assert_field(true, "😀x", "|😀x     |\n");
    assert_field(true, "한국", "|한국    |\n");

    struct canvas *canvas = canvas_new(1, 4, true);
    assert_int_equal(canvas_width(canvas, "日本x"), 5);
    assert_int_equal(canvas_text(canvas, 0, 0, 4, ROLE_TEXT, "日本"), 4);
    assert_string_equal(canvas_at(canvas, 0, 1)->glyph, "");
    assert_int_equal(canvas_at(canvas, 0, 1)->width, 0);
    canvas_free(canvas);
}

static void test_drawing_over_half_a_wide_character(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(1, 6, true);
    canvas_text(canvas, 0, 0, 6, ROLE_TEXT, "日本語");
    canvas_text(canvas, 0, 1, 1, ROLE_TEXT, "x");
    assert_dump(canvas, " x本語\n");
    canvas_text(canvas, 0, 4, 1, ROLE_TEXT, "y");
    assert_dump(canvas, " x本y\n");
    canvas_text(canvas, 0, 3, 2, ROLE_TEXT, "語");
    assert_dump(canvas, " x 語\n");
    canvas_free(canvas);
}

static void test_combining_characters_join_and_are_bounded(void **state)
{
    (void)state;
    assert_field(true, "cafe\u0301!", "|cafe\u0301!   |\n");
    assert_field(true, "\u0301x", "|?x      |\n"); /* no base: not the bar's */
    char zalgo[3 * 1000 + 2] = "z";
    for (int i = 0; i < 1000; i++)
        strcat(zalgo, "\u0300");
    assert_field(true, zalgo, "|z\u0300\u0300\u0300\u0300       |\n");
}

static void test_ascii_mode_draws_only_ascii(void **state)
{
    (void)state;
    assert_field(false, "caf\u00e9 日本", "|caf? ?? |\n");
    assert_field(false, "\xff\x1b\u202e", "|???     |\n");
    struct canvas *canvas = canvas_new(2, 10, false);
    canvas_bar(canvas, 0, 0, 10, ROLE_CPU, 55, 100);
    for (int i = 0; i <= 8; i++)
        canvas_fill(canvas, 1, i, 1, ROLE_TEXT, canvas_level(canvas, i));
    assert_dump(canvas, "#####=\n .:-=+*#@\n");
    canvas_free(canvas);
}

static void test_nothing_happens_outside(void **state)
{
    (void)state;
    static const int odd[] = {INT_MIN, -1000000, -1, 0, 1, 3, 4, 1000000, INT_MAX};
    enum { N = sizeof(odd) / sizeof(odd[0]) };
    struct canvas *canvas = canvas_new(3, 4, true);
    for (int r = 0; r < N; r++)
        for (int c = 0; c < N; c++)
            for (int w = 0; w < N; w++) {
                canvas_text(canvas, odd[r], odd[c], odd[w], ROLE_TEXT, "日本語 text");
                canvas_fill(canvas, odd[r], odd[c], odd[w], ROLE_TEXT, "█");
                canvas_select(canvas, odd[r], odd[c], odd[w]);
                canvas_paint(canvas, odd[r], odd[c], odd[w], ROLE_BAD);
                if (odd[w] < 1000 && odd[c] > INT_MIN && odd[c] < INT_MAX - 1000)
                    canvas_bar(canvas, odd[r], odd[c], odd[w], ROLE_CPU, 1, 1);
                canvas_cursor(canvas, odd[r], odd[c]);
            }
    assert_null(canvas_at(canvas, 3, 0));
    assert_null(canvas_at(canvas, 0, -1));
    canvas_resize(canvas, -5, 1 << 30);
    assert_int_equal(canvas->rows, 0);
    canvas_text(canvas, 0, 0, 10, ROLE_TEXT, "x");
    canvas_free(canvas);
    canvas_free(NULL);
}

static void test_text_from_left_of_the_canvas(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(1, 4, true);
    canvas_text(canvas, 0, -2, 5, ROLE_TEXT, "abcdefgh");
    assert_dump(canvas, "cde\n");
    canvas_free(canvas);
}

static void test_right_never_cuts_a_number(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(3, 8, true);
    canvas_right(canvas, 0, 1, 5, ROLE_TEXT, "474k");
    canvas_right(canvas, 1, 1, 5, ROLE_TEXT, "16.5!");
    canvas_right(canvas, 2, 1, 5, ROLE_TEXT, "123456");
    assert_dump(canvas, "  474k\n 16.5!\n #####\n");
    canvas_free(canvas);
}

static void test_wrap(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(6, 14, true);
    assert_int_equal(
        canvas_wrap(canvas, 0, 1, 12, 6, ROLE_TEXT, "web-rx net0 loses 16.5 % of what OVS sends"), 4);
    assert_dump(canvas, " web-rx net0\n loses 16.5 %\n of what OVS\n sends\n\n\n");
    canvas_clear(canvas);
    assert_int_equal(canvas_wrap(canvas, 0, 0, 5, 2, ROLE_TEXT, "abcdefghijklm"), 2);
    assert_dump(canvas, "abcde\nfghij\n\n\n\n\n");
    canvas_clear(canvas);
    assert_int_equal(canvas_wrap(canvas, 0, 0, 5, 6, ROLE_TEXT, "a\n\nb   c"), 3);
    assert_dump(canvas, "a\n\nb   c\n\n\n\n");
    canvas_clear(canvas);
    assert_int_equal(canvas_wrap(canvas, 0, 0, 1, 6, ROLE_TEXT, "日本"), 2); /* ends, though nothing fits */
    assert_int_equal(canvas_wrap(canvas, 0, 0, 0, 6, ROLE_TEXT, "abc"), 0);
    assert_int_equal(canvas_wrap(canvas, 0, 0, 4, 6, ROLE_TEXT, ""), 0);
    canvas_free(canvas);
}

static void test_bar(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(7, 10, true);
    canvas_bar(canvas, 0, 0, 10, ROLE_CPU, 0, 100);
    canvas_bar(canvas, 1, 0, 10, ROLE_CPU, 0.001, 100);
    canvas_bar(canvas, 2, 0, 10, ROLE_CPU, 50, 100);
    canvas_bar(canvas, 3, 0, 10, ROLE_CPU, 74, 100);
    canvas_bar(canvas, 4, 0, 8, ROLE_CPU, 1e300, 100);
    canvas_bar(canvas, 5, 0, 10, ROLE_CPU, 0.0 / 0.0, 100);
    canvas_bar(canvas, 6, 0, 10, ROLE_CPU, -5, 100);
    assert_dump(canvas, "\n▏\n█████\n███████▍\n████████\n\n\n");
    canvas_free(canvas);
}

static void test_styled_dump(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(2, 8, true);
    canvas_text(canvas, 0, 0, 8, ROLE_HEADING, "PORT");
    canvas_text(canvas, 0, 5, 8, ROLE_BAD, "5!");
    canvas_text(canvas, 1, 0, 8, ROLE_TEXT, "eth0");
    canvas_select(canvas, 1, 0, 6);
    canvas_paint(canvas, 0, 1, 1, ROLE_SORTED);
    char *text = dump_styled_string(canvas);
    assert_string_equal(text, "PORT 5!\neth0\n---\ncdcc ll\nAAAAAA\n--- c=heading d=sorted l=bad\n");
    free(text);
    assert_int_equal(dump_used_rows(canvas), 2);
    canvas_clear(canvas);
    assert_int_equal(dump_used_rows(canvas), 0);
    canvas_free(canvas);
}

static void test_drawing_ends_selection_and_clear_hides_the_cursor(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(1, 4, true);
    canvas_text(canvas, 0, 0, 4, ROLE_TEXT, "abcd");
    canvas_select(canvas, 0, 0, 4);
    canvas_text(canvas, 0, 1, 1, ROLE_TEXT, "x");
    assert_true(canvas_at(canvas, 0, 0)->selected);
    assert_false(canvas_at(canvas, 0, 1)->selected);
    canvas_cursor(canvas, 0, 2);
    assert_int_equal(canvas->cursor_col, 2);
    canvas_clear(canvas);
    assert_int_equal(canvas->cursor_row, -1);
    canvas_free(canvas);
}

static void test_utf8_round_trip(void **state)
{
    (void)state;
    for (uint32_t code = 1; code <= 0x10ffff; code++) {
        char bytes[UTF8_MAX];
        size_t length = utf8_encode(code, bytes), taken;
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        uint32_t back = utf8_decode(bytes, length, &taken);
        if (back != (surrogate ? UTF8_INVALID : code) || taken != (surrogate ? 1 : length))
            fail_msg("U+%04X", (unsigned)code);
        if (length > 1 && utf8_decode(bytes, length - 1, &taken) != UTF8_INVALID)
            fail_msg("torn U+%04X", (unsigned)code);
    }
}

static void test_random_bytes(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(1, 40, true);
    uint32_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        char text[32];
        for (size_t i = 0; i < sizeof(text); i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = (char)(seed >> 24);
        }
        text[sizeof(text) - 1] = '\0';
        canvas_clear(canvas);
        int end = canvas_text(canvas, 0, 4, 20, ROLE_TEXT, text);
        assert_in_range(end, 4, 24);
        int cells = 0;
        for (int col = 0; col < 40; col++) {
            const struct canvas_cell *cell = canvas_at(canvas, 0, col);
            cells += cell->width;
            if (col < 4 || col >= 24)
                assert_string_equal(cell->glyph, " ");
            for (const char *p = cell->glyph; *p; p++)
                assert_true((unsigned char)*p >= 0x20 && *p != 0x7f);
        }
        assert_int_equal(cells, 40);
    }
    canvas_free(canvas);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_text),
        cmocka_unit_test(test_control_bytes_become_question_marks),
        cmocka_unit_test(test_invisible_characters_go),
        cmocka_unit_test(test_wide_characters_take_two_cells),
        cmocka_unit_test(test_drawing_over_half_a_wide_character),
        cmocka_unit_test(test_combining_characters_join_and_are_bounded),
        cmocka_unit_test(test_ascii_mode_draws_only_ascii),
        cmocka_unit_test(test_nothing_happens_outside),
        cmocka_unit_test(test_text_from_left_of_the_canvas),
        cmocka_unit_test(test_right_never_cuts_a_number),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_bar),
        cmocka_unit_test(test_styled_dump),
        cmocka_unit_test(test_drawing_ends_selection_and_clear_hides_the_cursor),
        cmocka_unit_test(test_utf8_round_trip),
        cmocka_unit_test(test_random_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
