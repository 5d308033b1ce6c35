/* SPDX-License-Identifier: MIT */
/* Graphs and sparklines: causes line up with effects, gaps are no zeros, spikes are not averaged away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ui/dump.h"
#include "ui/graph.h"

#define S    INT64_C(1000000000)
#define NONE NAN

static void assert_dump(const struct canvas *canvas, const char *expected)
{
    char *text = dump_text_string(canvas);
    assert_string_equal(text, expected);
    free(text);
}

static void assert_columns(const double *columns, const double *expected, int n)
{
    for (int i = 0; i < n; i++)
        if (isnan(columns[i]) != isnan(expected[i]) || fabs(columns[i] - expected[i]) > 1e-6)
            fail_msg("column %d: %g instead of %g", i, columns[i], expected[i]);
}

static void test_one_point_a_column(void **state)
{
    (void)state;
    const struct graph_point points[] = {{S, 1}, {2 * S, 2}, {3 * S, NONE}, {4 * S, 4}};
    double columns[5];
    graph_resample(points, 4, 0, 5 * S, GRAPH_MEAN, columns, 5);
    assert_columns(columns, (double[]){1, 2, NONE, 4, NONE}, 5);
    graph_resample(points, 4, 0, 5 * S, GRAPH_MAX, columns, 5);
    assert_columns(columns, (double[]){1, 2, NONE, 4, NONE}, 5);
}

static void test_many_points_a_column(void **state)
{
    (void)state;
    struct graph_point points[100];
    for (int i = 0; i < 100; i++)
        points[i] = (struct graph_point){(i + 1) * S / 10, i == 42 ? 1000 : 1};
    double columns[10];
    graph_resample(points, 100, 0, 10 * S, GRAPH_MAX, columns, 10);
    assert_columns(columns, (double[]){1, 1, 1, 1, 1000, 1, 1, 1, 1, 1}, 10);
    graph_resample(points, 100, 0, 10 * S, GRAPH_MEAN, columns, 10);
    assert_columns(columns, (double[]){1, 1, 1, 1, 100.9, 1, 1, 1, 1, 1}, 10);
}

static void test_a_point_holds_since_the_one_before(void **state)
{
    (void)state;
    const struct graph_point points[] = {{0, 7}, {4 * S, 2}, {8 * S, 6}};
    double columns[8];
    graph_resample(points, 3, 0, 8 * S, GRAPH_MEAN, columns, 8);
    assert_columns(columns, (double[]){2, 2, 2, 2, 6, 6, 6, 6}, 8);
}

static void test_jitter_does_not_smear_a_spike(void **state)
{
    (void)state;
    struct graph_point points[20];
    for (int i = 0; i < 20; i++) /* ticks some ms early and late */
        points[i] = (struct graph_point){(i + 1) * S + (i % 3 - 1) * 20000000, i == 9    ? 50
                                                                               : i == 12 ? NONE
                                                                                         : 0};
    double columns[20];
    int spikes = 0, gaps = 0;
    graph_resample(points, 20, 0, 20 * S, GRAPH_MAX, columns, 20);
    for (int i = 0; i < 20; i++) {
        spikes += columns[i] == 50;
        gaps += isnan(columns[i]);
    }
    assert_int_equal(spikes, 1);
    assert_int_equal(gaps, 1);
    assert_true(columns[9] == 50);
    assert_true(isnan(columns[12]));
}

static void test_every_spike_survives_any_width(void **state)
{
    (void)state;
    struct graph_point points[300];
    for (int spike = 1; spike < 300; spike += 7)
        for (int width = 10; width < 400; width += 13) {
            double columns[400], max = 0;
            for (int i = 0; i < 300; i++)
                points[i] = (struct graph_point){i * S, i == spike ? 9 : 1};
            graph_resample(points, 300, 0, 299 * S, GRAPH_MAX, columns, width);
            for (int i = 0; i < width; i++) {
                assert_false(isnan(columns[i]));
                max = columns[i] > max ? columns[i] : max;
            }
            assert_true(max == 9);
        }
}

static void test_hostile_points(void **state)
{
    (void)state;
    const struct graph_point points[] = {{5 * S, 1},         {3 * S, 2},         {3 * S, 3},
                                         {INT64_MAX / 2, 4}, {INT64_MIN / 4, 5}, {4 * S, INFINITY},
                                         {6 * S, -1}};
    double columns[10];
    graph_resample(points, 7, 0, 10 * S, GRAPH_MEAN, columns, 10);
    graph_resample(points, 7, 10 * S, 10 * S, GRAPH_MEAN, columns, 10); /* empty window */
    assert_true(isnan(columns[0]) && isnan(columns[9]));
    graph_resample(points, 7, 10 * S, 0, GRAPH_MAX, columns, 10);
    assert_true(isnan(columns[0]));
    graph_resample(points, 7, 0, 3, GRAPH_MAX, columns, 10); /* fewer ns than columns */
    graph_resample(NULL, 0, 0, S, GRAPH_MAX, columns, 10);
    assert_true(isnan(columns[5]));
    graph_resample(points, 7, 0, S, GRAPH_MAX, NULL, 0);
}

static void test_full(void **state)
{
    (void)state;
    assert_true(graph_full((double[]){567999, 12}, 2, 0) == 600000);
    assert_true(graph_full((double[]){16.5, NAN}, 2, 0) == 20);
    assert_true(graph_full((double[]){100}, 1, 0) == 100);
    assert_true(graph_full((double[]){5}, 1, 100) == 100);
    assert_true(graph_full((double[]){9e9}, 1, 0) == 1e10);
    assert_true(graph_full((double[]){0, NAN, -5}, 3, 0) == 1);
    assert_true(graph_full(NULL, 0, 0) == 1);
    assert_true(graph_full((double[]){1e308}, 1, 0) >= 1e308);
    assert_true(fabs(graph_full((double[]){0.3}, 1, 0) - 0.3) < 1e-9);
}

static void test_spark(void **state)
{
    (void)state;
    const double values[] = {0, 0.001, 25, 50, NONE, 75, 100, 1000};
    struct canvas *canvas = canvas_new(3, 12, true);
    graph_spark(canvas, 0, 1, 10, ROLE_RX, values, 7, 0);
    graph_spark(canvas, 1, 1, 4, ROLE_RX, values, 8, 100);
    graph_spark(canvas, 2, 1, 4, ROLE_RX, (double[]){0, NAN, 0}, 3, 0);
    assert_dump(canvas, "    ▁▂▂▄ ▆█\n  ▆██\n  ▁ ▁\n");
    assert_int_equal(canvas_at(canvas, 0, 4)->role, ROLE_DIM); /* zero */
    assert_int_equal(canvas_at(canvas, 0, 5)->role, ROLE_RX);  /* not zero */
    canvas_free(canvas);

    canvas = canvas_new(1, 8, false);
    graph_spark(canvas, 0, 0, 8, ROLE_RX, values, 8, 100);
    assert_dump(canvas, ".::= *@@\n");
    canvas_free(canvas);
}

static const struct graph_axis axis = {
    .col = 0, .plot_col = 11, .width = 60, .start_ns = 40 * S, .end_ns = 100 * S, .end_label = "now"};

static void test_graphs_share_an_axis(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(4, 80, true);
    struct graph_point pps[100], loss[100];
    double columns[60];
    for (int i = 0; i < 100; i++) {
        pps[i] = (struct graph_point){(i + 1) * S, i < 50 ? NONE : i < 80 ? 600e3 : 300e3};
        loss[i] = (struct graph_point){(i + 1) * S, i < 80 ? 0 : 10};
    }
    graph_time_labels(canvas, 0, &axis);
    graph_resample(pps, 100, axis.start_ns, axis.end_ns, GRAPH_MEAN, columns, axis.width);
    graph_plot(canvas, 1, 1, &axis, &(struct graph){"pps", ROLE_RX, 600e3, "600k"}, columns);
    graph_resample(loss, 100, axis.start_ns, axis.end_ns, GRAPH_MAX, columns, axis.width);
    graph_plot(canvas, 2, 1, &axis, &(struct graph){"loss", ROLE_LOSS, 20, "20%"}, columns);
    const struct graph_mark marks[] = {{10 * S, "before"}, {51 * S, "iperf3 start"}, {81 * S, "pin"}};
    assert_int_equal(graph_marks(canvas, 3, 1, &axis, marks, 3), 1);
    assert_dump(canvas, "           -60s           -45s           -30s           -15s        now\n"
                        "pps   600k│          ██████████████████████████████▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄\n"
                        "loss   20%│▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄▄\n"
                        "                     ^ iperf3 start                ^ pin\n");
    canvas_free(canvas);
}

static void test_rows_in_utf8_and_ascii(void **state)
{
    (void)state;
    const struct graph_axis small = {.col = 0, .plot_col = 7, .width = 8, .end_ns = 8 * S, .end_label = ""};
    const double columns[] = {0, 1, 25, 50, 75, 100, NONE, 500};
    const struct graph graph = {"x", ROLE_CPU, 100, "100"};
    struct canvas *canvas = canvas_new(4, 16, true);
    graph_plot(canvas, 0, 4, &small, &graph, columns);
    assert_dump(canvas, "x  100│     █ █\n      │    ██ █\n      │   ███ █\n     0│▁▂████ █\n");
    canvas_free(canvas);
    canvas = canvas_new(3, 16, false);
    graph_plot(canvas, 0, 3, &small, &graph, columns);
    assert_dump(canvas, "x  100|    :@ @\n      |   =@@ @\n     0|.:*@@@ @\n");
    canvas_free(canvas);
}

static void test_time_labels(void **state)
{
    (void)state;
    static const struct {
        int64_t span_s;
        int width;
        const char *text;
    } cases[] = {
        {60, 30, "-60s           -30s        now\n"},
        {10, 60, "-10s                          -5s                        now\n"},
        {600, 40, "-10m                -5m              now\n"},
        {14400, 40, "-4h                 -2h              now\n"},
        {60, 4, " now\n"},
        {0, 10, "       now\n"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct canvas *canvas = canvas_new(1, 80, true);
        const struct graph_axis one = {
            .width = cases[i].width, .end_ns = cases[i].span_s * S, .end_label = "now"};
        graph_time_labels(canvas, 0, &one);
        assert_dump(canvas, cases[i].text);
        canvas_free(canvas);
    }
}

static void test_marks_find_room(void **state)
{
    (void)state;
    struct canvas *canvas = canvas_new(3, 24, true);
    const struct graph_axis one = {.plot_col = 2, .width = 20, .end_ns = 20 * S, .end_label = "now"};
    const struct graph_mark marks[] = {{5 * S, "one"}, {8 * S, "two"}, {20 * S, "edge"}, {21 * S, "later"}};
    assert_int_equal(graph_marks(canvas, 0, 3, &one, marks, 4), 2);
    assert_dump(canvas, "         ^ two  edge ^\n      ^ one\n\n");
    canvas_clear(canvas);
    assert_int_equal(graph_marks(canvas, 0, 1, &one, marks, 4), 1);
    assert_dump(canvas, "      ^  ^ two  edge ^\n\n\n"); /* no room for `one', its place is shown */
    canvas_clear(canvas);
    const struct graph_mark hostile[] = {{3 * S, "日\x1b本"}, {4 * S, ""}, {4 * S, "x"}};
    graph_marks(canvas, 0, 3, &one, hostile, 3);
    assert_dump(canvas, "     ^ x\n     ^\n    ^ 日?本\n");
    assert_int_equal(graph_marks(canvas, 0, 0, &one, marks, 3), 0);
    canvas_free(canvas);
}

static void test_value_of_a_cell(void **state)
{
    (void)state;
    struct cell number = {.kind = CELL_U64, .u64 = 5}, none = {.kind = CELL_RESET};
    assert_true(graph_value(&number) == 5);
    assert_true(isnan(graph_value(&none)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_point_a_column),
        cmocka_unit_test(test_many_points_a_column),
        cmocka_unit_test(test_a_point_holds_since_the_one_before),
        cmocka_unit_test(test_jitter_does_not_smear_a_spike),
        cmocka_unit_test(test_every_spike_survives_any_width),
        cmocka_unit_test(test_hostile_points),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_spark),
        cmocka_unit_test(test_graphs_share_an_axis),
        cmocka_unit_test(test_rows_in_utf8_and_ascii),
        cmocka_unit_test(test_time_labels),
        cmocka_unit_test(test_marks_find_room),
        cmocka_unit_test(test_value_of_a_cell),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
