/* SPDX-License-Identifier: MIT */
/* The detail of a virtual machine (see view_vm.h). */
#include "ui/view_vm.h"

#include <math.h>
#include <stdio.h>

#include "src/join.h"

/* The table's own columns but those that are alike in all rows. */
#define COLUMNS                                                                                              \
    "role,index,name,tid,serves,allowed_cpus,pinned_cpus,state,cpu,run_pct,steal_pct,numa,voluntary_per_s,"  \
    "involuntary_per_s"

static double traffic_of(const struct frame *frame, const struct frame_row *path)
{
    double to = join_number(frame, path, COLUMN_OF(paths, to_guest_pps)),
           from = join_number(frame, path, COLUMN_OF(paths, from_guest_pps));
    return (isnan(to) ? 0 : to) + (isnan(from) ? 0 : from);
}

static const struct frame_row *busiest_path(const struct frame *frame, const struct frame_row *vm)
{
    const struct frame_row *best = NULL;
    for (const struct frame_row *path = join_first_path(frame, vm); path; path = join_next_path(frame, path))
        if (join_port_of_path(frame, path) && (!best || traffic_of(frame, path) > traffic_of(frame, best)))
            best = path;
    return best;
}

/* The label begins with the name of what is plotted. */
static void add(const struct scene *scene, struct plot *plots, size_t *n, enum table_id table,
                const struct frame_row *row, const char *key, const char *name, const char *label,
                enum role role)
{
    char text[64], shown[12];
    join_short_text(shown, sizeof(shown), name ? name : "NIC");
    snprintf(text, sizeof(text), "%s %s", shown, label);
    plots[(*n)++] = (struct plot){table, row->key, column_find(table_get(table), key),
                                  join_keep(scene->frame, text), role};
}

static void add_vcpu(const struct scene *scene, const struct frame_row *vm, struct plot *plots, size_t *n)
{
    const struct frame_row *worst = join_worst_vcpu(scene->frame, vm);
    char name[32] = "vCPU";
    uint64_t index;
    if (!worst)
        return;
    if (join_info_number(worst, offsetof(struct threads_info, index), &index))
        snprintf(name, sizeof(name), "vCPU %llu", (unsigned long long)index);
    add(scene, plots, n, TABLE_THREADS, worst, "steal_pct", name, "steal", ROLE_LOSS);
    add(scene, plots, n, TABLE_THREADS, worst, "run_pct", name, "run", ROLE_CPU);
}

static void add_nic(const struct scene *scene, const struct frame_row *vm, struct plot *plots, size_t *n)
{
    const struct frame_row *path = busiest_path(scene->frame, vm);
    if (!path)
        return;
    const struct frame_row *port = join_port_of_path(scene->frame, path);
    const char *nic = JOIN_TEXT(path, struct paths_info, nic);
    bool faces = join_port_faces_guest(scene->frame, port);
    add(scene, plots, n, TABLE_PORTS, port, faces ? "tx_pps" : "rx_pps", nic, "to pps", ROLE_TX);
    add(scene, plots, n, TABLE_PORTS, port, faces ? "rx_pps" : "tx_pps", nic, "from pps", ROLE_RX);
    add(scene, plots, n, TABLE_PORTS, port, faces ? "tx_loss_pct" : "rx_loss_pct", nic, "to loss", ROLE_LOSS);
}

size_t view_vm_plots(const struct scene *scene, const struct frame_row *vm, struct plot *plots)
{
    size_t n = 0;
    if (!vm)
        return 0;
    add_vcpu(scene, vm, plots, &n);
    add_nic(scene, vm, plots, &n);
    return n;
}

static void keep_own(struct table_state *state, const struct frame *frame, const struct frame_row *vm)
{
    size_t kept = 0;
    for (size_t i = 0; i < state->n_rows; i++) {
        const struct join_thread *thread = join_thread_of(frame, state->rows[i]);
        if (thread && thread->vm == vm)
            state->rows[kept++] = state->rows[i];
    }
    state->n_rows = kept;
}

int view_vm_threads(struct canvas *canvas, int row, struct area area, const struct scene *scene,
                    const struct frame_row *vm)
{
    struct table_state state = {0};
    struct scene threads = *scene;
    char error[128];
    int left = area.top + area.rows - row - 1;
    table_state_init(&state, view_find("threads"));
    table_set_columns(&state, table_get(TABLE_THREADS), COLUMNS, error, sizeof(error));
    state.show_idle = state.unselected = true;
    table_prepare(&state, scene->frame, TABLE_THREADS);
    keep_own(&state, scene->frame, vm);
    threads.state = &state;
    int lines = (int)state.n_rows + 1, most = left / 2 > 4 ? left / 2 : left; /* its numbers stand below */
    lines = lines < most ? lines : most;
    if (state.n_rows && lines > 1)
        table_draw(canvas, (struct area){row + 1, lines, area.cols}, &threads, TABLE_THREADS);
    bool drawn = state.n_rows && lines > 1;
    table_state_free(&state);
    return drawn ? row + 1 + lines : row;
}
