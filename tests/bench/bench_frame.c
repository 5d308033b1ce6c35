/* SPDX-License-Identifier: MIT */
/*
 * bench_frame: what a whole frame costs in CPU time: the links read, taken into the history, made a frame of,
 * sorted, and forty rows of the view Ports drawn on a canvas. Called by tests/bench/run in a namespace with
 * the links. Exit status 1: the target was missed.
 */
#include "bench/bench.h"
#include "collectors/netlink.h"
#include "src/store.h"
#include "ui/views.h"

#define FRAMES        300
#define WARM_UP       50
#define HISTORY_BYTES (6u << 20)
#define ROWS          41 /* heading and 40 rows */
#define COLS          200
#define TARGET_MS     2.0

enum stage { READ, STORE, FRAME, PREPARE, DRAW, FREE, STAGES };
static const char *const stage_names[STAGES] = {"read",      "history",   "rates and joins",
                                                "sort rows", "draw rows", "free the frame"};

struct bench {
    void *state;
    struct collect_call call;
    struct store *store;
    size_t feed;
    struct canvas *canvas;
    struct table_state table;
    struct times stages[STAGES], whole, bare;
    size_t rows;
};

static void check(enum collect_result result, const struct collect_call *call)
{
    if (result == COLLECT_OK)
        return;
    fprintf(stderr, "%s\n", call->error.text);
    exit(2);
}

static void set_up(struct bench *bench)
{
    static const struct collect_config config = {.root = ""};
    bench->call = (struct collect_call){.stop_fd = -1, .deadline_ns = clock_mono_ns() + INT64_C(10000000000)};
    check(netlink_collector.open(&config, &bench->state, &bench->call), &bench->call);
    bench->store = store_new(HISTORY_BYTES, clock_mono_ns());
    bench->feed = store_add_feed(bench->store, "netlink");
    bench->canvas = canvas_new(ROWS, COLS, true);
    table_state_init(&bench->table, view_find("ports"));
    bench->table.show_idle = true;
}

static void one_frame(struct bench *bench, uint64_t at[STAGES + 1])
{
    struct sample *sample = NULL;
    at[READ] = clock_thread_cpu_ns();
    bench->call.deadline_ns = clock_mono_ns() + INT64_C(10000000000);
    check(netlink_collector.collect(bench->state, &bench->call, &sample), &bench->call);
    at[STORE] = clock_thread_cpu_ns();
    store_put(bench->store, bench->feed, sample);
    store_tick(bench->store, clock_mono_ns(), clock_wall_ns());
    at[FRAME] = clock_thread_cpu_ns();
    size_t moment = store_moments(bench->store) - 1;
    struct frame *frame = store_frame(bench->store, moment);
    at[PREPARE] = clock_thread_cpu_ns();
    table_prepare(&bench->table, frame, TABLE_PORTS);
    bench->rows = bench->table.n_rows;
    at[DRAW] = clock_thread_cpu_ns();
    struct scene scene = {
        .frame = frame, .store = bench->store, .moment = moment, .interval_ms = 1000, .state = &bench->table};
    canvas_clear(bench->canvas);
    table_draw(bench->canvas, (struct area){.rows = ROWS, .cols = COLS}, &scene, TABLE_PORTS);
    at[FREE] = clock_thread_cpu_ns();
    frame_free(frame);
    at[STAGES] = clock_thread_cpu_ns();
}

int main(void)
{
    static struct bench bench;
    uint64_t at[STAGES + 1];
    int fd = dump_socket();
    set_up(&bench);
    for (int i = 0; i < WARM_UP + FRAMES; i++) {
        uint64_t before = clock_thread_cpu_ns();
        bare_dump(fd, RTM_GETSTATS);
        uint64_t bare_ns = clock_thread_cpu_ns() - before;
        one_frame(&bench, at);
        if (i < WARM_UP)
            continue;
        times_add(&bench.bare, bare_ns);
        for (int s = 0; s < STAGES; s++)
            times_add(&bench.stages[s], at[s + 1] - at[s]);
        times_add(&bench.whole, at[STAGES] - at[0]);
    }
    double unit_ms = times_ms(&bench.bare, 0.5), whole_ms = times_ms(&bench.whole, 0.5);
    printf("A whole frame of %zu links, CPU time, median of %d; last: of a bare RTM_GETSTATS dump in turn\n",
           bench.rows, FRAMES);
    for (int s = 0; s < STAGES; s++)
        printf("  %-24s %8.3f ms  (least %.3f)  %6.2f\n", stage_names[s], times_ms(&bench.stages[s], 0.5),
               times_ms(&bench.stages[s], 0), times_ms(&bench.stages[s], 0.5) / unit_ms);
    printf("  %-24s %8.3f ms  (least %.3f)  %6.2f", "whole", whole_ms, times_ms(&bench.whole, 0),
           whole_ms / unit_ms);
    int missed = judge(whole_ms, TARGET_MS);
    printf(" ms\n");
    netlink_collector.close(bench.state);
    store_free(bench.store);
    table_state_free(&bench.table);
    canvas_free(bench.canvas);
    return missed ? 1 : 0;
}
