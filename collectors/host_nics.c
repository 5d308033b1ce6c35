/* SPDX-License-Identifier: MIT */
/*
 * CPUs that serve network ports (see host_nics.h). Interrupts are those of the port's device (msi_irqs), not
 * those that /proc/interrupts names like it: the names are each driver's own, and that file takes the kernel
 * milliseconds to write on a large machine. A handler's name is the folder it has in /proc/irq/N.
 */
#include "collectors/host_nics.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "collectors/host_parse.h"
#include "src/memory.h"

#define NICS_MAX   65536
#define QUEUES_MAX 8192 /* folders of one port */
#define TEXT_SIZE  8192 /* a list or mask of PROCFS_CPU_MAX CPUs */
#define PASSES     60   /* in so many reads each virtual port is looked at once */

static_assert(PROCFS_IFNAME_SIZE == IFNAMSIZ, "names of ports fit struct ifreq");

/* The port being read. */
struct port {
    int dir; /* /sys/class/net/NAME; in keep_port, its parent */
    int proc_fd;
    struct host_nic nic;
    unsigned irqs_of_cpu[PROCFS_CPU_MAX];
};

static bool read_number(int dir, const char *path, uint64_t *out)
{
    char text[32];
    size_t len;
    if (procfs_read_file(dir, path, text, sizeof(text), &len) != PROCFS_OK || len == 0)
        return false;
    return procfs_parse_u64(text, len - (text[len - 1] == '\n'), out);
}

static DIR *open_folder(int dir, const char *path)
{
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder && fd >= 0)
        close(fd);
    return folder;
}

/* ---- packet steering ---- */

static void add_set(struct procfs_cpuset *to, const struct procfs_cpuset *from)
{
    for (size_t i = 0; i < sizeof(to->bits) / sizeof(to->bits[0]); i++)
        to->bits[i] |= from->bits[i];
}

/* A queue whose mask cannot be read, such as that of a port with a single one, steers nothing. */
static void add_mask(int queues, const char *queue, const char *file, struct procfs_cpuset *to)
{
    char path[NAME_MAX + 16], text[TEXT_SIZE];
    size_t len;
    struct procfs_cpuset set;
    snprintf(path, sizeof(path), "%s/%s", queue, file);
    if (procfs_read_file(queues, path, text, sizeof(text), &len) == PROCFS_OK &&
        host_parse_mask(text, len, &set))
        add_set(to, &set);
}

static void read_queues(struct port *port)
{
    DIR *queues = open_folder(port->dir, "queues");
    const struct dirent *entry;
    if (!queues)
        return;
    for (unsigned n = 0; n < QUEUES_MAX && (entry = readdir(queues)); n++) {
        if (strncmp(entry->d_name, "rx-", 3) == 0)
            add_mask(dirfd(queues), entry->d_name, "rps_cpus", &port->nic.rps_cpus);
        else if (strncmp(entry->d_name, "tx-", 3) == 0)
            add_mask(dirfd(queues), entry->d_name, "xps_cpus", &port->nic.xps_cpus);
    }
    closedir(queues);
}

/* ---- interrupts ---- */

enum irq_use {
    IRQ_UNUSED, /* nobody handles it: the port is down */
    IRQ_OTHER,  /* link state, commands, errors */
    IRQ_QUEUE,
};

/* What the handlers of an interrupt make of it. Of a shared line only a handler that is named after the port
 * counts. */
static enum irq_use irq_use(DIR *irq, const char *port, bool shared)
{
    enum irq_use use = IRQ_UNUSED;
    const struct dirent *entry;
    while ((entry = readdir(irq))) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        if (shared && !strstr(entry->d_name, port))
            continue;
        if (host_irq_is_queue(entry->d_name, port))
            return IRQ_QUEUE;
        use = IRQ_OTHER;
    }
    return use;
}

static enum procfs_result read_set(int dir, const char *path, struct procfs_cpuset *set)
{
    char text[TEXT_SIZE];
    size_t len;
    enum procfs_result result = procfs_read_file(dir, path, text, sizeof(text), &len);
    if (result == PROCFS_OK && !procfs_cpuset_parse(text, len, set))
        result = PROCFS_BAD;
    return result;
}

/* The CPU that the interrupt goes to; before Linux 4.14 only those that it may go to are told. */
static void add_affinity(struct port *port, int irq)
{
    struct procfs_cpuset set;
    enum procfs_result result = read_set(irq, "effective_affinity_list", &set);
    if (result != PROCFS_OK || procfs_cpuset_count(&set) == 0)
        result = read_set(irq, "smp_affinity_list", &set);
    port->nic.irqs++;
    port->nic.irqs_denied += result == PROCFS_DENIED;
    if (result != PROCFS_OK)
        return;
    add_set(&port->nic.irq_cpus, &set);
    for (int cpu = procfs_cpuset_next(&set, 0); cpu >= 0; cpu = procfs_cpuset_next(&set, (unsigned)cpu + 1))
        port->irqs_of_cpu[cpu]++;
}

static void add_irq(struct port *port, pid_t number, bool shared, enum irq_use wanted)
{
    char path[32];
    snprintf(path, sizeof(path), "irq/%d", (int)number);
    DIR *irq = open_folder(port->proc_fd, path);
    if (!irq)
        return;
    if (irq_use(irq, port->nic.name, shared) == wanted)
        add_affinity(port, dirfd(irq));
    closedir(irq);
}

/* A device with one interrupt for all has none that is a queue's alone. */
static void add_irqs(struct port *port, const pid_t *numbers, size_t n, bool shared)
{
    for (size_t i = 0; i < n; i++)
        add_irq(port, numbers[i], shared, IRQ_QUEUE);
    for (size_t i = 0; i < n && port->nic.irqs == 0; i++)
        add_irq(port, numbers[i], shared, IRQ_OTHER);
}

/* A virtio device sits on a PCI device, which has the interrupts. */
static bool is_virtio(int dir)
{
    char link[256];
    ssize_t n = readlinkat(dir, "device/subsystem", link, sizeof(link) - 1);
    link[n > 0 ? n : 0] = '\0';
    const char *slash = strrchr(link, '/');
    return slash && strcmp(slash, "/virtio") == 0;
}

/* A machine without NUMA tells -1. */
static void read_node(struct port *port)
{
    const char *path = is_virtio(port->dir) ? "device/../numa_node" : "device/numa_node";
    uint64_t node;
    if (read_number(port->dir, path, &node) && node < INT32_MAX)
        port->nic.node_1 = (unsigned)node + 1;
}

/* The folder's entries are numbers, as those of /proc are. The caller frees *numbers. */
static bool list_msi_irqs(int dir, pid_t **numbers, size_t *n)
{
    int fd = openat(dir, "device/msi_irqs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && is_virtio(dir))
        fd = openat(dir, "device/../msi_irqs", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool ok = procfs_list_pids(fd, numbers, n) == PROCFS_OK;
    close(fd);
    return ok;
}

/* A representor ("pf0vf3", "c1pf0sf2") shows the interrupts of its PF's device: they are counted there. */
static bool is_representor(int dir)
{
    char text[64];
    size_t len;
    if (procfs_read_file(dir, "phys_port_name", text, sizeof(text), &len) != PROCFS_OK)
        return false;
    const char *p = text;
    if (*p == 'c')
        p += 1 + strspn(p + 1, "0123456789");
    return strncmp(p, "pf", 2) == 0;
}

static void read_irqs(struct port *port)
{
    pid_t *numbers = NULL;
    size_t n = 0;
    uint64_t line;
    if (list_msi_irqs(port->dir, &numbers, &n) && n > 0) {
        if (!is_representor(port->dir))
            add_irqs(port, numbers, n, false);
    } else if (read_number(port->dir, "device/irq", &line) && line > 0 && line <= INT32_MAX) {
        add_irqs(port, &(pid_t){(pid_t)line}, 1, true);
    }
    free(numbers);
}

/* ---- ports ---- */

/* The hardware address as /sys writes it. */
static bool same_address(int dir, const struct ifreq *request)
{
    char told[64], ours[18];
    size_t len;
    const unsigned char *a = (const unsigned char *)request->ifr_hwaddr.sa_data;
    if (procfs_read_file(dir, "address", told, sizeof(told), &len) != PROCFS_OK || len != sizeof(ours))
        return true; /* no Ethernet address to tell them apart by */
    snprintf(ours, sizeof(ours), "%02x:%02x:%02x:%02x:%02x:%02x", a[0], a[1], a[2], a[3], a[4], a[5]);
    return strncmp(told, ours, sizeof(ours) - 1) == 0;
}

/* /sys shows the namespace that it was mounted in. "eth0" with index 2 exists in nearly every one, so the
 * address has to be the same as well. */
static bool is_ours(const struct port *port, int socket_fd)
{
    struct ifreq request = {0};
    if (socket_fd < 0)
        return true;
    memcpy(request.ifr_name, port->nic.name, sizeof(request.ifr_name));
    if (ioctl(socket_fd, SIOCGIFINDEX, &request) < 0 || (unsigned)request.ifr_ifindex != port->nic.ifindex)
        return false;
    return ioctl(socket_fd, SIOCGIFHWADDR, &request) == 0 && same_address(port->dir, &request);
}

static bool has_facts(const struct host_nic *nic)
{
    return nic->irqs || nic->node_1 || procfs_cpuset_count(&nic->rps_cpus) ||
           procfs_cpuset_count(&nic->xps_cpus);
}

static void append_cpu(struct host_nics *out, unsigned cpu, unsigned ifindex, unsigned irqs)
{
    if (out->n_cpus == out->alloc_cpus) {
        out->alloc_cpus = out->alloc_cpus ? out->alloc_cpus * 2 : 64;
        out->cpus = xrealloc(out->cpus, out->alloc_cpus, sizeof(*out->cpus));
    }
    out->cpus[out->n_cpus++] = (struct host_nic_cpu){cpu, ifindex, irqs};
}

static void append(struct host_nics *out, const struct port *port)
{
    const struct procfs_cpuset *cpus = &port->nic.irq_cpus;
    if (out->n == out->alloc) {
        out->alloc = out->alloc ? out->alloc * 2 : 16;
        out->nics = xrealloc(out->nics, out->alloc, sizeof(*out->nics));
    }
    /* As memory: the bytes between the members are compared, too. */
    memcpy(&out->nics[out->n++], &port->nic, sizeof(port->nic));
    for (int cpu = procfs_cpuset_next(cpus, 0); cpu >= 0; cpu = procfs_cpuset_next(cpus, (unsigned)cpu + 1))
        append_cpu(out, (unsigned)cpu, port->nic.ifindex, port->irqs_of_cpu[cpu]);
}

static void read_port(struct host_nics *out, struct port *port, int socket_fd)
{
    uint64_t ifindex;
    if (!read_number(port->dir, "ifindex", &ifindex) || ifindex == 0 || ifindex > INT32_MAX)
        return;
    port->nic.ifindex = (unsigned)ifindex;
    read_queues(port);
    read_node(port);
    if (port->proc_fd >= 0)
        read_irqs(port);
    if (!has_facts(&port->nic))
        return;
    if (is_ours(port, socket_fd))
        append(out, port);
    else
        out->foreign = true;
}

static bool is_virtual(int net, const char *name)
{
    char link[512];
    ssize_t n = readlinkat(net, name, link, sizeof(link) - 1);
    link[n > 0 ? n : 0] = '\0';
    return strstr(link, "/virtual/") != NULL;
}

static const struct host_nic *find_name(const struct host_nics *nics, const char *name)
{
    for (size_t i = 0; i < nics->n; i++)
        if (strcmp(nics->nics[i].name, name) == 0)
            return &nics->nics[i];
    return NULL;
}

/* Is it the virtual port's turn? /sys numbers its files in the order they are made: a higher number than any
 * of the last read is a new port. */
static bool is_due(const struct host_nics *before, const struct dirent *entry, unsigned pass)
{
    return pass == 0 || entry->d_ino > before->newest || entry->d_ino % PASSES == pass % PASSES;
}

/* Takes over what was known of a virtual port, if it is still the same one. */
static void keep_port(struct host_nics *out, struct port *port, const struct host_nics *before)
{
    const struct host_nic *known = find_name(before, port->nic.name);
    char path[PROCFS_IFNAME_SIZE + 16];
    uint64_t ifindex;
    if (!known)
        return;
    snprintf(path, sizeof(path), "%s/ifindex", port->nic.name);
    if (!read_number(port->dir, path, &ifindex) || ifindex != known->ifindex)
        return;
    memcpy(&port->nic, known, sizeof(*known));
    append(out, port);
}

static int compare_nics(const void *a, const void *b)
{
    const struct host_nic *x = a, *y = b;
    return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

static int compare_cpus(const void *a, const void *b)
{
    const struct host_nic_cpu *x = a, *y = b;
    if (x->cpu != y->cpu)
        return x->cpu < y->cpu ? -1 : 1;
    return (x->ifindex > y->ifindex) - (x->ifindex < y->ifindex);
}

static void sort(struct host_nics *out)
{
    if (out->n > 1)
        qsort(out->nics, out->n, sizeof(*out->nics), compare_nics);
    if (out->n_cpus > 1)
        qsort(out->cpus, out->n_cpus, sizeof(*out->cpus), compare_cpus);
}

static void visit_port(struct host_nics *out, struct port *port, int net, int socket_fd)
{
    port->dir = openat(net, port->nic.name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (port->dir < 0)
        return;
    read_port(out, port, socket_fd);
    close(port->dir);
}

void host_nics_read(struct host_nics *out, const struct host_nics *before, const struct host_nics_from *from)
{
    DIR *net = open_folder(from->sys_fd, "class/net");
    struct port *port = xzalloc(sizeof(*port));
    const struct dirent *entry;
    out->n = out->n_cpus = 0;
    out->foreign = false;
    out->newest = before->newest;
    while (net && out->n < NICS_MAX && (entry = readdir(net))) {
        size_t len = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || len >= PROCFS_IFNAME_SIZE)
            continue;
        memset(port, 0, sizeof(*port));
        memcpy(port->nic.name, entry->d_name, len);
        port->proc_fd = from->proc_fd;
        port->dir = dirfd(net);
        if (is_due(before, entry, from->pass) || !is_virtual(dirfd(net), entry->d_name))
            visit_port(out, port, dirfd(net), from->socket_fd);
        else
            keep_port(out, port, before);
        if (entry->d_ino > out->newest)
            out->newest = entry->d_ino;
    }
    if (net)
        closedir(net);
    free(port);
    sort(out);
}

bool host_nics_equal(const struct host_nics *a, const struct host_nics *b)
{
    return a->n == b->n && a->n_cpus == b->n_cpus && a->foreign == b->foreign &&
           (a->n == 0 || memcmp(a->nics, b->nics, a->n * sizeof(*a->nics)) == 0) &&
           (a->n_cpus == 0 || memcmp(a->cpus, b->cpus, a->n_cpus * sizeof(*a->cpus)) == 0);
}

const struct host_nic *host_nics_find(const struct host_nics *nics, unsigned ifindex)
{
    const struct host_nic key = {.ifindex = ifindex};
    return nics->n ? bsearch(&key, nics->nics, nics->n, sizeof(*nics->nics), compare_nics) : NULL;
}

void host_nics_free(struct host_nics *nics)
{
    if (!nics)
        return;
    free(nics->nics);
    free(nics->cpus);
}
