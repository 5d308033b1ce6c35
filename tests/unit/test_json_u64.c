/* SPDX-License-Identifier: MIT */
/*
 * The JSON reader: what it takes and refuses, numbers exact to the last bit, keys that come twice, bounds in
 * depth and size. The recordings of test_telemetry_parse.c compare it with another reader as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "collectors/json_u64.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static bool parse_text(struct json64 *doc, const char *text, char **copy)
{
    char err[128] = "";
    *copy = strdup(text);
    bool good = json64_parse(doc, *copy, strlen(text), err, sizeof err);
    assert_int_equal(good, err[0] == '\0');
    return good;
}

static void test_json_accepts_and_refuses(void **state)
{
    (void)state;
    static const char *const good[] = {"null",
                                       " {} ",
                                       "[]",
                                       "[1,-2,3.5e+7,true,false,null]",
                                       "{\"a\":{\"b\":[{}]}}",
                                       "\"\\u00e9\\ud83d\\ude00\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
                                       "0",
                                       "-0",
                                       "1e5",
                                       "[[[[[[[[1]]]]]]]]",
                                       "{\"a\":1,\"a\":2}",
                                       "18446744073709551616"};
    static const char *const bad[] = {"",
                                      " ",
                                      "{",
                                      "[1,]",
                                      "[1 2]",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{a:1}",
                                      "{\"a\":1,}",
                                      "01",
                                      "-",
                                      "1.",
                                      "1e",
                                      ".5",
                                      "+1",
                                      "nul",
                                      "True",
                                      "\"a",
                                      "\"\\x\"",
                                      "\"\\u12\"",
                                      "\"\\u000\"",
                                      "\"\\u0000\"",
                                      "\"\\ud800\"",
                                      "\"\\ud800\\u0041\"",
                                      "\"\\udc00\"",
                                      "\"\t\"",
                                      "\"\xff\"",
                                      "\"\xc0\x80\"",
                                      "\"\xed\xa0\x80\"",
                                      "\"\xf5\x80\x80\x80\"",
                                      "[[[[[[[[[1]]]]]]]]]",
                                      "1 1",
                                      "{}x",
                                      "\"a\"b\"",
                                      "[1}",
                                      "{\"a\":1]",
                                      "0x1"};
    struct json64 doc = {0};
    char *copy;
    for (size_t i = 0; i < COUNT(good); i++) {
        if (!parse_text(&doc, good[i], &copy))
            fail_msg("refused: %s", good[i]);
        free(copy);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        if (parse_text(&doc, bad[i], &copy))
            fail_msg("accepted: %s", bad[i]);
        free(copy);
    }
    json64_free(&doc);
    json64_free(NULL);
}

static void test_json_numbers_are_exact(void **state)
{
    (void)state;
    struct json64 doc = {0};
    char *copy;
    assert_true(
        parse_text(&doc,
                   "[18446744073709551615,9223372036854775808,9007199254740993,-9223372036854775808,"
                   "18446744073709551616,-9223372036854775809,1.0,\"0xffffffffffffffff\",\"0x1g\",\"0x\"]",
                   &copy));
    uint64_t u[10] = {0};
    int64_t s[10] = {0};
    bool is_u[10], is_s[10];
    size_t i = 0;
    for (const struct json64_node *c = json64_first(&doc, doc.v); c; c = json64_next(&doc, doc.v, c), i++) {
        is_u[i] = json64_u64(c, &u[i]);
        is_s[i] = json64_i64(c, &s[i]);
    }
    assert_int_equal(i, 10);
    assert_true(is_u[0] && u[0] == UINT64_MAX && !is_s[0]);
    assert_true(is_u[1] && u[1] == (uint64_t)INT64_MAX + 1 && !is_s[1]);
    assert_true(is_u[2] && u[2] == 9007199254740993u);
    assert_true(!is_u[3] && is_s[3] && s[3] == INT64_MIN);
    for (i = 4; i < 7; i++)
        assert_true(!is_u[i] && !is_s[i]);
    assert_true(is_u[7] && u[7] == UINT64_MAX);
    assert_true(!is_u[8] && !is_u[9]);
    free(copy);
    json64_free(&doc);
}

static void test_json_keys_twice_and_texts(void **state)
{
    (void)state;
    struct json64 doc = {0};
    char *copy;
    uint64_t v;
    assert_true(parse_text(&doc, "{\"a\":1,\"\\u0062\":{\"a\":7},\"a\":2}", &copy));
    assert_true(json64_u64(json64_get(&doc, doc.v, "a"), &v) && v == 1);
    assert_true(json64_u64(json64_get(&doc, json64_get(&doc, doc.v, "b"), "a"), &v) && v == 7);
    assert_null(json64_get(&doc, json64_get(&doc, doc.v, "nope"), "a"));
    free(copy);
    assert_true(parse_text(&doc, "\"\\ud83d\\ude00\\u20ac\\u00e9\\n\"", &copy));
    assert_string_equal(doc.v->text, "\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9\n");
    free(copy);
    json64_free(&doc);
}

static void test_json_is_bounded(void **state)
{
    (void)state;
    struct json64 doc = {0};
    char err[128];
    size_t n = 2u * JSON64_NODES_MAX + 2;
    char *many = malloc(n);
    many[0] = '[';
    for (size_t i = 1; i < n - 1; i++)
        many[i] = i % 2 ? '1' : ',';
    many[n - 2] = ' ';
    many[n - 3] = '1';
    many[n - 1] = ']';
    assert_false(json64_parse(&doc, many, n, err, sizeof err));
    assert_non_null(strstr(err, "too many"));
    assert_true(doc.cap <= JSON64_NODES_MAX);
    free(many);
    json64_free(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json_accepts_and_refuses),
        cmocka_unit_test(test_json_numbers_are_exact),
        cmocka_unit_test(test_json_keys_twice_and_texts),
        cmocka_unit_test(test_json_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
