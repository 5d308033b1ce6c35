/* SPDX-License-Identifier: MIT */
/* Keys, infos and words of the source qemu (see qemu_rows.h). */
#include "collectors/qemu_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "src/memory.h"

/* ---- keys ---- */

static bool came_before(const struct qemu_vm *a, const struct qemu_vm *b)
{
    return a->start_ticks != b->start_ticks ? a->start_ticks < b->start_ticks : a->pid < b->pid;
}

/* A guest that migrates within the host has two processes for a while: the older one is it. */
static bool owns_uuid(const struct qemu_scan *scan, const struct qemu_vm *vm)
{
    for (size_t i = 0; i < scan->n_vms; i++)
        if (scan->vms[i] != vm && strcmp(scan->vms[i]->cmd.uuid, vm->cmd.uuid) == 0 &&
            came_before(scan->vms[i], vm))
            return false;
    return *vm->cmd.uuid != '\0';
}

/* Of an iothread: "1" of "IO iothread1", as libvirt numbers them, otherwise the name behind "IO ". */
static const char *iothread_label(const struct qemu_task *task)
{
    static const char IO[] = "IO ", IOTHREAD[] = "iothread";
    const char *name = task->stat.comm;
    if (strncmp(name, IO, sizeof(IO) - 1) == 0)
        name += sizeof(IO) - 1;
    const char *digits = name + sizeof(IOTHREAD) - 1;
    if (strncmp(name, IOTHREAD, sizeof(IOTHREAD) - 1) == 0 && *digits &&
        strspn(digits, "0123456789") == strlen(digits))
        return digits;
    return name;
}

static bool same_identity(const struct qemu_task *a, const struct qemu_task *b)
{
    if (a->is.role != b->is.role)
        return false;
    if (a->is.role == QEMU_ROLE_IOTHREAD)
        return strcmp(iothread_label(a), iothread_label(b)) == 0;
    return a->is.index == b->is.index;
}

/* Anybody may give his threads any name: of two alike the first has the key. */
static bool has_own_identity(const struct qemu_vm *vm, size_t task)
{
    for (size_t i = 0; i < task; i++)
        if (same_identity(&vm->tasks[i], &vm->tasks[task]))
            return false;
    return true;
}

static struct threads_info *add_thread(struct inventory *inventory, const char *vm_key,
                                       const struct qemu_vm *vm, size_t i)
{
    const struct qemu_task *task = &vm->tasks[i];
    bool own = has_own_identity(vm, i);
    if (task->is.role == QEMU_ROLE_EMULATOR)
        return inventory_info(inventory, TABLE_THREADS, "%s/emulator", vm_key);
    if (task->is.role == QEMU_ROLE_IOTHREAD && own)
        return inventory_info(inventory, TABLE_THREADS, "%s/iothread/%s", vm_key, iothread_label(task));
    if ((task->is.role == QEMU_ROLE_VCPU || task->is.role == QEMU_ROLE_VHOST) && task->is.index >= 0 && own)
        return inventory_info(inventory, TABLE_THREADS, "%s/%s/%d", vm_key, qemu_role_text(task->is.role),
                              task->is.index);
    return inventory_info(inventory, TABLE_THREADS, "%s/%s/%d", vm_key,
                          task->is.role == QEMU_ROLE_WORKER ? "worker" : "other", (int)task->file.tid);
}

/* ---- virtual machines ---- */

static const struct vms_info *make_vm(struct inventory *inventory, const struct qemu_scan *scan,
                                      const struct qemu_vm *vm)
{
    const struct qemu_cmdline *cmd = &vm->cmd;
    struct vms_info *info = owns_uuid(scan, vm)
                                ? inventory_info(inventory, TABLE_VMS, "vm:%s", cmd->uuid)
                                : inventory_info(inventory, TABLE_VMS, "vm:pid:%d:%llu", (int)vm->pid,
                                                 (unsigned long long)vm->start_ticks);
    info_set(info, vm_key, info->head.key);
    info_set(info, name,
             *cmd->name ? inventory_text(inventory, cmd->name)
                        : inventory_textf(inventory, "pid %d", (int)vm->pid));
    if (*cmd->uuid)
        info_set(info, uuid, inventory_text(inventory, cmd->uuid));
    const char *accel = qemu_vm_accel(vm);
    if (accel)
        info_set(info, accel, accel);
    info_set(info, pid, (uint64_t)vm->pid);
    uint64_t vcpus = qemu_vm_vcpus(vm);
    if (vcpus)
        info_set(info, vcpus, vcpus);
    if (cmd->smp_max)
        info_set(info, vcpus_max, cmd->smp_max);
    if (cmd->memory_mib)
        info_set(info, memory_mib, cmd->memory_mib);
    info_set(info, huge_pages, cmd->hugepages ? "yes" : "no");
    return info;
}

/* ---- threads ---- */

static size_t count_workers(const struct qemu_vm *vm)
{
    size_t n = 0;
    for (size_t i = 0; i < vm->n_tasks; i++)
        n += vm->tasks[i].is.role == QEMU_ROLE_VHOST;
    return n;
}

/* One that came later has its worker at any rank. */
static bool has_later_card(const struct qemu_net *net)
{
    for (size_t i = 0; i < net->n; i++)
        if (net->cards[i].nic.only_open)
            return true;
    return false;
}

/* Of which card and queue a worker is, the order tells in which both began. Nobody else does. */
static void set_serves(struct inventory *inventory, struct threads_info *info, const struct qemu_vm *vm,
                       const struct qemu_task *task)
{
    size_t card;
    unsigned queue;
    if (task->is.role != QEMU_ROLE_VHOST || task->is.index < 0 || vm->net.fds_denied ||
        has_later_card(&vm->net) ||
        !qemu_vhost_queue(&vm->cmd, count_workers(vm), (size_t)task->is.index, &card, &queue))
        return;
    const struct qemu_nic *nic = &vm->cmd.nics[card];
    const char *name = *nic->id ? nic->id : nic->netdev;
    if (*name)
        info_set(info, serves, inventory_textf(inventory, "%s/%u", name, queue));
    else
        info_set(info, serves, inventory_textf(inventory, "#%zu/%u", card, queue));
}

static const struct threads_info *make_thread(struct inventory *inventory, const struct qemu_vm *vm, size_t i)
{
    const struct qemu_task *task = &vm->tasks[i];
    struct threads_info *info = add_thread(inventory, vm->info->head.key, vm, i);
    info_set(info, role, qemu_role_text(task->is.role));
    info_set(info, vm, vm->info->name);
    info_set(info, vm_key, vm->info->head.key);
    if (task->is.index >= 0)
        info_set(info, index, (uint64_t)task->is.index);
    if (task->is.inferred) {
        info_approx(info, role);
        info_approx(info, index);
    }
    info_set(info, name, inventory_text(inventory, task->stat.comm));
    info_set(info, pid, (uint64_t)task->file.pid);
    info_set(info, tid, (uint64_t)task->file.tid);
    set_serves(inventory, info, vm, task);
    if (task->allowed)
        info_set(info, allowed_cpus, inventory_text(inventory, task->allowed));
    return info;
}

/* ---- cards ---- */

static bool has_own_mac(const struct qemu_net *net, size_t card)
{
    for (size_t i = 0; i < card; i++)
        if (strcmp(net->cards[i].nic.mac, net->cards[card].nic.mac) == 0)
            return false;
    return *net->cards[card].nic.mac != '\0';
}

static struct paths_info *add_path(struct inventory *inventory, const char *vm_key,
                                   const struct qemu_net *net, size_t i)
{
    const struct qemu_card *card = &net->cards[i];
    if (has_own_mac(net, i))
        return inventory_info(inventory, TABLE_PATHS, "path:%s:%s", vm_key, card->nic.mac);
    if (card->nic.backend == NIC_VFIO &&
        *card->nic.pci) /* libvirt knows its MAC, QEMU's command line does not */
        return inventory_info(inventory, TABLE_PATHS, "path:%s:%s", vm_key, card->nic.pci);
    if (card->nic.only_open && *card->nic.ifname)
        return inventory_info(inventory, TABLE_PATHS, "path:%s:#%s", vm_key, card->nic.ifname);
    return inventory_info(inventory, TABLE_PATHS, "path:%s:#%u", vm_key, card->number);
}

/* The name its configuration gives it, or its place among the cards; of one that came later neither is known.
 */
static void name_card(struct inventory *inventory, struct paths_info *info, const struct qemu_card *card)
{
    const struct qemu_nic *nic = &card->nic;
    if (*nic->id || *nic->netdev)
        info_set(info, nic, inventory_text(inventory, *nic->id ? nic->id : nic->netdev));
    else if (!nic->only_open)
        info_set(info, nic, inventory_textf(inventory, "#%u", card->number));
}

static void set_port(struct inventory *inventory, struct paths_info *info, const struct qemu_net *net,
                     const struct qemu_nic *nic)
{
    bool tap = nic->backend == NIC_TAP || nic->backend == NIC_BRIDGE;
    if (*nic->ifname)
        info_set(info, port, inventory_text(inventory, nic->ifname));
    else if (tap && net->fds_denied)
        info_deny(info, port);
    if (net->netns_inode)
        info_set(info, netns_inode, net->netns_inode);
    else if (net->netns_denied)
        info_deny(info, netns_inode);
}

static void set_back_end(struct inventory *inventory, struct paths_info *info, const struct qemu_nic *nic)
{
    char buf[sizeof(nic->model)];
    const char *model = qemu_card_model(nic, buf, sizeof(buf));
    if (model)
        info_set(info, model, inventory_text(inventory, model));
    info_set(info, backend, inventory_text(inventory, qemu_card_backend(nic)));
    if (*nic->socket)
        info_set(info, socket, inventory_text(inventory, nic->socket));
    if (nic->side != NIC_SIDE_UNKNOWN)
        info_set(info, socket_side, nic->side == NIC_SIDE_LISTENS ? "listens" : "connects");
    if (*nic->bridge)
        info_set(info, bridge, inventory_text(inventory, nic->bridge));
    if (*nic->pci)
        info_set(info, pci, inventory_text(inventory, nic->pci));
    info_set(info, queues, nic->queues);
}

static const struct paths_info *make_path(struct inventory *inventory, const struct qemu_vm *vm, size_t i)
{
    const struct qemu_card *card = &vm->net.cards[i];
    struct paths_info *info = add_path(inventory, vm->info->head.key, &vm->net, i);
    info_set(info, vm, vm->info->name);
    info_set(info, vm_key, vm->info->head.key);
    name_card(inventory, info, card);
    if (*card->nic.mac)
        info_set(info, mac, inventory_text(inventory, card->nic.mac));
    if (card->mac_inferred)
        info_approx(info, mac);
    set_port(inventory, info, &vm->net, &card->nic);
    set_back_end(inventory, info, &card->nic);
    return info;
}

/* ---- the whole ---- */

static void make_paths(struct inventory *inventory, struct qemu_vm *vm)
{
    vm->n_path_infos = vm->net.n;
    vm->path_infos = xrealloc(vm->path_infos, vm->net.n + 1, sizeof(const struct paths_info *));
    for (size_t i = 0; i < vm->net.n; i++)
        vm->path_infos[i] = make_path(inventory, vm, i);
}

struct inventory *qemu_rows_inventory(struct qemu_scan *scan)
{
    struct inventory *inventory = inventory_new();
    for (size_t i = 0; i < scan->n_vms; i++) {
        struct qemu_vm *vm = scan->vms[i];
        vm->info = make_vm(inventory, scan, vm);
        for (size_t k = 0; k < vm->n_tasks; k++)
            vm->tasks[k].info = vm->tasks[k].shown ? make_thread(inventory, vm, k) : NULL;
        make_paths(inventory, vm);
    }
    return inventory;
}

size_t qemu_rows_threads(const struct qemu_scan *scan)
{
    size_t n = 0;
    for (size_t i = 0; i < scan->n_vms; i++)
        for (size_t k = 0; k < scan->vms[i]->n_tasks; k++)
            n += scan->vms[i]->tasks[k].shown;
    return n;
}

void qemu_rows_set_stat(struct threads_row *row, const struct procfs_stat *stat)
{
    static const char *const STATES[] = {"R", "S", "D", "T", "t", "Z", "X", "I", "P", "W", "K"};
    for (size_t i = 0; i < sizeof(STATES) / sizeof(STATES[0]); i++)
        if (*STATES[i] == stat->state)
            row_set(row, state, STATES[i]);
    if (stat->processor >= 0)
        row_set(row, cpu, (uint64_t)stat->processor);
}

/* ---- the line for `sources` ---- */

struct lacks {
    bool fds, accounts, descriptors, threads;
};

static struct lacks find_lacks(const struct qemu_scan *scan)
{
    struct lacks lacks = {0};
    for (size_t i = 0; i < scan->n_vms; i++) {
        const struct qemu_vm *vm = scan->vms[i];
        lacks.fds |= vm->net.fds_denied;
        lacks.threads |= vm->cut;
        for (size_t k = 0; k < vm->n_tasks; k++) {
            const struct qemu_task *task = &vm->tasks[k];
            lacks.descriptors |= task->by_path;
            lacks.accounts |= task->t_ns && !task->vanished && !qemu_task_has_times(task);
        }
    }
    return lacks;
}

void qemu_rows_describe(const struct qemu_scan *scan, char *text, size_t size)
{
    struct lacks lacks = find_lacks(scan);
    char found[64] = "no virtual machine runs here";
    size_t threads = qemu_rows_threads(scan);
    if (scan->n_vms)
        snprintf(found, sizeof(found), "%zu VM%s, %zu threads", scan->n_vms, scan->n_vms == 1 ? "" : "s",
                 threads);
    snprintf(text, size, "%s%s%s%s%s%s",
             scan->n_vms || !scan->hidden ? found : "no virtual machine of yours runs here",
             scan->hidden
                 ? "; /proc hides other users' processes (hidepid): run as root, or join the group of "
                   "its gid= option"
                 : "",
             !lacks.fds  ? ""
             : geteuid() ? "; run as root to see which taps are whose"
                         : "; which taps are whose takes CAP_SYS_PTRACE, which this root lacks",
             lacks.accounts ? "; this kernel keeps no accounts of run and steal (CONFIG_SCHED_INFO)" : "",
             lacks.descriptors ? "; few descriptors: raise ulimit -n" : "",
             lacks.threads ? "; a process has too many threads to watch" : "");
}
